/* laurel_merge.c   u = (x + RMS(attn) * w_attn + xn + RMS(laurel) * w_laurel) / sqrt(2)
 *
 * Precision  means of squares in double, everything else f32 */
#include "ref.h"

static void merge(void *arg, int tid, int n_threads)
{
    const struct myth_laurel_merge_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        const uint64_t at = r * a->dim;
        const float *xn = cpu_f32(a->xn) + at;
        float *u = cpu_f32(a->u) + at;
        ref_fold_row(u, cpu_f32(a->x) + at, cpu_f32(a->attn) + at, cpu_f32(a->w_attn), 0.0f, a->dim, a->eps);
        ref_fold_row(u, u, cpu_f32(a->laurel) + at, cpu_f32(a->w_laurel), 0.0f, a->dim, a->eps);
        for (uint32_t i = 0; i < a->dim; i++)
            u[i] = (u[i] + xn[i]) * 0.70710678f;
    }
}

void cpu_ref_laurel_merge(myth_stream *s, const struct myth_laurel_merge_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, merge, (void *)(uintptr_t)a);
}
