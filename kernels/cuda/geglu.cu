/* geglu.cu   h = gelu_tanh(g) * up,   gelu_tanh(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
 *
 * Shapes     h, g, up f32, n_rows * d_ff elements; h may be g
 * Precision  f32
 * Traffic    12 bytes per element
 * Limit      DRAM bandwidth. Only steps without the fused op run it
 * Source     Hendrycks and Gimpel, Gaussian Error Linear Units (2016)                             */
#include "common.cuh"

enum { THREADS = 256, PER_THREAD = 4 };

static __global__ void geglu_k(float *h, const float *g, const float *up, uint64_t n)
{
    uint64_t first = (uint64_t)blockIdx.x * THREADS * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        uint64_t i = first + (uint64_t)k * THREADS;
        if (i < n)
            h[i] = gelu_tanh(g[i]) * up[i];
    }
}

extern "C" void cuda_geglu(myth_stream *s, const struct myth_geglu_args *a)
{
    uint64_t n = (uint64_t)a->n_rows * a->d_ff, per_block = THREADS * PER_THREAD;
    MYTH_LAUNCH(geglu_k, (unsigned)((n + per_block - 1) / per_block), THREADS, 0, s)
    (cuda_ptr<float>(a->h), cuda_ptr<const float>(a->g), cuda_ptr<const float>(a->up), n);
    cuda_check(s, "geglu");
}
