/* gemv_avx512.c   decode: y[r, o] = sum_k x[r, k] w[o, k], with the weights as in the file, read once from memory
 *
 * Shapes     w has blocks of 32, or is bf16, f16 or f32 (super-blocks of 256: gemv_super_avx512.c). For quantised types
 *            rows of x are i8 in groups of 256 inputs (rows_avx512.c). A group has 384 bytes: for each of its two units
 *            of 128 inputs [4 blocks][first 16] i8 and [4 blocks][last 16] i8; then for each of 16 chains the scale of
 *            its block, f32, and minus the sum of its values, i32. The last group has only the units that exist, filled
 *            up with zeros
 * Order      a block of 32 is two chains: the dwords 0 and 2 of its first 16 values and of its last 16 belong to half
 *            0, the others to half 1. Half h of block q of unit u is chain 4 q + 2 h + u. The sum of a chain over a
 *            group is exact in i32, then one f32 multiply-add, group by group. The 16 chains of an output are added at
 *            the end
 * Precision  quantised: as above. bf16: vdpbf16ps. f16, f32: f32 multiply-adds
 * Minima     for w = d q + m, m is multiplied with the sums of x
 * Traffic    the weights. A group of q4_0 is 144 bytes and about 24 vector operations for one row of x, one of q8_0 272
 *            bytes and 24
 * Few rows   one weight row x 1..4 rows of x. A vector has the four dwords of four blocks; those of two units are added
 *            up to 16 chains. The matrix is read as one stream, with prefetches 4 KiB ahead. Further rows of x find the
 *            weight row in L1. From 8 rows of x on two weight rows x 8 rows of x: weights are unpacked half as often
 * Tiles      with many rows of x (fast_tiled), a tile of 16 is turned once, so that a lane has a row, and eight weight
 *            rows at a time are unpacked to bytes in L1. Each dword of weights is then multiplied with all 16 rows, and
 *            a block takes 13 operations for 16 products, of which a single row takes about 3 for one
 * Lost       bandwidth in comparison: 4 weight rows at once 0.8 to 0.9, no prefetch 0.9, overlapping loads in place of
 *            an insert 0.8 to 0.9 (Zen 5, 2 threads, mapped file). For many rows, turning 16 weight rows in place of x:
 *            0.8 of the tiles' speed, 0.6 for a vocabulary (a Xeon with VNNI, processor time beside other work)
 * Source     blocks: GGUF specification */
#include "avx512.h"

#include "engine/base/blocks.h"

enum {
    UNIT = 128,
    GROUP = 256, /* inputs */
    UNITS = GROUP / UNIT,
    BLOCKS = GROUP / 32,
    CHAINS = 16,
    UNIT_BYTES = 128,
    GROUP_BYTES = UNITS * UNIT_BYTES + 128,
    ROWS_X = 4,
    ROWS_TWO = 8,
    OUT_TWO = 16,
    AHEAD = 4096
};

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
    __m512i first, last; /* values as unsigned bytes */
};

struct numbers { /* of the 16 chains of a group; min only where the type has minima */
    __m512 scale, min;
};

struct group {
    struct unit unit[UNITS];
    struct numbers w;
};

/* The unsigned bytes of a type are the true values plus 2^shift_of(type); -1 means that nothing was added, because the
 * type has a minimum. */
FAST_INLINE int shift_of(myth_dtype type)
{
    return type == MYTH_Q8_0 || type == MYTH_IQ4_NL ? 7
         : type == MYTH_Q4_0                        ? 3
         : type == MYTH_Q5_0 || type == MYTH_MXFP4  ? 4
                                                    : -1;
}

/* ---- a group of one weight row ---- */

/* The words at `at` of the unit in a and b, which are the scales of its blocks, in the places of unit u's chains. */
FAST_INLINE __m512i unit_scales(__m512i a, __m512i b, const uint16_t at[32], int u)
{
    return _mm512_maskz_permutex2var_epi16(0x5555u << u, a, _mm512_loadu_si512(at), b);
}

/* Uses few wide loads: while a cache line is on its way from memory, each further load from it costs extra. */
FAST_INLINE struct unit unit_q8(const unsigned char *p, int u, __m512i *scale)
{
    struct unit v;
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64), flip = _mm512_set1_epi8((char)0x80);
    __m512i last = _mm512_permutex2var_epi16(a, _mm512_loadu_si512(q8_last), b);
    v.first = _mm512_xor_si512(_mm512_permutex2var_epi16(a, _mm512_loadu_si512(q8_first), b), flip);
    v.last = _mm512_xor_si512(_mm512_inserti32x4(last, _mm_loadu_si128((const void *)(p + 120)), 3), flip);
    *scale = _mm512_or_si512(*scale, unit_scales(a, b, q8_scale, u));
    return v;
}

FAST_INLINE struct unit unit_q4(const unsigned char *p, int u, __m512i *scale)
{
    struct unit v;
    __m512i a = _mm512_loadu_si512(p), low = _mm512_set1_epi8(15),
            n = _mm512_permutexvar_epi16(_mm512_loadu_si512(q4_nibble), a);
    n = _mm512_inserti32x4(n, _mm_loadu_si128((const void *)(p + 56)), 3);
    v.first = _mm512_and_si512(n, low);
    v.last = _mm512_and_si512(_mm512_srli_epi16(n, 4), low);
    *scale = _mm512_or_si512(*scale, unit_scales(a, a, q4_scale, u));
    return v;
}

/* The table of a type whose nibbles choose a value, as unsigned bytes. */
FAST_INLINE __m128i table_of(myth_dtype type)
{
    const __m128i t = _mm_loadu_si128((const void *)(type == MYTH_IQ4_NL ? myth_iq4_value : myth_fp4_twice));
    return _mm_add_epi8(t, _mm_set1_epi8((char)(type == MYTH_IQ4_NL ? 128 : 16)));
}

/* A unit of the types whose blocks end with nibbles; before them a word of fifth bits, where the type has them. */
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
        const __m512i table = _mm512_broadcast_i32x4(table_of(type));
        u.first = _mm512_shuffle_epi8(table, u.first);
        u.last = _mm512_shuffle_epi8(table, u.last);
    }
    return u;
}

/* The f16 at offset p of each block of a group, in the places of its chains. */
FAST_INLINE __m512 group_halves(const unsigned char *p, size_t block, const int n_unit)
{
    uint64_t of[4] = {0, 0, 0, 0};
    for (int u = 0; u < n_unit; u++)
        for (int q = 0; q < 4; q++) {
            uint16_t h;
            memcpy(&h, p + (size_t)(4 * u + q) * block, 2);
            of[q] |= (uint64_t)h << 16 * u | (uint64_t)h << (16 * u + 32);
        }
    return _mm512_cvtph_ps(_mm256_set_epi64x((long long)of[3], (long long)of[2], (long long)of[1], (long long)of[0]));
}

/* A type that unit_nibbles does not read: its decoder's values, 128 above the true ones, which the minima take off. */
FAST_INLINE void group_unpacked(struct group *g, const unsigned char *w, const int n_unit, myth_dtype type)
{
    float scale[CHAINS] = {0.0f}, min[CHAINS] = {0.0f};
    const __m512i flip = _mm512_set1_epi8((char)0x80), first = _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0),
                  last = _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2);
    for (int u = 0; u < n_unit; u++, w += 4 * myth_block_bytes_of(type)) {
        int8_t q[UNIT];
        float s[UNIT / 16], m[UNIT / 16];
        myth_blocks_unpack(type, q, s, m, w, UNIT);
        for (int i = 0; i < 8; i++) {
            scale[2 * i + u] = s[i / 2 * 2];
            min[2 * i + u] = -m[i / 2 * 2] - 128.0f * s[i / 2 * 2];
        }
        const __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + 64);
        g->unit[u].first = _mm512_xor_si512(_mm512_permutex2var_epi64(a, first, b), flip);
        g->unit[u].last = _mm512_xor_si512(_mm512_permutex2var_epi64(a, last, b), flip);
    }
    g->w = (struct numbers){_mm512_loadu_ps(scale), _mm512_loadu_ps(min)};
}

/* Whether unit_q8, unit_q4 or unit_nibbles reads a type. */
FAST_INLINE bool is_read(myth_dtype type) { return shift_of(type) >= 0 || type == MYTH_Q4_1 || type == MYTH_Q5_1; }

/* The first n_unit units of a group. */
FAST_INLINE void read_group(struct group *g, const unsigned char *w, const int n_unit, const myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type);
    __m512i scale = _mm512_setzero_si512();
    if (!is_read(type)) {
        group_unpacked(g, w, n_unit, type);
        return;
    }
    FAST_UNROLL
    for (int u = 0; u < n_unit; u++)
        g->unit[u] = type == MYTH_Q8_0 ? unit_q8(w + (size_t)u * 4 * block, u, &scale)
                   : type == MYTH_Q4_0 ? unit_q4(w + (size_t)u * 4 * block, u, &scale)
                                       : unit_nibbles(w + (size_t)u * 4 * block, type);
    g->w.min = _mm512_setzero_ps();
    if (type == MYTH_Q8_0 || type == MYTH_Q4_0) {
        g->w.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(scale));
    } else if (type == MYTH_MXFP4) {
        float e[CHAINS] = {0.0f};
        for (int i = 0; i < 4 * n_unit; i++)
            e[4 * (i % 4) + i / 4] = e[4 * (i % 4) + 2 + i / 4] = myth_block_exponent(w[(size_t)i * block]);
        g->w.scale = _mm512_loadu_ps(e);
    } else {
        g->w.scale = group_halves(w, block, n_unit);
        if (shift_of(type) < 0)
            g->w.min = group_halves(w + 2, block, n_unit);
    }
}

/* acc and the products of chains: a holds the sums of unsigned bytes, less what they have too much where the type has
 * no minima, and neg minus the sums of x. */
FAST_INLINE __m512 add_chains(__m512 acc, __m512i a, __m512i neg, __m512 scale, const struct numbers *w,
                              const bool has_min)
{
    if (!has_min)
        return _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), _mm512_mul_ps(w->scale, scale), acc);
    const __m512 t = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(neg), w->min, _mm512_mul_ps(_mm512_cvtepi32_ps(a), w->scale));
    return _mm512_fmadd_ps(t, scale, acc);
}

/* What the unsigned bytes of chains have too much, negative; 0 where the type has minima. */
FAST_INLINE __m512i too_much(__m512i neg, const int shift)
{
    return shift < 0 ? _mm512_setzero_si512() : _mm512_slli_epi32(neg, (unsigned)(shift < 0 ? 0 : shift));
}

/* Adds the products of the first n_unit units of a group of n_w weight rows, w_bytes apart, with n rows of x. */
FAST_INLINE void group_dot(__m512 *acc, const unsigned char *w, size_t w_bytes, const int n_w, const unsigned char *x,
                           size_t xb, const int n, const int n_unit, const myth_dtype type)
{
    struct group g[2];
    FAST_UNROLL
    for (int o = 0; o < n_w; o++)
        read_group(&g[o], w + (size_t)o * w_bytes, n_unit, type);
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const unsigned char *q = x + (size_t)r * xb, *number = q + (size_t)n_unit * UNIT_BYTES;
        const __m512i neg = _mm512_load_si512(number + 64), less = too_much(neg, shift_of(type));
        FAST_UNROLL
        for (int o = 0; o < n_w; o++) {
            __m512i a[UNITS];
            FAST_UNROLL
            for (int u = 0; u < UNITS; u++) {
                a[u] = _mm512_setzero_si512();
                if (u < n_unit) {
                    const unsigned char *at = q + (size_t)u * UNIT_BYTES;
                    a[u] = _mm512_dpbusd_epi32(a[u], g[o].unit[u].first, _mm512_load_si512(at));
                    a[u] = _mm512_dpbusd_epi32(a[u], g[o].unit[u].last, _mm512_load_si512(at + 64));
                }
            }
            acc[n_w * r + o] = add_chains(acc[n_w * r + o], _mm512_add_epi32(avx512_chains(a[0], a[1]), less), neg,
                                          _mm512_load_ps(number), &g[o].w, shift_of(type) < 0);
        }
    }
}

/* The sum of the 16 chains of an output: pairs eight apart first, then four, two and one. */
FAST_INLINE float sum_chains(__m512 v)
{
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)),
                 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}

/* n_w weight rows, row_bytes apart, with n rows of x. */
FAST_INLINE void rows_quant(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, const int n_w,
                            const unsigned char *x, size_t xb, uint32_t n_in, const int n, const myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type);
    unsigned char rest[2 * BLOCKS * 34]; /* a last group that ends inside of a unit, filled up */
    __m512 acc[2 * ROWS_TWO];
    FAST_UNROLL
    for (int i = 0; i < n_w * n; i++)
        acc[i] = _mm512_setzero_ps();
    for (uint32_t g = 0; g < n_in / GROUP; g++, w += BLOCKS * block, x += GROUP_BYTES) {
        FAST_UNROLL
        for (int o = 0; o < n_w; o++)
            for (size_t line = 0; line < BLOCKS * block; line += 64)
                _mm_prefetch((const char *)w + (size_t)o * row_bytes + AHEAD + line, _MM_HINT_T0);
        group_dot(acc, w, row_bytes, n_w, x, xb, n, UNITS, type);
    }
    const uint32_t left = n_in % GROUP;
    if (left % UNIT) {
        memset(rest, 0, sizeof rest);
        for (int o = 0; o < n_w; o++)
            memcpy(rest + (size_t)o * BLOCKS * block, w + (size_t)o * row_bytes, left / 32 * block);
        w = rest;
        row_bytes = BLOCKS
        *block;
    }
    if (left > UNIT)
        group_dot(acc, w, row_bytes, n_w, x, xb, n, UNITS, type);
    else if (left)
        group_dot(acc, w, row_bytes, n_w, x, xb, n, 1, type);
    FAST_UNROLL
    for (int i = 0; i < n_w * n; i++)
        y[(size_t)(i / n_w) * ldy + (size_t)(i % n_w)] = sum_chains(acc[i]);
}

FAST_INLINE void row_quant(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                           uint32_t n_in, const int n, const myth_dtype type)
{
    rows_quant(y, ldy, w, 0, 1, x, xb, n_in, n, type);
}

/* ---- tiles of sixteen rows of x ---- */

enum { ROWS = FAST_TILE, OUTS = 8 };

/* A group of a turned tile: dword d of the 32 bytes of each block, minus the sums of its halves, and its scale. */
struct turned {
    int32_t dword[BLOCKS][8][ROWS], neg[BLOCKS][2][ROWS];
    float scale[BLOCKS][ROWS];
};
_Static_assert(sizeof(struct turned) == 5632, "fast_tiled: bytes of a group");

static size_t tile_bytes(uint32_t n_in) { return (size_t)(n_in + GROUP - 1) / GROUP * sizeof(struct turned); }

/* Turns 16 rows of 16 dwords, x_bytes apart; the last of n rows stands in for those past it. */
FAST_INLINE void turn_dwords(__m512i to[16], const unsigned char *x, size_t x_bytes, uint32_t n)
{
    __m512i a[16], b[16];
    FAST_UNROLL
    for (uint32_t i = 0; i < 16; i++)
        a[i] = _mm512_load_si512(x + (i < n ? i : n - 1) * x_bytes);
    FAST_UNROLL
    for (int i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
    FAST_UNROLL
    for (int i = 0; i < 16; i += 4) { /* a[i + c]: dwords c of each lane of rows i .. i + 3 */
        a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
        a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
        a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
        a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
    FAST_UNROLL
    for (int c = 0; c < 4; c++) {
        const __m512i lo01 = _mm512_shuffle_i32x4(a[c], a[c + 4], 0x44),
                      hi01 = _mm512_shuffle_i32x4(a[c], a[c + 4], 0xee),
                      lo23 = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0x44),
                      hi23 = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0xee);
        to[c] = _mm512_shuffle_i32x4(lo01, lo23, 0x88);
        to[c + 4] = _mm512_shuffle_i32x4(lo01, lo23, 0xdd);
        to[c + 8] = _mm512_shuffle_i32x4(hi01, hi23, 0x88);
        to[c + 12] = _mm512_shuffle_i32x4(hi01, hi23, 0xdd);
    }
}

static void turn(void *tile, const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)
{
    struct turned *to = tile;
    for (uint32_t k = 0; k < n_in; k += GROUP, to++) {
        const uint32_t n_unit = n_in - k > UNIT ? UNITS : 1;
        __m512i v[16];
        for (uint32_t u = 0; u < n_unit; u++)
            for (uint32_t part = 0; part < 2; part++, x += 64) {
                turn_dwords(v, x, x_bytes, n_rows);
                FAST_UNROLL
                for (uint32_t i = 0; i < 16; i++)
                    _mm512_store_si512(to->dword[4 * u + i / 4][4 * part + i % 4], v[i]);
            }
        turn_dwords(v, x, x_bytes, n_rows);
        FAST_UNROLL
        for (uint32_t i = 0; i < 16; i++) /* both halves of a block have its scale */
            _mm512_store_si512(to->scale[4 * (i % 2) + i / 4], v[i]);
        turn_dwords(v, x + 64, x_bytes, n_rows);
        FAST_UNROLL
        for (uint32_t i = 0; i < 16; i++)
            _mm512_store_si512(to->neg[4 * (i % 2) + i / 4][i / 2 % 2], v[i]);
        x += 128;
    }
}

struct bytes { /* a group of eight weight rows */
    unsigned char value[OUTS][BLOCKS][32];
    float scale[BLOCKS][OUTS], min[BLOCKS][OUTS];
};

/* The 32 unsigned bytes of a block. */
FAST_INLINE __m256i block_bytes(const unsigned char *p, const myth_dtype type)
{
    const size_t at = myth_block_bytes_of(type) - 16;
    if (type == MYTH_Q8_0)
        return _mm256_xor_si256(_mm256_loadu_si256((const void *)(p + 2)), _mm256_set1_epi8((char)0x80));
    const __m128i v = _mm_loadu_si128((const void *)(p + at)), low = _mm_set1_epi8(15);
    __m256i n = _mm256_set_m128i(_mm_and_si128(_mm_srli_epi16(v, 4), low), _mm_and_si128(v, low));
    if (type == MYTH_Q5_0 || type == MYTH_Q5_1) {
        uint32_t h;
        memcpy(&h, p + at - 4, 4);
        n = _mm256_mask_add_epi8(n, h, n, _mm256_set1_epi8(16));
    }
    if (type == MYTH_IQ4_NL || type == MYTH_MXFP4)
        n = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table_of(type)), n);
    return n;
}

FAST_INLINE void rows_halves(float to[OUTS], const unsigned char *const p[OUTS], size_t at)
{
    uint16_t h[OUTS];
    for (int i = 0; i < OUTS; i++)
        memcpy(&h[i], p[i] + at, 2);
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const void *)h)));
}

FAST_INLINE void read_bytes(struct bytes *to, const unsigned char *const p[OUTS], uint32_t n_block,
                            const myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type);
    for (int i = 0; !is_read(type) && i < OUTS; i++)
        for (uint32_t b = 0; b < n_block; b++) { /* as group_unpacked */
            float s[2], m[2];
            myth_blocks_unpack(type, (int8_t *)to->value[i][b], s, m, p[i] + b * block, 32);
            for (int k = 0; k < 32; k++)
                to->value[i][b][k] ^= 0x80;
            to->scale[b][i] = s[0];
            to->min[b][i] = -m[0] - 128.0f * s[0];
        }
    if (!is_read(type))
        return;
    for (int i = 0; i < OUTS; i++)
        for (uint32_t b = 0; b < n_block; b++)
            _mm256_storeu_si256((void *)to->value[i][b], block_bytes(p[i] + b * block, type));
    for (uint32_t b = 0; b < n_block; b++) {
        if (type == MYTH_MXFP4)
            for (int i = 0; i < OUTS; i++)
                to->scale[b][i] = myth_block_exponent(p[i][b * block]);
        else
            rows_halves(to->scale[b], p, b * block);
        if (shift_of(type) < 0)
            rows_halves(to->min[b], p, b * block + 2);
    }
}

/* Adds half h of block b of a group to the chains of eight outputs, which the first group sets. */
FAST_INLINE void half_dot(__m512 (*acc)[CHAINS], const struct bytes *w, const struct turned *x, uint32_t b,
                          const uint32_t h, __mmask16 is_later, const myth_dtype type)
{
    const uint32_t chain = 4 * (b % 4) + 2 * h + b / 4;
    const __m512i neg = _mm512_load_si512(x->neg[b][h]), less = too_much(neg, shift_of(type));
    __m512i a[OUTS];
    FAST_UNROLL
    for (int i = 0; i < OUTS; i++)
        a[i] = less;
    FAST_UNROLL
    for (uint32_t d = h; d < 8; d += 2) {
        const __m512i v = _mm512_load_si512(x->dword[b][d]);
        FAST_UNROLL
        for (int i = 0; i < OUTS; i++) {
            int32_t dword;
            memcpy(&dword, w->value[i][b] + 4 * d, 4);
            a[i] = _mm512_dpbusd_epi32(a[i], _mm512_set1_epi32(dword), v);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < OUTS; i++) {
        const bool has_min = shift_of(type) < 0;
        const struct numbers of = {_mm512_set1_ps(w->scale[b][i]), _mm512_set1_ps(has_min ? w->min[b][i] : 0.0f)};
        acc[i][chain] = add_chains(_mm512_maskz_load_ps(is_later, &acc[i][chain]), a[i], neg,
                                   _mm512_load_ps(x->scale[b]), &of, has_min);
    }
}

/* Writes acc[i][0], of which lane r is output i of row r: eight outputs of a row at once, because rows are often a
 * power of two apart and then share few lines of L1. */
FAST_INLINE void store_outputs(float *y, size_t ldy, __m512 (*acc)[CHAINS], uint32_t n_rows, uint32_t n_out)
{
    _Alignas(64) float to[ROWS][OUTS];
    for (uint32_t i = 0; i < OUTS; i += 4) {
        const __m512 a = _mm512_unpacklo_ps(acc[i][0], acc[i + 1][0]), b = _mm512_unpackhi_ps(acc[i][0], acc[i + 1][0]),
                     c = _mm512_unpacklo_ps(acc[i + 2][0], acc[i + 3][0]),
                     d = _mm512_unpackhi_ps(acc[i + 2][0], acc[i + 3][0]);
        const __m512d row[4] = {
            _mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(c)),
            _mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(c)),
            _mm512_unpacklo_pd(_mm512_castps_pd(b), _mm512_castps_pd(d)),
            _mm512_unpackhi_pd(_mm512_castps_pd(b), _mm512_castps_pd(d)),
        }; /* lane l of row[r]: four outputs of row 4 l + r */
        FAST_UNROLL
        for (int r = 0; r < 4; r++) {
            const __m512 v = _mm512_castpd_ps(row[r]);
            _mm_store_ps(&to[r][i], _mm512_castps512_ps128(v));
            _mm_store_ps(&to[4 + r][i], _mm512_extractf32x4_ps(v, 1));
            _mm_store_ps(&to[8 + r][i], _mm512_extractf32x4_ps(v, 2));
            _mm_store_ps(&to[12 + r][i], _mm512_extractf32x4_ps(v, 3));
        }
    }
    const __mmask8 m = (__mmask8)avx512_mask(n_out);
    for (uint32_t r = 0; r < n_rows; r++)
        _mm256_mask_storeu_ps(y + r * ldy, m, _mm256_load_ps(to[r]));
}

/* Eight outputs of the rows of a tile; the last of n_out stands in for those past it. */
FAST_INLINE void tile_outputs(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                              const struct turned *x, uint32_t n_rows, uint32_t n_in, const myth_dtype type)
{
    const size_t block = myth_block_bytes_of(type);
    const unsigned char *p[OUTS];
    struct bytes bytes;
    __m512 acc[OUTS][CHAINS];
    for (uint32_t i = 0; i < OUTS; i++)
        p[i] = w + (i < n_out ? i : n_out - 1) * row_bytes;
    if (n_in < GROUP)
        memset(acc, 0, sizeof(acc)); /* chains of blocks that do not exist */
    for (uint32_t k = 0; k < n_in; k += GROUP, x++) {
        const uint32_t n_block = (n_in - k < GROUP ? n_in - k : GROUP) / 32;
        const __mmask16 is_later = k > 0 || n_in < GROUP ? 0xffff : 0;
        read_bytes(&bytes, p, n_block, type);
        for (uint32_t b = 0; b < n_block; b++) {
            if (b * block % 64 <
                block) /* asks for the lines of the next eight rows one by one: all at once would wait */
                fast_ask_rows(p[0] + OUTS * row_bytes + b * block, row_bytes, OUTS, 1);
            half_dot(acc, &bytes, x, b, 0, is_later, type);
            half_dot(acc, &bytes, x, b, 1, is_later, type);
        }
        for (uint32_t i = 0; i < OUTS; i++)
            p[i] += n_block * block;
    }
    for (uint32_t i = 0; i < OUTS; i++) {
        FAST_UNROLL
        for (int far = CHAINS / 2; far; far /= 2)
            for (int c = 0; c < far; c++)
                acc[i][c] = _mm512_add_ps(acc[i][c], acc[i][c + far]);
    }
    store_outputs(y, ldy, acc, n_rows, n_out);
}

#define TILE(name, type)                                                                                    \
    static void tile_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, \
                            const void *tile, uint32_t n_rows, uint32_t n_in)                               \
    {                                                                                                       \
        for (uint32_t o = 0; o < n_out; o += OUTS)                                                          \
            tile_outputs(y + o, ldy, w + o * row_bytes, row_bytes, n_out - o, tile, n_rows, n_in, type);    \
    }                                                                                                       \
    const struct fast_tiled avx512_tiled_##name = {tile_bytes, turn, tile_##name};
TILE(q8, MYTH_Q8_0)
TILE(q4, MYTH_Q4_0)
#define TILE_32(name, type) TILE(name, type)
#define TILE_256(name, type)
#define BLOCK_TILE(X, code, NAME, name, gguf, file, block, ...) TILE_##block(name, MYTH_##NAME)
MYTH_BLOCK_TYPES(BLOCK_TILE, 0)

/* ---- floats ---- */

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

/* As many rows of x as there are eights, with two weight rows at a time and 16 outputs before the next eight, so that a
 * matrix with many inputs finds its rows of x in L1; then as above. */
FAST_INLINE void gemv_quant(ARGUMENTS, const myth_dtype type)
{
    const uint32_t eights = n_rows / ROWS_TWO * ROWS_TWO, twos = eights ? n_out / 2 * 2 : 0;
    for (uint32_t o0 = 0; o0 < twos; o0 += OUT_TWO)
        for (uint32_t r = 0; r < eights; r += ROWS_TWO)
            for (uint32_t o = o0; o < o0 + OUT_TWO && o < twos; o += 2)
                rows_quant(y + (size_t)r * ldy + o, ldy, w + o * row_bytes, row_bytes, 2, x + (size_t)r * x_bytes,
                           x_bytes, n_in, ROWS_TWO, type);
    for (uint32_t o = 0; o < n_out; o++)
        for (uint32_t r = o < twos ? eights : 0; r < n_rows; r += ROWS_X)
            SOME_ROWS(row_quant, type, o, r);
}
#define GEMV_QUANT(name, type) \
    void avx512_gemv_##name(ARGUMENTS) { gemv_quant(y, ldy, w, row_bytes, n_out, x, x_bytes, n_rows, n_in, type); }
GEMV_QUANT(q8, MYTH_Q8_0)
GEMV_QUANT(q4, MYTH_Q4_0)
/* Types with blocks of 32; those of 256 are in gemv_super_avx512.c. */
#define GEMV_32(name, type) GEMV_QUANT(name, type)
#define GEMV_256(name, type)
#define BLOCK_TYPE(X, code, NAME, name, gguf, file, block, ...) GEMV_##block(name, MYTH_##NAME)
MYTH_BLOCK_TYPES(BLOCK_TYPE, 0)
GEMV(bf16, row_float, BF16_PAIR)
GEMV(bf16_wide, row_float, BF16_WIDE)
GEMV(f16, row_float, F16_WIDE)
GEMV(f32, row_float, F32_WIDE)
