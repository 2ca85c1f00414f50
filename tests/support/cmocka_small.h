/* cmocka_small.h - as much of cmocka as the tests of the engine use, for builds that have nothing but a compiler
 * (MYTH_ENGINE_ONLY).
 *
 * Names    cmocka's own; the functions behind them have others, so that a program may be linked with both
 * Failure  a failed assertion says file, line and values on standard error and leaves its test by longjmp, as cmocka
 *          does; a signal ends the program, unlike there
 * Output   one line per test that did not pass, then "N passed, N failed" (", N skipped" when there are some)
 * Owner    nothing is allocated
 * Source   cmocka 1.1 API: cmocka.h */
#ifndef MYTH_TESTS_CMOCKA_SMALL_H
#define MYTH_TESTS_CMOCKA_SMALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SMALL_PRINTF   __attribute__((format(printf, 1, 2)))
#define SMALL_NORETURN __attribute__((noreturn))
#else
#define SMALL_PRINTF
#define SMALL_NORETURN
#endif

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);
struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func, teardown_func;
    void *initial_state;
};

#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
    {                                                       \
#f, f, setup, teardown, NULL                        \
    }
#define cmocka_unit_test_setup(f, setup)       cmocka_unit_test_setup_teardown(f, setup, NULL)
#define cmocka_unit_test_teardown(f, teardown) cmocka_unit_test_setup_teardown(f, NULL, teardown)
#define cmocka_unit_test(f)                    cmocka_unit_test_setup_teardown(f, NULL, NULL)
#define cmocka_run_group_tests(tests, setup, teardown) \
    small_run(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

/* The number of tests that failed; MYTHOS_TEST_NAME=NAME runs the test of that name alone. */
int small_run(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
              CMFixtureFunction teardown);
SMALL_NORETURN void small_fail(const char *file, int line);
SMALL_NORETURN void small_skip(void);
SMALL_PRINTF void small_print_error(const char *fmt, ...);
SMALL_PRINTF void small_print_message(const char *fmt, ...);
void small_true(int is_true, const char *text, const char *file, int line);
void small_equal(uintmax_t a, uintmax_t b, int wants_equal, const char *file, int line);
void small_range(uintmax_t v, uintmax_t lo, uintmax_t hi, const char *file, int line);
void small_string(const char *a, const char *b, int wants_equal, const char *file, int line);
void small_memory(const void *a, const void *b, size_t n, int wants_equal, const char *file, int line);

#define SMALL_AT __FILE__, __LINE__ /* file and line of who uses one of these */

#define _fail(file, line)                small_fail(file, line)
#define fail()                           small_fail(SMALL_AT)
#define fail_msg(...)                    (small_print_error(__VA_ARGS__), small_print_error("\n"), small_fail(SMALL_AT))
#define skip()                           small_skip()
#define print_error                      small_print_error
#define print_message                    small_print_message
#define assert_true(c)                   small_true((c) ? 1 : 0, #c, SMALL_AT)
#define assert_false(c)                  small_true((c) ? 0 : 1, "!(" #c ")", SMALL_AT)
#define assert_non_null(p)               small_true((p) ? 1 : 0, #p " is not NULL", SMALL_AT)
#define assert_null(p)                   small_true((p) ? 0 : 1, #p " is NULL", SMALL_AT)
#define assert_int_equal(a, b)           small_equal((uintmax_t)(a), (uintmax_t)(b), 1, SMALL_AT)
#define assert_int_not_equal(a, b)       small_equal((uintmax_t)(a), (uintmax_t)(b), 0, SMALL_AT)
#define assert_ptr_equal(a, b)           small_equal((uintptr_t)(a), (uintptr_t)(b), 1, SMALL_AT)
#define assert_ptr_not_equal(a, b)       small_equal((uintptr_t)(a), (uintptr_t)(b), 0, SMALL_AT)
#define assert_in_range(v, lo, hi)       small_range((uintmax_t)(v), (uintmax_t)(lo), (uintmax_t)(hi), SMALL_AT)
#define assert_string_equal(a, b)        small_string(a, b, 1, SMALL_AT)
#define assert_string_not_equal(a, b)    small_string(a, b, 0, SMALL_AT)
#define assert_memory_equal(a, b, n)     small_memory(a, b, n, 1, SMALL_AT)
#define assert_memory_not_equal(a, b, n) small_memory(a, b, n, 0, SMALL_AT)

#ifdef __cplusplus
}
#endif
#endif
