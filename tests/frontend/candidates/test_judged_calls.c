/* test_judged_calls.c - places of two rules that say the same of one call, that nobody looks at its result, are one
 * finding of inspect, whichever of them the judge thinks more probable. */
#include "retrieval/candidates/candidates.h"
#include "tests/frontend/cli/cli_run.h"

#include <string.h>

#define RULES_OF_RESULTS "--rules missing-null-check,unchecked-return "

static cli_result r;

/* Whether a finding is of that rule and begins in that line. */
static bool is_at(const json_t *finding, const char *rule, json_int_t line)
{
    const json_t *lines = json_object_get(finding, "lines");
    return strcmp(json_string_value(json_object_get(finding, "rule")), rule) == 0 &&
           json_integer_value(json_array_get(lines, 0)) == line;
}

/* That nobody looks at what a call gave is one finding; the log says where the other place's is. */
static void a_call_is_found_once(void **state)
{
    (void)state;
    json_t *f;
    size_t i;
    cli_shell(&r, "mkdir -p $D/once && printf '#include <stdlib.h>\n\nint f(void)\n{\n    int *p = malloc(4);\n    "
                  "*p = 1;\n    return *p;\n}\n' >$D/once/f.c");
    json_t *all = cli_json(&r, "inspect $D/once --confidence 0 --format json --fail-level never " RULES_OF_RESULTS);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 1);
    json_array_foreach(json_object_get(all, "findings"), i, f) assert_true(is_at(f, "missing-null-check", 6));
    json_decref(all);
    cli_expect(&r, "log why last f.c:5", 0);
    assert_non_null(strstr(r.out, "the finding in line 6 says the same of the call"));
    all = cli_json(&r, "inspect $D/once --confidence 0 --format json --fail-level never --rules unchecked-return");
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 1);
    json_decref(all);
}

/* Which place of a call is shown, and the fingerprint, stay when the code is only written in another way, although the
 * probabilities change and the other place becomes the more probable one. A baseline knows the call by either place. */
static void a_call_is_known_by_either_place(void **state)
{
    (void)state;
    static const char *const indent[] = {"    ", "\\t", "  ", "\\t\\t"};
    char line[128];
    json_t *f;
    size_t i, k;
    cli_shell(&r,
              "mkdir -p $D/known && printf '#include <stdlib.h>\n#include <string.h>\n\nchar *a(size_t n)\n{\n    "
              "char *out;\n    n = n < 4 ? 4 : n;\n    out = malloc(n + 1);\n    memset(out, 0, n + 1);\n    return "
              "out;\n}\n\nchar *b(size_t n)\n{\n    char *out = malloc(n + 1);\n    memset(out, 0, n + 1);\n    "
              "return out;\n}\n\nvoid *c(size_t n)\n{\n    void *p = malloc(n);\n    if (!p)\n        stop();\n    "
              "return p;\n}\n' >$D/known/k.c");
#define KNOWN "inspect $D/known/k.c --confidence 0 --format json --fail-level info --baseline $D/known/b.json "
    for (i = 0; i < sizeof(indent) / sizeof(indent[0]); i++) {
        snprintf(line, sizeof(line), "sed -i 's/^[ \t][ \t]*/%s/' $D/known/k.c", indent[i]);
        cli_shell(&r, line);
        json_t *all = cli_json(&r, i ? KNOWN RULES_OF_RESULTS : KNOWN RULES_OF_RESULTS "--update-baseline");
        assert_int_equal(json_array_size(json_object_get(all, "findings")), 2);
        json_array_foreach(json_object_get(all, "findings"), k, f)
            assert_true(is_at(f, "missing-null-check", k ? 16 : 9));
        json_decref(all);
        all = cli_json(&r, KNOWN "--rules unchecked-return");
        assert_int_equal(json_array_size(json_object_get(all, "findings")), 2);
        json_decref(all);
    }
}

/* A call that a change touched is a finding of the change, although the place that is shown is an old line below. */
static void a_changed_call_is_of_the_change(void **state)
{
    (void)state;
    cli_shell(&r,
              "mkdir -p $D/called && cd $D/called && git init -q && git config user.name n && git config user.email "
              "n@example.com && printf '#include <stdlib.h>\nint f(int n)\n{\n    int *p = malloc(4);\n    n += 1;"
              "\n    n *= 2;\n    n -= 3;\n    n += 5;\n    *p = n;\n    return *p;\n}\n' >c.c && git add c.c && "
              "git commit -qm one && sed -i 's/malloc(4)/malloc(8)/' c.c && git commit -qam two");
    assert_int_equal(r.code, 0);
    json_t *all = cli_json(
               &r, "inspect-diff -C $D/called HEAD~1..HEAD -m random:gemma3-tiny:q8_0 --find candidates --confidence 0 "
                   "--format json --fail-level never " RULES_OF_RESULTS),
           *f = json_array_get(json_object_get(all, "findings"), 0);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 1);
    assert_true(is_at(f, "missing-null-check", 9));
    assert_null(strstr(json_string_value(json_object_get(f, "why")), "before the change"));
    json_decref(all);
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_found_once),
        cmocka_unit_test(a_call_is_known_by_either_place),
        cmocka_unit_test(a_changed_call_is_of_the_change),
    };
    char id[1][MYTH_CANDIDATES_NAME];
    if (!myth_candidates_rules(id, 1)) {
        printf("skipped: no rules in this build\n");
        return CHECK_SKIP;
    }
    return cmocka_run_group_tests(tests, begin, cli_end);
}
