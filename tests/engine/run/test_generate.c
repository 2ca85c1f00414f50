/* test_generate.c - the generation loop: every reason to finish, the same ids for all sizes of the engine, and
 * sampling and penalties computed over the whole row. */
#include "tests/support/rig.h"

#include <math.h>

enum { N_PROMPT = 21, N_MAX = 60, CTX = 160 };

static int32_t prompt[N_PROMPT];

static int make_prompt(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    for (int i = 0; i < N_PROMPT; i++)
        prompt[i] = 3 + (int32_t)check_below(&rng, 400);
    return 0;
}

static myth_engine_opts opts_of(const char *target, const myth_sample_params *sample)
{
    myth_engine_opts o = {.n_threads = 1, .n_ctx = CTX, .n_ubatch = 32, .n_seq = 2, .want_full_logits = true};
    rig_at(&o, target);
    myth_generate_needs(&o, sample, false);
    return o;
}

typedef struct {
    int32_t id[N_MAX];
    uint32_t n;
    myth_finish why;
} answer;

static void generate(rig *r, answer *a, const myth_generate_opts *o)
{
    myth_seq *s = rig_seq(r);
    memset(a->id, -1, sizeof(a->id));
    assert_ok(myth_generate(r->engine, s, o, a->id, &a->n, &a->why, &rig_err));
    myth_seq_close(s);
}

static myth_generate_opts request(const myth_sample_params *sample)
{
    return (myth_generate_opts){.prompt = prompt, .n_prompt = N_PROMPT, .n_max = N_MAX, .sample = *sample};
}

/* ---- how a prompt is fed ---- */

enum { LONG_PROMPT = 1000 };

static struct {
    uint32_t part, n; /* tokens that each call but the last is to have; calls so far */
} feeding;

static void on_part(void *user, uint32_t done, uint32_t total)
{
    (void)user;
    feeding.n++;
    assert_int_equal(total, LONG_PROMPT);
    assert_int_equal(done, feeding.n * feeding.part < total ? feeding.n * feeding.part : total);
}

/* As many tokens at a time as a micro-batch has rows, so that a large one is used; 512 where it has fewer. */
static void a_prompt_is_fed_by_micro_batches(void **state)
{
    (void)state;
    static const uint32_t n_ubatch[] = {64, 900};
    static int32_t ids[LONG_PROMPT];
    const myth_sample_params greedy = {0};
    answer first = {.n = 0}, a;
    for (uint32_t i = 0; i < LONG_PROMPT; i++)
        ids[i] = 3 + (int32_t)(i * 7 % 400);
    for (size_t i = 0; i < sizeof(n_ubatch) / sizeof(n_ubatch[0]); i++) {
        rig r;
        myth_engine_opts eo = opts_of(rig_target(), &greedy);
        eo.n_ctx = LONG_PROMPT + N_MAX;
        eo.n_ubatch = n_ubatch[i];
        rig_open(&r, "random:gemma3-tiny:bf16", &eo);
        myth_generate_opts o = request(&greedy);
        o.prompt = ids;
        o.n_prompt = LONG_PROMPT;
        o.n_max = 5;
        o.on_prefill = on_part;
        feeding.part = n_ubatch[i] > 512 ? n_ubatch[i] : 512;
        feeding.n = 0;
        generate(&r, i ? &a : &first, &o);
        assert_int_equal(feeding.n, (LONG_PROMPT + feeding.part - 1) / feeding.part);
        if (i)
            assert_memory_equal(a.id, first.id, 5 * sizeof(a.id[0]));
        rig_close(&r);
    }
}

/* ---- reasons to finish ---- */

static uint32_t n_called;
static bool refuse_the_third(void *user, int32_t id)
{
    (void)user, (void)id;
    return ++n_called < 3;
}

static myth_cancel cancelled;
static bool set_cancel(void *user, int32_t id)
{
    (void)user, (void)id;
    cancelled = ++n_called == 5;
    return true;
}

static uint32_t last_done;
static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    (void)user;
    assert_true(done > last_done && done <= total);
    assert_int_equal(total, N_PROMPT);
    last_done = done;
}

static void every_reason_is_told(void **state)
{
    (void)state;
    static const char *const name[] = {"none", "stop", "length", "context", "refused", "cancelled"};
    for (int i = 0; i < 6; i++)
        assert_string_equal(myth_finish_name((myth_finish)i), name[i]);

    const myth_sample_params greedy = {0};
    rig r;
    answer all, a;
    myth_engine_opts eo = opts_of(rig_target(), &greedy);
    rig_open(&r, "random:gemma3-tiny:bf16", &eo);
    myth_generate_opts o = request(&greedy);
    o.on_prefill = on_prefill;
    last_done = 0;
    generate(&r, &all, &o);
    assert_int_equal(last_done, N_PROMPT);
    assert_int_equal(all.why, MYTH_FINISH_LENGTH);
    assert_int_equal(all.n, N_MAX);
    o.on_prefill = NULL;

    o.n_max = 0;
    generate(&r, &a, &o);
    assert_int_equal(a.why, MYTH_FINISH_LENGTH);
    assert_int_equal(a.n, 0);

    o.n_max = N_MAX;
    for (uint32_t k = 0; k < 6; k++) { /* the stop id ends the answer where it first comes, and is not in it */
        int32_t stop[2] = {-5, all.id[k * 7]};
        uint32_t first = 0;
        while (all.id[first] != stop[1])
            first++;
        o.stop_ids = stop;
        o.n_stop = 2;
        generate(&r, &a, &o);
        assert_int_equal(a.why, MYTH_FINISH_STOP);
        assert_int_equal(a.n, first);
        assert_memory_equal(a.id, all.id, 4 * first);
    }
    o.n_stop = 0;

    o.on_token = refuse_the_third;
    n_called = 0;
    generate(&r, &a, &o);
    assert_int_equal(a.why, MYTH_FINISH_CANCELLED);
    assert_int_equal(a.n, 3);
    assert_memory_equal(a.id, all.id, 12);
    o.on_token = set_cancel;
    o.cancel = &cancelled;
    n_called = 0;
    generate(&r, &a, &o);
    assert_int_equal(a.why, MYTH_FINISH_CANCELLED);
    assert_int_equal(a.n, 5);
    cancelled = true; /* set before the start: at most one token more */
    o.on_token = NULL;
    generate(&r, &a, &o);
    assert_int_equal(a.why, MYTH_FINISH_CANCELLED);
    assert_true(a.n <= 1);
    o.cancel = NULL;

    o.n_prompt = 0;
    myth_seq *s = rig_seq(&r);
    assert_int_equal(myth_generate(r.engine, s, &o, a.id, &a.n, &a.why, &rig_err), MYTH_EARG);
    myth_seq_close(s);
    rig_close(&r);
}

static void the_context_ends_an_answer_or_refuses_it(void **state)
{
    (void)state;
    const myth_sample_params greedy = {0};
    answer all = {0}, a;
    for (uint32_t n_ctx = N_PROMPT - 2; n_ctx <= N_PROMPT + N_MAX + 1; n_ctx += n_ctx < N_PROMPT + 3 ? 1 : 9) {
        rig r;
        myth_engine_opts eo = opts_of(rig_target(), &greedy);
        eo.n_ctx = CTX;
        myth_generate_opts o = request(&greedy);
        if (all.n == 0) {
            rig_open(&r, "random:gemma2-tiny:bf16", &eo);
            generate(&r, &all, &o);
            rig_close(&r);
        }
        eo.n_ctx = n_ctx;
        rig_open(&r, "random:gemma2-tiny:bf16", &eo);
        myth_seq *s = rig_seq(&r);
        assert_ok(myth_generate(r.engine, s, &o, a.id, &a.n, &a.why, &rig_err));
        if (n_ctx < N_PROMPT) {
            assert_int_equal(a.why, MYTH_FINISH_REFUSED);
            assert_int_equal(a.n, 0);
            assert_int_equal(myth_seq_len(s), 0);
        } else {
            uint32_t room = n_ctx - N_PROMPT + 1; /* the last id needs no place of its own */
            assert_int_equal(a.why, room < N_MAX ? MYTH_FINISH_CONTEXT : MYTH_FINISH_LENGTH);
            assert_int_equal(a.n, room < N_MAX ? room : N_MAX);
            assert_memory_equal(a.id, all.id, 4 * a.n);
            assert_int_equal(myth_seq_len(s), N_PROMPT + a.n - 1);
            assert_memory_equal(myth_seq_tokens(s) + N_PROMPT, a.id, 4 * (a.n - 1));
        }
        myth_seq_close(s);
        rig_close(&r);
    }
}

/* A prompt that fills the context ends after one id, for which the cache has no place: in memory, the tokens of the
 * only sequence are followed by the end of their block, those of another one by the first token of the next sequence.
 */
static void a_full_context_is_not_written_past(void **state)
{
    (void)state;
    const myth_sample_params greedy = {0};
    for (uint32_t n_seq = 1; n_seq <= 2; n_seq++) {
        rig r;
        answer a;
        const int32_t other[3] = {7, 8, 9};
        myth_engine_opts eo = opts_of(rig_target(), &greedy);
        eo.n_ctx = N_PROMPT;
        eo.n_seq = n_seq;
        rig_open(&r, "random:gemma2-tiny:bf16", &eo);
        myth_seq *s = rig_seq(&r), *next = n_seq > 1 ? rig_seq(&r) : NULL;
        if (next)
            rig_feed(&r, next, other, 3, 0, NULL);
        myth_generate_opts o = request(&greedy);
        o.n_max = 4;
        assert_ok(myth_generate(r.engine, s, &o, a.id, &a.n, &a.why, &rig_err));
        assert_int_equal(a.why, MYTH_FINISH_CONTEXT);
        assert_int_equal(a.n, 1);
        assert_memory_equal(myth_seq_tokens(s), prompt, sizeof(prompt));
        if (next)
            assert_memory_equal(myth_seq_tokens(next), other, sizeof(other));
        myth_seq_close(s);
        myth_seq_close(next);
        rig_close(&r);
    }
}

/* ---- the same ids, whatever the sizes ---- */

static void same_ids_for_all_sizes(const char *spec, const char *target, const myth_sample_params *sample,
                                   uint32_t n_size)
{
    static const struct {
        uint32_t ub, page;
        int n_threads;
    } size[5] = {{32, 0, 1}, {5, 7, 1}, {1, 1, 2}, {160, 160, 1}, {8, 16, 2}};
    answer want = {0}, a;
    for (uint32_t t = 0; t < n_size; t++) {
        rig r;
        myth_engine_opts eo = opts_of(target, sample);
        eo.n_ubatch = size[t].ub;
        eo.page_tok = size[t].page;
        eo.n_threads = size[t].n_threads;
        rig_open(&r, spec, &eo);
        myth_generate_opts o = request(sample);
        generate(&r, t ? &a : &want, &o);
        if (t)
            assert_memory_equal(a.id, want.id, sizeof(a.id));
        if (t == 0 || check_is_full()) {
            generate(&r, &a, &o); /* again in the same engine */
            assert_memory_equal(a.id, want.id, sizeof(a.id));
            o.seq_number = 1; /* another sequence draws other numbers */
            generate(&r, &a, &o);
            if (sample->temp > 0)
                assert_memory_not_equal(a.id, want.id, sizeof(a.id));
            else
                assert_memory_equal(a.id, want.id, sizeof(a.id));
        }
        rig_close(&r);
    }
}

static void sizes_change_no_id(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma3-tiny:q8_0", "random:gemma2-tiny:q4_0", "random:gemma1-tiny:bf16"};
    static const myth_sample_params sample[] = {
        {0},
        {.temp = 0.9f, .top_p = 0.95f, .seed = 11},
        {.temp = 1.2f, .top_k = 50, .min_p = 0.02f, .repeat_penalty = 1.2f, .seed = 12},
        {.repeat_penalty = 1.5f, .repeat_last_n = 30}};
    const char *target[RIG_TARGET_MAX];
    uint32_t n_target = rig_targets(target);
    for (uint32_t v = 0; v < n_target; v++)
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t m = 0; m < 3; m++)
                if (check_is_full() || (m == (v + k) % 3 && check_is_kept(v * 4 + k, 4 * n_target)))
                    same_ids_for_all_sizes(spec[m], target[v], &sample[k], check_is_full() ? 5 : 3);
}

/* An answer in two parts: the second goes on from the first one's last id. */
static void an_answer_goes_on_where_it_stopped(void **state)
{
    (void)state;
    static const myth_sample_params sample[] = {{0}, {.temp = 1, .seed = 3}};
    for (int k = 0; k < 2; k++) {
        rig r;
        answer want, a, b;
        myth_engine_opts eo = opts_of(rig_target(), &sample[k]);
        rig_open(&r, "random:gemma3-tiny:q8_0", &eo);
        myth_generate_opts o = request(&sample[k]);
        generate(&r, &want, &o);
        myth_seq *s = rig_seq(&r);
        o.n_max = 13;
        assert_ok(myth_generate(r.engine, s, &o, a.id, &a.n, &a.why, &rig_err));
        o.prompt = &a.id[12];
        o.n_prompt = 1;
        o.n_max = N_MAX - 13;
        assert_ok(myth_generate(r.engine, s, &o, b.id, &b.n, &b.why, &rig_err));
        assert_memory_equal(a.id, want.id, 4 * 13);
        assert_memory_equal(b.id, want.id + 13, 4 * (N_MAX - 13));
        myth_seq_close(s);
        rig_close(&r);
    }
}

/* ---- against the whole row ---- */

enum { VOCAB_MAX = 8192 };

typedef struct {
    float logit;
    int32_t id;
} candidate;

static int by_logit(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->logit != y->logit ? (x->logit < y->logit) - (x->logit > y->logit) : (x->id > y->id) - (x->id < y->id);
}

static bool is_among(const int32_t *ids, uint32_t from, uint32_t to, int32_t id)
{
    for (uint32_t i = from; i < to; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* The next id from a whole row and the tokens so far, by the definition of the parameters. */
static int32_t choose(const float *row, uint32_t n_vocab, const myth_sample_params *p, const int32_t *seen,
                      uint32_t n_seen, uint32_t seq, const myth_grammar *grammar)
{
    static candidate c[VOCAB_MAX];
    static float logit[VOCAB_MAX];
    uint32_t last = p->repeat_last_n ? p->repeat_last_n : 64, from = n_seen > last ? n_seen - last : 0,
             k = myth_sample_k(p), n = 0;
    for (uint32_t i = 0; i < n_vocab; i++) {
        if (grammar && !myth_grammar_allows(grammar, (int32_t)i))
            continue;
        c[n] = (candidate){row[i], (int32_t)i};
        if (p->repeat_penalty > 0 && is_among(seen, from, n_seen, (int32_t)i))
            c[n].logit = row[i] > 0 ? row[i] / p->repeat_penalty : row[i] * p->repeat_penalty;
        n++;
    }
    assert_true(n > 0);
    qsort(c, n, sizeof(c[0]), by_logit);
    for (uint32_t i = 0; i < n; i++)
        logit[i] = c[i].logit;
    return c[myth_sample(p, logit, k < n ? k : n, seq, n_seen)].id;
}

/* Generates and chooses every id again from the whole row. Exact: the reduction's logits are the whole row's, bit for
 * bit. */
static void check_choices(const char *spec, uint32_t n_max, const myth_sample_params *sample,
                          const myth_automaton *automaton)
{
    rig r;
    rows w;
    answer a;
    int32_t seen[N_PROMPT + N_MAX];
    myth_grammar *grammar = NULL;
    myth_engine_opts eo = opts_of(rig_target(), sample);
    myth_generate_needs(&eo, sample, automaton != NULL);
    rig_open(&r, spec, &eo);
    assert_true(r.model.config.n_vocab <= VOCAB_MAX);
    if (automaton) {
        assert_ok(myth_grammar_open(&grammar, r.mem, r.model.tokenizer, r.model.config.n_vocab, NULL, 0, 4, &rig_err));
        myth_grammar_start(grammar, automaton);
    }
    myth_generate_opts o = request(sample);
    o.n_max = n_max;
    o.seq_number = 9;
    o.grammar = grammar;
    generate(&r, &a, &o);
    assert_int_equal(a.n, n_max);
    if (automaton)
        myth_grammar_start(grammar, automaton);
    rows_open(&w, &r, N_PROMPT + N_MAX, false);
    myth_seq *s = rig_seq(&r);
    memcpy(seen, prompt, sizeof(prompt));
    rig_feed(&r, s, prompt, N_PROMPT, 0, &w);
    for (uint32_t i = 0; i < n_max; i++) {
        uint32_t n = N_PROMPT + i;
        seen[n] = choose(w.logits + (size_t)(n - 1) * w.n_vocab, w.n_vocab, sample, seen, n, 9, grammar);
        if (seen[n] != a.id[i])
            fail_msg("%s, penalty %g, temperature %g: id %u is %d, chosen from the whole row %d", spec,
                     (double)sample->repeat_penalty, (double)sample->temp, i, a.id[i], seen[n]);
        if (automaton)
            assert_true(myth_grammar_accept(grammar, seen[n]));
        rig_decode(&r, s, seen[n], &w);
    }
    myth_grammar_close(grammar);
    myth_seq_close(s);
    rows_close(&w);
    rig_close(&r);
}

static void generation_equals_choosing_from_whole_rows(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma3-tiny:q8_0", "random:gemma2-tiny:bf16"};
    static const myth_sample_params sample[] = {
        {0},
        {.temp = 1, .seed = 1},
        {.temp = 0.7f, .top_k = 40, .top_p = 0.9f, .min_p = 0.05f, .seed = 2},
        {.repeat_penalty = 1.4f},
        {.repeat_penalty = 3.0f, .repeat_last_n = 7},
        {.repeat_penalty = 0.5f, .repeat_last_n = 5}, /* below one: repeats are preferred */
        {.temp = 1.5f, .top_k = 30, .repeat_penalty = 2.0f, .repeat_last_n = 100, .seed = 3},
        {.temp = 1, .top_p = 0.5f, .repeat_penalty = 1.1f, .seed = 4},
    };
    for (int m = 0; m < 2; m++)
        for (size_t k = 0; k < sizeof(sample) / sizeof(sample[0]); k++)
            check_choices(spec[m], N_MAX, &sample[k], NULL);
}

/* A vocabulary of more ids than a reduction returns: the k best of the whole row hold penalised ids and others that are
 * not among the k best before the penalty. */
static void penalties_are_exact_for_the_largest_k(void **state)
{
    (void)state;
    static const myth_sample_params sample[] = {
        {.temp = 8, .repeat_penalty = 4.0f, .repeat_last_n = 80, .seed = 5},
        {.temp = 8, .top_k = 1024, .min_p = 1e-6f, .repeat_penalty = 0.25f, .repeat_last_n = 1024, .seed = 6},
        {.repeat_penalty = 8.0f, .repeat_last_n = 1024},
    };
    char path[1024];
    check_path(path, sizeof(path), "models/mythos-inspect.gguf");
    for (size_t k = 0; k < sizeof(sample) / sizeof(sample[0]); k++)
        check_choices(path, 12, &sample[k], NULL);
}

static void start_anywhere(const void *self, void *state)
{
    (void)self;
    *(uint8_t *)state = 0;
}

/* self: the bytes that a text may be made of. */
static bool step_listed(const void *self, void *state, uint8_t byte)
{
    (void)state;
    return byte && strchr(self, byte);
}

static bool never_ends(const void *self, const void *state) { return (void)self, (void)state, false; }

/* The allowed ids are few and repeat, so most candidates are penalised ones that fell below what the reduction
 * returned, and often none of the k best is allowed. */
static void greedy_under_a_grammar_takes_the_best_allowed_id(void **state)
{
    (void)state;
    static char bytes[][32] = {"0123456789", "abcdefghijklmnopqrstuvwxyz", "xyz \n", "ab"};
    static const myth_sample_params sample[] = {
        {0},
        {.repeat_penalty = 1.3f},
        {.repeat_penalty = 2.0f, .repeat_last_n = 5},
        {.repeat_penalty = 0.7f, .repeat_last_n = 9},
        {.repeat_penalty = 8.0f, .repeat_last_n = 1024},
    };
    for (size_t b = 0; b < sizeof(bytes) / sizeof(bytes[0]); b++)
        for (size_t k = 0; k < sizeof(sample) / sizeof(sample[0]); k++)
            check_choices("random:gemma3-tiny:q8_0", N_MAX, &sample[k],
                          &(myth_automaton){
                              .self = bytes[b],
                              .state_bytes = 1,
                              .start = start_anywhere,
                              .step = step_listed,
                              .may_end = never_ends,
                          });
}

/* A budget of thoughts without a channel would count none, and be no limit. */
static void a_budget_needs_a_channel(void **state)
{
    (void)state;
    const myth_sample_params greedy = {0};
    const myth_engine_opts eo = opts_of(rig_target(), &greedy);
    myth_generate_opts o = request(&greedy);
    rig r;
    answer a;
    rig_open(&r, "random:gemma3-tiny:bf16", &eo);
    myth_seq *s = rig_seq(&r);
    o.n_think = 3;
    assert_int_equal(myth_generate(r.engine, s, &o, a.id, &a.n, &a.why, &rig_err), MYTH_EARG);
    assert_string_equal(rig_err.option, "n_think");
    myth_seq_close(s);
    rig_close(&r);
}

/* An engine that returns one id for a row would choose it whatever the temperature: every seed the greedy answer. */
static void sampling_needs_the_ids_it_chooses_among(void **state)
{
    (void)state;
    rig r;
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = CTX};
    answer a;
    static const struct {
        myth_sample_params sample;
        uint32_t top_k; /* the engine's */
        bool is_enough;
    } row[] = {
        {{.temp = 5}, 0, false},
        {{.temp = 5, .top_k = 8}, 7, false},
        {{.temp = 5, .top_k = 8}, 8, true},
        {{.temp = 5}, 1024, true}, /* the vocabulary has fewer: all of them */
        {{.temp = 0, .top_k = 8}, 0, true},
    };
    rig_at(&eo, rig_target());
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_generate_opts o = request(&row[i].sample);
        eo.top_k = row[i].top_k;
        rig_open(&r, "random:gemma3-tiny:bf16", &eo);
        myth_seq *s = rig_seq(&r);
        rig_err = (myth_error){0};
        assert_int_equal(myth_generate(r.engine, s, &o, a.id, &a.n, &a.why, &rig_err),
                         row[i].is_enough ? MYTH_OK : MYTH_EFULL);
        if (!row[i].is_enough) {
            assert_string_equal(rig_err.option, "top_k");
            assert_int_equal(myth_seq_len(s), 0);
        }
        myth_seq_close(s);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_fed_by_micro_batches),
        cmocka_unit_test(every_reason_is_told),
        cmocka_unit_test(the_context_ends_an_answer_or_refuses_it),
        cmocka_unit_test(a_full_context_is_not_written_past),
        cmocka_unit_test(sizes_change_no_id),
        cmocka_unit_test(an_answer_goes_on_where_it_stopped),
        cmocka_unit_test(generation_equals_choosing_from_whole_rows),
        cmocka_unit_test(penalties_are_exact_for_the_largest_k),
        cmocka_unit_test(greedy_under_a_grammar_takes_the_best_allowed_id),
        cmocka_unit_test(a_budget_needs_a_channel),
        cmocka_unit_test(sampling_needs_the_ids_it_chooses_among),
    };
    return cmocka_run_group_tests(tests, make_prompt, NULL);
}
