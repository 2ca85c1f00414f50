#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "math.glsl"
#include "rows.glsl"
// geglu_sparse   h = gelu_tanh(max(g - t, 0)) * up,   t[r] = mean(g[r,:]) + z * deviation(g[r,:])
//
// Precision  f32; the population deviation is computed in a second pass, so that nothing cancels
// Traffic    12 bytes an element; the row of g is read twice more from cache
// Launch     one workgroup per row
ARGS(geglu_sparse)

void main()
{
    const uint n = args.a.d_ff, t = gl_LocalInvocationID.x;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * n * 4ul;
    F32 g = F32(args.a.g + at), up = F32(args.a.up + at), h = F32(args.a.h + at);
    float sum = 0.0, sum_sq = 0.0;
    for (uint i = t; i < n; i += gl_WorkGroupSize.x)
        sum += g.v[i];
    const float mean = group_sum(sum) / float(n);
    for (uint i = t; i < n; i += gl_WorkGroupSize.x)
        sum_sq = fma(g.v[i] - mean, g.v[i] - mean, sum_sq);
    const float threshold = fma(args.a.z, sqrt(group_sum(sum_sq) / float(n)), mean);
    for (uint i = t; i < n; i += gl_WorkGroupSize.x)
        h.v[i] = gelu_f32(g.v[i] <= threshold ? 0.0 : g.v[i] - threshold) * up.v[i];
}
