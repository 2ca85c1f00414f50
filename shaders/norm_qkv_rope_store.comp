#version 460
#include "common.glsl"
// norm_qkv_rope_store   x = (x + RMS(pend) * w_post) * x_scale; xn = RMS(x) * w_in; q = Wq xn, k = Wk xn, v = Wv xn.
//                       qkv_rope_store follows in a launch of its own
//
// Use        decode steps; prefill runs the small ops instead
// Shapes     qkv f32: q [n_rows, n_q], then k and v [n_rows, n_kv]; Wq [n_q, dim], Wk, Wv [n_kv, dim] planar, of one
//            type; Wv, or Wk and Wv, may be missing
// Precision  f32
// Traffic    the matrices once per N_BATCH rows; x, pend and the norm weights once per workgroup, from a cache
// Limit      DRAM bandwidth; for small models the launch
// Launch     x: subgroups, each with n_group times R_ROWS outputs; y: N_BATCH rows each
layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint W_TYPE = 0;
layout(constant_id = 3) const uint R_ROWS = 4;
layout(constant_id = 4) const uint N_BATCH = 1;
layout(constant_id = 5) const uint FLAGS = 7;
layout(constant_id = 6) const uint X_WORDS = 16;
ARGS(norm_qkv_rope_store)
vk_norm_qkv_rope_store_args a;                 // a copy, because loops would read args.a from memory again

#include "weight.glsl"
#include "prologue.glsl"
#include "gemv.glsl"

void project(uint64_t w, uint n_out, uint row0, uint64_t y)
{
    gemv(w, a.dim, row0, n_out);
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        [[unroll]] for (uint i = 0; i < N_OWN; i++) {
            const uint row = gl_WorkGroupID.y * N_BATCH + b, o = row0 + gemv_own(i);
            if (gemv_has_row() && row < a.n_rows && o < n_out)
                F32(y + uint64_t(row) * n_out * 4ul).v[o] = gemv_y[i * N_BATCH + b];
        }
}

void main()
{
    a = args.a;
    const uint n_q = a.n_q, n_kv = a.n_kv, q_groups = (n_q + R_ROWS - 1) / R_ROWS,
               kv_groups = (n_kv + R_ROWS - 1) / R_ROWS;
    const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * a.n_group;
    const uint64_t k = a.qkv + uint64_t(a.n_rows) * n_q * 4ul, v = k + uint64_t(a.n_rows) * n_kv * 4ul;
    norm_rows(a.w_in);
    for (uint g = first; g < min(first + a.n_group, q_groups + (a.n_matrix - 1) * kv_groups); g++) {
        bool is_q = g < q_groups, is_v = g >= q_groups + kv_groups;
        project(is_q ? a.w_q : is_v ? a.w_v : a.w_k, is_q ? n_q : n_kv,
                (is_q ? g : is_v ? g - q_groups - kv_groups : g - q_groups) * R_ROWS, is_q ? a.qkv : is_v ? v : k);
    }
    update_x();
}
