/* kernels_avx2.c   the AVX2 level: the primitives that fast_vec8.h needs, on one 256-bit register, and the table of the
 * level. Products with quantised weights are in gemm_avx2.c and gemv_avx2.c */
#include "avx2.h"

#include "engine/base/blocks.h"

typedef __m256 v8;

FAST_INLINE v8 v8_set1(float x) { return _mm256_set1_ps(x); }
FAST_INLINE v8 v8_load(const float *p) { return _mm256_loadu_ps(p); }
FAST_INLINE void v8_store(float *p, v8 v) { _mm256_storeu_ps(p, v); }
FAST_INLINE v8 v8_add(v8 a, v8 b) { return _mm256_add_ps(a, b); }
FAST_INLINE v8 v8_sub(v8 a, v8 b) { return _mm256_sub_ps(a, b); }
FAST_INLINE v8 v8_mul(v8 a, v8 b) { return _mm256_mul_ps(a, b); }
FAST_INLINE v8 v8_div(v8 a, v8 b) { return _mm256_div_ps(a, b); }
FAST_INLINE v8 v8_fma(v8 a, v8 b, v8 c) { return _mm256_fmadd_ps(a, b, c); }
FAST_INLINE v8 v8_max(v8 a, v8 b) { return _mm256_max_ps(a, b); }
FAST_INLINE v8 v8_min(v8 a, v8 b) { return _mm256_min_ps(a, b); }
FAST_INLINE v8 v8_round(v8 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
FAST_INLINE v8 v8_pow2(v8 n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
FAST_INLINE v8 v8_lt(v8 a, v8 b, v8 x, v8 y) { return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
FAST_INLINE float v8_sum(v8 v) { return avx2_sum(v); }
FAST_INLINE float v8_most(v8 v)
{
    __m128 a = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(a, _mm_movehdup_ps(a)));
}
FAST_INLINE void v8_transpose(v8 r[8])
{
    v8 a[8], b[8];
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    FAST_UNROLL
    for (int i = 0; i < 2; i++) {
        b[4 * i] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0x44);
        b[4 * i + 1] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0xee);
        b[4 * i + 2] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0x44);
        b[4 * i + 3] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0xee);
    }
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x20);
        r[4 + i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x31);
    }
}
FAST_INLINE v8 v8_f16(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
FAST_INLINE v8 v8_bf16(const void *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16));
}
FAST_INLINE v8 v8_i8(const void *p) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(p))); }
FAST_INLINE void v8_to_f16(void *p, v8 v)
{
    _mm_storeu_si128(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#include "fast_vec8.h"

/* Reads values [k, k + n) of a quantised row as floats. */
FAST_INLINE void load_unpacked(float *x, const unsigned char *w, uint32_t k, uint32_t n, const myth_dtype t)
{
    const uint32_t block = myth_block_is_super(t) ? 256 : 32;
    for (uint32_t i = 0; i < n;) {
        float whole[MYTH_BLOCK_MAX];
        const uint32_t from = (k + i) % block, m = block - from < n - i ? block - from : n - i;
        myth_dequant_row(t, whole, w + (size_t)((k + i) / block) * myth_block_bytes_of(t), block);
        memcpy(x + i, whole + from, m * sizeof *x);
        i += m;
    }
}

FAST_INLINE void pack_unpacked(float *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                               uint32_t n_k, const myth_dtype t)
{
    float x[32];
    memset(panel, 0, (size_t)n_k * FAST_PANEL * sizeof *panel);
    for (uint32_t o = 0; o < n_out; o++, w += row_bytes)
        for (uint32_t k = 0; k < n_k; k += 32) {
            load_unpacked(x, w, k0 + k, 32, t);
            for (uint32_t i = 0; i < 32; i++)
                panel[(k + i) * FAST_PANEL + o] = x[i];
        }
}

FAST_INLINE void gemv_unpacked(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                               const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in,
                               const myth_dtype t)
{
    for (uint32_t o = 0; o < n_out; o++, w += row_bytes)
        for (uint32_t r = 0; r < n_rows; r++) {
            const float *xr = (const float *)(const void *)(x + (size_t)r * x_bytes);
            v8 sum = v8_zero();
            for (uint32_t k = 0; k < n_in; k += 32) {
                float v[32];
                load_unpacked(v, w, k, 32, t);
                for (uint32_t i = 0; i < 32; i += 8)
                    sum = v8_fma(v8_load(v + i), v8_load(xr + k + i), sum);
            }
            y[(size_t)r * ldy + o] = v8_sum(sum);
        }
}

/* Every quantised type first gets a slow kernel, which multiplies the floats of its decoder. AVX2_TYPES then overrides
 * the types that have kernels of their own, so that a new type works before it has any. */
#define UNPACKED(X, code, NAME, name, ...)                                                                      \
    static void pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k)                                                                       \
    {                                                                                                           \
        pack_unpacked(panel, w, row_bytes, n_out, k0, n_k, MYTH_##NAME);                                        \
    }                                                                                                           \
    static void gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,     \
                            const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)             \
    {                                                                                                           \
        gemv_unpacked(y, ldy, w, row_bytes, n_out, x, x_bytes, n_rows, n_in, MYTH_##NAME);                      \
    }
MYTH_BLOCK_TYPES(UNPACKED, 0)
#define UNPACKED_ROW(X, code, NAME, name, ...) \
    [MYTH_##NAME] = {&form_f32, &form_f32, pack_##name, gemm_f32, gemv_##name, PANEL_F32},
#define QUANT(name, type, kernel)                                            \
    [MYTH_##type] = {&avx2_form_gemm,    &avx2_form_gemv,  avx2_pack_##name, \
                     avx2_gemm_##kernel, avx2_gemv_##name, AVX2_PANEL_##kernel},
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct fast_kernels kernels = {
    .mat = {VEC8_FLOATS, MYTH_BLOCK_TYPES(UNPACKED_ROW, 0) AVX2_TYPES(QUANT)},
    VEC8_ROWS,
};
#pragma GCC diagnostic pop

static const struct fast_kernels *kernels_of(const myth_stream *s)
{
    (void)s;
    return &kernels;
}

#include "fast_level.h"

const struct cpu_level cpu_level_avx2 = {
    .name = "avx2",
    .needs = CPU_AVX2 | CPU_FMA | CPU_F16C,
    .ops = FAST_OPS,
    .work = fast_work,
};
