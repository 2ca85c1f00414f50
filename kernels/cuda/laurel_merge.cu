/* laurel_merge.cu   u = (x + RMS(attn) * w_attn + xn + RMS(laurel) * w_laurel) / sqrt(2)
 *
 * Shapes     all f32 [n_rows, dim], the weights f32 [dim]
 * Precision  f32
 * Traffic    20 bytes an element
 * Limit      launch latency in decode, DRAM bandwidth in prefill. One block per row */
#include "rows.cuh"

enum { THREADS = 256 };

static __global__ void laurel_merge_k(float *u, const float *x, const float *xn, const float *attn, const float *laurel,
                                      const float *w_attn, const float *w_laurel, uint32_t dim, float eps)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)blockIdx.x * dim;
    const float scale_a = row_scale(attn + at, dim, eps, sums), scale_l = row_scale(laurel + at, dim, eps, sums);
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS) {
        const float t = fmaf(attn[at + i] * scale_a, w_attn[i], x[at + i]),
                    y = fmaf(laurel[at + i] * scale_l, w_laurel[i], xn[at + i]);
        u[at + i] = (t + y) * 0.70710678f;
    }
}

extern "C" void cuda_laurel_merge(myth_stream *s, const struct myth_laurel_merge_args *a)
{
    MYTH_LAUNCH(laurel_merge_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->u), cuda_ptr<const float>(a->x), cuda_ptr<const float>(a->xn), cuda_ptr<const float>(a->attn),
     cuda_ptr<const float>(a->laurel), cuda_ptr<const float>(a->w_attn), cuda_ptr<const float>(a->w_laurel), a->dim,
     a->eps);
    cuda_check(s, "laurel_merge");
}
