/* test_symbol_rows.c - the table `symbols` against the symbols that were stored: every column; searches by name, by
 * file and by a range of ids; nested loops. */
#include "tests/support/check.h"
#include "tests/support/files.h"
#include "retrieval/parse/chunk.h"
#include "retrieval/store/store.h"
#include "retrieval/store/symbol_rows.h"

enum { FILES = 24, SYMBOLS = 40, TEXT = 4000 };

static const char *const words[] = {"open", "close",       "queue_push", "Reader",   "GET /users/{id}",
                                    "x",    "caf\xc3\xa9", "\xff\xfe",   "TEST.one", "read"};
enum { N_WORD = sizeof words / sizeof *words };

static myth_mem *mem;
static myth_store *store;
static myth_chunks files[FILES + 1]; /* by id; without symbols when it is not there */

static int begin(void **state)
{
    (void)state;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    return myth_store_open(&store, mem, files_path("s.db"), false, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_store_close(store);
    for (int i = 0; i <= FILES; i++)
        myth_chunks_free(&files[i], mem);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static uint32_t add_word(myth_chunks *c, const char *word)
{
    uint32_t at = c->n_names;
    memcpy(c->names + at, word, strlen(word) + 1);
    c->n_names += (uint32_t)strlen(word) + 1;
    return at;
}

/* Symbols in order of their place, with everything that a parser may say of them. */
static void make_chunks(myth_chunks *c, uint64_t *rng, uint32_t n)
{
    uint64_t off = 0;
    uint32_t line = 1, word[N_WORD];
    *c = (myth_chunks){.n_chunk = 1, .n_symbol = n};
    c->chunk = myth_alloc(mem, MYTH_MEM_OTHER, "test", sizeof(*c->chunk));
    c->symbol = myth_alloc_n(mem, MYTH_MEM_OTHER, "test", n + 1, sizeof(*c->symbol));
    c->names = myth_alloc(mem, MYTH_MEM_OTHER, "test", 512);
    assert_true(c->chunk && c->symbol && c->names);
    *c->chunk = (myth_chunk){.bytes = TEXT, .line0 = 1, .line1 = 1};
    add_word(c, "");
    for (int i = 0; i < N_WORD; i++)
        word[i] = add_word(c, words[i]);
    for (uint32_t i = 0; i < n; i++) {
        myth_symbol *y = &c->symbol[i];
        off += check_below(rng, 60);
        line += check_below(rng, 5);
        *y = (myth_symbol){
            .name = word[check_below(rng, N_WORD)],
            .parent = check_below(rng, 3) ? 0 : word[check_below(rng, N_WORD)],
            .off = off,
            .bytes = 1 + check_below(rng, 300),
            .line0 = line,
            .line1 = line + check_below(rng, 200),
            .name_line = line,
            .kind = (myth_symbol_kind)check_below(rng, MYTH_SYMBOL_KIND_N),
            .is_exported = check_below(rng, 2),
        };
        y->name_line = y->line0 > 3 ? y->line0 - check_below(rng, 3) : y->line0 + check_below(rng, 4);
        y->signature_off = off > 9 ? off - check_below(rng, 9) : off + check_below(rng, 9);
        y->signature_bytes = check_below(rng, 400);
    }
}

static void put(int64_t id, const myth_chunks *c)
{
    char path[32];
    unsigned char text[TEXT];
    myth_packer *packer;
    myth_packed packed;
    myth_error err;
    snprintf(path, sizeof path, "src/%d.c", (int)id);
    memset(text, 'a', sizeof text);
    myth_store_file f = {.id = id, .path = path, .language = "c", .bytes = TEXT};
    assert_int_equal(myth_packer_open(&packer, mem, NULL, &err), MYTH_OK);
    assert_int_equal(myth_pack(&packed, packer, text, TEXT, c, &err), MYTH_OK);
    if (myth_store_put(store, &f, text, c, &packed, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    myth_packed_free(&packed, mem);
    myth_packer_close(packer);
}

static void same_text(sqlite3_stmt *q, int column, const char *want)
{
    const char *got = (const char *)sqlite3_column_text(q, column);
    if (strcmp(got ? got : "", want) != 0 || (column == 3 && !*want && got))
        fail_msg("column %d: %s, expected %s", column, got ? got : "NULL", want);
}

static const char columns[] = "SELECT id, file_id, name, parent, kind, line0, line1, name_line, off, bytes, "
                              "signature_off, signature_bytes, flags FROM symbols ";

/* The rows of a question are exactly those that were put, in order. */
static uint32_t compare(const char *where, const char *name, int64_t low, int64_t high)
{
    char sql[512];
    sqlite3_stmt *q;
    uint32_t n = 0;
    snprintf(sql, sizeof sql, "%s%s", columns, where);
    assert_int_equal(sqlite3_prepare_v2(myth_store_db(store), sql, -1, &q, NULL), SQLITE_OK);
    if (name)
        sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, low);
    sqlite3_bind_int64(q, 3, high);
    for (int64_t id = 1; id <= FILES; id++)
        for (uint32_t i = 0; i < files[id].n_symbol; i++) {
            const myth_symbol *y = &files[id].symbol[i];
            int64_t own = id * MYTH_SYMBOL_IDS + i;
            if ((name && strcmp(files[id].names + y->name, name) != 0) || own < low || own > high)
                continue;
            assert_int_equal(sqlite3_step(q), SQLITE_ROW);
            same_text(q, 2, files[id].names + y->name);
            same_text(q, 3, files[id].names + y->parent);
            const int64_t want[] = {own,
                                    id,
                                    0,
                                    0,
                                    y->kind,
                                    y->line0,
                                    y->line1,
                                    y->name_line,
                                    (int64_t)y->off,
                                    (int64_t)y->bytes,
                                    (int64_t)y->signature_off,
                                    (int64_t)y->signature_bytes,
                                    y->is_exported ? MYTH_SYMBOL_EXPORTED : 0};
            for (int k = 0; k < 13; k++)
                if (k != 2 && k != 3)
                    assert_int_equal(sqlite3_column_int64(q, k), want[k]);
            n++;
        }
    assert_int_equal(sqlite3_step(q), SQLITE_DONE);
    sqlite3_finalize(q);
    return n;
}

static void all_ways_agree(void)
{
    uint32_t n = 0;
    const int64_t all = INT64_MAX;
    for (int i = 0; i < N_WORD; i++)
        n += compare("WHERE name=?1 ORDER BY id", words[i], 0, all);
    assert_int_equal(n, compare("ORDER BY id", NULL, 0, all));
    assert_int_equal(compare("WHERE name=?1", "ope", 0, all), 0);
    assert_int_equal(compare("WHERE name=?1", "", 0, all), 0);
    for (int64_t id = 1; id <= FILES; id++) {
        const int64_t first = id * MYTH_SYMBOL_IDS, last = first + MYTH_SYMBOL_IDS - 1;
        assert_int_equal(compare("WHERE id BETWEEN ?2 AND ?3 ORDER BY id", NULL, first, last), files[id].n_symbol);
        compare("WHERE file_id=?2 >> 20 ORDER BY id", NULL, first, last);
        compare("WHERE name=?1 AND file_id=?2 >> 20", words[0], first, last);
        compare("WHERE id=?2", NULL, first + 1, first + 1);
        compare("WHERE id>=?2 AND id<=?3 ORDER BY id", NULL, first + 3, last + MYTH_SYMBOL_IDS);
    }
}

/* A name's rows inside a walk over all rows: the walk goes on where it was. */
static void a_loop_in_a_loop(void)
{
    sqlite3_stmt *outer, *inner;
    uint64_t n_pair = 0, want = 0, n[N_WORD] = {0};
    assert_int_equal(sqlite3_prepare_v2(myth_store_db(store), "SELECT name FROM symbols", -1, &outer, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(myth_store_db(store), "SELECT id FROM symbols WHERE name=?1", -1, &inner, NULL),
                     SQLITE_OK);
    while (sqlite3_step(outer) == SQLITE_ROW) {
        sqlite3_bind_value(inner, 1, sqlite3_column_value(outer, 0));
        while (sqlite3_step(inner) == SQLITE_ROW)
            n_pair++;
        sqlite3_reset(inner);
    }
    sqlite3_finalize(inner);
    sqlite3_finalize(outer);
    for (int64_t id = 1; id <= FILES; id++)
        for (uint32_t i = 0; i < files[id].n_symbol; i++)
            for (int k = 0; k < N_WORD; k++)
                n[k] += strcmp(files[id].names + files[id].symbol[i].name, words[k]) == 0;
    for (int k = 0; k < N_WORD; k++)
        want += n[k] * n[k];
    assert_int_equal(n_pair, want);
}

static uint32_t n_problem;
static void count_problem(void *arg, const char *line)
{
    (void)arg, (void)line;
    n_problem++;
}

static void is_whole(uint32_t want)
{
    n_problem = 0;
    assert_int_equal(myth_symbol_rows_check(store, count_problem, NULL, NULL), MYTH_OK);
    assert_int_equal(n_problem, want);
}

static void rows_are_what_was_put(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    assert_int_equal(myth_store_begin(store, NULL), MYTH_OK);
    for (int64_t id = 1; id <= FILES; id++) {
        make_chunks(&files[id], &rng, id % 5 == 0 ? 0 : check_below(&rng, SYMBOLS));
        put(id, &files[id]);
    }
    assert_int_equal(myth_store_commit(store, NULL), MYTH_OK);
    all_ways_agree();
    a_loop_in_a_loop();
    is_whole(0);
}

static void files_come_and_go(void **state)
{
    (void)state;
    uint64_t rng = check_seed() + 1;
    for (int round = 0; round < 20; round++) {
        assert_int_equal(myth_store_begin(store, NULL), MYTH_OK);
        bool is_kept = check_below(&rng, 4) != 0;
        for (int64_t id = 1 + check_below(&rng, 4); id <= FILES; id += 1 + check_below(&rng, 8)) {
            myth_chunks c = {0};
            assert_int_equal(myth_store_drop(store, id, false, NULL), MYTH_OK);
            bool comes_back = check_below(&rng, 3) != 0;
            if (comes_back) {
                make_chunks(&c, &rng, check_below(&rng, SYMBOLS));
                put(id, &c);
            }
            if (comes_back && check_below(&rng, 4) == 0) { /* and goes within the same transaction */
                assert_int_equal(myth_store_drop(store, id, false, NULL), MYTH_OK);
                myth_chunks_free(&c, mem);
            }
            if (is_kept) {
                myth_chunks_free(&files[id], mem);
                files[id] = c;
            } else
                myth_chunks_free(&c, mem);
        }
        if (is_kept)
            assert_int_equal(myth_store_commit(store, NULL), MYTH_OK);
        else
            myth_store_rollback(store);
        all_ways_agree();
        is_whole(0);
    }
}

/* A name too few, one too many, bytes that are no row: each is said. */
static void damage_is_seen(void **state)
{
    (void)state;
    sqlite3 *db = myth_store_db(store);
    sqlite3_stmt *q;
    assert_int_equal(
        sqlite3_exec(db, "BEGIN; DELETE FROM names WHERE (key, file_id)=(SELECT key, file_id FROM names LIMIT 1)", NULL,
                     NULL, NULL),
        SQLITE_OK);
    is_whole(2);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK; BEGIN; INSERT INTO names VALUES(7, 3)", NULL, NULL, NULL), SQLITE_OK);
    is_whole(1);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK; BEGIN; UPDATE definitions SET n=n+1", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM symbols", -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_CORRUPT);
    sqlite3_finalize(q);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    is_whole(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_what_was_put), cmocka_unit_test(files_come_and_go),
                                       cmocka_unit_test(damage_is_seen)};
    return cmocka_run_group_tests(tests, begin, end);
}
