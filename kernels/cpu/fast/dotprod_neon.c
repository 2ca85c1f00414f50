/* dotprod_neon.c - the NEON kernels once more for processors with sdot, reached only through the level's choice. */
#if !defined(__clang__)
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
#include "neon.h"

const struct fast_kernels *const neon_dotprod_kernels = &kernels;
