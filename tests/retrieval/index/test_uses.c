/* test_uses.c - the uses of names in an index: all of them, with their lines. */
#include "index_tree.h"

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

static myth_index *opened(const char *tree, const char *db)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_opts opts = {.root = files_path(tree), .path = files_path(db), .is_read_only = true};
    if (myth_index_open(&x, mem, &opts, &err) != MYTH_OK)
        fail_msg("%s: %s", db, err.msg);
    return x;
}

static bool count_use(void *arg, const myth_store_ref *ref)
{
    (void)ref;
    ++*(uint64_t *)arg;
    return true;
}

typedef struct {
    const char *name;
    uint64_t n;
} named;

static bool count_named(void *arg, const myth_store_ref *ref)
{
    named *n = arg;
    n->n += strcmp(ref->name, n->name) == 0;
    return true;
}

/* The uses of a name, found by words, are those that a walk over all files finds. */
static void uses_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"parse_file", "parse", "error_count", "user",
                                        "nowhere",    "n",     "parse.h",     "error.h"};
    if (!getenv("MYTHOS_BIN"))
        check_skip("MYTHOS_BIN names no command, so nothing parses");
    uint64_t rng = check_seed();
    myth_index_stats stats;
    tree_make("uses", 60, &rng);
    index_remove("u.db");
    index_update("uses", "u.db", mem, &stats);
    assert_true(stats.n_ref > 100 && stats.n_symbol > 100);
    myth_index *x = opened("uses", "u.db");
    uint64_t n_all = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        named by_walk = {names[i], 0};
        uint64_t by_name = 0;
        sqlite3_stmt *q;
        assert_int_equal(myth_store_refs_named(myth_index_store(x), names[i], count_use, &by_name, NULL), MYTH_OK);
        assert_int_equal(sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT id FROM files", -1, &q, NULL),
                         SQLITE_OK);
        while (sqlite3_step(q) == SQLITE_ROW)
            assert_int_equal(
                myth_store_refs(myth_index_store(x), sqlite3_column_int64(q, 0), count_named, &by_walk, NULL), MYTH_OK);
        sqlite3_finalize(q);
        assert_int_equal(by_name, by_walk.n);
        n_all += by_name;
    }
    assert_true(n_all > 10);
    myth_index_close(x);
}

typedef struct {
    const char *text;
    uint32_t n;
} used_lines;

static bool look_at_line(void *arg, const myth_store_ref *ref)
{
    used_lines *u = arg;
    const char *line = u->text;
    for (uint32_t i = 1; i < ref->line && line; i++)
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    char one[256];
    snprintf(one, sizeof(one), "%.*s", line ? (int)strcspn(line, "\n") : 0, line ? line : "");
    if (!strstr(one, ref->name))
        fail_msg("line %u does not hold %s: %s", ref->line, ref->name, one);
    u->n++;
    return true;
}

/* Lines are stored as differences to the use before. */
static void uses_are_on_their_lines(void **state)
{
    (void)state;
    static const char text[] =
        "int first(int a);\n\n"
        "int outer(int n)\n{\n    return first(\n        second(\n            third(n),\n"
        "            fourth(n)),\n        fifth(n));\n}\n\n"
        "int tail(int n)\n{\n    return sixth(n)\n        ->seventh(n)\n        ->eighth(n);\n}\n";
    if (!getenv("MYTHOS_BIN"))
        check_skip("MYTHOS_BIN names no command, so nothing parses");
    files_mkdir("lines");
    files_text("lines/a.c", text);
    index_remove("ul.db");
    index_update("lines", "ul.db", mem, NULL);
    myth_index *x = opened("lines", "ul.db");
    used_lines u = {.text = text};
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT id FROM files", -1, &q, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(myth_store_refs(myth_index_store(x), sqlite3_column_int64(q, 0), look_at_line, &u, NULL), MYTH_OK);
    sqlite3_finalize(q);
    assert_true(u.n >= 8);
    myth_index_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uses_by_name), cmocka_unit_test(uses_are_on_their_lines)};
    return cmocka_run_group_tests(tests, begin, end);
}
