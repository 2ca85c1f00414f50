/* test_cmocka_small.c - the stand-in for cmocka fails what should fail, runs what should run, and counts. */
#include "tests/support/cmocka_small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_set_up, n_torn_down, n_reached;

static int set_up(void **state)
{
    *state = &n_set_up;
    n_set_up++;
    return 0;
}
static int set_up_fails(void **state)
{
    (void)state;
    return -1;
}
static int tear_down(void **state)
{
    n_torn_down += *state == &n_set_up;
    return 0;
}

/* Each of these is left at its first line. */
#define FAILS(name, line)          \
    static void name(void **state) \
    {                              \
        (void)state;               \
        line;                      \
        n_reached++;               \
    }
FAILS(fails_true, assert_true(1 > 2))
FAILS(fails_false, assert_false(2 > 1))
FAILS(fails_int, assert_int_equal(-1, 1))
FAILS(fails_int_not, assert_int_not_equal(7, 7))
FAILS(fails_null, assert_null("x"))
FAILS(fails_non_null, assert_non_null(NULL))
FAILS(fails_ptr, assert_ptr_equal(&n_set_up, &n_reached))
FAILS(fails_range, assert_in_range(5, 6, 9))
FAILS(fails_string, assert_string_equal("a", "b"))
FAILS(fails_memory, assert_memory_equal("abc", "abd", 3))
FAILS(fails_memory_not, assert_memory_not_equal("abc", "abd", 2))
FAILS(fails_by_name, fail_msg("said %d", 3))
FAILS(skips, skip())

static void passes(void **state)
{
    (void)state;
    assert_true(2 > 1);
    assert_false(1 > 2);
    assert_int_equal(-1, -1);
    assert_int_not_equal(-1, 1);
    assert_null(NULL);
    assert_non_null("x");
    assert_ptr_equal(&n_set_up, &n_set_up);
    assert_in_range(6, 6, 9);
    assert_string_equal("a", "a");
    assert_memory_equal("abc", "abd", 2);
    assert_memory_not_equal("abc", "abd", 3);
}

static void has_state(void **state) { assert_ptr_equal(*state, &n_set_up); }

static int must(int is_true, const char *what)
{
    if (!is_true)
        fprintf(stderr, "cmocka_small: %s\n", what);
    return !is_true;
}

int main(void)
{
    const struct CMUnitTest fail_all[] = {
        cmocka_unit_test(fails_true),
        cmocka_unit_test(fails_false),
        cmocka_unit_test(fails_int),
        cmocka_unit_test(fails_int_not),
        cmocka_unit_test(fails_null),
        cmocka_unit_test(fails_non_null),
        cmocka_unit_test(fails_ptr),
        cmocka_unit_test(fails_range),
        cmocka_unit_test(fails_string),
        cmocka_unit_test(fails_memory),
        cmocka_unit_test(fails_memory_not),
        cmocka_unit_test(fails_by_name),
        cmocka_unit_test_setup(passes, set_up_fails),
    };
    const struct CMUnitTest pass_all[] = {
        cmocka_unit_test(passes),
        cmocka_unit_test(skips),
        cmocka_unit_test_setup_teardown(has_state, set_up, tear_down),
    };
    const struct CMUnitTest torn_down[] = {cmocka_unit_test_setup_teardown(fails_int, set_up, tear_down)};
    unsetenv("MYTHOS_TEST_NAME");
    int n_wrong = must(cmocka_run_group_tests(fail_all, NULL, NULL) == 13, "all thirteen fail");
    n_wrong += must(cmocka_run_group_tests(pass_all, NULL, NULL) == 0, "none fails");
    n_wrong += must(n_set_up == 1 && n_torn_down == 1, "set-up and tear-down ran once");
    n_wrong +=
        must(cmocka_run_group_tests(torn_down, NULL, NULL) == 1 && n_torn_down == 2, "a test that failed is torn down");
    n_wrong += must(cmocka_run_group_tests(pass_all, set_up_fails, NULL) != 0, "a group without its set-up fails");
    n_wrong += must(n_reached == 0, "a failed assertion leaves its test");
    setenv("MYTHOS_TEST_NAME", "fails_int", 1);
    n_wrong += must(cmocka_run_group_tests(fail_all, NULL, NULL) == 1, "one test by its name");
    printf("of these runs %d were wrong\n", n_wrong);
    return n_wrong != 0;
}
