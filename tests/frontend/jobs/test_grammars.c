/* test_grammars.c - generate and generate --jsonl under a grammar: every answer is a text of its grammar, or the
 * beginning of one that was cut at its length; it has the same bits alone and in company; what cannot go on says so. */
#include "engine/text/pushdown.h"
#include "tests/frontend/cli/cli_run.h"

#include <math.h>
#include <string.h>

enum { N_PROMPT = 20 };

#define JSON_TEXT                                                                                             \
    "root ::= object\n"                                                                                       \
    "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n"                          \
    "object ::= \"{\" (string \":\" value (\",\" string \":\" value)*)? \"}\"\n"                              \
    "array ::= \"[\" (value (\",\" value)*)? \"]\"\n"                                                         \
    "string ::= \"\\\"\" ([^\"\\\\\\x00-\\x1F\\x7F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u00\" [0-9a-f]{2})){0,6} " \
    "\"\\\"\"\n"                                                                                              \
    "number ::= \"-\"? (\"0\" | [1-9] [0-9]{0,5}) (\".\" [0-9]{1,3})?\n"

static const char *const grammars[] = {
    "root ::= \"yes\" | \"no\" | \"perhaps\"",
    "root ::= [A-Z] [a-z]{2,8} (\" \" [a-z]{1,8}){1,4} \".\"",
    JSON_TEXT,
    "root ::= \"-\" [^\\n\\x00-\\x1f]{3,40} \"\\n\" (\"-\" [^\\n]+ \"\\n\")*",
    "root ::= (\"\xe2\x82\xac\" [0-9]+ \";\")+ | .{2,9}",
    NULL, /* free */
};
enum { N_GRAMMAR = sizeof(grammars) / sizeof(grammars[0]), JSON = 2 };

static const char *const models[] = {"random:gemma3-tiny:f32", "random:gemma2-tiny:q4_0", "random:gemma3n-tiny:bf16",
                                     "random:gemma4-e-tiny:q8_0"};

static void write_prompts(uint32_t n)
{
    char path[64];
    uint64_t rng = 11;
    snprintf(path, sizeof(path), "%s/p.jsonl", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++) {
        json_t *row = json_object();
        char text[64];
        snprintf(text, sizeof(text), "w%u w%u", (unsigned)check_below(&rng, 1000), (unsigned)check_below(&rng, 1000));
        json_object_set_new(row, "text", json_string(text));
        json_object_set_new(row, "seed", json_integer(100 + i));
        if (grammars[i % N_GRAMMAR])
            json_object_set_new(row, "grammar", json_string(grammars[i % N_GRAMMAR]));
        json_dumpf(row, f, JSON_COMPACT);
        fputc('\n', f);
        json_decref(row);
    }
    fclose(f);
}

static json_t *read_rows(const char *name)
{
    char path[128], *line = NULL;
    size_t cap = 0;
    json_error_t e;
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "r");
    json_t *all = json_array();
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, &e);
        if (!row)
            fail_msg("%s: %.200s", e.text, line);
        json_array_append_new(all, row);
    }
    free(line);
    fclose(f);
    return all;
}

static void same_files(const char *a, const char *b)
{
    cli_result r;
    char line[256];
    snprintf(line, sizeof(line), "cmp $D/%s $D/%s", a, b);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s %s", r.out, r.err);
}

/* The text is whole when the answer has stopped, and else a beginning. The bytes of a character that was cut are
 * U+FFFD in it, so it is walked up to there. */
static void expect_of(const char *grammar, const json_t *row)
{
    const char *text = json_string_value(json_object_get(row, "text")),
               *finish = json_string_value(json_object_get(row, "finish_reason"));
    const size_t n = json_string_length(json_object_get(row, "text"));
    const char *cut = strcmp(finish, "length") == 0 ? strstr(text, "\xef\xbf\xbd") : NULL;
    myth_mem *mem;
    myth_gbnf *g;
    myth_pushdown *p;
    myth_automaton a;
    uint32_t at;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_gbnf_parse(&g, mem, grammar, strlen(grammar), "g", NULL, NULL), MYTH_OK);
    assert_int_equal(myth_pushdown_open(&p, mem, NULL), MYTH_OK);
    myth_pushdown_use(p, g, &a);
    a.start(a.self, &at);
    for (size_t i = 0; i < (cut ? (size_t)(cut - text) : n); i++)
        if (!a.step(a.self, &at, (uint8_t)text[i]))
            fail_msg("%s\nbyte %zu of \"%s\"", grammar, i, text);
    if (strcmp(finish, "stop") == 0)
        assert_true(a.may_end(a.self, &at));
    else
        assert_string_equal(finish, "length");
    myth_pushdown_close(p);
    myth_gbnf_close(g);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void answers_are_of_their_grammar(void **state)
{
    static const char *const how[] = {"", "--temp 1 ", "--temp 1.3 --top-k 30 --repeat-penalty 1.2 ",
                                      "--repeat-penalty 1.4 --ignore-eos "};
    enum { N_HOW = sizeof(how) / sizeof(how[0]), N_MODEL = sizeof(models) / sizeof(models[0]) };
    cli_result r;
    char line[512];
    uint32_t n_stop = 0, n_json = 0;
    (void)state;
    write_prompts(N_PROMPT);
    for (uint32_t m = 0; m < N_MODEL; m++)
        for (uint32_t h = 0; h < N_HOW; h++) {
            static const char *const at_once[] = {"1", "5", "16"};
            if (!check_is_full() && h != 1 && (m + h + check_seed()) % N_HOW != 0)
                continue;
            for (size_t i = 0; i < 3; i++) {
                if (i == 1 && h != 1 && !check_is_full())
                    continue;
                snprintf(line, sizeof(line), "generate -m %s --jsonl $D/p.jsonl %s-n 40 -np %s -o $D/o%s --resume off",
                         models[m], how[h], at_once[i], at_once[i]);
                cli_expect(&r, line, 0);
            }
            if (h == 1 || check_is_full())
                same_files("o1", "o5");
            same_files("o1", "o16");
            json_t *rows = read_rows("o16");
            assert_int_equal(json_array_size(rows), N_PROMPT);
            for (uint32_t i = 0; i < N_PROMPT; i++) {
                const json_t *row = json_array_get(rows, i);
                const char *grammar = grammars[i % N_GRAMMAR];
                const bool has_stopped = !strcmp(json_string_value(json_object_get(row, "finish_reason")), "stop");
                if (!grammar)
                    continue;
                expect_of(grammar, row);
                n_stop += has_stopped;
                if (i % N_GRAMMAR == JSON && has_stopped) {
                    json_error_t e;
                    json_t *value = json_loads(json_string_value(json_object_get(row, "text")), JSON_ALLOW_NUL, &e);
                    if (!value || !json_is_object(value))
                        fail_msg("%s: %s", e.text, json_dumps(row, 0));
                    json_decref(value);
                    n_json++;
                }
            }
            json_decref(rows);
        }
    printf("%u answers stopped, %u of them JSON\n", n_stop, n_json);
    assert_true(n_stop > 10 && n_json > 0);
}

/* The same grammar from the flag, from a file, and from a line; and the flag's for lines without one. */
static void flag_file_and_line(void **state)
{
    cli_result r;
    (void)state;
    cli_shell(&r, "printf 'root ::= [a-f]{4} \";\"\\n' >$D/g.gbnf; printf '%s\\n' "
                  "'{\"text\":\"one\",\"seed\":3,\"grammar\":\"root ::= [a-f]{4} \\\";\\\"\"}' "
                  "'{\"text\":\"one\",\"seed\":3}' '{\"text\":\"one\",\"seed\":3,\"grammar\":null}' >$D/p.jsonl");
    json_t *one = cli_json(&r, "generate " TINY "-p one --seed 3 --temp 1 --json --grammar 'root ::= [a-f]{4} \";\"'"),
           *file = cli_json(&r, "generate " TINY "-p one --seed 3 --temp 1 --json --grammar-file $D/g.gbnf");
    assert_true(json_equal(one, file));
    assert_string_equal(json_string_value(json_object_get(one, "finish_reason")), "stop");
    assert_int_equal(strlen(json_string_value(json_object_get(one, "text"))), 5);
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl --temp 1 --grammar-file $D/g.gbnf -o $D/o", 0);
    json_t *rows = read_rows("o");
    for (size_t i = 0; i < 3; i++)
        assert_true(json_equal(json_object_get(json_array_get(rows, i), "ids"), json_object_get(one, "ids")));
    json_decref(rows);
    json_decref(file);
    json_decref(one);
    /* What was finished under one grammar is not gone on with under another. */
    cli_shell(&r, "seq 1 900 | sed 's/.*/{\"text\":\"w&\"}/' >$D/p.jsonl");
    cli_interrupt(&r, "generate " TINY "--jsonl $D/p.jsonl -n 60 -np 2 -o $D/k --temp 1 "
                      "--grammar 'root ::= [a-z]{1,30} | [0-9]+'");
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 60 -np 2 -o $D/k --temp 1", 2);
    if (!strstr(r.err, "--grammar"))
        fail_msg("%s", r.err);
}

static void mistakes_are_rows(void **state)
{
    static const char *const why[] = {NULL,
                                      "line 2: \"grammar\":1:6: expected ::=", "line 3: \"grammar\": expected a string",
                                      "line 4: \"grammar\":2:1: rule \"b\" can begin with itself", NULL};
    cli_result r;
    (void)state;
    cli_shell(&r, "printf '%s\\n' '{\"text\":\"a\",\"grammar\":\"root ::= \\\"x\\\"\"}' "
                  "'{\"text\":\"a\",\"grammar\":\"root = 1\"}' "
                  "'{\"text\":\"a\",\"grammar\":7}' '{\"text\":\"a\",\"grammar\":\"root ::= b\\nb ::= b \\\"x\\\"\"}' "
                  "'\"free\"' >$D/p.jsonl");
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 5 -o $D/o", 3);
    json_t *rows = read_rows("o");
    assert_int_equal(json_array_size(rows), 5);
    for (size_t i = 0; i < 5; i++) {
        const char *error = json_string_value(json_object_get(json_array_get(rows, i), "error"));
        if (why[i] ? !error || strncmp(error, why[i], strlen(why[i])) != 0 : error != NULL)
            fail_msg("row %zu: %s", i, error ? error : "no error");
    }
    json_decref(rows);
}

/* Tokens by number and by text, which no text of an answer can spell. */
static void tokens_are_named(void **state)
{
    static const char *const how[] = {"", "--temp 1.2 --seed 5"};
    cli_result r;
    char line[256];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(line, sizeof(line),
                 "generate " TINY "-p a -n 9 --json %s --grammar 'root ::= <start_of_turn> \"ab\" <[4]>{2}'", how[i]);
        cli_expect(&r, line, 0);
        if (strncmp(r.out, "{\"ids\":[105,335,336,4,4],\"text\":\"ab\"", 36) != 0 ||
            !strstr(r.out, "\"finish_reason\":\"stop\""))
            fail_msg("%s", r.out);
    }
    cli_shell(&r, "printf '%s\n' '{\"text\":\"a\",\"grammar\":\"root ::= !<[4]>{7}\"}' "
                  "'{\"text\":\"a\",\"grammar\":\"root ::= <think>\"}' >$D/p.jsonl");
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 9 --temp 3 --top-p 1 --min-p 0 --top-k 0 -o $D/o", 3);
    json_t *rows = read_rows("o"), *ids = json_object_get(json_array_get(rows, 0), "ids");
    assert_int_equal(json_array_size(ids), 7);
    const char *error = json_string_value(json_object_get(json_array_get(rows, 1), "error"));
    if (!error || !strstr(error, "line 2: \"grammar\":1:10: <think> is no token of this model"))
        fail_msg("%s", error ? error : "no error");
    json_decref(rows);
    cli_expect(&r, "generate " TINY "-p a --grammar 'root ::= \"a\" <[512]>'", 65);
    assert_non_null(strstr(r.err, "--grammar:1:14: no such token: the vocabulary has ids up to 511"));
}

/* A schema by flag, by file and by line; every answer that stops is JSON of it. */
static void schemas(void **state)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":5,\"maximum\":"
        "70},\"s\":{\"enum\":[\"x\",\"yy\"]}},\"required\":[\"n\",\"s\"]}";
    cli_result r;
    char line[1024];
    json_error_t e;
    (void)state;
    snprintf(line, sizeof(line),
             "printf '%%s' '%s' >$D/s.json; for i in 1 2 3 4 5 6; do echo '{\"text\":\"w'$i'\",\"seed\":"
             "'$i',\"json_schema\":%s}'; done >$D/p.jsonl; sed 's/,\"json.*/}/' $D/p.jsonl >$D/q.jsonl",
             schema, schema);
    cli_shell(&r, line);
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 60 --temp 1 -np 4 -o $D/line", 0);
    cli_expect(&r, "generate " TINY "--jsonl $D/q.jsonl -n 60 --temp 1 -np 1 -o $D/file -jf $D/s.json", 0);
    same_files("line", "file");
    json_t *rows = read_rows("line");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(row, "finish_reason")), "stop") != 0)
            continue;
        json_t *v = json_loads(json_string_value(json_object_get(row, "text")), 0, &e);
        assert_non_null(v);
        const json_int_t n = json_integer_value(json_object_get(v, "n"));
        assert_true(n >= 5 && n <= 70 && json_is_string(json_object_get(v, "s")) && json_object_size(v) == 2);
        json_decref(v);
    }
    json_decref(rows);
    cli_shell(&r, "printf '%s\\n' '{\"text\":\"a\",\"json_schema\":{\"contains\":{}}}' "
                  "'{\"text\":\"a\",\"json_schema\":{},\"grammar\":\"root ::= .\"}' >$D/p.jsonl");
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 5 -o $D/o --resume off", 3);
    rows = read_rows("o");
    assert_non_null(
        strstr(json_string_value(json_object_get(json_array_get(rows, 0), "error")), "\"contains\" is not supported"));
    assert_non_null(strstr(json_string_value(json_object_get(json_array_get(rows, 1), "error")), "give one of them"));
    json_decref(rows);
}

/* A grammar that reads "bbb..." in ever more ways: the answer ends where the states are full, and says so. */
static void what_cannot_go_on_says_so(void **state)
{
    cli_result r;
    (void)state;
    cli_expect(&r,
               "generate " TINY
               "-p a -n 3000 -c 4096 --json --grammar 'root ::= (\"b\"{1,900} | [bc]{1,800}){0,900000} \";\"'",
               3);
    if (!strstr(r.out, "\"finish_reason\":\"grammar\"") || !strstr(r.err, "in too many ways"))
        fail_msg("%s%s", r.out, r.err);
    cli_shell(&r, "printf '%s\\n' '{\"text\":\"a\",\"grammar\":\"root ::= (\\\"b\\\"{1,900} | [bc]{1,800}){0,900000} "
                  "\\\";\\\"\"}' "
                  "'{\"text\":\"a\",\"grammar\":\"root ::= [0-9]{30}\"}' >$D/p.jsonl");
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 3000 -c 4096 -np 2 -o $D/o", 0);
    json_t *rows = read_rows("o");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "finish_reason")), "grammar");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 1), "finish_reason")), "stop");
    json_decref(rows);
}

/* The K best ids of every place, best first, and log-probabilities that are some. */
static void expect_scores(const json_t *row, size_t k)
{
    const json_t *chosen = json_object_get(row, "logprobs"), *top = json_object_get(row, "top_logprobs"),
                 *ids = json_object_get(row, "ids");
    assert_int_equal(json_array_size(chosen), json_array_size(ids));
    assert_int_equal(json_array_size(top), json_array_size(ids));
    for (size_t i = 0; i < json_array_size(top); i++) {
        const json_t *list = json_array_get(top, i), *own = json_array_get(chosen, i);
        double before = 0.0;
        assert_true(json_is_number(own) && json_number_value(own) <= 0.0);
        assert_int_equal(json_array_size(list), k);
        for (size_t b = 0; b < k; b++) {
            const json_t *one = json_array_get(list, b);
            const double v = json_number_value(json_object_get(one, "logprob"));
            if (v > before || (json_equal(json_object_get(one, "id"), json_array_get(ids, i)) &&
                               v != json_number_value(own))) /* NOLINT: the same number printed twice */
                fail_msg("place %zu: %s", i, json_dumps(row, 0));
            before = v;
        }
    }
}

/* What is written of an answer are the model's own log-probabilities, also where its grammar allows none of the best
 * ids: those that `logprobs` has of the same prompt and ids. */
static void scores_are_the_models(void **state)
{
    enum { K = 9 };
    static const char *const how[] = {"", "--temp 1 "};
    cli_result r;
    char line[256], path[64];
    (void)state;
    write_prompts(N_PROMPT);
    for (size_t h = 0; h < sizeof(how) / sizeof(how[0]); h++) {
        snprintf(line, sizeof(line), "generate " TINY "--jsonl $D/p.jsonl -n 8 --top-logprobs 9 %s-o $D/s%zu", how[h],
                 h);
        cli_expect(&r, line, 0);
        snprintf(path, sizeof(path), "s%zu", h);
        json_t *rows = read_rows(path), *prompts = read_rows("p.jsonl");
        snprintf(path, sizeof(path), "%s/q.jsonl", cli_dir);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (size_t i = 0; i < N_PROMPT; i++) {
            json_t *q = json_pack("{sOs[O]}", "text", json_object_get(json_array_get(prompts, i), "text"),
                                  "completions", json_object_get(json_array_get(rows, i), "ids"));
            expect_scores(json_array_get(rows, i), K);
            json_dumpf(q, f, JSON_COMPACT);
            fputc('\n', f);
            json_decref(q);
        }
        fclose(f);
        snprintf(line, sizeof(line), "logprobs " TINY "$D/q.jsonl -o $D/l%zu --top-k 9", h);
        cli_expect(&r, line, 0);
        snprintf(path, sizeof(path), "l%zu", h);
        json_t *model = read_rows(path);
        for (size_t i = 0; i < N_PROMPT; i++) {
            const json_t *row = json_array_get(rows, i), *of = json_array_get(model, i),
                         *first = json_array_get(json_object_get(row, "top_logprobs"), 0),
                         *own = json_object_get(row, "logprobs"),
                         *want = json_object_get(json_array_get(json_object_get(of, "completions"), 0), "logprobs");
            for (size_t b = 0; b < K; b++)
                if (!json_equal(json_object_get(json_array_get(first, b), "id"),
                                json_object_get(json_array_get(json_object_get(of, "top"), b), "id")))
                    fail_msg("prompt %zu: %s\n%s", i, json_dumps(row, 0), json_dumps(of, 0));
            for (size_t k = 0; k < json_array_size(own); k++) {
                const double a = json_number_value(json_array_get(own, k)),
                             b = json_number_value(json_array_get(want, k));
                if (fabs(a - b) > 1e-3)
                    fail_msg("prompt %zu, id %zu: %g and %g", i, k, a, b);
            }
        }
        json_decref(model);
        json_decref(prompts);
        json_decref(rows);
    }
}

static void memory_is_as_planned(void **state)
{
    cli_result r;
    (void)state;
    write_prompts(24);
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 30 -np 7 --temp 1 -o $D/m --mem-report $D/mem.json", 0);
    cli_expect_planned("own grammars");
    cli_expect(&r, "generate " TINY "--jsonl $D/p.jsonl -n 30 -np 1 -o $D/m --resume off --mem-report $D/mem.json", 0);
    cli_expect_planned("one at once");
    cli_expect(&r, "generate " TINY "-p x -n 30 --grammar 'root ::= [a-z]+' --mem-report $D/mem.json", 0);
    cli_expect_planned("one answer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_of_their_grammar),
        cmocka_unit_test(flag_file_and_line),
        cmocka_unit_test(mistakes_are_rows),
        cmocka_unit_test(tokens_are_named),
        cmocka_unit_test(schemas),
        cmocka_unit_test(what_cannot_go_on_says_so),
        cmocka_unit_test(scores_are_the_models),
        cmocka_unit_test(memory_is_as_planned),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
