#version 460
#include "common.glsl"
#include "math.glsl"
// geglu   h = gelu_tanh(g) * up,   gelu_tanh(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
//
// Source     Hendrycks and Gimpel, Gaussian Error Linear Units (2016); Gemma uses the tanh form
// Traffic    12 bytes an element
// Launch     each thread computes the elements that are a whole grid apart
layout(local_size_x = 256) in;
ARGS(geglu)

void main()
{
    const uint64_t n = args.a.n, step = uint64_t(gl_NumWorkGroups.x) * gl_WorkGroupSize.x;
    for (uint64_t i = gl_GlobalInvocationID.x; i < n; i += step)
        F32(args.a.h + i * 4ul).v[0] = gelu_f32(F32(args.a.g + i * 4ul).v[0]) * F32(args.a.up + i * 4ul).v[0];
}
