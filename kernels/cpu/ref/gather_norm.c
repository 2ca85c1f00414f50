/* gather_norm.c   y[i,:] = RMS(t) * w, or t where w is not given; t = x[rows[i],:] after the prologue (x itself is
 *                 unchanged) */
#include "ref.h"

static void gather(void *arg, int tid, int n_threads)
{
    const struct myth_gather_norm_args *a = arg;
    const float *x = cpu_f32(a->x), *pend = cpu_f32(a->pend), *w_post = cpu_f32(a->w_post), *w = cpu_f32(a->w);
    const int32_t *rows = cpu_i32(a->rows);
    uint64_t from, to;
    cpu_split(a->n_gather, 1, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++) {
        uint64_t at = (uint64_t)rows[i] * a->dim;
        float *y = cpu_f32(a->y) + i * a->dim;
        ref_fold_row(y, x + at, pend ? pend + at : NULL, w_post, a->x_scale, a->dim, a->eps);
        if (w)
            ref_norm_row(y, y, w, a->dim, a->eps);
    }
}

void cpu_ref_gather_norm(myth_stream *s, const struct myth_gather_norm_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_gather, gather, (void *)(uintptr_t)a);
}
