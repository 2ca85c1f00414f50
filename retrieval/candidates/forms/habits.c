/* habits.c - forms of code that are nearly always a mistake in their language: a promise that nobody waits for, a
 * collection that is changed while a loop goes over it, a default value that all calls share, a case without its end, a
 * function that gives something else than it seems to.
 *
 * File    names are marked first, in the whole file: which functions are async, what is made by re.compile, how Java
 *         declares a variable. A name counts only where the file says the same of it everywhere
 * Event   `how` is its kind (the values of the fact `habit`), `path` what it is about, `call` a line that belongs to
 *         it, 0 = none */
#include "habits.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)MYTH_HABIT_ONE_WAY < (int)MYTH_MISUSE_FIRST, "an event's `how` tells the two facts apart");
_Static_assert((int)MYTH_MISUSE_FIRST + (int)MYTH_MISUSE_ELEMENT <= UINT8_MAX, "an event's `how` is a byte");

/* Of the function that is read: the process has one thread. */
static const myth_file_facts *file_now;
static TSNode function_now;
static const TSLanguage *known;
static enum {
    LANGUAGE_OTHER,
    LANGUAGE_PYTHON,
    LANGUAGE_JAVA,
    LANGUAGE_GO,
    LANGUAGE_SCRIPT,
    LANGUAGE_CPP,
    LANGUAGE_RUST
} language_now;

/* ---- what all forms need ---- */

bool myth_habit_text(const myth_flow *f, TSNode node, char *dst, size_t cap)
{
    size_t n = 0;
    if (is_null(node))
        return false;
    for (uint32_t i = ts_node_start_byte(node); i < ts_node_end_byte(node) && i < f->n_text; i++) {
        if (isspace((unsigned char)f->text[i]))
            continue;
        if (n + 1 >= cap)
            return false;
        dst[n++] = f->text[i];
    }
    dst[n] = '\0';
    return n > 0;
}

bool myth_habit_has_word(const myth_flow *f, TSNode node, const char *word)
{
    const size_t n = strlen(word);
    if (is_null(node) || n == 0)
        return false;
    for (uint32_t i = ts_node_start_byte(node); i + n <= ts_node_end_byte(node) && i + n <= f->n_text; i++) {
        const char before = i > 0 ? f->text[i - 1] : ' ', after = i + n < f->n_text ? f->text[i + n] : ' ';
        if (f->text[i] == word[0] && memcmp(f->text + i, word, n) == 0 && !myth_is_word_or_dollar(before) &&
            !myth_is_word_or_dollar(after))
            return true;
    }
    return false;
}

bool myth_habit_has_text(const myth_flow *f, uint32_t from, uint32_t end, const char *text)
{
    const size_t n = strlen(text);
    for (uint32_t i = from; i + n <= end && i + n <= f->n_text; i++)
        if (f->text[i] == text[0] && memcmp(f->text + i, text, n) == 0)
            return true;
    return false;
}

static void set_language(TSNode root)
{
    const TSLanguage *language = ts_node_language(root);
    if (language == known)
        return;
    known = language;
    language_now = ts_language_symbol_for_name(language, "decorated_definition", 20, true) != 0  ? LANGUAGE_PYTHON
                 : ts_language_symbol_for_name(language, "method_invocation", 17, true) != 0     ? LANGUAGE_JAVA
                 : ts_language_symbol_for_name(language, "short_var_declaration", 21, true) != 0 ? LANGUAGE_GO
                 : ts_language_symbol_for_name(language, "arrow_function", 14, true) != 0        ? LANGUAGE_SCRIPT
                 : ts_language_symbol_for_name(language, "for_range_loop", 14, true) != 0        ? LANGUAGE_CPP
                 : ts_language_symbol_for_name(language, "function_item", 13, true) != 0         ? LANGUAGE_RUST
                                                                                                 : LANGUAGE_OTHER;
}

bool myth_habit_is_python(void) { return language_now == LANGUAGE_PYTHON; }
bool myth_habit_is_java(void) { return language_now == LANGUAGE_JAVA; }
bool myth_habit_is_go(void) { return language_now == LANGUAGE_GO; }
bool myth_habit_is_script(void) { return language_now == LANGUAGE_SCRIPT; }

TSNode myth_habit_receiver(TSNode call, TSNode *method, TSNode *arguments)
{
    TSNode callee = field_of(call, "function");
    *arguments = field_of(call, "arguments");
    if (is_null(callee)) { /* Java */
        *method = field_of(call, "name");
        return field_of(call, "object");
    }
    static const char *const last[] = {"property", "attribute", "field"};
    for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
        *method = field_of(callee, last[i]);
        if (is_null(*method))
            continue;
        const TSNode object = field_of(callee, "object"), argument = field_of(callee, "argument");
        const TSNode operand = field_of(callee, "operand");
        return !is_null(object) ? object : !is_null(argument) ? argument : operand;
    }
    *method = callee;
    return (TSNode){0};
}

TSNode myth_habit_function(const myth_flow *f, const myth_around *around)
{
    for (uint32_t i = 0; i < around->n; i++) {
        const TSNode up = around_at(around, i);
        if (!is_null(up) && role_of(f, up) == MYTH_ROLE_FUNCTION)
            return up;
    }
    return function_now;
}

bool myth_habit_is_async(TSNode function)
{
    for (uint32_t i = 0; i < ts_node_child_count(function) && i < 6; i++)
        if (is_type(ts_node_child(function, i), "async"))
            return true;
    return false;
}

/* ---- marks of the file's names ---- */

uint32_t myth_habit_marks(const char *name)
{
    char key[MYTH_HABIT_TEXT + 4];
    snprintf(key, sizeof(key), ":%s", name);
    const myth_file_name *found = file_now ? myth_file_facts_find(file_now, key) : NULL;
    return found ? found->marks : 0;
}

static void mark(myth_file_facts *ff, const myth_flow *f, TSNode node, const char *behind, uint32_t marks)
{
    char key[MYTH_HABIT_TEXT + 8], name[MYTH_HABIT_TEXT];
    if (!myth_habit_text(f, node, name, sizeof(name)))
        return;
    snprintf(key, sizeof(key), ":%s%s", myth_flow_last_word(name), behind);
    myth_file_name *found = myth_file_facts_put(ff, key);
    if (found)
        found->marks |= marks;
}

/* Whether a function of Python gives its values one by one. */
static bool has_yield(TSNode node, int deep)
{
    if (is_type(node, "yield"))
        return true;
    if (deep > 40 || (deep > 0 && (is_type(node, "function_definition") || is_type(node, "lambda"))))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (has_yield(ts_node_named_child(node, i), deep + 1))
            return true;
    return false;
}

/* Decorators may make something else of a function. */
static bool is_wrapped(const myth_flow *f, TSNode node)
{
    static const char *const harmless[] = {"@staticmethod", "@classmethod", "@abstractmethod", "@abc.abstractmethod",
                                           "@override"};
    const TSNode up = ts_node_parent(node);
    char text[MYTH_HABIT_TEXT];
    if (!is_type(up, "decorated_definition"))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(up); i++) {
        const TSNode child = ts_node_named_child(up, i);
        if (is_type(child, "decorator") && !(myth_habit_text(f, child, text, sizeof(text)) &&
                                             myth_flow_is_one_of(text, harmless, sizeof(harmless) / sizeof(*harmless))))
            return true;
    }
    return false;
}

static bool gives_promise(const myth_flow *f, TSNode function)
{
    char text[4 * MYTH_HABIT_TEXT];
    return myth_habit_text(f, field_of(function, "return_type"), text, sizeof(text)) &&
           strncmp(text, ":Promise<", 9) == 0 && !strchr(text, '|') && !strstr(text, "=>");
}

/* `name`: what the function is called by, which stands before it where it has none of its own. */
/* Whether all that a function does is in a try, and its handler throws nothing. */
static bool catches_all(const myth_flow *f, TSNode function)
{
    const TSNode body = field_of(function, "body");
    const TSNode only =
        is_null(body) || ts_node_named_child_count(body) != 1 ? (TSNode){0} : ts_node_named_child(body, 0);
    const TSNode handler = is_null(only) || !is_type(only, "try_statement") ? only : field_of(only, "handler");
    return !is_null(handler) && is_type(handler, "catch_clause") &&
           !myth_habit_has_text(f, ts_node_start_byte(handler), ts_node_end_byte(handler), "throw");
}

static void mark_function(myth_file_facts *ff, const myth_flow *f, TSNode function, TSNode name)
{
    bool is_sync = strncmp(ts_node_type(function), "generator", 9) == 0;
    const bool has_word = myth_habit_is_async(function);
    for (uint32_t i = 0; i < ts_node_child_count(function) && i < 6; i++) {
        const char *type = ts_node_type(ts_node_child(function, i));
        is_sync |= strcmp(type, "*") == 0 || strcmp(type, "get") == 0;
    }
    if (has_word && language_now == LANGUAGE_PYTHON)
        is_sync |= is_wrapped(f, function) || has_yield(function, 0);
    const bool is_async = !is_sync && (has_word || gives_promise(f, function));
    mark(ff, f, name, "", is_async ? MYTH_MARK_ASYNC : MYTH_MARK_SYNC);
    if (language_now == LANGUAGE_SCRIPT)
        mark(ff, f, name, "", catches_all(f, function) ? MYTH_MARK_CATCHES : MYTH_MARK_FAILS);
}

/* A function that is the value of a variable, of a member of a literal or of a field. */
static void mark_value(myth_file_facts *ff, const myth_flow *f, TSNode node)
{
    static const char *const fields[] = {"name", "key", "property"};
    const TSNode value = field_of(node, "value");
    for (size_t i = 0; !is_null(value) && role_of(f, value) == MYTH_ROLE_FUNCTION && i < 3; i++) {
        const TSNode name = field_of(node, fields[i]);
        if (!is_null(name)) {
            mark_function(ff, f, value, name);
            return;
        }
    }
}

static uint32_t mark_of_type(const myth_flow *f, TSNode type)
{
    static const char *const boxed[] = {"Integer", "Long", "Short", "Double", "Float", "BigDecimal", "BigInteger"};
    char text[MYTH_HABIT_TEXT];
    if (!myth_habit_text(f, type, text, sizeof(text)))
        return MYTH_MARK_OTHER;
    const char *last = myth_flow_last_word(text);
    const bool is_boxed = myth_flow_is_one_of(last, boxed, sizeof(boxed) / sizeof(*boxed));
    return (strcmp(last, "String") == 0 ? MYTH_MARK_TEXT
            : is_boxed                  ? MYTH_MARK_BOXED
                                        : MYTH_MARK_OTHER) |
           (strstr(text, "Concurrent") || strstr(text, "CopyOnWrite") || strstr(text, "Cache") ? MYTH_MARK_SAFE : 0);
}

static void mark_declaration(myth_file_facts *ff, const myth_flow *f, TSNode node)
{
    const TSNode type = field_of(node, "type");
    const uint32_t marks = mark_of_type(f, type);
    if (is_type(node, "method_declaration")) {
        mark(ff, f, field_of(node, "name"), "()", marks);
        return;
    }
    const bool is_field = is_type(node, "field_declaration");
    const TSNode own = field_of(node, "name"), dimensions = field_of(node, "dimensions");
    if (!is_null(own))
        mark(ff, f, own, "", is_null(dimensions) ? marks : MYTH_MARK_OTHER);
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i), value = field_of(child, "value");
        if (!is_type(child, "variable_declarator"))
            continue;
        const bool is_array = !is_null(field_of(child, "dimensions"));
        const bool is_safe =
            !is_null(value) &&
            (myth_habit_has_text(f, ts_node_start_byte(value), ts_node_end_byte(value), "Concurrent") ||
             myth_habit_has_text(f, ts_node_start_byte(value), ts_node_end_byte(value), "CopyOnWrite"));
        const uint32_t all = (is_array ? MYTH_MARK_OTHER : marks) | (is_safe ? MYTH_MARK_SAFE : 0);
        mark(ff, f, field_of(child, "name"), "", all);
        if (is_field)
            mark(ff, f, field_of(child, "name"), ".", all);
    }
}

/* Whether an expression begins with what may be missing, as one does that matches everywhere: [^#]*, \s* */
static bool matches_all(const myth_flow *f, TSNode arguments)
{
    const TSNode text = ts_node_named_child(arguments, 0);
    if (is_null(text) || role_of(f, text) != MYTH_ROLE_TEXT)
        return false;
    uint32_t at = ts_node_start_byte(text);
    const uint32_t end = ts_node_end_byte(text) < f->n_text ? ts_node_end_byte(text) : f->n_text;
    while (at < end && f->text[at] && strchr("rRbBuU\"'^(", f->text[at]))
        at++;
    if (at < end && f->text[at] == '[')
        while (at < end && f->text[at] != ']')
            at++;
    else if (at < end && f->text[at] == '\\')
        at++;
    return at + 1 < end && (f->text[at + 1] == '*' || f->text[at + 1] == '?');
}

/* What an assignment says about a name: a pattern of Python, a list of numbers of TypeScript, no function. */
static void mark_assignment(myth_file_facts *ff, const myth_flow *f, TSNode node)
{
    char text[MYTH_HABIT_TEXT];
    TSNode left = field_of(node, "left"), right = field_of(node, "right");
    if (is_null(left)) {
        left = field_of(node, "name");
        right = field_of(node, "value");
    }
    if (is_null(left) || is_null(right) ||
        !(role_of(f, left) == MYTH_ROLE_NAME || role_of(f, left) == MYTH_ROLE_MEMBER))
        return;
    const bool is_pattern = is_type(right, "call") &&
                            myth_habit_text(f, field_of(right, "function"), text, sizeof(text)) &&
                            strcmp(text, "re.compile") == 0 && !matches_all(f, field_of(right, "arguments"));
    const bool is_function = role_of(f, right) == MYTH_ROLE_FUNCTION;
    mark(ff, f, left, "", (is_pattern ? MYTH_MARK_PATTERN : MYTH_MARK_VALUE) | (is_function ? 0 : MYTH_MARK_SYNC));
}

static void mark_awaited(myth_file_facts *ff, const myth_flow *f, TSNode node)
{
    const TSNode call = ts_node_named_child(node, 0);
    if (!is_null(call) && is_call(call))
        mark(ff, f, field_of(call, "function"), "", MYTH_MARK_AWAITED);
}

/* number[] */
static void mark_typed(myth_file_facts *ff, const myth_flow *f, TSNode node)
{
    char text[MYTH_HABIT_TEXT];
    TSNode name = field_of(node, "name");
    if (is_null(name))
        name = field_of(node, "pattern");
    if (is_null(name) || !myth_habit_text(f, field_of(node, "type"), text, sizeof(text)))
        return;
    const bool is_numbers = strcmp(text, ":number[]") == 0 || strcmp(text, ":Array<number>") == 0;
    mark(ff, f, name, "", is_numbers ? MYTH_MARK_NUMBERS : MYTH_MARK_OTHER);
}

static void mark_node(myth_file_facts *ff, const myth_flow *f, TSNode node)
{
    const char *type = ts_node_type(node);
    if (language_now == LANGUAGE_JAVA) {
        if (strcmp(type, "method_declaration") == 0 || strcmp(type, "field_declaration") == 0 ||
            strcmp(type, "local_variable_declaration") == 0 || strcmp(type, "formal_parameter") == 0 ||
            strcmp(type, "enhanced_for_statement") == 0)
            mark_declaration(ff, f, node);
        return;
    }
    if (role_of(f, node) == MYTH_ROLE_FUNCTION || strcmp(type, "method_signature") == 0 ||
        strcmp(type, "abstract_method_signature") == 0) {
        const TSNode name = field_of(node, "name");
        if (!is_null(name))
            mark_function(ff, f, node, name);
    }
    if (strcmp(type, "assignment") == 0 || strcmp(type, "assignment_expression") == 0)
        mark_assignment(ff, f, node);
    else if (strcmp(type, "await") == 0 || strcmp(type, "await_expression") == 0)
        mark_awaited(ff, f, node);
    else if (strcmp(type, "import_specifier") == 0 || strcmp(type, "aliased_import") == 0)
        mark(ff, f, field_of(node, "alias"), "", MYTH_MARK_SYNC);
    if (strcmp(type, "variable_declarator") == 0 || strcmp(type, "pair") == 0 || strstr(type, "field_definition"))
        mark_value(ff, f, node);
    if (strcmp(type, "variable_declarator") == 0) {
        mark_assignment(ff, f, node);
        mark_typed(ff, f, node);
    } else if (strcmp(type, "required_parameter") == 0 || strcmp(type, "public_field_definition") == 0)
        mark_typed(ff, f, node);
}

void myth_facts_habits_file(myth_file_facts *ff, const myth_roles *roles, const char *text, uint32_t n, TSNode root)
{
    const myth_flow f = {.roles = roles, .text = text, .n_text = n, .names = (char *)(uintptr_t) ""};
    set_language(root);
    if (language_now == LANGUAGE_OTHER || language_now == LANGUAGE_RUST)
        return; /* no name of them is asked for */
    if (language_now != LANGUAGE_SCRIPT)
        myth_habit_shared_file(roles, text, n, root, language_now == LANGUAGE_CPP);
    if (language_now == LANGUAGE_GO || language_now == LANGUAGE_CPP)
        return; /* no name of them is asked for */
    TSTreeCursor c = ts_tree_cursor_new(root);
    for (bool is_more = ts_tree_cursor_goto_first_child(&c); is_more && !ff->is_failed;) {
        mark_node(ff, &f, ts_tree_cursor_current_node(&c));
        if (ts_tree_cursor_goto_first_child(&c))
            continue;
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
}

/* ---- a function ---- */

static bool on_node(myth_flow *f, TSNode node, const myth_around *around)
{
    if (f->is_failed)
        return false;
    myth_habit_lost(f, node, around, language_now == LANGUAGE_CPP, language_now == LANGUAGE_RUST);
    switch (role_of(f, node)) {
    case MYTH_ROLE_FUNCTION:
        if (f->is_file)
            return false; /* it is a flow of its own */
        myth_habit_default(f, node);
        break;
    case MYTH_ROLE_CALL:
        myth_habit_await_call(f, node, around);
        myth_habit_call(f, node, around);
        break;
    case MYTH_ROLE_NEW: myth_habit_call(f, node, around); break;
    case MYTH_ROLE_RETURN: myth_habit_await_return(f, node, around); break;
    case MYTH_ROLE_LOOP:
    case MYTH_ROLE_FOR_EACH: myth_habit_loop(f, node); break;
    case MYTH_ROLE_SWITCH: myth_habit_switch(f, node); break;
    case MYTH_ROLE_BLOCK: myth_habit_locked(f, node); break;
    case MYTH_ROLE_MEMBER: myth_habit_member(f, node); break;
    case MYTH_ROLE_BINARY: myth_habit_binary(f, node, around); break;
    default: break;
    }
    return true;
}

void myth_facts_habits(const myth_file_facts *ff, myth_flow *f, TSNode function, TSNode root)
{
    f->now_scope = f->now_test = 0;
    file_now = ff;
    function_now = function;
    set_language(root);
    if (!f->is_file)
        myth_habit_default(f, function);
    myth_flow_each_node(f, function, on_node);
    if (language_now != LANGUAGE_SCRIPT && language_now != LANGUAGE_OTHER && language_now != LANGUAGE_RUST)
        myth_habit_shared(f);
    file_now = NULL;
}
