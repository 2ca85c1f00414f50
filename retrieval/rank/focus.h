/* focus.h - which definition inside a chunk a query means. A chunk may hold several, and the one that is first in it
 * need not be the one that matches.
 *
 * Region    each line of a chunk belongs to the innermost definition around it, with the comment, the decorators or the
 *           attributes directly above it. Fields and constants inside of a definition are lines of that one, unless the
 *           query names them. Lines outside of all definitions are a region of their own
 * Best      the region whose lines have the heaviest groups of the query; a group in the definition's name counts
 *           twice, and a definition with a name of the query wins. If no line matches (the chunk was found by its
 *           vector, or by the name of a definition that begins before it): the definition whose name matches, or the
 *           one with the most lines
 * Lines     those of the definition that are in the chunk, and of the comment above it from the first that matches;
 *           all of the chunk if lines outside of definitions match best
 * Owner     a myth_focus lends the names until the next call; the caller closes the words
 * Threads   one call at a time per store
 * Errors    MYTH_EFORMAT a damaged index; MYTH_ENOMEM */
#ifndef MYTH_FOCUS_H
#define MYTH_FOCUS_H

#include "match.h"
#include "retrieval/store/store.h"

enum { MYTH_FOCUS_LINES = 3 };

typedef struct {
    const char *name, *parent; /* "" = no definition */
    myth_symbol_kind kind;
    bool is_definition, is_narrow; /* is_narrow: the lines are those of the definition */
    uint32_t line0, line1;
    uint32_t line[MYTH_FOCUS_LINES], n_line; /* the region's lines that match best, in their order */
} myth_focus;

/* The words of a query, with the weight of each group of terms. */
typedef struct myth_focus_words myth_focus_words;
myth_status myth_focus_open(myth_focus_words **out, const myth_query *q, const double group_weight[MYTH_QUERY_TERMS],
                            myth_error *err);
void myth_focus_close(myth_focus_words *w); /* takes NULL */

/* text: the lines line0 .. line1 of the file. */
myth_status myth_focus_find(myth_focus *out, myth_focus_words *w, myth_store *store, int64_t file_id, const char *text,
                            uint64_t n_text, uint32_t line0, uint32_t line1, myth_error *err);

#endif
