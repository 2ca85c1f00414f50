#version 460
layout(local_size_x = 256) in;
#include "common.glsl"
#include "math.glsl"
// decode_next   for every row: chooses one of the k best ids as engine/base/sampler.c does, and advances the row's id,
//               position and run to the next token
//
// Precision  weights exp((logit - best) / temp) are integers in units of 2^-40, so that their sums are exact in any
//            order
// Random     Philox4x32-10 keyed by the seed, counter (position, sequence): Salmon et al., "Parallel random numbers: as
//            easy as 1, 2, 3"
// Limit      launch latency
// Launch     one workgroup, a subgroup per row; each lane has neighbouring candidates
ARGS(decode_next)

const float UNIT = 1099511627776.0;                 // 2^40

uint64_t weight(uint64_t logit, uint i, float temp)
{
    return uint64_t(exp_f32((F32(logit).v[i] - F32(logit).v[0]) / temp) * UNIT);
}

// a * m / 2^24 without overflow, for a < 2^50 and m <= 2^24.
uint64_t share(uint64_t a, uint m) { return (a >> 24) * m + (((a & 0xfffffful) * m) >> 24); }

// Of the first n candidates: the sum of all weights, and the sum of the weights in the lanes before this one.
void sums(uint64_t logit, uint n, float temp, out uint64_t total, out uint64_t before)
{
    const uint per = (n + gl_SubgroupSize - 1) / gl_SubgroupSize, from = min(gl_SubgroupInvocationID * per, n),
               to = min(from + per, n);
    uint64_t own = 0ul;
    for (uint i = from; i < to; i++)
        own += weight(logit, i, temp);
    total = before = 0ul;
    const uvec2 parts = unpack32(own);
    for (uint l = 0; l < gl_SubgroupSize; l++) {
        const uint64_t part = pack64(subgroupShuffle(parts, l));
        before += l < gl_SubgroupInvocationID ? part : 0ul;
        total += part;
    }
}

// The first of the n candidates at which the running sum of weights exceeds `bound`; n - 1 when none does.
uint find(uint64_t logit, uint n, float temp, uint64_t before, uint64_t bound)
{
    const uint per = (n + gl_SubgroupSize - 1) / gl_SubgroupSize, from = min(gl_SubgroupInvocationID * per, n),
               to = min(from + per, n);
    uint found = n - 1;
    uint64_t sum = before;
    for (uint i = from; i < to && sum <= bound; i++) {
        sum += weight(logit, i, temp);
        found = sum > bound ? i : found;
    }
    return subgroupMin(before <= bound ? found : n - 1);
}

uint random24(uvec2 key, uint seq, uint pos)
{
    uvec4 c = uvec4(pos, seq, 0, 0);
    for (int i = 0; i < 10; i++) {
        uint hi_a, lo_a, hi_b, lo_b;
        umulExtended(c.x, 0xD2511F53u, hi_a, lo_a);
        umulExtended(c.z, 0xCD9E8D57u, hi_b, lo_b);
        c = uvec4(hi_b ^ c.y ^ key.x, lo_b, hi_a ^ c.w ^ key.y, lo_a);
        key += uvec2(0x9E3779B9u, 0xBB67AE85u);
    }
    return c.x >> 8;
}

// The index of the candidate that the sampler chooses, of n >= 1.
uint choose(uint64_t logit, uint n, uint seq, uint pos)
{
    uint64_t total, before;
    if (args.a.top_p != 0) {
        sums(logit, n, 1.0, total, before);
        n = find(logit, n, 1.0, before, share(total, args.a.top_p) - 1ul) + 1;
    }
    if (args.a.has_min_p != 0) {
        uint n_kept = 0;
        for (uint i = gl_SubgroupInvocationID; i < n; i += gl_SubgroupSize)
            n_kept += F32(logit).v[i] - F32(logit).v[0] >= args.a.log_min_p ? 1 : 0;
        n = max(subgroupAdd(n_kept), 1);
    }
    sums(logit, n, args.a.temp, total, before);
    return find(logit, n, args.a.temp, before, share(total, random24(unpack32(args.a.seed), seq, pos)));
}

void main()
{
    const uint k = args.a.k, step = uint(I32(args.a.step).v[0]);
    for (uint r = gl_SubgroupID; r < args.a.n_rows; r += gl_NumSubgroups) {
        const uint64_t run = args.a.runs + uint64_t(r) * RUN_WIDTH * 4ul, ids = args.a.top_id + uint64_t(r) * k * 4ul;
        const uint64_t logit = args.a.top_logit + uint64_t(r) * k * 4ul,
                       at = uint64_t(step % args.a.n_out) * args.a.n_rows + r;
        const bool is_still = (I32(run).v[RUN_FLAGS] & RUN_EPHEMERAL) != 0;
        const int pos = I32(args.a.pos).v[r];
        uint n = k;
        for (uint i = gl_SubgroupInvocationID; i < k; i += gl_SubgroupSize)
            if (I32(ids).v[i] < 0)
                n = min(n, i);
        n = subgroupMin(n);
        int id = -1;
        if (!is_still && n > 0) {
            const uint idx = args.a.temp > 0.0 && n > 1
                               ? choose(logit, min(n, args.a.k_sample), args.a.seq_number + r, uint(pos) + 1)
                               : 0;
            id = I32(ids).v[idx];
        }
        if (subgroupElect()) {
            I32(args.a.result + at * 4ul).v[0] = id;
            bool stops = id < 0;
            for (uint i = 0; i < args.a.n_stop; i++)
                stops = stops || I32(args.a.stop_id).v[i] == id;
            if (!is_still && stops) {
                I32(run).v[RUN_FLAGS] |= RUN_EPHEMERAL;
            } else if (!is_still) {
                I32(args.a.ids).v[r] = id;
                I32(args.a.pos).v[r] = pos + 1;
                I32(run).v[RUN_POS0] += 1;
            }
        }
    }
    barrier();                                      // every row must have read the step before it changes
    if (gl_LocalInvocationID.x == 0)
        I32(args.a.step).v[0] = int(step + 1);
}
