/* flow.c - see flow.h. One walk over the nodes of a function: each role has its function here or in flow_events.c and
 * flow_tests.c. */
#include "flow_impl.h"

#include "engine/base/array.h"

#include <string.h>

/* Functions whose argument holds where the next statement is reached, by a word in their name. */
static const char *const assert_word[] = {"assert",  "Assert",   "ASSERT",    "return_if", "require",
                                          "Require", "CHECK",    "check_arg", "BUG_ON",    "expect",
                                          "verify",  "Validate", "return_val"};
/* Functions that do not return. */
static const char *const end_name[] = {
    "exit",        "_exit",     "abort",      "sys.exit",  "os.Exit",    "panic",         "process.exit",
    "System.exit", "log.Fatal", "log.Fatalf", "die",       "fatal",      "errx",          "err",
    "os._exit",    "t.Fatal",   "t.Fatalf",   "t.FailNow", "t.Skip",     "b.Fatal",       "b.Fatalf",
    "log.Fatalln", "log.Panic", "log.Panicf", "std::exit", "std::abort", "process::exit", "std::process::exit"};

void myth_flow_open(myth_flow *f, myth_mem *mem, const myth_roles *roles, const char *text, uint32_t n)
{
    *f = (myth_flow){.roles = roles, .mem = mem, .text = text, .n_text = n};
}

void myth_flow_close(myth_flow *f)
{
    myth_free(f->mem, f->event);
    myth_free(f->mem, f->scope);
    myth_free(f->mem, f->test);
    myth_free(f->mem, f->path);
    myth_free(f->mem, f->branch);
    myth_free(f->mem, f->lost);
    myth_free(f->mem, f->names);
    myth_free(f->mem, f->slot);
    *f = (myth_flow){0};
}

/* ---- calls ---- */

static bool has_assert_word(const char *name)
{
    return myth_flow_has_one_of(name, assert_word, sizeof(assert_word) / sizeof(*assert_word));
}

/* Whether a name in capitals has the word between its borders or lines. */
static bool has_part(const char *name, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = name; (p = strstr(p, word)) != NULL; p += n)
        if ((p == name || p[-1] == '_') && (p[n] == '\0' || p[n] == '_'))
            return true;
    return false;
}

/* Whether a name is of a macro that leaves, as ABORT_FINALIZE(rc) and BAIL_OUT: where it goes is not known. */
static bool is_leaving_macro(const char *name)
{
    static const char *const leaves[] = {"ABORT", "FINALIZE", "GOTO", "BAIL", "THROW", "RETURN"};
    static const char *const may[] = {"IF", "ON", "UNLESS", "CHECK", "CHK", "TRACE", "ASSERT", "LOG"};
    if (!myth_flow_is_constant_name(name))
        return false;
    for (size_t i = 0; i < sizeof(may) / sizeof(*may); i++)
        if (has_part(name, may[i]))
            return false;
    for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++)
        if (has_part(name, leaves[i]))
            return true;
    return false;
}

/* Whether a statement is such a macro without arguments. */
static bool is_leaving_word(const myth_flow *f, TSNode statement)
{
    char name[32];
    const TSNode in = ts_node_named_child_count(statement) == 1 ? ts_node_named_child(statement, 0) : (TSNode){0};
    const uint32_t off = is_null(in) ? 0 : ts_node_start_byte(in), end = is_null(in) ? 0 : ts_node_end_byte(in);
    if (end <= off || end - off >= sizeof(name) || end > f->n_text || role_of(f, in) != MYTH_ROLE_NAME)
        return false;
    memcpy(name, f->text + off, end - off);
    name[end - off] = '\0';
    return is_leaving_macro(name);
}

static void argument(myth_flow *f, TSNode node, uint32_t call, uint32_t index, uint32_t depth)
{
    TSNode in = myth_flow_inner(f, node);
    bool is_address = false;
    const myth_role role = role_of(f, in);
    if (role == MYTH_ROLE_KEYWORD) {
        myth_flow_field(f, in, child_of(f, in, MYTH_SLOT_LEFT), child_of(f, in, MYTH_SLOT_RIGHT));
        in = myth_flow_inner(f, child_of(f, in, MYTH_SLOT_RIGHT));
        if (is_null(in))
            return;
    }
    if ((role == MYTH_ROLE_POINTER || role == MYTH_ROLE_UNARY || role == MYTH_ROLE_REFERENCE) &&
        myth_flow_first_byte(f, in) == '&') {
        TSNode base = child_of(f, in, MYTH_SLOT_BASE);
        if (is_null(base) && ts_node_named_child_count(in) > 0)
            base = ts_node_named_child(in, ts_node_named_child_count(in) - 1);
        in = myth_flow_inner(f, base);
        is_address = true;
    }
    if (is_null(in))
        return;
    const uint32_t path = myth_flow_path(f, in);
    if (role_of(f, in) != MYTH_ROLE_NAME)
        myth_flow_walk(f, in, depth + 1);
    if (path) {
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_ARG, in, path);
        e->call = call;
        e->index = (uint8_t)(index > 255 ? 255 : index);
        e->name = call < f->n_event ? f->event[call].name : 0;
        e->is_through = is_address;
    }
}

/* Whether a call is a link of a chain that ends where its last call is made: log.Fatal().Err(err).Msg("gone") */
static bool is_chained(const myth_flow *f, TSNode node)
{
    const TSNode outer = ts_node_parent(node);
    return !is_null(outer) && role_of(f, outer) == MYTH_ROLE_MEMBER;
}

static bool is_end_of_chain(const myth_flow *f, TSNode node)
{
    static const char *const begin[] = {"log.Fatal().", "log.Panic()."};
    const uint32_t off = ts_node_start_byte(node), n = (uint32_t)strlen(begin[0]);
    bool is_end = false;
    for (size_t i = 0; i < sizeof(begin) / sizeof(*begin) && off + n <= f->n_text; i++)
        is_end |= memcmp(f->text + off, begin[i], n) == 0;
    return is_end && f->dropped == node.id;
}

static void call(myth_flow *f, TSNode node, bool is_new, uint32_t depth)
{
    const TSNode callee = child_of(f, node, MYTH_SLOT_CALLEE), list = child_of(f, node, MYTH_SLOT_ARGUMENTS);
    const TSNode object = child_of(f, node, MYTH_SLOT_BASE); /* Java */
    const uint32_t name = myth_flow_callee_name(f, node, callee);
    const char *text = f->names ? f->names + name : ""; /* until the next name is put */
    const bool is_end =
        (myth_flow_is_one_of(text, end_name, sizeof(end_name) / sizeof(*end_name)) && !is_chained(f, node)) ||
        (f->dropped == node.id && is_leaving_macro(text)) || is_end_of_chain(f, node);
    const bool has_word = !is_new && has_assert_word(text);
    const bool is_assert = has_word && !f->now_test; /* if (!requires_lock(p)) asserts nothing of p */
    const bool is_macro = !has_word && (myth_flow_is_constant_name(text) || strstr(text, "foreach") ||
                                        strstr(text, "for_each") || strstr(text, "va_"));
    uint32_t receiver = 0;
    if (!is_null(callee) && role_of(f, callee) == MYTH_ROLE_MEMBER) {
        const TSNode base = child_of(f, callee, MYTH_SLOT_BASE);
        receiver = is_null(base) ? 0 : myth_flow_path(f, base);
        myth_flow_deref(f, callee, depth + 1);
    } else if (!is_null(object) && role_of(f, callee) == MYTH_ROLE_NAME && !ts_node_eq(object, callee)) {
        const TSNode in = myth_flow_inner(f, object);
        receiver = myth_flow_path(f, in);
        if (receiver)
            myth_flow_put_event(f, MYTH_EVENT_DEREF, node, receiver);
        if (role_of(f, in) != MYTH_ROLE_NAME)
            myth_flow_walk(f, in, depth + 1);
    } else if (!is_null(callee) && role_of(f, callee) != MYTH_ROLE_NAME && !is_new)
        myth_flow_walk(f, callee, depth + 1);
    const uint32_t at = f->n_event;
    myth_event *e = myth_flow_put_event(f, MYTH_EVENT_CALL, node, receiver);
    e->name = name;
    e->is_dropped = f->dropped == node.id;
    e->is_guarded = f->deferred == node.id;
    const uint32_t before = f->now_test;
    if (is_assert) {
        f->now_test = myth_flow_open_test(f, node, false);
        if (f->now_test)
            f->test[f->now_test - 1].is_assert = true;
    }
    for (uint32_t i = 0; !is_null(list) && i < ts_node_named_child_count(list) && i < 64; i++) {
        const TSNode a = ts_node_named_child(list, i);
        const uint32_t first = f->n_event;
        if (is_assert && i == 0 && myth_flow_first_byte(f, a) == '!') /* BUG_ON(!p) */
            myth_flow_condition(f, a, false, depth + 1);
        argument(f, a, at, i, depth + 1);
        if (f->now_test && f->n_event > first && f->event[f->n_event - 1].kind == MYTH_EVENT_ARG) {
            const uint32_t path = f->event[f->n_event - 1].path; /* assert(p), if (is_ok(p)) */
            myth_event *t = myth_flow_put_event(f, MYTH_EVENT_TEST, a, path);
            const bool is_only = ts_node_named_child_count(list) == 1; /* not of require.Equal(t, a, b) */
            t->how = is_assert && is_only ? MYTH_TEST_TRUE : MYTH_TEST_PART;
        }
    }
    f->now_test = before;
    /* &x, and x of a macro: it may have been written */
    const uint32_t n_event = f->n_event;
    for (uint32_t i = at; i < n_event && i < at + 256 && !f->is_failed; i++) {
        const myth_event arg = f->event[i];
        if (arg.kind != MYTH_EVENT_ARG || arg.call != at || !(arg.is_through || is_macro))
            continue;
        myth_event *d = myth_flow_put_event(f, MYTH_EVENT_DEFINE, arg.node, arg.path);
        d->value = MYTH_VALUE_OUT;
        d->name = name;
        d->is_through = arg.is_through;
    }
    if (!f->is_failed && is_leaving_macro(f->names + name))
        myth_flow_mark_leaving(f, MYTH_LEAVES_TO_LABEL, 0);
    if (is_end) {
        myth_flow_put_event(f, MYTH_EVENT_LEAVE, node, 0);
        myth_flow_mark_leaving(f, MYTH_LEAVES_FUNCTION, 0);
    }
}

/* ---- leaving ---- */

/* Go: the results that have names are returned by a return without a value, and where the function ends. */
static void named_results(myth_flow *f, TSNode function, TSNode at)
{
    const TSNode list = ts_node_child_by_field_name(function, "result", 6);
    for (uint32_t i = 0; !is_null(list) && !is_null(at) && i < ts_node_named_child_count(list) && i < 16; i++) {
        const TSNode parameter = ts_node_named_child(list, i);
        for (uint32_t k = 0; k < ts_node_named_child_count(parameter) && k < 16; k++) {
            const TSNode name = ts_node_named_child(parameter, k);
            const uint32_t path = role_of(f, name) == MYTH_ROLE_NAME ? myth_flow_path(f, name) : 0;
            if (path)
                myth_flow_put_event(f, MYTH_EVENT_RETURN, at, path);
        }
    }
}

/* The last of a function's tokens, its closing brace. */
static TSNode end_of(const myth_flow *f, TSNode function)
{
    const TSNode body = child_of(f, function, MYTH_SLOT_BODY);
    return is_null(body) || ts_node_child_count(body) == 0 ? (TSNode){0}
                                                           : ts_node_child(body, ts_node_child_count(body) - 1);
}

static TSNode function_around(const myth_flow *f, TSNode node)
{
    for (int i = 0; i < 256 && !is_null(node) && role_of(f, node) != MYTH_ROLE_FUNCTION; i++)
        node = ts_node_parent(node);
    return node;
}

static void leave(myth_flow *f, TSNode node, myth_role role, uint32_t depth)
{
    const bool is_value = role == MYTH_ROLE_RETURN || role == MYTH_ROLE_THROW;
    uint32_t path = 0, other = 0, name = 0;
    myth_value v = MYTH_VALUE_UNKNOWN;
    if (is_value && ts_node_named_child_count(node) > 0) {
        const TSNode value = ts_node_named_child(node, 0);
        path = myth_flow_path(f, value);
        v = myth_flow_value(f, value, &other, &name);
        if (path == 0 || role_of(f, myth_flow_inner(f, value)) != MYTH_ROLE_NAME)
            myth_flow_walk_children(f, node, depth);
        if (path) {
            myth_event *r = myth_flow_put_event(f, MYTH_EVENT_RETURN, node, path);
            r->value = (uint8_t)v;
        }
    }
    if (role == MYTH_ROLE_RETURN && ts_node_named_child_count(node) == 0) {
        const TSNode function = function_around(f, node);
        if (!is_null(function))
            named_results(f, function, node);
    }
    myth_event *e = myth_flow_put_event(f, MYTH_EVENT_LEAVE, node, path);
    e->value = (uint8_t)v;
    e->index = (uint8_t)role;
    if (role == MYTH_ROLE_GOTO)
        return; /* its scope is marked when the label is known */
    myth_flow_mark_leaving(f, is_value ? MYTH_LEAVES_FUNCTION : MYTH_LEAVES_LOOP, 0);
}

/* A macro that leaves goes to a label behind it, at the nearest to the first, or out of a function without one. goto:
 * the scope leaves to the place of its label. */
static void settle_labels(myth_flow *f)
{
    for (uint32_t i = 0; i < f->n_scope; i++) {
        myth_scope *s = &f->scope[i];
        for (uint32_t l = 0; s->leaves == MYTH_LEAVES_TO_LABEL && l < f->n_label && !s->label_off; l++)
            s->label_off = f->label[l] >= s->end ? f->label[l] : 0;
        if (s->leaves == MYTH_LEAVES_TO_LABEL && !s->label_off)
            s->leaves = MYTH_LEAVES_FUNCTION;
    }
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_LEAVE || e->index != MYTH_ROLE_GOTO)
            continue;
        const TSNode label = child_of(f, e->node, MYTH_SLOT_LABEL);
        const TSNode name = is_null(label) ? ts_node_named_child(e->node, 0) : label;
        if (is_null(name))
            continue;
        const uint32_t off = ts_node_start_byte(name), n = ts_node_end_byte(name) - off;
        uint32_t at = 0;
        for (uint32_t l = 0; l < f->n_label && at == 0; l++)
            if (f->label[l] > e->end && f->label[l] + n < f->n_text &&
                memcmp(f->text + f->label[l], f->text + off, n) == 0 && f->text[f->label[l] + n] == ':')
                at = f->label[l];
        f->event[i].call = at;
        for (uint32_t l = 0; l < f->n_label && at == 0; l++)
            if (f->label[l] < e->off && f->label[l] + n < f->n_text &&
                memcmp(f->text + f->label[l], f->text + off, n) == 0 && f->text[f->label[l] + n] == ':')
                f->event[i].call = f->label[l];
        myth_scope *s = &f->scope[e->scope];
        if (s->leaves == MYTH_LEAVES_NOT && e->scope != 0) {
            s->leaves = MYTH_LEAVES_TO_LABEL;
            s->label_off = at;
        }
    }
}

/* What a variable is after x += value and the like. */
static myth_value changed(myth_flow *f, TSNode op, TSNode value)
{
    uint32_t path, name;
    const char c = myth_flow_first_byte(f, op);
    const myth_value v = is_null(value) ? MYTH_VALUE_UNKNOWN : myth_flow_value(f, value, &path, &name);
    if (c == '+' && (v == MYTH_VALUE_TEXT || v == MYTH_VALUE_JOINED))
        return MYTH_VALUE_JOINED;
    return c == '+' || c == '-' ? MYTH_VALUE_SUM : c == '*' ? MYTH_VALUE_PRODUCT : MYTH_VALUE_UNKNOWN;
}

static void assign(myth_flow *f, TSNode node, uint32_t depth)
{
    const TSNode left = child_of(f, node, MYTH_SLOT_LEFT), right = child_of(f, node, MYTH_SLOT_RIGHT);
    const TSNode op = child_of(f, node, MYTH_SLOT_OPERATOR);
    const bool is_change = !is_null(op) && !myth_flow_text_is(f, op, "=") && !myth_flow_text_is(f, op, ":=");
    if (!is_null(right))
        myth_flow_walk(f, right, depth + 1);
    if (is_null(left))
        return;
    if (is_change) {
        myth_flow_use(f, left, depth + 1);
        const char c = myth_flow_first_byte(f, op);
        if ((c == '/' || c == '%') && !is_null(right))
            myth_flow_divide(f, node, right);
    }
    bool is_pointer = false, is_array = false, is_function = false;
    const TSNode type = child_of(f, node, MYTH_SLOT_TYPE);
    TSNode target = left;
    if (!is_null(type) || strstr(ts_node_type(left), "declarator"))
        target = myth_flow_declared(f, left, &is_pointer, &is_array, &is_function);
    const uint32_t n = ts_node_named_child_count(left);
    if (role_of(f, left) == MYTH_ROLE_GROUP && n > 1) { /* Go: a, b := f() or a, b = x, y */
        const bool is_pairs = !is_null(right) && ts_node_named_child_count(right) == n;
        for (uint32_t i = 0; i < n && i < 16; i++) {
            const uint32_t first = f->n_event;
            myth_flow_define(f, ts_node_named_child(left, i), is_pairs ? ts_node_named_child(right, i) : right,
                             depth + 1);
            if (f->n_event > first && f->event[f->n_event - 1].kind == MYTH_EVENT_DEFINE)
                f->event[f->n_event - 1].index = (uint8_t)i;
        }
    } else if (!is_null(target)) {
        myth_flow_define(f, target, is_change ? (TSNode){0} : right, depth + 1);
        if (is_change && f->n_event > 0 && f->event[f->n_event - 1].kind == MYTH_EVENT_DEFINE)
            f->event[f->n_event - 1].value = (uint8_t)changed(f, op, right);
    }
    const bool is_declarator = strstr(ts_node_type(node), "declarator") || strstr(ts_node_type(node), "short_var");
    if (!is_null(target) && is_declarator && !f->is_failed) {
        const uint32_t path = myth_flow_path(f, target); /* may move f->path */
        f->path[path].is_declared = true;
    }
    if (!is_null(target) && !is_null(type))
        myth_flow_set_type(f, myth_flow_path(f, target), type, is_pointer, is_array);
}

/* Where the switch around a case ends. */
static uint32_t switch_end(const myth_flow *f, TSNode node)
{
    for (int i = 0; i < 4 && !is_null(node); i++, node = ts_node_parent(node))
        if (role_of(f, node) == MYTH_ROLE_SWITCH)
            return ts_node_end_byte(node);
    return 0;
}

/* Whether control goes on from the end of a case to the next one: in C, JavaScript and Java's old form. */
static bool falls_through(TSNode node)
{
    static const char *const type[] = {"case_statement", "switch_case", "switch_default",
                                       "switch_block_statement_group"};
    return myth_flow_is_one_of(ts_node_type(node), type, sizeof(type) / sizeof(*type));
}

static void walk_in_scope(myth_flow *f, TSNode node, myth_scope_kind kind, uint32_t depth)
{
    const uint32_t before = f->now_test, scope = myth_flow_open_scope(f, kind, node, 0);
    f->now_test = 0;
    if (kind == MYTH_SCOPE_CASE && !f->is_failed)
        f->scope[scope].switch_end = switch_end(f, node);
    myth_flow_walk_children(f, node, depth);
    if (kind == MYTH_SCOPE_CASE && !falls_through(node))
        myth_flow_mark_leaving(f, MYTH_LEAVES_LOOP, 0);
    myth_flow_close_scope(f, scope);
    f->now_test = before;
}

/* #if ... #else: one of the two is in the program. */
static void alternative(myth_flow *f, TSNode node, uint32_t depth)
{
    const uint32_t outer = f->now_scope;
    const TSNode other = child_of(f, node, MYTH_SLOT_ELSE);
    if (is_null(other) || f->is_file) {
        myth_flow_walk_children(f, node, depth);
        return;
    }
    const uint32_t before = f->now_test, test = myth_flow_open_test(f, node, false);
    const uint32_t scope = myth_flow_open_scope(f, MYTH_SCOPE_THEN, node, test);
    f->now_test = 0;
    if (test && !f->is_failed)
        f->test[test - 1].then = scope;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (!ts_node_eq(child, other))
            myth_flow_walk(f, child, depth + 1);
    }
    myth_flow_close_scope(f, scope);
    const uint32_t second = myth_flow_open_scope(f, MYTH_SCOPE_ELSE, other, test);
    if (test && !f->is_failed)
        f->test[test - 1].other = second;
    myth_flow_walk(f, other, depth + 1);
    myth_flow_close_scope(f, second);
    if (!f->is_failed && f->scope[scope].leaves && f->scope[second].leaves && f->now_scope == outer)
        myth_flow_mark_leaving(f, (myth_leaves)f->scope[second].leaves, f->scope[second].label_off);
    f->now_test = before;
}

static void nested(myth_flow *f, TSNode node, uint32_t depth)
{
    if (f->is_file || f->is_outer)
        return; /* it has a flow of its own */
    const uint32_t before = f->now_test, scope = myth_flow_open_scope(f, MYTH_SCOPE_NESTED, node, 0);
    f->now_test = 0;
    f->has_nested = true;
    myth_flow_parameters(f, node);
    myth_flow_walk_slot(f, node, MYTH_SLOT_BODY, depth);
    named_results(f, node, end_of(f, node));
    myth_flow_close_scope(f, scope);
    f->now_test = before;
}

/* Whether a macro before a block makes a loop of it: LIST_FOREACH(a, list, next) { ... } is a call without a semicolon
 * to the parser, and a block behind it. */
static bool is_behind_macro(const myth_flow *f, TSNode block)
{
    const TSNode before = ts_node_prev_named_sibling(block);
    if (is_null(before) || role_of(f, before) != MYTH_ROLE_STATEMENT || ts_node_named_child_count(before) != 1)
        return false;
    const TSNode call = ts_node_named_child(before, 0);
    const uint32_t end = ts_node_end_byte(before);
    return role_of(f, call) == MYTH_ROLE_CALL && end > 0 && end <= f->n_text && f->text[end - 1] == ')';
}

/* x++ and x--: the variable is read, and then gets the sum. Where a grammar gives x += y this role, it has both sides
 * and is an assignment. */
static void change(myth_flow *f, TSNode node, uint32_t depth)
{
    const TSNode left = child_of(f, node, MYTH_SLOT_LEFT);
    if (!is_null(left) && !is_null(child_of(f, node, MYTH_SLOT_RIGHT))) {
        assign(f, node, depth);
        return;
    }
    const TSNode target = is_null(left) ? base_of(f, node) : left;
    if (is_null(target))
        return;
    myth_flow_use(f, target, depth + 1);
    const uint32_t path = myth_flow_path(f, target);
    if (path) {
        myth_event *e = myth_flow_put_event(f, MYTH_EVENT_DEFINE, target, path);
        e->value = MYTH_VALUE_SUM;
        e->other = path;
    }
}

static void try_node(myth_flow *f, TSNode node, uint32_t depth)
{
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 32; i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (role_of(f, child) == MYTH_ROLE_BLOCK)
            walk_in_scope(f, child, MYTH_SCOPE_TRY, depth);
        else
            myth_flow_walk(f, child, depth + 1);
    }
}

/* Python's `with` and the resources of Java's `try`: all that is opened inside counts as closed by the language. */
static void with_node(myth_flow *f, TSNode node, uint32_t depth)
{
    const uint32_t first = f->n_event;
    myth_flow_walk_children(f, node, depth);
    for (uint32_t i = first; i < f->n_event; i++)
        f->event[i].is_guarded |= f->event[i].kind == MYTH_EVENT_CALL || f->event[i].kind == MYTH_EVENT_DEFINE;
}

/* Only the first child is the condition; the second is a message. */
static void assertion(myth_flow *f, TSNode node, uint32_t depth)
{
    const uint32_t before = f->now_test;
    f->now_test = myth_flow_open_test(f, node, false);
    if (f->now_test)
        f->test[f->now_test - 1].is_assert = true;
    if (ts_node_named_child_count(node) > 0)
        myth_flow_condition(f, ts_node_named_child(node, 0), false, depth + 1);
    f->now_test = before;
}

static void statement(myth_flow *f, TSNode node, uint32_t depth)
{
    f->n_statement++;
    if (ts_node_named_child_count(node) == 1)
        f->dropped = myth_flow_inner(f, ts_node_named_child(node, 0)).id;
    myth_flow_walk_children(f, node, depth);
    if (is_leaving_word(f, node))
        myth_flow_mark_leaving(f, MYTH_LEAVES_TO_LABEL, 0);
}

/* *p in grammars where it is a unary operator: Go and Rust. */
static void unary(myth_flow *f, TSNode node, uint32_t depth)
{
    if (myth_flow_first_byte(f, node) == '*') {
        const TSNode base = base_of(f, node);
        const uint32_t path = is_null(base) ? 0 : myth_flow_path(f, base);
        if (path)
            myth_flow_put_event(f, MYTH_EVENT_DEREF, node, path);
    }
    myth_flow_walk_children(f, node, depth);
}

void myth_flow_walk(myth_flow *f, TSNode node, uint32_t depth)
{
    if (f->is_failed || depth > MYTH_FLOW_DEPTH || !myth_flow_has_room(f, node, MYTH_FLOW_EVENTS))
        return;
    if (++f->n_visit % 1024 == 0 && f->stop && f->stop(f->stop_arg)) {
        f->is_failed = true;
        return;
    }
    const myth_role role = role_of(f, node);
    switch (role) {
    case MYTH_ROLE_IMPORT: myth_flow_imports(f, node, 0); return;
    case MYTH_ROLE_SKIP:
    case MYTH_ROLE_TEXT:
        if (myth_flow_is_filled(node))
            myth_flow_walk_children(f, node, depth);
        return;
    case MYTH_ROLE_FUNCTION: nested(f, node, depth); return;
    case MYTH_ROLE_CALL: call(f, node, false, depth); return;
    case MYTH_ROLE_NEW: call(f, node, true, depth); return;
    case MYTH_ROLE_ASSIGN: assign(f, node, depth); return;
    case MYTH_ROLE_CHANGE: change(f, node, depth); return;
    case MYTH_ROLE_DECLARATION: myth_flow_declaration(f, node, depth); return;
    case MYTH_ROLE_IF: myth_flow_if_node(f, node, depth); return;
    case MYTH_ROLE_CHOICE: myth_flow_choice(f, node, depth); return;
    case MYTH_ROLE_LOOP: myth_flow_loop(f, node, depth); return;
    case MYTH_ROLE_FOR_EACH: myth_flow_for_each(f, node, depth); return;
    case MYTH_ROLE_CASE: walk_in_scope(f, node, MYTH_SCOPE_CASE, depth); return;
    case MYTH_ROLE_TRY: try_node(f, node, depth); return;
    case MYTH_ROLE_BLOCK:
        if (strcmp(ts_node_type(node), "compound_statement") == 0 && is_behind_macro(f, node))
            walk_in_scope(f, node, MYTH_SCOPE_LOOP, depth);
        else
            myth_flow_walk_children(f, node, depth);
        return;
    case MYTH_ROLE_FINALLY: walk_in_scope(f, node, MYTH_SCOPE_FINALLY, depth); return;
    case MYTH_ROLE_CATCH:
        myth_flow_put_event(f, MYTH_EVENT_CATCH, node, 0);
        walk_in_scope(f, node, MYTH_SCOPE_CATCH, depth);
        return;
    case MYTH_ROLE_WITH: with_node(f, node, depth); return;
    case MYTH_ROLE_RETURN:
    case MYTH_ROLE_THROW:
    case MYTH_ROLE_LEAVE:
    case MYTH_ROLE_GOTO: leave(f, node, role, depth); return;
    case MYTH_ROLE_LABEL:
        if (f->n_label < MYTH_FLOW_LABELS)
            f->label[f->n_label++] = ts_node_start_byte(node);
        myth_flow_walk_children(f, node, depth);
        return;
    case MYTH_ROLE_ASSERT: assertion(f, node, depth); return;
    case MYTH_ROLE_NAME: myth_flow_use(f, node, depth); return;
    case MYTH_ROLE_MEMBER:
    case MYTH_ROLE_INDEX: {
        const uint32_t path = myth_flow_path(f, node);
        myth_flow_deref(f, node, depth);
        if (path)
            myth_flow_put_event(f, MYTH_EVENT_USE, node, path);
        return;
    }
    case MYTH_ROLE_POINTER:
        if (myth_flow_first_byte(f, node) == '*') {
            myth_flow_deref(f, node, depth);
            return;
        }
        myth_flow_walk_children(f, node, depth);
        return;
    case MYTH_ROLE_BINARY: myth_flow_binary(f, node, false, depth); return;
    case MYTH_ROLE_KEYWORD: myth_flow_walk_slot(f, node, MYTH_SLOT_RIGHT, depth); return;
    case MYTH_ROLE_PAIR:
        if (ts_node_named_child_count(node) > 1)
            myth_flow_field(f, node, ts_node_named_child(node, 0), value_of_pair(f, node));
        myth_flow_walk_children(f, node, depth);
        return;
    case MYTH_ROLE_STATEMENT: statement(f, node, depth); return;
    case MYTH_ROLE_ALTERNATIVE: alternative(f, node, depth); return;
    case MYTH_ROLE_DEFER:
        if (ts_node_named_child_count(node) == 1)
            f->deferred = ts_node_named_child(node, 0).id;
        myth_flow_walk_children(f, node, depth);
        return;
    case MYTH_ROLE_UNARY: unary(f, node, depth); return;
    default: myth_flow_walk_children(f, node, depth); return;
    }
}

static uint32_t function_name(myth_flow *f, TSNode function)
{
    bool is_pointer = false, is_array = false, is_function = false;
    TSNode at = child_of(f, function, MYTH_SLOT_LEFT);
    if (is_null(at)) { /* const f = () => ...; f: function () ... */
        const TSNode parent = ts_node_parent(function);
        if (!is_null(parent))
            at = child_of(f, parent, MYTH_SLOT_LEFT);
        if (is_null(at))
            return 0;
    }
    const TSNode name = myth_flow_declared(f, at, &is_pointer, &is_array, &is_function);
    const TSNode of = is_null(name) ? at : name;
    const uint32_t off = ts_node_start_byte(of), end = ts_node_end_byte(of);
    return end <= f->n_text && end - off <= MYTH_FLOW_PATH_BYTES ? myth_flow_put_name(f, f->text + off, end - off) : 0;
}

/* What is outside of functions: functions, and what holds nothing else, are stepped over. */
static void walk_file(myth_flow *f, TSNode node, uint32_t depth)
{
    TSTreeCursor c = ts_tree_cursor_new(node);
    if (depth < 64 && ts_tree_cursor_goto_first_child(&c))
        do {
            const TSNode child = ts_tree_cursor_current_node(&c);
            const myth_role role = role_of(f, child);
            if (!ts_node_is_named(child) || role == MYTH_ROLE_FUNCTION)
                continue;
            if (role == MYTH_ROLE_NONE)
                walk_file(f, child, depth + 1);
            else
                myth_flow_walk(f, child, depth + 1);
        } while (!f->is_failed && ts_tree_cursor_goto_next_sibling(&c));
    ts_tree_cursor_delete(&c);
}

static bool read_once(myth_flow *f, TSNode function, bool is_file, bool is_outer)
{
    f->n_event = f->n_scope = f->n_test = f->n_path = f->n_names = f->n_lost = 0;
    f->n_statement = f->now_scope = f->now_test = 0;
    f->dropped = f->deferred = NULL;
    f->n_label = 0;
    f->is_failed = f->has_nested = false;
    f->is_file = is_file;
    f->is_outer = is_outer;
    f->cut_line = 0;
    if (f->slot)
        memset(f->slot, 0, f->n_slot * sizeof(*f->slot));
    f->off = ts_node_start_byte(function);
    f->end = ts_node_end_byte(function);
    f->line0 = ts_node_start_point(function).row + 1;
    f->line1 = myth_flow_last_line(function);
    myth_flow_put_name(f, "", 0);
    myth_flow_branches(f);
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "paths of a flow", &f->path, 0, &f->cap_path) ||
        !MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "scopes of a flow", &f->scope, 0, &f->cap_scope))
        return false;
    f->path[f->n_path++] = (myth_path){0};
    f->scope[f->n_scope++] = (myth_scope){.off = f->off, .end = f->end};
    f->name = 0;
    if (is_file)
        walk_file(f, function, 0);
    else {
        f->name = function_name(f, function);
        myth_flow_parameters(f, function);
        myth_flow_walk_slot(f, function, MYTH_SLOT_BODY, 0);
        named_results(f, function, end_of(f, function));
    }
    if (f->is_failed)
        return false;
    settle_labels(f);
    return true;
}

bool myth_flow_read(myth_flow *f, TSNode function, bool is_file)
{
    const bool is_good = read_once(f, function, is_file, false);
    return is_good && f->cut_line && !is_file ? read_once(f, function, false, true) : is_good;
}

bool myth_flow_each(const myth_roles *roles, TSNode root, bool (*on)(void *arg, TSNode function), void *arg)
{
    bool is_good = true;
    TSTreeCursor c = ts_tree_cursor_new(root);
    for (bool is_more = ts_tree_cursor_goto_first_child(&c); is_more && is_good;) {
        const TSNode node = ts_tree_cursor_current_node(&c);
        const bool is_function =
            myth_roles_of(roles, node) == MYTH_ROLE_FUNCTION && !is_null(myth_roles_child(roles, node, MYTH_SLOT_BODY));
        if (is_function)
            is_good = on(arg, node);
        else if (ts_tree_cursor_goto_first_child(&c))
            continue;
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
    return is_good;
}
