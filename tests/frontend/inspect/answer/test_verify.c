/* test_verify.c - the verifier of citations: which evidence it accepts, which it refuses and why, and which bytes of
 * the file an accepted one means. */
#include "frontend/inspect/answer/verify.h"
#include "tests/support/check.h"

/*                              1            2   3                   4    5            6 */
static const char source[] = "int f(void)\n{\n\treturn g(\"\xff\xfe\");  \n  \n\xc3\xa9t\xc3\xa9 = \xef\xbf\xbd;\n}";

static myth_mem *mem;
static myth_source src;
static myth_block block;

static int open_source(void **state)
{
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_source_open(&src, mem, "a.c", (const unsigned char *)source, sizeof(source) - 1, NULL),
                     MYTH_OK);
    block = (myth_block){.src = &src, .first = 1, .last = 6};
    return 0;
}

static int close_source(void **state)
{
    (void)state;
    myth_source_close(&src);
    assert_int_equal(myth_mem_close(mem), 0);
    return 0;
}

static myth_finding cite(uint32_t first, uint32_t last, const char *evidence)
{
    return (myth_finding){.first = first, .last = last, .evidence = {evidence, strlen(evidence)}};
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        uint32_t first, last;
        const char *evidence;
        myth_verdict verdict;
    } row[] = {
        {1, 1, "int f(void)", MYTH_CITES},
        {1, 1, "t f(void)", MYTH_CITES},
        {1, 1, "int f(v", MYTH_CITES_NO_EVIDENCE}, /* fewer than eight bytes  */
        {2, 2, "{", MYTH_CITES},                   /* fewer, but a whole line */
        {1, 6, "}", MYTH_CITES},
        {1, 1, "{", MYTH_CITES_NO_EVIDENCE},
        {3, 3, "return g(\"\xef\xbf\xbd\xef\xbf\xbd\");", MYTH_CITES},
        {3, 3, "return g(\"\xef\xbf\xbd\");", MYTH_CITES_NO_EVIDENCE},
        {3, 3, "return g(\"\xff\xfe\");", MYTH_CITES_NO_EVIDENCE}, /* bytes that are shown as U+FFFD  */
        {3, 3, "\treturn g(", MYTH_CITES_NO_EVIDENCE},             /* begins before the trimmed line */
        {3, 4, "\");  \n", MYTH_CITES_NO_EVIDENCE},
        {1, 2, "int f(void)\n{", MYTH_CITES_NO_EVIDENCE},
        {5, 5, "\xc3\xa9t\xc3\xa9 = \xef\xbf\xbd;", MYTH_CITES},
        {5, 5, "\xa9t\xc3\xa9 = \xef\xbf\xbd;", MYTH_CITES_NO_EVIDENCE}, /* begins inside a character */
        {5, 5, "", MYTH_CITES_NO_EVIDENCE},
        {4, 4, "  ", MYTH_CITES_NO_LINES},
        {0, 1, "int f(void)", MYTH_CITES_NO_LINES},
        {2, 1, "{", MYTH_CITES_NO_LINES},
        {6, 7, "}", MYTH_CITES_NO_LINES},
        {9, 9, "}", MYTH_CITES_NO_LINES},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_citation c;
        myth_finding f = cite(row[i].first, row[i].last, row[i].evidence);
        myth_verdict v = myth_verify(&c, &f, &block, 1, NULL, 0);
        if (v != row[i].verdict)
            fail_msg("row %zu: %s", i, myth_verdict_text(v));
    }
}

static void test_bytes_of_a_citation(void **state)
{
    (void)state;
    myth_citation c;
    myth_finding f = cite(1, 6, "g(\"\xef\xbf\xbd\xef\xbf\xbd\")");
    assert_int_equal(myth_verify(&c, &f, &block, 1, NULL, 0), MYTH_CITES);
    assert_int_equal(c.line, 3);
    assert_int_equal(c.len, 7);
    assert_memory_equal(source + c.off, "g(\"\xff\xfe\")", 7);
}

static void test_only_the_block_counts(void **state)
{
    (void)state;
    myth_citation c;
    myth_block part = {.src = &src, .first = 3, .last = 6};
    myth_finding f = cite(1, 3, "return g(");
    assert_int_equal(myth_verify(&c, &f, &part, 1, NULL, 0), MYTH_CITES_NO_LINES);
    f.first = 3;
    assert_int_equal(myth_verify(&c, &f, &part, 1, NULL, 0), MYTH_CITES);
    f.block = 1;
    assert_int_equal(myth_verify(&c, &f, &part, 1, NULL, 0), MYTH_CITES_NO_LINES);
}

static void test_repetition(void **state)
{
    (void)state;
    myth_citation c;
    myth_finding before = cite(3, 3, "return g("), f = cite(3, 3, "urn g(\"\xef\xbf\xbd");
    assert_int_equal(myth_verify(&c, &f, &block, 1, &before, 1), MYTH_CITES_AGAIN);
    f.rule = 1;
    assert_int_equal(myth_verify(&c, &f, &block, 1, &before, 1), MYTH_CITES);
    f.rule = 0;
    f.last = 4;
    assert_int_equal(myth_verify(&c, &f, &block, 1, &before, 1), MYTH_CITES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_bytes_of_a_citation),
        cmocka_unit_test(test_only_the_block_counts),
        cmocka_unit_test(test_repetition),
    };
    return cmocka_run_group_tests(tests, open_source, close_source);
}
