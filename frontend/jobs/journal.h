/* journal.h - what a job has finished so far, beside its output, so that the same command goes on after it was killed.
 *
 * Place    OUT.journal, a SQLite database; gone when the output is complete. A process that works on it holds it
 *          locked, so that two commands cannot write one output, and nobody else removes it
 * Facts    what decides the results: the model's hash, the flags, the hash of the input. A journal that was begun with
 *          another fact is refused, and the message says which one. One with nothing in it takes the new facts
 * Items    a finished item is a row: bytes that the job chooses, maybe none, when only the fact that it is done
 *          matters. Rows come back in the order of their indices
 * State    bytes under a name, replaced as a whole: the sums of a mean
 * Batches  everything that was put becomes durable at once, at the next commit. A process that is killed loses what it
 *          put since the last commit; the next process finds state and items as of that commit
 * Damage   a file that SQLite finds damaged, or that is no journal, is refused, and so is an item or a state whose
 *          bytes are not those that were put (each has a sum), and a journal of another version; --resume off replaces
 *          it
 * Memory   SQLite's own, of which the page cache is at most 1 MiB; nothing grows with the items
 * Errors   MYTH_EARG another fact; MYTH_EIO locked, damaged, cannot be written (disk full)
 * Threads  one */
#ifndef MYTH_JOB_JOURNAL_H
#define MYTH_JOB_JOURNAL_H

#include "engine/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_JOURNAL_SHARES = 64, MYTH_JOURNAL_NAME_BYTES = 64, MYTH_JOURNAL_VALUE_BYTES = 512 };

/* "model" "3f2a..", "--layers" "all": the name is what a person is told. */
typedef struct {
    const char *name;
    char value[MYTH_JOURNAL_VALUE_BYTES];
} myth_journal_fact;

typedef struct myth_journal myth_journal;

/* Opens or begins the journal of an output. goes_on false: one that is there is removed first, unless another process
 * works on it, which is MYTH_EIO. */
myth_status myth_journal_open(myth_journal **out, const char *output, const myth_journal_fact *fact, size_t n_fact,
                              bool goes_on, myth_error *err);
/* Closes it and leaves the file for the next command; what was put since the last commit is lost. Takes NULL. */
void myth_journal_close(myth_journal *j);
/* Closes and removes it: the output is complete. Takes NULL. */
void myth_journal_remove(myth_journal *j);

/* Shares of a job (shares.h), whose journals are named OUT.1-of-N.journal and so on. */
typedef enum { MYTH_JOURNAL_NONE, MYTH_JOURNAL_BEGUN, MYTH_JOURNAL_MERGED } myth_journal_kind;
/* What OUT.journal is: none, the journal of one process (or of a merge that did not finish), or of merged shares. */
myth_journal_kind myth_journal_kind_of(const char *output);
/* Into how many shares a job of this output was divided, as the journal of the first says; 0 = there is none. */
uint32_t myth_journal_shares(const char *output);
/* Notes that a share is finished. Its journal stays, for myth_journal_merge. */
myth_status myth_journal_complete(myth_journal *j, myth_error *err);
/* Merges the N journals of shares into OUT.journal and then removes them; if OUT.journal is MERGED already, it only
 * removes them. OUT.journal gets the items of all shares; each state NAME of share k as "NAME k"; a state "shares" with
 * N as u32; and the facts, which must be equal in all shares except for the device. MYTH_EARG: facts differ, or a
 * share's journal is missing or not finished. */
myth_status myth_journal_merge(const char *output, uint32_t n_share, myth_error *err);
/* Removes OUT.journal and those of N shares. MYTH_EIO: a process works on one of them, and all stay. */
myth_status myth_journal_remove_all(const char *output, uint32_t n_share, myth_error *err);

uint64_t myth_journal_n_done(const myth_journal *j);
bool myth_journal_is_done(myth_journal *j, uint64_t index);

myth_status myth_journal_put(myth_journal *j, uint64_t index, const void *row, size_t n, myth_error *err);
myth_status myth_journal_put_state(myth_journal *j, const char *name, const void *bytes, size_t n, myth_error *err);
myth_status myth_journal_commit(myth_journal *j, myth_error *err);

/* *has is false, and dst untouched, when there is none of this name with n bytes. */
myth_status myth_journal_get_state(myth_journal *j, const char *name, void *dst, size_t n, bool *has, myth_error *err);
/* The number kept as a state; in a merged journal the sum over the shares; 0 when there is none. */
myth_status myth_journal_get_count(myth_journal *j, const char *name, uint64_t *n, myth_error *err);
/* Calls row for every finished item in the order of the indices; row is lent for the call. */
myth_status myth_journal_each(myth_journal *j,
                              myth_status (*row)(void *user, uint64_t index, const void *row, size_t n,
                                                 myth_error *err),
                              void *user, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
