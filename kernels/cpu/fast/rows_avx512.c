/* rows_avx512.c   kernels that work on one row between matrix products: norms, forms of activations, gelu, rope,
 *                 conversions, sums of exponentials
 *
 * Formula    norm_row: x = (x + RMS(pend) w_post) x_scale; y = RMS(x) w, RMS(t) = t rsqrt(mean t^2 + eps)
 *            geglu: g / (1 + e^(-2u)) up with u = sqrt(2 / pi) (g + 0.044715 g^3), which is 0.5 g (1 + tanh u) up
 *            head_rope: RMS(src) w, then pairs (i, i + d/2) are rotated by the table's (cos, sin) and scaled
 *            i8: for each block of 32, scale = max |x| / 127, value = nearest(x / scale), ties to even
 * Precision  f32 throughout; sums in 16 lanes, which are added at the end. The relative error of gelu is below 2e-6
 *            where |gelu| > 1e-30. Every lane runs the same chain, so a value does not depend on its column
 * Traffic    the rows, which are in L1 or L2
 * Limit      the rate of instructions */
#include "avx512.h"
#include <math.h>

FAST_INLINE float sum_squares(const float *x, uint32_t n)
{
    __m512 a = _mm512_setzero_ps(), b = a;
    uint32_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m512 u = _mm512_loadu_ps(x + i), v = _mm512_loadu_ps(x + i + 16);
        a = _mm512_fmadd_ps(u, u, a);
        b = _mm512_fmadd_ps(v, v, b);
    }
    for (; i < n; i += 16) {
        __m512 u = _mm512_maskz_loadu_ps(avx512_mask(n - i), x + i);
        a = _mm512_fmadd_ps(u, u, a);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(a, b));
}

void avx512_norm_row(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                     uint32_t n, float eps, bool keep)
{
    const float *t = x;
    if (pend) {
        float *dst = keep ? x : y;
        const __m512 by = _mm512_set1_ps(x_scale == 0.0f ? 1.0f : x_scale);
        __m512 scale = _mm512_set1_ps(w_post ? 1.0f / sqrtf(sum_squares(pend, n) / (float)n + eps) : 1.0f);
        for (uint32_t i = 0; i < n; i += 16) {
            __mmask16 m = avx512_mask(n - i);
            __m512 v = _mm512_maskz_loadu_ps(m, pend + i);
            if (w_post)
                v = _mm512_mul_ps(_mm512_mul_ps(v, scale), _mm512_maskz_loadu_ps(m, w_post + i));
            _mm512_mask_storeu_ps(dst + i, m, _mm512_mul_ps(_mm512_add_ps(_mm512_maskz_loadu_ps(m, x + i), v), by));
        }
        t = dst;
    }
    if (!w) {
        if (y != t)
            memcpy(y, t, n * sizeof *y);
        return;
    }
    __m512 scale = _mm512_set1_ps(1.0f / sqrtf(sum_squares(t, n) / (float)n + eps));
    for (uint32_t i = 0; i < n; i += 16) {
        __mmask16 m = avx512_mask(n - i);
        __m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, t + i), scale);
        _mm512_mask_storeu_ps(y + i, m, _mm512_mul_ps(v, _mm512_maskz_loadu_ps(m, w + i)));
    }
}

void avx512_geglu(float *h, const float *g, const float *up, size_t n)
{
    const __m512 c1 = _mm512_set1_ps(-2.0f * 0.79788456080286535588f),
                 c3 = _mm512_set1_ps(-2.0f * 0.79788456080286535588f * 0.044715f);
    const __m512 one = _mm512_set1_ps(1.0f);
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = avx512_mask(n - i < 16 ? (uint32_t)(n - i) : 16);
        __m512 v = _mm512_maskz_loadu_ps(m, g + i), vv = _mm512_mul_ps(v, v);
        __m512 e = avx512_exp(_mm512_mul_ps(v, _mm512_fmadd_ps(vv, c3, c1)));
        __m512 y = _mm512_mul_ps(_mm512_div_ps(v, _mm512_add_ps(one, e)), _mm512_maskz_loadu_ps(m, up + i));
        _mm512_mask_storeu_ps(h + i, m, y);
    }
}

void avx512_head_rope(float *dst, const float *src, const float *w, const float *rope, uint32_t head_dim, float eps,
                      float scale)
{
    const uint32_t half = head_dim / 2;
    const __m512 norm = _mm512_set1_ps(w ? 1.0f / sqrtf(sum_squares(src, head_dim) / (float)head_dim + eps) : 1.0f);
    const __m512 s = _mm512_set1_ps(scale);
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    for (uint32_t i = 0; i < half; i += 16) {
        __mmask16 m = avx512_mask(half - i);
        __m512 a = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, src + i), norm),
               b = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, src + half + i), norm);
        if (w) {
            a = _mm512_mul_ps(a, _mm512_maskz_loadu_ps(m, w + i));
            b = _mm512_mul_ps(b, _mm512_maskz_loadu_ps(m, w + half + i));
        }
        if (rope) {
            const float *t = rope + 2 * (size_t)i;
            __m512 t0 = _mm512_maskz_loadu_ps(avx512_mask(2 * (half - i)), t);
            __m512 t1 = _mm512_maskz_loadu_ps(avx512_mask(half - i > 8 ? 2 * (half - i) - 16 : 0), t + 16);
            __m512 cos = _mm512_permutex2var_ps(t0, even, t1), sin = _mm512_permutex2var_ps(t0, odd, t1);
            __m512 u = _mm512_fmsub_ps(a, cos, _mm512_mul_ps(b, sin));
            b = _mm512_fmadd_ps(b, cos, _mm512_mul_ps(a, sin));
            a = u;
        }
        _mm512_mask_storeu_ps(dst + i, m, _mm512_mul_ps(a, s));
        _mm512_mask_storeu_ps(dst + half + i, m, _mm512_mul_ps(b, s));
    }
}

/* ---- forms ---- */

struct block {
    __m512i a, b;
    float scale;
}; /* a block of 32: 2 x 16 quantised values and their scale */

/* A value that is not finite makes the scale so: the bits of magnitudes compare as the magnitudes do, NaN above all. */
FAST_INLINE struct block quantise(const float *x)
{
    struct block q;
    __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + 16);
    __m512i most = _mm512_max_epi32((__m512i)_mm512_abs_ps(a), (__m512i)_mm512_abs_ps(b));
    q.scale = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(most)))) / 127.0f;
    __m512 inv = _mm512_set1_ps(q.scale > 0.0f ? 1.0f / q.scale : 0.0f);
    /* 1 / scale may round up, so the largest value may come out as 127.5; the clamp keeps it from becoming 128. */
    const __m512i top = _mm512_set1_epi32(127), bottom = _mm512_set1_epi32(-127);
    q.a = _mm512_max_epi32(_mm512_min_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(a, inv)), top), bottom);
    q.b = _mm512_max_epi32(_mm512_min_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(b, inv)), top), bottom);
    return q;
}

static size_t bytes_i8_gemm(uint32_t n) { return (n + n / 4 + 63) / 64 * 64; }

static void convert_i8_gemm(void *dst, const float *x, uint32_t n)
{
    unsigned char *q = dst, *scale = q + n, *init = scale + n / 8;
    for (uint32_t b = 0; b < n / 32; b++) {
        struct block v = quantise(x + 32 * b);
        int32_t sum = -128 * _mm512_reduce_add_epi32(_mm512_add_epi32(v.a, v.b));
        _mm_storeu_si128((void *)(q + 32 * b), _mm512_cvtepi32_epi8(v.a));
        _mm_storeu_si128((void *)(q + 32 * b + 16), _mm512_cvtepi32_epi8(v.b));
        memcpy(scale + 4 * b, &v.scale, 4);
        memcpy(init + 4 * b, &sum, 4);
    }
}

/* Groups of 256 inputs in two units of 128 (gemv_avx512.c), with 128 bytes of numbers behind the units. */
static size_t bytes_i8_gemv(uint32_t n)
{
    return (size_t)(n / 256) * 384 + (n % 256 ? (n % 256 > 128 ? 384 : 256) : 0);
}

/* Minus the sums of the four signed bytes of each lane of the unit at q. */
FAST_INLINE __m512i minus_sums(const unsigned char *q)
{
    __m512i sum = _mm512_setzero_si512(), bytes[2] = {_mm512_load_si512(q), _mm512_load_si512(q + 64)};
    for (int i = 0; i < 2; i++)
        for (int s = 0; s < 32; s += 8)
            sum = _mm512_sub_epi32(sum, _mm512_srai_epi32(_mm512_sll_epi32(bytes[i], _mm_cvtsi32_si128(24 - s)), 24));
    return sum;
}

static void convert_i8_gemv(void *dst, const float *x, uint32_t n)
{
    unsigned char *q = dst;
    for (uint32_t k = 0; k < n; k += 256, x += 256) {
        const uint32_t n_in = n - k < 256 ? n - k : 256, n_unit = n_in > 128 ? 2 : 1;
        float scale[16] = {0.0f};
        if (n_in % 128)
            memset(q + 128 * (n_unit - 1), 0, 128);
        for (uint32_t b = 0; b < n_in / 32; b++) {
            const struct block v = quantise(x + 32 * b);
            unsigned char *to = q + b / 4 * 128 + b % 4 * 16;
            _mm_store_si128((void *)to, _mm512_cvtepi32_epi8(v.a));
            _mm_store_si128((void *)(to + 64), _mm512_cvtepi32_epi8(v.b));
            scale[b % 4 * 4 + b / 4] = scale[b % 4 * 4 + b / 4 + 2] = v.scale;
        }
        const __m512i second = n_unit == 2 ? minus_sums(q + 128) : _mm512_setzero_si512();
        const __m512i neg = avx512_chains(minus_sums(q), second);
        q += 128 * n_unit;
        _mm512_store_ps(q, _mm512_loadu_ps(scale));
        _mm512_store_si512(q + 64, neg);
        q += 128;
    }
}

static size_t bytes_sums(uint32_t n) { return (n + n / 2 + 63) / 64 * 64; }

static void convert_sums(void *dst, const float *x, uint32_t n)
{
    unsigned char *q = dst, *meta = q + n;
    for (uint32_t b = 0; b < n / 32; b++, meta += 16) {
        struct block v = quantise(x + 32 * b);
        int32_t sum[2] = {-128 * _mm512_reduce_add_epi32(v.a), -128 * _mm512_reduce_add_epi32(v.b)};
        float neg = v.scale * (float)(sum[0] + sum[1]) / 128.0f;
        _mm_storeu_si128((void *)(q + 32 * b), _mm512_cvtepi32_epi8(v.a));
        _mm_storeu_si128((void *)(q + 32 * b + 16), _mm512_cvtepi32_epi8(v.b));
        memcpy(meta, &v.scale, 4);
        memcpy(meta + 4, sum, 8);
        memcpy(meta + 12, &neg, 4);
    }
}

static size_t bytes_super(uint32_t n) { return (size_t)n / 256 * 448; }

static void convert_super(void *dst, const float *x, uint32_t n)
{
    unsigned char *q = dst;
    for (uint32_t k = 0; k < n; k += 256, q += 448, x += 256) {
        float *by32 = (float *)(void *)(q + 256), *scale = by32 + 16, *neg = by32 + 32;
        for (uint32_t b = 0; b < 8; b++) {
            struct block v = quantise(x + 32 * b);
            __m128i first = _mm512_cvtepi32_epi8(v.a), last = _mm512_cvtepi32_epi8(v.b);
            unsigned char *to = q + 128 * (b / 4) + 16 * (b % 4);
            _mm_store_si128((void *)to, _mm_unpacklo_epi64(first, last));
            _mm_store_si128((void *)(to + 64), _mm_unpackhi_epi64(first, last));
            scale[2 * b] = scale[2 * b + 1] = by32[b] = v.scale;
            neg[2 * b] = -v.scale * (float)_mm512_reduce_add_epi32(v.a);
            neg[2 * b + 1] = -v.scale * (float)_mm512_reduce_add_epi32(v.b);
            by32[8 + b] = neg[2 * b] + neg[2 * b + 1];
        }
    }
}

static size_t bytes_bf16(uint32_t n) { return (size_t)(n + 31) / 32 * 64; }

static void convert_bf16(void *dst, const float *x, uint32_t n)
{
    unsigned char *q = dst;
    for (uint32_t k = 0; k < n; k += 32) {
        __m512 a = _mm512_maskz_loadu_ps(avx512_mask(n - k), x + k);
        __m512 b = _mm512_maskz_loadu_ps(n - k > 16 ? avx512_mask(n - k - 16) : 0, x + k + 16);
        _mm512_store_si512(q + 2 * (size_t)k, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    }
}

static size_t bytes_f32(uint32_t n) { return (size_t)(n + 31) / 32 * 128; }

static void convert_f32(void *dst, const float *x, uint32_t n)
{
    float *q = dst;
    for (uint32_t k = 0; k < bytes_f32(n) / 4; k += 16)
        _mm512_store_ps(q + k, _mm512_maskz_loadu_ps(k < n ? avx512_mask(n - k) : 0, x + k));
}

const struct fast_form avx512_form_i8_gemm = {bytes_i8_gemm, convert_i8_gemm};
const struct fast_form avx512_form_i8_gemv = {bytes_i8_gemv, convert_i8_gemv};
const struct fast_form avx512_form_sums = {bytes_sums, convert_sums};
const struct fast_form avx512_form_super = {bytes_super, convert_super};
const struct fast_form avx512_form_bf16 = {bytes_bf16, convert_bf16};
const struct fast_form avx512_form_f32 = {bytes_f32, convert_f32};

/* ---- rows of any type ---- */

void avx512_row_to_f32(float *dst, const void *src, myth_dtype t, uint32_t n, float scale)
{
    const unsigned char *p = src;
    const __m512 s = _mm512_set1_ps(scale);
    if (t == MYTH_Q8_0) {
        for (uint32_t b = 0; b < n / 32; b++, p += 34, dst += 32) {
            uint16_t h;
            memcpy(&h, p, 2);
            __m512 d = _mm512_set1_ps(_cvtsh_ss(h));
            for (int i = 0; i < 32; i += 16) {
                __m512 v = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(p + 2 + i))));
                _mm512_storeu_ps(dst + i, _mm512_mul_ps(_mm512_mul_ps(v, d), s));
            }
        }
    } else if (t == MYTH_Q4_0) {
        for (uint32_t b = 0; b < n / 32; b++, p += 18, dst += 32) {
            uint16_t h;
            memcpy(&h, p, 2);
            __m512 d = _mm512_set1_ps(_cvtsh_ss(h));
            __m512i q = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(p + 2))), eight = _mm512_set1_epi32(8);
            __m512 lo = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_and_si512(q, _mm512_set1_epi32(15)), eight));
            __m512 hi = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_srli_epi32(q, 4), eight));
            _mm512_storeu_ps(dst, _mm512_mul_ps(_mm512_mul_ps(lo, d), s));
            _mm512_storeu_ps(dst + 16, _mm512_mul_ps(_mm512_mul_ps(hi, d), s));
        }
    } else if (myth_dtype_is_quant(t)) {
        cpu_row_to_f32(dst, src, t, n);
        for (uint32_t i = 0; i < n; i += 16)
            _mm512_storeu_ps(dst + i, _mm512_mul_ps(_mm512_loadu_ps(dst + i), s));
    } else {
        for (uint32_t i = 0; i < n; i += 16) {
            __mmask16 m = avx512_mask(n - i);
            __m512 v;
            if (t == MYTH_F32)
                v = _mm512_maskz_loadu_ps(m, p + 4 * (size_t)i);
            else if (t == MYTH_F16)
                v = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, p + 2 * (size_t)i));
            else
                v = _mm512_castsi512_ps(
                    _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, p + 2 * (size_t)i)), 16));
            _mm512_mask_storeu_ps(dst + i, m, _mm512_mul_ps(v, s));
        }
    }
}

void avx512_row_from_f32(void *dst, myth_dtype t, const float *src, uint32_t n)
{
    unsigned char *p = dst;
    if (t != MYTH_F16) { /* only f16, the usual cache type, is worth a fast path */
        cpu_row_from_f32(dst, t, src, n);
        return;
    }
    for (uint32_t i = 0; i < n; i += 16) {
        __mmask16 m = avx512_mask(n - i);
        __m256i h = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(m, src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm256_mask_storeu_epi16(p + 2 * (size_t)i, m, h);
    }
}

/* ---- logits ---- */

void avx512_cap(float *x, uint32_t n, float softcap)
{
    const __m512 inv = _mm512_set1_ps(1.0f / softcap), cap = _mm512_set1_ps(softcap);
    for (uint32_t i = 0; i < n; i += 16) {
        __mmask16 m = avx512_mask(n - i);
        __m512 v = avx512_tanh(_mm512_mul_ps(_mm512_maskz_loadu_ps(m, x + i), inv));
        _mm512_mask_storeu_ps(x + i, m, _mm512_mul_ps(cap, v));
    }
}

float avx512_largest(const float *x, uint32_t n)
{
    __m512 best = _mm512_set1_ps(-INFINITY);
    for (uint32_t i = 0; i < n; i += 16) {
        __mmask16 m = avx512_mask(n - i);
        best = _mm512_mask_max_ps(best, m, _mm512_maskz_loadu_ps(m, x + i), best); /* of NaN and best, best */
    }
    return _mm512_reduce_max_ps(best);
}

void avx512_exp_sums(const float *x, uint32_t n, float m, float *sum, float *weighted)
{
    const __m512 top = _mm512_set1_ps(m);
    __m512 s = _mm512_setzero_ps(), w = s;
    for (uint32_t i = 0; i < n; i += 16) {
        __m512 d = _mm512_sub_ps(_mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), avx512_mask(n - i), x + i), top);
        __m512 e = avx512_exp(d);
        s = _mm512_add_ps(s, e);
        w = _mm512_mask3_fmadd_ps(e, d, w, _mm512_cmp_ps_mask(e, _mm512_setzero_ps(), _CMP_GT_OQ));
    }
    *sum = _mm512_reduce_add_ps(s);
    *weighted = _mm512_reduce_add_ps(w);
}

void avx512_blend(float *o, const float *part, float a, float b, uint32_t n)
{
    const __m512 va = _mm512_set1_ps(a), vb = _mm512_set1_ps(b);
    for (uint32_t i = 0; i < n; i += 16) {
        __mmask16 m = avx512_mask(n - i);
        __m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, o + i), va);
        _mm512_mask_storeu_ps(o + i, m, _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, part + i), vb, v));
    }
}
