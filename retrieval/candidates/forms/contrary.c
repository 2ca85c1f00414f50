/* contrary.c - code that contradicts itself, whatever the values of its variables are: a comparison of a thing with
 * itself, a condition that was asked before, one that always or never holds, a loop that steps away from its end.
 *
 * Same   two pieces of code are the same when their words are, and neither changes anything: no assignment in them, and
 *        no call but of a function that is known to look only
 * Event  `how` is its kind (the values of the fact `contrary`), `path` what it is about, `call` the line of what it
 *        contradicts, 0 = none */
#include "contrary.h"
#include "retrieval/candidates/facts/facts_span.h"

#include "engine/base/chars.h"

#include <stdlib.h>
#include <string.h>

/* ---- operators ---- */

/* One part of a chain: what is compared, with what, and how. */
typedef struct {
    TSNode subject, constant;
    myth_test_kind how;
} atom;

static bool is_of_identity(const myth_flow *f, TSNode node)
{
    return myth_flow_is_operator(f, node, "is") || myth_flow_is_operator(f, node, "is not");
}

static bool is_comparison_of_texts(const char *name)
{
    static const char *const all[] = {"strcmp", "strcasecmp", "wcscmp"};
    return myth_flow_is_one_of(name, all, sizeof(all) / sizeof(*all));
}

/* strcmp(a, "b"), a.equals("b"), "b".equals(a). *is_equal: whether it is true where both are the same. */
static bool call_atom(myth_flow *f, TSNode call, atom *out, bool *is_equal)
{
    const char *name = myth_code_called(f, call);
    const TSNode list = child_of(f, call, MYTH_SLOT_ARGUMENTS);
    const bool is_text = is_comparison_of_texts(name), is_method = strncmp(name, "equals", 6) == 0;
    if (is_null(list) || ts_node_named_child_count(list) != (is_text ? 2u : 1u) || !(is_text || is_method))
        return false;
    TSNode a = ts_node_named_child(list, 0), b = is_text ? ts_node_named_child(list, 1) : (TSNode){0};
    if (is_method)
        b = child_of(f, call, MYTH_SLOT_BASE);
    if (is_null(a) || is_null(b))
        return false;
    const bool is_second = myth_code_is_constant(f, b);
    *out = (atom){.subject = is_second ? a : b, .constant = is_second ? b : a};
    *is_equal = is_method;
    return myth_code_is_constant(f, out->constant) && !myth_code_is_constant(f, out->subject) &&
           myth_code_is_pure(f, out->subject);
}

static bool comparison_atom(myth_flow *f, TSNode node, atom *out)
{
    TSNode a, b;
    myth_test_kind how;
    if (role_of(f, node) != MYTH_ROLE_BINARY || !myth_flow_comparison(f, node, &how) || how > MYTH_TEST_AT_LEAST ||
        is_of_identity(f, node) || !myth_code_operands(f, node, &a, &b))
        return false;
    if (role_of(f, a) == MYTH_ROLE_CAST || role_of(f, b) == MYTH_ROLE_CAST)
        return false; /* it may change the value */
    a = myth_flow_inner(f, a);
    b = myth_flow_inner(f, b);
    const bool is_turned = myth_code_is_constant(f, a);
    *out = (atom){is_turned ? b : a, is_turned ? a : b, is_turned ? myth_flow_turned(how) : how};
    if (!myth_code_is_constant(f, out->constant) || myth_code_is_constant(f, out->subject) ||
        role_of(f, out->subject) == MYTH_ROLE_NOTHING || !myth_code_is_pure(f, out->subject))
        return false; /* MAX != null asks for MAX */
    if (role_of(f, out->subject) != MYTH_ROLE_CALL || !is_comparison_of_texts(myth_code_called(f, out->subject)))
        return true;
    bool is_equal;
    how = out->how; /* strcmp(a, "b") == 0 */
    if (!myth_flow_text_is(f, out->constant, "0") || how > MYTH_TEST_NOT_EQUAL ||
        !call_atom(f, out->subject, out, &is_equal))
        return false;
    out->how = how;
    return true;
}

static bool atom_of(myth_flow *f, TSNode node, atom *out)
{
    bool is_not = false, is_equal = false;
    for (int i = 0; i < 4 && role_of(f, node) == MYTH_ROLE_UNARY && myth_flow_first_byte(f, node) == '!'; i++) {
        node = myth_flow_inner(f, base_of(f, node));
        is_not = !is_not;
    }
    if (is_null(node))
        return false;
    if (role_of(f, node) == MYTH_ROLE_CALL) {
        if (!call_atom(f, node, out, &is_equal))
            return false;
        out->how = is_equal != is_not ? MYTH_TEST_EQUAL : MYTH_TEST_NOT_EQUAL;
        return true;
    }
    return !is_not && comparison_atom(f, node, out);
}

static bool number_of(const myth_flow *f, TSNode node, double *out)
{
    char text[40], *end;
    const uint32_t off = ts_node_start_byte(node), n = ts_node_end_byte(node) - off;
    if (n >= sizeof(text) || off + n > f->n_text)
        return false;
    memcpy(text, f->text + off, n);
    text[n] = '\0';
    *out = strtod(text, &end);
    return end > text && strspn(end, "uUlLfF") == strlen(end);
}

static bool is_below(myth_test_kind t) { return t == MYTH_TEST_LESS || t == MYTH_TEST_AT_MOST; }
static bool is_above(myth_test_kind t) { return t == MYTH_TEST_MORE || t == MYTH_TEST_AT_LEAST; }

/* Whether two parts of a chain about the same thing can never both hold, or one of them always does. */
static bool is_settled(const myth_flow *f, myth_chain of, const atom *a, const atom *b)
{
    double x, y;
    const myth_test_kind want = of == MYTH_CHAIN_AND ? MYTH_TEST_EQUAL : MYTH_TEST_NOT_EQUAL;
    if (a->how == want && b->how == want)
        return role_of(f, a->constant) == role_of(f, b->constant) && !myth_code_same(f, a->constant, b->constant) &&
               (role_of(f, a->constant) != MYTH_ROLE_NUMBER ||
                (number_of(f, a->constant, &x) && number_of(f, b->constant, &y) && (x < y || x > y)));
    if (!((is_below(a->how) && is_above(b->how)) || (is_above(a->how) && is_below(b->how))))
        return false;
    const atom *low = is_below(a->how) ? a : b, *high = low == a ? b : a; /* x < `x`, x > `y` */
    if (!number_of(f, low->constant, &x) || !number_of(f, high->constant, &y))
        return false;
    return of == MYTH_CHAIN_AND
             ? x <= y && !(x >= y && low->how == MYTH_TEST_AT_MOST && high->how == MYTH_TEST_AT_LEAST)
             : x > y;
}

/* Whether a part of a chain is its value: the last of a && b && a, where that is no condition. */
static bool is_value(const myth_flow *f, TSNode part)
{
    const myth_role role = role_of(f, part);
    return role == MYTH_ROLE_NAME || role == MYTH_ROLE_MEMBER || role == MYTH_ROLE_INDEX || role == MYTH_ROLE_CALL;
}

/* JavaScript: x & x makes an integer of 32 bits of a number. */
static bool is_script(TSNode node)
{
    return ts_language_symbol_for_name(ts_node_language(node), "arrow_function", 14, true) != 0;
}

/* Whether event i uses something that it must be asked of before if it is there, or that has the type of what is asked
 * (its variable `asked`): p->x, p[i], *p, f(p), v.front(). What is written into the condition is asked. */
static bool needs_condition(const myth_flow *f, uint32_t i, uint32_t asked, span condition)
{
    static const char *const element[] = {"front", "back", "at", "begin", "end", "top"};
    const myth_event *e = &f->event[i];
    const uint32_t path = root_of(f, e->path);
    if (!path || e->kind == MYTH_EVENT_DEFINE || path == asked || has_word(condition, f->names + f->path[path].text))
        return false;
    const myth_path *p = &f->path[path], *a = &f->path[asked];
    const span type = span_of(f, p->type_off, p->type_end), type_asked = span_of(f, a->type_off, a->type_end);
    if (type.n > 0 && type.n == type_asked.n && memcmp(type.p, type_asked.p, type.n) == 0)
        return true;
    if (e->kind != MYTH_EVENT_DEREF)
        return e->kind == MYTH_EVENT_ARG && p->is_pointer;
    const TSNode op = child_of(f, e->node, MYTH_SLOT_OPERATOR);
    const bool is_dot =
        strcmp(ts_node_type(e->node), "field_expression") == 0 && !is_null(op) && myth_flow_text_is(f, op, ".");
    const TSNode member = is_dot ? ts_node_child_by_field_name(e->node, "field", 5) : (TSNode){0};
    const span name = is_null(member) ? (span){"", 0} : node_span(f, member);
    for (size_t j = 0; j < N_OF(element); j++)
        if (name.n == strlen(element[j]) && memcmp(name.p, element[j], name.n) == 0)
            return true;
    return !is_dot && !myth_flow_text_is(f, e->node, "this");
}

/* Whether a variable got its value between two offsets. */
static bool is_made_between(const myth_flow *f, uint32_t path, uint32_t from, uint32_t to)
{
    path = root_of(f, path);
    for (uint32_t i = 0; i < f->n_event && path; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == path && f->event[i].off >= from &&
            f->event[i].off < to)
            return true;
    return false;
}

/* In languages but C and C++: whether a variable needs no condition that stands at an offset, for what is behind byte
 * `to`: it was used like that before, or in the branch that leaves, or has another condition before its use, or is none
 * of the function but a module or a class. */
static bool is_used_without(const myth_flow *f, uint32_t root, uint32_t off, uint32_t to, uint32_t use)
{
    bool is_own = false;
    for (uint32_t i = 0; i < f->n_event && !f->roles->has_alternatives; i++) {
        const myth_event *e = &f->event[i];
        const bool is_named = e->kind == MYTH_EVENT_USE || e->kind == MYTH_EVENT_ARG;
        if (root_of(f, e->path) != root)
            continue;
        if ((e->kind == MYTH_EVENT_DEREF && e->off < to) || (is_named && e->off >= off && e->off < to) ||
            (e->kind == MYTH_EVENT_TEST && e->off < use))
            return true;
        is_own |= e->kind == MYTH_EVENT_DEFINE && e->path == root;
    }
    return !is_own && !f->roles->has_alternatives;
}

/* Whether a && a, or a || a, is the condition of an `if`, and nothing else needs one where it says yes, or behind a
 * branch that leaves: then it is asked twice by mistake, and no other thing was meant. */
static bool is_only_twice(myth_flow *f, TSNode node, TSNode part, myth_chain of, const myth_around *around)
{
    enum { MOST_USES = 64, KNOWN = 32 };
    uint32_t known[KNOWN], n_known = 0; /* what is made in between, or was there before */
    uint32_t i = 0, asked = myth_flow_path(f, part);
    const TSNode inner = myth_flow_inner(f, part);
    TSNode up = around_at(around, i);
    while (!is_null(up) && (role_of(f, up) == MYTH_ROLE_GROUP || strcmp(ts_node_type(up), "condition_clause") == 0))
        up = around_at(around, ++i);
    const TSNode then = is_null(up) || role_of(f, up) != MYTH_ROLE_IF ? (TSNode){0} : child_of(f, up, MYTH_SLOT_THEN);
    if (is_null(then) || ts_node_start_byte(then) < ts_node_end_byte(node))
        return false;
    const span condition = node_span(f, node);
    for (uint32_t e = 0; !asked && e < f->n_event; e++) /* !v.empty(), p != NULL: the first variable in it */
        if (f->event[e].path && f->event[e].off >= ts_node_start_byte(inner) &&
            f->event[e].end <= ts_node_end_byte(inner))
            asked = f->event[e].path;
    asked = root_of(f, asked);
    uint32_t from = ts_node_start_byte(then), to = ts_node_end_byte(then);
    if (of == MYTH_CHAIN_OR) {
        bool leaves = false;
        for (uint32_t s = 1; s < f->n_scope && !leaves; s++)
            leaves = f->scope[s].off == from && f->scope[s].leaves == MYTH_LEAVES_FUNCTION;
        if (!leaves)
            return false;
        from = to;
        to = f->end;
    }
    for (uint32_t e = 0, n = 0; e < f->n_event; e++) {
        if (f->event[e].off < from || f->event[e].off >= to || !needs_condition(f, e, asked, condition))
            continue;
        const uint32_t root = root_of(f, f->event[e].path);
        bool is_known = false;
        for (uint32_t j = 0; j < n_known && !is_known; j++)
            is_known = known[j] == root;
        if (is_known)
            continue;
        if (++n > MOST_USES || !(is_made_between(f, root, from, f->event[e].off) ||
                                 is_used_without(f, root, ts_node_start_byte(node), from, f->event[e].off)))
            return false;
        if (n_known < KNOWN)
            known[n_known++] = root;
    }
    return asked != 0;
}

static void contrary_chain(myth_flow *f, TSNode node, myth_chain of, const myth_around *around)
{
    myth_parts p;
    atom atoms[MYTH_PARTS];
    bool is_atom[MYTH_PARTS];
    uint32_t from = 0; /* the first part behind which nothing has changed */
    myth_code_parts(f, node, of, &p);
    for (uint32_t j = 0; j < p.n; j++) {
        if (!myth_code_is_pure(f, p.node[j])) {
            from = j + 1;
            continue;
        }
        is_atom[j] = (of == MYTH_CHAIN_AND || of == MYTH_CHAIN_OR) && atom_of(f, p.node[j], &atoms[j]);
        for (uint32_t i = from; i < j; i++) {
            const bool is_again = !myth_code_is_constant(f, p.node[j]) && myth_code_same(f, p.node[i], p.node[j]);
            if (is_again && !(of == MYTH_CHAIN_AND && j + 1 == p.n && is_value(f, p.node[j]))) {
                const bool is_int = of == MYTH_CHAIN_BIT_AND && p.n == 2 && is_script(node);
                const bool is_twice = p.n == 2 && (of == MYTH_CHAIN_AND || of == MYTH_CHAIN_OR) &&
                                      is_only_twice(f, node, p.node[j], of, around);
                const myth_contrary how = is_twice                        ? MYTH_CONTRARY_TWICE
                                        : of == MYTH_CHAIN_AND && p.n > 2 ? MYTH_CONTRARY_CHAIN
                                                                          : MYTH_CONTRARY_OPERANDS;
                if (!is_int)
                    myth_contrary_put(f, how, p.node[j], p.node[j], myth_code_line(p.node[i]));
                return;
            }
            if (is_atom[i] && is_atom[j] && myth_code_same(f, atoms[i].subject, atoms[j].subject) &&
                is_settled(f, of, &atoms[i], &atoms[j])) {
                myth_contrary_put(f, of == MYTH_CHAIN_AND ? MYTH_CONTRARY_NEVER : MYTH_CONTRARY_ALWAYS, p.node[j],
                                  atoms[j].subject, myth_code_line(p.node[i]));
                return;
            }
        }
    }
}

/* Whether the text around says that not-a-number is what is looked for, or that a comparison is what is tested. */
static bool is_meant(const myth_flow *f, TSNode node)
{
    for (int i = 0; i < 6 && !is_null(node); i++, node = ts_node_parent(node)) {
        if (role_of(f, node) == MYTH_ROLE_ASSERT || role_of(f, node) == MYTH_ROLE_CALL)
            return true;
        if (role_of(f, node) == MYTH_ROLE_BLOCK)
            break;
    }
    const char *name = f->names + f->name;
    return strstr(name, "nan") || strstr(name, "NaN") || strstr(name, "test") || strstr(name, "Test");
}

static void contrary_operands(myth_flow *f, TSNode node)
{
    static const char *const equal[] = {"==", "!=", "===", "!==", "is", "is not"};
    static const char *const order[] = {"<", ">", "<=", ">=", "-", "/", "%"};
    TSNode a, b;
    if (!myth_code_operands(f, node, &a, &b) || myth_code_is_constant(f, myth_flow_inner(f, a)))
        return;
    const bool is_plain = role_of(f, myth_flow_inner(f, a)) == MYTH_ROLE_NAME;
    if (myth_code_has_operator(f, node, order, sizeof(order) / sizeof(*order))) {
        if (myth_code_is_same(f, a, b) && !is_meant(f, node))
            myth_contrary_put(f, MYTH_CONTRARY_OPERANDS, node, a, 0);
    } else if (!is_plain && myth_code_has_operator(f, node, equal, sizeof(equal) / sizeof(*equal))) {
        if (myth_code_is_same(f, a, b) && !is_meant(f, node)) /* x != x asks for not-a-number */
            myth_contrary_put(f, MYTH_CONTRARY_EQUAL, node, a, 0);
    }
}

/* ! binds before the operator that it stands in front of. */
static void contrary_negation(myth_flow *f, TSNode node)
{
    static const char *const order[] = {"<", ">", "<=", ">=", "&"};
    static const char *const member[] = {"in", "instanceof"};
    static const char *const equal[] = {"==", "!="};
    TSNode a, b;
    if (!myth_code_operands(f, node, &a, &b) || role_of(f, a) != MYTH_ROLE_UNARY || myth_flow_first_byte(f, a) != '!')
        return;
    const TSNode of = base_of(f, a), with = myth_flow_inner(f, b);
    const myth_role role = role_of(f, with);
    const bool is_bool_number = myth_flow_text_is(f, with, "0") || myth_flow_text_is(f, with, "1");
    if (is_null(of) || is_bool_number || !is_value(f, of))
        return;
    if (myth_code_has_operator(f, node, member, sizeof(member) / sizeof(*member)))
        myth_contrary_put(f, MYTH_CONTRARY_NEGATED_IN, node, of, 0);
    else if (myth_code_has_operator(f, node, order, sizeof(order) / sizeof(*order))) {
        if (role == MYTH_ROLE_NAME || role == MYTH_ROLE_NUMBER || role == MYTH_ROLE_MEMBER)
            myth_contrary_put(f, MYTH_CONTRARY_NEGATED, node, of, 0);
    } else if (myth_code_has_operator(f, node, equal, sizeof(equal) / sizeof(*equal)) && role == MYTH_ROLE_NUMBER)
        myth_contrary_put(f, MYTH_CONTRARY_NEGATED, node, of, 0);
}

/* Whether a value of Java is one of texts that are written there, which are the same object wherever they are equal. */
static bool is_of_literals(const myth_flow *f, TSNode value)
{
    TSNode cond, then, other;
    value = is_null(value) ? value : myth_flow_inner(f, value);
    if (is_null(value) || role_of(f, value) == MYTH_ROLE_NOTHING)
        return !is_null(value);
    if (role_of(f, value) == MYTH_ROLE_CHOICE) {
        myth_flow_choice_parts(f, value, &cond, &then, &other);
        return !is_null(then) && !is_null(other) && role_of(f, then) == MYTH_ROLE_TEXT &&
               role_of(f, other) == MYTH_ROLE_TEXT;
    }
    const uint32_t end = ts_node_end_byte(value), off = ts_node_start_byte(value);
    const bool is_interned = role_of(f, value) == MYTH_ROLE_CALL && end - off > 9 && end <= f->n_text &&
                             memcmp(f->text + end - 9, ".intern()", 9) == 0;
    return is_interned || role_of(f, value) == MYTH_ROLE_TEXT;
}

/* What a node of Java gives a name: a declaration or an assignment `value`, a parameter or a loop something unknown
 * (null). *key: the name; null = it gives nothing. */
static TSNode named_value(const myth_flow *f, TSNode node, TSNode *key, bool *is_bare)
{
    const char *type = ts_node_type(node);
    const bool is_unknown = strcmp(type, "formal_parameter") == 0 || strcmp(type, "enhanced_for_statement") == 0 ||
                            strcmp(type, "spread_parameter") == 0;
    *is_bare = strcmp(type, "variable_declarator") == 0;
    *key = (TSNode){0};
    if (is_unknown || *is_bare || role_of(f, node) == MYTH_ROLE_ASSIGN || role_of(f, node) == MYTH_ROLE_CHANGE)
        *key = child_of(f, node, MYTH_SLOT_LEFT);
    if (is_unknown && is_null(*key))
        *key = ts_node_child_by_field_name(node, "name", 4);
    *is_bare &= !is_null(*key) && is_null(child_of(f, node, MYTH_SLOT_RIGHT));
    return is_unknown || role_of(f, node) == MYTH_ROLE_CHANGE ? (TSNode){0} : child_of(f, node, MYTH_SLOT_RIGHT);
}

/* The last word of a node: b of a.b; empty where it is too long. */
static void put_last_word(const myth_flow *f, TSNode node, char dst[MYTH_FLOW_PATH_BYTES])
{
    const uint32_t end = ts_node_end_byte(node) < f->n_text ? ts_node_end_byte(node) : f->n_text;
    uint32_t from = end;
    while (from > ts_node_start_byte(node) && myth_is_word(f->text[from - 1]))
        from--;
    const uint32_t n = end - from < MYTH_FLOW_PATH_BYTES ? end - from : 0;
    memcpy(dst, f->text + from, n);
    dst[n] = '\0';
}

/* Whether others than the class may set what a declaration of a field names: other classes, or a library that an
 * annotation of it or of its class is for. */
static bool is_open_field(const myth_flow *f, TSNode field, TSNode name)
{
    const TSNode body = ts_node_parent(field), own = is_null(body) ? body : ts_node_parent(body);
    const TSNode from[] = {field, own}, to[] = {name, body};
    for (int i = 0; i < 2; i++) {
        if (is_null(from[i]) || is_null(to[i]))
            continue;
        for (uint32_t at = ts_node_start_byte(from[i]); at < ts_node_start_byte(to[i]) && at + 9 < f->n_text; at++)
            if (f->text[at] == '@' ||
                (i == 0 && (memcmp(f->text + at, "public ", 7) == 0 || memcmp(f->text + at, "protected", 9) == 0)))
                return true;
    }
    return false;
}

/* The name that a declaration of a field gives; null = it is none. */
static TSNode field_name_of(const myth_flow *f, TSNode node)
{
    const TSNode of = strcmp(ts_node_type(node), "field_declaration") == 0
                        ? ts_node_child_by_field_name(node, "declarator", 10)
                        : (TSNode){0};
    return is_null(of) ? of : child_of(f, of, MYTH_SLOT_LEFT);
}

/* The body of the innermost class around a node that has a field of the name; null = none. */
static TSNode class_with(const myth_flow *f, TSNode node, const char *want)
{
    enum { MOST_UP = 40, MOST_FIELDS = 400 };
    char name[MYTH_FLOW_PATH_BYTES];
    for (int up = 0; up < MOST_UP && !is_null(node); up++, node = ts_node_parent(node)) {
        if (strcmp(ts_node_type(node), "class_body") != 0)
            continue;
        for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < MOST_FIELDS; i++) {
            const TSNode of = field_name_of(f, ts_node_named_child(node, i));
            if (is_null(of))
                continue;
            put_last_word(f, of, name);
            if (strcmp(name, want) == 0)
                return node;
        }
    }
    return (TSNode){0};
}

/* Whether a name of Java gets nothing in the whole file but texts that are written there. */
static bool gets_literals_only(const myth_flow *f, TSNode subject)
{
    char want[MYTH_FLOW_PATH_BYTES], name[MYTH_FLOW_PATH_BYTES];
    enum { MOST_NODES = 50000 };
    uint32_t n_set = 0, n_node = 0;
    const TSNode root = ts_tree_root_node(subject.tree);
    bool is_other = strcmp(ts_node_type(root), "program") != 0 || /* of another language, whose == compares texts */
                    (role_of(f, subject) != MYTH_ROLE_NAME && role_of(f, subject) != MYTH_ROLE_MEMBER);
    put_last_word(f, subject, want);
    if (is_other || !*want)
        return false;
    const TSNode own = class_with(f, subject, want);
    TSTreeCursor c = ts_tree_cursor_new(root);
    for (bool is_more = ts_tree_cursor_goto_first_child(&c); is_more && !is_other;) {
        const TSNode node = ts_tree_cursor_current_node(&c), field = field_name_of(f, node);
        TSNode key;
        bool is_bare;
        const TSNode value = named_value(f, node, &key, &is_bare);
        const bool is_inside = is_null(own) || (ts_node_start_byte(node) >= ts_node_start_byte(own) &&
                                                ts_node_end_byte(node) <= ts_node_end_byte(own));
        name[0] = '\0';
        if (!is_null(key) && (is_inside || role_of(f, key) == MYTH_ROLE_MEMBER))
            put_last_word(f, key, name);
        if (strcmp(name, want) == 0) {
            is_other = !is_bare && !is_of_literals(f, value);
            n_set += !is_bare;
        }
        if (is_inside && !is_null(field)) {
            put_last_word(f, field, name);
            is_other |= strcmp(name, want) == 0 && is_open_field(f, node, field);
        }
        is_other |= n_node++ == MOST_NODES;
        if (ts_tree_cursor_goto_first_child(&c))
            continue;
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
    return !is_other && n_set > 0;
}

/* Java's == of texts, Python's `is`. */
static void contrary_identity(myth_flow *f, TSNode node)
{
    static const char *const same[] = {"==", "!=", "is", "is not"};
    TSNode a, b;
    if (!myth_code_operands(f, node, &a, &b) || !myth_code_has_operator(f, node, same, sizeof(same) / sizeof(*same)))
        return;
    a = myth_flow_inner(f, a);
    b = myth_flow_inner(f, b);
    const bool is_word = is_of_identity(f, node);
    const TSNode literal = role_of(f, b) == MYTH_ROLE_TEXT ? b : a;
    const char *type = ts_node_type(literal);
    const bool is_text = strcmp(type, is_word ? "string" : "string_literal") == 0;
    const TSNode subject = ts_node_eq(literal, b) ? a : b;
    const bool is_open = is_text && !myth_code_is_constant(f, subject) && role_of(f, subject) != MYTH_ROLE_NOTHING;
    if (is_open && (is_word || !(myth_facts_is_for_browser(f) || gets_literals_only(f, subject))))
        myth_contrary_put(f, MYTH_CONTRARY_IDENTITY, node, subject, 0);
}

/* Whether an expression is in the condition of #if. */
static bool is_of_directive(const myth_flow *f, const myth_around *around)
{
    for (uint32_t i = 0; i < around->n; i++) {
        const TSNode node = around_at(around, i);
        const myth_role role = is_null(node) ? MYTH_ROLE_NONE : role_of(f, node);
        if (role != MYTH_ROLE_BINARY && role != MYTH_ROLE_UNARY && role != MYTH_ROLE_GROUP)
            return !is_null(node) && strncmp(ts_node_type(node), "preproc", 7) == 0;
    }
    return false;
}

/* The begin or end of a text is compared with one that has another length. */
static void contrary_part(myth_flow *f, TSNode node)
{
    static const char *const equal[] = {"==", "!=", "===", "!=="};
    TSNode a, b;
    if (!myth_code_operands(f, node, &a, &b) || !myth_code_has_operator(f, node, equal, sizeof(equal) / sizeof(*equal)))
        return;
    a = myth_flow_inner(f, a);
    b = myth_flow_inner(f, b);
    if (role_of(f, b) == MYTH_ROLE_TEXT)
        myth_contrary_part(f, node, a, b);
    else if (role_of(f, a) == MYTH_ROLE_TEXT)
        myth_contrary_part(f, node, b, a);
}

static void contrary_binary(myth_flow *f, TSNode node, const myth_around *around)
{
    if (is_of_directive(f, around))
        return;
    const myth_chain of = myth_code_chain(f, node);
    uint32_t i = 0;
    while (!is_null(around_at(around, i)) && role_of(f, around_at(around, i)) == MYTH_ROLE_GROUP)
        i++;
    const TSNode up = around_at(around, i);
    if (of != MYTH_CHAIN_NONE && (is_null(up) || myth_code_chain(f, up) != of))
        contrary_chain(f, node, of, around);
    if (of == MYTH_CHAIN_NONE)
        contrary_operands(f, node);
    if (of == MYTH_CHAIN_NONE || of == MYTH_CHAIN_BIT_AND)
        contrary_negation(f, node);
    if (of == MYTH_CHAIN_NONE) {
        contrary_identity(f, node);
        contrary_part(f, node);
    }
}

/* ---- a function ---- */

static bool on_node(myth_flow *f, TSNode node, const myth_around *around)
{
    if (f->is_failed)
        return false;
    switch (role_of(f, node)) {
    case MYTH_ROLE_FUNCTION: return !f->is_file; /* it is a flow of its own */
    case MYTH_ROLE_BINARY: contrary_binary(f, node, around); break;
    case MYTH_ROLE_IF:
        myth_contrary_if(f, node, around);
        if (!is_null(child_of(f, node, MYTH_SLOT_CONDITION)))
            myth_contrary_condition(f, child_of(f, node, MYTH_SLOT_CONDITION));
        break;
    case MYTH_ROLE_CHOICE: myth_contrary_choice(f, node); break;
    case MYTH_ROLE_ASSIGN: myth_contrary_assignment(f, node); break;
    case MYTH_ROLE_STATEMENT: myth_contrary_statement(f, node); break;
    case MYTH_ROLE_LOOP: myth_contrary_loop(f, node); break;
    case MYTH_ROLE_CALL: myth_contrary_call(f, node); break;
    default: break;
    }
    return true;
}

void myth_facts_contrary(myth_flow *f, TSNode function)
{
    f->now_scope = f->now_test = 0;
    myth_flow_each_node(f, function, on_node);
}
