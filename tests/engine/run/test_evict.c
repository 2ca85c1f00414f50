/* test_evict.c - evicted rows are missing from the global layers, and nothing else changes.
 *
 * Oracle   an engine with room for every token, which never evicts, with the attention below: plain loops over
 *          every position that skip those marked in a table of flags, on global layers only. So pages, lists,
 *          positions and kernels with a gap are used only by the engines under test. In exact mode and on level ref
 *          every logit must have the same bits. The fast levels sum in another order: with a cache of f32 the
 *          difference is small; caches that round turn a last bit into a step of their type, layer by layer, so
 *          there only the two engines are compared with each other, bit by bit */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"
#include "kernels/cpu/cpu.h"

#include <math.h>

enum { N_SEQ = 4, POS = 400, SYSTEM = 6, BATCH = 64 };

/* ---- the oracle's attention ---- */

static struct {
    bool is_evicted[N_SEQ][POS]; /* by the oracle's slot */
    uint32_t local;              /* positions that a local layer sees */
} mask;

static bool sees(const struct myth_attn_args *a, uint32_t slot, uint32_t pos, uint32_t j)
{
    return a->kv.is_ring ? pos - j < mask.local : !mask.is_evicted[slot][j];
}

static void key_to_f32(float *dst, const struct myth_attn_args *a, const int32_t *run, uint32_t head, uint32_t j,
                       bool is_v)
{
    const struct myth_kv_place *kv = &a->kv;
    const bool folds = !is_v && a->fold.w.buf; /* the key is made from the value */
    is_v = is_v || folds;
    myth_view fresh = is_v ? a->v_new : a->k_new;
    uint64_t bytes = myth_row_bytes(fresh.dtype, a->head_dim),
             skip = is_v && a->k_new.buf ? myth_row_bytes(a->k_new.dtype, a->head_dim) : 0;
    const unsigned char *row;
    if (j >= (uint32_t)run[MYTH_RUN_POS0]) {
        uint32_t r = (uint32_t)run[MYTH_RUN_ROW0] + j - (uint32_t)run[MYTH_RUN_POS0];
        row = (unsigned char *)myth_buf_host(fresh.buf) + fresh.off + ((uint64_t)head * a->cap_rows + r) * bytes;
    } else {
        const int32_t *table = (int32_t *)(void *)((unsigned char *)myth_buf_host(kv->table.buf) + kv->table.off);
        uint64_t entry = (uint64_t)run[MYTH_RUN_SLOT] * kv->n_entry + (kv->is_ring ? 0 : j / kv->page_tok);
        row = (unsigned char *)myth_buf_host(kv->pool.buf) + kv->pool.off +
              (uint64_t)table[2 * entry] * kv->page_bytes + kv->layer_off +
              (uint64_t)a->n_head_kv * kv->page_tok * skip + ((uint64_t)head * kv->page_tok + j % kv->page_tok) * bytes;
    }
    cpu_row_to_f32(dst, row, fresh.dtype, a->head_dim);
    if (folds)
        cpu_fold_key(dst, &a->fold, j, a->head_dim);
}

/* Sums in the reference's order: blocks of 64 positions, each rescaled to the largest score so far. */
static void attend(const struct myth_attn_args *a, uint32_t r, uint32_t h)
{
    enum { BLOCK = 64 };
    float row[64], score[BLOCK], most = -INFINITY, total = 0.0f;
    const int32_t *runs = (int32_t *)(void *)((unsigned char *)myth_buf_host(a->runs.buf) + a->runs.off);
    const int32_t *row_run = (int32_t *)(void *)((unsigned char *)myth_buf_host(a->row_run.buf) + a->row_run.off);
    const int32_t *run = runs + row_run[r] * MYTH_RUN_WIDTH;
    uint32_t pos = (uint32_t)run[MYTH_RUN_POS0] + r - (uint32_t)run[MYTH_RUN_ROW0], slot = (uint32_t)run[MYTH_RUN_SLOT],
             hd = a->head_dim;
    uint32_t kv = h / (a->n_head / a->n_head_kv);
    const float *q =
        (float *)(void *)((unsigned char *)myth_buf_host(a->q.buf) + a->q.off) + ((size_t)r * a->n_head + h) * hd;
    float *o =
        (float *)(void *)((unsigned char *)myth_buf_host(a->o.buf) + a->o.off) + ((size_t)r * a->n_head + h) * hd;
    assert_true(hd <= 64 && pos < POS);
    memset(o, 0, hd * sizeof(float));
    for (uint32_t start = 0; start <= pos; start += BLOCK) {
        uint32_t n = 0;
        float before = most;
        for (uint32_t j = start; j < start + BLOCK && j <= pos; j++) {
            if (!sees(a, slot, pos, j))
                continue;
            float dot = 0.0f;
            key_to_f32(row, a, run, kv, j, false);
            for (uint32_t i = 0; i < hd; i++)
                dot += q[i] * row[i];
            score[j - start] = a->softcap > 0.0f ? a->softcap * tanhf(dot / a->softcap) : dot;
            most = fmaxf(most, score[j - start]);
            n++;
        }
        if (n == 0)
            continue;
        float fade = expf(before - most);
        total *= fade;
        for (uint32_t i = 0; i < hd; i++)
            o[i] *= fade;
        for (uint32_t j = start; j < start + BLOCK && j <= pos; j++) {
            if (!sees(a, slot, pos, j))
                continue;
            float weight = expf(score[j - start] - most);
            total += weight;
            key_to_f32(row, a, run, kv, j, true);
            for (uint32_t i = 0; i < hd; i++)
                o[i] += weight * row[i];
        }
    }
    for (uint32_t i = 0; i < hd; i++)
        o[i] /= total;
}

static void masked_attention(myth_stream *s, const struct myth_attn_args *a)
{
    (void)s;
    for (uint32_t i = 0; i < a->n_rows * a->n_head; i++)
        attend(a, i / a->n_head, i % a->n_head);
}

/* ---- three engines: two that evict, of different pages, micro-batches and threads, and the oracle ---- */

enum { FIRST, SECOND, MASKED, N_ENGINE };

typedef struct {
    const char *model;
    const char *level; /* NULL = exact mode */
    myth_dtype k, v;
} combo;

typedef struct {
    const combo *c;
    uint64_t *rng;
    rig r[N_ENGINE];
    rows got[N_ENGINE];
    myth_seq *s[N_ENGINE][N_SEQ];
    uint32_t n_seq, most_gaps;
    float worst;
} world;

static void open_on(rig *r, const char *model, const myth_engine_opts *o)
{
    char path[1024], rest[128];
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", model);
    rig_open(r, strchr(model, ':') ? model : check_path(path, sizeof(path), rest), o);
}

static void open_world(world *d, const combo *c, uint32_t n_ctx, uint64_t *rng)
{
    *d = (world){.c = c, .rng = rng};
    for (int i = 0; i < N_ENGINE; i++) {
        myth_engine_opts o = {
            .device = "cpu",
            .n_threads = i == SECOND ? 2 : 1,
            .cpu_level = c->level,
            .is_exact = c->level == NULL,
            .n_ctx = i == MASKED ? POS : n_ctx,
            .n_seq = N_SEQ,
            .n_checkpoint = 1,
            .n_ubatch = i == FIRST ? 1 + check_below(rng, 40) : BATCH,
            .want_full_logits = true,
            .has_cache_type = true,
            .type_k = c->k,
            .type_v = c->v,
            .page_tok = i == MASKED ? 32 : 1 + check_below(rng, n_ctx < 24 ? n_ctx : 24),
        };
        open_on(&d->r[i], c->model, &o);
        rows_open(&d->got[i], &d->r[i], N_SEQ * BATCH, false);
    }
    myth_device *dev = d->r[MASKED].engine->part->dev;
    dev->ops.attn_prefill = dev->plain_attn_decode = masked_attention;
    dev->ops.attn_decode = myth_compose_attn_decode;
    memset(&mask, 0, sizeof(mask));
    mask.local = d->r[FIRST].engine->layout.ring_tok;
}

static void close_world(world *d)
{
    for (int i = 0; i < N_ENGINE; i++) {
        for (uint32_t k = 0; k < d->n_seq; k++)
            myth_seq_close(d->s[i][k]);
        rows_close(&d->got[i]);
        rig_close(&d->r[i]);
    }
}

static uint32_t oracle_slot(const world *d, uint32_t k) { return d->s[MASKED][k]->slot; }

/* n[k] tokens more for each sequence: together in the first engine, in chunks in the second, at once in the oracle. */
static void feed(world *d, const uint32_t *n, bool is_decode)
{
    int32_t ids[N_SEQ * BATCH];
    uint8_t want[N_SEQ * BATCH];
    myth_seq *seq[N_SEQ * BATCH];
    uint32_t all = 0, at = 0;
    for (uint32_t k = 0; k < d->n_seq; k++)
        for (uint32_t i = 0; i < n[k]; i++, all++) {
            ids[all] = (int32_t)check_below(d->rng, d->got[0].n_vocab);
            want[all] = MYTH_WANT_FULL_LOGITS;
            seq[all] = d->s[FIRST][k];
        }
    if (all == 0)
        return;
    for (int i = 0; i < N_ENGINE; i++)
        rows_clear(&d->got[i]);
    myth_result out;
    rig_tokens b = {
        .n_tok = all,
        .token = ids,
        .seq = seq,
        .want = want,
        .is_decode = is_decode,
        .on_full_logits = rows_on_logits,
        .user = &d->got[FIRST],
    };
    assert_ok(rig_forward(d->r[FIRST].engine, &b, &out, &rig_err));
    for (uint32_t k = 0; k < d->n_seq; at += n[k], k++) {
        for (int i = SECOND; i < N_ENGINE; i++) {
            d->got[i].base = at;
            if (is_decode && n[k])
                rig_decode(&d->r[i], d->s[i][k], ids[at], &d->got[i]);
            else
                rig_feed(&d->r[i], d->s[i][k], ids + at, n[k], i == SECOND ? 1 + check_below(d->rng, 9) : 0,
                         &d->got[i]);
        }
        assert_int_equal(myth_seq_pos(d->s[FIRST][k]), myth_seq_len(d->s[MASKED][k]));
        assert_int_equal(myth_seq_pos(d->s[SECOND][k]), myth_seq_len(d->s[MASKED][k]));
    }
    size_t count = (size_t)all * d->got[0].n_vocab;
    char label[128];
    snprintf(label, sizeof(label), "%s %s %s/%s, %u rows", d->c->model, d->c->level ? d->c->level : "exact",
             myth_dtype_get(d->c->k)->name, myth_dtype_get(d->c->v)->name, all);
    assert_same_bits(d->got[FIRST].logits, d->got[SECOND].logits, count, label);
    bool is_f32 = d->c->k == MYTH_F32 && d->c->v == MYTH_F32;
    if (d->c->level == NULL || strcmp(d->c->level, "ref") == 0) {
        assert_same_bits(d->got[FIRST].logits, d->got[MASKED].logits, count, label);
    } else {
        float apart = share_apart(d->got[FIRST].logits, d->got[MASKED].logits, count);
        d->worst = fmaxf(d->worst, apart);
        if (is_f32 && !(apart <= 1e-4f))
            fail_msg("%s: %g from the masked reference", label, (double)apart);
    }
}

/* Of positions p, which are held, in order; returns how many. */
static uint32_t held(const world *d, uint32_t k, uint32_t *pos)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < myth_seq_len(d->s[MASKED][k]); p++)
        if (!mask.is_evicted[oracle_slot(d, k)][p])
            pos[n++] = p;
    return n;
}

static void check_lists(const world *d)
{
    for (uint32_t k = 0; k < d->n_seq; k++) {
        uint32_t pos[POS], n = held(d, k, pos);
        for (int i = FIRST; i < MASKED; i++) {
            assert_int_equal(myth_seq_len(d->s[i][k]), n);
            for (uint32_t j = 0; j < n; j++)
                assert_int_equal(myth_seq_tokens(d->s[i][k])[j], myth_seq_tokens(d->s[MASKED][k])[pos[j]]);
        }
    }
}

static uint32_t n_gap(const world *d, uint32_t k)
{
    const bool *gone = mask.is_evicted[oracle_slot(d, k)];
    uint32_t n = 0;
    for (uint32_t p = 0; p < myth_seq_len(d->s[MASKED][k]); p++)
        n += gone[p] && (p == 0 || !gone[p - 1]);
    return n;
}

/* Sequence 0 keeps its first SYSTEM tokens, where its checkpoint is. */
static void evict(world *d, uint32_t k)
{
    uint32_t pos[POS], n = held(d, k, pos), least = k ? 0 : SYSTEM;
    if (n <= least)
        return;
    const uint32_t from = least + check_below(d->rng, n - least), left = n - from,
                   most = check_below(d->rng, 4) && left > 6 ? 6 : left, count = check_below(d->rng, most + 1);
    bool *gone = mask.is_evicted[oracle_slot(d, k)];
    for (uint32_t j = from; j < from + count; j++)
        gone[pos[j]] = true;
    const bool is_full = n_gap(d, k) > MYTH_GAP_MAX;
    for (int i = FIRST; i < MASKED; i++)
        assert_int_equal(myth_seq_evict(d->s[i][k], from, count, &rig_err), is_full ? MYTH_EFULL : MYTH_OK);
    for (uint32_t j = from; is_full && j < from + count; j++)
        gone[pos[j]] = false;
    d->most_gaps = d->most_gaps < n_gap(d, k) ? n_gap(d, k) : d->most_gaps;
}

/* To n tokens held: all stand at the same position afterwards, by the ring or at the checkpoint. */
static void truncate_to(world *d, uint32_t k, uint32_t n)
{
    uint32_t pos[POS], len = held(d, k, pos), at = 0, slot = oracle_slot(d, k), end = myth_seq_pos(d->s[FIRST][k]);
    if (n == len && n)
        return; /* nothing to cut, and a gap at the end stays */
    uint32_t to = n == 0 ? 0 : pos[n - 1] + 1;
    for (int i = FIRST; i < MASKED; i++)
        assert_ok(myth_seq_truncate(d->s[i][k], n, &at, &rig_err));
    uint32_t stands = at;
    assert_ok(myth_seq_truncate(d->s[MASKED][k], to, &at, &rig_err));
    if (mask.local < d->r[MASKED].engine->layout.ring_tok &&
        at > myth_seq_pos(d->s[FIRST][k])) /* the oracle's longer ring reaches further */
        assert_ok(myth_seq_truncate(d->s[MASKED][k], myth_seq_pos(d->s[FIRST][k]), &at, &rig_err));
    for (uint32_t p = at; p < end; p++)
        mask.is_evicted[slot][p] = false;
    assert_int_equal(myth_seq_pos(d->s[FIRST][k]), at);
    assert_int_equal(myth_seq_pos(d->s[SECOND][k]), at);
    assert_int_equal(held(d, k, pos), stands);
}

static void save_and_restore(world *d, uint32_t k)
{
    for (int i = FIRST; i < MASKED; i++) {
        uint64_t bytes = myth_seq_save_bytes(d->s[i][k]);
        unsigned char *p = malloc(bytes);
        uint32_t room = myth_seq_room(d->s[i][k]), pos = myth_seq_pos(d->s[i][k]);
        assert_non_null(p);
        assert_ok(myth_seq_save(d->s[i][k], p, bytes, &rig_err));
        myth_seq_close(d->s[i][k]);
        d->s[i][k] = rig_seq(&d->r[i]);
        assert_ok(myth_seq_restore(d->s[i][k], p, bytes, &rig_err));
        assert_int_equal(myth_seq_room(d->s[i][k]), room);
        assert_int_equal(myth_seq_pos(d->s[i][k]), pos);
        const myth_seq_use u = myth_seq_used(d->s[i][k]);
        assert_int_equal(u.global_rows, u.global_limit ? myth_seq_len(d->s[i][k]) : 0);
        assert_true(u.local_rows <= u.local_limit && u.local_rows <= pos);
        free(p);
    }
}

static uint32_t room_for(const world *d, uint32_t k)
{
    uint32_t a = myth_seq_room(d->s[FIRST][k]), b = myth_seq_room(d->s[SECOND][k]), c = myth_seq_room(d->s[MASKED][k]);
    a = a < b ? a : b;
    return a < c ? a : c;
}

static void walk(const combo *c, uint32_t n_ctx, uint32_t n_step, uint64_t *rng)
{
    world d;
    uint32_t n[N_SEQ] = {SYSTEM}, n_evict = 0, furthest = 0;
    open_world(&d, c, n_ctx, rng);
    for (d.n_seq = 0; d.n_seq < N_SEQ - 1; d.n_seq++)
        for (int i = 0; i < N_ENGINE; i++)
            d.s[i][d.n_seq] = rig_seq(&d.r[i]);
    n[0] = SYSTEM < n_ctx ? SYSTEM : n_ctx;
    feed(&d, n, false);
    for (int i = 0; i < N_ENGINE; i++)
        assert_ok(myth_seq_checkpoint(d.s[i][0], &rig_err));
    for (uint32_t step = 0; step < n_step; step++) {
        uint32_t op = check_below(rng, 12), k = check_below(rng, d.n_seq), len = myth_seq_len(d.s[FIRST][k]);
        bool is_decode = op < 4;
        if (op < 8) {
            for (uint32_t j = 0; j < d.n_seq; j++) {
                uint32_t room = room_for(&d, j), most = is_decode ? 1 : check_below(rng, 3) ? 5 : BATCH - 1;
                n[j] = is_decode ? room > 0 : check_below(rng, (room < most ? room : most) + 1);
                furthest = furthest < myth_seq_pos(d.s[FIRST][j]) ? myth_seq_pos(d.s[FIRST][j]) : furthest;
            }
            feed(&d, n, is_decode);
        } else if (op < 10) {
            evict(&d, k);
            n_evict++;
        } else if (op < 11) {
            truncate_to(&d, k, len && check_below(rng, 4) ? len - 1 : check_below(rng, len + 1));
        } else if (k) {
            save_and_restore(&d, k);
        }
        if (step == n_step / 3) { /* a fork of what has a gap, and of what has none yet */
            for (int i = 0; i < N_ENGINE; i++)
                assert_ok(myth_seq_fork(&d.s[i][d.n_seq], d.s[i][k], &rig_err));
            d.n_seq++;
            memcpy(mask.is_evicted[oracle_slot(&d, d.n_seq - 1)], mask.is_evicted[oracle_slot(&d, k)],
                   sizeof(mask.is_evicted[0]));
        }
        check_lists(&d);
    }
    if (c->level)
        printf("%s %s %s: %u evictions, %u gaps, positions to %u in a context of %u, at most %.1e from the masked "
               "reference\n",
               c->model, c->level, myth_dtype_get(c->k)->name, n_evict, d.most_gaps, furthest, n_ctx, (double)d.worst);
    close_world(&d);
}

static combo all_combos[512];
static uint32_t n_combo;

static int make_combos(void **state)
{
    (void)state;
    /* f32 weights, so that a last bit of attention stays one: with int8 activations it may move a rounding */
    static const char *const model[] = {"gemma2-old",
                                        "gemma3-layers",
                                        "random:gemma1-tiny:f32",
                                        "random:gemma3-tiny:f32",
                                        "random:gemma3n-tiny:f32",
                                        "random:gemma4-tiny:f32"};
    static const struct {
        myth_dtype k, v;
    } type[] = {{MYTH_F32, MYTH_F32}, {MYTH_F16, MYTH_F16}, {MYTH_Q8_0, MYTH_Q8_0}, {MYTH_BF16, MYTH_Q8_0}};
    const char *level[9] = {NULL};
    uint32_t n_level = 1 + rig_levels(level + 1);
    for (size_t m = 0; m < sizeof(model) / sizeof(model[0]); m++)
        for (uint32_t v = 0; v < n_level; v++)
            for (int t = 0; t < 4; t++)
                all_combos[n_combo++] = (combo){model[m], level[v], type[t].k, type[t].v};
    return 0;
}

static void dropped_rows_equal_masked_ones(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n = check_is_full() ? n_combo : check_sample(12), first = check_below(&rng, n_combo);
    for (uint32_t i = 0; i < n; i++)
        walk(&all_combos[(first + i * 37) % n_combo], 30 + check_below(&rng, 90), check_is_full() ? 250 : 120, &rng);
}

/* Contexts of a few rows: all smaller than the window of 5 to 9, so that rings hold less than a window too. */
static void a_context_below_the_window(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    for (uint32_t n_ctx = 1; n_ctx < 9; n_ctx++)
        for (uint32_t i = 0; i < (check_is_full() ? n_combo : check_sample(3)); i++)
            walk(&all_combos[(n_ctx * 5 + i * 17) % n_combo], n_ctx, 60, &rng);
}

/* ---- what evict does not do ---- */

static void *trap_write, *trap_read; /* set by the traps below when one is called */

static void write_trap(myth_stream *s, myth_view v, const void *p, uint64_t n)
{
    (void)s;
    (void)v;
    (void)p;
    (void)n;
    trap_write = s;
}
static void read_trap(myth_stream *s, void *p, myth_view v, uint64_t n)
{
    (void)s;
    (void)v;
    (void)p;
    (void)n;
    trap_read = s;
}

static unsigned char *copy_of(const myth_buf *b)
{
    unsigned char *p = malloc(myth_buf_bytes(b));
    assert_non_null(p);
    memcpy(p, myth_buf_host(b), myth_buf_bytes(b));
    return p;
}

/* No op, transfer, synchronisation or allocation: the device's table is empty meanwhile and every allocation fails. The
 * cache's bytes stay, and the recorded decode step is replayed after it. */
static void evict_moves_nothing(void **state)
{
    (void)state;
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .n_ctx = 64,
        .n_seq = 2,
        .page_tok = 8,
        .n_ubatch = 64,
    };
    rig r;
    int32_t ids[64];
    uint64_t rng = check_seed();
    open_on(&r, "random:gemma3-tiny:q8_0", &o);
    for (int i = 0; i < 64; i++)
        ids[i] = (int32_t)check_below(&rng, 512);
    myth_seq *s = rig_seq(&r), *fork;
    rig_feed(&r, s, ids, 40, 0, NULL);
    rig_decode(&r, s, ids[40], NULL);
    assert_ok(myth_seq_fork(&fork, s, &rig_err));
    myth_engine *e = r.engine;
    const myth_graph *graph = e->part->graph;
    assert_non_null(graph);

    unsigned char *pages = copy_of(e->part->buf[MYTH_BUF_kv_global]), *rings = copy_of(e->part->buf[MYTH_BUF_kv_local]);
    uint64_t n_alloc = myth_mem_n_alloc(r.mem), live = myth_mem_total(r.mem, MYTH_MEM_HOST).live;
    struct myth_ops ops = e->part->dev->ops;
    const struct myth_device_vtable *vt = e->part->dev->vt, traps = {.write = write_trap, .read = read_trap};
    uint32_t n_free = e->kv.n_free_page;
    memset(&e->part->dev->ops, 0, sizeof(e->part->dev->ops));
    e->part->dev->vt = &traps;
    myth_mem_set_fault(r.mem, &(myth_fault){.fail_nth = 1, .forever = true});
    assert_ok(myth_seq_evict(s, 5, 20, &rig_err));
    assert_ok(myth_seq_evict(s, 2, 10, &rig_err));
    assert_int_equal(e->kv.n_free_page, n_free); /* the fork holds them all */
    assert_ok(myth_seq_evict(fork, 2, 30, &rig_err));
    assert_int_equal(e->kv.n_free_page, n_free + 3); /* positions 8 to 31 */
    myth_mem_set_fault(r.mem, NULL);
    e->part->dev->vt = vt;
    e->part->dev->ops = ops;
    assert_int_equal(e->part->stream->err.code, MYTH_OK);
    assert_true(!trap_write && !trap_read);
    assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);
    assert_int_equal(myth_mem_total(r.mem, MYTH_MEM_HOST).live, live);
    assert_memory_equal(pages, myth_buf_host(e->part->buf[MYTH_BUF_kv_global]),
                        myth_buf_bytes(e->part->buf[MYTH_BUF_kv_global]));
    assert_memory_equal(rings, myth_buf_host(e->part->buf[MYTH_BUF_kv_local]),
                        myth_buf_bytes(e->part->buf[MYTH_BUF_kv_local]));
    rig_decode(&r, s, ids[41], NULL);
    rig_decode(&r, fork, ids[41], NULL);
    assert_ptr_equal(e->part->graph, graph);
    assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);
    free(pages);
    free(rings);
    myth_seq_close(s);
    myth_seq_close(fork);
    rig_close(&r);
}

static void refused_spans_change_nothing(void **state)
{
    (void)state;
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .is_exact = true,
        .n_ctx = 48,
        .page_tok = 4,
        .n_ubatch = 48,
        .n_checkpoint = 2,
    };
    rig r;
    uint32_t at;
    int32_t ids[64];
    open_on(&r, "gemma3-layers", &o);
    for (int32_t i = 0; i < 64; i++)
        ids[i] = 3 + i;
    myth_seq *s = rig_seq(&r);
    assert_ok(myth_seq_evict(s, 0, 0, &rig_err));
    assert_int_equal(myth_seq_evict(s, 0, 1, &rig_err), MYTH_EARG);
    rig_feed(&r, s, ids, 10, 0, NULL);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    rig_feed(&r, s, ids + 10, 30, 0, NULL);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    assert_int_equal(myth_seq_evict(s, 40, 1, &rig_err), MYTH_EARG);
    assert_int_equal(myth_seq_evict(s, 39, UINT32_MAX, &rig_err), MYTH_EARG);
    assert_int_equal(myth_seq_evict(s, UINT32_MAX, 2, &rig_err), MYTH_EARG);
    assert_int_equal(myth_seq_pos(s), 40);
    assert_ok(myth_seq_evict(s, 12, 10, &rig_err)); /* the gap is before token 12 of the list now */
    assert_int_equal(myth_seq_len(s), 30);
    assert_int_equal(myth_seq_pos(s), 40);
    assert_int_equal(myth_seq_tokens(s)[12], ids[22]);
    assert_int_equal(myth_seq_room(s), 48 - 30 - 2); /* the page of 22 holds no 20 and 21 */
    rig_feed(&r, s, ids + 40, 16, 0, NULL);
    assert_int_equal(myth_seq_room(s), 0);
    rig_tokens one = {.n_tok = 1, .token = ids, .seq = &s};
    myth_result out;
    assert_int_equal(rig_forward(r.engine, &one, &out, &rig_err), MYTH_EFULL);
    assert_ok(myth_seq_evict(s, 12, 34, &rig_err)); /* everything after the prefix */
    assert_int_equal(myth_seq_pos(s), 56);
    assert_ok(rig_forward(r.engine, &one, &out, &rig_err));
    assert_ok(myth_seq_truncate(s, 11, &at,
                                &rig_err)); /* before the gap: the checkpoint at 10 is there, the one at 40 is not */
    assert_int_equal(at, 10);
    assert_int_equal(myth_seq_pos(s), 10);
    rig_feed(&r, s, ids + 10, 38, 0, NULL);
    assert_ok(myth_seq_evict(s, 0, 48, &rig_err)); /* nothing is held; positions go on */
    assert_int_equal(myth_seq_len(s), 0);
    assert_int_equal(myth_seq_pos(s), 48);
    rig_feed(&r, s, ids, 3, 0, NULL);
    assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
    assert_int_equal(at + myth_seq_pos(s), 0);
    myth_seq_close(s);
    rig_close(&r);
}

static void a_ninth_gap_is_refused(void **state)
{
    (void)state;
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .is_exact = true,
        .n_ctx = 48,
        .page_tok = 4,
        .n_ubatch = 48,
    };
    rig r;
    int32_t ids[40];
    open_on(&r, "gemma3-layers", &o);
    for (int32_t i = 0; i < 40; i++)
        ids[i] = 3 + i;
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, 40, 0, NULL);
    for (uint32_t i = 0; i < MYTH_GAP_MAX; i++)
        assert_ok(myth_seq_evict(s, 30 - 3 * i, 1, &rig_err)); /* the last of them at position 9 */
    const uint32_t room = myth_seq_room(s);
    assert_int_equal(myth_seq_evict(s, 4, 2, &rig_err), MYTH_EFULL);
    assert_non_null(strstr(rig_err.msg, "at most 8 gaps"));
    assert_int_equal(myth_seq_len(s), 32);
    assert_int_equal(myth_seq_room(s), room);
    assert_int_equal(myth_seq_tokens(s)[4], ids[4]);
    assert_ok(myth_seq_evict(s, 8, 1, &rig_err)); /* touches the one at 9 */
    assert_ok(myth_seq_evict(s, 4, 8, &rig_err)); /* positions 4 to 7, 10 and 11, 13 and 14: the gaps at 8 and 12 too */
    assert_int_equal(myth_seq_tokens(s)[4], ids[16]);
    assert_int_equal(myth_seq_len(s), 23);
    assert_ok(myth_seq_evict(s, 1, 1, &rig_err)); /* there are six now */
    rig_feed(&r, s, ids, 4, 0, NULL);
    myth_seq_close(s);
    rig_close(&r);
}

/* A checkpoint that holds a token which is evicted goes: returning to it would bring the token back. */
static void checkpoints_of_evicted_tokens_go(void **state)
{
    (void)state;
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .is_exact = true,
        .n_ctx = 64,
        .page_tok = 4,
        .n_ubatch = 64,
        .n_checkpoint = 3,
    };
    rig r;
    uint32_t at;
    int32_t ids[64];
    for (int32_t i = 0; i < 64; i++)
        ids[i] = 3 + i;
    open_on(&r, "gemma3-layers", &o);
    myth_seq *s = rig_seq(&r);
    for (uint32_t i = 0; i < 3; i++) { /* at 8, 12 and 16 tokens */
        rig_feed(&r, s, ids + (i ? 4 + 4 * i : 0), i ? 4 : 8, 0, NULL);
        assert_ok(myth_seq_checkpoint(s, &rig_err));
    }
    rig_feed(&r, s, ids + 16, 34, 0, NULL);
    assert_ok(myth_seq_evict(s, 8, 8, &rig_err));
    assert_int_equal(myth_seq_len(s), 42);
    assert_ok(myth_seq_truncate(s, 14, &at, &rig_err)); /* too far back for the rings: to a checkpoint */
    assert_int_equal(at, 8);
    assert_int_equal(myth_seq_pos(s), 8);
    assert_memory_equal(myth_seq_tokens(s), ids, 8 * sizeof(ids[0]));
    myth_seq_close(s);
    rig_close(&r);
}

/* A checkpoint right after a gap holds the tokens before the gap at the position after it. A cut back to the gap closes
 * it, so nothing may come back to that checkpoint: neither the cut itself nor a later one. */
static void a_closed_gap_does_not_come_back(void **state)
{
    (void)state;
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .is_exact = true,
        .want_full_logits = true,
        .n_ctx = 48,
        .page_tok = 4,
        .n_ubatch = 48,
        .n_checkpoint = 2,
    };
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t n_after = k % 2 * 40, /* the ring still reaches back, or it does not                    */
            cut = k < 2 ? 5 : 9;             /* no ring does: before the checkpoint's position, and after it   */
        rig r;
        rows got, want;
        uint32_t at;
        int32_t ids[64];
        open_on(&r, "gemma3-layers", &o);
        rows_open(&got, &r, 42, false);
        rows_open(&want, &r, 42, false);
        for (int32_t i = 0; i < 64; i++)
            ids[i] = 3 + i;
        myth_seq *s = rig_seq(&r);
        rig_feed(&r, s, ids, 42, 0, &want);
        assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));

        rig_feed(&r, s, ids, 2, 0, NULL);
        rig_feed(&r, s, ids + 2, 4, 0, NULL);
        assert_ok(myth_seq_evict(s, 2, 4, &rig_err));
        assert_ok(myth_seq_checkpoint(s, &rig_err)); /* 2 tokens at position 6 */
        rig_feed(&r, s, ids + 6, 1 + n_after, 0, NULL);
        assert_ok(myth_seq_truncate(s, 2, &at, &rig_err));
        assert_int_equal(myth_seq_pos(s), at);
        got.base = at;
        rig_feed(&r, s, ids + at, 42 - at, 0, &got);
        assert_same_bits(got.logits + (size_t)at * got.n_vocab, want.logits + (size_t)at * got.n_vocab,
                         (size_t)(42 - at) * got.n_vocab, "after the gap was closed");
        assert_ok(myth_seq_truncate(s, cut, &at, &rig_err));
        assert_int_equal(myth_seq_pos(s), at);
        got.base = at;
        rig_feed(&r, s, ids + at, 42 - at, 0, &got);
        assert_same_bits(got.logits + (size_t)at * got.n_vocab, want.logits + (size_t)at * got.n_vocab,
                         (size_t)(42 - at) * got.n_vocab, "after a later cut");
        myth_seq_close(s);
        rows_close(&got);
        rows_close(&want);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evict_moves_nothing),
        cmocka_unit_test(a_closed_gap_does_not_come_back),
        cmocka_unit_test(refused_spans_change_nothing),
        cmocka_unit_test(a_ninth_gap_is_refused),
        cmocka_unit_test(checkpoints_of_evicted_tokens_go),
        cmocka_unit_test(dropped_rows_equal_masked_ones),
        cmocka_unit_test(a_context_below_the_window),
    };
    return cmocka_run_group_tests(tests, make_combos, NULL);
}
