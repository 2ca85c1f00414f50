/* headline.h - text of others as one line, and what a file says of itself in one line.
 *
 * One line  runs of blanks are one space; controls, marks that turn text around and bytes that are no UTF-8 are left
 *           out; what is too long ends with "..."
 * Headline  the first sentence of the first comment (docstring, heading) at the head of the file that is not about its
 *           licence, without the file's own name in front */
#ifndef MYTH_HEADLINE_H
#define MYTH_HEADLINE_H

#include <stddef.h>
#include <stdint.h>

enum { MYTH_HEADLINE_CAP = 160 };

/* At most cap - 1 bytes and a zero; returns how many. */
size_t myth_one_line(char *dst, size_t cap, const char *text, size_t n);
/* "" when it says nothing. Looks at the first 8 KiB. */
size_t myth_headline(char dst[MYTH_HEADLINE_CAP], const char *path, const char *language, const unsigned char *text,
                     uint64_t n);

#endif
