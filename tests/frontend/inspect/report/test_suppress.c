/* test_suppress.c - mythos:ignore comments: which finding each one suppresses, why some suppress none, and what the
 * forms say about them. */
#include "report_bed.h"

#include <jansson.h>

static bed b;

static void test_places(void **unused)
{
    /* a finding of division-by-zero about `line`; rules and place of the comment decide */
    static const struct {
        const char *code;
        uint32_t line;
        bool is_answered;
        const char *wrong;
    } row[] = {
        {"x = 1 / n; // mythos:ignore[division-by-zero] n was checked\n", 1, true, NULL},
        {"x = 1 / n; /* mythos:ignore[division-by-zero] n was checked */\n", 1, true, NULL},
        {"x = 1 / n  # mythos:ignore[other, division-by-zero] n was checked\n", 1, true, NULL},
        {"x = 1 / n; // mythos:ignore[*] n was checked\n", 1, true, NULL},
        {"x = 1 / n; // see above. mythos:ignore[division-by-zero] n was checked\n", 1, true, NULL},
        {"// mythos:ignore[division-by-zero] n was checked\n\nx = 1 / n;\n", 3, true, NULL},
        {"# mythos:ignore[other] one\n# mythos:ignore[division-by-zero] two\nx = 1 / n\n", 3, true, NULL},
        {"<!-- mythos:ignore[division-by-zero] shown only -->\n<p>1 / n</p>\n", 2, true, NULL},
        {"-- mythos:ignore[division-by-zero] sql\nselect 1 / n\n", 2, true, NULL},
        {"fn f<'a>(n: u8) { 1 / n } // mythos:ignore[division-by-zero] rust\n", 1, true, NULL},
        {"impl<'a> X { 1 / n } // mythos:ignore[division-by-zero] rust\n", 1, true, NULL},
        {"// mythos:ignore[division-by-zero] n was checked\nx = 1 / n;\ny = 2 / n;\n", 3, false, NULL},
        {"x = 1 / n;\ny = 2 / n; // mythos:ignore[division-by-zero] n was checked\n", 1, false, NULL},
        {"x = 1 / n; // mythos:ignore[double-free] n was checked\n", 1, false, NULL},
        {"x = 1 / n; // mythos:ignore[division-by-zero]\n", 1, false, "no reason"},
        {"x = 1 / n; // mythos:ignore n was checked\n", 1, false, "expected mythos:ignore[rule] reason"},
        {"x = 1 / n; // mythos:ignore[division-by-zero n was checked\n", 1, false,
         "expected mythos:ignore[rule] reason"},
        {"x = 1 / n; // mythos:ignore[] n was checked\n", 1, false, "no rule"},
        {"x = 1 / n; // mythos:ignore[division-by-nero] n was checked\n", 1, false, "not known"},
        {"x = 1 / n; // mythos:ignore[division-by-zero, nothing] n was checked\n", 1, false, "not known"},
        {"s = \"// mythos:ignore[division-by-zero] in a string\" + 1 / n;\n", 1, false, ""},
        {"mythos:ignore[division-by-zero] no comment; 1 / n\n", 1, false, ""},
        {"x = 1 / n;\n// mythos:ignore[division-by-zero] behind the last line\n", 1, false, NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        bed_open(&b, "a.c", row[i].code, strlen(row[i].code));
        bed_add(&b, "division-by-zero", row[i].line, row[i].line, row[i].line);
        bed_mark(&b, true, NULL);
        bool is_answered = b.marks.mark[0].suppression != 0;
        if (is_answered != row[i].is_answered)
            print_error("%s: answered %d\n", row[i].code, is_answered);
        assert_int_equal(is_answered, row[i].is_answered);
        assert_int_equal(myth_report_is_active(&b.report, 0), !is_answered);
        assert_int_equal(myth_report_reaches(&b.report, MYTH_SEVERITY_INFO), !is_answered);
        assert_int_equal(myth_report_n_suppressed(&b.report), is_answered);
        if (row[i].wrong && !row[i].wrong[0]) {
            assert_int_equal(b.report.n_suppression, 0);
        } else {
            const myth_suppression *s = &b.report.suppression[b.report.n_suppression - 1];
            assert_int_equal(!row[i].wrong, !s->wrong);
            assert_true(!row[i].wrong || strstr(s->wrong, row[i].wrong));
            assert_true(row[i].wrong || s->reason.len > 0);
            assert_true(s->reason.len < 3 || (memcmp(s->reason.text + s->reason.len - 2, "*/", 2) &&
                                              memcmp(s->reason.text + s->reason.len - 3, "-->", 3)));
        }
        bed_close(&b);
    }
}

static const char code[] = "a = 1 / n; // mythos:ignore[division-by-zero] n was checked\n"
                           "b = 1 / m;\n"
                           "free(p); // mythos:ignore[double-free] nothing is wrong here\n"
                           "free(q); // mythos:ignore[nonsense] what\n";

static void open_three(bool use_suppressions)
{
    bed_open(&b, "a.c", code, sizeof(code) - 1);
    bed_add(&b, "division-by-zero", 1, 1, 1);
    bed_add(&b, "division-by-zero", 2, 2, 2);
    bed_mark(&b, use_suppressions, NULL);
}

static void test_text(void **unused)
{
    size_t len;
    (void)unused;
    open_three(true);
    char *text = bed_render(&b, MYTH_FORM_TEXT, &len);
    assert_null(strstr(text, "a.c:1: MEDIUM"));
    assert_non_null(strstr(text, "a.c:2: MEDIUM"));
    assert_non_null(strstr(text, "a.c:3: mythos:ignore[double-free] answers no finding\n"));
    assert_non_null(strstr(text, "a.c:4: mythos:ignore is not followed: a rule that is not known\n"));
    assert_non_null(strstr(text, "a.c: 1 finding, 1 suppressed, 12 prompt tokens"));
    free(text);
    b.report.complete = false; /* in an incomplete report, a comment may belong to code that was not inspected */
    text = bed_render(&b, MYTH_FORM_TEXT, &len);
    assert_null(strstr(text, "answers no finding"));
    assert_non_null(strstr(text, "not followed"));
    free(text);
    bed_close(&b);
}

static void test_json(void **unused)
{
    size_t len;
    (void)unused;
    open_three(true);
    char *text = bed_render(&b, MYTH_FORM_JSON, &len);
    json_t *j = json_loadb(text, len, 0, NULL), *list = json_object_get(j, "findings"),
           *s = json_object_get(j, "suppressions");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "suppressed")), "n was checked");
    assert_null(json_object_get(json_array_get(list, 1), "suppressed"));
    assert_int_equal(json_integer_value(json_object_get(j, "suppressed_findings")), 1);
    assert_int_equal(json_array_size(s), 3);
    static const int used[] = {1, 0, 0};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(s, i), "findings")), used[i]);
    assert_non_null(json_object_get(json_array_get(s, 2), "wrong"));
    json_decref(j);
    free(text);

    text = bed_render(&b, MYTH_FORM_RDJSONL, &len);
    assert_non_null(strstr(text, "\"start\":{\"line\":2}"));
    assert_null(strstr(text, "\"start\":{\"line\":1}"));
    free(text);
    text = bed_render(&b, MYTH_FORM_CHECKSTYLE, &len);
    assert_non_null(strstr(text, "<error line=\"2\""));
    assert_null(strstr(text, "<error line=\"1\""));
    free(text);
    text = bed_render(&b, MYTH_FORM_CODEQUALITY, &len);
    assert_non_null(strstr(text, "\"begin\":2"));
    assert_null(strstr(text, "\"begin\":1"));
    free(text);
    text = bed_render(&b, MYTH_FORM_JUNIT, &len);
    assert_non_null(strstr(text, " line=\"2\">\n<failure"));
    assert_null(strstr(text, " line=\"1\""));
    free(text);
    text = bed_render(&b, MYTH_FORM_GITHUB, &len);
    assert_null(strstr(text, "line=1,"));
    free(text);
    bed_close(&b);

    open_three(false); /* --no-inline-ignores */
    assert_int_equal(b.report.n_suppression, 0);
    assert_true(myth_report_is_active(&b.report, 0));
    bed_close(&b);
}

/* A comment is not idle when what it answers was not asked for, or was not looked for. */
static void test_idle(void **unused)
{
    static const char one[] = "free(p); // mythos:ignore[double-free] one\n"
                              "free(q); // mythos:ignore[*] two\n"
                              "free(r); // mythos:ignore[other, double-free] three\n";
    const uint64_t freed = (uint64_t)1 << myth_rule_find("double-free", 11), other = (uint64_t)1 << MYTH_RULE_OTHER;
    const struct {
        myth_rules_kept_out out;
        bool idle[3];
    } row[] = {
        {{0, 0}, {true, true, true}},       {{freed, 0}, {false, false, false}}, {{other, 0}, {true, false, false}},
        {{0, freed}, {false, true, false}}, {{0, other}, {true, true, false}},
    };
    (void)unused;
    bed_open(&b, "a.c", one, sizeof(one) - 1);
    bed_mark(&b, true, NULL);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        for (int k = 0; k < 3; k++) {
            b.report.kept_out = row[i].out;
            if (myth_report_is_idle(&b.report, &b.marks.suppression[k]) != row[i].idle[k])
                fail_msg("row %zu, comment %d: idle is not %d", i, k, row[i].idle[k]);
        }
    b.report.kept_out = row[0].out;
    const myth_finding unseen = {.first = 1, .last = 1, .rule = myth_rule_find("double-free", 11)};
    myth_marks_unseen(&b.marks, &b.src, &unseen);
    assert_false(myth_report_is_idle(&b.report, &b.marks.suppression[0]));
    assert_true(myth_report_is_idle(&b.report, &b.marks.suppression[1]));
    b.report.block = &b.block;
    b.report.n_block = 1;
    const myth_report_file file = {.src = &b.src, .is_subject = true};
    b.report.file = &file;
    b.report.n_file = 1;
    assert_true(myth_report_is_idle(&b.report, &b.marks.suppression[1]));
    b.block.is_context = true; /* of lines that only help to judge others nothing is asked */
    assert_false(myth_report_is_idle(&b.report, &b.marks.suppression[1]));
    bed_close(&b);
}

/* The time for a file that has only such comments grows in step with its length. */
static void test_many(void **unused)
{
    static char many[BED_TEXT];
    static const char one[] = "//mythos:ignore[other]x\n";
    (void)unused;
    size_t n = 0;
    for (; n + sizeof(one) <= sizeof(many); n += sizeof(one) - 1)
        memcpy(many + n, one, sizeof(one) - 1);
    bed_open(&b, "a.c", many, n);
    bed_mark(&b, true, NULL);
    assert_int_equal(b.report.n_suppression, n / (sizeof(one) - 1));
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places), cmocka_unit_test(test_text), cmocka_unit_test(test_json),
        cmocka_unit_test(test_idle),   cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
