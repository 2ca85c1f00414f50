/* qkv_rope_store.c   q = rope(RMS(q) * n_q) * q_scale;   k_new = rope(RMS(k) * n_k);   v_new = v, or RMS(v) with
 *                    has_v_norm; with v_is_k, v is k as it was before its norm
 *
 * Rope       rotates the pairs (i, i + head_dim / 2), as the published Gemma weights want it
 * Precision  f32; k_new and v_new are rounded once to the cache type, by cpu_row_from_f32
 * Scratch    q, k and v are in qkv one after the other and are changed in place */
#include "ref.h"

#include <string.h>

static void rope_row(float *x, const float *table, uint32_t head_dim)
{
    uint32_t n_half = head_dim / 2;
    for (uint32_t i = 0; i < n_half; i++) {
        float c = table[2 * i], s = table[2 * i + 1], lo = x[i], hi = x[i + n_half];
        x[i] = lo * c - hi * s;
        x[i + n_half] = hi * c + lo * s;
    }
}

static void store_cache(myth_view dst, uint64_t row, const float *src, uint32_t head_dim)
{
    cpu_row_from_f32((unsigned char *)cpu_ptr(dst) + row * myth_row_bytes(dst.dtype, head_dim), dst.dtype, src,
                     head_dim);
}

static void store(void *arg, int tid, int n_threads)
{
    const struct myth_qkv_rope_store_args *a = arg;
    const float *n_q = cpu_f32(a->n_q), *n_k = cpu_f32(a->n_k), *rope = cpu_f32(a->rope);
    uint64_t n_rows = a->n_rows, hd = a->head_dim, from, to;
    float *q = cpu_f32(a->qkv), *k = q + n_rows * a->n_head * hd, *v = k + n_rows * a->n_head_kv * hd;
    cpu_split(n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        for (uint64_t h = 0; h < a->n_head; h++) {
            float *src = q + (r * a->n_head + h) * hd, *dst = cpu_f32(a->q) + (r * a->n_head + h) * hd;
            if (n_q)
                ref_norm_row(src, src, n_q, a->head_dim, a->eps);
            rope_row(src, rope + r * hd, a->head_dim);
            for (uint64_t i = 0; i < hd; i++)
                dst[i] = src[i] * a->q_scale;
        }
        for (uint64_t h = 0; a->v_new.buf && h < a->n_head_kv; h++) {
            float *src = k + (r * a->n_head_kv + h) * hd, *val = v + (r * a->n_head_kv + h) * hd;
            if (a->v_is_k)
                memcpy(val, src, hd * sizeof *val);
            if (a->has_v_norm)
                ref_norm_row(val, val, NULL, a->head_dim, a->eps);
            store_cache(a->v_new, h * a->cap_rows + r, val, a->head_dim);
            if (!a->k_new.buf)
                continue; /* attention makes the keys from the values */
            if (n_k)
                ref_norm_row(src, src, n_k, a->head_dim, a->eps);
            rope_row(src, rope + r * hd, a->head_dim);
            store_cache(a->k_new, h * a->cap_rows + r, src, a->head_dim);
        }
    }
}

void cpu_ref_qkv_rope_store(myth_stream *s, const struct myth_qkv_rope_store_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, store, (void *)(uintptr_t)a);
}
