/* headline.h - makes one safe line of any text, and finds the line in which a file describes itself.
 *
 * One line  blanks in a row become one space; control characters, characters that change the direction of text, and
 *           bytes that are not UTF-8 are left out; a line that is too long ends with "..."
 * Headline  the first sentence of the first comment, docstring or heading of the file that is not about its
 *           licence, without the file's own name
 * Owner     the caller's buffer
 * Threads   any */
#ifndef MYTH_HEADLINE_H
#define MYTH_HEADLINE_H

#include <stddef.h>
#include <stdint.h>

enum { MYTH_HEADLINE_CAP = 160 };

/* Writes at most cap - 1 bytes and a zero; returns the number of bytes. */
size_t myth_one_line(char *dst, size_t cap, const char *text, size_t n);
/* Writes the headline, "" when there is none. Reads the first 8 KiB of the text. */
size_t myth_headline(char dst[MYTH_HEADLINE_CAP], const char *path, const char *language, const unsigned char *text,
                     uint64_t n);

#endif
