/* test_json_schema_pattern.c - patterns: texts that match one and texts that do not; patterns drawn at random, whose
 * texts are also matched by sets of positions, from how they were drawn; what is refused, and where. */
#include "schema_case.h"

#include <jansson.h>

#define BC8 "bcabcabcabcabcaa" /* 16 characters */

static void texts_of_patterns(void **state)
{
    static const struct {
        const char *schema, *yes[6], *no[6];
    } row[] = {
        {"\"^[a-z]+$\"", {"\"abc\""}, {"\"\"", "\"aB\"", "\"a1\"", "1"}},
        {"\"^\\\\d{3}-\\\\d{2}$\"", {"\"123-45\""}, {"\"123-456\"", "\"12-45\"", "\"\xd9\xa1\xd9\xa2\xd9\xa3-45\""}},
        {"\"b\"", {"\"b\"", "\"abc\"", "\"\\u0041b\\n\""}, {"\"\"", "\"ac\"", "\"\\u0062\""}},
        {"\"a|^b$|c$\"", {"\"xax\"", "\"b\"", "\"xxc\""}, {"\"bb\"", "\"xcx\"", "\"\""}},
        {"\"^(^|,)a(,|$)\"", {"\"a\"", "\"a,zz\"", "\",a,\"", "\",a\""}, {"\"xa\"", "\"ab\"", "\",,a\""}},
        {"\"^(?:ab|cd)*?$\"", {"\"\"", "\"abcdab\""}, {"\"abc\"", "\"ba\""}},
        {"\"^(?<year>\\\\d{4})$\"", {"\"2024\""}, {"\"year\""}},
        {"\"^[\\\"\\\\\\\\]$\"", {"\"\\\"\"", "\"\\\\\""}, {"\"\\\\\\\"\"", "\"\"\"", "\"/\""}},
        {"\"^\\\\n\\\\x1f\\\\u001B\\\\cA$\"",
         {"\"\\n\\u001f\\u001b\\u0001\"", "\"\\n\\u001F\\u001B\\u0001\""},
         {"\"\n\""}},
        {"\"^[^\\\\x00-\\\\x1f]$\"", {"\" \"", "\"\x7f\"", "\"\xf0\x9f\x98\x80\""}, {"\"\\n\"", "\"\\u0000\""}},
        {"\"^[^a]$\"", {"\"\\u0000\"", "\"\\u001F\"", "\"\\t\"", "\"b\""}, {"\"a\"", "\"\\u0061\"", "\"\""}},
        {"\"^.$\"", {"\"\\t\"", "\"\xe2\x80\xa7\""}, {"\"\\n\"", "\"\\r\"", "\"\xe2\x80\xa8\"", "\"ab\""}},
        {"\"^\\\\s$\"", {"\" \"", "\"\\t\"", "\"\xc2\xa0\"", "\"\xef\xbb\xbf\""}, {"\"a\"", "\"\xe2\x80\x8b\""}},
        {"\"^\\\\w\\\\W$\"", {"\"_-\"", "\"0\xc3\xa9\""}, {"\"\xc3\xa9-\"", "\"ab\""}},
        {"\"^[\\\\w.+-]+@[\\\\w-]+\\\\.\\\\w{2,4}$\"",
         {"\"a.b+c@d-e.org\""},
         {"\"a@b\"", "\"@d.org\"", "\"a@d.museum\""}},
        {"\"^\\\\u{1F600}\\\\ud83d\\\\ude00$\"", {"\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\""}, {"\"\xf0\x9f\x98\x80\""}},
        {"\"^a{2,}b{0}c{1,2}$\"", {"\"aac\"", "\"aaaacc\""}, {"\"ac\"", "\"aabc\"", "\"aaccc\""}},
        {"\"\"", {"\"\"", "\"any\""}, {"1"}},
        {"\"^\"", {"\"\"", "\"any\""}, {"1"}},
        {"\"^$\"", {"\"\""}, {"\"a\""}},
        {"\"^[A-Z][a-z]*$\",\"minLength\":2,\"maxLength\":3", {"\"Ab\"", "\"Abc\""}, {"\"A\"", "\"Abcd\""}},
        {"\"^(ab)+$\",\"minLength\":3,\"maxLength\":7", {"\"abab\"", "\"ababab\""}, {"\"ab\"", "\"abababab\""}},
        {"\"^ab\",\"maxLength\":3", {"\"ab\"", "\"abc\""}, {"\"abcd\"", "\"a\""}},
        {"\"b$\",\"minLength\":2", {"\"ab\"", "\"aab\""}, {"\"b\""}},
        {"\"\",\"minLength\":1,\"maxLength\":2", {"\"a\"", "\"ab\""}, {"\"\"", "\"abc\""}},
        {"\"^a?b$\",\"maxLength\":9", {"\"b\"", "\"ab\""}, {"\"aab\""}},
        {"\"^[a-z]([a-z0-9-]*[a-z0-9])?$\",\"maxLength\":5",
         {"\"a\"", "\"a-1-b\"", "\"ab\""},
         {"\"a-1-bc\"", "\"a-\"", "\"\"", "\"ab-\""}},
        {"\"^-?\\\\d+(\\\\.\\\\d+)?$\",\"minLength\":3,\"maxLength\":6",
         {"\"-12\"", "\"1.5\"", "\"-12.34\""},
         {"\"-1\"", "\"1.\"", "\"-12.345\"", "\"1234567\""}},
        {"\"b\",\"minLength\":2,\"maxLength\":3", {"\"ab\"", "\"bab\""}, {"\"b\"", "\"aa\"", "\"aabb\""}},
        {"\"^a*b*$\",\"minLength\":2", {"\"ab\"", "\"aaaabbbb\"", "\"bb\""}, {"\"a\"", "\"\"", "\"aba\""}},
        {"\"^(a|bc)+$\",\"minLength\":64,\"maxLength\":64",
         {"\"" BC8 BC8 BC8 BC8 "\""},
         {"\"" BC8 BC8 BC8 BC8 "a\"", "\"bc\""}},
        {"\"^a{1,100000}$\"", {"\"aaaaaaaaaa\""}, {"\"\""}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char schema[200];
        snprintf(schema, sizeof(schema), "{\"type\":\"string\",\"pattern\":%s}", row[i].schema);
        myth_gbnf *g = open_schema(schema);
        for (size_t k = 0; k < 6 && row[i].yes[k]; k++)
            if (!is_of(g, row[i].yes[k]))
                fail_msg("%s\nis not: %s", schema, row[i].yes[k]);
        for (size_t k = 0; k < 6 && row[i].no[k]; k++)
            if (is_of(g, row[i].no[k]))
                fail_msg("%s\nis: %s", schema, row[i].no[k]);
        myth_gbnf_close(g);
    }
}

/* ---- at random ---- */

enum { N_CHAR = 10, TEXT_MOST = 8, NODES = 200 };

static const char *const alphabet[N_CHAR] = {"a", "b", "1", "_", " ", "\"", "\\", "\n", "\xc3\xa9", "\xf0\x9f\x98\x80"};

/* What is written, and which characters of the alphabet it is. */
static const struct {
    const char *text;
    uint32_t chars;
} classes[] = {
    {"a", 1},
    {"b", 2},
    {".", 0x37f},
    {"\\d", 4},
    {"\\D", 0x3fb},
    {"\\w", 15},
    {"\\W", 0x3f0},
    {"\\s", 0x90},
    {"\\S", 0x36f},
    {"[ab]", 3},
    {"[^ab]", 0x3fc},
    {"[\\s\\d]", 0x94},
    {"[^\\w\"]", 0x3d0},
    {"\\\\", 0x40},
    {"\"", 0x20},
    {"\\n", 0x80},
    {"\xc3\xa9", 0x100},
    {"\\u{1f600}", 0x200},
    {"[a-z]", 3},
    {"[\\]\\\\^-]", 0x40},
    {"\\x61", 1},
    {"[^]", 0x3ff},
    {"[\\W\\d]", 0x3f4},
    {"\\ud83d\\ude00", 0x200},
    {"[\\u00e0-\\u00ff_]", 0x108},
};

typedef struct {
    char kind; /* c = characters, ^, $, * = repeat, | = one of, , = one after the other */
    uint32_t chars, min, max;
    uint32_t n, child[3];
} drawn;

typedef struct {
    uint64_t *rng;
    char text[400];
    size_t n;
    drawn node[NODES];
    uint32_t n_node;
} pattern;

static void say(pattern *p, const char *s)
{
    const size_t n = strlen(s);
    assert_true(p->n + n < sizeof(p->text));
    memcpy(p->text + p->n, s, n + 1);
    p->n += n;
}

static uint32_t draw_choice(pattern *p, uint32_t depth, bool anchors);

static uint32_t add(pattern *p, drawn node)
{
    assert_true(p->n_node < NODES);
    p->node[p->n_node] = node;
    return p->n_node++;
}

static uint32_t draw_item(pattern *p, uint32_t depth, bool anchors)
{
    static const struct {
        const char *text;
        uint32_t min, max;
    } repeats[] = {{"*", 0, 99},    {"+", 1, 99},    {"?", 0, 1},  {"{2}", 2, 2},
                   {"{1,3}", 1, 3}, {"{2,}", 2, 99}, {"*?", 0, 99}};
    const bool is_repeated = check_below(p->rng, 3) == 0;
    uint32_t item;
    if (depth && check_below(p->rng, 4) == 0) {
        say(p, check_below(p->rng, 2) ? "(" : "(?:");
        item = draw_choice(p, depth - 1, anchors && !is_repeated);
        say(p, ")");
    } else {
        const uint32_t k = check_below(p->rng, sizeof(classes) / sizeof(classes[0]));
        say(p, classes[k].text);
        item = add(p, (drawn){.kind = 'c', .chars = classes[k].chars});
    }
    if (!is_repeated)
        return item;
    const uint32_t k = check_below(p->rng, sizeof(repeats) / sizeof(repeats[0]));
    say(p, repeats[k].text);
    return add(p, (drawn){.kind = '*', .min = repeats[k].min, .max = repeats[k].max, .n = 1, .child = {item}});
}

static uint32_t draw_sequence(pattern *p, uint32_t depth, bool anchors)
{
    drawn all = {.kind = ','};
    if (anchors && check_below(p->rng, 2)) {
        say(p, "^");
        all.child[all.n++] = add(p, (drawn){.kind = '^'});
    }
    for (uint32_t k = check_below(p->rng, 3 - all.n); k-- > 0;)
        all.child[all.n++] = draw_item(p, depth, anchors);
    if (anchors && all.n < 3 && check_below(p->rng, 2)) {
        say(p, "$");
        all.child[all.n++] = add(p, (drawn){.kind = '$'});
    }
    return add(p, all);
}

static uint32_t draw_choice(pattern *p, uint32_t depth, bool anchors)
{
    drawn all = {.kind = '|', .n = 1 + check_below(p->rng, 3) / 2 + check_below(p->rng, 6) / 5};
    for (uint32_t k = 0; k < all.n; k++) {
        say(p, k ? "|" : "");
        all.child[k] = draw_sequence(p, depth, anchors);
    }
    return add(p, all);
}

/* Where a node can end that begins at one of the places `from` (bits) of a text of n characters. */
static uint32_t ends(const pattern *p, uint32_t i, const uint8_t *text, uint32_t n, uint32_t from)
{
    const drawn *d = &p->node[i];
    uint32_t to = 0;
    if (d->kind == '^' || d->kind == '$')
        return from & (d->kind == '^' ? 1u : 1u << n);
    if (d->kind == ',') {
        for (uint32_t k = 0; k < d->n; k++)
            from = ends(p, d->child[k], text, n, from);
        return from;
    }
    if (d->kind == '|') {
        for (uint32_t k = 0; k < d->n; k++)
            to |= ends(p, d->child[k], text, n, from);
        return to;
    }
    if (d->kind == '*') {
        for (uint32_t turn = 0; turn < d->min; turn++)
            from = ends(p, d->child[0], text, n, from);
        to = from;
        for (uint32_t turn = d->min; turn < d->max && turn < d->min + TEXT_MOST + 1; turn++)
            to |= from = ends(p, d->child[0], text, n, from);
        return to;
    }
    for (uint32_t k = 0; k < n; k++)
        if (from >> k & 1 && d->chars >> text[k] & 1)
            to |= 2u << k;
    return to;
}

static void random_patterns(void **state)
{
    uint64_t rng = check_seed() + 11;
    uint32_t n_read = 0, n_yes = 0, n_no = 0;
    const uint32_t rounds = check_is_full() ? 4000 : 300;
    (void)state;
    for (uint32_t round = 0; round < rounds; round++) {
        static pattern p;
        uint32_t min = 0, max = 99;
        char *text;
        size_t n_text;
        myth_gbnf *g;
        p.rng = &rng;
        p.n = p.n_node = 0;
        const uint32_t top = draw_choice(&p, 2, true);
        json_t *schema = json_pack("{s:s}", "pattern", p.text);
        if (check_below(&rng, 3) == 0) {
            max = check_below(&rng, 5);
            min = check_below(&rng, max + 1);
            json_object_set_new(schema, "minLength", json_integer(min));
            json_object_set_new(schema, "maxLength", json_integer(max));
        }
        char *said = json_dumps(schema, JSON_COMPACT);
        json_decref(schema);
        const myth_status st = myth_json_schema_to_gbnf(&text, &n_text, mem, said, strlen(said), "s", &err);
        if (st != MYTH_OK) {
            if (!strstr(err.msg, "that does not") && !strstr(err.msg, "minLength and maxLength beside") &&
                !strstr(err.msg, "has such a length"))
                fail_msg("%s\n%s", said, err.msg);
            free(said);
            continue;
        }
        n_read++;
        if (myth_gbnf_parse(&g, mem, text, n_text, "g", NULL, &err) != MYTH_OK)
            fail_msg("%s\n%s", said, err.msg);
        myth_free(mem, text);
        for (uint32_t k = 0; k < 40; k++) {
            char plain[4 * TEXT_MOST + 1] = "";
            uint8_t chars[TEXT_MOST];
            const uint32_t n = check_below(&rng, TEXT_MOST + 1);
            for (uint32_t c = 0; c < n; c++) {
                chars[c] = (uint8_t)check_below(&rng, k % 2 ? 3 : N_CHAR);
                strcat(plain, alphabet[chars[c]]);
            }
            const bool is = ends(&p, top, chars, n, (2u << n) - 1) && n >= min && n <= max;
            json_t *v = json_string(plain);
            char *value = json_dumps(v, JSON_ENCODE_ANY);
            n_yes += is;
            n_no += !is;
            if (is_of(g, value) != is)
                fail_msg("%s\n%s: %s", said, is ? "is not" : "is", value);
            free(value);
            json_decref(v);
        }
        myth_gbnf_close(g);
        free(said);
    }
    printf("%u of %u patterns; %u texts match, %u do not\n", n_read, rounds, n_yes, n_no);
    assert_true(n_read > rounds * 3 / 4 && n_yes > rounds && n_no > rounds);
}

/* ---- refused ---- */

static void what_is_refused(void **state)
{
    static const struct {
        const char *pattern, *why;
    } row[] = {
        {"5", "\"pattern\": expected a string"},
        {"\"(?=a)\"", "s: #: \"pattern\", character 1: a look ahead or behind is not supported"},
        {"\"a(?<!b)\"", "character 2: a look ahead or behind"},
        {"\"(a)\\\\1\"", "character 4: a reference back to a group"},
        {"\"\\\\k<a>\"", "a reference back to a group"},
        {"\"a\\\\b\"", "character 2: \\b and \\B, edges of words"},
        {"\"\\\\p{L}\"", "\\p, properties of characters"},
        {"\"(?i)a\"", "flags of a group"},
        {"\"a{2,1}\"", "character 2: a repeat of at least more than at most"},
        {"\"a{1048577}\"", "character 2: more than 1048576 repeats"},
        {"\"a{99999999999}\"", "character 2: more than 1048576 repeats"},
        {"\"{a}\"", "a { that repeats nothing"},
        {"\"a{,2}\"", "expected {m}, {m,} or {m,n}"},
        {"\"*a\"", "character 1: a repeat of nothing"},
        {"\"a**\"", "character 3: a repeat of nothing"},
        {"\"(^a)*\"", "character 1: a ^ or $ in a repeat"},
        {"\"a^b\"", "character 2: a ^ that does not begin the text"},
        {"\"(a$)b\"", "character 3: a $ that does not end the text"},
        {"\"(a\"", "character 1: a group without its closing )"},
        {"\"a)\"", "character 2: a ) that closes nothing"},
        {"\"(?<a\"", "the name of a group without its closing >"},
        {"\"[ab\"", "character 1: a class without its closing ]"},
        {"\"[b-a]\"", "a range whose end comes before its beginning"},
        {"\"[\\\\d-z]\"", "a range from or to a set of characters"},
        {"\"[]\"", "character 1: no character is in this"},
        {"\"[^\\\\s\\\\S]\"", "no character is in this"},
        {"\"\\\\ud800\"", "no character is in this"},
        {"\"\\\\xg0\"", "\\x needs 2 hexadecimal digits"},
        {"\"\\\\u12\"", "\\u needs 4 hex digits"},
        {"\"\\\\u{110000}\"", "\\u{...} needs the hexadecimal digits of a character"},
        {"\"\\\\q\"", "an escape that does not exist"},
        {"\"a\\\\\"", "character 2: a \\ with nothing behind it"},
        {"\"^a*b*$\",\"maxLength\":2000", "minLength and maxLength beside a \"pattern\" that is too large for them"},
        {"\"^(a{0,64}b?){9}$\",\"maxLength\":9", "\"pattern\" that is too large for them"},
        {"\"^[ab]{1,20}(ab|b)*$\",\"maxLength\":999", "\"pattern\" that is too large for them"},
        {"\"^a*b*$x\",\"maxLength\":9", "character 6: a $ that does not end the text"},
        {"\"^abc$\",\"maxLength\":2", "no string of the \"pattern\" has such a length"},
        {"\"^(abc)+$\",\"minLength\":4,\"maxLength\":5", "no string of the \"pattern\" has such a length"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char schema[200], *text = NULL;
        size_t n;
        snprintf(schema, sizeof(schema), "{\"pattern\":%s}", row[i].pattern);
        const myth_status st = myth_json_schema_to_gbnf(&text, &n, mem, schema, strlen(schema), "s", &err);
        if (st == MYTH_OK || !strstr(err.msg, row[i].why))
            fail_msg("%s\n%s\nnot: %s", schema, st == MYTH_OK ? "is read" : err.msg, row[i].why);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live, 0);
    }
}

/* What is large ends in an error that says so, and soon. */
static void large_patterns(void **state)
{
    static char schema[MYTH_JSON_SCHEMA_BYTES];
    static const struct {
        const char *before, *again, *behind, *why;
        uint32_t n;
    } row[] = {
        {"{\"pattern\":\"", "(", "\"}", "character 25: too many brackets inside each other", 1000},
        {"{\"pattern\":\"", "a", "\"}", "the pattern is too long from here on", 200000},
        {"{\"pattern\":\"", "[^a]", "\"}", "the pattern has too many classes of characters", 60000},
        {"{\"pattern\":\"[", "aceg", "]\"}", "a class of too many ranges", 60000},
        {"{\"pattern\":\"", "(a{0,1000}){0,1000}", "\"}", NULL, 20},
        {"{\"pattern\":\"", "[^\\\\s\\\\w]", "\"}", NULL, 200},
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
        memcpy(schema + n, row[i].behind, strlen(row[i].behind));
        n += strlen(row[i].behind);
        const myth_status st = myth_json_schema_to_gbnf(&text, &n_text, mem, schema, n, "s", &err);
        if (row[i].why ? st != MYTH_ELIMIT || !strstr(err.msg, row[i].why) : st != MYTH_OK)
            fail_msg("row %zu: %s", i, st == MYTH_OK ? "is read" : err.msg);
        myth_free(mem, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_patterns),
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(large_patterns),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
