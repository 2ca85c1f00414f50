/* dialect.h - what other programs write in expressions and pcre2 does not read, or reads as something else.
 *
 * Words    \< and \> are the beginning and the end of a word, as for grep, sed, vim and ripgrep; for pcre2 they are the
 *          signs < and >, which nobody escapes. In a class they are the signs
 * Code     \u00e9, \u{e9}, \U000000e9 and \U{e9} are the character of that number, as for ripgrep, JavaScript, Python
 *          and Java; pcre2 refuses them. A number that is no character stays as it is, and is refused
 * Quoted   what stands between \Q and \E is text
 * Owner    the caller frees `text` from the ledger that it gave
 * Errors   false: no room */
#ifndef MYTH_DIALECT_H
#define MYTH_DIALECT_H

#include "engine/base/mem.h"

typedef struct {
    unsigned char *text;
    size_t n_text;
} myth_dialect;

/* Writes the expression in the words of pcre2. */
bool myth_dialect_read(myth_dialect *out, myth_mem *mem, const unsigned char *pattern, size_t n);
/* The byte of the expression that became the byte `at` of the text. */
size_t myth_dialect_back(const unsigned char *pattern, size_t n, size_t at);

#endif
