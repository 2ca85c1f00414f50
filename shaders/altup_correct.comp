#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "math.glsl"
#include "rows.glsl"
// altup_correct   u += RMS(pend) * w_post;  c = coef tanh(R (RMS(u) * w_route) / dim);  d = u - x[active];
//                 x[i] += (1 + c[i]) * d;  gate = x[active] * w_gate, of the new x[active]; R is the router
//
// Shapes     x f32 [n_stream, n_rows, dim]; u, pend, gate f32 [n_rows, dim]; router f32 [n_stream, dim]; coef f32
//            [n_stream, n_stream]
// Precision  f32
// Traffic    reads and writes the streams and u once
// Launch     one workgroup per row
ARGS(altup_correct)
vk_altup_correct_args a;

#include "altup.glsl"

void main()
{
    a = args.a;
    const uint n = a.n_stream, t = gl_LocalInvocationID.x;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * a.dim * 4ul, step = uint64_t(a.n_rows) * a.dim * 4ul, x = a.x + at,
                   u = a.u + at;
    const uint64_t pend = a.pend == 0ul ? 0ul : a.pend + at, own = x + a.active_stream * step;
    const float pend_scale = fold_scale(pend, a.w_post, a.dim, a.eps);
    for (uint i = t; i < a.dim && pend != 0ul; i += gl_WorkGroupSize.x)
        F32(u).v[i] = fold_at(u, pend, a.w_post, pend_scale, 1.0, i);
    find_modality(u);
    float c[STREAM_MAX];
    for (uint k = 0; k < n; k++)
        c[k] = 1.0 + coefficient(k);
    for (uint i = t; i < a.dim; i += gl_WorkGroupSize.x) {
        const float d = F32(u).v[i] - F32(own).v[i];
        for (uint k = 0; k < n; k++)
            F32(x + k * step).v[i] = fma(c[k], d, F32(x + k * step).v[i]);
        F32(a.gate + at).v[i] = F32(own).v[i] * (a.w_gate == 0ul ? 1.0 : F32(a.w_gate).v[i]);
    }
}
