/* gemv_avx512.c   decode: y[r, o] = sum_k x[r, k] w[o, k], with the weights as in the file, read once from memory
 *
 * Shapes     w has blocks of 32, or is bf16, f16 or f32 (super-blocks of 256: gemv_super_avx512.c). For quantised types
 *            rows of x are i8 in units of 128 inputs (rows_avx512.c). A unit has 256 bytes: [4 blocks][first 16] i8,
 *            [4 blocks][last 16] i8, then for each of 16 lanes minus the sum of the lane's 8 values, i32, and the scale
 *            of its block (lane / 4), f32. The last unit is filled up with zeros
 * Precision  quantised: the sum of a lane over a unit is exact in i32, then one f32 multiply-add per unit in order; the
 *            16 lanes are added at the end. bf16: vdpbf16ps. f16, f32: f32 multiply-adds
 * Minima     for w = d q + m, m is multiplied with the sums of x that the unit contains
 * Traffic    the weights. A unit of q4_0 is 72 bytes and about 12 vector operations, one of q8_0 136 bytes and 12. The
 *            operations keep up with two to four times the bandwidth that a core gets, so up to four rows of x cost
 *            little more than one
 * Tiles      one weight row x 1..4 rows of x. The matrix is read as one stream, with prefetches 4 KiB ahead. Further
 *            rows of x find the weight row in L1. From 8 rows on quantised types have two weight rows x 8 rows of x:
 *            weights are unpacked half as often, and what is made of x alone serves both; 16 outputs at a time, so that
 *            a matrix with many inputs finds its 8 rows of x in L1. 16 rows are then 1.15 to 1.5 times as fast
 *            (q8_0, q4_0, the matrices of a 270M; a Xeon with VNNI, CPU time of one run beside other work)
 * Lost       bandwidth in comparison: 4 weight rows at once 0.8 to 0.9, no prefetch 0.9, overlapping loads in place of
 *            an insert 0.8 to 0.9 (Zen 5, 2 threads, mapped file)
 * Source     blocks: GGUF specification */
#include "avx512.h"

#include "engine/base/blocks.h"

enum { UNIT = 128, UNIT_BYTES = 256, ROWS_X = 4, ROWS_TWO = 8, OUT_TWO = 16, AHEAD = 4096 };

/* The 16-bit words of four q8_0 blocks (136 bytes) that hold the first 16 values of each block, the last 16 of the
 * first three (the fourth block's end past byte 128 and are loaded separately), and the scales. */
static const uint16_t q8_first[32] = {1,  2,  3,  4,  5,  6,  7,  8,  18, 19, 20, 21, 22, 23, 24, 25,
                                      35, 36, 37, 38, 39, 40, 41, 42, 52, 53, 54, 55, 56, 57, 58, 59};
static const uint16_t q8_last[32] = {9,  10, 11, 12, 13, 14, 15, 16, 26, 27, 28, 29,
                                     30, 31, 32, 33, 43, 44, 45, 46, 47, 48, 49, 50};
static const uint16_t q8_scale[32] = {0, 0, 0, 0, 17, 17, 17, 17, 34, 34, 34, 34, 51, 51, 51, 51};
/* The 16-bit words of four q4_0 blocks (72 bytes) that hold the nibbles of the first three blocks (the fourth's end
 * past byte 64 and are loaded separately), and the scales. */
static const uint16_t q4_nibble[32] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 11, 12, 13,
                                       14, 15, 16, 17, 19, 20, 21, 22, 23, 24, 25, 26};
static const uint16_t q4_scale[32] = {0, 0, 0, 0, 9, 9, 9, 9, 18, 18, 18, 18, 27, 27, 27, 27};

struct unit {
    __m512i first, last;
    __m512 scale, min;
}; /* values as unsigned bytes, the scale of each lane's block, and its minimum where the type has one */

/* The unsigned bytes of a type are the true values plus 2^shift_of(type); -1 means that nothing was added, because the
 * type has a minimum. */
FAST_INLINE int shift_of(myth_dtype type)
{
    return type == MYTH_Q8_0 || type == MYTH_IQ4_NL ? 7
         : type == MYTH_Q4_0                        ? 3
         : type == MYTH_Q5_0 || type == MYTH_MXFP4  ? 4
                                                    : -1;
}

/* Uses few wide loads: while a cache line is on its way from memory, each further load from it costs extra. */
FAST_INLINE struct unit unit_q8(const unsigned char *p)
{
    struct unit u;
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64), flip = _mm512_set1_epi8((char)0x80);
    __m512i last = _mm512_permutex2var_epi16(a, _mm512_loadu_si512(q8_last), b);
    u.first = _mm512_xor_si512(_mm512_permutex2var_epi16(a, _mm512_loadu_si512(q8_first), b), flip);
    u.last = _mm512_xor_si512(_mm512_inserti32x4(last, _mm_loadu_si128((const void *)(p + 120)), 3), flip);
    u.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutex2var_epi16(a, _mm512_loadu_si512(q8_scale), b)));
    return u;
}

FAST_INLINE struct unit unit_q4(const unsigned char *p)
{
    struct unit u;
    __m512i a = _mm512_loadu_si512(p), low = _mm512_set1_epi8(15),
            n = _mm512_permutexvar_epi16(_mm512_loadu_si512(q4_nibble), a);
    n = _mm512_inserti32x4(n, _mm_loadu_si128((const void *)(p + 56)), 3);
    u.first = _mm512_and_si512(n, low);
    u.last = _mm512_and_si512(_mm512_srli_epi16(n, 4), low);
    u.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi16(_mm512_loadu_si512(q4_scale), a)));
    return u;
}

/* The f16 at offset p of each of four blocks, copied to the four lanes of that block. */
FAST_INLINE __m512 four_halves(const unsigned char *p, size_t block)
{
    uint16_t h[4];
    for (int i = 0; i < 4; i++)
        memcpy(&h[i], p + (size_t)i * block, 2);
    uint64_t all = h[0] | (uint64_t)h[1] << 16 | (uint64_t)h[2] << 32 | (uint64_t)h[3] << 48;
    const __m512i by_4 = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return _mm512_permutexvar_ps(by_4, _mm512_castps128_ps512(_mm_cvtph_ps(_mm_cvtsi64_si128((long long)all))));
}

/* A unit of the types whose blocks end with nibbles; before them are d, m and a word of fifth bits, where the type has
 * them. */
FAST_INLINE struct unit unit_nibbles(const unsigned char *p, myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type), at = block - 16;
    const __m512i low = _mm512_set1_epi8(15);
    struct unit u;
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(p + at)));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(p + block + at)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(p + 2 * block + at)), 2);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(p + 3 * block + at)), 3);
    u.first = _mm512_and_si512(v, low);
    u.last = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
    if (type == MYTH_Q5_0 || type == MYTH_Q5_1) {
        uint32_t h[4];
        for (int i = 0; i < 4; i++)
            memcpy(&h[i], p + (size_t)i * block + at - 4, 4);
        uint64_t a = (h[0] & 0xffff) | (uint64_t)h[1] << 16, b = (h[2] & 0xffff) | (uint64_t)h[3] << 16,
                 c = (h[0] >> 16) | (uint64_t)(h[1] >> 16) << 16, d = (h[2] >> 16) | (uint64_t)(h[3] >> 16) << 16;
        const __m512i five = _mm512_set1_epi8(16);
        u.first = _mm512_mask_add_epi8(u.first, (__mmask64)((a & 0xffffffffu) | b << 32), u.first, five);
        u.last = _mm512_mask_add_epi8(u.last, (__mmask64)(c | d << 32), u.last, five);
    }
    if (type == MYTH_IQ4_NL || type == MYTH_MXFP4) {
        const __m128i t = _mm_loadu_si128((const void *)(type == MYTH_IQ4_NL ? myth_iq4_value : myth_fp4_twice));
        const __m512i table =
            _mm512_broadcast_i32x4(_mm_add_epi8(t, _mm_set1_epi8((char)(type == MYTH_IQ4_NL ? 128 : 16))));
        u.first = _mm512_shuffle_epi8(table, u.first);
        u.last = _mm512_shuffle_epi8(table, u.last);
    }
    if (type == MYTH_MXFP4) {
        float e[4];
        for (int i = 0; i < 4; i++)
            e[i] = myth_block_exponent(p[(size_t)i * block]);
        const __m512i by_4 = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
        u.scale = _mm512_permutexvar_ps(by_4, _mm512_castps128_ps512(_mm_loadu_ps(e)));
    } else {
        u.scale = four_halves(p, block);
    }
    u.min = type == MYTH_Q4_1 || type == MYTH_Q5_1 ? four_halves(p + 2, block) : _mm512_setzero_ps();
    return u;
}

FAST_INLINE struct unit unit_of(const unsigned char *w, const myth_dtype type)
{
    return type == MYTH_Q4_0 ? unit_q4(w) : type == MYTH_Q8_0 ? unit_q8(w) : unit_nibbles(w, type);
}

/* acc and the products of a unit, whose integer sums are a. */
FAST_INLINE __m512 add_unit(__m512 acc, const struct unit *u, __m512i a, __m512i neg, __m512 scale, const int shift)
{
    if (shift >= 0)
        return _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), _mm512_mul_ps(u->scale, scale), acc);
    const __m512 t = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(neg), u->min, _mm512_mul_ps(_mm512_cvtepi32_ps(a), u->scale));
    return _mm512_fmadd_ps(t, scale, acc);
}

/* Adds the products of one unit of a weight row with n rows of x. Minus the sum of x, shifted, takes off again what the
 * unsigned bytes have too much. */
FAST_INLINE void unit_dot(__m512 *acc, const unsigned char *w, const unsigned char *x, size_t xb, const int n,
                          const myth_dtype type)
{
    const struct unit u = unit_of(w, type);
    const int shift = shift_of(type);
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const unsigned char *q = x + (size_t)r * xb;
        const __m512i neg = _mm512_load_si512(q + 128);
        __m512i a = shift < 0 ? _mm512_setzero_si512() : _mm512_slli_epi32(neg, (unsigned)(shift < 0 ? 0 : shift));
        a = _mm512_dpbusd_epi32(a, u.first, _mm512_load_si512(q));
        a = _mm512_dpbusd_epi32(a, u.last, _mm512_load_si512(q + 64));
        acc[r] = add_unit(acc[r], &u, a, neg, _mm512_load_ps(q + 192), shift);
    }
}

FAST_INLINE void row_quant(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                           uint32_t n_in, const int n, const myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type);
    __m512 acc[ROWS_X];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        acc[r] = _mm512_setzero_ps();
    for (uint32_t u = 0; u < n_in / UNIT; u++, w += 4 * block, x += UNIT_BYTES) {
        for (size_t line = 0; line + 8 < 4 * block;
             line += 64) /* a rest of 8 bytes shares a line with its neighbours */
            _mm_prefetch((const char *)w + AHEAD + line, _MM_HINT_T0);
        unit_dot(acc, w, x, xb, n, type);
    }
    if (n_in % UNIT) {
        unsigned char rest[4 * 34];
        memset(rest, 0, sizeof rest);
        memcpy(rest, w, n_in % UNIT / 32 * block);
        unit_dot(acc, rest, x, xb, n, type);
    }
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = _mm512_reduce_add_ps(acc[r]);
}

/* Adds the products of one unit of two weight rows with n rows of x, with the operations of unit_dot for each. */
FAST_INLINE void unit_dot_two(__m512 *acc, const unsigned char *w, size_t wb, const unsigned char *x, size_t xb,
                              const int n, const myth_dtype type)
{
    struct unit u[2];
    FAST_UNROLL
    for (int o = 0; o < 2; o++)
        u[o] = unit_of(w + (size_t)o * wb, type);
    const int shift = shift_of(type);
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const unsigned char *q = x + (size_t)r * xb;
        const __m512i first = _mm512_load_si512(q), last = _mm512_load_si512(q + 64), neg = _mm512_load_si512(q + 128);
        const __m512 scale = _mm512_load_ps(q + 192);
        const __m512i less =
            shift < 0 ? _mm512_setzero_si512() : _mm512_slli_epi32(neg, (unsigned)(shift < 0 ? 0 : shift));
        FAST_UNROLL
        for (int o = 0; o < 2; o++) {
            const __m512i a = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(less, u[o].first, first), u[o].last, last);
            __m512 *to = &acc[2 * r + o];
            *to = add_unit(*to, &u[o], a, neg, scale, shift);
        }
    }
}

/* As row_quant, for the weight rows at w and w + wb. */
FAST_INLINE void two_rows_quant(float *y, size_t ldy, const unsigned char *w, size_t wb, const unsigned char *x,
                                size_t xb, uint32_t n_in, const myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type);
    __m512 acc[2 * ROWS_TWO];
    FAST_UNROLL
    for (int i = 0; i < 2 * ROWS_TWO; i++)
        acc[i] = _mm512_setzero_ps();
    for (uint32_t u = 0; u < n_in / UNIT; u++, w += 4 * block, x += UNIT_BYTES) {
        for (size_t line = 0; line + 8 < 4 * block; line += 64) {
            _mm_prefetch((const char *)w + AHEAD + line, _MM_HINT_T0);
            _mm_prefetch((const char *)w + wb + AHEAD + line, _MM_HINT_T0);
        }
        unit_dot_two(acc, w, wb, x, xb, ROWS_TWO, type);
    }
    if (n_in % UNIT) {
        unsigned char rest[2][4 * 34];
        memset(rest, 0, sizeof rest);
        for (size_t o = 0; o < 2; o++)
            memcpy(rest[o], w + o * wb, n_in % UNIT / 32 * block);
        unit_dot_two(acc, rest[0], sizeof rest[0], x, xb, ROWS_TWO, type);
    }
    FAST_UNROLL
    for (int i = 0; i < 2 * ROWS_TWO; i++)
        y[(size_t)(i / 2) * ldy + (size_t)(i % 2)] = _mm512_reduce_add_ps(acc[i]);
}

/* A type without a kernel of its own: its decoder's values, 128 above the true ones. */
FAST_INLINE struct unit unit_unpacked(const unsigned char *p, uint32_t n, myth_dtype type)
{
    int8_t q[UNIT] = {0};
    float scale[UNIT / 16] = {0.0f}, min[UNIT / 16] = {0.0f}, lane_scale[16], lane_min[16];
    struct unit u;
    myth_blocks_unpack(type, q, scale, min, p, n);
    for (int i = 0; i < 16; i++) {
        lane_scale[i] = scale[i / 4 * 2];
        lane_min[i] = -min[i / 4 * 2] - 128.0f * scale[i / 4 * 2];
    }
    const __m512i flip = _mm512_set1_epi8((char)0x80), a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + 64);
    const __m512i first = _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0),
                  last = _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2);
    u.first = _mm512_xor_si512(_mm512_permutex2var_epi64(a, first, b), flip);
    u.last = _mm512_xor_si512(_mm512_permutex2var_epi64(a, last, b), flip);
    u.scale = _mm512_loadu_ps(lane_scale);
    u.min = _mm512_loadu_ps(lane_min);
    return u;
}

/* A row of such a type, unit by unit through memory. The last unit is filled up with zeros on x's side only. Unused
 * while unit_nibbles reads every type with blocks of 32. */
__attribute__((unused)) FAST_INLINE void row_unpacked(float *y, size_t ldy, const unsigned char *w,
                                                      const unsigned char *x, size_t xb, uint32_t n_in, const int n,
                                                      const myth_dtype type)
{
    __m512 acc[ROWS_X];
    for (int r = 0; r < n; r++)
        acc[r] = _mm512_setzero_ps();
    for (uint32_t k = 0; k < n_in; k += UNIT, w += UNIT / 32 * myth_block_bytes_of(type), x += UNIT_BYTES) {
        const struct unit u = unit_unpacked(w, n_in - k < UNIT ? n_in - k : UNIT, type);
        for (int r = 0; r < n; r++) {
            const unsigned char *q = x + (size_t)r * xb;
            __m512i a = _mm512_dpbusd_epi32(_mm512_setzero_si512(), u.first, _mm512_load_si512(q));
            a = _mm512_dpbusd_epi32(a, u.last, _mm512_load_si512(q + 64));
            const __m512 neg = _mm512_cvtepi32_ps(_mm512_load_si512(q + 128));
            const __m512 t = _mm512_fnmadd_ps(neg, u.min, _mm512_mul_ps(_mm512_cvtepi32_ps(a), u.scale));
            acc[r] = _mm512_fmadd_ps(t, _mm512_load_ps(q + 192), acc[r]);
        }
    }
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = _mm512_reduce_add_ps(acc[r]);
}

enum kind { BF16_PAIR, BF16_WIDE, F16_WIDE, F32_WIDE };

/* Elements [k, n) of a row as f32, at most 16; the other lanes are zero. */
FAST_INLINE __m512 load_float(const unsigned char *w, uint32_t k, uint32_t n, enum kind kind)
{
    if (kind == F32_WIDE)
        return _mm512_maskz_loadu_ps(avx512_mask(n - k), w + 4 * (size_t)k);
    __m256i h = _mm256_maskz_loadu_epi16(avx512_mask(n - k), w + 2 * (size_t)k);
    return kind == F16_WIDE ? _mm512_cvtph_ps(h) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* Adds the products of elements [k, n), at most one step: 32 elements of BF16_PAIR, 16 of the other kinds. */
FAST_INLINE void step_float(__m512 *acc, const unsigned char *w, const unsigned char *x, size_t xb, uint32_t k,
                            uint32_t n, const int n_x, enum kind kind)
{
    if (kind == BF16_PAIR) {
        __mmask32 m = n - k >= 32 ? 0xffffffffu : (1u << (n - k)) - 1u;
        __m512i v = _mm512_maskz_loadu_epi16(m, w + 2 * (size_t)k);
        FAST_UNROLL
        for (int r = 0; r < n_x; r++)
            acc[r] =
                _mm512_dpbf16_ps(acc[r], (__m512bh)v, (__m512bh)_mm512_load_si512(x + (size_t)r * xb + 2 * (size_t)k));
    } else {
        __m512 v = load_float(w, k, n, kind);
        FAST_UNROLL
        for (int r = 0; r < n_x; r++)
            acc[r] = _mm512_fmadd_ps(v, _mm512_load_ps(x + (size_t)r * xb + 4 * (size_t)k), acc[r]);
    }
}

FAST_INLINE void row_float(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                           uint32_t n_in, const int n_x, enum kind kind)
{
    const uint32_t step = kind == BF16_PAIR ? 32 : 16, element = kind == F32_WIDE ? 4 : 2;
    __m512 a[ROWS_X], b[ROWS_X]; /* two chains, since in one each addition would wait for the last */
    FAST_UNROLL
    for (int r = 0; r < n_x; r++)
        a[r] = b[r] = _mm512_setzero_ps();
    uint32_t k = 0;
    for (; k + 2 * step <= n_in; k += 2 * step) {
        for (uint32_t off = 0; off < 2 * step * element; off += 64)
            _mm_prefetch((const char *)w + AHEAD + (size_t)k * element + off, _MM_HINT_T0);
        step_float(a, w, x, xb, k, k + step, n_x, kind);
        step_float(b, w, x, xb, k + step, k + 2 * step, n_x, kind);
    }
    for (; k < n_in; k += step)
        step_float(a, w, x, xb, k, n_in - k < step ? n_in : k + step, n_x, kind);
    FAST_UNROLL
    for (int r = 0; r < n_x; r++)
        y[(size_t)r * ldy] = _mm512_reduce_add_ps(_mm512_add_ps(a[r], b[r]));
}

/* One weight row for the rows of x from r on, ROWS_X at most: row(..., n, type) does n of them. */
#define SOME_ROWS(row, type, o, r)                                                          \
    do {                                                                                    \
        const unsigned char *xr = x + (size_t)(r)*x_bytes, *wo = w + (size_t)(o)*row_bytes; \
        float *yr = y + (size_t)(r)*ldy + (o);                                              \
        switch (n_rows - (r)) {                                                             \
        case 1: row(yr, ldy, wo, xr, x_bytes, n_in, 1, type); break;                        \
        case 2: row(yr, ldy, wo, xr, x_bytes, n_in, 2, type); break;                        \
        case 3: row(yr, ldy, wo, xr, x_bytes, n_in, 3, type); break;                        \
        default: row(yr, ldy, wo, xr, x_bytes, n_in, 4, type); break;                       \
        }                                                                                   \
    } while (0)

#define ARGUMENTS                                                                                           \
    float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, const unsigned char *x, \
        size_t x_bytes, uint32_t n_rows, uint32_t n_in

/* All weight rows; for each, all rows of x. */
#define GEMV(name, row, type)                             \
    void avx512_gemv_##name(ARGUMENTS)                    \
    {                                                     \
        for (uint32_t o = 0; o < n_out; o++)              \
            for (uint32_t r = 0; r < n_rows; r += ROWS_X) \
                SOME_ROWS(row, type, o, r);               \
    }

/* As many rows of x as there are eights, with two weight rows at a time; then as above. */
FAST_INLINE void eights_quant(ARGUMENTS, const myth_dtype type)
{
    for (uint32_t o0 = 0; o0 < n_out; o0 += OUT_TWO) {
        const uint32_t end = n_out - o0 < OUT_TWO ? n_out : o0 + OUT_TWO, twos = (end - o0) / 2 * 2;
        for (uint32_t r = 0; r + ROWS_TWO <= n_rows; r += ROWS_TWO) {
            for (uint32_t o = o0; o < o0 + twos; o += 2)
                two_rows_quant(y + (size_t)r * ldy + o, ldy, w + o * row_bytes, row_bytes, x + (size_t)r * x_bytes,
                               x_bytes, n_in, type);
            for (uint32_t i = 0; o0 + twos < end && i < ROWS_TWO; i += ROWS_X) /* an odd last output */
                SOME_ROWS(row_quant, type, o0 + twos, r + i);
        }
    }
}
#define GEMV_QUANT(name, type)                                                         \
    void avx512_gemv_##name(ARGUMENTS)                                                 \
    {                                                                                  \
        if (n_rows >= ROWS_TWO)                                                        \
            eights_quant(y, ldy, w, row_bytes, n_out, x, x_bytes, n_rows, n_in, type); \
        for (uint32_t o = 0; o < n_out; o++)                                           \
            for (uint32_t r = n_rows / ROWS_TWO * ROWS_TWO; r < n_rows; r += ROWS_X)   \
                SOME_ROWS(row_quant, type, o, r);                                      \
    }
GEMV_QUANT(q8, MYTH_Q8_0)
GEMV_QUANT(q4, MYTH_Q4_0)
/* Types with blocks of 32; those of 256 are in gemv_super_avx512.c. OWN_<name> names those that unit_nibbles reads: it
 * makes two arguments of one, and the second is the function's maker; of a name without such a macro it stays that of
 * row_unpacked. A branch on the type instead changes how the compiler orders the others' loops. */
#define OWN_q4_1                   , GEMV_QUANT
#define OWN_q5_0                   , GEMV_QUANT
#define OWN_q5_1                   , GEMV_QUANT
#define OWN_iq4_nl                 , GEMV_QUANT
#define OWN_mxfp4                  , GEMV_QUANT
#define GEMV_UNPACKED(name, type)  GEMV(name, row_unpacked, type)
#define SECOND(first, second, ...) second
#define MAKER_OF(...)              SECOND(__VA_ARGS__)
#define GEMV_32(name, type)        MAKER_OF(OWN_##name, GEMV_UNPACKED, )(name, type)
#define GEMV_256(name, type)
#define BLOCK_TYPE(X, code, NAME, name, gguf, file, block, ...) GEMV_##block(name, MYTH_##NAME)
MYTH_BLOCK_TYPES(BLOCK_TYPE, 0)
GEMV(bf16, row_float, BF16_PAIR)
GEMV(bf16_wide, row_float, BF16_WIDE)
GEMV(f16, row_float, F16_WIDE)
GEMV(f32, row_float, F32_WIDE)
