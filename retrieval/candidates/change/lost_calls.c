/* lost_calls.c - calls that are made no more, or not always, and results that are looked at no more (change.h). */
#include "change_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include <string.h>

enum { NEAR = 32 /* scopes around a call, and calls of one name that are looked at */ };

/* What a call is about: its first argument, else what it is a method of. */
static uint32_t path_of(const myth_flow *f, uint32_t call)
{
    for (uint32_t i = call + 1; i < f->n_event && i < call + 64; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == call && f->event[i].index == 0)
            return f->event[i].path;
    return f->event[call].path;
}

/* Whether something new gets, returns or keeps it. */
static bool is_handed_on(const myth_aligned *a, uint32_t path)
{
    const myth_flow *f = a->now;
    for (uint32_t i = 0; i < a->n_now; i++) {
        const myth_event *e = &f->event[i];
        if (a->to_old[i])
            continue;
        if (e->kind == MYTH_EVENT_ARG || e->kind == MYTH_EVENT_RETURN || e->kind == MYTH_EVENT_CALL) {
            if (myth_aligned_about(a, e->path, path))
                return true;
            for (uint32_t base = a->old->path[path].base; base && e->kind == MYTH_EVENT_ARG;
                 base = a->old->path[base].base)
                if (myth_aligned_same(a, base, e->path))
                    return true;
        } else if (e->kind == MYTH_EVENT_DEFINE && e->other && myth_aligned_same(a, path, e->other))
            return true;
    }
    return false;
}

/* Whether the function calls the same about the same on the way of event `at`. */
static bool is_called_again(const myth_aligned *a, uint32_t call, uint32_t path, uint32_t at)
{
    const myth_flow *f = a->now;
    const char *name = a->old->names + a->old->event[call].name;
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_now; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_CALL || strcmp(f->names + e->name, name) != 0)
            continue;
        const uint32_t p = path_of(f, i);
        if (path && !myth_aligned_same(a, path, p))
            continue;
        if (n++ == NEAR || !a->to_old[i] || (i <= at ? myth_flow_reaches(f, i, at) : myth_flow_reaches(f, at, i)))
            return true;
    }
    return false;
}

/* The event of the new flow that is about the path and stays, the last before where event e stood, else the next behind
 * it; n_now = none. */
static uint32_t what_stays(const myth_aligned *a, uint32_t e, uint32_t path)
{
    const myth_flow *f = a->old;
    for (uint32_t i = e; i-- > 0;)
        if (a->to_now[i] && f->event[i].path && myth_flow_is_part(f, f->event[i].path, path))
            return a->to_now[i] - 1;
    for (uint32_t i = e + 1; i < a->n_old; i++)
        if (a->to_now[i] && f->event[i].path && myth_flow_is_part(f, f->event[i].path, path))
            return a->to_now[i] - 1;
    for (uint32_t base = f->path[path].base; base; base = f->path[base].base)
        for (uint32_t i = 0; i < a->n_old; i++)
            if (a->to_now[i] && f->event[i].path == base)
                return a->to_now[i] - 1;
    return a->n_now;
}

/* The event of the new flow that stands where event e of the old one stood: the next behind it of its branch, else the
 * last before it, else `at`. */
static uint32_t where(const myth_aligned *a, uint32_t e, uint32_t at)
{
    const myth_flow *f = a->old;
    const uint32_t scope = f->event[e].scope;
    for (uint32_t i = e + 1; i < a->n_old && f->event[i].off < f->scope[scope].end; i++)
        if (a->to_now[i] && f->event[i].scope == scope)
            return a->to_now[i] - 1;
    for (uint32_t i = e; scope && i-- > 0 && f->event[i].off >= f->scope[scope].off;)
        if (a->to_now[i] && f->event[i].scope == scope)
            return a->to_now[i] - 1;
    return at;
}

/* Whether what the path got its value from is gone, too. */
static bool is_source_gone(const myth_aligned *a, uint32_t e, uint32_t path)
{
    for (uint32_t i = e; i-- > 0;)
        if (myth_change_defines(a->old, i, path))
            return !a->to_now[i];
    return false;
}

static bool try_lost_call(myth_aligned *a, uint32_t e)
{
    const myth_flow *f = a->old;
    const myth_event *c = &f->event[e];
    const uint32_t path = path_of(f, e);
    if (!(c->is_dropped || c->is_guarded) || !path || myth_aligned_moved(a, c->off, c->end))
        return true;
    const uint32_t at = what_stays(a, e, path);
    if (at == a->n_now || is_source_gone(a, e, path) || is_handed_on(a, path) ||
        is_called_again(a, e, path, where(a, e, at)))
        return true;
    return myth_aligned_put(a, MYTH_LOST_CALL, at, path, e);
}

static uint32_t depth_of(const myth_flow *f, uint32_t scope)
{
    uint32_t n = 0;
    for (; scope; scope = f->scope[scope].parent)
        n++;
    return n;
}

/* Whether call `now` stands in a branch of a condition that stays, which it did not depend on. */
static bool is_narrowed(const myth_aligned *a, uint32_t old, uint32_t now)
{
    const myth_flow *f = a->now;
    uint32_t n = 0;
    if (depth_of(f, f->event[now].scope) <= depth_of(a->old, a->old->event[old].scope))
        return false;
    for (uint32_t s = f->event[now].scope; s && n < NEAR; s = f->scope[s].parent, n++) {
        if (!f->scope[s].test || (f->scope[s].kind != MYTH_SCOPE_THEN && f->scope[s].kind != MYTH_SCOPE_ELSE))
            continue;
        const uint32_t test_no = f->scope[s].test, t = test_no < a->n_first ? a->first[test_no] : 0;
        const uint32_t was = t ? a->to_old[t - 1] : 0;
        const uint32_t root = was ? myth_change_root(a->old, &a->old->event[was - 1]) : 0;
        if (!root)
            continue;
        const myth_test *test = &a->old->test[root - 1];
        const uint32_t scope = a->old->event[old].scope;
        const bool was_inside = (test->then && myth_flow_is_inside(a->old, scope, test->then)) ||
                                (test->other && myth_flow_is_inside(a->old, scope, test->other));
        if (!was_inside && a->old->event[old].off > test->end && !myth_change_guards(a->old, was - 1, old))
            return true;
    }
    return false;
}

/* Whether the result of call e is looked at: in a condition, by what keeps it, or it is returned. */
static bool is_looked_at(myth_flow *f, uint32_t e)
{
    myth_facts k = {.flow = f, .list = -1};
    char name[16];
    if (!myth_fact_value_name(MYTH_FACT_result, myth_fact(&k, MYTH_FACT_result, e), name))
        return false;
    if (strcmp(name, "tested") == 0 || strcmp(name, "returned") == 0)
        return true;
    return strcmp(name, "assigned") == 0 &&
           myth_fact_value_name(MYTH_FACT_checked, myth_fact(&k, MYTH_FACT_checked, e), name) &&
           (strcmp(name, "tested") == 0 || strcmp(name, "returned") == 0);
}

/* Whether both calls are written with the same words. */
static bool is_same_text(const myth_aligned *a, uint32_t old, uint32_t now)
{
    const myth_event *x = &a->old->event[old], *y = &a->now->event[now];
    return x->end - x->off == y->end - y->off && x->end <= a->old->n_text && y->end <= a->now->n_text &&
           memcmp(a->old->text + x->off, a->now->text + y->off, x->end - x->off) == 0;
}

static bool try_kept_call(myth_aligned *a, uint32_t e)
{
    const uint32_t now = a->to_now[e] - 1, path = path_of(a->old, e);
    const myth_event *c = &a->old->event[e], *n = &a->now->event[now];
    if (n->is_dropped && !c->is_dropped && is_same_text(a, e, now) && is_looked_at(a->old, e))
        return myth_aligned_put(a, MYTH_LOST_CHECK, now, path, e);
    if (c->is_dropped && n->is_dropped && path && is_narrowed(a, e, now))
        return myth_aligned_put(a, MYTH_LOST_NARROWED, now, path, e);
    return true;
}

bool myth_change_calls(myth_aligned *a)
{
    for (uint32_t e = 0; e < a->n_old; e++) {
        if (a->old->event[e].kind != MYTH_EVENT_CALL)
            continue;
        if (!(a->to_now[e] ? try_kept_call(a, e) : try_lost_call(a, e)))
            return false;
    }
    return true;
}
