/* usage_places.c - lists of places: each user of a definition once, with its best reason, in the order they are
 * shown. */
#include "retrieval/scan/kinds.h"
#include "usage_why.h"

#include <stdlib.h>
#include <string.h>

int myth_usage_by_worth(const void *a, const void *b)
{
    const myth_usage_definition *x = a, *y = b;
    uint32_t kx = myth_file_kinds(x->path, x->is_test, false), ky = myth_file_kinds(y->path, y->is_test, false);
    if (kx != ky)
        return kx < ky ? -1 : 1;
    int c = strcmp(x->path, y->path);
    return c                    ? c
         : x->line0 != y->line0 ? (x->line0 > y->line0) - (x->line0 < y->line0)
                                : (x->line > y->line) - (x->line < y->line);
}

bool myth_usage_add_place(myth_mem *mem, myth_usage_places *to, const myth_usage_place *p)
{
    for (uint32_t i = 0; i < to->n; i++) {
        myth_usage_place *old = &to->place[i];
        if (old->file_id != p->file_id || old->line0 != p->line0 || strcmp(old->name, p->name) != 0)
            continue;
        old->n_use++;
        if (p->strength > old->strength) { /* the better reason is shown */
            uint32_t n = old->n_use;
            *old = *p;
            old->n_use = n;
        }
        return true;
    }
    if (to->n == MYTH_USAGE_PLACES) {
        to->n_more++;
        return true;
    }
    if (to->n % 8 == 0) {
        myth_usage_place *place = myth_realloc(mem, MYTH_MEM_OTHER, "usage", to->place, (to->n + 8) * sizeof(*place));
        if (!place)
            return false;
        to->place = place;
    }
    to->place[to->n] = *p;
    to->place[to->n++].n_use = 1;
    return true;
}

static int by_strength(const void *a, const void *b)
{
    const myth_usage_place *x = a, *y = b;
    if (x->strength != y->strength)
        return x->strength > y->strength ? -1 : 1;
    if (x->kind != y->kind) /* calls first */
        return x->kind < y->kind ? -1 : 1;
    int c = strcmp(x->path, y->path);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

void myth_usage_sort_places(myth_usage_places *p)
{
    if (p->n)
        qsort(p->place, p->n, sizeof(*p->place), by_strength);
}
