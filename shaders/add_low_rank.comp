#version 460
#include "common.glsl"
// add_low_rank   y[r,o] += sum_k b[k,o] * t[r,k]
//
// Precision  f32, sums in the order of k
// Traffic    b once per row, from the cache; y read and written once
// Launch     x: rows; y: 256 outputs of a row each
layout(local_size_x = 256) in;
ARGS(add_low_rank)

void main()
{
    const vk_add_low_rank_args a = args.a;
    const uint row = gl_WorkGroupID.x, o = gl_WorkGroupID.y * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (o >= a.n_out)
        return;
    const uint64_t t = a.t + uint64_t(row) * a.rank * 4ul, y = a.y + uint64_t(row) * a.n_out * 4ul;
    float sum = 0.0;
    for (uint k = 0; k < a.rank; k++)
        sum += F32(a.b + uint64_t(k) * a.n_out * 4ul).v[o] * F32(t).v[k];
    F32(y).v[o] += sum;
}
