/* flow_impl.h - what the files that make a flow share (flow.h): walking the tree, and adding events, scopes and tests.
 * `depth` counts nodes from the function downwards; below MYTH_FLOW_DEPTH nothing is read. */
#ifndef MYTH_FLOW_IMPL_H
#define MYTH_FLOW_IMPL_H

#include "flow.h"

enum { MYTH_FLOW_AROUND = 512 };

static inline TSNode child_of(const myth_flow *f, TSNode node, myth_slot slot)
{
    return myth_roles_child(f->roles, node, slot);
}
static inline myth_role role_of(const myth_flow *f, TSNode node) { return myth_roles_of(f->roles, node); }
static inline bool is_null(TSNode node) { return ts_node_is_null(node); }

/* The operand of *x, !x and x++, and the base of x.y and x[i]: in some grammars it has no field, and is the first
 * child. Null when there is none. */
static inline TSNode base_of(const myth_flow *f, TSNode node)
{
    const TSNode base = child_of(f, node, MYTH_SLOT_BASE);
    return is_null(base) ? ts_node_named_child(node, 0) : base;
}

/* i of x[i]: without a field it is the second child, and in C++ it is in a list. */
static inline TSNode index_of(const myth_flow *f, TSNode node)
{
    TSNode index = child_of(f, node, MYTH_SLOT_INDEX);
    if (is_null(index))
        index = ts_node_named_child(node, 1);
    const bool is_list =
        !is_null(index) && ts_node_named_child_count(index) == 1 && role_of(f, index) == MYTH_ROLE_NONE;
    return is_list ? ts_node_named_child(index, 0) : index;
}

uint32_t myth_flow_put_name(myth_flow *f, const char *name, uint32_t n);
char myth_flow_first_byte(const myth_flow *f, TSNode node);
bool myth_flow_text_is(const myth_flow *f, TSNode node, const char *want);
TSNode myth_flow_inner(const myth_flow *f, TSNode node);
uint32_t myth_flow_callee_name(myth_flow *f, TSNode call, TSNode callee);
/* The path whose text is this word, as if it stood alone. */
uint32_t myth_flow_path_of_word(myth_flow *f, uint32_t off, uint32_t n);
bool myth_flow_is_one_of(const char *name, const char *const *list, size_t n);
bool myth_flow_has_one_of(const char *name, const char *const *list, size_t n); /* whether one is a part of the name */
bool myth_flow_begins_with(const char *name, const char *const *list, size_t n);
/* Whether a name is in capitals, as those of constants and macros are. */
bool myth_flow_is_constant_name(const char *name);
const char *myth_flow_last_word(const char *name);
bool myth_flow_is_operator(const myth_flow *f, TSNode node, const char *want);
bool myth_flow_is_filled(TSNode text);
myth_event *myth_flow_put_event(myth_flow *f, myth_event_kind kind, TSNode node, uint32_t path);
/* Whether a flow has fewer than `most` events; if not, its cut_line becomes the node's line. */
bool myth_flow_has_room(myth_flow *f, TSNode node, uint32_t most);
/* Adds the event of a form of code (../forms): `how` says which form, the event's path is that of `about`, and `line`
 * is another line that the form is about; 0 = none. */
void myth_flow_put_form(myth_flow *f, myth_event_kind kind, int how, TSNode at, TSNode about, uint32_t line);
/* Adds an event MYTH_EVENT_LOST at the place of event `at` (../change): `how` says what a change took away, `about` is
 * the text of the path that it was about, `name` the function of a lost call. text: of the line before the change,
 * without blanks at its ends; it becomes line.text. False without memory. */
bool myth_flow_put_lost(myth_flow *f, int how, uint32_t at, const char *about, const char *name, myth_lost_line line,
                        const char *text, uint32_t n_text);
uint32_t myth_flow_open_scope(myth_flow *f, myth_scope_kind kind, TSNode node, uint32_t test);
void myth_flow_close_scope(myth_flow *f, uint32_t scope);
uint32_t myth_flow_open_test(myth_flow *f, TSNode node, bool is_loop);
/* The nodes around a node. The walk collects them on its way, because ts_node_parent searches from the root. */
typedef struct {
    TSNode node[MYTH_FLOW_AROUND]; /* [n] the nearest last */
    uint32_t n;
} myth_around;

/* The node that is i + 1 levels above; null outside of the function, or where the tree is too deep. */
static inline TSNode around_at(const myth_around *a, uint32_t i)
{
    return i < a->n && a->n <= MYTH_FLOW_AROUND ? a->node[a->n - 1 - i] : (TSNode){0};
}

/* Calls `on` for all nodes inside of a node, in the order of the text. Where it returns false, it is not called for
 * what is inside of that node. */
void myth_flow_each_node(myth_flow *f, TSNode node, bool (*on)(myth_flow *f, TSNode node, const myth_around *around));
void myth_flow_walk_children(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_walk_slot(myth_flow *f, TSNode node, myth_slot slot, uint32_t depth);
void myth_flow_use(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_deref(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_define(myth_flow *f, TSNode target, TSNode value, uint32_t depth);
TSNode myth_flow_declared(const myth_flow *f, TSNode node, bool *is_pointer, bool *is_array, bool *is_function);
void myth_flow_set_type(myth_flow *f, uint32_t path, TSNode type, bool is_pointer, bool is_array);
void myth_flow_parameters(myth_flow *f, TSNode function);
/* Defines the names that an import statement gives to modules and to their parts; in grammars that give such names. */
void myth_flow_imports(myth_flow *f, TSNode node, int deep);
void myth_flow_declaration(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_condition(myth_flow *f, TSNode node, bool is_not, uint32_t depth);
void myth_flow_branch(myth_flow *f, TSNode node, myth_scope_kind kind, uint32_t test, uint32_t depth);
/* Adds the event of a division, `node`, by `by`. */
void myth_flow_divide(myth_flow *f, TSNode node, TSNode by);
/* Adds the event that `node` gives a value to the member or parameter named by `key`. */
void myth_flow_field(myth_flow *f, TSNode node, TSNode key, TSNode value);
/* The value in a member of a literal, which is its last child; in Go that child is a node around the value. */
static inline TSNode value_of_pair(const myth_flow *f, TSNode pair)
{
    const TSNode value = ts_node_named_child(pair, ts_node_named_child_count(pair) - 1);
    const bool is_wrapped = role_of(f, value) == MYTH_ROLE_NONE && ts_node_named_child_count(value) == 1;
    return is_wrapped ? ts_node_named_child(value, 0) : value;
}
void myth_flow_binary(myth_flow *f, TSNode node, bool is_tested, uint32_t depth);
void myth_flow_mark_leaving(myth_flow *f, myth_leaves how, uint32_t label_off);
void myth_flow_if_node(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_choice(myth_flow *f, TSNode node, uint32_t depth);
/* Finds the parts of a choice: c, a and b of c ? a : b. */
void myth_flow_choice_parts(const myth_flow *f, TSNode node, TSNode *cond, TSNode *then, TSNode *other);
/* How an operator compares its sides; false = it does not compare. */
bool myth_flow_comparison(const myth_flow *f, TSNode node, myth_test_kind *out);
/* The comparison with its sides exchanged: < becomes >. */
myth_test_kind myth_flow_turned(myth_test_kind t);
/* Whether the line at p, which begins with blanks and a #, is a directive that begins with the word. */
bool myth_flow_is_directive(const char *p, const char *end, const char *word);
/* Finds the branches of #if and #else in the text of the function. */
void myth_flow_branches(myth_flow *f);
/* Whether offset x is in a branch of an #if in which a or b is not: a program compiled without that branch goes from a
 * to b without passing x. */
bool myth_flow_is_optional(const myth_flow *f, uint32_t x, uint32_t a, uint32_t b);
void myth_flow_loop(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_for_each(myth_flow *f, TSNode node, uint32_t depth);
void myth_flow_walk(myth_flow *f, TSNode node, uint32_t depth);

#endif
