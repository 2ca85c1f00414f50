/* item_macros.c - see item_macros.h. */
#include "item_macros.h"

#include <string.h>

enum { DEPTH = 64, NODES = 16 }; /* modules and blocks inside of one another; nodes between two questions to stop */

static bool is_type(TSNode node, const char *type) { return strcmp(ts_node_type(node), type) == 0; }

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), n_end = strlen(end);
    return n >= n_end && strcmp(s + n - n_end, end) == 0;
}

/* The macro that a node among items is; null when it is none. */
static TSNode macro_of(TSNode node)
{
    if (is_type(node, "expression_statement") && ts_node_named_child_count(node) == 1)
        node = ts_node_named_child(node, 0);
    return is_type(node, "macro_invocation") ? node : (TSNode){0};
}

static bool is_item(TSNode node)
{
    const char *type = ts_node_type(node);
    return !is_type(node, "attribute_item") && !is_type(node, "inner_attribute_item") &&
           (ends_with(type, "_item") || ends_with(type, "_declaration") || is_type(node, "macro_definition")) &&
           !is_type(node, "let_declaration");
}

static bool may_be_among_items(TSNode node)
{
    return !ts_node_is_named(node) || is_item(node) || ts_node_is_extra(node) || macro_of(node).id ||
           ends_with(ts_node_type(node), "attribute_item") || is_type(node, "associated_type") ||
           is_type(node, "empty_statement");
}

static void put(unsigned char *out, const unsigned char *text, const myth_item_macro *m, bool is_open)
{
    for (uint32_t i = m->off; i <= m->open; i++)
        out[i] = is_open && text[i] != '\n' ? ' ' : text[i];
    out[m->close] = is_open ? ' ' : text[m->close];
}

typedef struct {
    myth_item_macros *m;
    unsigned char *out;
    const unsigned char *text;
    uint32_t n_before;                 /* macros of the rounds before */
    uint32_t n_item[MYTH_ITEM_MACROS]; /* items and macros inside of each that is open */
    bool is_wrong[MYTH_ITEM_MACROS];
    bool may_open, is_stopped;
    bool (*stop)(void *arg);
    void *arg;
    uint32_t n_node;
} look;

static bool may_go_on(look *l)
{
    l->is_stopped = l->is_stopped || (++l->n_node % NODES == 0 && l->stop(l->arg));
    return !l->is_stopped;
}

static void add(look *l, TSNode macro)
{
    const uint32_t n = ts_node_child_count(macro), off = ts_node_start_byte(macro);
    const TSNode tokens = n ? ts_node_child(macro, n - 1) : (TSNode){0};
    if (!l->may_open || l->m->n == MYTH_ITEM_MACROS || !tokens.id || !is_type(tokens, "token_tree"))
        return;
    const uint32_t open = ts_node_start_byte(tokens), end = ts_node_end_byte(tokens);
    if (l->text[open] != '{' || end < open + 2 || l->text[end - 1] != '}' || ts_node_has_error(tokens))
        return;
    for (uint32_t i = 0; i < l->m->n; i++)
        if (l->m->macro[i].off == off)
            return; /* closed again by an earlier round */
    l->m->macro[l->m->n++] = (myth_item_macro){.off = off, .open = open, .close = end - 1};
}

/* What an item, or anything else among items, says about the open macros around it. */
static void judge(look *l, TSNode node)
{
    const uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    const bool is_right = may_be_among_items(node), is_content = is_item(node) || macro_of(node).id;
    for (uint32_t i = 0; i < l->n_before; i++) {
        const myth_item_macro *m = &l->m->macro[i];
        if (m->is_closed || end <= m->open || off > m->close)
            continue;
        const bool is_inside = off > m->open && end <= m->close, is_around = off < m->off && end > m->close;
        l->n_item[i] += is_inside && is_content;
        l->is_wrong[i] |= !is_around && (!is_inside || !is_right);
    }
}

/* Errors anywhere inside of an open macro. */
static void judge_errors(look *l, TSNode root)
{
    TSTreeCursor c = ts_tree_cursor_new(root);
    for (bool is_more = ts_node_has_error(root); is_more && may_go_on(l);) {
        TSNode node = ts_tree_cursor_current_node(&c);
        if (ts_node_is_error(node) || ts_node_is_missing(node))
            for (uint32_t i = 0; i < l->n_before; i++)
                l->is_wrong[i] |=
                    ts_node_start_byte(node) <= l->m->macro[i].close && ts_node_end_byte(node) >= l->m->macro[i].open;
        else if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&c))
            continue;
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
}

/* Everything that stands among items: in the file, in modules, and in blocks of impl, trait and extern. */
static void walk(look *l, TSTreeCursor *c, uint32_t depth)
{
    if (depth == DEPTH || !ts_tree_cursor_goto_first_child(c))
        return;
    do {
        const TSNode node = ts_tree_cursor_current_node(c), macro = macro_of(node);
        judge(l, node);
        if (macro.id)
            add(l, macro);
        else if (is_item(node) && ts_tree_cursor_goto_first_child(c)) {
            do
                if (is_type(ts_tree_cursor_current_node(c), "declaration_list"))
                    walk(l, c, depth + 1);
            while (ts_tree_cursor_goto_next_sibling(c));
            ts_tree_cursor_goto_parent(c);
        }
    } while (may_go_on(l) && ts_tree_cursor_goto_next_sibling(c));
    ts_tree_cursor_goto_parent(c);
}

static bool is_wrong(const look *l, uint32_t i)
{
    return !l->m->macro[i].is_closed && (l->is_wrong[i] || l->n_item[i] == 0);
}

bool myth_item_macros_round(myth_item_macros *m, unsigned char *out, const unsigned char *text, TSNode root,
                            bool may_open, bool (*stop)(void *arg), void *arg)
{
    look l = {.m = m, .out = out, .text = text, .n_before = m->n, .may_open = may_open, .stop = stop, .arg = arg};
    TSTreeCursor c = ts_tree_cursor_new(root);
    walk(&l, &c, 0);
    ts_tree_cursor_delete(&c);
    judge_errors(&l, root);
    if (l.is_stopped) {
        m->n = l.n_before;
        return false;
    }
    uint32_t from = l.n_before; /* an error spreads, so what was opened last is closed before what stood
                                   * before */
    for (uint32_t i = m->n_old; i < l.n_before; i++)
        from = is_wrong(&l, i) ? m->n_old : from;
    from = from == l.n_before ? 0 : from;
    bool is_changed = m->n > l.n_before;
    for (uint32_t i = from; i < l.n_before; i++) {
        if (!is_wrong(&l, i))
            continue;
        m->macro[i].is_closed = true;
        put(out, text, &m->macro[i], false);
        is_changed = true;
    }
    m->n_old = m->n > l.n_before ? l.n_before : m->n_old;
    for (uint32_t i = l.n_before; i < m->n; i++)
        put(out, text, &m->macro[i], true);
    return is_changed;
}
