/* test_fingerprint.c - a finding keeps its fingerprint when lines that have nothing to do with it change, and no two
 * findings share one. */
#include "report_bed.h"

#include <dirent.h>

#define CORPUS "tests/corpus/inspect"
enum { LINES_MAX = 400, FILE_MAX = 16384, N_INSERT = 20, TEXT_MAX = 48 };

typedef struct {
    char *line[LINES_MAX + N_INSERT];
    uint32_t origin[LINES_MAX + N_INSERT]; /* line number before the edit, 0 = inserted */
    uint32_t n;
} file;

static bed b;
static char original[FILE_MAX], edited[2 * FILE_MAX];

static size_t read_file(const char *name)
{
    char rest[512], path[1024];
    snprintf(rest, sizeof(rest), CORPUS "/%s", name);
    FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
    assert_non_null(f);
    size_t n = fread(original, 1, sizeof(original) - 1, f);
    fclose(f);
    original[n] = '\0';
    return n;
}

/* Cuts `original` into lines, in place. */
static void cut(file *f)
{
    f->n = 0;
    for (char *p = original; *p && f->n < LINES_MAX;) {
        char *end = strchr(p, '\n');
        f->line[f->n] = p;
        f->origin[f->n] = f->n + 1;
        f->n++;
        if (!end)
            break;
        *end = '\0';
        p = end + 1;
    }
}

static size_t join(const file *f, const char *(*spell)(const char *line, char *room))
{
    static char room[4096];
    size_t n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        n += (size_t)snprintf(edited + n, sizeof(edited) - n, "%s\n", spell ? spell(f->line[i], room) : f->line[i]);
    assert_true(n < sizeof(edited));
    return n;
}

/* Makes a finding about every line of the file and writes their fingerprints, by the lines' numbers before the edit. */
static void fingerprints(char out[LINES_MAX + 1][TEXT_MAX], const char *path, const file *f, size_t len,
                         const char *rule)
{
    bed_open(&b, path, edited, len);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->origin[i] || !b.src.line[i].text_len)
            continue;
        myth_fingerprint fp;
        b.report.n_finding = 0;
        bed_add(&b, rule, i + 1, i + 1, i + 1);
        myth_fingerprint_of(&fp, &b.block, b.finding, b.citation, 0);
        assert_int_equal(strlen(fp.text), MYTH_FINGERPRINT_LEN);
        assert_int_equal(strlen(fp.second), MYTH_FINGERPRINT_LEN);
        snprintf(out[f->origin[i]], TEXT_MAX, "%s", fp.text);
    }
    bed_close(&b);
}

static void insert(file *f, uint32_t at, char *line)
{
    memmove(f->line + at + 1, f->line + at, (f->n - at) * sizeof(f->line[0]));
    memmove(f->origin + at + 1, f->origin + at, (f->n - at) * sizeof(f->origin[0]));
    f->line[at] = line;
    f->origin[at] = 0;
    f->n++;
}

/* Inserts lines: comments and blank ones anywhere, in C statements only after the end of another one. */
static void edit(file *f, const char *name, uint64_t *rng)
{
    static char c_comment[] = "/* nothing to do with it */", py_comment[] = "# nothing to do with it", blank[] = "",
                c_line[] = "int unrelated_counter;", py_line[] = "unrelated_counter = 1",
                indented[] = "        unrelated_call(1, 2);", py_indented[] = "        unrelated_call(1, 2)";
    bool is_py = strstr(name, ".py") != NULL;
    for (int k = 0; k < N_INSERT; k++) {
        uint32_t at = check_below(rng, f->n + 1);
        const char *before = at ? f->line[at - 1] : "";
        size_t n = strlen(before);
        bool may_state = !is_py && n && (before[n - 1] == ';' || before[n - 1] == '}');
        switch (check_below(rng, may_state || is_py ? 4 : 2)) {
        case 0: insert(f, at, blank); break;
        case 1: insert(f, at, is_py ? py_comment : c_comment); break;
        case 2: insert(f, at, is_py ? py_line : c_line); break;
        default: insert(f, at, is_py ? py_indented : indented); break;
        }
    }
}

static const char *wider(const char *line, char *room)
{
    size_t n = 0;
    for (; *line == ' ' || *line == '\t'; line++) {
        room[n++] = *line;
        room[n++] = *line;
    }
    strcpy(room + n, line);
    return room;
}

/* Turns tabs of the indentation into eight spaces, widens the spaces inside the line, and adds blanks at its end. */
static const char *respaced(const char *line, char *room)
{
    size_t n = 0;
    bool is_front = true;
    for (; *line && n < 4000; line++) {
        is_front = is_front && (*line == ' ' || *line == '\t');
        if (*line == '\t' && is_front)
            n += (size_t)sprintf(room + n, "        ");
        else
            room[n++] = *line;
        if (*line == ' ' && !is_front)
            room[n++] = ' ';
    }
    strcpy(room + n, "  \r");
    return room;
}

static void test_edits(void **unused)
{
    static char before[LINES_MAX + 1][TEXT_MAX], after[LINES_MAX + 1][TEXT_MAX];
    (void)unused;
    char path[1024];
    uint64_t rng = check_seed();
    uint32_t n_file = 0, n_check = 0, rounds = check_is_full() ? 200 : 10;
    DIR *dir = opendir(check_path(path, sizeof(path), CORPUS));
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        if (len < 3 || (strcmp(e->d_name + len - 2, ".c") != 0 && strcmp(e->d_name + len - 3, ".py") != 0))
            continue;
        file f, g;
        read_file(e->d_name);
        cut(&f);
        memset(before, 0, sizeof(before));
        fingerprints(before, e->d_name, &f, join(&f, NULL), "other");
        for (uint32_t i = 1; i <= f.n; i++)
            for (uint32_t k = 1; k < i; k++)
                assert_true(!before[i][0] || strcmp(before[i], before[k]) != 0);
        for (uint32_t round = 0; round < rounds + 3; round++) {
            const char *what = "edited";
            g = f;
            memset(after, 0, sizeof(after));
            if (round < rounds)
                edit(&g, e->d_name, &rng);
            else
                what = round == rounds ? "indented twice as far" : round == rounds + 1 ? "spaced anew" : "renamed";
            fingerprints(after, round == rounds + 2 ? "moved.c" : e->d_name, &g,
                         join(&g, round == rounds       ? wider
                                  : round == rounds + 1 ? respaced
                                                        : NULL),
                         "other");
            for (uint32_t i = 1; i <= f.n; i++) {
                bool is_same = !strcmp(before[i], after[i]), wants_same = round < rounds + 2 || !before[i][0];
                if (is_same != wants_same)
                    print_error("%s, %s: line %u: %s\n%s\n", e->d_name, what, i, f.line[i - 1], edited);
                assert_int_equal(is_same, wants_same);
                n_check++;
            }
        }
        n_file++;
    }
    closedir(dir);
    assert_true(n_file >= 20);
    printf("%u files, %u fingerprints compared\n", n_file, n_check);
}

static void test_changes_with(void **unused)
{
    static const char code[] =
        "int f(int n)\n{\n    g(n);\n    g(n);\n    return n;\n}\nint h(int n)\n{\n    g(n);\n}\n";
    static char fp[8][TEXT_MAX];
    (void)unused;
    bed_open(&b, "a.c", code, sizeof(code) - 1);
    bed_add(&b, "other", 3, 3, 3);       /* 0 */
    bed_add(&b, "other", 4, 4, 4);       /* 1: the next line, which has the same text */
    bed_add(&b, "other", 9, 9, 9);       /* 2: the same text in another function */
    bed_add(&b, "double-free", 3, 3, 3); /* 3: another rule */
    bed_add(&b, "other", 2, 3, 3);       /* 4: a second finding with the same line as evidence */
    bed_add(&b, "other", 5, 5, 5);       /* 5: another line */
    bed_mark(&b, true, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(fp[i], TEXT_MAX, "%s", b.marks.mark[i].fingerprint.text);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(fp[i], fp[k]);
    }
    /* that of the first line, where the evidence may not be */
    assert_string_equal(b.marks.mark[0].fingerprint.line_hash, b.marks.mark[3].fingerprint.line_hash);
    assert_string_equal(b.marks.mark[0].fingerprint.line_hash, "819f0554259316a1:1");
    assert_string_equal(b.marks.mark[4].fingerprint.line_hash, "84c6366c6bd5fb2:1");
    bed_close(&b);

    /* which changes around the line, and of the function's name, change the fingerprint */
    static const struct {
        const char *code;
        uint32_t line;
        bool is_same;
    } row[] = {
        {"static int x;\n\nint f(int n)\n{\n    int a;\n    g(n);\n}\n", 6, true},
        {"int f(int n) {\n    g(n);\n}\n", 2, false}, /* the enclosing line differs */
        {"int f2(int n)\n{\n    g(n);\n}\n", 3, false},
        {"int h(int n)\n{\n    k();\n}\nint f(int n)\n{\n    if (n) {\n        k();\n    }\n    g(n);\n}\n", 10, true},
        {"int f(int n)\n{\n    {\n        k(n);\n    }\n// a remark:\n#if X\n    g(n);\n#endif\n}\n", 8, true},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        bed_open(&b, "a.c", row[i].code, strlen(row[i].code));
        bed_add(&b, "other", row[i].line, row[i].line, row[i].line);
        bed_mark(&b, true, NULL);
        if (!strcmp(b.marks.mark[0].fingerprint.text, fp[0]) != row[i].is_same)
            print_error("%zu: around line %u stands line %u\n", i, row[i].line,
                        myth_enclosing_line(&b.src, row[i].line - 1) + 1);
        assert_int_equal(!strcmp(b.marks.mark[0].fingerprint.text, fp[0]), row[i].is_same);
        bed_close(&b);
    }
}

/* The first fingerprint is what it was in every version, so that old baselines match (both values were computed by
 * another program, from the definition); the second has the path apart. */
static void test_both(void **unused)
{
    static const char code[] = "int f(int n)\n{\n    g( n );\n    g(n);\n}\n";
    myth_fingerprint at, moved, spaced;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        bed_open(&b, i ? "d/b.c" : "a.c", code, sizeof(code) - 1);
        bed_add(&b, "other", 4, 4, 4);
        myth_fingerprint_of(i ? &moved : &at, &b.block, b.finding, b.citation, 0);
        bed_close(&b);
    }
    bed_open(&b, "a.c", code, sizeof(code) - 1);
    bed_add(&b, "other", 3, 3, 3);
    myth_fingerprint_of(&spaced, &b.block, b.finding, b.citation, 0);
    bed_close(&b);
    assert_string_equal(spaced.text, "278aafd126887e0fd0bf628e4379b20e");
    assert_string_equal(at.text, "5cbe8ee2801d7c5a7e33e90e6e3d9e34");
    assert_string_equal(at.second, "a42e47811e396c13b2c7f78fc66fb3ee");
    assert_string_equal(at.second + MYTH_FINGERPRINT_PATH, moved.second + MYTH_FINGERPRINT_PATH);
    assert_int_not_equal(memcmp(at.second, moved.second, MYTH_FINGERPRINT_PATH), 0);
}

/* The hashes were computed by another program, from the definition. */
static void test_line_hash(void **unused)
{
    static const char ends[] = "x = 1 \r\ny\t= \"\u00fc\U0001f600\"\rz\n";
    static char same[30 * 9 + 1];
    static const struct {
        const char *text;
        uint32_t line;
        const char *hash;
    } row[] = {
        {"", 1, "c129715d7a2bc9a3:1"},     {ends, 1, "4e02b7d37967ddb0:1"},  {ends, 2, "89df986229469a84:1"},
        {ends, 3, "95de0951c928fa27:1"},   {same, 1, "728a5a8be4cae036:1"},  {same, 2, "728a5a8be4cae036:2"},
        {same, 19, "728a5a8be4cae036:19"}, {same, 20, "728a5a8be4cbdfcf:1"},
    };
    (void)unused;
    for (int i = 0; i < 30; i++)
        strcat(same, "free(p);\n");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char got[MYTH_LINE_HASH_LEN + 1];
        bed_open(&b, "a", row[i].text, strlen(row[i].text));
        myth_line_hash(got, &b.src, row[i].line);
        if (strcmp(got, row[i].hash) != 0)
            fail_msg("line %u of row %zu: %s, expected %s", row[i].line, i, got, row[i].hash);
        bed_close(&b);
    }
}

static void test_enclosing(void **unused)
{
    static const struct {
        const char *code;
        uint32_t line, around;
    } row[] = {
        {"int x;\n", 1, 0},
        {"def f():\n    a()\n    if b:\n        c()\n    d()\n", 4, 3},
        {"def f():\n    a()\n    if b:\n        c()\n    d()\n", 5, 1},
        {"class A:\n    def f(self,\n          x):\n        y()\n", 4, 2},
        {"int f(int a,\n      int b)\n{\n\tx();\n}\n", 4, 1},
        {"int f(int a,\n      int b) {\n    x();\n}\n", 3, 1},
        {"void g()\n{\n}\n\nx();\n    y();\n", 6, 0},
        {"if (a) {\n    b();\n} else {\n    c();\n}\n", 4, 3},
        {"switch (a) {\ncase 1:\n    b();\n    break;\n}\n", 3, 1},
        {"function f()\n  local a = 1\n  for i = 1, 2 do\n    g(i)\n  end\n  h()\nend\nk()\n", 6, 1},
        {"def m\n  x\nend\ny\n", 4, 0},
        {"server:\n  port: 80\n  tls:\n    key: a\n", 4, 3},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        bed_open(&b, "a", row[i].code, strlen(row[i].code));
        uint32_t at = myth_enclosing_line(&b.src, row[i].line - 1);
        at = at < b.src.n_line ? at + 1 : 0;
        if (at != row[i].around)
            print_error("line %u of\n%s: line %u is around, expected %u\n", row[i].line, row[i].code, at,
                        row[i].around);
        assert_int_equal(at, row[i].around);
        bed_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enclosing), cmocka_unit_test(test_changes_with),
                                       cmocka_unit_test(test_line_hash), cmocka_unit_test(test_edits),
                                       cmocka_unit_test(test_both)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
