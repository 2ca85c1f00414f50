#version 460
#include "common.glsl"
#include "math.glsl"
// moe_route   chooses the k best experts of every row, computes their weights, and sorts all entries by expert
//
// weight[r, j] = exp(s (z_j - z_0)) / sum_i exp(s (z_i - z_0)) * expert_scale[id_j], where z_0 >= z_1 >= .. are the k
// largest logits of the row and s is logit_scale
//
// Shapes     logits f32 [n_rows, n_expert], n_expert <= 1,024; id, weight [n_rows, k]; offset [n_expert + 1]; order
//            [n_rows * k]
// Order      one thread per row finds the largest key below the last one, k times. Keys order by logit (NaN is smaller
//            than every number), then by lower id. Then one thread per expert reads all ids in order, so the entries of
//            an expert ascend whatever the timing
// Limit      launch latency in decode
// Launch     one workgroup
layout(local_size_x = 256) in;
ARGS(moe_route)

shared int first[1025];

uint64_t key_of(uint z, uint id)
{
    const uint bits = z == 0x80000000u ? 0u : z;
    const uint rank = (bits & 0x7fffffffu) > 0x7f800000u ? 0u : (bits >> 31) != 0u ? ~bits : bits | 0x80000000u;
    return uint64_t(rank) << 32 | uint64_t(~id);
}

void choose(uint r)
{
    const uint n = args.a.n_expert, k = args.a.k;
    U32 z = U32(args.a.logits + uint64_t(r) * n * 4ul);
    I32 id = I32(args.a.id + uint64_t(r) * k * 4ul);
    F32 weight = F32(args.a.weight + uint64_t(r) * k * 4ul);
    uint64_t last = ~0ul;
    float most = 0.0, total = 0.0;
    for (uint j = 0; j < k; j++) {
        uint64_t best = 0ul;
        for (uint e = 0; e < n; e++) {
            const uint64_t key = key_of(z.v[e], e);
            best = key < last && key > best ? key : best;
        }
        const uint e = ~uint(best);
        const float v = uintBitsToFloat(z.v[e]);
        most = j == 0 ? v : most;
        const float w = exp_f32(args.a.logit_scale * (v - most));
        id.v[j] = int(e);
        weight.v[j] = w;
        total += w;
        last = best;
    }
    for (uint j = 0; j < k; j++)
        weight.v[j] = weight.v[j] / total * (args.a.expert_scale == 0ul ? 1.0 : F32(args.a.expert_scale).v[id.v[j]]);
}

void main()
{
    const uint t = gl_LocalInvocationID.x, step = gl_WorkGroupSize.x, n_expert = args.a.n_expert,
               n = args.a.n_rows * args.a.k;
    I32 id = I32(args.a.id);
    for (uint r = t; r < args.a.n_rows; r += step)
        choose(r);
    memoryBarrierBuffer();
    barrier();
    for (uint e = t; e < n_expert; e += step) {
        int count = 0;
        for (uint i = 0; i < n; i++)
            count += id.v[i] == int(e) ? 1 : 0;
        first[e + 1] = count;
    }
    barrier();
    if (t == 0) {
        first[0] = 0;
        for (uint e = 0; e < n_expert; e++)
            first[e + 1] += first[e];
    }
    barrier();
    for (uint e = t; e <= n_expert; e += step) {
        int at = first[e];
        I32(args.a.offset).v[e] = at;
        for (uint i = 0; i < n && e < n_expert; i++)
            if (id.v[i] == int(e)) {
                I32(args.a.order).v[at] = int(i);
                at++;
            }
    }
}
