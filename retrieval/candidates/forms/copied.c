/* copied.c - names that stayed where a statement was copied and the others were changed:
 *
 *     dst->width = src->width;
 *     dst->height = src->width;      (the second `width`)
 *
 * Two statements beside each other are compared word by word. Where they differ by one word that became another, every
 * place in the second that still has the first word is an event. A word is a whole name or a part of it between
 * capitals and underscores (min_x and min_y differ by x and y); numbers count where they choose elements. */
#include "retrieval/candidates/facts/facts.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 64, LEAST_TOKENS = 5, LONGEST = 40 };

typedef struct {
    TSNode node;
    uint32_t off, n;
    bool is_word, is_index, is_called;
} token;

typedef struct {
    token token[TOKENS];
    uint32_t n;
    bool is_too_long;
} tokens;

typedef struct {
    const char *text;
    uint32_t n;
} word;

static void collect(const myth_flow *f, TSNode node, tokens *out, int depth)
{
    const uint32_t n = ts_node_child_count(node), off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    if (out->is_too_long || depth > 40 || ts_node_is_extra(node)) /* a comment is none */
        return;
    const myth_role role = role_of(f, node);
    if (n == 0 || role == MYTH_ROLE_TEXT) {
        if (out->n == TOKENS || end > f->n_text) {
            out->is_too_long = true;
            return;
        }
        const char c = off < f->n_text ? f->text[off] : '\0';
        out->token[out->n] = (token){
            .node = node,
            .off = off,
            .n = end - off,
            .is_word = end > off && end - off <= LONGEST && myth_is_word(c) && role != MYTH_ROLE_TEXT,
        };
        if (out->n > 0 && c == ']')
            out->token[out->n - 1].is_index = true;
        if (out->n > 0 && c == '(')
            out->token[out->n - 1].is_called = true;
        out->n++;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        collect(f, ts_node_child(node, i), out, depth + 1);
}

static bool same(const myth_flow *f, const token *a, const token *b)
{
    return a->n == b->n && memcmp(f->text + a->off, f->text + b->off, a->n) == 0;
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) != 0; }

/* What two names differ by, from a border of words to the next: x and y of min_x and min_y. False: by too much. */
static bool difference(const myth_flow *f, const token *a, const token *b, word *x, word *y)
{
    const char *p = f->text + a->off, *q = f->text + b->off;
    uint32_t head = 0, tail = 0;
    while (head < a->n && head < b->n && p[head] == q[head])
        head++;
    while (tail < a->n - head && tail < b->n - head && p[a->n - 1 - tail] == q[b->n - 1 - tail])
        tail++;
    while (head > 0 && is_word_char(p[head - 1]) &&
           !(isupper((unsigned char)p[head]) && islower((unsigned char)p[head - 1])))
        head--;
    while (tail > 0 && is_word_char(p[a->n - tail]) && !isupper((unsigned char)p[a->n - tail]))
        tail--;
    *x = (word){p + head, a->n - head - tail};
    *y = (word){q + head, b->n - head - tail};
    return x->n > 0 && y->n > 0;
}

static bool word_is(const word *a, const word *b) { return a->n == b->n && memcmp(a->text, b->text, a->n) == 0; }

/* Whether a name has the word between borders. */
static bool has_word(const myth_flow *f, const token *t, const word *w)
{
    const char *p = f->text + t->off;
    for (uint32_t i = 0; i + w->n <= t->n; i++) {
        if (memcmp(p + i, w->text, w->n) != 0)
            continue;
        const bool is_begin = i == 0 || !is_word_char(p[i - 1]) || isupper((unsigned char)p[i]);
        const bool is_end = i + w->n == t->n || !is_word_char(p[i + w->n]) || isupper((unsigned char)p[i + w->n]);
        if (is_begin && is_end)
            return true;
    }
    return false;
}

/* Whether token i is what a member is of, a part of a type, or a constant: such a word seldom stays by mistake. */
static bool is_seldom(const myth_flow *f, const tokens *in, uint32_t i)
{
    const token *t = &in->token[i], *after = i + 1 < in->n ? t + 1 : NULL;
    const char *next = after ? f->text + after->off : ";";
    bool is_constant = true;
    for (uint32_t c = 0; c < t->n && is_constant; c++)
        is_constant = !islower((unsigned char)f->text[t->off + c]);
    const bool is_member = next[0] == '.' || next[0] == '[' ||
                           (after && after->n == 2 && (next[0] == '-' || next[0] == ':') && next[1] != '=');
    const bool is_target = i == 0 && !(after && after->n == 1 && next[0] == '=');
    return is_constant || is_member || is_target || (after && after->is_word) || strstr(ts_node_type(t->node), "type");
}

static bool has_base(const myth_flow *f, const token *t)
{
    return t->off > 0 && (f->text[t->off - 1] == '.' || (f->text[t->off - 1] == '>' && f->text[t->off - 2] == '-'));
}

/* The text from the first word of a path that ends with token i, and y in the place of x: src->height. 0 = too long. */
static uint32_t with_other_word(const myth_flow *f, const tokens *in, uint32_t i, const word *x, const word *y,
                                char want[3 * LONGEST])
{
    const token *t = &in->token[i];
    uint32_t from = t->off, at = 0;
    while (i > 0 && in->token[i - 1].off + in->token[i - 1].n == in->token[i].off && t->off - from < LONGEST &&
           (in->token[i - 1].is_word || strchr(".->:", f->text[in->token[i - 1].off])))
        from = in->token[--i].off;
    const uint32_t head = t->off - from;
    while (at + x->n <= t->n && memcmp(f->text + t->off + at, x->text, x->n) != 0)
        at++;
    if (at + x->n > t->n || head + t->n + y->n >= 3 * LONGEST)
        return 0;
    memcpy(want, f->text + from, head + at);
    memcpy(want + head + at, y->text, y->n);
    memcpy(want + head + at + y->n, f->text + t->off + at + x->n, t->n - at - x->n);
    return head + t->n - x->n + y->n;
}

static bool has_text(const myth_flow *f, uint32_t from, uint32_t end, const char *want, uint32_t n)
{
    for (uint32_t p = from; p + n < end && p + n < f->n_text; p++) {
        const char before = p > 0 ? f->text[p - 1] : ' ', after = f->text[p + n];
        if (memcmp(f->text + p, want, n) == 0 && !myth_is_word(before) && before != '.' && before != '>' &&
            !myth_is_word(after))
            return true;
    }
    return false;
}

static bool is_variable(const myth_flow *f, const char *name, uint32_t n, uint32_t before)
{
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_path *p = &f->path[f->event[i].path];
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].off < before && p->n == n &&
            memcmp(f->names + p->text, name, n) == 0)
            return true;
    }
    return false;
}

static bool contains(const word *a, const word *b)
{
    for (uint32_t i = 0; i + b->n <= a->n; i++)
        if (memcmp(a->text + i, b->text, b->n) == 0)
            return true;
    return false;
}

/* Whether the name that stayed, token `at` of b, was almost certainly to be changed, too: the changed name is there in
 * the same statement or as a variable before it, or both are members and nothing else reads the one that is missing. */
static bool is_certain(const myth_flow *f, const tokens *b, uint32_t at, const token *changed, const word *x,
                       const word *y)
{
    char want[3 * LONGEST];
    const uint32_t n = with_other_word(f, b, at, x, y, want);
    const token *last = &b->token[b->n - 1];
    if (n == 0 || contains(x, y) || contains(y, x) || is_seldom(f, b, at))
        return false;
    if (has_text(f, b->token[0].off, last->off + last->n, want, n))
        return true;
    if (!has_base(f, &b->token[at]))
        return is_variable(f, want, n, b->token[0].off);
    return b->token[at].n == x->n && has_base(f, changed) && !has_text(f, f->off, f->end, want, n);
}

/* ---- pairs ---- */

enum { CERTAIN_PAIR = 2 };

/* What one says of one direction, border or side, and of the other. */
static const struct {
    const char *x, *y;
} pair[] = {{"x", "y"},        {"w", "h"},     {"width", "height"}, {"left", "top"},     {"right", "bottom"},
            {"min", "max"},    {"src", "dst"}, {"row", "col"},      {"rows", "cols"},    {"start", "end"},
            {"first", "last"}, {"lo", "hi"},   {"low", "high"},     {"Width", "Height"}, {"X", "Y"}};

enum { PAIRS = sizeof(pair) / sizeof(*pair) };

/* Which pair two words are, 1 + its number; with a minus where they are turned. 0 = none. */
static int pair_of(const word *x, const word *y)
{
    for (int i = 0; i < PAIRS; i++) {
        const word a = {pair[i].x, (uint32_t)strlen(pair[i].x)}, b = {pair[i].y, (uint32_t)strlen(pair[i].y)};
        if (word_is(x, &a) && word_is(y, &b))
            return i + 1;
        if (word_is(x, &b) && word_is(y, &a))
            return -i - 1;
    }
    return 0;
}

/* Where several pairs were changed from one statement to the next, all the same way, the one member of a pair that
 * stayed although its word was changed everywhere else:  if (a.x < b.x) { a.w -= b.x - a.x; a.x = b.x; } */
static void compare_pairs(myth_flow *f, const tokens *a, const tokens *b)
{
    word u, v;
    uint32_t changed[PAIRS] = {0}, kept = 0, at = 0, n_pair = 0;
    int way = 0, of = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const token *s = &a->token[i], *t = &b->token[i];
        if (same(f, s, t))
            continue;
        const int p = s->is_word && t->is_word && difference(f, s, t, &u, &v) ? pair_of(&u, &v) : 0;
        if (p == 0 || (way && (p > 0) != (way > 0)))
            return;
        way = p;
        n_pair += changed[abs(p) - 1]++ == 0;
    }
    for (uint32_t i = 0; i < b->n && n_pair > 1; i++) {
        const token *t = &b->token[i];
        if (!same(f, &a->token[i], t) || !t->is_word || t->is_called)
            continue;
        for (int p = 0; p < PAIRS; p++) {
            const char *x = way > 0 ? pair[p].x : pair[p].y;
            const word w = {x, (uint32_t)strlen(x)};
            if (changed[p] == 0 || t->n != w.n || !has_word(f, t, &w))
                continue;
            at = i;
            of = p;
            kept++;
        }
    }
    if (n_pair < 2 || kept != 1 || changed[of] < 2 || is_seldom(f, b, at))
        return;
    const uint32_t path = myth_flow_path_of_word(f, b->token[at].off, b->token[at].n);
    myth_flow_put_event(f, MYTH_EVENT_COPIED, b->token[at].node, path)->how = CERTAIN_PAIR;
}

static void compare(myth_flow *f, const tokens *a, const tokens *b)
{
    word x = {0}, y = {0}, u, v;
    uint32_t changed = 0, kept = 0, at = 0;
    const token *first = NULL;
    if (a->n != b->n || a->n < LEAST_TOKENS || a->is_too_long || b->is_too_long)
        return;
    compare_pairs(f, a, b);
    for (uint32_t i = 0; i < a->n; i++) {
        const token *s = &a->token[i], *t = &b->token[i];
        if (same(f, s, t))
            continue;
        if (!s->is_word || !t->is_word || !difference(f, s, t, &u, &v))
            return;
        if (isdigit((unsigned char)u.text[0]) && s->n == u.n && !s->is_index)
            return;
        if (changed++ == 0) {
            x = u;
            y = v;
            first = t;
        } else if (!word_is(&x, &u) || !word_is(&y, &v))
            return;
    }
    for (uint32_t i = 0; i < b->n && changed > 0; i++) {
        const token *t = &b->token[i];
        const bool is_number = isdigit((unsigned char)x.text[0]) != 0;
        if (same(f, &a->token[i], t) && t->is_word && !t->is_called && !strstr(ts_node_type(t->node), "type") &&
            has_word(f, t, &x) && (!is_number || t->is_index || t->n > x.n)) {
            at = kept == 0 ? i : at;
            kept++;
        }
    }
    if (changed == 0 || kept == 0 || kept > changed + 1)
        return;
    const uint32_t path = myth_flow_path_of_word(f, b->token[at].off, b->token[at].n);
    myth_event *e = myth_flow_put_event(f, MYTH_EVENT_COPIED, b->token[at].node, path);
    e->how = is_certain(f, b, at, first, &x, &y);
}

/* The statements of a block, each compared with the one before. */
static bool on_node(myth_flow *f, TSNode node, const myth_around *around)
{
    (void)around;
    static tokens before, now;                                              /* large, and the process has one thread */
    const bool is_list = strcmp(ts_node_type(node), "statement_list") == 0; /* Go: inside of a block */
    if (!is_list && role_of(f, node) != MYTH_ROLE_BLOCK && role_of(f, node) != MYTH_ROLE_CASE)
        return true;
    before.n = 0;
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 1000; i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (role_of(f, child) == MYTH_ROLE_SKIP)
            continue; /* a comment */
        const uint32_t size = ts_node_end_byte(child) - ts_node_start_byte(child);
        now = (tokens){.is_too_long = size > 400};
        collect(f, child, &now, 0);
        if (before.n > 0)
            compare(f, &before, &now);
        before = now;
    }
    return true;
}

void myth_facts_copied(myth_flow *f, TSNode function)
{
    f->now_scope = f->now_test = 0;
    myth_flow_each_node(f, function, on_node);
}
