/* index.h - the index of a directory: made, updated, checked, read.
 *
 * File      one SQLite file (WAL): meta, files, chunks (text by zstd), symbols, refs, history, and FTS5 over path,
 *           names, body. Default place $XDG_CACHE_HOME/mythos/<hash of the root's real path>/index-<version>.db,
 *           never in the work tree: versions of the format keep a file each
 * Update    scan, compare by mtime, size and inode, then by content hash (XXH3-128), cut what changed, one transaction:
 *           an interrupted update leaves the previous state. A file read is hashed as it was read: what is indexed is
 *           what the hash says. mtimes within two seconds of the update are not trusted next time
 * Readers   see the last complete update; one writer at a time, a second waits, then fails with MYTH_ELOST and the
 *           holder's process id
 * History   of the git repository around the root, read by libgit2, which runs nothing of it: no repository, no rows
 * Threads   one at a time per myth_index; readers and a writer each have their own
 * Errors    MYTH_EFORMAT the database is damaged and may not be made anew (the message says how to); MYTH_ENOTFOUND no
 *           files; MYTH_EIO a full disk and its like, nothing changed */
#ifndef MYTH_INDEX_H
#define MYTH_INDEX_H

#include "engine/base/cancel.h"
#include "retrieval/parse/chunk.h"
#include "retrieval/scan/scan.h"
#include "retrieval/store/store.h"

typedef struct myth_index myth_index;

typedef struct {
    const char *root;        /* the directory; NULL = the current one                    */
    const char *path;        /* of the database; NULL = the default place                */
    const char *worker_path; /* as myth_chunker_open                                      */
    uint32_t n_threads;      /* that read and cut; 0 = all cores                          */
    bool is_read_only;       /* MYTH_ENOTFOUND when there is none                         */
    bool rebuild;            /* what is there is removed first                            */
} myth_index_opts;

typedef struct {
    uint64_t n_file, n_chunk, n_symbol, n_ref, bytes;       /* after the update                */
    uint64_t n_added, n_changed, n_removed, n_unstructured; /* of this update                  */
    uint64_t n_out[MYTH_SCAN_REASON_N];
    uint64_t n_unread; /* of them: out though no rule says so (scan.h, `lost`)       */
    uint64_t n_lost;   /* files of which something is not in the index: these, and rows with MYTH_FILE_LOST */
    double seconds;
    char rebuilt[256];      /* why the database was made anew first: how it was damaged; "" = it was not */
    char history_note[128]; /* why there is no history, when there is a repository       */
} myth_index_stats;

typedef struct {
    myth_scan_opts scan; /* root is the index's                                       */
    void (*progress)(void *arg, uint64_t done_bytes, uint64_t all_bytes, uint64_t n_file);
    void *progress_arg;
    const myth_cancel *is_cancelled;
    uint32_t wait_ms;     /* for another writer; 0 = 10 s                              */
    uint64_t first_bytes; /* of files: more are put into an empty index without a log; 0 = 4 MiB. For tests */
    /* Every file and directory of n_unread, with the reason and what says so (NULL = the reason alone). Strings valid
     * during the call. */
    void (*unread)(void *arg, const char *path, myth_scan_reason reason, const char *why);
    void *unread_arg;
} myth_index_update_opts;

/* Makes nothing but an empty index, unless one is there. One that is damaged is made anew, unless it is only read or
 * lies at a place that was given and its header is none of ours. */
myth_status myth_index_open(myth_index **out, myth_mem *mem, const myth_index_opts *opts, myth_error *err);
void myth_index_close(myth_index *x);
/* Damage that it meets makes the index anew (stats->rebuilt). Then a store that was lent before is another. */
myth_status myth_index_update(myth_index *x, const myth_index_update_opts *opts, myth_index_stats *stats,
                              myth_error *err);
/* SQLite's own check, every row against its file's hash and cover, FTS against the chunks. `report` gets a line per
 * problem. */
myth_status myth_index_check(myth_index *x, void (*report)(void *arg, const char *line), void *arg, uint64_t *n_problem,
                             myth_error *err);
const char *myth_index_path(const myth_index *x);
const char *myth_index_root(const myth_index *x); /* its real path */
/* What the last update left, without looking at the directory. */
myth_status myth_index_last(myth_index *x, myth_index_stats *stats, myth_error *err);
/* For queries; lent until close or the next update. */
myth_store *myth_index_store(const myth_index *x);

#endif
