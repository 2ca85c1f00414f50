/* test_launches.c - what a decode step costs the host, on every device: launches per layer, synchronisations and
 * allocations per token.
 *
 * Layers   the same model is opened with fewer of its layers. The difference between the launches of two steps is that
 *          of the layers between, whatever a step launches only once
 * Limits   5 launches per layer where one launch can do a product with its prologue and its merge (CUDA), 7 on Vulkan
 * Syncs    from token to token: none where the device chooses the token, one where a grammar on the host does, two
 *          where the row must be reduced again under the grammar's mask */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"
#include "engine/run/run.h"

enum { CTX = 160, N_PROMPT = 9, N_NEW = 64 };

static char device[RIG_TARGET_MAX][32];
static uint32_t n_device;

static int find_devices(void **state)
{
    (void)state;
    n_device = rig_devices(device);
    return 0;
}

static bool is_gpu(const char *name) { return strchr(name, ':') != NULL; }

/* Opened with the first n_layer layers; 0 = all. */
static void open_layers(rig *r, const char *spec, const myth_engine_opts *o, uint32_t n_layer)
{
    *r = (rig){0};
    assert_ok(myth_mem_open(&r->mem, 0, &rig_err));
    assert_ok(myth_model_open(&r->model, r->mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_true(n_layer <= r->model.config.n_layer);
    if (n_layer)
        r->model.config.n_layer = n_layer;
    assert_ok(myth_engine_open(&r->engine, &r->model, o, &rig_err));
}

static void make_prompt(int32_t prompt[N_PROMPT])
{
    uint64_t rng = check_seed();
    for (int i = 0; i < N_PROMPT; i++)
        prompt[i] = 3 + (int32_t)check_below(&rng, 400);
}

static myth_device_counts counts_of(const rig *r) { return myth_device_get_counts(r->engine->part->dev); }

/* ---- launches ---- */

typedef struct {
    uint64_t forward, run;
} step_launches;

/* Of one step when it is already recorded: by myth_forward and as part of a run. */
static step_launches launches_of_step(const char *spec, const char *dev, uint32_t n_layer)
{
    myth_engine_opts o = {.device = dev, .n_threads = 1, .n_ctx = CTX, .n_ubatch = 32, .top_k = 1};
    step_launches n;
    int32_t prompt[N_PROMPT];
    uint64_t before;
    rig r;
    open_layers(&r, spec, &o, n_layer);
    make_prompt(prompt);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, prompt, N_PROMPT - 1, 0, NULL);
    rig_decode(&r, s, 3, NULL);
    before = counts_of(&r).n_launch;
    rig_decode(&r, s, 4, NULL);
    n.forward = counts_of(&r).n_launch - before;

    myth_run run;
    uint64_t mark;
    assert_ok(myth_run_begin(&run, r.engine, &(myth_run_opts){.seq = &s, .n_seq = 1, .first = &prompt[N_PROMPT - 1]},
                             &rig_err));
    for (int i = 0; i < 2; i++) {
        before = counts_of(&r).n_launch;
        assert_ok(myth_run_issue(&run, 4, &mark, &rig_err));
        assert_ok(myth_run_wait(&run, mark, &rig_err));
        n.run = counts_of(&r).n_launch - before;
        for (int k = 0; k < 4; k++)
            assert_true(myth_run_next(&run)[0] >= 0);
    }
    assert_int_equal(n.run % 4, 0);
    n.run /= 4;
    myth_run_end(&run);
    myth_seq_close(s);
    rig_close(&r);
    return n;
}

static void launches_per_layer(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t few, all;
    } model[] = {
        {"random:gemma3-tiny:q8_0", 4, 7}, /* among the last three a global layer */
        {"random:gemma2-tiny:q4_0", 2, 4},
        {"random:gemma1-tiny:bf16", 1, 3},
    };
    uint32_t n_model = check_is_full() ? 3 : 1;
    for (uint32_t d = 0; d < n_device; d++)
        for (uint32_t m = 0; m < n_model && is_gpu(device[d]); m++) {
            uint32_t limit = strncmp(device[d], "cuda", 4) == 0 ? 5 : 7, k = model[m].all - model[m].few;
            step_launches few = launches_of_step(model[m].spec, device[d], model[m].few);
            step_launches all = launches_of_step(model[m].spec, device[d], model[m].all);
            printf("%-9s %s: launches of a step with %u layers %llu, with %u %llu; in a run %llu, %llu\n", device[d],
                   model[m].spec, model[m].few, (unsigned long long)few.forward, model[m].all,
                   (unsigned long long)all.forward, (unsigned long long)few.run, (unsigned long long)all.run);
            assert_true(all.forward > few.forward && all.run > few.run);
            assert_true(all.forward - few.forward <= (uint64_t)limit * k);
            assert_true(all.run - few.run <= (uint64_t)limit * k);
        }
}

/* ---- synchronisations and allocations ---- */

typedef struct {
    rig *r;
    uint32_t n_tok;
    uint64_t first_sync, last_sync, n_alloc;
    uint64_t most_apart; /* syncs between a token and the next */
} watch;

static bool on_token(void *user, int32_t id)
{
    watch *w = user;
    uint64_t n_sync = counts_of(w->r).n_sync;
    (void)id;
    if (w->n_tok++ == 0) {
        w->first_sync = n_sync;
        w->n_alloc = myth_mem_n_alloc(w->r->mem);
    } else if (n_sync - w->last_sync > w->most_apart) {
        w->most_apart = n_sync - w->last_sync;
    }
    w->last_sync = n_sync;
    assert_int_equal(myth_mem_n_alloc(w->r->mem), w->n_alloc);
    return true;
}

/* Where streams run on, the host only ever waits for places in them. */
static void a_free_run_never_synchronises(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < n_device; d++)
        for (uint32_t sampled = 0; sampled < check_sample(2); sampled++) {
            const myth_sample_params sample = {.temp = sampled ? 0.8f : 0.0f, .top_k = 20, .top_p = 0.9f, .seed = 7};
            myth_engine_opts o = {.device = device[d], .n_threads = 1, .n_ctx = CTX, .n_ubatch = 32};
            int32_t prompt[N_PROMPT], ids[N_NEW];
            uint32_t n_ids;
            myth_finish why;
            rig r;
            myth_generate_needs(&o, &sample, false);
            open_layers(&r, "random:gemma3-tiny:q8_0", &o, 0);
            make_prompt(prompt);
            myth_seq *s = rig_seq(&r);
            for (uint32_t again = 0; again < check_sample(2);
                 again++) { /* the second replays what the first recorded */
                watch w = {.r = &r};
                uint64_t waits = counts_of(&r).n_wait;
                uint32_t at;
                assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
                assert_ok(myth_generate(r.engine, s,
                                        &(myth_generate_opts){
                                            .prompt = prompt,
                                            .n_prompt = N_PROMPT,
                                            .n_max = N_NEW,
                                            .sample = sample,
                                            .on_token = on_token,
                                            .user = &w,
                                        },
                                        ids, &n_ids, &why, &rig_err));
                assert_int_equal(n_ids, N_NEW);
                assert_int_equal(w.n_tok, N_NEW);
                printf("%-9s %s: %llu synchronisations, %llu waits over %u tokens\n", device[d],
                       sampled ? "sampled" : "greedy", (unsigned long long)(w.last_sync - w.first_sync),
                       (unsigned long long)(counts_of(&r).n_wait - waits), n_ids);
                if (is_gpu(device[d])) {
                    assert_true(myth_device_get_caps(r.engine->part->dev)->is_async);
                    assert_int_equal(w.last_sync, w.first_sync);
                    assert_true(counts_of(&r).n_wait > waits && counts_of(&r).n_wait - waits <= N_NEW / 8);
                }
            }
            myth_seq_close(s);
            rig_close(&r);
        }
}

/* ---- with a grammar ---- */

static void start(const void *self, void *state)
{
    (void)self;
    *(uint8_t *)state = 0;
}
static bool any_byte(const void *self, void *state, uint8_t byte) { return (void)self, (void)state, (void)byte, true; }
static bool digits(const void *self, void *state, uint8_t byte)
{
    return (void)self, (void)state, byte >= '0' && byte <= '9';
}
static bool never(const void *self, const void *state) { return (void)self, (void)state, false; }

static void a_grammar_costs_one_synchronisation_two_with_its_mask(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        bool (*step)(const void *, void *, uint8_t);
        uint64_t most;
    } kind[] = {
        {"every byte", any_byte, 1}, /* the best token is allowed           */
        {"digits", digits, 2},       /* none of the best, again and again   */
    };
    char path[1024];
    check_path(path, sizeof(path), "models/mythos-inspect.gguf");
    for (uint32_t d = 0; d < n_device; d++) {
        const myth_sample_params greedy = {0};
        myth_engine_opts o = {.device = device[d], .n_threads = 1, .n_ctx = CTX, .n_ubatch = 32};
        int32_t prompt[N_PROMPT], ids[N_NEW];
        uint32_t n_ids, n_new = check_sample(N_NEW);
        myth_finish why;
        rig r;
        myth_generate_needs(&o, &greedy, true);
        open_layers(&r, path, &o, 0);
        make_prompt(prompt);
        myth_seq *s = rig_seq(&r);
        for (int i = 0; i < 2; i++) {
            const myth_automaton a = {.state_bytes = 1, .start = start, .step = kind[i].step, .may_end = never};
            myth_grammar *g;
            uint32_t at;
            watch w = {.r = &r};
            assert_ok(myth_grammar_open(&g, r.mem, r.model.tokenizer, r.model.config.n_vocab, NULL, 0, 1, &rig_err));
            myth_grammar_start(g, &a);
            assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
            assert_ok(myth_generate(r.engine, s,
                                    &(myth_generate_opts){
                                        .prompt = prompt,
                                        .n_prompt = N_PROMPT,
                                        .n_max = n_new,
                                        .grammar = g,
                                        .on_token = on_token,
                                        .user = &w,
                                    },
                                    ids, &n_ids, &why, &rig_err));
            assert_int_equal(n_ids, n_new);
            printf("%-9s %s: %llu synchronisations over %u tokens, between two at most %llu\n", device[d], kind[i].what,
                   (unsigned long long)(w.last_sync - w.first_sync), n_ids, (unsigned long long)w.most_apart);
            assert_true(w.most_apart <= kind[i].most);
            assert_true(w.last_sync - w.first_sync >= n_new - 1);
            myth_grammar_close(g);
        }
        myth_seq_close(s);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_per_layer),
        cmocka_unit_test(a_free_run_never_synchronises),
        cmocka_unit_test(a_grammar_costs_one_synchronisation_two_with_its_mask),
    };
    return cmocka_run_group_tests(tests, find_devices, NULL);
}
