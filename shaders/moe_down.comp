#version 460
#include "common.glsl"
// moe_down   part[i,:] = Wd h[i,:]        for every entry i, with the matrix Wd of its expert; moe_add adds the parts
//
// Shapes     x (the op's h) f32 [n_rows * k, n_in]; part f32 [n_rows * k, n_out]; the stack of the experts' Wd, planar
//            [n_expert * n_out, n_in]
// Precision  f32
// Traffic    the matrices of experts that have entries, once per N_BATCH entries
// Limit      DRAM bandwidth in decode
// Launch     x: subgroups of R_ROWS outputs; y: experts or entries (moe.glsl)
layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint W_TYPE = 0;
layout(constant_id = 3) const uint R_ROWS = 4;
layout(constant_id = 4) const uint N_BATCH = 1;
layout(constant_id = 5) const uint FLAGS = 7;
ARGS(moe_down)
vk_moe_down_args a;                       // a copy, because loops would read args.a from memory again

#include "weight.glsl"
#include "moe.glsl"
#include "gemv.glsl"

void main()
{
    a = args.a;
    const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * R_ROWS;
    const uvec3 span = moe_span(gl_WorkGroupID.y);
    if (first >= a.n_out)
        return;
    for (uint from = span.y; from < span.z; from += N_BATCH) {
        moe_rows(from, span.z);
        gemv(a.w, a.n_in, span.x * a.n_out + first, a.n_total);
        [[unroll]] for (uint b = 0; b < N_BATCH; b++)
            [[unroll]] for (uint i = 0; i < N_OWN; i++) {
                const uint o = first + gemv_own(i);
                if (gemv_has_row() && from + b < span.z && o < a.n_out)
                    F32(a.part + uint64_t(I32(a.order).v[from + b]) * a.n_out * 4ul).v[o] = gemv_y[i * N_BATCH + b];
            }
    }
}
