/* thread.c - see thread.h. */
#define _GNU_SOURCE
#include "thread.h"

#include <sched.h>

_Static_assert(sizeof(cpu_set_t) == sizeof(((myth_thread *)0)->home), "a bit for every processor that the set has");

static void *begin_beside(void *thread)
{
    myth_thread *t = thread;
    sched_setaffinity(0, sizeof(t->home), (const cpu_set_t *)(const void *)t->home);
    return t->work(t->arg);
}

/* False: there is no other processor, or it cannot be had. */
static bool start_beside(myth_thread *t)
{
    cpu_set_t *home = (cpu_set_t *)(void *)t->home, beside;
    pthread_attr_t attr;
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof(*home), home) != 0)
        return false;
    beside = *home;
    CPU_CLR(here, &beside);
    if (CPU_COUNT(&beside) == 0 || pthread_attr_init(&attr) != 0)
        return false;
    bool is_started = pthread_attr_setaffinity_np(&attr, sizeof(beside), &beside) == 0 &&
                      pthread_create(&t->id, &attr, begin_beside, t) == 0;
    pthread_attr_destroy(&attr);
    return is_started;
}

bool myth_thread_start(myth_thread *t, void *(*work)(void *arg), void *arg)
{
    *t = (myth_thread){.work = work, .arg = arg};
    return start_beside(t) || pthread_create(&t->id, NULL, work, arg) == 0;
}

void myth_thread_join(myth_thread *t) { pthread_join(t->id, NULL); }

bool myth_thread_start_small(pthread_t *id, void *(*work)(void *arg), void *arg)
{
    enum { STACK = 256 << 10 };
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    const bool is_started = pthread_attr_setstacksize(&attr, STACK) == 0 && pthread_create(id, &attr, work, arg) == 0;
    pthread_attr_destroy(&attr);
    return is_started;
}
