/* baseline.h - findings that were there before: an earlier report, read for its fingerprints.
 *
 * Reads    a report in json, jsonl or sarif, or what --update-baseline wrote: every "fingerprint" and every "mythos/v1"
 *          in it
 * Writes   one JSON document, {"version":1,"findings":[{"rule","file","fingerprint"} ...]}, in the order of file, rule
 *          and fingerprint, a finding a line, so that it can be kept under version control
 * Update   entries of files that the run did not look at, or not at every line, stay; those of files it looked at
 *          become what it found, without what a comment in the code answers. A run that did not come to its end, or
 *          left out findings about other lines, takes no entry away
 * Units    at most MYTH_BASELINE_MAX bytes
 * Owner    books STAGING at open, nothing after
 * Errors   MYTH_ENOTFOUND, MYTH_EIO, MYTH_ELIMIT; MYTH_EFORMAT not JSON, or findings without fingerprints; MYTH_ENOMEM;
 *          of write: MYTH_ECREATE, MYTH_EIO */
#ifndef MYTH_INSPECT_BASELINE_H
#define MYTH_INSPECT_BASELINE_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_BASELINE_MAX = 64 << 20 };

typedef struct myth_baseline myth_baseline;

/* may_be_missing: a file that is not there is an empty baseline. */
myth_status myth_baseline_open(myth_baseline **out, myth_mem *mem, const char *path, bool may_be_missing,
                               myth_error *err);
void myth_baseline_close(myth_baseline *b); /* takes NULL */
bool myth_baseline_has(const myth_baseline *b, const char *fingerprint);
uint32_t myth_baseline_count(const myth_baseline *b);

/* Writes path anew from b and a report with marks: the file appears whole or not at all. */
myth_status myth_baseline_write(const myth_baseline *b, const char *path, const myth_report *r, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
