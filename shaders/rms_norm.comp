#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// rms_norm   x[r,:] = (x[r,:] + RMS(pend[r,:]) * w_post) * x_scale;   y[r,:] = x[r,:] * rsqrt(mean(x[r,:]^2) + eps) * w
//
// Shapes     x, pend, y f32 [n_rows, dim]; w, w_post f32 [dim]; 4-byte aligned
// Precision  f32; a thread adds elements that are a workgroup apart
// Traffic    16 * dim bytes a row: x and pend are read (and again from cache), x and y are written
// Limit      prefill: memory; decode: launch latency
// Launch     one workgroup per row; no other one reads the row's x, so it can update x in place
ARGS(rms_norm)

void main()
{
    const uint dim = args.a.dim, step = gl_WorkGroupSize.x;
    const float eps = args.a.eps;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * dim * 4ul, x = args.a.x + at, w_post = args.a.w_post;
    const uint64_t pend = args.a.pend == 0ul ? 0ul : args.a.pend + at;
    const float pend_scale = fold_scale(pend, w_post, dim, eps);
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < dim; i += step) {
        float t = fold_at(x, pend, w_post, pend_scale, args.a.x_scale, i);
        if (pend != 0ul)
            F32(x).v[i] = t;
        sum = fma(t, t, sum);
    }
    const float scale = norm_scale(group_sum(sum), dim, eps);
    for (uint i = gl_LocalInvocationID.x; i < dim; i += step)          // the elements that this thread wrote itself
        F32(args.a.y + at).v[i] = F32(x).v[i] * scale * F32(args.a.w).v[i];
}
