#version 460
#include "common.glsl"
#include "math.glsl"
// ple_gate   h[r,:] = gelu_tanh(h[r,:]) * p[r,:]        the last of the op's launches, after the prologue and W x
//
// Shapes     h f32 [n_rows, n_ple]; p f32, rows p_stride apart
// Traffic    12 bytes an element
// Launch     one workgroup per row
layout(local_size_x = 256) in;
ARGS(ple_gate)

void main()
{
    const uint n = args.a.n_ple;
    F32 h = F32(args.a.h + uint64_t(gl_WorkGroupID.x) * n * 4ul),
        p = F32(args.a.p + uint64_t(gl_WorkGroupID.x) * args.a.p_stride * 4ul);
    for (uint i = gl_LocalInvocationID.x; i < n; i += gl_WorkGroupSize.x)
        h.v[i] = gelu_f32(h.v[i]) * p.v[i];
}
