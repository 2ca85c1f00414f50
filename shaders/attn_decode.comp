#version 460
#include "common.glsl"
// attn_decode   o[r,h,:] = sum_j softmax_j(cap(q[r,h,:] . k[j,:])) v[j,:] over the keys j of row r, with one row per
//               run; with `merges`, then kv_merge of the row
//
// Shapes     q, o f32 [n_rows, n_head, HEAD_DIM]; keys as in attn.glsl. A workgroup has one row, Q_HEADS of the query
//            heads of one kv head, and one split, which is SPLIT positions from a multiple of SPLIT on. Splits wholly
//            in one of the run's gaps do not exist
// Order      scores: each subgroup takes one key at a time, each lane every S-th vec4 of it (S lanes). Maximum and sum
//            of a split: each lane takes positions S apart, then the lanes are combined. Values: each strand of threads
//            adds positions N_STRAND apart in order, then the strands are added. Splits are joined in order of
//            position. So the order depends on positions and head_dim only
// Combine    each workgroup writes its split's (maximum, sum, values); the one that finishes last (`count`, which is 0
//            again after it) joins them and merges the row
// Precision  f32
// Traffic    every key and value once for each group of Q_HEADS query heads; HEAD_DIM + 2 floats per split and head
// Limit      DRAM bandwidth
// Launch     x: the splits that the longest sequence may have; workgroups past those of the row return at once. y: kv
//            heads times groups of query heads. z: rows
layout(local_size_x = 128) in;
layout(constant_id = 1) const uint K_TYPE = 0;
layout(constant_id = 2) const uint V_TYPE = 0;
layout(constant_id = 3) const uint HEAD_DIM = 64;
layout(constant_id = 4) const uint Q_HEADS = 1;
layout(constant_id = 5) const uint FLAGS = 0;
ARGS(attn)
vk_attn_args a;                 // a copy, because loops would read args.a from memory again

#include "attn.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) coherent buffer Part { float v[]; };

const uint SPLIT = 256, GROUP = 128;
const uint N_WORD = (HEAD_DIM + 3) / 4, LANE_WORDS = (N_WORD + SUBGROUP - 1) / SUBGROUP;
const uint N_STRAND = N_WORD >= GROUP ? 1 : GROUP / N_WORD, WORD_STEPS = (N_WORD + GROUP - 1) / GROUP;

shared float score[Q_HEADS * SPLIT];
shared float most[Q_HEADS], total[Q_HEADS];
shared vec4 strand[N_STRAND > 1 ? GROUP : 1];
shared bool is_last;
vec4 qv[Q_HEADS * LANE_WORDS];
vec4 sum[Q_HEADS];

uint64_t q_head(uint row, uint h) { return (uint64_t(row) * a.n_head + h) * HEAD_DIM * 4ul; }

// Address of the result of split `s` (counted without those in gaps) for head h: maximum, sum, values.
uint64_t part_at(uint row, uint h, uint s)
{
    return a.part + ((uint64_t(row - a.row0) * a.n_head + h) * a.n_split + s) * ((HEAD_DIM + 2) * 4ul);
}

void read_queries(uint row, uint h0, uint n_h)
{
    [[unroll]] for (uint g = 0; g < Q_HEADS; g++)
        [[unroll]] for (uint i = 0; i < LANE_WORDS; i++) {
            const uint d = (i * SUBGROUP + gl_SubgroupInvocationID) * 4;
            const uint64_t q = a.q + q_head(row, h0 + min(g, n_h - 1));
            vec4 v = vec4(0.0);
            for (uint c = 0; c < 4; c++)
                if (d + c < HEAD_DIM)
                    v[c] = F32(q).v[d + c];
            qv[g * LANE_WORDS + i] = v;
        }
}

// Computes the scores of positions from .. to - 1; those in gaps get -inf.
void score_keys(uint64_t run, uint head, uint start, uint from, uint to, uint n_gap)
{
    for (uint j = from + gl_SubgroupID; j < to; j += gl_NumSubgroups) {
        float dot_qk[Q_HEADS];
        [[unroll]] for (uint g = 0; g < Q_HEADS; g++)
            dot_qk[g] = 0.0;
        const bool is_held = !is_gone(run, n_gap, j);
        if (is_held) {
            const uint64_t row = cached_row(run, j, head, false);
            [[unroll]] for (uint i = 0; i < LANE_WORDS; i++) {
                const uint word = i * SUBGROUP + gl_SubgroupInvocationID;
                if (word < N_WORD) {
                    const vec4 k = key_vec4(row, word * 4, j);
                    [[unroll]] for (uint g = 0; g < Q_HEADS; g++)
                        [[unroll]] for (uint c = 0; c < 4; c++)
                            dot_qk[g] = fma(qv[g * LANE_WORDS + i][c], k[c], dot_qk[g]);
                }
            }
        }
        [[unroll]] for (uint g = 0; g < Q_HEADS; g++) {
            const float s = lanes_sum(dot_qk[g]);
            if (subgroupElect())
                score[g * SPLIT + j - start] = is_held ? cap_f32(s, a.softcap) : -INF;
        }
    }
}

// Turns scores into weights, and computes most and total of each head.
void weigh(uint from, uint to)
{
    for (uint g = gl_SubgroupID; g < Q_HEADS; g += gl_NumSubgroups) {
        float m = -INF, l = 0.0;
        for (uint j = gl_SubgroupInvocationID; j < SPLIT; j += SUBGROUP)
            if (j >= from && j < to)
                m = max(m, score[g * SPLIT + j]);
        m = lanes_max(m);
        for (uint j = gl_SubgroupInvocationID; j < SPLIT; j += SUBGROUP)
            if (j >= from && j < to) {
                const float s = score[g * SPLIT + j], w = is_minus_inf(s) ? 0.0 : exp_f32(s - m);
                score[g * SPLIT + j] = w;
                l += w;
            }
        l = lanes_sum(l);
        if (subgroupElect()) {
            most[g] = m;
            total[g] = l;
        }
    }
}

// Computes sum[g], elements 4 word .. 4 word + 3 of the weighted values. Each strand adds its positions; strand 0 then
// adds the sums of the strands in order.
void add_values(uint64_t run, uint head, uint start, uint from, uint to, uint n_gap, uint word, uint mine)
{
    [[unroll]] for (uint g = 0; g < Q_HEADS; g++)
        sum[g] = vec4(0.0);
    if (word < N_WORD && mine < N_STRAND)
        for (uint j = start + mine; j < to; j += N_STRAND)
            if (j >= from && !is_gone(run, n_gap, j)) {
                const vec4 v = value_vec4(cached_row(run, j, head, true), word * 4);
                [[unroll]] for (uint g = 0; g < Q_HEADS; g++)
                    sum[g] = fma(vec4(score[g * SPLIT + j - start]), v, sum[g]);
            }
    if (N_STRAND > 1)
        [[unroll]] for (uint g = 0; g < Q_HEADS; g++) {
            barrier();
            strand[gl_LocalInvocationIndex] = sum[g];
            barrier();
            if (mine == 0)
                for (uint i = 1; i < N_STRAND; i++)
                    sum[g] += strand[i * N_WORD + word];
        }
}

// Joins the splits of head h and writes o.
void join(uint row, uint h, uint n_live)
{
    float m = -INF, l = 0.0;
    for (uint s = 0; s < n_live; s++)
        m = max(m, Part(part_at(row, h, s)).v[0]);
    for (uint s = 0; s < n_live; s++)
        l = fma(exp_f32(Part(part_at(row, h, s)).v[0] - m), Part(part_at(row, h, s)).v[1], l);
    for (uint d = gl_LocalInvocationIndex; d < HEAD_DIM; d += GROUP) {
        float v = 0.0;
        for (uint s = 0; s < n_live; s++) {
            Part p = Part(part_at(row, h, s));
            if (p.v[1] > 0.0)
                v = fma(exp_f32(p.v[0] - m), p.v[2 + d], v);
        }
        F32(a.o + q_head(row, h)).v[d] = v / l;
    }
}

// Copies the row's own key or value from the scratch into the cache.
void merge_row(uint64_t run, uint head, bool is_v)
{
    const uint pos = uint(I32(run).v[RUN_POS0]), page_tok = a.kv.page_tok;
    const uint64_t row_bytes = cache_bytes(is_v ? V_TYPE : K_TYPE, HEAD_DIM), from = cached_row(run, pos, head, is_v);
    uint row;
    const uint64_t page = kv_page(a.kv, run, pos, row);
    const uint64_t skip = is_v ? uint64_t(a.n_head_kv) * page_tok * key_bytes() : 0ul;
    const uint64_t to = page + skip + (uint64_t(head) * page_tok + row) * row_bytes;
    for (uint i = gl_LocalInvocationIndex; i < uint(row_bytes) / 2; i += GROUP)
        U16(to).v[i] = U16(from).v[i];
}

void main()
{
    a = args.a;
    const uint row = a.row0 + gl_WorkGroupID.z, group = a.n_head / a.n_head_kv,
               n_hgroup = (group + Q_HEADS - 1) / Q_HEADS;
    const uint head = gl_WorkGroupID.y / n_hgroup, g0 = gl_WorkGroupID.y % n_hgroup * Q_HEADS,
               n_h = min(Q_HEADS, group - g0);
    const uint h0 = head * group + g0, pos = uint(I32(a.pos).v[row]), first = first_key(pos);
    const uint64_t run = run_of(row);
    const uint n_gap = n_gap_of(a.kv, run);
    const uint n_live = n_blocks(run, n_gap, first / SPLIT, pos / SPLIT, SPLIT);
    if (gl_WorkGroupID.x >= n_live)
        return;
    const uint split = block_at(run, n_gap, first / SPLIT, SPLIT, gl_WorkGroupID.x);
    const uint start = split * SPLIT, from = max(start, first), to = min(start + SPLIT, pos + 1);

    read_queries(row, h0, n_h);
    score_keys(run, head, start, from, to, n_gap);
    barrier();
    weigh(from - start, to - start);
    barrier();
    const uint t = gl_LocalInvocationIndex;
    for (uint i = 0; i < WORD_STEPS; i++) {
        const uint word = N_STRAND > 1 ? t % N_WORD : i * GROUP + t, mine = N_STRAND > 1 ? t / N_WORD : 0;
        add_values(run, head, start, from, to, n_gap, word, mine);
        if (word < N_WORD && mine == 0)
            [[unroll]] for (uint g = 0; g < Q_HEADS; g++)
                if (g < n_h) {
                    Part p = Part(part_at(row, h0 + g, gl_WorkGroupID.x));
                    for (uint c = 0; c < 4; c++)
                        if (word * 4 + c < HEAD_DIM)
                            p.v[2 + word * 4 + c] = sum[g][c];
                }
    }
    if (t < n_h) {
        Part p = Part(part_at(row, h0 + t, gl_WorkGroupID.x));
        p.v[0] = most[t];
        p.v[1] = total[t];
    }
    memoryBarrierBuffer();
    barrier();
    if (t == 0) {
        const uint at = gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y;
        is_last = atomicAdd(U32(a.count).v[at], 1u) == n_live - 1;
        if (is_last)
            U32(a.count).v[at] = 0u;
    }
    barrier();
    if (!is_last)
        return;
    memoryBarrierBuffer();
    for (uint g = 0; g < n_h; g++)
        join(row, h0 + g, n_live);
    if (a.merges != 0 && g0 == 0 && (I32(run).v[RUN_FLAGS] & RUN_EPHEMERAL) == 0) {
        if (!FOLDS)
            merge_row(run, head, false);
        merge_row(run, head, true);
    }
}
