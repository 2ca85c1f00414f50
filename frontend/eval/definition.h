/* definition.h - names that a text defines, read off its lines: for texts whose language nobody says.
 *
 * Line      modifiers (public, static, async, ...), a word that begins a definition (def, class, func, struct, ...), a
 *           name; of Go also the receiver. Else, from the first column: words, a name, '(' and no ';' at the end, as C
 *           and its kin begin a function
 * Not       a parser: what stands in a string or a comment may be taken for a definition, one over several lines is
 *           missed */
#ifndef MYTH_DEFINITION_H
#define MYTH_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

/* The next name at or behind *pos; false at the end. *pos moves behind its line. */
bool myth_definition_next(const char **name, size_t *n_name, const char *text, size_t n, size_t *pos);

#endif
