/* test_judged_memory.c - judging places takes no more than was planned before the first of them was printed, and under
 * a limit that the plan fits it says the same. */
#include "retrieval/retrieval.h"
#include "tests/frontend/cli/cli_run.h"

#include <string.h>

static cli_result r;

/* Whether the report of the last run has a class with more than was planned; *total becomes what was planned in all. */
static bool is_over(json_int_t *total)
{
    char path[256];
    const char *name;
    json_t *c;
    bool is = false;
    snprintf(path, sizeof(path), "%s/mem.json", cli_dir);
    json_t *j = json_load_file(path, 0, NULL);
    assert_non_null(j);
    *total = 0;
    json_object_foreach(json_object_get(j, "classes"), name, c)
    {
        const json_int_t planned = json_integer_value(json_object_get(c, "planned"));
        is = is || json_integer_value(json_object_get(c, "peak")) > planned;
        *total += strcmp(name, "weights_mapped") == 0 ? 0 : planned;
    }
    json_decref(j);
    return is;
}

static void judging_takes_what_is_planned(void **state)
{
    (void)state;
    /* a long file of long functions, with much to show beside them; several files, of which some are read ahead */
    static const char *const run[] = {
        "candidates --judge frontend/candidates/judge.c",
        "candidates --judge engine/run/plan.c engine/run/dense.c engine/run/ple.c",
        "inspect engine/run/plan.c engine/run/dense.c --find candidates --fail-level never",
    };
    if (!myth_candidates_has("c"))
        check_skip("no rules in this build");
    for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
        char line[512];
        json_int_t total;
        snprintf(line, sizeof(line), "%s --no-cache --device cpu --mem-report $D/mem.json", run[i]);
        cli_expect(&r, line, 0);
        if (is_over(&total))
            fail_msg("%s: more than is planned", run[i]);
        char *free_of = strdup(r.out);
        assert_non_null(free_of);
        uint32_t n_run = 0, n_refused = 0;
        for (int part = 7; part > 0; part -= 4) {
            snprintf(line, sizeof(line), "%s --no-cache --device cpu --mem-limit %lldK", run[i],
                     (long long)(total * part / 10 >> 10));
            cli_run(&r, line);
            n_run += r.code == 0;
            n_refused += r.code == 71;
            if (r.code == 0 ? strcmp(r.out, free_of) != 0 : r.code != 71 || (i < 2 && r.out[0]))
                fail_msg("%s: exit %d: %s%.300s", line, r.code, r.err, r.out);
        }
        free(free_of);
        assert_true(n_run > 0 && n_refused > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(judging_takes_what_is_planned)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
