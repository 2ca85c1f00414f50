// prologue.glsl - adds the pending branch to N_BATCH rows of the residual stream and norms them into shared memory.
// Every workgroup of a launch does this for itself.
//
// Order      thread t sums the elements t, t + T, ... (T threads); then lanes, then subgroups are added. This depends
//            on dim, T and the device only
// x          all workgroups read it, and the one that finishes last updates it in place. count[gl_WorkGroupID.y] tells
//            which one that is; it is 0 again afterwards, so a recorded launch can be replayed
// Precision  f32
// Includer   defines N_BATCH; X_WORDS, the number of vec4 in N_BATCH rows; `a` with x pend w_post count n_rows dim eps
//            x_scale
#ifndef MYTH_PROLOGUE_GLSL
#define MYTH_PROLOGUE_GLSL

#include "rows.glsl"

shared vec4 xs[X_WORDS];
shared bool is_last_group;
float post_scale[N_BATCH];

vec4 x_vec4(uint b, uint i) { return xs[b * (X_WORDS / N_BATCH) + i]; }
float x_at(uint b, uint i) { return xs[b * (X_WORDS / N_BATCH) + i / 4][i % 4]; }

uint prologue_row(uint b) { return min(gl_WorkGroupID.y * N_BATCH + b, a.n_rows - 1); }

uint64_t pend_row(uint64_t at) { return a.pend != 0ul ? a.pend + at : 0ul; }

// xs[b] = RMS(x) * w, of x after the prologue.
void norm_rows(uint64_t w)
{
    const uint dim = a.dim, t = gl_LocalInvocationIndex, n_thread = gl_WorkGroupSize.x;
    [[unroll]] for (uint b = 0; b < N_BATCH; b++) {
        uint64_t at = uint64_t(prologue_row(b)) * dim * 4ul;
        post_scale[b] = fold_scale(pend_row(at), a.w_post, dim, a.eps);
        float ss = 0.0;
        for (uint i = t; i < dim; i += n_thread) {
            float v = fold_at(a.x + at, pend_row(at), a.w_post, post_scale[b], a.x_scale, i);
            xs[b * (X_WORDS / N_BATCH) + i / 4][i % 4] = v;
            ss = fma(v, v, ss);
        }
        float scale = norm_scale(group_sum(ss), dim, a.eps);
        for (uint i = t; i < dim; i += n_thread)
            xs[b * (X_WORDS / N_BATCH) + i / 4][i % 4] *= scale * F32(w).v[i];
    }
    barrier();
}

// Writes x after the prologue. Every thread calls it after it has read its rows of x.
void update_x()
{
    if (a.pend == 0ul)
        return;
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        is_last_group = atomicAdd(U32(a.count).v[gl_WorkGroupID.y], 1u) == gl_NumWorkGroups.x - 1;
        if (is_last_group)
            U32(a.count).v[gl_WorkGroupID.y] = 0u;
    }
    barrier();
    if (!is_last_group)
        return;
    memoryBarrierBuffer();
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        if (gl_WorkGroupID.y * N_BATCH + b < a.n_rows) {
            uint64_t at = uint64_t(prologue_row(b)) * a.dim * 4ul;
            for (uint i = gl_LocalInvocationIndex; i < a.dim; i += gl_WorkGroupSize.x)
                F32(a.x + at).v[i] = fold_at(a.x + at, pend_row(at), a.w_post, post_scale[b], a.x_scale, i);
        }
}

#endif
