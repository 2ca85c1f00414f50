/* gbnf.c - reads a grammar and writes its program in one pass; what a rule's name stands for, and whether all of it can
 * be run, is known when the text has ended. */
#include "gbnf_program.h"

#include "engine/base/array.h"
#include "engine/base/table.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum { NAME_SHOWN = 48, LAST_CHAR = 0x10ffff };
#define NONE UINT32_MAX

typedef struct {
    myth_gbnf *g;
    myth_mem *mem;
    const myth_tokenizer *tok; /* NULL = no tokens are named */
    const char *s, *path;
    uint32_t n, at, depth;
    myth_gbnf_rule *rule;
    size_t n_rule, cap_rule;
    uint32_t *slot, n_slot; /* rules by name */
    myth_gbnf_range range[MYTH_GBNF_RANGES];
    myth_error *err;
} parser;

/* ---- errors ---- */

static myth_status fail_at(const parser *p, uint32_t at, myth_status code, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

static myth_status fail_at(const parser *p, uint32_t at, myth_status code, const char *fmt, ...)
{
    char what[176];
    uint32_t line = 1, column = 1;
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    for (uint32_t i = 0; i < at; i++) {
        column = p->s[i] == '\n' ? 1 : column + 1;
        line += p->s[i] == '\n';
    }
    return myth_fail(p->err, code, "%.60s:%u:%u: %s", p->path, line, column, what);
}

static myth_status no_memory(const parser *p)
{
    return myth_fail(p->err, MYTH_ENOMEM, "%.100s: out of memory", p->path);
}

static myth_status added(const parser *p, uint32_t at, myth_gbnf_added a)
{
    if (a == MYTH_GBNF_NO_MEMORY)
        return no_memory(p);
    return a == MYTH_GBNF_ADDED
             ? MYTH_OK
             : fail_at(p, at, MYTH_ELIMIT, "the grammar is too large: more than %d instructions or %d sets of bytes",
                       MYTH_GBNF_SIZE, MYTH_GBNF_SETS);
}

/* Letters of a rule's name that a message has. */
static int shown(const myth_gbnf_rule *r) { return r->n_name > NAME_SHOWN ? NAME_SHOWN : (int)r->n_name; }

/* ---- letters ---- */

static bool is_more(const parser *p) { return p->at < p->n; }
static bool is_at(const parser *p, char c) { return is_more(p) && p->s[p->at] == c; }

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static void skip_space(parser *p, bool over_lines)
{
    for (; is_more(p); p->at++) {
        const char c = p->s[p->at];
        if (c == '#')
            while (p->at + 1 < p->n && p->s[p->at + 1] != '\n')
                p->at++;
        else if (c != ' ' && c != '\t' && !(over_lines && (c == '\n' || c == '\r')))
            return;
    }
}

/* One character of a text or class, escaped or not. */
static myth_status read_char(parser *p, uint32_t *cp)
{
    const uint32_t at = p->at;
    if (!is_at(p, '\\')) {
        const int n = myth_utf8_decode((const unsigned char *)p->s + p->at, p->n - p->at, cp);
        p->at += (uint32_t)n;
        return n ? MYTH_OK : fail_at(p, at, MYTH_EFORMAT, "not UTF-8");
    }
    const char c = p->at + 1 < p->n ? p->s[p->at + 1] : '\0';
    const uint32_t n_hex = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    p->at += 2;
    switch (c) {
    case 'n': *cp = '\n'; return MYTH_OK;
    case 'r': *cp = '\r'; return MYTH_OK;
    case 't': *cp = '\t'; return MYTH_OK;
    case '\\':
    case '"':
    case '[':
    case ']': *cp = (unsigned char)c; return MYTH_OK;
    default: break;
    }
    if (!n_hex)
        return fail_at(
            p, at, MYTH_EFORMAT,
            "an escape that does not exist; there are \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH \\UHHHHHHHH");
    *cp = 0;
    for (uint32_t i = 0; i < n_hex; i++, p->at++) {
        const int h = is_more(p) ? myth_hex_digit(p->s[p->at]) : -1;
        if (h < 0)
            return fail_at(p, at, MYTH_EFORMAT, "\\%c needs %u hexadecimal digits", c, n_hex);
        *cp = *cp << 4 | (uint32_t)h;
    }
    if (*cp > LAST_CHAR || (*cp >= 0xd800 && *cp <= 0xdfff))
        return fail_at(p, at, MYTH_EFORMAT, "U+%04X is no character", (unsigned)*cp);
    return MYTH_OK;
}

/* ---- rules ---- */

typedef struct {
    const char *s;
    size_t n;
} name_key;

static bool is_rule(const void *of, uint32_t idx, const void *key)
{
    const myth_gbnf_rule *r = &((const myth_gbnf_rule *)of)[idx];
    const name_key *k = key;
    return r->n_name == k->n && memcmp(r->name, k->s, k->n) == 0;
}

static myth_status find_rule(parser *p, uint32_t from, uint32_t *idx)
{
    const name_key key = {p->s + from, p->at - from};
    const uint64_t hash = myth_fnv1a(MYTH_FNV1A, key.s, key.n);
    uint32_t *slot = myth_table_find(p->slot, p->n_slot, hash, is_rule, p->rule, &key);
    if (!*slot) {
        if (p->n_rule == MYTH_GBNF_RULES)
            return fail_at(p, from, MYTH_ELIMIT, "more than %d rules", MYTH_GBNF_RULES);
        if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_STAGING, "grammar rules", &p->rule, p->n_rule, &p->cap_rule))
            return no_memory(p);
        p->rule[p->n_rule++] = (myth_gbnf_rule){.name = key.s, .n_name = (uint32_t)key.n, .at = NONE, .used_at = NONE};
        *slot = (uint32_t)p->n_rule;
    }
    *idx = *slot - 1;
    return MYTH_OK;
}

static myth_status read_name(parser *p, uint32_t *idx)
{
    const uint32_t from = p->at;
    while (is_more(p) && is_name_char(p->s[p->at]))
        p->at++;
    if (p->at == from)
        return fail_at(p, from, MYTH_EFORMAT, "expected the name of a rule: letters, digits and -");
    return find_rule(p, from, idx);
}

/* ---- items ---- */

static myth_status add(parser *p, myth_gbnf_ins ins, uint32_t *at)
{
    return added(p, p->at < p->n ? p->at : p->n, myth_gbnf_add(p->g, ins, at));
}

static void link_parts(parser *p, myth_gbnf_part *a, myth_gbnf_part b)
{
    p->g->ins[a->last].next = b.first;
    a->last = b.last;
}

static myth_status nothing(parser *p, myth_gbnf_part *out)
{
    const myth_status st = add(p, (myth_gbnf_ins){.op = MYTH_GBNF_JOIN}, &out->first);
    out->last = out->first;
    return st;
}

static myth_status read_text(parser *p, myth_gbnf_part *out)
{
    const uint32_t begin = p->at++;
    myth_status st = nothing(p, out);
    while (st == MYTH_OK && !is_at(p, '"')) {
        uint32_t cp;
        char byte[4];
        if (!is_more(p))
            return fail_at(p, begin, MYTH_EFORMAT, "a text without its closing \"");
        MYTH_TRY(read_char(p, &cp));
        for (int i = 0, n = myth_utf8_encode(byte, cp); i < n; i++) {
            myth_gbnf_part one;
            MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_BYTE, .byte = (uint8_t)byte[i]}, &one.first));
            one.last = one.first;
            link_parts(p, out, one);
        }
    }
    p->at++;
fail:
    return st;
}

static myth_status read_class(parser *p, myth_gbnf_part *out)
{
    const uint32_t begin = p->at++;
    bool is_negated = is_at(p, '^'), has_none;
    size_t n = 0;
    p->at += is_negated;
    while (!is_at(p, ']')) {
        const uint32_t at = p->at;
        myth_gbnf_range r;
        if (!is_more(p))
            return fail_at(p, begin, MYTH_EFORMAT, "a class without its closing ]");
        myth_status st = read_char(p, &r.lo);
        r.hi = r.lo;
        if (st == MYTH_OK && is_at(p, '-') && p->at + 1 < p->n && p->s[p->at + 1] != ']') {
            p->at++;
            st = read_char(p, &r.hi);
        }
        if (st != MYTH_OK)
            return st;
        if (r.hi < r.lo)
            return fail_at(p, at, MYTH_EFORMAT, "a range whose end comes before its beginning");
        if (n == MYTH_GBNF_RANGES)
            return fail_at(p, begin, MYTH_ELIMIT, "a class of more than %d ranges", MYTH_GBNF_RANGES);
        p->range[n++] = r;
    }
    p->at++;
    const myth_gbnf_added a = myth_gbnf_add_class(p->g, p->range, n, is_negated, &has_none, out);
    return a == MYTH_GBNF_ADDED && has_none ? fail_at(p, begin, MYTH_EFORMAT, "a class that no character is in")
                                            : added(p, begin, a);
}

static myth_status read_alternatives(parser *p, bool is_nested, myth_gbnf_part *out);

static myth_status read_group(parser *p, myth_gbnf_part *out)
{
    const uint32_t begin = p->at++;
    if (p->depth == MYTH_GBNF_DEPTH)
        return fail_at(p, begin, MYTH_ELIMIT, "more than %d brackets inside each other", MYTH_GBNF_DEPTH);
    p->depth++;
    skip_space(p, true);
    const myth_status st = read_alternatives(p, true, out);
    p->depth--;
    if (st != MYTH_OK)
        return st;
    if (!is_at(p, ')'))
        return fail_at(p, is_more(p) ? p->at : begin, MYTH_EFORMAT,
                       is_more(p) ? "expected an item, | or the ) of a group" : "a group without its closing )");
    p->at++;
    return MYTH_OK;
}

/* The number of <[number]>; false when it has another form. */
static bool read_token_id(parser *p, uint64_t *id)
{
    const uint32_t from = p->at += 2;
    for (*id = 0; is_more(p) && p->s[p->at] >= '0' && p->s[p->at] <= '9'; p->at++)
        *id = *id < UINT32_MAX ? *id * 10 + (uint64_t)(p->s[p->at] - '0') : *id;
    const bool is_whole = p->at > from && p->n - p->at >= 2 && memcmp(p->s + p->at, "]>", 2) == 0;
    p->at += is_whole ? 2 : 0;
    return is_whole;
}

/* <[id]>, <text>, and either behind a !. */
static myth_status read_token(parser *p, myth_gbnf_part *out)
{
    const uint32_t begin = p->at;
    const bool is_negated = is_at(p, '!');
    uint64_t id = 0;
    p->at += is_negated;
    const uint32_t from = p->at;
    bool is_whole = is_at(p, '<');
    if (!p->tok)
        return fail_at(p, begin, MYTH_EUNSUPPORTED, "a token can be named only where there is a model's vocabulary");
    if (is_whole && p->at + 1 < p->n && p->s[p->at + 1] == '[') {
        is_whole = read_token_id(p, &id);
        if (is_whole && id >= myth_tokenizer_n_vocab(p->tok))
            return fail_at(p, begin, MYTH_EFORMAT,
                           "no such token: the vocabulary has ids up to %u; give one of them, or the text of a token",
                           myth_tokenizer_n_vocab(p->tok) - 1);
    } else if (is_whole) {
        while (is_more(p) && p->s[p->at] != '>' && p->s[p->at] != '\n')
            p->at++;
        is_whole = is_at(p, '>');
        p->at += is_whole;
        const uint32_t n = p->at - from;
        const int32_t found = is_whole ? myth_tokenizer_find(p->tok, p->s + from, n) : 0;
        if (found < 0)
            return fail_at(p, begin, MYTH_EFORMAT, "%.*s is no token of this model: write a text in quotes, \"%.*s\"",
                           (int)(n < NAME_SHOWN ? n : NAME_SHOWN), p->s + from, (int)(n < NAME_SHOWN ? n : NAME_SHOWN),
                           p->s + from);
        id = (uint64_t)found;
    }
    if (!is_whole)
        return fail_at(p, begin, MYTH_EFORMAT,
                       "expected a token: <[id]> as in <[106]>, or its text as in <end_of_turn>");
    p->g->has_tokens = true;
    const myth_status st =
        add(p, (myth_gbnf_ins){.op = MYTH_GBNF_TOKEN, .byte = is_negated, .other = (uint32_t)id}, &out->first);
    out->last = out->first;
    return st;
}

static bool is_item(const parser *p)
{
    return is_more(p) && (strchr("\"[(.<!", p->s[p->at]) ? p->s[p->at] != '\0' : is_name_char(p->s[p->at]));
}

static myth_status read_item(parser *p, myth_gbnf_part *out)
{
    const uint32_t begin = p->at;
    uint32_t idx;
    bool has_none;
    switch (p->s[p->at]) {
    case '"': return read_text(p, out);
    case '[': return read_class(p, out);
    case '(': return read_group(p, out);
    case '<':
    case '!': return read_token(p, out);
    case '.': p->at++; return added(p, begin, myth_gbnf_add_class(p->g, NULL, 0, true, &has_none, out));
    default: break;
    }
    myth_status st = read_name(p, &idx);
    if (st == MYTH_OK && p->rule[idx].used_at == NONE)
        p->rule[idx].used_at = begin;
    if (st == MYTH_OK)
        st = add(p, (myth_gbnf_ins){.op = MYTH_GBNF_CALL, .other = idx}, &out->first);
    out->last = out->first;
    return st;
}

/* ---- repeats ---- */

static myth_status read_count(parser *p, uint32_t begin, uint32_t *out)
{
    const uint32_t from = p->at;
    *out = 0;
    for (; is_more(p) && p->s[p->at] >= '0' && p->s[p->at] <= '9'; p->at++) {
        *out = *out * 10 + (uint32_t)(p->s[p->at] - '0');
        if (*out > MYTH_GBNF_REPEAT)
            return fail_at(p, from, MYTH_ELIMIT, "more than %d repetitions", MYTH_GBNF_REPEAT);
    }
    if (p->at == from)
        return fail_at(p, is_more(p) ? from : begin, MYTH_EFORMAT, "expected a number: {m}, {m,} or {m,n}");
    skip_space(p, false);
    return MYTH_OK;
}

/* Behind a {. */
static myth_status read_counts(parser *p, uint32_t *min, uint32_t *max)
{
    const uint32_t begin = p->at++;
    skip_space(p, false);
    myth_status st = read_count(p, begin, min);
    *max = *min;
    if (st == MYTH_OK && is_at(p, ',')) {
        p->at++;
        skip_space(p, false);
        *max = MYTH_GBNF_NO_MAX;
        if (!is_at(p, '}'))
            st = read_count(p, begin, max);
    }
    if (st != MYTH_OK)
        return st;
    if (!is_at(p, '}'))
        return fail_at(p, is_more(p) ? p->at : begin, MYTH_EFORMAT, "expected the } of a repetition");
    if (*max < *min)
        return fail_at(p, begin, MYTH_EFORMAT, "at least %u repetitions and at most %u", *min, *max);
    p->at++;
    return MYTH_OK;
}

/* Makes *part a part that reads it min to max times. */
static myth_status repeat(parser *p, myth_gbnf_part *part, uint32_t min, uint32_t max)
{
    myth_gbnf *g = p->g;
    myth_status st;
    uint32_t split, end, ret;
    if (min == 1 && max == 1)
        return MYTH_OK;
    if (max > 1 && (max != MYTH_GBNF_NO_MAX || min > 1)) {
        if (g->n_loop > UINT16_MAX)
            return added(p, p->at, MYTH_GBNF_TOO_LARGE);
        if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_STAGING, "grammar rules", &g->loop, g->n_loop, &g->cap_loop))
            return no_memory(p);
        MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_RET}, &ret));
        g->ins[part->last].next = ret;
        MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_LOOP, .idx = (uint16_t)g->n_loop, .other = part->first}, &end));
        g->loop[g->n_loop++] = (myth_gbnf_loop){min, max};
        *part = (myth_gbnf_part){end, end};
        return MYTH_OK;
    }
    MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_JOIN}, &end));
    if (max == 0) {
        g->ins[part->last].next = end;
        *part = (myth_gbnf_part){end, end};
        return MYTH_OK;
    }
    MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_SPLIT, .next = part->first, .other = end}, &split));
    g->ins[part->last].next = max == 1 ? end : split;
    *part = (myth_gbnf_part){min == 0 ? split : part->first, end};
fail:
    return st;
}

static myth_status read_repeats(parser *p, myth_gbnf_part *part)
{
    for (;;) {
        uint32_t min = 0, max = MYTH_GBNF_NO_MAX;
        myth_status st = MYTH_OK;
        if (!is_more(p) || p->s[p->at] == '\0' || !strchr("?*+{", p->s[p->at]))
            return MYTH_OK;
        if (is_at(p, '{')) {
            st = read_counts(p, &min, &max);
        } else {
            min = is_at(p, '+');
            max = is_at(p, '?') ? 1 : max;
            p->at++;
        }
        if (st == MYTH_OK)
            st = repeat(p, part, min, max);
        if (st != MYTH_OK)
            return st;
    }
}

/* ---- sequences, rules ---- */

static myth_status read_sequence(parser *p, bool is_nested, myth_gbnf_part *out)
{
    myth_status st = nothing(p, out);
    while (st == MYTH_OK && is_item(p)) {
        myth_gbnf_part part;
        MYTH_TRY(read_item(p, &part));
        skip_space(p, is_nested);
        MYTH_TRY(read_repeats(p, &part));
        link_parts(p, out, part);
        skip_space(p, is_nested);
    }
    if (st == MYTH_OK && is_more(p) && p->s[p->at] && strchr("?*+{", p->s[p->at]))
        st = fail_at(p, p->at, MYTH_EFORMAT, "nothing stands before this %c", p->s[p->at]);
fail:
    return st;
}

static myth_status read_alternatives(parser *p, bool is_nested, myth_gbnf_part *out)
{
    myth_gbnf_part one;
    uint32_t first, end;
    myth_status st;
    MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_JOIN}, &end));
    MYTH_TRY(read_sequence(p, is_nested, &one));
    p->g->ins[one.last].next = end;
    first = one.first;
    while (is_at(p, '|')) {
        p->at++;
        skip_space(p, true);
        MYTH_TRY(read_sequence(p, is_nested, &one));
        p->g->ins[one.last].next = end;
        MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_SPLIT, .next = first, .other = one.first}, &first));
    }
    *out = (myth_gbnf_part){first, end};
fail:
    return st;
}

static myth_status read_rule(parser *p)
{
    const uint32_t begin = p->at;
    uint32_t idx, ret;
    myth_gbnf_part body;
    myth_status st;
    MYTH_TRY(read_name(p, &idx));
    if (p->rule[idx].at != NONE)
        return fail_at(p, begin, MYTH_EFORMAT, "rule \"%.*s\" is given twice", shown(&p->rule[idx]), p->rule[idx].name);
    p->rule[idx].at = begin;
    skip_space(p, false);
    if (p->n - p->at < 3 || memcmp(p->s + p->at, "::=", 3) != 0)
        return fail_at(p, is_more(p) ? p->at : begin, MYTH_EFORMAT, "expected ::= behind the name of a rule");
    p->at += 3;
    skip_space(p, true);
    MYTH_TRY(read_alternatives(p, false, &body));
    if (is_more(p) && p->s[p->at] != '\n' && p->s[p->at] != '\r')
        return fail_at(p, p->at, MYTH_EFORMAT, "expected an item, |, or the end of the line");
    MYTH_TRY(add(p, (myth_gbnf_ins){.op = MYTH_GBNF_RET}, &ret));
    p->g->ins[body.last].next = ret;
    p->rule[idx].start = body.first;
    skip_space(p, true);
fail:
    return st;
}

/* ---- the whole ---- */

static uint32_t behind_joins(myth_gbnf *g, uint32_t i)
{
    uint32_t end = i;
    while (g->ins[end].op == MYTH_GBNF_JOIN)
        end = g->ins[end].next;
    while (g->ins[i].op == MYTH_GBNF_JOIN) { /* so that a long chain is followed once */
        const uint32_t next = g->ins[i].next;
        g->ins[i].next = end;
        i = next;
    }
    return end;
}

/* Resolves names and joins. */
static myth_status bind(parser *p, uint32_t *root)
{
    static const char name[] = "root";
    myth_gbnf *g = p->g;
    const name_key key = {name, sizeof(name) - 1};
    for (size_t i = 0; i < p->n_rule; i++)
        if (p->rule[i].at == NONE)
            return fail_at(p, p->rule[i].used_at, MYTH_EFORMAT, "there is no rule \"%.*s\"", shown(&p->rule[i]),
                           p->rule[i].name);
    *root = *myth_table_find(p->slot, p->n_slot, myth_fnv1a(MYTH_FNV1A, key.s, key.n), is_rule, p->rule, &key);
    if (!*root)
        return myth_fail(p->err, MYTH_EFORMAT, "%.60s: there is no rule \"root\", which every grammar begins with",
                         p->path);
    --*root;
    for (size_t i = 0; i < p->n_rule; i++)
        p->rule[i].start = behind_joins(g, p->rule[i].start);
    for (size_t i = 0; i < g->n_ins; i++) {
        myth_gbnf_ins *ins = &g->ins[i];
        if (ins->op == MYTH_GBNF_RET || ins->op == MYTH_GBNF_JOIN)
            continue;
        ins->next = behind_joins(g, ins->next);
        if (ins->op == MYTH_GBNF_SPLIT || ins->op == MYTH_GBNF_LOOP)
            ins->other = behind_joins(g, ins->other);
    }
    g->start = p->rule[*root].start;
    return MYTH_OK;
}

/* What reading cannot see: rules that call themselves at once, and rules without an end. */
static myth_status check(parser *p, uint32_t root)
{
    uint32_t idx = 0;
    const myth_gbnf_fault fault = myth_gbnf_check(p->g, p->rule, (uint32_t)p->n_rule, root, &idx);
    const myth_gbnf_rule *r = &p->rule[idx];
    switch (fault) {
    case MYTH_GBNF_SOUND: return MYTH_OK;
    case MYTH_GBNF_UNCHECKED: return no_memory(p);
    case MYTH_GBNF_LEFT:
        return fail_at(p, r->at, MYTH_EFORMAT,
                       "rule \"%.*s\" can begin with itself (left recursion); write it as item rest*", shown(r),
                       r->name);
    case MYTH_GBNF_ENDLESS: break;
    }
    return fail_at(p, r->at, MYTH_EFORMAT, "rule \"%.*s\" never ends: no text of it can be finished", shown(r),
                   r->name);
}

static myth_status read_all(parser *p)
{
    uint32_t root;
    myth_status st;
    skip_space(p, true);
    while (is_more(p))
        MYTH_TRY(read_rule(p));
    MYTH_TRY(bind(p, &root));
    MYTH_TRY(check(p, root));
    myth_gbnf_classify(p->g);
fail:
    return st;
}

myth_status myth_gbnf_parse(myth_gbnf **out, myth_mem *mem, const char *text, size_t len, const char *name,
                            const myth_tokenizer *tok, myth_error *err)
{
    *out = NULL;
    if (len > MYTH_GBNF_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "%.60s: a grammar of %zu bytes; at most %d are read", name, len,
                         MYTH_GBNF_BYTES);
    myth_gbnf *g = myth_alloc(mem, MYTH_MEM_STAGING, "grammar rules", sizeof(*g));
    parser *p = g ? myth_alloc(mem, MYTH_MEM_STAGING, "grammar rules", sizeof(*p)) : NULL;
    if (!p) {
        myth_free(mem, g);
        return myth_fail(err, MYTH_ENOMEM, "%.100s: out of memory", name);
    }
    g->mem = mem;
    p->g = g;
    p->mem = mem;
    p->tok = tok;
    p->s = text;
    p->path = name;
    p->n = (uint32_t)len;
    p->err = err;
    p->n_slot = myth_table_slots(MYTH_GBNF_RULES);
    p->slot = myth_alloc_n(mem, MYTH_MEM_STAGING, "grammar rules", p->n_slot, sizeof(*p->slot));
    const myth_status st = p->slot ? read_all(p) : no_memory(p);
    myth_free(mem, p->slot);
    myth_free(mem, p->rule);
    myth_free(mem, p);
    if (st != MYTH_OK)
        myth_gbnf_close(g);
    else
        *out = g;
    return st;
}

void myth_gbnf_close(myth_gbnf *g)
{
    if (!g)
        return;
    myth_mem *mem = g->mem;
    myth_free(mem, g->loop);
    myth_free(mem, g->set);
    myth_free(mem, g->ins);
    myth_free(mem, g);
}

uint64_t myth_gbnf_bytes(const myth_gbnf *g)
{
    return sizeof(*g) + g->cap_ins * sizeof(*g->ins) + g->cap_set * sizeof(*g->set) + g->cap_loop * sizeof(*g->loop);
}
