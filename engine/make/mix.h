/* mix.h - files of several types, by the names that llama.cpp gives them: which tensor gets which type.
 *
 * Names    f32 f16 bf16 q8_0, q4_0 q4_1 q5_0 q5_1, q2_k, q3_k_s q3_k_m q3_k_l, q4_k_s q4_k_m, q5_k_s q5_k_m, q6_k,
 *          iq4_nl, iq4_xs, mxfp4, mxfp4_moe; q3_k, q4_k and q5_k mean their _m. Case does not matter
 * Rule     one-dimensional tensors are f32. Of matrices the mix's own type, but for
 *            embedding (which is the head)   q6_k, in a q8_0 or mxfp4 file q8_0
 *            experts of mxfp4_moe            mxfp4, and the rest of it is q8_0
 *            gate and projection of the      q8_0, or the source's type when that is quantised. llama.cpp uses the
 *            per-layer embeddings            mix's own type, which hurts these two most (turboderp-org/exllamav3#253)
 *            values, output of the ffn       more bits; in the _m mixes only in the first and last eighth of the
 *                                            layers, and in every third layer between
 *            small matrices that steer       as in the source: routers, altup, laurel, projections of per-layer inputs
 *          and where a row is no multiple of 256, the nearest type of blocks of 32 (q4_k: q5_0, q5_k: q5_1, q6_k: q8_0,
 *          q2_k and q3_k: q4_0, iq4_xs: iq4_nl); where it is none of 32 either, f16
 * Source   llama.cpp llama-quant.cpp, llama_tensor_get_type */
#ifndef MYTH_MIX_H
#define MYTH_MIX_H

#include "engine/base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct {
    const char *name;
    myth_dtype type;
    uint32_t file_type; /* general.file_type */
} myth_mix;

/* Of the file that is made. */
typedef struct {
    uint32_t n_layer, n_value; /* tensors attn_v of all layers */
    uint32_t n_group;          /* queries to one key head */
    bool has_importance;
} myth_mix_file;

/* Of one of its tensors. */
typedef struct {
    const char *name; /* as in GGUF */
    uint32_t n_dim;
    uint64_t cols;
    myth_dtype source;
    uint32_t layer, value_idx; /* value_idx: how many attn_v stand before it */
} myth_mix_tensor;

/* NULL: no such name. */
const myth_mix *myth_mix_find(const char *name);
/* The mix named after a type; NULL: there is none. */
const myth_mix *myth_mix_of(myth_dtype type);
/* All names behind commas, for a message. */
const char *myth_mix_names(void);
myth_dtype myth_mix_type(const myth_mix *mix, const myth_mix_file *f, const myth_mix_tensor *t);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
