/* pool.h - the threads of a CPU device. They live as long as the pool and sleep when they have nothing to do.
 *
 * Run      cpu_pool_run calls fn(arg, tid, n_threads) on every thread (the caller is thread 0) and returns when all
 *          calls have returned. There is one run at a time; a run inside a run is a bug
 * Phases   cpu_pool_barrier inside fn separates phases of one run, which is far cheaper than a second run. Every thread
 *          of the run must reach it
 * Work     cpu_split divides work in advance; cpu_pool_take hands out indices from a counter that each run sets to 0
 * Waits    a waiting thread spins for some 30 us and then sleeps in the kernel. The ops of a decode step follow each
 *          other within that time
 * Owner    open takes the threads and their stacks (class FIXED), close returns them; nothing is allocated in between
 * Threads  run and close are called by the thread that drives the device; barrier and take are called inside fn */
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
/* The same for work of n_part pieces, each large enough to be worth a thread: with n_part <= 1 it only calls fn(arg, 0,
 * 1). fn may use neither barrier nor take. */
void cpu_pool_run_parts(struct cpu_pool *p, uint64_t n_part, cpu_task fn, void *arg);
void cpu_pool_barrier(struct cpu_pool *p);
/* Takes the next `count` indices of the run and returns the first of them. Once it is at or past the end of the work,
 * nothing is left. */
uint32_t cpu_pool_take(struct cpu_pool *p, uint32_t count);
/* Sets the counter of cpu_pool_take back to 0 for the next phase. One thread calls it inside fn, between two barriers.
 */
void cpu_pool_rewind(struct cpu_pool *p);

/* Divides 0..n-1 into n_threads nearly equal parts whose borders are multiples of `align`; [*from, *to) is part tid. */
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
