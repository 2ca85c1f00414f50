/* test_json_schema.c - schemas: texts that are values of one and texts that are not; texts that a schema's grammar
 * makes at random, read by jansson and checked against the schema by rules of their own; what is refused, and where. */
#include "frontend/common/json_schema_digits.h"
#include "schema_case.h"

#include <inttypes.h>
#include <jansson.h>

#define PERSON                                                                                             \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":5}," \
    "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":130},\"tags\":{\"type\":\"array\",\"items\":" \
    "{\"enum\":[\"a\",\"b\"]},\"minItems\":1,\"maxItems\":3}},\"required\":[\"age\"],\"additionalProperties\":false}"
#define TREE                                                                                       \
    "{\"$ref\":\"#/$defs/node\",\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"v\":"   \
    "{\"type\":\"integer\"},\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/node\"}}}," \
    "\"required\":[\"v\"]}}}"

static void values_of_schemas(void **state)
{
    static const struct {
        const char *schema, *yes[6], *no[8];
    } row[] = {
        {"{}", {"1", "{\"a\":[null,true]}", "\"x\"", "[ ]"}, {"", "tru", "{a:1}", "01", "[1,]"}},
        {"true", {"-1.5e3", "false"}, {"+1", ".5", "\"\\ud800\""}},
        {"{\"type\":\"string\"}", {"\"\"", "\"\xc3\xa9\\u00e9\\n\"", "\"a\" "}, {"a", "\"\n\"", "\"\\x\"", " \"a\""}},
        {"{\"type\":\"integer\"}", {"0", "-12", "1234567890123456"}, {"1.0", "00", "-", "12345678901234567"}},
        {"{\"type\":\"number\"}", {"0.5", "-1e-9", "12E+3"}, {"1.", "1e", "1e100", "NaN"}},
        {"{\"type\":[\"null\",\"boolean\"]}", {"null", "true", "false"}, {"nul", "0", "\"null\""}},
        {PERSON,
         {"{\"age\":7}", "{ \"name\": \"Ann\", \"age\": 130 }", "{\"age\":0,\"tags\":[\"a\",\"b\"]}"},
         {"{}", "{\"name\":\"Ann\"}", "{\"age\":131}", "{\"name\":\"\",\"age\":1}", "{\"name\":\"Annabel\",\"age\":1}",
          "{\"age\":1,\"tags\":[]}", "{\"age\":1,\"name\":\"A\"}", "{\"age\":1,\"x\":2}"}},
        {"{\"properties\":{\"a\":{},\"b\":{},\"c\":{}}}",
         {"{}", "{\"a\":1}", "{\"b\":1,\"c\":2}", "{\"a\":1,\"c\":2}", "{\"c\":[]}", "{\"a\":1,\"b\":2,\"c\":3}"},
         {"{,}", "{\"b\":1,\"a\":2}", "{\"a\":1,}", "{\"d\":1}", "{\"a\":1 \"b\":2}"}},
        {"{\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"required\":[\"b\",\"c\"]}",
         {"{\"b\":1,\"c\":2}", "{\"a\":1,\"b\":2,\"c\":3}"},
         {"{}", "{\"a\":1}", "{\"b\":1}", "{\"a\":1,\"b\":1}", "{\"c\":1}"}},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
         {"{}", "{\"x\":1,\"y\":-2}"},
         {"{\"x\":\"1\"}", "{\"x\":1,}"}},
        {"{\"type\":\"object\",\"additionalProperties\":false}", {"{}", "{ }"}, {"{\"a\":1}"}},
        {"{\"items\":{\"type\":\"null\"}}", {"[]", "[null,null]"}, {"[1]", "[null null]"}},
        {"{\"type\":\"array\",\"minItems\":2,\"maxItems\":2}", {"[1,2]", "[[],{}]"}, {"[]", "[1]", "[1,2,3]"}},
        {"{\"type\":\"array\",\"maxItems\":0}", {"[]", "[ ]"}, {"[1]"}},
        {"{\"type\":\"array\",\"items\":false}", {"[]"}, {"[1]"}},
        {"{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}",
         {"[1,\"a\"]"},
         {"[1]", "[1,\"a\",2]", "[\"a\",1]"}},
        {"{\"prefixItems\":[{\"type\":\"integer\"}],\"items\":{\"type\":\"null\"}}",
         {"[1]", "[1,null]"},
         {"[]", "[1,2]"}},
        {"{\"enum\":[\"a\\\"b\",1.5,null,{\"k\":[1]}]}", {"\"a\\\"b\"", "1.5", "null", "{\"k\":[1]}"}, {"\"a\"", "{}"}},
        {"{\"type\":\"string\",\"enum\":[\"x\",7]}", {"\"x\""}, {"7"}},
        {"{\"const\":\"\xe2\x82\xac\"}", {"\"\xe2\x82\xac\""}, {"\"$\""}},
        {"{\"anyOf\":[{\"type\":\"integer\"},{\"const\":\"none\"}],\"title\":\"t\"}",
         {"5", "\"none\""},
         {"\"x\"", "null"}},
        {"{\"oneOf\":[{\"type\":\"boolean\"},{\"type\":\"null\"}]}", {"true", "null"}, {"1"}},
        {"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"null\"}},\"required\":[\"a\"]},{\"$ref\":\"#/$defs/b\"}],"
         "\"$defs\":{\"b\":{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"integer\"}},\"required\":[\"b\"]}}}",
         {"{\"a\":null,\"b\":1}"},
         {"{\"a\":null}", "{\"b\":1}"}},
        {"{\"allOf\":[{\"type\":\"integer\"}]}", {"1"}, {"\"1\""}},
        {TREE,
         {"{\"v\":1}", "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[]},{\"v\":3}]}"},
         {"{\"kids\":[]}", "{\"v\":1,\"kids\":[{}]}"}},
        {"{\"definitions\":{\"a/b\":{\"type\":\"null\"}},\"$ref\":\"#/definitions/a~1b\"}", {"null"}, {"1"}},
        {"{\"type\":\"string\",\"format\":\"date\"}", {"\"2024-02-29\""}, {"\"2024-13-01\"", "\"2024-1-1\"", "\"\""}},
        {"{\"type\":\"string\",\"format\":\"date-time\"}",
         {"\"2024-02-29T23:59:59Z\"", "\"2024-02-29T01:02:03.004+05:30\""},
         {"\"2024-02-29\""}},
        {"{\"type\":\"string\",\"format\":\"uuid\"}", {"\"123e4567-e89b-12d3-a456-426614174000\""}, {"\"123e4567\""}},
        {"{\"type\":\"integer\",\"exclusiveMinimum\":-3,\"exclusiveMaximum\":2}",
         {"-2", "-1", "0", "1"},
         {"-3", "2", "-0", "10"}},
        {"{\"type\":\"string\",\"minimum\":5}", {"\"a\""}, {"6"}}, /* of numbers alone */
        {"{\"type\":\"integer\",\"minimum\":1.5,\"exclusiveMaximum\":3.0}", {"2"}, {"1", "3"}},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"minLength\":2}],\"type\":\"string\"}", {"\"\""}, {"1"}},
        {"{\"enum\":[\"a\",\"abc\",5],\"minLength\":3}", {"\"abc\"", "5"}, {"\"a\""}},
        {"{\"enum\":[1,2,3],\"const\":2}", {"2"}, {"1", "3"}},
        {"{\"$ref\":\"#/$defs/s\",\"minLength\":1,\"$defs\":{\"s\":{\"type\":\"string\",\"maxLength\":2}}}",
         {"\"a\"", "\"ab\""},
         {"\"\"", "\"abc\"", "1"}},
        {"{\"allOf\":[{\"type\":\"string\"},{\"minLength\":2}]}", {"\"ab\""}, {"\"a\"", "12"}},
        {"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"null\"}}},{\"properties\":{\"a\":{}}}]}",
         {"{}", "{\"a\":null}"},
         {"{\"a\":1}"}},
        {"{\"allOf\":[{\"properties\":{\"a\":{}},\"additionalProperties\":false},{\"properties\":{\"b\":{}}}]}",
         {"{}", "{\"a\":1}"},
         {"{\"b\":1}"}},
        {"{\"properties\":{\"a\":false,\"b\":{}}}", {"{}", "{\"b\":1}"}, {"{\"a\":1}"}},
        {"{\"properties\":{\"a\":false},\"additionalProperties\":false}", {"{}"}, {"{\"a\":1}"}},
        {"{\"type\":\"number\",\"minimum\":1}", {"1", "1.0", "1234567890.5"}, {"0.999", "-2"}},
        {"{\"type\":\"number\",\"exclusiveMaximum\":1000}",
         {"999.99999999999", "0.5"},
         {"999.9999999999999999", "1000"}},
        {"{\"type\":\"number\",\"not\":{\"minimum\":3}}", {"2", "2.5"}, {"3", "3.0", "4"}},
        {"{\"type\":\"integer\",\"not\":{\"maximum\":3}}", {"4"}, {"3", "2"}},
        {"{\"enum\":[1,2,3,\"1\"],\"exclusiveMinimum\":1,\"exclusiveMaximum\":3}", {"2", "\"1\""}, {"1", "3"}},
        {"{\"not\":{\"type\":[\"array\",\"object\",\"number\"]}}", {"\"a\"", "null", "true"}, {"1", "[]", "{}"}},
        {"{\"not\":{\"enum\":[\"a\",true,null]}}", {"\"b\"", "false", "1", "[null]"}, {"\"a\"", "true", "null"}},
        {"{\"oneOf\":[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"integer\",\"maximum\":5}]}", {"6", "-1"}, {"3"}},
        {"{\"properties\":{\"a\":{},\"b\":{}},\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
         {"{\"a\":1}", "{\"b\":1}"},
         {"{}", "{\"a\":1,\"b\":1}"}},
        {"{\"oneOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}", {"\"a\"", "\"b\""}, {"\"c\""}}, /* as anyOf */
        {"{\"oneOf\":[{\"type\":\"null\"},{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#\"}},\"required\":["
         "\"n\"]}]}",
         {"{\"n\":{\"n\":null}}", "null"},
         {"{}", "{\"n\":1}"}},
        {"{\"maximum\":-0.5}", {"-0.5", "-1"}, {"0", "-0.49", "\"a\""}},
        {"{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":1}", {"[]", "[1]"}, {"[1,1]"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_gbnf *g = open_schema(row[i].schema);
        for (size_t k = 0; k < 6 && row[i].yes[k]; k++)
            if (!is_of(g, row[i].yes[k]))
                fail_msg("%s\nis not: %s", row[i].schema, row[i].yes[k]);
        for (size_t k = 0; k < 8 && row[i].no[k]; k++)
            if (is_of(g, row[i].no[k]))
                fail_msg("%s\nis: %s", row[i].schema, row[i].no[k]);
        myth_gbnf_close(g);
    }
}

/* ---- integers between bounds ---- */

static void integers_are_between_their_bounds(void **state)
{
    uint64_t rng = check_seed();
    (void)state;
    for (uint32_t round = 0; round < (check_is_full() ? 2000 : 150); round++) {
        static char text[MYTH_DIGITS_TEXT], grammar[MYTH_DIGITS_TEXT + 16];
        int64_t b[2], lo, hi;
        for (int k = 0; k < 2; k++) {
            int64_t most = 1;
            for (uint32_t d = check_below(&rng, 17); d > 0; d--)
                most *= 10;
            b[k] = (int64_t)(check_rand(&rng) % (uint64_t)(2 * most)) - most;
            if (check_below(&rng, 4) == 0)
                b[k] = check_below(&rng, 2) ? most - 1 : 1 - most;
            b[k] = b[k] > MYTH_DIGITS_MOST ? MYTH_DIGITS_MOST : b[k] < -MYTH_DIGITS_MOST ? -MYTH_DIGITS_MOST : b[k];
        }
        lo = b[0] < b[1] ? b[0] : b[1];
        hi = b[0] < b[1] ? b[1] : b[0];
        myth_digits_between(text, lo, hi);
        const int n = snprintf(grammar, sizeof(grammar), "root ::= %s", text);
        myth_gbnf *g;
        if (myth_gbnf_parse(&g, mem, grammar, (size_t)n, "g", NULL, &err) != MYTH_OK)
            fail_msg("%" PRId64 " to %" PRId64 ": %s\n%s", lo, hi, grammar, err.msg);
        for (uint32_t k = 0; k < 60; k++) {
            static const int64_t near[] = {-11, -10, -2, -1, 0, 1, 2, 9, 10, 99};
            char number[32];
            const int64_t d = near[check_below(&rng, 10)];
            const int64_t v = k % 4 == 0 ? lo + d
                            : k % 4 == 1 ? hi + d
                            : k % 4 == 2 ? d
                                         : lo + (int64_t)(check_rand(&rng) % (uint64_t)(hi - lo + 1));
            snprintf(number, sizeof(number), "%" PRId64, v);
            if (is_of(g, number) != (v >= lo && v <= hi))
                fail_msg("%" PRId64 " to %" PRId64 ": %s\n%s", lo, hi, number, grammar);
        }
        assert_false(is_of(g, "-0") || is_of(g, "00") || is_of(g, ""));
        myth_gbnf_close(g);
    }
}

/* ---- texts at random ---- */

static bool is_value_of(const json_t *schema, const json_t *v, const json_t *root);

static bool has_type(const char *type, const json_t *v)
{
    return !strcmp(type, "string")  ? json_is_string(v)
         : !strcmp(type, "integer") ? json_is_integer(v)
         : !strcmp(type, "number")  ? json_is_number(v)
         : !strcmp(type, "boolean") ? json_is_boolean(v)
         : !strcmp(type, "null")    ? json_is_null(v)
         : !strcmp(type, "array")   ? json_is_array(v)
                                    : json_is_object(v);
}

static size_t n_chars(const char *s, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += ((unsigned char)s[i] & 0xc0) != 0x80;
    return all;
}

static bool is_value_of_all(const json_t *list, const json_t *v, const json_t *root, bool is_any)
{
    size_t i, n = 0;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)list, i, one) n += is_value_of(one, v, root);
    return is_any ? n > 0 : n == json_array_size(list);
}

/* Validates as JSON Schema says, for the keywords that the schemas here have. */
static bool is_value_of(const json_t *schema, const json_t *v, const json_t *root)
{
    const json_t *k, *properties = json_object_get(schema, "properties");
    const char *name, *ref;
    json_t *one;
    size_t i;
    if (json_is_true(schema))
        return true;
    if ((k = json_object_get(schema, "$ref"))) {
        ref = json_string_value(k);
        return is_value_of(
            strcmp(ref, "#") ? json_object_get(json_object_get(root, "$defs"), strrchr(ref, '/') + 1) : root, v, root);
    }
    if (json_is_string(k = json_object_get(schema, "type")) && !has_type(json_string_value(k), v))
        return false;
    if (json_is_array(k)) {
        bool is = false;
        json_array_foreach((json_t *)(uintptr_t)k, i, one) is |= has_type(json_string_value(one), v);
        if (!is)
            return false;
    }
    if ((k = json_object_get(schema, "enum"))) {
        bool is = false;
        json_array_foreach((json_t *)(uintptr_t)k, i, one) is |= json_equal(one, v);
        if (!is)
            return false;
    }
    if ((k = json_object_get(schema, "const")) && !json_equal(k, v))
        return false;
    if ((k = json_object_get(schema, "anyOf")) && !is_value_of_all(k, v, root, true))
        return false;
    if ((k = json_object_get(schema, "allOf")) && !is_value_of_all(k, v, root, false))
        return false;
    if (json_is_string(v)) {
        const size_t n = n_chars(json_string_value(v), json_string_length(v));
        if (((k = json_object_get(schema, "minLength")) && n < (size_t)json_integer_value(k)) ||
            ((k = json_object_get(schema, "maxLength")) && n > (size_t)json_integer_value(k)))
            return false;
    }
    if (json_is_number(v) &&
        (((k = json_object_get(schema, "minimum")) && json_number_value(v) < json_number_value(k)) ||
         ((k = json_object_get(schema, "maximum")) && json_number_value(v) > json_number_value(k))))
        return false;
    if (json_is_array(v)) {
        const size_t n = json_array_size(v);
        const json_t *prefix = json_object_get(schema, "prefixItems"), *items = json_object_get(schema, "items");
        if (((k = json_object_get(schema, "minItems")) && n < (size_t)json_integer_value(k)) ||
            ((k = json_object_get(schema, "maxItems")) && n > (size_t)json_integer_value(k)))
            return false;
        json_array_foreach((json_t *)(uintptr_t)v, i, one)
        {
            const json_t *own = i < json_array_size(prefix) ? json_array_get(prefix, i) : items;
            if (own && !is_value_of(own, one, root))
                return false;
        }
    }
    if (json_is_object(v)) {
        json_array_foreach(json_object_get(schema, "required"), i,
                           one) if (!json_object_get(v, json_string_value(one))) return false;
        json_object_foreach((json_t *)(uintptr_t)v, name, one)
        {
            const json_t *own = json_object_get(properties, name),
                         *more = json_object_get(schema, "additionalProperties");
            if (own ? !is_value_of(own, one, root)
                    : json_is_false(more) || (json_is_object(more) && !is_value_of(more, one, root)))
                return false;
        }
    }
    return true;
}

static void random_texts_are_values(void **state)
{
    static const char *const schemas[] = {
        "{}",
        PERSON,
        TREE,
        "{\"type\":\"array\",\"minItems\":1,\"maxItems\":4,\"items\":{\"anyOf\":[{\"type\":\"number\"},{\"enum\":["
        "\"p\","
        "\"q\"]},{\"type\":[\"null\",\"boolean\"]}]}}",
        "{\"type\":\"object\",\"properties\":{\"x\":{\"prefixItems\":[{\"type\":\"integer\",\"minimum\":-5,\"maximum\":"
        "1200},"
        "{\"const\":{\"k\":\"v\"}}],\"items\":{\"type\":\"string\",\"maxLength\":3}},\"y\":{\"additionalProperties\":"
        "{\"type\":\"string\",\"minLength\":2,\"maxLength\":4}},\"z\":true},\"required\":[\"x\"]}",
        ("{\"allOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]},{"
         "\"properties\":"
         "{\"b\":{\"type\":\"string\"}}}]}"),
        "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},\"required\":["
        "\"next\"]}]}",
    };
    enum { TEXT = 600, N_SCHEMA = sizeof(schemas) / sizeof(schemas[0]) };
    uint64_t rng = check_seed() + 5;
    uint32_t n_whole = 0, n_some[N_SCHEMA] = {0};
    (void)state;
    for (uint32_t round = 0; round < (check_is_full() ? 4000 : 420); round++) {
        const uint32_t which = round % N_SCHEMA;
        myth_gbnf *g = open_schema(schemas[which]);
        json_error_t e;
        json_t *schema = json_loads(schemas[which], JSON_DECODE_ANY, &e);
        char text[TEXT + 1];
        uint32_t n = 0, at;
        myth_automaton a;
        myth_pushdown_use(states, g, &a);
        a.start(a.self, &at);
        while (n < TEXT && !(a.may_end(a.self, &at) && check_below(&rng, 3) == 0)) {
            uint32_t seen = 0, next = at;
            for (int b = 1; b < 256; b++) { /* what closes is taken more often, so that texts end */
                uint32_t to = at;
                const uint32_t weight = strchr("]}\"", b) ? 40 : strchr("\n \t", b) ? 1 : b < 128 ? 3 : 1;
                if (!a.step(a.self, &to, (uint8_t)b))
                    continue;
                seen += weight;
                if (check_below(&rng, seen) < weight) {
                    text[n] = (char)b;
                    next = to;
                }
            }
            if (!seen)
                break;
            n++;
            at = next;
        }
        text[n] = '\0';
        if (a.may_end(a.self, &at)) {
            json_t *v = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
            if (!v || !is_value_of(schema, v, schema))
                fail_msg("%s\n%s\n%s", schemas[which], text, v ? "is no value" : e.text);
            json_decref(v);
            n_whole++;
            n_some[which]++;
        }
        json_decref(schema);
        myth_gbnf_close(g);
    }
    printf("%u whole texts\n", n_whole);
    for (uint32_t i = 0; i < N_SCHEMA; i++)
        if (n_some[i] < 10)
            fail_msg("%u texts of %s", n_some[i], schemas[i]);
}

/* ---- refused ---- */

static void what_is_refused(void **state)
{
    static const struct {
        const char *schema, *why;
    } row[] = {
        {"", "s:1:0: "},
        {"{\"a\":1,\"a\":2}", "s:1:"},
        {"[1", "s:1:2: "},
        {"7", "s: #: expected a schema"},
        {"false", "s: #: no value is allowed here"},
        {"{\"type\":\"text\"}", "s: #: type \"text\" does not exist"},
        {"{\"type\":[\"null\",\"x\"]}", "s: #: type \"x\" does not exist"},
        {"{\"type\":[]}", "s: #: \"type\" names none"},
        {"{\"type\":5}", "s: #: \"type\": expected a name"},
        {"{\"properties\":{\"a\":{\"items\":{\"multipleOf\":3}}}}",
         "s: #/properties/a/items: \"multipleOf\" is not supported"},
        {"{\"type\":\"array\",\"uniqueItems\":true}", "\"uniqueItems\" of items that are not a list of at most 8"},
        {"{\"items\":{\"type\":[\"null\",\"integer\"]},\"uniqueItems\":true}", "\"uniqueItems\" of items that are not"},
        {"{\"items\":{\"enum\":[1,2,3,4,5,6,7,8,9]},\"uniqueItems\":true}", "\"uniqueItems\" of items that are not"},
        {"{\"prefixItems\":[{}],\"uniqueItems\":true}", "\"uniqueItems\" beside \"prefixItems\""},
        {"{\"items\":{\"const\":1},\"uniqueItems\":true,\"minItems\":2}", "minItems of more items than can differ"},
        {"{\"type\":\"number\",\"minimum\":0.1234567890123456}", "\"minimum\" of a number with more than 15 digits"},
        {"{\"type\":\"number\",\"minimum\":\"1\"}", "\"minimum\": expected a number"},
        {"{\"type\":\"number\",\"minimum\":2,\"exclusiveMaximum\":2}", "no number of at most 15 digits"},
        {"{\"type\":\"integer\",\"maximum\":null}", "\"maximum\": expected a number"},
        {"{\"enum\":[\"a\"],\"minLength\":3}", "no value is allowed here"},
        {"{\"enum\":[\"a\"],\"pattern\":\"a\"}", "\"pattern\" beside \"enum\" is not supported"},
        {"{\"$ref\":\"#\",\"minLength\":1}", "refer to themselves, or more than 24 deep"},
        {"{\"allOf\":[{\"$ref\":\"#\"},{}]}", "refer to themselves, or more than 24 deep"},
        {"{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}",
         "two different \"pattern\" at once are not supported"},
        {"{\"allOf\":[{\"items\":{}},{\"prefixItems\":[{}]}]}", "\"prefixItems\" and \"items\" of another schema"},
        {"{\"allOf\":[]}", "\"allOf\": expected an array of schemas"},
        {"{\"allOf\":[{\"contains\":{}},{}]}", "\"contains\" is not supported"},
        {"{\"not\":{}}", "s: #: no value is allowed here"},
        {"{\"not\":7}", "s: #: expected a schema"},
        {"{\"not\":{\"pattern\":\"a\"}}", "s: #: \"pattern\" in \"not\" or \"if\" is not supported"},
        {"{\"properties\":{\"a\":{\"not\":{\"items\":{\"type\":\"null\"}}}}}",
         "s: #/properties/a: \"items\" in \"not\" or \"if\" is not supported"},
        {"{\"not\":{\"oneOf\":[{}]}}", "\"oneOf\" in \"not\" or \"if\""},
        {"{\"if\":{\"if\":{}},\"then\":{}}", "\"if\" in \"not\" or \"if\""},
        {"{\"type\":\"number\",\"not\":{\"const\":1}}", "\"not\" of a number is not supported; of an integer"},
        {"{\"type\":\"number\",\"not\":{\"type\":\"integer\"}}", "numbers, but no integers, are not supported"},
        {"{\"type\":\"array\",\"not\":{\"const\":[]}}", "\"not\" of an array is not supported"},
        {"{\"type\":\"object\",\"not\":{\"const\":{}}}", "\"not\" of an object as a value is not supported"},
        {"{\"type\":\"object\",\"not\":{\"required\":[\"a\"]}}", "an object of which only is said what it has not"},
        {"{\"type\":\"string\",\"pattern\":\"a\",\"not\":{\"const\":\"b\"}}", "\"not\" beside \"pattern\""},
        {"{\"type\":\"string\",\"format\":\"date\",\"pattern\":\"a\"}", "\"pattern\" beside \"format\""},
        {"{\"type\":\"array\",\"contains\":{}}", "\"contains\" is not supported"},
        {"{\"type\":\"object\",\"patternProperties\":{}}", "\"patternProperties\" is not supported"},
        {"{\"type\":\"object\",\"minProperties\":1}", "\"minProperties\" is not supported"},
        {"{\"typ\":\"object\"}", "s: #: \"typ\" is not supported"},
        {"{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}", "no integer of at most 16 digits"},
        {"{\"type\":\"string\",\"minLength\":5,\"maxLength\":4}", "minLength is more than maxLength"},
        {"{\"type\":\"string\",\"minLength\":-1}", "\"minLength\": expected a whole number from 0"},
        {"{\"type\":\"string\",\"maxLength\":2000000}", "\"maxLength\": expected a whole number from 0 to 1048576"},
        {"{\"type\":\"string\",\"format\":\"email\"}", "format \"email\": date, time, date-time and uuid"},
        {"{\"type\":\"string\",\"format\":\"date\",\"minLength\":3}", "beside \"format\""},
        {"{\"type\":\"array\",\"minItems\":3,\"maxItems\":2}", "minItems is more than maxItems"},
        {"{\"type\":\"array\",\"items\":false,\"minItems\":1}", "minItems of an array without items"},
        {"{\"prefixItems\":[{}],\"minItems\":1}", "beside \"prefixItems\""},
        {"{\"prefixItems\":[]}", "\"prefixItems\": expected an array of schemas"},
        {"{\"properties\":{},\"required\":[\"a\"]}", "required \"a\" is none of the properties"},
        {"{\"properties\":[]}", "expected \"properties\" to be an object"},
        {"{\"enum\":[]}", "\"enum\" has no value of the type"},
        {"{\"type\":\"null\",\"enum\":[1]}", "\"enum\" has no value of the type"},
        {"{\"type\":\"null\",\"const\":1}", "\"const\" is not of the type"},
        {"{\"anyOf\":[]}", "\"anyOf\": expected an array of schemas"},
        {"{\"oneOf\":[]}", "\"oneOf\": expected an array of schemas"},
        {"{\"oneOf\":[{\"type\":\"null\"},{\"const\":null}]}", "s: #: no value is allowed here"},
        {"{\"oneOf\":[{\"contains\":1},{}]}", "s: #/oneOf/0: \"contains\" is not supported"},
        {"{\"$ref\":\"#/$defs/x\"}", "$ref \"#/$defs/x\" is no place of this schema"},
        {"{\"$ref\":\"http://example.com/s\"}", "is no place of this schema"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *text = NULL;
        size_t n;
        const myth_status st =
            myth_json_schema_to_gbnf(&text, &n, mem, row[i].schema, strlen(row[i].schema), "s", &err);
        if (st == MYTH_OK || !strstr(err.msg, row[i].why))
            fail_msg("%s\n%s\nnot: %s", row[i].schema, st == MYTH_OK ? "is read" : err.msg, row[i].why);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_schemas),
        cmocka_unit_test(integers_are_between_their_bounds),
        cmocka_unit_test(random_texts_are_values),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
