/* facts_bounds.c - facts about sizes: how large an array is, where a size comes from, whether a condition speaks of it
 * (facts.h). They read texts of nodes where the flow has no path for them. */
#include "facts_span.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NEAR = 512, TEXT = MYTH_SPAN_TEXT };

/* ---- arrays ---- */

/* The size that an array's declaration in this function has between its brackets: constant or not. */
bool myth_facts_array_size(const myth_flow *f, uint32_t path, span *out)
{
    const myth_path *p = &f->path[path];
    if (!path || !p->is_array || p->is_pointer || p->base || p->type_end == 0)
        return false;
    const char *name = f->names + p->text;
    const size_t n = strlen(name);
    for (uint32_t i = p->type_end; i + n < f->n_text && i < p->type_end + 300; i++) {
        if (f->text[i] == ';' || f->text[i] == '{')
            return false;
        if (memcmp(f->text + i, name, n) != 0 || myth_is_word(f->text[i - 1]) || myth_is_word(f->text[i + n]))
            continue;
        uint32_t at = i + (uint32_t)n;
        while (at < f->n_text && f->text[at] <= ' ')
            at++;
        if (at >= f->n_text || f->text[at] != '[')
            return false;
        const char *end = memchr(f->text + at, ']', f->n_text - at < TEXT ? f->n_text - at : TEXT);
        *out = end ? (span){f->text + at + 1, (uint32_t)(end - f->text) - at - 1} : (span){"", 0};
        return end != NULL && out->n > 0;
    }
    return false;
}

/* A number, or names in capitals. */
static bool is_constant(span s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (islower((unsigned char)s.p[i]) && !(i > 0 && isdigit((unsigned char)s.p[i - 1])))
            return false;
    return true;
}

static bool is_parameter(const myth_flow *f, uint32_t path)
{
    for (uint32_t i = 0; i < f->n_event && i < 64; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == path)
            return f->event[i].value == MYTH_VALUE_PARAMETER;
    return false;
}

bool myth_facts_is_fixed(const myth_flow *f, uint32_t path)
{
    span size;
    return myth_facts_array_size(f, path, &size) && is_constant(size) && !is_parameter(f, path);
}

/* Whether a size in bytes is as many elements as a text says: n, n * sizeof(*p). */
static bool is_size_for(const char *size, const char *count)
{
    const size_t n = strlen(count);
    const char *at = strstr(size, count);
    if (n == 0 || !at)
        return false;
    return (at == size && (at[n] == '\0' || strncmp(at + n, "*sizeof", 7) == 0)) ||
           (strncmp(size, "sizeof", 6) == 0 && at > size && at[-1] == '*' && at[n] == '\0');
}

bool myth_facts_is_shrunk(const myth_flow *f, uint32_t e)
{
    const myth_event *call = &f->event[e];
    const myth_scope *in = &f->scope[call->scope];
    const TSNode list = child_of(f, call->node, MYTH_SLOT_ARGUMENTS);
    if (in->kind != MYTH_SCOPE_THEN || !in->test || is_null(list) || ts_node_named_child_count(list) != 2)
        return false;
    char size[TEXT], test[TEXT];
    put_tight(size, node_span(f, ts_node_named_child(list, 1)));
    put_tight(test, span_of(f, f->test[in->test - 1].off, f->test[in->test - 1].end));
    char *from = test + (test[0] == '('), *sign = strpbrk(from, "<>&|?");
    if (!sign || sign == from || sign[-1] == '-' || strpbrk(sign + 1, "<>&|?"))
        return false;
    const bool is_more = *sign == '>';
    char *right = sign + 1 + (sign[1] == '=');
    if (test[0] == '(' && right[0] && right[strlen(right) - 1] == ')')
        right[strlen(right) - 1] = '\0';
    *sign = '\0';
    const char *less = is_more ? right : from;
    for (uint32_t i = e; i-- > 0 && f->event[i].off > in->off;)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path &&
            strcmp(f->names + f->path[f->event[i].path].text, less) == 0)
            return false; /* it was made larger here */
    return is_size_for(size, less);
}

enum { TARGET_OTHER, TARGET_FIXED, TARGET_MAP };

/* The array is an element's or the target of a call. */
int myth_fact_target(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    uint32_t path = at->other;
    if (at->kind == MYTH_EVENT_CALL) {
        TSNode a = myth_facts_argument(k, e, 0);
        if (!is_null(a) && role_of(f, myth_flow_inner(f, a)) == MYTH_ROLE_BINARY)
            a = child_of(f, myth_flow_inner(f, a), MYTH_SLOT_LEFT); /* line + at */
        path = is_null(a) ? 0 : myth_flow_path(f, myth_flow_inner(f, a));
    } else if (at->kind != MYTH_EVENT_INDEX)
        return 0;
    if (myth_facts_is_fixed(f, path))
        return TARGET_FIXED;
    return at->kind == MYTH_EVENT_INDEX && myth_facts_is_keyed(k, path, at->path) ? TARGET_MAP : TARGET_OTHER;
}

/* Whether the sources of a copy, all arguments behind the first, are measured before: strlen(src), src.size(). */
int myth_fact_measured(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind != MYTH_EVENT_CALL)
        return 0;
    for (uint32_t i = 1; i < 12; i++) {
        const TSNode a = myth_facts_argument(k, e, i);
        const uint32_t path = is_null(a) ? 0 : myth_flow_path(f, myth_flow_inner(f, a));
        for (uint32_t x = e, n = 0; path && x-- > 0 && n < MYTH_FACTS_NEAR; n++) {
            const myth_event *c = myth_facts_event(k, x);
            if (c->kind != MYTH_EVENT_CALL || !strstr(f->names + c->name, "len"))
                continue;
            if (has_word(node_span(f, c->node), last_word(f, path))) {
                k->at_line = c->line;
                return 1;
            }
        }
    }
    return 0;
}

/* ---- what a condition speaks of ---- */

static bool is_measure(const char *word)
{
    static const char *const measure[] = {"length", "size", "Length", "Count", "count", "len", "Len", "Size"};
    return myth_flow_is_one_of(word, measure, sizeof(measure) / sizeof(*measure));
}

/* Whether a statement has a handler for what goes wrong with numbers and elements. */
static bool is_handled(span s)
{
    static const char *const handler[] = {"ZeroDivision", "IndexError",       "except Exception",
                                          "except:",      "LookupError",      "ArithmeticException",
                                          "IndexOutOf",   "catch (Exception", "catch (RuntimeException"};
    for (size_t i = 0; i < sizeof(handler) / sizeof(*handler); i++)
        if (has_text(s, handler[i]))
            return true;
    return false;
}

/* Whether a loop, a choice or a call that runs for each element around event e is about the word, or a handler is for
 * what goes wrong there. */
static bool is_around(const myth_flow *f, const myth_event *at, const char *word)
{
    TSNode child = at->node, n = ts_node_parent(child);
    for (int i = 0; i < 64 && !is_null(n) && ts_node_start_byte(n) >= f->off; i++) {
        const char *type = ts_node_type(n);
        const span head = begin_of(span_of(f, ts_node_start_byte(n), ts_node_start_byte(child)), TEXT);
        const span tail = begin_of(span_of(f, ts_node_end_byte(child), ts_node_end_byte(n)), NEAR);
        const bool is_list = strstr(type, "comprehension") || strstr(type, "generator");
        if (is_list && has_text(tail, "for") && has_word(tail, word))
            return true;
        if (strcmp(type, "expression_list") == 0 && has_word(head, word) && !is_null(ts_node_parent(n)) &&
            role_of(f, ts_node_parent(n)) == MYTH_ROLE_CASE)
            return true; /* Go: case len(x) < 2, x[1] == "" */
        const bool is_head = strstr(type, "for") || strstr(type, "while") || strstr(type, "switch") ||
                             strstr(type, "call") || strstr(type, "invocation");
        if (is_head && !strstr(type, "format") && has_word(head, word))
            return true;
        if (strstr(type, "try") &&
            is_handled(begin_of(span_of(f, ts_node_end_byte(child), ts_node_end_byte(n)), 8 * NEAR)))
            return true;
        if (strstr(type, "conditional") && (has_word(head, word) || has_word(tail, word)))
            return true; /* Python: x[0] if x else y */
        child = n;
        n = ts_node_parent(n);
    }
    return false;
}

static bool is_tested_before(const myth_flow *f, const myth_event *at, const char *word)
{
    for (uint32_t t = f->n_test, n = 0; t-- > 0 && n < NEAR;) {
        if (f->test[t].off >= at->off)
            continue;
        n++;
        if (has_word(begin_of(span_of(f, f->test[t].off, f->test[t].end), TEXT), word))
            return true;
    }
    return false;
}

/* Whether a value is made so that it is not zero: x || 1, max(1, x), x + 1. */
static bool is_kept_up(span s)
{
    static const char *const way[] = {"||", "??", " or ", "max", "Max", "MAX", "+ 1", "+1", "++", "? ", " if "};
    for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++)
        if (has_text(s, way[i]))
            return true;
    return false;
}

/* Whether a condition before event `at` has one of the words of a text; of a divisor also what is around it, as a loop
 * over a text says nothing of its parts. */
static bool is_word_tested(const myth_flow *f, const myth_event *at, span s)
{
    static const char *const other[] = {"self", "this", "strings", "bytes", "re", "String", "str", "split", "new"};
    for (uint32_t b = 0, m; b < s.n && b < TEXT; b += m ? m : 1) {
        char word[64];
        for (m = 0; b + m < s.n && myth_is_word(s.p[b + m]) && m + 1 < sizeof(word);)
            m++;
        memcpy(word, s.p + b, m);
        word[m] = '\0';
        if (m == 0 || isdigit((unsigned char)word[0]) || is_measure(word) ||
            myth_flow_is_one_of(word, other, sizeof(other) / sizeof(*other)))
            continue;
        if (is_tested_before(f, at, word) || (at->kind == MYTH_EVENT_DIVIDE && is_around(f, at, word)))
            return true;
    }
    return false;
}

/* Whether a variable keeps how many elements there are of the word, and is tested: n := len(parts); if n < 2 ... */
static bool is_length_tested(const myth_flow *f, const myth_event *at, const char *word)
{
    static const char *const measures[] = {"len(", "length", "size()", ".count"};
    for (uint32_t i = 0; i < f->n_event && f->event[i].off < at->off; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind != MYTH_EVENT_DEFINE || !d->path)
            continue;
        const span s = definition_span(f, d);
        if (s.n < TEXT && has_one(s, measures, N_OF(measures)) && has_word(s, word) &&
            is_tested_before(f, at, last_word(f, d->path)))
            return true;
    }
    return false;
}

/* Whether a split gives as many parts as are asked for: of bytes at two lengths, a function of the project; of an entry
 * of the environment at the '=' that each entry has. */
static bool is_split_fixed(const myth_flow *f, span s)
{
    static const char *const lengths[] = {"length", "Length", "LENGTH", "size", "Size", "SIZE"};
    char text[TEXT];
    put_tight(text, s);
    const char *at = strstr(text, "plit(");
    if (strstr(text, ",\"=\",2)"))
        return has_text(span_of(f, f->off, f->end), "nviron");
    if (!at)
        return false;
    span part[3] = {{at + 5, 0}};
    uint32_t n = 0;
    int deep = 0;
    for (const char *p = at + 5; *p && deep >= 0; p++) {
        deep += strchr("([{", *p) ? 1 : strchr(")]}", *p) ? -1 : 0;
        if (strchr("\"'", *p))
            return false;
        part[n].n = (uint32_t)(p - part[n].p);
        if (*p == ',' && deep == 0) {
            if (++n == N_OF(part))
                return false;
            part[n].p = p + 1;
        }
    }
    for (uint32_t i = 1; i < N_OF(part); i++)
        if (n != 2 || !(isdigit((unsigned char)part[i].p[0]) || has_one(part[i], lengths, N_OF(lengths))))
            return false;
    return true;
}

int myth_fact_mentioned(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    uint32_t path = at->path;
    if (at->kind == MYTH_EVENT_CALL && (is_word_tested(f, at, node_span(f, at->node)) || is_around(f, at, "") ||
                                        myth_facts_is_split_asked(f, begin_of(node_span(f, at->node), TEXT))))
        return 1;
    if (path && is_measure(last_word(f, path)) && f->path[path].base)
        path = f->path[path].base;
    if (!path)
        return 0;
    if (is_tested_before(f, at, last_word(f, path)) || is_around(f, at, last_word(f, path)))
        return 1;
    if (at->kind == MYTH_EVENT_DEREF && is_length_tested(f, at, last_word(f, path)))
        return 1;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) { /* what it was made of */
        const myth_event *d = myth_facts_event(k, i);
        if (d->kind != MYTH_EVENT_DEFINE || d->path != path)
            continue;
        const span s = definition_span(f, d);
        if ((at->kind == MYTH_EVENT_DIVIDE && is_kept_up(s)) || is_word_tested(f, at, s) ||
            (at->kind == MYTH_EVENT_DEREF && (is_split_fixed(f, s) || myth_facts_is_split_asked(f, begin_of(s, TEXT)))))
            return 1;
        if (d->value != MYTH_VALUE_SUM)
            break;
    }
    return 0;
}

/* ---- loops ---- */

/* Whether a text has the word for the whole array, and not only for an element of it. */
static bool has_whole(span s, const char *word)
{
    const uint32_t n = (uint32_t)strlen(word);
    for (uint32_t i = 0; n > 0 && i + n <= s.n; i++)
        if (memcmp(s.p + i, word, n) == 0 && (i == 0 || !myth_is_word(s.p[i - 1])) &&
            (i + n == s.n || (!myth_is_word(s.p[i + n]) && s.p[i + n] != '[')))
            return true;
    return false;
}

/* Whether a text is the size of the array, as its declaration or the call that takes its memory has it. */
static bool is_size_of(const myth_facts *k, uint32_t array, uint32_t e, span other)
{
    const myth_flow *f = k->flow;
    char a[TEXT], b[TEXT];
    span size;
    put_tight(a, other);
    if (a[0] == '\0')
        return false;
    if (myth_facts_array_size(f, array, &size)) {
        put_tight(b, size);
        return strcmp(a, b) == 0;
    }
    for (uint32_t i = e, n = 0; i-- > 0 && n < NEAR; n++) {
        const myth_event *d = myth_facts_event(k, i);
        if (d->kind != MYTH_EVENT_DEFINE || d->path != array)
            continue;
        const span s = definition_span(f, d);
        const bool takes = has_text(s, "alloc(") || has_text(s, "new ") || has_text(s, "make(");
        return takes && has_word(s, a) && !has_text(s, "+ 1") && !has_text(s, "+1");
    }
    return false;
}

/* Whether one side of a comparison is the path and nothing else. */
static bool is_alone(const myth_flow *f, const myth_event *t)
{
    char text[TEXT];
    const char *path = f->names + f->path[t->path].text;
    put_tight(text, node_span(f, t->node));
    const size_t n = strlen(text), m = strlen(path);
    return n > m && ((memcmp(text, path, m) == 0 && strchr("<>", text[m])) ||
                     (strcmp(text + n - m, path) == 0 && strchr("<>=", text[n - m - 1])));
}

/* Whether a number is taken from something: n - 1, len(s)-3. */
static bool takes_number(span s)
{
    for (uint32_t i = 0; i + 1 < s.n; i++) {
        const uint32_t at = i + 1 + (s.p[i + 1] == ' ');
        if (s.p[i] == '-' && at < s.n && isdigit((unsigned char)s.p[at]) && s.p[at] != '0')
            return true;
    }
    return false;
}

/* Whether all calls of this function in the file give it, for the parameter that event e tests, the variable of a loop
 * that stays below a length. */
static bool is_below_in_calls(const myth_facts *k, uint32_t e)
{
    enum { AROUND = 400 };
    static const char *const length[] = {"length", "size()", "len(", ".size", "count", "Count"};
    const myth_flow *f = k->flow;
    const uint32_t path = f->event[e].path;
    uint32_t index = 0, d = 0, at = 0, n, n_call = 0;
    span argument[MYTH_CALL_ARGUMENTS];
    for (; d < f->n_event && !(f->event[d].kind == MYTH_EVENT_DEFINE && f->event[d].path == path); d++)
        index += f->event[d].kind == MYTH_EVENT_DEFINE && f->event[d].value == MYTH_VALUE_PARAMETER;
    if (d == f->n_event || f->event[d].value != MYTH_VALUE_PARAMETER)
        return false;
    while (myth_facts_next_call(f, f->names + f->name, &at, argument, &n)) {
        char below[MYTH_SPAN_WORD + 4], word[MYTH_SPAN_WORD];
        if (index >= n) {
            if (n == 0)
                continue; /* another of the name */
            return false;
        }
        if (word_at(argument[index], 0, word) != argument[index].n)
            return false;
        snprintf(below, sizeof(below), "%s < ", word);
        const span before = span_of(f, at > AROUND ? at - AROUND : 0, at);
        if (!has_text(before, below) || !has_one(before, length, N_OF(length)))
            return false;
        n_call++;
    }
    return n_call > 0;
}

/* Whether a value is what a function has read, which was asked for as many as the path says: n of n = read(fd, p, len)
 * is no size of p, and n < len asks whether it was less. */
static bool is_read_of(const myth_flow *f, span value, uint32_t path)
{
    static const char *const reads[] = {"read", "Read", "recv", "Recv"};
    uint32_t n = 0;
    while (n < value.n && value.p[n] != '(')
        n++;
    return n < value.n && has_one((span){value.p, n}, reads, N_OF(reads)) &&
           has_word((span){value.p + n, value.n - n}, last_word(f, path));
}

/* Whether a condition compares with the size of the very array that the path chooses an element of: where a loop's
 * condition holds, or another one does not. */
int myth_fact_own_size(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *t = myth_facts_event(k, e);
    if (t->kind != MYTH_EVENT_TEST || !t->test || !t->path)
        return 0;
    const uint32_t then = myth_facts_outermost(f, t)->then;
    const bool is_loop = myth_facts_outermost(f, t)->is_loop;
    const span whole = node_span(f, t->node);
    if (!is_alone(f, t))
        return 0;
    if (has_text(whole, "strlen") || takes_number(whole) || (!is_loop && is_below_in_calls(k, e)))
        return 0;
    span from = {"", 0};
    for (uint32_t i = e, n = 0; t->other && i-- > 0 && n < NEAR; n++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == t->other) {
            from = definition_span(f, &f->event[i]);
            break;
        }
    if (is_read_of(f, from, t->path))
        return 0;
    bool is = false;
    for (uint32_t i = e + 1; i < f->n_event && i < e + MYTH_FACTS_NEAR; i++) {
        const myth_event *x = &f->event[i];
        if (then && myth_flow_is_inside(f, x->scope, then) != is_loop)
            continue;
        if (!is_loop && x->kind == MYTH_EVENT_DEFINE && x->path == t->path)
            return is;
        if (x->kind == MYTH_EVENT_TEST && x->path == t->path && x->how >= MYTH_TEST_EQUAL)
            return 0;
        if (x->kind != MYTH_EVENT_INDEX || x->path != t->path || x->value != MYTH_VALUE_PATH || !x->other)
            continue;
        const char *name = last_word(f, x->other);
        if (has_text(node_span(f, x->node), ":") || strcmp(name, "this") == 0 || strcmp(name, "self") == 0)
            continue;
        const bool is_counted = has_text(from, "len") || has_text(from, "size") || has_text(from, "count");
        is |= has_whole(whole, name);
        is |= is_counted && has_whole(from, name) && !has_text(from, "strlen") && !takes_number(from);
        if (t->other)
            is |= is_size_of(
                k, x->other, i,
                (span){f->names + f->path[t->other].text, (uint32_t)strlen(f->names + f->path[t->other].text)});
    }
    return is;
}

/* ---- reads ---- */

enum { FILLS_NO, FILLS_END, FILLS_TEXT };

bool myth_facts_is_whole(const myth_flow *f, uint32_t array, TSNode size)
{
    char a[TEXT], b[TEXT], name[TEXT];
    span declared;
    put_tight(a, node_span(f, size));
    put_tight(name, (span){f->names + f->path[array].text, (uint32_t)strlen(f->names + f->path[array].text)});
    if (strncmp(a, "sizeof", 6) == 0) {
        const char *p = a + 6;
        p += *p == '(';
        const size_t n = strlen(name);
        return strncmp(p, name, n) == 0 && (p[n] == '\0' || (p[n] == ')' && p[n + 1] == '\0')) &&
               f->path[array].is_array;
    }
    if (!myth_facts_array_size(f, array, &declared))
        return false;
    put_tight(b, declared);
    return a[0] && strcmp(a, b) == 0;
}

bool myth_facts_takes_text(const char *name)
{
    static const char *const reads[] = {"strlen",     "strchr",   "strstr", "strcmp", "strncmp", "strtol",
                                        "strtoul",    "strtok",   "strdup", "atoi",   "atol",    "sscanf",
                                        "strcasecmp", "strtok_r", "strcpy", "strcat", "atoll",   "strtoll"};
    return myth_flow_is_one_of(name, reads, sizeof(reads) / sizeof(*reads));
}

/* What is done with an array that a call may fill to its last byte: a byte behind what was read ends it, or it is taken
 * for a text without one. */
int myth_fact_fills(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    uint32_t d = 0;
    if (at->kind != MYTH_EVENT_CALL)
        return FILLS_NO;
    const bool is_stream = strstr(f->names + at->name, "fread") != NULL;
    const TSNode to = myth_facts_argument(k, e, is_stream ? 0 : 1), size = myth_facts_argument(k, e, 2);
    const uint32_t buffer = is_null(to) ? 0 : myth_flow_path(f, myth_flow_inner(f, to));
    if (!buffer || is_null(size) || !myth_facts_is_whole(f, buffer, size))
        return FILLS_NO;
    const uint32_t n = myth_facts_taker(f, e, &d) ? f->event[d].path : 0;
    for (uint32_t i = e + 1; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        const span s = x->kind == MYTH_EVENT_TEST ? node_span(f, x->node) : (span){"", 0};
        if (x->kind == MYTH_EVENT_TEST && n && x->path == n && (has_text(s, "sizeof") || has_text(s, "- 1")))
            return FILLS_NO;
        if (x->kind == MYTH_EVENT_INDEX && n && x->path == n && x->other == buffer && x->value == MYTH_VALUE_PATH)
            return FILLS_END;
        if (x->kind == MYTH_EVENT_DEFINE && x->path && x->path != buffer && myth_flow_is_part(f, x->path, buffer))
            return FILLS_NO; /* buffer[...] = 0 */
        if (x->kind == MYTH_EVENT_ARG && x->path == buffer && x->call != e) {
            k->at_line = x->line;
            return myth_facts_takes_text(f->names + f->event[x->call].name) ? FILLS_TEXT : FILLS_NO;
        }
    }
    return FILLS_NO;
}

/* ---- results ---- */

enum { SPENT_NO, SPENT_INDEX, SPENT_SIZE };

/* Whether a function only shows what it is given. */
static bool shows(const char *name)
{
    static const char *const word[] = {"print", "PRINT", "log",  "LOG",   "Log",    "DEBUG",
                                       "debug", "dbg",   "DBG",  "trace", "TRACE",  "ERROR",
                                       "error", "warn",  "WARN", "INFO",  "NOTICE", "assert"};
    return myth_flow_has_one_of(name, word, sizeof(word) / sizeof(*word));
}

/* As what a result that may be negative or too large is used before anything is asked about it. */
int myth_fact_spent(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *d = myth_facts_event(k, e);
    if (d->kind != MYTH_EVENT_DEFINE || !d->path)
        return SPENT_NO;
    for (uint32_t i = e + 1; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        const bool is_test = x->kind == MYTH_EVENT_TEST || x->test != 0;
        if (x->path != d->path && !(x->kind == MYTH_EVENT_TEST && x->other == d->path))
            continue;
        if (x->kind == MYTH_EVENT_ARG && shows(f->names + f->event[x->call].name))
            continue;
        k->at_line = x->line;
        if (is_test || x->kind == MYTH_EVENT_DEFINE || x->kind == MYTH_EVENT_RETURN)
            return SPENT_NO;
        if (x->kind == MYTH_EVENT_INDEX && x->value != MYTH_VALUE_UNKNOWN)
            return SPENT_INDEX;
        if (x->kind == MYTH_EVENT_ARG && x->index > 0)
            return SPENT_SIZE;
        if (x->kind == MYTH_EVENT_ARG || x->kind == MYTH_EVENT_LEAVE)
            return SPENT_NO;
    }
    return SPENT_NO;
}

static uint32_t loop_of(const myth_flow *f, uint32_t s)
{
    while (s && f->scope[s].kind != MYTH_SCOPE_LOOP)
        s = f->scope[s].parent;
    return s;
}

/* Whether an index of an element that is written grows with each round of a loop, and nothing in the function compares
 * it with anything. */
static int grows(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const uint32_t loop = loop_of(f, at->scope);
    const char *word = last_word(f, at->path);
    const TSNode around = ts_node_parent(at->node),
                 left = is_null(around) ? around : child_of(f, around, MYTH_SLOT_LEFT);
    bool is_written = !is_null(left) && ts_node_eq(left, at->node), has_step = false;
    for (uint32_t t = 0; t < f->n_test; t++)
        if (has_word(begin_of(span_of(f, f->test[t].off, f->test[t].end), TEXT), word))
            return 0;
    for (uint32_t i = 0; loop && i < f->n_event; i++) { /* a loop that counts its rounds */
        const myth_event *x = &f->event[i];
        const bool is_order = x->kind == MYTH_EVENT_TEST && x->how >= MYTH_TEST_LESS && x->how <= MYTH_TEST_AT_LEAST;
        if (is_order && x->test && myth_facts_outermost(f, x)->is_loop && myth_facts_outermost(f, x)->then == loop)
            return 0;
    }
    for (uint32_t i = 0; loop && i < f->n_event; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind != MYTH_EVENT_DEFINE)
            continue;
        is_written |= i > e && i < e + 16 && d->off == at->off && d->end >= at->end;
        if (d->path != at->path)
            continue;
        const bool is_inside = myth_flow_is_inside(f, d->scope, loop);
        if (is_inside && d->value != MYTH_VALUE_SUM)
            return 0;
        has_step |= is_inside;
    }
    return is_written && has_step;
}

/* Whether the result of a call that prints is added to the place where it prints next, and nothing compares that place
 * with the size: n += snprintf(p + n, size - n, ...). */
int myth_fact_adds_up(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind == MYTH_EVENT_INDEX)
        return grows(k, e);
    if (at->kind != MYTH_EVENT_CALL)
        return 0;
    TSNode n = ts_node_parent(at->node);
    for (int i = 0; i < 3 && !is_null(n) && role_of(f, n) != MYTH_ROLE_ASSIGN &&
                    strcmp(ts_node_type(n), "assignment_expression") != 0;
         i++)
        n = ts_node_parent(n);
    const TSNode left = is_null(n) ? n : child_of(f, n, MYTH_SLOT_LEFT), size = myth_facts_argument(k, e, 1);
    if (is_null(left) || is_null(size) || !has_text(span_of(f, ts_node_end_byte(left), at->off), "+="))
        return 0;
    const uint32_t path = myth_flow_path(f, myth_flow_inner(f, left));
    const span s = node_span(f, size);
    if (!path || !has_text(s, "-") || !has_word(s, last_word(f, path)))
        return 0;
    for (uint32_t t = 0; t < f->n_test; t++)
        if (has_word(begin_of(span_of(f, f->test[t].off, f->test[t].end), TEXT), last_word(f, path)))
            return 0;
    return 1;
}

enum { ELEMENT_NO, ELEMENT_FIRST, ELEMENT_LATER };

/* Which element of a call's result is taken at once, by a number. */
int myth_fact_element(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const TSNode parent = at->kind == MYTH_EVENT_CALL ? ts_node_parent(at->node) : (TSNode){0};
    if (is_null(parent) || role_of(f, parent) != MYTH_ROLE_INDEX || !ts_node_eq(base_of(f, parent), at->node))
        return ELEMENT_NO;
    char text[TEXT];
    put_tight(text, span_of(f, at->end, ts_node_end_byte(parent)));
    const size_t n = strlen(text);
    for (size_t i = 1; i + 1 < n; i++)
        if (!isdigit((unsigned char)text[i]))
            return ELEMENT_NO; /* a part of a list: [1:] */
    if (n < 3 || text[0] != '[' || text[n - 1] != ']')
        return ELEMENT_NO;
    return strcmp(text, "[0]") == 0 ? ELEMENT_FIRST : ELEMENT_LATER;
}

/* ---- where a size comes from ---- */

enum { FROM_OTHER, FROM_PARAMETER, FROM_INPUT };

/* Whether a number stands on one side of a comparison that says nothing of how large the other is: x < 0. */
static bool is_lowest(const myth_flow *f, const myth_event *t)
{
    const span s = node_span(f, t->node);
    for (uint32_t i = 0; i < s.n; i++)
        if (isdigit((unsigned char)s.p[i]) && s.p[i] != '0' && (i == 0 || !myth_is_word(s.p[i - 1])))
            return false;
    return t->value == MYTH_VALUE_NUMBER;
}

static bool is_limited(const myth_facts *k, uint32_t path, uint32_t e)
{
    const myth_flow *f = k->flow;
    for (uint32_t i = e > MYTH_FACTS_NEAR ? e - MYTH_FACTS_NEAR : 0; i < f->n_event; i++) {
        const myth_event *t = &f->event[i];
        if (t->off > f->event[e].off)
            break;
        if (t->kind != MYTH_EVENT_TEST || (t->path != path && t->other != path) || t->how <= MYTH_TEST_NOT_NULL)
            continue;
        const uint32_t then = t->test ? myth_facts_outermost(f, t)->then : 0;
        const bool is_below = t->path == path && (t->how == MYTH_TEST_LESS || t->how == MYTH_TEST_AT_MOST);
        const bool is_left =
            is_below && then && f->scope[then].leaves && !myth_flow_is_inside(f, f->event[e].scope, then);
        if (!is_left && !is_lowest(f, t))
            return true; /* if (n < 4) return; says nothing of a large n */
    }
    return false;
}

/* Where an unlimited value comes from: a parameter, or a call of the row's list. */
static int comes_from(const myth_facts *k, uint32_t path, uint32_t e, int deep)
{
    const myth_flow *f = k->flow;
    if (!path || deep > 3 || f->path[path].base || is_limited(k, path, e) ||
        myth_flow_is_constant_name(f->names + f->path[path].text))
        return FROM_OTHER;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *d = &f->event[i];
        if (d->kind != MYTH_EVENT_DEFINE || d->path != path || !myth_flow_reaches(f, i, e))
            continue;
        const span s = definition_span(f, d);
        if (d->value == MYTH_VALUE_PARAMETER)
            return FROM_PARAMETER;
        if (has_text(s, "&") || has_text(s, "%") || has_text(s, "?") || has_text(s, "min") || has_text(s, "MIN"))
            return FROM_OTHER;
        if (d->value == MYTH_VALUE_PATH && d->other != path)
            return comes_from(k, d->other, i, deep + 1);
        if (d->value != MYTH_VALUE_CALL && d->value != MYTH_VALUE_SUM && d->value != MYTH_VALUE_PRODUCT)
            return FROM_OTHER;
        if (d->value == MYTH_VALUE_SUM && !has_word(s, last_word(f, path)) && !has_text(s, "("))
            continue; /* n -= 4 */
        for (uint32_t c = i; c-- > 0 && c + 64 > i;) {
            const myth_event *call = &f->event[c];
            if (call->kind == MYTH_EVENT_CALL && f->text + call->off >= s.p && f->text + call->end <= s.p + s.n &&
                k->is_release && k->is_release(k->arg, f->names + call->name)) {
                return FROM_INPUT;
            }
        }
        return FROM_OTHER;
    }
    return FROM_OTHER;
}

/* Whether a variable of the function, or of the file, is declared as an int or less. */
static bool is_narrow(const myth_flow *f, const char *name)
{
    static const char *const narrow[] = {"int", "short", "uint8_t", "uint16_t", "unsigned char", "unsigned short"};
    static const char *const of_file[] = {"\nint ", "\nstatic int ", "\nshort ", "\nstatic short "};
    for (uint32_t i = 1; i < f->n_path; i++) {
        const myth_path *p = &f->path[i];
        if (p->base || p->type_end == 0 || strcmp(f->names + p->text, name) != 0)
            continue;
        const span type = span_of(f, p->type_off, p->type_end);
        for (size_t t = 0; t < N_OF(narrow) && !p->is_pointer && !p->is_array; t++)
            if (type.n == strlen(narrow[t]) && memcmp(type.p, narrow[t], type.n) == 0)
                return true;
        return false;
    }
    for (size_t i = 0; i < N_OF(of_file); i++) {
        char want[MYTH_SPAN_WORD + 16];
        snprintf(want, sizeof(want), "%s%s", of_file[i], name);
        if (has_text(span_of(f, 0, f->n_text), want))
            return true;
    }
    return false;
}

/* Whether a size is the product of sizeof and one variable that is declared as an int or less: in 64 bits it cannot
 * wrap. */
static bool is_widened(const myth_flow *f, span size)
{
    char text[TEXT], name[MYTH_SPAN_WORD];
    put_tight(text, size);
    const bool is_first = strncmp(text, "sizeof(", 7) == 0;
    const char *p = is_first ? strchr(text, ')') : text;
    if (!p || (is_first && p[1] != '*'))
        return false;
    p += is_first ? 2 : 0;
    const span rest = {p, (uint32_t)strlen(p)};
    const uint32_t n = word_at(rest, 0, name);
    if (n == 0 || (is_first ? n != rest.n : strncmp(p + n, "*sizeof(", 8) != 0 || strpbrk(p + n + 8, "*+")))
        return false;
    return is_narrow(f, name);
}

int myth_fact_size_from(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    int best = FROM_OTHER;
    if (at->kind == MYTH_EVENT_INDEX)
        return comes_from(k, at->path, e, 0);
    if (at->kind != MYTH_EVENT_CALL)
        return FROM_OTHER;
    const TSNode third = myth_facts_argument(k, e, 2), second = myth_facts_argument(k, e, 1),
                 first = myth_facts_argument(k, e, 0);
    const TSNode a = !is_null(third) ? third : !is_null(second) ? second : first;
    if (!is_null(a) && is_widened(f, node_span(f, a)))
        return FROM_OTHER;
    for (uint32_t i = e + 1; !is_null(a) && i < f->n_event && i < e + 64; i++) {
        const myth_event *x = &f->event[i];
        if (x->off < ts_node_start_byte(a) || x->end > ts_node_end_byte(a) || !x->path)
            continue;
        if (x->kind != MYTH_EVENT_USE && x->kind != MYTH_EVENT_ARG)
            continue;
        const int from = comes_from(k, x->path, e, 0);
        best = from > best ? from : best;
    }
    return best;
}
