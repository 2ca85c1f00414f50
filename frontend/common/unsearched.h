/* unsearched.h - what a search did not look into although it is below the directory: when nothing is found, it may be
 * there.
 *
 * Counted  by the scan: repositories of their own, folders that tools fill, hidden and ignored names (a folder is one),
 *          links that lead out of the directory. By who read the files: minified, too large, binary, not fetched
 * Owner    the caller; nothing is allocated that stays
 * Threads  one at a time */
#ifndef MYTH_UNSEARCHED_H
#define MYTH_UNSEARCHED_H

#include "frontend/cli/cli.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint64_t n[MYTH_SCAN_REASON_N];
    char first[MYTH_SCAN_REASON_N][32]; /* the beginning of the path of the first */
} myth_unsearched;

/* Adds what a scan by these options leaves out, without git's own folders and what globs leave out. */
myth_status myth_unsearched_add(myth_unsearched *l, myth_cli *cli, const myth_scan_opts *opts, myth_error *err);
/* Writes it in a few words, "2 hidden, 1 ignored"; "" when there is nothing that could have a line of text. */
void myth_unsearched_say(const myth_unsearched *l, char *text, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
