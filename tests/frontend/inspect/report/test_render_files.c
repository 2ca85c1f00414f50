/* test_render_files.c - reports about several files: every form names the right file, an ignore comment counts in its
 * own file only, and a baseline keeps the entries of code that was not inspected. */
#include "report_bed.h"
#include "frontend/inspect/prompt/material.h"
#include "retrieval/retrieval.h"
#include "tests/support/files.h"

#include <jansson.h>

enum { N_FILE = 3, N_FINDING = 4 };

static const char *const path[N_FILE] = {"src/a.c", "src/b.c", "lib/c d.py"};
static const char *const code[N_FILE] = {
    "a = 1 / n;\nb = 1 / m; // mythos:ignore[division-by-zero] m was checked\nfree(p);\n",
    "a = 1 / n;\nb = 1 / m;\nfree(p);\nfree(p);\nx = 0; // mythos:ignore[double-free] not shown\n",
    "import os\nos.system(cmd)\n",
};

typedef struct {
    myth_mem *mem;
    myth_material *m;
    myth_block block[N_FILE + 1];
    myth_report_file file[N_FILE];
    myth_finding finding[N_FINDING];
    myth_citation citation[N_FINDING];
    myth_budget budget;
    myth_marks marks;
    myth_report report;
} many;

static void add(many *w, uint32_t block, uint32_t line, const char *rule)
{
    uint32_t i = w->report.n_finding++, off, len;
    const myth_source *src = w->block[block].src;
    myth_line_trim(src, line - 1, &off, &len);
    w->citation[i] = (myth_citation){.line = line, .off = off, .len = len};
    w->finding[i] = (myth_finding){
        .block = block,
        .first = line,
        .last = line,
        .rule = myth_rule_find(rule, strlen(rule)),
        .severity = MYTH_SEVERITY_HIGH,
        .evidence = {(const char *)src->bytes + off, len},
    };
    assert_true(w->finding[i].rule >= 0);
}

/* Makes a report about all of a.c and lines 1 to 3 of b.c, with c d.py as context. Each has a finding, a.c has two. */
static void many_open(many *w, const myth_baseline *base)
{
    uint32_t s;
    memset(w, 0, sizeof(*w));
    assert_int_equal(myth_mem_open(&w->mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&w->m, w->mem, NULL, NULL), MYTH_OK);
    for (uint32_t i = 0; i < N_FILE; i++) {
        assert_int_equal(myth_material_put(w->m, &s, path[i], (const unsigned char *)code[i], strlen(code[i]), NULL),
                         MYTH_OK);
        const myth_source *src = myth_material_of(w->m, s);
        w->block[i] = (myth_block){.src = src, .first = 1, .last = i == 1 ? 3 : src->n_line};
        w->file[i] = (myth_report_file){.src = src, .is_subject = i < 2, .is_whole = i == 0};
    }
    w->block[N_FILE] = w->block[0]; /* a round has shown the block again */
    w->report = (myth_report){
        .model = "m.gguf",
        .path = "diff HEAD",
        .prompt_tokens = 12,
        .max_new_tokens = 34,
        .n_part = 2,
        .finish_reason = "stop",
        .complete = true,
        .block = w->block,
        .n_block = N_FILE + 1,
        .file = w->file,
        .n_file = N_FILE,
        .budget = &w->budget,
        .finding = w->finding,
        .citation = w->citation,
    };
    add(w, 0, 1, "division-by-zero");
    add(w, 0, 2, "division-by-zero");
    add(w, 1, 2, "division-by-zero");
    add(w, 2, 2, "shell-injection");
    assert_int_equal(myth_marks_open(&w->marks, w->mem, &w->report, w->block, N_FILE + 1, N_FINDING, true, base, NULL),
                     MYTH_OK);
    myth_marks_fill(&w->marks, &w->report);
}

static void many_close(many *w)
{
    myth_marks_close(&w->marks);
    myth_material_close(w->m);
    assert_int_equal(myth_mem_close(w->mem), 0);
}

static char *many_render(const many *w, myth_form form)
{
    static char *out;
    size_t len;
    const myth_term plain = {0};
    FILE *f = open_memstream(&out, &len);
    assert_non_null(f);
    myth_output_render(f, form, &w->report, &plain);
    assert_int_equal(fclose(f), 0);
    return out;
}

static json_t *many_json(const many *w, myth_form form)
{
    char *text = many_render(w, form);
    json_error_t err;
    json_t *v = json_loads(text, 0, &err);
    if (!v)
        fail_msg("%s\n%s", err.text, text);
    free(text);
    return v;
}

static const char *str(const json_t *v, const char *key)
{
    const char *s = json_string_value(json_object_get(v, key));
    assert_non_null(s);
    return s;
}

static many w;

static void test_json(void **unused)
{
    (void)unused;
    many_open(&w, NULL);
    json_t *v = many_json(&w, MYTH_FORM_JSON);
    assert_null(json_object_get(v, "file")); /* the report is about more than one file */
    assert_string_equal(str(v, "inspected"), "diff HEAD");
    const json_t *files = json_object_get(v, "files"), *list = json_object_get(v, "findings");
    assert_int_equal(json_array_size(files), N_FILE);
    for (size_t i = 0; i < N_FILE; i++) {
        const json_t *f = json_array_get(files, i), *lines = json_object_get(f, "lines");
        assert_string_equal(str(f, "path"), path[i]);
        assert_int_equal(json_is_true(json_object_get(f, "subject")), i < 2);
        assert_int_equal(json_is_true(json_object_get(f, "whole")), i == 0);
        assert_int_equal(json_array_size(lines), 1); /* a block that is shown twice is one range */
        assert_int_equal(json_integer_value(json_array_get(json_array_get(lines, 0), 1)), w.block[i].last);
    }
    for (size_t i = 0; i < N_FINDING; i++)
        assert_string_equal(str(json_array_get(list, i), "file"), w.block[w.finding[i].block].src->path);
    assert_string_not_equal(str(json_array_get(list, 1), "fingerprint"), str(json_array_get(list, 2), "fingerprint"));
    assert_non_null(json_object_get(json_array_get(list, 1), "suppressed")); /* the comment in a.c */
    assert_null(json_object_get(json_array_get(list, 2), "suppressed"));     /* the same line in b.c has none */
    assert_int_equal(json_integer_value(json_object_get(v, "suppressed_findings")), 1);
    json_decref(v);

    w.report.n_file = 1; /* a report about one file names it */
    v = many_json(&w, MYTH_FORM_JSON);
    assert_string_equal(str(v, "file"), path[0]);
    json_decref(v);
    many_close(&w);
}

static void test_sarif(void **unused)
{
    (void)unused;
    many_open(&w, NULL);
    json_t *v = many_json(&w, MYTH_FORM_SARIF);
    const json_t *run = json_array_get(json_object_get(v, "runs"), 0), *artifacts = json_object_get(run, "artifacts"),
                 *results = json_object_get(run, "results");
    assert_int_equal(json_array_size(artifacts), N_FILE);
    assert_int_equal(json_array_size(json_object_get(json_array_get(artifacts, 2), "roles")), 0);
    assert_string_equal(json_string_value(json_array_get(json_object_get(json_array_get(artifacts, 1), "roles"), 0)),
                        "analysisTarget");
    for (size_t i = 0; i < N_FINDING; i++) {
        const json_t *at = json_object_get(json_array_get(json_object_get(json_array_get(results, i), "locations"), 0),
                                           "physicalLocation");
        const json_t *location = json_object_get(at, "artifactLocation");
        size_t index = (size_t)json_integer_value(json_object_get(location, "index"));
        assert_int_equal(index, w.finding[i].block);
        assert_string_equal(str(location, "uri"),
                            str(json_object_get(json_array_get(artifacts, index), "location"), "uri"));
        assert_int_equal(json_integer_value(json_object_get(json_object_get(at, "region"), "startLine")),
                         w.finding[i].first);
    }
    assert_string_equal(str(json_object_get(json_array_get(artifacts, 2), "location"), "uri"), "lib/c%20d.py");
    json_decref(v);
    many_close(&w);
}

static void test_lines_for_people_and_hosts(void **unused)
{
    static const struct {
        myth_form form;
        const char *has[6], *has_not[3];
    } row[] = {
        {MYTH_FORM_TEXT,
         {"src/a.c:1: ", "src/b.c:2: ", "lib/c d.py:2: ", "diff HEAD: 3 findings, 3 files, 1 suppressed, ", NULL},
         {"src/a.c:2: ", "answers no finding", "src/b.c:5"}},
        {MYTH_FORM_GITHUB,
         {"file=src/a.c,line=1,", "file=src/b.c,line=2,", "file=lib/c d.py,line=2,", NULL},
         {"file=src/a.c,line=2,", NULL}},
        {MYTH_FORM_RDJSONL, {"\"path\":\"src/a.c\"", "\"path\":\"src/b.c\"", "\"path\":\"lib/c d.py\"", NULL}, {NULL}},
        {MYTH_FORM_CHECKSTYLE,
         {"<file name=\"src/a.c\">\n<error line=\"1\" ", "<file name=\"src/b.c\">\n<error line=\"2\" ",
          "<file name=\"lib/c d.py\">\n<error line=\"2\" ", NULL},
         {NULL}},
        {MYTH_FORM_HTML,
         {"data-file=\"src/a.c\"", "data-file=\"src/b.c\"", "data-file=\"lib/c d.py\"", "context</span>",
          "mythos: diff HEAD</h1>", NULL},
         {"answers no finding", NULL}},
    };
    (void)unused;
    many_open(&w, NULL);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *text = many_render(&w, row[i].form);
        for (int k = 0; k < 6 && row[i].has[k]; k++)
            if (!strstr(text, row[i].has[k]))
                fail_msg("no %s in:\n%s", row[i].has[k], text);
        for (int k = 0; k < 3 && row[i].has_not[k]; k++)
            if (strstr(text, row[i].has_not[k]))
                fail_msg("%s in:\n%s", row[i].has_not[k], text);
        free(text);
    }
    many_close(&w);
}

/* The findings and the missed code of one path are in one file element, even when other files come between them. */
static void test_checkstyle_groups(void **unused)
{
    const myth_missed missed[] = {{"src/b.c", 5, 5, "an answer was cut off"}, {"gone.c", 0, 0, "it is <not> there"}};
    (void)unused;
    many_open(&w, NULL);
    w.finding[1].block = 1; /* the order of files is now a.c, b.c, a.c, c d.py */
    w.finding[2].block = 0;
    w.finding[1].severity = MYTH_SEVERITY_MEDIUM;
    w.finding[3].severity = MYTH_SEVERITY_LOW;
    w.report.mark = NULL; /* no ignore comments */
    w.report.complete = false;
    w.report.missed = missed;
    w.report.n_missed = 2;
    char *text = many_render(&w, MYTH_FORM_CHECKSTYLE);
    assert_string_equal(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n"
        "<file name=\"diff HEAD\">\n"
        "<error line=\"0\" severity=\"warning\" message=\"The inspection is incomplete: not all that was asked for was "
        "inspected\" source=\"mythos.incomplete\"/>\n</file>\n"
        "<file name=\"src/b.c\">\n"
        "<error line=\"5\" severity=\"warning\" message=\"Not inspected: an answer was cut off\" "
        "source=\"mythos.not-inspected\"/>\n"
        "<error line=\"2\" column=\"1\" severity=\"warning\" message=\"a divisor can be zero\" "
        "source=\"mythos.division-by-zero\"/>\n"
        "</file>\n"
        "<file name=\"gone.c\">\n"
        "<error line=\"0\" severity=\"warning\" message=\"Not inspected: it is &lt;not&gt; there\" "
        "source=\"mythos.not-inspected\"/>\n</file>\n"
        "<file name=\"src/a.c\">\n"
        "<error line=\"1\" column=\"1\" severity=\"error\" message=\"a divisor can be zero\" "
        "source=\"mythos.division-by-zero\"/>\n"
        "<error line=\"2\" column=\"1\" severity=\"error\" message=\"a divisor can be zero\" "
        "source=\"mythos.division-by-zero\"/>\n"
        "</file>\n"
        "<file name=\"lib/c d.py\">\n"
        "<error line=\"2\" column=\"1\" severity=\"info\" message=\"a shell command is built from text that is not "
        "constant\" "
        "source=\"mythos.shell-injection\"/>\n"
        "</file>\n</checkstyle>\n");
    free(text);
    w.report.path = "src/b.c"; /* an inspection of one file has that file's path as its title */
    text = many_render(&w, MYTH_FORM_CHECKSTYLE);
    const char *file = strstr(text, "<file name=\"src/b.c\">\n<error line=\"0\" ");
    assert_non_null(file);
    assert_null(strstr(file + 1, "<file name=\"src/b.c\">"));
    free(text);
    many_close(&w);
}

/* A case for each finding, each missed row and each file without any, with names that are all different. */
static void test_junit_cases(void **unused)
{
    const myth_missed missed[] = {{"src/b.c", 5, 7, "an answer was cut off"}, {"gone.c", 0, 0, "it is <not> there"}};
    (void)unused;
    many_open(&w, NULL);
    w.report.complete = false;
    w.report.missed = missed;
    w.report.n_missed = 2;
    char *text = many_render(&w, MYTH_FORM_JUNIT);
    static const char *const has[] = {
        "<testsuite name=\"diff HEAD\" tests=\"6\" failures=\"3\" errors=\"3\">\n",
        "<testcase classname=\"mythos.incomplete\" name=\"diff HEAD\">\n<error type=\"incomplete\" message=\"not all",
        "<testcase classname=\"mythos.not-inspected\" name=\"src/b.c lines 5-7\" file=\"src/b.c\" line=\"5\">\n",
        "line=\"5\">\n<error type=\"not-inspected\" message=\"an answer was cut off\"/>\n</testcase>\n",
        "name=\"gone.c\" file=\"gone.c\">\n<error type=\"not-inspected\" message=\"it is &lt;not&gt; there\"/>\n",
        "<testcase classname=\"mythos.division-by-zero\" name=\"src/a.c: a divisor can be zero (",
        "<testcase classname=\"mythos.shell-injection\" name=\"lib/c d.py: a shell command is built",
    };
    for (size_t i = 0; i < sizeof(has) / sizeof(*has); i++)
        if (!strstr(text, has[i]))
            fail_msg("no %s in:\n%s", has[i], text);
    for (char *p = text; (p = strstr(p, "<testcase classname=")) != NULL; p++) {
        char one[400]; /* class and name */
        const char *name = strstr(p, " name=\"") + 7;
        snprintf(one, sizeof(one), "%.*s", (int)(name - p + (ptrdiff_t)strcspn(name, "\"")) + 1, p);
        if (strstr(p + 1, one))
            fail_msg("twice: %s", one);
    }
    free(text);
    w.report.complete = true; /* without findings the files pass, or where none are known the whole */
    w.report.n_missed = w.report.n_finding = 0;
    text = many_render(&w, MYTH_FORM_JUNIT);
    assert_non_null(
        strstr(text, " failures=\"0\" errors=\"0\">\n<testcase classname=\"mythos.inspected\" name=\"src/"));
    free(text);
    myth_source document = *w.file[1].src; /* which a model reads, and rules do not */
    document.path = "README.md";
    w.file[1].src = &document;
    for (int by_rules = 0; by_rules < 2 && myth_candidates_has("c"); by_rules++) {
        w.report.by_rules_alone = by_rules;
        text = many_render(&w, MYTH_FORM_JUNIT);
        assert_non_null(strstr(text, "<testcase classname=\"mythos.inspected\" name=\"src/a.c\""));
        assert_int_equal(strstr(text, "README.md") == NULL, by_rules);
        assert_non_null(strstr(text, by_rules ? " tests=\"1\" failures" : " tests=\"2\" failures"));
        free(text);
    }
    w.report.n_file = 0;
    text = many_render(&w, MYTH_FORM_JUNIT);
    assert_non_null(strstr(text, " tests=\"1\" failures=\"0\" errors=\"0\">\n<testcase classname=\"mythos.inspected\" "
                                 "name=\"diff HEAD\"/>\n</testsuite>"));
    free(text);
    many_close(&w);
}

/* Each entry has a fingerprint of its own, the same in every report: a finding that of the other forms. */
static void test_codequality_entries(void **unused)
{
    const myth_missed missed[] = {{"src/b.c", 5, 7, "an answer was cut off"},
                                  {"src/b.c", 9, 9, "an answer was cut off"},
                                  {"gone.c", 0, 0, "it is not there"}};
    char first[BED_FINDINGS][64];
    (void)unused;
    for (int again = 0; again < 2; again++) {
        many_open(&w, NULL);
        w.report.complete = false;
        w.report.missed = missed;
        w.report.n_missed = 3;
        char *text = many_render(&w, MYTH_FORM_CODEQUALITY);
        json_t *all = json_loads(text, 0, NULL), *e;
        size_t i, k;
        assert_int_equal(json_array_size(all), 4 + N_FINDING - 1); /* one finding is suppressed */
        json_array_foreach(all, i, e)
        {
            const char *own = json_string_value(json_object_get(e, "fingerprint"));
            for (k = 0; k < i; k++)
                assert_string_not_equal(own, first[k]);
            if (again)
                assert_string_equal(own, first[i]);
            snprintf(first[i], sizeof(first[i]), "%s", own);
        }
        static const char *const want[] = {
            "not all that was asked for was inspected\",\"check_name\":\"incomplete\"",
            "\"severity\":\"major\",\"location\":{\"path\":\"diff HEAD\",\"lines\":{\"begin\":1,\"end\":1}}}",
            "\"description\":\"Not inspected: an answer was cut off\",\"check_name\":\"not-inspected\"",
            "\"severity\":\"major\",\"location\":{\"path\":\"src/b.c\",\"lines\":{\"begin\":5,\"end\":7}}}",
            "\"location\":{\"path\":\"gone.c\",\"lines\":{\"begin\":1,\"end\":1}}}",
        };
        for (k = 0; k < sizeof(want) / sizeof(want[0]); k++)
            if (!strstr(text, want[k]))
                fail_msg("%s is not in:\n%s", want[k], text);
        json_decref(all);
        free(text);
        many_close(&w);
    }
}

/* All of a.c was inspected, so an entry that was not found again is removed. Entries of b.c, of which three lines were
 * inspected, and of files that were not inspected stay. */
static void test_baseline(void **unused)
{
    static const char old[] =
        "{\"version\":1,\"findings\":["
        "{\"rule\":\"weak-hash\",\"file\":\"src/a.c\",\"fingerprint\":\"0123456789abcdef0123456789abcdef\"},"
        "{\"rule\":\"weak-hash\",\"file\":\"src/b.c\",\"fingerprint\":\"1123456789abcdef0123456789abcdef\"},"
        "{\"rule\":\"weak-hash\",\"file\":\"lib/c d.py\",\"fingerprint\":\"2123456789abcdef0123456789abcdef\"},"
        "{\"rule\":\"weak-hash\",\"file\":\"z.c\",\"fingerprint\":\"3123456789abcdef0123456789abcdef\"}]}";
    static const struct {
        const char *fingerprint;
        bool stays;
    } row[] = {
        {"0123456789abcdef0123456789abcdef", false},
        {"1123456789abcdef0123456789abcdef", true},
        {"2123456789abcdef0123456789abcdef", true},
        {"3123456789abcdef0123456789abcdef", true},
    };
    (void)unused;
    myth_mem *mem;
    myth_baseline *base;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    files_text("base", old);
    assert_int_equal(myth_baseline_open(&base, mem, files_path("base"), false, NULL), MYTH_OK);
    many_open(&w, base);
    assert_int_equal(myth_baseline_write(base, files_path("base"), &w.report, NULL), MYTH_OK);
    myth_baseline_close(base);
    assert_int_equal(myth_baseline_open(&base, mem, files_path("base"), false, NULL), MYTH_OK);
    assert_int_equal(myth_baseline_count(base),
                     3 + 3); /* three that stay, and three findings that are not suppressed */
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_int_equal(myth_baseline_has(base, row[i].fingerprint), row[i].stays);
    many_close(&w);
    many_open(&w, base);
    for (uint32_t i = 0; i < N_FINDING; i++)
        assert_int_equal(w.marks.mark[i].is_known, i != 1);
    many_close(&w);
    myth_baseline_close(base);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A secret of one file is hidden in texts about another, also when there are very many files. */
static void test_secrets_of_all_files(void **unused)
{
    enum { N = 200 };
    static const char key[] = "AKIAIOSFODNN7EXAMPLQ", text[] = "key = \"AKIAIOSFODNN7EXAMPLQ\"\n";
    myth_mem *mem;
    myth_material *m;
    myth_redactor r;
    (void)unused;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
    myth_redactor_start(&r, mem);
    for (uint32_t i = 0; i < N; i++) {
        char name[16];
        uint32_t s;
        snprintf(name, sizeof(name), "f%u", i);
        const char *line = i == 3 ? text : "nothing\n";
        assert_int_equal(myth_material_put(m, &s, name, (const unsigned char *)line, strlen(line), NULL), MYTH_OK);
        assert_int_equal(myth_redactor_add(&r, myth_material_of(m, s), NULL), MYTH_OK);
    }
    assert_int_equal(r.n_file, N);
    assert_int_equal(myth_redactor_count(&r), 1);
    static const char shown[] = "IOSFODNN7EXAMPLQ and more"; /* a piece of the secret in another text */
    many_open(&w, NULL);
    w.report.redactor = &r;
    w.finding[0].issue = (myth_str){shown, sizeof(shown) - 1};
    for (int form = 0; form < MYTH_FORM_N; form++) {
        char *out = many_render(&w, (myth_form)form);
        assert_null(strstr(out, key + 4));
        free(out);
    }
    many_close(&w);
    myth_redactor_close(&r);
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_sarif),
        cmocka_unit_test(test_lines_for_people_and_hosts),
        cmocka_unit_test(test_checkstyle_groups),
        cmocka_unit_test(test_codequality_entries),
        cmocka_unit_test(test_junit_cases),
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_secrets_of_all_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
