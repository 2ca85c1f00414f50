/* hostile.h - random source files from pieces that often break parsers and formats: quotes, backslashes, control
 * characters, bytes that are not UTF-8, marks of prompts, blank lines. */
#ifndef MYTH_TESTS_HOSTILE_H
#define MYTH_TESTS_HOSTILE_H

#include "tests/support/check.h"

/* Writes a random number of bytes, at most cap, and returns how many. A piece may be cut at the end. */
static inline size_t hostile_fill(uint64_t *rng, unsigned char *dst, size_t cap)
{
    static const char *const piece[] = {"int f(char *s) {",
                                        "\treturn \"a\\\"b\";",
                                        "}",
                                        "\n",
                                        "\n\n",
                                        "\r\n",
                                        "  \t ",
                                        "\\",
                                        "\"",
                                        "\\\\n",
                                        "</file>",
                                        "<start_of_turn>",
                                        "\xc3\xa9",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "\xff",
                                        "\xc3",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\x1b[31m",
                                        "\x7f",
                                        "{\"file\":\"",
                                        "x = y",
                                        "aaaaaaaa",
                                        "ab",
                                        "\xef\xbf\xbd",
                                        "\xe2\x80\xae",
                                        "\xc2\x80"};
    size_t n = 0, want = check_below(rng, (uint32_t)cap + 1);
    while (n < want) {
        uint32_t kind = check_below(rng, 8);
        if (kind == 0) {
            dst[n++] = (unsigned char)check_below(rng, 256);
        } else if (kind == 1) {
            dst[n++] = (unsigned char)check_below(rng, 32);
        } else if (kind == 2) {
            dst[n++] = '\n';
        } else {
            const char *p = piece[check_below(rng, sizeof(piece) / sizeof(piece[0]))];
            size_t m = strlen(p) < want - n ? strlen(p) : want - n;
            memcpy(dst + n, p, m);
            n += m;
        }
    }
    return n;
}

#endif
