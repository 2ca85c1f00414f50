/* avx512.h - what the *_avx512.c files share: their kernels, named avx512_<what>, and small vector helpers.
 *
 * Only files compiled for the level include it. level_avx512.c calls the kernels with bf16 instructions only where the
 * processor has them. */
#ifndef MYTH_CPU_AVX512_H
#define MYTH_CPU_AVX512_H

#include "fast.h"

#include <immintrin.h>
#include <string.h>

/* The mask of the lanes i < n; n may be larger than 16. */
FAST_INLINE __mmask16 avx512_mask(uint32_t n) { return (__mmask16)(n >= 16 ? 0xffffu : (1u << n) - 1u); }

/* e^x as 2^n times a polynomial of degree 6 on [-ln 2 / 2, ln 2 / 2]. The relative error is below 2e-7; the result is 0
 * below -104, inf above 88.8 and NaN of NaN: min and max give their second operand where one of the two is NaN. */
FAST_INLINE __m512 avx512_exp(__m512 x)
{
    const __m512 lo = _mm512_set1_ps(-104.0f), hi = _mm512_set1_ps(89.0f);
    x = _mm512_min_ps(hi, _mm512_max_ps(lo, x));
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504088896341f)), 8);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145751953125f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860682030941723212e-6f), r);
    __m512 p = _mm512_set1_ps(1.0f / 720.0f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

/* tanh x = (1 - e) / (1 + e) with e = e^(-2|x|), with the sign of x. Below 0.25 an odd polynomial takes its place, to
 * keep the relative error below 2e-7. */
FAST_INLINE __m512 avx512_tanh(__m512 x)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    __m512 a = _mm512_abs_ps(x), xx = _mm512_mul_ps(x, x);
    __m512 e = avx512_exp(_mm512_mul_ps(a, _mm512_set1_ps(-2.0f)));
    __m512 big = _mm512_div_ps(_mm512_sub_ps(one, e), _mm512_add_ps(one, e));
    __m512 p = _mm512_set1_ps(-1382.0f / 155925.0f);
    p = _mm512_fmadd_ps(p, xx, _mm512_set1_ps(62.0f / 2835.0f));
    p = _mm512_fmadd_ps(p, xx, _mm512_set1_ps(-17.0f / 315.0f));
    p = _mm512_fmadd_ps(p, xx, _mm512_set1_ps(2.0f / 15.0f));
    p = _mm512_fmadd_ps(p, xx, _mm512_set1_ps(-1.0f / 3.0f));
    __m512 small = _mm512_fmadd_ps(_mm512_mul_ps(p, xx), a, a);
    __m512 t = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, _mm512_set1_ps(0.25f), _CMP_LT_OQ), big, small);
    return _mm512_or_ps(t, _mm512_and_ps(x, _mm512_set1_ps(-0.0f)));
}

/* Adds the dwords 0 and 2, and 1 and 3, of each 128-bit lane q of a (unit 0) and b (unit 1): the sum of half h of unit
 * u becomes dword 4 q + 2 h + u. */
FAST_INLINE __m512i avx512_chains(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

#define AVX512_PACK(name)                                                                                       \
    void avx512_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k);
#define AVX512_BLOCK_TYPE(name, type, kernel) AVX512_PACK(name)
FAST_BLOCK_TYPES(AVX512_BLOCK_TYPE)
#undef AVX512_BLOCK_TYPE
AVX512_PACK(q8)
AVX512_PACK(q4)
AVX512_PACK(bf16_pair)
AVX512_PACK(bf16_wide)
AVX512_PACK(f16)
AVX512_PACK(f32)
#undef AVX512_PACK
/* avx512_pack_bf16_pair for rows that were just made and are in L1, so that it need not prefetch. */
void avx512_pair_bf16(void *panel, const unsigned char *x, size_t row_bytes, uint32_t n_out, uint32_t n_k);

/* Unpacks n values of a row, 256 at most, to whole numbers with scales and minima (blocks.h). */
typedef void avx512_unpack(int8_t *restrict q, float *restrict scale, float *restrict min,
                           const unsigned char *restrict p, uint32_t n);
#define AVX512_UNPACK(name, type, kernel) avx512_unpack avx512_unpack_##name;
FAST_BLOCK_TYPES(AVX512_UNPACK)
#undef AVX512_UNPACK

#define AVX512_GEMM(name)                                                                                    \
    void avx512_gemm_##name(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, \
                            size_t x_bytes, uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k);
AVX512_GEMM(i8)
AVX512_GEMM(min)
AVX512_GEMM(half)
AVX512_GEMM(both)
AVX512_GEMM(bf16)
AVX512_GEMM(f32)
#undef AVX512_GEMM

#define AVX512_GEMV(name)                                                                                   \
    void avx512_gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, \
                            const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in);
#define AVX512_BLOCK_TYPE(name, type, kernel) AVX512_GEMV(name)
FAST_BLOCK_TYPES(AVX512_BLOCK_TYPE)
#undef AVX512_BLOCK_TYPE
AVX512_GEMV(q8)
AVX512_GEMV(q4)
AVX512_GEMV(bf16)
AVX512_GEMV(bf16_wide)
AVX512_GEMV(f16)
AVX512_GEMV(f32)
#undef AVX512_GEMV

extern const struct fast_form avx512_form_i8_gemm, avx512_form_i8_gemv, avx512_form_sums, avx512_form_super,
    avx512_form_bf16, avx512_form_f32;

/* The field `tiled` of struct fast_kernels: the types with blocks of 32. */
#define AVX512_EXTERN_32(name) extern const struct fast_tiled avx512_tiled_##name;
#define AVX512_EXTERN_256(name)
#define AVX512_ENTRY_32(NAME, name) [MYTH_##NAME] = &avx512_tiled_##name,
#define AVX512_ENTRY_256(NAME, name)
#define AVX512_EXTERN(X, code, NAME, name, gguf, file, block, ...) AVX512_EXTERN_##block(name)
#define AVX512_ENTRY(X, code, NAME, name, gguf, file, block, ...)  AVX512_ENTRY_##block(NAME, name)
AVX512_EXTERN_32(q8)
AVX512_EXTERN_32(q4)
MYTH_BLOCK_TYPES(AVX512_EXTERN, 0)
#define AVX512_TILED .tiled = {AVX512_ENTRY_32(Q8_0, q8) AVX512_ENTRY_32(Q4_0, q4) MYTH_BLOCK_TYPES(AVX512_ENTRY, 0)}

/* The decode form of a type: types with blocks of 256 have their own. */
#define AVX512_DECODE_FORM(type) (MYTH_BLOCK_OF_##type == 256 ? &avx512_form_super : &avx512_form_i8_gemv)

void avx512_norm_row(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                     uint32_t n, float eps, bool keep);
void avx512_geglu(float *h, const float *g, const float *up, size_t n);
void avx512_head_rope(float *dst, const float *src, const float *w, const float *rope, uint32_t head_dim, float eps,
                      float scale);
void avx512_row_to_f32(float *dst, const void *src, myth_dtype t, uint32_t n, float scale);
void avx512_row_from_f32(void *dst, myth_dtype t, const float *src, uint32_t n);
void avx512_attn_block(struct fast_attn_tile *t, const struct fast_attn_block *b);
void avx512_attn_block_few(struct fast_attn_tile *t, const struct fast_attn_block *b);
void avx512_blend(float *o, const float *part, float a, float b, uint32_t n);
void avx512_cap(float *x, uint32_t n, float softcap);
float avx512_largest(const float *x, uint32_t n);
void avx512_exp_sums(const float *x, uint32_t n, float m, float *sum, float *weighted);

/* The fields of struct fast_kernels that are the same for every level with these vectors. */
#define AVX512_ROWS                                                                                               \
    .norm_row = avx512_norm_row, .geglu = avx512_geglu, .head_rope = avx512_head_rope,                            \
    .row_to_f32 = avx512_row_to_f32, .row_from_f32 = avx512_row_from_f32, .attn_block = avx512_attn_block,        \
    .attn_block_few = avx512_attn_block_few, .blend = avx512_blend, .cap = avx512_cap, .largest = avx512_largest, \
    .exp_sums = avx512_exp_sums

#endif
