/* database.h - how the index, the run log, the kept answers and the journals of jobs open a SQLite database, and what
 * else each of them asks of one.
 *
 * Trust    the file may have been made by a stranger, and its schema can hold statements: triggers, views and functions
 *          that a query would run. They are off, and defensive mode keeps statements from writing to the schema's own
 *          pages. What the rows say is still the stranger's: whoever reads them checks them
 * Errors   results are SQLite's, extended ones (rc & 0xff is the primary one). The caller makes the message, which
 *          names the file's purpose and the next step
 * Owner    the caller closes *db with sqlite3_close, also after an error
 * Threads  a connection is used by one thread at a time */
#ifndef MYTH_DATABASE_H
#define MYTH_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a database. flags: SQLITE_OPEN_...; vfs NULL = the default; wait_ms: how long a statement waits for another
 * process. *db is NULL only when there was no memory for it. */
static inline int myth_database_open(sqlite3 **db, const char *name, int flags, const char *vfs, int wait_ms)
{
    const int rc = sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (!*db)
        return rc;
    sqlite3_extended_result_codes(*db, 1);
    sqlite3_busy_timeout(*db, wait_ms);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    return rc;
}

/* Reads the first column of the first row. SQLITE_ROW: it was read; SQLITE_DONE: there is no row, and *out keeps its
 * value; else an error. */
static inline int myth_database_number(sqlite3 *db, int64_t *out, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
        *out = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return rc;
}

/* Bytes of the URI of a path, with its zero. */
static inline size_t myth_database_uri_bound(size_t n_path) { return 3 * n_path + sizeof("file://?immutable=1"); }

/* Writes the URI that opens a database with immutable=1, which promises that nobody writes to it meanwhile: it is for a
 * database in WAL mode in a folder where this process may not make files. Without the promise even reading makes files
 * there. uri has myth_database_uri_bound bytes. */
static inline void myth_database_immutable(char *uri, const char *path)
{
    size_t at = (size_t)sprintf(uri, "file:%s", path[0] == '/' ? "//" : "");
    for (; *path; path++)
        at += (size_t)sprintf(uri + at, *path == '?' || *path == '#' || *path == '%' ? "%%%02X" : "%c",
                              (unsigned char)*path);
    sprintf(uri + at, "?immutable=1");
}

/* Removes the file of a database that nobody has open. Its logs go first: a log beside a file that is made anew under
 * the same name would be taken for the new one's. */
static inline void myth_database_remove(const char *path)
{
    static const char *const tail[] = {"-wal", "-shm", "-journal", ""};
    char name[4200];
    for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); i++) {
        const int n = snprintf(name, sizeof(name), "%s%s", path, tail[i]);
        if (n > 0 && (size_t)n < sizeof(name))
            unlink(name);
    }
}

#ifdef __cplusplus
}
#endif
#endif
