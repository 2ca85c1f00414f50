/* unseen.h - what an answer does not cover although it is below the root.
 *
 * Threads   one */
#ifndef MYTH_UNSEEN_H
#define MYTH_UNSEEN_H

#include "tools_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notes how many files were not read for definitions, if any: the answer is about names, and is not complete then. *n,
 * unless n is NULL, is how many. */
myth_status myth_unseen_note_unparsed(myth_reply *a, uint64_t *n, myth_index *x, myth_error *err);

/* Notes what the scan leaves out of the directory, if it is more than what is not text: repositories of their own,
 * folders that tools fill, hidden and ignored files, links that lead out. globs: those of the scan, NULL = none.
 * n_out: MYTH_SCAN_REASON_N counts of files that are out by what is in them, NULL = nobody read any. */
myth_status myth_unseen_note_scan(myth_reply *a, const myth_tools *t, const char *const *globs, const uint64_t *n_out,
                                  myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
