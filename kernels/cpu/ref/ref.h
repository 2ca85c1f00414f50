/* ref.h - the reference: what every level and every other device is compared with. Plain C, one file per op, never
 * optimised.
 *
 * Sums     f32 in the order of the index; statistics of norms, and sums over the vocabulary, in double
 * Threads  over rows, outputs or heads: a sum is never split, so the bits do not depend on their number
 * Fused    norm_qkv_rope_store and norm_ffn_geglu have no code of their own: their reference is the composition in
 *          op_check.c */
#ifndef MYTH_CPU_REF_H
#define MYTH_CPU_REF_H

#include "kernels/cpu/cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OP(name) void cpu_ref_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "kernels/ops.def"
#undef OP

/* Weight rows that are dequantised together: four sums side by side hide the latency of an addition. */
enum { REF_TILE = 4 };

/* y[i] = x[i] * rsqrt(mean(x^2) + eps) * w[i]; w NULL = 1. y may be x. */
void ref_norm_row(float *y, const float *x, const float *w, uint32_t n, float eps);
/* y = (x + RMS(pend) * w_post) * x_scale (0: none), x + pend without w_post, x without pend. y may be x. */
void ref_fold_row(float *y, const float *x, const float *pend, const float *w_post, float x_scale, uint32_t n,
                  float eps);
/* y[t] = sum_i x[i] * w[t][i] for t < n_w <= REF_TILE */
void ref_dot_tile(float *y, const float *x, const float *w, uint32_t n_w, uint32_t n);
static inline float ref_cap(float v, float cap);
static inline float ref_gelu(float x);

/* c[i] = sum_j coef[i, j] * m[j], m = tanh(router (RMS(x) * w_route) / dim), for i < n_coef: the streams' coefficients.
 */
void ref_altup_coef(double *c, uint32_t n_coef, const float *x, const float *w_route, const float *router,
                    const float *coef, uint32_t n_stream, uint32_t dim, float eps);

/* f32 scratch of REF_TILE rows of the reserved width, for thread tid. */
float *ref_weight_rows(const myth_stream *s, int tid);
uint64_t ref_width(const myth_work_shape *shape);

/* The logits workspace of one block of rows of head_topk. */
uint64_t ref_head_bytes(const myth_work_shape *shape, int n_threads);

#ifdef __cplusplus
}
#endif

#include <math.h>

/* The tanh form; tanhf saturates, so large x is safe. */
static inline float ref_gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

static inline float ref_cap(float v, float cap) { return cap > 0.0f ? cap * tanhf(v / cap) : v; }

#endif
