#version 460
#include "common.glsl"
// norm_ffn_geglu   x = (x + RMS(pend) * w_post) * x_scale; xn = RMS(x) * w; h = gelu(Wg xn) * (Wu xn)
//
// Use        decode steps; prefill runs the small ops instead
// Shapes     h f32 [n_rows, d_ff]; Wg, Wu planar [d_ff, dim], of one type
// Precision  f32
// Traffic    the matrices once per N_BATCH rows; x, pend and the norm weights once per workgroup, from a cache
// Limit      DRAM bandwidth; for small models the launch
// Launch     x: subgroups, each with n_group times R_ROWS outputs; y: N_BATCH rows each
layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint W_TYPE = 0;
layout(constant_id = 3) const uint R_ROWS = 4;
layout(constant_id = 4) const uint N_BATCH = 1;
layout(constant_id = 5) const uint FLAGS = 7;
layout(constant_id = 6) const uint X_WORDS = 16;
ARGS(norm_ffn_geglu)
vk_norm_ffn_geglu_args a;                 // a copy, because loops would read args.a from memory again

#include "math.glsl"
#include "weight.glsl"
#include "prologue.glsl"
#include "gemv.glsl"

float gate[N_OWN * N_BATCH];

void main()
{
    a = args.a;
    const uint d_ff = a.d_ff, n_group = (d_ff + R_ROWS - 1) / R_ROWS;
    const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * a.n_group;
    norm_rows(a.w);
    for (uint g = first; g < min(first + a.n_group, n_group); g++) {
        for (uint m = 0; m < 2; m++) {
            [[unroll]] for (uint i = 0; i < N_OWN * N_BATCH; i++)
                gate[i] = gemv_y[i];
            gemv(m == 0 ? a.w_gate : a.w_up, a.dim, g * R_ROWS, d_ff);
        }
        [[unroll]] for (uint b = 0; b < N_BATCH; b++)
            [[unroll]] for (uint i = 0; i < N_OWN; i++) {
                const uint row = gl_WorkGroupID.y * N_BATCH + b, o = g * R_ROWS + gemv_own(i);
                const float h = gelu_f32(gate[i * N_BATCH + b]) * gemv_y[i * N_BATCH + b];
                if (gemv_has_row() && row < a.n_rows && o < d_ff)
                    F32(a.h + uint64_t(row) * d_ff * 4ul).v[o] = h;
            }
    }
    update_x();
}
