/* json_schema_pattern.c - a pattern as a part of a grammar: its tree, with any text at the sides that are open. */
#include "json_schema_pattern.h"

#define ANY  MYTH_SCHEMA_ANY
#define NONE MYTH_REGEX_NONE

typedef myth_schema_writer writer;
typedef myth_schema_part part;
typedef myth_schema_pattern pattern;
typedef myth_schema_side side;

myth_status myth_schema_pattern_fail(const pattern *t, uint32_t at, myth_status code, const char *why)
{
    return code == MYTH_ENOMEM ? myth_schema_no_memory(t->w)
                               : myth_schema_fail(t->w, t->p, code, "\"pattern\", character %u: %s", (unsigned)at, why);
}

myth_status myth_schema_pattern_stray(const pattern *t, uint32_t node)
{
    const myth_regex_node *n = &t->tree.node[node];
    return myth_schema_pattern_fail(t, n->at, MYTH_EUNSUPPORTED,
                                    n->kind == MYTH_REGEX_BEGIN ? "a ^ that does not begin the text"
                                                                : "a $ that does not end the text");
}

static void put_any(const pattern *t)
{
    myth_schema_put(t->w, " any");
    myth_schema_put_repeat(t->w, t->min_any, t->max_any);
    myth_schema_put(t->w, " ");
}

static bool is_kind(const pattern *t, uint32_t i, myth_regex_kind kind) { return t->tree.node[i].kind == kind; }

void myth_schema_pattern_strip(const pattern *t, uint32_t i, side *left, side *right, uint32_t *first, uint32_t *end)
{
    *first = t->tree.node[i].first;
    *end = NONE;
    while (*left != MYTH_SIDE_NODES && *first != NONE && is_kind(t, *first, MYTH_REGEX_BEGIN)) {
        *left = MYTH_SIDE_NOTHING;
        *first = t->tree.node[*first].next;
    }
    if (*right == MYTH_SIDE_NODES)
        return;
    for (uint32_t k = *first, anchors = NONE; k != NONE; k = t->tree.node[k].next) {
        if (!is_kind(t, k, MYTH_REGEX_END))
            anchors = NONE;
        else if (anchors == NONE)
            anchors = k;
        *end = anchors;
    }
    if (*end != NONE)
        *right = MYTH_SIDE_NOTHING;
    if (*first == *end) /* nothing is left: one any text is both sides' */
        *first = *end = NONE;
}

static myth_status put_node(pattern *t, uint32_t i, side left, side right);

static myth_status put_sequence(pattern *t, uint32_t i, side left, side right)
{
    uint32_t first, end;
    myth_status st = MYTH_OK;
    myth_schema_pattern_strip(t, i, &left, &right, &first, &end);
    if (first == NONE) {
        if (left == MYTH_SIDE_OPEN || right == MYTH_SIDE_OPEN)
            put_any(t);
        else
            myth_schema_put(t->w, "\"\"");
        return MYTH_OK;
    }
    for (uint32_t k = first; k != end && st == MYTH_OK; k = t->tree.node[k].next) {
        const bool is_last = t->tree.node[k].next == end;
        myth_schema_put(t->w, k == first ? "" : " ");
        st = put_node(t, k, k == first ? left : MYTH_SIDE_NODES, is_last ? right : MYTH_SIDE_NODES);
    }
    return st;
}

static myth_status put_inner(pattern *t, uint32_t i, side left, side right)
{
    const myth_regex_node *n = &t->tree.node[i];
    myth_status st = MYTH_OK;
    switch (n->kind) {
    case MYTH_REGEX_CHARS:
        return myth_schema_put_chars(t->w, t->tree.range + n->range, n->n_range)
                 ? MYTH_OK
                 : myth_schema_pattern_fail(t, n->at, MYTH_EUNSUPPORTED, MYTH_SCHEMA_NOT_IN_CALLS);
    case MYTH_REGEX_BEGIN:
    case MYTH_REGEX_END: return myth_schema_pattern_stray(t, i);
    case MYTH_REGEX_REPEAT:
        st = put_node(t, n->first, MYTH_SIDE_NODES, MYTH_SIDE_NODES);
        myth_schema_put_repeat(t->w, n->min, n->max);
        return st;
    case MYTH_REGEX_SEQUENCE: return put_sequence(t, i, left, right);
    case MYTH_REGEX_CHOICE: break;
    }
    myth_schema_put(t->w, "(");
    for (uint32_t k = n->first; k != NONE && st == MYTH_OK; k = t->tree.node[k].next) {
        myth_schema_put(t->w, k == n->first ? "" : " | ");
        st = put_node(t, k, left, right);
    }
    myth_schema_put(t->w, ")");
    return st;
}

/* Any text stands beside characters and repeats; choices and sequences hand their sides on. */
static myth_status put_node(pattern *t, uint32_t i, side left, side right)
{
    const bool has_sides = is_kind(t, i, MYTH_REGEX_CHARS) || is_kind(t, i, MYTH_REGEX_REPEAT);
    if (has_sides && left == MYTH_SIDE_OPEN)
        put_any(t);
    const myth_status st = put_inner(t, i, left, right);
    if (has_sides && right == MYTH_SIDE_OPEN && st == MYTH_OK)
        put_any(t);
    return st;
}

/* ---- lengths of a pattern ---- */

typedef struct {
    uint64_t min, max; /* characters; max UINT64_MAX = any number */
} length;

static uint64_t times(uint64_t a, uint32_t n)
{
    if (a == 0 || n == 0)
        return 0;
    return n == NONE || a > UINT32_MAX ? UINT64_MAX : a * n > UINT32_MAX ? UINT64_MAX : a * n;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT32_MAX || b > UINT32_MAX ? UINT64_MAX : a + b; }

static length length_of(const pattern *t, uint32_t i, side left, side right)
{
    static const length open = {0, UINT64_MAX};
    const myth_regex_node *n = &t->tree.node[i];
    length all = {0, 0};
    uint32_t first, end;
    switch (n->kind) {
    case MYTH_REGEX_BEGIN:
    case MYTH_REGEX_END: return all;
    case MYTH_REGEX_CHARS: all = (length){1, 1}; break;
    case MYTH_REGEX_REPEAT: {
        const length one = length_of(t, n->first, MYTH_SIDE_NODES, MYTH_SIDE_NODES);
        all = (length){times(one.min, n->min), times(one.max, n->max)};
        break;
    }
    case MYTH_REGEX_SEQUENCE:
        myth_schema_pattern_strip(t, i, &left, &right, &first, &end);
        if (first == NONE)
            return left == MYTH_SIDE_OPEN || right == MYTH_SIDE_OPEN ? open : all;
        for (uint32_t k = first; k != end; k = t->tree.node[k].next) {
            const length one = length_of(t, k, k == first ? left : MYTH_SIDE_NODES,
                                         t->tree.node[k].next == end ? right : MYTH_SIDE_NODES);
            all = (length){plus(all.min, one.min), plus(all.max, one.max)};
        }
        return all;
    case MYTH_REGEX_CHOICE:
        for (uint32_t k = n->first; k != NONE; k = t->tree.node[k].next) {
            const length one = length_of(t, k, left, right);
            all.min = k == n->first || one.min < all.min ? one.min : all.min;
            all.max = one.max > all.max ? one.max : all.max;
        }
        return all;
    }
    if (left == MYTH_SIDE_OPEN || right == MYTH_SIDE_OPEN)
        all.max = UINT64_MAX;
    return all;
}

/* Turns of k characters each that, with n beside them, make min to max; false: none. */
static bool bound_turns(uint32_t *least, uint32_t *most, uint64_t k, uint64_t n, uint32_t min, uint32_t max)
{
    const uint64_t low = min > n ? (min - n + k - 1) / k : 0, high = max == ANY ? UINT64_MAX : (max - n) / k;
    if (max != ANY && n > max)
        return false;
    *least = low > *least ? (uint32_t)low : *least;
    if (high != UINT64_MAX && (*most == NONE || high < *most))
        *most = (uint32_t)high;
    return *most == NONE || *least <= *most;
}

/* Bounds of length beside a pattern: whether it keeps them itself, or one repeat in it can keep them, all else being of
 * one length. */
static myth_status hold_lengths(pattern *t, uint32_t min, uint32_t max, bool *are_held)
{
    const length all = length_of(t, 0, MYTH_SIDE_OPEN, MYTH_SIDE_OPEN);
    const uint32_t sequence = t->tree.node[0].first;
    side left = MYTH_SIDE_OPEN, right = MYTH_SIDE_OPEN;
    uint32_t first, end, n_varies = 0, varies = NONE;
    uint64_t n_fixed = 0;
    *are_held = all.min >= min && (max == ANY || all.max <= max);
    if (*are_held)
        return MYTH_OK;
    myth_schema_pattern_strip(t, sequence, &left, &right, &first, &end);
    bool is_known = t->tree.node[sequence].next == NONE;
    for (uint32_t k = first; k != end && is_known; k = t->tree.node[k].next) {
        const length one = length_of(t, k, MYTH_SIDE_NODES, MYTH_SIDE_NODES);
        is_known = !t->tree.node[k].has_anchor;
        if (one.min == one.max)
            n_fixed = plus(n_fixed, one.min);
        else if (n_varies++ == 0)
            varies = k;
    }
    const bool are_open = left == MYTH_SIDE_OPEN && right == MYTH_SIDE_OPEN;
    n_varies += are_open && first != NONE ? 2 : left == MYTH_SIDE_OPEN || right == MYTH_SIDE_OPEN;
    is_known = is_known && n_varies == 1 && (varies == NONE || is_kind(t, varies, MYTH_REGEX_REPEAT));
    const length turn = is_known && varies != NONE
                          ? length_of(t, t->tree.node[varies].first, MYTH_SIDE_NODES, MYTH_SIDE_NODES)
                          : (length){1, 1};
    *are_held = is_known && turn.min == turn.max;
    if (!*are_held)
        return MYTH_OK;
    const bool is_some =
        varies == NONE ? bound_turns(&t->min_any, &t->max_any, 1, n_fixed, min, max)
                       : bound_turns(&t->tree.node[varies].min, &t->tree.node[varies].max, turn.min, n_fixed, min, max);
    return is_some ? MYTH_OK
                   : myth_schema_fail(t->w, t->p, MYTH_EFORMAT, "no string of the \"pattern\" has such a length");
}

myth_status myth_schema_put_pattern(writer *w, const part *p, size_t idx, const json_t *text, const char *quote,
                                    uint32_t min, uint32_t max)
{
    pattern t = {.w = w, .p = p, .idx = idx, .max_any = ANY};
    myth_schema_lengths *lengths = NULL;
    bool are_held = true;
    if (!json_is_string(text))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"pattern\": expected a string");
    myth_status st = myth_regex_tree_open(&t.tree, w->mem, json_string_value(text), json_string_length(text));
    if (st != MYTH_OK)
        myth_schema_pattern_fail(&t, t.tree.at, st, t.tree.why);
    myth_schema_putf(w, "%s ", quote);
    if (st == MYTH_OK)
        st = hold_lengths(&t, min, max, &are_held);
    if (st == MYTH_OK)
        st = are_held ? put_node(&t, 0, MYTH_SIDE_OPEN, MYTH_SIDE_OPEN)
                      : myth_schema_open_lengths(&lengths, &t, min, max);
    myth_schema_putf(w, " %s space", quote);
    if (st == MYTH_OK && lengths)
        st = myth_schema_put_lengths(lengths);
    myth_schema_close_lengths(lengths);
    myth_regex_tree_close(&t.tree);
    return st;
}
