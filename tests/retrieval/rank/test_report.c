/* test_report.c - which lines of a report are headings and settings, and that a walk sees every byte of any text once.
 */
#include "tests/support/check.h"
#include "retrieval/rank/report.h"

#include <string.h>

/* 'h' heading, 's' settings (a heading above them is one too), '.' neither: a letter a line. */
static void expect(const char *text, const char *want)
{
    myth_report r = {0};
    char got[64];
    size_t n = 0;
    while (n < sizeof got - 1 && myth_report_next(&r, text, strlen(text)))
        got[n++] = r.is_heading ? 'h' : r.is_settings ? 's' : '.';
    got[n] = '\0';
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, expected %s", text, got, want);
}

static void headings(void **state)
{
    (void)state;
    expect("", "");
    expect("one", ".");
    expect("one\n", ".");
    expect("# title\n# heading\ntext", ".h.");
    expect("a\n### b\n ## c\n    # code\n#include <x>\n#define y\n####### seven", ".hh....");
    expect("a\n**b**\n**b c:**\n**b**:\nx **b** y\n**b** and **c**\n****", ".hhh...");
    expect("a\n\nb\n---\nc\n=====\nd\n--", "..h.h...");
    expect("a\n\n---\n\n---", ".....");
    expect("a\r\n# b\r\nc\r\n", ".h.");
}

static void fences(void **state)
{
    (void)state;
    expect("a\n```sh\n# not one\n```\n# one\n", "....h");
    expect("a\n~~~\n# Environment\nx\n~~~\ny", "......");
}

static void settings_end_at_the_next_heading(void **state)
{
    (void)state;
    expect("a\n# Environment\nx\n\n```\n# y\n```\nz\n# Report\nw", ".hssssssh.");
    expect("a\n**Version:**\n1.2\n### Output of show_versions()\nb\n## c\nd", ".hshsh.");
    expect("a\n# The version of the protocol is not what the server says\nb", ".h."); /* too long for a form */
    expect("a\n# Steps\nb", ".h.");
}

static void every_byte_once(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    static const char piece[] = "#* \n\n`~-=a\t\r";
    for (uint32_t round = 0; round < (check_is_full() ? 200000u : 5000u); round++) {
        char text[80];
        size_t n = check_below(&rng, sizeof text), at = 0;
        for (size_t i = 0; i < n; i++)
            text[i] = piece[check_below(&rng, sizeof piece - 1)];
        myth_report r = {0};
        for (; myth_report_next(&r, text, n); at = r.end + 1) {
            assert_true(r.begin == at && r.end >= r.begin && r.end <= n);
            assert_true(r.end == n || text[r.end] == '\n');
            assert_null(memchr(text + r.begin, '\n', r.end - r.begin));
        }
        assert_true(at >= n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings),
        cmocka_unit_test(fences),
        cmocka_unit_test(settings_end_at_the_next_heading),
        cmocka_unit_test(every_byte_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
