#version 460
layout(local_size_x = 64) in;
#include "common.glsl"
#include "rows.glsl"
// capture_sum   sum[label[i],:] += round(t * 2^24),  t = x[rows[i],:] + the prologue's addition (x unchanged)
//
// Precision  t is gather_norm's f32; made an integer from its bits, ties to even
// Order      a thread owns its columns and takes the rows one after another, so a sum that would leave its 64 bits is
//            seen before it does
// Traffic    x and pend read, 8 bytes of the sum read and written an element; sums of one label stay in cache
// Limit      latency of a row's loads
// Launch     x: columns, one per thread. With a normed branch capture_scale goes before
ARGS(capture_sum)

// t * 2^24 to the nearest integer; false: not finite or 2^38 and more.
bool to_fixed(out int64_t q, float t)
{
    const uint u = floatBitsToUint(t), e = (u >> 23) & 255u;
    // the value is v * 2^(e - 126) in units of 2^-24
    uint64_t v = uint64_t((u & 0x7fffffu) | (e != 0u ? 0x800000u : 0u));
    if (e >= 126u) {
        v <<= min(e - 126u, 38u);
    } else {
        const uint shift = min(126u - max(e, 1u), 40u);
        const uint64_t rest = v & ((1ul << shift) - 1ul), half_unit = 1ul << (shift - 1u);
        v >>= shift;
        v += rest > half_unit || (rest == half_unit && (v & 1ul) != 0ul) ? 1ul : 0ul;
    }
    q = (u >> 31) != 0u ? -int64_t(v) : int64_t(v);
    return e < 127u + 38u;
}

void main()
{
    const uint dim = args.a.dim, c = gl_GlobalInvocationID.x;
    if (c >= dim)
        return;
    bool is_good = true;
    for (uint i = 0; i < args.a.n_gather; i++) {
        const int label = I32(args.a.label).v[i];
        if (label < 0)
            continue;
        const uint64_t at = uint64_t(I32(args.a.rows).v[i]) * dim * 4ul;
        const uint64_t pend = args.a.pend == 0ul ? 0ul : args.a.pend + at, w_post = args.a.w_post;
        const float scale = pend != 0ul && w_post != 0ul ? F32(args.a.scale).v[i] : 1.0;
        U32 sum = U32(args.a.sum + (uint64_t(label) * dim + c) * 8ul);
        const int64_t old = int64_t(pack64(uvec2(sum.v[0], sum.v[1])));
        int64_t q;
        const bool is_finite = to_fixed(q, fold_at(args.a.x + at, pend, w_post, scale, args.a.x_scale, c));
        const int64_t next = int64_t(uint64_t(old) + uint64_t(q));
        if (is_finite && (q < 0l ? next < old : next >= old)) {
            const uvec2 parts = unpack32(uint64_t(next));
            sum.v[0] = parts.x;
            sum.v[1] = parts.y;
        } else {
            is_good = false;
        }
    }
    if (!is_good)
        atomicOr(U32(args.a.bad).v[0], 1u);
}
