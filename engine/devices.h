/* devices.h - what this machine can compute on.
 *
 * Owner    plain data; nothing stays open
 * Errors   MYTH_ENOMEM; a device that is absent is left out                                                                  */
#ifndef MYTH_DEVICES_H
#define MYTH_DEVICES_H

#include "base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_DEVICES_MAX = 16, MYTH_LEVELS_MAX = 8 };

typedef struct {
    char name[32], description[128];
    char level[16];                              /* in use when nothing else is asked for */
    char present[MYTH_LEVELS_MAX][16];           /* every level that this build and this processor have */
    uint32_t n_present;
    int n_threads;
    uint64_t total_bytes, free_bytes;            /* 0 = unknown */
} myth_device_info;

/* Writes at most cap records in the order "auto" tries the devices; *n says how many. n_threads 0 = all. */
myth_status myth_devices_list(myth_device_info *out, size_t cap, size_t *n, myth_mem *mem, int n_threads, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
