/* store_impl.h - what the store's own files share: prepared statements, caches, errors. */
#ifndef MYTH_STORE_IMPL_H
#define MYTH_STORE_IMPL_H

#include "store.h"

#include <zstd.h>

#define MYTH_STATEMENTS(S)                                                                                             \
    S(GET_NUMBER, "SELECT value FROM meta WHERE key=?1")                                                               \
    S(SET_NUMBER, "INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)")                                            \
    S(PUT_FILE, "INSERT INTO files(id, path, mtime_ns, bytes, inode, hash, language, flags, note, ctime_ns) VALUES(?1" \
                ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")                                                              \
    S(TOUCH_FILE, "UPDATE files SET mtime_ns=?3, ctime_ns=?10, inode=?5, language=?7, flags=?8 WHERE id=?1")           \
    S(GET_FILE, "SELECT path, bytes, flags FROM files WHERE id=?1")                                                    \
    S(PUT_CHUNK,                                                                                                       \
      "INSERT INTO chunks(file_id, off, bytes, line0, d_line1, kind, symbol, parent, d_doc, doc_bytes, flags, hash) "  \
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")                                                     \
    S(PUT_DEFINITIONS, "INSERT INTO definitions(file_id, n, data) VALUES(?1, ?2, ?3)")                                 \
    S(PUT_NAME, "INSERT OR IGNORE INTO names(key, file_id) VALUES(?1, ?2)")                                            \
    S(PUT_REFS, "INSERT INTO refs(file_id, n, data) VALUES(?1, ?2, ?3)")                                               \
    S(PUT_BLOCK, "INSERT INTO blocks(id, data) VALUES(?1, ?2)")                                                        \
    S(PUT_FTS, "INSERT INTO fts(rowid, path, names, body) VALUES(?1, ?2, ?3, ?4)")                                     \
    S(DROP_FTS, "INSERT INTO fts(fts, rowid, path, names, body) VALUES('delete', ?1, ?2, ?3, ?4)")                     \
    S(GET_CHUNKS, "SELECT id, off, bytes, symbol, parent FROM chunks WHERE file_id=?1 ORDER BY id")                    \
    S(GET_SYMBOLS, "SELECT off, name FROM symbols WHERE id BETWEEN ?1 AND ?2 ORDER BY off, id")                        \
    S(GET_BLOCK, "SELECT data FROM blocks WHERE id BETWEEN ?1 AND ?2 ORDER BY id")                                     \
    S(FIND_CHUNK, "SELECT file_id, line0, hash, kind FROM chunks WHERE id=?1")                                         \
    S(FIND_FILE, "SELECT path, flags, hash FROM files WHERE id=?1")                                                    \
    S(FIND_SYMBOLS, "SELECT file_id, off FROM symbols WHERE name=?1 ORDER BY id LIMIT ?2")                             \
    S(SYMBOLS_IN,                                                                                                      \
      "SELECT name, parent, kind, line0, line1, name_line FROM symbols WHERE id BETWEEN ?1 AND ?2 AND line1>=?3 AND "  \
      "line0<=?4 ORDER BY line0, line1 DESC, id")                                                                      \
    S(GET_DEFINITIONS,                                                                                                 \
      "SELECT file_id, n, data FROM definitions WHERE file_id BETWEEN ?1 AND ?2 ORDER BY file_id LIMIT 1")             \
    S(GET_NAMES, "SELECT file_id FROM names WHERE key=?1 ORDER BY file_id")                                            \
    S(HAS_NAME, "SELECT 1 FROM names WHERE key=?1 AND file_id=?2")                                                     \
    S(CHUNK_AT, "SELECT id FROM chunks WHERE file_id=?1 AND off<=?2 ORDER BY off DESC LIMIT 1")                        \
    S(SHOW_CHUNK, "SELECT off, bytes, line0, line1, kind, symbol FROM chunks WHERE id=?1")                             \
    S(GET_REFS, "SELECT n, data FROM refs WHERE file_id=?1")                                                           \
    S(DROP_FILE, "DELETE FROM files WHERE id=?1")                                                                      \
    S(DROP_CHUNKS, "DELETE FROM chunks WHERE file_id=?1")                                                              \
    S(DROP_DEFINITIONS, "DELETE FROM definitions WHERE file_id=?1")                                                    \
    S(DROP_NAME, "DELETE FROM names WHERE key=?1 AND file_id=?2")                                                      \
    S(DROP_REFS, "DELETE FROM refs WHERE file_id=?1")                                                                  \
    S(DROP_BLOCKS, "DELETE FROM blocks WHERE id BETWEEN ?1 AND ?2")                                                    \
    S(DROP_FACTS, "DELETE FROM facts WHERE file_id=?1")                                                                \
    S(DROP_HISTORY, "DELETE FROM history WHERE file_id=?1")

enum myth_statement {
#define S(name, sql) MYTH_SQL_##name,
    MYTH_STATEMENTS(S)
#undef S
        MYTH_SQL_N
};

/* The id of a row of `blocks`: the file's id, then MYTH_BLOCK_BITS for the block (4,096 blocks are 128 MiB, twice
 * MYTH_FILE_BYTES), then MYTH_PIECE_BITS for the piece. Eight pieces fill a page; longer pieces would leave a tenth
 * of each page empty. */
enum {
    MYTH_BLOCK_BITS = 12,
    MYTH_PIECE_BITS = 7,
    MYTH_PIECE_BYTES = 490,
    MYTH_FILE_BITS = MYTH_BLOCK_BITS + MYTH_PIECE_BITS
};

/* Rows that earlier searches have read, by id, so that later ones need not. file_id 0, or path NULL: not read yet. */
typedef struct {
    int64_t file_id;
    uint64_t content;
    uint32_t line0, kind;
} myth_known_chunk;

typedef struct {
    char *path;
    uint64_t content;
    uint32_t flags, kinds;
} myth_known_file;

typedef struct {
    myth_known_chunk *chunk;
    myth_known_file *file;
    uint32_t n_chunk, n_file;
    uint32_t version; /* of the database, as SQLite counts it      */
} myth_known;

enum { MYTH_KNOWN_IDS = 1 << 22 }; /* larger ids are read each time */

/* Kept by symbol_rows.c: the file that was read last, and names that wait for the end of the transaction. */
typedef struct {
    int64_t file_id;
    uint32_t key;
} myth_symbol_name;

typedef struct {
    struct myth_symbol_file *last;
    myth_symbol_name *waiting;
    size_t n_waiting, cap_waiting;
} myth_symbol_state;

struct myth_store {
    myth_mem *mem;
    sqlite3 *db;
    char *path;
    bool is_read_only, is_writing, is_reading, has_no_log;
    sqlite3_stmt *stmt[MYTH_SQL_N];
    ZSTD_DCtx *unpack;
    ZSTD_CDict *pack_dictionary;
    ZSTD_DDict *unpack_dictionary;
    unsigned unpack_id;    /* of that dictionary, as frames name it     */
    unsigned char *packed; /* a block as it is stored                   */
    unsigned char *block;  /* the last one unpacked: block_id, -1 = none */
    size_t n_block;
    int64_t block_id;
    uint32_t block_version; /* of the database, as SQLite counts it      */
    myth_known known;       /* kept by search.c                          */
    myth_symbol_state symbols;
    myth_file_counts counts; /* kept by store_file.c                      */
};

/* store_check.c: whether the schema is ours to the letter, and every key in the range that readers calculate with.
 * MYTH_EFORMAT when not. */
myth_status myth_store_check_schema(myth_store *s, myth_error *err);
myth_status myth_store_check_keys(myth_store *s, myth_error *err);
/* The tables and indexes, in the order they are made; NULL past the last. */
typedef struct {
    const char *name, *sql;
} myth_store_table;
const myth_store_table *myth_store_table_at(int i);
/* The statement, reset and without values; NULL with *err. */
sqlite3_stmt *myth_store_statement(myth_store *s, enum myth_statement which, myth_error *err);
void myth_store_forget(myth_store *s); /* what is known */
/* A frame of pack.c whole, which the caller frees. */
myth_status myth_store_unpack(myth_store *s, unsigned char **out, size_t *n_out, const void *frame, size_t n,
                              myth_error *err);
/* Runs one that has no rows. */
myth_status myth_store_run(myth_store *s, sqlite3_stmt *q, myth_error *err);

#endif
