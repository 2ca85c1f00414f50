/* template.c - texts with ${name} in them: return slips and the card in the box. */
#include "template.h"

#include <stdlib.h>
#include <string.h>

struct template {
    char *source;
    char *name;
};

template *template_new(const char *name, const char *source)
{
    template *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->name = strdup(name);
    t->source = strdup(source);
    if (!t->name || !t->source) {
        free(t->name);
        free(t->source);
        free(t);
        return NULL;
    }
    return t;
}

void template_free(template *t)
{
    if (!t)
        return;
    free(t->source);
    free(t->name);
    free(t);
}

/* Replaces the source. On failure the template is as before. */
int template_replace(template *t, const char *source)
{
    char *copy = strdup(source);
    if (!copy) {
        free(t->source);
        return -1;
    }
    free(t->source);
    t->source = copy;
    return 0;
}

static const char *value_of(const template_value *v, size_t n, const char *name, size_t n_name)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(v[i].name) == n_name && memcmp(v[i].name, name, n_name) == 0)
            return v[i].value;
    return NULL;
}

/* Bytes needed without the NUL; at most cap - 1 are written. An unknown name stays as it is. */
size_t template_render(const template *t, char *dst, size_t cap, const template_value *v, size_t n)
{
    size_t used = 0;
    for (const char *p = t->source; *p;) {
        const char *piece = p, *close;
        size_t len = 1;
        if (p[0] == '$' && p[1] == '{' && (close = strchr(p, '}'))) {
            const char *value = value_of(v, n, p + 2, (size_t)(close - p - 2));
            len = (size_t)(close - p) + 1;
            p += len;
            if (value) {
                piece = value;
                len = strlen(value);
            }
        } else {
            p++;
        }
        for (size_t i = 0; i < len; i++, used++)
            if (used + 1 < cap)
                dst[used] = piece[i];
    }
    if (cap > 0)
        dst[used < cap ? used : cap - 1] = '\0';
    return used;
}
