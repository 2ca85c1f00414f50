/* kept.h - answers that were generated before, and whole reports that were made before, each found again by everything
 * that decided it.
 *
 * Key      what the caller hashes: the tokens before the answer, the lines that its grammar allows, the limits; and
 *          `base`, which all answers of a run share: program, model, device and its settings, sampling. Where any of it
 *          differs there is no answer
 * Place    one SQLite file, $XDG_CACHE_HOME/mythos/answers-1.db, else ~/.cache/mythos/answers-1.db, for this user
 *          only; what is cheap to make again has a file of its own, so that it pushes out nothing that is not. Each
 *          answer is written when it ends, in a transaction of its own, so that a run that was killed goes on with the
 *          next one
 * Secrets  the caller keeps no answer in which a secret was found. The file holds ids of tokens, which the vocabulary
 *          turns into text
 * Reports  what a whole run printed and wrote, under a key of all that it was given (looks.h has what it found by
 *          itself): a second run over an unchanged tree opens no model. Longer than MYTH_KEPT_REPORT_BYTES: not kept
 * Damage   a row is used only when its checksum holds; the caller asks the grammar about every id as well. A file that
 *          is no such database is made anew
 * Bounds   MYTH_KEPT_BYTES, or what myth_kept_bound says: then the answers and reports that were used longest ago go, a
 *          quarter of each. Where what was used a short while ago is spared, it stays, and nothing new is kept while
 *          the file is full of it: a run over more than fits finds the first part of it again each time, where else
 *          each row would be gone just before its turn. What is used is marked so once a day
 * Writers  several processes, also while the file is made; one that waits longer than MYTH_KEPT_WAIT_MS goes on without
 * Memory   SQLite's own, of which the page cache is at most 1 MiB; `ids` is the caller's
 * Errors   MYTH_ENOTFOUND no place; MYTH_EIO it cannot be opened. Nothing after open fails: without an answer the model
 *          is asked
 * Threads  one a handle */
#ifndef MYTH_KEPT_H
#define MYTH_KEPT_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_KEPT_BYTES = 1 << 30,
    MYTH_KEPT_SPARED_S = 7 * 24 * 3600, /* a run each night, and one each week that came late */
    MYTH_KEPT_WAIT_MS = 200,
    MYTH_KEPT_IDS_MAX = 1 << 20,
    MYTH_KEPT_REPORT_BYTES = 8 << 20
};

typedef struct {
    unsigned char byte[16];
} myth_kept_key;

typedef struct myth_kept myth_kept;

/* folder: that of caches (myth_env_cache_dir); NULL = there is none. base is copied into every key. */
myth_status myth_kept_open(myth_kept **out, const char *folder, const void *base, size_t n_base, myth_error *err);
/* The same in a file of another name: "candidates-1.db". */
myth_status myth_kept_open_file(myth_kept **out, const char *folder, const char *name, const void *base, size_t n_base,
                                myth_error *err);
void myth_kept_close(myth_kept *k); /* takes NULL */
/* Bounds the file; 0 = MYTH_KEPT_BYTES. What was used within spared_s seconds stays; 0 = it may go. */
void myth_kept_bound(myth_kept *k, uint64_t bytes, int64_t spared_s);
/* How many answers and reports had no room in the file, since open. */
uint64_t myth_kept_n_refused(const myth_kept *k);
/* Whether open would find a file, for who must not make one. */
bool myth_kept_is_there(const char *folder);

/* From here on this is in every key instead. False: out of memory, and the old one stays. */
bool myth_kept_rebase(myth_kept *k, const void *base, size_t n_base);

/* Hashes pieces of memory into a key: XXH3, 128 bits, with base before the first piece. */
void myth_kept_begin(myth_kept *k);
void myth_kept_add(myth_kept *k, const void *bytes, size_t n);
myth_kept_key myth_kept_end(myth_kept *k);

/* Writes an answer's ids, at most cap; false when there is none. */
bool myth_kept_get(myth_kept *k, const myth_kept_key *key, int32_t *ids, uint32_t cap, uint32_t *n, myth_finish *why);
void myth_kept_put(myth_kept *k, const myth_kept_key *key, const int32_t *ids, uint32_t n, myth_finish why);

/* A report of n bytes, which the caller gives to free; NULL when there is none. */
unsigned char *myth_kept_get_report(myth_kept *k, const myth_kept_key *key, size_t *n);
void myth_kept_put_report(myth_kept *k, const myth_kept_key *key, const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif
#endif
