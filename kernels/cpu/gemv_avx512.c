/* gemv_avx512.c   decode: y[r, o] = sum_k x[r, k] w[o, k], weights read once from memory, as they lie in the file
 *
 * Shapes     w rows of q8_0 (34-byte blocks), q4_0 (18-byte blocks), bf16, f16, f32; x rows in the form that rows_avx512.c makes:
 *            i8 by units of 128 inputs, 256 bytes: [4 blocks][first 16] i8, [4 blocks][last 16] i8, then per lane (block = lane / 4)
 *            minus the sum of its 8 values, i32, and the scale of its block, f32; the last unit is filled up with zeros
 * Precision  quantised: a lane of a unit exact in i32, then one f32 multiply-add per unit in order, 16 lanes added at the end; bf16:
 *            vdpbf16ps; f16, f32: f32 multiply-adds
 * Traffic    the weights. A unit of q4_0 is 72 bytes and about 12 vector operations, of q8_0 136 and 12: two to four times what one core
 *            gets from memory, so up to four rows of x cost little more than one
 * Tiles      4 weight rows x 1..4 rows of x; further rows of x find the weight rows in L1
 * Source     blocks: GGUF specification                                                                                              */
#include "avx512.h"

enum { UNIT = 128, UNIT_BYTES = 256, ROWS_W = 4, ROWS_X = 4 };

/* Words of a 136-byte q8_0 unit: first halves of its blocks from bytes 0.., last halves from bytes 8.., scales from bytes 0... */
static const uint16_t q8_first[32] = { 1,  2,  3,  4,  5,  6,  7,  8,  18, 19, 20, 21, 22, 23, 24, 25,
                                       35, 36, 37, 38, 39, 40, 41, 42, 52, 53, 54, 55, 56, 57, 58, 59 };
static const uint16_t q8_last[32] = { 5,  6,  7,  8,  9,  10, 11, 12, 22, 23, 24, 25, 26, 27, 28, 29,
                                      39, 40, 41, 42, 43, 44, 45, 46, 56, 57, 58, 59, 60, 61, 62, 63 };
static const uint16_t q8_scale[32] = { 0, 0, 0, 0, 17, 17, 17, 17, 34, 34, 34, 34, 51, 51, 51, 51 };
/* Words of a 72-byte q4_0 unit: below 32 from bytes 0.., from 32 on of bytes 8... */
static const uint16_t q4_nibble[32] = { 1,  2,  3,  4,  5,  6,  7,  8,  10, 11, 12, 13, 14, 15, 16, 17,
                                        19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31, 60, 61, 62, 63 };
static const uint16_t q4_scale[32] = { 0, 0, 0, 0, 9, 9, 9, 9, 18, 18, 18, 18, 27, 27, 27, 27 };

struct unit { __m512i first, last; __m512 scale; };            /* unsigned values, the scale of each lane's block */

FAST_INLINE struct unit unit_q8(const unsigned char *p)
{
    struct unit u;
    __m512i a0 = _mm512_loadu_si512(p), a1 = _mm512_loadu_si512(p + 64);
    __m512i b0 = _mm512_loadu_si512(p + 8), b1 = _mm512_loadu_si512(p + 72), flip = _mm512_set1_epi8((char)0x80);
    u.first = _mm512_xor_si512(_mm512_permutex2var_epi16(a0, _mm512_loadu_si512(q8_first), a1), flip);
    u.last = _mm512_xor_si512(_mm512_permutex2var_epi16(b0, _mm512_loadu_si512(q8_last), b1), flip);
    u.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutex2var_epi16(a0, _mm512_loadu_si512(q8_scale), a1)));
    return u;
}

FAST_INLINE struct unit unit_q4(const unsigned char *p)
{
    struct unit u;
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 8), low = _mm512_set1_epi8(15);
    __m512i n = _mm512_permutex2var_epi16(a, _mm512_loadu_si512(q4_nibble), b);
    u.first = _mm512_and_si512(n, low);
    u.last = _mm512_and_si512(_mm512_srli_epi16(n, 4), low);
    u.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi16(_mm512_loadu_si512(q4_scale), a)));
    return u;
}

/* One unit of n_w weight rows against n_x rows; shift turns minus the sum into the offset of the unsigned values. */
FAST_INLINE void unit_dot(__m512 *acc, const unsigned char *w, size_t row_bytes, const unsigned char *x, size_t xb, const int n_w,
                          const int n_x, const bool is_q4)
{
    FAST_UNROLL
    for (int o = 0; o < n_w; o++) {
        struct unit u = is_q4 ? unit_q4(w + (size_t)o * row_bytes) : unit_q8(w + (size_t)o * row_bytes);
        FAST_UNROLL
        for (int r = 0; r < n_x; r++) {
            const unsigned char *q = x + (size_t)r * xb;
            __m512i a = _mm512_slli_epi32(_mm512_load_si512(q + 128), is_q4 ? 3 : 7);
            a = _mm512_dpbusd_epi32(a, u.first, _mm512_load_si512(q));
            a = _mm512_dpbusd_epi32(a, u.last, _mm512_load_si512(q + 64));
            acc[o * n_x + r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), _mm512_mul_ps(u.scale, _mm512_load_ps(q + 192)), acc[o * n_x + r]);
        }
    }
}

FAST_INLINE void rows_quant(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, const unsigned char *x, size_t xb, uint32_t n_in,
                            const int n_w, const int n_x, const bool is_q4)
{
    const size_t block = is_q4 ? 18 : 34;
    __m512 acc[ROWS_W * ROWS_X];
    FAST_UNROLL
    for (int i = 0; i < n_w * n_x; i++)
        acc[i] = _mm512_setzero_ps();
    for (uint32_t u = 0; u < n_in / UNIT; u++, w += 4 * block, x += UNIT_BYTES) {
        FAST_UNROLL
        for (int o = 0; o < n_w; o++)                                           /* the same place of the next rows */
            for (size_t line = 0; line < 4 * block; line += 64)
                _mm_prefetch((const char *)w + (size_t)(o + n_w) * row_bytes + line, _MM_HINT_T0);
        unit_dot(acc, w, row_bytes, x, xb, n_w, n_x, is_q4);
    }
    if (n_in % UNIT) {
        unsigned char rest[ROWS_W * 4 * 34];
        memset(rest, 0, sizeof rest);
        for (int o = 0; o < n_w; o++)
            memcpy(rest + (size_t)o * 4 * block, w + (size_t)o * row_bytes, n_in % UNIT / 32 * block);
        unit_dot(acc, rest, 4 * block, x, xb, n_w, n_x, is_q4);
    }
    FAST_UNROLL
    for (int o = 0; o < n_w; o++)
        for (int r = 0; r < n_x; r++)
            y[(size_t)r * ldy + (size_t)o] = _mm512_reduce_add_ps(acc[o * n_x + r]);
}

enum kind { BF16_PAIR, BF16_WIDE, F16_WIDE, F32_WIDE };

/* Elements [k, k + step) of a row as the operand of one multiply-add; lanes at or past n are zero. */
FAST_INLINE __m512 load_float(const unsigned char *w, uint32_t k, uint32_t n, enum kind kind)
{
    if (kind == F32_WIDE)
        return _mm512_maskz_loadu_ps(avx512_mask(n - k), w + 4 * (size_t)k);
    __m256i h = _mm256_maskz_loadu_epi16(avx512_mask(n - k), w + 2 * (size_t)k);
    return kind == F16_WIDE ? _mm512_cvtph_ps(h) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

FAST_INLINE void step_float(__m512 *acc, const unsigned char *w, size_t row_bytes, const unsigned char *x, size_t xb, uint32_t k, uint32_t n_in,
                            const bool whole, const int n_w, const int n_x, enum kind kind)
{
    FAST_UNROLL
    for (int o = 0; o < n_w; o++) {
        const unsigned char *p = w + (size_t)o * row_bytes;
        if (kind == BF16_PAIR) {
            __mmask32 m = whole ? 0xffffffffu : (1u << (n_in - k)) - 1u;
            __m512i v = _mm512_maskz_loadu_epi16(m, p + 2 * (size_t)k);
            FAST_UNROLL
            for (int r = 0; r < n_x; r++)
                acc[o * n_x + r] = _mm512_dpbf16_ps(acc[o * n_x + r], (__m512bh)v,
                                                    (__m512bh)_mm512_load_si512(x + (size_t)r * xb + 2 * (size_t)k));
        } else {
            __m512 v = load_float(p, k, whole ? k + 16 : n_in, kind);
            FAST_UNROLL
            for (int r = 0; r < n_x; r++)
                acc[o * n_x + r] = _mm512_fmadd_ps(v, _mm512_load_ps(x + (size_t)r * xb + 4 * (size_t)k), acc[o * n_x + r]);
        }
    }
}

FAST_INLINE void rows_float(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, const unsigned char *x, size_t xb, uint32_t n_in,
                            const int n_w, const int n_x, enum kind kind)
{
    const uint32_t step = kind == BF16_PAIR ? 32 : 16, element = kind == F32_WIDE ? 4 : 2;
    __m512 acc[ROWS_W * ROWS_X];
    FAST_UNROLL
    for (int i = 0; i < n_w * n_x; i++)
        acc[i] = _mm512_setzero_ps();
    uint32_t k = 0;
    for (; k + step <= n_in; k += step) {
        if (k * element % 64 == 0) {
            FAST_UNROLL
            for (int o = 0; o < n_w; o++)
                _mm_prefetch((const char *)w + (size_t)(o + n_w) * row_bytes + (size_t)k * element, _MM_HINT_T0);
        }
        step_float(acc, w, row_bytes, x, xb, k, n_in, true, n_w, n_x, kind);
    }
    if (k < n_in)
        step_float(acc, w, row_bytes, x, xb, k, n_in, false, n_w, n_x, kind);
    FAST_UNROLL
    for (int o = 0; o < n_w; o++)
        for (int r = 0; r < n_x; r++)
            y[(size_t)r * ldy + (size_t)o] = _mm512_reduce_add_ps(acc[o * n_x + r]);
}

/* All weight rows in fours, then one by one; for each, all rows of x. ROWS(n_w, n_x) does one tile. */
#define SWEEP(n_w)                                                                                                                   \
    for (uint32_t r = 0; r < n_rows;) {                                                                                              \
        const unsigned char *xr = x + (size_t)r * x_bytes;                                                                           \
        float *yr = y + (size_t)r * ldy + o;                                                                                         \
        switch (n_rows - r) {                                                                                                        \
        case 1: ROWS(n_w, 1); r += 1; break;                                                                                         \
        case 2: ROWS(n_w, 2); r += 2; break;                                                                                         \
        case 3: ROWS(n_w, 3); r += 3; break;                                                                                         \
        default: ROWS(n_w, 4); r += 4; break;                                                                                        \
        }                                                                                                                            \
    }
#define GEMV(name)                                                                                                                   \
    void avx512_gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, const unsigned char *x,  \
                            size_t x_bytes, uint32_t n_rows, uint32_t n_in)                                                          \
    {                                                                                                                                \
        uint32_t o = 0;                                                                                                              \
        for (; o + ROWS_W <= n_out; o += ROWS_W, w += ROWS_W * row_bytes)                                                            \
            SWEEP(ROWS_W)                                                                                                            \
        for (; o < n_out; o++, w += row_bytes)                                                                                       \
            SWEEP(1)                                                                                                                 \
    }
#define ROWS(n_w, n_x) rows_quant(yr, ldy, w, row_bytes, xr, x_bytes, n_in, n_w, n_x, false)
GEMV(q8)
#undef ROWS
#define ROWS(n_w, n_x) rows_quant(yr, ldy, w, row_bytes, xr, x_bytes, n_in, n_w, n_x, true)
GEMV(q4)
#undef ROWS
#define ROWS(n_w, n_x) rows_float(yr, ldy, w, row_bytes, xr, x_bytes, n_in, n_w, n_x, BF16_PAIR)
GEMV(bf16)
#undef ROWS
#define ROWS(n_w, n_x) rows_float(yr, ldy, w, row_bytes, xr, x_bytes, n_in, n_w, n_x, BF16_WIDE)
GEMV(bf16_wide)
#undef ROWS
#define ROWS(n_w, n_x) rows_float(yr, ldy, w, row_bytes, xr, x_bytes, n_in, n_w, n_x, F16_WIDE)
GEMV(f16)
#undef ROWS
#define ROWS(n_w, n_x) rows_float(yr, ldy, w, row_bytes, xr, x_bytes, n_in, n_w, n_x, F32_WIDE)
GEMV(f32)
#undef ROWS
