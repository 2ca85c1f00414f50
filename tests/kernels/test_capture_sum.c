/* test_capture_sum.c - sums of captured rows are the same bits for every batch and order, since they are sums of
 * integers, and they are sums of the rows that gather_norm gives. Runs on every CPU level and device present. */
#include "op_case.h"

#include "tests/support/check.h"

static void sync_ok(struct rig *r)
{
    myth_error err;
    if (rig_sync(r, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static void swap_i32(int32_t *a, int32_t *b)
{
    int32_t t = *a;
    *a = *b;
    *b = t;
}

/* Runs `test` on every target that is present, for every case of the op. */
static void for_every_case(int n_threads,
                           void (*test)(struct rig *r, const struct kernel_case *c, union op_args *a, const char *what))
{
    int n = 0;
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        if (!rig_open(&r, rig_targets[l], n_threads, CASE_TEST, NULL))
            continue;
        if (!r.dev->ops.capture_sum || !r.dev->ops.gather_norm) {
            printf("%s: the device lacks the op\n", rig_targets[l]);
            assert_int_equal(rig_close(&r), 0);
            continue;
        }
        for (int i = 0; i < KERNEL_CASE_N; i++) {
            const struct kernel_case *c = &kernel_cases[i];
            union op_args a;
            char name[200], what[256];
            if (c->op != MYTH_OP_capture_sum || !(c->use & CASE_TEST))
                continue;
            case_name(name, sizeof(name), c);
            snprintf(what, sizeof(what), "%s, %s", rig_targets[l], name);
            make_case(&r, c, (uint64_t)i, &a);
            test(&r, c, &a, what);
            rig_clear(&r);
            n++;
        }
        assert_int_equal(rig_close(&r), 0);
    }
    assert_true(n > 0);
}

/* Sums the case's entries in shuffled order, `batch` entries a call, after setting the sums back to `start`. */
static void sum_in_batches(struct rig *r, const struct kernel_case *c, const union op_args *a, const void *start,
                           size_t bytes, uint32_t batch, uint64_t *random)
{
    int32_t *rows = view_host(a->capture_sum.rows), *label = view_host(a->capture_sum.label);
    memcpy(view_host(a->capture_sum.sum), start, bytes);
    memset(view_host(a->capture_sum.bad), 0, 4);
    for (uint32_t k = c->n_out; k > 1; k--) {
        uint32_t with = check_below(random, k);
        swap_i32(&rows[k - 1], &rows[with]);
        swap_i32(&label[k - 1], &label[with]);
    }
    rig_push(r);
    for (uint32_t at = 0; at < c->n_out; at += batch) {
        union op_args part = *a;
        part.capture_sum.rows.off += 4 * (uint64_t)at;
        part.capture_sum.label.off += 4 * (uint64_t)at;
        part.capture_sum.n_gather = c->n_out - at < batch ? c->n_out - at : batch;
        issue_op(r->s, c->op, &part);
    }
    sync_ok(r);
}

static void check_orders(struct rig *r, const struct kernel_case *c, union op_args *a, const char *what)
{
    static const uint32_t batches[] = {1, 7, 32, 100, 150};
    uint64_t random = check_seed();
    size_t bytes = (size_t)c->k * c->dim * 8;
    unsigned char *start = malloc(bytes), *whole = malloc(bytes);
    assert_true(start && whole);
    memcpy(start, view_host(a->capture_sum.sum), bytes);
    rig_push(r);
    issue_op(r->s, c->op, a);
    sync_ok(r);
    memcpy(whole, view_host(a->capture_sum.sum), bytes);
    assert_memory_not_equal(whole, start, bytes);
    for (int round = 0; round < (check_is_full() ? 20 : 2); round++)
        for (int b = 0; b < 5; b++) {
            sum_in_batches(r, c, a, start, bytes, batches[b], &random);
            if (memcmp(whole, view_host(a->capture_sum.sum), bytes) != 0)
                fail_msg("%s: bits differ in another order, in calls of %u", what, batches[b]);
            assert_int_equal(*(int32_t *)view_host(a->capture_sum.bad), c->has_bad);
        }
    free(start);
    free(whole);
}

static void order_and_batch_leave_the_bits(void **state)
{
    (void)state;
    for_every_case(1, check_orders);
    for_every_case(3, check_orders);
}

static void check_rows(struct rig *r, const struct kernel_case *c, union op_args *a, const char *what)
{
    const struct myth_capture_sum_args *s = &a->capture_sum;
    size_t n = (size_t)c->k * c->dim;
    int64_t *want = malloc(n * 8);
    assert_non_null(want);
    if (!c->has_bad) {
        memcpy(want, view_host(s->sum), n * 8);
        myth_view y = rig_view(r, MYTH_F32, c->n_out, c->dim);
        rig_push(r);
        myth_gather_norm(r->s, &(struct myth_gather_norm_args){
                                   .y = y,
                                   .x = s->x,
                                   .pend = s->pend,
                                   .w_post = s->w_post,
                                   .rows = s->rows,
                                   .n_gather = s->n_gather,
                                   .dim = s->dim,
                                   .eps = s->eps,
                                   .x_scale = s->x_scale,
                               });
        issue_op(r->s, c->op, a);
        sync_ok(r);
        for (size_t i = 0; i < (size_t)c->n_out * c->dim; i++) {
            int32_t label = ((int32_t *)view_host(s->label))[i / c->dim];
            if (label >= 0)
                want[(size_t)label * c->dim + i % c->dim] +=
                    llrint(ldexp((double)((float *)view_host(y))[i], MYTH_CAPTURE_FRACTION_BITS));
        }
        if (memcmp(want, view_host(s->sum), n * 8) != 0)
            fail_msg("%s: the sums are not of gather_norm's rows", what);
    }
    free(want);
}

/* Hidden rows and captured rows of the same residual have the same values. */
static void sums_are_of_the_rows_that_gather_norm_hands_out(void **state)
{
    (void)state;
    for_every_case(2, check_rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_and_batch_leave_the_bits),
                                       cmocka_unit_test(sums_are_of_the_rows_that_gather_norm_hands_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
