// rows.glsl - what the ops over rows have in common: sums over a workgroup, and the prologue.
//
// Bits   a sum depends on its row and on the size of the workgroup only: each thread adds its own elements, then each
//        subgroup its lanes, then the results of the subgroups are added in order
// Uses   gl_WorkGroupSize, which is a constant only after the layout line. So a shader has that line before its
//        includes
#ifndef MYTH_ROWS_GLSL
#define MYTH_ROWS_GLSL

shared float rows_partial[128];

// The sum of v over the workgroup, in every thread. All threads of the workgroup must call it.
float group_sum(float v)
{
    v = lanes_sum(v);
    if (subgroupElect())
        rows_partial[gl_SubgroupID] = v;
    barrier();
    float sum = 0.0;
    for (uint i = 0; i < gl_NumSubgroups; i++)
        sum += rows_partial[i];
    barrier();
    return sum;
}

// rsqrt(mean + eps) as a square root and a division, which drivers round better than inversesqrt.
float norm_scale(float sum_sq, uint n, float eps) { return 1.0 / sqrt(sum_sq / float(n) + eps); }

// The factor of a pending branch: that of its norm where w_post is given, else 1.
float fold_scale(uint64_t pend, uint64_t w_post, uint dim, float eps)
{
    const bool is_normed = pend != 0ul && w_post != 0ul;
    const uint n = is_normed ? dim : 0;
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < n; i += gl_WorkGroupSize.x) {
        float v = F32(pend).v[i];
        sum = fma(v, v, sum);
    }
    sum = group_sum(sum);
    return is_normed ? norm_scale(sum, dim, eps) : 1.0;
}

// Element i of x after the prologue: x[i] plus its pending branch, times x_scale. x and pend are addresses of the row.
float fold_at(uint64_t x, uint64_t pend, uint64_t w_post, float scale, float x_scale, uint i)
{
    float t = F32(x).v[i];
    if (pend == 0ul)
        return t;
    float p = F32(pend).v[i];
    return (w_post == 0ul ? t + p : fma(p * scale, F32(w_post).v[i], t)) * x_scale;
}

#endif
