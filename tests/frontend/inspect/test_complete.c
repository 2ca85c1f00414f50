/* test_complete.c - what was asked for and not inspected is listed in every form, and `complete`, the exit code and the
 * run log's record say the same.
 *
 * One row is a way to leave something out, one column a form. Each row is one run of the command that writes all forms;
 * every cell is asserted, and so are the exit code and the record. The rows whose `path` is NULL are the other
 * side of the rule: nothing is left out, and no form says that something was. */
#define _GNU_SOURCE
#include "tests/frontend/cli/cli_run.h"

#include "frontend/inspect/inspect.h"
#include "frontend/inspect/report/outputs.h"
#include "tests/support/rig.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- the ways ---- */

/* A repository in $D/r with two committed files, a.c and b.c; a.c is changed in the working tree. */
#define REPO                                                                                                      \
    "rm -rf $D/r && mkdir $D/r && cd $D/r && git init -q && git config user.email a@b && git config user.name a " \
    "&& printf 'int f(int n)\\n{\\n    return n + 1;\\n}\\n' >a.c "                                               \
    "&& printf 'int g(int n)\\n{\\n    return n + 2;\\n}\\n' >b.c "                                               \
    "&& git add -A && git commit -qm one && sed -i 's/n + 1/n - 1/' a.c && cd .. && "
#define PATCH_OF(path, hunk) "printf -- '--- a/" path "\\n+++ b/" path "\\n" hunk "' >$D/p.diff && "
#define DIFF                 "inspect-diff -C $D/r "

typedef struct {
    const char *name, *setup, *command;
    const char *path, *why; /* what is left out, part of the reason; NULL = nothing is */
    bool is_refused;        /* the run is refused, beside the row of the list */
} way;

static const way ways[] = {
    {"too large", REPO "head -c 5000000 /dev/zero | tr '\\0' 'x' >>$D/r/b.c", DIFF, "b.c", "larger than what is read",
     false},
    {"a longer file that cannot be read", REPO "printf 'int h;\\n' >>$D/r/b.c && chmod 0 $D/r/b.c", DIFF, "b.c",
     "could not be read: Permission denied", false},
    {"a file of the same size that cannot be read", REPO "sed -i 's/n + 2/n - 2/' $D/r/b.c && chmod 0 $D/r/b.c", DIFF,
     "b.c", "could not be read: Permission denied", false},
    {"a zero byte in a comment", REPO "printf '/* \\0 */\\nint h;\\n' >>$D/r/b.c", DIFF, "b.c", "binary", false},
    {"not there", REPO PATCH_OF("gone.c", "@@ -1 +1 @@\\n-x\\n+y\\n") "true", DIFF "--diff $D/p.diff", "gone.c",
     "not on the new side", false},
    {"a link where the diff has lines",
     REPO "ln -s b.c $D/r/link.c && " PATCH_OF("link.c", "@@ -0,0 +1 @@\\n+y\\n") "true", DIFF "--diff $D/p.diff",
     "link.c", "symbolic link", false},
    {"another version", REPO PATCH_OF("b.c", "@@ -90,0 +91 @@\\n+y\\n") "true", DIFF "--diff $D/p.diff", "b.c",
     "another version", false},
    {"a line of another version", REPO PATCH_OF("b.c", "@@ -3 +3 @@\\n-x\\n+    return n + 3;\\n") "true",
     DIFF "--diff $D/p.diff", "b.c", "line 3 differs: the diff is of another version", false},
    {"an empty file where the diff has lines", REPO ": >$D/r/b.c && " PATCH_OF("b.c", "@@ -0,0 +1 @@\\n+y\\n") "true",
     DIFF "--diff $D/p.diff", "b.c", "another version", false},
    {"two patches of one file",
     REPO PATCH_OF("b.c",
                   "@@ -3 +3 @@\\n-x\\n+    return n + 2;\\n--- a/b.c\\n+++ b/b.c\\n@@ -4 +4 @@\\n-x\\n+}\\n") "true",
     DIFF "--diff $D/p.diff", "b.c", "more than once", false},
    {"the diff says binary",
     REPO "printf 'diff --git a/b.c b/b.c\\nindex 1..2 100644\\nBinary files a/b.c and b/b.c differ\\n' >$D/p.diff",
     DIFF "--diff $D/p.diff", "b.c", "none of its lines", false},
    {"a path out of the directory", REPO PATCH_OF("../b.c", "@@ -0,0 +1 @@\\n+y\\n") "true", DIFF "--diff $D/p.diff",
     "../b.c", "leaves the directory", false},
    {"a path out of the directory that only lost lines", REPO PATCH_OF("../b.c", "@@ -1 +0,0 @@\\n-y\\n") "true",
     DIFF "--diff $D/p.diff", "../b.c", "leaves the directory", false},
    {"a link where the diff takes lines away",
     REPO "ln -s b.c $D/r/link.c && " PATCH_OF("link.c", "@@ -1 +0,0 @@\\n-y\\n") "true", DIFF "--diff $D/p.diff",
     "link.c", "symbolic link", false},
    {"an answer past the limit", REPO "true", "inspect-file $D/r/a.c -n 3 ", "a.c", "cut off", false},
    {"a prompt that does not fit", REPO "true", "inspect-file $D/r/a.c --max-prompt-tokens 50 ", "a.c", "refused",
     true},
    {"context that does not fit",
     REPO "printf 'int f(int n);\\nint caller(void)\\n{\\n    return f(1);\\n}\\n' >$D/r/c.c",
     "inspect-symbol f -C $D/r --prompt-style compact ", "c.c", "context", false},
    {"a file that the index cannot read", REPO "printf 'int h;\\n' >$D/r/closed.c && chmod 0 $D/r/closed.c", DIFF,
     "closed.c", "could not be read", false},
    {"a directory that the index cannot read", REPO "mkdir $D/r/closed && chmod 0 $D/r/closed",
     "inspect-symbol f -C $D/r --prompt-style compact ", "closed", "could not be read", false},
    {"nothing: .gitattributes says that code is binary", REPO "printf '*.c -diff\\n*.c binary\\n' >$D/r/.gitattributes",
     DIFF, NULL, NULL, false},
    {"nothing: the last file is deleted, and no index can be made", REPO "git -C $D/r rm -qf a.c b.c", DIFF, NULL, NULL,
     false},
    {"nothing: an image changed, which has no lines",
     REPO "cd $D/r && printf '\\211PNG\\r\\n\\032\\n\\0\\0' >i.png && git add -A && git commit -qm two && "
          "printf '\\1' >>i.png && sed -i 's/n - 1/n * 2/' a.c",
     DIFF, NULL, NULL, false},
};
enum { N_WAY = sizeof(ways) / sizeof(ways[0]) };

/* ---- the forms ---- */

static json_t *parse(const char *text)
{
    json_error_t e;
    json_t *j = json_loads(text, 0, &e);
    if (!j)
        fail_msg("%s: %.400s", e.text, text);
    return j;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = text ? strlen(text) : 0, m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* The list of a JSON form holds the row and nothing else, and `complete` agrees. */
static bool list_agrees(const json_t *report, const way *w)
{
    const json_t *list = json_object_get(report, "not_inspected"), *row = json_array_get(list, 0);
    const bool complete = json_is_true(json_object_get(report, "complete"));
    if (!json_is_array(list))
        return false;
    if (!w->path)
        return complete && json_array_size(list) == 0;
    const char *why = json_string_value(json_object_get(row, "why"));
    return !complete && json_array_size(list) == 1 && why && strstr(why, w->why) &&
           ends_in(json_string_value(json_object_get(row, "path")), w->path);
}

static bool json_says(const char *text, const way *w)
{
    json_t *j = parse(text);
    const bool ok = list_agrees(j, w);
    json_decref(j);
    return ok;
}

static bool jsonl_says(const char *text, const way *w)
{
    const char *last = strstr(text, "{\"summary\":");
    json_t *j = parse(last ? last : "{}");
    const bool ok = list_agrees(json_object_get(j, "summary"), w);
    json_decref(j);
    return ok;
}

static bool sarif_says(const char *text, const way *w)
{
    json_t *j = parse(text), *note;
    const json_t *run = json_array_get(json_object_get(j, "runs"), 0),
                 *call = json_array_get(json_object_get(run, "invocations"), 0);
    size_t i, n_error = 0, n_named = 0;
    json_array_foreach(json_object_get(call, "toolExecutionNotifications"), i, note)
    {
        const char *said = json_string_value(json_object_get(json_object_get(note, "message"), "text"));
        const json_t *place =
            json_object_get(json_array_get(json_object_get(note, "locations"), 0), "physicalLocation");
        const char *uri = json_string_value(json_object_get(json_object_get(place, "artifactLocation"), "uri"));
        n_error += !strcmp(json_string_value(json_object_get(note, "level")), "error");
        n_named += w->path && strstr(said, "Not inspected: ") && strstr(said, w->why) && ends_in(uri, w->path);
    }
    const json_t *is_whole = json_object_get(call, "executionSuccessful");
    const bool ok =
        w->path ? json_is_false(is_whole) && n_error == 2 && n_named == 1 : json_is_true(is_whole) && n_error == 0;
    json_decref(j);
    return ok;
}

/* One line of the text holds all of these. */
static bool has_line(const char *text, const char *a, const char *b, const char *c)
{
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, "\n");
        char line[4096];
        snprintf(line, sizeof(line), "%.*s", (int)n, p);
        if (strstr(line, a) && strstr(line, b) && strstr(line, c))
            return true;
        p += n + (p[n] == '\n');
    }
    return false;
}

static bool text_says(const char *text, const way *w)
{
    return w->path ? has_line(text, "not inspected: ", w->path, w->why) && strstr(text, ", incomplete")
                   : !strstr(text, "not inspected") && !strstr(text, "incomplete");
}

static bool github_says(const char *text, const way *w)
{
    return w->path ? has_line(text, "::warning title=mythos::The inspection is incomplete: ", w->path, w->why) &&
                         has_line(text, "%0ANot inspected: ", w->path, w->why)
                   : !strstr(text, "incomplete") && !strstr(text, "Not inspected");
}

static bool rdjsonl_says(const char *text, const way *w)
{
    return w->path ? has_line(text, "\"code\":{\"value\":\"not-inspected\"}", w->path, w->why) &&
                         has_line(text, "\"code\":{\"value\":\"incomplete\"}", "\"severity\":\"WARNING\"", "")
                   : !strstr(text, "not-inspected") && !strstr(text, "incomplete");
}

static bool checkstyle_says(const char *text, const way *w)
{
    return w->path ? has_line(text, "<file name=", w->path, "\">") &&
                         has_line(text, "source=\"mythos.not-inspected\"", "message=\"Not inspected: ", w->why) &&
                         has_line(text, "source=\"mythos.incomplete\"", "severity=\"warning\"", "")
                   : !strstr(text, "not-inspected") && !strstr(text, "incomplete");
}

static bool codequality_says(const char *text, const way *w)
{
    json_t *all = json_loads(text, 0, NULL), *e;
    bool is_said = false, is_incomplete = false;
    size_t i;
    json_array_foreach(all, i, e)
    {
        const char *check = json_string_value(json_object_get(e, "check_name"));
        const char *path = json_string_value(json_object_get(json_object_get(e, "location"), "path"));
        const char *says = json_string_value(json_object_get(e, "description"));
        is_said |= !strcmp(check, "not-inspected") && w->path && strstr(path, w->path) && strstr(says, w->why);
        is_incomplete |= !strcmp(check, "incomplete");
    }
    const bool is_array = json_is_array(all);
    json_decref(all);
    return is_array && is_said == (w->path != NULL) && is_incomplete == (w->path != NULL);
}

static bool junit_says(const char *text, const way *w)
{
    return w->path ? has_line(text, "<testcase classname=\"mythos.not-inspected\"", w->path, "") &&
                         has_line(text, "<error type=\"not-inspected\"", "message=\"", w->why) &&
                         has_line(text, "<error type=\"incomplete\"", "message=\"", "")
                   : !strstr(text, "not-inspected") && !strstr(text, "incomplete");
}

static bool html_says(const char *text, const way *w)
{
    return w->path ? has_line(text, "<li>", w->path, w->why) && strstr(text, "<p>Not inspected:</p>") &&
                         strstr(text, "The inspection is incomplete: ")
                   : !strstr(text, "Not inspected") && !strstr(text, "is incomplete");
}

static const struct {
    const char *name;
    bool (*says)(const char *text, const way *w);
} forms[MYTH_FORM_N] = {
    [MYTH_FORM_TEXT] = {"text", text_says},
    [MYTH_FORM_JSON] = {"json", json_says},
    [MYTH_FORM_JSONL] = {"jsonl", jsonl_says},
    [MYTH_FORM_SARIF] = {"sarif", sarif_says},
    [MYTH_FORM_GITHUB] = {"github", github_says},
    [MYTH_FORM_RDJSONL] = {"rdjsonl", rdjsonl_says},
    [MYTH_FORM_HTML] = {"html", html_says},
    [MYTH_FORM_CHECKSTYLE] = {"checkstyle", checkstyle_says},
    [MYTH_FORM_CODEQUALITY] = {"codequality", codequality_says},
    [MYTH_FORM_JUNIT] = {"junit", junit_says},
};

/* ---- the table ---- */

static cli_result r;
static char form_text[1 << 20];
static uint32_t n_wrong, n_cell;

static void expect(bool ok, const way *w, const char *cell, const char *seen)
{
    n_cell++;
    if (ok)
        return;
    n_wrong++;
    print_error("%s x %s: not as it should be: %.1500s\n", w->name, cell, seen);
}

/* The record of the last run: its exit code, and the report in it. */
static void check_record(const way *w, int code)
{
    cli_shell(&r, "$M log show last --json --log $D/runs.db");
    json_t *j = parse(r.out);
    const json_t *report = json_object_get(j, "report");
    expect(json_integer_value(json_object_get(j, "exit_code")) == code && list_agrees(report, w), w, "log", r.out);
    json_decref(j);
    cli_shell(&r, "$M log list --json -n 1 --log $D/runs.db");
    j = parse(r.out);
    expect(json_integer_value(json_object_get(json_array_get(j, 0), "exit_code")) == code, w, "log list", r.out);
    json_decref(j);
}

static void run_way(const way *w)
{
    char line[4096];
    size_t n = (size_t)snprintf(line, sizeof(line), "$M %s %s --fail-level never --log $D/runs.db", w->command, TINY);
    for (int k = 0; k < MYTH_FORM_N; k++)
        n += (size_t)snprintf(line + n, sizeof(line) - n, " --output %s=$D/o.%s", forms[k].name, forms[k].name);
    cli_shell(&r, w->setup);
    if (r.code != 0)
        print_error("%s: %s\n", w->name, r.err);
    assert_int_equal(r.code, 0);
    cli_shell(&r, line);
    const int code = r.code;
    expect(code == (w->path ? 3 : 0), w, "exit code", r.err);
    for (int k = 0; k < MYTH_FORM_N; k++) {
        char name[32];
        snprintf(name, sizeof(name), "o.%s", forms[k].name);
        cli_slurp(form_text, sizeof(form_text), name);
        expect(forms[k].says(form_text, w), w, forms[k].name, form_text);
    }
    check_record(w, code);
}

static void every_way_in_every_form(void **state)
{
    (void)state;
    for (int i = 0; i < N_WAY; i++)
        run_way(&ways[i]);
    printf("%d ways x %d forms, exit code and record: %u cells\n", (int)N_WAY, (int)MYTH_FORM_N, n_cell);
    assert_int_equal(n_cell, N_WAY * (MYTH_FORM_N + 3));
    assert_int_equal(n_wrong, 0);
}

/* A run that was interrupted before its first part: as the pipeline reports it, for there is no moment at which a
 * signal from outside is sure to meet it. */
static void an_interrupted_run(void **unused)
{
    static const myth_cancel cancel = 1;
    static const char code[] = "int f(int n)\n{\n    return n + 1;\n}\n";
    const way w = {.name = "interrupted", .path = "a.c", .why = "interrupted"};
    const myth_term plain = {0};
    const myth_inspect_opts o = {
        .style = MYTH_PROMPT_COMPACT,
        .max_prompt_tokens = MYTH_INSPECT_PROMPT_TOKENS,
        .max_new_tokens = 96,
        .n_ctx = 1024,
        .cancel = &cancel,
    };
    (void)unused;
    rig g;
    myth_material *m;
    myth_inspection *in;
    myth_error err = {0};
    rig_open(&g, "random:gemma3-tiny:q8_0",
             &(myth_engine_opts){.n_threads = 1, .n_ctx = 1024, .n_checkpoint = 1, .top_k = 64, .n_mask = 1});
    assert_int_equal(myth_material_whole(&m, g.model.mem, "a.c", (const unsigned char *)code, sizeof(code) - 1, &err),
                     0);
    assert_int_equal(myth_inspect_open(&in, &g.model, m, &o, &err), MYTH_OK);
    assert_int_equal(myth_inspect_run(in, g.engine, &err), MYTH_OK);
    for (int k = 0; k < MYTH_FORM_N; k++) {
        FILE *f = fmemopen(form_text, sizeof(form_text), "w");
        assert_non_null(f);
        myth_output_render(f, (myth_form)k, myth_inspect_report(in), &plain);
        fclose(f);
        expect(forms[k].says(form_text, &w), &w, forms[k].name, form_text);
    }
    myth_inspect_close(in);
    myth_material_close(m);
    rig_close(&g);
    assert_int_equal(n_wrong, 0);
}

/* Root reads everything, unless the programs that it starts lack the two capabilities for that. */
static bool may_be_refused(void)
{
    return geteuid() != 0 || (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) == 0 &&
                              prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0) == 0);
}

static int begin(void **state)
{
    char cache[64];
    if (cli_begin(state) != 0)
        return -1;
    if (!may_be_refused()) {
        print_error("root without CAP_SETPCAP: no file can be made unreadable here\n");
        return -1;
    }
    snprintf(cache, sizeof(cache), "%s/cache", cli_dir);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_in_every_form),
        cmocka_unit_test(an_interrupted_run),
    };
    if (system("command -v git >/dev/null") != 0) {
        printf("skipped: there is no git to make a repository with\n");
        return 77;
    }
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    return cmocka_run_group_tests(tests, begin, cli_end);
}
