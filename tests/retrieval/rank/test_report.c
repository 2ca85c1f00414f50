/* test_report.c - which lines of a report belong to its form. */
#include "tests/support/check.h"

#include "retrieval/rank/report.h"

/* The lines that stay, by their numbers from 1: "1 3". */
static void expect(const char *text, const char *want)
{
    char got[64] = "";
    size_t n = strlen(text), n_got = 0;
    myth_report r;
    myth_report_start(&r, text, n);
    for (size_t off = 0, line = 1; off < n && n_got + 8 < sizeof(got); line++) {
        if (!myth_report_is_form(&r, off))
            n_got += (size_t)snprintf(got + n_got, sizeof(got) - n_got, n_got ? " %zu" : "%zu", line);
        const char *stop = strchr(text + off, '\n');
        const size_t end = stop ? (size_t)(stop - text) + 1 : n + 1;
        assert_int_equal(r.end, end);
        off = end;
    }
    if (strcmp(got, want) != 0)
        fail_msg("%s: the lines %s stay, expected %s", text, got, want);
}

static void headings_of_a_form_are_left_out(void **state)
{
    (void)state;
    expect("### Steps to reproduce\nOpen the door", "2");
    expect("**Describe the bug**\nIt hangs\n\n## Expected behaviour\nIt opens", "2 5");
    expect("Actual results:\nnone", "2");
    expect("  ## Description  \r\nIt hangs", "2");
    expect("### Parsing of dates\nDescription of dates", "1 2"); /* other words; no mark */
    expect("Steps to reproduce the hang:", "1");
}

static void a_line_that_only_closes_an_issue_is_left_out(void **state)
{
    (void)state;
    expect("Closes #7\nThe queue leaks", "2");
    expect("The queue leaks\n\nFixes: #12, #13", "1");
    expect("Fixes #12 in the queue", "1");
    expect("Fix 12", "1"); /* no issue */
}

static void comments_and_check_lists_are_left_out(void **state)
{
    (void)state;
    expect("<!-- Please search first -->\nIt hangs", "2");
    expect("It hangs\n<!--\nThanks for the report\n-->\nalways", "1 5");
    expect("- [x] I searched\n- [ ] I can help\n* [X] docs\nIt hangs", "4");
    expect("a <!-- b\nc", "1 2"); /* a comment that nothing closes is text */
    expect("- [link] to it", "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_of_a_form_are_left_out),
        cmocka_unit_test(a_line_that_only_closes_an_issue_is_left_out),
        cmocka_unit_test(comments_and_check_lists_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
