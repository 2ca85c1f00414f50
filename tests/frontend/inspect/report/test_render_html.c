/* test_render_html.c - the page of a report: it needs nothing else, findings about the same lines share their code, a
 * run that is not complete never reads as clean, and the commit and the day are on it. */
#include "frontend/inspect/secrets/sha256.h"
#include "html_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bed b;

/* Writes 'sha256-...' of an element's text, as the policy must have it. */
static void policy_hash(char dst[64], const char *text, const char *open, const char *close)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *from = strstr(text, open) + strlen(open), *to = strstr(from, close);
    unsigned char d[MYTH_SHA256_BYTES];
    myth_sha256 s;
    char *at = stpcpy(dst, "'sha256-");
    myth_sha256_start(&s);
    myth_sha256_add(&s, from, (size_t)(to - from));
    myth_sha256_end(&s, d);
    uint32_t have = 0, bits = 0;
    for (int i = 0; i < MYTH_SHA256_BYTES; i++)
        for (have = have << 8 | d[i], bits += 8; bits >= 6; bits -= 6)
            *at++ = digit[have >> (bits - 6) & 63];
    *at++ = digit[have << (6 - bits) & 63];
    strcpy(at, "='");
}

static void test_page_stands_alone(void **unused)
{
    char hash[64];
    size_t len;
    (void)unused;
    bed_open(&b, "d/a.c", "int f(void)\n{\n    return 1 / n;\n}\n", 34);
    bed_add(&b, "division-by-zero", 3, 3, 3);
    bed_mark(&b, true, NULL);
    char *text = bed_render(&b, MYTH_FORM_HTML, &len);
    assert_null(strstr(text, "http:"));
    assert_null(strstr(text, "https:"));
    assert_null(strstr(text, "src="));
    assert_null(strstr(text, "@import"));
    assert_null(strstr(text, "url("));
    const char *policy = strstr(text, "Content-Security-Policy");
    assert_non_null(policy);
    policy_hash(hash, text, "<script>", "</script>");
    assert_non_null(strstr(policy, hash));
    policy_hash(hash, text, "<style>", "</style>");
    assert_non_null(strstr(policy, hash));
    assert_non_null(strstr(text, "default-src 'none'"));
    assert_null(strstr(policy, "unsafe"));
    free(text);
    bed_close(&b);
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t n = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
        n++;
    return n;
}

/* Findings about the same lines share their code; rule and file can be chosen. */
static void test_one_snippet_for_a_place(void **unused)
{
    size_t len;
    char *text;
    (void)unused;
    static const char source[] = "int f(int n)\n{\n    return 1 / n;\n}\nint g;\n\n\n\n\n\n\nint h;\n";
    bed_open(&b, "d/a.c", source, sizeof(source) - 1);
    bed_add(&b, "division-by-zero", 3, 3, 3);
    bed_add(&b, "missing-bounds-check", 2, 3, 2);
    bed_add(&b, "missing-null-check", 3, 3, 3);
    bed_add(&b, "missing-bounds-check", 12, 12, 12);
    bed_mark(&b, true, NULL);
    text = bed_render(&b, MYTH_FORM_HTML, &len);
    assert_int_equal(count_of(text, "<article class=\"finding\""), 4);
    assert_int_equal(count_of(text, "<section class=\"place\">"), 2);
    assert_int_equal(count_of(text, "<pre"), 2);
    assert_int_equal(count_of(text, "return 1 / n;"), 1);
    assert_non_null(strstr(text, "<span data-n=\"2\" class=\"cited evidence\">"));
    assert_non_null(strstr(text, "<span data-n=\"3\" class=\"cited evidence\">"));
    assert_non_null(strstr(text, "<option value=\"missing-bounds-check\">missing-bounds-check (2)</option>"));
    assert_non_null(strstr(text, "<option value=\"d/a.c\">d/a.c</option>"));
    assert_non_null(strstr(text, "id=\"bar\" role=\"search\" hidden")); /* without the script it could do nothing */
    free(text);
    bed_close(&b);
}

/* A page of a run that is not complete says so in its title, at the top, and wherever a clean one has its zeros. */
static void test_incomplete_never_reads_as_clean(void **unused)
{
    const myth_missed missed = {.path = "d/a.c", .why = "it is binary"};
    const myth_refusal refusal = {.reason = "the prompt is too long", .count = 9, .limit = 5, .unit = "tokens"};
    size_t len;
    (void)unused;
    for (int i = 0; i < 4; i++) {
        bed_open(&b, "d/a.c", "int f;\n", 7);
        const myth_report_file file[] = {{.src = &b.src, .is_subject = true}, {.src = &b.src, .is_subject = true}};
        b.report.file = file;
        b.report.n_file = 2;
        b.report.complete = i == 0;
        b.report.finish_reason = i == 1 ? "length" : "stop";
        b.report.missed = &missed;
        b.report.n_missed = i == 2;
        b.report.refusal = i == 3 ? &refusal : NULL;
        bed_mark(&b, true, NULL);
        char *text = bed_render(&b, MYTH_FORM_HTML, &len);
        read_page(text);
        const char *title = strstr(text, "<title>"), *banner = strstr(text, "<div class=\"banner\" role=\"alert\">");
        assert_true((strstr(text, "<p>No findings.</p>") != NULL) == (i == 0));
        assert_true((strstr(text, "<div class=\"counts\">") != NULL) == (i == 0));
        assert_true((strstr(text, "not a clean result") != NULL) == (i != 0));
        assert_true(strncmp(title,
                            i == 0   ? "<title>mythos: "
                            : i == 3 ? "<title>not inspected"
                                     : "<title>not complete",
                            15) == 0);
        assert_true((banner != NULL) == (i != 0));
        assert_true(!banner || banner < strstr(text, "</header>"));
        assert_int_equal(count_of(text, "<td class=\"none\">0</td>"), i < 2 ? 8 : 0);
        free(text);
        bed_close(&b);
    }
}

static void test_commit_and_day(void **unused)
{
    size_t len;
    (void)unused;
    bed_open(&b, "d/a.c", "int f;\n", 7);
    bed_mark(&b, true, NULL);
    char *text = bed_render(&b, MYTH_FORM_HTML, &len);
    assert_null(strstr(text, "commit"));
    assert_null(strstr(text, "inspected on"));
    free(text);
    b.report.commit = "0123456789abcdef0123456789abcdef01234567";
    b.report.commit_date = "2026-11-24 07:00 UTC";
    b.report.made = "2026-11-25 08:00 UTC";
    text = bed_render(&b, MYTH_FORM_HTML, &len);
    read_page(text);
    assert_non_null(strstr(text, "commit <code>0123456789ab</code> of 2026-11-24 07:00 UTC"));
    assert_non_null(strstr(text, "inspected on 2026-11-25 08:00 UTC"));
    free(text);
    for (int form = 0; form < MYTH_FORM_N; form++) { /* the others are the same whenever they are made */
        text = bed_render(&b, (myth_form)form, &len);
        assert_true(form == MYTH_FORM_HTML || !strstr(text, "2026-11-2"));
        free(text);
    }
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_stands_alone),
        cmocka_unit_test(test_one_snippet_for_a_place),
        cmocka_unit_test(test_incomplete_never_reads_as_clean),
        cmocka_unit_test(test_commit_and_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
