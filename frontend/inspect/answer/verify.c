/* verify.c - checks findings by plain scans over the bytes of the file. It is slow and short, and apart from the UTF-8
 * decoder it shares no code with the automaton, so that a mistake there is noticed here. */
#include "verify.h"

#include "engine/base/utf8.h"

#include <string.h>

typedef struct {
    const unsigned char *p;
    uint32_t len;
} span;

/* Line n, without its terminator, trimmed; false when the file has no such line. */
static bool line_at(span *out, const myth_source *src, uint32_t n)
{
    const unsigned char *p = src->bytes, *end = p + src->len, *stop;
    for (; p < end; p = stop + 1) {
        stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop)
            stop = end;
        if (--n == 0)
            break;
        if (stop == end)
            return false;
    }
    if (p >= end)
        return false;
    while (p < stop && strchr(" \t\r\v\f", *p) && *p)
        p++;
    while (stop > p && strchr(" \t\r\v\f", stop[-1]) && stop[-1])
        stop--;
    *out = (span){p, (uint32_t)(stop - p)};
    return true;
}

/* The number of bytes at p that are shown as text[0 .. n); 0 when p does not begin with that text. */
static uint32_t stands_at(const unsigned char *p, uint32_t len, const char *text, size_t n)
{
    uint32_t at = 0;
    size_t i = 0;
    while (i < n) {
        uint32_t cp;
        int width = myth_utf8_decode(p + at, len - at, &cp);
        const char *shown = width ? (const char *)p + at : "\xef\xbf\xbd";
        size_t m = width ? (size_t)width : 3;
        if (at == len || n - i < m || memcmp(text + i, shown, m) != 0)
            return 0;
        i += m;
        at += width ? (uint32_t)width : 1;
    }
    return at;
}

static bool find_quote(myth_citation *out, const myth_source *src, uint32_t first, uint32_t last, myth_str quote)
{
    span l;
    for (uint32_t n = first; n <= last && line_at(&l, src, n); n++)
        for (uint32_t at = 0, step; at < l.len; at += step) {
            uint32_t cp, len = stands_at(l.p + at, l.len - at, quote.text, quote.len);
            if (len && (quote.len >= MYTH_EVIDENCE_MIN || len == l.len)) {
                *out = (myth_citation){n, (uint32_t)(l.p + at - src->bytes), len};
                return true;
            }
            int width = myth_utf8_decode(l.p + at, l.len - at, &cp);
            step = width ? (uint32_t)width : 1;
        }
    return false;
}

static bool has_solid_line(const myth_source *src, uint32_t first, uint32_t last)
{
    span l;
    for (uint32_t n = first; n <= last && line_at(&l, src, n); n++)
        if (l.len)
            return true;
    return false;
}

myth_verdict myth_verify_quote(myth_citation *out, const myth_block *block, uint32_t n_block, uint32_t at,
                               uint32_t first, uint32_t last, myth_str quote)
{
    if (at >= n_block || first < block[at].first || last > block[at].last || first > last ||
        !has_solid_line(block[at].src, first, last))
        return MYTH_CITES_NO_LINES;
    return find_quote(out, block[at].src, first, last, quote) ? MYTH_CITES : MYTH_CITES_NO_EVIDENCE;
}

myth_verdict myth_verify(myth_citation *out, const myth_finding *f, const myth_block *block, uint32_t n_block,
                         const myth_finding *before, uint32_t n_before)
{
    const myth_verdict v = myth_verify_quote(out, block, n_block, f->block, f->first, f->last, f->evidence);
    if (v != MYTH_CITES)
        return v;
    for (uint32_t i = 0; i < n_before; i++)
        if (!strcmp(block[before[i].block].src->path, block[f->block].src->path) && before[i].first == f->first &&
            before[i].last == f->last && before[i].rule == f->rule)
            return MYTH_CITES_AGAIN;
    return MYTH_CITES;
}

const char *myth_verdict_text(myth_verdict v)
{
    static const char *const text[] = {"holds", "lines are not in the prompt", "evidence is not in the lines",
                                       "repeats another finding"};
    return text[v];
}
