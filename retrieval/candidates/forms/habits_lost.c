/* habits_lost.c - what is lost on a way out, and what nobody waits for (habits.c). Each
 * form is a shape of the statements of one block: what opens, the way out, and what the rest does with it. */
#include "habits.h"

#include "engine/base/chars.h"

#include <stdio.h>
#include <string.h>

enum { LOST_DEEP = 80, LOST_STATEMENTS = 120, LOST_LINE = 400 };

#define IS_ONE(name, list) myth_flow_is_one_of(name, list, sizeof(list) / sizeof(*(list)))

static bool in_node(const myth_flow *f, TSNode node, const char *text)
{
    return !is_null(node) && myth_habit_has_text(f, ts_node_start_byte(node), ts_node_end_byte(node), text);
}

/* x of x := f(), of let x = f() or of x = f(): the first of several; and the call. False = another statement. */
static bool made_by_call(const myth_flow *f, TSNode statement, char name[MYTH_HABIT_TEXT], TSNode *call)
{
    TSNode s = statement;
    if (is_type(s, "expression_statement") || is_type(s, "lexical_declaration") || is_type(s, "variable_declaration"))
        s = ts_node_named_child(s, 0);
    if (is_null(s) || role_of(f, s) != MYTH_ROLE_ASSIGN)
        return false;
    TSNode left = field_of(s, "left"), right = field_of(s, "right");
    if (is_null(left)) {
        left = field_of(s, "name");
        right = field_of(s, "value");
    }
    if (is_type(left, "expression_list"))
        left = ts_node_named_child(left, 0);
    if (is_type(right, "expression_list"))
        right = ts_node_named_child(right, 0);
    if (is_type(right, "await_expression") || is_type(right, "await"))
        right = ts_node_named_child(right, 0);
    *call = right;
    return is_type(left, "identifier") && !is_null(right) && is_call(right) &&
           myth_habit_text(f, left, name, MYTH_HABIT_TEXT);
}

/* The last statement of a branch. */
static TSNode last_of(const myth_flow *f, TSNode block)
{
    for (int i = 0; i < 6 && !is_null(block); i++) {
        const myth_role role = role_of(f, block);
        const uint32_t n = ts_node_named_child_count(block);
        if ((role != MYTH_ROLE_BLOCK && role != MYTH_ROLE_NONE) || n == 0)
            return block;
        TSNode last = ts_node_named_child(block, n - 1);
        for (uint32_t k = n; k-- > 1 && strstr(ts_node_type(last), "comment");)
            last = ts_node_named_child(block, k - 1);
        block = last;
    }
    return block;
}

/* The branch of an if without else that leaves the function; null = none. */
static TSNode way_out(const myth_flow *f, TSNode statement)
{
    if (role_of(f, statement) != MYTH_ROLE_IF || !is_null(child_of(f, statement, MYTH_SLOT_ELSE)))
        return (TSNode){0};
    const TSNode then = child_of(f, statement, MYTH_SLOT_THEN);
    const TSNode last = is_null(then) ? then : last_of(f, then);
    const myth_role role = is_null(last) ? MYTH_ROLE_NONE : role_of(f, last);
    return role == MYTH_ROLE_RETURN || role == MYTH_ROLE_THROW ? then : (TSNode){0};
}

static uint32_t count_of(TSNode block)
{
    const uint32_t n = ts_node_named_child_count(block);
    return n < LOST_STATEMENTS ? n : LOST_STATEMENTS;
}

static const char *callee_of(const myth_flow *f, TSNode call, char text[MYTH_HABIT_TEXT])
{
    if (!myth_habit_text(f, field_of(call, "function"), text, MYTH_HABIT_TEXT))
        text[0] = '\0';
    return text;
}

/* ---- what is opened, and lost where an error leaves ---- */

static bool opens(const char *callee)
{
    static const char *const list[] = {"os.Open",         "os.Create",
                                       "os.OpenFile",     "net.Dial",
                                       "net.DialTimeout", "tls.Dial",
                                       "net.Listen",      "net.DialTCP",
                                       "net.DialUDP",     "net.ListenUDP",
                                       "os.CreateTemp",   "net.ListenPacket",
                                       "zip.OpenReader",  "socket.create_connection",
                                       "socket.socket",   "open",
                                       "serial.Serial",   "os.open",
                                       "io.open",         "sqlite3.connect",
                                       "zipfile.ZipFile", "gzip.open",
                                       "tarfile.open"};
    return IS_ONE(callee, list);
}

static bool opens_script(const char *callee) /* what the row closed-later does not know */
{
    static const char *const list[] = {"open", "openSync", "fsPromises.open"};
    return IS_ONE(callee, list);
}

/* Whether the last value of a Go return says that all went well. */
static bool returns_well(const myth_flow *f, TSNode statement)
{
    const TSNode list = ts_node_named_child(statement, 0);
    const uint32_t n = is_null(list) ? 0 : ts_node_named_child_count(list);
    return n > 0 && is_named(f, ts_node_named_child(list, n - 1), "nil");
}

/* Whether the statements of a block make something of `name` that the last one returns: w := &File{f}; return w. */
static bool returns_it(const myth_flow *f, TSNode block, uint32_t from, const char *name)
{
    const uint32_t n = ts_node_named_child_count(block);
    const TSNode last = ts_node_named_child(block, n - 1);
    char holder[MYTH_HABIT_TEXT];
    if (role_of(f, last) != MYTH_ROLE_RETURN || (myth_habit_is_go() && !returns_well(f, last)))
        return false;
    if (myth_habit_has_word(f, last, name))
        return true;
    for (uint32_t i = from; i + 1 < n && i < LOST_STATEMENTS; i++) {
        TSNode s = ts_node_named_child(block, i);
        if (is_type(s, "expression_statement"))
            s = ts_node_named_child(s, 0);
        if (is_null(s))
            continue;
        const TSNode left = field_of(s, "left"), right = field_of(s, "right");
        if (role_of(f, s) == MYTH_ROLE_ASSIGN && !is_null(right) && myth_habit_has_word(f, right, name) &&
            myth_habit_text(f, is_type(left, "expression_list") ? ts_node_named_child(left, 0) : left, holder,
                            sizeof(holder)) &&
            myth_habit_has_word(f, last, holder))
            return true;
    }
    return false;
}

static bool is_error_test(const myth_flow *f, TSNode statement)
{
    const TSNode cond = child_of(f, statement, MYTH_SLOT_CONDITION);
    return is_named(f, cond, "err != nil") && is_null(field_of(statement, "initializer"));
}

/* Whether a way out is taken where nothing was opened: if rc == nil, if not file. */
static bool is_where_gone(const myth_flow *f, TSNode statement, const char *name)
{
    static const char *const form[] = {"%s==nil", "not%s", "%sisNone", "%s==None"};
    const TSNode cond = child_of(f, statement, MYTH_SLOT_CONDITION);
    char text[MYTH_HABIT_TEXT], want[MYTH_HABIT_TEXT + 16];
    if (is_null(cond) || !myth_habit_text(f, cond, text, sizeof(text)))
        return false;
    for (size_t i = 0; i < sizeof(form) / sizeof(*form); i++) {
        snprintf(want, sizeof(want), form[i], name);
        if (strcmp(text, want) == 0)
            return true;
    }
    return false;
}

static void lost(myth_flow *f, TSNode block)
{
    char name[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT], closing[MYTH_HABIT_TEXT + 16];
    const uint32_t n = count_of(block);
    TSNode call;
    for (uint32_t i = 0; i + 2 < n; i++) {
        const TSNode at = ts_node_named_child(block, i);
        if (!made_by_call(f, at, name, &call) || !opens(callee_of(f, call, text)) || !returns_it(f, block, i + 1, name))
            continue;
        snprintf(closing, sizeof(closing), "%s.%s", name, myth_habit_is_go() ? "Close" : "close");
        TSNode found = {0};
        for (uint32_t j = i + 1; j < n; j++) {
            const TSNode now = ts_node_named_child(block, j), way = way_out(f, now);
            if (in_node(f, now, "lose(") || in_node(f, now, "defer ") || in_node(f, now, "ontextlib") ||
                in_node(f, now, "ExitStack") || role_of(f, now) == MYTH_ROLE_TRY || role_of(f, now) == MYTH_ROLE_WITH) {
                found = (TSNode){0};
                break;
            }
            if (is_null(way) || !is_null(found) || is_where_gone(f, now, name) ||
                (j == i + 1 && myth_habit_is_go() && is_error_test(f, now)))
                continue;
            const TSNode last = last_of(f, way);
            if (myth_habit_has_word(f, last, name) || (myth_habit_is_go() && returns_well(f, last)) ||
                (!myth_habit_is_go() && role_of(f, last) != MYTH_ROLE_THROW))
                continue;
            found = last;
        }
        if (!is_null(found))
            myth_misuse_put(f, MYTH_MISUSE_LOST, call, field_of(call, "function"), line_of(found));
    }
}

/* ---- opened, and closed further down, but not where a way out leaves ---- */

static bool closes_it(const myth_flow *f, TSNode statement, const char *name)
{
    static const char *const how[] = {"close()", "release()", "end()", "destroy()"};
    char text[2 * MYTH_HABIT_TEXT], want[2 * MYTH_HABIT_TEXT];
    if (!is_type(statement, "expression_statement") || !myth_habit_text(f, statement, text, sizeof(text)))
        return false;
    for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++) {
        snprintf(want, sizeof(want), "%s.%s", name, how[i]);
        if (strncmp(text, want, strlen(want)) == 0 ||
            (strncmp(text, "await", 5) == 0 && strncmp(text + 5, want, strlen(want)) == 0))
            return true;
    }
    snprintf(want, sizeof(want), "fs.closeSync(%s)", name);
    return strncmp(text, want, strlen(want)) == 0;
}

static void closed_below(myth_flow *f, TSNode block)
{
    char name[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    const uint32_t n = count_of(block);
    TSNode call;
    for (uint32_t i = 0; i + 2 < n; i++) {
        if (!made_by_call(f, ts_node_named_child(block, i), name, &call) || !opens_script(callee_of(f, call, text)))
            continue;
        TSNode found = {0};
        for (uint32_t j = i + 1; j < n; j++) {
            const TSNode now = ts_node_named_child(block, j);
            if (closes_it(f, now, name)) {
                if (!is_null(found))
                    myth_misuse_put(f, MYTH_MISUSE_CLOSED, call, field_of(call, "function"), line_of(found));
                break;
            }
            const TSNode way = way_out(f, now);
            if (role_of(f, now) == MYTH_ROLE_TRY)
                break;
            if (!is_null(way) && is_null(found) && !myth_habit_has_word(f, now, name))
                found = last_of(f, way);
            else if (!is_null(way) && is_null(found) && !myth_habit_has_word(f, way, name))
                found = last_of(f, way);
        }
    }
}

/* ---- answers of servers whose body is never closed ---- */

/* Whether all that is done with an answer is to look at its state; *n: how often. */
static bool only_state(const myth_flow *f, TSNode node, const char *name, uint32_t *n, int deep)
{
    static const char *const state[] = {"StatusCode", "Status", "Header", "Proto"};
    if (deep > LOST_DEEP)
        return false;
    if (is_type(node, "selector_expression") && is_named(f, field_of(node, "operand"), name)) {
        char field[MYTH_HABIT_TEXT];
        *n += 1;
        return myth_habit_text(f, field_of(node, "field"), field, sizeof(field)) && IS_ONE(field, state);
    }
    if (is_type(node, "identifier") && is_named(f, node, name))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (!only_state(f, ts_node_named_child(node, i), name, n, deep + 1))
            return false;
    return true;
}

static void body(myth_flow *f, TSNode block)
{
    static const char *const gets[] = {"http.Get", "http.Post", "http.PostForm", "http.DefaultClient.Do"};
    char name[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    const uint32_t n = count_of(block);
    TSNode call;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const TSNode at = ts_node_named_child(block, i);
        uint32_t used = 0;
        bool is_state = true;
        if (!is_type(at, "short_var_declaration") || !made_by_call(f, at, name, &call))
            continue;
        callee_of(f, call, text);
        const size_t len = strlen(text);
        const bool is_do = len > 3 && strcmp(text + len - 3, ".Do") == 0 && in_node(f, block, "StatusCode") &&
                           myth_habit_has_text(f, 0, f->n_text, "\"net/http\"");
        if ((!IS_ONE(text, gets) && !is_do) || in_node(f, block, "HEAD") || in_node(f, block, "MethodHead"))
            continue; /* the answer to HEAD has no body */
        for (uint32_t j = i + 1; j < ts_node_named_child_count(block) && is_state; j++)
            is_state = only_state(f, ts_node_named_child(block, j), name, &used, 0);
        if (is_state && used > 0)
            myth_misuse_put(f, MYTH_MISUSE_BODY, call, field_of(call, "function"), 0);
    }
}

/* ---- directories that Java reads ---- */

static void stream(myth_flow *f, TSNode call, const myth_around *around)
{
    static const char *const ends[] = {"collect", "toList",   "forEach",  "count",     "findFirst",
                                       "findAny", "anyMatch", "allMatch", "noneMatch", "toArray",
                                       "reduce",  "max",      "min",      "iterator"};
    char text[MYTH_HABIT_TEXT], name[MYTH_HABIT_TEXT];
    static const char *const reads[] = {"list", "walk", "find", "newDirectoryStream"};
    if (!is_type(call, "method_invocation") || !is_named(f, field_of(call, "object"), "Files") ||
        !myth_habit_text(f, field_of(call, "name"), text, sizeof(text)) || !IS_ONE(text, reads))
        return;
    TSNode below = call;
    for (uint32_t i = 0; i < 24; i++) {
        const TSNode up = around_at(around, i);
        if (is_null(up))
            return;
        if (is_type(up, "enhanced_for_statement") && ts_node_eq(field_of(up, "value"), below)) {
            myth_misuse_put(f, MYTH_MISUSE_STREAM, call, call, 0);
            return;
        }
        if (!is_type(up, "method_invocation") || !ts_node_eq(field_of(up, "object"), below) ||
            !myth_habit_text(f, field_of(up, "name"), name, sizeof(name)))
            return;
        if (IS_ONE(name, ends)) {
            myth_misuse_put(f, MYTH_MISUSE_STREAM, call, call, 0);
            return;
        }
        below = up;
    }
}

/* ---- what several goroutines write ---- */

/* Whether a name is made in a node: x := ..., var x, or a parameter. */
static bool is_made_in(const myth_flow *f, TSNode node, const char *name, int deep)
{
    if (deep > LOST_DEEP)
        return true;
    TSNode of = {0};
    if (is_type(node, "short_var_declaration") || is_type(node, "range_clause"))
        of = field_of(node, "left");
    else if (is_type(node, "var_spec") || is_type(node, "parameter_declaration"))
        of = field_of(node, "name");
    if (!is_null(of) && myth_habit_has_word(f, of, name))
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (is_made_in(f, ts_node_named_child(node, i), name, deep + 1))
            return true;
    return false;
}

/* Whether a function makes a map of this name: m := make(map[..]..), map[..]..{}, or var m map[..].. */
static bool is_map(const myth_flow *f, TSNode node, const char *name, int deep)
{
    if (deep > LOST_DEEP)
        return false;
    if (is_type(node, "short_var_declaration") && is_named(f, field_of(node, "left"), name)) {
        const TSNode right = field_of(node, "right");
        const uint32_t off = ts_node_start_byte(right);
        return myth_habit_has_text(f, off, off + 4, "map[") || myth_habit_has_text(f, off, off + 9, "make(map[");
    }
    if ((is_type(node, "var_spec") || is_type(node, "parameter_declaration")) &&
        is_named(f, field_of(node, "name"), name))
        return is_type(field_of(node, "type"), "map_type");
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (is_map(f, ts_node_named_child(node, i), name, deep + 1))
            return true;
    return false;
}

/* Whether a name is made in the function, and neither in the loop nor in the goroutine. */
static bool is_made_outside(const myth_flow *f, const char *name, TSNode literal, TSNode loop, TSNode function)
{
    return is_made_in(f, function, name, 0) && !is_made_in(f, literal, name, 0) && !is_made_in(f, loop, name, 0);
}

/* The first write of what is made outside of the goroutine; null = none. */
static TSNode shared_write(const myth_flow *f, TSNode node, TSNode literal, TSNode loop, TSNode function, int deep)
{
    char name[MYTH_HABIT_TEXT];
    if (deep > LOST_DEEP)
        return (TSNode){0};
    if (is_type(node, "inc_statement") || is_type(node, "dec_statement")) {
        const TSNode of = ts_node_named_child(node, 0);
        if (is_type(of, "identifier") && myth_habit_text(f, of, name, sizeof(name)) &&
            is_made_outside(f, name, literal, loop, function))
            return of;
    }
    if (is_type(node, "assignment_statement")) {
        TSNode left = ts_node_named_child(field_of(node, "left"), 0), right = field_of(node, "right");
        const bool is_added = !myth_flow_is_operator(f, node, "=");
        bool is_found = false;
        if (ts_node_named_child_count(field_of(node, "left")) == 1 && is_type(left, "index_expression")) {
            left = field_of(left, "operand");
            is_found = is_type(left, "identifier") && myth_habit_text(f, left, name, sizeof(name)) &&
                       is_map(f, function, name, 0);
        } else if (is_type(left, "identifier") && myth_habit_text(f, left, name, sizeof(name))) {
            char want[MYTH_HABIT_TEXT + 16];
            snprintf(want, sizeof(want), "append(%s,", name);
            const uint32_t off = ts_node_start_byte(right), n = (uint32_t)strlen(want);
            const bool is_appended = off + n < f->n_text && memcmp(f->text + off, want, n) == 0;
            is_found = is_appended || is_added; /* append(a, x), n += x */
        }
        if (is_found && is_made_outside(f, name, literal, loop, function))
            return left;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode found = shared_write(f, ts_node_named_child(node, i), literal, loop, function, deep + 1);
        if (!is_null(found))
            return found;
    }
    return (TSNode){0};
}

static void routine(myth_flow *f, TSNode literal, const myth_around *around)
{
    const TSNode call = around_at(around, 0), list = is_type(call, "argument_list") ? around_at(around, 1) : call;
    uint32_t from = is_type(call, "argument_list") ? 1 : 0;
    bool is_go = false;
    TSNode loop = {0}, function = {0}, method, arguments;
    if (is_type(call, "argument_list")) { /* group.Go(func() ...) */
        if (!is_type(list, "call_expression"))
            return;
        myth_habit_receiver(list, &method, &arguments);
        is_go = is_named(f, method, "Go") && ts_node_named_child_count(arguments) == 1;
    } else
        is_go = is_type(call, "call_expression") && is_type(around_at(around, 1), "go_statement");
    for (uint32_t i = from; is_go && i < 40; i++) {
        const TSNode up = around_at(around, i);
        if (is_null(up))
            break;
        if (is_type(up, "for_statement") && is_null(loop))
            loop = up;
        if (role_of(f, up) == MYTH_ROLE_FUNCTION) {
            function = up;
            break;
        }
    }
    if (is_null(function))
        function = myth_habit_function(f, around);
    if (!is_go || is_null(loop) || in_node(f, loop, ".Wait()") || in_node(f, literal, "Lock()") ||
        in_node(f, function, "SetLimit(1)") || in_node(f, literal, "Once"))
        return;
    /* a loop that waits for each of them has one at a time */
    const uint32_t end = ts_node_end_byte(literal);
    if (myth_habit_has_text(f, ts_node_start_byte(loop), ts_node_start_byte(literal), "select {") ||
        myth_habit_has_text(f, end, ts_node_end_byte(loop), "select {") ||
        myth_habit_has_text(f, end, ts_node_end_byte(loop), "<-"))
        return;
    const TSNode at = shared_write(f, field_of(literal, "body"), literal, loop, function, 0);
    if (!is_null(at))
        myth_misuse_put(f, MYTH_MISUSE_ROUTINE, at, at, line_of(literal));
}

/* ---- formats of dates that all threads of Java share ---- */

static void format(myth_flow *f, TSNode node)
{
    char type[MYTH_HABIT_TEXT], name[MYTH_HABIT_TEXT], use[MYTH_HABIT_TEXT + 16];
    TSNode of = {0};
    bool is_static = false, is_open = false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (is_type(child, "modifiers")) {
            is_static = in_node(f, child, "static");
            is_open = in_node(f, child, "public");
        }
        if (is_type(child, "variable_declarator"))
            of = child;
    }
    const TSNode value = field_of(of, "value");
    if (!is_static || is_null(value) || !myth_habit_text(f, field_of(node, "type"), type, sizeof(type)) ||
        !(strcmp(type, "SimpleDateFormat") == 0 || strcmp(type, "DateFormat") == 0) ||
        !in_node(f, value, "SimpleDateFormat(") || in_node(f, value, "ThreadLocal") ||
        !myth_habit_text(f, field_of(of, "name"), name, sizeof(name)))
        return;
    snprintf(use, sizeof(use), "%s.clone()", name);
    if (myth_habit_has_text(f, 0, f->n_text, "synchronized") || myth_habit_has_text(f, 0, f->n_text, use) ||
        myth_habit_has_text(f, 0, f->n_text, "void main("))
        return;
    snprintf(use, sizeof(use), "%s.format(", name);
    is_open |= myth_habit_has_text(f, 0, f->n_text, use);
    snprintf(use, sizeof(use), "%s.parse(", name);
    if (is_open || myth_habit_has_text(f, 0, f->n_text, use))
        myth_misuse_put(f, MYTH_MISUSE_FORMAT, node, field_of(of, "name"), 0);
}

/* ---- locks of Python that one way out keeps ---- */

/* The lock of a statement x.release(). */
static bool released(const myth_flow *f, TSNode statement, char lock[MYTH_HABIT_TEXT])
{
    static const char end[] = ".release()";
    const size_t k = sizeof(end) - 1;
    if (!is_type(statement, "expression_statement") || !myth_habit_text(f, statement, lock, MYTH_HABIT_TEXT))
        return false;
    const size_t n = strlen(lock);
    if (n <= k || strcmp(lock + n - k, end) != 0)
        return false;
    lock[n - k] = '\0';
    return strstr(lock, "lock") || strstr(lock, "Lock") || strstr(lock, "mutex") || strstr(lock, "sem");
}

/* Whether a statement takes the lock: itself, or by a function of the file that takes it and does not give it back. */
static bool takes(const myth_flow *f, TSNode statement, const char *lock)
{
    char text[2 * MYTH_HABIT_TEXT], want[MYTH_HABIT_TEXT + 16], define[MYTH_HABIT_TEXT + 16];
    if (!is_type(statement, "expression_statement") || !myth_habit_text(f, statement, text, sizeof(text)))
        return false;
    snprintf(want, sizeof(want), "%s.acquire(", lock);
    if (strncmp(text, want, strlen(want)) == 0)
        return true;
    if (strncmp(text, "self.", 5) != 0)
        return false;
    const size_t n = strcspn(text + 5, "(");
    snprintf(define, sizeof(define), "def %.*s(", (int)(n < 60 ? n : 60), text + 5);
    for (uint32_t i = 0; i + strlen(define) < f->n_text; i++)
        if (f->text[i] == 'd' && memcmp(f->text + i, define, strlen(define)) == 0) {
            uint32_t end = i + 4;
            while (end + 5 < f->n_text && memcmp(f->text + end, "def ", 4) != 0)
                end++;
            return myth_habit_has_text(f, i, end, want) && !myth_habit_has_text(f, i, end, ".release(");
        }
    return false;
}

static void way(myth_flow *f, TSNode block)
{
    char lock[MYTH_HABIT_TEXT], give[MYTH_HABIT_TEXT + 16];
    const uint32_t n = count_of(block);
    for (uint32_t j = 2; j < n; j++) {
        if (!released(f, ts_node_named_child(block, j), lock))
            continue;
        snprintf(give, sizeof(give), "%s.release(", lock);
        for (uint32_t i = j; i-- > 0;) {
            if (in_node(f, ts_node_named_child(block, i), give) && is_null(way_out(f, ts_node_named_child(block, i))))
                break;
            if (!takes(f, ts_node_named_child(block, i), lock))
                continue;
            for (uint32_t k = i + 1; k < j; k++) {
                const TSNode out = way_out(f, ts_node_named_child(block, k));
                if (is_null(out) || in_node(f, ts_node_named_child(block, k), give))
                    continue;
                const TSNode at = ts_node_named_child(ts_node_named_child(block, i), 0);
                myth_misuse_put(f, MYTH_MISUSE_WAY, at, at, line_of(last_of(f, out)));
                break;
            }
            break;
        }
    }
}

/* ---- coroutines and futures that nobody waits for ---- */

static void client(myth_flow *f, TSNode call, const myth_around *around)
{
    static const char *const methods[] = {
        "execute", "executemany", "fetch",  "fetchrow", "fetchval", "fetchone", "fetchall", "commit",     "rollback",
        "flush",   "refresh",     "scalar", "post",     "put",      "patch",    "delete",   "insert_one", "update_one"};
    static const char *const of[] = {"asyncpg",       "aiosqlite",     "aiomysql",          "aiopg",
                                     "AsyncSession",  "AsyncEngine",   "httpx.AsyncClient", "aiohttp.ClientSession",
                                     "ClientSession", "async_session", "create_pool",       "pool.acquire"};
    char name[MYTH_HABIT_TEXT], base[MYTH_HABIT_TEXT], awaited[2 * MYTH_HABIT_TEXT], as[MYTH_HABIT_TEXT + 8];
    TSNode method, arguments;
    const TSNode object = myth_habit_receiver(call, &method, &arguments);
    if (is_null(object) || !is_type(object, "identifier") || !is_type(around_at(around, 0), "expression_statement") ||
        !myth_habit_text(f, method, name, sizeof(name)) || !IS_ONE(name, methods) ||
        !myth_habit_text(f, object, base, sizeof(base)))
        return;
    const TSNode function = myth_habit_function(f, around);
    bool is_known = false;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
        is_known |= myth_habit_has_text(f, 0, f->n_text, of[i]);
    snprintf(awaited, sizeof(awaited), "await %s.", base);
    snprintf(as, sizeof(as), " as %s", base);
    if (!is_known || !myth_habit_is_async(function) || !in_node(f, function, awaited) ||
        in_node(f, function, "pipeline"))
        return;
    for (uint32_t i = 0; i < 40; i++) { /* of an async with, by that name */
        const TSNode up = around_at(around, i);
        if (is_null(up))
            return;
        if (is_type(up, "with_statement") && is_type(ts_node_child(up, 0), "async") &&
            in_node(f, ts_node_named_child(up, 0), as)) {
            myth_misuse_put(f, MYTH_MISUSE_CLIENT, call, field_of(call, "function"), line_of(up));
            return;
        }
    }
}

/* How often a text that ends a word stands in the file. */
static uint32_t times(const myth_flow *f, const char *want)
{
    const uint32_t n = (uint32_t)strlen(want);
    uint32_t count = 0;
    for (uint32_t i = 0; i + n < f->n_text; i++)
        count += f->text[i] == want[0] && memcmp(f->text + i, want, n) == 0 && !myth_is_word(f->text[i + n]);
    return count;
}

static void future(myth_flow *f, TSNode node)
{
    char name[MYTH_HABIT_TEXT], want[MYTH_HABIT_TEXT + 16];
    TSNode call = {0};
    if (is_type(node, "let_declaration") && is_named(f, field_of(node, "pattern"), "_"))
        call = field_of(node, "value");
    else if (is_type(node, "expression_statement") && f->text[ts_node_end_byte(node) - 1] == ';')
        call = ts_node_named_child(node, 0);
    if (is_null(call) || !is_type(call, "call_expression"))
        return;
    const TSNode callee = field_of(call, "function");
    TSNode object = {0}, method = callee;
    if (is_type(callee, "field_expression")) {
        object = field_of(callee, "value");
        method = field_of(callee, "field");
    }
    if ((!is_null(object) && !is_named(f, object, "self")) || !(is_type(method, "identifier") || !is_null(object)) ||
        !myth_habit_text(f, method, name, sizeof(name)))
        return;
    snprintf(want, sizeof(want), "async fn %s", name);
    const uint32_t n = times(f, want);
    snprintf(want, sizeof(want), "fn %s", name);
    if (n > 0 && times(f, want) == n)
        myth_misuse_put(f, MYTH_MISUSE_FUTURE, call, callee, 0);
}

/* ---- errors of Go that a loop keeps for itself ---- */

static bool breaks_on_error(const myth_flow *f, TSNode statement)
{
    if (role_of(f, statement) != MYTH_ROLE_IF || !is_error_test(f, statement))
        return false;
    const TSNode last = last_of(f, child_of(f, statement, MYTH_SLOT_THEN));
    return is_type(last, "break_statement") && ts_node_named_child_count(last) == 0;
}

static void shadowed(myth_flow *f, TSNode block)
{
    const uint32_t n = count_of(block);
    for (uint32_t i = 0; i + 1 < n; i++) {
        const TSNode loop = ts_node_named_child(block, i), next = ts_node_named_child(block, i + 1);
        if (!is_type(loop, "for_statement"))
            continue;
        const bool asks = (role_of(f, next) == MYTH_ROLE_IF && is_error_test(f, next)) ||
                          (role_of(f, next) == MYTH_ROLE_RETURN && myth_habit_has_word(f, next, "err"));
        TSNode inner = field_of(loop, "body"), made = {0};
        if (!asks || is_null(inner))
            continue;
        if (ts_node_named_child_count(inner) == 1 && is_type(ts_node_named_child(inner, 0), "statement_list"))
            inner = ts_node_named_child(inner, 0);
        for (uint32_t j = 0; j < count_of(inner); j++) {
            const TSNode now = ts_node_named_child(inner, j);
            if (is_type(now, "short_var_declaration") && myth_habit_has_word(f, field_of(now, "left"), "err"))
                made = now;
            else if (!is_null(made) && breaks_on_error(f, now)) {
                myth_misuse_put(f, MYTH_MISUSE_SHADOWED, made, field_of(made, "left"), line_of(next));
                break;
            }
        }
    }
}

void myth_habit_lost(myth_flow *f, TSNode node, const myth_around *around, bool is_cpp, bool is_rust)
{
    const myth_role role = role_of(f, node);
    if (is_rust) {
        if (role == MYTH_ROLE_ASSIGN || role == MYTH_ROLE_STATEMENT)
            future(f, node);
        return;
    }
    if (is_cpp) {
        if (role == MYTH_ROLE_RETURN)
            myth_habit_view(f, node, around);
        if (role == MYTH_ROLE_BLOCK)
            myth_habit_element(f, node);
        return;
    }
    if (myth_habit_is_go()) {
        if (role == MYTH_ROLE_BLOCK) {
            lost(f, node);
            body(f, node);
            shadowed(f, node);
        } else if (is_type(node, "func_literal"))
            routine(f, node, around);
    } else if (myth_habit_is_python()) {
        if (role == MYTH_ROLE_BLOCK) {
            lost(f, node);
            way(f, node);
        } else if (role == MYTH_ROLE_CALL)
            client(f, node, around);
    } else if (myth_habit_is_java()) {
        if (role == MYTH_ROLE_CALL)
            stream(f, node, around);
        else if (f->is_file && is_type(node, "field_declaration"))
            format(f, node);
    } else if (myth_habit_is_script() && role == MYTH_ROLE_BLOCK)
        closed_below(f, node);
}
