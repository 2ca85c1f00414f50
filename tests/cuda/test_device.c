/* test_device.c - the CUDA device on drivers, code and cards that differ from the one it was written on: recordings
 * that are refused, code of another architecture, the knobs of tune.h. On the emulated device only. */
#include "emu_probe.h"

#include "tests/support/faults.h"

#include "kernels/device.h"

static const session_shape shape = {
    .engine = {.device = "cuda:0", .n_threads = 1, .n_ctx = 32, .n_seq = 1, .n_ubatch = 4, .top_k = 4},
    .n_prompt = 5,
    .n_new = 2,
    .n_again = 2,
};

static uint64_t count_calls(const char *name)
{
    uint64_t n = 0;
    for (uint64_t nth = 1; nth <= emu_probe_n_call(); nth++)
        n += strcmp(emu_probe_call(nth), name) == 0;
    return n;
}

/* A session under refusals and the environment as it is. */
static session_output run_session(unsigned refused)
{
    myth_mem *mem;
    session_output out;
    emu_probe_fault(0, EMU_PROBE_LOST);
    emu_probe_refuse(refused);
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    const myth_status st = session_run(mem, &shape, &out, &rig_err);
    emu_probe_refuse(0);
    if (st != MYTH_OK)
        fail_msg("refused %u: %s", refused, rig_err.msg);
    assert_int_equal(emu_probe_n_live(), 0);
    assert_int_equal(myth_mem_close(mem), 0);
    return out;
}

/* ---- recordings ---- */

/* A driver that refuses every recording costs two attempts and no token; one that refuses early starts only, one. */
static void refused_recordings_cost_no_token(void **state)
{
    (void)state;
    static const unsigned whole[] = {EMU_PROBE_REFUSE_BEGIN, EMU_PROBE_REFUSE_END, EMU_PROBE_REFUSE_INSTANTIATE};
    const session_output want = run_session(0);
    const uint64_t n_graph = count_calls("cudaGraphInstantiate"), n_replay = emu_probe_n_replay();
    assert_true(want.n > 2 && n_graph > 0 && n_replay > n_graph);
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        const session_output got = run_session(whole[i]);
        assert_memory_equal(&got, &want, sizeof(got));
        assert_int_equal(emu_probe_n_replay(), 0);
        assert_int_equal(count_calls("cudaStreamBeginCapture"), 2);
    }
    const session_output got = run_session(EMU_PROBE_REFUSE_EARLY);
    assert_memory_equal(&got, &want, sizeof(got));
    assert_int_equal(emu_probe_n_replay(), n_replay);
    assert_int_equal(count_calls("cudaGraphInstantiate"), n_graph);
    assert_int_equal(count_calls("cudaStreamBeginCapture"), n_graph + 1);
}

/* ---- code ---- */

/* A device of 9.0 may run code for 8.9, translated by the driver: no launch may start early, no product is sm_90a's.
 * The emulation reports both. */
static void old_code_on_a_new_device(void **state)
{
    (void)state;
    const session_output want = run_session(0);
    assert_true(emu_probe_n_early() > 0);
    static const char *const code[] = {"80", "89", "90"};
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
        setenv("MYTHOS_EMU_CODE", code[i], 1);
        const session_output got = run_session(0);
        unsetenv("MYTHOS_EMU_CODE");
        assert_int_equal(got.n, want.n);
        assert_true(i == 2 ? emu_probe_n_early() > 0 : emu_probe_n_early() == 0);
    }
}

/* ---- knobs ---- */

static void knobs_are_read_at_open(void **state)
{
    (void)state;
    const session_output want = run_session(0);
    assert_int_equal(emu_probe_n_without_carveout(), 0);
    setenv("MYTH_TUNE_CARVEOUT", "-1", 1);
    run_session(0);
    assert_int_equal(emu_probe_n_without_carveout(), emu_probe_n_early());
    unsetenv("MYTH_TUNE_CARVEOUT");
    setenv("MYTH_TUNE_PDL", "0", 1);
    session_output got = run_session(0);
    assert_int_equal(emu_probe_n_early(), 0);
    assert_memory_equal(&got, &want, sizeof(got));
    unsetenv("MYTH_TUNE_PDL");

    static const myth_cuda_tune bad[] = {{.pdl = {true, 2}}, {.prefetch_kb = {true, -1}}, {.attn_mb = {true, 0}}};
    static const char *const name[] = {".pdl", ".prefetch_kb", ".attn_mb"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const myth_device_opts opts = {.name = "cuda:0", .settings.cuda = bad[i]};
        myth_mem *mem;
        myth_device *dev = NULL;
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_int_equal(myth_device_open(&dev, mem, &opts, &rig_err), MYTH_EARG);
        assert_non_null(strstr(rig_err.msg, name[i]));
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_recordings_cost_no_token),
        cmocka_unit_test(old_code_on_a_new_device),
        cmocka_unit_test(knobs_are_read_at_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
