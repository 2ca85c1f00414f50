#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "rows.glsl"
// capture_sum   sum[label[i],:] += round(t * 2^24),  t = x[rows[i],:] + the prologue's addition (x unchanged)
//
// Precision  t f32 as gather_norm's; made an integer from its bits, ties to even
// Bits       integers add in any order: two 32-bit atomics and a carry, so several rows of one label may meet
// Traffic    x and pend read, 8 bytes of sum read and written an element
// Launch     one workgroup per gathered row
ARGS(capture_sum)

// t * 2^24 to the nearest integer; false: not finite or 2^38 and more.
bool to_fixed(out int64_t q, float t)
{
    const uint u = floatBitsToUint(t), e = (u >> 23) & 255u, m = (u & 0x7fffffu) | (e != 0u ? 0x800000u : 0u);
    q = 0l;
    if (e >= 127u + 38u)
        return false;
    uint64_t v = uint64_t(m);                       // the value is m * 2^(e - 126) in units of 2^-24
    if (e >= 126u) {
        v <<= e - 126u;
    } else {
        const uint shift = min(126u - max(e, 1u), 40u);
        const uint64_t rest = v & ((1ul << shift) - 1ul), half_unit = 1ul << (shift - 1u);
        v >>= shift;
        if (rest > half_unit || (rest == half_unit && (v & 1ul) != 0ul))
            v++;
    }
    q = (u >> 31) != 0u ? -int64_t(v) : int64_t(v);
    return true;
}

void main()
{
    const int label = I32(args.a.label).v[gl_WorkGroupID.x];
    if (label < 0)
        return;
    const uint dim = args.a.dim;
    const uint64_t at = uint64_t(I32(args.a.rows).v[gl_WorkGroupID.x]) * dim * 4ul, x = args.a.x + at, w_post = args.a.w_post;
    const uint64_t pend = args.a.pend == 0ul ? 0ul : args.a.pend + at, sum = args.a.sum + uint64_t(label) * dim * 8ul;
    const float scale = fold_scale(pend, w_post, dim, args.a.eps);
    for (uint i = gl_LocalInvocationID.x; i < dim; i += gl_WorkGroupSize.x) {
        int64_t q;
        if (!to_fixed(q, fold_at(x, pend, w_post, scale, i))) {
            atomicOr(U32(args.a.bad).v[0], 1u);
            continue;
        }
        const uint low = uint(uint64_t(q) & 0xfffffffful), high = uint(uint64_t(q) >> 32);
        const uint old = atomicAdd(U32(sum).v[2 * i], low);
        const uint carry = old + low < old ? 1u : 0u;
        atomicAdd(U32(sum).v[2 * i + 1], high + carry);
    }
}
