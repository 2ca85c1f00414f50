/* test_saved.c - only the model that a sequence was saved with restores it. A damaged one is refused and changes
 * nothing. */
#include "tests/support/rig.h"

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
        assert_int_equal(myth_seq_restore(s, saved, bytes, &rig_err), MYTH_EFORMAT);
        assert_non_null(strstr(rig_err.msg, "saved token 8"));
        assert_int_equal(myth_seq_len(s), 0);
        assert_int_equal(r.engine->kv.n_free_page, n_page);
        assert_int_equal(r.engine->kv.n_free_ring, n_ring);
    }
    memcpy(id + 32, &ids[8], 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_saved_sequence_belongs_to_its_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
