/* altup_correct.c   u += RMS(pend) * w_post;  c = coef tanh(R (RMS(u) * w_route) / dim);  d = u - x[active];
 *                   x[i] += (1 + c[i]) * d;  gate = x[active] * w_gate
 *
 * R is the router's matrix; the gate uses the new x[active]
 *
 * Precision  coefficients as in altup_predict.c; streams in f32 */
#include "ref.h"

static void correct_row(const struct myth_altup_correct_args *a, uint64_t r)
{
    const uint64_t step = (uint64_t)a->n_rows * a->dim, at = r * a->dim;
    const float *pend = cpu_f32(a->pend), *w_gate = cpu_f32(a->w_gate);
    float *x = cpu_f32(a->x) + at, *u = cpu_f32(a->u) + at, *gate = cpu_f32(a->gate) + at,
          *active = x + a->active * step;
    double c[MYTH_STREAM_MAX];
    ref_fold_row(u, u, pend ? pend + at : NULL, cpu_f32(a->w_post), 0.0f, a->dim, a->eps);
    ref_altup_coef(c, a->n_stream, u, cpu_f32(a->w_route), cpu_f32(a->router), cpu_f32(a->coef), a->n_stream, a->dim,
                   a->eps);
    for (uint64_t k = 0; k < a->dim; k++) {
        double d = (double)u[k] - (double)active[k];
        for (uint32_t i = 0; i < a->n_stream; i++)
            x[i * step + k] = (float)((double)x[i * step + k] + (1.0 + c[i]) * d);
        gate[k] = active[k] * (w_gate ? w_gate[k] : 1.0f);
    }
}

static void correct(void *arg, int tid, int n_threads)
{
    const struct myth_altup_correct_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++)
        correct_row(a, r);
}

void cpu_ref_altup_correct(myth_stream *s, const struct myth_altup_correct_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, correct, (void *)(uintptr_t)a);
}
