#version 460
#include "common.glsl"
// moe_add   y[r,:] = sum over the slots, in their order, of weight[r, slot] * part[r * k + slot,:]
//
// Precision  f32
// Traffic    4 * (k + 1) bytes an element
// Launch     x: rows; y: blocks of as many columns as the workgroup has threads
layout(local_size_x = 256) in;
ARGS(moe_add)

void main()
{
    const uint r = gl_WorkGroupID.x, i = gl_WorkGroupID.y * gl_WorkGroupSize.x + gl_LocalInvocationID.x, k = args.a.k,
               dim = args.a.dim;
    if (i >= dim)
        return;
    F32 weight = F32(args.a.weight + uint64_t(r) * k * 4ul);
    const uint64_t part = args.a.part + (uint64_t(r) * k * dim + i) * 4ul;
    float sum = weight.v[0] * F32(part).v[0];
    for (uint slot = 1; slot < k; slot++)
        sum = fma(weight.v[slot], F32(part + uint64_t(slot) * dim * 4ul).v[0], sum);
    F32(args.a.y + uint64_t(r) * dim * 4ul).v[i] = sum;
}
