/* vec8_rows.h - a part of fast_vec8.h: kernels that work on one row (norms, rope, gelu, conversions, sums of e^x), and
 * the form of rows that are multiplied with f32, f16 and bf16 weights. */
#ifndef MYTH_CPU_VEC8_ROWS_H
#define MYTH_CPU_VEC8_ROWS_H

static float sum_squares(const float *x, uint32_t n)
{
    v8 a = v8_zero();
    for (uint32_t i = 0; i < n; i += 8) {
        v8 v = v8_get(x, i, n);
        a = v8_fma(v, v, a);
    }
    return v8_sum(a);
}

static void norm_row(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                     uint32_t n, float eps, bool keep)
{
    const float *t = x;
    if (pend) {
        float *dst = keep ? x : y;
        const v8 by = v8_set1(x_scale == 0.0f ? 1.0f : x_scale);
        v8 scale = v8_set1(w_post ? 1.0f / sqrtf(sum_squares(pend, n) / (float)n + eps) : 1.0f);
        for (uint32_t i = 0; i < n; i += 8) {
            v8 v = v8_get(pend, i, n);
            if (w_post)
                v = v8_mul(v8_mul(v, scale), v8_get(w_post, i, n));
            v8_put(dst, v8_mul(v8_add(v8_get(x, i, n), v), by), i, n);
        }
        t = dst;
    }
    if (!w) {
        if (y != t)
            memcpy(y, t, n * sizeof(*y));
        return;
    }
    v8 scale = v8_set1(1.0f / sqrtf(sum_squares(t, n) / (float)n + eps));
    for (uint32_t i = 0; i < n; i += 8)
        v8_put(y, v8_mul(v8_mul(v8_get(t, i, n), scale), v8_get(w, i, n)), i, n);
}

static void geglu(float *h, const float *g, const float *up, size_t n)
{
    const v8 c1 = v8_set1(-2.0f * 0.79788456080286535588f), c3 = v8_set1(-2.0f * 0.79788456080286535588f * 0.044715f),
             one = v8_set1(1.0f);
    for (size_t i = 0; i < n; i += 8) {
        uint32_t left = n - i < 8 ? (uint32_t)(n - i) : 8;
        v8 v = v8_get(g + i, 0, left), e = v8_exp(v8_mul(v, v8_fma(v8_mul(v, v), c3, c1)));
        v8_put(h + i, v8_mul(v8_div(v, v8_add(one, e)), v8_get(up + i, 0, left)), 0, left);
    }
}

static void head_rope(float *dst, const float *src, const float *w, const float *rope, uint32_t head_dim, float eps,
                      float scale)
{
    const uint32_t half = head_dim / 2;
    const float norm = w ? 1.0f / sqrtf(sum_squares(src, head_dim) / (float)head_dim + eps) : 1.0f;
    for (uint32_t i = 0; i < half; i++) {
        float a = src[i] * norm, b = src[half + i] * norm, c = rope ? rope[2 * i] : 1.0f,
              s = rope ? rope[2 * i + 1] : 0.0f;
        if (w) {
            a *= w[i];
            b *= w[half + i];
        }
        dst[i] = (a * c - b * s) * scale;
        dst[half + i] = (b * c + a * s) * scale;
    }
}

/* Loads elements i .. i + 7 of a row; i is a multiple of 8. */
FAST_INLINE v8 load8(const unsigned char *p, uint32_t i, const myth_dtype t)
{
    if (t == MYTH_F32)
        return v8_load((const float *)(const void *)(p + 4 * (size_t)i));
    if (t == MYTH_F16)
        return v8_f16(p + 2 * (size_t)i);
    if (t == MYTH_BF16)
        return v8_bf16(p + 2 * (size_t)i);
    const unsigned char *b = p + i / 32 * 34;
    uint16_t h;
    memcpy(&h, b, 2);
    return v8_mul(v8_i8(b + 2 + i % 32), v8_set1(myth_f16_to_f32(h)));
}

/* The same near the end of a row of n elements, where fewer than 8 may be left. */
FAST_INLINE v8 load8_n(const unsigned char *p, uint32_t i, uint32_t n, const myth_dtype t)
{
    unsigned char tail[32] = {0};
    const size_t bytes = t == MYTH_F32 ? 4 : 2;
    if (n - i >= 8)
        return load8(p, i, t);
    memcpy(tail, p + i * bytes, (n - i) * bytes);
    return load8(tail, 0, t);
}

static void row_to_f32(float *dst, const void *src, myth_dtype t, uint32_t n, float scale)
{
    const v8 s = v8_set1(scale);
    if (myth_dtype_is_quant(t) && t != MYTH_Q8_0) {
        cpu_row_to_f32(dst, src, t, n);
        for (uint32_t i = 0; i < n; i += 8)
            v8_put(dst, v8_mul(v8_get(dst, i, n), s), i, n);
        return;
    }
    for (uint32_t i = 0; i < n; i += 8)
        v8_put(dst, v8_mul(load8_n(src, i, n, t), s), i, n);
}

static void row_from_f32(void *dst, myth_dtype t, const float *src, uint32_t n)
{
    unsigned char *p = dst;
    if (t != MYTH_F16 || n % 8) {
        cpu_row_from_f32(dst, t, src, n);
        return;
    }
    for (uint32_t i = 0; i < n; i += 8)
        v8_to_f16(p + 2 * (size_t)i, v8_load(src + i));
}

static void cap(float *x, uint32_t n, float softcap)
{
    const v8 inv = v8_set1(1.0f / softcap), c = v8_set1(softcap);
    for (uint32_t i = 0; i < n; i += 8)
        v8_put(x, v8_mul(c, v8_tanh(v8_mul(v8_get(x, i, n), inv))), i, n);
}

static float largest(const float *x, uint32_t n)
{
    v8 m = v8_set1(-INFINITY);
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        v8 v = v8_load(x + i);
        m = v8_lt(m, v, v, m);
    }
    float most = v8_most(m);
    for (; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

/* d is one vector of logits minus the largest logit. Adds e^d to *s and d e^d to *w. */
FAST_INLINE void add_exp(v8 *s, v8 *w, v8 d)
{
    const v8 far = v8_set1(-87.0f), e = v8_lt(d, far, v8_zero(), v8_exp(d));
    *s = v8_add(*s, e);
    *w = v8_fma(e, v8_max(d, far), *w);
}

static void exp_sums(const float *x, uint32_t n, float m, float *sum, float *weighted)
{
    const v8 top = v8_set1(m);
    v8 s = v8_zero(), w = s;
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
        add_exp(&s, &w, v8_sub(v8_load(x + i), top));
    if (i < n) {
        float t[8] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
        memcpy(t, x + i, (n - i) * sizeof(float));
        add_exp(&s, &w, v8_sub(v8_load(t), top));
    }
    *sum = v8_sum(s);
    *weighted = v8_sum(w);
}

static void blend(float *o, const float *part, float a, float b, uint32_t n)
{
    const v8 va = v8_set1(a), vb = v8_set1(b);
    for (uint32_t i = 0; i < n; i += 8)
        v8_put(o, v8_fma(v8_get(part, i, n), vb, v8_mul(v8_get(o, i, n), va)), i, n);
}

/* ---- form ---- */

static size_t bytes_f32(uint32_t n) { return (size_t)(n + 31) / 32 * 128; }

static void convert_f32(void *dst, const float *x, uint32_t n)
{
    memcpy(dst, x, n * sizeof(float));
    memset((float *)dst + n, 0, bytes_f32(n) - n * sizeof(float));
}

static const struct fast_form form_f32 = {bytes_f32, convert_f32};

#endif
