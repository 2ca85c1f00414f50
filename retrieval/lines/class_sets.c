/* class_sets.c - see class_sets.h. One walk over the expression, by the rules of ripgrep inside of classes. */
#include "class_sets.h"

#include <stdbool.h>
#include <string.h>

typedef struct {
    const unsigned char *begin, *p, *end;
    const unsigned char *sign; /* the first operator, or [ of a class in a class; NULL = none */
    const char *says;
} walk;

static const char both[] = "&& is no operation in a class; for [X&&[^Y]] write (?![Y])[X], for [X&&[Y]] (?=[Y])[X], "
                           "for the sign \\&",
                  without[] = "-- is no operation in a class; for [X--[Y]] write (?![Y])[X], for the sign \\-",
                  either[] = "~~ is no operation in a class; for [X~~[Y]] write (?:(?![Y])[X]|(?![X])[Y]), for the "
                             "sign \\~",
                  nested[] = "a class in a class is not read as one; for [X[Y]] write [XY], for the sign \\[",
                  range[] = "a range that begins here is two signs for ripgrep; write \\ before the first sign for a "
                            "range, before the second for two signs";

static bool is_at(const walk *w, const char *text)
{
    const size_t n = strlen(text);
    return (size_t)(w->end - w->p) >= n && memcmp(w->p, text, n) == 0;
}

/* Moves behind the text, or to the end where there is none. */
static void skip_to(walk *w, const char *text)
{
    while (w->p < w->end && !is_at(w, text))
        w->p++;
    w->p += w->p < w->end ? strlen(text) : 0;
}

/* \Q...\E, which is text as it is written, \p{...} and \x{...}, or two bytes. */
static void skip_escape(walk *w)
{
    const bool is_quoted = is_at(w, "\\Q");
    w->p += w->end - w->p >= 2 ? 2 : 1;
    if (is_quoted)
        skip_to(w, "\\E");
    else if (w->p < w->end && *w->p == '{' && strchr("pPxouUN", w->p[-1]))
        skip_to(w, "}");
}

static void skip_item(walk *w)
{
    if (*w->p == '\\')
        skip_escape(w);
    else
        w->p++;
}

/* Moves behind a class with a name, [:alpha:]. */
static bool skip_named(walk *w)
{
    const unsigned char *q = w->p + 2;
    if (!is_at(w, "[:"))
        return false;
    while (q < w->end && ((*q >= 'a' && *q <= 'z') || *q == '^' || *q == '<' || *q == '>'))
        q++;
    if (w->end - q < 2 || memcmp(q, ":]", 2) != 0)
        return false;
    w->p = q + 2;
    return true;
}

static void note(walk *w, const unsigned char *sign, const char *says)
{
    if (w->sign)
        return;
    w->sign = sign;
    w->says = says;
}

/* Moves behind the [ of a class and what is no operator only because it comes first. */
static void open_class(walk *w)
{
    w->p++;
    if (w->p < w->end && *w->p == '^')
        w->p++;
    const unsigned char *first = w->p;
    while (w->p < w->end && *w->p == '-')
        w->p++;
    const bool is_dashes = w->p - first == 2 && w->p < w->end && *w->p != ']';
    if (w->p == first && w->p < w->end && *w->p == ']')
        w->p++;
    if (is_dashes || (w->p > first && w->p[-1] == ']' && w->end - w->p >= 2 && w->p[0] == '-' && w->p[1] != ']'))
        note(w, first, range);
}

/* Moves behind a class; false when it has no end. */
static bool walk_class(walk *w)
{
    int depth = 1;
    open_class(w);
    while (w->p < w->end) {
        if (*w->p == ']') {
            w->p++;
            if (--depth == 0)
                return true;
        } else if (*w->p == '[') {
            if (skip_named(w))
                continue;
            note(w, w->p, nested);
            depth++;
            open_class(w);
        } else if (is_at(w, "&&") || is_at(w, "--") || is_at(w, "~~")) {
            note(w, w->p, *w->p == '&' ? both : *w->p == '-' ? without : either);
            w->p += 2;
        } else {
            skip_item(w);
            if (w->end - w->p >= 2 && w->p[0] == '-' && w->p[1] != ']' && w->p[1] != '-') {
                w->p++;
                skip_item(w); /* the end of a range, also [ */
            }
        }
    }
    return false;
}

myth_status myth_class_sets_check(const unsigned char *pattern, size_t n, myth_error *err)
{
    walk w = {.begin = pattern, .p = pattern, .end = pattern + n};
    while (w.p < w.end) {
        if (is_at(&w, "(?#"))
            skip_to(&w, ")");
        else if (*w.p != '[')
            skip_item(&w);
        else if (!walk_class(&w))
            return MYTH_OK; /* ripgrep refuses the expression, so it is meant for pcre2 */
        else if (w.sign)
            return myth_fail(err, MYTH_EARG, "pattern: byte %zu: %s", (size_t)(w.sign - w.begin), w.says);
    }
    return MYTH_OK;
}
