/* blocks.c - rows of any element type to f32: the reference of every reader, device and level. */
#include "blocks.h"

#include <assert.h>

static inline __attribute__((always_inline)) void dequant_blocks(myth_dtype t, float *dst, const unsigned char *src,
                                                                 uint64_t n)
{
    const uint32_t block = myth_dtype_block(t), bytes = myth_dtype_block_bytes(t);
    int8_t q[MYTH_BLOCK_MAX];
    float scale[MYTH_BLOCK_SUBS], min[MYTH_BLOCK_SUBS];
    for (; n; n -= block, dst += block, src += bytes) {
        myth_block_unpack(t, q, scale, min, src);
        for (uint32_t i = 0; i < block; i++)
            dst[i] = scale[i / 16] * (float)q[i] - min[i / 16];
    }
}

void myth_dequant_row(myth_dtype t, float *dst, const void *src, uint64_t n)
{
    const unsigned char *p = src;
    uint16_t h;
    assert(t != MYTH_I32 && n % myth_dtype_block(t) == 0);
    switch (t) {
    case MYTH_F32: memcpy(dst, src, n * 4); break;
    case MYTH_F16:
        for (uint64_t i = 0; i < n; i++) {
            memcpy(&h, p + 2 * i, 2);
            dst[i] = myth_f16_to_f32(h);
        }
        break;
    case MYTH_BF16:
        for (uint64_t i = 0; i < n; i++) {
            memcpy(&h, p + 2 * i, 2);
            dst[i] = myth_bf16_to_f32(h);
        }
        break;
        /* a constant type at each call: the compiler makes vectors of it */
#define BLOCKS(X, code, NAME, ...) \
    case MYTH_##NAME: dequant_blocks(MYTH_##NAME, dst, p, n); break;
        MYTH_QUANT_TYPES(BLOCKS, 0)
#undef BLOCKS
    default: break;
    }
}
