/* test_session_calls.c - an answer that calls tools, in a chat: its calls are kept as calls, the results continue the
 * turn, and the sequence holds what the template makes of them. What the model says is given here (the linker's --wrap
 * puts this file between the session and myth_generate). */
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"
#include "frontend/chat/saved.h"
#include "frontend/chat/session.h"

static const char *said; /* the next answer, with marks by name */

myth_status __real_myth_generate(myth_engine *e, myth_seq *seq, const myth_generate_opts *o, int32_t *ids, uint32_t *n,
                                 myth_finish *finish, myth_error *err);
myth_status __wrap_myth_generate(myth_engine *e, myth_seq *seq, const myth_generate_opts *o, int32_t *ids, uint32_t *n,
                                 myth_finish *finish, myth_error *err);

myth_status __wrap_myth_generate(myth_engine *e, myth_seq *seq, const myth_generate_opts *o, int32_t *ids, uint32_t *n,
                                 myth_finish *finish, myth_error *err)
{
    static int32_t all[4096];
    const myth_model *m = myth_engine_model(e);
    size_t n_all = 0;
    myth_generate_opts feed = *o;
    feed.n_max = 1;
    feed.on_token = NULL;
    const myth_status st = __real_myth_generate(e, seq, &feed, ids, n, finish, err);
    if (st != MYTH_OK)
        return st;
    assert_ok(
        myth_tokenizer_encode(m->tokenizer, m->mem, MYTH_TOK_SPECIAL, said, strlen(said), all, 4096, &n_all, &rig_err));
    *finish = MYTH_FINISH_STOP;
    for (*n = 0; *n < n_all; ++*n) {
        if (*n == o->n_max) {
            *finish = MYTH_FINISH_LENGTH;
            break;
        }
        ids[*n] = all[*n];
        o->on_token(o->user, all[*n]);
    }
    return st;
}

static void open_session(myth_session *s, rig *r, uint32_t n_most)
{
    const myth_session_opts so = {.n_most = n_most};
    myth_engine_opts o = {.n_ctx = 1024, .device = "cpu", .page_tok = 16};
    myth_session_needs(&o, &so);
    rig_open(r, "random:gemma4-tiny:f32", &o);
    assert_ok(myth_session_open(s, r->engine, &so, &rig_err));
}

static void close_session(myth_session *s, rig *r)
{
    myth_session_close(s);
    rig_close(r);
}

static myth_chat_reply answer(myth_session *s, myth_role role, const char *text, const char *call_id, const char *what)
{
    myth_chat_reply r;
    const myth_message m = {role, {text, strlen(text)}};
    const myth_message_more more = {.call_id = {call_id, call_id ? strlen(call_id) : 0}};
    said = what;
    assert_ok(myth_talk_add(&s->talk, &m, &more, &rig_err));
    assert_ok(myth_session_answer(s, NULL, &r, &rig_err));
    return r;
}

static void assert_text(myth_str got, const char *want)
{
    if (got.len != strlen(want) || memcmp(got.text, want, got.len) != 0)
        fail_msg("got %.*s, expected %s", (int)got.len, got.text, want);
}

#define CALL_1 \
    "{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"city\":\"Paris\"}}}"

static void calls_and_results(void **state)
{
    (void)state;
    rig r;
    myth_session s;
    open_session(&s, &r, 128);
    myth_chat_reply a =
        answer(&s, MYTH_ROLE_USER, "Go", NULL, "I look.<|tool_call>call:f{city:<|\"|>Paris<|\"|>}<tool_call|>");
    assert_int_equal(a.n_call, 1);
    assert_text((myth_str){s.text, s.n_text}, "I look.");
    assert_text((myth_str){s.calls, s.n_calls}, "[" CALL_1 "]");
    assert_int_equal(s.talk.n, 2);
    assert_text(s.talk.msg[1].m.text, "I look.");
    assert_text(s.talk.msg[1].more.calls, "[" CALL_1 "]");
    /* The result goes on in the turn, and belongs to it: both go together. */
    a = answer(&s, MYTH_ROLE_TOOL, "15", "call_1", "Cold.");
    assert_int_equal(a.n_call, 0);
    assert_int_equal(s.talk.n, 4);
    assert_int_equal(myth_talk_n_turn(&s.talk), 1);
    static const char want[] = "<bos><|turn>user\nGo<turn|>\n<|turn>model\n<|tool_call>call:f{city:<|\"|>Paris<|\"|>}"
                               "<tool_call|><|tool_response>response:f{value:<|\"|>15<|\"|>}<tool_response|>I look.";
    static int32_t ids[1024];
    size_t n = 0;
    assert_ok(myth_tokenizer_encode(r.model.tokenizer, r.mem, MYTH_TOK_TEMPLATE, want, sizeof(want) - 1, ids, 1024, &n,
                                    &rig_err));
    assert_true(myth_seq_len(s.seq) >= n);
    assert_memory_equal(myth_seq_tokens(s.seq), ids, n * sizeof(*ids));
    /* The next calls have numbers of their own. */
    a = answer(&s, MYTH_ROLE_USER, "More", NULL, "<|tool_call>call:g{}<tool_call|><|tool_call>call:h{n:1}<tool_call|>");
    assert_int_equal(a.n_call, 2);
    assert_text((myth_str){s.calls, s.n_calls},
                "[{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":{}}},{\"id\":"
                "\"call_3\",\"type\":\"function\",\"function\":{\"name\":\"h\",\"arguments\":{\"n\":1}}}]");
    assert_int_equal(s.n_text, 0);
    close_session(&s, &r);
}

/* A call that the answer's length cut, and one that has not the form, are text. */
static void broken_calls(void **state)
{
    (void)state;
    rig r;
    myth_session s;
    open_session(&s, &r, 24);
    myth_chat_reply a =
        answer(&s, MYTH_ROLE_USER, "Go", NULL, "<|tool_call>call:f{city:<|\"|>Paris and London<|\"|>}<tool_call|>");
    assert_int_equal(a.n_call, 0);
    assert_int_equal(a.finish, MYTH_FINISH_LENGTH);
    assert_int_equal(s.talk.msg[1].more.calls.len, 0);
    assert_true(s.n_text > 12 && memcmp(s.text, "<|tool_call>", 12) == 0);
    a = answer(&s, MYTH_ROLE_USER, "Go", NULL, "<|tool_call>call:f{<tool_call|>");
    assert_int_equal(a.n_call, 0);
    assert_text((myth_str){s.text, s.n_text}, "<|tool_call>call:f{<tool_call|>");
    close_session(&s, &r);
}

#define TOLD(thought, rest)                          \
    "<|turn>user\nGo<turn|>\n<|turn>model\n" thought \
    "<|tool_call>call:f{n:1}<tool_call|><|tool_response>response:f{value:<|\"|>15<|\"|>}<tool_response|>" rest

static void assert_holds(const myth_session *s, const rig *r, const char *want)
{
    static int32_t ids[1024];
    size_t n = 0;
    assert_ok(myth_tokenizer_encode(r->model.tokenizer, r->mem, MYTH_TOK_TEMPLATE, want, strlen(want), ids, 1024, &n,
                                    &rig_err));
    assert_true(myth_seq_len(s->seq) >= n);
    assert_memory_equal(myth_seq_tokens(s->seq), ids, n * sizeof(*ids));
}

/* What the model thought before it called a tool stands before the call in the prompt behind its result, also in a chat
 * that was saved; when the user speaks again it is left out, and it is the first to go where texts need its room. */
static void a_thought_before_a_call_is_kept(void **state)
{
    (void)state;
    static const char call[] = "<|channel>thought\nI look.\n<channel|><|tool_call>call:f{n:1}<tool_call|>";
    rig r, other;
    myth_session s, t;
    uint64_t size = 0;
    myth_chat_loaded loaded;
    open_session(&s, &r, 128);
    open_session(&t, &other, 128);
    assert_int_equal(answer(&s, MYTH_ROLE_USER, "Go", NULL, call).n_call, 1);
    assert_text(s.talk.msg[1].more.thought, "I look.");
    assert_ok(myth_chat_save(&s, files_path("thought"), NULL, &size, &rig_err));
    assert_ok(myth_chat_load(&t, files_path("thought"), &loaded, &rig_err));
    answer(&s, MYTH_ROLE_TOOL, "15", "call_1", "Cold.");
    assert_holds(&s, &r, "<bos>" TOLD("<|channel>thought\nI look.\n<channel|>", ""));
    answer(&t, MYTH_ROLE_TOOL, "15", "call_1", "Cold.");
    assert_holds(&t, &other, "<bos>" TOLD("<|channel>thought\nI look.\n<channel|>", ""));
    assert_int_equal(s.talk.msg[3].more.thought.len, 0);
    answer(&s, MYTH_ROLE_USER, "Go", NULL, call);
    assert_holds(&s, &r, "<bos>" TOLD("", "Cold.<turn|>\n") "<|turn>user\nGo<turn|>\n<|turn>model\n");
    /* Of two thoughts that of the older turn goes, with nothing but itself. */
    const size_t n_bytes = s.talk.n_bytes;
    s.talk.max_bytes = n_bytes + 1;
    answer(&s, MYTH_ROLE_TOOL, "15", "call_2", "");
    assert_int_equal(s.talk.n_bytes, n_bytes - strlen("I look.") + strlen("15call_2"));
    assert_int_equal(s.talk.msg[1].more.thought.len, 0);
    assert_text(s.talk.msg[1].more.calls,
                "[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"n\":1}}}]");
    assert_text(s.talk.msg[5].more.thought, "I look.");
    const myth_message m = {MYTH_ROLE_TOOL, {"15", 2}};
    assert_int_equal(myth_talk_add(&s.talk, &m, NULL, &rig_err), MYTH_ELIMIT);
    assert_text(s.talk.msg[5].more.thought, "I look.");
    close_session(&s, &r);
    close_session(&t, &other);
}

/* A saved chat has its calls, and goes on with their results. */
static void saved_with_calls(void **state)
{
    (void)state;
    rig r, other;
    myth_session s, t;
    uint64_t size = 0;
    myth_chat_loaded loaded;
    open_session(&s, &r, 64);
    open_session(&t, &other, 64);
    answer(&s, MYTH_ROLE_USER, "Go", NULL, "<|tool_call>call:f{city:<|\"|>Paris<|\"|>}<tool_call|>");
    assert_ok(myth_chat_save(&s, files_path("calls"), NULL, &size, &rig_err));
    assert_ok(myth_chat_load(&t, files_path("calls"), &loaded, &rig_err));
    assert_true(loaded.is_warm);
    assert_text(t.talk.msg[1].more.calls, "[" CALL_1 "]");
    assert_int_equal(t.n_called, 1);
    const myth_chat_reply a = answer(&s, MYTH_ROLE_TOOL, "15", "call_1", "Cold.");
    const myth_chat_reply b = answer(&t, MYTH_ROLE_TOOL, "15", "call_1", "Cold.");
    assert_int_equal(a.n_prompt, b.n_prompt);
    assert_int_equal(myth_seq_len(s.seq), myth_seq_len(t.seq));
    assert_memory_equal(myth_seq_tokens(s.seq), myth_seq_tokens(t.seq), myth_seq_len(s.seq) * sizeof(int32_t));
    answer(&t, MYTH_ROLE_USER, "More", NULL, "<|tool_call>call:g{}<tool_call|>");
    assert_text((myth_str){t.calls, t.n_calls},
                "[{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":{}}}]");
    close_session(&s, &r);
    close_session(&t, &other);
}

/* Calls have other ids than those that somebody else has put into the chat, and than those of turns that went. */
static void no_two_calls_have_one_id(void **state)
{
    (void)state;
    static const char given[] = "[{\"id\":\"call_7\",\"function\":{\"name\":\"f\"}},{\"id\":\"call_x\",\"function\":"
                                "{\"name\":\"f\"}},{\"id\":\"call_19\",\"function\":{\"name\":\"f\"}}]";
    const myth_message m[2] = {{MYTH_ROLE_USER, {"Go", 2}}, {MYTH_ROLE_ASSISTANT, {"", 0}}};
    const myth_message_more calls = {.calls = {given, sizeof(given) - 1}};
    uint64_t size = 0;
    myth_chat_loaded loaded;
    rig r;
    myth_session s;
    open_session(&s, &r, 64);
    assert_ok(myth_talk_add(&s.talk, &m[0], NULL, &rig_err));
    assert_ok(myth_talk_add(&s.talk, &m[1], &calls, &rig_err));
    answer(&s, MYTH_ROLE_USER, "More", NULL, "<|tool_call>call:g{}<tool_call|>");
    assert_int_equal(s.n_called, 20);
    assert_non_null(strstr(s.calls, "\"call_20\""));
    myth_talk_cut(&s.talk, 0);
    assert_ok(myth_chat_save(&s, files_path("ids"), NULL, &size, &rig_err));
    s.n_called = 0;
    assert_ok(myth_chat_load(&s, files_path("ids"), &loaded, &rig_err));
    answer(&s, MYTH_ROLE_USER, "More", NULL, "<|tool_call>call:g{}<tool_call|>");
    assert_non_null(strstr(s.calls, "\"call_21\""));
    close_session(&s, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_results),
        cmocka_unit_test(broken_calls),
        cmocka_unit_test(a_thought_before_a_call_is_kept),
        cmocka_unit_test(saved_with_calls),
        cmocka_unit_test(no_two_calls_have_one_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
