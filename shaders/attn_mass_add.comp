#version 460
layout(local_size_x = 64) in;
#include "common.glsl"
// attn_mass_add   mass[r,i] += scale / n_head * sum_h part[r,h,i], with the heads in order
//
// Launch     one workgroup per row
ARGS(attn_mass)

void main()
{
    const uint r = gl_WorkGroupID.x, n_head = args.a.attn.n_head, n_key = args.a.n_key;
    for (uint i = gl_LocalInvocationIndex; i < n_key; i += 64) {
        float sum = 0.0;
        for (uint h = 0; h < n_head; h++)
            sum += F32(args.a.part).v[(r * n_head + h) * n_key + i];
        F32(args.a.mass).v[r * n_key + i] = fma(args.a.scale / float(n_head), sum, F32(args.a.mass).v[r * n_key + i]);
    }
}
