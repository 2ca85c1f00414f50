/* test_faults.c - every allocation of a session fails, once alone and once with all that follow; then one in each of
 * two sessions, in all pairs, and some at random, by size and class. The session gives the normal output or an
 * out-of-memory status, leaves nothing allocated, and serves the next request. */
#include "engine/make/convert.h"
#include "tests/support/rig.h"

#include <unistd.h>

enum { N_PROMPT = 30, N_NEW = 12, N_OUT = 4 * N_NEW };

typedef struct {
    int32_t id[N_OUT];
    uint32_t n;
    float logit[8];
} output;

/* One session: load, prefill, decode, fork, truncate, evict, save and restore, generate. MYTH_OK only when all of it
 * went through. */
static myth_status session(myth_mem *mem, const char *spec, output *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_model m = {0};
    myth_engine *e = NULL;
    myth_seq *s = NULL, *fork = NULL, *seq[N_PROMPT];
    unsigned char *saved = NULL;
    int32_t ids[N_PROMPT];
    uint8_t want[N_PROMPT] = {0};
    myth_result r;
    uint32_t at, n;
    myth_finish why;
    myth_engine_opts o = {
        .n_threads = 2,
        .n_ctx = 128,
        .n_seq = 2,
        .n_checkpoint = 1,
        .n_ubatch = 16,
        .top_k = 8,
        .n_cpu_moe = UINT32_MAX,
    };
    rig_at(&o, rig_target());
    o.is_exact = false;
    *out = (output){0};
    MYTH_TRY(myth_model_open(&m, mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, err));
    MYTH_TRY(myth_engine_open(&e, &m, &o, err));
    MYTH_TRY(myth_seq_open(&s, e, err));
    for (int32_t i = 0; i < N_PROMPT; i++) {
        ids[i] = 3 + i * 4;
        seq[i] = s;
    }
    want[N_PROMPT - 1] = MYTH_WANT_LOGITS;
    MYTH_TRY(
        rig_forward(e, &(rig_tokens){.n_tok = N_PROMPT, .token = ids, .seq = seq, .want = want, .top_k = 8}, &r, err));
    memcpy(out->logit, r.top_logit, sizeof(out->logit));
    MYTH_TRY(myth_seq_checkpoint(s, err));
    for (int i = 0; i < N_NEW; i++) {
        int32_t id = r.top_id[0];
        out->id[out->n++] = id;
        uint8_t one = MYTH_WANT_LOGITS;
        MYTH_TRY(rig_forward(e, &(rig_tokens){.n_tok = 1, .token = &id, .seq = &s, .want = &one, .is_decode = true}, &r,
                             err));
    }
    MYTH_TRY(myth_seq_fork(&fork, s, err));
    const myth_generate_opts greedy = {.prompt = ids, .n_prompt = 5, .n_max = N_NEW};
    MYTH_TRY(myth_generate(e, fork, &greedy, out->id + out->n, &n, &why, err));
    out->n += n;
    MYTH_TRY(myth_seq_truncate(s, N_PROMPT + 1, &at, err));
    MYTH_TRY(myth_seq_evict(fork, 2, 20, err));
    uint64_t bytes = myth_seq_save_bytes(fork);
    saved = myth_alloc(mem, MYTH_MEM_STAGING, "saved", bytes);
    if (!saved) {
        st = myth_fail(err, MYTH_ENOMEM, "saved: %llu bytes", (unsigned long long)bytes);
        goto fail;
    }
    MYTH_TRY(myth_seq_save(fork, saved, bytes, err));
    myth_seq_close(fork);
    fork = NULL;
    MYTH_TRY(myth_seq_open(&fork, e, err));
    MYTH_TRY(myth_seq_restore(fork, saved, bytes, err));
    const myth_generate_opts sampled = {
        .prompt = ids,
        .n_prompt = 3,
        .n_max = N_NEW,
        .sample = {.temp = 0.8f, .top_k = 8, .seed = 4},
    };
    MYTH_TRY(myth_generate(e, fork, &sampled, out->id + out->n, &n, &why, err));
    out->n += n;
fail:
    myth_free(mem, saved);
    if (fork)
        myth_seq_close(fork);
    if (s)
        myth_seq_close(s);
    myth_engine_close(e);
    myth_model_close(&m);
    return st;
}

static void check_after(myth_mem *mem, const char *spec, uint64_t nth, bool forever, myth_status st, const output *got,
                        const output *want)
{
    myth_mem_set_fault(mem, NULL);
    char what[256];
    snprintf(what, sizeof(what), "%.180s: allocation %llu failing%s", spec, (unsigned long long)nth,
             forever ? " for ever" : "");
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX * MYTH_MEM_CLASS_N; i++) {
        int c = i % MYTH_MEM_CLASS_N;
        uint64_t live = myth_mem_get(mem, i / MYTH_MEM_CLASS_N, (myth_mem_class)c).live;
        if (live)
            fail_msg("%s leaves %llu bytes of class %s", what, (unsigned long long)live,
                     myth_mem_class_name((myth_mem_class)c));
    }
    if (st != MYTH_OK && st != MYTH_ENOMEM && st != MYTH_ENOFIT)
        fail_msg("%s ends in %s: %s", what, myth_status_name(st), rig_err.msg);
    if (st == MYTH_OK && memcmp(got, want, sizeof(*got)) != 0)
        fail_msg("%s changes the answer", what);
    if (st != MYTH_OK && rig_err.msg[0] == '\0')
        fail_msg("%s: no message", what);
}

static void every_failed_allocation(const char *spec)
{
    myth_mem *mem;
    output want, got;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(session(mem, spec, &want, &rig_err));
    assert_int_equal(want.n, 3 * N_NEW);
    uint64_t n = myth_mem_n_alloc(mem), rng = check_seed(), n_run = 0, n_survived = 0;
    uint64_t step = check_is_full() ? 1 : n / check_sample(150) + 1;
    for (uint64_t nth = 1; nth <= n; nth += step == 1 ? 1 : 1 + check_below(&rng, (uint32_t)(2 * step - 1)))
        for (int forever = 0; forever < 2; forever++) {
            rig_err = (myth_error){0};
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth, .forever = forever});
            myth_status st = session(mem, spec, &got, &rig_err);
            check_after(mem, spec, nth, forever, st, &got, &want);
            n_run++;
            n_survived += st == MYTH_OK;
        }
    assert_ok(session(mem, spec, &got, &rig_err)); /* and after all of it the session is as it was */
    assert_memory_equal(&got, &want, sizeof(got));
    printf("%s: %llu allocations, %llu failures tried, %llu without consequence\n", spec, (unsigned long long)n,
           (unsigned long long)n_run, (unsigned long long)n_survived);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void failing_allocations_of_a_made_model(void **state)
{
    (void)state;
    every_failed_allocation("random:gemma3-tiny:q8_0");
    every_failed_allocation("random:gemma4-moe-tiny:q8_0"); /* experts in host memory */
}

/* A file with a tokenizer in its facts. */
static void failing_allocations_of_gguf(void **state)
{
    (void)state;
    char path[] = "/tmp/mythos-faults-XXXXXX.gguf";
    int fd = mkstemps(path, 5);
    myth_mem *mem;
    myth_model m = {0};
    assert_true(fd >= 0);
    close(fd);
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, "random:gemma3-tiny:bf16", &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA},
                              &rig_err));
    assert_ok(myth_convert(&m, &(myth_convert_opts){.path = path, .type = MYTH_Q4_0}, &rig_err));
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    every_failed_allocation(path);
    unlink(path);
}

static void failing_allocations_of_safetensors(void **state)
{
    (void)state;
    char path[1024];
    every_failed_allocation(check_path(path, sizeof(path), "tests/golden/models/gemma3-mm-new"));
    every_failed_allocation(check_path(path, sizeof(path), "tests/golden/models/gemma2-old"));
}

/* Failing by class and by size: what is refused is refused with the same code wherever it is taken. */
static void failing_classes_and_sizes(void **state)
{
    (void)state;
    static const char spec[] = "random:gemma2-tiny:bf16";
    myth_mem *mem;
    output want, got;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(session(mem, spec, &want, &rig_err));
    for (uint32_t c = 0; c < MYTH_MEM_CLASS_N; c++) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = 1, .class_mask = 1u << c, .forever = true});
        myth_status st = session(mem, spec, &got, &rig_err);
        check_after(mem, spec, 1, true, st, &got, &want);
    }
    for (uint64_t above = 1; above < 1 << 24; above *= 2) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = 1, .fail_above = above, .forever = true});
        myth_status st = session(mem, spec, &got, &rig_err);
        check_after(mem, spec, 1, true, st, &got, &want);
    }
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Fails as `fault` says; what it must then be, is checked. */
static void fail_once(myth_mem *mem, const char *spec, const myth_fault *fault, const output *want)
{
    output got;
    rig_err = (myth_error){0};
    myth_mem_set_fault(mem, fault);
    const myth_status st = session(mem, spec, &got, &rig_err);
    check_after(mem, spec, fault->fail_nth, fault->forever, st, &got, want);
}

/* A failure, and one more where it is tried again: every pair of the first 200 allocations, or a sample of them; then
 * schedules drawn at random. Whoever tries once more without one has the normal output. */
static void failures_that_follow_each_other(void **state)
{
    (void)state;
    static const char spec[] = "random:gemma3-tiny:q8_0";
    enum { SITES = 200, WHOLE = 64 };
    myth_mem *mem;
    output want, got;
    uint64_t rng = check_seed();
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(session(mem, spec, &want, &rig_err));
    const uint64_t n_all = myth_mem_n_alloc(mem);
    const uint32_t n = n_all < SITES ? (uint32_t)n_all : SITES;
    const uint32_t n_pair = check_is_full() ? n * n : check_sample(60), n_drawn = check_trials(10000, 60);
    for (uint32_t i = 0; i < n_pair + n_drawn; i++) {
        const uint32_t at = check_is_full() ? i : check_below(&rng, n * n);
        if (i < n_pair) {
            fail_once(mem, spec, &(myth_fault){.fail_nth = 1 + at / n}, &want);
            fail_once(mem, spec, &(myth_fault){.fail_nth = 1 + at % n}, &want);
        } else {
            const uint32_t mask = check_below(&rng, 2) ? check_below(&rng, 1u << MYTH_MEM_CLASS_N) : 0,
                           above = check_below(&rng, 2) ? 1u << check_below(&rng, 20) : 0,
                           nth = 1 + check_below(&rng, mask || above ? 8 : n);
            fail_once(
                mem, spec,
                &(myth_fault){
                    .fail_nth = nth, .fail_above = above, .class_mask = mask, .forever = check_below(&rng, 2) == 0},
                &want);
        }
        if (i % WHOLE == WHOLE - 1 || i + 1 == n_pair + n_drawn) {
            assert_ok(session(mem, spec, &got, &rig_err));
            assert_memory_equal(&got, &want, sizeof(got));
        }
    }
    printf("%u pairs of %u allocations, %u schedules\n", n_pair, n, n_drawn);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Every limit from nothing to enough: refused or served, never in between. */
static void every_limit_refuses_or_serves(void **state)
{
    (void)state;
    static const char spec[] = "random:gemma3-tiny:q4_0";
    myth_mem *mem;
    output want, got;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(session(mem, spec, &want, &rig_err));
    uint64_t peak = myth_mem_total(mem, MYTH_MEM_HOST).peak, n_served = 0, n_refused = 0;
    const uint32_t n = check_sample(60), step = 60 / (n < 4 ? 4 : n);
    for (uint32_t k = 60; k; k -= step < k ? step : k) {
        uint64_t limit = peak * k / 50;
        myth_mem_set_limit(mem, MYTH_MEM_HOST, limit);
        myth_mem_reset_peak(mem);
        rig_err = (myth_error){0};
        myth_status st = session(mem, spec, &got, &rig_err);
        assert_true(myth_mem_total(mem, MYTH_MEM_HOST).peak <= limit);
        check_after(mem, spec, k, false, st, &got, &want);
        n_served += st == MYTH_OK;
        n_refused += st != MYTH_OK;
    }
    assert_true(n_served > 0 && n_refused > 0);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_allocations_of_a_made_model), cmocka_unit_test(failing_allocations_of_gguf),
        cmocka_unit_test(failing_allocations_of_safetensors),  cmocka_unit_test(failing_classes_and_sizes),
        cmocka_unit_test(failures_that_follow_each_other),     cmocka_unit_test(every_limit_refuses_or_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
