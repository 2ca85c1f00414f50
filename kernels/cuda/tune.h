/* tune.h - the values of the knobs of kernels/settings.h: the caller's where they are set, else the defaults.
 *
 * Errors    cuda_tune_fill returns false when a value is outside its range; *bad is then the name of that knob, and the
 *           knob has its default */
#ifndef MYTH_CUDA_TUNE_H
#define MYTH_CUDA_TUNE_H

#include "kernels/device.h"

#include <stdbool.h>
#include <stdint.h>

struct cuda_tune {
    bool pdl, evict_first;
    int carveout; /* -1: the driver's choice */
    uint32_t prefetch_kb, fill_warps;
    uint64_t attn_bytes;
};

static inline int cuda_tune_value(myth_knob given, const char *name, int least, int most, int fallback,
                                  const char **bad)
{
    if (!given.is_set)
        return fallback;
    if (given.value >= least && given.value <= most)
        return given.value;
    *bad = name;
    return fallback;
}

static inline bool cuda_tune_fill(struct cuda_tune *out, const myth_cuda_tune *given, const char **bad)
{
    *bad = NULL;
#define KNOB(field, name, least, most, fallback) \
    const int field = cuda_tune_value(given->field, #field, least, most, fallback, bad);
    MYTH_CUDA_KNOBS(KNOB)
#undef KNOB
    out->pdl = pdl != 0;
    out->evict_first = evict_first != 0;
    out->carveout = carveout;
    out->prefetch_kb = (uint32_t)prefetch_kb;
    out->fill_warps = (uint32_t)fill_warps;
    out->attn_bytes = (uint64_t)attn_mb << 20;
    return *bad == NULL;
}

#endif
