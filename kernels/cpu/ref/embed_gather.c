/* embed_gather.c   y[r,:] = scale * E[ids[r],:]
 *
 * Precision  the row is dequantised to f32, then scaled in f32 */
#include "ref.h"

#include <assert.h>

struct job {
    myth_stream *s;
    const struct myth_embed_gather_args *a;
};

static void gather(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_embed_gather_args *a = j->a;
    const int32_t *ids = cpu_i32(a->ids);
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        assert(ids[r] >= 0 && (uint32_t)ids[r] < a->n_vocab);
        float *y = cpu_f32(a->y) + r * a->dim;
        cpu_row_to_f32(y, cpu_row(a->table, (uint64_t)ids[r], a->dim), a->table.dtype, a->dim);
        for (uint32_t i = 0; i < a->dim; i++)
            y[i] *= a->scale;
    }
}

void cpu_ref_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, gather, &(struct job){s, a});
}
