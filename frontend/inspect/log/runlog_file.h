/* runlog_file.h - the file of the run log: a SQLite database with one row for each run, and the run's long texts in
 * compressed form.
 *
 * Place    --log FILE, else $XDG_STATE_HOME/mythos/runs.db, else ~/.local/state/mythos/runs.db; 0600, new folders 0700
 * Tables   runs(id, began_ms, command, subject, exit_code, bytes, record, hash)  record is the JSON document of
 *          runlog.h, hash its XXH3-128, so that a changed byte is an error and is never printed; exit_code NULL: the
 *          run is still going on, was killed, or could not be logged further (runlog_state.h)
 *          texts(run_id, name, n, data)                zstd frames with their checksum
 *          hashes(path, bytes, mtime_ns, inode, hash)  of the program, models and other files; each is read only once
 * Bounds   MYTH_RUNLOG_RUNS and MYTH_RUNLOG_BYTES; when a run ends, the oldest runs past them are deleted, except those
 *          that may be going on: without an exit code, and begun within a day
 * Writers  several processes at once; each writing statement is short and waits for the others (MYTH_RUNLOG_WAIT_MS)
 * Killed   committed rows stay. The WAL is not synced at each commit: a power cut may lose the newest rows, never older
 *          ones
 * Version  user_version; a file of another version or another program is not touched
 * Memory   booked in mem; SQLite and zstd allocate a few hundred KiB of their own
 * Errors   MYTH_EFORMAT: damaged, or not a run log; the message has the remedy. MYTH_ENOTFOUND; MYTH_ELOST: another
 *          process has locked it; MYTH_ECREATE, MYTH_EIO; MYTH_ENOMEM
 * Threads  one for each open file */
#ifndef MYTH_INSPECT_RUNLOG_FILE_H
#define MYTH_INSPECT_RUNLOG_FILE_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_RUNLOG_VERSION = 1,
    MYTH_RUNLOG_APPLICATION = 0x6d79746c,
    MYTH_RUNLOG_RUNS = 1000,      /* a day of a pipeline, or months of one person                                   */
    MYTH_RUNLOG_BYTES = 64 << 20, /* stored bytes; a run of one file takes 20 KiB, one of a long prompt 100 KiB     */
    MYTH_RUNLOG_TEXT_BYTES =
        4 << 20, /* longest text before compression; a longer one is not kept                      */
    MYTH_RUNLOG_RECORD_BYTES =
        8 << 20, /* longest document                                                               */
    MYTH_RUNLOG_WAIT_MS = 5000
};

typedef struct myth_runlog_file myth_runlog_file;

typedef struct {
    uint32_t max_runs;  /* 0 = MYTH_RUNLOG_RUNS  */
    uint64_t max_bytes; /* 0 = MYTH_RUNLOG_BYTES */
    bool is_read_only;  /* a missing file is MYTH_ENOTFOUND and not created */
} myth_runlog_file_opts;

/* Writes the log's path to dst; given NULL = the default place. MYTH_ENOTFOUND: neither XDG_STATE_HOME nor HOME is an
 * absolute path. */
myth_status myth_runlog_file_place(char *dst, size_t cap, const char *given, myth_error *err);
myth_status myth_runlog_file_open(myth_runlog_file **out, myth_mem *mem, const char *path,
                                  const myth_runlog_file_opts *opts, myth_error *err);
void myth_runlog_file_close(myth_runlog_file *f); /* takes NULL */
/* Lets the next run that closes the file write and sync what this one added, which may take longer than the run. */
void myth_runlog_file_defer(myth_runlog_file *f);
void myth_runlog_file_hurry(myth_runlog_file *f); /* waits for no other writer from here on */
const char *myth_runlog_file_path(const myth_runlog_file *f);

/* ---- writing ---- */

/* Adds a run; *run gets its number. */
myth_status myth_runlog_file_begin(myth_runlog_file *f, int64_t *run, int64_t began_ms, const char *command,
                                   myth_error *err);
/* Stores a text under a name, in place of an earlier one. MYTH_ELIMIT: it is too long and was not stored. MYTH_ELOST:
 * also when the log does not have the run, here and at its end. */
myth_status myth_runlog_file_put(myth_runlog_file *f, int64_t run, const char *name, const void *data, size_t n,
                                 myth_error *err);
/* Stores the document so far, and the subject that `log list` prints. exit_code NULL: the run goes on. Otherwise the
 * run ends, and the oldest runs before it past the bounds are deleted. */
myth_status myth_runlog_file_save(myth_runlog_file *f, int64_t run, const char *subject, const char *record, size_t n,
                                  const int *exit_code, myth_error *err);

/* What of a log may stay. */
typedef struct {
    uint32_t max_runs;  /* UINT32_MAX = any number */
    uint64_t max_bytes; /* UINT64_MAX = any size   */
    int64_t since_ms;   /* runs that began earlier may not; INT64_MIN = any age */
    bool is_dry;        /* only count */
} myth_runlog_prune;

/* Deletes the oldest runs until the rest may stay, with every text whose run is gone, and gives their space back; says
 * how many runs and bytes that were. A run of the last day that has not ended stays: it may be going on. */
myth_status myth_runlog_file_prune(myth_runlog_file *f, const myth_runlog_prune *what, uint64_t *n_run, uint64_t *bytes,
                                   myth_error *err);

/* ---- reading ---- */

typedef struct {
    int64_t id, began_ms;
    const char *command, *subject; /* valid during the call */
    bool has_ended;
    int exit_code;
    uint64_t bytes;
} myth_runlog_row;

/* Calls on_row for at most n runs, the newest first, until it returns false. */
myth_status myth_runlog_file_list(myth_runlog_file *f, uint32_t n,
                                  bool (*on_row)(void *user, const myth_runlog_row *row), void *user, myth_error *err);
/* MYTH_ENOTFOUND: the log is empty. */
myth_status myth_runlog_file_newest(myth_runlog_file *f, int64_t *run, myth_error *err);
/* The document of a run, NUL-terminated; the caller frees it with myth_free. MYTH_ENOTFOUND: the message has the
 * numbers of the existing runs. */
myth_status myth_runlog_file_record(myth_runlog_file *f, int64_t run, char **record, size_t *n, myth_error *err);
/* A text of a run, NUL-terminated; the caller frees it with myth_free. MYTH_ENOTFOUND: it has no text of that name. */
myth_status myth_runlog_file_text(myth_runlog_file *f, int64_t run, const char *name, char **text, size_t *n,
                                  myth_error *err);

/* ---- hashes of files ---- */

typedef struct {
    uint64_t bytes, inode;
    int64_t mtime_ns;
    char hash[48]; /* "xxh3:" for a whole file or "xxh3-sampled:" for pieces of a long one, and 32 digits */
} myth_runlog_hash;

/* Hashes a file. A long one (MYTH_RUNLOG_SAMPLE_BYTES) is hashed by its first MiB and 4,096 pieces of the rest, which
 * is enough because another training, conversion or type changes the bytes everywhere. f remembers the hash by size,
 * time and inode; with f NULL the bytes are always read. MYTH_ENOTFOUND, MYTH_EIO. */
enum { MYTH_RUNLOG_SAMPLE_BYTES = 256 << 20 };
myth_status myth_runlog_hash_file(myth_runlog_hash *out, const char *path, myth_runlog_file *f, myth_error *err);
/* Writes "sha256:" and 64 digits, the same as sha256sum prints. */
void myth_runlog_hash_bytes(char dst[72], const void *data, size_t n);

#ifdef __cplusplus
}
#endif
#endif
