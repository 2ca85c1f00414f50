/* rank.c - see rank.h. */
#include "rank.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a kind is worth ---- */

static double kind_factor(uint32_t kinds, const myth_query *q, const myth_weights_search *w)
{
    const double factor[MYTH_KIND_KIND_N] = {
        1,
        q->wants_tests ? 1 : w->test,
        q->wants_examples || q->wants_tests ? 1 : w->example,
        q->wants_vendored ? 1 : w->vendored,
        1, /* generated: to set it back gains nothing on issues and hides the right file of some commits */
        q->wants_docs ? 1 : w->document,
        w->data,
        q->wants_legacy ? 1 : w->legacy,
    };
    double least = 1;
    for (int i = 0; i < MYTH_KIND_KIND_N; i++)
        if ((kinds >> i & 1) && factor[i] < least)
            least = factor[i];
    return least;
}

/* ---- order ---- */

/* qsort passes no context to its comparison, so each entry points to what it needs. */
typedef struct {
    const myth_rank_chunk *chunk;
    const char *path;
    double key;
    uint32_t idx;
} entry;

static int by_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    int c = strcmp(x->path, y->path);
    if (c)
        return c;
    if (x->chunk->line != y->chunk->line)
        return x->chunk->line < y->chunk->line ? -1 : 1;
    return x->chunk->id < y->chunk->id ? -1 : x->chunk->id > y->chunk->id;
}

/* The steps below work on `e`, an entry for each chunk. Each step leaves `e` in the order that the next one needs. */
typedef struct {
    entry *e;
    uint32_t n;
    myth_rank_file *file;
    myth_rank_chunk *chunk;
    const myth_query *q;
    const myth_weights_search *w;
} ranking;

static int by_file_then_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->chunk->file != y->chunk->file)
        return x->chunk->file < y->chunk->file ? -1 : 1;
    return by_key(a, b);
}

/* Computes each file's sum and kind factor. Returns the best product of the two, of which symbol bonuses are a
 * share. */
static double sum_files(ranking *r, uint32_t n_file)
{
    double top = 0;
    for (uint32_t f = 0; f < n_file; f++) {
        r->file[f].sum = 0;
        r->file[f].kind = kind_factor(r->file[f].kinds, r->q, r->w);
    }
    for (uint32_t i = 0; i < r->n; i++)
        r->e[i].key = r->e[i].chunk->match;
    qsort(r->e, r->n, sizeof(*r->e), by_file_then_key);
    double part = 1;
    for (uint32_t i = 0, rank = 0; i < r->n; i++, rank++) {
        myth_rank_file *f = &r->file[r->e[i].chunk->file];
        if (i == 0 || r->e[i].chunk->file != r->e[i - 1].chunk->file) {
            rank = 0;
            part = 1;
        }
        if (rank < r->w->file_chunks)
            f->sum += part * r->e[i].key;
        part *= r->w->file_decay;
        top = f->sum * f->kind > top ? f->sum * f->kind : top;
    }
    return top;
}

static void score_files(ranking *r, uint32_t n_file, double top)
{
    double symbol = r->q->kind == MYTH_QUERY_SYMBOL ? r->w->symbol_query : r->w->symbol;
    for (uint32_t f = 0; f < n_file; f++) {
        myth_rank_file *x = &r->file[f];
        bool is_test = (x->kinds >> MYTH_KIND_TEST & 1) && !r->q->wants_tests;
        x->symbol = is_test ? 0 : symbol * (top > 0 ? top : 1) * x->symbol_share;
        x->stem = is_test ? 0 : top * (r->w->stem * x->stem_share + r->w->scope * x->scope_share);
        x->score = (x->sum + x->symbol + x->stem) * x->kind;
    }
}

/* Scores the chunks of each file, best first; the second and later ones decay. */
static void score_chunks(ranking *r, double top)
{
    double symbol = r->q->kind == MYTH_QUERY_SYMBOL ? r->w->symbol_query : r->w->symbol, best = 0, decay = 1;
    for (uint32_t i = 0; i < r->n; i++)
        r->e[i].key = r->e[i].chunk->match + symbol * (top > 0 ? top : 1) * r->e[i].chunk->symbol_share;
    qsort(r->e, r->n, sizeof(*r->e), by_file_then_key);
    for (uint32_t i = 0; i < r->n; i++) {
        bool is_first = i == 0 || r->e[i].chunk->file != r->e[i - 1].chunk->file;
        myth_rank_chunk *c = &r->chunk[r->e[i].idx];
        best = is_first ? r->e[i].key : best;
        decay = is_first ? 1 : decay * r->w->same_file;
        c->share = best > 0 ? r->e[i].key / best : 0;
        c->decay = decay;
        c->score = r->file[c->file].score * c->share * decay;
    }
}

static int by_content(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->chunk->content != y->chunk->content)
        return x->chunk->content < y->chunk->content ? -1 : 1;
    return by_key(a, b);
}

/* Keeps the best of chunks with equal content. */
static void drop_equal_chunks(ranking *r)
{
    uint32_t n = 0;
    qsort(r->e, r->n, sizeof(*r->e), by_content);
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t content = r->e[i].chunk->content;
        if (content == 0 || n == 0 || r->e[n - 1].chunk->content != content)
            r->e[n++] = r->e[i];
    }
    r->n = n;
    qsort(r->e, r->n, sizeof(*r->e), by_key);
}

/* Keeps the best of files with equal content, with all its chunks. */
static void drop_equal_files(ranking *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t own = r->e[i].chunk->file, first = own;
        for (uint32_t k = 0; k < n && first == own && r->file[own].content; k++)
            if (r->file[r->e[k].chunk->file].content == r->file[own].content)
                first = r->e[k].chunk->file;
        if (first == own)
            r->e[n++] = r->e[i];
    }
    r->n = n;
}

static bool is_test(const ranking *r, const entry *e) { return r->file[e->chunk->file].kinds >> MYTH_KIND_TEST & 1; }

/* Gives the last place of a list without a test to the best test outside of it. */
static void keep_quota(ranking *r, uint32_t k)
{
    if (r->w->test_quota <= 0 || k < r->w->test_quota || r->n <= k)
        return;
    for (uint32_t i = 0; i < k; i++)
        if (is_test(r, &r->e[i]))
            return;
    for (uint32_t i = k; i < r->n; i++)
        if (is_test(r, &r->e[i])) {
            r->e[k - 1] = r->e[i];
            return;
        }
}

myth_status myth_rank(uint32_t *order, uint32_t *n_order, myth_rank_file *file, uint32_t n_file, myth_rank_chunk *chunk,
                      uint32_t n_chunk, const myth_query *q, const myth_weights_search *w, uint32_t k, bool by_file,
                      myth_error *err)
{
    ranking r = {.n = n_chunk, .file = file, .chunk = chunk, .q = q, .w = w};
    *n_order = 0;
    if (n_chunk == 0)
        return MYTH_OK;
    if (!(r.e = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "rank", n_chunk, sizeof(*r.e))))
        return myth_fail(err, MYTH_ENOMEM, "search: no memory to rank %u chunks", n_chunk);
    for (uint32_t i = 0; i < n_chunk; i++)
        r.e[i] = (entry){.chunk = &chunk[i], .path = file[chunk[i].file].path, .idx = i};
    double top = sum_files(&r, n_file);
    score_files(&r, n_file, top);
    score_chunks(&r, top);
    for (uint32_t i = 0; i < r.n; i++)
        r.e[i].key = r.e[i].chunk->score;
    if (by_file) { /* files that share a function are still different files */
        uint32_t n = 0;
        for (uint32_t i = 0; i < r.n; i++)
            if (r.chunk[r.e[i].idx].decay == 1)
                r.e[n++] = r.e[i];
        r.n = n;
        qsort(r.e, r.n, sizeof(*r.e), by_key);
    } else {
        drop_equal_chunks(&r);
    }
    drop_equal_files(&r);
    if (!by_file)
        keep_quota(&r, k);
    for (uint32_t i = 0; i < r.n && i < k; i++)
        order[(*n_order)++] = r.e[i].idx;
    myth_free(q->mem, r.e);
    return MYTH_OK;
}
