/* amx.h - the kernels that the AMX level adds to those of avx512.h. Only files compiled for the level include it. */
#ifndef MYTH_CPU_AMX_H
#define MYTH_CPU_AMX_H

#include "avx512.h"

void amx_pack_q8(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k);
#define AMX_PACK(name, type, kernel)                                                                         \
    void amx_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                         uint32_t n_k);
FAST_BLOCK_TYPES(AMX_PACK)
#undef AMX_PACK
void amx_pack_q4(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k);
void amx_gemm_bf16(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                   uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k);

#endif
