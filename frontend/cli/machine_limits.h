/* machine_limits.h - measures the peak read bandwidth and arithmetic of this machine. bench divides by them.
 *
 * Read     bytes a second that all threads together read from a buffer far larger than the caches; best of several
 *          passes
 * Peak     operations a second of the widest dot product instruction for weights of a type, all threads together: int8
 *          for block types, bf16 for bf16, else f32 fused multiply-add. A multiply and an add count as two. Only
 *          instructions that the CPU level may use count: avx2 has none of 512 bits. 0 = the peak is not known here
 * Memory   64 MiB per thread, at most an eighth of the ledger's limit, booked as STAGING during the call
 * Errors   MYTH_ENOMEM
 * Threads  call from one; it starts n_threads of its own */
#ifndef MYTH_MACHINE_LIMITS_H
#define MYTH_MACHINE_LIMITS_H

#include "engine/base/dtype.h"
#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double read_bytes;      /* per second */
    double flops;           /* per second */
    const char *flops_kind; /* "avx512 int8" ... */
} myth_machine_limits;

/* The bytes that myth_limits_measure books. */
uint64_t myth_limits_bytes(int n_threads, uint64_t limit_bytes);
/* n_threads 0 = one per core available to the process; level: the name of a CPU level, NULL or "auto" = the best. */
myth_status myth_limits_measure(myth_machine_limits *out, myth_mem *mem, int n_threads, myth_dtype type,
                                const char *level, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
