/* journal.c - three tables in SQLite: facts, items, states. One transaction is open from the first put after a commit
 * to the next commit. */
#include "journal.h"

#include "retrieval/store/database.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define DEVICE_FACT "--device"
enum { CACHE_KIB = 1024, APPLICATION = 0x6d796a6f /* "myjo" */, FORM = 1, WAIT_MS = 0, OPEN_MOST = 8 };

struct myth_journal {
    sqlite3 *db;
    sqlite3_stmt *has, *put, *put_state, *get_state;
    uint64_t n_done;
    bool is_begun;   /* a transaction is open */
    bool is_damaged; /* hold_old could not open it */
    char path[PATH_MAX];
};

/* ---- errors ---- */

static bool is_busy(const myth_journal *j)
{
    const int code = sqlite3_errcode(j->db) & 0xff;
    return code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

static myth_status damaged(const char *path, myth_error *err)
{
    return myth_fail(err, MYTH_EIO, "%.200s: damaged, or no journal; begin anew with --resume off", path);
}

static myth_status failed(const myth_journal *j, const char *what, myth_error *err)
{
    if (is_busy(j))
        return myth_fail(err, MYTH_EIO, "%s: another command is writing this output; wait for it, or give another -o",
                         j->path);
    switch (sqlite3_errcode(j->db) & 0xff) {
    case SQLITE_ERROR: /* its tables have other names or columns */
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT: return damaged(j->path, err);
    case SQLITE_NOMEM: return myth_fail(err, MYTH_ENOMEM, "%s: out of memory to %s", j->path, what);
    default: return myth_fail(err, MYTH_EIO, "%s: cannot %s: %s", j->path, what, sqlite3_errmsg(j->db));
    }
}

static myth_status run_sql(const myth_journal *j, const char *sql, const char *what, myth_error *err)
{
    return sqlite3_exec(j->db, sql, NULL, NULL, NULL) == SQLITE_OK ? MYTH_OK : failed(j, what, err);
}

static myth_status prepare(const myth_journal *j, sqlite3_stmt **q, const char *sql, myth_error *err)
{
    return sqlite3_prepare_v2(j->db, sql, -1, q, NULL) == SQLITE_OK ? MYTH_OK : failed(j, "read it", err);
}

/* The first column of a row; 0 when there is none. */
static myth_status number_of(const myth_journal *j, const char *sql, int64_t *n, myth_error *err)
{
    *n = 0;
    const int rc = myth_database_number(j->db, n, sql);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? MYTH_OK : failed(j, "read it", err);
}

/* ---- sums ---- */

/* Of the bytes of an item or a state, and of its number or name: a byte that the disk or a program changed is found
 * when it is read. */
static int64_t sum_of(const void *bytes, size_t n, uint64_t seed)
{
    return (int64_t)XXH3_64bits_withSeed(n ? bytes : "", n, seed);
}

static int64_t sum_of_state(const char *name, const void *bytes, size_t n)
{
    return sum_of(bytes, n, XXH3_64bits(name, strlen(name)));
}

/* Whether the journal, whose version `sql` reads, has the tables of this version. */
static myth_status check_form(const myth_journal *j, const char *sql, const char *path, myth_error *err)
{
    int64_t form;
    const myth_status st = number_of(j, sql, &form, err);
    if (st != MYTH_OK || form == FORM)
        return st;
    return myth_fail(err, MYTH_EIO,
                     "%.200s: begun by another version of mythos; go on with that, or begin anew with --resume off",
                     path);
}

/* ---- the lock ---- */

static myth_status path_of(char dst[PATH_MAX], const char *output, uint32_t k, uint32_t n, myth_error *err)
{
    const int len = n ? snprintf(dst, PATH_MAX - 16, "%s.%u-of-%u.journal", output, k + 1, n)
                      : snprintf(dst, PATH_MAX - 16, "%s.journal", output);
    return len < PATH_MAX - 16
             ? MYTH_OK
             : myth_fail(err, MYTH_ELIMIT, "%.80s...: a path of more than %d bytes", output, PATH_MAX - 32);
}

/* Whether the open file is no longer the one of its name: who held it before has removed it. */
static bool is_removed(const myth_journal *j)
{
    int is = 0;
    sqlite3_file_control(j->db, NULL, SQLITE_FCNTL_HAS_MOVED, &is);
    return is;
}

/* Closes a file that has no name any more: what has its name now, or a name like it, is another's and stays. */
static void close_removed(myth_journal *j)
{
    sqlite3_db_config(j->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    sqlite3_close(j->db);
    j->db = NULL;
}

/* Opens the file of j->path, or a new one, and takes the lock, which stays until it is closed; log: how SQLite keeps
 * what is not in the file yet. A transaction is open then. */
static myth_status hold(myth_journal *j, const char *log, myth_error *err)
{
    char sql[160];
    myth_status st = MYTH_OK;
    snprintf(sql, sizeof(sql),
             "PRAGMA cache_size=-%d; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=%s; PRAGMA synchronous=NORMAL",
             CACHE_KIB, log);
    for (int i = 0; i < OPEN_MOST; i++) {
        if (myth_database_open(&j->db, j->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, WAIT_MS) != SQLITE_OK)
            return myth_fail(err, MYTH_ECREATE, "%s: cannot create: %s", j->path,
                             j->db ? sqlite3_errmsg(j->db) : "out of memory");
        MYTH_TRY(run_sql(j, sql, "open it", err));
        MYTH_TRY(run_sql(j, "BEGIN IMMEDIATE", "open it", err));
        if (!is_removed(j))
            return MYTH_OK;
        close_removed(j);
    }
    st = myth_fail(err, MYTH_EIO, "%s: is removed again and again; wait for the other commands", j->path);
fail:
    return st;
}

/* Takes the lock of a journal that is to be removed. Without one, j->db is NULL: there is no file, or a damaged one,
 * which nobody can be at work on. */
static myth_status hold_old(myth_journal *j, myth_error *err)
{
    myth_error own = {0};
    if (access(j->path, F_OK) != 0 || hold(j, "WAL", &own) == MYTH_OK)
        return MYTH_OK;
    j->is_damaged = !is_busy(j) && (sqlite3_errcode(j->db) & 0xff) != SQLITE_NOMEM; /* also of db NULL */
    sqlite3_close(j->db);
    j->db = NULL;
    return j->is_damaged ? MYTH_OK : myth_fail_as(err, &own);
}

/* Closes a journal that is held or damaged, and removes its files: while it is held they are nobody else's. */
static void remove_old(myth_journal *j)
{
    if (j->is_damaged || (j->db && !is_removed(j)))
        myth_database_remove(j->path);
    if (j->db)
        close_removed(j);
}

/* Removes the journal of an output, if with_own, and those of N shares of it; none of them when a command is at work on
 * one. */
static myth_status remove_unheld(const char *output, bool with_own, uint32_t n_share, myth_error *err)
{
    myth_journal *j = calloc(n_share + 1, sizeof(*j));
    myth_status st = j ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "out of memory for the names of journals");
    for (uint32_t i = with_own ? 0 : 1; i <= n_share && st == MYTH_OK; i++) {
        st = path_of(j[i].path, output, i ? i - 1 : 0, i ? n_share : 0, err);
        if (st == MYTH_OK)
            st = hold_old(&j[i], err);
    }
    for (uint32_t i = 0; j && i <= n_share; i++)
        if (st == MYTH_OK)
            remove_old(&j[i]);
        else
            sqlite3_close(j[i].db);
    free(j);
    return st;
}

/* ---- open ---- */

/* A new journal gets its facts; one that has something must have the same. */
static myth_status compare_facts(myth_journal *j, const myth_journal_fact *fact, size_t n_fact, bool is_new,
                                 myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_status st;
    MYTH_TRY(prepare(
        j, &q, is_new ? "INSERT INTO facts(name, value) VALUES(?, ?)" : "SELECT value FROM facts WHERE name = ?", err));
    for (size_t i = 0; i < n_fact; i++) {
        sqlite3_bind_text(q, 1, fact[i].name, -1, SQLITE_STATIC);
        if (is_new)
            sqlite3_bind_text(q, 2, fact[i].value, -1, SQLITE_STATIC);
        const int rc = sqlite3_step(q);
        const char *was = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
        if (is_new ? rc != SQLITE_DONE : rc != SQLITE_ROW && rc != SQLITE_DONE)
            MYTH_TRY(failed(j, is_new ? "write it" : "read it", err));
        if (!is_new && (!was || strcmp(was, fact[i].value) != 0))
            MYTH_TRY(myth_fail(err, MYTH_EARG,
                               "%.200s was begun with another %s (%.80s, now %.80s): give that again, another -o, or "
                               "--resume off to begin anew",
                               j->path, fact[i].name, was ? was : "none", fact[i].value));
        sqlite3_reset(q);
    }
fail:
    sqlite3_finalize(q);
    return st;
}

static myth_status make_tables(const myth_journal *j, myth_error *err)
{
    char sql[400];
    snprintf(sql, sizeof(sql),
             "PRAGMA application_id=%d; PRAGMA user_version=%d;"
             "CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
             "CREATE TABLE items(idx INTEGER PRIMARY KEY, row BLOB, sum INTEGER);"
             "CREATE TABLE states(name TEXT PRIMARY KEY, bytes BLOB, sum INTEGER)",
             APPLICATION, FORM);
    return run_sql(j, sql, "write it", err);
}

static myth_status connect_to(myth_journal *j, const myth_journal_fact *fact, size_t n_fact, myth_error *err)
{
    int64_t application, n_table, n_done, has_any = 0;
    myth_status st = MYTH_OK;
    MYTH_TRY(hold(j, "WAL", err));
    MYTH_TRY(number_of(j, "PRAGMA application_id", &application, err));
    MYTH_TRY(number_of(j, "SELECT count(*) FROM sqlite_schema", &n_table, err));
    if (application != APPLICATION && n_table)
        MYTH_TRY(damaged(j->path, err));
    if (n_table)
        MYTH_TRY(check_form(j, "PRAGMA user_version", j->path, err));
    if (n_table)
        MYTH_TRY(number_of(j, "SELECT EXISTS(SELECT 1 FROM items) OR EXISTS(SELECT 1 FROM states)", &has_any, err));
    if (!has_any) /* killed before its first commit: there is nothing to go on from, whatever it was begun with */
        MYTH_TRY(n_table ? run_sql(j, "DELETE FROM facts", "write it", err) : make_tables(j, err));
    MYTH_TRY(compare_facts(j, fact, n_fact, !has_any, err));
    MYTH_TRY(run_sql(j, "COMMIT", "write it", err));
    MYTH_TRY(number_of(j, "SELECT count(*) FROM items", &n_done, err));
    j->n_done = (uint64_t)n_done;
    MYTH_TRY(prepare(j, &j->has, "SELECT 1 FROM items WHERE idx = ?", err));
    MYTH_TRY(prepare(j, &j->put, "INSERT INTO items VALUES(?, ?, ?)", err));
    MYTH_TRY(prepare(j, &j->put_state, "INSERT OR REPLACE INTO states VALUES(?, ?, ?)", err));
    MYTH_TRY(prepare(j, &j->get_state, "SELECT bytes, sum FROM states WHERE name = ?", err));
fail:
    return st;
}

myth_status myth_journal_open(myth_journal **out, const char *output, const myth_journal_fact *fact, size_t n_fact,
                              bool goes_on, myth_error *err)
{
    myth_journal *j = calloc(1, sizeof(*j));
    *out = NULL;
    if (!j)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu bytes", sizeof(*j));
    myth_status st = path_of(j->path, output, 0, 0, err);
    if (st != MYTH_OK) {
        free(j);
        return st;
    }
    if (!goes_on)
        st = remove_unheld(output, true, 0, err);
    if (st == MYTH_OK)
        st = connect_to(j, fact, n_fact, err);
    if (st != MYTH_OK)
        myth_journal_close(j);
    else
        *out = j;
    return st;
}

static void finalize_all(const myth_journal *j)
{
    sqlite3_finalize(j->has);
    sqlite3_finalize(j->put);
    sqlite3_finalize(j->put_state);
    sqlite3_finalize(j->get_state);
}

void myth_journal_close(myth_journal *j)
{
    if (!j)
        return;
    finalize_all(j);
    sqlite3_close(j->db); /* rolls back what was not committed */
    free(j);
}

void myth_journal_remove(myth_journal *j)
{
    if (!j)
        return;
    finalize_all(j);
    remove_old(j);
    free(j);
}

/* ---- items and states ---- */

uint64_t myth_journal_n_done(const myth_journal *j) { return j->n_done; }

bool myth_journal_is_done(myth_journal *j, uint64_t index)
{
    sqlite3_bind_int64(j->has, 1, (int64_t)index);
    const bool has = sqlite3_step(j->has) == SQLITE_ROW;
    sqlite3_reset(j->has);
    return has;
}

static myth_status begin(myth_journal *j, myth_error *err)
{
    if (j->is_begun)
        return MYTH_OK;
    const myth_status st = run_sql(j, "BEGIN", "write it", err);
    j->is_begun = st == MYTH_OK;
    return st;
}

static myth_status insert(myth_journal *j, sqlite3_stmt *q, const void *bytes, size_t n, int64_t sum, myth_error *err)
{
    myth_status st = begin(j, err);
    if (st != MYTH_OK)
        return st;
    sqlite3_bind_blob64(q, 2, n ? bytes : "", n, SQLITE_STATIC);
    sqlite3_bind_int64(q, 3, sum);
    if (sqlite3_step(q) != SQLITE_DONE)
        st = failed(j, "write it", err);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return st;
}

myth_status myth_journal_put(myth_journal *j, uint64_t index, const void *row, size_t n, myth_error *err)
{
    sqlite3_bind_int64(j->put, 1, (int64_t)index);
    const myth_status st = insert(j, j->put, row, n, sum_of(row, n, index), err);
    j->n_done += st == MYTH_OK;
    return st;
}

myth_status myth_journal_put_state(myth_journal *j, const char *name, const void *bytes, size_t n, myth_error *err)
{
    sqlite3_bind_text(j->put_state, 1, name, -1, SQLITE_STATIC);
    return insert(j, j->put_state, bytes, n, sum_of_state(name, bytes, n), err);
}

myth_status myth_journal_commit(myth_journal *j, myth_error *err)
{
    if (!j->is_begun)
        return MYTH_OK;
    j->is_begun = false;
    return run_sql(j, "COMMIT", "write it", err);
}

myth_status myth_journal_get_state(myth_journal *j, const char *name, void *dst, size_t n, bool *has, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_bind_text(j->get_state, 1, name, -1, SQLITE_STATIC);
    const int rc = sqlite3_step(j->get_state);
    const void *bytes = rc == SQLITE_ROW ? sqlite3_column_blob(j->get_state, 0) : NULL;
    const size_t n_byte = rc == SQLITE_ROW ? (size_t)sqlite3_column_bytes(j->get_state, 0) : 0;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        st = failed(j, "read it", err);
    else if (rc == SQLITE_ROW && sqlite3_column_int64(j->get_state, 1) != sum_of_state(name, bytes, n_byte))
        st = damaged(j->path, err);
    *has = st == MYTH_OK && rc == SQLITE_ROW && n_byte == n;
    if (*has && n)
        memcpy(dst, bytes, n);
    sqlite3_reset(j->get_state);
    return st;
}

myth_status myth_journal_get_count(myth_journal *j, const char *name, uint64_t *n, myth_error *err)
{
    uint32_t n_share = 0;
    bool has;
    *n = 0;
    myth_status st = myth_journal_get_state(j, name, n, sizeof(*n), &has, err);
    if (st == MYTH_OK && !has)
        st = myth_journal_get_state(j, "shares", &n_share, sizeof(n_share), &has, err);
    for (uint32_t k = 0; k < n_share && st == MYTH_OK; k++) {
        char of_share[MYTH_JOURNAL_NAME_BYTES];
        uint64_t one = 0;
        snprintf(of_share, sizeof(of_share), "%.40s %u", name, k);
        st = myth_journal_get_state(j, of_share, &one, sizeof(one), &has, err);
        *n += one;
    }
    return st;
}

myth_status myth_journal_each(myth_journal *j,
                              myth_status (*row)(void *user, uint64_t index, const void *row, size_t n,
                                                 myth_error *err),
                              void *user, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = SQLITE_DONE;
    myth_status st;
    MYTH_TRY(prepare(j, &q, "SELECT idx, row, sum FROM items ORDER BY idx", err));
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const uint64_t index = (uint64_t)sqlite3_column_int64(q, 0);
        const void *bytes = sqlite3_column_blob(q, 1);
        const size_t n = (size_t)sqlite3_column_bytes(q, 1);
        if (sqlite3_column_int64(q, 2) != sum_of(bytes, n, index))
            MYTH_TRY(damaged(j->path, err));
        MYTH_TRY(row(user, index, bytes, n, err));
    }
    if (rc != SQLITE_DONE)
        st = failed(j, "read it", err);
fail:
    sqlite3_finalize(q);
    return st;
}

/* ---- shares ---- */

/* Whether the journal at j->path is of shares that were put together to the end. */
static bool is_merged(myth_journal *j)
{
    int64_t n = 0;
    const bool has = myth_database_open(&j->db, j->path, SQLITE_OPEN_READONLY, NULL, WAIT_MS) == SQLITE_OK &&
                     number_of(j, "SELECT count(*) FROM states WHERE name = 'shares'", &n, NULL) == MYTH_OK && n == 1;
    sqlite3_close(j->db);
    j->db = NULL;
    return has;
}

myth_journal_kind myth_journal_kind_of(const char *output)
{
    static myth_journal j;
    j = (myth_journal){0};
    if (path_of(j.path, output, 0, 0, NULL) != MYTH_OK || access(j.path, F_OK) != 0)
        return MYTH_JOURNAL_NONE;
    return is_merged(&j) ? MYTH_JOURNAL_MERGED : MYTH_JOURNAL_BEGUN;
}

uint32_t myth_journal_shares(const char *output)
{
    char path[PATH_MAX];
    for (uint32_t n = 1; n <= MYTH_JOURNAL_SHARES; n++)
        if (path_of(path, output, 0, n, NULL) == MYTH_OK && access(path, F_OK) == 0)
            return n;
    return 0;
}

myth_status myth_journal_complete(myth_journal *j, myth_error *err)
{
    const myth_status st = myth_journal_put_state(j, "complete", "", 1, err);
    return st == MYTH_OK ? myth_journal_commit(j, err) : st;
}

myth_status myth_journal_remove_all(const char *output, uint32_t n_share, myth_error *err)
{
    return remove_unheld(output, true, n_share, err);
}

/* Adds the states of a share, "NAME k" for its NAME. */
static myth_status add_states(const myth_journal *j, const char *path, uint32_t k, myth_error *err)
{
    sqlite3_stmt *from = NULL, *to = NULL;
    int rc;
    myth_status st = MYTH_OK;
    MYTH_TRY(prepare(j, &from, "SELECT name, bytes, sum FROM share.states", err));
    MYTH_TRY(prepare(j, &to, "INSERT INTO states VALUES(?, ?, ?)", err));
    while ((rc = sqlite3_step(from)) == SQLITE_ROW) {
        char name[MYTH_JOURNAL_NAME_BYTES];
        const char *own = (const char *)sqlite3_column_text(from, 0);
        const void *bytes = sqlite3_column_blob(from, 1);
        const size_t n = (size_t)sqlite3_column_bytes(from, 1);
        if (!own || sqlite3_column_int64(from, 2) != sum_of_state(own, bytes, n))
            MYTH_TRY(damaged(path, err));
        snprintf(name, sizeof(name), "%.40s %u", own, k);
        sqlite3_bind_text(to, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_blob64(to, 2, n ? bytes : "", n, SQLITE_STATIC);
        sqlite3_bind_int64(to, 3, sum_of_state(name, bytes, n));
        if (sqlite3_step(to) != SQLITE_DONE)
            MYTH_TRY(failed(j, "write it", err));
        sqlite3_reset(to);
    }
    if (rc != SQLITE_DONE)
        st = failed(j, "read a share", err);
fail:
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    return st;
}

/* Adds what one share has. In the transaction of the merged journal, to which it is attached. */
static myth_status add_share(const myth_journal *j, const char *path, uint32_t k, myth_error *err)
{
    int64_t n_other, is_complete;
    myth_status st = MYTH_OK;
    MYTH_TRY(check_form(j, "PRAGMA share.user_version", path, err));
    MYTH_TRY(number_of(j, "SELECT count(*) FROM share.states WHERE name = 'complete'", &is_complete, err));
    if (!is_complete)
        return myth_fail(err, MYTH_EARG, "%.200s: this share is not finished; give its command again", path);
    if (k == 0)
        MYTH_TRY(run_sql(j, "INSERT INTO facts SELECT * FROM share.facts", "write it", err));
    MYTH_TRY(number_of(j,
                       "SELECT count(*) FROM facts AS a JOIN share.facts AS b USING(name) WHERE a.value <> b.value AND "
                       "a.name <> '" DEVICE_FACT "'",
                       &n_other, err));
    if (n_other)
        return myth_fail(err, MYTH_EARG,
                         "%.200s: was begun with another model, other prompts or other flags than the first share; "
                         "give all shares the same, or --resume off to begin anew",
                         path);
    MYTH_TRY(run_sql(j, "INSERT INTO items SELECT * FROM share.items", "write it", err));
    MYTH_TRY(add_states(j, path, k, err));
fail:
    return st;
}

/* Attaches the journal of a share outside a transaction, as SQLite demands, and adds it in one. */
static myth_status merge_share(const myth_journal *j, const char *path, uint32_t k, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_status st;
    MYTH_TRY(prepare(j, &q, "ATTACH ? AS share", err));
    sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
    const int rc = sqlite3_step(q);
    sqlite3_finalize(q);
    if (rc != SQLITE_DONE)
        return failed(j, "read a share", err);
    st = run_sql(j, "BEGIN IMMEDIATE", "read a share", err);
    if (st == MYTH_OK)
        st = add_share(j, path, k, err);
    if (st == MYTH_OK)
        st = run_sql(j, "COMMIT", "write it", err);
    else
        sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    if (sqlite3_exec(j->db, "DETACH share", NULL, NULL, NULL) != SQLITE_OK && st == MYTH_OK)
        st = failed(j, "read a share", err);
fail:
    return st;
}

myth_status myth_journal_merge(const char *output, uint32_t n_share, myth_error *err)
{
    static myth_journal merged;
    char path[PATH_MAX], sql[128];
    const unsigned char n_byte[4] = {(unsigned char)n_share};
    myth_journal *j = &merged;
    myth_status st = MYTH_OK;
    *j = (myth_journal){0};
    if ((st = path_of(j->path, output, 0, 0, err)) != MYTH_OK)
        return st;
    if (myth_journal_kind_of(output) == MYTH_JOURNAL_MERGED)
        return remove_unheld(output, false, n_share, err);
    for (uint32_t k = 0; k < n_share; k++) {
        if ((st = path_of(path, output, k, n_share, err)) != MYTH_OK)
            return st;
        if (access(path, F_OK) != 0)
            return myth_fail(err, MYTH_EARG, "%.200s: missing; compute that share first: --share %u/%u", path, k + 1,
                             n_share);
    }
    if ((st = remove_unheld(output, true, 0, err)) != MYTH_OK) /* of a merge that was ended */
        return st;
    if ((st = hold(j, "DELETE", err)) != MYTH_OK) {
        sqlite3_close(j->db);
        return st;
    }
    MYTH_TRY(make_tables(j, err));
    MYTH_TRY(run_sql(j, "COMMIT", "write it", err));
    for (uint32_t k = 0; k < n_share; k++) {
        MYTH_TRY(path_of(path, output, k, n_share, err));
        MYTH_TRY(merge_share(j, path, k, err));
    }
    /* last: it says that all are there */
    snprintf(sql, sizeof(sql), "INSERT INTO states VALUES('shares', x'%02x000000', %lld)", n_share,
             (long long)sum_of_state("shares", n_byte, sizeof(n_byte)));
    MYTH_TRY(run_sql(j, sql, "write it", err));
    sqlite3_close(j->db);
    return remove_unheld(output, false, n_share, err);
fail:
    remove_old(j);
    return st;
}
