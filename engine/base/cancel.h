/* cancel.h - a flag that asks work to end: set once, by a signal handler or any thread, read between steps. And who
 * watches long work, and may end it.
 *
 * Type     what C lets a handler write while the program reads it. 0 = go on. Read and written by the functions below
 *          alone, whose accesses are atomic: another thread may set the flag at any time. They order nothing else
 * Owner    whoever sets it; the work holds a pointer to const, NULL = nobody asks */
#ifndef MYTH_CANCEL_H
#define MYTH_CANCEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef volatile sig_atomic_t myth_cancel;

static inline bool myth_cancelled(const myth_cancel *c)
{
    return c != NULL && __atomic_load_n(c, __ATOMIC_RELAXED) != 0;
}

static inline void myth_cancel_set(myth_cancel *c) { __atomic_store_n(c, 1, __ATOMIC_RELAXED); }

static inline void myth_cancel_clear(myth_cancel *c) { __atomic_store_n(c, 0, __ATOMIC_RELAXED); }

/* Work that takes long tells how far it is and ends when asked: MYTH_ECANCEL, with nothing left behind. Zero = nobody
 * watches. Lent until the work returns; called on its thread. */
typedef struct {
    const myth_cancel *cancel;                                                  /* may be NULL */
    void (*on_progress)(void *user, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
    void *user;
} myth_watch;

/* False: the work is to end. */
static inline bool myth_watch_tell(const myth_watch *w, uint64_t done_bytes, uint64_t total_bytes)
{
    if (w->on_progress)
        w->on_progress(w->user, done_bytes, total_bytes);
    return !myth_cancelled(w->cancel);
}

#endif
