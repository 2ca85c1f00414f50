/* check.h - what every test program needs beside cmocka: the seed, the counts, skipping, paths, a random stream.
 *
 * Seed     MYTHOS_TEST_SEED, else what the build wrote into MYTHOS_BUILD_DIR/test_seed: the first digits of the commit.
 *          Printed on first use, so that a run can be repeated
 * Full     MYTHOS_TEST_FULL=1 runs all that a test can run, else a sample of it
 * Sample   MYTHOS_TEST_SAMPLE=N, set by ctest where software stands in for a device: an N-th of the sample, in full
 *          runs too. MYTHOS_TEST_QUICK=N, set by ctest where the sample takes minutes: an N-th of it, but not in full
 *          runs
 * Name     MYTHOS_TEST_NAME=PATTERN runs the tests of that name alone
 * Skip     check_skip and check_left_out print a line "SKIPPED what: why"; tests/support/summary.py counts these lines
 *          and repeats them at the end of `make test`. cmocka's own skip() says no reason and is not available
 */
#ifndef MYTH_TESTS_CHECK_H
#define MYTH_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MYTH_CMOCKA_SMALL)
#include "cmocka_small.h"
#else
#include <cmocka.h>
#endif
#include "left_out.h"

enum { CHECK_SKIP = 77 }; /* exit code of a program that has nothing to test here; it prints why */

static inline bool check_is_full(void)
{
    const char *s = getenv("MYTHOS_TEST_FULL");
    return s && s[0] == '1' && !getenv("MYTHOS_TEST_SAMPLE");
}

static inline uint32_t check_share(const char *name)
{
    const char *s = getenv(name);
    const uint32_t share = s ? (uint32_t)strtoul(s, NULL, 10) : 1;
    return share ? share : 1;
}

static inline uint32_t check_quick(void)
{
    const char *full = getenv("MYTHOS_TEST_FULL");
    return full && full[0] == '1' ? 1 : check_share("MYTHOS_TEST_QUICK");
}

/* How many of the n of a sample are run: at least 1. */
static inline uint32_t check_sample(uint32_t n)
{
    const uint32_t share = check_share("MYTHOS_TEST_SAMPLE") * check_quick();
    return (n + share - 1) / share;
}

/* How many trials are run: MYTHOS_TEST_TRIALS where it is set, else `full` in a full run, or the sample of n. */
static inline uint32_t check_trials(uint32_t full, uint32_t n)
{
    const char *s = getenv("MYTHOS_TEST_TRIALS");
    const uint32_t given = s ? (uint32_t)strtoul(s, NULL, 10) : 0;
    return given ? given : check_is_full() ? full : check_sample(n);
}

/* Whether round i of n is run: a small sample that has not yet met what it is to meet goes on, for a while. */
static inline bool check_goes_on(uint64_t i, uint64_t n, bool has_met) { return i < n || (!has_met && i < n + 400); }

uint64_t check_seed(void);

/* Leaves the test that calls it; `why` is a printf format with its arguments. */
#define check_skip(...) (check_count_skipped(__func__, __VA_ARGS__), check_leave_test())
#if defined(MYTH_CMOCKA_SMALL)
#define check_leave_test() small_skip()
#else
#define check_leave_test() _skip(__FILE__, __LINE__)
#endif
#undef skip
void check_count_skipped(const char *test, const char *why, ...) LEFT_OUT_PRINTF(2);

/* Runs the tests. The exit code: 1 when one failed, CHECK_SKIP when every one was skipped, else 0. cmocka's own, the
 * number of tests that failed, would be taken for a skipped program at 77 and for success at 256. */
int check_run(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
              CMFixtureFunction teardown);
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown) \
    check_run(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

/* Whether the i-th of n is among `most` of them (at least 1): evenly spread, from a place that the seed gives. */
static inline bool check_is_among(uint32_t i, uint32_t n, uint32_t most)
{
    uint32_t every = most < n ? (n + most - 1) / most : 1;
    return (i + check_seed()) % every == 0;
}

/* Whether the i-th of the n of a sample is run. */
static inline bool check_is_kept(uint32_t i, uint32_t n) { return check_is_among(i, n, check_sample(n)); }

/* Whether the i-th of n cases is run, all of which are unless the run is a quick one. */
static inline bool check_is_case(uint32_t i, uint32_t n)
{
    return check_is_among(i, n, (n + check_quick() - 1) / check_quick());
}

/* splitmix64: any state is a good one */
static inline uint64_t check_rand(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint32_t check_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(check_rand(state) % n);
} /* n >= 1 */
static inline float check_unit(uint64_t *state) { return (float)(check_rand(state) >> 40) * 0x1p-24f; } /* [0, 1) */

/* `rest` inside the source tree: ctest says where that is, a program run by hand is run from its root. */
static inline const char *check_path(char *dst, size_t cap, const char *rest)
{
    const char *dir = getenv("MYTHOS_SOURCE_DIR");
    snprintf(dst, cap, "%s/%s", dir ? dir : ".", rest);
    return dst;
}

#endif
