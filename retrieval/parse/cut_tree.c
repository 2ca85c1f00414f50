/* cut_tree.c - cuts a file along its syntax tree: siblings share a chunk while they fit, and a node that does not
 * fit is cut between its children.
 *
 * Atoms     the walk yields atoms, which are not cut further: nodes that fit a chunk, and pieces of leaves that do
 *           not. It enters containers that the query opens (namespaces, #if) and nodes larger than a chunk; the
 *           pieces of a function are marked as parts of it
 * Lead      comments, attributes and the first line of an opened container wait for the next atom. A comment after
 *           code on the same line belongs to that code
 * Chunk     atoms of one kind and one owner that fit together. An atom that begins inside a line, and closing
 *           brackets, join the chunk before them
 * Begin     a chunk begins at the start of its first line if only blanks come before it there: indentation and
 *           blank lines belong to some chunk, too */
#include "symbols.h"

#include <string.h>

enum { DEPTH = 256 }; /* depth of the walk; deeper nodes are cut by lines */

typedef struct {
    myth_def *owner;      /* the definition that encloses this; NULL = the file */
    myth_chunk_kind kind; /* kind of whatever is not a definition itself */
    bool is_part;         /* inside a function */
    uint32_t head_end;    /* end of the first line of an opened container */
} place;

typedef struct {
    uint64_t off, end;
    myth_chunk_kind kind;
    myth_def *owner;       /* the chunk is a piece of its owner when `def` is the same */
    myth_def *def;         /* the definition that it is; NULL = none */
    bool is_lead, is_tail; /* joins the next atom; joins the one before */
} atom;

typedef struct {
    myth_symbols *s;
    myth_cut *cut;
    atom now;      /* the chunk being filled; end 0 = none */
    atom lead;     /* what waits for the next atom; end 0 = nothing */
    uint64_t done; /* end of the chunks so far */
} tree_cut;

static myth_chunk_kind kind_of(const myth_def *d)
{
    if (d->is_route)
        return MYTH_CHUNK_ROUTE;
    if (d->is_test)
        return MYTH_CHUNK_TEST;
    switch (d->kind) {
    case MYTH_SYMBOL_FUNCTION: return MYTH_CHUNK_FUNCTION;
    case MYTH_SYMBOL_METHOD: return MYTH_CHUNK_METHOD;
    case MYTH_SYMBOL_CLASS:
    case MYTH_SYMBOL_TYPE:
    case MYTH_DEF_SCOPE: return MYTH_CHUNK_CLASS;
    case MYTH_SYMBOL_TEST: return MYTH_CHUNK_TEST;
    case MYTH_SYMBOL_ROUTE: return MYTH_CHUNK_ROUTE;
    default: return MYTH_CHUNK_MODULE;
    }
}

static bool is_function(myth_chunk_kind kind)
{
    return kind == MYTH_CHUNK_FUNCTION || kind == MYTH_CHUNK_METHOD || kind == MYTH_CHUNK_TEST ||
           kind == MYTH_CHUNK_ROUTE;
}

/* The definition that an uncut node represents: the largest one that fills most of it. */
static myth_def *most_of(const myth_symbols *s, uint32_t off, uint32_t end)
{
    myth_def *best = NULL;
    for (uint32_t i = myth_symbols_from(s, off);
         i < s->n_def && s->def[i].off < end && s->def[i].off - off <= (end - off) / 2; i++) {
        myth_def *d = &s->def[i];
        if (d->end > end || 2 * (d->end - d->off) < end - off)
            continue;
        if (!best || (best->kind == MYTH_SYMBOL_ROUTE && d->kind != MYTH_SYMBOL_ROUTE && d->off == best->off &&
                      d->end == best->end))
            best = d;
    }
    return best;
}

/* The chunk's kind: that of a test or route which fills most of it; a class with more tests than other functions is
 * a test. */
static myth_chunk_kind whole_kind(const myth_symbols *s, const myth_def *d)
{
    myth_chunk_kind kind = kind_of(d);
    uint32_t n_test = 0, n_other = 0;
    for (uint32_t i = myth_symbols_from(s, d->off); i < s->n_def && s->def[i].off < d->end; i++) {
        const myth_def *in = &s->def[i];
        bool is_most = 2 * (in->end - in->off) >= d->end - d->off;
        if (in->kind == MYTH_SYMBOL_ROUTE && is_most)
            return MYTH_CHUNK_ROUTE;
        if (in->is_test && is_most)
            kind = MYTH_CHUNK_TEST;
        n_test += in->is_test;
        n_other += in != d && !in->is_test && is_function(kind_of(in));
    }
    return kind == MYTH_CHUNK_CLASS && n_test > n_other ? MYTH_CHUNK_TEST : kind;
}

/* ---- chunks from atoms ---- */

static void close_chunk(tree_cut *t, uint64_t end)
{
    atom *a = &t->now;
    if (a->end == 0)
        return;
    myth_chunk *c = myth_cut_add_chunk(t->cut, t->done, end, a->kind);
    t->done = end;
    a->end = 0;
    if (!c || (!a->def && !a->owner))
        return;
    const myth_def *named = a->def ? a->def : a->owner;
    c->symbol = named->name;
    c->parent = named->parent;
    c->doc_off = named->doc_off;
    c->doc_bytes = named->doc_bytes;
    if (a->owner && (!a->def || a->def == a->owner) && named->kind != MYTH_SYMBOL_MODULE)
        c->is_part = a->owner->n_piece++ > 0;
    if (c->is_part)
        c->doc_bytes = c->doc_off = 0;
}

/* Whether a range may be one chunk although it is too large, because a cut would be at a bad place. */
static bool nearly_fits(const tree_cut *t, uint64_t from, uint64_t to)
{
    return to - from <= CUT_RAW_BYTES && myth_cut_solid(t->cut, from, to) <= MYTH_CHUNK_BYTES + MYTH_CHUNK_BYTES / 4;
}

static void open_chunk(tree_cut *t, const atom *a)
{
    uint64_t begin = myth_cut_line_start(t->cut, a->off);
    if (begin < t->done || !myth_cut_begins_line(t->cut, a->off))
        begin = a->off;
    if (t->done == 0 && t->now.end == 0)
        begin = 0;
    close_chunk(t, t->now.end == 0 || nearly_fits(t, t->done, begin) ? begin : t->now.end);
    t->now = *a;
    /* bytes outside of any node: long runs of blanks, or bytes that the parser skipped */
    while (t->done < a->off && !nearly_fits(t, t->done, a->end) && !t->cut->is_out_of_memory) {
        uint64_t end = myth_cut_text_end(t->cut, t->done, a->off);
        myth_cut_add_chunk(t->cut, t->done, end, MYTH_CHUNK_MODULE);
        t->done = end;
    }
}

static bool has_no_word(const myth_cut *cut, const atom *a)
{
    if (a->end - a->off > 8)
        return false;
    for (uint64_t i = a->off; i < a->end; i++)
        if (!strchr("{}()[];,", cut->text[i]) || cut->text[i] == '\0')
            return false;
    return true;
}

/* Small types are often between statements of a file, so these two kinds may share a chunk while it is small. */
static bool is_mixed(const tree_cut *t, const atom *a)
{
    bool now = t->now.kind == MYTH_CHUNK_MODULE || t->now.kind == MYTH_CHUNK_CLASS;
    bool then = a->kind == MYTH_CHUNK_MODULE || a->kind == MYTH_CHUNK_CLASS;
    bool has_members =
        (t->now.def && t->now.def->kind == MYTH_SYMBOL_CLASS) || (a->def && a->def->kind == MYTH_SYMBOL_CLASS);
    return now && then && !has_members && t->now.owner == a->owner &&
           myth_cut_solid(t->cut, t->done, a->end) <= MYTH_CHUNK_BYTES / 4;
}

static void append_atom(tree_cut *t, const atom *a)
{
    atom *now = &t->now;
    bool has_now = now->end != 0;
    bool is_inside_line = has_now && !myth_cut_begins_line(t->cut, a->off);
    bool is_close = has_now && nearly_fits(t, t->done, a->end);
    bool is_like = has_now && now->owner == a->owner && (now->kind == a->kind || is_mixed(t, a));
    if (has_now &&
        ((is_like && myth_cut_fits(t->cut, t->done, a->end)) || (is_close && (is_inside_line || a->is_tail)))) {
        now->end = a->end;
        if (is_like && !now->def)
            now->def = a->def;
        if (is_like && a->kind != now->kind && a->kind == MYTH_CHUNK_CLASS) {
            now->kind = a->kind;
            now->def = a->def;
        }
    } else
        open_chunk(t, a);
}

static void flush_lead(tree_cut *t)
{
    if (t->lead.end == 0)
        return;
    atom lead = t->lead;
    t->lead.end = 0;
    append_atom(t, &lead);
}

static void add_atom(tree_cut *t, const atom *a)
{
    if (a->is_lead) {
        if (t->lead.end == 0 && t->now.end != 0 && !myth_cut_begins_line(t->cut, a->off)) {
            append_atom(t, a);
            return;
        }
        if (t->lead.end != 0 && !myth_cut_fits(t->cut, t->lead.off, a->end))
            flush_lead(t);
        if (t->lead.end == 0)
            t->lead = *a;
        t->lead.end = a->end;
        return;
    }
    atom whole = *a;
    if (t->lead.end != 0) {
        if (myth_cut_fits(t->cut, t->lead.off, a->end)) {
            whole.off = t->lead.off;
            t->lead.end = 0;
            if (!whole.def && (whole.def = most_of(t->s, (uint32_t)whole.off, (uint32_t)whole.end)) != NULL)
                whole.kind = whole_kind(t->s, whole.def); /* a macro and its block are two nodes but one definition */
        } else
            flush_lead(t);
    }
    append_atom(t, &whole);
}

/* ---- atoms from the tree ---- */

static bool is_lead(const myth_symbols *s, TSNode node)
{
    const char *type = ts_node_type(node);
    return myth_node_marks_find(&s->lead, node) || strstr(type, "comment") || strcmp(type, "attribute_item") == 0 ||
           strcmp(type, "decorator") == 0 || strcmp(type, "php_tag") == 0;
}

static void take_whole(tree_cut *t, TSNode node, const place *at)
{
    uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    atom a = {.off = off, .end = end, .kind = at->kind, .owner = at->owner};
    if (myth_cut_solid(t->cut, off, end) == 0)
        return;
    if (is_lead(t->s, node))
        a.is_lead = true;
    else if (!at->owner && myth_node_marks_find(&t->s->import, node))
        a.kind = MYTH_CHUNK_IMPORTS;
    else {
        myth_def *d = most_of(t->s, off, end);
        if (d && !(at->is_part && kind_of(d) == MYTH_CHUNK_MODULE)) {
            a.def = d;
            a.kind = t->s->grammar->is->is_data ? MYTH_CHUNK_CONFIG : whole_kind(t->s, d);
        }
        a.is_lead = !a.def && end <= at->head_end;
        a.is_tail =
            !a.is_lead && ((!ts_node_is_named(node) && at->kind == MYTH_CHUNK_MODULE) || has_no_word(t->cut, &a));
    }
    add_atom(t, &a);
}

static void take_leaf(tree_cut *t, uint64_t off, uint64_t end, const place *at)
{
    while (off < end && !t->cut->is_out_of_memory) {
        uint64_t to = myth_cut_text_end(t->cut, off, end);
        add_atom(t, &(atom){.off = off, .end = to, .kind = at->kind, .owner = at->owner});
        off = to;
    }
}

static place inside(const tree_cut *t, TSNode node, const place *at)
{
    myth_def *d = myth_symbols_at(t->s, node);
    place in = *at;
    in.head_end = 0;
    if (d && !(at->is_part && kind_of(d) == MYTH_CHUNK_MODULE)) {
        in.owner = d;
        in.kind = t->s->grammar->is->is_data ? MYTH_CHUNK_CONFIG : kind_of(d);
        in.is_part = is_function(in.kind);
    }
    return in;
}

static void walk(tree_cut *t, TSTreeCursor *cursor, const place *at, uint32_t depth)
{
    TSNode node = ts_tree_cursor_current_node(cursor);
    uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    bool is_open = myth_node_marks_find(&t->s->open, node) || depth == 0;
    if (t->cut->is_out_of_memory)
        return;
    if (!is_open && myth_cut_fits(t->cut, off, end)) {
        take_whole(t, node, at);
        return;
    }
    place in = depth == 0 ? *at : inside(t, node, at);
    if (is_open && depth > 0) {
        const unsigned char *line = memchr(t->cut->text + off, '\n', end - off);
        in.head_end = line ? (uint32_t)(line - t->cut->text) : 0;
    }
    if (depth >= DEPTH || !ts_tree_cursor_goto_first_child(cursor)) {
        take_leaf(t, off, end, &in);
        return;
    }
    do
        walk(t, cursor, &in, depth + 1);
    while (ts_tree_cursor_goto_next_sibling(cursor));
    ts_tree_cursor_goto_parent(cursor);
}

void myth_cut_tree(myth_symbols *s, TSNode root)
{
    tree_cut t = {.s = s, .cut = s->cut};
    place file = {.kind = s->grammar->is->is_data ? MYTH_CHUNK_CONFIG : MYTH_CHUNK_MODULE};
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    walk(&t, &cursor, &file, 0);
    ts_tree_cursor_delete(&cursor);
    flush_lead(&t);
    close_chunk(&t, myth_cut_fits(s->cut, t.done, s->cut->n) ? s->cut->n : t.now.end);
    while (t.done < s->cut->n &&
           !s->cut->is_out_of_memory) { /* a file of blanks, or a long run of blanks after the last atom */
        uint64_t end = myth_cut_text_end(s->cut, t.done, s->cut->n);
        myth_cut_add_chunk(s->cut, t.done, end, MYTH_CHUNK_TEXT);
        t.done = end;
    }
}
