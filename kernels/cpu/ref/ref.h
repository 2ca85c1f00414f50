/* ref.h - the reference, with which the tests compare every level and every other device. It is plain C, one file per
 * op, and never optimised.
 *
 * Sums     in f32 and in index order; statistics of norms, and sums over the vocabulary, in double
 * Threads  each thread computes whole rows, outputs or heads. A sum is never split, so bits do not depend on the number
 *          of threads
 * Fused    norm_qkv_rope_store and norm_ffn_geglu have no code here: their reference is the composition in op.c */
#ifndef MYTH_CPU_REF_H
#define MYTH_CPU_REF_H

#include "kernels/cpu/cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OP(name) void cpu_ref_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "kernels/ops.def"
#undef OP

/* How many weight rows are dequantised together: four sums side by side hide the latency of an addition. */
enum { REF_TILE = 4 };

/* y[i] = x[i] * rsqrt(mean(x^2) + eps) * w[i]; w NULL means w[i] = 1. y may be x. */
void ref_norm_row(float *y, const float *x, const float *w, uint32_t n, float eps);
/* The prologue of one row: y = (x + RMS(pend) * w_post) * x_scale. w_post NULL adds pend as it is, x_scale 0 scales by
 * 1, and pend NULL gives y = x. y may be x. */
void ref_fold_row(float *y, const float *x, const float *pend, const float *w_post, float x_scale, uint32_t n,
                  float eps);
/* y[t] = sum_i x[i] * w[t][i] for t < n_w <= REF_TILE */
void ref_dot_tile(float *y, const float *x, const float *w, uint32_t n_w, uint32_t n);
static inline float ref_cap(float v, float cap);
static inline float ref_gelu(float x);

/* The coefficients of altup_predict and altup_correct: c[i] = sum_j coef[i, j] * m[j] for i < n_coef, with m =
 * tanh(router (RMS(x) * w_route) / dim). */
void ref_altup_coef(double *c, uint32_t n_coef, const float *x, const float *w_route, const float *router,
                    const float *coef, uint32_t n_stream, uint32_t dim, float eps);

/* The f32 scratch of thread tid: REF_TILE rows of the reserved width. */
float *ref_weight_rows(const myth_stream *s, int tid);
uint64_t ref_width(const myth_work_shape *shape);

/* Bytes of the workspace `logits` that head_topk needs for one block of rows. */
uint64_t ref_head_bytes(const myth_work_shape *shape, int n_threads);

#ifdef __cplusplus
}
#endif

#include <math.h>

/* The tanh form of GELU. tanhf saturates, so large x is safe. */
static inline float ref_gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

static inline float ref_cap(float v, float cap) { return cap > 0.0f ? cap * tanhf(v / cap) : v; }

#endif
