/* geglu_sparse.cu   h = gelu_tanh(max(g - t, 0)) * up,   t[r] = mean(g[r,:]) + z * deviation(g[r,:])
 *
 * Shapes     h, g, up f32 [n_rows, d_ff]; h may be g
 * Precision  f32; the population deviation is computed in a second pass, so that nothing cancels
 * Traffic    12 bytes an element in DRAM; the row of g is read twice more from cache
 * Limit      launch latency in decode. One block per row */
#include "rows.cuh"

enum { THREADS = 512 };

static __global__ void geglu_sparse_k(float *h, const float *g, const float *up, uint32_t d_ff, float z)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)blockIdx.x * d_ff;
    float sum = 0.0f, ss = 0.0f;
    for (uint32_t i = threadIdx.x; i < d_ff; i += THREADS)
        sum += g[at + i];
    const float mean = block_sum(sum, sums) / (float)d_ff;
    for (uint32_t i = threadIdx.x; i < d_ff; i += THREADS)
        ss = fmaf(g[at + i] - mean, g[at + i] - mean, ss);
    const float t = fmaf(z, sqrtf(block_sum(ss, sums) / (float)d_ff), mean);
    for (uint32_t i = threadIdx.x; i < d_ff; i += THREADS)
        h[at + i] = gelu_tanh(g[at + i] <= t ? 0.0f : g[at + i] - t) * up[at + i];
}

extern "C" void cuda_geglu_sparse(myth_stream *s, const struct myth_geglu_sparse_args *a)
{
    MYTH_LAUNCH(geglu_sparse_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->h), cuda_ptr<const float>(a->g), cuda_ptr<const float>(a->up), a->d_ff, a->z);
    cuda_check(s, "geglu_sparse");
}
