/* json_schema_lengths.c - the strings of a pattern that have a number of characters: places of the pattern, at each of
 * which one character is read, and a rule for every place and length from which the bounds can be met.
 *
 * Rules     s<idx>-c<place> is a character, s<idx>-l<number> what may follow one that was the so manieth
 * Source    V. M. Glushkov, The abstract theory of automata, 1961 */
#include "json_schema_pattern.h"

#include <string.h>

#define ANY  MYTH_SCHEMA_ANY
#define NONE MYTH_REGEX_NONE

typedef myth_schema_pattern pattern;
typedef myth_schema_side side;

enum { PLACES = 128, LENGTH_MOST = 1 << 10, RULES = 1 << 11, CHOICES = 1 << 13 };

typedef struct {
    uint64_t bit[PLACES / 64];
} places;

/* A part of the pattern: where it may begin and end. */
typedef struct {
    bool is_empty; /* it may be left out */
    places first, last;
} span;

struct myth_schema_lengths {
    pattern *t;
    uint32_t n_place, node[PLACES]; /* of the characters; NONE = any */
    places follow[PLACES];
    span all;
    uint32_t min, max, n_level;   /* levels: lengths that are told apart, from 0 */
    bool *is_live;                /* [PLACES + 1, n_level] the bounds can be met from here; place 0 is the beginning */
    uint32_t *number;             /* [PLACES + 1, n_level] of its rule + 1; 0 = it has none */
    uint32_t todo[RULES], n_rule; /* places of is_live */
};

typedef myth_schema_lengths lengths;

static bool has(const places *s, uint32_t i) { return s->bit[i / 64] >> (i % 64) & 1; }

static void unite(places *a, const places *b)
{
    for (size_t i = 0; i < PLACES / 64; i++)
        a->bit[i] |= b->bit[i];
}

static myth_status too_large(const lengths *l)
{
    return myth_schema_fail(
        l->t->w, l->t->p, MYTH_EUNSUPPORTED,
        "minLength and maxLength beside a \"pattern\" that is too large for them; write them into it");
}

/* ---- places ---- */

static void lead(lengths *l, const places *from, const places *to)
{
    for (uint32_t i = 0; i < l->n_place; i++)
        if (has(from, i))
            unite(&l->follow[i], to);
}

/* Makes *a what it is and then b. */
static void put_behind(lengths *l, span *a, const span *b)
{
    lead(l, &a->last, &b->first);
    if (a->is_empty)
        unite(&a->first, &b->first);
    if (!b->is_empty)
        a->last = (places){{0}};
    unite(&a->last, &b->last);
    a->is_empty &= b->is_empty;
}

static myth_status add_place(lengths *l, uint32_t node, span *out)
{
    if (l->n_place == PLACES)
        return too_large(l);
    *out = (span){.is_empty = false};
    out->first.bit[l->n_place / 64] = UINT64_C(1) << (l->n_place % 64);
    out->last = out->first;
    l->node[l->n_place++] = node;
    return MYTH_OK;
}

/* Any text, behind what is there. */
static myth_status add_any(lengths *l, span *all)
{
    span any;
    const myth_status st = add_place(l, NONE, &any);
    if (st != MYTH_OK)
        return st;
    lead(l, &any.last, &any.first);
    any.is_empty = true;
    put_behind(l, all, &any);
    return MYTH_OK;
}

static myth_status add_node(lengths *l, uint32_t i, side left, side right, span *out);

static myth_status add_repeat(lengths *l, const myth_regex_node *n, span *all)
{
    const uint32_t turns = n->max != NONE ? n->max : n->min ? n->min : 1;
    for (uint32_t k = 0; k < turns; k++) {
        const uint32_t before = l->n_place;
        span one;
        const myth_status st = add_node(l, n->first, MYTH_SIDE_NODES, MYTH_SIDE_NODES, &one);
        if (st != MYTH_OK)
            return st;
        if (l->n_place == before) /* a turn of nothing, however often */
            break;
        if (n->max == NONE && k + 1 == turns)
            lead(l, &one.last, &one.first);
        one.is_empty |= k >= n->min;
        put_behind(l, all, &one);
    }
    return MYTH_OK;
}

static myth_status add_sequence(lengths *l, uint32_t i, side left, side right, span *all)
{
    uint32_t first, end;
    myth_status st = MYTH_OK;
    myth_schema_pattern_strip(l->t, i, &left, &right, &first, &end);
    if (first == NONE)
        return left == MYTH_SIDE_OPEN || right == MYTH_SIDE_OPEN ? add_any(l, all) : MYTH_OK;
    for (uint32_t k = first; k != end && st == MYTH_OK; k = l->t->tree.node[k].next) {
        span one;
        st = add_node(l, k, k == first ? left : MYTH_SIDE_NODES,
                      l->t->tree.node[k].next == end ? right : MYTH_SIDE_NODES, &one);
        if (st == MYTH_OK)
            put_behind(l, all, &one);
    }
    return st;
}

static myth_status add_choice(lengths *l, const myth_regex_node *n, side left, side right, span *all)
{
    *all = (span){.is_empty = false};
    for (uint32_t k = n->first; k != NONE; k = l->t->tree.node[k].next) {
        span one;
        const myth_status st = add_node(l, k, left, right, &one);
        if (st != MYTH_OK)
            return st;
        unite(&all->first, &one.first);
        unite(&all->last, &one.last);
        all->is_empty |= one.is_empty;
    }
    return MYTH_OK;
}

static myth_status add_node(lengths *l, uint32_t i, side left, side right, span *out)
{
    const myth_regex_node *n = &l->t->tree.node[i];
    const bool has_sides = n->kind == MYTH_REGEX_CHARS || n->kind == MYTH_REGEX_REPEAT;
    span one;
    myth_status st = MYTH_OK;
    *out = (span){.is_empty = true};
    if (has_sides && left == MYTH_SIDE_OPEN)
        MYTH_TRY(add_any(l, out));
    switch (n->kind) {
    case MYTH_REGEX_BEGIN:
    case MYTH_REGEX_END: return myth_schema_pattern_stray(l->t, i);
    case MYTH_REGEX_REPEAT: MYTH_TRY(add_repeat(l, n, out)); break;
    case MYTH_REGEX_SEQUENCE: return add_sequence(l, i, left, right, out);
    case MYTH_REGEX_CHOICE: return add_choice(l, n, left, right, out);
    case MYTH_REGEX_CHARS:
        MYTH_TRY(add_place(l, i, &one));
        put_behind(l, out, &one);
        break;
    }
    if (has_sides && right == MYTH_SIDE_OPEN)
        MYTH_TRY(add_any(l, out));
fail:
    return st;
}

/* ---- lengths ---- */

static size_t cell(const lengths *l, uint32_t place, uint32_t level) { return (size_t)place * l->n_level + level; }

/* The level behind one more character; n_level: it is too long. */
static uint32_t next_level(const lengths *l, uint32_t level)
{
    return level + 1 < l->n_level || l->max != ANY ? level + 1 : level;
}

static const places *behind(const lengths *l, uint32_t place) { return place ? &l->follow[place - 1] : &l->all.first; }

static bool may_end(const lengths *l, uint32_t place, uint32_t level)
{
    return level >= l->min && (place ? has(&l->all.last, place - 1) : l->all.is_empty);
}

/* From the longest to the shortest; every place leads to the end, so the last of open lengths is live. */
static void find_live(lengths *l)
{
    for (uint32_t level = l->n_level; level-- > 0;)
        for (uint32_t place = 0; place <= l->n_place; place++) {
            const uint32_t next = next_level(l, level);
            bool is = may_end(l, place, level) || (place && next == level);
            for (uint32_t q = 0; q < l->n_place && next < l->n_level && !is; q++)
                is = has(behind(l, place), q) && l->is_live[cell(l, q + 1, next)];
            l->is_live[cell(l, place, level)] = is;
        }
}

myth_status myth_schema_open_lengths(lengths **out, pattern *t, uint32_t min, uint32_t max)
{
    myth_mem *mem = t->w->mem;
    const uint32_t most = max == ANY ? min : max;
    lengths *l = myth_alloc(mem, MYTH_MEM_STAGING, "schema's lengths", sizeof(*l));
    *out = l;
    if (!l)
        return myth_schema_no_memory(t->w);
    *l = (lengths){.t = t, .min = min, .max = max, .n_level = most + 1};
    if (most > LENGTH_MOST)
        return too_large(l);
    const myth_status st = add_node(l, 0, MYTH_SIDE_OPEN, MYTH_SIDE_OPEN, &l->all);
    if (st != MYTH_OK)
        return st;
    const size_t n = (size_t)(l->n_place + 1) * l->n_level;
    l->is_live = myth_alloc_n(mem, MYTH_MEM_STAGING, "schema's lengths", n, sizeof(*l->is_live));
    l->number = myth_alloc_n(mem, MYTH_MEM_STAGING, "schema's lengths", n, sizeof(*l->number));
    if (!l->is_live || !l->number)
        return myth_schema_no_memory(t->w);
    memset(l->number, 0, n * sizeof(*l->number));
    find_live(l);
    if (!l->is_live[0])
        return myth_schema_fail(t->w, t->p, MYTH_EFORMAT, "no string of the \"pattern\" has such a length");
    myth_schema_putf(t->w, "s%zu-l0", t->idx);
    return MYTH_OK;
}

/* Rule of a place and a level, which is written later where it is new; false: there are too many. */
static bool put_rule_name(lengths *l, uint32_t place, uint32_t level)
{
    uint32_t *number = &l->number[cell(l, place, level)];
    if (!*number) {
        if (l->n_rule == RULES)
            return false;
        l->todo[l->n_rule] = place * l->n_level + level;
        *number = ++l->n_rule;
    }
    myth_schema_putf(l->t->w, " s%zu-l%u", l->t->idx, (unsigned)(*number - 1));
    return true;
}

myth_status myth_schema_put_lengths(lengths *l)
{
    myth_schema_writer *w = l->t->w;
    uint32_t n_choice = 0;
    for (uint32_t q = 0; q < l->n_place; q++) {
        const myth_regex_node *n = l->node[q] == NONE ? NULL : &l->t->tree.node[l->node[q]];
        myth_schema_putf(w, "\ns%zu-c%u ::= ", l->t->idx, (unsigned)q);
        if (!n)
            myth_schema_put(w, "any");
        else if (!myth_schema_put_chars(w, l->t->tree.range + n->range, n->n_range))
            return myth_schema_pattern_fail(l->t, n->at, MYTH_EUNSUPPORTED, MYTH_SCHEMA_NOT_IN_CALLS);
    }
    l->todo[0] = 0;
    l->number[0] = l->n_rule = 1;
    for (uint32_t i = 0; i < l->n_rule; i++) {
        const uint32_t place = l->todo[i] / l->n_level, level = l->todo[i] % l->n_level, next = next_level(l, level);
        bool has_one = may_end(l, place, level);
        myth_schema_putf(w, "\ns%zu-l%u ::= %s", l->t->idx, (unsigned)i, has_one ? "\"\"" : "");
        for (uint32_t q = 0; q < l->n_place && next < l->n_level; q++) {
            if (!has(behind(l, place), q) || !l->is_live[cell(l, q + 1, next)])
                continue;
            myth_schema_putf(w, "%ss%zu-c%u", has_one ? " | " : "", l->t->idx, (unsigned)q);
            if (++n_choice > CHOICES || !put_rule_name(l, q + 1, next))
                return too_large(l);
            has_one = true;
        }
    }
    return MYTH_OK;
}

void myth_schema_close_lengths(lengths *l)
{
    if (!l)
        return;
    myth_mem *mem = l->t->w->mem;
    myth_free(mem, l->number);
    myth_free(mem, l->is_live);
    myth_free(mem, l);
}
