/* habits_gone.c - what of C++ is gone when it is used (habits.c): a view of a local text, an element of a vector that
 * was moved. */
#include "habits.h"

#include "engine/base/chars.h"

#include <stdio.h>
#include <string.h>

enum { GONE_DEEP = 80, GONE_STATEMENTS = 120 };

#define IS_ONE(name, list) myth_flow_is_one_of(name, list, sizeof(list) / sizeof(*(list)))

/* The declaration of a local text in a block around: std::string name = ... */
static bool is_local_text(const myth_flow *f, TSNode node, const char *name, int deep)
{
    char text[MYTH_HABIT_TEXT];
    if (deep > GONE_DEEP)
        return false;
    if (is_type(node, "declaration") && myth_habit_text(f, field_of(node, "type"), text, sizeof(text)) &&
        (strcmp(text, "std::string") == 0 || strcmp(text, "string") == 0 || strcmp(text, "QString") == 0 ||
         strcmp(text, "QByteArray") == 0 || strcmp(text, "std::wstring") == 0)) {
        TSNode d = field_of(node, "declarator");
        if (is_type(d, "init_declarator"))
            d = field_of(d, "declarator");
        const uint32_t off = ts_node_start_byte(node);
        if (is_type(d, "identifier") && is_named(f, d, name) &&
            !myth_habit_has_text(f, off, ts_node_start_byte(d), "static") &&
            !myth_habit_has_text(f, off, ts_node_start_byte(d), "thread_local"))
            return true;
    }
    if (is_type(node, "lambda_expression"))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (is_local_text(f, ts_node_named_child(node, i), name, deep + 1))
            return true;
    return false;
}

void myth_habit_view(myth_flow *f, TSNode node, const myth_around *around)
{
    char type[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    const TSNode function = myth_habit_function(f, around), value = ts_node_named_child(node, 0);
    if (is_null(value) || !is_type(function, "function_definition") ||
        !myth_habit_text(f, field_of(function, "type"), type, sizeof(type)))
        return;
    const TSNode d = field_of(function, "declarator");
    const bool is_pointer = is_type(d, "pointer_declarator") && strstr(type, "char");
    const bool is_reference = is_type(d, "reference_declarator");
    const bool is_view = is_type(d, "function_declarator") && strstr(type, "string_view");
    TSNode of = value, method, arguments;
    if (is_pointer) {
        static const char *const gives[] = {"c_str", "data", "constData"};
        if (!is_type(value, "call_expression"))
            return;
        of = myth_habit_receiver(value, &method, &arguments);
        if (is_null(of) || !myth_habit_text(f, method, text, sizeof(text)) || !IS_ONE(text, gives))
            return;
    } else if (!is_view && !is_reference)
        return;
    if (is_type(of, "identifier") && myth_habit_text(f, of, text, sizeof(text)) &&
        is_local_text(f, field_of(function, "body"), text, 0))
        myth_misuse_put(f, MYTH_MISUSE_VIEW, node, of, 0);
}

/* Whether the file declares a name as a vector. */
static bool is_vector(const myth_flow *f, const char *name)
{
    const uint32_t n = (uint32_t)strlen(name);
    for (uint32_t i = 1; i + n < f->n_text; i++) {
        if (f->text[i] != name[0] || memcmp(f->text + i, name, n) != 0 || myth_is_word(f->text[i + n]))
            continue;
        uint32_t from = i;
        while (from > 0 && (f->text[from - 1] == ' ' || f->text[from - 1] == '&'))
            from--;
        if (from == 0 || f->text[from - 1] != '>')
            continue;
        while (from > 0 && f->text[from - 1] != '\n' && f->text[from - 1] != '(' && f->text[from - 1] != ',')
            from--;
        if (myth_habit_has_text(f, from, i, "vector<"))
            return true;
    }
    return false;
}

/* The call in a node that may move the elements of a vector; null = none. */
static TSNode moves(const myth_flow *f, TSNode node, const char *name, int deep)
{
    static const char *const list[] = {"push_back", "emplace_back", "resize", "insert", "emplace"};
    char text[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (deep > GONE_DEEP || is_type(node, "lambda_expression"))
        return (TSNode){0};
    if (is_type(node, "call_expression")) {
        const TSNode object = myth_habit_receiver(node, &method, &arguments);
        if (!is_null(object) && myth_habit_text(f, object, text, sizeof(text)) && strcmp(text, name) == 0 &&
            myth_habit_text(f, method, text, sizeof(text)) && IS_ONE(text, list))
            return node;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode found = moves(f, ts_node_named_child(node, i), name, deep + 1);
        if (!is_null(found))
            return found;
    }
    return (TSNode){0};
}

/* Whether a statement is a branch that leaves at its end. */
static bool leaves_with(const myth_flow *f, TSNode node)
{
    TSNode last = role_of(f, node) == MYTH_ROLE_IF ? child_of(f, node, MYTH_SLOT_THEN) : (TSNode){0};
    while (!is_null(last) && role_of(f, last) == MYTH_ROLE_BLOCK && ts_node_named_child_count(last) > 0)
        last = ts_node_named_child(last, ts_node_named_child_count(last) - 1);
    const myth_role role = is_null(last) ? MYTH_ROLE_NONE : role_of(f, last);
    return role == MYTH_ROLE_RETURN || role == MYTH_ROLE_THROW || role == MYTH_ROLE_LEAVE;
}

void myth_habit_element(myth_flow *f, TSNode block)
{
    char name[MYTH_HABIT_TEXT], vector[MYTH_HABIT_TEXT], text[MYTH_HABIT_TEXT];
    static const char *const gives[] = {"back", "front", "at"};
    const uint32_t all = ts_node_named_child_count(block), n = all < GONE_STATEMENTS ? all : GONE_STATEMENTS;
    for (uint32_t i = 0; i + 2 < n + 1; i++) {
        const TSNode at = ts_node_named_child(block, i), d = field_of(at, "declarator");
        TSNode of = {0}, method, arguments;
        if (!is_type(at, "declaration") || !is_type(d, "init_declarator") ||
            !is_type(field_of(d, "declarator"), "reference_declarator") ||
            !myth_habit_text(f, ts_node_named_child(field_of(d, "declarator"), 0), name, sizeof(name)))
            continue;
        const TSNode value = field_of(d, "value");
        if (is_type(value, "subscript_expression"))
            of = field_of(value, "argument");
        else if (is_type(value, "call_expression")) {
            of = myth_habit_receiver(value, &method, &arguments);
            if (is_null(of) || !myth_habit_text(f, method, text, sizeof(text)) || !IS_ONE(text, gives))
                continue;
        }
        if (is_null(of) || !is_type(of, "identifier") || !myth_habit_text(f, of, vector, sizeof(vector)) ||
            !is_vector(f, vector))
            continue;
        snprintf(text, sizeof(text), "%.80s.reserve(", vector);
        if (myth_habit_has_text(f, f->off, ts_node_end_byte(block), text))
            continue;
        for (uint32_t j = i + 1; j + 1 < n; j++) {
            const TSNode now = ts_node_named_child(block, j), call = moves(f, now, vector, 0);
            if (is_null(call))
                continue;
            if (leaves_with(f, now))
                continue;
            for (uint32_t k = j + 1; k < n; k++)
                if (myth_habit_has_word(f, ts_node_named_child(block, k), name)) {
                    myth_misuse_put(f, MYTH_MISUSE_ELEMENT, at, ts_node_named_child(field_of(d, "declarator"), 0),
                                    line_of(call));
                    break;
                }
            break;
        }
    }
}
