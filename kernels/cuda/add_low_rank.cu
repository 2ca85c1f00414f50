/* add_low_rank.cu   y[r,o] += sum_k b[k,o] * t[r,k]
 *
 * Shapes     y [n_rows, n_out], b [rank, n_out], t [n_rows, rank], all f32
 * Precision  f32, sums in the order of k
 * Traffic    b from L2 once per row, y read and written once
 * Limit      launch latency in decode. A thread has one output of one row, so that neighbours read neighbouring b */
#include "common.cuh"

enum { THREADS = 256 };

static __global__ void add_low_rank_k(float *y, const float *b, const float *t, uint32_t n_out, uint32_t rank,
                                      uint32_t n_block)
{
    const uint32_t row = blockIdx.x / n_block, o = blockIdx.x % n_block * THREADS + threadIdx.x;
    if (o >= n_out)
        return;
    const float *t_row = t + (uint64_t)row * rank;
    float sum = 0.0f;
    for (uint32_t k = 0; k < rank; k++)
        sum = fmaf(b[(uint64_t)k * n_out + o], t_row[k], sum);
    y[(uint64_t)row * n_out + o] += sum;
}

extern "C" void cuda_add_low_rank(myth_stream *s, const struct myth_add_low_rank_args *a)
{
    const uint32_t n_block = (a->n_out + THREADS - 1) / THREADS;
    MYTH_LAUNCH(add_low_rank_k, a->n_rows * n_block, THREADS, 0, s)
    (cuda_ptr<float>(a->y), cuda_ptr<const float>(a->b), cuda_ptr<const float>(a->t), a->n_out, a->rank, n_block);
    cuda_check(s, "add_low_rank");
}
