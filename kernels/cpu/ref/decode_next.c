/* decode_next.c   for every row: the sampler chooses one of the k best ids, and the row's id, position and run advance
 * to the next token. A row that chose a stop id becomes ephemeral, which marks it as done: later calls leave it alone
 * and write -1 for it. */
#include "ref.h"

static bool is_stop(const struct myth_decode_next_args *a, int32_t id)
{
    for (uint32_t i = 0; i < a->n_stop; i++)
        if (cpu_i32(a->stop_id)[i] == id)
            return true;
    return false;
}

static int32_t choose(const struct myth_decode_next_args *a, uint32_t r)
{
    const int32_t *id = cpu_i32(a->top_id) + (uint64_t)r * a->k;
    uint32_t n = 0;
    while (n < a->k && id[n] >= 0)
        n++;
    return n ? id[myth_sample(&a->sample, cpu_f32(a->top_logit) + (uint64_t)r * a->k, n, a->seq_number + r,
                              (uint32_t)cpu_i32(a->pos)[r] + 1)]
             : -1;
}

void cpu_ref_decode_next(myth_stream *s, const struct myth_decode_next_args *a)
{
    (void)s;
    int32_t *step = cpu_i32(a->step), *out = cpu_i32(a->out) + (uint64_t)((uint32_t)*step % a->n_out) * a->n_rows;
    for (uint32_t r = 0; r < a->n_rows; r++) {
        int32_t *run = cpu_i32(a->runs) + (uint64_t)r * MYTH_RUN_WIDTH;
        bool is_still = run[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL;
        int32_t id = is_still ? -1 : choose(a, r);
        out[r] = id;
        if (is_still)
            continue;
        if (id < 0 || is_stop(a, id)) {
            run[MYTH_RUN_FLAGS] |= MYTH_RUN_EPHEMERAL;
            continue;
        }
        cpu_i32(a->ids)[r] = id;
        cpu_i32(a->pos)[r]++;
        run[MYTH_RUN_POS0]++;
    }
    *step = (int32_t)((uint32_t)*step + 1);
}
