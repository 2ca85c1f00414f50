/* add_low_rank.c   y[r,o] += sum_k b[k,o] * t[r,k]
 *
 * Precision  products and sums are f32, in the order of k; the whole sum is added to y
 * Threads    divide the outputs of all rows; 64 neighbouring outputs of a row are summed side by side */
#include "ref.h"

enum { SIDE = 64 };

static void add_tile(float *y, const float *b, const float *t, uint32_t n, uint32_t n_out, uint32_t rank)
{
    float sum[SIDE] = {0.0f};
    for (uint32_t k = 0; k < rank; k++, b += n_out)
        for (uint32_t i = 0; i < n; i++)
            sum[i] += b[i] * t[k];
    for (uint32_t i = 0; i < n; i++)
        y[i] += sum[i];
}

static void add(void *arg, int tid, int n_threads)
{
    const struct myth_add_low_rank_args *a = arg;
    const float *b = cpu_f32(a->b), *t = cpu_f32(a->t);
    float *y = cpu_f32(a->y);
    uint64_t from, to;
    cpu_split((uint64_t)a->n_rows * a->n_out, SIDE, tid, n_threads, &from, &to);
    while (from < to) {
        const uint64_t r = from / a->n_out, o = from % a->n_out;
        const uint64_t left = a->n_out - o < to - from ? a->n_out - o : to - from;
        const uint32_t n = left < SIDE ? (uint32_t)left : SIDE;
        add_tile(y + from, b + o, t + r * a->rank, n, a->n_out, a->rank);
        from += n;
    }
}

void cpu_ref_add_low_rank(myth_stream *s, const struct myth_add_low_rank_args *a)
{
    const uint64_t n = (uint64_t)a->n_rows * a->n_out * a->rank;
    cpu_pool_run_parts(cpu_of(s)->pool, n / 32768, add, (void *)(uintptr_t)a);
}
