/* geglu.c   h = gelu_tanh(g) * up,   gelu_tanh(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
 *
 * Source     Hendrycks and Gimpel, Gaussian Error Linear Units (2016); Gemma uses the tanh form */
#include "ref.h"

static void activate(void *arg, int tid, int n_threads)
{
    const struct myth_geglu_args *a = arg;
    const float *g = cpu_f32(a->g), *up = cpu_f32(a->up);
    float *h = cpu_f32(a->h);
    uint64_t from, to;
    cpu_split((uint64_t)a->n_rows * a->d_ff, 16, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++)
        h[i] = ref_gelu(g[i]) * up[i];
}

void cpu_ref_geglu(myth_stream *s, const struct myth_geglu_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, (uint64_t)a->n_rows * a->d_ff / 4096, activate, (void *)(uintptr_t)a);
}
