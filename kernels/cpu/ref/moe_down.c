/* moe_down.c   y[r,:] = sum over the slots of weight[r, slot] * (Wd h[r * k + slot,:]), Wd being the slot's expert's
 *
 * Order      first every product, expert by expert, into `part`; then each row adds its slots in their order. So the
 *            sum does not depend on the numbers of the experts
 * Precision  weights are dequantised to f32; products and sums are f32
 * Threads    divide the outputs, REF_TILE at a time
 * Traffic    matrices of experts without entries are not read */
#include "ref.h"

struct job {
    myth_stream *s;
    const struct myth_moe_down_args *a;
};

static void project(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_moe_down_args *a = j->a;
    const int32_t *offset = cpu_i32(a->offset), *order = cpu_i32(a->order);
    float *w = ref_weight_rows(j->s, tid);
    uint64_t from, to;
    cpu_split(a->dim, REF_TILE, tid, n_threads, &from, &to);
    for (uint64_t e = 0; e < a->n_expert; e++)
        for (uint64_t o = from; o < to && offset[e] < offset[e + 1]; o += REF_TILE) {
            uint32_t n_w = to - o < REF_TILE ? (uint32_t)(to - o) : REF_TILE;
            for (uint32_t t = 0; t < n_w; t++)
                cpu_row_to_f32(w + (uint64_t)t * a->d_ff, cpu_row(a->w, e * a->dim + o + t, a->d_ff), a->w.dtype,
                               a->d_ff);
            for (int32_t i = offset[e]; i < offset[e + 1]; i++)
                ref_dot_tile(cpu_f32(a->part) + (uint64_t)order[i] * a->dim + o,
                             cpu_f32(a->h) + (uint64_t)order[i] * a->d_ff, w, n_w, a->d_ff);
        }
}

void cpu_moe_add(void *arg, int tid, int n_threads)
{
    const struct myth_moe_down_args *a = arg;
    uint64_t from, to;
    cpu_split(a->dim, 16, tid, n_threads, &from, &to);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        const float *part = cpu_f32(a->part) + r * a->k * a->dim, *weight = cpu_f32(a->weight) + r * a->k;
        float *y = cpu_f32(a->y) + r * a->dim;
        for (uint64_t i = from; i < to; i++)
            y[i] = weight[0] * part[i];
        for (uint64_t slot = 1; slot < a->k; slot++)
            for (uint64_t i = from; i < to; i++)
                y[i] += weight[slot] * part[slot * a->dim + i];
    }
}

void cpu_count_experts(myth_stream *s, myth_view offset, uint32_t n_expert, uint64_t bytes)
{
    const int32_t *at = cpu_i32(offset);
    for (uint32_t e = 0; e < n_expert; e++)
        s->dev->counts.expert_bytes += at[e] < at[e + 1] ? bytes : 0;
}

void cpu_ref_moe_down(myth_stream *s, const struct myth_moe_down_args *a)
{
    cpu_pool_run(cpu_of(s)->pool, project, &(struct job){s, a});
    cpu_pool_run_parts(cpu_of(s)->pool, (uint64_t)a->n_rows * a->k * a->dim / 4096, cpu_moe_add, (void *)(uintptr_t)a);
    cpu_count_experts(s, a->offset, a->n_expert, a->dim * myth_row_bytes(a->w.dtype, a->d_ff));
}
