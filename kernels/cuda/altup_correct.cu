/* altup_correct.cu   u += RMS(pend) * w_post;  c = coef tanh(R (RMS(u) * w_route) / dim);  d = u - x[active];
 *                    x[i] += (1 + c[i]) * d;  gate = x[active] * w_gate, of the new x[active]; R is the router
 *
 * Shapes     x f32 [n_stream, n_rows, dim]; u, pend, gate f32 [n_rows, dim]; router f32 [n_stream, dim]; coef f32
 *            [n_stream, n_stream]
 * Precision  f32
 * Traffic    reads and writes the streams and u once in DRAM
 * Limit      launch latency in decode, DRAM bandwidth in prefill. One block per row */
#include "altup.cuh"

struct correct_op {
    float *x, *u, *gate;
    const float *pend, *w_post, *w_gate;
    altup_route route;
    uint32_t dim, n_stream, active;
    float eps;
};

static __global__ void altup_correct_k(correct_op p)
{
    MYTH_SHARED(float, sums, 32);
    const uint64_t at = (uint64_t)blockIdx.x * p.dim, step = (uint64_t)gridDim.x * p.dim;
    float *const x = p.x + at, *const u = p.u + at;
    if (p.pend) {
        const float *pend = p.pend + at;
        const float scale = p.w_post ? row_scale(pend, p.dim, p.eps, sums) : 1.0f;
        for (uint32_t i = threadIdx.x; i < p.dim; i += ALTUP_THREADS)
            u[i] = row_fold(u, pend, p.w_post, scale, 1.0f, i);
    }
    float m[MYTH_STREAM_MAX], c[MYTH_STREAM_MAX];
    altup_modality(m, p.route, u, p.n_stream, p.dim, p.eps, sums);
    for (uint32_t k = 0; k < p.n_stream; k++)
        c[k] = 1.0f + altup_coef(p.route, m, k, p.n_stream);
    for (uint32_t i = threadIdx.x; i < p.dim; i += ALTUP_THREADS) {
        const float d = u[i] - x[p.active * step + i];
        for (uint32_t k = 0; k < p.n_stream; k++)
            x[k * step + i] = fmaf(c[k], d, x[k * step + i]);
        p.gate[at + i] = x[p.active * step + i] * (p.w_gate ? p.w_gate[i] : 1.0f);
    }
}

extern "C" void cuda_altup_correct(myth_stream *s, const struct myth_altup_correct_args *a)
{
    const correct_op p = {
        cuda_ptr<float>(a->x),
        cuda_ptr<float>(a->u),
        cuda_ptr<float>(a->gate),
        cuda_ptr<const float>(a->pend),
        cuda_ptr<const float>(a->w_post),
        cuda_ptr<const float>(a->w_gate),
        {cuda_ptr<const float>(a->w_route), cuda_ptr<const float>(a->router), cuda_ptr<const float>(a->coef)},
        a->dim,
        a->n_stream,
        a->active,
        a->eps};
    MYTH_LAUNCH(altup_correct_k, a->n_rows, ALTUP_THREADS, 0, s)(p);
    cuda_check(s, "altup_correct");
}
