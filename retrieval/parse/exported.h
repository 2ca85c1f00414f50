/* exported.h - which definitions are visible outside of their file, by the rules of the language (languages.def).
 *
 * Units    offsets in bytes of the file
 * Threads  one at a time per myth_symbols: what a file gives away is looked for once and kept in it */
#ifndef MYTH_EXPORTED_H
#define MYTH_EXPORTED_H

#include "symbols.h"

/* Whether the definition is visible outside. The definitions are in order, and each knows the one around it. */
bool myth_def_is_exported(myth_symbols *s, const myth_def *d);

/* Whether it is a class, a type, or a block that has the members of one. */
bool myth_def_is_class(const myth_def *d);

/* Whether [off, end) of the file has `word` as a whole word. */
bool myth_symbols_has_word(const myth_symbols *s, uint32_t off, uint32_t end, const char *word);

#endif
