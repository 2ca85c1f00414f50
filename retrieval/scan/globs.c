/* globs.c - see globs.h. The first braces of a glob are replaced by each of their parts, and what that gives is written
 * in the same way. */
#include "globs.h"

#include "engine/base/array.h"

#include <string.h>

typedef struct {
    myth_mem *mem;
    const char *glob; /* as given */
    bool is_negative;
    char *out;
    size_t n, cap;
    uint32_t n_pattern; /* of this glob */
    myth_error *err;
} writer;

static myth_status no_room(const writer *w)
{
    return myth_fail(w->err, MYTH_ENOMEM, "no room for the patterns of the glob '%.80s'", w->glob);
}

/* Behind the element at s: an escaped byte, a class, or one byte. NULL: the class has no end. A ] that comes first in a
 * class is a byte of it. */
static const char *after(const char *s)
{
    if (*s == '\\' && s[1])
        return s + 2;
    if (*s != '[')
        return s + 1;
    s += 1 + (s[1] == '!' || s[1] == '^');
    for (bool is_first = true; *s && (is_first || *s != ']'); is_first = false) {
        const char *end = s[0] == '[' && s[1] == ':' ? strchr(s + 2, ']') : NULL;
        s = end && end > s + 2 && end[-1] == ':' ? end + 1 : s + (*s == '\\' && s[1] ? 2 : 1);
    }
    return *s ? s + 1 : NULL;
}

/* The } of the { at s, or NULL. Every class in between has its end. */
static const char *end_of_braces(const char *s)
{
    int depth = 0;
    for (; *s; s = after(s)) {
        depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
        if (!depth)
            return s;
    }
    return NULL;
}

static myth_status put_pattern(writer *w, const char *text, bool is_written_out)
{
    /* What braces give is never a comment, nor an exclusion, and an empty pattern matches nothing, as "/" does. */
    const bool is_literal = is_written_out && !w->is_negative && (text[0] == '#' || text[0] == '!');
    const char *before = w->is_negative ? "!" : is_literal ? "\\" : "", *whole = *text || !is_written_out ? text : "/";
    const size_t n_before = strlen(before), n = strlen(whole);
    if (w->n_pattern++ == MYTH_GLOB_PATTERNS)
        return myth_fail(w->err, MYTH_ELIMIT, "the braces of the glob '%.80s' stand for more than %d patterns", w->glob,
                         MYTH_GLOB_PATTERNS);
    if (!MYTH_ARRAY_MORE(w->mem, MYTH_MEM_OTHER, "globs", &w->out, w->n, n_before + n + 1, &w->cap))
        return no_room(w);
    memcpy(w->out + w->n, before, n_before);
    memcpy(w->out + w->n + n_before, whole, n);
    w->n += n_before + n;
    w->out[w->n++] = '\n';
    return MYTH_OK;
}

static myth_status put_glob(writer *w, const char *text, int depth)
{
    myth_status st = MYTH_OK;
    const char *open = text, *part, *close;
    while (*open && *open != '{')
        open = after(open);
    if (!*open)
        return put_pattern(w, text, depth > 0);
    close = end_of_braces(open);
    if (depth == MYTH_GLOB_BRACES)
        return myth_fail(w->err, MYTH_ELIMIT, "the glob '%.80s' has more than %d pairs of braces", w->glob,
                         MYTH_GLOB_BRACES);
    const size_t n_before = (size_t)(open - text), n_after = strlen(close + 1);
    char *one = myth_alloc(w->mem, MYTH_MEM_OTHER, "globs", strlen(text) + 1);
    if (!one)
        return no_room(w);
    memcpy(one, text, n_before);
    part = open + 1;
    for (const char *s = part; st == MYTH_OK && s <= close;) {
        if (*s == '{') {
            s = end_of_braces(s) + 1;
        } else if (*s != ',' && s != close) {
            s = after(s);
        } else {
            memcpy(one + n_before, part, (size_t)(s - part));
            memcpy(one + n_before + (s - part), close + 1, n_after + 1);
            st = put_glob(w, one, depth + 1);
            part = ++s;
        }
    }
    myth_free(w->mem, one);
    return st;
}

/* MYTH_EARG unless all brackets and braces have their ends. */
static myth_status check(const writer *w)
{
    for (const char *s = w->glob; *s;) {
        const char *next = after(s);
        if (!next)
            return myth_fail(w->err, MYTH_EARG,
                             "the glob '%.80s' has a [ without its ]; close it, or write \\[ for the sign", w->glob);
        s = next;
    }
    int depth = 0;
    for (const char *s = w->glob; *s; s = after(s))
        depth += *s == '{' ? 1 : *s == '}' && depth ? -1 : 0;
    if (depth)
        return myth_fail(w->err, MYTH_EARG,
                         "the glob '%.80s' has a { without its }; close it, or write \\{ for the sign", w->glob);
    return MYTH_OK;
}

myth_status myth_globs_write(char **text, size_t *n_text, myth_mem *mem, const char *const *globs, myth_error *err)
{
    myth_status st = MYTH_OK;
    writer w = {.mem = mem, .err = err};
    for (size_t i = 0; globs[i]; i++) {
        w.glob = globs[i];
        w.is_negative = globs[i][0] == '!';
        w.n_pattern = 0;
        MYTH_TRY(check(&w));
        MYTH_TRY(put_glob(&w, globs[i] + w.is_negative, 0));
    }
    *text = w.out;
    *n_text = w.n;
    return MYTH_OK;
fail:
    myth_free(mem, w.out);
    return st;
}
