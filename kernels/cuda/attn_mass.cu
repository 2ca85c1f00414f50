/* attn_mass.cu   part[r,h,i] = the weight of the key of position first + i in head h of row r;
 *                mass[r,i] += scale / n_head * sum_h part[r,h,i]
 *
 * Shapes     q f32 [n_rows, n_head, head_dim]; part [n_rows, n_head, n_key]; mass [n_rows, n_key]
 * Order      each thread goes through keys THREADS apart; their maxima and sums are joined over the block. Heads are
 *            added in order
 * Precision  f32
 * Traffic    every key once for each query head, and the n_key keys twice
 * Limit      latency of the loads: a thread reads whole rows. The op serves pruning, a few rows a step, and reads keys
 *            that attention has just brought to L2
 * Gaps       keys in the run's gaps are skipped one by one */
#include "attn.cuh"

enum { THREADS = 128 };

struct mass_job {
    kv_map kv;
    float *part, *mass;
    const float *q;
    const int *runs, *row_run, *pos;
    uint32_t n_head, n_share, window, n_after, first, n_key; /* n_share: q heads per kv head */
    float softcap, scale;
};

/* One loop for both passes, whose turns are not unrolled: the code that reads keys of any type is there once. */
static __global__ void attn_mass_k(const mass_job j)
{
    MYTH_SHARED(float, joined, 32);
    MYTH_SHARED_DYN(float, q); /* [head_dim] */
    const uint32_t row = blockIdx.x, head = blockIdx.y, pos = (uint32_t)j.pos[row];
    const kv_run run = kv_read_run(j.kv, j.runs + (uint64_t)(uint32_t)j.row_run[row] * MYTH_RUN_WIDTH);
    const uint32_t from = kv_first(pos, j.window), last = kv_last(pos, run.pos0 + run.n_rows - 1, j.n_after);
    const uint64_t at = (uint64_t)row * j.n_head + head;
    for (uint32_t d = threadIdx.x; d < j.kv.head_dim; d += THREADS)
        q[d] = j.q[at * j.kv.head_dim + d];
    __syncthreads();
    float most = -INFINITY, total = 0.0f;
    uint32_t begin = from, end = last + 1; /* first the keys that the row sees, then those that are asked for */
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll 1
        for (uint32_t k = begin + threadIdx.x; k < end; k += THREADS) {
            const bool is_seen = k >= from && k <= last && !kv_is_gone(run, k);
            float dot = 0.0f;
            if (is_seen) {
                const unsigned char *key = kv_row(j.kv, run, head / j.n_share, k, false);
#pragma unroll 1
                for (uint32_t d = 0; d < j.kv.head_dim; d++)
                    dot = fmaf(q[d], kv_value(key, j.kv.k_type, d), dot);
            }
            const float s = attn_cap(dot, j.softcap);
            if (pass) {
                j.part[at * j.n_key + (k - j.first)] = is_seen ? expf(s - most) / total : 0.0f;
            } else if (is_seen) {
                const float now = fmaxf(most, s);
                total = fmaf(total, attn_fade(most, now), expf(s - now));
                most = now;
            }
        }
        if (pass == 0) {
            const float all = block_max(most, joined);
            total = block_sum(total * attn_fade(most, all), joined);
            most = all;
            begin = j.first;
            end = j.first + j.n_key;
        }
    }
}

static __global__ void attn_mass_add_k(const mass_job j)
{
    const float *part = j.part + (uint64_t)blockIdx.x * j.n_head * j.n_key;
    for (uint32_t i = threadIdx.x; i < j.n_key; i += THREADS) {
        float sum = 0.0f;
#pragma unroll 1
        for (uint32_t h = 0; h < j.n_head; h++)
            sum += part[(uint64_t)h * j.n_key + i];
        float *mass = j.mass + (uint64_t)blockIdx.x * j.n_key + i;
        *mass = fmaf(j.scale / (float)j.n_head, sum, *mass);
    }
}

extern "C" void cuda_attn_mass(myth_stream *s, const struct myth_attn_mass_args *m)
{
    const struct myth_attn_args *a = &m->attn;
    mass_job j;
    j.kv = kv_map_of(a->k_new, a->v_new, &a->kv, a->cap_rows, a->n_head_kv, a->head_dim);
    j.part = cuda_ptr<float>(m->part);
    j.mass = cuda_ptr<float>(m->mass);
    j.q = cuda_ptr<const float>(a->q);
    j.runs = cuda_ptr<const int>(a->runs);
    j.row_run = cuda_ptr<const int>(a->row_run);
    j.pos = cuda_ptr<const int>(a->pos);
    j.n_head = a->n_head;
    j.n_share = a->n_head / a->n_head_kv;
    j.window = a->window;
    j.n_after = a->n_after;
    j.first = m->first;
    j.n_key = m->n_key;
    j.softcap = a->softcap;
    j.scale = m->scale;
    MYTH_LAUNCH(attn_mass_k, dim3(a->n_rows, a->n_head), THREADS, a->head_dim * 4, s)(j);
    MYTH_LAUNCH(attn_mass_add_k, a->n_rows, THREADS, 0, s)(j);
    cuda_check(s, "attn_mass");
}
