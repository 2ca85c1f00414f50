/* ple_gate.c   x[r,:] += RMS(pend[r,:]) * w_post;   h[r,:] = gelu_tanh(W x[r,:]) * p[r,:]
 *
 * Precision  the mean of squares in double, everything else in f32; W x as in proj.c */
#include "ref.h"

static void fold(void *arg, int tid, int n_threads)
{
    const struct myth_ple_gate_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        float *x = cpu_f32(a->x) + r * a->dim;
        ref_fold_row(x, x, cpu_f32(a->pend) + r * a->dim, cpu_f32(a->w_post), 0.0f, a->dim, a->eps);
    }
}

static void gate(void *arg, int tid, int n_threads)
{
    const struct myth_ple_gate_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        float *h = cpu_f32(a->h) + r * a->n_ple;
        const float *p = cpu_f32(a->p) + r * a->p_stride;
        for (uint32_t i = 0; i < a->n_ple; i++)
            h[i] = ref_gelu(h[i]) * p[i];
    }
}

void cpu_ref_ple_gate(myth_stream *s, const struct myth_ple_gate_args *a)
{
    struct cpu_pool *pool = cpu_of(s)->pool;
    if (a->pend.buf)
        cpu_pool_run_parts(pool, a->n_rows, fold, (void *)(uintptr_t)a);
    cpu_ref_proj(s, &(struct myth_proj_args){
                        .y = a->h,
                        .x = a->x,
                        .w = a->w,
                        .n_rows = a->n_rows,
                        .n_in = a->dim,
                        .n_out = a->n_ple,
                    });
    cpu_pool_run_parts(pool, a->n_rows, gate, (void *)(uintptr_t)a);
}
