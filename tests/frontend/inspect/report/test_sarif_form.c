/* test_sarif_form.c - every SARIF document holds against sarif_subset.json: the objects and properties that mythos
 * writes, with the types, enumerations and required properties of SARIF 2.1.0. Where the official schema is at hand,
 * test_sarif_schema.sh holds the subset against it, and documents too. */
#include "report_bed.h"
#include "tests/support/files.h"

#include <jansson.h>

static bed b;
static json_t *schema;

/* ---- the part of JSON Schema that the subset is written in ---- */

static char wrong[512];

static bool fails(const char *at, const char *what)
{
    if (!wrong[0])
        snprintf(wrong, sizeof(wrong), "%s: %s", at, what);
    return false;
}

static bool is_type(const json_t *v, const char *type)
{
    return !strcmp(type, "object")  ? json_is_object(v)
         : !strcmp(type, "array")   ? json_is_array(v)
         : !strcmp(type, "string")  ? json_is_string(v)
         : !strcmp(type, "integer") ? json_is_integer(v)
         : !strcmp(type, "boolean") ? json_is_boolean(v)
                                    : false;
}

/* RFC 3986: the characters of a reference, and whole percent escapes. */
static bool is_uri_reference(const char *s)
{
    for (; *s; s++) {
        if (*s == '%') {
            if (!strchr("0123456789abcdefABCDEF", s[1]) || !s[1] || !strchr("0123456789abcdefABCDEF", s[2]) || !s[2])
                return false;
            s += 2;
        } else if (!(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') && !(*s >= '0' && *s <= '9') &&
                   !strchr("-._~:/?#[]@!$&'()*+,;=", *s)) {
            return false;
        }
    }
    return true;
}

static bool holds(const json_t *v, const json_t *s, const char *at);

static bool object_holds(const json_t *v, const json_t *s, const char *at)
{
    const json_t *properties = json_object_get(s, "properties"), *more = json_object_get(s, "additionalProperties");
    const char *key;
    json_t *item;
    size_t i;
    json_array_foreach(json_object_get(s, "required"), i,
                       item) if (!json_object_get(v, json_string_value(item))) return fails(at,
                                                                                            json_string_value(item));
    json_object_foreach((json_t *)v, key, item)
    {
        char below[256];
        const json_t *of = json_object_get(properties, key);
        snprintf(below, sizeof(below), "%.120s.%.120s", at, key);
        if (!of && json_is_false(more))
            return fails(below, "no such property");
        of = of ? of : json_is_object(more) ? more : NULL;
        if (of && !holds(item, of, below))
            return false;
    }
    return true;
}

static bool array_holds(const json_t *v, const json_t *s, const char *at)
{
    const json_t *items = json_object_get(s, "items");
    const size_t n = json_array_size(v);
    if ((json_int_t)n < json_integer_value(json_object_get(s, "minItems")))
        return fails(at, "too few items");
    for (size_t i = 0; i < n; i++) {
        char below[256];
        snprintf(below, sizeof(below), "%.200s[%zu]", at, i);
        if (items && !holds(json_array_get(v, i), items, below))
            return false;
        for (size_t k = 0; json_is_true(json_object_get(s, "uniqueItems")) && k < i; k++)
            if (json_equal(json_array_get(v, i), json_array_get(v, k)))
                return fails(below, "it is there twice");
    }
    return true;
}

static bool holds(const json_t *v, const json_t *s, const char *at)
{
    static const char *const known[] = {"$ref",     "type",       "enum",        "minimum",    "minItems",
                                        "required", "properties", "items",       "format",     "additionalProperties",
                                        "title",    "minLength",  "uniqueItems", "definitions"};
    const char *ref = json_string_value(json_object_get(s, "$ref")),
               *type = json_string_value(json_object_get(s, "type")), *key;
    const json_t *list = json_object_get(s, "enum"), *low = json_object_get(s, "minimum");
    json_t *item;
    size_t i;
    bool is_listed = !list;
    json_object_foreach((json_t *)s, key, item)
    {
        bool is_known = false;
        for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            is_known = is_known || !strcmp(key, known[i]);
        if (!is_known)
            return fails(at, "the subset uses a word that this test does not know");
    }
    if (ref)
        return holds(v, json_object_get(json_object_get(schema, "definitions"), ref + strlen("#/definitions/")), at);
    json_array_foreach(list, i, item) is_listed = is_listed || json_equal(item, v);
    if (!is_listed || (type && !is_type(v, type)))
        return fails(at, is_listed ? "another type" : "not of the list");
    if (low && json_integer_value(v) < json_integer_value(low))
        return fails(at, "too small");
    if ((json_int_t)json_string_length(v) < json_integer_value(json_object_get(s, "minLength")))
        return fails(at, "too short");
    if (json_object_get(s, "format") && !is_uri_reference(json_string_value(v)))
        return fails(at, "no URI");
    return json_is_object(v) ? object_holds(v, s, at) : json_is_array(v) ? array_holds(v, s, at) : true;
}

static bool is_sarif(const json_t *document)
{
    wrong[0] = '\0';
    return holds(document, schema, "log");
}

/* ---- documents ---- */

static json_t *document(uint32_t max_result)
{
    static char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    assert_non_null(f);
    myth_render_sarif_at_most(f, &b.report, max_result);
    fclose(f);
    json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    assert_non_null(j);
    return j;
}

static const char code[] = "int f(int n)\n{\n    return 1 / n; // mythos:ignore[division-by-zero] never zero\n}\n"
                           "key = \"AKIAIOSFODNN7EXAMPLE\"; // mythos:ignore[nonsense]\nfree(p);\nfree(p);\n";

static void open_bed(const char *path, bool has_marks)
{
    bed_open(&b, path, code, sizeof(code) - 1);
    bed_add(&b, "division-by-zero", 3, 3, 3);
    bed_add(&b, "hardcoded-secret", 5, 5, 5)->why = bed_str(&b, "AKIAIOSFODNN7EXAMPLE is in the source");
    bed_add(&b, "double-free", 6, 7, 7)->fix = bed_str(&b, "free(p);");
    bed_add(&b, "other", 6, 6, 6);
    if (has_marks)
        bed_mark(&b, true, NULL);
}

/* Everything that a document can have, each alone and all together: marks, a baseline, patches, a list of files, what
 * was missed, dropped, refused, cut off, left out, asked for. */
static void every_document_holds(void **unused)
{
    enum { MARKS = 1, BASELINE = 2, PATCHES = 4, FILES = 8, MISSED = 16, REFUSED = 32, CUT = 64, NO_FINDING = 128 };
    static const char *const paths[] = {"d/a.c", "/abs/a b%.c", "\xff\xfe odd\n\"name\".c", "", "c:\\x\\y.c"};
    static const myth_missed missed[] = {{"b.c", 0, 0, "it is larger than is read"}, {"c d.c", 3, 9, "cut off"}};
    static const myth_refusal refusal = {.reason = "too long", .count = 2, .limit = 1, .unit = "tokens"};
    static const myth_left_out left_out = {.n_nested = 2};
    uint32_t n = 0, n_result = 0;
    (void)unused;
    for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++)
        for (uint32_t what = 0; what < 256; what++) {
            myth_report_file file;
            myth_patch patch[4] = {{0}};
            open_bed(paths[p], what & MARKS);
            file = (myth_report_file){.src = &b.src, .is_subject = true, .is_whole = true};
            patch[2] = (myth_patch){.first = 6, .last = 6, .text = "free(p);\n", .n = 9, .diff = "", .n_diff = 0};
            b.report.has_baseline = (what & BASELINE) && (what & MARKS);
            b.report.patch = what & PATCHES ? patch : NULL;
            b.report.file = &file;
            b.report.n_file = what & FILES ? 1 : 0;
            b.report.missed = missed;
            b.report.n_missed = what & MISSED ? 2 : 0;
            b.report.refusal = what & REFUSED ? &refusal : NULL;
            b.report.finish_reason = what & REFUSED ? "refused" : "stop";
            b.report.n_dropped = what & CUT ? 3 : 0;
            b.report.n_context = what & CUT ? 1 : 0;
            b.context[0] = bed_str(&b, "x.c::f");
            b.report.since = what & CUT ? "HEAD~1" : NULL;
            b.report.origin = what & FILES ? "https://example.org/a/b.git" : NULL;
            b.report.commit = what & CUT ? "0123456789012345678901234567890123456789" : NULL;
            b.report.category = what & FILES ? "nightly \"one\"" : NULL;
            b.report.left_out = what & FILES ? &left_out : NULL;
            b.report.complete = !(what & (MISSED | REFUSED | CUT));
            b.report.n_finding = what & NO_FINDING ? 0 : b.report.n_finding;
            json_t *j = document(what & CUT ? 2 : 100);
            if (!is_sarif(j))
                fail_msg("%s, case %u: %s", paths[p], what, wrong);
            n_result +=
                (uint32_t)json_array_size(json_object_get(json_array_get(json_object_get(j, "runs"), 0), "results"));
            json_decref(j);
            bed_close(&b);
            n++;
        }
    printf("%u documents, %u results\n", n, n_result);
    assert_int_equal(n_result, (sizeof(paths) / sizeof(paths[0])) * 64 * (4 + 2));
}

/* The check sees what is wrong: each change of a good document that the format forbids is noticed. */
static void each_fault_is_seen(void **unused)
{
    static const struct {
        const char *path, *key, *json; /* at path, in key, this value; NULL removes it */
    } fault[] = {
        {"", "version", "\"2.0.0\""},
        {"", "runs", "[]"},
        {"", "run", "1"},
        {"runs/0", "tool", NULL},
        {"runs/0", "columnKind", "\"bytes\""},
        {"runs/0", "redactionTokens", "[\"a\",\"a\"]"},
        {"runs/0/tool/driver", "name", NULL},
        {"runs/0/tool/driver/rules/0", "id", "7"},
        {"runs/0/tool/driver/rules/0/defaultConfiguration", "level", "\"high\""},
        {"runs/0/invocations/0", "executionSuccessful", NULL},
        {"runs/0/invocations/0", "executionSuccessful", "\"no\""},
        {"runs/0/invocations/0/toolExecutionNotifications/0", "message", "\"text\""},
        {"runs/0/invocations/0/toolExecutionNotifications/0", "level", "\"fatal\""},
        {"runs/0/results/0", "message", NULL},
        {"runs/0/results/0", "ruleIndex", "-2"},
        {"runs/0/results/0", "baselineState", "\"old\""},
        {"runs/0/results/0/locations/0/physicalLocation", "artifactLocation", NULL},
        {"runs/0/results/0/locations/0/physicalLocation/artifactLocation", "uri", "\"a b.c\""},
        {"runs/0/results/0/locations/0/physicalLocation/artifactLocation", "uri", "\"a%2.c\""},
        {"runs/0/results/0/locations/0/physicalLocation/region", "startLine", "0"},
        {"runs/0/results/0/suppressions/0", "kind", "\"comment\""},
        {"runs/0/results/0/partialFingerprints", "mythos/v1", "1"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(fault) / sizeof(fault[0]); i++) {
        open_bed("d/a.c", true);
        b.report.complete = false;
        json_t *j = document(100), *at = j;
        assert_true(is_sarif(j));
        for (const char *p = fault[i].path; at && *p;) {
            char step[64];
            const size_t n = strcspn(p, "/");
            snprintf(step, sizeof(step), "%.*s", (int)n, p);
            at = json_is_array(at) ? json_array_get(at, (size_t)atoi(step)) : json_object_get(at, step);
            p += n + (p[n] == '/');
        }
        assert_true(json_is_object(at));
        if (fault[i].json)
            json_object_set_new(at, fault[i].key, json_loads(fault[i].json, JSON_DECODE_ANY, NULL));
        else
            assert_int_equal(json_object_del(at, fault[i].key), 0);
        if (is_sarif(j))
            fail_msg("%s.%s = %s: taken", fault[i].path, fault[i].key, fault[i].json ? fault[i].json : "nothing");
        json_decref(j);
        bed_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_document_holds),
        cmocka_unit_test(each_fault_is_seen),
    };
    char path[1024];
    json_error_t e;
    check_path(path, sizeof(path), "tests/frontend/inspect/report/sarif_subset.json");
    schema = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
    if (!schema) {
        fprintf(stderr, "%s: %s\n", path, e.text);
        return 1;
    }
    const int n = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(schema);
    return n;
}
