/* fuzz_rows.h - what the targets of database rows share: a folder in memory or TMPDIR with one valid database, and the
 * rows that an input plants into a copy of it.
 *
 * Input    1 byte of flags for the target, then steps to the end of the input:
 *          table, row, column (1 byte each, modulo what is there), kind (1 byte, fuzz_kind), what the kind reads.
 *          A step that the input cuts short reads zeros
 * Planted  a value that a column cannot hold is left out, as any writer of the file would have to */
#ifndef MYTH_FUZZ_ROWS_H
#define MYTH_FUZZ_ROWS_H

#include <dirent.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { ROWS_FILE_MAX = 4 << 20, ROWS_STEPS = 6, ROWS_COLUMNS = 16, ROWS_NAME = 32, ROWS_HEAP = 256 << 20 };

/* What a step does with the value in the column of its row. */
typedef enum {
    ROW_NULL,
    ROW_INTEGER, /* 8 bytes                                                                 */
    ROW_BORDER,  /* 1 byte: which border of 2^0 to 2^63, and its sign; 1 byte: added to it  */
    ROW_REAL,    /* 8 bytes                                                                 */
    ROW_TEXT,    /* 2 bytes: the length; so many bytes                                      */
    ROW_BLOB,    /* the same                                                                */
    ROW_FRAME,   /* the same; the blob is a zstd frame of these bytes                       */
    ROW_EDIT, /* 2 bytes: where; 2 bytes: the length; bytes that overwrite the value there; a frame is edited inside */
    ROW_CUT,  /* 2 bytes: the value ends there                                           */
    ROW_DELETE, /* the row itself                                                          */
    ROW_KINDS
} fuzz_kind;

typedef struct {
    const uint8_t *p;
    size_t n;
} fuzz_input;

static char rows_dir[256];
static unsigned char rows_whole[ROWS_FILE_MAX]; /* the valid database */
static size_t rows_n_whole;
static uint32_t rows_touched; /* a bit for each table that the input plants into */

static inline uint64_t take(fuzz_input *in, int n_byte)
{
    uint64_t v = 0;
    for (int i = 0; i < n_byte && in->n > 0; i++, in->p++, in->n--)
        v |= (uint64_t)*in->p << (8 * i);
    return v;
}

/* So many bytes, or as many as are left. */
static inline const uint8_t *take_bytes(fuzz_input *in, size_t *n)
{
    const uint8_t *p = in->p;
    *n = *n < in->n ? *n : in->n;
    in->p += *n;
    in->n -= *n;
    return p;
}

/* ---- the folder ---- */

static inline const char *rows_path(const char *name)
{
    static char path[4][512];
    static unsigned at;
    char *p = path[at++ % 4];
    snprintf(p, sizeof(path[0]), "%s/%s", rows_dir, name);
    return p;
}

static inline void rows_remove(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char below[512];
        snprintf(below, sizeof(below), "%.250s/%.250s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(below) != 0)
            rows_remove(below);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static inline void rows_end(void) { rows_remove(rows_dir); }

static inline void rows_begin(void)
{
    struct stat st;
    const char *tmp = getenv("TMPDIR");
    snprintf(rows_dir, sizeof(rows_dir), "%.200s/mythos-fuzz-XXXXXX",
             stat("/dev/shm", &st) == 0 ? "/dev/shm"
             : tmp && *tmp              ? tmp
                                        : "/tmp");
    if (!mkdtemp(rows_dir))
        abort();
    atexit(rows_end);
}

static inline void rows_put(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(rows_path(name), "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static inline void rows_text(const char *name, const char *text) { rows_put(name, text, strlen(text)); }

/* Keeps the database, which every input starts from. SQLite's full-text index asks for as many gigabytes as its rows
 * say, which the fuzzer would report; here SQLite has a limit and says that there is no memory. */
static inline void rows_keep(const char *db)
{
    FILE *f = fopen(rows_path(db), "rb");
    rows_n_whole = f ? fread(rows_whole, 1, sizeof(rows_whole), f) : 0;
    if (!f || fclose(f) != 0 || rows_n_whole < 4096 || rows_n_whole == sizeof(rows_whole))
        abort();
    sqlite3_hard_heap_limit64(ROWS_HEAP);
}

/* ---- planting ---- */

static inline sqlite3_stmt *rows_query(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = NULL;
    return sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK ? q : NULL;
}

static inline void rows_run(sqlite3_stmt *q)
{
    while (q && sqlite3_step(q) == SQLITE_ROW)
        continue;
    sqlite3_finalize(q);
}

/* The bytes of a value, those inside when it is a frame of its own; free them. */
static inline unsigned char *rows_open_value(sqlite3_stmt *q, size_t *n, bool *is_frame)
{
    const void *v = sqlite3_column_blob(q, 0);
    *n = (size_t)sqlite3_column_bytes(q, 0);
    const unsigned long long inside = v ? ZSTD_getFrameContentSize(v, *n) : ZSTD_CONTENTSIZE_ERROR;
    unsigned char *p = malloc((inside <= ROWS_FILE_MAX ? (size_t)inside : *n) + 1);
    *is_frame = false;
    if (p && inside <= ROWS_FILE_MAX) {
        const size_t got = ZSTD_decompress(p, (size_t)inside, v, *n);
        *is_frame = !ZSTD_isError(got); /* false for those that want a dictionary */
        if (*is_frame)
            *n = got;
    }
    if (!*is_frame) {
        free(p);
        p = malloc(*n + 1);
        if (p && *n)
            memcpy(p, v, *n);
    }
    if (!p)
        abort();
    return p;
}

static inline void rows_bind_frame(sqlite3_stmt *q, const void *data, size_t n)
{
    const size_t cap = ZSTD_compressBound(n);
    unsigned char *frame = malloc(cap);
    const size_t n_frame = frame ? ZSTD_compress(frame, cap, data, n, 1) : 0;
    if (!frame || ZSTD_isError(n_frame))
        abort();
    sqlite3_bind_blob64(q, 1, frame, n_frame, SQLITE_TRANSIENT);
    free(frame);
}

/* Binds the value of a step to ?1. `old` reads the value that is there. */
static inline void rows_bind(sqlite3_stmt *q, sqlite3_stmt *old, fuzz_kind kind, fuzz_input *in)
{
    size_t n = 0, at;
    const uint8_t *p;
    uint64_t v;
    double real;
    if (kind == ROW_TEXT || kind == ROW_BLOB || kind == ROW_FRAME)
        n = (size_t)take(in, 2);
    switch (kind) {
    case ROW_INTEGER: sqlite3_bind_int64(q, 1, (sqlite3_int64)take(in, 8)); break;
    case ROW_BORDER:
        v = take(in, 1);
        v = (v & 64 ? -(UINT64_C(1) << (v & 63)) : UINT64_C(1) << (v & 63)) + (uint64_t)(int64_t)(int8_t)take(in, 1);
        sqlite3_bind_int64(q, 1, (sqlite3_int64)v);
        break;
    case ROW_REAL:
        v = take(in, 8);
        memcpy(&real, &v, sizeof(real));
        sqlite3_bind_double(q, 1, real);
        break;
    case ROW_TEXT:
        p = take_bytes(in, &n);
        sqlite3_bind_text(q, 1, (const char *)p, (int)n, SQLITE_TRANSIENT);
        break;
    case ROW_BLOB:
        p = take_bytes(in, &n);
        sqlite3_bind_blob64(q, 1, p, n, SQLITE_TRANSIENT);
        break;
    case ROW_FRAME:
        p = take_bytes(in, &n);
        rows_bind_frame(q, p, n);
        break;
    case ROW_EDIT:
    case ROW_CUT:
        at = (size_t)take(in, 2);
        if (kind == ROW_EDIT)
            n = (size_t)take(in, 2);
        p = take_bytes(in, &n);
        if (old && sqlite3_step(old) == SQLITE_ROW) {
            size_t n_old;
            bool is_frame;
            unsigned char *value = rows_open_value(old, &n_old, &is_frame);
            at = n_old ? at % n_old : 0;
            n = n < n_old - at ? n : n_old - at;
            if (kind == ROW_EDIT)
                memcpy(value + at, p, n);
            else
                n_old = at;
            if (is_frame)
                rows_bind_frame(q, value, n_old);
            else if (sqlite3_column_type(old, 0) == SQLITE_BLOB)
                sqlite3_bind_blob64(q, 1, value, n_old, SQLITE_TRANSIENT);
            else
                sqlite3_bind_text(q, 1, (const char *)value, (int)n_old, SQLITE_TRANSIENT);
            free(value);
        }
        break;
    default: break; /* NULL, as it is */
    }
}

/* One step of the input. */
static inline void rows_step(sqlite3 *db, const char *const table[], size_t n_table, fuzz_input *in)
{
    char sql[512], where[256], column[ROWS_COLUMNS][ROWS_NAME], key[ROWS_NAME] = "rowid";
    unsigned n_column = 0;
    const unsigned which = (unsigned)(take(in, 1) % n_table);
    const char *t = table[which];
    rows_touched |= 1u << which;
    const unsigned row = (unsigned)take(in, 1), c = (unsigned)take(in, 1);
    const fuzz_kind kind = (fuzz_kind)(take(in, 1) % ROW_KINDS);
    snprintf(sql, sizeof(sql), "SELECT name, pk FROM pragma_table_info('%s')", t);
    sqlite3_stmt *q = rows_query(db, sql), *old = NULL;
    while (q && sqlite3_step(q) == SQLITE_ROW && n_column < ROWS_COLUMNS) {
        snprintf(column[n_column++], ROWS_NAME, "%s", (const char *)sqlite3_column_text(q, 0));
        if (sqlite3_column_int(q, 1) == 1)
            snprintf(key, sizeof(key), "%s", column[n_column - 1]);
    }
    sqlite3_finalize(q);
    if (n_column == 0)
        abort(); /* no such table: the list of the target is old */
    snprintf(where, sizeof(where),
             "%s=(SELECT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %u %% max(1, (SELECT count(*) FROM %s)))", key, key, t,
             key, row, t);
    if (kind == ROW_DELETE) {
        snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE %s", t, where);
    } else {
        snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE %s", column[c % n_column], t, where);
        old = rows_query(db, sql);
        snprintf(sql, sizeof(sql), "UPDATE %s SET %s=?1 WHERE %s", t, column[c % n_column], where);
    }
    q = rows_query(db, sql);
    if (!q)
        abort();
    rows_bind(q, old, kind, in);
    sqlite3_finalize(old);
    rows_run(q);
}

/* A copy of the valid database with the steps of the input in it. vfs NULL: SQLite's own. */
static inline void rows_plant(const char *db_name, const char *vfs, const char *const table[], size_t n_table,
                              fuzz_input *in)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    sqlite3 *db;
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s", db_name, beside[i]);
        unlink(rows_path(name));
    }
    rows_put(db_name, rows_whole, rows_n_whole);
    rows_touched = 0;
    if (sqlite3_open_v2(rows_path(db_name), &db, SQLITE_OPEN_READWRITE, vfs) != SQLITE_OK)
        abort();
    rows_run(rows_query(db, "PRAGMA synchronous=OFF"));
    rows_run(rows_query(db, "BEGIN"));
    for (int i = 0; i < ROWS_STEPS && in->n > 0; i++)
        rows_step(db, table, n_table, in);
    rows_run(rows_query(db, "COMMIT"));
    if (sqlite3_close(db) != SQLITE_OK)
        abort();
}

#endif
