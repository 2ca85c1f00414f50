/* detect_text.h - what the detectors of this room share: lines of a text, and how a name or a line begins and ends.
 *
 * Texts     have a length, and need no NUL
 * Threads   any */
#ifndef MYTH_DETECT_TEXT_H
#define MYTH_DETECT_TEXT_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Whether a name ends so, whatever its case. */
static inline bool has_suffix(const char *s, size_t n, const char *suffix)
{
    size_t m = strlen(suffix);
    return n >= m && strncasecmp(s + n - m, suffix, m) == 0;
}

/* Reads the next line of [*p, end); false at the end. */
static inline bool next_line(const char **p, const char *end, const char **line, size_t *n)
{
    if (*p >= end)
        return false;
    const char *nl = (const char *)memchr(*p, '\n', (size_t)(end - *p));
    *line = *p;
    *n = (size_t)((nl ? nl : end) - *p);
    *p = nl ? nl + 1 : end;
    return true;
}

static inline bool begins(const char *s, size_t n, const char *word)
{
    size_t m = strlen(word);
    return n >= m && memcmp(s, word, m) == 0;
}

#endif
