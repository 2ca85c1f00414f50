/* utf16.h - UTF-16 as UTF-8.   Source: Unicode 15, 3.9 and 3.10 */
#ifndef MYTH_UTF16_H
#define MYTH_UTF16_H

#include "engine/base/utf8.h"

/* Whether the text's first bytes are a byte order mark of UTF-16; *is_be: the one of big-endian. */
static inline bool myth_utf16_is_marked(const unsigned char *text, uint64_t n, bool *is_be)
{
    *is_be = n >= 2 && text[0] == 0xfe && text[1] == 0xff;
    return *is_be || (n >= 2 && text[0] == 0xff && text[1] == 0xfe);
}

/* Converts n bytes into UTF-8 at dst (room for 3 * n + 4) and returns the bytes written. is_odd: the text begins inside
 * a code unit. Half a code unit at either end is dropped; half a surrogate pair becomes U+FFFD. A mark is kept. */
static inline size_t myth_utf16_to_utf8(unsigned char *dst, const unsigned char *text, uint64_t n, bool is_odd,
                                        bool is_be)
{
    size_t at = 0;
    uint32_t high = 0;
    for (uint64_t i = is_odd; i + 2 <= n; i += 2) {
        uint32_t u = is_be ? (uint32_t)text[i] << 8 | text[i + 1] : (uint32_t)text[i + 1] << 8 | text[i];
        bool is_low = u >= 0xdc00 && u <= 0xdfff;
        if (high && !is_low)
            at += (size_t)myth_utf8_encode((char *)dst + at, 0xfffd);
        if (high && is_low)
            u = 0x10000 + ((high - 0xd800) << 10 | (u - 0xdc00));
        else if (is_low)
            u = 0xfffd;
        high = 0;
        if (u >= 0xd800 && u <= 0xdbff)
            high = u;
        else
            at += (size_t)myth_utf8_encode((char *)dst + at, u);
    }
    return at;
}

#endif
