/* flow_branches.c - what of a function is not in every program: the branches of #if, #elif and #else (flow.h). They are
 * read off the text, because the parser's worker leaves these lines out of a file that it cannot read with them. */
#include "flow_impl.h"

#include "engine/base/array.h"

#include <string.h>

enum { MOST_DEPTH = 16 };

/* Begins a branch of a group; its number, UINT32_MAX = there are too many. */
static uint32_t begin_branch(myth_flow *f, uint32_t off, uint32_t group)
{
    if (f->is_failed || f->n_branch >= MYTH_FLOW_BRANCHES)
        return UINT32_MAX;
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "branches of a flow", &f->branch, f->n_branch, &f->cap_branch)) {
        f->is_failed = true;
        return UINT32_MAX;
    }
    f->branch[f->n_branch] = (myth_branch){off, f->end, group};
    return f->n_branch++;
}

static void end_branch(myth_flow *f, uint32_t number, uint32_t off)
{
    if (number < f->n_branch)
        f->branch[number].end = off;
}

void myth_flow_branches(myth_flow *f)
{
    uint32_t open[MOST_DEPTH], depth = 0, n_group = 0;
    f->n_branch = 0;
    if (f->is_file || !f->roles->has_alternatives || f->end > f->n_text)
        return;
    const char *const end = f->text + f->end;
    for (const char *p = f->text + f->off; p < end && depth < MOST_DEPTH;) {
        const char *hash = memchr(p, '#', (size_t)(end - p));
        if (!hash)
            return;
        const char *line = hash;
        while (line > f->text && (line[-1] == ' ' || line[-1] == '\t'))
            line--;
        p = hash + 1;
        if (line > f->text && line[-1] != '\n')
            continue;
        const uint32_t off = (uint32_t)(hash - f->text);
        if (myth_flow_is_directive(hash, end, "if")) {
            open[depth++] = begin_branch(f, off, ++n_group);
        } else if (depth > 0 && myth_flow_is_directive(hash, end, "el")) {
            const uint32_t before = open[depth - 1];
            end_branch(f, before, off);
            open[depth - 1] = before < f->n_branch ? begin_branch(f, off, f->branch[before].group) : UINT32_MAX;
        } else if (depth > 0 && myth_flow_is_directive(hash, end, "endif"))
            end_branch(f, open[--depth], off);
    }
}

static bool is_in(const myth_branch *b, uint32_t off) { return off >= b->off && off < b->end; }

bool myth_flow_is_alternative(const myth_flow *f, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < f->n_branch; i++)
        for (uint32_t j = 0; is_in(&f->branch[i], a) && j < f->n_branch; j++)
            if (i != j && f->branch[j].group == f->branch[i].group && is_in(&f->branch[j], b))
                return true;
    return false;
}

bool myth_flow_is_optional(const myth_flow *f, uint32_t x, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < f->n_branch; i++)
        if (is_in(&f->branch[i], x) && !(is_in(&f->branch[i], a) && is_in(&f->branch[i], b)))
            return true;
    return false;
}
