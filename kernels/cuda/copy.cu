/* copy.cu   copies bytes from view to view; the two ranges may overlap
 *
 * Traffic    2 * bytes
 * Limit      DRAM bandwidth for pages, launch latency below 1 MB. A thread copies 16 bytes at a time where both
 *            addresses allow it, with four loads in flight
 * Overlap    for ranges that overlap, one block copies a tile at a time, in the direction in which no byte is
 *            overwritten before it is read. All bytes of a tile are read before any is written */
#include "common.cuh"

enum { THREADS = 256, UNROLL = 4 };

template <typename T> static __global__ void copy_k(T *dst, const T *src, uint64_t n)
{
    uint64_t step = (uint64_t)gridDim.x * THREADS, i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    for (; i < n; i += UNROLL * step) {
        T v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (i + u * step < n)
                v[u] = src[i + u * step];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (i + u * step < n)
                dst[i + u * step] = v[u];
    }
}

static __global__ void move_k(unsigned char *dst, const unsigned char *src, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += THREADS) {
        uint64_t i = at + threadIdx.x, from = dst < src ? i : n - 1 - i;
        unsigned char v = i < n ? src[from] : 0;
        __syncthreads();
        if (i < n)
            dst[from] = v;
        __syncthreads();
    }
}

template <typename T> static void copy(myth_stream *s, unsigned char *dst, const unsigned char *src, uint64_t n_bytes)
{
    const uint64_t n = n_bytes / sizeof(T), per_block = THREADS * UNROLL, n_block = (n + per_block - 1) / per_block;
    const uint64_t most = 8ull * (unsigned)cuda_of(s)->sm_count;
    MYTH_LAUNCH(copy_k<T>, (unsigned)(n_block < most ? n_block : most), THREADS, 0, s)
    ((T *)(void *)dst, (const T *)(const void *)src, n);
}

extern "C" void cuda_copy(myth_stream *s, const struct myth_copy_args *a)
{
    unsigned char *dst = cuda_ptr<unsigned char>(a->dst);
    const unsigned char *src = cuda_ptr<const unsigned char>(a->src);
    uint64_t bits = (uint64_t)(uintptr_t)dst | (uint64_t)(uintptr_t)src | a->bytes;
    if (dst == src)
        return;
    if (dst < src + a->bytes && src < dst + a->bytes)
        MYTH_LAUNCH(move_k, 1, THREADS, 0, s)(dst, src, a->bytes);
    else if (bits % 16 == 0)
        copy<uint4>(s, dst, src, a->bytes);
    else if (bits % 4 == 0)
        copy<uint32_t>(s, dst, src, a->bytes);
    else
        copy<unsigned char>(s, dst, src, a->bytes);
    cuda_check(s, "copy");
}
