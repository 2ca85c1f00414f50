/* index_open.c - where an index lies, who may write it, opening it, and making it anew.
 *
 * Place    the file's name contains the version of the format, so that two versions of this program do not delete
 *          each other's index
 * Lock     flock on <database>.lock, which holds the process id of the holder
 * Damage   whoever opens a damaged database to write removes it and creates an empty one; a reader reports it */
#include "index_impl.h"

#include "engine/base/outfile.h"
#include "engine/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_STEP_MS = 20 };

/* ---- places ---- */

static myth_status default_path(char path[PATH_MAX], const char *cache_dir, const char *root, myth_error *err)
{
    char name[MYTH_INDEX_NAME];
    if (!cache_dir || cache_dir[0] != '/')
        return myth_fail_option(err, MYTH_ECREATE, "cache_dir",
                                "no place for the index: set cache_dir to an absolute path");
    myth_index_name_of(name, root);
    const int n = snprintf(path, PATH_MAX, "%s/mythos/%s/index-%d.db", cache_dir, name, MYTH_STORE_VERSION);
    return n < PATH_MAX - 16
             ? MYTH_OK
             : myth_fail_option(err, MYTH_EARG, "cache_dir",
                                "cache_dir makes a path of %d bytes for the index, expected less than %d", n,
                                PATH_MAX - 16);
}

static myth_status no_place(const char *path, int e, myth_error *err)
{
    return myth_fail_option(err, e == ENOSPC ? MYTH_EIO : MYTH_ECREATE, "cache_dir",
                            "%.150s: %s; cache_dir names another place for indexes", path, strerror(e));
}

static myth_status make_folders(const char *path, myth_error *err)
{
    char dir[PATH_MAX];
    const int e = myth_out_folders(dir, path);
    return e ? no_place(dir, e, err) : MYTH_OK;
}

/* ---- lock ---- */

void myth_index_unlock(int *lock_fd)
{
    if (*lock_fd >= 0) {
        if (ftruncate(*lock_fd, 0) != 0)
            errno = 0; /* a process id that stays behind does no harm: the lock decides */
        close(*lock_fd);
    }
    *lock_fd = -1;
}

myth_status myth_index_lock(int *lock_fd, const char *of, const char *what, uint32_t wait_ms, myth_error *err)
{
    char path[PATH_MAX], pid[24] = "";
    snprintf(path, sizeof(path), "%s.lock", of);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return no_place(path, errno, err);
    for (uint32_t waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited += LOCK_STEP_MS) {
        int e = errno;
        if (e == EWOULDBLOCK && waited < wait_ms) {
            nanosleep(&(struct timespec){.tv_nsec = LOCK_STEP_MS * 1000000L}, NULL);
            continue;
        }
        if (e == EINTR)
            continue;
        ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
        pid[n > 0 ? n : 0] = '\0';
        close(fd);
        if (e != EWOULDBLOCK)
            return myth_fail_option(err, MYTH_EIO, "cache_dir",
                                    "%.150s: %s; this file system has no locks, cache_dir names another place", path,
                                    strerror(e));
        return myth_fail(err, MYTH_ELOST, "%.140s: process %ld is %s; try again when it is done", of,
                         strtol(pid, NULL, 10), what);
    }
    int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        errno = 0; /* the disk may be full: the lock holds without the process id */
    *lock_fd = fd;
    return MYTH_OK;
}

void myth_index_unlock_writer(myth_index *x) { myth_index_unlock(&x->lock_fd); }
myth_status myth_index_lock_writer(myth_index *x, uint32_t wait_ms, myth_error *err)
{
    return myth_index_lock(&x->lock_fd, x->path, "updating the index", wait_ms, err);
}

/* ---- made anew ---- */

/* Whether the file's header says that this program wrote it as an index. */
static bool has_our_header(const char *path)
{
    unsigned char h[72];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_whole = fd >= 0 && pread(fd, h, sizeof(h), 0) == (ssize_t)sizeof(h);
    if (fd >= 0)
        close(fd);
    return is_whole && memcmp(h, "SQLite format 3", 16) == 0 &&
           ((uint32_t)h[68] << 24 | (uint32_t)h[69] << 16 | (uint32_t)h[70] << 8 | h[71]) == MYTH_STORE_APPLICATION;
}

/* At the default place every file is an index. At a path that the caller gave, a file that is no index may be
 * anybody's. */
bool myth_index_may_rebuild(const myth_index *x)
{
    return !x->is_read_only && (x->has_default_path || has_our_header(x->path));
}

myth_status myth_index_rebuild(myth_index *x, const char *why, myth_error *err)
{
    snprintf(x->rebuilt, sizeof(x->rebuilt), "%s", why);
    myth_store_close(x->store);
    x->store = NULL;
    myth_store_remove(x->path);
    return myth_store_open(&x->store, x->mem, x->path, false, err);
}

/* Opens the store, under the writer's lock unless it is read-only. */
static myth_status open_store(myth_index *x, bool rebuild, myth_error *err)
{
    myth_error own = {0};
    err = err ? err : &own;
    if (rebuild && access(x->path, F_OK) == 0 && myth_index_may_rebuild(x))
        return myth_index_rebuild(x, "as was asked", err);
    myth_status st = myth_store_open(&x->store, x->mem, x->path, x->is_read_only, err);
    if (st != MYTH_EFORMAT || !myth_index_may_rebuild(x))
        return st;
    const myth_error why = *err;
    return myth_index_rebuild(x, why.msg, err);
}

/* ---- open ---- */

myth_status myth_index_open(myth_index **out, myth_mem *mem, const myth_index_opts *opts, myth_error *err)
{
    char path[PATH_MAX], root[PATH_MAX];
    const char *dir = opts->root ? opts->root : ".";
    myth_status st = MYTH_OK;
    *out = NULL;
    if (!realpath(dir, root))
        return myth_fail(err, errno == ENOENT || errno == ENOTDIR ? MYTH_ENOTFOUND : MYTH_EIO, "%.160s: %s", dir,
                         strerror(errno));
    if (opts->path && strlen(opts->path) >= PATH_MAX - 16)
        return myth_fail(err, MYTH_EARG, "the index's path: %zu bytes, expected less than %d", strlen(opts->path),
                         PATH_MAX - 16);
    if (opts->path)
        strcpy(path, opts->path);
    else if ((st = default_path(path, opts->cache_dir, root, err)) != MYTH_OK)
        return st;
    if (opts->rebuild && opts->is_read_only)
        return myth_fail(err, MYTH_EARG, "an index that is read only cannot be made anew");
    myth_index *x = myth_alloc(mem, MYTH_MEM_OTHER, "index", sizeof(*x));
    if (!x)
        return myth_fail(err, MYTH_ENOMEM, "no memory for an index");
    *x = (myth_index){.mem = mem,
                      .n_threads = opts->n_threads,
                      .is_read_only = opts->is_read_only,
                      .has_default_path = !opts->path,
                      .lock_fd = -1};
    x->root = myth_text_copy(mem, MYTH_MEM_OTHER, "index", root, strlen(root));
    x->path = myth_text_copy(mem, MYTH_MEM_OTHER, "index", path, strlen(path));
    x->worker_path = opts->worker_path
                       ? myth_text_copy(mem, MYTH_MEM_OTHER, "index", opts->worker_path, strlen(opts->worker_path))
                       : NULL;
    if (!x->root || !x->path || (opts->worker_path && !x->worker_path)) {
        st = myth_fail(err, MYTH_ENOMEM, "no memory for an index");
        goto fail;
    }
    if (!opts->is_read_only) {
        MYTH_TRY(make_folders(path, err));
        MYTH_TRY(myth_index_lock_writer(x, MYTH_INDEX_WAIT_MS, err));
    }
    MYTH_TRY(open_store(x, opts->rebuild, err));
    myth_index_unlock_writer(x);
    myth_index_note_use(x);
    *out = x;
    return MYTH_OK;
fail:
    myth_index_close(x);
    return st;
}

void myth_index_close(myth_index *x)
{
    if (!x)
        return;
    myth_mem *mem = x->mem;
    myth_store_close(x->store);
    myth_index_unlock_writer(x);
    if (x->is_of_nothing && x->has_default_path)
        myth_index_forget(x->path);
    myth_free(mem, x->worker_path);
    myth_free(mem, x->path);
    myth_free(mem, x->root);
    myth_free(mem, x);
}

const char *myth_index_path(const myth_index *x) { return x->path; }
const char *myth_index_root(const myth_index *x) { return x->root; }
myth_store *myth_index_store(const myth_index *x) { return x->store; }

_Static_assert(MYTH_FILE_UNPARSED == 128, "as the query has it");

myth_status myth_index_find_unparsed(myth_index_unparsed *out, myth_index *x, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    *out = (myth_index_unparsed){0};
    int rc = sqlite3_prepare_v2(
        myth_store_db(x->store),
        "SELECT path, note, count(*) OVER () FROM files WHERE flags & 128 ORDER BY path LIMIT 1", -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *path = sqlite3_column_blob(q, 0), *note = (const char *)sqlite3_column_text(q, 1);
        snprintf(out->path, sizeof(out->path), "%.*s", sqlite3_column_bytes(q, 0), path ? path : "");
        snprintf(out->note, sizeof(out->note), "%s", note ? note : "");
        out->n = (uint64_t)sqlite3_column_int64(q, 2);
    }
    const myth_status st = myth_store_fail(x->store, rc, err);
    sqlite3_finalize(q);
    return st;
}
