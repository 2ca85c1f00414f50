/* altup_predict.cu   x[i] += RMS(pend) * w_post for i > 0;  m = tanh(R (RMS(x[active]) * w_route) / dim);
 *                    x[i] += sum_j (coef m)[i * n + j] * x[j];  xn = RMS(x[active]) * w_in
 *
 * Shapes     x f32 [n_stream, n_rows, dim]; pend, xn f32 [n_rows, dim]; router f32 [n_stream, dim]; coef f32
 *            [n_stream^2, n_stream]
 * Precision  f32
 * Traffic    reads and writes the streams once in DRAM, and reads them n_stream + 2 times from cache
 * Limit      launch latency in decode, DRAM bandwidth in prefill. One block per row: a thread has the same columns of
 *            all streams */
#include "altup.cuh"

struct predict_op {
    float *x, *xn;
    const float *pend, *w_post, *w_in;
    altup_route route;
    uint32_t dim, n_stream, active;
    float eps;
};

static __global__ void altup_predict_k(predict_op p)
{
    MYTH_SHARED(float, sums, 32);
    MYTH_SHARED(float, c, MYTH_STREAM_MAX *MYTH_STREAM_MAX);
    const uint64_t at = (uint64_t)blockIdx.x * p.dim, step = (uint64_t)gridDim.x * p.dim;
    const uint32_t n = p.n_stream;
    float *const x = p.x + at;
    if (p.pend) {
        const float *pend = p.pend + at;
        const float scale = p.w_post ? row_scale(pend, p.dim, p.eps, sums) : 1.0f;
        for (uint32_t j = 1; j < n; j++)
            for (uint32_t i = threadIdx.x; i < p.dim; i += ALTUP_THREADS)
                x[j * step + i] = row_fold(x + j * step, pend, p.w_post, scale, 1.0f, i);
    }
    if (!p.route.coef)
        return;
    float m[MYTH_STREAM_MAX];
    altup_modality(m, p.route, x + p.active * step, n, p.dim, p.eps, sums);
    for (uint32_t i = threadIdx.x; i < n * n; i += ALTUP_THREADS)
        c[i] = altup_coef(p.route, m, i, n);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < p.dim; i += ALTUP_THREADS) {
        float had[MYTH_STREAM_MAX];
        for (uint32_t j = 0; j < n; j++)
            had[j] = x[j * step + i];
        for (uint32_t k = 0; k < n; k++) {
            float sum = 0.0f;
            for (uint32_t j = 0; j < n; j++)
                sum = fmaf(c[k * n + j], had[j], sum);
            x[k * step + i] = had[k] + sum;
        }
    }
    const float *const active = x + p.active * step; /* a thread reads elements that it wrote itself */
    const float scale = row_scale(active, p.dim, p.eps, sums);
    for (uint32_t i = threadIdx.x; i < p.dim; i += ALTUP_THREADS)
        p.xn[at + i] = active[i] * scale * p.w_in[i];
}

extern "C" void cuda_altup_predict(myth_stream *s, const struct myth_altup_predict_args *a)
{
    const predict_op p = {
        cuda_ptr<float>(a->x),
        cuda_ptr<float>(a->xn),
        cuda_ptr<const float>(a->pend),
        cuda_ptr<const float>(a->w_post),
        cuda_ptr<const float>(a->w_in),
        {cuda_ptr<const float>(a->w_route), cuda_ptr<const float>(a->router), cuda_ptr<const float>(a->coef)},
        a->dim,
        a->n_stream,
        a->active,
        a->eps};
    MYTH_LAUNCH(altup_predict_k, a->n_rows, ALTUP_THREADS, 0, s)(p);
    cuda_check(s, "altup_predict");
}
