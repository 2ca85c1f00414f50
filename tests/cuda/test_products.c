/* test_products.c - products on the CUDA device where a card differs from the emulated one by default: less shared
 * memory for a row, weights in blocks through the slab of f16, what a kernel asks the L2 cache for; workspaces under
 * the knobs of tune.h. On the emulated device only. */
#include "emu_probe.h"

#include "tests/kernels/op_case.h"
#include "tests/support/check.h"

#include "engine/base/blocks.h"
#include "kernels/cuda/work.h"

static myth_error rig_err;

static void assert_ok(myth_status st)
{
    if (st != MYTH_OK)
        fail_msg("%s", rig_err.msg);
}

/* ---- products ---- */

struct product {
    uint32_t rows, n_in, n_out;
    myth_dtype type;
    bool is_decode;
};

/* y of one product on the device as the environment makes it; weights: encoded from noise, or given. The caller frees.
 */
static float *run_product(const struct product *p, const unsigned char *weights)
{
    struct rig r;
    const size_t n_y = (size_t)p->rows * p->n_out;
    assert_true(rig_open(&r, "cuda:0", 1, CASE_TEST, &rig_err));
    r.seed = 11;
    myth_view x = rig_noise(&r, MYTH_F32, p->rows, p->n_in, 0.0f, 0.5f);
    myth_view w = rig_take(&r, p->type, p->n_out, p->n_in, true), y = rig_view(&r, MYTH_F32, p->rows, p->n_out);
    const size_t row_bytes = (size_t)myth_row_bytes(p->type, p->n_in);
    float *row = malloc(p->n_in * sizeof(float)), *out = malloc(n_y * sizeof(float));
    assert_true(row && out);
    for (uint32_t o = 0; o < p->n_out && !weights; o++) {
        for (uint32_t k = 0; k < p->n_in; k++)
            row[k] = 0.1f * noise((uint64_t)o * p->n_in + k + 5);
        encode_row((unsigned char *)view_host(w) + o * row_bytes, p->type, row, p->n_in);
    }
    if (weights)
        memcpy(view_host(w), weights, p->n_out * row_bytes);
    rig_push(&r);
    myth_proj(r.s, &(struct myth_proj_args){
                       .y = y,
                       .x = x,
                       .w = w,
                       .n_rows = p->rows,
                       .n_in = p->n_in,
                       .n_out = p->n_out,
                       .is_decode = p->is_decode,
                   });
    if (rig_sync(&r, &rig_err) != MYTH_OK)
        fail_msg("%s", rig_err.msg);
    memcpy(out, view_host(y), n_y * sizeof(float));
    free(row);
    assert_int_equal(rig_close(&r), 0);
    return out;
}

/* A decode step's rows have the same bits whether they fit the shared memory of a block or not. */
static void wide_rows_keep_decodes_bits(void **state)
{
    (void)state;
    static const struct product products[] = {
        {.rows = 1, .n_in = 4096, .n_out = 37, .type = MYTH_BF16, .is_decode = true},
        {.rows = 3, .n_in = 4096 + 8, .n_out = 21, .type = MYTH_F16, .is_decode = true},
        {.rows = 2, .n_in = 4096, .n_out = 35, .type = MYTH_Q4_K, .is_decode = true},
        {.rows = 1, .n_in = 3501, .n_out = 9, .type = MYTH_F32, .is_decode = true},
    };
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        const struct product *p = &products[i];
        float *whole = run_product(p, NULL);
        setenv("MYTHOS_EMU_SHARED", "24576", 1); /* 12 KB of it for a row */
        float *slabs = run_product(p, NULL);
        unsetenv("MYTHOS_EMU_SHARED");
        for (size_t k = 0; k < (size_t)p->rows * p->n_out; k++)
            if (memcmp(&whole[k], &slabs[k], sizeof(float)) != 0)
                fail_msg("%s, rows of %u: value %zu is %.9g staged whole, %.9g in slabs", myth_dtype_get(p->type)->name,
                         p->n_in, k, (double)whole[k], (double)slabs[k]);
        free(whole);
        free(slabs);
    }
}

/* Prefill with weights in blocks gives the bits of the same weights as f16, 16 times as large, which is what unpacking
 * them in the tile would make of them. More rows than a slab holds. */
static void blocks_in_prefill_equal_f16(void **state)
{
    (void)state;
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        if (!myth_dtype_is_quant((myth_dtype)t))
            continue;
        const struct product p = {.rows = 5, .n_in = 512, .n_out = t == MYTH_Q4_K ? 2100 : 70, .type = (myth_dtype)t};
        const size_t n = (size_t)p.n_out * p.n_in, row_bytes = (size_t)myth_row_bytes(p.type, p.n_in);
        unsigned char *blocks = malloc(p.n_out * row_bytes);
        uint16_t *halves = malloc(n * sizeof(uint16_t));
        float row[512];
        assert_true(blocks && halves);
        for (uint32_t o = 0; o < p.n_out; o++) {
            for (uint32_t k = 0; k < p.n_in; k++)
                row[k] = 0.1f * noise((uint64_t)o * p.n_in + k + 9);
            encode_row(blocks + o * row_bytes, p.type, row, p.n_in);
            myth_dequant_row(p.type, row, blocks + o * row_bytes, p.n_in);
            for (uint32_t k = 0; k < p.n_in; k++)
                halves[(size_t)o * p.n_in + k] = myth_f32_to_f16(16.0f * row[k]);
        }
        float *got = run_product(&p, blocks);
        float *want = run_product(&(struct product){.rows = p.rows, .n_in = p.n_in, .n_out = p.n_out, .type = MYTH_F16},
                                  (const unsigned char *)halves);
        for (size_t k = 0; k < (size_t)p.rows * p.n_out; k++)
            if (got[k] * 16.0f != want[k])
                fail_msg("%s: value %zu is %.9g, from f16 %.9g", myth_dtype_get(p.type)->name, k, (double)got[k],
                         (double)want[k] / 16.0);
        free(got);
        free(want);
        free(blocks);
        free(halves);
    }
}

/* The blocks of one kernel ask the L2 cache for 96 KB of lines per multiprocessor at most, of which the emulation has
 * four; the knob turns it. */
static void prefetch_keeps_its_budget(void **state)
{
    (void)state;
    enum { SM = 4, LINE = 128 };
    const struct product p = {.rows = 1, .n_in = 2048, .n_out = 2048, .type = MYTH_Q8_0, .is_decode = true};
    emu_probe_fault(0, EMU_PROBE_LOST);
    free(run_product(&p, NULL));
    assert_true(emu_probe_most_lines() > 0 && emu_probe_most_lines() <= SM * 96 * 1024 / LINE);
    setenv("MYTH_TUNE_PREFETCH_KB", "0", 1);
    emu_probe_fault(0, EMU_PROBE_LOST);
    free(run_product(&p, NULL));
    unsetenv("MYTH_TUNE_PREFETCH_KB");
    assert_int_equal(emu_probe_most_lines(), 0);
}

/* ---- workspaces ---- */

/* Eight rows of a 27B model at 32,768 positions keep a slot for every node: else each row and kv head is one block. */
static void long_rows_keep_their_nodes(void **state)
{
    (void)state;
    const myth_work_shape w = {.n_rows = 512,
                               .d_model = 5376,
                               .d_ff = 21504,
                               .n_head = 32,
                               .n_head_kv = 16,
                               .head_dim = 128,
                               .n_vocab = 262144,
                               .n_ctx = 32768};
    static const myth_cuda_tune defaults;
    struct cuda_tune tune;
    const char *bad = NULL;
    assert_true(cuda_tune_fill(&tune, &defaults, &bad));
    const uint64_t part = 2 * (128 + 2) * sizeof(float), pairs = 8 * 16,
                   nodes = 32768 / (CUDA_ATTN_LEAF * CUDA_ATTN_NODE) + 1;
    assert_true(cuda_work_attn(&w, tune.attn_bytes) / part / pairs >= nodes);
    assert_true(cuda_work_scratch(&w, tune.attn_bytes) >= cuda_work_attn(&w, tune.attn_bytes));
}

/* What is planned is taken, whatever the knobs say. */
static void plan_is_ledger_under_knobs(void **state)
{
    (void)state;
    static const int mb[] = {1, 12, 32};
    myth_work_shape w = case_shape(CASE_TEST);
    w.n_ctx = 8192;
    w.n_head = 16;
    w.head_dim = 512;
    uint64_t before = 0;
    for (size_t i = 0; i < sizeof(mb) / sizeof(mb[0]); i++) {
        myth_mem *mem;
        myth_device *dev;
        myth_class_bytes host, own;
        const myth_device_opts opts = {.name = "cuda:0", .settings.cuda.attn_mb = {true, mb[i]}};
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        myth_device_plan(&host, &own, &opts, &w);
        assert_ok(myth_device_open(&dev, mem, &opts, &rig_err));
        assert_ok(myth_device_reserve(dev, &w, &rig_err));
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            assert_int_equal(myth_mem_get(mem, 1, (myth_mem_class)c).live, own.bytes[c]);
            assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, (myth_mem_class)c).live, host.bytes[c]);
        }
        assert_true(own.bytes[MYTH_MEM_ATTN_SCRATCH] > before);
        before = own.bytes[MYTH_MEM_ATTN_SCRATCH];
        myth_device_close(dev);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_rows_keep_decodes_bits), cmocka_unit_test(blocks_in_prefill_equal_f16),
        cmocka_unit_test(prefetch_keeps_its_budget),   cmocka_unit_test(long_rows_keep_their_nodes),
        cmocka_unit_test(plan_is_ledger_under_knobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
