/* escape.c - see escape.h. */
#include "escape.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

size_t myth_escape(char dst[MYTH_ESCAPED_MAX], const char *text, size_t n, size_t *used)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t cp = 0;
    const int width = myth_utf8_decode(s, n, &cp);
    *used = width ? (size_t)width : 1;
    if (width && !myth_utf8_is_unseen(cp)) {
        memcpy(dst, text, *used);
        return *used;
    }
    if (*s == '\n' || *s == '\t') {
        dst[0] = '\\';
        dst[1] = *s == '\n' ? 'n' : 't';
        return 2;
    }
    const int len = width > 1 ? snprintf(dst, MYTH_ESCAPED_MAX, "\\u{%04x}", (unsigned)cp)
                              : snprintf(dst, MYTH_ESCAPED_MAX, "\\x%02x", *s);
    return (size_t)len;
}

bool myth_escape_is_command(const char *line, size_t n, size_t at)
{
    const char *p = line + at;
    const size_t left = n - at;
    if (left >= 3 && p[0] == '#')
        return memcmp(p, "##[", 3) == 0 || (left >= 6 && memcmp(p, "##vso[", 6) == 0);
    if (left < 2 || p[0] != ':' || p[1] != ':')
        return false;
    for (size_t i = 0; i < at; i++)
        if (line[i] != ' ' && line[i] != '\t')
            return false;
    return true;
}
