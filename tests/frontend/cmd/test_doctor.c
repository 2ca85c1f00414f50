/* test_doctor.c - the rows of doctor: what is there is ok, what is absent is a note, what cannot be used is a problem
 * and sets the exit code; and nothing is made by looking. */
#include "tests/frontend/cli/cli_run.h"

static cli_result r;

/* The only row of a check whose text contains `part`. */
static const json_t *row_of(const json_t *list, const char *check, const char *part)
{
    const json_t *found = NULL, *row;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)list, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "check")), check) != 0 ||
            !strstr(json_string_value(json_object_get(row, "text")), part))
            continue;
        assert_null(found);
        found = row;
    }
    if (!found)
        fail_msg("no row %s with %s in %s", check, part, r.out);
    return found;
}

static void expect_state(const json_t *list, const char *check, const char *part, const char *state)
{
    assert_string_equal(json_string_value(json_object_get(row_of(list, check, part), "state")), state);
}

/* Runs doctor with caches of its own; the caller frees the rows. */
static json_t *doctor(const char *args, int code)
{
    char line[1024];
    snprintf(line, sizeof(line), "HF_HUB_CACHE=$D/hub XDG_CACHE_HOME=$D/cache $M doctor --json --device cpu %s", args);
    cli_shell(&r, line);
    if (r.code != code)
        fail_msg("doctor %s: exit %d, expected %d: %s%s", args, r.code, code, r.out, r.err);
    json_t *list = json_loads(r.out, 0, NULL);
    assert_true(json_is_array(list));
    return list;
}

static void what_is_absent_is_a_note(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/src && printf 'int f(void) { return 1; }\\n' >$D/src/a.c");
    json_t *list = doctor("$D/src " TINY, 0);
    expect_state(list, "program", "built for", "ok");
    expect_state(list, "device", "cpu: ", "ok");
    expect_state(list, "model", "gemma3-tiny", "ok");
    expect_state(list, "cache", "no model in", "note");
    expect_state(list, "index", "has none", "note");
    assert_non_null(strstr(json_string_value(json_object_get(row_of(list, "index", "none"), "next")), "mythos index"));
    json_decref(list);
    cli_shell(&r, "test ! -e $D/cache && test ! -e $D/hub"); /* looking has made neither */
    assert_int_equal(r.code, 0);
}

static void an_index_is_counted_and_a_damaged_one_is_a_problem(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/src && printf 'int f(void) { return 1; }\\n' >$D/src/a.c && "
                  "XDG_CACHE_HOME=$D/cache $M index $D/src");
    assert_int_equal(r.code, 0);
    json_t *list = doctor("-C $D/src " TINY, 0);
    expect_state(list, "index", ": 1 file, 1 definition, 0 uses, 0 files incomplete", "ok");
    json_decref(list);
    cli_shell(&r, "for f in $D/cache/mythos/*/index-*.db; do printf 'not a database, and long enough' >$f; done");
    assert_int_equal(r.code, 0);
    list = doctor("$D/src " TINY, 1);
    expect_state(list, "index", "", "problem");
    json_decref(list);
}

static void models_of_the_cache_are_listed(void **state)
{
    (void)state;
    cli_shell(&r,
              "for m in good broken; do mkdir -p $D/hub/models--org--$m/refs $D/hub/models--org--$m/snapshots/0a && "
              "printf 0a >$D/hub/models--org--$m/refs/main; done && mkdir -p $D/hub/datasets--org--d && "
              "$M convert " TINY "-o $D/hub/models--org--good/snapshots/0a/model.gguf --type f32 && "
              "printf GGUF >$D/hub/models--org--broken/snapshots/0a/model.gguf");
    assert_int_equal(r.code, 0);
    json_t *list = doctor("-m org/good", 0);
    expect_state(list, "cache", "org/good: gemma3", "ok");
    expect_state(list, "cache", "broken", "note");
    expect_state(list, "model", "gemma3", "ok");
    json_decref(list);
    list = doctor("-m org/broken", 1);
    expect_state(list, "model", "broken", "problem");
    json_decref(list);
}

static void a_plan_that_does_not_fit_is_a_problem(void **state)
{
    (void)state;
    json_t *list = doctor(TINY "--mem-limit 64K", 1);
    expect_state(list, "model", "needs", "problem");
    json_decref(list);
}

static void the_text_has_the_same_rows(void **state)
{
    (void)state;
    cli_shell(&r, "HF_HUB_CACHE=$D/none XDG_CACHE_HOME=$D/none $M doctor --device cpu " TINY);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "note     cache     no model in "));
    assert_non_null(strstr(r.out, "-> hf download ORG/NAME"));
    assert_non_null(strstr(r.out, "\n0 problems\n"));
    cli_shell(&r, "HF_HUB_CACHE=$D/none XDG_CACHE_HOME=$D/none $M doctor --device cpu -m $D/absent");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.out, "\n1 problem\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent_is_a_note),
        cmocka_unit_test(an_index_is_counted_and_a_damaged_one_is_a_problem),
        cmocka_unit_test(models_of_the_cache_are_listed),
        cmocka_unit_test(a_plan_that_does_not_fit_is_a_problem),
        cmocka_unit_test(the_text_has_the_same_rows),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
