/* clock.h - the time that only goes forward, for how long something took or when it is due.
 *
 * Units    seconds since an arbitrary moment; only differences mean something
 * Threads  any */
#ifndef MYTH_CLOCK_H
#define MYTH_CLOCK_H

#include <time.h>

static inline double myth_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
