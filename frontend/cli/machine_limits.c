/* machine_limits.c - measures read bandwidth and peak arithmetic with short loops on all cores at once. */
#define _GNU_SOURCE
#include "machine_limits.h"

#include "engine/base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { THREAD_MAX = 64, REPEATS = 8, CHAINS = 12, ROUNDS = 1 << 20 };

static const size_t READ_BYTES = (size_t)64 << 20;

enum { WAIT, GO, LEAVE };

typedef struct {
    const char *name;
    double (*run)(void); /* returns the operations done */
    const char *needs;   /* of the processor            */
    uint32_t types;      /* of weights, a bit each       */
} peak_kind;

typedef struct {
    atomic_int *state; /* WAIT, GO, LEAVE */
    const unsigned char *data;
    size_t bytes;
    double (*peak)(void);
    double work, seconds;
    uint64_t sink;
} worker;

/* ---- reading ---- */

typedef uint64_t read_lanes __attribute__((vector_size(64)));

static uint64_t read_all(const unsigned char *p, size_t n)
{
    read_lanes a = {0}, b = {0}, v, w;
    for (size_t i = 0; i + 128 <= n; i += 128) {
        memcpy(&v, p + i, 64);
        memcpy(&w, p + i + 64, 64);
        a |= v;
        b |= w;
    }
    a |= b;
    return a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7];
}

/* ---- arithmetic: twelve independent accumulators that stay in registers, zeros only, no memory ---- */

#if defined(__x86_64__)
#define STEP(instruction, r, n) instruction " %%" r "14, %%" r "15, %%" r n "\n"
#define PEAK(fn, instruction, r, ops)                                                                               \
    static double fn(void)                                                                                          \
    {                                                                                                               \
        long rounds = ROUNDS;                                                                                       \
        __asm__ volatile("vzeroall\n.p2align 5\n1:\n" STEP(instruction, r, "0") STEP(instruction, r, "1")           \
                             STEP(instruction, r, "2") STEP(instruction, r, "3") STEP(instruction, r, "4")          \
                                 STEP(instruction, r, "5") STEP(instruction, r, "6") STEP(instruction, r, "7")      \
                                     STEP(instruction, r, "8") STEP(instruction, r, "9") STEP(instruction, r, "10") \
                                         STEP(instruction, r, "11") "dec %0\njnz 1b\nvzeroupper\n"                  \
                         : "+r"(rounds)                                                                             \
                         :                                                                                          \
                         : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",    \
                           "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                   \
        return (double)ROUNDS * CHAINS * (ops);                                                                     \
    }
PEAK(peak_f32_256, "vfmadd231ps", "ymm", 16)
PEAK(peak_f32_512, "vfmadd231ps", "zmm", 32)
PEAK(peak_bf16_512, "vdpbf16ps", "zmm", 64)
PEAK(peak_int8_512, "vpdpbusd", "zmm", 128)
PEAK(peak_int8_256, "vpmaddubsw", "ymm", 64.0 / 3) /* two more instructions widen and add its sums */

static bool has(const char *feature)
{
    return strcmp(feature, "avx512_vnni") == 0 ? __builtin_cpu_supports("avx512vnni")
         : strcmp(feature, "avx512_bf16") == 0 ? __builtin_cpu_supports("avx512bf16")
         : strcmp(feature, "avx512f") == 0     ? __builtin_cpu_supports("avx512f")
                                               : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

enum {
    FLOATS = 1 << MYTH_F32 | 1 << MYTH_F16 | 1 << MYTH_BF16 | 1 << MYTH_I32,
    BLOCKS = ((1 << MYTH_DTYPE_N) - 1) & ~FLOATS
};

/* The first row that fits the processor and the type of the weights is used. */
static const peak_kind peaks[] = {
    {"avx512 int8", peak_int8_512, "avx512_vnni", BLOCKS},
    {"avx2 int8", peak_int8_256, "avx2", BLOCKS},
    {"avx512 bf16", peak_bf16_512, "avx512_bf16", 1u << MYTH_BF16},
    {"avx512 f32", peak_f32_512, "avx512f", ~0u},
    {"avx2 f32", peak_f32_256, "avx2", ~0u},
};
#else
static bool has(const char *feature) { return feature == NULL; }

typedef float lanes __attribute__((vector_size(16)));

static double peak_plain(void)
{
    lanes acc[CHAINS] = {{0}}, x = {0}, y = {0};
    __asm__ volatile("" : "+m"(x), "+m"(y));
    for (int r = 0; r < ROUNDS; r++)
        for (int c = 0; c < CHAINS; c++)
            acc[c] = acc[c] * x + y;
    __asm__ volatile("" : "+m"(acc));
    return (double)ROUNDS * CHAINS * 8;
}
static const peak_kind peaks[] = {{"f32", peak_plain, NULL, ~0u}};
#endif

static peak_kind choose_peak(myth_dtype type, const char *level)
{
    const bool is_narrow = level && (strcmp(level, "avx2") == 0 || strcmp(level, "ref") == 0);
    for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
        if (peaks[i].types >> type & 1 && has(peaks[i].needs) && !(is_narrow && strstr(peaks[i].name, "avx512")))
            return peaks[i];
    return (peak_kind){.name = "unknown"};
}

/* ---- all threads together ---- */

static void *work(void *arg)
{
    worker *w = arg;
    while (atomic_load(w->state) == WAIT)
        sched_yield();
    if (atomic_load(w->state) == LEAVE)
        return NULL;
    double start = myth_seconds();
    if (w->peak) {
        w->work = w->peak();
    } else {
        w->sink = read_all(w->data, w->bytes);
        w->work = (double)w->bytes;
    }
    w->seconds = myth_seconds() - start;
    return NULL;
}

/* The work of all threads divided by the time of the slowest; 0 when a thread could not be started. */
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

myth_status myth_limits_measure(myth_machine_limits *out, myth_mem *mem, int n_threads, myth_dtype type,
                                const char *level, myth_error *err)
{
    worker w[THREAD_MAX] = {0};
    int n = threads_for(n_threads);
    size_t bytes = (size_t)myth_limits_bytes(n_threads, myth_mem_limit(mem, MYTH_MEM_HOST));
    unsigned char *data = myth_alloc(mem, MYTH_MEM_STAGING, "read test", bytes);
    if (!data)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a buffer of %zu bytes to measure with", bytes);
    memset(data, 1, bytes);
    for (int i = 0; i < n; i++) {
        w[i].data = data + bytes / (size_t)n * (size_t)i;
        w[i].bytes = bytes / (size_t)n;
    }
    out->read_bytes = best_of(w, n);
    myth_free(mem, data);
    peak_kind peak = choose_peak(type, level);
    for (int i = 0; i < n; i++)
        w[i].peak = peak.run;
    out->flops = peak.run ? best_of(w, n) : 0;
    out->flops_kind = peak.name;
    return MYTH_OK;
}
