/* test_exit.c - exit codes and the words of errors: every status has its documented code, of two codes the right one is
 * kept, and messages name flags and commands instead of the library's fields. */
#include "tests/support/check.h"

#include "frontend/cli/cli.h"
#include "frontend/cli/exit.h"

static void every_status_has_its_code(void **state)
{
    (void)state;
    static const struct {
        myth_status st;
        int code;
    } expected[] = {
        {MYTH_OK, 0},     {MYTH_EARG, 2},     {MYTH_EIO, 74},          {MYTH_EFORMAT, 65}, {MYTH_ENOMEM, 71},
        {MYTH_EFULL, 3},  {MYTH_EDEVICE, 69}, {MYTH_ENOTFOUND, 66},    {MYTH_ECANCEL, 3},  {MYTH_ENOFIT, 71},
        {MYTH_ELIMIT, 3}, {MYTH_ELOST, 75},   {MYTH_EUNSUPPORTED, 65}, {MYTH_ECREATE, 73},
    };
    assert_int_equal(sizeof(expected) / sizeof(expected[0]), MYTH_STATUS_N);
    for (size_t i = 0; i < MYTH_STATUS_N; i++)
        assert_int_equal(myth_exit_of(expected[i].st), expected[i].code);
    assert_int_equal(myth_exit_of((myth_status)99), 70);
}

static void every_code_is_in_the_table(void **state)
{
    (void)state;
    static const int code[] = {0, 1, 2, 3, 65, 66, 69, 70, 71, 73, 74, 75, 78, 130};
    size_t n;
    const myth_exit_row *row = myth_exit_table(&n);
    assert_int_equal(n, sizeof(code) / sizeof(code[0]));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(row[i].code, code[i]);
        assert_true(row[i].meaning[0]);
    }
    /* what scripts meet most often, beside findings */
    static const char *const no[] = {"--fail-level", "nothing was found", "question", "check", "gate"};
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        assert_non_null(strstr(row[1].meaning, no[i]));
    assert_non_null(strstr(row[3].meaning, "not judged"));
}

/* The engine's message names a field of its options; the command prints the flag that sets it. */
static void an_option_is_spelled_as_its_flag(void **state)
{
    (void)state;
    myth_error err = {0};
    char text[320];
    myth_fail_option(&err, MYTH_EFULL, "n_ubatch", "n_ubatch 64: my_n_ubatch stays; raise n_ubatch");
    myth_cli_spell(text, sizeof(text), &err);
    assert_string_equal(text, "-ub 64: my_n_ubatch stays; raise -ub");
    myth_fail(&err, MYTH_EFULL, "raise n_ubatch");
    assert_null(err.option);
    myth_cli_spell(text, sizeof(text), &err);
    assert_string_equal(text, "raise n_ubatch");
    myth_fail_option(&err, MYTH_EARG, "no_such_option", "no_such_option");
    myth_cli_spell(text, 8, &err);
    assert_string_equal(text, "no_such");
}

/* For every next step that a library can name, the command has words. An error that is passed on keeps its message and
 * its next step. */
static void remedies_are_spelled(void **state)
{
    (void)state;
    myth_error err = {0}, passed = {0};
    char text[320];
    for (int r = MYTH_REMEDY_NONE + 1; r < MYTH_REMEDY_N; r++) {
        myth_fail_remedy(&err, MYTH_ENOTFOUND, (myth_remedy)r, "%s", "cause");
        assert_string_equal(err.msg, "cause");
        assert_int_equal(myth_fail_as(&passed, &err), MYTH_ENOTFOUND);
        assert_int_equal(passed.remedy, r);
        myth_cli_spell(text, sizeof(text), &passed);
        assert_memory_equal(text, "cause; ", 7);
        assert_true(strstr(text + 7, "mythos ") || strstr(text + 7, " -") || strncmp(text + 7, "--", 2) == 0);
    }
    assert_int_equal(myth_fail_as(NULL, &err), MYTH_ENOTFOUND);
    myth_fail_remedy(&err, MYTH_ENOTFOUND, MYTH_REMEDY_MAKE_INDEX, "no index");
    myth_cli_spell(text, sizeof(text), &err);
    assert_string_equal(text, "no index; run mythos index");
    myth_cli_spell(text, 12, &err); /* a text that does not fit is cut */
    assert_string_equal(text, "no index; r");
    myth_fail(&err, MYTH_ENOTFOUND, "no index");
    assert_int_equal(err.remedy, MYTH_REMEDY_NONE);
}

static void failure_hides_findings_hide_incompleteness(void **state)
{
    (void)state;
    static const int order[] = {0, 3, 1, 74};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            assert_int_equal(myth_exit_worse(order[a], order[b]), order[a > b ? a : b]);
    assert_int_equal(myth_exit_worse(65, 71), 65); /* of two failures the first is kept */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_code),
        cmocka_unit_test(every_code_is_in_the_table),
        cmocka_unit_test(an_option_is_spelled_as_its_flag),
        cmocka_unit_test(remedies_are_spelled),
        cmocka_unit_test(failure_hides_findings_hide_incompleteness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
