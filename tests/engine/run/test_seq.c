/* test_seq.c - the bits of a row depend on its own tokens and path only: not on other rows, chunks, pages, rings,
 * forks, or on tokens that were fed and cut off again.
 *
 * Oracle   the same tokens alone in another engine, fed at once. Everything is compared bit for bit, on the reference,
 *          in exact mode, and on every level and device of this machine, with every type of cache */
#include "seq_walk.h"

#include "engine/base/hash.h"

/* ---- chunks, pages, micro-batches ---- */

static void one_cut(const combo *c, const int32_t *ids, uint32_t n, const rows *want, uint32_t chunk, uint32_t page,
                    uint32_t ub)
{
    rig r;
    rows got;
    myth_engine_opts o = opts_of(c);
    o.page_tok = page;
    o.n_ubatch = ub;
    o.n_threads = 1 + (int)(chunk + page + ub) % 2; /* the number of threads must not matter either */
    open_on(&r, c, &o);
    rows_open(&got, &r, n, true);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, n, chunk, &got);
    assert_same_bits(got.logits, want->logits, (size_t)n * got.n_vocab, label(c, "chunk, page", chunk, page));
    assert_same_bits(got.hidden, want->hidden, (size_t)(got.n_layer + 1) * n * got.d_model,
                     label(c, "hidden: chunk, page", chunk, page));
    myth_seq_close(s);
    rows_close(&got);
    rig_close(&r);
}

static void cuts(const combo *c, uint64_t *rng)
{
    rig r;
    rows want;
    int32_t ids[CTX];
    myth_engine_opts o = opts_of(c);
    open_on(&r, c, &o);
    rig_random_ids(ids, CTX, &r, rng);
    rows_open(&want, &r, CTX, true);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, CTX, 0, &want);
    myth_seq_close(s);
    const uint32_t step =
        check_is_full()
            ? 4
            : 5 + check_below(rng,
                              6); /* starts at another place each time, so that all sizes occur over the combinations */
    for (uint32_t chunk = 1 + check_below(rng, step); chunk < CTX; chunk += step)
        one_cut(c, ids, CTX, &want, chunk, 0, CTX);
    for (uint32_t page = 1 + check_below(rng, step); page <= CTX; page += step)
        one_cut(c, ids, CTX, &want, 0, page, CTX);
    for (uint32_t ub = 1 + check_below(rng, step); ub <= CTX; ub += step)
        one_cut(c, ids, CTX, &want, 0, 0, ub);
    for (int i = 0; i < 4; i++)
        one_cut(c, ids, CTX, &want, 1 + check_below(rng, CTX), 1 + check_below(rng, CTX), 1 + check_below(rng, CTX));
    rows_close(&want);
    rig_close(&r);
}

static void chunk_page_and_micro_batch_change_no_bit(void **state)
{
    (void)state;
    for_combos(6, cuts);
}

/* ---- ragged batches ---- */

enum { N_SEQ = 7 };

/* Feeds the next n[i] tokens of each sequence in one forward, and compares all full rows with those of the sequence
 * alone. */
static void ragged_forward(const combo *c, rig *r, myth_seq **s, int32_t ids[N_SEQ][CTX], const uint32_t *done,
                           const uint32_t *n, bool is_decode, const rows *want)
{
    int32_t token[N_SEQ * CTX];
    uint8_t wants[N_SEQ * CTX];
    myth_seq *seq[N_SEQ * CTX];
    uint32_t all = 0, at = 0;
    for (uint32_t i = 0; i < N_SEQ; i++)
        for (uint32_t j = 0; j < n[i]; j++, all++) {
            token[all] = ids[i][done[i] + j];
            wants[all] = MYTH_WANT_FULL_LOGITS;
            seq[all] = s[i];
        }
    rows got;
    rows_open(&got, r, all ? all : 1, false);
    rig_tokens b = {
        .n_tok = all,
        .token = token,
        .seq = seq,
        .want = wants,
        .is_decode = is_decode,
        .on_full_logits = rows_on_logits,
        .user = &got,
    };
    myth_result out;
    assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
    assert_int_equal(got.n_logits, all);
    for (uint32_t i = 0; i < N_SEQ; at += n[i], i++)
        for (uint32_t j = 0; j < n[i]; j++)
            assert_same_bits(row_of(&got, at + j), row_of(&want[i], done[i] + j), got.n_vocab,
                             label(c, is_decode ? "decode: sequence, token" : "sequence, token", i, done[i] + j));
    rows_close(&got);
}

/* Seven sequences of unequal length in one batch. 2 and 5 are forks that were made before their first own token. The
 * last 4 tokens use the decode path. */
static void ragged(const combo *c, uint64_t *rng)
{
    enum { DECODED = 4 };
    rig r, oracle;
    rows want[N_SEQ];
    int32_t ids[N_SEQ][CTX];
    tok toks[CTX];
    myth_seq *s[N_SEQ];
    uint32_t len[N_SEQ], done[N_SEQ] = {0}, n[N_SEQ] = {0};
    const uint32_t parent[N_SEQ] = {0, 1, 0, 3, 4, 3, 6};
    myth_engine_opts o = opts_of(c);
    open_on(&oracle, c, &o);
    o.n_seq = N_SEQ;
    o.page_tok = 1 + check_below(rng, CTX);
    o.n_ubatch = 1 + check_below(rng, 2 * CTX);
    open_on(&r, c, &o);
    for (uint32_t i = 0; i < N_SEQ; i++) {
        rig_random_ids(ids[i], CTX, &r, rng);
        len[i] = i == 6 ? CTX : 10 + check_below(rng, CTX - 10);
    }
    uint32_t shared[N_SEQ] = {0};
    for (uint32_t i = 0; i < N_SEQ; i++)
        if (parent[i] != i) { /* both continue from a common prefix */
            shared[i] = 1 + check_below(rng, (len[i] < len[parent[i]] ? len[i] : len[parent[i]]) - DECODED - 1);
            memcpy(ids[i], ids[parent[i]], 4 * shared[i]);
        }
    for (uint32_t i = 0; i < N_SEQ; i++) {
        for (uint32_t j = 0; j < len[i]; j++)
            toks[j] = (tok){ids[i][j], j + DECODED >= len[i]};
        rows_open(&want[i], &oracle, CTX, false);
        alone(&oracle, toks, len[i], &want[i]);
    }
    for (uint32_t i = 0; i < N_SEQ; i++)
        if (parent[i] == i) {
            s[i] = rig_seq(&r);
            for (uint32_t k = 0; k < N_SEQ; k++)
                if (parent[k] == i && k != i) {
                    rig_feed(&r, s[i], ids[i], shared[k], 1 + check_below(rng, 9), NULL);
                    assert_ok(myth_seq_fork(&s[k], s[i], &rig_err));
                    assert_int_equal(myth_seq_len(s[k]), shared[k]);
                    assert_memory_equal(myth_seq_tokens(s[k]), ids[k], 4 * shared[k]);
                    done[i] = done[k] = shared[k];
                }
        }
    for (bool more = true; more;) { /* forks write for the first time in the same forward as their parents */
        more = false;
        for (uint32_t i = 0; i < N_SEQ; i++) {
            uint32_t left = len[i] - DECODED - done[i];
            n[i] = left < 1 + check_below(rng, 20) ? left : 1 + check_below(rng, left);
            more = more || n[i];
        }
        if (more)
            ragged_forward(c, &r, s, ids, done, n, false, want);
        for (uint32_t i = 0; i < N_SEQ; i++)
            done[i] += n[i];
    }
    for (uint32_t k = 0; k < DECODED; k++) {
        for (uint32_t i = 0; i < N_SEQ; i++)
            n[i] = 1;
        ragged_forward(c, &r, s, ids, done, n, true, want);
        for (uint32_t i = 0; i < N_SEQ; i++)
            done[i]++;
    }
    for (uint32_t i = 0; i < N_SEQ; i++) {
        assert_int_equal(myth_seq_len(s[i]), len[i]);
        assert_memory_equal(myth_seq_tokens(s[i]), ids[i], 4 * len[i]);
        myth_seq_close(s[i]);
        rows_close(&want[i]);
    }
    rig_close(&r);
    rig_close(&oracle);
}

static void seven_ragged_sequences_equal_each_alone(void **state)
{
    (void)state;
    for_combos(10, ragged);
}

/* ---- ephemeral runs ---- */

/* In one forward, three ephemeral runs continue one sequence and one continues an empty one. Each gives the results of
 * appending its tokens, and leaves nothing in the cache. */
static void ephemeral(const combo *c, uint64_t *rng)
{
    rig r, oracle;
    rows want, got;
    int32_t ids[4 * CTX];
    tok toks[CTX];
    uint8_t wants[4 * CTX], run_end[4 * CTX] = {0}, is_ephemeral[4 * CTX];
    myth_seq *seq[4 * CTX];
    myth_engine_opts o = opts_of(c);
    uint32_t prefix = 1 + check_below(rng, CTX - 12), n[4], total = 0;
    open_on(&oracle, c, &o);
    o.n_seq = 2;
    o.page_tok = 1 + check_below(rng, 20);
    o.n_ubatch = 12 + check_below(rng, 30);
    open_on(&r, c, &o);
    myth_seq *s = rig_seq(&r), *empty = rig_seq(&r);
    rig_random_ids(ids, prefix, &r, rng);
    for (uint32_t i = 0; i < prefix; i++)
        toks[i] = (tok){ids[i], false};
    rig_feed(&r, s, ids, prefix, 0, NULL);
    rig_random_ids(ids, 4 * CTX, &r, rng);
    for (uint32_t k = 0; k < 4; k++) {
        n[k] = 1 + check_below(rng, 12);
        for (uint32_t j = 0; j < n[k]; j++, total++) {
            seq[total] = k < 3 ? s : empty;
            wants[total] = MYTH_WANT_FULL_LOGITS;
            is_ephemeral[total] = 1;
            run_end[total] = j + 1 == n[k];
        }
    }
    rows_open(&got, &r, total, false);
    rows_open(&want, &oracle, CTX, false);
    for (int round = 0; round < 2; round++) { /* the second round finds the sequence as the first did */
        rows_clear(&got);
        rig_tokens b = {
            .n_tok = total,
            .token = ids,
            .seq = seq,
            .want = wants,
            .is_ephemeral = is_ephemeral,
            .run_end = run_end,
            .on_full_logits = rows_on_logits,
            .user = &got,
        };
        myth_result out;
        assert_ok(rig_forward(r.engine, &b, &out, &rig_err));
        assert_int_equal(got.n_logits, total);
        assert_int_equal(myth_seq_len(s), prefix);
        assert_int_equal(myth_seq_len(empty), 0);
        for (uint32_t k = 0, at = 0; k < 4; at += n[k], k++) {
            uint32_t before = k < 3 ? prefix : 0;
            tok own[CTX];
            memcpy(own, toks, before * sizeof(tok));
            for (uint32_t j = 0; j < n[k]; j++)
                own[before + j] = (tok){ids[at + j], false};
            alone(&oracle, own, before + n[k], &want);
            assert_same_bits(row_of(&got, at), row_of(&want, before), (size_t)n[k] * got.n_vocab,
                             label(c, "ephemeral run, prefix", k, before));
        }
    }
    myth_seq *two[2] = {s, empty}; /* and one token of each on the decode path */
    rows_clear(&got);
    rig_tokens b = {
        .n_tok = 2,
        .token = ids,
        .seq = two,
        .want = wants,
        .is_ephemeral = is_ephemeral,
        .is_decode = true,
        .on_full_logits = rows_on_logits,
        .user = &got,
    };
    myth_result out;
    assert_ok(rig_forward(r.engine, &b, &out, &rig_err));
    assert_int_equal(myth_seq_len(s), prefix);
    toks[prefix] = (tok){ids[0], true};
    alone(&oracle, toks, prefix + 1, &want);
    assert_same_bits(row_of(&got, 0), row_of(&want, prefix), got.n_vocab,
                     label(c, "ephemeral decode, prefix", 0, prefix));
    alone(&oracle, &(tok){ids[1], true}, 1, &want);
    assert_same_bits(row_of(&got, 1), row_of(&want, 0), got.n_vocab, label(c, "ephemeral decode, prefix", 1, 0));
    myth_seq_close(s);
    myth_seq_close(empty);
    rows_close(&got);
    rows_close(&want);
    rig_close(&r);
    rig_close(&oracle);
}

static void ephemeral_runs_equal_appended_ones(void **state)
{
    (void)state;
    for_combos(10, ephemeral);
}

/* ---- fork, checkpoint, truncate, save and restore, in any order ---- */

static void walk(const combo *c, uint64_t *rng)
{
    world d = {.c = c, .rng = rng};
    myth_engine_opts o = opts_of(c);
    open_on(&d.oracle, c, &o);
    o.n_seq = W_SEQ;
    o.n_checkpoint = W_CHECKPOINT;
    o.page_tok = 1 + check_below(rng, 16);
    o.n_ubatch = 1 + check_below(rng, CTX);
    open_on(&d.r, c, &o);
    d.window = d.r.model.config.window ? d.r.model.config.window : CTX;
    d.n_vocab = d.r.model.config.n_vocab;
    rows_open(&d.got, &d.r, CTX, false);
    rows_open(&d.want, &d.oracle, CTX, false);
    for (uint32_t i = 0; i < 100; i++)
        step_walk(&d);
    for (int i = 0; i < W_SEQ; i++)
        if (d.w[i].s)
            myth_seq_close(d.w[i].s);
    rows_close(&d.got);
    rows_close(&d.want);
    rig_close(&d.r);
    rig_close(&d.oracle);
}

static void any_walk_of_operations_equals_the_tokens_alone(void **state)
{
    (void)state;
    for_combos(8, walk);
}

/* ---- errors change nothing ---- */

#define FORWARD(...) rig_forward(r.engine, &(rig_tokens){.seq = seq, __VA_ARGS__}, &out, &rig_err)

static void refusals_change_nothing(void **state)
{
    (void)state;
    combo c = {models[2], NULL, MYTH_F32, MYTH_F32};
    rig r;
    rows want, got;
    int32_t ids[CTX + 1];
    uint64_t rng = check_seed();
    myth_seq *s, *extra = NULL, *seq[CTX + 1];
    myth_engine_opts o = opts_of(&c);
    myth_result out;
    o.n_logit_rows = 2;
    o.n_seq = 2;
    o.n_checkpoint = 1;
    open_on(&r, &c, &o);
    rows_open(&want, &r, CTX, false);
    rows_open(&got, &r, CTX, false);
    rig_random_ids(ids, CTX + 1, &r, &rng);
    s = rig_seq(&r);
    rig_feed(&r, s, ids, CTX, 0, &want);
    myth_seq_close(s);

    s = rig_seq(&r);
    for (uint32_t i = 0; i <= CTX; i++)
        seq[i] = s;
    rig_feed(&r, s, ids, 30, 0, &got);
    uint8_t three[3] = {MYTH_WANT_LOGITS, MYTH_WANT_LOGITS, MYTH_WANT_LOGITS};
    int32_t bad_ids[3] = {3, (int32_t)r.model.config.n_vocab, 4}, negative[2] = {3, -1};
    assert_int_equal(FORWARD(.n_tok = CTX - 29, .token = ids), MYTH_EFULL);
    assert_int_equal(FORWARD(.n_tok = 3, .token = bad_ids), MYTH_EARG);
    assert_int_equal(FORWARD(.n_tok = 2, .token = negative), MYTH_EARG);
    assert_int_equal(FORWARD(.n_tok = 3, .token = ids, .want = three), MYTH_EFULL);
    assert_int_equal(FORWARD(.n_tok = 2, .token = ids, .is_decode = true), MYTH_EARG);
    assert_int_equal(FORWARD(.n_tok = 1, .token = ids, .top_k = 2), MYTH_EFULL);
    uint32_t at;
    assert_int_equal(myth_seq_truncate(s, 31, &at, &rig_err), MYTH_EARG);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    extra = rig_seq(&r);
    assert_int_equal(myth_seq_checkpoint(extra, &rig_err), MYTH_EFULL);
    myth_seq *none = NULL;
    assert_int_equal(myth_seq_open(&none, r.engine, &rig_err), MYTH_EFULL);
    assert_null(none);
    assert_int_equal(myth_seq_fork(&none, s, &rig_err), MYTH_EFULL);
    assert_int_equal(myth_seq_len(s), 30);
    assert_int_equal(myth_seq_len(extra), 0);
    assert_memory_equal(myth_seq_tokens(s), ids, 4 * 30);
    rig_feed(&r, s, ids + 30, CTX - 30, 5, &got);
    assert_same_bits(got.logits, want.logits, (size_t)CTX * got.n_vocab, "after the refusals");
    assert_int_equal(FORWARD(.n_tok = 1, .token = ids, .is_decode = true), MYTH_EFULL);
    myth_seq_close(s);
    myth_seq_close(extra);
    rows_close(&want);
    rows_close(&got);
    rig_close(&r);
}

/* Both sides of a fork write for the first time in the same forward, in an engine with room for exactly two sequences.
 */
static void a_fork_needs_no_spare_room(void **state)
{
    (void)state;
    for (uint32_t page = 1; page <= CTX; page += 7) {
        combo c = {models[1], NULL, MYTH_F32, MYTH_F32};
        rig r;
        int32_t ids[CTX];
        uint64_t rng = check_seed();
        myth_engine_opts o = opts_of(&c);
        o.n_seq = 2;
        o.page_tok = page;
        open_on(&r, &c, &o);
        rig_random_ids(ids, CTX, &r, &rng);
        myth_seq *s[2] = {rig_seq(&r), NULL}, *seq[2];
        rig_feed(&r, s[0], ids, CTX - 6, 0, NULL);
        assert_ok(myth_seq_fork(&s[1], s[0], &rig_err));
        for (uint32_t i = 0; i < 6; i++) {
            myth_result out;
            seq[0] = s[0];
            seq[1] = s[1];
            assert_ok(FORWARD(.n_tok = 2, .token = ids, .is_decode = true));
        }
        myth_seq_close(s[0]);
        myth_seq_close(s[1]);
        rig_close(&r);
    }
}

/* A ring that has wrapped around and is cut by one token has no older rows. A fork, a checkpoint and a saved copy know
 * that as the sequence itself does. */
static void what_a_ring_lost_stays_lost(void **state)
{
    (void)state;
    enum { LONG = 40 };
    combo c = {models[0], NULL, MYTH_F32, MYTH_F32};
    rig r;
    int32_t ids[LONG];
    uint64_t rng = check_seed();
    uint32_t at;
    myth_engine_opts o = opts_of(&c);
    o.n_seq = 3;
    o.n_checkpoint = 1;
    open_on(&r, &c, &o);
    assert_true(r.model.config.window < LONG / 2);
    rig_random_ids(ids, LONG, &r, &rng);
    for (int way = 0; way < 4; way++) {
        myth_seq *s = rig_seq(&r), *t = s;
        rig_feed(&r, s, ids, LONG, 0, NULL);
        assert_ok(myth_seq_truncate(s, LONG - 1, &at, &rig_err));
        assert_int_equal(at, LONG - 1);
        if (way == 1) {
            assert_ok(myth_seq_fork(&t, s, &rig_err));
        } else if (way == 2) { /* back to a checkpoint that was taken after the cut */
            assert_ok(myth_seq_checkpoint(s, &rig_err));
            rig_feed(&r, s, ids, 5, 0, NULL);
            assert_ok(myth_seq_truncate(s, LONG, &at, &rig_err));
            assert_int_equal(at, LONG - 1);
        } else if (way == 3) {
            uint64_t bytes = myth_seq_save_bytes(s);
            void *saved = malloc(bytes);
            assert_non_null(saved);
            assert_ok(myth_seq_save(s, saved, bytes, &rig_err));
            t = rig_seq(&r);
            assert_ok(myth_seq_restore(t, saved, bytes, &rig_err));
            free(saved);
        }
        assert_ok(myth_seq_truncate(t, LONG - 2, &at, &rig_err));
        assert_int_equal(at, 0); /* way 2: its only checkpoint is after LONG - 2 */
        if (t != s)
            myth_seq_close(t);
        myth_seq_close(s);
    }
    rig_close(&r);
}

/* When a sequence continues after a checkpoint, the page in which the checkpoint ends is copied. The plan has room for
 * that up to the last token. */
static void a_checkpoint_leaves_room_for_the_whole_context(void **state)
{
    (void)state;
    enum { N_MARK = 3 };
    for (uint32_t page = 2; page <= CTX; page += 5) {
        combo c = {models[1], NULL, MYTH_F32, MYTH_F32};
        rig r;
        rows want, got;
        int32_t ids[CTX];
        uint64_t rng = check_seed();
        uint32_t at;
        myth_engine_opts o = opts_of(&c);
        o.page_tok = page;
        o.n_checkpoint = N_MARK;
        open_on(&r, &c, &o);
        rows_open(&want, &r, CTX, false);
        rows_open(&got, &r, CTX, false);
        rig_random_ids(ids, CTX, &r, &rng);
        myth_seq *s = rig_seq(&r);
        rig_feed(&r, s, ids, CTX, 0, &want);
        myth_seq_close(s);
        s = rig_seq(&r);
        for (uint32_t k = 0; k < N_MARK; k++) { /* all three checkpoints end inside a page, often the same one */
            rig_feed(&r, s, ids + 11 * k, 11, 0, &got);
            assert_ok(myth_seq_checkpoint(s, &rig_err));
        }
        rig_feed(&r, s, ids + 11 * N_MARK, CTX - 11 * N_MARK, 0, &got);
        assert_same_bits(got.logits, want.logits, (size_t)CTX * got.n_vocab, "with checkpoints");
        for (uint32_t k = N_MARK; k-- > 0;) {
            uint32_t back = 11 * (k + 1);
            assert_ok(myth_seq_truncate(s, back + 1, &at, &rig_err));
            assert_int_equal(at, back);
            rows_clear(&got);
            got.base = back;
            rig_feed(&r, s, ids + back, CTX - back, 0, &got);
            assert_same_bits(row_of(&got, back), row_of(&want, back), (size_t)(CTX - back) * got.n_vocab,
                             "back at a checkpoint");
        }
        myth_seq_close(s);
        rows_close(&want);
        rows_close(&got);
        rig_close(&r);
    }
}

/* A forward extends a sequence by one run. A batch with tokens of a sequence in two places is refused. */
static void one_sequence_is_one_run(void **state)
{
    (void)state;
    combo c = {models[1], NULL, MYTH_F32, MYTH_F32};
    rig r;
    rows want, got;
    int32_t ids[CTX];
    uint8_t wants[CTX], run_end[CTX];
    uint64_t rng = check_seed();
    myth_seq *s, *t, *seq[CTX];
    myth_result out;
    myth_engine_opts o = opts_of(&c);
    o.n_seq = 2;
    open_on(&r, &c, &o);
    rows_open(&want, &r, CTX, false);
    rows_open(&got, &r, CTX, false);
    rig_random_ids(ids, CTX, &r, &rng);
    s = rig_seq(&r);
    rig_feed(&r, s, ids, CTX, 0, &want);
    myth_seq_close(s);
    s = rig_seq(&r);
    t = rig_seq(&r);
    for (uint32_t i = 0; i < CTX; i++) {
        seq[i] = i / 5 % 2 ? t : s;
        wants[i] = MYTH_WANT_FULL_LOGITS;
        run_end[i] = i % 3 == 0;
    }
    assert_int_equal(FORWARD(.n_tok = 12, .token = ids), MYTH_EARG); /* s, t, s */
    assert_int_equal(myth_seq_len(s) + myth_seq_len(t), 0);
    seq[2] = s;
    seq[1] = t;
    seq[0] = s;
    assert_int_equal(FORWARD(.n_tok = 3, .token = ids, .is_decode = true), MYTH_EARG);
    for (uint32_t i = 0; i < CTX; i++)
        seq[i] = s;
    assert_ok(FORWARD(.n_tok = CTX, .token = ids, .want = wants, .run_end = run_end, .on_full_logits = rows_on_logits,
                      .user = &got));
    assert_same_bits(got.logits, want.logits, (size_t)CTX * got.n_vocab, "with run ends");
    myth_seq_close(s);
    myth_seq_close(t);
    rows_close(&want);
    rows_close(&got);
    rig_close(&r);
}

/* A saved sequence with one bit changed is refused; one whose sum says that its bytes are meant so, either restored or
 * refused. A refusal leaves the sequence empty and takes no page. */
static void a_damaged_saved_sequence_is_harmless(void **state)
{
    (void)state;
    combo c = {models[2], NULL, MYTH_Q8_0, MYTH_Q8_0};
    rig r;
    int32_t ids[CTX];
    uint64_t rng = check_seed();
    uint32_t n_refused = 0;
    myth_engine_opts o = opts_of(&c);
    o.page_tok = 5;
    open_on(&r, &c, &o);
    rig_random_ids(ids, CTX, &r, &rng);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, 23, 0, NULL);
    uint64_t bytes = myth_seq_save_bytes(s);
    unsigned char *saved = malloc(bytes), *bad = malloc(bytes);
    assert_true(saved && bad);
    assert_ok(myth_seq_save(s, saved, bytes, &rig_err));
    myth_seq_close(s);
    uint64_t first = 0; /* where the tokens are */
    while (memcmp(saved + first, ids, 23 * sizeof(ids[0])) != 0)
        assert_true(++first + 23 * sizeof(ids[0]) <= bytes);
    for (uint32_t k = 0; k < 23; k++) /* a token of the vocabulary or none, the last one counts */
        for (int32_t past = -1; past < 2; past++) {
            const int32_t id = (int32_t)r.model.config.n_vocab + past;
            memcpy(bad, saved, bytes);
            memcpy(bad + first + k * sizeof(id), &id, sizeof(id));
            s = rig_seq(&r);
            if (id != ids[k])
                assert_int_equal(myth_seq_restore(s, bad, bytes, &rig_err), MYTH_EFORMAT);
            myth_sum_put(bad, bytes);
            assert_int_equal(myth_seq_restore(s, bad, bytes, &rig_err), past < 0 ? MYTH_OK : MYTH_EFORMAT);
            assert_int_equal(myth_seq_len(s), past < 0 ? 23 : 0);
            myth_seq_close(s);
        }
    for (uint32_t i = 0; i < 160 * 8; i++) {
        memcpy(bad, saved, bytes);
        bad[i / 8] ^= (unsigned char)(1u << i % 8);
        s = rig_seq(&r);
        assert_int_equal(myth_seq_restore(s, bad, bytes, &rig_err), MYTH_EFORMAT);
        myth_sum_put(bad, bytes);
        if (myth_seq_restore(s, bad, bytes, &rig_err) == MYTH_OK) {
            assert_int_equal(myth_seq_len(s), 23);
        } else {
            n_refused++;
            assert_int_equal(myth_seq_len(s), 0);
        }
        myth_seq_close(s);
    }
    assert_true(n_refused > 8 * 8 + 6 * 32);               /* every bit of the magic and of six numbers */
    for (uint64_t n = 0; n < bytes; n += 1 + bytes / 97) { /* keys and values, too, and the sum */
        memcpy(bad, saved, bytes);
        bad[bytes - 1 - n] ^= 16;
        s = rig_seq(&r);
        assert_int_equal(myth_seq_restore(s, bad, bytes, &rig_err), MYTH_EFORMAT);
        myth_seq_close(s);
    }
    for (uint64_t n = 0; n < bytes; n += 1 + bytes / 97) {
        s = rig_seq(&r);
        assert_int_equal(myth_seq_restore(s, saved, n, &rig_err), MYTH_EFORMAT);
        myth_seq_close(s);
    }
    s = rig_seq(&r);
    assert_ok(myth_seq_restore(s, saved, bytes, &rig_err));
    assert_int_equal(myth_seq_restore(s, saved, bytes, &rig_err),
                     MYTH_EARG); /* a sequence with tokens is not restored */
    rig_feed(&r, s, ids, CTX - 23, 0, NULL);
    myth_seq_close(s);
    free(saved);
    free(bad);
    rig_close(&r);
}

/* ---- cancel ---- */

static myth_cancel stop_now;
static void stop_at_first_row(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab)
{
    rows_on_logits(user, tok_idx, row, n_vocab);
    stop_now = true;
}

static void cancelled_forward_keeps_what_was_computed(void **state)
{
    (void)state;
    for (uint32_t ub = 1; ub < CTX; ub += 9) {
        combo c = {models[0], NULL, MYTH_F32, MYTH_F32};
        rig r;
        rows want, got;
        int32_t ids[CTX];
        uint8_t wants[CTX];
        uint64_t rng = check_seed();
        myth_seq *seq[CTX];
        myth_engine_opts o = opts_of(&c);
        myth_result out;
        o.n_ubatch = ub;
        o.page_tok = 4;
        open_on(&r, &c, &o);
        rows_open(&want, &r, CTX, false);
        rows_open(&got, &r, CTX, false);
        rig_random_ids(ids, CTX, &r, &rng);
        myth_seq *s = rig_seq(&r);
        rig_feed(&r, s, ids, CTX, 0, &want);
        myth_seq_close(s);
        s = rig_seq(&r);
        for (uint32_t i = 0; i < CTX; i++) {
            seq[i] = s;
            wants[i] = MYTH_WANT_FULL_LOGITS;
        }
        stop_now = false;
        rig_tokens b = {
            .n_tok = CTX,
            .token = ids,
            .seq = seq,
            .want = wants,
            .on_full_logits = stop_at_first_row,
            .user = &got,
            .cancel = &stop_now,
        };
        assert_int_equal(rig_forward(r.engine, &b, &out, &rig_err), MYTH_ECANCEL);
        uint32_t len = myth_seq_len(s);
        assert_int_equal(len, ub);
        assert_int_equal(got.n_logits, ub);
        got.base = len;
        rig_feed(&r, s, ids + len, CTX - len, 0, &got);
        assert_same_bits(got.logits, want.logits, (size_t)CTX * got.n_vocab, "after the cancel");
        myth_seq_close(s);
        rows_close(&want);
        rows_close(&got);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_change_nothing),
        cmocka_unit_test(one_sequence_is_one_run),
        cmocka_unit_test(a_damaged_saved_sequence_is_harmless),
        cmocka_unit_test(a_fork_needs_no_spare_room),
        cmocka_unit_test(what_a_ring_lost_stays_lost),
        cmocka_unit_test(a_checkpoint_leaves_room_for_the_whole_context),
        cmocka_unit_test(cancelled_forward_keeps_what_was_computed),
        cmocka_unit_test(chunk_page_and_micro_batch_change_no_bit),
        cmocka_unit_test(seven_ragged_sequences_equal_each_alone),
        cmocka_unit_test(ephemeral_runs_equal_appended_ones),
        cmocka_unit_test(any_walk_of_operations_equals_the_tokens_alone),
    };
    return cmocka_run_group_tests(tests, make_combos, NULL);
}
