/* index.h - the index of a directory: create it, update it, check it, open it for queries.
 *
 * File      one SQLite file (WAL) with the tables meta, files, chunks (text compressed by zstd), symbols, refs,
 *           history, and FTS5 over path, names and body. The default place is <cache_dir>/mythos/<hash of the root's
 *           real path>/index-<version>.db, never inside the work tree. Each version of the format has a file of its
 *           own. The library does not guess cache_dir and reads no environment
 * Update    scan the directory; compare every file's mtime, ctime, size and inode with the index, and its content
 *           hash (XXH3-128) where those differ; cut what changed; write one transaction. An update that is
 *           interrupted leaves the previous state. The stored hash is that of the very bytes that were cut. A file
 *           with a time less than two seconds before the update may still change unnoticed, so the next update reads
 *           it again
 * Readers   see the last complete update. There is one writer at a time: a second one waits, then fails with
 *           MYTH_ELOST and names the holder's process id
 * History   comes from the git repository around the root, read by libgit2, which runs no program. Without a
 *           repository the history is empty
 * Owner     the caller closes what it opened; a store that is lent is valid until the next update or close
 * Threads   one at a time per myth_index; readers and a writer each open their own
 * Errors    MYTH_EFORMAT the database is damaged and may not be made anew (the message says what to run);
 *           MYTH_ENOTFOUND no files to index; MYTH_ECREATE no place for the database can be made or written; MYTH_EIO
 *           the disk is full or fails, or git keeps a pipe or a device (git_files.h), and nothing changed */
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
    const char *cache_dir;   /* absolute; read only where path is NULL, and then MYTH_ECREATE without it */
    const char *worker_path; /* the parsers' program, as in myth_chunker_open */
    uint32_t n_threads;      /* threads that read and cut files; 0 = one for each core */
    bool is_read_only;       /* fail with MYTH_ENOTFOUND when there is no index */
    bool rebuild;            /* remove an existing index first */
} myth_index_opts;

typedef struct {
    uint64_t n_file, n_chunk, n_symbol, n_ref, bytes;       /* totals after the update */
    uint64_t n_added, n_changed, n_removed, n_unstructured; /* what this update did, in files */
    uint64_t n_out[MYTH_SCAN_REASON_N];
    uint64_t n_unread; /* those of n_out that no rule leaves out, such as unreadable ones (scan.h, `lost`) */
    uint64_t n_lost;   /* n_unread, plus the indexed files that are incomplete (MYTH_FILE_LOST) */
    double seconds;
    char rebuilt[256];      /* the damage for which the database was made anew first; "" = none */
    char history_note[128]; /* why a repository gave no history; "" = it did, or there is none */
} myth_index_stats;

typedef struct {
    myth_scan_opts scan; /* `root` is ignored: the index has its own */
    void (*progress)(void *arg, uint64_t done_bytes, uint64_t all_bytes, uint64_t n_file);
    void *progress_arg;
    const myth_cancel *is_cancelled;
    uint32_t wait_ms; /* how long to wait for another writer; 0 = 10 s */
    /* an empty index that gets more than this is written without a log, which is faster; 0 = 4 MiB. For tests */
    uint64_t first_bytes;
    /* Called for every file and directory counted in n_unread. `why` says which rule or limit applied, NULL when the
     * reason says enough. Strings are valid during the call. */
    void (*unread)(void *arg, const char *path, myth_scan_reason reason, const char *why);
    void *unread_arg;
} myth_index_update_opts;

/* Opens the index, or creates an empty one. A damaged one is made anew, unless it is opened read-only, or the caller
 * gave its path and its header is not that of an index: then it may be somebody's file. */
myth_status myth_index_open(myth_index **out, myth_mem *mem, const myth_index_opts *opts, myth_error *err);
void myth_index_close(myth_index *x);
/* When the update finds damage it makes the index anew and says so in stats->rebuilt; a store that was lent before
 * is then invalid. */
myth_status myth_index_update(myth_index *x, const myth_index_update_opts *opts, myth_index_stats *stats,
                              myth_error *err);
/* Runs SQLite's integrity check, compares every row with its file's hash and the chunks with the bytes they must
 * cover, and the full-text index with the chunks. `report` is called once for each problem. */
myth_status myth_index_check(myth_index *x, void (*report)(void *arg, const char *line), void *arg, uint64_t *n_problem,
                             myth_error *err);
const char *myth_index_path(const myth_index *x);
const char *myth_index_root(const myth_index *x); /* the real path of the directory */
/* The counts that the last update stored; the directory is not looked at. */
myth_status myth_index_last(myth_index *x, myth_index_stats *stats, myth_error *err);
/* The files whose language has a grammar and of which no definitions and uses are known all the same: they are too
 * large, nest too deep, or their parser gave up. An answer about a name is not complete when there are any. */
typedef struct {
    uint64_t n;
    char path[512], note[96]; /* the first by its path, and why; cut to fit */
} myth_index_unparsed;
myth_status myth_index_find_unparsed(myth_index_unparsed *out, myth_index *x, myth_error *err);
/* The store, for queries; valid until the next update or close. */
myth_store *myth_index_store(const myth_index *x);

#endif
