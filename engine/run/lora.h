/* lora.h - a low-rank adapter: what is added to the matrices of a model, W + scale * B A.
 *
 * Files    peft: a folder with adapter_model.safetensors and adapter_config.json, or that file; llama.cpp: a .gguf of
 *          type adapter
 * Shapes   A [rank, cols], B [rows, rank] for a matrix [rows, cols], in both
 * Scale    lora_alpha / r (with use_rslora: / sqrt(r)) of the config, adapter.lora.alpha / rank of a GGUF, times the
 *          caller's. rank_pattern and alpha_pattern give single modules others: the first key that is the module's name
 *          or its end behind a dot counts
 * Checks   every tensor belongs to a pair, and every pair to a matrix of the model that is one in its file too (not the
 *          embedding, not experts). Tensors of the towers of multimodal models are left out and counted
 * Memory   class OTHER: the pairs, and one A as floats, the largest; the file is mapped, or read where the model's is
 * Owner    the caller closes it; the model must outlive it
 * Errors   MYTH_EFORMAT another shape, a pair without its half, a name that the model lacks; MYTH_EUNSUPPORTED what is
 *          more than such a product: DoRA, aLoRA, PiSSA, biases, saved modules, pickled tensors; patterns of no names;
 *          those of myth_weights_open
 * Threads  one
 * Source   LoRA, 2106.09685; peft, LoraConfig and save_pretrained; llama.cpp, convert_lora_to_gguf.py */
#ifndef MYTH_LORA_H
#define MYTH_LORA_H

#include "engine/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The model was opened with level HEADER or DATA. */
myth_status myth_lora_open(myth_lora **out, const myth_model *m, const char *path, float scale, myth_error *err);
void myth_lora_close(myth_lora *l); /* takes NULL */
uint32_t myth_lora_n_matrix(const myth_lora *l);
uint32_t myth_lora_n_left_out(const myth_lora *l); /* tensors of towers */
float myth_lora_scale(const myth_lora *l);         /* the caller's       */
const myth_weights *myth_lora_weights(const myth_lora *l);
/* A hash of all that it adds: names, shapes, values and scale. */
uint64_t myth_lora_hash(const myth_lora *l);
/* Bytes of class OTHER that it holds, those of its weights included. */
uint64_t myth_lora_booked(const myth_lora *l);

/* Matrices have their names in GGUF ("blk.0.attn_q.weight"). */

/* The rank of what is added to a matrix; 0 = nothing. */
uint32_t myth_lora_rank(const myth_lora *l, const char *gguf_name);
static inline bool myth_lora_has(const myth_lora *l, const char *name) { return myth_lora_rank(l, name) > 0; }
/* Values col .. col + n - 1 of row k of A; col is a multiple of 256. */
void myth_lora_row_of_a(const myth_lora *l, const char *gguf_name, uint32_t k, uint64_t col, uint64_t n, float *dst);
/* Values row .. row + n - 1 of column k of B, times the scale. */
void myth_lora_column_of_b(const myth_lora *l, const char *gguf_name, uint32_t k, uint64_t row, uint64_t n, float *dst);
/* Adds to rows row .. row + n_row - 1 of the matrix, in x [n_row, cols]. Nothing when it has none. */
void myth_lora_add(myth_lora *l, const char *gguf_name, uint64_t row, uint64_t n_row, float *x);
/* The same for the values col .. col + n - 1 of one row. */
void myth_lora_add_part(myth_lora *l, const char *gguf_name, uint64_t row, uint64_t col, uint64_t n, float *x);

#ifdef __cplusplus
}
#endif
#endif
