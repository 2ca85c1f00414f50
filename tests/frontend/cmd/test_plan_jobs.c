/* test_plan_jobs.c - plan --for residuals and --for logprobs say what the job's --dry-run says, to the byte, for random
 * flags and limits, and what a run then takes. */
#include "tests/frontend/cli/cli_run.h"

static cli_result r;

enum { N_PROMPT = 40, N_ROUND = 24 };

static void write_prompts(uint64_t *rng)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/p", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < N_PROMPT; i++) {
        fprintf(f, "{\"label\":\"%c\",\"text\":\"", 'a' + (char)check_below(rng, 3));
        for (uint32_t k = check_below(rng, 40); k > 0; k--)
            fputs(check_below(rng, 2) ? "a " : "word ", f);
        fputs("x\"", f);
        if (check_below(rng, 3) == 0)
            fputs(",\"completions\":[\"one\",\"two three\"]", f);
        fputs("}\n", f);
    }
    fclose(f);
}

static const char *one_of(uint64_t *rng, const char *const *list, uint32_t n) { return list[check_below(rng, n)]; }

#define ONE_OF(rng, list) one_of(rng, list, (uint32_t)(sizeof(list) / sizeof(list[0])))

static void random_flags(uint64_t *rng, bool is_residuals, char *dst, size_t cap)
{
    static const char *const layers[] = {"", "--layers 0,3-5", "--layers 7"},
                             *const position[] = {"", "--position every", "--position mean", "--position 0"},
                             *const batch[] = {"", "--batch 1", "--batch 7", "--batch 64"},
                             *const rows[] = {"", "--rows $D/rows", "--winsorize 0.9"},
                             *const stats[] = {"", "--stats all", "--stats minmax"},
                             *const top[] = {"", "--top-k 1", "--top-k 100"},
                             *const saved[] = {"", "--save-baseline $D/x", "--special"},
                             *const step[] = {"", "-ub 64", "-c 256"}, *const chat[] = {"", "--chat", "--chat -sys be"};
    if (is_residuals)
        snprintf(dst, cap, "%s %s %s %s %s %s %s", ONE_OF(rng, layers), ONE_OF(rng, position), ONE_OF(rng, batch),
                 ONE_OF(rng, rows), ONE_OF(rng, stats), ONE_OF(rng, step), ONE_OF(rng, chat));
    else
        snprintf(dst, cap, "%s %s %s %s", ONE_OF(rng, top), ONE_OF(rng, saved), ONE_OF(rng, step), ONE_OF(rng, chat));
}

/* The plan of both; NULL when the dry run refuses, and then the plan either does so too or does not fit. */
static json_t *both(const char *job, const char *flags)
{
    char line[600];
    json_error_t e;
    snprintf(line, sizeof(line), "%s " TINY "$D/p %s --dry-run --json", job, flags);
    cli_run(&r, line);
    const int code = r.code;
    json_t *dry = json_loads(r.out, 0, &e);
    snprintf(line, sizeof(line), "plan --for %s " TINY "$D/p %s --json", job, flags);
    cli_run(&r, line);
    json_t *plan = json_loads(r.out, 0, &e);
    if (code == 0) {
        json_t *said = json_object_get(dry, "plan");
        if (r.code != 0 || !plan || !said)
            fail_msg("%s: exit %d: %s", line, r.code, r.err);
        assert_non_null(json_object_get(plan, "expected"));
        json_object_del(plan, "expected");
        if (!json_equal(plan, said))
            fail_msg("%s\n%s\ndry run: %s", line, json_dumps(plan, 0), json_dumps(said, 0));
        json_decref(dry);
        return plan;
    }
    if (r.code == 0 ? !json_is_false(json_object_get(plan, "fits")) : r.code != code)
        fail_msg("%s: exit %d, of the dry run %d", line, r.code, code);
    json_decref(dry);
    json_decref(plan);
    return NULL;
}

static void plans_are_those_of_dry_runs(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    char flags[400], limited[500], line[700];
    uint32_t n_equal = 0;
    write_prompts(&rng);
    for (uint32_t round = 0; round < N_ROUND; round++) {
        const bool is_residuals = round % 2;
        const char *job = is_residuals ? "residuals" : "logprobs";
        random_flags(&rng, is_residuals, flags, sizeof(flags));
        json_t *plan = both(job, flags);
        if (!plan)
            continue;
        n_equal++;
        const double total = cli_number(plan, "total_bytes"), staging = cli_number(plan, "classes.staging");
        json_decref(plan);
        snprintf(limited, sizeof(limited), "%s --mem-limit %.0f", flags,
                 total - (round % 4 < 2 ? 1 : total * check_below(&rng, 500) / 1000));
        json_decref(both(job, limited));
        if (round >= 8)
            continue;
        /* and a run takes it */
        snprintf(line, sizeof(line), "rm -rf $D/o* $D/rows; $M %s " TINY "$D/p %s -o $D/o -q --mem-report $D/mem.json",
                 job, flags);
        cli_shell(&r, line);
        if (r.code != 0 && r.code != 3)
            fail_msg("%s: exit %d: %s", line, r.code, r.err);
        cli_expect_planned(line);
        snprintf(line, sizeof(line), "%s/mem.json", cli_dir);
        json_t *report = json_load_file(line, 0, NULL);
        assert_true(cli_number(report, "classes.staging.planned") == staging);
        json_decref(report);
    }
    assert_true(n_equal > N_ROUND / 3);
}

/* A number of the plan that a dry run of residuals prints. */
static double dry(const char *flags, const char *name)
{
    char line[600];
    snprintf(line, sizeof(line), "residuals " TINY "$D/p --dry-run --json %s", flags);
    json_t *j = cli_json(&r, line);
    const double v = cli_number(j, name);
    json_decref(j);
    return v;
}

/* Where not even the longest prompt fits, or not even a batch of one, what a refusal proposes does all prompts. */
static void a_refusal_leaves_no_prompt_out(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    char list[1024], flags[600], line[700];
    write_prompts(&rng);
    const double longest = dry("", "longest"), faults = dry("", "faults");
    snprintf(flags, sizeof(flags), "-ub %.0f", longest);
    const double least[] = {dry(flags, "plan.total_bytes"), dry("--batch 1", "plan.total_bytes")};
    for (int i = 0; i < 2; i++) {
        const char *batch = i ? "--batch 7" : "";
        snprintf(line, sizeof(line), "residuals " TINY "$D/p -o $D/r %s --mem-limit %.0f", batch, least[i] - 1);
        cli_expect(&r, line, 71);
        const char *fits = strstr(r.err, "fits with:");
        if (!fits)
            fail_msg("%s: %s", line, r.err);
        snprintf(list, sizeof(list), "%.*s", (int)strcspn(fits + 10, "\n;"), fits + 10);
        for (char *rest = list, *change; (change = strsep(&rest, ","));) {
            const bool has_limit = strstr(change, "--mem-limit");
            snprintf(flags, sizeof(flags), "%s %s --mem-limit %.0f", batch, change, least[i] - 1);
            if (has_limit)
                snprintf(flags, sizeof(flags), "%s %s", batch, change);
            if (dry(flags, "faults") != faults)
                fail_msg("%s leaves prompts out", flags);
        }
    }
}

static void flags_of_another_job_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"plan " TINY "--layers 3", "--layers is a flag of --for residuals"},
        {"plan " TINY "--for logits --chat", "--chat is a flag of --for residuals"},
        {"plan " TINY "--for logprobs $D/p --batch 3", "--batch is a flag of --for residuals"},
        {"plan " TINY "--for residuals $D/p --top-k 3", "--top-k is a flag of --for logprobs"},
        {"plan " TINY "--for residuals", "--for residuals reads its PROMPTS"},
        {"plan " TINY "--for residuals $D/p -np 2", "leave out --parallel"},
        {"plan --table --for logprobs", "leave out --for logprobs"},
    };
    uint64_t rng = 1;
    write_prompts(&rng);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cli_expect(&r, wrong[i][0], 2);
        if (!strstr(r.err, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], r.err);
    }
    cli_expect(&r, "plan -m random:embeddinggemma-tiny:f32 --for logprobs $D/p", 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_those_of_dry_runs),
        cmocka_unit_test(a_refusal_leaves_no_prompt_out),
        cmocka_unit_test(flags_of_another_job_are_refused),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
