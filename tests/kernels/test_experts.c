/* test_experts.c - experts on the CPU: only the matrices of chosen experts are read, and a workspace that is too small
 * for all entries changes no bit. */
#include "op_case.h"

#include "tests/support/check.h"

/* Opens a device reserved for just the rows of the case, so that their k entries each need several passes. */
static bool open_small(struct rig *r, const char *level, const struct kernel_case *c)
{
    myth_device_opts opts = {.name = "cpu", .n_threads = 2, .cpu_level = level};
    uint32_t width = most_u32(c->dim, c->d_ff);
    myth_work_shape shape = {
        .n_rows = c->rows,
        .n_logit_rows = 1,
        .d_model = width,
        .d_ff = width,
        .n_head = 1,
        .n_head_kv = 1,
        .head_dim = 2,
        .n_vocab = 1,
        .n_ctx = 1,
        .top_k = 1,
    };
    memset(r, 0, sizeof(*r));
    rig_must(myth_mem_open(&r->mem, 0, NULL) == MYTH_OK, "mem");
    if (myth_device_open(&r->dev, r->mem, &opts, NULL) != MYTH_OK) {
        myth_mem_close(r->mem);
        return false;
    }
    rig_must(myth_device_reserve(r->dev, &shape, NULL) == MYTH_OK, "reserve");
    rig_must(myth_stream_open(&r->s, r->dev, NULL) == MYTH_OK, "stream");
    return true;
}

/* Runs the op over all rows and returns its output. */
static float *run(struct rig *r, const struct kernel_case *c, uint64_t *bytes)
{
    union op_args a;
    make_case(r, c, 11, &a);
    myth_view out = c->op == MYTH_OP_moe_geglu ? a.moe_geglu.h : a.moe_down.y;
    size_t n = c->op == MYTH_OP_moe_geglu ? (size_t)c->rows * c->k * c->d_ff : (size_t)c->rows * c->dim;
    uint64_t before = myth_device_get_counts(r->dev).expert_bytes;
    float *y = malloc(n * sizeof(float));
    assert_non_null(y);
    issue_op(r->s, c->op, &a);
    assert_int_equal(rig_sync(r, NULL), MYTH_OK);
    *bytes = myth_device_get_counts(r->dev).expert_bytes - before;
    memcpy(y, view_host(out), n * sizeof(float));
    rig_clear(r);
    return y;
}

static const char *const level_names[] = {"ref", "avx2", "avx512", "amx", "neon"};
static const myth_dtype types[] = {MYTH_F32, MYTH_BF16, MYTH_Q8_0, MYTH_Q4_0};

static void test_passes(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof(level_names) / sizeof(level_names[0]); l++)
        for (uint32_t i = 0; i < 16; i++) {
            struct kernel_case c = {
                .op = i % 2 ? MYTH_OP_moe_down : MYTH_OP_moe_geglu,
                .rows = 9,
                .dim = 320,
                .d_ff = 192,
                .n_expert = 11,
                .k = 8,
                .type = types[i / 2 % 4],
                .is_decode = i >= 8,
            };
            struct rig small, large;
            uint64_t bytes;
            if (!open_small(&small, level_names[l], &c))
                continue;
            assert_true(rig_open(&large, level_names[l], 2, CASE_TEST, NULL));
            size_t n = c.op == MYTH_OP_moe_geglu ? (size_t)c.rows * c.k * c.d_ff : (size_t)c.rows * c.dim;
            float *y[2] = {run(&small, &c, &bytes), run(&large, &c, &bytes)};
            if (memcmp(y[0], y[1], n * sizeof(float)) != 0)
                fail_msg("%s, %s %s: bits depend on the workspace", level_names[l], myth_op_name(c.op),
                         myth_dtype_get(c.type)->name);
            free(y[0]);
            free(y[1]);
            assert_int_equal(rig_close(&small), 0);
            assert_int_equal(rig_close(&large), 0);
        }
}

/* A row that chooses 8 of 64 experts counts the bytes of 8, and is not changed by NaN in all others. */
static void test_only_chosen(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof(level_names) / sizeof(level_names[0]); l++)
        for (uint32_t i = 0; i < 4; i++) {
            struct kernel_case c = {
                .op = i % 2 ? MYTH_OP_moe_down : MYTH_OP_moe_geglu,
                .rows = 1,
                .dim = 64,
                .d_ff = 96,
                .n_expert = 64,
                .k = 8,
                .type = MYTH_F32,
                .is_decode = i < 2,
            };
            struct rig r;
            union op_args a;
            uint32_t chosen[8];
            if (!rig_open(&r, level_names[l], 2, CASE_TEST, NULL))
                continue;
            make_case(&r, &c, 5, &a);
            case_experts(&c, entry_seed(&c), 0, chosen);
            myth_view w = i % 2 ? a.moe_down.w : a.moe_geglu.w_gate, out = i % 2 ? a.moe_down.y : a.moe_geglu.h;
            const size_t n = i % 2 ? c.dim * c.d_ff : 2 * c.d_ff * c.dim, n_out = i % 2 ? c.dim : c.k * c.d_ff;
            for (uint32_t e = 0; e < c.n_expert; e++) {
                bool is_chosen = false;
                for (uint32_t k = 0; k < c.k; k++)
                    is_chosen |= chosen[k] == e;
                if (!is_chosen)
                    memset((float *)view_host(w) + e * n, 0xff, n * sizeof(float));
            }
            issue_op(r.s, c.op, &a);
            assert_int_equal(rig_sync(&r, NULL), MYTH_OK);
            for (size_t k = 0; k < n_out; k++)
                assert_false(isnan(((float *)view_host(out))[k]));
            assert_int_equal(myth_device_get_counts(r.dev).expert_bytes, 8 * n * sizeof(float));
            assert_int_equal(rig_close(&r), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes), cmocka_unit_test(test_only_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
