/* vec8_blocks.h - a part of fast_vec8.h: prefill and decode of the block types that have no kernels of their own. */
#ifndef MYTH_CPU_VEC8_BLOCKS_H
#define MYTH_CPU_VEC8_BLOCKS_H

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

#endif
