/* findings.c - the automaton of an answer.
 *
 * Phases   an answer is a fixed sequence of literals and fields. A phase is one literal followed by its field; the
 *          state says how many bytes of the literal were seen, and then how far the field is. The byte that ends a
 *          field is the first byte of the next literal, except for the comma between findings or names
 * State    states are compared as bytes, so everything that no longer matters is set to zero: two states that allow the
 *          same answers should be equal
 * Evidence the bytes so far must occur in the cited lines. The state holds their first occurrence (line, pos); when the
 *          next byte does not fit there, the search goes on from that place. Lines are kept in JSON spelling, so bytes
 *          are compared without decoding */
#include "findings.h"

#include <assert.h>
#include <string.h>

typedef enum {
    LIST = MYTH_PIECE_LIST,
    PATH = MYTH_PIECE_PATH,
    FIRST = MYTH_PIECE_FIRST,
    LAST = MYTH_PIECE_LAST,
    EVIDENCE = MYTH_PIECE_EVIDENCE,
    RULE_ID = MYTH_PIECE_RULE_ID,
    ISSUE = MYTH_PIECE_ISSUE,
    WHY = MYTH_PIECE_WHY,
    SEVERITY = MYTH_PIECE_SEVERITY,
    STATUS = MYTH_PIECE_STATUS,
    FIX = MYTH_PIECE_FIX,
    MISSING = MYTH_PIECE_MISSING,
    MORE = MYTH_PIECE_MORE,
    CONTEXT = MYTH_PIECE_CONTEXT,
    NAME = MYTH_PIECE_NAME,
    NEXT = MYTH_PIECE_NEXT,
    END = MYTH_PIECE_END,
    FIXED = MYTH_PIECE_N, /* second pass: a finding up to its issue, as the first pass gave it */
    N_PHASE
} phase;

/* The literal before a phase's field. FIXED has that of PATH, because every finding begins with its path. */
static const char *intro(int p) { return myth_form_literal[p == FIXED ? PATH : p]; }

/* A finding that is in the answer: no other may have the same block, lines and rule. */
typedef struct {
    uint32_t first, last;
    uint8_t block, rule, zero[2]; /* zero: what would be padding */
} seen;

typedef struct {
    uint8_t phase;
    uint8_t lit;    /* bytes of intro(phase) that were seen; after all of them the field follows */
    uint8_t need;   /* bytes until the character is whole, or ESCAPE after a backslash; in a NAME see step_name */
    uint8_t weight; /* evidence: bytes that the character has when shown; texts: its lead byte, until the second byte */
    uint8_t shown;  /* evidence: bytes that it has when shown, counted up to MYTH_EVIDENCE_MIN */
    uint8_t block;
    uint8_t n_done, n_context; /* findings and names of missing_context that are complete */
    uint16_t len;              /* bytes of the field */
    uint16_t pick;             /* the first word that begins with those bytes; in a NAME see step_name */
    uint32_t line, pos;        /* evidence: where it first occurs */
    uint32_t first, last;      /* lines of the file; each while its digits are read: as the prompt calls it */
    uint32_t used;             /* a bit for each rule that a finding for these lines already has */
    seen done[MYTH_FINDING_MAX];
} state;

enum { ESCAPE = 0x80, REST = 3 };
#define NONE UINT32_MAX

static_assert(sizeof(state) <= MYTH_AUTOMATON_STATE_MAX, "state");
static_assert(sizeof(state) == 8 + 4 + 5 * 4 + MYTH_FINDING_MAX * sizeof(seen),
              "states are compared as bytes: no padding");

uint32_t myth_findings_done(const void *s) { return ((const state *)s)->n_done; }

static bool is_at(const state *s, phase p) { return s->phase == p && !intro(p)[s->lit] && s->len == 0; }
bool myth_findings_at_path(const void *s) { return is_at(s, PATH); }
bool myth_findings_at_issue(const void *s) { return is_at(s, ISSUE); }

myth_answer_place myth_findings_at(const void *st)
{
    const state *s = st;
    bool in_field = !intro(s->phase)[s->lit];
    switch ((phase)s->phase) {
    case LIST:
    case MORE: return in_field ? MYTH_ANSWER_LIST : s->phase == MORE ? MYTH_ANSWER_FINDING : MYTH_ANSWER_ELSEWHERE;
    case PATH:
    case FIXED: return s->lit ? MYTH_ANSWER_FINDING : MYTH_ANSWER_ELSEWHERE; /* lit 0: after the comma, before '{' */
    case CONTEXT:
    case NEXT: return in_field ? MYTH_ANSWER_CONTEXT : MYTH_ANSWER_ELSEWHERE;
    case NAME:
    case END: return MYTH_ANSWER_ELSEWHERE;
    default: return MYTH_ANSWER_FINDING;
    }
}

/* ---- words: rule, severity, status ---- */

static const char *word(phase p, uint32_t idx)
{
    switch (p) {
    case RULE_ID: return idx < myth_rule_count() ? myth_rules[idx].id : NULL;
    case SEVERITY: return idx < MYTH_SEVERITY_N ? myth_severity_name((myth_severity)idx) : NULL;
    default: return idx < MYTH_FINDING_STATUS_N ? myth_finding_status_name((myth_finding_status)idx) : NULL;
    }
}

static bool word_taken(const state *s, uint32_t idx) { return s->phase == RULE_ID && (s->used >> idx & 1); }

/* The first word, from s->pick on, that continues the bytes seen so far with `byte`; byte 0 asks for a word that ends
 * there. NONE when there is none. */
static uint32_t find_word(const state *s, uint8_t byte)
{
    const char *prefix = word((phase)s->phase, s->pick), *w;
    for (uint32_t i = s->pick; (w = word((phase)s->phase, i)); i++)
        if (!word_taken(s, i) && !strncmp(w, prefix, s->len) && (uint8_t)w[s->len] == byte)
            return i;
    return NONE;
}

/* ---- places ---- */

static const myth_block *block_of(const myth_findings_grammar *g, const state *s) { return &g->block[s->block]; }

static bool same_file(const myth_block *a, const myth_block *b)
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
 * within limits->span lines. NONE when there is none. */
static uint32_t offered_line(const myth_findings_grammar *g, const myth_block *b, uint32_t n)
{
    if (n < b->first)
        n = b->first;
    uint32_t solid = solid_line(b, n), span = (uint32_t)g->limits->span;
    return solid == NONE || solid - n < span ? (solid == NONE ? NONE : n) : solid - span + 1;
}

static bool is_usable(const myth_findings_grammar *g, const myth_block *b)
{
    return offered_line(g, b, b->first) != NONE;
}

static bool any_usable(const myth_findings_grammar *g)
{
    for (uint32_t i = 0; i < g->n_block; i++)
        if (is_usable(g, &g->block[i]))
            return true;
    return false;
}

/* The first usable block whose path continues the bytes seen so far with `byte`; with at_end, the one whose whole path
 * they are. */
static uint32_t find_path(const myth_findings_grammar *g, const state *s, uint8_t byte, bool at_end)
{
    const char *prefix = block_of(g, s)->src->path_text;
    for (uint32_t i = s->block; i < g->n_block; i++) {
        const myth_source *src = g->block[i].src;
        if (src->path_len < s->len || memcmp(src->path_text, prefix, s->len) != 0 || !is_usable(g, &g->block[i]))
            continue;
        if (at_end ? src->path_len == s->len : src->path_len > s->len && (uint8_t)src->path_text[s->len] == byte)
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
static bool first_reachable(const myth_findings_grammar *g, const state *s, uint64_t v)
{
    for (uint32_t i = 0; i < g->n_block; i++) {
        const myth_block *b = &g->block[i];
        if (!same_file(b, block_of(g, s)))
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
static uint32_t block_with(const myth_findings_grammar *g, const state *s, uint32_t v)
{
    for (uint32_t i = 0; i < g->n_block; i++) {
        const myth_block *b = &g->block[i];
        uint32_t n = line_called(b, v);
        if (same_file(b, block_of(g, s)) && n >= b->first && n <= b->last && offered_line(g, b, n) == n)
            return i;
    }
    return NONE;
}

/* The lines with which a range may end that begins with s->first: it holds a line that is not blank, and has at most
 * limits->span lines. */
static void last_range(const myth_findings_grammar *g, const state *s, uint32_t *lo, uint32_t *hi)
{
    const myth_block *b = block_of(g, s);
    *lo = solid_line(b, s->first);
    *hi = b->last - s->first < (uint32_t)g->limits->span ? b->last : s->first + (uint32_t)g->limits->span - 1;
}

/* ---- evidence ---- */

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

/* Moves to the next character, or to the next line once evidence can no longer start in this one. False when there is
 * none among the cited lines. */
static bool next_place(const myth_source *src, const state *s, place *p)
{
    const myth_line *l = &src->line[p->line];
    p->pos += char_len(src->text + l->text + p->pos);
    if (p->pos < l->n_start)
        return true;
    p->pos = 0;
    p->line++;
    if (p->line >= s->last)
        return false;
    p->line = src->line[p->line].next;
    return p->line < s->last;
}

/* Moves p to the first place, p itself included, where the text prefix[0 .. len) occurs. */
static bool find_place(const myth_source *src, const state *s, const char *prefix, uint32_t len, place *p)
{
    do {
        const myth_line *l = &src->line[p->line];
        if (l->text_len - p->pos >= len && !memcmp(src->text + l->text + p->pos, prefix, len))
            return true;
    } while (next_place(src, s, p));
    return false;
}

/* Evidence is long enough at MYTH_EVIDENCE_MIN bytes, or, for short lines, when it is a whole line. */
static bool evidence_may_end(const myth_source *src, const state *s)
{
    if (s->need || !s->len)
        return false;
    if (s->shown >= MYTH_EVIDENCE_MIN)
        return true;
    const char *prefix = src->text + src->line[s->line].text + s->pos;
    for (uint32_t i = src->line[s->first - 1].next; i < s->last; i = i + 1 < s->last ? src->line[i + 1].next : s->last)
        if (src->line[i].text_len == s->len && !memcmp(src->text + src->line[i].text, prefix, s->len))
            return true;
    return false;
}

/* One byte of evidence. The limit is looked at only between characters, so that the last one is whole. */
static bool step_evidence(const myth_findings_grammar *g, state *s, uint8_t byte)
{
    const myth_source *src = block_of(g, s)->src;
    if (!s->need && s->len >= (uint32_t)g->limits->evidence)
        return false;
    place p = {s->line, s->pos};
    const char *prefix = src->text + src->line[p.line].text + p.pos;
    for (;;) {
        const myth_line *l = &src->line[p.line];
        if (l->text_len - p.pos > s->len && (uint8_t)src->text[l->text + p.pos + s->len] == byte)
            break;
        if (!next_place(src, s, &p) || !find_place(src, s, prefix, s->len, &p))
            return false;
    }
    s->line = p.line;
    s->pos = p.pos;
    s->len++;
    if (s->need == ESCAPE) {
        s->need = byte == 'u' ? 4 : 0;
    } else if (s->need) {
        s->need--;
    } else {
        s->weight = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        s->need = byte == '\\' ? ESCAPE : (uint8_t)(s->weight - 1);
    }
    if (!s->need) {
        s->shown = (uint8_t)(s->shown + s->weight > MYTH_EVIDENCE_MIN ? MYTH_EVIDENCE_MIN : s->shown + s->weight);
        s->weight = 0;
    }
    return true;
}

static void allow(uint32_t bits[8], uint8_t byte) { bits[byte >> 5] |= 1u << (byte & 31); }

static void evidence_allowed(const myth_findings_grammar *g, const state *s, uint32_t bits[8])
{
    const myth_source *src = block_of(g, s)->src;
    if (evidence_may_end(src, s))
        allow(bits, '"');
    if (!s->need && s->len >= (uint32_t)g->limits->evidence)
        return;
    place p = {s->line, s->pos};
    const char *prefix = src->text + src->line[p.line].text + p.pos;
    do {
        const myth_line *l = &src->line[p.line];
        if (l->text_len - p.pos > s->len)
            allow(bits, (uint8_t)src->text[l->text + p.pos + s->len]);
    } while (next_place(src, s, &p) && find_place(src, s, prefix, s->len, &p));
}

/* ---- texts ---- */

static bool is_text(phase p) { return p == ISSUE || p == WHY || p == FIX || p == MISSING; }

static int text_limit(const myth_findings_grammar *g, phase p)
{
    switch (p) {
    case ISSUE: return g->limits->issue;
    case WHY: return g->limits->why;
    case FIX: return g->limits->fix;
    default: return g->limits->missing;
    }
}

/* The range of the next byte of a character that has begun. After some lead bytes the range of the second is narrower:
 * Unicode standard, table 3-7. */
static void rest_range(const state *s, uint8_t *lo, uint8_t *hi)
{
    *lo = s->weight == 0xe0 ? 0xa0 : s->weight == 0xf0 ? 0x90 : 0x80;
    *hi = s->weight == 0xed ? 0x9f : s->weight == 0xf4 ? 0x8f : 0xbf;
}

/* One byte of a text. A character may begin only if all of it has room. The quote that ends the text does not come
 * here. */
static bool step_text(state *s, uint8_t byte, int limit)
{
    int left = limit - (int)s->len, width;
    if (s->need == ESCAPE) {
        if (byte != '"' && byte != '\\' && byte != 'n' && byte != 't' && byte != 'r')
            return false;
        s->need = 0;
    } else if (s->need) {
        uint8_t lo, hi;
        rest_range(s, &lo, &hi);
        if (byte < lo || byte > hi)
            return false;
        s->need--;
        s->weight = 0;
    } else {
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && byte < 0xc2) || byte > 0xf4)
            return false;
        width = byte == '\\' ? 2 : byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        if (width > left)
            return false;
        s->need = byte == '\\' ? ESCAPE : (uint8_t)(width - 1);
        s->weight = width > 1 && byte != '\\' ? byte : 0;
    }
    s->len++;
    return true;
}

/* The bytes that step_text takes, and the quote, as bits. Most tokens of the vocabulary are allowed in a text, so this
 * is asked so often that trying all 256 bytes would be slow. */
static void text_allowed(const state *s, int limit, uint32_t bits[8])
{
    int left = limit - (int)s->len;
    if (s->need == ESCAPE) {
        for (const char *c = "\"\\ntr"; *c; c++)
            allow(bits, (uint8_t)*c);
        return;
    }
    if (s->need) {
        uint8_t lo, hi;
        rest_range(s, &lo, &hi);
        for (int b = lo; b <= hi; b++)
            allow(bits, (uint8_t)b);
        return;
    }
    if (left >= 1) {
        bits[1] = bits[2] = 0xffffffffu; /* 0x20 .. 0x5f */
        bits[3] = 0x7fffffffu;           /* 0x60 .. 0x7e */
    }
    if (left == 1)
        bits['\\' >> 5] &= ~(1u << ('\\' & 31));
    if (left >= 2)
        bits[6] = 0xfffffffcu; /* leads of two bytes, 0xc2 .. 0xdf: 0xc0 and 0xc1 are never valid */
    if (left >= 3)
        bits[7] = 0xffffu; /* leads of three bytes, 0xe0 .. 0xef */
    if (left >= 4)
        bits[7] |= 0x1f0000u; /* leads of four bytes, 0xf0 .. 0xf4 */
    allow(bits, '"');
}

static bool is_path_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.';
}

/* One byte of path::symbol. need is 0 in the path, 1 after the first colon, 2 after both; pick is 1 once the symbol has
 * a byte. */
static bool step_name(state *s, uint8_t byte, int limit)
{
    int left = limit - (int)s->len;
    if (s->need == 0 && byte == ':') {
        if (!s->len)
            return false;
        s->need = 1;
    } else if (s->need == 1) {
        if (byte != ':')
            return false;
        s->need = 2;
    } else if (s->need == 0) {
        if ((!is_path_byte(byte) && byte != '/' && byte != '-') || left < 4) /* room for this byte, "::", a symbol */
            return false;
    } else {
        if (!is_path_byte(byte) || left < 1)
            return false;
        s->pick = 1;
    }
    s->len++;
    return true;
}

/* ---- steps between fields ---- */

static void clear_field(state *s)
{
    s->need = s->weight = s->shown = 0;
    s->len = s->pick = 0;
    s->line = s->pos = 0;
}

/* Begins the field of s->phase, all of whose literal was seen. */
static void enter(const myth_findings_grammar *g, state *s)
{
    clear_field(s);
    switch ((phase)s->phase) {
    case PATH:
        s->block = 0;
        s->first = s->last = s->used = 0;
        break;
    case FIRST: s->first = 0; break;
    case LAST: s->last = 0; break;
    case EVIDENCE: s->line = block_of(g, s)->src->line[s->first - 1].next; break;
    case RULE_ID:
        for (int i = 0; i < s->n_done; i++)
            if (s->done[i].block == s->block && s->done[i].first == s->first && s->done[i].last == s->last)
                s->used |= 1u << s->done[i].rule;
        break;
    case MORE: s->n_done++; break;
    case NEXT: s->n_context++; break;
    default: break;
    }
}

/* Changes to phase p, of whose literal `lit` bytes were seen. Always true, so that a caller can return it. */
static bool go(const myth_findings_grammar *g, state *s, phase p, uint8_t lit)
{
    clear_field(s);
    s->phase = (uint8_t)p;
    s->lit = lit;
    if (!intro(p)[lit])
        enter(g, s);
    return true;
}

/* Notes the place and rule of a finding, which are needed no more for the rest of it. */
static void remember(state *s, uint32_t rule)
{
    s->done[s->n_done] = (seen){.first = s->first, .last = s->last, .block = s->block, .rule = (uint8_t)rule};
    s->block = 0;
    s->first = s->last = s->used = 0;
}

static bool may_add(const myth_findings_grammar *g, const state *s)
{
    return g->fixed ? s->n_done < g->n_fixed : s->n_done < g->limits->n_finding && any_usable(g);
}

static bool may_close(const myth_findings_grammar *g, const state *s) { return !g->fixed || s->n_done == g->n_fixed; }

static bool step_number(const myth_findings_grammar *g, state *s, uint8_t byte, uint32_t *number)
{
    uint32_t lo, hi;
    if (byte < '0' || byte > '9' || (!s->len && byte == '0'))
        return false;
    uint64_t v = (uint64_t)*number * 10 + (byte - '0');
    if (s->phase == FIRST) {
        if (!first_reachable(g, s, v))
            return false;
    } else {
        last_range(g, s, &lo, &hi);
        if (!in_reach(v, myth_block_shown(block_of(g, s), lo), myth_block_shown(block_of(g, s), hi)))
            return false;
    }
    *number = (uint32_t)v;
    s->len++;
    return true;
}

static bool step_field(const myth_findings_grammar *g, state *s, uint8_t byte)
{
    uint32_t at, lo, hi;
    phase p = (phase)s->phase;
    switch (p) {
    case LIST:
    case MORE:
        if (byte == ']' && may_close(g, s))
            return go(g, s, CONTEXT, 1);
        if (byte != (p == LIST ? '{' : ',') || !may_add(g, s))
            return false;
        return go(g, s, g->fixed ? FIXED : PATH, p == LIST);
    case FIXED:
        if (g->fixed[s->n_done].text[s->len] != (char)byte)
            return false;
        if (++s->len == g->fixed[s->n_done].len)
            return go(g, s, ISSUE, (uint8_t)strlen(intro(ISSUE)));
        return true;
    case PATH:
        /* A quote cannot mean both: inside a path a backslash comes before it, and no path ends with that backslash. */
        at = find_path(g, s, byte, false);
        if (at == NONE && (byte != '"' || (at = find_path(g, s, byte, true)) == NONE))
            return false;
        s->block = (uint8_t)at;
        if (s->len++ == g->block[at].src->path_len)
            return go(g, s, FIRST, 1);
        return true;
    case FIRST:
        if (byte != ',')
            return step_number(g, s, byte, &s->first);
        if (!s->len || (at = block_with(g, s, s->first)) == NONE)
            return false;
        s->block = (uint8_t)at;
        s->first = line_called(block_of(g, s), s->first);
        return go(g, s, LAST, 1);
    case LAST:
        if (byte != ']')
            return step_number(g, s, byte, &s->last);
        last_range(g, s, &lo, &hi);
        s->last = line_called(block_of(g, s), s->last);
        return s->last >= lo && s->last <= hi && go(g, s, EVIDENCE, 1);
    case EVIDENCE:
        if (byte == '"' && !s->need)
            return evidence_may_end(block_of(g, s)->src, s) && go(g, s, RULE_ID, 1);
        return step_evidence(g, s, byte);
    case RULE_ID:
    case SEVERITY:
    case STATUS:
        at = byte ? find_word(s, byte == '"' ? 0 : byte) : NONE;
        if (at == NONE)
            return false;
        if (byte != '"') {
            s->pick = (uint16_t)at;
            s->len++;
            return true;
        }
        if (p == RULE_ID)
            remember(s, at);
        return go(g, s, p + 1, 1);
    case ISSUE:
    case WHY:
    case FIX:
    case MISSING:
        if (byte == '"' && !s->need)
            return go(g, s, p + 1, 1);
        return step_text(s, byte, text_limit(g, p));
    case CONTEXT:
        if (byte == ']')
            return go(g, s, END, 1);
        return byte == '"' && g->limits->n_context && go(g, s, NAME, 1);
    case NAME:
        if (byte == '"')
            return s->pick && go(g, s, NEXT, 1);
        return step_name(s, byte, g->limits->context);
    case NEXT:
        if (byte == ']')
            return go(g, s, END, 1);
        return byte == ',' && s->n_context < g->limits->n_context && go(g, s, NAME, 0);
    default: return false;
    }
}

static void start(const void *self, void *st)
{
    (void)self;
    memset(st, 0, sizeof(state));
}

static bool step(const void *self, void *st, uint8_t byte)
{
    const myth_findings_grammar *g = self;
    state *s = st;
    const char *l = intro(s->phase);
    if (!l[s->lit])
        return step_field(g, s, byte);
    if (l[s->lit] != (char)byte)
        return false;
    if (!l[++s->lit])
        enter(g, s);
    return true;
}

static bool may_end(const void *self, const void *st)
{
    (void)self;
    const state *s = st;
    return s->phase == END && !intro(END)[s->lit];
}

static void allowed(const void *self, const void *st, uint32_t bits[8])
{
    const state *s = st;
    memset(bits, 0, 8 * sizeof(bits[0]));
    if (intro(s->phase)[s->lit]) {
        allow(bits, (uint8_t)intro(s->phase)[s->lit]);
    } else if (s->phase == EVIDENCE) {
        evidence_allowed(self, s, bits);
    } else if (is_text((phase)s->phase)) {
        text_allowed(s, text_limit(self, (phase)s->phase), bits);
    } else {
        for (int b = 0; b < 256; b++) {
            state next = *s;
            if (step_field(self, &next, (uint8_t)b))
                allow(bits, (uint8_t)b);
        }
    }
}

/* The part of a state that decides which tokens of at most `horizon` bytes are allowed, so that states that differ in
 * nothing else share one result. From the issue of a finding to its last field two things can be left out. The rules
 * already given (`done`) matter only at the next rule: not if even empty fields put it beyond the horizon. The length
 * of a text matters only if a token could reach its limit, also by ending in a lead byte whose character, of up to
 * REST more bytes, has no room. */
static void key(const void *self, const void *st, uint32_t horizon, void *out)
{
    const myth_findings_grammar *g = self;
    state *s = out;
    memcpy(s, st, sizeof(*s));
    if (s->phase < ISSUE || s->phase > MISSING)
        return;
    uint32_t way = 0;
    for (int p = s->phase + 1; p <= MORE; p++)
        way += (uint32_t)strlen(intro(p));
    for (int p = PATH; p <= RULE_ID; p++)
        way += (uint32_t)strlen(intro(p));
    if (way > horizon)
        memset(s->done, 0, sizeof(s->done));
    if (!intro(s->phase)[s->lit] && is_text((phase)s->phase) &&
        (uint32_t)text_limit(g, (phase)s->phase) >= s->len + horizon + REST)
        s->len = 0;
}

void myth_findings_automaton(myth_automaton *out, const myth_findings_grammar *g)
{
    assert(g->n_block >= 1 && g->n_block <= MYTH_BLOCK_MAX && g->limits->n_finding <= MYTH_FINDING_MAX);
    assert(g->limits->evidence >= 6 * MYTH_EVIDENCE_MIN && (uint32_t)g->limits->n_finding < myth_rule_count());
    *out = (myth_automaton){
        .self = (void *)(uintptr_t)g,
        .state_bytes = sizeof(state),
        .start = start,
        .step = step,
        .may_end = may_end,
        .allowed = allowed,
        .key = key,
    };
}
