/* change_impl.h - what the files of change/ share. */
#ifndef MYTH_CHANGE_IMPL_H
#define MYTH_CHANGE_IMPL_H

#include "change.h"

/* Two flows of one function with what goes with what. */
typedef struct {
    myth_flow *old;
    myth_flow *now;
    uint64_t *old_key, *now_key; /* what an event is and is about: equal ones may go together */
    uint32_t *to_now, *to_old;   /* 1 + the event that goes with it; 0 = it is lost, or new */
    uint32_t n_old, n_now;       /* events, without those that are added */
    bool *is_reference;          /* [n_path] whether something behind a path of the old flow is read */
    uint32_t *first;             /* [n_first] 1 + the first test event of a condition of the new flow; 0 = none */
    uint32_t n_path, n_first;
} myth_aligned;

/* *is_aligned false: the flows differ in too much. Closed in any case. */
bool myth_aligned_open(myth_aligned *a, bool *is_aligned, myth_flow *old, myth_flow *now);
void myth_aligned_close(myth_aligned *a);

/* The events after the change between which event e of the old flow stood: *after the last before it, *before the first
 * behind it; 1 + their numbers, 0 and n_now + 1 at the ends. */
void myth_aligned_gap(const myth_aligned *a, uint32_t e, uint32_t *after, uint32_t *before);
/* Whether a text of the old file, from off to end, stands in the new one as often. */
bool myth_aligned_moved(const myth_aligned *a, uint32_t off, uint32_t end);
/* Whether two paths of the two flows have one text. */
bool myth_aligned_same(const myth_aligned *a, uint32_t old_path, uint32_t now_path);
/* Whether a path of the new flow is one of the old flow, or a part of it. */
bool myth_aligned_about(const myth_aligned *a, uint32_t now_path, uint32_t old_path);
/* Adds an event at event `at` of the new flow about path `path` and line of event `lost` of the old one. */
bool myth_aligned_put(myth_aligned *a, myth_lost how, uint32_t at, uint32_t path, uint32_t lost);

bool myth_change_tests(myth_aligned *a);
bool myth_change_calls(myth_aligned *a);

/* The number of the whole condition that a test event is in, from 1; 0 = it decides nothing. */
static inline uint32_t myth_change_root(const myth_flow *f, const myth_event *e)
{
    uint32_t i = e->test;
    while (i && f->test[i - 1].outer)
        i = f->test[i - 1].outer;
    return i;
}
/* Whether what event u is depends on the test event t: it is in a branch of it, in the rest of its condition, or behind
 * a branch that leaves. */
bool myth_change_guards(const myth_flow *f, uint32_t t, uint32_t u);
/* Whether a branch of the condition that test event t is in gives its path another value. */
bool myth_change_replaces(const myth_flow *f, uint32_t t);
/* Whether event e gives the path, or what it is a part of, a value. */
bool myth_change_defines(const myth_flow *f, uint32_t e, uint32_t path);

#endif
