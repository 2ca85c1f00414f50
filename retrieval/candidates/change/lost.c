/* lost.c - see change.h. */
#include "change_impl.h"

bool myth_change_replaces(const myth_flow *f, uint32_t t)
{
    const uint32_t root = myth_change_root(f, &f->event[t]), then = root ? f->test[root - 1].then : 0;
    if (root && f->test[root - 1].is_loop)
        return false;
    for (uint32_t i = t + 1; then && i < f->n_event && f->event[i].off < f->scope[then].end; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == f->event[t].path &&
            f->event[i].off >= f->scope[then].off)
            return true;
    return false;
}

bool myth_change_guards(const myth_flow *f, uint32_t t, uint32_t u)
{
    const myth_event *at = &f->event[t], *use = &f->event[u];
    const uint32_t root = myth_change_root(f, at);
    if (!root || u <= t)
        return false;
    const myth_test *test = &f->test[root - 1];
    if (use->off >= test->off && use->end <= test->end) /* the rest of a && b */
        return test->is_chain || (at->test && f->test[at->test - 1].is_chain);
    if (test->then && myth_flow_is_inside(f, use->scope, test->then))
        return true;
    if (test->other && myth_flow_is_inside(f, use->scope, test->other))
        return true;
    if (!myth_flow_is_inside(f, use->scope, at->scope) || use->off < test->end)
        return false;
    if (test->is_assert)
        return true;
    if (myth_change_replaces(f, t))
        return true;
    const uint32_t branch[] = {test->then, test->other};
    for (int i = 0; i < 2; i++) {
        const myth_scope *s = branch[i] ? &f->scope[branch[i]] : NULL;
        if (!s || use->off < s->end)
            continue;
        if (s->leaves == MYTH_LEAVES_FUNCTION || (s->leaves == MYTH_LEAVES_TO_LABEL && use->off < s->label_off))
            return true;
        if (s->leaves == MYTH_LEAVES_LOOP && s->loop && myth_flow_is_inside(f, use->scope, s->loop))
            return true;
    }
    return false;
}

bool myth_change_defines(const myth_flow *f, uint32_t e, uint32_t path)
{
    const myth_event *d = &f->event[e];
    return d->kind == MYTH_EVENT_DEFINE && d->path && myth_flow_is_part(f, path, d->path);
}

bool myth_change_lost(myth_flow *now, myth_flow *old)
{
    myth_aligned a;
    bool is_aligned;
    bool is_good = myth_aligned_open(&a, &is_aligned, old, now);
    if (is_good && is_aligned) /* also where the same events stand in other branches */
        is_good = myth_change_tests(&a) && myth_change_calls(&a);
    myth_aligned_close(&a);
    return is_good;
}
