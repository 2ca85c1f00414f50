/* secrets_impl.h - what the detectors of secrets.c and secrets_command.c share: classes of bytes, borders of words, and
 * values that are placeholders. */
#ifndef MYTH_INSPECT_SECRETS_IMPL_H
#define MYTH_INSPECT_SECRETS_IMPL_H

#include "secrets.h"

#include <string.h>

typedef struct {
    const char *p;
    size_t n;
} text;

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool is_alpha(char c) { return is_lower(c) || is_upper(c); }
static inline bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
static inline bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
static inline char lower(char c) { return is_upper(c) ? (char)(c + 32) : c; }

static inline bool has_at(text t, size_t i, const char *word)
{
    size_t n = strlen(word);
    return i <= t.n && t.n - i >= n && !memcmp(t.p + i, word, n);
}

static inline bool has_at_any_case(text t, size_t i, const char *word)
{
    for (; *word; word++, i++)
        if (i >= t.n || lower(t.p[i]) != *word)
            return false;
    return true;
}

static inline bool has_digit(const char *p, size_t n)
{
    while (n && !is_digit(p[n - 1]))
        n--;
    return n > 0;
}

/* Whether a word can begin at i. The letter of an escape (\n) is not part of the word after it. */
static inline bool is_border(text t, size_t i)
{
    return i == 0 || !is_alnum(t.p[i - 1]) || (i > 1 && t.p[i - 2] == '\\');
}

static inline bool found(myth_secret *out, myth_secret_kind kind, size_t off, size_t len)
{
    *out = (myth_secret){.off = (uint32_t)off, .len = (uint32_t)len, .kind = kind};
    return true;
}

/* Whether a value is not a secret: one byte repeated, a placeholder, or a word such as "none". */
static inline bool is_blank_value(const char *p, size_t n)
{
    static const char *const word[] = {"password", "passwd",    "secret",  "token",    "true",     "false",    "null",
                                       "none",     "string",    "text",    "hidden",   "required", "optional", "bearer",
                                       "basic",    "undefined", "example", "redacted", "changeme", "changeit", "str",
                                       "bytes",    "utf-8",     "utf8",    "ascii",    "latin-1"};
    size_t same = 1;
    while (same < n && p[same] == p[0])
        same++;
    if (same == n || p[0] == '$' || p[0] == '%' || p[0] == '<' || p[0] == '{' ||
        (n > 10 && !memcmp(p, "[REDACTED:", 10)))
        return true;
    for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
        if (strlen(word[k]) == n && has_at_any_case((text){p, n}, 0, word[k]))
            return true;
    return false;
}

/* In secrets_command.c: whether the value of a command's password flag begins at text[i]. */
bool myth_secret_find_flag(myth_secret *out, const char *bytes, size_t len, size_t i);

#endif
