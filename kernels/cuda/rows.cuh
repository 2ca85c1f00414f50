/* rows.cuh - the prologue for ops in which a block has one row. (The fused ops have their own, in gemv.cuh.)
 *
 * Precision  sums of squares in f32: each thread adds its own elements in order, then a fixed tree adds the threads. So
 *            bits depend on the width and the size of the block only */
#ifndef MYTH_CUDA_ROWS_CUH
#define MYTH_CUDA_ROWS_CUH

#include "common.cuh"

/* rsqrt(mean(x^2) + eps), in all threads of the block. */
static __device__ __forceinline__ float row_scale(const float *x, uint32_t dim, float eps, float *shared32)
{
    float ss = 0.0f;
    for (uint32_t i = threadIdx.x; i < dim; i += blockDim.x)
        ss = fmaf(x[i], x[i], ss);
    return 1.0f / sqrtf(block_sum(ss, shared32) / (float)dim + eps);
}

/* Element i of the row after the prologue: x[i] plus its pending branch, times x_scale. */
static __device__ __forceinline__ float row_fold(const float *x, const float *pend, const float *w_post, float scale,
                                                 float x_scale, uint32_t i)
{
    if (!pend)
        return x[i];
    return (w_post ? fmaf(pend[i] * scale, w_post[i], x[i]) : x[i] + pend[i]) * x_scale;
}

#endif
