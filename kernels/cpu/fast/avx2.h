/* avx2.h - the quantised products of the AVX2 level, which gemm_avx2.c and gemv_avx2.c define for the table in
 * kernels_avx2.c. Float products, kernels on one row, and attention come from fast_vec8.h.
 *
 * Types    AVX2_TYPES(X) is X(name, type, kernel) for every quantised type. `kernel` is the kernel of prefill, named by
 *          the bits of the stored values and by the scales and minima of a block: see Kernels and Names in gemm_avx2.c
 * Files    *_avx2.c are compiled with the flags of the level, so nothing in them may run before the level is chosen */
#ifndef MYTH_CPU_AVX2_H
#define MYTH_CPU_AVX2_H

#include "fast.h"

#include <immintrin.h>
#include <string.h>

#define AVX2_TYPES(X)       \
    X(q8_0, Q8_0, byte)     \
    X(q4_0, Q4_0, four)     \
    X(q4_1, Q4_1, four_min) \
    X(q5_0, Q5_0, five)     \
    X(q5_1, Q5_1, five_min) \
    X(iq4_nl, IQ4_NL, byte) \
    X(mxfp4, MXFP4, five)   \
    X(q2_k, Q2_K, two_both) \
    X(q3_k, Q3_K, six_half) \
    X(q4_k, Q4_K, four_min) \
    X(q5_k, Q5_K, five_min) \
    X(q6_k, Q6_K, six_half) \
    X(iq4_xs, IQ4_XS, byte)

/* The sum of the eight values, added in pairs: this order is part of the level's results. */
FAST_INLINE float avx2_sum(__m256 v)
{
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}

/* Bytes of a panel per 32 inputs, by kernel. */
enum {
    AVX2_PANEL_byte = 2304,
    AVX2_PANEL_four = 1152,
    AVX2_PANEL_five = 1152,
    AVX2_PANEL_four_min = 1280,
    AVX2_PANEL_five_min = 1280,
    AVX2_PANEL_six_half = 1280,
    AVX2_PANEL_two_both = 1536
};

extern const struct fast_form avx2_form_gemm, avx2_form_gemv;

#define AVX2_DECLARE(name, type, kernel)                                                                      \
    void avx2_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                          uint32_t n_k);                                                                      \
    void avx2_gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,     \
                          const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in);
AVX2_TYPES(AVX2_DECLARE)
#undef AVX2_DECLARE

#define AVX2_GEMM(kernel)                                                                                    \
    void avx2_gemm_##kernel(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, \
                            size_t x_bytes, uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k);
AVX2_GEMM(byte)
AVX2_GEMM(four)
AVX2_GEMM(five)
AVX2_GEMM(four_min)
AVX2_GEMM(five_min)
AVX2_GEMM(six_half)
AVX2_GEMM(two_both)
#undef AVX2_GEMM

FAST_INLINE __m256i avx2_load(const void *p) { return _mm256_loadu_si256(p); }
FAST_INLINE __m256i avx2_dword(const void *p) /* the dword at p, in every lane */
{
    int32_t v;
    memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
}
FAST_INLINE __m256 avx2_float(const void *p) { return _mm256_castsi256_ps(avx2_dword(p)); }

/* Rounds 32 floats to whole numbers in -127..127 times one scale. Writes the numbers to q and returns the scale. */
float avx2_quantise(int8_t *q, const float *x);

#endif
