/* test_replay.c - on every target, decode ops that are recorded once and replayed several times give the bits of as
 * many calls, and attention with `merges` gives the bits of attention and kv_merge. Devices keep counters for the
 * workgroups of such ops; a counter that is not reset shows in the second run. */
#include "op_case.h"

#include "tests/support/check.h"

enum { TIMES = 3 };

static void sync_ok(struct rig *r)
{
    myth_error err;
    if (rig_sync(r, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

/* All bytes of all views except weights; the caller frees them. */
static unsigned char *take_all(const struct rig *r, size_t *bytes)
{
    *bytes = 0;
    for (int i = 0; i < r->n_buf; i++)
        *bytes += myth_buf_bytes(r->buf[i]);
    unsigned char *all = calloc(1, *bytes + 1);
    assert_non_null(all);
    for (size_t i = 0, at = 0; i < (size_t)r->n_buf; at += myth_buf_bytes(r->buf[i++])) {
        uint64_t off = myth_device_get_caps(r->dev)->is_host_visible ? 4 : 64;
        memcpy(all + at, view_host(myth_view_at(r->buf[i], off, MYTH_F32)), myth_buf_bytes(r->buf[i]) - off);
    }
    return all;
}

static bool is_decode_case(const struct kernel_case *c)
{
    return (c->use & CASE_TEST) && c->is_decode &&
           (c->op == MYTH_OP_norm_qkv_rope_store || c->op == MYTH_OP_norm_ffn_geglu || c->op == MYTH_OP_attn_decode ||
            c->op == MYTH_OP_head_topk);
}

static void set_merges(union op_args *a, const struct kernel_case *c)
{
    if (c->op == MYTH_OP_attn_decode)
        a->attn_decode.merges = c->rows == (c->n_run ? c->n_run : 1);
}

static void fail_case(const char *target, const struct kernel_case *c, const char *what)
{
    char name[200];
    case_name(name, sizeof(name), c);
    fail_msg("target %s, %s: %s", target, name, what);
}

static void test_replay(void **state)
{
    (void)state;
    for (int t = 0; t < RIG_TARGET_N; t++) {
        struct rig r;
        if (!rig_open(&r, rig_targets[t], 2, CASE_TEST, NULL))
            continue;
        for (int i = 0; i < KERNEL_CASE_N; i++) {
            const struct kernel_case *c = &kernel_cases[i];
            union op_args a;
            myth_graph *g;
            size_t bytes;
            if (!is_decode_case(c) || !check_is_case((uint32_t)i, KERNEL_CASE_N))
                continue;
            make_case(&r, c, (uint64_t)i, &a);
            set_merges(&a, c);
            rig_push(&r);
            for (int k = 0; k < TIMES; k++)
                issue_op(r.s, c->op, &a);
            sync_ok(&r);
            unsigned char *issued = take_all(&r, &bytes);
            rig_clear(&r);

            make_case(&r, c, (uint64_t)i, &a);
            set_merges(&a, c);
            rig_push(&r);
            assert_int_equal(myth_stream_sync(r.s, NULL), MYTH_OK);
            myth_stream_begin_record(r.s);
            issue_op(r.s, c->op, &a);
            assert_int_equal(myth_stream_end_record(&g, r.s, NULL), MYTH_OK);
            for (int k = 0; k < TIMES; k++)
                myth_stream_replay(r.s, g);
            sync_ok(&r);
            unsigned char *replayed = take_all(&r, &bytes);
            if (memcmp(issued, replayed, bytes) != 0)
                fail_case(rig_targets[t], c, "replayed and issued differ");
            free(issued);
            free(replayed);
            myth_graph_close(g);
            rig_clear(&r);
        }
        assert_int_equal(rig_close(&r), 0);
    }
}

static void test_merges(void **state)
{
    (void)state;
    for (int t = 0; t < RIG_TARGET_N; t++) {
        struct rig r;
        if (!rig_open(&r, rig_targets[t], 2, CASE_TEST, NULL))
            continue;
        for (int i = 0; i < KERNEL_CASE_N; i++) {
            const struct kernel_case *c = &kernel_cases[i];
            unsigned char *all[2];
            size_t bytes;
            if (!(c->use & CASE_TEST) || c->op != MYTH_OP_attn_decode || c->rows != (c->n_run ? c->n_run : 1) ||
                !check_is_case((uint32_t)i, KERNEL_CASE_N))
                continue;
            for (int is_apart = 0; is_apart < 2; is_apart++) {
                union op_args u;
                make_case(&r, c, (uint64_t)i, &u);
                struct myth_attn_decode_args *a = &u.attn_decode;
                if (c->rows > 1)
                    ((int32_t *)view_host(a->runs))[MYTH_RUN_WIDTH + MYTH_RUN_FLAGS] = MYTH_RUN_EPHEMERAL;
                rig_push(&r);
                a->merges = !is_apart;
                myth_attn_decode(r.s, a);
                if (is_apart)
                    myth_kv_merge(r.s, &(struct myth_kv_merge_args){
                                           .k_new = a->k_new,
                                           .v_new = a->v_new,
                                           .runs = a->runs,
                                           .kv = a->kv,
                                           .n_run = a->n_rows,
                                           .cap_rows = a->cap_rows,
                                           .n_head_kv = a->n_head_kv,
                                           .head_dim = a->head_dim,
                                       });
                sync_ok(&r);
                all[is_apart] = take_all(&r, &bytes);
                rig_clear(&r);
            }
            if (memcmp(all[0], all[1], bytes) != 0)
                fail_case(rig_targets[t], c, "attention that merges, and attention and kv_merge differ");
            free(all[0]);
            free(all[1]);
        }
        assert_int_equal(rig_close(&r), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay), cmocka_unit_test(test_merges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
