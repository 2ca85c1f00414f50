#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// fold   x[r,:] += RMS(pend[r,:]) * w_post        the prologue by itself, before ops whose shader does not include it
//
// Precision  f32
// Traffic    12 * dim bytes a row: x and pend are read, x is written
// Launch     one workgroup per row
ARGS(fold)

void main()
{
    const uint dim = args.a.dim;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * dim * 4ul, x = args.a.x + at, pend = args.a.pend + at;
    const float scale = fold_scale(pend, args.a.w_post, dim, args.a.eps);
    for (uint i = gl_LocalInvocationID.x; i < dim; i += gl_WorkGroupSize.x)
        F32(x).v[i] = fold_at(x, pend, args.a.w_post, scale, 1.0, i);
}
