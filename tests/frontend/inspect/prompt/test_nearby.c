/* test_nearby.c - which definitions and lines a model's request finds in the files near the inspected one, and which
 * files are never read for it. */
#include "frontend/inspect/prompt/nearby.h"
#include "retrieval/retrieval.h"
#include "tests/support/files.h"

#include <limits.h>
#include <unistd.h>

static const char file_a[] = "#include \"b.h\"\n\nint f(int n)\n{\n    return g(n);\n}\n";
static const char file_b[] =
    "int limit = 3;\n\nint g(int n)\n{\n    return n / limit;\n}\n\nint g_all(void)\n{\n    return g(1);\n}\n";
static const char file_py[] =
    "class Shop:\n    def total(self):\n        return 1\n\n\nclass Cart:\n    def total(self):\n        return 2\n";

static void put_tree(void)
{
    files_mkdir("in");
    files_mkdir("in/src");
    files_mkdir("in/lib");
    files_text("in/src/a.c", file_a);
    files_text("in/src/b.c", file_b);
    files_text("in/src/config.py", "DEBUG = True\nKEY = 'x'\n");
    files_text("in/src/config.txt", "KEY\n");
    files_text("in/lib/shop.py", file_py);
    files_text("in/lib/cart.py", file_py);
    files_text("out.c", file_b);
    assert_int_equal(symlink("../../out.c", files_path("in/src/away.c")), 0);
    files_put("in/src/blob.c", "int\0x", 5);
    files_mkdir("in/.git");
    files_text("in/.git/config", "url = https://key@host/\n");
}

typedef struct {
    myth_mem *mem;
    myth_material *m;
    myth_nearby *n;
    uint32_t of;
    char near[160];
} bed;

/* Begins with one subject, a file of this path below root with the text of src/a.c; the current folder is in/. */
static void bed_open(bed *b, const char *root, const char *path, const char *worker)
{
    *b = (bed){0};
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&b->m, b->mem, root, NULL), MYTH_OK);
    uint32_t source;
    assert_int_equal(myth_material_put(b->m, &source, path, (const unsigned char *)file_a, sizeof(file_a) - 1, NULL),
                     MYTH_OK);
    assert_int_equal(myth_material_add(b->m, &b->of,
                                       &(myth_piece){.source = source, .first = 1, .last = 6, .is_subject = true},
                                       NULL),
                     MYTH_OK);
    assert_int_equal(myth_nearby_open(&b->n, root, path, worker, NULL), MYTH_OK);
}

static void bed_close(bed *b)
{
    myth_nearby_close(b->n);
    myth_material_close(b->m);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

static uint32_t ask(bed *b, const char *request)
{
    b->near[0] = '\0';
    return myth_nearby_context(b->n, request, b->m, b->of, b->near, sizeof(b->near));
}

static const myth_piece *last_piece(const bed *b) { return myth_material_piece(b->m, myth_material_n_piece(b->m) - 1); }
static const char *last_path(const bed *b) { return myth_material_of(b->m, last_piece(b)->source)->path; }

static void test_found(void **unused)
{
    static const struct {
        const char *request, *path;
        uint32_t first, last;
        bool parsed;
    } row[] = {
        {"src/b.c::g", "src/b.c", 3, 6, true},
        {"b.c::g_all", "src/b.c", 8, 11, true},
        {"lib/shop.py::Cart.total", "lib/shop.py", 7, 8, true},
        {"b.c::limit", "src/b.c", 1, 1, false},
        {"config::KEY", "src/config.py", 2, 2, false},
    };
    (void)unused;
    const char *worker = getenv("MYTHOS_BIN");
    const bool parses = worker && myth_chunk_has_grammar("c") && myth_chunk_has_grammar("python");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        bed b;
        if (row[i].parsed && !parses)
            continue;
        bed_open(&b, ".", "src/a.c", worker);
        if (ask(&b, row[i].request) != 1 || myth_material_n_piece(b.m) != 2)
            fail_msg("%s: not found", row[i].request);
        assert_string_equal(last_path(&b), row[i].path);
        assert_false(last_piece(&b)->is_subject);
        assert_int_equal(last_piece(&b)->of, b.of);
        assert_true(last_piece(&b)->first <= row[i].first && last_piece(&b)->last >= row[i].last);
        if (row[i].parsed)
            assert_true(last_piece(&b)->first == row[i].first && last_piece(&b)->last == row[i].last);
        bed_close(&b);
    }
    bed b; /* a request for the subject's own file by another name adds no second source */
    bed_open(&b, ".", "src/a.c", worker);
    assert_true(ask(&b, "./src/../src/a.c::f") == 0); /* a path with ".." is refused */
    assert_int_equal(ask(&b, "./src/a.c::f"), 1);
    assert_int_equal(myth_material_n_source(b.m), 1);
    bed_close(&b);
}

static void test_never_read(void **unused)
{
    static const char *const request[] = {"../out.c::g",
                                          "src/../../out.c::g",
                                          "away.c::g",
                                          "src/away.c::g",
                                          "/etc/passwd::root",
                                          "/etc/passwd",
                                          "..::g",
                                          "src::g",
                                          "",
                                          "::g",
                                          "blob.c::x",
                                          ".git/config",
                                          "./src/.././.git/config::url",
                                          "none.c::g"};
    (void)unused;
    bed b;
    bed_open(&b, ".", "src/a.c", NULL);
    for (size_t i = 0; i < sizeof(request) / sizeof(request[0]); i++)
        if (ask(&b, request[i]))
            fail_msg("%s: was read", request[i]);
    assert_int_equal(myth_material_n_piece(b.m), 1);
    bed_close(&b);

    char away[PATH_MAX]; /* the root is the border, wherever the command runs */
    snprintf(away, sizeof(away), "%s", files_path("in/lib"));
    assert_int_equal(chdir(files_path("in/src")), 0);
    bed_open(&b, away, "shop.py", NULL);
    assert_int_equal(ask(&b, "b.c::g"), 0);
    assert_int_equal(ask(&b, "cart.py::Cart"), 1);
    bed_close(&b);
    assert_int_equal(chdir(files_path("in")), 0);
}

static void test_nearest(void **unused)
{
    (void)unused;
    bed b;
    const char *worker = getenv("MYTHOS_BIN");
    bed_open(&b, ".", "src/a.c", worker);
    if (worker && myth_chunk_has_grammar("c")) {
        assert_int_equal(ask(&b, "b.c::g_al"), 0);
        assert_string_equal(b.near, "src/b.c::g_all");
    }
    assert_int_equal(ask(&b, "confg.py::KEY"), 0);
    assert_string_equal(b.near, "config.py");
    assert_int_equal(ask(&b, "nothing-like-it::x"), 0);
    assert_string_equal(b.near, "");
    bed_close(&b);
}

static int begin(void **state)
{
    (void)state;
    put_tree();
    return chdir(files_path("in"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_never_read),
                                       cmocka_unit_test(test_nearest)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
