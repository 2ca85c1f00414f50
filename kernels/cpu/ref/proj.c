/* proj.c   y[r,:] = W x[r,:]
 *
 * Precision  weights are dequantised to f32; products and sums are f32, in the order of the input index
 * Threads    divide the outputs, REF_TILE at a time. Each weight row is dequantised once for all rows of x */
#include "ref.h"

struct job {
    myth_stream *s;
    const struct myth_proj_args *a;
};

static void project(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_proj_args *a = j->a;
    const float *x = cpu_f32(a->x);
    float *y = cpu_f32(a->y), *w = ref_weight_rows(j->s, tid);
    uint64_t from, to;
    cpu_split(a->n_out, REF_TILE, tid, n_threads, &from, &to);
    for (uint64_t o = from; o < to; o += REF_TILE) {
        uint32_t n_w = to - o < REF_TILE ? (uint32_t)(to - o) : REF_TILE;
        for (uint32_t t = 0; t < n_w; t++)
            cpu_row_to_f32(w + (uint64_t)t * a->n_in, cpu_row(a->w, o + t, a->n_in), a->w.dtype, a->n_in);
        for (uint64_t r = 0; r < a->n_rows; r++)
            ref_dot_tile(y + r * a->n_out + o, x + r * a->n_in, w, n_w, a->n_in);
    }
}

void cpu_ref_proj(myth_stream *s, const struct myth_proj_args *a)
{
    cpu_pool_run(cpu_of(s)->pool, project, &(struct job){s, a});
}
