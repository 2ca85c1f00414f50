/* altup.cuh - the coefficients of altup_predict and altup_correct (Gemma 3n's residual streams). One block computes
 * those of a row.
 *
 *   c = coef m,  m[k] = tanh(router[k] . (RMS(x) * w_route) / dim)
 *
 * Precision  f32: a thread's own elements in order, then a fixed tree; tanhf of the library saturates */
#ifndef MYTH_CUDA_ALTUP_CUH
#define MYTH_CUDA_ALTUP_CUH

#include "rows.cuh"

enum { ALTUP_THREADS = 256 };

struct altup_route {
    const float *w_route, *router, *coef;
};

/* Computes m, in all threads. Each element of x was written by the thread that reads it here, or before the last
 * barrier. */
static __device__ __forceinline__ void altup_modality(float (&m)[MYTH_STREAM_MAX], const altup_route &a, const float *x,
                                                      uint32_t n_stream, uint32_t dim, float eps, float *shared32)
{
    const float scale = row_scale(x, dim, eps, shared32) / (float)dim;
    for (uint32_t k = 0; k < n_stream; k++) {
        float sum = 0.0f;
        for (uint32_t i = threadIdx.x; i < dim; i += ALTUP_THREADS)
            sum = fmaf(x[i] * a.w_route[i], a.router[(uint64_t)k * dim + i], sum);
        m[k] = tanhf(block_sum(sum, shared32) * scale);
    }
}

static __device__ __forceinline__ float altup_coef(const altup_route &a, const float (&m)[MYTH_STREAM_MAX],
                                                   uint32_t row, uint32_t n_stream)
{
    float c = 0.0f;
    for (uint32_t j = 0; j < n_stream; j++)
        c = fmaf(a.coef[row * n_stream + j], m[j], c);
    return c;
}

#endif
