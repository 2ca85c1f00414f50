/* vec8_gemm.h - a part of fast_vec8.h: prefill with float weights. Weights are packed into panels, and a panel is
 * multiplied with a few rows of x (a tile) at a time. */
#ifndef MYTH_CPU_VEC8_GEMM_H
#define MYTH_CPU_VEC8_GEMM_H

/* ---- packing ---- */

/* Packs 32 inputs of up to 32 weight rows. Rows past n_out repeat the last one; their outputs are never stored. */
FAST_INLINE void pack_block(unsigned char *dst, const unsigned char *w, size_t row_bytes, uint32_t n_out,
                            const myth_dtype t)
{
    for (uint32_t o = 0; o < FAST_PANEL; o += 8) {
        const unsigned char *p[8];
        for (uint32_t i = 0; i < 8; i++)
            p[i] = w + (size_t)(o + i < n_out ? o + i : n_out - 1) * row_bytes;
        for (uint32_t g = 0; g < 4; g++) {
            v8 r[8];
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                r[i] = load8(p[i], 8 * g, t);
            v8_transpose(r);
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                v8_store((float *)(void *)(dst + 1024 * g + 128 * i + 4 * o), r[i]);
        }
    }
}

FAST_INLINE void pack(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                      uint32_t n_k, const myth_dtype t)
{
    const size_t block = t == MYTH_F32 ? 128 : 64;
    w += k0 / 32 * block;
    fast_ask_rows(w, row_bytes, n_out, FAST_AHEAD);
    for (uint32_t b = 0; b < n_k / 32; b++, panel += PANEL_F32, w += block) {
        fast_ask_rows(w + FAST_AHEAD, row_bytes, n_out, block);
        pack_block(panel, w, row_bytes, n_out, t);
    }
    if (n_k % 32) { /* the last panel of the rows is filled up with zeros */
        unsigned char tail[FAST_PANEL * 128];
        memset(tail, 0, sizeof(tail));
        for (uint32_t o = 0; o < n_out; o++)
            memcpy(tail + 128 * o, w + o * row_bytes, n_k % 32 * (block / 32));
        pack_block(panel, tail, 128, n_out, t);
    }
}

/* ---- prefill ---- */

/* Multiplies n rows of x with the 16 outputs of the half panel at p, and stores the first n_out of them to c, or adds
 * them to what c holds if `add`. */
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

#endif
