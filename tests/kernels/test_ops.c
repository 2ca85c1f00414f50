/* test_ops.c - compares every op and case on every CPU level and device present with the fp64 oracle. For each level
 * and op it prints the worst case and the share of the tolerance that it used; it names absent levels with the reason.
 */
#include "oracle.h"
#include "tests/support/check.h"

struct worst {
    double share, error;
    int case_idx;
    const char *output;
};

/* The largest error of the output, divided by its largest magnitude. It is infinite when an element was not written, or
 * was written but should not have been. */
static double compare(const struct want *w)
{
    double error = 0.0, largest = 0.0;
    if (w->bytes)
        return memcmp(w->bytes, view_host(w->view), (size_t)w->n) == 0 ? 0.0 : INFINITY;
    for (uint64_t i = 0; i < w->n_row * w->n; i++) {
        double got = w->is_sum ? sum_value(w->view, i) : value(w->view, i / w->n, w->n, i % w->n);
        if (isnan(w->v[i])) { /* expected to be untouched: 0xff bytes are NaN, or -1 times a NaN scale */
            if (!isnan(got))
                return INFINITY;
            continue;
        }
        largest = fmax(largest, fabs(w->v[i]));
        double d = got == w->v[i] ? 0.0 : fabs(got - w->v[i]);
        error = isnan(d) ? INFINITY : fmax(error, d);
    }
    return (largest > 0.0 ? error / largest : error) / fmax(1.0, w->condition);
}

/* Checks that the k entries are in order, that each logit belongs to its id, and that no id that is left out is better
 * than the last entry by more than the error. Returns the error. */
static double compare_topk(const struct myth_head_topk_args *a, const double *logits)
{
    double error = 0.0, largest = 0.0;
    for (uint64_t r = 0; r < a->n_rows; r++) {
        const double *z = logits + r * a->n_vocab;
        const int32_t *id = (int32_t *)view_host(a->top_id) + r * a->k;
        const float *top = (float *)view_host(a->top_logit) + r * a->k;
        unsigned char *is_kept = calloc(a->n_vocab, 1);
        uint64_t n_allowed = 0, n_kept = 0;
        rig_must(is_kept != NULL, "memory");
        for (uint32_t i = 0; i < a->k; i++) {
            if (id[i] < 0) {
                error = id[i] == -1 && top[i] == -INFINITY ? error : INFINITY;
                continue;
            }
            bool is_sane = (uint32_t)id[i] < a->n_vocab && !is_kept[id[i]] && n_kept == i &&
                           (!i || top[i] < top[i - 1] || (top[i] == top[i - 1] && id[i] > id[i - 1]));
            if (!is_sane) {
                error = INFINITY;
                break;
            }
            is_kept[id[i]] = 1;
            n_kept++;
            error = fmax(error, fabs((double)top[i] - z[id[i]]));
        }
        for (uint64_t v = 0; v < a->n_vocab; v++) {
            if (z[v] == -INFINITY)
                continue;
            n_allowed++;
            largest = fmax(largest, fabs(z[v]));
            if (!is_kept[v] && n_kept)
                error = fmax(error, (z[v] - (double)top[n_kept - 1]) / 2.0);
        }
        if (n_kept != (n_allowed < a->k ? n_allowed : a->k))
            error = INFINITY;
        free(is_kept);
    }
    return largest > 0.0 ? error / largest : error;
}

static void note(struct worst *w, double error, double tol, int case_idx, const char *output)
{
    double share = error > 0.0 ? error / tol : 0.0;
    if (!(share < w->share) || !w->output)
        *w = (struct worst){share, error, case_idx, output};
}

static void run_case(struct rig *r, int case_idx, bool is_ref, struct worst *worst)
{
    const struct kernel_case *c = &kernel_cases[case_idx];
    union op_args a;
    struct oracle o;
    myth_error err;
    make_case(r, c, (uint64_t)case_idx, &a);
    op_oracle(&o, c, &a);
    rig_push(r);
    issue_op(r->s, c->op, &a);
    if (rig_sync(r, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    bool is_tiled = c->tol_tile > 0.0 && strncmp(myth_device_get_caps(r->dev)->name, "cuda", 4) == 0;
    double tol = is_ref ? c->tol_ref : is_tiled ? c->tol_tile : c->tol_fast;
    for (int i = 0; i < o.n_want; i++)
        if (o.want[i].name)
            note(worst, compare(&o.want[i]), tol + o.want[i].type_tol, case_idx, o.want[i].name);
    if (o.logits)
        note(worst, compare_topk(&a.head_topk, o.logits), tol, case_idx, "top");
    oracle_clear(&o);
    rig_clear(r);
}

/* Runs all cases of the op; returns 1 when one is past its tolerance. */
static int run_op(struct rig *r, myth_op op, bool is_ref, const char *how)
{
    struct worst worst = {0.0, 0.0, 0, NULL};
    int n_case = 0;
    uint32_t n_all = 0, at = 0;
    for (int i = 0; i < KERNEL_CASE_N; i++)
        n_all += kernel_cases[i].op == op && (kernel_cases[i].use & CASE_TEST);
    for (int i = 0; i < KERNEL_CASE_N; i++) {
        if (kernel_cases[i].op != op || !(kernel_cases[i].use & CASE_TEST) || !check_is_case(at++, n_all))
            continue;
        run_case(r, i, is_ref, &worst);
        n_case++;
    }
    assert_true(n_case > 0); /* every op has a case */
    char name[200];
    case_name(name, sizeof(name), &kernel_cases[worst.case_idx]);
    printf("  %-20s %3d cases  worst %.2e = %5.1f %% of tolerance  %s of %s%s%s\n", myth_op_name(op), n_case,
           worst.error, 100.0 * worst.share, worst.output, name, how, worst.share <= 1.0 ? "" : "  FAILED");
    return !(worst.share <= 1.0);
}

static void test_cases(void **state)
{
    (void)state;
    int n_failed = 0;
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        myth_error err;
        if (!rig_open(&r, rig_targets[l], 2, CASE_TEST, &err)) {
            assert_true(l > 0 || !is_target_wanted(rig_targets[l])); /* ref is always present */
            continue;
        }
        printf("target %-14s %s\n", rig_targets[l], myth_device_get_caps(r.dev)->description);
        const char *only = getenv("MYTHOS_TEST_OP");
        for (int op = 0; op < MYTH_OP_N; op++)
            n_failed += only && strcmp(only, myth_op_name((myth_op)op)) != 0
                          ? 0
                          : run_op(&r, (myth_op)op, is_exact_target(rig_targets[l]), "");
        if (!only && r.dev->ops.norm_qkv_rope_store !=
                         myth_compose_norm_qkv_rope_store) { /* for a device without the fused ops */
            r.dev->ops.norm_qkv_rope_store = myth_compose_norm_qkv_rope_store;
            n_failed += run_op(&r, MYTH_OP_norm_qkv_rope_store, is_exact_target(rig_targets[l]), " composed");
        }
        if (!only && r.dev->ops.norm_ffn_geglu != myth_compose_norm_ffn_geglu) {
            r.dev->ops.norm_ffn_geglu = myth_compose_norm_ffn_geglu;
            n_failed += run_op(&r, MYTH_OP_norm_ffn_geglu, is_exact_target(rig_targets[l]), " composed");
        }
        assert_int_equal(rig_close(&r), 0);
    }
    assert_int_equal(n_failed, 0);
}

/* Every third row of the vocabulary is the same. Equal logits must come by ascending id, across tiles and threads. */
static void test_ties(void **state)
{
    (void)state;
    struct kernel_case c = {
        .op = MYTH_OP_head_topk,
        .rows = 2,
        .dim = 64,
        .n_vocab = 2500,
        .k = 1000,
        .type = MYTH_F32,
    };
    for (int l = 0; l < RIG_TARGET_N; l++)
        for (int is_decode = 0; is_decode < 2; is_decode++) {
            struct rig r;
            union op_args a;
            if (!rig_open(&r, rig_targets[l], 3, CASE_TEST, NULL))
                continue;
            c.is_decode = is_decode;
            make_case(&r, &c, 7, &a);
            float *w = view_host(a.head_topk.w);
            for (uint32_t v = 3; v < c.n_vocab; v++)
                memcpy(w + (size_t)v * c.dim, w + (size_t)(v % 3) * c.dim, c.dim * sizeof(float));
            rig_push(&r);
            issue_op(r.s, c.op, &a);
            assert_int_equal(rig_sync(&r, NULL), MYTH_OK);
            for (uint32_t i = 0; i < c.rows * c.k; i++) {
                const int32_t *id = (int32_t *)view_host(a.head_topk.top_id) + i / c.k * c.k;
                const uint32_t n = i % c.k,
                               n_best = (c.n_vocab + 2 - (uint32_t)id[0]) / 3; /* number of ids with the best logit */
                const uint32_t expected =
                    n < n_best ? (uint32_t)id[0] + 3 * n : (uint32_t)id[n_best] + 3 * (n - n_best);
                if ((uint32_t)id[0] > 2 || (uint32_t)id[n] != expected)
                    fail_msg("%s: place %u of row %u is %d, not %u", rig_targets[l], n, i / c.k, id[n], expected);
            }
            assert_int_equal(rig_close(&r), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_ties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
