/* head_tiles.c - see head_tiles.h. */
#include "head_tiles.h"

/* Divides the workspace at base and returns its bytes; base NULL only measures. */
static uint64_t lay_out(struct cpu_head *h, unsigned char *base, uint32_t k, int n_threads)
{
    const uint64_t n = (uint64_t)n_threads, n_row = h->n_row;
    const uint64_t part = myth_arena_cost((size_t)(n_row * h->n_tile * sizeof(struct cpu_head_stats))),
                   kept = part + myth_arena_cost((size_t)(n * sizeof(struct cpu_head_part))),
                   logits = kept + myth_arena_cost((size_t)(n * n_row * k * sizeof(cpu_candidate))),
                   end = logits + n * n_row * MYTH_HEAD_TILE * sizeof(float);
    if (base) {
        h->partial = (struct cpu_head_stats *)(void *)base;
        h->part = (struct cpu_head_part *)(void *)(base + part);
        h->kept = (cpu_candidate *)(void *)(base + kept);
        h->logits = (float *)(void *)(base + logits);
    }
    return end;
}

uint64_t cpu_head_bytes(const myth_work_shape *shape, uint32_t n_row, int n_threads)
{
    struct cpu_head h = {.n_row = n_row, .n_tile = cpu_head_count_tiles(shape->n_vocab)};
    return shape->n_logit_rows ? lay_out(&h, NULL, shape->top_k, n_threads) : 0;
}

void cpu_head_begin(struct cpu_head *h, const struct myth_head_topk_args *a, unsigned char *base, uint32_t n_row,
                    int n_threads)
{
    *h = (struct cpu_head){.a = a, .n_row = n_row, .n_tile = cpu_head_count_tiles(a->n_vocab)};
    lay_out(h, base, a->k, n_threads);
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->n_ask; i++)
        cpu_f32(a->ask_logit)[i] = NAN;
}

void cpu_head_edit_tile(const struct myth_head_topk_args *a, uint32_t row, float *x, uint32_t first, uint32_t n)
{
    const int32_t *ask = cpu_i32(a->ask_id), *off = cpu_i32(a->bias_off), *bias_id = cpu_i32(a->bias_id),
                  *mask_idx = cpu_i32(a->mask_idx);
    for (uint64_t i = 0; i < a->n_ask; i++) {
        uint64_t at = (uint64_t)row * a->n_ask + i, id = (uint32_t)ask[at];
        if (id >= first && id < (uint64_t)first + n)
            cpu_f32(a->ask_logit)[at] = x[id - first];
    }
    for (int32_t i = off ? off[row] : 0; off && i < off[row + 1]; i++) {
        uint32_t id = (uint32_t)bias_id[i];
        if (id >= first && id - first < n)
            x[id - first] += cpu_f32(a->bias)[i];
    }
    if (mask_idx && mask_idx[row] >= 0) {
        uint64_t n_word = a->n_vocab / 32 + (a->n_vocab % 32 != 0);
        const int32_t *mask =
            cpu_i32(a->masks) + (uint64_t)mask_idx[row] * n_word + first / 32; /* tiles begin at whole words */
        for (uint32_t v = 0; v < n; v++)
            if (!((uint32_t)mask[v / 32] >> (v % 32) & 1))
                x[v] = -INFINITY;
    }
}

/* Row b of the block is row `row` of the op. */
static void finish_row(struct cpu_head *h, uint32_t b, uint64_t row, int n_threads)
{
    const struct myth_head_topk_args *a = h->a;
    struct cpu_head_stats all = {0.0, 0.0, -INFINITY};
    for (uint32_t t = 0; t < h->n_tile; t++)
        cpu_head_join(&all, h->partial[(uint64_t)b * h->n_tile + t]);
    cpu_f32(a->lse)[row] = cpu_head_lse(all);
    cpu_f32(a->entropy)[row] = cpu_head_entropy(all);

    for (uint32_t i = 0; i < a->k; i++) {
        int best = -1;
        cpu_candidate c = {-INFINITY, -1};
        for (int t = 0; t < n_threads; t++) {
            const struct cpu_head_part *part = &h->part[t];
            if (part->n_merged[b] == part->n_kept[b])
                continue;
            cpu_candidate head = h->kept[((uint64_t)t * h->n_row + b) * a->k + part->n_merged[b]];
            if (best < 0 || cpu_candidate_before(head, c)) {
                c = head;
                best = t;
            }
        }
        if (best >= 0)
            h->part[best].n_merged[b]++;
        cpu_i32(a->top_id)[row * a->k + i] = c.id;
        cpu_f32(a->top_logit)[row * a->k + i] = c.logit;
    }
}

void cpu_head_finish(struct cpu_head *h, struct cpu_pool *pool, uint32_t row0, uint32_t n_rows, int tid, int n_threads)
{
    for (uint32_t b = 0; b < n_rows; b++)
        cpu_topk_sort(h->kept + ((uint64_t)tid * h->n_row + b) * h->a->k, h->part[tid].n_kept[b]);
    cpu_pool_barrier(pool);
    uint64_t from, to;
    cpu_split(n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t b = from; b < to; b++)
        finish_row(h, (uint32_t)b, row0 + b, n_threads);
}
