/* test_faults.c - every Vulkan call of a session (load, prefill, decode with recorded steps, generate) fails once, in
 * every class of failure: a status of that class with a message (or, out of memory, the same answer by smaller steps),
 * nothing left in the ledger, no message of the validation layer, and the next session is served.
 * By default every kind of call at one random place of it; with MYTHOS_TEST_FULL=1 that in every class, and every call
 * in one class, in turn. */
#include "vulkan.h"

#ifndef MYTH_HAS_VULKAN
int main(void) { return vulkan_run(NULL); }
#else

#include "tests/support/faults.h"

static const session_shape shape = {
    .engine =
        {.device = "vulkan:0", .n_threads = 1, .n_ctx = 64, .n_seq = 1, .n_ubatch = 16, .top_k = 4, .log = &vulkan_log},
    .n_prompt = 20,
    .n_new = 4,
    .n_again = 5,
};

static bool is_expected(myth_status st, vk_probe_failure f)
{
    switch (f) {
    case VK_PROBE_HOST_MEMORY:
    case VK_PROBE_DEVICE_MEMORY: return st == MYTH_ENOMEM;
    case VK_PROBE_LOST: return st == MYTH_ELOST;
    default: return st == MYTH_EDEVICE;
    }
}

/* One session whose n-th call fails. */
static void fail_call(myth_mem *mem, uint64_t nth, vk_probe_failure failure, const session_output *want)
{
    session_output got;
    rig_err = (myth_error){0};
    vk_probe_fault(nth, failure);
    myth_status st = session_run(mem, &shape, &got, &rig_err);
    const char *name = vk_probe_failed();
    vk_probe_fault(0, failure);
    if (!name) { /* fewer calls this time: nothing failed */
        assert_int_equal(st, MYTH_OK);
        assert_memory_equal(&got, want, sizeof(got));
        return;
    }
    const bool is_memory = failure == VK_PROBE_HOST_MEMORY || failure == VK_PROBE_DEVICE_MEMORY;
    if (st == MYTH_OK && is_memory) /* the engine went on with a smaller step: the answer is the same */
        assert_memory_equal(&got, want, sizeof(got));
    else if (!(is_expected(st, failure) || faults_is_not_found(st, &rig_err)) || !rig_err.msg[0])
        fail_msg("call %llu, %s, failing in way %d ends in %s: %s", (unsigned long long)nth, name, (int)failure,
                 myth_status_name(st), rig_err.msg);
    char what[128];
    snprintf(what, sizeof(what), "call %llu, %s, failing in way %d", (unsigned long long)nth, name, (int)failure);
    faults_nothing_booked(mem, what);
}

static void every_call_fails_once(void **state)
{
    (void)state;
    myth_mem *mem;
    session_output want, got;
    uint64_t random = check_seed(), n_try = 0, at[FAULT_KIND_MAX];
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    vk_probe_fault(0, VK_PROBE_LOST);
    assert_ok(session_run(mem, &shape, &want, &rig_err));
    uint64_t n = vk_probe_n_call();
    uint32_t n_kind = faults_choose(at, n, vk_probe_call, &random);
    for (uint32_t k = 0; k < n_kind; k++)
        for (uint32_t f = 0; f < (check_is_full() ? VK_PROBE_FAILURE_N : 1u); f++, n_try++)
            fail_call(mem, at[k], (vk_probe_failure)((k + f + check_seed()) % VK_PROBE_FAILURE_N), &want);
    for (uint64_t nth = 1; nth <= n && check_is_full(); nth++, n_try++)
        fail_call(mem, nth, (vk_probe_failure)((nth + check_seed()) % VK_PROBE_FAILURE_N), &want);
    assert_ok(session_run(mem, &shape, &got, &rig_err));
    assert_memory_equal(&got, &want, sizeof(got));
    printf("%llu calls of %u kinds, %llu failures tried\n", (unsigned long long)n, n_kind, (unsigned long long)n_try);
    assert_int_equal(myth_mem_close(mem), 0);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) { return vulkan_run(run); }
#endif
