#version 460
#include "common.glsl"
// copy   copies bytes between two ranges that overlap; ranges that do not are copied by a transfer command
//
// Order      piece by piece, a piece being as wide as the workgroup. Each piece is read whole before it is written, and
//            pieces go in the order that overwrites no byte before it is read
// Launch     one workgroup
layout(local_size_x = 256) in;
ARGS(copy)

void main()
{
    const uint64_t dst = args.a.dst, src = args.a.src, n = args.a.n, width = gl_WorkGroupSize.x,
                   n_piece = (n + width - 1ul) / width;
    const bool is_forward = dst < src;
    for (uint64_t p = 0ul; p < n_piece; p++) {
        uint64_t i = (is_forward ? p : n_piece - 1ul - p) * width + gl_LocalInvocationID.x;
        uint8_t b = uint8_t(0);
        if (i < n)
            b = U8(src + i).v[0];
        memoryBarrierBuffer();
        barrier();
        if (i < n)
            U8(dst + i).v[0] = b;
        memoryBarrierBuffer();
        barrier();
    }
}
