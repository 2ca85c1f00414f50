/* low_rank.c - see low_rank.h. */
#include "low_rank.h"

#include "lora.h"

#define LAYER(field) offsetof(myth_layer_weights, field)

int myth_low_rank_place(const myth_slot *s)
{
    static const struct {
        size_t off;
        int low;
    } place[] = {
        {LAYER(w_q), MYTH_LOW_Q},
        {LAYER(w_k), MYTH_LOW_K},
        {LAYER(w_v), MYTH_LOW_V},
        {LAYER(w_o), MYTH_LOW_O},
        {LAYER(w_gate), MYTH_LOW_GATE},
        {LAYER(w_up), MYTH_LOW_UP},
        {LAYER(w_down), MYTH_LOW_DOWN},
        {LAYER(ple_proj), MYTH_LOW_PLE_PROJ},
        {LAYER(laurel_left), MYTH_LOW_LAUREL_LEFT},
        {LAYER(laurel_right), MYTH_LOW_LAUREL_RIGHT},
    };
    if (s->place == MYTH_AT_FIRST)
        return s->off == offsetof(myth_bound_weights, ple_model_proj) ? MYTH_LOW_MODEL : -1;
    for (size_t i = 0; i < sizeof(place) / sizeof(place[0]) && s->place == MYTH_AT_LAYER; i++)
        if (place[i].off == s->off)
            return place[i].low;
    return -1;
}

uint32_t myth_low_rank_of(const myth_model *m, const myth_slot *s, uint32_t layer)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    uint32_t rank = 0;
    if (!m->n_lora || s->is_part) /* a part of a tensor has no name of its own */
        return 0;
    myth_slot_names(hf, gguf, s, layer);
    for (uint32_t i = 0; i < m->n_lora; i++)
        rank += myth_lora_rank(m->lora[i], gguf);
    return rank;
}

uint64_t myth_low_rank_cost(const myth_model *m, const myth_slot *s, uint32_t layer)
{
    const uint32_t rank = myth_slot_is_matrix(s) ? myth_low_rank_of(m, s, layer) : 0;
    const uint64_t rows = myth_slot_rows(&m->config, s, layer), cols = myth_slot_size(&m->config, layer, s->cols);
    if (!rank)
        return 0;
    return myth_low_rank_place(s) < 0 ? myth_arena_cost(4 * rows * cols)
                                      : myth_arena_cost(4 * rank * cols) + myth_arena_cost(4 * rank * rows);
}

uint64_t myth_low_rank_bytes(const myth_model *m, uint32_t layer0, uint32_t layer1)
{
    uint64_t sum = 0;
    for (myth_slot_iter it = {.at = 0}; m->n_lora && myth_slot_next(&it, &m->config);) {
        const bool is_layer = it.slot->place == MYTH_AT_LAYER;
        if (is_layer ? it.layer >= layer0 && it.layer < layer1 : layer0 == 0)
            sum += myth_low_rank_cost(m, it.slot, it.layer);
    }
    return sum;
}

uint32_t myth_low_rank_most(const myth_model *m)
{
    uint32_t most = 0;
    for (myth_slot_iter it = {.at = 0}; m->n_lora && myth_slot_next(&it, &m->config);) {
        const uint32_t rank = myth_low_rank_place(it.slot) < 0 ? 0 : myth_low_rank_of(m, it.slot, it.layer);
        most = rank > most ? rank : most;
    }
    return most;
}

myth_status myth_low_rank_check(const myth_model *m, myth_error *err)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    for (myth_slot_iter it = {.at = 0}; m->n_lora && myth_slot_next(&it, &m->config);) {
        if (it.slot->form != MYTH_FORM_ROWS || !myth_low_rank_of(m, it.slot, it.layer))
            continue;
        myth_slot_names(hf, gguf, it.slot, it.layer);
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "adapters: one adds to %s, a table of which single rows are read; make a model of both first",
                         gguf);
    }
    return MYTH_OK;
}
