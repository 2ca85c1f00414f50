#version 460
#include "common.glsl"
#include "rope.glsl"
// rope_table   table[r, i] = (cos, sin)(pos[r] * base^(-2i / head_dim) / factor) for i < n_pair, else (1, 0)
//
// Shapes     table f32 [n_rows, head_dim / 2, 2]; pos i32 [n_rows]; turn u64 [n_pair], the angle of one position in
//            units of 2^-64 turns
// Launch     one workgroup per row
layout(local_size_x = 64) in;
ARGS(rope_table)

void main()
{
    const uint r = gl_WorkGroupID.x, n_half = args.a.head_dim / 2;
    const uint64_t row = args.a.table + uint64_t(r) * n_half * 8ul;
    for (uint i = gl_LocalInvocationID.x; i < n_half; i += gl_WorkGroupSize.x) {
        vec2 pair = vec2(1.0, 0.0);
        if (i < args.a.n_pair)
            pair = rope_pair(I32(args.a.pos).v[r], U64(args.a.turn).v[i]);
        F32(row).v[2 * i] = pair.x;
        F32(row).v[2 * i + 1] = pair.y;
    }
}
