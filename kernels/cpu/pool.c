/* pool.c - the threads' start counter, completion counter and barrier. A waiting thread first spins, then sleeps in a
 * futex.
 *
 * No wake-up is lost: a thread that is about to sleep first raises n_asleep of the word it waits for, and then looks at
 * the value again. The thread that changes the value looks at n_asleep after the change. Both are sequentially
 * consistent, so either the sleeper sees the new value or the changer sees the sleeper and wakes it. */
#define _GNU_SOURCE
#include "pool.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { SPIN = 1000, LINE = 64 }; /* SPIN pauses of 10 to 50 ns each are some 30 us */

struct wait_word {
    _Alignas(LINE) atomic_uint value;
    atomic_uint n_asleep;
};

struct worker {
    struct cpu_pool *pool;
    pthread_t thread;
    int tid;
    bool is_started;
};

struct cpu_pool {
    struct wait_word start;             /* runs begun                                */
    struct wait_word left;              /* workers that have not finished the run    */
    struct wait_word passed;            /* barriers passed                           */
    _Alignas(LINE) atomic_uint arrived; /* threads at the present barrier            */
    _Alignas(LINE) atomic_uint next;    /* cpu_pool_take                             */
    _Alignas(LINE) cpu_task fn;
    void *arg;
    bool is_stopping;
    myth_mem *mem;
    int n_threads;
    struct worker worker[CPU_THREADS_MAX];
};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_while(atomic_uint *value, unsigned seen)
{
#if defined(__linux__)
    syscall(SYS_futex, value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
#else
    if (atomic_load(value) == seen)
        sched_yield();
#endif
}

static void wake_all(struct wait_word *w)
{
#if defined(__linux__)
    if (atomic_load(&w->n_asleep))
        syscall(SYS_futex, &w->value, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#else
    (void)w;
#endif
}

/* Waits until the value differs from `seen`, and returns it. */
static unsigned wait_change(struct wait_word *w, unsigned seen)
{
    for (int i = 0; i < SPIN; i++) {
        unsigned now = atomic_load_explicit(&w->value, memory_order_acquire);
        if (now != seen)
            return now;
        relax();
    }
    atomic_fetch_add(&w->n_asleep, 1);
    unsigned now;
    while ((now = atomic_load(&w->value)) == seen)
        sleep_while(&w->value, seen);
    atomic_fetch_sub(&w->n_asleep, 1);
    return now;
}

static void *work(void *arg)
{
    struct worker *me = arg;
    struct cpu_pool *p = me->pool;
    for (unsigned seen = 0;;) {
        seen = wait_change(&p->start, seen);
        if (p->is_stopping)
            return NULL;
        p->fn(p->arg, me->tid, p->n_threads);
        if (atomic_fetch_sub(&p->left.value, 1) == 1)
            wake_all(&p->left);
    }
}

uint64_t cpu_pool_bytes(int n_threads) { return sizeof(struct cpu_pool) + (uint64_t)(n_threads - 1) * CPU_STACK_BYTES; }

myth_status cpu_pool_open(struct cpu_pool **out, myth_mem *mem, int n_threads, myth_error *err)
{
    assert(n_threads >= 1 && n_threads <= CPU_THREADS_MAX);
    uint64_t stacks = (uint64_t)(n_threads - 1) * CPU_STACK_BYTES;
    struct cpu_pool *p = myth_alloc(mem, MYTH_MEM_FIXED, "cpu pool", sizeof(*p));
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "cpu: %zu bytes for the thread pool", sizeof(*p));
    p->mem = mem;
    if (stacks && !myth_mem_book(mem, MYTH_MEM_HOST, MYTH_MEM_FIXED, "cpu stacks", stacks)) {
        myth_free(mem, p);
        return myth_fail(err, MYTH_ENOMEM, "cpu: %llu bytes for the stacks of %d threads", (unsigned long long)stacks,
                         n_threads - 1);
    }
    p->n_threads = n_threads;

    pthread_attr_t attr;
    sigset_t all, before;
    int failed = pthread_attr_init(&attr);
    if (!failed) {
        failed = pthread_attr_setstacksize(&attr, CPU_STACK_BYTES);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's own threads handle signals */
        for (int i = 1; i < n_threads && !failed; i++) {
            p->worker[i] = (struct worker){.pool = p, .tid = i};
            failed = pthread_create(&p->worker[i].thread, &attr, work, &p->worker[i]);
            p->worker[i].is_started = !failed;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attr);
    }
    if (failed) {
        cpu_pool_close(p);
        return myth_fail(err, MYTH_ENOMEM, "cpu: the system refuses %d threads", n_threads - 1);
    }
    *out = p;
    return MYTH_OK;
}

void cpu_pool_close(struct cpu_pool *p)
{
    if (!p)
        return;
    p->is_stopping = true;
    atomic_fetch_add(&p->start.value, 1);
    wake_all(&p->start);
    for (int i = 1; i < p->n_threads; i++)
        if (p->worker[i].is_started)
            pthread_join(p->worker[i].thread, NULL);
    if (p->n_threads > 1)
        myth_mem_unbook(p->mem, MYTH_MEM_HOST, MYTH_MEM_FIXED, (uint64_t)(p->n_threads - 1) * CPU_STACK_BYTES);
    myth_free(p->mem, p);
}

int cpu_pool_n_threads(const struct cpu_pool *p) { return p->n_threads; }

void cpu_pool_run(struct cpu_pool *p, cpu_task fn, void *arg)
{
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    if (p->n_threads == 1) {
        fn(arg, 0, 1);
        return;
    }
    assert(atomic_load(&p->left.value) == 0);
    p->fn = fn;
    p->arg = arg;
    atomic_store(&p->left.value, (unsigned)p->n_threads - 1);
    atomic_fetch_add(&p->start.value, 1);
    wake_all(&p->start);
    fn(arg, 0, p->n_threads);
    for (unsigned left = atomic_load_explicit(&p->left.value, memory_order_acquire); left;)
        left = wait_change(&p->left, left);
}

void cpu_pool_run_parts(struct cpu_pool *p, uint64_t n_part, cpu_task fn, void *arg)
{
    if (n_part > 1)
        cpu_pool_run(p, fn, arg);
    else
        fn(arg, 0, 1);
}

void cpu_pool_barrier(struct cpu_pool *p)
{
    if (p->n_threads == 1)
        return;
    unsigned passed = atomic_load_explicit(&p->passed.value, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&p->arrived, 1, memory_order_acq_rel) + 1 == (unsigned)p->n_threads) {
        atomic_store_explicit(&p->arrived, 0, memory_order_relaxed);
        atomic_fetch_add(&p->passed.value, 1);
        wake_all(&p->passed);
    } else {
        wait_change(&p->passed, passed);
    }
}

uint32_t cpu_pool_take(struct cpu_pool *p, uint32_t count)
{
    return atomic_fetch_add_explicit(&p->next, count, memory_order_relaxed);
}

void cpu_pool_rewind(struct cpu_pool *p) { atomic_store_explicit(&p->next, 0, memory_order_relaxed); }
