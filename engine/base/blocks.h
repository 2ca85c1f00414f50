/* blocks.h - reads a block of any quantised type as integers, scales and minima; dtype.h describes the layouts.
 *
 * Value    i of a block is scale[i / 16] * q[i] - min[i / 16], in f32, each step rounded: bit-equal to gguf-py's
 *          dequantisers
 * Units    32 values or 256, by the type; a scale and a min for each 16, the same for both halves of a block of 32; min
 *          0 where a type has none
 * Use      with a constant type the switch folds away and the loops become vectors of whatever the file is compiled for
 * Source   gguf-py quants.py; GGUF specification; OCP Microscaling formats 1.0 for the 4-bit floats */
#ifndef MYTH_BLOCKS_H
#define MYTH_BLOCKS_H

#include "dtype.h"
#include "half.h"

#if defined(__SSSE3__) || defined(__F16C__)
#include <immintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_BLOCK_MAX = 256, MYTH_BLOCK_SUBS = 16 };

#define MYTH_BLOCK_INLINE static inline __attribute__((always_inline))

/* Of a quantised type, constants where the type is one: which numbers its blocks have, as the column `scales` of
 * types.def names them; bytes of a block; whether it has 256 values. */
enum { MYTH_SCALES_one, MYTH_SCALES_min, MYTH_SCALES_half, MYTH_SCALES_both };
static inline unsigned myth_block_has(myth_dtype t)
{
    switch (t) {
#define MYTH_ROW(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, ...) \
    case MYTH_##NAME: return MYTH_SCALES_##scales;
        MYTH_QUANT_TYPES(MYTH_ROW, 0)
#undef MYTH_ROW
    default: return MYTH_SCALES_one;
    }
}
static inline bool myth_block_has_min(myth_dtype t) { return myth_block_has(t) & MYTH_SCALES_min; }
static inline bool myth_block_has_half(myth_dtype t) { return myth_block_has(t) & MYTH_SCALES_half; }

static inline uint32_t myth_block_bytes_of(myth_dtype t)
{
    switch (t) {
#define MYTH_ROW(X, code, NAME, name, gguf, file, block, bytes, ...) \
    case MYTH_##NAME: return bytes;
        MYTH_QUANT_TYPES(MYTH_ROW, 0)
#undef MYTH_ROW
    default: return 0;
    }
}
static inline bool myth_block_is_super(myth_dtype t)
{
    switch (t) {
#define MYTH_ROW(X, code, NAME, name, gguf, file, block, ...) \
    case MYTH_##NAME: return (block) == MYTH_BLOCK_MAX;
        MYTH_QUANT_TYPES(MYTH_ROW, 0)
#undef MYTH_ROW
    default: return false;
    }
}

static const int8_t myth_iq4_value[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const int8_t myth_fp4_twice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

MYTH_BLOCK_INLINE float myth_block_half(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, 2);
#if defined(__F16C__)
    return _cvtsh_ss(h);
#else
    return myth_f16_to_f32(h);
#endif
}

/* 2^(e - 128), below 2^-126 as a subnormal. */
MYTH_BLOCK_INLINE float myth_block_exponent(unsigned e)
{
    return myth_bits_f32(e < 2 ? 0x00200000u << e : (uint32_t)(e - 1) << 23);
}

/* 16 bytes at once, in the vectors that gcc and clang have in common. */
typedef uint8_t myth_block_bytes __attribute__((vector_size(16)));

MYTH_BLOCK_INLINE myth_block_bytes myth_block_load(const void *p)
{
    myth_block_bytes v;
    memcpy(&v, p, 16);
    return v;
}
MYTH_BLOCK_INLINE void myth_block_store(void *p, myth_block_bytes v) { memcpy(p, &v, 16); }

MYTH_BLOCK_INLINE void myth_block_nibbles(int8_t *__restrict q, const unsigned char *__restrict p, int less)
{
    const myth_block_bytes v = myth_block_load(p);
    myth_block_store(q, (v & 15) - (uint8_t)less);
    myth_block_store(q + 16, (v >> 4) - (uint8_t)less);
}

MYTH_BLOCK_INLINE void myth_block_lookup(int8_t *__restrict q, const unsigned char *__restrict p, const int8_t *table)
{
#if defined(__SSSE3__) /* no compiler finds this by itself */
    const __m128i t = _mm_loadu_si128((const __m128i *)(const void *)table),
                  v = _mm_loadu_si128((const __m128i *)(const void *)p), low = _mm_set1_epi8(15);
    _mm_storeu_si128((__m128i *)(void *)q, _mm_shuffle_epi8(t, _mm_and_si128(v, low)));
    _mm_storeu_si128((__m128i *)(void *)(q + 16), _mm_shuffle_epi8(t, _mm_and_si128(_mm_srli_epi16(v, 4), low)));
#else
    for (int i = 0; i < 16; i++) {
        q[i] = table[p[i] & 15];
        q[16 + i] = table[p[i] >> 4];
    }
#endif
}

/* Nibbles under a fifth bit. */
MYTH_BLOCK_INLINE void myth_block_fifths(int8_t *__restrict q, const unsigned char *__restrict p, int less)
{
    const myth_block_bytes v = myth_block_load(p + 4), bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
#if defined(__SSSE3__) /* without it the words pass through memory, which waits for the writes */
    uint32_t word;
    memcpy(&word, p, 4);
    const __m128i all = _mm_set1_epi32((int)word), last_at = _mm_set_epi64x(0x0303030303030303, 0x0202020202020202);
    const myth_block_bytes first = (myth_block_bytes)_mm_shuffle_epi8(all, _mm_set_epi64x(0x0101010101010101, 0)),
                           last = (myth_block_bytes)_mm_shuffle_epi8(all, last_at);
    const myth_block_bytes a = (myth_block_bytes)((first & bit) == bit) & 16,
                           b = (myth_block_bytes)((last & bit) == bit) & 16;
#else
    const uint64_t eight = 0x0101010101010101u, first[2] = {p[0] * eight, p[1] * eight},
                   last[2] = {p[2] * eight, p[3] * eight};
    const myth_block_bytes a = (myth_block_bytes)((myth_block_load(first) & bit) != 0) & 16,
                           b = (myth_block_bytes)((myth_block_load(last) & bit) != 0) & 16;
#endif
    myth_block_store(q, ((v & 15) | a) - (uint8_t)less);
    myth_block_store(q + 16, ((v >> 4) | b) - (uint8_t)less);
}

/* The eight scales and minima of q4_k and q5_k; p is the head of the block. */
MYTH_BLOCK_INLINE void myth_block_scales(float *__restrict scale, float *__restrict min,
                                         const unsigned char *__restrict p)
{
    const float d = myth_block_half(p), dmin = myth_block_half(p + 2);
    const unsigned char *s = p + 4;
    for (int k = 0; k < 8; k++) {
        unsigned a = k < 4 ? s[k] & 63u : (s[4 + k] & 15u) | (unsigned)(s[k - 4] >> 6 << 4);
        unsigned b = k < 4 ? s[4 + k] & 63u : (unsigned)(s[4 + k] >> 4) | (unsigned)(s[k] >> 6 << 4);
        scale[2 * k] = scale[2 * k + 1] = d * (float)a;
        min[2 * k] = min[2 * k + 1] = dmin * (float)b;
    }
}

MYTH_BLOCK_INLINE void myth_block_one(float *scale, float *min, float s, float m)
{
    scale[0] = scale[1] = s;
    min[0] = min[1] = m;
}

/* 256 values of two bits, less zero: 128 of them from 32 bytes, the first 32 in the lowest bits. */
MYTH_BLOCK_INLINE void myth_block_quarters(int8_t *__restrict q, const unsigned char *__restrict p, int zero)
{
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 32; i++)
                q[128 * h + 32 * j + i] = (int8_t)((p[32 * h + i] >> 2 * j & 3) - zero);
}

/* ---- the decoders: q [block], scale and min [block / 16] of the block at p ---- */

#define UNPACK(name)                                                                                                \
    MYTH_BLOCK_INLINE void myth_unpack_##name(int8_t *__restrict q, float *__restrict scale, float *__restrict min, \
                                              const unsigned char *__restrict p)

UNPACK(q8_0)
{
    myth_block_one(scale, min, myth_block_half(p), 0.0f);
    memcpy(q, p + 2, 32);
}

UNPACK(q4_0)
{
    myth_block_one(scale, min, myth_block_half(p), 0.0f);
    myth_block_nibbles(q, p + 2, 8);
}

UNPACK(q4_1)
{
    myth_block_one(scale, min, myth_block_half(p), -myth_block_half(p + 2));
    myth_block_nibbles(q, p + 4, 0);
}

UNPACK(q5_0)
{
    myth_block_one(scale, min, myth_block_half(p), 0.0f);
    myth_block_fifths(q, p + 2, 16);
}

UNPACK(q5_1)
{
    myth_block_one(scale, min, myth_block_half(p), -myth_block_half(p + 2));
    myth_block_fifths(q, p + 4, 0);
}

UNPACK(iq4_nl)
{
    myth_block_one(scale, min, myth_block_half(p), 0.0f);
    myth_block_lookup(q, p + 2, myth_iq4_value);
}

UNPACK(mxfp4)
{
    myth_block_one(scale, min, myth_block_exponent(p[0]), 0.0f);
    myth_block_lookup(q, p + 1, myth_fp4_twice);
}

UNPACK(q2_k)
{
    const float d = myth_block_half(p + 80), dmin = myth_block_half(p + 82);
    for (int k = 0; k < 16; k++) {
        scale[k] = d * (float)(p[k] & 15);
        min[k] = dmin * (float)(p[k] >> 4);
    }
    myth_block_quarters(q, p + 16, 0);
}

UNPACK(tq2_0)
{
    const float d = myth_block_half(p + 64);
    for (int k = 0; k < 16; k++) {
        scale[k] = d;
        min[k] = 0.0f;
    }
    myth_block_quarters(q, p, 1);
}

UNPACK(q3_k)
{
    const float d = myth_block_half(p + 108);
    const unsigned char *s = p + 96;
    for (int k = 0; k < 16; k++) {
        int v = (s[k % 8] >> 4 * (k / 8) & 15) | (s[8 + k % 4] >> 2 * (k / 4) & 3) << 4;
        scale[k] = d * (float)(v - 32);
        min[k] = 0.0f;
    }
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 32; i++)
                q[128 * h + 32 * j + i] =
                    (int8_t)(((p[32 + 32 * h + i] >> 2 * j & 3) | (p[i] >> (4 * h + j) & 1) << 2) - 4);
}

UNPACK(q4_k)
{
    myth_block_scales(scale, min, p);
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 32; i++) {
            q[64 * c + i] = (int8_t)(p[16 + 32 * c + i] & 15);
            q[64 * c + 32 + i] = (int8_t)(p[16 + 32 * c + i] >> 4);
        }
}

UNPACK(q5_k)
{
    myth_block_scales(scale, min, p);
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 32; i++) {
            q[64 * c + i] = (int8_t)((p[48 + 32 * c + i] & 15) | (p[16 + i] >> 2 * c & 1) << 4);
            q[64 * c + 32 + i] = (int8_t)((p[48 + 32 * c + i] >> 4) | (p[16 + i] >> (2 * c + 1) & 1) << 4);
        }
}

UNPACK(q6_k)
{
    const float d = myth_block_half(p + 208);
    for (int k = 0; k < 16; k++) {
        scale[k] = d * (float)(int8_t)p[192 + k];
        min[k] = 0.0f;
    }
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 32; i++)
                q[128 * h + 32 * j + i] = (int8_t)(((p[64 * h + 32 * (j % 2) + i] >> 4 * (j / 2) & 15) |
                                                    (p[128 + 32 * h + i] >> 2 * j & 3) << 4) -
                                                   32);
}

UNPACK(iq4_xs)
{
    const float d = myth_block_half(p);
    const unsigned high = p[2] | (unsigned)p[3] << 8;
    for (int k = 0; k < 8; k++) {
        int v = (p[4 + k / 2] >> 4 * (k % 2) & 15) | (int)(high >> 2 * k & 3) << 4;
        scale[2 * k] = scale[2 * k + 1] = d * (float)(v - 32);
        min[2 * k] = min[2 * k + 1] = 0.0f;
        myth_block_lookup(q + 32 * k, p + 8 + 16 * k, myth_iq4_value);
    }
}

#undef UNPACK

/* One block. Only types with blocks. */
MYTH_BLOCK_INLINE void myth_block_unpack(myth_dtype t, int8_t *__restrict q, float *__restrict scale,
                                         float *__restrict min, const unsigned char *__restrict p)
{
    switch (t) {
#define MYTH_ROW(X, code, NAME, name, ...) \
    case MYTH_##NAME: myth_unpack_##name(q, scale, min, p); break;
        MYTH_QUANT_TYPES(MYTH_ROW, 0)
#undef MYTH_ROW
    default: break;
    }
}

/* The same for n values of a row, 256 at most, a multiple of the block. */
MYTH_BLOCK_INLINE void myth_blocks_unpack(myth_dtype t, int8_t *__restrict q, float *__restrict scale,
                                          float *__restrict min, const unsigned char *__restrict p, uint32_t n)
{
    const uint32_t block = myth_block_is_super(t) ? MYTH_BLOCK_MAX : 32, step = myth_dtype_block_bytes(t);
    for (uint32_t at = 0; at < n; at += block, p += step)
        myth_block_unpack(t, q + at, scale + at / 16, min + at / 16, p);
}

/* n elements of a row, a multiple of the block, of any type but i32; another is a bug of the caller. */
void myth_dequant_row(myth_dtype t, float *dst, const void *src, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
