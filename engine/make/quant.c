/* quant.c - one row of the table per element type.
 *
 * Q8_0   d = max|x| / 127;  q = round(x / d)                     block: f16 d, 32 x i8
 * Q4_0   d = (x of largest magnitude, with its sign) / -8;  q = trunc(x / d + 8.5), at most 15
 *                                                                block: f16 d, 16 x u8: low nibble element i, high
 *                                                                element i + 16
 * MXFP4  2^k <= max|x| < 2^(k+1): scale 2^(k - 3), as u8 e = k + 125; q = the place of the nearest x / scale in
 *        twice_fp4, the first of two
 *                                                                block: u8 e, 16 x u8: low nibble element i, high
 *                                                                element i + 16
 * The quotient is a product with the float reciprocal of the unrounded d, as in the source: other orders change bits.
 */
#include "quant.h"

#include "engine/base/half.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 32,
    Q8_BYTES = 34,
    Q4_BYTES = 18,
    FP4_BYTES = 17,
    FP4_MOST = 252
}; /* FP4_MOST: the largest e whose values are finite */

static void quant_f32(unsigned char *dst, const float *src, uint64_t n) { memcpy(dst, src, n * 4); }

static void quant_f16(unsigned char *dst, const float *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        myth_put_f16(dst + 2 * i, src[i]);
}

static void quant_bf16(unsigned char *dst, const float *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint16_t h = myth_f32_to_bf16(src[i]);
        memcpy(dst + 2 * i, &h, 2);
    }
}

/* Halves away from zero, |x| < 2^24; NaN gives 0. */
static int round_half_away(float x)
{
    float a = fabsf(x);
    int q = a < 16777216.0f ? (int)a : 0;
    q += a - (float)q >= 0.5f;
    return x < 0 ? -q : q;
}

static void quant_q8_0(unsigned char *dst, const float *src, uint64_t n)
{
    for (; n; n -= BLOCK, src += BLOCK, dst += Q8_BYTES) {
        float most = 0.0f;
        for (int i = 0; i < BLOCK; i++)
            most = fabsf(src[i]) > most ? fabsf(src[i]) : most;
        float d = most / 127.0f, inverse = d != 0.0f ? 1.0f / d : 0.0f;
        myth_put_f16(dst, d);
        for (int i = 0; i < BLOCK; i++)
            dst[2 + i] = (unsigned char)(int8_t)round_half_away(src[i] * inverse);
    }
}

static unsigned nibble(float x, float inverse)
{
    float scaled = x * inverse, shifted = scaled + 8.5f; /* two roundings, also where the machine could fuse them */
    int q = shifted > -1.0f && shifted < 16.0f ? (int)shifted : 15;
    return (unsigned)(q < 15 ? q : 15);
}

static void quant_q4_0(unsigned char *dst, const float *src, uint64_t n)
{
    for (; n; n -= BLOCK, src += BLOCK, dst += Q4_BYTES) {
        float most = 0.0f, peak = 0.0f;
        for (int i = 0; i < BLOCK; i++) {
            if (fabsf(src[i]) > most) {
                most = fabsf(src[i]);
                peak = src[i];
            }
        }
        float d = peak / -8.0f, inverse = d != 0.0f ? 1.0f / d : 0.0f;
        myth_put_f16(dst, d);
        for (int i = 0; i < BLOCK / 2; i++)
            dst[2 + i] = (unsigned char)(nibble(src[i], inverse) | nibble(src[i + BLOCK / 2], inverse) << 4);
    }
}

/* NaN and the infinities give 0. */
static unsigned nearest_fp4(float x, float scale)
{
    unsigned best = 0;
    float least = INFINITY;
    for (unsigned i = 0; i < 16; i++) {
        const float apart = fabsf(scale * (float)myth_fp4_twice[i] - x);
        if (apart < least) {
            least = apart;
            best = i;
        }
    }
    return best;
}

static void quant_mxfp4(unsigned char *dst, const float *src, uint64_t n)
{
    for (; n; n -= BLOCK, src += BLOCK, dst += FP4_BYTES) {
        float most = 0.0f;
        for (int i = 0; i < BLOCK; i++)
            most = fabsf(src[i]) > most ? fabsf(src[i]) : most;
        const float e = most > 0.0f ? floorf(log2f(most)) + 125.0f : 0.0f;
        dst[0] = (unsigned char)(e < 0.0f ? 0.0f : e > FP4_MOST ? FP4_MOST : e);
        const float scale = ldexpf(1.0f, dst[0] - 128);
        for (int i = 0; i < BLOCK / 2; i++)
            dst[1 + i] = (unsigned char)(nearest_fp4(src[i], scale) | nearest_fp4(src[i + BLOCK / 2], scale) << 4);
    }
}

static void (*const quant[MYTH_DTYPE_N])(unsigned char *dst, const float *src, uint64_t n) = {
    [MYTH_F32] = quant_f32,   [MYTH_F16] = quant_f16,   [MYTH_BF16] = quant_bf16,
    [MYTH_Q8_0] = quant_q8_0, [MYTH_Q4_0] = quant_q4_0, [MYTH_MXFP4] = quant_mxfp4,
};

bool myth_quant_has(myth_dtype type) { return quant[type] != NULL; }

void myth_quant_row(myth_dtype type, void *dst, const float *src, uint64_t n)
{
    assert(n % myth_dtype_block(type) == 0);
    if (quant[type])
        quant[type](dst, src, n);
    else
        myth_quant_fit_row(type, dst, src, NULL, n);
}
