/* json_schema_string.c - strings of a schema: lengths, formats, patterns, and all strings but some.
 *
 * A character of a pattern stands as JSON.stringify writes it: as it is, or with the shortest escape where it needs
 * one. A pattern that is not held at an end by ^ or $ has any text there. */
#include "json_schema_impl.h"
#include "json_schema_regex.h"

#include "engine/base/array.h"
#include "engine/base/utf8.h"

#include <stdlib.h>

#define ANY  MYTH_SCHEMA_ANY
#define NONE MYTH_REGEX_NONE

typedef myth_schema_writer writer;
typedef myth_schema_part part;
typedef myth_regex_chars chars;

enum { OTHER_CHARS = 512 };

/* ---- characters ---- */

static void put_class_char(writer *w, uint32_t cp)
{
    if (cp > 0x20 && cp < 0x7f && !strchr("\\]^-[\"", (int)cp))
        myth_schema_putf(w, "%c", (int)cp);
    else if (cp < 0x10000)
        myth_schema_putf(w, "\\u%04X", (unsigned)cp);
    else
        myth_schema_putf(w, "\\U%08X", (unsigned)cp);
}

static bool has(const chars *r, size_t n, uint32_t cp)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= r[i].lo && cp <= r[i].hi)
            return true;
    return false;
}

/* Puts what may stand behind a \ for those of the characters that need one; whether there are any. */
static bool put_escapes(writer *w, const chars *r, size_t n, bool has_before)
{
    static const char needs[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    uint32_t n_put = 0;
    for (uint32_t k = 0; k < 7; k++)
        if (has(r, n, (unsigned char)needs[k]))
            myth_schema_putf(w, "%s%s%c",
                             n_put++      ? ""
                             : has_before ? " | \"\\\\\" (["
                                          : "\"\\\\\" ([",
                             k < 2 ? "\\" : "", letter[k]);
    myth_schema_put(w, n_put ? "]" : "");
    for (uint32_t cp = 0; cp < 0x20; cp++) {
        if (!has(r, n, cp) || (cp && strchr(needs, (int)cp)))
            continue;
        myth_schema_put(w, n_put++ ? " | " : has_before ? " | \"\\\\\" (" : "\"\\\\\" (");
        if (cp == 0 && r[0].hi >= 0x1f) { /* the sorted ranges begin with all of them */
            myth_schema_put(w, "control");
            break;
        }
        if ((cp & 15) < 10)
            myth_schema_putf(w, "\"u00%02x\"", (unsigned)cp);
        else
            myth_schema_putf(w, "\"u00%u\" [%c%c]", (unsigned)cp >> 4, 'a' + (int)(cp & 15) - 10,
                             'A' + (int)(cp & 15) - 10);
    }
    myth_schema_put(w, n_put ? ")" : "");
    return n_put > 0;
}

/* One character of the sorted ranges; false: there is none that a string may hold here. */
static bool put_chars(writer *w, const chars *r, size_t n)
{
    static const chars plain[] = {{0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0x10ffff}}, in_call[] = {{1, 0x10ffff}};
    const chars *const may = w->quote ? in_call : plain;
    const size_t n_may = w->quote ? 1 : 3;
    bool has_plain = false;
    if (n == 2 && r[0].lo == 0 && r[0].hi == 0xd7ff && r[1].lo == 0xe000 && r[1].hi == 0x10ffff) {
        myth_schema_put(w, "any");
        return true;
    }
    myth_schema_put(w, "(");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_may; k++) {
            const uint32_t lo = r[i].lo > may[k].lo ? r[i].lo : may[k].lo,
                           hi = r[i].hi < may[k].hi ? r[i].hi : may[k].hi;
            if (lo > hi)
                continue;
            myth_schema_put(w, has_plain ? "" : "[");
            has_plain = true;
            put_class_char(w, lo);
            if (hi > lo) {
                myth_schema_put(w, "-");
                put_class_char(w, hi);
            }
        }
    myth_schema_put(w, has_plain ? "]" : "");
    const bool has_escape = !w->quote && put_escapes(w, r, n, has_plain);
    myth_schema_put(w, ")");
    return has_plain || has_escape;
}

/* ---- patterns ---- */

/* What is at a side of a node: other nodes; nothing, as ^ or $ says; or the end of the pattern, any text beyond it. */
typedef enum { SIDE_NODES, SIDE_NOTHING, SIDE_OPEN } side;

typedef struct {
    writer *w;
    const part *p;
    myth_regex_tree tree;
    uint32_t min_any, max_any; /* characters beyond an open end */
} pattern;

static myth_status fail_at(const pattern *t, uint32_t at, myth_status code, const char *why)
{
    return code == MYTH_ENOMEM ? myth_schema_no_memory(t->w)
                               : myth_schema_fail(t->w, t->p, code, "\"pattern\", character %u: %s", (unsigned)at, why);
}

static void put_any(const pattern *t)
{
    myth_schema_put(t->w, " any");
    myth_schema_put_repeat(t->w, t->min_any, t->max_any);
    myth_schema_put(t->w, " ");
}

static bool is_kind(const pattern *t, uint32_t i, myth_regex_kind kind) { return t->tree.node[i].kind == kind; }

/* The nodes of a sequence without anchors that say of its sides what is so: *first up to but not *end. */
static void strip(const pattern *t, uint32_t i, side *left, side *right, uint32_t *first, uint32_t *end)
{
    *first = t->tree.node[i].first;
    *end = NONE;
    while (*left != SIDE_NODES && *first != NONE && is_kind(t, *first, MYTH_REGEX_BEGIN)) {
        *left = SIDE_NOTHING;
        *first = t->tree.node[*first].next;
    }
    if (*right == SIDE_NODES)
        return;
    for (uint32_t k = *first, anchors = NONE; k != NONE; k = t->tree.node[k].next) {
        if (!is_kind(t, k, MYTH_REGEX_END))
            anchors = NONE;
        else if (anchors == NONE)
            anchors = k;
        *end = anchors;
    }
    if (*end != NONE)
        *right = SIDE_NOTHING;
    if (*first == *end) { /* nothing is left: one any text is both sides' */
        *first = *end = NONE;
        return;
    }
}

static myth_status put_node(pattern *t, uint32_t i, side left, side right);

static myth_status put_sequence(pattern *t, uint32_t i, side left, side right)
{
    uint32_t first, end;
    myth_status st = MYTH_OK;
    strip(t, i, &left, &right, &first, &end);
    if (first == NONE) {
        if (left == SIDE_OPEN || right == SIDE_OPEN)
            put_any(t);
        else
            myth_schema_put(t->w, "\"\"");
        return MYTH_OK;
    }
    for (uint32_t k = first; k != end && st == MYTH_OK; k = t->tree.node[k].next) {
        const bool is_last = t->tree.node[k].next == end;
        myth_schema_put(t->w, k == first ? "" : " ");
        st = put_node(t, k, k == first ? left : SIDE_NODES, is_last ? right : SIDE_NODES);
    }
    return st;
}

static myth_status put_inner(pattern *t, uint32_t i, side left, side right)
{
    const myth_regex_node *n = &t->tree.node[i];
    myth_status st = MYTH_OK;
    switch (n->kind) {
    case MYTH_REGEX_CHARS:
        return put_chars(t->w, t->tree.range + n->range, n->n_range)
                 ? MYTH_OK
                 : fail_at(t, n->at, MYTH_EUNSUPPORTED, "no character of this can stand in a call");
    case MYTH_REGEX_BEGIN: return fail_at(t, n->at, MYTH_EUNSUPPORTED, "a ^ that does not begin the text");
    case MYTH_REGEX_END: return fail_at(t, n->at, MYTH_EUNSUPPORTED, "a $ that does not end the text");
    case MYTH_REGEX_REPEAT:
        st = put_node(t, n->first, SIDE_NODES, SIDE_NODES);
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
    if (has_sides && left == SIDE_OPEN)
        put_any(t);
    const myth_status st = put_inner(t, i, left, right);
    if (has_sides && right == SIDE_OPEN && st == MYTH_OK)
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
        const length one = length_of(t, n->first, SIDE_NODES, SIDE_NODES);
        all = (length){times(one.min, n->min), times(one.max, n->max)};
        break;
    }
    case MYTH_REGEX_SEQUENCE:
        strip(t, i, &left, &right, &first, &end);
        if (first == NONE)
            return left == SIDE_OPEN || right == SIDE_OPEN ? open : all;
        for (uint32_t k = first; k != end; k = t->tree.node[k].next) {
            const length one =
                length_of(t, k, k == first ? left : SIDE_NODES, t->tree.node[k].next == end ? right : SIDE_NODES);
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
    if (left == SIDE_OPEN || right == SIDE_OPEN)
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

/* Bounds of length beside a pattern: those that it keeps itself, or that one repeat in it can keep, all else being of
 * one length. */
static myth_status hold_lengths(pattern *t, uint32_t min, uint32_t max)
{
    const length all = length_of(t, 0, SIDE_OPEN, SIDE_OPEN);
    const uint32_t sequence = t->tree.node[0].first;
    side left = SIDE_OPEN, right = SIDE_OPEN;
    uint32_t first, end, n_varies = 0, varies = NONE;
    uint64_t n_fixed = 0;
    if (all.min >= min && (max == ANY || all.max <= max))
        return MYTH_OK;
    strip(t, sequence, &left, &right, &first, &end);
    bool is_known = t->tree.node[sequence].next == NONE;
    for (uint32_t k = first; k != end && is_known; k = t->tree.node[k].next) {
        const length one = length_of(t, k, SIDE_NODES, SIDE_NODES);
        is_known = !t->tree.node[k].has_anchor;
        if (one.min == one.max)
            n_fixed = plus(n_fixed, one.min);
        else if (n_varies++ == 0)
            varies = k;
    }
    const bool is_open = first == NONE ? left == SIDE_OPEN || right == SIDE_OPEN : left != right || left == SIDE_OPEN;
    n_varies += first != NONE && left == SIDE_OPEN && right == SIDE_OPEN ? 2 : is_open;
    is_known = is_known && n_varies == 1 && (varies == NONE || is_kind(t, varies, MYTH_REGEX_REPEAT));
    const length turn =
        is_known && varies != NONE ? length_of(t, t->tree.node[varies].first, SIDE_NODES, SIDE_NODES) : (length){1, 1};
    if (!is_known || turn.min != turn.max)
        return myth_schema_fail(t->w, t->p, MYTH_EUNSUPPORTED,
                                "minLength and maxLength beside a \"pattern\" of several lengths; write them into it");
    const bool is_some =
        varies == NONE ? bound_turns(&t->min_any, &t->max_any, 1, n_fixed, min, max)
                       : bound_turns(&t->tree.node[varies].min, &t->tree.node[varies].max, turn.min, n_fixed, min, max);
    return is_some ? MYTH_OK
                   : myth_schema_fail(t->w, t->p, MYTH_EFORMAT, "no string of the \"pattern\" has such a length");
}

static myth_status put_pattern(writer *w, const part *p, const json_t *text, uint32_t min, uint32_t max)
{
    pattern t = {.w = w, .p = p, .max_any = ANY};
    if (!json_is_string(text))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"pattern\": expected a string");
    myth_status st = myth_regex_tree_open(&t.tree, w->mem, json_string_value(text), json_string_length(text));
    if (st != MYTH_OK)
        fail_at(&t, t.tree.at, st, t.tree.why);
    if (st == MYTH_OK)
        st = hold_lengths(&t, min, max);
    if (st == MYTH_OK)
        st = put_node(&t, 0, SIDE_OPEN, SIDE_OPEN);
    myth_regex_tree_close(&t.tree);
    return st;
}

/* ---- all strings but some ---- */

typedef struct {
    uint32_t *cp;
    size_t n;
} other_text;

typedef struct {
    writer *w;
    size_t idx, n_rule, n_pool, n_text;
    uint32_t min, max;
    uint32_t pool[OTHER_CHARS];
    other_text text[OTHER_CHARS];
    chars own[2 * OTHER_CHARS], rest[OTHER_CHARS + 2]; /* of the rule that is being written */
} other_texts;

static int by_chars(const void *a, const void *b)
{
    const other_text *x = a, *y = b;
    size_t i = 0;
    while (i < x->n && i < y->n && x->cp[i] == y->cp[i])
        i++;
    if (i < x->n && i < y->n)
        return x->cp[i] < y->cp[i] ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

static bool is_first_of_char(const other_texts *o, size_t i, size_t first, size_t depth)
{
    return i == first || o->text[i].cp[depth] != o->text[i - 1].cp[depth];
}

/* What may follow the first `depth` characters of the sorted texts from..to, which share them: the end, a character of
 * one of them and what may follow then, or another one and any text. The rules of what may follow come behind. */
static void put_behind(other_texts *o, size_t from, size_t to, size_t depth)
{
    const bool is_one = o->text[from].n == depth; /* the shortest comes first */
    const size_t first = from + is_one;
    size_t n_own = 0, rule = o->n_rule;
    myth_schema_put(o->w, !is_one && depth >= o->min ? "\"\" | " : "");
    for (size_t i = first; i < to; i++)
        if (is_first_of_char(o, i, first, depth))
            o->own[n_own++] = (chars){o->text[i].cp[depth], o->text[i].cp[depth]};
    const bool goes_on = depth + 1 < o->max; /* else those with one more character are the texts themselves */
    for (size_t i = 0; i < n_own && goes_on; i++) {
        put_chars(o->w, &o->own[i], 1);
        myth_schema_putf(o->w, " s%zu-n%zu | ", o->idx, rule + i);
    }
    o->n_rule += goes_on ? n_own : 0;
    put_chars(o->w, o->rest, myth_regex_others(o->rest, o->own, myth_regex_sort(o->own, n_own)));
    myth_schema_put(o->w, " any");
    myth_schema_put_repeat(o->w, o->min > depth + 1 ? o->min - (uint32_t)depth - 1 : 0,
                           o->max == ANY ? ANY : o->max - (uint32_t)depth - 1);
    for (size_t i = first, k; i < to && goes_on; i = k, rule++) {
        for (k = i + 1; k < to && !is_first_of_char(o, k, first, depth);)
            k++;
        myth_schema_putf(o->w, "\ns%zu-n%zu ::= ", o->idx, rule);
        put_behind(o, i, k, depth + 1);
    }
}

/* Keeps a text, unless the lengths or one before it leave it out; false: there are too many. */
static bool add_other(other_texts *o, const char *s, size_t n)
{
    other_text one = {o->pool + o->n_pool, 0};
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        const int step = myth_utf8_decode((const unsigned char *)s + i, n - i, &cp);
        if (!step || o->n_pool + one.n == OTHER_CHARS)
            return false;
        one.cp[one.n++] = cp;
        i += (size_t)step;
    }
    if (one.n < o->min || (o->max != ANY && one.n > o->max))
        return true;
    for (size_t i = 0; i < o->n_text; i++)
        if (by_chars(&o->text[i], &one) == 0)
            return true;
    if (o->n_text == OTHER_CHARS)
        return false;
    o->text[o->n_text++] = one;
    o->n_pool += one.n;
    return true;
}

/* All strings of min to max characters but those of the list, between these quotes. */
static myth_status put_others(writer *w, const part *p, size_t idx, const json_t *list, const char *quote, uint32_t min,
                              uint32_t max)
{
    other_texts *o = myth_alloc(w->mem, MYTH_MEM_STAGING, "schema's strings", sizeof(*o));
    myth_status st = MYTH_OK;
    if (!o)
        return myth_schema_no_memory(w);
    *o = (other_texts){.w = w, .idx = idx, .n_rule = 1, .min = min, .max = max};
    for (size_t i = 0; i < json_array_size(list) && st == MYTH_OK; i++) {
        const json_t *v = json_array_get(list, i);
        if (json_is_string(v) && !add_other(o, json_string_value(v), json_string_length(v)))
            st = myth_schema_fail(w, p, MYTH_ELIMIT, "\"not\" of strings with more than %d characters", OTHER_CHARS);
    }
    if (st == MYTH_OK && o->n_text == 0) {
        myth_schema_putf(w, "%s any", quote);
        myth_schema_put_repeat(w, min, max);
        myth_schema_putf(w, " %s space", quote);
    } else if (st == MYTH_OK && max == 0) {
        st = myth_schema_fail(w, p, MYTH_EFORMAT, "no value is allowed here");
    } else if (st == MYTH_OK) {
        qsort(o->text, o->n_text, sizeof(o->text[0]), by_chars);
        myth_schema_putf(w, "%s s%zu-n0 %s space\ns%zu-n0 ::= ", quote, idx, quote, idx);
        put_behind(o, 0, o->n_text, 0);
    }
    myth_free(w->mem, o);
    return st;
}

/* ---- */

static myth_status put_format(writer *w, const part *p, const char *name, const char *quote)
{
    static const char *const form[] = {"date", "time", "date-time", "uuid"};
    size_t i = 0;
    while (i < 4 && strcmp(form[i], name) != 0)
        i++;
    if (i == 4)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                "format \"%.24s\": date, time, date-time and uuid are supported", name);
    myth_schema_putf(w, "%s %s %s space", quote, form[i], quote);
    return MYTH_OK;
}

myth_status myth_schema_put_string(writer *w, const part *p, size_t idx)
{
    const json_t *format = json_object_get(p->schema, "format"), *text = json_object_get(p->schema, "pattern"),
                 *others = json_object_get(p->schema, MYTH_SCHEMA_OTHERS);
    const char *quote = w->quote ? w->quote : "\"\\\"\"";
    uint32_t min = 0, max = ANY;
    bool has_other = false;
    myth_status st;
    MYTH_TRY(myth_schema_get_counts(w, p, "minLength", "maxLength", &min, &max));
    for (size_t i = 0; i < json_array_size(others); i++)
        has_other |= json_is_string(json_array_get(others, i));
    const char *other = has_other         ? "\"not\""
                      : text              ? "\"pattern\""
                      : min || max != ANY ? "minLength or maxLength"
                                          : NULL;
    if (format && other)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "%s beside \"format\" is not supported", other);
    if (text && has_other)
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED, "\"not\" beside \"pattern\" is not supported");
    if (format)
        return put_format(w, p, json_is_string(format) ? json_string_value(format) : "", quote);
    if (has_other)
        return put_others(w, p, idx, others, quote, min, max);
    myth_schema_putf(w, "%s ", quote);
    if (text) {
        MYTH_TRY(put_pattern(w, p, text, min, max));
    } else {
        myth_schema_put(w, "char");
        myth_schema_put_repeat(w, min, max);
    }
    myth_schema_putf(w, " %s space", quote);
fail:
    return st;
}
