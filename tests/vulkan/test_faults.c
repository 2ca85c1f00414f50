/* test_faults.c - every Vulkan call of a session (load, prefill, decode with recorded steps, generate) fails once, in every class of
 * failure: a status of that class with a message (or, out of memory, the same answer by smaller steps), nothing left in the ledger, no
 * message of the validation layer, and the next session is served.
 * By default every kind of call at one random place of it; every call in every class with MYTHOS_TEST_FULL=1. */
#include "vulkan.h"

#ifndef MYTH_HAS_VULKAN
int main(void) { return vulkan_run(NULL); }
#else

#include "support/rig.h"

enum { N_PROMPT = 20, N_NEW = 4, N_KIND_MAX = 64 };

typedef struct {
    int32_t id[2 * N_NEW];
    uint32_t n;
} output;

static myth_status session(myth_mem *mem, output *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_model m = { 0 };
    myth_engine *e = NULL;
    myth_seq *s = NULL, *seq[N_PROMPT];
    int32_t ids[N_PROMPT];
    uint8_t want[N_PROMPT] = { 0 };
    myth_result r;
    uint32_t n;
    myth_finish why;
    const myth_engine_opts o = { .device = "vulkan:0", .n_threads = 1, .n_ctx = 64, .n_seq = 1, .n_ubatch = 16, .top_k = 4,
                                 .log = &vulkan_log };
    *out = (output){ 0 };
    MYTH_TRY(myth_model_open(&m, mem, "random:gemma3-tiny:q8_0", &(myth_weights_opts){ .level = MYTH_WEIGHTS_DATA }, err));
    MYTH_TRY(myth_engine_open(&e, &m, &o, err));
    MYTH_TRY(myth_seq_open(&s, e, err));
    for (int32_t i = 0; i < N_PROMPT; i++) {
        ids[i] = 3 + i * 4;
        seq[i] = s;
    }
    want[N_PROMPT - 1] = MYTH_WANT_LOGITS;
    MYTH_TRY(myth_forward(e, &(myth_batch){ .n_tok = N_PROMPT, .token = ids, .seq = seq, .want = want, .top_k = 4 }, &r, err));
    for (int i = 0; i < N_NEW; i++) {
        int32_t id = r.top_id[0];
        uint8_t one = MYTH_WANT_LOGITS;
        out->id[out->n++] = id;
        MYTH_TRY(myth_forward(e, &(myth_batch){ .n_tok = 1, .token = &id, .seq = &s, .want = &one, .is_decode = true }, &r, err));
    }
    MYTH_TRY(myth_generate(e, s, &(myth_generate_opts){ .prompt = ids, .n_prompt = 5, .n_max = N_NEW }, out->id + out->n, &n, &why, err));
    out->n += n;
fail:
    if (s)
        myth_seq_close(s);
    myth_engine_close(e);
    myth_model_close(&m);
    return st;
}

static bool is_expected(myth_status st, vk_probe_failure f)
{
    switch (f) {
    case VK_PROBE_HOST_MEMORY: case VK_PROBE_DEVICE_MEMORY: return st == MYTH_ENOMEM;
    case VK_PROBE_LOST: return st == MYTH_ELOST;
    default: return st == MYTH_EDEVICE;
    }
}

/* One session whose n-th call fails. */
static void fail_call(myth_mem *mem, uint64_t nth, vk_probe_failure failure, const output *want)
{
    output got;
    rig_err = (myth_error){ 0 };
    vk_probe_fault(nth, failure);
    myth_status st = session(mem, &got, &rig_err);
    const char *name = vk_probe_failed();
    vk_probe_fault(0, failure);
    if (!name) {                            /* fewer calls this time: nothing failed */
        assert_int_equal(st, MYTH_OK);
        assert_memory_equal(&got, want, sizeof(got));
        return;
    }
    const bool is_memory = failure == VK_PROBE_HOST_MEMORY || failure == VK_PROBE_DEVICE_MEMORY;
    if (st == MYTH_OK && is_memory)         /* the engine went on with a smaller step: the answer is the same */
        assert_memory_equal(&got, want, sizeof(got));
    else if (!is_expected(st, failure) || !rig_err.msg[0])
        fail_msg("call %llu, %s, failing in way %d ends in %s: %s", (unsigned long long)nth, name, (int)failure, myth_status_name(st),
                 rig_err.msg);
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX * MYTH_MEM_CLASS_N; i++)
        if (myth_mem_get(mem, i / MYTH_MEM_CLASS_N, (myth_mem_class)(i % MYTH_MEM_CLASS_N)).live)
            fail_msg("call %llu, %s, failing in way %d leaves bytes of class %s", (unsigned long long)nth, name, (int)failure,
                     myth_mem_class_name((myth_mem_class)(i % MYTH_MEM_CLASS_N)));
}

/* Of each kind of call one, chosen at random. Returns how many kinds there are. */
static uint32_t choose_calls(uint64_t at[N_KIND_MAX], uint64_t n, uint64_t *random)
{
    const char *name[N_KIND_MAX];
    uint32_t seen[N_KIND_MAX], n_kind = 0, k;
    for (uint64_t nth = 1; nth <= n && vk_probe_call(nth); nth++) {
        for (k = 0; k < n_kind && strcmp(name[k], vk_probe_call(nth)) != 0; k++)
            ;
        if (k == n_kind) {
            assert_true(n_kind < N_KIND_MAX);
            name[n_kind] = vk_probe_call(nth);
            seen[n_kind++] = 0;
        }
        if (check_below(random, ++seen[k]) == 0)
            at[k] = nth;
    }
    return n_kind;
}

static void every_call_fails_once(void **state)
{
    (void)state;
    myth_mem *mem;
    output want, got;
    uint64_t random = check_seed(), n_try = 0, at[N_KIND_MAX];
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    vk_probe_fault(0, VK_PROBE_LOST);
    assert_ok(session(mem, &want, &rig_err));
    uint64_t n = vk_probe_n_call();
    uint32_t n_kind = choose_calls(at, n, &random);
    if (check_is_full()) {
        for (uint64_t nth = 1; nth <= n; nth++)
            for (int f = 0; f < VK_PROBE_FAILURE_N; f++, n_try++)
                fail_call(mem, nth, (vk_probe_failure)f, &want);
    } else {
        for (uint32_t k = 0; k < n_kind; k++, n_try++)
            fail_call(mem, at[k], (vk_probe_failure)((k + random) % VK_PROBE_FAILURE_N), &want);
    }
    assert_ok(session(mem, &got, &rig_err));
    assert_memory_equal(&got, &want, sizeof(got));
    printf("%llu calls of %u kinds, %llu failures tried\n", (unsigned long long)n, n_kind, (unsigned long long)n_try);
    assert_int_equal(myth_mem_close(mem), 0);
}

static int run(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_call_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) { return vulkan_run(run); }
#endif
