/* ple_merge.cu   p[r, l, :] = out_scale * (RMS(p_scale * p[r, l, :]) * w + table_scale * table[id, l, :]),   id =
 *                ids[r], or r without ids; row 0 where ids[r] is outside the table
 *
 * Shapes     p f32 [n_rows, n_layer, n_ple]; w f32 [n_ple]; table [n_table, n_layer * n_ple] of any type in the
 *            device's form, or f32 without ids
 * Precision  f32
 * Traffic    n_layer * n_ple * (8 + bytes of a table value) a row: p is read and written, a row of the table is read
 * Limit      launch latency in decode, DRAM bandwidth in prefill. One block per layer of a row; elements are read one
 *            by one */
#include "gemv.cuh"

enum { THREADS = 128 };

struct ple_shape {
    uint32_t n_ple, n_layer, n_table;
    float p_scale, table_scale, out_scale, eps;
};

static __global__ void ple_merge_k(float *p, const float *w, gemv_matrix table, const int *ids, ple_shape g)
{
    MYTH_SHARED(float, sums, 32);
    const uint32_t l = blockIdx.x, r = blockIdx.y, n = g.n_ple, width = g.n_layer * n;
    const uint32_t id = !ids ? r : (uint32_t)ids[r] < g.n_table ? (uint32_t)ids[r] : 0u;
    const gemv_row row = gemv_row_at<GEMV_ANY>(table, id, width);
    p += (uint64_t)r * width + l * n;
    float ss = 0.0f;
    for (uint32_t i = threadIdx.x; i < n; i += THREADS)
        ss = fmaf(p[i] * g.p_scale, p[i] * g.p_scale, ss);
    const float scale = 1.0f / sqrtf(block_sum(ss, sums) / (float)n + g.eps);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS)
        p[i] = g.out_scale * fmaf(g.table_scale, gemv_weight(row, l * n + i), p[i] * g.p_scale * scale * w[i]);
}

extern "C" void cuda_ple_merge(myth_stream *s, const struct myth_ple_merge_args *a)
{
    const ple_shape g = {a->n_ple, a->n_layer, a->n_table, a->p_scale, a->table_scale, a->out_scale, a->eps};
    const gemv_matrix table = gemv_matrix_of(a->table, a->n_table, a->n_ple * a->n_layer);
    MYTH_LAUNCH(ple_merge_k, dim3(a->n_layer, a->n_rows), THREADS, 0, s)
    (cuda_ptr<float>(a->p), cuda_ptr<const float>(a->w), table, cuda_ptr<const int>(a->ids), g);
    cuda_check(s, "ple_merge");
}
