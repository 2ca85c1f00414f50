/* config_json.c - the config of a checkpoint: config.json in its old and new spelling of keys.
 *
 * Source   transformers configuration_gemma{,2,3,3n,4,4_unified}.py, 4.x and 5.x */
#include "config_impl.h"

#include "engine/base/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The class that the file names, by model_type or else by architectures; NULL: none of a known family. */
static const myth_family_class *find_class(myth_family_id *out, myth_str type, myth_str arch)
{
    for (myth_family_id id = 0; id < MYTH_FAMILY_N; id++)
        for (const myth_family_class *k = myth_family_get(id)->classes; k->model_type; k++)
            if (type.len ? myth_str_is(type, k->model_type) : myth_str_is(arch, k->architecture)) {
                *out = id;
                return k;
            }
    return NULL;
}

static myth_status json_family(myth_facts *f, myth_family_id *out, const myth_family_class **as)
{
    myth_str type, arch = {"", 0};
    const myth_meta_value *list = myth_meta_find(f->m, "architectures");
    f->prefix[0] = '\0';
    myth_status st = myth_facts_str(f, &type, "model_type");
    if (st != MYTH_OK)
        return st;
    if (list && !myth_meta_item_str(&arch, list, 0))
        return myth_facts_bad(f, "architectures", "a list of names");
    if (type.len == 0 && arch.len == 0)
        return myth_facts_bad(f, "model_type", "a string");
    *as = find_class(out, type, arch);
    if (!*as)
        return myth_facts_no_family(f, type.len ? type : arch);
    if (!(*as)->text_type)
        return MYTH_OK;
    const myth_meta_value *text = myth_facts_find(f, "text_config");
    if (!text || text->type != MYTH_META_OBJECT)
        return myth_facts_bad(f, "text_config", "an object");
    snprintf(f->prefix, sizeof(f->prefix), "text_config.");
    if ((st = myth_facts_str(f, &type, "model_type")) != MYTH_OK)
        return st;
    return type.len && !myth_str_is(type, (*as)->text_type) ? myth_facts_no_family(f, type) : MYTH_OK;
}

static myth_status json_layer_kinds(const myth_facts *f, myth_config *c, const myth_defaults *d)
{
    const myth_meta_value *types = myth_facts_find(f, "layer_types");
    uint32_t period = d->period;
    myth_str kind;
    if (types && (types->type != MYTH_META_ARRAY || types->count != c->n_layer))
        return myth_facts_bad(f, "layer_types", "one name for each layer");
    if (!types && myth_family_get(c->family)->has_pattern_key) {
        myth_status st = myth_facts_u32(f, &period, "sliding_window_pattern", 1, MYTH_LAYER_MAX);
        if (st != MYTH_OK)
            return st;
    }
    if (!types)
        myth_facts_set_period(c, period);
    for (uint32_t l = 0; types && l < c->n_layer; l++) {
        if (!myth_meta_item_str(&kind, types, l) ||
            !(myth_str_is(kind, "full_attention") || myth_str_is(kind, "sliding_attention")))
            return myth_facts_bad(f, "layer_types", "full_attention or sliding_attention");
        c->layer[l].is_global = myth_str_is(kind, "full_attention");
    }
    if (myth_family_get(c->family)->last_is_global)
        c->layer[c->n_layer - 1].is_global = true; /* as the class makes it, whatever the list says */
    if (!d->period && myth_facts_has_local(c))
        return myth_facts_bad(f, "layer_types", "full_attention in this family");
    return MYTH_OK;
}

/* One kind's rotation. */
typedef struct {
    double base, factor, part; /* part of the pairs that are rotated */
} rope;

/* A key of one set of rope parameters: under `over`, unless that is NULL or lacks it, then under `stem`. */
static const char *rope_key(const myth_facts *f, char name[64], const char *stem, const char *over, const char *key)
{
    if (over) {
        snprintf(name, 64, "%s%s", over, key);
        if (myth_facts_find(f, name))
            return name;
    }
    snprintf(name, 64, "%s%s", stem, key);
    return name;
}

/* One set of rope parameters under `stem`, with those under `over` laid over it; what they leave out stays. */
static myth_status json_rope(const myth_facts *f, const char *stem, const char *over, rope *r, bool has_part)
{
    char name[64], type_name[64];
    myth_str type;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_facts_f64(f, &r->base, rope_key(f, name, stem, over, "rope_theta"), 1, 1e12));
    if (!myth_facts_find(f, rope_key(f, type_name, stem, over, "rope_type")))
        rope_key(f, type_name, stem, over, "type");
    MYTH_TRY(myth_facts_str(f, &type, type_name));
    r->part = 1;
    if (type.len == 0 && myth_facts_find(f, rope_key(f, name, stem, over, "factor")))
        return myth_facts_bad(f, type_name, "a text, beside a factor");
    if (type.len == 0 || myth_str_is(type, "default"))
        return MYTH_OK;
    const bool is_linear = myth_str_is(type, "linear"), is_part = has_part && myth_str_is(type, "proportional");
    if (!is_linear && !is_part)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: %s%s: %.*s is not supported; supported: default, linear%s",
                         myth_weights_path(f->w), f->prefix, type_name, (int)(type.len < 64 ? type.len : 64), type.text,
                         has_part ? ", proportional" : "");
    if (is_linear && !myth_facts_find(f, rope_key(f, name, stem, over, "factor")))
        return myth_facts_bad(f, name, "a number");
    MYTH_TRY(myth_facts_f64(f, &r->factor, rope_key(f, name, stem, over, "factor"), 1, 1e4));
    if (is_part)
        MYTH_TRY(myth_facts_f64(f, &r->part, rope_key(f, name, stem, over, "partial_rotary_factor"), 0, 1));
fail:
    return st;
}

/* As transformers reads them: rope_scaling is laid over the set of global layers; in families with one set it takes the
 * set's place. Gemma 4, whose heads rotate in part, has no rope_scaling. Where there are two sets, parameters that
 * stand in neither do not count. */
static myth_status json_ropes(const myth_facts *f, myth_config *c)
{
    const double part = myth_family_get(c->family)->absent.rope_part;
    const bool has_part = part > 0, has_two = myth_facts_has_two_ropes(c);
    const char *over = !has_part && myth_facts_find(f, "rope_scaling") ? "rope_scaling." : NULL;
    rope global = {c->rope_base_global, 1, has_part ? part : 1}, local = {c->rope_base_local, 1, 1};
    static const char *const sets[] = {"rope_scaling", "rope_parameters", "rope_parameters.full_attention",
                                       "rope_parameters.sliding_attention"};
    uint32_t head_dim = 0;
    myth_status st = MYTH_OK;
    for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
        const myth_meta_value *set = myth_facts_find(f, sets[i]);
        if (set && set->type != MYTH_META_OBJECT)
            return myth_facts_bad(f, sets[i], "an object or null");
    }
    if (!has_part) { /* what a set leaves out */
        MYTH_TRY(myth_facts_f64(f, &global.base, "rope_theta", 1, 1e12));
        MYTH_TRY(myth_facts_f64(f, &local.base, "rope_local_base_freq", 1, 1e12));
    }
    if (myth_facts_find(f, "rope_parameters.full_attention") ||
        myth_facts_find(f, "rope_parameters.sliding_attention")) {
        MYTH_TRY(json_rope(f, "rope_parameters.full_attention.", over, &global, has_part));
        MYTH_TRY(json_rope(f, "rope_parameters.sliding_attention.", NULL, &local, has_part));
    } else if (over && (!has_two || !myth_facts_find(f, "rope_parameters"))) {
        MYTH_TRY(json_rope(f, over, NULL, &global, false));
    } else if (!has_two && myth_facts_find(f, "rope_parameters")) {
        MYTH_TRY(json_rope(f, "rope_parameters.", over, &global, has_part));
    }
    if (!has_two)
        local = global;
    if (has_two && (local.factor != 1 || local.part != 1))
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: rope scaling of local layers is not supported",
                         myth_weights_path(f->w));
    for (uint32_t l = 0; l < c->n_layer; l++)
        head_dim = c->layer[l].is_global ? c->layer[l].head_dim : head_dim;
    c->rope_base_global = global.base;
    c->rope_base_local = local.base;
    c->rope_factor_global = global.factor;
    c->rope_factor_local = local.factor;
    c->rope_pairs_global = (uint32_t)(global.part * head_dim / 2);
fail:
    return st;
}

/* Overrides of single layers: per_layer_config.N.KEY. Gemma 4 has such for its heads (json_gemma4_heads). */
static myth_status json_known_overrides(const myth_facts *f, const myth_config *c)
{
    static const char *const known[] = {"head_dim", "num_key_value_heads"};
    const bool has_known = myth_family_get(c->family)->has_two_widths;
    char stem[64];
    const size_t n_stem = (size_t)snprintf(stem, sizeof(stem), "%sper_layer_config.", f->prefix);
    for (uint32_t i = 0; i < myth_meta_count(f->m); i++) {
        const myth_str key = myth_meta_at(f->m, i)->key;
        const char *dot = key.len > n_stem && memcmp(key.text, stem, n_stem) == 0
                            ? memchr(key.text + n_stem, '.', key.len - n_stem)
                            : NULL;
        if (!dot)
            continue;
        const myth_str last = {dot + 1, (size_t)(key.text + key.len - dot - 1)};
        if (!has_known || !(myth_str_is(last, known[0]) || myth_str_is(last, known[1])))
            return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: %.*s is not supported; supported: %s",
                             myth_weights_path(f->w), (int)(key.len < 120 ? key.len : 120), key.text,
                             has_known ? "head_dim, num_key_value_heads" : "layers of one config in this family");
    }
    return MYTH_OK;
}

/* Things a Gemma never has, which would change the result if they were passed over. */
static myth_status json_refusals(const myth_facts *f, myth_config *c)
{
    static const char *const act_keys[] = {"hidden_activation", "hidden_act"};
    const char *path = myth_weights_path(f->w);
    myth_str act;
    bool flag;
    myth_status st = MYTH_OK;
    for (int i = 0; i < 2; i++) {
        MYTH_TRY(myth_facts_str(f, &act, act_keys[i]));
        if (act.len && !myth_str_is(act, "gelu_pytorch_tanh") && !(i == 1 && myth_str_is(act, "gelu")))
            return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: %s %.*s is not supported; supported: gelu_pytorch_tanh",
                             path, act_keys[i], (int)(act.len < 64 ? act.len : 64), act.text);
        if (act.len)
            break; /* hidden_activation, when it is not null, wins */
    }
    MYTH_TRY(json_known_overrides(f, c));
    MYTH_TRY(myth_facts_bool(f, &flag, "attention_bias", false));
    if (flag)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: attention_bias is not supported", path);
    MYTH_TRY(myth_facts_bool(f, &flag, "tie_word_embeddings", true));
    const myth_meta_value *both = myth_facts_find(f, "use_bidirectional_attention"),
                          *list = myth_meta_find(f->m, "architectures");
    myth_str arch = {"", 0};
    c->is_bidirectional = both && both->type == MYTH_META_BOOL && both->v.b;
    if (both && both->type == MYTH_META_STRING && myth_str_is(both->v.s, "all"))
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: use_bidirectional_attention all is not supported", path);
    const bool is_encoder = list && myth_meta_item_str(&arch, list, 0) && myth_str_is(arch, "Gemma3TextModel");
    if (c->is_bidirectional != is_encoder)
        return myth_fail(
            f->err, MYTH_EUNSUPPORTED,
            "%s: use_bidirectional_attention %s in a %s: only EmbeddingGemma (Gemma3TextModel) sees both ways", path,
            c->is_bidirectional ? "true" : "false", is_encoder ? "Gemma3TextModel" : "model that generates");
    c->has_head = !c->is_bidirectional && myth_weights_is_untied(f->w);
fail:
    return st;
}

/* ---- Gemma 3n and 4 ---- */

/* Overrides of a layer's heads: per_layer_config.N, N a decimal number that may be padded with zeros. */
static myth_status json_overrides(const myth_facts *f, myth_layer_config *k, uint32_t l)
{
    char name[64];
    myth_status st = MYTH_OK;
    for (int width = 1; width <= 3; width++) {
        if (width > 1 && l >= (width == 2 ? 10u : 100u))
            continue; /* the same digits again */
        snprintf(name, sizeof(name), "per_layer_config.%0*u.head_dim", width, l);
        MYTH_TRY(myth_facts_u32_or(f, &k->head_dim, name, 2, 1024));
        snprintf(name, sizeof(name), "per_layer_config.%0*u.num_key_value_heads", width, l);
        MYTH_TRY(myth_facts_u32_or(f, &k->n_head_kv, name, 1, 1024));
    }
fail:
    return st;
}

/* Heads of global layers: in the new spelling overrides layer by layer, in the old one keys of their own. */
static myth_status json_gemma4_heads(const myth_facts *f, myth_config *c)
{
    uint32_t wide = myth_facts_has(f, "global_head_dim") ? 0 : 512, n_kv = 0;
    bool k_is_v;
    const bool is_new = myth_facts_find(f, "per_layer_config") != NULL;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_facts_bool(f, &k_is_v, "attention_k_eq_v", false));
    MYTH_TRY(myth_facts_u32_or(f, &wide, "global_head_dim", 2, 1024));
    MYTH_TRY(myth_facts_u32_or(f, &n_kv, "num_global_key_value_heads", 1, 1024));
    for (uint32_t l = 0; l < c->n_layer; l++) {
        myth_layer_config *k = &c->layer[l];
        k->k_is_v = k_is_v && k->is_global;
        if (is_new) {
            MYTH_TRY(json_overrides(f, k, l));
        } else if (k->is_global) {
            k->head_dim = wide ? wide : k->head_dim;
            k->n_head_kv = k_is_v && n_kv ? n_kv : k->n_head_kv;
        }
    }
fail:
    return st;
}

/* Width and rows of the per-layer embeddings; a missing width is what the tensors say. */
static myth_status json_ple(const myth_facts *f, myth_config *c, uint32_t width)
{
    const uint64_t cols = myth_facts_dim(f, "embed_tokens_per_layer.weight", "", 1);
    myth_status st = MYTH_OK;
    if (myth_weights_n_tensor(f->w) && !myth_facts_has(f, "hidden_size_per_layer_input"))
        width = cols / c->n_layer <= 4096 ? (uint32_t)(cols / c->n_layer) : 0;
    c->n_ple = myth_facts_has(f, "hidden_size_per_layer_input") ? 0 : width;
    MYTH_TRY(myth_facts_u32_or(f, &c->n_ple, "hidden_size_per_layer_input", 0, 4096));
    c->n_ple_vocab = c->n_ple ? 262144 : 0;
    if (c->n_ple)
        MYTH_TRY(myth_facts_u32(f, &c->n_ple_vocab, "vocab_size_per_layer_input", 1, 1 << 22));
fail:
    return st;
}

myth_status myth_config_json_gemma4(const myth_facts *f, myth_config *c, const myth_family_class *as)
{
    uint32_t n_shared = 0;
    bool is_wide, has_experts;
    myth_status st = MYTH_OK;
    MYTH_TRY(json_gemma4_heads(f, c));
    MYTH_TRY(myth_facts_u32_or(f, &n_shared, "num_kv_shared_layers", 0, MYTH_LAYER_MAX));
    MYTH_TRY(myth_facts_set_shared(f, c, n_shared, "num_kv_shared_layers"));
    MYTH_TRY(myth_facts_bool(f, &is_wide, "use_double_wide_mlp", false));
    for (uint32_t l = c->first_shared; is_wide && l < c->n_layer; l++)
        c->layer[l].d_ff *= 2;
    MYTH_TRY(json_ple(f, c, as->has_no_ple ? 0 : 256));
    MYTH_TRY(myth_facts_bool(f, &has_experts, "enable_moe_block", false));
    if (has_experts) {
        MYTH_TRY(myth_facts_u32(f, &c->n_expert, "num_experts", 1, MYTH_EXPERT_MAX));
        MYTH_TRY(myth_facts_u32(f, &c->n_expert_used, "top_k_experts", 1,
                                c->n_expert < MYTH_EXPERT_USED_MAX ? c->n_expert : MYTH_EXPERT_USED_MAX));
        MYTH_TRY(myth_facts_u32(f, &c->d_ff_expert, "moe_intermediate_size", 1, 1 << 20));
    }
fail:
    return st;
}

/* Part p of the gate values is to be 0: where the normal distribution has it below. Rational start, then Newton's steps
 * on erfc. */
static double normal_quantile(double p)
{
    double t = sqrt(-2.0 * log(p < 0.5 ? p : 1.0 - p));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    x = p < 0.5 ? -x : x;
    for (int i = 0; i < 4; i++)
        x -= (0.5 * erfc(-x * 0.70710678118654752440) - p) / (0.39894228040143267794 * exp(-0.5 * x * x));
    return x;
}

static myth_status json_sparsity(const myth_facts *f, myth_config *c)
{
    const myth_meta_value *v = myth_facts_find(f, "activation_sparsity_pattern");
    const bool is_array = v && v->type == MYTH_META_ARRAY;
    if (is_array && v->count != c->n_layer)
        return myth_facts_bad(f, "activation_sparsity_pattern", "one number for each layer");
    for (uint32_t l = 0; l < c->n_layer; l++) {
        double p = !v && c->n_layer > 10 && l < 10 ? 0.95 : 0;
        if (is_array && (!myth_meta_item_f64(&p, v, l) || !(p >= 0 && p < 1)))
            return myth_facts_bad(f, "activation_sparsity_pattern", "numbers from 0, below 1");
        if (v && !is_array) {
            myth_status st = myth_facts_f64(f, &p, "activation_sparsity_pattern", 0, 0.999999);
            if (st != MYTH_OK)
                return st;
        }
        c->layer[l].is_sparse = p > 0;
        c->layer[l].gate_z = p > 0 ? (float)normal_quantile(p) : 0.0f;
    }
    return MYTH_OK;
}

myth_status myth_config_json_gemma3n(const myth_facts *f, myth_config *c, const myth_family_class *as)
{
    (void)as;
    uint32_t n_shared = 15;
    double clip = 120;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_facts_u32_or(f, &n_shared, "num_kv_shared_layers", 0, MYTH_LAYER_MAX));
    MYTH_TRY(myth_facts_set_shared(f, c, n_shared, "num_kv_shared_layers"));
    MYTH_TRY(json_ple(f, c, 256));
    if (!c->n_ple)
        return myth_facts_bad(f, "hidden_size_per_layer_input", "a whole number from 1 to 4096");
    c->n_altup = MYTH_ALTUP_MAX;
    c->laurel_rank = 64;
    MYTH_TRY(myth_facts_u32(f, &c->n_altup, "altup_num_inputs", 2, MYTH_ALTUP_MAX));
    MYTH_TRY(myth_facts_u32_or(f, &c->altup_active, "altup_active_idx", 0, c->n_altup - 1));
    MYTH_TRY(myth_facts_u32(f, &c->laurel_rank, "laurel_rank", 1, 4096));
    if (myth_facts_has(f, "altup_coef_clip") && !myth_facts_find(f, "altup_coef_clip"))
        clip = 0;
    MYTH_TRY(myth_facts_f64(f, &clip, "altup_coef_clip", 0, 1e9));
    c->altup_clip = (float)clip;
    MYTH_TRY(myth_facts_bool(f, &c->altup_correct_scale, "altup_correct_scale", true));
    MYTH_TRY(json_sparsity(f, c));
fail:
    return st;
}

/* ---- the whole ---- */

myth_status myth_config_read_json(myth_facts *f, myth_config *c)
{
    const myth_family_class *as = NULL;
    myth_status st = json_family(f, &c->family, &as);
    if (st != MYTH_OK)
        return st;
    const myth_family *family = myth_family_get(c->family);
    const myth_defaults *d = &family->absent;
    uint32_t n_head_kv = d->n_head_kv, head_dim = 256, d_ff = d->d_ff;
    double eps = 1e-6, scalar = 256, cap = 0;
    myth_str dtype;
    c->n_layer = d->n_layer;
    c->d_model = d->d_model;
    c->n_head = d->n_head;
    c->n_vocab = d->n_vocab;
    c->n_ctx_train = as->n_ctx ? as->n_ctx : d->n_ctx;
    c->rope_base_global = d->rope_global;
    MYTH_TRY(json_refusals(f, c));
    MYTH_TRY(myth_facts_u32(f, &c->n_layer, "num_hidden_layers", 1, MYTH_LAYER_MAX));
    MYTH_TRY(myth_facts_u32(f, &c->d_model, "hidden_size", 1, 1 << 16));
    MYTH_TRY(myth_facts_u32(f, &c->n_head, "num_attention_heads", 1, 1024));
    MYTH_TRY(myth_facts_u32(f, &n_head_kv, "num_key_value_heads", 1, 1024));
    MYTH_TRY(myth_facts_u32(f, &head_dim, "head_dim", 2, 1024));
    const myth_meta_value *widths = myth_facts_find(f, "intermediate_size");
    const bool is_list = family->has_width_list && widths && widths->type == MYTH_META_ARRAY;
    if (!is_list)
        MYTH_TRY(myth_facts_u32(f, &d_ff, "intermediate_size", 1, 1 << 20));
    MYTH_TRY(myth_facts_u32(f, &c->n_vocab, "vocab_size", 1, 1 << 22));
    MYTH_TRY(myth_facts_u32(f, &c->n_ctx_train, "max_position_embeddings", 1, 1 << 24));
    MYTH_TRY(myth_facts_f64(f, &eps, "rms_norm_eps", 1e-12, 0.1));
    myth_facts_set_layers(c, n_head_kv, head_dim, d_ff);
    if (is_list)
        MYTH_TRY(myth_facts_per_layer(f, c, "intermediate_size", offsetof(myth_layer_config, d_ff), 1 << 20));
    MYTH_TRY(json_layer_kinds(f, c, d));
    if (myth_facts_has_local(c)) {
        c->window = as->window ? as->window : d->window;
        MYTH_TRY(myth_facts_u32(f, &c->window, "sliding_window", 1, 1 << 24));
    }
    if (family->read_json)
        MYTH_TRY(family->read_json(f, c, as));
    MYTH_TRY(json_ropes(f, c));
    if (family->score_scale == MYTH_SCALE_BY_WIDTH)
        scalar = head_dim;
    else if (family->score_scale == MYTH_SCALE_ONE)
        scalar = 1;
    else
        MYTH_TRY(myth_facts_f64(f, &scalar, "query_pre_attn_scalar", 1e-4, 1e6));
    if (family->has_attn_softcap)
        MYTH_TRY(myth_facts_cap(f, &c->attn_softcap, "attn_logit_softcapping", d->attn_softcap, 1e-3));
    else
        MYTH_TRY(
            myth_facts_f64(f, &cap, "attn_logit_softcapping", 1e-3, 1e6)); /* present in some files, without effect */
    if (family->has_final_softcap && !as->has_no_final_softcap)
        MYTH_TRY(myth_facts_cap(f, &c->final_softcap, "final_logit_softcapping", d->final_softcap, 1e-3));
    c->eps = (float)eps;
    c->attn_scale = (float)(1.0 / sqrt(scalar));
    c->norm_plus_one = family->norm_plus_one;

    /* sqrt(d) is rounded to the type the reference computes in: bf16, unless the checkpoint is f32. */
    const myth_tensor *embed = myth_weights_slot(f->w, "embed_tokens.weight", "");
    MYTH_TRY(myth_facts_str(f, &dtype, myth_facts_find(f, "dtype") ? "dtype" : "torch_dtype"));
    c->embed_scale = sqrtf((float)c->d_model);
    c->is_rounded =
        embed ? embed->dtype != MYTH_F32 : (myth_str_is(dtype, "bfloat16") || myth_str_is(dtype, "float16"));
    if (c->is_rounded)
        c->embed_scale = myth_bf16_to_f32(myth_f32_to_bf16(c->embed_scale));
    if (embed && embed->dim[0] != c->n_vocab) {
        /* With the rows of image tokens or without them: either number may stand in either place. */
        const uint32_t n_text = family->n_vocab_text;
        bool is_known = n_text && (embed->dim[0] == n_text || embed->dim[0] == d->n_vocab) &&
                        (c->n_vocab == n_text || c->n_vocab == d->n_vocab);
        if (myth_facts_find(f, "vocab_size") && !is_known)
            return myth_fail(f->err, MYTH_EFORMAT, "%s: %svocab_size: got %u, but the embedding has %llu rows",
                             myth_weights_path(f->w), f->prefix, c->n_vocab, (unsigned long long)embed->dim[0]);
    }
fail:
    return st;
}
