/* again.h - a device that is out of memory in the middle of a forward: the sequences hold what they held before, and
 * the same forward, or one of fewer rows, gives the same bits. Every call of prefill, decode, and of joining and
 * stepping several answers fails once, or those that the program takes. What makes a call fail is the device's:
 * tests/vulkan, tests/cuda.
 *
 * Failure  asserts through cmocka */
#ifndef MYTH_TESTS_AGAIN_H
#define MYTH_TESTS_AGAIN_H

#include "tests/support/rig.h"

/* The program that includes this defines AGAIN_DEVICE, a name; AGAIN_LOG; AGAIN_NEXT(n), the call that fails behind the
 * nth; and these two. */
static void begin_failing(uint64_t nth); /* the nth call from now on fails for want of memory */
static bool end_failing(void);           /* false: the calls were fewer, and none failed */

enum { N = 40, CTX = 96, N_NEW = 6, N_SLOT = 3 };

static const char spec[] = "random:gemma3-tiny:q8_0"; /* a window of fewer tokens than N: rings are overwritten */

typedef struct {
    int32_t id[4];
    float logit[4], lse;
} best;

static void open_rig(rig *r)
{
    const myth_sample_params greedy = {0};
    myth_engine_opts o = {
        .device = AGAIN_DEVICE,
        .n_threads = 1,
        .n_ctx = CTX,
        .n_seq = N_SLOT + 1,
        .n_ubatch = 16,
        .top_k = 4,
        .log = AGAIN_LOG,
    };
    myth_slots_needs(&o, N_SLOT, &greedy, false);
    rig_open(r, spec, &o);
}

static myth_status feed(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, bool is_decode, best *out)
{
    const myth_batch_run run = {.seq = s, .token = ids, .n = n, .want_last = MYTH_WANT_LOGITS};
    const myth_batch b = {.run = &run, .n_run = 1, .is_decode = is_decode, .top_k = 4};
    myth_result got;
    const myth_status st = myth_forward(r->engine, &b, &got, &rig_err);
    if (st == MYTH_OK) {
        memcpy(out->id, got.top_id, sizeof(out->id));
        memcpy(out->logit, got.top_logit, sizeof(out->logit));
        out->lse = got.lse[0];
    }
    return st;
}

/* The forward whose nth call fails; false: it has fewer. s then holds what it held, and so it does at the end. */
static bool fails_and_goes_again(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, bool is_decode, uint64_t nth,
                                 const best *want)
{
    const uint32_t held = myth_seq_len(s);
    best got = {0};
    uint32_t at;
    begin_failing(nth);
    const myth_status st = feed(r, s, ids, n, is_decode, &got);
    if (st != MYTH_OK) {
        assert_int_equal(st, MYTH_ENOMEM);
        assert_int_equal(myth_seq_len(s), held);
        assert_ok(feed(r, s, ids, n, is_decode, &got));
    }
    const bool has_failed = end_failing();
    assert_true(has_failed || st == MYTH_OK);
    assert_memory_equal(&got, want, sizeof(got));
    assert_int_equal(myth_seq_len(s), held + n);
    assert_ok(myth_seq_truncate(s, held, &at, &rig_err));
    assert_int_equal(at, held);
    return has_failed;
}

static void forwards_can_be_done_again(void **state)
{
    (void)state;
    int32_t ids[N];
    best first, second;
    uint64_t n;
    uint32_t at, n_failed = 0;
    rig r;
    open_rig(&r);
    for (int32_t i = 0; i < N; i++)
        ids[i] = 3 + 7 * i % 400;
    myth_seq *s = rig_seq(&r);
    assert_ok(feed(&r, s, ids, N, false, &first));
    assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
    for (n = 1; fails_and_goes_again(&r, s, ids, N, false, n, &first); n = AGAIN_NEXT(n))
        n_failed++;
    printf("prefill: %u calls failed, the last before the %lluth\n", n_failed, (unsigned long long)n);
    assert_true(n_failed > 3);
    assert_ok(feed(&r, s, ids, N, false, &first));
    assert_ok(feed(&r, s, first.id, 1, true, &second)); /* records the step */
    assert_ok(myth_seq_truncate(s, N, &at, &rig_err));
    assert_int_equal(at, N);
    n_failed = 0;
    for (n = 1; fails_and_goes_again(&r, s, first.id, 1, true, n, &second); n = AGAIN_NEXT(n))
        n_failed++;
    printf("decode: %u calls failed, the last before the %lluth\n", n_failed, (unsigned long long)n);
    assert_true(n_failed > 1);
    myth_seq_close(s);
    rig_close(&r);
}

/* Behind a gap: what follows a failure has the positions that it would have had. Of one token rings reach back. */
static void a_gap_at_the_end_stays(void **state)
{
    (void)state;
    for (uint32_t front = 0; front < 6; front += 5) { /* all that is held is evicted, or its end */
        int32_t ids[N];
        best want, got;
        uint64_t nth = 0;
        rig r;
        open_rig(&r);
        for (int32_t i = 0; i < N; i++)
            ids[i] = 3 + 7 * i % 400;
        for (bool has_failed = true; has_failed; nth = nth ? AGAIN_NEXT(nth) : 1) {
            myth_seq *s = rig_seq(&r);
            assert_ok(feed(&r, s, ids, 12, false, &got));
            assert_ok(myth_seq_evict(s, front, 12 - front, &rig_err));
            if (nth)
                begin_failing(nth);
            const myth_status st = feed(&r, s, ids + 12, 1, false, nth ? &got : &want);
            if (st != MYTH_OK) {
                assert_int_equal(myth_seq_len(s), front);
                assert_int_equal(myth_seq_pos(s), 12);
                assert_ok(feed(&r, s, ids + 12, 1, false, &got));
            }
            has_failed = nth ? end_failing() : true;
            assert_int_equal(myth_seq_pos(s), 13);
            if (nth)
                assert_memory_equal(&got, &want, sizeof(got));
            myth_seq_close(s);
        }
        assert_true(nth > 2);
        rig_close(&r);
    }
}

static void answers_go_on(void **state)
{
    (void)state;
    static int32_t prompt[N_SLOT][N], want[N_SLOT][N_NEW], got[N_SLOT][N_NEW];
    uint32_t n[N_SLOT] = {9, 30, 20}, n_ids, n_again = 0;
    myth_finish why;
    myth_slots *slots;
    rig r;
    open_rig(&r);
    for (int32_t i = 0; i < N_SLOT * N; i++)
        prompt[i / N][i % N] = 3 + 11 * i % 400;
    assert_ok(myth_slots_open(&slots, r.engine, N_SLOT, &rig_err));
    for (uint64_t nth = 0;; nth = nth ? AGAIN_NEXT(nth) : 1) {
        myth_seq *s[N_SLOT];
        bool goes_on = true;
        memset(got, 0, sizeof(got));
        myth_slots_limit(slots, 0);
        for (uint32_t i = 0; i < N_SLOT; i++) {
            const myth_generate_opts o = {.prompt = prompt[i], .n_prompt = n[i], .n_max = N_NEW};
            s[i] = rig_seq(&r);
            assert_ok(myth_slots_start(slots, i, s[i], &o, got[i], &rig_err));
        }
        begin_failing(nth);
        while (goes_on) {
            const myth_status st = myth_slots_step(slots, &rig_err);
            if (st != MYTH_OK) {
                assert_int_equal(st, MYTH_ENOMEM);
                myth_slots_limit(slots, 1 + nth % 9); /* fewer rows from here on */
                n_again++;
            }
            goes_on = false;
            for (uint32_t i = 0; i < N_SLOT; i++)
                goes_on |= myth_slots_get(slots, i, &n_ids, &why);
        }
        const bool has_failed = end_failing();
        for (uint32_t i = 0; i < N_SLOT; i++) {
            assert_false(myth_slots_get(slots, i, &n_ids, &why));
            assert_int_equal(why, MYTH_FINISH_LENGTH);
            assert_int_equal(n_ids, N_NEW);
            myth_seq_close(s[i]);
        }
        if (nth == 0)
            memcpy(want, got, sizeof(got));
        assert_memory_equal(want, got, sizeof(got));
        if (nth && !has_failed)
            break;
        nth += nth && !check_is_full() ? nth / 4 : 0;
    }
    printf("%u steps were done again\n", n_again);
    assert_true(n_again > 3);
    myth_slots_close(slots);
    rig_close(&r);
}

static int again_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forwards_can_be_done_again),
        cmocka_unit_test(a_gap_at_the_end_stays),
        cmocka_unit_test(answers_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
