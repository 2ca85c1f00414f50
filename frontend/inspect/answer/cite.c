/* cite.c - the automaton of a citation: a path that was shown, lines of one of its blocks, and a quote from them.
 *
 * Quote    the bytes so far must occur in the cited lines. The field holds their first occurrence (line, pos); when the
 *          next byte does not fit there, the search goes on from that place. Lines are kept in JSON spelling, so bytes
 *          are compared without decoding */
#include "fields.h"

#include <string.h>

#define NONE UINT32_MAX

void myth_field_clear(myth_field *f)
{
    f->need = f->weight = f->shown = 0;
    f->len = f->pick = 0;
    f->line = f->pos = 0;
}

/* ---- places ---- */

static const myth_block *block_of(const myth_shown *g, const myth_field *f) { return &g->block[f->block]; }

bool myth_cite_same_file(const myth_block *a, const myth_block *b)
{
    return a->src == b->src ||
           (a->src->path_len == b->src->path_len && !memcmp(a->src->path_text, b->src->path_text, a->src->path_len));
}

/* The first line >= n of the block that is not blank, counted from 1. NONE when only blank lines are left. */
static uint32_t solid_line(const myth_block *b, uint32_t n)
{
    if (n > b->last)
        return NONE;
    uint32_t next = b->src->line[n - 1].next + 1;
    return next <= b->last ? next : NONE;
}

/* The first line >= n with which a range may begin. It may be blank, but a line that is not must be near enough to be
 * within span lines. NONE when there is none. */
static uint32_t offered_line(const myth_shown *g, const myth_block *b, uint32_t n)
{
    if (n < b->first)
        n = b->first;
    uint32_t solid = solid_line(b, n), span = g->span;
    return solid == NONE || solid - n < span ? (solid == NONE ? NONE : n) : solid - span + 1;
}

static bool is_usable(const myth_shown *g, const myth_block *b) { return offered_line(g, b, b->first) != NONE; }

bool myth_cite_any(const myth_shown *g)
{
    for (uint32_t i = 0; i < g->n_block; i++)
        if (is_usable(g, &g->block[i]))
            return true;
    return false;
}

/* The first usable block whose path continues the bytes seen so far with `byte`; with at_end, the one whose whole path
 * they are. */
static uint32_t find_path(const myth_shown *g, const myth_field *f, uint8_t byte, bool at_end)
{
    const char *prefix = block_of(g, f)->src->path_text;
    for (uint32_t i = f->block; i < g->n_block; i++) {
        const myth_source *src = g->block[i].src;
        if (src->path_len < f->len || memcmp(src->path_text, prefix, f->len) != 0 || !is_usable(g, &g->block[i]))
            continue;
        if (at_end ? src->path_len == f->len : src->path_len > f->len && (uint8_t)src->path_text[f->len] == byte)
            return i;
    }
    return NONE;
}

/* Whether further digits, or none, can make v a number of [lo, hi]. The range may be empty. */
static bool in_reach(uint64_t v, uint64_t lo, uint64_t hi)
{
    for (uint64_t width = 1; v * width <= hi; width *= 10)
        if (v * width + width - 1 >= lo)
            return true;
    return false;
}

/* The line of the block's file that the prompt calls v; 0 when v is too small for one. */
static uint32_t line_called(const myth_block *b, uint64_t v)
{
    const int64_t n = (int64_t)v + b->skip;
    return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* Whether further digits, or none, can make v the number of a line with which a range may begin in some block of the
 * file. */
static bool first_reachable(const myth_shown *g, const myth_field *f, uint64_t v)
{
    for (uint32_t i = 0; i < g->n_block; i++) {
        const myth_block *b = &g->block[i];
        if (!myth_cite_same_file(b, block_of(g, f)))
            continue;
        for (uint64_t width = 1; v * width <= myth_block_shown(b, b->last); width *= 10) {
            uint32_t n = offered_line(g, b, line_called(b, v * width));
            if (n != NONE && myth_block_shown(b, n) <= v * width + width - 1)
                return true;
        }
    }
    return false;
}

/* The block in which a range may begin with the line of number v, NONE when there is none. */
static uint32_t block_with(const myth_shown *g, const myth_field *f, uint32_t v)
{
    for (uint32_t i = 0; i < g->n_block; i++) {
        const myth_block *b = &g->block[i];
        uint32_t n = line_called(b, v);
        if (myth_cite_same_file(b, block_of(g, f)) && n >= b->first && n <= b->last && offered_line(g, b, n) == n)
            return i;
    }
    return NONE;
}

/* The lines with which a range may end that begins with f->first: it holds a line that is not blank, and has at most
 * span lines. */
static void last_range(const myth_shown *g, const myth_field *f, uint32_t *lo, uint32_t *hi)
{
    const myth_block *b = block_of(g, f);
    *lo = solid_line(b, f->first);
    *hi = b->last - f->first < g->span ? b->last : f->first + g->span - 1;
}

/* ---- quotes ---- */

/* Bytes of one character in JSON spelling. */
static uint32_t char_len(const char *p)
{
    unsigned char c = (unsigned char)*p;
    if (c == '\\')
        return p[1] == 'u' ? 6 : 2;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* A place in the cited lines: the index (from 0) of a line that is not blank, and an offset in its text. */
typedef struct {
    uint32_t line, pos;
} place;

/* Moves to the next character, or to the next line once a quote can no longer start in this one. False when there is
 * none among the cited lines. */
static bool next_place(const myth_source *src, const myth_field *f, place *p)
{
    const myth_line *l = &src->line[p->line];
    p->pos += char_len(src->text + l->text + p->pos);
    if (p->pos < l->n_start)
        return true;
    p->pos = 0;
    p->line++;
    if (p->line >= f->last)
        return false;
    p->line = src->line[p->line].next;
    return p->line < f->last;
}

/* Moves p to the first place, p itself included, where the text prefix[0 .. len) occurs. */
static bool find_place(const myth_source *src, const myth_field *f, const char *prefix, uint32_t len, place *p)
{
    do {
        const myth_line *l = &src->line[p->line];
        if (l->text_len - p->pos >= len && !memcmp(src->text + l->text + p->pos, prefix, len))
            return true;
    } while (next_place(src, f, p));
    return false;
}

/* A quote is long enough at MYTH_EVIDENCE_MIN bytes, or, for short lines, when it is a whole line. */
static bool quote_may_end(const myth_source *src, const myth_field *f)
{
    if (f->need || !f->len)
        return false;
    if (f->shown >= MYTH_EVIDENCE_MIN)
        return true;
    const char *prefix = src->text + src->line[f->line].text + f->pos;
    for (uint32_t i = src->line[f->first - 1].next; i < f->last; i = i + 1 < f->last ? src->line[i + 1].next : f->last)
        if (src->line[i].text_len == f->len && !memcmp(src->text + src->line[i].text, prefix, f->len))
            return true;
    return false;
}

/* One byte of a quote. The limit is looked at only between characters, so that the last one is whole. */
static bool step_quote(const myth_shown *g, myth_field *f, uint8_t byte)
{
    const myth_source *src = block_of(g, f)->src;
    if (!f->need && f->len >= g->quote)
        return false;
    place p = {f->line, f->pos};
    const char *prefix = src->text + src->line[p.line].text + p.pos;
    for (;;) {
        const myth_line *l = &src->line[p.line];
        if (l->text_len - p.pos > f->len && (uint8_t)src->text[l->text + p.pos + f->len] == byte)
            break;
        if (!next_place(src, f, &p) || !find_place(src, f, prefix, f->len, &p))
            return false;
    }
    f->line = p.line;
    f->pos = p.pos;
    f->len++;
    if (f->need == MYTH_FIELD_ESCAPE) {
        f->need = byte == 'u' ? 4 : 0;
    } else if (f->need) {
        f->need--;
    } else {
        f->weight = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        f->need = byte == '\\' ? MYTH_FIELD_ESCAPE : (uint8_t)(f->weight - 1);
    }
    if (!f->need) {
        f->shown = (uint8_t)(f->shown + f->weight > MYTH_EVIDENCE_MIN ? MYTH_EVIDENCE_MIN : f->shown + f->weight);
        f->weight = 0;
    }
    return true;
}

void myth_cite_quote_allowed(const myth_shown *g, const myth_field *f, uint32_t bits[8])
{
    const myth_source *src = block_of(g, f)->src;
    if (quote_may_end(src, f))
        myth_allow(bits, '"');
    if (!f->need && f->len >= g->quote)
        return;
    place p = {f->line, f->pos};
    const char *prefix = src->text + src->line[p.line].text + p.pos;
    do {
        const myth_line *l = &src->line[p.line];
        if (l->text_len - p.pos > f->len)
            myth_allow(bits, (uint8_t)src->text[l->text + p.pos + f->len]);
    } while (next_place(src, f, &p) && find_place(src, f, prefix, f->len, &p));
}

/* ---- the four fields ---- */

void myth_cite_enter(const myth_shown *g, myth_field *f, myth_cite_field which)
{
    switch (which) {
    case MYTH_CITE_PATH:
        f->block = 0;
        f->first = f->last = 0;
        break;
    case MYTH_CITE_FIRST: f->first = 0; break;
    case MYTH_CITE_LAST: f->last = 0; break;
    case MYTH_CITE_QUOTE: f->line = block_of(g, f)->src->line[f->first - 1].next; break;
    }
}

static bool step_number(const myth_shown *g, myth_field *f, uint8_t byte, bool is_first)
{
    uint32_t lo, hi, *number = is_first ? &f->first : &f->last;
    if (byte < '0' || byte > '9' || (!f->len && byte == '0'))
        return false;
    uint64_t v = (uint64_t)*number * 10 + (byte - '0');
    if (is_first) {
        if (!first_reachable(g, f, v))
            return false;
    } else {
        last_range(g, f, &lo, &hi);
        if (!in_reach(v, myth_block_shown(block_of(g, f), lo), myth_block_shown(block_of(g, f), hi)))
            return false;
    }
    *number = (uint32_t)v;
    f->len++;
    return true;
}

static myth_field_step goes_on(bool is_allowed) { return is_allowed ? MYTH_FIELD_GOES_ON : MYTH_FIELD_REFUSED; }
static myth_field_step ends(bool is_allowed) { return is_allowed ? MYTH_FIELD_ENDS : MYTH_FIELD_REFUSED; }

static myth_field_step step_path(const myth_shown *g, myth_field *f, uint8_t byte)
{
    /* A quote cannot mean both: inside a path a backslash comes before it, and no path ends with that backslash. */
    uint32_t at = find_path(g, f, byte, false);
    if (at == NONE && (byte != '"' || (at = find_path(g, f, byte, true)) == NONE))
        return MYTH_FIELD_REFUSED;
    f->block = (uint8_t)at;
    return f->len++ == g->block[at].src->path_len ? MYTH_FIELD_ENDS : MYTH_FIELD_GOES_ON;
}

static myth_field_step end_first(const myth_shown *g, myth_field *f)
{
    uint32_t at;
    if (!f->len || (at = block_with(g, f, f->first)) == NONE)
        return MYTH_FIELD_REFUSED;
    f->block = (uint8_t)at;
    f->first = line_called(block_of(g, f), f->first);
    return MYTH_FIELD_ENDS;
}

static myth_field_step end_last(const myth_shown *g, myth_field *f)
{
    uint32_t lo, hi;
    last_range(g, f, &lo, &hi);
    f->last = line_called(block_of(g, f), f->last);
    return ends(f->last >= lo && f->last <= hi);
}

myth_field_step myth_cite_step(const myth_shown *g, myth_field *f, myth_cite_field which, uint8_t byte)
{
    switch (which) {
    case MYTH_CITE_PATH: return step_path(g, f, byte);
    case MYTH_CITE_FIRST: return byte == ',' ? end_first(g, f) : goes_on(step_number(g, f, byte, true));
    case MYTH_CITE_LAST: return byte == ']' ? end_last(g, f) : goes_on(step_number(g, f, byte, false));
    default:
        if (byte == '"' && !f->need)
            return ends(quote_may_end(block_of(g, f)->src, f));
        return goes_on(step_quote(g, f, byte));
    }
}
