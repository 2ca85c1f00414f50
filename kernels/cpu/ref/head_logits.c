/* head_logits.c   y[0..n_vocab) = cap(W x[0,:])
 *
 * Precision  as in proj.c */
#include "ref.h"

struct job {
    myth_stream *s;
    const struct myth_head_logits_args *a;
};

static void project(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_head_logits_args *a = j->a;
    float *y = cpu_f32(a->y), *w = ref_weight_rows(j->s, tid);
    uint64_t from, to;
    cpu_split(a->n_vocab, REF_TILE, tid, n_threads, &from, &to);
    for (uint64_t o = from; o < to; o += REF_TILE) {
        uint32_t n_w = to - o < REF_TILE ? (uint32_t)(to - o) : REF_TILE;
        for (uint32_t t = 0; t < n_w; t++)
            cpu_row_to_f32(w + (uint64_t)t * a->dim, cpu_row(a->w, o + t, a->dim), a->w.dtype, a->dim);
        ref_dot_tile(y + o, cpu_f32(a->x), w, n_w, a->dim);
        for (uint32_t t = 0; t < n_w; t++)
            y[o + t] = ref_cap(y[o + t], a->softcap);
    }
}

void cpu_ref_head_logits(myth_stream *s, const struct myth_head_logits_args *a)
{
    cpu_pool_run(cpu_of(s)->pool, project, &(struct job){s, a});
}
