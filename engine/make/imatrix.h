/* imatrix.h - how much each input column of each matrix counts: squares of what goes into it, summed over a text.
 *
 * Use      gathered by imatrix_tap.h from a running engine, read by convert: a quantiser lets columns that matter less
 *          be further off
 * Files    GGUF: general.type "imatrix", imatrix.datasets, imatrix.chunk_count, imatrix.chunk_size; for each matrix
 *          NAME f32 NAME.in_sum2 [n_expert, cols] and NAME.counts [n_expert, 1] (rows seen). Also the older form
 *          without a head: i32 n, n times (i32 length, name, i32 calls, i32 n_value, f32 value[n_value]), then i32
 *          chunks, i32 length, text
 * Names    of the tensors, as in GGUF: blk.3.ffn_down.weight
 * Errors   MYTH_ENOTFOUND, MYTH_EIO, MYTH_EFORMAT with the tensor's name: sums that are negative or not finite, sizes
 *          that do not fit
 * Source   llama.cpp tools/imatrix, common/imatrix-loader.cpp */
#ifndef MYTH_IMATRIX_H
#define MYTH_IMATRIX_H

#include "engine/model/weights.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct myth_imatrix myth_imatrix;

/* Checks every value. */
myth_status myth_imatrix_open(myth_imatrix **out, myth_mem *mem, const char *path, myth_error *err);
void myth_imatrix_close(myth_imatrix *im); /* takes NULL */
uint32_t myth_imatrix_n_entry(const myth_imatrix *im);
uint32_t myth_imatrix_n_chunk(const myth_imatrix *im); /* 0 = the file does not say */
const char *myth_imatrix_path(const myth_imatrix *im);
/* Columns of matrix `expert` of n_expert (0 of 1) into dst [cols], as means. *found = false where the file has nothing
 * of it, or saw no row. MYTH_EFORMAT: it has another size. */
myth_status myth_imatrix_get(const myth_imatrix *im, const char *name, uint32_t expert, uint32_t n_expert,
                             uint64_t cols, float *dst, bool *found, myth_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
