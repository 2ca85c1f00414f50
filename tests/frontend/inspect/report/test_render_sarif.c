/* test_render_sarif.c - SARIF documents have what the format and code hosts ask for. test_sarif_schema.sh checks them
 * against the official schema. */
#include "report_bed.h"
#include "frontend/inspect/report/edition.h"

#include <jansson.h>

static bed b;

static json_t *document(uint32_t max_result)
{
    json_error_t e;
    static char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    myth_render_sarif_at_most(f, &b.report, max_result);
    fclose(f);
    json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    free(text);
    assert_non_null(j);
    return j;
}

static json_t *run_of(json_t *j) { return json_array_get(json_object_get(j, "runs"), 0); }
static const char *str(json_t *j, const char *key) { return json_string_value(json_object_get(j, key)); }

static const char code[] =
    "int f(int n)\n{\n    return 1 / n; // mythos:ignore[division-by-zero] never zero\n}\nfree(p);\nfree(p);\n";

static void open_bed(void)
{
    bed_open(&b, "d/a.c", code, sizeof(code) - 1);
    bed_add(&b, "division-by-zero", 3, 3, 3);
    bed_add(&b, "double-free", 5, 6, 6);
    bed_add(&b, "other", 5, 5, 5);
    bed_mark(&b, true, NULL);
}

/* What was not inspected for one reason is one notification, with all its places. */
static void test_missed_by_reason(void **unused)
{
    static const myth_missed missed[] = {{"a b.c", 0, 0, "it is gone"},
                                         {"d.c", 2, 3, "cut off"},
                                         {"e.c", 0, 0, "it is gone"},
                                         {"f.c", 0, 0, "it is gone"}};
    (void)unused;
    open_bed();
    b.report.missed = missed;
    b.report.n_missed = 4;
    b.report.complete = false;
    json_t *j = document(100), *call = json_array_get(json_object_get(run_of(j), "invocations"), 0),
           *note = json_object_get(call, "toolExecutionNotifications"), *gone = json_array_get(note, 1),
           *cut = json_array_get(note, 2);
    assert_string_equal(str(json_object_get(gone, "message"), "text"), "Not inspected: 3 places: it is gone");
    assert_string_equal(str(json_object_get(cut, "message"), "text"), "Not inspected: d.c: cut off");
    assert_int_equal(json_array_size(json_object_get(gone, "locations")), 3);
    assert_int_equal(json_array_size(json_object_get(cut, "locations")), 1);
    json_t *place = json_object_get(json_array_get(json_object_get(gone, "locations"), 0), "physicalLocation");
    assert_string_equal(str(json_object_get(place, "artifactLocation"), "uri"), "a%20b.c");
    assert_null(json_object_get(place, "region"));
    place = json_object_get(json_array_get(json_object_get(cut, "locations"), 0), "physicalLocation");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(place, "region"), "endLine")), 3);
    json_decref(j);
    bed_close(&b);
}

/* A finding of one line marks the part of it that it cites; one of several lines, or of a whole one, marks lines. */
static void test_columns(void **unused)
{
    static const char text[] = "a\n  \u00e4 = f(x);  \n}\n";
    (void)unused;
    bed_open(&b, "a.c", text, sizeof(text) - 1);
    bed_add(&b, "other", 2, 2, 2);
    bed_add(&b, "other", 1, 2, 2);
    bed_add(&b, "other", 3, 3, 3);
    bed_mark(&b, true, NULL);
    json_t *j = document(100), *results = json_object_get(run_of(j), "results");
    for (size_t i = 0; i < 3; i++) {
        json_t *locations = json_object_get(json_array_get(results, i), "locations"),
               *place = json_object_get(json_array_get(locations, 0), "physicalLocation"),
               *region = json_object_get(place, "region"), *around = json_object_get(place, "contextRegion");
        assert_int_equal(around != NULL, i == 0);
        assert_int_equal(json_integer_value(json_object_get(region, "startColumn")), i ? 0 : 3);
        assert_int_equal(json_integer_value(json_object_get(region, "endColumn")), i ? 0 : 12);
        if (i)
            continue;
        assert_int_equal(json_integer_value(json_object_get(region, "endLine")), 2);
        assert_string_equal(str(json_object_get(region, "snippet"), "text"), "\u00e4 = f(x);");
        assert_string_equal(str(json_object_get(around, "snippet"), "text"), "  \u00e4 = f(x);  ");
        assert_int_equal(json_integer_value(json_object_get(around, "startLine")), 2);
        assert_int_equal(json_integer_value(json_object_get(around, "endLine")), 2);
    }
    json_decref(j);
    bed_close(&b);
}

/* What a report is about, and the category by which a code host tells uploads apart. */
static void test_source(void **unused)
{
    (void)unused;
    open_bed();
    json_t *j = document(100);
    assert_null(json_object_get(run_of(j), "versionControlProvenance"));
    assert_null(json_object_get(run_of(j), "automationDetails"));
    json_decref(j);
    b.report.origin = "https://example.org/a/b.git";
    b.report.commit = "0123456789012345678901234567890123456789";
    b.report.category = "nightly/a";
    j = document(100);
    const json_t *from = json_array_get(json_object_get(run_of(j), "versionControlProvenance"), 0);
    assert_string_equal(json_string_value(json_object_get(from, "repositoryUri")), b.report.origin);
    assert_string_equal(json_string_value(json_object_get(from, "revisionId")), b.report.commit);
    assert_string_equal(str(json_object_get(run_of(j), "automationDetails"), "id"), "nightly/a/");
    json_decref(j);
    bed_close(&b);
}

/* An address is published without what opens the door, and a folder of the machine is none. */
static void test_public_address(void **unused)
{
    static const struct {
        const char *url, *shown;
    } row[] = {
        {"https://example.org/a/b.git", "https://example.org/a/b.git"},
        {"https://user:pass@example.org:8443/a/b", "https://example.org:8443/a/b"},
        {"https://token@example.org/a@b?key=1#x", "https://example.org/a@b"},
        {"git@example.org:a/b.git", "ssh://example.org/a/b.git"},
        {"example.org:/srv/b.git", "ssh://example.org/srv/b.git"},
        {"ssh://git@[::1]:22/b", "ssh://[::1]:22/b"},
        {"/srv/git/b.git", ""},
        {"../b", ""},
        {"file:///srv/b.git", ""},
        {"./a:b", ""},
        {"https://", ""},
        {"https://exa mple.org/", ""},
        {"https://exam\nple.org/", ""},
        {"", ""},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char dst[MYTH_EDITION_ORIGIN], url[700];
        myth_edition_public(dst, row[i].url);
        assert_string_equal(dst, row[i].shown);
        snprintf(url, sizeof(url), "https://example.org/%0600d", 0);
        myth_edition_public(dst, url);
        assert_string_equal(dst, "");
    }
}

static void test_shape(void **unused)
{
    (void)unused;
    open_bed();
    json_t *j = document(100), *run = run_of(j), *driver = json_object_get(json_object_get(run, "tool"), "driver"),
           *rules = json_object_get(driver, "rules"), *v;
    size_t i;
    assert_string_equal(str(j, "version"), "2.1.0");
    assert_int_equal(json_array_size(json_object_get(j, "runs")), 1);
    assert_string_equal(str(driver, "name"), "mythos");
    assert_int_equal(json_array_size(rules), myth_rule_count());
    json_t *taxa = json_object_get(json_array_get(json_object_get(run, "taxonomies"), 0), "taxa");
    json_array_foreach(rules, i, v)
    {
        assert_string_equal(str(v, "id"), myth_rules[i].id);
        json_t *target = json_object_get(json_array_get(json_object_get(v, "relationships"), 0), "target");
        assert_int_equal(target != NULL, myth_rules[i].cwe != 0);
        bool has = !target;
        json_t *taxon;
        size_t k;
        json_array_foreach(taxa, k, taxon) has = has || !strcmp(str(taxon, "id"), str(target, "id"));
        assert_true(has);
        const char *help = str(json_object_get(v, "help"), "text"), *page = str(v, "helpUri");
        assert_int_equal(page != NULL, myth_rules[i].cwe != 0);
        assert_true(!page || strtol(strrchr(page, '/') + 1, NULL, 10) == myth_rules[i].cwe);
        assert_true(strncmp(help, myth_rules[i].help, strlen(myth_rules[i].help)) == 0 &&
                    strlen(myth_rules[i].help) > 0);
        assert_non_null(strstr(help, str(v, "id")));
    }
    static const char *const level[] = {"warning", "error", "note"};
    json_array_foreach(json_object_get(run, "results"), i, v)
    {
        assert_string_equal(str(v, "level"), level[i]);
        assert_string_equal(
            str(json_array_get(rules, (size_t)json_integer_value(json_object_get(v, "ruleIndex"))), "id"),
            str(v, "ruleId"));
        json_t *fp = json_object_get(v, "partialFingerprints");
        assert_string_equal(str(fp, "mythos/v1"), b.marks.mark[i].fingerprint.text);
        assert_string_equal(str(fp, "primaryLocationLineHash"), b.marks.mark[i].fingerprint.line_hash);
        assert_null(json_object_get(v, "fingerprints"));
        assert_null(json_object_get(v, "baselineState"));
        assert_int_equal(json_array_size(json_object_get(v, "suppressions")), i == 0);
    }
    assert_int_equal(i, 3);
    v = json_array_get(json_object_get(json_array_get(json_object_get(run, "results"), 0), "suppressions"), 0);
    assert_string_equal(str(v, "kind"), "inSource");
    assert_string_equal(str(v, "justification"), "never zero");
    v = json_array_get(json_object_get(run, "invocations"), 0);
    assert_true(json_is_true(json_object_get(v, "executionSuccessful")));
    assert_int_equal(json_array_size(json_object_get(v, "toolExecutionNotifications")), 0);
    assert_true(json_is_array(json_object_get(run, "redactionTokens")));
    json_decref(j);
    bed_close(&b);
}

/* When there is no room for all results, the least severe are left out, and a notification says so. */
static void test_cut(void **unused)
{
    (void)unused;
    for (uint32_t max = 0; max <= 3; max++) {
        open_bed();
        json_t *j = document(max), *run = run_of(j), *results = json_object_get(run, "results");
        json_t *notes =
            json_object_get(json_array_get(json_object_get(run, "invocations"), 0), "toolExecutionNotifications");
        assert_int_equal(json_array_size(results), max);
        static const char *const kept[] = {"", "double-free ", "division-by-zero double-free ",
                                           "division-by-zero double-free other "};
        char got[128] = "";
        for (size_t i = 0; i < max; i++)
            strcat(strcat(got, str(json_array_get(results, i), "ruleId")), " ");
        assert_string_equal(got, kept[max]);
        assert_int_equal(json_array_size(notes), max < 3);
        if (max < 3) {
            char want[64];
            snprintf(want, sizeof(want), "%u of 3 results were left out", 3 - max);
            assert_non_null(strstr(str(json_object_get(json_array_get(notes, 0), "message"), "text"), want));
        }
        json_decref(j);
        bed_close(&b);
    }
}

static void test_incomplete(void **unused)
{
    (void)unused;
    myth_refusal why = {
        .reason = "the prompt is too long: 12001 tokens, the limit is 12000",
        .count = 12001,
        .limit = 12000,
        .unit = "tokens",
    };
    bed_open(&b, "/abs/a b.c", code, sizeof(code) - 1);
    bed_add(&b, "other", 1, 1, 1);
    bed_mark(&b, true, NULL);
    b.report.complete = false;
    b.report.refusal = &why;
    b.report.n_dropped = 2;
    json_t *j = document(100), *run = run_of(j), *call = json_array_get(json_object_get(run, "invocations"), 0);
    assert_true(json_is_false(json_object_get(call, "executionSuccessful")));
    json_t *notes = json_object_get(call, "toolExecutionNotifications");
    assert_int_equal(json_array_size(notes), 2);
    assert_string_equal(str(json_array_get(notes, 0), "level"), "error");
    assert_non_null(strstr(str(json_object_get(json_array_get(notes, 0), "message"), "text"), "12001 tokens"));
    json_t *where = json_object_get(
        json_array_get(json_object_get(json_array_get(json_object_get(run, "results"), 0), "locations"), 0),
        "physicalLocation");
    assert_string_equal(str(json_object_get(where, "artifactLocation"), "uri"), "file:///abs/a%20b.c");
    json_decref(j);
    bed_close(&b);
}

/* Of more results than a code host takes, only as many as it takes are written. */
static void test_host_limit(void **unused)
{
    static myth_finding many[MYTH_SARIF_RESULT_MAX + 7];
    static myth_citation cited[MYTH_SARIF_RESULT_MAX + 7];
    (void)unused;
    bed_open(&b, "a.c", code, sizeof(code) - 1);
    bed_add(&b, "other", 1, 1, 1);
    for (uint32_t i = 0; i < MYTH_SARIF_RESULT_MAX + 7; i++) {
        many[i] = b.finding[0];
        many[i].severity = i % 2 ? MYTH_SEVERITY_HIGH : MYTH_SEVERITY_INFO;
        cited[i] = b.citation[0];
    }
    b.report.finding = many;
    b.report.citation = cited;
    b.report.n_finding = MYTH_SARIF_RESULT_MAX + 7;
    json_t *j = document(MYTH_SARIF_RESULT_MAX), *results = json_object_get(run_of(j), "results"), *v;
    size_t i, n_error = 0;
    assert_int_equal(json_array_size(results), MYTH_SARIF_RESULT_MAX);
    json_array_foreach(results, i, v) n_error += !strcmp(str(v, "level"), "error");
    assert_int_equal(n_error, (MYTH_SARIF_RESULT_MAX + 7) / 2);
    json_decref(j);
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missed_by_reason), cmocka_unit_test(test_source),     cmocka_unit_test(test_columns),
        cmocka_unit_test(test_public_address),   cmocka_unit_test(test_shape),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_incomplete),       cmocka_unit_test(test_host_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
