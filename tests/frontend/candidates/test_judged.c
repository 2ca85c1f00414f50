/* test_judged.c - inspect --find candidates and both: the findings are the places that mythos candidates --judge gives
 * the probability, with the report's filters, marks, forms and log as for any finding. */
#include "tests/frontend/cli/cli_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL "-m random:gemma3-tiny:q8_0 "

static cli_result r;

/* What is searched: $D/src has examples of many rules, $D/few of several in each language. Judging takes the
 * time of these tests, so only what is about each rule asks about the first. */
static struct searched {
    const char *const folder;
    json_t *places;
    double least; /* a probability that about half of the places reach */
} src = {.folder = "src"}, few = {.folder = "few"};

static json_t *run_json(const char *args, int code)
{
    json_error_t e;
    cli_expect(&r, args, code);
    json_t *all = json_loads(r.out, 0, &e);
    if (!all)
        fail_msg("%s: %s", e.text, r.out);
    return all;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static json_int_t line_of(const json_t *o, size_t i)
{
    return json_integer_value(json_array_get(json_object_get(o, "lines"), i));
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static double probability_of(const json_t *finding)
{
    return json_number_value(json_object_get(json_object_get(finding, "candidate"), "probability"));
}

static bool is_rule(const json_t *finding, const char *rule) { return strcmp(text_of(finding, "rule"), rule) == 0; }

/* The place of a finding that no answer has; NULL: there is none, or the finding says something else about it. Its
 * probability may be that of another place that says the same. */
static const json_t *place_of(const json_t *finding)
{
    const json_t *p, *c = json_object_get(finding, "candidate");
    size_t i;
    json_array_foreach(src.places, i, p)
    {
        if (strcmp(name_of(text_of(p, "file")), name_of(text_of(finding, "file"))) == 0 &&
            strcmp(text_of(p, "rule"), text_of(c, "rule")) == 0 && is_rule(finding, text_of(c, "rule")) &&
            json_integer_value(json_object_get(p, "line")) == line_of(finding, 0) &&
            json_number_value(json_object_get(p, "probability")) < probability_of(finding) + 1e-6 &&
            strstr(text_of(finding, "why"), text_of(p, "why")))
            return p;
    }
    return NULL;
}

static bool has_rules(void) { return json_array_size(src.places) > 0; }

/* Whether both places say of one call that nobody looks at its result. */
static bool is_same_call(const json_t *a, const json_t *b)
{
    const json_t *from = json_object_get(a, "call_offset");
    const bool is_about[] = {is_rule(a, "unchecked-return") || is_rule(a, "missing-null-check"),
                             is_rule(b, "unchecked-return") || is_rule(b, "missing-null-check")};
    return from && is_about[0] && is_about[1] && !is_rule(a, text_of(b, "rule")) &&
           strcmp(text_of(a, "file"), text_of(b, "file")) == 0 && json_equal(from, json_object_get(b, "call_offset"));
}

static void places_that_pass_are_findings(void **state)
{
    (void)state;
    char line[256];
    if (!has_rules())
        check_skip("no rules in this build");
    snprintf(line, sizeof(line),
             "inspect $D/src " MODEL "--find candidates --no-explain --confidence %.9f --format json", src.least);
    json_t *all = run_json(line, 1), *list = json_object_get(all, "findings"), *p, *f, *o;
    size_t i, k, n_pass = 0;
    assert_true(json_array_size(list) > 0);
    json_array_foreach(list, i, f)
    {
        assert_non_null(place_of(f));
        assert_true(probability_of(f) >= src.least - 1e-6);
        assert_string_not_equal(text_of(json_object_get(f, "candidate"), "facts"), "");
        assert_string_not_equal(text_of(f, "status"), "confirmed");
    }
    /* Every place that passes has a finding about its line and rule, but of those that say the same of a call only one
     * that passes. A finding has the probability of the most probable of them. */
    json_array_foreach(src.places, i, p)
    {
        bool is_there = false;
        if (json_number_value(json_object_get(p, "probability")) < src.least + 1e-6)
            continue;
        n_pass++;
        json_array_foreach(list, k, f) is_there =
            is_there ||
            (line_of(f, 0) == json_integer_value(json_object_get(p, "line")) && is_rule(f, text_of(p, "rule")));
        bool is_said = false;
        json_array_foreach(src.places, k, o) is_said =
            is_said || (is_same_call(p, o) && json_number_value(json_object_get(o, "probability")) >= src.least - 1e-6);
        assert_true(is_there || is_said);
    }
    json_array_foreach(list, i, f)
    {
        double most = json_number_value(json_object_get(place_of(f), "probability"));
        json_array_foreach(src.places, k, p) if (is_same_call(place_of(f), p)) most =
            fmax(most, json_number_value(json_object_get(p, "probability")));
        assert_true(fabs(most - probability_of(f)) < 1e-6);
    }
    json_array_foreach(list, i, f) json_array_foreach(list, k, p) assert_false(is_same_call(place_of(f), place_of(p)));
    assert_true(n_pass > 0 && n_pass < json_array_size(src.places));
    assert_true(json_is_true(json_object_get(all, "complete")));
    assert_int_equal(json_integer_value(json_object_get(all, "parts")), 0);
    assert_int_equal(json_integer_value(json_object_get(all, "prompt_tokens")), 0);
    json_decref(all);

    cli_expect(&r, "inspect $D/few " MODEL "--find candidates --no-explain --confidence 1", 0);
    cli_expect(&r, "inspect $D/few/a.c " MODEL "--find candidates --no-explain --confidence 0 --fail-level never", 0);
    assert_non_null(strstr(r.out, "facts:"));
    assert_non_null(strstr(r.out, "with a probability of"));
}

static void filters_and_marks_hold(void **state)
{
    (void)state;
    json_t *f;
    size_t i;
    if (!has_rules())
        check_skip("no rules in this build");
    json_t *all = run_json("inspect $D/src " MODEL
                           "--find candidates --no-explain --confidence 0 --rules missing-null-check,copied-block "
                           "--min-severity medium --format json",
                           1);
    assert_true(json_array_size(json_object_get(all, "findings")) > 0);
    json_array_foreach(json_object_get(all, "findings"), i, f)
        assert_true(is_rule(f, "missing-null-check") || is_rule(f, "copied-block"));
    json_decref(all);
    /* The others were not even judged: the model was asked about fewer. */
    unsigned n_judged = 0, n_place = 0;
    const char *note = strstr(r.err, " places judged");
    while (note && note > r.err && note[-1] != '\n')
        note--;
    assert_true(note && sscanf(note, "%u of %u places judged", &n_judged, &n_place) == 2);
    assert_int_equal(n_judged, n_place);
    assert_true(n_place > 0 && n_place < json_array_size(src.places));
    /* A baseline knows them; a comment excuses one. */
    cli_expect(&r,
               "inspect $D/few " MODEL
               "--find candidates --no-explain --confidence 0 --baseline $D/base.json --update-baseline",
               0);
    cli_expect(&r, "inspect $D/few " MODEL "--find candidates --no-explain --confidence 0 --baseline $D/base.json", 0);
    cli_shell(&r, "mkdir -p $D/one && printf 'char *f(int n)\\n{\\n    char *p = malloc(n * 4);\\n    p[0] = 1; /* "
                  "mythos:ignore[*] known */\\n    return p;\\n}\\n' >$D/one/i.c");
    all = run_json("inspect $D/one " MODEL "--find candidates --confidence 0 --rules missing-null-check --format json "
                   "--fail-level never",
                   0);
    assert_true(json_integer_value(json_object_get(all, "suppressed_findings")) > 0);
    json_decref(all);
}

/* Rules that no answer of a model has are ids of the reports, of --rules and of comments, where places are judged. */
static void rules_of_candidates_have_ids(void **state)
{
    (void)state;
    static const char rule[] = "error-swallowed";
    const json_t *p, *f;
    size_t i, n = 0;
    if (!has_rules())
        check_skip("no rules in this build");
    json_array_foreach(src.places, i, p) n += is_rule(p, rule);
    assert_true(n > 0 && n < json_array_size(src.places));
#define ALL "inspect $D/src " MODEL "--find candidates --no-explain --confidence 0 --fail-level never "
    json_t *all = run_json(ALL "--rules error-swallowed --format sarif", 0);
    const json_t *run = json_array_get(json_object_get(all, "runs"), 0),
                 *rules = json_object_get(json_object_get(json_object_get(run, "tool"), "driver"), "rules");
    assert_int_equal(json_array_size(json_object_get(run, "results")), n);
    json_array_foreach(json_object_get(run, "results"), i, f)
    {
        const json_int_t at = json_integer_value(json_object_get(f, "ruleIndex"));
        assert_string_equal(text_of(f, "ruleId"), rule);
        assert_string_equal(text_of(json_array_get(rules, (size_t)at), "id"), rule);
        assert_string_equal(text_of(f, "level"), "warning");
    }
    json_decref(all);
    all = run_json(ALL "--skip-rules error-swallowed --format json", 0);
    json_array_foreach(json_object_get(all, "findings"), i, f) assert_false(is_rule(f, rule) || is_rule(f, "other"));
    assert_true(i > 0);
    json_decref(all);
    all = run_json(ALL "--rules error-swallowed --min-severity high --format json", 0);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 0);
    json_decref(all);

    cli_shell(&r, "mkdir -p $D/excused && printf 'def f(a):\n    try:\n        return a()\n    except KeyError:  # "
                  "mythos:ignore[error-swallowed] none is wanted\n        pass\n' >$D/excused/e.py");
    all = run_json("inspect $D/excused " MODEL "--find candidates --confidence 0 --format json", 0);
    assert_int_equal(json_integer_value(json_object_get(all, "suppressed_findings")), 1);
    assert_true(is_rule(json_array_get(json_object_get(all, "findings"), 0), rule));
    json_decref(all);
}

/* A comment that answers a finding which was not asked for is not said to answer none: one that only --all-lines
 * reports, of a rule that was left out, or below a raised --confidence. */
static void comments_about_what_was_not_asked_for_are_kept(void **state)
{
    static const char *const given[] = {"--rules resource-leak", "--skip-rules sql-injection", "--confidence 1", ""};
    static const char idle[] = "answers no finding";
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    cli_shell(&r, "mkdir -p $D/kept && cd $D/kept && git init -q && git config user.name n && git config user.email "
                  "n@example.com && printf 'def f(request, db):\n    return db.execute(\"SELECT 1 WHERE id = %%s\" %% "
                  "request.args[\"id\"]).fetchone()\n' >a.py && git add a.py && git commit -qm one && "
                  "sed -i '1a\\    # mythos:ignore[sql-injection] reviewed' a.py && cat a.py");
    assert_non_null(strstr(r.out, "reviewed\n    return"));
    cli_expect(&r, "inspect-diff -C $D/kept", 0);
    if (strstr(r.out, idle) || !strstr(r.out, "0 findings") || !strstr(r.out, "about other lines"))
        fail_msg("of a change: %s", r.out);
    cli_expect(&r, "inspect $D/kept/a.py", 0);
    assert_non_null(strstr(r.out, "1 suppressed"));
    char line[256];
    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        snprintf(line, sizeof(line), "inspect $D/kept/a.py %s", given[i]);
        cli_expect(&r, line, 0);
        if (strstr(r.out, idle))
            fail_msg("%s: %s", given[i], r.out);
    }
    cli_shell(&r, "sed -i 's/ % request.args.*/)/' $D/kept/a.py");
    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        snprintf(line, sizeof(line), "inspect $D/kept/a.py %s", given[i]);
        cli_expect(&r, line, 0);
        if (!strstr(r.out, idle) != (strstr(given[i], "rules") != NULL))
            fail_msg("%s, without a finding: %s", given[i], r.out);
    }
}

/* Of a change, places in the lines that it touched are findings, and those that it brought some lines away, by taking
 * out a check or putting in a release; --all-lines gives those of its functions that were there before. */
static void of_a_change_its_lines_count(void **state)
{
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    cli_shell(&r,
              "mkdir -p $D/change && cd $D/change && git init -q && git config user.name n && git config user.email "
              "n@example.com && printf 'def f(a):\n    b = a + 1\n    c = b\n    d = c\n    try:\n        "
              "return d()\n    except KeyError:\n        pass\n' >e.py && git add e.py && git commit -qm one && "
              "sed -i 's/a + 1/a + 2/' e.py && git commit -qam two");
    assert_int_equal(r.code, 0);
#define CHANGE "inspect-diff -C $D/change HEAD~1..HEAD " MODEL "--find candidates --confidence 0 --format json "
    json_t *all = run_json(CHANGE "--fail-level never", 0);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 0);
    assert_int_equal(json_integer_value(json_object_get(all, "unwanted_findings")), 1);
    json_decref(all);
    all = run_json(CHANGE "--fail-level never --all-lines", 0);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 1);
    assert_true(is_rule(json_array_get(json_object_get(all, "findings"), 0), "error-swallowed"));
    json_decref(all);
    cli_shell(
        &r,
        "mkdir -p $D/taken && cd $D/taken && git init -q && git config user.name n && git config user.email "
        "n@example.com && printf '#include <stdio.h>\n#include <stdlib.h>\nint f(const char *name, int n)\n{\n"
        "    FILE *in = fopen(name, \"r\");\n    if (!in)\n        return -1;\n    n += 2;\n    n *= 3;\n    n -= 1;\n"
        "    char c = (char)fgetc(in);\n    fclose(in);\n    char *p = malloc(10);\n    p[0] = c;\n    n += p[0];\n"
        "    free(p);\n    return n;\n}\n' >t.c && git add t.c && git commit -qm one && "
        "sed -i '6,7d' t.c && git commit -qam two");
    assert_int_equal(r.code, 0);
#define TAKEN "inspect-diff -C $D/taken HEAD~1..HEAD " MODEL "--find candidates --confidence 0 --format json "
    all = run_json(TAKEN "--fail-level never", 0);
    const json_t *f;
    size_t i, n_far = 0;
    json_array_foreach(json_object_get(all, "findings"), i, f)
    {
        const bool is_far =
            line_of(f, 0) == 9 || line_of(f, 0) == 10; /* the uses of `in` below the check that is gone */
        assert_true(line_of(f, 0) <= 6 || is_far);     /* not malloc, which was unchecked before */
        /* fopen's line or that of fclose: both say the same of one call, and the more probable is the finding */
        n_far += strstr(text_of(f, "why"), "took away what spoke against it") != NULL ||
                 strstr(text_of(f, "why"), "line 6 before the change asked for it: if (!in)") != NULL;
    }
    assert_true(n_far > 0);
    assert_true(json_integer_value(json_object_get(all, "unwanted_findings")) >= 2);
    json_decref(all);
    cli_shell(
        &r, "cd $D/taken && printf '#include <stdlib.h>\\nint g(int n)\\n{\\n    char *p = malloc(4);\\n    if (!p)\\n"
            "        return 1;\\n    p[0] = 1;\\n    n += 1;\\n    n *= 2;\\n    n -= 3;\\n    n += p[0];\\n    return "
            "n;\\n"
            "}\\n' >t.c && git commit -qam three && sed -i '7s/$/ free(p);/' t.c && git commit -qam four");
    assert_int_equal(r.code, 0);
    all = run_json(TAKEN "--fail-level never", 0); /* the release is in line 7, the use that it makes wrong in 11 */
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 1);
    f = json_array_get(json_object_get(all, "findings"), 0);
    assert_true(is_rule(f, "use-after-free") && line_of(f, 0) == 11);
    json_decref(all);
}

/* With both, the places come first, as without the model's own search, and its findings after them. */
static void both_has_the_same_places_first(void **state)
{
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    json_t *one =
        run_json("inspect $D/one.c " MODEL "--find candidates --confidence 0 --format json --fail-level never", 0);
    cli_shell(&r, "$M inspect $D/one.c " MODEL "--find both --confidence 0 --format json --fail-level never -n 64");
    assert_true(r.code == 0 || r.code == 3);
    json_error_t e;
    json_t *two = json_loads(r.out, 0, &e), *f, *g;
    assert_non_null(two);
    const json_t *a = json_object_get(one, "findings"), *b = json_object_get(two, "findings");
    size_t i, n_given = 0;
    json_array_foreach(b, i, f) n_given += json_object_get(f, "candidate") != NULL;
    assert_int_equal(n_given, json_array_size(a));
    json_array_foreach(a, i, g)
    {
        assert_string_not_equal(text_of(g, "why"), ""); /* this model writes nothing */
        f = json_array_get(b, i);
        assert_true(json_equal(json_object_get(f, "candidate"), json_object_get(g, "candidate")));
        assert_true(json_equal(json_object_get(f, "fingerprint"), json_object_get(g, "fingerprint")));
    }
    assert_true(json_integer_value(json_object_get(two, "parts")) > 0);
    json_decref(one);
    json_decref(two);
}

/* Again: printed once more without a model. The log says what was judged and what became of it. */
static void a_run_is_repeated_and_logged(void **state)
{
    (void)state;
    char line[256], *first;
    if (!has_rules())
        check_skip("no rules in this build");
    snprintf(line, sizeof(line), "inspect $D/few/a.c " MODEL "--find candidates --confidence %.9f --format sarif",
             few.least);
    cli_expect(&r, line, 1);
    assert_non_null(strstr(r.out, "\"rank\""));
    first = strdup(r.out);
    assert_non_null(first);
    cli_expect(&r, line, 1);
    assert_string_equal(r.out, first);
    free(first);
    const json_t *p, *kept = NULL, *dropped = NULL;
    size_t i;
    json_array_foreach(few.places, i, p)
    {
        if (strcmp(name_of(text_of(p, "file")), "a.c") != 0)
            continue;
        const double v = json_number_value(json_object_get(p, "probability"));
        kept = v > few.least + 1e-6 ? p : kept;
        dropped = v < few.least - 1e-6 ? p : dropped;
    }
    assert_true(kept && dropped);
    cli_expect(&r, "log replay last", 0);
    cli_expect(&r, "inspect $D/few/a.c " MODEL "--no-cache --find candidates --confidence 0.99", 0);
    snprintf(line, sizeof(line), "log why last a.c:%d", (int)json_integer_value(json_object_get(dropped, "line")));
    cli_shell(&r, "true");
    cli_expect(&r, line, 0);
    assert_non_null(strstr(r.out, "dropped with a probability of"));
    assert_non_null(strstr(r.out, text_of(dropped, "rule")));
}

/* The plan that --mem-report shows covers the judge's engine and the inspection after it. */
static void the_plan_covers_the_run(void **state)
{
    (void)state;
    static const char *const how[] = {
        MODEL "--find candidates --no-explain", MODEL "--find candidates -n 30", MODEL "--find both -n 30",
        "--find candidates --rules division-by-zero -t 4", /* the models that ship, and few places of those found */
    };
    if (!has_rules())
        check_skip("no rules in this build");
    for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++) {
        char line[256], path[128];
        const char *class;
        json_t *v;
        snprintf(line, sizeof(line),
                 "$M inspect $D/%s --confidence 0 --no-cache --fail-level never --mem-report $D/m.json %s",
                 i < 3 ? few.folder : src.folder, how[i]);
        cli_shell(&r, line);
        assert_true(r.code == 0 || r.code == 3);
        snprintf(path, sizeof(path), "%s/m.json", cli_dir);
        json_t *report = json_load_file(path, 0, NULL);
        assert_non_null(report);
        json_object_foreach(json_object_get(report, "classes"), class, v)
        {
            const json_int_t planned = json_integer_value(json_object_get(v, "planned")),
                             peak = json_integer_value(json_object_get(v, "peak"));
            if (peak > planned)
                fail_msg("%s, %s: planned %lld, peak %lld", how[i], class, (long long)planned, (long long)peak);
            assert_int_equal(json_integer_value(json_object_get(v, "live")), 0);
        }
        json_decref(report);
    }
}

static void what_cannot_be_searched_is_missed(void **state)
{
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    cli_shell(&r, "mkdir -p $D/ruby && printf 'def f\\n  1\\nend\\n' >$D/ruby/a.rb");
    json_t *all = run_json("inspect $D/ruby " MODEL "--find candidates --format json", 3);
    assert_false(json_is_true(json_object_get(all, "complete")));
    assert_int_equal(json_array_size(json_object_get(all, "not_inspected")), 1);
    json_decref(all);
    /* What does not fit is refused in the report's form, as for prompts. */
    all = run_json("inspect $D/one.c " MODEL "--find candidates --mem-limit 1MiB --format json", 71);
    assert_non_null(json_object_get(all, "refusal"));
    assert_non_null(strstr(r.err, "fits with: --mem-limit"));
    json_decref(all);
    /* The shipped model writes findings and cannot judge; without the judge that ships beside it a run says so. */
    cli_shell(&r, "mkdir -p $D/alone/bin $D/alone/models && cp $M $D/alone/bin/mythos && cp models/mythos-inspect.gguf "
                  "$D/alone/models/ && $D/alone/bin/mythos inspect $D/one.c --find candidates");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "name a Gemma that follows instructions"));
    cli_expect(&r, "inspect $D/one.c --find candidates --fail-level never", 0);
    assert_null(strstr(r.err, "not calibrated"));
    cli_expect(&r, "inspect $D/one.c " MODEL "--no-explain --find candidates --fail-level never",
               0); /* it judges itself */
    assert_non_null(strstr(r.err, "not calibrated"));
}

/* Documents and data hold no code that could be missed; a note counts them. */
static void documents_are_not_missed(void **state)
{
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    cli_shell(&r,
              "mkdir -p $D/docs && cd $D/docs && git init -q . && printf 'int f(void)\n{\n    return 1;\n}\n' >a.c &&"
              " printf 'One.\n' >README.md && printf '{\"a\": 1}\n' >a.json && printf 'echo 1\n' | tee a.sh >a.rb &&"
              " git add -A && git -c user.name=a -c user.email=a@b commit -qm a &&"
              " printf 'Two.\n' >README.md && printf '{\"a\": 2}\n' >a.json && sed -i s/1/2/ a.c");
    cli_expect(&r, "inspect-diff -C $D/docs HEAD", 0);
    assert_non_null(strstr(r.err, "2 files of documents or data"));
    assert_non_null(strstr(r.err, "rules found no place to judge"));
    cli_shell(&r, "sed -i s/1/2/ $D/docs/a.sh");
    cli_expect(&r, "inspect-diff -C $D/docs HEAD", 0);
    assert_non_null(strstr(r.out, "not inspected: a.sh"));
    cli_shell(&r, "sed -i s/1/2/ $D/docs/a.rb");
    cli_expect(&r, "inspect-diff -C $D/docs HEAD", 3);
    assert_non_null(strstr(r.out, "not inspected: a.rb"));
    assert_null(strstr(r.out, "not inspected: README.md"));
}

/* Without a model's name rules find and the judge that ships judges: the report names it, no prompt asks for text, what
 * stands outside of functions is judged, an empty file has nothing to miss, and a replay does the same though it names
 * the models. With -m or MYTHOS_MODEL the model finds. */
static void without_a_model_rules_find(void **state)
{
    static const char source[] =
        "printf '#include <stdlib.h>\\nint f(int n)\\n{\\n    int *p = malloc(n * 4);\\n    p[0] = n;\\n"
        "    return p[0];\\n}\\n\\nconst char *password = \"hunter2-9f8b\";\\n' >$D/auto.c; : >$D/empty.c; ";
    char line[1024];
    json_error_t e;
    (void)state;
    snprintf(line, sizeof(line), "%s$M inspect $D/auto.c $D/empty.c --confidence 0 --format json --log $D/auto.db",
             source);
    cli_shell(&r, line);
    assert_true(r.code == 0 || r.code == 1);
    json_t *all = json_loads(r.out, 0, &e), *finding;
    size_t i;
    assert_non_null(all);
    assert_string_equal(text_of(all, "model"), "mythos-judge.gguf");
    assert_int_equal(json_integer_value(json_object_get(all, "prompt_tokens")), 0);
    assert_true(json_is_true(json_object_get(all, "complete")));
    assert_true(json_array_size(json_object_get(all, "findings")) > 1);
    json_array_foreach(json_object_get(all, "findings"), i, finding)
        assert_non_null(json_object_get(finding, "candidate"));
    json_decref(all);
    cli_shell(&r, "$M log show 1 --log $D/auto.db"); /* who judged, and that the model had nothing to do */
    assert_non_null(strstr(r.out, "\nmodel      mythos-inspect.gguf, which was asked nothing\n"));
    const char *judge = strstr(r.out, "\njudge      "), *hash = judge ? strstr(judge, "mythos-judge.gguf, ") : NULL;
    assert_true(hash && strstr(hash, " bytes, xxh3:") < strchr(hash, '\n'));
    cli_shell(&r, "$M log replay --log $D/auto.db --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\"result\":\"equal\""));
    cli_shell(&r, "mkdir -p $D/far/away && ln $M $D/far/away/mythos 2>/dev/null || cp $M $D/far/away/mythos;"
                  " $D/far/away/mythos inspect $D/auto.c --confidence 0.5");
    if (access("/usr/local/share/mythos/models", F_OK) != 0) { /* an installed mythos lends its judge */
        assert_int_equal(r.code, 2);
        assert_non_null(strstr(r.err, "--confidence: no judge is installed beside this program; name one with"));
        cli_shell(&r, "$D/far/away/mythos inspect $D/auto.c --judge-model nothing");
        assert_non_null(strstr(r.err, "--judge-model: add --find candidates or both"));
    }
    static const char *const named[] = {"$M inspect-file $D/auto.c --format json -n 8 --no-log " MODEL,
                                        "MYTHOS_MODEL=random:gemma3-tiny:q8_0 $M inspect-file $D/auto.c --format json "
                                        "-n 8 --no-log",
                                        "$M inspect-file $D/auto.c --find model --format json -n 8 --no-log"};
    for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        cli_shell(&r, named[i]);
        all = json_loads(r.out, 0, &e);
        assert_non_null(all);
        assert_true(json_integer_value(json_object_get(all, "prompt_tokens")) > 0);
        json_decref(all);
    }
}

static bool is_about(const json_t *place, const char *path) { return strcmp(text_of(place, "path"), path) == 0; }

/* The probability that `candidates --judge` gives to the missing test of a variable in a line of $D/gone/f.c; -1 = none
 * is found. */
static double plain_probability(json_int_t line, const char *path)
{
    json_error_t e;
    json_t *all, *p;
    size_t i;
    double found = -1;
    cli_shell(&r, "$M candidates $D/gone/f.c --judge --rules missing-null-check --format jsonl | sed 's/$/,/' | "
                  "sed '1s/^/[/; $s/,$/]/'");
    assert_int_equal(r.code, 0);
    all = json_loads(r.out, 0, &e);
    assert_non_null(all);
    json_array_foreach(all, i, p) if (json_integer_value(json_object_get(p, "line")) == line && is_about(p, path))
        found = json_number_value(json_object_get(p, "probability"));
    json_decref(all);
    return found;
}

/* A change that takes a test away exposes the use behind it, and the finding says so. A use that only came into the
 * place of another one, which is gone, is none of the change's. */
static void what_a_change_exposes_is_said(void **state)
{
    static const char before[] = "#include <stdlib.h>\n#include <string.h>\n\nchar *f(const char *s, size_t n)\n{\n"
                                 "    char *p = malloc(n);\n    if (!p)\n        return NULL;\n    memcpy(p, s, n);\n"
                                 "    return p;\n}\n\nint g(struct a *q)\n{\n    int k = q->k;\n    k += q->m;\n"
                                 "    return k;\n}\n\nint m(struct a *z)\n{\n    return z->n;\n}\n";
    char line[1024], path[96];
    json_error_t e;
    size_t i;
    json_t *x;
    (void)state;
    cli_shell(&r, "mkdir $D/gone && git init -q $D/gone");
    snprintf(path, sizeof(path), "%s/gone/f.c", cli_dir);
    FILE *f = fopen(path, "w");
    fputs(before, f);
    fclose(f);
    cli_shell(&r, "git -C $D/gone add f.c && git -C $D/gone -c user.name=a -c user.email=a@b commit -qm one && "
                  "sed -i '/if (!p)/,/return NULL/d; s/int k = q->k;/int k = 0;/; s/z->n;/z->n + 1;/' $D/gone/f.c");
    assert_int_equal(r.code, 0);
    snprintf(line, sizeof(line),
             "$M inspect-diff -C $D/gone --rules missing-null-check --confidence 0 --format json "
             "--fail-level never -q --no-log");
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    json_t *all = json_loads(r.out, 0, &e);
    assert_non_null(all);
    char *why[32] = {0};
    double probability[32];
    json_array_foreach(json_object_get(all, "findings"), i, x)
    {
        const json_int_t at = line_of(x, 0);
        assert_true(at < 32);
        why[at] = (char *)text_of(x, "why");
        probability[at] = probability_of(x);
    }
    assert_non_null(why[7]);
    assert_non_null(strstr(why[7], "p must be there in line 7, and line 7 before the change asked for it: if (!p)"));
    assert_null(strstr(why[7], "took away what spoke against it")); /* one finding for both places */
    assert_true(probability[7] > plain_probability(7, "p") - 1e-6);
    assert_null(why[14]); /* q->m: as untested as before, when q->k was the row's one place in g */
    assert_true(plain_probability(14, "q") > 0);
    assert_non_null(why[20]); /* a line that was written anew, and was as untested before */
    assert_null(strstr(why[20], "no such place"));
    json_decref(all);
}

/* The logarithm of the odds that the first finding of a report about a file has; fails where there is none. The report
 * of the call before is taken for the same arguments. */
static double odds_of(const char *args, const char *file, bool is_said)
{
    static char last[512];
    static json_t *all;
    char line[512];
    json_error_t e;
    json_t *f;
    size_t i;
    if (!all || strcmp(last, args) != 0) {
        snprintf(line, sizeof(line),
                 "$M %s -m $D/tests.gguf --find candidates --confidence 0 --format json --fail-level never -q", args);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        json_decref(all);
        all = json_loads(r.out, 0, &e);
        assert_non_null(all);
        snprintf(last, sizeof(last), "%s", args);
    }
    double p = -1;
    json_array_foreach(json_object_get(all, "findings"), i, f) if (p < 0 && strcmp(text_of(f, "file"), file) == 0)
    {
        p = probability_of(f);
        assert_int_equal(strstr(text_of(f, "why"), "in a test") != NULL, is_said);
    }
    assert_true(p > 0);
    return log(p / (1 - p));
}

/* In a test that nobody asked for the odds are lower, as the calibration says. Who names it, or a folder of tests, has
 * asked for it. */
static void tests_that_nobody_named_have_lower_odds(void **state)
{
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    cli_shell(&r, "mkdir -p $D/whole/tests $D/whole/lib && git init -q $D/whole && cp $D/one.c $D/whole/tests/a.c && "
                  "cp $D/one.c $D/whole/lib/a.c && $M convert -m random:gemma3-tiny:q8_0 -o $D/tests.gguf --type q8_0 "
                  "--kv 'mythos.judge=tests=-1.25 *=1:0'");
    assert_int_equal(r.code, 0);
    const double in_tests = odds_of("inspect $D/whole/tests/a.c --no-log", "tests/a.c", false),
                 in_lib = odds_of("inspect $D/whole/lib/a.c --no-log", "lib/a.c", false);
    static const struct {
        const char *args, *file;
        double less;
    } row[] = {
        {"inspect $D/whole --log $D/tests.db", "tests/a.c", 1.25},
        {"inspect $D/whole --log $D/tests.db", "lib/a.c", 0},
        {"inspect $D/whole/tests --no-log", "tests/a.c", 0},
        {"inspect $D/whole --include tests/a.c --no-log", "tests/a.c", 1.25},
        {"inspect $D/whole $D/whole/tests/a.c --no-log", "tests/a.c", 0},
        {"inspect $D/whole/tests/a.c $D/whole --no-log", "tests/a.c", 0},
        {"inspect-diff -C $D/whole --untracked --no-log", "tests/a.c", 1.25},
        {"inspect-diff -C $D/whole --untracked --no-log", "lib/a.c", 0},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const double found = odds_of(row[i].args, row[i].file, row[i].less > 0),
                     alone = row[i].file[0] == 't' ? in_tests : in_lib;
        if (fabs(alone - row[i].less - found) > 1e-5)
            fail_msg("%s: %s has %g, and %g alone", row[i].args, row[i].file, found, alone);
    }
    cli_shell(&r, "$M log replay --log $D/tests.db --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\"result\":\"equal\""));
    /* The same files are another run where they were named otherwise: its report is not repeated. */
    cli_shell(&r, "mkdir -p $D/only/tests && git init -q $D/only && cp $D/one.c $D/only/tests/a.c");
    const double named = odds_of("inspect $D/only/tests --log $D/only.db", "tests/a.c", false),
                 met = odds_of("inspect $D/only --log $D/only.db", "tests/a.c", true);
    assert_true(fabs(named - 1.25 - met) < 1e-5);
    const double asked = in_tests - 1.25;
    cli_shell(&r, "$M candidates $D/whole --judge -m $D/tests.gguf --format jsonl | grep '\"tests/a.c\"' | head -1 | "
                  "sed 's/.*\"probability\"://; s/,.*//'");
    const double p = atof(r.out);
    assert_true(fabs(log(p / (1 - p)) - asked) < 1e-5);
}

/* A dry run counts the tokens that the judge reads: those of the run, where functions share none, as in a model with
 * sliding windows. */
static void a_dry_run_says_what_judging_costs(void **state)
{
    (void)state;
    if (!has_rules())
        check_skip("no rules in this build");
    json_t *dry = run_json("inspect $D/few " MODEL "--find candidates --dry-run --format json", 0),
           *run = run_json("candidates $D/few " MODEL "--judge --confidence 1 --format json", 0);
    const json_t *judging = json_object_get(dry, "judging"), *judged = json_object_get(run, "judged");
    const json_int_t n_tok = json_integer_value(json_object_get(judged, "prompt_tokens")) +
                             json_integer_value(json_object_get(judged, "question_tokens"));
    assert_int_equal(json_integer_value(json_object_get(judging, "places")),
                     json_integer_value(json_object_get(judged, "places")));
    assert_int_equal(json_integer_value(json_object_get(judging, "prompts")),
                     json_integer_value(json_object_get(judged, "prompts")));
    assert_int_equal(json_integer_value(json_object_get(judging, "prompt_tokens")), n_tok);
    assert_non_null(json_object_get(json_object_get(judging, "expected"), "known"));
    assert_true(json_array_size(json_object_get(dry, "parts")) > 0); /* to write out what is found */
    json_decref(dry);
    json_decref(run);
    cli_expect(&r, "inspect $D/src " MODEL "--find both --dry-run", 0);
    assert_non_null(strstr(r.out, "\nplaces "));
    dry = run_json("inspect $D/few " MODEL "--find candidates --no-explain --dry-run --format json", 0);
    assert_int_equal(json_array_size(json_object_get(dry, "parts")), 0);
    json_decref(dry);
}

/* Where no model is asked, a dry run says which code has the places that the judge would be asked about. */
static void a_dry_run_without_parts_says_what_would_run(void **state)
{
    (void)state;
    size_t i;
    json_t *piece;
    char line[256];
    if (!has_rules())
        check_skip("no rules in this build");
    cli_shell(&r,
              "git init -q $D/pieces && cd $D/pieces && for f in a b; do printf 'int %s(struct x *p)\n{\n    int n = "
              "p->n;\n    return n + 1;\n}\n\n' $f; done >c.c && git add c.c && "
              "git -c user.name=a -c user.email=a@b commit -qm one && sed -i 's/p->n;/p->m;/' c.c");
    assert_int_equal(r.code, 0);
    static const char *const command[] = {
        "inspect $D/few ",
        "inspect-diff -C $D/pieces ", /* two pieces of one file */
        "inspect-topic 'what does this code do with a name' --findings --lexical -C $D/few ",
    };
    for (size_t k = 0; k < sizeof(command) / sizeof(command[0]); k++) {
        json_int_t n = 0;
        snprintf(line, sizeof(line), "%s" MODEL "--find candidates --no-explain --dry-run --format json", command[k]);
        json_t *dry = run_json(line, 0), *judging = json_object_get(dry, "judging");
        json_array_foreach(json_object_get(judging, "pieces"), i, piece) n +=
            json_integer_value(json_object_get(piece, "places"));
        assert_true(n > 0);
        assert_int_equal(n, json_integer_value(json_object_get(judging, "places")));
        snprintf(line, sizeof(line), "%s" MODEL "--find candidates --no-explain --dry-run", command[k]);
        cli_expect(&r, line, 0);
        assert_ptr_equal(strstr(r.out, "parts            none: rules find places, a judge decides"), r.out);
        assert_null(strstr(r.out, "prompt tokens"));
        json_array_foreach(json_object_get(judging, "pieces"), i, piece)
        {
            const json_int_t n_place = json_integer_value(json_object_get(piece, "places"));
            snprintf(line, sizeof(line), "\n  %s lines %d-%d: %d place",
                     json_string_value(json_object_get(piece, "file")),
                     (int)json_integer_value(json_object_get(piece, "first")),
                     (int)json_integer_value(json_object_get(piece, "last")), (int)n_place);
            if (n_place && !strstr(r.out, line))
                fail_msg("no line '%s' in:\n%s", line + 1, r.out);
        }
        json_decref(dry);
    }
}

/* Returns 0 when the places of s are known. */
static int judge(struct searched *s)
{
    char line[256];
    json_error_t e;
    snprintf(line, sizeof(line), "$M candidates $D/%s --judge " MODEL "--format json", s->folder);
    cli_shell(&r, line);
    json_t *all = json_loads(r.out, 0, &e);
    if (!all)
        return -1;
    s->places = json_incref(json_object_get(all, "candidates"));
    json_decref(all);
    /* The middle of the probabilities, between two places. */
    const size_t n = json_array_size(s->places);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += json_number_value(json_object_get(json_array_get(s->places, i), "probability"));
    s->least = n ? sum / (double)n : 0;
    return 0;
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    cli_shell(&r,
              "mkdir -p $D/src $D/few && head -480 tests/corpus/candidates/examples.py >$D/src/b.py && head -260 "
              "tests/corpus/candidates/examples.c >$D/src/a.c && sed '/^static long total_of/,$d' $D/src/a.c "
              ">$D/few/a.c && sed '/^def total_of/,$d' $D/src/b.py >$D/few/b.py && printf 'char *f(int n)\\n{\\n    "
              "char *p = malloc(n * 4);\\n    p[0] = 1;\\n    free(p);\\n    return p;\\n}\\n' >$D/one.c");
    if (r.code)
        return -1;
    return judge(&src) == 0 && judge(&few) == 0 ? 0 : -1;
}

static int end(void **state)
{
    json_decref(src.places);
    json_decref(few.places);
    return cli_end(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_pass_are_findings),
        cmocka_unit_test(filters_and_marks_hold),
        cmocka_unit_test(rules_of_candidates_have_ids),
        cmocka_unit_test(of_a_change_its_lines_count),
        cmocka_unit_test(both_has_the_same_places_first),
        cmocka_unit_test(a_run_is_repeated_and_logged),
        cmocka_unit_test(the_plan_covers_the_run),
        cmocka_unit_test(what_cannot_be_searched_is_missed),
        cmocka_unit_test(documents_are_not_missed),
        cmocka_unit_test(tests_that_nobody_named_have_lower_odds),
        cmocka_unit_test(a_dry_run_says_what_judging_costs),
        cmocka_unit_test(a_dry_run_without_parts_says_what_would_run),
        cmocka_unit_test(without_a_model_rules_find),
        cmocka_unit_test(what_a_change_exposes_is_said),
        cmocka_unit_test(comments_about_what_was_not_asked_for_are_kept),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
