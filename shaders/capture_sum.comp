#version 460
layout(local_size_x = 64) in;
#include "common.glsl"
#include "rows.glsl"
// capture_sum   sum[label[i],:] += round(t * 2^24),  t = x[rows[i],:] after the prologue (x itself is unchanged)
//
// Precision  t has the bits that gather_norm gives without a norm; it is turned into an integer from its bits, ties to
//            even
// Order      a thread has its own columns and adds the rows one after another, so it can tell that a sum would leave
//            its 64 bits before it adds
// Traffic    for each element x and pend are read, and 8 bytes of the sum read and written; the sums of one label stay
//            in cache
// Limit      latency of a row's loads
// Launch     x: columns, one per thread. capture_scale runs first where the pending branch has a norm
ARGS(capture_sum)

// Rounds t * 2^24 to the nearest integer. False: t is not finite, or is 2^38 or more.
bool to_fixed(out int64_t q, float t)
{
    const uint u = floatBitsToUint(t), e = (u >> 23) & 255u;
    // In units of 2^-24 the magnitude of t is v * 2^(e - 126).
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
