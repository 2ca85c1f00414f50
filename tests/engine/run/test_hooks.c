/* test_hooks.c - inputs and outputs of attention and feed-forward networks as hidden rows and as sums: on a family
 * without post norms outputs are what a layer adds to the residual; inputs are normed residuals; on every family none
 * depends on the batch, and their sums are those of the rows. */
#include "engine/run/engine_impl.h"
#include "tests/support/rig.h"

#include <math.h>
#include <string.h>

static const char *const spec[] = {
    "random:gemma1-tiny:f32",  "random:gemma2-tiny:bf16",  "random:gemma3-tiny:q8_0",    "random:gemma3n-tiny:f32",
    "random:gemma4-tiny:bf16", "random:gemma4-e-tiny:f32", "random:gemma4-moe-tiny:f32",
};
enum {
    SPEC_N = sizeof(spec) / sizeof(spec[0]),
    RUN_N = 6,
    RUN_TOK = 7,
    TOK_N = RUN_N * RUN_TOK,
    LAYER_MAX = 9,
    D = 64
};

typedef struct {
    float row[LAYER_MAX][TOK_N][D];
    uint32_t n_row, base;
} kept;

static void on_hidden(void *user, uint32_t tok, uint32_t layer, const float *row, uint32_t d)
{
    kept *k = user;
    assert_true(layer < LAYER_MAX && k->base + tok < TOK_N && d == D);
    memcpy(k->row[layer][k->base + tok], row, sizeof(k->row[0][0]));
    k->n_row++;
}

/* All runs, `each` of them in a forward, with sums of label 0. */
static void run_hook(rig *r, myth_hook hook, uint32_t each, kept *k)
{
    int32_t id[TOK_N], label[TOK_N];
    myth_batch_run run[RUN_N];
    myth_seq *s = rig_seq(r);
    memset(k, 0, sizeof(*k));
    for (uint32_t i = 0; i < TOK_N; i++) {
        id[i] = (int32_t)(i * 29 % r->model.config.n_vocab);
        label[i] = 0;
    }
    for (uint32_t i = 0; i < RUN_N; i++)
        run[i] = (myth_batch_run){
            .seq = s, .token = id + i * RUN_TOK, .n = RUN_TOK, .want = MYTH_WANT_HIDDEN, .is_ephemeral = true};
    assert_ok(myth_capture_reset(r->engine, &rig_err));
    for (uint32_t at = 0; at < RUN_N; at += each) {
        k->base = at * RUN_TOK;
        assert_ok(myth_forward(r->engine,
                               &(myth_batch){
                                   .run = run + at,
                                   .n_run = each,
                                   .capture_label = label,
                                   .hook = hook,
                                   .on_hidden = on_hidden,
                                   .user = k,
                               },
                               NULL, &rig_err));
    }
    myth_seq_close(s);
}

static void open_at(rig *r, const char *name, const char *target)
{
    static uint32_t layer[LAYER_MAX];
    uint32_t n = 0;
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, name, &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &rig_err));
    while (n < m.config.n_layer) {
        layer[n] = n + 1;
        n++;
    }
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    myth_engine_opts o = {
        .n_threads = 2,
        .n_ctx = 32,
        .n_ubatch = TOK_N,
        .no_cache = true,
        .want_hidden = true,
        .capture_layer = layer,
        .n_capture_layer = n,
    };
    rig_at(&o, target);
    rig_open(r, name, &o);
}

static void the_branches_are_what_a_layer_adds(void **state)
{
    (void)state;
    static kept resid, attn, mlp;
    rig r;
    double worst = 0, largest = 0;
    open_at(&r, spec[0], rig_target());
    run_hook(&r, MYTH_HOOK_RESID, RUN_N, &resid);
    run_hook(&r, MYTH_HOOK_ATTN_OUT, RUN_N, &attn);
    run_hook(&r, MYTH_HOOK_MLP_OUT, RUN_N, &mlp);
    const uint32_t n_layer = r.model.config.n_layer;
    assert_int_equal(resid.n_row, TOK_N * (n_layer + 1));
    assert_int_equal(attn.n_row, TOK_N * n_layer);
    for (uint32_t l = 1; l <= n_layer; l++)
        for (uint32_t t = 0; t < TOK_N; t++)
            for (uint32_t i = 0; i < D; i++) {
                const double added = (double)resid.row[l][t][i] - (double)resid.row[l - 1][t][i],
                             branches = (double)attn.row[l][t][i] + (double)mlp.row[l][t][i];
                worst = fmax(worst, fabs(added - branches));
                largest = fmax(largest, fabs(branches));
                assert_true(mlp.row[l][t][i] != 0.0f);
            }
    printf("worst %.2e, largest %.2e\n", worst, largest);
    assert_true(worst <= 1e-5 * largest);
    rig_close(&r);
}

/* How far x is from y * w / rms(y), as a part of the largest value. */
static double apart(const float *x, const double *y, const float *w, double eps)
{
    double squares = 0, worst = 0, largest = 0;
    for (uint32_t i = 0; i < D; i++)
        squares += y[i] * y[i];
    for (uint32_t i = 0; i < D; i++) {
        const double want = y[i] * (double)w[i] / sqrt(squares / D + eps);
        worst = fmax(worst, fabs(want - (double)x[i]));
        largest = fmax(largest, fabs(want));
    }
    return worst / largest;
}

/* On the family without post norms: attention reads the residual, the feed-forward network that with what attention
 * adds. */
static void inputs_are_normed_residuals(void **state)
{
    (void)state;
    static kept resid, attn, attn_in, mlp_in;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (uint32_t t = 0; t < n_target; t++) {
        rig r;
        double worst = 0;
        open_at(&r, spec[0], target[t]);
        run_hook(&r, MYTH_HOOK_RESID, RUN_N, &resid);
        run_hook(&r, MYTH_HOOK_ATTN_OUT, RUN_N, &attn);
        run_hook(&r, MYTH_HOOK_ATTN_IN, RUN_N, &attn_in);
        run_hook(&r, MYTH_HOOK_MLP_IN, RUN_N, &mlp_in);
        assert_int_equal(mlp_in.n_row, TOK_N * r.model.config.n_layer);
        for (uint32_t l = 1; l <= r.model.config.n_layer; l++) {
            float w_attn[D], w_ffn[D];
            const myth_part *p = &r.engine->part[0];
            myth_stream_read(p->stream, w_attn, p->step.w->layer[l - 1].attn_norm, sizeof(w_attn));
            myth_stream_read(p->stream, w_ffn, p->step.w->layer[l - 1].ffn_norm, sizeof(w_ffn));
            assert_ok(myth_stream_sync(p->stream, &rig_err));
            for (uint32_t k = 0; k < TOK_N; k++) {
                double x[D], y[D];
                for (uint32_t i = 0; i < D; i++) {
                    x[i] = (double)resid.row[l - 1][k][i];
                    y[i] = x[i] + (double)attn.row[l][k][i];
                }
                worst = fmax(worst, apart(attn_in.row[l][k], x, w_attn, (double)r.model.config.eps));
                worst = fmax(worst, apart(mlp_in.row[l][k], y, w_ffn, (double)r.model.config.eps));
            }
        }
        printf("%s: worst %.2e\n", target[t], worst);
        assert_true(worst <= 1e-5);
        rig_close(&r);
    }
}

static void rows_and_sums_do_not_depend_on_the_batch(void **state)
{
    (void)state;
    static kept whole, parts, resid;
    static double mean[D];
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (int m = 0; m < SPEC_N; m++)
        for (uint32_t t = 0; t < n_target; t++) {
            rig r;
            uint64_t n;
            if (!check_is_full() && t && (uint32_t)m % n_target != t)
                continue;
            open_at(&r, spec[m], target[t]);
            const uint32_t n_layer = r.model.config.n_layer;
            run_hook(&r, MYTH_HOOK_RESID, RUN_N, &resid);
            for (int hook = MYTH_HOOK_ATTN_OUT; hook < MYTH_HOOK_N; hook++) {
                run_hook(&r, (myth_hook)hook, RUN_N, &whole);
                assert_int_equal(whole.n_row, TOK_N * n_layer);
                for (uint32_t l = 1; l <= n_layer; l++) {
                    assert_ok(myth_capture_read(r.engine, 0, l, mean, &n, &rig_err));
                    assert_int_equal(n, TOK_N);
                    assert_true(memcmp(whole.row[l], resid.row[l], sizeof(whole.row[l])) != 0);
                    for (uint32_t i = 0; i < D; i++) {
                        double want = 0;
                        for (uint32_t k = 0; k < TOK_N; k++)
                            want += (double)whole.row[l][k][i] / TOK_N;
                        if (!(fabs(want - mean[i]) <= 0x1p-24))
                            fail_msg("%s on %s, hook %d, layer %u: mean %.12g, of the rows %.12g", spec[m], target[t],
                                     hook, l, mean[i], want);
                    }
                }
                run_hook(&r, (myth_hook)hook, 2, &parts);
                assert_memory_equal(whole.row, parts.row, sizeof(whole.row));
            }
            run_hook(&r, MYTH_HOOK_RESID, RUN_N, &parts); /* and nothing is left behind */
            assert_memory_equal(resid.row, parts.row, sizeof(resid.row));
            rig_close(&r);
        }
}

static void a_layer_without_branches_is_refused(void **state)
{
    (void)state;
    rig r;
    const uint32_t layer[] = {1, 0};
    int32_t id = 3, label = 0;
    rig_open(&r, spec[2],
             &(myth_engine_opts){
                 .device = "cpu", .n_threads = 1, .n_ctx = 32, .capture_layer = layer, .n_capture_layer = 2});
    myth_seq *s = rig_seq(&r);
    const myth_batch_run run = {.seq = s, .token = &id, .n = 1, .is_ephemeral = true};
    myth_batch b = {.run = &run, .n_run = 1, .capture_label = &label, .hook = MYTH_HOOK_MLP_OUT};
    assert_int_equal(myth_forward(r.engine, &b, NULL, &rig_err), MYTH_EARG);
    assert_non_null(strstr(rig_err.msg, "layer 0"));
    b.hook = (myth_hook)7;
    assert_int_equal(myth_forward(r.engine, &b, NULL, &rig_err), MYTH_EARG);
    b.hook = MYTH_HOOK_RESID;
    assert_ok(myth_forward(r.engine, &b, NULL, &rig_err));
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_branches_are_what_a_layer_adds),
        cmocka_unit_test(inputs_are_normed_residuals),
        cmocka_unit_test(rows_and_sums_do_not_depend_on_the_batch),
        cmocka_unit_test(a_layer_without_branches_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
