/* facts_given.c - who gave the values that a call gets: the program itself, the function's caller, a request (facts.h).
 *
 * Through    a value goes on through calls of the list that a row names by `with` (joins, formats); what is in the
 *            arguments of another call is taken to be looked up or escaped there, and comes from the program
 * Checked    a value that is compared with a text, looked for in something, or given to a function in a condition or
 *            to one whose name says that it checks, before
 * Cost       at most MOST_LOOKS events of values, each with the NEAR events around it */
#include "facts_span.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    GIVEN_NO = MYTH_GIVEN_NO,
    GIVEN_PROGRAM = MYTH_GIVEN_PROGRAM,
    GIVEN_CHECKED = MYTH_GIVEN_CHECKED,
    GIVEN_FIELD = MYTH_GIVEN_FIELD,
    GIVEN_PARAMETER = MYTH_GIVEN_PARAMETER,
    GIVEN_SEGMENT = MYTH_GIVEN_SEGMENT,
    GIVEN_REQUEST = MYTH_GIVEN_REQUEST
};
enum { NEAR = 256, DEEP = 5, MOST_LOOKS = 256 };

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

/* Whether a function or method, by its name, asks only whether something is there, or how much: if (name.isEmpty()),
 * if (len(data) > most), if not path.is_file(). */
static bool asks_if_there(const char *name)
{
    static const char *const part[] = {"xist", "isfile", "isdir", "access", "open", "read", "Read"};
    static const char *const word[] = {"stat",    "lstat",         "is_file",     "is_dir", "isFile", "isDirectory",
                                       "isEmpty", "isBlank",       "isNotEmpty",  "size",   "length", "count",
                                       "len",     "isRegularFile", "isNotBlank",  "strip",  "trim",   "strlen",
                                       "lower",   "upper",         "toLowerCase", "str",    "isNull", "nonNull",
                                       "hasText", "toUpperCase",   "toString",    "bool",   "String", "Boolean",
                                       "print",   "isdir",         "TrimSpace"};
    return myth_flow_has_one_of(name, part, N_OF(part)) ||
           myth_flow_is_one_of(myth_flow_last_word(name), word, N_OF(word));
}

/* Whether a method gives a part of what it is a method of: if (data.get("name")). */
static bool is_getter(const char *name)
{
    static const char *const word[] = {"get", "Get", "getlist", "getParameter", "getFirst", "getOrDefault"};
    return myth_flow_is_one_of(myth_flow_last_word(name), word, N_OF(word));
}

/* Whether a test compares with the empty text: if (sort == ""). */
static bool is_with_empty(const myth_flow *f, const myth_event *t)
{
    TSNode node = t->node;
    for (int i = 0; i < 4 && !is_null(node) && role_of(f, node) != MYTH_ROLE_BINARY; i++)
        node = ts_node_parent(node);
    for (uint32_t i = 0; !is_null(node) && i < ts_node_named_child_count(node) && i < 4; i++) {
        const TSNode side = ts_node_named_child(node, i);
        if (role_of(f, side) == MYTH_ROLE_TEXT && ts_node_end_byte(side) - ts_node_start_byte(side) <= 2)
            return true;
    }
    return false;
}

/* Whether a function of the program's own, by its name, cleans what it gets: cleanPath, not path.Clean, which leaves
 * "..". */
static bool cleans(const char *name)
{
    static const char *const part[] = {"clean", "Clean", "normali", "Normali"};
    static const char *const library[] = {"Clean", "clean", "normalize", "normalise"};
    return myth_flow_has_one_of(name, part, N_OF(part)) &&
           !myth_flow_is_one_of(myth_flow_last_word(name), library, N_OF(library));
}

/* Whether a text that event t is put into is asked for in a list: list.includes(`${a}/${b}`). */
static bool is_in_list(const myth_flow *f, const myth_event *t)
{
    static const char *const asks[] = {"includes", "has", "contains", "Contains", "indexOf"};
    const uint32_t at = (uint32_t)(t - f->event);
    for (uint32_t i = at, n = 0; i-- > 0 && n < 16; n++) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || c->off > t->off || c->end < t->end)
            continue;
        const TSNode list = myth_roles_child(f->roles, c->node, MYTH_SLOT_ARGUMENTS);
        if (!is_null(list) && t->off >= ts_node_start_byte(list) && is_in_condition(f, c) &&
            myth_flow_is_one_of(myth_flow_last_word(f->names + c->name), asks, N_OF(asks)))
            return true;
    }
    return false;
}

/* Whether event t says that the path was tested for what it may be. */
static bool is_check(const myth_flow *f, const myth_event *t)
{
    static const char *const word[] = {
        "valid",     "Valid",    "check",   "Check",    "verify",   "Verify",    "ensure",    "assert",   "authoriz",
        "sanitiz",   "Sanitiz",  "allowed", "ravers",   "is_safe",  "isSafe",    "safe_path", "safePath", "SafePath",
        "safe_join", "safeJoin", "secure_", "escapes_", "isInside", "is_inside", "isWithin",  "is_within"};
    if (t->kind == MYTH_EVENT_TEST)
        return t->how == MYTH_TEST_IN || ((t->how == MYTH_TEST_EQUAL || t->how == MYTH_TEST_NOT_EQUAL) &&
                                          t->value == MYTH_VALUE_TEXT && !is_with_empty(f, t));
    if (t->kind == MYTH_EVENT_CALL) /* if (!p.startsWith(root)) */
        return is_in_condition(f, t) && !asks_if_there(f->names + t->name) && !is_getter(f->names + t->name);
    if (t->kind == MYTH_EVENT_USE)
        return is_in_list(f, t);
    if (t->kind != MYTH_EVENT_ARG || t->call >= f->n_event)
        return false;
    const char *name = f->names + f->event[t->call].name;
    return myth_flow_has_one_of(name, word, N_OF(word)) || cleans(name) ||
           (!asks_if_there(name) && is_in_condition(f, &f->event[t->call]));
}

/* Whether a function, by its name, gives the same thing in another form, or its parts. */
static bool is_parser(const char *name)
{
    static const char *const part[] = {"pars", "Pars",  "url",  "URL",  "split", "path",  "Path",
                                       "solv", "ormal", "real", "join", "Join",  "Clean", "ookup"};
    return myth_flow_has_one_of(name, part, N_OF(part));
}

/* is_whole: a check of a part of the path counts too. deep: of how many values made of it a check counts as well, as in
 * u = urlparse(path) ... if (u.host in allowed). */
static bool is_checked(const myth_flow *f, uint32_t path, uint32_t e, bool is_whole, int deep)
{
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *t = &f->event[i];
        uint32_t d;
        if (t->path != path && !(is_whole && myth_flow_is_part(f, t->path, path)))
            continue;
        if (is_check(f, t))
            return true;
        if (deep > 0 && t->kind == MYTH_EVENT_ARG && t->call < e && is_parser(f->names + f->event[t->call].name) &&
            myth_facts_taker(f, t->call, &d) && d < e && f->event[d].path &&
            is_checked(f, f->event[d].path, e, true, deep - 1))
            return true;
    }
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

/* Whether the same call, with the same arguments, was given to a function in a condition before: if
 * (is_ours(request.args.get("next"))). */
static bool is_checked_call(const myth_flow *f, uint32_t e)
{
    const myth_event *x = &f->event[e];
    const uint32_t n = x->end - x->off;
    for (uint32_t i = e, seen = 0; i-- > 0 && seen < MYTH_FACTS_NEAR; seen++) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || c->end - c->off != n || memcmp(f->text + c->off, f->text + x->off, n) != 0)
            continue;
        for (uint32_t j = i; j-- > 0 && i - j < NEAR;)
            if (f->event[j].kind == MYTH_EVENT_CALL && f->event[j].off < c->off && f->event[j].end >= c->end &&
                is_in_condition(f, &f->event[j]))
                return true;
    }
    return false;
}

static int given_in(const myth_facts *k, uint32_t from, uint32_t to, uint32_t e, int deep, int *left);

/* The value whose members a pattern takes out: v of const { a, b: c } = v. Null = the definition is in no pattern. */
static TSNode taken_apart(const myth_flow *f, const myth_event *def)
{
    TSNode node = ts_node_parent(def->node);
    for (int i = 0; i < 6 && !ts_node_is_null(node) && strstr(ts_node_type(node), "pattern"); i++)
        node = ts_node_parent(node);
    return ts_node_is_null(node) || def->value != MYTH_VALUE_UNKNOWN
             ? (TSNode){0}
             : myth_roles_child(f->roles, node, MYTH_SLOT_RIGHT);
}

/* What a call that is given the address of a path writes into it: json.NewDecoder(r.Body).Decode(&path). */
static int given_out(const myth_facts *k, uint32_t d, int deep, int *left)
{
    const myth_flow *f = k->flow;
    const myth_event *def = myth_facts_event(k, d);
    for (uint32_t i = d; i-- > 0 && d - i < NEAR;) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || c->off > def->off || c->end < def->end)
            continue;
        const char *name = f->names + c->name;
        static const char *const bind[] = {"c.Bind",        "c.ShouldBind", "c.BodyParser",
                                           "c.QueryParser", "ctx.Bind",     "ctx.ShouldBind"};
        if (myth_flow_begins_with(name, bind, N_OF(bind)))
            return GIVEN_REQUEST;
        return given_in(k, c->off, c->end, i, deep + 1, left);
    }
    return GIVEN_PROGRAM;
}

/* Go: the name of an uploaded file, header.Filename, from which mime/multipart has taken all folders away. */
static bool is_base_name(const myth_flow *f, uint32_t path, const myth_event *def)
{
    return def->path != path && strcmp(f->names + f->path[path].last, "Filename") == 0 &&
           strcmp(myth_flow_last_word(f->names + def->name), "FormFile") == 0;
}

/* Who gave the value that a path has at event e, if it has it from definition d. */
static int given_from(const myth_facts *k, uint32_t path, uint32_t e, uint32_t d, int deep, int *left)
{
    const myth_flow *f = k->flow;
    const myth_event *def = myth_facts_event(k, d);
    const bool is_whole = def->path == path;
    int is;
    if (def->value == MYTH_VALUE_PARAMETER) {
        const myth_request_part part = myth_facts_parameter_of_request(k->file, f, def);
        is = part == MYTH_REQUEST_ANY     ? GIVEN_REQUEST
           : part == MYTH_REQUEST_SEGMENT ? GIVEN_SEGMENT
           : is_whole                     ? GIVEN_PARAMETER
                                          : GIVEN_FIELD;
    } else if (deep >= DEEP || def->value == MYTH_VALUE_TEXT || def->value == MYTH_VALUE_NUMBER ||
               def->value == MYTH_VALUE_LOOP)
        return GIVEN_PROGRAM;
    else if (def->value == MYTH_VALUE_OUT)
        is = given_out(k, d, deep, left);
    else {
        TSNode value = myth_facts_value_node(f, def);
        value = is_null(value) ? taken_apart(f, def) : value;
        if (is_null(value))
            return GIVEN_PROGRAM;
        if (is_base_name(f, path, def))
            return GIVEN_CHECKED;
        is = given_in(k, ts_node_start_byte(value), ts_node_end_byte(value), d, deep + 1, left);
    }
    const bool is_direct = is_whole && def->value != MYTH_VALUE_OUT && def->value != MYTH_VALUE_UNKNOWN;
    if (!is_direct && def->value != MYTH_VALUE_PARAMETER && is < GIVEN_SEGMENT)
        return GIVEN_PROGRAM; /* a member of what the program made */
    return is > GIVEN_CHECKED && is_checked(f, path, e, false, is >= GIVEN_SEGMENT) ? GIVEN_CHECKED : is;
}

/* Who gave the value that a path has at event e: of several definitions that may be the last, the one that is farthest
 * from the program. */
static int given_by(const myth_facts *k, uint32_t path, uint32_t e, int deep, int *left)
{
    const myth_flow *f = k->flow;
    const char *name = f->names + f->path[path].text;
    int most = GIVEN_PROGRAM;
    if (myth_facts_is_request_in(f, name))
        return is_checked(f, path, e, true, 1) ? GIVEN_CHECKED : GIVEN_REQUEST;
    if (is_own(name) || myth_flow_is_constant_name(name) || is_number(f, path))
        return GIVEN_PROGRAM;
    const uint32_t first = e > MYTH_FACTS_NEAR ? e - MYTH_FACTS_NEAR : 0;
    for (uint32_t i = e; i > first && *left >= 0;) {
        const myth_event *d = &f->event[--i];
        if (d->kind != MYTH_EVENT_DEFINE || !d->path || !myth_flow_is_part(f, path, d->path) ||
            !myth_flow_reaches(f, i, e))
            continue;
        const int is = given_from(k, path, e, i, deep, left);
        most = is > most ? is : most;
        if (myth_flow_is_inside(f, f->event[e].scope, d->scope))
            break; /* it is always run: no one before it is the last */
        --*left;
    }
    return most;
}

/* Whether what event x reads is only what a method or a member is taken of: a.b of a.b.c(). */
static bool is_base(const myth_flow *f, const myth_event *x)
{
    const TSNode parent = ts_node_parent(x->node);
    return x->kind == MYTH_EVENT_USE && !is_null(parent) && role_of(f, parent) == MYTH_ROLE_MEMBER;
}

/* Whether event x is in what chooses an element of something in bytes from..to: columns[x], columns[f(x)]. */
static bool is_index(const myth_flow *f, const myth_event *x, uint32_t from, uint32_t to)
{
    TSNode node = x->node;
    for (int i = 0; i < 8; i++) {
        const TSNode parent = ts_node_parent(node);
        if (is_null(parent) || ts_node_start_byte(parent) < from || ts_node_end_byte(parent) > to)
            return false;
        if (role_of(f, parent) == MYTH_ROLE_INDEX && ts_node_eq(index_of(f, parent), node))
            return true;
        node = parent;
    }
    return false;
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
        if (is_condition(f, x, from, to) || is_index(f, x, from, to))
            continue;
        if (--*left < 0)
            break;
        int is = GIVEN_PROGRAM;
        if (is_taken(k, i, from, to))
            is = GIVEN_PROGRAM;
        else if (is_call && myth_facts_is_request_in(f, f->names + x->name))
            is = is_checked_call(f, i) ? GIVEN_CHECKED : GIVEN_REQUEST;
        else if (is_base(f, x) && myth_facts_is_request_in(f, f->names + f->path[x->path].text))
            is = GIVEN_PROGRAM; /* the call or the member says more */
        else if (x->path && (!is_call || is_through(k, x)))
            is = given_by(k, x->path, i, deep, left);
        most = is > most ? is : most;
    }
    return most;
}

int myth_facts_given(const myth_facts *k, uint32_t e, uint32_t i)
{
    const myth_event *at = myth_facts_event(k, e);
    int left = MOST_LOOKS;
    if (at->kind == MYTH_EVENT_ARG || at->kind == MYTH_EVENT_USE)
        return at->path ? given_by(k, at->path, e, 0, &left) : GIVEN_NO;
    const bool is_value = at->kind == MYTH_EVENT_DEFINE || at->kind == MYTH_EVENT_FIELD;
    const TSNode node = is_value                     ? myth_facts_value_node(k->flow, at)
                      : at->kind == MYTH_EVENT_LEAVE ? at->node
                                                     : myth_facts_argument(k, e, i);
    return ts_node_is_null(node) ? GIVEN_NO
                                 : given_in(k, ts_node_start_byte(node), ts_node_end_byte(node), e, 0, &left);
}

int myth_fact_given(myth_facts *k, uint32_t e) { return myth_facts_given(k, e, 0); }
int myth_fact_given1(myth_facts *k, uint32_t e) { return myth_facts_given(k, e, 1); }
int myth_fact_given2(myth_facts *k, uint32_t e) { return myth_facts_given(k, e, 2); }

int myth_fact_given_base(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    int left = MOST_LOOKS;
    return at->kind == MYTH_EVENT_CALL && at->path ? given_by(k, at->path, e, 0, &left) : GIVEN_NO;
}

myth_request_part myth_facts_argument_of_request(const myth_facts *k, uint32_t call, uint32_t index)
{
    const int is = myth_facts_given(k, call, index);
    return is == GIVEN_REQUEST ? MYTH_REQUEST_ANY : is == GIVEN_SEGMENT ? MYTH_REQUEST_SEGMENT : MYTH_REQUEST_NO;
}

/* ---- what stands between the quotes of a statement ---- */

/* Whose a value is, by the last word of its text: one that the program makes itself (repo_id, uuid), or one that
 * somebody wrote. */
static bool is_written_by_somebody(const char *text)
{
    static const char *const own[] = {"id",  "Id",   "ID",    "uuid",  "oid",    "hash",   "sha1",
                                      "sha", "type", "state", "table", "column", "digest", "time"};
    static const char *const call[] = {"argv", "getenv", "param", "Param", "query", "Query", "form", "input", "recv"};
    static const char *const word[] = {
        "user",  "name",  "login",  "mail",    "query", "search", "patt",  "term", "msg",  "messa", "text",
        "title", "key",   "pass",   "account", "nick",  "host",   "path",  "file", "url",  "addr",  "comm",
        "desc",  "subj",  "body",   "val",     "input", "arg",    "param", "str",  "data", "label", "tag",
        "group", "owner", "domain", "phone",   "city",  "prefix", "token", "word", "buf",  "line",  "email"};
    char last[64] = "";
    for (const char *p = text; *p;) {
        size_t n = 0;
        while (myth_is_word(p[n]))
            n++;
        if (n > 0 && n < sizeof(last) && isalpha((unsigned char)p[0])) {
            for (size_t i = 0; i < n; i++)
                last[i] = p[i];
            last[n] = '\0';
        }
        p += n ? n : 1;
    }
    if (myth_flow_has_one_of(text, call, N_OF(call)))
        return true;
    const size_t n = strlen(last);
    for (size_t i = 0; i < N_OF(own); i++)
        if (n >= strlen(own[i]) && strcmp(last + n - strlen(own[i]), own[i]) == 0)
            return false;
    return myth_flow_has_one_of(last, word, N_OF(word));
}

/* Whose values a call that prints puts between quotes: '%s'. */
int myth_fact_between(myth_facts *k, uint32_t e)
{
    enum { NO, OWN, OUTSIDE };
    const myth_flow *f = k->flow;
    uint32_t at = 0;
    TSNode format = {0};
    for (; at < 4 && is_null(format); at++) {
        const TSNode a = myth_facts_argument(k, e, at);
        if (is_null(a))
            return NO;
        if (role_of(f, a) == MYTH_ROLE_TEXT || strstr(ts_node_type(a), "string"))
            format = a;
    }
    if (is_null(format))
        return NO;
    const uint32_t end = ts_node_end_byte(format);
    int is = NO;
    for (uint32_t i = ts_node_start_byte(format), quote = 0; i + 1 < end && i + 1 < f->n_text; i++) {
        quote ^= f->text[i] == '\'';
        if (f->text[i] != '%')
            continue;
        if (f->text[++i] == '%')
            continue;
        while (i < end && (isdigit((unsigned char)f->text[i]) || strchr(".*-lhz", f->text[i])))
            i++;
        const TSNode value = myth_facts_argument(k, e, at++);
        const bool is_quoted = quote || (i > 3 && f->text[i - 2] == '"' && f->text[i - 3] == '\\');
        if (f->text[i] != 's' || !is_quoted || is_null(value))
            continue;
        char text[96];
        const uint32_t off = ts_node_start_byte(value), n = ts_node_end_byte(value) - off;
        snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) ? n : sizeof(text) - 1), f->text + off);
        is = is_written_by_somebody(text) ? OUTSIDE : is == NO ? OWN : is;
    }
    return is;
}

/* Whether the host of an address is set: url.host = x. */
static bool is_host_set(const myth_flow *f, uint32_t path, uint32_t from, uint32_t to)
{
    static const char *const part[] = {"host", "hostname", "href", "origin", "protocol", "port"};
    for (uint32_t i = from + 1; i < to; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path && f->path[d->path].base == path &&
            myth_flow_is_one_of(f->names + f->path[d->path].last, part, N_OF(part)))
            return true;
    }
    return false;
}

/* const url = new URL('/settings', request.url), or request.nextUrl.clone(), whose host nothing sets. */
int myth_fact_own_host(myth_facts *k, uint32_t e)
{
    static const char *const own[] = {"newURL('/", "newURL(\"/", "newURL(`/"};
    static const char *const whole[] = {".nextUrl.clone()", "newURL(request.url)", "newURL(req.url)",
                                        "newURL(request.nextUrl)", "newURL(req.nextUrl)"};
    myth_flow *f = k->flow;
    char word[MYTH_SPAN_WORD], text[MYTH_SPAN_TEXT];
    uint32_t d;
    const TSNode node = myth_facts_argument(k, e, 0);
    const span s = is_null(node) ? (span){"", 0} : node_span(f, node);
    const uint32_t n = word_at(s, 0, word);
    const uint32_t path = n ? myth_flow_path_of_word(f, ts_node_start_byte(node), n) : 0;
    if (!path || (n < s.n && !has_text(s, ".toString()") && !has_text(s, ".href")) ||
        !myth_facts_definition(k, path, e, &d) || f->event[d].path != path)
        return 0;
    put_tight(text, definition_span(f, &f->event[d]));
    const bool is_path = myth_flow_begins_with(text, own, N_OF(own)) && !strchr("/\\$", text[9]);
    return (is_path || myth_flow_has_one_of(text, whole, N_OF(whole))) && !is_host_set(f, path, d, e);
}
