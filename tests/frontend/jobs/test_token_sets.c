/* test_token_sets.c - generate --parallel-threshold: what is printed as text and as JSON agree; one token a position is
 * the plain answer; rows and bytes are those of the plan; what does not go together is refused. */
#include "tests/frontend/cli/cli_run.h"

#include <math.h>
#include <string.h>

static const char *const models[] = {"random:gemma1-tiny:f32", "random:gemma2-tiny:q4_0", "random:gemma3-tiny:q8_0",
                                     "random:gemma3n-tiny:bf16", "random:gemma4-tiny:q8_0"};
enum { MODEL_N = sizeof(models) / sizeof(models[0]) };

static double number(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }

/* Sets in order of position, members by falling probability, weights of 1 together; rows are neighbours, without one
 * twice; the rest of the numbers follow from the members. */
static void check_sets(const json_t *j, uint32_t n_most, double threshold)
{
    const json_t *sets = json_object_get(j, "sets"), *ids = json_object_get(j, "ids"),
                 *layout = json_object_get(j, "layout");
    const uint32_t n_prompt = (uint32_t)number(j, "prompt_tokens");
    uint32_t row = n_prompt, n_removed = 0, n_fed = 0;
    assert_int_equal(json_array_size(sets), json_array_size(ids));
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const json_t *set = json_array_get(sets, i), *members = json_object_get(set, "members");
        double weight = 0.0, before = INFINITY;
        bool is_fed = false;
        assert_int_equal(number(set, "position"), i);
        assert_int_equal(number(set, "place"), n_prompt + i);
        assert_true(json_array_size(members) >= 1 && json_array_size(members) <= n_most);
        assert_int_equal(number(json_array_get(members, 0), "id"), json_integer_value(json_array_get(ids, i)));
        for (size_t k = 0; k < json_array_size(members); k++) {
            const json_t *m = json_array_get(members, k), *gone = json_object_get(m, "removed_after"),
                         *at = json_object_get(m, "row");
            weight += number(m, "weight");
            assert_true(number(m, "probability") <= before && (k == 0 || number(m, "probability") >= threshold));
            before = number(m, "probability");
            assert_true(json_is_string(json_object_get(m, "text")));
            n_removed += json_is_integer(gone);
            is_fed = is_fed || json_is_integer(gone) || json_is_integer(at);
            if (json_is_integer(gone))
                assert_true(json_integer_value(gone) > (json_int_t)i && json_is_null(at));
            else if (json_is_integer(at))
                assert_int_equal(json_integer_value(at), row++);
        }
        n_fed += is_fed;
        assert_true(fabs(weight - 1.0) < 1e-5);
    }
    assert_int_equal(number(layout, "rows"), row);
    assert_int_equal(number(layout, "positions"), n_prompt + n_fed);
    assert_int_equal(number(layout, "removed"), n_removed);
    assert_true(number(layout, "row_bytes") > 0);
    assert_int_equal(number(layout, "bytes_freed"), n_removed * number(layout, "row_bytes"));
}

/* The text view of the sets: one text as it is, several as {one|other}. Texts of bytes that are no character by
 * themselves differ between the two, so those runs are left out; *n counts the others. */
static void check_view(const json_t *j, const char *shown, uint32_t *n)
{
    static char want[1 << 16];
    const json_t *sets = json_object_get(j, "sets");
    size_t len = 0;
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const json_t *members = json_object_get(json_array_get(sets, i), "members");
        const size_t n_member = json_array_size(members);
        for (size_t k = 0; k < n_member; k++) {
            const char *text = json_string_value(json_object_get(json_array_get(members, k), "text"));
            for (const char *p = text; p == text || *p; p++) /* an empty one too: it may be a part of a character */
                if ((unsigned char)*p < ' ' || (unsigned char)*p >= 127)
                    return;
            len += (size_t)snprintf(want + len, sizeof(want) - len, "%s%s%s",
                                    n_member > 1 && k == 0 ? "{"
                                    : k                    ? "|"
                                                           : "",
                                    text, n_member > 1 && k + 1 == n_member ? "}" : "");
        }
    }
    snprintf(want + len, sizeof(want) - len, "\n");
    assert_string_equal(shown, want);
    ++*n;
}

static void text_and_json_agree(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_view = 0, n_several = 0, n_removed = 0;
    for (uint32_t i = 0; i < 6 * MODEL_N || n_view == 0; i++) {
        static cli_result r;
        char args[400];
        const double threshold = 0.002 + 0.03 * (double)check_unit(&rng);
        const uint32_t most = 2 + check_below(&rng, 8), n_new = 1 + check_below(&rng, 24);
        snprintf(
            args, sizeof(args),
            "generate -m %s --ids 2,%u,%u,%u -n %u --parallel-threshold %.6f --max-parallel-tokens %u --set-mode %s "
            "--combine %s %s --mem-report $D/mem.json",
            models[i % MODEL_N], 3 + check_below(&rng, 200), 3 + check_below(&rng, 200), 3 + check_below(&rng, 200),
            n_new, threshold, most, i % 2 ? "visible" : "isolated", i % 3 ? "mixture" : "top",
            i % 4 ? "--prune 0.9 --prune-after 2" : "");
        cli_expect(&r, args, 0);
        cli_expect_planned(args);
        static char shown[1 << 17];
        memcpy(shown, r.out, sizeof(shown));
        snprintf(args + strlen(args), sizeof(args) - strlen(args), " --json");
        json_t *j = cli_json(&r, args);
        check_sets(j, most, threshold * (1 - 1e-6));
        check_view(j, shown, &n_view);
        const json_t *sets = json_object_get(j, "sets");
        for (size_t k = 0; k < json_array_size(sets); k++)
            n_several += json_array_size(json_object_get(json_array_get(sets, k), "members")) > 1;
        n_removed += (uint32_t)cli_number(j, "layout.removed");
        assert_true(cli_number(j, "layout.removed") == 0 || i % 4);
        json_decref(j);
    }
    assert_true(n_several && n_removed);
}

static void one_token_a_position_is_the_plain_answer(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MODEL_N; i++) {
        static cli_result plain, r;
        char args[300];
        snprintf(args, sizeof(args), "generate -m %s --ids 2,7,8,9 -n 20", models[i]);
        cli_expect(&plain, args, 0);
        snprintf(args + strlen(args), sizeof(args) - strlen(args), " --parallel-threshold %s",
                 i % 2 ? "1" : "0.001 --max-parallel-tokens 1");
        cli_expect(&r, args, 0);
        assert_string_equal(r.out, plain.out);
    }
}

/* The branches of an answer: one a line, and the likeliest is the answer of the JSON; with one branch the plain answer.
 */
static void branches_are_answers(void **state)
{
    (void)state;
    static cli_result r, plain;
    for (uint32_t i = 0; i < MODEL_N; i++) {
        char args[300];
        snprintf(args, sizeof(args), "generate -m %s --ids 2,7,8,9 -n 12 --parallel-threshold 0.002 --combine branches",
                 models[i]);
        snprintf(args + strlen(args), sizeof(args) - strlen(args), " --max-parallel-tokens 4 --mem-report $D/mem.json");
        cli_expect(&r, args, 0);
        cli_expect_planned(args);
        size_t n_line = 0, best = 0;
        for (const char *p = r.out; (p = strchr(p, '\t')); p++)
            n_line++;
        snprintf(args + strlen(args), sizeof(args) - strlen(args), " --json");
        json_t *j = cli_json(&r, args), *all = json_object_get(j, "branches");
        assert_true(json_array_size(all) > 1 && json_array_size(all) <= 4 && json_array_size(all) == n_line);
        for (size_t k = 0; k < json_array_size(all); k++) {
            const json_t *b = json_array_get(all, k);
            assert_true(number(b, "parent") <= (double)k &&
                        fabs(exp(number(b, "logprob")) - number(b, "probability")) < 1e-6 * number(b, "probability"));
            best = number(b, "logprob") > number(json_array_get(all, best), "logprob") ? k : best;
        }
        assert_true(json_equal(json_object_get(j, "ids"), json_object_get(json_array_get(all, best), "ids")));
        json_decref(j);
        snprintf(args, sizeof(args), "generate -m %s --ids 2,7,8,9 -n 12 --json", models[i]);
        json_t *greedy = cli_json(&plain, args);
        snprintf(args + strlen(args), sizeof(args) - strlen(args), " --parallel-threshold 1 --combine branches");
        json_t *one = cli_json(&r, args);
        assert_true(json_equal(json_object_get(one, "ids"), json_object_get(greedy, "ids")));
        json_decref(one);
        json_decref(greedy);
    }
}

/* A context that is nearly full: fewer tokens a position, said in one line, and the answer is as long as it is without
 * them. */
static void rows_run_short(void **state)
{
    (void)state;
    static cli_result r;
    json_t *j =
        cli_json(&r, "generate -m random:gemma1-tiny:f32 --ids 2,7,8,9 -n 30 -c 36 --parallel-threshold 0.002 --json");
    check_sets(j, 8, 0.002 * (1 - 1e-6));
    assert_int_equal(json_array_size(json_object_get(j, "sets")), 30);
    assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "length");
    assert_true(cli_number(j, "limits.sets_cut_by_context") > 0 && cli_number(j, "layout.rows") <= 36);
    assert_non_null(strstr(r.err, "fewer tokens than they could: raise -c"));
    json_decref(j);
    cli_expect(&r, "generate -m random:gemma1-tiny:f32 --ids 2,7,8,9 -n 90 -c 36 --parallel-threshold 0.002", 3);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--prune 0.5", "add --parallel-threshold"},
        {"--max-parallel-tokens 3", "add --parallel-threshold"},
        {"--set-mode visible", "add --parallel-threshold"},
        {"--combine top", "add --parallel-threshold"},
        {"--parallel-threshold 0.1 --prune-after 3", "add --prune"},
        {"--parallel-threshold 0.1 --temp 0.7", "leave --temp out"},
        {"--parallel-threshold 0.1 --repeat-penalty 1.2", "leave --repeat-penalty out"},
        {"--parallel-threshold 0.1 --grammar 'root ::= \"a\"'", "leave --grammar out"},
        {"--parallel-threshold 0.1 --json-schema '{}'", "leave --json-schema out"},
        {"--parallel-threshold 0.1 --combine branches --prune 0.5", "leave it out"},
        {"--parallel-threshold 1.5", "0 to 1"},
        {"--parallel-threshold 0.1 --max-parallel-tokens 65", "1 to 64"},
        {"--parallel-threshold 0.1 --prune 2", "0 to 1"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        static cli_result r;
        char args[300];
        snprintf(args, sizeof(args), "generate " TINY "--ids 2,3 %s", wrong[i][0]);
        cli_expect(&r, args, 2);
        if (!strstr(r.err, wrong[i][1]))
            fail_msg("%s: %s", args, r.err);
    }
    static cli_result r;
    cli_expect(&r, "generate " TINY "--jsonl - -o $D/x.jsonl --parallel-threshold 0.1", 2);
    assert_non_null(strstr(r.err, "leave --jsonl out"));
}

/* plan and --dry-run have the bytes that the answer takes, and the rows that its sets have at most; a lower threshold
 * never has fewer of them. */
static void plans_have_their_rows(void **state)
{
    (void)state;
    static cli_result r;
    static const char *const flags[] = {"--parallel-threshold 0.004", "--parallel-threshold 0.3",
                                        "--parallel-threshold 0.004 --prune 0.9", "--parallel-threshold 1",
                                        "--parallel-threshold 0.004 --combine branches"};
    for (uint32_t i = 0; i < MODEL_N * sizeof(flags) / sizeof(*flags); i++) {
        char args[400], own[200];
        const char *f = flags[i / MODEL_N];
        const uint32_t most = 2 + i % 5, n_new = 6 + i % 30;
        snprintf(own, sizeof(own), "-m %s -n %u -c 256 --max-parallel-tokens %u %s", models[i % MODEL_N], n_new, most,
                 f);
        snprintf(args, sizeof(args), "generate --ids 2,7,8,9 %s --mem-report $D/mem.json", own);
        cli_expect(&r, args, 0);
        cli_expect_planned(args);
        snprintf(args, sizeof(args), "%s/mem.json", cli_dir);
        json_t *report = json_load_file(args, 0, NULL), *v;
        snprintf(args, sizeof(args), "generate --ids 2,7,8,9 %s --dry-run --json", own);
        json_t *dry = cli_json(&r, args);
        snprintf(args, sizeof(args), "plan --json %s", own);
        json_t *plan = cli_json(&r, args);
        const char *name;
        json_object_foreach(json_object_get(report, "classes"), name, v)
        {
            const double is = number(v, "planned");
            if (number(json_object_get(plan, "classes"), name) != is ||
                number(json_object_get(json_object_get(dry, "plan"), "classes"), name) != is)
                fail_msg("%s: %s: planned %.0f, plan says %.0f", own, name, is,
                         number(json_object_get(plan, "classes"), name));
        }
        assert_true(number(dry, "prompt_tokens") == 4);
        if (i / MODEL_N == 4) {
            assert_true(cli_number(plan, "sets.branches") == most);
        } else {
            const double can = strstr(f, "0.3") ? 3 : strstr(f, "0.004") ? 250 : 1, n = can < most ? can : most;
            snprintf(args, sizeof(args), "generate --ids 2,7,8,9 %s --json", own);
            json_t *answer = cli_json(&r, args);
            assert_true(cli_number(plan, "sets.members") == n && cli_number(plan, "sets.rows_per_position") == n - 1);
            assert_true(cli_number(plan, "sets.rows") == (n - 1) * n_new);
            assert_true(cli_number(dry, "sets.rows") == cli_number(plan, "sets.rows"));
            if (n > 1)
                assert_true(cli_number(plan, "sets.row_bytes") == cli_number(answer, "layout.row_bytes"));
            json_decref(answer);
        }
        json_decref(report);
        json_decref(dry);
        json_decref(plan);
    }
    /* Rows that the context has not are no rows of sets. */
    json_t *j = cli_json(&r, "plan " TINY "--json -c 64 -n 60 --parallel-threshold 0.1 --max-parallel-tokens 8");
    assert_true(cli_number(j, "sets.rows") == 4 && cli_number(j, "sets.rows_per_position") == 7);
    json_decref(j);
    double last = 0;
    for (int k = 100; k > 0; k -= 9) {
        char args[200];
        snprintf(args, sizeof(args), "plan " TINY "--json -n 20 --parallel-threshold %.2f --max-parallel-tokens 16",
                 k / 100.0);
        j = cli_json(&r, args);
        assert_true(cli_number(j, "sets.rows") >= last);
        last = cli_number(j, "sets.rows");
        json_decref(j);
    }
    assert_true(last == 15 * 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_json_agree),   cmocka_unit_test(one_token_a_position_is_the_plain_answer),
        cmocka_unit_test(branches_are_answers),  cmocka_unit_test(rows_run_short),
        cmocka_unit_test(plans_have_their_rows), cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
