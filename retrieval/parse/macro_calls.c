/* macro_calls.c - see macro_calls.h. One pass over the tokens: what came before a bracket is kept as a state. */
#include "macro_calls.h"

#include <stdbool.h>
#include <string.h>

typedef enum {
    OTHER,
    DEFINES, /* fn, struct */
    NAME,
    BANG, /* name ! */
    PATH, /* name :: */
    TYPES /* name :: < */
} before;

typedef struct {
    before state;
    TSNode name;
    int n_open; /* TYPES: angle brackets that are open */
} look;

static bool is_type(TSNode node, const char *type) { return strcmp(ts_node_type(node), type) == 0; }

static before after_types(look *l, TSNode token)
{
    l->n_open += is_type(token, "<");
    l->n_open -= is_type(token, ">>") ? 2 : is_type(token, ">");
    return l->n_open > 0 ? TYPES : NAME;
}

/* What the tokens up to this one say about the next. */
static before after(look *l, TSNode token)
{
    if (ts_node_is_extra(token)) /* a comment */
        return l->state;
    if (l->state == TYPES)
        return after_types(l, token);
    if (is_type(token, "identifier")) {
        l->name = token;
        return l->state == DEFINES ? OTHER : NAME;
    }
    if (l->state == NAME && is_type(token, "!"))
        return BANG;
    if (l->state == NAME && is_type(token, "::"))
        return PATH;
    if (l->state == PATH && is_type(token, "<")) {
        l->n_open = 1;
        return TYPES;
    }
    return is_type(token, "fn") || is_type(token, "struct") ? DEFINES : OTHER;
}

void myth_macro_calls(TSNode tokens, const char *text, void (*on_call)(void *arg, TSNode name), void *arg)
{
    look l = {.state = OTHER};
    TSTreeCursor c = ts_tree_cursor_new(tokens);
    bool is_more = ts_tree_cursor_goto_first_child(&c);
    while (is_more) {
        const TSNode token = ts_tree_cursor_current_node(&c);
        if (is_type(token, "token_tree")) {
            if (l.state == BANG || (l.state == NAME && text[ts_node_start_byte(token)] == '('))
                on_call(arg, l.name);
            l.state = OTHER;
            if (ts_tree_cursor_goto_first_child(&c))
                continue;
        } else {
            l.state = after(&l, token);
        }
        while (!(is_more = ts_tree_cursor_goto_next_sibling(&c)) && ts_tree_cursor_goto_parent(&c))
            l.state = OTHER;
    }
    ts_tree_cursor_delete(&c);
}
