/* gemm.cuh   y[r, o] = sum_k x[r, k] W[o, k] for the many rows of prefill
 *
 * Exact      f32 products and sums on tiles of 64 x 64. F32 weights and odd widths use these tiles in fast mode too
 * Fast       f16 tiles on the tensor cores (wgmma on sm_90a, mma.sync elsewhere), with f32 sums. x is rounded to f16
 *            once, into the scratch: each row is scaled by a power of two that puts its largest value at 2^14, and
 *            padded with zeros to whole steps of K. cp.async brings its tiles, three steps deep. F16 weights come the
 *            same way. BF16, Q8_0 and Q4_0 go through registers, one step ahead, and are put into shared memory as f16,
 *            16 times as large, once per tile. With wgmma, cp.async brings Q8_0 and Q4_0 as they are stored, some steps
 *            further ahead (gemm_ahead): where the tiles are few, as for a short prompt, a step takes as long as its
 *            weights are on their way. bf16 tiles would be as fast but round x 8 times more coarsely, which over 12
 *            layers is the whole tolerance of fast mode
 * Blocks     the other quantised types (dequant.cuh) take several times as many instructions to unpack. So they are
 *            unpacked once per product instead of once per tile: a slab of rows becomes f16 in the scratch, 16 times as
 *            large, and is then multiplied like F16 weights. The bits are the same as if they were unpacked in the tile
 * Range      all F16 weights. For BF16 and quantised weights, magnitudes from 4e-9 to 4,094: smaller ones become zero,
 *            larger ones infinite
 * Order      K ascends in steps of 16 for every tile and is never split, so a row's bits depend on the row and W only
 * Shared     rows of 64 values (128 bytes), with 16-byte chunk c of row r at c ^ (r & 7). Neither cp.async nor ldmatrix
 *            has bank conflicts with that, and it is wgmma's swizzle of 128 bytes
 * Traffic    x: 10 bytes an element once, 4 of them from L2, then 2 bytes for each column of tiles; W once for each row
 *            of tiles
 * Limit      tensor cores: a block of 128 x 128 does 2 * 128 * 128 flops per 512 bytes that it reads from shared memory
 * Lost       nothing measured yet */
#ifndef MYTH_CUDA_GEMM_CUH
#define MYTH_CUDA_GEMM_CUH

#include "gemv.cuh"
#include "wgmma.cuh"

enum { GEMM_STEP = 64, GEMM_STAGES = 3, GEMM_ALIGN = 1024 };

static inline uint32_t gemm_padded(uint32_t n_in) { return (n_in + GEMM_STEP - 1) / GEMM_STEP * GEMM_STEP; }

/* ---- rounding x to f16 ---- */

enum { GEMM_ROUND_BLOCK = 256, GEMM_X_EXPONENT = 14, GEMM_LEAST_EXPONENT = -100 };

/* to[r, k] = x[r, k] * 2^(14 - e) and unscale[r] = 2^(e - 14), with 2^e <= the row's largest magnitude < 2^(e + 1). One
 * block per row. */
static __global__ void __launch_bounds__(GEMM_ROUND_BLOCK)
    gemm_round_k(uint2 *to, float *unscale, const float *x, uint32_t n_in, uint32_t n_pad)
{
    MYTH_SHARED(float, shared32, 32);
    const float4 *row = (const float4 *)(const void *)(x + (uint64_t)blockIdx.x * n_in);
    float most = 0.0f;
    for (uint32_t i = threadIdx.x; i < n_in / 4; i += GEMM_ROUND_BLOCK) {
        const float4 v = row[i];
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    most = block_max(most, shared32);
    const int exponent = max((int)(__float_as_uint(most) >> 23) - 127, (int)GEMM_LEAST_EXPONENT);
    const float scale = __uint_as_float((unsigned)(127 + GEMM_X_EXPONENT - exponent) << 23);
    for (uint32_t i = threadIdx.x; i < n_pad / 4; i += GEMM_ROUND_BLOCK) {
        const float4 v = i < n_in / 4 ? row[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        to[(uint64_t)blockIdx.x * (n_pad / 4) + i] =
            make_uint2(f32x2_to_f16x2(v.x * scale, v.y * scale), f32x2_to_f16x2(v.z * scale, v.w * scale));
    }
    if (threadIdx.x == 0)
        unscale[blockIdx.x] = __uint_as_float((unsigned)(127 + exponent - GEMM_X_EXPONENT) << 23);
}

/* ---- fast ---- */

/* Byte offset of 16-byte chunk c of row r in a tile of 128-byte rows. */
static __device__ __forceinline__ uint32_t gemm_swizzle(uint32_t r, uint32_t c)
{
    return r * 128 + ((c ^ (r & 7)) << 4);
}

struct gemm_args {
    float *y;
    const uint16_t *x;      /* f16 [n_rows, n_pad] */
    const float *unscale;   /* [n_rows]: the factor of a row's sums */
    float w_unscale;        /* the factor of all sums: a power of two, 1 / what the weights were multiplied by */
    const unsigned char *w; /* [n_out, n_in]: planar, or f16 */
    uint32_t n_rows, n_in, n_pad, n_out;
    uint64_t y_pitch; /* values from a row of y to the next */
};

/* How many steps of stored weights are on their way besides those of x; 0 = weights go through registers. As many as
 * leave room for two blocks of 128 x 128 on a multiprocessor. */
static __host__ __device__ constexpr uint32_t gemm_ahead(int type, int tile, bool is_wg)
{
    return !is_wg || (type != MYTH_Q8_0 && type != MYTH_Q4_0) ? 0 : type == MYTH_Q8_0 && tile > 64 ? 1 : 3;
}
/* Bytes of one step's stored weights, with their scales, in shared memory, and the number of such steps there. */
static __host__ __device__ constexpr uint32_t gemm_raw_bytes(int type, int tile)
{
    return 2 * (uint32_t)tile * (uint32_t)((type == MYTH_Q8_0 ? 32 : 16) + 4);
}
static __host__ __device__ constexpr uint32_t gemm_raw_steps(int type, int tile, bool is_wg)
{
    return gemm_ahead(type, tile, is_wg) ? gemm_ahead(type, tile, is_wg) + 2 : 0;
}

/* 32 weights of one row, in their stored form. */
template <int T> struct gemm_block {
    uint4 q[T == MYTH_Q4_0 ? 1 : T == MYTH_Q8_0 ? 2 : 4];
    uint16_t d;
    bool is_in;
};

/* Loads weights k..k+31 of row o, with zeros past the end of the row. */
template <int T>
static __device__ __forceinline__ void gemm_load_block(gemm_block<T> &b, const gemm_args &a, uint32_t o, uint32_t k)
{
    b.is_in = k < a.n_in;
    b.d = 0;
    if constexpr (T == MYTH_Q8_0 || T == MYTH_Q4_0) {
        const uint64_t row_bytes = T == MYTH_Q8_0 ? a.n_in : a.n_in / 2;
        if (!b.is_in)
            return;
        const unsigned char *at = a.w + o * row_bytes + (T == MYTH_Q8_0 ? k : k / 2);
        b.q[0] = load_weights16(at);
        if constexpr (T == MYTH_Q8_0)
            b.q[1] = load_weights16(at + 16);
        b.d = ((const uint16_t *)(const void *)(a.w + a.n_out * row_bytes))[(uint64_t)o * (a.n_in / 32) + k / 32];
    } else {
        const uint16_t *at = (const uint16_t *)(const void *)a.w + (uint64_t)o * a.n_in + k;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            b.q[i] = k + 8 * i < a.n_in ? load_weights16(at + 8 * i) : make_uint4(0, 0, 0, 0);
    }
}

/* Half a row of a tile of W as it is stored: what one thread copies for itself, a step at a time. */
struct gemm_half_row {
    const unsigned char *q;     /* the thread's 32 weights of step 0 */
    const unsigned char *scale; /* the words of the scales; that of a step is word first / 2 + step */
    uint32_t first, last;       /* the scale of step 0, and the matrix's last one */
    uint32_t k, n_in;
};

template <int T>
static __device__ __forceinline__ gemm_half_row gemm_half_row_of(const gemm_args &a, uint32_t o, uint32_t half)
{
    const uint64_t row_bytes = T == MYTH_Q8_0 ? a.n_in : a.n_in / 2;
    gemm_half_row h;
    h.q = a.w + o * row_bytes + half * (T == MYTH_Q8_0 ? 32 : 16);
    h.scale = a.w + a.n_out * row_bytes;
    h.first = o * (a.n_in / 32) + half;
    h.last = a.n_out * (a.n_in / 32) - 1;
    h.k = half * 32;
    h.n_in = a.n_in;
    return h;
}

/* Starts to copy the weights of a step to this thread's place in `to`: 16-byte pieces of all threads one after the
 * other, then the words that hold the scales. */
template <int T>
static __device__ __forceinline__ void gemm_copy_half(unsigned char *to, const gemm_half_row &h, uint32_t step)
{
    enum { PIECES = T == MYTH_Q8_0 ? 2 : 1 };
    if (h.k + step * GEMM_STEP >= h.n_in)
        return;
#pragma unroll
    for (uint32_t i = 0; i < PIECES; i++)
        cp_async16(to + (i * blockDim.x + threadIdx.x) * 16, h.q + (PIECES * 2 * step + i) * 16);
    const uint32_t word = h.first / 2 + step;
    cp_async4(to + PIECES * blockDim.x * 16 + threadIdx.x * 4, h.scale + (uint64_t)word * 4, 2 * word < h.last ? 4 : 2);
}

/* Reads what gemm_copy_half copied. */
template <int T>
static __device__ __forceinline__ void gemm_read_half(gemm_block<T> &b, const unsigned char *from,
                                                      const gemm_half_row &h, uint32_t step)
{
    enum { PIECES = T == MYTH_Q8_0 ? 2 : 1 };
    b.is_in = h.k + step * GEMM_STEP < h.n_in;
    b.d = 0;
    if (!b.is_in)
        return;
#pragma unroll
    for (uint32_t i = 0; i < PIECES; i++)
        b.q[i] = *(const uint4 *)(const void *)(from + (i * blockDim.x + threadIdx.x) * 16);
    b.d = ((const uint16_t *)(const void *)(from + PIECES * blockDim.x * 16 + threadIdx.x * 4))[h.first % 2];
}

/* The factor of weights that are converted to f16. BF16 has values far below f16's smallest normal one, while weights
 * are never far above 1. */
static constexpr float GEMM_W_SCALE = 16.0f;

/* Values 2i, 2i+1 of the block as an f16 pair, times GEMM_W_SCALE. For types with a scale d, the factor is in d. */
template <int T> static __device__ __forceinline__ uint32_t gemm_pair(const gemm_block<T> &b, float d, int i)
{
    static_assert(T != MYTH_F16, "is copied");
    if constexpr (T == MYTH_BF16) {
        const uint32_t v = gemv_word(b.q[i / 4], i % 4);
        return f32x2_to_f16x2(GEMM_W_SCALE * bf16_to_f32((uint16_t)v), GEMM_W_SCALE * bf16_to_f32((uint16_t)(v >> 16)));
    } else if constexpr (T == MYTH_Q8_0) {
        const uint32_t v = gemv_word(b.q[i / 8], i / 2 % 4) >> (16 * (i % 2));
        return f32x2_to_f16x2(d * (float)(int8_t)v, d * (float)(int8_t)(v >> 8));
    } else {
        const uint32_t v = gemv_word(b.q[0], i % 8 / 2) >> (16 * (i % 2) + (i < 8 ? 0 : 4));
        return f32x2_to_f16x2(d * (float)((int)(v & 15u) - 8), d * (float)((int)(v >> 8 & 15u) - 8));
    }
}

/* Stores the block's 32 values as f16 in chunks 4 * half .. of row r of the tile. */
template <int T>
static __device__ __forceinline__ void gemm_put_block(unsigned char *tile, const gemm_block<T> &b, uint32_t r,
                                                      uint32_t half)
{
    const float d = GEMM_W_SCALE * f16_to_f32(b.d);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        uint4 v = make_uint4(0, 0, 0, 0);
        if (b.is_in)
            v = make_uint4(gemm_pair<T>(b, d, 4 * c), gemm_pair<T>(b, d, 4 * c + 1), gemm_pair<T>(b, d, 4 * c + 2),
                           gemm_pair<T>(b, d, 4 * c + 3));
        *(uint4 *)(void *)(tile + gemm_swizzle(r, 4 * half + (uint32_t)c)) = v;
    }
}

/* Multiplies TILE rows of x with TILE rows of W; each of the 2 * TILE threads loads half a row of both. With IS_WG
 * (sm_90a) a warpgroup computes 64 x TILE outputs, else a warp computes TILE / 2 x 32. */
template <int T, int TILE, bool IS_WG> static __global__ void __launch_bounds__(2 * TILE) gemm_mma_k(gemm_args a)
{
    enum {
        WARPS_N = TILE / 32,
        MI = IS_WG ? 1 : TILE / 32,
        NI = IS_WG ? TILE / 8 : 4,
        IS_COPIED = T == MYTH_F16, /* the file's own bytes go to shared memory */
        W_STAGES = IS_COPIED ? GEMM_STAGES : 2,
        TILE_BYTES = TILE * 128,
        AHEAD = gemm_ahead(T, TILE, IS_WG),
        RAW_BYTES = gemm_raw_bytes(T, TILE),
        RAW_STEPS = gemm_raw_steps(T, TILE, IS_WG),
    };
    if constexpr (!wgmma_is_wanted<IS_WG>()) {
        wgmma_unwanted();
        return;
    }
    MYTH_SHARED_DYN(unsigned char, shared);
    unsigned char *const x_tile = shared + (IS_WG ? (0u - (unsigned)(uintptr_t)shared) % GEMM_ALIGN : 0u);
    unsigned char *const w_tile = x_tile + GEMM_STAGES * TILE_BYTES;
    [[maybe_unused]] unsigned char *const raw = w_tile + W_STAGES * TILE_BYTES;
    const uint32_t n_step = a.n_pad / GEMM_STEP, mine = threadIdx.x / 2, half = threadIdx.x % 2, w = (uint32_t)warp(),
                   l = (uint32_t)lane();
    const uint32_t m0 = blockIdx.x * TILE, o0 = blockIdx.y * TILE;
    const uint32_t warp_m = IS_WG ? w / 4 * 64 + w % 4 * 16 : w / WARPS_N * (TILE / 2),
                   warp_n = IS_WG ? 0 : w % WARPS_N * 32;
    /* The tile's other rows are zeros. If all read one row of x, a single slice of the L2 cache would serve them. */
    const bool has_row = m0 + mine < a.n_rows;
    const uint16_t *const x_row = a.x + (has_row ? (uint64_t)(m0 + mine) * a.n_pad : 0);
    const uint32_t o = min(o0 + mine, a.n_out - 1);

    [[maybe_unused]] gemm_half_row stored = {};
    if constexpr (AHEAD > 0)
        stored = gemm_half_row_of<T>(a, o, half);
    [[maybe_unused]] auto copy_raw = [&](uint32_t step) {
        if constexpr (AHEAD > 0)
            gemm_copy_half<T>(raw + step % RAW_STEPS * RAW_BYTES, stored, step);
    };
    auto copy_step =
        [&](uint32_t step) { /* one group per call, empty past the end */
                             copy_raw(step + AHEAD);
                             if (step < n_step) {
                                 unsigned char *to = x_tile + step % GEMM_STAGES * TILE_BYTES;
#pragma unroll
                                 for (uint32_t c = 4 * half; c < 4 * half + 4; c++)
                                     cp_async16_or_zero(to + gemm_swizzle(mine, c), x_row + step * GEMM_STEP + c * 8,
                                                        has_row);
                                 if constexpr (IS_COPIED) {
                                     const uint16_t *from = (const uint16_t *)(const void *)a.w + (uint64_t)o * a.n_in;
                                     to = w_tile + step % W_STAGES * TILE_BYTES;
#pragma unroll
                                     for (uint32_t c = 4 * half; c < 4 * half + 4; c++) {
                                         const bool is_in = step * GEMM_STEP + c * 8 < a.n_in;
                                         cp_async16_or_zero(to + gemm_swizzle(mine, c),
                                                            is_in ? from + step * GEMM_STEP + c * 8 : from, is_in);
                                     }
                                 }
                             }
                             cp_async_commit();
        };
    [[maybe_unused]] gemm_block<T> next;
    [[maybe_unused]] auto put_raw = [&](uint32_t step) {
        if constexpr (AHEAD > 0) {
            gemm_read_half<T>(next, raw + step % RAW_STEPS * RAW_BYTES, stored, step);
            gemm_put_block<T>(w_tile + step % W_STAGES * TILE_BYTES, next, mine, half);
        }
    };
    auto bring = [&](uint32_t step) { /* x of step + 2; W of step + 1 into shared memory, of step + 2 into registers */
                                      copy_step(step + 2);
                                      if constexpr (AHEAD > 0) {
                                          if (step + 1 < n_step)
                                              put_raw(step + 1);
                                      } else if constexpr (!IS_COPIED)
                                          if (step + 1 < n_step) {
                                              gemm_put_block<T>(w_tile + (step + 1) % W_STAGES * TILE_BYTES, next, mine,
                                                                half);
                                              gemm_load_block<T>(next, a, o, (step + 2) * GEMM_STEP + half * 32);
                                          }
    };

    float acc[MI * NI][4];
#pragma unroll
    for (int i = 0; i < MI * NI; i++)
        for (int e = 0; e < 4; e++)
            acc[i][e] = 0.0f;
    if constexpr (AHEAD > 0) {
#pragma unroll 1
        for (uint32_t step = 0; step < AHEAD; step++)
            copy_raw(step);
        cp_async_commit();
    }
    copy_step(0);
    copy_step(1);
    if constexpr (AHEAD > 0) {
        cp_async_wait<2>();
        put_raw(0);
    } else if constexpr (!IS_COPIED) {
        gemm_load_block<T>(next, a, o, half * 32);
        gemm_put_block<T>(w_tile, next, mine, half);
        gemm_load_block<T>(next, a, o, GEMM_STEP + half * 32);
    }
    for (uint32_t step = 0; step < n_step; step++) {
        const unsigned char *xt = x_tile + step % GEMM_STAGES * TILE_BYTES, *wt = w_tile + step % W_STAGES * TILE_BYTES;
        cp_async_wait<1>();
        if constexpr (IS_WG)
            wgmma_publish();
        __syncthreads(); /* the tiles of `step` are there, and all threads are done with those of step - 1 */
        if constexpr (IS_WG) {
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < GEMM_STEP / 16; k++)
                wgmma_k16_f16<NI>(acc, xt + w / 4 * 64 * 128 + 32 * k, wt + 32 * k);
            wgmma_commit();
            bring(step);
            wgmma_wait(acc);
        } else {
            bring(step);
#pragma unroll
            for (uint32_t k = 0; k < GEMM_STEP / 8; k += 2) { /* 16 values = 2 chunks */
                uint32_t xf[MI][4], wf[NI][2];
#pragma unroll
                for (int i = 0; i < MI; i++) /* matrices: rows 0..7, 8..15 of chunk k, then of chunk k + 1 */
                    ldmatrix_x4(xf[i], xt + gemm_swizzle(warp_m + 16 * (uint32_t)i + (l & 15), k + (l >> 4)));
#pragma unroll
                for (int n = 0; n < NI; n += 2) { /* matrices: outputs 0..7 of chunks k, k + 1, then outputs 8..15 */
                    uint32_t four[4];
                    ldmatrix_x4(four,
                                wt + gemm_swizzle(warp_n + 8 * (uint32_t)n + (l & 7) + (l >> 4) * 8, k + (l >> 3 & 1)));
                    wf[n][0] = four[0];
                    wf[n][1] = four[1];
                    wf[n + 1][0] = four[2];
                    wf[n + 1][1] = four[3];
                }
#pragma unroll
                for (int i = 0; i < MI; i++)
#pragma unroll
                    for (int n = 0; n < NI; n++)
                        mma_m16n8k16_f16(acc[i * NI + n], xf[i], wf[n]);
            }
        }
    }
#pragma unroll
    for (uint32_t h = 0; h < 2 * MI; h++) {
        const uint32_t r = m0 + warp_m + 8 * h + l / 4;
        if (r >= a.n_rows)
            continue;
        const float unscale = a.unscale[r] * a.w_unscale;
#pragma unroll
        for (uint32_t n = 0; n < NI; n++)
#pragma unroll
            for (uint32_t e = 0; e < 2; e++) {
                const uint32_t col = o0 + warp_n + 8 * n + l % 4 * 2 + e;
                if (col < a.n_out)
                    a.y[r * a.y_pitch + col] = unscale * acc[h / 2 * NI + n][2 * (h % 2) + e];
            }
    }
}

/* ---- types in blocks: unpacking to f16 ---- */

enum { GEMM_UNPACK_BLOCK = 128 };

/* Unpacks rows row0.. of m, one per index of grid.x, to f16 times GEMM_W_SCALE: the values that gemm_put_block would
 * put into a tile. A thread unpacks eight neighbours; n_in is a multiple of 32. */
static __global__ void __launch_bounds__(GEMM_UNPACK_BLOCK)
    gemm_unpack_k(uint4 *to, gemv_matrix m, uint32_t row0, uint32_t n_in)
{
    const uint32_t i = blockIdx.y * GEMM_UNPACK_BLOCK + threadIdx.x;
    if (i >= n_in / 8)
        return;
    const dequant_eight e = gemv_eight(gemv_row_at<GEMV_ANY>(m, row0 + blockIdx.x, n_in), 8 * i);
    uint32_t pair[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        pair[k] = f32x2_to_f16x2(GEMM_W_SCALE * dequant_value(e, 2 * k), GEMM_W_SCALE * dequant_value(e, 2 * k + 1));
    to[(uint64_t)blockIdx.x * (n_in / 8) + i] = make_uint4(pair[0], pair[1], pair[2], pair[3]);
}

/* ---- exact ---- */

enum { GEMM_F32_TILE = 64, GEMM_F32_STEP = 16, GEMM_F32_BLOCK = 256 };

/* A thread computes 4 x 4 outputs that are 16 apart, so that neighbouring threads read neighbouring values. */
static __global__ void __launch_bounds__(GEMM_F32_BLOCK)
    gemm_f32_k(float *y, const float *x, gemv_matrix m, uint32_t n_rows, uint32_t n_in)
{
    enum { TILE = GEMM_F32_TILE, STEP = GEMM_F32_STEP, PITCH = TILE + 4 };
    MYTH_SHARED(float, xs, STEP *PITCH);
    MYTH_SHARED(float, ws, STEP *PITCH);
    const uint32_t m0 = blockIdx.x * TILE, o0 = blockIdx.y * TILE, tx = threadIdx.x % 16, ty = threadIdx.x / 16,
                   n_out = m.n_out;
    float acc[4][4];
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < 4; n++)
            acc[i][n] = 0.0f;
    const bool is_quant = gemv_is_quant(m.type);
    for (uint32_t k0 = 0; k0 < n_in; k0 += STEP) {
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < TILE * STEP; i += GEMM_F32_BLOCK) {
            const uint32_t k = i % STEP
            , at = i / STEP
            , r = min(m0 + at, n_rows - 1), o = min(o0 + at, n_out - 1);
            const bool is_in = k0 + k < n_in;
            xs[k * PITCH + at] = is_in ? x[(uint64_t)r * n_in + k0 + k] : 0.0f;
            if (!is_quant)
                ws[k * PITCH + at] = is_in ? gemv_float(gemv_row_at<GEMV_ANY>(m, o, n_in), k0 + k) : 0.0f;
        }
        if (is_quant && threadIdx.x < TILE * STEP / 8) { /* rows of quants are whole steps */
            const uint32_t at = threadIdx.x % TILE, k = threadIdx.x / TILE * 8;
            const dequant_eight e = gemv_eight(gemv_row_at<GEMV_ANY>(m, min(o0 + at, n_out - 1), n_in), k0 + k);
#pragma unroll
            for (uint32_t v = 0; v < 8; v++)
                ws[(k + v) * PITCH + at] = dequant_value(e, v);
        }
        __syncthreads();
        for (uint32_t k = 0; k < STEP; k++) {
            float xv[4], wv[4];
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                xv[i] = xs[k * PITCH + ty + 16 * i];
                wv[i] = ws[k * PITCH + tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int n = 0; n < 4; n++)
                    acc[i][n] = fmaf(xv[i], wv[n], acc[i][n]);
        }
        __syncthreads();
    }
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t n = 0; n < 4; n++) {
            const uint32_t r = m0 + ty + 16 * i, o = o0 + tx + 16 * n;
            if (r < n_rows && o < n_out)
                y[(uint64_t)r * n_out + o] = acc[i][n];
        }
}

/* ---- host ---- */

template <int T, int TILE> static inline void gemm_launch(myth_stream *s, const gemm_args &a)
{
    const bool is_wg =
        cuda_of(s)->has_wgmma; /* never chosen by the shape, because the order of sums inside a step may differ */
    const dim3 grid((a.n_rows + TILE - 1) / TILE, (a.n_out + TILE - 1) / TILE);
    const uint64_t shared_bytes = (uint64_t)TILE * 128 * (GEMM_STAGES + (T == MYTH_F16 ? GEMM_STAGES : 2)) +
                                  (is_wg ? GEMM_ALIGN + gemm_raw_steps(T, TILE, true) * gemm_raw_bytes(T, TILE) : 0);
    if (is_wg)
        MYTH_LAUNCH((gemm_mma_k<T, TILE, true>), grid, 2 * TILE, shared_bytes, s)(a);
    else
        MYTH_LAUNCH((gemm_mma_k<T, TILE, false>), grid, 2 * TILE, shared_bytes, s)(a);
}

template <int T> static inline void gemm_fast(myth_stream *s, const gemm_args &a)
{
    enum { LARGE = 128, SMALL = 64 };
    const uint64_t n_large = (uint64_t)((a.n_rows + LARGE - 1) / LARGE) * ((a.n_out + LARGE - 1) / LARGE);
    if (a.n_rows > SMALL && n_large >= (uint64_t)cuda_of(s)->sm_count) /* both tiles give the same bits */
        gemm_launch<T, LARGE>(s, a);
    else
        gemm_launch<T, SMALL>(s, a);
}

/* The product with a matrix of a type in blocks. As many of its rows as the slab holds are unpacked to f16 and
 * multiplied like F16 weights, then the next ones. `a` describes the whole matrix as if it were F16. */
static inline void gemm_slabs(myth_stream *s, gemm_args a, const gemv_matrix &m, unsigned char *slab,
                              uint64_t slab_bytes)
{
    const uint32_t most = (uint32_t)(slab_bytes / ((uint64_t)a.n_in * 2)), n_out = a.n_out;
    float *const y = a.y;
    if (!most) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: %llu bytes were reserved to unpack weights; a row of %u takes more",
                  s->dev->caps.name, (unsigned long long)slab_bytes, a.n_in);
        return;
    }
    a.w = slab;
    a.w_unscale = 1.0f / GEMM_W_SCALE;
    for (uint32_t from = 0; from < n_out; from += most) {
        a.n_out = n_out - from < most ? n_out - from : most;
        a.y = y + from;
        const dim3 grid(a.n_out, (a.n_in / 8 + GEMM_UNPACK_BLOCK - 1) / GEMM_UNPACK_BLOCK);
        MYTH_LAUNCH(gemm_unpack_k, grid, GEMM_UNPACK_BLOCK, 0, s)((uint4 *)(void *)slab, m, from, a.n_in);
        gemm_fast<MYTH_F16>(s, a);
    }
}

/* y [n_rows, n_out] f32, x [n_rows, n_in] f32, w [n_out, n_in] planar or in blocks. Uses the scratch. */
static inline void gemm(myth_stream *s, myth_view y, myth_view x, myth_view w, uint32_t n_rows, uint32_t n_in,
                        uint32_t n_out)
{
    const struct cuda_device *d = cuda_of(s);
    const gemv_matrix m = gemv_matrix_of(w, n_out, n_in);
    const bool is_block = dequant_is_block(w.dtype);
    if (d->is_exact || w.dtype == MYTH_F32 || n_in % 8) {
        const dim3 grid((n_rows + GEMM_F32_TILE - 1) / GEMM_F32_TILE, (n_out + GEMM_F32_TILE - 1) / GEMM_F32_TILE);
        MYTH_LAUNCH(gemm_f32_k, grid, GEMM_F32_BLOCK, 0, s)
        (cuda_ptr<float>(y), cuda_ptr<const float>(x), m, n_rows, n_in);
        return;
    }
    /* Takes as many rows at a time as fit the scratch when rounded to f16, beside the slab. */
    const uint64_t slab_bytes = is_block ? cuda_work_slab(&d->base.shape) : 0,
                   room = cuda_work_shared(&d->base.shape, d->tune.attn_bytes) - slab_bytes;
    const uint32_t n_pad = gemm_padded(n_in);
    const uint64_t most = room / ((uint64_t)n_pad * 2 + sizeof(float));
    unsigned char *const scratch = (unsigned char *)d->scratch;
    uint16_t *const rounded = (uint16_t *)(void *)scratch;
    float *const unscale = (float *)(void *)(rounded + most * n_pad);
    if (!most) {
        myth_fail(&s->err, MYTH_EDEVICE, "a row of %u values does not fit the scratch", n_in);
        return;
    }
    for (uint64_t from = 0; from < n_rows; from += most) {
        gemm_args a = {};
        a.y = cuda_ptr<float>(y) + from * n_out;
        a.x = rounded;
        a.unscale = unscale;
        a.w_unscale = w.dtype == MYTH_F16 ? 1.0f : 1.0f / GEMM_W_SCALE;
        a.w = m.w;
        a.n_rows = (uint32_t)(n_rows - from < most ? n_rows - from : most);
        a.n_in = n_in;
        a.n_pad = n_pad;
        a.n_out = n_out;
        a.y_pitch = n_out;
        MYTH_LAUNCH(gemm_round_k, a.n_rows, GEMM_ROUND_BLOCK, 0, s)
        ((uint2 *)(void *)scratch, unscale, cuda_ptr<const float>(x) + from * n_in, n_in, n_pad);
        if (is_block)
            gemm_slabs(s, a, m, scratch + room, slab_bytes);
        else if (w.dtype == MYTH_F16)
            gemm_fast<MYTH_F16>(s, a);
        else if (w.dtype == MYTH_BF16)
            gemm_fast<MYTH_BF16>(s, a);
        else if (w.dtype == MYTH_Q8_0)
            gemm_fast<MYTH_Q8_0>(s, a);
        else
            gemm_fast<MYTH_Q4_0>(s, a);
    }
}

#endif
