/* facts_layout.c - facts about what functions of the library do with their arguments: which of them they read behind,
 * and how long the text of a format can become (facts.h). */
#include "facts_span.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT = MYTH_SPAN_TEXT, CONVERSIONS = 16 };

/* ---- conversions of a format ---- */

typedef struct {
    char kind;            /* the letter of the conversion; '?' = a name stands where it would be */
    char size;            /* 'l' 'q' (two of them) 'h' 'b' (two of them), 'z' for sizes; 0 = none */
    int width, precision; /* -1 = none is written; WIDTH_GIVEN = an argument says it */
    uint32_t argument;    /* which argument of the format's own, from 0 */
} conversion;

enum { WIDTH_GIVEN = -2 };

typedef struct {
    conversion conversion[CONVERSIONS];
    uint32_t n, n_letter; /* n_letter: bytes that stand in the format itself */
    bool is_whole;        /* all of it is written there, and no more than CONVERSIONS */
} format;

/* A number at *p, or the star of an argument. */
static int count_at(const char **p, const char *end, uint32_t *n_argument)
{
    int n = -1;
    if (*p < end && **p == '*') {
        ++*p;
        ++*n_argument;
        return WIDTH_GIVEN;
    }
    for (; *p < end && isdigit((unsigned char)**p) && n < 100000; ++*p)
        n = (n < 0 ? 0 : n) * 10 + (**p - '0');
    return n;
}

static char size_at(const char **p, const char *end)
{
    char size = 0;
    for (; *p < end && **p && strchr("hlLjztqI", **p); ++*p)
        size = **p == 'l' && size == 'l'          ? 'q'
             : **p == 'h' && size == 'h'          ? 'b'
             : strchr("jztqI", **p) || **p == 'L' ? 'q'
                                                  : **p;
    return size;
}

/* Reads one conversion behind its %; what PRId64 and its kind are is a number. */
static void read_conversion(format *out, const char **p, const char *end, uint32_t *n_argument)
{
    conversion c = {.width = -1, .precision = -1};
    while (*p < end && **p && strchr("-+ #0'", **p))
        ++*p;
    c.width = count_at(p, end, n_argument);
    if (*p < end && **p == '.') {
        ++*p;
        c.precision = count_at(p, end, n_argument);
        c.precision = c.precision == -1 ? 0 : c.precision;
    }
    c.size = size_at(p, end);
    if (*p < end && **p == '"') { /* "%" PRId64 "\n" */
        const char *name = *p + 1;
        while (name < end && *name <= ' ')
            name++;
        const bool is_number = end - name > 4 && memcmp(name, "PRI", 3) == 0;
        c.kind = !is_number ? '?' : name[3] == 'x' || name[3] == 'X' || name[3] == 'o' ? 'x' : 'd';
        c.size = 'q';
    } else if (*p < end)
        c.kind = *(*p)++;
    if (c.kind == '%' || !c.kind) {
        out->n_letter += c.kind == '%';
        return;
    }
    c.argument = (*n_argument)++;
    if (out->n < CONVERSIONS)
        out->conversion[out->n++] = c;
    else
        out->is_whole = false;
}

/* Reads the format that is written at a node: a text, or several behind each other with names of the library between.
 * False: it is no text. */
static bool read_format(format *out, const myth_flow *f, TSNode node)
{
    uint32_t n_argument = 0;
    bool is_inside = false;
    *out = (format){.is_whole = true};
    const span s = node_span(f, node);
    if (s.n < 2 || !memchr(s.p, '"', s.n) || s.p[s.n - 1] != '"')
        out->is_whole = false; /* something else than a text is at its end */
    for (const char *p = s.p, *const end = s.p + s.n; p < end;) {
        const char c = *p++;
        if (c == '"')
            is_inside = !is_inside;
        else if (!is_inside && myth_is_word(c) && (p - 1 == s.p || !myth_is_word(p[-2])) &&
                 !(end - p > 2 && memcmp(p - 1, "PRI", 3) == 0))
            out->is_whole = false; /* a name of which nothing is known */
        else if (is_inside && c == '\\') {
            p += p < end;
            out->n_letter++;
        } else if (is_inside && c == '%')
            read_conversion(out, &p, end, &n_argument);
        else
            out->n_letter += is_inside;
    }
    return s.n > 1 && (strstr(ts_node_type(node), "string") || role_of(f, node) == MYTH_ROLE_TEXT);
}

/* ---- which arguments are read behind ---- */

/* Functions of the library, the arguments whose bytes or stream they read, a bit each, and which is their format. */
static const struct {
    const char *name;
    uint32_t read;
    int format;
} readers[] = {
    {"strlen", 1, -1},  {"strcmp", 3, -1},   {"strncmp", 3, -1},     {"strcpy", 3, -1}, {"strcat", 3, -1},
    {"strdup", 1, -1},  {"strchr", 1, -1},   {"strrchr", 1, -1},     {"strstr", 3, -1}, {"strcasecmp", 3, -1},
    {"strncpy", 3, -1}, {"memcpy", 3, -1},   {"strncasecmp", 3, -1}, {"memcmp", 3, -1}, {"memmove", 3, -1},
    {"memset", 1, -1},  {"fputs", 3, -1},    {"puts", 1, -1},        {"fclose", 1, -1}, {"fread", 9, -1},
    {"fwrite", 9, -1},  {"fprintf", 3, 1},   {"snprintf", 5, 2},     {"sprintf", 3, 1}, {"printf", 1, 0},
    {"atoi", 1, -1},    {"strtol", 1, -1},   {"fgets", 5, -1},       {"fgetc", 1, -1},  {"getc", 1, -1},
    {"fputc", 2, -1},   {"putc", 2, -1},     {"fseek", 1, -1},       {"feof", 1, -1},   {"ferror", 1, -1},
    {"fscanf", 3, -1},  {"getline", 4, -1},  {"vfprintf", 3, -1},    {"dprintf", 2, 1}, {"pclose", 1, -1},
    {"readdir", 1, -1}, {"closedir", 1, -1}, {"syslog", 2, 1},
};

enum { FOLLOWED_NO, FOLLOWED_YES };

/* Whether the function reads what an argument points to: no number of a format, no size, and no standard stream. */
int myth_fact_followed(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *a = myth_facts_event(k, e);
    if (a->kind != MYTH_EVENT_ARG)
        return FOLLOWED_YES;
    const char *called = myth_flow_last_word(f->names + a->name), *own = last_word(f, a->path);
    if (strcmp(own, "stdin") == 0 || strcmp(own, "stdout") == 0 || strcmp(own, "stderr") == 0)
        return FOLLOWED_NO;
    for (size_t i = 0; i < N_OF(readers); i++) {
        format form;
        if (strcmp(called, readers[i].name) != 0)
            continue;
        if (a->index < 32 && readers[i].read >> a->index & 1)
            return FOLLOWED_YES;
        if (readers[i].format < 0 || (int)a->index < readers[i].format)
            return FOLLOWED_NO;
        const TSNode node = myth_facts_argument(k, e, (uint32_t)readers[i].format);
        if (is_null(node) || !read_format(&form, f, node))
            return FOLLOWED_NO; /* nothing says that it is a text */
        for (uint32_t c = 0; c < form.n; c++)
            if (form.conversion[c].argument + (uint32_t)readers[i].format + 1 == a->index)
                return form.conversion[c].kind == 's' || form.conversion[c].kind == 'n' ? FOLLOWED_YES : FOLLOWED_NO;
        return FOLLOWED_NO;
    }
    return a->index < 2 ? FOLLOWED_YES : FOLLOWED_NO; /* one of the project's own, of texts */
}

/* ---- how long a text can become ---- */

enum { LONGEST_UNKNOWN, LONGEST_FITS };

enum { NO_END = 1 << 24 /* bytes of a text of which nothing says how long it is */ };

/* The length of a fixed array of bytes of this function; 0 = it is none, or its size is no number. */
static uint32_t bytes_of(const myth_flow *f, uint32_t path)
{
    span size;
    char text[TEXT], *end;
    if (!path || !myth_facts_is_fixed(f, path) || !myth_facts_array_size(f, path, &size) ||
        !has_text(span_of(f, f->path[path].type_off, f->path[path].type_end), "char"))
        return 0;
    put_tight(text, size);
    const unsigned long n = strtoul(text, &end, 0);
    return end != text && *end == '\0' && n < NO_END ? (uint32_t)n : 0;
}

/* The bytes of the longest number of a conversion, with a sign or with 0x. */
static uint32_t digits_of(const conversion *c)
{
    if (c->size == 'h' || c->size == 'b')
        return c->size == 'h' ? 8 : 6;
    const bool is_long = c->size == 'l' || c->size == 'q';
    return c->kind == 'o' ? (is_long ? 24 : 13) : (is_long ? 22 : 13);
}

/* The most bytes that a conversion of an argument can become; NO_END = nothing says so. */
static uint32_t longest_of(myth_flow *f, const conversion *c, TSNode node)
{
    uint32_t n = NO_END;
    if (c->kind == 's' && !is_null(node)) {
        const TSNode in = myth_flow_inner(f, node);
        const uint32_t size = role_of(f, in) == MYTH_ROLE_NAME ? bytes_of(f, myth_flow_path(f, in)) : 0;
        n = size ? size - 1 : NO_END;
        n = c->precision >= 0 && (uint32_t)c->precision < n ? (uint32_t)c->precision : n;
    } else if (c->kind == 'c')
        n = 1;
    else if (c->kind && strchr("diuxXo", c->kind) && c->precision < 10 && c->precision != WIDTH_GIVEN)
        n = digits_of(c);
    return c->width == WIDTH_GIVEN ? NO_END : c->width > (int)n ? (uint32_t)c->width : n;
}

int myth_fact_longest(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *c = myth_facts_event(k, e);
    format form;
    if (c->kind != MYTH_EVENT_CALL || strcmp(myth_flow_last_word(f->names + c->name), "sprintf") != 0)
        return LONGEST_UNKNOWN;
    const TSNode to = myth_facts_argument(k, e, 0), node = myth_facts_argument(k, e, 1);
    if (is_null(to) || is_null(node) || role_of(f, to) != MYTH_ROLE_NAME || !read_format(&form, f, node) ||
        !form.is_whole)
        return LONGEST_UNKNOWN;
    uint64_t n = form.n_letter;
    for (uint32_t i = 0; i < form.n; i++)
        n += longest_of(f, &form.conversion[i], myth_facts_argument(k, e, form.conversion[i].argument + 2));
    return n < bytes_of(f, myth_flow_path(f, to)) ? LONGEST_FITS : LONGEST_UNKNOWN;
}
