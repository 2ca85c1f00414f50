/* change_impl.h - what the files of change/ share. */
#ifndef MYTH_CHANGE_IMPL_H
#define MYTH_CHANGE_IMPL_H

#include "change.h"

/* The flows of one function before and after a change, and which events of the two are partners. */
typedef struct {
    myth_flow *old;
    myth_flow *now;
    uint64_t *old_key, *now_key; /* a hash of an event's kind and subject: events with equal ones can be partners */
    uint32_t *to_now, *to_old;   /* 1 + the event's partner; 0 = the event is lost, or new */
    uint32_t n_old, n_now;       /* events before any MYTH_EVENT_LOST is added */
    bool *is_reference;          /* [n_path] whether the path is a pointer, or the old flow dereferences it */
    uint32_t *first;             /* [n_first] 1 + the first test event of a condition of the new flow; 0 = none */
    uint32_t n_path, n_first;
} myth_aligned;

/* *is_aligned is false when the flows differ in too much. The caller closes *a in any case. */
bool myth_aligned_open(myth_aligned *a, bool *is_aligned, myth_flow *old, myth_flow *now);
void myth_aligned_close(myth_aligned *a);

/* Where event e of the old flow would stand in the new one: between the partner of the last event before it (*after)
 * and that of the first event after it (*before). Both are 1 + an event's number; 0 and n_now + 1 stand for the
 * ends. */
void myth_aligned_gap(const myth_aligned *a, uint32_t e, uint32_t *after, uint32_t *before);
/* Whether the text [off, end) of the old file occurs in the new file at least as often as in the old one. */
bool myth_aligned_moved(const myth_aligned *a, uint32_t off, uint32_t end);
/* Whether a path of the old flow and one of the new flow have the same text. */
bool myth_aligned_same(const myth_aligned *a, uint32_t old_path, uint32_t now_path);
/* Whether a path of the new flow has the text of a path of the old flow, or is a part of that path. */
bool myth_aligned_about(const myth_aligned *a, uint32_t now_path, uint32_t old_path);
/* The event of the new flow that stands where event e of the old one stood: what is new there, else the next that was
 * behind it in its block, else the last before it in its block. `at` where nothing of its block is left, or where e
 * itself stays. */
uint32_t myth_aligned_place(const myth_aligned *a, uint32_t e, uint32_t at);
/* Adds an event about path `path` and the line of event `lost` of the old flow, where that stood; event `at` of the new
 * flow is what relied on it. */
bool myth_aligned_put(myth_aligned *a, myth_lost how, uint32_t at, uint32_t path, uint32_t lost);

bool myth_change_tests(myth_aligned *a);
bool myth_change_calls(myth_aligned *a);

/* 1 + the test of the whole condition that a test event is a part of; 0 = nothing depends on it. */
static inline uint32_t myth_change_root(const myth_flow *f, const myth_event *e)
{
    uint32_t i = e->test;
    while (i && f->test[i - 1].outer)
        i = f->test[i - 1].outer;
    return i;
}
/* Whether event u happens only for one outcome of test event t: it is in a branch of its condition, in the rest of the
 * condition, or after a branch that leaves. */
bool myth_change_guards(const myth_flow *f, uint32_t t, uint32_t u);
/* Whether a branch of the condition that test event t is in gives its path another value. */
bool myth_change_replaces(const myth_flow *f, uint32_t t);
/* Whether event e gives the path, or what it is a part of, a value. */
bool myth_change_defines(const myth_flow *f, uint32_t e, uint32_t path);

#endif
