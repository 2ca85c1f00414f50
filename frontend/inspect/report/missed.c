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
    const struct {
        uint32_t n;
        const char *kind, *of;
    } part[] = {
        {l->n_generated, "generated ", ""},
        {l->n_copied, "", " copied from other projects"},
        {l->n_other, "", " of documents or data"},
    };
    enum { N_PART = sizeof(part) / sizeof(part[0]) };
    uint32_t left = 0;
    int n = 0;
    dst[0] = '\0';
    for (int i = 0; i < N_PART; i++)
        left += part[i].n > 0;
    for (int i = 0; i < N_PART; i++) {
        if (part[i].n == 0)
            continue;
        left--;
        n += snprintf(dst + n, MYTH_LEFT_OUT_CAP - (size_t)n, "%u %sfile%s%s%s", part[i].n, part[i].kind,
                      part[i].n == 1 ? "" : "s", part[i].of,
                      left > 1    ? ", "
                      : left == 1 ? " and "
                                  : " not inspected; --include takes them in");
    }
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
