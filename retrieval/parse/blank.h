/* blank.h - text without the words that a parser does not know. A parser of C reads the text before it is preprocessed,
 * so conditionals inside of expressions and macros that are no part of the grammar (FOO_API int f(void)) are errors to
 * it, and definitions near them are lost. With blanks in their places the rest of the file can be read.
 *
 * Units  bytes; every byte that is not blanked keeps its place
 * Owner  out has n bytes; it gets the whole text, blanked */
#ifndef MYTH_BLANK_H
#define MYTH_BLANK_H

#include <stdbool.h>
#include <stdint.h>

/* Blanks macros that stand before a declaration's type or name or behind its parameters, and comments inside of a
 * macro's body; with_lines: also conditionals, with their continued lines, macros that are alone on their line, and
 * those that are defined inside of a list. False: there was nothing to blank. */
bool myth_blank(unsigned char *out, const unsigned char *text, uint64_t n, bool with_lines);

/* The same for Kotlin, whose grammar does not know some of what the language has, and loses the rest of the file:
 * conditions in the branches of a `when` (is A if b -> c), an annotation before an accessor (get, set), the functions
 * get and set without brackets (} get Table.id) or at the start of a line (get("/path") {), a variable named like a
 * modifier (final = true), the modifiers of a constructor on a line of its own, context(...) before a function, and the
 * dollars before a text ($$"..."). */
bool myth_blank_kotlin(unsigned char *out, const unsigned char *text, uint64_t n);

#endif
