/* weight_form.h - the planar form of quantised matrices: all quants first, then all scales. Devices whose memory the
 * host cannot see (CUDA, Vulkan) keep Q8_0 and Q4_0 in it, so that 16-byte loads meet quants only.
 *
 * Planar   Q8_0  [n_out][n_in] int8, then [n_out][n_in / 32] f16
 *          Q4_0  [n_out][n_in / 32][16] bytes (low nibbles are values 0..15 of the block, high ones 16..31), then
 *                [n_out][n_in / 32] f16
 *          other types stay in blocks, as in files
 * Bytes    the total is the same as in a file. Quants come first, so they are 16-byte aligned where the matrix is
 * Source   block layouts: engine/base/dtype.h */
#ifndef MYTH_WEIGHT_FORM_H
#define MYTH_WEIGHT_FORM_H

#include "engine/base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of one row of each plane, and where the scales start in the matrix. */
typedef struct {
    uint64_t quant_row, scale_row, scale_off;
} myth_planar;

static inline myth_planar myth_planar_get(myth_dtype t, uint64_t n_total, uint64_t n_in)
{
    myth_planar p = {0, t == MYTH_Q8_0 || t == MYTH_Q4_0 ? n_in / 32 * 2 : 0, 0};
    p.quant_row = myth_row_bytes(t, n_in) - p.scale_row;
    p.scale_off = n_total * p.quant_row;
    return p;
}

/* Writes n_rows rows, given in their form in files, into the two planes. Types that stay in blocks are copied to
 * `quants`, and `scales` is not touched. */
void myth_planar_write(void *quants, void *scales, const void *src, myth_dtype t, uint64_t n_rows, uint64_t n_in);

#ifdef __cplusplus
}
#endif
#endif
