/* requests.c - what in a program is a part of a request, which its sender wrote: by the name of a path or a function,
 * by the type of a variable, by the annotation of a parameter, or by the route that a function is bound to
 * (facts_impl.h).
 *
 * Types      a variable that is declared as a request counts as one of a usual name: HttpServletRequest, gin.Context
 * Segment    what a router takes out of the path of an address, between two slashes: it has no slash in it
 * Callers    a parameter that another function of the file gives a part of a request is one, too
 * Routes     decorators of Python whose first argument is a path: @app.route("/x/<name>"), @router.get("/x/{name}") */
#define _GNU_SOURCE /* memmem */
#include "facts_span.h"

#include <stdio.h>
#include <string.h>

bool myth_facts_is_request(const char *name)
{
    static const char *const base[] = {"req.",         "request.", "r.",           "ctx.",
                                       "context.",     "c.",       "httpRequest.", "httpServletRequest.",
                                       "ctx.request.", "event."};
    static const char *const part[] = {
        "query",       "params",    "body",           "headers",   "cookies",        "COOKIES",    "originalUrl",
        "args",        "form",      "values",         "json",      "files",          "GET",        "POST",
        "FILES",       "META",      "getParameter",   "getHeader", "getQuery",       "getCookies", "getPart",
        "getPathInfo", "getReader", "getRequest",     "get_json",  "query_params",   "matchdict",  "match_info",
        "data",        "FormValue", "PostForm",       "URL",       "Form",           "PathValue",  "param",
        "header",      "url",       "rel_url",        "cookie",    "getInputStream", "nextUrl",    "get_argument",
        "get_data",    "stream",    "getQueryString", "getParts",  "payload"};
    static const char *const context[] = {"query",        "params",     "Query",     "Param",
                                          "PostForm",     "QueryParam", "FormValue", "GetHeader",
                                          "DefaultQuery", "FormFile",   "Cookie",    "request."};
    static const char *const go[] = {"FormValue", "PostForm", "URL", "Form", "PathValue", "Header", "Body"};
    static const char *const event[] = {"queryStringParameters", "pathParameters", "body", "headers"};
    static const char *const tornado[] = {"get_argument", "get_query_argument", "get_body_argument"};
    static const char *const front[] = {"self.", "this.", "flask.", "bottle."};
    if (strstr(name, ".getOriginalFilename") || strcmp(name, "mux.Vars") == 0 || strcmp(name, "chi.URLParam") == 0)
        return true;
    for (size_t i = 0; i < N_OF(front); i++)
        if (strncmp(name, front[i], strlen(front[i])) == 0) {
            name += strlen(front[i]);
            if (myth_flow_begins_with(name, tornado, N_OF(tornado)))
                return true;
            break;
        }
    for (size_t i = 0; i < N_OF(base); i++) {
        const size_t n = strlen(base[i]);
        if (strncmp(name, base[i], n) != 0)
            continue;
        if (base[i][0] == 'c')
            return myth_flow_begins_with(name + n, context, N_OF(context));
        if (base[i][0] == 'e')
            return myth_flow_begins_with(name + n, event, N_OF(event));
        if (base[i][0] == 'r' && base[i][1] == '.')
            return myth_flow_begins_with(name + n, go, N_OF(go));
        return myth_flow_begins_with(name + n, part, N_OF(part));
    }
    return false;
}

/* Copies bytes from..to of the file, at most cap - 1, and ends them with a zero. */
static void copy(const myth_flow *f, uint32_t from, uint32_t to, char *dst, size_t cap)
{
    const uint32_t end = to < f->n_text ? to : f->n_text;
    const size_t n = end <= from ? 0 : end - from < cap - 1 ? end - from : cap - 1;
    memcpy(dst, f->text + from, n);
    dst[n] = '\0';
}

/* ---- by the type of a variable ---- */

/* What a variable would be called usually, by the type that it is declared with; NULL = it is no request. Go's type is
 * that of a client, too: a server's function has what it answers with beside it. */
static const char *usual_name(const myth_flow *f, const myth_path *p)
{
    static const struct {
        const char *type, *name;
    } known[] = {
        {"HttpServletRequest", "request."},
        {"ServletRequest", "request."},
        {"ServerHttpRequest", "request."},
        {"ServerRequest", "request."},
        {"express.Request", "request."},
        {"FastifyRequest", "request."},
        {"NextRequest", "request."},
        {"gin.Context", "c."},
        {"echo.Context", "c."},
        {"fiber.Ctx", "c."},
        {"http.Request", "r."},
    };
    enum { HEAD = 300 };
    const span type = span_of(f, p->type_off, p->type_end);
    for (size_t i = 0; i < N_OF(known); i++)
        if (has_word(type, known[i].type)) {
            const bool is_server = has_text(begin_of(span_of(f, f->off, f->end), HEAD), "http.ResponseWriter");
            return known[i].name[0] == 'r' && known[i].name[1] == '.' && !is_server ? NULL : known[i].name;
        }
    return NULL;
}

bool myth_facts_is_request_in(const myth_flow *f, const char *name)
{
    enum { MOST = 4 };
    static struct {
        const myth_flow *flow;
        const char *text;
        uint32_t off, n_path, n;
        uint32_t path[MOST];
        const char *usual[MOST];
    } of; /* the variables of the flow that was asked about last; the process has one thread */
    char usual[MYTH_FLOW_PATH_BYTES + 16];
    if (myth_facts_is_request(name))
        return true;
    if (of.flow != f || of.text != f->text || of.off != f->off || of.n_path != f->n_path) {
        of.flow = f;
        of.text = f->text;
        of.off = f->off;
        of.n_path = f->n_path;
        of.n = 0;
        for (uint32_t i = 1; i < f->n_path && of.n < MOST; i++)
            if (!f->path[i].base && f->path[i].type_end > f->path[i].type_off &&
                (of.usual[of.n] = usual_name(f, &f->path[i])) != NULL)
                of.path[of.n++] = i;
    }
    for (uint32_t i = 0; i < of.n; i++) {
        const char *word = f->names + f->path[of.path[i]].text;
        const size_t n = strlen(word);
        if (strncmp(name, word, n) != 0 || name[n] != '.')
            continue;
        snprintf(usual, sizeof(usual), "%s%s", of.usual[i], name + n + 1);
        return myth_facts_is_request(usual);
    }
    return false;
}

/* The part of a request that a parameter's annotation names: Java's and NestJS's. */
static myth_request_part annotated(const char *parameter)
{
    static const char *const any[] = {"@RequestParam", "@RequestHeader", "@RequestBody", "@CookieValue",
                                      "@QueryParam",   "@FormParam",     "@HeaderParam", "@MatrixParam",
                                      "@Query(",       "@Body(",         "@Headers("};
    static const char *const segment[] = {"@PathVariable", "@PathParam", "@Param("};
    if (myth_flow_has_one_of(parameter, any, N_OF(any)))
        return MYTH_REQUEST_ANY;
    return myth_flow_has_one_of(parameter, segment, N_OF(segment)) ? MYTH_REQUEST_SEGMENT : MYTH_REQUEST_NO;
}

/* The path of a route in the text of decorators; NULL = there is none. *is_bare: the function has what is in the path
 * as parameters, and no others (Flask). */
static const char *route_of(const char *decorators, bool *is_bare)
{
    static const char *const verb[] = {".route(", ".get(", ".post(", ".put(", ".delete(", ".patch(", ".websocket("};
    for (size_t i = 0; i < N_OF(verb); i++) {
        const char *at = strstr(decorators, verb[i]);
        at = at ? at + strlen(verb[i]) : NULL;
        if (at && (at[0] == '"' || at[0] == '\'') && at[1] == '/') {
            *is_bare = i == 0;
            return at + 1;
        }
    }
    return NULL;
}

/* What a route's path says of a parameter: <name>, <path:name>, <int:name>, {name}, {name:path}. */
static myth_request_part in_route(const char *path, const char *name, bool *is_there)
{
    const size_t n = strlen(name), end = strcspn(path, "\"'");
    for (const char *p = path; (p = strstr(p, name)) != NULL && p < path + end; p += n) {
        const char before = p > path ? p[-1] : '\0';
        if ((before != '<' && before != ':' && before != '{') || (p[n] != '>' && p[n] != '}' && p[n] != ':'))
            continue;
        *is_there = true;
        if (strncmp(p + n, ":path}", 6) == 0 || (before == ':' && p - path >= 5 && strncmp(p - 5, "path:", 5) == 0))
            return MYTH_REQUEST_ANY;
        const bool is_text = before != ':' || (p - path >= 7 && strncmp(p - 7, "string:", 7) == 0);
        return is_text ? MYTH_REQUEST_SEGMENT : MYTH_REQUEST_NO;
    }
    *is_there = false;
    return MYTH_REQUEST_NO;
}

/* Whether a parameter of a function with a route, which the path does not name, is read from the request: a text, or
 * what the framework calls a query, a body, a form. */
static bool is_read_from_request(const char *parameter)
{
    static const char *const given[] = {"Query(", "Body(", "Form(", "Header(", "Cookie(", "UploadFile"};
    static const char *const text[] = {": str", ":str", "[str]"};
    return myth_flow_has_one_of(parameter, given, N_OF(given)) ||
           (!strstr(parameter, "Depends(") && myth_flow_has_one_of(parameter, text, N_OF(text)));
}

/* What the callers in the file give. */
static myth_request_part by_callers(const myth_file_facts *ff, const myth_flow *f, const myth_event *def)
{
    const bool is_own = f->n_event > def->index && f->event[def->index].off == def->off; /* of no function in it */
    const myth_file_parameter *p = ff && is_own ? myth_file_facts_parameter(ff, f->names + f->name, def->index) : NULL;
    return p ? (myth_request_part)p->request : MYTH_REQUEST_NO;
}

static myth_request_part by_route(const myth_flow *f, const myth_event *def)
{
    enum { MOST = 512 };
    static char text[MOST], parameter[MOST]; /* the process has one thread */
    char name[MYTH_FLOW_PATH_BYTES + 1];
    const uint32_t off = ts_node_start_byte(def->node), end = ts_node_end_byte(def->node);
    TSNode node = def->node, whole = def->node;
    if (end - off > MYTH_FLOW_PATH_BYTES)
        return MYTH_REQUEST_NO;
    for (int i = 0; i < 8 && !is_null(node) && role_of(f, node) != MYTH_ROLE_FUNCTION; i++) {
        if (role_of(f, node) == MYTH_ROLE_PARAMETER)
            whole = node;
        node = ts_node_parent(node);
    }
    copy(f, ts_node_start_byte(whole), ts_node_end_byte(whole), parameter, sizeof(parameter));
    const myth_request_part by_word = annotated(parameter);
    if (by_word != MYTH_REQUEST_NO || is_null(node))
        return by_word;
    const TSNode around = ts_node_parent(node);
    if (is_null(around) || strcmp(ts_node_type(around), "decorated_definition") != 0)
        return MYTH_REQUEST_NO;
    bool is_bare, is_there;
    copy(f, ts_node_start_byte(around), ts_node_start_byte(node), text, sizeof(text));
    copy(f, off, end, name, sizeof(name));
    const char *path = route_of(text, &is_bare);
    if (!path)
        return MYTH_REQUEST_NO;
    const myth_request_part part = in_route(path, name, &is_there);
    return is_there || is_bare || !is_read_from_request(parameter) ? part : MYTH_REQUEST_ANY;
}

myth_request_part myth_facts_parameter_of_request(const myth_file_facts *ff, const myth_flow *f, const myth_event *def)
{
    if (def->value != MYTH_VALUE_PARAMETER || !def->path)
        return MYTH_REQUEST_NO;
    const myth_request_part part = by_route(f, def);
    return part != MYTH_REQUEST_NO ? part : by_callers(ff, f, def);
}

/* ---- what functions of a file give each other ---- */

bool myth_facts_has_request(const myth_file_facts *ff, const myth_flow *f)
{
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind == MYTH_EVENT_DEFINE && e->value == MYTH_VALUE_PARAMETER &&
            myth_facts_parameter_of_request(ff, f, e) != MYTH_REQUEST_NO)
            return true;
        if (e->kind == MYTH_EVENT_CALL && e->name && myth_facts_is_request_in(f, f->names + e->name))
            return true;
    }
    for (uint32_t i = 1; i < f->n_path; i++)
        if (myth_facts_is_request_in(f, f->names + f->path[i].text))
            return true;
    return false;
}

/* The parameter of a function of the file that gets argument number `index` of a call; NULL = there is none. What is
 * called on an object counts by its last word; Python's functions of a class have the object first. */
static myth_file_parameter *receiver_of(const myth_file_facts *ff, const myth_flow *f, const myth_event *call,
                                        uint32_t index)
{
    const char *name = f->names + call->name, *last = myth_flow_last_word(name);
    const bool is_method = last != name;
    const myth_file_name *of = myth_file_facts_find(ff, last);
    if (!of || !of->first || of->is_many || !of->parameters)
        return NULL;
    const char *first = ff->names + of->parameters - 1;
    const bool has_self = strcmp(first, "self") == 0 || strcmp(first, "cls") == 0;
    return is_method || !has_self ? myth_file_facts_parameter(ff, last, index + has_self) : NULL;
}

bool myth_facts_hand_requests(const myth_facts *k, myth_file_facts *ff)
{
    const myth_flow *f = k->flow;
    bool is_new = false;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *call = &f->event[i];
        if (call->kind != MYTH_EVENT_CALL || !call->name)
            continue;
        for (uint32_t a = 0; a < MYTH_FACTS_PARAMETERS && !is_null(myth_facts_argument(k, i, a)); a++) {
            myth_file_parameter *p = receiver_of(ff, f, call, a);
            if (!p || p->request == MYTH_REQUEST_ANY)
                continue;
            const myth_request_part part = myth_facts_argument_of_request(k, i, a);
            is_new |= part > p->request;
            p->request = part > p->request ? (uint8_t)part : p->request;
        }
    }
    return is_new;
}
