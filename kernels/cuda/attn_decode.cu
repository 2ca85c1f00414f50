/* attn_decode.cu   o[h,:] = sum_j softmax_j(cap(q[h,:] . k[j,:])) v[j,:] for one row per run; also does the work of
 *                  kv_merge
 *
 * Shapes     q, o f32 [n_rows, n_head, head_dim], head_dim <= 512; cache f32 f16 bf16 q8_0 in pages or rings, K and V
 *            types may differ
 * Order      a leaf is CUDA_ATTN_LEAF aligned positions. One block reduces it (scores, their maximum, weights, weighted
 *            values) in an order that depends on positions only. CUDA_ATTN_NODE leaves are joined in order to a node,
 *            and the nodes in order to the row. Which block does which part of this does not change the bits: a block
 *            has one leaf (few rows), one node (more rows), or a whole row
 * Parts      results of leaves and nodes go through scratch. The last block to finish a node's leaf joins the node; the
 *            last to finish a row's node joins the row. The kernel derives all this from the row's position, so that a
 *            recorded step replays at any depth; blocks past the depth return at once
 * Precision  f32 on the cached values
 * Traffic    K and V once for all q heads of a kv head (GQA in registers, G heads at a time): 16-byte loads, eight in
 *            flight per lane
 * Limit      DRAM bandwidth with many keys; launch latency below a few hundred keys. LPK lanes share a key, each with 8
 *            values of a chunk
 * Merge      the first block of a kv head stores the run's new row. In a ring the new row replaces that of the position
 *            a window earlier, which this row does not see
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
    uint32_t n_head, n_share, n_group, window; /* n_share: q heads per kv head; n_group: groups of G heads among them */
    uint32_t n_block, cap, n_counter,
        n_leaf_max; /* per (row, group): blocks; slots; counters; most leaves that get a block each */
    float softcap;
    bool merges;
};

/* The block's shared memory. */
struct leaf_memory {
    const unsigned char **k_row, **v_row; /* [LEAF]; NULL = the row does not see it */
    float *weight;                        /* [G][LEAF] scores, then weights           */
    float *part;                          /* [WARPS][G][HD]                           */
    float *most, *total;                  /* [G] largest score, sum of the weights    */
};

/* How many keys a lane loads at once: 128 bytes, which are 32 KB on a multiprocessor with two blocks. */
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

/* Adds the products of the heads with eight dimensions of one key. */
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

/* The same for folded keys of the leaf that starts at position leaf_pos; a lane makes one key at a time. */
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
            for (uint32_t i = 0; i < 8; i++) { /* not unrolled, so that the code that makes a key is there once */
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

/* Adds the weighted values of the same passes; each warp writes its sums to m.part. */
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
            const uint32_t key = min((p + b) * WARPS * KPW + in_pass, LEAF - 1u); /* a position past `to` adds zeros */
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

/* A reduced part: for every head the maximum and the sum of the weights, and for the thread's E elements of [G][HD] the
 * weighted values. HD is a multiple of THREADS, so element e belongs to head e / (HD / THREADS). */
template <int E, int G> struct attn_part {
    float v[E], most[G], total[G];
};

/* Joins b to a. The operations are spelled out, so that the bits are the same wherever parts are joined. */
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

/* Joins the parts of n slots in order. */
template <int E, int G> static __device__ __forceinline__ attn_part<E, G> join_slots(const float *slot, uint32_t n)
{
    constexpr uint32_t STRIDE = E * THREADS + 2 * G;
    attn_part<E, G> a = load_slot<E, G>(slot);
#pragma unroll 1
    for (uint32_t i = 1; i < n; i++)
        join_parts(a, load_slot<E, G>(slot + (uint64_t)i * STRIDE));
    return a;
}

/* Copies the new row of one kv head into its page or ring. Even warps copy K, if it is stored, odd warps V. */
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

/* ---- the part of a row that a block computes ---- */

/* The positions of a row and how they are divided among blocks: in units of one leaf, of one node, or as a whole. */
struct decode_row {
    kv_run run;
    uint32_t row, kv_head, head0; /* head0: the group's first q head, among those of the kv head */
    uint32_t pos, first;          /* the row's own position, and the first that it sees */
    kv_walk leaves, nodes;
    bool by_leaf, by_node;
    uint32_t n_unit;
};

template <int G> static __device__ __forceinline__ decode_row decode_row_of(const decode_job &j, const int *rec)
{
    decode_row w;
    w.run = kv_read_run(j.kv, rec);
    w.row = blockIdx.x / j.n_block;
    w.kv_head = blockIdx.y / j.n_group;
    w.head0 = blockIdx.y % j.n_group * G;
    w.pos = (uint32_t)j.pos[w.row];
    w.first = kv_first(w.pos, j.window);
    w.leaves = kv_walk_of(w.run, w.first, w.pos, LEAF);
    w.nodes = kv_walk_of(w.run, kv_block_at(w.leaves, 0) * LEAF, w.pos, LEAF * NODE);
    w.by_leaf = w.leaves.n <= j.n_leaf_max && w.leaves.n + w.nodes.n <= j.cap && w.nodes.n < j.n_counter;
    w.by_node = !w.by_leaf && j.n_block > 1 && w.nodes.n <= j.cap && j.n_counter > 0;
    w.n_unit = w.by_leaf ? w.leaves.n : w.by_node ? w.nodes.n : 1;
    return w;
}

/* The numbers [from, to) in the walk over leaves that belong to the node `node`. */
struct leaf_range {
    uint32_t from, to;
};
static __device__ __forceinline__ leaf_range leaves_of_node(const decode_row &w, uint32_t node)
{
    leaf_range r;
    r.from = kv_place_of(w.leaves, node * NODE);
    r.to = min(kv_place_of(w.leaves, node * NODE + NODE), w.leaves.n);
    return r;
}

/* ---- a leaf ---- */

/* Finds the leaf's rows, a thread per position, and sets all scores to that of no key. A barrier must follow. */
template <int G>
static __device__ __forceinline__ void find_rows(const decode_job &j, const decode_row &w, const leaf_memory &m,
                                                 uint32_t leaf)
{
    const uint32_t p = leaf * LEAF + threadIdx.x;
    const bool is_seen = p >= w.first && p <= w.pos && !kv_is_gone(w.run, p);
    m.k_row[threadIdx.x] = is_seen ? kv_row(j.kv, w.run, w.kv_head, p, false) : nullptr;
    m.v_row[threadIdx.x] = is_seen ? kv_row(j.kv, w.run, w.kv_head, p, true) : nullptr;
#pragma unroll
    for (int g = 0; g < G; g++)
        m.weight[g * LEAF + (int)threadIdx.x] = -INFINITY;
}

/* Turns the scores of each head into weights; a warp per head. */
template <int G> static __device__ __forceinline__ void weigh_scores(const leaf_memory &m)
{
    for (int g = warp(); g < G; g += WARPS) {
        float s[LEAF / 32], most = -INFINITY, total = 0.0f;
#pragma unroll
        for (int k = 0; k < LEAF / 32; k++) {
            s[k] = m.weight[g * LEAF + k * 32 + lane()];
            most = fmaxf(most, s[k]);
        }
        most = warp_max(most);
#pragma unroll
        for (int k = 0; k < LEAF / 32; k++) {
            s[k] = s[k] == -INFINITY ? 0.0f : expf(s[k] - most);
            total += s[k];
            m.weight[g * LEAF + k * 32 + lane()] = s[k];
        }
        total = warp_sum(total);
        if (lane() == 0)
            m.most[g] = most, m.total[g] = total;
    }
}

/* Adds the weighted values of all warps. */
template <int E, int G, int HD> static __device__ __forceinline__ attn_part<E, G> join_warps(const leaf_memory &m)
{
    attn_part<E, G> a;
#pragma unroll
    for (int e = 0; e < E; e++) {
        a.v[e] = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            a.v[e] += m.part[w * G * HD + e * THREADS + (int)threadIdx.x];
    }
#pragma unroll
    for (int g = 0; g < G; g++)
        a.most[g] = m.most[g], a.total[g] = m.total[g];
    return a;
}

/* Reduces one leaf, with the whole block. */
template <int LPK, int CPL, int G, int E>
static __device__ __forceinline__ attn_part<E, G>
reduce_leaf(const decode_job &j, const decode_row &w, const leaf_memory &m, const float (&q)[CPL][8][G], uint32_t leaf)
{
    constexpr uint32_t PASS = WARPS * 32 / LPK, HD = LPK * CPL * 8;
    const uint32_t hd = j.kv.head_dim, from = (leaf * LEAF < w.first ? w.first - leaf * LEAF : 0) / PASS,
                   to = min(w.pos - leaf * LEAF, LEAF - 1u) / PASS;
    find_rows<G>(j, w, m, leaf);
    __syncthreads();
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
    weigh_scores<G>(m);
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
    return join_warps<E, G, (int)HD>(m);
}

/* ---- a unit ---- */

/* Reduces leaves [from, to) of the walk. The leaves of a node are joined first, then the nodes. */
template <int LPK, int CPL, int G, int E>
static __device__ __forceinline__ attn_part<E, G>
reduce_leaves(const decode_job &j, const decode_row &w, const leaf_memory &m, const float (&q)[CPL][8][G], leaf_range r)
{
    attn_part<E, G> node, all;
    bool is_first = true, is_first_node = true;
    for (uint32_t l = r.from; l < r.to; l++) {
        const uint32_t leaf = kv_block_at(w.leaves, l);
        const attn_part<E, G> part = reduce_leaf<LPK, CPL, G, E>(j, w, m, q, leaf);
        const bool ends_node = l + 1 == r.to || kv_block_at(w.leaves, l + 1) / NODE != leaf / NODE;
        if (is_first)
            node = part;
        else
            join_parts(node, part);
        if (ends_node && is_first_node)
            all = node;
        else if (ends_node)
            join_parts(all, node);
        is_first = ends_node;
        is_first_node = is_first_node && !ends_node;
    }
    return all;
}

/* Joins a unit's part with the others of the row; a leaf's part goes to its node first. It returns true in one block
 * only, the last to arrive, which then has the whole row. slot and counter are those of the row and group. */
template <int E, int G>
static __device__ __forceinline__ bool join_row(const decode_row &w, attn_part<E, G> &all, uint32_t unit,
                                                uint32_t node_at, float *slot, unsigned *counter)
{
    constexpr uint32_t STRIDE = E * THREADS + 2 * G;
    if (w.n_unit == 1)
        return true;
    store_slot(slot + (uint64_t)unit * STRIDE, all);
    if (w.by_leaf) {
        const leaf_range r = leaves_of_node(w, node_at);
        const uint32_t n = kv_place_of(w.nodes, node_at);
        if (!last_block(counter + 1 + n, r.to - r.from))
            return false;
        all = join_slots<E, G>(slot + (uint64_t)r.from * STRIDE, r.to - r.from);
        if (w.nodes.n == 1)
            return true;
        store_slot(slot + (uint64_t)(w.leaves.n + n) * STRIDE, all);
    }
    if (!last_block(counter, w.nodes.n))
        return false;
    all = join_slots<E, G>(slot + (uint64_t)(w.by_leaf ? w.leaves.n : 0) * STRIDE, w.nodes.n);
    return true;
}

template <int LPK, int CPL, int G>
static __global__ void __launch_bounds__(THREADS, 2) attn_decode_k(const decode_job j)
{
    constexpr uint32_t HD = LPK * CPL * 8, STRIDE = G * (HD + 2);
    constexpr int E = G * (int)HD / THREADS;
    static_assert(HD % THREADS == 0, "an element's head is known at compile time");
    MYTH_SHARED(const unsigned char *, k_row, LEAF);
    MYTH_SHARED(const unsigned char *, v_row, LEAF);
    MYTH_SHARED(float, weight, G *LEAF);
    MYTH_SHARED(float, part, WARPS *G *HD);
    MYTH_SHARED(float, leaf_most, G);
    MYTH_SHARED(float, leaf_total, G);
    const leaf_memory m = {k_row, v_row, weight, part, leaf_most, leaf_total};

    grid_dependency_wait();
    const uint32_t block = blockIdx.x % j.n_block, hd = j.kv.head_dim;
    const int *rec = j.runs + (uint64_t)(uint32_t)j.row_run[blockIdx.x / j.n_block] * MYTH_RUN_WIDTH;
    const decode_row w = decode_row_of<G>(j, rec);
    if (block >= w.n_unit)
        return;
    grid_dependency_launch();
    if (j.merges && block == 0 && w.head0 == 0 && !(rec[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL))
        merge_row(j.kv, w.run, w.kv_head, w.pos);

    const uint32_t heads = min(j.n_share - w.head0, (uint32_t)G), pair = w.row * gridDim.y + blockIdx.y;
    const uint64_t q_row = (uint64_t)w.row * j.n_head + w.kv_head * j.n_share + w.head0;
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

    for (uint32_t unit = block; unit < w.n_unit; unit += j.n_block) {
        const uint32_t node_at = w.by_leaf ? kv_block_at(w.leaves, unit) / NODE
                               : w.by_node ? kv_block_at(w.nodes, unit)
                                           : 0;
        leaf_range r = {0, w.leaves.n};
        if (w.by_leaf)
            r = {unit, unit + 1};
        else if (w.by_node)
            r = leaves_of_node(w, node_at);
        attn_part<E, G> all = reduce_leaves<LPK, CPL, G, E>(j, w, m, q, r);
        if (!join_row<E, G>(w, all, unit, node_at, j.slots + (uint64_t)pair * j.cap * STRIDE,
                            j.counters + (uint64_t)pair * j.n_counter))
            continue;
#pragma unroll
        for (int e = 0; e < E; e++) {
            const uint32_t at = (uint32_t)e * THREADS + threadIdx.x;
            if (at / HD < heads && at % HD < hd)
                j.o[(q_row + at / HD) * hd + at % HD] = all.v[e] / all.total[e / (E / G)];
        }
    }
}

/* Divides the work of the rows among blocks. It depends on the reserved shape and the step only, and does not change
 * bits. */
template <int LPK, int CPL, int G> static void launch(myth_stream *s, const struct myth_attn_args *a, decode_job j)
{
    constexpr uint64_t PART_BYTES = G * (LPK * CPL * 8 + 2) * sizeof(float);
    const struct cuda_device *d = cuda_of(s);
    j.n_group = (j.n_share + G - 1) / G;
    const uint64_t groups = (uint64_t)a->n_head_kv * j.n_group, pairs = a->n_rows * groups, sm = (uint64_t)d->sm_count;
    const uint64_t n_ctx = d->base.shape.n_ctx, span = a->window && a->window < n_ctx ? a->window : n_ctx;
    const uint64_t n_leaf = span / LEAF + 3; /* 3 more, because the ends of the span and of a gap may cut leaves */
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

/* Takes two q heads at a time (a single one needs no fewer bytes), or four where a kv head has more and the registers
 * suffice. */
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
