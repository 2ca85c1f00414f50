/* rms_norm.c   x[r,:] = (x[r,:] + RMS(pend[r,:]) * w_post) * x_scale;
 *              y[r,:] = x[r,:] * rsqrt(mean(x[r,:]^2) + eps) * w
 *
 * Precision  means of squares in double, everything else in f32 */
#include "ref.h"

static void norm(void *arg, int tid, int n_threads)
{
    const struct myth_rms_norm_args *a = arg;
    const float *pend = cpu_f32(a->pend), *w_post = cpu_f32(a->w_post), *w = cpu_f32(a->w);
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        float *x = cpu_f32(a->x) + r * a->dim;
        ref_fold_row(x, x, pend ? pend + r * a->dim : NULL, w_post, a->x_scale, a->dim, a->eps);
        ref_norm_row(cpu_f32(a->y) + r * a->dim, x, w, a->dim, a->eps);
    }
}

void cpu_ref_rms_norm(myth_stream *s, const struct myth_rms_norm_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, norm, (void *)(uintptr_t)a);
}
