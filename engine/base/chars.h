/* chars.h - classes of the bytes of source text. They are of ASCII in every locale; each takes a char or a byte.
 *
 * Names    what a name is made of differs by language, and by whether a byte of a character beyond ASCII counts:
 *            myth_is_word            letters, digits, _            \w and grep -w; macros and names of C APIs
 *            myth_is_word_or_dollar  these and $                   code whose characters beyond ASCII are no names
 *            myth_is_name            letters, digits, _, >= 0x80   names of any script, in languages without $
 *            myth_is_name_or_dollar  these and $                   names of any script, in any language
 * Blanks   myth_is_white has the four blanks of JSON; myth_is_blank also vertical tab and form feed, as isspace in the
 *          locale C
 * Threads  any */
#ifndef MYTH_CHARS_H
#define MYTH_CHARS_H

#include <stdbool.h>

static inline bool myth_is_word(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static inline bool myth_is_word_or_dollar(int c) { return myth_is_word(c) || c == '$'; }
static inline bool myth_is_name(int c) { return myth_is_word(c) || (unsigned char)c >= 0x80; }
static inline bool myth_is_name_or_dollar(int c) { return myth_is_name(c) || c == '$'; }

static inline bool myth_is_white(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static inline bool myth_is_blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

#endif
