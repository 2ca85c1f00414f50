#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// capture_scale   scale[i] = the factor of the i-th gathered row's pending branch, which capture_sum reads
//
// Launch     one workgroup per gathered row
ARGS(capture_sum)

void main()
{
    const uint64_t at = uint64_t(I32(args.a.rows).v[gl_WorkGroupID.x]) * args.a.dim * 4ul;
    const float scale = fold_scale(args.a.pend + at, args.a.w_post, args.a.dim, args.a.eps);
    if (gl_LocalInvocationID.x == 0)
        F32(args.a.scale).v[gl_WorkGroupID.x] = scale;
}
