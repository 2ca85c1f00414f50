/* seq_walk.h - a random walk for test_seq.c: it appends to, cuts, forks, checkpoints, saves and restores sequences, and
 * keeps for each a list of the tokens that it should have. */
#ifndef MYTH_TESTS_SEQ_WALK_H
#define MYTH_TESTS_SEQ_WALK_H

#include "seq_case.h"

enum { W_SEQ = 4, W_CHECKPOINT = 3 };

typedef struct {
    myth_seq *s; /* NULL = closed                                                    */
    tok t[CTX];
    uint32_t n, high; /* high: most tokens its ring has seen, so which rows it still holds */
    struct {
        uint32_t n, high;
    } mark[W_CHECKPOINT];
    uint32_t n_mark;
} walker;

typedef struct {
    const combo *c;
    rig r, oracle;
    rows got, want;
    walker w[W_SEQ];
    uint32_t window, n_vocab;
    uint64_t *rng;
} world;

static uint32_t marks_in_use(const world *d)
{
    uint32_t n = 0;
    for (int i = 0; i < W_SEQ; i++)
        n += d->w[i].s ? d->w[i].n_mark : 0;
    return n;
}

static void append(world *d, walker *w)
{
    uint32_t n = 1 + check_below(d->rng, check_below(d->rng, 3) ? 4 : 20), at = w->n;
    bool is_decode = check_below(d->rng, 4) == 0;
    if (n > CTX - w->n)
        n = CTX - w->n;
    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        w->t[w->n++] = (tok){(int32_t)check_below(d->rng, d->n_vocab), is_decode};
    if (w->n > w->high)
        w->high = w->n;
    rows_clear(&d->got);
    feed_toks(&d->r, w->s, w->t + at, n, &d->got);
    alone(&d->oracle, w->t, w->n, &d->want);
    assert_same_bits(row_of(&d->got, 0), row_of(&d->want, at), (size_t)n * d->n_vocab,
                     label(d->c, "walk: append at, n", at, n));
}

static void truncate_to(world *d, walker *w, uint32_t n)
{
    uint32_t at = 0, expect = 0, high = 0, window = d->window;
    bool is_exact = n == w->n || w->high <= window || n + 1 >= w->high;
    if (is_exact) {
        expect = n;
        high = n ? w->high : 0;
    } else {
        for (uint32_t i = 0; i < w->n_mark; i++)
            if (w->mark[i].n <= n && w->mark[i].n >= expect) {
                expect = w->mark[i].n;
                high = w->mark[i].high;
            }
    }
    assert_ok(myth_seq_truncate(w->s, n, &at, &rig_err));
    if (at != expect)
        fail_msg("truncate %u (high %u, window %u) to %u stands at %u, expected %u", w->n, w->high, window, n, at,
                 expect);
    assert_int_equal(myth_seq_len(w->s), at);
    w->n = at;
    w->high = high;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->n_mark; i++)
        if (w->mark[i].n <= at)
            w->mark[kept++] = w->mark[i];
    w->n_mark = kept;
}

static void fork_into(world *d, walker *w, walker *to)
{
    assert_ok(myth_seq_fork(&to->s, w->s, &rig_err));
    memcpy(to->t, w->t, sizeof(w->t));
    to->n = w->n;
    to->high = w->high;
    to->n_mark = 0;
    (void)d;
}

static void mark_end(world *d, walker *w)
{
    for (uint32_t i = 0; i < w->n_mark; i++)
        if (w->mark[i].n == w->n)
            return;
    bool is_full = marks_in_use(d) == W_CHECKPOINT;
    myth_status st = myth_seq_checkpoint(w->s, &rig_err);
    assert_int_equal(st, is_full ? MYTH_EFULL : MYTH_OK);
    if (!is_full) {
        w->mark[w->n_mark].n = w->n;
        w->mark[w->n_mark++].high = w->high;
    }
}

static void save_and_restore(world *d, walker *w)
{
    uint64_t bytes = myth_seq_save_bytes(w->s);
    unsigned char *p = malloc(bytes);
    assert_non_null(p);
    assert_int_not_equal(myth_seq_save(w->s, p, bytes - 1, &rig_err), MYTH_OK);
    assert_ok(myth_seq_save(w->s, p, bytes, &rig_err));
    myth_seq_close(w->s);
    w->n_mark = 0;
    w->s = rig_seq(&d->r);
    assert_int_not_equal(myth_seq_restore(w->s, p, bytes - 1, &rig_err), MYTH_OK);
    assert_int_equal(myth_seq_len(w->s), 0);
    assert_ok(myth_seq_restore(w->s, p, bytes, &rig_err));
    assert_int_equal(myth_seq_len(w->s), w->n);
    for (uint32_t i = 0; i < w->n; i++)
        assert_int_equal(myth_seq_tokens(w->s)[i], w->t[i].id);
    free(p);
}

static void step_walk(world *d)
{
    walker *w = &d->w[check_below(d->rng, W_SEQ)], *other = &d->w[check_below(d->rng, W_SEQ)];
    uint32_t op = check_below(d->rng, 16);
    if (!w->s) {
        *w = (walker){.s = rig_seq(&d->r)};
        return;
    }
    if (op < 7)
        append(d, w);
    else if (op < 9)
        truncate_to(d, w, w->n ? w->n - check_below(d->rng, w->n < 3 ? w->n + 1 : 3) : 0); /* one or two back */
    else if (op < 10)
        truncate_to(d, w, check_below(d->rng, w->n + 1));
    else if (op < 12)
        mark_end(d, w);
    else if (op < 14 && !other->s)
        fork_into(d, w, other);
    else if (op < 15)
        save_and_restore(d, w);
    else {
        myth_seq_close(w->s);
        w->s = NULL;
    }
}

#endif
