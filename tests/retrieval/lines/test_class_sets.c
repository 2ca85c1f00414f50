/* test_class_sets.c - a class that ripgrep reads as a set is refused with what to write instead, and that finds what is
 * meant; every class that both read the same way is taken. */
#include "tests/support/check.h"
#include "retrieval/lines/class_sets.h"
#include "retrieval/lines/regex.h"

static myth_mem *mem;

/* Expressions that are refused, and the sign that the message names. */
static void sets_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *says;
    } row[] = {
        {"[A-Z&&[^A]]", "byte 4: && is no operation in a class; for [X&&[^Y]] write (?![Y])[X]"},
        {"[a-z--[aeiou]]", "byte 4: -- is no operation in a class; for [X--[Y]] write (?![Y])[X]"},
        {"[[:alpha:]~~[a-c]]", "byte 10: ~~ is no operation in a class"},
        {"x[\\w--\\d]", "byte 4: --"},
        {"[a&&b]", "byte 2: &&"},
        {"[&&]", "byte 1: &&"},
        {"[a-c&&]", "byte 4: &&"},
        {"[\\p{Greek}&&\\pL]", "byte 10: &&"},
        {"[^x&&y]", "byte 3: &&"},
        {"[]&&y]", "byte 2: &&"},
        {"[a-c[x-z]]", "byte 4: a class in a class is not read as one; for [X[Y]] write [XY]"},
        {"[[a-c]]", "byte 1: a class in a class"},
        {"[[^a]x]", "byte 1: a class in a class"},
        {"[[.x.]]", "byte 1: a class in a class"},
        {"[+--]", "byte 2: --"},
        {"a|(?:b[!-~~~])", "byte 10: ~~"},
        {"[--a]", "byte 1: a range that begins here"},
        {"[^]-a]", "byte 2: a range that begins here"},
        {"\\[[a&&b]", "byte 4: &&"},
        {"\\Qx\\E[a&&b]", "byte 7: &&"},
        {"\\\\[a&&b]", "byte 4: &&"},
        {"[\\]&&b]", "byte 3: &&"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        const size_t n = strlen(row[i].pattern);
        myth_error err = {0};
        myth_regex *r = NULL;
        assert_int_equal(myth_regex_open(&r, mem, (const unsigned char *)row[i].pattern, n, false, false, &err),
                         MYTH_EARG);
        if (!strstr(err.msg, row[i].says))
            fail_msg("%s: %s; expected %s", row[i].pattern, err.msg, row[i].says);
    }
}

/* Expressions that are no sets, also for ripgrep; or that it refuses, so that they can only be pcre2's. */
static void others_are_taken(void **state)
{
    (void)state;
    static const char *const pattern[] = {
        "[[:alpha:]]",  "[[:^alpha:]_]", "[a&b]",    "[a-z&]",       "[&-&&]",     "[!-~~]",
        "[a~b]",        "[a-]",          "[-a]",     "[^-a]",        "[--]",       "[---]",
        "[---a]",       "[]-]",          "[\\--a]",  "[-\\-a]",      "[\\&\\&]",   "[\\[a]",
        "[a\\[b]]",     "\\[a&&b\\]",    "a&&b",     "a--b",         "a~~b",       "[[]",
        "[^[]",         "[^[]]",         "[[(]x",    "[]a]",         "[^]a]",      "\\Q[a&&b]\\E",
        "[\\Qa&&b\\E]", "(?#[a&&b])x",   "[ -\\[a]", "\\x{5b}a&&b]", "[\\x{26}&]", "[[:<:]]x",
        "[a]&&[b]",     "(a)--(b)",      "",
    };
    for (size_t i = 0; i < sizeof(pattern) / sizeof(*pattern); i++) {
        myth_error err = {0};
        myth_regex *r = NULL;
        if (myth_regex_open(&r, mem, (const unsigned char *)pattern[i], strlen(pattern[i]), false, false, &err) !=
            MYTH_OK)
            fail_msg("%s: %s", pattern[i], err.msg);
        myth_regex_close(r);
    }
}

/* No beginning of an expression is read past its end: each stands at the end of a block of its own. */
static void beginnings_are_safe(void **state)
{
    (void)state;
    static const char whole[] = "[\\Qa\\E&&[^\\x{41}-\\p{L}[:alpha:]]--](?#x)\\Q[";
    for (size_t n = 1; n < sizeof(whole); n++) {
        unsigned char *own = malloc(n);
        assert_non_null(own);
        memcpy(own, whole, n);
        const myth_status st = myth_class_sets_check(own, n, NULL);
        assert_true(st == MYTH_OK || st == MYTH_EARG);
        free(own);
    }
}

static bool finds(const char *pattern, const char *line)
{
    size_t at, n_at;
    myth_status st;
    myth_regex *r = NULL;
    myth_regex_run *run = NULL;
    assert_int_equal(myth_regex_open(&r, mem, (const unsigned char *)pattern, strlen(pattern), false, false, NULL),
                     MYTH_OK);
    assert_int_equal(myth_regex_run_open(&run, r, NULL), MYTH_OK);
    const bool is_found = myth_regex_line(run, (const unsigned char *)line, strlen(line), &at, &n_at, &st);
    myth_regex_run_close(run);
    myth_regex_close(r);
    return is_found;
}

/* What the messages tell to write. */
static void instead(void **state)
{
    (void)state;
    assert_true(finds("^(?![A])[A-Z]$", "B") && !finds("^(?![A])[A-Z]$", "A"));
    assert_true(finds("^(?=[c-x])[a-d]$", "c") && !finds("^(?=[c-x])[a-d]$", "a"));
    assert_true(finds("^(?:(?![c-x])[a-d]|(?![a-d])[c-x])$", "a"));
    assert_true(finds("^(?:(?![c-x])[a-d]|(?![a-d])[c-x])$", "x"));
    assert_false(finds("^(?:(?![c-x])[a-d]|(?![a-d])[c-x])$", "c"));
    assert_true(finds("^[a\\&\\&]$", "&") && finds("^[a\\-\\-]$", "-") && finds("^[a\\~\\~]$", "~"));
    assert_true(finds("^[\\[a]$", "["));
}

static int open_mem(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int close_mem(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_mem, close_mem)
    const struct CMUnitTest tests[] = {T(sets_are_refused), T(others_are_taken), T(beginnings_are_safe), T(instead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
