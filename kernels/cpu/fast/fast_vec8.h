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
 * Parts      vec8_rows.h, vec8_gemm.h, vec8_gemv.h, vec8_blocks.h, vec8_attn.h: included here alone, in this order
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

/* clang-format off: each part uses those before it */
#include "vec8_rows.h"
#include "vec8_gemm.h"
#include "vec8_gemv.h"
#include "vec8_blocks.h"
#include "vec8_attn.h"
/* clang-format on */

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
