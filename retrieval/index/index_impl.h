/* index_impl.h - inside the index: its parts that are files of their own. */
#ifndef MYTH_INDEX_IMPL_H
#define MYTH_INDEX_IMPL_H

#include "engine/base/cancel.h"
#include "index.h"

struct myth_index {
    myth_mem *mem;
    myth_store *store;
    char *root, *path, *worker_path;
    uint32_t n_threads;
    bool is_read_only, has_default_path;
    char rebuilt[256]; /* why the database was made anew since the last update; "" = it was not */
    int lock_fd;       /* -1 while no update runs */
};

/* ---- index_open.c ---- */

enum { MYTH_INDEX_WAIT_MS = 10000 };

/* Removes the database and makes an empty one, under the writer's lock. Pointers to the store are not valid any more;
 * x->store is NULL after a failure. */
bool myth_index_may_rebuild(const myth_index *x);
myth_status myth_index_rebuild(myth_index *x, const char *why, myth_error *err);

/* Holds <of>.lock, which has the holder's process id. MYTH_ELOST after wait_ms: another process is doing `what`. */
myth_status myth_index_lock(int *lock_fd, const char *of, const char *what, uint32_t wait_ms, myth_error *err);
void myth_index_unlock(int *lock_fd); /* takes -1 */
/* The same of the one writer of x's database. */
myth_status myth_index_lock_writer(myth_index *x, uint32_t wait_ms, myth_error *err);
void myth_index_unlock_writer(myth_index *x);

/* ---- index.c ---- */

/* Of a clock that only goes on. */
double myth_index_seconds(void);

/* ---- index_work.c: threads that read, hash and cut; the caller writes what they made ---- */

typedef struct {
    const myth_scan_file *file;
    int64_t id;      /* of the file in the store, 0 = new */
    bool has_failed; /* its parser did, with this content  */
} myth_index_job;

typedef struct {
    const myth_index_job *job;
    myth_store_file row; /* as it was read                                    */
    unsigned char *text;
    myth_chunks chunks;
    myth_packed packed;
    myth_scan_reason out; /* MYTH_SCAN_IN, or why there is nothing to write    */
    int code;             /* with MYTH_SCAN_UNREADABLE: errno, 0 = it is no file any more */
} myth_index_made;

typedef struct {
    myth_mem *mem;
    const char *worker_path;
    int root_fd;
    int64_t trusted_ns; /* an mtime behind it is stored as not trusted       */
    uint32_t n_threads;
    const myth_cancel *is_cancelled;
} myth_index_work;

/* Calls in the calling thread `prepare` once, while others begin to read and cut: it gives the dictionary that texts
 * are packed with; then `write` for every job in order. Ends at the first error. */
typedef myth_status (*myth_index_prepare)(void *arg, const struct ZSTD_CDict_s **dictionary, myth_error *err);
typedef myth_status (*myth_index_write)(void *arg, const myth_index_made *made, myth_error *err);
myth_status myth_index_work_run(const myth_index_work *work, const myth_index_job *job, uint32_t n_job,
                                myth_index_prepare prepare, myth_index_write write, void *arg, myth_error *err);
/* A file's bytes and its row, hash included, as it was read. *out says why not, then *text is NULL; *code is the errno
 * of a file that could not be read, 0 when it is no regular file any more. */
myth_status myth_index_read_file(const myth_index_work *work, const myth_index_job *job, unsigned char **text,
                                 myth_store_file *row, myth_scan_reason *out, int *code, myth_error *err);
/* Whether an errno says that a file is not there any more, and not only that it cannot be read. */
bool myth_index_is_gone(int code);

/* ---- history.c ---- */

typedef struct myth_history myth_history;

/* Begins to look at the newest commits that the store does not know, in a thread of its own. *out NULL: nothing to look
 * at. */
myth_status myth_history_begin(myth_history **out, myth_mem *mem, myth_store *store, const char *root, char note[128],
                               myth_error *err);
/* Whether the rows must be written for the repository's sake. */
bool myth_history_has_moved(const myth_history *h);
/* Inside a transaction, after the files: waits and writes. */
myth_status myth_history_write(myth_history *h, myth_store *store, char note[128], myth_error *err);
void myth_history_end(myth_history *h); /* takes NULL */

#endif
