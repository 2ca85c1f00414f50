/* test_saved.c - only the model that a sequence was saved with restores it. A damaged one is refused and changes
 * nothing. One that was saved whole is cut and goes on as if it had not been. */
#include "tests/support/rig.h"

#include "engine/base/hash.h"
#include "engine/run/engine_impl.h"

/* The ids of a saved sequence and the model that it was saved with are checked before anything is taken. */
static void a_saved_sequence_belongs_to_its_model(void **state)
{
    (void)state;
    static const char *const other[] = {"random:gemma3-tiny:q4_0", "random:gemma3-tiny:q8_0"};
    const int32_t ids[9] = {3, 4, 5, 6, 7, 8, 9, 10, 11};
    myth_engine_opts o = {.n_threads = 1, .n_ctx = 48, .page_tok = 4};
    rig r;
    rig_at(&o, rig_target());
    rig_open(&r, other[1], &o);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, 9, 0, NULL);
    uint64_t bytes = myth_seq_save_bytes(s);
    unsigned char *saved = malloc(bytes);
    assert_non_null(saved);
    assert_ok(myth_seq_save(s, saved, bytes, &rig_err));
    myth_seq_close(s);

    const int32_t outside[] = {(int32_t)r.model.config.n_vocab, -1, INT32_MIN};
    unsigned char *id = saved;
    while (id < saved + 200 && memcmp(id, ids, sizeof(ids)) != 0)
        id++;
    assert_memory_equal(id, ids, sizeof(ids));
    const uint32_t n_page = r.engine->kv.n_free_page, n_ring = r.engine->kv.n_free_ring;
    s = rig_seq(&r);
    for (size_t i = 0; i < 3; i++) {
        memcpy(id + 32, &outside[i], 4);
        myth_sum_put(saved, bytes);
        assert_int_equal(myth_seq_restore(s, saved, bytes, &rig_err), MYTH_EFORMAT);
        assert_non_null(strstr(rig_err.msg, "saved token 8"));
        assert_int_equal(myth_seq_len(s), 0);
        assert_int_equal(r.engine->kv.n_free_page, n_page);
        assert_int_equal(r.engine->kv.n_free_ring, n_ring);
    }
    memcpy(id + 32, &ids[8], 4);
    myth_sum_put(saved, bytes);
    assert_ok(myth_seq_restore(s, saved, bytes, &rig_err));
    myth_seq_close(s);
    rig_close(&r);

    for (size_t i = 0; i < 2; i++) { /* other weights of the same shapes; then the same model again */
        rig_open(&r, other[i], &o);
        s = rig_seq(&r);
        assert_int_equal(myth_seq_restore(s, saved, bytes, &rig_err), i ? MYTH_OK : MYTH_EFORMAT);
        if (i == 0)
            assert_non_null(strstr(rig_err.msg, "another model"));
        assert_int_equal(myth_seq_len(s), i ? 9 : 0);
        myth_seq_close(s);
        rig_close(&r);
    }
    free(saved);
}

/* Cuts s to n tokens, appends `more`, and keeps the logits of the last one. Returns where the cut came to. */
static uint32_t cut_and_go_on(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, rows *w)
{
    uint32_t at = 0;
    assert_ok(myth_seq_truncate(s, n, &at, &rig_err));
    rig_feed(r, s, ids + at, n - at, 0, NULL);
    rows_clear(w);
    rig_decode(r, s, 7, w);
    return at;
}

/* Checkpoints come back with a sequence that was saved whole: cuts that the ring does not reach come to the same place,
 * and what follows has the same bits. */
static void a_whole_one_is_cut_as_before(void **state)
{
    (void)state;
    enum { N = 150, FIRST = 5, SECOND = 70 };
    static const uint32_t cut[] = {SECOND + 3, FIRST + 2, FIRST - 2};
    int32_t ids[N];
    uint64_t rng = check_seed();
    myth_engine_opts o = {.n_threads = 1, .n_ctx = 160, .page_tok = 8, .n_checkpoint = 2, .want_full_logits = true};
    rig a, b;
    rig_at(&o, rig_target());
    rig_open(&a, "random:gemma3-tiny:f32", &o);
    rig_open(&b, "random:gemma3-tiny:f32", &o);
    rig_random_ids(ids, N, &a, &rng);
    myth_seq *s = rig_seq(&a);
    rig_feed(&a, s, ids, FIRST, 0, NULL);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    rig_feed(&a, s, ids + FIRST, SECOND - FIRST, 0, NULL);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    rig_feed(&a, s, ids + SECOND, N - SECOND, 0, NULL);
    const uint64_t bytes = myth_seq_save_whole_bytes(s), rest = bytes - myth_seq_save_bytes(s);
    unsigned char *saved = malloc(bytes), *bad = malloc(bytes);
    assert_true(saved && bad && rest > 0);
    assert_int_equal(myth_seq_save_whole(s, saved, bytes - 1, &rig_err), MYTH_EFULL);
    assert_ok(myth_seq_save_whole(s, saved, bytes, &rig_err));

    const uint32_t n_page = b.engine->kv.n_free_page, n_ring = b.engine->kv.n_free_ring;
    myth_seq *t = rig_seq(&b);
    for (uint32_t i = 0; i < 3; i++) { /* cut off, with something behind it, a checkpoint longer than the sequence */
        static const uint32_t too_long = N + 1;
        const uint64_t n = i == 0 ? bytes - 1 : i == 1 ? bytes - rest + 9 : bytes;
        memcpy(bad, saved, bytes);
        if (i == 2)
            memcpy(bad + bytes - rest - MYTH_SUM_BYTES, &too_long, 4);
        myth_sum_put(bad, n);
        assert_int_equal(myth_seq_restore(t, bad, n, &rig_err), MYTH_EFORMAT);
        assert_true(b.engine->kv.n_free_page == n_page && b.engine->kv.n_free_ring == n_ring);
    }
    rows want, got;
    rows_open(&want, &a, 1, false);
    rows_open(&got, &b, 1, false);
    assert_ok(myth_seq_restore(t, saved, bytes, &rig_err));
    for (size_t i = 0; i < 3; i++) {
        const uint32_t at = cut_and_go_on(&a, s, ids, cut[i], &want);
        assert_int_equal(cut_and_go_on(&b, t, ids, cut[i], &got), at);
        assert_int_equal(at, i == 0 ? SECOND : i == 1 ? FIRST : FIRST - 2);
        assert_same_bits(got.logits, want.logits, want.n_vocab, "after a cut");
    }
    myth_seq_close(t);
    assert_true(b.engine->kv.n_free_page == n_page && b.engine->kv.n_free_ring == n_ring);
    t = rig_seq(&b); /* without them it is the first that a cut comes to */
    myth_sum_put(saved, bytes - rest);
    assert_ok(myth_seq_restore(t, saved, bytes - rest, &rig_err));
    assert_int_equal(cut_and_go_on(&b, t, ids, cut[0], &got), 0);
    myth_seq_close(t);
    myth_seq_close(s);
    rows_close(&want);
    rows_close(&got);
    free(saved);
    free(bad);
    rig_close(&a);
    rig_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_saved_sequence_belongs_to_its_model),
                                       cmocka_unit_test(a_whole_one_is_cut_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
