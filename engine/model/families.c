/* families.c - the table of model families, one row each (the loops are in their own files), and what can be said of
 * any slot. */
#include "family.h"

#include <stdio.h>

const myth_slot myth_slots_model[2] = {
    {MYTH_SLOT("embed_tokens.weight", "token_embd.weight", offsetof(myth_bound_weights, embed), MYTH_DIM_VOCAB,
               MYTH_DIM_D),
     .place = MYTH_AT_FIRST},
    {MYTH_SLOT("norm.weight", "output_norm.weight", offsetof(myth_bound_weights, output_norm), MYTH_DIM_D,
               MYTH_DIM_ONE),
     .place = MYTH_AT_LAST},
};

static const myth_family families[MYTH_FAMILY_N] = {
    [MYTH_FAMILY_GEMMA1] = {"gemma", myth_gemma1_slots, myth_gemma1_layers, 6, NULL},
    [MYTH_FAMILY_GEMMA2] = {"gemma2", myth_gemma2_slots, myth_gemma2_layers, 6, NULL},
    [MYTH_FAMILY_GEMMA3] = {"gemma3", myth_gemma3_slots, myth_gemma3_layers, 6, NULL},
    [MYTH_FAMILY_GEMMA3N] = {"gemma3n", myth_gemma3n_slots, myth_gemma3n_layers, 24, myth_gemma3n_model_slots},
    [MYTH_FAMILY_GEMMA4] = {"gemma4", myth_gemma4_slots, myth_gemma4_layers, 16, myth_gemma4_model_slots},
};

const myth_family *myth_family_get(myth_family_id id) { return &families[id]; }

uint64_t myth_slot_size(const myth_config *c, uint32_t layer, myth_slot_dim dim)
{
    const myth_layer_config *l = &c->layer[layer];
    switch (dim) {
    case MYTH_DIM_ONE: break;
    case MYTH_DIM_D: return c->d_model;
    case MYTH_DIM_Q: return (uint64_t)c->n_head * l->head_dim;
    case MYTH_DIM_KV: return (uint64_t)l->n_head_kv * l->head_dim;
    case MYTH_DIM_FF: return l->d_ff;
    case MYTH_DIM_HEAD: return l->head_dim;
    case MYTH_DIM_VOCAB: return c->n_vocab;
    case MYTH_DIM_PLE: return c->n_ple;
    case MYTH_DIM_PLE_ALL: return (uint64_t)c->n_layer * c->n_ple;
    case MYTH_DIM_PLE_VOCAB: return c->n_ple_vocab;
    case MYTH_DIM_EXPERT: return c->n_expert;
    case MYTH_DIM_EXPERT_FF: return c->d_ff_expert;
    case MYTH_DIM_EXPERT_FF2: return 2 * (uint64_t)c->d_ff_expert;
    case MYTH_DIM_ALTUP: return c->n_altup;
    case MYTH_DIM_ALTUP2: return (uint64_t)c->n_altup * c->n_altup;
    case MYTH_DIM_LAUREL: return c->laurel_rank;
    }
    return 1;
}

uint64_t myth_slot_rows(const myth_config *c, const myth_slot *s, uint32_t layer)
{
    return myth_slot_size(c, layer, s->stack) * myth_slot_size(c, layer, s->rows);
}

bool myth_slot_is_there(const myth_config *c, const myth_slot *s, uint32_t layer)
{
    const myth_layer_config *l = &c->layer[layer];
    switch (s->when) {
    case MYTH_WHEN_ALWAYS:
    case MYTH_WHEN_GIVEN: return true;
    case MYTH_WHEN_KV: return l->kv_source == layer;
    case MYTH_WHEN_V: return l->kv_source == layer && !l->k_is_v;
    case MYTH_WHEN_PLE: return c->n_ple > 0;
    case MYTH_WHEN_EXPERTS: return c->n_expert > 0;
    case MYTH_WHEN_FUSED: return c->n_expert > 0 && !l->has_split_experts;
    case MYTH_WHEN_SPLIT: return c->n_expert > 0 && l->has_split_experts;
    case MYTH_WHEN_ALTUP: return !s->is_part || s->part + 1 < c->n_altup;
    }
    return false;
}

bool myth_slot_is_f32(const myth_slot *s)
{
    return s->form == MYTH_FORM_F32 || s->form == MYTH_FORM_CLIPPED ||
           (s->form == MYTH_FORM_AUTO && s->cols == MYTH_DIM_ONE);
}

bool myth_slot_is_matrix(const myth_slot *s) { return s->form == MYTH_FORM_AUTO && s->cols != MYTH_DIM_ONE; }

bool myth_slot_is_expert(const myth_slot *s) { return myth_slot_is_matrix(s) && s->stack == MYTH_DIM_EXPERT; }

void myth_slot_names(char hf[MYTH_SLOT_NAME_MAX], char gguf[MYTH_SLOT_NAME_MAX], const myth_slot *s, uint32_t layer)
{
    const bool is_layer = s->place == MYTH_AT_LAYER;
    char at[32] = "", blk[32] = "";
    if (is_layer) {
        snprintf(at, sizeof at, "layers.%u.", layer);
        snprintf(blk, sizeof blk, "blk.%u.", layer);
    }
    snprintf(hf, MYTH_SLOT_NAME_MAX, "%s%s", at, s->hf);
    snprintf(gguf, MYTH_SLOT_NAME_MAX, "%s%s", blk, s->gguf);
}

static const myth_slot *slot_number(const myth_config *c, uint32_t i, uint32_t *layer)
{
    const myth_family *f = myth_family_get(c->family);
    uint32_t n_model = 0, n_slot = 0;
    *layer = 0;
    while (f->model_slots && f->model_slots[n_model].hf)
        n_model++;
    while (f->slots[n_slot].hf)
        n_slot++;
    if (i == 0)
        return &myth_slots_model[MYTH_SLOT_EMBED];
    if (--i < n_model)
        return &f->model_slots[i];
    i -= n_model;
    if (i < n_slot * c->n_layer) {
        *layer = i / n_slot;
        return &f->slots[i % n_slot];
    }
    return i == n_slot * c->n_layer ? &myth_slots_model[MYTH_SLOT_OUTPUT_NORM] : NULL;
}

bool myth_slot_next(myth_slot_iter *it, const myth_config *c)
{
    do
        it->slot = slot_number(c, it->at++, &it->layer);
    while (it->slot && !myth_slot_is_there(c, it->slot, it->layer));
    return it->slot != NULL;
}

myth_slot_src myth_slot_find(const myth_weights *w, const myth_config *c, const myth_slot *s, uint32_t layer)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    myth_slot_names(hf, gguf, s, layer);
    myth_slot_src src = {
        .t = myth_weights_slot(w, hf, gguf),
        .rows = myth_slot_rows(c, s, layer),
        .cols = myth_slot_size(c, layer, s->cols),
    };
    if (!src.t)
        return src;
    src.bytes = myth_row_bytes(src.t->dtype, src.rows * src.cols);
    if (s->is_part && myth_weights_get_format(w) != MYTH_FORMAT_SAFETENSORS)
        src.first = s->part * src.rows * src.cols;
    if (src.t->data)
        src.data = (const unsigned char *)src.t->data + myth_row_bytes(src.t->dtype, src.first);
    return src;
}
