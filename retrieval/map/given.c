/* given.c - see given.h. */
#define _GNU_SOURCE /* memmem */
#include "given.h"
#include "retrieval/names/module.h"
#include "retrieval/scan/languages.h"
#include "engine/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    bool (*on_given)(void *arg, const myth_given *g);
    void *arg;
    const char *p, *end;
    bool is_done;
} reader;

/* Skips blanks, line breaks, and comments to the end of their line. */
static void skip(reader *r)
{
    for (; r->p < r->end; r->p++) {
        const bool is_comment = *r->p == '#' || (*r->p == '/' && r->end - r->p > 1 && r->p[1] == '/');
        if (is_comment)
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        else if (*r->p == '/' && r->end - r->p > 1 && r->p[1] == '*') {
            const char *close = memmem(r->p, (size_t)(r->end - r->p), "*/", 2);
            r->p = close ? close + 1 : r->end - 1;
        } else if (!isspace((unsigned char)*r->p) && *r->p != '\\')
            return;
        if (r->p == r->end)
            return;
    }
}

static bool take(reader *r, const char *sign)
{
    const size_t n = strlen(sign);
    skip(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, sign, n) != 0)
        return false;
    if (myth_is_name_or_dollar(sign[0]) && r->p + n < r->end && myth_is_name_or_dollar(r->p[n]))
        return false;
    r->p += n;
    return true;
}

static size_t take_word(reader *r, const char **word)
{
    skip(r);
    *word = r->p;
    while (r->p < r->end && myth_is_name_or_dollar(*r->p))
        r->p++;
    return (size_t)(r->p - *word);
}

static void give(reader *r, const char *module, const char *name, size_t n)
{
    if (!r->is_done)
        r->is_done = !r->on_given(r->arg, &(myth_given){module, name, n});
}

/* Names with commas between them, each with `as` and another name behind it or not; has_types: with the word `type` in
 * front of it or not. */
static void give_list(reader *r, const char *module, bool has_types)
{
    const char *word;
    for (size_t n; (n = take_word(r, &word)) > 0;) {
        const char *type = word;
        if (has_types && n == 4 && memcmp(type, "type", 4) == 0) {
            const size_t more = take_word(r, &word);
            n = more ? more : n;
            word = more ? word : type;
        }
        give(r, module, word, n);
        if (take(r, "as"))
            take_word(r, &word);
        if (!take(r, ","))
            break;
    }
}

/* A string literal; false when there is none or it is too long. */
static bool take_string(reader *r, char out[MYTH_GIVEN_SPEC])
{
    skip(r);
    const char quote = r->p < r->end ? *r->p : '\0';
    const char *close = quote == '"' || quote == '\'' ? memchr(r->p + 1, quote, (size_t)(r->end - r->p - 1)) : NULL;
    if (!close || close - r->p >= MYTH_GIVEN_SPEC)
        return false;
    snprintf(out, MYTH_GIVEN_SPEC, "%.*s", (int)(close - r->p - 1), r->p + 1);
    r->p = close + 1;
    return true;
}

/* ---- JavaScript ---- */

/* After "export": { a, type b as c } from "m", or * from "m". */
static void read_export(reader *r)
{
    char module[MYTH_GIVEN_SPEC];
    take(r, "type");
    if (take(r, "*")) {
        if (take(r, "from") && take_string(r, module))
            give(r, module, "*", 1);
        return;
    }
    if (!take(r, "{"))
        return;
    const char *list = r->p, *close = memchr(list, '}', (size_t)(r->end - list));
    if (!close)
        return;
    r->p = close + 1;
    if (!take(r, "from") || !take_string(r, module))
        return;
    reader in = {r->on_given, r->arg, list, close, r->is_done};
    give_list(&in, module, true);
    r->is_done = in.is_done;
}

/* module.exports = require("m"), also behind a name or exports = */
static void read_commonjs(reader *r)
{
    char module[MYTH_GIVEN_SPEC];
    const char *line_end = memchr(r->p, '\n', (size_t)(r->end - r->p));
    const size_t n = (size_t)((line_end ? line_end : r->end) - r->p);
    const char *at = memmem(r->p, n, "module.exports", 14);
    if (!at)
        return;
    r->p = at + 14;
    if (take(r, "=") && take(r, "require") && take(r, "(") && take_string(r, module) && take(r, ")"))
        give(r, module, "*", 1);
}

/* ---- Rust ---- */

typedef struct {
    char module[MYTH_GIVEN_DEPTH + 1][MYTH_GIVEN_SPEC];
} prefixes;

/* One branch of a use, whose module so far is x->module[depth]: a::b::{C, d::*, E as F}. */
static void read_use(reader *r, prefixes *x, uint32_t depth)
{
    char *module = x->module[depth];
    size_t len = strlen(module);
    const char *word;
    for (size_t n; (n = take_word(r, &word)) > 0;) {
        if (!take(r, "::")) {
            give(r, module, word, n);
            if (take(r, "as"))
                take_word(r, &word);
            return;
        }
        if (len + n + 3 >= MYTH_GIVEN_SPEC)
            return;
        len += (size_t)snprintf(module + len, MYTH_GIVEN_SPEC - len, "%s%.*s", len ? "::" : "", (int)n, word);
    }
    if (take(r, "*"))
        give(r, module, "*", 1);
    if (depth == MYTH_GIVEN_DEPTH || !take(r, "{"))
        return;
    do {
        memcpy(x->module[depth + 1], module, len + 1);
        read_use(r, x, depth + 1);
    } while (take(r, ","));
    take(r, "}");
}

/* ---- Python ---- */

/* After "from" at the beginning of a line: .x import a, b as c; the list may stand in parentheses. */
static void read_from(reader *r)
{
    char module[MYTH_GIVEN_SPEC];
    const char *from;
    skip(r);
    from = r->p;
    while (r->p < r->end && (myth_is_name_or_dollar(*r->p) || *r->p == '.'))
        r->p++;
    const size_t n_module = (size_t)(r->p - from);
    if (n_module >= sizeof(module) || !take(r, "import"))
        return;
    snprintf(module, sizeof(module), "%.*s", (int)n_module, from);
    if (take(r, "*")) {
        give(r, module, "*", 1);
        return;
    }
    const bool is_long = take(r, "(");
    const char *stop = memchr(r->p, is_long ? ')' : '\n', (size_t)(r->end - r->p));
    reader in = *r;
    in.end = stop ? stop : r->end;
    give_list(&in, module, false);
    r->p = in.p;
    r->is_done = in.is_done;
}

/* After "__all__" at the beginning of a line: = [ "a", "b" ], with = or +=, in brackets or parentheses. */
static void read_all(reader *r)
{
    if (!take(r, "=") && !take(r, "+="))
        return;
    const char close = take(r, "[") ? ']' : take(r, "(") ? ')' : '\0';
    char name[MYTH_GIVEN_SPEC];
    while (close && r->p < r->end && take_string(r, name)) {
        give(r, "", name, strlen(name));
        if (!take(r, ","))
            break;
    }
}

/* ---- lines ---- */

void myth_given_read(const char *path, const char *language, const char *text, size_t n,
                     bool (*on_given)(void *arg, const myth_given *g), void *arg)
{
    const myth_language *l = myth_language_get(language);
    const bool is_rust = l->reexports_with_pub, is_script = l->family == MYTH_FAMILY_JS,
               is_python = l->spelling == MYTH_BY_DOT && l->index && strcmp(l->index, "__init__") == 0;
    const bool is_package = is_python && myth_module_is_package(path);
    if (!is_rust && !is_script && !is_python)
        return;
    reader r = {on_given, arg, text, text + n, false};
    prefixes x;
    while (r.p < r.end && !r.is_done) {
        const char *line = r.p;
        while (r.p < r.end && (*r.p == ' ' || *r.p == '\t') && !is_python)
            r.p++;
        const char first = r.p < r.end ? *r.p : '\n';
        if (is_script && first == 'e' && take(&r, "export"))
            read_export(&r);
        else if (is_script && (first == 'm' || first == 'e'))
            read_commonjs(&r);
        else if (is_rust && first == 'p' && take(&r, "pub") && take(&r, "use")) {
            x.module[0][0] = '\0';
            take(&r, "::");
            read_use(&r, &x, 0);
        } else if (is_package && first == 'f' && take(&r, "from"))
            read_from(&r);
        else if (is_python && first == '_' && take(&r, "__all__"))
            read_all(&r);
        const char *next = memchr(r.p < line ? line : r.p, '\n', (size_t)(r.end - (r.p < line ? line : r.p)));
        r.p = next ? next + 1 : r.end;
    }
}
