/* blank.h - C without the preprocessor's words. A parser reads the text before it is preprocessed, so conditionals
 * inside of expressions and macros that are no part of the grammar (FOO_API int f(void)) are errors to it, and
 * definitions near them are lost. With blanks in their places the rest of the file can be read.
 *
 * Units  bytes; every byte that is not blanked keeps its place
 * Owner  out has n bytes; it gets the whole text, blanked */
#ifndef MYTH_BLANK_H
#define MYTH_BLANK_H

#include <stdbool.h>
#include <stdint.h>

/* Blanks macros that stand before a declaration's type or name; with_lines: also conditionals, with their continued
 * lines, and macros that are alone on their line. False: there was nothing to blank. */
bool myth_blank(unsigned char *out, const unsigned char *text, uint64_t n, bool with_lines);

#endif
