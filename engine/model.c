/* model.c - a model's files together: weights, config, tokenizer. */
#include "model.h"

#include "engine/base/hash.h"
#include "engine/run/lora.h"

#include <stdio.h>
#include <string.h>

/* The first piece past the embedding, which has no row, that a text can give; -1 = none. Marks such as that of an image
 * may be there: Gemma 3's text models have the tokenizer of those that see. */
static int32_t piece_without_row(const myth_model *m)
{
    const uint32_t n = myth_tokenizer_n_vocab(m->tokenizer);
    for (uint32_t id = m->config.n_vocab; id < n; id++)
        if (!myth_tokenizer_is_control(m->tokenizer, (int32_t)id))
            return (int32_t)id;
    return -1;
}

/* A tokenizer from elsewhere. */
static myth_status open_given(myth_model *out, myth_mem *mem, const char *path, myth_error *err)
{
    if (myth_weights_get_format(out->weights) != MYTH_FORMAT_RANDOM)
        return myth_fail_option(err, MYTH_EARG, "tokenizer",
                                "tokenizer: %.150s has its own; only random: models take one",
                                myth_weights_path(out->weights));
    myth_status st = myth_tokenizer_open_file(&out->tokenizer, mem, path, err);
    if (st == MYTH_OK && piece_without_row(out) >= 0)
        st = myth_fail_option(
            err, MYTH_EARG, "tokenizer",
            "tokenizer: %.100s has %u pieces, the embedding of %.60s has %u rows; take a larger model", path,
            myth_tokenizer_n_vocab(out->tokenizer), myth_weights_name(out->weights), out->config.n_vocab);
    return st;
}

myth_status myth_model_open(myth_model *out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                            myth_error *err)
{
    const char *given = opts ? opts->tokenizer : NULL;
    myth_status st = MYTH_OK;
    *out = (myth_model){.mem = mem};
    MYTH_TRY(myth_weights_open(&out->weights, mem, spec, opts, err));
    MYTH_TRY(myth_config_read(&out->config, out->weights, err));
    st = given ? open_given(out, mem, given, err) : myth_tokenizer_open(&out->tokenizer, mem, out->weights, err);
    if (!given && st == MYTH_ENOTFOUND) /* a model without a vocabulary runs on ids */
        st = MYTH_OK;
    if (st == MYTH_OK)
        return MYTH_OK;
fail:
    myth_model_close(out);
    return st;
}

/* Adds the adapter's last folder or file to the name, and its scale where that is not 1. */
static void add_name(myth_model *m, const char *path, float scale)
{
    char by[24] = "", all[MYTH_MODEL_NAME_MAX];
    size_t end = strlen(path), at;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (at = end; at > 0 && path[at - 1] != '/';)
        at--;
    if (scale != 1.0f)
        snprintf(by, sizeof by, ":%g", (double)scale);
    snprintf(all, sizeof all, "%.120s + %.*s%s", myth_model_name(m), (int)(end - at < 100 ? end - at : 100), path + at,
             by);
    memcpy(m->adapted, all, sizeof all);
}

myth_status myth_model_adapt(myth_model *m, const char *path, float scale, myth_error *err)
{
    myth_lora *l = NULL;
    if (m->n_lora == MYTH_MODEL_LORA_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: at most %d adapters", path, MYTH_MODEL_LORA_MAX);
    const myth_status st = myth_lora_open(&l, m, path, scale, err);
    if (st != MYTH_OK)
        return st;
    add_name(m, path, scale);
    m->lora[m->n_lora++] = l;
    return MYTH_OK;
}

const char *myth_model_name(const myth_model *m) { return m->n_lora ? m->adapted : myth_weights_name(m->weights); }

const char *myth_model_lora_path(const myth_model *m, uint32_t i)
{
    return myth_weights_path(myth_lora_weights(m->lora[i]));
}
float myth_model_lora_scale(const myth_model *m, uint32_t i) { return myth_lora_scale(m->lora[i]); }
uint64_t myth_model_lora_hash(const myth_model *m, uint32_t i) { return myth_lora_hash(m->lora[i]); }
uint32_t myth_model_lora_matrices(const myth_model *m, uint32_t i) { return myth_lora_n_matrix(m->lora[i]); }
const myth_weights *myth_model_lora_weights(const myth_model *m, uint32_t i) { return myth_lora_weights(m->lora[i]); }
uint32_t myth_model_lora_left_out(const myth_model *m, uint32_t i) { return myth_lora_n_left_out(m->lora[i]); }

void myth_model_close(myth_model *m)
{
    for (uint32_t i = 0; i < m->n_lora; i++)
        myth_lora_close(m->lora[i]);
    myth_tokenizer_close(m->tokenizer);
    myth_weights_close(m->weights);
    *m = (myth_model){0};
}

static myth_status check_weights(const myth_weights *w, myth_error *err)
{
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        if (t->data && !myth_tensor_is_finite(t))
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %.*s holds a value that is not finite",
                             myth_weights_path(w), (int)t->name.len, t->name.text);
    }
    return MYTH_OK;
}

myth_status myth_model_check_tensors(const myth_model *m, myth_error *err)
{
    myth_status st = check_weights(m->weights, err);
    for (uint32_t i = 0; i < m->n_lora && st == MYTH_OK; i++)
        st = check_weights(myth_lora_weights(m->lora[i]), err);
    return st;
}

/* Hashes field by field, because a struct's padding has no defined value. Widths and numbers of heads and experts need
 * no hashing: they follow from the tensors' shapes. */
static uint64_t add_config(uint64_t hash, const myth_config *c)
{
    const uint32_t number[] = {(uint32_t)c->family,   c->n_layer,      c->n_head,        c->window,
                               c->n_expert_used,      c->altup_active, c->first_shared,  c->rope_pairs_global,
                               c->is_rounded,         c->has_v_norm,   c->norm_plus_one, c->is_bidirectional,
                               c->altup_correct_scale};
    const float real[] = {c->eps, c->attn_scale, c->attn_softcap, c->final_softcap, c->embed_scale, c->altup_clip};
    const double rope[] = {c->rope_base_global, c->rope_base_local, c->rope_factor_global};
    hash = myth_fnv1a(hash, number, sizeof number);
    hash = myth_fnv1a(hash, real, sizeof real);
    hash = myth_fnv1a(hash, rope, sizeof rope);
    for (uint32_t i = 0; i < c->n_layer; i++) {
        const myth_layer_config *l = &c->layer[i];
        const uint32_t of_layer[] = {l->is_global, l->k_is_v, l->kv_source, l->n_head_kv, l->head_dim, l->is_sparse};
        hash = myth_fnv1a(hash, of_layer, sizeof of_layer);
        hash = myth_fnv1a(hash, &l->gate_z, sizeof l->gate_z);
    }
    return hash;
}

uint64_t myth_model_hash(const myth_model *m)
{
    enum { SAMPLE = 64 }; /* bytes of each tensor: a fine-tuned model has the same shapes as its base */
    uint64_t hash = add_config(MYTH_FNV1A, &m->config);
    if (myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM) /* it has no bytes; its spec determines them */
        hash = myth_fnv1a(hash, myth_weights_path(m->weights), strlen(myth_weights_path(m->weights)));
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
        const myth_tensor *t = myth_weights_at(m->weights, i);
        const uint32_t type = (uint32_t)t->dtype;
        hash = myth_fnv1a(hash, t->name.text, t->name.len);
        hash = myth_fnv1a(hash, &type, sizeof type);
        hash = myth_fnv1a(hash, t->dim, sizeof t->dim);
        if (t->data)
            hash = myth_fnv1a(hash, t->data, t->bytes < SAMPLE ? (size_t)t->bytes : SAMPLE);
    }
    if (m->tokenizer) { /* the same weights read other ids from a text */
        const uint64_t tokenizer = myth_tokenizer_hash(m->tokenizer);
        hash = myth_fnv1a(hash, &tokenizer, sizeof tokenizer);
    }
    for (uint32_t i = 0; i < m->n_lora; i++) {
        const uint64_t added = myth_lora_hash(m->lora[i]);
        hash = myth_fnv1a(hash, &added, sizeof added);
    }
    return hash;
}
