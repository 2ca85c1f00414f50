/* test_planted_rows.c - an index with correct checksums and hostile rows: every column of every table gets values
 * that no update writes, then everything that reads an index runs. A reader must answer, find nothing, or report
 * damage; the next update must succeed, with a new database if needed.
 *
 * Values   NULL, other types, numbers at the borders of 31, 43, 62 and 63 bits, ids of files that do not exist
 * Blobs    compressed rows (symbols, uses, links, facts, ranks) of random numbers, in valid frames
 * Hangs    a case that takes a minute ends the program, which names it */
#include "index_tree.h"
#include "retrieval/map/repomap.h"
#include "retrieval/map/summaries.h"
#include "retrieval/names/usage.h"
#include "retrieval/rank/topic.h"
#include "retrieval/store/page_vfs.h"

#include <signal.h>
#include <zstd.h>

enum { HANG_SECONDS = 60 };

static myth_mem *mem;
static char now[256]; /* the case at hand */
static unsigned char *whole;
static size_t n_whole;
static uint32_t n_case, n_refused, n_rebuilt;

static void hangs(int sig)
{
    (void)sig;
    static const char what[] = "this case does not end: ";
    if (write(2, what, sizeof(what) - 1) < 0 || write(2, now, strlen(now)) < 0 || write(2, "\n", 1) < 0)
        _exit(2);
    _exit(1);
}

static void make_files(void)
{
    files_mkdir("p");
    files_mkdir("p/src");
    files_text("p/src/parse.h",
               "#pragma once\nint parse_buffer(const char *text, int n);\nstruct buffer { int n; };\n");
    files_text("p/src/parse.c",
               "#include \"parse.h\"\n\n/* Parses a buffer. */\nint parse_buffer(const char *text, int "
               "n)\n{\n    return n > 0 ? text[0] : system(text);\n}\n\nstatic int helper(int a)\n{\n   "
               " return parse_buffer(\"x\", a);\n}\n");
    files_text("p/src/test_parse.c",
               "#include \"parse.h\"\n\nint test_parse(void)\n{\n    return parse_buffer(\"\", 0) "
               "== 0;\n}\n");
    files_text("p/tool.py", "import os\nfrom src import parse\n\n\ndef main(path):\n    \"\"\"Counts the buffer of a "
                            "file.\"\"\"\n    return parse.parse_buffer(os.read(path))\n");
    files_text("p/README.md", "# Parsing\n\nThe parser reads a buffer of text.\n");
    files_text("p/changed.txt", "the buffer of the parser\n");
}

enum { READ_ONLY = 1, WITH_WORKER = 2, REBUILD = 4 };
static myth_status open_it(myth_index **x, int how, myth_error *err)
{
    myth_index_opts opts = {
        .root = files_path("p"),
        .path = files_path("p.db"),
        .worker_path = how & WITH_WORKER ? getenv("MYTHOS_BIN") : NULL,
        .n_threads = 1,
        .is_read_only = (how & READ_ONLY) != 0,
        .rebuild = (how & REBUILD) != 0,
    };
    return myth_index_open(x, mem, &opts, err);
}

static void put_file(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(files_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void keep_whole(void)
{
    FILE *f = fopen(files_path("p.db"), "rb");
    assert_non_null(f);
    whole = malloc(1 << 24);
    n_whole = fread(whole, 1, 1 << 24, f);
    fclose(f);
    assert_true(n_whole > 4096 && n_whole < 1 << 24);
}

/* ---- planting ---- */

static sqlite3 *raw_open(void)
{
    sqlite3 *db;
    assert_int_equal(myth_page_vfs_register(NULL), MYTH_OK);
    assert_int_equal(sqlite3_open_v2(files_path("p.db"), &db, SQLITE_OPEN_READWRITE, MYTH_PAGE_VFS), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA synchronous=OFF", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void restore(void)
{
    index_remove("p.db");
    put_file("p.db", whole, n_whole);
}

/* False: SQLite itself does not take the value there. `q` is stepped once and finalized. */
static bool ran(sqlite3_stmt *q)
{
    const int rc = sqlite3_step(q);
    sqlite3_finalize(q);
    return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

/* The constraints of our own schema bind nobody who writes the file. */
static void allow_nulls(bool is_allowed)
{
    sqlite3 *db = raw_open();
    assert_int_equal(sqlite3_exec(db, "PRAGMA writable_schema=ON", NULL, NULL, NULL), SQLITE_OK);
    const char *sql = is_allowed ? "UPDATE sqlite_schema SET sql=replace(sql, 'BLOB NOT NULL UNIQUE', 'BLOB UNIQUE')"
                                 : "UPDATE sqlite_schema SET sql=replace(sql, 'BLOB UNIQUE', 'BLOB NOT NULL UNIQUE')";
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static bool plant(const char *table, const char *column, const char *value, const char *where)
{
    char sql[512];
    const bool is_bound = strcmp(column, "path") == 0; /* by a constraint of the schema */
    restore();
    if (is_bound)
        allow_nulls(true);
    sqlite3 *db = raw_open();
    sqlite3_stmt *q = NULL;
    snprintf(sql, sizeof(sql), "UPDATE %.40s SET %.40s=%.80s WHERE %.200s", table, column, value, where);
    bool is_there = sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK;
    is_there = is_there ? ran(q) : false;
    is_there = is_there && sqlite3_changes(db) > 0;
    sqlite3_close(db);
    if (is_bound)
        allow_nulls(false);
    snprintf(now, sizeof(now), "%.100s", sql);
    return is_there;
}

/* ---- readers ---- */

static bool go_on(void *arg, const myth_repomap_file *f)
{
    (void)arg;
    return f->path != NULL;
}

static myth_status count_bytes(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err)
{
    (void)arg, (void)text, (void)err;
    *n_token = n / 4;
    return MYTH_OK;
}

static void drop_line(void *arg, const char *line) { (void)arg, (void)line; }

static void expect(const char *reader, myth_status st, const myth_error *err)
{
    n_refused += st == MYTH_EFORMAT;
    if (st == MYTH_ENOMEM && strstr(now, "fts_data")) /* FTS5 believes a length of its own pages, and asks for it */
        return;
    if (st != MYTH_OK && st != MYTH_EFORMAT && st != MYTH_ENOTFOUND)
        fail_msg("%s: %s: status %d: %s", now, reader, (int)st, err->msg);
}

static void read_map(myth_index *x, const char *query)
{
    myth_error err = {0};
    myth_repomap *m = NULL;
    myth_repomap_page page = {0};
    const myth_repomap_opts opts = {.query = query, .with_summaries = true};
    const myth_repomap_budget budget = {.count = count_bytes, .max_token = 500};
    myth_status st = myth_repomap_open(&m, mem, x, &opts, &err);
    if (st == MYTH_OK)
        st = myth_repomap_each(m, go_on, NULL, &err);
    if (st == MYTH_OK)
        st = myth_repomap_text(&page, m, &budget, &err);
    expect(query ? "map for a query" : "map", st, &err);
    myth_repomap_page_free(&page, mem);
    myth_repomap_close(m);
}

static void read_search(myth_index *x, const char *query, myth_search_mode mode)
{
    myth_error err = {0};
    myth_hits hits = {0};
    const myth_search_opts opts = {.query = query, .mode = mode, .k = 10, .with_text = true};
    expect("search", myth_search(&hits, x, &opts, &err), &err);
    myth_hits_free(&hits);
}

static void read_names(myth_index *x)
{
    myth_error err = {0};
    myth_usage usage = {0};
    myth_usage_around around;
    myth_near near[4];
    uint32_t n = 0;
    bool is_found;
    expect("symbols", myth_usage_find_all(&usage, x, "parse_buffer", NULL, &err), &err);
    myth_usage_free(&usage);
    expect("around", myth_usage_around_line(&around, &is_found, x, "src/parse.c", 5, &err), &err);
    expect("nearest", myth_usage_nearest(near, 4, &n, x, "parse_bufer", &err), &err);
}

static void read_topic(myth_index *x)
{
    myth_error err = {0};
    myth_hits hits = {0};
    uint32_t n_taken = 0;
    const myth_search_opts opts = {.query = "how does the parser read a buffer"};
    expect("topic", myth_topic(&hits, &n_taken, x, &opts, 5, &err), &err);
    myth_hits_free(&hits);
}

static void read_all(void)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_stats stats;
    uint64_t n_problem;
    alarm(HANG_SECONDS);
    myth_status st = open_it(&x, READ_ONLY, &err);
    expect("open", st, &err);
    if (st == MYTH_OK) {
        read_search(x, "parse buffer parser", MYTH_SEARCH_RANKED);
        read_search(x, "parse_buffer", MYTH_SEARCH_RANKED);
        read_search(x, "\"buffer of the parser\"", MYTH_SEARCH_PHRASE);
        read_search(x, "parse_bufer parsre", MYTH_SEARCH_RANKED);
        read_topic(x);
        read_names(x);
        read_map(x, NULL);
        read_map(x, "buffer");
        expect("last", myth_index_last(x, &stats, &err), &err);
        expect("check", myth_index_check(x, drop_line, NULL, &n_problem, &err), &err);
    }
    myth_index_close(x);
    alarm(0);
}

/* A file has changed, so that rows are dropped and put; then the index is whole enough to be searched. */
static void update_it(void)
{
    static unsigned n;
    char text[64];
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_stats stats;
    uint64_t n_problem = 0;
    snprintf(text, sizeof(text), "the buffer of the parser, %*s.\n", (int)(++n % 7) + 1, "again");
    files_text("p/changed.txt", text);
    alarm(HANG_SECONDS);
    myth_status st = open_it(&x, 0, &err);
    if (st == MYTH_OK)
        st = myth_index_update(x, NULL, &stats, &err);
    if (st == MYTH_ENOMEM && strstr(now, "fts_data")) { /* as in expect; the remedy helps */
        myth_index_close(x);
        st = open_it(&x, REBUILD, &err);
        st = st == MYTH_OK ? myth_index_update(x, NULL, &stats, &err) : st;
    }
    if (st != MYTH_OK)
        fail_msg("%s: the update fails: %s", now, err.msg);
    if (stats.rebuilt[0]) {
        n_rebuilt++;
        st = myth_index_check(x, fail_line, now, &n_problem, &err);
        if (st != MYTH_OK || n_problem)
            fail_msg("%s: made anew, and damaged: %s", now, err.msg);
    }
    myth_index_close(x);
    alarm(0);
}

static void try_case(const char *table, const char *column, const char *value, const char *where)
{
    if (!plant(table, column, value, where))
        return;
    n_case++;
    read_all();
    update_it();
}

/* ---- tests ---- */

static int begin(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_index *x = NULL;
    myth_repomap *m = NULL;
    signal(SIGALRM, hangs);
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    make_files();
    assert_int_equal(open_it(&x, WITH_WORKER, &err), MYTH_OK);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_OK);
    assert_int_equal(myth_repomap_open(&m, mem, x, NULL, &err), MYTH_OK);
    myth_repomap_close(m);
    assert_int_equal(myth_repomap_put_summary(x, "tool.py", "counts the buffer of a file", &err), MYTH_OK);
    assert_int_equal(sqlite3_exec(myth_store_db(myth_index_store(x)), "INSERT INTO history SELECT id, 1, 1 FROM files",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    myth_index_close(x);
    keep_whole();
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(whole);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static const char *const value[] = {
    "NULL",
    "'a text'",
    "''",
    "x'00ff41'",
    "x''",
    "-1",
    "0",
    "77",
    "2147483648",
    "4294967295",
    "8796093022207",
    "8796093022208",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775807-1",
    "1e300",
};
enum { N_VALUE = sizeof(value) / sizeof(value[0]) };

static void every_column(void **state)
{
    (void)state;
    static const char *const table[] = {"files",   "chunks",   "definitions", "names",       "refs",      "history",
                                        "commits", "blocks",   "facts",       "links",       "ranks",     "summaries",
                                        "meta",    "fts_data", "fts_idx",     "fts_docsize", "fts_config"};
    for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++) { /* all, before any is changed */
        char sql[128];
        sqlite3_stmt *q;
        restore();
        sqlite3 *db = raw_open();
        snprintf(sql, sizeof(sql), "SELECT name, pk FROM pragma_table_info('%s') ORDER BY pk DESC", table[t]);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
        char key[32] = "", column[16][32];
        int n_column = 0;
        while (sqlite3_step(q) == SQLITE_ROW && n_column < 16) {
            snprintf(column[n_column++], 32, "%s", (const char *)sqlite3_column_text(q, 0));
            if (sqlite3_column_int(q, 1) == 1)
                snprintf(key, sizeof(key), "%s", (const char *)sqlite3_column_text(q, 0));
        }
        sqlite3_finalize(q);
        assert_true(n_column > 0 && key[0]);
        snprintf(sql, sizeof(sql), "SELECT count(DISTINCT %s) FROM %s", key, table[t]);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(q), SQLITE_ROW);
        int n_row = sqlite3_column_int(q, 0);
        sqlite3_finalize(q);
        sqlite3_close(db);
        if (n_row == 0 && strcmp(table[t], "commits") != 0)
            fail_msg("%s has no rows: nothing is tried", table[t]);
        const bool is_each = strcmp(table[t], "meta") == 0 || strcmp(table[t], "fts_data") == 0;
        for (int row = is_each ? 0 : n_row / 2; row < (is_each ? n_row : n_row / 2 + 1); row++)
            for (int c = 0; c < n_column; c++)
                for (int v = 0; v < N_VALUE; v++) {
                    char where[160];
                    if (is_each && !check_is_full() && v % 3 != row % 3)
                        continue;
                    snprintf(where, sizeof(where), "%s=(SELECT DISTINCT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %d)", key,
                             key, table[t], key, row);
                    try_case(table[t], column[c], value[v], where);
                }
    }
    print_message("%u cases, %u answers that say damage, %u updates that made the index anew\n", n_case, n_refused,
                  n_rebuilt);
    assert_true(n_case > 300 && n_refused > 100 && n_rebuilt > 30);
}

/* ---- packed rows ---- */

static void put_random(bytes *b, uint64_t *rng)
{
    uint32_t n = 1 + check_below(rng, 60);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = check_rand(rng) >> (check_below(rng, 3) ? 58 : check_below(rng, 64));
        for (; v >= 0x80; v >>= 7)
            bytes_uint(b, v | 0x80, 1);
        bytes_uint(b, v, 1);
        if (check_below(rng, 4) == 0)
            bytes_put(b, "name", 5);
    }
}

static void packed_rows(void **state)
{
    (void)state;
    static const struct {
        const char *table, *column, *n;
        bool is_frame;
    } blob[] = {{"definitions", "data", "n", true}, {"refs", "data", "n", true},       {"links", "data", NULL, false},
                {"facts", "data", NULL, false},     {"ranks", "data", NULL, false},    {"blocks", "data", NULL, true},
                {"fts_data", "block", NULL, false}, {"fts_docsize", "sz", NULL, false}};
    enum { N_BLOB = sizeof(blob) / sizeof(blob[0]) };
    uint64_t rng = check_seed();
    const uint32_t n = check_is_full() ? 3000 : check_sample(480);
    for (uint32_t i = 0; i < n; i++) {
        char sql[256];
        const uint32_t k = i % N_BLOB;
        bytes b = {0};
        put_random(&b, &rng);
        unsigned char frame[4096];
        size_t n_frame = blob[k].is_frame ? ZSTD_compress(frame, sizeof(frame), b.data, b.len, 1) : 0;
        assert_false(ZSTD_isError(n_frame));
        restore();
        sqlite3 *db = raw_open();
        sqlite3_stmt *q = NULL;
        snprintf(sql, sizeof(sql),
                 "UPDATE %s SET %s=?1%s%s%s WHERE rowid=(SELECT rowid FROM %s ORDER BY rowid LIMIT 1 "
                 "OFFSET ?2 %% (SELECT count(*) FROM %s))",
                 blob[k].table, blob[k].column, blob[k].n ? ", " : "", blob[k].n ? blob[k].n : "",
                 blob[k].n ? "=1 + ?2 % 5" : "", blob[k].table, blob[k].table);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
        sqlite3_bind_blob64(q, 1, blob[k].is_frame ? frame : b.data, blob[k].is_frame ? n_frame : b.len,
                            SQLITE_TRANSIENT);
        sqlite3_bind_int64(q, 2, check_below(&rng, 1000));
        assert_true(ran(q));
        sqlite3_close(db);
        snprintf(now, sizeof(now), "case %u of packed rows, %s", i, blob[k].table);
        bytes_free(&b);
        read_all();
        update_it();
    }
}

/* Triggers and views, under names that look like SQLite's own. */
static void planted_schema(void **state)
{
    (void)state;
    static const char *const sql[] = {
        "CREATE TRIGGER sqliteXfoo AFTER INSERT ON files BEGIN DELETE FROM files; END",
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM files; END",
        "CREATE VIEW fts_view AS SELECT * FROM files",
        "CREATE TABLE fts_other(a)",
        "CREATE INDEX i ON files(language)",
        ("PRAGMA writable_schema=ON; INSERT INTO sqlite_schema VALUES('view', 'sqlite_v', 'sqlite_v', 0, 'CREATE VIEW "
         "sqlite_v AS SELECT 1')"),
    };
    for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++) {
        myth_error err = {0};
        myth_index *x = NULL;
        restore();
        sqlite3 *db = raw_open();
        assert_int_equal(sqlite3_exec(db, sql[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        snprintf(now, sizeof(now), "%.200s", sql[i]);
        if (open_it(&x, READ_ONLY, &err) != MYTH_EFORMAT)
            fail_msg("%s: is believed", sql[i]);
        assert_int_equal(err.remedy, MYTH_REMEDY_REBUILD_INDEX);
        update_it();
        assert_int_equal(open_it(&x, READ_ONLY, &err), MYTH_OK);
        myth_index_close(x);
    }
}

static void dump_hits(bytes *out, const char *query)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_hits hits = {0};
    const myth_search_opts opts = {.query = query, .k = 10};
    assert_int_equal(open_it(&x, READ_ONLY, &err), MYTH_OK);
    if (myth_search(&hits, x, &opts, &err) != MYTH_OK)
        fail_msg("%s: %s", query, err.msg);
    for (uint32_t i = 0; i < hits.n_hit; i++) {
        char line[256];
        snprintf(line, sizeof(line), "%s: %lld %.9g\n", query, (long long)hits.hit[i].chunk_id, hits.hit[i].score);
        bytes_text(out, line);
    }
    myth_hits_free(&hits);
    myth_index_close(x);
}

/* The full-text index says that it is of another form. Where FTS5 itself reads it, words come through MATCH and the
 * answers are the same; a misspelt word, which is looked for in the pages alone, stays as it is. */
static void another_form(void **state)
{
    (void)state;
    static const char *const query[] = {"parse buffer", "parse_buffer", "how does the parser read a file",
                                        "\"buffer of the parser\"", "helper os README"};
    bytes want = {0}, got = {0};
    myth_error err = {0};
    myth_index *x = NULL;
    restore();
    for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
        dump_hits(&want, query[i]);
    assert_true(want.len > 100);
    assert_true(plant("fts_config", "v", "'4'", "k='version'"));
    for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
        dump_hits(&got, query[i]);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.data, want.data, want.len);
    got.len = 0;
    dump_hits(&got, "bufer");
    assert_int_equal(got.len, 0); /* the pages were not read */
    restore();
    dump_hits(&got, "bufer");
    assert_true(got.len > 0);
    assert_true(plant("fts_config", "v", "77", "k='version'")); /* nobody reads that */
    myth_hits hits = {0};
    assert_int_equal(open_it(&x, READ_ONLY, &err), MYTH_OK);
    assert_int_equal(myth_search(&hits, x, &(myth_search_opts){.query = "buffer", .k = 10}, &err), MYTH_EFORMAT);
    myth_hits_free(&hits);
    myth_index_close(x);
    bytes_free(&want);
    bytes_free(&got);
}

/* What a connection keeps of the words it was asked for is booked until it is closed. */
static void kept_words_are_booked(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_index *x = NULL;
    myth_hits hits = {0};
    restore();
    assert_int_equal(open_it(&x, READ_ONLY, &err), MYTH_OK);
    const uint64_t before = myth_mem_get(mem, 0, MYTH_MEM_OTHER).live;
    assert_int_equal(myth_search(&hits, x, &(myth_search_opts){.query = "parse buffer", .k = 10}, &err), MYTH_OK);
    myth_hits_free(&hits);
    assert_true(myth_mem_get(mem, 0, MYTH_MEM_OTHER).live > before + (100 << 10));
    myth_index_close(x);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).live, 0);
}

/* Every chunk says that it is longer than a file can be: that is damage, with its remedy, and no lack of memory. */
static void long_chunks(void **state)
{
    (void)state;
    static const char *const length[] = {"9223372036854775807", "67108865", "-1"};
    for (size_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
        myth_error err = {0};
        myth_index *x = NULL;
        myth_hits hits = {0};
        const myth_search_opts opts = {.query = "\"buffer of the parser\"", .mode = MYTH_SEARCH_PHRASE, .k = 10};
        assert_true(plant("chunks", "bytes", length[i], "1"));
        assert_int_equal(open_it(&x, READ_ONLY, &err), MYTH_OK);
        assert_int_equal(myth_search(&hits, x, &opts, &err), MYTH_EFORMAT);
        assert_int_equal(err.remedy, MYTH_REMEDY_REBUILD_INDEX);
        myth_hits_free(&hits);
        myth_index_close(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column), cmocka_unit_test(packed_rows),           cmocka_unit_test(planted_schema),
        cmocka_unit_test(another_form), cmocka_unit_test(kept_words_are_booked), cmocka_unit_test(long_chunks),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
