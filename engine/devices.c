/* devices.c - opens each kind of device once and writes down what it says of itself. */
#include "devices.h"

#include "../kernels/device.h"

#include <stdio.h>

static void add_levels(myth_device_info *info, myth_mem *mem, int n_threads)
{
    static const char *const level[] = { "ref", "avx2", "avx512", "amx", "neon" };
    for (size_t i = 0; i < sizeof(level) / sizeof(level[0]) && info->n_present < MYTH_LEVELS_MAX; i++) {
        myth_device *dev;
        if (myth_device_open(&dev, mem, &(myth_device_opts){ .name = info->name, .n_threads = n_threads, .cpu_level = level[i] }, NULL) != MYTH_OK)
            continue;
        myth_device_close(dev);
        snprintf(info->present[info->n_present++], sizeof(info->present[0]), "%s", level[i]);
    }
}

myth_status myth_devices_list(myth_device_info *out, size_t cap, size_t *n, myth_mem *mem, int n_threads, myth_error *err)
{
    static const char *const kind[] = { "cpu" };
    *n = 0;
    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]) && *n < cap; i++) {
        myth_device *dev;
        myth_status st = myth_device_open(&dev, mem, &(myth_device_opts){ .name = kind[i], .n_threads = n_threads }, err);
        if (st == MYTH_EDEVICE)
            continue;
        if (st != MYTH_OK)
            return st;
        const myth_device_caps *caps = myth_device_get_caps(dev);
        myth_device_info *info = &out[(*n)++];
        *info = (myth_device_info){ .n_threads = caps->n_threads, .total_bytes = caps->total_bytes, .free_bytes = caps->free_bytes };
        snprintf(info->name, sizeof(info->name), "%s", caps->name);
        snprintf(info->description, sizeof(info->description), "%s", caps->description);
        snprintf(info->level, sizeof(info->level), "%s", caps->level);
        myth_device_close(dev);
        add_levels(info, mem, n_threads);
    }
    return MYTH_OK;
}
