/* pattern.h - reads the text of a regular expression and makes from it what a fast search needs.
 *
 *   literal   the longest run of bytes outside of groups, alternatives and optional parts. Every match must contain it
 *   text      the pattern changed so that no part of it can match '\n': [^a] becomes [^a\n], \s becomes [^\S\n]. For
 *             such a pattern a '\n' in a buffer acts like the end of the subject in a line: nothing matches it, '^'
 *             and '$' match beside it, and it is not a word character. So it finds in the buffer what the original
 *             finds in the lines. For UTF, \w, \b and \B are written out with the word characters of Unicode's
 *             technical standard 18 (letters, marks, decimal digits, connectors, joiners), because those of pcre2
 *             depend on its version
 *
 * Both are given up where the pattern has syntax that is not known here; the literal alone where the pattern has
 * alternatives outside of groups.
 * Owner     the caller frees `text` from the ledger that it gave
 * Errors    false: no room */
#ifndef MYTH_PATTERN_H
#define MYTH_PATTERN_H

#include "engine/base/mem.h"

enum { MYTH_PATTERN_LITERAL_MAX = 200 };

/* The word characters, for the inside of a class. What follows may be '-': behind a property it is no range. */
#define MYTH_PATTERN_WORD "\\x{200c}\\x{200d}\\p{Pc}\\p{Nd}\\p{M}\\p{Alphabetic}"

typedef struct {
    unsigned char *text; /* NULL where it was given up */
    size_t n_text;
    unsigned char literal[MYTH_PATTERN_LITERAL_MAX]; /* in lower case (ASCII) when case is ignored */
    size_t n_literal;                                /* 0 = none */
    /* Every match in any text contains it, not only in text of ASCII: when case is ignored, U+212A (the sign of the
     * unit Kelvin) is a k and U+017F (long s) is an s. */
    bool is_literal_for_all;
} myth_pattern;

bool myth_pattern_read(myth_pattern *out, myth_mem *mem, const unsigned char *pattern, size_t n, bool is_utf,
                       bool ignore_case);

#endif
