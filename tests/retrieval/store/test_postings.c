/* test_postings.c - rows read from the pages of the full-text index against FTS5's own answers, over generated
 * tables with many segments, deletions, and positions that continue on the next page. Pages with flipped bytes must
 * give an answer or an error. */
#include "tests/support/check.h"
#include "retrieval/store/postings.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_WORD = 60, TEXT_BYTES = 1 << 16 };

static myth_mem *mem;
static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

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

static void run(sqlite3 *db, const char *sql)
{
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
}

/* ---- the oracle: FTS5's own phrase iterator ---- */

typedef struct {
    myth_posting *row;
    uint32_t n, cap;
} list;

static void keep(list *l, const myth_posting *one)
{
    if (l->n == l->cap)
        l->row = realloc(l->row, (l->cap = 2 * l->cap + 64) * sizeof *l->row);
    l->row[l->n++] = *one;
}

static void see(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int n_arg, sqlite3_value **arg)
{
    myth_posting one = {.row = (uint32_t)api->xRowid(fts)};
    Fts5PhraseIter it;
    int col, off;
    (void)n_arg;
    for (api->xPhraseFirst(fts, 0, &it, &col, &off); col >= 0; api->xPhraseNext(fts, &it, &col, &off))
        one.count[col]++;
    keep(sqlite3_value_pointer(arg[0], "list"), &one);
    sqlite3_result_int(ctx, 0);
}

static sqlite3 *open_table(int page_bytes)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    fts5_api *api = NULL;
    char sql[128];
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(myth_fts_register(db, NULL), MYTH_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_pointer(s, 1, (void *)&api, "fts5_api_ptr", NULL);
    sqlite3_step(s);
    sqlite3_finalize(s);
    assert_int_equal(api->xCreateFunction(api, "see", NULL, see, NULL), SQLITE_OK);
    run(db, MYTH_FTS_TABLE);
    snprintf(sql, sizeof sql, "INSERT INTO fts(fts, rank) VALUES('pgsz', %d)", page_bytes);
    run(db, sql);
    return db;
}

static void word(char *dst, uint32_t i)
{
    sprintf(dst, i % 3 ? "word%c%c " : "longer_name_%c%c_%u ", 'a' + (int)i % 26, 'a' + (int)i / 26, i);
}

/* A text of the row, the same whenever it is asked for: the first words are in nearly all rows, some rows have one of
 * them a thousand times. */
static void text_of(char *dst, uint32_t row, uint32_t version, uint32_t column)
{
    uint64_t before = seed;
    seed = row * 977u + version * 31u + column;
    uint32_t n = column == MYTH_FTS_BODY ? 3 + draw(60) : 1 + draw(4),
             often = draw(40) == 0 && column == MYTH_FTS_BODY ? 1000 : 1;
    *dst = '\0';
    for (uint32_t i = 0; i < n; i++) {
        uint32_t w = draw(3) ? draw(N_WORD / 10) : draw(N_WORD);
        for (uint32_t k = 0; k < (i == 0 ? often : 1); k++, dst += strlen(dst))
            word(dst, w);
    }
    seed = before;
}

static void write_row(sqlite3 *db, uint32_t row, uint32_t version, bool is_delete)
{
    static char text[MYTH_FTS_COLUMN_N][TEXT_BYTES];
    sqlite3_stmt *s;
    const char *sql = is_delete ? "INSERT INTO fts(fts, rowid, body, path, names) VALUES('delete', ?1, ?2, ?3, ?4)"
                                : "INSERT INTO fts(rowid, body, path, names) VALUES(?1, ?2, ?3, ?4)";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_int(s, 1, (int)row);
    for (uint32_t c = 0; c < MYTH_FTS_COLUMN_N; c++) {
        text_of(text[c], row, version, c);
        sqlite3_bind_text(s, 2 + (int)c, text[c], -1, SQLITE_STATIC);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
}

/* Rows put, put anew and taken away, in several transactions: each leaves a segment until FTS5 merges some. */
static sqlite3 *make_table(uint32_t n_row, uint32_t n_update, int page_bytes)
{
    sqlite3 *db = open_table(page_bytes);
    uint32_t *version = calloc(n_row + 1, sizeof *version); /* 0: not there */
    run(db, "BEGIN");
    for (uint32_t row = 1; row <= n_row; row++)
        if (draw(10))
            write_row(db, row, version[row] = 1, false);
    run(db, "COMMIT");
    for (uint32_t u = 0; u < n_update; u++) {
        run(db, "BEGIN");
        for (uint32_t i = 0; i < 1 + n_row / 50; i++) {
            uint32_t row = 1 + draw(n_row);
            if (version[row])
                write_row(db, row, version[row], true);
            uint32_t next = draw(3) ? version[row] + 1 : 0;
            if (next)
                write_row(db, row, next, false);
            version[row] = next;
        }
        run(db, "COMMIT");
    }
    free(version);
    return db;
}

static myth_status keep_row(void *arg, const myth_posting *one)
{
    keep(arg, one);
    return MYTH_OK;
}

typedef struct {
    char token[4 * N_WORD][MYTH_WORD_BYTES];
    uint32_t n;
} vocabulary;

static void keep_token(void *arg, const char *token, size_t n)
{
    vocabulary *v = arg;
    for (uint32_t i = 0; i < v->n; i++)
        if (strlen(v->token[i]) == n && memcmp(v->token[i], token, n) == 0)
            return;
    assert_true(v->n < sizeof v->token / sizeof *v->token && n < MYTH_WORD_BYTES);
    memcpy(v->token[v->n], token, n);
    v->token[v->n++][n] = '\0';
}

static void same_as_fts5(sqlite3 *db)
{
    myth_error err = {0};
    myth_postings *p;
    vocabulary v = {.n = 0};
    sqlite3_stmt *s, *vocab;
    if (myth_postings_open(&p, mem, db, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(myth_postings_tokens(p, "", 0, keep_token, &v, &err), MYTH_OK);
    run(db, "CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, fts, 'row')");
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT see(fts, ?2) FROM fts WHERE fts MATCH ?1 ORDER BY rowid", -1, &s, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT term, doc FROM temp.v", -1, &vocab, NULL), SQLITE_OK);
    while (sqlite3_step(vocab) == SQLITE_ROW) {
        const char *token = (const char *)sqlite3_column_text(vocab, 0);
        uint32_t at = 0;
        while (at < v.n && strcmp(v.token[at], token) != 0)
            at++;
        if (at == v.n)
            fail_msg("%s is not among the words", token);
        char quoted[2 * MYTH_WORD_BYTES];
        list want = {0}, got = {0};
        size_t n = myth_fts_quote(quoted, sizeof quoted, token, strlen(token));
        sqlite3_bind_text(s, 1, quoted, (int)n, SQLITE_TRANSIENT);
        sqlite3_bind_pointer(s, 2, &want, "list", NULL);
        while (sqlite3_step(s) == SQLITE_ROW)
            ;
        assert_int_equal(sqlite3_reset(s), SQLITE_OK);
        myth_postings_word w;
        int64_t n_row = -1;
        assert_int_equal(myth_postings_find(p, token, strlen(token), &w, &err), MYTH_OK);
        if (myth_postings_walk(p, &w, keep_row, &got, &err) != MYTH_OK ||
            myth_postings_count(p, &w, &n_row, &err) != MYTH_OK)
            fail_msg("%s: %s", token, err.msg);
        if (got.n != want.n || n_row != want.n || n_row != sqlite3_column_int64(vocab, 1))
            fail_msg("%s: %u rows read, %lld counted, FTS5 has %u", token, got.n, (long long)n_row, want.n);
        for (uint32_t i = 0; i < got.n; i++)
            if (memcmp(&got.row[i], &want.row[i], sizeof *got.row) != 0)
                fail_msg("%s: row %u, FTS5 has %u, or other counts", token, got.row[i].row, want.row[i].row);
        free(got.row);
        free(want.row);
    }
    sqlite3_finalize(vocab);
    sqlite3_finalize(s);
    run(db, "DROP TABLE temp.v");
    static const char *const absent[] = {"aaa", "word", "wordaaa", "zzz", "longer_name_", "0", "\xff"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        myth_postings_word w;
        int64_t n_row = -1;
        assert_int_equal(myth_postings_find(p, absent[i], strlen(absent[i]), &w, &err), MYTH_OK);
        assert_int_equal(myth_postings_count(p, &w, &n_row, &err), MYTH_OK);
        assert_true(n_row == 0 || strcmp(absent[i], "word") == 0); /* a part of word_ab is the word itself */
    }
    myth_postings_close(p);
}

static void rows_are_those_of_fts5(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_row, n_update;
        int page_bytes;
    } table[] = {
        {1, 0, 4040}, {300, 0, 4040}, {300, 5, 64}, {300, 40, 128}, {2000, 20, 512}, {2000, 3, 4040},
    };
    seed = 1;
    uint32_t n_round = check_is_full() ? 20 : 1;
    for (uint32_t round = 0; round < n_round; round++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            sqlite3 *db = make_table(table[i].n_row, table[i].n_update, table[i].page_bytes);
            same_as_fts5(db);
            if (i % 2) {
                run(db, "INSERT INTO fts(fts) VALUES('optimize')");
                same_as_fts5(db);
            }
            sqlite3_close(db);
        }
}

static void lengths_are_those_written(void **state)
{
    (void)state;
    seed = 2;
    sqlite3 *db = make_table(50, 3, 4040);
    sqlite3_stmt *s;
    myth_postings *p;
    double sum = 0;
    uint32_t n = 0;
    assert_int_equal(myth_postings_open(&p, mem, db, NULL), MYTH_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT id FROM fts_docsize", -1, &s, NULL), SQLITE_OK);
    for (; sqlite3_step(s) == SQLITE_ROW; n++) {
        uint32_t n_words = 0;
        assert_int_equal(myth_postings_length(p, (uint32_t)sqlite3_column_int64(s, 0), &n_words, NULL), MYTH_OK);
        assert_true(n_words > 0);
        sum += n_words;
    }
    sqlite3_finalize(s);
    const myth_postings_total *all = myth_postings_total_of(p);
    assert_true(all->n_row == n && (double)(all->n_words[0] + all->n_words[1] + all->n_words[2]) == sum);
    uint32_t none;
    assert_int_equal(myth_postings_length(p, 1000000, &none, NULL), MYTH_EFORMAT);
    myth_postings_close(p);
    sqlite3_close(db);
}

/* Rows ascend also where the bytes say otherwise: callers trust that. */
static myth_status look(void *arg, const myth_posting *one)
{
    uint64_t *last = arg;
    assert_true(*last == 0 || one->row > *last);
    *last = one->row;
    return MYTH_OK;
}

/* Every byte may be anything: an answer or MYTH_EFORMAT, and an end. */
static void flipped_bytes_end_in_an_error(void **state)
{
    (void)state;
    seed = 3;
    sqlite3 *db = make_table(200, 6, 256);
    sqlite3_stmt *ids, *put;
    int64_t id[512];
    uint32_t n_id = 0, n_bad = 0, n_round = check_is_full() ? 100000 : 3000;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT id FROM fts_data", -1, &ids, NULL), SQLITE_OK);
    while (sqlite3_step(ids) == SQLITE_ROW && n_id < 512)
        id[n_id++] = sqlite3_column_int64(ids, 0);
    sqlite3_finalize(ids);
    assert_int_equal(sqlite3_prepare_v2(db, "UPDATE fts_data SET block = ?2 WHERE id = ?1", -1, &put, NULL), SQLITE_OK);
    for (uint32_t round = 0; round < n_round; round++) {
        sqlite3_blob *blob;
        unsigned char page[4096], whole[4096];
        int64_t at = id[draw(n_id)];
        assert_int_equal(sqlite3_blob_open(db, "main", "fts_data", "block", at, 0, &blob), SQLITE_OK);
        int n = sqlite3_blob_bytes(blob);
        assert_true(n > 0 && n <= (int)sizeof page);
        assert_int_equal(sqlite3_blob_read(blob, whole, n, 0), SQLITE_OK);
        sqlite3_blob_close(blob);
        memcpy(page, whole, sizeof page);
        for (uint32_t k = 0; k <= draw(3); k++)
            page[draw((uint32_t)n)] = (unsigned char)draw(256);
        for (int turn = 0; turn < 2; turn++) {
            sqlite3_bind_int64(put, 1, at);
            sqlite3_bind_blob(put, 2, turn ? whole : page, turn == 0 && draw(8) == 0 ? (int)draw((uint32_t)n) : n,
                              SQLITE_STATIC);
            assert_int_equal(sqlite3_step(put), SQLITE_DONE);
            sqlite3_reset(put);
            if (turn)
                break;
            myth_postings *p;
            myth_error err = {0};
            myth_status st = myth_postings_open(&p, mem, db, &err);
            vocabulary *v = calloc(1, sizeof *v);
            for (uint32_t i = 0; i < 8 && st == MYTH_OK; i++) {
                myth_postings_word w;
                int64_t n_row;
                uint64_t last = 0;
                char token[MYTH_WORD_BYTES];
                word(token, draw(N_WORD));
                st = myth_postings_find(p, token, strlen(token) - 1, &w, &err);
                st = st == MYTH_OK ? myth_postings_count(p, &w, &n_row, &err) : st;
                st = st == MYTH_OK ? myth_postings_walk(p, &w, look, &last, &err) : st;
            }
            if (st != MYTH_OK && st != MYTH_EFORMAT && st != MYTH_EUNSUPPORTED)
                fail_msg("status %d: %s", st, err.msg);
            n_bad += st != MYTH_OK;
            free(v);
            myth_postings_close(p);
        }
    }
    assert_true(n_bad > n_round / 50);
    sqlite3_finalize(put);
    same_as_fts5(db);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_fts5),
        cmocka_unit_test(lengths_are_those_written),
        cmocka_unit_test(flipped_bytes_end_in_an_error),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
