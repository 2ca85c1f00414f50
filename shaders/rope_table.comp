#version 460
#include "common.glsl"
// rope_table   table[r, i] = (cos, sin)(pos[r] * base^(-2i / head_dim) / factor) for i < n_pair, (1, 0) above
//
// Shapes     table f32 [n_rows, head_dim / 2, 2]; pos i32 [n_rows]; turn u64 [n_pair], the angle of one position in 2^-64 turns
// Precision  the phase is an integer, so whole turns drop out exactly; the rest, within an eighth of a turn of a quarter, goes through
//            polynomials in f32: 2 ulp
// Source     Cephes, sinf.c: minimax polynomials
// Launch     one workgroup per row
layout(local_size_x = 64) in;
ARGS(rope_table)

void main()
{
    const uint r = gl_WorkGroupID.x, n_half = args.a.head_dim / 2;
    const uint64_t pos = uint64_t(int64_t(I32(args.a.pos).v[r])), row = args.a.table + uint64_t(r) * n_half * 8ul;
    for (uint i = gl_LocalInvocationID.x; i < n_half; i += gl_WorkGroupSize.x) {
        vec2 pair = vec2(1.0, 0.0);
        if (i < args.a.n_pair) {
            const uint64_t phase = pos * U64(args.a.turn).v[i], quarter = (phase + (1ul << 61)) >> 62;
            const int64_t rest = int64_t(phase - (quarter << 62));
            const float x = fma(float(int(rest >> 32)), 1.46291807927e-9, float(uint(rest & 0xffffffffl)) * 3.40612158009e-19);
            const float z = x * x;
            const float s = fma(fma(fma(-1.9515295891e-4, z, 8.3321608736e-3), z, -1.6666654611e-1) * z, x, x);
            const float c4 = fma(fma(2.443315711809948e-5, z, -1.388731625493765e-3), z, 4.166664568298827e-2);
            const float c = fma(c4 * z, z, fma(-0.5, z, 1.0));
            pair = (quarter & 1ul) == 0ul ? vec2(c, s) : vec2(-s, c);
            pair = (quarter & 2ul) == 0ul ? pair : -pair;
        }
        F32(row).v[2 * i] = pair.x;
        F32(row).v[2 * i + 1] = pair.y;
    }
}
