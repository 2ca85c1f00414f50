/* shown_loop.c - loops that go behind the last element, or release what their step still reads (shown.c). */
#include "shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a loop counts, and up to where. */
typedef struct {
    TSNode body, at;             /* at: what a finding is at */
    char index[MYTH_HABIT_TEXT]; /* i */
    char bound[MYTH_HABIT_TEXT]; /* N of i <= N */
    bool is_less;                /* i < N */
} counting;

/* ---- what is chosen by the loop's variable ---- */

static TSNode base_of_element(const myth_flow *f, TSNode node, const char *index)
{
    TSNode of = {0}, by = {0}, method, arguments;
    char text[MYTH_HABIT_TEXT];
    if (is_type(node, "subscript_expression")) {
        of = field_of(node, "argument");
        of = is_null(of) ? field_of(node, "object") : of;
        by = field_of(node, "index");
        if (is_null(by))
            by = index_of(f, node);
    } else if (is_type(node, "array_access")) {
        of = field_of(node, "array");
        by = field_of(node, "index");
    } else if (is_type(node, "index_expression")) { /* Go; Rust has no names for them */
        of = field_of(node, "operand");
        by = field_of(node, "index");
        if (is_null(of) && ts_node_named_child_count(node) == 2) {
            of = ts_node_named_child(node, 0);
            by = ts_node_named_child(node, 1);
        }
    } else if (is_type(node, "subscript")) {
        of = field_of(node, "value");
        by = ts_node_named_child_count(node) == 2 ? ts_node_named_child(node, 1) : by;
    } else if (is_type(node, "method_invocation")) {
        of = myth_habit_receiver(node, &method, &arguments);
        const bool is_get = !is_null(of) && myth_habit_text(f, method, text, sizeof(text)) &&
                            (strcmp(text, "get") == 0 || strcmp(text, "charAt") == 0);
        by = is_get && ts_node_named_child_count(arguments) == 1 ? ts_node_named_child(arguments, 0) : by;
    }
    return !is_null(of) && !is_null(by) && myth_flow_text_is(f, by, index) ? of : (TSNode){0};
}

/* Whether what stands in a node compares the index, or gives it another value: the last round may be another one. */
static bool is_guarded(const myth_flow *f, TSNode node, const char *index, int deep)
{
    static const char *const operators[] = {"<",  ">",  "<=", ">=", "==", "!=", "===", "!==", "=",
                                            "+=", "-=", "is", "in", "*=", "/=", "%",   "&&",  "||"};
    if (deep > MYTH_SHOWN_DEEP)
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (myth_flow_text_is(f, child, index))
            for (size_t o = 0; o < N_OF(operators); o++)
                if (myth_flow_is_operator(f, node, operators[o]))
                    return true;
        if (is_type(node, "update_expression") && myth_flow_text_is(f, child, index))
            return true;
        if (is_guarded(f, child, index, deep + 1))
            return true;
    }
    return false;
}

/* ---- how many elements an array has ---- */

/* Whether a function declares a name. */
static bool is_declared_in(const myth_flow *f, TSNode node, const char *name, int deep)
{
    static const char *const types[] = {"declaration", "init_declarator", "pointer_declarator", "array_declarator",
                                        "parameter_declaration"};
    if (deep > MYTH_SHOWN_DEEP)
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (is_type(child, "identifier") && myth_flow_text_is(f, child, name) &&
            myth_flow_is_one_of(ts_node_type(node), types, N_OF(types)))
            return true;
        if (is_declared_in(f, child, name, deep + 1))
            return true;
    }
    return false;
}

typedef struct {
    const char *name;
    char size[MYTH_HABIT_TEXT];
    bool is_found, is_mixed; /* mixed: arrays of that name have several sizes, or one that is not written */
} sized;

static void find_size(const myth_flow *f, TSNode node, sized *out, int deep)
{
    if (deep > MYTH_SHOWN_DEEP)
        return;
    if (is_type(node, "array_declarator")) {
        char text[MYTH_HABIT_TEXT];
        const TSNode of = field_of(node, "declarator"), size = field_of(node, "size");
        if (!is_null(of) && myth_flow_text_is(f, of, out->name)) {
            const bool is_written = !is_null(size) && myth_habit_text(f, size, text, sizeof(text));
            out->is_mixed |= !is_written || (out->is_found && strcmp(text, out->size) != 0);
            out->is_found = true;
            snprintf(out->size, sizeof(out->size), "%s", is_written ? text : "");
        }
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        find_size(f, ts_node_named_child(node, i), out, deep + 1);
}

/* The size of an array that is seen from the loop: of the function's own where it declares the name, else of the
 * file's; of a member those of all structs. False = there is none, or there are several. */
static bool size_seen(const myth_flow *f, TSNode root, const char *array, sized *out)
{
    const bool is_member = strcmp(out->name, array) != 0;
    TSNode function = {0};
    for (uint32_t i = 0; i < ts_node_named_child_count(root); i++) {
        const TSNode child = ts_node_named_child(root, i);
        if (ts_node_start_byte(child) <= f->off && f->off < ts_node_end_byte(child))
            function = child;
    }
    myth_mention m;
    if (is_member || is_null(function)) {
        find_size(f, root, out, 0);
        return out->is_found && !out->is_mixed;
    }
    if (!is_declared_in(f, function, out->name, 0)) {
        for (uint32_t i = 0; i < ts_node_named_child_count(root); i++)
            if (is_type(ts_node_named_child(root, i), "declaration"))
                find_size(f, ts_node_named_child(root, i), out, 0);
    } else if (myth_shown_mention(f, function, out->name, 0, &m) && is_type(m.up, "array_declarator"))
        find_size(f, function, out, 0);
    return out->is_found && !out->is_mixed;
}

static bool number_of(const char *text, long *out)
{
    char *end;
    *out = strtol(text, &end, 0);
    return end != text && (*end == '\0' || strcmp(end, "u") == 0 || strcmp(end, "U") == 0);
}

/* Whether a bound of C is the number of an array's elements, or more. */
static bool is_size_of(const myth_flow *f, const counting *c, const char *array, TSNode root)
{
    char want[2 * MYTH_HABIT_TEXT];
    static const char *const counts[] = {"ARRAY_SIZE", "G_N_ELEMENTS", "countof", "_countof",
                                         "ARRAYSIZE",  "N_ELEMENTS",   "NELEMS"};
    snprintf(want, sizeof(want), "sizeof(%s)/sizeof(", array);
    const char *bound = c->bound[0] == '(' ? c->bound + 1 : c->bound;
    if (!c->is_less && strncmp(bound, want, strlen(want)) == 0)
        return bound[strlen(bound) - 2] != '-' && strstr(bound, ")-") == NULL;
    for (size_t i = 0; i < N_OF(counts) && !c->is_less; i++) {
        snprintf(want, sizeof(want), "%s(%s)", counts[i], array);
        if (strcmp(c->bound, want) == 0)
            return true;
    }
    long bound_n, size_n;
    sized s = {.name = myth_flow_last_word(array)};
    if (!size_seen(f, root, array, &s))
        return false;
    if (number_of(c->bound, &bound_n) && number_of(s.size, &size_n))
        return c->is_less ? bound_n > size_n : bound_n >= size_n;
    return !c->is_less && strcmp(c->bound, s.size) == 0;
}

static bool has_type(myth_flow *f, TSNode of, const char *const *words, size_t n)
{
    const uint32_t path = myth_flow_path(f, of);
    for (size_t i = 0; path && f->path[path].type_end > 0 && i < n; i++)
        if (myth_habit_has_text(f, f->path[path].type_off, f->path[path].type_end, words[i]))
            return true;
    return false;
}

/* Whether the loop's bound is the number of elements of what stands in its body. */
static bool is_count_of(myth_flow *f, const counting *c, TSNode of, TSNode root)
{
    static const char *const lengths[] = {"%s.length", "%s.length()", "%s.size()", "%s.len()", "len(%s)"};
    static const char *const vectors[] = {"vector", "deque", "array<"}, *const slices[] = {"[]"};
    char array[MYTH_HABIT_TEXT], want[3 * MYTH_HABIT_TEXT];
    if (!myth_habit_text(f, of, array, sizeof(array)) || strchr(array, '('))
        return false;
    bool is_length = false;
    for (size_t i = 0; i < N_OF(lengths) && !is_length && !c->is_less; i++) {
        const char *at = strstr(lengths[i], "%s");
        snprintf(want, sizeof(want), "%.*s%s%s", (int)(at - lengths[i]), lengths[i], array, at + 2);
        is_length = strcmp(c->bound, want) == 0;
    }
    snprintf(want, sizeof(want), "%s[%s++]", array, c->bound);
    if (!c->is_less && myth_habit_has_text(f, 0, f->n_text, want))
        return true; /* the bound counts what the array got: notes[n_notes++] = note */
    if (myth_habit_is_go())
        return is_length && has_type(f, of, slices, N_OF(slices));
    if (myth_habit_is_java() || myth_habit_is_script() || myth_habit_is_python())
        return is_length;
    if (is_length) /* Rust, and a vector of C++: behind the end of a string is a zero */
        return strstr(c->bound, ".len()") || has_type(f, of, vectors, N_OF(vectors));
    return is_size_of(f, c, array, root);
}

static TSNode element_behind(myth_flow *f, const counting *c, TSNode node, TSNode root, int deep)
{
    if (deep > MYTH_SHOWN_DEEP)
        return (TSNode){0};
    const TSNode of = base_of_element(f, node, c->index);
    if (!is_null(of) && is_count_of(f, c, of, root))
        return of;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode found = element_behind(f, c, ts_node_named_child(node, i), root, deep + 1);
        if (!is_null(found))
            return found;
    }
    return (TSNode){0};
}

/* ---- the forms of loops ---- */

/* for (i = 0; i <= n; i++) */
static bool counts_up(myth_flow *f, TSNode loop, counting *c)
{
    char next[MYTH_HABIT_TEXT], want[2 * MYTH_HABIT_TEXT];
    myth_test_kind how;
    TSNode clause = loop;
    for (uint32_t i = 0; i < ts_node_named_child_count(loop); i++)
        if (is_type(ts_node_named_child(loop, i), "for_clause"))
            clause = ts_node_named_child(loop, i);
    TSNode cond = field_of(clause, "condition"), update = field_of(clause, "update");
    update = is_null(update) ? field_of(clause, "increment") : update;
    if (is_null(cond) || is_null(update))
        return false;
    if (is_type(cond, "expression_statement") && ts_node_named_child_count(cond) == 1)
        cond = ts_node_named_child(cond, 0);
    cond = myth_flow_inner(f, cond);
    const TSNode left = field_of(cond, "left"), right = field_of(cond, "right");
    if (!is_type(cond, "binary_expression") || !myth_flow_comparison(f, cond, &how) || is_null(left) ||
        !is_type(left, "identifier") || !(how == MYTH_TEST_AT_MOST || how == MYTH_TEST_LESS) ||
        !myth_habit_text(f, left, c->index, sizeof(c->index)) ||
        !myth_habit_text(f, right, c->bound, sizeof(c->bound)) || !myth_habit_text(f, update, next, sizeof(next)))
        return false;
    snprintf(want, sizeof(want), "%s++", c->index);
    const bool is_behind = strcmp(next, want) == 0;
    snprintf(want, sizeof(want), "++%s", c->index);
    const bool is_before = strcmp(next, want) == 0;
    snprintf(want, sizeof(want), "%s+=1", c->index);
    c->is_less = how == MYTH_TEST_LESS;
    c->at = cond;
    return is_behind || is_before || strcmp(next, want) == 0;
}

/* for i in range(len(a) + 1), and for i in 0..=a.len() */
static bool counts_over(const myth_flow *f, TSNode loop, counting *c)
{
    TSNode by = field_of(loop, "left"), over = field_of(loop, "right");
    char text[MYTH_HABIT_TEXT];
    if (is_null(by)) {
        by = field_of(loop, "pattern");
        over = field_of(loop, "value");
    }
    if (is_null(by) || is_null(over) || !is_type(by, "identifier") ||
        !myth_habit_text(f, by, c->index, sizeof(c->index)))
        return false;
    c->at = over;
    if (is_type(over, "range_expression")) {
        const char *dots = myth_habit_text(f, over, text, sizeof(text)) ? strstr(text, "..=") : NULL;
        snprintf(c->bound, sizeof(c->bound), "%s", dots ? dots + 3 : "");
        return dots != NULL;
    }
    const TSNode arguments = field_of(over, "arguments");
    const uint32_t n = is_type(over, "call") ? ts_node_named_child_count(arguments) : 0;
    if (n < 1 || n > 2 || !myth_flow_text_is(f, field_of(over, "function"), "range") ||
        !myth_habit_text(f, ts_node_named_child(arguments, n - 1), c->bound, sizeof(c->bound)))
        return false;
    const size_t end = strlen(c->bound);
    if (end < 3 || strcmp(c->bound + end - 2, "+1") != 0)
        return false;
    c->bound[end - 2] = '\0';
    return true;
}

/* ---- for (p = head; p; p = p->next) free(p); ---- */

/* Whether a statement releases the variable and goes on to the loop's step. */
static bool releases(const myth_flow *f, TSNode node, const char *name, int deep)
{
    const TSNode of = myth_shown_released(f, node);
    if (deep > MYTH_SHOWN_DEEP)
        return false;
    if (!is_null(of))
        return myth_flow_text_is(f, of, name);
    const myth_role role = role_of(f, node);
    if (role == MYTH_ROLE_IF) {
        const TSNode then = child_of(f, node, MYTH_SLOT_THEN), other = child_of(f, node, MYTH_SLOT_ELSE);
        return (!is_null(then) && releases(f, then, name, deep + 1)) ||
               (!is_null(other) && releases(f, other, name, deep + 1));
    }
    if (role != MYTH_ROLE_BLOCK && !is_type(node, "else_clause"))
        return false;
    bool is_released = false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        is_released = (is_released && !myth_shown_leaves(f, child)) || releases(f, child, name, deep + 1);
    }
    return is_released;
}

static bool is_changed(const myth_flow *f, TSNode body, const char *name)
{
    myth_mention m;
    for (uint32_t from = 0; myth_shown_mention(f, body, name, from, &m); from = ts_node_end_byte(m.node)) {
        if (is_type(m.up, "assignment_expression") && ts_node_eq(field_of(m.up, "left"), m.node))
            return true;
        if (is_type(m.up, "update_expression") || is_type(m.up, "init_declarator") ||
            (is_type(m.up, "pointer_expression") && myth_flow_first_byte(f, m.up) == '&'))
            return true;
    }
    return false;
}

static void step_reads(myth_flow *f, TSNode loop)
{
    char name[MYTH_HABIT_TEXT];
    const TSNode update = field_of(loop, "update"), body = field_of(loop, "body");
    if (is_null(update) || is_null(body) || !is_type(update, "assignment_expression"))
        return;
    const TSNode left = field_of(update, "left"), right = field_of(update, "right");
    if (!is_type(left, "identifier") || !is_type(right, "field_expression") ||
        !myth_habit_text(f, left, name, sizeof(name)) || !myth_flow_text_is(f, field_of(right, "argument"), name))
        return;
    if (releases(f, body, name, 0) && !is_changed(f, body, name))
        myth_shown_put(f, MYTH_SHOWN_STEP, right, left, line_of(body));
}

void myth_shown_loop(myth_flow *f, TSNode loop, TSNode root)
{
    counting c = {.body = field_of(loop, "body")};
    if (is_null(c.body))
        return;
    const bool is_script = myth_habit_is_script() || myth_habit_is_java() || myth_habit_is_go();
    if (is_type(loop, "for_statement") && !is_script && !myth_habit_is_python())
        step_reads(f, loop);
    if (!counts_up(f, loop, &c) && !counts_over(f, loop, &c))
        return;
    if (is_guarded(f, c.body, c.index, 0))
        return;
    const TSNode of = element_behind(f, &c, c.body, root, 0);
    if (!is_null(of))
        myth_shown_put(f, MYTH_SHOWN_BEHIND, c.at, of, 0);
}
