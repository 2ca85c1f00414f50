/* dotprod_neon.c - the NEON kernels compiled for processors with sdot. kernels_neon.c chooses them. */
#if !defined(__clang__)
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
#include "neon.h"

const struct fast_kernels *const neon_dotprod_kernels = &kernels;
