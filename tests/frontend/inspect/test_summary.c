/* test_summary.c - inspect-diff --summary: whatever a model with random weights writes about a change, its sentences
 * cite lines of the new side that it was shown; in each form, from the cache and in the log; and the findings are those
 * of a run without a summary. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/files.h"

#include <jansson.h>
#include <limits.h>

static cli_result r;

/* A repository in $D/r: door.c loses its guard, gate.c gets a longer condition, fresh.c is new, shop.c is deleted. */
#define REPO                                                                                                          \
    "rm -rf $D/r && mkdir -p $D/r/src && cd $D/r && git init -q && git config user.email a@b && "                     \
    "git config user.name a && printf '#include <stdio.h>\\n\\n/* Opens the door. */\\nint open_door(int key)\\n{\\n" \
    "    if (key < 0)\\n        return -1; /* refused_key */\\n    return key == 7;\\n}\\n' >door.c && "              \
    "printf 'unsigned char door_key_opens(long bit)\\n{\\n  return bit == 8;\\n}\\n' >src/gate.c && "                 \
    "printf 'int shop_prices(void)\\n{\\n    return 1;\\n}\\n' >shop.c && git add -A && git commit -qm one && "       \
    "sed -i '/key < 0/d; /refused_key/d; s/key == 7/key == 77/' door.c && "                                           \
    "sed -i 's/bit == 8/bit == 16 || bit == 1024/' src/gate.c && git rm -q shop.c && "                                \
    "printf 'int fresh_code_of_a_door(void)\\n{\\n    return 1234567890;\\n}\\n' >fresh.c && git add -A && cd - "     \
    ">/dev/null"
#define DIFF "cd $D/r && $M inspect-diff --log $D/runs.db --fail-level never "

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    static char bin[PATH_MAX];
    assert_non_null(realpath(cli_bin(), bin));
    setenv("MYTHOS_BIN", bin, 1);
    cli_shell(&r, REPO);
    return r.code;
}

static json_t *parsed(const char *line)
{
    json_error_t e;
    json_t *j = json_loads(r.out, 0, &e);
    if (!j)
        fail_msg("%s: exit %d: %s: %s\n%s", line, r.code, e.text, r.err, r.out);
    return j;
}

static json_t *json_of(const char *line)
{
    cli_shell(&r, line);
    return parsed(line);
}

/* Whether line n of a file in the repository, as it is now, has the text. */
static bool has_text(const char *path, json_int_t n, const char *text)
{
    char whole[PATH_MAX], line[1024] = "";
    snprintf(whole, sizeof(whole), "%s/r/%s", cli_dir, path);
    FILE *f = fopen(whole, "r");
    if (!f)
        return false;
    for (json_int_t i = 0; i < n; i++)
        if (!fgets(line, sizeof(line), f))
            line[0] = '\0';
    fclose(f);
    return strstr(line, text) != NULL;
}

/* Returns the number of sentences. */
static size_t check_summary(const json_t *of)
{
    const json_t *said = json_object_get(of, "sentences");
    const size_t n = json_array_size(said);
    assert_true(json_is_array(said) && n <= 6);
    assert_true(json_is_true(json_object_get(of, "answered")) == (n > 0));
    assert_true(json_is_string(json_object_get(of, "missing")) == (n == 0));
    for (size_t i = 0; i < n; i++) {
        const json_t *s = json_array_get(said, i), *cited = json_object_get(s, "citations");
        assert_true(json_string_length(json_object_get(s, "text")) > 0);
        assert_true(json_array_size(cited) >= 1 && json_array_size(cited) <= 3);
        for (size_t k = 0; k < json_array_size(cited); k++) {
            const json_t *c = json_array_get(cited, k), *lines = json_object_get(c, "lines");
            const char *path = json_string_value(json_object_get(c, "file")),
                       *quote = json_string_value(json_object_get(c, "quote"));
            const json_int_t first = json_integer_value(json_array_get(lines, 0)),
                             last = json_integer_value(json_array_get(lines, 1)),
                             at = json_integer_value(json_object_get(c, "quote_line"));
            assert_true(path && quote && quote[0] && 1 <= first && first <= at && at <= last);
            assert_true(has_text(path, at, quote)); /* so it is no removed line: they stand in no file */
        }
    }
    return n;
}

static void summaries_are_well_formed(void **state)
{
    const int n_run = check_is_full() ? 100 : 6;
    int n_said = 0, n_not = 0;
    char line[512];
    (void)state;
    for (int i = 0; i < n_run; i++) {
        snprintf(line, sizeof(line),
                 DIFF
                 "--summary -m random:gemma3-tiny:q8_0:%d -n %d --temp 1.2 --seed %d --format json -q --no-cache %s",
                 i + 1, 300 + 200 * (i % 2), i, i % 3 ? "" : "--two-pass");
        json_t *j = json_of(line);
        const json_t *s = json_object_get(j, "change_summary");
        const bool is_complete = json_is_true(json_object_get(j, "complete"));
        const size_t n = check_summary(s);
        assert_int_equal(r.code, !is_complete ? 3 : n ? 0 : 1);
        assert_true(json_is_array(json_object_get(j, "findings")) && !json_object_get(s, "why_none"));
        assert_int_equal(json_integer_value(json_object_get(s, "changed_lines")), 14);
        assert_int_equal(json_integer_value(json_object_get(s, "shown_lines")), 14);
        n_said += n > 0;
        n_not += n == 0;
        json_decref(j);
    }
    printf("%d with sentences, %d without\n", n_said, n_not);
    assert_true(n_said > 0 && n_not > 0);
}

/* The model is shown what was removed and what stands there now; the prompts of the findings are as without a summary,
 * and so are the findings. */
static void beside_the_findings(void **state)
{
#define RUN "-m random:gemma3-tiny:q8_0:3 -n 200 --temp 1.2 --seed 2 --format json -q --no-cache "
    (void)state;
    json_t *with = json_of(DIFF "--summary " RUN), *log = json_of("$M log show last --log $D/runs.db --prompts --json"),
           *without = json_of(DIFF RUN), *log_of = json_of("$M log show last --log $D/runs.db --json");
    const json_t *x = json_object_get(log, "exchanges"), *y = json_object_get(log_of, "exchanges");
    assert_int_equal(json_array_size(x), json_array_size(y) + 1);
    for (size_t i = 0; i < json_array_size(y); i++)
        assert_true(json_equal(json_object_get(json_array_get(x, i), "ids_hash"),
                               json_object_get(json_array_get(y, i), "ids_hash")));
    assert_true(json_equal(json_object_get(with, "findings"), json_object_get(without, "findings")));
    assert_true(json_equal(json_object_get(with, "files"), json_object_get(without, "files")));
    assert_true(json_equal(json_object_get(with, "parts"), json_object_get(without, "parts")));
    assert_true(json_equal(json_object_get(log, "pieces"), json_object_get(log_of, "pieces")));
    assert_null(json_object_get(without, "change_summary"));
    x = json_array_get(x, json_array_size(y));
    assert_string_equal(json_string_value(json_object_get(x, "kind")), "summary");
    const char *prompt = json_string_value(json_object_get(x, "prompt"));
    static const char *const shown[] = {"-|        return -1; /* refused_key */\n",
                                        "6|    return key == 77;\n",
                                        "3|  return bit == 16 || bit == 1024;\n",
                                        "-|  return bit == 8;\n",
                                        "<removed path=\"shop.c\">\n-|int shop_prices(void)\n",
                                        "fresh.c: changed 1-4\n",
                                        "at most six sentences"};
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        if (!prompt || !strstr(prompt, shown[i]))
            fail_msg("not in the prompt: %s\n%s", shown[i], prompt ? prompt : "");
    json_decref(with);
    json_decref(log);
    json_decref(without);
    json_decref(log_of);
}

/* Of a change that takes several prompts the summary's one has what fits, and the report says how much that is. */
static void of_a_large_change(void **state)
{
    char line[512];
    size_t n = 0;
    (void)state;
    cli_shell(&r, REPO " && for i in $(seq 1 60); do printf 'int number_%d(int n)\\n{\\n    return n + %d;\\n}\\n\\n' "
                       "$i $i; done >$D/r/many.c && git -C $D/r add -A");
    assert_int_equal(r.code, 0);
    for (int seed = 1; seed <= 20 && !n; seed++) {
        snprintf(line, sizeof(line),
                 DIFF
                 "--summary -m random:gemma3-tiny:q8_0:%d -n 300 --temp 1.2 --map-tokens 1 --max-prompt-tokens 4000 "
                 "--format json -q --no-cache --output text=$D/out.txt",
                 seed);
        json_t *j = json_of(line);
        const json_t *s = json_object_get(j, "change_summary");
        const json_int_t n_line = json_integer_value(json_object_get(s, "changed_lines")),
                         n_shown = json_integer_value(json_object_get(s, "shown_lines"));
        assert_true(json_integer_value(json_object_get(j, "parts")) >= 2);
        assert_true(json_integer_value(json_object_get(s, "prompt_tokens")) <= 4000);
        assert_true(n_line == 14 + 300 && n_shown >= 14 && n_shown < n_line);
        n = check_summary(s);
        snprintf(line, sizeof(line), "(from %lld of %lld changed lines: ", (long long)n_shown, (long long)n_line);
        cli_shell(&r, "cat $D/out.txt");
        assert_true(!strstr(r.out, line) == !n);
        json_decref(j);
    }
    assert_true(n > 0);
    cli_shell(&r, REPO);
}

/* The plan has the summary's prompt and answer: a run fits exactly the memory that the dry run says. */
static void planned(void **state)
{
    char line[512];
    (void)state;
    static const char *const flags[] = {"--two-pass", "--max-prompt-tokens 4000 --map-tokens 1"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        snprintf(line, sizeof(line), DIFF "--summary -q " TINY "-n 300 --format json --dry-run --no-cache %s",
                 flags[i]);
        json_t *j = json_of(line);
        const json_t *s = json_object_get(j, "change_summary"), *parts = json_object_get(j, "parts");
        json_int_t sum = json_integer_value(json_object_get(s, "prompt_tokens"));
        assert_true(sum > 0 && json_array_size(json_object_get(s, "blocks")) == 3);
        for (size_t k = 0; k < json_array_size(parts); k++)
            sum += json_integer_value(json_object_get(json_array_get(parts, k), "prompt_tokens"));
        assert_int_equal(json_integer_value(json_object_get(j, "prompt_tokens")), sum);
        snprintf(line, sizeof(line), DIFF "--summary -q " TINY "-n 300 --format json --no-cache %s --mem-limit %lld",
                 flags[i], (long long)json_integer_value(json_object_get(j, "total_bytes")));
        json_decref(j);
        j = json_of(line);
        assert_int_equal(json_integer_value(json_object_get(j, "prompt_tokens")), sum);
        assert_true(r.code == 0 || r.code == 1 || r.code == 3);
        json_decref(j);
    }
}

#define KEPT DIFF "--summary -m random:gemma3-tiny:q8_0:3 -n 250 --temp 1.2 --seed 2 --format json -q --cache "

/* A second run takes both answers from the first and is the same; the log has them and makes them again. */
static void kept_and_replayed(void **state)
{
    static char first[sizeof(r.out)];
    (void)state;
    cli_shell(&r, KEPT);
    memcpy(first, r.out, sizeof(first));
    const int code = r.code;
    cli_shell(&r,
              "cd $D/r && $M inspect-diff --no-log --fail-level never --summary -m random:gemma3-tiny:q8_0:3 -n 250 "
              "--temp 1.2 --seed 2 --format json --cache");
    assert_string_equal(r.out, first);
    assert_int_equal(r.code, code);
    if (!strstr(r.err, "2 of 2 answers from earlier runs"))
        fail_msg("not both answers: %s", r.err);
    cli_shell(&r, "cd $D/r && $M log replay last --log $D/runs.db");
    if (r.code != 0 || !strstr(r.out, "2 answers"))
        fail_msg("exit %d: %s%s", r.code, r.out, r.err);
    json_t *j = json_of(KEPT "--dry-run");
    assert_int_equal(json_integer_value(json_object_get(j, "kept_parts")), 2);
    json_decref(j);
}

static void read_out(const char *name)
{
    char line[64];
    snprintf(line, sizeof(line), "cat $D/out.%s", name);
    cli_shell(&r, line);
}

/* Each form that has a place for a summary shows it, above the findings; the others are as without one. */
static void forms(void **state)
{
    (void)state;
    enum { N_SEED = 40, LIKELY = 28 }; /* few of these models end their answer: one that did goes first */
    json_t *j = NULL, *s = NULL, *own;
    char line[512];
    int seed = 0;
    for (int i = 0; i < N_SEED && !json_is_true(json_object_get(s, "answered")); i++) {
        seed = 1 + (LIKELY - 1 + i) % N_SEED;
        json_decref(j);
        snprintf(line, sizeof(line),
                 DIFF "--summary -m random:gemma3-tiny:q8_0:%d -n 700 --temp 1.2 -q --format json "
                      "--output text=$D/out.text --output html=$D/out.html --output sarif=$D/out.sarif "
                      "--output github=$D/out.github --output jsonl=$D/out.jsonl --output rdjsonl=$D/out.rdjsonl "
                      "--output checkstyle=$D/out.checkstyle --output codequality=$D/out.codequality",
                 seed);
        j = json_of(line);
        s = json_is_true(json_object_get(j, "complete")) ? json_object_get(j, "change_summary") : NULL;
    }
    snprintf(line, sizeof(line),
             DIFF "-m random:gemma3-tiny:q8_0:%d -n 700 --temp 1.2 -q --output rdjsonl=$D/a.rdjsonl "
                  "--output checkstyle=$D/a.checkstyle --output codequality=$D/a.codequality",
             seed);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    const json_t *said = json_array_get(json_object_get(s, "sentences"), 0),
                 *c = json_array_get(json_object_get(said, "citations"), 0);
    assert_non_null(c);
    char place[256];
    snprintf(place, sizeof(place), "%s:%lld", json_string_value(json_object_get(c, "file")),
             (long long)json_integer_value(json_array_get(json_object_get(c, "lines"), 0)));
    read_out("text");
    assert_int_equal(strncmp(r.out, "the change:\n- ", 14), 0);
    assert_non_null(strstr(r.out, place));
    read_out("html");
    assert_non_null(strstr(r.out, "<h2>The change</h2>"));
    assert_non_null(strstr(r.out, place));
    assert_true(strstr(r.out, "<h2>The change</h2>") < strstr(r.out, "<main id=\"findings\">"));
    assert_non_null(strstr(r.out, "places=all('#findings .place')")); /* the filters hide no sentence */
    read_out("github");
    assert_int_equal(strncmp(r.out, "::notice title=The change::- ", 29), 0);
    assert_non_null(strstr(r.out, place));
    read_out("sarif");
    own = parsed("sarif");
    const json_t *of_run = json_object_get(
        json_object_get(json_array_get(json_object_get(own, "runs"), 0), "properties"), "change_summary");
    assert_int_equal(json_array_size(json_object_get(of_run, "sentences")),
                     json_array_size(json_object_get(s, "sentences")));
    assert_int_equal(json_integer_value(json_object_get(of_run, "shown_lines")), 14);
    json_decref(own);
    cli_shell(&r, "tail -n 1 $D/out.jsonl");
    own = parsed("jsonl");
    assert_true(json_equal(json_object_get(json_object_get(own, "summary"), "change_summary"), s));
    json_decref(own);
    cli_shell(&r, "cmp $D/a.rdjsonl $D/out.rdjsonl && cmp $D/a.checkstyle $D/out.checkstyle && "
                  "cmp $D/a.codequality $D/out.codequality");
    assert_int_equal(r.code, 0);
    json_decref(j);
}

/* A model that was trained for single definitions is not asked: every form says so, the findings are there, and the run
 * is incomplete. */
static void small_model_says_why(void **state)
{
    static const char why[] = "this model writes no summary";
    (void)state;
    json_t *j = json_of(
               DIFF
               "--summary -m $OLDPWD/models/mythos-inspect.gguf --cache --format json -q --output text=$D/out.text "
               "--output html=$D/out.html --output sarif=$D/out.sarif --output github=$D/out.github "
               "--output jsonl=$D/out.jsonl --output rdjsonl=$D/out.rdjsonl "
               "--output checkstyle=$D/out.checkstyle --output codequality=$D/out.codequality"),
           *s = json_object_get(j, "change_summary");
    assert_int_equal(r.code, 3);
    assert_true(json_is_false(json_object_get(j, "complete")) && json_is_false(json_object_get(s, "answered")));
    assert_int_equal(json_array_size(json_object_get(s, "sentences")), 0);
    assert_int_equal(strncmp(json_string_value(json_object_get(s, "why_none")), why, sizeof(why) - 1), 0);
    static const char *const form[] = {"text", "html", "sarif", "github", "jsonl", "checkstyle", "codequality"};
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        read_out(form[i]);
        if (!strstr(r.out, why))
            fail_msg("%s does not say why:\n%s", form[i], r.out);
    }
    json_t *without = json_of(DIFF "-m $OLDPWD/models/mythos-inspect.gguf --cache --format json -q");
    assert_true(json_equal(json_object_get(j, "findings"), json_object_get(without, "findings")));
    assert_int_equal(r.code, 0);
    json_decref(without);
    json_decref(j);
}

/* An answer that was cut off makes the report incomplete; a change without lines to inspect does not. */
static void cut_off_and_nothing(void **state)
{
    (void)state;
    json_t *j = json_of(DIFF "--summary " TINY "-n 3 --format json -q");
    assert_int_equal(r.code, 3);
    assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "length");
    json_decref(j);
    cli_shell(&r, "cd $D/r && git add -A && git commit -qm two");
    j = json_of(DIFF "--summary " TINY "--format json -q");
    assert_int_equal(r.code, 0);
    assert_true(json_is_true(json_object_get(j, "complete")));
    assert_non_null(json_object_get(json_object_get(j, "change_summary"), "why_none"));
    json_decref(j);
    cli_shell(&r, REPO);
}

/* A form without a place for it is refused, unless another one shows it. */
static void refused(void **state)
{
    (void)state;
    cli_shell(&r, DIFF "--summary --format rdjsonl " TINY);
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "rdjsonl has no place for one"));
    assert_non_null(strstr(r.err, "--output text=FILE"));
    cli_shell(&r, DIFF "--summary --format checkstyle --output json=$D/out.json -n 300 -q " TINY);
    assert_true(r.code == 0 || r.code == 1 || r.code == 3);
    cli_shell(&r, "cat $D/out.json");
    assert_non_null(strstr(r.out, "change_summary"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_are_well_formed),
        cmocka_unit_test(beside_the_findings),
        cmocka_unit_test(of_a_large_change),
        cmocka_unit_test(planned),
        cmocka_unit_test(kept_and_replayed),
        cmocka_unit_test(forms),
        cmocka_unit_test(small_model_says_why),
        cmocka_unit_test(cut_off_and_nothing),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
