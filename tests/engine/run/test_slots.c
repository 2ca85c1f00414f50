/* test_slots.c - several answers at once: each has the ids, the end and the sequence that it has alone, whatever the
 * others are, whenever they begin and end, on every device and level. */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"

enum { N_SLOT = 3, N_REQUEST = 10, CTX = 96, N_MAX = 30, PROMPT_MAX = 48 };

/* A text of some letters only; it may end everywhere. */
static void begin_text(const void *self, void *state)
{
    (void)self;
    *(uint8_t *)state = 0;
}
static bool step_text(const void *self, void *state, uint8_t byte)
{
    (void)state;
    return byte >= 'a' && byte <= *(const uint8_t *)self;
}
static bool end_text(const void *self, const void *state)
{
    (void)self, (void)state;
    return true;
}

typedef struct {
    int32_t prompt[PROMPT_MAX], stop[2], id[N_MAX];
    uint32_t n, held;
    int32_t tokens[CTX];
    myth_finish why;
    myth_generate_opts o;
    uint8_t last_letter;
    bool has_grammar;
} request;

static const myth_sample_params samples[] = {
    {0},
    {.temp = 0.9f, .top_p = 0.95f, .seed = 11},
    {.temp = 1.2f, .top_k = 20, .repeat_penalty = 1.3f, .seed = 12},
    {.repeat_penalty = 2.0f, .repeat_last_n = 9},
};
enum { N_SAMPLE = sizeof(samples) / sizeof(samples[0]) };

static void make_requests(request q[N_REQUEST], uint64_t *rng)
{
    memset(q, 0, N_REQUEST * sizeof(*q));
    for (uint32_t i = 0; i < N_REQUEST; i++) {
        const uint32_t n = 1 + (uint32_t)check_below(rng, PROMPT_MAX - 1);
        for (uint32_t k = 0; k < n; k++)
            q[i].prompt[k] = 3 + (int32_t)check_below(rng, 400);
        q[i].stop[0] = (int32_t)check_below(rng, 500);
        q[i].stop[1] = (int32_t)check_below(rng, 500);
        q[i].has_grammar = check_below(rng, 2);
        q[i].last_letter = (uint8_t)('e' + check_below(rng, 20));
        q[i].o = (myth_generate_opts){
            .prompt = q[i].prompt,
            .n_prompt = n,
            .n_max = 1 + (uint32_t)check_below(rng, N_MAX),
            .sample = samples[check_below(rng, N_SAMPLE)],
            .stop_ids = q[i].stop,
            .n_stop = (int)check_below(rng, 3),
            .seq_number = i,
        };
    }
    q[3].o.n_max = 0;             /* ends before its first token */
    q[5].o.n_prompt = PROMPT_MAX; /* ends at the context's end, in an engine of 64 */
    q[5].o.n_max = N_MAX;
    q[5].o.n_stop = 0;
}

static void hold(request *got, const myth_seq *s)
{
    got->held = myth_seq_len(s);
    memcpy(got->tokens, myth_seq_tokens(s), got->held * sizeof(int32_t));
}

/* n_request: the first of them are asked, at least 4. */
static void same_alone_and_together(const char *spec, const char *target, uint32_t n_ctx, uint32_t n_request,
                                    uint64_t *rng)
{
    static request alone[N_REQUEST], got[N_REQUEST];
    uint32_t next = 0, n_done = 0, in_slot[N_SLOT];
    bool is_used[N_SLOT] = {false};
    myth_seq *seq[N_SLOT];
    myth_grammar *grammar[N_SLOT];
    myth_automaton a[N_SLOT];
    myth_slots *slots;
    rig r;
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = n_ctx, .n_ubatch = 16, .n_seq = N_SLOT + 1};
    rig_at(&eo, target);
    for (uint32_t i = 0; i < N_SAMPLE; i++)
        myth_slots_needs(&eo, N_SLOT, &samples[i], true);
    rig_open(&r, spec, &eo);
    make_requests(alone, rng);
    memcpy(got, alone, sizeof(got));
    for (uint32_t i = 0; i < n_request; i++) { /* the options point into the array that they stand in */
        got[i].o.prompt = got[i].prompt;
        got[i].o.stop_ids = got[i].stop;
    }
    assert_ok(myth_grammar_open(&grammar[0], r.mem, r.model.tokenizer, r.model.config.n_vocab, NULL, 0, 4, &rig_err));
    for (uint32_t i = 1; i < N_SLOT; i++)
        assert_ok(myth_grammar_open_second(&grammar[i], grammar[0], 4, &rig_err));
    for (uint32_t i = 0; i < n_request; i++) {
        a[0] = (myth_automaton){
            &alone[i].last_letter, 8, begin_text, step_text, end_text, NULL, NULL, NULL, {0}, NULL, NULL};
        myth_grammar_start(grammar[0], &a[0]);
        alone[i].o.grammar = alone[i].has_grammar ? grammar[0] : NULL;
        myth_seq *s = rig_seq(&r);
        assert_ok(myth_generate(r.engine, s, &alone[i].o, alone[i].id, &alone[i].n, &alone[i].why, &rig_err));
        hold(&alone[i], s);
        myth_seq_close(s);
    }

    const uint64_t was = myth_mem_get(r.mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live;
    assert_ok(myth_slots_open(&slots, r.engine, N_SLOT, &rig_err));
    assert_int_equal(myth_mem_get(r.mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live - was,
                     myth_slots_bytes(&r.model, &eo, N_SLOT));
    while (n_done < n_request) {
        for (uint32_t i = 0; i < N_SLOT; i++) {
            request *q = is_used[i] ? &got[in_slot[i]] : NULL;
            if (q && !myth_slots_get(slots, i, &q->n, &q->why)) {
                hold(q, seq[i]);
                myth_seq_close(seq[i]);
                is_used[i] = false;
                n_done++;
            }
            /* Now and then a slot waits, so that answers begin while others are anywhere. */
            if (is_used[i] || next == n_request || check_below(rng, 3) == 0)
                continue;
            q = &got[next];
            seq[i] = rig_seq(&r);
            a[i] = (myth_automaton){
                &q->last_letter, 8, begin_text, step_text, end_text, NULL, NULL, NULL, {0}, NULL, NULL};
            myth_grammar_start(grammar[i], &a[i]);
            q->o.grammar = q->has_grammar ? grammar[i] : NULL;
            assert_ok(myth_slots_start(slots, i, seq[i], &q->o, q->id, &rig_err));
            in_slot[i] = next++;
            is_used[i] = true;
        }
        if (check_below(rng, 8) == 0) { /* the engine does something else between two steps */
            myth_seq *s = rig_seq(&r);
            rig_feed(&r, s, got[0].prompt, 1, 0, NULL);
            myth_seq_close(s);
        }
        assert_ok(myth_slots_step(slots, &rig_err));
    }
    for (uint32_t i = 0; i < n_request; i++) {
        if (got[i].why != alone[i].why || got[i].n != alone[i].n || got[i].held != alone[i].held ||
            memcmp(got[i].id, alone[i].id, got[i].n * sizeof(int32_t)) != 0)
            fail_msg("%s on %s, answer %u: %u ids, %s; alone %u, %s", spec, target, i, got[i].n,
                     myth_finish_name(got[i].why), alone[i].n, myth_finish_name(alone[i].why));
        assert_memory_equal(got[i].tokens, alone[i].tokens, got[i].held * sizeof(int32_t));
    }
    assert_int_equal(got[3].n, 0);
    if (n_request > 5 && n_ctx < PROMPT_MAX + N_MAX)
        assert_int_equal(got[5].why, MYTH_FINISH_CONTEXT);
    myth_slots_close(slots);
    for (uint32_t i = N_SLOT; i-- > 0;)
        myth_grammar_close(grammar[i]);
    rig_close(&r);
}

static void answers_are_the_same_alone_and_together(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma1-tiny:bf16",   "random:gemma2-tiny:q4_0",
                                       "random:gemma3-tiny:q8_0",   "random:gemma3n-tiny:bf16",
                                       "random:gemma4-e-tiny:q8_0", "random:gemma4-moe-tiny:bf16"};
    enum { N_SPEC = sizeof(spec) / sizeof(spec[0]) };
    const char *target[RIG_TARGET_MAX];
    uint32_t n_target = rig_targets(target);
    uint64_t rng = check_seed();
    for (uint32_t v = 0; v < n_target; v++) {
        const bool is_slow = strchr(target[v], ':'); /* a GPU, or a driver that runs its programs on the processor */
        const uint32_t one = (uint32_t)check_below(&rng, N_SPEC);
        for (uint32_t m = 0; m < N_SPEC; m++)
            for (uint32_t k = 0; k < (check_is_full() ? 2 : 1); k++)
                if (check_is_full() || !is_slow || m == one)
                    same_alone_and_together(spec[m], target[v], (m + k) % 2 ? 64 : CTX,
                                            is_slow && !check_is_full() ? 4 : N_REQUEST, &rng);
    }
}

static void a_grammar_and_a_full_context_are_tried_everywhere(void **state)
{
    (void)state;
    uint64_t rng = check_seed() + 1;
    same_alone_and_together("random:gemma3-tiny:bf16", rig_target(), 64, N_REQUEST, &rng);
}

/* ---- prompts that join together ---- */

enum { LONG = 400, LONG_CTX = LONG + N_MAX };

static void open_long(rig *r, myth_slots **slots, const char *target, uint32_t n_ubatch)
{
    const myth_sample_params greedy = {0};
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = LONG_CTX, .n_ubatch = n_ubatch, .n_seq = N_SLOT + 1};
    rig_at(&eo, target);
    myth_slots_needs(&eo, N_SLOT, &greedy, false);
    rig_open(r, "random:gemma3-tiny:bf16", &eo);
    assert_ok(myth_slots_open(slots, r->engine, N_SLOT, &rig_err));
}

/* What joining costs when these prompts begin. The processor has no launches, but waits at the end of every forward. */
static myth_device_counts cost_of_join(rig *r, myth_slots *slots, const uint32_t *n, uint32_t n_prompt)
{
    static int32_t ids[N_SLOT][N_MAX], prompt[LONG];
    myth_seq *s[N_SLOT];
    for (int32_t i = 0; i < LONG; i++)
        prompt[i] = 3 + i % 400;
    for (uint32_t i = 0; i < n_prompt; i++) {
        const myth_generate_opts o = {.prompt = prompt, .n_prompt = n[i], .n_max = 1};
        s[i] = rig_seq(r);
        assert_ok(myth_slots_start(slots, i, s[i], &o, ids[i], &rig_err));
    }
    const myth_device_counts before = myth_device_get_counts(r->engine->part->dev);
    assert_ok(myth_slots_join(slots, &rig_err));
    myth_device_counts cost = myth_device_get_counts(r->engine->part->dev);
    cost.n_launch -= before.n_launch;
    cost.n_sync -= before.n_sync;
    for (uint32_t i = 0; i < n_prompt; i++) {
        uint32_t n_ids;
        myth_finish why;
        assert_false(myth_slots_get(slots, i, &n_ids, &why));
        assert_int_equal(why, MYTH_FINISH_LENGTH);
        assert_int_equal(n_ids, 1);
        assert_int_equal(myth_seq_len(s[i]), n[i]);
        myth_seq_close(s[i]);
    }
    return cost;
}

static void prompts_that_fit_one_forward_take_one(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target), one = 60, three[N_SLOT] = {9, 30, 21};
    for (uint32_t v = 0; v < n_target; v++) {
        rig r;
        myth_slots *slots;
        open_long(&r, &slots, target[v], 64);
        const myth_device_counts alone = cost_of_join(&r, slots, &one, 1),
                                 together = cost_of_join(&r, slots, three, N_SLOT);
        assert_true(alone.n_sync > 0);
        assert_int_equal(together.n_sync, alone.n_sync);
        assert_true(together.n_launch == 0 || together.n_launch < 2 * alone.n_launch);
        myth_slots_close(slots);
        rig_close(&r);
    }
}

typedef struct {
    uint32_t done[8], n, stop_at;
    myth_cancel cancel;
} reading;

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    reading *o = user;
    assert_int_equal(total, LONG);
    assert_true(o->n < 8);
    o->done[o->n++] = done;
    o->cancel = done == o->stop_at;
}

static void long_prompts_are_fed_in_parts(void **state)
{
    (void)state;
    static int32_t prompt[N_SLOT][LONG], ids[N_SLOT][N_MAX], alone[N_MAX];
    uint64_t rng = check_seed();
    uint32_t n;
    myth_finish why;
    rig r;
    myth_slots *slots;
    myth_seq *s[N_SLOT];
    open_long(&r, &slots, rig_target(), 32);
    for (uint32_t i = 0; i < N_SLOT * LONG; i++)
        prompt[i / LONG][i % LONG] = 3 + (int32_t)check_below(&rng, 400);
    for (int stops = 0; stops < 2; stops++) {
        reading got[N_SLOT] = {0};
        for (uint32_t i = 0; i < N_SLOT; i++) {
            /* One cancel for all; it is set when the first part is fed. */
            got[0].stop_at = stops ? LONG : 0;
            s[i] = rig_seq(&r);
            const myth_generate_opts o = {
                .prompt = prompt[i],
                .n_prompt = LONG,
                .n_max = N_MAX,
                .on_prefill = on_prefill,
                .user = &got[i],
                .cancel = &got[0].cancel,
            };
            assert_ok(myth_slots_start(slots, i, s[i], &o, ids[i], &rig_err));
        }
        for (uint32_t i = 0; i < N_MAX; i++)
            assert_ok(myth_slots_step(slots, &rig_err));
        /* 512 tokens a forward: 400 and 112; 288 and 224; 176 */
        static const uint32_t at[N_SLOT][2] = {{400}, {112, 400}, {224, 400}};
        for (uint32_t i = 0; i < N_SLOT; i++) {
            assert_int_equal(got[i].n, stops ? (i < 2) : i ? 2 : 1);
            assert_memory_equal(got[i].done, at[i], got[i].n * sizeof(uint32_t));
            assert_false(myth_slots_get(slots, i, &n, &why));
            assert_int_equal(why, stops ? MYTH_FINISH_CANCELLED : MYTH_FINISH_LENGTH);
            assert_int_equal(n, !stops ? N_MAX : i == 0); /* the first one was fed, and has its first id */
            assert_int_equal(myth_seq_len(s[i]), !stops ? LONG + N_MAX - 1 : i == 0 ? LONG : i == 1 ? 112 : 0);
            myth_seq_close(s[i]);
        }
        for (uint32_t i = 0; i < N_SLOT && !stops; i++) {
            const myth_generate_opts o = {.prompt = prompt[i], .n_prompt = LONG, .n_max = N_MAX};
            s[i] = rig_seq(&r);
            assert_ok(myth_generate(r.engine, s[i], &o, alone, &n, &why, &rig_err));
            assert_memory_equal(ids[i], alone, sizeof(alone));
            myth_seq_close(s[i]);
        }
    }
    myth_slots_close(slots);
    rig_close(&r);
}

/* ---- what ends answers, and what is refused ---- */

static uint32_t n_left;
static bool leave(void *user, int32_t id)
{
    (void)user, (void)id;
    return --n_left > 0;
}

static void one_answer_is_cancelled_and_the_others_go_on(void **state)
{
    (void)state;
    const myth_sample_params greedy = {0};
    const int32_t prompt[3] = {5, 6, 7};
    int32_t ids[2][N_MAX], alone[N_MAX];
    uint32_t n;
    myth_finish why;
    myth_slots *slots;
    rig r;
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = CTX, .n_seq = 3};
    rig_at(&eo, rig_target());
    myth_slots_needs(&eo, 2, &greedy, false);
    rig_open(&r, "random:gemma3-tiny:bf16", &eo);
    myth_generate_opts o = {.prompt = prompt, .n_prompt = 3, .n_max = N_MAX};
    myth_seq *s = rig_seq(&r), *t = rig_seq(&r), *u = rig_seq(&r);
    assert_ok(myth_generate(r.engine, u, &o, alone, &n, &why, &rig_err));
    myth_seq_close(u);
    assert_ok(myth_slots_open(&slots, r.engine, 2, &rig_err));
    assert_false(myth_slots_get(slots, 1, &n, &why)); /* never started */
    assert_int_equal(n, 0);
    assert_ok(myth_slots_step(slots, &rig_err)); /* nothing to do */
    assert_ok(myth_slots_start(slots, 0, s, &o, ids[0], &rig_err));
    o.on_token = leave;
    n_left = 4;
    assert_ok(myth_slots_start(slots, 1, t, &o, ids[1], &rig_err));
    assert_int_equal(myth_slots_start(slots, 1, t, &o, ids[1], &rig_err), MYTH_EARG);
    assert_non_null(strstr(rig_err.msg, "slot 1"));
    for (uint32_t i = 0; i < N_MAX; i++)
        assert_ok(myth_slots_step(slots, &rig_err));
    assert_false(myth_slots_get(slots, 1, &n, &why));
    assert_int_equal(n, 4);
    assert_int_equal(why, MYTH_FINISH_CANCELLED);
    assert_memory_equal(ids[1], alone, 4 * sizeof(int32_t));
    assert_false(myth_slots_get(slots, 0, &n, &why));
    assert_int_equal(n, N_MAX);
    assert_int_equal(why, MYTH_FINISH_LENGTH);
    assert_memory_equal(ids[0], alone, sizeof(alone));

    o.n_prompt = 0;
    assert_int_equal(myth_slots_start(slots, 1, t, &o, ids[1], &rig_err), MYTH_EARG);
    assert_false(myth_slots_get(slots, 1, &n, &why));
    myth_slots_close(slots);
    myth_slots_close(NULL);
    myth_seq_close(s);
    myth_seq_close(t);
    rig_close(&r);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const myth_sample_params greedy = {0};
    const int32_t prompt[3] = {5, 6, 7};
    int32_t ids[N_MAX];
    myth_slots *slots;
    rig r;
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = CTX, .n_seq = 2};
    rig_at(&eo, rig_target());
    myth_slots_needs(&eo, 2, &greedy, false);
    rig_open(&r, "random:gemma3-tiny:bf16", &eo);
    assert_int_equal(myth_slots_open(&slots, r.engine, 0, &rig_err), MYTH_EARG);
    assert_int_equal(myth_slots_open(&slots, r.engine, 3, &rig_err), MYTH_EARG);
    assert_ok(myth_slots_open(&slots, r.engine, 2, &rig_err));
    const myth_generate_opts o = {.prompt = prompt, .n_prompt = 3, .n_max = N_MAX};
    myth_seq *s = rig_seq(&r);
    assert_int_equal(myth_slots_start(slots, 2, s, &o, ids, &rig_err), MYTH_EARG);
    const myth_generate_opts sampled = {.prompt = prompt, .n_prompt = 3, .n_max = N_MAX, .sample = {.temp = 1}};
    assert_int_equal(myth_slots_start(slots, 0, s, &sampled, ids, &rig_err), MYTH_EFULL); /* the engine has one id */
    assert_ok(myth_slots_start(slots, 0, s, &o, ids, &rig_err));
    assert_int_equal(myth_slots_start(slots, 1, s, &o, ids, &rig_err), MYTH_EARG); /* the sequence has an answer */
    assert_int_equal(myth_seq_len(s), 0);                                          /* start takes it, join feeds it */
    assert_ok(myth_slots_join(slots, &rig_err));
    assert_int_equal(myth_seq_len(s), 3);
    myth_slots_close(slots);
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same_alone_and_together),
        cmocka_unit_test(a_grammar_and_a_full_context_are_tried_everywhere),
        cmocka_unit_test(prompts_that_fit_one_forward_take_one),
        cmocka_unit_test(long_prompts_are_fed_in_parts),
        cmocka_unit_test(one_answer_is_cancelled_and_the_others_go_on),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
