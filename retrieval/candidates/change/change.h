/* change.h - finds what a change removed from a function although the rest of the function still relies on it: a test
 * that guarded code which is still there, a release of something that is still taken, a check of a result. Each is
 * added to the flow of the new function as an event. Other rules see only the new file; here the function before the
 * change is known too.
 *
 * Aligned   the events of both flows are paired in their order, by their kind and what they are about. An old event
 *           without a partner is lost. If the two functions differ in too much, nothing is said about them
 * Event     MYTH_EVENT_LOST is where the removed code stood (myth_aligned_place): `how` says what was removed, `path`
 *           what that was about, `name` the function of a removed call, `call` the index into flow.h's list `lost`,
 *           which has its old line, and the line of what relied on it and stays
 * Moved     a condition or call is not lost if it stands elsewhere after the change, or if something new about the same
 *           variable takes its place
 * Owner     the caller keeps both flows; the texts are copied
 * Errors    false without memory */
#ifndef MYTH_CHANGE_H
#define MYTH_CHANGE_H

#include "retrieval/candidates/facts/facts.h"

/* The values of the fact `lost`, in their order. */
typedef enum {
    MYTH_LOST_NO,
    MYTH_LOST_NULL,  /* a test against null; what stays is a use that needs the value to be there */
    MYTH_LOST_UPPER, /* an upper bound; what stays uses the value as an index, a size or in arithmetic */
    MYTH_LOST_LOWER, /* a lower bound; likewise */
    MYTH_LOST_ZERO,  /* a test of a divisor against zero */
    MYTH_LOST_OTHER, /* any other test of a value that what stays uses */
    MYTH_LOST_GUARD, /* a test of another value, which decided whether what stays happens */
    MYTH_LOST_CALL,  /* a call about the value that what stays uses */
    MYTH_LOST_NARROWED /* a call that was made on every way is made in a branch only */,
    MYTH_LOST_CHECK /* a check of the call's result */
} myth_lost;

/* Adds an event to `now` for each thing that it lost; `old` is the same function before the change. */
bool myth_change_lost(myth_flow *now, myth_flow *old);

#endif
