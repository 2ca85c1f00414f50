/* fast_head.c   head_topk and head_logits: the logits of one tile of the vocabulary at a time, with the decode product.
 * head_topk reduces each tile while it is in L1.
 *
 * Order      as in the reference (head_tiles.h): tiles have fixed borders and are joined in index order, so bits depend
 *            neither on threads nor on the number of rows. Prefill and decode use the same product here
 * Precision  logits have the precision of the level's decode product; sums within a tile are f32 lanes, sums over tiles
 *            double
 * Traffic    the head matrix, once for every ROWS rows; a full row of logits never exists
 * Limit      memory bandwidth. A tile whose largest logit cannot enter the heap is not searched for candidates
 * Work       logits: what head_tiles.h lists; activations: the converted rows, and those that a thread has turned */
#include "fast.h"
#include "kernels/cpu/ref/head_tiles.h"

#include <string.h>

enum { ROWS = CPU_HEAD_ROWS };

struct job {
    struct cpu_device *d;
    const struct fast_kernels *f;
    const struct fast_mat *mat;
    struct cpu_head head;
    uint32_t row0, n_rows;
    unsigned char *rows; /* [ROWS] converted rows of x */
    size_t row_bytes;
};

size_t fast_head_bytes(const myth_work_shape *shape, int n_threads)
{
    return (size_t)cpu_head_bytes(shape, ROWS, n_threads);
}

static void reduce_tile(const struct job *j, struct cpu_head_part *part, cpu_candidate *kept, float *x, uint32_t b,
                        uint32_t tile)
{
    const struct myth_head_topk_args *a = j->head.a;
    const uint32_t first = tile * MYTH_HEAD_TILE,
                   n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
    if (a->softcap > 0.0f)
        j->f->cap(x, n, a->softcap);
    cpu_head_edit_tile(a, j->row0 + b, x, first, n);
    struct cpu_head_stats p = {0.0, 0.0, j->f->largest(x, n)};
    if (p.most > -INFINITY) {
        float sum, sum_x;
        j->f->exp_sums(x, n, p.most, &sum, &sum_x);
        p.sum = (double)sum;
        p.sum_x = (double)sum_x;
    } else {
        for (uint32_t v = 0; v < n; v++)
            p.sum = isnan(x[v]) ? (double)NAN : p.sum;
    }
    j->head.partial[(size_t)b * j->head.n_tile + tile] = p;
    /* A thread sees ids in ascending order, so a logit equal to a kept one never replaces it. */
    if (part->n_kept[b] == a->k && !(p.most > kept[0].logit))
        return;
    for (uint32_t v = 0; v < n; v++)
        if (part->n_kept[b] < a->k || x[v] > kept[0].logit)
            cpu_topk_push(kept, &part->n_kept[b], a->k, x[v], (int32_t)(first + v));
}

static void topk_task(void *arg, int tid, int n_threads)
{
    struct job *j = arg;
    struct cpu_head *h = &j->head;
    const struct myth_head_topk_args *a = h->a;
    struct cpu_head_part *part = &h->part[tid];
    cpu_candidate *kept = h->kept + (size_t)tid * ROWS * a->k;
    float *logits = h->logits + (size_t)tid * ROWS * MYTH_HEAD_TILE;
    const size_t w_bytes = (size_t)myth_row_bytes(a->w.dtype, a->dim);
    const struct fast_tiled *tiled = j->f->tiled[a->w.dtype];
    const struct fast_rows rows =
        fast_turn_rows(tiled, j->d->activations + fast_rows_bytes(&j->d->base.shape) + (size_t)tid * FAST_PANEL_BYTES,
                       FAST_PANEL_BYTES, j->rows, j->row_bytes, j->n_rows, a->dim);
    memset(part, 0, sizeof(*part));
    for (uint32_t tile; (tile = cpu_pool_take(j->d->pool, 1)) < h->n_tile;) {
        const uint32_t first = tile * MYTH_HEAD_TILE,
                       n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
        fast_gemv(&rows, j->mat, tiled, logits, MYTH_HEAD_TILE, cpu_row(a->w, first, a->dim), w_bytes, n);
        for (uint32_t b = 0; b < j->n_rows; b++)
            reduce_tile(j, part, kept + (size_t)b * a->k, logits + (size_t)b * MYTH_HEAD_TILE, b, tile);
    }
    cpu_head_finish(h, j->d->pool, j->row0, j->n_rows, tid, n_threads);
}

void fast_head_topk(myth_stream *s, const struct myth_head_topk_args *a, const struct fast_kernels *f)
{
    struct job j = {.d = cpu_of(s), .f = f, .mat = &f->mat[a->w.dtype]};
    cpu_head_begin(&j.head, a, j.d->logits, ROWS, cpu_n_threads(s));
    j.rows = j.d->activations;
    j.row_bytes = j.mat->gemv_form->bytes(a->dim);
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
    for (uint32_t tile; (tile = cpu_pool_take(j->d->pool, 1)) < cpu_head_count_tiles(a->n_vocab);) {
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
