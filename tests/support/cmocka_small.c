/* cmocka_small.c - see cmocka_small.h. */
#include "cmocka_small.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT_BY_FAIL = 1, LEFT_BY_SKIP = 2 };

static jmp_buf leave;
static bool is_running;

/* Outside of a test there is nowhere to go. */
static SMALL_NORETURN void leave_test(int why)
{
    if (!is_running)
        abort();
    longjmp(leave, why);
}

void small_fail(const char *file, int line)
{
    fprintf(stderr, "%s:%d: failed\n", file, line);
    leave_test(LEFT_BY_FAIL);
}

void small_skip(void) { leave_test(LEFT_BY_SKIP); }

void small_print_error(const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vfprintf(stderr, fmt, list);
    va_end(list);
}

void small_print_message(const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vprintf(fmt, list);
    va_end(list);
}

void small_true(int is_true, const char *text, const char *file, int line)
{
    if (is_true)
        return;
    fprintf(stderr, "%s\n", text);
    small_fail(file, line);
}

void small_equal(uintmax_t a, uintmax_t b, int wants_equal, const char *file, int line)
{
    if ((a == b) == (wants_equal != 0))
        return;
    fprintf(stderr, "%#jx %s %#jx\n", a, wants_equal ? "!=" : "==", b);
    small_fail(file, line);
}

void small_range(uintmax_t v, uintmax_t lo, uintmax_t hi, const char *file, int line)
{
    if (v >= lo && v <= hi)
        return;
    fprintf(stderr, "%ju is not within %ju..%ju\n", v, lo, hi);
    small_fail(file, line);
}

void small_string(const char *a, const char *b, int wants_equal, const char *file, int line)
{
    if ((strcmp(a, b) == 0) == (wants_equal != 0))
        return;
    fprintf(stderr, "\"%s\" %s \"%s\"\n", a, wants_equal ? "!=" : "==", b);
    small_fail(file, line);
}

void small_memory(const void *a, const void *b, size_t n, int wants_equal, const char *file, int line)
{
    const unsigned char *x = a, *y = b;
    size_t at = 0;
    while (at < n && x[at] == y[at])
        at++;
    if ((at == n) == (wants_equal != 0))
        return;
    if (wants_equal)
        fprintf(stderr, "byte %zu of %zu: %#x != %#x\n", at, n, x[at], y[at]);
    else
        fprintf(stderr, "%zu bytes are the same\n", n);
    small_fail(file, line);
}

/* How the function was left: 0 = it came back with 0. */
static int call(const struct CMUnitTest *t, CMFixtureFunction fixture, void **state)
{
    volatile int result = 0;
    int left = setjmp(leave);
    if (left)
        return left;
    if (fixture)
        result = fixture(state) ? LEFT_BY_FAIL : 0;
    else
        t->test_func(state);
    return result;
}

int small_run(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
              CMFixtureFunction teardown)
{
    const char *only = getenv("MYTHOS_TEST_NAME");
    void *group_state = NULL;
    int n_passed = 0, n_failed = 0, n_skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    is_running = true;
    if (setup && call(NULL, setup, &group_state)) {
        fprintf(stderr, "FAILED %s: set-up\n", group);
        is_running = false;
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        const struct CMUnitTest *t = &tests[i];
        void *state = t->initial_state ? t->initial_state : group_state;
        if (only && *only && strcmp(only, t->name) != 0)
            continue;
        int left = t->setup_func ? call(t, t->setup_func, &state) : 0;
        if (!left)
            left = call(t, NULL, &state);
        if (t->teardown_func && call(t, t->teardown_func, &state))
            left = LEFT_BY_FAIL;
        n_passed += left == 0;
        n_failed += left == LEFT_BY_FAIL;
        n_skipped += left == LEFT_BY_SKIP;
        if (left)
            printf("%s %s\n", left == LEFT_BY_FAIL ? "FAILED" : "SKIPPED", t->name);
    }
    if (teardown && call(NULL, teardown, &group_state)) {
        fprintf(stderr, "FAILED %s: tear-down\n", group);
        n_failed++;
    }
    is_running = false;
    printf("%d passed, %d failed", n_passed, n_failed);
    if (n_skipped)
        printf(", %d skipped", n_skipped);
    printf("\n");
    return n_failed;
}
