/* text.h - small questions about strings and sorted rows that several rooms ask. */
#ifndef MYTH_TEXT_H
#define MYTH_TEXT_H

#include "mem.h"

#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline bool myth_text_ends(const char *s, const char *tail)
{
    const size_t n = strlen(s), m = strlen(tail);
    return n >= m && memcmp(s + n - m, tail, m) == 0;
}

/* What is behind the last slash of a path. */
static inline const char *myth_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Bytes of a path before its last slash; 0 when it has none. */
static inline size_t myth_folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* The value of a hexadecimal digit; -1 = it is none. */
static inline int myth_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* The decimal number that a text begins with, of at most 63 characters, as strtod reads it in the locale C: the point
 * is '.' in every process. *end: behind the number; the text itself when there is none. */
double myth_text_number(const char *text, const char **end);

/* Whether a list of words parted by spaces has the word. */
static inline bool myth_text_lists(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; n && (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' '))
            return true;
    return false;
}

/* n bytes of a text and a zero; freed by myth_free. NULL = no memory. */
static inline char *myth_text_copy(myth_mem *mem, myth_mem_class cls, const char *owner, const char *s, size_t n)
{
    char *to = (char *)myth_alloc(mem, cls, owner, n + 1);
    if (to && n)
        memcpy(to, s, n);
    if (to)
        to[n] = '\0';
    return to;
}

/* The first of n rows whose key, a number in its first row at *key, is not less than value; n when there is none. */
static inline uint32_t myth_first_from(const uint32_t *key, size_t row_bytes, uint32_t n, uint32_t value)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (*(const uint32_t *)(const void *)((const char *)key + mid * row_bytes) < value)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

#ifdef __cplusplus
}
#endif
#endif
