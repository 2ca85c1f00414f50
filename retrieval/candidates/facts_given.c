/* facts_given.c - who gave the values that a call gets: the program itself, the function's caller, a request (facts.h).
 *
 * Through    a value goes on through calls of the list that a row names by `with` (joins, formats); what is in the
 *            arguments of another call is taken to be looked up or escaped there, and comes from the program
 * Checked    a value that is compared with a text, looked for in something, or given to a function in a condition or
 *            to one whose name says that it checks, before
 * Cost       at most MOST_LOOKS events of values, each with the NEAR events around it */
#include "facts_impl.h"
#include "flow_impl.h"

#include <string.h>

enum { GIVEN_NO, GIVEN_PROGRAM, GIVEN_CHECKED, GIVEN_FIELD, GIVEN_PARAMETER, GIVEN_REQUEST };
enum { NEAR = 256, DEEP = 3, MOST_LOOKS = 256 };

#define N_OF(list) (sizeof(list) / sizeof(*(list)))

/* Whether a path or a function's name is a part of a request that its sender wrote. */
static bool is_request(const char *name)
{
    static const char *const base[] = {"req.", "request.", "r.", "ctx.", "context.", "c.", "ctx.request."};
    static const char *const part[] = {"query",        "params",    "body",        "headers",        "cookies",
                                       "originalUrl",  "args",      "form",        "values",         "json",
                                       "files",        "GET",       "POST",        "FILES",          "getParameter",
                                       "getHeader",    "getQuery",  "getPathInfo", "getRequest",     "get_json",
                                       "query_params", "matchdict", "match_info",  "data",           "FormValue",
                                       "PostForm",     "URL",       "Form",        "PathValue",      "get_argument",
                                       "param",        "header",    "url",         "getInputStream", "cookie"};
    static const char *const context[] = {"query",    "params",     "Query",     "Param",
                                          "PostForm", "QueryParam", "FormValue", "request."};
    static const char *const go[] = {"FormValue", "PostForm", "URL", "Form", "PathValue", "Header", "Body"};
    static const char *const front[] = {"self.", "this.", "flask.", "bottle."};
    if (strstr(name, ".getOriginalFilename"))
        return true;
    for (size_t i = 0; i < N_OF(front); i++)
        if (strncmp(name, front[i], strlen(front[i])) == 0) {
            name += strlen(front[i]);
            if (strncmp(name, "get_argument", 12) == 0)
                return true;
            break;
        }
    for (size_t i = 0; i < N_OF(base); i++) {
        const size_t n = strlen(base[i]);
        if (strncmp(name, base[i], n) != 0)
            continue;
        if (base[i][0] == 'c')
            return myth_flow_begins_with(name + n, context, N_OF(context));
        if (base[i][0] == 'r' && base[i][1] == '.')
            return myth_flow_begins_with(name + n, go, N_OF(go));
        return myth_flow_begins_with(name + n, part, N_OF(part));
    }
    return false;
}

static bool is_own(const char *name)
{
    static const char *const own[] = {"self", "this", "cls", "__dirname", "__file__", "__filename", "super"};
    const size_t n = strcspn(name, ".[-(");
    for (size_t i = 0; i < N_OF(own); i++)
        if (strlen(own[i]) == n && memcmp(name, own[i], n) == 0)
            return true;
    return false;
}

/* Whether the type of a path is one whose texts are harmless: numbers, truths, dates. */
static bool is_number(const myth_flow *f, uint32_t path)
{
    static const char *const type[] = {"int",     "uint",  "unsigned", "long",   "Long",   "Integer", "short", "bool",
                                       "Boolean", "float", "double",   "number", "size_t", "usize",   "i32",   "i64",
                                       "u32",     "u64",   "UUID",     "uuid",   "date",   "Date",    "time"};
    char text[24];
    const myth_path *p = &f->path[path];
    uint32_t off = p->type_off, n = 0;
    while (off < p->type_end && off < f->n_text && (f->text[off] == ':' || f->text[off] == ' '))
        off++;
    for (; off < p->type_end && off < f->n_text && n + 1 < sizeof(text); off++)
        text[n++] = f->text[off];
    text[n] = '\0';
    return n > 0 && myth_flow_begins_with(text, type, N_OF(type));
}

static bool is_in_condition(const myth_flow *f, const myth_event *x)
{
    if (x->test)
        return true;
    for (uint32_t i = 0; i < f->n_test; i++)
        if (f->test[i].off <= x->off && x->end <= f->test[i].end)
            return true;
    return false;
}

/* Whether event t says that the path was tested for what it may be. */
static bool is_check(const myth_flow *f, const myth_event *t)
{
    static const char *const word[] = {"valid",  "Valid",  "check",    "Check",   "verify",  "Verify",
                                       "ensure", "assert", "authoriz", "sanitiz", "Sanitiz", "allowed"};
    static const char *const only_there[] = {"xist", "stat", "isfile", "isdir", "access", "open", "read", "Read"};
    if (t->kind == MYTH_EVENT_TEST)
        return t->how == MYTH_TEST_IN ||
               ((t->how == MYTH_TEST_EQUAL || t->how == MYTH_TEST_NOT_EQUAL) && t->value == MYTH_VALUE_TEXT);
    if (t->kind == MYTH_EVENT_CALL) /* if (!p.startsWith(root)) */
        return is_in_condition(f, t);
    if (t->kind != MYTH_EVENT_ARG || t->call >= f->n_event)
        return false;
    const char *name = f->names + f->event[t->call].name;
    return myth_flow_has_one_of(name, word, N_OF(word)) ||
           (!myth_flow_has_one_of(name, only_there, N_OF(only_there)) && is_in_condition(f, &f->event[t->call]));
}

/* is_whole: a check of a part of the path counts too. */
static bool is_checked(const myth_flow *f, uint32_t path, uint32_t e, bool is_whole)
{
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++)
        if ((f->event[i].path == path || (is_whole && myth_flow_is_part(f, f->event[i].path, path))) &&
            is_check(f, &f->event[i]))
            return true;
    return false;
}

static bool is_through(const myth_facts *k, const myth_event *call)
{
    return call->name && k->is_release && k->is_release(k->arg, k->flow->names + call->name);
}

/* Whether event x is in the arguments of a call from..to that does not hand its value on. */
static bool is_taken(const myth_facts *k, uint32_t x, uint32_t from, uint32_t to)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[x];
    const uint32_t first = x > NEAR ? x - NEAR : 0;
    for (uint32_t i = first; i < f->n_event && i < x + NEAR; i++) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || i == x || c->off < from || c->end > to || is_through(k, c))
            continue;
        const TSNode list = myth_roles_child(f->roles, c->node, MYTH_SLOT_ARGUMENTS);
        if (!ts_node_is_null(list) && at->off >= ts_node_start_byte(list) && at->end <= ts_node_end_byte(list))
            return true;
    }
    return false;
}

/* Whether event x is in the condition of a choice between values. */
static bool is_condition(const myth_flow *f, const myth_event *x, uint32_t from, uint32_t to)
{
    const myth_test *t = x->test ? &f->test[x->test - 1] : NULL;
    return t && t->off >= from && t->end <= to && x->off >= t->off && x->end <= t->end && !t->is_chain;
}

static int given_in(const myth_facts *k, uint32_t from, uint32_t to, uint32_t e, int deep, int *left);

/* Who gave the value that a path has at event e. */
static int given_by(const myth_facts *k, uint32_t path, uint32_t e, int deep, int *left)
{
    const myth_flow *f = k->flow;
    const char *name = f->names + f->path[path].text;
    uint32_t d;
    if (is_request(name))
        return is_checked(f, path, e, true) ? GIVEN_CHECKED : GIVEN_REQUEST;
    if (is_own(name) || myth_flow_is_constant_name(name) || is_number(f, path) ||
        !myth_facts_definition(k, path, e, &d))
        return GIVEN_PROGRAM;
    const myth_event *def = myth_facts_event(k, d);
    if (def->value == MYTH_VALUE_PARAMETER) {
        if (is_checked(f, path, e, false))
            return GIVEN_CHECKED;
        return def->path == path ? GIVEN_PARAMETER : GIVEN_FIELD;
    }
    const TSNode value = myth_facts_value_node(f, def);
    if (def->path != path || deep >= DEEP || ts_node_is_null(value) || def->value == MYTH_VALUE_TEXT ||
        def->value == MYTH_VALUE_NUMBER || def->value == MYTH_VALUE_LOOP)
        return GIVEN_PROGRAM;
    const int is = given_in(k, ts_node_start_byte(value), ts_node_end_byte(value), d, deep + 1, left);
    return is > GIVEN_CHECKED && is_checked(f, path, e, false) ? GIVEN_CHECKED : is;
}

/* Who gave the values in bytes from..to, which are near event e: the one that is farthest from the program. */
static int given_in(const myth_facts *k, uint32_t from, uint32_t to, uint32_t e, int deep, int *left)
{
    const myth_flow *f = k->flow;
    const uint32_t first = e > NEAR ? e - NEAR : 0;
    int most = GIVEN_NO;
    for (uint32_t i = first; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        const bool is_call = x->kind == MYTH_EVENT_CALL;
        if (x->off < from || x->end > to || (!is_call && x->kind != MYTH_EVENT_USE && x->kind != MYTH_EVENT_ARG))
            continue;
        if (is_condition(f, x, from, to))
            continue;
        if (--*left < 0)
            break;
        int is = GIVEN_PROGRAM;
        if (is_taken(k, i, from, to))
            is = GIVEN_PROGRAM;
        else if (is_call && is_request(f->names + x->name))
            is = GIVEN_REQUEST;
        else if (x->path && (!is_call || is_through(k, x)))
            is = given_by(k, x->path, i, deep, left);
        most = is > most ? is : most;
    }
    return most;
}

static int given_argument(const myth_facts *k, uint32_t e, uint32_t i)
{
    const myth_event *at = myth_facts_event(k, e);
    int left = MOST_LOOKS;
    if (at->kind == MYTH_EVENT_ARG || at->kind == MYTH_EVENT_USE)
        return at->path ? given_by(k, at->path, e, 0, &left) : GIVEN_NO;
    const bool is_value = at->kind == MYTH_EVENT_DEFINE || at->kind == MYTH_EVENT_FIELD;
    const TSNode node = is_value ? myth_facts_value_node(k->flow, at) : myth_facts_argument(k, e, i);
    return ts_node_is_null(node) ? GIVEN_NO
                                 : given_in(k, ts_node_start_byte(node), ts_node_end_byte(node), e, 0, &left);
}

int myth_fact_given(myth_facts *k, uint32_t e) { return given_argument(k, e, 0); }
int myth_fact_given1(myth_facts *k, uint32_t e) { return given_argument(k, e, 1); }
