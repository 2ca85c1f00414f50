/* flow_events.c - the list of events with its scopes and tests: how it grows, and what is defined and used where
 * (flow.h). */
#include "flow_impl.h"

#include "engine/base/array.h"

#include <string.h>

static myth_event *put_event(myth_flow *f, myth_event_kind kind, TSNode node, uint32_t path, uint32_t most)
{
    static myth_event none;
    none = (myth_event){0};
    if (f->is_failed || !myth_flow_has_room(f, node, most))
        return &none;
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "events of a flow", &f->event, f->n_event, &f->cap_event)) {
        f->is_failed = true;
        return &none;
    }
    myth_event *e = &f->event[f->n_event++];
    *e = (myth_event){
        .off = ts_node_start_byte(node),
        .end = ts_node_end_byte(node),
        .line = ts_node_start_point(node).row + 1,
        .path = path,
        .scope = f->now_scope,
        .test = f->now_test,
        .statement = f->n_statement,
        .kind = (uint8_t)kind,
        .node = node,
    };
    return e;
}

bool myth_flow_has_room(myth_flow *f, TSNode node, uint32_t most)
{
    if (f->n_event >= most && !f->cut_line)
        f->cut_line = ts_node_start_point(node).row + 1;
    return f->n_event < most;
}

myth_event *myth_flow_put_event(myth_flow *f, myth_event_kind kind, TSNode node, uint32_t path)
{
    return put_event(f, kind, node, path, MYTH_FLOW_EVENTS);
}

void myth_flow_put_form(myth_flow *f, myth_event_kind kind, int how, TSNode at, TSNode about, uint32_t line)
{
    uint32_t off = ts_node_start_byte(about), n = ts_node_end_byte(about) - off, path = myth_flow_path(f, about);
    if (path == 0 && off + n <= f->n_text) {
        const char *end = memchr(f->text + off, '\n', n);
        n = end ? (uint32_t)(end - f->text) - off : n;
        path = myth_flow_path_of_word(f, off, n < MYTH_FLOW_PATH_BYTES ? n : MYTH_FLOW_PATH_BYTES);
    }
    myth_event *e = put_event(f, kind, at, path, 2 * MYTH_FLOW_EVENTS); /* also behind a function that fills its room */
    e->how = (uint8_t)how;
    e->call = line;
}

/* The path that has the text; 0 = the function has none. */
static uint32_t path_by_text(const myth_flow *f, const char *text)
{
    for (uint32_t p = 1; p < f->n_path && *text; p++)
        if (strcmp(f->names + f->path[p].text, text) == 0)
            return p;
    return 0;
}

bool myth_flow_put_lost(myth_flow *f, int how, uint32_t at, const char *about, const char *name, myth_lost_line line,
                        const char *text, uint32_t n_text)
{
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "lines of a change", &f->lost, f->n_lost, &f->cap_lost))
        return false;
    const uint32_t path = path_by_text(f, about);
    const myth_event of = f->event[at];
    myth_event *e = put_event(f, MYTH_EVENT_LOST, of.node, path ? path : of.path, 2 * MYTH_FLOW_EVENTS);
    e->how = (uint8_t)how;
    e->scope = of.scope;
    e->statement = of.statement;
    e->call = f->n_lost;
    e->name = *name ? myth_flow_put_name(f, name, (uint32_t)strlen(name)) : 0; /* moves no event */
    line.text = myth_flow_put_name(f, text, n_text);
    f->lost[f->n_lost++] = line;
    return !f->is_failed;
}

uint32_t myth_flow_open_scope(myth_flow *f, myth_scope_kind kind, TSNode node, uint32_t test)
{
    if (f->is_failed ||
        !MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "scopes of a flow", &f->scope, f->n_scope, &f->cap_scope)) {
        f->is_failed = true;
        return 0;
    }
    const myth_scope *in = &f->scope[f->now_scope];
    const bool is_loop = kind == MYTH_SCOPE_LOOP || kind == MYTH_SCOPE_CASE;
    f->scope[f->n_scope] = (myth_scope){
        .parent = f->now_scope,
        .off = ts_node_start_byte(node),
        .end = ts_node_end_byte(node),
        .test = test,
        .loop = is_loop                   ? f->n_scope
              : kind == MYTH_SCOPE_NESTED ? 0
                                          : in->loop,
        .kind = (uint8_t)kind,
    };
    f->now_scope = f->n_scope;
    return f->n_scope++;
}

void myth_flow_close_scope(myth_flow *f, uint32_t scope)
{
    if (!f->is_failed)
        f->now_scope = f->scope[scope].parent;
}

uint32_t myth_flow_open_test(myth_flow *f, TSNode node, bool is_loop)
{
    if (f->is_failed ||
        !MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "tests of a flow", &f->test, f->n_test, &f->cap_test)) {
        f->is_failed = true;
        return 0;
    }
    f->test[f->n_test] =
        (myth_test){.off = ts_node_start_byte(node), .end = ts_node_end_byte(node), .is_loop = is_loop};
    return ++f->n_test;
}

bool myth_flow_is_inside(const myth_flow *f, uint32_t s, uint32_t in)
{
    for (;; s = f->scope[s].parent) {
        if (s == in)
            return true;
        if (s == 0)
            return false;
    }
}

bool myth_flow_has_label(const myth_flow *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < f->n_label; i++)
        if (f->label[i] > from && f->label[i] <= to)
            return true;
    return false;
}

/* Whether an event is a goto to a label behind it; of macros that jump, and of labels elsewhere, that is not known. */
static bool jumps_ahead(const myth_event *x)
{
    return x->kind == MYTH_EVENT_LEAVE && x->index == MYTH_ROLE_GOTO && (x->call == 0 || x->call > x->off);
}

/* Whether an if with an else stands between two events in a block around both, and both of its branches leave; no goto
 * between them jumps over it. */
static bool branches_leave(const myth_flow *f, uint32_t a, uint32_t b)
{
    for (uint32_t t = 0; t < f->n_test; t++) {
        const myth_test *test = &f->test[t];
        if (!test->then || !test->other || test->off < f->event[a].off || test->off > f->event[b].off)
            continue;
        const myth_scope *then = &f->scope[test->then], *other = &f->scope[test->other];
        if (then->leaves != MYTH_LEAVES_FUNCTION || other->leaves != MYTH_LEAVES_FUNCTION ||
            other->end > f->event[b].off || myth_flow_is_optional(f, test->off, f->event[a].off, f->event[b].off) ||
            !myth_flow_is_inside(f, f->event[a].scope, then->parent) ||
            !myth_flow_is_inside(f, f->event[b].scope, then->parent))
            continue;
        bool has_goto = false;
        for (uint32_t i = a + 1; i < b && f->event[i].off < other->end; i++)
            has_goto |= jumps_ahead(&f->event[i]);
        if (!(has_goto && myth_flow_has_label(f, other->end, f->event[b].off)))
            return true;
    }
    return false;
}

/* Whether a return or the like stands between two events in a block around both, and no goto jumps over it. */
static bool leaves_between(const myth_flow *f, uint32_t a, uint32_t b)
{
    bool has_goto = false;
    for (uint32_t i = a + 1; i < b; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind != MYTH_EVENT_LEAVE || x->end > f->event[b].off ||
            myth_flow_is_optional(f, x->off, f->event[a].off, f->event[b].off))
            continue;
        has_goto |= jumps_ahead(x);
        if (x->index == MYTH_ROLE_LEAVE && f->scope[x->scope].kind == MYTH_SCOPE_CASE)
            continue;
        if (myth_flow_is_inside(f, f->event[b].scope, x->scope) &&
            myth_flow_is_inside(f, f->event[a].scope, x->scope) &&
            !(has_goto && myth_flow_has_label(f, x->end, f->event[b].off)))
            return true;
    }
    return false;
}

/* Whether a scope is in a handler, or a `finally`, of the statement that stands in scope `in`. */
static bool is_handled(const myth_flow *f, uint32_t s, uint32_t in)
{
    for (; s; s = f->scope[s].parent)
        if ((f->scope[s].kind == MYTH_SCOPE_CATCH || f->scope[s].kind == MYTH_SCOPE_FINALLY) &&
            f->scope[s].parent == in)
            return true;
    return false;
}

bool myth_flow_reaches(const myth_flow *f, uint32_t a, uint32_t b)
{
    const myth_event *to = &f->event[b];
    if (myth_flow_is_alternative(f, f->event[a].off, to->off))
        return false;
    for (uint32_t s = f->event[a].scope; !myth_flow_is_inside(f, to->scope, s); s = f->scope[s].parent) {
        const myth_scope *in = &f->scope[s];
        if (in->kind == MYTH_SCOPE_NESTED)
            return false;
        if (in->kind == MYTH_SCOPE_TRY && is_handled(f, to->scope, in->parent))
            continue; /* an error comes from anywhere in it */
        if (in->leaves == MYTH_LEAVES_FUNCTION)
            return false;
        const myth_scope *loop = &f->scope[in->loop]; /* none: a macro begins the loop */
        const uint32_t loop_end = loop->switch_end > loop->end ? loop->switch_end : loop->end;
        if (in->leaves == MYTH_LEAVES_LOOP && in->loop && to->off < loop_end)
            return false;
        if (in->leaves == MYTH_LEAVES_TO_LABEL && in->label_off > 0 && to->off < in->label_off)
            return false;
        for (uint32_t t = to->scope; in->test && t; t = f->scope[t].parent) /* the other branch of one test */
            if (f->scope[t].test == in->test && t != s)
                return false;
    }
    return !leaves_between(f, a, b) && !branches_leave(f, a, b);
}

bool myth_flow_defines_again(const myth_flow *f, uint32_t a, uint32_t b, uint32_t path)
{
    uint32_t back = 0;
    for (uint32_t i = a + 1; i < b && !back; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_LEAVE && x->index == MYTH_ROLE_GOTO && x->call && x->call < f->event[a].off &&
            myth_flow_is_inside(f, f->event[a].scope, x->scope))
            back = x->call;
    }
    for (uint32_t i = 0; back && i < a; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path == path && d->off > back &&
            myth_flow_is_inside(f, f->event[a].scope, d->scope) && myth_flow_is_inside(f, f->event[b].scope, d->scope))
            return true;
    }
    return false;
}

/* ---- reading nodes ---- */

void myth_flow_each_node(myth_flow *f, TSNode node, bool (*on)(myth_flow *f, TSNode node, const myth_around *around))
{
    static myth_around around; /* large, and the process has one thread */
    TSTreeCursor c = ts_tree_cursor_new(node);
    around.n = 1;
    around.node[0] = node;
    for (bool is_more = ts_tree_cursor_goto_first_child(&c); is_more && !f->is_failed;) {
        const TSNode now = ts_tree_cursor_current_node(&c);
        const bool is_own = f->is_outer && role_of(f, now) == MYTH_ROLE_FUNCTION; /* has a flow of its own */
        if (!is_own && on(f, now, &around) && ts_tree_cursor_goto_first_child(&c)) {
            if (around.n++ < MYTH_FLOW_AROUND)
                around.node[around.n - 1] = now;
            continue;
        }
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            around.n--;
    }
    ts_tree_cursor_delete(&c);
}

void myth_flow_walk_children(myth_flow *f, TSNode node, uint32_t depth)
{
    TSTreeCursor c = ts_tree_cursor_new(node);
    if (ts_tree_cursor_goto_first_child(&c))
        do {
            const TSNode child = ts_tree_cursor_current_node(&c);
            if (ts_node_is_named(child))
                myth_flow_walk(f, child, depth + 1);
        } while (!f->is_failed && ts_tree_cursor_goto_next_sibling(&c));
    ts_tree_cursor_delete(&c);
}

void myth_flow_walk_slot(myth_flow *f, TSNode node, myth_slot slot, uint32_t depth)
{
    const TSNode child = child_of(f, node, slot);
    if (!is_null(child))
        myth_flow_walk(f, child, depth + 1);
}

void myth_flow_use(myth_flow *f, TSNode node, uint32_t depth)
{
    if (role_of(f, node) != MYTH_ROLE_NAME) {
        myth_flow_walk(f, node, depth);
        return;
    }
    const uint32_t path = myth_flow_path(f, node); /* none: a name that the parser missed, or a very long one */
    if (path)
        myth_flow_put_event(f, MYTH_EVENT_USE, node, path);
}

/* What is done to the base of x.field, x[i] and *x: it must be there. */
void myth_flow_deref(myth_flow *f, TSNode node, uint32_t depth)
{
    const myth_role role = role_of(f, node);
    const TSNode base = role == MYTH_ROLE_INDEX ? base_of(f, node) : child_of(f, node, MYTH_SLOT_BASE);
    if (is_null(base))
        return;
    const TSNode in = myth_flow_inner(f, base);
    const uint32_t path = myth_flow_path(f, in);
    const bool is_optional = role == MYTH_ROLE_MEMBER && ts_node_child_count(node) > 2 &&
                             strcmp(ts_node_type(ts_node_child(node, 1)), "optional_chain") == 0;
    if (path && is_optional)
        myth_flow_put_event(f, MYTH_EVENT_USE, in, path);
    else if (path)
        myth_flow_put_event(f, MYTH_EVENT_DEREF, node, path);
    if (role_of(f, in) != MYTH_ROLE_NAME)
        myth_flow_walk(f, in, depth + 1);
    const TSNode i = role == MYTH_ROLE_INDEX ? index_of(f, node) : (TSNode){0};
    if (!is_null(i)) {
        uint32_t by = myth_flow_path(f, i), name, p;
        const myth_value v = myth_flow_value(f, i, &p, &name);
        if (by == 0 && (v == MYTH_VALUE_SUM || v == MYTH_VALUE_PRODUCT)) {
            const TSNode left = child_of(f, myth_flow_inner(f, i), MYTH_SLOT_LEFT);
            by = is_null(left) ? 0 : myth_flow_path(f, left);
        }
        const TSNode step = myth_flow_inner(f, i);
        if (by == 0 && role_of(f, step) == MYTH_ROLE_CHANGE) /* a[i++] */
            by = myth_flow_path(f, base_of(f, step));
        if (by && !myth_flow_is_constant_name(f->names + f->path[by].text)) {
            myth_event *e = myth_flow_put_event(f, MYTH_EVENT_INDEX, node, by);
            e->other = path;
            e->value = (uint8_t)v;
        }
        myth_flow_walk(f, i, depth + 1);
    }
}

/* A path that gets a value. */
void myth_flow_define(myth_flow *f, TSNode target, TSNode value, uint32_t depth)
{
    target = myth_flow_inner(f, target);
    if (is_null(target))
        return;
    const myth_role role = role_of(f, target);
    if (role == MYTH_ROLE_MEMBER || role == MYTH_ROLE_INDEX || role == MYTH_ROLE_POINTER)
        myth_flow_deref(f, target, depth);
    const uint32_t path = myth_flow_path(f, target);
    if (path) {
        uint32_t other = 0, name = 0;
        const myth_value v = is_null(value) ? MYTH_VALUE_UNKNOWN : myth_flow_value(f, value, &other, &name);
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_DEFINE, target, path);
        e->value = (uint8_t)v;
        e->other = other;
        e->name = name;
        e->is_through = role != MYTH_ROLE_NAME;
        return;
    }
    if (role == MYTH_ROLE_INDEX && !is_null(value)) { /* items[n - 1] = p: what p is has another owner */
        uint32_t other = 0, name = 0;
        const myth_value v = myth_flow_value(f, value, &other, &name);
        if (v != MYTH_VALUE_PATH || other == 0)
            return;
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_DEFINE, target, 0);
        e->value = (uint8_t)v;
        e->other = other;
        e->is_through = true;
        return;
    }
    for (uint32_t i = 0; role == MYTH_ROLE_NONE && i < ts_node_named_child_count(target) && i < 16; i++)
        myth_flow_define(f, ts_node_named_child(target, i), (TSNode){0}, depth + 1); /* a, b = f() */
}

void myth_flow_field(myth_flow *f, TSNode node, TSNode key, TSNode value)
{
    uint32_t other, called;
    if (is_null(key) || is_null(value))
        return;
    uint32_t off = ts_node_start_byte(key), end = ts_node_end_byte(key);
    while (off < end && end <= f->n_text && strchr("\"'`.[", f->text[off]))
        off++; /* a name in quotes, or C's .name and ["name"] */
    while (end > off && end <= f->n_text && strchr("\"'`]", f->text[end - 1]))
        end--;
    if (end > f->n_text || end - off > MYTH_FLOW_PATH_BYTES || end == off)
        return;
    const myth_value v = myth_flow_value(f, value, &other, &called);
    const uint32_t name = myth_flow_put_name(f, f->text + off, end - off);
    myth_event *e = myth_flow_put_event(f, MYTH_EVENT_FIELD, node, 0);
    e->value = (uint8_t)v;
    e->other = other;
    e->name = name;
}

/* The name that a declarator declares, with what its type adds. */
TSNode myth_flow_declared(const myth_flow *f, TSNode node, bool *is_pointer, bool *is_array, bool *is_function)
{
    for (int i = 0; i < 16 && !is_null(node); i++) {
        const char *type = ts_node_type(node);
        if (role_of(f, node) == MYTH_ROLE_NAME)
            return node;
        if (ts_node_has_error(node) && strcmp(type, "init_declarator") == 0 && ts_node_named_child_count(node) > 1) {
            const TSNode second = ts_node_named_child(node, 1); /* cleanup_free int n = f(): the first word is a type */
            const TSNode name = ts_node_is_error(second) ? ts_node_named_child(second, 0) : (TSNode){0};
            if (!is_null(name) && role_of(f, name) == MYTH_ROLE_NAME && ts_node_named_child_count(second) == 1)
                return name;
        }
        *is_pointer |= strstr(type, "pointer_declarator") != NULL;
        *is_array |= strstr(type, "array_declarator") != NULL;
        *is_function |= strstr(type, "function_declarator") != NULL;
        TSNode in = child_of(f, node, MYTH_SLOT_LEFT);
        if (is_null(in) && ts_node_named_child_count(node) > 0)
            in = ts_node_named_child(node, 0);
        node = in;
    }
    return (TSNode){0};
}

void myth_flow_set_type(myth_flow *f, uint32_t path, TSNode type, bool is_pointer, bool is_array)
{
    if (!path || f->is_failed)
        return;
    myth_path *p = &f->path[path];
    if (!is_null(type)) {
        p->type_off = ts_node_start_byte(type);
        p->type_end = ts_node_end_byte(type);
        for (uint32_t i = p->type_off; i < p->type_end && i < f->n_text; i++)
            is_pointer |= f->text[i] == '*';
    }
    p->is_pointer = is_pointer;
    p->is_array = is_array;
}

void myth_flow_parameters(myth_flow *f, TSNode function)
{
    TSNode at = function, list = child_of(f, at, MYTH_SLOT_PARAMETERS);
    for (int i = 0; i < 8 && is_null(list) && !is_null(at); i++) {
        at = child_of(f, at, MYTH_SLOT_LEFT);
        if (is_null(at))
            return;
        list = child_of(f, at, MYTH_SLOT_PARAMETERS);
    }
    if (is_null(list))
        return;
    const bool is_one = role_of(f, list) == MYTH_ROLE_NAME; /* x => ... */
    uint32_t at_index = 0;
    for (uint32_t i = 0; i < (is_one ? 1 : ts_node_named_child_count(list)) && i < 64; i++) {
        const TSNode p = is_one ? list : ts_node_named_child(list, i);
        bool is_pointer = false, is_array = false, is_function = false;
        if (role_of(f, p) != MYTH_ROLE_PARAMETER && role_of(f, p) != MYTH_ROLE_NAME)
            continue;
        const TSNode name = myth_flow_declared(f, p, &is_pointer, &is_array, &is_function);
        if (is_null(name))
            continue;
        const uint32_t path = myth_flow_path(f, name);
        myth_flow_set_type(f, path, child_of(f, p, MYTH_SLOT_TYPE), is_pointer, is_array);
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_DEFINE, name, path);
        e->value = MYTH_VALUE_PARAMETER;
        e->index = (uint8_t)at_index++;
        const bool is_list = strcmp(ts_node_type(p), "parameter_declaration") == 0; /* Go: a, b int */
        for (uint32_t j = 1; is_list && j < ts_node_named_child_count(p) && j < 16; j++) {
            const TSNode more = ts_node_named_child(p, j);
            if (role_of(f, more) != MYTH_ROLE_NAME || ts_node_eq(more, name))
                continue;
            const uint32_t other = myth_flow_path(f, more);
            myth_flow_set_type(f, other, child_of(f, p, MYTH_SLOT_TYPE), false, false);
            e = myth_flow_put_event(f, MYTH_EVENT_DEFINE, more, other);
            e->value = MYTH_VALUE_PARAMETER;
            e->index = (uint8_t)at_index++;
        }
    }
}

static void put_import(myth_flow *f, TSNode node, uint32_t off, uint32_t end)
{
    const bool is_name = off < end && end <= f->n_text && end - off <= MYTH_FLOW_PATH_BYTES;
    const uint32_t path = is_name ? myth_flow_path_of_word(f, off, end - off) : 0;
    if (path)
        myth_flow_put_event(f, MYTH_EVENT_DEFINE, node, path)->value = MYTH_VALUE_IMPORT;
}

/* The name that Go gives to "net/http" or "example.org/yaml/v3": its last part that is no version. */
static void put_import_path(myth_flow *f, TSNode node)
{
    uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node), at;
    if (end > f->n_text || end - off < 3)
        return;
    off++; /* the quotes */
    end--;
    for (;;) {
        for (at = end; at > off && f->text[at - 1] != '/';)
            at--;
        const bool is_version = end - at >= 2 && f->text[at] == 'v' && f->text[at + 1] >= '0' && f->text[at + 1] <= '9';
        if (!is_version || at == off)
            break;
        end = at - 1;
    }
    const char *dot = memchr(f->text + at, '.', end - at); /* yaml.v3 */
    put_import(f, node, at, dot ? (uint32_t)(dot - f->text) : end);
}

void myth_flow_imports(myth_flow *f, TSNode node, int deep)
{
    const TSNode module = ts_node_child_by_field_name(node, "module_name", 11);
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && deep < 4; i++) {
        const TSNode child = ts_node_named_child(node, i);
        const char *type = ts_node_type(child);
        const TSNode alias = ts_node_child_by_field_name(child, "alias", 5);
        TSNode name = is_null(alias) ? ts_node_child_by_field_name(child, "name", 4) : alias;
        if (!is_null(module) && ts_node_eq(child, module))
            continue; /* from MODULE import NAME */
        if (strcmp(type, "identifier") == 0)
            name = child;
        else if (strcmp(type, "dotted_name") == 0)
            name = ts_node_named_child(child, 0); /* import os.path: os */
        const bool is_whole = is_null(name) || strcmp(ts_node_type(name), "identifier") == 0 ||
                              strcmp(ts_node_type(name), "package_identifier") == 0;
        const TSNode path = ts_node_child_by_field_name(child, "path", 4);
        if (!is_null(name) && is_whole)
            put_import(f, name, ts_node_start_byte(name), ts_node_end_byte(name));
        else if (strcmp(type, "import_spec") == 0 && !is_null(path))
            put_import_path(f, path);
        else
            myth_flow_imports(f, child, deep + 1);
    }
}

/* C's declarations: one type, several names. */
void myth_flow_declaration(myth_flow *f, TSNode node, uint32_t depth)
{
    const TSNode type = child_of(f, node, MYTH_SLOT_TYPE);
    const uint32_t off = ts_node_start_byte(node);
    const bool is_elsewhere =
        off + 7 <= f->n_text && (memcmp(f->text + off, "extern", 6) == 0 || memcmp(f->text + off, "static", 6) == 0);
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 64; i++) {
        const TSNode d = ts_node_named_child(node, i);
        bool is_pointer = false, is_array = false, is_function = false;
        if (!is_null(type) && ts_node_eq(d, type))
            continue;
        const bool has_value = role_of(f, d) == MYTH_ROLE_ASSIGN;
        if (!has_value && !strstr(ts_node_type(d), "declarator") && role_of(f, d) != MYTH_ROLE_NAME)
            continue;
        const TSNode name = myth_flow_declared(f, d, &is_pointer, &is_array, &is_function);
        if (is_null(name) || is_function)
            continue;
        const uint32_t path = myth_flow_path(f, name);
        myth_flow_set_type(f, path, type, is_pointer, is_array);
        const TSNode value = has_value ? child_of(f, d, MYTH_SLOT_RIGHT) : (TSNode){0};
        if (!is_null(value))
            myth_flow_walk(f, value, depth + 1);
        uint32_t other = 0, called = 0;
        const myth_value v = is_null(value) ? MYTH_VALUE_NOTHING : myth_flow_value(f, value, &other, &called);
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_DEFINE, name, path);
        e->value = (uint8_t)(v == MYTH_VALUE_NOTHING && is_elsewhere ? MYTH_VALUE_UNKNOWN : v);
        e->other = other;
        e->name = called;
    }
}
