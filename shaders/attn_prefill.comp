#version 460
#include "common.glsl"
// attn_prefill   o[r,h,:] = sum_j softmax_j(cap(q[r,h,:] . k[j,:])) v[j,:]
//
// Keys       row r at position p sees the positions j <= p (with n_after, up to p + n_after inside its run) with
//            p - j < window, except those in the run's gaps
// Shapes     q, o f32 [n_rows, n_head, HEAD_DIM]; keys as in attn.glsl. A workgroup has one kv head and Q_TILE queries,
//            a query being one row and one query head of that kv head. Where rows of a tile belong to different runs,
//            the runs are computed one after the other
// Order      keys are taken in blocks of K_TILE that start at multiples of K_TILE. A score is summed over head_dim in
//            order. For each block: the new maximum, then sum and output so far are rescaled and the keys are added one
//            by one. A block in which a row sees no key leaves every bit of the row as it was
// Precision  f32
// Traffic    keys and values once per Q_TILE queries
// Limit      f32 arithmetic, from shared memory: a thread computes 2 x 4 scores, then 4 x 4 values
// Launch     x: tiles of queries; y: kv heads; 128 threads
// Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018)
layout(local_size_x = 128) in;
layout(constant_id = 1) const uint K_TYPE = 0;
layout(constant_id = 2) const uint V_TYPE = 0;
layout(constant_id = 3) const uint HEAD_DIM = 64;
layout(constant_id = 4) const uint FLAGS = 0;
ARGS(attn)
vk_attn_args a;                 // a copy, because loops would read args.a from memory again

#include "attn.glsl"

const uint Q_TILE = 32, K_TILE = 32, D_CHUNK = 64, N_CHUNK = (HEAD_DIM + D_CHUNK - 1) / D_CHUNK;

shared vec4 tile[512];                  // 32 queries and 32 keys of 32 elements; then 32 values of D_CHUNK elements
shared float weight[Q_TILE * K_TILE];
shared float fade[Q_TILE], most[Q_TILE], total[Q_TILE];
shared uint q_pos[Q_TILE], q_last[Q_TILE], q_run[Q_TILE];
shared uint64_t k_row[K_TILE], v_row[K_TILE];
vec4 acc[N_CHUNK * 4];

uint group() { return a.n_head / a.n_head_kv; }

// Offset of query i of the tile in q and o. The last query stands in for those past it.
uint64_t q_at(uint i)
{
    const uint at = min(gl_WorkGroupID.x * Q_TILE + i, a.n_rows * group() - 1);
    return (uint64_t(at / group()) * a.n_head + gl_WorkGroupID.y * group() + at % group()) * HEAD_DIM * 4ul;
}

vec4 q_vec4(uint i, uint d)
{
    F32 q = F32(a.q + q_at(i));
    vec4 v = vec4(0.0);
    for (uint c = 0; c < 4; c++)
        if (d + c < HEAD_DIM)
            v[c] = q.v[d + c];
    return v;
}

uint place(uint row, uint word) { return row * 8 + (word ^ (row & 7)); }

// Sets weight[i][j] to the score of query i and key j of the block at `start`, -inf where i does not see j. Keys in a
// gap have no row.
void score_block(uint start, uint run)
{
    const uint t = gl_LocalInvocationIndex, tx = t % 8, ty = t / 8;
    float s[8];
    [[unroll]] for (uint i = 0; i < 8; i++)
        s[i] = 0.0;
    for (uint d = 0; d < HEAD_DIM; d += 32) {
        barrier();
        [[unroll]] for (uint e = t; e < 256; e += 128) {
            const uint word = e % 8, row = e / 8, at = d + word * 4;
            tile[place(row, word)] = q_vec4(row, at);
            tile[256 + place(row, word)] =
                at < HEAD_DIM && k_row[row] != 0ul ? key_vec4(k_row[row], at, start + row) : vec4(0.0);
        }
        barrier();
        for (uint word = 0; word < 8; word++) {
            vec4 q[2], k[4];
            [[unroll]] for (uint i = 0; i < 2; i++)
                q[i] = tile[place(i * 16 + ty, word)];
            [[unroll]] for (uint j = 0; j < 4; j++)
                k[j] = tile[256 + place(j * 8 + tx, word)];
            [[unroll]] for (uint i = 0; i < 2; i++)
                [[unroll]] for (uint j = 0; j < 4; j++)
                    [[unroll]] for (uint c = 0; c < 4; c++)
                        s[i * 4 + j] = fma(q[i][c], k[j][c], s[i * 4 + j]);
        }
    }
    [[unroll]] for (uint i = 0; i < 2; i++)
        [[unroll]] for (uint j = 0; j < 4; j++) {
            const uint row = i * 16 + ty, key = start + j * 8 + tx, pos = q_pos[row];
            const bool sees =
                q_run[row] == run && key <= q_last[row] && key >= first_key(pos) && k_row[j * 8 + tx] != 0ul;
            weight[row * K_TILE + j * 8 + tx] = sees ? cap_f32(s[i * 4 + j], a.softcap) : -INF;
        }
}

// Turns the scores of query i into weights, and updates its maximum and sum.
void weigh(uint i)
{
    float m = most[i], l = 0.0;
    for (uint j = 0; j < K_TILE; j++)
        m = max(m, weight[i * K_TILE + j]);
    fade[i] = m > most[i] ? exp_f32(most[i] - m) : 1.0;
    for (uint j = 0; j < K_TILE; j++) {
        const float s = weight[i * K_TILE + j], w = is_minus_inf(s) ? 0.0 : exp_f32(s - m);
        weight[i * K_TILE + j] = w;
        l += w;
    }
    most[i] = m;
    total[i] = fma(total[i], fade[i], l);
}

void add_block()
{
    const uint t = gl_LocalInvocationIndex, tx = t % 16, ty = t / 16;
    [[unroll]] for (uint c = 0; c < N_CHUNK; c++) {
        barrier();
        [[unroll]] for (uint e = t; e < 512; e += 128) {
            const uint d = c * D_CHUNK + e % 16 * 4, row = e / 16;
            tile[e] = d < HEAD_DIM && v_row[row] != 0ul ? value_vec4(v_row[row], d) : vec4(0.0);
        }
        barrier();
        [[unroll]] for (uint i = 0; i < 4; i++)
            acc[c * 4 + i] *= fade[i * 8 + ty];
        for (uint j = 0; j < K_TILE; j++) {
            const vec4 v = tile[j * 16 + tx];
            [[unroll]] for (uint i = 0; i < 4; i++)
                acc[c * 4 + i] = fma(vec4(weight[(i * 8 + ty) * K_TILE + j]), v, acc[c * 4 + i]);
        }
    }
}

void main()
{
    a = args.a;
    const uint t = gl_LocalInvocationIndex, n_query = a.n_rows * group(), base = gl_WorkGroupID.x * Q_TILE;
    [[unroll]] for (uint i = 0; i < N_CHUNK * 4; i++)
        acc[i] = vec4(0.0);
    if (t < Q_TILE) {
        const uint r = min(base + t, n_query - 1) / group();
        q_pos[t] = uint(I32(a.pos).v[r]);
        q_run[t] = uint(I32(a.row_run).v[r]);
        q_last[t] = last_key(run_of(r), q_pos[t]);
        most[t] = -INF;
        total[t] = 0.0;
    }
    barrier();
    for (uint i0 = 0, i1; i0 < Q_TILE; i0 = i1) {           // queries i0 .. i1 - 1 belong to one run
        const uint run_idx = q_run[i0];
        const uint64_t run = a.runs + uint64_t(run_idx) * RUN_WIDTH * 4ul;
        const uint n_gap = n_gap_of(a.kv, run);
        uint first = first_key(q_pos[i0]), last = q_last[i0];
        for (i1 = i0 + 1; i1 < Q_TILE && q_run[i1] == run_idx; i1++) {
            first = min(first, first_key(q_pos[i1]));
            last = max(last, q_last[i1]);
        }
        const uint first_block = first / K_TILE, n_block = n_blocks(run, n_gap, first_block, last / K_TILE, K_TILE);
        for (uint block = 0; block < n_block; block++) {
            const uint start = block_at(run, n_gap, first_block, K_TILE, block) * K_TILE;
            barrier();
            if (t < 2 * K_TILE) {
                const uint key = start + t % K_TILE;
                const bool is_v = t >= K_TILE, is_held = key >= first && key <= last && !is_gone(run, n_gap, key);
                const uint64_t row = is_held ? cached_row(run, key, gl_WorkGroupID.y, is_v) : 0ul;
                if (is_v)
                    v_row[t - K_TILE] = row;
                else
                    k_row[t] = row;
            }
            score_block(start, run_idx);
            barrier();
            if (t < Q_TILE)
                weigh(t);
            add_block();
        }
    }
    barrier();
    const uint tx = t % 16, ty = t / 16;
    [[unroll]] for (uint i = 0; i < 4; i++)
        if (base + i * 8 + ty < n_query) {
            F32 o = F32(a.o + q_at(i * 8 + ty));
            [[unroll]] for (uint c = 0; c < N_CHUNK; c++)
                for (uint e = 0; e < 4; e++)
                    if (c * D_CHUNK + tx * 4 + e < HEAD_DIM)
                        o.v[c * D_CHUNK + tx * 4 + e] = acc[c * 4 + i][e] / total[i * 8 + ty];
        }
}
