/* quant.h - rows of floats to the element types that we write; back from every type: base/blocks.h. Bit-equal to ggml's reference quantisers.
 *
 * Units    n elements, a multiple of the type's block; dst and src do not overlap
 * Types    F32 F16 BF16 Q8_0 Q4_0; another type is a bug of the caller
 * Rounding F16, BF16 nearest even; Q8_0 nearest, halves away from zero; Q4_0 truncation of x / d + 8.5
 * Source   ggml-quants.c quantize_row_*_ref; gguf-py quants.py                                                              */
#ifndef MYTH_QUANT_H
#define MYTH_QUANT_H

#include "base/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

bool myth_quant_has(myth_dtype type);
void myth_quant_row(myth_dtype type, void *dst, const float *src, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
