/* test_chat_flags.c - the flags of a chat: the prompt of each model family, system text, conversations as JSON, the
 * budget of a model's thoughts, refusals. */
#include "tests/frontend/cli/cli_run.h"

#define E4   "-m random:gemma4-e-tiny:f32 "
#define BIG4 "-m random:gemma4-tiny:f32 "
#define N3   "-m random:gemma3n-tiny:f32 "

static cli_result r;

static void expect_prompt(const char *args, const char *want)
{
    char line[2048];
    snprintf(line, sizeof(line), "generate %s -n 0 --verbose-prompt --json", args);
    json_t *j = cli_json(&r, line);
    assert_string_equal(json_string_value(json_object_get(j, "prompt")), want);
    assert_int_equal(json_array_size(json_object_get(j, "prompt_ids")),
                     (size_t)json_integer_value(json_object_get(j, "prompt_tokens")));
    json_decref(j);
    snprintf(line, sizeof(line), "generate %s -n 0 --verbose-prompt", args);
    cli_expect(&r, line, 0);
    assert_int_equal(strncmp(r.err, want, strlen(want)), 0);
}

static void prompts_of_the_families(void **state)
{
    (void)state;
    static const char *const folded[] = {TINY, N3};
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof(line), "%s --chat -p ' Hi '", folded[i]);
        expect_prompt(line, "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
        snprintf(line, sizeof(line), "%s --chat -p Hi -sys 'You are terse.'", folded[i]);
        expect_prompt(line, "<bos><start_of_turn>user\nYou are terse.\n\nHi<end_of_turn>\n<start_of_turn>model\n");
    }
    expect_prompt(E4 "--chat -p Hi", "<bos><|turn>user\nHi<turn|>\n<|turn>model\n");
    expect_prompt(E4 "--chat -p Hi --system-prompt 'You are terse.'",
                  "<bos><|turn>system\nYou are terse.<turn|>\n<|turn>user\nHi<turn|>\n<|turn>model\n");
    expect_prompt(E4 "--chat -p Hi --reasoning-budget 9",
                  "<bos><|turn>system\n<|think|>\n<turn|>\n<|turn>user\nHi<turn|>\n<|turn>model\n");
    expect_prompt(BIG4 "--chat -p Hi", "<bos><|turn>user\nHi<turn|>\n<|turn>model\n<|channel>thought\n<channel|>");
    expect_prompt(BIG4 "--chat -p Hi --reasoning-budget -1 -sys 'You are terse.'",
                  "<bos><|turn>system\n<|think|>\nYou are terse.<turn|>\n<|turn>user\nHi<turn|>\n<|turn>model\n");
}

static void conversations(void **state)
{
    (void)state;
    cli_shell(&r, "echo '{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":\"The "
                  "time\"}}],\"messages\":["
                  "{\"role\":\"user\",\"content\":\"when?\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{"
                  "\"id\":\"a\",\"function\":{\"name\":\"now\","
                  "\"arguments\":{\"zone\":\"UTC\"}}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"noon\"}"
                  "]}' >$D/talk.json");
    char line[512];
#define TURNS                                                                                                          \
    "<bos><|turn>system\n%s<|tool>declaration:now{description:<|\"|>The "                                              \
    "time<|\"|>}<tool|><turn|>\n<|turn>user\nwhen?<turn|>\n<|turn>model\n"                                             \
    "<|tool_call>call:now{zone:<|\"|>UTC<|\"|>}<tool_call|><|tool_response>response:now{value:<|\"|>noon<|\"|>}<tool_" \
    "response|>%s"
    char want[1024];
    snprintf(line, sizeof(line), E4 "--messages %s/talk.json", cli_dir);
    snprintf(want, sizeof(want), TURNS, "", "");
    expect_prompt(line, want);
    snprintf(line, sizeof(line), BIG4 "--messages %s/talk.json --reasoning-budget 4", cli_dir);
    snprintf(want, sizeof(want), TURNS, "<|think|>\n", "<|channel>thought\n");
    expect_prompt(line, want);
#undef TURNS
    snprintf(line, sizeof(line), "generate " TINY "--messages %s/talk.json -n 1", cli_dir);
    cli_expect(&r, line, 2);
    assert_non_null(strstr(r.err, "tools"));
    cli_shell(&r, "echo '[{\"role\":\"user\",\"content\":\"Hi\"}' | $M generate " E4 "--messages -");
    assert_int_equal(r.code, 65);
    cli_shell(&r, "echo '[{\"role\":\"user\",\"content\":\"Hi\"}]' | $M generate " E4 "--messages - -n 2 --json");
    assert_int_equal(r.code, 0);
}

/* The prompt ends in an open channel of thoughts, so that a model of random weights thinks, too. After the ids
 * that the budget allows, the channel's closing mark is set and the answer begins. */
static void budget(void **state)
{
    (void)state;
    cli_shell(&r, "echo "
                  "'[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{"
                  "\"name\":\"f\"}}]},"
                  "{\"role\":\"tool\",\"content\":\"y\"}]' >$D/open.json");
    char line[512];
    snprintf(line, sizeof(line),
             "generate " E4 "--messages %s/open.json -n 12 --ignore-eos --reasoning-budget 5 --json", cli_dir);
    json_t *j = cli_json(&r, line), *ids = json_object_get(j, "ids");
    assert_int_equal(json_array_size(ids), 12);
    assert_int_equal(json_integer_value(json_array_get(ids, 5)), 101);
    assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "length");
    assert_true(json_is_string(json_object_get(j, "reasoning_content")) && json_is_string(json_object_get(j, "text")));
    char whole[4096];
    snprintf(whole, sizeof(whole), "%s", json_string_value(json_object_get(j, "text")));
    assert_null(strstr(whole, "<channel|>"));
    json_decref(j);
    snprintf(line, sizeof(line), "generate " E4 "--messages %s/open.json -n 5 --ignore-eos --reasoning-budget 5",
             cli_dir);
    cli_expect(&r, line, 0);
    assert_string_equal(r.out, "\n"); /* there are only thoughts, which are not printed */
}

/* Prompts are Gemma's, whatever template the files carry: a note says so where that is another one. */
static void a_template_of_its_own_is_told(void **state)
{
    (void)state;
    static const char *const line[] = {"$M generate -m $D/%s.gguf --chat -p Hi -n 1",
                                       "echo Hi | $M chat -m $D/%s.gguf -n 1",
                                       "$M inspect-file -m $D/%s.gguf -n 8 $D/a.c"};
    cli_shell(
        &r, "echo 'int a;' >$D/a.c; for i in 'own <|im_start|>' 'same <start_of_turn>'; do set -- $i; $M convert " TINY
            "-o $D/$1.gguf --kv tokenizer.chat_template=$2 || exit 1; done");
    assert_int_equal(r.code, 0);
    for (int i = 0; i < 3; i++)
        for (int is_same = 0; is_same < 2; is_same++) {
            char shell[256];
            snprintf(shell, sizeof shell, line[i], is_same ? "same" : "own");
            cli_shell(&r, shell);
            assert_int_equal(strstr(r.err, "a chat template of its own") != NULL, !is_same);
        }
    cli_shell(&r, "$M generate -m $D/own.gguf -p Hi -n 1"); /* no turns are written */
    assert_int_equal(r.code, 0);
    assert_null(strstr(r.err, "template"));
}

/* What the files say ends an answer does, beside the pieces known by name. */
static void an_end_that_the_file_names(void **state)
{
    (void)state;
    json_t *j = cli_json(&r, "generate " TINY "-p Hi -n 8 --json");
    const json_t *ids = json_object_get(j, "ids");
    assert_int_equal(json_array_size(ids), 8);
    char line[256];
    snprintf(line, sizeof line, "$M convert " TINY "-o $D/end.gguf --type f32 --kv tokenizer.ggml.eot_token_id=%d",
             (int)json_integer_value(json_array_get(ids, 1)));
    json_decref(j);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    snprintf(line, sizeof line, "generate -m %s/end.gguf -p Hi -n 8 --json", cli_dir);
    j = cli_json(&r, line);
    assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "stop");
    json_decref(j);
}

static void refusals(void **state)
{
    (void)state;
    cli_expect(&r, "generate " E4 "-p x --reasoning-budget 5", 2);
    assert_non_null(strstr(r.err, "--chat"));
    cli_expect(&r, "generate " E4 "--chat -p x --reasoning-budget many", 2);
    cli_expect(&r, "generate " E4 "--chat -p x --reasoning-budget -2", 2);
    cli_expect(&r, "generate " E4 "-p x -sys y", 2);
    cli_expect(&r, "generate " E4 "-p x --messages y", 2);
    cli_run(&r, "generate " TINY "--chat -p x --reasoning-budget 5");
    assert_true(r.code != 0);
    assert_non_null(strstr(r.err, "gemma3 cannot think first"));
}

/* What of --messages has no effect is said: other members, and results that belong to no call. */
static void what_has_no_effect_is_said(void **state)
{
    static const char user[] = "{\"role\":\"user\",\"content\":\"a\"}",
                      call[] = "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
                               "\"function\":{\"name\":\"now\",\"arguments\":{}}}]}";
    static const struct {
        bool has_call;
        const char *result, *more, *says; /* NULL: nothing */
    } row[] = {
        {true, "\"tool_call_id\":\"c1\"", "", NULL},
        {true, "\"name\":\"now\"", "", NULL},
        {true, "\"tool_call_id\":\"c1\"", ",\"temperature\":1,\"tools\":[]", "without effect: \"temperature\""},
        {true, "\"tool_call_id\":\"c\"", "", "message 2: no call before this result has its tool_call_id"},
        {true, "\"x\":1", "", "message 2: no call before this result has its tool_call_id"},
        {false, "\"tool_call_id\":\"c1\"", "", "message 1: a result that follows no call"},
    };
    char path[300];
    (void)state;
    snprintf(path, sizeof(path), "%s/talk.json", cli_dir);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "{\"messages\":[%s%s%s,{\"role\":\"tool\",%s,\"content\":\"b\"}]%s}", user,
                row[i].has_call ? "," : "", row[i].has_call ? call : "", row[i].result, row[i].more);
        fclose(f);
        cli_expect(&r, "generate " E4 "--messages $D/talk.json -n 1", 0);
        if (row[i].says ? !strstr(r.err, row[i].says)
                        : strstr(r.err, "message ") != NULL || strstr(r.err, "effect") != NULL)
            fail_msg("row %zu: %s", i, r.err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prompts_of_the_families),
                                       cmocka_unit_test(conversations),
                                       cmocka_unit_test(budget),
                                       cmocka_unit_test(a_template_of_its_own_is_told),
                                       cmocka_unit_test(an_end_that_the_file_names),
                                       cmocka_unit_test(what_has_no_effect_is_said),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
