/* habits_call.c - calls, members and operators that give something else than they seem to, and results that are lost
 * (habits.c). */
#include "habits.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define IS_ONE_OF(name, list) myth_flow_is_one_of(name, list, sizeof(list) / sizeof(*(list)))

static uint32_t n_arguments(TSNode arguments)
{
    uint32_t n = 0;
    for (uint32_t i = 0; !is_null(arguments) && i < ts_node_named_child_count(arguments); i++)
        n += !strstr(ts_node_type(ts_node_named_child(arguments, i)), "comment");
    return n;
}

static bool is_text(const myth_flow *f, TSNode node) { return !is_null(node) && role_of(f, node) == MYTH_ROLE_TEXT; }

/* Whether a name is a local text: everything that it gets in this function is one. */
static bool is_local_text(myth_flow *f, TSNode node)
{
    const uint32_t path = is_null(node) ? 0 : myth_flow_path(f, node);
    bool is_set = false;
    for (uint32_t i = 0; path && i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_DEFINE || e->path != path)
            continue;
        if (e->value != MYTH_VALUE_TEXT && e->value != MYTH_VALUE_JOINED)
            return false;
        is_set = true;
    }
    return is_set;
}

/* ---- results that are lost ---- */

/* Whether a statement is tried for its error: the only one of a try, or inside of a with or of a test's call. */
static bool is_tried(const myth_flow *f, const myth_around *around)
{
    for (uint32_t i = 1; i < around->n && i < 6; i++) {
        const TSNode up = around_at(around, i);
        const myth_role role = is_null(up) ? MYTH_ROLE_FUNCTION : role_of(f, up);
        if (role == MYTH_ROLE_FUNCTION)
            return false;
        if (role == MYTH_ROLE_TRY || role == MYTH_ROLE_WITH)
            return true;
    }
    return false;
}

static bool loses_python(myth_flow *f, const char *name, TSNode object, TSNode arguments)
{
    static const char *const strips[] = {"strip", "lstrip", "rstrip"}; /* title and lower are methods of windows, too */
    static const char *const plain[] = {"upper", "capitalize", "swapcase", "casefold"};
    static const char *const made[] = {"sorted", "reversed"};
    const uint32_t n = n_arguments(arguments);
    if (is_null(object))
        return IS_ONE_OF(name, made);
    if (IS_ONE_OF(name, strips) || IS_ONE_OF(name, plain))
        return n == 0 || (n == 1 && IS_ONE_OF(name, strips) && is_text(f, ts_node_named_child(arguments, 0)));
    const TSNode a = ts_node_named_child(arguments, 0), b = ts_node_named_child(arguments, 1);
    return strcmp(name, "replace") == 0 && n == 2 && is_text(f, a) && (is_text(f, b) || is_local_text(f, object));
}

static bool loses_java(const myth_flow *f, const char *name, TSNode object, TSNode arguments)
{
    static const char *const plain[] = {"trim", "toLowerCase", "toUpperCase", "strip", "substring", "concat"};
    char base[MYTH_HABIT_TEXT];
    const uint32_t n = n_arguments(arguments);
    if (is_null(object))
        return false;
    const bool is_replace =
        (strcmp(name, "replace") == 0 || strcmp(name, "replaceAll") == 0 || strcmp(name, "replaceFirst") == 0) &&
        n == 2;
    if (!IS_ONE_OF(name, plain) && !is_replace)
        return false;
    if (is_text(f, object))
        return true;
    if (!myth_habit_text(f, object, base, sizeof(base)) || strchr(base, '('))
        return false;
    return (myth_habit_marks(myth_flow_last_word(base)) & (MYTH_MARK_TEXT | MYTH_MARK_BOXED | MYTH_MARK_OTHER)) ==
           MYTH_MARK_TEXT;
}

static bool loses_script(myth_flow *f, const char *name, TSNode object, TSNode arguments)
{
    static const char *const plain[] = {"trim",    "toLowerCase", "toUpperCase", "trimStart",
                                        "trimEnd", "padStart",    "padEnd"};
    const uint32_t n = n_arguments(arguments);
    const TSNode a = n ? ts_node_named_child(arguments, 0) : (TSNode){0};
    const TSNode b = n > 1 ? ts_node_named_child(arguments, 1) : (TSNode){0};
    if (is_null(object) || (!is_null(b) && role_of(f, b) == MYTH_ROLE_FUNCTION))
        return false;
    if (IS_ONE_OF(name, plain))
        return n <= 2;
    if (strcmp(name, "filter") == 0)
        return n == 1 && is_type(a, "arrow_function");
    if (strcmp(name, "replace") == 0 || strcmp(name, "replaceAll") == 0)
        return n == 2 && ((is_type(a, "regex") && is_text(f, b)) || (is_text(f, a) && is_text(f, b)));
    if (strcmp(name, "concat") == 0)
        return n == 1 && (is_type(a, "array") || is_text(f, a) || is_type(object, "array"));
    return strcmp(name, "slice") == 0 && n > 0 && n <= 2 && role_of(f, a) == MYTH_ROLE_NUMBER;
}

static bool loses_go(const char *name, TSNode object, const myth_flow *f)
{
    static const char *const texts[] = {"TrimSpace", "Trim",      "Replace", "ReplaceAll", "ToLower",
                                        "ToUpper",   "Split",     "Join",    "TrimPrefix", "TrimSuffix",
                                        "TrimLeft",  "TrimRight", "Title",   "Fields"};
    static const char *const errors[] = {"New", "Wrap", "Wrapf", "Errorf", "WithStack", "WithMessage", "Join"};
    static const char *const formats[] = {"Sprintf", "Sprint", "Sprintln", "Errorf"};
    char base[MYTH_HABIT_TEXT];
    if (is_null(object) || !myth_habit_text(f, object, base, sizeof(base)))
        return false;
    return (strcmp(base, "strings") == 0 && IS_ONE_OF(name, texts)) ||
           (strcmp(base, "errors") == 0 && IS_ONE_OF(name, errors)) ||
           (strcmp(base, "fmt") == 0 && IS_ONE_OF(name, formats));
}

/* An error that is made and not thrown. */
static bool is_error_name(const char *name)
{
    const size_t n = strlen(name);
    const bool is_error = (n > 5 && strcmp(name + n - 5, "Error") == 0) || strcmp(name, "Error") == 0;
    const bool is_exception = (n > 9 && strcmp(name + n - 9, "Exception") == 0) || strcmp(name, "Exception") == 0;
    return isupper((unsigned char)name[0]) && (is_error || is_exception);
}

static void lost(myth_flow *f, TSNode call, const char *name, TSNode object, TSNode arguments,
                 const myth_around *around)
{
    const bool is_python = myth_habit_is_python(), is_java = myth_habit_is_java();
    const bool is_go = myth_habit_is_go();
    const TSNode up = around_at(around, 0), block = around_at(around, 1);
    bool is_lost = false;
    if (!is_type(up, "expression_statement") || is_tried(f, around))
        return;
    if (is_java && !is_null(block) && role_of(f, block) == MYTH_ROLE_CASE)
        return; /* case -> value */
    if (is_python && is_null(object) && is_error_name(name)) {
        myth_habit_put(f, MYTH_HABIT_ERROR, call, call, 0);
        return;
    }
    if (is_python)
        is_lost = loses_python(f, name, object, arguments);
    else if (is_java)
        is_lost = loses_java(f, name, object, arguments);
    else if (is_go)
        is_lost = loses_go(name, object, f);
    else if (myth_habit_is_script())
        is_lost = loses_script(f, name, object, arguments);
    if (is_lost)
        myth_habit_put(f, MYTH_HABIT_DROPPED, call, is_null(object) ? call : object, 0);
}

/* ---- numbers that are sorted as texts ---- */

/* Whether the function counts with elements of a list: a[i] - a[k], a.reduce((x, y) => x + y, 0). */
static bool counts_with(const myth_flow *f, TSNode node, const char *list, int deep)
{
    char text[MYTH_HABIT_TEXT];
    static const char *const operators[] = {"-", "*", "/", "%"};
    if (deep > 60)
        return false;
    for (size_t i = 0; role_of(f, node) == MYTH_ROLE_BINARY && i < sizeof(operators) / sizeof(*operators); i++) {
        if (!myth_flow_is_operator(f, node, operators[i]))
            continue;
        TSNode side[3] = {field_of(node, "left"), field_of(node, "right")};
        const TSNode sum = is_type(side[0], "parenthesized_expression") ? myth_flow_inner(f, side[0]) : (TSNode){0};
        if (is_type(sum, "binary_expression") && myth_flow_is_operator(f, sum, "+"))
            side[2] = field_of(sum, "left"); /* (a[i] + a[k]) / 2 */
        for (int s = 0; s < 3; s++)
            if (is_type(side[s], "subscript_expression") &&
                myth_habit_text(f, field_of(side[s], "object"), text, sizeof(text)) && strcmp(text, list) == 0)
                return true;
    }
    if (is_type(node, "call_expression")) {
        TSNode method, arguments;
        const TSNode object = myth_habit_receiver(node, &method, &arguments);
        if (!is_null(object) && n_arguments(arguments) == 2 && myth_habit_text(f, object, text, sizeof(text)) &&
            strcmp(text, list) == 0 && myth_habit_text(f, method, text, sizeof(text)) && strcmp(text, "reduce") == 0 &&
            role_of(f, ts_node_named_child(arguments, 1)) == MYTH_ROLE_NUMBER) {
            const TSNode body = field_of(ts_node_named_child(arguments, 0), "body");
            return !is_null(body) && role_of(f, body) == MYTH_ROLE_BINARY && myth_flow_is_operator(f, body, "+") &&
                   role_of(f, field_of(body, "right")) == MYTH_ROLE_NAME;
        }
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (counts_with(f, ts_node_named_child(node, i), list, deep + 1))
            return true;
    return false;
}

/* Whether an expression is a list of numbers by its own form. */
static bool makes_numbers(myth_flow *f, TSNode node)
{
    static const char *const numbers[] = {"Number", "parseFloat"};
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (is_type(node, "array")) {
        const uint32_t n = ts_node_named_child_count(node);
        bool is_long = false;
        for (uint32_t i = 0; i < n; i++) {
            const TSNode child = ts_node_named_child(node, i);
            if (role_of(f, child) != MYTH_ROLE_NUMBER)
                return false;
            is_long |= ts_node_end_byte(child) - ts_node_start_byte(child) > 1;
        }
        return n > 1 && is_long;
    }
    if (!is_call(node))
        return false;
    const TSNode object = myth_habit_receiver(node, &method, &arguments);
    if (is_null(object) || !myth_habit_text(f, method, name, sizeof(name)))
        return false;
    if (strcmp(name, "filter") == 0 || strcmp(name, "slice") == 0)
        return makes_numbers(f, object);
    const TSNode a = n_arguments(arguments) == 1 ? ts_node_named_child(arguments, 0) : (TSNode){0};
    if (strcmp(name, "map") != 0 || is_null(a))
        return false;
    if (myth_habit_text(f, a, name, sizeof(name)) && IS_ONE_OF(name, numbers))
        return true;
    TSNode body = is_type(a, "arrow_function") ? myth_flow_inner(f, field_of(a, "body")) : (TSNode){0};
    if (is_call(body)) {
        myth_habit_receiver(body, &method, &arguments);
        return myth_habit_text(f, method, name, sizeof(name)) &&
               (IS_ONE_OF(name, numbers) || strcmp(name, "parseInt") == 0 || strcmp(name, "getTime") == 0);
    }
    return is_type(body, "member_expression") && myth_flow_text_is(f, field_of(body, "property"), "length");
}

static void sorted(myth_flow *f, TSNode call, TSNode object, const myth_around *around)
{
    char list[MYTH_HABIT_TEXT];
    TSNode of = object, holder = {0};
    if (is_type(object, "array") && ts_node_named_child_count(object) == 1 &&
        is_type(ts_node_named_child(object, 0), "spread_element"))
        of = ts_node_named_child(ts_node_named_child(object, 0), 0); /* [...list] */
    const TSNode up = around_at(around, 0);
    if (is_type(up, "variable_declarator"))
        holder = field_of(up, "name");
    else if (is_type(up, "assignment_expression"))
        holder = field_of(up, "left");
    bool is_numbers = makes_numbers(f, of);
    const TSNode function = myth_habit_function(f, around);
    if (!is_numbers && !is_null(holder) && myth_habit_text(f, holder, list, sizeof(list)))
        is_numbers = counts_with(f, function, list, 0);
    if (!is_numbers && role_of(f, of) == MYTH_ROLE_NAME && myth_habit_text(f, of, list, sizeof(list)))
        is_numbers = counts_with(f, function, list, 0) ||
                     (myth_habit_marks(list) & (MYTH_MARK_NUMBERS | MYTH_MARK_OTHER)) == MYTH_MARK_NUMBERS;
    if (is_numbers)
        myth_habit_put(f, MYTH_HABIT_SORT, call, of, 0);
}

/* ---- calls ---- */

/* Whether the same call stands before in the function: it is asked whether something matches. */
static bool is_asked_before(const myth_flow *f, TSNode call)
{
    const uint32_t off = ts_node_start_byte(call), n = ts_node_end_byte(call) - off;
    for (uint32_t i = f->off; i + n <= off; i++)
        if (memcmp(f->text + i, f->text + off, n) == 0)
            return true;
    return false;
}

/* Whether a condition before speaks of a text. */
static bool is_asked_about(myth_flow *f, TSNode node)
{
    const uint32_t path = myth_flow_path(f, node);
    for (uint32_t i = 0; path && i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_TEST && f->event[i].off < ts_node_start_byte(node) && f->event[i].path &&
            myth_flow_is_part(f, f->event[i].path, path))
            return true;
    return false;
}

static void pattern(myth_flow *f, TSNode call, const char *name, TSNode object, TSNode arguments,
                    const myth_around *around)
{
    static const char *const finds[] = {"match", "search", "fullmatch"};
    static const char *const uses[] = {"group", "groups", "groupdict", "start", "end", "span"};
    char text[MYTH_HABIT_TEXT];
    const TSNode up = around_at(around, 0);
    if (!myth_habit_is_python() || !IS_ONE_OF(name, finds) || is_null(object) ||
        !myth_habit_text(f, object, text, sizeof(text)))
        return;
    const bool is_module = strcmp(text, "re") == 0;
    if (!is_module &&
        (myth_habit_marks(myth_flow_last_word(text)) & (MYTH_MARK_PATTERN | MYTH_MARK_VALUE)) != MYTH_MARK_PATTERN)
        return;
    const TSNode argument = n_arguments(arguments) == 1 ? ts_node_named_child(arguments, 0) : (TSNode){0};
    if (is_null(argument) || is_call(argument) || is_asked_about(f, argument))
        return;
    const bool is_element = is_type(up, "subscript") && ts_node_eq(field_of(up, "value"), call);
    const bool is_used = !is_module && is_type(up, "attribute") &&
                         myth_habit_text(f, field_of(up, "attribute"), text, sizeof(text)) && IS_ONE_OF(text, uses);
    if (f->is_file || is_asked_before(f, call))
        return;
    for (uint32_t i = 0; (is_element || is_used) && i < around->n; i++) {
        const TSNode out = around_at(around, i);
        if (is_null(out) || role_of(f, out) == MYTH_ROLE_FUNCTION)
            break;
        if (role_of(f, out) == MYTH_ROLE_TRY)
            return;
    }
    if (is_element || is_used)
        myth_habit_put(f, MYTH_HABIT_PATTERN, call, object, 0);
}

/* Whether what map is called of is no list but holds one value, which is all that the function gets: what
 * Optional.of(x) and its like give, by the first word of a chain of calls, a variable that keeps it, or by its type. */
static bool holds_one(myth_flow *f, TSNode object, int deep)
{
    static const char *const type[] = {"Optional", "Option", "Maybe",    "Some", "Just",
                                       "Either",   "Result", "Identity", "Box",  "Nullable"};
    static const char *const made[] = {"maybe", "some", "just", "option", "optional", "fromNullable", "ofNullable"};
    char text[MYTH_HABIT_TEXT];
    for (int i = 0; i < 40 && !is_null(object); i++) {
        TSNode method, arguments;
        if (is_call(object)) {
            const TSNode of = myth_habit_receiver(object, &method, &arguments);
            if (is_null(of))
                return myth_habit_text(f, method, text, sizeof(text)) && IS_ONE_OF(text, made);
            object = of;
        } else if (is_type(object, "member_expression"))
            object = field_of(object, "object");
        else
            break;
    }
    if (is_null(object) || role_of(f, object) != MYTH_ROLE_NAME || !myth_habit_text(f, object, text, sizeof(text)))
        return false;
    if (IS_ONE_OF(text, type))
        return true;
    const uint32_t path = myth_flow_path(f, object);
    for (uint32_t i = 0; path && i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_DEFINE || e->path != path)
            continue;
        uint32_t off = f->path[path].type_off;
        while (off < f->path[path].type_end && (f->text[off] == ':' || f->text[off] == ' '))
            off++;
        for (size_t t = 0; t < sizeof(type) / sizeof(*type); t++) {
            const size_t n = strlen(type[t]);
            if (off + n < f->path[path].type_end && memcmp(f->text + off, type[t], n) == 0 && f->text[off + n] == '<')
                return true;
        }
        return e->value != MYTH_VALUE_PARAMETER && deep < 2 && holds_one(f, myth_facts_value_node(f, e), deep + 1);
    }
    return false;
}

void myth_habit_call(myth_flow *f, TSNode call, const myth_around *around)
{
    char name[MYTH_HABIT_TEXT];
    TSNode method, arguments;
    if (role_of(f, call) == MYTH_ROLE_NEW) { /* new Error(...); */
        TSNode made = field_of(call, "constructor");
        made = is_null(made) ? field_of(call, "type") : made;
        if (!is_null(made) && is_type(around_at(around, 0), "expression_statement") && !is_null(around_at(around, 1)) &&
            role_of(f, around_at(around, 1)) != MYTH_ROLE_CASE && !is_tried(f, around) &&
            myth_habit_text(f, made, name, sizeof(name)) && is_error_name(myth_flow_last_word(name)))
            myth_habit_put(f, MYTH_HABIT_ERROR, call, made, 0);
        return;
    }
    const TSNode object = myth_habit_receiver(call, &method, &arguments);
    if (is_null(method) || !myth_habit_text(f, method, name, sizeof(name)))
        return;
    lost(f, call, name, object, arguments, around);
    pattern(f, call, name, object, arguments, around);
    if (!is_type(call, "call_expression") || is_null(object))
        return;
    if (strcmp(name, "sort") == 0 && n_arguments(arguments) == 0)
        sorted(f, call, object, around);
    if (strcmp(name, "map") == 0 && n_arguments(arguments) == 1 &&
        myth_habit_text(f, ts_node_named_child(arguments, 0), name, sizeof(name)) &&
        (strcmp(name, "parseInt") == 0 || strcmp(name, "Number.parseInt") == 0) && !holds_one(f, object, 0))
        myth_habit_put(f, MYTH_HABIT_PARSE, call, object, 0);
}

/* ---- members ---- */

/* Whether a value is the difference of two things that are no numbers. */
static bool is_difference(const myth_flow *f, TSNode node)
{
    node = is_null(node) ? node : myth_flow_inner(f, node);
    return !is_null(node) && is_type(node, "binary_operator") && myth_flow_is_operator(f, node, "-");
}

/* (a - b).seconds is what is left of the last day. */
void myth_habit_member(myth_flow *f, TSNode node)
{
    char text[MYTH_HABIT_TEXT], days[MYTH_HABIT_TEXT + 8];
    const TSNode last = field_of(node, "attribute");
    if (!is_type(node, "attribute") || is_null(last) || !myth_flow_text_is(f, last, "seconds"))
        return;
    const TSNode object = field_of(node, "object");
    bool is_time = is_difference(f, object);
    if (!is_time && role_of(f, object) == MYTH_ROLE_NAME) {
        const uint32_t path = myth_flow_path(f, object);
        for (uint32_t i = f->n_event; path && i-- > 0;) {
            const myth_event *e = &f->event[i];
            if (e->kind != MYTH_EVENT_DEFINE || e->path != path || e->off > ts_node_start_byte(node))
                continue;
            is_time = is_difference(f, myth_facts_value_node(f, e));
            break;
        }
    }
    if (!is_time || !myth_habit_text(f, object, text, sizeof(text)))
        return;
    snprintf(days, sizeof(days), "%s.days", text);
    uint32_t end = ts_node_end_byte(node); /* seconds % 60 is a part on purpose */
    while (end < f->n_text && f->text[end] != '\n')
        end++;
    if (!myth_habit_has_text(f, f->off, f->end, days) && !myth_habit_has_text(f, ts_node_end_byte(node), end, "%"))
        myth_habit_put(f, MYTH_HABIT_SECONDS, node, object, 0);
}

/* ---- operators ---- */

static bool is_nan(const myth_flow *f, TSNode node)
{
    static const char *const names[] = {"NaN",          "Number.NaN",     "math.nan",  "np.nan",
                                        "numpy.nan",    "Double.NaN",     "Float.NaN", "math.NaN()",
                                        "float('nan')", "float(\"nan\")", "np.NaN",    "NAN"};
    char text[MYTH_HABIT_TEXT];
    return myth_habit_text(f, node, text, sizeof(text)) && IS_ONE_OF(text, names);
}

/* Whether a method is called of the object itself, or of one of a class that the file defines: a.getId() of T a. */
static bool is_own_getter(const myth_flow *f, TSNode call)
{
    char name[MYTH_HABIT_TEXT], want[2 * MYTH_HABIT_TEXT];
    const TSNode object = field_of(call, "object");
    if (is_null(object) || is_type(object, "this"))
        return true;
    if (!is_type(object, "identifier") || !myth_habit_text(f, object, name, sizeof(name)))
        return false;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_DEFINE || !e->path || strcmp(f->names + f->path[e->path].text, name) != 0)
            continue;
        const myth_path *p = &f->path[e->path];
        const uint32_t n = p->type_end - p->type_off;
        if (n == 0 || n >= MYTH_HABIT_TEXT)
            return false;
        snprintf(want, sizeof(want), "class %.*s {", (int)n, f->text + p->type_off);
        return myth_habit_has_text(f, 0, f->n_text, want);
    }
    return false;
}

/* What Java's file says about a value: MYTH_MARK_TEXT, MYTH_MARK_BOXED, or 0. Of another object's member only what a
 * class of the file declares counts, and of another object's method nothing. */
static uint32_t object_type(const myth_flow *f, TSNode node)
{
    char text[MYTH_HABIT_TEXT], name[MYTH_HABIT_TEXT + 4];
    if (is_type(node, "method_invocation")) {
        if (n_arguments(field_of(node, "arguments")) > 0 || !is_own_getter(f, node) ||
            !myth_habit_text(f, field_of(node, "name"), text, sizeof(text)))
            return 0;
        snprintf(name, sizeof(name), "%s()", text);
    } else {
        if (!(is_type(node, "identifier") || is_type(node, "field_access")) ||
            !myth_habit_text(f, node, text, sizeof(text)) || myth_flow_is_constant_name(myth_flow_last_word(text)))
            return 0;
        snprintf(name, sizeof(name), "%s%s", myth_flow_last_word(text), is_type(node, "identifier") ? "" : ".");
    }
    const uint32_t marks = myth_habit_marks(name) & (MYTH_MARK_TEXT | MYTH_MARK_BOXED | MYTH_MARK_OTHER);
    return marks == MYTH_MARK_TEXT || marks == MYTH_MARK_BOXED ? marks : 0;
}

/* Whether the rest of a condition asks for equality properly, or the function is one that does. */
static bool is_meant(const myth_flow *f, const myth_around *around, TSNode node)
{
    const char *name = f->names + f->name;
    if (strstr(name, "equals") || strstr(name, "compare") || strstr(name, "same") || strstr(name, "Same"))
        return true;
    TSNode whole = node;
    for (uint32_t i = 0; i < 8; i++) {
        const TSNode up = around_at(around, i);
        const myth_role role = is_null(up) ? MYTH_ROLE_NONE : role_of(f, up);
        if (role == MYTH_ROLE_ASSERT)
            return true;
        if (role != MYTH_ROLE_BINARY && role != MYTH_ROLE_GROUP && role != MYTH_ROLE_CHOICE &&
            role != MYTH_ROLE_RETURN && role != MYTH_ROLE_UNARY)
            break;
        whole = up;
    }
    return myth_habit_has_text(f, ts_node_start_byte(whole), ts_node_end_byte(whole), "equals") ||
           myth_habit_has_text(f, ts_node_start_byte(whole), ts_node_end_byte(whole), "compareTo");
}

void myth_habit_binary(myth_flow *f, TSNode node, const myth_around *around)
{
    static const char *const equal[] = {"==", "!=", "===", "!=="};
    const bool is_identity = myth_flow_is_operator(f, node, "is") || myth_flow_is_operator(f, node, "is not");
    bool is_equal = false;
    TSNode a = field_of(node, "left"), b = field_of(node, "right");
    if (is_null(a) && ts_node_named_child_count(node) == 2) {
        a = ts_node_named_child(node, 0);
        b = ts_node_named_child(node, 1);
    }
    for (size_t i = 0; i < sizeof(equal) / sizeof(*equal); i++)
        is_equal |= myth_flow_is_operator(f, node, equal[i]);
    if (is_null(a) || is_null(b) || (!is_equal && !is_identity))
        return;
    if (is_identity) {
        const bool is_sign = is_type(b, "unary_operator") && role_of(f, ts_node_named_child(b, 0)) == MYTH_ROLE_NUMBER;
        if (role_of(f, b) == MYTH_ROLE_NUMBER || is_sign || is_type(b, "list") || is_type(b, "dictionary") ||
            is_type(b, "tuple"))
            myth_habit_put(f, MYTH_HABIT_LITERAL, node, a, 0);
        return;
    }
    if (is_nan(f, a) != is_nan(f, b)) {
        myth_habit_put(f, MYTH_HABIT_NAN, node, is_nan(f, a) ? b : a, 0);
        return;
    }
    if (!myth_habit_is_java())
        return;
    const uint32_t type = object_type(f, a);
    const bool is_by_value = type == MYTH_MARK_TEXT && myth_facts_is_for_browser(f);
    if (type && type == object_type(f, b) && !is_by_value && !is_meant(f, around, node))
        myth_habit_put(f, MYTH_HABIT_BOXED, node, a, 0);
}
