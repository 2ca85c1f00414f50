/* gemm_avx512.c   prefill: c[r, o] = sum_k x[r, k] w[o, k] over panels of 32 weight rows
 *
 * Shapes     panel, per 32 inputs:  i8   [8][32][4] u8 = w + 128, then 32 f32 scales        1,152 bytes   (q8_0, q4_0)
 *                                   bf16 [16][32][2]                                         2,048 bytes   (bf16)
 *                                   f32  [32][32]  4,096 bytes  (f32, f16; bf16 without the dot)
 *            x rows: i8 [k] then k/32 f32 scales then k/32 i32 (-128 * sum of the block); bf16 [k]; f32 [k]
 *            other blocks: [8][32][4] u8, then scales [32], two rows of them where each half of a block has its own,
 *            then minima in the same way; u8 = w + 128, or w itself where there are minima, since w is not negative
 *            then. Their x rows: i8 [k]; then for each 32 inputs a scale f32, -128 times the sum of each half i32 x 2,
 *            and minus the sum times the scale f32
 * Precision  i8: the sum of a block of 32 is exact in i32, then f32 fused multiply-adds over the blocks in order. bf16:
 *            vdpbf16ps over pairs of k. f32: fused multiply-adds over k
 * Limit      the vpdpbusd peak for i8, of which scales leave 0.8: for 16 outputs a block takes 8 vpdpbusd, a multiply
 *            and a multiply-add. bf16 and f32 can reach their peak. Measured on one core of a Zen 5: 0.77 and 0.93
 * Blocks     a scale for each half of a block costs three more vector operations per 16 outputs, a minimum one more.
 *            Types with other blocks are unpacked to bytes in L1, 256 inputs of 16 rows at a time (blocks.h)
 * Tiles      6 x 32 (i8: 12 sums in i32 and 12 in f32), 12 x 32 (bf16, f32)
 * Lost       fraction of the peak with other tiles for i8: 4 x 48 0.74, 3 x 64 0.61, 8 x 16 0.68, 5 x 32 0.72.
 *            Correcting the +128 by sums of weights instead of sums of x: one more load per 16 outputs */
#include "avx512.h"

#include "engine/base/blocks.h"

enum { PANEL_I8 = 1152, PANEL_BF16 = 2048, PANEL_F32 = 4096, SCALES = 1024 };

/* ---- packing ---- */

enum kind { Q8, Q4, BF16_PAIR, BF16_WIDE, F16_WIDE, F32_WIDE };

/* The 8 dwords of the panel that come from group g of one row's block of 32 inputs. */
FAST_INLINE __m256i load_group(const unsigned char *w, int g, enum kind kind)
{
    switch (kind) {
    case Q8: return _mm256_xor_si256(_mm256_loadu_si256((const void *)(w + 2)), _mm256_set1_epi8((char)0x80));
    case Q4: {
        __m128i v = _mm_loadu_si128((const void *)(w + 2)), low = _mm_set1_epi8(15);
        __m256i n = _mm256_set_m128i(_mm_and_si128(_mm_srli_epi16(v, 4), low), _mm_and_si128(v, low));
        return _mm256_add_epi8(n, _mm256_set1_epi8(120)); /* nibble - 8 + 128 */
    }
    case BF16_PAIR: return _mm256_loadu_si256((const void *)(w + 32 * g));
    case BF16_WIDE: return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(w + 16 * g))), 16);
    case F16_WIDE: return _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const void *)(w + 16 * g))));
    default: return _mm256_loadu_si256((const void *)(w + 32 * g));
    }
}

/* Transposes 16 rows x 8 dwords to 8 x 16; row i of the result goes to dst + 128 i. */
FAST_INLINE void transpose_16x8(unsigned char *dst, const __m256i row[16])
{
    __m512i a[8], b[8];
    FAST_UNROLL
    for (int i = 0; i < 8; i++)
        a[i] = _mm512_inserti64x4(_mm512_castsi256_si512(row[i]), row[i + 8], 1);
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm512_unpacklo_epi32(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm512_unpackhi_epi32(a[2 * i], a[2 * i + 1]);
    }
    const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0), odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        int u = i / 2; /* columns 0, 1 come from unpacklo, 2, 3 from unpackhi */
        __m512i lo = i % 2 ? _mm512_unpackhi_epi64(b[u], b[u + 2]) : _mm512_unpacklo_epi64(b[u], b[u + 2]);
        __m512i hi = i % 2 ? _mm512_unpackhi_epi64(b[u + 4], b[u + 6]) : _mm512_unpacklo_epi64(b[u + 4], b[u + 6]);
        _mm512_store_si512(dst + 128 * i, _mm512_permutex2var_epi64(lo, even, hi));
        _mm512_store_si512(dst + 128 * (i + 4), _mm512_permutex2var_epi64(lo, odd, hi));
    }
}

/* Packs a block of 32 inputs of up to 32 rows. The last row stands in for rows past n_out, whose outputs are never
 * stored. */
FAST_INLINE void pack_block(unsigned char *dst, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                            enum kind kind)
{
    const int n_group = kind == Q8 || kind == Q4 ? 1 : kind == BF16_PAIR ? 2 : 4;
    for (uint32_t half = 0; half < 2; half++) {
        const unsigned char *p[16];
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t o = half * 16 + i;
            p[i] = w + (size_t)(o < n_out ? o : n_out - 1) * row_bytes;
        }
        for (int g = 0; g < n_group; g++) {
            __m256i row[16];
            FAST_UNROLL
            for (int i = 0; i < 16; i++)
                row[i] = load_group(p[i], g, kind);
            transpose_16x8(dst + 64 * half + 1024 * g, row);
        }
        if (kind == Q8 || kind == Q4) {
            uint16_t scale[16];
            for (int i = 0; i < 16; i++)
                memcpy(&scale[i], p[i], 2);
            _mm512_store_ps(dst + SCALES + 64 * half, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)scale)));
        }
    }
}

FAST_INLINE void pack(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                      uint32_t n_k, enum kind kind, const bool is_far)
{
    const size_t step = kind == Q8 || kind == Q4 ? PANEL_I8 : kind == BF16_PAIR ? PANEL_BF16 : PANEL_F32;
    const size_t block = kind == Q8 ? 34 : kind == Q4 ? 18 : kind == F32_WIDE ? 128 : 64;
    w += k0 / 32 * block;
    if (is_far)
        fast_ask_rows(w, row_bytes, n_out, FAST_AHEAD);
    for (uint32_t b = 0; b < n_k / 32; b++, panel += step, w += block) {
        if (is_far)
            fast_ask_rows(w + FAST_AHEAD, row_bytes, n_out, block);
        pack_block(panel, w, row_bytes, n_out, kind);
    }
    if (n_k % 32) { /* only types without blocks have a rest */
        unsigned char tail[FAST_PANEL * 128];
        memset(tail, 0, sizeof tail);
        for (uint32_t o = 0; o < n_out; o++)
            memcpy(tail + 128 * o, w + o * row_bytes, n_k % 32 * (block / 32));
        pack_block(panel, tail, 128, n_out, kind);
    }
}

#define PACK(name, kind)                                                                                        \
    void avx512_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k)                                                                       \
    {                                                                                                           \
        pack(panel, w, row_bytes, n_out, k0, n_k, kind, true);                                                  \
    }
PACK(q8, Q8)
PACK(q4, Q4)
PACK(bf16_pair, BF16_PAIR)
PACK(bf16_wide, BF16_WIDE)
PACK(f16, F16_WIDE)
PACK(f32, F32_WIDE)

void avx512_pair_bf16(void *panel, const unsigned char *x, size_t row_bytes, uint32_t n_out, uint32_t n_k)
{
    pack(panel, x, row_bytes, n_out, 0, n_k, BF16_PAIR, false);
}

/* ---- packing of other blocks ---- */

enum { CHUNK = MYTH_BLOCK_MAX, SUBS = MYTH_BLOCK_SUBS };

FAST_INLINE size_t blocks_panel(const bool has_half, const bool has_min)
{
    return SCALES + 128u * (has_half ? 2 : 1) * (has_min ? 2 : 1);
}

/* Packs n inputs of 16 rows into the columns 16 half .. 16 half + 15 of the panel. */
FAST_INLINE void pack_chunk(unsigned char *panel, const unsigned char *const p[16], uint32_t half, uint32_t n,
                            avx512_unpack *unpack, const bool has_half, const bool has_min)
{
    _Alignas(64) int8_t q[16][CHUNK];
    float scale[16][SUBS], min[16][SUBS];
    const __m256i flip = _mm256_set1_epi8(has_min ? 0 : (char)0x80);
    for (int i = 0; i < 16; i++)
        unpack(q[i], scale[i], min[i], p[i], n);
    for (uint32_t b = 0; b < n / 32; b++, panel += blocks_panel(has_half, has_min)) {
        __m256i row[16];
        FAST_UNROLL
        for (int i = 0; i < 16; i++)
            row[i] = _mm256_xor_si256(_mm256_load_si256((const void *)(q[i] + 32 * b)), flip);
        transpose_16x8(panel + 64 * half, row);
        float *to = (float *)(void *)(panel + SCALES) + 16 * half;
        for (int i = 0; i < 16; i++) {
            to[i] = scale[i][2 * b];
            if (has_half)
                to[32 + i] = scale[i][2 * b + 1];
            if (has_min)
                to[(has_half ? 64 : 32) + i] = min[i][2 * b];
            if (has_min && has_half)
                to[96 + i] = min[i][2 * b + 1];
        }
    }
}

FAST_INLINE void pack_blocks(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                             uint32_t k0, uint32_t n_k, avx512_unpack *unpack, myth_dtype t, const bool has_half,
                             const bool has_min)
{
    const size_t chunk = (size_t)myth_row_bytes(t, CHUNK);
    w += myth_row_bytes(t, k0);
    fast_ask_rows(w, row_bytes, n_out, chunk);
    for (uint32_t k = 0; k < n_k; k += CHUNK, w += chunk, panel += CHUNK / 32 * blocks_panel(has_half, has_min)) {
        fast_ask_rows(w + chunk, row_bytes, n_out, chunk);
        for (uint32_t half = 0; half < 2; half++) {
            const unsigned char *p[16];
            for (uint32_t i = 0; i < 16; i++) {
                uint32_t o = half * 16 + i;
                p[i] = w + (size_t)(o < n_out ? o : n_out - 1) * row_bytes;
            }
            pack_chunk(panel, p, half, n_k - k < CHUNK ? n_k - k : CHUNK, unpack, has_half, has_min);
        }
    }
}

#define PANEL(kernel, has_half, has_min)                                                                           \
    static void panel_##kernel(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                               uint32_t n_k, avx512_unpack *unpack, myth_dtype t)                                  \
    {                                                                                                              \
        pack_blocks(panel, w, row_bytes, n_out, k0, n_k, unpack, t, has_half, has_min);                            \
    }
PANEL(one, false, false)
PANEL(min, false, true)
PANEL(half, true, false)
PANEL(both, true, true)

#define BLOCK_TYPE(name, type, kernel)                                                                          \
    void avx512_unpack_##name(int8_t *restrict q, float *restrict scale, float *restrict min,                   \
                              const unsigned char *restrict p, uint32_t n)                                      \
    {                                                                                                           \
        myth_blocks_unpack(MYTH_##type, q, scale, min, p, n);                                                   \
    }                                                                                                           \
    void avx512_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k)                                                                       \
    {                                                                                                           \
        panel_##kernel(panel, w, row_bytes, n_out, k0, n_k, avx512_unpack_##name, MYTH_##type);                 \
    }
FAST_BLOCK_TYPES(BLOCK_TYPE)

/* ---- products ---- */

struct
    out { /* where a tile goes, the mask of its columns that exist, and whether c already has sums of earlier panels */
    float *c;
    size_t ldc;
    __mmask16 mask[2];
    bool add;
};

FAST_INLINE void tile_begin(__m512 *f, const struct out *t, int n) /* f is [n][2] */
{
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        f[i] = t->add ? _mm512_maskz_loadu_ps(t->mask[i % 2], t->c + (size_t)(i / 2) * t->ldc + 16 * (i % 2))
                      : _mm512_setzero_ps();
}

FAST_INLINE void tile_end(const __m512 *f, const struct out *t, int n)
{
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        _mm512_mask_storeu_ps(t->c + (size_t)(i / 2) * t->ldc + 16 * (i % 2), t->mask[i % 2], f[i]);
}

FAST_INLINE __m512i dword(const void *p) /* the dword at p, in every lane */
{
    int32_t v;
    memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
}

FAST_INLINE void tile_i8(const struct out *t, const unsigned char *p, const unsigned char *x, size_t xb, uint32_t n_in,
                         uint32_t k0, uint32_t n_k, const int n)
{
    __m512 f[12];
    tile_begin(f, t, n);
    const unsigned char *scale = x + n_in + k0 / 8, *init = scale + n_in / 8;
    x += k0;
    for (uint32_t b = 0; b < n_k / 32; b++, p += PANEL_I8, x += 32, scale += 4, init += 4) {
        __m512i a[12];
        FAST_UNROLL
        for (int r = 0; r < n; r++)
            a[2 * r] = a[2 * r + 1] = dword(init + (size_t)r * xb);
        FAST_UNROLL
        for (int k = 0; k < 8; k++) {
            __m512i w0 = _mm512_load_si512(p + 128 * k), w1 = _mm512_load_si512(p + 128 * k + 64);
            FAST_UNROLL
            for (int r = 0; r < n; r++) {
                __m512i v = dword(x + (size_t)r * xb + 4 * k);
                a[2 * r] = _mm512_dpbusd_epi32(a[2 * r], w0, v);
                a[2 * r + 1] = _mm512_dpbusd_epi32(a[2 * r + 1], w1, v);
            }
        }
        __m512 s0 = _mm512_load_ps(p + SCALES), s1 = _mm512_load_ps(p + SCALES + 64);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512 s = _mm512_castsi512_ps(dword(scale + (size_t)r * xb));
            f[2 * r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a[2 * r]), _mm512_mul_ps(s, s0), f[2 * r]);
            f[2 * r + 1] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a[2 * r + 1]), _mm512_mul_ps(s, s1), f[2 * r + 1]);
        }
    }
    tile_end(f, t, n);
}

FAST_INLINE __m512 real(const void *p) { return _mm512_castsi512_ps(dword(p)); }

/* Adds the products of a block of 32 inputs, or of its half h if has_half. ws and wm are the scales and minima of that
 * part. */
FAST_INLINE void part_blocks(__m512 *f, const unsigned char *p, const float *ws, const float *wm,
                             const unsigned char *x, const unsigned char *meta, size_t xb, const int n, const int h,
                             const bool has_half, const bool has_min)
{
    const int from = 4 * h, to = has_half ? from + 4 : 8;
    __m512i a[12];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        a[2 * r] = a[2 * r + 1] = has_min ? _mm512_setzero_si512() : dword(meta + (size_t)r * xb + 4 + 4 * h);
    FAST_UNROLL
    for (int k = from; k < to; k++) {
        __m512i w0 = _mm512_load_si512(p + 128 * k), w1 = _mm512_load_si512(p + 128 * k + 64);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512i v = dword(x + (size_t)r * xb + 4 * k);
            a[2 * r] = _mm512_dpbusd_epi32(a[2 * r], w0, v);
            a[2 * r + 1] = _mm512_dpbusd_epi32(a[2 * r + 1], w1, v);
        }
    }
    const __m512 s0 = _mm512_load_ps(ws), s1 = _mm512_load_ps(ws + 16);
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        const unsigned char *m = meta + (size_t)r * xb;
        const __m512 s = real(m);
        f[2 * r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a[2 * r]), _mm512_mul_ps(s, s0), f[2 * r]);
        f[2 * r + 1] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a[2 * r + 1]), _mm512_mul_ps(s, s1), f[2 * r + 1]);
        if (!has_min)
            continue;
        __m512 neg = real(m + 12);
        if (has_half) /* minus the sum of this half: the stored i32 / 128, times the scale */
            neg = _mm512_mul_ps(_mm512_cvtepi32_ps(dword(m + 4 + 4 * h)),
                                _mm512_mul_ps(s, _mm512_set1_ps(1.0f / 128.0f)));
        f[2 * r] = _mm512_fmadd_ps(_mm512_load_ps(wm), neg, f[2 * r]);
        f[2 * r + 1] = _mm512_fmadd_ps(_mm512_load_ps(wm + 16), neg, f[2 * r + 1]);
    }
}

/* A tile of types whose blocks have two scales or minima ("other blocks" at the head of the file). */
FAST_INLINE void tile_blocks(const struct out *t, const unsigned char *p, const unsigned char *x, size_t xb,
                             uint32_t n_in, uint32_t k0, uint32_t n_k, const int n, const bool has_half,
                             const bool has_min)
{
    __m512 f[12];
    tile_begin(f, t, n);
    const unsigned char *meta = x + n_in + k0 / 2;
    x += k0;
    for (uint32_t b = 0; b < n_k / 32; b++, p += blocks_panel(has_half, has_min), x += 32, meta += 16) {
        const float *ws = (const float *)(const void *)(p + SCALES), *wm = ws + (has_half ? 64 : 32);
        part_blocks(f, p, ws, wm, x, meta, xb, n, 0, has_half, has_min);
        if (has_half)
            part_blocks(f, p, ws + 32, wm + 32, x, meta, xb, n, 1, has_half, has_min);
    }
    tile_end(f, t, n);
}

FAST_INLINE void tile_bf16(const struct out *t, const unsigned char *p, const unsigned char *x, size_t xb, uint32_t k0,
                           uint32_t n_k, const int n)
{
    __m512 f[24];
    tile_begin(f, t, n);
    x += 2 * (size_t)k0;
    for (uint32_t k = 0; k < (n_k + 31) / 32 * 16; k++, p += 128, x += 4) {
        __m512bh w0 = (__m512bh)_mm512_load_si512(p), w1 = (__m512bh)_mm512_load_si512(p + 64);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512bh v = (__m512bh)dword(x + (size_t)r * xb);
            f[2 * r] = _mm512_dpbf16_ps(f[2 * r], w0, v);
            f[2 * r + 1] = _mm512_dpbf16_ps(f[2 * r + 1], w1, v);
        }
    }
    tile_end(f, t, n);
}

FAST_INLINE void tile_f32(const struct out *t, const unsigned char *p, const unsigned char *x, size_t xb, uint32_t k0,
                          uint32_t n_k, const int n)
{
    __m512 f[24];
    tile_begin(f, t, n);
    x += 4 * (size_t)k0;
    for (uint32_t k = 0; k < (n_k + 31) / 32 * 32; k++, p += 128, x += 4) {
        __m512 w0 = _mm512_load_ps(p), w1 = _mm512_load_ps(p + 64);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            __m512 v = _mm512_castsi512_ps(dword(x + (size_t)r * xb));
            f[2 * r] = _mm512_fmadd_ps(w0, v, f[2 * r]);
            f[2 * r + 1] = _mm512_fmadd_ps(w1, v, f[2 * r + 1]);
        }
    }
    tile_end(f, t, n);
}

/* The gemm functions multiply whole tiles first, then the remaining rows in one shorter tile. TILE(n) multiplies the n
 * rows at x into t.c; NEXT(n) moves past them. */
#define REST(n)  \
    case n:      \
        TILE(n); \
        break;
#define OUT(c_, ldc_, n_out_, k0_) \
    struct out t = {(c_), (ldc_), {avx512_mask(n_out_), avx512_mask((n_out_) < 16 ? 0 : (n_out_)-16)}, (k0_) > 0}
#define NEXT(n) t.c += (n)*t.ldc, x += (n)*x_bytes, n_rows -= (n)

void avx512_gemm_i8(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                    uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    OUT(c, ldc, n_out, k0);
#define TILE(n) tile_i8(&t, panel, x, x_bytes, n_in, k0, n_k, n)
    while (n_rows >= 6) {
        TILE(6);
        NEXT(6);
    }
    switch (n_rows) {
        REST(1)
        REST(2)
        REST(3)
        REST(4)
        REST(5)
    }
#undef TILE
}

#define GEMM_BLOCKS(kernel)                                                                                    \
    void avx512_gemm_##kernel(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, \
                              size_t x_bytes, uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)       \
    {                                                                                                          \
        OUT(c, ldc, n_out, k0);                                                                                \
        while (n_rows >= 6) {                                                                                  \
            TILE(6);                                                                                           \
            NEXT(6);                                                                                           \
        }                                                                                                      \
        switch (n_rows) {                                                                                      \
            REST(1)                                                                                            \
            REST(2)                                                                                            \
            REST(3)                                                                                            \
            REST(4)                                                                                            \
            REST(5)                                                                                            \
        }                                                                                                      \
    }
#define TILE(n) tile_blocks(&t, panel, x, x_bytes, n_in, k0, n_k, n, false, true)
GEMM_BLOCKS(min)
#undef TILE
#define TILE(n) tile_blocks(&t, panel, x, x_bytes, n_in, k0, n_k, n, true, false)
GEMM_BLOCKS(half)
#undef TILE
#define TILE(n) tile_blocks(&t, panel, x, x_bytes, n_in, k0, n_k, n, true, true)
GEMM_BLOCKS(both)
#undef TILE

void avx512_gemm_bf16(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                      uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    (void)n_in;
    OUT(c, ldc, n_out, k0);
#define TILE(n) tile_bf16(&t, panel, x, x_bytes, k0, n_k, n)
    while (n_rows >= 12) {
        TILE(12);
        NEXT(12);
    }
    while (n_rows >= 4) {
        TILE(4);
        NEXT(4);
    }
    switch (n_rows) {
        REST(1)
        REST(2)
        REST(3)
    }
#undef TILE
}

void avx512_gemm_f32(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                     uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    (void)n_in;
    OUT(c, ldc, n_out, k0);
#define TILE(n) tile_f32(&t, panel, x, x_bytes, k0, n_k, n)
    while (n_rows >= 12) {
        TILE(12);
        NEXT(12);
    }
    while (n_rows >= 4) {
        TILE(4);
        NEXT(4);
    }
    switch (n_rows) {
        REST(1)
        REST(2)
        REST(3)
    }
#undef TILE
}
