/* store.c - opening and creating the database, its transactions and its errors. store_file.c has what is stored of
 * a file.
 *
 * Log      updates write to a log (WAL), so that readers can go on reading. The first update of many files does
 *          not: with a log it would write every page twice. No log is left when the index is closed, because
 *          another program would move its pages into the database without their checksums (page_vfs.h)
 * Created  first journal mode WAL, then everything else in one transaction. So a database without our application
 *          id and without tables is one whose creator was killed, and is used; one with other tables is not ours
 *          and is left alone
 * Trust    the schema must equal ours exactly (no trigger, no view, no other table), and SQLite runs in defensive
 *          mode, so a planted file cannot make a query do anything else */
#include "store_impl.h"
#include "database.h"
#include "fts_tokenizer.h"
#include "page_vfs.h"
#include "symbol_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { BUSY_MS = 5000, CACHE_KIB = 64 << 10, READ_CACHE_KIB = 16 << 10, SETTLE_BYTES = 16 << 20 };

/* pgsz: a page of FTS5 and the header of its row must fit one page of the database. hashsize: words wait in memory
 * until there are 64 MiB of them, so a million lines of source are written in one go. */
static const char settings[] = "INSERT INTO fts(fts, rank) VALUES('pgsz', 4040);"
                               "INSERT INTO fts(fts, rank) VALUES('hashsize', 67108864);";

/* ---- errors ---- */

myth_status myth_store_damaged(const myth_store *s, const char *how, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "%.120s: the index is damaged (%.60s)",
                            s->path, how);
}

static myth_status disk_failed(const myth_store *s, int rc, myth_error *err)
{
    struct statvfs v;
    int code = sqlite3_system_errno(s->db);
    const char *why = rc == SQLITE_FULL && !code ? "the disk is full" : code ? strerror(code) : sqlite3_errstr(rc);
    if (statvfs(s->path, &v) != 0)
        return myth_fail(err, MYTH_EIO, "%.140s: %s", s->path, why);
    return myth_fail(
        err, MYTH_EIO,
        "%.120s: %s; %llu bytes are free on its disk, an index needs about as many as the source it covers", s->path,
        why, (unsigned long long)v.f_bavail * v.f_frsize);
}

myth_status myth_store_fail(const myth_store *s, int rc, myth_error *err)
{
    if (rc == SQLITE_IOERR_DATA)
        return myth_store_damaged(s, "a page and its checksum differ", err);
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return MYTH_OK;
    case SQLITE_NOMEM: return myth_fail(err, MYTH_ENOMEM, "%.140s: no memory for SQLite", s->path);
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return rc == SQLITE_IOERR_NOMEM ? myth_fail(err, MYTH_ENOMEM, "%.140s: no memory for SQLite", s->path)
                                        : disk_failed(s, rc, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return myth_fail(err, MYTH_ELOST, "%.140s: another process holds the index; try again when it is done",
                         s->path);
    case SQLITE_INTERRUPT: return myth_fail(err, MYTH_ECANCEL, "stopped");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH: {
        int code = sqlite3_system_errno(s->db);
        return myth_fail_option(err, MYTH_ECREATE, "cache_dir", "%.140s: %s; cache_dir names another place for indexes",
                                s->path, code ? strerror(code) : sqlite3_errmsg(s->db));
    }
    case SQLITE_NOTADB: return myth_store_damaged(s, "it is no database", err);
    default: return myth_store_damaged(s, sqlite3_errmsg(s->db), err);
    }
}

static myth_status run_sql(myth_store *s, const char *sql, myth_error *err)
{
    return myth_store_fail(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL), err);
}

/* Reads the first column of the first row; *out keeps its value when there is no row. */
static myth_status get_number(myth_store *s, int64_t *out, const char *sql, myth_error *err)
{
    return myth_store_fail(s, myth_database_number(s->db, out, sql), err);
}

/* ---- open ---- */

/* Reads the file's header before SQLite does: SQLite would accept another page size, and then no page would have its
 * checksum where we look for it. */
static myth_status check_header(const myth_store *s, bool *is_empty, myth_error *err)
{
    unsigned char h[100] = {0};
    sqlite3_file *f = NULL;
    sqlite3_int64 size = 0;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &f);
    if (!f || !f->pMethods || f->pMethods->xFileSize(f, &size) != SQLITE_OK)
        return myth_fail(err, MYTH_EIO, "%.160s: cannot be read", s->path);
    *is_empty = size == 0;
    if (size == 0)
        return MYTH_OK;
    int rc = f->pMethods->xRead(f, h, sizeof(h), 0);
    if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)
        return myth_fail(err, MYTH_EIO, "%.160s: %s", s->path, sqlite3_errstr(rc));
    if (memcmp(h, "SQLite format 3", 16) != 0)
        return myth_store_damaged(s, "it does not begin as a database does", err);
    if ((h[16] << 8 | h[17]) != MYTH_PAGE_BYTES || h[20] != MYTH_PAGE_SUM_BYTES)
        return myth_store_damaged(s, "its pages are not those of an index", err);
    return MYTH_OK;
}

static myth_status make_schema(myth_store *s, myth_error *err)
{
    myth_status st = MYTH_OK;
    char sql[160];
    int i = 0;
    MYTH_TRY(myth_store_begin(s, err));
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d;", MYTH_STORE_APPLICATION,
             MYTH_STORE_VERSION);
    MYTH_TRY(run_sql(s, sql, err));
    for (const myth_store_table *t; (t = myth_store_table_at(i)) != NULL; i++)
        MYTH_TRY(run_sql(s, t->sql, err));
    MYTH_TRY(run_sql(s, settings, err));
    return myth_store_commit(s, err);
fail:
    myth_store_rollback(s);
    return st;
}

static void span(sqlite3_context *c, int n_arg, sqlite3_value **arg)
{
    myth_store *s = sqlite3_user_data(c);
    myth_error err = {0};
    (void)n_arg;
    sqlite3_int64 off = sqlite3_value_int64(arg[1]), n = sqlite3_value_int64(arg[2]);
    if (off < 0 || n < 0 || n > 1 << 30) {
        sqlite3_result_error(c, "span: out of range", -1);
        return;
    }
    unsigned char *text = sqlite3_malloc64((sqlite3_uint64)n + 1);
    if (!text)
        sqlite3_result_error_nomem(c);
    else if (myth_store_text(s, text, sqlite3_value_int64(arg[0]), (uint64_t)off, (uint64_t)n, &err) != MYTH_OK)
        sqlite3_result_error(c, err.msg, -1);
    else
        sqlite3_result_blob64(c, text, (sqlite3_uint64)n, SQLITE_TRANSIENT);
    sqlite3_free(text);
}

/* The size of the database's file with the suffix, 0 when there is none. */
static int64_t bytes_of(const char *path, const char *suffix)
{
    char name[4200];
    struct stat st;
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    return stat(name, &st) == 0 ? (int64_t)st.st_size : 0;
}

void myth_store_remove(const char *path) { myth_database_remove(path); }

static myth_status connect(myth_store *s, const char *name, int flags, myth_error *err)
{
    int rc = myth_database_open(&s->db, name, flags, MYTH_PAGE_VFS, BUSY_MS);
    if (rc == SQLITE_OK && !s->is_read_only && sqlite3_db_readonly(s->db, "main"))
        rc = SQLITE_READONLY;
    if (rc != SQLITE_OK)
        return s->db ? myth_store_fail(s, rc, err)
                     : myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for SQLite", s->path);
    if (sqlite3_create_function(s->db, "span", 3, SQLITE_UTF8 | SQLITE_DIRECTONLY, s, span, NULL, NULL) != SQLITE_OK)
        return myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for SQLite", s->path);
    myth_status st = myth_symbol_rows_register(s, err);
    return st == MYTH_OK ? myth_fts_register(s->db, err) : st;
}

static void disconnect(myth_store *s)
{
    for (int i = 0; i < MYTH_SQL_N; i++) {
        sqlite3_finalize(s->stmt[i]);
        s->stmt[i] = NULL;
    }
    if (s->db)
        sqlite3_close(s->db);
    s->db = NULL;
}

/* Creates the tables, or compares existing ones with those of this build. *is_other: the index has another version
 * and must be made anew. */
static myth_status prepare_schema(myth_store *s, bool *is_other, myth_error *err)
{
    myth_status st = MYTH_OK;
    char sql[160];
    bool is_empty = false;
    int reserve = MYTH_PAGE_SUM_BYTES;
    int64_t application = 0, version = 0, n_table = 0;
    *is_other = false;
    MYTH_TRY(check_header(s, &is_empty, err));
    if (is_empty && !s->is_read_only) {
        sqlite3_file_control(s->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve);
        snprintf(sql, sizeof(sql), "PRAGMA page_size=%d; PRAGMA auto_vacuum=INCREMENTAL;", MYTH_PAGE_BYTES);
        MYTH_TRY(run_sql(s, sql, err));
    }
    snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY;",
             s->is_read_only ? READ_CACHE_KIB : CACHE_KIB);
    MYTH_TRY(run_sql(s, sql, err));
    if (!s->is_read_only)
        MYTH_TRY(run_sql(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0;", err));
    MYTH_TRY(get_number(s, &application, "PRAGMA application_id", err));
    MYTH_TRY(get_number(s, &version, "PRAGMA user_version", err));
    MYTH_TRY(get_number(s, &n_table, "SELECT count(*) FROM sqlite_schema", err));
    if (application != MYTH_STORE_APPLICATION && (application || version || n_table))
        return myth_store_damaged(s, "it is the database of another program", err);
    *is_other = version != MYTH_STORE_VERSION && application == MYTH_STORE_APPLICATION;
    if (s->is_read_only && version != MYTH_STORE_VERSION)
        return myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_MAKE_INDEX, "%.140s: %s", s->path,
                                *is_other ? "an index of another version" : "an empty index");
    if (*is_other)
        return MYTH_OK;
    if (!application)
        return make_schema(s, err);
    MYTH_TRY(myth_store_check_schema(s, err));
    return myth_store_check_keys(s, err);
fail:
    return st;
}

static myth_status open_for_reading(myth_store *s, myth_error *err)
{
    bool is_other;
    if (access(s->path, F_OK) != 0)
        return myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_MAKE_INDEX, "%.160s: no index", s->path);
    if (bytes_of(s->path, "-journal") > 0) { /* a first update was killed: SQLite rolls it back once it may write */
        int64_t n;
        if (connect(s, s->path, SQLITE_OPEN_READWRITE, NULL) == MYTH_OK)
            get_number(s, &n, "PRAGMA user_version", NULL);
        disconnect(s);
    }
    myth_status st = connect(s, s->path, SQLITE_OPEN_READONLY, err);
    if (st == MYTH_OK)
        st = prepare_schema(s, &is_other, err);
    if (st != MYTH_ECREATE || bytes_of(s->path, "-wal") > 0 || bytes_of(s->path, "-journal") > 0)
        return st;
    disconnect(s);
    char *uri = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", myth_database_uri_bound(strlen(s->path)));
    if (!uri)
        return myth_fail(err, MYTH_ENOMEM, "%.160s: no memory", s->path);
    myth_database_immutable(uri, s->path);
    st = connect(s, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    myth_free(s->mem, uri);
    return st == MYTH_OK ? prepare_schema(s, &is_other, err) : st;
}

static myth_status open_for_writing(myth_store *s, myth_error *err)
{
    bool is_other = true;
    myth_status st = MYTH_OK;
    for (int i = 0; i < 2 && st == MYTH_OK && is_other; i++) {
        if (i > 0) {
            disconnect(s);
            myth_store_remove(s->path);
        }
        int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* readable by the owner alone */
        if (fd >= 0)
            close(fd);
        st = connect(s, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
        if (st == MYTH_OK)
            st = prepare_schema(s, &is_other, err);
    }
    return st;
}

myth_status myth_store_open(myth_store **out, myth_mem *mem, const char *path, bool is_read_only, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = NULL;
    MYTH_TRY(myth_page_vfs_register(err));
    myth_store *s = myth_alloc(mem, MYTH_MEM_OTHER, "index", sizeof(*s));
    if (!s)
        return myth_fail(err, MYTH_ENOMEM, "%.160s: no memory", path);
    s->mem = mem;
    s->is_read_only = is_read_only;
    s->path = myth_alloc(mem, MYTH_MEM_OTHER, "index", strlen(path) + 1);
    s->block = myth_alloc(mem, MYTH_MEM_OTHER, "index", MYTH_BLOCK_BYTES);
    s->packed = myth_alloc(mem, MYTH_MEM_OTHER, "index", (size_t)MYTH_PIECE_BYTES << MYTH_PIECE_BITS);
    s->block_id = -1;
    s->unpack = ZSTD_createDCtx();
    if (s->path)
        strcpy(s->path, path);
    st = !s->path || !s->block || !s->packed || !s->unpack ? myth_fail(err, MYTH_ENOMEM, "%.160s: no memory", path)
       : is_read_only                                      ? open_for_reading(s, err)
                                                           : open_for_writing(s, err);
    if (st != MYTH_OK) {
        myth_store_close(s);
        return st;
    }
    *out = s;
fail:
    return st;
}

void myth_store_close(myth_store *s)
{
    if (!s)
        return;
    myth_mem *mem = s->mem;
    myth_store_rollback(s);
    myth_store_read_end(s);
    disconnect(s);
    myth_store_forget(s);
    myth_symbol_rows_forget(s);
    ZSTD_freeDCtx(s->unpack);
    ZSTD_freeDDict(s->unpack_dictionary);
    ZSTD_freeCDict(s->pack_dictionary);
    myth_free(mem, s->packed);
    myth_free(mem, s->block);
    myth_free(mem, s->path);
    myth_free(mem, s);
}

void myth_store_forget(myth_store *s)
{
    for (uint32_t i = 0; i < s->known.n_file; i++)
        myth_free(s->mem, s->known.file[i].path);
    myth_free(s->mem, s->known.file);
    myth_free(s->mem, s->known.chunk);
    s->known = (myth_known){.n_file = 0};
}

sqlite3 *myth_store_db(const myth_store *s) { return s->db; }
myth_file_counts myth_store_counts(const myth_store *s) { return s->counts; }

/* ---- statements, transactions ---- */

sqlite3_stmt *myth_store_statement(myth_store *s, enum myth_statement which, myth_error *err)
{
    static const char *const sql[] = {
#define S(name, text) [MYTH_SQL_##name] = text,
        MYTH_STATEMENTS(S)
#undef S
    };
    sqlite3_stmt **q = &s->stmt[which];
    if (*q) {
        sqlite3_reset(*q);
        sqlite3_clear_bindings(*q);
        return *q;
    }
    int rc = sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, q, NULL);
    if (rc != SQLITE_OK)
        myth_store_fail(s, rc, err);
    return *q;
}

myth_status myth_store_run(myth_store *s, sqlite3_stmt *q, myth_error *err)
{
    int rc = sqlite3_step(q);
    myth_status st = myth_store_fail(s, rc, err); /* before the reset, which clears the system's errno */
    sqlite3_reset(q);
    return st;
}

myth_status myth_store_begin(myth_store *s, myth_error *err)
{
    myth_status st = run_sql(s, "BEGIN IMMEDIATE", err);
    s->is_writing = st == MYTH_OK;
    s->counts = (myth_file_counts){0};
    return st;
}

/* Switches between WAL and a rollback journal. While another connection is open SQLite keeps the mode it has.
 * Without a log, an interrupted transaction is rolled back from its journal. */
static void set_log(myth_store *s, bool has_log)
{
    sqlite3_exec(s->db, has_log ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    s->has_no_log = !has_log;
}

myth_status myth_store_begin_first(myth_store *s, myth_error *err)
{
    set_log(s, false);
    myth_status st = myth_store_begin(s, err);
    if (st != MYTH_OK)
        set_log(s, true);
    return st;
}

myth_status myth_store_commit(myth_store *s, myth_error *err)
{
    myth_status st = myth_symbol_rows_flush(s, err);
    if (st == MYTH_OK)
        st = run_sql(s, "COMMIT", err);
    if (st == MYTH_OK)
        myth_symbol_rows_forget(s);
    s->block_id = -1;
    s->is_writing = st != MYTH_OK;
    if (st == MYTH_OK && s->has_no_log)
        set_log(s, true);
    return st;
}

void myth_store_rollback(myth_store *s)
{
    s->block_id = -1;
    myth_symbol_rows_forget(s);
    if (s->is_writing && !sqlite3_get_autocommit(s->db)) {
        for (int i = 0; i < MYTH_SQL_N; i++)
            sqlite3_reset(s->stmt[i]);
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    s->is_writing = false;
    if (s->has_no_log)
        set_log(s, true);
}

/* A savepoint makes FTS5 write the words that wait in memory. */
myth_status myth_store_write_words(myth_store *s, myth_error *err)
{
    return run_sql(s, "SAVEPOINT words; RELEASE words;", err);
}

/* FTS5 merges two or more segments into one on the next level; it leaves a single one where it is. */
myth_status myth_store_gather(myth_store *s, myth_error *err)
{
    myth_status st = myth_store_write_words(s, err);
    return st == MYTH_OK ? run_sql(s, "INSERT INTO fts(fts) VALUES('optimize'); PRAGMA incremental_vacuum;", err) : st;
}

void myth_store_settle(myth_store *s)
{
    if (bytes_of(s->path, "-wal") > SETTLE_BYTES)
        sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

myth_status myth_store_read_begin(myth_store *s, myth_error *err)
{
    int64_t n;
    if (s->is_reading || s->is_writing)
        return MYTH_OK;
    myth_status st = run_sql(s, "BEGIN", err);
    s->is_reading = st == MYTH_OK;
    if (st == MYTH_OK)
        /* the first read of a transaction fixes what it sees */
        st = get_number(s, &n, "SELECT count(*) FROM meta", err);
    return st;
}

void myth_store_read_end(myth_store *s)
{
    if (s->is_reading && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->is_reading = false;
}

int64_t myth_store_number(myth_store *s, const char *key, int64_t missing)
{
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_NUMBER, NULL);
    if (!q)
        return missing;
    sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
    int64_t value = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : missing;
    sqlite3_reset(q);
    return value;
}

myth_status myth_store_set_number(myth_store *s, const char *key, int64_t value, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_SET_NUMBER, err);
    if (!q)
        return err ? err->code : MYTH_EFORMAT;
    sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, value);
    return myth_store_run(s, q, err);
}
