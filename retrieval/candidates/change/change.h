/* change.h - what a change took from a function, as events of its flow: a test that guarded what stays, a release of
 * what stays, a look at a result. A rule sees a file as it is; here the same function before the change says what it
 * relied on.
 *
 * Aligned   the events of both flows in their order, by what they are and what they are about: an event is lost where
 *           none of the other flow goes with it. Of functions that changed too much nothing is said
 * Event     MYTH_EVENT_LOST stands at what stays: `how` says what it lost, `path` what that was about, `name` the
 *           function of a lost call, `call` the number of its line before the change in flow.h's list `lost`
 * Moved     a condition or call that stands elsewhere after the change, or that something new about the same variable
 *           replaces, is not lost
 * Owner     the caller keeps both flows; the texts are copied
 * Errors    false without memory */
#ifndef MYTH_CHANGE_H
#define MYTH_CHANGE_H

#include "retrieval/candidates/facts/facts.h"

/* The values of the fact `lost`, in their order. */
typedef enum {
    MYTH_LOST_NO,
    MYTH_LOST_NULL,  /* a test for being there; the event is where it must be there */
    MYTH_LOST_UPPER, /* a bound; the event is where the value is an index, a size or a number to reckon with */
    MYTH_LOST_LOWER,
    MYTH_LOST_ZERO,  /* a test of a divisor */
    MYTH_LOST_OTHER, /* any other test of what is used there */
    MYTH_LOST_GUARD, /* a test of something else that decided whether it is done */
    MYTH_LOST_CALL,  /* a call about what is used there */
    MYTH_LOST_NARROWED /* a call that was always made is made in a branch only */,
    MYTH_LOST_CHECK /* a look at the result of the call */
} myth_lost;

/* Adds events of what `now` lost to it; `old` is the same function before the change. */
bool myth_change_lost(myth_flow *now, myth_flow *old);

#endif
