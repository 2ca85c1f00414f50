/* join_lines.c - see join_lines.h. */
#include "join_lines.h"

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
