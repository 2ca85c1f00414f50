/* edition.h - what a report is about: the repository and its commit, which the forms for other programs name, and the
 * day, which the page shows.
 *
 * Commit   that of the repository at side; a directory without one has none
 * Origin   the address that the repository was cloned from, without a name, a password or a token in it; none when it
 *          is a folder of the machine
 * Day      now, or what SOURCE_DATE_EPOCH says
 * Log      the record of a run has a report without any of it, so that the run can be repeated behind other commits
 * Owner    the caller keeps the edition as long as the report, which points into it
 * Threads  one */
#ifndef MYTH_INSPECT_EDITION_H
#define MYTH_INSPECT_EDITION_H

#include "outputs.h"
#include "retrieval/retrieval.h"

enum { MYTH_EDITION_ORIGIN = 512 };

typedef struct {
    char commit[MYTH_REVISION_ID], commit_date[32], made[32], origin[MYTH_EDITION_ORIGIN];
} myth_edition;

/* Whether a report in this form, or one of the list FORM=PATH, shows any of it. */
bool myth_edition_is_shown(myth_form form, const myth_opt_list *outputs);
/* What of it the same files may have another time, as text; "" when no form shows it. */
enum { MYTH_EDITION_SOURCE = MYTH_REVISION_ID + MYTH_EDITION_ORIGIN + 1 };
void myth_edition_source(char dst[MYTH_EDITION_SOURCE], myth_form form, const myth_opt_list *outputs,
                         const myth_revision_opts *side);
/* Writes an address without what is secret in it, as a URI; "" when it is a folder of the machine, or no address. */
void myth_edition_public(char dst[MYTH_EDITION_ORIGIN], const char *url);

/* side NULL: the report is about no directory. */
void myth_edition_find(myth_edition *e, myth_report *r, const myth_revision_opts *side);

#endif
