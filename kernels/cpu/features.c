/* features.c - the features that the processor has and the system lets us use.
 *
 * Source   Intel SDM vol. 2A, CPUID leaves 1, 7, 13, 0x80000002; Linux arch_prctl(ARCH_REQ_XCOMP_PERM) for the AMX tile
 *          state */
#include "cpu.h"

#include <stdio.h>
#include <string.h>

static const char *const feature_name[CPU_FEATURE_N] = {
    "avx2",        "fma",         "f16c",     "avx512f",  "avx512bw", "avx512vl", "avx512dq",
    "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16", "neon",     "dotprod",
};

const char *cpu_feature_name(int bit) { return feature_name[bit]; }

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static uint64_t read_xcr0(void)
{
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return ((uint64_t)hi << 32) | lo;
}

/* Linux keeps the AMX tile registers off until the process has asked for them once. */
static bool request_amx(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return false;
#endif
}

uint32_t cpu_features(void)
{
    enum { OSXSAVE = 1 << 27, AVX = 1 << 28, FMA = 1 << 12, F16C = 1 << 29 };
    enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6, XCR0_AMX = 0x60000 };
    uint32_t a, b, c, d, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) || !(c & AVX))
        return 0;
    uint64_t xcr0 = read_xcr0();
    if ((xcr0 & XCR0_AVX) != XCR0_AVX)
        return 0;
    if (c & FMA)
        found |= CPU_FMA;
    if (c & F16C)
        found |= CPU_F16C;

    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return found;
    uint32_t n_sub = a;
    if (b & (1u << 5))
        found |= CPU_AVX2;
    if ((xcr0 & XCR0_AVX512) == XCR0_AVX512) {
        if (b & (1u << 16))
            found |= CPU_AVX512F;
        if (b & (1u << 17))
            found |= CPU_AVX512DQ;
        if (b & (1u << 30))
            found |= CPU_AVX512BW;
        if (b & (1u << 31))
            found |= CPU_AVX512VL;
        if (c & (1u << 11))
            found |= CPU_AVX512_VNNI;
    }
    bool has_tile = (d & (1u << 24)) && (xcr0 & XCR0_AMX) == XCR0_AMX && request_amx();
    if (has_tile) {
        found |= CPU_AMX_TILE;
        if (d & (1u << 25))
            found |= CPU_AMX_INT8;
        if (d & (1u << 22))
            found |= CPU_AMX_BF16;
    }
    if (n_sub >= 1 && (found & CPU_AVX512F) && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5)))
        found |= CPU_AVX512_BF16;
    return found;
}

void cpu_brand(char *dst, size_t cap)
{
    uint32_t word[12];
    char text[sizeof(word) + 1];
    for (uint32_t i = 0; i < 3; i++) {
        if (!__get_cpuid(0x80000002u + i, &word[4 * i], &word[4 * i + 1], &word[4 * i + 2], &word[4 * i + 3])) {
            snprintf(dst, cap, "CPU");
            return;
        }
    }
    memcpy(text, word, sizeof(word));
    text[sizeof(word)] = 0;
    char *start = text;
    while (*start == ' ')
        start++;
    size_t len = strlen(start);
    while (len && start[len - 1] == ' ')
        start[--len] = 0;
    snprintf(dst, cap, "%s", len ? start : "CPU");
}

#elif defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#endif

uint32_t cpu_features(void)
{
    uint32_t found = CPU_NEON; /* part of every AArch64 processor */
#if defined(__linux__)
    enum { ASIMDDP = 1 << 20 };
    if (getauxval(AT_HWCAP) & ASIMDDP)
        found |= CPU_DOTPROD;
#endif
    return found;
}

void cpu_brand(char *dst, size_t cap) { snprintf(dst, cap, "AArch64"); }

#else

uint32_t cpu_features(void) { return 0; }
void cpu_brand(char *dst, size_t cap) { snprintf(dst, cap, "CPU"); }

#endif
