/* test_dialect.c - borders of words and characters by their numbers, as other programs write them, find what they mean
 * there; and a mistake is named by its place in what was typed. */
#include "tests/support/check.h"
#include "retrieval/lines/regex.h"

#include <string.h>

static myth_mem *mem;

static bool finds(const char *pattern, const char *line)
{
    myth_error err = {0};
    myth_regex *r = NULL;
    myth_regex_run *run = NULL;
    myth_status st = MYTH_OK;
    size_t at, n_at;
    if (myth_regex_open(&r, mem, (const unsigned char *)pattern, strlen(pattern), false, false, &err) != MYTH_OK ||
        myth_regex_run_open(&run, r, &err) != MYTH_OK)
        fail_msg("%s: %s", pattern, err.msg);
    myth_regex_begin(run);
    const bool is_found = myth_regex_line(run, (const unsigned char *)line, strlen(line), &at, &n_at, &st);
    assert_int_equal(st, MYTH_OK);
    myth_regex_run_close(run);
    myth_regex_close(r);
    return is_found;
}

static void escapes_of_other_programs(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *line;
        bool is_found;
    } row[] = {
        {"\\<main\\>", "fn main()", true},
        {"\\<main\\>", "domain <main_>", false},
        {"\\<main", "remain", false},
        {"main\\>", "remain;", true},
        {"\\<\xc3\xa9t\xc3\xa9\\>", "un \xc3\xa9t\xc3\xa9.", true},
        {"\\<t\xc3\xa9", "un \xc3\xa9t\xc3\xa9.", false},
        {"(?:\\<a|\\<b)c\\>", "x bc", true},
        {"[\\<]b[\\>]", "a <b>", true}, /* signs in a class, as they are without a stroke */
        {"<b>", "a <b>", true},
        {"\\\\<b", "a \\<b", true}, /* the stroke itself, then a sign */
        {"\\Q\\<b\\E", "a \\<b", true},
        {"\\Q\\<b\\E", "a b", false},
        {"[]\\<]x\\<y", "]xy", false},
        {"[]\\<]\\<y", "]y", true},
        {"[[:alpha:]\\<]\\>", "a", true},
        {"caf\\u00e9", "un caf\xc3\xa9", true},
        {"caf\\u{e9}+s", "caf\xc3\xa9\xc3\xa9s", true},
        {"\\U0001f600", "\xf0\x9f\x98\x80", true},
        {"\\U{1f600}", "\xf0\x9f\x98\x80", true},
        {"[\\u4e00-\\u9fff]", "x \xe4\xb8\xad", true},
        {"[\\u4e00-\\u9fff]", "x \xc3\xa9", false},
        {"a\\u002e", "a.", true}, /* a sign of the syntax is the character */
        {"a\\u{2e}", "ab", false},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        if (finds(row[i].pattern, row[i].line) != row[i].is_found)
            fail_msg("%s in %s: expected %d", row[i].pattern, row[i].line, row[i].is_found);
}

static void a_mistake_has_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *says;
    } row[] = {
        {"\\<ab(", "byte 5: "},      {"\\u{e9}(", "byte 7: "}, {"x\\ud800", "byte 3: "},
        {"\\u{110000}", "byte 2: "}, {"\\u{}", "byte 2: "},    {"\\u00e", "byte 2: "},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        myth_error err = {0};
        myth_regex *r = NULL;
        assert_int_equal(
            myth_regex_open(&r, mem, (const unsigned char *)row[i].pattern, strlen(row[i].pattern), false, false, &err),
            MYTH_EARG);
        if (!strstr(err.msg, row[i].says))
            fail_msg("%s: %s; expected %s", row[i].pattern, err.msg, row[i].says);
    }
}

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_of_other_programs),
        cmocka_unit_test(a_mistake_has_its_place),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
