/* baseline.h - the baseline: fingerprints of known findings, which do not fail a run.
 *
 * Reads    a report in json, jsonl or sarif, or a file of --update-baseline: every "fingerprint", "fingerprint_v2",
 *          "mythos/v1" and "mythos/v2" in it
 * Known    a finding with either of the two fingerprints (fingerprint.h); one of a file of the first version has the
 *          first alone
 * Moved    a finding that no entry knows is known by one of a file that is no longer there, where the second
 *          fingerprints differ in the path alone. Each entry knows one finding. Of a report in sarif no path is read
 * Writes   one JSON document, {"version":1,"findings":[{"rule","file","fingerprint","fingerprint_v2"} ...]}, in the
 *          order of file, rule and fingerprint, a finding a line, so that it can be kept under version control
 * Update   entries of files that the run did not inspect from the first to the last line are kept; entries of files
 *          that it did inspect are replaced by this run's findings, except those that an ignore comment excuses. An
 *          incomplete run, or one with --since or a filter, removes no entry but those
 *          of moved files, which have others
 * Units    at most MYTH_BASELINE_MAX bytes
 * Owner    books STAGING at open, and while it writes for the report's findings and files
 * Errors   MYTH_ENOTFOUND, MYTH_EIO, MYTH_ELIMIT; MYTH_EFORMAT: not JSON, or findings without fingerprints;
 *          MYTH_ENOMEM. write: MYTH_ECREATE, MYTH_EIO, MYTH_ENOMEM
 * Threads  one */
#ifndef MYTH_INSPECT_BASELINE_H
#define MYTH_INSPECT_BASELINE_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_BASELINE_MAX = 64 << 20 };

typedef struct myth_baseline myth_baseline;

/* may_be_missing: a file that does not exist is read as an empty baseline. */
myth_status myth_baseline_open(myth_baseline **out, myth_mem *mem, const char *path, bool may_be_missing,
                               myth_error *err);
void myth_baseline_close(myth_baseline *b);                              /* takes NULL */
bool myth_baseline_has(const myth_baseline *b, const char *fingerprint); /* as the first of an entry */
/* Sets is_known of n marks, whose fingerprints are there. */
void myth_baseline_mark(const myth_baseline *b, myth_mark *mark, uint32_t n);
/* Where the files of its entries are, so that those that were moved can be told; `looks` gets each path that was looked
 * for. Without a root nothing was moved. The caller keeps root until close; takes NULL. */
void myth_baseline_root(myth_baseline *b, const char *root, void (*looks)(void *user, const char *path), void *user);
uint32_t myth_baseline_count(const myth_baseline *b);

/* Overwrites path with the updated baseline, from b and a report with marks. The file is replaced whole or not at all.
 */
myth_status myth_baseline_write(const myth_baseline *b, const char *path, const myth_report *r, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
