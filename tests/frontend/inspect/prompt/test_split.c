/* test_split.c - a long file is cut between definitions or blocks where possible, and its parts always cover it. */
#include "tests/frontend/inspect/hostile.h"

#include "frontend/inspect/prompt/split.h"

static myth_mem *mem;
static myth_source src;

static void open_source(const void *bytes, size_t len)
{
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_source_open(&src, mem, "a.c", bytes, len, NULL), MYTH_OK);
}

static void close_source(void)
{
    myth_source_close(&src);
    assert_int_equal(myth_mem_close(mem), 0);
}

typedef struct {
    uint32_t max_bytes, n_call;
} fit;

static myth_status fits(void *user, uint32_t first, uint32_t last, bool *does, myth_error *err)
{
    fit *f = user;
    (void)err;
    assert_true(first <= last && last <= src.n_line);
    f->n_call++;
    *does = src.line[last - 1].off + src.line[last - 1].len - src.line[first - 1].off <= f->max_bytes;
    return MYTH_OK;
}

static uint32_t cut(uint32_t first, uint32_t guess, uint32_t max_bytes)
{
    fit f = {max_bytes, 0};
    uint32_t last = 0;
    assert_int_equal(myth_split_next(&last, &src, first, src.n_line, guess, NULL, fits, &f, NULL), MYTH_OK);
    assert_true(last >= first && f.n_call < 64);
    return last;
}

static const char c_file[] = "#include <stdio.h>\n" /*  1 */
                             "\n"                   /*  2 */
                             "int f(int n)\n"       /*  3 */
                             "{\n"                  /*  4 */
                             "    puts(\"}}}\");\n" /*  5 */
                             "\n"                   /*  6 */
                             "    return n;\n"      /*  7 */
                             "}\n"                  /*  8 */
                             "\n"                   /*  9 */
                             "int g(int n)\n"       /* 10 */
                             "{\n"                  /* 11 */
                             "    return -n;\n"     /* 12 */
                             "}\n";                 /* 13 */

static void test_cuts_between_functions(void **unused)
{
    (void)unused;
    open_source(c_file, sizeof(c_file) - 1);
    assert_int_equal(cut(1, 13, sizeof(c_file)), 13);
    for (uint32_t last = 9; last < 13; last++) /* when there is no room for all of g, the part ends before g */
        assert_int_equal(cut(1, 1, src.line[last - 1].off + src.line[last - 1].len), 9);
    assert_int_equal(cut(10, 5, sizeof(c_file)), 13);
    close_source();
}

static const char py_file[] = "import os\n"     /* 1 */
                              "\n"              /* 2 */
                              "def f(a,\n"      /* 3 */
                              "      b):\n"     /* 4 */
                              "    return a\n"  /* 5 */
                              "\n"              /* 6 */
                              "def g():\n"      /* 7 */
                              "    x = 1\n"     /* 8 */
                              "    return x\n"; /* 9 */

static void test_cuts_by_indentation(void **unused)
{
    (void)unused;
    open_source(py_file, sizeof(py_file) - 1);
    assert_int_equal(cut(1, 3, src.line[7].off + src.line[7].len), 6);
    assert_int_equal(cut(1, 3, src.line[6].off + src.line[6].len), 6);
    close_source();
}

static void test_line_that_does_not_fit(void **unused)
{
    (void)unused;
    fit f = {10, 0};
    uint32_t last;
    myth_error err = {0};
    open_source(c_file, sizeof(c_file) - 1);
    assert_int_equal(myth_split_next(&last, &src, 1, src.n_line, 1, NULL, fits, &f, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "line 1 "));
    close_source();
}

/* For any file and limit, each part begins after the one before it, none is too long, and the last one ends at the last
 * line. */
static void test_parts_cover_the_file(void **unused)
{
    (void)unused;
    unsigned char bytes[2000];
    uint64_t rng = check_seed();
    uint32_t n_part = 0, n_file = check_is_full() ? 5000 : check_sample(400);
    for (uint32_t i = 0; i < n_file; i++) {
        open_source(bytes, hostile_fill(&rng, bytes, sizeof(bytes)));
        fit f = {40 + check_below(&rng, 600), 0};
        for (uint32_t first = 1, last; first <= src.n_line; first = last + 1, n_part++) {
            bool does = false;
            myth_status st =
                myth_split_next(&last, &src, first, src.n_line, 1 + check_below(&rng, 50), NULL, fits, &f, NULL);
            if (st == MYTH_ELIMIT) { /* a line longer than the limit cannot be cut */
                assert_true(src.line[first - 1].len > f.max_bytes);
                break;
            }
            assert_int_equal(st, MYTH_OK);
            assert_true(last >= first && last <= src.n_line);
            fits(&f, first, last, &does, NULL);
            assert_true(does);
        }
        close_source();
    }
    printf("%u parts\n", n_part);
    assert_true(n_part > n_file);
}

/* With a grammar the borders are between definitions, even where brackets in a comment mislead; without one there are
 * none. */
static void test_borders_of_a_parser(void **unused)
{
    static const char text[] = "int f(int n)\n"   /*  1 */
                               "{\n"              /*  2 */
                               "    return n;\n"  /*  3 */
                               "}\n"              /*  4 */
                               "/* of g { */\n"   /*  5 */
                               "int g(int n)\n"   /*  6 */
                               "{\n"              /*  7 */
                               "\n"               /*  8 */
                               "    return -n;\n" /*  9 */
                               "}\n"              /* 10 */
                               "int h;\n";        /* 11 */
    uint32_t *border = NULL;
    uint32_t last;
    (void)unused;
    open_source(text, sizeof(text) - 1);
    assert_int_equal(myth_split_borders(&border, mem, NULL, &src, false, NULL), MYTH_OK);
    assert_null(border);
    if (getenv("MYTHOS_BIN")) {
        assert_int_equal(myth_split_borders(&border, mem, getenv("MYTHOS_BIN"), &src, false, NULL), MYTH_OK);
        if (!border)
            check_left_out("borders of definitions", "this build has no grammar for C");
        for (uint32_t most = 5; border && most < 11; most++) {
            fit f = {src.line[most - 1].off + src.line[most - 1].len, 0};
            assert_int_equal(myth_split_next(&last, &src, 1, src.n_line, 4, border, fits, &f, NULL), MYTH_OK);
            assert_int_equal(
                last,
                most < 10 ? 4 : 10); /* the comment goes with what it is about; a blank line inside g cuts nothing */
        }
        myth_free(mem, border);
    }
    close_source();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_borders_of_a_parser),  cmocka_unit_test(test_cuts_between_functions),
        cmocka_unit_test(test_cuts_by_indentation),  cmocka_unit_test(test_line_that_does_not_fit),
        cmocka_unit_test(test_parts_cover_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
