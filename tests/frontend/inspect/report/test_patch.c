/* test_patch.c - patches from the fixes of a report: which text is taken for code, which lines it replaces, and why a
 * fix is refused. git must apply every patch, and every form of the report must lead to the same file. Needs git and
 * grammars. */
#include "report_bed.h"
#include "tests/support/files.h"

#include "frontend/inspect/report/patch.h"
#include "retrieval/retrieval.h"

#include <jansson.h>
#include <unistd.h>

static bed b;
static char root[4096], schema[4096];
static const char *worker;

/* Runs a shell line in the test's repository and returns its exit status. */
static int shell(const char *line)
{
    char whole[6000];
    snprintf(whole, sizeof(whole),
             "cd '%s' && export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a "
             "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a && "
             "mkdir -p r && cd r && { %s ; } >../out 2>&1",
             files_dir(), line);
    return system(whole);
}

static void must(const char *line)
{
    char text[2048] = "";
    if (shell(line) == 0)
        return;
    FILE *f = fopen(files_path("out"), "rb");
    if (f) {
        text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
        fclose(f);
    }
    print_error("%s\n%s\n", line, text);
    fail();
}

static char *slurp(const char *name, size_t *n)
{
    char *text = malloc(1 << 17);
    FILE *f = fopen(files_path(name), "rb");
    assert_non_null(f);
    *n = fread(text, 1, (1 << 17) - 1, f);
    text[*n] = '\0';
    fclose(f);
    return text;
}

static const char *in_repo(const char *path)
{
    static char name[4][600];
    static int at;
    at = (at + 1) % 4;
    snprintf(name[at], sizeof(name[at]), "r/%s", path);
    return name[at];
}

static void start(const char *path, const char *code, size_t n)
{
    if (strchr(path, '/')) {
        char line[600];
        snprintf(line, sizeof(line), "mkdir -p '%.*s'", (int)(strrchr(path, '/') - path), path);
        must(line);
    }
    files_put(in_repo(path), code, n);
    bed_open(&b, path, code, n);
}

/* Adds a finding whose evidence is `piece` in line `line`, or the whole line when piece is NULL. */
static void add(uint32_t first, uint32_t last, uint32_t line, const char *piece, const char *fix)
{
    myth_finding *f = bed_add(&b, "missing-bounds-check", first, last, line);
    f->fix = bed_str(&b, fix);
    if (piece) {
        myth_citation *c = &b.citation[b.report.n_finding - 1];
        const char *at = strstr(b.code + c->off, piece);
        assert_non_null(at);
        *c = (myth_citation){line, (uint32_t)(at - b.code), (uint32_t)strlen(piece)};
        f->evidence = (myth_str){b.code + c->off, c->len};
    }
}

static myth_patches *make(void)
{
    myth_patches *p = NULL;
    myth_error err = {0};
    if (myth_patches_open(&p, &b.report, root, worker, &err) != MYTH_OK)
        print_error("%s\n", err.msg);
    assert_non_null(p);
    b.report.patch = myth_patches_list(p);
    return p;
}

/* ---- the forms ---- */

/* Returns the text with lines first .. last replaced, without the line end of the last one. */
static char *replaced(const char *text, size_t n, uint32_t first, uint32_t last, const char *put)
{
    const char *from = text, *to, *end = text + n;
    for (uint32_t i = 1; i < first; i++)
        from = (const char *)memchr(from, '\n', (size_t)(end - from)) + 1;
    to = from;
    for (uint32_t i = first; i <= last; i++) {
        const char *stop = memchr(to, '\n', (size_t)(end - to));
        to = stop ? (i < last ? stop + 1 : stop) : end;
    }
    if (to > from && to < end && to[-1] == '\r')
        to--;
    char *out = calloc(1, n + strlen(put) + 1);
    memcpy(out, text, (size_t)(from - text));
    strcat(out, put);
    strcat(out, to);
    return out;
}

static void same(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        print_error("%s:\n%s\nexpected:\n%s\n", what, got, want);
    assert_string_equal(got, want);
}

/* Applies the suggestion of a workflow annotation as a code host would: to the lines that it names, or else to those of
 * the annotation, with the file's line ends. */
static char *suggested(char *text)
{
    static const char *const sign[][2] = {{"%0A", "\n"}, {"%0D", "\r"}, {"%25", "%"}};
    char *at = strstr(text, "%0ASuggested change"), *fence, *end, put[4096] = "";
    unsigned first, last, n_tick = 0;
    assert_non_null(at);
    if (sscanf(at, "%%0ASuggested change of lines %u-%u:", &first, &last) != 2)
        assert_int_equal(sscanf(strstr(text, ",line="), ",line=%u,endLine=%u", &first, &last), 2);
    assert_non_null(fence = strchr(at, '`'));
    while (fence[n_tick] == '`')
        n_tick++;
    assert_true(n_tick >= 3 && strncmp(fence + n_tick, "suggestion%0A", 13) == 0);
    at = fence + n_tick + 13;
    end = strrchr(at, '`') + 1 - n_tick;
    assert_true(end >= at && strncmp(end, fence, n_tick) == 0 && end[n_tick] == '\n');
    for (unsigned run = 0, i = 0; at + i < end; i++) { /* a fence inside would end the suggestion */
        run = at[i] == '`' ? run + 1 : 0;
        assert_true(run < n_tick);
    }
    for (size_t n = 0; at < end;) {
        size_t k = 0;
        while (k < 3 && strncmp(at, sign[k][0], 3) != 0)
            k++;
        if (k == 0 && strchr(b.code, '\r') && at + 3 < end)
            put[n++] = '\r';
        put[n++] = k < 3 ? sign[k][1][0] : *at;
        at += k < 3 ? 3 : 1;
        put[n] = '\0';
    }
    if (put[0])
        put[strlen(put) - 1] = '\0'; /* the last line's end stays in the file */
    return replaced(b.code, b.src.len, first, last, put);
}

/* Applies the one finding's patch as rdjsonl, github, sarif and json describe it; each must give the wanted file. The
 * text and HTML forms must show a patch. */
static void check_forms(const char *path, const char *want)
{
    size_t n;
    char line[5200];
    char *text = bed_render(&b, MYTH_FORM_RDJSONL, &n);
    json_t *j = json_loads(text, 0, NULL), *v = json_object_get(j, "suggestions");
    assert_int_equal(json_array_size(v), 1);
    v = json_array_get(v, 0);
    json_t *range = json_object_get(v, "range");
    char *got = replaced(b.code, b.src.len,
                         (uint32_t)json_integer_value(json_object_get(json_object_get(range, "start"), "line")),
                         (uint32_t)json_integer_value(json_object_get(json_object_get(range, "end"), "line")),
                         json_string_value(json_object_get(v, "text")));
    same("rdjsonl", got, want);
    free(got);
    free(text);
    json_decref(j);

    text = bed_render(&b, MYTH_FORM_GITHUB, &n);
    got = suggested(text);
    same("github", got, want);
    free(got);
    free(text);

    text = bed_render(&b, MYTH_FORM_SARIF, &n);
    files_put("fixes.sarif", text, n);
    j = json_loads(text, 0, NULL);
    v = json_array_get(json_object_get(json_array_get(json_object_get(j, "runs"), 0), "results"), 0);
    v = json_array_get(json_object_get(v, "fixes"), 0);
    v = json_array_get(json_object_get(json_array_get(json_object_get(v, "artifactChanges"), 0), "replacements"), 0);
    range = json_object_get(v, "deletedRegion");
    assert_int_equal(json_integer_value(json_object_get(range, "startColumn")), 1);
    assert_true(json_integer_value(json_object_get(range, "endColumn")) > 1);
    got = replaced(b.code, b.src.len, (uint32_t)json_integer_value(json_object_get(range, "startLine")),
                   (uint32_t)json_integer_value(json_object_get(range, "endLine")),
                   json_string_value(json_object_get(json_object_get(v, "insertedContent"), "text")));
    same("sarif", got, want);
    free(got);
    free(text);
    json_decref(j);
    if (schema[0]) {
        snprintf(
            line, sizeof(line),
            "python3 -c 'import json,sys,warnings; warnings.simplefilter(\"ignore\"); import jsonschema; "
            "s=json.load(open(sys.argv[1])); "
            "jsonschema.validators.validator_for(s)(s).validate(json.load(open(sys.argv[2])))' '%s' ../fixes.sarif",
            schema);
        must(line);
    }

    text = bed_render(&b, MYTH_FORM_JSON, &n);
    j = json_loads(text, 0, NULL);
    const char *diff = json_string_value(json_object_get(json_array_get(json_object_get(j, "findings"), 0), "patch"));
    assert_non_null(diff);
    files_put("one.diff", diff, strlen(diff));
    json_decref(j);
    free(text);
    must("git apply --check ../one.diff && git apply ../one.diff");
    text = slurp(in_repo(path), &n);
    same("json", text, want);
    free(text);
    files_put(in_repo(path), b.code, b.src.len);
    text = bed_render(&b, MYTH_FORM_TEXT, &n);
    assert_non_null(strstr(text, "    patch:\n"));
    free(text);
    text = bed_render(&b, MYTH_FORM_HTML, &n);
    assert_non_null(strstr(text, "<summary>Patch</summary>"));
    free(text);
}

/* ---- which fixes become patches ---- */

typedef struct {
    const char *path, *code;
    uint32_t first, last, line;
    const char *piece, *fix;
    const char *want; /* the file with the patch; NULL: there must be no patch */
    myth_patch_result result;
} a_case;

#define C_HEAD "void f(char *dst, const char *src, unsigned long n)\n{\n"
static const a_case cases[] = {
    /* the new code is for a line or a piece of it: as the whole text, between backticks, in a fence */
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "strncpy(dst, src, n);",
     C_HEAD "\tstrncpy(dst, src, n);\n}\n", MYTH_PATCH_MADE},
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "Use `strncpy(dst, src, n);` instead of `strcpy`.",
     C_HEAD "\tstrncpy(dst, src, n);\n}\n", MYTH_PATCH_MADE},
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, "strcpy(dst, src)", "strncpy(dst, src, n);",
     C_HEAD "\tstrncpy(dst, src, n);\n}\n", MYTH_PATCH_MADE},
    {"a.c", C_HEAD "\tif (strcmp(dst, src)) {\n\t}\n}\n", 3, 3, 3, "strcmp(dst, src)", "strncmp(dst, src, n)",
     C_HEAD "\tif (strncmp(dst, src, n)) {\n\t}\n}\n", MYTH_PATCH_MADE},
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL,
     "Check the length:\n```c\nif (strlen(src) < n)\n    strcpy(dst, src);\n```\nThen it fits.",
     C_HEAD "\tif (strlen(src) < n)\n\t    strcpy(dst, src);\n}\n", MYTH_PATCH_MADE},
    {"a.c", C_HEAD "\tunsigned long m = 0;\n\tm = n * 2;\n\tdst[m] = src[m];\n}\n", 3, 5, 5, NULL,
     "```\nunsigned long m = n * 2;\nif (m < n)\n\tdst[m] = src[m];\n```",
     C_HEAD "\tunsigned long m = n * 2;\n\tif (m < n)\n\t\tdst[m] = src[m];\n}\n", MYTH_PATCH_MADE},
    /* a rewritten definition: from the line that it begins with to the one that it ends with */
    {"a.c", "int x;\nint g(int a)\n{\n\tint c = 1;\n\treturn 8 / a;\n}\nint y;\n", 5, 5, 5, NULL,
     "```\nint g(int a)\n{\n\tint c = 1;\n\tif (a == 0)\n\t\treturn 0;\n\treturn 8 / a;\n}\n```",
     "int x;\nint g(int a)\n{\n\tint c = 1;\n\tif (a == 0)\n\t\treturn 0;\n\treturn 8 / a;\n}\nint y;\n",
     MYTH_PATCH_MADE},
    /* a path with a space, line ends \r\n, a last line without an end, a character beyond ASCII before the place */
    {"d/e f.py", "import json\n\n\ndef load(value):\n    return eval(value)\n", 5, 5, 5, "eval(value)",
     "`json.loads(value)`", "import json\n\n\ndef load(value):\n    return json.loads(value)\n", MYTH_PATCH_MADE},
    {"w.c", "int g(int a)\r\n{\r\n\treturn 8 / a;\r\n}\r\n", 3, 3, 3, NULL,
     "```\nif (a)\n\treturn 8 / a;\nreturn 0;\n```",
     "int g(int a)\r\n{\r\n\tif (a)\r\n\t\treturn 8 / a;\r\n\treturn 0;\r\n}\r\n", MYTH_PATCH_MADE},
    {"n.c", "int g(int a) { return 8 / a; }", 1, 1, 1, "return 8 / a;", "return a ? 8 / a : 0;",
     "int g(int a) { return a ? 8 / a : 0; }", MYTH_PATCH_MADE},
    {"u.py", "s = 'na\xc3\xafve'; t = load(s)\n", 1, 1, 1, "load(s)", "`json.load(s)`",
     "s = 'na\xc3\xafve'; t = json.load(s)\n", MYTH_PATCH_MADE},
    /* a file with a syntax error may keep it */
    {"e.c", "int h( {\n\n" C_HEAD "\tstrcpy(dst, src);\n}\n", 5, 5, 5, NULL, "strncpy(dst, src, n);",
     "int h( {\n\n" C_HEAD "\tstrncpy(dst, src, n);\n}\n", MYTH_PATCH_MADE},
    /* prose */
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "Check the length of src before it is copied to dst.",
     NULL, MYTH_PATCH_NO_CODE},
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "Use `strncpy` or `strlcpy`.", NULL, MYTH_PATCH_NO_CODE},
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "Do not trust `src`", NULL, MYTH_PATCH_NO_CODE},
    {"a.rb", "def run(key, rows)\n  value = rows[key]\n  eval value\nend\n", 3, 3, 3, NULL,
     "Validate the value before it is used", NULL, MYTH_PATCH_NO_CODE},
    {"a.py", "def run(value):\n    return eval(value)\n", 2, 2, 2, NULL, "sanitize", NULL, MYTH_PATCH_NO_CODE},
    {"a.py", "def run(value):\n    return eval(value)\n", 2, 2, 2, NULL, "return eval(value)", NULL,
     MYTH_PATCH_NO_CODE},
    {"a.sh", "rm -rf $dir/$name\n", 1, 1, 1, NULL, "quote the name and the dir", NULL, MYTH_PATCH_NO_CODE},
    /* the file would parse worse: a new error, a missing part, a definition fewer */
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "strncpy(dst, src, n;", NULL, MYTH_PATCH_BREAKS},
    {"a.c", C_HEAD "\tstrcpy(dst, src);\n}\n", 3, 3, 3, NULL, "`strncpy(dst, src, n)`", NULL, MYTH_PATCH_BREAKS},
    {"a.py", "def run(value):\n    if value:\n        return eval(value)\n", 2, 3, 3, NULL,
     "```\nif value is:\n    return eval(value)\n```", NULL, MYTH_PATCH_BREAKS},
    {"a.c", "int one(int a)\n{\n\treturn a;\n}\n\nint two(int a)\n{\n\treturn a / 0;\n}\n", 1, 9, 8, NULL,
     "```\nint one(int a)\n{\n\treturn a / 2;\n}\n```", NULL, MYTH_PATCH_BREAKS},
    /* signs that reports do not show, secrets, a language without a grammar */
    {"a.py", "def run(value):\n    return eval(value)\n", 2, 2, 2, NULL, "return load(value) # \xe2\x80\xae", NULL,
     MYTH_PATCH_NOT_PLAIN},
    {"a.py", "key = \"AKIAIOSFODNN7EXAMPLA\"\nvalue = eval(key)\n", 2, 2, 2, NULL, "value = load(key)", NULL,
     MYTH_PATCH_SECRET},
    {"a.py", "value = eval(key)\n", 1, 1, 1, NULL, "value = load(key, \"AKIAIOSFODNN7EXAMPLA\")", NULL,
     MYTH_PATCH_SECRET},
    {"a.txt", "value = eval(key)\n", 1, 1, 1, NULL, "value = load(key)", NULL, MYTH_PATCH_NO_GRAMMAR},
};

/* Code that has a fence itself cannot end the suggestion, and a suggestion says which lines it replaces where they are
 * not those of the finding. */
static void test_fence_in_a_suggestion(void **unused)
{
    static const char put[] = "s = \"````\"\n";
    static const myth_patch patch = {.first = 2, .last = 2, .text = put, .n = sizeof(put) - 1};
    static const uint32_t finding[][2] = {{1, 3}, {2, 3}, {1, 2}, {2, 2}};
    size_t n;
    (void)unused;
    for (size_t i = 0; i < sizeof(finding) / sizeof(*finding); i++) {
        start("f.py", "a = 1\nb = 2\nc = 3\n", 18);
        add(finding[i][0], finding[i][1], 2, NULL, "quote it");
        bed_mark(&b, false, NULL);
        b.report.patch = &patch;
        char *text = bed_render(&b, MYTH_FORM_GITHUB, &n), *got = suggested(text);
        same("github", got, "a = 1\ns = \"````\"\nc = 3\n");
        assert_int_equal(strstr(text, "of lines 2-2") != NULL, i < 3);
        free(got);
        free(text);
        bed_close(&b);
    }
}

static void test_cases(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const a_case *c = &cases[i];
        start(c->path, c->code, strlen(c->code));
        add(c->first, c->last, c->line, c->piece, c->fix);
        bed_mark(&b, false, NULL);
        myth_patches *p = make();
        if (myth_patches_count(p, c->result) != 1) {
            int got = 0;
            while (got < MYTH_PATCH_N && !myth_patches_count(p, (myth_patch_result)got))
                got++;
            print_error("%s: '%s': %s\n", c->path, c->fix,
                        got < MYTH_PATCH_N ? myth_patch_result_text((myth_patch_result)got) : "nothing");
            if (b.report.patch[0].text)
                print_error("%s\n", b.report.patch[0].diff);
        }
        assert_int_equal(myth_patches_count(p, c->result), 1);
        assert_true((b.report.patch[0].text != NULL) == (c->want != NULL));
        if (c->want)
            check_forms(c->path, c->want);
        for (int form = 0; form < MYTH_FORM_N && !c->want; form++) {
            size_t n;
            char *text = bed_render(&b, (myth_form)form, &n);
            assert_null(strstr(text, "\"patch\""));
            assert_null(strstr(text, "\"fixes\""));
            assert_null(strstr(text, "\"suggestions\""));
            assert_null(strstr(text, "Suggested change"));
            assert_null(strstr(text, "    patch:\n"));
            free(text);
        }
        myth_patches_close(p);
        bed_close(&b);
    }
    if (!schema[0])
        check_left_out("fixes against the schema of SARIF", "no sarif-schema-2.1.0.json in ../shared/schemas");
}

/* ---- several ---- */

static const char three[] = "int one(int a)\n{\n\treturn 8 / a;\n}\n\nint two(int a)\n{\n\treturn 9 / a;\n}\n";

static void write_and_apply(const myth_patches *p, const char *want)
{
    size_t n;
    char name[4200];
    snprintf(name, sizeof(name), "%s/../all.diff", root);
    assert_int_equal(myth_patches_write(p, name, NULL), MYTH_OK);
    must("git apply --check ../all.diff && git apply ../all.diff");
    char *text = slurp(in_repo(b.path), &n);
    same("the diff of all", text, want);
    free(text);
}

static void test_all_apply_together(void **unused)
{
    (void)unused;
    start("a.c", three, sizeof(three) - 1);
    add(3, 3, 3, NULL, "return a ? 8 / a : 0;");
    add(8, 8, 8, NULL, "return a ? 9 / a : 0;");
    add(3, 3, 3, NULL, "return a ? 8 / a : 0;");      /* the first patch again: merging it changes nothing */
    add(3, 3, 3, NULL, "return a != 0 ? 8 / a : 1;"); /* conflicts with the first patch                    */
    bed_mark(&b, false, NULL);
    myth_patches *p = make();
    assert_int_equal(myth_patches_count(p, MYTH_PATCH_MADE), 3);
    assert_int_equal(myth_patches_count(p, MYTH_PATCH_CONFLICT), 1);
    assert_null(b.report.patch[3].text);
    write_and_apply(p,
                    "int one(int a)\n{\n\treturn a ? 8 / a : 0;\n}\n\nint two(int a)\n{\n\treturn a ? 9 / a : 0;\n}\n");
    myth_patches_close(p);
    bed_close(&b);
}

/* When the file has changed since the inspection, patches are made for the file as it is now. One whose lines have
 * changed is a conflict. */
static void test_file_that_went_on(void **unused)
{
    static const char now[] =
        "/* new */\nint one(int a)\n{\n\treturn 8 / a;\n}\n\nint two(int a)\n{\n\treturn 10 / a;\n}\n";
    (void)unused;
    start("a.c", three, sizeof(three) - 1);
    files_put(in_repo("a.c"), now, sizeof(now) - 1);
    add(3, 3, 3, NULL, "return a ? 8 / a : 0;");
    add(8, 8, 8, NULL, "return a ? 9 / a : 0;");
    bed_mark(&b, false, NULL);
    myth_patches *p = make();
    assert_int_equal(myth_patches_count(p, MYTH_PATCH_MADE), 1);
    assert_int_equal(myth_patches_count(p, MYTH_PATCH_CONFLICT), 1);
    write_and_apply(
        p, "/* new */\nint one(int a)\n{\n\treturn a ? 8 / a : 0;\n}\n\nint two(int a)\n{\n\treturn 10 / a;\n}\n");
    myth_patches_close(p);
    bed_close(&b);
}

static void test_answered_findings_have_none(void **unused)
{
    static const char code[] =
        "int one(int a)\n{\n\treturn 8 / a;        // mythos:ignore[missing-bounds-check] never zero\n}\n";
    char name[4200];
    size_t n;
    (void)unused;
    start("a.c", code, sizeof(code) - 1);
    add(3, 3, 3, "return 8 / a;", "return a ? 8 / a : 0;");
    bed_mark(&b, true, NULL);
    assert_false(myth_report_is_active(&b.report, 0));
    myth_patches *p = make();
    assert_null(b.report.patch[0].text);
    snprintf(name, sizeof(name), "%s/../none.diff", root);
    assert_int_equal(myth_patches_write(p, name, NULL), MYTH_OK);
    char *text = slurp("none.diff", &n);
    assert_int_equal(n, 0);
    free(text);
    assert_int_equal(myth_patches_write(NULL, name, NULL), MYTH_OK);
    myth_patches_close(p);
    bed_close(&b);
}

/* ---- at random ---- */

/* Whatever a model writes as a fix, git applies the patches, and the file then parses no worse than before. */
static void test_random_fixes(void **unused)
{
    static const char *const word[] = {"return", " a", " ? ", "8 / a",  " : ", "0", ";",     "(",      ")", "{",
                                       "}",      "\n", "\t",  "if (a)", "int", "`", "```\n", "x = a;", "b", " the "};
    static const char *const path[] = {"a.c", "a.py", "a.js", "a.rb"};
    static const char *const code[] = {
        three, "def one(a):\n    x = 8 / a\n    return x\n\n\ndef two(a):\n    return 9 / a\n",
        "function one(a) {\n  return 8 / a;\n}\n\nfunction two(a) {\n  return 9 / a;\n}\n",
        "def one(a)\n  return 8 / a\nend\n\ndef two(a)\n  return 9 / a\nend\n"};
    uint64_t seed = check_seed();
    uint32_t n_made = 0, n_fix = 0, n_file = 0;
    myth_mem *mem;
    myth_chunker *chunker;
    (void)unused;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_chunker_open(&chunker, mem, worker, NULL), MYTH_OK);
    for (uint32_t i = 0, n = check_is_full() ? 1000 : check_sample(100); check_goes_on(i, n, n_made); i++) {
        char fix[240], name[4200];
        uint32_t k = check_below(&seed, 4);
        start(path[k], code[k], strlen(code[k]));
        for (uint32_t m = 1 + check_below(&seed, 3); m > 0; m--) {
            uint32_t line = 1 + check_below(&seed, b.src.n_line), last = line + check_below(&seed, 3);
            fix[0] = '\0';
            myth_str t = {b.code + b.src.line[line - 1].off, b.src.line[line - 1].len};
            if (check_below(&seed, 2))
                snprintf(fix, sizeof(fix), "%.*s", (int)(t.len - check_below(&seed, (uint32_t)t.len + 1)), t.text);
            for (uint32_t w = check_below(&seed, 8); w > 0 && strlen(fix) < 200; w--)
                strcat(fix, word[check_below(&seed, sizeof(word) / sizeof(word[0]))]);
            if (!b.src.line[line - 1].text_len || !fix[0])
                continue;
            add(line, last < b.src.n_line ? last : b.src.n_line, line, NULL, fix);
            n_fix++;
        }
        bed_mark(&b, false, NULL);
        myth_patches *p = make();
        if (myth_patches_count(p, MYTH_PATCH_MADE)) {
            size_t len;
            myth_chunks was = {0}, now = {0};
            n_made += myth_patches_count(p, MYTH_PATCH_MADE);
            n_file++;
            snprintf(name, sizeof(name), "%s/../all.diff", root);
            assert_int_equal(myth_patches_write(p, name, NULL), MYTH_OK);
            must("git apply --check ../all.diff && git apply ../all.diff");
            char *text = slurp(in_repo(path[k]), &len);
            const char *language = myth_detect_language(path[k], (const unsigned char *)text, len);
            assert_string_not_equal(text, code[k]);
            assert_int_equal(myth_chunk_file(&was, chunker, language, path[k], (const unsigned char *)code[k],
                                             strlen(code[k]), NULL),
                             MYTH_OK);
            assert_int_equal(myth_chunk_file(&now, chunker, language, path[k], (const unsigned char *)text, len, NULL),
                             MYTH_OK);
            assert_true(now.n_error <= was.n_error && now.error_bytes <= was.error_bytes &&
                        now.n_symbol == was.n_symbol);
            myth_chunks_free(&was, mem);
            myth_chunks_free(&now, mem);
            free(text);
        }
        myth_patches_close(p);
        bed_close(&b);
    }
    myth_chunker_close(chunker);
    assert_int_equal(myth_mem_close(mem), 0);
    printf("%u of %u fixes are patches, of %u files\n", n_made, n_fix, n_file);
    assert_true(n_made > 0);
}

int main(void)
{
    const char *schemas = getenv("MYTHOS_SCHEMAS");
    char path[4200];
    worker = getenv("MYTHOS_BIN");
    if (!worker || !myth_chunk_has_grammar("c") || !myth_chunk_has_grammar("ruby") ||
        system("command -v git >/dev/null") != 0) {
        printf("no git, or no grammars\n");
        return CHECK_SKIP;
    }
    for (int i = 0; i < 2 && !schema[0]; i++) {
        snprintf(path, sizeof(path), "%s/sarif-schema-2.1.0.json",
                 schemas ? schemas : check_path(root, sizeof(root), i ? "../../shared/schemas" : "../shared/schemas"));
        if (access(path, R_OK) == 0 && system("python3 -c 'import jsonschema' 2>/dev/null") == 0 &&
            !realpath(path, schema))
            schema[0] = '\0';
    }
    setenv("GIT_CEILING_DIRECTORIES", files_dir(), 1);
    snprintf(root, sizeof(root), "%s", files_path("r"));
    must("git init -q");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_fence_in_a_suggestion),
        cmocka_unit_test(test_all_apply_together),
        cmocka_unit_test(test_file_that_went_on),
        cmocka_unit_test(test_answered_findings_have_none),
        cmocka_unit_test(test_random_fixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
