/* altup_match.c   u[i] *= rms(x) / sqrt(max(mean(u[i]^2), 1e-5));   with y given: y = (x + sum_i of these) / (n_u + 1)
 *                 and u stays unchanged
 *
 * Precision  means in double, streams in f32 */
#include "ref.h"

static double mean_square(const float *x, uint32_t n)
{
    double ss = 0.0;
    for (uint32_t i = 0; i < n; i++)
        ss += (double)x[i] * (double)x[i];
    return ss / n;
}

static void match_row(const struct myth_altup_match_args *a, uint64_t r)
{
    const uint64_t step = (uint64_t)a->n_rows * a->dim, at = r * a->dim;
    const float *x = cpu_f32(a->x) + at;
    float *u = cpu_f32(a->u) + at, *y = a->y.buf ? cpu_f32(a->y) + at : NULL, scale[MYTH_STREAM_MAX];
    const double rms = sqrt(mean_square(x, a->dim));
    for (uint32_t i = 0; i < a->n_u; i++)
        scale[i] = (float)(rms / sqrt(fmax(mean_square(u + i * step, a->dim), 1e-5)));
    for (uint64_t k = 0; k < a->dim; k++) {
        float sum = x[k];
        for (uint32_t i = 0; i < a->n_u; i++) {
            float v = u[i * step + k] * scale[i];
            if (y)
                sum += v;
            else
                u[i * step + k] = v;
        }
        if (y)
            y[k] = sum / (float)(a->n_u + 1);
    }
}

static void match(void *arg, int tid, int n_threads)
{
    const struct myth_altup_match_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++)
        match_row(a, r);
}

void cpu_ref_altup_match(myth_stream *s, const struct myth_altup_match_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, match, (void *)(uintptr_t)a);
}
