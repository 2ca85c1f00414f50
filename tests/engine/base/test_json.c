/* test_json.c - the streaming JSON reader: tokens, texts that are not JSON, numbers, and the JSON of hostile model
 * files. */
#include "tests/support/check.h"
#include "tests/support/comma.h"
#include "engine/base/json.h"

#include <locale.h>

/* Reads the whole text; returns the status of the first error, or that of the end. */
static myth_status read_all(const void *text, size_t len, myth_error *err)
{
    myth_json j;
    myth_json_token t;
    myth_status st;
    myth_json_start(&j, text, len, "t.json");
    do {
        st = myth_json_next(&j, &t, err);
    } while (st == MYTH_OK && t.type != MYTH_JSON_END);
    return st;
}

static void accept(const char *text)
{
    myth_error err = {0};
    if (read_all(text, strlen(text), &err) != MYTH_OK)
        fail_msg("%s: %s", text, err.msg);
}

static void refuse_n(const char *text, size_t len)
{
    myth_error err = {0};
    if (read_all(text, len, &err) != MYTH_EFORMAT)
        fail_msg("accepted: %.*s", (int)len, text);
    assert_non_null(strstr(err.msg, "t.json: offset "));
}

static void refuse(const char *text) { refuse_n(text, strlen(text)); }

static void token_order(void **state)
{
    (void)state;
    static const char text[] =
        " {\"a\": [1, -2.5e3, \"x\\ny\", {}], \"b\":{\"c\":true,\"d\":false},\"e\":null, \"f\":[]}\r\n\t ";
    static const struct {
        myth_json_type type;
        int depth;
        const char *span;
    } want[] = {
        {MYTH_JSON_OBJECT, 0, NULL},     {MYTH_JSON_KEY, 1, "a"},         {MYTH_JSON_ARRAY, 1, NULL},
        {MYTH_JSON_NUMBER, 2, "1"},      {MYTH_JSON_NUMBER, 2, "-2.5e3"}, {MYTH_JSON_STRING, 2, "x\\ny"},
        {MYTH_JSON_OBJECT, 2, NULL},     {MYTH_JSON_OBJECT_END, 2, NULL}, {MYTH_JSON_ARRAY_END, 1, NULL},
        {MYTH_JSON_KEY, 1, "b"},         {MYTH_JSON_OBJECT, 1, NULL},     {MYTH_JSON_KEY, 2, "c"},
        {MYTH_JSON_TRUE, 2, "true"},     {MYTH_JSON_KEY, 2, "d"},         {MYTH_JSON_FALSE, 2, "false"},
        {MYTH_JSON_OBJECT_END, 1, NULL}, {MYTH_JSON_KEY, 1, "e"},         {MYTH_JSON_NULL, 1, "null"},
        {MYTH_JSON_KEY, 1, "f"},         {MYTH_JSON_ARRAY, 1, NULL},      {MYTH_JSON_ARRAY_END, 1, NULL},
        {MYTH_JSON_OBJECT_END, 0, NULL}, {MYTH_JSON_END, 0, NULL},        {MYTH_JSON_END, 0, NULL},
    };
    myth_json j;
    myth_json_start(&j, text, sizeof text - 1, "t.json");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        myth_json_token t;
        assert_int_equal(myth_json_next(&j, &t, NULL), MYTH_OK);
        assert_int_equal(t.type, want[i].type);
        assert_int_equal(t.depth, want[i].depth);
        if (want[i].span) {
            assert_int_equal(t.len, strlen(want[i].span));
            assert_memory_equal(t.span, want[i].span, t.len);
        }
    }
}

static void grammar(void **state)
{
    (void)state;
    accept("0");
    accept("\"\"");
    accept("[]");
    accept("[[],[{}],{\"\":[]}]");
    accept("[0,-0,0.0,1e0,1E+9,-1.25e-7]");
    accept("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00\"");
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "[1}",
        "{\"a\":1]",
        "tru",
        "truE",
        "nul",
        "falsee",
        "True",
        "NaN",
        "Infinity",
        "-",
        "+1",
        "01",
        "-01",
        ".5",
        "1.",
        "1.e1",
        "1e",
        "1e+",
        "0x10",
        "1 1",
        "{} {}",
        "{}x",
        "'a'",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "// c\n1",
        "[1]/**/",
        "\"a\nb\"",
        "\"a\tb\"",
        "\"\x01\"",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(bad[i]);
}

/* Cases 7 to 10 of hostile headers: marks, padding, encodings, nesting. */
static void hostile_text(void **state)
{
    (void)state;
    refuse("\xef\xbb\xbf{}"); /* byte order mark */
    refuse_n("{}\0", 3);
    refuse_n("{}\0\0\0\0", 6);
    refuse("{}PK\x03\x04");
    refuse("{\"a\":1}}");
    accept("{}\t\t  ");
    static const char *const bad_utf8[] = {"\x80",
                                           "\xc0\xaf",
                                           "\xc1\x81",
                                           "\xe0\x80\xaf",
                                           "\xe0\x9f\xbf",
                                           "\xed\xa0\x80",
                                           "\xed\xbf\xbf",
                                           "\xf0\x80\x80\x80",
                                           "\xf4\x90\x80\x80",
                                           "\xf5\x80\x80\x80",
                                           "\xff",
                                           "\xe2\x82",
                                           "\xf0\x9f\x98",
                                           "a\xc3"};
    for (size_t i = 0; i < sizeof bad_utf8 / sizeof *bad_utf8; i++) {
        char text[32];
        snprintf(text, sizeof text, "\"%s\"", bad_utf8[i]);
        refuse(text);
        snprintf(text, sizeof text, "{\"%s\":1}", bad_utf8[i]);
        refuse(text);
        refuse(bad_utf8[i]);
    }
    accept("\"\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
    refuse("\"\\ud800\"");
    refuse("\"\\ud800x\"");
    refuse("\"\\ud800\\n\"");
    refuse("\"\\ud800\\u0041\"");
    refuse("\"\\ud800\\ud800\"");
    refuse("\"\\udc00\"");
    refuse("\"\\udc00\\ud800\"");

    enum { N = 1000000 };
    char *deep = malloc(N);
    assert_non_null(deep);
    memset(deep, '[', N);
    refuse_n(deep, N);
    for (size_t i = 0; i < 100000; i++)
        memcpy(deep + 5 * i, "{\"a\":", 5);
    refuse_n(deep, 500000);
    for (int n = 1; n <= MYTH_JSON_DEPTH + 1; n++) {
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        myth_status st = read_all(deep, 2 * (size_t)n, NULL);
        assert_int_equal(st, n <= MYTH_JSON_DEPTH ? MYTH_OK : MYTH_EFORMAT);
    }
    free(deep);
}

/* An error is reported again by every later call, and the message has the offset of the byte in its file. */
static void error_stays(void **state)
{
    (void)state;
    static const char text[] = "[1, 2, x]";
    myth_json j;
    myth_json_token t;
    myth_error a = {0}, b = {0};
    myth_json_start(&j, text, sizeof text - 1, "m.safetensors");
    j.off0 = 8;
    for (int i = 0; i < 3; i++)
        assert_int_equal(myth_json_next(&j, &t, NULL), MYTH_OK);
    assert_int_equal(myth_json_next(&j, &t, &a), MYTH_EFORMAT);
    assert_int_equal(myth_json_next(&j, &t, &b), MYTH_EFORMAT);
    assert_string_equal(a.msg, "m.safetensors: offset 15: expected a value, got 'x'");
    assert_string_equal(a.msg, b.msg);
}

/* Cases 11 to 13: the caller sees that two spellings are one key. */
static void names(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":1,\"\\u0061\":2,\"dtype\":3,\"dt\\u0079pe\":4,\"a\\u0000\":5,\"\xc3\xa9\":6,"
                               "\"\\u00e9\":7,\"\\ud83d\\ude00\":8,\"ab\":9}";
    static const char *const is[] = {"a", "a", "dtype", "dtype", NULL, "\xc3\xa9", "\xc3\xa9", "\xf0\x9f\x98\x80",
                                     "ab"};
    myth_json j;
    myth_json_token key, value;
    myth_json_start(&j, text, sizeof text - 1, "t.json");
    assert_int_equal(myth_json_next(&j, &key, NULL), MYTH_OK);
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        char got[32] = {0};
        assert_int_equal(myth_json_next(&j, &key, NULL), MYTH_OK);
        assert_int_equal(key.type, MYTH_JSON_KEY);
        assert_int_equal(myth_json_is(&key, "a"), i < 2);
        assert_false(myth_json_is(&key, ""));
        size_t n = myth_json_text(got, &key);
        assert_true(n <= key.len);
        if (is[i]) {
            assert_true(myth_json_is(&key, is[i]));
            assert_int_equal(n, strlen(is[i]));
            assert_memory_equal(got, is[i], n);
        } else {
            assert_int_equal(n, 2);
            assert_memory_equal(got, "a\0", 2);
        }
        assert_int_equal(myth_json_next(&j, &value, NULL), MYTH_OK);
        assert_false(myth_json_is(&value, "1")); /* a number is no name */
    }
}

static myth_json_token one(const char *text)
{
    myth_json j;
    myth_json_token t;
    myth_json_start(&j, text, strlen(text), "t.json");
    assert_int_equal(myth_json_next(&j, &t, NULL), MYTH_OK);
    return t;
}

/* Case 18 and its neighbours: what counts as a whole number. */
static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_u, is_i;
        uint64_t u;
        int64_t i;
    } whole[] = {
        {"0", true, true, 0, 0},
        {"-0", false, true, 0, 0},
        {"12", true, true, 12, 12},
        {"-3", false, true, 0, -3},
        {"1.0", false, false, 0, 0},
        {"1e3", false, false, 0, 0},
        {"\"1\"", false, false, 0, 0},
        {"true", false, false, 0, 0},
        {"9007199254740993", true, true, 9007199254740993u, 9007199254740993},
        {"9223372036854775807", true, true, 9223372036854775807u, INT64_MAX},
        {"9223372036854775808", true, false, 9223372036854775808u, 0},
        {"-9223372036854775808", false, true, 0, INT64_MIN},
        {"-9223372036854775809", false, false, 0, 0},
        {"18446744073709551615", true, false, UINT64_MAX, 0},
        {"18446744073709551616", false, false, 0, 0},
        {"99999999999999999999999999", false, false, 0, 0},
    };
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
        myth_json_token t = one(whole[k].text);
        uint64_t u = 0;
        int64_t i = 0;
        assert_int_equal(myth_json_u64(&u, &t), whole[k].is_u);
        assert_int_equal(myth_json_i64(&i, &t), whole[k].is_i);
        if (whole[k].is_u)
            assert_true(u == whole[k].u);
        if (whole[k].is_i)
            assert_true(i == whole[k].i);
    }
    static const struct {
        const char *text;
        double value;
    } real[] = {
        {"0", 0},
        {"-0.0", 0},
        {"1e-06", 1e-06},
        {"10000.0", 10000},
        {"1e3", 1000},
        {"0.0625", 0.0625},
        {"2.2250738585072014e-308", 0x1p-1022},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"-0.1", -0.1},
    };
    for (size_t k = 0; k < sizeof real / sizeof *real; k++) {
        myth_json_token t = one(real[k].text);
        double v = -1;
        assert_true(myth_json_f64(&v, &t));
        assert_true(v == real[k].value);
    }
    double v;
    char digits[200];
    myth_json_token t = one("1e999"), s = one("\"1\"");
    assert_false(myth_json_f64(&v, &t));
    assert_false(myth_json_f64(&v, &s));
    memset(digits, '1', sizeof digits);
    digits[199] = 0;
    t = one(digits);
    assert_false(myth_json_f64(&v, &t));
}

/* A process may run under a locale whose decimal point is a comma. */
static void numbers_in_any_locale(void **state)
{
    (void)state;
    if (!comma_begin())
        check_skip("no locale with a comma is installed, and localedef makes none");
    myth_json_token t = one("2.5");
    double v = 0;
    bool ok = myth_json_f64(&v, &t);
    setlocale(LC_NUMERIC, "C");
    assert_true(ok && v == 2.5);
}

static void skipping(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":[1,{\"c\":[]}]},\"d\":[[],[2]],\"e\":3}";
    myth_json j;
    myth_json_token t;
    myth_json_start(&j, text, sizeof text - 1, "t.json");
    assert_int_equal(myth_json_next(&j, &t, NULL), MYTH_OK);
    for (const char *key = "ade"; *key; key++) {
        char name[2] = {*key, 0};
        assert_int_equal(myth_json_next(&j, &t, NULL), MYTH_OK);
        assert_true(myth_json_is(&t, name));
        assert_int_equal(myth_json_skip(&j, NULL), MYTH_OK);
    }
    assert_int_equal(myth_json_next(&j, &t, NULL), MYTH_OK);
    assert_int_equal(t.type, MYTH_JSON_OBJECT_END);
    myth_json_start(&j, "[1,[2,", 6, "t.json");
    assert_int_equal(myth_json_skip(&j, NULL), MYTH_EFORMAT);
}

/* Every prefix of a document is refused, every one-byte change is read to an end without leaving the buffer. */
static void cut_and_flipped(void **state)
{
    (void)state;
    static const char text[] = "{\"a\\u00e9\\ud83d\\ude00\":[-1.5e+3,true,null,\"\xe2\x96\x81\"],\"b\":{\"c\":false}}";
    uint64_t rng = check_seed();
    size_t n = sizeof text - 1;
    for (size_t cut = 0; cut < n; cut++) {
        char *copy = malloc(cut ? cut : 1); /* exactly this size, so that a sanitizer sees a read past the end */
        assert_non_null(copy);
        memcpy(copy, text, cut);
        assert_int_equal(read_all(copy, cut, NULL), MYTH_EFORMAT);
        free(copy);
    }
    for (int i = 0; i < 20000; i++) {
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, text, n);
        copy[check_below(&rng, (uint32_t)n)] = (char)check_rand(&rng);
        read_all(copy, n, NULL);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(token_order),           cmocka_unit_test(grammar),  cmocka_unit_test(hostile_text),
        cmocka_unit_test(error_stays),           cmocka_unit_test(names),    cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_in_any_locale), cmocka_unit_test(skipping), cmocka_unit_test(cut_and_flipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
