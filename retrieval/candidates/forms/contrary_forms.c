/* contrary_forms.c - branches, assignments, loops and sizes that contradict themselves (contrary.c). */
#include "contrary.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_whole_word(const myth_flow *f, TSNode node, const char *text)
{
    const size_t n = strlen(text);
    for (uint32_t i = ts_node_start_byte(node); i + n <= ts_node_end_byte(node) && i + n <= f->n_text; i++) {
        const char before = i > 0 ? f->text[i - 1] : ' ', after = i + n < f->n_text ? f->text[i + n] : ' ';
        if (memcmp(f->text + i, text, n) == 0 && !myth_is_word(before) && !myth_is_word(after))
            return true;
    }
    return false;
}

/* ---- branches ---- */

/* The `if` that an else consists of; null = none. */
static TSNode next_if(const myth_flow *f, TSNode other)
{
    if (role_of(f, other) == MYTH_ROLE_IF)
        return other;
    const TSNode in = ts_node_named_child_count(other) == 1 ? ts_node_named_child(other, 0) : (TSNode){0};
    return !is_null(in) && role_of(f, in) == MYTH_ROLE_IF ? in : (TSNode){0};
}

/* The conditions of a chain of if and else if with the branch behind each, and the last branch where it has no
 * condition. */
static void conditions(const myth_flow *f, TSNode node, myth_parts *out, myth_parts *then, TSNode *last, int deep)
{
    const TSNode cond = child_of(f, node, MYTH_SLOT_CONDITION);
    if (is_null(cond) || out->n == MYTH_PARTS || deep > MYTH_CODE_DEEPEST ||
        !is_null(child_of(f, node, MYTH_SLOT_FIRST)))
        return;
    then->node[then->n++] = child_of(f, node, MYTH_SLOT_THEN);
    out->node[out->n++] = myth_flow_inner(f, cond);
    TSTreeCursor c = ts_tree_cursor_new(node);
    if (ts_tree_cursor_goto_first_child(&c))
        do {
            if (!myth_roles_is_slot(f->roles, ts_tree_cursor_current_field_id(&c), MYTH_SLOT_ELSE))
                continue;
            const TSNode child = ts_tree_cursor_current_node(&c), next = next_if(f, child);
            if (is_null(next))
                *last = child;
            else
                conditions(f, next, out, then, last, deep + 1);
        } while (ts_tree_cursor_goto_next_sibling(&c));
    ts_tree_cursor_delete(&c);
}

/* Whether the preprocessor chooses between what stands there: a line #if, #else, #elif or #endif. */
static bool has_directive(const myth_flow *f, uint32_t from, uint32_t to)
{
    const char *const end = f->text + (to < f->n_text ? to : f->n_text), *p = f->text + from;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL)
        if (myth_flow_is_directive(++p, end, "if") || myth_flow_is_directive(p, end, "el") ||
            myth_flow_is_directive(p, end, "en"))
            return true;
    return false;
}

/* Whether a chain has a part that is the same as a whole condition. */
static bool has_part(myth_flow *f, TSNode node, myth_chain of, TSNode whole)
{
    myth_parts p;
    if (myth_code_chain(f, node) != of)
        return false;
    myth_code_parts(f, node, of, &p);
    for (uint32_t i = 0; i < p.n; i++)
        if (myth_code_is_same(f, p.node[i], whole))
            return true;
    return false;
}

/* The block of an else, without the word. */
static TSNode block_of(const myth_flow *f, TSNode other)
{
    const bool is_clause = role_of(f, other) == MYTH_ROLE_NONE && ts_node_named_child_count(other) == 1;
    return is_clause ? ts_node_named_child(other, 0) : other;
}

/* Whether one of the conditions first + 1 .. last, which are tried after the first, gives a variable of the first
 * another value: it takes the address (&x), or is an assignment. */
static bool is_changed_between(const myth_flow *f, const myth_parts *p, uint32_t first, uint32_t last)
{
    const TSNode a = p->node[first];
    for (uint32_t i = ts_node_start_byte(a), n; i < ts_node_end_byte(a); i += n ? n : 1) {
        char name[64];
        n = 0;
        while (myth_is_word(f->text[i + n]))
            n++;
        if (n == 0 || n > 60 || isdigit((unsigned char)f->text[i]) || f->text[i + n] == '(')
            continue;
        snprintf(name, sizeof(name), "&%.*s", (int)n, f->text + i);
        for (uint32_t c = first + 1; c <= last; c++) {
            const char *const end = f->text + ts_node_end_byte(p->node[c]);
            for (const char *at = f->text + ts_node_start_byte(p->node[c]); at + n + 2 < end; at++) {
                const bool is_address = at[0] == '&' && at[-1] != '&' && memcmp(at, name, n + 1) == 0;
                const char *behind = at + n;
                behind += *behind == ' ';
                const bool is_set = memcmp(at, name + 1, n) == 0 && behind[0] == '=' && behind[1] != '=';
                if ((is_address && !myth_is_word(at[n + 1])) || (is_set && !myth_is_word(at[-1])))
                    return true;
            }
        }
    }
    return false;
}

/* Whether a branch consists of nothing but a word that leaves, or that does nothing. */
static bool only_leaves(const myth_flow *f, TSNode then)
{
    if (!is_null(then) && role_of(f, then) == MYTH_ROLE_BLOCK)
        then = ts_node_named_child_count(then) == 1 ? ts_node_named_child(then, 0) : (TSNode){0};
    if (is_null(then) || ts_node_named_child_count(then) > 0)
        return false;
    const myth_role role = role_of(f, then);
    return role == MYTH_ROLE_RETURN || role == MYTH_ROLE_LEAVE || strcmp(ts_node_type(then), "pass_statement") == 0;
}

/* Whether a comment between two branches, or in the second, says that it does the same as the first. */
static bool is_same_on_purpose(const myth_flow *f, TSNode then, TSNode other)
{
    enum { LONGEST_COMMENT = 200 };
    static const char *const begin[] = {"//", "/*", "#"};
    static const char *const purpose[] = {"same",    "still",     "for now", "just",   "intention",
                                          "purpose", "deliberat", "either",  "anyway", "regardless"};
    const uint32_t from = ts_node_end_byte(then);
    uint32_t end = ts_node_end_byte(other);
    while (end < f->n_text && f->text[end] != '\n')
        end++;
    for (uint32_t i = from; i < end; i++)
        for (size_t b = 0; b < sizeof(begin) / sizeof(*begin); b++) {
            const size_t n = strlen(begin[b]);
            if (i + n > end || memcmp(f->text + i, begin[b], n) != 0)
                continue;
            char comment[LONGEST_COMMENT];
            uint32_t m = 0;
            while (i + m < end && f->text[i + m] != '\n' && m + 1 < sizeof(comment)) {
                comment[m] = (char)tolower((unsigned char)f->text[i + m]);
                m++;
            }
            comment[m] = '\0';
            if (myth_flow_has_one_of(comment, purpose, sizeof(purpose) / sizeof(*purpose)))
                return true;
        }
    return false;
}

/* Whether a comment stands in a branch, or behind it in its last line. */
static bool has_comment(const myth_flow *f, TSNode node, uint32_t depth)
{
    enum { DEEPEST = 4 };
    static const char *const begin[] = {"//", "/*", "#"};
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (strstr(ts_node_type(child), "comment") || (depth < DEEPEST && has_comment(f, child, depth + 1)))
            return true;
    }
    uint32_t at = ts_node_end_byte(node);
    while (depth == 0 && at < f->n_text && (f->text[at] == ' ' || f->text[at] == '\t'))
        at++;
    for (size_t b = 0; depth == 0 && b < sizeof(begin) / sizeof(*begin); b++)
        if (at + 2 < f->n_text && memcmp(f->text + at, begin[b], strlen(begin[b])) == 0)
            return true;
    return false;
}

/* Whether each of two short branches says in a comment what it is for. */
static bool is_told_apart(const myth_flow *f, TSNode then, TSNode other)
{
    enum { LINES = 8 };
    const TSNode both[] = {then, other};
    for (size_t i = 0; i < 2; i++)
        if (ts_node_end_point(both[i]).row - ts_node_start_point(both[i]).row >= LINES || !has_comment(f, both[i], 0))
            return false;
    return true;
}

/* Whether a branch that is never taken is the one that is taken instead: if (a || b) the same else if (b) the same, and
 * if (a) the same else if (a && b) the same. Where both ask for just the same, something else was meant. */
static bool is_taken_instead(myth_flow *f, const myth_parts *cond, const myth_parts *then, uint32_t i, uint32_t j)
{
    return !is_null(then->node[i]) && !is_null(then->node[j]) && !myth_code_same(f, cond->node[i], cond->node[j]) &&
           myth_code_same(f, then->node[i], then->node[j]);
}

void myth_contrary_if(myth_flow *f, TSNode node, const myth_around *around)
{
    enum { FEW_LETTERS = 8 };
    myth_parts p = {.n = 0}, branch = {.n = 0};
    TSNode last = {0};
    const TSNode up = around_at(around, 0), then = child_of(f, node, MYTH_SLOT_THEN);
    const bool is_else =
        !is_null(up) && (strcmp(ts_node_type(up), "else_clause") == 0 ||
                         (role_of(f, up) == MYTH_ROLE_IF && !ts_node_eq(child_of(f, up, MYTH_SLOT_THEN), node)));
    if (is_else)
        return;
    conditions(f, node, &p, &branch, &last, 0);
    for (uint32_t j = 1; j < p.n; j++)
        for (uint32_t i = 0; i < j; i++) {
            const TSNode a = p.node[i], b = p.node[j];
            if (myth_code_is_constant(f, b) ||
                !(myth_code_is_same(f, a, b) || has_part(f, b, MYTH_CHAIN_AND, a) ||
                  has_part(f, a, MYTH_CHAIN_OR, b)) ||
                has_directive(f, ts_node_end_byte(a), ts_node_start_byte(b)) || is_changed_between(f, &p, i, j) ||
                only_leaves(f, branch.node[j]) || is_taken_instead(f, &p, &branch, i, j))
                continue;
            const bool is_part = has_part(f, a, MYTH_CHAIN_OR, b) && !myth_code_is_same(f, a, b);
            myth_contrary_put(f, is_part ? MYTH_CONTRARY_AGAIN_PART : MYTH_CONTRARY_AGAIN, b, b, myth_code_line(a));
            i = j;
        }
    if (p.n == 1 && !is_null(last) && !is_null(then)) {
        const TSNode other = block_of(f, last);
        if (myth_code_letters(f, then) >= FEW_LETTERS && myth_code_same(f, then, other) &&
            !has_directive(f, ts_node_start_byte(then), ts_node_end_byte(other)) && !is_told_apart(f, then, other) &&
            !is_same_on_purpose(f, then, other))
            myth_contrary_put(f, MYTH_CONTRARY_BRANCHES, node, p.node[0], myth_code_line(other));
    }
}

/* Whether a choice is what a function gives that a hook of React calls again where one of a list changes, and its
 * condition has one of that list, as lint asks for: useMemo(() => a ? f() : f(), [a]). */
static bool is_for_hook(const myth_flow *f, TSNode node, TSNode cond)
{
    char word[MYTH_FLOW_PATH_BYTES];
    TSNode up = ts_node_parent(node);
    for (int i = 0; i < 4 && !is_null(up) && role_of(f, up) != MYTH_ROLE_FUNCTION; i++)
        up = ts_node_parent(up); /* brackets, return */
    const TSNode list = is_null(up) || role_of(f, up) != MYTH_ROLE_FUNCTION ? (TSNode){0} : ts_node_parent(up);
    const TSNode call =
        is_null(list) || strcmp(ts_node_type(list), "arguments") != 0 ? (TSNode){0} : ts_node_parent(list);
    const TSNode all = is_null(call) ? call : ts_node_named_child(list, 1);
    if (is_null(all) || strcmp(ts_node_type(all), "array") != 0 || !ts_node_eq(ts_node_named_child(list, 0), up))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(all) && i < 32; i++) {
        const TSNode one = ts_node_named_child(all, i);
        const uint32_t off = ts_node_start_byte(one), n = ts_node_end_byte(one) - off;
        if (n == 0 || n >= sizeof(word) || off + n > f->n_text)
            continue;
        memcpy(word, f->text + off, n);
        word[n] = '\0';
        if (has_whole_word(f, cond, word))
            return true;
    }
    return false;
}

void myth_contrary_choice(myth_flow *f, TSNode node)
{
    TSNode cond, then, other;
    myth_flow_choice_parts(f, node, &cond, &then, &other);
    if (!is_null(cond) && !is_null(then) && !is_null(other) && myth_code_letters(f, then) > 0 &&
        myth_code_same(f, then, other) && !is_for_hook(f, node, cond)) {
        const TSNode arm = myth_flow_inner(f, then);
        const bool is_literal =
            role_of(f, arm) == MYTH_ROLE_NOTHING || myth_flow_text_is(f, arm, "NULL") ||
            (role_of(f, arm) != MYTH_ROLE_NAME && role_of(f, arm) != MYTH_ROLE_MEMBER && myth_code_is_constant(f, arm));
        myth_contrary_put(f, is_literal ? MYTH_CONTRARY_LITERAL : MYTH_CONTRARY_BRANCHES, node, cond,
                          myth_code_line(other));
    }
}

/* ---- assignments ---- */

static bool is_parameter(const myth_flow *f, uint32_t path)
{
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind == MYTH_EVENT_DEFINE && e->value == MYTH_VALUE_PARAMETER && e->path == path)
            return true;
    }
    return false;
}

void myth_contrary_assignment(myth_flow *f, TSNode node)
{
    const TSNode a = child_of(f, node, MYTH_SLOT_LEFT), b = child_of(f, node, MYTH_SLOT_RIGHT);
    const TSNode op = child_of(f, node, MYTH_SLOT_OPERATOR);
    if (is_null(a) || is_null(b) || ts_node_has_error(node) || (!is_null(op) && !myth_flow_text_is(f, op, "=")) ||
        !myth_code_is_same(f, a, b))
        return;
    const TSNode up = ts_node_parent(node);
    const bool is_statement = strcmp(ts_node_type(node), "assignment_statement") == 0 ||
                              (!is_null(up) && role_of(f, up) == MYTH_ROLE_STATEMENT);
    if (!is_statement)
        return;
    const TSNode in = myth_flow_inner(f, a), base = role_of(f, in) == MYTH_ROLE_MEMBER ? base_of(f, in) : in;
    const bool is_plain = role_of(f, in) == MYTH_ROLE_NAME;
    const bool is_own =
        !ts_node_eq(base, in) && (myth_flow_text_is(f, base, "this") || myth_flow_text_is(f, base, "self"));
    if (!is_plain)
        myth_contrary_put(f, is_own ? MYTH_CONTRARY_ITSELF_OWN : MYTH_CONTRARY_ITSELF_OTHER, node, in, 0);
    else if (is_parameter(f, myth_flow_path(
                                 f, in))) /* another plain name is set to itself to please a compiler, or in a class */
        myth_contrary_put(f, MYTH_CONTRARY_ITSELF, node, in, 0);
}

/* if (a = 1), without brackets around that say that it is meant. */
void myth_contrary_condition(myth_flow *f, TSNode cond)
{
    const TSNode in = myth_flow_inner(f, cond);
    if (is_null(in) || role_of(f, in) != MYTH_ROLE_ASSIGN || strcmp(ts_node_type(in), "assignment_expression") != 0)
        return;
    const uint32_t off = ts_node_start_byte(in);
    for (uint32_t i = off, n = 0; i-- > ts_node_start_byte(cond);)
        if (f->text[i] == '(' && ++n == 2)
            return;
    const TSNode op = child_of(f, in, MYTH_SLOT_OPERATOR), value = child_of(f, in, MYTH_SLOT_RIGHT);
    if ((!is_null(op) && !myth_flow_text_is(f, op, "=")) || is_null(value))
        return;
    if (myth_code_is_constant(f, value) || role_of(f, value) == MYTH_ROLE_NOTHING ||
        myth_flow_text_is(f, value, "NULL"))
        myth_contrary_put(f, MYTH_CONTRARY_ASSIGNED, in, child_of(f, in, MYTH_SLOT_LEFT), 0);
}

/* A comparison that is a whole statement. */
void myth_contrary_statement(myth_flow *f, TSNode node)
{
    static const char *const equal[] = {"==", "==="};
    const TSNode in = ts_node_named_child_count(node) == 1 ? ts_node_named_child(node, 0) : (TSNode){0};
    if (is_null(in) || role_of(f, in) != MYTH_ROLE_BINARY ||
        !myth_code_has_operator(f, in, equal, sizeof(equal) / sizeof(*equal)))
        return;
    const TSNode around = ts_node_parent(node);
    if (is_null(around) || role_of(f, around) == MYTH_ROLE_CASE)
        return; /* Java: case -> a == b is a value */
    int i = 0;
    for (TSNode up = around; i < 4 && !is_null(up); i++, up = ts_node_parent(up))
        if (role_of(f, up) == MYTH_ROLE_WITH || role_of(f, up) == MYTH_ROLE_TRY || role_of(f, up) == MYTH_ROLE_FUNCTION)
            break; /* pytest.raises; the only statement of a function may be its value */
    const bool is_tried = i < 4 && ts_node_named_child_count(around) == 1;
    TSNode a, b;
    if (!is_tried && myth_code_operands(f, in, &a, &b))
        myth_contrary_put(f, MYTH_CONTRARY_DROPPED, in, a, 0);
}

/* ---- loops ---- */

typedef enum { STEP_NONE, STEP_UP, STEP_DOWN, STEP_OTHER } step;

/* What a loop does to a variable between its rounds. */
static step step_of(myth_flow *f, TSNode node, uint32_t *path)
{
    while (!is_null(node) && (role_of(f, node) == MYTH_ROLE_GROUP || role_of(f, node) == MYTH_ROLE_STATEMENT) &&
           ts_node_named_child_count(node) == 1)
        node = ts_node_named_child(node, 0);
    if (is_null(node) || role_of(f, node) != MYTH_ROLE_CHANGE)
        return STEP_NONE;
    const TSNode left = child_of(f, node, MYTH_SLOT_LEFT), base = is_null(left) ? base_of(f, node) : left;
    const TSNode right = child_of(f, node, MYTH_SLOT_RIGHT);
    *path = is_null(base) ? 0 : myth_flow_path(f, base);
    if (*path == 0)
        return STEP_NONE;
    if (!is_null(right) && role_of(f, right) != MYTH_ROLE_NUMBER)
        return STEP_OTHER;
    const uint32_t end = is_null(right) ? ts_node_end_byte(node) : ts_node_start_byte(right);
    for (uint32_t at = ts_node_start_byte(node); at + 1 < end; at++) {
        const char sign = f->text[at];
        if ((sign == '+' || sign == '-') && f->text[at + 1] == (is_null(right) ? sign : '='))
            return sign == '+' ? STEP_UP : STEP_DOWN;
    }
    return STEP_OTHER;
}

/* Whether something in a loop may give a variable another value. */
static bool is_changed_in(const myth_flow *f, uint32_t path, uint32_t off, uint32_t end)
{
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->off < off || e->end > end || !e->path || !myth_flow_is_part(f, e->path, path))
            continue;
        if (e->kind == MYTH_EVENT_DEFINE || e->kind == MYTH_EVENT_CALL || (e->kind == MYTH_EVENT_ARG && e->is_through))
            return true;
    }
    return false;
}

static bool mentions(const myth_flow *f, TSNode node, uint32_t path)
{
    return has_whole_word(f, node, f->names + f->path[path].text);
}

/* Java: for (...; ...; i++, j++) */
static bool has_two_steps(const myth_flow *f, TSNode head)
{
    uint32_t n = 0;
    TSTreeCursor c = ts_tree_cursor_new(head);
    if (ts_tree_cursor_goto_first_child(&c))
        do
            n += myth_roles_is_slot(f->roles, ts_tree_cursor_current_field_id(&c), MYTH_SLOT_NEXT);
        while (ts_tree_cursor_goto_next_sibling(&c));
    ts_tree_cursor_delete(&c);
    return n > 1;
}

void myth_contrary_loop(myth_flow *f, TSNode node)
{
    TSNode head = node, a, b;
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 2; i++)
        if (strcmp(ts_node_type(ts_node_named_child(node, i)), "for_clause") == 0)
            head = ts_node_named_child(node, i); /* Go */
    const TSNode whole = child_of(f, head, MYTH_SLOT_CONDITION), next = child_of(f, head, MYTH_SLOT_NEXT);
    const TSNode body = child_of(f, node, MYTH_SLOT_BODY), first = child_of(f, head, MYTH_SLOT_FIRST);
    if (is_null(whole))
        return;
    myth_contrary_condition(f, whole);
    TSNode cond = myth_flow_inner(f, whole);
    if (!is_null(cond) && role_of(f, cond) == MYTH_ROLE_STATEMENT) /* JavaScript */
        cond = ts_node_named_child(cond, 0);
    if (is_null(next) || is_null(cond) || is_null(body) || role_of(f, cond) != MYTH_ROLE_BINARY ||
        !myth_code_operands(f, cond, &a, &b))
        return;
    uint32_t stepped = 0;
    const step way = has_two_steps(f, head) ? STEP_NONE : step_of(f, next, &stepped);
    const bool is_less = myth_flow_is_operator(f, cond, "<") || myth_flow_is_operator(f, cond, "<=");
    const bool is_more = myth_flow_is_operator(f, cond, ">") || myth_flow_is_operator(f, cond, ">=");
    const uint32_t left = myth_flow_path(f, a), right = myth_flow_path(f, b);
    if (way == STEP_NONE || (!is_less && !is_more))
        return;
    const uint32_t body_off = ts_node_start_byte(body), body_end = ts_node_end_byte(body);
    if (stepped == left || stepped == right) {
        const bool is_up = (is_less && stepped == left) || (is_more && stepped == right);
        if (left != right && (way == STEP_UP || way == STEP_DOWN) && (way == STEP_UP) != is_up &&
            !is_changed_in(f, stepped, body_off, body_end))
            myth_contrary_put(f, way == STEP_UP ? MYTH_CONTRARY_UP : MYTH_CONTRARY_DOWN, cond, stepped == left ? a : b,
                              0);
        return;
    }
    if (is_null(first) || !left || f->path[left].base || !mentions(f, first, left) || mentions(f, first, stepped) ||
        mentions(f, cond, stepped) || is_changed_in(f, left, body_off, body_end) ||
        (right && is_changed_in(f, right, body_off, body_end)))
        return;
    myth_contrary_put(f, MYTH_CONTRARY_VARIABLE, next, a, 0);
}

/* ---- sizes ---- */

/* Whether a variable is one pointer, and no array: of a parameter, an array is a pointer. */
static bool is_pointer(const myth_flow *f, uint32_t path)
{
    const myth_path *p = &f->path[path];
    if (!path || (!p->is_pointer && !p->is_array))
        return false;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_DEFINE || e->path != path)
            continue;
        uint32_t n_star = 0;
        const TSNode up = ts_node_parent(e->node), top = is_null(up) ? up : ts_node_parent(up);
        const TSNode from = is_null(top) ? e->node : top;
        for (uint32_t at = ts_node_start_byte(from); at < e->off; at++) {
            if (f->text[at] == '&' || f->text[at] == '(' || f->text[at] == ',')
                n_star = f->text[at] == '&' ? 8 : 0;
            n_star += f->text[at] == '*';
        }
        return p->is_array ? e->value == MYTH_VALUE_PARAMETER && n_star == 0 : n_star == 1;
    }
    return false;
}

/* How many letters a part of a text has that is taken by numbers: s[:7], s[-7:], s.slice(0, 7), s.substr(-7). -1 = it
 * is not known. */
static int part_length(const myth_flow *f, TSNode part)
{
    static const char *const way[] = {"[:",       "[0:",        "[-",        ".slice(0,",
                                      ".slice(-", ".substr(0,", ".substr(-", ".substring(0,"};
    char tight[80], want[80];
    const uint32_t end = ts_node_end_byte(part), off = ts_node_start_byte(part);
    uint32_t n = 0;
    if (end > f->n_text || end - off > 200)
        return -1;
    for (uint32_t i = end - off > sizeof(tight) - 1 ? end - (uint32_t)sizeof(tight) + 1 : off; i < end; i++)
        if (f->text[i] > ' ')
            tight[n++] = f->text[i];
    tight[n] = '\0';
    for (size_t w = 0; w < sizeof(way) / sizeof(*way); w++) {
        const char *at = NULL;
        for (const char *p = tight; (p = strstr(p, way[w])) != NULL; p++)
            at = p;
        if (!at)
            continue;
        const int length = (int)strtol(at + strlen(way[w]), NULL, 10);
        const char *close = strncmp(way[w], "[-", 2) == 0 ? ":]" : way[w][0] == '[' ? "]" : ")";
        snprintf(want, sizeof(want), "%s%d%s", way[w], length, close);
        if (length > 0 && strcmp(at, want) == 0)
            return length;
    }
    return -1;
}

/* How many letters a text has that is written there; -1 = it is not known. */
static int text_length(const myth_flow *f, TSNode text)
{
    const uint32_t off = ts_node_start_byte(text), end = ts_node_end_byte(text);
    if (end > f->n_text || end - off < 2 || !strchr("\"'", f->text[off]) || f->text[end - 1] != f->text[off])
        return -1;
    for (uint32_t i = off + 1; i + 1 < end; i++)
        if (f->text[i] == '\\' || f->text[i] == f->text[off] || (unsigned char)f->text[i] >= 0x80)
            return -1;
    return (int)(end - off) - 2;
}

void myth_contrary_part(myth_flow *f, TSNode node, TSNode part, TSNode text)
{
    const int m = text_length(f, text), n = m > 0 ? part_length(f, part) : -1;
    if (n > 0 && n != m)
        myth_contrary_put(f, MYTH_CONTRARY_PART_LENGTH, node, part, 0);
}

void myth_contrary_call(myth_flow *f, TSNode node)
{
    static const char *const fills[] = {"memset",      "memcpy",     "memmove",  "memcmp",     "bzero",
                                        "strncpy",     "strncmp",    "snprintf", "fgets",      "read",
                                        "recv",        "strlcpy",    "strncat",  "strlcat",    "vsnprintf",
                                        "strncasecmp", "RAND_bytes", "getcwd",   "gethostname"};
    const TSNode list = child_of(f, node, MYTH_SLOT_ARGUMENTS), base = child_of(f, node, MYTH_SLOT_BASE);
    if (!is_null(list) && !is_null(base) && ts_node_named_child_count(list) == 1 &&
        strcmp(myth_code_called(f, node), "equals") == 0 && role_of(f, ts_node_named_child(list, 0)) == MYTH_ROLE_TEXT)
        myth_contrary_part(f, node, base, ts_node_named_child(list, 0));
    if (is_null(list) || !myth_flow_is_one_of(myth_code_called(f, node), fills, sizeof(fills) / sizeof(*fills)))
        return;
    const uint32_t n = ts_node_named_child_count(list);
    for (uint32_t i = 0; i < n && i < 6; i++) {
        const TSNode size = ts_node_named_child(list, i);
        if (strcmp(ts_node_type(size), "sizeof_expression") != 0 || ts_node_named_child_count(size) != 1)
            continue;
        const TSNode of = myth_flow_inner(f, ts_node_named_child(size, 0));
        if (role_of(f, of) != MYTH_ROLE_NAME || !is_pointer(f, myth_flow_path(f, of)))
            continue;
        for (uint32_t j = 0; j < n && j < 6; j++)
            if (j != i && myth_code_same(f, myth_flow_inner(f, ts_node_named_child(list, j)), of)) {
                myth_contrary_put(f, MYTH_CONTRARY_POINTER_SIZE, node, of, 0);
                return;
            }
    }
}
