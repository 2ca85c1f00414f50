/* settings.h - what a person may change about devices in order to measure them or to look for a mistake. No run needs
 * it, and results stay the same unless a line below says otherwise.
 *
 * Zero     a zeroed struct has every default
 * Source   the caller. This library reads no environment; the command fills the struct from the variables that
 *          frontend/cli/environment.h lists
 * Owner    plain data, copied at open
 * Errors   a knob outside its range makes the open of a CUDA device fail with MYTH_EARG */
#ifndef MYTH_SETTINGS_H
#define MYTH_SETTINGS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The knobs of the CUDA device: numbers whose best value only a measurement on a GPU can tell.
 *
 *   pdl           1: a decode kernel may start before the kernel in front of it has ended
 *   evict_first   1: lines of weights leave the L2 cache before others
 *   carveout      percent of L1 that decode kernels want as shared memory; -1 leaves it to the driver. The same for all
 *                 of them, since a multiprocessor drains before it changes its split
 *   prefetch_kb   KB of weights that each multiprocessor asks the L2 cache for while it waits for the kernel in front.
 *                 All of them together should be well below the cache (50 MB on an H100): a line that is pushed out
 *                 before it is read comes from memory twice
 *   fill_warps    warps of a block share a tile of a matrix until it occupies this number of warps. Changes the order
 *                 of sums, and so the last bits of the answer
 *   attn_mb       MB at most for the partial results of decode attention (kernels/cuda/work.h)
 *
 * KNOB(field, NAME, least, most, default) */
/* clang-format off */
#define MYTH_CUDA_KNOBS(KNOB) \
    KNOB(pdl,         PDL,          0,     1,    1) \
    KNOB(evict_first, EVICT_FIRST,  0,     1,    1) \
    KNOB(carveout,    CARVEOUT,    -1,   100,  100) \
    KNOB(prefetch_kb, PREFETCH_KB,  0,  1024,   96) \
    KNOB(fill_warps,  FILL_WARPS,   1, 65536, 2048) \
    KNOB(attn_mb,     ATTN_MB,      1,  1024,   32)
/* clang-format on */

typedef struct {
    bool is_set; /* false: the default holds */
    int value;
} myth_knob;

typedef struct {
#define KNOB(field, name, least, most, fallback) myth_knob field;
    MYTH_CUDA_KNOBS(KNOB)
#undef KNOB
} myth_cuda_tune;

typedef struct {
    bool trace_ops;   /* log every op, whatever the log's level: name, shape, microseconds, fingerprint of its output */
    bool vk_validate; /* Vulkan runs under the Khronos validation layer with synchronisation checks; each of its
                       * warnings and errors is logged. MYTH_EDEVICE: the layer is not installed */
    bool vk_no_texels; /* a Vulkan driver that runs on the CPU gets the programs of GPUs, for tests of these */
    myth_cuda_tune cuda;
} myth_device_settings;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
