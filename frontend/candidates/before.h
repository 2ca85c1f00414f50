/* before.h - which places of a file a change brought: those that its text before the change did not have.
 *
 * Before    the text with the lines that the change added left out and those that it removed put back (source.h); lines
 *           that only moved are counted as they stand now
 * Same      a place of the same rule whose line has the same text but for blanks at its ends. Of several, as many as
 *           there were before are old, the first ones
 * Owner     the caller keeps everything; nothing is kept here
 * Errors    those of myth_finder_find; MYTH_ENOMEM */
#ifndef MYTH_CANDIDATES_BEFORE_H
#define MYTH_CANDIDATES_BEFORE_H

#include "finder.h"
#include "frontend/inspect/prompt/source.h"

/* Whether anything is known of a change to the file. */
bool myth_before_is_changed(const myth_source *src);
/* Sets is_brought[i] of each place of `found`, which are src's. */
myth_status myth_before_mark(bool *is_brought, myth_finder *f, myth_chunker *chunker, myth_mem *mem,
                             const char *language, const myth_source *src, const myth_candidates *found,
                             myth_error *err);

#endif
