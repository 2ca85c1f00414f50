/* embed_gather.cu   y[r,:] = scale * table[ids[r],:]
 *
 * Shapes     y f32 [n_rows, dim]; table of any type [n_vocab, dim], in the device's form (gemv.cuh)
 * Precision  the row is dequantised to f32, then scaled in f32
 * Traffic    rows * dim * (4 + bytes of a table value)
 * Limit      launch latency in decode, writing y in prefill. Elements are read one by one, since a row is a few KB */
#include "gemv.cuh"

enum { THREADS = 256 };

static __global__ void embed_gather_k(float *y, gemv_matrix table, const int *ids, uint32_t dim, float scale)
{
    const gemv_row row = gemv_row_at<GEMV_ANY>(table, (uint32_t)ids[blockIdx.x], dim);
    y += (uint64_t)blockIdx.x * dim;
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        y[i] = gemv_weight(row, i) * scale;
}

extern "C" void cuda_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a)
{
    const gemv_matrix table = gemv_matrix_of(a->table, a->n_vocab, a->dim);
    MYTH_LAUNCH(embed_gather_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->y), table, cuda_ptr<const int>(a->ids), a->dim, a->scale);
    cuda_check(s, "embed_gather");
}
