/* vec8_gemv.h - a part of fast_vec8.h: decode with float weights. One row of weights at a time, in the layout of the
 * file, is multiplied with up to ROWS_X rows of x. */
#ifndef MYTH_CPU_VEC8_GEMV_H
#define MYTH_CPU_VEC8_GEMV_H

FAST_INLINE void row_float(float *y, size_t ldy, const unsigned char *w, const unsigned char *x, size_t xb,
                           uint32_t n_in, const int n, const myth_dtype t)
{
    v8 a[ROWS_X], b[ROWS_X]; /* two sums, because each addition to one would wait for the one before */
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

#define KERNELS(name, PACK, ROW, t)                                                                             \
    static void pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                            uint32_t n_k)                                                                       \
    {                                                                                                           \
        PACK(panel, w, row_bytes, n_out, k0, n_k, t);                                                           \
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
KERNELS(f32, pack, row_float, MYTH_F32)
KERNELS(f16, pack, row_float, MYTH_F16)
KERNELS(bf16, pack, row_float, MYTH_BF16)

#endif
