/* altup_match.cu   u[i] *= rms(x) / sqrt(max(mean(u[i]^2), 1e-5));   with y given: y = (x + sum_i of these) / (n_u + 1)
 *                  and u stays unchanged
 *
 * Shapes     x, y f32 [n_rows, dim]; u f32 [n_u, n_rows, dim]; y may be x
 * Precision  f32
 * Traffic    12 bytes an element of u; the op runs twice a step
 * Limit      launch latency in decode, DRAM bandwidth in prefill. One block per row */
#include "rows.cuh"

enum { THREADS = 256 };

static __device__ __forceinline__ float mean_square(const float *x, uint32_t dim, float *shared32)
{
    float ss = 0.0f;
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        ss = fmaf(x[i], x[i], ss);
    return block_sum(ss, shared32) / (float)dim;
}

static __global__ void altup_match_k(float *y, const float *x, float *u, uint32_t dim, uint32_t n_u)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)blockIdx.x * dim, step = (uint64_t)gridDim.x * dim;
    const float rms = sqrtf(mean_square(x + at, dim, sums));
    float scale[MYTH_STREAM_MAX];
    for (uint32_t k = 0; k < n_u; k++)
        scale[k] = rms / sqrtf(fmaxf(mean_square(u + k * step + at, dim, sums), 1e-5f));
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS) {
        float sum = x[at + i];
        for (uint32_t k = 0; k < n_u; k++) {
            const float v = u[k * step + at + i] * scale[k];
            if (y)
                sum += v;
            else
                u[k * step + at + i] = v;
        }
        if (y)
            y[at + i] = sum / (float)(n_u + 1);
    }
}

extern "C" void cuda_altup_match(myth_stream *s, const struct myth_altup_match_args *a)
{
    MYTH_LAUNCH(altup_match_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->y), cuda_ptr<const float>(a->x), cuda_ptr<float>(a->u), a->dim, a->n_u);
    cuda_check(s, "altup_match");
}
