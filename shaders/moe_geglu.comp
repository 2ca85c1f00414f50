#version 460
#include "common.glsl"
// moe_geglu   h[i,:] = gelu_tanh(Wg x[r,:]) * (Wu x[r,:])        for every entry i = r * k + slot, with the matrices Wg
//             and Wu of its expert
//
// Shapes     x f32 [n_rows, n_in], h f32 [n_rows * k, n_out]; the experts' matrices are planar stacks of n_total rows,
//            all of one type
// Precision  f32
// Traffic    the matrices of experts that have entries, once per N_BATCH entries
// Limit      DRAM bandwidth in decode
// Launch     x: subgroups of R_ROWS outputs; y: experts or entries (moe.glsl)
layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint W_TYPE = 0;
layout(constant_id = 3) const uint R_ROWS = 4;
layout(constant_id = 4) const uint N_BATCH = 1;
layout(constant_id = 5) const uint FLAGS = 7;
ARGS(moe_geglu)
vk_moe_geglu_args a;                      // a copy, because loops would read args.a from memory again

#include "math.glsl"
#include "weight.glsl"
#include "moe.glsl"
#include "gemv.glsl"

float gate[N_OWN * N_BATCH];

void main()
{
    a = args.a;
    const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * R_ROWS;
    const uvec3 span = moe_span(gl_WorkGroupID.y);
    if (first >= a.n_out)
        return;
    for (uint from = span.y; from < span.z; from += N_BATCH) {
        moe_rows(from, span.z);
        for (uint m = 0; m < 2; m++) {
            [[unroll]] for (uint i = 0; i < N_OWN * N_BATCH; i++)
                gate[i] = gemv_y[i];
            gemv(m == 0 ? a.w_gate : a.w_up, a.n_in, span.x * a.expert_rows + m * a.up_row + first, a.n_total);
        }
        [[unroll]] for (uint b = 0; b < N_BATCH; b++)
            [[unroll]] for (uint i = 0; i < N_OWN; i++) {
                const uint o = first + gemv_own(i);
                const float h = gelu_f32(gate[i * N_BATCH + b]) * gemv_y[i * N_BATCH + b];
                if (gemv_has_row() && from + b < span.z && o < a.n_out)
                    F32(a.h + uint64_t(I32(a.order).v[from + b]) * a.n_out * 4ul).v[o] = h;
            }
    }
}
