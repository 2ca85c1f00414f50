/* cuda_emu.h - CUDA as seen by our .cu files when they are compiled as C++ for the CPU: types, built-in variables, warp
 * and block collectives, tensor-core tiles, and the part of the runtime that device_cuda.cu calls.
 *
 * Threads   one fiber each; blocks run one after another. A warp's lanes run until every live lane waits at the same
 *           collective; a block's warps until all wait at the same barrier. Anything else is divergence, reported with
 *           both places
 * Order     MYTHOS_EMU_ORDER=forward (default), reverse or random:SEED, for threads and for blocks
 * Shared    filled with 0xff (NaN) at the start of each block, with guards between arrays (AddressSanitizer)
 * Races     in a build with EMU_RACE every access to shared memory is recorded: two threads on one byte with no barrier
 *           between them and a write among them are reported
 * Memory    cudaMalloc is the host's heap, filled with 0xff, one block each (so that AddressSanitizer sees overruns),
 *           counted against MYTHOS_EMU_MEMORY bytes (default 2 GiB)
 * Streams   work is queued and done at a synchronisation, in stream order: what the host touches too early shows
 * Reports   go to the hook when there is one, else to stderr and abort. After a hook the launch is given up and the
 *           device is in a sticky error, as after a failed launch
 * Code      MYTHOS_EMU_CODE=89, 90 or 90a: what the kernels are said to have been compiled for (default: what fits the
 *           device's number, MYTHOS_EMU_CC). A launch or an instruction that such code lacks is reported
 * Strict    what a real driver only may punish, this one always does: a kernel whose first use is in a recording is
 *           refused; cudaMemset runs when the default stream is waited for and not before; a constant load from memory
 *           that the host never wrote (so that kernels must have) is reported
 * Faults    emu_set_fault: the n-th runtime call from now on fails; emu_refuse: calls of a kind fail until told
 *           otherwise */
#ifndef MYTH_CUDA_EMU_H
#define MYTH_CUDA_EMU_H

#include <functional>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __grid_constant__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

/* ---- built-in types and variables ---- */

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

static inline int2 make_int2(int x, int y) { return int2{x, y}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
static inline float2 make_float2(float x, float y) { return float2{x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return int4{x, y, z, w}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{x, y, z, w}; }
static inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/* ---- places ---- */

struct emu_site {
    const char *file;
    unsigned line;
};
#define EMU_SITE (emu_site{__FILE__, (unsigned)__LINE__})

/* Lives while a helper of common.cuh runs: its collectives are told apart by where it was called. */
class emu_called
{
  public:
    emu_called(const char *file, unsigned line);
    ~emu_called();
    emu_called(const emu_called &) = delete;
    emu_called &operator=(const emu_called &) = delete;

  private:
    emu_site kept_;
    uint64_t kept_path_;
};

/* ---- collectives ---- */

void emu_syncthreads(emu_site at);
void emu_syncwarp(emu_site at, unsigned mask);
struct emu_place {
    emu_site at;
    void syncwarp(unsigned mask = 0xffffffffu) const { emu_syncwarp(at, mask); }
};
/* Each lane of the mask gives `bytes` (<= 32); returns the 32 slots, valid until this lane's next collective. */
enum { EMU_SLOT_BYTES = 32 };
const unsigned char (*emu_exchange(emu_site at, unsigned mask, const void *value, size_t bytes))[EMU_SLOT_BYTES];
unsigned emu_ballot(emu_site at, unsigned mask, int predicate);
int emu_lane();
/* The source of a shuffle must take part in it. */
void emu_check_lane(emu_site at, unsigned mask, int src);

template <typename T> static inline T emu_shfl_from(emu_site at, unsigned mask, T v, int src)
{
    static_assert(sizeof(T) <= 8, "a shuffle moves 4 or 8 bytes");
    const unsigned char(*slot)[EMU_SLOT_BYTES] = emu_exchange(at, mask, &v, sizeof(T));
    T r;
    emu_check_lane(at, mask, src);
    memcpy(&r, slot[src], sizeof(T));
    return r;
}
template <typename T> static inline T emu_shfl(emu_site at, unsigned mask, T v, int src, int width = 32)
{
    int base = emu_lane() & ~(width - 1);
    return emu_shfl_from(at, mask, v, base + (src & (width - 1)));
}
template <typename T> static inline T emu_shfl_xor(emu_site at, unsigned mask, T v, int lane_mask, int width = 32)
{
    int me = emu_lane(), src = me ^ lane_mask;
    return emu_shfl_from(at, mask, v, (src & ~(width - 1)) > (me & ~(width - 1)) ? me : src);
}
template <typename T> static inline T emu_shfl_down(emu_site at, unsigned mask, T v, unsigned delta, int width = 32)
{
    int me = emu_lane(), src = me + (int)delta;
    return emu_shfl_from(at, mask, v, (src & ~(width - 1)) != (me & ~(width - 1)) ? me : src);
}
template <typename T> static inline T emu_shfl_up(emu_site at, unsigned mask, T v, unsigned delta, int width = 32)
{
    int me = emu_lane(), src = me - (int)delta;
    return emu_shfl_from(at, mask, v, src < (me & ~(width - 1)) ? me : src);
}

#define __syncthreads()                emu_syncthreads(EMU_SITE)
#define __syncwarp(...)                emu_place{EMU_SITE}.syncwarp(__VA_ARGS__)
#define __shfl_sync(mask, ...)         emu_shfl(EMU_SITE, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...)     emu_shfl_xor(EMU_SITE, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...)    emu_shfl_down(EMU_SITE, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...)      emu_shfl_up(EMU_SITE, mask, __VA_ARGS__)
#define __ballot_sync(mask, predicate) emu_ballot(EMU_SITE, mask, predicate)
#define __any_sync(mask, predicate)    (emu_ballot(EMU_SITE, mask, predicate) != 0)
#define __all_sync(mask, predicate)    (emu_ballot(EMU_SITE, mask, !(predicate)) == 0)

static inline void __threadfence() {}
static inline void __threadfence_block() {}

/* ---- shared memory, asynchronous copies, tiles ---- */

void *emu_shared(const void *key, size_t bytes, const char *name, const char *file, unsigned line);
void *emu_shared_dyn();
void emu_cp_async(void *shared, const void *global, int bytes, int n_read);
void emu_cp_async_commit();
void emu_cp_async_wait(int n_left);
void emu_ldmatrix(emu_site at, uint32_t *r, const void *row, int n_matrix, bool is_trans);
void emu_mma_m16n8k16_bf16(emu_site at, float *c, const uint32_t *a, const uint32_t *b);
void emu_mma_m16n8k16_f16(emu_site at, float *c, const uint32_t *a, const uint32_t *b);
void emu_wgmma_k16_f16(float (*c)[4], int n, const void *a, const void *b);
void emu_dependency_wait();
bool emu_code_has_pdl();   /* compiled for sm_90 or later */
bool emu_code_has_wgmma(); /* compiled for sm_90a */
void emu_constant_load(const void *p, size_t bytes);
void emu_prefetch();

/* ---- atomics: threads run one at a time ---- */

void emu_atomic_touch(const void *p, size_t bytes);
#define EMU_ATOMIC(name, T, expr)       \
    static inline T name(T *p, T v)     \
    {                                   \
        emu_atomic_touch(p, sizeof(T)); \
        T old = emu_peek(p);            \
        emu_poke(p, (T)(expr));         \
        return old;                     \
    }
/* Not seen by the race check: an atomic does not race with another. */
void emu_copy(void *dst, const void *src, size_t bytes);
template <typename T> static inline T emu_peek(const T *p)
{
    T v;
    emu_copy(&v, p, sizeof(T));
    return v;
}
template <typename T> static inline void emu_poke(T *p, T v) { emu_copy(p, &v, sizeof(T)); }
EMU_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)v))
EMU_ATOMIC(atomicAdd, unsigned, old + v)
EMU_ATOMIC(atomicAdd, unsigned long long, old + v)
EMU_ATOMIC(atomicMax, int, old > v ? old : v)
EMU_ATOMIC(atomicMax, unsigned, old > v ? old : v)
EMU_ATOMIC(atomicMax, unsigned long long, old > v ? old : v)
EMU_ATOMIC(atomicMin, int, old < v ? old : v)
EMU_ATOMIC(atomicMin, unsigned, old < v ? old : v)
EMU_ATOMIC(atomicOr, int, old | v)
EMU_ATOMIC(atomicOr, unsigned, old | v)
EMU_ATOMIC(atomicAnd, unsigned, old &v)
EMU_ATOMIC(atomicExch, int, v)
EMU_ATOMIC(atomicExch, unsigned, v)
static inline unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v)
{
    emu_atomic_touch(p, sizeof(*p));
    unsigned old = emu_peek(p);
    if (old == expected)
        emu_poke(p, v);
    return old;
}

/* ---- arithmetic ---- */

static inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c = (int)((unsigned)c + (unsigned)((int)(int8_t)((unsigned)a >> i) * (int)(int8_t)((unsigned)b >> i)));
    return c;
}
static inline float __uint_as_float(unsigned u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline unsigned __float_as_uint(float f)
{
    unsigned u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float __int_as_float(int i) { return __uint_as_float((unsigned)i); }
static inline int __float_as_int(float f) { return (int)__float_as_uint(f); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float __fdividef(float a, float b) { return a / b; }
#define __expf(x)    expf(x) /* the C library has these names for itself */
#define __logf(x)    logf(x)
#define __log2f(x)   log2f(x)
#define __exp2f(x)   exp2f(x)
#define __powf(x, y) powf(x, y)
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline int __float2int_rn(float x) { return (int)lrintf(x); }
static inline long long __float2ll_rn(float x) { return llrintf(x); }
static inline long long __double2ll_rn(double x) { return llrint(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    uint64_t both = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned sel = s >> (4 * i) & 0xf, byte = (unsigned)(both >> (8 * (sel & 7))) & 0xff;
        r |= (sel & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
    }
    return r;
}
template <typename T> static inline T __ldg(const T *p) { return *p; }
template <typename T> static inline T __ldcs(const T *p) { return *p; }
template <typename T> static inline T __ldcg(const T *p) { return *p; }
template <typename T> static inline void __stcs(T *p, T v) { *p = v; }
template <typename T> static inline void __stcg(T *p, T v) { *p = v; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }

/* ---- the runtime ---- */

typedef enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorECCUncorrectable = 214,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorUnknown = 999
} cudaError_t;

typedef struct emu_stream *cudaStream_t;
typedef struct emu_event *cudaEvent_t;
typedef struct emu_graph *cudaGraph_t;
typedef struct emu_graph *cudaGraphExec_t;
typedef enum {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;
typedef enum {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
} cudaStreamCaptureMode;
typedef enum {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
} cudaFuncAttribute;
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
};
typedef enum { cudaLaunchAttributeProgrammaticStreamSerialization = 6 } cudaLaunchAttributeID;
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0, cudaHostAllocMapped = 2 };
typedef enum {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
} cudaDeviceAttr;

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlockOptin;
    int major, minor, multiProcessorCount, integrated;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int ordinal);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int ordinal);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int ordinal);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void **p, void *host, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind, cudaStream_t s);
cudaError_t cudaMemset(void *dst, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t s);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t g, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t g);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventQuery(cudaEvent_t e);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *f);
cudaError_t cudaFuncSetAttribute(const void *f, cudaFuncAttribute attr, int value);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorName(cudaError_t e);
const char *cudaGetErrorString(cudaError_t e);

cudaError_t emu_launch(const cudaLaunchConfig_t *config, const void *kernel, std::function<void()> body);

template <typename... P, typename... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A... args)
{
    return emu_launch(config, (const void *)kernel, [=]() { kernel(static_cast<P>(args)...); });
}

/* ---- for tests ---- */

/* What the emulation complains of goes to the hook (one line); NULL = stderr and abort. */
typedef void (*emu_report_fn)(const char *text);
void emu_set_report(emu_report_fn report);
/* "forward", "reverse", "random:7"; NULL = the environment. */
void emu_set_order(const char *order);
/* The n-th runtime call from now (1 = the next) returns e; 0 = off. Errors of a broken context stay until emu_reset. */
void emu_set_fault(uint64_t nth, cudaError_t e);
/* Refusals, or'd: each makes every such call fail with an error that a step could survive. 0 = none. */
enum {
    EMU_REFUSE_BEGIN = 1,       /* cudaStreamBeginCapture */
    EMU_REFUSE_END = 2,         /* cudaStreamEndCapture */
    EMU_REFUSE_INSTANTIATE = 4, /* cudaGraphInstantiate */
    EMU_REFUSE_EARLY = 8        /* a dependent launch in a recording */
};
void emu_refuse(unsigned what);
uint64_t emu_n_call();              /* runtime calls since emu_reset */
const char *emu_call(uint64_t nth); /* name of the n-th of them; NULL past the last */
const char *emu_call_name();        /* the call that failed by fault, or NULL */
uint64_t emu_memory_used();
void emu_hog(uint64_t bytes); /* taken by another process, as if */
uint64_t emu_n_launch();      /* kernels run */
/* Since emu_reset: launches that may start early, those of them whose kernel has no preferred carve-out, launches of
 * recorded steps, and the most lines that the blocks of one kernel asked the L2 cache for. */
uint64_t emu_n_dependent();
uint64_t emu_n_without_carveout();
uint64_t emu_n_replay();
uint64_t emu_most_lines();
uint64_t emu_n_live(); /* allocations, streams, events, graphs not given back */
void emu_reset();      /* forgets sticky errors and faults */

#endif
