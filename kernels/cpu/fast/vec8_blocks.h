/* vec8_blocks.h - quantised products for a level that has no kernels of its own for them, over the primitives of
 * fast_vec8.h. q8_0 and q4_0 are read as they are; every other type is unpacked first.
 *
 * neon.h includes it once, after fast_vec8.h, and after it has defined
 *   w8  32 bytes, or 8 i32: w8_load, w8_set1 (a dword in every lane), w8_zero, w8_dot(c, w, x) = c + 4 signed products
 *       in each lane, w8_nibbles (16 bytes of q4_0 to 32 values, minus 8), w8_f32 (i32 lanes to floats), w8_as_v8 (the
 *       same bits as a v8, for v8_transpose and v8_store)
 *   v8_two(a, b)  a in lanes 0..3 and b in lanes 4..7. w8_dot fills these from the first and the last 16 bytes, so a
 *       and b are the scales of the halves of a block
 *
 * Forms      i8: [k] i8, then k/32 f32 scales; the same for prefill and decode. sums: the same, then for every 16
 *            inputs an f32, minus their sum times the scale. Its product with a minimum of the weights is what that
 *            minimum adds to an output
 * Panels     per 32 inputs: [8][32][4] i8, then 32 f32 scales. Types with a scale for each half of a block have a
 *            second row of scales; types with minima have one row of them, or two, after the scales
 * Blocks     types other than q8_0 and q4_0 are unpacked 256 inputs at a time to bytes in L1. The four kernels that
 *            read these bytes differ in scales and minima only (FAST_BLOCK_TYPES in fast.h)
 * Precision  blocks of 32 (or halves) exact in i32, f32 multiply-adds over blocks */
#ifndef MYTH_CPU_VEC8_BLOCKS_H
#define MYTH_CPU_VEC8_BLOCKS_H

#include "fast_vec8.h"

#include "engine/base/blocks.h"

enum { PANEL_I8 = 1152, SCALES = 1024, ROWS_I8 = 3 };

/* ---- forms ---- */

static size_t bytes_i8(uint32_t n) { return (n + n / 8 + 63) / 64 * 64; }

/* A value that is not finite makes the scale of its block so: NEON's v8_max and v8_most are NaN where an operand is. */
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

static const struct fast_form form_sums = {bytes_sums, convert_sums}, form_i8 = {bytes_i8, convert_i8};

/* ---- packing ---- */

/* Loads the 32 values of a q8_0 or q4_0 block as bytes. */
FAST_INLINE v8 load_block(const unsigned char *w, const myth_dtype t)
{
    return w8_as_v8(t == MYTH_Q8_0 ? w8_load(w + 2) : w8_nibbles(w + 2));
}

/* Packs 32 inputs of up to 32 weight rows. Rows past n_out repeat the last one; their outputs are never stored. */
FAST_INLINE void pack_quant_block(unsigned char *dst, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                                  const myth_dtype t)
{
    for (uint32_t o = 0; o < FAST_PANEL; o += 8) {
        const unsigned char *p[8];
        for (uint32_t i = 0; i < 8; i++)
            p[i] = w + (size_t)(o + i < n_out ? o + i : n_out - 1) * row_bytes;
        v8 r[8];
        FAST_UNROLL
        for (int i = 0; i < 8; i++)
            r[i] = load_block(p[i], t);
        v8_transpose(r);
        FAST_UNROLL
        for (int i = 0; i < 8; i++)
            v8_store((float *)(void *)(dst + 128 * i + 4 * o), r[i]);
        for (uint32_t i = 0; i < 8; i++) {
            uint16_t h;
            memcpy(&h, p[i], 2);
            float scale = myth_f16_to_f32(h);
            memcpy(dst + SCALES + 4 * (o + i), &scale, 4);
        }
    }
}

FAST_INLINE void pack_quant(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                            uint32_t n_k, const myth_dtype t)
{
    const size_t block = t == MYTH_Q8_0 ? 34 : 18;
    w += k0 / 32 * block;
    fast_ask_rows(w, row_bytes, n_out, FAST_AHEAD);
    for (uint32_t b = 0; b < n_k / 32; b++, panel += PANEL_I8, w += block) {
        fast_ask_rows(w + FAST_AHEAD, row_bytes, n_out, block);
        pack_quant_block(panel, w, row_bytes, n_out, t);
    }
}

/* ---- prefill ---- */

/* Multiplies n rows of x with the 16 outputs of the half panel at p, and stores the first n_out of them to c, or adds
 * them to what c holds if `add`. */
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

/* The second half panel starts 64 bytes on: in each row of the panel, 16 values (dwords or scales) are 64 bytes. */
static void gemm_i8(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                    uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    gemm_i8_half(c, ldc, n_out < 16 ? n_out : 16, panel, x, x_bytes, n_rows, n_in, k0, n_k);
    if (n_out > 16)
        gemm_i8_half(c + 16, ldc, n_out - 16, (const unsigned char *)panel + 64, x, x_bytes, n_rows, n_in, k0, n_k);
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

KERNELS(q8, pack_quant, row_quant, MYTH_Q8_0)
KERNELS(q4, pack_quant, row_quant, MYTH_Q4_0)

/* ---- other blocks ---- */

typedef void unpack_fn(int8_t *restrict q, float *restrict scale, float *restrict min, const unsigned char *restrict p,
                       uint32_t n);

enum { CHUNK = MYTH_BLOCK_MAX, SUBS = MYTH_BLOCK_SUBS };

FAST_INLINE size_t blocks_panel(const bool has_half, const bool has_min)
{
    return SCALES + 128u * (has_half ? 2 : 1) * (has_min ? 2 : 1);
}

/* Unpacks n inputs of 8 weight rows, then transposes them block by block into outputs o .. o + 7 of the panel. */
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

/* Adds the products of half h of a block of 32 to f, or of the whole block where it has one scale. ws and wm are the
 * scales and minima of that part. */
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

/* The same as tile_i8, for blocks that were unpacked. */
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

/* Multiplies n rows of x with one row of weights. */
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
#define gemm_one gemm_i8 /* gemm_i8 can read the form `sums`, because the sums come after all that it reads */

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

#define VEC8_QUANTS                                                                                              \
    [MYTH_Q8_0] = {&form_i8, &form_i8, pack_q8, gemm_i8, gemv_q8, PANEL_I8}, [MYTH_Q4_0] = {&form_i8, &form_i8,  \
                                                                                            pack_q4,  gemm_i8,   \
                                                                                            gemv_q4,  PANEL_I8}, \
    FAST_BLOCK_TYPES(VEC8_QUANT)
#define VEC8_QUANT(name, type, kernel) \
    [MYTH_##type] = {&form_sums, &form_sums, pack_##name, gemm_##kernel, gemv_##name, PANEL_##kernel},

#endif
