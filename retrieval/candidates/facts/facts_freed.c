/* facts_freed.c - facts about what is used after it was released: `released` on some way to the use, `freed` on each.
 */
#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include <ctype.h>
#include <string.h>

/* Whether an argument gets a value by the macro that it is given to: list_for_each(p, all). */
static bool is_set_by_macro(const myth_flow *f, uint32_t e)
{
    for (uint32_t i = e + 1; f->event[e].kind == MYTH_EVENT_ARG && i < f->n_event && i < e + 64; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].value == MYTH_VALUE_OUT &&
            f->event[i].off == f->event[e].off)
            return !f->event[i].is_through;
    return false;
}

/* Whether call c gets the value of the path as an argument, and not its address. */
static bool gets_value(const myth_flow *f, uint32_t c, uint32_t path)
{
    for (uint32_t i = c + 1; i < f->n_event && i < c + 64 && f->event[i].off < f->event[c].end; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == c && f->event[i].path == path)
            return !f->event[i].is_through;
    return false;
}

/* Whether event x writes a new text into the path, an array. */
static bool is_filled_again(const myth_flow *f, const myth_event *x, uint32_t path)
{
    static const char *const word[] = {"printf", "cpy", "cat", "read", "PRINTF", "COPY"};
    if (x->kind != MYTH_EVENT_ARG || x->path != path || x->index != 0 || !f->path[path].is_array)
        return false;
    return myth_flow_has_one_of(f->names + x->name, word, sizeof(word) / sizeof(*word));
}

/* Whether a call makes its receiver usable again. */
static bool reopens(const myth_flow *f, const myth_event *call)
{
    static const char *const name[] = {"open", "connect", "reopen", "start", "reset", "init", "Open", "Connect"};
    const char *dot = call->path ? strrchr(f->names + call->name, '.') : NULL;
    return dot && myth_flow_is_one_of(dot + 1, name, sizeof(name) / sizeof(*name));
}

/* Whether a function of the file, called by event c, releases its argument in some cases only, and the function leaves
 * in a branch that its result decides, before event `to`: if (put(p) < 0) return NULL; return p. */
static bool fails_where_released(const myth_facts *k, uint32_t c, const myth_event *to)
{
    const myth_flow *f = k->flow;
    const myth_file_parameter *does = f->event[c].test ? myth_facts_summary(k, c, 0) : NULL;
    if (!does || !myth_fact_lists_has(&does->may, k->list) || myth_fact_lists_has(&does->sure, k->list))
        return false;
    const uint32_t then = myth_facts_outermost(f, &f->event[c])->then;
    return then && f->scope[then].leaves == MYTH_LEAVES_FUNCTION && to->off > f->scope[then].end;
}

int myth_fact_released(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *to = myth_facts_event(k, e);
    if (!to->path || is_set_by_macro(f, e))
        return 0;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path && myth_flow_is_part(f, to->path, d->path) &&
            myth_flow_reaches(f, i, e))
            return 0;
        const bool is_open_again =
            d->kind == MYTH_EVENT_CALL && d->path && myth_flow_is_part(f, to->path, d->path) && reopens(f, d);
        if (is_open_again || (i < e && is_filled_again(f, d, to->path)))
            return 0;
        if (d->kind == MYTH_EVENT_CALL && fails_where_released(k, i, to))
            continue;
        for (uint32_t p = to->path, up = 0; p && up < 8; p = f->path[p].base, up++)
            if (d->kind == MYTH_EVENT_CALL && !d->is_guarded && (d->end < to->off || to->end < d->off) &&
                myth_facts_releases_whole(k, i, p) && myth_flow_reaches(f, i, e) &&
                !myth_flow_defines_again(f, i, e, p)) { /* not what is put off: defer file.Close() */
                if (to->kind == MYTH_EVENT_ARG && to->is_through && p == to->path && gets_value(f, i, p))
                    return 0; /* free(p); read_into(&p) */
                k->at_line = d->line;
                return 1;
            }
    }
    return 0;
}

/* Whether call c for sure releases the path, which it gets by its value and as its only argument. */
static bool surely_releases(const myth_facts *k, uint32_t c, uint32_t path)
{
    const myth_flow *f = k->flow;
    const TSNode list = myth_roles_child(f->roles, f->event[c].node, MYTH_SLOT_ARGUMENTS);
    if (ts_node_is_null(list) || ts_node_named_child_count(list) != 1)
        return false;
    for (uint32_t i = c + 1; i < f->n_event && i < c + 8 && f->event[i].off < f->event[c].end; i++) {
        const myth_event *a = &f->event[i];
        if (a->kind != MYTH_EVENT_ARG || a->call != c || a->path != path || a->is_through)
            continue;
        const myth_file_name *n = myth_file_facts_find(k->file, f->names + f->event[c].name);
        const myth_file_parameter *does = myth_facts_summary(k, c, 0);
        return does ? myth_fact_lists_has(&does->sure, k->list) : !n || !n->first;
    }
    return false;
}

/* Whether the value behind the path is used as one that releasing may have changed: free_it(pp) and then *pp. */
static bool is_pointer_to(const myth_flow *f, uint32_t e, uint32_t path)
{
    for (uint32_t i = e; i < f->n_event && i < e + 8; i++)
        if (f->event[i].path && f->path[f->event[i].path].base == path &&
            f->names[f->path[f->event[i].path].text] == '*')
            return true;
    return false;
}

/* Whether a line between two events begins at the margin, in a function whose lines do not: macros that begin and end
 * functions were read as one. */
static bool is_other_function(const myth_flow *f, uint32_t a, uint32_t b)
{
    const uint32_t from = f->event[a].off, to = f->event[b].off;
    if (from == 0 || to > f->n_text || f->text[from - 1] == '\n')
        return false;
    for (uint32_t i = from; i + 1 < to && i + 1 < f->n_text; i++)
        if (f->text[i] == '\n' && f->text[i + 1] == '#')
            return true; /* the one may be in a program without the other */
        else if (f->text[i] == '\n' && isalpha((unsigned char)f->text[i + 1])) {
            const char *end = memchr(f->text + i + 1, '\n', to - i - 1);
            const uint32_t stop = end ? (uint32_t)(end - f->text) : to;
            if (f->text[stop - 1] != ':')
                return true;
        }
    return false;
}

/* Whether call c gives up a reference that may be the last one, by its name and as the file defines it, and the
 * function has not taken one of its own before. */
static bool drops_reference(const myth_facts *k, uint32_t c, uint32_t path)
{
    static const char *const up[] = {"unref", "Unref", "UnRef", "decref", "release", "Release", "_put", "deref"};
    static const char *const takes[] = {"ref", "Ref", "retain", "hold", "_get", "grab", "acquire", "pin"};
    const myth_flow *f = k->flow;
    const myth_file_parameter *does = myth_facts_summary(k, c, 0);
    if (!does || !myth_fact_lists_has(&does->may, k->list) || does->is_kept || f->event[c].test ||
        !myth_flow_has_one_of(f->names + f->event[c].name, up, sizeof(up) / sizeof(*up)))
        return false;
    bool is_given = false;
    for (uint32_t i = 0; i < f->n_event && f->event[i].off < f->event[c].end; i++) {
        const myth_event *a = &f->event[i];
        if (a->kind != MYTH_EVENT_ARG || a->path != path)
            continue;
        if (a->call == c)
            is_given = a->index == 0 && !a->is_through;
        else if (myth_flow_has_one_of(f->names + f->event[a->call].name, takes, sizeof(takes) / sizeof(*takes)))
            return false;
    }
    return is_given;
}

enum { FREED_NO, FREED_YES, FREED_COUNTED };

int myth_fact_freed(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *to = myth_facts_event(k, e);
    if (!to->path || (to->kind == MYTH_EVENT_ARG && to->is_through) || is_pointer_to(f, e, to->path) ||
        is_set_by_macro(f, e))
        return FREED_NO;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path && myth_flow_is_part(f, to->path, d->path))
            return FREED_NO;
        for (uint32_t p = to->path, up = 0; d->kind == MYTH_EVENT_CALL && p && up < 8; p = f->path[p].base, up++)
            if (!d->is_guarded && d->end < to->off && myth_facts_releases(k, i, p) && surely_releases(k, i, p) &&
                myth_flow_is_inside(f, to->scope, d->scope) && myth_flow_reaches(f, i, e)) {
                if (is_other_function(f, i, e))
                    return FREED_NO;
                k->at_line = d->line;
                return FREED_YES;
            } else if (d->kind == MYTH_EVENT_CALL && !d->is_guarded && d->end < to->off && drops_reference(k, i, p) &&
                       myth_flow_is_inside(f, to->scope, d->scope) && myth_flow_reaches(f, i, e)) {
                k->at_line = d->line;
                return is_other_function(f, i, e) ? FREED_NO : FREED_COUNTED;
            }
    }
    return FREED_NO;
}
