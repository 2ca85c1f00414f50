/* gemm_avx2.c   prefill: c[r, o] = sum_k x[r, k] w[o, k] over panels of 32 weight rows of any quantised type
 *
 * Shapes     panel, per 32 inputs: [8][32][4] u8 = w + offset, then rows of 32 f32: the scales, the scales of the
 *            second half of each block for types that have two, then the minima (one row or two) for types that have
 *            them. `byte`: [8][32][4] u8 = |w|, then the same shape with 255 where w < 0 and 0 elsewhere, then 32 f32
 *            scales, then 32 i32, each the sum of |w| over the negative w of its output.
 *            x rows, 64 bytes per 32 inputs: i8 [32]; f32 scale; i32 minus the sum of the 32; i32 [2] minus the sum of
 *            each half; f32 [2] the same times the scale; f32 the sum of these two; four unused bytes
 * Kernels    vpmaddubsw adds two products into 16 bits. The kernels differ in how many such sums can be added in 16
 *            bits before one vpmaddwd must widen them to 32: all 8 of a block for 4-bit weights (`four`), 4 for 5 bits
 *            (`five`), 2 for 6 bits (`six`), none for 8 (`byte`). `byte` multiplies |w| by x with the sign of w. It
 *            negates x as (x ^ -1) + 1: the kernel does the xor, and the + 1 adds |w|, which packing has summed
 * Names      _min: the type has minima; _half: a scale for each half of a block; _both: a scale and a minimum for each
 * Precision  each block of 32 (or half) exact in i32, then f32 fused multiply-adds over the blocks in order
 * Limit      vector operations for 32 inputs of 8 outputs, without loads and without the shift that 16 outputs share,
 *            and how many of them multiply (vpmaddubsw, vpmaddwd, vmulps, vfmadd): four 20 and 11, five 21 and 12,
 *            six_half 26 and 16, byte 35 and 18. A minimum takes the place of the offset: as many, one more multiplies.
 *            The peak of machine_limits.c counts 24, three for each vpmaddubsw
 * Tiles      ROWS x 16: the sums in i16 or i32 are in registers, those in f32 stay in L1. Measured on a Xeon, where a
 *            multiplication and an addition are two operations, operations a cycle: four 66, five 62, six 47, byte 42
 *            (that peak is 42.7)
 * Groups     GROUP_ROWS rows pass over PART_BYTES of the panel at a time, and both stay in L1. Without this every tile
 *            reads the whole panel from L2 (83 KB for `byte` at 1,152 inputs). The gain on a Zen 3 is a factor of 1.09
 *            for `byte` and none for 4 bits
 * Lost       speed relative to this file: tiles of 3 x 16, 5 x 16, 6 x 16: 0.93 to 1.0; signs by vpsignb, which needs
 *            the ports that multiply: 0.85 (byte); prefetching the rows of the next tile: 1.0; groups and parts in the
 *            float kernels of vec8_gemm.h: 1.0
 * Source     blocks: blocks.h */
#include "avx2.h"

#include "engine/base/blocks.h"

enum { RECORD = 64, SCALE = 32, NEG = 36, NEG_HALF = 40, LESS_HALF = 48, LESS = 56 };
enum { WORDS = 1024, ROWS = 4, CHUNK = MYTH_BLOCK_MAX, SUBS = MYTH_BLOCK_SUBS };
/* The sums of GROUP_ROWS rows (6 KiB) and PART_BYTES of the panel fit L1 together. */
enum { GROUP_ROWS = 48, PART_BYTES = 16384 };

/* ---- rows ---- */

/* The bits of magnitudes compare as the magnitudes do, NaN above all. */
float avx2_quantise(int8_t *q, const float *x)
{
    const __m256i plain = _mm256_set1_epi32(0x7fffffff);
    __m256i m = _mm256_setzero_si256();
    __m256 v[4];
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_loadu_ps(x + 8 * i);
        m = _mm256_max_epi32(m, _mm256_and_si256(_mm256_castps_si256(v[i]), plain));
    }
    __m128i a = _mm_max_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    a = _mm_max_epi32(a, _mm_unpackhi_epi64(a, a));
    a = _mm_max_epi32(a, _mm_shuffle_epi32(a, 1));
    const float scale = _mm_cvtss_f32(_mm_castsi128_ps(a)) / 127.0f;
    const __m256 inv = _mm256_set1_ps(scale > 0.0f ? 1.0f / scale : 0.0f), top = _mm256_set1_ps(127.0f),
                 bottom = _mm256_set1_ps(-127.0f);
    __m256i w[4];
    FAST_UNROLL
    for (int i = 0; i < 4; i++)
        w[i] = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(_mm256_mul_ps(v[i], inv), bottom), top));
    __m256i all = _mm256_packs_epi16(_mm256_packs_epi32(w[0], w[1]), _mm256_packs_epi32(w[2], w[3]));
    _mm256_storeu_si256((void *)q, _mm256_permutevar8x32_epi32(all, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    return scale;
}

static size_t bytes(uint32_t n) { return (size_t)(n / 32) * RECORD; }

static void convert(void *dst, const float *x, uint32_t n)
{
    const __m256i one = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
    unsigned char *p = dst;
    for (uint32_t k = 0; k < n; k += 32, p += RECORD) {
        const float scale = avx2_quantise((int8_t *)p, x + k);
        __m256i s = _mm256_madd_epi16(_mm256_maddubs_epi16(one, avx2_load(p)), ones);
        s = _mm256_hadd_epi32(s, s);
        s = _mm256_hadd_epi32(s, s);
        const int32_t sum[2] = {_mm256_extract_epi32(s, 0), _mm256_extract_epi32(s, 4)};
        const int32_t neg[3] = {-(sum[0] + sum[1]), -sum[0], -sum[1]};
        const float less[2] = {-scale * (float)sum[0], -scale * (float)sum[1]}, both = less[0] + less[1];
        memcpy(p + SCALE, &scale, 4);
        memcpy(p + NEG, neg, 12);
        memcpy(p + LESS_HALF, less, 8);
        memcpy(p + LESS, &both, 4);
        memset(p + LESS + 4, 0, 4);
    }
}

const struct fast_form avx2_form_gemm = {bytes, convert};

/* ---- packing ---- */

/* What the panel of a kernel holds: see Shapes. */
struct layout {
    bool is_byte, has_half, has_min;
};

FAST_INLINE size_t panel_bytes(const struct layout l)
{
    return l.is_byte ? 2u * WORDS + 256 : WORDS + 128u * (l.has_half ? 2 : 1) * (l.has_min ? 2 : 1);
}

/* Transposes 8 rows of 8 dwords in place. */
FAST_INLINE void transpose(__m256i r[8])
{
    __m256i a[8], b[8];
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    FAST_UNROLL
    for (int i = 0; i < 2; i++) {
        b[4 * i] = _mm256_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm256_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm256_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm256_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2x128_si256(b[i], b[4 + i], 0x20);
        r[4 + i] = _mm256_permute2x128_si256(b[i], b[4 + i], 0x31);
    }
}

/* Unpacks n inputs of 8 weight rows and writes them to outputs o .. o + 7 of the panel. */
FAST_INLINE void pack_chunk(unsigned char *panel, const unsigned char *const p[8], uint32_t o, uint32_t n,
                            const myth_dtype t, const int offset, const struct layout l)
{
    _Alignas(32) int8_t q[8][CHUNK];
    float scale[8][SUBS], min[8][SUBS];
    const __m256i up = _mm256_set1_epi8((char)offset), one = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
    for (int i = 0; i < 8; i++)
        myth_blocks_unpack(t, q[i], scale[i], min[i], p[i], n);
    for (uint32_t b = 0; b < n / 32; b++, panel += panel_bytes(l)) {
        __m256i r[8], minus = _mm256_setzero_si256();
        FAST_UNROLL
        for (int i = 0; i < 8; i++)
            r[i] = _mm256_add_epi8(_mm256_load_si256((const void *)(q[i] + 32 * b)), up);
        transpose(r);
        FAST_UNROLL
        for (int i = 0; i < 8; i++) {
            unsigned char *to = panel + 128 * i + 4 * o;
            if (l.is_byte) {
                const __m256i size = _mm256_abs_epi8(r[i]), is_neg = _mm256_cmpgt_epi8(_mm256_setzero_si256(), r[i]);
                const __m256i sum = _mm256_maddubs_epi16(_mm256_and_si256(size, is_neg), one);
                minus = _mm256_add_epi32(minus, _mm256_madd_epi16(sum, ones));
                _mm256_store_si256((void *)(to + WORDS), is_neg);
                r[i] = size;
            }
            _mm256_store_si256((void *)to, r[i]);
        }
        float *to = (float *)(void *)(panel + (l.is_byte ? 2 : 1) * WORDS) + o;
        for (int i = 0; i < 8; i++) {
            to[i] = scale[i][2 * b];
            if (l.has_half)
                to[32 + i] = scale[i][2 * b + 1];
            if (l.has_min)
                to[(l.has_half ? 64 : 32) + i] = min[i][2 * b];
            if (l.has_min && l.has_half)
                to[96 + i] = min[i][2 * b + 1];
        }
        if (l.is_byte)
            _mm256_store_si256((void *)(to + 32), minus);
    }
}

/* Packs n_k inputs of up to 32 weight rows. Rows past n_out repeat the last one; their outputs are never stored. */
FAST_INLINE void pack(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                      uint32_t n_k, const myth_dtype t, const int offset, const struct layout l)
{
    const size_t chunk = (size_t)myth_row_bytes(t, CHUNK);
    w += myth_row_bytes(t, k0);
    fast_ask_rows(w, row_bytes, n_out, chunk);
    for (uint32_t k = 0; k < n_k; k += CHUNK, w += chunk, panel += CHUNK / 32 * panel_bytes(l)) {
        fast_ask_rows(w + chunk, row_bytes, n_out, chunk);
        for (uint32_t o = 0; o < FAST_PANEL; o += 8) {
            const unsigned char *p[8];
            for (uint32_t i = 0; i < 8; i++)
                p[i] = w + (size_t)(o + i < n_out ? o + i : n_out - 1) * row_bytes;
            pack_chunk(panel, p, o, n_k - k < CHUNK ? n_k - k : CHUNK, t, offset, l);
        }
    }
}

/* What is added to a type's values so that none is negative. Types with minima have no negative values, and `byte`
 * stores |w|. */
FAST_INLINE int offset_of(myth_dtype t)
{
    return t == MYTH_Q4_0 ? 8 : t == MYTH_Q5_0 || t == MYTH_MXFP4 ? 16 : t == MYTH_Q3_K || t == MYTH_Q6_K ? 32 : 0;
}

#define LAYOUT_byte     ((struct layout){true, false, false})
#define LAYOUT_four     ((struct layout){false, false, false})
#define LAYOUT_five     ((struct layout){false, false, false})
#define LAYOUT_four_min ((struct layout){false, false, true})
#define LAYOUT_five_min ((struct layout){false, false, true})
#define LAYOUT_six_half ((struct layout){false, true, false})
#define LAYOUT_two_both ((struct layout){false, true, true})
#define PACK(name, type, kernel)                                                                              \
    void avx2_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                          uint32_t n_k)                                                                       \
    {                                                                                                         \
        pack(panel, w, row_bytes, n_out, k0, n_k, MYTH_##type, offset_of(MYTH_##type), LAYOUT_##kernel);      \
    }
AVX2_TYPES(PACK)

/* ---- products ---- */

/* f[0..7] += a s ws[0..7], where a is the integer product of a block (or half), s the scale of the row of x, and ws
 * the scales of 8 outputs. fold_less adds m wm[0..7] for their minima; m is minus the sum of x times its scale. */
FAST_INLINE void fold(float *f, __m256i a, __m256 s, const unsigned char *ws)
{
    __m256 sum =
        _mm256_fmadd_ps(_mm256_cvtepi32_ps(a), _mm256_mul_ps(s, _mm256_load_ps((const void *)ws)), _mm256_load_ps(f));
    _mm256_store_ps(f, sum);
}
FAST_INLINE void fold_less(float *f, __m256 m, const unsigned char *wm)
{
    _mm256_store_ps(f, _mm256_fmadd_ps(_mm256_load_ps((const void *)wm), m, _mm256_load_ps(f)));
}

/* c + d. The empty asm makes the compiler add here. Without it, compilers keep every product and add them as a tree,
 * which needs more registers than there are and goes through memory. */
FAST_INLINE __m256i add16(__m256i c, __m256i d)
{
    c = _mm256_add_epi16(c, d);
    __asm__("" : "+x"(c));
    return c;
}
FAST_INLINE __m256i add32(__m256i c, __m256i d)
{
    c = _mm256_add_epi32(c, d);
    __asm__("" : "+x"(c));
    return c;
}

/* The products of inputs [4 from, 4 to) of a block with n rows, for 16 outputs, as i32. `group` sums of two products
 * fit 16 bits. */
FAST_INLINE void part_sums(__m256i *a, const unsigned char *p, const unsigned char *x, size_t xb, const int n,
                           const int from, const int to, const int group)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i t[2 * ROWS];
    FAST_UNROLL
    for (int k = from; k < to; k++) {
        const __m256i w0 = _mm256_load_si256((const void *)(p + 128 * k)),
                      w1 = _mm256_load_si256((const void *)(p + 128 * k + 32));
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            const __m256i v = avx2_dword(x + (size_t)r * xb + 4 * k);
            const __m256i d0 = _mm256_maddubs_epi16(w0, v), d1 = _mm256_maddubs_epi16(w1, v);
            t[2 * r] = (k - from) % group ? add16(t[2 * r], d0) : d0;
            t[2 * r + 1] = (k - from) % group ? add16(t[2 * r + 1], d1) : d1;
        }
        if ((k - from) % group != group - 1)
            continue;
        FAST_UNROLL
        for (int i = 0; i < 2 * n; i++) {
            const __m256i d = _mm256_madd_epi16(t[i], ones);
            a[i] = k - from >= group ? add32(a[i], d) : d;
        }
    }
}

/* The same for `byte`, over the whole block. The sums start with the |w| that each x ^ -1 leaves out. */
FAST_INLINE void byte_sums(__m256i *a, const unsigned char *p, const unsigned char *x, size_t xb, const int n)
{
    const __m256i ones = _mm256_set1_epi16(1);
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        a[i] = _mm256_load_si256((const void *)(p + 2 * WORDS + 128 + 32 * (i % 2)));
    FAST_UNROLL
    for (int k = 0; k < 8; k++)
        FAST_UNROLL
    for (int i = 0; i < 2; i++) {
        const __m256i w = _mm256_load_si256((const void *)(p + 128 * k + 32 * i)),
                      sign = _mm256_load_si256((const void *)(p + WORDS + 128 * k + 32 * i));
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            const __m256i v = _mm256_xor_si256(avx2_dword(x + (size_t)r * xb + 4 * k), sign);
            a[2 * r + i] = add32(a[2 * r + i], _mm256_madd_epi16(_mm256_maddubs_epi16(w, v), ones));
        }
    }
}

/* Adds the products of one block with n rows to f, for 16 outputs. The weights are stored 2^shift too large; shift 0
 * means no offset. */
FAST_INLINE void block(float *f, const unsigned char *p, const unsigned char *x, size_t xb, const int n,
                       const int group, const int shift, const struct layout l)
{
    const unsigned char *ws = p + (l.is_byte ? 2 : 1) * WORDS, *wm = ws + (l.has_half ? 256 : 128);
    const int n_part = l.has_half ? 2 : 1, dwords = 8 / n_part;
    FAST_UNROLL
    for (int h = 0; h < n_part; h++) {
        __m256i a[2 * ROWS];
        if (l.is_byte)
            byte_sums(a, p, x, xb, n);
        else
            part_sums(a, p, x, xb, n, dwords * h, dwords * (h + 1), group);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            const unsigned char *row = x + (size_t)r * xb;
            const __m256 s = avx2_float(row + SCALE);
            if (shift) {
                const __m256i neg = _mm256_slli_epi32(avx2_dword(row + (l.has_half ? NEG_HALF + 4 * h : NEG)), shift);
                a[2 * r] = _mm256_add_epi32(a[2 * r], neg);
                a[2 * r + 1] = _mm256_add_epi32(a[2 * r + 1], neg);
            }
            fold(f + FAST_PANEL * r, a[2 * r], s, ws + 128 * h);
            fold(f + FAST_PANEL * r + 8, a[2 * r + 1], s, ws + 128 * h + 32);
            if (!l.has_min)
                continue;
            const __m256 m = avx2_float(row + (l.has_half ? LESS_HALF + 4 * h : LESS));
            fold_less(f + FAST_PANEL * r, m, wm + 128 * h);
            fold_less(f + FAST_PANEL * r + 8, m, wm + 128 * h + 32);
        }
    }
}

/* Copies the outputs of n_rows rows between the caller's matrix and the sums of a group. */
FAST_INLINE void copy_outputs(float *dst, size_t ld_dst, const float *src, size_t ld_src, uint32_t n_rows,
                              uint32_t n_out)
{
    for (uint32_t r = 0; r < n_rows; r++, dst += ld_dst, src += ld_src) {
        if (n_out == FAST_PANEL)
            memcpy(dst, src, FAST_PANEL * sizeof(float)); /* a constant size becomes moves, not a call */
        else
            memcpy(dst, src, n_out * sizeof(float));
    }
}

/* Adds the products of n_block blocks with n rows to f. Outputs 16..31 lie 64 bytes further on in every row of the
 * panel: values, scales and minima alike. */
FAST_INLINE void tile(float *f, uint32_t n_out, const unsigned char *p, const unsigned char *x, size_t xb,
                      uint32_t n_block, const int n, const int group, const int shift, const struct layout l)
{
    for (uint32_t half = 0; half < n_out; half += 16)
        for (uint32_t b = 0; b < n_block; b++)
            block(f + half, p + b * panel_bytes(l) + 4 * half, x + b * RECORD, xb, n, group, shift, l);
}

#define GEMM(kernel, group, shift)                                                                                 \
    static void part_##kernel(float *f, uint32_t n_out, const unsigned char *p, const unsigned char *x, size_t xb, \
                              uint32_t n_rows, uint32_t n_block)                                                   \
    {                                                                                                              \
        for (; n_rows >= ROWS; f += ROWS * FAST_PANEL, x += ROWS * xb, n_rows -= ROWS)                             \
            tile(f, n_out, p, x, xb, n_block, ROWS, group, shift, LAYOUT_##kernel);                                \
        for (; n_rows >= 2; f += 2 * FAST_PANEL, x += 2 * xb, n_rows -= 2)                                         \
            tile(f, n_out, p, x, xb, n_block, 2, group, shift, LAYOUT_##kernel);                                   \
        if (n_rows)                                                                                                \
            tile(f, n_out, p, x, xb, n_block, 1, group, shift, LAYOUT_##kernel);                                   \
    }                                                                                                              \
    void avx2_gemm_##kernel(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x,       \
                            size_t x_bytes, uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)             \
    {                                                                                                              \
        _Alignas(32) float f[GROUP_ROWS * FAST_PANEL];                                                             \
        const uint32_t step = PART_BYTES / (uint32_t)panel_bytes(LAYOUT_##kernel);                                 \
        (void)n_in;                                                                                                \
        x += k0 / 32 * RECORD;                                                                                     \
        for (uint32_t n; n_rows; c += n * ldc, x += n * x_bytes, n_rows -= n) {                                    \
            n = n_rows < GROUP_ROWS ? n_rows : GROUP_ROWS;                                                         \
            memset(f, 0, n *FAST_PANEL * sizeof(float));                                                           \
            if (k0 > 0)                                                                                            \
                copy_outputs(f, FAST_PANEL, c, ldc, n, n_out);                                                     \
            for (uint32_t b = 0, n_b; b < n_k / 32; b += n_b) {                                                    \
                n_b = n_k / 32 - b < step ? n_k / 32 - b : step;                                                   \
                part_##kernel(f, n_out, (const unsigned char *)panel + b * panel_bytes(LAYOUT_##kernel),           \
                              x + b * RECORD, x_bytes, n, n_b);                                                    \
            }                                                                                                      \
            copy_outputs(c, ldc, f, FAST_PANEL, n, n_out);                                                         \
        }                                                                                                          \
    }
GEMM(byte, 1, 0)
GEMM(four, 8, 3)
GEMM(five, 4, 4)
GEMM(four_min, 8, 0)
GEMM(five_min, 4, 0)
GEMM(six_half, 2, 5)
GEMM(two_both, 4, 0)
