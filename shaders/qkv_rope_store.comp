#version 460
layout(local_size_x = 64) in;
#include "common.glsl"
#include "rows.glsl"
#include "store.glsl"
// qkv_rope_store   q = rope(RMS(q) * n_q) * q_scale;   k_new = rope(RMS(k) * n_k);   v_new = v, or RMS(v) with
//                  has_v_norm; with v_is_k, v is k as it was before its norm
//
// Shapes     head_dim <= HEAD_MAX
// Rope       rotates the pairs (i, i + head_dim / 2), as the published Gemma weights want it
// Precision  f32; k_new and v_new are rounded once, to the cache type
// Traffic    qkv is read, q and the scratch are written
// Limit      launch latency
// Launch     x: heads of q, then of k, then of v, those that are stored; y: rows
ARGS(qkv_rope_store)

void main()
{
    const uint hd = args.a.head_dim, half_hd = hd / 2, n_q = args.a.n_head, n_kv = args.a.n_head_kv,
               step = gl_WorkGroupSize.x;
    const uint64_t r = gl_WorkGroupID.y, rows = args.a.n_rows;
    const uint h = gl_WorkGroupID.x, kv = h < n_q ? 0 : (h - n_q) % n_kv;
    const bool is_q = h < n_q, is_v = h >= n_q + (args.a.k_new != 0ul ? n_kv : 0);
    uint64_t at = is_q ? r * n_q + h : rows * n_q + (is_v && args.a.v_is_k == 0 ? rows * n_kv : 0ul) + r * n_kv + kv;
    const uint64_t src = args.a.qkv + at * hd * 4ul, norm = is_v ? 0ul : is_q ? args.a.n_q : args.a.n_k;
    const bool is_normed = is_v ? args.a.has_v_norm != 0 : norm != 0ul;
    float scale = 1.0, sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < hd; i += step) {
        float v = F32(src).v[i];
        store_row[i] = v;
        sum = fma(v, v, sum);
    }
    if (is_normed) {
        scale = norm_scale(group_sum(sum), hd, args.a.eps);
        for (uint i = gl_LocalInvocationID.x; i < hd; i += step)
            store_row[i] *= norm == 0ul ? scale : scale * F32(norm).v[i];
    }
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < half_hd && !is_v; i += step) {
        const float c = F32(args.a.rope + r * hd * 4ul).v[2 * i], s = F32(args.a.rope + r * hd * 4ul).v[2 * i + 1];
        const float lo = store_row[i], hi = store_row[i + half_hd];
        store_row[i] = lo * c - hi * s;
        store_row[i + half_hd] = hi * c + lo * s;
    }
    barrier();
    if (is_q) {
        for (uint i = gl_LocalInvocationID.x; i < hd; i += step)
            F32(args.a.q + (r * n_q + h) * hd * 4ul).v[i] = store_row[i] * args.a.q_scale;
        return;
    }
    const uint64_t row = uint64_t(kv) * args.a.cap_rows + r;
    store_cache_row(is_v ? args.a.v_new : args.a.k_new, is_v ? args.a.type_v : args.a.type_k, row, hd);
}
