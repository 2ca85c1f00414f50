/* moe_geglu.c   h[i,:] = gelu_tanh(Wg x[r,:]) * (Wu x[r,:])   for every entry i = r * k + slot, with the matrices Wg
 *               and Wu of its expert
 *
 * Precision  weights are dequantised to f32; products and sums are f32, in the order of the input index
 * Threads    divide the outputs of each expert, REF_TILE at a time
 * Traffic    matrices of experts without entries are not read */
#include "ref.h"

struct job {
    myth_stream *s;
    const struct myth_moe_geglu_args *a;
};

/* Dequantises rows row .. row + n_w - 1 of the stack m. */
static void load_rows(float *w, const struct myth_moe_geglu_args *a, myth_view m, uint64_t row, uint32_t n_w)
{
    for (uint32_t t = 0; t < n_w; t++)
        cpu_row_to_f32(w + (uint64_t)t * a->dim, cpu_row(m, row + t, a->dim), m.dtype, a->dim);
}

static void activate(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_moe_geglu_args *a = j->a;
    const int32_t *offset = cpu_i32(a->offset), *order = cpu_i32(a->order);
    float *w = ref_weight_rows(j->s, tid);
    uint64_t from, to;
    cpu_split(a->d_ff, REF_TILE, tid, n_threads, &from, &to);
    for (uint64_t e = 0; e < a->n_expert; e++)
        for (uint64_t o = from; o < to && offset[e] < offset[e + 1]; o += REF_TILE) {
            uint32_t n_w = to - o < REF_TILE ? (uint32_t)(to - o) : REF_TILE;
            float up[REF_TILE];
            load_rows(w, a, a->w_gate, e * a->expert_rows + o, n_w);
            for (int32_t i = offset[e]; i < offset[e + 1]; i++)
                ref_dot_tile(cpu_f32(a->h) + (uint64_t)order[i] * a->d_ff + o,
                             cpu_f32(a->x) + (uint64_t)order[i] / a->k * a->dim, w, n_w, a->dim);
            load_rows(w, a, a->w_up, e * a->expert_rows + a->up_row + o, n_w);
            for (int32_t i = offset[e]; i < offset[e + 1]; i++) {
                float *h = cpu_f32(a->h) + (uint64_t)order[i] * a->d_ff + o;
                ref_dot_tile(up, cpu_f32(a->x) + (uint64_t)order[i] / a->k * a->dim, w, n_w, a->dim);
                for (uint32_t t = 0; t < n_w; t++)
                    h[t] = ref_gelu(h[t]) * up[t];
            }
        }
}

void cpu_ref_moe_geglu(myth_stream *s, const struct myth_moe_geglu_args *a)
{
    cpu_pool_run(cpu_of(s)->pool, activate, &(struct job){s, a});
    cpu_count_experts(s, a->offset, a->n_expert, 2 * (uint64_t)a->d_ff * myth_row_bytes(a->w_gate.dtype, a->dim));
}
