/* test_gbnf.c - what a grammar may be: texts that some grammars have and others that they have not, and every mistake
 * with its line and column. */
#include "engine/text/pushdown.h"
#include "tests/support/check.h"

static myth_mem *mem;
static myth_pushdown *states;
static myth_error err;

static int open_all(void **state)
{
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_pushdown_open(&states, mem, NULL), MYTH_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    myth_pushdown_close(states);
    assert_int_equal(myth_mem_close(mem), 0);
    return 0;
}

/* Bytes of text that step, in *n; whether it may end behind them. */
static bool walk(const myth_gbnf *g, const char *text, size_t len, size_t *n)
{
    myth_automaton a;
    uint32_t at;
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    for (*n = 0; *n < len; ++*n)
        if (!a.step(a.self, &at, (uint8_t)text[*n]))
            return false;
    return a.may_end(a.self, &at);
}

#define JSON                                                                                                         \
    "root   ::= object\n"                                                                                            \
    "value  ::= object | array | string | number | (\"true\" | \"false\" | \"null\") ws\n"                           \
    "object ::= \"{\" ws ( string \":\" ws value (\",\" ws string \":\" ws value)* )? \"}\" ws\n"                    \
    "array  ::= \"[\" ws ( value (\",\" ws value)* )? \"]\" ws\n"                                                    \
    "string ::= \"\\\"\" ( [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4}) )* \"\\\"\" " \
    "ws\n"                                                                                                           \
    "number ::= (\"-\"? ([0-9] | [1-9] [0-9]{0,15})) (\".\" [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws\n"           \
    "# Optional space: by convention, applied in this grammar after literal chars when allowed\n"                    \
    "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n"

static void texts_of_grammars(void **state)
{
    static const struct {
        const char *grammar, *text;
        int n; /* bytes that step; all of them and the text may end: -1 */
    } row[] = {
        {"root ::= \"ab\"", "ab", -1},
        {"root ::= \"ab\"", "abc", 2},
        {"root ::= \"ab\"", "a", 1},
        {"root ::= \"ab\"", "b", 0},
        {"root ::= a b?\na ::= \"x\"\nb ::= \"y\"", "x", -1},
        {"root ::= a b?\na ::= \"x\"\nb ::= \"y\"", "xy", -1},
        {"root ::= [a-cx]+", "abcx", -1},
        {"root ::= [a-cx]+", "abd", 2},
        {"root ::= [^a-cx]", "\xc3\xa9", -1},
        {"root ::= [^a-cx]", "\xc3", 1},
        {"root ::= [^a-cx]", "b", 0},
        {"root ::= [^\\u00e9]", "\xc3\xa9", 1},
        {"root ::= [^\\u00e9]", "\xc3\xa8", -1},
        {"root ::= [a-]+", "a-a", -1},
        {"root ::= [-a]+", "-a", -1},
        {"root ::= [\\]\\[\\\\]+", "[]\\", -1},
        {"root ::= .", "\xf0\x9f\x98\x80", -1},
        {"root ::= .", "\xf0\x80", 1},     /* an overlong form */
        {"root ::= .", "\xed\xa0\x80", 1}, /* a surrogate */
        {"root ::= .", "\xf4\x90", 1},     /* past the last character */
        {"root ::= .", "\n", -1},
        {"root ::= [\\x41\\u0042\\U00000043]*", "ABC", -1},
        {"root ::= \"\\x41\\t\\n\\r\\\\\\\"\"", "A\t\n\r\\\"", -1},
        {"root ::= \"\\u20ac\"", "\xe2\x82\xac", -1},
        {"root ::= [\\u0000-\\U0010FFFF]", "\xf4\x8f\xbf\xbf", -1},
        {"root ::= \"a\"{2}", "aa", -1},
        {"root ::= \"a\"{2}", "aaa", 2},
        {"root ::= \"a\"{2,}", "aaaaa", -1},
        {"root ::= \"a\"{2,}", "a", 1},
        {"root ::= \"ab\"{ 1 , 2 } \"c\"", "ababc", -1},
        {"root ::= \"ab\"{1,2} \"c\"", "ababab", 4},
        {"root ::= \"a\"{0} \"b\"", "b", -1},
        {"root ::= \"a\"{0} \"b\"", "a", 0},
        {"root ::= \"a\"{0,2}", "", -1},
        {"root ::= (\"a\"?){3} \"b\"", "aaab", -1},
        {"root ::= (\"a\"?){3} \"b\"", "aaaa", 3},
        {"root ::= (\"a\"?){3} \"b\"", "b", -1},
        {"root ::= (\"a\"*)* \"b\"", "aaab", -1},
        {"root ::= ((\"a\"?){2}){2,3}", "aaaaaa", -1},
        {"root ::= ((\"a\"?){2}){2,3}", "aaaaaaa", 6},
        {"root ::= (\"a\"\n | # one\n \"b\"\n)*\n", "abba", -1},
        {"root ::=\n  \"a\" |\n  \"b\"\n", "b", -1},
        {"root ::= \"a\" root \"b\" | \"\"", "aaabbb", -1},
        {"root ::= \"a\" root \"b\" | \"\"", "aabbb", 4},
        {"root ::= | \"a\"", "", -1},
        {"# first\n\nroot::=\"a\"# last", "a", -1},
        {"root ::= \"a\"\r\n", "a", -1},
        {"root ::= \"\\x00\"", "", 0},
        {"root ::= Long-Name-7\nLong-Name-7 ::= \"a\"", "a", -1},
        {JSON, "{\"a\":[1,2.5e-3,{\"\\u00e9\":null}], \"b\":\"\xc3\xa9\"}", -1},
        {JSON, "{\"a\":01}", 6},
        {JSON, "[", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_gbnf *g;
        size_t n;
        if (myth_gbnf_parse(&g, mem, row[i].grammar, strlen(row[i].grammar), "g", NULL, &err) != MYTH_OK)
            fail_msg("%s\n%s", row[i].grammar, err.msg);
        const size_t len = strlen(row[i].text);
        const bool is_whole = walk(g, row[i].text, len, &n);
        if (row[i].n < 0 ? !is_whole || n != len : is_whole || n != (size_t)row[i].n)
            fail_msg("%s\n%s: %zu bytes%s", row[i].grammar, row[i].text, n, is_whole ? ", may end" : "");
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live, myth_gbnf_bytes(g));
        myth_gbnf_close(g);
    }
}

static void mistakes(void **state)
{
    static const struct {
        const char *grammar, *why;
    } row[] = {
        {"", "g: there is no rule \"root\""},
        {"a ::= \"a\"", "g: there is no rule \"root\""},
        {"root ::= a", "g:1:10: there is no rule \"a\""},
        {"root ::= \"a\"\nb ::= \"x\" c", "g:2:11: there is no rule \"c\""},
        {"root ::= \"a\"\nroot ::= \"b\"", "g:2:1: rule \"root\" is given twice"},
        {"root", "g:1:1: expected ::= behind the name of a rule"},
        {"root = \"a\"", "g:1:6: expected ::="},
        {"root ::= \"a\"\n  ::= \"b\"", "g:2:3: expected the name of a rule"},
        {"my_rule ::= \"a\"", "g:1:3: expected ::="},
        {"root ::= \"a", "g:1:10: a text without its closing \""},
        {"root ::= [a", "g:1:10: a class without its closing ]"},
        {"root ::= (\"a\"", "g:1:10: a group without its closing )"},
        {"root ::= (\"a\" ]", "g:1:15: expected an item, | or the ) of a group"},
        {"root ::= \"a\" )", "g:1:14: expected an item, |, or the end of the line"},
        {"root ::= \"a\" <think>", "g:1:14: a token can be named only where there is"},
        {"root ::= \"\\q\"", "g:1:11: an escape that does not exist"},
        {"root ::= \"\\x4\"", "g:1:11: \\x needs 2 hexadecimal digits"},
        {"root ::= [\\u12]", "g:1:11: \\u needs 4 hexadecimal digits"},
        {"root ::= \"\\U00110000\"", "g:1:11: U+110000 is no character"},
        {"root ::= \"\\ud800\"", "g:1:11: U+D800 is no character"},
        {"root ::= \"\xff\"", "g:1:11: not UTF-8"},
        {"root ::= \"\\", "g:1:11: an escape that does not exist"},
        {"root ::= [z-a]", "g:1:11: a range whose end comes before its beginning"},
        {"root ::= []", "g:1:10: a class that no character is in"},
        {"root ::= [^\\x00-\\U0010FFFF]", "g:1:10: a class that no character is in"},
        {"root ::= *", "g:1:10: nothing stands before this *"},
        {"root ::= \"a\" | + \"b\"", "g:1:16: nothing stands before this +"},
        {"root ::= (?\"a\")", "g:1:11: nothing stands before this ?"},
        {"root ::= \"a\"{}", "g:1:14: expected a number"},
        {"root ::= \"a\"{,3}", "g:1:14: expected a number"},
        {"root ::= \"a\"{3", "g:1:13: expected the } of a repetition"},
        {"root ::= \"a\"{", "g:1:13: expected a number"},
        {"root ::= \"a\"{3,2}", "g:1:13: at least 3 repetitions and at most 2"},
        {"root ::= \"a\"{1048577}", "g:1:14: more than 1048576 repetitions"},
        {"root ::= \"a\"{99999999999}", "g:1:14: more than 1048576 repetitions"},
        {"root ::= root \"a\" | \"a\"", "g:1:1: rule \"root\" can begin with itself"},
        {"root ::= \"x\" b\nb ::= \"y\"? c\nc ::= b \"z\" | \"z\"", "rule \"b\" can begin with itself"},
        {"root ::= \"x\"\nb ::= (\"y\"{0,3} | \"z\") b | \"q\"", "g:2:1: rule \"b\" can begin with itself"},
        {"root ::= (e \"a\"){2}\ne ::= e?", "g:2:1: rule \"e\" can begin with itself"},
        {"root ::= \"x\" b\nb ::= \"a\" b", "g:2:1: rule \"b\" never ends"},
        {"root ::= \"x\" (b | \"y\")\nb ::= \"a\" c\nc ::= \"a\" b{2}",
         "g:3:1: rule \"c\" never ends: no text of it can be finished"},
        {"root ::= \"a\" \x01", "g:1:14: expected an item, |, or the end"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_gbnf *g = NULL;
        const myth_status st = myth_gbnf_parse(&g, mem, row[i].grammar, strlen(row[i].grammar), "g", NULL, &err);
        if (st == MYTH_OK || !strstr(err.msg, row[i].why))
            fail_msg("%s\n%s\nnot: %s", row[i].grammar, st == MYTH_OK ? "is read" : err.msg, row[i].why);
        assert_true(g == NULL && (st == MYTH_EFORMAT || st == MYTH_ELIMIT || st == MYTH_EUNSUPPORTED));
    }
    myth_gbnf *g;
    assert_int_equal(myth_gbnf_parse(&g, mem, "root ::= \"a\0\"", 13, "g", NULL, &err),
                     MYTH_OK); /* a zero is a character */
    myth_gbnf_close(g);
    assert_int_equal(myth_gbnf_parse(&g, mem, "root ::= \0", 10, "g", NULL, &err), MYTH_EFORMAT);
}

/* More of everything than there may be. */
static void limits(void **state)
{
    enum { CAP = MYTH_GBNF_BYTES + 1 };
    char *text = malloc(CAP);
    myth_gbnf *g;
    size_t n;
    (void)state;
    assert_non_null(text);
    memset(text, ' ', CAP);
    assert_int_equal(myth_gbnf_parse(&g, mem, text, CAP, "g", NULL, &err), MYTH_ELIMIT);
    n = (size_t)sprintf(text, "root ::= ");
    memset(text + n, '(', MYTH_GBNF_DEPTH + 1);
    assert_int_equal(myth_gbnf_parse(&g, mem, text, n + MYTH_GBNF_DEPTH + 1, "g", NULL, &err), MYTH_ELIMIT);
    assert_string_equal(err.msg, "g:1:74: more than 64 brackets inside each other");
    n = 0;
    for (int i = 0; i <= MYTH_GBNF_RULES; i++)
        n += (size_t)sprintf(text + n, "r%d ::= \"a\"\n", i);
    assert_int_equal(myth_gbnf_parse(&g, mem, text, n, "g", NULL, &err), MYTH_ELIMIT);
    assert_string_equal(err.msg, "g:4097:1: more than 4096 rules");
    n = (size_t)sprintf(text, "root ::= \"");
    memset(text + n, 'a', MYTH_GBNF_SIZE);
    text[n + MYTH_GBNF_SIZE] = '"';
    assert_int_equal(myth_gbnf_parse(&g, mem, text, n + MYTH_GBNF_SIZE + 1, "g", NULL, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "the grammar is too large"));
    n = (size_t)sprintf(text, "root ::= [");
    for (int i = 0; i <= 1024; i++)
        n += (size_t)sprintf(text + n, "\\u%04x", 0x1000 + 2 * i);
    text[n] = ']';
    assert_int_equal(myth_gbnf_parse(&g, mem, text, n + 1, "g", NULL, &err), MYTH_ELIMIT);
    assert_string_equal(err.msg, "g:1:10: a class of more than 1024 ranges");
    free(text);
}

/* Every allocation of a reading fails once: the memory is as before. */
static void no_memory(void **state)
{
    uint32_t n_failed = 0;
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        myth_gbnf *g = NULL;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        const myth_status st = myth_gbnf_parse(&g, mem, JSON, sizeof(JSON) - 1, "g", NULL, &err);
        myth_mem_set_fault(mem, NULL);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live, g ? myth_gbnf_bytes(g) : 0);
        myth_gbnf_close(g);
        if (st == MYTH_OK)
            break;
        assert_int_equal(st, MYTH_ENOMEM);
        n_failed++;
    }
    assert_true(n_failed > 8);
    for (uint64_t nth = 1; nth <= 10; nth++) {
        myth_pushdown *p;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        assert_int_equal(myth_pushdown_open(&p, mem, &err), MYTH_ENOMEM);
        myth_mem_set_fault(mem, NULL);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live, myth_pushdown_bytes());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_grammars),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(limits),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
