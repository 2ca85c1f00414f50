/* shown.c - faults that the text of one function shows, whatever its callers do: no value that comes from elsewhere can
 * make the code right. They are rare in code that people released, and nearly always faults where they stand.
 *
 * Event   of the kind `habit`, as those of habits.c; `how` is a value of the fact `shown`, `path` what it is about,
 *         `call` a line that belongs to it, 0 = none */
#include "shown.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)MYTH_SHOWN_FIRST + (int)MYTH_SHOWN_PAGE <= UINT8_MAX, "an event's `how` is a byte");

#define IS_ONE(name, list) myth_flow_is_one_of(name, list, N_OF(list))

enum { BLOCK_STATEMENTS = 200 };

static TSNode root_now, function_now; /* of the function that is read: the process has one thread */

/* ---- what all forms need ---- */

static bool is_name_node(TSNode node)
{
    return is_type(node, "identifier") || is_type(node, "field_identifier") || is_type(node, "property_identifier");
}

static bool find_mention(const myth_flow *f, TSNode node, TSNode up, TSNode above, const char *name, uint32_t from,
                         myth_mention *out, int deep)
{
    if (deep > MYTH_SHOWN_DEEP || ts_node_end_byte(node) <= from || is_type(node, "sizeof_expression"))
        return false; /* of what sizeof measures nothing is read */
    if (is_type(node, "identifier") && ts_node_start_byte(node) >= from && myth_flow_text_is(f, node, name)) {
        *out = (myth_mention){node, up, above};
        return true;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (find_mention(f, ts_node_named_child(node, i), node, up, name, from, out, deep + 1))
            return true;
    return false;
}

bool myth_shown_mention(const myth_flow *f, TSNode in, const char *name, uint32_t from, myth_mention *out)
{
    *out = (myth_mention){0};
    return !is_null(in) && find_mention(f, in, (TSNode){0}, (TSNode){0}, name, from, out, 0);
}

/* Statement number i of a block, without comments; null = there is none. */
static TSNode statement_of(TSNode block, uint32_t i)
{
    for (uint32_t c = 0; c < ts_node_named_child_count(block); c++) {
        const TSNode child = ts_node_named_child(block, c);
        if (!strstr(ts_node_type(child), "comment") && i-- == 0)
            return child;
    }
    return (TSNode){0};
}

static TSNode call_of(TSNode statement)
{
    const TSNode call = is_type(statement, "expression_statement") ? ts_node_named_child(statement, 0) : statement;
    return !is_null(call) && is_type(call, "call_expression") ? call : (TSNode){0};
}

bool myth_shown_leaves(const myth_flow *f, TSNode statement)
{
    static const char *const types[] = {"return_statement",   "goto_statement",  "break_statement",
                                        "continue_statement", "throw_statement", "raise_statement",
                                        "co_return_statement"};
    static const char *const ends[] = {"exit",
                                       "_exit",
                                       "abort",
                                       "err",
                                       "errx",
                                       "die",
                                       "fatal",
                                       "panic",
                                       "longjmp",
                                       "quick_exit",
                                       "__builtin_unreachable",
                                       "unreachable"};
    char name[MYTH_HABIT_TEXT];
    if (is_null(statement))
        return false;
    if (IS_ONE(ts_node_type(statement), types))
        return true;
    const TSNode call = call_of(statement);
    return !is_null(call) && myth_habit_text(f, field_of(call, "function"), name, sizeof(name)) &&
           IS_ONE(myth_flow_last_word(name), ends);
}

/* Whether a statement, or one in it, leaves; a macro may, too. */
static bool leaves_anywhere(const myth_flow *f, TSNode node, int deep)
{
    char name[MYTH_HABIT_TEXT];
    if (deep > MYTH_SHOWN_DEEP || myth_shown_leaves(f, node))
        return true;
    if (is_type(node, "call_expression") && myth_habit_text(f, field_of(node, "function"), name, sizeof(name)) &&
        myth_flow_is_constant_name(name))
        return true;
    if (is_type(node, "expression_statement") && is_type(ts_node_named_child(node, 0), "identifier"))
        return true;
    for (uint32_t e = 0; deep == 0 && e < f->n_event; e++)
        if (f->event[e].kind == MYTH_EVENT_LEAVE && f->event[e].off >= ts_node_start_byte(node) &&
            f->event[e].off < ts_node_end_byte(node))
            return true; /* as a function of the file does, or one that is known to */
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (leaves_anywhere(f, ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

TSNode myth_shown_released(const myth_flow *f, TSNode statement)
{
    static const char *const frees[] = {"free", "cfree", "kfree", "vfree", "kvfree", "g_free", "xfree", "std::free"};
    char name[MYTH_HABIT_TEXT];
    const TSNode inner = is_type(statement, "expression_statement") ? ts_node_named_child(statement, 0) : (TSNode){0};
    TSNode of = {0};
    if (is_null(inner))
        return of;
    if (is_type(inner, "delete_expression"))
        of = ts_node_named_child(inner, 0);
    else if (is_type(inner, "call_expression") && myth_habit_text(f, field_of(inner, "function"), name, sizeof(name)) &&
             IS_ONE(name, frees) && ts_node_named_child_count(field_of(inner, "arguments")) == 1) {
        of = ts_node_named_child(field_of(inner, "arguments"), 0);
        if (is_type(of, "cast_expression"))
            of = field_of(of, "value");
    }
    return !is_null(of) && is_type(of, "identifier") ? of : (TSNode){0};
}

/* Whether a declaration has a word such as static among those before its names. */
static bool has_storage(const myth_flow *f, TSNode declaration)
{
    static const char *const words[] = {"static",   "extern",   "thread_local", "_Thread_local",
                                        "__thread", "volatile", "register"};
    for (size_t i = 0; i < N_OF(words); i++)
        if (myth_habit_has_text(f, ts_node_start_byte(declaration),
                                ts_node_start_byte(field_of(declaration, "declarator")), words[i]))
            return true;
    return false;
}

/* ---- an array or variable of a function whose address it returns ---- */

typedef struct {
    uint32_t n;    /* declarations of the name */
    TSNode of, in; /* the last one's declarator, and the declaration */
} declared;

static TSNode named_declarator(TSNode d)
{
    for (int i = 0; i < 8 && !is_null(d) && !is_type(d, "identifier"); i++) {
        const TSNode in = field_of(d, "declarator");
        d = is_null(in) && ts_node_named_child_count(d) > 0 ? ts_node_named_child(d, 0) : in;
    }
    return d;
}

static void find_declared(const myth_flow *f, TSNode node, const char *name, declared *out, int deep)
{
    if (deep > MYTH_SHOWN_DEEP)
        return;
    if (is_type(node, "declaration"))
        for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
            TSNode d = ts_node_named_child(node, i);
            if (is_type(d, "init_declarator"))
                d = field_of(d, "declarator");
            const TSNode word = named_declarator(d);
            if (!is_null(word) && is_type(word, "identifier") && myth_flow_text_is(f, word, name))
                *out = (declared){out->n + 1, d, node};
        }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        find_declared(f, ts_node_named_child(node, i), name, out, deep + 1);
}

static void local_returned(myth_flow *f, TSNode node, const myth_around *around)
{
    char name[MYTH_HABIT_TEXT];
    const TSNode function = myth_habit_function(f, around);
    TSNode value = ts_node_named_child(node, 0);
    if (is_null(value) || !is_type(function, "function_definition") ||
        !is_type(field_of(function, "declarator"), "pointer_declarator"))
        return;
    value = myth_flow_inner(f, value);
    const bool is_address = is_type(value, "pointer_expression") && myth_flow_first_byte(f, value) == '&';
    const TSNode of = is_address ? field_of(value, "argument") : value;
    declared d = {0};
    if (!is_type(of, "identifier") || !myth_habit_text(f, of, name, sizeof(name)))
        return;
    find_declared(f, field_of(function, "body"), name, &d, 0);
    if (d.n != 1 || has_storage(f, d.in) || ts_node_start_byte(d.in) > ts_node_start_byte(node))
        return;
    if (is_type(d.of, is_address ? "identifier" : "array_declarator"))
        myth_shown_put(f, MYTH_SHOWN_LOCAL, node, of, line_of(d.in));
}

/* ---- a variable without a value that is added to first ---- */

static bool is_number_type(const myth_flow *f, TSNode type)
{
    char text[MYTH_HABIT_TEXT];
    if (is_type(type, "primitive_type") || is_type(type, "sized_type_specifier"))
        return true;
    if (!is_type(type, "type_identifier") || !myth_habit_text(f, type, text, sizeof(text)))
        return false;
    const size_t n = strlen(text);
    return n > 2 && strcmp(text + n - 2, "_t") == 0 && strstr(text, "int") != NULL;
}

static void added_unset(myth_flow *f, TSNode node, const myth_around *around)
{
    char name[MYTH_HABIT_TEXT];
    const TSNode body = field_of(myth_habit_function(f, around), "body");
    if (is_null(body) || ts_node_start_byte(node) < ts_node_start_byte(body)) /* f(n) int n; { } */
        return;
    if (!is_number_type(f, field_of(node, "type")) || has_storage(f, node))
        return;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode d = ts_node_named_child(node, i);
        myth_mention m;
        if (!is_type(d, "identifier") || !myth_habit_text(f, d, name, sizeof(name)) ||
            !myth_shown_mention(f, body, name, ts_node_end_byte(d), &m))
            continue;
        const bool is_added = is_type(m.up, "assignment_expression") && ts_node_eq(field_of(m.up, "left"), m.node) &&
                              !myth_flow_is_operator(f, m.up, "=");
        if (is_added || (is_type(m.up, "update_expression") && ts_node_eq(field_of(m.up, "argument"), m.node)))
            myth_shown_put(f, MYTH_SHOWN_ADDED, m.up, m.node, line_of(node));
    }
}

/* ---- calls ---- */

/* The call of a function in a node whose first argument is a variable, and whose second has the text; null = none. */
static TSNode copy_into(const myth_flow *f, TSNode node, const char *name, const char *source, int deep)
{
    static const char *const copies[] = {"strcpy", "stpcpy", "strcat", "std::strcpy", "std::strcat"};
    char text[MYTH_HABIT_TEXT];
    if (deep > MYTH_SHOWN_DEEP)
        return (TSNode){0};
    if (is_type(node, "call_expression") && myth_habit_text(f, field_of(node, "function"), text, sizeof(text)) &&
        IS_ONE(text, copies)) {
        const TSNode arguments = field_of(node, "arguments");
        if (ts_node_named_child_count(arguments) == 2 &&
            myth_flow_text_is(f, ts_node_named_child(arguments, 0), name) &&
            myth_habit_text(f, ts_node_named_child(arguments, 1), text, sizeof(text)) && strcmp(text, source) == 0)
            return node;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode found = copy_into(f, ts_node_named_child(node, i), name, source, deep + 1);
        if (!is_null(found))
            return found;
    }
    return (TSNode){0};
}

/* What a call's result is assigned to; null = nothing. */
static TSNode taker_of(const myth_around *around)
{
    for (uint32_t i = 0; i < 3; i++) {
        const TSNode up = around_at(around, i);
        if (is_null(up))
            break;
        if (is_type(up, "init_declarator"))
            return named_declarator(field_of(up, "declarator"));
        if (is_type(up, "assignment_expression"))
            return field_of(up, "left");
        if (!is_type(up, "cast_expression") && !is_type(up, "parenthesized_expression"))
            break;
    }
    return (TSNode){0};
}

/* p = malloc(strlen(s)), and behind it strcpy(p, s): of the text's end there is no room. */
static void bare_length(myth_flow *f, TSNode call, const myth_around *around)
{
    static const char *const takes[] = {"malloc", "xmalloc", "g_malloc", "kmalloc", "alloca", "emalloc", "safe_malloc"};
    char name[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    const TSNode arguments = field_of(call, "arguments"), taker = taker_of(around);
    if (!myth_habit_text(f, field_of(call, "function"), text, sizeof(text)) || !IS_ONE(text, takes) || is_null(taker) ||
        !is_type(taker, "identifier") || !myth_habit_text(f, taker, name, sizeof(name)) ||
        ts_node_named_child_count(arguments) == 0 ||
        !myth_habit_text(f, ts_node_named_child(arguments, 0), text, sizeof(text)))
        return;
    const char *size = strncmp(text, "sizeof(char)*", 13) == 0 ? text + 13 : text;
    const size_t n = strlen(size);
    if (strncmp(size, "strlen(", 7) != 0 || size[n - 1] != ')' || strchr(size + 7, ')') != size + n - 1)
        return;
    char source[MYTH_HABIT_TEXT];
    snprintf(source, sizeof(source), "%.*s", (int)(n - 8), size + 7);
    const TSNode body = field_of(myth_habit_function(f, around), "body");
    const TSNode copy = is_null(body) ? body : copy_into(f, body, name, source, 0);
    if (!is_null(copy) && ts_node_start_byte(copy) > ts_node_start_byte(call))
        myth_shown_put(f, MYTH_SHOWN_BARE, call, taker, line_of(copy));
}

/* Whether a node stands in a branch of the preprocessor, or the function says that its files must be new: a name alone
 * does no harm there. */
static bool has_other_way(const myth_flow *f, const myth_around *around)
{
    const TSNode function = myth_habit_function(f, around);
    for (uint32_t i = 0; i < around->n; i++) {
        const TSNode up = around_at(around, i);
        if (!is_null(up) && strncmp(ts_node_type(up), "preproc", 7) == 0)
            return true;
    }
    return f->n_branch > 0 || myth_habit_has_word(f, function, "O_EXCL") || myth_habit_has_word(f, function, "mkdir");
}

static void call_by_name(myth_flow *f, TSNode call, const myth_around *around)
{
    static const char *const names_file[] = {"mktemp", "tmpnam", "tempnam", "tempfile.mktemp"};
    char text[MYTH_HABIT_TEXT];
    const TSNode arguments = field_of(call, "arguments");
    if (!myth_habit_text(f, field_of(call, "function"), text, sizeof(text)) || is_null(arguments))
        return;
    const bool is_python = myth_habit_is_python();
    if (!is_python && strcmp(text, "gets") == 0 && ts_node_named_child_count(arguments) == 1)
        myth_shown_put(f, MYTH_SHOWN_LINE, call, ts_node_named_child(arguments, 0), 0);
    else if (IS_ONE(text, names_file) && (strchr(text, '.') != NULL) == is_python &&
             (is_python || ts_node_named_child_count(arguments) > 0) && !has_other_way(f, around))
        myth_shown_put(f, MYTH_SHOWN_NAMED, call, field_of(call, "function"), 0);
}

/* ---- what is used where it is not there ---- */

static bool is_none(const myth_flow *f, TSNode node)
{
    static const char *const none[] = {"NULL", "nullptr", "null"};
    char text[16];
    return myth_habit_text(f, node, text, sizeof(text)) && IS_ONE(text, none);
}

/* The variable that a condition says is not there: p == NULL, and !p of C and C++; null = none. */
static TSNode absent(const myth_flow *f, TSNode cond, bool is_there)
{
    myth_test_kind how;
    cond = myth_flow_inner(f, cond);
    if (is_type(cond, "unary_expression") && !is_there && !myth_habit_is_java() &&
        myth_flow_first_byte(f, cond) == '!') {
        const TSNode of = field_of(cond, "argument");
        return !is_null(of) && is_type(of, "identifier") ? of : (TSNode){0};
    }
    if (!is_type(cond, "binary_expression") || !myth_flow_comparison(f, cond, &how) ||
        how != (is_there ? MYTH_TEST_NOT_EQUAL : MYTH_TEST_EQUAL))
        return (TSNode){0};
    const TSNode left = field_of(cond, "left"), right = field_of(cond, "right");
    const TSNode of = is_none(f, right) ? left : is_none(f, left) ? right : (TSNode){0};
    return !is_null(of) && is_type(of, "identifier") ? of : (TSNode){0};
}

/* Whether a mention reads what is behind a variable: p->x, *p, p.x() of Java and JavaScript; no address of it. */
static bool is_behind(const myth_flow *f, const myth_mention *m)
{
    char text[8];
    if (is_null(m->up) || is_type(m->above, "optional_chain"))
        return false;
    if (is_type(m->above, "pointer_expression") && myth_flow_first_byte(f, m->above) == '&')
        return false;
    if (is_type(m->up, "field_expression"))
        return ts_node_eq(field_of(m->up, "argument"), m->node) &&
               myth_habit_text(f, field_of(m->up, "operator"), text, sizeof(text)) && strcmp(text, "->") == 0;
    if (is_type(m->up, "member_expression"))
        return ts_node_eq(field_of(m->up, "object"), m->node) && is_null(field_of(m->up, "optional_chain"));
    if (is_type(m->up, "field_access") || is_type(m->up, "method_invocation"))
        return ts_node_eq(field_of(m->up, "object"), m->node);
    return is_type(m->up, "pointer_expression") && myth_flow_first_byte(f, m->up) == '*';
}

/* Whether a variable is of this function: a global one may get a value by any call. */
static bool is_own(myth_flow *f, TSNode name)
{
    const uint32_t path = myth_flow_path(f, name);
    return path && (f->path[path].type_end > 0 || f->path[path].is_declared || myth_habit_is_script());
}

static void used_where_absent(myth_flow *f, TSNode of, TSNode in)
{
    char name[MYTH_HABIT_TEXT];
    myth_mention m;
    if (is_null(of) || is_null(in) || !myth_habit_text(f, of, name, sizeof(name)) || !is_own(f, of))
        return;
    if (myth_shown_mention(f, in, name, 0, &m) && is_behind(f, &m))
        myth_shown_put(f, MYTH_SHOWN_NULL, m.up, m.node, line_of(of));
}

static void null_used(myth_flow *f, TSNode node)
{
    TSNode then = child_of(f, node, MYTH_SLOT_THEN);
    while (!is_null(then) && role_of(f, then) == MYTH_ROLE_BLOCK)
        then = statement_of(then, 0);
    if (!is_null(then))
        used_where_absent(f, absent(f, child_of(f, node, MYTH_SLOT_CONDITION), false), then);
}

/* p == NULL && p->n, and p != NULL || p->n. */
static void null_beside(myth_flow *f, TSNode node)
{
    const bool is_and = myth_flow_is_operator(f, node, "&&"), is_or = myth_flow_is_operator(f, node, "||");
    if (is_and || is_or)
        used_where_absent(f, absent(f, field_of(node, "left"), is_or), field_of(node, "right"));
}

/* ---- Go ---- */

/* var m map[K]V, and what comes first is m[k] = v. */
static void nil_map(myth_flow *f, TSNode node, const myth_around *around)
{
    char name[MYTH_HABIT_TEXT];
    myth_mention m;
    const TSNode function = myth_habit_function(f, around), of = field_of(node, "name");
    if (is_null(field_of(function, "body")) || !is_type(field_of(node, "type"), "map_type") ||
        !is_null(field_of(node, "value")) || !myth_habit_text(f, of, name, sizeof(name)) ||
        !myth_shown_mention(f, field_of(function, "body"), name, ts_node_end_byte(node), &m) ||
        !is_type(m.up, "index_expression") || !ts_node_eq(field_of(m.up, "operand"), m.node))
        return;
    const TSNode left = is_type(m.above, "expression_list") ? ts_node_parent(m.above) : m.above;
    const bool is_set = is_type(left, "assignment_statement") && ts_node_eq(field_of(left, "left"), m.above);
    if (is_set || is_type(left, "inc_statement") || is_type(left, "dec_statement"))
        myth_shown_put(f, MYTH_SHOWN_NIL_MAP, m.up, m.node, line_of(node));
}

/* f, err := open(); defer f.Close(); if err != nil */
static void deferred(myth_flow *f, TSNode block)
{
    char name[MYTH_HABIT_TEXT], text[2 * MYTH_HABIT_TEXT], error[MYTH_HABIT_TEXT], want[2 * MYTH_HABIT_TEXT];
    for (uint32_t i = 0; i < BLOCK_STATEMENTS; i++) {
        const TSNode take = statement_of(block, i), put = statement_of(block, i + 1), ask = statement_of(block, i + 2);
        const TSNode left = field_of(take, "left");
        if (is_null(ask))
            break;
        if (!(is_type(take, "short_var_declaration") || is_type(take, "assignment_statement")) ||
            !is_type(put, "defer_statement") || !is_type(ask, "if_statement") || ts_node_named_child_count(left) != 2 ||
            !myth_habit_text(f, ts_node_named_child(left, 0), name, sizeof(name)) ||
            !myth_habit_text(f, ts_node_named_child(left, 1), error, sizeof(error)) ||
            !myth_habit_text(f, ts_node_named_child(put, 0), text, sizeof(text)) ||
            !myth_habit_text(f, field_of(ask, "condition"), want, sizeof(want)))
            continue;
        const size_t n = strlen(name), m = strlen(error);
        const bool is_asked = strncmp(want, error, m) == 0 && strcmp(want + m, "!=nil") == 0;
        const char *rest = strncmp(text, name, n) == 0 ? text + n : text;
        const bool is_close = strcmp(rest, ".Close()") == 0 || strcmp(rest, ".Body.Close()") == 0;
        if (is_asked && is_close)
            myth_shown_put(f, MYTH_SHOWN_DEFERRED, put, ts_node_named_child(left, 0), line_of(ask));
    }
}

/* ---- what a branch released and left to what follows ---- */

/* Whether a call of a node behind byte `from` may not return: any but of a function that is known to. */
static bool may_end(const myth_flow *f, TSNode node, uint32_t from, int deep)
{
    static const char *const returns[] = {"free", "print", "puts", "log", "close", "warn", "debug", "unref", "mem"};
    char name[MYTH_HABIT_TEXT];
    if (deep > MYTH_SHOWN_DEEP)
        return true;
    if (is_type(node, "call_expression") && ts_node_start_byte(node) >= from &&
        !(myth_habit_text(f, field_of(node, "function"), name, sizeof(name)) &&
          myth_flow_has_one_of(name, returns, N_OF(returns))))
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (may_end(f, ts_node_named_child(node, i), from, deep + 1))
            return true;
    return false;
}

/* The variable that a branch releases and does not touch again; the branch ends where what follows begins. */
static TSNode released_in(const myth_flow *f, TSNode branch)
{
    char name[MYTH_HABIT_TEXT];
    const uint32_t n = role_of(f, branch) == MYTH_ROLE_BLOCK ? ts_node_named_child_count(branch) : 1;
    for (uint32_t i = 0; i < n && i < BLOCK_STATEMENTS; i++) {
        const TSNode at = role_of(f, branch) == MYTH_ROLE_BLOCK ? ts_node_named_child(branch, i) : branch;
        const TSNode of = myth_shown_released(f, at);
        myth_mention m;
        if (!is_null(of) && myth_habit_text(f, of, name, sizeof(name)) &&
            !myth_shown_mention(f, branch, name, ts_node_end_byte(at), &m) &&
            !may_end(f, branch, ts_node_end_byte(at), 0))
            return of;
    }
    return (TSNode){0};
}

/* What the first statement that mentions a released variable does with it. */
static myth_shown done_with(const myth_flow *f, TSNode statement, const myth_mention *m)
{
    static const char *const reads[] = {"strlen", "puts",   "strcmp", "strncmp", "strcpy",     "strdup", "atoi",
                                        "strchr", "strstr", "memcpy", "memset",  "strcasecmp", "strtol"};
    static const char *const prints[] = {"printf", "fprintf", "snprintf", "sprintf", "syslog"};
    char text[MYTH_HABIT_TEXT];
    const TSNode released = myth_shown_released(f, statement);
    if (!is_null(released) && ts_node_eq(released, m->node))
        return MYTH_SHOWN_AGAIN;
    if (is_behind(f, m) ||
        (is_type(m->up, "subscript_expression") && ts_node_eq(field_of(m->up, "argument"), m->node) &&
         !(is_type(m->above, "pointer_expression") && myth_flow_first_byte(f, m->above) == '&')))
        return MYTH_SHOWN_FREED;
    if (!is_type(m->up, "argument_list") || !is_type(m->above, "call_expression") ||
        !myth_habit_text(f, field_of(m->above, "function"), text, sizeof(text)))
        return MYTH_SHOWN_NONE;
    const uint32_t off = ts_node_start_byte(m->above), end = ts_node_end_byte(m->above);
    const bool is_printed = IS_ONE(text, prints) && myth_habit_has_text(f, off, end, "%s") &&
                            !myth_habit_has_text(f, off, end, "%p") && !myth_habit_has_text(f, off, end, "%d");
    return is_printed || IS_ONE(text, reads) ? MYTH_SHOWN_FREED : MYTH_SHOWN_NONE;
}

/* if (a) { free(p); }, where control goes on, and behind it, in no branch, free(p) or p->n. */
static void freed_in_branch(myth_flow *f, TSNode block)
{
    char name[MYTH_HABIT_TEXT];
    const uint32_t all = ts_node_named_child_count(block), n = all < BLOCK_STATEMENTS ? all : BLOCK_STATEMENTS;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const TSNode branch = ts_node_named_child(block, i), then = child_of(f, branch, MYTH_SLOT_THEN);
        if (role_of(f, branch) != MYTH_ROLE_IF || is_null(then) || leaves_anywhere(f, then, 0))
            continue;
        const TSNode of = released_in(f, then);
        if (is_null(of) || !myth_habit_text(f, of, name, sizeof(name)) || !is_own(f, of))
            continue;
        for (uint32_t j = i + 1; j < n; j++) {
            TSNode at = ts_node_named_child(block, j);
            myth_mention m;
            if (is_type(at, "labeled_statement") && ts_node_named_child_count(at) > 0)
                at = ts_node_named_child(at, ts_node_named_child_count(at) - 1);
            const bool is_plain =
                is_type(at, "expression_statement") || is_type(at, "return_statement") || is_type(at, "declaration");
            if (myth_shown_mention(f, at, name, 0, &m)) {
                const myth_shown how = is_plain ? done_with(f, at, &m) : MYTH_SHOWN_NONE;
                if (how != MYTH_SHOWN_NONE)
                    myth_shown_put(f, how, how == MYTH_SHOWN_AGAIN ? at : m.up, m.node, line_of(of));
                break;
            }
            if (myth_shown_leaves(f, at) || strncmp(ts_node_type(at), "preproc", 7) == 0)
                break;
        }
    }
}

/* ---- what the address of a page says, written into the page: JavaScript ---- */

/* Whether the text has a word that makes something harmless of a value. */
static bool is_made_safe(const char *text)
{
    static const char *const safe[] = {"encode",  "escape",   "Escape",     "sanit", "Sanit", "purify",     "Purify",
                                       "Number(", "parseInt", "parseFloat", "?\"",   "?'",    "textContent"};
    return myth_flow_has_one_of(text, safe, N_OF(safe));
}

/* Whether a value is a part of the page's address: location.hash, params.get("q") of new URLSearchParams(...). */
static bool is_of_address(const myth_flow *f, const char *text)
{
    static const char *const parts[] = {"location.search", "location.hash", "location.href", "document.referrer",
                                        "document.URL"};
    if (myth_flow_has_one_of(text, parts, N_OF(parts)))
        return true;
    const char *get = strstr(text, ".get(");
    const char *word = get;
    while (word && word > text && (isalnum((unsigned char)word[-1]) || word[-1] == '_' || word[-1] == '$'))
        word--;
    if (!get || get == word)
        return false;
    char want[2 * MYTH_HABIT_TEXT];
    snprintf(want, sizeof(want), "%.*s = new URLSearchParams(", (int)(get - word), word);
    return myth_habit_has_text(f, 0, f->n_text, want);
}

static void page_of_address(myth_flow *f, TSNode node)
{
    static const char *const members[] = {"innerHTML", "outerHTML"};
    static const char *const calls[] = {"document.write", "document.writeln"};
    char text[4 * MYTH_HABIT_TEXT], name[MYTH_HABIT_TEXT];
    TSNode of = {0}, value = {0};
    if (is_type(node, "call_expression")) {
        of = field_of(node, "function");
        const bool is_write = myth_habit_text(f, of, name, sizeof(name)) && IS_ONE(name, calls);
        value = is_write ? ts_node_named_child(field_of(node, "arguments"), 0) : value;
    } else {
        const TSNode left = field_of(node, "left");
        of = is_type(left, "member_expression") ? field_of(left, "property") : of;
        const bool is_page = myth_habit_text(f, of, name, sizeof(name)) && IS_ONE(name, members);
        value = is_page ? field_of(node, "right") : value;
    }
    if (!is_null(value) && myth_habit_text(f, value, text, sizeof(text)) && !is_made_safe(text) &&
        is_of_address(f, text))
        myth_shown_put(f, MYTH_SHOWN_PAGE, node, of, 0);
}

/* ---- new[] and delete ---- */

enum { MADE_ARRAY = 1, MADE_ONE = 2, MADE_OTHER = 4 };

static int made_as(const myth_flow *f, TSNode value)
{
    if (is_null(value))
        return 0;
    value = myth_flow_inner(f, value);
    if (is_type(value, "new_expression")) {
        uint32_t end = ts_node_start_byte(value); /* of the statement: new T *[n] is read as a product */
        while (end < f->n_text && f->text[end] != ';')
            end++;
        const bool has_bracket = myth_habit_has_text(f, ts_node_start_byte(value), end, "[");
        return !is_null(field_of(value, "declarator")) ? MADE_ARRAY : has_bracket ? MADE_OTHER : MADE_ONE;
    }
    return is_none(f, value) ? 0 : MADE_OTHER;
}

/* How all values that a name of the file gets were made: a bit each. */
static int made(const myth_flow *f, TSNode node, const char *name, int deep)
{
    char text[MYTH_HABIT_TEXT];
    int is = 0;
    if (deep > MYTH_SHOWN_DEEP)
        return MADE_OTHER;
    TSNode of = {0}, value = {0};
    if (is_type(node, "assignment_expression")) {
        of = field_of(node, "left");
        value = field_of(node, "right");
    } else if (is_type(node, "init_declarator")) {
        of = named_declarator(field_of(node, "declarator"));
        value = field_of(node, "value");
    } else if (is_type(node, "field_initializer") && ts_node_named_child_count(node) == 2) {
        of = ts_node_named_child(node, 0);
        value = ts_node_named_child(node, 1);
        if (ts_node_named_child_count(value) > 0)
            value = ts_node_named_child(value, 0);
    } else if (is_type(node, "parameter_declaration")) {
        of = named_declarator(field_of(node, "declarator"));
        is |= !is_null(of) && myth_flow_text_is(f, of, name) ? MADE_OTHER : 0;
    }
    if (!is_null(value) && myth_habit_text(f, of, text, sizeof(text)) && strcmp(myth_flow_last_word(text), name) == 0)
        is |= made_as(f, value);
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        is |= made(f, ts_node_named_child(node, i), name, deep + 1);
    return is;
}

static void deleted(myth_flow *f, TSNode node)
{
    char text[MYTH_HABIT_TEXT];
    const TSNode of = ts_node_named_child(node, 0);
    if (is_null(of) || !(is_name_node(of) || is_type(of, "field_expression")) ||
        !myth_habit_text(f, of, text, sizeof(text)))
        return;
    const bool is_array = myth_habit_has_text(f, ts_node_start_byte(node), ts_node_start_byte(of), "[");
    const int is = made(f, root_now, myth_flow_last_word(text), 0);
    if (is == (is_array ? MADE_ONE : MADE_ARRAY))
        myth_shown_put(f, MYTH_SHOWN_DELETE, node, of, 0);
}

/* ---- a function ---- */

static void look_at_c(myth_flow *f, TSNode node, const myth_around *around)
{
    if (is_type(node, "return_statement"))
        local_returned(f, node, around);
    else if (is_type(node, "declaration"))
        added_unset(f, node, around);
    else if (is_type(node, "call_expression")) {
        bare_length(f, node, around);
        call_by_name(f, node, around);
    } else if (is_type(node, "delete_expression"))
        deleted(f, node);
    else if (is_type(node, "compound_statement"))
        freed_in_branch(f, node);
}

static bool on_node(myth_flow *f, TSNode node, const myth_around *around)
{
    if (f->is_failed)
        return false;
    const myth_role role = role_of(f, node);
    if (role == MYTH_ROLE_FUNCTION && (f->is_file || f->is_outer) && !ts_node_eq(node, function_now))
        return false; /* it is a flow of its own */
    if (role == MYTH_ROLE_LOOP || role == MYTH_ROLE_FOR_EACH)
        myth_shown_loop(f, node, root_now);
    if (myth_habit_is_go()) {
        if (is_type(node, "var_spec"))
            nil_map(f, node, around);
        else if (role == MYTH_ROLE_BLOCK || is_type(node, "statement_list"))
            deferred(f, node);
    } else if (myth_habit_is_python()) {
        if (is_type(node, "call"))
            call_by_name(f, node, around);
    } else {
        if (role == MYTH_ROLE_IF)
            null_used(f, node);
        else if (is_type(node, "binary_expression"))
            null_beside(f, node);
        if (myth_habit_is_script() && (is_type(node, "assignment_expression") || is_type(node, "call_expression")))
            page_of_address(f, node);
        else if (!myth_habit_is_java() && !myth_habit_is_script())
            look_at_c(f, node, around);
    }
    return true;
}

void myth_facts_shown(myth_flow *f, TSNode function, TSNode root)
{
    f->now_scope = f->now_test = 0;
    root_now = root;
    function_now = function;
    myth_flow_each_node(f, function, on_node);
}
