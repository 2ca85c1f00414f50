/* habits_await.c - promises and coroutines that nobody waits for (habits.c): calls of functions that the same file
 * defines as async, callbacks of forEach, and what is returned while a finally closes what it needs. */
#include "habits.h"

#include <ctype.h>
#include <string.h>

/* Whether what a method is called of may be of a class of the file, and is no module: something in this or self, a
 * class, or a variable of the function. */
static bool is_object(myth_flow *f, TSNode object, const char *text)
{
    const uint32_t path = myth_flow_path(f, object);
    if (strncmp(text, "super", 5) == 0)
        return false;
    if (strncmp(text, "this.", 5) == 0 || strncmp(text, "self.", 5) == 0 || isupper((unsigned char)text[0]))
        return true;
    for (uint32_t i = 0; path && i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == path)
            return true;
    return false;
}

/* A call of a function that the file makes async everywhere. *is_own: without a receiver, or of this or self. */
static bool is_async_call(myth_flow *f, TSNode call, bool *is_own)
{
    char name[MYTH_HABIT_TEXT], base[MYTH_HABIT_TEXT] = "";
    TSNode method, arguments;
    const TSNode object = myth_habit_receiver(call, &method, &arguments);
    if (!is_call(call) || is_null(method) || !myth_habit_text(f, method, name, sizeof(name)) ||
        (myth_habit_marks(name) & (MYTH_MARK_ASYNC | MYTH_MARK_SYNC)) != MYTH_MARK_ASYNC)
        return false;
    *is_own = is_null(object) || (myth_habit_text(f, object, base, sizeof(base)) &&
                                  (strcmp(base, "this") == 0 || strcmp(base, "self") == 0 || strcmp(base, "cls") == 0));
    if (!is_null(object) && !*is_own)
        return strcmp(name, f->names + f->name) != 0 && is_object(f, object, base);
    if (!is_null(object))
        return true;
    for (uint32_t i = 0; i < f->n_event; i++) { /* a parameter of the same name hides the function */
        const myth_event *e = &f->event[i];
        if (e->kind == MYTH_EVENT_DEFINE && e->value == MYTH_VALUE_PARAMETER &&
            strcmp(f->names + f->path[e->path].text, name) == 0)
            return false;
    }
    return true;
}

typedef enum { USE_NONE, USE_TESTED, USE_VALUE, USE_DROPPED, USE_KEPT } use;

static use use_of_member(const myth_flow *f, TSNode member, TSNode below)
{
    static const char *const of_promise[] = {"then",  "catch",     "finally", "close", "send",
                                             "throw", "__await__", "cancel",  "delay", "apply_async"};
    char name[MYTH_HABIT_TEXT];
    TSNode object = field_of(member, "object"), field = field_of(member, "property");
    object = is_null(object) ? field_of(member, "value") : object;
    field = is_null(field) ? field_of(member, "attribute") : field;
    if (is_null(object) || !ts_node_eq(object, below))
        return USE_NONE;
    if (!is_null(field) && myth_habit_text(f, field, name, sizeof(name)) &&
        myth_flow_is_one_of(name, of_promise, sizeof(of_promise) / sizeof(*of_promise)))
        return USE_NONE;
    return USE_VALUE;
}

static bool has_child(TSNode node, const char *type)
{
    for (uint32_t i = 0; i < ts_node_child_count(node) && i < 12; i++)
        if (is_type(ts_node_child(node, i), type))
            return true;
    return false;
}

/* What is done with a value at once. *holder: the variable that keeps it. */
static use use_of(myth_flow *f, TSNode node, const myth_around *around, TSNode *holder)
{
    TSNode below = node, a, b;
    for (uint32_t i = 0; i < 24; i++) {
        const TSNode up = around_at(around, i);
        if (is_null(up))
            return USE_NONE;
        const char *type = ts_node_type(up);
        if (strncmp(type, "await", 5) == 0)
            return USE_NONE;
        if (strcmp(type, "unary_expression") == 0)
            return myth_flow_first_byte(f, up) == '!' ? USE_TESTED : USE_NONE;
        if (strcmp(type, "not_operator") == 0 || strcmp(type, "assert_statement") == 0)
            return USE_TESTED;
        switch (role_of(f, up)) {
        case MYTH_ROLE_GROUP: break;
        case MYTH_ROLE_BINARY: {
            a = ts_node_named_child(up, 0);
            if (myth_flow_is_operator(f, up, "&&") || myth_flow_is_operator(f, up, "||") ||
                myth_flow_is_operator(f, up, "and") || myth_flow_is_operator(f, up, "or")) {
                if (ts_node_eq(a, below))
                    return USE_TESTED;
                break;
            }
            return myth_flow_is_operator(f, up, "??") || myth_flow_is_operator(f, up, "instanceof") ? USE_NONE
                                                                                                    : USE_VALUE;
        }
        case MYTH_ROLE_IF:
        case MYTH_ROLE_LOOP: /* Python's for is one, too */
            if (is_type(up, "for_statement") && ts_node_eq(field_of(up, "right"), below))
                return has_child(up, "async") ? USE_NONE : USE_VALUE;
            return ts_node_eq(field_of(up, "condition"), below) ? USE_TESTED : USE_NONE;
        case MYTH_ROLE_FOR_EACH:
            return ts_node_eq(field_of(up, "right"), below) && !has_child(up, "await") && has_child(up, "of")
                     ? USE_VALUE
                     : USE_NONE;
        case MYTH_ROLE_CHOICE:
            myth_flow_choice_parts(f, up, &a, &b, &b);
            if (!is_null(a) && ts_node_eq(a, below))
                return USE_TESTED;
            break;
        case MYTH_ROLE_MEMBER:
        case MYTH_ROLE_INDEX: return use_of_member(f, up, below);
        case MYTH_ROLE_STATEMENT: return USE_DROPPED;
        case MYTH_ROLE_ASSIGN: {
            TSNode left = field_of(up, "left");
            left = is_null(left) ? field_of(up, "name") : left;
            if (is_null(left) || ts_node_eq(left, below))
                return USE_NONE;
            *holder = left;
            const bool is_split = is_type(left, "object_pattern") || is_type(left, "array_pattern") ||
                                  is_type(left, "pattern_list") || is_type(left, "tuple_pattern");
            return is_split ? USE_VALUE : role_of(f, left) == MYTH_ROLE_NAME ? USE_KEPT : USE_NONE;
        }
        default:
            return strcmp(type, "template_substitution") == 0 || strcmp(type, "interpolation") == 0 ||
                           strcmp(type, "spread_element") == 0
                     ? USE_VALUE
                     : USE_NONE;
        }
        below = up;
    }
    return USE_NONE;
}

/* Whether nothing is done with a variable behind a call but to ask whether it is true. */
static bool is_only_tested(myth_flow *f, TSNode call, TSNode holder)
{
    const uint32_t path = myth_flow_path(f, holder), end = ts_node_end_byte(call);
    uint32_t n_test = 0;
    for (uint32_t i = 0; i < f->n_event && path; i++) {
        const myth_event *e = &f->event[i];
        if (e->off < end || !e->path || !myth_flow_is_part(f, e->path, path))
            continue;
        if (e->kind != MYTH_EVENT_TEST || e->how > MYTH_TEST_FALSE || e->path != path)
            return false;
        n_test++;
    }
    return n_test > 0;
}

/* xs.forEach(async ...) of a function that goes on as if all was done. */
static bool is_each(myth_flow *f, TSNode call, const myth_around *around, TSNode *list)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    *list = myth_habit_receiver(call, &method, &arguments);
    if (is_null(*list) || is_null(arguments) || !is_type(around_at(around, 0), "expression_statement") ||
        !myth_habit_text(f, method, name, sizeof(name)) || strcmp(name, "forEach") != 0)
        return false;
    const TSNode callback = ts_node_named_child(arguments, 0);
    return !is_null(callback) && role_of(f, callback) == MYTH_ROLE_FUNCTION && myth_habit_is_async(callback) &&
           myth_habit_has_word(f, callback, "await") && myth_habit_is_async(myth_habit_function(f, around));
}

void myth_habit_await_call(myth_flow *f, TSNode call, const myth_around *around)
{
    bool is_own = false;
    TSNode holder = {0}, list;
    if (is_each(f, call, around, &list)) {
        myth_habit_put(f, MYTH_HABIT_AWAIT_EACH, call, list, 0);
        return;
    }
    if (!is_async_call(f, call, &is_own))
        return;
    const TSNode callee = field_of(call, "function");
    const use how = use_of(f, call, around, &holder);
    if (how == USE_TESTED)
        myth_habit_put(f, MYTH_HABIT_AWAIT_TESTED, call, callee, 0);
    else if (how == USE_VALUE && is_own)
        myth_habit_put(f, MYTH_HABIT_AWAIT_USED, call, callee, 0);
    else if (how == USE_KEPT && is_only_tested(f, call, holder))
        myth_habit_put(f, MYTH_HABIT_AWAIT_TESTED, call, callee, 0);
    else if (how == USE_DROPPED && is_own && myth_habit_is_python()) /* a promise of JavaScript goes on by itself */
        myth_habit_put(f, MYTH_HABIT_AWAIT_DROPPED, call, callee, 0);
}

/* ---- what is returned out of a try ---- */

/* Whether a finally closes something that a node speaks of: its receiver or an argument of the closing call. */
static bool closes(const myth_flow *f, TSNode node, TSNode returned, int deep)
{
    static const char *const words[] = {"close", "destroy", "end",     "release",   "disconnect", "unlink",  "rm",
                                        "stop",  "quit",    "dispose", "terminate", "delete",     "cleanup", "abort"};
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (deep > 12)
        return false;
    if (is_call(node)) {
        const TSNode object = myth_habit_receiver(node, &method, &arguments);
        const TSNode about = !is_null(object) && role_of(f, object) == MYTH_ROLE_NAME ? object
                           : !is_null(arguments) ? ts_node_named_child(arguments, 0)
                                                 : (TSNode){0};
        if (!is_null(method) && myth_habit_text(f, method, name, sizeof(name)) &&
            myth_flow_is_one_of(name, words, sizeof(words) / sizeof(*words)) &&
            myth_habit_text(f, about, name, sizeof(name)) && strcmp(name, "this") != 0 && strcmp(name, "self") != 0 &&
            myth_habit_has_word(f, returned, name))
            return true;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (closes(f, ts_node_named_child(node, i), returned, deep + 1))
            return true;
    return false;
}

/* Whether a call is awaited elsewhere in the file, and of a receiver of its own. */
static bool is_known_promise(myth_flow *f, TSNode call)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    bool is_own;
    if (is_async_call(f, call, &is_own))
        return true;
    myth_habit_receiver(call, &method, &arguments);
    return !is_null(method) && myth_habit_text(f, method, name, sizeof(name)) &&
           (myth_habit_marks(name) & (MYTH_MARK_AWAITED | MYTH_MARK_SYNC)) == MYTH_MARK_AWAITED;
}

/* Whether a function calls itself, as one does that tries again. */
static bool calls_itself(myth_flow *f, TSNode call)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    myth_habit_receiver(call, &method, &arguments);
    return myth_habit_text(f, method, name, sizeof(name)) && strcmp(name, f->names + f->name) == 0;
}

/* Whether the function of the file that is called catches all errors itself. */
static bool is_caught_inside(myth_flow *f, TSNode call)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    myth_habit_receiver(call, &method, &arguments);
    return myth_habit_text(f, method, name, sizeof(name)) &&
           (myth_habit_marks(name) & (MYTH_MARK_CATCHES | MYTH_MARK_FAILS)) == MYTH_MARK_CATCHES;
}

void myth_habit_await_return(myth_flow *f, TSNode node, const myth_around *around)
{
    const TSNode value = ts_node_named_child(node, 0);
    TSNode below = node;
    bool is_own;
    if (is_null(value) || !is_call(value) || !myth_habit_is_async(myth_habit_function(f, around)) ||
        !is_known_promise(f, value))
        return;
    for (uint32_t i = 0; i < 24; i++) {
        const TSNode up = around_at(around, i);
        if (is_null(up) || role_of(f, up) == MYTH_ROLE_FUNCTION)
            return;
        const bool is_body = role_of(f, up) == MYTH_ROLE_TRY && ts_node_eq(field_of(up, "body"), below);
        TSNode last = is_body ? field_of(up, "finalizer") : (TSNode){0};
        for (uint32_t k = 0; is_body && is_null(last) && k < ts_node_named_child_count(up); k++)
            if (role_of(f, ts_node_named_child(up, k)) == MYTH_ROLE_FINALLY)
                last = ts_node_named_child(up, k);
        if (!is_null(last) && closes(f, last, value, 0)) {
            myth_habit_put(f, MYTH_HABIT_AWAIT_CLOSED, node, field_of(value, "function"), line_of(last));
            return;
        }
        if (is_body && !is_null(field_of(up, "handler")) && is_async_call(f, value, &is_own) &&
            !calls_itself(f, value) && !is_caught_inside(f, value)) {
            myth_habit_put(f, MYTH_HABIT_AWAIT_CAUGHT, node, field_of(value, "function"),
                           line_of(field_of(up, "handler")));
            return;
        }
        below = up;
    }
}
