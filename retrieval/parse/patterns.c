/* patterns.c - see patterns.h.
 *
 * Steps   a pattern is a tree of steps. A step has a symbol that its node must have, a first child, a following
 *         step, and an alternative
 * Walk    down the tree, each node before its children. The visible children of a node are a run in `kid`, although
 *         hidden nodes of the grammar may lie between them in the tree; they are above the kids of the nodes
 *         around. A pattern looks at these kids and, pushed on top for the moment, at theirs
 * Inside  this file reads the parser's own nodes and not its cursor, which is three times as fast; the parser's
 *         source is pinned by its hash. Symbol, field and place of a node are computed as
 *         ts_tree_cursor_current_status and ts_node_new do */
#include "patterns.h"
#include "engine/base/array.h"
#include "engine/base/chars.h"

#include <ctype.h>
#include <language.h>
#include <string.h>
#include <subtree.h>

enum { STEP_CAPTURES = 3, MATCH_CAPTURES = 16, STOP_NODES = 4096 };

typedef struct myth_pattern_step {
    TSSymbol symbol;               /* 0: any named node */
    TSFieldId field, without;      /* field that the node must be in; field that it must not have */
    uint16_t child, behind, other; /* steps: its first child, its next sibling, its alternative; 0 = none */
    uint16_t again;                /* in a first step: first step of the next pattern with the same symbol */
    uint16_t pattern;
    uint8_t capture[STEP_CAPTURES], n_capture;
    bool is_missing, is_next, is_last, is_optional; /* is_next: no named node may be between it and the step before */
    bool has_capture;                               /* the step or one below it captures */
} step;

/* ---- reading ---- */

typedef struct {
    myth_patterns *p;
    const char *at, *end;
    uint32_t n_capture; /* captures of the current pattern */
} reader;

static int here(const reader *r) { return r->at < r->end ? (unsigned char)*r->at : 0; }

static void skip_blanks(reader *r)
{
    while (isspace(here(r)) || here(r) == ';')
        if (*r->at++ == ';')
            while (here(r) && *r->at != '\n')
                r->at++;
}

static bool skip(reader *r, int c)
{
    if (here(r) != c)
        return false;
    r->at++;
    skip_blanks(r);
    return true;
}

static uint32_t word(const reader *r)
{
    const char *p = r->at;
    while (p < r->end && (myth_is_word(*p) || *p == '-' || *p == '.'))
        p++;
    return (uint32_t)(p - r->at);
}

static void skip_word(reader *r, uint32_t n)
{
    r->at += n;
    skip_blanks(r);
}

static uint16_t add_step(reader *r, bool is_next)
{
    myth_patterns *p = r->p;
    if (p->n_step == UINT16_MAX ||
        !MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_OTHER, "patterns", &p->step, p->n_step, &p->cap_step))
        return 0;
    p->step[p->n_step] = (step){.is_next = is_next};
    return (uint16_t)p->n_step++;
}

static uint16_t read_step(reader *r, bool is_next);

static TSFieldId read_field(reader *r)
{
    uint32_t n = word(r);
    TSFieldId field = n ? ts_language_field_id_for_name(r->p->language, r->at, n) : 0;
    if (field)
        skip_word(r, n);
    return field;
}

/* Parses the rest of a node's parentheses, after its name, and the closing one. */
static bool read_children(reader *r, uint16_t of)
{
    uint16_t last = 0;
    while (!skip(r, ')')) {
        TSFieldId field = 0;
        if (skip(r, '!')) {
            if (!(r->p->step[of].without = read_field(r)))
                return false;
            continue;
        }
        bool is_next = skip(r, '.');
        if (is_next && here(r) == ')') {
            if (!last)
                return false;
            for (uint16_t i = last; i; i = r->p->step[i].other)
                r->p->step[i].is_last = true;
            continue;
        }
        if (here(r) != '(' && here(r) != '[' && (!(field = read_field(r)) || !skip(r, ':')))
            return false;
        uint16_t child = read_step(r, is_next);
        if (!child)
            return false;
        for (uint16_t i = child; field && i; i = r->p->step[i].other)
            r->p->step[i].field = field;
        if (!last)
            r->p->step[of].child = child;
        for (uint16_t i = last; i; i = r->p->step[i].other)
            r->p->step[i].behind = child;
        last = child;
    }
    return true;
}

static TSSymbol read_missing(reader *r)
{
    const TSLanguage *language = r->p->language;
    uint32_t n = word(r);
    TSSymbol symbol = 0;
    if (here(r) == '"') {
        const char *name = ++r->at, *quote = memchr(name, '"', (size_t)(r->end - name));
        if (!quote)
            return 0;
        n = (uint32_t)(quote - name);
        symbol = ts_language_symbol_for_name(language, name, n++, false);
    } else if (n)
        symbol = ts_language_symbol_for_name(language, r->at, n, true);
    skip_word(r, n);
    return symbol;
}

/* Parses a node, after its opening parenthesis. */
static uint16_t read_node(reader *r, bool is_next)
{
    const TSLanguage *language = r->p->language;
    const char *name = r->at;
    uint32_t n = word(r);
    TSSymbol symbol = 0;
    bool is_any = n == 1 && name[0] == '_', is_missing = n == 7 && memcmp(name, "MISSING", 7) == 0;
    uint16_t at = n ? add_step(r, is_next) : 0;
    if (!at)
        return 0;
    if (!is_any && !is_missing) {
        symbol = ts_language_symbol_for_name(language, name, n, true);
        if (!symbol || ts_language_symbol_type(language, symbol) == TSSymbolTypeSupertype)
            return 0;
    }
    skip_word(r, n);
    if (is_missing && !(symbol = read_missing(r)))
        return 0;
    r->p->step[at].symbol = symbol;
    r->p->step[at].is_missing = is_missing;
    return read_children(r, at) ? at : 0;
}

/* The number of a capture; MYTH_PATTERN_CAPTURES when there is no room for it. */
static uint32_t capture_number(myth_patterns *p, const char *name, uint32_t n)
{
    uint32_t i = 0;
    if (n == 0 || n >= MYTH_PATTERN_CAPTURE_BYTES)
        return MYTH_PATTERN_CAPTURES;
    while (i < p->n_capture && (strlen(p->capture[i]) != n || memcmp(p->capture[i], name, n) != 0))
        i++;
    if (i == p->n_capture && i < MYTH_PATTERN_CAPTURES)
        memcpy(p->capture[p->n_capture++], name, n);
    return i;
}

static bool read_capture(reader *r, uint16_t of)
{
    uint32_t n = word(r), number = capture_number(r->p, r->at, n);
    if (number >= MYTH_PATTERN_CAPTURES || ++r->n_capture > MATCH_CAPTURES)
        return false;
    for (uint16_t i = of; i; i = r->p->step[i].other) {
        step *s = &r->p->step[i];
        if (s->n_capture == STEP_CAPTURES)
            return false;
        s->capture[s->n_capture++] = (uint8_t)number;
    }
    skip_word(r, n);
    return true;
}

/* Parses a node, or alternatives in brackets, with the marks after it. */
static uint16_t read_step(reader *r, bool is_next)
{
    uint16_t first = 0, last = 0;
    if (skip(r, '[')) {
        while (!skip(r, ']')) {
            uint16_t one = read_step(r, is_next);
            if (!one)
                return 0;
            if (last)
                r->p->step[last].other = one;
            else
                first = one;
            for (last = one; r->p->step[last].other; last = r->p->step[last].other)
                ;
        }
    } else if (skip(r, '('))
        first = read_node(r, is_next);
    while (first && (here(r) == '@' || here(r) == '?'))
        if (skip(r, '?')) {
            for (uint16_t i = first; i; i = r->p->step[i].other)
                r->p->step[i].is_optional = true;
        } else {
            r->at++;
            if (!read_capture(r, first))
                return 0;
        }
    return first;
}

/* Parses a pattern, a node or siblings in parentheses; returns its first step. */
static uint16_t read_pattern(reader *r)
{
    const char *start = r->at;
    uint16_t first = 0, last = 0;
    if (!skip(r, '(') || (here(r) != '(' && here(r) != '[')) {
        r->at = start;
        return read_step(r, false);
    }
    while (!skip(r, ')')) {
        uint16_t one = read_step(r, skip(r, '.'));
        if (!one)
            return 0;
        if (!last)
            first = one;
        for (uint16_t i = last; i; i = r->p->step[i].other)
            r->p->step[i].behind = one;
        last = one;
    }
    return first;
}

/* Appends a pattern to the list for the symbol of its first node. */
static bool register_pattern(myth_patterns *p, uint16_t first)
{
    step *s = &p->step[first];
    if (!s->symbol || s->symbol >= p->n_symbol || s->other || s->is_optional || p->n_pattern > UINT16_MAX)
        return false;
    uint16_t *link = &p->first[s->symbol];
    while (*link)
        link = &p->step[*link].again;
    *link = first;
    s->pattern = (uint16_t)p->n_pattern++;
    p->has_siblings = p->has_siblings || s->behind;
    return true;
}

/* Steps come after their parents in the array. */
static void mark_captures(myth_patterns *p)
{
    for (uint32_t i = p->n_step; i-- > 1;) {
        step *s = &p->step[i];
        s->has_capture = s->n_capture > 0;
        for (uint16_t c = s->child; c; c = p->step[c].behind)
            for (uint16_t o = c; o; o = p->step[o].other)
                s->has_capture = s->has_capture || p->step[o].has_capture;
    }
}

bool myth_patterns_open(myth_patterns *p, myth_mem *mem, const TSLanguage *language, const char *text, uint32_t n,
                        uint32_t *wrong_at)
{
    *p = (myth_patterns){.mem = mem, .language = language, .n_symbol = ts_language_symbol_count(language)};
    reader r = {.p = p, .at = text, .end = text + n};
    p->first = myth_alloc_n(mem, MYTH_MEM_OTHER, "patterns", p->n_symbol, sizeof(*p->first));
    if (p->first)
        add_step(&r, false);
    bool is_good = p->n_step == 1;
    for (skip_blanks(&r); is_good && r.at < r.end;) {
        r.n_capture = 0;
        uint16_t first = read_pattern(&r);
        is_good = first && register_pattern(p, first);
    }
    *wrong_at = (uint32_t)(r.at - text);
    if (is_good)
        mark_captures(p);
    else
        myth_patterns_close(p);
    return is_good;
}

void myth_patterns_close(myth_patterns *p)
{
    if (p->mem) {
        myth_free(p->mem, p->step);
        myth_free(p->mem, p->first);
    }
    *p = (myth_patterns){0};
}

/* ---- the walk ---- */

typedef struct {
    const Subtree *tree;
    Length at;
    TSSymbol symbol, alias;
    TSFieldId field;
    bool is_named;
} kid;

/* A run of kids; at: the next one to enter. */
typedef struct {
    uint32_t first, at, end;
    bool is_error;
} frame;

/* A node whose children become kids, or a hidden node among them. */
typedef struct {
    const Subtree *child;
    /* place: the child's number in its production, which does not count comments and other extras */
    uint32_t n, at, place;
    Length pos;
    const TSSymbol *alias;
    const TSFieldMapEntry *map, *map_end;
    TSFieldId field; /* field of this node, and of its children unless they have their own */
} level;

typedef struct {
    const myth_patterns *p;
    const myth_pattern_asker *asker;
    const TSTree *tree;
    kid *kid;
    frame *frame;
    level *level;
    uint32_t n_kid, cap_kid, n_frame, cap_frame, n_level, cap_level;
    TSQueryCapture capture[MATCH_CAPTURES];
    uint16_t n_capture;
    uint16_t pattern;
    uint32_t n_match;
    bool is_out_of_memory;
} walk;

/* Makes room in *list for one more item. */
static bool reserve_list(walk *w, void *list, uint32_t *cap, uint32_t n, size_t bytes)
{
    if (!myth_array_more32(w->p->mem, MYTH_MEM_OTHER, "patterns", list, n, 1, cap, bytes)) {
        w->is_out_of_memory = true;
        return false;
    }
    return true;
}

static bool push_level(walk *w, const Subtree *tree, Length at, TSFieldId field)
{
    if (!reserve_list(w, &w->level, &w->cap_level, w->n_level, sizeof(*w->level)))
        return false;
    level *l = &w->level[w->n_level++];
    const uint32_t production = tree->ptr->production_id;
    *l = (level){.child = ts_subtree_children(*tree), .n = tree->ptr->child_count, .pos = at, .field = field};
    l->alias = ts_language_alias_sequence(w->p->language, production);
    ts_language_field_map(w->p->language, production, &l->map, &l->map_end);
    return true;
}

/* Pushes the kids of a node. is_sparse: leaves out those without children that no pattern begins with. */
static bool open_kids(walk *w, const Subtree *of, Length at, bool is_sparse)
{
    const TSLanguage *language = w->p->language;
    w->n_level = 0;
    if (!push_level(w, of, at, 0))
        return false;
    while (w->n_level) {
        level *l = &w->level[w->n_level - 1];
        if (l->at == l->n) {
            w->n_level--;
            continue;
        }
        const Subtree *child = &l->child[l->at];
        TSSymbol alias = 0;
        TSFieldId field = l->field;
        if (l->at++ > 0)
            l->pos = length_add(l->pos, ts_subtree_padding(*child));
        const Length pos = l->pos;
        l->pos = length_add(pos, ts_subtree_size(*child));
        if (!ts_subtree_extra(*child)) {
            alias = l->alias ? l->alias[l->place] : 0;
            for (const TSFieldMapEntry *m = l->map; m < l->map_end; m++)
                if (!m->inherited && m->child_index == l->place) {
                    field = m->field_id;
                    break;
                }
            l->place++;
        }
        const bool is_leaf = ts_subtree_child_count(*child) == 0;
        if (!ts_subtree_visible(*child) && !alias) {
            if (!is_leaf && child->ptr->visible_child_count > 0 && !push_level(w, child, pos, field))
                return false;
            continue;
        }
        TSSymbol symbol = alias ? alias : ts_subtree_symbol(*child);
        if (symbol < w->p->n_symbol) { /* the symbol ERROR is outside of the language's range */
            symbol = language->public_symbol_map[symbol];
            if (is_sparse && is_leaf && !w->p->first[symbol])
                continue;
        }
        if (!reserve_list(w, &w->kid, &w->cap_kid, w->n_kid, sizeof(*w->kid)))
            return false;
        w->kid[w->n_kid++] = (kid){
            .tree = child,
            .at = pos,
            .symbol = symbol,
            .alias = alias,
            .field = field,
            .is_named = alias ? ts_language_symbol_metadata(language, alias).named : ts_subtree_named(*child),
        };
    }
    return true;
}

/* ---- one match ---- */

static TSNode node_of(const walk *w, const kid *k)
{
    return (TSNode){{k->at.bytes, k->at.extent.row, k->at.extent.column, k->alias}, k->tree, w->tree};
}

/* Whether kid i has the symbol, field and place that the step asks for; its siblings end at `end`. */
static bool fits(const walk *w, const step *s, uint32_t i, uint32_t end)
{
    const kid *k = &w->kid[i];
    if (s->symbol ? k->symbol != s->symbol : !k->is_named || k->symbol == ts_builtin_sym_error)
        return false;
    if ((s->field && k->field != s->field) || (s->is_missing && !ts_subtree_missing(*k->tree)))
        return false;
    for (i++; s->is_last && i < end; i++)
        if (w->kid[i].is_named)
            return false;
    return !s->without || !ts_node_child_by_field_id(node_of(w, k), s->without).id;
}

/* The rest of the levels above, to match once the steps of this level are done. */
typedef struct todo {
    const struct todo *above;
    uint16_t step;
    uint32_t at, end;
} todo;

static void match_steps(walk *w, uint16_t s, uint32_t at, uint32_t end, const todo *rest);

/* Matches kid i with this step, then its children, then the rest. */
static void match_kid(walk *w, const step *s, uint32_t i, const todo *rest)
{
    const kid k = w->kid[i];
    const uint32_t first = w->n_kid;
    const uint16_t n_capture = w->n_capture;
    for (uint8_t c = 0; c < s->n_capture; c++)
        w->capture[w->n_capture++] = (TSQueryCapture){node_of(w, &k), s->capture[c]};
    if (!s->child)
        match_steps(w, 0, 0, 0, rest);
    else if (ts_subtree_child_count(*k.tree) == 0 || open_kids(w, k.tree, k.at, false))
        match_steps(w, s->child, first, w->n_kid, rest);
    w->n_kid = first;
    w->n_capture = n_capture;
}

/* Matches the steps from s on with the kids from `at` to `end`, in every possible way. */
static void match_steps(walk *w, uint16_t s, uint32_t at, uint32_t end, const todo *rest)
{
    const step *steps = w->p->step;
    if (w->is_out_of_memory)
        return;
    if (!s && rest) {
        match_steps(w, rest->step, rest->at, rest->end, rest->above);
        return;
    }
    if (!s) {
        w->n_match++;
        w->asker->on_match(
            w->asker->arg,
            &(TSQueryMatch){.pattern_index = w->pattern, .capture_count = w->n_capture, .captures = w->capture});
        return;
    }
    const uint32_t n_match = w->n_match;
    for (uint32_t i = at; i < end; i++) {
        for (uint16_t o = s; o; o = steps[o].other)
            if (fits(w, &steps[o], i, end))
                match_kid(w, &steps[o], i, &(todo){rest, steps[s].behind, i + 1, end});
        if ((steps[s].is_next && w->kid[i].is_named) || (!steps[s].has_capture && w->n_match > n_match))
            break;
    }
    if (steps[s].is_optional && w->n_match == n_match)
        match_steps(w, steps[s].behind, at, end, rest);
}

/* ---- all of them ---- */

/* Tries the patterns that begin with kid i, whose own kids begin at `first`. */
static void ask(walk *w, uint16_t s, uint32_t i, uint32_t end, uint32_t first, bool is_in_error)
{
    for (; s && !w->is_out_of_memory; s = w->p->step[s].again) {
        const step *root = &w->p->step[s];
        if ((root->behind && is_in_error) || !fits(w, root, i, end))
            continue;
        w->pattern = root->pattern;
        w->n_capture = 0;
        for (uint8_t c = 0; c < root->n_capture; c++)
            w->capture[w->n_capture++] = (TSQueryCapture){node_of(w, &w->kid[i]), root->capture[c]};
        match_steps(w, root->child, first, w->n_kid, &(todo){NULL, root->behind, i + 1, end});
    }
}

static void go(walk *w)
{
    uint32_t n_node = 0;
    while (w->n_frame && !w->is_out_of_memory) {
        frame *f = &w->frame[w->n_frame - 1];
        if (f->at == f->end) {
            w->n_kid = f->first;
            w->n_frame--;
            continue;
        }
        if (++n_node % STOP_NODES == 0 && w->asker->stop && w->asker->stop(w->asker->stop_arg))
            return;
        const uint32_t i = f->at++, end = f->end, first = w->n_kid;
        const bool is_in_error = f->is_error;
        const kid k = w->kid[i];
        const uint16_t s = k.symbol < w->p->n_symbol ? w->p->first[k.symbol] : 0;
        const bool has_kids = ts_subtree_child_count(*k.tree) > 0;
        if (has_kids && !open_kids(w, k.tree, k.at, !s && !w->p->has_siblings))
            return;
        if (s)
            ask(w, s, i, end, first, is_in_error);
        if (w->n_kid == first)
            continue;
        if (!reserve_list(w, &w->frame, &w->cap_frame, w->n_frame, sizeof(*w->frame)))
            return;
        w->frame[w->n_frame++] = (frame){first, first, w->n_kid, k.symbol == ts_builtin_sym_error};
    }
}

bool myth_patterns_find(const myth_patterns *p, TSNode root, const myth_pattern_asker *asker)
{
    walk w = {.p = p, .asker = asker, .tree = root.tree};
    if (reserve_list(&w, &w.kid, &w.cap_kid, 0, sizeof(*w.kid)) &&
        reserve_list(&w, &w.frame, &w.cap_frame, 0, sizeof(*w.frame))) {
        w.kid[w.n_kid++] = (kid){
            .tree = root.id,
            .at = {root.context[0], {root.context[1], root.context[2]}},
            .symbol = ts_node_symbol(root),
            .alias = (TSSymbol)root.context[3],
            .is_named = ts_node_is_named(root),
        };
        w.frame[w.n_frame++] = (frame){0, 0, 1, false};
        go(&w);
    }
    myth_free(p->mem, w.kid);
    myth_free(p->mem, w.frame);
    myth_free(p->mem, w.level);
    return !w.is_out_of_memory;
}
