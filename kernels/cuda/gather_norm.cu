/* gather_norm.cu   y[i,:] = RMS(t) * w, or t where w is not given; t = x[rows[i],:] after the prologue (x itself is
 *                  unchanged)
 *
 * Shapes     y f32 [n_gather, dim]; x, pend f32 [.., dim]; w, w_post f32 [dim]; rows i32 [n_gather]; pend, w and w_post
 *            are optional
 * Precision  f32
 * Traffic    n_gather * dim * 16 bytes
 * Limit      launch latency, since there are few rows. One block per row */
#include "rows.cuh"

enum { THREADS = 256 };

static __global__ void gather_norm_k(float *y, const float *x, const float *pend, const float *w_post, const float *w,
                                     const int *rows, uint32_t dim, float eps, float x_scale)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)(uint32_t)rows[blockIdx.x] * dim;
    x += at;
    y += (uint64_t)blockIdx.x * dim;
    float scale = 1.0f;
    if (pend) {
        pend += at;
        if (w_post)
            scale = row_scale(pend, dim, eps, sums);
    }
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        y[i] = row_fold(x, pend, w_post, scale, x_scale, i);
    if (!w)
        return;
    scale = row_scale(y, dim, eps, sums);
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        y[i] = y[i] * scale * w[i];
}

extern "C" void cuda_gather_norm(myth_stream *s, const struct myth_gather_norm_args *a)
{
    MYTH_LAUNCH(gather_norm_k, a->n_gather, THREADS, 0, s)
    (cuda_ptr<float>(a->y), cuda_ptr<const float>(a->x), cuda_ptr<const float>(a->pend),
     cuda_ptr<const float>(a->w_post), cuda_ptr<const float>(a->w), cuda_ptr<const int>(a->rows), a->dim, a->eps,
     cuda_x_scale(a->x_scale));
    cuda_check(s, "gather_norm");
}
