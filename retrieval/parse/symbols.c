/* symbols.c - see symbols.h. The queries say what a definition is and where. What they cannot express is decided
 * here, once for all languages: tests by their name, routes by their verb, what is exported, and which comment
 * documents what. Where a name is in its node: node_names.h. */
#define _GNU_SOURCE /* strcasestr */
#include "symbols.h"
#include "exported.h"
#include "macro_calls.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum role {
    NONE,
    DEF,
    SCOPE = DEF + MYTH_SYMBOL_KIND_N,
    DEF_CALL,
    NAME,
    PARENT,
    BODY,
    CALL_NAME,
    CALL_TEXT,
    MARK,
    OPEN,
    IMPORT,
    COMMENT,
    TOKENS,
    REF,
    ROLE_N = REF + MYTH_REF_KIND_N
};

static enum role role_of(const char *name)
{
    static const struct {
        const char *name;
        enum role role;
    } words[] = {
        {"scope", SCOPE}, {"def.call", DEF_CALL},   {"name", NAME},           {"parent", PARENT},
        {"body", BODY},   {"call.name", CALL_NAME}, {"call.text", CALL_TEXT}, {"mark", MARK},
        {"open", OPEN},   {"import", IMPORT},       {"comment", COMMENT},     {"tokens", TOKENS},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].name, name) == 0)
            return words[i].role;
    for (int k = 0; k < MYTH_SYMBOL_KIND_N; k++)
        if (strncmp(name, "def.", 4) == 0 && strcmp(name + 4, myth_symbol_kind_name((myth_symbol_kind)k)) == 0)
            return (enum role)(DEF + k);
    for (int k = 0; k < MYTH_REF_KIND_N; k++)
        if (strncmp(name, "ref.", 4) == 0 && strcmp(name + 4, myth_ref_kind_name((myth_ref_kind)k)) == 0)
            return (enum role)(REF + k);
    return NONE;
}

bool myth_symbol_query_open(myth_symbol_query *q, myth_mem *mem, const myth_grammar *grammar)
{
    const TSLanguage *language = (const TSLanguage *)grammar->language();
    memset(q, 0, sizeof(*q));
    if (!myth_patterns_open(&q->patterns, mem, language, (const char *)grammar->query, grammar->n_query, &q->error_off))
        return false;
    for (uint32_t i = 0; i < q->patterns.n_capture; i++) {
        q->role[i] = (uint8_t)role_of(q->patterns.capture[i]);
        if (q->role[i] == NONE) {
            q->error_off = i;
            myth_symbol_query_close(q);
            return false;
        }
    }
    myth_node_fields_open(q->field, language);
    return true;
}

void myth_symbol_query_close(myth_symbol_query *q) { myth_patterns_close(&q->patterns); }

/* ---- text ---- */

static uint32_t node_bytes(TSNode node) { return ts_node_end_byte(node) - ts_node_start_byte(node); }

static bool is_among(const char *const *list, const char *word, size_t n)
{
    for (; *list; list++)
        if (strlen(*list) == n && strncasecmp(*list, word, n) == 0)
            return true;
    return false;
}

/* Whether a bracket that the text ends with was opened in it: "app.use(fn)". */
static bool has_opening(const char *p, const char *end)
{
    return (end[-1] == ')' && memchr(p, '(', (size_t)(end - p))) ||
           (end[-1] == ']' && memchr(p, '[', (size_t)(end - p)));
}

/* Strips quotes or brackets around a text, and the prefix before them. */
static void strip_quotes(const char **text, uint32_t *n)
{
    const char *p = *text, *end = p + *n;
    while (p < end && strchr("'\"`<([ \t\r\n", *p) && *p)
        p++;
    if (end - p > 7 && memcmp(p, "import ", 7) == 0)
        p += 7; /* a statement whose path has no node of its own */
    if (end - p > 2 && isalpha((unsigned char)p[0]) && (p[1] == '"' || p[1] == '\''))
        p += 2; /* r"..." */
    while (end > p && strchr("'\"`>)] \t\r\n;", end[-1]) && end[-1] && !has_opening(p, end))
        end--;
    *text = p;
    *n = (uint32_t)(end - p);
}

static uint32_t name_of_text(myth_symbols *s, TSNode node, bool is_quoted)
{
    uint32_t off = ts_node_start_byte(node), n = ts_node_end_byte(node) - off;
    const char *text = myth_symbols_text(s, off);
    if (is_quoted)
        strip_quotes(&text, &n);
    const char *end = n ? memchr(text, '\n', n) : NULL;
    return myth_cut_name(s->cut, text, end ? (uint64_t)(end - text) : n);
}

/* A definition's name. The operators of Ruby and C++ are names as they are written, a symbol of Ruby is without its
 * colon. */
static uint32_t name_of_node(myth_symbols *s, TSNode node)
{
    const char *type = ts_node_type(node);
    uint32_t off = ts_node_start_byte(node);
    if (strncmp(type, "operator", strlen("operator")) == 0)
        return myth_cut_name(s->cut, myth_symbols_text(s, off), myth_node_name_end(s->query->field, node) - off);
    if (strcmp(type, "simple_symbol") == 0)
        return myth_cut_name(s->cut, myth_symbols_text(s, off + 1), node_bytes(node) - 1);
    return name_of_text(s, node, true);
}

/* ---- routes and tests ---- */

static const char *const methods[] = {"get", "post", "put", "delete", "patch", "head", "options", NULL};
static const char *const verbs[] = {"get",     "post", "put",   "delete",    "patch",  "head",       "options",
                                    "any",     "all",  "route", "websocket", "handle", "handlefunc", "api_route",
                                    "request", "path", "match", "resource",  NULL};
static const char *const test_calls[] = {"it",    "test",     "describe", "specify", "context",
                                         "suite", "scenario", "property", NULL};
static const char *const test_marks[] = {"test",
                                         "tests",
                                         "fact",
                                         "theory",
                                         "testmethod",
                                         "testcase",
                                         "parameterizedtest",
                                         "repeatedtest",
                                         "rstest",
                                         "testfactory",
                                         "wasm_bindgen_test",
                                         "quickcheck",
                                         "dataprovider",
                                         "bench",
                                         NULL};
static const char *const test_macros[] = {
    "TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TEST_CASE", "BOOST_AUTO_TEST_CASE", "SCENARIO", NULL};

/* The verb of a route, as in get, MapGet, GetMapping, HttpGet. Returns its length, 0 = none. */
static size_t route_verb(const char *word, size_t n, const char **verb)
{
    *verb = word;
    if (n > 7 && strncasecmp(word + n - 7, "mapping", 7) == 0)
        n -= 7;
    else if (n > 4 && strncasecmp(word, "http", 4) == 0)
        *verb += 4, n -= 4;
    else if (n > 3 && strncmp(word, "Map", 3) == 0)
        *verb += 3, n -= 3;
    return is_among(verbs, *verb, n) ? n : 0;
}

/* `call` is the last part of the called name: get in app.get. */
static uint32_t route_name(myth_symbols *s, TSNode call, TSNode text, bool is_mark)
{
    const char *verb, *path = myth_symbols_text(s, ts_node_start_byte(text));
    uint32_t n_call = node_bytes(call), n_path = node_bytes(text);
    size_t n_verb = route_verb(myth_symbols_text(s, ts_node_start_byte(call)), n_call, &verb);
    strip_quotes(&path, &n_path);
    bool is_path =
        n_path > 0 && (path[0] == '/' || is_mark) && !memchr(path, '\n', n_path) && !memchr(path, ' ', n_path);
    if (n_verb == 0 || n_verb > 16 || !is_path || n_path > 200)
        return 0;
    bool is_method = is_among(methods, verb, n_verb);
    char name[256] = "ROUTE";
    size_t n = is_method ? 0 : strlen(name);
    for (; is_method && n < n_verb; n++)
        name[n] = (char)toupper((unsigned char)verb[n]);
    name[n++] = ' ';
    memcpy(name + n, path, n_path);
    return myth_cut_name(s->cut, name, n + n_path);
}

static bool is_test_name(const myth_symbols *s, const myth_def *d)
{
    const char *name = s->cut->out.names + d->name;
    bool is_func = d->kind == MYTH_SYMBOL_FUNCTION || d->kind == MYTH_SYMBOL_METHOD;
    if (!is_func || !d->name)
        return false;
    if (d->kind == MYTH_SYMBOL_FUNCTION && is_among(test_macros, name, strlen(name)) &&
        !islower((unsigned char)name[1]))
        return true;
    bool is_test_file = strcasestr(s->path, "test") || strcasestr(s->path, "spec");
    if (strncmp(name, "test_", 5) == 0 || (strncmp(name, "test", 4) == 0 && isupper((unsigned char)name[4])))
        return is_test_file || s->grammar->is->any_test_name;
    bool is_of_go =
        strncmp(name, "Test", 4) == 0 || strncmp(name, "Benchmark", 9) == 0 || strncmp(name, "Fuzz", 4) == 0;
    return s->grammar->is->exports == MYTH_EXPORT_UPPER && is_test_file && is_of_go;
}

/* ---- one match ---- */

typedef struct {
    TSNode node[ROLE_N];
    bool has[ROLE_N];
} match;

static myth_def *add_def(myth_symbols *s, TSNode node, int kind, uint32_t name, uint32_t name_off)
{
    if ((!name && kind != MYTH_DEF_SCOPE) || !myth_cut_grow(s->cut, &s->def, &s->cap_def, s->n_def, sizeof(*s->def)))
        return NULL;
    myth_def *d = &s->def[s->n_def++];
    *d = (myth_def){
        .off = ts_node_start_byte(node),
        .end = ts_node_end_byte(node),
        .name = name,
        .name_off = name_off,
        .id = node.id,
        .kind = (uint8_t)kind,
    };
    return d;
}

static bool is_import_call(const myth_symbols *s, TSNode call)
{
    return myth_language_lists(s->grammar->is->import_calls, myth_symbols_text(s, ts_node_start_byte(call)),
                               node_bytes(call));
}

/* Whether a call that names a definition is one that defines: attr_reader :count. */
static bool is_definer(const myth_symbols *s, const match *m)
{
    if (!m->has[CALL_NAME] || m->has[MARK])
        return true;
    const char *call = myth_symbols_text(s, ts_node_start_byte(m->node[CALL_NAME]));
    const uint32_t n = node_bytes(m->node[CALL_NAME]);
    return myth_language_lists(s->grammar->is->list_definers, call, n) ||
           (myth_language_lists(s->grammar->is->definers, call, n) &&
            (!m->has[NAME] || ts_node_is_null(ts_node_prev_named_sibling(m->node[NAME]))));
}

/* A parameter of a class is a member only with the word of one before it: class User(val name: String, age: Int). */
static bool is_kept(const myth_symbols *s, TSNode node, TSNode name)
{
    const uint32_t off = ts_node_start_byte(node), end = ts_node_start_byte(name);
    return strcmp(ts_node_type(node), "class_parameter") != 0 || myth_symbols_has_word(s, off, end, "val") ||
           myth_symbols_has_word(s, off, end, "var");
}

static void take_def(myth_symbols *s, const match *m, int kind)
{
    const TSFieldId *field = s->query->field;
    TSNode node = m->node[kind == MYTH_DEF_SCOPE ? SCOPE : DEF + kind], parent = {0};
    TSNode name = myth_node_name(field, m->has[NAME] ? m->node[NAME] : node, &parent);
    if (kind == MYTH_DEF_SCOPE && m->has[NAME]) {
        TSNode owner = myth_node_owner_name(field, node, m->node[NAME], myth_symbols_text(s, 0));
        name = ts_node_is_null(owner) ? name : owner;
    }
    if (m->has[PARENT])
        parent = m->node[PARENT];
    if ((ts_node_eq(name, node) && !m->has[NAME]) || !is_definer(s, m) || !is_kept(s, node, name) ||
        (s->grammar->is->has_directives && myth_node_is_statement_word(name, myth_symbols_text(s, 0))))
        return;
    myth_def *d = add_def(s, node, kind, name_of_node(s, name), ts_node_start_byte(name));
    if (!d)
        return;
    d->body = m->has[BODY] ? ts_node_start_byte(m->node[BODY]) : myth_node_body(field, node);
    if (parent.id) {
        TSNode type = myth_node_type_name(field, parent);
        d->parent = name_of_text(s, ts_node_is_null(type) ? parent : type, true);
    }
    TSNode call = m->has[MARK] && m->has[CALL_NAME] ? myth_node_last_name(field, m->node[CALL_NAME]) : (TSNode){0};
    if (call.id) {
        d->is_test = is_among(test_marks, myth_symbols_text(s, ts_node_start_byte(call)), node_bytes(call));
        uint32_t route = m->has[CALL_TEXT] ? route_name(s, call, m->node[CALL_TEXT], true) : 0, body = d->body;
        if (route && (d = add_def(s, node, MYTH_SYMBOL_ROUTE, route, ts_node_start_byte(m->node[CALL_TEXT]))) != NULL) {
            d->is_route = true;
            d->body = body;
        }
    }
}

/* A name that is read is kept only if it looks shared (handle_click, LIMIT); plain words are locals and parameters. */
static bool is_wide_name(const myth_symbols *s, TSNode node)
{
    const char *p = myth_symbols_text(s, ts_node_start_byte(node)), *end = myth_symbols_text(s, ts_node_end_byte(node));
    for (int i = 0; i < 255 && p < end && *p && *p != '\n'; i++, p++) /* names end at 255 bytes: name_of_text */
        if (*p == '_' || isupper((unsigned char)*p))
            return true;
    return false;
}

static void add_use(myth_symbols *s, TSNode node, myth_ref_kind kind)
{
    if (kind != MYTH_REF_IMPORT)
        node = myth_node_last_name(s->query->field, node);
    if (!node.id || (kind == MYTH_REF_READ && !is_wide_name(s, node)))
        return;
    uint32_t name = name_of_text(s, node, kind == MYTH_REF_IMPORT);
    if (name && myth_cut_grow(s->cut, &s->use, &s->cap_use, s->n_use, sizeof(*s->use)))
        s->use[s->n_use++] = (myth_use){ts_node_start_byte(node), name, kind};
}

/* A macro that looks to the parser like a call and a block: TEST(Parser, Empty) { ... }. */
static void take_macro(myth_symbols *s, const match *m)
{
    TSNode name = m->node[CALL_NAME], body;
    if (!is_among(test_macros, myth_symbols_text(s, ts_node_start_byte(name)), node_bytes(name)))
        return;
    body = ts_node_next_named_sibling(m->node[DEF_CALL]);
    if (ts_node_is_null(body) || s->cut->text[ts_node_start_byte(body)] != '{')
        return;
    myth_def *d =
        add_def(s, m->node[DEF_CALL], MYTH_SYMBOL_TEST, name_of_text(s, name, false), ts_node_start_byte(name));
    if (!d)
        return;
    d->is_test = true;
    d->body = ts_node_start_byte(body);
    d->end = ts_node_end_byte(body);
    d->id = NULL;
    myth_node_marks_add(s->cut, &s->lead, m->node[DEF_CALL]);
}

/* A call that defines something: it("...", ...), app.get("/x", ...). */
static void take_call(myth_symbols *s, const match *m)
{
    if (!m->has[CALL_NAME] || !m->has[CALL_TEXT])
        return;
    if (is_import_call(s, m->node[CALL_NAME])) {
        myth_node_marks_add(s->cut, &s->import, m->node[DEF_CALL]);
        add_use(s, m->node[CALL_TEXT], MYTH_REF_IMPORT);
        return;
    }
    if (s->cut->text[ts_node_start_byte(m->node[CALL_TEXT])] == '(') {
        take_macro(s, m);
        return;
    }
    TSNode whole = m->node[CALL_NAME], text = m->node[CALL_TEXT], call = myth_node_last_name(s->query->field, whole);
    uint32_t first = ts_node_start_byte(whole), n_first = 0, after = ts_node_end_byte(text),
             end = ts_node_end_byte(m->node[DEF_CALL]);
    while (n_first < node_bytes(whole) && myth_is_word_or_dollar(myth_symbols_text(s, first)[n_first]))
        n_first++;
    while (after < end && (myth_is_blank(s->cut->text[after]) || s->cut->text[after] == ')'))
        after++;
    bool has_more = after < end && s->cut->text[after] != ';'; /* a handler follows */
    uint32_t route = call.id && has_more ? route_name(s, call, text, false) : 0;
    bool is_test =
        is_among(test_calls, myth_symbols_text(s, first), n_first) && has_more; /* it(...), and it of it.only(...) */
    myth_def *d = NULL;
    if (route && (d = add_def(s, m->node[DEF_CALL], MYTH_SYMBOL_ROUTE, route, ts_node_start_byte(text))) != NULL)
        d->is_route = true;
    else if (is_test && (d = add_def(s, m->node[DEF_CALL], MYTH_SYMBOL_TEST, name_of_text(s, text, true),
                                     ts_node_start_byte(text))) != NULL)
        d->is_test = true;
}

static void take_match(myth_symbols *s, const match *m)
{
    for (int k = 0; k <= MYTH_DEF_SCOPE; k++)
        if (m->has[DEF + k])
            take_def(s, m, k);
    if (m->has[DEF_CALL])
        take_call(s, m);
    /* a call is an import only by its name: require("x") */
    bool is_import = !m->has[CALL_NAME] || is_import_call(s, m->node[CALL_NAME]);
    if (m->has[IMPORT] && is_import)
        myth_node_marks_add(s->cut, &s->import, m->node[IMPORT]);
    for (int k = 0; k < MYTH_REF_KIND_N; k++) {
        if (!m->has[REF + k] || (k == MYTH_REF_IMPORT && !is_import))
            continue;
        add_use(s, m->node[REF + k], (myth_ref_kind)k);
    }
}

/* ---- after the matches: order, what encloses what, one definition per name ---- */

/* Orders definitions by place, the larger first; at the same place the more specific kind first. */
static int by_def(const void *a, const void *b)
{
    const myth_def *x = a, *y = b;
    if (x->off != y->off)
        return (x->off > y->off) - (x->off < y->off);
    if (x->end != y->end)
        return (x->end < y->end) - (x->end > y->end);
    if (x->name_off != y->name_off)
        return (x->name_off > y->name_off) - (x->name_off < y->name_off);
    if (x->is_test != y->is_test)
        return x->is_test ? -1 : 1;
    return x->kind - y->kind;
}

static int by_name_place(const void *a, const void *b)
{
    const myth_def *x = a, *y = b;
    if (x->name_off != y->name_off)
        return (x->name_off > y->name_off) - (x->name_off < y->name_off);
    if (x->kind != y->kind)
        return x->kind - y->kind;
    if (x->is_test != y->is_test)
        return x->is_test ? -1 : 1;
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off) : (x->end < y->end) - (x->end > y->end);
}

static int by_use(const void *a, const void *b)
{
    const myth_use *x = a, *y = b;
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off) : (int)x->kind - (int)y->kind;
}

/* Uses come nearly in order, so insertion moves each a few places. Where they are far from order that would take too
 * long, so they are sorted. */
static void sort_uses(myth_symbols *s)
{
    const uint64_t most = 16 * (uint64_t)s->n_use;
    uint64_t n_move = 0;
    for (uint32_t i = 1; i < s->n_use && n_move <= most; i++) {
        const myth_use u = s->use[i];
        uint32_t at = i;
        for (; at > 0 && by_use(&s->use[at - 1], &u) > 0; at--, n_move++)
            s->use[at] = s->use[at - 1];
        s->use[at] = u;
    }
    if (n_move > most)
        qsort(s->use, s->n_use, sizeof(*s->use), by_use);
}

/* Several patterns may define one name: the most specific kind is kept, and of that kind the largest. Kinds are in
 * that order. */
static void drop_doubles(myth_symbols *s)
{
    uint32_t n = 0;
    if (s->n_def)
        qsort(s->def, s->n_def, sizeof(*s->def), by_name_place);
    for (uint32_t i = 0; i < s->n_def; i++) {
        bool is_same = n > 0 && s->def[n - 1].name_off == s->def[i].name_off &&
                       (s->def[n - 1].kind == MYTH_SYMBOL_ROUTE) == (s->def[i].kind == MYTH_SYMBOL_ROUTE);
        if (is_same)
            s->def[n - 1].is_test |= s->def[i].is_test;
        else
            s->def[n++] = s->def[i];
    }
    s->n_def = n;
}

static bool is_blank_range(const myth_symbols *s, uint32_t off, uint32_t end, int max_lines)
{
    for (; off < end; off++) {
        if (!myth_is_blank(s->cut->text[off]))
            return false;
        max_lines -= s->cut->text[off] == '\n';
    }
    return max_lines >= 0;
}

/* The documentation: comments that end on the line before the definition, else a string at the start of its body. */
static void find_doc(const myth_symbols *s, myth_def *d)
{
    uint32_t off = (uint32_t)myth_cut_line_start(s->cut, d->off), i = myth_node_marks_from(&s->comment, off),
             first = off;
    uint32_t end = 0;
    if (!is_blank_range(s, off, d->off, 0))
        off = first = d->off;
    while (i > 0 && s->comment.mark[i - 1].end <= first && is_blank_range(s, s->comment.mark[i - 1].end, first, 1) &&
           myth_cut_begins_line(s->cut, s->comment.mark[i - 1].off)) {
        i--;
        end = end ? end : s->comment.mark[i].end;
        d->doc_off = s->comment.mark[i].off;
        d->doc_bytes = end - d->doc_off;
        first = (uint32_t)myth_cut_line_start(s->cut, s->comment.mark[i].off);
    }
    if (!s->grammar->is->has_docstrings || !d->body || end)
        return;
    const char *p = myth_symbols_text(s, d->body), *stop = myth_symbols_text(s, d->end), *quote = p;
    while (quote < stop && quote < p + 2 && isalpha((unsigned char)*quote))
        quote++;
    if (quote >= stop || (*quote != '"' && *quote != '\''))
        return;
    bool is_long = stop - quote > 6 && quote[1] == *quote && quote[2] == *quote;
    const char *q = quote + (is_long ? 3 : 1);
    while (q < stop && (*q != *quote || (is_long && (stop - q < 3 || q[1] != *quote || q[2] != *quote))))
        q += 1 + (*q == '\\' && q + 1 < stop);
    if (q >= stop)
        return;
    d->doc_off = d->body;
    d->doc_bytes = (uint64_t)(q + (is_long ? 3 : 1) - p);
}

/* The name of a test macro is made from its arguments: TEST(Parser, Empty) is Parser.Empty. */
static void name_macro(myth_symbols *s, myth_def *d)
{
    const char *name = s->cut->out.names + d->name, *p = myth_symbols_text(s, d->name_off) + strlen(name),
               *stop = myth_symbols_text(s, d->end);
    char out[200];
    size_t n = 0;
    if (!is_among(test_macros, name, strlen(name)) || p >= stop || *p != '(')
        return;
    for (p++; p < stop && myth_is_blank((unsigned char)*p); p++)
        ;
    if (*p == '"') { /* TEST_CASE("it works", "[tag]") */
        const char *end = memchr(p + 1, '"', (size_t)(stop - p - 1));
        if (end)
            d->name = myth_cut_name(s->cut, p + 1, (uint64_t)(end - p - 1));
        return;
    }
    for (; p < stop && *p != ')' && n + 1 < sizeof(out); p++)
        if (*p == ',')
            out[n++] = '.';
        else if (!myth_is_blank((unsigned char)*p))
            out[n++] = *p;
    if (n)
        d->name = myth_cut_name(s->cut, out, n);
}

/* exports.send = function send(body) {}: the same name again, a few characters on. */
static bool is_own_name(const myth_symbols *s, const myth_def *d, const myth_def *around)
{
    enum { NEAR = 32 };
    return around && d->name && d->name == around->name && d->kind == around->kind && d->off > around->name_off &&
           d->off - around->name_off < NEAR + strlen(s->cut->out.names + d->name) && d->body == around->body;
}

/* Finds what encloses each definition: they are in order, and a stack holds the open ones. */
static void finish_defs(myth_symbols *s)
{
    if (s->n_def)
        qsort(s->def, s->n_def, sizeof(*s->def), by_def);
    uint32_t up = 0; /* index + 1 of the innermost open definition */
    for (uint32_t i = 0; i < s->n_def && !s->cut->is_out_of_memory; i++) {
        myth_def *d = &s->def[i];
        while (up && s->def[up - 1].end <= d->off)
            up = s->def[up - 1].enclosing;
        d->enclosing = up;
        while (up && s->def[up - 1].off == d->off && s->def[up - 1].end == d->end)
            up = s->def[up - 1].enclosing; /* two definitions at one place do not enclose each other */
        const myth_def *around = up ? &s->def[up - 1] : NULL;
        d->enclosing = up;
        bool has_parent = d->parent != 0, is_inside = around && (around->kind <= MYTH_SYMBOL_METHOD || around->is_test);
        /* a local definition is not a symbol; nor is a function's own name where it goes to a place of that name */
        if ((d->kind == MYTH_SYMBOL_VARIABLE && is_inside) || is_own_name(s, d, around))
            d->name = 0;
        if (around && !d->parent)
            d->parent = around->name;
        if (d->kind == MYTH_SYMBOL_FUNCTION && ((around && myth_def_is_class(around)) || has_parent))
            d->kind = MYTH_SYMBOL_METHOD;
        if (d->is_test || is_test_name(s, d)) {
            d->is_test = true;
            if (d->kind != MYTH_SYMBOL_ROUTE && !myth_def_is_class(d))
                d->kind = MYTH_SYMBOL_TEST;
            name_macro(s, d);
        }
        d->is_exported = d->name && myth_def_is_exported(s, d);
        find_doc(s, d);
        up = i + 1;
    }
}

/* Whether a use inside of this definition names it as `within`. A nested route does not count: it is the call that
 * names the route and its handler. */
static bool is_around(const myth_def *d)
{
    return d->kind != MYTH_SYMBOL_VARIABLE && d->kind != MYTH_SYMBOL_CONSTANT &&
           (d->kind != MYTH_SYMBOL_ROUTE || d->enclosing == 0);
}

static void emit(myth_symbols *s)
{
    myth_cut *cut = s->cut;
    for (uint32_t i = 0; i < s->n_def; i++) {
        const myth_def *d = &s->def[i];
        if (d->kind == MYTH_DEF_SCOPE || d->name == 0)
            continue;
        myth_symbol *y = myth_cut_add_symbol(cut, d->off, d->end, (myth_symbol_kind)d->kind);
        if (!y)
            continue;
        y->name = d->name;
        y->parent = d->parent;
        y->name_line = myth_cut_line(cut, d->name_off);
        y->is_exported = d->is_exported;
        uint32_t end = d->body > d->off && d->body <= d->end ? d->body : d->end;
        const bool is_whole = d->body || d->kind == MYTH_SYMBOL_FUNCTION || d->kind == MYTH_SYMBOL_METHOD;
        const unsigned char *line = !is_whole ? memchr(cut->text + d->off, '\n', end - d->off) : NULL;
        if (line)
            end = (uint32_t)(line - cut->text);
        while (end > d->off && (myth_is_blank(cut->text[end - 1]) || (!d->body && cut->text[end - 1] == ';')))
            end--;
        y->signature_off = d->off;
        y->signature_bytes = end - d->off;
    }
    sort_uses(s);
    uint32_t up = 0, next = 0, line = 1, at = 0;
    for (uint32_t i = 0; i < s->n_use; i++) {
        const myth_use *u = &s->use[i];
        for (; at < u->off; at++)
            line += cut->text[at] == '\n';
        for (; next < s->n_def && s->def[next].off <= u->off; next++)
            if (is_around(&s->def[next]))
                up = next + 1;
        while (up && s->def[up - 1].end <= u->off)
            up = s->def[up - 1].enclosing;
        if (up && s->def[up - 1].name_off == u->off)
            continue; /* the definition itself is not a use */
        if (i > 0 && s->use[i - 1].off == u->off && s->use[i - 1].name == u->name)
            continue; /* another pattern saw this call as a type */
        myth_cut_add_ref(cut, u->name, up ? s->def[up - 1].name : 0, line, u->kind);
    }
}

static void on_macro_call(void *symbols, TSNode name) { add_use(symbols, name, MYTH_REF_CALL); }

static void on_match(void *symbols, const TSQueryMatch *found)
{
    myth_symbols *s = symbols;
    const uint8_t *roles = s->query->role;
    match m;
    if (found->capture_count == 1 && roles[found->captures->index] >= REF) { /* most matches are of this kind */
        add_use(s, found->captures->node, (myth_ref_kind)(roles[found->captures->index] - REF));
        return;
    }
    memset(m.has, 0, sizeof(m.has)); /* only nodes that the match has are read */
    for (uint16_t i = 0; i < found->capture_count; i++) {
        enum role role = (enum role)roles[found->captures[i].index];
        TSNode node = found->captures[i].node;
        if (role == OPEN || role == COMMENT)
            myth_node_marks_add(s->cut, role == OPEN ? &s->open : &s->comment, node);
        else if (role == TOKENS)
            myth_macro_calls(node, myth_symbols_text(s, 0), on_macro_call, s);
        else if (!m.has[role]) {
            m.node[role] = node;
            m.has[role] = true;
        }
    }
    take_match(s, &m);
}

bool myth_symbols_find(myth_symbols *s, TSNode root, bool (*stop)(void *arg), void *arg)
{
    const myth_pattern_asker asker = {.on_match = on_match, .arg = s, .stop = stop, .stop_arg = arg};
    if (!myth_patterns_find(&s->query->patterns, root, &asker))
        s->cut->is_out_of_memory = true;
    myth_node_marks_sort(&s->open);
    myth_node_marks_sort(&s->import);
    myth_node_marks_sort(&s->lead);
    myth_node_marks_sort(&s->comment);
    drop_doubles(s);
    finish_defs(s);
    emit(s);
    return !stop(arg);
}

void myth_symbols_close(myth_symbols *s)
{
    myth_mem *mem = s->cut ? s->cut->mem : NULL;
    if (!mem)
        return;
    myth_free(mem, s->def);
    myth_free(mem, s->use);
    myth_free(mem, s->open.mark);
    myth_free(mem, s->import.mark);
    myth_free(mem, s->lead.mark);
    myth_free(mem, s->comment.mark);
    *s = (myth_symbols){0};
}

uint32_t myth_symbols_from(const myth_symbols *s, uint32_t off)
{
    return s->n_def ? myth_first_from(&s->def->off, sizeof(*s->def), s->n_def, off) : 0;
}

myth_def *myth_symbols_at(const myth_symbols *s, TSNode node)
{
    uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    for (uint32_t i = myth_symbols_from(s, off); i < s->n_def && s->def[i].off == off; i++)
        if (s->def[i].id == node.id && s->def[i].end == end && s->def[i].kind != MYTH_SYMBOL_ROUTE)
            return &s->def[i];
    return NULL;
}
