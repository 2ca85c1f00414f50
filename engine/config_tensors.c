/* config_tensors.c - the tensors of a file against the table of its family: each there, none besides, shapes as the config says. */
#include "config.h"
#include "family.h"

#include <stdio.h>

typedef struct {
    const myth_config *c;
    const myth_weights *w;
    bool seen[MYTH_TENSOR_MAX];
} check;

static myth_status check_slot(check *k, const myth_slot *slot, uint32_t layer, const char *hf, const char *gguf, myth_error *err)
{
    const char *path = myth_weights_path(k->w);
    const myth_tensor *t = myth_weights_slot(k->w, hf, gguf);
    const bool is_norm = slot->cols == MYTH_DIM_ONE;
    const uint64_t rows = myth_slot_size(k->c, layer, slot->rows), cols = myth_slot_size(k->c, layer, slot->cols);
    if (!t)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s is missing", path,
                         myth_weights_get_format(k->w) == MYTH_FORMAT_SAFETENSORS ? hf : gguf);
    if (t->n_dim != (is_norm ? 1 : 2) || t->dim[0] != rows || t->dim[1] != cols)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: shape [%llu, %llu] of %u dimensions, expected [%llu, %llu]", path, t->name.text,
                         (unsigned long long)t->dim[0], (unsigned long long)t->dim[1], t->n_dim, (unsigned long long)rows,
                         (unsigned long long)cols);
    if (is_norm && myth_dtype_block(t->dtype) != 1)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: a norm of type %s, expected floats", path, t->name.text,
                         myth_dtype_get(t->dtype)->name);
    k->seen[t - myth_weights_at(k->w, 0)] = true;
    return MYTH_OK;
}

const myth_tensor *myth_config_dense(const myth_weights *w, uint32_t i)
{
    return myth_weights_get_format(w) == MYTH_FORMAT_GGUF ? myth_weights_find(w, i ? "dense_3.weight" : "dense_2.weight") : NULL;
}

/* Both or none, from d_model on to d_model or whatever the last one gives. */
static myth_status check_dense(check *k, myth_error *err)
{
    const myth_tensor *t[MYTH_DENSE_N] = { myth_config_dense(k->w, 0), myth_config_dense(k->w, 1) };
    uint64_t n_in = k->c->d_model;
    for (int i = 0; i < MYTH_DENSE_N && (t[0] || t[1]); i++) {
        if (!t[i] || t[i]->n_dim != 2 || t[i]->dim[1] != n_in || t[i]->dim[0] > 1 << 16)
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor dense_%d.weight: expected a matrix of %llu columns", myth_weights_path(k->w), 2 + i,
                             (unsigned long long)n_in);
        n_in = t[i]->dim[0];
        k->seen[t[i] - myth_weights_at(k->w, 0)] = true;
    }
    return MYTH_OK;
}

myth_status myth_config_check_tensors(const myth_config *c, const myth_weights *w, myth_error *err)
{
    check k = { .c = c, .w = w };
    char hf[128], gguf[128];
    myth_status st = MYTH_OK;
    for (int i = 0; i < 2; i++)
        MYTH_TRY(check_slot(&k, &myth_slots_model[i], 0, myth_slots_model[i].hf, myth_slots_model[i].gguf, err));
    for (uint32_t l = 0; l < c->n_layer; l++) {
        for (const myth_slot *s = myth_family_get(c->family)->slots; s->hf; s++) {
            snprintf(hf, sizeof(hf), "layers.%u.%s", l, s->hf);
            snprintf(gguf, sizeof(gguf), "blk.%u.%s", l, s->gguf);
            MYTH_TRY(check_slot(&k, s, l, hf, gguf, err));
        }
    }
    if (c->is_bidirectional)
        MYTH_TRY(check_dense(&k, err));
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        if (!k.seen[i] && myth_str_is(t->name, "output.weight"))
            return myth_fail(err, MYTH_EUNSUPPORTED, "%s: a head of its own (output.weight) is not supported", myth_weights_path(w));
        if (!k.seen[i])
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s is not part of a %s model of %u layers", myth_weights_path(w), t->name.text,
                             myth_family_name(c->family), c->n_layer);
    }
fail:
    return st;
}
