/* definition.c - see definition.h. */
#include "definition.h"

#include "engine/base/chars.h"

#include <string.h>

/* Words that may come before the one that begins a definition, of many languages in one list. */
static const char *const modifiers[] = {"public",  "private",  "protected", "internal", "static", "final",  "abstract",
                                        "async",   "export",   "default",   "pub",      "inline", "extern", "const",
                                        "unsafe",  "override", "virtual",   "open",     "data",   "sealed", "partial",
                                        "declare", "local",    "typedef",   "template", NULL};
static const char *const begins[] = {"def",    "class",     "function",  "func",        "fn",     "fun",       "sub",
                                     "struct", "interface", "enum",      "trait",       "module", "namespace", "union",
                                     "record", "protocol",  "procedure", "macro_rules", "define", "impl",      NULL};
/* Words that begin a statement, and operators that are words: a '(' behind one of them is no list of parameters. */
static const char *const statements[] = {
    "if",     "for",  "while", "switch", "return", "else", "elif", "do", "case", "with",   "catch", "assert", "print",
    "import", "from", "raise", "throw",  "not",    "and",  "or",   "in", "new",  "sizeof", "yield", "await",  NULL};

static bool is_one_of(const char *s, size_t n, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == n && memcmp(*list, s, n) == 0)
            return true;
    return false;
}

/* Bytes of the word with which s begins. */
static size_t word_at(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && myth_is_name_or_dollar(s[i]))
        i++;
    return i;
}

/* Bytes to skip before a word. '!' and '#' are skipped too, so that `macro_rules! name` and `#define NAME` are read as
 * a word that begins a definition and its name. */
static size_t blank_at(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '!' || s[i] == '#'))
        i++;
    return i;
}

/* Bytes of "(...)" with which s begins: in Go, the receiver of a method stands between `func` and its name. */
static size_t receiver_at(const char *s, size_t n)
{
    const char *end = n && s[0] == '(' ? memchr(s, ')', n) : NULL;
    return end ? (size_t)(end - s) + 1 : 0;
}

/* Finds the name in a line such as `public static class NAME`. */
static bool by_keyword(const char *s, size_t n, const char **name, size_t *n_name)
{
    for (size_t i = blank_at(s, n), len; i < n && (len = word_at(s + i, n - i)) > 0; i += blank_at(s + i, n - i)) {
        const char *word = s + i;
        i += len;
        if (is_one_of(word, len, modifiers))
            continue;
        if (!is_one_of(word, len, begins))
            return false;
        i += blank_at(s + i, n - i);
        i += receiver_at(s + i, n - i);
        i += blank_at(s + i, n - i);
        *name = s + i;
        *n_name = word_at(s + i, n - i);
        return *n_name > 0 && !(s[i] >= '0' && s[i] <= '9') && !is_one_of(*name, *n_name, begins);
    }
    return false;
}

/* Finds the name in a line such as `static int *NAME(int x) {`, which begins a function in C and languages like it.
 * Code inside functions is indented there, so the line must begin in its first column. */
static bool by_parenthesis(const char *s, size_t n, const char **name, size_t *n_name)
{
    const char *open = memchr(s, '(', n);
    size_t first = word_at(s, n);
    if (first == 0 || !open || s[n - 1] == ';' || s[n - 1] == ',' || is_one_of(s, first, statements))
        return false;
    const char *end = open;
    while (end > s && end[-1] == ' ')
        end--;
    const char *start = end;
    while (start > s && myth_is_name_or_dollar(start[-1]))
        start--;
    for (const char *p = s; p < start; p++) /* only what types and qualified names are made of: else it computes */
        if (!myth_is_name_or_dollar(*p) && *p != ' ' && *p != '*' && *p != '&' && *p != ':' && *p != '<' && *p != '>' &&
            *p != '~')
            return false;
    *name = start;
    *n_name = (size_t)(end - start);
    return start > s && start < end && !(*start >= '0' && *start <= '9') && !is_one_of(start, *n_name, statements);
}

bool myth_definition_next(const char **name, size_t *n_name, const char *text, size_t n, size_t *pos)
{
    while (*pos < n) {
        const char *line = text + *pos, *end = memchr(line, '\n', n - *pos);
        size_t len = end ? (size_t)(end - line) : n - *pos;
        *pos += len + (end != NULL);
        while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
            len--;
        if (len && (by_keyword(line, len, name, n_name) || by_parenthesis(line, len, name, n_name)))
            return true;
    }
    return false;
}
