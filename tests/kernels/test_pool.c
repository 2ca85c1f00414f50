/* test_pool.c - the thread pool: every thread runs, no thread passes a barrier early, every index is taken once, and a
 * run allocates nothing. */
#include "kernels/cpu/pool.h"
#include "tests/support/check.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { N_ITEM = 1000, N_PHASE = 20 };

struct shared {
    struct cpu_pool *pool;
    atomic_uint n_run[CPU_THREADS_MAX];
    atomic_uint n_taken[N_ITEM];
    atomic_uint n_arrived;
    atomic_uint n_early;
};

static void count_runs(void *arg, int tid, int n_threads)
{
    struct shared *s = arg;
    if (tid < n_threads)
        atomic_fetch_add(&s->n_run[tid], 1);
}

static void take_items(void *arg, int tid, int n_threads)
{
    struct shared *s = arg;
    (void)tid;
    (void)n_threads;
    for (uint32_t i; (i = cpu_pool_take(s->pool, 3)) < N_ITEM;)
        for (uint32_t k = i; k < i + 3 && k < N_ITEM; k++)
            atomic_fetch_add(&s->n_taken[k], 1);
}

/* After the p-th barrier all threads have arrived p times. */
static void pass_barriers(void *arg, int tid, int n_threads)
{
    struct shared *s = arg;
    for (unsigned phase = 1; phase <= N_PHASE; phase++) {
        if (tid == (int)phase % n_threads)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        atomic_fetch_add(&s->n_arrived, 1);
        cpu_pool_barrier(s->pool);
        if (atomic_load(&s->n_arrived) < phase * (unsigned)n_threads)
            atomic_fetch_add(&s->n_early, 1);
        cpu_pool_barrier(s->pool);
    }
}

/* Two phases that each hand out all items. */
static void take_twice(void *arg, int tid, int n_threads)
{
    struct shared *s = arg;
    take_items(arg, tid, n_threads);
    cpu_pool_barrier(s->pool);
    if (tid == 0)
        cpu_pool_rewind(s->pool);
    cpu_pool_barrier(s->pool);
    take_items(arg, tid, n_threads);
}

static void with_pool(int n_threads, void (*body)(struct shared *s, int n_threads))
{
    myth_mem *mem;
    struct shared *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(cpu_pool_open(&s->pool, mem, n_threads, NULL), MYTH_OK);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_FIXED).live, cpu_pool_bytes(n_threads));
    assert_int_equal(cpu_pool_n_threads(s->pool), n_threads);
    uint64_t n_alloc = myth_mem_n_alloc(mem);
    body(s, n_threads);
    assert_int_equal(myth_mem_n_alloc(mem), n_alloc);
    cpu_pool_close(s->pool);
    assert_int_equal(myth_mem_close(mem), 0);
    free(s);
}

static const int counts[] = {1, 2, 3, 5, 16, CPU_THREADS_MAX};
enum { COUNT_N = sizeof(counts) / sizeof(counts[0]) };

static void body_runs(struct shared *s, int n_threads)
{
    unsigned n_run = (check_is_full() ? 200000u : 20000u) / (unsigned)(n_threads * n_threads) + 20;
    for (unsigned i = 0; i < n_run; i++) {
        if (i % 100 == 7)
            nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL); /* let the threads fall asleep */
        cpu_pool_run(s->pool, count_runs, s);
        for (int t = 0; t < n_threads; t++)
            if (atomic_load(&s->n_run[t]) != i + 1)
                fail_msg("run %u of %d threads: thread %d ran %u times", i, n_threads, t, atomic_load(&s->n_run[t]));
    }
}

static void body_take(struct shared *s, int n_threads)
{
    (void)n_threads;
    for (unsigned i = 1; i <= 20; i++) {
        cpu_pool_run(s->pool, take_items, s);
        for (int k = 0; k < N_ITEM; k++)
            assert_int_equal(atomic_load(&s->n_taken[k]), i);
    }
}

static void body_take_twice(struct shared *s, int n_threads)
{
    (void)n_threads;
    cpu_pool_run(s->pool, take_twice, s);
    for (int k = 0; k < N_ITEM; k++)
        assert_int_equal(atomic_load(&s->n_taken[k]), 2);
}

static void body_barrier(struct shared *s, int n_threads)
{
    cpu_pool_run(s->pool, pass_barriers, s);
    assert_int_equal(atomic_load(&s->n_arrived), N_PHASE * n_threads);
    assert_int_equal(atomic_load(&s->n_early), 0);
}

/* The caller does small work alone. */
static void body_parts(struct shared *s, int n_threads)
{
    cpu_pool_run_parts(s->pool, 1, count_runs, s);
    for (int t = 0; t < n_threads; t++)
        assert_int_equal(atomic_load(&s->n_run[t]), t == 0);
    cpu_pool_run_parts(s->pool, 2, count_runs, s);
    for (int t = 0; t < n_threads; t++)
        assert_int_equal(atomic_load(&s->n_run[t]), 1 + (t == 0));
}

static void test_runs(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_N; i++) {
        with_pool(counts[i], body_runs);
        with_pool(counts[i], body_parts);
    }
}

static void test_take(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_N; i++) {
        with_pool(counts[i], body_take);
        with_pool(counts[i], body_take_twice);
    }
}

static void test_barrier(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_N; i++)
        with_pool(counts[i], body_barrier);
}

static void test_split(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 3, 4, 63, 64, 65, 1000, 262144}, aligns[] = {1, 4, 64};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t a = 0; a < 3; a++)
            for (int n = 1; n <= CPU_THREADS_MAX; n++) {
                uint64_t next = 0, most = 0, least = UINT64_MAX;
                for (int t = 0; t < n; t++) {
                    uint64_t from, to;
                    cpu_split(sizes[i], aligns[a], t, n, &from, &to);
                    assert_int_equal(from, next);
                    assert_true(to >= from && (to % aligns[a] == 0 || to == sizes[i]));
                    most = to - from > most ? to - from : most;
                    least = to - from < least ? to - from : least;
                    next = to;
                }
                assert_int_equal(next, sizes[i]);
                assert_true(most - least <= 2 * aligns[a]);
            }
}

static void test_open_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 2; n++) { /* the pool, then the stacks */
        myth_mem *mem;
        myth_error err;
        struct cpu_pool *pool = NULL;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = n});
        assert_int_equal(cpu_pool_open(&pool, mem, 3, &err), MYTH_ENOMEM);
        assert_null(pool);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),  cmocka_unit_test(test_take),       cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_split), cmocka_unit_test(test_open_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
