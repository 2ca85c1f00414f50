#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// altup_match   u[i] *= rms(x) / sqrt(max(mean(u[i]^2), 1e-5));   with y given: y = (x + sum_i of these) / (n_u + 1)
//               and u stays unchanged
//
// Shapes     x, y f32 [n_rows, dim]; u f32 [n_u, n_rows, dim]; y may be x
// Precision  f32
// Traffic    12 bytes an element of u
// Launch     one workgroup per row
ARGS(altup_match)
vk_altup_match_args a;

float mean_square(uint64_t x)
{
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < a.dim; i += gl_WorkGroupSize.x)
        sum = fma(F32(x).v[i], F32(x).v[i], sum);
    return group_sum(sum) / float(a.dim);
}

void main()
{
    a = args.a;
    const uint64_t at = uint64_t(gl_WorkGroupID.x) * a.dim * 4ul, step = uint64_t(a.n_rows) * a.dim * 4ul, x = a.x + at,
                   u = a.u + at;
    const float rms = sqrt(mean_square(x));
    float scale[8];
    for (uint k = 0; k < a.n_u; k++)
        scale[k] = rms / sqrt(max(mean_square(u + k * step), 1e-5));
    for (uint i = gl_LocalInvocationID.x; i < a.dim; i += gl_WorkGroupSize.x) {
        float sum = F32(x).v[i];
        for (uint k = 0; k < a.n_u; k++) {
            const float v = F32(u + k * step).v[i] * scale[k];
            if (a.y == 0ul)
                F32(u + k * step).v[i] = v;
            else
                sum += v;
        }
        if (a.y != 0ul)
            F32(a.y + at).v[i] = sum / float(a.n_u + 1);
    }
}
