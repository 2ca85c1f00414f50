/* test_judged_rules.c - every rule that finds places is a rule that findings can have, and --rules takes the ids that a
 * run can report. */
#include "frontend/cmd/choose_rules.h"
#include "frontend/cli/args.h"
#include "retrieval/candidates/candidates.h"
#include "tests/support/check.h"

#include <string.h>

static void every_rule_has_a_row(void **state)
{
    (void)state;
    static char id[MYTH_ARGS_NAMES][MYTH_CANDIDATES_NAME];
    bool is_found[MYTH_RULE_N] = {false};
    const uint32_t n = myth_candidates_rules(id, MYTH_ARGS_NAMES);
    if (!n)
        check_skip("no rules in this build");
    for (uint32_t i = 0; i < n; i++) {
        const int rule = myth_rule_find(id[i], strlen(id[i]));
        if (rule < 0)
            fail_msg("%s has no row in rules.def", id[i]);
        is_found[rule] = true;
    }
    for (int i = 0; i < MYTH_RULE_N; i++) /* `other` is a model's word */
        if (is_found[i] != (i != MYTH_RULE_OTHER))
            fail_msg("%s: %s", myth_rules[i].id, is_found[i] ? "is found" : "no rule finds it");
}

static void ids_are_those_of_the_run(void **state)
{
    (void)state;
    static const struct {
        const char *only;
        myth_rule_sources from;
        const char *says; /* NULL = it is taken */
    } row[] = {
        {"weak-hash", {false, true, false}, NULL},
        {"regression", {false, true, false}, "only mythos inspect-diff"},
        {"regression", {true, true, false}, NULL},
        {"regression", {true, true, true}, NULL},
        {"regression", {true, false, true}, NULL},
        {"regression", {false, true, true}, "only mythos inspect-diff"},
        {"other", {false, false, true}, "--find both"},
        {"other", {true, true, true}, NULL},
        {"sign-mixing", {false, true, false}, "--find candidates or both"},
        {"sign-mixing", {true, true, false}, "--find candidates or both"},
        {"sign-mixing", {false, false, true}, NULL},
        {"sign-mixing", {true, true, true}, NULL},
        {"weak-hash", {false, false, true}, NULL},
        {"sign-mixing,weak-hash", {false, true, false}, NULL},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        myth_rule_choice c;
        myth_error err = {0};
        const myth_status st = myth_rules_choose(&c, row[i].only, NULL, MYTH_SEVERITY_INFO, &row[i].from, &err);
        if (st != (row[i].says ? MYTH_EARG : MYTH_OK) || (row[i].says && !strstr(err.msg, row[i].says)))
            fail_msg("row %zu, %s: %s", i, row[i].only, err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_has_a_row),
                                       cmocka_unit_test(ids_are_those_of_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
