/* rms_norm.cu   x[r,:] = (x[r,:] + RMS(pend[r,:]) * w_post) * x_scale;
 *               y[r,:] = x[r,:] * rsqrt(mean(x[r,:]^2) + eps) * w
 *
 * Shapes     y, x, pend f32 [n_rows, dim]; w, w_post f32 [dim]; w_post and pend are optional
 * Precision  f32
 * Traffic    rows * dim * (2 reads, 2 writes, 2 reads that hit L1) * 4 bytes
 * Limit      prefill: DRAM bandwidth; in decode the fused ops do this. One block per row, the only one that reads its x
 */
#include "rows.cuh"

enum { THREADS = 256 };

static __global__ void rms_norm_k(float *y, float *x, const float *pend, const float *w_post, const float *w,
                                  uint32_t dim, float eps, float x_scale)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)blockIdx.x * dim;
    x += at;
    y += at;
    if (pend) {
        pend += at;
        const float scale = w_post ? row_scale(pend, dim, eps, sums) : 1.0f;
        for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
            x[i] = row_fold(x, pend, w_post, scale, x_scale, i);
    }
    const float scale = row_scale(x, dim, eps, sums); /* a thread reads elements that it wrote itself */
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        y[i] = x[i] * scale * w[i];
}

extern "C" void cuda_rms_norm(myth_stream *s, const struct myth_rms_norm_args *a)
{
    MYTH_LAUNCH(rms_norm_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->y), cuda_ptr<float>(a->x), cuda_ptr<const float>(a->pend), cuda_ptr<const float>(a->w_post),
     cuda_ptr<const float>(a->w), a->dim, a->eps, cuda_x_scale(a->x_scale));
    cuda_check(s, "rms_norm");
}
