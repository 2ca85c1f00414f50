/* test_json_schema_logic.c - not, if, allOf, anyOf, bounds of numbers and arrays without repeats: values that the
 * package jsonschema has judged; numbers near their bounds; strings beside those that are left out; schemas made to
 * grow. */
#include "frontend/common/json_schema_digits.h"
#include "schema_case.h"

#include <jansson.h>
#include <math.h>

/* ---- values judged by other software ---- */

static void values_of_jsonschema(void **state)
{
    char path[1024];
    json_error_t e;
    uint32_t n_schema = 0, n_read = 0, n_yes = 0, n_no = 0;
    (void)state;
    FILE *f = fopen(check_path(path, sizeof(path), "tests/golden/json_schema.jsonl"), "rb");
    assert_non_null(f);
    for (json_t *line; (line = json_loadf(f, JSON_DISABLE_EOF_CHECK, &e)); json_decref(line)) {
        char *schema = json_dumps(json_object_get(line, "schema"), JSON_COMPACT), *text;
        const json_t *yes = json_object_get(line, "yes"), *no = json_object_get(line, "no");
        size_t n;
        n_schema++;
        const myth_status st = myth_json_schema_to_gbnf(&text, &n, mem, schema, strlen(schema), "s", &err);
        if (st == MYTH_OK) {
            myth_gbnf *g;
            if (myth_gbnf_parse(&g, mem, text, n, "g", NULL, &err) != MYTH_OK)
                fail_msg("%s\n%s", schema, err.msg);
            myth_free(mem, text);
            for (size_t i = 0; i < json_array_size(yes); i++)
                if (!is_of(g, json_string_value(json_array_get(yes, i))))
                    fail_msg("%s\nis not: %s", schema, json_string_value(json_array_get(yes, i)));
            for (size_t i = 0; i < json_array_size(no); i++)
                if (is_of(g, json_string_value(json_array_get(no, i))))
                    fail_msg("%s\nis: %s", schema, json_string_value(json_array_get(no, i)));
            n_read++;
            n_yes += (uint32_t)json_array_size(yes);
            n_no += (uint32_t)json_array_size(no);
            myth_gbnf_close(g);
        } else if (!strstr(err.msg, "is allowed here") && !strstr(err.msg, "between the bounds") &&
                   !strstr(err.msg, "of a number is not") && !strstr(err.msg, "but no integers") &&
                   !strstr(err.msg, "only is said what it has not")) {
            fail_msg("%s\n%s", schema, err.msg);
        }
        free(schema);
    }
    fclose(f);
    printf("%u of %u schemas, %u values and %u others\n", n_read, n_schema, n_yes, n_no);
    assert_true(n_schema >= 200 && n_read > n_schema * 4 / 5 && n_yes > 1000 && n_no > 1000);
}

/* ---- numbers ---- */

static double draw_bound(uint64_t *rng, char text[40])
{
    static const char *const some[] = {"0",      "0.1",  "-0.1",          "1000",           "999.999",
                                       "-0.001", "1e-9", "123456789.123", "99999999999999", "0.123456789012345",
                                       "-1"};
    if (check_below(rng, 3) == 0)
        strcpy(text, some[check_below(rng, sizeof(some) / sizeof(some[0]))]);
    else
        snprintf(text, 40, "%.*f", (int)check_below(rng, 4),
                 ((double)check_unit(rng) - 0.5) * (check_below(rng, 2) ? 4 : 4e4));
    return strtod(text, NULL);
}

/* Digits from the first that is not 0, without the sign; the form that is written. */
static bool has_form(const char *s, uint32_t *n_fraction)
{
    const char *p = s + (*s == '-');
    const size_t whole = strspn(p, "0123456789"), n = p[whole] == '.' ? strspn(p + whole + 1, "0123456789") : 0;
    *n_fraction = (uint32_t)n;
    return whole >= 1 && whole <= 16 && !(whole > 1 && *p == '0') && n <= 16 && !(p[whole] == '.' && n == 0) &&
           !p[whole + (n ? n + 1 : 0)];
}

static void numbers_are_between_their_bounds(void **state)
{
    static const char *const key[] = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"};
    uint64_t rng = check_seed() + 3;
    uint32_t n_yes = 0, n_no = 0;
    (void)state;
    for (uint32_t round = 0; round < (check_is_full() ? 5000 : 300); round++) {
        char schema[300] = "{\"type\":\"number\"", bound[4][40], *text;
        double v[4];
        bool has[4];
        size_t n;
        uint32_t most_whole = 0;
        myth_gbnf *g;
        for (int k = 0; k < 4; k++) {
            v[k] = draw_bound(&rng, bound[k]);
            if ((has[k] = check_below(&rng, 5) < 2)) {
                snprintf(schema + strlen(schema), sizeof(schema) - strlen(schema), ",\"%s\":%s", key[k], bound[k]);
                const uint32_t whole = fabs(v[k]) < 1 ? 0 : (uint32_t)floor(log10(fabs(v[k]))) + 1;
                most_whole = whole > most_whole ? whole : most_whole;
            }
        }
        strcat(schema, "}");
        const myth_status st = myth_json_schema_to_gbnf(&text, &n, mem, schema, strlen(schema), "s", &err);
        const double lo = fmax(has[0] ? v[0] : -1e300, has[1] ? v[1] : -1e300),
                     hi = fmin(has[2] ? v[2] : 1e300, has[3] ? v[3] : 1e300);
        if (st != MYTH_OK) {
            if (!strstr(err.msg, "between the bounds") || lo < hi)
                fail_msg("%s\n%s", schema, err.msg);
            continue;
        }
        if (myth_gbnf_parse(&g, mem, text, n, "g", NULL, &err) != MYTH_OK)
            fail_msg("%s\n%s", schema, err.msg);
        myth_free(mem, text);
        for (uint32_t i = 0; i < 60 && (has[0] || has[1] || has[2] || has[3]); i++) {
            static const double step[] = {0, 1e-15, 1e-12, 1e-6, 1e-3, 0.1, 1, 10};
            char number[64];
            int k = (int)check_below(&rng, 4);
            while (!has[k])
                k = (k + 1) % 4;
            snprintf(number, sizeof(number), "%.*f", (int)check_below(&rng, 18),
                     v[k] + step[check_below(&rng, 8)] * (check_below(&rng, 2) ? 1 : -1));
            uint32_t n_fraction;
            const double x = strtod(number, NULL);
            const bool is = has_form(number, &n_fraction) && (!has[0] || x >= v[0]) && (!has[1] || x > v[1]) &&
                            (!has[2] || x <= v[2]) && (!has[3] || x < v[3]);
            const bool is_long = n_fraction + most_whole > MYTH_DECIMAL_DIGITS || (number[0] == '-' && x == 0);
            const bool got = is_of(g, number);
            if (got ? !is : is && !is_long)
                fail_msg("%s\n%s: %s", schema, got ? "is" : "is not", number);
            n_yes += got;
            n_no += !got;
        }
        myth_gbnf_close(g);
    }
    printf("%u numbers are between, %u are not\n", n_yes, n_no);
    assert_true(n_yes > 1000 && n_no > 1000);
}

/* ---- strings that are left out ---- */

static void all_strings_but_some(void **state)
{
    static const char letters[] = "ab\"";
    uint64_t rng = check_seed() + 4;
    (void)state;
    for (uint32_t round = 0; round < (check_is_full() ? 3000 : 200); round++) {
        char other[6][8];
        const uint32_t n_other = 1 + check_below(&rng, 6), min = check_below(&rng, 3),
                       max = min + 1 + check_below(&rng, 4);
        json_t *list = json_array();
        for (uint32_t i = 0; i < n_other; i++) {
            const uint32_t n = check_below(&rng, 5);
            for (uint32_t k = 0; k < n; k++)
                other[i][k] = letters[check_below(&rng, 3)];
            other[i][n] = '\0';
            json_array_append_new(list, json_string(other[i]));
        }
        json_t *schema = json_pack("{s:s,s:{s:o}}", "type", "string", "not", "enum", list);
        const bool has_bounds = check_below(&rng, 2);
        if (has_bounds) {
            json_object_set_new(schema, "minLength", json_integer(min));
            json_object_set_new(schema, "maxLength", json_integer(max));
        }
        char *said = json_dumps(schema, JSON_COMPACT);
        myth_gbnf *g = open_schema(said);
        for (uint32_t k = 0; k < 81 + 27 + 9 + 3 + 1; k++) { /* every text of up to four letters */
            char text[8], plain[32];
            uint32_t n = 0, rest = k;
            for (uint32_t all = 1; rest >= all; all *= 3, n++)
                rest -= all;
            for (uint32_t i = 0; i < n; i++, rest /= 3)
                text[i] = letters[rest % 3];
            text[n] = '\0';
            bool is = !has_bounds || (n >= min && n <= max);
            for (uint32_t i = 0; i < n_other; i++)
                is &= strcmp(other[i], text) != 0;
            json_t *v = json_string(text);
            char *value = json_dumps(v, JSON_ENCODE_ANY);
            if (is_of(g, value) != is)
                fail_msg("%s\n%s: %s", said, is ? "is not" : "is", value);
            snprintf(plain, sizeof(plain), "\"\\u00%02x%s", n ? (unsigned)text[0] : 'x',
                     value + 1 + (text[0] == '"' ? 2 : 1));
            if (n && text[0] != '"' && is_of(g, plain) && !is) /* the same text, written otherwise */
                fail_msg("%s\nis: %s", said, plain);
            free(value);
            json_decref(v);
        }
        free(said);
        json_decref(schema);
        myth_gbnf_close(g);
    }
}

/* ---- schemas made to grow ---- */

/* Each ends in an error that says so, or in a grammar, and soon. */
static void what_grows(void **state)
{
    static char schema[MYTH_JSON_SCHEMA_BYTES + 1];
    static const struct {
        const char *before, *again, *behind, *why;
        uint32_t n;
    } row[] = {
        /* as many choices as products of lists */
        {"{\"allOf\":[{}", ",{\"anyOf\":[{\"minimum\":1},{\"maximum\":5},{\"minLength\":1}]}", "]}", "too many choices",
         12},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"allOf\":[{}",
         ",{\"if\":{\"properties\":{\"a\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]}}", "]}", "", 40},
        {"{\"not\":{\"anyOf\":[{\"const\":1}", ",{\"required\":[\"a\",\"b\",\"c\"]}", "]}}", "", 30},
        {"", "{\"not\":", "{\"type\":\"null\"}", "", 5000},
        {"", "{\"allOf\":[{},", "{\"type\":\"null\"}", "", 3000},
        {"{\"allOf\":[{\"$ref\":\"#\"}", ",{\"$ref\":\"#\"}", "]}", "refer to themselves", 30},
        {"{\"type\":\"string\",\"not\":{\"enum\":[\"\"", ",\"abcdefgh\"", "]}}", NULL, 20000},
        {"{\"type\":\"string\",\"not\":{\"enum\":[\"\"", ",\"abcdefgh\"", ",\"x\"]}}", NULL, 1},
        {"{\"minLength\":1,\"enum\":[1", ",1", "]}", NULL, 60000},
        {"{\"allOf\":[{\"minLength\":1,\"enum\":[1", ",2",
         "]},{\"enum\":[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}]}", "", 60000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *text = NULL;
        size_t n = strlen(row[i].before), n_text;
        memcpy(schema, row[i].before, n);
        for (uint32_t k = 0; k < row[i].n; k++) {
            memcpy(schema + n, row[i].again, strlen(row[i].again));
            n += strlen(row[i].again);
        }
        n += (size_t)sprintf(schema + n, "%s", row[i].behind);
        for (uint32_t k = 0; k < row[i].n && !row[i].before[0]; k++)
            n += (size_t)sprintf(schema + n, "%s", strchr(row[i].again, '[') ? "]}" : "}");
        const myth_status st = myth_json_schema_to_gbnf(&text, &n_text, mem, schema, n, "s", &err);
        if (row[i].why ? st != MYTH_OK && !strstr(err.msg, row[i].why) : st != MYTH_OK)
            fail_msg("row %zu: %s", i, err.msg);
        printf("%zu: %s\n", i, st == MYTH_OK ? "read" : err.msg);
        if (st == MYTH_OK)
            myth_free(mem, text);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_jsonschema),
        cmocka_unit_test(numbers_are_between_their_bounds),
        cmocka_unit_test(all_strings_but_some),
        cmocka_unit_test(what_grows),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
