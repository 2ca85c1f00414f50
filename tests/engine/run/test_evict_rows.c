/* test_evict_rows.c - after any order of append, evict, fork, truncate, checkpoint, save, restore and close, the cache
 * has the right rows in the right places.
 *
 * Oracle   for each sequence and checkpoint the whole history of its positions, with a flag for each that was evicted,
 *          and the rules of engine.h in plain loops
 * Model    a small model without arithmetic. The op that makes keys writes (token id, position) instead; ops that move
 *          rows do so; all others are empty. So the contents of pages and rings tell whose row it is, and a step is
 * fast
 * Checked  lists, positions, the rows of pages and rings on the device through its own table, reference counts, that
 *          room which was promised can be used, and that refused calls change nothing */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"
#include "kernels/device_impl.h"

enum { N_SEQ = 3, N_CHECKPOINT = 2, HISTORY = 2048 };

typedef struct {
    uint32_t n_pos, n_high;
    int16_t id[HISTORY];
    bool is_gone[HISTORY]; /* evicted */
} history;

typedef struct {
    rig r;
    myth_engine *e;
    myth_seq *s[N_SEQ]; /* NULL = closed */
    history h[N_SEQ], mark[N_CHECKPOINT];
    int owner[N_CHECKPOINT]; /* -1 = free     */
    uint32_t most_gaps;
    uint64_t *rng, n_evict, n_refused, n_row;
} world;

/* ---- a model without arithmetic ---- */

static const myth_engine *under_test;

#define OP(name)                                                              \
    static void no_##name(myth_stream *s, const struct myth_##name##_args *a) \
    {                                                                         \
        (void)s;                                                              \
        (void)a;                                                              \
    }
#include "kernels/ops.def"
#undef OP

static void stamp_keys(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a)
{
    (void)s;
    for (uint32_t r = 0; r < a->n_rows; r++)
        for (uint32_t i = 0; i < 2; i++) {
            myth_view v = i ? a->v_new : a->k_new;
            for (uint32_t head = 0; head < a->n_head_kv; head++) {
                float *row = (float *)(void *)((unsigned char *)myth_buf_host(v.buf) + v.off);
                row += ((size_t)head * a->cap_rows + r) * a->head_dim;
                row[0] = (float)under_test->idx.id[r];
                row[1] = (float)under_test->idx.pos[r];
                row[2] = (float)(2 * head + i);
            }
        }
}

static void strip(myth_engine *e)
{
    struct myth_ops *ops = &e->part->dev->ops, had = *ops;
#define OP(name) ops->name = no_##name;
#include "kernels/ops.def"
#undef OP
    ops->copy = had.copy;
    ops->kv_merge = had.kv_merge;
    ops->norm_qkv_rope_store = stamp_keys;
    ops->attn_decode = myth_compose_attn_decode;
    e->part->dev->plain_attn_decode = no_attn_decode;
    under_test = e;
}

/* ---- the oracle's view of a holder ---- */

static uint32_t held(const history *h, uint32_t *pos)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < h->n_pos; p++)
        if (!h->is_gone[p])
            pos[n++] = p;
    return n;
}

static uint32_t n_gap(const history *h)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < h->n_pos; p++)
        n += h->is_gone[p] && (p == 0 || !h->is_gone[p - 1]);
    return n;
}

/* Pages that hold at least one row of h, in order. */
static uint32_t pages_of(const history *h, uint32_t page_tok, uint32_t *page)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < h->n_pos; p++)
        if (!h->is_gone[p] && (n == 0 || page[n - 1] != p / page_tok))
            page[n++] = p / page_tok;
    return n;
}

/* Tokens that can follow before more than n_ctx rows or n_entry pages are held. */
static uint32_t room_of(const world *d, const history *h)
{
    const myth_layout *layout = &d->e->layout;
    uint32_t pos[HISTORY], page[HISTORY], n = held(h, pos), n_page = pages_of(h, layout->page_tok, page), room = 0;
    uint32_t last = n_page ? page[n_page - 1] : UINT32_MAX;
    for (uint32_t p = h->n_pos; n + room < layout->opts.n_ctx; p++, room++)
        if (p / layout->page_tok != last) {
            if (n_page == layout->n_entry)
                break;
            last = p / layout->page_tok;
            n_page++;
        }
    return room;
}

/* ---- checks ---- */

static void check_row(const float *row, const history *h, uint32_t p, uint32_t head, uint32_t is_v, const char *what)
{
    if (row[0] != (float)h->id[p] || row[1] != (float)p || row[2] != (float)(2 * head + is_v))
        fail_msg("%s: position %u, head %u: (%g, %g, %g), expected token %d", what, p, head, (double)row[0],
                 (double)row[1], (double)row[2], h->id[p]);
}

/* The row of a page or ring where layer l keeps it. */
static const float *row_at(const myth_engine *e, uint32_t l, int32_t page, uint32_t row, uint32_t head, uint32_t is_v)
{
    const struct myth_kv_place *kv = &e->part->step.kv[l];
    const myth_layer_config *lc = &e->model->config.layer[l];
    const unsigned char *pool = myth_buf_host(kv->pool.buf);
    const float *base = (const float *)(const void *)(pool + (uint64_t)page * kv->page_bytes + kv->layer_off);
    return base + (((size_t)is_v * lc->n_head_kv + head) * kv->page_tok + row) * lc->head_dim;
}

/* Everything that h holds, where these entries and this ring say. */
static void check_rows(world *d, const history *h, const int32_t *entry, uint32_t stride, int32_t ring,
                       const char *what)
{
    const myth_config *c = &d->e->model->config;
    const myth_layout *layout = &d->e->layout;
    uint32_t page[HISTORY], n_page = pages_of(h, layout->page_tok, page);
    uint32_t oldest = h->n_high > layout->ring_tok ? h->n_high - layout->ring_tok : 0;
    for (uint32_t l = 0; l < c->n_layer; l++)
        for (uint32_t head = 0; head < c->layer[l].n_head_kv; head++)
            for (uint32_t is_v = 0; is_v < 2; is_v++) {
                if (!c->layer[l].is_global) {
                    for (uint32_t p = oldest; p < h->n_pos; p++)
                        check_row(row_at(d->e, l, ring, p % layout->ring_tok, head, is_v), h, p, head, is_v, what);
                    continue;
                }
                uint32_t at = 0;
                for (uint32_t p = 0; p < h->n_pos; p++) {
                    if (h->is_gone[p])
                        continue;
                    while (page[at] != p / layout->page_tok)
                        at++;
                    assert_true(at < n_page);
                    check_row(row_at(d->e, l, entry[at * stride], p % layout->page_tok, head, is_v), h, p, head, is_v,
                              what);
                    d->n_row++;
                }
            }
}

static void check_pool(const world *d)
{
    const myth_kvcache *kv = &d->e->kv;
    static uint32_t ref[4096];
    uint32_t page[HISTORY], used = 0, rings = 0;
    assert_true(kv->n_page <= 4096);
    memset(ref, 0, sizeof(ref));
    for (int i = 0; i < N_SEQ + N_CHECKPOINT; i++) {
        bool is_mark = i >= N_SEQ;
        const history *h = is_mark ? &d->mark[i - N_SEQ] : &d->h[i];
        const myth_kv_rows *r = is_mark ? d->e->checkpoint[i - N_SEQ].kv : d->e->seq[i].kv;
        if (is_mark ? d->owner[i - N_SEQ] < 0 : !d->s[i])
            continue;
        uint32_t n = pages_of(h, kv->page_tok, page);
        for (uint32_t k = 0; k < kv->n_entry; k++) {
            if (k < n ? r->page[k] < 0 : r->page[k] >= 0)
                fail_msg("holder %d: entry %u of %u pages is %d", i, k, n, r->page[k]);
            if (k < n && ref[r->page[k]]++ == 0)
                used++;
        }
    }
    for (uint32_t i = 0; i < kv->n_page; i++)
        if (kv->page_ref[i] != ref[i])
            fail_msg("page %u is held %u times, counted %u", i, ref[i], kv->page_ref[i]);
    assert_int_equal(kv->n_free_page, kv->n_page - used);
    for (uint32_t i = 0; i < kv->n_ring; i++)
        rings += kv->ring_ref[i] > 0;
    assert_int_equal(kv->n_free_ring, kv->n_ring - rings);
}

static void check_seq(world *d, int k)
{
    uint32_t pos[HISTORY], n = held(&d->h[k], pos);
    const myth_seq *s = d->s[k];
    assert_int_equal(myth_seq_len(s), n);
    assert_int_equal(myth_seq_pos(s), d->h[k].n_pos);
    assert_int_equal(myth_seq_room(s), room_of(d, &d->h[k]));
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(myth_seq_tokens(s)[i], d->h[k].id[pos[i]]);
    check_rows(d, &d->h[k], s->kv->page, 1, s->kv->ring, "page list");
}

/* What a step of s finds: after a forward the device's table is up to date, positions of first rows too. */
static void check_table(world *d, int k)
{
    const myth_layout *layout = &d->e->layout;
    const int32_t *table = myth_buf_host(d->e->part->buf[MYTH_BUF_table]);
    const int32_t *entry = table + 2 * (size_t)d->s[k]->slot * layout->n_entry;
    const int32_t *ring = table + 2 * ((size_t)layout->opts.n_seq * layout->n_entry + d->s[k]->slot);
    uint32_t page[HISTORY], n = pages_of(&d->h[k], layout->page_tok, page);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(entry[2 * i + 1], page[i] * layout->page_tok);
    check_rows(d, &d->h[k], entry, 2, ring[0], "device table");
}

/* ---- operations ---- */

static void append(world *d, int k)
{
    history *h = &d->h[k];
    uint32_t room = room_of(d, h),
             n = 1 + check_below(d->rng, check_below(d->rng, 4) ? 4 : d->e->layout.opts.n_ctx + 2);
    int32_t ids[64];
    myth_seq *seq[64];
    myth_result out;
    bool is_decode = n == 1 && check_below(d->rng, 2);
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = (int32_t)check_below(d->rng, d->e->model->config.n_vocab);
        seq[i] = d->s[k];
    }
    myth_status st =
        rig_forward(d->e, &(rig_tokens){.n_tok = n, .token = ids, .seq = seq, .is_decode = is_decode}, &out, &rig_err);
    if (st != (n <= room ? MYTH_OK : MYTH_EFULL))
        fail_msg("%u tokens into room for %u: %s %s", n, room, myth_status_name(st), rig_err.msg);
    if (n > room)
        return;
    for (uint32_t i = 0; i < n; i++) {
        h->id[h->n_pos] = (int16_t)ids[i];
        h->is_gone[h->n_pos++] = false;
    }
    h->n_high = h->n_high < h->n_pos ? h->n_pos : h->n_high;
    check_table(d, k);
}

static void drop_marks(world *d, int k, uint32_t n_tok, uint32_t n_pos)
{
    uint32_t pos[HISTORY];
    for (int i = 0; i < N_CHECKPOINT; i++)
        if (d->owner[i] == k && (held(&d->mark[i], pos) > n_tok || d->mark[i].n_pos > n_pos))
            d->owner[i] = -1;
}

static void evict(world *d, int k)
{
    history *h = &d->h[k];
    uint32_t pos[HISTORY], n = held(h, pos);
    uint32_t from = check_below(d->rng, n + 2), count = check_below(d->rng, check_below(d->rng, 4) ? 3 : n + 2);
    bool is_fit = from <= n && count <= n - from;
    for (uint32_t i = from; is_fit && i < from + count; i++)
        h->is_gone[pos[i]] = true;
    bool is_one_too_many = n_gap(h) > MYTH_GAP_MAX;
    assert_int_equal(myth_seq_evict(d->s[k], from, count, &rig_err), !is_fit           ? MYTH_EARG
                                                                     : is_one_too_many ? MYTH_EFULL
                                                                                       : MYTH_OK);
    for (uint32_t i = from; is_one_too_many && i < from + count; i++)
        h->is_gone[pos[i]] = false;
    d->n_refused += !is_fit || is_one_too_many;
    d->most_gaps = d->most_gaps < n_gap(h) ? n_gap(h) : d->most_gaps;
    if (!is_fit || is_one_too_many || count == 0)
        return;
    d->n_evict++;
    drop_marks(d, k, from, h->n_pos);
}

static void truncate_to(world *d, int k, uint32_t n)
{
    history *h = &d->h[k];
    uint32_t pos[HISTORY], len = held(h, pos), ring = d->e->layout.ring_tok, at;
    if (n > len) {
        assert_int_equal(myth_seq_truncate(d->s[k], n, &at, &rig_err), MYTH_EARG);
        return;
    }
    assert_ok(myth_seq_truncate(d->s[k], n, &at, &rig_err));
    if (n == len && n) {
        assert_int_equal(at, n);
        return;
    }
    uint32_t to = n ? pos[n - 1] + 1 : 0; /* of the next token */
    if (n == 0) {
        *h = (history){0};
    } else if (!d->e->model->config.window || h->n_high <= ring || to + 1 >= h->n_high) {
        h->n_pos = to;
    } else {
        int best = -1;
        uint32_t most = 0;
        for (int i = 0; i < N_CHECKPOINT; i++) {
            uint32_t has = held(&d->mark[i], pos);
            if (d->owner[i] == k && has <= n && d->mark[i].n_pos <= to &&
                (best < 0 || has > most || (has == most && d->mark[i].n_pos > d->mark[best].n_pos))) {
                best = i;
                most = has;
            }
        }
        *h = best < 0 ? (history){0} : d->mark[best];
    }
    assert_int_equal(at, held(h, pos));
    drop_marks(d, k, at, h->n_pos);
}

static void fork_into(world *d, int k, int to)
{
    assert_ok(myth_seq_fork(&d->s[to], d->s[k], &rig_err));
    assert_int_equal(d->s[to]->slot, to); /* the lowest free one */
    d->h[to] = d->h[k];
}

static void mark_end(world *d, int k)
{
    uint32_t pos[HISTORY], n = held(&d->h[k], pos);
    int slot = -1;
    for (int i = N_CHECKPOINT - 1; i >= 0; i--) {
        if (d->owner[i] == k && held(&d->mark[i], pos) == n && d->mark[i].n_pos == d->h[k].n_pos)
            return;
        slot = d->owner[i] < 0 ? i : slot;
    }
    assert_int_equal(myth_seq_checkpoint(d->s[k], &rig_err), slot < 0 ? MYTH_EFULL : MYTH_OK);
    if (slot >= 0) {
        d->owner[slot] = k;
        d->mark[slot] = d->h[k];
    }
}

static void close_seq(world *d, int k)
{
    myth_seq_close(d->s[k]);
    d->s[k] = NULL;
    for (int i = 0; i < N_CHECKPOINT; i++)
        d->owner[i] = d->owner[i] == k ? -1 : d->owner[i];
}

/* Returns the new index: the lowest that is free. */
static int save_and_restore(world *d, int k)
{
    uint64_t bytes = myth_seq_save_bytes(d->s[k]);
    unsigned char *p = malloc(bytes);
    assert_non_null(p);
    assert_ok(myth_seq_save(d->s[k], p, bytes, &rig_err));
    close_seq(d, k);
    myth_seq *s = rig_seq(&d->r);
    int to = (int)s->slot;
    assert_int_equal(myth_seq_restore(s, p, bytes - 1, &rig_err), MYTH_EFORMAT);
    assert_ok(myth_seq_restore(s, p, bytes, &rig_err));
    d->s[to] = s;
    if (to != k)
        d->h[to] = d->h[k];
    free(p);
    return to;
}

static void step(world *d)
{
    int k = -1, low = -1;
    for (int i = N_SEQ - 1; i >= 0; i--)
        low = d->s[i] ? low : i;
    uint32_t op = check_below(d->rng, 32), at = check_below(d->rng, N_SEQ);
    if (!d->s[at]) { /* opening takes the lowest slot */
        d->s[low] = rig_seq(&d->r);
        d->h[low] = (history){0};
        k = low;
    } else {
        uint32_t pos[HISTORY], n = held(&d->h[at], pos);
        k = (int)at;
        if (d->h[k].n_pos + 70 > HISTORY)
            close_seq(d, k);
        else if (op < 14)
            append(d, k);
        else if (op < 21)
            evict(d, k);
        else if (op < 24)
            truncate_to(d, k, n ? n - 1 : 0);
        else if (op < 25)
            truncate_to(d, k, check_below(d->rng, n + 2));
        else if (op < 28)
            mark_end(d, k);
        else if (op < 29)
            k = save_and_restore(d, k);
        else if (op < 31 && low >= 0) {
            fork_into(d, k, low);
            k = low;
        } else if (op == 31 && check_below(d->rng, 4) == 0)
            close_seq(d, k);
    }
    if (k >= 0 && d->s[k])
        check_seq(d, k);
}

static void check_all(world *d)
{
    check_pool(d);
    for (int i = 0; i < N_SEQ; i++)
        if (d->s[i])
            check_seq(d, i);
    for (int i = 0; i < N_CHECKPOINT; i++)
        if (d->owner[i] >= 0)
            check_rows(d, &d->mark[i], d->e->checkpoint[i].kv->page, 1, d->e->checkpoint[i].kv->ring, "checkpoint");
}

static void any_order_of_operations_holds_the_right_rows(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma2-tiny:q8_0", "random:gemma3-tiny:q8_0", "random:gemma1-tiny:q8_0"};
    enum { PER_WORLD = 2000 };
    static world d;
    uint64_t rng = check_seed(), n_op = check_is_full() ? 1000000 : 100000, n_evict = 0, n_refused = 0, n_row = 0,
             n_full = 0;
    for (uint64_t done = 0; done < n_op; done += PER_WORLD) {
        d = (world){.rng = &rng, .owner = {-1, -1}};
        uint32_t n_ctx = 2 + check_below(&rng, 38);
        const myth_engine_opts o = {
            .device = "cpu",
            .cpu_level = "ref",
            .n_threads = 1,
            .n_ctx = n_ctx,
            .n_seq = N_SEQ,
            .n_checkpoint = N_CHECKPOINT,
            .n_ubatch = 64,
            .page_tok = 1 + check_below(&rng, n_ctx < 12 ? n_ctx : 12),
            .has_cache_type = true,
            .type_k = MYTH_F32,
            .type_v = MYTH_F32,
        };
        rig_open(&d.r, spec[done / PER_WORLD % 3], &o);
        d.e = d.r.engine;
        strip(d.e);
        uint64_t n_alloc = 0;
        for (uint32_t i = 0; i < PER_WORLD; i++) {
            step(&d);
            check_pool(&d);
            if (i % 16 == 0)
                check_all(&d);
            if (i == 0)
                n_alloc = myth_mem_n_alloc(d.r.mem);
        }
        assert_int_equal(myth_mem_n_alloc(d.r.mem), n_alloc);
        n_evict += d.n_evict;
        n_refused += d.n_refused;
        n_row += d.n_row;
        n_full += d.most_gaps == MYTH_GAP_MAX;
        for (int i = 0; i < N_SEQ; i++)
            if (d.s[i])
                close_seq(&d, i);
        check_pool(&d);
        rig_close(&d.r);
    }
    printf("%llu operations, %llu evictions, %llu refused spans, %llu rows compared; %llu worlds had %d gaps\n",
           (unsigned long long)n_op, (unsigned long long)n_evict, (unsigned long long)n_refused,
           (unsigned long long)n_row, (unsigned long long)n_full, MYTH_GAP_MAX);
    assert_true(n_full > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order_of_operations_holds_the_right_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
