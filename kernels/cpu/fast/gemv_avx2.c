/* gemv_avx2.c   decode: y[r, o] = sum_k x[r, k] w[o, k] for quantised types. The weights are read once from memory, in
 * the layout of the file
 *
 * Shapes     a row of x is cut into units of 256 inputs, 384 bytes each. First the 8 blocks of 32, in pairs: i8 [first
 *            16 of one | first 16 of the other], i8 [last 16 | last 16]. Then four f32 [8], a number per block: the
 *            scale; minus the sum of the block times the scale; the same for its first half; the same for its last
 *            half. Such numbers always lie in the order of blocks 0 2 4 6 1 3 5 7, so that a shuffle within 128-bit
 *            lanes gives each block of a pair its number. The last unit is filled up with zeros
 * Order      the 8 scales of a unit are computed once, as one vector. The weights of a pair of blocks are two registers
 *            of values that are not negative. Their products with x are added in 16 bits; each block has a 128-bit lane
 *            of its own
 * Offsets    the offset of stored values is handled like a minimum: not subtracted from the values, but multiplied, 8
 *            numbers at a time, with the 8 sums of x. Only types whose values use all bits of a byte (q8_0, iq4_nl,
 *            iq4_xs) have signs: |w| is multiplied by x with the sign of w
 * Precision  a lane of a pair exact in i32, then one f32 multiply-add per pair in order, 8 lanes added at the end
 * Traffic    the weights. Vector operations for a unit of q4_0: 58 for 144 bytes, q8_0 70 for 272, q5_0 94 for 176
 * Tiles      one weight row x 8 rows of x, or 1..4; when x has more rows, the next ones find the weight row in L1.
 *            With 8 in place of 4, 16 rows are 1.00 to 1.10 times as fast (Zen 3; q8_0, q4_0)
 * Prefetch   weights that are used once are prefetched as non-temporal, so that they do not pass through L2 and L3. On
 *            a Zen 3 decode is then 1.0 to 1.09 times as fast (medians of 7 to 10 alternating runs: q8_0, q4_0 and
 *            q4_k; 270M and 1B). With 1,024, 1,536, 2,048 or 6,144 bytes ahead the gain is smaller; with 12,288 none;
 *            without prefetches the speed is 0.8
 * Source     blocks: blocks.h, GGUF specification */
#include "avx2.h"

#include "engine/base/blocks.h"

enum {
    UNIT = 256,
    UNIT_BYTES = 384,
    SCALES = 256,
    LESS = 288,
    LESS_FIRST = 320,
    LESS_LAST = 352,
    ROWS_X = 8,
    ROWS_FEW = 4,
    AHEAD = 3072
};

/* The place of the number of block i among the 8 of a unit. */
static const unsigned char place[8] = {0, 4, 1, 5, 2, 6, 3, 7};

/* ---- rows ---- */

static size_t bytes(uint32_t n) { return (size_t)((n + UNIT - 1) / UNIT) * UNIT_BYTES; }

static void convert(void *dst, const float *x, uint32_t n)
{
    const __m256i one = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
    unsigned char *unit = dst;
    for (uint32_t k = 0; k < n; k += UNIT, x += UNIT, unit += UNIT_BYTES) {
        const uint32_t n_block = (n - k < UNIT ? n - k : UNIT) / 32;
        if (n_block < 8)
            memset(unit, 0, UNIT_BYTES);
        for (uint32_t b = 0; b < n_block; b++) {
            _Alignas(32) int8_t q[32];
            unsigned char *to = unit + 64 * (b / 2) + 16 * (b % 2);
            float *number = (float *)(void *)(unit + SCALES) + place[b];
            const float scale = avx2_quantise(q, x + 32 * b);
            memcpy(to, q, 16);
            memcpy(to + 32, q + 16, 16);
            __m256i s = _mm256_madd_epi16(_mm256_maddubs_epi16(one, avx2_load(q)), ones);
            s = _mm256_hadd_epi32(s, s);
            s = _mm256_hadd_epi32(s, s);
            const int32_t first = _mm256_extract_epi32(s, 0), last = _mm256_extract_epi32(s, 4);
            number[0] = scale;
            number[8] = -scale * (float)(first + last);
            number[16] = -scale * (float)first;
            number[24] = -scale * (float)last;
        }
    }
}

const struct fast_form avx2_form_gemv = {bytes, convert};

/* ---- weights ---- */

struct pair { /* two blocks: their first 16 values, and their last 16 */
    __m256i first, last;
};

struct numbers { /* of a unit's 8 blocks; `_last` only for types whose blocks have two scales or minima */
    __m256 scale, min, scale_last, min_last;
};

FAST_INLINE bool is_signed(const myth_dtype t) { return t == MYTH_Q8_0 || t == MYTH_IQ4_NL || t == MYTH_IQ4_XS; }
FAST_INLINE bool is_table(const myth_dtype t) { return t == MYTH_IQ4_NL || t == MYTH_IQ4_XS || t == MYTH_MXFP4; }

/* Bytes of a block, as in dtype.h, repeated here because a constant makes every offset within a unit constant. */
FAST_INLINE size_t bytes_of(const myth_dtype t)
{
    switch (t) {
    case MYTH_Q8_0: return 34;
    case MYTH_Q4_0:
    case MYTH_IQ4_NL: return 18;
    case MYTH_Q4_1: return 20;
    case MYTH_Q5_0: return 22;
    case MYTH_Q5_1: return 24;
    case MYTH_MXFP4: return 17;
    case MYTH_Q2_K: return 84;
    case MYTH_Q3_K: return 110;
    case MYTH_Q4_K: return 144;
    case MYTH_Q5_K: return 176;
    case MYTH_Q6_K: return 210;
    default: return 136; /* iq4_xs */
    }
}

/* How much larger the values that `values` gives are than the true ones. */
FAST_INLINE float offset_of(const myth_dtype t)
{
    return t == MYTH_Q4_0  ? 8.0f
         : t == MYTH_Q5_0  ? 16.0f
         : t == MYTH_MXFP4 ? 12.0f
         : t == MYTH_Q3_K  ? 4.0f
         : t == MYTH_Q6_K  ? 32.0f
                           : 0.0f;
}

FAST_INLINE __m128i load16(const unsigned char *p) { return _mm_loadu_si128((const void *)p); }
FAST_INLINE __m256i two(const unsigned char *a, const unsigned char *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(a)), load16(b), 1);
}
FAST_INLINE __m256i twice(const unsigned char *p) { return _mm256_broadcastsi128_si256(load16(p)); }
FAST_INLINE __m256i lanes(long long a, long long b) { return _mm256_setr_epi64x(a, a, b, b); }
FAST_INLINE __m256i low(__m256i v, int mask) { return _mm256_and_si256(v, _mm256_set1_epi8((char)mask)); }
FAST_INLINE __m256i high(__m256i v) { return low(_mm256_srli_epi16(v, 4), 15); }

/* Takes bit `at` of each byte of the low lane and bit `at` + step of the high lane, and moves them to bit `to`. A mask
 * of two bits takes two. */
FAST_INLINE __m256i bits(__m256i v, int at, int step, int to, int mask)
{
    if (to >= at + step)
        return low(_mm256_sllv_epi64(v, lanes(to - at, to - at - step)), mask);
    return low(_mm256_srlv_epi64(to > at ? _mm256_slli_epi16(v, 1) : v,
                                 lanes(to > at ? 0 : at - to, at + step - to + (to > at ? 1 : 0))),
               mask);
}

/* The fifth bits of two blocks of 32, moved to bit 4. Of the 4 bytes at a and at b, 0 and 1 belong to the first 16
 * values, 2 and 3 to the last 16. */
FAST_INLINE struct pair fifths(const unsigned char *a, const unsigned char *b)
{
    const __m256i v = _mm256_blend_epi32(avx2_dword(a), avx2_dword(b), 0xf0);
    const __m256i at = _mm256_setr_epi64x(0, 0x0101010101010101, 0, 0x0101010101010101),
                  bit = _mm256_set1_epi64x((long long)0x8040201008040201),
                  /* vpsignb gives 16 where the bit is set and 0 elsewhere. Byte 7 is -16, as bit 7 reads as negative */
        five = _mm256_set1_epi64x((long long)0xf010101010101010);
    struct pair s;
    s.first = _mm256_sign_epi8(five, _mm256_and_si256(_mm256_shuffle_epi8(v, at), bit));
    s.last =
        _mm256_sign_epi8(five, _mm256_and_si256(_mm256_shuffle_epi8(v, _mm256_or_si256(at, _mm256_set1_epi8(2))), bit));
    return s;
}

FAST_INLINE __m256i table_of(const myth_dtype t)
{
    if (t == MYTH_MXFP4)
        return _mm256_add_epi8(twice((const unsigned char *)myth_fp4_twice), _mm256_set1_epi8(12));
    return twice((const unsigned char *)myth_iq4_value);
}

/* The values of pair j of the unit at p: of blocks 2 j and 2 j + 1. */
FAST_INLINE struct pair values(const unsigned char *p, const int j, const myth_dtype t)
{
    const size_t block = t == MYTH_IQ4_XS ? 16 : bytes_of(t);
    const unsigned char *a = p + 2 * (size_t)j * block + (t == MYTH_IQ4_XS ? 8 : block - (t == MYTH_Q8_0 ? 32 : 16)),
                        *b = a + block;
    struct pair s;
    switch (t) {
    case MYTH_Q8_0: return (struct pair){two(a, b), two(a + 16, b + 16)};
    case MYTH_Q4_K:
    case MYTH_Q5_K: {
        const unsigned char *q = p + (t == MYTH_Q4_K ? 16 : 48) + 32 * j;
        const __m256i shift = lanes(0, 4);
        s.first = low(_mm256_srlv_epi64(twice(q), shift), 15);
        s.last = low(_mm256_srlv_epi64(twice(q + 16), shift), 15);
        if (t == MYTH_Q5_K) {
            s.first = _mm256_or_si256(s.first, bits(twice(p + 16), 2 * j, 1, 4, 16));
            s.last = _mm256_or_si256(s.last, bits(twice(p + 32), 2 * j, 1, 4, 16));
        }
        return s;
    }
    case MYTH_Q6_K: { /* pairs 0 and 1 share 64 bytes, as 2 and 3 do: low nibbles, then high ones */
        const unsigned char *q = p + 64 * (j / 2), *h = p + 128 + 32 * (j / 2);
        const __m256i u = two(q, q + 32), v = two(q + 16, q + 48);
        s.first = _mm256_or_si256(j % 2 ? high(u) : low(u, 15), bits(twice(h), 4 * (j % 2), 2, 4, 48));
        s.last = _mm256_or_si256(j % 2 ? high(v) : low(v, 15), bits(twice(h + 16), 4 * (j % 2), 2, 4, 48));
        return s;
    }
    case MYTH_Q2_K:
    case MYTH_Q3_K: {
        const unsigned char *q = p + (t == MYTH_Q2_K ? 16 : 32) + 32 * (j / 2);
        s.first = bits(twice(q), 4 * (j % 2), 2, 0, 3);
        s.last = bits(twice(q + 16), 4 * (j % 2), 2, 0, 3);
        if (t == MYTH_Q3_K) {
            s.first = _mm256_or_si256(s.first, bits(twice(p), 2 * j, 1, 2, 4));
            s.last = _mm256_or_si256(s.last, bits(twice(p + 16), 2 * j, 1, 2, 4));
        }
        return s;
    }
    default: break;
    }
    const __m256i v = two(a, b);
    s.first = low(v, 15);
    s.last = high(v);
    if (is_table(t)) {
        s.first = _mm256_shuffle_epi8(table_of(t), s.first);
        s.last = _mm256_shuffle_epi8(table_of(t), s.last);
    }
    if (t == MYTH_Q5_0 || t == MYTH_Q5_1) {
        const struct pair f = fifths(a - 4, b - 4);
        s.first = _mm256_or_si256(s.first, f.first);
        s.last = _mm256_or_si256(s.last, f.last);
    }
    return s;
}

/* The f16 at p, p + block, ...: one per block, of 8 blocks or of the first 4, in the order of a unit. */
FAST_INLINE __m256 halves(const unsigned char *p, const size_t block, const int n_pair)
{
    __m128i a = _mm_setzero_si128(), b = a;
    uint16_t h[8];
    for (int i = 0; i < 2 * n_pair; i++)
        memcpy(&h[i], p + (size_t)i * block, 2);
    a = _mm_insert_epi16(a, h[0], 0);
    b = _mm_insert_epi16(b, h[1], 0);
    a = _mm_insert_epi16(a, h[2], 1);
    b = _mm_insert_epi16(b, h[3], 1);
    if (n_pair == 4) {
        a = _mm_insert_epi16(a, h[4], 2);
        b = _mm_insert_epi16(b, h[5], 2);
        a = _mm_insert_epi16(a, h[6], 3);
        b = _mm_insert_epi16(b, h[7], 3);
    }
    return _mm256_cvtph_ps(_mm_unpacklo_epi64(a, b));
}

FAST_INLINE __m256 half_of(const unsigned char *p) { return _mm256_set1_ps(myth_block_half(p)); }

/* The 8 bytes of v, one per block, as i32 in the order of a unit. */
FAST_INLINE __m256i spread(uint64_t v)
{
    const __m128i order = _mm_set1_epi64x(0x0705030106040200);
    return _mm256_cvtepi8_epi32(_mm_shuffle_epi8(_mm_cvtsi64_si128((long long)v), order));
}

FAST_INLINE uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}
FAST_INLINE uint32_t load32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

/* The 16 bytes of v are numbers of a first half and a last half in turn, block by block. Separates them, times d. */
FAST_INLINE void in_turn(__m256 *first, __m256 *last, __m128i v, __m256 d)
{
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15);
    v = _mm_shuffle_epi8(v, order);
    *first = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(v)));
    *last = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(v, 8))));
}

FAST_INLINE struct numbers numbers_of(const unsigned char *p, const myth_dtype t, const int n_pair)
{
    const size_t block = bytes_of(t);
    const __m256 up = _mm256_set1_ps(offset_of(t));
    struct numbers s = {.min = _mm256_setzero_ps()};
    switch (t) {
    case MYTH_Q4_1:
    case MYTH_Q5_1:
        s.scale = halves(p, block, n_pair);
        s.min = _mm256_sub_ps(s.min, halves(p + 2, block, n_pair));
        return s;
    case MYTH_Q4_K:
    case MYTH_Q5_K: {
        const uint32_t u = load32(p + 4), v = load32(p + 8), w = load32(p + 12), two_bits = 0x03030303,
                       six = 0x3f3f3f3f, four = 0x0f0f0f0f;
        const uint64_t sc = (u & six) | (uint64_t)((w & four) | (u >> 6 & two_bits) << 4) << 32,
                       m = (v & six) | (uint64_t)((w >> 4 & four) | (v >> 6 & two_bits) << 4) << 32;
        s.scale = _mm256_mul_ps(half_of(p), _mm256_cvtepi32_ps(spread(sc)));
        s.min = _mm256_mul_ps(half_of(p + 2), _mm256_cvtepi32_ps(spread(m)));
        return s;
    }
    case MYTH_Q6_K: in_turn(&s.scale, &s.scale_last, load16(p + 192), half_of(p + 208)); break;
    case MYTH_Q2_K:
        in_turn(&s.scale, &s.scale_last, _mm_and_si128(load16(p), _mm_set1_epi8(15)), half_of(p + 80));
        in_turn(&s.min, &s.min_last, _mm_and_si128(_mm_srli_epi16(load16(p), 4), _mm_set1_epi8(15)), half_of(p + 82));
        return s;
    case MYTH_Q3_K: {
        const uint64_t u = load64(p + 96), v = load32(p + 104), four = 0x0f0f0f0f0f0f0f0f,
                       two_bits = 0x0303030303030303;
        const uint64_t a = (u & four) | ((v | v >> 2 << 32) & two_bits) << 4,
                       b = (u >> 4 & four) | ((v >> 4 | v >> 6 << 32) & two_bits) << 4;
        const __m128i six = _mm_set_epi64x((long long)b, (long long)a);
        in_turn(&s.scale, &s.scale_last, _mm_sub_epi8(six, _mm_set1_epi8(32)), half_of(p + 108));
        break;
    }
    case MYTH_IQ4_XS: {
        const uint64_t u = load32(p + 4), v = load32(p) >> 16;
        uint64_t six = 0;
        for (int i = 0; i < 8; i++)
            six |= ((u >> 4 * i & 15) | (v >> 2 * i & 3) << 4) << 8 * i;
        s.scale = _mm256_mul_ps(half_of(p), _mm256_cvtepi32_ps(_mm256_sub_epi32(spread(six), _mm256_set1_epi32(32))));
        return s;
    }
    case MYTH_MXFP4: {
        float e[8] = {0};
        for (int i = 0; i < 2 * n_pair; i++)
            e[place[i]] = myth_block_exponent(p[(size_t)i * block]);
        s.scale = _mm256_loadu_ps(e);
        break;
    }
    default: s.scale = halves(p, block, n_pair); break;
    }
    s.min = _mm256_mul_ps(s.scale, up);
    if (myth_block_has_half(t))
        s.min_last = _mm256_mul_ps(s.scale_last, up);
    return s;
}

/* ---- products ---- */

/* Copies number j of each 128-bit lane to the whole lane. */
FAST_INLINE __m256 number(__m256 v, const int j)
{
    return j == 0 ? _mm256_permute_ps(v, 0x00)
         : j == 1 ? _mm256_permute_ps(v, 0x55)
         : j == 2 ? _mm256_permute_ps(v, 0xaa)
                  : _mm256_permute_ps(v, 0xff);
}

FAST_INLINE __m256i load_x(const unsigned char *p) { return _mm256_load_si256((const void *)p); }
FAST_INLINE __m256 real(__m256i sums) /* adds neighbouring i16 and converts the sums */
{
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(sums, _mm256_set1_epi16(1)));
}

/* Adds the products of 2 n_pair blocks of a weight row with n rows of x to acc. */
FAST_INLINE void unit_dot(__m256 *acc, const unsigned char *w, const unsigned char *x, size_t xb, const int n,
                          const myth_dtype t, const int n_pair)
{
    const struct numbers s = numbers_of(w, t, n_pair);
    const bool has_half = myth_block_has_half(t), has_min = myth_block_has_min(t) || offset_of(t) > 0.0f;
    __m256 scale[ROWS_X], last[ROWS_X];
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const float *m = (const float *)(const void *)(x + (size_t)r * xb + SCALES);
        scale[r] = _mm256_mul_ps(s.scale, _mm256_load_ps(m));
        if (has_half)
            last[r] = _mm256_mul_ps(s.scale_last, _mm256_load_ps(m));
        if (has_min)
            acc[r] = _mm256_fmadd_ps(s.min, _mm256_load_ps(m + (has_half ? 16 : 8)), acc[r]);
        if (has_min && has_half)
            acc[r] = _mm256_fmadd_ps(s.min_last, _mm256_load_ps(m + 24), acc[r]);
    }
    FAST_UNROLL
    for (int j = 0; j < n_pair; j++) {
        const struct pair v = values(w, j, t);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            const unsigned char *q = x + (size_t)r * xb + 64 * j;
            if (is_signed(t)) {
                const __m256i ones = _mm256_set1_epi16(1);
                __m256i a = _mm256_maddubs_epi16(_mm256_abs_epi8(v.first), _mm256_sign_epi8(load_x(q), v.first)),
                        b = _mm256_maddubs_epi16(_mm256_abs_epi8(v.last), _mm256_sign_epi8(load_x(q + 32), v.last));
                a = _mm256_add_epi32(_mm256_madd_epi16(a, ones), _mm256_madd_epi16(b, ones));
                acc[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(a), number(scale[r], j), acc[r]);
                continue;
            }
            const __m256i a = _mm256_maddubs_epi16(v.first, load_x(q)),
                          b = _mm256_maddubs_epi16(v.last, load_x(q + 32));
            if (has_half) {
                acc[r] = _mm256_fmadd_ps(real(a), number(scale[r], j), acc[r]);
                acc[r] = _mm256_fmadd_ps(real(b), number(last[r], j), acc[r]);
            } else {
                acc[r] = _mm256_fmadd_ps(real(_mm256_add_epi16(a, b)), number(scale[r], j), acc[r]);
            }
        }
    }
}

/* The products of one weight row with n rows of x. `once` says that no other rows of x need the weight row after it. */
FAST_INLINE void row(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb, uint32_t n_in,
                     const int n, bool once, const myth_dtype t)
{
    const size_t step = bytes_of(t) * (myth_block_is_super(t) ? 1 : UNIT / 32);
    __m256 acc[ROWS_X];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        acc[r] = _mm256_setzero_ps();
    unsigned char rest[UNIT / 32 * 34];
    for (uint32_t k = 0; k < n_in; k += UNIT, w += step, x += UNIT_BYTES) {
        if (!myth_block_is_super(t) && n_in - k == UNIT / 2) {
            unit_dot(acc, w, x, xb, n, t, 2);
            break;
        }
        if (!myth_block_is_super(t) && n_in - k < UNIT) {
            memset(rest, 0, sizeof(rest));
            memcpy(rest, w, (n_in - k) / 32 * (step / 8));
            w = rest;
        } else if (once) {
            for (size_t line = 0; line + 16 < step; line += 64)
                _mm_prefetch((const char *)w + AHEAD + line, _MM_HINT_NTA);
        } else {
            for (size_t line = 0; line + 16 < step; line += 64)
                _mm_prefetch((const char *)w + AHEAD + line, _MM_HINT_T0);
        }
        unit_dot(acc, w, x, xb, n, t, 4);
    }
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = avx2_sum(acc[r]);
}

static uint32_t rows_at_once(uint32_t n) { return n >= ROWS_X ? ROWS_X : n > ROWS_FEW ? ROWS_FEW : n; }

/* Each weight row is used for all rows of x before the next one is read. */
#define GEMV(name, type, kernel)                                                                          \
    void avx2_gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, \
                          const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)         \
    {                                                                                                     \
        const bool once = n_rows <= ROWS_FEW;                                                             \
        for (uint32_t o = 0; o < n_out; o++, w += row_bytes)                                              \
            for (uint32_t r = 0, n; r < n_rows; r += n) {                                                 \
                const unsigned char *xr = x + (size_t)r * x_bytes;                                        \
                float *yr = y + (size_t)r * ldy + o;                                                      \
                n = rows_at_once(n_rows - r);                                                             \
                switch (n) {                                                                              \
                case 1: row(yr, ldy, w, xr, x_bytes, n_in, 1, once, MYTH_##type); break;                  \
                case 2: row(yr, ldy, w, xr, x_bytes, n_in, 2, once, MYTH_##type); break;                  \
                case 3: row(yr, ldy, w, xr, x_bytes, n_in, 3, once, MYTH_##type); break;                  \
                case ROWS_FEW: row(yr, ldy, w, xr, x_bytes, n_in, ROWS_FEW, once, MYTH_##type); break;    \
                default: row(yr, ldy, w, xr, x_bytes, n_in, ROWS_X, once, MYTH_##type); break;            \
                }                                                                                         \
            }                                                                                             \
    }
AVX2_TYPES(GEMV)
