/* test_batch.c - batches that consist of runs: the results that a run asks for, runs that are refused, and
 * myth_seq_sync, which makes a sequence have given tokens. */
#include "tests/support/rig.h"

#include <stdlib.h>
#include <string.h>

enum { N = 40 };

static void open_tiny(rig *r, uint32_t n_seq, uint32_t n_ubatch)
{
    rig_open(r, "random:gemma3-tiny:bf16",
             &(myth_engine_opts){
                 .device = "cpu",
                 .n_threads = 2,
                 .n_ctx = 64,
                 .n_seq = n_seq,
                 .n_ubatch = n_ubatch,
                 .n_logit_rows = N,
                 .want_full_logits = true,
             });
}

/* want of the run, want_last and the array per token add up; rows come in the order of the tokens of all runs. */
static void wants_add_up(void **state)
{
    (void)state;
    rig r;
    rows all, got;
    int32_t ids[N];
    uint64_t seed = check_seed();
    open_tiny(&r, 2, 7); /* runs are cut by the micro-batch */
    rig_random_ids(ids, N, &r, &seed);
    rows_open(&all, &r, N, false);
    rows_open(&got, &r, N, false);
    myth_seq *a = rig_seq(&r), *b = rig_seq(&r);
    myth_batch_run run[2] = {{.seq = a, .token = ids, .n = 15, .want = MYTH_WANT_FULL_LOGITS},
                             {.seq = b, .token = ids + 15, .n = 25, .want = MYTH_WANT_FULL_LOGITS}};
    myth_batch batch = {.run = run, .n_run = 2, .on_full_logits = rows_on_logits, .user = &all};
    assert_ok(myth_forward(r.engine, &batch, NULL, &rig_err));
    assert_int_equal(all.n_logits, N);
    for (int i = 0; i < 2; i++) {
        uint32_t at;
        assert_ok(myth_seq_truncate(i ? b : a, 0, &at, &rig_err));
    }
    uint8_t want[N] = {0};
    want[3] = want[20] = MYTH_WANT_FULL_LOGITS;
    run[0].want = run[1].want = 0;
    run[0].want_last = run[1].want_last = MYTH_WANT_FULL_LOGITS;
    batch.want = want;
    batch.user = &got;
    assert_ok(myth_forward(r.engine, &batch, NULL, &rig_err));
    assert_int_equal(got.n_logits, 4);
    static const uint32_t asked[] = {3, 14, 20, 39};
    for (int i = 0; i < 4; i++)
        assert_same_bits(got.logits + (size_t)asked[i] * got.n_vocab, all.logits + (size_t)asked[i] * all.n_vocab,
                         all.n_vocab, "an asked row");
    myth_seq_close(a);
    myth_seq_close(b);
    rows_close(&all);
    rows_close(&got);
    rig_close(&r);
}

static void wrong_runs_change_nothing(void **state)
{
    (void)state;
    rig r;
    int32_t ids[N];
    uint64_t seed = check_seed();
    open_tiny(&r, 2, 16);
    rig_random_ids(ids, N, &r, &seed);
    myth_seq *a = rig_seq(&r), *b = rig_seq(&r);
    const myth_batch_run twice[] = {
        {.seq = a, .token = ids, .n = 2}, {.seq = b, .token = ids, .n = 2}, {.seq = a, .token = ids + 2, .n = 2}};
    const myth_batch_run empty[] = {{.seq = a, .token = ids, .n = 2}, {.seq = b, .token = ids, .n = 0}};
    const myth_batch_run both[] = {{.seq = a, .token = ids, .n = 2},
                                   {.seq = a, .token = ids, .n = 2, .is_ephemeral = true}};
    const myth_batch_run wide[] = {{.seq = a, .token = ids, .n = 17, .is_ephemeral = true}};
    assert_int_equal(myth_forward(r.engine, &(myth_batch){.run = twice, .n_run = 3}, NULL, &rig_err), MYTH_EARG);
    assert_non_null(strstr(rig_err.msg, "run 2"));
    assert_int_equal(myth_forward(r.engine, &(myth_batch){.run = empty, .n_run = 2}, NULL, &rig_err), MYTH_EARG);
    assert_non_null(strstr(rig_err.msg, "run 1"));
    assert_int_equal(myth_forward(r.engine, &(myth_batch){.run = both, .n_run = 2}, NULL, &rig_err), MYTH_EARG);
    assert_int_equal(myth_forward(r.engine, &(myth_batch){.run = wide, .n_run = 1}, NULL, &rig_err), MYTH_EFULL);
    assert_string_equal(rig_err.option, "n_ubatch");
    assert_int_equal(myth_seq_len(a) + myth_seq_len(b), 0);
    rig other;
    open_tiny(&other, 1, 16);
    myth_seq *elsewhere = rig_seq(&other);
    myth_seq_close(b);
    myth_seq *const none[] = {NULL, b, elsewhere}; /* no sequence, one that is closed, another engine's */
    for (int i = 0; i < 3; i++) {
        const myth_batch_run run[] = {{.seq = a, .token = ids, .n = 2}, {.seq = none[i], .token = ids, .n = 2}};
        assert_int_equal(myth_forward(r.engine, &(myth_batch){.run = run, .n_run = 2}, NULL, &rig_err), MYTH_EARG);
        assert_non_null(strstr(rig_err.msg, "run 1"));
    }
    assert_int_equal(myth_seq_len(a), 0);
    myth_seq_close(elsewhere);
    myth_seq_close(a);
    rig_close(&other);
    rig_close(&r);
}

/* From any tokens held to any others, what follows is as if the sequence had been fed them alone. */
static void sync_equals_a_fresh_sequence(void **state)
{
    (void)state;
    rig r;
    rows want, got;
    int32_t ids[N], other[N];
    uint64_t seed = check_seed();
    open_tiny(&r, 2, 9);
    rows_open(&want, &r, N + 1, false);
    rows_open(&got, &r, N + 1, false);
    myth_seq *s = rig_seq(&r);
    rig_random_ids(ids, N, &r, &seed);
    for (int round = 0; round < 40; round++) {
        const uint32_t same = check_below(&seed, N), n = same + check_below(&seed, N - same + 1),
                       held = myth_seq_len(s);
        uint32_t n_fed, prefix = 0;
        memcpy(other, ids, sizeof(other));
        rig_random_ids(other + same, N - same, &r, &seed);
        while (prefix < held && prefix < n && myth_seq_tokens(s)[prefix] == other[prefix])
            prefix++;
        assert_ok(myth_seq_sync(s, other, n, &n_fed, &rig_err));
        assert_int_equal(myth_seq_len(s), n);
        assert_memory_equal(myth_seq_tokens(s), other, n * sizeof(*other));
        assert_true(n_fed >= n - prefix && n_fed <= n);
        myth_seq *alone = rig_seq(&r);
        rows_clear(&want);
        rows_clear(&got);
        if (n)
            rig_feed(&r, alone, other, n, 0, NULL);
        rig_feed(&r, alone, ids, 1, 0, &want);
        rig_feed(&r, s, ids, 1, 0, &got);
        assert_same_bits(got.logits, want.logits, got.n_vocab, "the token after");
        myth_seq_close(alone);
        memcpy(ids, other, sizeof(ids));
    }
    int32_t bad[3] = {1, 2, -1};
    assert_int_equal(myth_seq_sync(s, bad, 3, NULL, &rig_err), MYTH_EARG);
    assert_true(myth_seq_len(s) <= 2);
    myth_seq_close(s);
    rows_close(&want);
    rows_close(&got);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wants_add_up),
        cmocka_unit_test(wrong_runs_change_nothing),
        cmocka_unit_test(sync_equals_a_fresh_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
