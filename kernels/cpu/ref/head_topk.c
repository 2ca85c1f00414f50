/* head_topk.c   for each row: the k best logits of cap(W x), log-sum-exp and entropy over the allowed ids, and the
 * logits that were asked for. W x is never kept whole: the vocabulary is taken in tiles (head_tiles.h).
 *
 * Order      statistics of each tile (head_stats.h), joined in index order
 * Precision  logits as in proj.c, statistics in double
 * Threads    each takes tiles from a counter; blocks of ROWS rows pass over the vocabulary one after the other */
#include "ref.h"
#include "head_tiles.h"

#include <string.h>

enum { ROWS = 8 };

struct job {
    myth_stream *s;
    struct cpu_head head;
    uint32_t row0, n_rows;
};

uint64_t ref_head_bytes(const myth_work_shape *shape, int n_threads) { return cpu_head_bytes(shape, ROWS, n_threads); }

/* logits[b][v] = cap(W[first + v] x[row0 + b]) */
static void project_tile(const struct job *j, float *logits, uint32_t first, uint32_t n, int tid)
{
    const struct myth_head_topk_args *a = j->head.a;
    float *w = ref_weight_rows(j->s, tid);
    for (uint32_t v = 0; v < n; v += REF_TILE) {
        uint32_t n_w = n - v < REF_TILE ? n - v : REF_TILE;
        for (uint32_t t = 0; t < n_w; t++)
            cpu_row_to_f32(w + (uint64_t)t * a->dim, cpu_row(a->w, (uint64_t)first + v + t, a->dim), a->w.dtype,
                           a->dim);
        for (uint32_t b = 0; b < j->n_rows; b++) {
            float *y = logits + (uint64_t)b * MYTH_HEAD_TILE + v;
            ref_dot_tile(y, cpu_f32(a->x) + (uint64_t)(j->row0 + b) * a->dim, w, n_w, a->dim);
            for (uint32_t t = 0; t < n_w; t++)
                y[t] = ref_cap(y[t], a->softcap);
        }
    }
}

static struct cpu_head_stats reduce_tile(const float *x, uint32_t n)
{
    struct cpu_head_stats p = {0.0, 0.0, -INFINITY};
    for (uint32_t v = 0; v < n; v++)
        p.most = fmaxf(p.most, x[v]);
    for (uint32_t v = 0; v < n; v++) {
        if (x[v] == -INFINITY)
            continue;
        double e = exp((double)x[v] - (double)p.most);
        p.sum += e;
        p.sum_x += e * ((double)x[v] - (double)p.most);
    }
    return p;
}

static void reduce_rows(void *arg, int tid, int n_threads)
{
    struct job *j = arg;
    struct cpu_head *h = &j->head;
    const struct myth_head_topk_args *a = h->a;
    struct cpu_pool *pool = cpu_of(j->s)->pool;
    struct cpu_head_part *part = &h->part[tid];
    cpu_candidate *kept = h->kept + (uint64_t)tid * ROWS * a->k;
    float *logits = h->logits + (uint64_t)tid * ROWS * MYTH_HEAD_TILE;
    memset(part, 0, sizeof(*part));
    for (uint32_t tile; (tile = cpu_pool_take(pool, 1)) < h->n_tile;) {
        uint32_t first = tile * MYTH_HEAD_TILE,
                 n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
        project_tile(j, logits, first, n, tid);
        for (uint32_t b = 0; b < j->n_rows; b++) {
            float *x = logits + (uint64_t)b * MYTH_HEAD_TILE;
            cpu_head_edit_tile(a, j->row0 + b, x, first, n);
            h->partial[(uint64_t)b * h->n_tile + tile] = reduce_tile(x, n);
            for (uint32_t v = 0; v < n; v++)
                cpu_topk_push(kept + (uint64_t)b * a->k, &part->n_kept[b], a->k, x[v], (int32_t)(first + v));
        }
    }
    cpu_head_finish(h, pool, j->row0, j->n_rows, tid, n_threads);
}

void cpu_ref_head_topk(myth_stream *s, const struct myth_head_topk_args *a)
{
    struct cpu_device *d = cpu_of(s);
    struct job j = {.s = s};
    cpu_head_begin(&j.head, a, d->logits, ROWS, cpu_n_threads(s));
    for (j.row0 = 0; j.row0 < a->n_rows; j.row0 += ROWS) {
        j.n_rows = a->n_rows - j.row0 < ROWS ? a->n_rows - j.row0 : ROWS;
        cpu_pool_run(d->pool, reduce_rows, &j);
    }
}
