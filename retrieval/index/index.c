/* index.c - an update: compare the directory with the index and write the difference in one transaction.
 *
 * Order    files that are gone or changed are dropped first, by rising id; then new content is put in the order of
 *          the scan. FTS5 collects rows while their ids rise and writes a segment whenever they fall, so this order
 *          writes few
 * Changed  a file has changed when its size differs, or when its mtime, ctime or inode differ and its hash does too.
 *          The ctime tells of other bytes below an mtime that was put back (cp -p, tar, touch -r). The file is read
 *          again when it is cut, and the bytes of that second reading are what is stored
 * Failed   a file whose parser died or ran out of time is parsed once more by the next update, when the machine may
 *          be less busy
 * Damage   an update that finds damage makes the database anew (index_open.c) and starts again, once */
#include "index_impl.h"
#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/table.h"
#include "retrieval/store/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { FIRST_BYTES = 4 << 20 };
#define RACY_NS 2000000000 /* nanoseconds; file systems have clock ticks of up to two seconds */

/* ---- what the index has ---- */

typedef struct {
    myth_store_file file;
    bool is_seen, is_again; /* found by the scan; changed, so it is put again under its id */
} known_file;

typedef struct {
    myth_mem *mem;
    known_file *row;
    uint32_t n_row, n_slot, *slot; /* hash table by path; a slot holds the row's number plus one */
    char *text;
} known;

static bool is_path(const void *k, uint32_t idx, const void *path)
{
    return strcmp(((const known *)k)->row[idx].file.path, path) == 0;
}

static uint32_t *find_slot(const known *k, const char *path)
{
    return myth_table_find(k->slot, k->n_slot, XXH3_64bits(path, strlen(path)), is_path, k, path);
}

static known_file *find_known(const known *k, const char *path)
{
    uint32_t at = *find_slot(k, path);
    return at ? &k->row[at - 1] : NULL;
}

static void close_known(known *k)
{
    myth_free(k->mem, k->row);
    myth_free(k->mem, k->slot);
    myth_free(k->mem, k->text);
}

static size_t put_column(char *dst, sqlite3_stmt *q, int i)
{
    int n = sqlite3_column_bytes(q, i);
    if (n)
        memcpy(dst, sqlite3_column_blob(q, i), (size_t)n);
    dst[n] = '\0';
    return (size_t)n + 1;
}

/* Makes room for one more row and n bytes of text. The text may move, so paths are kept as offsets until all rows
 * are read. */
static bool reserve_known(known *k, size_t *cap_row, size_t *cap_text, size_t at, size_t n)
{
    return MYTH_ARRAY_ROOM(k->mem, MYTH_MEM_OTHER, "index", &k->row, k->n_row, cap_row) &&
           MYTH_ARRAY_MORE(k->mem, MYTH_MEM_OTHER, "index", &k->text, at, n, cap_text);
}

/* Turns the offsets of paths and languages into pointers. */
typedef struct {
    size_t path, language;
} known_place;

static myth_status read_known(known *k, myth_buffer *place, myth_store *store, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    size_t cap_row = 0, cap_text = 0, at = 0;
    bool ok = true;
    int rc = sqlite3_prepare_v2(
        myth_store_db(store),
        "SELECT id, path, mtime_ns, bytes, inode, hash, language, flags, ctime_ns FROM files ORDER BY id", -1, &q,
        NULL);
    while (rc == SQLITE_OK && ok && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const size_t need = (size_t)sqlite3_column_bytes(q, 1) + (size_t)sqlite3_column_bytes(q, 6) + 2;
        if (sqlite3_column_bytes(q, 5) != 16 || k->n_row == UINT32_MAX / 4) {
            rc = SQLITE_CORRUPT;
            break;
        }
        rc = SQLITE_OK;
        if (!(ok = reserve_known(k, &cap_row, &cap_text, at, need)))
            break;
        known_file *r = &k->row[k->n_row++];
        known_place p = {.path = at};
        at += put_column(k->text + at, q, 1);
        p.language = at;
        at += put_column(k->text + at, q, 6);
        myth_buffer_put(place, &p, sizeof(p));
        *r = (known_file){
            .file =
                {
                    .id = sqlite3_column_int64(q, 0),
                    .mtime_ns = sqlite3_column_int64(q, 2),
                    .ctime_ns = sqlite3_column_int64(q, 8),
                    .bytes = (uint64_t)sqlite3_column_int64(q, 3),
                    .inode = (uint64_t)sqlite3_column_int64(q, 4),
                    .flags = (uint32_t)sqlite3_column_int64(q, 7),
                },
        };
        memcpy(r->file.hash, sqlite3_column_blob(q, 5), 16);
    }
    myth_status st = ok && !place->is_out_of_memory
                       ? myth_store_fail(store, rc, err)
                       : myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", k->n_row);
    sqlite3_finalize(q);
    return st;
}

static myth_status load_known(known *k, myth_store *store, myth_error *err)
{
    myth_buffer place = {.mem = k->mem};
    myth_status st = read_known(k, &place, store, err);
    k->n_slot = myth_table_slots(k->n_row);
    k->slot = st == MYTH_OK ? myth_alloc_n(k->mem, MYTH_MEM_OTHER, "index", k->n_slot, sizeof(*k->slot)) : NULL;
    if (st == MYTH_OK && !k->slot)
        st = myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", k->n_row);
    for (uint32_t i = 0; st == MYTH_OK && i < k->n_row; i++) {
        known_place p;
        memcpy(&p, place.data + i * sizeof(p), sizeof(p));
        k->row[i].file.path = k->text + p.path;
        k->row[i].file.language = k->text + p.language;
        *find_slot(k, k->row[i].file.path) = i + 1;
    }
    myth_buffer_close(&place);
    return st;
}

static bool is_same(const known_file *r, const myth_scan_file *f)
{
    return r->file.mtime_ns == f->mtime_ns && r->file.ctime_ns == f->ctime_ns && r->file.bytes == f->bytes &&
           r->file.inode == f->inode;
}

/* Callback of the scan: what the index knows of a file, so that the scan need not open it. */
static bool is_known(void *arg, myth_scan_file *f)
{
    const known_file *r = find_known(arg, f->path);
    if (!r || !is_same(r, f))
        return false;
    f->reason = MYTH_SCAN_IN;
    f->language = r->file.language;
    f->is_generated = (r->file.flags & MYTH_FILE_GENERATED) != 0;
    f->is_test = (r->file.flags & MYTH_FILE_TEST) != 0;
    return true;
}

/* ---- update ---- */

typedef struct {
    myth_index *x;
    const myth_index_update_opts *opts;
    myth_index_stats *stats;
    known known;
    myth_scan_list scan;
    myth_index_work work;
    myth_index_job *job;
    uint32_t n_job;
    myth_store_file *touched; /* files with the same content and another time or inode: only their row is written */
    uint32_t n_touched;
    bool has_half;      /* a first update wrote its words in two parts */
    bool has_new_flags; /* a touched file has become a test, or is no longer one */
    myth_history *history;
    uint64_t done_bytes, all_bytes, n_done;
    int64_t last_id; /* new files get ids after this one; changed files keep theirs */
} update;

static bool is_cancelled(const update *u) { return myth_cancelled(u->opts->is_cancelled); }

static uint32_t kind_flags(const myth_scan_file *f)
{
    return (f->is_generated ? MYTH_FILE_GENERATED : 0) | (f->is_test ? MYTH_FILE_TEST : 0);
}

static void tell_unread(update *u, const char *path, myth_scan_reason reason, const char *why)
{
    u->stats->n_unread++;
    if (u->opts->unread)
        u->opts->unread(u->opts->unread_arg, path, reason, why);
}

/* Compares a file with its row. *is_changed false: the content is the same and only the row is written. A file that
 * cannot be read keeps its row. */
static myth_status compare(update *u, known_file *r, const myth_scan_file *f, bool *is_changed, myth_error *err)
{
    myth_index_job job = {f, r->file.id, false};
    myth_store_file row;
    myth_scan_reason out;
    unsigned char *text = NULL;
    int code;
    *is_changed = true;
    myth_status st = myth_index_read_file(&u->work, &job, &text, &row, &out, &code, err);
    myth_free(u->x->mem, text);
    if (st == MYTH_OK && out == MYTH_SCAN_UNREADABLE && !myth_index_is_gone(code)) {
        tell_unread(u, f->path, out, strerror(code));
        *is_changed = false;
        return MYTH_OK;
    }
    if (strcmp(f->language, r->file.language) != 0)
        return st;
    if (st != MYTH_OK || out != MYTH_SCAN_IN || memcmp(row.hash, r->file.hash, sizeof(row.hash)) != 0)
        return st;
    *is_changed = false;
    row.flags |= r->file.flags & (MYTH_FILE_FAILED | MYTH_FILE_GIVEN_UP | MYTH_FILE_LOST | MYTH_FILE_UNPARSED);
    if (row.mtime_ns != r->file.mtime_ns || row.ctime_ns != r->file.ctime_ns || row.inode != r->file.inode ||
        row.flags != r->file.flags)
        u->touched[u->n_touched++] = row;
    u->has_new_flags |= row.flags != r->file.flags;
    return MYTH_OK;
}

static myth_status find_changes(update *u, myth_error *err)
{
    for (uint32_t i = 0; i < u->scan.n_file; i++) {
        const myth_scan_file *f = &u->scan.file[i];
        if (f->reason != MYTH_SCAN_IN)
            continue;
        known_file *r = find_known(&u->known, f->path);
        bool is_changed = false;
        if (is_cancelled(u))
            return myth_fail(err, MYTH_ECANCEL, "stopped; the index is as it was");
        bool again = r && (r->file.flags & (MYTH_FILE_FAILED | MYTH_FILE_GIVEN_UP)) == MYTH_FILE_FAILED;
        if (r && !again && is_same(r, f) && kind_flags(f) == (r->file.flags & (MYTH_FILE_GENERATED | MYTH_FILE_TEST))) {
            r->is_seen = true;
            continue;
        }
        myth_status st = r ? compare(u, r, f, &is_changed, err) : MYTH_OK;
        if (st != MYTH_OK)
            return st;
        again = again && !is_changed;
        if (r && !is_changed && !again) {
            r->is_seen = true;
            continue;
        }
        if (r)
            r->is_again = true;
        u->job[u->n_job++] = (myth_index_job){f, r ? r->file.id : 0, again};
        u->all_bytes += f->bytes;
    }
    return MYTH_OK;
}

static int compare_paths(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Whether one of the directories above a path is among n sorted names. `dir` is scratch space as long as the path. */
static bool is_below(const char *path, char *dir, const char *const *unread, uint32_t n)
{
    strcpy(dir, path);
    for (char *slash; (slash = strrchr(dir, '/')) != NULL;) {
        *slash = '\0';
        if (bsearch(&dir, unread, n, sizeof(*unread), compare_paths))
            return true;
    }
    return false;
}

/* A file or directory that could not be read may still be there, so its rows, and those of all files below it, stay. */
static myth_status keep_unread(update *u, myth_error *err)
{
    const char **dir = NULL;
    char *room = NULL;
    uint32_t n_dir = 0;
    size_t longest = 0;
    for (uint32_t i = 0; i < u->scan.n_file; i++) {
        const myth_scan_file *f = &u->scan.file[i];
        known_file *r = f->reason == MYTH_SCAN_UNREADABLE ? find_known(&u->known, f->path) : NULL;
        if (r)
            r->is_seen = true;
        n_dir += f->reason == MYTH_SCAN_UNREADABLE && f->is_dir;
    }
    if (n_dir == 0)
        return MYTH_OK;
    for (uint32_t i = 0; i < u->known.n_row; i++) {
        const size_t n = strlen(u->known.row[i].file.path);
        longest = n > longest ? n : longest;
    }
    dir = myth_alloc_n(u->x->mem, MYTH_MEM_OTHER, "index", n_dir, sizeof(*dir));
    room = myth_alloc(u->x->mem, MYTH_MEM_OTHER, "index", longest + 1);
    myth_status st = dir && room ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "no memory for %u names", n_dir);
    n_dir = 0;
    for (uint32_t i = 0; i < u->scan.n_file && st == MYTH_OK; i++)
        if (u->scan.file[i].reason == MYTH_SCAN_UNREADABLE && u->scan.file[i].is_dir)
            dir[n_dir++] = u->scan.file[i].path;
    if (st == MYTH_OK)
        qsort(dir, n_dir, sizeof(*dir), compare_paths);
    for (uint32_t i = 0; i < u->known.n_row && st == MYTH_OK; i++)
        u->known.row[i].is_seen |= is_below(u->known.row[i].file.path, room, dir, n_dir);
    myth_free(u->x->mem, room);
    myth_free(u->x->mem, dir);
    return st;
}

static myth_status drop_files(update *u, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < u->known.n_row && st == MYTH_OK; i++) {
        const known_file *r = &u->known.row[i];
        if (r->is_seen)
            continue;
        st = myth_store_drop(u->x->store, r->file.id, r->is_again, err);
        *(r->is_again ? &u->stats->n_changed : &u->stats->n_removed) += 1;
    }
    return st;
}

static myth_status write_made(void *arg, const myth_index_made *made, myth_error *err)
{
    update *u = arg;
    u->done_bytes += made->job->file->bytes;
    u->n_done++;
    if (made->out != MYTH_SCAN_IN) {
        const bool is_there = made->out == MYTH_SCAN_UNREADABLE && !myth_index_is_gone(made->code);
        if (is_there && made->job->id) /* its rows are dropped already */
            return myth_fail(err, MYTH_EIO, "%.120s: %s while it was read; the index is as it was, run it again",
                             made->job->file->path, strerror(made->code));
        u->stats->n_out[made->out]++;
        tell_unread(u, made->job->file->path, made->out, is_there ? strerror(made->code) : NULL);
        if (!made->job->id)
            return MYTH_OK;
        u->stats->n_changed--;
        u->stats->n_removed++;
        return myth_store_drop(u->x->store, made->job->id, false, err);
    }
    if (u->known.n_row == 0 && !u->has_half && u->done_bytes > u->all_bytes / 2) {
        u->has_half = true; /* FTS5 has two segments now; myth_store_gather joins them */
        myth_status st = myth_store_write_words(u->x->store, err);
        if (st != MYTH_OK)
            return st;
    }
    myth_store_file row = made->row;
    if (!row.id && u->last_id >= MYTH_FILE_ID_MAX)
        return myth_store_fail(u->x->store, SQLITE_CORRUPT, err);
    row.id = row.id ? row.id : ++u->last_id;
    myth_status st = myth_store_put(u->x->store, &row, made->text, &made->chunks, &made->packed, err);
    u->stats->n_added += made->job->id == 0;
    u->stats->n_unstructured += made->chunks.note[0] != '\0';
    if (st == MYTH_OK && u->opts->progress)
        u->opts->progress(u->opts->progress_arg, u->done_bytes, u->all_bytes, u->n_done);
    return st;
}

/* ---- counts, kept as numbers of meta ---- */

static const struct {
    const char *key;
    size_t at, of;
} counts[] = {
    {"n_file", offsetof(myth_index_stats, n_file), offsetof(myth_file_counts, n_file)},
    {"n_chunk", offsetof(myth_index_stats, n_chunk), offsetof(myth_file_counts, n_chunk)},
    {"n_symbol", offsetof(myth_index_stats, n_symbol), offsetof(myth_file_counts, n_symbol)},
    {"n_ref", offsetof(myth_index_stats, n_ref), offsetof(myth_file_counts, n_ref)},
    {"bytes", offsetof(myth_index_stats, bytes), offsetof(myth_file_counts, bytes)},
    {"n_lost", offsetof(myth_index_stats, n_lost), offsetof(myth_file_counts, n_lost)},
};
#define COUNT_MAX (INT64_C(1) << 53)
enum { N_COUNTS = sizeof(counts) / sizeof(counts[0]) };

static const char *out_key(char key[64], int reason)
{
    snprintf(key, 64, "out %s", myth_scan_reason_name((myth_scan_reason)reason));
    return key;
}

/* Adds this transaction's changes to the stored counts. Counting rows instead would read every page that has one.
 * myth_index_check does count. */
static myth_status write_counts(myth_store *store, const myth_index_stats *stats, myth_error *err)
{
    char key[64];
    const myth_file_counts added = myth_store_counts(store);
    myth_status st = MYTH_OK;
    for (int i = 0; i < N_COUNTS && st == MYTH_OK; i++) {
        int64_t n;
        memcpy(&n, (const char *)&added + counts[i].of, sizeof(n));
        const int64_t had = myth_store_number(store, counts[i].key, -1);
        if (had < -1 || had > COUNT_MAX || n > COUNT_MAX || n < -COUNT_MAX)
            return myth_store_damaged(store, "a count is out of range", err);
        if (n || had < 0)
            st = myth_store_set_number(store, counts[i].key, (had < 0 ? 0 : had) + n, err);
    }
    for (int i = MYTH_SCAN_IN + 1; i < MYTH_SCAN_REASON_N && st == MYTH_OK; i++)
        st = myth_store_set_number(store, out_key(key, i), (int64_t)stats->n_out[i], err);
    return st == MYTH_OK ? myth_store_set_number(store, "n_unread", (int64_t)stats->n_unread, err) : st;
}

static void read_counts(myth_store *store, myth_index_stats *stats)
{
    for (int i = 0; i < N_COUNTS; i++)
        *(uint64_t *)(void *)((char *)stats + counts[i].at) = (uint64_t)myth_store_number(store, counts[i].key, 0);
    stats->n_unread = (uint64_t)myth_store_number(store, "n_unread", 0);
    stats->n_lost += stats->n_unread;
}

myth_status myth_index_last(myth_index *x, myth_index_stats *stats, myth_error *err)
{
    char key[64];
    *stats = (myth_index_stats){0};
    myth_status st = myth_store_read_begin(x->store, err);
    if (st != MYTH_OK)
        return st;
    read_counts(x->store, stats);
    for (int i = MYTH_SCAN_IN + 1; i < MYTH_SCAN_REASON_N; i++)
        stats->n_out[i] = (uint64_t)myth_store_number(x->store, out_key(key, i), 0);
    myth_store_read_end(x->store);
    return MYTH_OK;
}

/* ---- one transaction ---- */

/* Collects pieces of files from all over the directory, to train the dictionary on. */
static myth_status learn(update *u, myth_error *err)
{
    enum { PIECE = 4 << 10, PIECES = 320 };
    myth_mem *mem = u->x->mem;
    size_t n_piece[PIECES], at = 0;
    uint32_t n = 0, n_job = u->n_job, step = n_job > PIECES ? n_job / PIECES : 1;
    unsigned char *piece = myth_alloc_n(mem, MYTH_MEM_OTHER, "index", PIECES, PIECE);
    if (!piece)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %d bytes", PIECES * PIECE);
    for (uint32_t i = 0; i < n_job && n < PIECES; i += step) {
        const myth_scan_file *f = u->job[i].file;
        int fd = f->bytes >= 64 ? myth_scan_open(u->work.root_fd, f->path, false) : -1;
        if (fd < 0)
            continue;
        ssize_t got = pread(fd, piece + at, PIECE, f->bytes > PIECE ? (off_t)(f->bytes - PIECE) / 2 : 0);
        close(fd);
        if (got >= 64) {
            n_piece[n++] = (size_t)got;
            at += (size_t)got;
        }
    }
    myth_status st = myth_store_learn(u->x->store, piece, n_piece, n, err);
    myth_free(mem, piece);
    return st;
}

/* Everything before the first file is written; meanwhile the threads start their parsers and cut. */
static myth_status prepare(void *update_, const struct ZSTD_CDict_s **dictionary, myth_error *err)
{
    update *u = update_;
    myth_store *store = u->x->store;
    myth_status st = drop_files(u, err);
    if (st == MYTH_OK && u->known.n_row == 0)
        st = learn(u, err);
    *dictionary = u->n_job ? myth_store_dictionary(store) : NULL;
    for (uint32_t i = 0; i < u->n_touched && st == MYTH_OK; i++)
        st = myth_store_touch(store, &u->touched[i], err);
    return st;
}

static bool has_new_outs(update *u)
{
    char key[64];
    for (int i = MYTH_SCAN_IN + 1; i < MYTH_SCAN_REASON_N; i++)
        if (myth_store_number(u->x->store, out_key(key, i), -1) != (int64_t)u->scan.n_out[i])
            return true;
    return myth_store_number(u->x->store, "n_unread", -1) != (int64_t)u->stats->n_unread;
}

static myth_status write_changes(update *u, myth_error *err)
{
    myth_store *store = u->x->store;
    const bool is_first =
        u->known.n_row == 0 && u->all_bytes > (u->opts->first_bytes ? u->opts->first_bytes : FIRST_BYTES);
    myth_status st = MYTH_OK;
    MYTH_TRY(is_first ? myth_store_begin_first(store, err) : myth_store_begin(store, err));
    MYTH_TRY(myth_index_work_run(&u->work, u->job, u->n_job, prepare, write_made, u, err));
    if (u->known.n_row == 0)
        MYTH_TRY(myth_store_gather(store, err));
    if (myth_history_has_moved(u->history) || u->stats->n_added || u->stats->n_removed)
        MYTH_TRY(myth_history_write(u->history, store, u->stats->history_note, err));
    if (u->has_new_flags || u->stats->n_added || u->stats->n_changed || u->stats->n_removed)
        /* the map is stale; it is made when one is asked for */
        MYTH_TRY(myth_store_set_number(store, "map", 0, err));
    MYTH_TRY(write_counts(store, u->stats, err));
    /* a new state: vectors were made for an earlier one (vectors.h) */
    if (u->stats->n_added || u->stats->n_changed || u->stats->n_removed)
        MYTH_TRY(myth_store_set_number(store, "updates",
                                       (int64_t)((uint64_t)myth_store_number(store, "updates", 0) + 1), err));
    MYTH_TRY(myth_store_commit(store, err));
    myth_store_settle(store);
    return MYTH_OK;
fail:
    myth_store_rollback(store);
    return st;
}

static myth_status run_update(update *u, myth_error *err)
{
    myth_index *x = u->x;
    myth_status st = MYTH_OK;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    u->work.trusted_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - RACY_NS;
    MYTH_TRY(load_known(&u->known, x->store, err));
    MYTH_TRY(myth_history_begin(&u->history, x->mem, x->store, x->root, u->stats->history_note, err));
    u->last_id = u->known.n_row ? u->known.row[u->known.n_row - 1].file.id : 0;
    myth_scan_opts scan = u->opts->scan;
    scan.root = x->root;
    scan.is_cancelled = u->opts->is_cancelled;
    scan.known = is_known;
    scan.known_arg = &u->known;
    scan.lost = true;
    MYTH_TRY(myth_scan(&u->scan, x->mem, &scan, err));
    memcpy(u->stats->n_out, u->scan.n_out, sizeof(u->stats->n_out));
    for (uint32_t i = 0; i < u->scan.n_file; i++)
        if (u->scan.file[i].is_lost)
            tell_unread(u, u->scan.file[i].path, u->scan.file[i].reason, u->scan.file[i].why);
    u->work.root_fd = open(x->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (u->work.root_fd < 0)
        return myth_fail(err, MYTH_EIO, "%.160s: %s", x->root, strerror(errno));
    u->job = myth_alloc_n(x->mem, MYTH_MEM_OTHER, "index", (size_t)u->scan.n_file + 1, sizeof(*u->job));
    u->touched = myth_alloc_n(x->mem, MYTH_MEM_OTHER, "index", (size_t)u->known.n_row + 1, sizeof(*u->touched));
    if (!u->job || !u->touched)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", u->scan.n_file);
    MYTH_TRY(find_changes(u, err));
    MYTH_TRY(keep_unread(u, err));
    uint32_t n_gone = 0;
    for (uint32_t i = 0; i < u->known.n_row; i++)
        n_gone += !u->known.row[i].is_seen;
    if (n_gone || u->n_job || u->n_touched || myth_history_has_moved(u->history) || has_new_outs(u))
        MYTH_TRY(write_changes(u, err));
    read_counts(x->store, u->stats);
    if (u->stats->n_file != u->known.n_row + u->stats->n_added - u->stats->n_removed)
        return myth_store_damaged(x->store, "its count of files is not that of its rows", err);
    x->is_of_nothing = u->stats->n_file == 0 && u->known.n_row == 0;
    if (u->stats->n_file == 0)
        return myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_EXPLAIN_SCAN, "%.160s: no files to index", x->root);
fail:
    return st;
}

static myth_status update_once(myth_index *x, const myth_index_update_opts *opts, myth_index_stats *stats,
                               myth_error *err)
{
    update u = {
        .x = x,
        .opts = opts,
        .stats = stats,
        .known.mem = x->mem,
        .work =
            {
                .mem = x->mem,
                .worker_path = x->worker_path,
                .root_fd = -1,
                .n_threads = x->n_threads,
                .is_cancelled = opts->is_cancelled,
            },
    };
    myth_status st = run_update(&u, err);
    myth_history_end(u.history);
    if (u.work.root_fd >= 0)
        close(u.work.root_fd);
    myth_free(x->mem, u.touched);
    myth_free(x->mem, u.job);
    myth_scan_close(&u.scan, x->mem);
    close_known(&u.known);
    return st;
}

myth_status myth_index_update(myth_index *x, const myth_index_update_opts *opts, myth_index_stats *stats,
                              myth_error *err)
{
    static const myth_index_update_opts none;
    myth_index_stats unused;
    myth_error own = {0};
    double start = myth_seconds();
    opts = opts ? opts : &none;
    stats = stats ? stats : &unused;
    err = err ? err : &own;
    *stats = (myth_index_stats){0};
    if (x->is_read_only)
        return myth_fail(err, MYTH_EARG, "%.160s: opened for reading only", x->path);
    myth_status st = myth_index_lock_writer(x, opts->wait_ms ? opts->wait_ms : MYTH_INDEX_WAIT_MS, err);
    if (st != MYTH_OK)
        return st;
    st = update_once(x, opts, stats, err);
    if (st == MYTH_EFORMAT && myth_index_may_rebuild(x)) {
        char why[sizeof(x->rebuilt)];
        snprintf(why, sizeof(why), "%s", err->msg);
        st = myth_index_rebuild(x, why, err);
        *stats = (myth_index_stats){0};
        if (st == MYTH_OK)
            st = update_once(x, opts, stats, err);
    }
    snprintf(stats->rebuilt, sizeof(stats->rebuilt), "%s", x->rebuilt);
    x->rebuilt[0] = '\0';
    myth_index_unlock_writer(x);
    stats->seconds = myth_seconds() - start;
    return st;
}
