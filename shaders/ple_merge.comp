#version 460
layout(local_size_x = 128) in;
#include "common.glsl"
#include "dequant.glsl"
#include "rows.glsl"
// ple_merge   p[r, l, :] = out_scale * (RMS(p_scale * p[r, l, :]) * w + table_scale * table[id, l, :]),   id = ids[r],
//             or r without ids; row 0 where ids[r] is outside the table
//
// Shapes     p f32 [n_rows, n_layer, n_ple]; w f32 [n_ple]; table [n_table, n_layer * n_ple] of any type in the
//            device's form, or f32 [n_rows, n_layer * n_ple] without ids
// Precision  f32
// Traffic    n_layer * n_ple * (8 + bytes of a table value) a row: p is read and written, a row of the table is read
// Launch     x: layers, y: rows
ARGS(ple_merge)

void main()
{
    const uint l = gl_WorkGroupID.x, r = gl_WorkGroupID.y, n = args.a.n_ple, width = args.a.n_layer * n;
    const float p_scale = args.a.p_scale;
    uint id = args.a.ids == 0ul ? r : uint(I32(args.a.ids).v[r]);
    if (args.a.ids != 0ul && id >= args.a.n_table)
        id = 0;
    F32 p = F32(args.a.p + (uint64_t(r) * width + l * n) * 4ul);
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < n; i += gl_WorkGroupSize.x)
        sum = fma(p.v[i] * p_scale, p.v[i] * p_scale, sum);
    const float scale = norm_scale(group_sum(sum), n, args.a.eps);
    for (uint i = gl_LocalInvocationID.x; i < n; i += gl_WorkGroupSize.x) {
        const float t = weight_at(args.a.table, args.a.dtype, args.a.n_table, width, id, l * n + i);
        p.v[i] = args.a.out_scale * fma(args.a.table_scale, t, p.v[i] * p_scale * scale * F32(args.a.w).v[i]);
    }
}
