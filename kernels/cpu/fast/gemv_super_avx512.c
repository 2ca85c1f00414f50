/* gemv_super_avx512.c   decode with super-blocks of 256: y[r, o] = sum_k x[r, k] w[o, k], with the weights as in the
 *                       file, read once from memory
 *
 * Shapes     w is q2_k .. q6_k or iq4_xs (layouts: engine/base/dtype.h), n_in % 256 == 0. Rows of x have the form
 *            `super` of rows_avx512.c, 448 bytes for 256 inputs: two units of 128, each [8 sub-blocks][first 8] i8, [8
 *            sub-blocks][last 8] i8; then f32 [8] scales of the blocks of 32, f32 [8] minus their sums times these;
 *            f32 [16] the scale of each sub-block of 16; f32 [16] minus the sums of the sub-blocks times these
 * Order      a lane has 8 inputs of one sub-block, so one scale applies to its i32 sum. The 16 scales of a super-block
 *            are made once as one vector, and one permutation gives the lanes of a unit theirs
 * Minima     minima and the offsets of stored quants are never applied to the quants: they are 16 numbers, multiplied
 *            with 16 sums of x
 * Precision  the sum of a lane over a unit is exact in i32, then f32 multiply-adds over units in order, in two chains
 * Traffic    the weights. A super-block of q4_k is 144 bytes and about 45 instructions, one of q6_k 210 bytes and 50.
 *            Out of L2 at 2.5 GHz, one core reads q4_k at 14.6 GB/s, q6_k at 19.4 and q5_k at 17.4 (q4_0 at 15). That
 *            is 10 to 11 ns for a super-block of any type, so smaller types are bound by instructions, not memory
 * Tiles      one weight row x 1..4 rows of x, as in gemv_avx512.c
 * Source     blocks: gguf-py quants.py */
#include "avx512.h"

#include "engine/base/blocks.h"

enum { SUPER_BYTES = 448, BY_32 = 256, SCALE_16 = 320, NEG_16 = 384, ROWS_X = 4, AHEAD = 4096 };

/* An unpacked super-block: a and b are the values of its two units as unsigned bytes. Types with a scale for each block
 * of 32 have the 8 scales in `scale`, followed by the 8 factors for minus the sums of x (minima or offsets). Types with
 * a scale for each sub-block of 16 have 16 scales in `scale` and 16 such factors in `less`. */
struct super {
    __m512i a[2], b[2];
    __m512 scale, less;
};

FAST_INLINE __m512i lanes(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int b0, int b1, int b2,
                          int b3, int b4, int b5, int b6, int b7)
{
    return _mm512_set_epi32(b7, b6, b5, b4, b3, b2, b1, b0, a7, a6, a5, a4, a3, a2, a1, a0);
}
#define EACH(x) x, x, x, x, x, x, x, x
FAST_INLINE __m512i halves(int a, int b) { return lanes(EACH(a), EACH(b)); }
FAST_INLINE __m512i qwords(long long a, long long b, long long c, long long d, long long e, long long f, long long g,
                           long long h)
{
    return _mm512_set_epi64(h, g, f, e, d, c, b, a);
}
/* An index for shuffle_epi8: puts byte i of a 16-byte head into the low byte of a dword and zeros into the rest. */
#define BYTE(i) (int)(0x80808000u | (unsigned)(i))

FAST_INLINE __m512i low(__m512i v, int mask) { return _mm512_and_si512(v, _mm512_set1_epi8((char)mask)); }
/* a | (b & mask); the bits of a are below those of the mask */
FAST_INLINE __m512i under(__m512i a, __m512i b, int mask)
{
    return _mm512_ternarylogic_epi32(a, b, _mm512_set1_epi8((char)mask), 0xf8);
}
FAST_INLINE __m512i both(const unsigned char *p) { return _mm512_broadcast_i64x4(_mm256_loadu_si256((const void *)p)); }
FAST_INLINE __m512 half_of(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, 2);
    return _mm512_set1_ps(_cvtsh_ss(h));
}

/* Loads 64 bytes once. They straddle two cache lines, and compilers like to load them again for each use. */
FAST_INLINE __m512i wide(const unsigned char *p)
{
    __m512i v = _mm512_loadu_si512(p);
    __asm__("" : "+v"(v));
    return v;
}

/* Splits a unit into the first and the last 8 of every sub-block; lo has inputs 0..63 of the unit, hi 64..127. */
FAST_INLINE void split_natural(struct super *s, int u, __m512i lo, __m512i hi)
{
    s->a[u] = _mm512_permutex2var_epi64(lo, qwords(0, 2, 4, 6, 8, 10, 12, 14), hi);
    s->b[u] = _mm512_permutex2var_epi64(lo, qwords(1, 3, 5, 7, 9, 11, 13, 15), hi);
}

/* The same where lo has blocks 0 and 2 of the unit and hi blocks 1 and 3, as low and high nibbles do. */
FAST_INLINE void split_pairs(struct super *s, int u, __m512i lo, __m512i hi)
{
    s->a[u] = _mm512_permutex2var_epi64(lo, qwords(0, 2, 8, 10, 4, 6, 12, 14), hi);
    s->b[u] = _mm512_permutex2var_epi64(lo, qwords(1, 3, 9, 11, 5, 7, 13, 15), hi);
}

/* The scales of q4_k and q5_k, in lanes 0..7, and their minima, in lanes 8..15. */
FAST_INLINE __m512 scales_pairs(const unsigned char *p)
{
    const __m512i head = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)p));
    const __m512i at = lanes(BYTE(4), BYTE(5), BYTE(6), BYTE(7), BYTE(12), BYTE(13), BYTE(14), BYTE(15), BYTE(8),
                             BYTE(9), BYTE(10), BYTE(11), BYTE(12), BYTE(13), BYTE(14), BYTE(15));
    const __m512i top = lanes(BYTE(4), BYTE(5), BYTE(6), BYTE(7), BYTE(4), BYTE(5), BYTE(6), BYTE(7), BYTE(8), BYTE(9),
                              BYTE(10), BYTE(11), BYTE(8), BYTE(9), BYTE(10), BYTE(11));
    __m512i a = _mm512_srlv_epi32(_mm512_shuffle_epi8(head, at), lanes(EACH(0), 0, 0, 0, 0, 4, 4, 4, 4));
    __m512i b =
        _mm512_srlv_epi32(_mm512_shuffle_epi8(head, top), lanes(0, 0, 0, 0, 2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2));
    __m512i six = _mm512_and_si512(_mm512_ternarylogic_epi32(_mm512_set1_epi32(15), a, b, 0xca),
                                   _mm512_set1_epi32(63)); /* four bits from a, two from b */
    int32_t d;
    memcpy(&d, p, 4);
    __m512 outer = _mm512_permutexvar_ps(halves(0, 1), _mm512_castps128_ps512(_mm_cvtph_ps(_mm_cvtsi32_si128(d))));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(six), outer);
}

FAST_INLINE struct super super_q4_k(const unsigned char *p)
{
    struct super s;
    s.scale = scales_pairs(p);
    FAST_UNROLL
    for (int u = 0; u < 2; u++) {
        __m512i v = wide(p + 16 + 64 * u);
        split_pairs(&s, u, low(v, 15), low(_mm512_srli_epi16(v, 4), 15));
    }
    return s;
}

FAST_INLINE struct super super_q5_k(const unsigned char *p)
{
    struct super s;
    const __m512i high = both(p + 16);
    s.scale = scales_pairs(p);
    FAST_UNROLL
    for (int u = 0; u < 2; u++) {
        __m512i v = wide(p + 48 + 64 * u);
        __m512i h0 = _mm512_rolv_epi32(high, u ? halves(0, 30) : halves(4, 2)),
                h1 = _mm512_rolv_epi32(high, u ? halves(31, 29) : halves(3, 1));
        split_pairs(&s, u, under(low(v, 15), h0, 16), under(low(_mm512_srli_epi16(v, 4), 15), h1, 16));
    }
    return s;
}

FAST_INLINE struct super super_q6_k(const unsigned char *p)
{
    struct super s;
    s.scale = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(p + 192)))),
                            half_of(p + 208));
    s.less = _mm512_mul_ps(s.scale, _mm512_set1_ps(32.0f));
    FAST_UNROLL
    for (int u = 0; u < 2; u++) {
        __m512i v = wide(p + 64 * u), high = both(p + 128 + 32 * u);
        __m512i h0 = _mm512_rolv_epi32(high, halves(4, 2)), h1 = _mm512_rolv_epi32(high, halves(0, 30));
        split_natural(&s, u, under(low(v, 15), h0, 48), under(low(_mm512_srli_epi16(v, 4), 15), h1, 48));
    }
    return s;
}

FAST_INLINE struct super super_q2_k(const unsigned char *p)
{
    struct super s;
    const __m512i v = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p));
    s.scale = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_and_si512(v, _mm512_set1_epi32(15))), half_of(p + 80));
    s.less = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(v, 4)), half_of(p + 82));
    FAST_UNROLL
    for (int u = 0; u < 2; u++) {
        __m512i q = both(p + 16 + 32 * u);
        split_natural(&s, u, low(_mm512_srlv_epi32(q, halves(0, 2)), 3), low(_mm512_srlv_epi32(q, halves(4, 6)), 3));
    }
    return s;
}

FAST_INLINE struct super super_q3_k(const unsigned char *p)
{
    struct super s;
    const __m512i high = both(p), head = _mm512_broadcast_i32x4(_mm_loadu_si128(
                                      (const void *)(p + 94))); /* the 12 bytes of scales start at byte 2 */
    const __m512i at = lanes(BYTE(2), BYTE(3), BYTE(4), BYTE(5), BYTE(6), BYTE(7), BYTE(8), BYTE(9), BYTE(2), BYTE(3),
                             BYTE(4), BYTE(5), BYTE(6), BYTE(7), BYTE(8), BYTE(9));
    const __m512i top = lanes(BYTE(10), BYTE(11), BYTE(12), BYTE(13), BYTE(10), BYTE(11), BYTE(12), BYTE(13), BYTE(10),
                              BYTE(11), BYTE(12), BYTE(13), BYTE(10), BYTE(11), BYTE(12), BYTE(13));
    __m512i a = _mm512_srlv_epi32(_mm512_shuffle_epi8(head, at), halves(0, 4));
    __m512i b =
        _mm512_rolv_epi32(_mm512_shuffle_epi8(head, top), lanes(4, 4, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0, 30, 30, 30, 30));
    __m512i six = under(_mm512_and_si512(a, _mm512_set1_epi32(15)), b, 48);
    s.scale = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(six, _mm512_set1_epi32(32))), half_of(p + 108));
    s.less = _mm512_mul_ps(s.scale, _mm512_set1_ps(4.0f));
    FAST_UNROLL
    for (int u = 0; u < 2; u++) {
        __m512i q = both(p + 32 + 32 * u);
        __m512i h0 = _mm512_rolv_epi32(high, u ? halves(30, 29) : halves(2, 1)),
                h1 = _mm512_rolv_epi32(high, u ? halves(28, 27) : halves(0, 31));
        __m512i lo = low(_mm512_srlv_epi32(q, halves(0, 2)), 3), hi = low(_mm512_srlv_epi32(q, halves(4, 6)), 3);
        split_natural(&s, u, under(lo, h0, 4), under(hi, h1, 4));
    }
    return s;
}

FAST_INLINE struct super super_iq4_xs(const unsigned char *p)
{
    struct super s;
    int32_t head[2];
    memcpy(head, p, 8);
    __m512i a =
        _mm512_srlv_epi32(_mm512_set1_epi32(head[1]), lanes(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28));
    __m512i b = _mm512_srlv_epi32(_mm512_set1_epi32(head[0]),
                                  lanes(12, 14, 16, 18, 20, 22, 24, 26, 12, 14, 16, 18, 20, 22, 24, 26));
    __m512i six = _mm512_ternarylogic_epi32(_mm512_and_si512(a, _mm512_set1_epi32(15)), b, _mm512_set1_epi32(48), 0xf8);
    __m512 whole = _mm512_cvtepi32_ps(_mm512_sub_epi32(six, _mm512_set1_epi32(32)));
    /* Table values + 128 are not negative. The factor that takes the 128 off again is 128 scales. */
    const __m512 times = _mm512_castsi512_ps(halves(0x3f800000, 0x43000000));
    s.scale = _mm512_mul_ps(_mm512_mul_ps(whole, times), half_of(p));
    const __m128i t = _mm_xor_si128(_mm_loadu_si128((const void *)myth_iq4_value), _mm_set1_epi8((char)0x80));
    const __m512i table = _mm512_broadcast_i32x4(t);
    FAST_UNROLL
    for (int u = 0; u < 2; u++) {
        __m512i v = wide(p + 8 + 64 * u);
        __m512i lo = _mm512_shuffle_epi8(table, low(v, 15)),
                hi = _mm512_shuffle_epi8(table, low(_mm512_srli_epi16(v, 4), 15));
        s.a[u] = _mm512_unpacklo_epi64(lo, hi);
        s.b[u] = _mm512_unpackhi_epi64(lo, hi);
    }
    return s;
}

/* A type without a kernel of its own: its decoder's values, above the true ones by as little as makes them positive.
 * What is above is taken off again by the sums of x, so a larger number would cost precision. */
FAST_INLINE struct super super_unpacked(const unsigned char *p, const myth_dtype type, const bool is_16)
{
    struct super s;
    int8_t q[MYTH_BLOCK_MAX];
    float scale[16], min[16], less[16], by_32[16];
    myth_block_unpack(type, q, scale, min, p);
    int8_t least = 0;
    for (int i = 0; i < 256; i++)
        least = q[i] < least ? q[i] : least;
    for (int i = 0; i < 16; i++)
        less[i] = min[i] - (float)least * scale[i];
    for (int i = 0; i < 8; i++) {
        by_32[i] = scale[2 * i];
        by_32[8 + i] = less[2 * i];
    }
    s.scale = _mm512_loadu_ps(is_16 ? scale : by_32);
    s.less = _mm512_loadu_ps(less);
    const __m512i zero = _mm512_set1_epi8(least);
    for (int u = 0; u < 2; u++)
        split_natural(&s, u, _mm512_sub_epi8(_mm512_loadu_si512(q + 128 * u), zero),
                      _mm512_sub_epi8(_mm512_loadu_si512(q + 128 * u + 64), zero));
    return s;
}

FAST_INLINE struct super super_of(const unsigned char *p, const myth_dtype type, const bool is_16)
{
    switch (type) {
    case MYTH_Q2_K: return super_q2_k(p);
    case MYTH_Q3_K: return super_q3_k(p);
    case MYTH_Q4_K: return super_q4_k(p);
    case MYTH_Q5_K: return super_q5_k(p);
    case MYTH_Q6_K: return super_q6_k(p);
    case MYTH_IQ4_XS: return super_iq4_xs(p);
    default: return super_unpacked(p, type, is_16);
    }
}

FAST_INLINE __m512 dot(__m512 acc, __m512i a, __m512i b, const unsigned char *q, __m512 scale)
{
    __m512i d = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(_mm512_setzero_si512(), a, _mm512_load_si512(q)), b,
                                    _mm512_load_si512(q + 64));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(d), scale, acc);
}

/* Adds the products of one super-block with n rows of x. */
FAST_INLINE void super_dot(__m512 *acc, __m512 *next, const struct super *s, const unsigned char *x, size_t xb,
                           const int n, const bool is_16)
{
    const __m512i by_2 = lanes(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7),
                  by_4 = lanes(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const __m512i first = is_16 ? by_2 : by_4, last = is_16 ? _mm512_add_epi32(by_2, _mm512_set1_epi32(8))
                                                            : _mm512_add_epi32(by_4, _mm512_set1_epi32(4));
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const unsigned char *q = x + (size_t)r * xb;
        __m512 t = _mm512_mul_ps(s->scale, _mm512_load_ps(q + (is_16 ? SCALE_16 : BY_32)));
        if (is_16)
            acc[r] = _mm512_fmadd_ps(s->less, _mm512_load_ps(q + NEG_16), acc[r]);
        else
            acc[r] = _mm512_mask_add_ps(acc[r], 0xff00, acc[r], t);
        acc[r] = dot(acc[r], s->a[0], s->b[0], q, _mm512_permutexvar_ps(first, t));
        next[r] = dot(next[r], s->a[1], s->b[1], q + 128, _mm512_permutexvar_ps(last, t));
    }
}

#define ROW(type, n, is_16)                                                                                \
    {                                                                                                      \
        __m512 acc[ROWS_X], next[ROWS_X];                                                                  \
        const unsigned char *p = w, *q = x + (size_t)r * x_bytes;                                          \
        FAST_UNROLL                                                                                        \
        for (int i = 0; i < n; i++)                                                                        \
            acc[i] = next[i] = _mm512_setzero_ps();                                                        \
        for (uint32_t k = 0; k < n_in; k += 256, p += block, q += SUPER_BYTES) {                           \
            for (size_t line = 0; line < block; line += 64)                                                \
                _mm_prefetch((const char *)p + AHEAD + line, _MM_HINT_T0);                                 \
            const struct super s = super_of(p, type, is_16);                                               \
            super_dot(acc, next, &s, q, x_bytes, n, is_16);                                                \
        }                                                                                                  \
        FAST_UNROLL                                                                                        \
        for (int i = 0; i < n; i++)                                                                        \
            y[(size_t)(r + (uint32_t)i) * ldy + o] = _mm512_reduce_add_ps(_mm512_add_ps(acc[i], next[i])); \
    }

#define GEMV(name, type, is_16)                                                                             \
    void avx512_gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, \
                            const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)         \
    {                                                                                                       \
        const size_t block = myth_block_bytes_of(type);                                                     \
        for (uint32_t o = 0; o < n_out; o++, w += row_bytes)                                                \
            for (uint32_t r = 0; r < n_rows; r += ROWS_X)                                                   \
                switch (n_rows - r) {                                                                       \
                case 1: ROW(type, 1, is_16) break;                                                          \
                case 2: ROW(type, 2, is_16) break;                                                          \
                case 3: ROW(type, 3, is_16) break;                                                          \
                default: ROW(type, 4, is_16) break;                                                         \
                }                                                                                           \
    }
/* Types with blocks of 256; those of 32 are in gemv_avx512.c. */
#define GEMV_32(name, type, scales)
#define GEMV_256(name, type, scales) GEMV(name, type, ((scales)&MYTH_SCALES_half) != 0)
#define BLOCK_TYPE(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, ...) \
    GEMV_##block(name, MYTH_##NAME, MYTH_SCALES_##scales)
MYTH_BLOCK_TYPES(BLOCK_TYPE, 0)
