/* utf8.h - one strict decoder for all: shortest form only, no surrogates, at most U+10FFFF.   Source: Unicode 15, table
 * 3-7. */
#ifndef MYTH_UTF8_H
#define MYTH_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Length (1..4) of the valid sequence at s, its code point in *cp; 0 when the bytes at s do not start one within n. */
static inline int myth_utf8_decode(const unsigned char *s, size_t n, uint32_t *cp)
{
    if (n == 0)
        return 0;
    unsigned c = s[0];
    if (c < 0x80) {
        *cp = c;
        return 1;
    }
    if (c < 0xc2 || c > 0xf4)
        return 0;
    int len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (n < (size_t)len)
        return 0;
    unsigned lo = 0x80, hi = 0xbf;
    if (c == 0xe0)
        lo = 0xa0;
    else if (c == 0xed)
        hi = 0x9f;
    else if (c == 0xf0)
        lo = 0x90;
    else if (c == 0xf4)
        hi = 0x8f;
    if (s[1] < lo || s[1] > hi)
        return 0;
    uint32_t v = c & (0x7fu >> len);
    v = v << 6 | (s[1] & 0x3f);
    for (int i = 2; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (s[i] & 0x3f);
    }
    *cp = v;
    return len;
}

/* Whether all n bytes are valid. */
static inline bool myth_utf8_is_valid(const unsigned char *s, size_t n)
{
    uint32_t cp;
    for (size_t i = 0; i < n;) {
        const int k = s[i] < 0x80 ? 1 : myth_utf8_decode(s + i, n - i, &cp);
        if (!k)
            return false;
        i += (size_t)k;
    }
    return true;
}

/* Writes 1..4 bytes; returns how many. cp must be a scalar value. */
static inline int myth_utf8_encode(char *dst, uint32_t cp)
{
    unsigned char *d = (unsigned char *)dst;
    if (cp < 0x80) {
        d[0] = (unsigned char)cp;
        return 1;
    }
    if (cp < 0x800) {
        d[0] = (unsigned char)(0xc0 | cp >> 6);
        d[1] = (unsigned char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        d[0] = (unsigned char)(0xe0 | cp >> 12);
        d[1] = (unsigned char)(0x80 | (cp >> 6 & 0x3f));
        d[2] = (unsigned char)(0x80 | (cp & 0x3f));
        return 3;
    }
    d[0] = (unsigned char)(0xf0 | cp >> 18);
    d[1] = (unsigned char)(0x80 | (cp >> 12 & 0x3f));
    d[2] = (unsigned char)(0x80 | (cp >> 6 & 0x3f));
    d[3] = (unsigned char)(0x80 | (cp & 0x3f));
    return 4;
}

/* Controls, and marks that reorder or hide text on a screen: bidirectional controls, zero width, tags, soft hyphen,
 * line and paragraph separators, what is no character. Newline and tab too: who shows them says so. */
static inline bool myth_utf8_is_unseen(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x61c || (cp >= 0x200b && cp <= 0x200f) ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff ||
           (cp >= 0xfff9 && cp <= 0xfffb) || (cp >= 0xe0000 && cp <= 0xe007f) || (cp & 0xfffe) == 0xfffe ||
           (cp >= 0xfdd0 && cp <= 0xfdef);
}

#ifdef __cplusplus
}
#endif
#endif
