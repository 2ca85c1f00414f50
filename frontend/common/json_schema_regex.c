/* json_schema_regex.c - a pattern, read by descent into nodes that name their first and their next one. */
#include "json_schema_regex.h"

#include "engine/base/array.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"
#include "engine/text/gbnf.h"

#include <stdlib.h>

enum { LAST_CHAR = 0x10ffff, SURROGATE = 0xd800, SURROGATE_END = 0xdfff, CLASS_RANGES = 400 };
#define NONE MYTH_REGEX_NONE

typedef myth_regex_chars chars;

static const chars digits[] = {{'0', '9'}}, word[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
                   space[] = {{'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                              {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}},
                   line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

typedef struct {
    myth_regex_tree *t;
    const char *s;
    size_t n, i;
    int depth;
} parser;

static myth_status fail_at(parser *p, size_t at, myth_status code, const char *why)
{
    p->t->at = (uint32_t)at + 1;
    p->t->why = why;
    return code;
}

static bool is_at(const parser *p, char c) { return p->i < p->n && p->s[p->i] == c; }
static bool is_next(const parser *p, const char *text)
{
    const size_t n = strlen(text);
    return p->n - p->i >= n && memcmp(p->s + p->i, text, n) == 0;
}

/* ---- ranges ---- */

static int by_lo(const void *a, const void *b)
{
    const chars *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

size_t myth_regex_sort(chars *r, size_t n)
{
    size_t out = 0;
    for (size_t i = 0, had = n; i < had; i++) { /* a range around the surrogates is two */
        if (r[i].lo < SURROGATE && r[i].hi > SURROGATE_END) {
            r[n++] = (chars){SURROGATE_END + 1, r[i].hi};
            r[i].hi = SURROGATE - 1;
        } else if (r[i].lo < SURROGATE && r[i].hi >= SURROGATE) {
            r[i].hi = SURROGATE - 1;
        } else if (r[i].lo >= SURROGATE && r[i].lo <= SURROGATE_END) {
            r[i].lo = SURROGATE_END + 1; /* of nothing else: its end is before its beginning */
        }
    }
    if (n)
        qsort(r, n, sizeof(*r), by_lo);
    for (size_t i = 0; i < n; i++) {
        if (r[i].hi < r[i].lo)
            continue;
        if (out && r[i].lo <= r[out - 1].hi + 1) {
            r[out - 1].hi = r[i].hi > r[out - 1].hi ? r[i].hi : r[out - 1].hi;
            continue;
        }
        r[out++] = r[i];
    }
    return out;
}

size_t myth_regex_others(chars *out, const chars *r, size_t n)
{
    size_t n_out = 0;
    uint32_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        const uint32_t to = i < n ? r[i].lo : LAST_CHAR + 1;
        if (from < to && from < SURROGATE && to > SURROGATE_END + 1) {
            out[n_out++] = (chars){from, SURROGATE - 1};
            out[n_out++] = (chars){SURROGATE_END + 1, to - 1};
        } else if (from < to && !(from >= SURROGATE && to <= SURROGATE_END + 1)) {
            out[n_out++] = (chars){from, to - 1};
        }
        from = i < n ? r[i].hi + 1 : from;
    }
    return n_out;
}

/* ---- nodes ---- */

static myth_status add(parser *p, myth_regex_kind kind, size_t at, uint32_t *out)
{
    myth_regex_tree *t = p->t;
    if (t->n_node == MYTH_REGEX_NODES)
        return fail_at(p, at, MYTH_ELIMIT, "the pattern is too long from here on");
    if (!MYTH_ARRAY_ROOM(t->mem, MYTH_MEM_STAGING, "pattern", &t->node, t->n_node, &t->cap_node))
        return MYTH_ENOMEM;
    *out = (uint32_t)t->n_node;
    t->node[t->n_node++] =
        (myth_regex_node){.kind = kind, .at = (uint32_t)at + 1, .first = NONE, .last = NONE, .next = NONE};
    return MYTH_OK;
}

/* Puts a node behind the others of `of`. */
static void join(myth_regex_tree *t, uint32_t of, uint32_t node)
{
    myth_regex_node *o = &t->node[of];
    if (o->first == NONE)
        o->first = node;
    else
        t->node[o->last].next = node;
    o->last = node;
    o->has_anchor |= t->node[node].has_anchor;
}

/* A node of these characters, or of all others. */
static myth_status add_chars(parser *p, size_t at, const chars *r, size_t n, bool is_negated, uint32_t *out)
{
    myth_regex_tree *t = p->t;
    chars sorted[2 * CLASS_RANGES + 2], others[2 * CLASS_RANGES + 4];
    if (n)
        memcpy(sorted, r, n * sizeof(*r));
    n = myth_regex_sort(sorted, n);
    const chars *of = sorted;
    if (is_negated) {
        n = myth_regex_others(others, sorted, n);
        of = others;
    }
    if (n == 0)
        return fail_at(p, at, MYTH_EUNSUPPORTED, "no character is in this");
    if (t->n_range + n > MYTH_REGEX_RANGES)
        return fail_at(p, at, MYTH_ELIMIT, "the pattern has too many classes of characters");
    const myth_status st = add(p, MYTH_REGEX_CHARS, at, out);
    if (st != MYTH_OK)
        return st;
    if (!MYTH_ARRAY_MORE(t->mem, MYTH_MEM_STAGING, "pattern", &t->range, t->n_range, n, &t->cap_range))
        return MYTH_ENOMEM;
    memcpy(t->range + t->n_range, of, n * sizeof(*of));
    t->node[*out].range = (uint32_t)t->n_range;
    t->node[*out].n_range = (uint32_t)n;
    t->n_range += n;
    return MYTH_OK;
}

/* ---- escapes ---- */

static myth_status read_hex(parser *p, size_t at, uint32_t n, uint32_t *out)
{
    *out = 0;
    for (uint32_t k = 0; k < n; k++, p->i++) {
        const int h = p->i < p->n ? myth_hex_digit(p->s[p->i]) : -1;
        if (h < 0)
            return fail_at(p, at, MYTH_EFORMAT, n == 2 ? "\\x needs 2 hexadecimal digits" : "\\u needs 4 hex digits");
        *out = *out << 4 | (uint32_t)h;
    }
    return MYTH_OK;
}

/* Behind \u: 4 digits, two such of a pair of surrogates, or {digits}. */
static myth_status read_unicode(parser *p, size_t at, uint32_t *out)
{
    uint32_t low;
    if (is_at(p, '{')) {
        *out = 0;
        for (p->i++; p->i < p->n && myth_hex_digit(p->s[p->i]) >= 0 && *out <= LAST_CHAR; p->i++)
            *out = *out << 4 | (uint32_t)myth_hex_digit(p->s[p->i]);
        if (!is_at(p, '}') || p->s[p->i - 1] == '{' || *out > LAST_CHAR)
            return fail_at(p, at, MYTH_EFORMAT, "\\u{...} needs the hexadecimal digits of a character");
        p->i++;
        return MYTH_OK;
    }
    myth_status st = read_hex(p, at, 4, out);
    if (st != MYTH_OK || *out < SURROGATE || *out > SURROGATE + 0x3ff || !is_next(p, "\\u"))
        return st;
    const size_t back = p->i;
    p->i += 2;
    st = read_hex(p, at, 4, &low);
    if (st == MYTH_OK && low >= SURROGATE + 0x400 && low <= SURROGATE_END)
        *out = 0x10000 + ((*out - SURROGATE) << 10) + (low - SURROGATE - 0x400);
    else
        p->i = back;
    return st;
}

typedef struct {
    const chars *set; /* NULL: the one character cp */
    size_t n;
    bool is_negated;
    uint32_t cp;
} escape;

/* Behind a \. */
static myth_status read_escape(parser *p, bool in_class, escape *out)
{
    static const char letters[] = "tnvfr", meant[] = "\t\n\v\f\r";
    const size_t at = p->i - 1;
    const char c = p->i < p->n ? p->s[p->i] : '\0';
    const char *const letter = c ? strchr(letters, c) : NULL;
    *out = (escape){.cp = (unsigned char)c};
    if (p->i >= p->n)
        return fail_at(p, at, MYTH_EFORMAT, "a \\ with nothing behind it");
    p->i++;
    if (letter)
        out->cp = (unsigned char)meant[letter - letters];
    else if (c == 'd' || c == 'D')
        *out = (escape){digits, sizeof(digits) / sizeof(digits[0]), c == 'D', 0};
    else if (c == 'w' || c == 'W')
        *out = (escape){word, sizeof(word) / sizeof(word[0]), c == 'W', 0};
    else if (c == 's' || c == 'S')
        *out = (escape){space, sizeof(space) / sizeof(space[0]), c == 'S', 0};
    else if (c == 'b' && in_class)
        out->cp = '\b';
    else if (c == 'b' || c == 'B')
        return fail_at(p, at, MYTH_EUNSUPPORTED, "\\b and \\B, edges of words, are not supported");
    else if (c == 'x')
        return read_hex(p, at, 2, &out->cp);
    else if (c == 'u')
        return read_unicode(p, at, &out->cp);
    else if (c == 'c' && p->i < p->n && ((p->s[p->i] | 32) >= 'a' && (p->s[p->i] | 32) <= 'z'))
        out->cp = (unsigned char)p->s[p->i++] & 31;
    else if (c == '0' && !(p->i < p->n && p->s[p->i] >= '0' && p->s[p->i] <= '9'))
        out->cp = 0;
    else if (c == 'k' || (c >= '0' && c <= '9'))
        return fail_at(p, at, MYTH_EUNSUPPORTED, "a reference back to a group is not supported");
    else if (c == 'p' || c == 'P')
        return fail_at(p, at, MYTH_EUNSUPPORTED, "\\p, properties of characters, are not supported; write [...]");
    else if ((unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\0')
        return fail_at(p, at, MYTH_EFORMAT, "an escape that does not exist");
    return MYTH_OK;
}

/* ---- classes ---- */

/* One character, or a set such as \d. */
static myth_status read_member(parser *p, bool in_class, escape *out)
{
    if (is_at(p, '\\')) {
        p->i++;
        return read_escape(p, in_class, out);
    }
    *out = (escape){.set = NULL};
    const int n = myth_utf8_decode((const unsigned char *)p->s + p->i, p->n - p->i, &out->cp);
    if (n == 0)
        return fail_at(p, p->i, MYTH_EFORMAT, "not UTF-8");
    p->i += (size_t)n;
    return MYTH_OK;
}

static myth_status read_class(parser *p, uint32_t *out)
{
    chars r[CLASS_RANGES], others[CLASS_RANGES];
    const size_t begin = p->i++;
    const bool is_negated = is_at(p, '^');
    size_t n = 0;
    p->i += is_negated;
    while (!is_at(p, ']')) {
        const size_t at = p->i;
        escape low, high;
        if (p->i >= p->n)
            return fail_at(p, begin, MYTH_EFORMAT, "a class without its closing ]");
        myth_status st = read_member(p, true, &low);
        high = low;
        if (st == MYTH_OK && is_at(p, '-') && p->i + 1 < p->n && p->s[p->i + 1] != ']') {
            p->i++;
            st = read_member(p, true, &high);
            if (st == MYTH_OK && (low.set || high.set))
                return fail_at(p, at, MYTH_EFORMAT, "a range from or to a set of characters; write \\- for the sign");
            if (st == MYTH_OK && high.cp < low.cp)
                return fail_at(p, at, MYTH_EFORMAT, "a range whose end comes before its beginning");
        }
        if (st != MYTH_OK)
            return st;
        const chars one = {low.cp, high.cp}, *set = low.set ? low.set : &one;
        size_t n_set = low.set ? low.n : 1;
        if (low.is_negated) {
            n_set = myth_regex_others(others, set, n_set);
            set = others;
        }
        if (n + n_set > CLASS_RANGES)
            return fail_at(p, begin, MYTH_ELIMIT, "a class of too many ranges");
        memcpy(r + n, set, n_set * sizeof(*set));
        n += n_set;
    }
    p->i++;
    return add_chars(p, begin, r, n, is_negated, out);
}

/* ---- items ---- */

static myth_status read_choice(parser *p, uint32_t *out);

static myth_status read_group(parser *p, uint32_t *out)
{
    const size_t begin = p->i++;
    if (is_next(p, "?=") || is_next(p, "?!") || is_next(p, "?<=") || is_next(p, "?<!"))
        return fail_at(p, begin, MYTH_EUNSUPPORTED, "a look ahead or behind is not supported");
    if (is_next(p, "?:")) {
        p->i += 2;
    } else if (is_next(p, "?<")) {
        while (p->i < p->n && p->s[p->i] != '>')
            p->i++;
        if (p->i >= p->n)
            return fail_at(p, begin, MYTH_EFORMAT, "the name of a group without its closing >");
        p->i++;
    } else if (is_at(p, '?')) {
        return fail_at(p, begin, MYTH_EUNSUPPORTED, "flags of a group are not supported");
    }
    if (p->depth == MYTH_REGEX_DEPTH)
        return fail_at(p, begin, MYTH_ELIMIT, "too many brackets inside each other");
    p->depth++;
    const myth_status st = read_choice(p, out);
    p->depth--;
    if (st != MYTH_OK)
        return st;
    if (!is_at(p, ')'))
        return fail_at(p, begin, MYTH_EFORMAT, "a group without its closing )");
    p->i++;
    return MYTH_OK;
}

static myth_status read_item(parser *p, uint32_t *out)
{
    const size_t at = p->i;
    const char c = p->s[at];
    escape e;
    if (c == '(')
        return read_group(p, out);
    if (c == '[')
        return read_class(p, out);
    if (c == '^' || c == '$') {
        const myth_status st = add(p, c == '^' ? MYTH_REGEX_BEGIN : MYTH_REGEX_END, at, out);
        p->i++;
        if (st == MYTH_OK)
            p->t->node[*out].has_anchor = true;
        return st;
    }
    if (strchr("*+?{", c) && c)
        return fail_at(p, at, MYTH_EFORMAT, c == '{' ? "a { that repeats nothing; write \\{" : "a repeat of nothing");
    if (c == '.') {
        p->i++;
        return add_chars(p, at, line_ends, sizeof(line_ends) / sizeof(line_ends[0]), true, out);
    }
    const myth_status st = read_member(p, false, &e);
    if (st != MYTH_OK)
        return st;
    const chars one = {e.cp, e.cp};
    return add_chars(p, at, e.set ? e.set : &one, e.set ? e.n : 1, e.is_negated, out);
}

/* ---- repeats ---- */

static bool read_count(parser *p, uint32_t *out)
{
    const size_t from = p->i;
    for (*out = 0; p->i < p->n && p->s[p->i] >= '0' && p->s[p->i] <= '9'; p->i++)
        *out = *out > MYTH_GBNF_REPEAT ? *out : *out * 10 + (uint32_t)(p->s[p->i] - '0');
    return p->i > from;
}

/* The repeat that follows, if one does. */
static myth_status read_repeat(parser *p, uint32_t *min, uint32_t *max, bool *is_one)
{
    const size_t at = p->i;
    *is_one = p->i < p->n && p->s[p->i] && strchr("*+?{", p->s[p->i]);
    if (!*is_one)
        return MYTH_OK;
    const char c = p->s[p->i++];
    *min = c == '+';
    *max = c == '?' ? 1 : NONE;
    if (c == '{') {
        bool is_read = read_count(p, min);
        *max = *min;
        if (is_read && is_at(p, ',')) {
            p->i++;
            *max = NONE;
            is_read = is_at(p, '}') || read_count(p, max);
        }
        if (!is_read || !is_at(p, '}'))
            return fail_at(p, at, MYTH_EFORMAT, "expected {m}, {m,} or {m,n}; write \\{ for the sign");
        p->i++;
        if (*min > MYTH_GBNF_REPEAT || (*max != NONE && *max > MYTH_GBNF_REPEAT))
            return fail_at(p, at, MYTH_ELIMIT, "more than 1048576 repeats");
        if (*max < *min)
            return fail_at(p, at, MYTH_EFORMAT, "a repeat of at least more than at most");
    }
    p->i += is_at(p, '?'); /* which of the ways to match is taken says nothing about what matches */
    return MYTH_OK;
}

static myth_status read_sequence(parser *p, uint32_t *out)
{
    uint32_t item, min, max;
    bool is_one;
    myth_status st;
    MYTH_TRY(add(p, MYTH_REGEX_SEQUENCE, p->i, out));
    while (p->i < p->n && p->s[p->i] != '|' && p->s[p->i] != ')') {
        const size_t at = p->i;
        MYTH_TRY(read_item(p, &item));
        MYTH_TRY(read_repeat(p, &min, &max, &is_one));
        if (is_one) {
            uint32_t repeat;
            if (p->t->node[item].has_anchor)
                MYTH_TRY(fail_at(p, at, MYTH_EUNSUPPORTED, "a ^ or $ in a repeat is not supported"));
            MYTH_TRY(add(p, MYTH_REGEX_REPEAT, at, &repeat));
            p->t->node[repeat].min = min;
            p->t->node[repeat].max = max;
            join(p->t, repeat, item);
            item = repeat;
        }
        join(p->t, *out, item);
    }
fail:
    return st;
}

static myth_status read_choice(parser *p, uint32_t *out)
{
    uint32_t one;
    myth_status st;
    MYTH_TRY(add(p, MYTH_REGEX_CHOICE, p->i, out));
    for (;;) {
        MYTH_TRY(read_sequence(p, &one));
        join(p->t, *out, one);
        if (!is_at(p, '|'))
            break;
        p->i++;
    }
fail:
    return st;
}

myth_status myth_regex_tree_open(myth_regex_tree *t, myth_mem *mem, const char *s, size_t n)
{
    parser p = {.t = t, .s = s, .n = n};
    uint32_t top;
    *t = (myth_regex_tree){.mem = mem, .why = "out of memory"};
    const myth_status st = read_choice(&p, &top);
    return st == MYTH_OK && p.i < n ? fail_at(&p, p.i, MYTH_EFORMAT, "a ) that closes nothing") : st;
}

void myth_regex_tree_close(myth_regex_tree *t)
{
    myth_free(t->mem, t->node);
    myth_free(t->mem, t->range);
}
