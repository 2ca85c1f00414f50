/* quant.h - converts rows of floats to the element types that can be written (base/blocks.h converts back). Types with
 * a closed formula are bit-equal to ggml's reference quantisers; for the others a search finds the values
 * (quant_fit.h).
 *
 * Units    n elements, a multiple of the type's block; dst and src do not overlap
 * Types    row: F32 F16 BF16 Q8_0 Q4_0 MXFP4 by their form, Q4_1 Q5_0 Q5_1 Q2_K..Q6_K IQ4_NL IQ4_XS by search; another
 *          is a bug of the caller
 * Rounding F16, BF16 nearest even; Q8_0 nearest, halves away from zero; Q4_0 truncation of x / d + 8.5; MXFP4 nearest,
 * halves to the lower code
 * Source   ggml-quants.c quantize_row_*_ref; gguf-py quants.py */
#ifndef MYTH_QUANT_H
#define MYTH_QUANT_H

#include "engine/base/blocks.h"
#include "engine/base/half.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the half that is nearest to f into two bytes, which need no alignment. */
static inline void myth_put_f16(unsigned char *dst, float f)
{
    const uint16_t h = myth_f32_to_f16(f);
    memcpy(dst, &h, sizeof(h));
}

bool myth_quant_has(myth_dtype type); /* has a closed form */
void myth_quant_row(myth_dtype type, void *dst, const float *src, uint64_t n);
/* True for types that importance can steer: the searched ones and Q4_0. */
bool myth_quant_is_fitted(myth_dtype type);
/* By search also where there is a form; importance [n] of each element's column, NULL = all alike. */
void myth_quant_fit_row(myth_dtype type, void *dst, const float *src, const float *importance, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
