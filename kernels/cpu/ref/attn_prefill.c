/* attn_prefill.c   o[r,h,:] = sum_j softmax_j(cap(q[r,h,:] . k[j,:])) v[j,:]
 *
 * Keys       row r at position p sees the positions j <= p (with n_after, up to p + n_after inside its run) with
 *            p - j < window, except those in the run's gaps
 * Order      keys are taken in blocks of CPU_ATTN_BLOCK that are aligned to absolute positions. For each block: its
 *            scores, the new maximum, then the sum and the output so far are rescaled to that maximum, and the block is
 *            added key by key. The order depends on positions only, so the bits are the same however a prompt is cut
 *            into chunks and wherever its keys are (pages, ring, scratch, a fork). Blocks wholly in a gap are skipped
 * Precision  f32; keys and values are converted from the cache type, and folded keys are made from the values
 *            (fold_key.c)
 * Threads    each takes pairs (row, head) from a counter
 * Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018) */
#include "ref.h"

struct job {
    myth_stream *s;
    const struct myth_attn_args *a;
};

/* What is needed to find the keys and values of one head of one run. */
struct keys {
    const struct myth_attn_args *a;
    const int32_t *table, *run;
    struct cpu_gaps gaps;
    uint32_t pos0, row0, head;
};

static const unsigned char *find_row(const struct keys *k, uint32_t pos, bool is_v)
{
    const struct myth_attn_args *a = k->a;
    myth_view view = is_v ? a->v_new : a->k_new;
    uint64_t row_bytes = myth_row_bytes(view.dtype, a->head_dim);
    if (pos >= k->pos0)
        return (unsigned char *)cpu_ptr(view) +
               ((uint64_t)k->head * a->cap_rows + k->row0 + (pos - k->pos0)) * row_bytes;
    uint32_t row;
    int32_t page = cpu_kv_page(&a->kv, k->table, k->run, pos, &row);
    uint64_t k_bytes = (uint64_t)a->n_head_kv * a->kv.page_tok * cpu_key_bytes(a->k_new, a->head_dim);
    return cpu_kv_base(&a->kv, page, k_bytes, is_v) + ((uint64_t)k->head * a->kv.page_tok + row) * row_bytes;
}

static void load_key(float *row, const struct keys *k, uint32_t pos)
{
    const struct myth_attn_args *a = k->a;
    const bool folds = a->fold.w.buf != NULL;
    cpu_row_to_f32(row, find_row(k, pos, folds), folds ? a->v_new.dtype : a->k_new.dtype, a->head_dim);
    if (folds)
        cpu_fold_key(row, &a->fold, pos, a->head_dim);
}

static void attend(const struct keys *k, float *o, const float *q, uint32_t pos, uint32_t last, float *scratch)
{
    const struct myth_attn_args *a = k->a;
    uint32_t hd = a->head_dim, first = a->window && pos + 1 > a->window ? pos + 1 - a->window : 0;
    float *row = scratch, *acc = row + hd, *score = acc + hd;
    float most = -INFINITY, total = 0.0f;
    for (uint32_t i = 0; i < hd; i++)
        acc[i] = 0.0f;
    const uint32_t first_block = first / CPU_ATTN_BLOCK,
                   n_block = cpu_n_blocks(k->gaps, first_block, last / CPU_ATTN_BLOCK);
    for (uint32_t i = 0; i < n_block; i++) {
        uint32_t start = cpu_block_at(k->gaps, first_block, i) * CPU_ATTN_BLOCK, from = start > first ? start : first;
        uint32_t to = start + CPU_ATTN_BLOCK <= last ? start + CPU_ATTN_BLOCK : last + 1;
        float before = most;
        bool sees_key = false;
        for (uint32_t j = from; j < to; j++) {
            if (cpu_is_gone(k->gaps, j))
                continue;
            sees_key = true;
            load_key(row, k, j);
            float dot = 0.0f;
            for (uint32_t d = 0; d < hd; d++)
                dot += q[d] * row[d];
            score[j - start] = ref_cap(dot, a->softcap);
            most = fmaxf(most, score[j - start]);
        }
        if (!sees_key)
            continue;
        float fade = expf(before - most); /* 0 at the first block with a key */
        total *= fade;
        for (uint32_t d = 0; d < hd; d++)
            acc[d] *= fade;
        for (uint32_t j = from; j < to; j++) {
            if (cpu_is_gone(k->gaps, j))
                continue;
            float weight = expf(score[j - start] - most);
            total += weight;
            cpu_row_to_f32(row, find_row(k, j, true), a->v_new.dtype, hd);
            for (uint32_t d = 0; d < hd; d++)
                acc[d] += weight * row[d];
        }
    }
    for (uint32_t i = 0; i < hd; i++)
        o[i] = acc[i] / total;
}

static void attend_rows(void *arg, int tid, int n_threads)
{
    const struct job *job = arg;
    const struct myth_attn_args *a = job->a;
    struct cpu_device *d = cpu_of(job->s);
    const int32_t *runs = cpu_i32(a->runs), *row_run = cpu_i32(a->row_run), *pos = cpu_i32(a->pos);
    float *scratch = (float *)(void *)d->attn_scratch + (uint64_t)tid * (2ull * a->head_dim + CPU_ATTN_BLOCK);
    (void)n_threads;
    for (uint32_t i; (i = cpu_pool_take(d->pool, 1)) < a->n_rows * a->n_head;) {
        uint32_t r = i / a->n_head, h = i % a->n_head;
        const int32_t *run = runs + (int64_t)row_run[r] * MYTH_RUN_WIDTH;
        struct keys k = {a,
                         cpu_i32(a->kv.table),
                         run,
                         cpu_run_gaps(&a->kv, run),
                         (uint32_t)run[MYTH_RUN_POS0],
                         (uint32_t)run[MYTH_RUN_ROW0],
                         h / (a->n_head / a->n_head_kv)};
        uint64_t at = (uint64_t)i * a->head_dim;
        attend(&k, cpu_f32(a->o) + at, cpu_f32(a->q) + at, (uint32_t)pos[r],
               cpu_run_last(run, (uint32_t)pos[r], a->n_after), scratch);
    }
}

void cpu_ref_attn_prefill(myth_stream *s, const struct myth_attn_args *a)
{
    cpu_pool_run(cpu_of(s)->pool, attend_rows, &(struct job){s, a});
}
