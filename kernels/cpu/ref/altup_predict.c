/* altup_predict.c   x[i] += RMS(pend) * w_post for i > 0;  m = tanh(R (RMS(x[active]) * w_route) / dim);
 *                   x[i] += sum_j (coef m)[i * n + j] * x[j];  xn = RMS(x[active]) * w_in
 *
 * Precision  means, the router's sums, its tanh and the coefficients in double; streams in f32, their sum over j in
 *            double
 * Source     Baykal et al., Alternating Updates for Efficient Transformers (2301.13310); transformers
 *            modeling_gemma3n.py */
#include "ref.h"

void ref_altup_coef(double *c, uint32_t n_coef, const float *x, const float *w_route, const float *router,
                    const float *coef, uint32_t n_stream, uint32_t dim, float eps)
{
    double ss = 0.0, m[MYTH_STREAM_MAX];
    for (uint32_t i = 0; i < dim; i++)
        ss += (double)x[i] * (double)x[i];
    const double scale = 1.0 / sqrt(ss / dim + (double)eps) / dim;
    for (uint32_t k = 0; k < n_stream; k++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < dim; i++)
            sum += (double)x[i] * (double)w_route[i] * (double)router[(uint64_t)k * dim + i];
        m[k] = tanh(sum * scale);
    }
    for (uint32_t k = 0; k < n_coef; k++) {
        c[k] = 0.0;
        for (uint32_t j = 0; j < n_stream; j++)
            c[k] += (double)coef[k * n_stream + j] * m[j];
    }
}

static void predict_row(const struct myth_altup_predict_args *a, uint64_t r)
{
    const uint64_t step = (uint64_t)a->n_rows * a->dim;
    const uint32_t n = a->n_stream;
    float *x = cpu_f32(a->x) + r * a->dim;
    double c[MYTH_STREAM_MAX * MYTH_STREAM_MAX];
    for (uint32_t i = 1; i < n && a->pend.buf; i++)
        ref_fold_row(x + i * step, x + i * step, cpu_f32(a->pend) + r * a->dim, cpu_f32(a->w_post), 0.0f, a->dim,
                     a->eps);
    if (!a->coef.buf)
        return;
    ref_altup_coef(c, n * n, x + a->active * step, cpu_f32(a->w_route), cpu_f32(a->router), cpu_f32(a->coef), n, a->dim,
                   a->eps);
    for (uint64_t k = 0; k < a->dim; k++) {
        double had[MYTH_STREAM_MAX];
        for (uint32_t j = 0; j < n; j++)
            had[j] = (double)x[j * step + k];
        for (uint32_t i = 0; i < n; i++) {
            double sum = had[i];
            for (uint32_t j = 0; j < n; j++)
                sum += c[i * n + j] * had[j];
            x[i * step + k] = (float)sum;
        }
    }
    ref_norm_row(cpu_f32(a->xn) + r * a->dim, x + a->active * step, cpu_f32(a->w_in), a->dim, a->eps);
}

static void predict(void *arg, int tid, int n_threads)
{
    const struct myth_altup_predict_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++)
        predict_row(a, r);
}

void cpu_ref_altup_predict(myth_stream *s, const struct myth_altup_predict_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, predict, (void *)(uintptr_t)a);
}
