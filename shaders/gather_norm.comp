#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// gather_norm   y[i,:] = RMS(t) * w, or t where w is not given; t = x[rows[i],:] after the prologue (x itself is
//               unchanged)
//
// Precision  f32, as in rms_norm
// Traffic    12 * dim bytes a row: x and pend are read, y is written
// Launch     one workgroup per gathered row
ARGS(gather_norm)

void main()
{
    const uint dim = args.a.dim, step = gl_WorkGroupSize.x;
    const float eps = args.a.eps;
    const uint64_t at = uint64_t(I32(args.a.rows).v[gl_WorkGroupID.x]) * dim * 4ul, x = args.a.x + at,
                   w_post = args.a.w_post;
    const uint64_t pend = args.a.pend == 0ul ? 0ul : args.a.pend + at,
                   y = args.a.y + uint64_t(gl_WorkGroupID.x) * dim * 4ul;
    const float pend_scale = fold_scale(pend, w_post, dim, eps);
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < dim; i += step) {
        float t = fold_at(x, pend, w_post, pend_scale, args.a.x_scale, i);
        F32(y).v[i] = t;
        sum = fma(t, t, sum);
    }
    if (args.a.w == 0ul)
        return;
    const float scale = norm_scale(group_sum(sum), dim, eps);
    for (uint i = gl_LocalInvocationID.x; i < dim; i += step)
        F32(y).v[i] = F32(y).v[i] * scale * F32(args.a.w).v[i];
}
