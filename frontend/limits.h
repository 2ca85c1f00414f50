/* limits.h - what this machine can do at most, measured: the denominators of bench.
 *
 * Read     bytes a second that all threads together read from a buffer far larger than the caches; best of several passes
 * Peak     operations a second of the widest dot product instruction that the CPU device may use (int8 pairs, else f32 fused
 *          multiply-add), all threads together; a multiply and an add are two. `exact`: f32 only
 * Memory   64 MiB per thread, at most an eighth of the ledger's limit, booked as STAGING for the call
 * Errors   MYTH_ENOMEM                                                                                                      */
#ifndef MYTH_LIMITS_H
#define MYTH_LIMITS_H

#include "../engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double read_bytes;             /* per second */
    double flops;                  /* per second */
    const char *flops_kind;        /* "avx512-vnni" ... */
} myth_machine_limits;

/* What measure books. */
uint64_t myth_limits_bytes(int n_threads, uint64_t limit_bytes);
/* n_threads 0 = one per core available to the process. */
myth_status myth_limits_measure(myth_machine_limits *out, myth_mem *mem, int n_threads, bool exact, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
