/* gemv_avx512.c   decode: y[r, o] = sum_k x[r, k] w[o, k], weights read once from memory, as they lie in the file
 *
 * Shapes     w rows of q8_0 (34-byte blocks), q4_0 (18-byte blocks), bf16, f16, f32; x rows in the form that rows_avx512.c makes:
 *            i8 by units of 128 inputs, 256 bytes: [4 blocks][first 16] i8, [4 blocks][last 16] i8, then per lane (block = lane / 4)
 *            minus the sum of its 8 values, i32, and the scale of its block, f32; the last unit is filled up with zeros
 * Precision  quantised: a lane of a unit exact in i32, then one f32 multiply-add per unit in order, 16 lanes added at the end; bf16:
 *            vdpbf16ps; f16, f32: f32 multiply-adds
 * Traffic    the weights. A unit of q4_0 is 72 bytes and about 12 vector operations, of q8_0 136 and 12: two to four times what one core
 *            gets from memory, so up to four rows of x cost little more than one
 * Tiles      one weight row x 1..4 rows of x: the matrix is read as one stream, 4 KiB ahead of the loads. Further rows of x find it in L1
 * Lost       4 weight rows at once: 0.8 to 0.9 of the bandwidth of one; no prefetch: 0.9; overlapping loads instead of one that is put in:
 *            0.8 to 0.9 (Zen 5, 2 threads, mapped file)
 * Source     blocks: GGUF specification                                                                                              */
#include "avx512.h"

enum { UNIT = 128, UNIT_BYTES = 256, ROWS_X = 4, AHEAD = 4096 };

/* Words of a 136-byte q8_0 unit: first halves of its blocks, last halves of three of them (the fourth ends past 128 bytes), scales. */
static const uint16_t q8_first[32] = { 1,  2,  3,  4,  5,  6,  7,  8,  18, 19, 20, 21, 22, 23, 24, 25,
                                       35, 36, 37, 38, 39, 40, 41, 42, 52, 53, 54, 55, 56, 57, 58, 59 };
static const uint16_t q8_last[32] = { 9,  10, 11, 12, 13, 14, 15, 16, 26, 27, 28, 29, 30, 31, 32, 33, 43, 44, 45, 46, 47, 48, 49, 50 };
static const uint16_t q8_scale[32] = { 0, 0, 0, 0, 17, 17, 17, 17, 34, 34, 34, 34, 51, 51, 51, 51 };
/* Words of a 72-byte q4_0 unit: nibbles of three blocks (the fourth ends past 64 bytes), scales. */
static const uint16_t q4_nibble[32] = { 1,  2,  3,  4,  5,  6,  7,  8,  10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24, 25, 26 };
static const uint16_t q4_scale[32] = { 0, 0, 0, 0, 9, 9, 9, 9, 18, 18, 18, 18, 27, 27, 27, 27 };

struct unit { __m512i first, last; __m512 scale; };            /* unsigned values, the scale of each lane's block */

/* Few wide loads: while lines are on their way, every access to one costs again. */
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
    __m512i a = _mm512_loadu_si512(p), low = _mm512_set1_epi8(15), n = _mm512_permutexvar_epi16(_mm512_loadu_si512(q4_nibble), a);
    n = _mm512_inserti32x4(n, _mm_loadu_si128((const void *)(p + 56)), 3);
    u.first = _mm512_and_si512(n, low);
    u.last = _mm512_and_si512(_mm512_srli_epi16(n, 4), low);
    u.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi16(_mm512_loadu_si512(q4_scale), a)));
    return u;
}

/* One unit of a weight row against n rows; shift turns minus the sum into the offset of the unsigned values. */
FAST_INLINE void unit_dot(__m512 *acc, const unsigned char *w, const unsigned char *x, size_t xb, const int n, const bool is_q4)
{
    struct unit u = is_q4 ? unit_q4(w) : unit_q8(w);
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const unsigned char *q = x + (size_t)r * xb;
        __m512i a = _mm512_slli_epi32(_mm512_load_si512(q + 128), is_q4 ? 3 : 7);
        a = _mm512_dpbusd_epi32(a, u.first, _mm512_load_si512(q));
        a = _mm512_dpbusd_epi32(a, u.last, _mm512_load_si512(q + 64));
        acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), _mm512_mul_ps(u.scale, _mm512_load_ps(q + 192)), acc[r]);
    }
}

FAST_INLINE void row_quant(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb, uint32_t n_in, const int n,
                           const bool is_q4)
{
    const size_t block = is_q4 ? 18 : 34;
    __m512 acc[ROWS_X];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        acc[r] = _mm512_setzero_ps();
    for (uint32_t u = 0; u < n_in / UNIT; u++, w += 4 * block, x += UNIT_BYTES) {
        for (size_t line = 0; line + 8 < 4 * block; line += 64)                 /* the odd line comes with its neighbours */
            _mm_prefetch((const char *)w + AHEAD + line, _MM_HINT_T0);
        unit_dot(acc, w, x, xb, n, is_q4);
    }
    if (n_in % UNIT) {
        unsigned char rest[4 * 34];
        memset(rest, 0, sizeof rest);
        memcpy(rest, w, n_in % UNIT / 32 * block);
        unit_dot(acc, rest, x, xb, n, is_q4);
    }
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = _mm512_reduce_add_ps(acc[r]);
}

enum kind { BF16_PAIR, BF16_WIDE, F16_WIDE, F32_WIDE };

/* Elements [k, n) of a row, at most 16, widened; the other lanes are zero. */
FAST_INLINE __m512 load_float(const unsigned char *w, uint32_t k, uint32_t n, enum kind kind)
{
    if (kind == F32_WIDE)
        return _mm512_maskz_loadu_ps(avx512_mask(n - k), w + 4 * (size_t)k);
    __m256i h = _mm256_maskz_loadu_epi16(avx512_mask(n - k), w + 2 * (size_t)k);
    return kind == F16_WIDE ? _mm512_cvtph_ps(h) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* Elements [k, n) of the row, at most one step: 32 bf16 pairs, 16 of the others. */
FAST_INLINE void step_float(__m512 *acc, const unsigned char *w, const unsigned char *x, size_t xb, uint32_t k, uint32_t n, const int n_x,
                            enum kind kind)
{
    if (kind == BF16_PAIR) {
        __mmask32 m = n - k >= 32 ? 0xffffffffu : (1u << (n - k)) - 1u;
        __m512i v = _mm512_maskz_loadu_epi16(m, w + 2 * (size_t)k);
        FAST_UNROLL
        for (int r = 0; r < n_x; r++)
            acc[r] = _mm512_dpbf16_ps(acc[r], (__m512bh)v, (__m512bh)_mm512_load_si512(x + (size_t)r * xb + 2 * (size_t)k));
    } else {
        __m512 v = load_float(w, k, n, kind);
        FAST_UNROLL
        for (int r = 0; r < n_x; r++)
            acc[r] = _mm512_fmadd_ps(v, _mm512_load_ps(x + (size_t)r * xb + 4 * (size_t)k), acc[r]);
    }
}

FAST_INLINE void row_float(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb, uint32_t n_in, const int n_x,
                           enum kind kind)
{
    const uint32_t step = kind == BF16_PAIR ? 32 : 16, element = kind == F32_WIDE ? 4 : 2;
    __m512 a[ROWS_X], b[ROWS_X];                                                /* two chains: one would wait for itself */
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

/* All weight rows; for each, all rows of x. ROW(n) does n of them. */
#define GEMV(name)                                                                                                                       void avx512_gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, const unsigned char *x,                              size_t x_bytes, uint32_t n_rows, uint32_t n_in)                                                              {                                                                                                                                        for (uint32_t o = 0; o < n_out; o++, w += row_bytes)                                                                                     for (uint32_t r = 0; r < n_rows; r += ROWS_X) {                                                                                          const unsigned char *xr = x + (size_t)r * x_bytes;                                                                                   float *yr = y + (size_t)r * ldy + o;                                                                                                 switch (n_rows - r) {                                                                                                                case 1: ROW(1); break;                                                                                                               case 2: ROW(2); break;                                                                                                               case 3: ROW(3); break;                                                                                                               default: ROW(4); break;                                                                                                              }                                                                                                                                }                                                                                                                            }
#define ROW(n) row_quant(yr, ldy, w, xr, x_bytes, n_in, n, false)
GEMV(q8)
#undef ROW
#define ROW(n) row_quant(yr, ldy, w, xr, x_bytes, n_in, n, true)
GEMV(q4)
#undef ROW
#define ROW(n) row_float(yr, ldy, w, xr, x_bytes, n_in, n, BF16_PAIR)
GEMV(bf16)
#undef ROW
#define ROW(n) row_float(yr, ldy, w, xr, x_bytes, n_in, n, BF16_WIDE)
GEMV(bf16_wide)
#undef ROW
#define ROW(n) row_float(yr, ldy, w, xr, x_bytes, n_in, n, F16_WIDE)
GEMV(f16)
#undef ROW
#define ROW(n) row_float(yr, ldy, w, xr, x_bytes, n_in, n, F32_WIDE)
GEMV(f32)
#undef ROW
