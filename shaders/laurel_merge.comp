#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// laurel_merge   u = (x + RMS(attn) * w_attn + xn + RMS(laurel) * w_laurel) / sqrt(2)
//
// Precision  f32
// Traffic    20 bytes an element: four inputs and the output
// Launch     one workgroup per row
ARGS(laurel_merge)

void main()
{
    const uint dim = args.a.dim;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * dim * 4ul, x = args.a.x + at, xn = args.a.xn + at,
                   attn = args.a.attn + at;
    const uint64_t laurel = args.a.laurel + at, w_attn = args.a.w_attn, w_laurel = args.a.w_laurel;
    const float scale_a = fold_scale(attn, w_attn, dim, args.a.eps),
                scale_l = fold_scale(laurel, w_laurel, dim, args.a.eps);
    for (uint i = gl_LocalInvocationID.x; i < dim; i += gl_WorkGroupSize.x)
        F32(args.a.u + at).v[i] =
            (fold_at(x, attn, w_attn, scale_a, 1.0, i) + fold_at(xn, laurel, w_laurel, scale_l, 1.0, i)) * 0.70710678;
}
