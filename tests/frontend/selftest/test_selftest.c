/* test_selftest.c - the self-test of memory passes here, says what it found, and leaves nothing behind; that it fails
 * when a flag does nothing is shown by mutants. */
#include "tests/frontend/cli/cli_run.h"

#include <jansson.h>

static cli_result r;

static void memory_holds(void **state)
{
    (void)state;
    json_error_t e;
    json_t *row;
    size_t i;
    cli_shell(&r, "ls -d ${TMPDIR:-/tmp}/mythos-selftest-* 2>/dev/null | wc -l");
    const int n_before = atoi(r.out);
    cli_run(&r, "selftest memory --json");
    json_t *all = json_loads(r.out, 0, &e), *list = json_object_get(all, "checks");
    if (!all)
        fail_msg("%s: %s", e.text, r.err);
    json_array_foreach(list, i, row) if (!json_is_true(json_object_get(row, "holds"))) print_error(
        "%s: %s: %s\n", json_string_value(json_object_get(row, "flag")),
        json_string_value(json_object_get(row, "promise")), json_string_value(json_object_get(row, "found")));
    assert_int_equal(r.code, 0);
    assert_int_equal(json_integer_value(json_object_get(all, "failed")), 0);
    assert_true(json_array_size(list) >= 15);
    assert_int_equal(json_integer_value(json_object_get(all, "passed")), json_array_size(list));
    json_decref(all);
    cli_shell(&r, "ls -d ${TMPDIR:-/tmp}/mythos-selftest-* 2>/dev/null | wc -l");
    assert_true(atoi(r.out) <= n_before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_holds)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
