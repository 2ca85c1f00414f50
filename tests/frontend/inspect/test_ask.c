/* test_ask.c - mythos ask: whatever a model with random weights writes is an answer in sentences whose citations are
 * lines that it was shown, or the statement that there is none; in each form, from the cache and in the log. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/files.h"

#include <jansson.h>
#include <limits.h>

static cli_result r;

enum { N_TEXT = 10 };
static const struct {
    const char *path, *line[N_TEXT];
} file[] = {
    {"door.c",
     {"#include <stdio.h>", "", "/* Opens the door when the key turns. */", "int open_door(int key)", "{",
      "\tif (key == 7)", "\t\treturn 1; // \"the right key\"", "    puts(\"größer als der Schlüssel\");",
      "    return 0;", "}"}},
    {"src/gate.c", /* no line of it has a quote in common with the other file */
     {"#define KEY 8", "", "// WHICH KEY OPENS THE DOOR, AND WHICH NOT", "unsigned char door_key_opens(long bit)", "{",
      "  switch (bit) {", "  case KEY: printf(\"%s\\n\", \"straße\"); break;", "  default: exit(EXIT_FAILURE);", "  }",
      "}"}},
};
enum { N_FILE = sizeof(file) / sizeof(file[0]) };

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    cli_shell(&r, "mkdir -p $D/r/src");
    for (int i = 0; i < N_FILE; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/r/%s", cli_dir, file[i].path);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (int k = 0; k < N_TEXT; k++)
            fprintf(f, "%s\n", file[i].line[k]);
        fclose(f);
    }
    return r.code;
}

/* Runs a shell line and reads its JSON. */
static json_t *json_of(const char *line)
{
    json_error_t e;
    cli_shell(&r, line);
    json_t *j = json_loads(r.out, 0, &e);
    if (!j)
        fail_msg("%s: exit %d: %s: %s\n%s", line, r.code, e.text, r.err, r.out);
    return j;
}

static void check_citation(const json_t *c)
{
    const char *path = json_string_value(json_object_get(c, "file")),
               *quote = json_string_value(json_object_get(c, "quote"));
    const json_t *lines = json_object_get(c, "lines");
    const json_int_t first = json_integer_value(json_array_get(lines, 0)),
                     last = json_integer_value(json_array_get(lines, 1)),
                     at = json_integer_value(json_object_get(c, "quote_line"));
    int i = 0;
    assert_true(path && quote && quote[0]);
    assert_true(1 <= first && first <= at && at <= last && last <= N_TEXT);
    while (i < N_FILE && strcmp(path, file[i].path) != 0)
        i++;
    assert_true(i < N_FILE);
    assert_non_null(strstr(file[i].line[at - 1], quote));
}

/* Returns the number of sentences. */
static size_t check_answer(const json_t *j)
{
    const json_t *said = json_object_get(j, "sentences");
    const size_t n = json_array_size(said);
    assert_true(json_is_array(said) && !json_object_get(j, "findings"));
    assert_true(json_is_true(json_object_get(j, "answered")) == (n > 0));
    assert_true(json_is_string(json_object_get(j, "missing")) == (n == 0));
    assert_true(n <= 12); /* six of an answer, and six more of one with new context that was cut off */
    for (size_t i = 0; i < n; i++) {
        const json_t *s = json_array_get(said, i), *cited = json_object_get(s, "citations");
        assert_true(json_string_length(json_object_get(s, "text")) > 0);
        assert_true(json_array_size(cited) >= 1 && json_array_size(cited) <= 3);
        for (size_t k = 0; k < json_array_size(cited); k++)
            check_citation(json_array_get(cited, k));
    }
    return n;
}

/* The grammar lets no quote be written that does not hold: what was dropped was cut off. */
static void check_dropped(void)
{
    json_t *j = json_of("$M log show last --json");
    const json_t *dropped = json_object_get(j, "dropped");
    assert_true(json_is_array(dropped));
    for (size_t i = 0; i < json_array_size(dropped); i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(dropped, i), "why")),
                            "it was not finished");
    json_decref(j);
}

static void answers_are_well_formed(void **state)
{
    const int n_run = check_is_full() ? 100 : 12;
    int n_answered = 0, n_not = 0;
    char line[512];
    (void)state;
    for (int i = 0; i < n_run; i++) {
        snprintf(line, sizeof(line),
                 "$M ask 'which key opens the door' -C $D/r -m random:gemma3-tiny:q8_0:%d -n %d --temp 1.2 --seed %d "
                 "--format json -q --no-cache",
                 i + 1, 300 + 200 * (i % 5), i);
        json_t *j = json_of(line);
        const bool is_complete = json_is_true(json_object_get(j, "complete"));
        const size_t n = check_answer(j);
        assert_int_equal(r.code, !is_complete ? 3 : n ? 0 : 1);
        check_dropped();
        n_answered += n > 0;
        n_not += n == 0;
        json_decref(j);
    }
    printf("%d answered, %d not\n", n_answered, n_not);
    assert_true(n_answered > 0 && n_not > 0);
}

/* Code that takes several prompts: each answer cites what its own prompt shows. */
static void parts_cite_their_own_blocks(void **state)
{
    char line[512];
    size_t n_part = 0, n = 0;
    (void)state;
    for (int seed = 1; seed <= 20 && (n_part < 2 || n < 2); seed++) {
        snprintf(line, sizeof(line),
                 "$M ask 'which key opens the door' -C $D/r -m random:gemma3-tiny:q8_0:%d -n 1200 --temp 1.2 "
                 "--map-tokens 1 --max-prompt-tokens 1250 --format json -q --no-cache",
                 seed);
        json_t *j = json_of(line);
        n_part = (size_t)json_integer_value(json_object_get(j, "parts"));
        n += check_answer(j);
        check_dropped();
        json_decref(j);
    }
    assert_true(n_part >= 2 && n >= 2);
}

#define ASK "$M ask 'which key opens the door' -C $D/r -m random:gemma3-tiny:q8_0:3 -n 500 --temp 1.2 --seed 2 "

/* A second run takes the answer from the first and is the same; the log has it and makes it again. */
static void kept_and_replayed(void **state)
{
    static char first[sizeof(r.out)];
    (void)state;
    cli_shell(&r, ASK "--cache --format json -q");
    assert_true(r.code == 0 || r.code == 1 || r.code == 3);
    memcpy(first, r.out, sizeof(first));
    const int code = r.code;
    cli_shell(&r, ASK "--cache --format json");
    assert_string_equal(r.out, first);
    assert_int_equal(r.code, code);
    assert_non_null(strstr(r.err, "from earlier runs"));
    cli_shell(&r, "$M log replay last");
    if (r.code != 0)
        fail_msg("%s%s", r.out, r.err);
    /* also where settings about findings stand in the environment, which do not concern a question */
    cli_shell(&r, "export MYTHOS_FIND=both MYTHOS_FAIL_LEVEL=low MYTHOS_CONFIDENCE=0.9 MYTHOS_EXPLAIN=off; " ASK
                  "--cache --format json");
    assert_string_equal(r.out, first);
    assert_int_equal(r.code, code);
    cli_shell(&r, "$M log replay last");
    if (r.code != 0)
        fail_msg("%s%s", r.out, r.err);
}

/* Each form says the same: the sentences' quotes are in it. */
static void forms(void **state)
{
    (void)state;
    json_t *j = NULL;
    char line[512];
    for (int seed = 0; seed < 40 && (!j || !json_is_true(json_object_get(j, "answered"))); seed++) {
        json_decref(j);
        snprintf(line, sizeof(line),
                 "$M ask 'which key opens the door' -C $D/r -m random:gemma3-tiny:q8_0:%d -n 1000 --temp 1.2 "
                 "--format json -q --output text=$D/out.txt --output html=$D/out.html",
                 seed + 1);
        j = json_of(line);
    }
    const json_t *c =
        json_array_get(json_object_get(json_array_get(json_object_get(j, "sentences"), 0), "citations"), 0);
    assert_non_null(c);
    cli_shell(&r, "cat $D/out.txt");
    assert_int_equal(strncmp(r.out, "- ", 2), 0);
    snprintf(line, sizeof(line), "    %s:%lld", json_string_value(json_object_get(c, "file")),
             (long long)json_integer_value(json_array_get(json_object_get(c, "lines"), 0)));
    assert_non_null(strstr(r.out, line));
    assert_non_null(strstr(r.out, ": answered in "));
    cli_shell(&r, "cat $D/out.html");
    assert_non_null(strstr(r.out, line + 4));
    json_decref(j);
}

/* What is about findings wants --findings, and with it the report is one of findings. */
static void findings_on_request(void **state)
{
    static const char *const flags[] = {
        "--format sarif",  "--format jsonl",   "--output github=$D/x", "--two-pass",          "--patch $D/x",
        "--baseline $D/x", "--since HEAD",     "--rules other",        "--min-severity high", "--find both",
        "--no-explain",    "--confidence 0.9", "--judge-model x",      "--fail-level low"};
    char line[512];
    (void)state;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        snprintf(line, sizeof(line), "$M ask 'which key opens the door' -C $D/r %s " TINY, flags[i]);
        cli_shell(&r, line);
        assert_int_equal(r.code, 2);
        assert_non_null(strstr(r.err, "add --findings"));
    }
    cli_shell(&r, "$M ask 'which key opens the door' -C $D/r -n 20 -q --find model --fail-level high " TINY);
    assert_true(r.code == 1 || r.code == 3); /* they say what holds anyway */
    json_t *j = json_of("$M ask 'which key opens the door' -C $D/r --findings -n 20 --format json -q " TINY);
    assert_true(json_is_array(json_object_get(j, "findings")) && !json_object_get(j, "sentences"));
    json_decref(j);
}

/* A model that was trained for single definitions is not asked: the places are printed, and the run is incomplete. */
static void small_model_gives_places(void **state)
{
    (void)state;
    cli_shell(&r, "$M ask 'which key opens the door' -C $D/r --prompt-style compact --log $D/refused.db " TINY);
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.out, "door.c:"));
    assert_non_null(strstr(r.err, "answers no questions"));
    assert_non_null(strstr(r.err, "--findings"));
    json_t *j = json_of("$M ask 'which key opens the door' -C $D/r -m models/mythos-inspect.gguf --format json -q");
    const json_t *place = json_array_get(json_object_get(j, "places"), 0);
    assert_int_equal(r.code, 3);
    assert_true(json_is_false(json_object_get(j, "complete")) && json_is_false(json_object_get(j, "answered")));
    assert_true(json_is_string(json_object_get(place, "file")) &&
                json_array_size(json_object_get(place, "lines")) == 2);
    json_decref(j);
    cli_shell(&r, "$M log list --log $D/refused.db");
    assert_non_null(strstr(r.out, "exit 3 ")); /* the log has the code that the command ended with */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_well_formed),     cmocka_unit_test(kept_and_replayed),
        cmocka_unit_test(parts_cite_their_own_blocks), cmocka_unit_test(forms),
        cmocka_unit_test(findings_on_request),         cmocka_unit_test(small_model_gives_places),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
