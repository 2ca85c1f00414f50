/* config_tensors.c - the tensors of a file against the table of its family: each there, none besides, shapes as the
 * config says. */
#include "config.h"
#include "family.h"

#include <stdio.h>

typedef struct {
    const myth_config *c;
    const myth_weights *w;
    bool seen[MYTH_TENSOR_MAX];
} check;

static const char *name_in_file(const check *k, const char *hf, const char *gguf)
{
    return myth_weights_get_format(k->w) == MYTH_FORMAT_SAFETENSORS ? hf : gguf;
}

static myth_status bad_shape(const check *k, const myth_tensor *t, uint32_t n_dim, const uint64_t *dim, myth_error *err)
{
    char got[96] = "", want[96] = "";
    size_t n_got = 0, n_want = 0;
    for (uint32_t i = 0; i < t->n_dim; i++)
        n_got +=
            (size_t)snprintf(got + n_got, sizeof got - n_got, "%s%llu", i ? ", " : "", (unsigned long long)t->dim[i]);
    for (uint32_t i = 0; i < n_dim; i++)
        n_want +=
            (size_t)snprintf(want + n_want, sizeof want - n_want, "%s%llu", i ? ", " : "", (unsigned long long)dim[i]);
    return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: shape [%s], expected [%s]", myth_weights_path(k->w),
                     t->name.text, got, want);
}

/* The tensor of a slot, there or not as the layer has it, in the shape that the config says. */
static myth_status check_slot(check *k, const myth_slot *s, uint32_t layer, myth_error *err)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    const char *path = myth_weights_path(k->w);
    const bool is_dead = k->c->layer[layer].kv_source != layer && (s->when == MYTH_WHEN_KV || s->when == MYTH_WHEN_V);
    myth_slot_names(hf, gguf, s, layer);
    const myth_tensor *t = myth_weights_slot(k->w, hf, gguf);
    if (!is_dead && !myth_slot_is_there(k->c, s, layer))
        return MYTH_OK; /* one that stands there is reported as not part of the model */
    if (!t)
        return is_dead || s->when == MYTH_WHEN_GIVEN
                 ? MYTH_OK
                 : myth_fail(err, MYTH_EFORMAT, "%s: tensor %s is missing", path, name_in_file(k, hf, gguf));
    const bool is_vector = s->cols == MYTH_DIM_ONE, is_stack = s->stack != MYTH_DIM_ONE,
               is_part = s->is_part && myth_weights_get_format(k->w) != MYTH_FORMAT_SAFETENSORS;
    uint64_t dim[3];
    uint32_t n_dim = 0;
    if (is_stack || is_part)
        dim[n_dim++] = is_part ? k->c->n_altup - 1 : myth_slot_size(k->c, layer, s->stack);
    dim[n_dim++] = myth_slot_size(k->c, layer, s->rows);
    if (!is_vector)
        dim[n_dim++] = myth_slot_size(k->c, layer, s->cols);
    bool is_same = t->n_dim == n_dim;
    for (uint32_t i = 0; i < n_dim && is_same; i++)
        is_same = t->dim[i] == dim[i];
    if (!is_same)
        return bad_shape(k, t, n_dim, dim, err);
    if (is_vector && (myth_slot_is_f32(s) || s->form == MYTH_FORM_SCALAR) && myth_dtype_block(t->dtype) != 1)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: of type %s, expected floats", path, t->name.text,
                         myth_dtype_get(t->dtype)->name); /* a matrix is read by whole blocks, of any type */
    k->seen[t - myth_weights_at(k->w, 0)] = true;
    return MYTH_OK;
}

const myth_tensor *myth_config_dense(const myth_weights *w, uint32_t i)
{
    return myth_weights_get_format(w) == MYTH_FORMAT_GGUF
             ? myth_weights_find(w, i ? "dense_3.weight" : "dense_2.weight")
             : NULL;
}

/* Both or none, from d_model on to d_model or whatever the last one gives. */
static myth_status check_dense(check *k, myth_error *err)
{
    const myth_tensor *t[MYTH_DENSE_N] = {myth_config_dense(k->w, 0), myth_config_dense(k->w, 1)};
    uint64_t n_in = k->c->d_model;
    for (int i = 0; i < MYTH_DENSE_N && (t[0] || t[1]); i++) {
        if (!t[i] || t[i]->n_dim != 2 || t[i]->dim[1] != n_in || t[i]->dim[0] > 1 << 16)
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor dense_%d.weight: expected a matrix of %llu columns",
                             myth_weights_path(k->w), 2 + i, (unsigned long long)n_in);
        n_in = t[i]->dim[0];
        k->seen[t[i] - myth_weights_at(k->w, 0)] = true;
    }
    return MYTH_OK;
}

/* One product makes gate and up of an expert: two tensors are of one type. */
static myth_status check_pairs(const check *k, myth_error *err)
{
    for (uint32_t l = 0; l < k->c->n_layer; l++) {
        char gate[48], up[48];
        if (!k->c->layer[l].has_split_experts)
            continue;
        snprintf(gate, sizeof gate, "blk.%u.ffn_gate_exps.weight", l);
        snprintf(up, sizeof up, "blk.%u.ffn_up_exps.weight", l);
        const myth_tensor *a = myth_weights_find(k->w, gate), *b = myth_weights_find(k->w, up);
        if (a && b && a->dtype != b->dtype)
            return myth_fail(
                err, MYTH_EUNSUPPORTED, "%s: tensor %s: of type %s, beside %s of %s; one type for both is supported",
                myth_weights_path(k->w), up, myth_dtype_get(b->dtype)->name, gate, myth_dtype_get(a->dtype)->name);
    }
    return MYTH_OK;
}

myth_status myth_config_check_tensors(const myth_config *c, const myth_weights *w, myth_error *err)
{
    check k = {.c = c, .w = w};
    const myth_family *f = myth_family_get(c->family);
    myth_status st = MYTH_OK;
    for (int i = 0; i < MYTH_SLOT_MODEL_N; i++)
        MYTH_TRY(check_slot(&k, &myth_slots_model[i], 0, err));
    for (const myth_slot *s = f->model_slots; s && s->hf; s++)
        MYTH_TRY(check_slot(&k, s, 0, err));
    for (uint32_t l = 0; l < c->n_layer; l++)
        for (const myth_slot *s = f->slots; s->hf; s++)
            MYTH_TRY(check_slot(&k, s, l, err));
    MYTH_TRY(check_pairs(&k, err));
    const myth_tensor *freqs = myth_config_rope_freqs(c, w);
    if (freqs)
        k.seen[freqs - myth_weights_at(w, 0)] = true; /* read with the config: it says how many pairs are rotated */
    if (c->is_bidirectional)
        MYTH_TRY(check_dense(&k, err));
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        if (!k.seen[i])
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s is not part of a %s model of %u layers",
                             myth_weights_path(w), t->name.text, myth_family_name(c->family), c->n_layer);
    }
fail:
    return st;
}
