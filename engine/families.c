/* families.c - the table of model families. One row each; the loops are in their own files. */
#include "family.h"

#include <stdio.h>

const myth_slot myth_slots_model[2] = {
    { "embed_tokens.weight", "token_embd.weight",  offsetof(myth_bound_weights, embed),       MYTH_DIM_VOCAB, MYTH_DIM_D },
    { "norm.weight",         "output_norm.weight", offsetof(myth_bound_weights, output_norm), MYTH_DIM_D,     MYTH_DIM_ONE },
};

static const myth_family families[MYTH_FAMILY_N] = {
    [MYTH_FAMILY_GEMMA1] = { "gemma",  myth_gemma1_slots, myth_gemma1_layers },
    [MYTH_FAMILY_GEMMA2] = { "gemma2", myth_gemma2_slots, myth_gemma2_layers },
    [MYTH_FAMILY_GEMMA3] = { "gemma3", myth_gemma3_slots, myth_gemma3_layers },
};

const myth_family *myth_family_get(myth_family_id id) { return &families[id]; }

const myth_tensor *myth_slot_tensor(const myth_weights *w, const myth_slot *s, uint32_t layer)
{
    char hf[128], gguf[128];
    if (s == &myth_slots_model[MYTH_SLOT_EMBED] || s == &myth_slots_model[MYTH_SLOT_OUTPUT_NORM]) {
        snprintf(hf, sizeof hf, "%s", s->hf);
        snprintf(gguf, sizeof gguf, "%s", s->gguf);
    } else {
        snprintf(hf, sizeof hf, "layers.%u.%s", layer, s->hf);
        snprintf(gguf, sizeof gguf, "blk.%u.%s", layer, s->gguf);
    }
    return myth_weights_slot(w, hf, gguf);
}

uint64_t myth_slot_size(const myth_config *c, uint32_t layer, myth_slot_dim dim)
{
    const myth_layer_config *l = &c->layer[layer];
    switch (dim) {
    case MYTH_DIM_D:     return c->d_model;
    case MYTH_DIM_Q:     return (uint64_t)c->n_head * l->head_dim;
    case MYTH_DIM_KV:    return (uint64_t)l->n_head_kv * l->head_dim;
    case MYTH_DIM_FF:    return l->d_ff;
    case MYTH_DIM_HEAD:  return l->head_dim;
    case MYTH_DIM_VOCAB: return c->n_vocab;
    case MYTH_DIM_ONE:   break;
    }
    return 1;
}
