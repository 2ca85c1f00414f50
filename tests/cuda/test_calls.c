/* test_calls.c - every call of the CUDA runtime in a session (load, prefill, decode with recorded steps, generate)
 * fails once, in every class of failure: a status of that class with a message, nothing left in the ledger or with the
 * runtime, and the next session is served. A call whose failure costs nothing may pass, and then the answer is the
 * same. A call of a recording must pass, unless the device is lost: the step is issued launch by launch instead.
 * By default every kind of call at one random place of it; with MYTHOS_TEST_FULL=1 that in every class, and every call
 * in one class, in turn. */
#include "emu_probe.h"

#include "tests/support/faults.h"

#include "kernels/device.h"

static const session_shape shape = {
    .engine = {.device = "cuda:0", .n_threads = 1, .n_ctx = 32, .n_seq = 1, .n_ubatch = 4, .top_k = 4},
    .n_prompt = 5,
    .n_new = 2,
    .n_again = 2,
};

static bool is_of_class(myth_status st, emu_probe_failure f)
{
    switch (f) {
    case EMU_PROBE_MEMORY: return st == MYTH_ENOMEM;
    case EMU_PROBE_LOST: return st == MYTH_ELOST;
    default: return st == MYTH_EDEVICE;
    }
}

enum { N_CALL_MAX = 1 << 16 };
static bool is_question[N_CALL_MAX + 1];  /* a device made current only to be asked how much memory is free */
static bool is_recording[N_CALL_MAX + 1]; /* of a recording: begin, launches, end, instantiation */

/* What may fail without the session noticing: gifts back to the driver, questions whose answer has a substitute, and
 * pinned memory, which is out of memory whatever the reason: the engine opens once more with fewer rows of a step. */
static bool may_pass(const char *call, uint64_t nth, emu_probe_failure f)
{
    return is_question[nth] || f == EMU_PROBE_MEMORY || strstr(call, "HostAlloc") || strstr(call, "Free") ||
           strstr(call, "Destroy") || strstr(call, "GetInfo") || strstr(call, "GetDevice");
}

static void check_nothing_left(myth_mem *mem, uint64_t nth, const char *name, emu_probe_failure f)
{
    char what[128];
    snprintf(what, sizeof(what), "call %llu, %s, failing in way %d", (unsigned long long)nth, name, (int)f);
    faults_nothing_booked(mem, what);
    if (emu_probe_n_live())
        fail_msg("%s leaves %llu objects with the runtime", what, (unsigned long long)emu_probe_n_live());
}

/* One session whose n-th call fails. */
static void fail_call(myth_mem *mem, uint64_t nth, emu_probe_failure f, const session_output *want)
{
    session_output got;
    rig_err = (myth_error){0};
    emu_probe_fault(nth, f);
    myth_status st = session_run(mem, &shape, &got, &rig_err);
    const char *name = emu_probe_failed();
    emu_probe_fault(0, f);
    if (st != MYTH_OK && is_recording[nth] && f != EMU_PROBE_LOST)
        fail_msg("call %llu, %s, of a recording: its failure in way %d ends the step: %s", (unsigned long long)nth,
                 name ? name : "none", (int)f, rig_err.msg);
    if (st == MYTH_OK && (!name || may_pass(name, nth, f) || (is_recording[nth] && f != EMU_PROBE_LOST)))
        assert_memory_equal(&got, want, sizeof(got));
    else if (!name || !(is_of_class(st, f) || faults_is_not_found(st, &rig_err)) || !rig_err.msg[0])
        fail_msg("call %llu, %s, failing in way %d ends in %s: %s", (unsigned long long)nth, name ? name : "none",
                 (int)f, myth_status_name(st), rig_err.msg);
    check_nothing_left(mem, nth, name ? name : "none", f);
}

static void every_call_fails_once(void **state)
{
    (void)state;
    myth_mem *mem;
    session_output want, got;
    uint64_t random = check_seed(), n_try = 0, at[FAULT_KIND_MAX];
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    emu_probe_fault(0, EMU_PROBE_LOST);
    assert_ok(session_run(mem, &shape, &want,
                          &rig_err)); /* the first sets the device's limit, and asks for it: later ones do not */
    emu_probe_fault(0, EMU_PROBE_LOST);
    assert_ok(session_run(mem, &shape, &want, &rig_err));
    uint64_t n = emu_probe_n_call();
    assert_true(n < N_CALL_MAX);
    bool records = false;
    for (uint64_t nth = 1; nth < n; nth++) {
        const char *call = emu_probe_call(nth);
        is_question[nth] = strcmp(call, "cudaSetDevice") == 0 && strcmp(emu_probe_call(nth + 1), "cudaMemGetInfo") == 0;
        records = records || strcmp(call, "cudaStreamBeginCapture") == 0;
        is_recording[nth] = records || strcmp(call, "cudaGraphInstantiate") == 0;
        records = records && strcmp(call, "cudaStreamEndCapture") != 0;
    }
    uint32_t n_kind = faults_choose(at, n, emu_probe_call, &random);
    for (uint32_t k = 0; k < n_kind; k++)
        for (uint32_t f = 0; f < (check_is_full() ? EMU_PROBE_FAILURE_N : 1u); f++, n_try++)
            fail_call(mem, at[k], (emu_probe_failure)((k + f + check_seed()) % EMU_PROBE_FAILURE_N), &want);
    for (uint64_t nth = 1; nth <= n && check_is_full(); nth++, n_try++)
        fail_call(mem, nth, (emu_probe_failure)((nth + check_seed()) % EMU_PROBE_FAILURE_N), &want);
    assert_ok(session_run(mem, &shape, &got, &rig_err));
    assert_memory_equal(&got, &want, sizeof(got));
    printf("%llu calls of %u kinds, %llu failures tried\n", (unsigned long long)n, n_kind, (unsigned long long)n_try);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Another process takes the rest of the device's memory: what was opened before goes on, what comes later is refused
 * and changes nothing. */
static void memory_taken_by_others(void **state)
{
    (void)state;
    enum { DEVICE_BYTES = 64 << 20 };
    static const myth_device_opts opts = {.name = "cuda:0"};
    myth_mem *mem;
    myth_device *dev;
    myth_stream *s;
    myth_buf *first, *second = NULL;
    float x = 3.0f, y = 0.0f;
    setenv("MYTHOS_EMU_MEMORY", "67108864", 1);
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_device_open(&dev, mem, &opts, &rig_err));
    assert_ok(myth_stream_open(&s, dev, &rig_err));
    assert_ok(myth_buf_open(&first, dev, MYTH_MEM_OTHER, "first", 1 << 20, &rig_err));
    uint64_t used = emu_probe_used(), live = myth_mem_total(mem, 1).live;
    assert_int_equal(used, live);
    emu_probe_hog(DEVICE_BYTES - used);
    assert_int_equal(myth_buf_open(&second, dev, MYTH_MEM_OTHER, "second", 1 << 20, &rig_err), MYTH_ENOMEM);
    assert_int_equal(emu_probe_used(), used);
    assert_int_equal(myth_mem_total(mem, 1).live, live);
    myth_stream_write(s, myth_view_at(first, 64, MYTH_F32), &x, 4);
    myth_stream_read(s, &y, myth_view_at(first, 64, MYTH_F32), 4);
    assert_ok(myth_stream_sync(s, &rig_err));
    assert_true(y == 3.0f);
    emu_probe_hog(0);
    assert_ok(myth_buf_open(&second, dev, MYTH_MEM_OTHER, "second", 1 << 20, &rig_err));
    myth_mem_set_limit(mem, 1, used + (1 << 20)); /* and a limit of ours */
    myth_buf *third = NULL;
    assert_int_equal(myth_buf_open(&third, dev, MYTH_MEM_OTHER, "third", 1, &rig_err), MYTH_ENOMEM);
    myth_buf_close(first);
    myth_buf_close(second);
    myth_stream_close(s);
    myth_device_close(dev);
    unsetenv("MYTHOS_EMU_MEMORY");
    assert_int_equal(emu_probe_n_live(), 0);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A buffer in host memory: on the host's ledger, none of the device's bytes, written and read through the stream;
 * whichever of the calls that make it fails, nothing is left of it. */
static void buffers_in_host_memory(void **state)
{
    (void)state;
    static const myth_device_opts opts = {.name = "cuda:0"};
    enum { N_ROW = 24, N_IN = 64, ROW = N_IN / 32 * 34, N_BYTE = N_ROW * ROW };
    unsigned char form[N_BYTE], back[N_BYTE];
    myth_mem *mem;
    myth_device *dev;
    myth_stream *s;
    myth_buf *b = NULL;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_device_open(&dev, mem, &opts, &rig_err));
    assert_ok(myth_stream_open(&s, dev, &rig_err));
    const uint64_t used = emu_probe_used(), n_live = emu_probe_n_live(), host = myth_mem_total(mem, MYTH_MEM_HOST).live;
    myth_status st = MYTH_ENOMEM;
    uint64_t nth = 1;
    for (; st != MYTH_OK && nth < 20; nth++) {
        rig_err = (myth_error){0};
        emu_probe_fault(nth, EMU_PROBE_MEMORY);
        st = myth_buf_open_host(&b, dev, MYTH_MEM_WEIGHTS, "experts", N_BYTE, &rig_err);
        assert_true(st == MYTH_OK ? !emu_probe_failed() : st == MYTH_ENOMEM && emu_probe_failed() && rig_err.msg[0]);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS).live, st == MYTH_OK ? N_BYTE : 0);
    }
    assert_true(st == MYTH_OK && nth > 2);
    emu_probe_fault(0, EMU_PROBE_MEMORY);
    assert_int_equal(emu_probe_used(), used);
    assert_int_equal(emu_probe_n_live(), n_live + 1);
    assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, host + N_BYTE);
    for (int i = 0; i < N_BYTE; i++)
        form[i] = (unsigned char)(7 * i + i / 255);
    for (uint32_t row = 0; row < N_ROW; row += N_ROW / 3)
        myth_weight_write(s, myth_view_at(b, 0, MYTH_Q8_0), form + row * ROW, N_ROW, row, N_ROW / 3, N_IN);
    myth_stream_read(s, back, myth_view_at(b, 0, MYTH_Q8_0), N_BYTE);
    assert_ok(myth_stream_sync(s, &rig_err));
    assert_memory_equal(myth_buf_host(b), back, N_BYTE);
    for (uint32_t i = 0; i < N_BYTE / 34; i++) { /* planar: all quants, then all scales */
        assert_memory_equal(back + 32 * i, form + 34 * i + 2, 32);
        assert_memory_equal(back + N_BYTE / 34 * 32 + 2 * i, form + 34 * i, 2);
    }
    myth_stream_write(s, myth_view_at(b, 3, MYTH_F32), form, 100);
    memset(form, 0, 1); /* write took its copy */
    myth_stream_read(s, back, myth_view_at(b, 4, MYTH_F32), 99);
    assert_ok(myth_stream_sync(s, &rig_err));
    assert_memory_equal(back, form + 1, 99);
    myth_mem_set_limit(mem, MYTH_MEM_HOST, host + N_BYTE + 99);
    myth_buf *more = NULL;
    assert_int_equal(myth_buf_open_host(&more, dev, MYTH_MEM_WEIGHTS, "experts", 100, &rig_err), MYTH_ENOMEM);
    assert_non_null(strstr(rig_err.msg, "host memory"));
    myth_buf_close(b);
    assert_int_equal(emu_probe_n_live(), n_live);
    assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, host);
    myth_stream_close(s);
    myth_device_close(dev);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_fails_once),
                                       cmocka_unit_test(memory_taken_by_others),
                                       cmocka_unit_test(buffers_in_host_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
