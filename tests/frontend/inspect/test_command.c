/* test_command.c - the commands inspect-file and prompt as their users meet them: the keys of the JSON, exit codes, the
 * limit of a prompt, memory, an interrupt. */
#include "tests/frontend/cli/cli_run.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#else
#define IS_SANITIZED 0
#endif

static cli_result r;

static void put_file(const char *name, const char *text, size_t n_x)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    for (size_t i = 0; i < n_x; i++)
        fputc(i % 60 == 59 ? '\n' : 'x', f);
    fclose(f);
}

static const char source[] = "int f(char *s)\n{\n\treturn strlen(s) + 1;\n}\n";

/* Runs a shell line, which must end with this exit code, and returns its standard output as one JSON document. */
static json_t *json_of(const char *line, int code)
{
    json_error_t e;
    cli_shell(&r, line);
    if (r.code != code)
        print_error("%s\n  exit %d, expected %d\n  %s\n", line, r.code, code, r.err);
    assert_int_equal(r.code, code);
    json_t *j = json_loads(r.out, 0, &e);
    if (!j)
        print_error("%s\n  %s: %.300s\n", line, e.text, r.out);
    assert_non_null(j);
    return j;
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    assert_non_null(s);
    return s;
}

static void test_keys(void **state)
{
    static const char *const top[] = {"model",    "prompt_tokens", "max_new_tokens", "finish_reason",
                                      "complete", "findings",      "missing_context"};
    static const char *const each[] = {"rule",  "severity", "status", "file", "lines",
                                       "issue", "evidence", "why",    "fix",  "missing"};
    (void)state;
    put_file("a.c", source, 0);
    json_t *j = json_of("$M inspect-file $D/a.c " TINY "--format json --fail-level never", 0);
    for (size_t i = 0; i < sizeof(top) / sizeof(top[0]); i++)
        assert_non_null(json_object_get(j, top[i]));
    const json_t *list = json_object_get(j, "findings");
    for (size_t k = 0; k < json_array_size(list); k++)
        for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
            assert_non_null(json_object_get(json_array_get(list, k), each[i]));
    assert_int_equal(json_integer_value(json_object_get(j, "max_new_tokens")), 1024);
    json_decref(j);

    cli_shell(&r, "$M inspect-file $D/a.c " TINY "--format jsonl --fail-level never | tail -1");
    assert_int_equal(strncmp(r.out, "{\"summary\":{\"model\":", 20), 0);
    cli_shell(&r, "$M inspect-file $D/a.c " TINY "--format json | sha256sum; $M inspect-file $D/a.c " TINY
                  "--format json | sha256sum");
    assert_memory_equal(r.out, r.out + strlen(r.out) / 2, strlen(r.out) / 2);
    assert_non_null(strstr(r.err, "prompt tokens, at most 1024 new, 1 part, "));
}

static void test_prompt(void **state)
{
    (void)state;
    put_file("a.c", source, 0);
    json_t *j = json_of("$M prompt $D/a.c " TINY "--json", 0);
    assert_true(json_array_size(json_object_get(j, "ids")) > 100);
    assert_non_null(strstr(text_of(j, "text"), "3|\treturn strlen(s) + 1;\n"));
    assert_int_equal(strlen(text_of(j, "hash")), 16);
    json_decref(j);
    json_t *plan = json_of("$M inspect-file $D/a.c " TINY "--dry-run --format json", 0);
    json_t *again = json_of("$M prompt $D/a.c " TINY "--json", 0);
    assert_int_equal(json_integer_value(json_object_get(plan, "prompt_tokens")),
                     json_array_size(json_object_get(again, "ids")));
    json_decref(plan);
    json_decref(again);
}

static void test_batch(void **state)
{
    (void)state;
    put_file("in.jsonl",
             "{\"path\":\"a.c\",\"code\":\"int x;\\nstrcpy(a, "
             "b);\\n\",\"findings\":[{\"lines\":[2,2],\"rule\":\"missing-bounds-check\"}]}\n",
             0);
    json_t *j = json_of("$M prompt --batch $D/in.jsonl " TINY "--prompt-style compact", 0);
    assert_string_equal(
        text_of(j, "answer"),
        "{\"findings\":[{\"file\":\"a.c\",\"lines\":[2,2],\"evidence\":\"strcpy(a, "
        "b);\",\"rule\":\"missing-bounds-check\","
        "\"issue\":\"\",\"why\":\"\",\"severity\":\"HIGH\",\"status\":\"likely\",\"fix\":\"\",\"missing\":\"\"}],"
        "\"missing_context\":[]}");
    assert_true(json_array_size(json_object_get(j, "answer_ids")) > 10);
    json_decref(j);
    put_file("in.jsonl",
             "{\"path\":\"a.c\",\"code\":\"int "
             "x;\\n\",\"findings\":[{\"lines\":[1,1],\"rule\":\"other\",\"evidence\":\"int y;\"}]}\n",
             0);
    j = json_of("$M prompt --batch $D/in.jsonl " TINY, 65);
    assert_non_null(strstr(text_of(j, "error"), "the grammar does not allow"));
    json_decref(j);
}

/* Writes big.c with n_x bytes of filler and returns how many tokens the prompt about it has. */
static uint32_t count_tokens(size_t n_x)
{
    put_file("big.c", source, n_x);
    json_t *j = json_of("$M inspect-file $D/big.c " TINY "--dry-run --format json --max-prompt-tokens 1000000", 0);
    uint32_t n = (uint32_t)json_integer_value(json_object_get(j, "prompt_tokens"));
    json_decref(j);
    return n;
}

static void test_hard_limit(void **state)
{
    (void)state;
    uint32_t n_x = 9000;
    for (uint32_t n; (n = count_tokens(n_x)) != 12000;) /* each byte is a token, and the lines' numbers are more */
        n_x = n < 12000 ? n_x + (12000 - n + 1) / 2 : n_x - 1;
    json_t *j = json_of("$M inspect-file $D/big.c " TINY "--format json -n 4 --fail-level never", 3);
    assert_string_equal(text_of(j, "finish_reason"), "length");
    json_decref(j);

    cli_shell(&r, "printf x >> $D/big.c"); /* one token more makes two prompts, each of them within the limit */
    j = json_of("$M inspect-file $D/big.c " TINY "--dry-run --format json", 0);
    const json_t *part = json_object_get(j, "parts");
    assert_int_equal(json_array_size(part), 2);
    for (size_t i = 0; i < 2; i++)
        assert_in_range(json_integer_value(json_object_get(json_array_get(part, i), "prompt_tokens")), 2000, 12000);
    json_decref(j);
    j = json_of("$M inspect-file $D/big.c " TINY "--no-split --format json", 3);
    assert_string_equal(text_of(j, "finish_reason"), "refused");
    assert_int_equal(json_integer_value(json_object_get(j, "prompt_tokens")), 12001);
    const json_t *why = json_object_get(j, "refusal");
    assert_int_equal(json_integer_value(json_object_get(why, "count")), 12001);
    assert_int_equal(json_integer_value(json_object_get(why, "limit")), 12000);
    assert_true(json_array_size(json_object_get(why, "remedies")) >= 3);
    assert_non_null(strstr(text_of(why, "reason"), "12001"));
    json_decref(j);
    cli_shell(&r, "$M inspect-file $D/big.c --no-split " TINY);
    assert_int_equal(r.code, 3);
    assert_true(strstr(r.out, "12001") && strstr(r.out, "12000") && strstr(r.out, "--no-split"));

    /* With a model file that has lost tensor data, a prompt within the limit fails because of the file. One over the
     * limit is refused before the data is read. */
    cli_shell(&r, "$M convert " TINY
                  "-o $D/m.gguf --type q8_0 && head -c $(($(wc -c < $D/m.gguf) - 100000)) $D/m.gguf > $D/cut.gguf");
    assert_int_equal(r.code, 0);
    uint32_t n = 0;
    while (n != 12000) { /* counted anew, because this is another model file */
        n_x = n == 0 ? n_x : n < 12000 ? n_x + (12000 - n + 1) / 2 : n_x - 1;
        put_file("big.c", source, n_x);
        j = json_of("$M inspect-file $D/big.c -m $D/m.gguf --dry-run --format json --max-prompt-tokens 1000000", 0);
        n = (uint32_t)json_integer_value(json_object_get(j, "prompt_tokens"));
        json_decref(j);
    }
    cli_shell(&r, "$M inspect-file $D/big.c -m $D/cut.gguf");
    assert_int_equal(r.code, 65);
    cli_shell(&r, "printf x >> $D/big.c");
    j = json_of("$M inspect-file $D/big.c -m $D/cut.gguf --no-split --format json", 3);
    assert_int_equal(json_integer_value(json_object_get(j, "prompt_tokens")), 12001);
    json_decref(j);
}

static void test_exit_codes(void **state)
{
    static const struct {
        const char *line;
        int code;
    } row[] = {
        {"$M inspect-file " TINY, 2},
        {"$M inspect-file $D/a.c $D/a.c " TINY, 2},
        {"$M inspect-file $D/a.c " TINY "--format yaml", 2},
        {"$M inspect-file $D/a.c " TINY "--prompt-style terse", 2},
        {"$M inspect-file $D/none.c " TINY, 66},
        {"$M inspect-file $D/a.c -m $D/none.gguf", 66},
        {"$M inspect-file $D/a.c -m $D/a.c", 65},
        {"$M inspect-file $D/a.c " TINY "--dry-run", 0},
        {"$M inspect-file $D/a.c " TINY "--fail-level never", 0},
        {"$M inspect-file $D/a.c " TINY "--fail-level never -n 3", 3},
        {"$M inspect-file $D/a.c " TINY "--max-prompt-tokens 50", 3},
        {"$M inspect-file $D/a.c " TINY "-c 512 --prompt-style compact", 3},
        {"$M inspect-file $D/a.c " TINY "--code-tokens 40", 3},
        {"$M inspect-file $D/a.c " TINY "--context-rounds 9", 2},
        {"$M inspect-file $D/a.c " TINY "--mem-limit 1MiB", 71},
        {"$M inspect-file $D/a.c " TINY "--mem-limit 1MiB --dry-run", 0},
        {"$M prompt $D/none.c " TINY, 66},
        {"$M prompt " TINY, 2},
    };
    (void)state;
    put_file("a.c", source, 0);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        cli_shell(&r, row[i].line);
        if (r.code != row[i].code)
            print_error("%s\n  exit %d, expected %d\n  %s\n", row[i].line, r.code, row[i].code, r.err);
        assert_int_equal(r.code, row[i].code);
        assert_true(r.code == 0 || r.code == 3 || r.err[0] != '\0');
    }
    json_decref(json_of("$M inspect-file $D/a.c " TINY "--mem-limit 1MiB --format json", 71));
}

/* The exit code is 1 exactly when a finding is at least as severe as --fail-level. */
static void test_fail_level(void **state)
{
    static const char *const name[] = {"HIGH", "MEDIUM", "LOW", "INFO"}, *const level[] = {"high", "medium", "low",
                                                                                           "info"};
    (void)state;
    put_file("a.c", source, 0);
    json_t *j = json_of("$M inspect-file $D/a.c " TINY "--format json --fail-level never", 0);
    const json_t *list = json_object_get(j, "findings");
    int worst = 4;
    for (size_t i = 0; i < json_array_size(list); i++)
        for (int s = 0; s < worst; s++)
            if (!strcmp(text_of(json_array_get(list, i), "severity"), name[s]))
                worst = s;
    printf("%zu findings, the most severe %s\n", json_array_size(list), worst < 4 ? name[worst] : "none");
    json_decref(j);
    for (int s = 0; s < 4; s++) {
        char line[256];
        snprintf(line, sizeof(line), "$M inspect-file $D/a.c " TINY "--fail-level %s", level[s]);
        cli_shell(&r, line);
        assert_int_equal(r.code, worst <= s ? 1 : 0);
    }
}

static void test_memory_report(void **state)
{
    static const char *const flags[] = {"", "--prompt-style compact --split --max-prompt-tokens 400 -n 30",
                                        "--two-pass -n 40", "--exact -n 20 -c 4096"};
    (void)state;
    put_file("a.c", source, 200);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "$M inspect-file $D/a.c " TINY "%s --mem-report $D/mem.json >$D/x; cat $D/mem.json", flags[i]);
        json_t *j = json_of(line, 0), *c;
        const char *name;
        double counted = 0;
        json_object_foreach(json_object_get(j, "classes"), name, c)
        {
            double planned = cli_number(c, "planned"), peak = cli_number(c, "peak");
            if (planned != peak)
                print_error("%s: %s: planned %.0f, peak %.0f\n", flags[i], name, planned, peak);
            assert_true(planned == peak && cli_number(c, "live") == 0);
            counted += strcmp(name, "weights_mapped") ? peak : 0;
        }
        assert_true(IS_SANITIZED || cli_number(j, "rss_anon_peak_bytes") <= counted + (8 << 20));
        json_decref(j);
    }
}

/* A model whose file says how long its training prompts were is given no longer ones. A model that was trained for
 * another prompt is noted. */
static void test_trained_model(void **state)
{
    (void)state;
    put_file("a.c", source, 400);
    cli_shell(
        &r,
        "$M convert " TINY
        "-o $D/t.gguf --type q8_0 --kv mythos.prompt=compact,mythos.trained_tokens=400,mythos.prompt_hash=feed0123");
    assert_int_equal(r.code, 0);
    json_t *j = json_of("$M inspect-file $D/a.c -m $D/t.gguf --dry-run --format json", 0);
    const json_t *parts = json_object_get(j, "parts");
    assert_true(json_array_size(parts) > 1);
    for (size_t i = 0; i < json_array_size(parts); i++)
        assert_true(json_integer_value(json_object_get(json_array_get(parts, i), "prompt_tokens")) <= 400);
    json_decref(j);
    assert_non_null(strstr(r.err, "trained for another prompt (feed0123"));
    j = json_of("$M inspect-file $D/a.c -m $D/t.gguf -n 20 --format json", 3);
    assert_true(json_integer_value(json_object_get(j, "parts")) > 1);
    json_decref(j);
    put_file("a.c", "x = 1;\n", 30); /* followed by a line that alone is longer, which may be shown all the same */
    cli_shell(&r, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '%080d' 0 >> $D/a.c; done");
    j = json_of("$M inspect-file $D/a.c -m $D/t.gguf --dry-run --format json", 0);
    assert_int_equal(json_array_size(json_object_get(j, "parts")), 2);
    json_decref(j);
}

/* A report about a language that the model was not trained on says so; one about its own languages does not. */
static void test_untrained_language(void **state)
{
    (void)state;
    put_file("a.c", "int x;\n", 1);
    put_file("b.js", "let x;\n", 1);
    cli_shell(&r, "$M convert " TINY "-o $D/l.gguf --type q8_0 --kv 'mythos.languages=c python'");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "$M inspect-file $D/a.c -m $D/l.gguf -n 4 --fail-level never");
    assert_null(strstr(r.out, "was trained on"));
    cli_shell(&r, "$M inspect $D/a.c $D/b.js -m $D/l.gguf -n 4 --fail-level never");
    assert_non_null(strstr(r.out, "note: l.gguf was trained on c python alone, and 1 of 2 files is in another language "
                                  "(javascript)"));
    cli_shell(&r, "$M inspect $D/b.js " TINY "-n 4 --fail-level never");
    assert_null(strstr(r.out, "was trained on"));
}

static void test_interrupt_keeps_what_is_there(void **state)
{
    (void)state;
    put_file("long.c", source, 120000);
    json_t *j = json_of("timeout --foreground --preserve-status -s INT 1 $M inspect-file $D/long.c " TINY
                        "-t 1 --split --max-prompt-tokens 4000 --format json --fail-level never",
                        3);
    assert_string_equal(text_of(j, "finish_reason"), "cancelled");
    assert_true(json_is_false(json_object_get(j, "complete")));
    json_decref(j);
}

/* The shares of a prompt add up to its tokens, and the code may have what the others do not use. */
static void test_budget(void **state)
{
    (void)state;
    put_file("a.c", source, 0);
    json_t *j = json_of("$M inspect-file $D/a.c " TINY "--format json --fail-level never -n 3", 3);
    double n = cli_number(j, "prompt_tokens"), rules = cli_number(j, "budget.rules.tokens"),
           task = cli_number(j, "budget.task.tokens"), code = cli_number(j, "budget.code.tokens");
    assert_true(rules > 0 && code > 0 && rules + task + code == n && cli_number(j, "budget.map.tokens") == 0);
    assert_true(cli_number(j, "budget.code.room") == 12000 - rules - task);
    const json_t *files = json_object_get(j, "files");
    assert_int_equal(json_array_size(files), 1);
    assert_true(json_is_true(json_object_get(json_array_get(files, 0), "whole")));
    assert_string_equal(text_of(j, "file"), text_of(json_array_get(files, 0), "path"));
    json_decref(j);
    char line[256];
    snprintf(line, sizeof(line), "$M inspect-file $D/a.c " TINY "--dry-run --format json --split --code-tokens %.0f",
             code - 1);
    j = json_of(line, 0);
    assert_true(json_array_size(json_object_get(j, "parts")) > 1 && cli_number(j, "budget.code.largest_part") < code);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_prompt),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_hard_limit),
        cmocka_unit_test(test_memory_report),
        cmocka_unit_test(test_fail_level),
        cmocka_unit_test(test_trained_model),
        cmocka_unit_test(test_untrained_language),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_interrupt_keeps_what_is_there),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
