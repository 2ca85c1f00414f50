/* runlog_file.h - the file of the run log: one SQLite database with a row per run and the long texts of each,
 * compressed.
 *
 * Place    --log FILE, else $XDG_STATE_HOME/mythos/runs.db, else ~/.local/state/mythos/runs.db; 0600, new folders 0700
 * Tables   runs(id, began_ms, command, subject, exit_code, bytes, record, hash)  exit_code NULL: the run did not end,
 *          or is not over
 *          texts(run_id, name, n, data)                                              zstd frames with their checksum
 *          hashes(path, bytes, mtime_ns, inode, hash)  of large files, so that each is read once record is the JSON
 *          document of runlog.h, hash its XXH3-128: a changed byte in what is shown is an error, not an answer
 * Bounds   MYTH_RUNLOG_RUNS and MYTH_RUNLOG_BYTES; the oldest runs are dropped when one ends
 * Writers  several at once: each statement that writes is short and waits for the others (MYTH_RUNLOG_WAIT_MS)
 * Killed   what was committed stays, WAL without a sync per commit: a power cut may lose the newest rows, never the
 *          older ones
 * Version  user_version; a file of another version or another program is left alone
 * Memory   through mem; SQLite and zstd take their own, a few hundred KiB
 * Errors   MYTH_EFORMAT damaged or not a run log, with the remedy; MYTH_ENOTFOUND; MYTH_ELOST another process holds it;
 *          MYTH_ECREATE, MYTH_EIO; MYTH_ENOMEM */
#ifndef MYTH_INSPECT_RUNLOG_FILE_H
#define MYTH_INSPECT_RUNLOG_FILE_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_RUNLOG_VERSION = 1,
    MYTH_RUNLOG_APPLICATION = 0x6d79746c,
    MYTH_RUNLOG_RUNS = 1000,      /* a day of a pipeline, months of a person                                        */
    MYTH_RUNLOG_BYTES = 64 << 20, /* as stored; a run of one file takes some 20 KiB, one of a long prompt 100       */
    MYTH_RUNLOG_TEXT_BYTES =
        4 << 20, /* of one text before it is compressed: a longer one is not kept                  */
    MYTH_RUNLOG_RECORD_BYTES =
        8 << 20, /* of the document                                                                */
    MYTH_RUNLOG_WAIT_MS = 5000
};

typedef struct myth_runlog_file myth_runlog_file;

typedef struct {
    uint32_t max_runs;  /* 0 = MYTH_RUNLOG_RUNS  */
    uint64_t max_bytes; /* 0 = MYTH_RUNLOG_BYTES */
    bool is_read_only;  /* MYTH_ENOTFOUND when there is none */
} myth_runlog_file_opts;

/* given NULL = the default place. MYTH_ENOTFOUND: neither XDG_STATE_HOME nor HOME is an absolute path. */
myth_status myth_runlog_file_place(char *dst, size_t cap, const char *given, myth_error *err);
myth_status myth_runlog_file_open(myth_runlog_file **out, myth_mem *mem, const char *path,
                                  const myth_runlog_file_opts *opts, myth_error *err);
void myth_runlog_file_close(myth_runlog_file *f); /* takes NULL */
const char *myth_runlog_file_path(const myth_runlog_file *f);

/* ---- writing ---- */

/* A new run; *run gets its number. */
myth_status myth_runlog_file_begin(myth_runlog_file *f, int64_t *run, int64_t began_ms, const char *command,
                                   myth_error *err);
/* Replaces the text of that name. MYTH_ELIMIT: it is too long, nothing was put. */
myth_status myth_runlog_file_put(myth_runlog_file *f, int64_t run, const char *name, const void *data, size_t n,
                                 myth_error *err);
/* The document, as far as it is known, and what lists say the run was about. exit_code NULL: the run goes on. Else the
 * oldest runs past the bounds are dropped, never this one. */
myth_status myth_runlog_file_save(myth_runlog_file *f, int64_t run, const char *subject, const char *record, size_t n,
                                  const int *exit_code, myth_error *err);

/* ---- reading ---- */

typedef struct {
    int64_t id, began_ms;
    const char *command, *subject; /* valid during the call */
    bool has_ended;
    int exit_code;
    uint64_t bytes;
} myth_runlog_row;

/* The newest first, at most n; on_row returns false to end. */
myth_status myth_runlog_file_list(myth_runlog_file *f, uint32_t n,
                                  bool (*on_row)(void *user, const myth_runlog_row *row), void *user, myth_error *err);
/* MYTH_ENOTFOUND: the log is empty. */
myth_status myth_runlog_file_newest(myth_runlog_file *f, int64_t *run, myth_error *err);
/* The document of a run, NUL-terminated, myth_free it. MYTH_ENOTFOUND names the runs that there are. */
myth_status myth_runlog_file_record(myth_runlog_file *f, int64_t run, char **record, size_t *n, myth_error *err);
/* A text, NUL-terminated, myth_free it. MYTH_ENOTFOUND: the run has none of that name. */
myth_status myth_runlog_file_text(myth_runlog_file *f, int64_t run, const char *name, char **text, size_t *n,
                                  myth_error *err);

/* ---- hashes of files ---- */

typedef struct {
    uint64_t bytes, inode;
    int64_t mtime_ns;
    char hash[48]; /* "xxh3:" of the whole, "xxh3-sampled:" of a long one's pieces, and 32 digits */
} myth_runlog_hash;

/* Long files (MYTH_RUNLOG_SAMPLE_BYTES) are hashed by their first MiB and 4,096 pieces spread over the rest: another
 * training, conversion or type changes all of them. f, when given, remembers the hash of a file by size, time and
 * inode; NULL looks at the bytes. MYTH_ENOTFOUND, MYTH_EIO. */
enum { MYTH_RUNLOG_SAMPLE_BYTES = 256 << 20 };
myth_status myth_runlog_hash_file(myth_runlog_hash *out, const char *path, myth_runlog_file *f, myth_error *err);
/* "sha256:" and 64 digits, as sha256sum says it. */
void myth_runlog_hash_bytes(char dst[72], const void *data, size_t n);

#ifdef __cplusplus
}
#endif
#endif
