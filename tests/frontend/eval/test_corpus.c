/* test_corpus.c - the corpus of the evaluation, rows in memory: scores are those of BM25F written out by hand; which
 * words find which rows; hostile queries; reading rows from JSONL. */
#include "tests/support/check.h"
#include "frontend/eval/corpus.h"
#include "frontend/eval/definition.h"

#include <math.h>

enum { K = 20 };

static myth_mem *mem;
static myth_corpus *corpus;
static myth_corpus_hit hit[K];
static uint32_t n_hit;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static int fresh(void **state)
{
    (void)state;
    return myth_corpus_open(&corpus, mem, NULL) == MYTH_OK ? 0 : -1;
}

static int over(void **state)
{
    (void)state;
    myth_corpus_close(corpus);
    return 0;
}

static void add_row(const char *path, const char *names, const char *text)
{
    myth_error err = {0};
    myth_corpus_row r = {
        .id = "x",
        .n_id = 1,
        .text = text,
        .n_text = strlen(text),
        .path = path,
        .n_path = path ? strlen(path) : 0,
        .names = names,
        .n_names = names ? strlen(names) : 0,
    };
    if (myth_corpus_add(corpus, &r, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static void ask_n(const char *query, size_t n, const char *weights)
{
    myth_error err = {0};
    if (myth_corpus_search(corpus, query, n, weights, K, hit, &n_hit, &err) != MYTH_OK)
        fail_msg("%.60s: %s", query, err.msg);
    for (uint32_t i = 1; i < n_hit; i++)
        assert_true(hit[i - 1].score > hit[i].score ||
                    (hit[i - 1].score == hit[i].score && hit[i - 1].row < hit[i].row));
}
static void ask(const char *query) { ask_n(query, strlen(query), NULL); }

/* The rows are plain words drawn at random, so that the test knows how often each word is in a row. */
static void scores_are_bm25f(void **state)
{
    (void)state;
    enum { N = 60, WORDS = 8 };
    static const char *const word[WORDS] = {"apple", "brick", "cloud", "drum", "fern", "grape", "horn", "lamp"};
    const double col[3] = {4, 4, 1}, k1 = 1.2, b = 0.9;
    uint64_t rng = check_seed();
    int count[N][3][WORDS] = {0}, len[N] = {0}, df[WORDS] = {0};
    double total = 0;
    for (int r = 0; r < N; r++) {
        char text[3][400] = {"", "", ""};
        for (int c = 0; c < 3; c++)
            for (uint32_t i = check_below(&rng, c == 2 ? 40 : 4) + (c == 2); i > 0; i--) {
                uint32_t k = check_below(&rng, WORDS) * check_below(&rng, WORDS) % WORDS;
                strcat(strcat(text[c], word[k]), " ");
                count[r][c][k]++;
                len[r]++;
            }
        total += len[r];
        for (int k = 0; k < WORDS; k++)
            df[k] += count[r][0][k] + count[r][1][k] + count[r][2][k] > 0;
        add_row(text[0], text[1], text[2]);
    }
    for (int round = 0; round < 20; round++) {
        int x = (int)check_below(&rng, WORDS), y = (x + 1 + (int)check_below(&rng, WORDS - 1)) % WORDS;
        char query[64];
        snprintf(query, sizeof query, "%s, %s", word[x], word[y]);
        ask(query);
        assert_true(n_hit == K || n_hit > 0);
        for (uint32_t i = 0; i < n_hit; i++) {
            int r = (int)hit[i].row;
            double want = 0;
            for (int t = 0; t < 2; t++) {
                int k = t ? y : x;
                double f = 0, idf = log(1 + (N - df[k] + 0.5) / (df[k] + 0.5));
                for (int c = 0; c < 3; c++)
                    f += col[c] * count[r][c][k];
                want += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len[r] / (total / N)));
            }
            if (fabs(hit[i].score - want) > 1e-9 * want)
                fail_msg("row %d of \"%s\": %.12g, by hand %.12g", r, query, hit[i].score, want);
        }
    }
}

/* A word that all rows have still adds to the score. In the usual BM25 a word in half of the rows adds nothing. */
static void words_of_every_row_still_count(void **state)
{
    (void)state;
    add_row(NULL, "", "common words only");
    add_row(NULL, "", "common common common");
    add_row(NULL, "", "a common one that is much longer than the others are, by far");
    ask("common");
    assert_int_equal(n_hit, 3);
    assert_int_equal(hit[0].row, 1);
    assert_true(hit[2].score > 0);
}

static void a_query_of_stop_words_finds(void **state)
{
    (void)state;
    add_row(NULL, "", "who would do what now");
    add_row(NULL, "", "something else");
    ask("would do now");
    assert_int_equal(n_hit, 1);
    assert_int_equal(hit[0].row, 0);
}

static void forms_parts_and_alternatives_find(void **state)
{
    (void)state;
    add_row(NULL, NULL, "def parse_json_file(path):\n    return 1\n");
    add_row(NULL, NULL, "def other(x):\n    return HTTPServerError(x)\n");
    add_row(NULL, NULL, "def third(dict):\n    return sorted(dict)\n");
    static const struct {
        const char *query;
        uint32_t row;
    } want[] = {
        {"parsing files", 0},   {"parse_json_file", 0},   {"parseJSONFile", 0},  {"server errors", 1},
        {"HttpServerError", 1}, {"sort a dictionary", 2}, {"the dictionary", 2},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ask(want[i].query);
        if (n_hit == 0 || hit[0].row != want[i].row)
            fail_msg("%s: %d", want[i].query, n_hit ? (int)hit[0].row : -1);
    }
    ask_n("the dictionary", 14, "term_alt=0");
    assert_int_equal(n_hit, 0);
}

static void names_are_read_off_the_lines(void **state)
{
    (void)state;
    static const char text[] = "def parse(self, x):\n  async function load() {\nexport default class Reader extends X "
                               "{\nfunc (r *T) Close() error {\n"
                               "static int uv__run(uv_loop_t* loop) {\npub fn new() -> Self\n#define MAX_LEN 3\n  if "
                               "(a) b();\nreturn f(x)\nfoo(1);\n"
                               "impl Reader for X\nx = call(y)\nvoid\nstruct node {\nclass\n";
    static const char *const want[] = {"parse", "load",    "Reader", "Close", "uv__run",
                                       "new",   "MAX_LEN", "Reader", "node"};
    size_t pos = 0, n_name, i = 0;
    const char *name;
    for (; myth_definition_next(&name, &n_name, text, sizeof text - 1, &pos); i++) {
        if (i >= sizeof want / sizeof *want || strlen(want[i]) != n_name || memcmp(name, want[i], n_name))
            fail_msg("%zu: %.*s", i, (int)n_name, name);
    }
    assert_int_equal(i, sizeof want / sizeof *want);
}

static void a_long_row_adds_up_and_is_one(void **state)
{
    (void)state;
    static char text[60000];
    size_t n = 0;
    for (int i = 0; n < sizeof text - 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "int function_%d(void)\n{\n    return %s(%d);\n}\n\n", i,
                              i == 900 ? "needle" : "hay", i);
    add_row("big.c", NULL, text);
    add_row("small.c", NULL, "int other(void) { return hay(1); }");
    ask("needle");
    assert_int_equal(n_hit, 1);
    assert_int_equal(hit[0].row, 0);
    ask("hay");
    assert_int_equal(n_hit, 2); /* its pieces are one hit */
    ask("function_900");
    assert_int_equal(hit[0].row, 0);
}

static void tests_and_copies_step_back(void **state)
{
    (void)state;
    add_row("tests/test_open.py", NULL, "def test_open(): open_socket(1); open_socket(2)");
    add_row("vendor/net.py", NULL, "def open_socket(x): return open_socket_impl(x)");
    add_row("lib/net.py", NULL, "def open_socket(x): return open_socket_impl(x)");
    ask("open a socket by number");
    assert_int_equal(hit[0].row, 2);
    ask("tests of open socket");
    assert_int_equal(hit[0].row, 0);
}

static void definitions_win(void **state)
{
    (void)state;
    add_row("a.py", NULL, "def user():\n    flush_all()\n    flush_all()\n    flush_all()\n    flush_all()\n");
    add_row("b.py", NULL,
            "def flush_all():\n    a = 1\n    b = 2\n    for c in range(10):\n        print(a, b, c)\n        "
            "close(a)\n        remove(b)\n");
    ask("flush_all");
    assert_int_equal(hit[0].row, 1);
}

/* Everything in a query is text: no operator, quote or byte of it has a meaning for FTS5. */
static void hostile_queries(void **state)
{
    (void)state;
    add_row(NULL, NULL, "def near(a, b): return not a or b and NEAR");
    static const char *const query[] = {
        "NEAR(a b, 2)",
        "a AND",
        "OR",
        "NOT NOT",
        "\"",
        "\"\"\"\"",
        "a\"b",
        "\" OR \"",
        "^near",
        "near*",
        "body:near",
        "{path names} : near",
        "-path:x",
        "(((((",
        "a + b",
        "'; DROP TABLE fts; --",
        "near\\",
        "%s%n",
        "fts5",
        "rank",
        "\xff\xfe",
        "\xc3",
        "caf\xc3\xa9 na\xc3\xafve",
    };
    for (size_t i = 0; i < sizeof query / sizeof *query; i++)
        ask(query[i]);
    ask_n("near\0\0a", 7, NULL);
    assert_int_equal(n_hit, 1);
    ask("near*");
    assert_int_equal(n_hit, 1);
    ask("body:near"); /* two words, and not the name of a column */
    assert_int_equal(n_hit, 1);
    enum { BIG = 1 << 20 };
    char *big = malloc(BIG);
    assert_non_null(big);
    uint64_t rng = check_seed();
    for (size_t i = 0; i < BIG; i++)
        big[i] = i % 6 == 5 ? " \"\n("[check_below(&rng, 4)] : (char)('a' + check_below(&rng, 26));
    memcpy(big, "near ", 5);
    ask_n(big, BIG, NULL);
    assert_int_equal(n_hit, 1);
    for (int round = 0; round < (check_is_full() ? 20000 : 1000); round++) {
        size_t n = check_below(&rng, 40);
        for (size_t i = 0; i < n; i++)
            big[i] = (char)check_rand(&rng);
        ask_n(big, n, NULL);
    }
    free(big);
}

/* When the rarer words of a query have enough rows, a word that is everywhere brings no further rows; it only adds to
 * the scores of those rows. */
static void frequent_words_only_add(void **state)
{
    (void)state;
    char text[64], query[400] = "";
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "everywhere word%c%c", 'a' + i / 10, 'a' + i % 10);
        add_row(NULL, "", text);
    }
    for (int i = 0; i < 10; i++)
        snprintf(query + strlen(query), 32, "word%c%c, ", 'a' + i / 10, 'a' + i % 10);
    ask(query);
    assert_int_equal(n_hit, 10);
    double without = hit[0].score;
    strcat(query, "everywhere");
    ask(query);
    assert_int_equal(n_hit, K);
    double with = hit[0].score;
    assert_true(with > without);
    ask_n(query, strlen(query), "rows=50");
    assert_int_equal(n_hit, 10);
    assert_true(hit[0].score == with);
    ask_n("everywhere, everywhere", 22, "rows=50"); /* a query of frequent words alone still finds rows */
    assert_int_equal(n_hit, K);
}

static void the_same_again(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    char text[200];
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text, "w%u w%u w%u v%u", check_below(&rng, 20), check_below(&rng, 20),
                 check_below(&rng, 20), check_below(&rng, 5));
        add_row(NULL, "", text);
    }
    myth_corpus_hit first[K];
    ask("w1 w2 v3");
    memcpy(first, hit, sizeof first);
    for (int i = 0; i < 5; i++) {
        ask("w7 w8");
        ask("w1 w2 v3");
        for (uint32_t k = 0; k < K; k++)
            assert_true(first[k].row == hit[k].row && first[k].score == hit[k].score);
    }
}

/* ---- JSONL ---- */

typedef struct {
    uint32_t n;
    char seen[512];
} seen;

static myth_status note(void *arg, const myth_corpus_row *r, myth_error *err)
{
    (void)err;
    seen *s = arg;
    s->n++;
    snprintf(s->seen + strlen(s->seen), sizeof s->seen - strlen(s->seen), "%.*s%s|%.*s|%.*s|%.*s;", (int)r->n_id, r->id,
             r->is_number ? "#" : "", (int)r->n_text, r->text, (int)r->n_path, r->path ? r->path : "", (int)r->n_names,
             r->names ? r->names : "");
    return MYTH_OK;
}

static void jsonl(void **state)
{
    (void)state;
    static const char good[] =
        "{\"id\":7,\"text\":\"a\\nb\"}\r\n\n  "
        "\n{\"x\":[{\"id\":1}],\"text\":\"t\",\"path\":\"p/\\u0071\",\"names\":[\"m\",\"n\"],\"id\":\"q\"}\n"
        "{\"id\":-3,\"text\":\"\",\"names\":\"one two\",\"path\":null}";
    seen s = {0};
    assert_int_equal(myth_corpus_read(mem, (const unsigned char *)good, sizeof good - 1, "f", note, &s, NULL), MYTH_OK);
    assert_string_equal(s.seen, "7#|a\nb||;q|t|p/q|m n ;-3#|||one two;");
    static const char *const bad[] = {"[]",
                                      "{}",
                                      "{\"id\":1}",
                                      "{\"text\":\"x\"}",
                                      "{\"id\":1.5,\"text\":\"x\"}",
                                      "{\"id\":1,\"text\":2}",
                                      "{\"id\":null,\"text\":\"x\"}",
                                      "{\"id\":1,\"text\":\"x\"} {}",
                                      "{\"id\":1,\"text\":\"x\"",
                                      "{\"id\":1,\"text\":\"x\",\"names\":[1]}",
                                      "{\"id\":1,\"text\":\"x\",\"path\":3}",
                                      "\xef\xbb\xbf{}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        myth_error err = {0};
        snprintf(text, sizeof text, "{\"id\":1,\"text\":\"x\"}\n%s\n", bad[i]);
        s = (seen){0};
        if (myth_corpus_read(mem, (const unsigned char *)text, strlen(text), "f.jsonl", note, &s, &err) != MYTH_EFORMAT)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(s.n, 1);
        assert_non_null(strstr(err.msg, "f.jsonl: line 2"));
    }
}

static void no_memory(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        myth_corpus *c = NULL;
        myth_corpus_hit h[4];
        uint32_t n = 0;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_corpus_row r = {.id = "a", .n_id = 1, .text = "def open(a): pass", .n_text = 17};
        myth_status st = myth_corpus_open(&c, mem, NULL);
        if (st == MYTH_OK)
            st = myth_corpus_add(c, &r, NULL);
        if (st == MYTH_OK)
            st = myth_corpus_search(c, "open(\"a b\")", 11, NULL, 4, h, &n, NULL);
        myth_mem_set_fault(mem, NULL);
        myth_corpus_close(c);
        if (st == MYTH_OK)
            return;
        assert_int_equal(st, MYTH_ENOMEM);
        assert_true(nth < 200);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fresh, over)
    const struct CMUnitTest tests[] = {
        T(scores_are_bm25f),
        T(words_of_every_row_still_count),
        T(a_query_of_stop_words_finds),
        T(forms_parts_and_alternatives_find),
        cmocka_unit_test(names_are_read_off_the_lines),
        T(a_long_row_adds_up_and_is_one),
        T(tests_and_copies_step_back),
        T(definitions_win),
        T(hostile_queries),
        T(frequent_words_only_add),
        T(the_same_again),
        cmocka_unit_test(jsonl),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
