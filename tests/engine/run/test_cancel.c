/* test_cancel.c - a flag that is set at any op of a forward ends it there; what the sequence then holds goes on to the
 * bits of one that was never disturbed. Opening tells how far it is, and ends where it is asked to. */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"

enum { BEFORE = 10, N_UBATCH = 16, N_NEW = 40, N_IDS = BEFORE + N_NEW, N_CTX = 64 };

static myth_cancel stop;
static uint32_t n_op, stop_at; /* 0 = never */

static void count(void *user, int op, const void *args)
{
    (void)user;
    (void)op;
    (void)args;
    if (++n_op == stop_at)
        myth_cancel_set(&stop);
}

static myth_status feed(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, bool is_decode, myth_result *out)
{
    const myth_batch_run run = {.seq = s, .token = ids, .n = n, .want_last = MYTH_WANT_LOGITS};
    myth_error err;
    n_op = 0;
    const myth_status st = myth_forward(
        r->engine, &(myth_batch){.run = &run, .n_run = 1, .is_decode = is_decode, .cancel = &stop}, out, &err);
    myth_cancel_clear(&stop);
    if (st != MYTH_OK)
        assert_int_equal(err.code, st);
    return st;
}

/* The best id behind all ids, and its logit. */
static void end(rig *r, myth_seq *s, const int32_t *ids, float best[2])
{
    myth_result out;
    const uint32_t held = myth_seq_len(s);
    stop_at = 0;
    if (held < N_IDS)
        assert_int_equal(feed(r, s, ids + held, N_IDS - held, false, &out), MYTH_OK);
    assert_int_equal(feed(r, s, ids, 1, true, &out), MYTH_OK);
    best[0] = (float)out.top_id[0];
    best[1] = out.top_logit[0];
}

static void a_forward_ends_at_any_op(void **state)
{
    (void)state;
    /* The first has no rings, so it keeps what was done; rings of the others are overwritten, and nothing is left. */
    static const char *const model[] = {"random:gemma1-tiny:f32", "random:gemma3-tiny:q8_0", "random:gemma4-tiny:f32",
                                        "random:gemma3n-tiny:q8_0"};
    for (size_t m = 0; m < sizeof(model) / sizeof(*model); m++) {
        rig r;
        int32_t ids[N_IDS];
        uint64_t rng = check_seed();
        float want[2], got[2];
        uint32_t n_cut[4] = {0}, n_less = 0, n_decode = 0;
        rig_open(&r, model[m], &(myth_engine_opts){.device = "cpu", .n_ctx = N_CTX, .n_ubatch = N_UBATCH});
        assert_int_equal(myth_device_observe(r.engine->part->dev, count, NULL, NULL), MYTH_OK);
        rig_random_ids(ids, N_IDS, &r, &rng);
        myth_seq *s = rig_seq(&r);
        end(&r, s, ids, want);
        myth_seq_close(s);
        for (uint32_t k = 1;; k += check_is_full() ? 1 : 1 + check_below(&rng, m ? 8 : 2)) {
            myth_result out;
            s = rig_seq(&r);
            stop_at = 0;
            assert_int_equal(feed(&r, s, ids, BEFORE, false, &out), MYTH_OK);
            stop_at = k;
            const myth_status st = feed(&r, s, ids + BEFORE, N_NEW, false, &out);
            const uint32_t held = myth_seq_len(s), n_done = held >= BEFORE ? (held - BEFORE) / N_UBATCH : 0;
            if (st == MYTH_OK)
                assert_int_equal(held, N_IDS);
            else {
                assert_int_equal(st, MYTH_ECANCEL);
                assert_true(held == 0 || held == BEFORE + n_done * N_UBATCH);
                assert_true(out.n_rows == 0 && held < N_IDS);
                n_less += held == 0;
                n_cut[n_done] += held > 0;
            }
            end(&r, s, ids, got);
            assert_memory_equal(want, got, sizeof(want));
            const uint32_t here = myth_seq_len(s);
            stop_at = k;
            if (feed(&r, s, ids, 1, true, &out) == MYTH_ECANCEL) {
                assert_true(myth_seq_len(s) == here || myth_seq_len(s) == 0);
                n_decode++;
            }
            myth_seq_close(s);
            assert_int_equal(r.engine->kv.n_free_page, r.engine->kv.n_page);
            assert_int_equal(r.engine->kv.n_free_ring, r.engine->kv.n_ring);
            if (st == MYTH_OK)
                break;
        }
        printf("%s: cut with 0, 1, 2 micro-batches done %u, %u, %u times, with nothing left %u; decode %u\n", model[m],
               n_cut[0], n_cut[1], n_cut[2], n_less, n_decode);
        assert_true(n_cut[0] + n_cut[1] + n_cut[2] + n_less > 10 && n_decode > 1);
        assert_true(m || (n_cut[0] > 3 && n_cut[1] > 3 && n_cut[2] > 3 && !n_less));
        rig_close(&r);
    }
}

/* ---- opening ---- */

typedef struct {
    uint64_t done, total;
    uint32_t n, stop_at; /* 0 = never */
    myth_cancel stop;
} opening;

static void watch(void *user, uint64_t done, uint64_t total)
{
    opening *o = user;
    assert_true(done > o->done && done <= total && (o->n == 0 || total == o->total));
    o->done = done;
    o->total = total;
    if (++o->n == o->stop_at)
        myth_cancel_set(&o->stop);
}

static opening open_watched(myth_model *model, const char *device, uint32_t at)
{
    opening o = {.stop_at = at};
    myth_engine *e = NULL;
    myth_error err = {0};
    const uint64_t before = myth_mem_total(model->mem, MYTH_MEM_HOST).live;
    myth_engine_opts opts = {.device = device, .n_ctx = N_CTX, .n_ubatch = N_UBATCH};
    opts.watch = (myth_watch){.on_progress = watch, .user = &o, .cancel = &o.stop};
    rig_environment(&opts);
    const myth_status st = myth_engine_open(&e, model, &opts, &err);
    assert_int_equal(st, at ? MYTH_ECANCEL : MYTH_OK);
    assert_true((e != NULL) == !at);
    if (at)
        assert_non_null(strstr(err.msg, "cancelled at byte"));
    myth_engine_close(e);
    assert_int_equal(myth_mem_total(model->mem, MYTH_MEM_HOST).live, before);
    return o;
}

static void opening_tells_how_far_it_is_and_ends(void **state)
{
    (void)state;
    char device[RIG_TARGET_MAX][32], path[1024];
    const char *const spec[] = {"random:gemma3-tiny:q8_0", "random:gemma4-tiny:f32",
                                check_path(path, sizeof(path), "tests/golden/models/gemma3-layers")};
    const uint32_t n_device = rig_devices(device);
    for (uint32_t d = 0; d < n_device; d++)
        for (size_t m = 0; m < sizeof(spec) / sizeof(*spec); m++) {
            myth_mem *mem;
            myth_model model;
            assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
            assert_int_equal(myth_model_open(&model, mem, spec[m], NULL, NULL), MYTH_OK);
            const opening whole = open_watched(&model, device[d], 0);
            assert_true(whole.done == whole.total);
            if (strcmp(device[d], "cpu") == 0 && spec[m] == path)
                assert_int_equal(whole.n, 0); /* used in the file */
            else
                assert_true(whole.n > 10);
            for (uint32_t k = 1; k <= whole.n; k += 1 + whole.n / 3)
                assert_int_equal(open_watched(&model, device[d], k).n, k);
            if (whole.n)
                open_watched(&model, device[d], whole.n);
            myth_model_close(&model);
            assert_int_equal(myth_mem_close(mem), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_forward_ends_at_any_op),
                                       cmocka_unit_test(opening_tells_how_far_it_is_and_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
