/* test_mtime.c - times of change as nanoseconds: at the ends of 64 bits, in the years 1677 and 2262, and past them. */
#include "tests/support/check.h"

#include "engine/base/mtime.h"

static int64_t at(int64_t seconds, long ns)
{
    const struct stat st = {.st_mtim = {.tv_sec = seconds, .tv_nsec = ns}};
    return myth_mtime_ns(&st);
}

/* File systems keep times that nanoseconds in 64 bits cannot; `touch -d 2300-01-01` gives a file one. */
static void times_past_the_range_are_its_ends(void **state)
{
    (void)state;
    assert_true(at(1, 5) == 1000000005);
    assert_true(at(-1, 5) == -999999995);
    assert_true(at(9223372036, 854775807) == INT64_MAX);
    assert_true(at(9223372036, 854775808) == INT64_MAX);
    assert_true(at(9223372037, 0) == INT64_MAX);
    assert_true(at(INT64_MAX, 999999999) == INT64_MAX);
    assert_true(at(-9223372036, 0) == -9223372036000000000);
    assert_true(at(-9223372038, 0) == INT64_MIN);
    assert_true(at(INT64_MIN, 0) == INT64_MIN);
    const struct stat st = {.st_mtim = {.tv_sec = 1}, .st_ctim = {.tv_sec = 2, .tv_nsec = 5}};
    assert_true(myth_mtime_ns(&st) == 1000000000 && myth_ctime_ns(&st) == 2000000005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times_past_the_range_are_its_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
