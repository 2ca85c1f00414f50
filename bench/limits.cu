/* limits.cu - measures the limits of limits.h. There is one small kernel per limit; the host times so many launches of
 * it that the time to start them does not count.
 *
 * Read       every thread adds words of 16 bytes, with four loads in flight. The buffer is several times as large as
 *            any cache
 * Peaks      mma: eight independent accumulators per warp. wgmma (sm_90a only): the 64 x 128 tile of a warpgroup from
 *            shared memory, both operands by descriptor. Values are small but not zero, since zeros draw less power
 *            than real data
 * Node       kernels of one block that do nothing, recorded and replayed
 * Barrier    one counter in device memory; each block arrives once. The emulation runs blocks one after the other, so
 *            its grid has one block
 * Source     PTX ISA: mma.m16n8k32 (s8), wgmma.mma_async and its matrix descriptor */
#include "limits.h"

#include "kernels/cuda/common.cuh"

#include <time.h>

enum { BLOCK = 256, WARPS = BLOCK / 32, CHAINS = 8, TILE_BYTES = 16384, NODES = 256 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- kernels ---- */

static __global__ void read_k(unsigned *sink, const unsigned char *from, unsigned long long n_word)
{
    const unsigned long long step = (unsigned long long)gridDim.x * BLOCK;
    unsigned sum = 0;
    unsigned long long i = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x;
    for (; i + 3 * step < n_word; i += 4 * step) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = load_kv16(from + 16 * (i + (unsigned long long)k * step));
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < n_word; i += step) {
        const uint4 v = load_kv16(from + 16 * i);
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9e3779b9u) /* uses the sum, so that the compiler keeps the loads */
        *sink = sum;
}

static __global__ void copy_k(unsigned char *to, const unsigned char *from, unsigned long long n_word)
{
    const unsigned long long step = (unsigned long long)gridDim.x * BLOCK;
    unsigned long long i = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x;
    for (; i + 3 * step < n_word; i += 4 * step) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = load_kv16(from + 16 * (i + (unsigned long long)k * step));
#pragma unroll
        for (int k = 0; k < 4; k++)
            *(uint4 *)(void *)(to + 16 * (i + (unsigned long long)k * step)) = v[k];
    }
    for (; i < n_word; i += step)
        *(uint4 *)(void *)(to + 16 * i) = load_kv16(from + 16 * i);
}

/* Two bf16 values near 2^-7, which differ from lane to lane. */
static __device__ __forceinline__ uint32_t small_pair(uint32_t i)
{
    const uint32_t h = (i + 1u) * 2654435761u;
    return (h & 0x807f807fu) | 0x3c003c00u;
}

static __global__ void bf16_k(float *out, int n_step)
{
    float c[CHAINS][4];
    uint32_t a[4], b[2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        a[i] = small_pair(threadIdx.x * 8u + (uint32_t)i);
#pragma unroll
    for (int i = 0; i < 2; i++)
        b[i] = small_pair(threadIdx.x * 8u + 4u + (uint32_t)i);
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        c[i][0] = c[i][1] = c[i][2] = c[i][3] = 0.0f;
    for (int step = 0; step < n_step; step++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            mma_m16n8k16_bf16(c[i], a, b);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* c[16 x 8] += a[16 x 32] b[32 x 8] in int8. With g = lane / 4, t = lane % 4: a[0..3] hold rows g, g+8, g, g+8 and
 * columns 4t..4t+3 (+16 in a[2], a[3]); b[0..1] rows 4t..4t+3 (+16) of column g; c as for bf16. */
static __device__ __forceinline__ void mma_m16n8k32_s8(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
#if MYTH_CUDA_REAL
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    const int g = lane() / 4, t = lane() % 4;
    for (int k = 0; k < 8;
         k++) /* word k of 8 along the inner dimension is with lane k % 4, in its registers of half k / 4 */
        for (int e = 0; e < 4; e++) {
            const int row = __shfl_sync(MYTH_WARP_ALL, (int)a[k / 4 * 2 + e / 2], g * 4 + k % 4);
            const int col = __shfl_sync(MYTH_WARP_ALL, (int)b[k / 4], (2 * t + e % 2) * 4 + k % 4);
            c[e] = __dp4a(row, col, c[e]);
        }
#endif
}

static __global__ void int8_k(float *out, int n_step)
{
    int c[CHAINS][4];
    uint32_t a[4], b[2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        a[i] = (threadIdx.x * 8u + (uint32_t)i + 1u) * 2654435761u;
#pragma unroll
    for (int i = 0; i < 2; i++)
        b[i] = (threadIdx.x * 8u + (uint32_t)i + 5u) * 2654435761u;
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        c[i][0] = c[i][1] = c[i][2] = c[i][3] = 0;
    for (int step = 0; step < n_step; step++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            mma_m16n8k32_s8(c[i], a, b);
    int sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        sum ^= c[i][0] ^ c[i][1] ^ c[i][2] ^ c[i][3];
    out[blockIdx.x * BLOCK + threadIdx.x] = (float)sum;
}

/* Sets is_done[0] to 1 on architectures that have the instruction. */
static __global__ void wgmma_k(float *out, unsigned *is_done, int n_step)
{
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    MYTH_SHARED_DYN(uint32_t,
                    tile); /* a: 64 x 16, then b: 128 x 16; 8 x 8 matrices of 128 bytes, two along k side by side */
    float c[64];
    for (uint32_t i = threadIdx.x; i < TILE_BYTES / 4; i += BLOCK)
        tile[i] = small_pair(i);
#pragma unroll
    for (int i = 0; i < 64; i++)
        c[i] = 0.0f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(tile);
    const uint64_t form = (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4)
                                                           << 32; /* next along k, next along rows; no swizzle */
    const uint64_t a = form | ((at & 0x3ffffu) >> 4), b = form | (((at + 2048u) & 0x3ffffu) >> 4);
#define C8(i)                                                                                                   \
    "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), \
        "+f"(c[i + 7])
    for (int step = 0; step < n_step; step++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                         "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                         "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                         "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                         "%64, %65, 1, 1, 1, 0, 0;"
                         : C8(0), C8(8), C8(16), C8(24), C8(32), C8(40), C8(48), C8(56)
                         : "l"(a), "l"(b));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
#undef C8
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 64; i++)
        sum += c[i];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
    if (threadIdx.x == 0)
        is_done[0] = 1;
#else
    (void)out, (void)is_done, (void)n_step;
#endif
}

static __global__ void nothing_k(unsigned *sink)
{
    if (threadIdx.x > 1024)
        *sink = 1;
}

static __global__ void nothing_dependent_k(unsigned *sink)
{
    grid_dependency_launch();
    grid_dependency_wait();
    if (threadIdx.x > 1024)
        *sink = 1;
}

static __global__ void barrier_k(unsigned *counter, unsigned n_step)
{
    for (unsigned step = 1; step <= n_step; step++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(counter, 1u);
            while (*(volatile unsigned *)counter < step * gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
    }
}

/* ---- timing ---- */

struct run {
    myth_stream *s;
    myth_view from, to, small; /* small: counters and places for results, then a float per thread of a peak's grid */
    uint64_t bytes;            /* bytes of from, and of to */
    unsigned n_block;
    int n_step; /* steps of the peaks and of the barrier */
    bool is_quick, is_dependent;
    myth_graph *graph;
    void *pinned;
    uint64_t pinned_bytes;
};

static unsigned *counter_of(const struct run *r) { return cuda_ptr<unsigned>(r->small); }
static float *out_of(const struct run *r) { return (float *)(void *)(cuda_ptr<unsigned char>(r->small) + 256); }

static void do_read(const struct run *r)
{
    MYTH_LAUNCH(read_k, r->n_block * 8, BLOCK, 0, r->s)(counter_of(r), cuda_ptr<unsigned char>(r->from), r->bytes / 16);
}
static void do_copy(const struct run *r)
{
    MYTH_LAUNCH(copy_k, r->n_block * 8, BLOCK, 0, r->s)
    (cuda_ptr<unsigned char>(r->to), cuda_ptr<unsigned char>(r->from), r->bytes / 16);
}
static void do_upload(const struct run *r)
{
    if (cudaMemcpyAsync(cuda_ptr<void>(r->to), r->pinned, (size_t)r->pinned_bytes, cudaMemcpyHostToDevice,
                        ((struct cuda_stream *)r->s)->stream) != cudaSuccess)
        cuda_check(r->s, "upload");
}
static void do_bf16(const struct run *r) { MYTH_LAUNCH(bf16_k, r->n_block * 2, BLOCK, 0, r->s)(out_of(r), r->n_step); }
static void do_int8(const struct run *r) { MYTH_LAUNCH(int8_k, r->n_block * 2, BLOCK, 0, r->s)(out_of(r), r->n_step); }
static void do_wgmma(const struct run *r)
{
    MYTH_LAUNCH(wgmma_k, r->n_block * 2, BLOCK, TILE_BYTES, r->s)(out_of(r), counter_of(r) + 1, r->n_step);
}
static void do_replay(const struct run *r) { myth_stream_replay(r->s, r->graph); }
static void do_barrier(const struct run *r)
{
    static const unsigned zero = 0;
    myth_stream_write(r->s, r->small, &zero, 4);
    MYTH_LAUNCH(barrier_k, MYTH_CUDA_REAL ? r->n_block : 1, BLOCK, 0, r->s)(counter_of(r), (unsigned)r->n_step);
}

/* Seconds per call: doubles the number of calls until they take a tenth of a second, then takes the best of three runs.
 */
static double time_of(const struct run *r, void (*call)(const struct run *))
{
    double best = 0.0;
    for (int n = 1, n_best = 0; n_best<3; n *= best> 0.0 ? 1 : 2) {
        double start = now();
        for (int i = 0; i < n; i++)
            call(r);
        if (myth_stream_sync(r->s, NULL) != MYTH_OK)
            return 0.0;
        double each = (now() - start) / n;
        if (r->is_quick)
            return each;
        if (best == 0.0 && each * n < 0.1)
            continue;
        best = n_best == 0 || each < best ? each : best;
        n_best++;
    }
    return best;
}

static double rate(double work, double seconds) { return seconds > 0.0 ? work / seconds : 0.0; }

static double time_nodes(struct run *r, bool is_dependent)
{
    const int n = r->is_quick ? 4 : NODES;
    myth_stream_begin_record(r->s);
    for (int i = 0; i < n; i++)
        if (is_dependent)
            MYTH_LAUNCH_DEPENDENT(nothing_dependent_k, 1, 32, 0, r->s)(counter_of(r));
        else
            MYTH_LAUNCH(nothing_k, 1, 32, 0, r->s)(counter_of(r));
    if (myth_stream_end_record(&r->graph, r->s, NULL) != MYTH_OK || !r->graph)
        return 0.0;
    double us = time_of(r, do_replay) * 1e6 / n;
    myth_graph_close(r->graph);
    r->graph = NULL;
    return us;
}

static void measure(struct cuda_limits *out, struct run *r)
{
    unsigned is_done = 0;
    const double bytes = (double)r->bytes, warps = 2.0 * r->n_block * WARPS, steps = (double)r->n_step * CHAINS;
    out->read_bytes = rate(bytes, time_of(r, do_read));
    out->copy_bytes = rate(2.0 * bytes, time_of(r, do_copy));
    out->upload_bytes = rate((double)r->pinned_bytes, time_of(r, do_upload));
    out->bf16_mma = rate(steps * warps * 2.0 * 16 * 8 * 16, time_of(r, do_bf16));
    out->int8_mma = rate(steps * warps * 2.0 * 16 * 8 * 32, time_of(r, do_int8));
    if (cuda_of(r->s)->has_wgmma) {
        myth_stream_write(r->s, myth_view_at(r->small.buf, 4, MYTH_I32), &is_done, 4);
        double seconds = time_of(r, do_wgmma);
        myth_stream_read(r->s, &is_done, myth_view_at(r->small.buf, 4, MYTH_I32), 4);
        if (myth_stream_sync(r->s, NULL) == MYTH_OK && is_done)
            out->bf16_wgmma = rate(steps * (warps / 4) * 2.0 * 64 * 128 * 16, seconds);
    }
    out->node_us = time_nodes(r, false);
    out->dependent_us = time_nodes(r, true);
    out->barrier_us = time_of(r, do_barrier) * 1e6 / r->n_step;
}

/* Fills a buffer with bytes that are not all the same, by doubling what is there. */
static void fill(const struct run *r)
{
    uint32_t first[1024];
    for (uint32_t i = 0; i < 1024; i++)
        first[i] = (i + 1u) * 2654435761u;
    myth_stream_write(r->s, r->from, first, sizeof(first));
    for (uint64_t n = sizeof(first); n < r->bytes; n *= 2) {
        const uint64_t more = n < r->bytes - n ? n : r->bytes - n;
        MYTH_LAUNCH(copy_k, r->n_block * 8, BLOCK, 0, r->s)
        (cuda_ptr<unsigned char>(r->from) + n, cuda_ptr<unsigned char>(r->from), more / 16);
    }
}

myth_status bench_cuda_limits(struct cuda_limits *out, myth_mem *mem, const myth_device_opts *opts, bool is_quick,
                              myth_error *err)
{
    myth_work_shape shape = {};
    const uint64_t bytes = is_quick ? 1u << 20 : 1u << 30, pinned_bytes = is_quick ? 1u << 16 : 256u << 20;
    myth_device *dev = NULL;
    struct run r = {};
    myth_status st;
    shape.n_rows = shape.n_logit_rows = shape.n_head = shape.n_head_kv = shape.top_k = shape.n_graph = 1;
    shape.d_model = shape.d_ff = shape.head_dim = shape.n_vocab = shape.n_ctx = 32;
    shape.n_record_ops = NODES;
    *out = {};
    if ((st = myth_device_open(&dev, mem, opts, err)) != MYTH_OK)
        return st;
    r.is_quick = is_quick;
    r.bytes = bytes;
    r.n_step = is_quick ? 2 : 4096;
    MYTH_TRY(myth_device_reserve(dev, &shape, err));
    MYTH_TRY(myth_stream_open(&r.s, dev, err));
    r.n_block = is_quick ? 2 : (unsigned)cuda_of(r.s)->sm_count;
    MYTH_TRY(myth_buf_open(&r.from.buf, dev, MYTH_MEM_STAGING, "limits", bytes, err));
    MYTH_TRY(myth_buf_open(&r.to.buf, dev, MYTH_MEM_STAGING, "limits", bytes, err));
    MYTH_TRY(
        myth_buf_open(&r.small.buf, dev, MYTH_MEM_STAGING, "limits", 256 + (uint64_t)r.n_block * 2 * BLOCK * 4, err));
    r.pinned_bytes = pinned_bytes;
    r.pinned = myth_host_alloc(dev, MYTH_MEM_STAGING, "limits", pinned_bytes);
    if (!r.pinned) {
        st = myth_fail(err, MYTH_ENOMEM, "%s: no pinned memory", opts->name);
        goto fail;
    }
    fill(&r);
    measure(out, &r);
    st = myth_stream_sync(r.s, err);
fail:
    if (r.pinned)
        myth_host_free(dev, MYTH_MEM_STAGING, r.pinned, pinned_bytes);
    if (r.small.buf)
        myth_buf_close(r.small.buf);
    if (r.to.buf)
        myth_buf_close(r.to.buf);
    if (r.from.buf)
        myth_buf_close(r.from.buf);
    if (r.s)
        myth_stream_close(r.s);
    myth_device_close(dev);
    return st;
}
