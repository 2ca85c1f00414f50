/* config.c - hyper-parameters out of config.json (old and new spelling of keys) or GGUF metadata.
 *
 * Order    the key, else the default of the model's class; then ranges; then (config_tensors.c) every shape
 * Source   transformers configuration_gemma{,2,3}.py, 4.x and 5.x; keys and inferred values of llama.cpp's gemma loaders         */
#include "config.h"

#include "base/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const myth_weights *w;
    const myth_meta *m;
    const char *prefix;              /* "text_config." or "", "gemma3." */
    myth_error *err;
} facts;

/* What config.json may leave out. */
typedef struct {
    const char *name;
    uint32_t n_vocab, d_model, d_ff, n_layer, n_head, n_head_kv, n_ctx, window, period;
    double attn_softcap, final_softcap, rope_global;
} defaults;

static const defaults class_default[MYTH_FAMILY_N] = {
    /*                        name      vocab   d     ff     L   H   KV  ctx     window period caps    rope */
    [MYTH_FAMILY_GEMMA1] = { "gemma",  256000, 3072, 24576, 28, 16, 16, 8192,   0,     0,   0,  0, 1e4 },
    [MYTH_FAMILY_GEMMA2] = { "gemma2", 256000, 2304, 9216,  26, 8,  4,  8192,   4096,  2,  50, 30, 1e4 },
    [MYTH_FAMILY_GEMMA3] = { "gemma3", 262208, 2304, 9216,  26, 8,  4,  131072, 4096,  6,   0,  0, 1e6 },
};

const char *myth_family_name(myth_family_id id) { return (unsigned)id < MYTH_FAMILY_N ? class_default[id].name : "?"; }

const char *myth_config_gguf_name(const myth_config *c) { return c->is_bidirectional ? "gemma-embedding" : myth_family_name(c->family); }

/* ---- single facts ---- */

static const char *key_of(char dst[160], const facts *f, const char *name)
{
    snprintf(dst, 160, "%s%s", f->prefix, name);
    return dst;
}

static myth_status bad(const facts *f, const char *name, const char *expected)
{
    return myth_fail(f->err, MYTH_EFORMAT, "%s: %s%s: expected %s", myth_weights_path(f->w), f->prefix, name, expected);
}

static bool has(const facts *f, const char *name)
{
    char key[160];
    return myth_meta_has(f->m, key_of(key, f, name));
}

static const myth_meta_value *find(const facts *f, const char *name)
{
    char key[160];
    return myth_meta_find(f->m, key_of(key, f, name));
}

/* A whole number in [lo, hi]; absent or null leaves *out as it is, and 0 there means that it must be present. */
static myth_status get_u32(const facts *f, uint32_t *out, const char *name, uint32_t lo, uint32_t hi)
{
    char key[160], range[64];
    uint32_t v;
    if (!find(f, name) && *out)
        return MYTH_OK;
    snprintf(range, sizeof(range), "a whole number from %u to %u", lo, hi);
    if (!myth_meta_u32(&v, f->m, key_of(key, f, name)) || v < lo || v > hi)
        return bad(f, name, range);
    *out = v;
    return MYTH_OK;
}

/* As get_u32; absent leaves *out. */
static myth_status get_f64(const facts *f, double *out, const char *name, double lo, double hi)
{
    char key[160], range[64];
    double v;
    if (!find(f, name))
        return MYTH_OK;
    snprintf(range, sizeof(range), "a number from %g to %g", lo, hi);
    if (!myth_meta_f64(&v, f->m, key_of(key, f, name)) || !(v >= lo && v <= hi))
        return bad(f, name, range);
    *out = v;
    return MYTH_OK;
}

/* null means none. */
static myth_status get_cap(const facts *f, float *out, const char *name, double absent, double lo)
{
    double v = has(f, name) && !find(f, name) ? 0 : absent;
    myth_status st = get_f64(f, &v, name, lo, 1e6);
    *out = (float)v;
    return st;
}

static myth_status get_str(const facts *f, myth_str *out, const char *name)
{
    char key[160];
    *out = (myth_str){ "", 0 };
    if (!find(f, name) || myth_meta_str(out, f->m, key_of(key, f, name)))
        return MYTH_OK;
    return bad(f, name, "a string");
}

static myth_status is_true(const facts *f, bool *out, const char *name, bool absent)
{
    char key[160];
    *out = absent;
    if (!find(f, name) || myth_meta_bool(out, f->m, key_of(key, f, name)))
        return MYTH_OK;
    return bad(f, name, "true or false");
}

static myth_status no_family(const facts *f, myth_str name)
{
    return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: family %.*s is not supported; supported: gemma, gemma2, gemma3, EmbeddingGemma",
                     myth_weights_path(f->w), (int)(name.len < 64 ? name.len : 64), name.text);
}

/* ---- layers ---- */

static void set_layers(myth_config *c, uint32_t n_head_kv, uint32_t head_dim, uint32_t d_ff)
{
    for (uint32_t l = 0; l < c->n_layer; l++)
        c->layer[l] = (myth_layer_config){
            .is_global = true, .kv_source = (uint8_t)l, .n_head_kv = n_head_kv, .head_dim = head_dim, .d_ff = d_ff
        };
}

/* Layer l is global when (l + 1) mod period = 0; period 0: all are. */
static void set_period(myth_config *c, uint32_t period)
{
    for (uint32_t l = 0; l < c->n_layer; l++)
        c->layer[l].is_global = period == 0 || (l + 1) % period == 0;
}

static bool has_local(const myth_config *c)
{
    for (uint32_t l = 0; l < c->n_layer; l++)
        if (!c->layer[l].is_global)
            return true;
    return false;
}

float myth_config_gguf_scale(const myth_config *c)
{
    uint32_t n = c->layer[0].head_dim;
    if (c->family == MYTH_FAMILY_GEMMA2 && c->n_layer == 46)
        n = 144;
    if (c->family == MYTH_FAMILY_GEMMA3 && c->n_layer == 62)
        n = 168;
    return (float)(1.0 / sqrt((double)n));
}

/* ---- config.json ---- */

static myth_status json_family(facts *f, myth_family_id *out)
{
    myth_str type, arch = { "", 0 };
    const myth_meta_value *list = myth_meta_find(f->m, "architectures");
    static const struct { const char *type, *arch; myth_family_id family; } row[] = {
        { "gemma", "GemmaForCausalLM", MYTH_FAMILY_GEMMA1 },        { "gemma2", "Gemma2ForCausalLM", MYTH_FAMILY_GEMMA2 },
        { "gemma3_text", "Gemma3ForCausalLM", MYTH_FAMILY_GEMMA3 }, { "gemma3", "Gemma3ForConditionalGeneration", MYTH_FAMILY_GEMMA3 },
    };
    f->prefix = "";
    myth_status st = get_str(f, &type, "model_type");
    if (st != MYTH_OK)
        return st;
    if (list && !myth_meta_item_str(&arch, list, 0))
        return bad(f, "architectures", "a list of names");
    if (type.len == 0 && arch.len == 0)
        return bad(f, "model_type", "a string");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        if (type.len ? !myth_str_is(type, row[i].type) : !myth_str_is(arch, row[i].arch))
            continue;
        *out = row[i].family;
        if (i == 3) {
            const myth_meta_value *text = find(f, "text_config");
            if (!text || text->type != MYTH_META_OBJECT)
                return bad(f, "text_config", "an object");
            f->prefix = "text_config.";
            if ((st = get_str(f, &type, "model_type")) != MYTH_OK)
                return st;
            if (type.len && !myth_str_is(type, "gemma3_text"))
                return no_family(f, type);
        }
        return MYTH_OK;
    }
    return no_family(f, type.len ? type : arch);
}

static myth_status json_layer_kinds(const facts *f, myth_config *c, const defaults *d)
{
    const myth_meta_value *types = find(f, "layer_types");
    uint32_t period = d->period;
    myth_str kind;
    if (!types) {
        if (period) {
            myth_status st = get_u32(f, &period, "sliding_window_pattern", 1, MYTH_LAYER_MAX);
            if (st != MYTH_OK)
                return st;
        }
        set_period(c, period);
        return MYTH_OK;
    }
    if (types->type != MYTH_META_ARRAY || types->count != c->n_layer)
        return bad(f, "layer_types", "one name for each layer");
    for (uint32_t l = 0; l < c->n_layer; l++) {
        if (!myth_meta_item_str(&kind, types, l) || !(myth_str_is(kind, "full_attention") || myth_str_is(kind, "sliding_attention")))
            return bad(f, "layer_types", "full_attention or sliding_attention");
        c->layer[l].is_global = myth_str_is(kind, "full_attention");
    }
    if (c->family == MYTH_FAMILY_GEMMA1 && has_local(c))
        return bad(f, "layer_types", "full_attention in this family");
    return MYTH_OK;
}

/* One set of rope parameters under `stem`; *factor stays 1 without linear scaling. */
static myth_status json_rope(const facts *f, const char *stem, double *base, double *factor)
{
    char name[64], type_name[64];
    myth_str type;
    myth_status st = MYTH_OK;
    snprintf(name, sizeof(name), "%srope_theta", stem);
    MYTH_TRY(get_f64(f, base, name, 1, 1e12));
    snprintf(type_name, sizeof(type_name), "%srope_type", stem);
    if (!find(f, type_name))
        snprintf(type_name, sizeof(type_name), "%stype", stem);
    MYTH_TRY(get_str(f, &type, type_name));
    if (type.len == 0 || myth_str_is(type, "default"))
        return MYTH_OK;
    if (!myth_str_is(type, "linear"))
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: %s%s: %.*s is not supported; supported: default, linear", myth_weights_path(f->w),
                         f->prefix, type_name, (int)(type.len < 64 ? type.len : 64), type.text);
    snprintf(name, sizeof(name), "%sfactor", stem);
    if (!find(f, name))
        return bad(f, name, "a number");
    MYTH_TRY(get_f64(f, factor, name, 1, 1e4));
fail:
    return st;
}

static myth_status json_ropes(const facts *f, myth_config *c)
{
    double local_factor = 1;
    myth_status st = MYTH_OK;
    if (find(f, "rope_parameters.full_attention") || find(f, "rope_parameters.sliding_attention")) {
        MYTH_TRY(json_rope(f, "rope_parameters.full_attention.", &c->rope_base_global, &c->rope_factor_global));
        MYTH_TRY(json_rope(f, "rope_parameters.sliding_attention.", &c->rope_base_local, &local_factor));
    } else if (find(f, "rope_parameters")) {
        MYTH_TRY(json_rope(f, "rope_parameters.", &c->rope_base_global, &c->rope_factor_global));
    } else {
        MYTH_TRY(get_f64(f, &c->rope_base_global, "rope_theta", 1, 1e12));
        MYTH_TRY(get_f64(f, &c->rope_base_local, "rope_local_base_freq", 1, 1e12));
        if (find(f, "rope_scaling"))
            MYTH_TRY(json_rope(f, "rope_scaling.", &(double){ 0 }, &c->rope_factor_global));
    }
    if (c->family != MYTH_FAMILY_GEMMA3) {
        c->rope_base_local = c->rope_base_global;
        local_factor = c->rope_factor_global;
    }
    if (local_factor != 1)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: rope scaling of local layers", myth_weights_path(f->w));
fail:
    return st;
}

/* Things a Gemma never has, which would change the result if they were passed over. */
static myth_status json_refusals(const facts *f, myth_config *c)
{
    static const char *const act_keys[] = { "hidden_activation", "hidden_act" };
    const char *path = myth_weights_path(f->w);
    myth_str act;
    bool flag;
    myth_status st = MYTH_OK;
    for (int i = 0; i < 2; i++) {
        MYTH_TRY(get_str(f, &act, act_keys[i]));
        if (act.len && !myth_str_is(act, "gelu_pytorch_tanh") && !(i == 1 && myth_str_is(act, "gelu")))
            return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: %s %.*s is not supported; supported: gelu_pytorch_tanh", path, act_keys[i],
                             (int)(act.len < 64 ? act.len : 64), act.text);
        if (act.len)
            break;                                              /* hidden_activation, when it is not null, wins */
    }
    MYTH_TRY(is_true(f, &flag, "attention_bias", false));
    if (flag)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: attention_bias is not supported", path);
    MYTH_TRY(is_true(f, &flag, "tie_word_embeddings", true));
    if (!flag)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: tie_word_embeddings false (a head of its own) is not supported", path);
    const myth_meta_value *both = find(f, "use_bidirectional_attention"), *list = myth_meta_find(f->m, "architectures");
    myth_str arch = { "", 0 };
    c->is_bidirectional = both && both->type == MYTH_META_BOOL && both->v.b;
    const bool is_encoder = list && myth_meta_item_str(&arch, list, 0) && myth_str_is(arch, "Gemma3TextModel");
    if (c->is_bidirectional != is_encoder)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: use_bidirectional_attention %s in a %s: only EmbeddingGemma (Gemma3TextModel) sees both ways",
                         path, c->is_bidirectional ? "true" : "false", is_encoder ? "Gemma3TextModel" : "model that generates");
fail:
    return st;
}

static myth_status read_json(facts *f, myth_config *c)
{
    myth_status st = json_family(f, &c->family);
    if (st != MYTH_OK)
        return st;
    const defaults *d = &class_default[c->family];
    uint32_t n_head_kv = d->n_head_kv, head_dim = 256, d_ff = d->d_ff;
    double eps = 1e-6, scalar = 256, cap = 0;
    myth_str dtype;
    c->n_layer = d->n_layer;
    c->d_model = d->d_model;
    c->n_head = d->n_head;
    c->n_vocab = d->n_vocab;
    c->n_ctx_train = d->n_ctx;
    c->rope_base_global = d->rope_global;
    MYTH_TRY(json_refusals(f, c));
    MYTH_TRY(get_u32(f, &c->n_layer, "num_hidden_layers", 1, MYTH_LAYER_MAX));
    MYTH_TRY(get_u32(f, &c->d_model, "hidden_size", 1, 1 << 16));
    MYTH_TRY(get_u32(f, &c->n_head, "num_attention_heads", 1, 1024));
    MYTH_TRY(get_u32(f, &n_head_kv, "num_key_value_heads", 1, 1024));
    MYTH_TRY(get_u32(f, &head_dim, "head_dim", 2, 1024));
    MYTH_TRY(get_u32(f, &d_ff, "intermediate_size", 1, 1 << 20));
    MYTH_TRY(get_u32(f, &c->n_vocab, "vocab_size", 1, 1 << 22));
    MYTH_TRY(get_u32(f, &c->n_ctx_train, "max_position_embeddings", 1, 1 << 24));
    MYTH_TRY(get_f64(f, &eps, "rms_norm_eps", 1e-12, 0.1));
    set_layers(c, n_head_kv, head_dim, d_ff);
    MYTH_TRY(json_layer_kinds(f, c, d));
    if (has_local(c)) {
        c->window = d->window;
        MYTH_TRY(get_u32(f, &c->window, "sliding_window", 1, 1 << 24));
    }
    MYTH_TRY(json_ropes(f, c));
    if (c->family == MYTH_FAMILY_GEMMA1)
        scalar = head_dim;
    else
        MYTH_TRY(get_f64(f, &scalar, "query_pre_attn_scalar", 1e-4, 1e6));
    if (c->family == MYTH_FAMILY_GEMMA2)
        MYTH_TRY(get_cap(f, &c->attn_softcap, "attn_logit_softcapping", d->attn_softcap, 1e-3));
    else
        MYTH_TRY(get_f64(f, &cap, "attn_logit_softcapping", 1e-3, 1e6));         /* present in some files, without effect */
    if (c->family != MYTH_FAMILY_GEMMA1)
        MYTH_TRY(get_cap(f, &c->final_softcap, "final_logit_softcapping", d->final_softcap, 1e-3));
    c->eps = (float)eps;
    c->attn_scale = (float)(1.0 / sqrt(scalar));
    c->norm_plus_one = true;

    /* sqrt(d) is rounded to the type the reference computes in: bf16, unless the checkpoint is f32. */
    const myth_tensor *embed = myth_weights_slot(f->w, "embed_tokens.weight", "");
    MYTH_TRY(get_str(f, &dtype, find(f, "dtype") ? "dtype" : "torch_dtype"));
    c->embed_scale = sqrtf((float)c->d_model);
    if (embed ? embed->dtype != MYTH_F32 : (myth_str_is(dtype, "bfloat16") || myth_str_is(dtype, "float16")))
        c->embed_scale = myth_bf16_to_f32(myth_f32_to_bf16(c->embed_scale));
    if (embed && embed->dim[0] != c->n_vocab) {
        /* Gemma 3: 262,144 pieces, 64 rows more in the checkpoints with image tokens; either number may stand in either place. */
        bool is_known = c->family == MYTH_FAMILY_GEMMA3 && (embed->dim[0] == 262144 || embed->dim[0] == 262208) &&
                        (c->n_vocab == 262144 || c->n_vocab == 262208);
        if (find(f, "vocab_size") && !is_known)
            return myth_fail(f->err, MYTH_EFORMAT, "%s: %svocab_size: got %u, but the embedding has %llu rows", myth_weights_path(f->w),
                             f->prefix, c->n_vocab, (unsigned long long)embed->dim[0]);
    }
fail:
    return st;
}

/* ---- GGUF ---- */

/* A number, or an array with one for each layer; absent leaves the layers as they are. */
static myth_status gguf_per_layer(const facts *f, myth_config *c, const char *name, size_t field, uint32_t hi)
{
    const myth_meta_value *v = find(f, name);
    uint32_t one = 0;
    int64_t item = 0;
    bool is_array = v && v->type == MYTH_META_ARRAY;
    if (is_array && v->count != c->n_layer)
        return bad(f, name, "one number for each layer");
    if (!is_array) {
        myth_status st = get_u32(f, &one, name, 1, hi);
        if (st != MYTH_OK)
            return st;
    }
    for (uint32_t l = 0; l < c->n_layer; l++) {
        if (is_array && (!myth_meta_item_i64(&item, v, l) || item < 1 || item > hi))
            return bad(f, name, "whole numbers in range");
        uint32_t n = is_array ? (uint32_t)item : one;
        memcpy((char *)&c->layer[l] + field, &n, sizeof(n));
    }
    return MYTH_OK;
}

static myth_status gguf_layer_kinds(const facts *f, myth_config *c, const defaults *d)
{
    const myth_meta_value *v = find(f, "attention.sliding_window_pattern");
    uint32_t period = d->period;
    bool is_local;
    if (!find(f, "attention.sliding_window") && c->family == MYTH_FAMILY_GEMMA3)
        period = 0;                                              /* the converter leaves it out when every layer is global */
    if (!v || v->type != MYTH_META_ARRAY) {
        if (period) {
            myth_status st = get_u32(f, &period, "attention.sliding_window_pattern", 1, MYTH_LAYER_MAX);
            if (st != MYTH_OK)
                return st;
        }
        set_period(c, period);
        return MYTH_OK;
    }
    if (v->count != c->n_layer)
        return bad(f, "attention.sliding_window_pattern", "one bool for each layer");
    for (uint32_t l = 0; l < c->n_layer; l++) {
        if (!myth_meta_item_bool(&is_local, v, l))
            return bad(f, "attention.sliding_window_pattern", "one bool for each layer");
        c->layer[l].is_global = !is_local;
    }
    return MYTH_OK;
}

static myth_status gguf_ropes(const facts *f, myth_config *c)
{
    static const char *const global_keys[] = { "rope.freq_base", "rope.global.freq_base" };
    static const char *const local_keys[] = { "rope.freq_base_swa", "rope.local.freq_base" };
    myth_str type;
    myth_status st = MYTH_OK;
    c->rope_base_global = 1e4;
    for (int i = 0; i < 2; i++) {
        MYTH_TRY(get_f64(f, &c->rope_base_global, global_keys[i], 1, 1e12));
        MYTH_TRY(get_f64(f, &c->rope_base_local, local_keys[i], 1, 1e12));
    }
    MYTH_TRY(get_str(f, &type, "rope.scaling.type"));
    if (type.len && !myth_str_is(type, "none") && !myth_str_is(type, "linear"))
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: rope.scaling.type: %.*s is not supported; supported: none, linear",
                         myth_weights_path(f->w), (int)(type.len < 64 ? type.len : 64), type.text);
    if (myth_str_is(type, "linear"))
        MYTH_TRY(get_f64(f, &c->rope_factor_global, "rope.scaling.factor", 1, 1e4));
    if (c->family != MYTH_FAMILY_GEMMA3) {
        c->rope_base_local = c->rope_base_global;
        if (c->rope_factor_global != 1)
            return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: rope scaling in this family", myth_weights_path(f->w));
    }
fail:
    return st;
}

static myth_status read_gguf(facts *f, myth_config *c)
{
    enum { MEAN = 1 };
    static const char *const stems[MYTH_FAMILY_N] = { "gemma.", "gemma2.", "gemma3." };
    myth_str arch;
    myth_status st = MYTH_OK;
    f->prefix = "";
    MYTH_TRY(get_str(f, &arch, "general.architecture"));
    c->family = MYTH_FAMILY_N;
    for (int i = 0; i < MYTH_FAMILY_N; i++)
        if (myth_str_is(arch, class_default[i].name))
            c->family = (myth_family_id)i;
    c->is_bidirectional = myth_str_is(arch, "gemma-embedding");
    if (c->is_bidirectional)
        c->family = MYTH_FAMILY_GEMMA3;
    if (arch.len == 0)
        return bad(f, "general.architecture", "a name");
    if (c->family == MYTH_FAMILY_N)
        return no_family(f, arch);
    f->prefix = c->is_bidirectional ? "gemma-embedding." : stems[c->family];

    const defaults *d = &class_default[c->family];
    double eps = 1e-6, scale;
    uint32_t head_dim = 0, value_dim;
    MYTH_TRY(get_u32(f, &c->n_layer, "block_count", 1, MYTH_LAYER_MAX));
    MYTH_TRY(get_u32(f, &c->d_model, "embedding_length", 1, 1 << 16));
    MYTH_TRY(get_u32(f, &c->n_head, "attention.head_count", 1, 1024));
    MYTH_TRY(get_u32(f, &c->n_ctx_train, "context_length", 1, 1 << 24));
    head_dim = find(f, "attention.key_length") ? 0 : c->d_model / c->n_head;
    MYTH_TRY(get_u32(f, &head_dim, "attention.key_length", 2, 1024));
    value_dim = head_dim;
    MYTH_TRY(get_u32(f, &value_dim, "attention.value_length", 2, 1024));
    if (value_dim != head_dim)
        return bad(f, "attention.value_length", "the same as key_length");
    MYTH_TRY(get_f64(f, &eps, "attention.layer_norm_rms_epsilon", 1e-12, 0.1));
    set_layers(c, 0, head_dim, 0);
    MYTH_TRY(gguf_per_layer(f, c, "attention.head_count_kv", offsetof(myth_layer_config, n_head_kv), 1024));
    MYTH_TRY(gguf_per_layer(f, c, "feed_forward_length", offsetof(myth_layer_config, d_ff), 1 << 20));
    MYTH_TRY(gguf_layer_kinds(f, c, d));
    if (has_local(c)) {
        c->window = d->window && c->family == MYTH_FAMILY_GEMMA2 ? d->window : 0;
        MYTH_TRY(get_u32(f, &c->window, "attention.sliding_window", 1, 1 << 24));
    }
    MYTH_TRY(gguf_ropes(f, c));
    if (c->family == MYTH_FAMILY_GEMMA2)
        MYTH_TRY(get_cap(f, &c->attn_softcap, "attn_logit_softcapping", d->attn_softcap, 0));
    if (c->family != MYTH_FAMILY_GEMMA1)
        MYTH_TRY(get_cap(f, &c->final_softcap, "final_logit_softcapping", d->final_softcap, 0));
    c->eps = (float)eps;
    scale = myth_config_gguf_scale(c);
    MYTH_TRY(get_f64(f, &scale, "attention.scale", 1e-4, 100));
    c->attn_scale = (float)scale;
    c->embed_scale = sqrtf((float)c->d_model);

    uint32_t pooling = MEAN;
    MYTH_TRY(get_u32(f, &pooling, "pooling_type", 0, 8));
    if (c->is_bidirectional && pooling != MEAN)
        return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: pooling_type %u is not supported; supported: %d, the mean", myth_weights_path(f->w), pooling, MEAN);

    const myth_meta_value *tokens = myth_meta_find(f->m, "tokenizer.ggml.tokens");
    c->n_vocab = tokens && tokens->count <= 1 << 22 ? (uint32_t)tokens->count : 0;
    if (!tokens || find(f, "vocab_size"))
        MYTH_TRY(get_u32(f, &c->n_vocab, "vocab_size", 1, 1 << 22));
fail:
    return st;
}

/* ---- both ---- */

myth_status myth_config_read(myth_config *out, const myth_weights *w, myth_error *err)
{
    myth_config c = { .rope_base_local = 1e4, .rope_factor_global = 1 };
    facts f = { w, myth_weights_meta(w), "", err };
    const char *path = myth_weights_path(w);
    myth_status st = myth_weights_get_format(w) == MYTH_FORMAT_SAFETENSORS ? read_json(&f, &c) : read_gguf(&f, &c);
    if (st != MYTH_OK)
        return st;
    c.has_post_norm = c.family != MYTH_FAMILY_GEMMA1;
    c.has_qk_norm = c.family == MYTH_FAMILY_GEMMA3;
    if (c.is_bidirectional && c.window)
        c.window = c.window / 2 + 1;             /* the stored width is of both sides; ours counts the token itself */
    for (uint32_t l = 0; l < c.n_layer; l++) {
        const myth_layer_config *k = &c.layer[l];
        if (c.n_head % k->n_head_kv)
            return myth_fail(err, MYTH_EFORMAT, "%s: %u query heads over %u key/value heads", path, c.n_head, k->n_head_kv);
        if (k->head_dim % 2)
            return myth_fail(err, MYTH_EFORMAT, "%s: head width %u, expected an even number", path, k->head_dim);
        c.max_head_dim = k->head_dim > c.max_head_dim ? k->head_dim : c.max_head_dim;
        c.max_head_kv = k->n_head_kv > c.max_head_kv ? k->n_head_kv : c.max_head_kv;
        c.max_ff = k->d_ff > c.max_ff ? k->d_ff : c.max_ff;
    }
    if (myth_weights_n_tensor(w)) {
        const myth_tensor *embed = myth_weights_slot(w, "embed_tokens.weight", "token_embd.weight");
        if (!embed || embed->n_dim != 2 || embed->dim[0] > 1 << 22)
            return myth_fail(err, MYTH_EFORMAT, "%s: embedding: expected a matrix of at most %d rows", path, 1 << 22);
        c.n_vocab = (uint32_t)embed->dim[0];
        if ((st = myth_config_check_tensors(&c, w, err)) != MYTH_OK)
            return st;
    }
    *out = c;
    return MYTH_OK;
}
