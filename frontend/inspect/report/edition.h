/* edition.h - which commit and day a report is of, for the page that shows them.
 *
 * Commit   that of the repository at side; a directory without one has none
 * Day      now, or what SOURCE_DATE_EPOCH says
 * Owner    the caller keeps the edition as long as the report, which points into it
 * Threads  one */
#ifndef MYTH_INSPECT_EDITION_H
#define MYTH_INSPECT_EDITION_H

#include "report.h"
#include "retrieval/retrieval.h"

typedef struct {
    char commit[MYTH_REVISION_ID], commit_date[32], made[32];
} myth_edition;

/* side NULL: the report is about no directory. */
void myth_edition_find(myth_edition *e, myth_report *r, const myth_revision_opts *side);

#endif
