#version 460
#include "common.glsl"
// attn_mass   part[r,h,i] = the weight of the key of position first + i in head h of row r; attn_mass_add adds the
//             heads
//
// Shapes     q f32 [n_rows, n_head, HEAD_DIM]; keys as in attn.glsl; part f32 [n_rows, n_head, n_key]
// Order      each thread goes through keys a workgroup apart; their maxima and sums are joined by thread
// Precision  f32
// Traffic    every key once for each query head, and the n_key keys twice
// Limit      latency of the loads; the op serves pruning, a few rows a step
// Launch     x: query heads. y: rows
layout(local_size_x = 64) in;
layout(constant_id = 1) const uint K_TYPE = 0;
layout(constant_id = 2) const uint V_TYPE = 0;
layout(constant_id = 3) const uint HEAD_DIM = 64;
layout(constant_id = 4) const uint FLAGS = 0;
ARGS(attn_mass)
vk_attn_args a;                 // a copy, because loops would read args.a from memory again

#include "attn.glsl"

shared float most[64], total[64];

float score(uint64_t run, uint64_t q, uint head, uint pos)
{
    const uint64_t row = cached_row(run, pos, head, false);
    float sum = 0.0;
    for (uint d = 0; d < HEAD_DIM; d += 4) {
        const vec4 k = key_vec4(row, d, pos);
        for (uint c = 0; c < 4 && d + c < HEAD_DIM; c++)
            sum = fma(F32(q).v[d + c], k[c], sum);
    }
    return cap_f32(sum, a.softcap);
}

void main()
{
    a = args.a.attn;
    const uint t = gl_LocalInvocationIndex, h = gl_WorkGroupID.x, r = gl_WorkGroupID.y, pos = uint(I32(a.pos).v[r]);
    const uint64_t run = run_of(r), q = a.q + (uint64_t(r) * a.n_head + h) * HEAD_DIM * 4ul;
    const uint n_gap = n_gap_of(a.kv, run), first = first_key(pos), last = last_key(run, pos),
               head = h / (a.n_head / a.n_head_kv);
    most[t] = -INF;
    total[t] = 0.0;
    for (uint j = first + t; j <= last; j += 64) {
        if (is_gone(run, n_gap, j))
            continue;
        const float s = score(run, q, head, j), now = max(most[t], s);
        total[t] = (most[t] > -INF ? total[t] * exp_f32(most[t] - now) : total[t]) + exp_f32(s - now);
        most[t] = now;
    }
    barrier();
    float all = -INF, sum = 0.0;
    for (uint i = 0; i < 64; i++)
        all = max(all, most[i]);
    for (uint i = 0; i < 64; i++)
        sum += most[i] > -INF ? total[i] * exp_f32(most[i] - all) : total[i]; // 0 without a key, or NaN
    const uint64_t part = args.a.part + (uint64_t(r) * a.n_head + h) * args.a.n_key * 4ul;
    for (uint i = t; i < args.a.n_key; i += 64) {
        const uint j = args.a.first + i;
        const bool is_seen = j >= first && j <= last && !is_gone(run, n_gap, j);
        F32(part).v[i] = is_seen ? exp_f32(score(run, q, head, j) - all) / sum : 0.0;
    }
}
