/* tune.h - the knobs that a measurement turns: numbers whose best value only a GPU can tell. Read from the environment
 * once, when a device is planned or opened; without a variable the default holds.
 *
 *   MYTH_TUNE_PDL           0 or 1       a decode kernel may start before the kernel in front of it has ended
 *   MYTH_TUNE_PREFETCH_KB   0 .. 1024    KB of weights that each multiprocessor asks the L2 cache for while it waits
 *                                        for that kernel. All of them together should be well below the cache (50 MB on
 *                                        an H100): a line that is pushed out before it is read comes from memory twice
 *   MYTH_TUNE_EVICT_FIRST   0 or 1       lines of weights leave the L2 cache before others
 *   MYTH_TUNE_CARVEOUT      -1 .. 100    percent of L1 that decode kernels want as shared memory. The same for all of
 *                                        them, since a multiprocessor drains before it changes its split; -1 leaves it
 *                                        to the driver
 *   MYTH_TUNE_FILL_WARPS    1 .. 65536   warps of a block share a tile of a matrix until it occupies so many warps.
 *                                        Changes the order of sums, and so the last bits of the answer
 *   MYTH_TUNE_ATTN_MB       1 .. 1024    MB at most for the parts of decode attention (work.h)
 *
 * Errors    cuda_tune_read is false for a value that is no number of its range; `bad` names the variable */
#ifndef MYTH_CUDA_TUNE_H
#define MYTH_CUDA_TUNE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct cuda_tune {
    bool pdl, evict_first;
    int carveout; /* -1: the driver's choice */
    uint32_t prefetch_kb, fill_warps;
    uint64_t attn_bytes;
};

static inline bool cuda_tune_number(long *out, const char *name, long least, long most, const char **bad)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (!text || !*text)
        return true;
    const long v = strtol(text, &end, 10);
    if (*end || v < least || v > most) {
        *bad = name;
        return false;
    }
    *out = v;
    return true;
}

static inline bool cuda_tune_read(struct cuda_tune *out, const char **bad)
{
    long pdl = 1, evict_first = 1, carveout = 100, prefetch_kb = 96, fill_warps = 2048, attn_mb = 32;
    const bool is_ok = cuda_tune_number(&pdl, "MYTH_TUNE_PDL", 0, 1, bad) &&
                       cuda_tune_number(&evict_first, "MYTH_TUNE_EVICT_FIRST", 0, 1, bad) &&
                       cuda_tune_number(&carveout, "MYTH_TUNE_CARVEOUT", -1, 100, bad) &&
                       cuda_tune_number(&prefetch_kb, "MYTH_TUNE_PREFETCH_KB", 0, 1024, bad) &&
                       cuda_tune_number(&fill_warps, "MYTH_TUNE_FILL_WARPS", 1, 65536, bad) &&
                       cuda_tune_number(&attn_mb, "MYTH_TUNE_ATTN_MB", 1, 1024, bad);
    out->pdl = pdl != 0;
    out->evict_first = evict_first != 0;
    out->carveout = (int)carveout;
    out->prefetch_kb = (uint32_t)prefetch_kb;
    out->fill_warps = (uint32_t)fill_warps;
    out->attn_bytes = (uint64_t)attn_mb << 20;
    return is_ok;
}

#endif
