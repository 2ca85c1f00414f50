/* test_not_finite.c - a value that is not finite stays seen on every level and device: a row that holds NaN gives NaN,
 * never a number that looks like an answer, and changes no other row. */
#include "op_case.h"

#include "tests/support/check.h"

static const myth_dtype types[] = {MYTH_F32, MYTH_F16, MYTH_BF16, MYTH_Q8_0, MYTH_Q4_0, MYTH_Q5_1, MYTH_Q4_K};
enum { TYPE_N = sizeof(types) / sizeof(types[0]) };

static void must_run(struct rig *r, myth_op op, const union op_args *a, const char *what)
{
    myth_error err;
    rig_push(r);
    issue_op(r->s, op, a);
    if (rig_sync(r, &err) != MYTH_OK)
        fail_msg("%s: %s", what, err.msg);
}

/* Row `row` of n values: all are NaN, or with is_nan false all are finite. */
static void check_values(const char *what, myth_view v, uint64_t row, uint64_t n, bool is_nan)
{
    const float *y = (const float *)view_host(v) + row * n;
    for (uint64_t i = 0; i < n; i++)
        if (is_nan ? !isnan(y[i]) : !isfinite(y[i]))
            fail_msg("%s: value %llu of row %llu is %g, expected %s", what, (unsigned long long)i,
                     (unsigned long long)row, (double)y[i], is_nan ? "NaN" : "a number");
}

static void name_case(char what[128], const char *target, const struct kernel_case *c)
{
    snprintf(what, 128, "%s, %s of %s, %s, cap %g", target, myth_op_name(c->op), myth_dtype_get(c->type)->name,
             c->is_decode ? "decode" : "prefill", (double)c->softcap);
}

/* ---- logits ---- */

enum { VOCAB = 5000, MARKED = 3000 }; /* more than one tile, and more than one list of the Vulkan device */

static void check_row_stat(const char *what, const struct myth_head_topk_args *a, uint32_t row, bool is_nan)
{
    check_values(what, a->lse, row, 1, is_nan);
    check_values(what, a->entropy, row, 1, is_nan);
    const float *logit = (const float *)view_host(a->top_logit) + (size_t)row * a->k;
    for (uint32_t i = 0; i < a->k; i++)
        assert_false(isnan(logit[i]));
}

/* Row 1 of three has NaN in one place. */
static void a_row_with_nan_has_no_best_id(struct rig *r, const char *what, const struct kernel_case *c)
{
    union op_args a;
    float sane[2];
    make_case(r, c, 3, &a);
    must_run(r, c->op, &a, what);
    for (uint32_t i = 0; i < 2; i++)
        sane[i] = ((float *)view_host(a.head_topk.lse))[2 * i];
    ((float *)view_host(a.head_topk.x))[c->dim + 17] = NAN;
    must_run(r, c->op, &a, what);
    for (uint32_t i = 0; i < 3; i++) {
        check_row_stat(what, &a.head_topk, i, i == 1);
        assert_int_equal(((int32_t *)view_host(a.head_topk.top_id))[i * c->k] < 0, i == 1);
    }
    for (uint32_t i = 0; i < 2; i++)
        assert_memory_equal(&sane[i], (float *)view_host(a.head_topk.lse) + 2 * i, sizeof(float));
    rig_clear(r);
}

/* The logits of whole rows, of which none is chosen. */
static void whole_rows_keep_nan(struct rig *r, const char *what, const struct kernel_case *c)
{
    union op_args a;
    make_case(r, c, 4, &a);
    ((float *)view_host(a.head_logits.x))[17] = NAN;
    must_run(r, c->op, &a, what);
    check_values(what, a.head_logits.y, 0, c->n_vocab, true);
    rig_clear(r);
}

static void nan_in_a_row_of_the_head(struct rig *r, const char *target)
{
    for (uint32_t i = 0; i < 8; i++) {
        struct kernel_case c = {.op = MYTH_OP_head_topk,
                                .rows = 3,
                                .dim = 256,
                                .n_vocab = VOCAB,
                                .k = 4,
                                .type = i / 4 ? MYTH_Q8_0 : MYTH_F32,
                                .softcap = i % 2 ? 30.0f : 0.0f,
                                .is_decode = i / 2 % 2};
        char what[128];
        name_case(what, target, &c);
        a_row_with_nan_has_no_best_id(r, what, &c);
        c.op = MYTH_OP_head_logits;
        whole_rows_keep_nan(r, what, &c);
    }
}

/* A row of the head's matrix is NaN: the best ids are others, but the sums over all ids say so, unless a mask forbids
 * that id. */
static void nan_in_one_logit(struct rig *r, const char *target)
{
    for (uint32_t i = 0; i < 8; i++) {
        const struct kernel_case c = {.op = MYTH_OP_head_topk,
                                      .rows = 3,
                                      .dim = 64,
                                      .n_vocab = VOCAB,
                                      .k = i / 4 ? 4 : 1,
                                      .type = MYTH_F32,
                                      .softcap = i % 2 ? 30.0f : 0.0f,
                                      .has_mask = i / 2 % 2};
        union op_args a;
        char what[128];
        name_case(what, target, &c);
        make_case(r, &c, 5, &a);
        for (uint32_t k = 0; k < c.dim; k++)
            ((float *)view_host(a.head_topk.w))[MARKED * c.dim + k] = NAN;
        for (uint32_t m = 0; m < 2 && c.has_mask; m++)
            ((uint32_t *)view_host(a.head_topk.masks))[m * ((VOCAB + 31) / 32) + MARKED / 32] &= ~(1u << MARKED % 32);
        must_run(r, c.op, &a, what);
        for (uint32_t row = 0; row < 3; row++) {
            check_row_stat(what, &a.head_topk, row, !c.has_mask || row == 2); /* the third row has no mask */
            assert_true(((int32_t *)view_host(a.head_topk.top_id))[row * c.k] >= 0);
            assert_true(((int32_t *)view_host(a.head_topk.top_id))[row * c.k] != MARKED);
        }
        rig_clear(r);
    }
}

/* ---- products ---- */

/* One value of 300 in row 1 is NaN or infinite: no block of the row's activations hides it. */
static void nan_in_one_activation(struct rig *r, const char *target)
{
    for (uint32_t i = 0; i < 4 * TYPE_N; i++) {
        const struct kernel_case c = {
            .op = MYTH_OP_proj, .rows = 3, .dim = 512, .n_out = 70, .type = types[i / 4], .is_decode = i / 2 % 2};
        union op_args a;
        char what[128];
        name_case(what, target, &c);
        make_case(r, &c, 6, &a);
        ((float *)view_host(a.proj.x))[c.dim + 300] = i % 2 ? -INFINITY : NAN;
        must_run(r, c.op, &a, what);
        check_values(what, a.proj.y, 0, c.n_out, false);
        check_values(what, a.proj.y, 2, c.n_out, false);
        for (uint32_t o = 0; o < c.n_out; o++)
            if (isfinite(((float *)view_host(a.proj.y))[c.n_out + o]))
                fail_msg("%s: output %u of the row is finite", what, o);
        rig_clear(r);
    }
}

/* One block of a weight has NaN as its scale: output 9 of every row is NaN, and no other is. */
static void nan_in_one_weight(struct rig *r, const char *target)
{
    for (uint32_t i = 0; i < 2 * TYPE_N; i++) {
        const struct kernel_case c = {
            .op = MYTH_OP_proj, .rows = 3, .dim = 512, .n_out = 70, .type = types[i / 2], .is_decode = i % 2};
        const myth_dtype_info *info = myth_dtype_get(c.type);
        const uint32_t at = info->n_half ? info->half_off : 0;
        const uint16_t half = c.type == MYTH_BF16 ? 0x7fc0 : 0x7e00;
        const float whole = NAN;
        union op_args a;
        char what[128];
        name_case(what, target, &c);
        make_case(r, &c, 7, &a);
        unsigned char *row = (unsigned char *)view_host(a.proj.w) + 9 * myth_row_bytes(c.type, c.dim);
        memcpy(row + at, c.type == MYTH_F32 ? (const void *)&whole : &half, c.type == MYTH_F32 ? 4 : 2);
        must_run(r, c.op, &a, what);
        for (uint32_t o = 0; o < 3 * c.n_out; o++)
            if (isnan(((float *)view_host(a.proj.y))[o]) != (o % c.n_out == 9))
                fail_msg("%s: output %u is %g", what, o, (double)((float *)view_host(a.proj.y))[o]);
        rig_clear(r);
    }
}

/* ---- activations and attention ---- */

static void nan_in_one_gate(struct rig *r, const char *target)
{
    const struct kernel_case c = {.op = MYTH_OP_geglu, .rows = 2, .d_ff = 90};
    union op_args a;
    make_case(r, &c, 8, &a);
    ((float *)view_host(a.geglu.g))[90 + 33] = NAN;
    must_run(r, c.op, &a, target);
    for (uint32_t i = 0; i < 180; i++)
        if (isnan(((float *)view_host(a.geglu.h))[i]) != (i == 90 + 33))
            fail_msg("%s, geglu: value %u is %g", target, i, (double)((float *)view_host(a.geglu.h))[i]);
    rig_clear(r);
}

/* The queries of row 1 are NaN. The row before and those after it see the same keys, and are numbers. */
static void nan_in_one_query(struct rig *r, const char *target)
{
    for (uint32_t i = 0; i < 8; i++) {
        struct kernel_case c = {.op = i % 2 ? MYTH_OP_attn_decode : MYTH_OP_attn_prefill,
                                .rows = 3,
                                .n_head = 4,
                                .n_head_kv = 2,
                                .head_dim = 64,
                                .depth = i / 4 ? 200 : 0,
                                .n_run = i % 2 ? 3 : 1,
                                .type_k = MYTH_F16,
                                .type_v = MYTH_F16,
                                .softcap = i / 2 % 2 ? 30.0f : 0.0f,
                                .is_decode = i % 2};
        const uint64_t n = (uint64_t)c.n_head * c.head_dim;
        union op_args a;
        char what[128];
        name_case(what, target, &c);
        make_case(r, &c, 9, &a);
        ((float *)view_host(a.attn_prefill.q))[n + 2] = NAN; /* head 0 */
        must_run(r, c.op, &a, what);
        check_values(what, a.attn_prefill.o, 0, n, false);
        check_values(what, a.attn_prefill.o, n / c.head_dim, c.head_dim, true);
        check_values(what, a.attn_prefill.o, n / c.head_dim + 1, c.head_dim, false);
        check_values(what, a.attn_prefill.o, 2, n, false);
        rig_clear(r);
    }
}

/* One key that every row sees is NaN: so are all outputs of its heads. */
static void nan_in_one_key(struct rig *r, const char *target)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct kernel_case c = {.op = MYTH_OP_attn_prefill,
                                      .rows = 90,
                                      .n_head = 2,
                                      .n_head_kv = 1,
                                      .head_dim = 64,
                                      .type_k = MYTH_F32,
                                      .type_v = MYTH_F16,
                                      .softcap = i ? 30.0f : 0.0f};
        union op_args a;
        char what[128];
        name_case(what, target, &c);
        make_case(r, &c, 10, &a);
        ((float *)view_host(a.attn_prefill.k_new))[5] = NAN; /* of position 0 */
        must_run(r, c.op, &a, what);
        for (uint32_t row = 0; row < c.rows; row++)
            check_values(what, a.attn_prefill.o, row, (uint64_t)c.n_head * c.head_dim, true);
        rig_clear(r);
    }
}

static void nan_is_passed_on(void **state)
{
    uint32_t n_target = 0;
    (void)state;
    for (int t = 0; t < RIG_TARGET_N; t++) {
        struct rig r;
        if (!rig_open(&r, rig_targets[t], 2, CASE_TEST, NULL))
            continue;
        nan_in_a_row_of_the_head(&r, rig_targets[t]);
        nan_in_one_logit(&r, rig_targets[t]);
        nan_in_one_activation(&r, rig_targets[t]);
        nan_in_one_weight(&r, rig_targets[t]);
        nan_in_one_gate(&r, rig_targets[t]);
        nan_in_one_query(&r, rig_targets[t]);
        nan_in_one_key(&r, rig_targets[t]);
        assert_int_equal(rig_close(&r), 0);
        n_target++;
    }
    assert_true(n_target > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nan_is_passed_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
