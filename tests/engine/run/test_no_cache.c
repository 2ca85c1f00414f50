/* test_no_cache.c - an engine without a cache: the rows of ephemeral runs have the bits that they have beside a cache,
 * on every family and device; no class of keys and values has a byte; what would need a cache is refused. */
#include "tests/support/rig.h"

#include <string.h>

static const char *const spec[] = {
    "random:gemma1-tiny:f32",  "random:gemma2-tiny:bf16",  "random:gemma3-tiny:q8_0",    "random:gemma3n-tiny:f32",
    "random:gemma4-tiny:bf16", "random:gemma4-e-tiny:f32", "random:gemma4-moe-tiny:f32",
};
enum { SPEC_N = sizeof(spec) / sizeof(spec[0]), RUN_N = 5, TOK_N = 97 };
/* longer and shorter than a window of 8, and a single token; together more than the context of 40 */
static const uint32_t run_len[RUN_N] = {40, 1, 9, 17, 30};

static void forward(rig *r, rows *w)
{
    int32_t id[TOK_N];
    myth_seq *s = rig_seq(r);
    myth_batch_run run[RUN_N];
    for (uint32_t i = 0; i < TOK_N; i++)
        id[i] = (int32_t)(i * 37 % r->model.config.n_vocab);
    for (uint32_t k = 0, at = 0; k < RUN_N; at += run_len[k++])
        run[k] = (myth_batch_run){
            .seq = s,
            .token = id + at,
            .n = run_len[k],
            .want = MYTH_WANT_HIDDEN | MYTH_WANT_FULL_LOGITS,
            .is_ephemeral = true,
        };
    rows_clear(w);
    assert_ok(myth_forward(r->engine,
                           &(myth_batch){
                               .run = run,
                               .n_run = RUN_N,
                               .on_full_logits = rows_on_logits,
                               .on_hidden = rows_on_hidden,
                               .user = w,
                           },
                           NULL, &rig_err));
    assert_int_equal(w->n_logits, TOK_N);
    assert_int_equal(w->n_hidden, TOK_N * (r->model.config.n_layer + 1));
    assert_int_equal(myth_seq_len(s), 0);
    myth_seq_close(s);
}

/* Live and peak of every class are those of the plan, which has no keys and values. */
static void assert_no_cache_booked(const rig *r, const char *what)
{
    const myth_plan *p = myth_engine_plan(r->engine);
    assert_int_equal(p->n_page, 0);
    for (uint32_t d = 0; d < p->n_device; d++)
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            const myth_mem_count use = myth_mem_get(r->mem, p->device[d].ledger, (myth_mem_class)c);
            if (use.live != p->device[d].bytes[c])
                fail_msg("%s: class %d on %s: %llu bytes, planned %llu", what, c, p->device[d].name,
                         (unsigned long long)use.live, (unsigned long long)p->device[d].bytes[c]);
            if (c == MYTH_MEM_KV_GLOBAL || c == MYTH_MEM_KV_LOCAL)
                assert_true(use.peak == 0 && p->device[d].bytes[c] == 0);
        }
}

static void bits_are_those_beside_a_cache(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (int m = 0; m < SPEC_N; m++)
        for (uint32_t t = 0; t < n_target; t++) {
            if (!check_is_full() && t && (uint32_t)m % n_target != t)
                continue;
            rig r;
            rows want, got;
            myth_engine_opts o = {
                .n_threads = 2,
                .n_ctx = 40,
                .n_seq = 3,
                .n_ubatch = TOK_N,
                .want_full_logits = true,
                .want_hidden = true,
            };
            rig_at(&o, target[t]);
            rig_open(&r, spec[m], &o);
            rows_open(&want, &r, TOK_N, true);
            rows_open(&got, &r, TOK_N, true);
            forward(&r, &want);
            assert_true(myth_engine_plan(r.engine)->bytes[MYTH_MEM_KV_GLOBAL] > 0);
            const uint64_t with = myth_engine_plan(r.engine)->total_bytes;
            rig_close(&r);
            o.no_cache = true;
            o.n_seq = 1; /* a micro-batch of more rows than the context has */
            for (int narrow = 0; narrow < 2; narrow++) {
                o.n_ubatch = narrow ? 40 : TOK_N;
                rig_open(&r, spec[m], &o);
                assert_int_equal(myth_engine_plan(r.engine)->n_ubatch, o.n_ubatch);
                assert_no_cache_booked(&r, spec[m]);
                assert_true(myth_engine_plan(r.engine)->total_bytes < with);
                const uint64_t n_alloc = myth_mem_n_alloc(r.mem);
                forward(&r, &got);
                assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);
                assert_no_cache_booked(&r, spec[m]);
                assert_same_bits(got.hidden, want.hidden, (size_t)(want.n_layer + 1) * TOK_N * want.d_model, spec[m]);
                assert_same_bits(got.logits, want.logits, (size_t)TOK_N * want.n_vocab, spec[m]);
                rig_close(&r);
            }
            rows_close(&want);
            rows_close(&got);
        }
}

static void what_needs_a_cache_is_refused(void **state)
{
    (void)state;
    rig r;
    unsigned char saved[4096];
    int32_t id[2] = {3, 4};
    rig_open(&r, spec[2], &(myth_engine_opts){.device = "cpu", .n_threads = 1, .n_ctx = 32});
    myth_seq *s = rig_seq(&r);
    const uint64_t bytes = myth_seq_save_bytes(s);
    assert_true(bytes <= sizeof saved);
    assert_ok(myth_seq_save(s, saved, sizeof saved, &rig_err));
    myth_seq_close(s);
    rig_close(&r);

    rig_open(&r, spec[2], &(myth_engine_opts){.device = "cpu", .n_threads = 1, .n_ctx = 32, .no_cache = true});
    s = rig_seq(&r);
    myth_batch_run run = {.seq = s, .token = id, .n = 2, .want_last = MYTH_WANT_LOGITS};
    myth_batch b = {.run = &run, .n_run = 1};
    assert_int_equal(myth_forward(r.engine, &b, NULL, &rig_err), MYTH_EUNSUPPORTED);
    assert_non_null(strstr(rig_err.msg, "no_cache"));
    assert_int_equal(myth_seq_sync(s, id, 2, NULL, &rig_err), MYTH_EUNSUPPORTED);
    run.is_ephemeral = true;
    run.n = 1;
    b.is_decode = true;
    assert_int_equal(myth_forward(r.engine, &b, NULL, &rig_err), MYTH_EUNSUPPORTED);
    assert_int_equal(myth_seq_restore(s, saved, bytes, &rig_err), MYTH_EUNSUPPORTED);
    assert_int_equal(myth_seq_len(s), 0);
    b.is_decode = false;
    assert_ok(myth_forward(r.engine, &b, NULL, &rig_err)); /* and nothing is broken */
    int32_t long_run[33] = {0};
    run.token = long_run;
    run.n = 33;
    assert_int_equal(myth_forward(r.engine, &b, NULL, &rig_err), MYTH_EFULL); /* longer than the context */
    assert_non_null(strstr(rig_err.msg, "n_ctx"));
    myth_seq_close(s);
    rig_close(&r);

    myth_plan p;
    rig_open(&r, spec[2], &(myth_engine_opts){.device = "cpu", .n_threads = 1, .n_ctx = 32});
    assert_int_equal(myth_plan_make(&p, &r.model,
                                    &(myth_engine_opts){.device = "cpu", .no_cache = true, .offload = MYTH_OFFLOAD_KV},
                                    NULL, NULL, false, &rig_err),
                     MYTH_EARG);
    assert_non_null(strstr(rig_err.msg, "offload"));
    rig_close(&r);
}

/* What the cache takes is what is saved: the scratch of one layer was there before. */
static void the_bytes_of_the_cache_are_saved(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t n_ctx, n_seq, n_ubatch;
        uint64_t kv;
    } shape[] = {
        {"random:gemma3-270m:q8_0", 512, 1, 512, 9437184},        /* 18 layers x 512 rows x 2 x 256 x f16 */
        {"random:gemma3-12b:bf16", 64, 128, 8192, 3221225472ull}, /* 48 layers x 8192 rows x 2 x 8 x 256 x f16 */
    };
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        myth_mem *mem;
        myth_model m = {0};
        myth_plan with, without;
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(
            myth_model_open(&m, mem, shape[i].spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
        myth_engine_opts o = {
            .device = "cpu",
            .n_threads = 2,
            .n_ctx = shape[i].n_ctx,
            .n_seq = shape[i].n_seq,
            .n_ubatch = shape[i].n_ubatch,
        };
        assert_ok(myth_plan_make(&with, &m, &o, NULL, NULL, false, &rig_err));
        o.no_cache = true;
        o.n_seq = 1;
        assert_ok(myth_plan_make(&without, &m, &o, NULL, NULL, false, &rig_err));
        assert_int_equal(with.bytes[MYTH_MEM_KV_GLOBAL] + with.bytes[MYTH_MEM_KV_LOCAL], shape[i].kv);
        assert_int_equal(without.bytes[MYTH_MEM_KV_GLOBAL] + without.bytes[MYTH_MEM_KV_LOCAL], 0);
        assert_int_equal(without.n_ubatch, shape[i].n_ubatch);
        assert_true(without.bytes[MYTH_MEM_ACTIVATIONS] <= with.bytes[MYTH_MEM_ACTIVATIONS]); /* no page table */
        assert_true(with.total_bytes - without.total_bytes >= shape[i].kv);
        printf("%s, %u rows: %llu bytes with a cache, %llu without\n", shape[i].spec, shape[i].n_ubatch,
               (unsigned long long)with.total_bytes, (unsigned long long)without.total_bytes);
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_beside_a_cache),
        cmocka_unit_test(what_needs_a_cache_is_refused),
        cmocka_unit_test(the_bytes_of_the_cache_are_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
