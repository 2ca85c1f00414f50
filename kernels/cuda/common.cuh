/* common.cuh - the language of the kernels: launches, shared memory, warp and block collectives, loads, tensor-core
 * tiles.
 *
 * Two meanings  under nvcc this is CUDA. Compiled as plain C++ with tests/cuda_emu in the include path, the same
 *               kernels run on the CPU, one fiber per thread, and are checked for races, divergent barriers and
 *               overruns. So a kernel may use only what is here; new features are added to both sides
 * Blocks        are one-dimensional and a multiple of 32 threads; lane() and warp() rely on it
 * Collectives   every live thread of the warp (or block) calls them from the same line
 * Launch        MYTH_LAUNCH(kernel, grid, block, dynamic shared bytes, stream)(args); a template with commas goes in
 *               parentheses. cuda_check after it keeps the first failure in the stream
 * Dependent     MYTH_LAUNCH_DEPENDENT lets a block start while the previous kernel of the stream still runs, if the
 *               code in use can wait for it (compiled for sm_90 or later). Every thread of such a kernel calls
 *               grid_dependency_wait() before it reads or writes anything that earlier kernels read or write
 * Source        PTX ISA: mma.m16n8k16, ldmatrix, cp.async fragment layouts and semantics */
#ifndef MYTH_CUDA_COMMON_CUH
#define MYTH_CUDA_COMMON_CUH

#include "device_cuda.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define MYTH_CUDA_REAL 1
#else
#define MYTH_CUDA_REAL 0
#endif

/* The line that called a helper, for the reports of the emulation; nothing under nvcc. */
#if MYTH_CUDA_REAL
#define MYTH_CALLER
#define MYTH_CALLED ((void)0)
#else
#define MYTH_CALLER , unsigned caller_line = __builtin_LINE(), const char *caller_file = __builtin_FILE()
#define MYTH_CALLED const emu_called called_from(caller_file, caller_line)
#endif

/* ---- launches ----
 *
 * The macros name a kernel as a template argument, which puts every kernel that the program can launch into a list
 * before main runs. Opening a device loads them all. Otherwise the driver would load a kernel at its first launch, and
 * may refuse to do so during a recording. */

template <auto KERNEL, bool IS_DEPENDENT> struct cuda_listed {
    static cuda_kernel kernel;
};
template <auto KERNEL, bool IS_DEPENDENT>
cuda_kernel cuda_listed<KERNEL, IS_DEPENDENT>::kernel((const void *)KERNEL, IS_DEPENDENT);

template <typename... P> struct cuda_launch {
    void (*kernel)(P...);
    dim3 grid, block;
    uint64_t shared_bytes;
    myth_stream *s;
    bool is_dependent;

    void operator()(P... args) const
    {
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute attribute[1] = {};
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = (size_t)shared_bytes;
        config.stream = ((struct cuda_stream *)s)->stream;
        if (is_dependent && cuda_overlaps(s)) {
            attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attribute[0].val.programmaticStreamSerializationAllowed = 1;
            config.attrs = attribute;
            config.numAttrs = 1;
        }
        if (s->err.code == MYTH_OK && cuda_enter(s) && cuda_has_shared(s, shared_bytes))
            cuda_launched(s, cudaLaunchKernelEx(&config, kernel, args...));
    }
};

template <typename... P>
static inline cuda_launch<P...> cuda_prepare(void (*kernel)(P...), dim3 grid, dim3 block, uint64_t shared_bytes,
                                             myth_stream *s, const cuda_kernel &listed)
{
    return cuda_launch<P...>{kernel, grid, block, shared_bytes, s, listed.is_dependent};
}

#define MYTH_LAUNCH(name, grid, block, shared_bytes, s) \
    cuda_prepare(name, grid, block, shared_bytes, s, cuda_listed<name, false>::kernel)
#define MYTH_LAUNCH_DEPENDENT(name, grid, block, shared_bytes, s) \
    cuda_prepare(name, grid, block, shared_bytes, s, cuda_listed<name, true>::kernel)

/* ---- views ---- */

/* Device address of a view; NULL when the view is not given. */
template <typename T> static inline T *cuda_ptr(myth_view v)
{
    return v.buf ? (T *)(void *)(((struct cuda_buf *)v.buf)->base + v.off) : nullptr;
}

/* x_scale of a prologue as a factor. */
static inline float cuda_x_scale(float x_scale) { return x_scale == 0.0f ? 1.0f : x_scale; }

/* ---- shared memory ---- */

#if MYTH_CUDA_REAL
/* `n` elements (a constant) that the block shares. They are not initialised. */
#define MYTH_SHARED(T, name, n) __shared__ __align__(16) T name[n]
/* The dynamic shared bytes of the launch, aligned to 128. */
#define MYTH_SHARED_DYN(T, name)                                      \
    extern __shared__ __align__(128) unsigned char myth_shared_dyn[]; \
    T *const name = reinterpret_cast<T *>(myth_shared_dyn)
#else
#define MYTH_SHARED(T, name, n) \
    static char name##_key;     \
    T *const name = (T *)emu_shared(&name##_key, sizeof(T) * (size_t)(n), #name, __FILE__, __LINE__)
#define MYTH_SHARED_DYN(T, name) T *const name = (T *)emu_shared_dyn()
#endif

/* ---- 16-bit types: raw bits, round to nearest even ---- */

#if MYTH_CUDA_REAL
static __device__ __forceinline__ float f16_to_f32(uint16_t h)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}
static __device__ __forceinline__ uint16_t f32_to_f16(float f)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}
static __device__ __forceinline__ float bf16_to_f32(uint16_t h) { return __uint_as_float((unsigned)h << 16); }
static __device__ __forceinline__ uint16_t f32_to_bf16(float f)
{
    uint16_t h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}
/* Two values rounded to bf16 in one register, `lo` in the low half. */
static __device__ __forceinline__ uint32_t f32x2_to_bf16x2(float lo, float hi)
{
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}
static __device__ __forceinline__ uint32_t f32x2_to_f16x2(float lo, float hi)
{
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}
#else
static inline float f16_to_f32(uint16_t h) { return myth_f16_to_f32(h); }
static inline uint16_t f32_to_f16(float f) { return myth_f32_to_f16(f); }
static inline float bf16_to_f32(uint16_t h) { return myth_bf16_to_f32(h); }
static inline uint16_t f32_to_bf16(float f) { return myth_f32_to_bf16(f); }
static inline uint32_t f32x2_to_bf16x2(float lo, float hi)
{
    return (uint32_t)f32_to_bf16(lo) | (uint32_t)f32_to_bf16(hi) << 16;
}
static inline uint32_t f32x2_to_f16x2(float lo, float hi)
{
    return (uint32_t)f32_to_f16(lo) | (uint32_t)f32_to_f16(hi) << 16;
}
#endif

/* ---- activation ---- */

/* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))). tanhf of the library saturates, so large x is safe. */
static __device__ __forceinline__ float gelu_tanh(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.79788456f * fmaf(0.044715f * x * x, x, x)));
}

/* ---- loads ---- */

/* What the L2 cache should do with the lines of weight loads, as a number for the loads below. Weights are read once a
 * step, so their lines should leave the cache before those that the next kernel needs. Before sm_90 the number is not
 * used: it would take two registers in kernels that have none left. */
static __device__ __forceinline__ uint64_t weight_policy(bool leaves_first)
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint64_t first, normal;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
    return leaves_first ? first : normal;
#else
    return leaves_first;
#endif
}

/* Loads 16 bytes of weights that are read once and not kept in L1. `.nc` promises that nothing writes them from the
 * start of the kernel's first block on. That is true of weights, but not of data that an earlier kernel of the stream
 * may still be writing. `p` is aligned to 16. */
static __device__ __forceinline__ uint4 load_weights16(const void *p)
{
#if MYTH_CUDA_REAL
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
#else
    emu_constant_load(p, 16);
    return *(const uint4 *)p;
#endif
}
/* The same with a policy from weight_policy. */
static __device__ __forceinline__ uint4 load_weights16(const void *p, uint64_t policy)
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "l"(policy));
    return v;
#else
    (void)policy;
    return load_weights16(p);
#endif
}

/* Loads 16 bytes of keys or values that are read once and not kept in L1. It is not `.nc`, because the kernel before
 * this one writes the step's own rows, possibly after this kernel has started. `p` is aligned to 16. */
static __device__ __forceinline__ uint4 load_kv16(const void *p)
{
#if MYTH_CUDA_REAL
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
#else
    return *(const uint4 *)p;
#endif
}

/* Asks the L2 cache for the line at p. */
static __device__ __forceinline__ void prefetch_l2(const void *p)
{
#if MYTH_CUDA_REAL
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#else
    (void)p;
    emu_prefetch();
#endif
}

/* ---- warps and blocks ---- */

static __device__ __forceinline__ int lane() { return (int)(threadIdx.x & 31u); }
static __device__ __forceinline__ int warp() { return (int)(threadIdx.x >> 5); }

static const unsigned MYTH_WARP_ALL = 0xffffffffu;

/* The sum over the 32 lanes, with the same bits in each. The order is fixed, a butterfly. */
static __device__ __forceinline__ float warp_sum(float v MYTH_CALLER)
{
    MYTH_CALLED;
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(MYTH_WARP_ALL, v, o);
    return v;
}
static __device__ __forceinline__ float warp_max(float v MYTH_CALLER)
{
    MYTH_CALLED;
    for (int o = 16; o; o >>= 1)
        v = fmaxf(v, __shfl_xor_sync(MYTH_WARP_ALL, v, o));
    return v;
}
static __device__ __forceinline__ int warp_sum_i(int v MYTH_CALLER)
{
    MYTH_CALLED;
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(MYTH_WARP_ALL, v, o);
    return v;
}

/* The sum over the block, with the same bits in each thread. shared32 has 32 floats and may be used again at once. The
 * order depends on the block's size only. */
static __device__ __forceinline__ float block_sum(float v, float *shared32 MYTH_CALLER)
{
    MYTH_CALLED;
    int n_warp = (int)(blockDim.x >> 5);
    v = warp_sum(v);
    if (lane() == 0)
        shared32[warp()] = v;
    __syncthreads();
    v = warp_sum(lane() < n_warp ? shared32[lane()] : 0.0f);
    __syncthreads();
    return v;
}
static __device__ __forceinline__ float block_max(float v, float *shared32 MYTH_CALLER)
{
    MYTH_CALLED;
    int n_warp = (int)(blockDim.x >> 5);
    v = warp_max(v);
    if (lane() == 0)
        shared32[warp()] = v;
    __syncthreads();
    v = warp_max(lane() < n_warp ? shared32[lane()] : -INFINITY);
    __syncthreads();
    return v;
}

/* All threads of n blocks call it with one counter that is zero before. It returns true in the block that arrives last,
 * which then sees everything that the other blocks wrote before their call. The counter is zero again afterwards. */
static __device__ __forceinline__ bool last_block(unsigned *counter, unsigned n MYTH_CALLER)
{
    MYTH_CALLED;
    MYTH_SHARED(unsigned, is_last, 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last[0] = atomicAdd(counter, 1u) == n - 1u;
        if (is_last[0])
            atomicExch(counter, 0u);
    }
    __syncthreads();
    if (!is_last[0])
        return false;
    __threadfence();
    return true;
}

/* ---- programmatic dependent launch (sm_90; nothing elsewhere) ---- */

static __device__ __forceinline__ void grid_dependency_wait()
{
#if !MYTH_CUDA_REAL
    emu_dependency_wait();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/* Lets the next kernel of the stream start its blocks. */
static __device__ __forceinline__ void grid_dependency_launch()
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* ---- asynchronous copies to shared memory ---- */

/* Starts to copy 16 bytes; both addresses are aligned to 16. The copy is done after cp_async_wait, for the thread that
 * issued it. */
static __device__ __forceinline__ void cp_async16(void *shared, const void *global)
{
#if MYTH_CUDA_REAL
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global)
                 : "memory");
#else
    emu_cp_async(shared, global, 16, 16);
#endif
}
/* Like cp_async16 when has_source; else it writes 16 zero bytes and does not read `global`. */
static __device__ __forceinline__ void cp_async16_or_zero(void *shared, const void *global, bool has_source)
{
#if MYTH_CUDA_REAL
    int n = has_source ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global), "r"(n)
                 : "memory");
#else
    emu_cp_async(shared, global, 16, has_source ? 16 : 0);
#endif
}
/* Starts to copy n_source of 4 bytes, which are aligned to 4; the others become zero. */
static __device__ __forceinline__ void cp_async4(void *shared, const void *global, int n_source)
{
#if MYTH_CUDA_REAL
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global), "r"(n_source)
                 : "memory");
#else
    emu_cp_async(shared, global, 4, n_source);
#endif
}
static __device__ __forceinline__ void cp_async_commit()
{
#if MYTH_CUDA_REAL
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    emu_cp_async_commit();
#endif
}
/* Waits until at most the N newest groups of this thread are still in flight. */
template <int N> static __device__ __forceinline__ void cp_async_wait()
{
#if MYTH_CUDA_REAL
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#else
    emu_cp_async_wait(N);
#endif
}

/* ---- tensor-core tiles: 16-bit elements ---- */

/* Loads four 8 x 8 matrices. The rows of matrix i are at the addresses of lanes 8i..8i+7 (16 bytes each, in shared
 * memory, aligned to 16). Lane l gets elements 2(l%4), 2(l%4)+1 of row l/4 in r[i]; with _trans, of column l/4. */
static __device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void *row MYTH_CALLER)
{
    MYTH_CALLED;
#if MYTH_CUDA_REAL
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
#else
    emu_ldmatrix(EMU_SITE, r, row, 4, false);
#endif
}
static __device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], const void *row MYTH_CALLER)
{
    MYTH_CALLED;
#if MYTH_CUDA_REAL
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
#else
    emu_ldmatrix(EMU_SITE, r, row, 4, true);
#endif
}
static __device__ __forceinline__ void ldmatrix_x2(uint32_t (&r)[2], const void *row MYTH_CALLER)
{
    MYTH_CALLED;
#if MYTH_CUDA_REAL
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
#else
    emu_ldmatrix(EMU_SITE, r, row, 2, false);
#endif
}
static __device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], const void *row MYTH_CALLER)
{
    MYTH_CALLED;
#if MYTH_CUDA_REAL
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
#else
    emu_ldmatrix(EMU_SITE, r, row, 2, true);
#endif
}

/* c[16 x 8] += a[16 x 16] b[16 x 8]; a and b bf16, c f32. With g = lane/4, t = lane%4: a[0..3] hold rows g, g+8, g, g+8
 * and columns 2t, 2t+1 (+8 in a[2], a[3]); b[0..1] rows 2t, 2t+1 (+8) of column g; c[0..3] (g, 2t), (g, 2t+1), (g+8,
 * 2t), (g+8, 2t+1). */
static __device__ __forceinline__ void mma_m16n8k16_bf16(float (&c)[4], const uint32_t (&a)[4],
                                                         const uint32_t (&b)[2] MYTH_CALLER)
{
    MYTH_CALLED;
#if MYTH_CUDA_REAL
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    emu_mma_m16n8k16_bf16(EMU_SITE, c, a, b);
#endif
}
/* The same of f16. */
static __device__ __forceinline__ void mma_m16n8k16_f16(float (&c)[4], const uint32_t (&a)[4],
                                                        const uint32_t (&b)[2] MYTH_CALLER)
{
    MYTH_CALLED;
#if MYTH_CUDA_REAL
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    emu_mma_m16n8k16_f16(EMU_SITE, c, a, b);
#endif
}

#endif
