/* test_match.c - scores of a few rows against the formula written out, and which rows a query finds. */
#include "tests/support/check.h"

#include "retrieval/rank/match.h"

#include <math.h>

enum { MAX_ROW = 64 };

static myth_mem *mem;
static myth_weights_search w;
static sqlite3 *db;
static uint32_t n_row, n_words[MAX_ROW + 1];

static void run(const char *sql)
{
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
}

static void open_table(void)
{
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(myth_fts_register(db, NULL), MYTH_OK);
    assert_int_equal(myth_match_register(db, mem, NULL), MYTH_OK);
    run(MYTH_FTS_TABLE);
    n_row = 0;
}

/* The next row: a text, then n words that no other row has. */
static void add(const char *body, uint32_t n_filler)
{
    char sql[8192];
    size_t at =
        (size_t)snprintf(sql, sizeof(sql), "INSERT INTO fts(rowid, body, path, names) VALUES(%u, '%s", ++n_row, body);
    n_words[n_row] = *body != '\0';
    for (const char *p = body; *p; p++)
        n_words[n_row] += *p == ' ';
    n_words[n_row] += n_filler;
    for (uint32_t i = 0; i < n_filler; i++)
        at += (size_t)snprintf(sql + at, sizeof(sql) - at, " q%cx%cz", 'a' + (int)n_row % 26, 'a' + (int)i % 26);
    snprintf(sql + at, sizeof(sql) - at, "', '', '')");
    run(sql);
}

typedef struct {
    const char *text;
    uint32_t group;
    double weight;
    myth_term_kind kind;
} asked;

static myth_matches match(const asked *a, uint32_t n, uint32_t max)
{
    static char text[8][32];
    myth_query_term term[8];
    myth_query q = {.kind = MYTH_QUERY_PROSE, .term = term, .n_term = n, .mem = mem};
    myth_matches m;
    myth_error err;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text[i], sizeof(text[i]), "%s", a[i].text);
        term[i] = (myth_query_term){.text = text[i], .group = a[i].group, .weight = a[i].weight, .kind = a[i].kind};
        q.n_group = a[i].group >= q.n_group ? a[i].group + 1 : q.n_group;
    }
    if (myth_match(&m, db, &q, &w, max, false, NULL, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return m;
}

static void forget(myth_matches *m)
{
    const myth_query q = {.mem = mem};
    myth_matches_free(m, &q);
}

/* BM25 of a term that is f times in the body of a row and in df rows. */
static double bm25(uint32_t row, double f, double df)
{
    double sum = 0;
    for (uint32_t i = 1; i <= n_row; i++)
        sum += n_words[i];
    const double idf = log(1 + (n_row - df + 0.5) / (df + 0.5)),
                 norm = w.k1 * (1 - w.b + w.b * n_words[row] / (sum / n_row));
    return idf * f * (w.k1 + 1) / (f + norm);
}

static void expect_row(const myth_matches *m, uint32_t at, uint32_t row, double score)
{
    assert_true(at < m->n_row);
    if (m->row[at].id != row || !(fabs(m->row[at].score - score) < 1e-9 * (1 + score)))
        fail_msg("place %u: row %d with %.12g, expected row %u with %.12g", at, (int)m->row[at].id, m->row[at].score,
                 row, score);
}

static void scores_are_those_of_the_formula(void **state)
{
    (void)state;
    open_table();
    add("alpha beta", 2);
    add("alpha", 20);
    add("alpha alpha alpha", 1);
    add("beta", 3);
    add("", 5);
    myth_matches m = match(&(asked){"alpha", 0, 1, MYTH_TERM_WORD}, 1, 10);
    assert_int_equal(m.n_row, 3);
    expect_row(&m, 0, 3, bm25(3, 3, 3));
    expect_row(&m, 1, 1, bm25(1, 1, 3)); /* shorter than row 2 */
    expect_row(&m, 2, 2, bm25(2, 1, 3));
    forget(&m);

    const asked both[] = {{"alpha", 0, 1, MYTH_TERM_WORD}, {"beta", 1, 0.5, MYTH_TERM_WORD}};
    m = match(both, 2, 10); /* beta is the rarer word, and asked for half as much */
    assert_int_equal(m.n_row, 4);
    for (uint32_t i = 0; i < m.n_row; i++) {
        static const double alpha[] = {0, 1, 1, 3, 0}, beta[] = {0, 1, 0, 0, 1};
        const uint32_t row = (uint32_t)m.row[i].id;
        const double score = (alpha[row] ? bm25(row, alpha[row], 3) : 0) + 0.5 * (beta[row] ? bm25(row, 1, 2) : 0);
        expect_row(&m, i, row, score);
        assert_true(i == 0 || m.row[i - 1].score >= m.row[i].score);
        assert_int_equal(m.row[i].n_group, (alpha[row] > 0) + (beta[row] > 0));
    }
    forget(&m);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Of a word and what may stand for it the better one counts, whichever comes first. */
static void a_group_counts_once(void **state)
{
    (void)state;
    open_table();
    add("alpha gamma", 2);
    add("alpha", 3);
    add("gamma", 3);
    for (uint32_t i = 0; i < 12; i++)
        add("", 4);
    for (int way = 0; way < 4; way++) { /* which of the two is the alternative, and which is named first */
        const int turn = way % 2, is_first = way / 2;
        asked pair[2];
        pair[is_first] = (asked){turn ? "gamma" : "alpha", 0, 1, MYTH_TERM_WORD};
        pair[!is_first] = (asked){turn ? "alpha" : "gamma", 0, 0.6, MYTH_TERM_ALTERNATIVE};
        myth_matches m = match(pair, 2, 10);
        assert_int_equal(m.n_row, 3);
        assert_int_equal(m.n_group, 1);
        expect_row(&m, 0, 1, bm25(1, 1, 2));
        expect_row(&m, 1, turn ? 3 : 2, bm25(2, 1, 2));
        expect_row(&m, 2, turn ? 2 : 3, 0.6 * bm25(3, 1, 2));
        forget(&m);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* More rows than are wanted, all alike: the first ones, in their order. */
static void of_equal_rows_the_first(void **state)
{
    (void)state;
    open_table();
    for (uint32_t i = 0; i < 20; i++)
        add("alpha beta", 0);
    add("", 2);
    for (uint32_t max = 1; max <= 20; max += 6) {
        myth_matches m = match(&(asked){"alpha", 0, 1, MYTH_TERM_WORD}, 1, max);
        assert_int_equal(m.n_row, max);
        for (uint32_t i = 0; i < max; i++)
            assert_int_equal(m.row[i].id, i + 1);
        forget(&m);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Every phrase must be there, its words side by side. */
static void all_phrases_or_none(void **state)
{
    (void)state;
    char first[] = "alpha beta", second[] = "gamma delta", *phrase[] = {first, second};
    const myth_query q = {.kind = MYTH_QUERY_PHRASE, .phrase = phrase, .n_phrase = 2, .mem = mem};
    myth_matches m;
    myth_error err;
    open_table();
    add("alpha beta", 3);
    add("gamma delta", 3);
    add("gamma delta and alpha beta", 3);
    add("alpha gamma beta delta", 3);
    assert_int_equal(myth_match(&m, db, &q, &w, 10, true, NULL, &err), MYTH_OK);
    assert_int_equal(m.n_row, 1);
    assert_int_equal(m.row[0].id, 3);
    myth_matches_free(&m, &q);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A word that is nowhere is taken for one that a slip makes it from, at its price, when it is long enough to tell. */
static void misspelt_words(void **state)
{
    (void)state;
    open_table();
    add("gamma beta", 2);
    add("beta", 4);
    add("", 4);
    add("", 4);
    myth_matches m = match(&(asked){"gamna", 0, 1, MYTH_TERM_WORD}, 1, 10);
    assert_int_equal(m.n_row, 1);
    expect_row(&m, 0, 1, w.mended * bm25(1, 1, 1));
    forget(&m);
    m = match(&(asked){"gmma", 0, 1, MYTH_TERM_WORD}, 1, 10); /* four letters are a slip away from too much */
    assert_int_equal(m.n_row, 0);
    forget(&m);
    m = match(&(asked){"gmana", 0, 1, MYTH_TERM_WORD}, 1, 10); /* two slips */
    assert_int_equal(m.n_row, 0);
    forget(&m);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A table of texts with words drawn at random, the later ones of the alphabet seldom. */
static void open_drawn_table(uint64_t *rng)
{
    open_table();
    for (uint32_t i = 0; i < MAX_ROW; i++) {
        char body[256] = "";
        size_t n = 0;
        for (int k = 0; k < 6; k++)
            if (check_below(rng, 6) >= (uint32_t)k)
                n += (size_t)snprintf(body + n, sizeof(body) - n, "%sword%c", n ? " " : "", 'a' + k);
        add(body, check_below(rng, 2) ? 1 : 300); /* a word in a long row is worth little */
    }
}

/* The best rows are the same whether all rows with a word of the query are scored, as where more are wanted than there
 * are, or only those that can be among the best. */
static void the_best_are_those_of_all(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_fewer = 0;
    for (int round = 0; round < 40; round++) {
        static const char *const word[] = {"worda", "wordb", "wordc", "wordd", "worde", "wordf"};
        asked a[6];
        open_drawn_table(&rng);
        for (uint32_t i = 0; i < 6; i++)
            a[i] = (asked){word[i], i, 1 + check_below(&rng, 4), MYTH_TERM_WORD};
        myth_matches all = match(a, 6, MAX_ROW + 1);
        for (uint32_t max = 1; max <= 4; max++) {
            myth_matches m = match(a, 6, max);
            assert_int_equal(m.n_row, max < all.n_row ? max : all.n_row);
            for (uint32_t i = 0; i < m.n_row; i++)
                expect_row(&m, i, (uint32_t)all.row[i].id, all.row[i].score);
            n_fewer += m.n_seen < all.n_seen;
            forget(&m);
        }
        forget(&all);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
    assert_true(n_fewer > 10);
}

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK && myth_weights_search_set(&w, NULL, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_the_formula),
        cmocka_unit_test(a_group_counts_once),
        cmocka_unit_test(of_equal_rows_the_first),
        cmocka_unit_test(the_best_are_those_of_all),
        cmocka_unit_test(all_phrases_or_none),
        cmocka_unit_test(misspelt_words),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
