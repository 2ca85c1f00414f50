/* test_tiers.c - keys and values of global layers in host memory, where a device's ops read and write them, and layers
 * that are brought to a device one ahead of their turn.
 *
 * Oracle   an engine that has everything on the device: the same ops on the same bytes, so every bit is the same. The
 *          bytes that are moved are counted here from the shapes */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"

#include <stdlib.h>
#include <string.h>

enum { CTX = 64, PAGE = 7 };

static char device[RIG_TARGET_MAX][32];
static uint32_t n_device;

static int find_devices(void **state)
{
    (void)state;
    n_device = rig_devices_beside_cpu(device);
    return 0;
}

static myth_engine_opts opts_on(const char *name, uint32_t n_host_kv)
{
    return (myth_engine_opts){
        .device = name,
        .n_threads = 1,
        .is_exact = true,
        .n_ctx = CTX,
        .n_seq = 2,
        .n_checkpoint = 1,
        .n_ubatch = 11,
        .page_tok = PAGE,
        .want_full_logits = true,
        .n_host_kv = n_host_kv,
    };
}

static uint64_t device_kv(const rig *r)
{
    const myth_plan *p = myth_engine_plan(r->engine);
    const myth_plan_device *own = &p->device[p->n_device - 1];
    return own->bytes[MYTH_MEM_KV_GLOBAL] + own->bytes[MYTH_MEM_KV_LOCAL];
}

static uint64_t host_kv(const rig *r) { return myth_engine_plan(r->engine)->device[0].bytes[MYTH_MEM_KV_GLOBAL]; }

/* A prompt in chunks, a fork that goes on in copies of the pages that it shares, a cut back to a checkpoint. */
static void walk(rig *r, const int32_t *ids, rows *w)
{
    uint32_t at;
    myth_seq *s = rig_seq(r), *fork;
    rows_clear(w);
    rig_feed(r, s, ids, 23, 9, w);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    rig_decode(r, s, ids[23], w);
    assert_ok(myth_seq_fork(&fork, s, &rig_err));
    for (int32_t i = 24; i < 28; i++) {
        rig_decode(r, fork, ids[i + 10], w);
        rig_decode(r, s, ids[i], w);
    }
    myth_seq_close(fork);
    assert_ok(myth_seq_truncate(s, 23, &at, &rig_err));
    rig_feed(r, s, ids + 23, 12, 5, w);
    myth_seq_close(s);
}

static void answers_are_those_of_the_device_alone(void **state)
{
    (void)state;
    /* two global layers; two whose keys are made from their values; layers that read the rows of others */
    static const char *const model[] = {"random:gemma2-tiny:q4_0", "random:gemma4-tiny:q8_0",
                                        "random:gemma4-e-tiny:q8_0"};
    enum { MODEL_N = sizeof(model) / sizeof(model[0]), N_ROW = 23 + 1 + 8 + 12 };
    uint64_t rng = check_seed();
    for (uint32_t d = 0; d < n_device; d++)
        for (uint32_t m = 0; m < MODEL_N; m++) {
            rig r[3];
            rows w[3];
            int32_t ids[CTX];
            for (uint32_t i = 0; i < 3; i++) {
                const myth_engine_opts o = opts_on(device[d], i == 2 ? UINT32_MAX : i);
                rig_open(&r[i], model[m], &o);
                if (i == 0)
                    rig_random_ids(ids, CTX, &r[0], &rng);
                rows_open(&w[i], &r[i], N_ROW, false);
                walk(&r[i], ids, &w[i]);
                if (i)
                    assert_same_bits(w[i].logits, w[0].logits, (size_t)N_ROW * w[0].n_vocab, model[m]);
                /* what the host has more, the device has less */
                assert_int_equal(device_kv(&r[i]) + host_kv(&r[i]), device_kv(&r[0]) + host_kv(&r[0]));
            }
            const myth_layout *layout = &r[1].engine->layout;
            uint32_t first = 0;
            while (!r[1].model.config.layer[first].is_global)
                first++;
            assert_int_equal(host_kv(&r[1]) - host_kv(&r[0]),
                             layout->n_page * myth_layout_layer_bytes(layout, &r[1].model.config, first));
            assert_int_equal(myth_engine_plan(r[2].engine)->device[1].bytes[MYTH_MEM_KV_GLOBAL], 0);
            for (uint32_t i = 0; i < 3; i++) {
                rows_close(&w[i]);
                rig_close(&r[i]);
            }
        }
}

/* ---- a long context ---- */

enum { LONG = 131072 };

/* Gives s LONG - 64 rows of these bytes, as if it had been fed that many tokens: feeding them would take minutes. */
static void fill(rig *r, myth_seq *s, int buf, const unsigned char *page, uint64_t page_bytes)
{
    const uint32_t n = LONG - 64;
    const myth_part *p = &r->engine->part[0];
    myth_kv_copy copy[2];
    assert_int_equal(myth_layout_kv_bytes(p->layout, buf), page_bytes);
    myth_kv_grow(&r->engine->kv, s->kv, n, &copy[0], &copy[1]);
    myth_kv_wrote(s->kv, n);
    s->is_table_stale = true;
    for (uint32_t i = 0; i < n; i++)
        s->token[i] = 3;
    for (uint32_t k = 0; k < myth_kv_n_page(&r->engine->kv, s->kv); k++)
        myth_stream_write(p->stream, myth_part_view(p, buf, (uint64_t)(uint32_t)s->kv->page[k] * page_bytes, MYTH_I32),
                          page + k % 61 * 16, page_bytes);
    for (uint32_t at = 0; at < p->layout->ring_bytes; at += 16)
        myth_stream_write(p->stream,
                          myth_part_view(p, MYTH_BUF_kv_local,
                                         (uint64_t)(uint32_t)s->kv->ring * p->layout->ring_bytes + at, MYTH_I32),
                          page + at % 960, 16);
    assert_ok(myth_stream_sync(p->stream, &rig_err));
}

/* 131,072 tokens with less than an eighth of their keys and values on the device. */
static void a_long_context_needs_an_eighth_of_it_on_the_device(void **state)
{
    (void)state;
    enum { N_ROW = 12 };
    uint64_t rng = check_seed();
    for (uint32_t d = 0; d < n_device; d++) {
        rig r[2] = {{0}};
        rows w[2];
        myth_seq *s[2];
        int32_t ids[N_ROW];
        uint64_t page_bytes = 0;
        unsigned char *page = NULL;
        for (uint32_t i = 0; i < 2; i++) {
            myth_engine_opts o = opts_on(device[d], i ? UINT32_MAX : 0);
            o.n_ctx = LONG;
            o.n_seq = 1;
            o.n_checkpoint = 0;
            o.page_tok = 0;
            o.has_cache_type = true;
            o.type_k = o.type_v = MYTH_F16;
            rig_environment(&o);
            assert_ok(myth_mem_open(&r[i].mem, 0, &rig_err));
            assert_ok(myth_model_open(&r[i].model, r[i].mem, "random:gemma3-tiny:q8_0",
                                      &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
            r[i].model.config.n_ctx_train = LONG;
            assert_ok(myth_engine_open(&r[i].engine, &r[i].model, &o, &rig_err));
            if (!page) { /* f16 values of about -1 to 1 */
                page_bytes = r[i].engine->part[0].layout->page_bytes;
                assert_non_null(page = malloc(page_bytes + 1024));
                for (uint64_t k = 0; k + 1 < page_bytes + 1024; k += 2) {
                    page[k] = (unsigned char)check_below(&rng, 256);
                    page[k + 1] = (unsigned char)(0x2c + check_below(&rng, 16) + 128 * check_below(&rng, 2));
                }
                rig_random_ids(ids, N_ROW, &r[0], &rng);
            }
            s[i] = rig_seq(&r[i]);
            fill(&r[i], s[i], i ? MYTH_BUF_kv_host : MYTH_BUF_kv_global, page, page_bytes);
            rows_open(&w[i], &r[i], N_ROW, false);
            rows_clear(&w[i]);
            for (uint32_t k = 0; k < 3; k++)
                rig_decode(&r[i], s[i], ids[k], &w[i]);
            rig_feed(&r[i], s[i], ids + 3, N_ROW - 3, 0, &w[i]);
        }
        assert_same_bits(w[1].logits, w[0].logits, (size_t)N_ROW * w[0].n_vocab, device[d]);
        assert_true(device_kv(&r[0]) >= (uint64_t)LONG * 256); /* 2 heads of 32 keys and values of 2 bytes */
        assert_true(8 * device_kv(&r[1]) <= device_kv(&r[0]));
        printf("%s: %.1f MiB of keys and values, %.3f MiB of them on the device\n", device[d],
               (double)device_kv(&r[0]) / (1 << 20), (double)device_kv(&r[1]) / (1 << 20));
        const uint64_t bytes = myth_seq_save_bytes(s[0]); /* a saved sequence does not say where its rows were */
        unsigned char *saved[2] = {malloc(bytes), malloc(bytes)};
        assert_int_equal(myth_seq_save_bytes(s[1]), bytes);
        for (uint32_t i = 0; i < 2; i++) {
            assert_non_null(saved[i]);
            assert_ok(myth_seq_save(s[i], saved[i], bytes, &rig_err));
        }
        assert_memory_equal(saved[0], saved[1], bytes);
        for (uint32_t i = 0; i < 2; i++) {
            free(saved[i]);
            rows_close(&w[i]);
            rig_close(&r[i]);
        }
        free(page);
    }
}

/* ---- ahead ---- */

/* What a step moves for layer l: its matrices, or all pages and the ring of its one sequence. */
static uint64_t moved_for(const rig *r, myth_offload what, uint32_t l, uint32_t n_page)
{
    const myth_layout *layout = &r->engine->layout;
    const myth_config *c = &r->model.config;
    return what == MYTH_OFFLOAD_WEIGHTS ? layout->offloaded[l]
                                        : myth_layout_layer_bytes(layout, c, l) * (c->layer[l].is_global ? n_page : 1);
}

static void layers_are_brought_one_ahead(void **state)
{
    (void)state;
    static const char *const model[] = {"random:gemma3-tiny:q8_0", "random:gemma4-e-tiny:q8_0"};
    enum { N_TOK = 2 * PAGE }; /* a decode step begins another page */
    for (uint32_t i = 0; i < n_device * 4; i++) {
        const char *name = device[i / 4], *spec = model[i / 2 % 2];
        const myth_offload what = i % 2 ? MYTH_OFFLOAD_KV : MYTH_OFFLOAD_WEIGHTS;
        rig r;
        int32_t ids[N_TOK + 2];
        myth_engine_opts o = opts_on(name, 0);
        o.offload = what;
        rig_open(&r, spec, &o);
        for (int32_t k = 0; k < N_TOK + 2; k++)
            ids[k] = 3 + 5 * k;
        myth_seq *s = rig_seq(&r);
        rig_feed(&r, s, ids, N_TOK, 0, NULL);
        const myth_offload_counts before = myth_engine_offload_counts(r.engine);
        rig_decode(&r, s, ids[N_TOK], NULL);
        const myth_offload_counts now = myth_engine_offload_counts(r.engine);
        uint64_t all = 0, out = 0;
        const uint32_t n_layer = r.model.config.n_layer;
        for (uint32_t l = 0; l < n_layer; l++) {
            all += moved_for(&r, what, l, 3);
            out += r.model.config.layer[l].kv_source == l ? moved_for(&r, what, l, 1) : 0; /* the last page, the ring */
        }
        assert_true(all > 0);
        assert_int_equal(now.in_bytes - before.in_bytes, all);
        assert_int_equal(now.ahead_bytes - before.ahead_bytes, all - moved_for(&r, what, 0, 3));
        assert_int_equal(now.out_bytes - before.out_bytes, what == MYTH_OFFLOAD_KV ? out : 0);
        rig_close(&r);
    }
}

/* A CPU has its rows in host memory anyway, and a place of theirs is named once. */
static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    rig r = {0};
    myth_plan plan[2];
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                              &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    for (uint32_t i = 0; i < 2; i++) {
        const myth_engine_opts o = opts_on("cpu", i ? UINT32_MAX : 0);
        assert_ok(myth_plan_make(&plan[i], &r.model, &o, NULL, NULL, false, &rig_err));
    }
    assert_int_equal(plan[1].total_bytes, plan[0].total_bytes);
    for (uint32_t i = 0; i < 2; i++) {
        myth_engine_opts o = opts_on("cpu", 1);
        o.offload = i ? MYTH_OFFLOAD_NONE : MYTH_OFFLOAD_KV;
        o.no_cache = i;
        assert_int_equal(myth_engine_open(&r.engine, &r.model, &o, &rig_err), MYTH_EARG);
        assert_string_equal(rig_err.option, "n_host_kv");
        assert_null(r.engine);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_device_alone),
        cmocka_unit_test(a_long_context_needs_an_eighth_of_it_on_the_device),
        cmocka_unit_test(layers_are_brought_one_ahead),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, find_devices, NULL);
}
