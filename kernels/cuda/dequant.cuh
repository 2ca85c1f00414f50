/* dequant.cuh - reads eight neighbouring weights of a row of any quantised type: eight bytes with one scale and one
 * minimum.
 *
 * Rows       Q8_0 and Q4_0 are planar (weight_form.h), other types in blocks as in files. Those are decoded by
 *            kernels/eights.def; here are the pieces of which it makes its decoders
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
    return type >= MYTH_FIRST_BLOCK_TYPE && type < MYTH_DTYPE_N;
}

/* The bytes of a row of any type; of planar types those of its quants. A kernel calls it only for a type that is
 * constant: the switch over all types would be in its code once for each matrix. */
static __host__ __device__ constexpr uint64_t dequant_row_bytes(int type, uint64_t n)
{
    switch (type) {
    case MYTH_F32: return 4 * n;
    case MYTH_Q8_0: return n;
    case MYTH_Q4_0: return n / 2;
#define ROW(X, code, NAME, name, gguf, file, block, bytes, ...) \
    case code: return n / block * bytes;
        MYTH_BLOCK_TYPES(ROW, 0)
#undef ROW
    default: return 2 * n;
    }
}

/* ---- pieces of a block, as kernels/eights.def lists them ---- */

static __device__ __forceinline__ uint32_t eight_byte(const unsigned char *p) { return *p; }
static __device__ __forceinline__ int eight_signed(const unsigned char *p) { return (int8_t)*p; }
static __device__ __forceinline__ uint32_t eight_pair(const unsigned char *p)
{
    return *(const uint16_t *)(const void *)p;
}
static __device__ __forceinline__ float eight_times(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ float eight_exponent(uint32_t n)
{
    return __uint_as_float(n < 2 ? 0x00200000u << n : (n - 1) << 23);
}
static __device__ __forceinline__ float eight_half(const unsigned char *p)
{
    return f16_to_f32(*(const uint16_t *)(const void *)p);
}

static __device__ __forceinline__ void eight_bytes(uint32_t (&q)[2], const unsigned char *p)
{
    const uint16_t *h = (const uint16_t *)(const void *)p;
    q[0] = h[0] | (uint32_t)h[1] << 16;
    q[1] = h[2] | (uint32_t)h[3] << 16;
}

/* Eight bit fields: the eight bytes at p, shifted right and masked. */
static __device__ __forceinline__ void eight_fields(uint32_t (&q)[2], const unsigned char *p, uint32_t shift,
                                                    uint32_t mask)
{
    eight_bytes(q, p);
    q[0] = q[0] >> shift & mask;
    q[1] = q[1] >> shift & mask;
}

/* Adds eight more bit fields to those in q, `up` bits higher. */
static __device__ __forceinline__ void eight_more(uint32_t (&q)[2], const unsigned char *p, uint32_t shift,
                                                  uint32_t mask, uint32_t up)
{
    uint32_t high[2];
    eight_fields(high, p, shift, mask);
    q[0] |= high[0] << up;
    q[1] |= high[1] << up;
}

/* Nibbles k .. k + 7 of the 32 at p. */
static __device__ __forceinline__ void eight_nibbles(uint32_t (&q)[2], const unsigned char *p, uint32_t k)
{
    eight_fields(q, p + k % 16, k % 32 < 16 ? 0 : 4, 0x0f0f0f0fu);
}

/* Adds the fifth bits of values k .. k + 7; p has one bit per value. */
static __device__ __forceinline__ void eight_fifths(uint32_t (&q)[2], const unsigned char *p, uint32_t k)
{
    uint32_t bits = p[k % 32 / 8];
#pragma unroll
    for (int i = 0; i < 2; i++, bits >>= 4)
        q[i] |= (bits & 1u) << 4 | (bits & 2u) << 11 | (bits & 4u) << 18 | (bits & 8u) << 25;
}

/* Replaces nibbles by the bytes of a table of 16, which is t0, t1, t2, t3. */
static __device__ __forceinline__ void eight_lookup(uint32_t (&q)[2], uint32_t t0, uint32_t t1, uint32_t t2,
                                                    uint32_t t3)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t pairs = q[i] | q[i] >> 4, at = ((pairs & 0xffu) | (pairs >> 8 & 0xff00u)) & 0x7777u;
        const uint32_t is_high = (q[i] >> 3 & 0x01010101u) * 0xffu;
        q[i] = (__byte_perm(t0, t1, at) & ~is_high) | (__byte_perm(t2, t3, at) & is_high);
    }
}

static __device__ __forceinline__ void eight_odd_nibbles(uint32_t (&q)[2], const unsigned char *p, uint32_t k)
{
    const uint32_t shift = k % 32 < 16 ? 0 : 4;
    const unsigned char *b = p + k % 16;
    q[0] = (b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24) >> shift & 0x0f0f0f0fu;
    q[1] = (b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 | (uint32_t)b[7] << 24) >> shift & 0x0f0f0f0fu;
}

#define EIGHT_PART(name) \
    static __device__ __forceinline__ void name(dequant_eight &e, const unsigned char *p, uint32_t k)
#define EIGHT(name) EIGHT_PART(dequant_##name)
#include "kernels/eights.def"

/* ---- a row ---- */

/* Weights k .. k + 7 of a row of a quantised type. q is the row's quants or blocks, d its scales in planar types. */
[[maybe_unused]] static __device__ __attribute__((noinline)) dequant_eight dequant_at(int type, const unsigned char *q,
                                                                                      const uint16_t *d, uint32_t k)
{
    dequant_eight e = {{0, 0}, 0, 0.0f, 0.0f};
    switch (type) {
    case MYTH_Q8_0:
        e.scale = f16_to_f32(d[k / 32]);
        e.zero = 128;
        eight_bytes(e.q, q + k);
        e.q[0] ^= 0x80808080u;
        e.q[1] ^= 0x80808080u;
        break;
    case MYTH_Q4_0:
        e.scale = f16_to_f32(d[k / 32]);
        e.zero = 8;
        eight_nibbles(e.q, q + k / 32 * 16, k);
        break;
#define ROW(X, code, NAME, name, gguf, file, block, bytes, ...) \
    case code: dequant_##name(e, q + k / block * bytes, k % block); break;
        MYTH_BLOCK_TYPES(ROW, 0)
#undef ROW
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
