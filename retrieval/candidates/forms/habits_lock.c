/* habits_lock.c - locks that an error or one of several ways out leaves held (habits.c). */
#include "habits.h"

#include <stdio.h>
#include <string.h>

/* ---- locks that an error leaves held ---- */

/* The receiver of a statement x.acquire() or x.release(), also with await before; null = it is no such statement. */
static TSNode locked_by(const myth_flow *f, TSNode statement, const char *want)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments, in = {0};
    if (is_type(statement, "expression_statement"))
        in = ts_node_named_child(statement, 0);
    if (is_type(in, "await"))
        in = ts_node_named_child(in, 0);
    if (!is_type(in, "call"))
        return (TSNode){0};
    const TSNode object = myth_habit_receiver(in, &method, &arguments);
    if (is_null(object) || ts_node_named_child_count(arguments) > 0 || !myth_habit_text(f, method, name, sizeof(name)))
        return (TSNode){0};
    return strcmp(name, want) == 0 ? object : (TSNode){0};
}

/* Whether something in a node can raise: a call that is not known to be harmless, raise, an await. */
static bool can_raise(const myth_flow *f, TSNode node, int deep)
{
    static const char *const harmless[] = {"append", "len",        "print",   "isinstance", "time",    "get",
                                           "debug",  "info",       "add",     "list",       "dict",    "str",
                                           "set",    "items",      "keys",    "values",     "warning", "monotonic",
                                           "notify", "notify_all", "popleft", "bool",       "copy"};
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (deep > 40 || is_type(node, "raise_statement") || is_type(node, "await"))
        return true;
    if (role_of(f, node) == MYTH_ROLE_FUNCTION || is_type(node, "try_statement"))
        return false;
    if (is_type(node, "call")) {
        myth_habit_receiver(node, &method, &arguments);
        if (!myth_habit_text(f, method, name, sizeof(name)) ||
            !myth_flow_is_one_of(name, harmless, sizeof(harmless) / sizeof(*harmless)))
            return true;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (can_raise(f, ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

static bool is_lock_name(const char *name)
{
    static const char *const words[] = {"lock", "Lock", "LOCK", "mutex", "sem", "cond", "mtx"};
    return myth_flow_has_one_of(name, words, sizeof(words) / sizeof(*words));
}

/* ---- one way out of several ---- */

/* The lock that is followed through a block. */
typedef struct {
    char take[MYTH_HABIT_TEXT], give[MYTH_HABIT_TEXT]; /* the calls without blanks */
    TSNode held_at;                                    /* the first way out that keeps it; null = none */
    uint32_t n_given;                                  /* ways on which it is given back */
    bool is_unknown;
} following;

static TSNode call_of(const myth_flow *f, TSNode statement)
{
    const TSNode in = role_of(f, statement) == MYTH_ROLE_STATEMENT ? ts_node_named_child(statement, 0) : (TSNode){0};
    return !is_null(in) && is_call(in) ? in : (TSNode){0};
}

static bool is_text_of(const myth_flow *f, TSNode node, const char *want)
{
    char text[MYTH_HABIT_TEXT];
    return !is_null(node) && myth_habit_text(f, node, text, sizeof(text)) && strcmp(text, want) == 0;
}

/* Whether a node has the text of a call somewhere, whatever its blanks. */
static bool mentions(const myth_flow *f, TSNode node, const char *want, int deep)
{
    if (deep > 60)
        return true;
    if (is_call(node) && is_text_of(f, node, want))
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (mentions(f, ts_node_named_child(node, i), want, deep + 1))
            return true;
    return false;
}

static bool ends_way(const myth_flow *f, TSNode block)
{
    for (int i = 0; i < 8 && !is_null(block); i++) {
        const myth_role role = role_of(f, block);
        const uint32_t n = ts_node_named_child_count(block);
        if (role == MYTH_ROLE_RETURN || role == MYTH_ROLE_THROW || role == MYTH_ROLE_LEAVE || role == MYTH_ROLE_GOTO)
            return true;
        if (n == 0 || (role != MYTH_ROLE_BLOCK && role != MYTH_ROLE_NONE))
            return false;
        block = ts_node_named_child(block, n - 1);
    }
    return false;
}

/* Follows the statements of a block behind number `from`. */
static void follow(const myth_flow *f, TSNode block, uint32_t from, bool is_held, following *out, int deep)
{
    for (uint32_t i = from; i < ts_node_named_child_count(block) && !out->is_unknown; i++) {
        const TSNode now = ts_node_named_child(block, i);
        const myth_role role = role_of(f, now);
        if (is_text_of(f, call_of(f, now), out->give)) {
            out->n_given += is_held;
            is_held = false;
        } else if (role == MYTH_ROLE_RETURN) {
            if (is_held && is_null(out->held_at) && !mentions(f, now, out->give, 0))
                out->held_at = now;
        } else if (role == MYTH_ROLE_BLOCK && deep < 20)
            follow(f, now, 0, is_held, out, deep + 1);
        else if (role == MYTH_ROLE_IF && deep < 20) {
            const TSNode cond = child_of(f, now, MYTH_SLOT_CONDITION), then = child_of(f, now, MYTH_SLOT_THEN);
            const TSNode other = child_of(f, now, MYTH_SLOT_ELSE);
            const bool is_block = !is_null(then) && role_of(f, then) == MYTH_ROLE_BLOCK;
            const bool has_give = mentions(f, now, out->give, 0), has_take = mentions(f, now, out->take, 0);
            /* of a branch that gives it back and goes on, nothing is known */
            out->is_unknown |= has_take || (has_give && (!is_null(other) || !ends_way(f, then)));
            out->is_unknown |= !is_null(cond) && mentions(f, cond, out->give, 0);
            if (!out->is_unknown && is_block)
                follow(f, then, 0, is_held, out, deep + 1);
            else if (!out->is_unknown && !is_null(then) && role_of(f, then) == MYTH_ROLE_RETURN && is_held &&
                     is_null(out->held_at) && !mentions(f, then, out->give, 0))
                out->held_at = then;
        } else if (mentions(f, now, out->give, 0) || mentions(f, now, out->take, 0))
            out->is_unknown = true; /* a loop, a try, a defer */
    }
}

/* The call that gives back what a call takes: unlock(x) of lock(x). */
static bool counterpart(const char *take, size_t n_name, char give[MYTH_HABIT_TEXT])
{
    static const char *const words[][2] = {{"lock", "unlock"}, {"Lock", "Unlock"}, {"LOCK", "UNLOCK"}};
    for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
        for (size_t at = n_name; at-- > 0;) {
            const size_t n = strlen(words[w][0]);
            if (at + n != n_name || strncmp(take + at, words[w][0], n) != 0)
                continue;
            const bool is_read = at > 0 && take[at - 1] == 'R' && w == 1; /* RLock, RUnlock */
            const bool is_part = at > 0 && !is_read && take[at - 1] != '.' && take[at - 1] != '_' && w != 1;
            if (is_part || (at > 1 && (strncmp(take + at - 2, "un", 2) == 0 || strncmp(take + at - 2, "UN", 2) == 0)) ||
                strstr(take, "try") || strstr(take, "Try"))
                return false;
            return snprintf(give, MYTH_HABIT_TEXT, "%.*s%s%s", (int)at, take, words[w][1], take + n_name) <
                   MYTH_HABIT_TEXT;
        }
    return false;
}

/* Whether a way out hands what was locked to a function, which may unlock it: return fail(x) of lock(x). */
static bool hands_on(const myth_flow *f, TSNode way, TSNode locked, int deep)
{
    char text[MYTH_HABIT_TEXT];
    if (deep > 20 || is_null(locked) || !myth_habit_text(f, locked, text, sizeof(text)))
        return false;
    if (is_call(way)) {
        const TSNode arguments = field_of(way, "arguments");
        for (uint32_t i = 0; !is_null(arguments) && i < ts_node_named_child_count(arguments); i++)
            if (is_text_of(f, ts_node_named_child(arguments, i), text))
                return true;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(way); i++)
        if (hands_on(f, ts_node_named_child(way, i), locked, deep + 1))
            return true;
    return false;
}

/* Whether a function takes a lock for its caller, by its name: acquireSender, lock_table. */
static bool takes_for_caller(const char *name)
{
    static const char *const first[] = {"lock", "Lock", "tryLock", "TryLock", "try_lock", "acquire", "Acquire"};
    return myth_flow_begins_with(myth_flow_last_word(name), first, sizeof(first) / sizeof(*first)) ||
           strstr(name, "_lock") || strstr(name, "_acquire");
}

static void one_way(myth_flow *f, TSNode block)
{
    if (takes_for_caller(f->names + f->name))
        return;
    const uint32_t n = ts_node_named_child_count(block);
    for (uint32_t i = 0; i < n && i < 200; i++) {
        following w = {.n_given = 0};
        const TSNode call = call_of(f, ts_node_named_child(block, i));
        if (is_null(call) || !myth_habit_text(f, call, w.take, sizeof(w.take)) || !strchr(w.take, '('))
            continue;
        if (!counterpart(w.take, (size_t)(strchr(w.take, '(') - w.take), w.give))
            continue;
        follow(f, block, i + 1, true, &w, 0);
        if (w.is_unknown || is_null(w.held_at) || w.n_given == 0)
            continue;
        TSNode method, arguments;
        const TSNode object = myth_habit_receiver(call, &method, &arguments);
        const TSNode first = ts_node_named_child(arguments, 0);
        if (myth_habit_has_text(f, ts_node_end_byte(call), ts_node_start_byte(w.held_at), "\n#"))
            continue; /* the preprocessor chooses between ways */
        if (hands_on(f, w.held_at, !is_null(object) ? object : first, 0))
            continue;
        myth_habit_put(f, MYTH_HABIT_ONE_WAY, call,
                       !is_null(object) ? object
                       : is_null(first) ? call
                                        : first,
                       line_of(w.held_at));
    }
}

void myth_habit_locked(myth_flow *f, TSNode block)
{
    char lock[MYTH_HABIT_TEXT], other[MYTH_HABIT_TEXT];
    const uint32_t n = ts_node_named_child_count(block);
    if (!myth_habit_is_python()) {
        one_way(f, block);
        return;
    }
    if (strncmp(f->names + f->name, "test", 4) == 0)
        return; /* an error ends a test as a whole */
    for (uint32_t i = 0; i < n && i < 200; i++) {
        const TSNode taken = ts_node_named_child(block, i), of = locked_by(f, taken, "acquire");
        bool is_risky = false;
        if (is_null(of) || !myth_habit_text(f, of, lock, sizeof(lock)) || !is_lock_name(myth_flow_last_word(lock)))
            continue;
        for (uint32_t j = i + 1; j < n && j < i + 60; j++) {
            const TSNode now = ts_node_named_child(block, j), back = locked_by(f, now, "release");
            if (!is_null(back) && myth_habit_text(f, back, other, sizeof(other)) && strcmp(lock, other) == 0) {
                if (is_risky)
                    myth_habit_put(f, MYTH_HABIT_UNLOCK, ts_node_named_child(taken, 0), of, line_of(now));
                break;
            }
            if (is_type(now, "try_statement") && myth_habit_has_word(f, now, "release"))
                break; /* it may be what gives it back */
            if (!is_null(locked_by(f, now, "acquire")))
                break;
            is_risky |= can_raise(f, now, 0);
        }
    }
}
