/* test_model_golden.c - compares the logits and every layer's residual of the tiny models with transformers: in chunks
 * of 1, 7 and all tokens, token by token on the decode path, with micro-batches of several sizes, in exact mode and as
 * users run them by default, on every level and on every device of this machine. Devices other than the CPU may be
 * software and slow, so they leave out what would repeat the same steps: chunks of 1, because micro-batches of 1 are
 * run; micro-batches between the smallest and the largest; and with other cache types everything except all tokens at
 * once and one by one. */
#include "tests/support/rig.h"

#include <math.h>

enum { CTX = 64 };
/* Of the largest value of each array: the CPU with float32 weights or in exact mode, other devices in exact mode, other
 * devices at their fastest (where the logits alone are compared). */
static const float TOLERANCE = 1e-4f, TOLERANCE_DEVICE = 2e-3f, TOLERANCE_FAST = 2e-2f;

static bool is_cpu(const char *target) { return strchr(target, ':') == NULL; }
static float tolerance_of(const char *target)
{
    return is_cpu(target) ? TOLERANCE : rig_is_exact(target) ? TOLERANCE_DEVICE : TOLERANCE_FAST;
}

static myth_engine_opts opts_of(const char *target)
{
    myth_engine_opts o = {
        .n_threads = 1,
        .n_ctx = CTX,
        .n_ubatch = CTX,
        .n_logit_rows = CTX,
        .want_full_logits = true,
        .want_hidden = true,
    };
    rig_at(&o, target);
    return o;
}

static uint32_t best_of(const float *row, uint32_t n, float *margin)
{
    uint32_t best = 0;
    float second = -INFINITY;
    for (uint32_t i = 1; i < n; i++)
        if (row[i] > row[best]) {
            second = row[best];
            best = i;
        } else if (row[i] > second) {
            second = row[i];
        }
    *margin = row[best] - second;
    return best;
}

/* Where the best logit is better than all others by more than the tolerance, both choose the same token. */
static void check_choices(const golden *g, const rows *w, float tolerance)
{
    float largest = 0.0f;
    for (size_t i = 0; i < (size_t)g->n_tok * g->n_vocab; i++)
        largest = fmaxf(largest, fabsf(g->logits[i]));
    for (uint32_t t = 0; t < g->n_tok; t++) {
        float margin, other;
        uint32_t want = best_of(g->logits + (size_t)t * g->n_vocab, g->n_vocab, &margin);
        if (margin > 2.0f * tolerance * largest)
            assert_int_equal(best_of(w->logits + (size_t)t * g->n_vocab, g->n_vocab, &other), want);
    }
}

/* Largest share of the tolerance that any array uses. */
static float share_used(const golden *g, const rows *w, float tolerance)
{
    check_choices(g, w, tolerance);
    float worst = share_apart(w->logits, g->logits, (size_t)g->n_tok * g->n_vocab);
    for (uint32_t l = 0; w->hidden && tolerance < TOLERANCE_FAST && l <= g->n_layer; l++) {
        size_t n = (size_t)g->n_tok * g->d_model;
        worst = fmaxf(worst, share_apart(w->hidden + l * n, g->residual + l * n, n));
    }
    return worst / tolerance;
}

static float run_prefill(rig *r, const golden *g, uint32_t chunk, float tolerance)
{
    rows w;
    rows_open(&w, r, g->n_tok, true);
    myth_seq *s = rig_seq(r);
    rig_feed(r, s, g->ids, g->n_tok, chunk, &w);
    assert_int_equal(w.n_logits, g->n_tok);
    assert_int_equal(w.n_hidden, g->n_tok * (g->n_layer + 1));
    assert_int_equal(myth_seq_len(s), g->n_tok);
    myth_seq_close(s);
    float used = share_used(g, &w, tolerance);
    rows_close(&w);
    return used;
}

static float run_decode(rig *r, const golden *g, float tolerance)
{
    rows w;
    rows_open(&w, r, g->n_tok, false);
    myth_seq *s = rig_seq(r);
    for (uint32_t i = 0; i < g->n_tok; i++)
        rig_decode(r, s, g->ids[i], &w);
    myth_seq_close(s);
    float used = share_used(g, &w, tolerance);
    rows_close(&w);
    return used;
}

/* *most is raised to the largest share of the tolerance used. */
static bool check_golden_within(const golden *g, const char *target, const myth_engine_opts *opts, float tol,
                                float *most)
{
    rig r;
    rig_open(&r, g->path, opts);
    assert_int_equal(r.model.config.n_layer, g->n_layer);
    assert_int_equal(r.model.config.d_model, g->d_model);
    assert_int_equal(r.model.config.n_vocab, g->n_vocab);
    const uint32_t chunk[] = {0, 7, 1};
    const int n_chunk = is_cpu(target) ? 3 : opts->has_cache_type ? 1 : strcmp(target, rig_target()) == 0 ? 2 : 3;
    printf("%-18s %-15s share of the tolerance:", g->name, target);
    float worst = run_decode(&r, g, tol);
    printf(" decode %.3f", (double)worst);
    for (int i = 0; i < n_chunk; i++) {
        const float used = run_prefill(&r, g, chunk[i], tol);
        printf(", chunk %u %.3f", chunk[i] ? chunk[i] : g->n_tok, (double)used);
        worst = fmaxf(worst, used);
    }
    printf("\n");
    rig_close(&r);
    *most = fmaxf(*most, worst);
    return worst <= 1.0f;
}

static bool check_golden(const golden *g, const char *target, const myth_engine_opts *opts, float *most)
{
    return check_golden_within(g, target, opts, tolerance_of(target), most);
}

static void runs_equal_transformers(void **state)
{
    (void)state;
    char name[GOLDEN_MAX][64];
    const char *target[RIG_TARGET_MAX];
    uint32_t n = golden_list(name), n_target = rig_targets(target), n_failed = 0, n_run = 0;
    float most[RIG_TARGET_MAX] = {0};
    assert_true(n >= 30);
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        if (!golden_is_kept(i, n))
            continue;
        golden_load(&g, name[i]);
        for (uint32_t v = 0; v < n_target; v++)
            if (rig_is_exact(target[v]) || !is_cpu(target[v])) {
                myth_engine_opts opts = opts_of(target[v]);
                n_failed += !check_golden(&g, target[v], &opts, &most[v]);
            }
        golden_free(&g);
        n_run++;
    }
    for (uint32_t v = 0; v < n_target; v++)
        if (rig_is_exact(target[v]) || !is_cpu(target[v]))
            printf("%s: %u models, largest share of the tolerance of %g: %.3f\n", target[v], n_run,
                   (double)tolerance_of(target[v]), (double)most[v]);
    assert_int_equal(n_failed, 0);
}

/* The levels without --exact but with a float32 cache, on models stored in float32: every level multiplies float32
 * weights in float32. */
static void every_level_equals_transformers_on_float_weights(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    char name[GOLDEN_MAX][64];
    uint32_t n_target = rig_targets(target), n = golden_list(name), n_model = 0, n_failed = 0;
    float most = 0.0f;
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        golden_load(&g, name[i]);
        myth_model m = {0};
        myth_mem *mem;
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&m, mem, g.path, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
        bool is_f32 = myth_weights_at(m.weights, 0)->dtype == MYTH_F32;
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
        for (uint32_t v = 0; is_f32 && golden_is_kept(i, n) && v < n_target; v++) {
            if (rig_is_exact(target[v]) || !is_cpu(target[v]))
                continue;
            myth_engine_opts opts = opts_of(target[v]);
            opts.has_cache_type = true;
            opts.type_k = opts.type_v = MYTH_F32;
            n_failed += !check_golden(&g, target[v], &opts, &most);
        }
        n_model += is_f32;
        golden_free(&g);
    }
    assert_int_equal(n_failed, 0);
    assert_true(n_model >= 4);
}

/* By default the CPU rounds where --exact does not. The cache is float16: on avx2 and ref the logits of these models
 * move by 1.3e-2 of the largest at most (gemma4-e, whose keys are wide), the second most by 6e-3. The levels of AVX-512
 * and AMX also round what bf16 weights are multiplied by to bf16. With the inputs of every product rounded so,
 * transformers moves by 5.4e-2 at most (gemma4-e-mm); both together stay below 8e-2. */
static float default_tolerance(const char *level)
{
    return strcmp(level, "avx512") == 0 || strcmp(level, "amx") == 0 ? 8e-2f : 2e-2f;
}

/* What a user runs who sets nothing: the fast levels, and the cache type that the engine takes by itself. */
static void the_default_path_stays_near_transformers(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    char name[GOLDEN_MAX][64];
    const uint32_t n_target = rig_targets(target), n = golden_list(name);
    float most[RIG_TARGET_MAX] = {0};
    uint32_t n_failed = 0;
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        if (!golden_is_kept(i, n))
            continue;
        golden_load(&g, name[i]);
        for (uint32_t v = 0; v < n_target; v++)
            if (!rig_is_exact(target[v]) && is_cpu(target[v])) {
                myth_engine_opts opts = opts_of(target[v]);
                n_failed += !check_golden_within(&g, target[v], &opts, default_tolerance(target[v]), &most[v]);
            }
        golden_free(&g);
    }
    for (uint32_t v = 0; v < n_target; v++)
        if (!rig_is_exact(target[v]) && is_cpu(target[v]))
            printf("%s: largest share of the tolerance of %g by default: %.3f\n", target[v],
                   (double)default_tolerance(target[v]), (double)most[v]);
    assert_int_equal(n_failed, 0);
}

/* A micro-batch smaller than the forward: the engine cuts it up itself. */
static void micro_batches_equal_transformers(void **state)
{
    (void)state;
    char name[GOLDEN_MAX][64];
    uint32_t n = golden_list(name);
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        if (!golden_is_kept(i, n))
            continue;
        golden_load(&g, name[i]);
        for (uint32_t ub = 1; ub <= 10; ub += is_cpu(rig_target()) ? 3 : 9) {
            myth_engine_opts opts = opts_of(rig_target());
            opts.n_ubatch = ub;
            rig r;
            rig_open(&r, g.path, &opts);
            float used = run_prefill(&r, &g, 0, tolerance_of(rig_target()));
            rig_close(&r);
            assert_true(used <= 1.0f);
        }
        golden_free(&g);
    }
}

/* Turns of a conversation that loses its middle, up to positions that the context does not have; the last turn's rows
 * and a decode step's. */
static void run_past_context(rig *r, const golden *g, rows *w)
{
    enum { TURN = 24, TURN_N = 3, HELD = 30, PREFIX = 10 };
    int32_t ids[TURN];
    for (uint32_t i = 0; i < TURN; i++)
        ids[i] = g->ids[i % g->n_tok];
    rows_open(w, r, TURN + 1, false);
    myth_seq *s = rig_seq(r);
    for (uint32_t turn = 0; turn < TURN_N; turn++) {
        w->base = 0;
        rig_feed(r, s, ids, TURN, 7, w);
        if (myth_seq_len(s) > HELD)
            assert_ok(myth_seq_evict(s, PREFIX, myth_seq_len(s) - (HELD - PREFIX), &rig_err));
    }
    assert_true(myth_seq_pos(s) > CTX);
    w->base = TURN;
    rig_decode(r, s, ids[1], w);
    myth_seq_close(s);
}

/* Keys made from values are turned there by angles that no table holds. The oracle: the CPU's reference, which stores
 * its keys. */
static void positions_past_the_context_equal_the_reference(void **state)
{
    (void)state;
    static const char *const name[] = {"gemma4-unified", "gemma4-shared"};
    const char *target[RIG_TARGET_MAX];
    uint32_t n_target = rig_targets(target), n_failed = 0;
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++)
        for (uint32_t v = 0; v < n_target; v++) {
            if (!rig_is_exact(target[v]) && is_cpu(target[v]))
                continue;
            golden g;
            rig r[2];
            rows w[2];
            golden_load(&g, name[m]);
            for (int i = 0; i < 2; i++) {
                myth_engine_opts o = opts_of(target[v]);
                if (i == 0) {
                    o.device = "cpu";
                    o.cpu_level = "ref";
                    o.is_exact = o.no_kv_fold = true;
                }
                o.page_tok = 8;
                rig_open(&r[i], g.path, &o);
                run_past_context(&r[i], &g, &w[i]);
            }
            const float used =
                share_apart(w[1].logits, w[0].logits, (size_t)w[0].n_tok * w[0].n_vocab) / tolerance_of(target[v]);
            printf("%-18s %-15s share of the tolerance past the context: %.3f\n", g.name, target[v], (double)used);
            n_failed += !(used <= 1.0f);
            for (int i = 0; i < 2; i++) {
                rows_close(&w[i]);
                rig_close(&r[i]);
            }
            golden_free(&g);
        }
    assert_int_equal(n_failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_equal_transformers),
        cmocka_unit_test(every_level_equals_transformers_on_float_weights),
        cmocka_unit_test(the_default_path_stays_near_transformers),
        cmocka_unit_test(micro_batches_equal_transformers),
        cmocka_unit_test(positions_past_the_context_equal_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
