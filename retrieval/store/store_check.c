/* store_check.c - the tables of the index, and the checks made when a database is opened: the schema equals ours,
 * and the first and last key of each table are in the range that readers calculate with.
 *
 * Keys    checking costs two look-ups a table, whatever its size. All other keys lie between the first and the
 *         last, so a reader may multiply a file's id by MYTH_SYMBOL_IDS without overflow. Values that are not keys
 *         are checked where they are read */
#include "store_impl.h"
#include "fts_tokenizer.h"

#include <stdio.h>
#include <string.h>

/* Columns with "AS" are computed. Storing the difference to another column takes a byte less than the value itself,
 * or none. */
static const myth_store_table schema[] = {
    {"meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID"},
    {"files", "CREATE TABLE files(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, mtime_ns INTEGER, ctime_ns "
              "INTEGER, bytes INTEGER, "
              "inode INTEGER, hash BLOB, "
              "language TEXT, flags INTEGER, note TEXT)"},
    {"chunks", "CREATE TABLE chunks(id INTEGER PRIMARY KEY, file_id INTEGER, off INTEGER, bytes INTEGER, line0 "
               "INTEGER, d_line1 INTEGER, "
               "kind INTEGER, symbol TEXT, parent TEXT, d_doc INTEGER, doc_bytes INTEGER, flags INTEGER, hash BLOB, "
               "line1 INTEGER AS (line0 + d_line1), doc_off INTEGER AS (off + d_doc))"},
    {"chunks_file", "CREATE INDEX chunks_file ON chunks(file_id)"},
    {"definitions", "CREATE TABLE definitions(file_id INTEGER PRIMARY KEY, n INTEGER, data BLOB)"},
    {"names", "CREATE TABLE names(key INTEGER, file_id INTEGER, PRIMARY KEY(key, file_id)) WITHOUT ROWID"},
    {"refs", "CREATE TABLE refs(file_id INTEGER PRIMARY KEY, n INTEGER, data BLOB)"},
    {"history", "CREATE TABLE history(file_id INTEGER PRIMARY KEY, n_commit INTEGER, last_time INTEGER)"},
    {"commits", "CREATE TABLE commits(id INTEGER PRIMARY KEY, oid BLOB, time INTEGER, paths BLOB)"},
    {"blocks", "CREATE TABLE blocks(id INTEGER PRIMARY KEY, data BLOB)"},
    {"facts", "CREATE TABLE facts(file_id INTEGER PRIMARY KEY, data BLOB)"},
    {"links", "CREATE TABLE links(file_id INTEGER PRIMARY KEY, data BLOB)"},
    {"ranks", "CREATE TABLE ranks(place INTEGER PRIMARY KEY, file_id INTEGER, rank REAL, data BLOB)"},
    {"summaries", "CREATE TABLE summaries(hash BLOB PRIMARY KEY, text TEXT) WITHOUT ROWID"},
    {"fts", MYTH_FTS_TABLE},
};
enum { N_SCHEMA = sizeof(schema) / sizeof(schema[0]), N_SHADOW = 4 }; /* fts_data, _idx, _docsize, _config */

const myth_store_table *myth_store_table_at(int i) { return i < N_SCHEMA ? &schema[i] : NULL; }

static bool is_shadow(const char *name, const char *sql)
{
    static const char *const shadow[N_SHADOW] = {"fts_data", "fts_idx", "fts_docsize", "fts_config"};
    for (int i = 0; i < N_SHADOW; i++)
        if (strcmp(name, shadow[i]) == 0)
            return strncmp(sql, "CREATE TABLE ", 13) == 0;
    return false;
}

myth_status myth_store_check_schema(myth_store *s, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int n_ours = 0, n_shadow = 0,
        rc = sqlite3_prepare_v2(s->db, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", -1, &q, NULL);
    bool is_ours = true;
    while (rc == SQLITE_OK && is_ours && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0), *sql = (const char *)sqlite3_column_text(q, 1);
        int i = 0;
        while (name && i < N_SCHEMA && strcmp(schema[i].name, name) != 0)
            i++;
        if (name && sql && i < N_SCHEMA && strcmp(schema[i].sql, sql) == 0)
            n_ours++;
        else if (name && sql && is_shadow(name, sql))
            n_shadow++;
        else
            is_ours = false;
        rc = SQLITE_OK;
    }
    sqlite3_finalize(q);
    if (rc != SQLITE_DONE && rc != SQLITE_OK)
        return myth_store_fail(s, rc, err);
    return is_ours && n_ours == N_SCHEMA && n_shadow == N_SHADOW
             ? MYTH_OK
             : myth_store_damaged(s, "its tables are not those of an index", err);
}

/* SQL: whether the key of the first or the last row is not an integer or is out of range. */
#define OUTSIDE(table, key, min, max)                                                                                  \
    " OR coalesce((SELECT typeof(" key ") <> 'integer' OR " key " < " min " FROM " table " ORDER BY " key              \
    " LIMIT 1), 0) OR coalesce((SELECT typeof(" key ") <> 'integer' OR " key " > " max " FROM " table " ORDER BY " key \
    " DESC LIMIT 1), 0)"

myth_status myth_store_check_keys(myth_store *s, myth_error *err)
{
    /* ?1: the largest id of a file. ?2: the largest id of a chunk, whose row in the full-text index has 32 bits. ?3:
     * the largest of any other id. */
    static const char sql[] = "SELECT 0" OUTSIDE("files", "id", "1", "?1") OUTSIDE("chunks", "id", "1", "?2")
        OUTSIDE("chunks", "file_id", "1", "?1") OUTSIDE("definitions", "file_id", "1", "?1")
            OUTSIDE("refs", "file_id", "1", "?1") OUTSIDE("history", "file_id", "1", "?1")
                OUTSIDE("facts", "file_id", "1", "?1") OUTSIDE("links", "file_id", "1", "?1")
                    OUTSIDE("ranks", "place", "1", "?2") OUTSIDE("commits", "id", "1", "?3")
                        OUTSIDE("blocks", "id", "1 << 19", "?3");
    _Static_assert(MYTH_FILE_BITS == 19, "as the statement has it");
    sqlite3_stmt *q = NULL;
    bool is_outside = false;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, MYTH_FILE_ID_MAX);
        sqlite3_bind_int64(q, 2, UINT32_MAX);
        sqlite3_bind_int64(q, 3, INT64_C(1) << 62);
        if ((rc = sqlite3_step(q)) == SQLITE_ROW)
            is_outside = sqlite3_column_int64(q, 0) != 0;
    }
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st == MYTH_OK && is_outside ? myth_store_damaged(s, "an id is out of range", err) : st;
}
