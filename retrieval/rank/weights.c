/* weights.c - see weights.h. */
#include "weights.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t off;
    double value;
} table[] = {
#define WEIGHT(name, value, unit, reason) {#name, offsetof(myth_weights_search, name), value},
#include "weights.def"
#undef WEIGHT
};

static double *field(myth_weights_search *w, const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strlen(table[i].name) == n && memcmp(table[i].name, name, n) == 0)
            return (double *)((char *)w + table[i].off);
    return NULL;
}

myth_status myth_weights_search_set(myth_weights_search *out, const char *over, myth_error *err)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        *(double *)((char *)out + table[i].off) = table[i].value;
    for (const char *p = over; p && *p;) {
        size_t n = strcspn(p, ",");
        const char *equals = memchr(p, '=', n);
        double *to = equals ? field(out, p, (size_t)(equals - p)) : NULL;
        if (!to)
            return myth_fail(err, MYTH_EARG, "weights: '%.*s' is not NAME=VALUE with a name of weights.def", (int)n, p);
        char *end;
        *to = strtod(equals + 1, &end);
        if (end == equals + 1 || end != p + n || !isfinite(*to) || *to < 0)
            return myth_fail(err, MYTH_EARG, "weights: '%.*s': expected a number, 0 or more", (int)n, p);
        p += n + (p[n] == ',');
    }
    return MYTH_OK;
}
