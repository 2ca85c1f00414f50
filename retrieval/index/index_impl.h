/* index_impl.h - what the index's own files (index.c, index_open.c, index_list.c, index_work.c, history.c)
 * share. */
#ifndef MYTH_INDEX_IMPL_H
#define MYTH_INDEX_IMPL_H

#include "engine/base/cancel.h"
#include "index.h"
#include "index_list.h"

struct myth_index {
    myth_mem *mem;
    myth_store *store;
    char *root, *path, *worker_path;
    uint32_t n_threads;
    bool is_read_only, has_default_path;
    bool is_of_nothing; /* no update ever found a file */
    char rebuilt[256];  /* the damage for which the database was made anew since the last update; "" = none */
    int lock_fd;        /* open file of the writer's lock; -1 while no update runs */
};

/* ---- index_open.c ---- */

enum { MYTH_INDEX_WAIT_MS = 10000 };

/* Whether a damaged database may be removed: see myth_index_open. */
bool myth_index_may_rebuild(const myth_index *x);
/* Removes the database and creates an empty one, under the writer's lock. The old myth_store is closed, so pointers to
 * it are invalid. x->store is NULL after a failure. */
myth_status myth_index_rebuild(myth_index *x, const char *why, myth_error *err);

/* Locks the file <of>.lock, which then holds this process's id. After wait_ms MYTH_ELOST: the message says that
 * another process is doing `what`. */
myth_status myth_index_lock(int *lock_fd, const char *of, const char *what, uint32_t wait_ms, myth_error *err);
void myth_index_unlock(int *lock_fd); /* takes -1 */
/* Locks for writing the database of x. */
myth_status myth_index_lock_writer(myth_index *x, uint32_t wait_ms, myth_error *err);
void myth_index_unlock_writer(myth_index *x);

/* ---- index_list.c ---- */

/* The name of the folder that has the index of a root. */
void myth_index_name_of(char dst[MYTH_INDEX_NAME], const char *root);
/* Notes that the index is used now, and of which root it is. */
void myth_index_note_use(const myth_index *x);

/* Deletes the index of a tree, which is closed, unless a process is updating it. path: of its database. */
void myth_index_forget(const char *path);

/* ---- index_work.c: threads that read, hash and cut; the caller writes what they made ---- */

typedef struct {
    const myth_scan_file *file;
    int64_t id;      /* the file's id in the store, 0 = new */
    bool has_failed; /* its parser failed before on this very content */
} myth_index_job;

typedef struct {
    const myth_index_job *job;
    myth_store_file row; /* describes the bytes in `text` */
    unsigned char *text;
    myth_chunks chunks;
    myth_packed packed;
    myth_scan_reason out; /* MYTH_SCAN_IN, or why the file gets no rows */
    int code;             /* errno when `out` is MYTH_SCAN_UNREADABLE; 0 = it is no regular file any more */
} myth_index_made;

typedef struct {
    myth_mem *mem;
    const char *worker_path;
    int root_fd;
    int64_t trusted_ns; /* a file that changed later has the mtime -1, so that the next update reads it again */
    uint32_t n_threads;
    const myth_cancel *is_cancelled;
} myth_index_work;

/* Other threads read and cut the files. The calling thread calls `prepare` once, which returns the dictionary that
 * texts are compressed with, and then `write` for every job in order. The first error ends the run. */
typedef myth_status (*myth_index_prepare)(void *arg, const struct ZSTD_CDict_s **dictionary, myth_error *err);
typedef myth_status (*myth_index_write)(void *arg, const myth_index_made *made, myth_error *err);
myth_status myth_index_work_run(const myth_index_work *work, const myth_index_job *job, uint32_t n_job,
                                myth_index_prepare prepare, myth_index_write write, void *arg, myth_error *err);
/* Reads a file and fills its row, hash included. When it must stay out, *out says why and *text is NULL; *code is
 * then the errno, or 0 when it is no regular file any more. */
myth_status myth_index_read_file(const myth_index_work *work, const myth_index_job *job, unsigned char **text,
                                 myth_store_file *row, myth_scan_reason *out, int *code, myth_error *err);
/* Whether an errno says that the file no longer exists, and not merely that it cannot be read. */
bool myth_index_is_gone(int code);

/* ---- history.c ---- */

typedef struct myth_history myth_history;

/* Starts a thread that reads the commits which the store does not know. *out NULL: there is nothing to read. note:
 * why libgit2 could not read a repository, else "". Errors: those of myth_git_check, and of the store. */
myth_status myth_history_begin(myth_history **out, myth_mem *mem, myth_store *store, const char *root, char note[128],
                               myth_error *err);
/* Whether HEAD has moved since the last update, so that the history's rows must be written even if no file changed. */
bool myth_history_has_moved(const myth_history *h);
/* Waits for the thread and writes its rows, inside a transaction and after the files' rows. */
myth_status myth_history_write(myth_history *h, myth_store *store, char note[128], myth_error *err);
void myth_history_end(myth_history *h); /* takes NULL */

#endif
