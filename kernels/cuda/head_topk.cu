/* head_topk.cu   for each row: the k best of cap(W x) + bias under a mask, log-sum-exp and entropy over the allowed
 *                ids, and the logits that were asked for
 *
 * Shapes     x [n_rows, dim] f32, W [n_total, dim] of any type in planar form; masks, biases, asked ids per row (ops.h)
 * Work       up to 8 rows at a time, in two launches. In the first, each of n_worker blocks takes every n_worker-th
 *            tile of MYTH_HEAD_TILE ids: it computes the tile's logits into shared memory, handles asked ids, biases
 *            and mask, reduces the tile to (max, sum e^(x-m), sum e^(x-m) (x-m)) and keeps its own k best. In the
 *            second, one block per row joins sums and lists. The logits of a whole row never exist
 * Order      a key is one u64 that orders by descending logit, then ascending id: the bits of the logit, made to
 *            compare as the numbers do, then the complement of the id. Keys are distinct, so no result depends on which
 *            block came first. The sums of a tile have a fixed order, and tiles are joined by a fixed tree
 * Precision  logits as proj in decode, also in prefill steps; the sums of a tile in f32, over tiles in f64
 * Scratch    for up to CUDA_HEAD_ROWS rows: sums f32 [rows][n_tile][4], lists u64 [rows][k][n_worker] (cuda_work_topk
 *            in work.h)
 * Traffic    W once per 8 rows
 * Limit      DRAM bandwidth */
#include "gemv.cuh"

enum {
    HEAD_SORT = 2048, /* keys that a worker sorts: the k kept ones and those of a tile */
    HEAD_JOIN_BLOCK = 1024,
    HEAD_JOIN_SORT = 4096, /* keys that the join sorts: the k kept ones and the next candidates */
};
static_assert((int)MYTH_TOPK_MAX + (int)MYTH_HEAD_TILE <= (int)HEAD_SORT, "a tile and the list");
static_assert((int)MYTH_TOPK_MAX + 2 * (int)HEAD_JOIN_BLOCK <= (int)HEAD_JOIN_SORT, "the list and two rounds");
static_assert((int)CUDA_HEAD_WORKERS <= (int)HEAD_JOIN_BLOCK, "a round has an entry of every worker");

typedef unsigned long long head_key; /* 0 = no key */

struct head_op {
    gemv_matrix m;
    const float *x, *bias;
    const int32_t *mask_idx, *masks, *bias_off, *bias_id, *ask_id;
    int32_t *top_id;
    float *top_logit, *lse, *entropy, *ask_logit;
    float4 *sums;    /* [rows][n_tile]: max, sum, sum_x */
    head_key *lists; /* [rows][k][n_worker]                   */
    uint32_t n_in, n_vocab, n_rows, row0, k, n_ask, n_tile, n_worker;
    float softcap;
};

static __device__ __forceinline__ head_key head_key_of(float logit, uint32_t id)
{
    const uint32_t bits = __float_as_uint(logit + 0.0f); /* -0 becomes 0, since they are equal */
    const uint32_t order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (head_key)order << 32 | (uint32_t)~id;
}
static __device__ __forceinline__ float head_logit_of(head_key key)
{
    const uint32_t order = (uint32_t)(key >> 32);
    return __uint_as_float(order & 0x80000000u ? order & 0x7fffffffu : ~order);
}
static __device__ __forceinline__ int32_t head_id_of(head_key key) { return (int32_t) ~(uint32_t)key; }

static __device__ __forceinline__ head_key warp_best(head_key key MYTH_CALLER)
{
    MYTH_CALLED;
    for (int o = 16; o; o >>= 1) {
        const head_key other = __shfl_xor_sync(MYTH_WARP_ALL, key, o);
        key = key > other ? key : other;
    }
    return key;
}

/* Sorts n keys into descending order; n is a power of two. The whole block calls it, between barriers. */
static __device__ __forceinline__ void sort_keys(head_key *key, uint32_t n)
{
#pragma unroll 1
    for (uint32_t size = 2; size <= n; size *= 2)
#pragma unroll 1
        for (uint32_t step = size / 2; step; step /= 2) {
#pragma unroll 1
            for (uint32_t t = threadIdx.x; t < n / 2; t += blockDim.x) {
                const uint32_t i = 2 * t - (t & (step - 1)), j = i + step;
                const head_key a = key[i], b = key[j];
                if ((a < b) == !(i & size)) {
                    key[i] = b;
                    key[j] = a;
                }
            }
            __syncthreads();
        }
}

static __device__ __forceinline__ uint32_t power_above(uint32_t n)
{
    uint32_t p = 2;
    while (p < n)
        p *= 2;
    return p;
}

/* ---- tiles ---- */

/* For the tile's logits x[0..n) of one row: writes those that were asked for, then applies biases and mask. One warp.
 */
static __device__ __forceinline__ void edit_tile(const head_op &p, float *x, uint32_t row, uint32_t first, uint32_t n)
{
    const uint32_t l = (uint32_t)lane();
#pragma unroll 1
    for (uint32_t i = l; i < p.n_ask; i += 32) {
        const uint64_t at = (uint64_t)row * p.n_ask + i;
        const uint32_t id = (uint32_t)p.ask_id[at];
        if (id >= first && id - first < n)
            p.ask_logit[at] = x[id - first];
        else if (first == 0 && id >= p.n_vocab)
            p.ask_logit[at] = __uint_as_float(0x7fc00000u);
    }
    __syncwarp();
    if (p.bias_off) {
        const int32_t from = p.bias_off[row], to = p.bias_off[row + 1];
#pragma unroll 1
        for (int32_t i0 = from; i0 < to;
             i0 += 32) { /* 32 biases at a time; one lane adds each that belongs to this tile, in their order */
            const int32_t i = i0 + (int32_t)l;
            const uint32_t id = i < to ? (uint32_t)p.bias_id[i] : 0xffffffffu;
            const float bias = i < to ? p.bias[i] : 0.0f;
            unsigned here = __ballot_sync(MYTH_WARP_ALL, id >= first && id - first < n);
            while (here) {
                const int src = __ffs((int)here) - 1;
                here &= here - 1;
                const uint32_t at = __shfl_sync(MYTH_WARP_ALL, id, src) - first;
                const float add = __shfl_sync(MYTH_WARP_ALL, bias, src);
                if (at % 32 == l)
                    x[at] += add;
            }
        }
    }
    if (p.mask_idx && p.mask_idx[row] >= 0) {
        const uint64_t n_word = (p.n_vocab + 31) / 32;
        const uint32_t *mask =
            (const uint32_t *)(const void *)p.masks + (uint32_t)p.mask_idx[row] * n_word + first / 32;
#pragma unroll 1
        for (uint32_t v = l; v < n; v += 32)
            if (!(mask[v / 32] >> l & 1u))
                x[v] = -INFINITY;
    }
    __syncwarp();
}

/* The sums of one row of the tile, the same in all lanes: (most, sum, sum_x) of cpu/ref/head_stats.h. One warp. */
static __device__ __forceinline__ float4 reduce_tile(const float *x, uint32_t n)
{
    float most = -INFINITY, sum = 0.0f, sum_x = 0.0f;
#pragma unroll 1
    for (uint32_t v = (uint32_t)lane(); v < n; v += 32)
        most = fmaxf(most, x[v]);
    most = warp_max(most);
#pragma unroll 1
    for (uint32_t v = (uint32_t)lane(); v < n; v += 32)
        if (x[v] != -INFINITY) {
            const float d = x[v] - most, e = expf(d);
            sum += e;
            sum_x = fmaf(e, d, sum_x);
        }
    return make_float4(most, warp_sum(sum), warp_sum(sum_x), 0.0f);
}

/* Adds the tile's keys of row r to the k best so far, if they are better. The whole block. */
static __device__ __forceinline__ void keep_best(const head_op &p, head_key *key, unsigned *n_passed, const float *x,
                                                 uint32_t r, uint32_t first, uint32_t n, bool is_first_tile)
{
    head_key *list = p.lists + (uint64_t)r * p.k * p.n_worker + blockIdx.x;
    const uint32_t n_old = is_first_tile ? 0 : p.k;
    const head_key worst = is_first_tile ? 0 : list[(uint64_t)(p.k - 1) * p.n_worker];
    if (threadIdx.x == 0)
        n_passed[0] = 0;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < n_old; i += GEMV_BLOCK)
        key[i] = list[(uint64_t)i * p.n_worker];
    __syncthreads();
#pragma unroll 1
    for (uint32_t v = threadIdx.x; v < n; v += GEMV_BLOCK) {
        const head_key mine = x[v] > -INFINITY ? head_key_of(x[v], first + v) : 0;
        if (mine > worst)
            key[n_old + atomicAdd(n_passed, 1u)] = mine;
    }
    __syncthreads();
    const uint32_t n_key = n_old + n_passed[0], n_sort = power_above(max(n_key, p.k));
    if (n_key > n_old || is_first_tile) {
#pragma unroll 1
        for (uint32_t i = n_key + threadIdx.x; i < n_sort; i += GEMV_BLOCK)
            key[i] = 0;
        __syncthreads();
        sort_keys(key, n_sort);
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < p.k; i += GEMV_BLOCK)
            list[(uint64_t)i * p.n_worker] = key[i];
    }
    __syncthreads(); /* before the next row writes its keys, and reads this list */
}

template <int T> struct head_rows {
    const head_op &p;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(p.m, 2 * slot, p.n_in);
        row[1] = gemv_row_at<T>(p.m, min(2 * slot + 1, p.n_vocab - 1), p.n_in);
    }
};

template <int T, int MODE, int R>
static __global__ void GEMV_BOUNDS(R)
    head_tiles_k(const __grid_constant__ gemv_shape g, const __grid_constant__ head_op p)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    MYTH_SHARED(head_key, key, HEAD_SORT);
    MYTH_SHARED(unsigned, n_passed, 1);
    float *const logits = (float *)(void *)(stage + ((gemv_stage_bytes<MODE>(g.n_in, R) + 15) & ~(uint64_t)15));
    const uint32_t j = threadIdx.x % GEMV_LANES, n_valid = min((uint32_t)R, p.n_rows - p.row0), w = (uint32_t)warp();
    key[threadIdx.x] = 0; /* for k = 1: this thread's best. In memory, because the product needs the registers */
    grid_dependency_wait();
    gemv_stage_rows<T, MODE, R>(stage, g, p.x, p.row0);
    __syncthreads();
    grid_dependency_launch();
    for (uint32_t tile = blockIdx.x; tile < p.n_tile; tile += gridDim.x) {
        const uint32_t first = tile * MYTH_HEAD_TILE, n = min(p.n_vocab - first, (uint32_t)MYTH_HEAD_TILE);
        for (uint32_t at = w * GEMV_GROUPS; at * 2 < n; at += GEMV_WARPS * GEMV_GROUPS) {
            const uint32_t slot = at + (uint32_t)lane() / GEMV_LANES;
            float acc[2][R];
            gemv_row row[2];
            const head_rows<T> op = {p};
            op.rows(row, min(first / 2 + slot, (p.n_vocab - 1) / 2));
            gemv_sums<T, MODE, R, gemv_unroll_less(T, MODE, R)>(acc, row, stage, g, 0, g.n_chunk);
            if (j < R)
                for (uint32_t i = 0; i < 2; i++) {
                    const float v = gemv_row_sum(acc[i], j);
                    if (2 * slot + i < n)
                        logits[j * MYTH_HEAD_TILE + 2 * slot + i] =
                            p.softcap > 0.0f ? p.softcap * tanhf(v / p.softcap) : v;
                }
        }
        __syncthreads();
        if (w < n_valid) {
            float *x = logits + w * MYTH_HEAD_TILE;
            edit_tile(p, x, p.row0 + w, first, n);
            const float4 sums = reduce_tile(x, n);
            if (lane() == 0)
                p.sums[(uint64_t)w * p.n_tile + tile] = sums;
            if (p.k == 1) {
                for (uint32_t v = (uint32_t)lane(); v < n; v += 32) {
                    const head_key mine = x[v] > -INFINITY ? head_key_of(x[v], first + v) : 0;
                    if (mine > key[threadIdx.x])
                        key[threadIdx.x] = mine;
                }
            }
        }
        __syncthreads();
        if (p.k > 1)
            for (uint32_t r = 0; r < n_valid; r++)
                keep_best(p, key, n_passed, logits + r * MYTH_HEAD_TILE, r, first, n, tile == blockIdx.x);
    }
    if (p.k == 1 && w < n_valid) {
        const head_key best = warp_best(key[threadIdx.x]);
        if (lane() == 0)
            p.lists[(uint64_t)w * p.n_worker + blockIdx.x] = best;
    }
}

/* ---- join ---- */

static __device__ __forceinline__ double block_sum64(double v, double *shared32)
{
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(MYTH_WARP_ALL, v, o);
    if (lane() == 0)
        shared32[warp()] = v;
    __syncthreads();
    v = shared32[lane()];
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(MYTH_WARP_ALL, v, o);
    __syncthreads();
    return v;
}

static __global__ void __launch_bounds__(HEAD_JOIN_BLOCK) head_join_k(const __grid_constant__ head_op p)
{
    MYTH_SHARED(head_key, key, HEAD_JOIN_SORT);
    MYTH_SHARED(double, part, 32);
    MYTH_SHARED(float, most32, 32);
    MYTH_SHARED(unsigned, n_key, 2); /* how many keys are in the buffer, and how many came in the last round */
    const uint32_t r = blockIdx.x, tid = threadIdx.x;
    const uint64_t row = p.row0 + r;
    grid_dependency_wait();
    grid_dependency_launch();

    const float4 *sums = p.sums + (uint64_t)r * p.n_tile;
    float most = -INFINITY;
    for (uint32_t t = tid; t < p.n_tile; t += HEAD_JOIN_BLOCK)
        most = fmaxf(most, sums[t].x);
    most = block_max(most, most32);
    double sum = 0.0, sum_x = 0.0;
    for (uint32_t t = tid; t < p.n_tile; t += HEAD_JOIN_BLOCK)
        if (sums[t].y != 0.0f) { /* not the empty set; NaN is passed on */
            const double d = (double)sums[t].x - (double)most, e = exp(d);
            sum += e * (double)sums[t].y;
            sum_x += e * ((double)sums[t].z + (double)sums[t].y * d);
        }
    sum = block_sum64(sum, part);
    sum_x = block_sum64(sum_x, part);
    if (tid == 0) {
        const bool is_empty = sum == 0.0;
        p.lse[row] = is_empty ? -INFINITY : (float)((double)most + log(sum));
        p.entropy[row] = is_empty ? 0.0f : (float)(log(sum) - sum_x / sum);
        n_key[0] = 0;
    }

    /* Every list is sorted, best first. So when a round with at least one entry of each worker adds no key, no later
     * entry can. */
    const head_key *lists = p.lists + (uint64_t)r * p.k * p.n_worker;
    const uint64_t n_all = (uint64_t)p.k * p.n_worker;
    head_key worst = 0;
    uint32_t n_kept = 0;
    bool is_sorted = false;
    __syncthreads();
    for (uint64_t i0 = 0; i0 < n_all; i0 += HEAD_JOIN_BLOCK) {
        if (tid == 0)
            n_key[1] = 0;
        __syncthreads();
        const head_key mine = i0 + tid < n_all ? lists[i0 + tid] : 0;
        if (mine > worst) {
            key[atomicAdd(n_key, 1u)] = mine;
            atomicMax(n_key + 1, 1u);
        }
        __syncthreads();
        n_kept = n_key[0];
        if (!n_key[1])
            break;
        is_sorted = false;
        __syncthreads();
        if ((n_kept >= p.k && !worst) || n_kept + HEAD_JOIN_BLOCK > HEAD_JOIN_SORT) {
            const uint32_t n_sort = power_above(n_kept);
            for (uint32_t i = n_kept + tid; i < n_sort; i += HEAD_JOIN_BLOCK)
                key[i] = 0;
            __syncthreads();
            sort_keys(key, n_sort);
            n_kept = min(n_kept, p.k);
            worst = n_kept == p.k ? key[p.k - 1] : 0;
            is_sorted = true;
            if (tid == 0)
                n_key[0] = n_kept;
        }
    }
    __syncthreads();
    if (!is_sorted) {
        const uint32_t n_sort = power_above(n_kept);
        for (uint32_t i = n_kept + tid; i < n_sort; i += HEAD_JOIN_BLOCK)
            key[i] = 0;
        __syncthreads();
        sort_keys(key, n_sort);
    }
    for (uint32_t i = tid; i < p.k; i += HEAD_JOIN_BLOCK) {
        const head_key mine = i < n_kept ? key[i] : 0;
        p.top_id[row * p.k + i] = mine ? head_id_of(mine) : -1;
        p.top_logit[row * p.k + i] = mine ? head_logit_of(mine) : -INFINITY;
    }
}

/* ---- host ---- */

template <int T, int MODE, int R> static void launch(myth_stream *s, const gemv_shape &g, head_op p)
{
    const uint64_t shared_bytes =
        ((gemv_stage_bytes<MODE>(g.n_in, R) + 15) & ~(uint64_t)15) + (uint64_t)R * MYTH_HEAD_TILE * sizeof(float);
    for (p.row0 = 0; p.row0 < p.n_rows; p.row0 += R) {
        MYTH_LAUNCH_DEPENDENT((head_tiles_k<T, MODE, R>), p.n_worker, GEMV_BLOCK, shared_bytes, s)(g, p);
        MYTH_LAUNCH_DEPENDENT(head_join_k, min((uint32_t)R, p.n_rows - p.row0), HEAD_JOIN_BLOCK, 0, s)(p);
    }
}

extern "C" void cuda_head_topk(myth_stream *s, const struct myth_head_topk_args *a)
{
    const int mode = gemv_mode(s, a->w.dtype, a->dim, a->w, a->x);
    const gemv_shape g = gemv_shape_of(s, a->w.dtype, mode, a->n_rows, a->dim, (a->n_vocab + 1) / 2, false);
    const uint64_t room = gemv_shared_room(s) - HEAD_SORT * sizeof(head_key);
    head_op p = {};
    p.m = gemv_matrix_of(a->w, myth_head_rows(a), a->dim);
    p.x = cuda_ptr<const float>(a->x);
    p.bias = cuda_ptr<const float>(a->bias);
    p.mask_idx = cuda_ptr<const int32_t>(a->mask_idx);
    p.masks = cuda_ptr<const int32_t>(a->masks);
    p.bias_off = cuda_ptr<const int32_t>(a->bias_off);
    p.bias_id = cuda_ptr<const int32_t>(a->bias_id);
    p.ask_id = cuda_ptr<const int32_t>(a->ask_id);
    p.top_id = cuda_ptr<int32_t>(a->top_id);
    p.top_logit = cuda_ptr<float>(a->top_logit);
    p.lse = cuda_ptr<float>(a->lse);
    p.entropy = cuda_ptr<float>(a->entropy);
    p.ask_logit = cuda_ptr<float>(a->ask_logit);
    p.n_in = a->dim;
    p.n_vocab = a->n_vocab;
    p.n_rows = a->n_rows;
    p.k = a->k;
    p.n_ask = a->n_ask;
    p.n_tile = (a->n_vocab + MYTH_HEAD_TILE - 1) / MYTH_HEAD_TILE;
    p.n_worker = cuda_head_workers(p.n_tile, a->k);
    p.softcap = a->softcap;
    p.sums = (float4 *)cuda_of(s)->scratch;
    p.lists = (head_key *)(p.sums + (uint64_t)min(a->n_rows, (uint32_t)CUDA_HEAD_ROWS) * p.n_tile);
    const auto bytes = [&](auto c) {
        return gemv_stage_bytes<decltype(c)::MODE>(a->dim, decltype(c)::R) + 16 +
               (uint64_t) decltype(c)::R * MYTH_HEAD_TILE * sizeof(float);
    };
    const auto run = [&](auto c) { launch<decltype(c)::T, decltype(c)::MODE, decltype(c)::R>(s, g, p); };
    if (!gemv_pick<8>(a->w.dtype, mode, a->n_rows, room, bytes, run))
        myth_fail(&s->err, MYTH_EDEVICE, "head_topk: rows of %u values do not fit a block's shared memory", a->dim);
    cuda_check(s, "head_topk");
}
