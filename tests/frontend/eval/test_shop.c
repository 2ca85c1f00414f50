/* test_shop.c - the made-up repository tests/corpus/shop is as its README says: its size, its languages, and lists that
 * name only what is in it. */
#define _GNU_SOURCE
#include "tests/support/files.h"
#include "frontend/eval/tasks.h"
#include "frontend/inspect/answer/findings.h"

#include <ftw.h>
#include <sys/stat.h>

enum { TEXT_MAX = 1 << 20 };

static myth_mem *mem;
static char shop[1024];

static int begin(void **state)
{
    (void)state;
    check_path(shop, sizeof(shop), "tests/corpus/shop");
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static const char *below(const char *folder, const char *rest)
{
    static char path[2][2048];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof(path[0]), "%s/%s%s%s", shop, folder, rest[0] ? "/" : "", rest);
    return path[turn];
}

static char *slurp(const char *path)
{
    static char text[TEXT_MAX];
    FILE *f = fopen(path, "rb");
    if (!f)
        print_error("%s is missing\n", path);
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    return text;
}

/* ---- size ---- */

static uint32_t n_file, n_line, n_with[12];
static const char *const suffix[12] = {".py", ".ts",  ".tsx", ".js",   ".go",   ".java",
                                       ".c",  ".sql", ".sh",  ".yaml", ".toml", ".md"};

static int count(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)at;
    if (type != FTW_F)
        return 0;
    n_file++;
    for (const char *p = slurp(path); (p = strchr(p, '\n')); p++)
        n_line++;
    const char *dot = strrchr(path, '.');
    for (int i = 0; i < 12; i++)
        n_with[i] += dot && strcmp(dot, suffix[i]) == 0;
    return 0;
}

static void it_is_large_and_of_many_languages(void **state)
{
    (void)state;
    assert_int_equal(nftw(below("tree", ""), count, 8, FTW_PHYS), 0);
    printf("%u files, %u lines\n", n_file, n_line);
    assert_true(n_file >= 60 && n_line >= 8000);
    for (int i = 0; i < 12; i++) {
        if (!n_with[i])
            print_error("no file with %s\n", suffix[i]);
        assert_true(n_with[i] > 0);
    }
}

/* ---- questions ---- */

static void questions_name_what_is_there(void **state)
{
    (void)state;
    myth_tasks t;
    myth_error err = {0};
    uint32_t n_y54 = 0, n_kind = 0;
    const char *kind[16];
    assert_int_equal(myth_tasks_read(&t, mem, below("questions.jsonl", ""), 1, &err), MYTH_OK);
    assert_true(t.n_task >= 50);
    for (uint32_t i = 0; i < t.n_task; i++) {
        const myth_task *q = &t.task[i];
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(t.task[k].id, q->id);
        assert_true(q->n_tag >= 1);
        n_y54 += q->n_tag > 1 && strcmp(q->tag[1], "y54") == 0;
        uint32_t k = 0;
        while (k < n_kind && strcmp(kind[k], q->tag[0]) != 0)
            k++;
        if (k == n_kind)
            kind[n_kind++] = q->tag[0];
        for (uint32_t g = 0; g < q->n_gold; g++) {
            const char *text = slurp(below("tree", q->gold[g].path));
            if (q->gold[g].symbol && !strstr(text, q->gold[g].symbol))
                print_error("%s: no %s in %s\n", q->id, q->gold[g].symbol, q->gold[g].path);
            assert_true(!q->gold[g].symbol || strstr(text, q->gold[g].symbol));
        }
    }
    assert_int_equal(n_y54, 4);
    assert_int_equal(n_kind, 7);
    myth_tasks_close(&t);
}

/* The four questions of the first design expect these files. */
static void the_four_questions(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        uint32_t n;
        const char *path[3];
    } want[] = {
        {"session-creation", 2, {"accounts/sessions.py", "accounts/session_store.py"}},
        {"reset-tokens", 2, {"accounts/reset_tokens.py", "accounts/tests/test_reset_tokens.py"}},
        {"deletion-authorisation",
         3,
         {"accounts/routes_users.py", "accounts/middleware.py", "accounts/tests/test_permissions.py"}},
        {"raw-sql", 1, {"accounts/reporting.py"}},
    };
    myth_tasks t;
    assert_int_equal(myth_tasks_read(&t, mem, below("questions.jsonl", ""), 1, NULL), MYTH_OK);
    for (size_t w = 0; w < 4; w++) {
        uint32_t i = 0;
        while (i < t.n_task && strcmp(t.task[i].id, want[w].id) != 0)
            i++;
        assert_true(i < t.n_task);
        assert_int_equal(t.task[i].n_gold, want[w].n);
        for (uint32_t g = 0; g < want[w].n; g++)
            assert_string_equal(t.task[i].gold[g].path, want[w].path[g]);
    }
    myth_tasks_close(&t);
}

/* ---- planted defects ---- */

static bool line_is(const char *text, uint32_t line, const char *want)
{
    for (uint32_t i = 1; i < line && text; i++)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    if (!text)
        return false;
    text += strspn(text, " \t");
    size_t n = strlen(want);
    return strncmp(text, want, n) == 0 && (text[n] == '\n' || text[n] == '\0');
}

static void check_planted(const myth_plants *p, const char *tree)
{
    for (uint32_t i = 0; i < p->n_defect; i++) {
        const myth_planted *d = &p->defect[i];
        char path[2048];
        snprintf(path, sizeof(path), "%s/%s", tree, d->path);
        if (!line_is(slurp(path), d->line, d->text))
            print_error("%s:%u is not \"%s\"\n", d->path, d->line, d->text);
        assert_true(line_is(slurp(path), d->line, d->text));
        assert_true(myth_rule_find(d->rule, strlen(d->rule)) >= 0);
        size_t k;
        json_t *also;
        json_array_foreach((json_t *)d->also, k, also)
            assert_true(myth_rule_find(json_string_value(also), json_string_length(also)) >= 0);
        if (i) /* sorted by path and line, so that the defects of a file follow each other */
            assert_true(strcmp(p->defect[i - 1].path, d->path) < 0 ||
                        (strcmp(p->defect[i - 1].path, d->path) == 0 && p->defect[i - 1].line < d->line));
    }
}

static void every_rule_is_planted_where_the_list_says(void **state)
{
    (void)state;
    myth_plants p;
    assert_int_equal(myth_plants_read(&p, mem, below("defects.jsonl", ""), NULL), MYTH_OK);
    check_planted(&p, below("tree", ""));
    for (uint32_t r = 0; r + 1 < MYTH_RULE_CODE_N; r++) { /* every rule of code but the last, `other`, is planted */
        uint32_t n = 0;
        for (uint32_t i = 0; i < p.n_defect; i++)
            n += strcmp(p.defect[i].rule, myth_rules[r].id) == 0;
        if (!n)
            print_error("no %s\n", myth_rules[r].id);
        assert_true(n > 0);
    }
    myth_plants_close(&p);
}

static void the_regression_is_what_its_list_says(void **state)
{
    (void)state;
    myth_plants p;
    char line[4096];
    if (system("command -v git >/dev/null") != 0)
        check_skip("no git");
    files_mkdir("r");
    snprintf(line, sizeof(line),
             "p=$(readlink -f '%s') && cp -R '%s/tree/.' '%s' && cd '%s' && git init -q . 2>/dev/null && git apply "
             "\"$p/regression.patch\"",
             shop, shop, files_path("r"), files_path("r"));
    assert_int_equal(system(line), 0);
    assert_int_equal(myth_plants_read(&p, mem, below("regression.jsonl", ""), NULL), MYTH_OK);
    assert_true(p.n_defect >= 4);
    check_planted(&p, files_path("r"));
    for (uint32_t i = 0; i < p.n_defect; i++) { /* each defect must be in a file that the patch changed */
        snprintf(line, sizeof(line), "cmp -s '%s/tree/%s' '%s/%s'", shop, p.defect[i].path, files_path("r"),
                 p.defect[i].path);
        assert_int_not_equal(system(line), 0);
    }
    myth_plants_close(&p);
}

/* ---- readers ---- */

static void bad_rows_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } row[] = {
        {"{\"id\":\"a\",\"text\":\"b\",\"expect\":[{\"path\":\"c\"}]}\nnonsense\n", ":2: "},
        {"{\"id\":\"a\",\"text\":\"b\",\"expect\":[]}", "places"},
        {"{\"id\":\"a\",\"expect\":[{\"path\":\"c\"}]}", "text"},
        {"{\"id\":\"a\",\"text\":\"b\",\"expect\":[{\"file\":3}]}", "path"},
        {"[1]\n", "object"},
        {"\n\n", "no rows"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_tasks t;
        myth_error err = {0};
        files_text("rows", row[i].text);
        assert_int_equal(myth_tasks_read(&t, mem, files_path("rows"), 1, &err), MYTH_EFORMAT);
        if (!strstr(err.msg, row[i].says))
            print_error("%s: no \"%s\"\n", err.msg, row[i].says);
        assert_non_null(strstr(err.msg, row[i].says));
        assert_null(t.task);
    }
    myth_tasks t;
    assert_int_equal(myth_tasks_read(&t, mem, files_path("nothing"), 1, NULL), MYTH_ENOTFOUND);
}

static void every_nth_row(void **state)
{
    (void)state;
    char text[4096] = "";
    for (int i = 0; i < 10; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "{\"id\":\"%d\",\"query\":\"q\",\"gold\":[{\"file\":\"f\"},{\"file\":\"f\"},{\"file\":\"g\"}]}\n", i);
    files_text("rows", text);
    myth_tasks t;
    assert_int_equal(myth_tasks_read(&t, mem, files_path("rows"), 4, NULL), MYTH_OK);
    assert_int_equal(t.n_task, 3);
    assert_string_equal(t.task[2].id, "8");
    assert_int_equal(t.task[2].n_gold, 2); /* a file that is named twice counts once */
    myth_tasks_close(&t);
    files_text("cosqa", "[{\"doc\":\"how\",\"retrieval_idx\":3},{\"doc\":\"why\",\"retrieval_idx\":4},{\"doc\":"
                        "\"when\",\"retrieval_idx\":5}]");
    assert_int_equal(myth_tasks_read_cosqa(&t, mem, files_path("cosqa"), 2, NULL), MYTH_OK);
    assert_int_equal(t.n_task, 2);
    assert_string_equal(t.task[1].gold[0].path, "5");
    myth_tasks_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_large_and_of_many_languages),
        cmocka_unit_test(questions_name_what_is_there),
        cmocka_unit_test(the_four_questions),
        cmocka_unit_test(every_rule_is_planted_where_the_list_says),
        cmocka_unit_test(the_regression_is_what_its_list_says),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(every_nth_row),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
