/* occurrence.h - the lines where an index knows a name: its definitions first, then its uses, the surest reason first.
 *
 * Definitions  sources before tests and copies, then by the rank of their file, then in the order of usage.h. Their
 *              text is the whole definition, of a long one its first lines
 * Uses         one line for each definition that uses the name, at its first use; stronger reasons first, sources
 *              before tests, then by the rank of their file. A use that may mean several definitions is listed once
 * Missing      an index knows names of code. A name in comments, strings, texts, or of something defined elsewhere has
 *              no occurrence here; lines/grep.h finds those
 * Owner        rows lend their strings until myth_occurrences_free, which must come before the index is closed
 * Threads      one call at a time per index
 * Errors       those of usage.h. No occurrence is not an error */
#ifndef MYTH_OCCURRENCE_H
#define MYTH_OCCURRENCE_H

#include "usage.h"

enum { MYTH_OCCURRENCE_BYTES = 4000 }; /* longest text of a definition */

typedef struct {
    const char *path, *name, *parent; /* of a definition its own name; of a use the definition around it, "" = none */
    const char *kind;                 /* kind of the symbol, or of the use */
    const char *why;                  /* of a use: why it was matched; of a definition "" */
    const char *text;                 /* of a definition its lines, of a use its line; not zero-terminated */
    uint64_t n_text;
    uint32_t line, line0, line1; /* line of the name; of a definition all its lines, of a use its line */
    uint32_t n_use;              /* uses in that definition */
    bool is_definition;
} myth_occurrence;

typedef struct {
    myth_occurrence *row; /* definitions, then uses */
    uint32_t n_row;
    uint32_t n_definition, n_use; /* all that there are; rows may be fewer */
    myth_usage usage;
} myth_occurrences;

/* Finds at most `max` rows. wants_file: whether rows in a file are wanted; NULL = in all. ranked: the paths of files,
 * the best first, as a search by words ranks them; a file that is not among them comes after those. Free *out by
 * myth_occurrences_free, also after a failure (it is empty then). is_cancelled may be NULL. */
myth_status myth_occurrences_find(myth_occurrences *out, myth_index *x, const char *name, uint32_t max,
                                  bool (*wants_file)(void *user, const char *path), void *user,
                                  const char *const *ranked, uint32_t n_ranked, const myth_cancel *is_cancelled,
                                  myth_error *err);
void myth_occurrences_free(myth_occurrences *o);

#endif
