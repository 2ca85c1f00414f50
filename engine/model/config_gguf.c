/* config_gguf.c - the config of a GGUF file: its metadata, and what its tensors alone say.
 *
 * Source   keys and inferred values of llama.cpp's gemma converters and loaders */
#include "config_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static myth_status gguf_layer_kinds(const myth_facts *f, myth_config *c, const myth_defaults *d)
{
    const myth_meta_value *v = myth_facts_find(f, "attention.sliding_window_pattern");
    uint32_t period = d->period;
    bool is_local;
    if (!myth_facts_find(f, "attention.sliding_window") && myth_family_get(c->family)->no_window_is_global)
        period = 0; /* the converter leaves it out when every layer is global */
    if (!v || v->type != MYTH_META_ARRAY) {
        if (period) {
            myth_status st = myth_facts_u32(f, &period, "attention.sliding_window_pattern", 1, MYTH_LAYER_MAX);
            if (st != MYTH_OK)
                return st;
        }
        myth_facts_set_period(c, period);
        return MYTH_OK;
    }
    if (v->count != c->n_layer)
        return myth_facts_bad(f, "attention.sliding_window_pattern", "one bool for each layer");
    for (uint32_t l = 0; l < c->n_layer; l++) {
        if (!myth_meta_item_bool(&is_local, v, l))
            return myth_facts_bad(f, "attention.sliding_window_pattern", "one bool for each layer");
        c->layer[l].is_global = !is_local;
    }
    return MYTH_OK;
}

/* Keys that would change the result if they were passed over: an older one for scaling, pairs that do not turn, and
 * attention that looks the other way than the architecture's does. */
static myth_status gguf_refusals(const myth_facts *f, const myth_config *c, uint32_t head_dim)
{
    double scale = 1;
    uint32_t n_rot = head_dim;
    bool is_causal = !c->is_bidirectional;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_facts_f64(f, &scale, "rope.scale_linear", 0, 1e4));
    if (scale != 0 && scale != 1)
        return myth_fail(f->err, MYTH_EUNSUPPORTED,
                         "%s: rope.scale_linear %g is not supported; newer converters write rope.scaling.factor",
                         myth_weights_path(f->w), scale);
    if (!myth_family_get(c->family)->shares_kv)
        MYTH_TRY(myth_facts_u32_or(f, &n_rot, "rope.dimension_count", 0, 1024));
    if (n_rot != head_dim)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: rope.dimension_count %u: all %u of a head expected",
                         myth_weights_path(f->w), n_rot, head_dim);
    MYTH_TRY(myth_facts_bool(f, &is_causal, "attention.causal", is_causal));
    if (is_causal == c->is_bidirectional)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: attention.causal %s: expected %s of this architecture",
                         myth_weights_path(f->w), is_causal ? "true" : "false", is_causal ? "false" : "true");
fail:
    return st;
}

static myth_status gguf_ropes(const myth_facts *f, myth_config *c)
{
    static const char *const global_keys[] = {"rope.freq_base", "rope.global.freq_base"};
    static const char *const local_keys[] = {"rope.freq_base_swa", "rope.local.freq_base"};
    myth_str type;
    myth_status st = MYTH_OK;
    c->rope_base_global = 1e4;
    for (int i = 0; i < 2; i++) {
        MYTH_TRY(myth_facts_f64(f, &c->rope_base_global, global_keys[i], 1, 1e12));
        MYTH_TRY(myth_facts_f64(f, &c->rope_base_local, local_keys[i], 1, 1e12));
    }
    MYTH_TRY(myth_facts_str(f, &type, "rope.scaling.type"));
    if (type.len && !myth_str_is(type, "none") && !myth_str_is(type, "linear"))
        return myth_fail(f->err, MYTH_EUNSUPPORTED,
                         "%s: rope.scaling.type: %.*s is not supported; supported: none, linear",
                         myth_weights_path(f->w), (int)(type.len < 64 ? type.len : 64), type.text);
    if (!type.len || myth_str_is(type, "linear"))
        MYTH_TRY(myth_facts_f64(f, &c->rope_factor_global, "rope.scaling.factor", 1, 1e4));
    if (!myth_facts_has_two_ropes(c)) {
        c->rope_base_local = c->rope_base_global;
        c->rope_factor_local = c->rope_factor_global;
    }
fail:
    return st;
}

/* ---- Gemma 3n and 4 ---- */

/* Two widths of heads: key_length is the global layers', key_length_swa the local ones'. K is V where no global layer
 * has a value projection. */
static myth_status gguf_gemma4_heads(const myth_facts *f, myth_config *c)
{
    uint32_t wide = c->layer[0].head_dim, narrow = wide, value, n_rot;
    char name[48];
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_facts_u32_or(f, &narrow, "attention.key_length_swa", 2, 1024));
    value = narrow;
    MYTH_TRY(myth_facts_u32_or(f, &value, "attention.value_length_swa", 2, 1024));
    if (value != narrow)
        return myth_facts_bad(f, "attention.value_length_swa", "the same as key_length_swa");
    for (int i = 0; i < 2; i++) {
        n_rot = i ? narrow : wide;
        MYTH_TRY(myth_facts_u32_or(f, &n_rot, i ? "rope.dimension_count_swa" : "rope.dimension_count", 1, 1024));
        if (n_rot != (i ? narrow : wide))
            return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: rope.dimension_count%s %u: all %u of a head expected",
                             myth_weights_path(f->w), i ? "_swa" : "", n_rot, i ? narrow : wide);
    }
    bool has_v = myth_weights_n_tensor(f->w) == 0;
    for (uint32_t l = 0; l < c->n_layer; l++) {
        snprintf(name, sizeof name, "blk.%u.attn_v.weight", l);
        c->layer[l].head_dim = c->layer[l].is_global ? wide : narrow;
        has_v = has_v || (c->layer[l].is_global && myth_weights_find(f->w, name));
    }
    for (uint32_t l = 0; l < c->n_layer; l++)
        c->layer[l].k_is_v = !has_v && c->layer[l].is_global;
fail:
    return st;
}

/* What the frequencies of global layers are divided by: 1 for the first pairs, beyond any position for the others.
 * Without the tensor's bytes, the family's quarter. */
static myth_status gguf_rope_pairs(const myth_facts *f, myth_config *c)
{
    const myth_tensor *t = myth_config_rope_freqs(c, f->w);
    uint32_t half = 0, n = 0;
    for (uint32_t l = 0; l < c->n_layer; l++)
        half = c->layer[l].is_global ? c->layer[l].head_dim / 2 : half;
    c->rope_pairs_global = half / 4;
    if (!t)
        return MYTH_OK;
    if (t->n_dim != 1 || t->dtype != MYTH_F32 || t->dim[0] != half)
        return myth_fail(f->err, MYTH_EFORMAT, "%s: tensor rope_freqs.weight: expected %u floats",
                         myth_weights_path(f->w), half);
    for (uint32_t i = 0; t->data && i < half; i++) {
        float v;
        memcpy(&v, (const unsigned char *)t->data + 4 * (size_t)i, 4); /* half floats: checked above */
        if (v != 1.0f && !(v >= 1e20f))
            return myth_fail(
                f->err, MYTH_EUNSUPPORTED,
                "%s: tensor rope_freqs.weight: factor %g of pair %u: 1, or more than any position, expected",
                myth_weights_path(f->w), (double)v, i);
        if (v == 1.0f && n++ != i)
            return myth_fail(f->err, MYTH_EUNSUPPORTED,
                             "%s: tensor rope_freqs.weight: pair %u is rotated, one before it is not",
                             myth_weights_path(f->w), i);
    }
    c->rope_pairs_global = t->data ? n : half / 4;
    return MYTH_OK;
}

static myth_status gguf_ple(const myth_facts *f, myth_config *c)
{
    myth_status st = myth_facts_u32_or(f, &c->n_ple, "embedding_length_per_layer_input", 0, 4096);
    uint64_t rows = myth_facts_dim(f, "", "per_layer_token_embd.weight", 0);
    c->n_ple_vocab = !c->n_ple ? 0 : rows && rows <= 1 << 22 ? (uint32_t)rows : 262144;
    return st;
}

/* Older files hold gate and up of the experts apart. One of the two is enough to expect both; the check of the tensors
 * says what is missing. */
static void gguf_split_experts(const myth_facts *f, myth_config *c)
{
    static const char *const part[] = {"gate_up", "gate", "up"};
    for (uint32_t l = 0; l < c->n_layer; l++) {
        bool has[3];
        for (int i = 0; i < 3; i++) {
            char name[48];
            snprintf(name, sizeof name, "blk.%u.ffn_%s_exps.weight", l, part[i]);
            has[i] = myth_weights_find(f->w, name) != NULL;
        }
        c->layer[l].has_split_experts = !has[0] && (has[1] || has[2]);
    }
}

myth_status myth_config_gguf_gemma4(const myth_facts *f, myth_config *c)
{
    uint32_t n_shared = 0;
    myth_status st = MYTH_OK;
    MYTH_TRY(gguf_gemma4_heads(f, c));
    MYTH_TRY(myth_facts_u32_or(f, &n_shared, "attention.shared_kv_layers", 0, MYTH_LAYER_MAX));
    MYTH_TRY(myth_facts_set_shared(f, c, n_shared, "attention.shared_kv_layers"));
    MYTH_TRY(gguf_ple(f, c));
    MYTH_TRY(myth_facts_u32_or(f, &c->n_expert, "expert_count", 0, MYTH_EXPERT_MAX));
    if (c->n_expert) {
        MYTH_TRY(myth_facts_u32(f, &c->n_expert_used, "expert_used_count", 1,
                                c->n_expert < MYTH_EXPERT_USED_MAX ? c->n_expert : MYTH_EXPERT_USED_MAX));
        MYTH_TRY(myth_facts_u32(f, &c->d_ff_expert, "expert_feed_forward_length", 1, 1 << 20));
        gguf_split_experts(f, c);
    }
    MYTH_TRY(gguf_rope_pairs(f, c));
fail:
    return st;
}

/* The deviations that the sparse gate's threshold lies above the mean; what is not above 0 is off. */
static myth_status gguf_sparsity(const myth_facts *f, myth_config *c)
{
    const myth_meta_value *v = myth_facts_find(f, "activation_sparsity_scale");
    if (v && (v->type != MYTH_META_ARRAY || v->count != c->n_layer))
        return myth_facts_bad(f, "activation_sparsity_scale", "one number for each layer");
    for (uint32_t l = 0; l < c->n_layer; l++) {
        double z = v ? NAN : l < 10 ? 1.6448534 : 0;
        /* converters write -infinity where the gate is not sparse */
        if (v && !myth_meta_item_f64(&z, v, l) && !(z < 0))
            return myth_facts_bad(f, "activation_sparsity_scale", "one number for each layer");
        c->layer[l].is_sparse = isfinite(z) && z > 0;
        c->layer[l].gate_z = c->layer[l].is_sparse ? (float)z : 0.0f;
    }
    return MYTH_OK;
}

myth_status myth_config_gguf_gemma3n(const myth_facts *f, myth_config *c)
{
    enum { OWN_KV = 20 }; /* layers with keys of their own in both models */
    uint32_t n_shared = c->n_layer > OWN_KV ? c->n_layer - OWN_KV : 0;
    const uint64_t rank = myth_facts_dim(f, "", "blk.0.laurel_l.weight", 0);
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_facts_u32_or(f, &n_shared, "attention.shared_kv_layers", 0, MYTH_LAYER_MAX));
    MYTH_TRY(myth_facts_set_shared(f, c, n_shared, "attention.shared_kv_layers"));
    MYTH_TRY(gguf_ple(f, c));
    if (!c->n_ple)
        return myth_facts_bad(f, "embedding_length_per_layer_input", "a whole number from 1 to 4096");
    c->n_altup = MYTH_ALTUP_MAX;
    c->altup_clip = 120;
    c->altup_correct_scale = true;
    c->laurel_rank = rank && rank <= 4096 ? (uint32_t)rank : 64;
    MYTH_TRY(myth_facts_u32(f, &c->n_altup, "altup.num_inputs", 2, MYTH_ALTUP_MAX));
    MYTH_TRY(myth_facts_u32_or(f, &c->altup_active, "altup.active_idx", 0, c->n_altup - 1));
    MYTH_TRY(gguf_sparsity(f, c));
fail:
    return st;
}

/* ---- the whole ---- */

myth_status myth_config_read_gguf(myth_facts *f, myth_config *c)
{
    enum { MEAN = 1 };
    myth_str arch;
    myth_status st = MYTH_OK;
    f->prefix[0] = '\0';
    MYTH_TRY(myth_facts_str(f, &arch, "general.architecture"));
    c->family = MYTH_FAMILY_N;
    for (myth_family_id id = 0; id < MYTH_FAMILY_N; id++) {
        const char *encoder = myth_family_get(id)->encoder_name;
        const bool is_encoder = encoder && myth_str_is(arch, encoder);
        if (is_encoder || myth_str_is(arch, myth_family_get(id)->name)) {
            c->family = id;
            c->is_bidirectional = is_encoder;
        }
    }
    if (arch.len == 0)
        return myth_facts_bad(f, "general.architecture", "a name");
    if (c->family == MYTH_FAMILY_N)
        return myth_facts_no_family(f, arch);
    const myth_family *family = myth_family_get(c->family);
    snprintf(f->prefix, sizeof(f->prefix), "%s.", c->is_bidirectional ? family->encoder_name : family->name);
    const myth_defaults *d = &family->absent;
    double eps = 1e-6, scale;
    uint32_t head_dim = 0, value_dim;
    MYTH_TRY(myth_facts_u32(f, &c->n_layer, "block_count", 1, MYTH_LAYER_MAX));
    MYTH_TRY(myth_facts_u32(f, &c->d_model, "embedding_length", 1, 1 << 16));
    MYTH_TRY(myth_facts_u32(f, &c->n_head, "attention.head_count", 1, 1024));
    MYTH_TRY(myth_facts_u32(f, &c->n_ctx_train, "context_length", 1, 1 << 24));
    head_dim = myth_facts_find(f, "attention.key_length") ? 0 : c->d_model / c->n_head;
    MYTH_TRY(myth_facts_u32(f, &head_dim, "attention.key_length", 2, 1024));
    value_dim = head_dim;
    MYTH_TRY(myth_facts_u32(f, &value_dim, "attention.value_length", 2, 1024));
    if (value_dim != head_dim)
        return myth_facts_bad(f, "attention.value_length", "the same as key_length");
    MYTH_TRY(myth_facts_f64(f, &eps, "attention.layer_norm_rms_epsilon", 1e-12, 0.1));
    myth_facts_set_layers(c, 0, head_dim, 0);
    MYTH_TRY(myth_facts_per_layer(f, c, "attention.head_count_kv", offsetof(myth_layer_config, n_head_kv), 1024));
    MYTH_TRY(myth_facts_per_layer(f, c, "feed_forward_length", offsetof(myth_layer_config, d_ff), 1 << 20));
    MYTH_TRY(gguf_layer_kinds(f, c, d));
    if (family->read_gguf)
        MYTH_TRY(family->read_gguf(f, c));
    if (myth_facts_has_local(c)) {
        c->window = family->has_absent_window ? d->window : 0;
        MYTH_TRY(myth_facts_u32(f, &c->window, "attention.sliding_window", 1, 1 << 24));
    }
    MYTH_TRY(gguf_refusals(f, c, head_dim));
    MYTH_TRY(gguf_ropes(f, c));
    if (family->has_attn_softcap)
        MYTH_TRY(myth_facts_cap(f, &c->attn_softcap, "attn_logit_softcapping", d->attn_softcap, 0));
    if (family->has_final_softcap)
        MYTH_TRY(myth_facts_cap(f, &c->final_softcap, "final_logit_softcapping", d->final_softcap, 0));
    c->eps = (float)eps;
    scale = myth_config_gguf_scale(c);
    MYTH_TRY(myth_facts_f64(f, &scale, "attention.scale", 1e-4, 100));
    c->attn_scale = (float)scale;
    c->embed_scale = sqrtf((float)c->d_model);

    c->has_head = !c->is_bidirectional && myth_weights_find(f->w, "output.weight") != NULL;
    uint32_t pooling = MEAN;
    MYTH_TRY(myth_facts_u32(f, &pooling, "pooling_type", 0, 8));
    if (c->is_bidirectional && pooling != MEAN)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: pooling_type %u is not supported; supported: %d, the mean",
                         myth_weights_path(f->w), pooling, MEAN);

    const myth_meta_value *tokens = myth_meta_find(f->m, "tokenizer.ggml.tokens");
    c->n_vocab = tokens && tokens->count <= 1 << 22 ? (uint32_t)tokens->count : 0;
    if (!tokens || myth_facts_find(f, "vocab_size"))
        MYTH_TRY(myth_facts_u32(f, &c->n_vocab, "vocab_size", 1, 1 << 22));
fail:
    return st;
}
