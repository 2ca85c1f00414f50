/* exported.c - see exported.h. */
#define _GNU_SOURCE /* memmem */
#include "exported.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"

#include <ctype.h>
#include <string.h>

bool myth_symbols_has_word(const myth_symbols *s, uint32_t off, uint32_t end, const char *word)
{
    size_t n = strlen(word);
    const char *p = myth_symbols_text(s, off), *stop = myth_symbols_text(s, end);
    for (; (size_t)(stop - p) >= n; p++)
        if (memcmp(p, word, n) == 0 && (p == myth_symbols_text(s, off) || !myth_is_word_or_dollar(p[-1])) &&
            (p + n == stop || !myth_is_word_or_dollar(p[n])))
            return true;
    return false;
}

bool myth_def_is_class(const myth_def *d)
{
    return d->kind == MYTH_SYMBOL_CLASS || d->kind == MYTH_SYMBOL_TYPE || d->kind == MYTH_DEF_SCOPE;
}

static void add_given(myth_symbols *s, const char *name)
{
    if (s->n_given < sizeof(s->given) / sizeof(s->given[0]))
        s->given[s->n_given++] = (uint32_t)(name - (const char *)s->cut->text);
}

/* Where the name begins that gets the same value as what is written at p; NULL: none. */
static const char *assigned_before(const char *text, const char *p)
{
    while (p > text && (myth_is_word_or_dollar(p[-1]) || p[-1] == '.'))
        p--;
    while (p > text && p[-1] == ' ')
        p--;
    if (p - text < 2 || p[-1] != '=' || strchr("=!<>", p[-2]))
        return NULL;
    for (p--; p > text && p[-1] == ' '; p--)
        ;
    const char *end = p;
    while (p > text && myth_is_word_or_dollar(p[-1]))
        p--;
    return p < end ? p : NULL;
}

/* Finds the names of what a file gives away: exports = module.exports = create; exports.Cart = Cart;
 * const proto = module.exports = {}. */
static void find_given(myth_symbols *s)
{
    const char *text = (const char *)s->cut->text, *p = text, *end = text + s->cut->n;
    s->has_given = true;
    while ((p = memmem(p, (size_t)(end - p), "exports", strlen("exports"))) != NULL) {
        const char *before = assigned_before(text, p);
        p += strlen("exports");
        const char *q = p;
        while (q < end && (myth_is_word_or_dollar(*q) || *q == '.' || *q == ' '))
            q++;
        if (q >= end || *q != '=' || (q + 1 < end && q[1] == '='))
            continue;
        for (q++; q < end && myth_is_blank((unsigned char)*q); q++)
            ;
        add_given(s, q);
        if (before)
            add_given(s, before);
    }
}

/* Whether a call that begins its line makes a member of it: defineGetter(req, 'ip', function ip() {}). */
static bool is_named_twice(myth_symbols *s, const myth_def *d, const char *name)
{
    const char *begin = myth_symbols_text(s, (uint32_t)myth_cut_line_start(s->cut, d->off)),
               *p = myth_symbols_text(s, d->off);
    const ptrdiff_t n = (ptrdiff_t)strlen(name);
    return p - begin > n + 4 && myth_is_word_or_dollar(*begin) && memcmp(p - 2, ", ", 2) == 0 && strchr("'\"", p[-3]) &&
           p[-3] == p[-4 - n] && memcmp(p - 3 - n, name, (size_t)n) == 0;
}

/* CommonJS has no word in front of what a file gives away: a member of an object at the top of a file goes where the
 * object goes, and a name is assigned to exports. */
static bool is_given(myth_symbols *s, const myth_def *d, const char *name)
{
    const size_t n = strlen(name);
    if (d->name_off > 5 && *myth_symbols_text(s, d->name_off - 1) == '.')
        return name[0] != '_' && memcmp(myth_symbols_text(s, d->name_off - 5), "this", 4) != 0;
    if (!s->has_given)
        find_given(s);
    for (uint32_t i = 0; i < s->n_given; i++)
        if (s->cut->n - s->given[i] >= n && memcmp(myth_symbols_text(s, s->given[i]), name, n) == 0 &&
            (s->given[i] + n == s->cut->n ||
             !myth_is_word_or_dollar(*myth_symbols_text(s, (uint32_t)(s->given[i] + n)))))
            return true;
    return is_named_twice(s, d, name);
}

bool myth_def_is_exported(myth_symbols *s, const myth_def *d)
{
    const char *name = s->cut->out.names + d->name;
    const myth_def *up = d->enclosing ? &s->def[d->enclosing - 1] : NULL;
    if (d->kind == MYTH_SYMBOL_ROUTE)
        return true;
    if (up && (up->kind == MYTH_SYMBOL_FUNCTION || up->kind == MYTH_SYMBOL_METHOD))
        return false;
    if (up && d->kind == MYTH_SYMBOL_CONSTANT && up->kind == MYTH_SYMBOL_TYPE)
        return up->is_exported;
    uint32_t name_off = d->name_off < d->off ? d->off : d->name_off;
    switch (s->grammar->is->exports) {
    case MYTH_EXPORT_NO_STATIC:
        return (up && myth_def_is_class(up)) || !myth_symbols_has_word(s, d->off, name_off, "static");
    case MYTH_EXPORT_NO_UNDERSCORE: return name[0] != '_';
    case MYTH_EXPORT_UPPER: return isupper((unsigned char)name[0]);
    case MYTH_EXPORT_PUB: return myth_symbols_has_word(s, d->off, name_off, "pub");
    case MYTH_EXPORT_PUBLIC:
        return myth_symbols_has_word(s, d->off, name_off, "public") ||
               myth_symbols_has_word(s, d->off, name_off, "protected");
    case MYTH_EXPORT_NO_PRIVATE:
        return !myth_symbols_has_word(s, d->off, name_off, "private") &&
               !myth_symbols_has_word(s, d->off, name_off, "local");
    case MYTH_EXPORT_EXPORT: {
        uint32_t line = (uint32_t)myth_cut_line_start(s->cut, d->off);
        bool is_public = name[0] != '#' && !myth_symbols_has_word(s, d->off, name_off, "private");
        bool is_member =
            up && (myth_def_is_class(up) || (up->kind == MYTH_SYMBOL_VARIABLE && d->kind == MYTH_SYMBOL_METHOD));
        return myth_symbols_has_word(s, line, name_off, "export") ||
               myth_symbols_has_word(s, line, name_off, "exports") ||
               (up ? is_member && up->is_exported && is_public : is_given(s, d, name));
    }
    case MYTH_EXPORT_TOP: break;
    }
    return !up;
}
