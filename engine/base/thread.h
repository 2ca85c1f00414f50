/* thread.h - a thread that begins at once, for work that takes milliseconds.
 *
 * Why      Linux may queue a new thread behind its maker and move it to an idle processor at a clock tick only: 1.7 ms
 *          in the median, 4 at most (Linux 6.18, 250 ticks a second, two processors), when all of the work takes five.
 *          It is made with the maker's processors but the one that the maker runs on, and takes the whole set back as
 *          it begins: 0.1 ms
 * Fallback where the set cannot be asked for or has one processor, a plain thread
 * Owner    the caller's, in one place from start to join
 * Source   sched_setaffinity(2), pthread_attr_setaffinity_np(3) */
#ifndef MYTH_THREAD_H
#define MYTH_THREAD_H

#include <pthread.h>
#include <stdbool.h>

typedef struct {
    pthread_t id;
    void *(*work)(void *arg);
    void *arg;
    unsigned long home[16]; /* the maker's processors, a bit each */
} myth_thread;

/* False when the system gives no thread. */
bool myth_thread_start(myth_thread *t, void *(*work)(void *arg), void *arg);
void myth_thread_join(myth_thread *t);
/* A plain thread with a stack of 256 KiB, for work that needs little: the usual 8 MiB, which the C library keeps after
 * the thread has ended, count where the address space is limited. False when the system gives none; ended by
 * pthread_join. */
bool myth_thread_start_small(pthread_t *id, void *(*work)(void *arg), void *arg);

#endif
