/* test_bad_logits.c - models whose logits are NaN: every command that reads logits says so with the same words and exit
 * code 65, on models that cap their logits as on those that do not. */
#include "tests/frontend/cli/bad_model.h"
#include "tests/support/adapter.h"

static cli_result r;

static const char *const models[] = {"capped.gguf", "plain.gguf"}; /* of Gemma 2 and Gemma 3 */

/* The last value of each becomes NaN. */
static int begin(void **state)
{
    static const char *const spec[] = {"gemma2-tiny", "gemma3-tiny"};
    if (cli_begin(state) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "\"$M\" convert -m random:%s:f32 --type f32 -o $D/good.gguf && head -c -4 $D/good.gguf >$D/%s && "
                 "printf '\\0\\0\\300\\177' >>$D/%s && rm $D/good.gguf",
                 spec[i], models[i], models[i]);
        cli_shell(&r, line);
        if (r.code != 0)
            return -1;
    }
    cli_shell(&r, "head -c 600 README.md >$D/text; echo '{\"ids\":[2,5,9],\"token\":7}' >$D/ids.jsonl; "
                  "echo '\"a\"' >$D/p.jsonl");
    return r.code;
}

static void every_command_says_that_logits_are_nan(void **state)
{
    static const char *const commands[] = {
        "generate --ids 2,5,9 -n 4",           "generate --ids 2,5,9 -n 4 --temp 0.8",
        "generate --ids 2,5,9 -n 4 --exact",   "generate --ids 2,5,9 -n 4 --repeat-penalty 1.3",
        "logits --ids 2,5,9 --top-k 1",        "logits --ids 2,5,9 -o $D/l.npy",
        "perplexity -c 32 --chunks 1 $D/text", "perplexity -c 32 --chunks 1 --kl $D/plain.gguf $D/text",
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(commands) / sizeof(commands[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line), "%s -m $D/%s --device cpu", commands[i / 2], models[i % 2]);
        cli_expect(&r, line, 65);
        if (!strstr(r.err, "logits are infinite or NaN; mythos verify finds the cause"))
            fail_msg("%s: %s", line, r.err);
    }
}

/* In a job they are the error of their line. */
static void a_job_says_it_in_the_row(void **state)
{
    static const char *const jobs[] = {"generate --jsonl $D/p.jsonl -n 4", "logprobs $D/ids.jsonl --top-k 2"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char line[512];
        snprintf(line, sizeof(line), "%s -m $D/%s --device cpu -o $D/rows --resume off", jobs[i / 2], models[i % 2]);
        cli_expect(&r, line, 3);
        assert_non_null(strstr(r.err, "1 line has no result"));
        cli_shell(&r, "cat $D/rows");
        assert_string_equal(r.out, "{\"index\":0,\"error\":\"line 1: the model's logits are infinite or NaN; mythos "
                                   "verify finds the cause\"}\n");
    }
}

/* Reads the lines of $D/name that have an error, of n. */
static void read_errors(const char *name, bool *has, int n)
{
    char path[128], line[4096];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int i = 0; i < n; i++) {
        assert_non_null(fgets(line, sizeof(line), f));
        has[i] = strstr(line, "\"error\"") != NULL;
    }
    fclose(f);
}

/* Answers that come to such logits, at their beginning or later, alone or as one of several of a line, are errors of
 * their own. The others have the bits that they have where they are alone. */
static void the_other_answers_go_on(void **state)
{
    static const char *const how[] = {"", "-np 3 -ub 16", "--temp 0.9 --seed 7", "--top-logprobs 3",
                                      "--repeat-penalty 1.2"};
    enum { N = 48 };
    char path[128], line[512];
    (void)state;
    make_bad_model();
    snprintf(path, sizeof(path), "%s/some.jsonl", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < N; i++)
        fprintf(f, "{\"ids\":[%d,%d],\"id\":%d%s}\n", 3 + i, i % 7 == 3 ? BAD_ID : 2 + i, i,
                i % 7 == 5 ? ",\"n\":1" : "");
    fclose(f);
    for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
        bool has[N];
        int n_bad = 0;
        snprintf(line, sizeof(line), "generate " BAD_MODEL "--jsonl $D/some.jsonl -n 5 -o $D/some.out --resume off %s",
                 how[k]);
        cli_expect(&r, line, 3);
        cli_shell(&r, "test ! -e $D/some.out.journal");
        assert_int_equal(r.code, 0);
        read_errors("some.out", has, N);
        for (int i = 0; i < N; i++) {
            n_bad += has[i];
            assert_true(has[i] || i % 7 != 3);
        }
        assert_in_range(n_bad, N / 7 + 2, N - 8); /* also such as come to it in their answer, and such as do not */
        snprintf(line, sizeof(line),
                 "generate " BAD_MODEL "--jsonl $D/some.jsonl -n 5 -o $D/one.out --resume off -np 1 %s",
                 k == 1 ? "" : how[k]);
        cli_expect(&r, line, 3);
        cli_shell(&r, "cmp $D/some.out $D/one.out");
        if (r.code)
            fail_msg("%s: %s", how[k], r.out);
    }
}

/* verify reads what --lora names: its last value is NaN. */
static void verify_names_the_tensor_of_an_adapter(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    char path[256];
    snprintf(path, sizeof(path), "%s/a.gguf", cli_dir);
    adapter_make_of("random:gemma3-tiny:f32", path, 4, "attn_q.", &rng);
    json_t *j = cli_json(&r, "verify " TINY "--lora $D/a.gguf --json");
    const json_t *list = json_object_get(j, "adapters"), *first = json_array_get(list, 0),
                 *tensors = json_object_get(first, "tensors"),
                 *last = json_array_get(tensors, json_array_size(tensors) - 1);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(first, "path")), path);
    assert_int_equal(strlen(json_string_value(json_object_get(last, "sha256"))), 64);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "forward"), "rows")), 16);
    char name[160];
    snprintf(name, sizeof(name), "b.gguf: tensor %s has a value that is infinite or NaN",
             json_string_value(json_object_get(last, "name")));
    json_decref(j);
    cli_shell(&r, "head -c -4 $D/a.gguf >$D/b.gguf && printf '\\0\\0\\300\\177' >>$D/b.gguf");
    cli_expect(&r, "verify " TINY "--lora $D/a.gguf --lora $D/b.gguf", 65);
    if (!strstr(r.err, name))
        fail_msg("'%s' is not in '%s'", name, r.err);
    cli_expect(&r, "generate " TINY "--lora $D/b.gguf --ids 2,5 -n 2", 65);
    assert_non_null(strstr(r.err, "with its adapters: logits are infinite or NaN; mythos verify finds the cause"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_says_that_logits_are_nan),
        cmocka_unit_test(a_job_says_it_in_the_row),
        cmocka_unit_test(the_other_answers_go_on),
        cmocka_unit_test(verify_names_the_tensor_of_an_adapter),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
