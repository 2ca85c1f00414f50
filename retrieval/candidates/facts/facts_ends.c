/* facts_ends.c - facts about the end of an array, of a text and of a file: what is written there, and what nothing
 * ends (facts.h). */
#include "facts_span.h"

#include "engine/base/chars.h"

#include <stdio.h>
#include <stdlib.h>

enum { NEAR = 512, TEXT = MYTH_SPAN_TEXT };

static uint32_t argument_path(myth_facts *k, uint32_t e, uint32_t i)
{
    TSNode a = myth_facts_argument(k, e, i);
    if (is_null(a))
        return 0;
    a = myth_flow_inner(k->flow, a);
    if (role_of(k->flow, a) == MYTH_ROLE_BINARY) /* line + used */
        a = myth_flow_inner(k->flow, child_of(k->flow, a, MYTH_SLOT_LEFT));
    return is_null(a) ? 0 : myth_flow_path(k->flow, a);
}

static bool is_text_node(const myth_flow *f, TSNode node)
{
    return role_of(f, node) == MYTH_ROLE_TEXT || strstr(ts_node_type(node), "string");
}

/* ---- scanf ---- */

enum { SCANS_NO, SCANS_FIXED };

/* The next conversion behind *at; false = none. *is_text: it takes a text of any length; *is_kept: it has one
 * argument. */
static bool next_conversion(const char *format, size_t *at, bool *is_text, bool *is_kept)
{
    const char *p = strchr(format + *at, '%');
    if (!p)
        return false;
    p++;
    const bool is_dropped = *p == '*';
    p += is_dropped;
    const bool has_width = isdigit((unsigned char)*p) || *p == '"'; /* "%" WIDTH "s" */
    while (isdigit((unsigned char)*p))
        p++;
    const bool is_allocated = *p == 'm';
    while (*p && strchr("hlLjztqm", *p))
        p++;
    *is_text = (*p == 's' || *p == '[') && !has_width && !is_allocated;
    *is_kept = !is_dropped && *p != '%';
    if (*p == '[') {
        p += p[1] == '^' ? 2 : 1;
        p += *p == ']';
        while (*p && *p != ']')
            p++;
    }
    *at = (size_t)(p - format) + (*p != '\0');
    return true;
}

/* Whether a text is read from an array that is not longer than the one it goes to. */
static bool is_within(const myth_flow *f, uint32_t from, uint32_t to)
{
    span a, b;
    char x[TEXT], y[TEXT];
    if (!myth_facts_array_size(f, from, &a) || !myth_facts_array_size(f, to, &b))
        return false;
    put_tight(x, a);
    put_tight(y, b);
    const long m = strtol(x, NULL, 10), n = strtol(y, NULL, 10);
    return strcmp(x, y) == 0 || (m > 0 && n > 0 && m <= n);
}

/* What a %s or %[ without a width writes to. */
int myth_fact_scans(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    if (c->kind != MYTH_EVENT_CALL)
        return SCANS_NO;
    const bool is_plain = strcmp(myth_flow_last_word(f->names + c->name), "scanf") == 0;
    const TSNode node = myth_facts_argument(k, e, is_plain ? 0 : 1);
    if (is_null(node) || !is_text_node(f, node))
        return SCANS_NO;
    char format[TEXT];
    const span s = node_span(f, node);
    snprintf(format, sizeof(format), "%.*s", (int)s.n, s.p);
    bool is_text, is_kept;
    uint32_t index = is_plain ? 1 : 2;
    for (size_t at = 0; next_conversion(format, &at, &is_text, &is_kept); index += is_kept) {
        const uint32_t to = argument_path(k, e, index);
        if (is_text && is_kept && myth_facts_is_fixed(f, to) && !is_within(f, argument_path(k, e, 0), to))
            return SCANS_FIXED;
    }
    return SCANS_NO;
}

/* ---- the element behind the last one ---- */

enum { BEHIND_NO, BEHIND_ARRAY, BEHIND_MEMORY, BEHIND_BEFORE };

/* Whether what a path points to has exactly so many bytes: p = malloc(n), and n is the same still. */
static bool is_taken_size(const myth_facts *k, uint32_t path, uint32_t e, const char *index)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    char value[TEXT], want[TEXT + 16];
    uint32_t after = f->event[e].end; /* only what is written there: x[n] = 0 */
    while (after < f->n_text && f->text[after] == ' ')
        after++;
    if (after + 1 >= f->n_text || f->text[after] != '=' || f->text[after + 1] == '=')
        return false;
    if (!path || !isalpha((unsigned char)*index) || !myth_facts_definition(k, path, e, &d) || f->event[d].path != path)
        return false;
    put_tight(value, definition_span(f, &f->event[d]));
    snprintf(want, sizeof(want), "malloc(%s)", index);
    const size_t n = strlen(value), m = strlen(want);
    if (n < m || strcmp(value + n - m, want) != 0)
        return false;
    for (uint32_t i = d + 1; i < e; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path &&
            has_word((span){index, (uint32_t)strlen(index)}, last_word(f, f->event[i].path)))
            return false;
    return true;
}

/* Whether a condition before event e, or a call in one, speaks of the word. */
static bool is_asked(const myth_flow *f, uint32_t off, const char *word)
{
    for (uint32_t t = 0; t < f->n_test; t++) {
        const myth_test *test = &f->test[t];
        const uint32_t end = test->end < off ? test->end : off; /* of its own condition only what stands before it */
        if (has_text(begin_of(span_of(f, test->off, test->end), TEXT), "fgets("))
            continue; /* there is a line, and it may be empty for what looks for its end */
        if (test->off < off && has_word(begin_of(span_of(f, test->off, end), TEXT), word))
            return true;
    }
    return false;
}

/* Whether a text may well be empty: it is a caller's, or what fgets read, which may begin with a zero. */
static bool may_be_empty(const myth_facts *k, uint32_t path, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (f->path[path].base)
        return false;
    for (uint32_t i = e, n = 0; i-- > 0 && n < NEAR; n++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].path == path && f->event[i].index == 0) {
            const char *name = f->names + f->event[f->event[i].call].name;
            if (strcmp(name, "fgets") == 0)
                return true;
            if (strcmp(name, "strlen") != 0)
                return false;
        }
    return myth_facts_definition(k, path, e, &d) && f->event[d].path == path &&
           f->event[d].value == MYTH_VALUE_PARAMETER;
}

/* Whether what stands before a node makes a declaration of it, which the parser took for an element: char x[SIZE]. */
static bool is_declared_there(const myth_flow *f, TSNode node)
{
    uint32_t at = ts_node_start_byte(node), end;
    while (at > 0 && (f->text[at - 1] == ' ' || f->text[at - 1] == '\t'))
        at--;
    for (end = at; at > 0 && myth_is_word(f->text[at - 1]);)
        at--;
    return end > at && !(end - at == 6 && memcmp(f->text + at, "return", 6) == 0) &&
           !(end - at == 4 && memcmp(f->text + at, "else", 4) == 0);
}

/* Whether an element is the one behind the last of its array, or of the memory that was taken for it; or the one before
 * the first where a text is empty: x[sizeof(x)], x[n] behind x = malloc(n), x[strlen(x) - 1]. */
int myth_fact_behind(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind != MYTH_EVENT_DEREF || !at->path || role_of(f, at->node) != MYTH_ROLE_INDEX)
        return BEHIND_NO;
    const TSNode node = index_of(f, at->node);
    char index[TEXT], want[TEXT + 16];
    put_tight(index, node_span(f, node));
    if (is_null(node) || index[0] == '\0' || (at->off > 0 && f->text[at->off - 1] == '&'))
        return BEHIND_NO;
    TSNode around = ts_node_parent(at->node);
    for (int i = 0; i < 3 && !is_null(around); i++, around = ts_node_parent(around))
        if (strstr(ts_node_type(around), "sizeof"))
            return BEHIND_NO;
    if (is_declared_there(f, at->node))
        return BEHIND_NO;
    if (!isdigit((unsigned char)*index) && myth_facts_is_fixed(f, at->path) && myth_facts_is_whole(f, at->path, node))
        return BEHIND_ARRAY;
    if (is_taken_size(k, at->path, e, index))
        return BEHIND_MEMORY;
    snprintf(want, sizeof(want), "strlen(%s)-1", f->names + f->path[at->path].text);
    if (strcmp(index, want) == 0 && may_be_empty(k, at->path, e) && !is_asked(f, at->off, last_word(f, at->path)))
        return BEHIND_BEFORE;
    return BEHIND_NO;
}

/* The place behind a call where so much is written into what it read to, without blanks: x[n]=0 */
static bool has_end_written(const myth_flow *f, uint32_t from, const char *element)
{
    char tight[8 * TEXT];
    uint32_t n = 0;
    for (uint32_t i = from; i < f->end && i < f->n_text && n + 1 < sizeof(tight); i++)
        if (f->text[i] > ' ')
            tight[n++] = f->text[i];
    tight[n] = '\0';
    const char *at = strstr(tight, element);
    if (!at)
        return false;
    const char *value = at + strlen(element);
    return strncmp(value, "=0", 2) == 0 || strncmp(value, "='\\0'", 5) == 0;
}

/* Whether a call may fill what is left of an array, and the byte behind what it read is written then:
 * n = read(fd, p->line + at, sizeof(p->line) - at); p->line[at + n] = 0; */
int myth_fact_fills_rest(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    char to[TEXT], size[TEXT], want[2 * TEXT], array[TEXT], element[3 * TEXT];
    uint32_t d = 0;
    if (c->kind != MYTH_EVENT_CALL)
        return 0;
    const bool is_stream = strstr(f->names + c->name, "fread") != NULL;
    const TSNode target = myth_facts_argument(k, e, is_stream ? 0 : 1), room = myth_facts_argument(k, e, 2);
    if (is_null(target) || is_null(room) || !myth_facts_taker(f, e, &d))
        return 0;
    put_tight(to, node_span(f, target));
    put_tight(size, node_span(f, room));
    const char *plus = strchr(to, '+');
    snprintf(array, sizeof(array), "%.*s", (int)(plus ? (size_t)(plus - to) : strlen(to)), to);
    snprintf(want, sizeof(want), "sizeof(%s)%s%s", array, plus ? "-" : "", plus ? plus + 1 : "");
    if (!*array || strpbrk(array, "()&*") || strcmp(size, want) != 0 || (!plus && !strchr(array, '>')))
        return 0;
    for (uint32_t i = e + 1; i < f->n_event && i < e + NEAR; i++) /* a condition asks whether it is full */
        if (f->event[i].kind == MYTH_EVENT_TEST && has_text(node_span(f, f->event[i].node), "sizeof"))
            return 0;
    const char *n = f->names + f->path[f->event[d].path].text, *at = plus ? plus + 1 : n;
    snprintf(element, sizeof(element), "%s[%s]", array, at);
    if (plus && !has_end_written(f, c->end, element))
        snprintf(element, sizeof(element), "%s[%s+%s]", array, at, n);
    return has_end_written(f, c->end, element);
}

/* ---- texts without an end ---- */

/* Whether strncpy may fill the whole of an array, and nothing ends the text in it before it is read. */
int myth_fact_unended(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    const TSNode size = myth_facts_argument(k, e, 2), from = myth_facts_argument(k, e, 1);
    const uint32_t to = argument_path(k, e, 0), source = argument_path(k, e, 1);
    if (c->kind != MYTH_EVENT_CALL || is_null(size) || is_text_node(f, from) || !myth_facts_is_fixed(f, to) ||
        !myth_facts_is_whole(f, to, size) || is_within(f, source, to))
        return 0;
    if (source && is_asked(f, c->off, last_word(f, source)) && myth_fact_measured(k, e))
        return 0;
    for (uint32_t i = e + 1; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        if (x->off < c->end)
            continue;
        if (x->kind == MYTH_EVENT_DEREF && x->path == to && role_of(f, x->node) == MYTH_ROLE_INDEX)
            return 0; /* to[n] = 0 */
        if (x->kind == MYTH_EVENT_ARG && x->path == to) {
            const char *name = f->names + f->event[x->call].name;
            k->at_line = x->line;
            return myth_facts_takes_text(name) || strstr(name, "print") || strstr(name, "log") ||
                   (strstr(name, "open") && x->index == 0) || strstr(name, "unlink") || strstr(name, "exec");
        }
    }
    return 0;
}

/* ---- sizes of texts and pointers ---- */

enum { WRONG_NO, WRONG_PART, WRONG_BEHIND, WRONG_POINTER };

/* How many bytes a text has that is written there; -1 = not known. */
static int text_bytes(span s)
{
    int n = 0;
    if (s.n < 2 || s.p[0] != '"' || s.p[s.n - 1] != '"')
        return -1;
    for (uint32_t i = 1; i + 1 < s.n; i++, n++) {
        if (s.p[i] == '"' || (s.p[i] == '\\' && (s.p[i + 1] == 'x' || isdigit((unsigned char)s.p[i + 1]))))
            return -1; /* two texts, or a byte by its number */
        i += s.p[i] == '\\';
    }
    return n;
}

/* The number that is written in a node. */
static int number_of(const myth_flow *f, TSNode node)
{
    char number[TEXT];
    put_tight(number, node_span(f, node));
    return (int)strtol(number, NULL, 0);
}

/* Whether call `i` compares the same value with another text, of as many bytes, in which it differs. */
static bool is_told_apart(const myth_facts *k, uint32_t e, uint32_t i, span text, uint32_t of, int n)
{
    const myth_flow *f = k->flow;
    if (i == e || f->event[i].kind != MYTH_EVENT_CALL ||
        strcmp(f->names + f->event[i].name, f->names + f->event[e].name) != 0)
        return false;
    const TSNode other = myth_facts_argument(k, i, of), size = myth_facts_argument(k, i, 2);
    const span s = node_span(f, other), a = node_span(f, myth_facts_argument(k, e, 1 - of)),
               b = node_span(f, myth_facts_argument(k, i, 1 - of));
    return !is_null(size) && number_of(f, size) == n && text_bytes(s) > n && a.n == b.n && a.n > 0 &&
           memcmp(a.p, b.p, a.n) == 0 && memcmp(s.p + 1, text.p + 1, (size_t)n) != 0;
}

/* Whether a text is compared in its first n bytes on purpose, since those are enough: of an option its dash and a
 * letter (-g for -glob), of any word one letter, and of several as many as tell them apart. */
static bool is_shortened(const myth_facts *k, uint32_t e, uint32_t of, int n)
{
    const myth_flow *f = k->flow;
    const span s = node_span(f, myth_facts_argument(k, e, of));
    const int m = text_bytes(s);
    if (n < 1 || m < n + 2 || memchr(s.p, '\\', s.n))
        return false;
    if (n == 1 || (s.p[1] == '-' && n == (s.p[2] == '-' ? 3 : 2)))
        return true;
    for (uint32_t i = e > NEAR ? e - NEAR : 0; i < f->n_event && i < e + NEAR; i++)
        if (is_told_apart(k, e, i, s, of, n))
            return true;
    return false;
}

/* Whether memory for something is taken by the size of the pointer to it: p = malloc(sizeof(p)) */
static bool is_size_of_pointer(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    char value[TEXT], want[TEXT];
    uint32_t d;
    if (!myth_facts_taker(f, e, &d) || !f->path[f->event[d].path].is_pointer || f->path[f->event[d].path].base)
        return false;
    const TSNode size = myth_facts_argument(k, e, is_null(myth_facts_argument(k, e, 1)) ? 0 : 1);
    put_tight(value, node_span(f, size));
    snprintf(want, sizeof(want), "sizeof(%s)", f->names + f->path[f->event[d].path].text);
    return strcmp(value, want) == 0;
}

/* Whether a size that is written there is not that of what it is about: of a text that is compared or copied, or of
 * what a pointer is to point to. */
int myth_fact_wrong_size(myth_facts *k, uint32_t e)
{
    static const char *const compares[] = {"strncmp", "strncasecmp", "strnicmp"};
    static const char *const copies[] = {"memcpy", "memcmp", "write"};
    const myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    if (c->kind != MYTH_EVENT_CALL)
        return WRONG_NO;
    const char *name = myth_flow_last_word(f->names + c->name);
    if (strcmp(name, "malloc") == 0 || strcmp(name, "calloc") == 0)
        return is_size_of_pointer(k, e) ? WRONG_POINTER : WRONG_NO;
    const bool is_compared = myth_flow_is_one_of(name, compares, sizeof(compares) / sizeof(*compares));
    const bool is_copied = myth_flow_is_one_of(name, copies, sizeof(copies) / sizeof(*copies));
    const TSNode size = myth_facts_argument(k, e, 2);
    if ((!is_compared && !is_copied) || is_null(size) || role_of(f, size) != MYTH_ROLE_NUMBER)
        return WRONG_NO;
    const int n = number_of(f, size);
    for (uint32_t i = 0; i < 2; i++) {
        const TSNode text = myth_facts_argument(k, e, i);
        const int m = is_null(text) ? -1 : text_bytes(node_span(f, text));
        if (m >= 0 && is_compared && n < m)
            return is_shortened(k, e, i, n) ? WRONG_NO : WRONG_PART;
        if (m >= 0 && is_copied && n > m + 1)
            return WRONG_BEHIND;
    }
    return WRONG_NO;
}

/* ---- files ---- */

enum { FILE_OTHER, FILE_READ_AGAIN, FILE_SAVED };

/* Whether a loop around a node goes on while feof says that there is more. */
static bool is_until_end(const myth_flow *f, uint32_t scope)
{
    for (; scope; scope = f->scope[scope].parent) {
        const myth_scope *s = &f->scope[scope];
        if (s->kind != MYTH_SCOPE_LOOP || !s->test)
            continue;
        const myth_test *t = &f->test[s->test - 1];
        char text[TEXT];
        put_tight(text, begin_of(span_of(f, t->off, t->end), TEXT - 2));
        return strstr(text, "!feof(") != NULL && !strchr(text, '&');
    }
    return false;
}

/* Whether the file was opened by a variable, and call `rename` is about another one. */
static bool is_of_other_file(myth_facts *k, uint32_t file, uint32_t e, uint32_t rename)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    const uint32_t moved = argument_path(k, rename, 0);
    if (!moved || !myth_facts_definition(k, file, e, &d))
        return false;
    for (uint32_t i = d > NEAR ? d - NEAR : 0; i < d; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].index == 0 &&
            f->event[i].statement == f->event[d].statement && strcmp(f->names + f->event[i].name, "fopen") == 0)
            return f->event[i].path && f->event[i].path != moved;
    return false;
}

/* A call about a file, whose result is dropped: it reads in a loop that asks feof before, and so reads once more than
 * there is; or it closes what was written and is renamed then, and nobody learns that not all of it was written. */
int myth_fact_file(myth_facts *k, uint32_t e)
{
    static const char *const reads[] = {"fgets", "fread", "fscanf", "getline"};
    static const char *const writes[] = {"fprintf", "fwrite", "fputs", "fputc", "putc", "vfprintf"};
    static const char *const asks[] = {"fflush", "ferror", "fsync", "fileno"};
    const myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    if (c->kind != MYTH_EVENT_CALL || !c->is_dropped)
        return FILE_OTHER;
    const char *name = f->names + c->name;
    if (myth_flow_is_one_of(name, reads, sizeof(reads) / sizeof(*reads)))
        return is_until_end(f, c->scope) ? FILE_READ_AGAIN : FILE_OTHER;
    const uint32_t file = argument_path(k, e, 0);
    if (strcmp(name, "fclose") != 0 || !file)
        return FILE_OTHER;
    bool is_written = false;
    for (uint32_t i = 0; i < e; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_DEFINE && x->path == file)
            is_written |= has_text(begin_of(definition_span(f, x), TEXT), "\"w");
        if (x->kind != MYTH_EVENT_ARG || x->path != file)
            continue;
        const char *callee = f->names + f->event[x->call].name;
        if (myth_flow_is_one_of(callee, asks, sizeof(asks) / sizeof(*asks)))
            return FILE_OTHER;
        is_written |= myth_flow_is_one_of(callee, writes, sizeof(writes) / sizeof(*writes));
    }
    for (uint32_t i = e + 1; is_written && i < f->n_event && i < e + NEAR; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && strcmp(f->names + f->event[i].name, "rename") == 0 &&
            myth_flow_reaches(f, e, i) && !is_of_other_file(k, file, e, i)) {
            k->at_line = f->event[i].line;
            return FILE_SAVED;
        }
    return FILE_OTHER;
}

/* ---- formats ---- */

enum { FORMAT_OTHER, FORMAT_FILLED, FORMAT_OUTSIDE, FORMAT_CONSTANT, FORMAT_MEMBER };

/* Which argument of a function of the printf family is its format; UINT32_MAX = it is none of them. */
static uint32_t format_index(const char *name)
{
    static const struct {
        const char *name;
        uint32_t index;
    } all[] = {{"printf", 0},          {"warn", 0},     {"warnx", 0},   {"g_print", 0},   {"fprintf", 1},
               {"syslog", 1},          {"dprintf", 1},  {"errx", 1},    {"err", 1},       {"sprintf", 1},
               {"wprintf", 0},         {"snprintf", 2}, {"vprintf", 0}, {"printw", 0},    {"vsyslog", 1},
               {"g_strdup_printf", 0}, {"verr", 1},     {"verrx", 1},   {"vwarn", 0},     {"vwarnx", 0},
               {"vsprintf", 1},        {"vdprintf", 1}, {"perrorf", 0}, {"vsnprintf", 2}, {"vfprintf", 1}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(name, all[i].name) == 0)
            return all[i].index;
    return UINT32_MAX;
}

/* Whether call c puts data into the array that a path is: a text of its caller, what a file has. */
static bool fills_with_data(myth_facts *k, uint32_t c, uint32_t path)
{
    static const char *const reads[] = {"read", "recv", "pread", "recvfrom", "getline"};
    static const char *const copies[] = {"strcpy", "strncpy", "strlcpy", "strcat", "strncat", "strlcat", "memcpy"};
    static const char *const prints[] = {"sprintf", "snprintf", "vsprintf", "vsnprintf"};
    static const char *const lines[] = {"fgets", "gets"};
    const myth_flow *f = k->flow;
    const char *name = myth_flow_last_word(f->names + f->event[c].name);
    if (myth_flow_is_one_of(name, reads, sizeof(reads) / sizeof(*reads)))
        return argument_path(k, c, 1) == path;
    if (argument_path(k, c, 0) != path)
        return false;
    if (myth_flow_is_one_of(name, lines, sizeof(lines) / sizeof(*lines)))
        return true;
    if (myth_flow_is_one_of(name, copies, sizeof(copies) / sizeof(*copies))) {
        const TSNode from = myth_facts_argument(k, c, 1);
        return !is_null(from) && !is_text_node(f, from) && !myth_flow_is_constant_name(f->names + f->path[path].last);
    }
    if (!myth_flow_is_one_of(name, prints, sizeof(prints) / sizeof(*prints)))
        return false;
    const TSNode format = myth_facts_argument(k, c, strchr(name, 'n') && strstr(name, "nprintf") ? 2 : 1);
    if (is_null(format))
        return false;
    return !is_text_node(f, format) || has_text(node_span(f, format), "%s");
}

/* Whether a function, by its name, gives the text that it is given in another language, or is a macro. */
static bool gives_text(const char *name)
{
    static const char *const word[] = {"_",  "gettext", "dgettext", "ngettext", "dcgettext", "dngettext",
                                       "tr", "gtr",     "pgettext", "i18n",     "translate"};
    return myth_flow_is_one_of(name, word, N_OF(word)) || myth_flow_is_constant_name(name);
}

/* Whether an argument in the text of the file is a text that is written there: "%s", _("%s"), NULL. */
static bool is_text_span(span s)
{
    while (s.n > 0 && (myth_is_word(s.p[0]) || s.p[0] == '(')) {
        char word[MYTH_SPAN_WORD];
        const uint32_t n = word_at(s, 0, word);
        if (s.p[0] != '(' && !(n > 0 && (strcmp(word, "NULL") == 0 || (n < s.n && s.p[n] == '(' && gives_text(word)))))
            return false;
        if (n == s.n)
            return true;
        s = (span){s.p + (n ? n : 1), s.n - (n ? n : 1)};
    }
    return s.n > 0 && s.p[0] == '"';
}

/* Whether all calls in the file of this function, which no other file calls, give the parameter such a text. */
static bool is_text_of_callers(const myth_flow *f, uint32_t path)
{
    uint32_t index = 0, at = 0, n, n_call = 0;
    span argument[MYTH_CALL_ARGUMENTS];
    if (f->off + 7 > f->n_text || memcmp(f->text + f->off, "static", 6) != 0)
        return false;
    for (uint32_t i = 0; i < f->n_event && f->event[i].path != path; i++)
        index += f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].value == MYTH_VALUE_PARAMETER;
    while (myth_facts_next_call(f, f->names + f->name, &at, argument, &n)) {
        if (index >= n || !is_text_span(argument[index]))
            return false;
        n_call++;
    }
    return n_call > 0;
}

/* Whether a name that this function gives no value is a text of the file, by all that is assigned to the name there. */
static bool is_text_of_file(const myth_flow *f, const char *name)
{
    const uint32_t n = (uint32_t)strlen(name);
    uint32_t n_text = 0;
    for (const char *p = f->text, *const end = p + f->n_text; p < end && (p = memchr(p, name[0], (size_t)(end - p)));
         p++) {
        if ((size_t)(end - p) < n + 3 || memcmp(p, name, n) != 0 || myth_is_word(p[n]) ||
            (p > f->text && myth_is_word(p[-1])))
            continue;
        const char *q = p + n;
        while (q < end && (*q == ' ' || *q == '[' || *q == ']'))
            q++;
        if (q + 1 >= end || *q != '=' || q[1] == '=')
            continue;
        for (q++; q < end && (*q == ' ' || *q == '\n' || *q == '\t');)
            q++;
        if (!is_text_span((span){q, (uint32_t)(end - q)}))
            return false;
        n_text++;
    }
    return n_text > 0;
}

static bool is_constant_format(myth_facts *k, TSNode node, int deep);

/* Whether a call writes a format that is made of a constant one and of numbers into the array: "%%%ds". */
static bool makes_format(const myth_facts *k, uint32_t call)
{
    const myth_flow *f = k->flow;
    const char *name = myth_flow_last_word(f->names + f->event[call].name);
    const bool has_size = strcmp(name, "snprintf") == 0;
    if (!has_size && strcmp(name, "sprintf") != 0)
        return false;
    const TSNode format = myth_facts_argument(k, call, has_size ? 2 : 1);
    return !is_null(format) && is_text_node(f, format) && !has_text(node_span(f, format), "%s");
}

/* Whether all that a variable of the function may hold is constant. */
static bool is_constant_variable(myth_facts *k, uint32_t path, int deep)
{
    myth_flow *f = k->flow;
    bool has_value = false, has_begin = false;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->path != path)
            continue;
        if (x->kind == MYTH_EVENT_ARG && x->call < f->n_event) {
            const char *name = myth_flow_last_word(f->names + f->event[x->call].name);
            const bool is_array = f->path[path].is_array || x->is_through;
            if (!is_array || x->index == format_index(name))
                continue;
            if (x->index > 0 || !makes_format(k, x->call))
                return false;
            has_value = true;
        } else if (x->kind == MYTH_EVENT_DEFINE) {
            has_begin = true;
            if (x->value == MYTH_VALUE_NOTHING || (x->value == MYTH_VALUE_OUT && has_value))
                continue;
            const TSNode value = myth_facts_value_node(f, x);
            if (x->value == MYTH_VALUE_PARAMETER ? !is_text_of_callers(f, path)
                                                 : is_null(value) || !is_constant_format(k, value, deep + 1))
                return false;
            has_value = true;
        }
    }
    return has_value || (!has_begin && is_text_of_file(f, last_word(f, path)));
}

/* Whether a format is a text of the source, also one of two, one in another language, or one that was put together with
 * numbers only. No format (NULL) counts. */
static bool is_constant_format(myth_facts *k, TSNode node, int deep)
{
    myth_flow *f = k->flow;
    TSNode cond, then, other;
    node = myth_flow_inner(f, node);
    if (is_null(node) || deep > 4)
        return false;
    if (is_text_node(f, node) || role_of(f, node) == MYTH_ROLE_NUMBER || role_of(f, node) == MYTH_ROLE_NOTHING ||
        myth_flow_text_is(f, node, "NULL"))
        return true;
    if (role_of(f, node) == MYTH_ROLE_CHOICE) {
        myth_flow_choice_parts(f, node, &cond, &then, &other);
        return !is_null(then) && !is_null(other) && is_constant_format(k, then, deep + 1) &&
               is_constant_format(k, other, deep + 1);
    }
    if (role_of(f, node) == MYTH_ROLE_CALL) {
        const uint32_t name = myth_flow_callee_name(f, node, child_of(f, node, MYTH_SLOT_CALLEE)); /* may move names */
        const TSNode list = child_of(f, node, MYTH_SLOT_ARGUMENTS);
        return gives_text(f->names + name) && !is_null(list) && ts_node_named_child_count(list) > 0 &&
               is_constant_format(k, ts_node_named_child(list, 0), deep + 1);
    }
    const uint32_t path = role_of(f, node) == MYTH_ROLE_NAME ? myth_flow_path(f, node) : 0;
    return path && (myth_flow_is_constant_name(f->names + f->path[path].text) || is_constant_variable(k, path, deep));
}

/* What a format is: constant, a member with values behind it, an array that was filled with data, or from outside. */
int myth_fact_format(myth_facts *k, uint32_t e)
{
    static const char *const outside[] = {"argv[", "getenv", "getParameter("};
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const uint32_t i = at->kind == MYTH_EVENT_CALL ? format_index(f->names + at->name) : UINT32_MAX;
    const TSNode a = i == UINT32_MAX ? (TSNode){0} : myth_facts_argument(k, e, i);
    const bool is_list = at->kind == MYTH_EVENT_CALL && f->names[at->name] == 'v';
    if (is_null(a) || is_text_node(f, a))
        return FORMAT_OTHER;
    if (is_constant_format(k, a, 0))
        return FORMAT_CONSTANT;
    if (is_list)
        return FORMAT_OTHER;
    if (!is_null(myth_facts_argument(k, e, i + 1)))
        return role_of(f, myth_flow_inner(f, a)) == MYTH_ROLE_MEMBER ? FORMAT_MEMBER : FORMAT_OTHER;
    for (size_t o = 0; o < sizeof(outside) / sizeof(*outside); o++)
        if (has_text(node_span(f, a), outside[o]))
            return FORMAT_OUTSIDE;
    const uint32_t path = argument_path(k, e, i);
    if (!myth_facts_is_fixed(f, path))
        return FORMAT_OTHER;
    bool is_filled = false;
    for (uint32_t c = e, n = 0; c-- > 0 && n < NEAR; n++) {
        const myth_event *x = &f->event[c];
        if (x->kind == MYTH_EVENT_CALL && x->off < at->off && has_word(node_span(f, x->node), last_word(f, path))) {
            if (has_text(node_span(f, x->node), "%%"))
                return FORMAT_OTHER; /* makes a format */
            if (!is_filled && fills_with_data(k, c, path)) {
                is_filled = true;
                k->at_line = x->line;
            }
        }
    }
    return is_filled ? FORMAT_FILLED : FORMAT_OTHER;
}

/* ---- whose memory it is ---- */

/* Whether free(p->x) leaves the address in p, the caller's, and another function of the file frees both it and p. */
int myth_fact_owned(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const char *path = f->names + f->path[at->path].text, *arrow = strstr(path, "->");
    if (at->kind != MYTH_EVENT_ARG || !at->path || !arrow || strchr(path, '[') || strchr(path, '.') ||
        strstr(arrow + 2, "->"))
        return 0;
    const uint32_t base = f->path[at->path].base;
    if (!base || f->is_file)
        return 0;
    uint32_t d;
    if (!myth_facts_definition(k, base, e, &d) || f->event[d].value != MYTH_VALUE_PARAMETER)
        return 0;
    char member[TEXT], whole[TEXT];
    snprintf(member, sizeof(member), "->%s)", arrow + 2);
    for (uint32_t i = 0; i < f->n_event; i++) { /* p is released here, too, or gets another value */
        const myth_event *x = &f->event[i];
        if (i <= e || x->off < at->end || !myth_flow_reaches(f, e, i))
            continue;
        if ((x->kind == MYTH_EVENT_ARG && x->path == base) || (x->kind == MYTH_EVENT_DEFINE && x->path == at->path))
            return 0;
    }
    for (const char *p = f->text, *end = f->text + f->n_text; p < end && (p = memchr(p, 'f', (size_t)(end - p))); p++) {
        const uint32_t off = (uint32_t)(p - f->text);
        if ((off >= f->off && off < f->end) || end - p < 8 || memcmp(p, "free(", 5) != 0)
            continue;
        uint32_t n = 5;
        while (off + n < f->n_text && myth_is_word(p[n]))
            n++;
        if (n == 5 || n > 60 || off + n + strlen(member) > f->n_text || memcmp(p + n, member, strlen(member)) != 0)
            continue;
        snprintf(whole, sizeof(whole), "free(%.*s)", (int)n - 5, p + 5);
        const span rest = begin_of(span_of(f, off, f->n_text), 1500);
        const char *close = NULL;
        for (uint32_t i = 0; i + 1 < rest.n && !close; i++)
            if (rest.p[i] == '\n' && rest.p[i + 1] == '}')
                close = rest.p + i;
        if (has_text((span){rest.p, close ? (uint32_t)(close - rest.p) : rest.n}, whole)) {
            k->at_line = 1;
            for (uint32_t i = 0; i < off; i++)
                k->at_line += f->text[i] == '\n';
            return 1;
        }
    }
    return 0;
}

/* ---- what is asked too early, or never ---- */

/* Whether a stream of the function is written before a call that puts its file in another's place, and nothing after
 * that asks whether it was written. */
int myth_fact_unasked(myth_facts *k, uint32_t e)
{
    static const char *const asks[] = {"%s.good(", "%s.fail(", "%s.bad(", "!%s", "(%s)", "%s.exceptions", "%s &&"};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const span all = span_of(f, f->off, at->off);
    char name[64], text[96];
    uint32_t from = 0;
    for (uint32_t i = 0; i + 10 < all.n; i++)
        if (memcmp(all.p + i, "ofstream ", 9) == 0)
            from = i + 9;
    uint32_t n = 0;
    while (from && from + n < all.n && n + 1 < sizeof(name) && myth_is_word(all.p[from + n]))
        n++;
    if (at->kind != MYTH_EVENT_CALL || n == 0)
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)n, all.p + from);
    span rest = {all.p + from + n, all.n - from - n};
    snprintf(text, sizeof(text), "%s <<", name);
    while (rest.n > 0 && !(rest.n >= strlen(text) && memcmp(rest.p, text, strlen(text)) == 0))
        rest = (span){rest.p + 1, rest.n - 1};
    for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++) {
        snprintf(text, sizeof(text), asks[i], name);
        if (has_text(i == 5 ? all : rest, text))
            return 0;
    }
    return rest.n > 0;
}

/* Whether the rights of another user were asked for by access() before a call opens the same path, in a program that
 * has two users. */
int myth_fact_asked_rights(myth_facts *k, uint32_t e)
{
    static const char *const right[] = {"R_OK", "W_OK"};
    static const char *const user[] = {"setuid", "seteuid(", "setresuid(", "geteuid(", "setreuid(", "setfsuid("};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    bool has_user = false, has_right;
    if (at->kind != MYTH_EVENT_ARG || !at->path)
        return 0;
    for (size_t i = 0; i < sizeof(user) / sizeof(*user); i++)
        has_user |= has_text(span_of(f, 0, f->n_text), user[i]);
    for (uint32_t i = e; has_user && i-- > 0;) {
        const myth_event *x = &f->event[i];
        if (x->kind != MYTH_EVENT_ARG || x->path != at->path || x->call == at->call ||
            strcmp(f->names + f->event[x->call].name, "access") != 0)
            continue;
        const span s = span_of(f, f->event[x->call].off, f->event[x->call].end);
        has_right = has_text(s, right[0]) || has_text(s, right[1]);
        k->at_line = x->line;
        return has_right;
    }
    return 0;
}
