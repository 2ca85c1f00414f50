/* lost_tests.c - tests that guarded what stays (change.h). */
#include "change_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include <string.h>

enum {
    NEAR = 2048, /* events that are looked at on each side of a test */
    KNOWN = 8,   /* bytes of a condition that is hardly written twice by chance */
    BEHIND = 8,  /* how far a test may stand behind what it asks for */
    USES = 32    /* most uses of what it is about that are tried */
};

#define N_OF(list) (sizeof(list) / sizeof(*(list)))

/* Words of what says that something is wrong, and of what looks if it is. */
static const char *const error_word[] = {"rror", "ERR", "xception", "fail", "Fail"};
static const char *const check_word[] = {"check", "Check", "alid", "anit", "erify", "safe", "Safe", "ensure", "Ensure"};

/* What stays and what it lost. */
typedef struct {
    myth_lost how;
    int weight; /* of several uses that a test guarded the heaviest counts; 0 = none */
    uint32_t at, path, lost;
} loss;

static bool is_comparison(const myth_event *t) { return t->how >= MYTH_TEST_LESS && t->how <= MYTH_TEST_AT_LEAST; }

/* Whether what follows a test is where its condition does not hold: a branch of it leaves or gives another value. */
static bool is_turned(const myth_flow *f, uint32_t t)
{
    const uint32_t root = myth_change_root(f, &f->event[t]), then = root ? f->test[root - 1].then : 0;
    return then && (f->scope[then].leaves != MYTH_LEAVES_NOT || myth_change_replaces(f, t));
}

/* What a test is for, by its form. */
static myth_lost kind_of(const myth_aligned *a, uint32_t at)
{
    const myth_flow *f = a->old;
    const myth_event *t = &f->event[at];
    if (is_comparison(t)) {
        const bool is_below = (t->how == MYTH_TEST_LESS || t->how == MYTH_TEST_AT_MOST) != is_turned(f, at);
        return is_below ? MYTH_LOST_UPPER : MYTH_LOST_LOWER;
    }
    if (t->how == MYTH_TEST_NULL || t->how == MYTH_TEST_NOT_NULL)
        return MYTH_LOST_NULL;
    if ((t->how == MYTH_TEST_TRUE || t->how == MYTH_TEST_FALSE) && t->path < a->n_path && a->is_reference[t->path])
        return MYTH_LOST_NULL;
    return MYTH_LOST_OTHER;
}

/* Whether a comparison is with 0 or 1. */
static bool is_with_zero(const myth_flow *f, const myth_event *t)
{
    if (!is_comparison(t) || t->value != MYTH_VALUE_NUMBER)
        return false;
    for (uint32_t i = t->off; i < t->end && i < f->n_text; i++)
        if (f->text[i] >= '2' && f->text[i] <= '9')
            return false;
    return true;
}

/* How much the test of a path is needed where event u is; *how becomes what was lost there. */
static int weight_of(const myth_flow *f, const myth_event *t, uint32_t u, myth_lost *how)
{
    const uint32_t path = t->path;
    const myth_event *e = &f->event[u];
    const bool is_it = e->path == path, is_made_of = e->kind == MYTH_EVENT_DEFINE && e->other == path;
    if (e->kind == MYTH_EVENT_DIVIDE && is_it) {
        *how = *how == MYTH_LOST_NULL || *how == MYTH_LOST_OTHER || is_with_zero(f, t) ? MYTH_LOST_ZERO : *how;
        return *how == MYTH_LOST_ZERO ? 4 : 1;
    }
    switch (*how) {
    case MYTH_LOST_NULL:
        return e->kind == MYTH_EVENT_DEREF && is_it                       ? 4
             : e->kind == MYTH_EVENT_ARG && is_it && !e->is_through       ? 2
             : is_made_of && e->is_through && e->value == MYTH_VALUE_PATH ? 2
                                                                          : 0;
    case MYTH_LOST_UPPER:
    case MYTH_LOST_LOWER:
        return e->kind == MYTH_EVENT_INDEX && is_it                 ? 4
             : e->kind == MYTH_EVENT_ARG && is_it && !e->is_through ? 3
             : is_made_of                                           ? 2
             : e->kind == MYTH_EVENT_USE && is_it                   ? 1
                                                                    : 0;
    default:
        return e->kind == MYTH_EVENT_ARG && myth_flow_is_part(f, e->path, path)  ? 3
             : e->kind == MYTH_EVENT_CALL && myth_flow_is_part(f, e->path, path) ? 3
             : is_made_of || (e->kind == MYTH_EVENT_INDEX && is_it)              ? 2
             : e->kind == MYTH_EVENT_USE && is_it                                ? 1
                                                                                 : 0;
    }
}

/* Whether another test of the same kind, which stays, is enough at event u. */
static bool is_covered(const myth_aligned *a, uint32_t t, uint32_t u, myth_lost kind)
{
    const myth_flow *f = a->old;
    const uint32_t path = f->event[t].path;
    uint32_t n = 0;
    for (uint32_t i = t > NEAR ? t - NEAR : 0; i < u + BEHIND && i < a->n_old; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind != MYTH_EVENT_TEST || e->path != path || !a->to_now[i] || i == t)
            continue;
        if (++n > USES)
            return true;
        const myth_lost is = kind_of(a, i);
        const uint32_t root = myth_change_root(f, e);
        if (a->old_key[i] == a->old_key[t] && root && f->event[u].off >= f->test[root - 1].off &&
            f->event[u].end <= f->test[root - 1].end)
            return true; /* it is used in the same condition, which stands twice */
        const bool is_enough = kind == MYTH_LOST_OTHER ? a->old_key[i] == a->old_key[t] : is == kind;
        bool is_lost_between = false;
        for (uint32_t d = i + 1; d < t; d++)
            is_lost_between |= myth_change_defines(f, d, path);
        if (is_enough && !is_lost_between && myth_change_guards(f, i, u))
            return true;
    }
    return false;
}

/* Whether the path is tested by something new, or gets a new value, or something new gets it in events [from, to). */
static bool has_new_about(const myth_aligned *a, uint32_t path, uint32_t from, uint32_t to)
{
    const myth_flow *f = a->now;
    for (uint32_t i = 0; i < to && i < a->n_now; i++) {
        const myth_event *e = &f->event[i];
        if (a->to_old[i])
            continue;
        if (e->kind == MYTH_EVENT_TEST && myth_aligned_about(a, e->path, path))
            return true;
        if (myth_aligned_same(a, path, e->path) &&
            ((e->kind == MYTH_EVENT_ARG || e->kind == MYTH_EVENT_DEFINE) && i >= from))
            return true;
    }
    return false;
}

/* Whether something new is asked where event t of the old flow stood. */
static bool is_replaced(const myth_aligned *a, uint32_t t)
{
    const myth_flow *f = a->now;
    uint32_t after, before;
    myth_aligned_gap(a, t, &after, &before);
    for (uint32_t i = after; i + 1 < before && i < a->n_now; i++)
        if (!a->to_old[i] && (f->event[i].test || f->event[i].kind == MYTH_EVENT_CATCH))
            return true;
    return false;
}

/* Whether nothing new stands where event t of the old flow stood. */
static bool is_bare(const myth_aligned *a, uint32_t t)
{
    uint32_t after, before;
    myth_aligned_gap(a, t, &after, &before);
    return before <= after + 1;
}

/* Whether what the path has at event `at` comes from elsewhere than before, and not from a call as before. */
static bool is_other_value(const myth_aligned *a, uint32_t path, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;) {
        const myth_event *d = &a->now->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && myth_aligned_same(a, path, d->path))
            return !a->to_old[i] && d->value != MYTH_VALUE_CALL;
    }
    return false;
}

/* Whether a branch only says that something is wrong: it leaves, and what it gives back is no work of its own. */
static bool is_refusal(const myth_aligned *a, uint32_t branch)
{
    const myth_flow *f = a->old;
    const myth_scope *s = &f->scope[branch];
    for (uint32_t i = 0; i < a->n_old; i++) {
        const myth_event *e = &f->event[i];
        if (e->off < s->off || e->end > s->end || e->scope != branch || e->kind != MYTH_EVENT_LEAVE)
            continue;
        const bool is_call = e->value == MYTH_VALUE_CALL && e->index != MYTH_ROLE_THROW;
        return !a->to_now[i] && (!is_call || myth_flow_has_one_of(f->text + e->off, error_word, N_OF(error_word)));
    }
    return false;
}

/* Whether a test that is about no reference, bound or divisor keeps event u from being wrong: its branch leaves or
 * gives another value, or both are in one chain. */
static bool is_strict(const myth_aligned *a, uint32_t t, uint32_t u)
{
    const myth_flow *f = a->old;
    const myth_test *test = &f->test[myth_change_root(f, &f->event[t]) - 1];
    return (f->event[u].off >= test->off && f->event[u].end <= test->end) || myth_change_replaces(f, t) ||
           (test->then && is_refusal(a, test->then));
}

/* The heaviest use of what test t is about that it guarded and that stays without it. */
static loss loss_of(const myth_aligned *a, uint32_t t)
{
    const myth_flow *f = a->old;
    const uint32_t path = f->event[t].path;
    const myth_lost kind = kind_of(a, t);
    loss out = {0};
    uint32_t after, before;
    myth_aligned_gap(a, t, &after, &before);
    for (uint32_t u = t + 1, n = 0; u < a->n_old && u < t + NEAR && n < USES && out.weight < 4; u++) {
        myth_lost how = kind;
        const int weight = weight_of(f, &f->event[t], u, &how);
        n += weight > out.weight;
        if (weight > out.weight && a->to_now[u] && (how != MYTH_LOST_OTHER || is_strict(a, t, u)) &&
            myth_change_guards(f, t, u) && !is_covered(a, t, u, kind) &&
            !has_new_about(a, path, after, a->to_now[u] - 1) && !is_other_value(a, path, a->to_now[u] - 1))
            out = (loss){.how = how, .weight = weight, .at = a->to_now[u] - 1, .path = path, .lost = t};
        if (myth_change_defines(f, u, path) && a->to_now[u])
            break;
    }
    return out;
}

/* Whether all of a condition is gone, and nothing stands in its place. */
static bool is_gone(const myth_aligned *a, uint32_t root)
{
    const myth_flow *f = a->old;
    const myth_test *test = &f->test[root - 1];
    for (uint32_t i = 0; i < a->n_old && f->event[i].off < test->end; i++) {
        const myth_event *e = &f->event[i];
        if (e->off >= test->off && (e->kind == MYTH_EVENT_TEST || e->kind == MYTH_EVENT_CALL) &&
            (a->to_now[i] || !is_bare(a, i)))
            return false;
    }
    return true;
}

/* The last definition of the path before event t; n_old = none. */
static uint32_t definition_of(const myth_aligned *a, uint32_t path, uint32_t t)
{
    for (uint32_t i = t; i-- > 0;)
        if (a->old->event[i].kind == MYTH_EVENT_DEFINE && a->old->event[i].path == path)
            return i;
    return a->n_old;
}

/* Whether what a condition asked was made for it by something that is gone, too, and that checks nothing by its name:
 * with a step of the work its failure is gone. */
static bool is_of_gone_step(const myth_aligned *a, uint32_t t)
{
    const myth_flow *f = a->old;
    const uint32_t d = definition_of(a, f->event[t].path, t);
    if (d == a->n_old || a->to_now[d])
        return false;
    return f->event[d].value != MYTH_VALUE_CALL ||
           !myth_flow_has_one_of(f->names + f->event[d].name, check_word, N_OF(check_word));
}

/* What is done whatever a lost condition says, which is about something else: the first call behind. */
static loss guarded_by(const myth_aligned *a, uint32_t root, uint32_t t)
{
    const myth_flow *f = a->old;
    const myth_test *test = &f->test[root - 1];
    if (test->is_loop || test->is_assert || !test->then || test->other || !is_refusal(a, test->then) ||
        is_of_gone_step(a, t))
        return (loss){0};
    for (uint32_t u = t + 1; u < a->n_old && u < t + NEAR; u++) {
        const myth_event *e = &f->event[u];
        if (a->to_now[u] && myth_change_guards(f, t, u) && e->off >= test->end && !is_covered(a, t, u, kind_of(a, t)) &&
            (e->kind == MYTH_EVENT_CALL || e->kind == MYTH_EVENT_DEREF || e->kind == MYTH_EVENT_DEFINE))
            return (loss){
                .how = MYTH_LOST_GUARD, .weight = 1, .at = a->to_now[u] - 1, .path = f->event[t].path, .lost = t};
    }
    return (loss){0};
}

/* Whether the condition stands elsewhere, or the part of it that event t is, if it is long enough to be known again. */
static bool is_moved(const myth_aligned *a, uint32_t root, uint32_t t)
{
    const myth_test *test = &a->old->test[root - 1];
    const myth_event *e = &a->old->event[t];
    return (test->end - test->off >= KNOWN && myth_aligned_moved(a, test->off, test->end)) ||
           (e->end - e->off >= KNOWN && myth_aligned_moved(a, e->off, e->end));
}

/* One condition, from its first event of a test on. */
static bool try_root(myth_aligned *a, uint32_t root, uint32_t first)
{
    const myth_flow *f = a->old;
    loss most = {0};
    for (uint32_t t = first; t < a->n_old && f->event[t].off < f->test[root - 1].end; t++) {
        const myth_event *e = &f->event[t];
        if (e->kind != MYTH_EVENT_TEST || a->to_now[t] || myth_change_root(f, e) != root || !e->path ||
            myth_flow_is_constant_name(f->names + f->path[e->path].text) || is_replaced(a, t) || is_moved(a, root, t))
            continue;
        const loss l = loss_of(a, t);
        if (l.weight > most.weight)
            most = l;
    }
    if (!most.weight && is_gone(a, root) && !is_moved(a, root, first))
        most = guarded_by(a, root, first);
    return !most.weight || myth_aligned_put(a, most.how, most.at, most.path, most.lost);
}

bool myth_change_tests(myth_aligned *a)
{
    const myth_flow *f = a->old;
    uint32_t last = 0; /* the condition that was tried last */
    for (uint32_t t = 0; t < a->n_old; t++) {
        const uint32_t root = f->event[t].kind == MYTH_EVENT_TEST ? myth_change_root(f, &f->event[t]) : 0;
        if (!root || root == last || a->to_now[t])
            continue;
        last = root;
        if (!try_root(a, root, t))
            return false;
    }
    return true;
}
