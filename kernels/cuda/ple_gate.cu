/* ple_gate.cu   x[r,:] += RMS(pend[r,:]) * w_post;   h[r,:] = gelu_tanh(W x[r,:]) * p[r,:]
 *
 * Shapes     x, pend f32 [n_rows, dim]; W any type [n_ple, dim]; p f32, rows p_stride apart; h f32 [n_rows, n_ple]
 * Precision  f32; the product as in proj
 * Traffic    that of the product; x is read and written once more
 * Limit      launch latency in decode. There are three launches: the prologue, the product, the gate. The first and the
 *            last have one block per row */
#include "rows.cuh"

enum { THREADS = 256 };

static __global__ void fold_k(float *x, const float *pend, const float *w_post, uint32_t dim, float eps)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)blockIdx.x * dim;
    x += at;
    pend += at;
    const float scale = w_post ? row_scale(pend, dim, eps, sums) : 1.0f;
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        x[i] = row_fold(x, pend, w_post, scale, 1.0f, i);
}

static __global__ void gate_k(float *h, const float *p, uint32_t n_ple, uint32_t p_stride)
{
    h += (uint64_t)blockIdx.x * n_ple;
    p += (uint64_t)blockIdx.x * p_stride;
    for (uint32_t i = threadIdx.x; i < n_ple; i += THREADS)
        h[i] = gelu_tanh(h[i]) * p[i];
}

extern "C" void cuda_ple_gate(myth_stream *s, const struct myth_ple_gate_args *a)
{
    const struct myth_proj_args product = {a->h, a->x, a->w, nullptr, a->n_rows, a->dim, a->n_ple, a->is_decode};
    if (a->pend.buf)
        MYTH_LAUNCH(fold_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->x), cuda_ptr<const float>(a->pend), cuda_ptr<const float>(a->w_post), a->dim, a->eps);
    cuda_proj(s, &product);
    MYTH_LAUNCH(gate_k, a->n_rows, THREADS, 0, s)
    (cuda_ptr<float>(a->h), cuda_ptr<const float>(a->p), a->n_ple, a->p_stride);
    cuda_check(s, "ple_gate");
}
