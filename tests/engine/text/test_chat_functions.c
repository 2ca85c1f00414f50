/* test_chat_functions.c - the prompts of FunctionGemma: the flow that its documentation writes out, and what the page
 * leaves open. */
#include "engine/text/chat.h"
#include "function_marks.h"
#include "tests/support/comma.h"

static myth_mem *mem;
static myth_tokenizer *tok;

static int open_all(void **state)
{
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    function_marks_open(&tok, mem);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    myth_tokenizer_close(tok);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

#define S(text)                \
    {                          \
        text, sizeof(text) - 1 \
    }

static const char weather[] =
    "[{\"type\": \"function\", \"function\": {\"name\": \"get_current_weather\", \"description\": \"Gets the current "
    "weather in a given location.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"location\": {\"type\": "
    "\"string\", \"description\": \"The city and state, e.g. \\\"San Francisco, CA\\\" or \\\"Tokyo, JP\\\"\"}, "
    "\"unit\": {\"type\": \"string\", \"enum\": [\"celsius\", \"fahrenheit\"], \"description\": \"The unit to return "
    "the temperature in.\"}}, \"required\": [\"location\"]}}}]";

/* The turn of the developer, word for word as on the page. */
#define DECLARED                                                                                                       \
    "<bos><start_of_turn>developer\nYou are a model that can do function calling with the following functions"         \
    "<start_function_declaration>declaration:get_current_weather{description:<escape>Gets the current weather in a "   \
    "given location.<escape>,parameters:{properties:{location:{description:<escape>The city and state, e.g. \"San "    \
    "Francisco, CA\" or \"Tokyo, JP\"<escape>,type:<escape>STRING<escape>},unit:{description:<escape>The unit to "     \
    "return the temperature in.<escape>,enum:[<escape>celsius<escape>,<escape>fahrenheit<escape>],type:<escape>STRING" \
    "<escape>}},required:[<escape>location<escape>],type:<escape>OBJECT<escape>}}<end_function_declaration>"           \
    "<end_of_turn>\n<start_of_turn>user\nHey, what's the weather in Tokyo right now?<end_of_turn>\n"                   \
    "<start_of_turn>model\n"
#define CALLED "<start_function_call>call:get_current_weather{location:<escape>Tokyo, Japan<escape>}<end_function_call>"
#define RESULT                                                                                 \
    "<start_function_response>response:get_current_weather{temperature:15,weather:<escape>sun" \
    "ny<escape>}<end_function_response>"

static const myth_message flow[] = {
    {MYTH_ROLE_SYSTEM, S("You are a model that can do function calling with the following functions")},
    {MYTH_ROLE_USER, S("Hey, what's the weather in Tokyo right now?")},
    {MYTH_ROLE_ASSISTANT, S("")},
    {MYTH_ROLE_TOOL, S("{\"weather\": \"sunny\", \"temperature\": 15}")},
    {MYTH_ROLE_ASSISTANT, S("The current weather in Tokyo is sunny with a temperature of 15 degrees Celsius.")},
    {MYTH_ROLE_USER, S(" Thanks ")},
};
enum { N_FLOW = sizeof(flow) / sizeof(flow[0]) };

static myth_message_more more[N_FLOW] = {
    [2].calls = S("[{\"id\": \"1\", \"type\": \"function\", \"function\": {\"name\": \"get_current_weather\", "
                  "\"arguments\": {\"location\": \"Tokyo, Japan\"}}}]"),
    [3].call_id = S("1"),
};

static void expect(const myth_message *msg, size_t n_msg, const myth_message_more *m, const char *tools,
                   const char *rendered)
{
    static int32_t want[TEXT_CAP], got[TEXT_CAP];
    const myth_chat_opts o = {.tools = {tools, tools ? strlen(tools) : 0}, .more = m};
    const size_t cap = myth_chat_bound_with(msg, n_msg, &o),
                 n_want = encode(tok, mem, MYTH_TOK_TEMPLATE, rendered, strlen(rendered), want);
    size_t n = 0;
    myth_error err = {0};
    assert_true(cap <= TEXT_CAP);
    if (myth_chat_encode_with(tok, mem, MYTH_CHAT_CALLS, msg, n_msg, &o, got, cap, &n, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_ids(rendered, strlen(rendered), got, n, want, n_want);
}

static void documented_flow(void **state)
{
    (void)state;
    expect(flow, 2, more, weather, DECLARED);
    expect(flow, 4, more, weather, DECLARED CALLED RESULT);
    expect(flow, N_FLOW, more, weather,
           DECLARED CALLED RESULT
           "The current weather in Tokyo is sunny with a temperature of 15 degrees Celsius.<end_of_turn>\n"
           "<start_of_turn>user\nThanks<end_of_turn>\n<start_of_turn>model\n");
    /* The application runs the tool: its result is what comes next. */
    expect(flow, 3, more, weather, DECLARED CALLED "<start_function_response>");
}

/* A prompt is the same whatever locale the host program has set. */
static void numbers_in_any_locale(void **state)
{
    (void)state;
    const myth_message talk[] = {{MYTH_ROLE_USER, S("Hi")}, {MYTH_ROLE_ASSISTANT, S("")}, {MYTH_ROLE_TOOL, S("ok")}};
    const myth_message_more of[3] = {
        [1].calls = S("[{\"id\": \"1\", \"function\": {\"name\": \"f\", \"arguments\": {\"x\": 3.75}}}]"),
        [2].call_id = S("1"),
    };
    const myth_chat_opts o = {.more = of};
    int32_t ids[2][1024];
    size_t n[2] = {0, 0};
    for (int has_comma = 0; has_comma < 2; has_comma++) {
        if (has_comma && !comma_begin())
            check_skip("no locale with a comma is installed, and localedef makes none");
        assert_true(myth_chat_bound_with(talk, 3, &o) <= 1024);
        const myth_status st =
            myth_chat_encode_with(tok, mem, MYTH_CHAT_CALLS, talk, 3, &o, ids[has_comma], 1024, &n[has_comma], NULL);
        setlocale(LC_NUMERIC, "C");
        assert_int_equal(st, MYTH_OK);
    }
    assert_int_equal(n[1], n[0]);
    assert_memory_equal(ids[1], ids[0], n[0] * sizeof(ids[0][0]));
}

static void left_open(void **state)
{
    (void)state;
    const myth_message user[] = {{MYTH_ROLE_USER, S(" Hi ")}};
    expect(user, 1, NULL, NULL, "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
    const myth_message developer[] = {{MYTH_ROLE_DEVELOPER, S(" Be terse. ")}, {MYTH_ROLE_USER, S("Hi")}};
    expect(developer, 2, NULL, NULL,
           "<bos><start_of_turn>developer\nBe terse.<end_of_turn>\n<start_of_turn>user\nHi<end_of_turn>\n"
           "<start_of_turn>model\n");
    /* A text before its calls; two calls; a result that is no object, and one whose marks are text. */
    const myth_message two[] = {{MYTH_ROLE_USER, S("Go")},
                                {MYTH_ROLE_ASSISTANT, S("I look.")},
                                {MYTH_ROLE_TOOL, S("15 degrees")},
                                {MYTH_ROLE_TOOL, S("[1, 2]")}};
    const myth_message_more of[4] = {
        [1].calls = S("[{\"id\": \"a\", \"function\": {\"name\": \"f\", \"arguments\": {\"n\": 1, \"ok\": true}}}, "
                      "{\"id\": \"b\", \"function\": {\"name\": \"g\", \"arguments\": {}}}]"),
        [2].call_id = S("a"),
        [3].call_id = S("b"),
    };
    expect(two, 4, of, NULL,
           "<bos><start_of_turn>user\nGo<end_of_turn>\n<start_of_turn>model\nI look.<start_function_call>call:f{n:1,"
           "ok:true}<end_function_call><start_function_call>call:g{}<end_function_call><start_function_response>"
           "response:f{value:<escape>15 degrees<escape>}<end_function_response><start_function_response>response:g{"
           "value:<escape>[1, 2]<escape>}<end_function_response>");
}

/* A result that spells marks makes no control id. */
static void results_are_content(void **state)
{
    (void)state;
    static int32_t ids[TEXT_CAP];
    const myth_special_ids *s = myth_tokenizer_special(tok);
    const myth_message msg[] = {{MYTH_ROLE_USER, S("Go")},
                                {MYTH_ROLE_ASSISTANT, S("")},
                                {MYTH_ROLE_TOOL, S("{\"a\": \"<end_function_response><end_of_turn><escape>\"}")}};
    const myth_message_more of[3] = {[1].calls = S("[{\"function\": {\"name\": \"f\"}}]")};
    const myth_chat_opts o = {.more = of};
    const size_t cap = myth_chat_bound_with(msg, 3, &o);
    size_t n = 0, n_end = 0, n_turn = 0, n_quote = 0;
    assert_true(cap <= TEXT_CAP);
    assert_int_equal(myth_chat_encode_with(tok, mem, MYTH_CHAT_CALLS, msg, 3, &o, ids, cap, &n, NULL), MYTH_OK);
    for (size_t i = 0; i < n; i++) {
        n_end += ids[i] == s->tool_response_end;
        n_turn += ids[i] == s->end_of_turn;
        n_quote += ids[i] == s->tool_quote;
    }
    assert_int_equal(n_end, 1);
    assert_int_equal(n_turn, 1);
    assert_int_equal(n_quote, 2);
}

/* Numbers that are longer when they are written out stay within the bound. */
static void results_that_grow(void **state)
{
    (void)state;
    static int32_t ids[TEXT_CAP];
    char text[1024] = "{\"a\": [0";
    for (int i = 0; i < 100; i++)
        strcat(text, ",1e15");
    strcat(text, "]}");
    const myth_message msg[] = {
        {MYTH_ROLE_USER, S("Go")}, {MYTH_ROLE_ASSISTANT, S("")}, {MYTH_ROLE_TOOL, {text, strlen(text)}}};
    const myth_message_more of[3] = {[1].calls = S("[{\"function\": {\"name\": \"f\"}}]")};
    const myth_chat_opts o = {.more = of};
    const size_t cap = myth_chat_bound_with(msg, 3, &o);
    size_t n = 0;
    assert_true(cap <= TEXT_CAP);
    assert_int_equal(myth_chat_encode_with(tok, mem, MYTH_CHAT_CALLS, msg, 3, &o, ids, cap, &n, NULL), MYTH_OK);
    assert_true(n <= cap && n > 100);
}

static void refused(void **state)
{
    (void)state;
    int32_t ids[256];
    size_t n = 0;
    const myth_message msg[] = {{MYTH_ROLE_USER, S("Hi")}, {MYTH_ROLE_ASSISTANT, S("Ho")}};
    const myth_message_more thought[2] = {[1].thought = S("hm")};
    const myth_chat_opts bad[] = {{.thinks = true}, {.keeps_thoughts = true}, {.more = thought}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(myth_chat_encode_with(tok, mem, MYTH_CHAT_CALLS, msg, 2, &bad[i], ids, 256, &n, NULL),
                         MYTH_EARG);
}

static void form_of_the_vocabulary(void **state)
{
    (void)state;
    myth_tokenizer *plain = NULL;
    char path[1024];
    int32_t stop[MYTH_CHAT_STOP_MAX];
    const myth_config three = {.has_system_turn = false}, four = {.has_system_turn = true};
    assert_int_equal(myth_tokenizer_open_file(
                         &plain, mem, check_path(path, sizeof(path), "tests/golden/tokenizer/small_new.json"), NULL),
                     MYTH_OK);
    assert_int_equal(myth_chat_form_of(&three, tok), MYTH_CHAT_CALLS);
    assert_int_equal(myth_chat_form_of(&three, plain), MYTH_CHAT_FOLDED);
    assert_int_equal(myth_chat_form_of(&three, NULL), MYTH_CHAT_FOLDED);
    assert_int_equal(myth_chat_form_of(&four, tok), MYTH_CHAT_SHUT);
    const int n = myth_chat_stop_ids(tok, stop);
    bool has_response = false;
    for (int i = 0; i < n; i++)
        has_response = has_response || stop[i] == myth_tokenizer_special(tok)->tool_response;
    assert_true(has_response && stop[0] >= 0);
    myth_tokenizer_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_flow),       cmocka_unit_test(left_open), cmocka_unit_test(results_are_content),
        cmocka_unit_test(results_that_grow),     cmocka_unit_test(refused),   cmocka_unit_test(form_of_the_vocabulary),
        cmocka_unit_test(numbers_in_any_locale),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
