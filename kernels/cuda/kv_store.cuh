/* kv_store.cuh - stores one row of keys or values in a cache type.
 *
 * Precision  f16 and bf16 are rounded to nearest even. q8_0: the scale of a block of 32 is its largest magnitude / 127;
 *            codes are rounded to nearest, ties away from zero; a value that is not finite gets code 0 */
#ifndef MYTH_CUDA_KV_STORE_CUH
#define MYTH_CUDA_KV_STORE_CUH

#include "common.cuh"

/* Stores one block of q8_0: the lanes of a warp have its 32 values. */
static __device__ __forceinline__ void kv_store_block(unsigned char *block, float v)
{
    const uint32_t l = (uint32_t)lane();
    const float scale = warp_max(fabsf(v)) / 127.0f, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    const float code = roundf(v * inverse);
    const bool is_code = code >= -127.0f && code <= 127.0f; /* NaN and overflow have no code */
    block[2 + l] = (unsigned char)(is_code ? (int8_t)code : 0);
    if (l < 2)
        block[l] = (unsigned char)(f32_to_f16(scale) >> (8 * l));
}

/* Stores src[0..n) times `factor` at dst. The first N_WARP warps of the block share the row; with N_WARP 1 the calling
 * warp stores it alone. src is volatile because other blocks may have written it. The function is not inlined, so that
 * it takes no registers from the products before it. */
template <int N_WARP>
static __device__ __attribute__((noinline)) void kv_store_row(unsigned char *dst, int type, const volatile float *src,
                                                              uint32_t n, float factor)
{
    const uint32_t l = (uint32_t)lane(), w = N_WARP == 1 ? 0u : (uint32_t)warp();
    if (type != MYTH_Q8_0) {
#pragma unroll 1
        for (uint32_t i = w * 32 + l; i < n; i += N_WARP * 32) {
            const float v = src[i] * factor;
            if (type == MYTH_F32)
                ((float *)(void *)dst)[i] = v;
            else
                ((uint16_t *)(void *)dst)[i] = type == MYTH_F16 ? f32_to_f16(v) : f32_to_bf16(v);
        }
        return;
    }
#pragma unroll 1
    for (uint32_t b = w; b < n / 32; b += N_WARP)
        kv_store_block(dst + (uint64_t)b * 34, src[b * 32 + l] * factor);
}

#endif
