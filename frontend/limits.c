/* limits.c - read bandwidth and arithmetic peak by short loops on every core at once. */
#define _GNU_SOURCE
#include "limits.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { THREAD_MAX = 64, REPEATS = 5, CHAINS = 12 };

static const size_t READ_BYTES = (size_t)64 << 20;

enum { WAIT, GO, LEAVE };

typedef struct {
    const char *name;
    double (*run)(void);           /* returns the operations done */
} peak_kind;

typedef struct {
    atomic_int *state;             /* WAIT, GO, LEAVE */
    const unsigned char *data;
    size_t bytes;
    double (*peak)(void);
    double work, seconds;
    uint64_t sink;
} worker;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- reading ---- */

typedef uint64_t read_lanes __attribute__((vector_size(64)));

static uint64_t read_all(const unsigned char *p, size_t n)
{
    read_lanes a = { 0 }, b = { 0 }, v, w;
    for (size_t i = 0; i + 128 <= n; i += 128) {
        memcpy(&v, p + i, 64);
        memcpy(&w, p + i + 64, 64);
        a |= v;
        b |= w;
    }
    a |= b;
    return a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7];
}

/* ---- arithmetic: CHAINS independent accumulators, so that latency is hidden ---- */

enum { ROUNDS = 4 << 20 };

/* The compiler must neither fold the rounds nor keep fewer accumulators than written. */
#define KEEP(x) __asm__ volatile("" : "+x"(x))
#define KEEP_ALL(a) do { for (int keep_i = 0; keep_i < CHAINS; keep_i++) KEEP(a[keep_i]); } while (0)

#if defined(__x86_64__)
#define PEAK(fn, isa, vec, zero, op, ops_per_round)                                   \
    __attribute__((target(isa))) static double fn(void)                               \
    {                                                                                 \
        vec acc[CHAINS], x = zero, y = zero;                                          \
        for (int c = 0; c < CHAINS; c++)                                              \
            acc[c] = zero;                                                            \
        KEEP(x);                                                                      \
        KEEP(y);                                                                      \
        for (int r = 0; r < ROUNDS; r++) {                                            \
            acc[0] = op(acc[0], x, y); acc[1] = op(acc[1], x, y);                     \
            acc[2] = op(acc[2], x, y); acc[3] = op(acc[3], x, y);                     \
            acc[4] = op(acc[4], x, y); acc[5] = op(acc[5], x, y);                     \
            acc[6] = op(acc[6], x, y); acc[7] = op(acc[7], x, y);                     \
            acc[8] = op(acc[8], x, y); acc[9] = op(acc[9], x, y);                     \
            acc[10] = op(acc[10], x, y); acc[11] = op(acc[11], x, y);                 \
            KEEP_ALL(acc);                                                            \
        }                                                                             \
        return (double)ROUNDS * CHAINS * (ops_per_round);                             \
    }
#define FMA256(a, x, y) _mm256_fmadd_ps(x, y, a)
#define FMA512(a, x, y) _mm512_fmadd_ps(x, y, a)
#define DOT256(a, x, y) _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), y))
PEAK(peak_avx2_f32, "avx2,fma", __m256, _mm256_setzero_ps(), FMA256, 16)
PEAK(peak_avx512_f32, "avx512f", __m512, _mm512_setzero_ps(), FMA512, 32)
PEAK(peak_avx2_i8, "avx2", __m256i, _mm256_setzero_si256(), DOT256, 64)
PEAK(peak_avx512_i8, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), _mm512_dpbusd_epi32, 128)
#endif

typedef float plain_lanes __attribute__((vector_size(16)));

static double peak_plain(void)
{
    plain_lanes acc[CHAINS] = { 0 }, x = { 0 }, y = { 0 };
#if defined(__x86_64__)
    KEEP(x);
#else
    __asm__ volatile("" : "+w"(x));
#endif
    for (int r = 0; r < ROUNDS; r++) {
        for (int c = 0; c < CHAINS; c++)
            acc[c] = acc[c] * x + y;
#if defined(__x86_64__)
        KEEP_ALL(acc);
#else
        for (int c = 0; c < CHAINS; c++)
            __asm__ volatile("" : "+w"(acc[c]));
#endif
    }
    return (double)ROUNDS * CHAINS * 8;
}

static peak_kind choose_peak(bool exact)
{
#if defined(__x86_64__)
    if (!exact && __builtin_cpu_supports("avx512vnni"))
        return (peak_kind){ "avx512-vnni int8", peak_avx512_i8 };
    if (!exact && __builtin_cpu_supports("avx2"))
        return (peak_kind){ "avx2 int8", peak_avx2_i8 };
    if (__builtin_cpu_supports("avx512f"))
        return (peak_kind){ "avx512 f32", peak_avx512_f32 };
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (peak_kind){ "avx2 f32", peak_avx2_f32 };
#endif
    (void)exact;
    return (peak_kind){ "f32", peak_plain };
}

/* ---- all threads together ---- */

static void *work(void *arg)
{
    worker *w = arg;
    while (atomic_load(w->state) == WAIT)
        sched_yield();
    if (atomic_load(w->state) == LEAVE)
        return NULL;
    double start = now();
    if (w->peak) {
        w->work = w->peak();
    } else {
        w->sink = read_all(w->data, w->bytes);
        w->work = (double)w->bytes;
    }
    w->seconds = now() - start;
    return NULL;
}

/* Work of all threads over the time of the slowest; 0 when a thread could not be started. */
static double run_all(worker *w, int n)
{
    pthread_t thread[THREAD_MAX];
    atomic_int state = WAIT;
    double sum = 0, slowest = 0;
    int n_started = 0;
    for (int i = 0; i < n; i++)
        w[i].state = &state;
    while (n_started < n - 1 && pthread_create(&thread[n_started], NULL, work, &w[n_started + 1]) == 0)
        n_started++;
    bool all = n_started == n - 1;
    atomic_store(&state, all ? GO : LEAVE);
    if (all)
        work(&w[0]);
    for (int i = 0; i < n_started; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < n && all; i++) {
        sum += w[i].work;
        slowest = w[i].seconds > slowest ? w[i].seconds : slowest;
    }
    return slowest > 0 ? sum / slowest : 0;
}

static double best_of(worker *w, int n)
{
    double best = 0;
    for (int r = 0; r < REPEATS; r++) {
        double rate = run_all(w, n);
        best = rate > best ? rate : best;
    }
    return best;
}

static int available_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int threads_for(int n_threads)
{
    int n = n_threads ? n_threads : available_cores();
    return n > THREAD_MAX ? THREAD_MAX : n;
}

uint64_t myth_limits_bytes(int n_threads, uint64_t limit_bytes)
{
    uint64_t n = (uint64_t)threads_for(n_threads), per_thread = READ_BYTES;
    if (limit_bytes && n * per_thread > limit_bytes / 8)
        per_thread = limit_bytes / 8 / n / 128 * 128;
    return n * per_thread;
}

myth_status myth_limits_measure(myth_machine_limits *out, myth_mem *mem, int n_threads, bool exact, myth_error *err)
{
    worker w[THREAD_MAX] = { 0 };
    int n = threads_for(n_threads);
    size_t bytes = (size_t)myth_limits_bytes(n_threads, myth_mem_limit(mem, MYTH_MEM_HOST));
    unsigned char *data = myth_alloc(mem, MYTH_MEM_STAGING, "read test", bytes);
    if (!data)
        return myth_fail(err, MYTH_ENOMEM, "no room for %zu bytes to read", bytes);
    memset(data, 1, bytes);
    for (int i = 0; i < n; i++) {
        w[i].data = data + bytes / (size_t)n * (size_t)i;
        w[i].bytes = bytes / (size_t)n;
    }
    out->read_bytes = best_of(w, n);
    myth_free(mem, data);
    peak_kind peak = choose_peak(exact);
    for (int i = 0; i < n; i++)
        w[i].peak = peak.run;
    out->flops = best_of(w, n);
    out->flops_kind = peak.name;
    return MYTH_OK;
}
