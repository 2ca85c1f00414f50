/* test_channel.c - thoughts in an answer: which ids belong to them, a budget that closes them, and that the answer
 * then continues as if the model had closed them itself. */
#include "tests/support/rig.h"

enum { N_MAX = 40, CTX = 128, N_TALK = 64 };

static const char *const model[] = {"random:gemma4-e-tiny:bf16", "random:gemma4-tiny:bf16"};
enum { N_MODEL = sizeof model / sizeof *model };

static size_t encode(const rig *r, const char *text, int32_t *ids, size_t cap)
{
    size_t n = 0;
    assert_ok(myth_tokenizer_encode(r->model.tokenizer, r->mem, MYTH_TOK_TEMPLATE, text, strlen(text), ids, cap, &n,
                                    &rig_err));
    return n;
}

static void parts_of_an_answer(void **state)
{
    (void)state;
    static const char text[] =
        "a<|channel>thought\nbc\n<channel|>de<|channel>thoughtful<|channel>x<channel|><channel|>f";
    static const char *const want = "a"
                                    "-"
                                    "--------"
                                    "ttt"
                                    "-"
                                    "aa"
                                    "-"
                                    "-------"
                                    "ttt"
                                    "-"
                                    "t"
                                    "-"
                                    "-"
                                    "a";
    rig r;
    myth_engine_opts o = {.n_threads = 1, .n_ctx = CTX, .n_ubatch = 32, .n_seq = 1};
    rig_open(&r, model[0], &o);
    int32_t ids[128];
    myth_channel c;
    const size_t n = encode(&r, text, ids, 128);
    assert_int_equal(n, strlen(want));
    myth_channel_start(&c, r.model.tokenizer, NULL, 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal("at-"[myth_channel_push(&c, ids[i])], want[i]);
    assert_int_equal(c.n_thought, 7);

    /* A prompt that leaves a channel open; its thoughts are not the answer's. */
    const size_t n_open = encode(&r, "<|channel>thought\nso far", ids, 128);
    myth_channel_start(&c, r.model.tokenizer, ids, n_open);
    assert_true(c.is_open && c.n_thought == 0);
    assert_int_equal(myth_channel_push(&c, ids[n_open - 1]), MYTH_SAID_THOUGHT);
    myth_channel_start(&c, r.model.tokenizer, ids, 0);
    assert_false(c.is_open);
    rig_close(&r);

    rig_open(&r, "random:gemma3-tiny:bf16", &o);
    myth_channel_start(&c, r.model.tokenizer, ids, n_open);
    assert_true(c.open < 0 && c.close < 0 && !c.is_open);
    assert_int_equal(myth_channel_push(&c, ids[0]), MYTH_SAID_ANSWER);
    rig_close(&r);
}

/* Prompt of a question with thinking on and the channel opened, as the model itself opens it. */
static size_t open_question(const rig *r, int32_t *ids, size_t cap)
{
    const myth_message msg = {MYTH_ROLE_USER, {"why", 3}};
    const myth_chat_opts o = {.thinks = true};
    size_t n = 0;
    assert_ok(myth_chat_encode_with(r->model.tokenizer, r->mem, myth_chat_form_of(&r->model.config, r->model.tokenizer),
                                    &msg, 1, &o, ids, cap, &n, &rig_err));
    return n + encode(r, "<|channel>thought\n", ids + n, cap - n);
}

static void answer(rig *r, const myth_generate_opts *o, int32_t *ids, uint32_t *n, myth_finish *why)
{
    myth_seq *s = rig_seq(r);
    assert_ok(myth_generate(r->engine, s, o, ids, n, why, &rig_err));
    myth_seq_close(s);
}

static void budget_closes_the_thought(void **state)
{
    (void)state;
    for (int k = 0; k < N_MODEL; k++)
        for (int warm = 0; warm < 2; warm++) {
            const myth_sample_params sample = {.temp = warm ? 0.8f : 0.0f, .seed = 7};
            myth_engine_opts eo = {.n_threads = 1, .n_ctx = CTX, .n_ubatch = 32, .n_seq = 2};
            rig r;
            int32_t prompt[N_TALK + N_MAX], all[N_MAX], got[N_MAX], rest[N_MAX];
            uint32_t n_all, n, n_rest;
            myth_finish why;
            rig_at(&eo, rig_target());
            myth_generate_needs(&eo, &sample, false);
            rig_open(&r, model[k], &eo);
            const int32_t close = myth_tokenizer_special(r.model.tokenizer)->channel_close;
            const size_t n_prompt = open_question(&r, prompt, N_TALK);
            myth_channel c;
            assert_true(n_prompt < N_TALK);
            myth_channel_start(&c, r.model.tokenizer, prompt, n_prompt);
            assert_true(c.is_open && close >= 0);
            myth_generate_opts o = {
                .prompt = prompt,
                .n_prompt = (uint32_t)n_prompt,
                .n_max = N_MAX,
                .sample = sample,
                .channel = &c,
            };
            answer(&r, &o, all, &n_all, &why); /* no budget: the channel changes nothing */
            assert_int_equal(why, MYTH_FINISH_LENGTH);
            uint32_t n_before = 0; /* thought ids that the model gives on its own */
            for (myth_channel d = c; n_before < n_all; n_before++)
                if (myth_channel_push(&d, all[n_before]) != MYTH_SAID_THOUGHT)
                    break;
            for (uint32_t budget = 1; budget < 12 && budget <= n_before; budget += 5) {
                o.n_think = budget;
                answer(&r, &o, got, &n, &why);
                assert_int_equal(why, MYTH_FINISH_LENGTH);
                assert_int_equal(n, N_MAX);
                assert_memory_equal(got, all, 4 * budget);
                if (budget < n_before || all[budget] == close)
                    assert_int_equal(got[budget], close);
                uint32_t n_thought = 0;
                for (myth_channel d = c; n_thought < n && myth_channel_push(&d, got[n_thought]) == MYTH_SAID_THOUGHT;)
                    n_thought++;
                assert_int_equal(n_thought, budget);

                /* From there on as a model that was given the closed thought. */
                memcpy(prompt + n_prompt, got, 4 * (budget + 1));
                myth_channel shut;
                myth_channel_start(&shut, r.model.tokenizer, prompt, n_prompt + budget + 1);
                assert_false(shut.is_open);
                myth_generate_opts again = o;
                again.n_prompt = (uint32_t)n_prompt + budget + 1;
                again.n_max = N_MAX - budget - 1;
                again.channel = &shut;
                answer(&r, &again, rest, &n_rest, &why);
                assert_int_equal(n_rest, n - budget - 1);
                uint32_t same = 0;
                while (same < n_rest && rest[same] == got[budget + 1 + same])
                    same++;
                assert_true(same >= 1);
                if (!warm)
                    assert_int_equal(same, n_rest);
            }
            assert_true(n_before > 0);

            /* A stop id ends the answer inside a thought too, before its budget. */
            o.n_think = n_before + 5;
            o.stop_ids = &all[0];
            o.n_stop = 1;
            answer(&r, &o, got, &n, &why);
            assert_int_equal(why, MYTH_FINISH_STOP);
            assert_int_equal(n, 0);
            rig_close(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_an_answer),
                                       cmocka_unit_test(budget_closes_the_thought)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
