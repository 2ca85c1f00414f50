/* attn_avx512.c   adds one block of 64 keys to the rows of a tile:
 *
 *   s = cap(q k), m' = max(m, s), w = e^(s - m'), l = l e^(m - m') + sum w, o = o e^(m - m') + sum w v
 *
 * Shapes     prefill: up to 64 rows (tokens x heads of a kv head). Keys are converted and transposed to f32
 *            [head_dim][64] once for all of them, values to f32 [64][head_dim]. Decode: a few rows; keys and values are
 *            converted in registers
 * Precision  f32 throughout; converting a cache type is exact
 * Order      a score is one chain of operations over head_dim, an output one chain over keys. The chains of a row do
 *            not depend on the other rows of the tile. Keys that no row sees are skipped; masked keys get weight 0
 * Limit      multiply-adds: tiles of 6 rows x 64 from L1, 64 dimensions at a time (16 KiB of keys or values). By
 *            calculation, not measurement, unpacking costs a tenth of the products of a full tile */
#include "avx512.h"
#include <math.h>

enum { BLOCK = CPU_ATTN_BLOCK, SLAB = 64 };

/* Loads elements d .. d + 15 of a cached row. */
FAST_INLINE __m512 load16(const unsigned char *row, uint32_t d, const myth_dtype t)
{
    if (t == MYTH_F32)
        return _mm512_loadu_ps(row + 4 * (size_t)d);
    if (t == MYTH_F16)
        return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(row + 2 * (size_t)d)));
    if (t == MYTH_BF16)
        return _mm512_castsi512_ps(
            _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(row + 2 * (size_t)d))), 16));
    const unsigned char *p = row + d / 32 * 34;
    uint16_t h;
    memcpy(&h, p, 2);
    __m512 v = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(p + 2 + d % 32))));
    return _mm512_mul_ps(v, _mm512_set1_ps(_cvtsh_ss(h)));
}

FAST_INLINE void transpose_16x16(__m512 r[16])
{
    __m512i a[16], b[16];
    FAST_UNROLL
    for (int i = 0; i < 8; i++) {
        a[2 * i] = _mm512_unpacklo_epi32((__m512i)r[2 * i], (__m512i)r[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi32((__m512i)r[2 * i], (__m512i)r[2 * i + 1]);
    }
    FAST_UNROLL
    for (int i = 0; i < 4; i++) { /* b[4 i + c]: column c of every lane, rows 4 i.. */
        b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    FAST_UNROLL
    for (int c = 0; c < 4; c++) {
        __m512i x = _mm512_shuffle_i32x4(b[c], b[4 + c], 0x88), y = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0x88);
        __m512i u = _mm512_shuffle_i32x4(b[c], b[4 + c], 0xdd), v = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0xdd);
        r[c] = (__m512)_mm512_shuffle_i32x4(x, y, 0x88);
        r[8 + c] = (__m512)_mm512_shuffle_i32x4(x, y, 0xdd);
        r[4 + c] = (__m512)_mm512_shuffle_i32x4(u, v, 0x88);
        r[12 + c] = (__m512)_mm512_shuffle_i32x4(u, v, 0xdd);
    }
}

FAST_INLINE void pack_keys(float *panel, const struct fast_attn_block *b, uint32_t hd, const myth_dtype t)
{
    for (uint32_t g = 0; g < BLOCK; g += 16)
        for (uint32_t d = 0; d < hd; d += 16) {
            __m512 r[16];
            FAST_UNROLL
            for (int i = 0; i < 16; i++)
                r[i] = b->k[g + i] ? load16(b->k[g + i], d, t) : _mm512_setzero_ps();
            transpose_16x16(r);
            FAST_UNROLL
            for (int i = 0; i < 16; i++)
                _mm512_store_ps(panel + (size_t)(d + i) * BLOCK + g, r[i]);
        }
}

FAST_INLINE void pack_values(float *panel, const struct fast_attn_block *b, uint32_t hd, uint32_t from, uint32_t to,
                             const myth_dtype t)
{
    for (uint32_t i = from; i < to; i++)
        for (uint32_t d = 0; d < hd; d += 16)
            _mm512_store_ps(panel + (size_t)i * hd + d, load16(b->v[i], d, t));
}

/* The keys [*from, *to) of the block are those that exist and that some row of the tile may see. */
static void reach(const struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t *from, uint32_t *to)
{
    uint32_t first = 0, end = BLOCK;
    while (first < end && !b->k[first])
        first++;
    while (end > first && !b->k[end - 1])
        end--;
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (uint32_t i = 0; i < t->n_q; i++) {
        low = t->first[i] < low ? t->first[i] : low;
        high = t->last[i] > high ? t->last[i] : high;
    }
    if (low > b->j0 + (int32_t)first)
        first = (uint32_t)(low - b->j0);
    if (high < b->j0 + (int32_t)end - 1)
        end = high < b->j0 ? 0 : (uint32_t)(high - b->j0 + 1);
    *from = first;
    *to = end > first ? end : first;
}

/* Turns the row's scores in s into weights, and updates the row's m, l and fade. */
static void weigh(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row)
{
    float *s = t->s + (size_t)row * BLOCK;
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512 none = _mm512_set1_ps(-INFINITY);
    const __m512i first = _mm512_set1_epi32(t->first[row]), last = _mm512_set1_epi32(t->last[row]);
    __m512 v[4], top = none;
    __mmask16 on[4];
    for (int i = 0; i < 4; i++) {
        __m512i j = _mm512_add_epi32(lane, _mm512_set1_epi32(b->j0 + 16 * i));
        on[i] = _mm512_cmple_epi32_mask(j, last) & _mm512_cmpge_epi32_mask(j, first);
        on[i] &= (__mmask16) ~(b->gone >> 16 * i);
        v[i] = _mm512_load_ps(s + 16 * i);
        if (t->softcap > 0.0f)
            v[i] = _mm512_mul_ps(_mm512_set1_ps(t->softcap),
                                 avx512_tanh(_mm512_mul_ps(v[i], _mm512_set1_ps(1.0f / t->softcap))));
        v[i] = _mm512_mask_mov_ps(none, on[i], v[i]);
        top = _mm512_max_ps(v[i], top); /* of NaN and top, top */
    }
    float before = t->m[row], most = _mm512_reduce_max_ps(top);
    most = most > before ? most : before;
    if (!(on[0] | on[1] | on[2] | on[3])) { /* the row sees no key of the block */
        for (int i = 0; i < 4; i++)
            _mm512_store_ps(s + 16 * i, _mm512_setzero_ps());
        t->fade[row] = 1.0f;
        return;
    }
    __m512 sum = _mm512_setzero_ps(), m = _mm512_set1_ps(most);
    for (int i = 0; i < 4; i++) {
        v[i] = _mm512_maskz_mov_ps(on[i], avx512_exp(_mm512_sub_ps(v[i], m)));
        _mm512_store_ps(s + 16 * i, v[i]);
        sum = _mm512_add_ps(sum, v[i]);
    }
    t->fade[row] = _mm512_cvtss_f32(avx512_exp(_mm512_sub_ps(_mm512_set1_ps(before), m)));
    t->l[row] = t->l[row] * t->fade[row] + _mm512_reduce_add_ps(sum);
    t->m[row] = most;
}

/* ---- prefill ---- */

/* Scores of n rows over nd dimensions: s[n][64] = q[n][d0 .. d0 + nd) panel[d][64] if d0 is 0, else this is added. */
FAST_INLINE void score_tile(struct fast_attn_tile *t, uint32_t row, uint32_t d0, uint32_t nd, const int n)
{
    __m512 f[24];
    float *s = t->s + (size_t)row * BLOCK;
    FAST_UNROLL
    for (int i = 0; i < 4 * n; i++)
        f[i] = d0 ? _mm512_load_ps(s + 16 * i) : _mm512_setzero_ps();
    const float *k = t->panel + (size_t)d0 * BLOCK, *const *q = t->q + row;
    for (uint32_t d = d0; d < d0 + nd; d++, k += BLOCK) {
        __m512 k0 = _mm512_load_ps(k), k1 = _mm512_load_ps(k + 16), k2 = _mm512_load_ps(k + 32),
               k3 = _mm512_load_ps(k + 48);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512 x = _mm512_set1_ps(q[r][d]);
            f[4 * r] = _mm512_fmadd_ps(k0, x, f[4 * r]);
            f[4 * r + 1] = _mm512_fmadd_ps(k1, x, f[4 * r + 1]);
            f[4 * r + 2] = _mm512_fmadd_ps(k2, x, f[4 * r + 2]);
            f[4 * r + 3] = _mm512_fmadd_ps(k3, x, f[4 * r + 3]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < 4 * n; i++)
        _mm512_store_ps(s + 16 * i, f[i]);
}

/* Adds weighted values of n rows and 16 w dimensions: o[n][d .. d + 16 w) = o[n] fade[n] + sum over j in [from, to) of
 * s[n][j] panel[j][d .. d + 16 w) */
FAST_INLINE void value_tile(struct fast_attn_tile *t, uint32_t row, uint32_t d, uint32_t from, uint32_t to, const int n,
                            const int w)
{
    __m512 f[24];
    const size_t hd = t->head_dim;
    float *o = t->o + row * hd + d;
    const float *s = t->s + (size_t)row * BLOCK, *v = t->panel + from * hd + d;
    FAST_UNROLL
    for (int i = 0; i < w * n; i++)
        f[i] = _mm512_mul_ps(_mm512_loadu_ps(o + (size_t)(i / w) * hd + 16 * (i % w)),
                             _mm512_set1_ps(t->fade[row + (uint32_t)(i / w)]));
    for (uint32_t j = from; j < to; j++, v += hd) {
        __m512 x[4];
        FAST_UNROLL
        for (int c = 0; c < w; c++)
            x[c] = _mm512_loadu_ps(v + 16 * c);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512 p = _mm512_set1_ps(s[r * BLOCK + j]);
            FAST_UNROLL
            for (int c = 0; c < w; c++)
                f[w * r + c] = _mm512_fmadd_ps(x[c], p, f[w * r + c]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < w * n; i++)
        _mm512_storeu_ps(o + (size_t)(i / w) * hd + 16 * (i % w), f[i]);
}

#define SWEEP(TILE)                         \
    do {                                    \
        uint32_t row = 0;                   \
        for (; row + 6 <= t->n_q; row += 6) \
            TILE(6);                        \
        switch (t->n_q - row) {             \
        case 1: TILE(1); break;             \
        case 2: TILE(2); break;             \
        case 3: TILE(3); break;             \
        case 4: TILE(4); break;             \
        case 5: TILE(5); break;             \
        }                                   \
    } while (0)

static void scores(struct fast_attn_tile *t)
{
    for (uint32_t d0 = 0; d0 < t->head_dim; d0 += SLAB) {
        uint32_t nd = t->head_dim - d0 < SLAB ? t->head_dim - d0 : SLAB;
#define TILE(n) score_tile(t, row, d0, nd, n)
        SWEEP(TILE);
#undef TILE
    }
}

static void values(struct fast_attn_tile *t, uint32_t from, uint32_t to)
{
    uint32_t d = 0;
    for (; d + SLAB <= t->head_dim; d += SLAB) {
#define TILE(n) value_tile(t, row, d, from, to, n, 4)
        SWEEP(TILE);
#undef TILE
    }
    for (; d < t->head_dim; d += 16) {
#define TILE(n) value_tile(t, row, d, from, to, n, 1)
        SWEEP(TILE);
#undef TILE
    }
}

#define BY_TYPE(type, call)                 \
    switch (type) {                         \
    case MYTH_F32: call(MYTH_F32); break;   \
    case MYTH_F16: call(MYTH_F16); break;   \
    case MYTH_BF16: call(MYTH_BF16); break; \
    default: call(MYTH_Q8_0); break;        \
    }

void avx512_attn_block(struct fast_attn_tile *t, const struct fast_attn_block *b)
{
    uint32_t from, to;
    reach(t, b, &from, &to);
    if (from == to)
        return;
#define CALL(type) pack_keys(t->panel, b, t->head_dim, type)
    BY_TYPE(b->k_type, CALL)
#undef CALL
    scores(t);
    for (uint32_t i = 0; i < t->n_q; i++)
        weigh(t, b, i);
#define CALL(type) pack_values(t->panel, b, t->head_dim, from, to, type)
    BY_TYPE(b->v_type, CALL)
#undef CALL
    values(t, from, to);
}

/* ---- decode ---- */

/* s[r][j] for n rows and the keys j..j + 3. A key that does not exist is replaced by key `any`; its score is masked
 * later. */
FAST_INLINE void score_few(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row, uint32_t j,
                           uint32_t any, const int n, const myth_dtype type)
{
    __m512 f[16];
    const unsigned char *k[4];
    for (uint32_t i = 0; i < 4; i++)
        k[i] = b->k[j + i] ? b->k[j + i] : b->k[any];
    FAST_UNROLL
    for (int i = 0; i < 4 * n; i++)
        f[i] = _mm512_setzero_ps();
    for (uint32_t d = 0; d < t->head_dim; d += 16) {
        __m512 x[4];
        FAST_UNROLL
        for (int i = 0; i < 4; i++)
            x[i] = load16(k[i], d, type);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512 q = _mm512_loadu_ps(t->q[row + (uint32_t)r] + d);
            FAST_UNROLL
            for (int i = 0; i < 4; i++)
                f[4 * r + i] = _mm512_fmadd_ps(x[i], q, f[4 * r + i]);
        }
    }
    FAST_UNROLL
    for (int r = 0; r < n; r++) { /* adds the 16 lanes of four sums at once */
        __m256 h[4];
        FAST_UNROLL
        for (int i = 0; i < 4; i++)
            h[i] = _mm256_add_ps(_mm512_castps512_ps256(f[4 * r + i]), _mm512_extractf32x8_ps(f[4 * r + i], 1));
        __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(h[0], h[1]), _mm256_hadd_ps(h[2], h[3]));
        _mm_store_ps(t->s + (row + (size_t)r) * BLOCK + j,
                     _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
    }
}

FAST_INLINE void value_few(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row, uint32_t d,
                           uint32_t from, uint32_t to, const int n, const int w, const myth_dtype type)
{
    __m512 f[16];
    const size_t hd = t->head_dim;
    float *o = t->o + row * hd + d;
    const float *s = t->s + (size_t)row * BLOCK;
    FAST_UNROLL
    for (int i = 0; i < w * n; i++)
        f[i] = _mm512_mul_ps(_mm512_loadu_ps(o + (size_t)(i / w) * hd + 16 * (i % w)),
                             _mm512_set1_ps(t->fade[row + (uint32_t)(i / w)]));
    for (uint32_t j = from; j < to; j++) {
        __m512 x[4];
        FAST_UNROLL
        for (int c = 0; c < w; c++)
            x[c] = load16(b->v[j], d + 16 * (uint32_t)c, type);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512 p = _mm512_set1_ps(s[r * BLOCK + j]);
            FAST_UNROLL
            for (int c = 0; c < w; c++)
                f[w * r + c] = _mm512_fmadd_ps(x[c], p, f[w * r + c]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < w * n; i++)
        _mm512_storeu_ps(o + (size_t)(i / w) * hd + 16 * (i % w), f[i]);
}

FAST_INLINE void scores_few(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row, uint32_t from,
                            uint32_t to, const int n, const myth_dtype type)
{
    for (uint32_t j = from / 4 * 4; j < to; j += 4)
        score_few(t, b, row, j, from, n, type);
}

FAST_INLINE void values_few(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row, uint32_t from,
                            uint32_t to, const int n, const myth_dtype type)
{
    uint32_t d = 0;
    for (; d + SLAB <= t->head_dim; d += SLAB)
        value_few(t, b, row, d, from, to, n, 4, type);
    for (; d < t->head_dim; d += 16)
        value_few(t, b, row, d, from, to, n, 1, type);
}

/* Takes four rows at a time; DO(n, type) computes rows row..row + n - 1. */
#define BY_ROWS(type)                       \
    for (uint32_t row = 0; row < t->n_q;) { \
        switch (t->n_q - row) {             \
        case 1:                             \
            DO(1, type);                    \
            row += 1;                       \
            break;                          \
        case 2:                             \
            DO(2, type);                    \
            row += 2;                       \
            break;                          \
        case 3:                             \
            DO(3, type);                    \
            row += 3;                       \
            break;                          \
        default:                            \
            DO(4, type);                    \
            row += 4;                       \
            break;                          \
        }                                   \
    }

void avx512_attn_block_few(struct fast_attn_tile *t, const struct fast_attn_block *b)
{
    uint32_t from, to;
    reach(t, b, &from, &to);
    if (from == to)
        return;
    memset(t->s, 0, (size_t)t->n_q * BLOCK * sizeof(float));
#define DO(n, type) scores_few(t, b, row, from, to, n, type)
    BY_TYPE(b->k_type, BY_ROWS)
#undef DO
    for (uint32_t i = 0; i < t->n_q; i++)
        weigh(t, b, i);
#define DO(n, type) values_few(t, b, row, from, to, n, type)
    BY_TYPE(b->v_type, BY_ROWS)
#undef DO
}
