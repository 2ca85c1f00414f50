/* attn_decode.cu   o[h,:] = softmax(cap(q[h,:] . k[j,:])) v[j,:] for one row per run, keys and values read in place;
 * also kv_merge's work
 *
 * Shapes     q, o f32 [n_rows, n_head, head_dim], head_dim <= 512; cache f32 f16 bf16 q8_0 in pages or rings, K and V
 *            types may differ
 * Order      a leaf is CUDA_ATTN_LEAF aligned positions: scores, their maximum, weights, weighted values, reduced by
 *            one block in an order that depends on positions only. CUDA_ATTN_NODE leaves are joined in order to a node,
 *            the nodes in order to the row. Who joins what where is free: each leaf in a block of its own (few rows),
 *            each node (more), or all in one; the bits are the same
 * Parts      parts go through scratch; the last block to arrive at a node joins its leaves, the last to arrive at a row
 *            its nodes. The kernel decides from the row's position, so a recorded step replays at any depth; blocks
 *            past the depth return at once
 * Precision  f32 on the cached values
 * Traffic    K and V once for all q heads of a kv head (GQA in registers, G heads at a time): 16-byte loads, eight in
 *            flight per lane
 * Limit      DRAM bandwidth at depth; launch latency below a few hundred keys. LPK lanes share a key: 8 values per lane
 *            and chunk
 * Merge      the run's new row is stored by the first block of its kv head: in a ring it takes the place of the
 *            position a window earlier, which this row does not see
 * Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018); split over keys as in
 *            Flash-Decoding (Dao, 2023) */
#include "attn.cuh"

enum { KV_FOLDED = KV_ANY + 1, LEAF = CUDA_ATTN_LEAF, NODE = CUDA_ATTN_NODE, THREADS = 128, WARPS = THREADS / 32 };
static_assert(LEAF == THREADS, "a thread per key finds the leaf's rows");

struct decode_job {
    kv_map kv;
    float *o;
    const float *q;
    const int *runs, *row_run, *pos;
    float *slots;                              /* [n_rows, groups][cap] parts */
    unsigned *counters;                        /* [n_rows, groups][n_counter] */
    uint32_t n_head, n_share, n_group, window; /* n_share: q heads of a kv head; n_group: groups of G they make */
    uint32_t n_block, cap, n_counter,
        n_leaf_max; /* blocks of a (row, group); slots; counters; leaves that may go apart */
    float softcap;
    bool merges;
};

/* What the block shares. */
struct leaf_memory {
    const unsigned char **k_row, **v_row; /* [LEAF]; NULL: not seen           */
    float *weight;                        /* [G][LEAF] scores, then weights           */
    float *part;                          /* [WARPS][G][HD]                           */
};

/* Keys in flight per lane: 128 bytes of them, 32 KB on a multiprocessor with two blocks. */
template <int KIND, int CPL> struct batch_of {
    enum { N = KIND == KV_ANY ? 1 : 8 / CPL };
};

/* v[0..G) summed over the LPK lanes of a key; a lane ends with the sum of head *head. */
template <int LPK, int G> static __device__ __forceinline__ float sum_heads(float (&v)[G], int sub, int *head)
{
    int h = 0, off = LPK / 2;
#pragma unroll
    for (int n = G / 2; n; n /= 2, off /= 2) {
        const bool is_upper = sub & off;
#pragma unroll
        for (int i = 0; i < n; i++) {
            const float send = is_upper ? v[i] : v[i + n], keep = is_upper ? v[i + n] : v[i];
            v[i] = keep + __shfl_xor_sync(MYTH_WARP_ALL, send, off);
        }
        h += is_upper ? n : 0;
    }
    for (; off; off /= 2)
        v[0] += __shfl_xor_sync(MYTH_WARP_ALL, v[0], off);
    *head = h;
    return v[0];
}

/* Eight dimensions of the heads' products with one key. */
template <int G>
static __device__ __forceinline__ void add_dot(float (&dot)[G], const float (&q)[8][G], const float (&k)[8])
{
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int g = 0; g < G; g++)
            dot[g] = fmaf(q[i][g], k[i], dot[g]);
}

/* Scores of the passes [from, to] of a leaf; a pass is WARPS * 32 / LPK keys. */
template <int KIND, int LPK, int CPL, int G>
static __device__ __forceinline__ void score_keys(const leaf_memory &m, const float (&q)[CPL][8][G], uint32_t from,
                                                  uint32_t to, int type, uint32_t hd, float softcap)
{
    constexpr uint32_t KPW = 32 / LPK, BATCH = batch_of<KIND, CPL>::N;
    const int sub = lane() % LPK;
    const uint32_t in_pass = (uint32_t)warp() * KPW + (uint32_t)(lane() / LPK);
#pragma unroll 1
    for (uint32_t p = from; p <= to; p += BATCH) {
        kv_raw<KIND> raw[BATCH][CPL];
#pragma unroll
        for (uint32_t b = 0; b < BATCH; b++) {
            const unsigned char *row = p + b <= to ? m.k_row[(p + b) * WARPS * KPW + in_pass] : nullptr;
#pragma unroll
            for (uint32_t c = 0; c < CPL; c++)
                raw[b][c] = kv_fetch<KIND>(row, type, (c * LPK + (uint32_t)sub) * 8, hd);
        }
#pragma unroll
        for (uint32_t b = 0; b < BATCH; b++) {
            float dot[G] = {};
#pragma unroll
            for (uint32_t c = 0; c < CPL; c++) {
                float k[8];
                kv_spread<KIND>(k, raw[b][c]);
                add_dot<G>(dot, q[c], k);
            }
            int head;
            const float score = sum_heads<LPK, G>(dot, sub, &head);
            const uint32_t key = (p + b) * WARPS * KPW + in_pass;
            if (p + b <= to && sub % (LPK / G) == 0 && m.k_row[key])
                m.weight[head * LEAF + (int)key] = attn_cap(score, softcap);
        }
    }
}

/* The same of keys that are made from the values, which lie at leaf_pos: one key of a lane at a time. */
template <int LPK, int CPL, int G>
static __device__ __forceinline__ void score_folded(const leaf_memory &m, const float (&q)[CPL][8][G], uint32_t from,
                                                    uint32_t to, const kv_map &kv, uint32_t leaf_pos, float softcap)
{
    constexpr uint32_t KPW = 32 / LPK;
    const int sub = lane() % LPK;
#pragma unroll 1
    for (uint32_t p = from; p <= to; p++) {
        const uint32_t key = (p * WARPS + (uint32_t)warp()) * KPW + (uint32_t)(lane() / LPK);
        const unsigned char *row = m.k_row[key];
        float dot[G] = {};
#pragma unroll
        for (uint32_t c = 0; c < CPL; c++) {
            float k[8] = {};
#pragma unroll 1
            for (uint32_t i = 0; i < 8; i++) { /* what makes a key is there once, not eight times */
                const uint32_t d = (c * LPK + (uint32_t)sub) * 8 + i;
                const float v = row && d < kv.head_dim ? kv_folded(kv, row, leaf_pos + key, d) : 0.0f;
#pragma unroll
                for (uint32_t e = 0; e < 8; e++)
                    k[e] = e == i ? v : k[e];
            }
            add_dot<G>(dot, q[c], k);
        }
        int head;
        const float score = sum_heads<LPK, G>(dot, sub, &head);
        if (sub % (LPK / G) == 0 && row)
            m.weight[head * LEAF + (int)key] = attn_cap(score, softcap);
    }
}

/* The weighted values of the same passes, by warp, into m.part. */
template <int KIND, int LPK, int CPL, int G>
static __device__ __forceinline__ void add_values(const leaf_memory &m, uint32_t from, uint32_t to, int type,
                                                  uint32_t hd)
{
    constexpr uint32_t KPW = 32 / LPK, HD = LPK * CPL * 8, BATCH = batch_of<KIND, CPL>::N;
    const int sub = lane() % LPK;
    const uint32_t in_pass = (uint32_t)warp() * KPW + (uint32_t)(lane() / LPK);
    float acc[CPL][8][G] = {};
#pragma unroll 1
    for (uint32_t p = from; p <= to; p += BATCH) {
        kv_raw<KIND> raw[BATCH][CPL];
#pragma unroll
        for (uint32_t b = 0; b < BATCH; b++) {
            const unsigned char *row = p + b <= to ? m.v_row[(p + b) * WARPS * KPW + in_pass] : nullptr;
#pragma unroll
            for (uint32_t c = 0; c < CPL; c++)
                raw[b][c] = kv_fetch<KIND>(row, type, (c * LPK + (uint32_t)sub) * 8, hd);
        }
#pragma unroll
        for (uint32_t b = 0; b < BATCH; b++) {
            const uint32_t key =
                min((p + b) * WARPS * KPW + in_pass, LEAF - 1u); /* past `to`: zeros times whatever weight */
            float w[G];
#pragma unroll
            for (int g = 0; g < G; g++)
                w[g] = m.weight[g * LEAF + (int)key];
#pragma unroll
            for (uint32_t c = 0; c < CPL; c++) {
                float v[8];
                kv_spread<KIND>(v, raw[b][c]);
#pragma unroll
                for (int i = 0; i < 8; i++)
#pragma unroll
                    for (int g = 0; g < G; g++)
                        acc[c][i][g] = fmaf(w[g], v[i], acc[c][i][g]);
            }
        }
    }
#pragma unroll
    for (uint32_t c = 0; c < CPL; c++)
#pragma unroll
        for (int g = 0; g < G; g++) {
#pragma unroll
            for (int off = LPK; off < 32; off *= 2)
#pragma unroll
                for (int i = 0; i < 8; i++)
                    acc[c][i][g] += __shfl_xor_sync(MYTH_WARP_ALL, acc[c][i][g], off);
            if (lane() < LPK) {
                float4 *at = (float4 *)(void *)(m.part + ((uint32_t)warp() * G + (uint32_t)g) * HD +
                                                (c * LPK + (uint32_t)sub) * 8);
                at[0] = make_float4(acc[c][0][g], acc[c][1][g], acc[c][2][g], acc[c][3][g]);
                at[1] = make_float4(acc[c][4][g], acc[c][5][g], acc[c][6][g], acc[c][7][g]);
            }
        }
}

/* What the block has reduced: of every head the maximum and the sum of the weights under it, of the thread's E elements
 * of [G][HD] the weighted values. HD is a multiple of THREADS: element e is of head e / (HD / THREADS). */
template <int E, int G> struct attn_part {
    float v[E], most[G], total[G];
};

/* Appends b. The operations are spelled out: the same bits wherever the parts meet. */
template <int E, int G> static __device__ __forceinline__ void join_parts(attn_part<E, G> &a, const attn_part<E, G> &b)
{
#pragma unroll
    for (int g = 0; g < G; g++) {
        const float most = fmaxf(a.most[g], b.most[g]), fade_a = attn_fade(a.most[g], most),
                    fade_b = attn_fade(b.most[g], most);
        a.total[g] = fmaf(b.total[g], fade_b, __fmul_rn(a.total[g], fade_a));
        a.most[g] = most;
#pragma unroll
        for (int e = g * (E / G); e < (g + 1) * (E / G); e++)
            a.v[e] = fmaf(b.v[e], fade_b, __fmul_rn(a.v[e], fade_a));
    }
}

template <int E, int G> static __device__ __forceinline__ attn_part<E, G> load_slot(const float *slot)
{
    attn_part<E, G> a;
#pragma unroll
    for (int e = 0; e < E; e++)
        a.v[e] = slot[e * THREADS + (int)threadIdx.x];
#pragma unroll
    for (int g = 0; g < G; g++) {
        a.most[g] = slot[E * THREADS + g];
        a.total[g] = slot[E * THREADS + G + g];
    }
    return a;
}

template <int E, int G> static __device__ __forceinline__ void store_slot(float *slot, const attn_part<E, G> &a)
{
#pragma unroll
    for (int e = 0; e < E; e++)
        slot[e * THREADS + (int)threadIdx.x] = a.v[e];
#pragma unroll
    for (int g = 0; g < G; g++)
        if (threadIdx.x == 0) {
            slot[E * THREADS + g] = a.most[g];
            slot[E * THREADS + G + g] = a.total[g];
        }
}

/* The parts of n slots joined in order. */
template <int E, int G> static __device__ __forceinline__ attn_part<E, G> join_slots(const float *slot, uint32_t n)
{
    constexpr uint32_t STRIDE = E * THREADS + 2 * G;
    attn_part<E, G> a = load_slot<E, G>(slot);
#pragma unroll 1
    for (uint32_t i = 1; i < n; i++)
        join_parts(a, load_slot<E, G>(slot + (uint64_t)i * STRIDE));
    return a;
}

/* The new row of one kv head into its page or ring, bytes as they are; K, if it is stored, by the even warps, V by the
 * odd. */
static __device__ __forceinline__ void merge_row(const kv_map &m, const kv_run &r, uint32_t head, uint32_t pos)
{
    const bool is_v = warp() & 1;
    if (!is_v && m.fold.w)
        return;
    const uint16_t *src = (const uint16_t *)(const void *)kv_row(m, r, head, pos, is_v);
    uint16_t *dst = (uint16_t *)(void *)kv_cached_row(m, r, head, pos, is_v);
    const uint32_t n = (is_v ? m.v_bytes : m.k_bytes) / 2;
    for (uint32_t i = (uint32_t)(warp() / 2 * 32 + lane()); i < n; i += THREADS / 2)
        dst[i] = src[i];
}

template <int LPK, int CPL, int G>
static __global__ void __launch_bounds__(THREADS, 2) attn_decode_k(const decode_job j)
{
    constexpr uint32_t KPW = 32 / LPK, PASS = WARPS * KPW, HD = LPK * CPL * 8, STRIDE = G * (HD + 2);
    constexpr int E = G * (int)HD / THREADS;
    MYTH_SHARED(const unsigned char *, k_row, LEAF);
    MYTH_SHARED(const unsigned char *, v_row, LEAF);
    MYTH_SHARED(float, weight, G *LEAF);
    MYTH_SHARED(float, part, WARPS *G *HD);
    MYTH_SHARED(float, leaf_most, G);
    MYTH_SHARED(float, leaf_total, G);
    static_assert(HD % THREADS == 0, "an element's head is known at compile time");
    const leaf_memory m = {k_row, v_row, weight, part};

    grid_dependency_wait();
    const uint32_t row = blockIdx.x / j.n_block, block = blockIdx.x % j.n_block;
    const uint32_t kv_head = blockIdx.y / j.n_group,
                   head0 = blockIdx.y % j.n_group * G; /* head0: among the kv head's */
    const int *rec = j.runs + (uint64_t)(uint32_t)j.row_run[row] * MYTH_RUN_WIDTH;
    const kv_run r = kv_read_run(j.kv, rec);
    const uint32_t pos = (uint32_t)j.pos[row], first = kv_first(pos, j.window), hd = j.kv.head_dim;
    const kv_walk leaves = kv_walk_of(r, first, pos, LEAF),
                  nodes = kv_walk_of(r, kv_block_at(leaves, 0) * LEAF, pos, LEAF * NODE);
    const bool by_leaf = leaves.n <= j.n_leaf_max && leaves.n + nodes.n <= j.cap && nodes.n < j.n_counter;
    const bool by_node = !by_leaf && j.n_block > 1 && nodes.n <= j.cap && j.n_counter > 0;
    const uint32_t n_unit = by_leaf ? leaves.n : by_node ? nodes.n : 1;
    if (block >= n_unit)
        return;
    grid_dependency_launch();
    if (j.merges && block == 0 && head0 == 0 && !(rec[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL))
        merge_row(j.kv, r, kv_head, pos);

    const uint32_t heads = min(j.n_share - head0, (uint32_t)G), pair = row * gridDim.y + blockIdx.y;
    const uint64_t q_row = (uint64_t)row * j.n_head + kv_head * j.n_share + head0;
    float *slot = j.slots + (uint64_t)pair * j.cap * STRIDE;
    unsigned *counter = j.counters + (uint64_t)pair * j.n_counter;
    float q[CPL][8][G];
#pragma unroll
    for (uint32_t c = 0; c < CPL; c++)
#pragma unroll
        for (uint32_t i = 0; i < 8; i++)
#pragma unroll
            for (uint32_t g = 0; g < G; g++) {
                const uint32_t d = (c * LPK + (uint32_t)lane() % LPK) * 8 + i;
                q[c][i][g] = g < heads && d < hd ? j.q[(q_row + g) * hd + d] : 0.0f;
            }

    for (uint32_t unit = block; unit < n_unit; unit += j.n_block) {
        attn_part<E, G> node, all;
        const uint32_t node_at = by_leaf ? kv_block_at(leaves, unit) / NODE : by_node ? kv_block_at(nodes, unit) : 0;
        const uint32_t leaf0 = by_leaf ? unit : by_node ? kv_place_of(leaves, node_at * NODE) : 0;
        const uint32_t leaf1 = by_leaf ? unit + 1
                             : by_node ? min(kv_place_of(leaves, node_at * NODE + NODE), leaves.n)
                                       : leaves.n;
        bool is_first = true, is_first_node = true;
        for (uint32_t l = leaf0; l < leaf1; l++) {
            const uint32_t leaf = kv_block_at(leaves, l), p = leaf * LEAF + threadIdx.x;
            const bool is_seen = p >= first && p <= pos && !kv_is_gone(r, p);
            k_row[threadIdx.x] = is_seen ? kv_row(j.kv, r, kv_head, p, false) : nullptr;
            v_row[threadIdx.x] = is_seen ? kv_row(j.kv, r, kv_head, p, true) : nullptr;
#pragma unroll
            for (int g = 0; g < G; g++)
                weight[g * LEAF + (int)threadIdx.x] = -INFINITY;
            __syncthreads();
            const uint32_t from = (leaf * LEAF < first ? first - leaf * LEAF : 0) / PASS,
                           to = min(pos - leaf * LEAF, LEAF - 1u) / PASS;
#define SCORES(KIND) score_keys<KIND, LPK, CPL, G>(m, q, from, to, j.kv.k_type, hd, j.softcap)
            switch (j.kv.fold.w ? (int)KV_FOLDED : j.kv.k_kind) {
            case KV_FOLDED: score_folded<LPK, CPL, G>(m, q, from, to, j.kv, leaf * LEAF, j.softcap); break;
            case KV_F16: SCORES(KV_F16); break;
            case KV_BF16: SCORES(KV_BF16); break;
            case KV_Q8_0: SCORES(KV_Q8_0); break;
            default: SCORES(KV_ANY);
            }
#undef SCORES
            __syncthreads();
            for (int g = warp(); g < G; g += WARPS) {
                float s[LEAF / 32], most = -INFINITY, total = 0.0f;
#pragma unroll
                for (int k = 0; k < LEAF / 32; k++) {
                    s[k] = weight[g * LEAF + k * 32 + lane()];
                    most = fmaxf(most, s[k]);
                }
                most = warp_max(most);
#pragma unroll
                for (int k = 0; k < LEAF / 32; k++) {
                    s[k] = s[k] == -INFINITY ? 0.0f : expf(s[k] - most);
                    total += s[k];
                    weight[g * LEAF + k * 32 + lane()] = s[k];
                }
                total = warp_sum(total);
                if (lane() == 0)
                    leaf_most[g] = most, leaf_total[g] = total;
            }
            __syncthreads();
#define VALUES(KIND) add_values<KIND, LPK, CPL, G>(m, from, to, j.kv.v_type, hd)
            switch (j.kv.v_kind) {
            case KV_F16: VALUES(KV_F16); break;
            case KV_BF16: VALUES(KV_BF16); break;
            case KV_Q8_0: VALUES(KV_Q8_0); break;
            default: VALUES(KV_ANY);
            }
#undef VALUES
            __syncthreads();
            const bool ends_node = l + 1 == leaf1 || kv_block_at(leaves, l + 1) / NODE != leaf / NODE;
            attn_part<E, G> part_of;
#pragma unroll
            for (int e = 0; e < E; e++) {
                part_of.v[e] = 0.0f;
#pragma unroll
                for (int w = 0; w < WARPS; w++)
                    part_of.v[e] += part[w * G * (int)HD + e * THREADS + (int)threadIdx.x];
            }
#pragma unroll
            for (int g = 0; g < G; g++)
                part_of.most[g] = leaf_most[g], part_of.total[g] = leaf_total[g];
            if (is_first)
                node = part_of;
            else
                join_parts(node, part_of);
            if (ends_node && is_first_node)
                all = node;
            else if (ends_node)
                join_parts(all, node);
            is_first = ends_node;
            is_first_node = is_first_node && !ends_node;
        }

        bool is_done = n_unit == 1;
        if (!is_done && by_leaf) {
            store_slot(slot + (uint64_t)unit * STRIDE, all);
            const uint32_t from = kv_place_of(leaves, node_at * NODE),
                           to = min(kv_place_of(leaves, node_at * NODE + NODE), leaves.n);
            const uint32_t n = kv_place_of(nodes, node_at);
            if (!last_block(counter + 1 + n, to - from))
                continue;
            all = join_slots<E, G>(slot + (uint64_t)from * STRIDE, to - from);
            is_done = nodes.n == 1;
            if (!is_done)
                store_slot(slot + (uint64_t)(leaves.n + n) * STRIDE, all);
        } else if (!is_done) {
            store_slot(slot + (uint64_t)unit * STRIDE, all);
        }
        if (!is_done) {
            if (!last_block(counter, nodes.n))
                continue;
            all = join_slots<E, G>(slot + (uint64_t)(by_leaf ? leaves.n : 0) * STRIDE, nodes.n);
        }
#pragma unroll
        for (int e = 0; e < E; e++) {
            const uint32_t at = (uint32_t)e * THREADS + threadIdx.x;
            if (at / HD < heads && at % HD < hd)
                j.o[(q_row + at / HD) * hd + at % HD] = all.v[e] / all.total[e / (E / G)];
        }
    }
}

/* How the rows' work is parted over blocks, from the reserved shape and the step alone; the bits do not depend on it.
 */
template <int LPK, int CPL, int G> static void launch(myth_stream *s, const struct myth_attn_args *a, decode_job j)
{
    constexpr uint64_t PART_BYTES = G * (LPK * CPL * 8 + 2) * sizeof(float);
    const struct cuda_device *d = cuda_of(s);
    j.n_group = (j.n_share + G - 1) / G;
    const uint64_t groups = (uint64_t)a->n_head_kv * j.n_group, pairs = a->n_rows * groups, sm = (uint64_t)d->sm_count;
    const uint64_t n_ctx = d->base.shape.n_ctx, span = a->window && a->window < n_ctx ? a->window : n_ctx;
    const uint64_t n_leaf = span / LEAF + 3;            /* ends of the span and of a gap may cut leaves */
    const uint64_t fill = (8 * sm + pairs - 1) / pairs; /* a few blocks per multiprocessor */
    j.n_block = pairs >= 16 * sm ? 1u : (uint32_t)(fill < n_leaf ? fill : n_leaf);
    j.cap =
        j.n_block > 1
            ? (uint32_t)cuda_smaller(cuda_work_attn(&d->base.shape, d->tune.attn_bytes) / PART_BYTES / pairs, 1u << 20)
            : 0;
    j.n_counter = j.n_block > 1 ? (uint32_t)(CUDA_COUNTER_N / pairs) : 0;
    j.n_leaf_max = pairs >= 2 * sm ? 0 : j.cap;
    const dim3 grid((unsigned)(a->n_rows * (uint64_t)j.n_block), (unsigned)groups);
    MYTH_LAUNCH_DEPENDENT((attn_decode_k<LPK, CPL, G>), grid, THREADS, 0, s)(j);
}

/* Two q heads at a time (one alone costs no bytes more), four where a kv head has more and the registers hold them. */
template <int LPK, int CPL>
static void launch_heads(myth_stream *s, const struct myth_attn_args *a, const decode_job &j)
{
    if (j.n_share <= 2)
        launch<LPK, CPL, 2>(s, a, j);
    else
        launch<LPK, CPL, 4>(s, a, j);
}

extern "C" void cuda_attn_decode(myth_stream *s, const struct myth_attn_args *a)
{
    decode_job j = {};
    j.kv = kv_map_of(a->k_new, a->v_new, &a->kv, a->cap_rows, a->n_head_kv, a->head_dim);
    j.kv.fold = kv_fold_of(s, a);
    j.o = cuda_ptr<float>(a->o);
    j.q = cuda_ptr<const float>(a->q);
    j.runs = cuda_ptr<const int>(a->runs);
    j.row_run = cuda_ptr<const int>(a->row_run);
    j.pos = cuda_ptr<const int>(a->pos);
    j.slots = (float *)cuda_of(s)->scratch;
    j.counters = cuda_of(s)->counters;
    j.n_head = a->n_head;
    j.n_share = a->n_head / a->n_head_kv;
    j.window = a->window;
    j.softcap = a->softcap;
    j.merges = a->merges;
    if (a->head_dim <= 128)
        launch_heads<16, 1>(s, a, j);
    else if (a->head_dim <= 256)
        launch_heads<32, 1>(s, a, j);
    else if (a->head_dim <= 512)
        launch<32, 2, 2>(s, a, j);
    else
        myth_fail(&s->err, MYTH_EUNSUPPORTED, "attn_decode: head_dim %u; at most 512", a->head_dim);
    cuda_check(s, "attn_decode");
}
