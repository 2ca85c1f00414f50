/* wgmma.cuh - products on the tensor cores of sm_90a: 4 warps issue them together, operands are in shared memory, and
 * results are there after wgmma_wait.
 *
 * Operand    rows of 64 f16, 128 bytes each, in a tile aligned to 1,024 bytes; 16-byte chunk c of row r is at chunk
 *            c ^ (r % 8). Columns 16i..16i+15 are named by the address where they would begin in row 0 without the
 *            swizzle: tile + 32i
 * Order      wgmma_publish by every thread that wrote tiles, a barrier, wgmma_fence, products, wgmma_commit, wgmma_wait
 * Elsewhere  on other architectures kernels that use these are not launched; the emulation computes a product at once
 * Source     PTX ISA: wgmma.mma_async, matrix descriptor */
#ifndef MYTH_CUDA_WGMMA_CUH
#define MYTH_CUDA_WGMMA_CUH

#include "common.cuh"

/* False while code is compiled for an architecture on which this kernel is never launched: with IS_WG one without
 * wgmma, without IS_WG one that has it. */
template <bool IS_WG> static __device__ __forceinline__ constexpr bool wgmma_is_wanted()
{
#if !MYTH_CUDA_REAL || !defined(__CUDA_ARCH__)
    return true;
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
    return IS_WG;
#else
    return !IS_WG;
#endif
}

/* Makes a launch on such an architecture an error instead of a wrong sum. */
static __device__ __forceinline__ void wgmma_unwanted()
{
#if MYTH_CUDA_REAL
    asm volatile("trap;");
#endif
}

/* Makes what this thread wrote to shared memory visible to wgmma after the next barrier. */
static __device__ __forceinline__ void wgmma_publish()
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
static __device__ __forceinline__ void wgmma_fence()
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
static __device__ __forceinline__ void wgmma_commit()
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/* Waits until all products of this warpgroup are done: after it the sums c may be read and the tiles overwritten. The
 * empty statements name the sums, so that the compiler does not read them before the wait. */
template <int N> static __device__ __forceinline__ void wgmma_wait(float (&c)[N][4])
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int n = 0; n < N; n++)
        asm volatile("" : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])::"memory");
#else
    (void)c;
#endif
}

#if MYTH_CUDA_REAL
/* Matrix descriptor: start address / 16, 8 rows = 1,024 bytes, swizzle of 128 bytes. */
static __device__ __forceinline__ uint64_t wgmma_operand(const void *p)
{
    const uint64_t at = (uint64_t)__cvta_generic_to_shared(p);
    return (at & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
#endif

/* c[64 x 8N] += a[64 x 16] b[8N x 16]^T, N = 8 or 16. With w = warp % 4, g = lane / 4, t = lane % 4: c[n][0..3] are
 * (16w + g, 8n + 2t), (16w + g, 8n + 2t + 1), (16w + g + 8, 8n + 2t), (16w + g + 8, 8n + 2t + 1). */
template <int N> static __device__ __forceinline__ void wgmma_k16_f16(float (&c)[N][4], const void *a, const void *b)
{
    static_assert(N == 8 || N == 16, "64 or 128 columns");
#if !MYTH_CUDA_REAL
    emu_wgmma_k16_f16(c, N, a, b);
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA_C(n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
    if constexpr (N == 8) {
        asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
                     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                     "%32, %33, p, 1, 1, 0, 0;}\n"
                     : WGMMA_C(0), WGMMA_C(1), WGMMA_C(2), WGMMA_C(3), WGMMA_C(4), WGMMA_C(5), WGMMA_C(6), WGMMA_C(7)
                     : "l"(wgmma_operand(a)), "l"(wgmma_operand(b)));
    } else {
        asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                     "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                     "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                     "%64, %65, p, 1, 1, 0, 0;}\n"
                     : WGMMA_C(0), WGMMA_C(1), WGMMA_C(2), WGMMA_C(3), WGMMA_C(4), WGMMA_C(5), WGMMA_C(6), WGMMA_C(7),
                       WGMMA_C(8), WGMMA_C(9), WGMMA_C(10), WGMMA_C(11), WGMMA_C(12), WGMMA_C(13), WGMMA_C(14),
                       WGMMA_C(15)
                     : "l"(wgmma_operand(a)), "l"(wgmma_operand(b)));
    }
#undef WGMMA_C
#else
    (void)c;
    (void)a;
    (void)b;
    wgmma_unwanted();
#endif
}

#endif
