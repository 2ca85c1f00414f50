/* facts.c - see facts.h. Each fact has a function of its own name; the table at the end has them in order. */
#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *values;
} fact_row;

static const fact_row rows[MYTH_FACT_N] = {
#define FACT(name, values, meaning) {#name, values},
#include "facts.def"
#undef FACT
};

const char *myth_fact_name(myth_fact_kind fact) { return rows[fact].name; }
const char *myth_fact_values(myth_fact_kind fact) { return rows[fact].values; }

bool myth_fact_value_name(myth_fact_kind fact, int value, char dst[16])
{
    const char *p = rows[fact].values;
    for (int i = 0; p; i++) {
        const size_t n = strcspn(p, " ");
        if (i == value && n < 16) {
            memcpy(dst, p, n);
            dst[n] = '\0';
            return true;
        }
        p = p[n] ? p + n + 1 : NULL;
    }
    return false;
}

/* ---- looking around ---- */

bool myth_facts_definition(const myth_facts *k, uint32_t path, uint32_t e, uint32_t *out)
{
    const myth_flow *f = k->flow;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path && myth_flow_is_part(f, path, d->path) &&
            myth_flow_reaches(f, i, e)) {
            *out = i;
            return true;
        }
    }
    return false;
}

enum { ORIGIN_NONE = MYTH_VALUE_N, ORIGIN_FIELD };

/* Whether the first word of a path is a name that the file imports. */
static bool is_imported(const myth_facts *k, uint32_t path)
{
    char word[MYTH_FLOW_PATH_BYTES + 1];
    const char *text = k->flow->names + k->flow->path[path].text;
    const size_t n = strcspn(text, ".[-*");
    snprintf(word, sizeof(word), "%.*s", (int)n, text);
    const myth_file_name *name = myth_file_facts_find(k->file, word);
    return name && name->is_imported;
}

/* *d: the definition; not set where there is none. */
static int origin_of(const myth_facts *k, uint32_t path, uint32_t e, uint32_t *d)
{
    if (!path)
        return MYTH_VALUE_UNKNOWN;
    if (!myth_facts_definition(k, path, e, d))
        return is_imported(k, path) ? MYTH_VALUE_IMPORT : ORIGIN_NONE;
    const myth_event *def = myth_facts_event(k, *d);
    return def->path == path || def->value == MYTH_VALUE_IMPORT ? def->value : ORIGIN_FIELD;
}

static int fact_origin(myth_facts *k, uint32_t e)
{
    uint32_t d = UINT32_MAX;
    const int origin = origin_of(k, myth_facts_event(k, e)->path, e, &d);
    if (d != UINT32_MAX)
        k->at_line = myth_facts_event(k, d)->line;
    return origin;
}

uint32_t myth_facts_origin_call(const myth_facts *k, uint32_t e)
{
    uint32_t d;
    const uint32_t path = myth_facts_event(k, e)->path;
    if (myth_facts_event(k, e)->kind == MYTH_EVENT_DEFINE)
        return myth_facts_event(k, e)->name;
    if (!path || !myth_facts_definition(k, path, e, &d) || myth_facts_event(k, d)->path != path)
        return 0;
    return myth_facts_event(k, d)->name;
}

uint32_t myth_facts_call_off(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (f->event[e].kind == MYTH_EVENT_CALL)
        return f->event[e].off;
    if (!f->event[e].path || !myth_facts_definition(k, f->event[e].path, e, &d) ||
        f->event[d].value != MYTH_VALUE_CALL || f->event[d].path != f->event[e].path)
        return UINT32_MAX;
    const TSNode value = myth_facts_value_node(f, &f->event[d]);
    if (ts_node_is_null(value))
        return UINT32_MAX;
    for (uint32_t i = d > 64 ? d - 64 : 0; i < f->n_event && i < d + 64; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && f->event[i].off >= ts_node_start_byte(value) &&
            f->event[i].end <= ts_node_end_byte(value) &&
            strcmp(f->names + f->event[i].name, f->names + f->event[d].name) == 0)
            return f->event[i].off;
    return UINT32_MAX;
}

/* ---- tests ---- */

enum { TESTED_NO, TESTED_GUARDS, TESTED_EARLIER, TESTED_LATER, TESTED_INVERTED };

static bool is_for_bound(const myth_event *t)
{
    const bool is_order = t->how >= MYTH_TEST_LESS && t->how <= MYTH_TEST_AT_LEAST;
    return is_order || ((t->how == MYTH_TEST_EQUAL || t->how == MYTH_TEST_NOT_EQUAL) && t->value != MYTH_VALUE_NULL) ||
           t->how == MYTH_TEST_IN || t->how == MYTH_TEST_PART;
}

/* What test event t says about event e behind it: whether e is reached where the path is there (not zero), or gone. In
 * a chain a && b the rest is reached where a holds, and so is a branch; of a || b it is reached where neither does. */
static int guard(const myth_flow *f, const myth_event *t, const myth_event *e, bool is_there, bool is_gone)
{
    bool has_and = false, has_or = false;
    for (uint32_t i = t->test; i; i = f->test[i - 1].outer) {
        const myth_test *test = &f->test[i - 1];
        if (e->off >= test->off && e->end <= test->end) {
            if (test->is_chain)
                return (test->is_or ? is_there : is_gone) ? TESTED_INVERTED : TESTED_GUARDS;
            return TESTED_GUARDS;
        }
        has_and |= test->is_chain && !test->is_or;
        has_or |= test->is_chain && test->is_or;
        if (test->is_chain && test->outer)
            continue;
        if (test->is_assert) /* BUG_ON(!p || !q) says that both are there */
            return has_or && !is_gone ? TESTED_EARLIER : TESTED_GUARDS;
        const bool is_next = e->off >= test->next && e->end <= test->next_end;
        if (is_next || (test->then && myth_flow_is_inside(f, e->scope, test->then)))
            return has_or ? TESTED_EARLIER : is_gone ? TESTED_INVERTED : TESTED_GUARDS;
        if (test->other && myth_flow_is_inside(f, e->scope, test->other))
            return has_and ? TESTED_EARLIER : is_there ? TESTED_INVERTED : TESTED_GUARDS;
        if (test->then && f->scope[test->then].leaves)
            return has_and ? TESTED_EARLIER : is_there ? TESTED_INVERTED : TESTED_GUARDS;
        if (test->other && f->scope[test->other].leaves)
            return has_or ? TESTED_EARLIER : is_gone ? TESTED_INVERTED : TESTED_GUARDS;
    }
    return TESTED_EARLIER;
}

typedef enum { FOR_PRESENCE, FOR_BOUND, FOR_ZERO } tested_for;

static bool says_something(const myth_event *t, tested_for what)
{
    if (t->how == MYTH_TEST_PART)
        return true;
    if (what == FOR_BOUND)
        return is_for_bound(t);
    if (what == FOR_PRESENCE)
        return !is_for_bound(t) || t->how == MYTH_TEST_EQUAL;
    return t->how != MYTH_TEST_LESS && t->how != MYTH_TEST_AT_LEAST; /* x < 0 leaves zero in */
}

/* The number that a test compares with; null = none, or in Python, whose operands have no names. */
static TSNode number_beside(const myth_flow *f, const myth_event *t)
{
    static const myth_slot side[] = {MYTH_SLOT_LEFT, MYTH_SLOT_RIGHT};
    for (int i = 0; i < 2 && t->value == MYTH_VALUE_NUMBER; i++) {
        const TSNode node = myth_roles_child(f->roles, t->node, side[i]);
        const char c = ts_node_is_null(node) ? '\0' : myth_flow_first_byte(f, node);
        if (c >= '0' && c <= '9')
            return node;
    }
    return (TSNode){0};
}

/* Whether it is a number above zero: what is not below 5 is not zero. */
static bool is_above_zero(const myth_flow *f, const myth_event *t)
{
    const TSNode number = number_beside(f, t);
    return !ts_node_is_null(number) && myth_flow_first_byte(f, number) != '0';
}

/* Whether a test asks whether the path is zero; *is_not: whether it is none. */
static bool asks_for_zero(const myth_flow *f, const myth_event *t, bool *is_not)
{
    const TSNode number = number_beside(f, t);
    const bool is_zero = !ts_node_is_null(number) && myth_flow_text_is(f, number, "0");
    *is_not = t->how == MYTH_TEST_TRUE || (t->how == MYTH_TEST_NOT_EQUAL && is_zero);
    return *is_not || t->how == MYTH_TEST_FALSE || (t->how == MYTH_TEST_EQUAL && is_zero);
}

/* Whether the path is tested, for its presence, against a bound or for zero. */
static int tested(myth_facts *k, uint32_t path, uint32_t e, tested_for what)
{
    const bool is_bound = what == FOR_BOUND;
    const myth_flow *f = k->flow;
    int best = TESTED_NO;
    if (!path)
        return TESTED_NO;
    const uint32_t nested = f->has_nested ? myth_facts_nested(f, myth_facts_event(k, e)->scope) : 0;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *t = &f->event[i];
        if (t->kind == MYTH_EVENT_DEFINE && t->path && myth_flow_is_part(f, path, t->path) &&
            t->value != MYTH_VALUE_OUT && !(is_bound && t->value == MYTH_VALUE_SUM) && myth_flow_reaches(f, i, e))
            break;
        if (t->kind != MYTH_EVENT_TEST || (t->path != path && !(is_bound && t->other == path)))
            continue;
        if (!says_something(t, what) && !(what == FOR_ZERO && is_above_zero(f, t)))
            continue;
        bool is_there = is_for_there(t->how), is_gone = is_for_gone(t->how);
        if (what == FOR_ZERO)
            is_gone = asks_for_zero(f, t, &is_there) && !is_there;
        const int is = guard(f, t, myth_facts_event(k, e), is_there, is_gone);
        if (is != TESTED_GUARDS && f->has_nested && myth_facts_nested(f, t->scope) != nested)
            continue; /* a function inside, which is called at another time */
        if (is == TESTED_EARLIER && (t->how == MYTH_TEST_PART || t->how == MYTH_TEST_EQUAL) && what == FOR_PRESENCE)
            continue; /* if (has_slot(q)), and if (q == p), say nothing about q where they do not decide */
        if (best == TESTED_NO || is == TESTED_GUARDS || (is == TESTED_INVERTED && best == TESTED_EARLIER)) {
            k->at_line = t->line;
            best = is;
        }
        if (best == TESTED_GUARDS)
            return best;
    }
    if (best != TESTED_NO)
        return what == FOR_BOUND && best == TESTED_INVERTED ? TESTED_EARLIER : best;
    for (uint32_t i = e + 1, n = 0; i < f->n_event && n < MYTH_FACTS_NEAR; i++, n++) {
        const myth_event *t = &f->event[i];
        if (t->kind == MYTH_EVENT_DEFINE && t->path && myth_flow_is_part(f, path, t->path))
            break;
        if (t->kind == MYTH_EVENT_TEST && t->path == path && t->how != MYTH_TEST_PART && says_something(t, what) &&
            (what != FOR_PRESENCE || is_for_there(t->how) || is_for_gone(t->how)) &&
            (!f->has_nested || myth_facts_nested(f, t->scope) == nested)) {
            k->at_line = t->line;
            return TESTED_LATER;
        }
    }
    return TESTED_NO;
}

static int fact_tested(myth_facts *k, uint32_t e) { return tested(k, myth_facts_event(k, e)->path, e, FOR_PRESENCE); }

static int fact_nonzero(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    if (at->path || !at->name)
        return tested(k, at->path, e, FOR_ZERO);
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) { /* the call that gives it was tested before */
        const myth_event *c = myth_facts_event(k, i);
        if (c->kind == MYTH_EVENT_CALL && c->test && strcmp(k->flow->names + c->name, k->flow->names + at->name) == 0) {
            k->at_line = c->line;
            return TESTED_GUARDS;
        }
    }
    return TESTED_NO;
}

static int fact_bounded(myth_facts *k, uint32_t e) { return tested(k, myth_facts_event(k, e)->path, e, FOR_BOUND); }

/* ---- calls ---- */

enum { RESULT_USED, RESULT_DROPPED, RESULT_TESTED, RESULT_ASSIGNED, RESULT_RETURNED };

/* The definition that takes the result of a call. */
bool myth_facts_taker(const myth_flow *f, uint32_t call, uint32_t *out)
{
    const myth_event *c = &f->event[call];
    for (uint32_t i = call + 1; i < f->n_event && i < call + 128; i++) {
        const myth_event *d = &f->event[i];
        const bool is_call = d->kind == MYTH_EVENT_DEFINE &&
                             (d->value == MYTH_VALUE_CALL || d->value == MYTH_VALUE_SIZE || d->value == MYTH_VALUE_NEW);
        if (is_call && d->off < c->off && strcmp(f->names + d->name, f->names + c->name) == 0) {
            *out = i;
            return true;
        }
        if (d->kind == MYTH_EVENT_DEFINE && d->value == MYTH_VALUE_NEW && d->off < c->off) {
            *out = i;
            return true;
        }
        if (d->statement > c->statement + 1)
            return false;
    }
    return false;
}

/* The definition that takes the result of event e, which must be a call. */
static bool kept_by(const myth_facts *k, uint32_t e, uint32_t *out)
{
    return myth_facts_event(k, e)->kind == MYTH_EVENT_CALL && myth_facts_taker(k->flow, e, out);
}

static int fact_result(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    uint32_t d;
    if (c->kind != MYTH_EVENT_CALL)
        return RESULT_USED;
    if (c->is_dropped)
        return RESULT_DROPPED;
    if (myth_facts_taker(f, e, &d))
        return RESULT_ASSIGNED;
    if (c->test)
        return RESULT_TESTED;
    for (uint32_t i = e + 1; i < f->n_event && i < e + 64; i++)
        if (f->event[i].kind == MYTH_EVENT_LEAVE && f->event[i].off < c->off && f->event[i].end >= c->end)
            return c->end < f->n_text && f->text[c->end] == '.' ? RESULT_USED : RESULT_RETURNED; /* f().g() */
    return RESULT_USED;
}

static int fact_checked(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d = e;
    if (myth_facts_event(k, e)->kind == MYTH_EVENT_CALL && !myth_facts_taker(f, e, &d))
        return MYTH_CHECKED_NONE;
    return myth_facts_event(k, d)->kind == MYTH_EVENT_DEFINE ? myth_facts_checked(f, d, &k->at_line)
                                                             : MYTH_CHECKED_NONE;
}

/* ---- arguments ---- */

TSNode myth_facts_argument(const myth_facts *k, uint32_t e, uint32_t i)
{
    const myth_event *c = myth_facts_event(k, e);
    if (c->kind == MYTH_EVENT_ARG)
        c = myth_facts_event(k, c->call); /* of the call that it is given to */
    if (c->kind != MYTH_EVENT_CALL)
        return (TSNode){0};
    const TSNode list = myth_roles_child(k->flow->roles, c->node, MYTH_SLOT_ARGUMENTS);
    if (ts_node_is_null(list))
        return list;
    for (uint32_t at = 0;; at++) {
        const TSNode a = ts_node_named_child(list, at);
        if (ts_node_is_null(a) || (!ts_node_is_extra(a) && i-- == 0)) /* a comment is none */
            return a;
    }
}

static int argument_value(myth_facts *k, uint32_t e, uint32_t i)
{
    uint32_t path, name, unused;
    TSNode a = myth_facts_argument(k, e, i);
    if (ts_node_is_null(a))
        return ORIGIN_NONE;
    if (myth_roles_of(k->flow->roles, a) == MYTH_ROLE_KEYWORD)
        a = myth_roles_child(k->flow->roles, a, MYTH_SLOT_RIGHT);
    const myth_value v = myth_flow_value(k->flow, a, &path, &name);
    if (v != MYTH_VALUE_PATH || !path)
        return v;
    const int o = origin_of(k, path, e, &unused); /* a variable counts as what it was made of */
    return o == MYTH_VALUE_UNKNOWN ? MYTH_VALUE_PATH : o;
}

static int fact_arg0(myth_facts *k, uint32_t e) { return argument_value(k, e, 0); }
static int fact_arg1(myth_facts *k, uint32_t e) { return argument_value(k, e, 1); }
static int fact_arg2(myth_facts *k, uint32_t e) { return argument_value(k, e, 2); }
static int fact_arg3(myth_facts *k, uint32_t e) { return argument_value(k, e, 3); }

/* The least that is known about a bound of the paths in an argument: of n * size that of n. */
static int argument_bound(myth_facts *k, uint32_t e, uint32_t i, int none)
{
    const myth_flow *f = k->flow;
    const TSNode a = myth_facts_argument(k, e, i);
    int worst = none;
    if (ts_node_is_null(a))
        return none;
    const uint32_t from = ts_node_start_byte(a), to = ts_node_end_byte(a);
    for (uint32_t x = e + 1; x < f->n_event && x < e + 64; x++) {
        const myth_event *u = &f->event[x];
        if (u->off < from || u->end > to || !u->path || (u->kind != MYTH_EVENT_USE && u->kind != MYTH_EVENT_ARG))
            continue;
        const int is = tested(k, u->path, e, FOR_BOUND);
        if (worst == none || is != TESTED_GUARDS)
            worst = is;
    }
    return worst;
}

static int fact_arg0_bounded(myth_facts *k, uint32_t e) { return argument_bound(k, e, 0, TESTED_NO); }
static int fact_arg1_bounded(myth_facts *k, uint32_t e) { return argument_bound(k, e, 1, TESTED_NO); }
static int fact_arg2_bounded(myth_facts *k, uint32_t e) { return argument_bound(k, e, 2, TESTED_NO); }

static int fact_args(myth_facts *k, uint32_t e)
{
    int n = 0;
    while (n < 4 && !ts_node_is_null(myth_facts_argument(k, e, (uint32_t)n)))
        n++;
    return n;
}

static int fact_size_bounded(myth_facts *k, uint32_t e)
{
    int worst = 4;
    for (uint32_t i = 0; i < 3; i++) {
        const int v = argument_value(k, e, i);
        if (v != MYTH_VALUE_SUM && v != MYTH_VALUE_PRODUCT)
            continue;
        const int is = argument_bound(k, e, i, 4);
        if (worst == 4 || (is != TESTED_GUARDS && is != 4))
            worst = is;
    }
    return worst;
}

/* ---- others ---- */

static int fact_set_later(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = myth_facts_event(k, e)->path;
    for (uint32_t i = e + 1, n = 0; path && i < f->n_event && n < MYTH_FACTS_NEAR; i++, n++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && myth_flow_is_part(f, path, f->event[i].path) &&
            myth_flow_reaches(f, e, i))
            return 1;
    return 0;
}

/* Whether what a call gives replaces its own first argument: p = realloc(p, n). */
static int fact_replaces(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (!kept_by(k, e, &d))
        return 0;
    for (uint32_t i = e + 1; i < d; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == e && f->event[i].index == 0)
            return f->event[i].path == f->event[d].path && !myth_facts_is_shrunk(f, e);
    return 0;
}

enum { KEPT_NO, KEPT_LOCAL, KEPT_ELSEWHERE };

static int fact_kept(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (!kept_by(k, e, &d))
        return KEPT_NO;
    const myth_path *p = &f->path[f->event[d].path];
    const bool is_local =
        !f->is_file && p->base == 0 && (p->type_end > 0 || p->is_declared) && f->names[p->text] != '*';
    return is_local && !myth_facts_is_static(f, p) ? KEPT_LOCAL : KEPT_ELSEWHERE;
}

static int fact_how(myth_facts *k, uint32_t e) { return myth_facts_event(k, e)->how; }

static int fact_value(myth_facts *k, uint32_t e) { return myth_facts_event(k, e)->value; }

static int fact_loop_test(myth_facts *k, uint32_t e)
{
    for (uint32_t t = myth_facts_event(k, e)->test; t; t = k->flow->test[t - 1].outer)
        if (k->flow->test[t - 1].is_loop)
            return 1;
    return 0;
}

static int fact_indexes(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *t = myth_facts_event(k, e);
    if (!t->test)
        return 0;
    const uint32_t then = myth_facts_outermost(f, t)->then;
    for (uint32_t i = e + 1; i < f->n_event && i < e + MYTH_FACTS_NEAR; i++)
        if (f->event[i].kind == MYTH_EVENT_INDEX && f->event[i].path == t->path &&
            (then == 0 || myth_flow_is_inside(f, f->event[i].scope, then)))
            return 1;
    return 0;
}

enum { TYPE_UNKNOWN, TYPE_POINTER, TYPE_ARRAY, TYPE_UNSIGNED, TYPE_SIGNED, TYPE_FLOAT, TYPE_OTHER };

/* size_t and std::size_t; not a project's own rs_size_t, which may be signed. */
static bool is_size_type(const char *text)
{
    const char *p = strstr(text, "size_t");
    return p && (p == text || !myth_is_word(p[-1]) || strstr(text, "ssize_t"));
}

static int type_of(const myth_flow *f, uint32_t path)
{
    const myth_path *p = &f->path[path];
    if (!path)
        return TYPE_UNKNOWN;
    if (p->is_array)
        return TYPE_ARRAY;
    if (p->is_pointer)
        return TYPE_POINTER;
    const uint32_t n = p->type_end - p->type_off;
    char text[64];
    if (n == 0 || n >= sizeof(text) || p->type_end > f->n_text)
        return n ? TYPE_OTHER : TYPE_UNKNOWN;
    memcpy(text, f->text + p->type_off, n);
    text[n] = '\0';
    if (strstr(text, "::") || strchr(text, '<'))
        return TYPE_OTHER;
    if (strstr(text, "unsigned") || is_size_type(text) || strstr(text, "uint") || strcmp(text, "u_int") == 0 ||
        strstr(text, "usize") || strstr(text, "u32") || strstr(text, "u64"))
        return strstr(text, "ssize_t") ? TYPE_SIGNED : TYPE_UNSIGNED;
    if (strcmp(text, "int") == 0 || strcmp(text, "long") == 0 || strcmp(text, "short") == 0 ||
        strstr(text, "ssize_t") || strcmp(text, "long long") == 0 || strncmp(text, "int", 3) == 0 ||
        strcmp(text, "off_t") == 0 || strcmp(text, "char") == 0)
        return TYPE_SIGNED;
    return strcmp(text, "float") == 0 || strcmp(text, "double") == 0 ? TYPE_FLOAT : TYPE_OTHER;
}

static int fact_keeps(myth_facts *k, uint32_t e)
{
    uint32_t d;
    if (!kept_by(k, e, &d))
        return TYPE_UNKNOWN;
    return type_of(k->flow, myth_facts_event(k, d)->path);
}

static int fact_type(myth_facts *k, uint32_t e) { return type_of(k->flow, myth_facts_event(k, e)->path); }
static int fact_versus_type(myth_facts *k, uint32_t e) { return type_of(k->flow, myth_facts_event(k, e)->other); }
/* The values are those of myth_scope_kind, in its order. */
static int fact_scope(myth_facts *k, uint32_t e) { return k->flow->scope[myth_facts_event(k, e)->scope].kind; }

/* Of what was swapped or copied: `how` is set where it is found. */
static int fact_certain(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    return at->kind == MYTH_EVENT_COPIED ? at->how : at->how != 0;
}

static int fact_depth(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    return at->path && k->flow->path[at->path].base != 0;
}

/* ---- the file ---- */

enum { ELSEWHERE_UNKNOWN, ELSEWHERE_NEVER, ELSEWHERE_SOMETIMES, ELSEWHERE_MOSTLY };

static int fact_elsewhere(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char key[MYTH_FLOW_PATH_BYTES + 2];
    const myth_file_name *n = NULL;
    if (at->kind == MYTH_EVENT_CALL)
        n = myth_file_facts_find(k->file, f->names + at->name);
    else if (at->path && f->path[at->path].base) {
        myth_file_facts_field(key, f, at->path);
        n = myth_file_facts_find(k->file, key);
    } else {
        const uint32_t c = myth_facts_origin_call(k, e);
        n = c ? myth_file_facts_find(k->file, f->names + c) : NULL;
    }
    if (!n || n->n_tested + n->n_used < 2)
        return ELSEWHERE_UNKNOWN;
    if (n->n_tested == 0)
        return ELSEWHERE_NEVER;
    return n->n_tested >= n->n_used ? ELSEWHERE_MOSTLY : ELSEWHERE_SOMETIMES;
}

static int fact_exported(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    (void)e;
    return !(f->off + 7 <= f->n_text && memcmp(f->text + f->off, "static", 6) == 0);
}

static int fact_defined_here(myth_facts *k, uint32_t e)
{
    const myth_file_name *n = myth_file_facts_find(k->file, k->flow->names + myth_facts_event(k, e)->name);
    return n && n->parameters;
}

/* What form of code an event is, which its file of forms/ found: as a number of the fact's values. */
static int form(myth_facts *k, uint32_t e, int kind)
{
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind != kind)
        return 0;
    k->at_line = at->call;
    return at->how;
}

static int fact_contrary(myth_facts *k, uint32_t e) { return form(k, e, MYTH_EVENT_CONTRARY); }
static int fact_habit(myth_facts *k, uint32_t e)
{
    return myth_facts_event(k, e)->how < MYTH_MISUSE_FIRST ? form(k, e, MYTH_EVENT_HABIT) : 0;
}
static int fact_misuse(myth_facts *k, uint32_t e)
{
    const int how = form(k, e, MYTH_EVENT_HABIT);
    return how > MYTH_MISUSE_FIRST && how < MYTH_SHOWN_FIRST ? how - MYTH_MISUSE_FIRST : 0;
}
static int fact_shown(myth_facts *k, uint32_t e)
{
    const int how = form(k, e, MYTH_EVENT_HABIT);
    return how > MYTH_SHOWN_FIRST ? how - MYTH_SHOWN_FIRST : 0;
}

static int fact_lost(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind != MYTH_EVENT_LOST)
        return 0;
    k->at_line = at->call < k->flow->n_lost ? k->flow->lost[at->call].line : 0;
    return at->how;
}

/* ---- the table ---- */

static int (*const fact_function[MYTH_FACT_N])(myth_facts *k, uint32_t e) = {
    [MYTH_FACT_origin] = fact_origin,
    [MYTH_FACT_tested] = fact_tested,
    [MYTH_FACT_bounded] = fact_bounded,
    [MYTH_FACT_nonzero] = fact_nonzero,
    [MYTH_FACT_exported] = fact_exported,
    [MYTH_FACT_unset] = myth_fact_unset,
    [MYTH_FACT_keeps] = fact_keeps,
    [MYTH_FACT_set_later] = fact_set_later,
    [MYTH_FACT_kept] = fact_kept,
    [MYTH_FACT_replaces] = fact_replaces,
    [MYTH_FACT_ends] = myth_fact_ends,
    [MYTH_FACT_result] = fact_result,
    [MYTH_FACT_checked] = fact_checked,
    [MYTH_FACT_freed] = myth_fact_freed,
    [MYTH_FACT_way] = myth_fact_way,
    [MYTH_FACT_shared] = myth_fact_shared,
    [MYTH_FACT_address] = myth_fact_address,
    [MYTH_FACT_released] = myth_fact_released,
    [MYTH_FACT_release_later] = myth_fact_release_later,
    [MYTH_FACT_leaves] = myth_fact_leaves,
    [MYTH_FACT_unlocked] = myth_fact_unlocked,
    [MYTH_FACT_second_later] = myth_fact_second_later,
    [MYTH_FACT_held] = myth_fact_held,
    [MYTH_FACT_certain] = fact_certain,
    [MYTH_FACT_escapes] = myth_fact_escapes,
    [MYTH_FACT_arg0] = fact_arg0,
    [MYTH_FACT_arg1] = fact_arg1,
    [MYTH_FACT_arg2] = fact_arg2,
    [MYTH_FACT_arg3] = fact_arg3,
    [MYTH_FACT_arg0_bounded] = fact_arg0_bounded,
    [MYTH_FACT_arg1_bounded] = fact_arg1_bounded,
    [MYTH_FACT_arg2_bounded] = fact_arg2_bounded,
    [MYTH_FACT_args] = fact_args,
    [MYTH_FACT_size_bounded] = fact_size_bounded,
    [MYTH_FACT_how] = fact_how,
    [MYTH_FACT_versus] = fact_value, /* of a test, what it compares with */
    [MYTH_FACT_value] = fact_value,
    [MYTH_FACT_loop_test] = fact_loop_test,
    [MYTH_FACT_indexes] = fact_indexes,
    [MYTH_FACT_type] = fact_type,
    [MYTH_FACT_versus_type] = fact_versus_type,
    [MYTH_FACT_scope] = fact_scope,
    [MYTH_FACT_elsewhere] = fact_elsewhere,
    [MYTH_FACT_secret] = myth_fact_secret,
    [MYTH_FACT_empty] = myth_fact_empty,
    [MYTH_FACT_guarded] = myth_fact_guarded,
    [MYTH_FACT_depth] = fact_depth,
    [MYTH_FACT_defined_here] = fact_defined_here,
    [MYTH_FACT_by_dot] = myth_fact_by_dot,
    [MYTH_FACT_made_in] = myth_fact_made_in,
    [MYTH_FACT_handed_on] = myth_fact_handed_on,
    [MYTH_FACT_memory] = myth_fact_memory,
    [MYTH_FACT_memory_ends] = myth_fact_memory_ends,
    [MYTH_FACT_usually_tested] = myth_fact_usually_tested,
    [MYTH_FACT_vetted] = myth_fact_vetted,
    [MYTH_FACT_asked_after] = myth_fact_asked_after,
    [MYTH_FACT_waived] = myth_fact_waived,
    [MYTH_FACT_settled] = myth_fact_settled,
    [MYTH_FACT_read_bare] = myth_fact_read_bare,
    [MYTH_FACT_form_asked] = myth_fact_form_asked,
    [MYTH_FACT_made_for] = myth_fact_made_for,
    [MYTH_FACT_put_to_use] = myth_fact_put_to_use,
    [MYTH_FACT_at_end] = myth_fact_at_end,
    [MYTH_FACT_library] = myth_fact_library,
    [MYTH_FACT_preset] = myth_fact_preset,
    [MYTH_FACT_rights] = myth_fact_rights,
    [MYTH_FACT_minor] = myth_fact_minor,
    [MYTH_FACT_always_there] = myth_fact_always_there,
    [MYTH_FACT_last] = myth_fact_last,
    [MYTH_FACT_excused] = myth_fact_excused,
    [MYTH_FACT_parting] = myth_fact_parting,
    [MYTH_FACT_tries] = myth_fact_tries,
    [MYTH_FACT_given] = myth_fact_given,
    [MYTH_FACT_given1] = myth_fact_given1,
    [MYTH_FACT_given2] = myth_fact_given2,
    [MYTH_FACT_between] = myth_fact_between,
    [MYTH_FACT_given_base] = myth_fact_given_base,
    [MYTH_FACT_target] = myth_fact_target,
    [MYTH_FACT_measured] = myth_fact_measured,
    [MYTH_FACT_mentioned] = myth_fact_mentioned,
    [MYTH_FACT_own_size] = myth_fact_own_size,
    [MYTH_FACT_fills] = myth_fact_fills,
    [MYTH_FACT_spent] = myth_fact_spent,
    [MYTH_FACT_adds_up] = myth_fact_adds_up,
    [MYTH_FACT_element] = myth_fact_element,
    [MYTH_FACT_size_from] = myth_fact_size_from,
    [MYTH_FACT_contrary] = fact_contrary,
    [MYTH_FACT_reads_xml] = myth_fact_reads_xml,
    [MYTH_FACT_filter] = myth_fact_filter,
    [MYTH_FACT_entry] = myth_fact_entry,
    [MYTH_FACT_unpacks] = myth_fact_unpacks,
    [MYTH_FACT_uploaded] = myth_fact_uploaded,
    [MYTH_FACT_text_page] = myth_fact_text_page,
    [MYTH_FACT_own_parts] = myth_fact_own_parts,
    [MYTH_FACT_unfailing] = myth_fact_unfailing,
    [MYTH_FACT_parted] = myth_fact_parted,
    [MYTH_FACT_own_values] = myth_fact_own_values,
    [MYTH_FACT_seen] = myth_fact_seen,
    [MYTH_FACT_when_none] = myth_fact_when_none,
    [MYTH_FACT_scheme] = myth_fact_scheme,
    [MYTH_FACT_own_host] = myth_fact_own_host,
    [MYTH_FACT_safe_loader] = myth_fact_safe_loader,
    [MYTH_FACT_for_server] = myth_fact_for_server,
    [MYTH_FACT_used_before] = myth_fact_used_before,
    [MYTH_FACT_in_tests] = myth_fact_in_tests,
    [MYTH_FACT_chosen] = myth_fact_chosen,
    [MYTH_FACT_rechecked] = myth_fact_rechecked,
    [MYTH_FACT_verified] = myth_fact_verified,
    [MYTH_FACT_sent] = myth_fact_sent,
    [MYTH_FACT_guessable] = myth_fact_guessable,
    [MYTH_FACT_hollow] = myth_fact_hollow,
    [MYTH_FACT_fixed0] = myth_fact_fixed0,
    [MYTH_FACT_fixed1] = myth_fact_fixed1,
    [MYTH_FACT_fixed2] = myth_fact_fixed2,
    [MYTH_FACT_fixed4] = myth_fact_fixed4,
    [MYTH_FACT_wide] = myth_fact_wide,
    [MYTH_FACT_one_block] = myth_fact_one_block,
    [MYTH_FACT_fallback] = myth_fact_fallback,
    [MYTH_FACT_scans] = myth_fact_scans,
    [MYTH_FACT_behind] = myth_fact_behind,
    [MYTH_FACT_fills_rest] = myth_fact_fills_rest,
    [MYTH_FACT_unended] = myth_fact_unended,
    [MYTH_FACT_wrong_size] = myth_fact_wrong_size,
    [MYTH_FACT_followed] = myth_fact_followed,
    [MYTH_FACT_longest] = myth_fact_longest,
    [MYTH_FACT_file] = myth_fact_file,
    [MYTH_FACT_format] = myth_fact_format,
    [MYTH_FACT_owned] = myth_fact_owned,
    [MYTH_FACT_bytes] = myth_fact_bytes,
    [MYTH_FACT_hands] = myth_fact_hands,
    [MYTH_FACT_factors] = myth_fact_factors,
    [MYTH_FACT_wraps] = myth_fact_wraps,
    [MYTH_FACT_wire] = myth_fact_wire,
    [MYTH_FACT_half_set] = myth_fact_half_set,
    [MYTH_FACT_counted] = myth_fact_counted,
    [MYTH_FACT_signed_byte] = myth_fact_signed_byte,
    [MYTH_FACT_unit] = myth_fact_unit,
    [MYTH_FACT_next_of] = myth_fact_next_of,
    [MYTH_FACT_goes_on] = myth_fact_goes_on,
    [MYTH_FACT_gets_secret] = myth_fact_gets_secret,
    [MYTH_FACT_len_less] = myth_fact_len_less,
    [MYTH_FACT_unasked] = myth_fact_unasked,
    [MYTH_FACT_asked_rights] = myth_fact_asked_rights,
    [MYTH_FACT_habit] = fact_habit,
    [MYTH_FACT_misuse] = fact_misuse,
    [MYTH_FACT_shown] = fact_shown,
    [MYTH_FACT_lost] = fact_lost,
    [MYTH_FACT_of_pattern] = myth_fact_of_pattern,
};

/* A fact without values is a name, which has no number. */
int myth_fact(myth_facts *k, myth_fact_kind fact, uint32_t event)
{
    return fact_function[fact] ? fact_function[fact](k, event) : 0;
}
