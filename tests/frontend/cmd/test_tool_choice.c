/* test_tool_choice.c - --tool-choice of generate and chat with random weights: every answer that is held to calls is
 * read back as calls of the tools, whatever the seed, and one that is cut has no half call; what the flag does not go
 * with. */
#include "tests/frontend/cli/cli_run.h"

#define FOUR "-m random:gemma4-tiny:f32 "
#define TALK "--messages $D/talk.json "
#define MANY "--jsonl $D/p.jsonl --exact -n 90 --temp 1.2 "

static cli_result r;

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_shell(&r,
              "printf '%s' '{\"messages\":[{\"role\":\"user\",\"content\":\"Go\"}],\"tools\":[{\"type\":\"function\","
              "\"function\":{\"name\":\"weather\",\"description\":\"w\",\"parameters\":{\"type\":\"object\","
              "\"properties\":{\"city\":{\"type\":\"string\",\"maxLength\":6},\"days\":{\"type\":\"integer\","
              "\"minimum\":1,\"maximum\":9},\"unit\":{\"enum\":[\"C\",\"F\"]}},\"required\":[\"city\",\"unit\"]}}},"
              "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":\"n\"}}]}' >$D/talk.json; "
              "sed 's/,\"tools.*/}/' $D/talk.json >$D/bare.json");
    return r.code;
}

/* Calls of one answer in JSON; each is whole and of a tool. */
static size_t check_answer(const json_t *answer, const char *only)
{
    const json_t *calls = json_object_get(answer, "tool_calls");
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *f = json_object_get(json_array_get(calls, i), "function"),
                     *args = json_object_get(f, "arguments");
        const char *name = json_string_value(json_object_get(f, "name"));
        if (only)
            assert_string_equal(name, only);
        if (strcmp(name, "now") == 0) {
            assert_int_equal(json_object_size(args), 0);
            continue;
        }
        assert_string_equal(name, "weather");
        const json_t *days = json_object_get(args, "days"), *city = json_object_get(args, "city");
        const char *unit = json_string_value(json_object_get(args, "unit"));
        assert_true(unit && (strcmp(unit, "C") == 0 || strcmp(unit, "F") == 0) && json_is_string(city));
        assert_true(!days || (json_integer_value(days) >= 1 && json_integer_value(days) <= 9));
        assert_int_equal(json_object_size(args), days ? 3 : 2);
    }
    return json_array_size(calls);
}

/* The answer of a run, which its length may cut inside a call; then the exit code says so. */
static json_t *answer_of(const char *line)
{
    json_error_t e;
    cli_run(&r, line);
    json_t *j = json_loads(r.out, JSON_ALLOW_NUL, &e);
    const char *why = json_string_value(json_object_get(j, "finish_reason"));
    if (!why || (r.code != 0 && (r.code != 3 || strcmp(why, "length") != 0 || !strstr(r.err, "not whole"))))
        fail_msg("%s: exit %d: %s%s", line, r.code, r.out, r.err);
    return j;
}

static void answers_are_calls(void **state)
{
    static const char *const choice[] = {"required", "weather", "now"};
    uint64_t rng = check_seed();
    uint32_t n_stopped = 0;
    char line[512];
    (void)state;
    for (uint32_t i = 0; i < (check_is_full() ? 300 : 24); i++) {
        const char *how = choice[i % 3];
        const bool is_greedy = check_below(&rng, 4) == 0;
        const uint32_t n = check_below(&rng, 3) ? 150 : 1 + check_below(&rng, 60);
        snprintf(line, sizeof(line), "generate " FOUR TALK "--json --tool-choice %s -n %u --seed %u --temp %s", how, n,
                 check_below(&rng, 100000), is_greedy ? "0" : "1.5 --top-k 0 --top-p 1 --min-p 0");
        json_t *j = answer_of(line);
        const char *why = json_string_value(json_object_get(j, "finish_reason"));
        const size_t n_call = check_answer(j, i % 3 ? how : NULL);
        if (strcmp(why, "length") != 0) {
            assert_string_equal(why, "tool_calls");
            assert_true(i % 3 ? n_call == 1 : n_call >= 1);
            n_stopped++;
        } else {
            assert_int_equal(json_array_size(json_object_get(j, "ids")), n);
        }
        json_decref(j);
    }
    assert_true(n_stopped > 0);
}

/* auto changes nothing of an answer that calls no tool; with none no answer has the mark of a call. */
static void free_answers(void **state)
{
    static const char *const choice[] = {"--tool-choice auto", "--tool-choice none"};
    char line[512];
    (void)state;
    for (uint32_t seed = 0; seed < 6; seed++) {
        snprintf(line, sizeof(line), "generate " FOUR TALK "--json -n 40 --temp 1 --seed %u", seed);
        json_t *plain = answer_of(line);
        for (size_t i = 0; i < 2; i++) {
            char held[600];
            snprintf(held, sizeof(held), "%s %s", line, choice[i]);
            json_t *j = answer_of(held);
            const json_t *ids = json_object_get(j, "ids");
            bool has_mark = false;
            for (size_t k = 0; k < json_array_size(ids); k++)
                has_mark |= json_integer_value(json_array_get(ids, k)) == 48;
            if (i == 1 && has_mark)
                fail_msg("%s: a call", held);
            const json_t *free_ids = json_object_get(plain, "ids");
            has_mark = false;
            for (size_t k = 0; k < json_array_size(free_ids); k++)
                has_mark |= json_integer_value(json_array_get(free_ids, k)) == 48;
            if (i == 0 && !has_mark && !json_equal(ids, free_ids))
                fail_msg("%s: not as without", held);
            check_answer(j, NULL);
            json_decref(j);
        }
        json_decref(plain);
    }
}

/* Answers to users are calls; one behind a result may be text. */
static void in_a_chat(void **state)
{
    (void)state;
    cli_shell(&r,
              "printf '%s\\n' '\"more\"' '{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"15\"}' "
              "'\"and?\"' | $M chat " FOUR TALK "--json --exact --tool-choice now -n 30 -c 2048 --temp 1.5 --top-k 0 "
              "--mem-report $D/mem.json");
    assert_int_equal(r.code, 0);
    cli_expect_planned("a chat that is held to calls");
    const char *at = r.out;
    for (int i = 0; i < 4; i++) {
        json_error_t e;
        json_t *j = json_loads(at, JSON_DISABLE_EOF_CHECK, &e);
        if (!j)
            fail_msg("line %d: %s", i, r.out);
        const size_t n = check_answer(j, NULL);
        if (i != 2) { /* which is behind the result */
            assert_int_equal(n, 1);
            assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "tool_calls");
            assert_string_equal(json_string_value(json_object_get(j, "content")), "");
        } else {
            assert_true(*json_string_value(json_object_get(j, "content")) != '\0');
        }
        json_decref(j);
        at = strchr(at, '\n') + 1;
    }
}

/* The rows of a file of answers. */
static json_t *read_rows(const char *name)
{
    char path[128];
    json_error_t e;
    json_t *rows = json_array();
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (json_t *one; (one = json_loadf(f, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &e));)
        json_array_append_new(rows, one);
    fclose(f);
    return rows;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *s = json_string_value(json_object_get(row, key));
    return s ? s : "";
}

/* Many at once are the same as one at a time and as the single command; a line that no choice fits is a row that says
 * so. */
static void many_answers(void **state)
{
    enum { N_SEED = 6 };
    static const char *const choice[] = {"required", "weather", "auto", "none"}, *const key[] = {
                                                                                     "ids", "text", "tool_calls",
                                                                                     "finish_reason", "prompt_tokens"};
    char line[512];
    uint32_t n_call = 0;
    (void)state;
    cli_shell(&r, "for i in 0 1 2 3 4 5; do sed \"s/^{/{\\\"seed\\\":$i,/\" $D/talk.json; echo; done >$D/p.jsonl; "
                  "cat $D/bare.json >>$D/p.jsonl; printf '\\n%s\\n%s\\n' '\"a text\"' "
                  "'{\"text\":\"b\",\"grammar\":\"root ::= \\\"yes\\\"\",\"max_tokens\":9}' >>$D/p.jsonl");
    assert_int_equal(r.code, 0);
    for (size_t i = 0; i < 4; i++) {
        const bool is_held = i < 2;
        for (int at_once = 1; at_once <= 4; at_once += 3) {
            snprintf(line, sizeof(line),
                     "generate " FOUR MANY
                     "-o $D/m%d.jsonl --resume off -np %d --tool-choice %s --mem-report $D/mem.json",
                     at_once, at_once, choice[i]);
            cli_expect(&r, line, 3);
            cli_expect_planned("answers that are held to calls");
        }
        cli_shell(&r, "cmp $D/m1.jsonl $D/m4.jsonl");
        assert_int_equal(r.code, 0);
        json_t *rows = read_rows("m1.jsonl");
        assert_int_equal(json_array_size(rows), N_SEED + 3);
        for (uint32_t k = 0; k < N_SEED; k++) {
            const json_t *row = json_array_get(rows, k);
            const size_t n = check_answer(row, i == 1 ? choice[i] : NULL);
            n_call += (uint32_t)n;
            if (is_held && strcmp(text_of(row, "finish_reason"), "length") != 0) {
                assert_string_equal(text_of(row, "finish_reason"), "tool_calls");
                assert_true(n >= 1);
            }
            assert_true(i != 3 || n == 0);
            snprintf(line, sizeof(line),
                     "generate " FOUR TALK "--json --exact --tool-choice %s -n 90 --temp 1.2 --seed %u", choice[i], k);
            json_t *alone = answer_of(line);
            for (size_t m = 0; m < 5; m++)
                if (m == 2 ? !json_equal(json_object_get(alone, key[m]), json_object_get(row, key[m])) &&
                                 (json_object_get(alone, key[m]) || json_object_get(row, key[m]))
                           : !json_equal(json_object_get(alone, key[m]), json_object_get(row, key[m])))
                    fail_msg("%s: %s is another one", line, key[m]);
            json_decref(alone);
        }
        const json_t *bare = json_array_get(rows, N_SEED), *text = json_array_get(rows, N_SEED + 1),
                     *own = json_array_get(rows, N_SEED + 2);
        if (i == 0 && !strstr(text_of(bare, "error"), "the chat has no tools to call"))
            fail_msg("%s", text_of(bare, "error"));
        if (i == 1 && !strstr(text_of(bare, "error"), "\"weather\" is none of the tools"))
            fail_msg("%s", text_of(bare, "error"));
        assert_true(is_held || json_object_get(bare, "ids"));
        assert_non_null(strstr(text_of(text, "error"), "is about the tools of a chat; give \"messages\""));
        assert_string_equal(text_of(own, "text"), "yes");
        json_decref(rows);
    }
    assert_true(n_call > 0);
    cli_expect(&r, "generate " FOUR MANY "-o $D/k.jsonl --tool-choice required --dry-run", 0);
}

/* A job goes on with the choice that it began with. */
static void many_answers_go_on(void **state)
{
    (void)state;
    cli_shell(&r, "for i in 0 1 2 3 4 5 6 7 8 9; do for k in 0 1 2; do cat $D/talk.json; echo; done; done "
                  ">$D/p.jsonl");
    cli_expect(&r, "generate " FOUR MANY "-np 8 -o $D/whole.jsonl --tool-choice none", 0);
    cli_interrupt(&r, "generate " FOUR MANY "-np 1 -o $D/k.jsonl --tool-choice none");
    cli_expect(&r, "generate " FOUR MANY "-np 1 -o $D/k.jsonl --tool-choice auto", 2);
    if (!strstr(r.err, "--tool-choice (none, now auto)"))
        fail_msg("%s", r.err);
    cli_expect(&r, "generate " FOUR MANY "-np 8 -o $D/k.jsonl --tool-choice none", 0);
    cli_shell(&r, "cmp $D/whole.jsonl $D/k.jsonl");
    assert_int_equal(r.code, 0);
}

static void what_it_does_not_go_with(void **state)
{
    static const struct {
        const char *args;
        int code;
        const char *why;
    } row[] = {
        {"generate " FOUR TALK "--tool-choice sun", 2, "\"sun\" is none of the tools; give one of them"},
        {"generate " FOUR "--messages $D/bare.json --tool-choice required", 2, "the chat has no tools to call"},
        {"generate " FOUR TALK "--tool-choice auto -j '{}'", 2, "leave out the other one"},
        {"generate " FOUR TALK "--tool-choice required --reasoning-budget -1", 2, "thoughts go with auto and none"},
        {"generate " FOUR TALK "--tool-choice auto --reasoning-budget 5", 2, "thoughts go with auto and none"},
        {"generate " FOUR "-p a --tool-choice auto", 2, "is about the tools of --messages"},
        {"generate " FOUR "--jsonl $D/talk.json -o $D/o --tool-choice auto -j '{}'", 2, "leave out the other one"},
        {"generate " FOUR "--jsonl $D/talk.json -o $D/o --tool-choice now --reasoning-budget -1", 2,
         "thoughts go with auto and none"},
        {"generate " TINY "--jsonl $D/talk.json -o $D/o --tool-choice auto", 65, "has no marks for calls of tools"},
        {"generate " TINY "--messages $D/bare.json --tool-choice none", 65, "has no marks for calls of tools"},
        {"chat " FOUR TALK "--tool-choice sun", 2, "\"sun\" is none of the tools"},
        {"chat " FOUR TALK "--tool-choice auto --grammar 'root ::= \"a\"'", 2, "leave out the other one"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        cli_run(&r, row[i].args);
        if (r.code != row[i].code || !strstr(r.err, row[i].why))
            fail_msg("%s\n%d %s", row[i].args, r.code, r.err);
    }
    cli_expect(&r, "generate " FOUR TALK "--tool-choice auto --reasoning-budget -1 -n 4", 0);
    cli_expect(&r, "generate " FOUR "--messages $D/bare.json --tool-choice auto -n 4 --mem-report $D/mem.json", 0);
    cli_expect_planned("an answer that is held to calls");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_calls),  cmocka_unit_test(free_answers),
        cmocka_unit_test(in_a_chat),          cmocka_unit_test(many_answers),
        cmocka_unit_test(many_answers_go_on), cmocka_unit_test(what_it_does_not_go_with),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
