/* missed.c - a growing list of missed code. Each row has one allocation for both of its strings. */
#include "missed.h"
#include "engine/base/array.h"

#include <stdio.h>
#include <string.h>

static myth_status no_memory(myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "no memory for the list of what was not inspected");
}

myth_status myth_missed_add(myth_missed_list *l, const char *path, uint32_t first, uint32_t last, const char *why,
                            myth_error *err)
{
    const size_t n_path = strlen(path) + 1, n_why = strlen(why) + 1;
    if (!MYTH_ARRAY_ROOM(l->mem, MYTH_MEM_OTHER, "not inspected", &l->row, l->n, &l->cap))
        return no_memory(err);
    char *text = myth_alloc(l->mem, MYTH_MEM_OTHER, "not inspected", n_path + n_why);
    if (!text)
        return no_memory(err);
    memcpy(text, path, n_path);
    memcpy(text + n_path, why, n_why);
    l->row[l->n++] = (myth_missed){.path = text, .first = first, .last = last, .why = text + n_path};
    return MYTH_OK;
}

void myth_missed_free(myth_missed_list *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        myth_free(l->mem, (char *)(uintptr_t)l->row[i].path);
    if (l->mem)
        myth_free(l->mem, l->row);
    *l = (myth_missed_list){.mem = l->mem};
}

bool myth_left_out_any(const myth_left_out *l) { return l->n_generated || l->n_copied || l->n_other || l->n_nested; }

void myth_left_out_text(const myth_left_out *l, char dst[MYTH_LEFT_OUT_CAP])
{
    int n = 0;
    dst[0] = '\0';
    if (l->n_generated || l->n_copied || l->n_other)
        n = snprintf(dst, MYTH_LEFT_OUT_CAP,
                     "%u generated file%s, %u copied from other projects and %u of documents and data not inspected; "
                     "--include takes them in",
                     l->n_generated, l->n_generated == 1 ? "" : "s", l->n_copied, l->n_other);
    if (l->n_nested)
        snprintf(dst + n, MYTH_LEFT_OUT_CAP - (size_t)n,
                 "%s%u submodule%s or other nested repositor%s not entered; inspect %s alone", n ? "; " : "",
                 l->n_nested, l->n_nested == 1 ? "" : "s", l->n_nested == 1 ? "y" : "ies",
                 l->n_nested == 1 ? "it" : "each");
}

bool myth_missed_is_language(const myth_missed *m)
{
    return !strcmp(m->why, MYTH_MISSED_NO_RULES) || !strcmp(m->why, MYTH_MISSED_UNKNOWN);
}
