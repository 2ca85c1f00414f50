/* fast_vec8.h - the inner kernels of levels with small vectors (avx2, neon), over primitives on 8 floats that the
 * including file defines.
 *
 * Included once by kernels_avx2.c and kernels_neon.c, after
 *   v8  8 floats: v8_set1 v8_load v8_store v8_add v8_sub v8_mul v8_div v8_fma(a, b, c) = a b + c, v8_max v8_min
 *       v8_round (to nearest even), v8_pow2 (2^n of whole n in -126..127), v8_lt(a, b, x, y) = a < b ? x : y, v8_sum
 *       v8_most, v8_transpose(v8 r[8]), v8_f16 v8_bf16 v8_i8 (8 stored elements widened), v8_to_f16 v8_to_i8 (rounded
 *       and stored)
 *   w8  32 bytes, or 8 i32: w8_load w8_set1 (a dword in every lane) w8_zero, w8_dot(c, w, x) = c + 4 signed products a
 *       lane, w8_nibbles (16 bytes of q4_0 to 32 values - 8), w8_f32 (i32 lanes to floats), w8_as_v8 and v8_store for
 *       moving bits; v8_two: lanes 0..3 and 4..7, which w8_dot fills from the first and the last 16 bytes
 *
 * Forms      i8: [k] i8, then k/32 f32 scales; f32: [k], zero to a multiple of 32. The same for prefill and decode.
 *            sums: i8, then for every 16 minus their sum times the scale, f32: what a minimum of the weights takes away
 * Panels     i8: per 32 inputs [8][32][4] i8, then 32 f32 scales; f32: [k][32]. Other blocks: [8][32][4] i8, scales
 *            [32] or one row for each half, then minima in the same way
 * Blocks     types without kernels of their own are unpacked 256 inputs at a time to bytes in L1; the four kernels
 *            behind know no type
 * Precision  quantised: blocks of 32 exact in i32, f32 multiply-adds over blocks; the rest f32
 * Limit      prefill: dot products of registers; decode: memory. Tiles are small: 16 vector registers (pairs on NEON)
 */
#include "fast.h"

#include "engine/base/blocks.h"

#include <math.h>
#include <string.h>

enum {
    PANEL_I8 = 1152,
    PANEL_F32 = 4096,
    SCALES = 1024,
    BLOCK = CPU_ATTN_BLOCK,
    ROWS_I8 = 3,
    ROWS_F32 = 6,
    ROWS_X = 4,
    AHEAD = 2048
};

FAST_INLINE v8 v8_zero(void) { return v8_set1(0.0f); }
FAST_INLINE v8 v8_abs(v8 x) { return v8_max(x, v8_sub(v8_zero(), x)); }

/* The first n < 8 of p, zeros behind; and back. */
FAST_INLINE v8 v8_load_n(const float *p, uint32_t n)
{
    float t[8] = {0.0f};
    memcpy(t, p, n * sizeof(float));
    return v8_load(t);
}
FAST_INLINE void v8_store_n(float *p, v8 v, uint32_t n)
{
    float t[8];
    v8_store(t, v);
    memcpy(p, t, n * sizeof(float));
}
FAST_INLINE v8 v8_get(const float *p, uint32_t i, uint32_t n)
{
    return n - i >= 8 ? v8_load(p + i) : v8_load_n(p + i, n - i);
}
FAST_INLINE void v8_put(float *p, v8 v, uint32_t i, uint32_t n)
{
    if (n - i >= 8)
        v8_store(p + i, v);
    else
        v8_store_n(p + i, v, n - i);
}

/* e^x, relative error below 3e-7, for x within -87.3..88.3; at the borders outside. */
FAST_INLINE v8 v8_exp(v8 x)
{
    x = v8_min(v8_max(x, v8_set1(-87.3f)), v8_set1(88.3f));
    v8 n = v8_round(v8_mul(x, v8_set1(1.44269504088896341f)));
    v8 r = v8_fma(n, v8_set1(-0.693145751953125f), x);
    r = v8_fma(n, v8_set1(-1.42860682030941723212e-6f), r);
    v8 p = v8_set1(1.0f / 720.0f);
    p = v8_fma(p, r, v8_set1(1.0f / 120.0f));
    p = v8_fma(p, r, v8_set1(1.0f / 24.0f));
    p = v8_fma(p, r, v8_set1(1.0f / 6.0f));
    p = v8_fma(p, r, v8_set1(0.5f));
    p = v8_fma(p, r, v8_set1(1.0f));
    p = v8_fma(p, r, v8_set1(1.0f));
    return v8_mul(p, v8_pow2(n));
}

/* (1 - e) / (1 + e), e = e^(-2|x|), with the sign of x; an odd polynomial below 0.25. */
FAST_INLINE v8 v8_tanh(v8 x)
{
    v8 one = v8_set1(1.0f), a = v8_abs(x), xx = v8_mul(x, x), e = v8_exp(v8_mul(a, v8_set1(-2.0f)));
    v8 big = v8_div(v8_sub(one, e), v8_add(one, e));
    v8 p = v8_set1(-1382.0f / 155925.0f);
    p = v8_fma(p, xx, v8_set1(62.0f / 2835.0f));
    p = v8_fma(p, xx, v8_set1(-17.0f / 315.0f));
    p = v8_fma(p, xx, v8_set1(2.0f / 15.0f));
    p = v8_fma(p, xx, v8_set1(-1.0f / 3.0f));
    v8 t = v8_lt(a, v8_set1(0.25f), v8_fma(v8_mul(p, xx), a, a), big);
    return v8_lt(x, v8_zero(), v8_sub(v8_zero(), t), t);
}

/* ---- rows ---- */

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

/* 8 elements from element i of a row; a multiple of 8 within a block of 32. */
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

/* The same where fewer than 8 may be left of a row of n. */
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
    float most = -INFINITY;
    uint32_t i = 0;
    if (n >= 8) {
        v8 m = v8_load(x);
        for (i = 8; i + 8 <= n; i += 8)
            m = v8_max(m, v8_load(x + i));
        most = v8_most(m);
    }
    for (; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

static void exp_sums(const float *x, uint32_t n, float m, float *sum, float *weighted)
{
    const v8 top = v8_set1(m), far = v8_set1(-87.0f);
    v8 s = v8_zero(), w = s;
    for (uint32_t i = 0; i < n; i += 8) {
        float t[8] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
        memcpy(t, x + i, (n - i < 8 ? n - i : 8) * sizeof(float));
        v8 d = v8_sub(v8_load(t), top), e = v8_lt(d, far, v8_zero(), v8_exp(d));
        s = v8_add(s, e);
        w = v8_fma(e, v8_max(d, far), w);
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

/* ---- forms ---- */

static size_t bytes_i8(uint32_t n) { return (n + n / 8 + 63) / 64 * 64; }

static void convert_i8(void *dst, const float *x, uint32_t n)
{
    unsigned char *q = dst;
    const v8 top = v8_set1(127.0f), bottom = v8_set1(-127.0f);
    for (uint32_t b = 0; b < n / 32; b++) {
        v8 v[4], m = v8_zero();
        for (int i = 0; i < 4; i++) {
            v[i] = v8_load(x + 32 * b + 8 * i);
            m = v8_max(m, v8_abs(v[i]));
        }
        float scale = v8_most(m) / 127.0f;
        v8 inv = v8_set1(scale > 0.0f ? 1.0f / scale : 0.0f);
        for (int i = 0; i < 4; i++)
            v8_to_i8(q + 32 * b + 8 * i, v8_min(v8_max(v8_mul(v[i], inv), bottom), top));
        memcpy(q + n + 4 * b, &scale, 4);
    }
}

static size_t bytes_f32(uint32_t n) { return (size_t)(n + 31) / 32 * 128; }

static void convert_f32(void *dst, const float *x, uint32_t n)
{
    memcpy(dst, x, n * sizeof(float));
    memset((float *)dst + n, 0, bytes_f32(n) - n * sizeof(float));
}

static size_t bytes_sums(uint32_t n) { return (n + n / 8 + n / 4 + 63) / 64 * 64; }

static void convert_sums(void *dst, const float *x, uint32_t n)
{
    convert_i8(dst, x, n);
    const int8_t *q = dst;
    const float *scale = (const float *)(const void *)(q + n);
    float *neg = (float *)dst + (n + n / 8) / 4;
    for (uint32_t b = 0; b < n / 16; b++, q += 16) {
        int sum = 0;
        for (int i = 0; i < 16; i++)
            sum += q[i];
        neg[b] = -scale[b / 2] * (float)sum;
    }
}

static const struct fast_form form_sums = {bytes_sums, convert_sums};
static const struct fast_form form_i8 = {bytes_i8, convert_i8}, form_f32 = {bytes_f32, convert_f32};

/* ---- packing ---- */

/* What one row gives to 8 dwords of the panel: group g of 8 inputs (floats), or all 32 bytes (quantised). */
FAST_INLINE v8 load_group(const unsigned char *w, uint32_t g, const myth_dtype t)
{
    if (t == MYTH_Q8_0)
        return w8_as_v8(w8_load(w + 2));
    if (t == MYTH_Q4_0)
        return w8_as_v8(w8_nibbles(w + 2));
    return load8(w, 8 * g, t);
}

/* A block of 32 inputs of up to 32 rows; rows past n_out repeat the last one, their outputs are never stored. */
FAST_INLINE void pack_block(unsigned char *dst, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                            const myth_dtype t)
{
    const bool is_quant = t == MYTH_Q8_0 || t == MYTH_Q4_0;
    for (uint32_t o = 0; o < FAST_PANEL; o += 8) {
        const unsigned char *p[8];
        for (uint32_t i = 0; i < 8; i++)
            p[i] = w + (size_t)(o + i < n_out ? o + i : n_out - 1) * row_bytes;
        for (uint32_t g = 0; g < (is_quant ? 1u : 4u); g++) {
            v8 r[8];
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                r[i] = load_group(p[i], g, t);
            v8_transpose(r);
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                v8_store((float *)(void *)(dst + 1024 * g + 128 * i + 4 * o), r[i]);
        }
        for (uint32_t i = 0; i < 8 && is_quant; i++) {
            uint16_t h;
            memcpy(&h, p[i], 2);
            float scale = myth_f16_to_f32(h);
            memcpy(dst + SCALES + 4 * (o + i), &scale, 4);
        }
    }
}

FAST_INLINE void pack(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                      uint32_t n_k, const myth_dtype t)
{
    const size_t step = t == MYTH_Q8_0 || t == MYTH_Q4_0 ? PANEL_I8 : PANEL_F32;
    const size_t block = t == MYTH_Q8_0 ? 34 : t == MYTH_Q4_0 ? 18 : t == MYTH_F32 ? 128 : 64;
    w += k0 / 32 * block;
    fast_ask_rows(w, row_bytes, n_out, FAST_AHEAD);
    for (uint32_t b = 0; b < n_k / 32; b++, panel += step, w += block) {
        fast_ask_rows(w + FAST_AHEAD, row_bytes, n_out, 1);
        pack_block(panel, w, row_bytes, n_out, t);
    }
    if (n_k % 32) { /* types without blocks only */
        unsigned char tail[FAST_PANEL * 128];
        memset(tail, 0, sizeof(tail));
        for (uint32_t o = 0; o < n_out; o++)
            memcpy(tail + 128 * o, w + o * row_bytes, n_k % 32 * (block / 32));
        pack_block(panel, tail, 128, n_out, t);
    }
}

/* ---- prefill ---- */

/* n rows x 16 outputs from output 16 half of the panel; n_out of them exist. */
FAST_INLINE void tile_i8(float *c, size_t ldc, uint32_t n_out, bool add, const unsigned char *p, const unsigned char *x,
                         size_t xb, uint32_t n_in, uint32_t k0, uint32_t n_k, const int n)
{
    v8 f[2 * ROWS_I8];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        for (uint32_t i = 0; i < 2; i++)
            f[2 * r + (int)i] = add && n_out > 8 * i ? v8_get(c + (size_t)r * ldc, 8 * i, n_out) : v8_zero();
    const unsigned char *scale = x + n_in + k0 / 8;
    x += k0;
    for (uint32_t b = 0; b < n_k / 32; b++, p += PANEL_I8, x += 32, scale += 4) {
        w8 a[2 * ROWS_I8];
        FAST_UNROLL
        for (int i = 0; i < 2 * n; i++)
            a[i] = w8_zero();
        FAST_UNROLL
        for (int k = 0; k < 8; k++) {
            w8 w0 = w8_load(p + 128 * k), w1 = w8_load(p + 128 * k + 32);
            FAST_UNROLL
            for (int r = 0; r < n; r++) {
                w8 v = w8_set1(x + (size_t)r * xb + 4 * k);
                a[2 * r] = w8_dot(a[2 * r], w0, v);
                a[2 * r + 1] = w8_dot(a[2 * r + 1], w1, v);
            }
        }
        const float *ws = (const float *)(const void *)(p + SCALES);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            float s;
            memcpy(&s, scale + (size_t)r * xb, 4);
            f[2 * r] = v8_fma(w8_f32(a[2 * r]), v8_mul(v8_set1(s), v8_load(ws)), f[2 * r]);
            f[2 * r + 1] = v8_fma(w8_f32(a[2 * r + 1]), v8_mul(v8_set1(s), v8_load(ws + 8)), f[2 * r + 1]);
        }
    }
    for (int r = 0; r < n; r++)
        for (uint32_t i = 0; i < 2 && n_out > 8 * i; i++)
            v8_put(c + (size_t)r * ldc, f[2 * r + (int)i], 8 * i, n_out);
}

FAST_INLINE void tile_f32(float *c, size_t ldc, uint32_t n_out, bool add, const unsigned char *p,
                          const unsigned char *x, size_t xb, uint32_t k0, uint32_t n_k, const int n)
{
    v8 f[2 * ROWS_F32];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        for (uint32_t i = 0; i < 2; i++)
            f[2 * r + (int)i] = add && n_out > 8 * i ? v8_get(c + (size_t)r * ldc, 8 * i, n_out) : v8_zero();
    const float *w = (const float *)(const void *)p;
    x += 4 * (size_t)k0;
    for (uint32_t k = 0; k < (n_k + 31) / 32 * 32; k++, w += FAST_PANEL, x += 4) {
        v8 w0 = v8_load(w), w1 = v8_load(w + 8);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            v8 v = v8_set1(*(const float *)(const void *)(x + (size_t)r * xb));
            f[2 * r] = v8_fma(w0, v, f[2 * r]);
            f[2 * r + 1] = v8_fma(w1, v, f[2 * r + 1]);
        }
    }
    for (int r = 0; r < n; r++)
        for (uint32_t i = 0; i < 2 && n_out > 8 * i; i++)
            v8_put(c + (size_t)r * ldc, f[2 * r + (int)i], 8 * i, n_out);
}

#define NEXT(n) c += (n)*ldc, x += (n)*x_bytes, n_rows -= (n)

static void gemm_i8_half(float *c, size_t ldc, uint32_t n_out, const unsigned char *p, const unsigned char *x,
                         size_t x_bytes, uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
#define TILE(n) tile_i8(c, ldc, n_out, k0 > 0, p, x, x_bytes, n_in, k0, n_k, n)
    while (n_rows >= 3) {
        TILE(3);
        NEXT(3);
    }
    if (n_rows == 2)
        TILE(2);
    else if (n_rows == 1)
        TILE(1);
#undef TILE
}

/* The scales of the second half lie 64 bytes on as its values do. */
static void gemm_i8(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                    uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    gemm_i8_half(c, ldc, n_out < 16 ? n_out : 16, panel, x, x_bytes, n_rows, n_in, k0, n_k);
    if (n_out > 16)
        gemm_i8_half(c + 16, ldc, n_out - 16, (const unsigned char *)panel + 64, x, x_bytes, n_rows, n_in, k0, n_k);
}

static void gemm_f32_half(float *c, size_t ldc, uint32_t n_out, const unsigned char *p, const unsigned char *x,
                          size_t x_bytes, uint32_t n_rows, uint32_t k0, uint32_t n_k)
{
#define TILE(n) tile_f32(c, ldc, n_out, k0 > 0, p, x, x_bytes, k0, n_k, n)
    while (n_rows >= 6) {
        TILE(6);
        NEXT(6);
    }
    while (n_rows >= 2) {
        TILE(2);
        NEXT(2);
    }
    if (n_rows)
        TILE(1);
#undef TILE
}

static void gemm_f32(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                     uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    (void)n_in;
    gemm_f32_half(c, ldc, n_out < 16 ? n_out : 16, panel, x, x_bytes, n_rows, k0, n_k);
    if (n_out > 16)
        gemm_f32_half(c + 16, ldc, n_out - 16, (const unsigned char *)panel + 64, x, x_bytes, n_rows, k0, n_k);
}

/* ---- decode ---- */

FAST_INLINE void row_quant(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                           uint32_t n_in, const int n, const myth_dtype t)
{
    const size_t block = t == MYTH_Q8_0 ? 34 : 18;
    v8 acc[ROWS_X];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        acc[r] = v8_zero();
    for (uint32_t b = 0; b < n_in / 32; b++, w += block) {
        __builtin_prefetch(w + AHEAD);
        uint16_t h;
        memcpy(&h, w, 2);
        float scale = v8_half(h);
        w8 v = t == MYTH_Q8_0 ? w8_load(w + 2) : w8_nibbles(w + 2);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            const unsigned char *q = x + (size_t)r * xb;
            float s;
            memcpy(&s, q + n_in + 4 * b, 4);
            acc[r] = v8_fma(w8_f32(w8_dot(w8_zero(), v, w8_load(q + 32 * b))), v8_set1(s * scale), acc[r]);
        }
    }
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = v8_sum(acc[r]);
}

FAST_INLINE void row_float(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                           uint32_t n_in, const int n, const myth_dtype t)
{
    v8 a[ROWS_X], b[ROWS_X]; /* two chains: one would wait for itself */
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        a[r] = b[r] = v8_zero();
    uint32_t k = 0;
    for (; k + 16 <= n_in; k += 16) {
        __builtin_prefetch(w + AHEAD + k * (t == MYTH_F32 ? 4u : 2u));
        v8 u = load8(w, k, t), v = load8(w, k + 8, t);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            const float *q = (const float *)(const void *)(x + (size_t)r * xb) + k;
            a[r] = v8_fma(u, v8_load(q), a[r]);
            b[r] = v8_fma(v, v8_load(q + 8), b[r]);
        }
    }
    for (; k < n_in; k += 8) {
        v8 u = load8_n(w, k, n_in, t);
        FAST_UNROLL
        for (int r = 0; r < n; r++)
            a[r] = v8_fma(u, v8_load((const float *)(const void *)(x + (size_t)r * xb) + k), a[r]);
    }
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = v8_sum(v8_add(a[r], b[r]));
}

#define KERNELS(name, ROW, t)                                                                                   \
    static void pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k)                                                                       \
    {                                                                                                           \
        pack(panel, w, row_bytes, n_out, k0, n_k, t);                                                           \
    }                                                                                                           \
    static void gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,     \
                            const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)             \
    {                                                                                                           \
        for (uint32_t o = 0; o < n_out; o++, w += row_bytes)                                                    \
            for (uint32_t r = 0; r < n_rows; r += ROWS_X) {                                                     \
                const unsigned char *xr = x + (size_t)r * x_bytes;                                              \
                float *yr = y + (size_t)r * ldy + o;                                                            \
                switch (n_rows - r) {                                                                           \
                case 1: ROW(yr, ldy, w, xr, x_bytes, n_in, 1, t); break;                                        \
                case 2: ROW(yr, ldy, w, xr, x_bytes, n_in, 2, t); break;                                        \
                case 3: ROW(yr, ldy, w, xr, x_bytes, n_in, 3, t); break;                                        \
                default: ROW(yr, ldy, w, xr, x_bytes, n_in, 4, t); break;                                       \
                }                                                                                               \
            }                                                                                                   \
    }
KERNELS(q8, row_quant, MYTH_Q8_0)
KERNELS(q4, row_quant, MYTH_Q4_0)
KERNELS(f32, row_float, MYTH_F32)
KERNELS(f16, row_float, MYTH_F16)
KERNELS(bf16, row_float, MYTH_BF16)

/* ---- blocks of other types ---- */

typedef void unpack_fn(int8_t *restrict q, float *restrict scale, float *restrict min, const unsigned char *restrict p,
                       uint32_t n);

enum { CHUNK = MYTH_BLOCK_MAX, SUBS = MYTH_BLOCK_SUBS };

FAST_INLINE size_t blocks_panel(const bool has_half, const bool has_min)
{
    return SCALES + 128u * (has_half ? 2 : 1) * (has_min ? 2 : 1);
}

/* Chunks of 256 inputs of 8 rows are unpacked, then turned block by block; rows past n_out repeat the last one. */
FAST_INLINE void pack_chunk(unsigned char *panel, const unsigned char *const p[8], uint32_t o, uint32_t n,
                            unpack_fn *unpack, const bool has_half, const bool has_min)
{
    _Alignas(32) int8_t q[8][CHUNK];
    float scale[8][SUBS], min[8][SUBS];
    for (int i = 0; i < 8; i++)
        unpack(q[i], scale[i], min[i], p[i], n);
    for (uint32_t b = 0; b < n / 32; b++, panel += blocks_panel(has_half, has_min)) {
        v8 r[8];
        FAST_UNROLL
        for (int i = 0; i < 8; i++)
            r[i] = w8_as_v8(w8_load(q[i] + 32 * b));
        v8_transpose(r);
        FAST_UNROLL
        for (int i = 0; i < 8; i++)
            v8_store((float *)(void *)(panel + 128 * i + 4 * o), r[i]);
        float *to = (float *)(void *)(panel + SCALES) + o;
        for (int i = 0; i < 8; i++) {
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
                             uint32_t k0, uint32_t n_k, unpack_fn *unpack, myth_dtype t, const bool has_half,
                             const bool has_min)
{
    const size_t chunk = (size_t)myth_row_bytes(t, CHUNK);
    w += myth_row_bytes(t, k0);
    fast_ask_rows(w, row_bytes, n_out, chunk);
    for (uint32_t k = 0; k < n_k; k += CHUNK, w += chunk, panel += CHUNK / 32 * blocks_panel(has_half, has_min)) {
        fast_ask_rows(w + chunk, row_bytes, n_out, chunk);
        for (uint32_t o = 0; o < FAST_PANEL; o += 8) {
            const unsigned char *p[8];
            for (uint32_t i = 0; i < 8; i++)
                p[i] = w + (size_t)(o + i < n_out ? o + i : n_out - 1) * row_bytes;
            pack_chunk(panel, p, o, n_k - k < CHUNK ? n_k - k : CHUNK, unpack, has_half, has_min);
        }
    }
}

/* Inputs [4 from, 4 to) of a block of 32: half h of it, or all. ws, wm: the scales and minima of the part. */
FAST_INLINE void part_blocks(v8 *f, const unsigned char *p, const float *ws, const float *wm, const unsigned char *x,
                             const unsigned char *scale, const unsigned char *neg, size_t xb, const int n, const int h,
                             const bool has_half, const bool has_min)
{
    const int from = 4 * h, to = has_half ? from + 4 : 8;
    w8 a[2 * ROWS_I8];
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        a[i] = w8_zero();
    FAST_UNROLL
    for (int k = from; k < to; k++) {
        w8 w0 = w8_load(p + 128 * k), w1 = w8_load(p + 128 * k + 32);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            w8 v = w8_set1(x + (size_t)r * xb + 4 * k);
            a[2 * r] = w8_dot(a[2 * r], w0, v);
            a[2 * r + 1] = w8_dot(a[2 * r + 1], w1, v);
        }
    }
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        float s, m[2];
        memcpy(&s, scale + (size_t)r * xb, 4);
        f[2 * r] = v8_fma(w8_f32(a[2 * r]), v8_mul(v8_set1(s), v8_load(ws)), f[2 * r]);
        f[2 * r + 1] = v8_fma(w8_f32(a[2 * r + 1]), v8_mul(v8_set1(s), v8_load(ws + 8)), f[2 * r + 1]);
        if (!has_min)
            continue;
        memcpy(m, neg + (size_t)r * xb, 8);
        v8 v = v8_set1(has_half ? m[h] : m[0] + m[1]);
        f[2 * r] = v8_fma(v8_load(wm), v, f[2 * r]);
        f[2 * r + 1] = v8_fma(v8_load(wm + 8), v, f[2 * r + 1]);
    }
}

/* n rows x 16 outputs, as tile_i8. */
FAST_INLINE void tile_blocks(float *c, size_t ldc, uint32_t n_out, bool add, const unsigned char *p,
                             const unsigned char *x, size_t xb, uint32_t n_in, uint32_t k0, uint32_t n_k, const int n,
                             const bool has_half, const bool has_min)
{
    v8 f[2 * ROWS_I8];
    FAST_UNROLL
    for (int r = 0; r < n; r++)
        for (uint32_t i = 0; i < 2; i++)
            f[2 * r + (int)i] = add && n_out > 8 * i ? v8_get(c + (size_t)r * ldc, 8 * i, n_out) : v8_zero();
    const unsigned char *scale = x + n_in + k0 / 8, *neg = x + n_in + n_in / 8 + k0 / 4;
    x += k0;
    for (uint32_t b = 0; b < n_k / 32; b++, p += blocks_panel(has_half, has_min), x += 32, scale += 4, neg += 8) {
        const float *ws = (const float *)(const void *)(p + SCALES), *wm = ws + (has_half ? 64 : 32);
        part_blocks(f, p, ws, wm, x, scale, neg, xb, n, 0, has_half, has_min);
        if (has_half)
            part_blocks(f, p, ws + 32, wm + 32, x, scale, neg, xb, n, 1, has_half, has_min);
    }
    for (int r = 0; r < n; r++)
        for (uint32_t i = 0; i < 2 && n_out > 8 * i; i++)
            v8_put(c + (size_t)r * ldc, f[2 * r + (int)i], 8 * i, n_out);
}

/* n rows of x against one row of weights. */
FAST_INLINE void row_blocks(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                            uint32_t n_in, unpack_fn *unpack, size_t chunk, const int n, const bool has_half,
                            const bool has_min)
{
    _Alignas(32) int8_t q[CHUNK];
    float scale[SUBS], min[SUBS];
    v8 acc[ROWS_X];
    float less[ROWS_X];
    FAST_UNROLL
    for (int r = 0; r < n; r++) {
        acc[r] = v8_zero();
        less[r] = 0.0f;
    }
    for (uint32_t k = 0; k < n_in; k += CHUNK, w += chunk) {
        const uint32_t n_k = n_in - k < CHUNK ? n_in - k : CHUNK;
        for (size_t line = 0; line < chunk; line += 64)
            __builtin_prefetch(w + AHEAD + line);
        unpack(q, scale, min, w, n_k);
        for (uint32_t b = 0; b < n_k / 32; b++) {
            w8 v = w8_load(q + 32 * b);
            v8 ws = has_half ? v8_two(scale[2 * b], scale[2 * b + 1]) : v8_set1(scale[2 * b]);
            FAST_UNROLL
            for (int r = 0; r < n; r++) {
                const unsigned char *xr = x + (size_t)r * xb;
                float s, m[2];
                memcpy(&s, xr + n_in + k / 8 + 4 * b, 4);
                acc[r] = v8_fma(w8_f32(w8_dot(w8_zero(), v, w8_load(xr + k + 32 * b))), v8_mul(v8_set1(s), ws), acc[r]);
                if (!has_min)
                    continue;
                memcpy(m, xr + n_in + n_in / 8 + k / 4 + 8 * b, 8);
                less[r] += has_half ? min[2 * b] * m[0] + min[2 * b + 1] * m[1] : min[2 * b] * (m[0] + m[1]);
            }
        }
    }
    for (int r = 0; r < n; r++)
        y[(size_t)r * ldy] = v8_sum(acc[r]) + less[r];
}

#define GEMM_BLOCKS(kernel, has_half, has_min)                                                                         \
    static void gemm_##kernel##_half(float *c, size_t ldc, uint32_t n_out, const unsigned char *p,                     \
                                     const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in,           \
                                     uint32_t k0, uint32_t n_k)                                                        \
    {                                                                                                                  \
        while (n_rows >= 3) {                                                                                          \
            tile_blocks(c, ldc, n_out, k0 > 0, p, x, x_bytes, n_in, k0, n_k, 3, has_half, has_min);                    \
            NEXT(3);                                                                                                   \
        }                                                                                                              \
        if (n_rows == 2)                                                                                               \
            tile_blocks(c, ldc, n_out, k0 > 0, p, x, x_bytes, n_in, k0, n_k, 2, has_half, has_min);                    \
        else if (n_rows == 1)                                                                                          \
            tile_blocks(c, ldc, n_out, k0 > 0, p, x, x_bytes, n_in, k0, n_k, 1, has_half, has_min);                    \
    }                                                                                                                  \
    static void gemm_##kernel(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x,         \
                              size_t x_bytes, uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)               \
    {                                                                                                                  \
        gemm_##kernel##_half(c, ldc, n_out < 16 ? n_out : 16, panel, x, x_bytes, n_rows, n_in, k0, n_k);               \
        if (n_out > 16)                                                                                                \
            gemm_##kernel##_half(c + 16, ldc, n_out - 16, (const unsigned char *)panel + 64, x, x_bytes, n_rows, n_in, \
                                 k0, n_k);                                                                             \
    }
GEMM_BLOCKS(min, false, true)
GEMM_BLOCKS(half, true, false)
GEMM_BLOCKS(both, true, true)
#define gemm_one gemm_i8 /* the sums lie behind what it reads */

#define BLOCK_KERNELS(kernel, has_half, has_min)                                                                \
    static void rows_##kernel(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,   \
                              const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in,           \
                              unpack_fn *unpack, size_t chunk)                                                  \
    {                                                                                                           \
        for (uint32_t o = 0; o < n_out; o++, w += row_bytes)                                                    \
            for (uint32_t r = 0; r < n_rows; r += ROWS_X) {                                                     \
                const unsigned char *xr = x + (size_t)r * x_bytes;                                              \
                float *yr = y + (size_t)r * ldy + o;                                                            \
                switch (n_rows - r) {                                                                           \
                case 1: row_blocks(yr, ldy, w, xr, x_bytes, n_in, unpack, chunk, 1, has_half, has_min); break;  \
                case 2: row_blocks(yr, ldy, w, xr, x_bytes, n_in, unpack, chunk, 2, has_half, has_min); break;  \
                case 3: row_blocks(yr, ldy, w, xr, x_bytes, n_in, unpack, chunk, 3, has_half, has_min); break;  \
                default: row_blocks(yr, ldy, w, xr, x_bytes, n_in, unpack, chunk, 4, has_half, has_min); break; \
                }                                                                                               \
            }                                                                                                   \
    }                                                                                                           \
    static void panel_##kernel(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out,  \
                               uint32_t k0, uint32_t n_k, unpack_fn *unpack, myth_dtype t)                      \
    {                                                                                                           \
        pack_blocks(panel, w, row_bytes, n_out, k0, n_k, unpack, t, has_half, has_min);                         \
    }                                                                                                           \
    enum { PANEL_##kernel = SCALES + 128 * ((has_half) ? 2 : 1) * ((has_min) ? 2 : 1) };
BLOCK_KERNELS(one, false, false)
BLOCK_KERNELS(min, false, true)
BLOCK_KERNELS(half, true, false)
BLOCK_KERNELS(both, true, true)

#define BLOCK_TYPE(name, type, kernel)                                                                          \
    static void unpack_##name(int8_t *restrict q, float *restrict scale, float *restrict min,                   \
                              const unsigned char *restrict p, uint32_t n)                                      \
    {                                                                                                           \
        myth_blocks_unpack(MYTH_##type, q, scale, min, p, n);                                                   \
    }                                                                                                           \
    static void pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k)                                                                       \
    {                                                                                                           \
        panel_##kernel(panel, w, row_bytes, n_out, k0, n_k, unpack_##name, MYTH_##type);                        \
    }                                                                                                           \
    static void gemv_##name(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out,     \
                            const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)             \
    {                                                                                                           \
        rows_##kernel(y, ldy, w, row_bytes, n_out, x, x_bytes, n_rows, n_in, unpack_##name,                     \
                      (size_t)myth_row_bytes(MYTH_##type, CHUNK));                                              \
    }
FAST_BLOCK_TYPES(BLOCK_TYPE)

/* ---- attention ---- */

/* Keys [*from, *to) of the block that the row at pos sees. */
FAST_INLINE void row_reach(const struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row, int32_t *from,
                           int32_t *to)
{
    const int32_t first = t->first[row], last = t->last[row];
    *from = first > b->j0 ? first - b->j0 : 0;
    *to = last < b->j0 ? 0 : last - b->j0 + 1;
    *from = *from < BLOCK ? *from : BLOCK;
    *to = *to < BLOCK ? *to : BLOCK;
}

/* Keys [*from, *to) that exist and some row sees. */
static void tile_reach(const struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t *from, uint32_t *to)
{
    int32_t first = BLOCK, end = 0;
    for (uint32_t i = 0; i < t->n_q; i++) {
        int32_t f, e;
        row_reach(t, b, i, &f, &e);
        first = f < first ? f : first;
        end = e > end ? e : end;
    }
    while (first < end && !b->k[first])
        first++;
    while (first < end && !b->k[end - 1])
        end--;
    *from = (uint32_t)first;
    *to = end > first ? (uint32_t)end : (uint32_t)first;
}

/* Scores in s become weights; m, l and fade of the row. */
static void weigh(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row)
{
    float *s = t->s + (size_t)row * BLOCK;
    int32_t from, to;
    row_reach(t, b, row, &from, &to);
    t->fade[row] = 1.0f;
    if (from >= to || (from >= b->gap0 && to <= b->gap1)) {
        memset(s, 0, BLOCK * sizeof(float));
        return;
    }
    if (t->softcap > 0.0f)
        cap(s, BLOCK, t->softcap);
    float most = t->m[row];
    for (int32_t j = from; j < to; j++)
        if (j < b->gap0 || j >= b->gap1)
            most = s[j] > most ? s[j] : most;
    const v8 m = v8_set1(most);
    v8 sum = v8_zero();
    for (uint32_t j = 0; j < BLOCK; j += 8)
        v8_store(s + j, v8_exp(v8_sub(v8_load(s + j), m)));
    memset(s, 0, (size_t)from * sizeof(float));
    memset(s + to, 0, (size_t)(BLOCK - to) * sizeof(float));
    memset(s + b->gap0, 0, (size_t)(b->gap1 - b->gap0) * sizeof(float));
    for (uint32_t j = 0; j < BLOCK; j += 8)
        sum = v8_add(sum, v8_load(s + j));
    t->fade[row] = t->m[row] > -INFINITY ? expf(t->m[row] - most) : 0.0f;
    t->l[row] = t->l[row] * t->fade[row] + v8_sum(sum);
    t->m[row] = most;
}

FAST_INLINE void pack_keys(float *panel, const struct fast_attn_block *b, uint32_t hd, const myth_dtype t)
{
    for (uint32_t g = 0; g < BLOCK; g += 8)
        for (uint32_t d = 0; d < hd; d += 8) {
            v8 r[8];
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                r[i] = b->k[g + (uint32_t)i] ? load8(b->k[g + (uint32_t)i], d, t) : v8_zero();
            v8_transpose(r);
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                v8_store(panel + (size_t)(d + (uint32_t)i) * BLOCK + g, r[i]);
        }
}

FAST_INLINE void pack_values(float *panel, const struct fast_attn_block *b, uint32_t hd, uint32_t from, uint32_t to,
                             const myth_dtype t)
{
    for (uint32_t i = from; i < to; i++)
        for (uint32_t d = 0; d < hd; d += 8)
            v8_store(panel + (size_t)i * hd + d, load8(b->v[i], d, t));
}

/* s[n][j0 .. j0 + 16) = q[n][:] panel[:][j0 ..) */
FAST_INLINE void score_tile(struct fast_attn_tile *t, uint32_t row, uint32_t j0, const int n)
{
    v8 f[2 * ROWS_F32];
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        f[i] = v8_zero();
    const float *k = t->panel + j0, *const *q = t->q + row;
    for (uint32_t d = 0; d < t->head_dim; d++, k += BLOCK) {
        v8 k0 = v8_load(k), k1 = v8_load(k + 8);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            v8 x = v8_set1(q[r][d]);
            f[2 * r] = v8_fma(k0, x, f[2 * r]);
            f[2 * r + 1] = v8_fma(k1, x, f[2 * r + 1]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        v8_store(t->s + (row + (size_t)(i / 2)) * BLOCK + j0 + 8 * (uint32_t)(i % 2), f[i]);
}

/* o[n][d .. d + 16) = o fade + s[n][from .. to) panel[j][d ..) */
FAST_INLINE void value_tile(struct fast_attn_tile *t, uint32_t row, uint32_t d, uint32_t from, uint32_t to, const int n)
{
    v8 f[2 * ROWS_F32];
    const size_t hd = t->head_dim;
    float *o = t->o + row * hd + d;
    const float *s = t->s + (size_t)row * BLOCK, *v = t->panel + from * hd + d;
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        f[i] = v8_mul(v8_load(o + (size_t)(i / 2) * hd + 8 * (i % 2)), v8_set1(t->fade[row + (uint32_t)(i / 2)]));
    for (uint32_t j = from; j < to; j++, v += hd) {
        v8 x0 = v8_load(v), x1 = v8_load(v + 8);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            v8 p = v8_set1(s[(size_t)r * BLOCK + j]);
            f[2 * r] = v8_fma(x0, p, f[2 * r]);
            f[2 * r + 1] = v8_fma(x1, p, f[2 * r + 1]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        v8_store(o + (size_t)(i / 2) * hd + 8 * (i % 2), f[i]);
}

#define SWEEP(TILE)                         \
    do {                                    \
        uint32_t row = 0;                   \
        for (; row + 6 <= t->n_q; row += 6) \
            TILE(6);                        \
        for (; row + 2 <= t->n_q; row += 2) \
            TILE(2);                        \
        if (row < t->n_q)                   \
            TILE(1);                        \
    } while (0)
#define BY_TYPE(type, call)                 \
    switch (type) {                         \
    case MYTH_F32: call(MYTH_F32); break;   \
    case MYTH_F16: call(MYTH_F16); break;   \
    case MYTH_BF16: call(MYTH_BF16); break; \
    default: call(MYTH_Q8_0); break;        \
    }

static void fold_values(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < t->n_q; i++)
        weigh(t, b, i);
#define CALL(type) pack_values(t->panel, b, t->head_dim, from, to, type)
    BY_TYPE(b->v_type, CALL)
#undef CALL
#define TILE(n) value_tile(t, row, d, from, to, n)
    for (uint32_t d = 0; d < t->head_dim; d += 16)
        SWEEP(TILE);
#undef TILE
}

static void attn_block(struct fast_attn_tile *t, const struct fast_attn_block *b)
{
    uint32_t from, to;
    tile_reach(t, b, &from, &to);
    if (from == to)
        return;
#define CALL(type) pack_keys(t->panel, b, t->head_dim, type)
    BY_TYPE(b->k_type, CALL)
#undef CALL
#define TILE(n) score_tile(t, row, j, n)
    for (uint32_t j = 0; j < BLOCK; j += 16)
        SWEEP(TILE);
#undef TILE
    fold_values(t, b, from, to);
}

FAST_INLINE void scores_few(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t from, uint32_t to,
                            const myth_dtype type)
{
    const uint32_t hd = t->head_dim;
    for (uint32_t j = from; j < to; j++) {
        for (uint32_t d = 0; d < hd; d += 8) /* widened once for all rows */
            v8_store(t->panel + d, load8(b->k[j], d, type));
        for (uint32_t i = 0; i < t->n_q; i++) {
            v8 u = v8_zero(), v = u;
            for (uint32_t d = 0; d < hd; d += 16) {
                u = v8_fma(v8_load(t->panel + d), v8_load(t->q[i] + d), u);
                v = v8_fma(v8_load(t->panel + d + 8), v8_load(t->q[i] + d + 8), v);
            }
            t->s[(size_t)i * BLOCK + j] = v8_sum(v8_add(u, v));
        }
    }
}

static void attn_block_few(struct fast_attn_tile *t, const struct fast_attn_block *b)
{
    uint32_t from, to;
    tile_reach(t, b, &from, &to);
    if (from == to)
        return;
    memset(t->s, 0, (size_t)t->n_q * BLOCK * sizeof(float));
#define CALL(type) scores_few(t, b, from, to, type)
    BY_TYPE(b->k_type, CALL)
#undef CALL
    fold_values(t, b, from, to);
}

static const struct fast_kernels kernels = {
    .mat = {[MYTH_F32] = {&form_f32, &form_f32, pack_f32, gemm_f32, gemv_f32, PANEL_F32},
            [MYTH_F16] = {&form_f32, &form_f32, pack_f16, gemm_f32, gemv_f16, PANEL_F32},
            [MYTH_BF16] = {&form_f32, &form_f32, pack_bf16, gemm_f32, gemv_bf16, PANEL_F32},
            [MYTH_Q8_0] = {&form_i8, &form_i8, pack_q8, gemm_i8, gemv_q8, PANEL_I8},
            [MYTH_Q4_0] = {&form_i8, &form_i8, pack_q4, gemm_i8, gemv_q4, PANEL_I8},
#define MAT(name, type, kernel) \
    [MYTH_##type] = {&form_sums, &form_sums, pack_##name, gemm_##kernel, gemv_##name, PANEL_##kernel},
            FAST_BLOCK_TYPES(MAT)
#undef MAT
    },
    .norm_row = norm_row,
    .geglu = geglu,
    .head_rope = head_rope,
    .row_to_f32 = row_to_f32,
    .row_from_f32 = row_from_f32,
    .attn_block = attn_block,
    .attn_block_few = attn_block_few,
    .blend = blend,
    .cap = cap,
    .largest = largest,
    .exp_sums = exp_sums,
};
