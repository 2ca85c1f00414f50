/* test_candidates_limits.c - candidates at the limits of a flow: functions that are too long for one, several functions
 * of one line, and a text whose last byte is in the middle of a word. */
#include "tests/support/chunks.h"
#include "retrieval/candidates/candidates.h"

static myth_mem *mem;
static myth_chunker *chunker;

static int set_up(void **st)
{
    (void)st;
    return myth_mem_open(&mem, 0, NULL) != MYTH_OK ||
           myth_chunker_open(&chunker, mem, chunks_worker(), NULL) != MYTH_OK;
}

static int tear_down(void **st)
{
    (void)st;
    myth_chunker_close(chunker);
    return myth_mem_close(mem) != 0;
}

static myth_candidates find(const char *language, const char *text)
{
    myth_candidates k;
    assert_int_equal(
        myth_candidates_find(&k, chunker, language, "text", (const unsigned char *)text, strlen(text), NULL), MYTH_OK);
    return k;
}

/* row: NULL = any of the rule */
static uint32_t count(const myth_candidates *k, const char *rule, const char *row)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n; i++)
        n += strcmp(k->names + k->candidate[i].rule, rule) == 0 &&
             (!row || strcmp(k->names + k->candidate[i].row, row) == 0);
    return n;
}

/* head, `times` lines of body, tail */
static char *long_text(const char *head, const char *body, uint32_t times, const char *tail)
{
    char *text = calloc(strlen(head) + strlen(body) * times + strlen(tail) + 1, 1), *to = text;
    assert_non_null(text);
    to = stpcpy(to, head);
    while (times-- > 0)
        to = stpcpy(to, body);
    stpcpy(to, tail);
    return text;
}

enum { MANY = 7000 }; /* lines of six events and more */

static const char c_last[] =
    "int last(int n)\n{\n    char *p = malloc(n);\n    p[0] = 1;\n    free(p);\n    return p[0];\n}\n";

static void functions_in_one_that_is_too_long(void **state)
{
    (void)state;
    static const char last[] = "function last(a) {\n  if (a == null) {\n    return a.y;\n  }\n  return 1;\n}\n";
    char *text = long_text("(function () {\n", "var a = g(b); h(a.x);\n", MANY, "");
    char *whole = long_text(text, last, 1, "})();\n");
    myth_candidates wrapped = find("javascript", whole), alone = find("javascript", last);
    assert_int_equal(count(&alone, "inverted-condition", "absent-used"), 1);
    assert_int_equal(count(&wrapped, "inverted-condition", "absent-used"), 1);
    assert_true(wrapped.cut_line > 1); /* its own statements are too many as well */
    myth_candidates_free(&wrapped, mem);
    myth_candidates_free(&alone, mem);
    free(whole);
    free(text);
}

/* The same without statements of its own is read to its end. */
static void nothing_but_functions(void **state)
{
    (void)state;
    char *whole = long_text("(function () {\n", "function f(a) { var b = g(a); return b.x; }\n", MANY, "})();\n");
    myth_candidates k = find("javascript", whole);
    assert_string_equal(k.note, "");
    assert_int_equal(k.cut_line, 0);
    assert_true(k.n_function > MANY);
    assert_true(k.n >= MANY);
    myth_candidates_free(&k, mem);
    free(whole);
}

static void a_function_that_is_cut(void **state)
{
    (void)state;
    char want[64];
    char *whole = long_text("int f(int a)\n{\n", "    a = g(a, a) + g(a, a);\n", MANY, "    return a;\n}\n");
    char *text = long_text(whole, c_last, 1, "");
    myth_candidates k = find("c", text);
    assert_true(k.cut_line > 3 && k.cut_line < MANY);
    snprintf(want, sizeof(want), "from line %u on", k.cut_line);
    if (!strstr(k.note, want))
        fail_msg("'%s', expected it to say '%s'", k.note, want);
    assert_int_equal(count(&k, "use-after-free", "sure"), 1); /* the next function is read */
    myth_candidates_free(&k, mem);
    free(text);
    free(whole);
}

/* What a row says of a whole file it says once. */
static void a_row_about_the_file(void **state)
{
    (void)state;
    myth_candidates k = find("c", "void f(int n)\n{\n    char *p = malloc(n);\n    p[0] = 1;\n    free(p);\n}\n"
                                  "void g(int n)\n{\n    char *p = malloc(n);\n    p[0] = 2;\n    free(p);\n}\n");
    assert_int_equal(count(&k, "unchecked-return", "unasked"), 1);
    assert_int_equal(count(&k, "unchecked-return", NULL), 1); /* and no wider row has the second */
    myth_candidates_free(&k, mem);
}

static void functions_of_one_line(void **state)
{
    (void)state;
    static const char f[] = "void f(int n) { char *p = malloc(n); p[0] = 1; free(p); }",
                      g[] = "void g(int n) { char *p = malloc(n); p[0] = 2; free(p); }",
                      asks[] = "void *h(void) { void *p = malloc(9); if (!p) fail(); return p; }";
    char one[300], two[300];
    snprintf(one, sizeof(one), "%s %s\n%s\n", f, g, asks);
    snprintf(two, sizeof(two), "%s\n%s\n%s\n", f, g, asks);
    myth_candidates a = find("c", one), b = find("c", two);
    assert_int_equal(count(&a, "missing-null-check", "allocated"), 2);
    assert_int_equal(a.n, b.n);
    for (uint32_t i = 0; i < a.n; i++)
        assert_string_equal(a.names + a.candidate[i].row, b.names + b.candidate[i].row);
    myth_candidates_free(&a, mem);
    myth_candidates_free(&b, mem);
}

/* The search for calls of a function comes to a backslash in quotes that is the last byte. First, because the process
 * keeps its room for texts, and AddressSanitizer sees only what is behind it. */
static void an_end_in_quotes(void **state)
{
    (void)state;
    myth_candidates k = find("python", "def f(a):\n    c = a.split(\"x\")[1]\n    return c\n\ndef g(z):\n"
                                       "    if \"x\" in z:\n        return f(z)\n# f(\"\\");
    if (k.note[0])
        fail_msg("%s", k.note);
    myth_candidates_free(&k, mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_in_quotes),      cmocka_unit_test(functions_in_one_that_is_too_long),
        cmocka_unit_test(nothing_but_functions), cmocka_unit_test(a_function_that_is_cut),
        cmocka_unit_test(a_row_about_the_file),  cmocka_unit_test(functions_of_one_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
