/* devices.h - lists the devices of this machine, and says how much of each one's memory an engine may take.
 *
 * Units    bytes
 * Owner    plain data; nothing stays open
 * Margin   on every device but the CPU, 2 % of its memory and at least 16 MiB is left to the driver. The rest of what
 *          the driver reports as free may be used, or of its budget for this process when that is smaller
 * Errors   MYTH_ENOMEM; a device that is absent is left out of the list */
#ifndef MYTH_DEVICES_H
#define MYTH_DEVICES_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_DEVICES_MAX = 16, MYTH_LEVELS_MAX = 8 };

typedef struct {
    char name[32], description[128];
    char level[16];                    /* CPU: in use when nothing else is asked for; "" for others */
    char present[MYTH_LEVELS_MAX][16]; /* every level that this build and this processor have */
    uint32_t n_present;
    char variants[128]; /* what the kernels were chosen for; "" = nothing to choose */
    int n_threads;
    bool is_gpu;
    uint64_t total_bytes, free_bytes, budget_bytes; /* 0 = unknown */
} myth_device_info;

/* Writes at most cap records in the order "auto" tries the devices; *n says how many. Of the options only
 * n_threads, cpu_level and settings are read. */
myth_status myth_devices_list(myth_device_info *out, size_t cap, size_t *n, myth_mem *mem, const myth_engine_opts *opts,
                              myth_error *err);
/* The record of one device. Only a driver of its own kind is asked, because a driver takes memory from the moment at
 * which it is loaded. False: there is no such device here, or no memory to open it. */
bool myth_devices_find(myth_device_info *out, const char *name, myth_mem *mem, const myth_engine_opts *opts);
/* Kinds of devices that this build has: "vulkan", "cpu"; NULL behind the last. */
const char *myth_devices_kind(uint32_t i);
/* Resolves "auto" (or NULL) to a device's name; copies any other name. */
myth_status myth_devices_choose(char out[32], const char *name, myth_error *err);
/* The bytes that a model may take. On the host: mem's limit. On each device that `device` names (as in
 * myth_engine_opts): what open models leave of its ledger's limit, or when it has no limit, what the device has free
 * less the margin. A device in the host's memory has what the process has left there together with the host (in_host,
 * host_and), unless its limit is that of a larger device than the one that is here. MYTH_EDEVICE: a device is absent.
 * */
myth_status myth_devices_limits(myth_mem_limits *out, const myth_mem *mem, const char *device, myth_error *err);
/* "2GiB" for every device, or "cuda:0=8GiB,host=2GiB" for single ones; what text does not name stays as it is in *out.
 * parse_size reads one size; "none" is no limit. In place of a size, "80%" is a share of the memory that a device has
 * and "all-2GiB" what is left of it; on the host that is the memory which the process may have (host_memory.h). Without
 * a name both are of the host and of `devices`, those that may be used, as in myth_engine_opts; NULL = the host alone.
 * Only they are looked for: asking a driver costs the memory that it takes. MYTH_EARG: the text, or a device named
 * twice. */
myth_status myth_devices_read_limits(myth_mem_limits *out, const char *text, const char *devices,
                                     bool (*parse_size)(uint64_t *out, const char *text), myth_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
