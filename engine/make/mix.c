/* mix.c - see mix.h. */
#include "mix.h"

#include <string.h>
#include <strings.h>

/* general.file_type: of the types as types.def has them, of the mixes as llama.cpp numbers them. */
#define FILE_TYPE(X, code, NAME, name, gguf, file, ...) NAME = file,
enum { MYTH_FLOAT_TYPES(FILE_TYPE, 0) MYTH_QUANT_TYPES(FILE_TYPE, 0) };
enum { Q3_K_S = 11, Q3_K_M, Q3_K_L, Q4_K_S, Q4_K_M, Q5_K_S, Q5_K_M };

/* The mixes that are more than one type, then those that bear a type's name. */
#define TYPE(X, code, NAME, name, gguf, file, ...) {#name, MYTH_##NAME, file},
static const myth_mix mixes[] = {{"q5_k_m", MYTH_Q5_K, Q5_K_M},
                                 {"q5_k_s", MYTH_Q5_K, Q5_K_S},
                                 {"q4_k_m", MYTH_Q4_K, Q4_K_M},
                                 {"q4_k_s", MYTH_Q4_K, Q4_K_S},
                                 {"q3_k_l", MYTH_Q3_K, Q3_K_L},
                                 {"q3_k_m", MYTH_Q3_K, Q3_K_M},
                                 {"q3_k_s", MYTH_Q3_K, Q3_K_S},
                                 {"mxfp4_moe", MYTH_Q8_0, MXFP4},
                                 MYTH_FLOAT_TYPES(TYPE, 0) MYTH_QUANT_TYPES(TYPE, 0)};
enum { MIX_N = sizeof(mixes) / sizeof(mixes[0]) };

const myth_mix *myth_mix_find(const char *name)
{
    static const char *const short_name[][2] = {{"q3_k", "q3_k_m"}, {"q4_k", "q4_k_m"}, {"q5_k", "q5_k_m"}};
    for (size_t i = 0; i < sizeof(short_name) / sizeof(short_name[0]); i++)
        if (strcasecmp(name, short_name[i][0]) == 0)
            name = short_name[i][1];
    for (int i = 0; i < MIX_N; i++)
        if (strcasecmp(name, mixes[i].name) == 0)
            return &mixes[i];
    return NULL;
}

const myth_mix *myth_mix_of(myth_dtype type) { return myth_mix_find(myth_dtype_get(type)->name); }

const char *myth_mix_names(void)
{
#define NAME_OF(X, code, NAME, name, ...) #name ", "
    return MYTH_QUANT_TYPES(NAME_OF, 0) MYTH_FLOAT_TYPES(NAME_OF, 0)
#undef NAME_OF
        "q5_k_m, q5_k_s, q4_k_m, q4_k_s, q3_k_l, q3_k_m, q3_k_s, mxfp4_moe";
}

static bool has(const char *name, const char *part) { return strstr(name, part) != NULL; }

static bool is_embedding(const char *name)
{
    return strcmp(name, "token_embd.weight") == 0 || strcmp(name, "output.weight") == 0 ||
           strcmp(name, "per_layer_token_embd.weight") == 0;
}

/* Of the per-layer embeddings, in every layer: small, and what they are off by is added to the residual. */
static bool is_ple(const char *name) { return has(name, ".inp_gate.weight") || has(name, ".proj.weight"); }

/* Small matrices whose errors reach everything behind them, and those that are no matrices. */
static bool is_kept(const myth_mix_tensor *t)
{
    static const char *const kept[] = {"_norm.weight", "ffn_gate_inp.weight", "altup", "laurel",
                                       "per_layer_model_proj"};
    const size_t len = strlen(t->name);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (has(t->name, kept[i]))
            return true;
    return len < 6 || strcmp(t->name + len - 6, "weight") != 0;
}

static bool wants_more_bits(uint32_t i, uint32_t n) { return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2; }

static myth_dtype type_of_value(const myth_mix *mix, const myth_mix_file *f, const myth_mix_tensor *t)
{
    const uint32_t i = t->value_idx;
    switch (mix->file_type) {
    case Q2_K: return f->n_group >= 4 ? MYTH_Q4_K : MYTH_Q3_K;
    case Q3_K_M: return i < 2 ? MYTH_Q5_K : MYTH_Q4_K;
    case Q3_K_L: return MYTH_Q5_K;
    case Q4_K_S: return i < 4 ? MYTH_Q5_K : mix->type;
    case Q4_K_M:
    case Q5_K_M: return wants_more_bits(i, f->n_value) ? MYTH_Q6_K : mix->type;
    case IQ4_NL:
    case IQ4_XS: return f->n_group >= 4 ? MYTH_Q5_K : mix->type;
    default: return mix->type;
    }
}

static myth_dtype type_of_down(const myth_mix *mix, const myth_mix_file *f, const myth_mix_tensor *t)
{
    const uint32_t i = t->layer, n = f->n_layer;
    switch (mix->file_type) {
    case Q2_K: return MYTH_Q3_K;
    case Q3_K_M: return i < n / 16 ? MYTH_Q5_K : MYTH_Q4_K;
    case Q3_K_L: return MYTH_Q5_K;
    case Q4_K_S: return i < n / 8 ? MYTH_Q5_K : mix->type;
    case Q4_K_M:
    case Q5_K_M: return wants_more_bits(i, n) ? MYTH_Q6_K : mix->type;
    case IQ4_NL:
    case IQ4_XS: return i < n / 8 && !f->has_importance ? MYTH_Q5_K : mix->type;
    case Q4_0: return i < n / 8 && f->has_importance ? MYTH_Q4_1 : mix->type;
    case Q5_0: return i < n / 8 && f->has_importance ? MYTH_Q5_1 : mix->type;
    default: return mix->type;
    }
}

static myth_dtype type_of_output(const myth_mix *mix)
{
    switch (mix->file_type) {
    case Q2_K: return MYTH_Q3_K;
    case Q3_K_M: return MYTH_Q4_K;
    case Q3_K_L: return MYTH_Q5_K;
    default: return mix->type;
    }
}

static myth_dtype type_that_fits(myth_dtype t, uint64_t cols)
{
    static const myth_dtype narrow[MYTH_DTYPE_N] = {
#define NARROW(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, narrow, ...) \
    [code] = MYTH_##narrow,
        MYTH_QUANT_TYPES(NARROW, 0)
#undef NARROW
    };
    if (cols % myth_dtype_block(t))
        t = narrow[t];
    return cols % myth_dtype_block(t) == 0 ? t : MYTH_F16;
}

myth_dtype myth_mix_type(const myth_mix *mix, const myth_mix_file *f, const myth_mix_tensor *t)
{
    myth_dtype type = mix->type;
    if (t->n_dim == 1)
        return MYTH_F32;
    if (!myth_dtype_is_quant(mix->type))
        return mix->type;
    if (is_kept(t))
        return t->source;
    if (is_ple(t->name))
        type = myth_dtype_is_quant(t->source) ? t->source : MYTH_Q8_0;
    else if (is_embedding(t->name))
        type = t->cols % myth_dtype_block(type) || type == MYTH_Q8_0 || type == MYTH_MXFP4 ? MYTH_Q8_0 : MYTH_Q6_K;
    else if (mix->file_type == MXFP4 && has(t->name, "_exps.weight"))
        type = MYTH_MXFP4;
    else if (has(t->name, "attn_v.weight"))
        type = type_of_value(mix, f, t);
    else if (has(t->name, "ffn_down"))
        type = type_of_down(mix, f, t);
    else if (has(t->name, "attn_output.weight"))
        type = type_of_output(mix);
    return type_that_fits(type, t->cols);
}
