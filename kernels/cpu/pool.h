/* pool.h - the threads of a CPU device: persistent, started by a counter, asleep when idle.
 *
 * Run      cpu_pool_run calls fn(arg, tid, n_threads) on every thread (the caller is thread 0) and returns when all
 *          have returned. One run at a time; a run inside a run is a bug.
 * Phases   cpu_pool_barrier inside fn separates phases of one run: far cheaper than a second run. Every thread of the
 *          run must pass it.
 * Work     static: cpu_split; dynamic: cpu_pool_take hands out indices from a counter that each run starts at 0
 * Waits    spin for some 30 us, then sleep in the kernel: ops of a decode step follow each other within the spin
 * Owner    threads and their stacks are taken at open (class FIXED) and live until close; nothing is allocated in
 *          between
 * Threads  run and close from the thread that drives the device; barrier and take from inside fn */
#ifndef MYTH_CPU_POOL_H
#define MYTH_CPU_POOL_H

#include "engine/base/mem.h"
#include "engine/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CPU_THREADS_MAX = 64, CPU_STACK_BYTES = 256 * 1024 };

struct cpu_pool;
typedef void (*cpu_task)(void *arg, int tid, int n_threads);

/* n_threads 1..CPU_THREADS_MAX. MYTH_ENOMEM: the ledger or the system refused. */
myth_status cpu_pool_open(struct cpu_pool **out, myth_mem *mem, int n_threads, myth_error *err);
void cpu_pool_close(struct cpu_pool *p); /* takes NULL */
uint64_t cpu_pool_bytes(int n_threads);  /* what open books, class FIXED */
int cpu_pool_n_threads(const struct cpu_pool *p);

void cpu_pool_run(struct cpu_pool *p, cpu_task fn, void *arg);
/* The same for work of n_part pieces that are worth a thread each: with one or none fn(arg, 0, 1) is all. fn has no
 * barrier and takes nothing from the counter. */
void cpu_pool_run_parts(struct cpu_pool *p, uint64_t n_part, cpu_task fn, void *arg);
void cpu_pool_barrier(struct cpu_pool *p);
/* The next `count` indices of the run: returns the first of them, at or past the end of the work when there is none
 * left. */
uint32_t cpu_pool_take(struct cpu_pool *p, uint32_t count);
/* Inside fn, by one thread between two barriers: the counter of cpu_pool_take back to 0 for the next phase. */
void cpu_pool_rewind(struct cpu_pool *p);

/* [*from, *to): the tid-th of n_threads nearly equal parts of 0..n-1, borders at multiples of `align`. */
static inline void cpu_split(uint64_t n, uint64_t align, int tid, int n_threads, uint64_t *from, uint64_t *to)
{
    uint64_t n_unit = (n + align - 1) / align, id = (uint64_t)tid, count = (uint64_t)n_threads;
    *from = n_unit * id / count * align;
    *to = n_unit * (id + 1) / count * align;
    if (*from > n)
        *from = n;
    if (*to > n)
        *to = n;
}

#ifdef __cplusplus
}
#endif
#endif
