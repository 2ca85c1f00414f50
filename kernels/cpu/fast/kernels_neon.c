/* kernels_neon.c - the NEON level: its kernels without sdot, and its table of ops. */
#include "neon.h"

static const struct fast_kernels *kernels_of(const myth_stream *s)
{
    return cpu_of(s)->features & CPU_DOTPROD ? neon_dotprod_kernels : &kernels;
}

#include "fast_level.h"

const struct cpu_level cpu_level_neon = {.name = "neon", .needs = CPU_NEON, .ops = FAST_OPS, .work = fast_work};
