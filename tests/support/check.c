/* check.c - see check.h. */
#include "check.h"

static size_t n_skipped;

void check_count_skipped(const char *test, const char *why, ...)
{
    char text[512];
    va_list list;
    va_start(list, why);
    vsnprintf(text, sizeof(text), why, list);
    va_end(list);
    check_left_out(test, "%s", text);
    n_skipped++;
}

int check_run(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
              CMFixtureFunction teardown)
{
#if defined(MYTH_CMOCKA_SMALL)
    const int n_failed = small_run(group, tests, n, setup, teardown);
#else
    if (getenv("MYTHOS_TEST_NAME"))
        cmocka_set_test_filter(getenv("MYTHOS_TEST_NAME"));
    const int n_failed = _cmocka_run_group_tests(group, tests, n, setup, teardown);
#endif
    return n_failed ? 1 : n_skipped == n ? CHECK_SKIP : 0;
}

/* What the build wrote (cmake/test_seed.cmake); false where no build is named or none wrote it. */
static bool read_seed(uint64_t *seed)
{
    char path[1024];
    const char *dir = getenv("MYTHOS_BUILD_DIR");
    unsigned long long v;
    snprintf(path, sizeof(path), "%s/test_seed", dir ? dir : "build");
    FILE *f = fopen(path, "r");
    const bool has_seed = f && fscanf(f, "%llu", &v) == 1;
    if (f)
        fclose(f);
    if (has_seed)
        *seed = v;
    return has_seed;
}

uint64_t check_seed(void)
{
    static uint64_t seed;
    static bool is_set;
    if (is_set)
        return seed;
    const char *given = getenv("MYTHOS_TEST_SEED"), *from = "the commit";
    if (given) {
        seed = strtoull(given, NULL, 0);
        from = "MYTHOS_TEST_SEED";
    } else if (!read_seed(&seed)) {
        seed = 0;
        from = "nothing: no build folder was found";
    } else if (seed == 0) {
        from = "nothing: this tree has no commit";
    }
    is_set = true;
    printf("seed %llu, from %s; MYTHOS_TEST_SEED=%llu repeats this run\n", (unsigned long long)seed, from,
           (unsigned long long)seed);
    return seed;
}
