/* facts_form.c - whether the form of a text was asked for before it is taken apart, by another function of the file or
 * under another name (facts.h). Python: what is read is the text of the file, LITERAL in text. */
#define _GNU_SOURCE /* memmem */
#include "facts_span.h"

enum { LITERAL = 160, ASKED_LEAST = 4, MOST = 4096 };

/* What is taken apart, and how. */
typedef struct {
    span call;               /* text.split(":"), re.findall(PATTERN, text) */
    char of[MYTH_SPAN_TEXT]; /* the text, without blanks */
    char by[LITERAL];        /* where it is split, or the pattern, or the name of one */
    uint32_t index;          /* which part is taken; of a pattern 0 */
    bool is_pattern;
} taking;

/* The text between quotes that begin at byte i, behind the letters of its kind: r"...". False = there is none. */
static bool literal_at(span s, uint32_t i, char dst[LITERAL])
{
    uint32_t n = 0;
    while (i < s.n && strchr("rbufRBUF", s.p[i]))
        i++;
    if (i >= s.n || (s.p[i] != '"' && s.p[i] != '\''))
        return false;
    for (uint32_t j = i + 1; j < s.n && s.p[j] != s.p[i] && s.p[j] != '\n' && n + 1 < LITERAL; j++)
        dst[n++] = s.p[j];
    dst[n] = '\0';
    return n > 0;
}

/* Whether what stands at byte `at` of the file is asked before the call: above it, or in another function, where only a
 * member is the same. */
static bool is_elsewhere(const myth_flow *f, uint32_t at, const taking *t)
{
    const bool is_outside = at < f->off || at >= f->end;
    return is_outside ? strchr(t->of, '.') != NULL : at < (uint32_t)(t->call.p - f->text);
}

/* The line of the file around a byte. */
static span line_around(const myth_flow *f, uint32_t at)
{
    uint32_t from = at, end = at;
    while (from > 0 && f->text[from - 1] != '\n')
        from--;
    while (end < f->n_text && f->text[end] != '\n')
        end++;
    return span_of(f, from, end);
}

static span span_of_call(span call, uint32_t from, uint32_t end) { return (span){call.p + from, end - from}; }

/* The bracket that closes the one at byte i, with texts left out; s.n = none does. */
static uint32_t closing(span s, uint32_t i)
{
    uint32_t depth = 0;
    for (char quote = '\0'; i < s.n; i++) {
        if (quote) {
            i += s.p[i] == '\\';
            quote = i < s.n && s.p[i] == quote ? '\0' : quote;
        } else if (s.p[i] == '"' || s.p[i] == '\'')
            quote = s.p[i];
        else if (s.p[i] == '(')
            depth++;
        else if (s.p[i] == ')' && --depth == 0)
            return i;
    }
    return s.n;
}

/* Reads `t` from a call by a pattern, whose arguments the bracket at byte `open` opens: re.search(PATTERN, text),
 * pattern.search(text). */
static bool read_pattern(span call, uint32_t open, taking *t)
{
    const uint32_t close = closing(call, open);
    uint32_t from = open + 1, comma = 0, depth = 0;
    if (close >= call.n)
        return false;
    t->call.n = close + 1;
    while (from < close && isspace((unsigned char)call.p[from]))
        from++;
    if (!literal_at(call, from, t->by) && word_at(call, from, t->by) == 0)
        return false;
    for (uint32_t i = from; i < close; i++) {
        if (call.p[i] == '"' || call.p[i] == '\'') {
            for (const char quote = call.p[i++]; i < close && call.p[i] != quote; i++)
                i += call.p[i] == '\\';
        } else if (call.p[i] == ',' && depth == 0 && comma == 0)
            comma = i;
        depth += call.p[i] == '(';
        depth -= call.p[i] == ')' && depth > 0;
    }
    uint32_t end = comma ? comma + 1 : close;
    while (end < close && call.p[end] != ',')
        end++;
    put_tight(t->of, span_of_call(call, comma ? comma + 1 : from, end));
    t->is_pattern = true;
    return t->of[0] != '\0';
}

/* Reads what is taken apart from a call. False = it is none of those that are known. */
static bool read_taking(span call, taking *t)
{
    static const char *const splits[] = {".split(", ".rsplit("};
    static const char *const finds[] = {".findall(", ".search(", ".match(", ".fullmatch("};
    *t = (taking){.call = call};
    for (size_t i = 0; i < N_OF(splits); i++) {
        const char *at = memmem(call.p, call.n, splits[i], strlen(splits[i]));
        if (!at)
            continue;
        put_tight(t->of, (span){call.p, (uint32_t)(at - call.p)});
        return t->of[0] && literal_at(call, (uint32_t)(at - call.p) + (uint32_t)strlen(splits[i]), t->by);
    }
    for (size_t i = 0; i < N_OF(finds); i++) {
        const char *at = memmem(call.p, call.n, finds[i], strlen(finds[i]));
        if (at)
            return read_pattern(call, (uint32_t)(at - call.p) + (uint32_t)strlen(finds[i]) - 1, t);
    }
    return false;
}

/* Puts the pattern in the place of its name, where the file gives it one outside of all functions: NAME = r"...". */
static void resolve(const myth_flow *f, taking *t)
{
    const char *const end = f->text + f->n_text;
    const size_t n = strlen(t->by);
    for (const char *p = f->text; t->is_pattern && (p = memmem(p, (size_t)(end - p), t->by, n)) != NULL; p += n) {
        const uint32_t behind = (uint32_t)(p - f->text + (long)n);
        if ((p == f->text || p[-1] == '\n') && behind + 3 < f->n_text && memcmp(p + n, " = ", 3) == 0) {
            char text[LITERAL];
            if (literal_at(span_of(f, 0, f->n_text), behind + 3, text))
                memcpy(t->by, text, sizeof(text));
            return;
        }
    }
}

/* Whether a text that has a literal has the parts that are taken of it: as many signs that it is split at, or a pattern
 * of nothing else but what may be empty. */
static bool is_enough(const taking *t, const char *literal)
{
    uint32_t n = 0;
    if (t->is_pattern)
        return strlen(literal) >= ASKED_LEAST && strstr(t->by, literal) && !strpbrk(t->by, "+{|\\");
    for (const char *p = literal; (p = strstr(p, t->by)) != NULL; p += strlen(t->by))
        n++;
    return n > 0 && n >= t->index;
}

/* Whether a name of the text stands at byte i, and nothing more. */
static bool is_text_at(const myth_flow *f, uint32_t i, const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && i + n < f->n_text && memcmp(f->text + i, name, n) == 0 && !myth_is_word(f->text[i + n]) &&
           !strchr(".[(", f->text[i + n]);
}

/* Whether the file asks, before the text is taken apart, for a literal in it, under a name. */
static bool is_literal_asked(const myth_flow *f, const taking *t, const char *name)
{
    const char *const end = f->text + f->n_text;
    uint32_t n = 0;
    for (const char *p = f->text; (p = memmem(p, (size_t)(end - p), " in ", 4)) != NULL && n++ < MOST; p += 4) {
        uint32_t at = (uint32_t)(p - f->text), from;
        char literal[LITERAL];
        if (!is_elsewhere(f, at, t) || !is_text_at(f, at + 4, name))
            continue;
        if (at > 4 && memcmp(p - 4, " not", 4) == 0)
            at -= 4;
        if (at < 2 || (f->text[at - 1] != '"' && f->text[at - 1] != '\''))
            continue;
        for (from = at - 1; from > 0 && f->text[from - 1] != f->text[at - 1] && f->text[from - 1] != '\n';)
            from--;
        if (from > 0 && literal_at(span_of(f, 0, at), from - 1, literal) && is_enough(t, literal))
            return true;
    }
    return false;
}

/* Whether the file asks for the very same in another place: if re.search(PATTERN, text). */
static bool is_same_asked(const myth_flow *f, const taking *t)
{
    const span call = t->call;
    static const char *const asks[] = {"return ", "if ", "while ", "assert "};
    const char *const end = f->text + f->n_text;
    for (const char *p = f->text; (p = memmem(p, (size_t)(end - p), call.p, call.n)) != NULL; p++) {
        const uint32_t at = (uint32_t)(p - f->text), behind = at + call.n;
        const bool is_bare = behind >= f->n_text || !strchr("[.", f->text[behind]);
        if (p != call.p && is_bare && is_elsewhere(f, at, t) && has_one(line_around(f, at), asks, N_OF(asks)))
            return true;
    }
    return false;
}

/* Whether a call outside of the function gets it with the pattern: route(PATTERN, function). */
static bool is_routed(const myth_flow *f, const taking *t)
{
    const char *const end = f->text + f->n_text, *name = f->names + f->name;
    const size_t n = strlen(t->by);
    if (!*name || !myth_flow_is_constant_name(t->by))
        return false;
    for (const char *p = f->text; (p = memmem(p, (size_t)(end - p), t->by, n)) != NULL; p += n) {
        const uint32_t at = (uint32_t)(p - f->text);
        const span line = line_around(f, at);
        if ((at < f->off || at >= f->end) && memchr(line.p, '(', line.n) && has_word(line, t->by) &&
            has_word(line, name))
            return true;
    }
    return false;
}

/* The number between the brackets behind a call or a path; 0 = there is none. */
static uint32_t index_behind(span s)
{
    uint32_t i = 0, n = 0;
    while (i < s.n && s.p[i] != '[')
        i++;
    for (i++; i < s.n && isdigit((unsigned char)s.p[i]) && n < 1000; i++)
        n = n * 10 + (uint32_t)(s.p[i] - '0');
    return n;
}

int myth_fact_form_asked(myth_facts *k, uint32_t e)
{
    enum { FAR = 8 };
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const bool is_call = at->kind == MYTH_EVENT_CALL;
    taking t;
    if (!is_call && at->kind != MYTH_EVENT_DEREF)
        return 0;
    const span call = node_span(f, is_call ? at->node : myth_facts_origin_node(k, e));
    if (call.n == 0 || call.n >= MYTH_SPAN_TEXT || !read_taking(call, &t))
        return 0;
    if (t.is_pattern && (is_same_asked(f, &t) || is_routed(f, &t)))
        return 1;
    if (!t.is_pattern)
        t.index = index_behind(is_call ? begin_of(span_of(f, at->end, f->end), FAR) : node_span(f, at->node));
    resolve(f, &t);
    if (is_literal_asked(f, &t, t.of))
        return 1;
    for (uint32_t i = 0; i < e; i++) { /* the same under another name */
        const myth_event *d = &f->event[i];
        char value[MYTH_SPAN_TEXT];
        if (d->kind != MYTH_EVENT_DEFINE || !d->path || d->value != MYTH_VALUE_PATH)
            continue;
        put_tight(value, begin_of(definition_span(f, d), MYTH_SPAN_TEXT));
        if (strcmp(value, t.of) == 0 && is_literal_asked(f, &t, f->names + f->path[d->path].text))
            return 1;
    }
    return 0;
}
