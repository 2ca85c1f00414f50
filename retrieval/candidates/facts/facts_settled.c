/* facts_settled.c - why the result of a call that can fail needs no test: by what it is, where it goes, and who asks
 * for it (facts.h). */
#define _GNU_SOURCE /* memmem */
#include "facts_span.h"

#include <stdio.h>

enum { NEAR = 512, MOST = 4096 };

/* ---- what it is ---- */

/* Whether `set` is what a function gives or asks for by its name, and not what it does: pop_node_set, is_in_set. */
static bool is_set_of_things(const char *name)
{
    static const char *const before[] = {"get", "pop", "in", "of", "is", "has", "next", "count", "nb", "size"};
    const size_t n = strlen(name);
    char word[MYTH_SPAN_WORD];
    if (n < 5 || strcmp(name + n - 4, "_set") != 0)
        return false;
    for (uint32_t i = 0; i + 4 < n;) {
        const uint32_t m = (uint32_t)strcspn(name + i, "_");
        snprintf(word, sizeof(word), "%.*s", (int)m, name + i);
        if (myth_flow_is_one_of(word, before, N_OF(before)))
            return true;
        i += m + 1;
    }
    return false;
}

/* Whether a function has the name of the type that its result is kept as, with something before it. */
static bool is_named_as_type(const myth_flow *f, const char *name, const myth_path *p)
{
    char type[MYTH_SPAN_TEXT];
    put_tight(type, span_of(f, p->type_off, p->type_end));
    const char *last = strncmp(type, "struct", 6) == 0 ? type + 6 : myth_flow_last_word(type);
    const size_t n = strlen(name), m = strlen(last);
    return m > 3 && n > m && strcmp(name + n - m, last) == 0;
}

/* Whether a definition gets a number, by its type, a cast, or since bits are read. */
static bool is_number(const myth_flow *f, const myth_event *d, const char *name)
{
    const myth_path *p = &f->path[d->path];
    char text[MYTH_SPAN_TEXT];
    if (p->base == 0)
        return p->type_end > 0 && !p->is_pointer && !has_word(span_of(f, p->type_off, p->type_end), "auto");
    put_tight(text, begin_of(definition_span(f, d), MYTH_SPAN_WORD));
    const char *close = text[0] == '(' ? strchr(text, ')') : NULL;
    return strstr(name, "bit") || (close && close[1] != '\0' && !memchr(text, '*', (size_t)(close - text)));
}

bool myth_facts_is_value(const myth_facts *k, uint32_t e, uint32_t d)
{
    static const char *const no_sign[] = {"unsigned", "uint", "u8", "u16", "u32", "u64"};
    const myth_flow *f = k->flow;
    const char *name = myth_flow_last_word(f->names + f->event[e].name);
    const myth_path *p = &f->path[f->event[d].path];
    const size_t n = strlen(name);
    if (!is_number(f, &f->event[d], name))
        return false;
    if (p->base == 0 && !p->is_array && (is_set_of_things(name) || is_named_as_type(f, name, p)))
        return true;
    const TSNode width = myth_facts_argument(k, e, 1);
    const span type = span_of(f, p->type_off, p->type_end);
    return n > 5 && strcmp(name + n - 5, "_read") == 0 && !is_null(width) && is_null(myth_facts_argument(k, e, 2)) &&
           role_of(f, width) == MYTH_ROLE_NUMBER &&
           (p->base != 0 || strstr(name, "bit") || has_one(type, no_sign, N_OF(no_sign)));
}

/* ---- where it goes ---- */

bool myth_facts_is_reported(const myth_flow *f, uint32_t d, uint32_t x)
{
    static const char *const makes[] = {
        "_result_int", "SetResultInt", "_pushint",    "_pushnum",   "PyLong_From",  "PyInt_From", "PyBool_From",
        "Tcl_NewInt",  "Tcl_NewWide",  "Tcl_NewLong", "Jim_NewInt", "napi_create_", "JS_NewInt",  "JS_NewNumber",
        "duk_push_",   "INT2NUM",      "LONG2NUM",    "LL2NUM",     "SIZET2NUM",    "scm_from_",  "newSViv",
        "RETURN_LONG", "RETVAL_LONG",  "Val_long",    "Val_int",    "NewFromInt",   "mrb_fixnum"};
    if (x == UINT32_MAX)
        return false;
    const myth_event *a = &f->event[x];
    return a->kind == MYTH_EVENT_ARG && a->path == f->event[d].path && !a->is_through && !f->path[a->path].is_pointer &&
           myth_flow_has_one_of(f->names + a->name, makes, N_OF(makes));
}

/* Whether a variable of a size is added up or measured before event i. */
static bool is_added_up(const myth_flow *f, uint32_t i, span size)
{
    static const char *const measures[] = {"strlen(", "snprintf(NULL", ".size()", ".length()"};
    while (i-- > 0) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path && has_word(size, last_word(f, d->path)) &&
            (d->value == MYTH_VALUE_SUM ||
             has_one(begin_of(definition_span(f, d), MYTH_SPAN_TEXT), measures, N_OF(measures))))
            return true;
    }
    return false;
}

/* Whether the last argument of a text `call`, or its size between brackets, is `want`, or the variable that has it. */
static bool is_last_size(const myth_flow *f, uint32_t i, const char *call, const char *want)
{
    char word[MYTH_SPAN_WORD], value[MYTH_SPAN_TEXT];
    size_t n = strlen(call), m = strlen(want);
    if (n < 2 || (call[n - 1] != ')' && call[n - 1] != ']'))
        return false;
    if (n > m + 1 && memcmp(call + n - 1 - m, want, m) == 0 && strchr("(,[", call[n - 2 - m]))
        return true;
    size_t from = n - 1;
    while (from > 0 && myth_is_word(call[from - 1]))
        from--;
    if (from == 0 || !strchr("(,[", call[from - 1]) || !word_at((span){call + from, (uint32_t)(n - from)}, 0, word))
        return false;
    while (i-- > 0)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path &&
            strcmp(f->names + f->path[f->event[i].path].text, word) == 0) {
            put_tight(value, definition_span(f, &f->event[i]));
            return strcmp(value, want) == 0;
        }
    return false;
}

bool myth_facts_fits(const myth_facts *k, uint32_t e)
{
    static const char *const prints[] = {"snprintf", "vsnprintf"}, *const takes[] = {"alloc", "Alloc", "ALLOC"};
    myth_flow *f = k->flow;
    char want[MYTH_SPAN_TEXT], value[MYTH_SPAN_TEXT];
    if (!myth_flow_is_one_of(myth_flow_last_word(f->names + f->event[e].name), prints, N_OF(prints)))
        return false;
    const TSNode room = myth_facts_argument(k, e, 0), size = myth_facts_argument(k, e, 1);
    const uint32_t to = is_null(room) ? 0 : myth_flow_path(f, room);
    put_tight(want, node_span(f, size));
    if (!to || !want[0] || isdigit((unsigned char)want[0]))
        return false;
    for (uint32_t i = e; i-- > 0 && e - i < NEAR;) {
        const myth_event *d = &f->event[i];
        if (d->kind != MYTH_EVENT_DEFINE || !d->path || !myth_flow_reaches(f, i, e))
            continue;
        if (d->path != to && has_word(node_span(f, size), last_word(f, d->path)))
            return false; /* the size is another one now */
        if (d->path != to)
            continue;
        put_tight(value, definition_span(f, d));
        const bool is_taken =
            d->value == MYTH_VALUE_NEW || myth_flow_has_one_of(f->names + d->name, takes, N_OF(takes));
        return is_taken && is_last_size(f, i, value, want) && is_added_up(f, i, node_span(f, size));
    }
    return false;
}

/* Whether a function makes something behind an address that it gets, by its name. */
static bool makes_behind(const char *name)
{
    static const char *const makes[] = {"init", "Init",  "INIT", "create",   "Create", "new",
                                        "New",  "alloc", "open", "asprintf", "setup",  "getline"};
    static const char *const other[] = {"realloc", "Realloc", "renew"};
    return myth_flow_has_one_of(name, makes, N_OF(makes)) && !myth_flow_has_one_of(name, other, N_OF(other));
}

bool myth_facts_is_set_again(const myth_flow *f, uint32_t d)
{
    enum { SOON = 24 };
    const myth_event *def = &f->event[d];
    const bool is_behind = f->names[f->path[def->path].text] == '*'; /* *p, of which p is the address */
    for (uint32_t i = d + 1; i < f->n_event && i < d + SOON; i++) {
        const myth_event *x = &f->event[i];
        const bool is_read_for = x->kind == MYTH_EVENT_USE && i + 1 < f->n_event && f->event[i + 1].is_through &&
                                 f->event[i + 1].off == x->off; /* the member of &o.member */
        if (!x->path || is_read_for || !myth_flow_reaches(f, d, i))
            continue;
        const bool is_always = myth_flow_is_inside(f, def->scope, x->scope);
        const bool is_address = x->is_through ? x->path == def->path : is_behind && x->path == f->path[def->path].base;
        if (x->kind == MYTH_EVENT_ARG && is_address)
            return is_always && makes_behind(myth_flow_last_word(f->names + x->name));
        if (myth_flow_is_part(f, x->path, def->path))
            return x->kind == MYTH_EVENT_DEFINE && x->path == def->path && f->path[x->path].is_pointer && is_always;
    }
    return false;
}

bool myth_facts_is_told(const myth_flow *f, uint32_t e, uint32_t next)
{
    for (uint32_t a = e + 1; a < f->n_event && a < e + 64 && f->event[a].off < f->event[e].end; a++) {
        const uint32_t path = f->event[a].path;
        if (f->event[a].kind != MYTH_EVENT_ARG || f->event[a].call != e || !f->event[a].is_through)
            continue;
        const char *name = last_word(f, path);
        const bool is_error =
            f->path[path].is_pointer && (strstr(name, "err") || strstr(name, "Err")); /* GError *err */
        for (uint32_t i = a + 1; (is_error || myth_facts_is_status(f, path)) && i < next; i++) {
            if (i >= f->n_event || i >= a + MYTH_FACTS_NEAR)
                break;
            const myth_event *x = &f->event[i];
            if (x->path != path || (x->kind == MYTH_EVENT_DEFINE && x->value == MYTH_VALUE_OUT))
                continue;
            if (x->kind != MYTH_EVENT_TEST && !x->test)
                break;
            return x->off >= f->event[e].end;
        }
    }
    return false;
}

/* ---- what is scanned ---- */

/* The function that event e calls, or that gets the argument that it is, without what it is a member of. */
static const char *called(const myth_flow *f, uint32_t e) { return myth_flow_last_word(f->names + f->event[e].name); }

/* The path of a variable; 0 = the function has none of the name. */
static uint32_t path_of_word(const myth_flow *f, const char *word)
{
    for (uint32_t p = 1; p < f->n_path; p++)
        if (!f->path[p].base && strcmp(f->names + f->path[p].text, word) == 0)
            return p;
    return 0;
}

/* The path of what call e scans: the text, or the file; of a piece, strchr(line, ':') + 1, the text that it is of. */
static uint32_t scanned_path(const myth_facts *k, uint32_t e)
{
    static const char *const scans[] = {"sscanf", "fscanf"};
    static const char *const finds[] = {"strchr(", "strrchr(", "strstr("};
    myth_flow *f = k->flow;
    char word[MYTH_SPAN_WORD];
    const TSNode from = myth_facts_argument(k, e, 0);
    if (is_null(from) || !myth_flow_is_one_of(called(f, e), scans, N_OF(scans)))
        return 0;
    const span s = node_span(f, from);
    if (word_at(s, 0, word) == 0)
        return 0;
    uint32_t path = path_of_word(f, word);
    for (uint32_t i = e; path && i-- > 0 && e - i < NEAR;) {
        if (f->event[i].kind != MYTH_EVENT_DEFINE || f->event[i].path != path)
            continue;
        const span value = begin_of(definition_span(f, &f->event[i]), MYTH_SPAN_TEXT);
        for (size_t w = 0; w < N_OF(finds); w++)
            if (value.n > strlen(finds[w]) && memcmp(value.p, finds[w], strlen(finds[w])) == 0 &&
                word_at(value, (uint32_t)strlen(finds[w]), word))
                return path_of_word(f, word);
        break;
    }
    return path;
}

/* Whether all that a variable of files is opened for is of the kernel: "/proc/stat", "/sys/...", or a constant whose
 * name says so. */
static bool is_kernel_file(const myth_flow *f, uint32_t file)
{
    static const char *const begin[] = {"fopen(\"/proc/", "fopen(\"/sys/", "fopen(PROC", "fopen(SYSFS",
                                        "fopen(_PATH_PROC"};
    char text[MYTH_SPAN_TEXT];
    uint32_t n = 0;
    for (uint32_t i = 0; file && i < f->n_event; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind != MYTH_EVENT_DEFINE || d->path != file || d->value == MYTH_VALUE_NULL ||
            d->value == MYTH_VALUE_NOTHING)
            continue;
        put_tight(text, begin_of(definition_span(f, d), MYTH_SPAN_WORD));
        if (!myth_flow_begins_with(text, begin, N_OF(begin)))
            return false;
        n++;
    }
    return n > 0;
}

bool myth_facts_is_of_kernel(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = scanned_path(k, e);
    if (!path)
        return false;
    if (called(f, e)[0] == 'f')
        return is_kernel_file(f, path);
    for (uint32_t i = e; i-- > 0 && e - i < MYTH_FACTS_NEAR;) { /* the call that read the line */
        const myth_event *x = &f->event[i];
        const bool is_line = x->kind == MYTH_EVENT_ARG && x->path == path;
        if (!is_line || !(strcmp(called(f, i), "fgets") == 0 || strcmp(called(f, i), "getline") == 0))
            continue;
        uint32_t file = 0;
        for (uint32_t a = x->call + 1; a < f->n_event && f->event[a].off < f->event[x->call].end; a++)
            if (f->event[a].kind == MYTH_EVENT_ARG && f->event[a].call == x->call && f->event[a].index == 2)
                file = f->event[a].path;
        return is_kernel_file(f, file);
    }
    return false;
}

/* Whether a text of the file, up to byte `to` and from at most FAR before it, makes or accepts an address that the word
 * names: w = inet_ntoa(...), inet_ntop(..., w, n), inet_pton(AF_INET, w, ...), is_valid_ip(w). */
static bool is_address_before(const myth_flow *f, uint32_t to, const char *w)
{
    enum { FAR = 700 };
    static const char *const takes[] = {"inet_ntop(", "inet_pton(", "inet_aton(", "valid_ip", "is_ip"};
    uint32_t from = to; /* in the same function */
    while (from > 1 && to - from < FAR && !(f->text[from - 1] == '}' && f->text[from - 2] == '\n'))
        from--;
    const span s = span_of(f, from, to);
    char want[MYTH_SPAN_WORD + 16];
    snprintf(want, sizeof(want), "%s = inet_ntoa(", w);
    if (has_text(s, want))
        return true;
    for (size_t t = 0; t < N_OF(takes); t++)
        for (uint32_t i = 0; i + strlen(takes[t]) < s.n; i++)
            if (memcmp(s.p + i, takes[t], strlen(takes[t])) == 0) {
                uint32_t end = i;
                while (end < s.n && !strchr(";{\n", s.p[end]))
                    end++;
                const bool is_longer = has_text(begin_of((span){s.p + i, end - i}, 12), "v6"); /* is_ipv6(w) */
                if (!is_longer && has_word((span){s.p + i, end - i}, w))
                    return true;
            }
    return false;
}

bool myth_facts_is_of_address(const myth_facts *k, uint32_t e)
{
    static const char *const quads[] = {"\"%d.%d.%d.%d\"", "\"%u.%u.%u.%u\"",     "\"%hhu.%hhu.%hhu.%hhu\"",
                                        "\"%i.%i.%i.%i\"", "\"%3d.%3d.%3d.%3d\"", "\"%3u.%3u.%3u.%3u\""};
    const myth_flow *f = k->flow;
    char text[MYTH_SPAN_TEXT], word[MYTH_SPAN_WORD];
    const TSNode from = myth_facts_argument(k, e, 0), format = myth_facts_argument(k, e, 1);
    put_tight(text, node_span(f, format));
    if (is_null(from) || strcmp(called(f, e), "sscanf") != 0 || !myth_flow_is_one_of(text, quads, N_OF(quads)) ||
        word_at(node_span(f, from), 0, word) != node_span(f, from).n)
        return false;
    const uint32_t path = path_of_word(f, word);
    uint32_t index = 0, at = 0, n, n_call = 0;
    span arg[MYTH_CALL_ARGUMENTS];
    while (index < f->n_event && f->event[index].value == MYTH_VALUE_PARAMETER && f->event[index].path != path)
        index++;
    if (index == f->n_event || f->event[index].value != MYTH_VALUE_PARAMETER)
        return is_address_before(f, f->event[e].off, word);
    while (myth_facts_next_call(f, f->names + f->name, &at, arg, &n)) {
        if (at >= f->off && at < f->end)
            continue;
        if (index >= n || ++n_call > 8 || word_at(arg[index], 0, word) != arg[index].n ||
            !is_address_before(f, at, word))
            return false;
    }
    return n_call > 0;
}

bool myth_facts_is_of_constant(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const TSNode from = myth_facts_argument(k, e, 0);
    char word[MYTH_SPAN_WORD];
    if (is_null(from) || strcmp(called(f, e), "sscanf") != 0)
        return false;
    const span s = node_span(f, from);
    return role_of(f, from) == MYTH_ROLE_TEXT || (word_at(s, 0, word) == s.n && myth_flow_is_constant_name(word));
}

/* ---- who asks for it ---- */

/* The number of the parameter that a path is a part of, or what is behind it; UINT32_MAX = of none. *root: the
 * parameter. */
static uint32_t parameter_of(const myth_flow *f, uint32_t path, uint32_t *root)
{
    *root = path;
    for (int i = 0; i < 16 && f->path[*root].base; i++)
        *root = f->path[*root].base;
    for (uint32_t i = 0; i < f->n_event && f->event[i].value == MYTH_VALUE_PARAMETER; i++)
        if (f->event[i].path == *root && *root != path)
            return i;
    return UINT32_MAX;
}

bool myth_facts_is_given(const myth_flow *f, uint32_t e, uint32_t d)
{
    static const char *const copies[] = {"strdup", "strndup"};
    uint32_t root, line;
    return myth_flow_is_one_of(myth_flow_last_word(f->names + f->event[e].name), copies, N_OF(copies)) &&
           parameter_of(f, f->event[d].path, &root) != UINT32_MAX &&
           myth_facts_checked(f, d, &line) == MYTH_CHECKED_IGNORED;
}

/* Whether a condition asks for what stands in bytes [at, at + n) of a text. */
static bool is_asked_at(span s, uint32_t at, uint32_t n)
{
    uint32_t from = at, to = at + n;
    while (from > 0 && isspace((unsigned char)s.p[from - 1]))
        from--;
    while (to < s.n && isspace((unsigned char)s.p[to]))
        to++;
    const char before = from > 0 ? s.p[from - 1] : '\0', after = to < s.n ? s.p[to] : '\0';
    const bool is_compared = (after == '=' || after == '!') && to + 1 < s.n && s.p[to + 1] == '=';
    if (before == '!' || after == '?' || is_compared)
        return true;
    const bool is_end = after == ')' || after == '&' || after == '|';
    if (is_end && from > 1 && (before == '&' || before == '|') && s.p[from - 2] == before)
        return true;
    while (from > 1 && isspace((unsigned char)s.p[from - 2]))
        from--;
    return is_end && before == '(' && from > 2 && memcmp(s.p + from - 3, "if", 2) == 0;
}

/* Whether the first thing that a text has of a path asks for it. */
static bool is_asked_first(span s, const char *want)
{
    const uint32_t n = (uint32_t)strlen(want);
    for (uint32_t i = 0; n > 0 && i + n <= s.n; i++) {
        if (s.p[i] == '\n' && i + 1 < s.n && s.p[i + 1] == '}')
            return false; /* the function's end */
        if (memcmp(s.p + i, want, n) == 0 && (i == 0 || !myth_is_word(want[0]) || !myth_is_word(s.p[i - 1])) &&
            (i + n == s.n || !myth_is_word(s.p[i + n])))
            return is_asked_at(s, i, n);
    }
    return false;
}

/* The function of whose call what stands at byte `at` is an argument; "" = none. */
static void called_around(const myth_flow *f, uint32_t at, char name[MYTH_SPAN_WORD])
{
    enum { FAR = 200 };
    const uint32_t least = at > FAR ? at - FAR : 0;
    uint32_t depth = 0;
    name[0] = '\0';
    for (; at > least && !strchr(";{}", f->text[at - 1]); at--) {
        const char c = f->text[at - 1];
        if (c == ')')
            depth++;
        if (c == '(' && depth-- == 0)
            break;
    }
    if (at == least || f->text[at - 1] != '(')
        return;
    for (at--; at > least && f->text[at - 1] == ' ';)
        at--;
    uint32_t from = at;
    while (from > least && myth_is_word(f->text[from - 1]))
        from--;
    word_at(span_of(f, from, at), 0, name);
}

/* Whether a function of the library reads a text at bytes [at, at + n) of the file, and no condition asked for it in
 * the bytes before. */
static bool is_read_bare(const myth_flow *f, uint32_t at, uint32_t n)
{
    enum { FAR = 300 };
    char name[MYTH_SPAN_WORD];
    uint32_t from = at;
    while (from > 0 && (myth_is_word(f->text[from - 1]) || strchr(".->[]", f->text[from - 1])))
        from--;
    uint32_t before = from, behind = at + n;
    while (before > 0 && isspace((unsigned char)f->text[before - 1]))
        before--;
    while (behind < f->n_text && isspace((unsigned char)f->text[behind]))
        behind++;
    if (before == 0 || !strchr("(,", f->text[before - 1]) || behind >= f->n_text || !strchr(",)", f->text[behind]))
        return false;
    called_around(f, from, name);
    if (!myth_facts_takes_text(name))
        return false;
    const uint32_t size = at + n - from, least = from > FAR ? from - FAR : 0;
    const span all = span_of(f, 0, f->n_text);
    for (uint32_t i = from; i-- > least;) {
        if (f->text[i] == '\n' && i + 1 < f->n_text && f->text[i + 1] == '}')
            break; /* the end of a function */
        if (memcmp(f->text + i, f->text + from, size) == 0 && !myth_is_word(f->text[i + size]) &&
            (i == 0 || !myth_is_word(f->text[i - 1])) && is_asked_at(all, i, size))
            return false;
    }
    return true;
}

int myth_fact_read_bare(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const char *const end = f->text + f->n_text;
    uint32_t d;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL || !myth_facts_taker(f, e, &d))
        return 0;
    const char *word = last_word(f, f->event[d].path);
    const size_t n = strlen(word);
    const bool is_member = f->path[f->event[d].path].base != 0;
    if (n == 0 || !myth_is_word(word[0]) || isdigit((unsigned char)word[0]))
        return 0;
    uint32_t n_seen = 0;
    for (const char *p = f->text; (p = memmem(p, (size_t)(end - p), word, n)) != NULL && n_seen++ < MOST; p += n) {
        const uint32_t at = (uint32_t)(p - f->text);
        const bool is_word = (at == 0 || !myth_is_word(p[-1])) && p + n < end && !myth_is_word(p[n]);
        const bool is_behind = at > 1 && (p[-1] == '.' || (p[-1] == '>' && p[-2] == '-'));
        if (is_word && is_behind == is_member && is_read_bare(f, at, (uint32_t)n))
            return 1;
    }
    return 0;
}

/* What a caller calls the path that is `tail` behind the parameter for which it gives `arg`; tail "" = what it points
 * to. False where that is no plain name. */
static bool name_at_caller(span arg, const char *tail, char want[MYTH_SPAN_TEXT])
{
    const bool is_address = arg.n > 1 && arg.p[0] == '&';
    const span s = is_address ? (span){arg.p + 1, arg.n - 1} : arg;
    for (uint32_t i = 0; i < s.n; i++)
        if (!myth_is_word(s.p[i]) && !strchr(".->[]", s.p[i]))
            return false;
    if (s.n == 0 || s.n > MYTH_SPAN_WORD || strlen(tail) > MYTH_SPAN_WORD)
        return false;
    if (*tail)
        snprintf(want, MYTH_SPAN_TEXT, "%.*s%s%s", (int)s.n, s.p, is_address ? "." : "->", tail);
    else
        snprintf(want, MYTH_SPAN_TEXT, "%s%.*s", is_address ? "" : "*", (int)s.n, s.p);
    return true;
}

bool myth_facts_is_asked_by_callers(const myth_flow *f, uint32_t d)
{
    static const char *const nothing[] = {"NULL", "nullptr", "0"};
    enum { FAR = 2000 };
    char want[MYTH_SPAN_TEXT], given[MYTH_SPAN_TEXT];
    uint32_t root, at = 0, n, n_call = 0;
    span arg[MYTH_CALL_ARGUMENTS];
    const uint32_t index = parameter_of(f, f->event[d].path, &root);
    if (index >= MYTH_CALL_ARGUMENTS || strncmp(f->text + f->off, "static", f->end - f->off < 6 ? 0 : 6) != 0)
        return false;
    const char *text = f->names + f->path[f->event[d].path].text, *of = f->names + f->path[root].text;
    const size_t m = strlen(of);
    const bool is_behind = text[0] == '*' && strcmp(text + 1, of) == 0;
    if (!is_behind && !(strncmp(text, of, m) == 0 && strncmp(text + m, "->", 2) == 0))
        return false;
    const char *tail = is_behind ? "" : text + m + 2;
    while (myth_facts_next_call(f, f->names + f->name, &at, arg, &n)) {
        if (at >= f->off && at < f->end)
            continue;
        if (index >= n)
            return false;
        put_tight(given, arg[index]);
        if (myth_flow_is_one_of(given, nothing, N_OF(nothing)))
            continue;
        const uint32_t end = (uint32_t)(arg[n - 1].p - f->text) + arg[n - 1].n;
        if (!name_at_caller(arg[index], tail, want) ||
            !is_asked_first(span_of(f, end, end + FAR < f->n_text ? end + FAR : f->n_text), want))
            return false;
        n_call++;
    }
    return n_call > 0;
}
