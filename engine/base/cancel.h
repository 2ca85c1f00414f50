/* cancel.h - a flag that asks work to end: set once, by a signal handler or any thread, read between steps.
 *
 * Type     what C lets a handler write while the program reads it. 0 = go on. Read and written by the functions below
 *          alone, whose accesses are atomic: another thread may set the flag at any time. They order nothing else
 * Owner    whoever sets it; the work holds a pointer to const, NULL = nobody asks */
#ifndef MYTH_CANCEL_H
#define MYTH_CANCEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef volatile sig_atomic_t myth_cancel;

static inline bool myth_cancelled(const myth_cancel *c)
{
    return c != NULL && __atomic_load_n(c, __ATOMIC_RELAXED) != 0;
}

static inline void myth_cancel_set(myth_cancel *c) { __atomic_store_n(c, 1, __ATOMIC_RELAXED); }

static inline void myth_cancel_clear(myth_cancel *c) { __atomic_store_n(c, 0, __ATOMIC_RELAXED); }

#endif
