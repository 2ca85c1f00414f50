/* config.c - hyper-parameters out of either kind of file: single facts, what layers share, and the checks that both
 * kinds go through.
 *
 * Order    the key, else the default of the model's class (config_json.c, config_gguf.c); then ranges; then
 *          (config_tensors.c) every shape
 * Source   transformers configuration_gemma{,2,3,3n,4}.py, 4.x and 5.x; keys and inferred values of llama.cpp's gemma
 *          loaders */
#include "config_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *myth_family_name(myth_family_id id)
{
    return (unsigned)id < MYTH_FAMILY_N ? myth_family_get(id)->name : "?";
}

const char *myth_config_gguf_name(const myth_config *c)
{
    return c->is_bidirectional ? "gemma-embedding" : myth_family_name(c->family);
}

/* ---- single facts ---- */

static const char *key_of(char dst[160], const myth_facts *f, const char *name)
{
    snprintf(dst, 160, "%s%s", f->prefix, name);
    return dst;
}

myth_status myth_facts_bad(const myth_facts *f, const char *name, const char *expected)
{
    return myth_fail(f->err, MYTH_EFORMAT, "%s: %s%s: expected %s", myth_weights_path(f->w), f->prefix, name, expected);
}

bool myth_facts_has(const myth_facts *f, const char *name)
{
    char key[160];
    return myth_meta_has(f->m, key_of(key, f, name));
}

const myth_meta_value *myth_facts_find(const myth_facts *f, const char *name)
{
    char key[160];
    return myth_meta_find(f->m, key_of(key, f, name));
}

myth_status myth_facts_u32(const myth_facts *f, uint32_t *out, const char *name, uint32_t lo, uint32_t hi)
{
    char key[160], range[64];
    uint32_t v;
    if (!myth_facts_find(f, name) && *out)
        return MYTH_OK;
    snprintf(range, sizeof(range), "a whole number from %u to %u", lo, hi);
    if (!myth_meta_u32(&v, f->m, key_of(key, f, name)) || v < lo || v > hi)
        return myth_facts_bad(f, name, range);
    *out = v;
    return MYTH_OK;
}

myth_status myth_facts_u32_or(const myth_facts *f, uint32_t *out, const char *name, uint32_t lo, uint32_t hi)
{
    return myth_facts_find(f, name) ? myth_facts_u32(f, out, name, lo, hi) : MYTH_OK;
}

myth_status myth_facts_f64(const myth_facts *f, double *out, const char *name, double lo, double hi)
{
    char key[160], range[64];
    double v;
    if (!myth_facts_find(f, name))
        return MYTH_OK;
    snprintf(range, sizeof(range), "a number from %g to %g", lo, hi);
    if (!myth_meta_f64(&v, f->m, key_of(key, f, name)) || !(v >= lo && v <= hi))
        return myth_facts_bad(f, name, range);
    *out = v;
    return MYTH_OK;
}

myth_status myth_facts_cap(const myth_facts *f, float *out, const char *name, double absent, double lo)
{
    double v = myth_facts_has(f, name) && !myth_facts_find(f, name) ? 0 : absent;
    myth_status st = myth_facts_f64(f, &v, name, lo, 1e6);
    *out = (float)v;
    return st;
}

myth_status myth_facts_str(const myth_facts *f, myth_str *out, const char *name)
{
    char key[160];
    *out = (myth_str){"", 0};
    if (!myth_facts_find(f, name) || myth_meta_str(out, f->m, key_of(key, f, name)))
        return MYTH_OK;
    return myth_facts_bad(f, name, "a string");
}

myth_status myth_facts_bool(const myth_facts *f, bool *out, const char *name, bool absent)
{
    char key[160];
    *out = absent;
    if (!myth_facts_find(f, name) || myth_meta_bool(out, f->m, key_of(key, f, name)))
        return MYTH_OK;
    return myth_facts_bad(f, name, "true or false");
}

/* Names of the families that have a loop. */
static void list_families(char *dst, size_t cap)
{
    size_t n = 0;
    for (int i = 0; i < MYTH_FAMILY_N; i++)
        if (myth_family_get((myth_family_id)i)->layers)
            n += (size_t)snprintf(dst + n, cap - n, "%s, ", myth_family_name((myth_family_id)i));
    snprintf(dst + n, cap - n, "EmbeddingGemma");
}

myth_status myth_facts_no_family(const myth_facts *f, myth_str name)
{
    char known[128];
    list_families(known, sizeof known);
    return myth_fail(f->err, MYTH_EUNSUPPORTED, "%s: family %.*s is not supported; supported: %s",
                     myth_weights_path(f->w), (int)(name.len < 64 ? name.len : 64), name.text, known);
}

myth_status myth_facts_per_layer(const myth_facts *f, myth_config *c, const char *name, size_t field, uint32_t hi)
{
    const myth_meta_value *v = myth_facts_find(f, name);
    uint32_t one = 0;
    int64_t item = 0;
    bool is_array = v && v->type == MYTH_META_ARRAY;
    if (is_array && v->count != c->n_layer)
        return myth_facts_bad(f, name, "one number for each layer");
    if (!is_array) {
        myth_status st = myth_facts_u32(f, &one, name, 1, hi);
        if (st != MYTH_OK)
            return st;
    }
    for (uint32_t l = 0; l < c->n_layer; l++) {
        if (is_array && (!myth_meta_item_i64(&item, v, l) || item < 1 || item > hi))
            return myth_facts_bad(f, name, "whole numbers in range");
        uint32_t n = is_array ? (uint32_t)item : one;
        memcpy((char *)&c->layer[l] + field, &n, sizeof(n));
    }
    return MYTH_OK;
}

uint64_t myth_facts_dim(const myth_facts *f, const char *hf, const char *gguf, uint32_t i)
{
    const myth_tensor *t = myth_weights_slot(f->w, hf, gguf);
    return t ? t->dim[i] : 0;
}

/* ---- layers ---- */

void myth_facts_set_layers(myth_config *c, uint32_t n_head_kv, uint32_t head_dim, uint32_t d_ff)
{
    for (uint32_t l = 0; l < c->n_layer; l++)
        c->layer[l] = (myth_layer_config){
            .is_global = true,
            .kv_source = (uint8_t)l,
            .kv_last = (uint8_t)l,
            .n_head_kv = n_head_kv,
            .head_dim = head_dim,
            .d_ff = d_ff,
        };
}

void myth_facts_set_period(myth_config *c, uint32_t period)
{
    for (uint32_t l = 0; l < c->n_layer; l++)
        c->layer[l].is_global = period == 0 || (l + 1) % period == 0;
}

bool myth_facts_has_local(const myth_config *c)
{
    for (uint32_t l = 0; l < c->n_layer; l++)
        if (!c->layer[l].is_global)
            return true;
    return false;
}

myth_status myth_facts_set_shared(const myth_facts *f, myth_config *c, uint32_t n_shared, const char *name)
{
    if (n_shared >= c->n_layer)
        return myth_facts_bad(f, name, "fewer than there are layers");
    c->first_shared = c->n_layer - n_shared;
    for (uint32_t l = c->first_shared; l < c->n_layer; l++) {
        myth_layer_config *k = &c->layer[l];
        uint32_t source = c->first_shared;
        while (source > 0 && c->layer[source - 1].is_global != k->is_global)
            source--;
        if (source == 0)
            return myth_facts_bad(f, name, "a layer of either kind before the shared ones");
        const myth_layer_config *from = &c->layer[--source];
        k->kv_source = (uint8_t)source;
        k->n_head_kv = from->n_head_kv;
        k->head_dim = from->head_dim;
        c->layer[source].kv_last = (uint8_t)l;
    }
    return MYTH_OK;
}

float myth_config_gguf_scale(const myth_config *c)
{
    const myth_family *family = myth_family_get(c->family);
    uint32_t n = family->score_scale == MYTH_SCALE_ONE ? 1 : c->layer[0].head_dim;
    if (c->n_layer == family->odd_scale.n_layer)
        n = family->odd_scale.width;
    return (float)(1.0 / sqrt((double)n));
}

/* ---- both ---- */

const myth_tensor *myth_config_rope_freqs(const myth_config *c, const myth_weights *w)
{
    return myth_family_get(c->family)->has_rope_freqs && myth_weights_get_format(w) == MYTH_FORMAT_GGUF
             ? myth_weights_find(w, "rope_freqs.weight")
             : NULL;
}

/* What follows from the layers: the widest of each, the heads of each kind. */
static myth_status sum_up(myth_config *c, const char *path, myth_error *err)
{
    for (uint32_t l = 0; l < c->n_layer; l++) {
        const myth_layer_config *k = &c->layer[l];
        uint32_t *of_kind = k->is_global ? &c->head_dim_global : &c->head_dim_local;
        const uint32_t n_kv = k->n_head_kv * k->head_dim,
                       n_q = c->n_head * k->head_dim; /* each at most 1024 when it was read */
        if (c->n_head % k->n_head_kv)
            return myth_fail(err, MYTH_EFORMAT, "%s: %u query heads over %u key/value heads", path, c->n_head,
                             k->n_head_kv);
        if (k->head_dim % 2)
            return myth_fail(err, MYTH_EFORMAT, "%s: head width %u, expected an even number", path, k->head_dim);
        if (*of_kind && *of_kind != k->head_dim)
            return myth_fail(err, MYTH_EUNSUPPORTED, "%s: %s layers with heads of %u and of %u elements", path,
                             k->is_global ? "global" : "local", *of_kind, k->head_dim);
        *of_kind = k->head_dim;
        c->max_head_dim = k->head_dim > c->max_head_dim ? k->head_dim : c->max_head_dim;
        c->max_head_kv = k->n_head_kv > c->max_head_kv ? k->n_head_kv : c->max_head_kv;
        c->max_ff = k->d_ff > c->max_ff ? k->d_ff : c->max_ff;
        c->max_q = n_q > c->max_q ? n_q : c->max_q;
        c->max_kv = n_kv > c->max_kv ? n_kv : c->max_kv;
    }
    if (c->rope_pairs_global == UINT32_MAX)
        c->rope_pairs_global = c->head_dim_global / 2;
    return MYTH_OK;
}

myth_status myth_config_read(myth_config *out, const myth_weights *w, myth_error *err)
{
    myth_config c = {
        .rope_base_local = 1e4, .rope_factor_global = 1, .rope_factor_local = 1, .rope_pairs_global = UINT32_MAX};
    myth_facts f = {w, myth_weights_meta(w), "", err};
    const char *path = myth_weights_path(w);
    myth_status st = myth_weights_get_format(w) == MYTH_FORMAT_SAFETENSORS ? myth_config_read_json(&f, &c)
                                                                           : myth_config_read_gguf(&f, &c);
    if (st != MYTH_OK)
        return st;
    const myth_family *family = myth_family_get(c.family);
    if (!family->layers)
        return myth_facts_no_family(&f, (myth_str){myth_family_name(c.family), strlen(myth_family_name(c.family))});
    if (!family->shares_kv)
        c.first_shared = c.n_layer;
    c.has_post_norm = family->has_post_norm;
    c.has_qk_norm = family->has_qk_norm;
    c.has_v_norm = family->has_v_norm;
    c.has_system_turn = family->has_system_turn;
    if (c.is_bidirectional && c.window)
        c.window = c.window / 2 + 1; /* the stored width is of both sides; ours counts the token itself */
    if ((st = sum_up(&c, path, err)) != MYTH_OK)
        return st;
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
