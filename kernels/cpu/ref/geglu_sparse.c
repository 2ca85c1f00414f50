/* geglu_sparse.c   h = gelu_tanh(max(g - t, 0)) * up,   t[r] = mean(g[r,:]) + z * deviation(g[r,:])
 *
 * Precision  mean and deviation (population) in double, the rest f32
 * Source     Gemma 3n's activation sparsity: transformers modeling_gemma3n.py */
#include "ref.h"

static void activate(void *arg, int tid, int n_threads)
{
    const struct myth_geglu_sparse_args *a = arg;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        const float *g = cpu_f32(a->g) + r * a->d_ff, *up = cpu_f32(a->up) + r * a->d_ff;
        float *h = cpu_f32(a->h) + r * a->d_ff;
        double sum = 0.0, ss = 0.0;
        for (uint32_t i = 0; i < a->d_ff; i++)
            sum += (double)g[i];
        const double mean = sum / a->d_ff;
        for (uint32_t i = 0; i < a->d_ff; i++)
            ss += ((double)g[i] - mean) * ((double)g[i] - mean);
        const float t = (float)(mean + (double)a->z * sqrt(ss / a->d_ff));
        for (uint32_t i = 0; i < a->d_ff; i++)
            h[i] = g[i] <= t ? 0.0f * up[i] : ref_gelu(g[i] - t) * up[i]; /* most values of g are below t */
    }
}

void cpu_ref_geglu_sparse(myth_stream *s, const struct myth_geglu_sparse_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, activate, (void *)(uintptr_t)a);
}
