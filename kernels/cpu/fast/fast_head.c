/* fast_head.c   head_topk and head_logits: vocabulary tiles through the decode product, each tile reduced while it is
 * in L1
 *
 * Order      as the reference: tiles of MYTH_HEAD_TILE with fixed borders give (max, sum e^(x-m), sum e^(x-m)(x-m)),
 *            combined in index order, so neither threads nor rows change a bit; prefill and decode use the same product
 *            here
 * Precision  logits as the decode product of the level; sums of a tile in f32 lanes, over tiles in double
 * Traffic    the head matrix once per ROWS rows; a full row of logits never exists
 * Limit      memory bandwidth. A tile whose largest logit cannot enter the heap is not looked at again
 * Work       logits: per-tile partials, per-thread heaps and tiles; activations: the converted rows */
#include "fast.h"
#include "kernels/cpu/ref/head_stats.h"
#include "kernels/cpu/ref/topk.h"

#include <string.h>

enum { ROWS = 16 };

struct thread_part {
    uint32_t n_kept[ROWS], n_merged[ROWS];
};

struct job {
    struct cpu_device *d;
    const struct fast_kernels *f;
    const struct myth_head_topk_args *a;
    const struct fast_mat *mat;
    uint32_t row0, n_rows, n_tile;
    unsigned char *rows; /* [ROWS] converted      */
    size_t row_bytes;
    struct cpu_head_stats *partial; /* [ROWS][n_tile]        */
    struct thread_part *part;       /* [n_threads]           */
    cpu_candidate *kept;            /* [n_threads][ROWS][k]  */
    float *logits;                  /* [n_threads][ROWS][MYTH_HEAD_TILE] */
};

static uint32_t count_tiles(uint32_t n_vocab) { return n_vocab / MYTH_HEAD_TILE + (n_vocab % MYTH_HEAD_TILE != 0); }

/* Cuts the workspace at base into the parts of the job; returns the bytes used. base NULL measures. */
static size_t lay_out(struct job *j, unsigned char *base, uint32_t n_tile, uint32_t k, int n_threads)
{
    size_t n = (size_t)n_threads, part, kept, logits, end;
    part = myth_arena_cost((size_t)ROWS * n_tile * sizeof(struct cpu_head_stats));
    kept = part + myth_arena_cost(n * sizeof(struct thread_part));
    logits = kept + myth_arena_cost(n * ROWS * k * sizeof(cpu_candidate));
    end = logits + n * ROWS * MYTH_HEAD_TILE * sizeof(float);
    if (base) {
        j->partial = (struct cpu_head_stats *)(void *)base;
        j->part = (struct thread_part *)(void *)(base + part);
        j->kept = (cpu_candidate *)(void *)(base + kept);
        j->logits = (float *)(void *)(base + logits);
    }
    return end;
}

size_t fast_head_bytes(const myth_work_shape *shape, int n_threads)
{
    return shape->n_logit_rows ? lay_out(NULL, NULL, count_tiles(shape->n_vocab), shape->top_k, n_threads) : 0;
}

/* Asked logits as they are, then biases and mask: a forbidden id becomes -inf. */
static void edit_tile(const struct myth_head_topk_args *a, uint32_t row, float *x, uint32_t first, uint32_t n)
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

static void reduce_tile(const struct job *j, struct thread_part *part, cpu_candidate *kept, float *x, uint32_t b,
                        uint32_t tile)
{
    const struct myth_head_topk_args *a = j->a;
    const uint32_t first = tile * MYTH_HEAD_TILE,
                   n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
    if (a->softcap > 0.0f)
        j->f->cap(x, n, a->softcap);
    edit_tile(a, j->row0 + b, x, first, n);
    struct cpu_head_stats p = {0.0, 0.0, j->f->largest(x, n)};
    if (p.most > -INFINITY) {
        float sum, sum_x;
        j->f->exp_sums(x, n, p.most, &sum, &sum_x);
        p.sum = (double)sum;
        p.sum_x = (double)sum_x;
    }
    j->partial[(size_t)b * j->n_tile + tile] = p;
    /* ids arrive in ascending order, so an equal logit never replaces a kept one */
    if (part->n_kept[b] == a->k && !(p.most > kept[0].logit))
        return;
    for (uint32_t v = 0; v < n; v++)
        if (part->n_kept[b] < a->k || x[v] > kept[0].logit)
            cpu_topk_push(kept, &part->n_kept[b], a->k, x[v], (int32_t)(first + v));
}

static void finish_row(const struct job *j, uint32_t b, int n_threads)
{
    const struct myth_head_topk_args *a = j->a;
    uint64_t row = j->row0 + b;
    struct cpu_head_stats all = {0.0, 0.0, -INFINITY};
    for (uint32_t t = 0; t < j->n_tile; t++)
        cpu_head_join(&all, j->partial[(size_t)b * j->n_tile + t]);
    cpu_f32(a->lse)[row] = cpu_head_lse(all);
    cpu_f32(a->entropy)[row] = cpu_head_entropy(all);

    for (uint32_t i = 0; i < a->k; i++) {
        int best = -1;
        cpu_candidate c = {-INFINITY, -1};
        for (int t = 0; t < n_threads; t++) {
            const struct thread_part *part = &j->part[t];
            if (part->n_merged[b] == part->n_kept[b])
                continue;
            cpu_candidate head = j->kept[((size_t)t * ROWS + b) * a->k + part->n_merged[b]];
            if (best < 0 || cpu_candidate_before(head, c)) {
                c = head;
                best = t;
            }
        }
        if (best >= 0)
            j->part[best].n_merged[b]++;
        cpu_i32(a->top_id)[row * a->k + i] = c.id;
        cpu_f32(a->top_logit)[row * a->k + i] = c.logit;
    }
}

static void topk_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_head_topk_args *a = j->a;
    struct thread_part *part = &j->part[tid];
    cpu_candidate *kept = j->kept + (size_t)tid * ROWS * a->k;
    float *logits = j->logits + (size_t)tid * ROWS * MYTH_HEAD_TILE;
    const size_t w_bytes = (size_t)myth_row_bytes(a->w.dtype, a->dim);
    memset(part, 0, sizeof(*part));
    for (uint32_t tile; (tile = cpu_pool_take(j->d->pool, 1)) < j->n_tile;) {
        const uint32_t first = tile * MYTH_HEAD_TILE,
                       n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
        j->mat->gemv(logits, MYTH_HEAD_TILE, cpu_row(a->w, first, a->dim), w_bytes, n, j->rows, j->row_bytes, j->n_rows,
                     a->dim);
        for (uint32_t b = 0; b < j->n_rows; b++)
            reduce_tile(j, part, kept + (size_t)b * a->k, logits + (size_t)b * MYTH_HEAD_TILE, b, tile);
    }
    for (uint32_t b = 0; b < j->n_rows; b++)
        cpu_topk_sort(kept + (size_t)b * a->k, part->n_kept[b]);
    cpu_pool_barrier(j->d->pool);
    uint64_t from, to;
    cpu_split(j->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t b = from; b < to; b++)
        finish_row(j, (uint32_t)b, n_threads);
}

void fast_head_topk(myth_stream *s, const struct myth_head_topk_args *a, const struct fast_kernels *f)
{
    struct job j = {.d = cpu_of(s), .f = f, .a = a, .mat = &f->mat[a->w.dtype], .n_tile = count_tiles(a->n_vocab)};
    lay_out(&j, j.d->logits, j.n_tile, a->k, cpu_n_threads(s));
    j.rows = j.d->activations;
    j.row_bytes = j.mat->gemv_form->bytes(a->dim);
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->n_ask; i++)
        cpu_f32(a->ask_logit)[i] = NAN; /* stays for ids outside the vocabulary */
    const uint32_t fit = (uint32_t)(fast_rows_bytes(&s->dev->shape) / j.row_bytes), most = fit < ROWS ? fit : ROWS;
    for (j.row0 = 0; j.row0 < a->n_rows; j.row0 += j.n_rows) {
        j.n_rows = a->n_rows - j.row0 < most ? a->n_rows - j.row0 : most;
        for (uint32_t b = 0; b < j.n_rows; b++)
            j.mat->gemv_form->convert(j.rows + b * j.row_bytes, cpu_f32(a->x) + (size_t)(j.row0 + b) * a->dim, a->dim);
        cpu_pool_run(j.d->pool, topk_task, &j);
    }
}

struct logits_job {
    struct cpu_device *d;
    const struct fast_kernels *f;
    const struct myth_head_logits_args *a;
    const struct fast_mat *mat;
};

static void logits_task(void *arg, int tid, int n_threads)
{
    const struct logits_job *j = arg;
    const struct myth_head_logits_args *a = j->a;
    float *y = cpu_f32(a->y);
    (void)tid;
    (void)n_threads;
    for (uint32_t tile; (tile = cpu_pool_take(j->d->pool, 1)) < count_tiles(a->n_vocab);) {
        const uint32_t first = tile * MYTH_HEAD_TILE,
                       n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
        j->mat->gemv(y + first, a->n_vocab, cpu_row(a->w, first, a->dim), (size_t)myth_row_bytes(a->w.dtype, a->dim), n,
                     j->d->activations, 0, 1, a->dim);
        if (a->softcap > 0.0f)
            j->f->cap(y + first, n, a->softcap);
    }
}

void fast_head_logits(myth_stream *s, const struct myth_head_logits_args *a, const struct fast_kernels *f)
{
    struct logits_job j = {cpu_of(s), f, a, &f->mat[a->w.dtype]};
    j.mat->gemv_form->convert(j.d->activations, cpu_f32(a->x), a->dim);
    cpu_pool_run(j.d->pool, logits_task, &j);
}
