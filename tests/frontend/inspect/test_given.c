/* test_given.c - findings that no answer has: they come first, are verified like others, and take the place of an
 * answer's finding about the same lines and rule. */
#include "frontend/inspect/inspect.h"
#include "tests/support/rig.h"

#define SPEC "random:gemma1-tiny:q8_0"

static const char source[] = "int f(char *s)\n{\n\treturn strlen(s) + 1;\n}\n\nint g(int n)\n{\n\treturn 10 / "
                             "n;\n}\n\nint h(void)\n{\n\treturn 0;\n}\n";

static rig r;

/* What a run's report said; texts of findings are copied. */
typedef struct {
    myth_finding first;
    char evidence[256], why[1024];
    size_t issue_len;
    uint32_t n, n_given, n_dropped, n_part, n_prompt, n_missed;
    bool complete, asks, is_refused;
    char finish[16];
} said;

static uint32_t n_most = 600; /* tokens of an answer */
static uint32_t n_prompt_most = MYTH_INSPECT_PROMPT_TOKENS;
static myth_cancel cancel;

/* Inspects the source with the answers of a seed. given NULL: nothing is given; its src is filled in. */
static said run_with(uint64_t seed, myth_given *given, bool only, bool explains)
{
    said s = {0};
    myth_material *m;
    myth_inspection *in;
    myth_inspect_opts o = {
        .style = MYTH_PROMPT_COMPACT,
        .max_prompt_tokens = n_prompt_most,
        .max_new_tokens = n_most,
        .n_ctx = 2048,
        .sample = {.temp = 20.0f, .seed = seed},
        .given = given,
        .n_given = given != NULL,
        .only_given = only,
        .explains_given = explains,
        .split = true,
        .cancel = &cancel,
    };
    assert_ok(myth_material_whole(&m, r.mem, "a.c", (const unsigned char *)source, sizeof(source) - 1, &rig_err));
    if (given)
        given->src = myth_material_of(m, 0);
    assert_ok(myth_inspect_open(&in, &r.model, m, &o, &rig_err));
    s.asks = myth_inspect_asks(in);
    s.n_prompt = myth_inspect_n_part(in) - myth_inspect_first_part(in);
    const myth_report *report = myth_inspect_report(in);
    s.is_refused = report->refusal != NULL;
    if (!s.is_refused)
        assert_ok(myth_inspect_run(in, r.engine, &rig_err));
    snprintf(s.finish, sizeof(s.finish), "%s", report->finish_reason);
    s.n_missed = report->n_missed;
    s.n = report->n_finding;
    s.n_given = report->n_given;
    s.n_dropped = report->n_dropped;
    s.n_part = report->n_part;
    s.complete = report->complete;
    if (s.n) {
        s.first = report->finding[0];
        snprintf(s.evidence, sizeof(s.evidence), "%.*s", (int)s.first.evidence.len, s.first.evidence.text);
        snprintf(s.why, sizeof(s.why), "%.*s", (int)s.first.why.len, s.first.why.text);
        s.issue_len = s.first.issue.len;
    }
    if (given && s.n_given) {
        assert_ptr_equal(report->given[0], given);
        assert_string_equal(myth_report_facts(report, 0).text, given->facts);
    }
    assert_int_equal(myth_report_facts(report, s.n_given).len, 0);
    myth_inspect_close(in);
    myth_material_close(m);
    return s;
}

static said run(uint64_t seed, myth_given *given, bool only) { return run_with(seed, given, only, false); }

static void given_findings_come_first(void **state)
{
    (void)state;
    uint64_t rng = check_seed(), seed = 0;
    uint32_t n_done = 0;
    for (uint32_t i = 0; check_goes_on(i, check_sample(60), n_done > 0); i++) {
        seed = check_rand(&rng);
        const said alone = run(seed, NULL, false);
        if (!alone.n || !alone.complete)
            continue;
        n_done++;
        /* The same as a finding of the answer: it is there once, and nothing is missing or dropped. */
        myth_given g = {
            .first = alone.first.first,
            .last = alone.first.last,
            .rule = alone.first.rule,
            .severity = MYTH_SEVERITY_LOW,
            .candidate = "some-rule",
            .facts = "tested=no",
            .evidence = {alone.evidence, strlen(alone.evidence)},
            .why = {"because", 7},
            .probability = 0.9,
            .passes = true,
        };
        said both = run(seed, &g, false);
        assert_int_equal(both.n, alone.n);
        assert_int_equal(both.n_given, 1);
        assert_int_equal(both.n_dropped, 0);
        assert_true(both.complete);
        assert_int_equal(both.first.severity, MYTH_SEVERITY_LOW);
        assert_int_equal(both.first.status, MYTH_LIKELY);
        /* One that does not pass changes nothing, whatever it does not pass for. */
        g.passes = false;
        for (int k = 0; k < 2; k++) {
            g.is_refused = k;
            both = run(seed, &g, false);
            assert_int_equal(both.n, alone.n);
            assert_int_equal(both.n_given, 0);
            assert_true(both.complete);
        }
        /* One that is not in the file is no finding, and the report says that it is not whole. */
        g.passes = true;
        g.evidence = (myth_str){"nothing of the kind", 19};
        both = run(seed, &g, false);
        assert_int_equal(both.n, alone.n);
        assert_int_equal(both.n_given, 0);
        assert_int_equal(both.n_dropped, 1);
        assert_false(both.complete);
        /* Alone, nothing is asked, and no line counts as missed. */
        g.evidence = (myth_str){alone.evidence, strlen(alone.evidence)};
        g.probability = 0.6;
        both = run(seed, &g, true);
        assert_int_equal(both.n, 1);
        assert_int_equal(both.n_given, 1);
        assert_int_equal(both.n_part, 0);
        assert_int_equal(both.first.status, MYTH_SPECULATIVE);
        assert_true(both.complete);
    }
    assert_true(n_done > 0);
}

/* The model writes the texts, and nothing else of a finding changes. */
static void texts_are_written_out(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_done[2] = {0};
    for (uint32_t i = 0; check_goes_on(i, check_sample(30), n_done[0] > 0 && n_done[1] > 0); i++) {
        myth_given g = {
            .first = 3,
            .last = 3,
            .rule = i % 2 ? MYTH_RULE_ANSWER_N : 1, /* one that no answer of a model has */
            .severity = MYTH_SEVERITY_LOW,
            .candidate = "some-rule",
            .facts = "tested=no",
            .evidence = {"return strlen(s) + 1;", 21},
            .why = {"because", 7},
            .probability = 0.9,
            .passes = true,
        };
        const said s = run_with(check_rand(&rng), &g, true, true);
        assert_int_equal(s.n, 1);
        assert_int_equal(s.n_given, 1);
        assert_int_equal(s.n_dropped, 0);
        assert_true(s.complete);
        assert_int_equal(s.first.first, 3);
        assert_int_equal(s.first.rule, g.rule);
        assert_int_equal(s.first.severity, MYTH_SEVERITY_LOW);
        assert_int_equal(s.first.status, MYTH_LIKELY);
        assert_string_equal(s.evidence, "return strlen(s) + 1;");
        assert_true(s.asks);
        n_done[i % 2] += s.issue_len > 0 && strcmp(s.why, "because") != 0;
        /* An answer that is cut off leaves the texts as they were given, and nothing is missing for it. */
        n_most = 8;
        const said cut = run_with(check_rand(&rng), &g, true, true);
        n_most = 600;
        assert_int_equal(cut.n, 1);
        assert_string_equal(cut.why, "because");
        assert_int_equal(cut.n_dropped, 0);
        assert_true(cut.complete);
        g.passes = false;
        assert_false(run_with(1, &g, true, true).asks);
    }
    assert_true(n_done[0] > 0 && n_done[1] > 0);
}

static bool wants_none(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c)
{
    (void)user, (void)src, (void)f, (void)c;
    return false;
}

/* A comment about a finding of an answer that nobody asked for is not idle. */
static void unwanted_findings_have_their_comments(void **state)
{
    static const char code[] = "int f(char *s) // mythos:ignore[*] a\n{ // mythos:ignore[*] b\n"
                               "\treturn 10 / strlen(s); // mythos:ignore[*] c\n} // mythos:ignore[*] d\n";
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_done = 0;
    for (uint32_t i = 0; check_goes_on(i, check_sample(30), n_done > 0); i++) {
        myth_material *m;
        myth_inspection *in;
        const myth_inspect_opts o = {
            .style = MYTH_PROMPT_COMPACT,
            .max_prompt_tokens = MYTH_INSPECT_PROMPT_TOKENS,
            .max_new_tokens = n_most,
            .n_ctx = 2048,
            .sample = {.temp = 20.0f, .seed = check_rand(&rng)},
            .wants = wants_none,
        };
        assert_ok(myth_material_whole(&m, r.mem, "a.c", (const unsigned char *)code, sizeof(code) - 1, &rig_err));
        assert_ok(myth_inspect_open(&in, &r.model, m, &o, &rig_err));
        assert_ok(myth_inspect_run(in, r.engine, &rig_err));
        const myth_report *report = myth_inspect_report(in);
        uint32_t n_unseen = 0;
        for (uint32_t k = 0; k < report->n_suppression; k++)
            n_unseen += report->suppression[k].has_unseen;
        assert_int_equal(report->n_suppression, 4);
        assert_int_equal(report->n_finding, 0);
        assert_true((n_unseen > 0) == (report->n_unwanted > 0));
        n_done += n_unseen > 0;
        myth_inspect_close(in);
        myth_material_close(m);
    }
    assert_true(n_done > 0);
}

/* Code that the model is not asked about is not cut into prompts, so one that fits none is no reason to refuse it. */
static void without_a_question_nothing_is_packed(void **state)
{
    (void)state;
    myth_given g = {
        .first = 3,
        .last = 8,
        .rule = 1,
        .candidate = "some-rule",
        .facts = "tested=no",
        .evidence = {"return strlen(s) + 1;", 21},
        .why = {"because", 7},
        .probability = 0.9,
        .passes = true,
    };
    n_prompt_most = 4;
    const said both = run(1, &g, false), only = run(1, &g, true);
    n_prompt_most = MYTH_INSPECT_PROMPT_TOKENS;
    assert_true(both.is_refused);
    assert_false(only.is_refused);
    assert_int_equal(only.n, 1);
    assert_int_equal(only.first.last, 8);
    assert_int_equal(only.n_prompt, 0);
    assert_true(only.complete);
    assert_true(run(1, &g, false).n_prompt > 0);
    assert_true(run_with(1, &g, true, true).n_prompt > 0);
}

/* After an interrupt no prompt is made: what was given is reported, and the code is missed. */
static void an_interrupt_ends_the_packing(void **state)
{
    (void)state;
    myth_given g = {
        .first = 3,
        .last = 3,
        .rule = 1,
        .candidate = "some-rule",
        .facts = "tested=no",
        .evidence = {"return strlen(s) + 1;", 21},
        .why = {"because", 7},
        .probability = 0.9,
        .passes = true,
    };
    for (int is_long = 0; is_long < 2; is_long++) {
        n_prompt_most = is_long ? 240 : MYTH_INSPECT_PROMPT_TOKENS;
        assert_int_equal(run(1, &g, false).n_prompt > 1, is_long);
        cancel = 1;
        const said s = run(1, &g, false);
        cancel = 0;
        assert_int_equal(s.n, 1);
        assert_int_equal(s.n_given, 1);
        assert_int_equal(s.n_prompt, 0);
        assert_int_equal(s.n_missed, 1);
        assert_false(s.complete);
        assert_string_equal(s.finish, "cancelled");
    }
    n_prompt_most = MYTH_INSPECT_PROMPT_TOKENS;
}

static int begin(void **state)
{
    (void)state;
    rig_open(&r, SPEC,
             &(myth_engine_opts){
                 .n_threads = 1,
                 .n_ctx = 2048,
                 .n_checkpoint = 1,
                 .top_k = 1024,
                 .n_mask = 1,
                 .n_ubatch = 256,
             });
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&r);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_findings_come_first), cmocka_unit_test(texts_are_written_out),
        cmocka_unit_test(unwanted_findings_have_their_comments), cmocka_unit_test(without_a_question_nothing_is_packed),
        cmocka_unit_test(an_interrupt_ends_the_packing)};
    return cmocka_run_group_tests(tests, begin, end);
}
