/* test_capture_sums.c - saved sums of two engines, added up, are those of one engine that saw the rows of both; what is
 * of another shape is refused, and sums that cannot be added mark their layer.
 *
 * Oracle   one engine that is fed everything */
#include "tests/support/rig.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { N_TOK = 90, N_LABEL = 3, N_LAYER = 3, HEAD = 32 + 16 }; /* bytes before the counts: a head, three layers */

static const uint32_t layer[N_LAYER] = {0, 2, 5};

static void open_one(rig *r, uint32_t n_label)
{
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .n_ctx = 128,
        .n_ubatch = 16,
        .no_cache = true,
        .capture_layer = layer,
        .n_capture_layer = N_LAYER,
        .n_capture_label = n_label,
    };
    rig_open(r, "random:gemma3-tiny:q8_0", &o);
}

/* Feeds tokens from .. to - 1, seven a prompt, each with its label. */
static void feed(rig *r, const int32_t *ids, uint32_t from, uint32_t to)
{
    myth_seq *s = rig_seq(r);
    for (uint32_t at = from, n; at < to; at += n) {
        int32_t label[7];
        n = to - at < 7 ? to - at : 7;
        for (uint32_t i = 0; i < n; i++)
            label[i] = (int32_t)((at + i) % (N_LABEL + 1)) - 1;
        const myth_batch_run run = {.seq = s, .token = ids + at, .n = n, .is_ephemeral = true};
        assert_ok(
            myth_forward(r->engine, &(myth_batch){.run = &run, .n_run = 1, .capture_label = label}, NULL, &rig_err));
    }
    myth_seq_close(s);
}

static unsigned char *save(rig *r, uint64_t *bytes)
{
    *bytes = myth_capture_state_bytes(r->engine);
    unsigned char *saved = malloc(*bytes);
    assert_non_null(saved);
    assert_ok(myth_capture_save(r->engine, saved, *bytes, &rig_err));
    return saved;
}

static void added_sums_are_those_of_all_rows(void **state)
{
    (void)state;
    rig r;
    int32_t ids[N_TOK];
    uint64_t rng = check_seed(), bytes;
    open_one(&r, N_LABEL);
    rig_random_ids(ids, N_TOK, &r, &rng);
    feed(&r, ids, 0, N_TOK);
    unsigned char *want = save(&r, &bytes), *part[3];
    const uint32_t end[4] = {0, 49, 49, N_TOK}; /* the middle one has seen nothing */
    for (int i = 0; i < 3; i++) {
        assert_ok(myth_capture_reset(r.engine, &rig_err));
        feed(&r, ids, end[i], end[i + 1]);
        part[i] = save(&r, &bytes);
    }
    assert_true(memcmp(part[0], want, bytes) != 0);
    assert_ok(myth_capture_add_saved(part[0], part[2], bytes, &rig_err));
    assert_memory_equal(part[0], want, bytes);
    assert_ok(myth_capture_add_saved(part[1], want, bytes, &rig_err));
    assert_memory_equal(part[1], want, bytes);

    /* of another shape or model, cut, or none: refused, and nothing changed */
    rig other;
    uint64_t other_bytes;
    open_one(&other, N_LABEL - 1);
    unsigned char *less = save(&other, &other_bytes);
    rig_close(&other);
    memcpy(part[2], less, other_bytes < bytes ? other_bytes : bytes);
    assert_int_equal(myth_capture_add_saved(part[0], part[2], bytes, &rig_err), MYTH_EFORMAT);
    assert_int_equal(myth_capture_add_saved(part[0], want, bytes - 1, &rig_err), MYTH_EFORMAT);
    assert_int_equal(myth_capture_add_saved(part[0], want, 20, &rig_err), MYTH_EFORMAT);
    assert_int_equal(myth_capture_add_saved(part[0], want, 0, &rig_err), MYTH_EFORMAT);
    for (uint32_t at = 0; at < HEAD - 4; at += 4) { /* every word before the counts */
        memcpy(part[2], want, bytes);
        part[2][at] ^= 1;
        assert_int_equal(myth_capture_add_saved(part[0], part[2], bytes, &rig_err), MYTH_EFORMAT);
        assert_int_equal(myth_capture_add_saved(part[2], want, bytes, &rig_err), MYTH_EFORMAT);
    }
    for (uint64_t at = HEAD; at < bytes; at += 1 + bytes / 97) { /* counts and sums */
        memcpy(part[2], want, bytes);
        part[2][at] ^= 32;
        assert_int_equal(myth_capture_add_saved(part[0], part[2], bytes, &rig_err), MYTH_EFORMAT);
        assert_int_equal(myth_capture_add_saved(part[2], want, bytes, &rig_err), MYTH_EFORMAT);
        assert_int_equal(myth_capture_restore(r.engine, part[2], bytes, &rig_err), MYTH_EFORMAT);
    }
    assert_memory_equal(part[0], want, bytes);
    for (int i = 0; i < 3; i++)
        free(part[i]);
    free(less);
    free(want);
    rig_close(&r);
}

static void a_layer_that_cannot_be_added_is_marked(void **state)
{
    (void)state;
    rig r;
    int32_t ids[N_TOK];
    uint64_t rng = check_seed(), bytes, n;
    double mean[1024];
    open_one(&r, N_LABEL);
    rig_random_ids(ids, N_TOK, &r, &rng);
    feed(&r, ids, 0, N_TOK);
    const uint32_t d = r.model.config.d_model;
    const uint64_t sums = 8ull * N_LABEL * d, first = HEAD + 8 * N_LABEL;
    unsigned char *saved = save(&r, &bytes), *more = malloc(bytes);
    assert_true(more && d <= 1024);
    for (int how = 0; how < 3; how++) { /* a mark of the one, of the other; a sum past the range */
        const int64_t most = INT64_MAX - 3;
        const int32_t mark = 1;
        unsigned char *into = malloc(bytes);
        assert_non_null(into);
        memcpy(into, saved, bytes);
        memcpy(more, saved, bytes);
        if (how < 2)
            memcpy((how ? more : into) + first + (sums + 4) + sums, &mark, 4); /* of the second layer */
        for (int i = 0; i < 2 && how == 2; i++)
            memcpy((i ? more : into) + first + (sums + 4) + 8 * (uint64_t)d, &most, 8);
        myth_sum_put(into, bytes);
        myth_sum_put(more, bytes);
        assert_ok(myth_capture_add_saved(into, more, bytes, &rig_err));
        assert_ok(myth_capture_restore(r.engine, into, bytes, &rig_err));
        assert_ok(myth_capture_read(r.engine, 0, layer[0], mean, &n, &rig_err));
        assert_int_equal(myth_capture_read(r.engine, 0, layer[1], mean, &n, &rig_err), MYTH_EFORMAT);
        assert_ok(myth_capture_read(r.engine, 2, layer[2], mean, &n, &rig_err));
        free(into);
    }
    free(more);
    free(saved);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_sums_are_those_of_all_rows),
        cmocka_unit_test(a_layer_that_cannot_be_added_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
