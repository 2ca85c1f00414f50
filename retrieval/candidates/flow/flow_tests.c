/* flow_tests.c - conditions, and the branches and loops that depend on them (flow.h).
 *
 * Tests   every comparison and every condition gives events of the paths in it. `a && b`: what is in b is only
 *         reached where a holds, so a is a test of its own whose range is the whole expression */
#include "flow_impl.h"

#include <string.h>

myth_test_kind myth_flow_turned(myth_test_kind t)
{
    switch (t) {
    case MYTH_TEST_LESS: return MYTH_TEST_MORE;
    case MYTH_TEST_MORE: return MYTH_TEST_LESS;
    case MYTH_TEST_AT_MOST: return MYTH_TEST_AT_LEAST;
    case MYTH_TEST_AT_LEAST: return MYTH_TEST_AT_MOST;
    default: return t;
    }
}

bool myth_flow_comparison(const myth_flow *f, TSNode node, myth_test_kind *out)
{
    static const struct {
        const char *text;
        myth_test_kind is;
    } all[] = {
        {"==", MYTH_TEST_EQUAL},      {"!=", MYTH_TEST_NOT_EQUAL}, {"===", MYTH_TEST_EQUAL},
        {"!==", MYTH_TEST_NOT_EQUAL}, {"is", MYTH_TEST_EQUAL},     {"is not", MYTH_TEST_NOT_EQUAL},
        {"<", MYTH_TEST_LESS},        {"<=", MYTH_TEST_AT_MOST},   {">", MYTH_TEST_MORE},
        {">=", MYTH_TEST_AT_LEAST},   {"in", MYTH_TEST_IN},        {"not in", MYTH_TEST_IN},
        {"instanceof", MYTH_TEST_IN},
    };
    const TSNode op = child_of(f, node, MYTH_SLOT_OPERATOR);
    for (size_t i = 0; !is_null(op) && i < sizeof(all) / sizeof(*all); i++)
        if (myth_flow_text_is(f, op, all[i].text)) {
            *out = all[i].is;
            return true;
        }
    return false;
}

static void side(myth_flow *f, TSNode node, TSNode a, TSNode b, myth_test_kind how, uint32_t depth)
{
    uint32_t other = 0, name = 0, unused;
    TSNode in = myth_flow_inner(f, a);
    uint32_t path = myth_flow_path(f, in);
    const myth_value v = myth_flow_value(f, b, &other, &name);
    myth_value own = myth_flow_value(f, a, &unused, &name);
    if (path == 0 && !is_null(in) && role_of(f, in) == MYTH_ROLE_ASSIGN) /* (p = f()) == NULL */
        path = myth_flow_path(f, child_of(f, in, MYTH_SLOT_LEFT));
    else if (path == 0 && (own == MYTH_VALUE_SUM || own == MYTH_VALUE_PRODUCT || own == MYTH_VALUE_SIZE)) {
        const TSNode left = child_of(f, in, MYTH_SLOT_LEFT);
        path = is_null(left) ? 0 : myth_flow_path(f, left);
        if (path == 0 && !is_null(left)) {
            const TSNode right = child_of(f, in, MYTH_SLOT_RIGHT);
            path = is_null(right) ? 0 : myth_flow_path(f, right);
        }
    }
    if (!is_null(in))
        myth_flow_walk(f, in, depth + 1);
    if (path == 0)
        return;
    myth_event *e = myth_flow_put_event(f, MYTH_EVENT_TEST, node, path);
    e->other = other;
    e->value = (uint8_t)v;
    if (v == MYTH_VALUE_NULL && (how == MYTH_TEST_EQUAL || how == MYTH_TEST_NOT_EQUAL))
        how = how == MYTH_TEST_EQUAL ? MYTH_TEST_NULL : MYTH_TEST_NOT_NULL;
    e->how = (uint8_t)how;
}

/* a && b, a || b, and the same in words. */
static bool is_chain(const myth_flow *f, TSNode node)
{
    return myth_flow_is_operator(f, node, "&&") || myth_flow_is_operator(f, node, "||") ||
           myth_flow_is_operator(f, node, "and") || myth_flow_is_operator(f, node, "or");
}

/* What a call measures: its receiver, else its first argument. */
static uint32_t measured(myth_flow *f, TSNode call)
{
    const TSNode callee = child_of(f, call, MYTH_SLOT_CALLEE), list = child_of(f, call, MYTH_SLOT_ARGUMENTS);
    TSNode of = child_of(f, call, MYTH_SLOT_BASE); /* Java */
    if (!is_null(callee) && role_of(f, callee) == MYTH_ROLE_MEMBER)
        of = child_of(f, callee, MYTH_SLOT_BASE);
    if (is_null(of) && !is_null(list) && ts_node_named_child_count(list) > 0)
        of = ts_node_named_child(list, 0);
    return is_null(of) ? 0 : myth_flow_path(f, of);
}

void myth_flow_divide(myth_flow *f, TSNode node, TSNode by)
{
    uint32_t path = myth_flow_path(f, by), other, name;
    const myth_value v = myth_flow_value(f, by, &other, &name);
    const bool is_call = v == MYTH_VALUE_CALL || (v == MYTH_VALUE_SIZE && name != 0);
    if ((!path && !is_call) || (path && myth_flow_is_constant_name(f->names + f->path[path].last)))
        return;
    if (!path && v == MYTH_VALUE_SIZE)
        path = measured(f, myth_flow_inner(f, by));
    myth_event *e = myth_flow_put_event(f, MYTH_EVENT_DIVIDE, node, path);
    if (is_call) {
        e->value = (uint8_t)v;
        e->name = name;
    }
}

/* Whether left % right puts values into a text, and left / right names a file: _("a %s") % b, form % (a, b),
 * form % str(a), where / "a" / b. */
static bool makes_text(myth_flow *f, TSNode left, TSNode right)
{
    static const char *const gives_text[] = {"tuple", "str", "repr", "dict", "locals", "_", "gettext", "ugettext"};
    const size_t n = sizeof(gives_text) / sizeof(*gives_text);
    uint32_t other, name;
    const char *type = ts_node_type(right);
    if (strcmp(type, "tuple") == 0 || strcmp(type, "dictionary") == 0)
        return true;
    if (myth_flow_value(f, right, &other, &name) == MYTH_VALUE_CALL &&
        myth_flow_is_one_of(f->names + name, gives_text, n))
        return true;
    if (is_null(left))
        return false;
    if (role_of(f, left) == MYTH_ROLE_BINARY) {
        const TSNode part = child_of(f, left, MYTH_SLOT_RIGHT);
        const myth_value v = is_null(part) ? MYTH_VALUE_UNKNOWN : myth_flow_value(f, part, &other, &name);
        return v == MYTH_VALUE_TEXT || v == MYTH_VALUE_JOINED;
    }
    if (myth_flow_value(f, left, &other, &name) != MYTH_VALUE_CALL)
        return false;
    const TSNode list = child_of(f, myth_flow_inner(f, left), MYTH_SLOT_ARGUMENTS);
    const TSNode first = is_null(list) ? list : ts_node_named_child(list, 0);
    const myth_value v = is_null(first) ? MYTH_VALUE_UNKNOWN : myth_flow_value(f, first, &other, &name);
    return v == MYTH_VALUE_TEXT || v == MYTH_VALUE_JOINED;
}

void myth_flow_binary(myth_flow *f, TSNode node, bool is_tested, uint32_t depth)
{
    const TSNode left = child_of(f, node, MYTH_SLOT_LEFT), right = child_of(f, node, MYTH_SLOT_RIGHT);
    myth_test_kind how;
    if (is_chain(f, node)) {
        const uint32_t before = f->now_test;
        const bool is_or = myth_flow_is_operator(f, node, "||") || myth_flow_is_operator(f, node, "or");
        const bool is_same = before && f->test[before - 1].is_chain && f->test[before - 1].is_or == is_or;
        if (!is_same) {
            f->now_test = myth_flow_open_test(f, node, false);
            if (f->now_test) {
                f->test[f->now_test - 1].outer = before;
                f->test[f->now_test - 1].is_chain = true;
                f->test[f->now_test - 1].is_or = is_or;
            }
        }
        myth_flow_condition(f, left, false, depth + 1);
        if (is_tested)
            myth_flow_condition(f, right, false, depth + 1);
        else if (!is_null(right))
            myth_flow_walk(f, right, depth + 1);
        f->now_test = before;
        return;
    }
    if (myth_flow_comparison(f, node, &how)) {
        TSNode a = left, b = right;
        if (is_null(a)) { /* Python: the operands have no names */
            a = ts_node_named_child(node, 0);
            b = ts_node_named_child_count(node) > 1 ? ts_node_named_child(node, 1) : (TSNode){0};
        }
        if (!is_null(a) && !is_null(b)) {
            side(f, node, a, b, how, depth);
            side(f, node, b, a, myth_flow_turned(how), depth);
            return;
        }
    }
    const TSNode op = child_of(f, node, MYTH_SLOT_OPERATOR);
    const char c = is_null(op) ? '\0' : myth_flow_first_byte(f, op);
    if ((c == '/' || c == '%') && !is_null(right)) {
        uint32_t other, name;
        const myth_value v = myth_flow_value(f, left, &other, &name);
        if (v != MYTH_VALUE_TEXT && v != MYTH_VALUE_JOINED && !makes_text(f, left, right))
            myth_flow_divide(f, node, right);
    }
    if (!is_null(left))
        myth_flow_use(f, left, depth + 1);
    if (!is_null(right))
        myth_flow_use(f, right, depth + 1);
}

/* Functions that give back what they are given, for the compiler's sake. */
static const char *const hint_name[] = {"likely",   "unlikely",   "__builtin_expect", "LIKELY",
                                        "UNLIKELY", "G_UNLIKELY", "G_LIKELY"};

/* What a hint around a condition is about; the node itself where there is none. */
static TSNode without_hint(const myth_flow *f, TSNode node)
{
    if (role_of(f, node) != MYTH_ROLE_CALL)
        return node;
    const TSNode callee = child_of(f, node, MYTH_SLOT_CALLEE), list = child_of(f, node, MYTH_SLOT_ARGUMENTS);
    for (size_t i = 0; i < sizeof(hint_name) / sizeof(*hint_name) && !is_null(callee) && !is_null(list); i++)
        if (myth_flow_text_is(f, callee, hint_name[i]) && ts_node_named_child_count(list) > 0)
            return myth_flow_inner(f, ts_node_named_child(list, 0));
    return node;
}

/* A node whose truth decides something. */
void myth_flow_condition(myth_flow *f, TSNode node, bool is_not, uint32_t depth)
{
    node = myth_flow_inner(f, node);
    if (is_null(node) || depth > MYTH_FLOW_DEPTH)
        return;
    node = without_hint(f, node);
    const myth_role role = role_of(f, node);
    if (role == MYTH_ROLE_UNARY && (myth_flow_first_byte(f, node) == '!' || myth_flow_first_byte(f, node) == 'n')) {
        myth_flow_condition(f, base_of(f, node), !is_not, depth + 1);
        return;
    }
    if (role == MYTH_ROLE_BINARY) {
        myth_flow_binary(f, node, true, depth);
        return;
    }
    uint32_t path = myth_flow_path(f, node);
    if (path == 0 && role == MYTH_ROLE_ASSIGN)
        path = myth_flow_path(f, child_of(f, node, MYTH_SLOT_LEFT));
    if (role != MYTH_ROLE_NAME)
        myth_flow_walk(f, node, depth + 1);
    if (path) {
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_TEST, node, path);
        e->how = is_not ? MYTH_TEST_FALSE : MYTH_TEST_TRUE;
    }
}

/* Whether a block ends by leaving, and how. */
void myth_flow_mark_leaving(myth_flow *f, myth_leaves how, uint32_t label_off)
{
    if (f->is_failed)
        return;
    myth_scope *s = &f->scope[f->now_scope];
    if (s->leaves == MYTH_LEAVES_NOT && f->now_scope != 0 && s->kind != MYTH_SCOPE_NESTED) {
        s->leaves = (uint8_t)how;
        s->label_off = label_off;
    }
}

void myth_flow_branch(myth_flow *f, TSNode node, myth_scope_kind kind, uint32_t test, uint32_t depth)
{
    const uint32_t before = f->now_test;
    if (is_null(node))
        return;
    f->now_test = 0;
    const uint32_t scope = myth_flow_open_scope(f, kind, node, test);
    if (test && !f->is_failed) {
        if (kind == MYTH_SCOPE_ELSE)
            f->test[test - 1].other = scope;
        else
            f->test[test - 1].then = scope;
    }
    myth_flow_walk(f, node, depth + 1);
    myth_flow_close_scope(f, scope);
    f->now_test = before;
}

void myth_flow_if_node(myth_flow *f, TSNode node, uint32_t depth)
{
    const TSNode first = child_of(f, node, MYTH_SLOT_FIRST), cond = child_of(f, node, MYTH_SLOT_CONDITION);
    const uint32_t before = f->now_test;
    if (!is_null(first)) /* Go: if err := f(); err != nil */
        myth_flow_walk(f, first, depth + 1);
    const uint32_t test = myth_flow_open_test(f, is_null(cond) ? node : cond, false);
    f->now_test = test;
    myth_flow_condition(f, cond, false, depth + 1);
    f->now_test = before;
    const TSNode then = child_of(f, node, MYTH_SLOT_THEN);
    myth_flow_branch(f, then, MYTH_SCOPE_THEN, test, depth);
    const uint32_t then_scope = test ? f->test[test - 1].then : 0;
    TSTreeCursor c = ts_tree_cursor_new(node); /* elif and else are several children of the name `alternative` */
    const uint32_t outer = f->now_scope;
    if (ts_tree_cursor_goto_first_child(&c))
        do {
            if (myth_roles_is_slot(f->roles, ts_tree_cursor_current_field_id(&c), MYTH_SLOT_ELSE))
                myth_flow_branch(f, ts_tree_cursor_current_node(&c), MYTH_SCOPE_ELSE, test, depth);
        } while (!f->is_failed && ts_tree_cursor_goto_next_sibling(&c));
    ts_tree_cursor_delete(&c);
    const uint32_t else_scope = test && !f->is_failed ? f->test[test - 1].other : 0;
    if (then_scope && else_scope && f->scope[then_scope].leaves && f->scope[else_scope].leaves && f->now_scope == outer)
        myth_flow_mark_leaving(f, (myth_leaves)f->scope[else_scope].leaves, f->scope[else_scope].label_off);
}

void myth_flow_choice_parts(const myth_flow *f, TSNode node, TSNode *cond, TSNode *then, TSNode *other)
{
    *cond = child_of(f, node, MYTH_SLOT_CONDITION);
    *then = child_of(f, node, MYTH_SLOT_THEN);
    *other = child_of(f, node, MYTH_SLOT_ELSE);
    if (is_null(*cond) && ts_node_named_child_count(node) == 3) { /* Python: a if c else b */
        *then = ts_node_named_child(node, 0);
        *cond = ts_node_named_child(node, 1);
        *other = ts_node_named_child(node, 2);
    }
}

void myth_flow_choice(myth_flow *f, TSNode node, uint32_t depth)
{
    TSNode cond, then, other;
    const uint32_t before = f->now_test;
    myth_flow_choice_parts(f, node, &cond, &then, &other);
    const uint32_t test = myth_flow_open_test(f, is_null(cond) ? node : cond, false);
    f->now_test = test;
    myth_flow_condition(f, cond, false, depth + 1);
    f->now_test = before;
    myth_flow_branch(f, then, MYTH_SCOPE_THEN, test, depth);
    myth_flow_branch(f, other, MYTH_SCOPE_ELSE, test, depth);
}

void myth_flow_loop(myth_flow *f, TSNode node, uint32_t depth)
{
    TSNode head = node; /* Go: the clause is a node of its own */
    const uint32_t before = f->now_test;
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 2; i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (strcmp(ts_node_type(child), "for_clause") == 0)
            head = child;
        else if (role_of(f, child) == MYTH_ROLE_FOR_EACH)
            myth_flow_walk(f, child, depth + 1); /* Go: range */
    }
    const TSNode body = child_of(f, node, MYTH_SLOT_BODY);
    const TSNode left = child_of(f, node, MYTH_SLOT_LEFT), right = child_of(f, node, MYTH_SLOT_RIGHT);
    if (!is_null(left) && !is_null(right)) { /* Python: for x in y */
        myth_flow_walk(f, right, depth + 1);
        myth_flow_define(f, left, (TSNode){0}, depth + 1);
        if (f->n_event > 0 && f->event[f->n_event - 1].kind == MYTH_EVENT_DEFINE)
            f->event[f->n_event - 1].value = MYTH_VALUE_LOOP;
    }
    myth_flow_walk_slot(f, head, MYTH_SLOT_FIRST, depth);
    const TSNode cond = child_of(f, head, MYTH_SLOT_CONDITION);
    if (!is_null(cond) && !is_null(body) && ts_node_end_byte(body) <= ts_node_start_byte(cond)) { /* do ... while */
        myth_flow_branch(f, body, MYTH_SCOPE_LOOP, 0, depth);
        f->now_test = myth_flow_open_test(f, cond, true);
        myth_flow_condition(f, cond, false, depth + 1);
        f->now_test = before;
        return;
    }
    uint32_t test = 0;
    if (!is_null(cond)) {
        test = myth_flow_open_test(f, cond, true);
        f->now_test = test;
        myth_flow_condition(f, cond, false, depth + 1);
        f->now_test = before;
    }
    const TSNode next = child_of(f, head, MYTH_SLOT_NEXT);
    if (test && !is_null(next) && !f->is_failed) {
        f->test[test - 1].next = ts_node_start_byte(next);
        f->test[test - 1].next_end = ts_node_end_byte(next);
    }
    myth_flow_branch(f, body, MYTH_SCOPE_LOOP, test, depth);
    myth_flow_walk_slot(f, head, MYTH_SLOT_NEXT, depth);
}

void myth_flow_for_each(myth_flow *f, TSNode node, uint32_t depth)
{
    TSNode left = child_of(f, node, MYTH_SLOT_LEFT), right = child_of(f, node, MYTH_SLOT_RIGHT);
    if (!is_null(right))
        myth_flow_walk(f, right, depth + 1);
    const uint32_t before = f->n_event;
    if (!is_null(left)) {
        bool is_pointer = false, is_array = false, is_function = false;
        const TSNode name = myth_flow_declared(f, left, &is_pointer, &is_array, &is_function);
        myth_flow_define(f, is_null(name) ? left : name, (TSNode){0}, depth + 1);
    }
    for (uint32_t i = before; i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE)
            f->event[i].value = MYTH_VALUE_LOOP;
    myth_flow_branch(f, child_of(f, node, MYTH_SLOT_BODY), MYTH_SCOPE_LOOP, 0, depth);
}
