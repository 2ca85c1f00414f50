/* facts_own.c - facts about values that the program makes itself, so that nothing from outside is in them: clauses of
 * statements, addresses, pages, what is split, what cannot fail, random numbers (facts.h).
 *
 * Own        written texts and numbers, names of the package and of packages, what is joined of such, and members of a
 *            method's receiver whose names say what they are for; a variable is own where all of its values are
 * Cost       MOST_DEEP values behind a value, LEAVES parts of one, and MOST_LOOKS at values in all */
#include "facts_span.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEEP = 6, LEAVES = 16, MOST_LOOKS = 256 };

/* What a value is for: other members of the receiver are the program's own. */
typedef enum { FOR_STATEMENT, FOR_ADDRESS, FOR_PAGE } purpose;

typedef struct {
    const myth_facts *k;
    purpose what;
    int left; /* looks */
} look;

/* Go: the receiver's name and the last word of its type, of func (s *Server) name(...); false = there is none. */
static bool receiver_of(const myth_flow *f, char name[MYTH_SPAN_WORD], char type[MYTH_SPAN_WORD])
{
    static const char begin[] = "func (";
    const span s = span_of(f, f->off, f->end);
    uint32_t at = sizeof(begin) - 1;
    if (s.n < at + 4 || memcmp(s.p, begin, at) != 0)
        return false;
    at += word_at(s, at, name);
    while (at < s.n && (s.p[at] == ' ' || s.p[at] == '*'))
        at++;
    return name[0] && at < s.n && word_at(s, at, type) > 0;
}

static bool ends_with_one(const char *name, const char *const *end, size_t n)
{
    const size_t m = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (m >= strlen(end[i]) && strcmp(name + m - strlen(end[i]), end[i]) == 0)
            return true;
    return false;
}

/* Whether a member of the receiver, by its name, is a table, an address, or on a page one of what serves requests. */
static bool is_own_member(const myth_flow *f, TSNode node, purpose what)
{
    static const char *const tables[] = {"table", "Table", "column", "Column", "chema", "refix", "lias"};
    static const char *const addresses[] = {"url", "Url", "URL", "ndpoint", "ddr", "host", "Host"};
    static const char *const serves[] = {"Server", "server",     "Handler",    "handler", "Service", "service", "App",
                                         "app",    "Controller", "controller", "Router",  "router",  "API",     "Api"};
    char text[MYTH_SPAN_TEXT], name[MYTH_SPAN_WORD] = "", type[MYTH_SPAN_WORD] = "";
    put_tight(text, node_span(f, node));
    if (!receiver_of(f, name, type) || strncmp(text, name, strlen(name)) != 0 || text[strlen(name)] != '.')
        return false;
    const char *last = myth_flow_last_word(text);
    switch (what) {
    case FOR_STATEMENT: return myth_flow_has_one_of(last, tables, N_OF(tables));
    case FOR_ADDRESS: return myth_flow_has_one_of(last, addresses, N_OF(addresses));
    case FOR_PAGE: return ends_with_one(type, serves, N_OF(serves));
    }
    return false;
}

/* Whether a node is a name of a package that the file imports: consts.Table. */
static bool is_of_package(const myth_facts *k, TSNode node)
{
    char text[MYTH_SPAN_TEXT], word[MYTH_SPAN_WORD];
    put_tight(text, node_span(k->flow, node));
    const span s = {text, (uint32_t)strlen(text)};
    const uint32_t n = word_at(s, 0, word);
    const myth_file_name *name =
        n && text[n] == '.' && !strchr(text + n + 1, '.') ? myth_file_facts_find(k->file, word) : NULL;
    return name && name->is_imported;
}

/* Whether a line of the function has the name left of := (a loop over a range, and a switch over types, too). */
static bool is_declared_in_line(const myth_flow *f, const char *name)
{
    const span s = span_of(f, f->off, f->end);
    for (uint32_t i = 0, line = 0; i + 1 < s.n; i++) {
        if (s.p[i] == '\n')
            line = i + 1;
        if (s.p[i] == ':' && s.p[i + 1] == '=' && has_word((span){s.p + line, i - line}, name))
            return true;
    }
    return false;
}

/* Whether a name is none of the function: one of the package. */
static bool is_outer(const myth_flow *f, TSNode node, uint32_t path)
{
    char name[MYTH_SPAN_WORD] = "", type[MYTH_SPAN_WORD] = "";
    if (role_of(f, node) != MYTH_ROLE_NAME || (receiver_of(f, name, type) && myth_flow_text_is(f, node, name)))
        return false;
    for (uint32_t i = 0; i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == path)
            return false;
    return !is_declared_in_line(f, f->names + f->path[path].text);
}

/* Whether a definition adds to what was there: x += y. */
static bool is_addition(const myth_flow *f, const myth_event *d)
{
    TSNode n = ts_node_parent(d->node);
    for (int i = 0; i < 2 && !is_null(n); i++, n = ts_node_parent(n))
        if (role_of(f, n) == MYTH_ROLE_CHANGE || myth_flow_is_operator(f, n, "+="))
            return true;
    return false;
}

/* Whether all calls in the file give a parameter of its function a written address, or a method of net/http. */
static bool is_given_fixed(const myth_flow *f, const myth_event *parameter)
{
    static const char *const fixed[] = {"\"http", "`http", "http.Method"};
    span argument[MYTH_CALL_ARGUMENTS];
    uint32_t at = 0, n, n_call = 0;
    while (!myth_facts_nested(f, parameter->scope) && myth_facts_next_call(f, f->names + f->name, &at, argument, &n)) {
        if (at > f->off && at < f->end && !has_text(span_of(f, f->off, at), "{"))
            continue; /* its own head */
        char text[MYTH_SPAN_TEXT];
        if (parameter->index >= n)
            return false;
        put_tight(text, argument[parameter->index]);
        if (!myth_flow_begins_with(text, fixed, N_OF(fixed)) || strstr(text, "\"+") || strstr(text, "`+"))
            return false;
        n_call++;
    }
    return n_call > 0;
}

/* Go: var x string, which is empty. */
static bool is_declared_empty(const myth_flow *f, const myth_event *d)
{
    const TSNode spec = ts_node_parent(d->node);
    return !is_null(spec) && strcmp(ts_node_type(spec), "var_spec") == 0 && is_null(child_of(f, spec, MYTH_SLOT_RIGHT));
}

static bool is_own(look *l, TSNode node, uint32_t e, int deep);

static bool is_own_definition(look *l, uint32_t d, int deep)
{
    static const char *const makes[] = {"ToSql", "ToSQL", "MustSql"};
    const myth_flow *f = l->k->flow;
    const myth_event *def = &f->event[d];
    switch (def->value) {
    case MYTH_VALUE_TEXT:
    case MYTH_VALUE_NUMBER:
    case MYTH_VALUE_NOTHING:
    case MYTH_VALUE_SIZE: return true;
    case MYTH_VALUE_PARAMETER: return l->what == FOR_ADDRESS && is_given_fixed(f, def);
    case MYTH_VALUE_CALL: /* a builder gives the text, and the values besides */
        if (l->what == FOR_STATEMENT &&
            myth_flow_is_one_of(myth_flow_last_word(f->names + def->name), makes, N_OF(makes)))
            return true;
        break;
    case MYTH_VALUE_JOINED:
    case MYTH_VALUE_SUM:
    case MYTH_VALUE_PATH:
    case MYTH_VALUE_ELEMENT: break;
    case MYTH_VALUE_UNKNOWN: return is_declared_empty(f, def);
    default: return false;
    }
    return is_own(l, myth_facts_value_node(f, def), d, deep + 1);
}

/* Whether all values that a variable may have at event e are own. */
static bool is_own_path(look *l, uint32_t path, uint32_t e, int deep)
{
    const myth_flow *f = l->k->flow;
    const uint32_t first = e > MYTH_FACTS_NEAR ? e - MYTH_FACTS_NEAR : 0;
    bool is_set = false;
    for (uint32_t i = e; i > first;) {
        const myth_event *d = &f->event[--i];
        if (d->kind != MYTH_EVENT_DEFINE || !d->path || !myth_flow_is_part(f, path, d->path) ||
            !myth_flow_reaches(f, i, e))
            continue;
        const uint32_t scope = d->scope;
        const bool adds = is_addition(f, d);
        if (d->path != path || !is_own_definition(l, i, deep))
            return false;
        is_set = true;
        if (!adds && myth_flow_is_inside(f, f->event[e].scope, scope))
            break; /* it is always run */
    }
    return is_set;
}

static TSNode argument_of(const myth_flow *f, TSNode call, uint32_t i)
{
    const TSNode list = child_of(f, call, MYTH_SLOT_ARGUMENTS);
    return is_null(list) ? list : ts_node_named_child(list, i);
}

/* Whether what a call gives is own: numbers as texts, a text in other letters, or what is encoded of
 * an address. */
static bool is_own_call(look *l, TSNode call, uint32_t e, int deep)
{
    static const char *const same[] = {"strings.ToUpper", "strings.ToLower",    "strings.TrimSpace",  "strings.Repeat",
                                       "strings.Trim",    "strings.TrimPrefix", "strings.TrimSuffix", "string"};
    static const char *const numbers[] = {"strconv.Itoa", "strconv.Format", "strconv.Append"};
    static const char *const encodes[] = {"Encode", "QueryEscape", "PathEscape"};
    const myth_flow *f = l->k->flow;
    char callee[MYTH_SPAN_TEXT];
    put_tight(callee, node_span(f, child_of(f, call, MYTH_SLOT_CALLEE)));
    if (myth_flow_begins_with(callee, numbers, N_OF(numbers)) ||
        (l->what == FOR_ADDRESS && myth_flow_is_one_of(myth_flow_last_word(callee), encodes, N_OF(encodes))))
        return true;
    if (myth_flow_is_one_of(callee, same, N_OF(same)))
        return is_own(l, argument_of(f, call, 0), e, deep + 1);
    const uint32_t n = ts_node_named_child_count(child_of(f, call, MYTH_SLOT_ARGUMENTS));
    if (strcmp(callee, "fmt.Sprintf") != 0 || n == 0 || n > LEAVES)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!is_own(l, argument_of(f, call, i), e, deep + 1))
            return false;
    return true;
}

/* Whether the value of a node near event e is own. */
static bool is_own(look *l, TSNode node, uint32_t e, int deep)
{
    myth_flow *f = l->k->flow;
    node = is_null(node) ? node : myth_flow_inner(f, node);
    if (is_null(node) || deep > MOST_DEEP || --l->left < 0)
        return false;
    switch (role_of(f, node)) {
    case MYTH_ROLE_TEXT: return !myth_flow_is_filled(node);
    case MYTH_ROLE_NUMBER:
    case MYTH_ROLE_NOTHING:
    case MYTH_ROLE_CONSTANT: return true;
    case MYTH_ROLE_CALL: return is_own_call(l, node, e, deep);
    case MYTH_ROLE_BINARY:
        return myth_flow_is_operator(f, node, "+") && is_own(l, child_of(f, node, MYTH_SLOT_LEFT), e, deep) &&
               is_own(l, child_of(f, node, MYTH_SLOT_RIGHT), e, deep);
    case MYTH_ROLE_INDEX: { /* orders[key]: one of those that the package lists */
        const TSNode base = base_of(f, node);
        return !is_null(base) && is_outer(f, base, myth_flow_path(f, base));
    }
    case MYTH_ROLE_MEMBER:
        if (is_own_member(f, node, l->what) || is_of_package(l->k, node))
            return true;
        break;
    case MYTH_ROLE_NAME: break;
    default: return false;
    }
    const uint32_t path = myth_flow_path(f, node);
    return path && (is_outer(f, node, path) || is_own_path(l, path, e, deep));
}

/* The same, from the first look on. */
static bool is_own_at(const myth_facts *k, TSNode node, uint32_t e, purpose what)
{
    return is_own(&(look){k, what, MOST_LOOKS}, node, e, 0);
}

/* ---- clauses of statements ---- */

enum { PARTS_NO, PARTS_YES, PARTS_COLUMN };

/* Whether a text behind a name begins with a comparison with a value that is bound: " = ? and owner = ?". */
static bool is_comparison_with_bound(span s)
{
    uint32_t i = 1, from;
    while (i < s.n && s.p[i] == ' ')
        i++;
    for (from = i; i < s.n && (isalpha((unsigned char)s.p[i]) || strchr("=<>!( ", s.p[i]));)
        i++;
    return i > from && i < s.n && memchr("?$:@", s.p[i], 4);
}

static void put_leaves(const myth_flow *f, TSNode node, TSNode leaf[LEAVES], uint32_t *n, int deep)
{
    node = is_null(node) ? node : myth_flow_inner(f, node);
    if (is_null(node) || *n >= LEAVES)
        return;
    if (role_of(f, node) == MYTH_ROLE_BINARY && myth_flow_is_operator(f, node, "+") && deep < LEAVES) {
        put_leaves(f, child_of(f, node, MYTH_SLOT_LEFT), leaf, n, deep + 1);
        put_leaves(f, child_of(f, node, MYTH_SLOT_RIGHT), leaf, n, deep + 1);
    } else
        leaf[(*n)++] = node;
}

/* Whether what is not own stands only where a column is compared with a value that is bound. */
static bool names_columns(const myth_facts *k, TSNode node, uint32_t e)
{
    const myth_flow *f = k->flow;
    TSNode leaf[LEAVES];
    uint32_t n = 0;
    put_leaves(f, node, leaf, &n, 0);
    for (uint32_t i = 0; i < n; i++)
        if (!is_own_at(k, leaf[i], e, FOR_STATEMENT) &&
            (i + 1 >= n || n >= LEAVES || role_of(f, leaf[i + 1]) != MYTH_ROLE_TEXT ||
             !is_comparison_with_bound(node_span(f, leaf[i + 1]))))
            return false;
    return n > 1;
}

int myth_fact_own_parts(myth_facts *k, uint32_t e)
{
    const bool is_second =
        myth_fact(k, MYTH_FACT_arg0, e) != MYTH_VALUE_JOINED && myth_fact(k, MYTH_FACT_arg1, e) == MYTH_VALUE_JOINED;
    const TSNode node = myth_facts_argument(k, e, is_second);
    if (is_null(node))
        return PARTS_NO;
    if (is_own_at(k, node, e, FOR_STATEMENT))
        return PARTS_YES;
    return names_columns(k, node, e) ? PARTS_COLUMN : PARTS_NO;
}

/* ---- calls that cannot fail ---- */

enum { UNFAILING_NO, UNFAILING_FIXED, UNFAILING_MADE, UNFAILING_KEPT };

/* The variable that an argument is: x of x, &x, []byte(x); 0 = it is none. */
static uint32_t variable_of(myth_flow *f, TSNode node)
{
    const span s = node_span(f, node);
    char word[MYTH_SPAN_WORD];
    static const char conversion[] = "[]byte(";
    uint32_t at = s.n > 0 && s.p[0] == '&' ? 1 : 0;
    if (s.n > sizeof(conversion) && memcmp(s.p, conversion, sizeof(conversion) - 1) == 0)
        at = sizeof(conversion) - 1;
    const uint32_t n = at < s.n ? word_at(s, at, word) : 0;
    const bool is_all = at + n == s.n || (at > 1 && at + n + 1 == s.n);
    return n && is_all ? myth_flow_path_of_word(f, ts_node_start_byte(node) + at, n) : 0;
}

/* Whether the file makes bytes of something of a type, by json.Marshal. */
static bool is_marshaled(const myth_flow *f, const char *type)
{
    static const char *const form[] = {"%s := %s{", "%s := &%s{", "%s %s", "%s *%s"};
    span argument[MYTH_CALL_ARGUMENTS];
    uint32_t at = 0, n;
    char word[MYTH_SPAN_WORD], want[2 * MYTH_SPAN_WORD + MYTH_SPAN_TEXT];
    while (myth_facts_next_call(f, "json.Marshal", &at, argument, &n)) {
        if (n != 1)
            continue;
        const uint32_t from = argument[0].n > 0 && argument[0].p[0] == '&';
        const uint32_t m = from < argument[0].n ? word_at(argument[0], from, word) : 0;
        if (m == 0)
            continue;
        if (strcmp(word, type) == 0 && from + m < argument[0].n && argument[0].p[from + m] == '{')
            return true;
        for (size_t i = 0; i < N_OF(form); i++) {
            snprintf(want, sizeof(want), form[i], word, type);
            const span all = span_of(f, 0, f->n_text);
            if (i < 2 ? has_text(all, want) : has_word(all, want))
                return true;
        }
    }
    return false;
}

/* Whether bytes are read that json.Marshal made, in this function or of the same type in the file. */
static int read_back(const myth_facts *k, TSNode call, uint32_t e)
{
    myth_flow *f = k->flow;
    const TSNode from = argument_of(f, call, 0), to = argument_of(f, call, 1);
    uint32_t d;
    if (is_null(from) || is_null(to))
        return UNFAILING_NO;
    const uint32_t bytes = variable_of(f, from), target = variable_of(f, to);
    if (bytes && myth_facts_definition(k, bytes, e, &d) && f->event[d].value == MYTH_VALUE_CALL &&
        strncmp(f->names + f->event[d].name, "json.Marshal", 12) == 0)
        return UNFAILING_MADE;
    if (!target || f->path[target].type_end <= f->path[target].type_off)
        return UNFAILING_NO;
    char type[MYTH_SPAN_TEXT];
    put_tight(type, span_of(f, f->path[target].type_off, f->path[target].type_end));
    return strlen(type) < MYTH_SPAN_WORD && myth_is_word(type[0]) && is_marshaled(f, type) ? UNFAILING_KEPT
                                                                                           : UNFAILING_NO;
}

int myth_fact_unfailing(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const TSNode call = myth_facts_value_node(f, myth_facts_event(k, e));
    if (is_null(call) || role_of(f, call) != MYTH_ROLE_CALL)
        return UNFAILING_NO;
    const char *name = f->names + myth_facts_event(k, e)->name;
    if (strcmp(name, "json.Unmarshal") == 0)
        return read_back(k, call, e);
    if (strncmp(name, "http.NewRequest", 15) != 0)
        return UNFAILING_NO;
    const uint32_t at = strcmp(name, "http.NewRequestWithContext") == 0;
    return is_own_at(k, argument_of(f, call, at), e, FOR_ADDRESS) &&
                   is_own_at(k, argument_of(f, call, at + 1), e, FOR_ADDRESS)
             ? UNFAILING_FIXED
             : UNFAILING_NO;
}

/* ---- what is split ---- */

/* Whether a source calls what makes a new UUID: uuid.NewString(), UUID.randomUUID(). */
static bool makes_uuid(const char *text)
{
    static const char *const makes[] = {
        "uuid.New(", "uuid.NewString(", "uuid.NewV",     "uuid.NewRandom(", "uuid.Must(",     "uuid.uuid",
        "uuid4()",   "uuid1()",         "randomUUID(",   "GenerateUUID(",   "generateUUID(",  "generate_uuid(",
        "NewUUID(",  "newUUID(",        "GenerateUuid(", "generateUuid(",   "uuid.Generate(", "new_uuid("};
    return myth_flow_has_one_of(text, makes, N_OF(makes));
}

/* How many parts a time has that is written by a layout of the source: Format("2006-01-02"). 0 = there is none. */
static int parts_of_layout(const char *text, char separator)
{
    static const char *const writes[] = {".Format(\"", "strftime(\"", "strftime('", "ofPattern(\"", "DateFormat(\""};
    for (size_t i = 0; i < N_OF(writes); i++) {
        const char *p = strstr(text, writes[i]);
        int n = 1;
        for (p = p ? p + strlen(writes[i]) : ""; *p && *p != '"' && *p != '\''; p++)
            n += *p == separator;
        if (n > 1)
            return n;
    }
    return 0;
}

/* The source of the variable that is split, x of strings.Split(x, "-") and x.split("-"), where it got its value. */
static void put_split(const myth_facts *k, TSNode call, uint32_t e, char dst[MYTH_SPAN_TEXT])
{
    myth_flow *f = k->flow;
    const span s = node_span(f, call);
    char word[MYTH_SPAN_WORD];
    uint32_t at = 0, d;
    static const char split[] = "strings.Split";
    if (s.n > sizeof(split) && memcmp(s.p, split, sizeof(split) - 1) == 0)
        while (at < s.n && s.p[at++] != '(')
            ;
    const uint32_t n = at < s.n ? word_at(s, at, word) : 0;
    const uint32_t path = n ? myth_flow_path_of_word(f, ts_node_start_byte(call) + at, n) : 0;
    dst[0] = '\0';
    if (path && myth_facts_definition(k, path, e, &d) && f->event[d].path == path)
        put_tight(dst, definition_span(f, &f->event[d]));
}

int myth_fact_parted(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[e];
    const bool is_call = at->kind == MYTH_EVENT_CALL; /* whose element is taken at once */
    const TSNode call = is_call ? at->node : myth_facts_origin_node(k, e);
    char element[MYTH_SPAN_TEXT], text[MYTH_SPAN_TEXT], before[MYTH_SPAN_TEXT];
    put_tight(element, is_call ? begin_of(span_of(f, at->end, f->n_text), 4) : node_span(f, at->node));
    const char *bracket = strrchr(element, '[');
    if (is_null(call) || !bracket || !isdigit((unsigned char)bracket[1]))
        return 0;
    const int index = (int)strtol(bracket + 1, NULL, 10);
    put_tight(text, node_span(f, call));
    const char *end = strrchr(text, '"') ? strrchr(text, '"') : strrchr(text, '\'');
    if (!end || end < text + 2 || end[-2] != *end) /* a separator of one letter */
        return 0;
    put_split(k, call, e, before);
    if (end[-1] == '-' && index <= 4 && (makes_uuid(text) || makes_uuid(before)))
        return 1;
    return index < parts_of_layout(text, end[-1]) || index < parts_of_layout(before, end[-1]);
}

/* ---- pages ---- */

int myth_fact_own_values(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    TSNode data = {0};
    for (uint32_t i = 1; i < 3; i++) {
        const TSNode next = myth_facts_argument(k, e, i);
        data = is_null(next) ? data : next;
    }
    uint32_t d;
    const uint32_t path = is_null(data) ? 0 : variable_of(k->flow, data);
    if (path && myth_facts_definition(k, path, e, &d) && f->event[d].path == path)
        data = myth_facts_value_node(f, &f->event[d]);
    if (is_null(data) || strcmp(ts_node_type(data), "composite_literal") != 0)
        return !is_null(data) && role_of(f, data) != MYTH_ROLE_NAME && is_own_at(k, data, e, FOR_PAGE);
    const TSNode body = child_of(f, data, MYTH_SLOT_BODY);
    const uint32_t n = is_null(body) ? 0 : ts_node_named_child_count(body);
    for (uint32_t i = 0; i < n && n <= LEAVES; i++) {
        const TSNode part = ts_node_named_child(body, i);
        if (ts_node_is_extra(part))
            continue;
        const TSNode value = role_of(f, part) == MYTH_ROLE_PAIR ? value_of_pair(f, part) : ts_node_named_child(part, 0);
        if (!is_own_at(k, value, e, FOR_PAGE))
            return 0;
    }
    return n > 0 && n <= LEAVES;
}

/* ---- random numbers that are no secret ---- */

enum { MADE_NO, MADE_FOR, MADE_COUNT, MADE_PART };

static void put_small(char dst[MYTH_SPAN_WORD], const char *name)
{
    size_t n = 0;
    for (; name[n] && n + 1 < MYTH_SPAN_WORD; n++)
        dst[n] = (char)tolower((unsigned char)name[n]);
    dst[n] = '\0';
}

/* Whether what a function makes is for a secret that it is given, by its name and that of a parameter:
 * idForToken(token). */
static bool is_for_given(const myth_flow *f)
{
    static const char *const secret[] = {"token", "session", "password", "secret", "csrf", "nonce", "salt", "key"};
    static const char *const before[] = {"for", "of", "by", "from", "with"};
    const char *name = f->names + f->name;
    char low[MYTH_SPAN_WORD], word[MYTH_SPAN_WORD];
    size_t cut = 0;
    put_small(low, name);
    for (size_t b = 0; b < N_OF(before) && !cut; b++)
        for (const char *p = low + 1; *low && (p = strstr(p, before[b])) != NULL && !cut; p++) {
            const size_t from = (size_t)(p - low), to = from + strlen(before[b]);
            const bool is_word = (name[from - 1] == '_' && name[to] == '_') ||
                                 (isupper((unsigned char)name[from]) && isupper((unsigned char)name[to]));
            cut = is_word ? to : 0;
            if (cut)
                low[from] = '\0';
        }
    if (!cut || myth_flow_has_one_of(low, secret, N_OF(secret)))
        return false;
    for (uint32_t i = 0; i < f->n_event && f->event[i].value == MYTH_VALUE_PARAMETER; i++) {
        put_small(word, f->event[i].path ? last_word(f, f->event[i].path) : "");
        if (strlen(word) > 2 && strstr(low + cut, word))
            return true;
    }
    return false;
}

/* Whether a function gives how many or how long something secret is, by its name: sessionCount, password_length. */
static bool is_measure(const myth_flow *f)
{
    static const char *const secret[] = {"token", "session", "password", "passwd", "secret", "csrf",    "nonce",
                                         "salt",  "apikey",  "api_key",  "otp",    "invite", "captcha", "code"};
    static const char *const measure[] = {"count",   "size",  "length", "duration", "interval", "delay",
                                          "timeout", "limit", "weight", "lifetime", "expir"};
    char low[MYTH_SPAN_WORD];
    bool is_found = false;
    put_small(low, f->names + f->name);
    for (size_t i = 0; i < N_OF(secret); i++)
        for (const char *p = low; (p = strstr(p, secret[i])) != NULL;) {
            p += strlen(secret[i]);
            const char *behind = p + (*p == 's');
            if (!myth_flow_begins_with(behind + (*behind == '_'), measure, N_OF(measure)))
                return false;
            is_found = true;
        }
    return is_found;
}

/* Whether the innermost member that gets what call e gives is none of a secret, by its name: a number among others of
 * what is made. */
static bool is_other_part(const myth_flow *f, uint32_t e)
{
    enum { NEAR = 32 };
    static const char *const secret[] = {
        "token", "pass", "secret", "csrf", "nonce", "salt",   "key", "otp",  "code", "pin",  "hash",    "id",   "value",
        "text",  "auth", "string", "data", "seed",  "cookie", "pwd", "sess", "chal", "sign", "captcha", "body", "name"};
    const myth_event *at = &f->event[e], *part = NULL;
    char low[MYTH_SPAN_WORD];
    for (uint32_t i = e > NEAR ? e - NEAR : 0; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_FIELD && x->off <= at->off && x->end >= at->end &&
            (!part || x->end - x->off < part->end - part->off))
            part = x;
    }
    put_small(low, part ? f->names + part->name : "");
    return low[0] && !myth_flow_has_one_of(low, secret, N_OF(secret));
}

int myth_fact_made_for(myth_facts *k, uint32_t e)
{
    return is_for_given(k->flow)     ? MADE_FOR
         : is_measure(k->flow)       ? MADE_COUNT
         : is_other_part(k->flow, e) ? MADE_PART
                                     : MADE_NO;
}
