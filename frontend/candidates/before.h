/* before.h - which places of a file a change brought: those that its text before the change did not have.
 *
 * Before    the text with the lines that the change added left out and those that it removed put back (source.h); lines
 *           that only moved are counted as they stand now
 * Same      a place of the same rule and about the same variable, whose line has the same text but for blanks at its
 *           ends. Of several, as many as there were before are old, the first ones
 * Written   a place that stands for one of the same row of rules and function that is gone, in a line that the change
 *           wrote anew: what it says was so before. In a line that was left alone it is old: it only came into the
 *           number that a row finds in a function (pack.h)
 * Exposed   a new place in lines that the change did not touch: it took away what spoke against it
 * Lost      a place that the change made by what it took away (myth_candidates_change), whose sentence says so
 * Owner     the caller keeps everything; nothing is kept here
 * Errors    those of myth_finder_find; MYTH_ENOMEM */
#ifndef MYTH_CANDIDATES_BEFORE_H
#define MYTH_CANDIDATES_BEFORE_H

#include "finder.h"
#include "frontend/inspect/prompt/source.h"

/* Whether anything is known of a change to the file. */
bool myth_before_is_changed(const myth_source *src);
typedef enum {
    MYTH_BEFORE_OLD, /* 0: not of the change */
    MYTH_BEFORE_WRITTEN,
    MYTH_BEFORE_NEW,
    MYTH_BEFORE_EXPOSED,
    MYTH_BEFORE_LOST
} myth_before;

/* What a finding says of it behind its sentence; "" where there is nothing to say, or where the sentence says it. */
const char *myth_before_says(myth_before before);

/* Adds to `found`, the places of src, those that its change made by what it took away, in the order of places.
 * note: why they were not looked for; "" = they were. */
myth_status myth_before_lost(myth_candidates *found, char note[96], myth_finder *f, myth_chunker *chunker,
                             myth_mem *mem, const char *language, const myth_source *src, myth_error *err);

/* Sets before[i], a myth_before, of each place of `found`, which are src's. */
myth_status myth_before_mark(uint8_t *before, myth_finder *f, myth_chunker *chunker, myth_mem *mem,
                             const char *language, const myth_source *src, const myth_candidates *found,
                             myth_error *err);

#endif
