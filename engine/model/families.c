/* families.c - the table of model families, one row each (the loops are in their own files), and what can be said of
 * any slot. */
#include "config_impl.h"

#include <stdio.h>

const myth_slot myth_slots_model[MYTH_SLOT_MODEL_N] = {
    {MYTH_SLOT("embed_tokens.weight", "token_embd.weight", offsetof(myth_bound_weights, embed), MYTH_DIM_VOCAB,
               MYTH_DIM_D),
     .place = MYTH_AT_FIRST},
    {MYTH_SLOT("norm.weight", "output_norm.weight", offsetof(myth_bound_weights, output_norm), MYTH_DIM_D,
               MYTH_DIM_ONE),
     .place = MYTH_AT_LAST},
    {MYTH_SLOT("lm_head.weight", "output.weight", offsetof(myth_bound_weights, head), MYTH_DIM_VOCAB, MYTH_DIM_D),
     .place = MYTH_AT_LAST, .when = MYTH_WHEN_HEAD},
};

#define CLASS(type, name) .model_type = type, .architecture = name
#define UNIFIED           .n_ctx = 262144, .window = 1024, .has_no_ple = true
static const myth_family_class gemma1[] = {{CLASS("gemma", "GemmaForCausalLM")}, {0}};
static const myth_family_class gemma2[] = {{CLASS("gemma2", "Gemma2ForCausalLM")}, {0}};
static const myth_family_class gemma3[] = {
    {CLASS("gemma3_text", "Gemma3ForCausalLM")},
    {CLASS("gemma3", "Gemma3ForConditionalGeneration"), .text_type = "gemma3_text", .has_no_final_softcap = true},
    {0},
};
static const myth_family_class gemma3n[] = {
    {CLASS("gemma3n_text", "Gemma3nForCausalLM")},
    {CLASS("gemma3n", "Gemma3nForConditionalGeneration"), .text_type = "gemma3n_text"},
    {0},
};
static const myth_family_class gemma4[] = {
    {CLASS("gemma4_text", "Gemma4ForCausalLM")},
    {CLASS("gemma4", "Gemma4ForConditionalGeneration"), .text_type = "gemma4_text"},
    {CLASS("gemma4_unified_text", "Gemma4UnifiedForCausalLM"), UNIFIED},
    {CLASS("gemma4_unified", "Gemma4UnifiedForConditionalGeneration"), .text_type = "gemma4_unified_text", UNIFIED},
    {0},
};
#undef CLASS
#undef UNIFIED

static const myth_family families[MYTH_FAMILY_N] = {
    [MYTH_FAMILY_GEMMA1] =
        {
            .name = "gemma",
            .classes = gemma1,
            .slots = myth_gemma1_slots,
            .layers = myth_gemma1_layers,
            .n_layer_ops = 6,
            .absent = {.n_vocab = 256000,
                       .d_model = 3072,
                       .d_ff = 24576,
                       .n_layer = 28,
                       .n_head = 16,
                       .n_head_kv = 16,
                       .n_ctx = 8192,
                       .rope_global = 1e4},
            .score_scale = MYTH_SCALE_BY_WIDTH,
            .norm_plus_one = true,
        },
    [MYTH_FAMILY_GEMMA2] =
        {
            .name = "gemma2",
            .classes = gemma2,
            .slots = myth_gemma2_slots,
            .layers = myth_gemma2_layers,
            .n_layer_ops = 6,
            .absent = {.n_vocab = 256000,
                       .d_model = 2304,
                       .d_ff = 9216,
                       .n_layer = 26,
                       .n_head = 8,
                       .n_head_kv = 4,
                       .n_ctx = 8192,
                       .window = 4096,
                       .period = 2,
                       .attn_softcap = 50,
                       .final_softcap = 30,
                       .rope_global = 1e4},
            .score_scale = MYTH_SCALE_GIVEN,
            .odd_scale = {.n_layer = 46, .width = 144},
            .has_post_norm = true,
            .norm_plus_one = true,
            .has_attn_softcap = true,
            .has_final_softcap = true,
            .has_absent_window = true,
        },
    [MYTH_FAMILY_GEMMA3] =
        {
            .name = "gemma3",
            .encoder_name = "gemma-embedding",
            .classes = gemma3,
            .slots = myth_gemma3_slots,
            .layers = myth_gemma3_layers,
            .n_layer_ops = 6,
            .absent = {.n_vocab = 262208,
                       .d_model = 2304,
                       .d_ff = 9216,
                       .n_layer = 26,
                       .n_head = 8,
                       .n_head_kv = 4,
                       .n_ctx = 131072,
                       .window = 4096,
                       .period = 6,
                       .rope_global = 1e6},
            .score_scale = MYTH_SCALE_GIVEN,
            .odd_scale = {.n_layer = 62, .width = 168},
            .n_vocab_text = 262144,
            .has_post_norm = true,
            .has_qk_norm = true,
            .norm_plus_one = true,
            .has_final_softcap = true,
            .has_two_ropes = true,
            .has_pattern_key = true,
            .no_window_is_global = true,
        },
    [MYTH_FAMILY_GEMMA3N] =
        {
            .name = "gemma3n",
            .classes = gemma3n,
            .slots = myth_gemma3n_slots,
            .layers = myth_gemma3n_layers,
            .n_layer_ops = 24,
            .model_slots = myth_gemma3n_model_slots,
            .absent = {.n_vocab = 262400,
                       .d_model = 2048,
                       .d_ff = 16384,
                       .n_layer = 35,
                       .n_head = 8,
                       .n_head_kv = 2,
                       .n_ctx = 32768,
                       .window = 512,
                       .period = 5,
                       .final_softcap = 30,
                       .rope_global = 1e6},
            .read_json = myth_config_json_gemma3n,
            .read_gguf = myth_config_gguf_gemma3n,
            .score_scale = MYTH_SCALE_ONE,
            .has_post_norm = true,
            .has_qk_norm = true,
            .has_v_norm = true,
            .has_final_softcap = true,
            .has_two_ropes = true,
            .shares_kv = true,
            .has_width_list = true,
            .has_sparse_gates = true,
            .has_bf16_constants = true,
        },
    [MYTH_FAMILY_GEMMA4] =
        {
            .name = "gemma4",
            .classes = gemma4,
            .slots = myth_gemma4_slots,
            .layers = myth_gemma4_layers,
            .n_layer_ops = 16,
            .model_slots = myth_gemma4_model_slots,
            .absent = {.n_vocab = 262144,
                       .d_model = 2304,
                       .d_ff = 9216,
                       .n_layer = 30,
                       .n_head = 8,
                       .n_head_kv = 4,
                       .n_ctx = 131072,
                       .window = 512,
                       .period = 6,
                       .rope_global = 1e6,
                       .rope_part = 0.25},
            .read_json = myth_config_json_gemma4,
            .read_gguf = myth_config_gguf_gemma4,
            .score_scale = MYTH_SCALE_ONE,
            .has_post_norm = true,
            .has_qk_norm = true,
            .has_v_norm = true,
            .has_final_softcap = true,
            .has_two_ropes = true,
            .has_rope_freqs = true,
            .shares_kv = true,
            .last_is_global = true,
            .has_two_widths = true,
            .has_system_turn = true,
        },
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
    case MYTH_WHEN_HEAD: return c->has_head;
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
    i -= n_slot * c->n_layer;
    return i < 2 ? &myth_slots_model[i ? MYTH_SLOT_HEAD : MYTH_SLOT_OUTPUT_NORM] : NULL;
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
