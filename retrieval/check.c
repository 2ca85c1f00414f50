/* check.c - checks an index: the database, every file's rows against its text, and the full-text index against the
 * text.
 *
 * Database  PRAGMA integrity_check, which reads every page and so compares every checksum
 * File      its blocks have its hash; its chunks touch, cover it, and have the right lines and hashes; its symbols
 *           lie inside of it and are in the table names; its uses can be read
 * Counts    the counts that updates maintain equal the number of rows
 * Map       if its tables are current, every file has a rank and facts
 * Vectors   see vectors_check.c
 * FTS5      the table holds the same (term, row, column, position) as the stored text gives; both are compared as a
 *           sum of hashes */
#include "retrieval/index/index_impl.h"
#include "retrieval/store/fts_tokenizer.h"
#include "retrieval/map/repomap.h"
#include "retrieval/store/symbol_rows.h"
#include "retrieval/vectors/vectors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

typedef struct {
    myth_index *x;
    void (*report)(void *arg, const char *line);
    void *arg;
    uint64_t n_problem;
    const fts5_tokenizer *methods;
    Fts5Tokenizer *tokenizer;
    uint64_t sum, n_token; /* sum and number of FTS5's terms, made from the text */
    int64_t row;
    int column, position;
} checker;

__attribute__((format(printf, 2, 3))) static void problem(checker *c, const char *fmt, ...)
{
    myth_error line;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    myth_fail(&line, MYTH_EFORMAT, "%s", text); /* myth_fail makes it one line that is safe to print */
    c->n_problem++;
    if (c->report)
        c->report(c->arg, line.msg);
}

/* ---- database ---- */

static myth_status check_database(checker *c, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(c->x->store), "PRAGMA integrity_check", -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *line = (const char *)sqlite3_column_text(q, 0);
        if (line && strcmp(line, "ok") != 0)
            problem(c, "database: %s", line);
        rc = SQLITE_OK;
    }
    myth_status st = myth_store_fail(c->x->store, rc, err);
    sqlite3_finalize(q);
    return st;
}

/* ---- one file ---- */

typedef struct {
    int64_t id;
    char path[160]; /* the path, cut for the report */
    const unsigned char *text;
    uint64_t bytes;
} file;

static uint32_t lines_in(const unsigned char *s, uint64_t n)
{
    uint32_t lines = 0;
    for (const unsigned char *end = s + n; s < end && (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
        lines++;
    return lines;
}

static myth_status check_chunks(checker *c, const file *f, sqlite3_stmt *q, myth_error *err)
{
    uint64_t at = 0;
    uint32_t line = 1;
    int rc;
    sqlite3_bind_int64(q, 1, f->id);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        uint64_t off = (uint64_t)sqlite3_column_int64(q, 0), n = (uint64_t)sqlite3_column_int64(q, 1);
        unsigned char hash[16];
        if (off != at || n == 0 || n > f->bytes - at) {
            problem(c, "%s: a chunk at byte %llu, expected one at %llu", f->path, (unsigned long long)off,
                    (unsigned long long)at);
            return MYTH_OK;
        }
        uint32_t n_line = lines_in(f->text + off, n), last = line + n_line - (f->text[off + n - 1] == '\n');
        if (sqlite3_column_int64(q, 2) != line || sqlite3_column_int64(q, 3) != last)
            problem(c, "%s: the chunk at byte %llu has lines %lld to %lld, expected %u to %u", f->path,
                    (unsigned long long)off, (long long)sqlite3_column_int64(q, 2),
                    (long long)sqlite3_column_int64(q, 3), line, last);
        myth_store_hash(hash, f->text + off, n);
        if (sqlite3_column_bytes(q, 4) != MYTH_CHUNK_HASH_BYTES ||
            memcmp(sqlite3_column_blob(q, 4), hash, MYTH_CHUNK_HASH_BYTES) != 0)
            problem(c, "%s: the chunk at byte %llu has another hash than its text", f->path, (unsigned long long)off);
        at += n;
        line += n_line;
    }
    if (at != f->bytes && rc == SQLITE_DONE)
        problem(c, "%s: chunks end at byte %llu of %llu", f->path, (unsigned long long)at,
                (unsigned long long)f->bytes);
    return myth_store_fail(c->x->store, rc, err);
}

static myth_status check_symbols(checker *c, const file *f, sqlite3_stmt *q, myth_error *err)
{
    int rc;
    sqlite3_bind_int64(q, 1, f->id);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0);
        for (int i = 1; i <= 3; i += 2) {
            uint64_t off = (uint64_t)sqlite3_column_int64(q, i), n = (uint64_t)sqlite3_column_int64(q, i + 1);
            if (off > f->bytes || n > f->bytes - off)
                problem(c, "%s: symbol %.60s ends after the end of the file", f->path, name ? name : "");
        }
    }
    return myth_store_fail(c->x->store, rc, err);
}

static bool count_ref(void *n, const myth_store_ref *ref)
{
    (void)ref;
    ++*(uint64_t *)n;
    return true;
}

/* ---- FTS5 ---- */

static uint64_t token_sum(const char *term, size_t n, int64_t row, int column, int position)
{
    int64_t place[3] = {row, column, position};
    return XXH3_64bits_withSeed(place, sizeof(place), XXH3_64bits(term, n));
}

static int add_token(void *arg, int flags, const char *token, int n, int start, int end)
{
    checker *c = arg;
    (void)start;
    (void)end;
    if (!(flags & FTS5_TOKEN_COLOCATED))
        c->position++;
    c->sum += token_sum(token, (size_t)n, c->row, c->column, c->position);
    c->n_token++;
    return SQLITE_OK;
}

static myth_status add_row(void *arg, const myth_store_row *row, myth_error *err)
{
    checker *c = arg;
    const void *text[] = {row->body, row->path, row->names};
    uint64_t n[] = {row->n_body, row->n_path, row->n_names};
    c->row = row->chunk_id;
    for (c->column = 0; c->column < MYTH_FTS_COLUMN_N; c->column++) {
        c->position = -1;
        int rc = n[c->column] ? c->methods->xTokenize(c->tokenizer, c, FTS5_TOKENIZE_DOCUMENT, text[c->column],
                                                      (int)n[c->column], add_token)
                              : SQLITE_OK;
        if (rc != SQLITE_OK)
            return myth_store_fail(c->x->store, rc, err);
    }
    return MYTH_OK;
}

static myth_status check_fts(checker *c, myth_error *err)
{
    static const char *const column[MYTH_FTS_COLUMN_N] = {"body", "path", "names"};
    sqlite3 *db = myth_store_db(c->x->store);
    sqlite3_stmt *q = NULL;
    uint64_t sum = 0, n = 0;
    int rc =
        sqlite3_exec(db, "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, fts, instance)", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, "SELECT term, doc, col, \"offset\" FROM temp.vocabulary", -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *term = (const char *)sqlite3_column_text(q, 0), *name = (const char *)sqlite3_column_text(q, 2);
        int k = 0;
        while (k < MYTH_FTS_COLUMN_N && name && strcmp(name, column[k]) != 0)
            k++;
        sum += token_sum(term, (size_t)sqlite3_column_bytes(q, 0), sqlite3_column_int64(q, 1), k,
                         sqlite3_column_int(q, 3));
        n++;
        rc = SQLITE_OK;
    }
    myth_status st = myth_store_fail(c->x->store, rc, err);
    sqlite3_finalize(q);
    sqlite3_exec(db, "DROP TABLE temp.vocabulary", NULL, NULL, NULL);
    if (st == MYTH_OK && (sum != c->sum || n != c->n_token))
        problem(c, "words: %llu in the index, %llu in its text%s", (unsigned long long)n,
                (unsigned long long)c->n_token, n == c->n_token ? ", in other places" : "");
    return st;
}

static myth_status open_tokenizer(checker *c, fts5_tokenizer *methods, myth_error *err)
{
    fts5_api *api = NULL;
    sqlite3_stmt *q = NULL;
    void *user = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(c->x->store), "SELECT fts5(?1)", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_pointer(q, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(q);
        sqlite3_finalize(q);
    }
    if (!api || api->xFindTokenizer(api, "mythos", &user, methods) != SQLITE_OK ||
        methods->xCreate(user, NULL, 0, &c->tokenizer) != SQLITE_OK)
        return myth_fail(err, MYTH_ENOMEM, "no memory for a tokenizer");
    c->methods = methods;
    return MYTH_OK;
}

/* ---- counts ---- */

_Static_assert(MYTH_FILE_LOST == 64, "as the last query has it");

static myth_status check_counts(checker *c, myth_error *err)
{
    static const struct {
        const char *key, *sql;
    } rows[] = {
        {"n_file", "SELECT count(*) FROM files"},
        {"n_chunk", "SELECT count(*) FROM chunks"},
        {"n_symbol", "SELECT coalesce(sum(n), 0) FROM definitions"},
        {"n_ref", "SELECT coalesce(sum(n), 0) FROM refs"},
        {"bytes", "SELECT coalesce(sum(bytes), 0) FROM files"},
        {"n_lost", "SELECT count(*) FROM files WHERE flags & 64"},
    };
    myth_status st = MYTH_OK;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && st == MYTH_OK; i++) {
        sqlite3_stmt *q = NULL;
        int rc = sqlite3_prepare_v2(myth_store_db(c->x->store), rows[i].sql, -1, &q, NULL);
        int64_t n = rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
        st = myth_store_fail(c->x->store, rc, err);
        sqlite3_finalize(q);
        const int64_t kept = myth_store_number(c->x->store, rows[i].key, 0); /* 0 before the first update */
        if (st == MYTH_OK && kept != n)
            problem(c, "count %s: %lld, its rows are %lld", rows[i].key, (long long)kept, (long long)n);
    }
    return st;
}

/* ---- the map ---- */

/* If the map's tables claim to be current, they must have a row for each file. */
static myth_status check_map(checker *c, myth_error *err)
{
    static const char sql[] = "SELECT (SELECT count(*) FROM files) <> (SELECT count(*) FROM ranks) OR (SELECT "
                              "coalesce(max(place), 0) <> count(*) FROM ranks) OR "
                              "EXISTS(SELECT 1 FROM files WHERE id NOT IN (SELECT file_id FROM ranks)) OR "
                              "EXISTS(SELECT 1 FROM files WHERE id NOT IN (SELECT file_id FROM facts)) OR "
                              "EXISTS(SELECT 1 FROM links WHERE file_id NOT IN (SELECT id FROM files))";
    sqlite3_stmt *q = NULL;
    if (!myth_repomap_is_fresh(c->x->store))
        return MYTH_OK;
    int rc = sqlite3_prepare_v2(myth_store_db(c->x->store), sql, -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW && sqlite3_column_int64(q, 0))
        problem(c, "map: its tables are not of these files");
    myth_status st = myth_store_fail(c->x->store, rc, err);
    sqlite3_finalize(q);
    return st;
}

/* ---- all ---- */

static myth_status check_file(checker *c, file *f, sqlite3_stmt *row, sqlite3_stmt *chunks, sqlite3_stmt *symbols,
                              sqlite3_stmt *refs, myth_error *err)
{
    myth_mem *mem = c->x->mem;
    unsigned char hash[16];
    uint64_t n_ref = 0;
    myth_status st = MYTH_OK;
    f->id = sqlite3_column_int64(row, 0);
    f->bytes = (uint64_t)sqlite3_column_int64(row, 2);
    snprintf(f->path, sizeof(f->path), "%.*s", sqlite3_column_bytes(row, 1), (const char *)sqlite3_column_blob(row, 1));
    if (f->bytes > 1u << 30) {
        problem(c, "%s: %llu bytes", f->path, (unsigned long long)f->bytes);
        return MYTH_OK;
    }
    unsigned char *text = myth_alloc(mem, MYTH_MEM_OTHER, "index", f->bytes);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %llu bytes", (unsigned long long)f->bytes);
    f->text = text;
    MYTH_TRY(myth_store_text(c->x->store, text, f->id, 0, f->bytes, err));
    myth_store_hash(hash, text, f->bytes);
    if (sqlite3_column_bytes(row, 3) != 16 || memcmp(sqlite3_column_blob(row, 3), hash, 16) != 0)
        problem(c, "%s: its text has another hash than its row", f->path);
    MYTH_TRY(check_chunks(c, f, chunks, err));
    MYTH_TRY(check_symbols(c, f, symbols, err));
    MYTH_TRY(myth_store_refs(c->x->store, f->id, count_ref, &n_ref, err));
    sqlite3_bind_int64(refs, 1, f->id);
    uint64_t wanted = sqlite3_step(refs) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(refs, 0) : 0;
    if (n_ref != wanted)
        problem(c, "%s: %llu uses, its row says %llu", f->path, (unsigned long long)n_ref, (unsigned long long)wanted);
    MYTH_TRY(myth_store_rows(c->x->store, f->id, add_row, c, err));
fail:
    sqlite3_reset(chunks);
    sqlite3_reset(symbols);
    sqlite3_reset(refs);
    myth_free(mem, text);
    return st;
}

static void on_names(void *checker_, const char *line) { problem(checker_, "%s", line); }

static myth_status check_files(checker *c, myth_error *err)
{
    static const char *const sql[] = {
        "SELECT id, path, bytes, hash FROM files ORDER BY id",
        "SELECT off, bytes, line0, line1, hash FROM chunks WHERE file_id=?1 ORDER BY off, id",
        "SELECT name, off, bytes, signature_off, signature_bytes FROM symbols WHERE id BETWEEN ?1 << 20 AND (?1 << 20) "
        "+ 1048575",
        "SELECT n FROM refs WHERE file_id=?1",
        "SELECT (SELECT count(*) FROM chunks WHERE file_id NOT IN (SELECT id FROM files)) + "
        "(SELECT count(*) FROM definitions WHERE file_id NOT IN (SELECT id FROM files)) + "
        "(SELECT count(*) FROM refs WHERE file_id NOT IN (SELECT id FROM files)) + "
        "(SELECT count(*) FROM history WHERE file_id NOT IN (SELECT id FROM files)) + "
        "(SELECT count(*) FROM facts WHERE file_id NOT IN (SELECT id FROM files)) + "
        "(SELECT count(*) FROM blocks WHERE id >> 19 NOT IN (SELECT id FROM files))",
    };
    enum { N = sizeof(sql) / sizeof(sql[0]) };
    sqlite3_stmt *q[N] = {NULL};
    myth_store *store = c->x->store;
    myth_status st = MYTH_OK;
    file f;
    int rc;
    for (int i = 0; i < N; i++)
        MYTH_TRY(myth_store_fail(store, sqlite3_prepare_v2(myth_store_db(store), sql[i], -1, &q[i], NULL), err));
    while ((rc = sqlite3_step(q[0])) == SQLITE_ROW)
        MYTH_TRY(check_file(c, &f, q[0], q[1], q[2], q[3], err));
    MYTH_TRY(myth_store_fail(store, rc, err));
    rc = sqlite3_step(q[4]);
    MYTH_TRY(myth_store_fail(store, rc, err));
    if (sqlite3_column_int64(q[4], 0))
        problem(c, "%lld rows belong to no file", (long long)sqlite3_column_int64(q[4], 0));
    MYTH_TRY(myth_symbol_rows_check(store, on_names, c, err));
fail:
    for (int i = 0; i < N; i++)
        sqlite3_finalize(q[i]);
    return st;
}

myth_status myth_index_check(myth_index *x, void (*report)(void *arg, const char *line), void *arg, uint64_t *n_problem,
                             myth_error *err)
{
    checker c = {.x = x, .report = report, .arg = arg};
    fts5_tokenizer methods;
    myth_status st = MYTH_OK;
    *n_problem = 0;
    MYTH_TRY(open_tokenizer(&c, &methods, err));
    MYTH_TRY(myth_store_read_begin(x->store, err));
    MYTH_TRY(check_database(&c, err));
    if (c.n_problem == 0) /* rows of a damaged database would only mislead */
        MYTH_TRY(check_files(&c, err));
    if (c.n_problem == 0)
        MYTH_TRY(check_counts(&c, err));
    if (c.n_problem == 0)
        MYTH_TRY(check_map(&c, err));
    if (c.n_problem == 0)
        MYTH_TRY(check_fts(&c, err));
fail:
    if (c.tokenizer)
        methods.xDelete(c.tokenizer);
    myth_store_read_end(x->store);
    uint64_t n_vectors = 0;
    if (st == MYTH_OK)
        st = myth_vectors_check(x, report, arg, &n_vectors, err);
    *n_problem = c.n_problem + n_vectors;
    return st;
}
