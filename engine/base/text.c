/* text.c - numbers in text. strtod reads the point of the process's locale, which a host program may have set: '.' is
 * replaced by it, and what else that locale takes for a point ends the number. */
#include "text.h"

#include <locale.h>
#include <stdlib.h>

double myth_text_number(const char *text, const char **end)
{
    enum { MOST = 63, POINT_MOST = 16 };
    char copy[MOST + POINT_MOST + 1], *stop;
    const char *point = localeconv()->decimal_point;
    const size_t n_point = strlen(point);
    size_t n = strspn(text, "+-.0123456789eE"), at = 0, k = 0; /* at: where the point is, when it is one */
    n = n < MOST ? n : MOST;
    while (at < n && text[at] != '.')
        at++;
    if (n_point >= POINT_MOST) /* no locale has such a point */
        n = at;
    for (size_t i = 0; i < n; i++) {
        if (i == at) {
            memcpy(copy + k, point, n_point);
            k += n_point;
        } else {
            copy[k++] = text[i];
        }
    }
    copy[k] = '\0';
    const double v = strtod(copy, &stop);
    const size_t read = (size_t)(stop - copy);
    *end = text + (read > at ? read + 1 - n_point : read);
    return v;
}
