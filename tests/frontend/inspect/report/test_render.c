/* test_render.c - the json, jsonl and text forms of a report, byte for byte; no control byte reaches them. */
#include "frontend/inspect/report/outputs.h"
#include "frontend/inspect/report/report.h"
#include "tests/support/check.h"
#include "version.h"

static const char source[] = "f(\"\x1b[31m\xe2\x80\xae\");\nx = 1 / n;\n";

typedef struct {
    myth_mem *mem;
    myth_source src;
    myth_block block;
    myth_finding finding[2];
    myth_citation citation[2];
    myth_str context[1];
    myth_report report;
} bed;

static myth_str str(const char *s) { return (myth_str){s, strlen(s)}; }

static void bed_open(bed *b)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    assert_int_equal(
        myth_source_open(&b->src, b->mem, "d/a.c", (const unsigned char *)source, sizeof(source) - 1, NULL), MYTH_OK);
    b->block = (myth_block){.src = &b->src, .first = 1, .last = 2};
    b->finding[0] = (myth_finding){
        .first = 1,
        .last = 1,
        .rule = myth_rule_find("format-string", 13),
        .status = MYTH_CONFIRMED,
        .evidence = str("f(\"\x1b[31m\xe2\x80\xae\");"),
    };
    b->finding[1] = (myth_finding){
        .first = 1,
        .last = 2,
        .rule = myth_rule_find("division-by-zero", 16),
        .severity = MYTH_SEVERITY_MEDIUM,
        .status = MYTH_LIKELY,
        .evidence = str("= 1 / n;"),
        .issue = str("n may be 0\nd/a.c:9: fake"),
        .fix = str("test n"),
    };
    b->citation[0] = (myth_citation){.line = 1};
    b->citation[1] = (myth_citation){.line = 2};
    b->context[0] = str("b.c::n");
    b->report = (myth_report){
        .model = "m",
        .path = "d/a.c",
        .prompt_tokens = 12,
        .max_new_tokens = 34,
        .n_part = 1,
        .finish_reason = "stop",
        .complete = true,
        .block = &b->block,
        .finding = b->finding,
        .citation = b->citation,
        .n_finding = 2,
        .context = b->context,
        .n_context = 1,
    };
}

static void bed_close(bed *b)
{
    myth_source_close(&b->src);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

static const char *rendered(const bed *b, int form)
{
    static char text[8192];
    myth_term term = {0};
    memset(text, 0, sizeof(text));
    FILE *f = fmemopen(text, sizeof(text) - 1, "w");
    switch (form) {
    case 0: myth_render_text(f, &b->report, &term); break;
    case 1: myth_render_json(f, &b->report, NULL); break;
    default: myth_render_jsonl(f, &b->report, NULL); break;
    }
    fclose(f);
    for (const char *s = text; *s; s++)
        assert_true((unsigned char)*s >= 0x20 || *s == '\n');
    assert_null(strstr(text, "\xe2\x80\xae"));
    return text;
}

#define F1                                                                                                           \
    "{\"rule\":\"format-string\",\"severity\":\"HIGH\",\"status\":\"confirmed\",\"file\":\"d/a.c\",\"lines\":[1,1]," \
    "\"issue\":\"text that is not constant is used as a format "                                                     \
    "string\",\"evidence\":\"f(\\\"\\u001b[31m\\u202e\\\");\","                                                      \
    "\"why\":\"\",\"fix\":\"\",\"missing\":\"\",\"cwe\":134,\"evidence_line\":1,"                                    \
    "\"evidence_source\":\"f(\\\"\\u001b[31m\\u202e\\\");\"}"
#define F2                                                                                                             \
    "{\"rule\":\"division-by-zero\",\"severity\":\"MEDIUM\",\"status\":\"likely\",\"file\":\"d/a.c\",\"lines\":[1,2]," \
    "\"issue\":\"n may be 0\\nd/a.c:9: fake\",\"evidence\":\"= 1 / n;\",\"why\":\"\",\"fix\":\"test "                  \
    "n\",\"missing\":\"\","                                                                                            \
    "\"cwe\":369,\"evidence_line\":2,\"evidence_source\":\"x = 1 / n;\"}"
#define HEAD                                                                                                   \
    "\"model\":\"m\",\"prompt_tokens\":12,\"max_new_tokens\":34,\"finish_reason\":\"stop\",\"complete\":true," \
    "\"findings\":"
#define TAIL                                                                                                       \
    "\"missing_context\":[\"b.c::n\"],\"file\":\"d/a.c\",\"parts\":1,\"dropped_findings\":0,\"not_inspected\":[]," \
    "\"unknown_languages\":0,\"version\":\"" MYTHOS_VERSION "\",\"source\":{}}"

static void test_json(void **unused)
{
    (void)unused;
    bed b;
    bed_open(&b);
    assert_string_equal(rendered(&b, 1), "{" HEAD "[" F1 "," F2 "]," TAIL "\n");
    bed_close(&b);
}

static void test_jsonl(void **unused)
{
    (void)unused;
    bed b;
    bed_open(&b);
    assert_string_equal(rendered(&b, 2), F1 "\n" F2 "\n{\"summary\":{" HEAD "2," TAIL "}\n");
    bed_close(&b);
}

static void test_text(void **unused)
{
    (void)unused;
    bed b;
    bed_open(&b);
    assert_string_equal(
        rendered(&b, 0),
        "d/a.c:1: HIGH confirmed: text that is not constant is used as a format string [format-string, CWE-134]\n"
        "         1 | f(\"\\x1b[31m\\u{202e}\");\n"
        "d/a.c:1-2: MEDIUM likely: n may be 0 d/a.c:9: fake [division-by-zero, CWE-369]\n"
        "         2 | x = 1 / n;\n"
        "    fix:     test n\n"
        "needs more context: b.c::n\n"
        "d/a.c: 2 findings, 12 prompt tokens, done\n");
    bed_close(&b);
}

/* Behind more than twenty findings stands how many each rule has. */
static void test_many(void **unused)
{
    (void)unused;
    static myth_finding many[21];
    static myth_citation cited[21];
    static const char want[] = "by rule: format-string 14, division-by-zero 7\nd/a.c: 21 findings, ";
    bed b;
    bed_open(&b);
    for (int i = 0; i < 21; i++) {
        many[i] = b.finding[i % 3 == 0];
        cited[i] = b.citation[i % 3 == 0];
    }
    b.report.finding = many;
    b.report.citation = cited;
    for (b.report.n_finding = 20; b.report.n_finding <= 21; b.report.n_finding++) {
        const char *said = strstr(rendered(&b, 0), "by rule: ");
        if (b.report.n_finding == 20)
            assert_null(said);
        else
            assert_int_equal(strncmp(said, want, strlen(want)), 0);
    }
    bed_close(&b);
}

static void test_refusal(void **unused)
{
    (void)unused;
    bed b;
    bed_open(&b);
    myth_refusal why = {
        .reason = "too long: 12001 tokens, the limit is 12000",
        .count = 12001,
        .limit = 12000,
        .unit = "tokens",
        .n_remedy = 2,
        .remedy = {"fewer", "smaller"},
    };
    b.report.n_finding = b.report.n_context = b.report.n_part = 0;
    b.report.refusal = &why;
    b.report.finish_reason = "refused";
    b.report.complete = false;
    assert_string_equal(
        rendered(&b, 1),
        "{\"model\":\"m\",\"prompt_tokens\":12,\"max_new_tokens\":34,\"finish_reason\":\"refused\",\"complete\":false,"
        "\"findings\":[],\"missing_context\":[],\"file\":\"d/a.c\",\"parts\":0,\"dropped_findings\":0,"
        "\"refusal\":{\"reason\":\"too long: 12001 tokens, the limit is 12000\",\"count\":12001,\"limit\":12000,"
        "\"unit\":\"tokens\",\"remedies\":[\"fewer\",\"smaller\"]},\"not_inspected\":[],"
        "\"unknown_languages\":0,\"version\":\"" MYTHOS_VERSION "\",\"source\":{}}\n");
    assert_string_equal(rendered(&b, 0),
                        "not inspected: too long: 12001 tokens, the limit is 12000\n  - fewer\n  - smaller\n"
                        "d/a.c: 0 findings, 12 prompt tokens, incomplete: refused\n");
    bed_close(&b);
}

static void test_levels(void **unused)
{
    (void)unused;
    bed b;
    bed_open(&b);
    assert_true(myth_report_reaches(&b.report, MYTH_SEVERITY_HIGH));
    b.finding[0].severity = MYTH_SEVERITY_LOW;
    assert_false(myth_report_reaches(&b.report, MYTH_SEVERITY_HIGH));
    assert_true(myth_report_reaches(&b.report, MYTH_SEVERITY_MEDIUM));
    assert_true(myth_report_reaches(&b.report, MYTH_SEVERITY_INFO));
    b.report.n_finding = 0;
    assert_false(myth_report_reaches(&b.report, MYTH_SEVERITY_INFO));
    bed_close(&b);
}

/* What was dropped is called what it may have been. */
static void test_dropped(void **unused)
{
    (void)unused;
    myth_report r = {.n_dropped = 1};
    assert_string_equal(myth_report_dropped(&r), "finding");
    r.summary.is_asked = true;
    assert_string_equal(myth_report_dropped(&r), "finding or sentence");
    r.n_dropped = 2;
    assert_string_equal(myth_report_dropped(&r), "findings or sentences");
    r = (myth_report){.n_dropped = 2, .is_question = true};
    assert_string_equal(myth_report_dropped(&r), "sentences");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped), cmocka_unit_test(test_json), cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_text),    cmocka_unit_test(test_many), cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
