/* limits.h - what a CUDA device can do at most, measured: the denominators of bench_engine.
 *
 * Units    bytes, operations a second (a multiply and an add are two), microseconds; 0 = not measured
 * Peaks    chains of tensor-core instructions on registers or shared memory, no device memory: what a matrix product
 *          cannot exceed
 * Memory   two buffers, booked on the device's ledger as STAGING for the call
 * Errors   MYTH_ENOMEM, and the device's own */
#ifndef MYTH_BENCH_LIMITS_H
#define MYTH_BENCH_LIMITS_H

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_limits {
    double read_bytes, copy_bytes; /* device memory; a copied byte counts twice: read and written */
    double upload_bytes;           /* pinned host memory to the device */
    double bf16_mma, bf16_wgmma, int8_mma;
    double node_us, dependent_us; /* between the kernels of a recorded stream; with programmatic dependent launch */
    double barrier_us;            /* all blocks of a grid of one block per multiprocessor wait for each other */
};

/* A device of its own, opened and closed. is_quick: the smallest sizes, once each, for runs without a GPU. */
myth_status bench_cuda_limits(struct cuda_limits *out, myth_mem *mem, const myth_device_opts *opts, bool is_quick,
                              myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
