/* line_hash.c - one reader walks over the lines, another is 100 characters ahead of it: what it reads goes into the
 * hash as what the first one passes falls out. */
#include "line_hash.h"

#include "engine/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>

enum { AHEAD = 100, BASE = 37, END = 0xffff };

typedef struct {
    const myth_source *src;
    size_t at;
    uint32_t low; /* the second unit of the character before `at`; 0 = none */
    bool is_after_cr, has_ended;
} reader;

/* The next unit that counts; END behind the last one, then 0. */
static uint32_t next_unit(reader *r)
{
    const uint32_t low = r->low;
    r->low = 0;
    while (!low && r->at < r->src->len) {
        uint32_t c = 0xfffd;
        const int n = myth_utf8_decode(r->src->bytes + r->at, r->src->len - r->at, &c);
        const bool is_second = r->is_after_cr && c == '\n';
        r->at += n ? (size_t)n : 1;
        r->is_after_cr = c == '\r';
        if (c == ' ' || c == '\t' || is_second)
            continue;
        if (c < 0x10000)
            return c == '\r' ? '\n' : c;
        r->low = 0xdc00 | (c & 0x3ff);
        return 0xd800 | ((c - 0x10000) >> 10);
    }
    if (low || r->has_ended)
        return low;
    r->has_ended = true;
    return END;
}

/* Returns the hash of a line; *n_like = how many lines up to it have the hash `like`. */
static uint64_t walk(const myth_source *src, uint32_t line, uint64_t like, uint32_t *n_like)
{
    reader at = {.src = src}, ahead = {.src = src};
    uint64_t hash = 0, gone = 1; /* gone: BASE to the power of AHEAD */
    bool is_start = true;
    *n_like = 0;
    for (int i = 0; i < AHEAD; i++) {
        hash = hash * BASE + next_unit(&ahead);
        gone *= BASE;
    }
    for (uint32_t n = 0; !at.has_ended;) {
        *n_like += is_start && hash == like;
        if (is_start && ++n == line)
            break;
        const uint32_t c = next_unit(&at);
        is_start = c == '\n';
        hash = hash * BASE + next_unit(&ahead) - gone * c;
    }
    return hash;
}

void myth_line_hash(char dst[MYTH_LINE_HASH_LEN + 1], const myth_source *src, uint32_t line)
{
    uint32_t n;
    const uint64_t hash = walk(src, line, 0, &n);
    walk(src, line, hash, &n);
    snprintf(dst, MYTH_LINE_HASH_LEN + 1, "%" PRIx64 ":%" PRIu32, hash, n);
}
