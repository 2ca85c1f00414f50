#version 460
#include "common.glsl"
// proj   y[r,:] = cap(W x[r,:])
//
// Use        proj in decode steps, and the head's logits, a stripe of the vocabulary at a time
// Shapes     x f32 [n_rows, n_in], y f32 [n_rows, y_stride]; W planar, any type, [n_total, n_in], of which the rows
//            row0 .. row0 + n_out - 1 are used
// Precision  f32
// Traffic    W once per N_BATCH rows of x
// Limit      DRAM bandwidth
// Launch     x: subgroups, each with R_ROWS rows of W; y: N_BATCH rows of x each
layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint W_TYPE = 0;
layout(constant_id = 3) const uint R_ROWS = 4;
layout(constant_id = 4) const uint N_BATCH = 1;
layout(constant_id = 5) const uint FLAGS = 7;
ARGS(proj)
vk_proj_args a;                 // a copy, because loops would read args.a from memory again

#include "math.glsl"
#include "weight.glsl"

uint64_t x_row[N_BATCH];

vec4 x_vec4(uint b, uint i)
{
#ifdef TEXELS
    if ((FLAGS & 2) != 0)
        return uintBitsToFloat(texelFetch(x_words, int(uint((x_row[b] - x_base) >> 4) + i)));
#endif
    return load_vec4(x_row[b] + i * 16, (FLAGS & 2) != 0);
}
float x_at(uint b, uint i) { return F32(x_row[b]).v[i]; }

#include "gemv.glsl"

void main()
{
    a = args.a;
    const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * R_ROWS, n_out = a.n_out;
    if (first >= n_out)
        return;
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        x_row[b] = a.x + uint64_t(min(gl_WorkGroupID.y * N_BATCH + b, a.n_rows - 1)) * a.n_in * 4ul;
    gemv(a.w, a.n_in, a.row0 + first, a.n_total);
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        [[unroll]] for (uint i = 0; i < N_OWN; i++) {
            const uint row = gl_WorkGroupID.y * N_BATCH + b, o = first + gemv_own(i);
            const float v = cap_f32(gemv_y[i * N_BATCH + b], a.softcap);
            if (gemv_has_row() && row < a.n_rows && o < n_out)
                F32(a.y + uint64_t(row) * a.y_stride * 4ul).v[o] = v;
        }
}
