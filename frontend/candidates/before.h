/* before.h - tells which places of a file a change brought: it finds the places in the text before the change too, and
 * compares.
 *
 * Before    the old text is made from the new one: without the lines that the change added, and with the lines that it
 *           removed (source.h). Lines that only moved are left where they are now
 * Old       an old place is one of the same rule, about the same variable, in a line with the same text except for
 *           blanks at its ends. If there were n such places before, the first n of them now are old
 * Written   a place in a line that the change wrote anew, when a place of the same row of rules in the same function is
 *           gone: the same fault was there before. If the change did not touch the line, the place is old: it was not
 *           listed before only because a row lists at most so many places of a function (pack.h)
 * Exposed   a new place in a line that the change did not touch: the change removed something that spoke against it
 * Lost      a place that is about what the change removed (myth_candidates_change); its sentence says so
 * Owner     the caller keeps everything; a text before a change is closed with the ledger that it was opened with
 * Errors    those of myth_finder_find; MYTH_ENOMEM */
#ifndef MYTH_CANDIDATES_BEFORE_H
#define MYTH_CANDIDATES_BEFORE_H

#include "finder.h"
#include "frontend/inspect/prompt/source.h"

/* Whether anything is known of a change to the file. */
bool myth_before_is_changed(const myth_source *src);

/* The text of a file before its change, which both looks at it need. */
typedef struct {
    unsigned char *text;
    size_t n;
} myth_before_text;

myth_status myth_before_open(myth_before_text *t, myth_mem *mem, const myth_source *src, myth_error *err);
void myth_before_close(myth_before_text *t, myth_mem *mem); /* takes a zeroed one */

typedef enum {
    MYTH_BEFORE_OLD, /* 0: not of the change */
    MYTH_BEFORE_WRITTEN,
    MYTH_BEFORE_NEW,
    MYTH_BEFORE_EXPOSED,
    MYTH_BEFORE_LOST
} myth_before;

/* What a finding adds to its sentence about this; "" where there is nothing to add, or where the sentence says it. */
const char *myth_before_says(myth_before before);

/* Adds the places of kind `lost` to `found`, the places of src, and keeps the order of places. note: why there was no
 * search for them; "" = there was. */
myth_status myth_before_lost(myth_candidates *found, char note[96], myth_finder *f, myth_chunker *chunker,
                             myth_mem *mem, const char *language, const myth_source *src, const myth_before_text *text,
                             myth_error *err);

/* Sets before[i], a myth_before, for each place i of `found`, the places of src. */
myth_status myth_before_mark(uint8_t *before, myth_finder *f, myth_chunker *chunker, myth_mem *mem,
                             const char *language, const myth_source *src, const myth_before_text *text,
                             const myth_candidates *found, myth_error *err);

#endif
