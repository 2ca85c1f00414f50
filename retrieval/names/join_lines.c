/* join_lines.c - see join_lines.h. */
#define _GNU_SOURCE /* memmem */
#include "join_lines.h"
#include "retrieval/scan/languages.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

size_t myth_join_lines(char *text, size_t n)
{
    size_t at = 0;
    bool has_blank = false, has_end = false; /* since the last character; a line's end among them */
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        if (isspace((unsigned char)c)) {
            has_blank = at > 0;
            has_end |= c == '\n' || c == '\r';
            continue;
        }
        const char after = i + 1 < n ? text[i + 1] : '\n';
        const bool closes = c == ')' || c == ']' || (c == '>' && after != ' ' && after != '=');
        if (has_end && closes && at > 0 && text[at - 1] == ',')
            at--;
        if (has_blank && !(has_end && (closes || strchr("([<", text[at - 1]))))
            text[at++] = ' ';
        text[at++] = c;
        has_blank = has_end = false;
    }
    return at;
}

size_t myth_drop_comments(char *s, size_t n, const char *language)
{
    const uint16_t marks = myth_language_get(language)->marks;
    const bool is_hash = (marks & MYTH_MARK_HASH) && !(marks & MYTH_MARK_SLASH);
    size_t at = 0;
    char quote = 0;
    for (size_t i = 0; i < n; i++) {
        char c = s[i], next = i + 1 < n ? s[i + 1] : '\0';
        if (quote) {
            quote = c == quote || c == '\n' ? '\0' : quote;
        } else if (c == '"' || c == '\'' || c == '`') {
            quote = c;
        } else if (!is_hash && c == '/' && next == '*') {
            const char *end = memmem(s + i + 2, n - i - 2, "*/", 2);
            i = end ? (size_t)(end - s) + 1 : n;
            s[at++] = ' ';
            continue;
        } else if (is_hash ? c == '#' && i > 0 && (s[i - 1] == ' ' || s[i - 1] == '\t') : c == '/' && next == '/') {
            while (i < n && s[i] != '\n')
                i++;
            s[at++] = '\n';
            continue;
        }
        s[at++] = c;
    }
    return at;
}
