/* moe_route.cu   chooses the k best experts of every row, computes their weights, and sorts all entries by expert
 *
 *   weight[r, j] = exp(s (z_j - z_0)) / sum_i exp(s (z_i - z_0)) * expert_scale[id_j], where z_0 >= z_1 >= .. are the k
 *   largest logits of the row and s is logit_scale
 *
 * Shapes     logits f32 [n_rows, n_expert], n_expert <= 1,024; id, weight [n_rows, k], k <= 32; offset [n_expert + 1];
 *            order [n_rows * k]
 * Order      one warp per row finds the largest remaining logit, k times; ties and NaN as in cpu/ref/moe_route.c. Then
 *            one thread per expert reads all ids in order, so the entries of an expert ascend whatever the timing
 * Precision  f32; expf of the library
 * Limit      launch latency in decode. In prefill one block reads n_rows * k ids for every 512 experts; all threads
 *            read the same address */
#include "common.cuh"

enum { THREADS = 512, PER_LANE = MYTH_EXPERT_MAX / 32 };

/* A number that orders logits as their values do, larger is better; NaN is below all. */
static __device__ __forceinline__ uint32_t rank_of(float z)
{
    const uint32_t bits = __float_as_uint(z == 0.0f ? 0.0f : z);
    return z != z ? 0u : bits >> 31 ? ~bits : bits | 0x80000000u;
}

static __device__ void choose(const float *z, const float *expert_scale, int *id, float *weight, uint32_t n_expert,
                              uint32_t k, float logit_scale)
{
    uint32_t taken = 0; /* one bit for each expert of this lane */
    int own = 0;
    float own_z = 0.0f, best_z = 0.0f;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t rank = 0, at = 0xffffffffu;
        for (uint32_t i = 0; i < PER_LANE && 32 * i + (uint32_t)lane() < n_expert; i++) {
            const uint32_t mine = rank_of(z[32 * i + lane()]);
            if (!(taken >> i & 1u) && (at == 0xffffffffu || mine > rank)) {
                rank = mine;
                at = 32 * i + (uint32_t)lane();
            }
        }
        for (int o = 16; o; o >>= 1) {
            const uint32_t other = __shfl_xor_sync(MYTH_WARP_ALL, rank, o),
                           other_at = __shfl_xor_sync(MYTH_WARP_ALL, at, o);
            if (at == 0xffffffffu || (other_at != 0xffffffffu && (other > rank || (other == rank && other_at < at)))) {
                rank = other;
                at = other_at;
            }
        }
        if (at % 32 == (uint32_t)lane())
            taken |= 1u << (at / 32);
        if (j == 0)
            best_z = z[at];
        if (j == (uint32_t)lane()) {
            own = (int)at;
            own_z = z[at];
        }
    }
    const bool has = (uint32_t)lane() < k;
    const float e = has ? expf(logit_scale * (own_z - best_z)) : 0.0f, total = warp_sum(e);
    if (has) {
        id[lane()] = own;
        weight[lane()] = e / total * (expert_scale ? expert_scale[own] : 1.0f);
    }
}

static __global__ void moe_route_k(const float *logits, const float *expert_scale, int *id, float *weight, int *offset,
                                   int *order, uint32_t n_rows, uint32_t n_expert, uint32_t k, float logit_scale)
{
    MYTH_SHARED(int, first, MYTH_EXPERT_MAX + 1);
    const uint32_t n = n_rows * k;
    for (uint32_t r = (uint32_t)warp(); r < n_rows; r += THREADS / 32)
        choose(logits + (uint64_t)r * n_expert, expert_scale, id + (uint64_t)r * k, weight + (uint64_t)r * k, n_expert,
               k, logit_scale);
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < n_expert; e += THREADS) {
        int count = 0;
        for (uint32_t i = 0; i < n; i++)
            count += (uint32_t)id[i] == e;
        first[e + 1] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        first[0] = 0;
        for (uint32_t e = 0; e < n_expert; e++)
            first[e + 1] += first[e];
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e <= n_expert; e += THREADS) {
        int at = first[e];
        offset[e] = at;
        for (uint32_t i = 0; i < n && e < n_expert; i++)
            if ((uint32_t)id[i] == e)
                order[at++] = (int)i;
    }
}

extern "C" void cuda_moe_route(myth_stream *s, const struct myth_moe_route_args *a)
{
    MYTH_LAUNCH(moe_route_k, 1, THREADS, 0, s)
    (cuda_ptr<const float>(a->logits), cuda_ptr<const float>(a->expert_scale), cuda_ptr<int>(a->id),
     cuda_ptr<float>(a->weight), cuda_ptr<int>(a->offset), cuda_ptr<int>(a->order), a->n_rows, a->n_expert, a->k,
     a->logit_scale);
    cuda_check(s, "moe_route");
}
