/* rope_table.c   table[r, i] = (cos, sin)(pos[r] * base^(-2i / head_dim) / factor) for i < n_pair, else (1, 0)
 *
 * Precision  angle, cosine and sine in double, rounded once at the end. The angle of position 2^31 keeps 22 bits after
 *            the point */
#include "ref.h"

static void fill(void *arg, int tid, int n_threads)
{
    const struct myth_rope_table_args *a = arg;
    const int32_t *pos = cpu_i32(a->pos);
    float *table = cpu_f32(a->table);
    uint64_t n_half = a->head_dim / 2, from, to;
    cpu_split(n_half, 1, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++) {
        double freq = pow(a->base, -2.0 * (double)i / a->head_dim) / a->factor;
        for (uint64_t r = 0; r < a->n_rows; r++) {
            float *pair = table + (r * n_half + i) * 2;
            pair[0] = i < a->n_pair ? (float)cos(pos[r] * freq) : 1.0f;
            pair[1] = i < a->n_pair ? (float)sin(pos[r] * freq) : 0.0f;
        }
    }
}

void cpu_ref_rope_table(myth_stream *s, const struct myth_rope_table_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, fill, (void *)(uintptr_t)a);
}
