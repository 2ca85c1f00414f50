/* kept.c - the table of answers in SQLite. The file may have been planted by somebody else, so its schema can run
 * nothing, and a row that does not check is as good as none. */
#include "kept.h"

#include "engine/base/outfile.h"
#include "retrieval/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

enum {
    CACHE_KIB = 1024,
    DAY_S = 86400,
    ROW = 128 /* bytes of a row besides its body */,
    APPLICATION = 0x6d79616e /* "myan" */
};

struct myth_kept {
    sqlite3 *db;
    sqlite3_stmt *get, *put, *touch, *get_report, *put_report, *touch_report;
    XXH3_state_t *hash;
    void *base;
    size_t n_base;
    int64_t most, spared_s;
    int64_t n_room; /* bytes that may be put before the file is measured again */
    uint64_t n_refused;
    bool is_full;    /* of what is spared */
    bool is_damaged; /* the file is no such database, and can be one by being made anew alone */
    char path[PATH_MAX], why[128];
};

static bool run_sql(myth_kept *k, const char *sql) { return sqlite3_exec(k->db, sql, NULL, NULL, NULL) == SQLITE_OK; }

static bool get_number(myth_kept *k, int64_t *n, const char *sql)
{
    return myth_database_number(k->db, n, sql) == SQLITE_ROW;
}

static int64_t number_of(myth_kept *k, const char *sql)
{
    int64_t n = -1;
    get_number(k, &n, sql);
    return n;
}

/* Keeps why the file cannot be used. SQLITE_ERROR: its tables have other columns. Returns false. */
static bool note_failure(myth_kept *k)
{
    const int rc = sqlite3_errcode(k->db) & 0xff;
    k->is_damaged = rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT || rc == SQLITE_ERROR;
    snprintf(k->why, sizeof(k->why), "%s", sqlite3_errmsg(k->db));
    return false;
}

static bool note_foreign(myth_kept *k)
{
    k->is_damaged = true;
    snprintf(k->why, sizeof(k->why), "it is the database of another program");
    return false;
}

static void disconnect(myth_kept *k)
{
    sqlite3_finalize(k->get);
    sqlite3_finalize(k->put);
    sqlite3_finalize(k->touch);
    sqlite3_finalize(k->get_report);
    sqlite3_finalize(k->put_report);
    sqlite3_finalize(k->touch_report);
    sqlite3_close(k->db);
    k->db = NULL;
    k->get = k->put = k->touch = k->get_report = k->put_report = k->touch_report = NULL;
}

static bool prepare(myth_kept *k, sqlite3_stmt **q, const char *sql)
{
    return sqlite3_prepare_v2(k->db, sql, -1, q, NULL) == SQLITE_OK;
}

static bool make_tables(myth_kept *k)
{
    return run_sql(k,
                   "CREATE TABLE IF NOT EXISTS answers(key BLOB PRIMARY KEY, finish INT, ids BLOB, sum INT, used INT);"
                   "CREATE TABLE IF NOT EXISTS reports(key BLOB PRIMARY KEY, body BLOB, sum INT, used INT);"
                   "CREATE INDEX IF NOT EXISTS answers_used ON answers(used);"
                   "CREATE INDEX IF NOT EXISTS reports_used ON reports(used)");
}

/* Makes a file without tables one of ours. What it is is asked inside the transaction: another process may make it at
 * the same time, and what that one keeps must stay. */
static bool make_ours(myth_kept *k)
{
    char sql[64];
    int64_t application = 0, n_table = 0;
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d", APPLICATION);
    if (!run_sql(k, "BEGIN IMMEDIATE"))
        return note_failure(k);
    bool is_made = get_number(k, &application, "PRAGMA application_id") &&
                   get_number(k, &n_table, "SELECT count(*) FROM sqlite_schema");
    const bool is_foreign = is_made && application != APPLICATION && (application != 0 || n_table != 0);
    is_made = is_made && !is_foreign && run_sql(k, sql) && make_tables(k) && run_sql(k, "COMMIT");
    if (is_foreign)
        note_foreign(k);
    else if (!is_made)
        note_failure(k);
    if (!is_made)
        run_sql(k, "ROLLBACK");
    return is_made;
}

/* Opens the file and makes its tables if it has none. False: it cannot be used as it is. */
static bool connect_to(myth_kept *k)
{
    char sql[96];
    int64_t application = 0;
    k->is_damaged = false;
    k->why[0] = '\0';
    if (myth_database_open(&k->db, k->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, MYTH_KEPT_WAIT_MS) !=
        SQLITE_OK)
        return k->db ? note_failure(k) : false;
    if (!get_number(k, &application, "PRAGMA application_id"))
        return note_failure(k);
    if (application != APPLICATION && application != 0)
        return note_foreign(k);
    if (application == 0 && !make_ours(k))
        return false;
    /* the change to WAL does not wait for others: whoever opens the file next makes it */
    run_sql(k, "PRAGMA journal_mode=WAL");
    snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%d; PRAGMA synchronous=NORMAL;", CACHE_KIB);
    return (run_sql(k, sql) && make_tables(k) &&
            prepare(k, &k->get, "SELECT finish, ids, sum FROM answers WHERE key = ?") &&
            prepare(k, &k->put, "INSERT OR REPLACE INTO answers VALUES(?, ?, ?, ?, ?)") &&
            prepare(k, &k->touch, "UPDATE answers SET used = ?2 WHERE key = ?1 AND used < ?2 - 86400") &&
            prepare(k, &k->touch_report, "UPDATE reports SET used = ?2 WHERE key = ?1") &&
            prepare(k, &k->get_report, "SELECT body, sum, used FROM reports WHERE key = ?") &&
            prepare(k, &k->put_report, "INSERT OR REPLACE INTO reports VALUES(?, ?, ?, ?)")) ||
           note_failure(k);
}

/* Closes a damaged file and removes it, unless another process has put a new one in its place meanwhile. */
static void close_damaged(myth_kept *k)
{
    int is_moved = 0;
    sqlite3_file_control(k->db, NULL, SQLITE_FCNTL_HAS_MOVED, &is_moved);
    disconnect(k);
    if (!is_moved)
        myth_database_remove(k->path);
}

static const char answers_name[] = "answers-1.db";

static bool path_of(char *path, size_t cap, const char *folder, const char *name)
{
    return snprintf(path, cap, "%s/mythos/%s", folder, name) < (int)cap - 16;
}

bool myth_kept_is_there(const char *folder)
{
    char path[PATH_MAX];
    return folder && path_of(path, sizeof(path), folder, answers_name) && access(path, R_OK | W_OK) == 0;
}

/* Makes the folder and, for this user only, the file. */
static bool make_place(myth_kept *k, const char *folder, const char *name)
{
    struct stat sb;
    char dir[PATH_MAX];
    if (!path_of(k->path, sizeof(k->path), folder, name))
        return false;
    if (myth_out_folders(dir, k->path) != 0)
        return false;
    const int fd = open(k->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool is_ours = fd >= 0 && fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_uid == geteuid();
    if (fd >= 0)
        close(fd);
    return is_ours;
}

bool myth_kept_rebase(myth_kept *k, const void *base, size_t n_base)
{
    void *copy = malloc(n_base ? n_base : 1);
    if (!copy)
        return false;
    memcpy(copy, base, n_base);
    free(k->base);
    k->base = copy;
    k->n_base = n_base;
    return true;
}

myth_status myth_kept_open(myth_kept **out, const char *folder, const void *base, size_t n_base, myth_error *err)
{
    return myth_kept_open_file(out, folder, answers_name, base, n_base, err);
}

myth_status myth_kept_open_file(myth_kept **out, const char *folder, const char *name, const void *base, size_t n_base,
                                myth_error *err)
{
    *out = NULL;
    if (!folder)
        return myth_fail(err, MYTH_ENOTFOUND, "no place for answers: neither XDG_CACHE_HOME nor HOME is set");
    myth_kept *k = calloc(1, sizeof(*k));
    if (!k || !myth_kept_rebase(k, base, n_base) || !(k->hash = XXH3_createState())) {
        myth_kept_close(k);
        return myth_fail(err, MYTH_ENOMEM, "kept answers: out of memory");
    }
    k->most = MYTH_KEPT_BYTES;
    bool is_open = make_place(k, folder, name) && connect_to(k);
    if (!is_open && k->db && k->is_damaged) {
        close_damaged(k);
        is_open = make_place(k, folder, name) && connect_to(k);
    }
    if (!is_open) {
        const myth_status st = myth_fail(err, MYTH_EIO, "%.120s: %s", k->path, k->db ? k->why : strerror(errno));
        myth_kept_close(k);
        return st;
    }
    *out = k;
    return MYTH_OK;
}

void myth_kept_close(myth_kept *k)
{
    if (!k)
        return;
    disconnect(k);
    XXH3_freeState(k->hash);
    free(k->base);
    free(k);
}

void myth_kept_begin(myth_kept *k)
{
    XXH3_128bits_reset(k->hash);
    myth_kept_add(k, k->base, k->n_base);
}

/* The length goes in as well, so that pieces cannot be cut at another place with the same key. */
void myth_kept_add(myth_kept *k, const void *bytes, size_t n)
{
    const uint64_t len = n;
    XXH3_128bits_update(k->hash, &len, sizeof(len));
    XXH3_128bits_update(k->hash, bytes, n);
}

myth_kept_key myth_kept_end(myth_kept *k)
{
    myth_kept_key key;
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest(k->hash));
    memcpy(key.byte, c.digest, sizeof(key.byte));
    return key;
}

static int64_t sum_of(const myth_kept_key *key, const void *ids, size_t n, int finish)
{
    uint64_t seed;
    memcpy(&seed, key->byte, sizeof(seed));
    return (int64_t)XXH3_64bits_withSeed(ids, n, seed + (uint64_t)finish);
}

bool myth_kept_get(myth_kept *k, const myth_kept_key *key, int32_t *ids, uint32_t cap, uint32_t *n, myth_finish *why)
{
    bool is_there = false;
    sqlite3_bind_blob(k->get, 1, key->byte, sizeof(key->byte), SQLITE_STATIC);
    if (sqlite3_step(k->get) == SQLITE_ROW) {
        const int finish = sqlite3_column_int(k->get, 0), bytes = sqlite3_column_bytes(k->get, 1);
        const void *blob = sqlite3_column_blob(k->get, 1);
        is_there = bytes >= 0 && bytes % 4 == 0 && (uint32_t)bytes / 4 <= cap && (blob || !bytes) &&
                   (finish == MYTH_FINISH_STOP || finish == MYTH_FINISH_LENGTH || finish == MYTH_FINISH_CONTEXT) &&
                   sqlite3_column_int64(k->get, 2) == sum_of(key, blob, (size_t)bytes, finish);
        if (is_there) {
            if (bytes)
                memcpy(ids, blob, (size_t)bytes);
            *n = (uint32_t)bytes / 4;
            *why = (myth_finish)finish;
        }
    }
    sqlite3_reset(k->get);
    if (is_there) { /* written at most once a day for an answer, so that a run from the cache writes next to nothing */
        sqlite3_bind_blob(k->touch, 1, key->byte, sizeof(key->byte), SQLITE_STATIC);
        sqlite3_bind_int64(k->touch, 2, (int64_t)time(NULL));
        sqlite3_step(k->touch);
        sqlite3_reset(k->touch);
    }
    return is_there;
}

/* ---- bounds ---- */

void myth_kept_bound(myth_kept *k, uint64_t bytes, int64_t spared_s)
{
    k->most = bytes && bytes < INT64_MAX ? (int64_t)bytes : MYTH_KEPT_BYTES;
    k->spared_s = spared_s;
}

uint64_t myth_kept_n_refused(const myth_kept *k) { return k->n_refused; }

static int64_t used_bytes(myth_kept *k)
{
    return number_of(k, "SELECT ((SELECT * FROM pragma_page_count()) - (SELECT * FROM pragma_freelist_count())) * "
                        "(SELECT * FROM pragma_page_size())");
}

/* Lets the oldest quarters go, of what may go. False: nothing may. */
static bool drop_oldest(myth_kept *k)
{
    static const char *const table[] = {"answers", "reports"};
    int n = 0;
    for (int i = 0; i < 2; i++) {
        char sql[256];
        snprintf(sql, sizeof(sql),
                 "DELETE FROM %s WHERE rowid IN (SELECT rowid FROM %s WHERE used < %lld ORDER BY used LIMIT (SELECT "
                 "count(*) / 4 + 1 FROM %s))",
                 table[i], table[i], k->spared_s ? (long long)time(NULL) - k->spared_s : LLONG_MAX, table[i]);
        n += run_sql(k, sql) ? sqlite3_changes(k->db) : 0;
    }
    return n > 0;
}

/* Whether n more bytes may be put, with what was used longest ago gone where the file has become too large. */
static bool make_room(myth_kept *k, size_t n)
{
    const int64_t more = (int64_t)n + ROW;
    int64_t used = 0;
    if (!k->is_full && more > k->n_room) {
        while ((used = used_bytes(k)) + more > k->most && drop_oldest(k)) {}
        k->is_full = used + more > k->most && k->spared_s;
        k->n_room = used < k->most ? more + (k->most - used - more) / 16 : more; /* others write, too */
    }
    k->n_room -= more;
    k->n_refused += k->is_full;
    return !k->is_full;
}

/* ---- answers ---- */

void myth_kept_put(myth_kept *k, const myth_kept_key *key, const int32_t *ids, uint32_t n, myth_finish why)
{
    const size_t bytes = n * sizeof(*ids);
    if (n > MYTH_KEPT_IDS_MAX || !make_room(k, bytes))
        return;
    sqlite3_bind_blob(k->put, 1, key->byte, sizeof(key->byte), SQLITE_STATIC);
    sqlite3_bind_int(k->put, 2, (int)why);
    sqlite3_bind_blob(k->put, 3, ids, (int)bytes, SQLITE_STATIC);
    sqlite3_bind_int64(k->put, 4, sum_of(key, ids, bytes, (int)why));
    sqlite3_bind_int64(k->put, 5, (int64_t)time(NULL));
    sqlite3_step(k->put);
    sqlite3_reset(k->put);
}

/* ---- reports ---- */

unsigned char *myth_kept_get_report(myth_kept *k, const myth_kept_key *key, size_t *n)
{
    unsigned char *copy = NULL;
    int64_t used = INT64_MAX;
    const int64_t now = (int64_t)time(NULL);
    sqlite3_bind_blob(k->get_report, 1, key->byte, sizeof(key->byte), SQLITE_STATIC);
    if (sqlite3_step(k->get_report) == SQLITE_ROW) {
        const int bytes = sqlite3_column_bytes(k->get_report, 0);
        const void *body = sqlite3_column_blob(k->get_report, 0);
        if (body && bytes > 0 && bytes <= MYTH_KEPT_REPORT_BYTES &&
            sqlite3_column_int64(k->get_report, 1) == sum_of(key, body, (size_t)bytes, 0) &&
            (copy = malloc((size_t)bytes)) != NULL) {
            memcpy(copy, body, (size_t)bytes);
            *n = (size_t)bytes;
            used = sqlite3_column_int64(k->get_report, 2);
        }
    }
    sqlite3_reset(k->get_report);
    if (used < now - DAY_S) { /* as for answers */
        sqlite3_bind_blob(k->touch_report, 1, key->byte, sizeof(key->byte), SQLITE_STATIC);
        sqlite3_bind_int64(k->touch_report, 2, now);
        sqlite3_step(k->touch_report);
        sqlite3_reset(k->touch_report);
    }
    return copy;
}

void myth_kept_put_report(myth_kept *k, const myth_kept_key *key, const void *bytes, size_t n)
{
    if (!n || n > MYTH_KEPT_REPORT_BYTES || !make_room(k, n))
        return;
    sqlite3_bind_blob(k->put_report, 1, key->byte, sizeof(key->byte), SQLITE_STATIC);
    sqlite3_bind_blob(k->put_report, 2, bytes, (int)n, SQLITE_STATIC);
    sqlite3_bind_int64(k->put_report, 3, sum_of(key, bytes, n, 0));
    sqlite3_bind_int64(k->put_report, 4, (int64_t)time(NULL));
    sqlite3_step(k->put_report);
    sqlite3_reset(k->put_report);
}
