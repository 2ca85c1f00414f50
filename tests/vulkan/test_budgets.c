/* test_budgets.c - what a driver says of its memory need not be true: budgets larger than the heap, of nothing, absent,
 * below what is in use, out of date. No limit is above the heap, an unknown budget is not taken for a limit, and none
 * for no limit; a model that the driver's word has no room for is refused before anything is taken, others answer as
 * ever. */
#include "vulkan.h"

#ifndef MYTH_HAS_VULKAN
int main(void) { return vulkan_run(NULL); }
#else

#include "engine/run/devices.h"
#include "tests/support/rig.h"

enum { N_NEW = 12, N_PROMPT = 20, LEDGER = 9 };
static const uint64_t MIB = 1 << 20;

typedef struct {
    const char *what;
    bool is_silent;
    uint64_t budget, usage, most; /* most: that a model may take, where the driver's word is the least; 0 = no such */
} word;

static bool answer(int32_t ids[N_NEW])
{
    const myth_engine_opts o = {.device = "vulkan:0", .n_threads = 1, .is_exact = true, .n_ctx = 64, .n_ubatch = 8};
    int32_t prompt[N_PROMPT];
    uint32_t n = 0;
    myth_finish why;
    rig r = {0};
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                              &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    const uint64_t n_before = myth_mem_n_alloc(r.mem);
    rig_err = (myth_error){0};
    const myth_status st = myth_engine_open(&r.engine, &r.model, &o, &rig_err);
    if (st != MYTH_OK) {
        assert_int_equal(st, MYTH_ENOFIT);
        assert_int_equal(myth_mem_n_alloc(r.mem), n_before);
        rig_close(&r);
        return false;
    }
    for (int32_t i = 0; i < N_PROMPT; i++)
        prompt[i] = 3 + 5 * i;
    const myth_generate_opts g = {.prompt = prompt, .n_prompt = N_PROMPT, .n_max = N_NEW};
    assert_ok(myth_generate(r.engine, rig_seq(&r), &g, ids, &n, &why, &rig_err));
    assert_int_equal(n, N_NEW);
    rig_close(&r);
    return true;
}

static void budgets_are_not_believed(void **state)
{
    (void)state;
    const word words[] = {
        {"more than the heap", false, 1ull << 50, 0, 0},
        {"nothing at all", false, 0, 0, 0},
        {"nothing, and in use", false, 0, 1ull << 30, 0},
        {"everything", false, UINT64_MAX, UINT64_MAX, 1},
        {"less than is in use", false, 64 * MIB, 1ull << 32, 1},
        {"as much as is in use", false, 300 * MIB, 300 * MIB, 1},
        {"a byte more than is in use", false, 300 * MIB + 1, 300 * MIB, 1},
        {"less than the margin", false, 10 * MIB, 0, 1},
        {"some", false, 512 * MIB, 0, 512 * MIB},
        {"out of date: nothing was ever in use", false, 1ull << 30, 0, 1ull << 30},
        {"the driver does not know", true, 7, 7, 0},
    };
    int32_t want[N_NEW], got[N_NEW];
    assert_true(answer(want));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const word *w = &words[i];
        myth_device_caps caps;
        myth_mem_limits limits;
        myth_mem *mem;
        vk_probe_memory(true, w->is_silent, w->budget, w->usage);
        assert_true(myth_device_find(&caps, "vulkan:0", &vulkan_opts));
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_devices_limits(&limits, mem, "vulkan:0", &rig_err));
        assert_int_equal(myth_mem_close(mem), 0);
        const uint64_t limit = limits.bytes[LEDGER];
        if (limit == 0 || limit >= caps.total_bytes || caps.free_bytes == 0 || caps.free_bytes > caps.total_bytes ||
            caps.budget_bytes > caps.total_bytes || (w->most && limit > w->most))
            fail_msg("%s: limit %llu of %llu, free %llu, budget %llu", w->what, (unsigned long long)limit,
                     (unsigned long long)caps.total_bytes, (unsigned long long)caps.free_bytes,
                     (unsigned long long)caps.budget_bytes);
        if (!w->most) /* nothing to go by but the heap */
            assert_true(limit >= caps.total_bytes / 2);
        const bool has_answered = answer(got);
        if (has_answered == (w->most == 1))
            fail_msg("%s: %s", w->what, has_answered ? "opened" : "refused");
        if (has_answered)
            assert_memory_equal(got, want, sizeof(want));
    }
    vk_probe_memory(false, false, 0, 0);
    assert_true(answer(got));
}

static int tests(void)
{
    const struct CMUnitTest list[] = {cmocka_unit_test(budgets_are_not_believed)};
    return cmocka_run_group_tests(list, NULL, NULL);
}

int main(void) { return vulkan_run(tests); }
#endif
