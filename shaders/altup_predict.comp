#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "math.glsl"
#include "rows.glsl"
// altup_predict   x[i] += RMS(pend) * w_post for i > 0;  m = tanh(R (RMS(x[active]) * w_route) / dim);
//                 x[i] += sum_j (coef m)[i * n + j] * x[j];  xn = RMS(x[active]) * w_in
//
// Shapes     x f32 [n_stream, n_rows, dim]; pend, xn f32 [n_rows, dim]; router f32 [n_stream, dim]; coef f32
//            [n_stream^2, n_stream]
// Precision  f32
// Traffic    reads and writes the streams once in memory, and reads them again from cache
// Launch     one workgroup per row; a thread has the same columns of all streams
ARGS(altup_predict)
vk_altup_predict_args a;

#include "altup.glsl"

shared float c[STREAM_MAX * STREAM_MAX];

void main()
{
    a = args.a;
    const uint n = a.n_stream, t = gl_LocalInvocationID.x;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * a.dim * 4ul, step = uint64_t(a.n_rows) * a.dim * 4ul, x = a.x + at;
    const uint64_t pend = a.pend == 0ul ? 0ul : a.pend + at, own = x + a.active_stream * step;
    const float pend_scale = fold_scale(pend, a.w_post, a.dim, a.eps);
    for (uint j = 1; j < n && pend != 0ul; j++)
        for (uint i = t; i < a.dim; i += gl_WorkGroupSize.x)
            F32(x + j * step).v[i] = fold_at(x + j * step, pend, a.w_post, pend_scale, 1.0, i);
    if (a.coef == 0ul)
        return;
    find_modality(own);
    for (uint i = t; i < n * n; i += gl_WorkGroupSize.x)
        c[i] = coefficient(i);
    barrier();
    float sum_sq = 0.0;
    for (uint i = t; i < a.dim; i += gl_WorkGroupSize.x) {
        float had[STREAM_MAX];
        for (uint j = 0; j < n; j++)
            had[j] = F32(x + j * step).v[i];
        for (uint k = 0; k < n; k++) {
            float sum = 0.0;
            for (uint j = 0; j < n; j++)
                sum = fma(c[k * n + j], had[j], sum);
            F32(x + k * step).v[i] = had[k] + sum;
        }
        const float v = F32(own).v[i];
        sum_sq = fma(v, v, sum_sq);
    }
    const float scale = norm_scale(group_sum(sum_sq), a.dim, a.eps);
    for (uint i = t; i < a.dim; i += gl_WorkGroupSize.x)
        F32(a.xn + at).v[i] = F32(own).v[i] * scale * F32(a.w_in).v[i];
}
