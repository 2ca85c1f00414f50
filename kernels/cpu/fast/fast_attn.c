/* fast_attn.c   o[r,h,:] = softmax(mask(cap(q[r,h,:] k[j,:]))) v[j,:], drivers for prefill and decode
 *
 * Prefill    a query tile is some tokens of one run x the heads that share a kv head, at most FAST_ATTN_ROWS rows.
 *            Blocks of keys that any of its rows sees are added to it one after the other. Threads take tiles from a
 *            counter; the tiles with most keys come first
 * Decode     there is one row per run. Its keys are cut into at most CHUNKS parts at positions that depend on the row's
 *            own position and gaps only. Where there are few rows, threads share the parts of a row and join the
 *            results in order afterwards. Where rows suffice to keep all threads busy, one thread computes and joins
 *            all parts of a row: the same operations in the same order
 * Gaps       blocks wholly in one of the run's gaps are skipped, so an evicted part of a sequence costs nothing
 * Bits       blocks are aligned to absolute positions, and masked keys add nothing. So a row's result does not depend
 *            on tiles, chunks, pages or rings
 * Folded     folded keys are made from a block's values, once for each tile and block, and used as f32
 * Work       attn_scratch: for each thread sums [rows][head_dim], scores [rows][block], a panel of keys
 *            [block][head_dim], and as much for folded keys; after these the parts of decode
 * Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018); Dao et al., FlashAttention
 *            (2022) */
#include "fast.h"

#include <math.h>
#include <string.h>

enum { CHUNKS = 16, CHUNK_BLOCKS = 4 }; /* most parts of a decode row; fewest blocks of a part */

struct job {
    struct cpu_device *d;
    const struct fast_kernels *f;
    const struct myth_attn_args *a;
    const int32_t *runs, *row_run, *pos;
    uint32_t group;                         /* heads per kv head                 */
    uint32_t tile_tok, tile_heads, n_split; /* prefill: tokens and heads of a tile, tiles per group of heads */
    uint32_t row0, n_rows;                  /* decode: the rows                  */
    bool is_split;
    float *parts; /* decode: [row][kv_head][CHUNKS][group][head_dim + 2] */
};

/* The scratch of one thread: sums, scores, the panel, and a block of folded keys if the device was reserved for them.
 */
static size_t thread_floats(const myth_work_shape *s)
{
    const size_t block = (size_t)CPU_ATTN_BLOCK * s->head_dim;
    return (size_t)FAST_ATTN_ROWS * s->head_dim + FAST_ATTN_ROWS * CPU_ATTN_BLOCK + block + (s->folds_keys ? block : 0);
}
static size_t part_floats(uint32_t group, uint32_t head_dim) { return (size_t)group * (head_dim + 2); }

/* Room for the parts of twice as many (row, kv head) pairs as threads. */
static size_t parts_floats(const myth_work_shape *s, int n_threads)
{
    uint32_t group = s->n_head_kv ? (s->n_head + s->n_head_kv - 1) / s->n_head_kv : 0;
    return 2 * (size_t)n_threads * CHUNKS * part_floats(group, s->head_dim);
}

size_t fast_attn_bytes(const myth_work_shape *s, int n_threads)
{
    return ((size_t)n_threads * thread_floats(s) + parts_floats(s, n_threads)) * sizeof(float);
}

/* ---- keys ---- */

/* What is needed to find the keys and values of one kv head of one run. [2] is K, V. */
struct keys {
    const struct myth_attn_args *a;
    const unsigned char *fresh[2];  /* the scratch row of position pos0   */
    const unsigned char *cached[2]; /* the head's first row in page 0     */
    size_t row_bytes[2];
    const int32_t *table;
    struct cpu_gaps gaps;
    uint32_t pos0, head;
};

static struct keys find_keys(const struct job *j, const int32_t *run, uint32_t head)
{
    const struct myth_attn_args *a = j->a;
    struct keys k = {.a = a, .pos0 = (uint32_t)run[MYTH_RUN_POS0], .head = head};
    k.table = cpu_i32(a->kv.table) + (size_t)(uint32_t)run[MYTH_RUN_SLOT] * a->kv.n_entry * 2;
    k.gaps = cpu_run_gaps(&a->kv, run);
    const myth_view fresh[2] = {a->k_new, a->v_new};
    uint64_t layer_bytes = 0; /* bytes of K, which come before V */
    for (int i = 0; i < 2; i++) {
        k.row_bytes[i] =
            (size_t)(i == 0 ? cpu_key_bytes(fresh[i], a->head_dim) : myth_row_bytes(fresh[i].dtype, a->head_dim));
        k.fresh[i] = (const unsigned char *)cpu_ptr(fresh[i]) +
                     ((size_t)head * a->cap_rows + (uint32_t)run[MYTH_RUN_ROW0]) * k.row_bytes[i];
        if (a->kv.page_bytes)
            k.cached[i] = (const unsigned char *)cpu_ptr(a->kv.pool) + a->kv.layer_off + layer_bytes +
                          (size_t)head * a->kv.page_tok * k.row_bytes[i];
        layer_bytes = (uint64_t)a->n_head_kv * a->kv.page_tok * k.row_bytes[0];
    }
    return k;
}

/* The evicted positions of the block from position j0, a bit each. */
static uint64_t gone_in_block(struct cpu_gaps g, uint32_t j0)
{
    uint64_t gone = 0;
    for (uint32_t i = 0; i < g.n; i++) {
        const uint32_t from = cpu_gap_at(g, i, MYTH_GAP_FROM), to = cpu_gap_at(g, i, MYTH_GAP_TO);
        if (from < j0 + CPU_ATTN_BLOCK && to > j0)
            gone |= fast_keys(from > j0 ? from - j0 : 0, to - j0 < CPU_ATTN_BLOCK ? to - j0 : CPU_ATTN_BLOCK);
    }
    return gone;
}

/* Makes the folded keys of a block from its values, as f32 [CPU_ATTN_BLOCK][head_dim] at `made`. Evicted rows inside
 * the block have the value of the row before them, so they share its key too; their weight is 0. */
static void make_keys(struct fast_attn_block *b, const struct keys *k, uint32_t j0, const struct fast_kernels *f,
                      float *made)
{
    const struct myth_attn_args *a = k->a;
    for (uint32_t i = 0; i < CPU_ATTN_BLOCK; i++) {
        float *row = made + (size_t)i * a->head_dim;
        b->k[i] = NULL;
        if (b->v[i] && i > 0 && b->v[i] == b->v[i - 1]) {
            b->k[i] = b->k[i - 1];
        } else if (b->v[i]) {
            f->row_to_f32(row, b->v[i], a->v_new.dtype, a->head_dim, 1.0f);
            cpu_fold_key(row, &a->fold, j0 + i, a->head_dim);
            b->k[i] = (const unsigned char *)row;
        }
    }
    b->k_type = MYTH_F32;
}

/* Fills in the block from position j0: pointers for positions [from, to), NULL for the others. */
static void fill_block(struct fast_attn_block *b, const struct keys *k, uint32_t j0, uint32_t from, uint32_t to)
{
    const struct myth_kv_place *kv = &k->a->kv;
    b->j0 = (int32_t)j0;
    b->gone = gone_in_block(k->gaps, j0);
    b->k_type = k->a->k_new.dtype;
    b->v_type = k->a->v_new.dtype;
    for (uint32_t i = 0; i < CPU_ATTN_BLOCK; i++) {
        uint32_t p = j0 + i;
        if (p < from || p >= to) {
            b->k[i] = b->v[i] = NULL;
        } else if (b->gone >> i & 1) {
            const bool is_between = i > 0 && ~(b->gone | fast_keys(0, i)); /* keys follow in the block */
            b->k[i] = is_between ? b->k[i - 1] : NULL;
            b->v[i] = is_between ? b->v[i - 1] : NULL;
        } else if (p >= k->pos0) {
            b->k[i] = k->fresh[0] + (size_t)(p - k->pos0) * k->row_bytes[0];
            b->v[i] = k->fresh[1] + (size_t)(p - k->pos0) * k->row_bytes[1];
        } else {
            uint32_t entry = kv->is_ring ? 0 : p / kv->page_tok - cpu_gone_pages(k->gaps, p);
            size_t page = (size_t)(uint32_t)k->table[(size_t)entry * 2] * kv->page_bytes, row = p % kv->page_tok;
            b->k[i] = k->cached[0] + page + row * k->row_bytes[0];
            b->v[i] = k->cached[1] + page + row * k->row_bytes[1];
        }
    }
}

static void begin_tile(struct fast_attn_tile *t, const struct job *j, int tid)
{
    const uint32_t hd = j->a->head_dim;
    float *base = (float *)(void *)j->d->attn_scratch + (size_t)tid * thread_floats(&j->d->base.shape);
    t->head_dim = hd;
    t->softcap = j->a->softcap;
    t->o = base;
    t->s = t->o + (size_t)FAST_ATTN_ROWS * hd;
    t->panel = t->s + FAST_ATTN_ROWS * CPU_ATTN_BLOCK;
    t->keys = t->panel + (size_t)CPU_ATTN_BLOCK * hd; /* only there when the shape has folds_keys */
}

static void clear_tile(struct fast_attn_tile *t)
{
    memset(t->o, 0, (size_t)t->n_q * t->head_dim * sizeof(float));
    for (uint32_t i = 0; i < t->n_q; i++) {
        t->m[i] = -INFINITY;
        t->l[i] = 0.0f;
    }
}

static uint32_t first_key(const struct job *j, uint32_t pos)
{
    return j->a->window && pos + 1 > j->a->window ? pos + 1 - j->a->window : 0;
}

static const int32_t *run_of(const struct job *j, uint32_t row)
{
    return j->runs + (size_t)(uint32_t)j->row_run[row] * MYTH_RUN_WIDTH;
}

/* Sets the positions that row i of the tile sees. It is row `row` of the step. */
static void see(const struct job *j, struct fast_attn_tile *t, uint32_t i, uint32_t row)
{
    t->first[i] = (int32_t)first_key(j, (uint32_t)j->pos[row]);
    t->last[i] = (int32_t)cpu_run_last(run_of(j, row), (uint32_t)j->pos[row], j->a->n_after);
}

/* ---- prefill ---- */

static void prefill_tile(const struct job *j, struct fast_attn_tile *t, const int32_t *run, uint32_t row,
                         uint32_t n_tok, uint32_t head_kv, uint32_t head, uint32_t n_head)
{
    const struct myth_attn_args *a = j->a;
    const size_t hd = a->head_dim;
    t->n_q = 0;
    for (uint32_t i = 0; i < n_tok; i++)
        for (uint32_t h = 0; h < n_head; h++, t->n_q++) {
            t->q[t->n_q] = cpu_f32(a->q) + ((size_t)(row + i) * a->n_head + head + h) * hd;
            see(j, t, t->n_q, row + i);
        }
    clear_tile(t);
    const struct keys k = find_keys(j, run, head_kv);
    const uint32_t from = first_key(j, (uint32_t)j->pos[row]),
                   to = cpu_run_last(run, (uint32_t)j->pos[row + n_tok - 1], a->n_after) + 1;
    const uint32_t first = from / CPU_ATTN_BLOCK, n_block = cpu_n_blocks(k.gaps, first, (to - 1) / CPU_ATTN_BLOCK);
    struct fast_attn_block b;
    for (uint32_t block = 0; block < n_block; block++) {
        const uint32_t j0 = cpu_block_at(k.gaps, first, block) * CPU_ATTN_BLOCK;
        fill_block(&b, &k, j0, from, to);
        if (a->fold.w.buf)
            make_keys(&b, &k, j0, j->f, t->keys);
        j->f->attn_block(t, &b);
    }
    float *o = cpu_f32(a->o);
    for (uint32_t i = 0; i < t->n_q; i++)
        j->f->blend(t->o + i * hd, t->o + i * hd, 0.0f, 1.0f / t->l[i], a->head_dim);
    for (uint32_t i = 0; i < n_tok; i++)
        memcpy(o + ((size_t)(row + i) * a->n_head + head) * hd, t->o + (size_t)i * n_head * hd,
               n_head * hd * sizeof(float));
}

static void prefill_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_attn_args *a = j->a;
    struct fast_attn_tile t;
    (void)n_threads;
    begin_tile(&t, j, tid);
    /* Goes through the runs from the last to the first. The present run has the rows [row0, end) and the items from
     * `at` on. */
    uint32_t end = a->n_rows, row0 = end, at = 0;
    for (uint32_t item = cpu_pool_take(j->d->pool, 1); end > 0;) {
        while (row0 > 0 && (row0 == end || j->row_run[row0 - 1] == j->row_run[end - 1]))
            row0--;
        const int32_t *run = j->runs + (size_t)(uint32_t)j->row_run[end - 1] * MYTH_RUN_WIDTH;
        const uint32_t n_tile = (end - row0 + j->tile_tok - 1) / j->tile_tok, per_tile = a->n_head_kv * j->n_split;
        if (item >= at + n_tile * per_tile) {
            at += n_tile * per_tile;
            end = row0;
            continue;
        }
        const uint32_t tile = n_tile - 1 - (item - at) / per_tile, part = (item - at) % per_tile,
                       kv = part / j->n_split, split = part % j->n_split;
        const uint32_t row = row0 + tile * j->tile_tok, n_tok = end - row < j->tile_tok ? end - row : j->tile_tok;
        const uint32_t h0 = split * j->tile_heads,
                       n_head = j->group - h0 < j->tile_heads ? j->group - h0 : j->tile_heads;
        prefill_tile(j, &t, run, row, n_tok, kv, kv * j->group + h0, n_head);
        item = cpu_pool_take(j->d->pool, 1);
    }
}

static struct job begin(myth_stream *s, const struct myth_attn_args *a, const struct fast_kernels *f)
{
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .a = a,
        .runs = cpu_i32(a->runs),
        .row_run = cpu_i32(a->row_run),
        .pos = cpu_i32(a->pos),
        .group = a->n_head / a->n_head_kv,
    };
    j.tile_heads = j.group < FAST_ATTN_ROWS ? j.group : FAST_ATTN_ROWS;
    j.n_split = (j.group + j.tile_heads - 1) / j.tile_heads;
    j.tile_tok = FAST_ATTN_ROWS / j.tile_heads;
    return j;
}

void fast_attn_prefill(myth_stream *s, const struct myth_attn_prefill_args *a, const struct fast_kernels *f)
{
    struct job j = begin(s, a, f);
    cpu_pool_run(j.d->pool, prefill_task, &j);
}

/* ---- decode ---- */

/* How the keys of a decode row are cut: into n_chunk parts of len blocks each. The row has n blocks, starting with
 * block `first`, without those wholly in a gap. */
struct cut {
    uint32_t n, first, len, n_chunk;
};

static struct cut cut_row(const struct job *j, uint32_t row)
{
    const uint32_t pos = (uint32_t)j->pos[row];
    struct cut c = {.first = first_key(j, pos) / CPU_ATTN_BLOCK};
    c.n = cpu_n_blocks(cpu_run_gaps(&j->a->kv, run_of(j, row)), c.first, pos / CPU_ATTN_BLOCK);
    c.len = (c.n + CHUNKS - 1) / CHUNKS;
    c.len = c.len < CHUNK_BLOCKS ? CHUNK_BLOCKS : c.len;
    c.n_chunk = (c.n + c.len - 1) / c.len;
    return c;
}

/* Adds part `part` of the row's keys to the tile, after clearing it. */
static void decode_part(const struct job *j, struct fast_attn_tile *t, uint32_t row, uint32_t head_kv, uint32_t part)
{
    const uint32_t pos = (uint32_t)j->pos[row], from = first_key(j, pos);
    const struct cut c = cut_row(j, row);
    clear_tile(t);
    const struct keys k = find_keys(j, run_of(j, row), head_kv);
    struct fast_attn_block b;
    for (uint32_t i = part * c.len; i < (part + 1) * c.len && i < c.n; i++) {
        const uint32_t j0 = cpu_block_at(k.gaps, c.first, i) * CPU_ATTN_BLOCK;
        fill_block(&b, &k, j0, from, pos + 1);
        if (j->a->fold.w.buf)
            make_keys(&b, &k, j0, j->f, t->keys);
        j->f->attn_block_few(t, &b);
    }
}

static void aim(const struct job *j, struct fast_attn_tile *t, uint32_t row, uint32_t head, uint32_t n)
{
    t->n_q = n;
    for (uint32_t i = 0; i < n; i++) {
        t->q[i] = cpu_f32(j->a->q) + ((size_t)row * j->a->n_head + head + i) * j->a->head_dim;
        see(j, t, i, row);
    }
}

struct state { /* the result of one head of a row after some of the parts */
    float *o, m, l;
};

static void fold(const struct job *j, struct state *s, const float *o, float m, float l, bool is_first)
{
    const uint32_t hd = j->a->head_dim;
    if (is_first) {
        memcpy(s->o, o, hd * sizeof(float));
        s->m = m;
        s->l = l;
        return;
    }
    float most = fmaxf(s->m, m), x = expf(s->m - most), y = expf(m - most);
    j->f->blend(s->o, o, x, y, hd);
    s->l = s->l * x + l * y;
    s->m = most;
}

static void decode_whole(const struct job *j, struct fast_attn_tile *t, uint32_t row, uint32_t head_kv)
{
    const struct myth_attn_args *a = j->a;
    const size_t hd = a->head_dim;
    const uint32_t n_chunk = cut_row(j, row).n_chunk;
    for (uint32_t h0 = 0; h0 < j->group; h0 += j->tile_heads) {
        const uint32_t head = head_kv * j->group + h0,
                       n = j->group - h0 < j->tile_heads ? j->group - h0 : j->tile_heads;
        struct state s[FAST_ATTN_ROWS];
        aim(j, t, row, head, n);
        for (uint32_t c = 0; c < n_chunk; c++) {
            decode_part(j, t, row, head_kv, c);
            for (uint32_t i = 0; i < n; i++) {
                s[i].o = cpu_f32(a->o) + ((size_t)row * a->n_head + head + i) * hd;
                fold(j, &s[i], t->o + i * hd, t->m[i], t->l[i], c == 0);
            }
        }
        for (uint32_t i = 0; i < n; i++)
            j->f->blend(s[i].o, s[i].o, 0.0f, 1.0f / s[i].l, a->head_dim);
    }
}

static float *part_of(const struct job *j, uint32_t pair, uint32_t c)
{
    return j->parts + ((size_t)pair * CHUNKS + c) * part_floats(j->group, j->a->head_dim);
}

static void decode_split(const struct job *j, struct fast_attn_tile *t, uint32_t pair, uint32_t c)
{
    const size_t hd = j->a->head_dim;
    const uint32_t row = j->row0 + pair / j->a->n_head_kv, kv = pair % j->a->n_head_kv;
    float *part = part_of(j, pair, c);
    aim(j, t, row, kv * j->group, j->group);
    decode_part(j, t, row, kv, c);
    memcpy(part, t->o, j->group * hd * sizeof(float));
    memcpy(part + j->group * hd, t->m, j->group * sizeof(float));
    memcpy(part + j->group * (hd + 1), t->l, j->group * sizeof(float));
}

static void join(const struct job *j, uint32_t pair)
{
    const struct myth_attn_args *a = j->a;
    const size_t hd = a->head_dim;
    const uint32_t row = j->row0 + pair / a->n_head_kv, kv = pair % a->n_head_kv;
    const uint32_t n_chunk = cut_row(j, row).n_chunk;
    for (uint32_t h = 0; h < j->group; h++) {
        struct state s = {.o = cpu_f32(a->o) + ((size_t)row * a->n_head + kv * j->group + h) * hd};
        for (uint32_t c = 0; c < n_chunk; c++) {
            const float *part = part_of(j, pair, c);
            fold(j, &s, part + h * hd, part[j->group * hd + h], part[j->group * (hd + 1) + h], c == 0);
        }
        j->f->blend(s.o, s.o, 0.0f, 1.0f / s.l, a->head_dim);
    }
}

static void decode_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_attn_args *a = j->a;
    const uint32_t n_pair = j->n_rows * a->n_head_kv;
    struct fast_attn_tile t;
    begin_tile(&t, j, tid);
    if (!j->is_split) {
        for (uint32_t i; (i = cpu_pool_take(j->d->pool, 1)) < n_pair;)
            decode_whole(j, &t, j->row0 + i / a->n_head_kv, i % a->n_head_kv);
        return;
    }
    uint32_t pair = 0, at = 0; /* the present pair (row, kv head), and its first item */
    for (uint32_t item = cpu_pool_take(j->d->pool, 1); pair < n_pair;) {
        const uint32_t n_chunk = cut_row(j, j->row0 + pair / a->n_head_kv).n_chunk;
        if (item >= at + n_chunk) {
            at += n_chunk;
            pair++;
            continue;
        }
        decode_split(j, &t, pair, item - at);
        item = cpu_pool_take(j->d->pool, 1);
    }
    cpu_pool_barrier(j->d->pool);
    uint64_t from, to;
    cpu_split(n_pair, 1, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++)
        join(j, (uint32_t)i);
}

void fast_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a, const struct fast_kernels *f)
{
    struct job j = begin(s, a, f);
    const myth_work_shape *shape = &s->dev->shape;
    const int n_threads = cpu_n_threads(s);
    const size_t fit = parts_floats(shape, n_threads) / (CHUNKS * part_floats(j.group, a->head_dim));
    const uint32_t n_pair = a->n_rows * a->n_head_kv;
    j.parts = (float *)(void *)j.d->attn_scratch + (size_t)n_threads * thread_floats(shape);
    j.n_rows = a->n_rows;
    j.is_split = n_threads > 1 && n_pair < 2 * (uint32_t)n_threads && n_pair <= fit && j.group <= FAST_ATTN_ROWS;
    if (n_pair == 1 && cut_row(&j, 0).n_chunk == 1) { /* too short to be worth waking a thread */
        struct fast_attn_tile t;
        begin_tile(&t, &j, 0);
        decode_whole(&j, &t, 0, 0);
        return;
    }
    cpu_pool_run(j.d->pool, decode_task, &j);
}
