/* runlog_file.c - opens or makes the run log's database, writes and reads its rows, and drops the oldest runs when
 * there are too many or they are too large. runlog_file.h describes the layout. */
#include "runlog_file.h"

#include "engine/base/mtime.h"
#include "engine/base/outfile.h"
#include "frontend/cli/environment.h"
#include "frontend/inspect/secrets/sha256.h"
#include "retrieval/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* LEVEL is zstd's. MAKE_TRIES opens with 20 ms between them wait about 2 s for another process that makes the file. */
enum { CACHE_KIB = 512, LEVEL = 6, HASH_BYTES = 16, MAKE_TRIES = 100 };

/* Every statement is compared with the file's own, letter by letter: another spelling needs another version. */
static const struct {
    const char *name, *sql;
} schema[] = {
    {"runs", "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, began_ms INTEGER, command TEXT, subject TEXT, "
             "exit_code INTEGER, "
             "bytes INTEGER, record TEXT, hash BLOB)"},
    {"texts", "CREATE TABLE texts(run_id INTEGER, name TEXT, n INTEGER, data BLOB)"},
    {"texts_run", "CREATE UNIQUE INDEX texts_run ON texts(run_id, name)"},
    {"hashes", "CREATE TABLE hashes(path BLOB PRIMARY KEY, bytes INTEGER, mtime_ns INTEGER, inode INTEGER, hash TEXT)"},
};
enum { N_SCHEMA = sizeof(schema) / sizeof(schema[0]) };

struct myth_runlog_file {
    myth_mem *mem;
    sqlite3 *db;
    char path[PATH_MAX];
    uint32_t max_runs;
    uint64_t max_bytes;
    bool is_read_only;
};

/* ---- errors ---- */

static myth_status damaged(const myth_runlog_file *f, const char *how, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT,
                     "%.120s: the run log is damaged (%.60s); remove this file, the next run makes it anew", f->path,
                     how);
}

/* Turns a result of SQLite into a status and a message with the cause. */
static myth_status fail_of(const myth_runlog_file *f, int rc, myth_error *err)
{
    int code = f->db ? sqlite3_system_errno(f->db) : 0;
    struct statvfs v;
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return MYTH_OK;
    case SQLITE_NOMEM: return myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for SQLite", f->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return myth_fail(err, MYTH_ELOST, "%.160s: another process holds the run log; try again when it is done",
                         f->path);
    case SQLITE_FULL:
    case SQLITE_IOERR:
        if (statvfs(f->path, &v) != 0)
            v.f_bavail = 0;
        return myth_fail(err, MYTH_EIO, "%.120s: %.40s; %llu bytes are free on its disk", f->path,
                         (rc & 0xff) == SQLITE_FULL && !code ? "the disk is full"
                         : code                              ? strerror(code)
                                                             : sqlite3_errstr(rc),
                         (unsigned long long)v.f_bavail * v.f_frsize);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return myth_fail(err, MYTH_ECREATE, "%.120s: %.40s; --log FILE or XDG_STATE_HOME names another place", f->path,
                         code ? strerror(code) : sqlite3_errstr(rc));
    case SQLITE_NOTADB: return damaged(f, "it is no database", err);
    default: return damaged(f, sqlite3_errmsg(f->db), err);
    }
}

static myth_status run_sql(myth_runlog_file *f, const char *sql, myth_error *err)
{
    return fail_of(f, sqlite3_exec(f->db, sql, NULL, NULL, NULL), err);
}

static myth_status prepare(myth_runlog_file *f, sqlite3_stmt **q, const char *sql, myth_error *err)
{
    return fail_of(f, sqlite3_prepare_v2(f->db, sql, -1, q, NULL), err);
}

/* Runs a statement that returns no rows, and finalizes it. */
static myth_status finish(myth_runlog_file *f, sqlite3_stmt *q, myth_error *err)
{
    myth_status st = fail_of(f, sqlite3_step(q), err);
    sqlite3_finalize(q);
    return st;
}

static myth_status get_number(myth_runlog_file *f, int64_t *out, const char *sql, myth_error *err)
{
    return fail_of(f, myth_database_number(f->db, out, sql), err);
}

/* ---- open ---- */

myth_status myth_runlog_file_place(char *dst, size_t cap, const char *given, myth_error *err)
{
    const int n = given ? snprintf(dst, cap, "%s", given)
                        : myth_env_path(dst, cap, "XDG_STATE_HOME", "/.local/state", "/mythos/runs.db");
    if (n == 0 && !given)
        return myth_fail(
            err, MYTH_ENOTFOUND,
            "no place for the run log: neither XDG_STATE_HOME nor HOME is an absolute path; --log FILE names one");
    if (n <= 0 || (size_t)n + 16 > cap)
        return myth_fail(err, MYTH_EARG, "the run log's path: %d bytes, expected 1 to %zu", n, cap - 16);
    return MYTH_OK;
}

/* Makes the missing folders above a path, for their owner alone: a record shows what was inspected. */
static myth_status make_folders(const char *path, myth_error *err)
{
    char dir[PATH_MAX];
    const int e = myth_out_folders(dir, path);
    return e ? myth_fail(err, MYTH_ECREATE, "%.150s: %s; --log FILE or XDG_STATE_HOME names another place", dir,
                         strerror(e))
             : MYTH_OK;
}

static myth_status make_schema(myth_runlog_file *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    char sql[96];
    int64_t n_table = 0;
    MYTH_TRY(run_sql(f, "BEGIN IMMEDIATE", err));
    /* counted again inside the transaction, because another process may have made the tables meanwhile */
    MYTH_TRY(get_number(f, &n_table, "SELECT count(*) FROM sqlite_schema", err));
    for (int i = 0; i < N_SCHEMA && n_table == 0; i++)
        MYTH_TRY(run_sql(f, schema[i].sql, err));
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d;", MYTH_RUNLOG_APPLICATION,
             MYTH_RUNLOG_VERSION);
    if (n_table == 0)
        MYTH_TRY(run_sql(f, sql, err));
    return run_sql(f, "COMMIT", err);
fail:
    sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

/* Refuses a file whose tables differ from the schema in any letter, or that has a trigger or a view, which a planted
 * file could use to run its own statements. SQLite itself makes sqlite_sequence, for AUTOINCREMENT. */
static myth_status check_schema(myth_runlog_file *f, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int n_ours = 0, rc;
    bool is_ours = true;
    myth_status st = prepare(f, &q,
                             "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND NOT (type = 'table' AND "
                             "name = 'sqlite_sequence' AND sql = 'CREATE TABLE sqlite_sequence(name,seq)')",
                             err);
    if (st != MYTH_OK)
        return st;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0), *sql = (const char *)sqlite3_column_text(q, 1);
        int i = 0;
        while (name && i < N_SCHEMA && strcmp(schema[i].name, name) != 0)
            i++;
        is_ours = is_ours && name && sql && i < N_SCHEMA && strcmp(schema[i].sql, sql) == 0;
        n_ours++;
    }
    st = fail_of(f, rc, err);
    sqlite3_finalize(q);
    return st != MYTH_OK || (is_ours && n_ours == N_SCHEMA) ? st
                                                            : damaged(f, "its tables are not those of a run log", err);
}

/* Refuses numbers of runs from 2^53 on, which only a planted file has. After 2^63 - 1 SQLite has no next number, and
 * every later run would fail with the message of a full disk. */
static myth_status check_ids(myth_runlog_file *f, myth_error *err)
{
    int64_t is_outside = 0;
    myth_status st = get_number(
        f, &is_outside,
        "SELECT coalesce((SELECT min(id) FROM runs) < 1, 0) OR coalesce((SELECT max(id) FROM runs) >= 1 << 53, 0) OR "
        "EXISTS(SELECT 1 FROM sqlite_sequence WHERE typeof(seq) <> 'integer' OR seq < 0 OR seq >= 1 << 53)",
        err);
    return st == MYTH_OK && is_outside ? damaged(f, "the number of a run is out of range", err) : st;
}

static myth_status prepare_database(myth_runlog_file *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    int64_t application = 0, version = 0, n_table = 0;
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY;", CACHE_KIB);
    MYTH_TRY(run_sql(f, sql, err));
    MYTH_TRY(get_number(f, &n_table, "SELECT count(*) FROM sqlite_schema", err));
    MYTH_TRY(get_number(f, &application, "PRAGMA application_id", err));
    MYTH_TRY(get_number(f, &version, "PRAGMA user_version", err));
    if (n_table == 0 && application == 0) {
        if (f->is_read_only)
            return myth_fail(err, MYTH_ENOTFOUND, "%.160s: the run log is empty", f->path);
        MYTH_TRY(run_sql(f, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;", err));
        MYTH_TRY(make_schema(f, err));
    } else if (application != MYTH_RUNLOG_APPLICATION) {
        return damaged(f, "it is the database of another program", err);
    } else if (version != MYTH_RUNLOG_VERSION) {
        return myth_fail(err, MYTH_EFORMAT,
                         "%.120s: a run log of version %lld, expected %d; move it away or name another with --log",
                         f->path, (long long)version, (int)MYTH_RUNLOG_VERSION);
    }
    if (!f->is_read_only)
        MYTH_TRY(run_sql(f, "PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;", err));
    MYTH_TRY(check_schema(f, err));
    return check_ids(f, err);
fail:
    return st;
}

static myth_status connect(myth_runlog_file *f, const char *name, int flags, myth_error *err)
{
    int rc = myth_database_open(&f->db, name, flags, NULL, MYTH_RUNLOG_WAIT_MS);
    if (!f->db)
        return myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for SQLite", f->path);
    if (rc == SQLITE_OK && !f->is_read_only && sqlite3_db_readonly(f->db, "main"))
        rc = SQLITE_READONLY;
    if (rc != SQLITE_OK)
        return fail_of(f, rc, err);
    return prepare_database(f, err);
}

static myth_status open_for_reading(myth_runlog_file *f, myth_error *err)
{
    char uri[3 * PATH_MAX + 32];
    struct stat info;
    if (stat(f->path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                 ? myth_fail(err, MYTH_ENOTFOUND,
                             "%.120s: no run was logged there yet; an inspect command makes the log", f->path)
                 : myth_fail(err, MYTH_EIO, "%.160s: %s", f->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return myth_fail(err, MYTH_EIO, "%.120s: is not a file; --log names the file of the log", f->path);
    myth_status st = connect(f, f->path, SQLITE_OPEN_READONLY, err);
    if (st != MYTH_ECREATE)
        return st;
    sqlite3_close(f->db);
    f->db = NULL;
    /* That nobody writes to the log meanwhile is assumed: a run that logs could make the files beside it. */
    myth_database_immutable(uri, f->path);
    return connect(f, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

static myth_status open_for_writing(myth_runlog_file *f, myth_error *err)
{
    struct stat info;
    myth_status st = make_folders(f->path, err);
    if (st != MYTH_OK)
        return st;
    if (stat(f->path, &info) == 0 && !S_ISREG(info.st_mode))
        return myth_fail(err, MYTH_ECREATE, "%.160s: not a file; --log FILE names one", f->path);
    /* SQLite would make the file with the permissions that the umask leaves; it must be for its owner alone */
    int fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    else if (errno != EEXIST)
        return myth_fail(err, errno == ENOSPC ? MYTH_EIO : MYTH_ECREATE,
                         "%.120s: %s; --log FILE or XDG_STATE_HOME names another place", f->path, strerror(errno));
    /* The change to WAL does not wait for the busy timeout: it fails at once while another process makes this file. */
    for (int i = 0;; i++) {
        st = connect(f, f->path, SQLITE_OPEN_READWRITE, err);
        if (st != MYTH_ELOST || i == MAKE_TRIES)
            return st;
        sqlite3_close(f->db);
        f->db = NULL;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

myth_status myth_runlog_file_open(myth_runlog_file **out, myth_mem *mem, const char *path,
                                  const myth_runlog_file_opts *opts, myth_error *err)
{
    *out = NULL;
    myth_runlog_file *f = myth_alloc(mem, MYTH_MEM_OTHER, "run log", sizeof(*f));
    if (!f)
        return myth_fail(err, MYTH_ENOMEM, "%.160s: no memory", path);
    f->mem = mem;
    f->is_read_only = opts->is_read_only;
    f->max_runs = opts->max_runs ? opts->max_runs : MYTH_RUNLOG_RUNS;
    f->max_bytes = opts->max_bytes ? opts->max_bytes : MYTH_RUNLOG_BYTES;
    snprintf(f->path, sizeof(f->path), "%s", path);
    myth_status st = opts->is_read_only ? open_for_reading(f, err) : open_for_writing(f, err);
    if (st == MYTH_OK)
        *out = f;
    else
        myth_runlog_file_close(f);
    return st;
}

void myth_runlog_file_defer(myth_runlog_file *f)
{
    sqlite3_db_config(f->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
}

void myth_runlog_file_hurry(myth_runlog_file *f)
{
    sqlite3_busy_timeout(f->db, 0);
    sqlite3_exec(f->db, "PRAGMA wal_checkpoint(RESTART)", NULL, NULL, NULL); /* what follows has the room of the WAL */
}

void myth_runlog_file_close(myth_runlog_file *f)
{
    if (!f)
        return;
    sqlite3_close(f->db);
    myth_free(f->mem, f);
}

const char *myth_runlog_file_path(const myth_runlog_file *f) { return f->path; }

/* ---- writing ---- */

myth_status myth_runlog_file_begin(myth_runlog_file *f, int64_t *run, int64_t began_ms, const char *command,
                                   myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_status st = prepare(f, &q, "INSERT INTO runs(began_ms, command, bytes) VALUES(?1, ?2, 0)", err);
    if (st != MYTH_OK)
        return st;
    sqlite3_bind_int64(q, 1, began_ms);
    sqlite3_bind_text(q, 2, command, -1, SQLITE_STATIC);
    st = finish(f, q, err);
    *run = sqlite3_last_insert_rowid(f->db);
    return st;
}

static myth_status compress(myth_runlog_file *f, unsigned char **out, size_t *n_out, const void *data, size_t n,
                            myth_error *err)
{
    size_t cap = ZSTD_compressBound(n), k = 0;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    *out = myth_alloc(f->mem, MYTH_MEM_OTHER, "run log", cap);
    bool ok = z && *out && !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1)) &&
              !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL)) &&
              !ZSTD_isError(k = ZSTD_compress2(z, *out, cap, data, n));
    ZSTD_freeCCtx(z);
    *n_out = k;
    return ok ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for %zu bytes", f->path, cap);
}

/* The fault of a run whose row another process deleted: what it would write belongs to no run. */
static myth_status lost(const myth_runlog_file *f, int64_t run, myth_error *err)
{
    return myth_fail(err, MYTH_ELOST, "%.120s: run %lld was deleted by another program while it went on", f->path,
                     (long long)run);
}

myth_status myth_runlog_file_put(myth_runlog_file *f, int64_t run, const char *name, const void *data, size_t n,
                                 myth_error *err)
{
    sqlite3_stmt *q = NULL;
    unsigned char *packed = NULL;
    size_t n_packed = 0;
    myth_status st = MYTH_OK;
    if (n > MYTH_RUNLOG_TEXT_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "%.40s: %zu bytes, at most %d are kept", name, n,
                         (int)MYTH_RUNLOG_TEXT_BYTES);
    MYTH_TRY(compress(f, &packed, &n_packed, data, n, err));
    MYTH_TRY(prepare(f, &q,
                     "INSERT OR REPLACE INTO texts(run_id, name, n, data) SELECT ?1, ?2, ?3, ?4 WHERE EXISTS(SELECT 1 "
                     "FROM runs WHERE id=?1)",
                     err));
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_text(q, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 3, (sqlite3_int64)n);
    sqlite3_bind_blob64(q, 4, packed, n_packed, SQLITE_STATIC);
    MYTH_TRY(finish(f, q, err));
    if (sqlite3_changes(f->db) == 0)
        st = lost(f, run, err);
fail:
    myth_free(f->mem, packed);
    return st;
}

static void hash_of(unsigned char out[HASH_BYTES], const void *data, size_t n)
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(data, n));
    memcpy(out, c.digest, HASH_BYTES);
}

/* The first run that may stay; all before it may not. */
static myth_status find_first(myth_runlog_file *f, const myth_runlog_prune *what, int64_t *first, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    uint64_t n = 0, sum = 0;
    int rc;
    *first = INT64_MAX;
    myth_status st = prepare(f, &q, "SELECT id, bytes, began_ms FROM runs ORDER BY id DESC", err);
    if (st != MYTH_OK)
        return st;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const int64_t own = sqlite3_column_int64(q, 1);
        sum += own > 0 ? (uint64_t)own : 0;
        if (++n > what->max_runs || sum > what->max_bytes || sqlite3_column_int64(q, 2) < what->since_ms)
            break;
        *first = sqlite3_column_int64(q, 0);
    }
    st = rc == SQLITE_ROW ? MYTH_OK : fail_of(f, rc, err);
    sqlite3_finalize(q);
    if (st == MYTH_OK && rc != SQLITE_ROW)
        *first = 0; /* all may stay */
    return st;
}

/* Of the runs before ?1 those that have ended, or that began before ?2, a day ago: any other may be going on. */
#define MAY_GO "id < ?1 AND (exit_code IS NOT NULL OR began_ms < ?2)"

static int64_t a_day_ago(void)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    return (int64_t)time(NULL) * 1000 - DAY_MS;
}

/* Deletes the runs before the first one that stays, except those that may be going on, and every text without a run. */
static myth_status delete_before(myth_runlog_file *f, int64_t first, int64_t day_ago, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_status st = prepare(f, &q, "DELETE FROM runs WHERE " MAY_GO, err);
    if (st != MYTH_OK)
        return st;
    sqlite3_bind_int64(q, 1, first);
    sqlite3_bind_int64(q, 2, day_ago);
    st = finish(f, q, err);
    return st != MYTH_OK ? st : run_sql(f, "DELETE FROM texts WHERE run_id NOT IN (SELECT id FROM runs)", err);
}

/* Deletes the oldest runs until both bounds hold, and all but the 1,000 newest hashes with them. The run that ends
 * here stays whatever its size, and so does every run that may be going on. */
static myth_status drop_oldest(myth_runlog_file *f, int64_t run, myth_error *err)
{
    const myth_runlog_prune what = {.max_runs = f->max_runs, .max_bytes = f->max_bytes, .since_ms = INT64_MIN};
    int64_t first;
    myth_status st = find_first(f, &what, &first, err);
    if (st != MYTH_OK || first == 0)
        return st;
    st = delete_before(f, first < run ? first : run, a_day_ago(), err);
    return st != MYTH_OK ? st
                         : run_sql(f,
                                   "DELETE FROM hashes WHERE rowid NOT IN (SELECT rowid FROM hashes ORDER BY rowid "
                                   "DESC LIMIT 1000); PRAGMA incremental_vacuum;",
                                   err);
}

myth_status myth_runlog_file_prune(myth_runlog_file *f, const myth_runlog_prune *what, uint64_t *n_run, uint64_t *bytes,
                                   myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *q = NULL;
    int64_t first;
    const int64_t day_ago = a_day_ago();
    *n_run = *bytes = 0;
    if (!what->is_dry)
        MYTH_TRY(run_sql(f, "BEGIN IMMEDIATE", err));
    MYTH_TRY(find_first(f, what, &first, err));
    MYTH_TRY(prepare(f, &q, "SELECT count(*), ifnull(sum(max(bytes, 0)), 0) FROM runs WHERE " MAY_GO, err));
    sqlite3_bind_int64(q, 1, first);
    sqlite3_bind_int64(q, 2, day_ago);
    const int rc = sqlite3_step(q);
    *n_run = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
    *bytes = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 1) : 0;
    st = rc == SQLITE_ROW ? MYTH_OK : fail_of(f, rc, err);
    sqlite3_finalize(q);
    if (st != MYTH_OK || what->is_dry)
        goto fail;
    MYTH_TRY(delete_before(f, first, day_ago, err));
    MYTH_TRY(run_sql(f, "COMMIT", err));
    return run_sql(f, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);", err);
fail:
    if (!what->is_dry)
        sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

myth_status myth_runlog_file_save(myth_runlog_file *f, int64_t run, const char *subject, const char *record, size_t n,
                                  const int *exit_code, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *q = NULL;
    unsigned char hash[HASH_BYTES];
    if (n > MYTH_RUNLOG_RECORD_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "the record of this run: %zu bytes, at most %d are kept", n,
                         (int)MYTH_RUNLOG_RECORD_BYTES);
    hash_of(hash, record, n);
    MYTH_TRY(run_sql(f, "BEGIN IMMEDIATE", err));
    MYTH_TRY(prepare(f, &q,
                     "UPDATE runs SET record=?2, hash=?3, exit_code=?4, subject=?6, bytes=?5 + (SELECT "
                     "ifnull(sum(length(data)), 0) FROM texts "
                     "WHERE run_id=?1) WHERE id=?1",
                     err));
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_text64(q, 2, record, n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_blob(q, 3, hash, sizeof(hash), SQLITE_STATIC);
    if (exit_code)
        sqlite3_bind_int(q, 4, *exit_code);
    sqlite3_bind_int64(q, 5, (sqlite3_int64)n);
    sqlite3_bind_text(q, 6, subject, -1, SQLITE_STATIC);
    MYTH_TRY(finish(f, q, err));
    if (sqlite3_changes(f->db) == 0)
        MYTH_TRY(lost(f, run, err));
    if (exit_code)
        MYTH_TRY(drop_oldest(f, run, err));
    MYTH_TRY(run_sql(f, "COMMIT", err));
fail:
    if (st != MYTH_OK)
        sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

/* ---- reading ---- */

static const char *text_of(sqlite3_stmt *q, int i)
{
    const char *s = (const char *)sqlite3_column_text(q, i);
    return s ? s : "";
}

myth_status myth_runlog_file_list(myth_runlog_file *f, uint32_t n,
                                  bool (*on_row)(void *user, const myth_runlog_row *row), void *user, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc;
    bool more = true;
    myth_status st = prepare(
        f, &q, "SELECT id, began_ms, command, subject, exit_code, bytes FROM runs ORDER BY id DESC LIMIT ?1", err);
    if (st != MYTH_OK)
        return st;
    sqlite3_bind_int64(q, 1, n);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW && more) {
        myth_runlog_row r = {
            .id = sqlite3_column_int64(q, 0),
            .began_ms = sqlite3_column_int64(q, 1),
            .command = text_of(q, 2),
            .subject = text_of(q, 3),
            .has_ended = sqlite3_column_type(q, 4) != SQLITE_NULL,
            .exit_code = sqlite3_column_int(q, 4),
            .bytes = (uint64_t)sqlite3_column_int64(q, 5),
        };
        more = on_row(user, &r);
    }
    st = fail_of(f, rc, err);
    sqlite3_finalize(q);
    return st;
}

myth_status myth_runlog_file_newest(myth_runlog_file *f, int64_t *run, myth_error *err)
{
    *run = 0;
    myth_status st = get_number(f, run, "SELECT id FROM runs ORDER BY id DESC LIMIT 1", err);
    return st != MYTH_OK || *run
             ? st
             : myth_fail(err, MYTH_ENOTFOUND, "%.120s: no run was logged yet; an inspect command logs one", f->path);
}

static myth_status no_run(myth_runlog_file *f, int64_t run, myth_error *err)
{
    int64_t first = 0, last = 0;
    myth_status st = get_number(f, &first, "SELECT min(id) FROM runs", err);
    if (st == MYTH_OK)
        st = get_number(f, &last, "SELECT max(id) FROM runs", err);
    if (st != MYTH_OK)
        return st;
    if (first == last)
        return myth_fail(err, MYTH_ENOTFOUND, "%.120s: no run %lld; it has run %lld alone: mythos log list", f->path,
                         (long long)run, (long long)first);
    return myth_fail(err, MYTH_ENOTFOUND, "%.120s: no run %lld; it has %lld to %lld: mythos log list", f->path,
                     (long long)run, (long long)first, (long long)last);
}

myth_status myth_runlog_file_record(myth_runlog_file *f, int64_t run, char **record, size_t *n, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    unsigned char hash[HASH_BYTES];
    *record = NULL;
    myth_status st = prepare(f, &q, "SELECT record, hash FROM runs WHERE id=?1", err);
    if (st != MYTH_OK)
        return st;
    sqlite3_bind_int64(q, 1, run);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        const void *data = sqlite3_column_blob(q, 0), *sum = sqlite3_column_blob(q, 1);
        *n = (size_t)sqlite3_column_bytes(q, 0);
        hash_of(hash, data, data ? *n : 0);
        if (!data)
            st = myth_fail(err, MYTH_ENOTFOUND, "%.120s: run %lld was ended before anything was recorded", f->path,
                           (long long)run);
        else if (!sum || sqlite3_column_bytes(q, 1) != HASH_BYTES || memcmp(hash, sum, HASH_BYTES) != 0)
            st = damaged(f, "a record and its hash differ", err);
        else if (!(*record = myth_alloc(f->mem, MYTH_MEM_OTHER, "run log", *n + 1)))
            st = myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for %zu bytes", f->path, *n);
        else
            memcpy(*record, data, *n);
    } else {
        st = fail_of(f, rc, err);
        if (st == MYTH_OK)
            st = no_run(f, run, err);
    }
    sqlite3_finalize(q);
    return st;
}

myth_status myth_runlog_file_text(myth_runlog_file *f, int64_t run, const char *name, char **text, size_t *n,
                                  myth_error *err)
{
    sqlite3_stmt *q = NULL;
    *text = NULL;
    myth_status st = prepare(f, &q, "SELECT n, data FROM texts WHERE run_id=?1 AND name=?2", err);
    if (st != MYTH_OK)
        return st;
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_text(q, 2, name, -1, SQLITE_STATIC);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        sqlite3_int64 want = sqlite3_column_int64(q, 0);
        const void *data = sqlite3_column_blob(q, 1);
        size_t n_data = (size_t)sqlite3_column_bytes(q, 1);
        if (want < 0 || want > MYTH_RUNLOG_TEXT_BYTES)
            st = damaged(f, "the length of a text", err);
        else if (!(*text = myth_alloc(f->mem, MYTH_MEM_OTHER, "run log", (size_t)want + 1)))
            st = myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for %lld bytes", f->path, (long long)want);
        else if ((*n = ZSTD_decompress(*text, (size_t)want, data, n_data)) != (size_t)want)
            st = damaged(f, "a text and its checksum differ", err);
        if (st != MYTH_OK) {
            myth_free(f->mem, *text);
            *text = NULL;
        }
    } else {
        st = fail_of(f, rc, err);
        if (st == MYTH_OK)
            st = myth_fail(err, MYTH_ENOTFOUND, "run %lld has no text %.40s", (long long)run, name);
    }
    sqlite3_finalize(q);
    return st;
}

/* ---- hashes of files ---- */

void myth_runlog_hash_bytes(char dst[72], const void *data, size_t n)
{
    myth_sha256 s;
    unsigned char digest[MYTH_SHA256_BYTES];
    myth_sha256_start(&s);
    myth_sha256_add(&s, data, n);
    myth_sha256_end(&s, digest);
    memcpy(dst, "sha256:", 7);
    myth_sha256_hex(dst + 7, digest, 64);
}

/* Whether the file was hashed before with the same size, time and inode; sets the hash then. */
static bool remembered(myth_runlog_file *f, const char *path, myth_runlog_hash *h)
{
    sqlite3_stmt *q = NULL;
    bool found = false;
    if (prepare(f, &q, "SELECT hash FROM hashes WHERE path=?1 AND bytes=?2 AND mtime_ns=?3 AND inode=?4", NULL) !=
        MYTH_OK)
        return false;
    sqlite3_bind_blob(q, 1, path, (int)strlen(path), SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, (sqlite3_int64)h->bytes);
    sqlite3_bind_int64(q, 3, h->mtime_ns);
    sqlite3_bind_int64(q, 4, (sqlite3_int64)h->inode);
    if (sqlite3_step(q) == SQLITE_ROW && strlen(text_of(q, 0)) < sizeof(h->hash)) {
        strcpy(h->hash, text_of(q, 0));
        found = true;
    }
    sqlite3_finalize(q);
    return found;
}

/* Whether the last change was more than 2 s ago. After a later one the file could change again without a new time, and
 * the remembered hash would be wrong; file systems count time in steps of up to 2 s. */
static bool is_settled(const myth_runlog_hash *h) { return (int64_t)time(NULL) - h->mtime_ns / 1000000000 > 2; }

static void remember(myth_runlog_file *f, const char *path, const myth_runlog_hash *h)
{
    sqlite3_stmt *q = NULL;
    if (!is_settled(h) ||
        prepare(f, &q, "INSERT OR REPLACE INTO hashes(path, bytes, mtime_ns, inode, hash) VALUES(?1, ?2, ?3, ?4, ?5)",
                NULL) != MYTH_OK)
        return;
    sqlite3_bind_blob(q, 1, path, (int)strlen(path), SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, (sqlite3_int64)h->bytes);
    sqlite3_bind_int64(q, 3, h->mtime_ns);
    sqlite3_bind_int64(q, 4, (sqlite3_int64)h->inode);
    sqlite3_bind_text(q, 5, h->hash, -1, SQLITE_STATIC);
    finish(f, q, NULL); /* a failure only means that the file is hashed again the next time */
}

/* Adds n bytes of the file, from off on, to the hash; false when they cannot be read. */
static bool add_bytes(XXH3_state_t *x, int fd, uint64_t off, uint64_t n)
{
    unsigned char buf[32 << 10];
    while (n > 0) {
        ssize_t k = pread(fd, buf, n < sizeof(buf) ? (size_t)n : sizeof(buf), (off_t)off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        XXH3_128bits_update(x, buf, (size_t)k);
        off += (uint64_t)k;
        n -= (uint64_t)k;
    }
    return true;
}

/* Adds the first MiB, 4,096 pieces at equal distances in the rest, and the last 4 KiB. */
static bool add_samples(XXH3_state_t *x, int fd, uint64_t size)
{
    enum { HEAD = 1 << 20, PIECE = 4096, N_PIECE = 4096 };
    uint64_t step = (size - HEAD - PIECE) / N_PIECE;
    bool ok = add_bytes(x, fd, 0, HEAD);
    for (uint64_t i = 0; i < N_PIECE && ok; i++)
        ok = add_bytes(x, fd, HEAD + i * step, PIECE);
    return ok && add_bytes(x, fd, size - PIECE, PIECE);
}

myth_status myth_runlog_hash_file(myth_runlog_hash *out, const char *path, myth_runlog_file *f, myth_error *err)
{
    struct stat info;
    XXH128_canonical_t c;
    XXH3_state_t *x = NULL;
    myth_status st = MYTH_OK;
    memset(out, 0, sizeof(*out));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        st = myth_fail(err, fd < 0 && errno == ENOENT ? MYTH_ENOTFOUND : MYTH_EIO, "%.160s: %s", path,
                       fd < 0 ? strerror(errno) : "not a file");
        goto done;
    }
    out->bytes = (uint64_t)info.st_size;
    out->inode = (uint64_t)info.st_ino;
    out->mtime_ns = myth_mtime_ns(&info);
    if (f && remembered(f, path, out))
        goto done;
    x = XXH3_createState();
    bool is_long = out->bytes > MYTH_RUNLOG_SAMPLE_BYTES;
    if (!x || XXH3_128bits_reset(x) != XXH_OK)
        st = myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for its hash", path);
    else if (!(is_long ? add_samples(x, fd, out->bytes) : add_bytes(x, fd, 0, out->bytes)))
        st = myth_fail(err, MYTH_EIO, "%.160s: cannot be read whole", path);
    if (st == MYTH_OK) {
        XXH128_canonicalFromHash(&c, XXH3_128bits_digest(x));
        int at = snprintf(out->hash, sizeof(out->hash), "%s", is_long ? "xxh3-sampled:" : "xxh3:");
        for (int i = 0; i < HASH_BYTES; i++)
            at += snprintf(out->hash + at, sizeof(out->hash) - (size_t)at, "%02x", c.digest[i]);
        if (f && !f->is_read_only)
            remember(f, path, out);
    }
done:
    XXH3_freeState(x);
    if (fd >= 0)
        close(fd);
    return st;
}
