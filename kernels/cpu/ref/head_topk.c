/* head_topk.c   per row: the k best logits, log-sum-exp and entropy over the allowed ids, and asked logits; W x is
 * never kept whole
 *
 * Order      tiles of MYTH_HEAD_TILE vocabulary rows with fixed borders; a tile gives (max m, S = sum e^(x-m), T = sum
 *            e^(x-m) (x-m)); tiles are combined in index order; lse = m + log S, entropy = log S - T / S
 * Precision  logits as proj, the sums in double
 * Threads    take tiles from a counter, each with its own heap of k per row; the heaps are sorted, then merged row by
 *            row
 * Work       rows in blocks of ROWS: per thread [ROWS][tile] logits and [ROWS][k] candidates, [ROWS][n_tile] partials
 */
#include "ref.h"
#include "head_stats.h"
#include "topk.h"

#include <string.h>

enum { ROWS = 8 };

struct thread_part {
    uint32_t n_kept[ROWS], n_merged[ROWS];
};

struct job {
    myth_stream *s;
    const struct myth_head_topk_args *a;
    uint32_t row0, n_rows, n_tile;
    /* parts of the workspace */
    struct cpu_head_stats *partial; /* [ROWS][n_tile]       */
    struct thread_part *part;       /* [n_threads]          */
    cpu_candidate *kept;            /* [n_threads][ROWS][k] */
    float *logits;                  /* [n_threads][ROWS][MYTH_HEAD_TILE] */
};

static uint32_t count_tiles(uint32_t n_vocab) { return n_vocab / MYTH_HEAD_TILE + (n_vocab % MYTH_HEAD_TILE != 0); }

/* Cuts the workspace at base into the parts of the job; returns the bytes used. base NULL measures. */
static uint64_t lay_out(struct job *j, unsigned char *base, uint32_t n_tile, uint32_t k, int n_threads)
{
    uint64_t n = (uint64_t)n_threads, partial = 0, part, kept, logits, end;
    part = partial + myth_arena_cost((size_t)ROWS * n_tile * sizeof(struct cpu_head_stats));
    kept = part + myth_arena_cost((size_t)n * sizeof(struct thread_part));
    logits = kept + myth_arena_cost((size_t)(n * ROWS * k * sizeof(cpu_candidate)));
    end = logits + n * ROWS * MYTH_HEAD_TILE * sizeof(float);
    if (base) {
        j->partial = (struct cpu_head_stats *)(void *)(base + partial);
        j->part = (struct thread_part *)(void *)(base + part);
        j->kept = (cpu_candidate *)(void *)(base + kept);
        j->logits = (float *)(void *)(base + logits);
    }
    return end;
}

uint64_t ref_head_bytes(const myth_work_shape *shape, int n_threads)
{
    return shape->n_logit_rows ? lay_out(NULL, NULL, count_tiles(shape->n_vocab), shape->top_k, n_threads) : 0;
}

/* logits[b][v] = cap(W[first + v] x[row0 + b]) */
static void project_tile(const struct job *j, float *logits, uint32_t first, uint32_t n, int tid)
{
    const struct myth_head_topk_args *a = j->a;
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
        const int32_t *mask = cpu_i32(a->masks) + (uint64_t)mask_idx[row] * n_word;
        for (uint32_t v = 0; v < n; v++)
            if (!((uint32_t)mask[(first + v) / 32] >> ((first + v) % 32) & 1))
                x[v] = -INFINITY;
    }
}

static struct cpu_head_stats reduce_tile(const float *x, uint32_t n)
{
    struct cpu_head_stats p = {0.0, 0.0, -INFINITY};
    for (uint32_t v = 0; v < n; v++)
        p.most = fmaxf(p.most, x[v]);
    for (uint32_t v = 0; v < n && p.most > -INFINITY; v++) {
        if (x[v] == -INFINITY)
            continue;
        double e = exp((double)x[v] - (double)p.most);
        p.sum += e;
        p.sum_x += e * ((double)x[v] - (double)p.most);
    }
    return p;
}

static void finish_row(const struct job *j, uint32_t b, int n_threads)
{
    const struct myth_head_topk_args *a = j->a;
    uint64_t row = j->row0 + b;
    struct cpu_head_stats all = {0.0, 0.0, -INFINITY};
    for (uint32_t t = 0; t < j->n_tile; t++)
        cpu_head_join(&all, j->partial[(uint64_t)b * j->n_tile + t]);
    cpu_f32(a->lse)[row] = cpu_head_lse(all);
    cpu_f32(a->entropy)[row] = cpu_head_entropy(all);

    for (uint32_t i = 0; i < a->k; i++) {
        int best = -1;
        cpu_candidate c = {-INFINITY, -1};
        for (int t = 0; t < n_threads; t++) {
            const struct thread_part *part = &j->part[t];
            if (part->n_merged[b] == part->n_kept[b])
                continue;
            cpu_candidate head = j->kept[((uint64_t)t * ROWS + b) * a->k + part->n_merged[b]];
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

static void reduce_rows(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_head_topk_args *a = j->a;
    struct cpu_pool *pool = cpu_of(j->s)->pool;
    struct thread_part *part = &j->part[tid];
    cpu_candidate *kept = j->kept + (uint64_t)tid * ROWS * a->k;
    float *logits = j->logits + (uint64_t)tid * ROWS * MYTH_HEAD_TILE;
    memset(part, 0, sizeof(*part));
    for (uint32_t tile; (tile = cpu_pool_take(pool, 1)) < j->n_tile;) {
        uint32_t first = tile * MYTH_HEAD_TILE,
                 n = a->n_vocab - first < MYTH_HEAD_TILE ? a->n_vocab - first : MYTH_HEAD_TILE;
        project_tile(j, logits, first, n, tid);
        for (uint32_t b = 0; b < j->n_rows; b++) {
            float *x = logits + (uint64_t)b * MYTH_HEAD_TILE;
            edit_tile(a, j->row0 + b, x, first, n);
            j->partial[(uint64_t)b * j->n_tile + tile] = reduce_tile(x, n);
            for (uint32_t v = 0; v < n; v++)
                cpu_topk_push(kept + (uint64_t)b * a->k, &part->n_kept[b], a->k, x[v], (int32_t)(first + v));
        }
    }
    for (uint32_t b = 0; b < j->n_rows; b++)
        cpu_topk_sort(kept + (uint64_t)b * a->k, part->n_kept[b]);
    cpu_pool_barrier(pool);
    uint64_t from, to;
    cpu_split(j->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t b = from; b < to; b++)
        finish_row(j, (uint32_t)b, n_threads);
}

void cpu_ref_head_topk(myth_stream *s, const struct myth_head_topk_args *a)
{
    struct cpu_device *d = cpu_of(s);
    struct job j = {.s = s, .a = a, .n_tile = count_tiles(a->n_vocab)};
    lay_out(&j, d->logits, j.n_tile, a->k, cpu_n_threads(s));
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->n_ask; i++)
        cpu_f32(a->ask_logit)[i] = NAN; /* stays for ids outside the vocabulary */
    for (j.row0 = 0; j.row0 < a->n_rows; j.row0 += ROWS) {
        j.n_rows = a->n_rows - j.row0 < ROWS ? a->n_rows - j.row0 : ROWS;
        cpu_pool_run(d->pool, reduce_rows, &j);
    }
}
