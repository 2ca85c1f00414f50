/* test_baseline.c - baselines are read from every form that has fingerprints, an update keeps the entries of code that
 * was not inspected, and broken files are refused. */
#include "report_bed.h"
#include "tests/support/files.h"

#include <jansson.h>
#include <unistd.h>

static bed b;
static const char code[] = "a = 1 / n;\nb = 1 / m;\nfree(p);\nfree(p);\n";

static void open_four(const myth_baseline *base)
{
    bed_open(&b, "a.c", code, sizeof(code) - 1);
    for (uint32_t line = 1; line <= 4; line++)
        bed_add(&b, line < 3 ? "division-by-zero" : "double-free", line, line, line);
    bed_mark(&b, true, base);
}

static myth_baseline *open_base(myth_mem *mem, const char *name)
{
    myth_baseline *base = NULL;
    myth_error err = {0};
    if (myth_baseline_open(&base, mem, files_path(name), false, &err) != MYTH_OK)
        print_error("%s\n", err.msg);
    assert_non_null(base);
    return base;
}

static myth_mem *mem;
static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}
static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* After a baseline with the first three findings, in each form that has fingerprints, only the fourth is new. */
static void test_reads_reports(void **unused)
{
    static const myth_form form[] = {MYTH_FORM_JSON, MYTH_FORM_JSONL, MYTH_FORM_SARIF};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        size_t len;
        open_four(NULL);
        b.report.n_finding = 3;
        char *text = bed_render(&b, form[i], &len);
        files_put("base", text, len);
        free(text);
        bed_close(&b);

        myth_baseline *base = open_base(mem, "base");
        assert_int_equal(myth_baseline_count(base), 3);
        open_four(base);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(b.marks.mark[k].is_known, k < 3);
        assert_int_equal(myth_report_n_known(&b.report), 3);
        assert_true(myth_report_reaches(&b.report, MYTH_SEVERITY_HIGH));
        b.report.n_finding = 3;
        assert_false(myth_report_reaches(&b.report, MYTH_SEVERITY_INFO));
        bed_close(&b);
        myth_baseline_close(base);
    }
}

/* What a formatter changes in a line leaves a finding known, in each form that has both fingerprints; a baseline of the
 * first version still knows what was not touched. */
static void test_reformatted(void **unused)
{
    static const char as_was[] = "int f(int s)\n{\n    return bind(s, (struct a *)&x, sizeof x);\n}\n",
                      is_now[] = "int f( int s )\n{\n\treturn bind( s,(struct a*) & x,sizeof x );\n}\n",
                      is_other[] = "int f(int s)\n{\n    return bind(s, (struct a *)&x, sizeofx);\n}\n";
    static const struct {
        const char *code;
        size_t len;
        bool is_known, is_known_to_first;
    } row[] = {{as_was, sizeof(as_was) - 1, true, true},
               {is_now, sizeof(is_now) - 1, true, false},
               {is_other, sizeof(is_other) - 1, false, false}};
    static const myth_form form[] = {MYTH_FORM_JSON, MYTH_FORM_JSONL, MYTH_FORM_SARIF, MYTH_FORM_N};
    (void)unused;
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        char first[128];
        size_t len;
        bed_open(&b, "a.c", as_was, sizeof(as_was) - 1);
        bed_add(&b, "other", 3, 3, 3);
        bed_mark(&b, true, NULL);
        snprintf(first, sizeof(first), "{\"fingerprint\":\"%s\"}", b.marks.mark[0].fingerprint.text);
        char *text = form[i] == MYTH_FORM_N ? strdup(first) : bed_render(&b, form[i], &len);
        files_put("base", text, form[i] == MYTH_FORM_N ? strlen(text) : len);
        free(text);
        bed_close(&b);
        myth_baseline *base = open_base(mem, "base");
        for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
            bed_open(&b, "a.c", row[k].code, row[k].len);
            bed_add(&b, "other", 3, 3, 3);
            bed_mark(&b, true, base);
            assert_int_equal(b.marks.mark[0].is_known,
                             form[i] == MYTH_FORM_N ? row[k].is_known_to_first : row[k].is_known);
            bed_close(&b);
        }
        myth_baseline_close(base);
    }
}

/* Looks at code that is called `path` now, and says how many of its findings are known. */
static uint32_t n_known_at(const char *path, const myth_baseline *base)
{
    bed_open(&b, path, code, sizeof(code) - 1);
    for (uint32_t line = 1; line <= 4; line++)
        bed_add(&b, line < 3 ? "division-by-zero" : "double-free", line, line, line);
    bed_mark(&b, true, base);
    return myth_report_n_known(&b.report);
}

static uint32_t n_looked;
static void count_look(void *user, const char *path)
{
    assert_ptr_equal(user, &n_looked);
    assert_non_null(strstr(path, "/tree/a.c"));
    n_looked++;
}

/* A moved file keeps its findings, each once; a copy of one that is still there has new ones. */
static void test_moved(void **unused)
{
    size_t len;
    (void)unused;
    open_four(NULL);
    b.report.n_finding = 3;
    char *text = bed_render(&b, MYTH_FORM_JSON, &len);
    files_put("base", text, len);
    free(text);
    bed_close(&b);
    files_put_deep("tree/a.c", code, sizeof(code) - 1);
    char root[512];
    snprintf(root, sizeof(root), "%s", files_path("tree"));
    for (int is_gone = 0; is_gone < 2; is_gone++) {
        myth_baseline *base = open_base(mem, "base");
        assert_int_equal(n_known_at("d/b.c", base), 0); /* nobody says where the files are */
        bed_close(&b);
        myth_baseline_root(base, root, count_look, &n_looked);
        assert_int_equal(n_known_at("d/b.c", base), is_gone ? 3 : 0);
        assert_int_equal(b.marks.mark[3].is_known, false);
        myth_marks_fill(&b.marks, &b.report); /* as often as there are rounds */
        assert_int_equal(myth_report_n_known(&b.report), is_gone ? 3 : 0);
        if (is_gone) { /* entries of the old path are replaced by those of the new one */
            assert_int_equal(myth_baseline_write(base, files_path("new"), &b.report, NULL), MYTH_OK);
            myth_baseline *new = open_base(mem, "new");
            assert_int_equal(myth_baseline_count(new), 4);
            bed_close(&b);
            assert_int_equal(n_known_at("d/b.c", new), 4);
            myth_baseline_close(new);
        }
        bed_close(&b);
        myth_baseline_close(base);
        assert_int_equal(unlink(files_path("tree/a.c")), is_gone ? -1 : 0);
    }
    assert_true(n_looked > 0);
}

static void test_forms_say_so(void **unused)
{
    size_t len;
    (void)unused;
    open_four(NULL);
    b.report.n_finding = 1;
    char *text = bed_render(&b, MYTH_FORM_JSON, &len);
    files_put("base", text, len);
    free(text);
    bed_close(&b);
    myth_baseline *base = open_base(mem, "base");
    open_four(base);
    text = bed_render(&b, MYTH_FORM_JSON, &len);
    json_t *j = json_loadb(text, len, 0, NULL), *list = json_object_get(j, "findings");
    assert_int_equal(json_array_size(list), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, i), "baseline")),
                            i ? "new" : "unchanged");
    assert_int_equal(json_integer_value(json_object_get(j, "known_findings")), 1);
    json_decref(j);
    free(text);
    text = bed_render(&b, MYTH_FORM_TEXT, &len);
    assert_non_null(strstr(text, "a.c: 3 findings, 1 in the baseline,"));
    assert_null(strstr(text, "a.c:1: "));
    free(text);
    text = bed_render(&b, MYTH_FORM_SARIF, &len);
    j = json_loadb(text, len, 0, NULL);
    list = json_object_get(json_array_get(json_object_get(j, "runs"), 0), "results");
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, i), "baselineState")),
                            i ? "new" : "unchanged");
    json_decref(j);
    free(text);
    bed_close(&b);
    myth_baseline_close(base);
}

/* Rows "rule file" of a baseline file, in its order. */
static void rows_of(char *dst, size_t cap, const char *name)
{
    json_error_t e;
    json_t *j = json_load_file(files_path(name), 0, &e), *list = json_object_get(j, "findings");
    assert_non_null(list);
    size_t n = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++)
        n += (size_t)snprintf(dst + n, cap - n, "%s %s\n",
                              json_string_value(json_object_get(json_array_get(list, i), "rule")),
                              json_string_value(json_object_get(json_array_get(list, i), "file")));
    json_decref(j);
}

static void test_update(void **unused)
{
    static const char old[] =
        "{\"version\":1,\"findings\":[\n"
        "{\"rule\":\"other\",\"file\":\"z.c\",\"fingerprint\":\"0123456789abcdef0123456789abcdef\"}\n"
        ",{\"rule\":\"weak-hash\",\"file\":\"a.c\",\"fingerprint\":\"1123456789abcdef0123456789abcdef\"}\n"
        ",{\"rule\":\"other\",\"file\":\"B\\u002ec\",\"fingerprint\":\"2123456789abcdef0123456789abcdef\"}\n]}\n";
    char rows[512];
    (void)unused;
    for (int round = 0; round < 3; round++) {
        files_text("base", old);
        myth_baseline *base = open_base(mem, "base");
        open_four(base);
        b.report.complete = round != 1;
        if (round == 2)
            b.marks.mark[0].suppression = 1; /* a suppressed finding is not written */
        assert_int_equal(myth_baseline_write(base, files_path("base"), &b.report, NULL), MYTH_OK);
        rows_of(rows, sizeof(rows), "base");
        assert_string_equal(
            rows,
            round == 0
                ? "other B.c\ndivision-by-zero a.c\ndivision-by-zero a.c\ndouble-free a.c\ndouble-free a.c\nother z.c\n"
            : round == 1 ? "other B.c\ndivision-by-zero a.c\ndivision-by-zero a.c\ndouble-free a.c\ndouble-free "
                           "a.c\nweak-hash a.c\nother z.c\n"
                         : "other B.c\ndivision-by-zero a.c\ndouble-free a.c\ndouble-free a.c\nother z.c\n");
        bed_close(&b);
        myth_baseline_close(base);

        /* with the written baseline nothing is new, and an update writes the same bytes */
        base = open_base(mem, "base");
        open_four(base);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(b.marks.mark[i].is_known, round < 2 || i > 0);
        if (round != 1) {
            char *first = malloc(8192), *second = malloc(8192);
            size_t n[2];
            b.marks.mark[0].suppression = round == 2;
            for (int k = 0; k < 2; k++) {
                FILE *f = fopen(files_path("base"), "rb");
                n[k] = fread(k ? second : first, 1, 8192, f);
                fclose(f);
                if (!k)
                    assert_int_equal(myth_baseline_write(base, files_path("base"), &b.report, NULL), MYTH_OK);
            }
            assert_int_equal(n[0], n[1]);
            assert_memory_equal(first, second, n[0]);
            free(first);
            free(second);
        }
        bed_close(&b);
        myth_baseline_close(base);
    }
}

/* A file's name that is not UTF-8 stands in the baseline as JSON shows it, and its findings stand there once. */
static void test_a_name_that_is_no_text(void **unused)
{
    (void)unused;
    files_text("base", "[]");
    for (int round = 0; round < 3; round++) {
        myth_baseline *base = open_base(mem, "base");
        assert_int_equal(n_known_at("d\xff/a\xc3.c", base), round ? 4 : 0);
        b.report.complete = round == 2;
        assert_int_equal(myth_baseline_write(base, files_path("base"), &b.report, NULL), MYTH_OK);
        bed_close(&b);
        myth_baseline_close(base);
        base = open_base(mem, "base");
        assert_int_equal(myth_baseline_count(base), 4);
        myth_baseline_close(base);
    }
}

/* Entries of every file that was inspected whole go, whatever the order of the files; those of others stay. */
static void test_many_files(void **unused)
{
    enum { N = 40 };
    static myth_source src[N];
    static myth_report_file file[N];
    char name[N][16], rows[1024];
    bytes text = {0};
    (void)unused;
    bytes_put(&text, "[", 1);
    for (uint32_t i = 0; i < N; i++) {
        char line[128];
        snprintf(name[i], sizeof(name[i]), "%u.c", i * 7 % N);
        snprintf(line, sizeof(line), "%s{\"rule\":\"other\",\"file\":\"%u.c\",\"fingerprint\":\"%032x\"}", i ? "," : "",
                 i, i);
        bytes_put(&text, line, strlen(line));
        src[i] = (myth_source){.path = name[i]};
        file[i] = (myth_report_file){.src = &src[i], .is_whole = i * 7 % N != 3 && i * 7 % N != 33};
    }
    bytes_put(&text, "]", 1);
    files_put("base", text.data, text.len);
    bytes_free(&text);
    myth_baseline *base = open_base(mem, "base");
    open_four(base);
    b.report.file = file;
    b.report.n_file = N;
    b.report.n_finding = 0;
    assert_int_equal(myth_baseline_write(base, files_path("base"), &b.report, NULL), MYTH_OK);
    rows_of(rows, sizeof(rows), "base");
    assert_string_equal(rows, "other 3.c\nother 33.c\n");
    bed_close(&b);
    myth_baseline_close(base);
}

static void test_missing(void **unused)
{
    myth_baseline *base = NULL;
    (void)unused;
    assert_int_equal(myth_baseline_open(&base, mem, files_path("none"), false, NULL), MYTH_ENOTFOUND);
    assert_int_equal(myth_baseline_open(&base, mem, files_path("none"), true, NULL), MYTH_OK);
    assert_int_equal(myth_baseline_count(base), 0);
    open_four(base);
    assert_int_equal(myth_report_n_known(&b.report), 0);
    assert_int_equal(myth_baseline_write(base, files_path("new"), &b.report, NULL), MYTH_OK);
    assert_int_equal(myth_baseline_write(base, "/nowhere/new", &b.report, NULL), MYTH_ECREATE);
    bed_close(&b);
    myth_baseline_close(base);
    base = open_base(mem, "new");
    assert_int_equal(myth_baseline_count(base), 4);
    myth_baseline_close(base);
}

static void test_refused(void **unused)
{
    static const char *const row[] = {
        "{", "findings", "[1,2", "{\"a\":1}\nnot json\n", "\xff", "{\"findings\":[{\"fingerprint\":\"\\ud800\"}]}"};
    myth_error err = {0};
    myth_baseline *base = NULL;
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        files_text("base", row[i]);
        assert_int_equal(myth_baseline_open(&base, mem, files_path("base"), true, &err), MYTH_EFORMAT);
        assert_non_null(strstr(err.msg, "base"));
    }
    files_text("base", "{\"model\":\"m\",\"findings\":[{\"rule\":\"other\",\"file\":\"a.c\",\"lines\":[1,1]}]}");
    assert_int_equal(myth_baseline_open(&base, mem, files_path("base"), true, &err), MYTH_EFORMAT);
    assert_non_null(strstr(err.msg, "no fingerprints"));
    files_text("base", "[]"); /* a baseline without findings is allowed */
    base = open_base(mem, "base");
    assert_int_equal(myth_baseline_count(base), 0);
    myth_baseline_close(base);
}

/* Whichever allocation fails, the error is "out of memory" and nothing stays booked. */
static void test_no_memory(void **unused)
{
    (void)unused;
    files_text(
        "base",
        "{\"findings\":[{\"rule\":\"other\",\"file\":\"a.c\",\"fingerprint\":\"0123456789abcdef0123456789abcdef\"}]}");
    for (uint64_t nth = 1;; nth++) {
        myth_baseline *base = NULL;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_baseline_open(&base, mem, files_path("base"), false, NULL);
        myth_mem_set_fault(mem, NULL);
        if (st == MYTH_OK) {
            assert_true(nth > 3);
            myth_baseline_close(base);
            break;
        }
        assert_int_equal(st, MYTH_ENOMEM);
        assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, 0);
    }
    for (uint64_t nth = 1;; nth++) {
        bed_open(&b, "a.c", "password = \"hunter2x\" // mythos:ignore[other] x\n", 47);
        myth_mem_set_fault(b.mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_marks_open(&b.marks, b.mem, &b.report, &b.block, 1, 4, true, NULL, NULL);
        myth_mem_set_fault(b.mem, NULL);
        assert_true(st == MYTH_OK || st == MYTH_ENOMEM);
        bed_close(&b);
        if (st == MYTH_OK) {
            assert_int_equal(nth, 8); /* files, where each is, those with secrets and their paths, secrets, ... */
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_reports),
        cmocka_unit_test(test_forms_say_so),
        cmocka_unit_test(test_reformatted),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_a_name_that_is_no_text),
        cmocka_unit_test(test_many_files),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
