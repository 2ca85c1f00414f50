/* find.h - finds a literal in text quickly: it looks for two of the literal's bytes that are rare in source code at
 * their distance, then compares the whole.
 *
 * Case     when ignored, only ASCII letters are folded, as by grep -i in the C locale
 * Owner    the needle is lent, and must be in lower case when case is ignored
 * Threads  any may search with one myth_find
 * Source   memchr's packed pair search, as in ripgrep; with SSE2 here, elsewhere by memmem and memchr */
#ifndef MYTH_FIND_H
#define MYTH_FIND_H

#include "engine/base/chars.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const unsigned char *needle;
    size_t n, at1, at2; /* offsets of the two bytes, at1 that of the rarer */
    bool ignore_case;
} myth_find;

void myth_find_open(myth_find *f, const unsigned char *needle, size_t n, bool ignore_case);
/* The first occurrence in [p, end), or NULL. An empty needle is found at p. */
const unsigned char *myth_find_next(const myth_find *f, const unsigned char *p, const unsigned char *end);
/* How rare a byte is in source code: 0 = the most frequent. */
unsigned myth_find_rank(unsigned char c);
/* The first byte in [p, end) that is not ASCII, or end. */
const unsigned char *myth_find_high(const unsigned char *p, const unsigned char *end);
uint64_t myth_count_newlines(const unsigned char *p, const unsigned char *end);

/* The newline that ends the line of p, or end. */
static inline const unsigned char *myth_line_end(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *nl = (const unsigned char *)memchr(p, '\n', (size_t)(end - p));
    return nl ? nl : end;
}

static inline unsigned char myth_lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

#endif
