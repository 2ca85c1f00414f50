/* dequant.cuh - reads eight neighbouring weights of a row of any quantised type: eight bytes with one scale and one
 * minimum.
 *
 *   weight[i] = scale * (q[i] - zero) - least     each step is rounded in f32: bit-equal to engine/base/blocks.h
 *
 * Rows       Q8_0 and Q4_0 are planar (weight_form.h), other types in blocks as in files (layouts: engine/base/dtype.h)
 * Eight      the first of them is at a multiple of 8 in the row, so all eight have one scale and come from the same
 *            half or quarter of their bytes
 * Loads      2 bytes at a time, because blocks of 22, 84, 110 and 210 bytes are aligned to no more; blocks of 17 bytes
 *            are read byte by byte
 * Switch     the type is known at run time only, and there is one function for all types, not inlined: an instance of
 *            every kernel for every type would double the device code
 * Not built  products of q and x in int8 by dp4a, as gemv.cuh has them for Q8_0: sum(q x) - zero * sum(x), then scale
 *            and least once for eight values; and 16-byte loads where blocks are multiples of 16 bytes (Q4_K, Q5_K).
 *            Both might be faster; nothing here was measured yet */
#ifndef MYTH_CUDA_DEQUANT_CUH
#define MYTH_CUDA_DEQUANT_CUH

#include "common.cuh"

struct dequant_eight {
    uint32_t q[2]; /* bytes 0..255 */
    int zero;
    float scale, least;
};

/* True for the types in planar form; the others are in blocks. */
static __host__ __device__ constexpr bool dequant_is_planar(int type) { return type == MYTH_Q8_0 || type == MYTH_Q4_0; }
static __host__ __device__ constexpr bool dequant_is_block(int type)
{
    return type >= MYTH_Q4_1 && type < MYTH_DTYPE_N;
}
static_assert(MYTH_Q4_1 == MYTH_I32 + 1 && MYTH_MXFP4 == MYTH_DTYPE_N - 1, "block types are the last ones");

/* The bytes of a row of any type; of planar types those of its quants. */
static __host__ __device__ constexpr uint64_t dequant_row_bytes(int type, uint64_t n)
{
    switch (type) {
    case MYTH_F32: return 4 * n;
    case MYTH_Q8_0: return n;
    case MYTH_Q4_0: return n / 2;
    case MYTH_Q4_1: return n / 32 * 20;
    case MYTH_Q5_0: return n / 32 * 22;
    case MYTH_Q5_1: return n / 32 * 24;
    case MYTH_IQ4_NL: return n / 32 * 18;
    case MYTH_MXFP4: return n / 32 * 17;
    case MYTH_Q2_K: return n / 256 * 84;
    case MYTH_Q3_K: return n / 256 * 110;
    case MYTH_Q4_K: return n / 256 * 144;
    case MYTH_Q5_K: return n / 256 * 176;
    case MYTH_Q6_K: return n / 256 * 210;
    case MYTH_IQ4_XS: return n / 256 * 136;
    default: return 2 * n;
    }
}

/* ---- pieces of a block ---- */

static __device__ __forceinline__ float dequant_half(const unsigned char *p)
{
    return f16_to_f32(*(const uint16_t *)(const void *)p);
}

static __device__ __forceinline__ void dequant_bytes(uint32_t (&q)[2], const unsigned char *p)
{
    const uint16_t *h = (const uint16_t *)(const void *)p;
    q[0] = h[0] | (uint32_t)h[1] << 16;
    q[1] = h[2] | (uint32_t)h[3] << 16;
}

/* Eight bit fields: the eight bytes at p, shifted right and masked. */
static __device__ __forceinline__ void dequant_fields(uint32_t (&q)[2], const unsigned char *p, uint32_t shift,
                                                      uint32_t mask)
{
    dequant_bytes(q, p);
    q[0] = q[0] >> shift & mask;
    q[1] = q[1] >> shift & mask;
}

/* Adds eight more bit fields to those in q, `up` bits higher. */
static __device__ __forceinline__ void dequant_more(uint32_t (&q)[2], const unsigned char *p, uint32_t shift,
                                                    uint32_t mask, uint32_t up)
{
    uint32_t high[2];
    dequant_fields(high, p, shift, mask);
    q[0] |= high[0] << up;
    q[1] |= high[1] << up;
}

enum : uint32_t { DEQUANT_ONE = 0x01010101u, DEQUANT_TWO = 0x03030303u, DEQUANT_FOUR = 0x0f0f0f0fu };

/* Nibbles k .. k + 7 of the 32 at p. */
static __device__ __forceinline__ void dequant_nibbles(uint32_t (&q)[2], const unsigned char *p, uint32_t k)
{
    dequant_fields(q, p + k % 16, k % 32 < 16 ? 0 : 4, DEQUANT_FOUR);
}

/* Adds the fifth bits of values k .. k + 7; p has one bit per value. */
static __device__ __forceinline__ void dequant_fifths(uint32_t (&q)[2], const unsigned char *p, uint32_t k)
{
    uint32_t bits = p[k % 32 / 8];
#pragma unroll
    for (int i = 0; i < 2; i++, bits >>= 4)
        q[i] |= (bits & 1u) << 4 | (bits & 2u) << 11 | (bits & 4u) << 18 | (bits & 8u) << 25;
}

/* Replaces nibbles by the bytes of a table of 16, which is t0, t1, t2, t3. */
static __device__ __forceinline__ void dequant_lookup(uint32_t (&q)[2], uint32_t t0, uint32_t t1, uint32_t t2,
                                                      uint32_t t3)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t pairs = q[i] | q[i] >> 4, at = ((pairs & 0xffu) | (pairs >> 8 & 0xff00u)) & 0x7777u;
        const uint32_t is_high = (q[i] >> 3 & DEQUANT_ONE) * 0xffu;
        q[i] = (__byte_perm(t0, t1, at) & ~is_high) | (__byte_perm(t2, t3, at) & is_high);
    }
}

/* The values of myth_iq4_value, and those of 4-bit floats times two; 128 is added to both. */
static __device__ __forceinline__ void dequant_iq4(dequant_eight &e)
{
    dequant_lookup(e.q, 0x3f2d1801u, 0x766a5d4fu, 0xa6998d81u, 0xf1d9c5b5u);
    e.zero = 128;
}
static __device__ __forceinline__ void dequant_fp4(dequant_eight &e)
{
    dequant_lookup(e.q, 0x83828180u, 0x8c888684u, 0x7d7e7f80u, 0x74787a7cu);
    e.zero = 128;
}

/* ---- one function per type ---- */

static __device__ __forceinline__ void dequant_q4_1(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    e.scale = dequant_half(p);
    e.least = -dequant_half(p + 2);
    dequant_nibbles(e.q, p + 4, k);
}

static __device__ __forceinline__ void dequant_q5_0(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    e.scale = dequant_half(p);
    e.zero = 16;
    dequant_nibbles(e.q, p + 6, k);
    dequant_fifths(e.q, p + 2, k);
}

static __device__ __forceinline__ void dequant_q5_1(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    e.scale = dequant_half(p);
    e.least = -dequant_half(p + 2);
    dequant_nibbles(e.q, p + 8, k);
    dequant_fifths(e.q, p + 4, k);
}

static __device__ __forceinline__ void dequant_iq4_nl(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    e.scale = dequant_half(p);
    dequant_nibbles(e.q, p + 2, k);
    dequant_iq4(e);
}

static __device__ __forceinline__ void dequant_mxfp4(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    const uint32_t exponent = p[0], shift = k % 32 < 16 ? 0 : 4;
    const unsigned char *b = p + 1 + k % 16;
    e.scale = __uint_as_float(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23); /* 2^(e - 128) */
    e.q[0] = (b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24) >> shift & DEQUANT_FOUR;
    e.q[1] = (b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 | (uint32_t)b[7] << 24) >> shift & DEQUANT_FOUR;
    dequant_fp4(e);
}

/* In types with blocks of 256, k is the place in the block. */
static __device__ __forceinline__ void dequant_q2_k(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    const uint32_t both = p[k / 16];
    e.scale = __fmul_rn(dequant_half(p + 80), (float)(both & 15u));
    e.least = __fmul_rn(dequant_half(p + 82), (float)(both >> 4));
    dequant_fields(e.q, p + 16 + k / 128 * 32 + k % 32, k % 128 / 32 * 2, DEQUANT_TWO);
}

static __device__ __forceinline__ void dequant_q3_k(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    const uint32_t sub = k / 16, low = p[96 + sub % 8] >> (sub / 8 * 4) & 15u,
                   high = p[104 + sub % 4] >> (sub / 4 * 2) & 3u;
    e.scale = __fmul_rn(dequant_half(p + 108), (float)((int)(low | high << 4) - 32));
    e.zero = 4;
    dequant_fields(e.q, p + 32 + k / 128 * 32 + k % 32, k % 128 / 32 * 2, DEQUANT_TWO);
    dequant_more(e.q, p + k % 32, k / 32, DEQUANT_ONE, 2);
}

/* Scale and minimum of value k in q4_k and q5_k. */
static __device__ __forceinline__ void dequant_six_bits(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    const unsigned char *s = p + 4;
    const uint32_t i = k / 32, top = s[4 + i];
    const uint32_t a = i < 4 ? s[i] & 63u : (top & 15u) | (uint32_t)(s[i - 4] >> 6) << 4,
                   b = i < 4 ? top & 63u : top >> 4 | (uint32_t)(s[i] >> 6) << 4;
    e.scale = __fmul_rn(dequant_half(p), (float)a);
    e.least = __fmul_rn(dequant_half(p + 2), (float)b);
}

static __device__ __forceinline__ void dequant_q4_k(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    dequant_six_bits(e, p, k);
    dequant_fields(e.q, p + 16 + k / 64 * 32 + k % 32, k % 64 / 32 * 4, DEQUANT_FOUR);
}

static __device__ __forceinline__ void dequant_q5_k(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    dequant_six_bits(e, p, k);
    dequant_fields(e.q, p + 48 + k / 64 * 32 + k % 32, k % 64 / 32 * 4, DEQUANT_FOUR);
    dequant_more(e.q, p + 16 + k % 32, k / 32, DEQUANT_ONE, 4);
}

static __device__ __forceinline__ void dequant_q6_k(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    const uint32_t j = k % 128 / 32, at = k % 32;
    e.scale = __fmul_rn(dequant_half(p + 208), (float)(int8_t)p[192 + k / 16]);
    e.zero = 32;
    dequant_fields(e.q, p + k / 128 * 64 + j % 2 * 32 + at, j / 2 * 4, DEQUANT_FOUR);
    dequant_more(e.q, p + 128 + k / 128 * 32 + at, 2 * j, DEQUANT_TWO, 4);
}

static __device__ __forceinline__ void dequant_iq4_xs(dequant_eight &e, const unsigned char *p, uint32_t k)
{
    const uint32_t i = k / 32, high = *(const uint16_t *)(const void *)(p + 2), low = p[4 + i / 2] >> (i % 2 * 4) & 15u;
    e.scale = __fmul_rn(dequant_half(p), (float)((int)(low | (high >> (2 * i) & 3u) << 4) - 32));
    dequant_nibbles(e.q, p + 8 + 16 * i, k);
    dequant_iq4(e);
}

/* ---- a row ---- */

/* Weights k .. k + 7 of a row of a quantised type. q is the row's quants or blocks, d its scales in planar types. */
[[maybe_unused]] static __device__ __attribute__((noinline)) dequant_eight dequant_at(int type, const unsigned char *q,
                                                                                      const uint16_t *d, uint32_t k)
{
    dequant_eight e = {{0, 0}, 0, 0.0f, 0.0f};
    const uint32_t block = k / 32, super = k / 256;
    switch (type) {
    case MYTH_Q8_0:
        e.scale = f16_to_f32(d[block]);
        e.zero = 128;
        dequant_bytes(e.q, q + k);
        e.q[0] ^= 0x80808080u;
        e.q[1] ^= 0x80808080u;
        break;
    case MYTH_Q4_0:
        e.scale = f16_to_f32(d[block]);
        e.zero = 8;
        dequant_nibbles(e.q, q + block * 16, k);
        break;
    case MYTH_Q4_1: dequant_q4_1(e, q + block * 20, k); break;
    case MYTH_Q5_0: dequant_q5_0(e, q + block * 22, k); break;
    case MYTH_Q5_1: dequant_q5_1(e, q + block * 24, k); break;
    case MYTH_IQ4_NL: dequant_iq4_nl(e, q + block * 18, k); break;
    case MYTH_MXFP4: dequant_mxfp4(e, q + block * 17, k); break;
    case MYTH_Q2_K: dequant_q2_k(e, q + super * 84, k % 256); break;
    case MYTH_Q3_K: dequant_q3_k(e, q + super * 110, k % 256); break;
    case MYTH_Q4_K: dequant_q4_k(e, q + super * 144, k % 256); break;
    case MYTH_Q5_K: dequant_q5_k(e, q + super * 176, k % 256); break;
    case MYTH_Q6_K: dequant_q6_k(e, q + super * 210, k % 256); break;
    case MYTH_IQ4_XS: dequant_iq4_xs(e, q + super * 136, k % 256); break;
    default: break;
    }
    return e;
}

/* The i-th of the eight weights. Here and above, products are spelled out, so that the compiler cannot fuse them with
 * the subtraction, which would leave out a rounding. */
static __device__ __forceinline__ float dequant_value(const dequant_eight &e, uint32_t i)
{
    const uint32_t word = i < 4 ? e.q[0] : e.q[1];
    return __fmul_rn(e.scale, (float)((int)(word >> (i % 4 * 8) & 0xffu) - e.zero)) - e.least;
}

#endif
