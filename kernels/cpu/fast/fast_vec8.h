/* fast_vec8.h - the inner kernels of levels with small vectors (avx2, neon), except for quantised products. They are
 * written over primitives on 8 floats, which the including file defines.
 *
 * kernels_avx2.c and neon.h include it once, after they have defined
 *   v8  8 floats: v8_set1 v8_load v8_store v8_add v8_sub v8_mul v8_div v8_fma(a, b, c) = a b + c, v8_max v8_min
 *       (NaN where the second is), v8_round (to nearest even), v8_pow2 (2^n of whole n in -126..127), v8_lt(a, b, x, y)
 *       = a < b ? x : y, v8_sum, v8_most (largest), v8_transpose(v8 r[8]), v8_f16 v8_bf16 v8_i8 (load 8
 *       stored elements as floats), v8_to_f16 v8_to_i8 (round and store)
 *
 * Form       f32 [k], filled up with zeros to a multiple of 32, for prefill and decode
 * Panels     f32 [k][32]
 * Precision  f32
 * Limit      prefill: multiply-adds; decode: memory bandwidth. Tiles are small, since there are 16 vector registers (on
 *            NEON, 16 pairs)
 * Parts      vec8_rows.h, vec8_gemm.h, vec8_gemv.h and vec8_attn.h, which only this file includes, in this order.
 *            Quantised products are in gemm_avx2.c and gemv_avx2.c, and in vec8_blocks.h for NEON */
#ifndef MYTH_CPU_FAST_VEC8_H
#define MYTH_CPU_FAST_VEC8_H

#include "fast.h"

#include "engine/base/half.h"

#include <math.h>
#include <string.h>

enum { PANEL_F32 = 4096, BLOCK = CPU_ATTN_BLOCK, ROWS_F32 = 6, ROWS_X = 4, AHEAD = 2048 };

FAST_INLINE v8 v8_zero(void) { return v8_set1(0.0f); }
FAST_INLINE v8 v8_abs(v8 x) { return v8_max(x, v8_sub(v8_zero(), x)); }

/* Loads the first n < 8 floats at p, followed by zeros; v8_store_n stores only the first n. */
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

/* e^x with a relative error below 3e-7, NaN of NaN. x outside -87.3..88.3 counts as the nearer border. */
FAST_INLINE v8 v8_exp(v8 x)
{
    x = v8_min(v8_set1(88.3f), v8_max(v8_set1(-87.3f), x));
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

/* tanh x = (1 - e) / (1 + e) with e = e^(-2|x|), with the sign of x; an odd polynomial below 0.25. */
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
#include "vec8_attn.h"
/* clang-format on */

/* The fields of struct fast_kernels that are the same for every level with these vectors. */
#define VEC8_FLOATS                                                                                                    \
    [MYTH_F32] = {&form_f32, &form_f32, pack_f32, gemm_f32, gemv_f32, PANEL_F32},                                      \
    [MYTH_F16] = {&form_f32, &form_f32, pack_f16, gemm_f32, gemv_f16, PANEL_F32}, [MYTH_BF16] = {&form_f32, &form_f32, \
                                                                                                 pack_bf16, gemm_f32,  \
                                                                                                 gemv_bf16, PANEL_F32}
#define VEC8_ROWS                                                                                             \
    .norm_row = norm_row, .geglu = geglu, .head_rope = head_rope, .row_to_f32 = row_to_f32,                   \
    .row_from_f32 = row_from_f32, .attn_block = attn_block, .attn_block_few = attn_block_few, .blend = blend, \
    .cap = cap, .largest = largest, .exp_sums = exp_sums

#endif
