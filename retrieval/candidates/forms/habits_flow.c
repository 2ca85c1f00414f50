/* habits_flow.c - loops over what they change, cases that run on, defaults that all calls share (habits.c). */
#include "contrary.h"
#include "habits.h"
#include "retrieval/candidates/facts/facts_span.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- collections that are changed in a loop over them ---- */

typedef struct {
    char of[MYTH_HABIT_TEXT];    /* the collection */
    char first[MYTH_HABIT_TEXT]; /* what the loop calls an element or a key */
    bool is_map;                 /* the loop goes over keys or entries */
    TSNode loop;
} looping;

static looping now_loop; /* the process has one thread */

/* The collection that a loop of Python or Java goes over: d, d.items(), enumerate(d), d.keySet(). */
static bool collection_of(const myth_flow *f, TSNode node, looping *out)
{
    static const char *const maps[] = {"items", "keys", "values", "keySet", "entrySet"};
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (is_call(node)) {
        const TSNode object = myth_habit_receiver(node, &method, &arguments);
        if (is_null(method) || is_null(arguments) || !myth_habit_text(f, method, name, sizeof(name)))
            return false;
        const uint32_t n = ts_node_named_child_count(arguments);
        if (!is_null(object) && n == 0 && myth_flow_is_one_of(name, maps, sizeof(maps) / sizeof(*maps))) {
            out->is_map = true;
            node = object;
        } else if (is_null(object) && n == 1 && strcmp(name, "enumerate") == 0)
            node = ts_node_named_child(arguments, 0);
        else
            return false;
    }
    const myth_role role = role_of(f, node);
    return (role == MYTH_ROLE_NAME || role == MYTH_ROLE_MEMBER) && myth_habit_text(f, node, out->of, sizeof(out->of));
}

static bool is_collection(const myth_flow *f, TSNode node)
{
    char text[MYTH_HABIT_TEXT];
    return myth_habit_text(f, node, text, sizeof(text)) && strcmp(text, now_loop.of) == 0;
}

/* The last word of what a call of Java is of: map of map.keySet(), else the node itself. */
static TSNode map_of(const myth_flow *f, TSNode object)
{
    looping in = {.is_map = false};
    TSNode method, arguments;
    if (!is_call(object) || !collection_of(f, object, &in))
        return object;
    return myth_habit_receiver(object, &method, &arguments);
}

/* Whether a node has a name of the loop's own. */
static bool has_loop_word(const myth_flow *f, TSNode node)
{
    char name[MYTH_HABIT_TEXT];
    if (is_type(node, "identifier"))
        return myth_habit_text(f, node, name, sizeof(name)) &&
               myth_habit_has_word(f, field_of(now_loop.loop, "left"), name);
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (has_loop_word(f, ts_node_named_child(node, i)))
            return true;
    return false;
}

static bool is_statement_of(const myth_flow *f, TSNode statement, const char *want)
{
    TSNode method, arguments,
        in = is_type(statement, "expression_statement") ? ts_node_named_child(statement, 0) : (TSNode){0};
    if (!is_type(in, "call"))
        return false;
    const TSNode object = myth_habit_receiver(in, &method, &arguments);
    return !is_null(object) && is_collection(f, object) && myth_flow_text_is(f, method, want);
}

/* Whether the loop goes on as if nothing was changed: xs.remove(x), and then xs.insert(i, y). */
static bool is_put_back(const myth_flow *f, TSNode call)
{
    const TSNode statement = ts_node_parent(call);
    return is_statement_of(f, ts_node_next_named_sibling(statement), "insert") ||
           is_statement_of(f, ts_node_prev_named_sibling(statement), "remove");
}

/* Whether something is put into the list behind the element that the loop is at, and its turn comes next:
 * insert(i + 1, x) of for i, y in enumerate(xs), insert(xs.index(y) + 1, x), insert(len(xs), x). */
static bool is_ahead(const myth_flow *f, TSNode arguments)
{
    char at[MYTH_HABIT_TEXT], want[2 * MYTH_HABIT_TEXT];
    const TSNode place = ts_node_named_child(arguments, 0);
    if (is_null(place) || ts_node_named_child_count(arguments) != 2 || !myth_habit_text(f, place, at, sizeof(at)))
        return false;
    snprintf(want, sizeof(want), "len(%s)", now_loop.of);
    if (strcmp(at, want) == 0)
        return true;
    const TSNode left = field_of(place, "left"), right = field_of(place, "right");
    if (!is_type(place, "binary_operator") || !myth_flow_is_operator(f, place, "+") ||
        role_of(f, right) != MYTH_ROLE_NUMBER || !myth_habit_text(f, left, at, sizeof(at)))
        return false;
    snprintf(want, sizeof(want), "%s.index(", now_loop.of);
    const size_t n = strlen(at);
    return strncmp(at, want, strlen(want)) == 0 ||
           (strncmp(now_loop.first, at, n) == 0 && now_loop.first[n] == ',' && is_type(left, "identifier"));
}

static bool changes_python(const myth_flow *f, TSNode node)
{
    static const char *const list[] = {"remove", "pop",     "popitem", "clear",     "insert",
                                       "add",    "discard", "popleft", "appendleft"};
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (is_call(node)) {
        const TSNode object = myth_habit_receiver(node, &method, &arguments);
        if (is_null(object) || is_null(method) || !myth_habit_text(f, method, name, sizeof(name)) ||
            !is_collection(f, object))
            return false;
        return myth_flow_is_one_of(name, list, sizeof(list) / sizeof(*list)) && !is_put_back(f, node) &&
               !(strcmp(name, "insert") == 0 && is_ahead(f, arguments));
    }
    if (is_type(node, "delete_statement")) {
        const TSNode what = ts_node_named_child(node, 0);
        return is_type(what, "subscript") && is_collection(f, field_of(what, "value"));
    }
    const TSNode left = is_type(node, "assignment") ? field_of(node, "left") : (TSNode){0};
    if (now_loop.is_map && is_type(left, "subscript") && is_collection(f, field_of(left, "value"))) {
        const TSNode key = field_of(left, "subscript"); /* a new key: made of the one that the loop has */
        const myth_role role = is_null(key) ? MYTH_ROLE_NONE : role_of(f, key);
        return (role == MYTH_ROLE_CALL || role == MYTH_ROLE_BINARY) && has_loop_word(f, key);
    }
    return false;
}

static bool changes_java(const myth_flow *f, TSNode node)
{
    static const char *const list[] = {"remove",      "add",        "put",      "clear",    "addAll",
                                       "removeAll",   "removeIf",   "putAll",   "addFirst", "addLast",
                                       "removeFirst", "removeLast", "retainAll"};
    char name[MYTH_HABIT_TEXT], text[2 * MYTH_HABIT_TEXT], own[2 * MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (!is_type(node, "method_invocation"))
        return false;
    const TSNode object = myth_habit_receiver(node, &method, &arguments);
    if (is_null(object) || !myth_habit_text(f, method, name, sizeof(name)) || !is_collection(f, map_of(f, object)) ||
        !myth_flow_is_one_of(name, list, sizeof(list) / sizeof(*list)))
        return false;
    const TSNode first = ts_node_named_child(arguments, 0);
    snprintf(own, sizeof(own), "%s.getKey()", now_loop.first);
    return strcmp(name, "put") != 0 || is_null(first) || !myth_habit_text(f, first, text, sizeof(text)) ||
           (strcmp(text, now_loop.first) != 0 && strcmp(text, own) != 0);
}

static bool changes_cpp(const myth_flow *f, TSNode node)
{
    static const char *const list[] = {"push_back", "erase",      "insert",     "emplace_back", "emplace",   "clear",
                                       "pop_back",  "push_front", "pop_front",  "resize",       "removeAll", "removeAt",
                                       "append",    "removeOne",  "removeLast", "removeFirst",  "prepend"};
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (!is_type(node, "call_expression"))
        return false;
    const TSNode object = myth_habit_receiver(node, &method, &arguments);
    return !is_null(object) && is_collection(f, object) && myth_habit_text(f, method, name, sizeof(name)) &&
           myth_flow_is_one_of(name, list, sizeof(list) / sizeof(*list));
}

/* Whether the loop goes on behind a statement of its body: nothing leaves it in a block around. */
static bool goes_on(const myth_flow *f, TSNode node)
{
    for (int i = 0; i < 24; i++, node = ts_node_parent(node)) {
        if (is_null(node) || ts_node_eq(node, now_loop.loop))
            return true;
        if (role_of(f, node) == MYTH_ROLE_RETURN || role_of(f, node) == MYTH_ROLE_THROW)
            return false;
        if (i > 0 && (role_of(f, node) == MYTH_ROLE_LOOP || role_of(f, node) == MYTH_ROLE_FOR_EACH))
            return false; /* of an inner loop nothing is known */
        if (role_of(f, node) == MYTH_ROLE_CASE)
            return false;
        TSNode next = ts_node_next_named_sibling(node);
        for (int n = 0; n < 64 && !is_null(next); n++, next = ts_node_next_named_sibling(next)) {
            const myth_role role = role_of(f, next);
            if (role == MYTH_ROLE_RETURN || role == MYTH_ROLE_THROW || role == MYTH_ROLE_GOTO ||
                is_type(next, "break_statement"))
                return false;
        }
    }
    return true;
}

typedef bool (*change_fn)(const myth_flow *f, TSNode node);

/* The first change of the collection in a loop's body; null = none. */
static TSNode find_change(const myth_flow *f, TSNode node, change_fn is_change, int deep)
{
    if (deep > 60 || (deep > 0 && role_of(f, node) == MYTH_ROLE_FUNCTION))
        return (TSNode){0};
    if (is_change(f, node) && goes_on(f, node))
        return node;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode found = find_change(f, ts_node_named_child(node, i), is_change, deep + 1);
        if (!is_null(found))
            return found;
    }
    return (TSNode){0};
}

/* Whether the collection gets another value in the loop: then it is not the one that the loop goes over. */
static bool is_set(const myth_flow *f, TSNode node, int deep)
{
    if (deep > 60)
        return true;
    if (role_of(f, node) == MYTH_ROLE_ASSIGN) {
        const TSNode left = child_of(f, node, MYTH_SLOT_LEFT);
        if (!is_null(left) && is_collection(f, left))
            return true;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (is_set(f, ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

/* for (it = ...; ...; ++it) with xs.erase(it) in it. */
static bool erases(const myth_flow *f, TSNode node)
{
    char name[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    const TSNode call = is_type(node, "expression_statement") ? ts_node_named_child(node, 0) : (TSNode){0};
    if (!is_type(call, "call_expression"))
        return false;
    const TSNode object = myth_habit_receiver(call, &method, &arguments);
    return !is_null(object) && myth_habit_text(f, method, name, sizeof(name)) && strcmp(name, "erase") == 0 &&
           ts_node_named_child_count(arguments) == 1 &&
           myth_habit_text(f, ts_node_named_child(arguments, 0), text, sizeof(text)) && strcmp(text, now_loop.of) == 0;
}

/* Whether a body gives the iterator another place. */
static bool moves(const myth_flow *f, TSNode node, int deep)
{
    const myth_role role = role_of(f, node);
    if (deep > 60)
        return true;
    if (role == MYTH_ROLE_ASSIGN || role == MYTH_ROLE_CHANGE) {
        TSNode left = child_of(f, node, MYTH_SLOT_LEFT);
        left = is_null(left) ? base_of(f, node) : left;
        if (!is_null(left) && is_collection(f, left))
            return true;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (moves(f, ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

/* Whether a type is one of whole numbers, by its last words: unsigned int, std::size_t, std::vector<T>::size_type. */
static bool is_whole_number(span type)
{
    static const char *const number[] = {"int",    "long",    "short",     "unsigned",  "signed",          "char",
                                         "size_t", "ssize_t", "ptrdiff_t", "size_type", "difference_type", "uint"};
    char word[MYTH_SPAN_WORD] = "";
    uint32_t at = type.n;
    while (at > 0 && type.p[at - 1] <= ' ')
        at--;
    while (at > 0 && myth_is_word(type.p[at - 1]))
        at--;
    const uint32_t n = word_at(type, at, word);
    const bool is_sized = n > 2 && strcmp(word + n - 2, "_t") == 0 &&
                          strncmp(word + (word[0] == 'u'), "int", 3) == 0; /* int32_t, uint_fast8_t */
    return is_sized || myth_flow_is_one_of(word, number, N_OF(number));
}

/* Whether a loop counts: its variable is a whole number, and no iterator. What is erased by it is a key. */
static bool is_counting(myth_flow *f, TSNode loop, TSNode it)
{
    const TSNode first = field_of(loop, "initializer"), type = field_of(first, "type");
    const TSNode value = is_null(type) ? field_of(first, "right") : field_of(field_of(first, "declarator"), "value");
    if (!is_null(value) && role_of(f, myth_flow_inner(f, value)) == MYTH_ROLE_NUMBER)
        return true;
    if (!is_null(type))
        return is_whole_number(node_span(f, type));
    const uint32_t path = myth_flow_path(f, it);
    return path && !f->path[path].is_pointer &&
           is_whole_number(span_of(f, f->path[path].type_off, f->path[path].type_end));
}

static void loop_erase(myth_flow *f, TSNode loop)
{
    const TSNode update = field_of(loop, "update"), body = field_of(loop, "body");
    const TSNode it = is_type(update, "update_expression") ? field_of(update, "argument") : (TSNode){0};
    if (is_null(it) || is_null(body) || !is_type(it, "identifier") ||
        !myth_habit_text(f, it, now_loop.of, sizeof(now_loop.of)) || moves(f, body, 0) || is_counting(f, loop, it))
        return;
    const TSNode found = find_change(f, body, erases, 0);
    if (!is_null(found))
        myth_habit_put(f, MYTH_HABIT_LOOP_ERASE, ts_node_named_child(found, 0), it, line_of(loop));
}

/* Whether a file is one of Python 2 alone, by what it imports, calls or prints: items(), keys() and values() give lists
 * there, which stay as they are. */
static bool is_of_python_2(const myth_flow *f)
{
    static const char *const old[] = {"import urllib2", "import ConfigParser",
                                      "import cPickle", "import httplib",
                                      "import Tkinter", "import cStringIO",
                                      "unichr(",        "raw_input(",
                                      "xrange(",        ".iteritems()",
                                      ".has_key(",      ".itervalues()",
                                      "\nprint \"",     "    print \"",
                                      "    print '",    "\tprint \"",
                                      "print >>",       "/python2",
                                      "env python2",    "execfile("};
    static const char *const both[] = {"urllib.request", "import configparser", "import six",   "from six", "python3",
                                       "print_function", "ImportError",         "version_info", "PY2",      "PY3",
                                       "NameError",      "ModuleNotFound",      "nonlocal ",    "async def"};
    const span all = span_of(f, 0, f->n_text);
    return has_one(all, old, N_OF(old)) && !has_one(all, both, N_OF(both));
}

void myth_habit_loop(myth_flow *f, TSNode loop)
{
    change_fn is_change = NULL;
    TSNode over = {0}, first = {0};
    const TSNode body = field_of(loop, "body");
    const bool is_python = myth_habit_is_python();
    now_loop = (looping){.loop = loop};
    if (is_python && is_type(loop, "for_statement")) {
        over = field_of(loop, "right");
        first = field_of(loop, "left");
        is_change = changes_python;
    } else if (is_type(loop, "enhanced_for_statement")) {
        over = field_of(loop, "value");
        first = field_of(loop, "name");
        is_change = changes_java;
    } else if (is_type(loop, "for_range_loop")) {
        over = field_of(loop, "right");
        is_change = changes_cpp;
    } else if (is_type(loop, "for_statement") && !is_python) {
        loop_erase(f, loop);
        return;
    }
    if (!is_change || is_null(over) || is_null(body) || !collection_of(f, over, &now_loop))
        return;
    if (is_null(first) || !myth_habit_text(f, first, now_loop.first, sizeof(now_loop.first)))
        now_loop.first[0] = '\0';
    if (myth_habit_marks(myth_flow_last_word(now_loop.of)) & MYTH_MARK_SAFE || is_set(f, body, 0) ||
        myth_habit_has_word(f, first, now_loop.of)) /* for x in x: */
        return;
    const TSNode found = find_change(f, body, is_change, 0);
    const TSNode map = is_call(over) ? map_of(f, over) : over; /* null: enumerate(x) */
    const bool is_copy = !is_null(found) && is_python && now_loop.is_map && is_of_python_2(f);
    if (!is_null(found) && !is_copy)
        myth_habit_put(f, MYTH_HABIT_LOOP_CHANGE, found, is_null(map) ? over : map, line_of(loop));
}

/* ---- cases without an end ---- */

static bool is_comment(TSNode node) { return strstr(ts_node_type(node), "comment") != NULL; }

static bool is_label(TSNode group, TSNode child)
{
    const TSNode value = field_of(group, "value");
    return is_type(child, "switch_label") || (!is_null(value) && ts_node_eq(value, child));
}

/* The first and last statement of a case; how many there are. */
static uint32_t statements_of(const myth_flow *f, TSNode group, TSNode *first, TSNode *last)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ts_node_named_child_count(group); i++) {
        const TSNode child = ts_node_named_child(group, i);
        if (is_comment(child) || is_label(group, child))
            continue;
        if (n++ == 0)
            *first = child;
        *last = child;
    }
    if (n == 1 && role_of(f, *first) == MYTH_ROLE_BLOCK) { /* case 1: { ... } */
        const TSNode block = *first;
        for (uint32_t i = 0, m = 0; i < ts_node_named_child_count(block); i++)
            if (!is_comment(ts_node_named_child(block, i)) && m++ == 0)
                *first = ts_node_named_child(block, i);
    }
    return n;
}

/* A function after which nothing is done, by its name; a macro may be anything. */
static bool never_returns(const char *name)
{
    static const char *const parts[] = {"exit", "abort",  "fatal",   "die",   "panic",   "usage",   "error",
                                        "fail", "throw",  "unreach", "raise", "longjmp", "quit",    "help",
                                        "bail", "assert", "Error",   "Fail",  "Exit",    "Fatal",   "croak",
                                        "goto", "return", "Return",  "leave", "err",     "Unreach", "Throw"};
    return name[0] == '\0' || myth_flow_is_constant_name(name) ||
           myth_flow_has_one_of(name, parts, sizeof(parts) / sizeof(*parts));
}

static bool has_leave(const myth_flow *f, TSNode node, int deep)
{
    const myth_role role = role_of(f, node);
    if (deep > 40 || role == MYTH_ROLE_LEAVE || role == MYTH_ROLE_RETURN || role == MYTH_ROLE_GOTO ||
        role == MYTH_ROLE_THROW || ts_node_is_error(node))
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (has_leave(f, ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

/* Whether control may never come behind a statement, or what stands there shows that going on is meant. */
static bool may_end(myth_flow *f, TSNode node)
{
    for (int i = 0; i < 8 && role_of(f, node) == MYTH_ROLE_BLOCK && ts_node_named_child_count(node) > 0; i++) {
        if (has_leave(f, node, 0))
            return true;
        node = ts_node_named_child(node, ts_node_named_child_count(node) - 1);
    }
    switch (role_of(f, node)) {
    case MYTH_ROLE_STATEMENT: {
        const TSNode in = ts_node_named_child(node, 0);
        if (is_null(in) || role_of(f, in) == MYTH_ROLE_NAME || role_of(f, in) == MYTH_ROLE_TEXT)
            return true;
        if (role_of(f, in) != MYTH_ROLE_CALL)
            return false;
        const uint32_t name = myth_flow_callee_name(f, in, child_of(f, in, MYTH_SLOT_CALLEE)); /* may move f->names */
        return never_returns(myth_flow_last_word(f->names + name));
    }
    case MYTH_ROLE_LABEL: return true;
    default: return has_leave(f, node, 0) || strncmp(ts_node_type(node), "preproc", 7) == 0;
    }
}

/* Whether a case itself ends, as most do. */
static bool ends(const myth_flow *f, TSNode last)
{
    for (int i = 0; i < 8 && role_of(f, last) == MYTH_ROLE_BLOCK && ts_node_named_child_count(last) > 0; i++)
        last = ts_node_named_child(last, ts_node_named_child_count(last) - 1);
    const myth_role role = role_of(f, last);
    return role == MYTH_ROLE_LEAVE || role == MYTH_ROLE_RETURN || role == MYTH_ROLE_GOTO || role == MYTH_ROLE_THROW;
}

/* Whether the text between says that going on is meant, whatever the letters' case. */
static bool says_so(const myth_flow *f, uint32_t from, uint32_t end)
{
    static const char *const words[] = {"fall",       "thr",    "no break",  "nobreak", "no-break", "drop",
                                        "on purpose", "intent", "deliberat", "pass",    "continue", "reach",
                                        "also",       "same",   "next",      "#"};
    for (uint32_t i = from; i < end && i < f->n_text; i++)
        for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
            uint32_t n = 0;
            while (words[w][n] && i + n < end && tolower((unsigned char)f->text[i + n]) == words[w][n])
                n++;
            if (!words[w][n])
                return true;
        }
    return false;
}

/* Whether a case says anywhere that it falls through. */
static bool falls(const myth_flow *f, TSNode group, TSNode last, TSNode next, TSNode first)
{
    const uint32_t off = ts_node_start_byte(group), end = ts_node_start_byte(next);
    return says_so(f, ts_node_end_byte(last), ts_node_start_byte(first)) || myth_habit_has_text(f, off, end, "fall") ||
           myth_habit_has_text(f, off, end, "FALL") || myth_habit_has_text(f, off, end, "Fall");
}

/* Whether a line between two nodes is a comment. */
static bool has_line_of_comment(const myth_flow *f, uint32_t from, uint32_t end)
{
    while (from < end && from < f->n_text && f->text[from] != '\n')
        from++;
    return myth_habit_has_text(f, from, end, "//") || myth_habit_has_text(f, from, end, "/*");
}

/* The plain assignment that a statement is; null = another one. */
static TSNode assigned(const myth_flow *f, TSNode statement)
{
    const TSNode in = role_of(f, statement) == MYTH_ROLE_STATEMENT ? ts_node_named_child(statement, 0) : (TSNode){0};
    const bool is_plain = is_type(in, "assignment_expression") &&
                          (is_null(field_of(in, "operator")) || myth_flow_is_operator(f, in, "="));
    return is_plain ? in : (TSNode){0};
}

/* Whether a statement behind `first`, itself included, gives a path another value without a look at it. */
static bool sets_again(const myth_flow *f, TSNode first, TSNode left)
{
    char want[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    if (!myth_habit_text(f, left, want, sizeof(want)))
        return false;
    for (int i = 0; i < 8 && !is_null(first); i++, first = ts_node_next_named_sibling(first)) {
        const TSNode in = assigned(f, first);
        if (!is_null(in) && myth_habit_text(f, field_of(in, "left"), text, sizeof(text)) && strcmp(text, want) == 0)
            return !myth_habit_has_word(f, field_of(in, "right"), want);
    }
    return false;
}

/* The length of the word that a node begins with. */
static uint32_t first_word(const myth_flow *f, TSNode node)
{
    uint32_t n = 0;
    for (uint32_t at = ts_node_start_byte(node); at + n < f->n_text; n++)
        if (!myth_is_word(f->text[at + n]))
            break;
    return n;
}

/* Whether the statements on both sides of the border speak for two cases of a kind, not for one that begins another:
 * the second gives what the first one gave another value, both are about members of one thing, or both set a flag. */
static bool are_siblings(const myth_flow *f, TSNode last, TSNode first)
{
    for (int i = 0; i < 8 && role_of(f, last) == MYTH_ROLE_BLOCK && ts_node_named_child_count(last) > 0; i++)
        last = ts_node_named_child(last, ts_node_named_child_count(last) - 1); /* case A: { ... } */
    const TSNode a = assigned(f, last), b = assigned(f, first);
    const uint32_t n = first_word(f, last);
    if (!is_null(a) && sets_again(f, first, field_of(a, "left")))
        return true;
    if (!is_null(a) && !is_null(b) && myth_code_is_constant(f, field_of(a, "right")) &&
        myth_code_is_constant(f, field_of(b, "right")))
        return true;
    const uint32_t x = ts_node_start_byte(last), y = ts_node_start_byte(first);
    return n > 0 && n == first_word(f, first) && memcmp(f->text + x, f->text + y, n) == 0 &&
           role_of(f, last) == MYTH_ROLE_STATEMENT && role_of(f, first) == MYTH_ROLE_STATEMENT &&
           (f->text[x + n] == '.' || f->text[x + n] == '-') && strncmp(f->text + x, "this.", 5) != 0;
}

/* Whether the first statement of the default writes what the switch is about: the cases before put a byte before it. */
static bool writes_subject(const myth_flow *f, TSNode node, TSNode group, TSNode first)
{
    char subject[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    const TSNode in = assigned(f, first), about = field_of(node, "condition");
    const bool is_default = is_null(field_of(group, "value"));
    return is_default && !is_null(in) && !is_null(about) &&
           myth_habit_text(f, myth_flow_inner(f, about), subject, sizeof(subject)) &&
           myth_habit_text(f, myth_flow_inner(f, field_of(in, "right")), text, sizeof(text)) &&
           strcmp(subject, text) == 0;
}

void myth_habit_switch(myth_flow *f, TSNode node)
{
    enum { MOST_CASES = 400 };
    static TSNode group[MOST_CASES];
    uint32_t n = 0, n_end = 0, n_on = 0;
    TSNode found = {0}, found_last = {0}, first = {0}, last = {0};
    const TSNode body = field_of(node, "body");
    if (is_null(body))
        return;
    for (uint32_t i = 0; i < ts_node_named_child_count(body); i++) {
        const TSNode child = ts_node_named_child(body, i);
        if (is_comment(child))
            continue;
        if (role_of(f, child) != MYTH_ROLE_CASE || n == MOST_CASES || is_type(child, "switch_rule"))
            return; /* a directive, or nothing that is read here */
        group[n++] = child;
    }
    for (uint32_t i = 0; i + 1 < n; i++) {
        TSNode next_first = {0}, next_last = {0};
        uint32_t j = i + 1;
        if (statements_of(f, group[i], &first, &last) == 0)
            continue;
        if (ends(f, last)) {
            n_end++;
            continue;
        }
        if (may_end(f, last) || ts_node_has_error(group[i]))
            continue; /* a macro may be anything */
        while (j < n && statements_of(f, group[j], &next_first, &next_last) == 0)
            j++;
        if (j == n || ends(f, next_first) || role_of(f, next_last) == MYTH_ROLE_RETURN ||
            falls(f, group[i], last, group[i + 1], next_first) ||
            has_line_of_comment(f, ts_node_end_byte(last), ts_node_start_byte(group[i + 1])))
            continue;
        n_on++;
        if (!are_siblings(f, last, next_first) || writes_subject(f, node, group[j], next_first))
            continue;
        found = group[i];
        found_last = last;
    }
    if (n_on == 1 && n_end >= 3 && !is_null(found)) {
        const TSNode about = field_of(found, "value");
        myth_habit_put(f, MYTH_HABIT_RUNS_ON, found_last, is_null(about) ? found_last : about, line_of(found));
    }
}

/* ---- defaults that all calls share ---- */

static const char *default_name; /* of the parameter that is looked for */

static bool is_default(const myth_flow *f, TSNode node) { return myth_flow_text_is(f, node, default_name); }

static const char *const changing[] = {"append", "add",     "update",     "extend", "insert", "pop",
                                       "remove", "discard", "setdefault", "clear",  "popitem"};

/* Whether the file sets an element of a member somewhere: self.x[i] = ... */
static bool sets_element(const myth_flow *f, const char *member)
{
    const size_t n = strlen(member);
    for (uint32_t i = 0; i + n + 1 < f->n_text; i++) {
        if (f->text[i] != member[0] || memcmp(f->text + i, member, n) != 0 || f->text[i + n] != '[')
            continue;
        uint32_t at = i + (uint32_t)n, open = 0;
        for (; at < f->n_text && f->text[at] != '\n'; at++) {
            open += f->text[at] == '[';
            if (f->text[at] == ']' && --open == 0)
                break;
        }
        for (at++; at < f->n_text && (f->text[at] == ' ' || f->text[at] == '+'); at++)
            ;
        if (at + 1 < f->n_text && f->text[at] == '=' && f->text[at + 1] != '=')
            return true;
    }
    return false;
}

/* Whether the file changes a member somewhere: self.x.append(...). */
static bool is_changed_later(const myth_flow *f, TSNode member)
{
    char name[MYTH_HABIT_TEXT], call[MYTH_HABIT_TEXT + 16];
    if (!myth_habit_text(f, member, name, sizeof(name)))
        return false;
    for (size_t i = 0; i < sizeof(changing) / sizeof(*changing); i++) {
        snprintf(call, sizeof(call), "%s.%s(", name, changing[i]);
        if (myth_habit_has_text(f, 0, f->n_text, call))
            return true;
    }
    return sets_element(f, name);
}

/* Whether a call puts the same in each time: fields.update(DEFAULT_FIELDS). */
static bool puts_the_same(const myth_flow *f, const char *method, TSNode arguments)
{
    char text[MYTH_HABIT_TEXT];
    return strcmp(method, "update") == 0 && ts_node_named_child_count(arguments) == 1 &&
           myth_habit_text(f, ts_node_named_child(arguments, 0), text, sizeof(text)) &&
           myth_flow_is_constant_name(text);
}

/* The first place that changes or keeps the default; *is_gone: it got another value before. */
static void find_default(myth_flow *f, TSNode node, bool *is_gone, myth_habit *how, TSNode *at, int deep)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (deep > 60 || *is_gone || *how == MYTH_HABIT_DEFAULT_CHANGED)
        return;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        find_default(f, ts_node_named_child(node, i), is_gone, how, at, deep + 1);
    if (*is_gone || *how == MYTH_HABIT_DEFAULT_CHANGED)
        return;
    const TSNode left = field_of(node, "left"), right = field_of(node, "right");
    if (is_type(node, "assignment") && !is_null(left)) {
        if (is_default(f, left))
            *is_gone = true;
        else if (is_type(left, "subscript") && is_default(f, field_of(left, "value"))) {
            *how = MYTH_HABIT_DEFAULT_CHANGED;
            *at = node;
        } else if (is_type(left, "attribute") && !is_null(right) && is_default(f, right) && *how == MYTH_HABIT_NONE &&
                   is_changed_later(f, left)) {
            *how = MYTH_HABIT_DEFAULT_KEPT;
            *at = node;
        }
    } else if (is_type(node, "augmented_assignment") && !is_null(left) &&
               (is_default(f, left) || (is_type(left, "subscript") && is_default(f, field_of(left, "value"))))) {
        *how = MYTH_HABIT_DEFAULT_CHANGED;
        *at = node;
    } else if (is_type(node, "call")) {
        const TSNode object = myth_habit_receiver(node, &method, &arguments);
        if (!is_null(object) && is_default(f, object) && myth_habit_text(f, method, name, sizeof(name)) &&
            myth_flow_is_one_of(name, changing, sizeof(changing) / sizeof(*changing)) &&
            !puts_the_same(f, name, arguments)) {
            *how = MYTH_HABIT_DEFAULT_CHANGED;
            *at = node;
        }
    } else if (is_type(node, "delete_statement")) {
        const TSNode what = ts_node_named_child(node, 0);
        if (is_type(what, "subscript") && is_default(f, field_of(what, "value"))) {
            *how = MYTH_HABIT_DEFAULT_CHANGED;
            *at = node;
        }
    }
}

static bool is_read_in(const myth_flow *f, TSNode node, int deep);

static bool are_parts_read(const myth_flow *f, TSNode node, int deep)
{
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (is_read_in(f, ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

/* Whether the default is read in a node, and not only filled: x['a'] = 1, x.append(1). */
static bool is_read_in(const myth_flow *f, TSNode node, int deep)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (deep > 60 || is_null(node))
        return deep > 60;
    if (is_type(node, "identifier"))
        return is_default(f, node);
    if (is_type(node, "keyword_argument"))
        return is_read_in(f, field_of(node, "value"), deep + 1);
    const TSNode in = role_of(f, node) == MYTH_ROLE_STATEMENT ? ts_node_named_child(node, 0) : (TSNode){0};
    const TSNode left = is_type(in, "assignment") ? field_of(in, "left") : (TSNode){0};
    if (!is_null(left) && is_type(left, "subscript") && is_default(f, field_of(left, "value")))
        return is_read_in(f, field_of(in, "right"), deep + 1) || is_read_in(f, field_of(left, "subscript"), deep + 1);
    if (is_type(in, "call")) {
        const TSNode object = myth_habit_receiver(in, &method, &arguments);
        if (!is_null(object) && is_default(f, object) && myth_habit_text(f, method, name, sizeof(name)) &&
            myth_flow_is_one_of(name, changing, sizeof(changing) / sizeof(*changing)))
            return are_parts_read(f, arguments, deep + 1);
    }
    return are_parts_read(f, node, deep);
}

/* Whether a function inside of another gets parameter number `index`, or by its name, in each of its calls. */
static bool is_always_given(const myth_flow *f, TSNode function, uint32_t index)
{
    char name[MYTH_HABIT_TEXT];
    span argument[MYTH_CALL_ARGUMENTS];
    uint32_t at = 0, n, n_call = 0;
    TSNode up = ts_node_parent(function);
    while (!is_null(up) && role_of(f, up) != MYTH_ROLE_FUNCTION)
        up = ts_node_parent(up);
    if (is_null(up) || !myth_habit_text(f, field_of(function, "name"), name, sizeof(name)))
        return false;
    while (myth_facts_next_call(f, name, &at, argument, &n)) {
        bool is_given = index < n;
        for (uint32_t i = 0; i < n; i++) {
            char word[MYTH_SPAN_WORD];
            is_given |= word_at(argument[i], 0, word) && strcmp(word, default_name) == 0 && has_text(argument[i], "=");
            is_given |= argument[i].p[0] == '*';
        }
        if (!is_given)
            return false;
        n_call++;
    }
    return n_call > 0;
}

static bool is_changeable(const myth_flow *f, TSNode value)
{
    static const char *const made[] = {"set()", "dict()", "list()"};
    char text[MYTH_HABIT_TEXT];
    if (is_type(value, "list") || is_type(value, "dictionary") || is_type(value, "set"))
        return true;
    return is_type(value, "call") && myth_habit_text(f, value, text, sizeof(text)) &&
           (myth_flow_is_one_of(text, made, sizeof(made) / sizeof(*made)) || strncmp(text, "defaultdict(", 12) == 0);
}

void myth_habit_default(myth_flow *f, TSNode function)
{
    const TSNode list = field_of(function, "parameters"), body = field_of(function, "body");
    if (!myth_habit_is_python() || is_null(list) || is_null(body) || !is_type(function, "function_definition"))
        return;
    for (uint32_t i = 0; i < ts_node_named_child_count(list); i++) {
        char name[MYTH_HABIT_TEXT];
        const TSNode parameter = ts_node_named_child(list, i), value = field_of(parameter, "value");
        const TSNode of = field_of(parameter, "name");
        bool is_gone = false;
        myth_habit how = MYTH_HABIT_NONE;
        TSNode at = {0};
        if (is_null(value) || is_null(of) || !is_changeable(f, value) || !myth_habit_text(f, of, name, sizeof(name)))
            continue;
        if (name[0] == '_' || strstr(name, "cache") || strstr(name, "memo"))
            continue; /* what all calls share on purpose */
        default_name = name;
        find_default(f, body, &is_gone, &how, &at, 0);
        if (how == MYTH_HABIT_DEFAULT_CHANGED && (!is_read_in(f, body, 0) || is_always_given(f, function, i)))
            continue;
        if (how != MYTH_HABIT_NONE)
            myth_habit_put(f, how, at, of, line_of(parameter));
    }
}
