/* code_mask.h - blanks what is no code in a text: comments and what stands in strings. What a string computes stays
 * (f"{code}", `${code}`, "#{code}", "$code", "{code}" of Rust), and so do its quotes.
 *
 * Told by   languages.h: marks and lexis. Of a language without a mark nothing is known, and all of its text stays; of
 *           pages (HTML) only comments are blanked
 * Doubt     is code: a quote that nothing closes in its line begins no string, where strings in such quotes end with
 *           the line or may span lines (shell, Ruby, PHP). So the lines of a long string there are code, and so is all
 *           of the next line that has such a quote, which may be the string's last
 * Blanked   each byte becomes a space, except ends of lines: offsets and line numbers stay
 * Threads   any
 * Errors    false: no memory; the text is unchanged */
#ifndef MYTH_CODE_MASK_H
#define MYTH_CODE_MASK_H

#include "engine/base/mem.h"
#include "retrieval/scan/languages.h"

bool myth_code_mask(unsigned char *text, size_t n, myth_mem *mem, const myth_language *language);
/* Whether '$' before a name is no part of it in this language: $NAME of a shell, "$name" of Kotlin. */
bool myth_code_has_sigil(const myth_language *language);

#endif
