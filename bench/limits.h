/* limits.h - measures the limits of a CUDA device. bench_engine divides its results by them.
 *
 * Units    bytes per second, operations per second (a multiply and an add are two), microseconds; 0 = not measured
 * Peaks    the rate of chains of tensor-core instructions on registers or shared memory, without device memory. No
 *          matrix product can be faster
 * Memory   two buffers, booked on the device's ledger as STAGING during the call
 * Errors   MYTH_ENOMEM, and errors of the device */
#ifndef MYTH_BENCH_LIMITS_H
#define MYTH_BENCH_LIMITS_H

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_limits {
    double read_bytes, copy_bytes; /* device memory; a copied byte counts twice, since it is read and written */
    double upload_bytes;           /* pinned host memory to the device */
    double bf16_mma, bf16_wgmma, int8_mma;
    double node_us,
        dependent_us;  /* time between the kernels of a recorded stream; the same with programmatic dependent launch */
    double barrier_us; /* time in which all blocks of a grid, one per multiprocessor, wait for each other */
};

/* Opens the device, measures its limits and closes it. With is_quick it measures the smallest sizes once each, for runs
 * without a GPU. */
myth_status bench_cuda_limits(struct cuda_limits *out, myth_mem *mem, const myth_device_opts *opts, bool is_quick,
                              myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
