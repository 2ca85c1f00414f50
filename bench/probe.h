/* probe.h - the limits of this machine, measured in a second: read bandwidth of all threads, arithmetic peak of each kind of product.
 *
 * Bandwidth  each thread reads its part of PROBE_BYTES by lines of 64 with a prefetch ahead; the best of some rounds
 * Peak       twelve independent accumulators in registers and no memory: the instruction that a level's products are made of. 0 where this
 *            file has no such instruction for the level; then no ratio is printed
 * Units      GB/s, GFLOP/s (1e9; a multiplication and an addition are two)                                                           */
#ifndef MYTH_BENCH_PROBE_H
#define MYTH_BENCH_PROBE_H

#include "../kernels/cpu/cpu.h"

#include <string.h>
#include <time.h>

enum { PROBE_BYTES = 256 << 20, PROBE_ROUNDS = 20, PROBE_STEPS = 3000000, PROBE_CHAINS = 12 };

struct probe {
    double read_gbs;
    double peak[MYTH_DTYPE_N];          /* by weight type: f32, bf16 or int8 products */
};

static inline double probe_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct probe_job {
    const unsigned char *base;
    void (*chain)(long n_step);
    uint64_t sink[CPU_THREADS_MAX];
};

static inline void probe_read(void *arg, int tid, int n_threads)
{
    struct probe_job *j = arg;
    uint64_t from, to, sum[8] = { 0 }, word[8];
    cpu_split(PROBE_BYTES, 64, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i += 64) {
        __builtin_prefetch(j->base + i + 4096, 0, 3);
        memcpy(word, j->base + i, 64);
        for (int k = 0; k < 8; k++)
            sum[k] += word[k];
    }
    for (int k = 0; k < 8; k++)
        j->sink[tid] += sum[k];
}

static inline void probe_chain(void *arg, int tid, int n_threads)
{
    (void)tid;
    (void)n_threads;
    ((struct probe_job *)arg)->chain(PROBE_STEPS);
}

#if defined(__x86_64__)
/* r: "ymm" or "zmm". Registers start at zero and stay zero: no denormals. */
#define PROBE_CHAIN(name, instruction, r) \
    static inline void probe_##name(long n_step) \
    { \
        __asm__ volatile("vzeroall\n" \
                         "1:\n" PROBE_STEP(instruction, r, "0") PROBE_STEP(instruction, r, "1") PROBE_STEP(instruction, r, "2") \
                         PROBE_STEP(instruction, r, "3") PROBE_STEP(instruction, r, "4") PROBE_STEP(instruction, r, "5") \
                         PROBE_STEP(instruction, r, "6") PROBE_STEP(instruction, r, "7") PROBE_STEP(instruction, r, "8") \
                         PROBE_STEP(instruction, r, "9") PROBE_STEP(instruction, r, "10") PROBE_STEP(instruction, r, "11") \
                         "dec %0\n" \
                         "jnz 1b\n" \
                         "vzeroupper\n" \
                         : "+r"(n_step) \
                         : \
                         : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
                           "xmm14", "xmm15"); \
    }
#define PROBE_STEP(instruction, r, n) instruction " %%" r "14, %%" r "15, %%" r n "\n"
PROBE_CHAIN(fma_256, "vfmadd231ps", "ymm")
PROBE_CHAIN(fma_512, "vfmadd231ps", "zmm")
PROBE_CHAIN(bf16_512, "vdpbf16ps", "zmm")
PROBE_CHAIN(int8_512, "vpdpbusd", "zmm")
PROBE_CHAIN(int8_256, "vpmaddubsw", "ymm")             /* with the widening additions beside it: a third of its own rate */
#endif

static inline double probe_peak(struct cpu_pool *pool, void (*chain)(long), double flop_per_step)
{
    struct probe_job j = { .chain = chain };
    double best = 0.0;
    for (int i = 0; i < PROBE_ROUNDS; i++) {
        double start = probe_now();
        cpu_pool_run(pool, probe_chain, &j);
        double rate = (double)PROBE_STEPS * PROBE_CHAINS * flop_per_step * cpu_pool_n_threads(pool) / (probe_now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

/* base: PROBE_BYTES that are not in any cache, written once. */
static inline struct probe probe_run(struct cpu_pool *pool, const unsigned char *base, const char *level)
{
    struct probe p;
    struct probe_job j = { .base = base };
    memset(&p, 0, sizeof(p));
    for (int i = 0; i < PROBE_ROUNDS; i++) {
        double start = probe_now();
        cpu_pool_run(pool, probe_read, &j);
        double rate = (double)PROBE_BYTES / (probe_now() - start) * 1e-9;
        p.read_gbs = rate > p.read_gbs ? rate : p.read_gbs;
    }
#if defined(__x86_64__)
    if (strcmp(level, "avx512") == 0) {
        p.peak[MYTH_F32] = p.peak[MYTH_F16] = probe_peak(pool, probe_fma_512, 32.0);
        p.peak[MYTH_BF16] = probe_peak(pool, probe_bf16_512, 64.0);
        p.peak[MYTH_Q8_0] = p.peak[MYTH_Q4_0] = probe_peak(pool, probe_int8_512, 128.0);
    } else if (strcmp(level, "avx2") == 0) {
        p.peak[MYTH_F32] = p.peak[MYTH_F16] = p.peak[MYTH_BF16] = probe_peak(pool, probe_fma_256, 16.0);
        p.peak[MYTH_Q8_0] = p.peak[MYTH_Q4_0] = probe_peak(pool, probe_int8_256, 64.0) / 3.0;
    }
#else
    (void)level;
#endif
    return p;
}

#endif
