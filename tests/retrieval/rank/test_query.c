/* test_query.c - what a query is taken for: kinds, terms, names, wishes, and texts that want to be something else. */
#include "tests/support/check.h"
#include "retrieval/rank/query.h"

#include <math.h>

static myth_mem *mem;
static myth_weights_search w;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK && myth_weights_search_set(&w, "early=0", NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static myth_query parse_n(const char *text, size_t n)
{
    myth_query q;
    myth_error err = {0};
    if (myth_query_parse(&q, mem, text, n, &w, &err) != MYTH_OK)
        fail_msg("%.40s: %s", text, err.msg);
    return q;
}
static myth_query parse(const char *text) { return parse_n(text, strlen(text)); }

static const myth_query_term *term(const myth_query *q, const char *text)
{
    for (uint32_t i = 0; i < q->n_term; i++)
        if (strcmp(q->term[i].text, text) == 0)
            return &q->term[i];
    return NULL;
}

static bool has_name(const myth_query *q, const char *name)
{
    for (uint32_t i = 0; i < q->n_name; i++)
        if (strcmp(q->name[i], name) == 0)
            return true;
    return false;
}

static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        myth_query_kind kind;
    } row[] = {
        {"parse_json", MYTH_QUERY_SYMBOL},
        {"Foo::bar", MYTH_QUERY_SYMBOL},
        {"  loop->next  ", MYTH_QUERY_SYMBOL},
        {"a.b.c()", MYTH_QUERY_SYMBOL},
        {"\"no such file\"", MYTH_QUERY_PHRASE},
        {"where is the \"no such file\" message", MYTH_QUERY_PROSE},
        {"read a file", MYTH_QUERY_PROSE},
        {"one\ntwo\nthree", MYTH_QUERY_ISSUE},
        {"net: fix a leak", MYTH_QUERY_ISSUE},
        {"unix,sun-os: fix a leak", MYTH_QUERY_ISSUE},
        {"fix a very late leak: how", MYTH_QUERY_PROSE},
        {"what is a::b doing", MYTH_QUERY_PROSE},
        {"leak (net): where", MYTH_QUERY_PROSE},
        {"net:fix", MYTH_QUERY_SYMBOL},
        {"a b c d e f g h i j k l m n o p q r s t u v w x", MYTH_QUERY_PROSE},
        {"a b c d e f g h i j k l m n o p q r s t u v w x y", MYTH_QUERY_ISSUE},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        myth_query q = parse(row[i].text);
        if (q.kind != row[i].kind)
            fail_msg("%s: %s", row[i].text, myth_query_kind_name(q.kind));
        myth_query_free(&q);
    }
}

static void stop_words_go_unless_alone(void **state)
{
    (void)state;
    myth_query q = parse("how to check if a socket is closed");
    assert_null(term(&q, "how"));
    assert_null(term(&q, "to"));
    assert_null(term(&q, "a"));
    assert_non_null(term(&q, "socket"));
    assert_non_null(term(&q, "closed"));
    myth_query_free(&q);
    q = parse("to be or to have");
    assert_non_null(term(&q, "to"));
    assert_non_null(term(&q, "be"));
    assert_int_equal(q.n_group >= 4, true);
    myth_query_free(&q);
    q = parse("the"); /* asked as a name it is one */
    assert_non_null(term(&q, "the"));
    myth_query_free(&q);
}

static void compound_names_come_whole_and_in_parts(void **state)
{
    (void)state;
    static const char *const text[] = {"why does parseJsonFile fail", "why does parse_json_file fail"};
    static const char *const whole[] = {"parsejsonfile", "parse_json_file"};
    for (int i = 0; i < 2; i++) {
        myth_query q = parse(text[i]);
        const myth_query_term *t = term(&q, whole[i]), *part = term(&q, "json");
        assert_non_null(t);
        assert_int_equal(t->kind, MYTH_TERM_WHOLE);
        assert_non_null(part);
        assert_int_equal(part->kind, MYTH_TERM_PART);
        assert_true(part->weight == w.term_part && t->weight == w.term_whole);
        assert_true(part->group != t->group);
        assert_true(has_name(&q, i ? "parse_json_file" : "parseJsonFile"));
        assert_false(has_name(&q, "fail"));
        myth_query_free(&q);
    }
}

static void a_word_once_by_its_stem(void **state)
{
    (void)state;
    myth_query q = parse("parse parsed parsing parses, PARSE");
    uint32_t n = 0;
    for (uint32_t i = 0; i < q.n_term; i++)
        n += q.term[i].kind == MYTH_TERM_WORD;
    assert_int_equal(n, 1);
    assert_true(term(&q, "parse")->weight == 1);
    myth_query_free(&q);
    q = parse("read_json and json"); /* what was a part becomes a word: the greater weight */
    assert_true(term(&q, "json")->weight == 1);
    myth_query_free(&q);
}

/* The same word where no stem joins it, and the question's own words: only with their weights, only in prose. */
static void forms_and_frames(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word, *form;
    } row[] = {
        {"session creation and more", "creation", "create"},
        {"sessions are created there", "created", "creation"},
        {"who is authorised here", "authorised", "authorized"},
        {"authorization of users", "authorization", "authorisation"},
        {"the colour of it", "colour", "color"},
        {"normalized colors of it", "normalized", "normalised"},
        {"its behavior here", "behavior", "behaviour"},
    };
    static const struct {
        const char *text, *word;
        bool is_frame;
    } frame[] = {
        {"which code opens a socket", "code", true},      {"which files open a socket", "files", true},
        {"where is the code of a socket", "code", false}, {"how are signals handled", "handled", true},
        {"signals handled here", "handled", false},       {"how does a socket work", "work", true},
        {"how does the work queue end", "work", false},   {"what happens to a socket", "happens", true},
    };
    myth_weights_search usual = w;
    myth_query q = parse("session creation and more");
    assert_null(term(&q, "create"));
    myth_query_free(&q);
    w.term_form = 0.9;
    w.term_frame = 0.25;
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        q = parse(row[i].text);
        const myth_query_term *word = term(&q, row[i].word), *form = term(&q, row[i].form);
        if (!word || !form)
            fail_msg("%s: no %s", row[i].text, word ? row[i].form : row[i].word);
        assert_true(form->kind == MYTH_TERM_FORM && form->group == word->group && form->weight == 0.9);
        myth_query_free(&q);
    }
    for (size_t i = 0; i < sizeof(frame) / sizeof(*frame); i++) {
        q = parse(frame[i].text);
        assert_non_null(term(&q, frame[i].word));
        if (term(&q, frame[i].word)->weight != (frame[i].is_frame ? 0.25 : 1))
            fail_msg("%s: %s has %g", frame[i].text, frame[i].word, term(&q, frame[i].word)->weight);
        assert_true(term(&q, frame[i].word)->weight < 1 || !frame[i].is_frame);
        myth_query_free(&q);
    }
    q = parse("creation of what was created"); /* a form that is asked for itself is a word of its own group no more */
    assert_int_equal(term(&q, "creation")->kind, MYTH_TERM_WORD);
    myth_query_free(&q);
    w = usual;
}

static void alternatives_share_a_group(void **state)
{
    (void)state;
    myth_query q = parse("sort a dictionary by value");
    const myth_query_term *word = term(&q, "dictionary"), *other = term(&q, "dict");
    assert_non_null(other);
    assert_int_equal(other->group, word->group);
    assert_int_equal(other->kind, MYTH_TERM_ALTERNATIVE);
    assert_true(other->weight == w.term_alt);
    myth_query_free(&q);
    q = parse("dictionaries and a dict"); /* what is asked for itself is no alternative */
    assert_int_equal(term(&q, "dict")->kind, MYTH_TERM_WORD);
    assert_true(term(&q, "dict")->group != term(&q, "dictionaries")->group);
    myth_query_free(&q);
}

static void what_is_said_first_weighs_more(void **state)
{
    (void)state;
    w.early = 0.5;
    static const char *const text[] = {"socket closed by\ntimer\nexpired", "socket\nclosed\nby\ntimer"};
    for (int i = 0; i < 2; i++) {
        myth_query q = parse(text[i]);
        assert_true(fabs(term(&q, "socket")->weight - 1) < 1e-12);
        assert_true(fabs(term(&q, "closed")->weight - pow(2, -0.5)) < 1e-12);
        assert_true(fabs(term(&q, "timer")->weight - pow(4, -0.5)) < 1e-12); /* a word that is left out has its place */
        myth_query_free(&q);
    }
    myth_query q = parse("socket closed by timer"); /* a question is short */
    assert_true(term(&q, "timer")->weight == 1);
    myth_query_free(&q);
    q = parse("timer\nsocket\ntimer"); /* its first place counts */
    assert_true(fabs(term(&q, "timer")->weight - 1) < 1e-12);
    myth_query_free(&q);
    q = parse("uv_socket_closed"); /* a name has no first and last */
    assert_true(term(&q, "closed")->weight == w.term_part);
    myth_query_free(&q);
    w.early = 0;
}

/* Every line of a report is asked for, headings and settings too; the words of its first line are its title. */
static void a_report_is_read_whole(void **state)
{
    (void)state;
    static const char text[] =
        "Timer fires late\n\n## Expected behaviour\nin order\n\n**Environment:**\n\nlinux kernel\nglibc\n\n## More\n"
        "sleeping process\n";
    myth_query q = parse(text);
    assert_int_equal(q.kind, MYTH_QUERY_ISSUE);
    static const char *const in[] = {"timer", "late", "order", "sleeping", "glibc", "kernel"};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        assert_non_null(term(&q, in[i]));
    assert_true(term(&q, "late")->is_title && !term(&q, "order")->is_title && !term(&q, "glibc")->is_title);
    static const char *const form[] = {"expected", "behaviour", "environment"}; /* report.h */
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        assert_null(term(&q, form[i]));
    myth_query_free(&q);
    q = parse("sort a dictionary\nby value\n\nof keys"); /* a report has words enough: no alternatives */
    assert_null(term(&q, "dict"));
    myth_query_free(&q);
    q = parse("\n\n \n# Queues\n# Versions\nlinux\n"); /* empty lines before the first one are no title */
    assert_true(term(&q, "queues")->is_title && !term(&q, "linux")->is_title);
    myth_query_free(&q);
    q = parse("### Description\n\nCloses #7\nTimer fires late\nsince March\n"); /* nor are lines of the form */
    assert_true(term(&q, "timer")->is_title && !term(&q, "march")->is_title && !term(&q, "closes"));
    myth_query_free(&q);
    q = parse("# Expected\n# Versions\n# Steps\n"); /* but when there is nothing else, they are all that is asked */
    assert_true(term(&q, "expected")->is_title && !term(&q, "versions")->is_title);
    myth_query_free(&q);
    q = parse("Timer fires late\n\nwhen the timer is slow\nor early\n");
    assert_true(term(&q, "timer")->is_title && term(&q, "late")->is_title && !term(&q, "slow")->is_title);
    myth_query_free(&q);
    q = parse("net,tcp: fix a leak"); /* a report of one line is all title */
    assert_true(q.kind == MYTH_QUERY_ISSUE && term(&q, "leak")->is_title);
    assert_true(term(&q, "net")->is_scope && term(&q, "tcp")->is_scope && !term(&q, "leak")->is_scope);
    myth_query_free(&q);
    q = parse("fix a leak in net: it grows"); /* a question */
    assert_true(q.kind == MYTH_QUERY_PROSE && !term(&q, "leak")->is_scope);
    myth_query_free(&q);
}

static void languages_say_where(void **state)
{
    (void)state;
    myth_query q = parse("read csv python");
    assert_true(term(&q, "python")->weight == w.term_language);
    assert_true(term(&q, "csv")->weight == 1);
    myth_query_free(&q);
    q = parse("python");
    assert_non_null(term(&q, "python"));
    myth_query_free(&q);
}

static void names_are_what_is_written_as_code(void **state)
{
    (void)state;
    myth_query q =
        parse("the call to connect() of http.client fails in `run`, see Session.request. After that close it");
    assert_true(has_name(&q, "connect"));
    assert_true(has_name(&q, "client"));
    assert_true(has_name(&q, "run"));
    assert_true(has_name(&q, "request"));
    assert_false(has_name(&q, "Session"));
    assert_false(has_name(&q, "After"));
    assert_false(has_name(&q, "fails"));
    myth_query_free(&q);
    q = parse("uv_tcp_t::uv__close");
    assert_int_equal(q.n_name, 1);
    assert_string_equal(q.name[0], "uv__close");
    myth_query_free(&q);
    q = parse("queue->head");
    assert_int_equal(q.n_name, 1);
    assert_string_equal(q.name[0], "head");
    myth_query_free(&q);
}

static void wishes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool tests, examples, docs;
    } row[] = {
        {"tests for the parser", true, false, false},
        {"unit test of date", true, false, false},
        {"where is the parser tested", true, false, false},
        {"parser test", true, false, false},
        {"test the connection before use", true, false, false},
        {"how do we test the connection", false, false, false},
        {"latest results", false, false, false},
        {"example of a server", false, true, false},
        {"changelog of 2.0", false, false, true},
        {"tests fail\nwith a traceback\nin tests/test_a.py", false, false, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        myth_query q = parse(row[i].text);
        if (q.wants_tests != row[i].tests || q.wants_examples != row[i].examples || q.wants_docs != row[i].docs)
            fail_msg("%s: %d %d %d", row[i].text, q.wants_tests, q.wants_examples, q.wants_docs);
        myth_query_free(&q);
    }
}

static void phrases(void **state)
{
    (void)state;
    myth_query q = parse("it says \"no such file\" and \"x\" and \"\" then \"open");
    assert_int_equal(q.n_phrase, 1);
    assert_string_equal(q.phrase[0], "no such file");
    assert_non_null(term(&q, "file"));
    myth_query_free(&q);
}

static void refused(void **state)
{
    (void)state;
    static const char *const text[] = {"", "   ", "+-*/", "\"\"", "::", "\n\t"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        myth_query q;
        myth_error err = {0};
        assert_int_equal(myth_query_parse(&q, mem, text[i], strlen(text[i]), &w, &err), MYTH_EARG);
        assert_int_equal(err.remedy, MYTH_REMEDY_SEARCH_LINES);
        myth_query_free(&q);
    }
}

/* Any bytes make a query or an error; terms stay within their bounds. */
static void any_bytes(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    enum { BIG = 1 << 20 };
    char *text = malloc(BIG);
    assert_non_null(text);
    static const char alphabet[] = "ab_C0 .:->#\"`()\n\0\xc3\xa9\xff";
    for (int round = 0; round < (check_is_full() ? 20000 : 2000); round++) {
        size_t n = check_below(&rng, 200);
        for (size_t i = 0; i < n; i++)
            text[i] = alphabet[check_below(&rng, sizeof alphabet - 1)];
        char *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, text, n);
        myth_query q;
        myth_status st = myth_query_parse(&q, mem, exact, n, &w, NULL);
        assert_true(st == MYTH_OK || st == MYTH_EARG);
        for (uint32_t i = 0; i < q.n_term; i++)
            assert_true(q.term[i].group < q.n_group && q.term[i].weight > 0 && q.term[i].text[0]);
        myth_query_free(&q);
        free(exact);
    }
    for (size_t i = 0; i < BIG; i++)
        text[i] = i % 8 == 7 ? ' ' : (char)('a' + check_below(&rng, 26));
    myth_query q = parse_n(text, BIG);
    assert_int_equal(q.kind, MYTH_QUERY_ISSUE);
    assert_true(q.n_term <= MYTH_QUERY_TERMS);
    myth_query_free(&q);
    memset(text, 'x', BIG); /* one word of a mebibyte */
    q = parse_n(text, BIG);
    assert_true(q.n_term >= 1 && strlen(q.term[0].text) <= 128);
    myth_query_free(&q);
    free(text);
}

static void weights(void **state)
{
    (void)state;
    myth_weights_search x;
    myth_error err = {0};
    assert_int_equal(myth_weights_search_set(&x, "b=0.5,symbol=0", &err), MYTH_OK);
    assert_true(x.b == 0.5 && x.symbol == 0 && x.k1 == w.k1);
    static const char *const bad[] = {"q=1",   "b",     "b=", "b=x",       "b=1x", "b=-1",
                                      "b=nan", "b=inf", ",",  "b=1,,k1=1", "=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(myth_weights_search_set(&x, bad[i], &err), MYTH_EARG);
}

/* Every allocation that can fail does: an error, nothing left behind. */
static void no_memory(void **state)
{
    (void)state;
    static const char text[] = "why does parseJson(\"a b\") of http.client fail for a dictionary";
    for (uint64_t nth = 1;; nth++) {
        myth_query q;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_query_parse(&q, mem, text, sizeof text - 1, &w, NULL);
        myth_mem_set_fault(mem, NULL);
        myth_query_free(&q);
        if (st == MYTH_OK)
            return;
        assert_int_equal(st, MYTH_ENOMEM);
        assert_true(nth < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(stop_words_go_unless_alone),
        cmocka_unit_test(compound_names_come_whole_and_in_parts),
        cmocka_unit_test(a_word_once_by_its_stem),
        cmocka_unit_test(forms_and_frames),
        cmocka_unit_test(alternatives_share_a_group),
        cmocka_unit_test(what_is_said_first_weighs_more),
        cmocka_unit_test(a_report_is_read_whole),
        cmocka_unit_test(languages_say_where),
        cmocka_unit_test(names_are_what_is_written_as_code),
        cmocka_unit_test(wishes),
        cmocka_unit_test(phrases),
        cmocka_unit_test(refused),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(weights),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
