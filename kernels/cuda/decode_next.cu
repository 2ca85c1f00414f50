/* decode_next.cu   for every row: the sampler chooses one of the k best ids, and the row's id, position and run advance
 *                  to the next token. A row that chose a stop id becomes ephemeral and changes no more
 *
 * Shapes     top_id, top_logit [n_rows, k], best first; ids, pos [n_rows]; runs [n_rows, 8]; out [n_out, n_rows]; step
 *            [1]; k <= 1,024
 * Precision  weights and sums are f64, added in the order of the candidates, as on the host (engine/base/sampler.c)
 * Random     Philox4x32-10 keyed by the seed, counter (position, sequence): Salmon et al., "Parallel random numbers: as
 *            easy as 1, 2, 3"
 * Traffic    8 * n_rows * k bytes
 * Limit      launch latency; with a temperature, the time in which one thread adds k weights
 * Launch     one block per row; the last block to finish advances the step */
#include "common.cuh"

enum { BLOCK = 128 };

struct sample_args {
    float temp, top_p, min_p;
    uint32_t k, seq_number;
    uint64_t seed;
};

/* Uniform in [0, 1) with 24 bits. */
static __device__ float random_uniform(uint64_t seed, uint32_t seq, uint32_t pos)
{
    uint32_t c0 = pos, c1 = seq, c2 = 0, c3 = 0, key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ key0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ key1;
        c3 = (uint32_t)a;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return (float)(c0 >> 8) * 5.9604644775390625e-8f;
}

/* The index of the candidate that the sampler chooses, of n >= 2. All threads of the block call it. */
static __device__ uint32_t choose(const float *logit, uint32_t n, sample_args p, uint32_t row, uint32_t pos)
{
    MYTH_SHARED(double, weight, 1024);
    MYTH_SHARED(uint32_t, answer, 1);
    if (p.top_p > 0.0f && p.top_p < 1.0f) { /* the shortest prefix whose weights are top_p of the whole */
        for (uint32_t i = threadIdx.x; i < n; i += BLOCK)
            weight[i] = exp((double)logit[i] - (double)logit[0]);
        __syncthreads();
        if (threadIdx.x == 0) {
            double sum = 0.0, mass = 0.0;
            uint32_t kept = n;
            for (uint32_t i = 0; i < n; i++)
                sum += weight[i];
            for (uint32_t i = 0; i < n && kept == n; i++) {
                mass += weight[i] / sum;
                if (mass >= (double)p.top_p)
                    kept = i + 1;
            }
            answer[0] = kept;
        }
        __syncthreads();
        n = answer[0];
        __syncthreads();
    }
    if (p.min_p > 0.0f) {
        double least = log((double)p.min_p) + (double)logit[0];
        while (n > 1 && (double)logit[n - 1] < least)
            n--;
    }
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK)
        weight[i] = exp(((double)logit[i] - (double)logit[0]) / (double)p.temp);
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0.0;
        uint32_t i = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += weight[j];
        double u = (double)random_uniform(p.seed, p.seq_number + row, pos) * sum - weight[0];
        while (!(u < 0.0) && i + 1 < n)
            u -= weight[++i];
        answer[0] = i;
    }
    __syncthreads();
    return answer[0];
}

static __global__ void decode_next_k(const int32_t *top_id, const float *top_logit, int32_t *ids, int32_t *pos,
                                     int32_t *runs, int32_t *out, int32_t *step, const int32_t *stop_id, uint32_t k,
                                     uint32_t n_out, uint32_t n_stop, sample_args p, unsigned *counter)
{
    MYTH_SHARED(int, n_given, 1);
    const uint32_t r = blockIdx.x, n_rows = gridDim.x;
    int32_t *run = runs + (size_t)r * MYTH_RUN_WIDTH;
    const bool is_still = (run[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL) != 0;
    const int32_t at = pos[r];
    top_id += (size_t)r * k;
    top_logit += (size_t)r * k;
    if (threadIdx.x == 0)
        n_given[0] = (int)k;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < k; i += BLOCK)
        if (top_id[i] < 0)
            atomicMin(n_given, (int)i);
    __syncthreads();
    uint32_t n = (uint32_t)n_given[0], idx = 0;
    if (!is_still && p.temp > 0.0f && n > 1)
        idx = choose(top_logit, n < p.k ? n : p.k, p, r, (uint32_t)at + 1);
    if (threadIdx.x == 0) {
        int32_t id = is_still || n == 0 ? -1 : top_id[idx];
        bool stops = id < 0;
        for (uint32_t i = 0; i < n_stop; i++)
            stops = stops || stop_id[i] == id;
        out[(size_t)((uint32_t)*step % n_out) * n_rows + r] = id;
        if (!is_still && stops) {
            run[MYTH_RUN_FLAGS] |= MYTH_RUN_EPHEMERAL;
        } else if (!is_still) {
            ids[r] = id;
            pos[r] = at + 1;
            run[MYTH_RUN_POS0]++;
        }
    }
    if (last_block(counter, n_rows) && threadIdx.x == 0)
        *step = (int32_t)((uint32_t)*step + 1);
}

extern "C" void cuda_decode_next(myth_stream *s, const struct myth_decode_next_args *a)
{
    sample_args p = {a->sample.temp, a->sample.top_p, a->sample.min_p, myth_sample_k(&a->sample),
                     a->seq_number,  a->sample.seed};
    MYTH_LAUNCH(decode_next_k, a->n_rows, BLOCK, 0, s)
    (cuda_ptr<int32_t>(a->top_id), cuda_ptr<float>(a->top_logit), cuda_ptr<int32_t>(a->ids), cuda_ptr<int32_t>(a->pos),
     cuda_ptr<int32_t>(a->runs), cuda_ptr<int32_t>(a->out), cuda_ptr<int32_t>(a->step), cuda_ptr<int32_t>(a->stop_id),
     a->k, a->n_out, a->n_stop, p, cuda_of(s)->counters);
    cuda_check(s, "decode_next");
}
