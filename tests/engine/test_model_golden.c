/* test_model_golden.c - logits and every layer's residual of the tiny models against transformers: chunks of 1, 7 and all tokens, token
 * by token on the decode path, micro-batches of several sizes, the reference and every level of this machine. */
#include "support/rig.h"

#include <math.h>

enum { CTX = 64 };
static const float TOLERANCE = 1e-4f;            /* of the largest value of each array */

static myth_engine_opts exact_opts(const char *level)
{
    return (myth_engine_opts){ .device = "cpu", .n_threads = 1, .cpu_level = level, .is_exact = true, .n_ctx = CTX, .n_ubatch = CTX,
                               .n_logit_rows = CTX, .want_full_logits = true, .want_hidden = true };
}

/* Largest share of the tolerance that any array uses. */
static float share_used(const golden *g, const rows *w)
{
    float worst = share_apart(w->logits, g->logits, (size_t)g->n_tok * g->n_vocab);
    for (uint32_t l = 0; w->hidden && l <= g->n_layer; l++) {
        size_t n = (size_t)g->n_tok * g->d_model;
        worst = fmaxf(worst, share_apart(w->hidden + l * n, g->residual + l * n, n));
    }
    return worst / TOLERANCE;
}

static float run_prefill(rig *r, const golden *g, uint32_t chunk)
{
    rows w;
    rows_open(&w, r, g->n_tok, true);
    myth_seq *s = rig_seq(r);
    rig_feed(r, s, g->ids, g->n_tok, chunk, &w);
    assert_int_equal(w.n_logits, g->n_tok);
    assert_int_equal(w.n_hidden, g->n_tok * (g->n_layer + 1));
    assert_int_equal(myth_seq_len(s), g->n_tok);
    myth_seq_close(s);
    float used = share_used(g, &w);
    rows_close(&w);
    return used;
}

static float run_decode(rig *r, const golden *g)
{
    rows w;
    rows_open(&w, r, g->n_tok, false);
    myth_seq *s = rig_seq(r);
    for (uint32_t i = 0; i < g->n_tok; i++)
        rig_decode(r, s, g->ids[i], &w);
    myth_seq_close(s);
    float used = share_used(g, &w);
    rows_close(&w);
    return used;
}

static void check_golden(const golden *g, const char *label, const myth_engine_opts *opts)
{
    rig r;
    rig_open(&r, g->path, opts);
    assert_int_equal(r.model.config.n_layer, g->n_layer);
    assert_int_equal(r.model.config.d_model, g->d_model);
    assert_int_equal(r.model.config.n_vocab, g->n_vocab);
    float used[4] = { run_prefill(&r, g, 1), run_prefill(&r, g, 7), run_prefill(&r, g, 0), run_decode(&r, g) }, worst = 0;
    for (int i = 0; i < 4; i++)
        worst = fmaxf(worst, used[i]);
    printf("%-18s %-9s share of the tolerance: chunk 1 %.3f, 7 %.3f, all %.3f, decode %.3f\n", g->name, label, (double)used[0],
           (double)used[1], (double)used[2], (double)used[3]);
    rig_close(&r);
    assert_true(worst <= 1.0f);
}

static void exact_run_equals_transformers(void **state)
{
    (void)state;
    char name[GOLDEN_MAX][64];
    uint32_t n = golden_list(name);
    assert_true(n >= 12);
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        golden_load(&g, name[i]);
        myth_engine_opts opts = exact_opts(NULL);
        check_golden(&g, "exact", &opts);
        golden_free(&g);
    }
}

/* The levels without --exact but with a float32 cache, on models stored in float32: every level multiplies float32 weights in float32. */
static void every_level_equals_transformers_on_float_weights(void **state)
{
    (void)state;
    const char *level[8];
    char name[GOLDEN_MAX][64];
    uint32_t n_level = rig_levels(level), n = golden_list(name), n_model = 0;
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        golden_load(&g, name[i]);
        myth_model m = { 0 };
        myth_mem *mem;
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&m, mem, g.path, &(myth_weights_opts){ .level = MYTH_WEIGHTS_HEADER }, &rig_err));
        bool is_f32 = myth_weights_at(m.weights, 0)->dtype == MYTH_F32;
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
        for (uint32_t v = 0; is_f32 && v < n_level; v++) {
            myth_engine_opts opts = exact_opts(level[v]);
            opts.is_exact = false;
            opts.has_cache_type = true;
            opts.type_k = opts.type_v = MYTH_F32;
            check_golden(&g, level[v], &opts);
        }
        n_model += is_f32;
        golden_free(&g);
    }
    assert_true(n_model >= 4);
}

/* A micro-batch smaller than the forward: the engine cuts it up itself. */
static void micro_batches_equal_transformers(void **state)
{
    (void)state;
    char name[GOLDEN_MAX][64];
    uint32_t n = golden_list(name);
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        golden_load(&g, name[i]);
        for (uint32_t ub = 1; ub <= 10; ub += 3) {
            myth_engine_opts opts = exact_opts(NULL);
            opts.n_ubatch = ub;
            rig r;
            rig_open(&r, g.path, &opts);
            float used = run_prefill(&r, &g, 0);
            rig_close(&r);
            assert_true(used <= 1.0f);
        }
        golden_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_run_equals_transformers),
        cmocka_unit_test(every_level_equals_transformers_on_float_weights),
        cmocka_unit_test(micro_batches_equal_transformers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
