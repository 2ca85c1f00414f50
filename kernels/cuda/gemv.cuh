/* gemv.cuh - products of weight matrices with the few rows of a decode step, and the prologue on the residual before
 * them.
 *
 *   acc[n][r] = sum_k W[o_n, k] x[r, k]
 *
 * Work       a block has 16 warps and takes tiles of the output one after the other. grid.y blocks share the tiles;
 *            grid.x is the group of R rows, so that blocks that read the same weights run at the same time. A warp has
 *            4 groups of 8 lanes. A group has a "slot", two matrix rows: neighbours, or gate and up. Its lanes take
 *            16-byte chunks of both rows in turn, with up to 4 chunks in flight (gemv_unroll). Where the matrix has few
 *            rows for the device, n_split warps share a tile along K
 * Rows       x is staged in shared memory once per block, in planes of 16 bytes per chunk, so that 8 lanes read 128
 *            neighbouring bytes
 * Modes      GEMV_F32    x in f32; weights F16, BF16
 *            GEMV_I8     x rounded to int8, one scale per 32 values; products of 4 by dp4a; quantised weights, fast
 *                        mode
 *            GEMV_PLAIN  x in f32, weights of any type one or eight at a time: quantised ones in exact mode, types in
 *                        blocks in either (dequant.cuh), widths that 16-byte loads do not fit, F32 (no published Gemma
 *                        is; instances of its own would be a twentieth of all code)
 * Order      each lane adds its chunks in ascending order, then lanes are added by a butterfly, then the splits in
 *            ascending order. Only the matrix decides this, so a row's bits depend on that row only. Every rounding is
 *            spelled out (fmaf), so that all template instances give the same bits
 * Traffic    the matrix once per group of R rows; n_in * 4 bytes of x per block and row
 * Cache      before the wait of a dependent launch, each block asks the L2 cache for its first lines, within a budget.
 *            Lines of weights leave the cache before others (tune.h)
 * Limit      DRAM bandwidth: up to 128 bytes in flight per thread, 64 KiB per block
 * Lost       nothing measured yet */
#ifndef MYTH_CUDA_GEMV_CUH
#define MYTH_CUDA_GEMV_CUH

#include "dequant.cuh"

enum {
    GEMV_WARPS = 16,
    GEMV_BLOCK = GEMV_WARPS * 32,
    GEMV_LANES = 8,                /* lanes along K */
    GEMV_GROUPS = 32 / GEMV_LANES, /* slots of a warp tile */
    GEMV_ROWS = 8,                 /* most rows of x in a launch's group */
    GEMV_STATIC_BYTES = 12 << 10,  /* room for the static shared memory of the kernels */
};

enum { GEMV_F32, GEMV_I8, GEMV_PLAIN };
/* The TYPE of instances in which the matrix tells its type at run time: any type in GEMV_PLAIN, F16 or BF16 in
 * GEMV_F32. The numbers are parts of the kernels' names in tests/cuda/ptxas.csv and sass.csv, so a new type must not
 * move them. */
enum { GEMV_ANY = 256, GEMV_HALF };
static_assert((int)MYTH_DTYPE_N < (int)GEMV_ANY, "a type has the number that says any type");

struct gemv_matrix {
    const unsigned char *w; /* planar: quants, then scales (weight_form.h); or rows of blocks */
    uint32_t n_out;
    int type;
    uint64_t row_bytes; /* of planar types, those of the quants */
};

struct gemv_row {
    const unsigned char *q;
    const uint16_t *d; /* the row's scales in planar types */
    int type;
};

/* The matrix [n_out, n_in] at w. */
static inline gemv_matrix gemv_matrix_of(myth_view w, uint32_t n_out, uint32_t n_in)
{
    return {cuda_ptr<const unsigned char>(w), n_out, (int)w.dtype, dequant_row_bytes((int)w.dtype, n_in)};
}

/* How a product runs. gemv_shape_of makes it on the host. */
struct gemv_shape {
    uint32_t n_in, n_chunk; /* n_chunk: chunks of a row */
    uint32_t n_slot, n_tile, n_split, split_chunk;
    uint32_t n_rows;
    uint32_t n_line;   /* 128-byte lines of each row that gemv_prefetch asks for */
    bool leaves_first; /* weights leave the L2 cache before other lines */
};

static __host__ __device__ constexpr bool gemv_is_quant(int type)
{
    return dequant_is_planar(type) || dequant_is_block(type);
}

/* The values of a chunk, which is 16 bytes of weights; in GEMV_PLAIN it is eight values, or one float. */
static __host__ __device__ constexpr int gemv_values(int type, int mode)
{
    return mode == GEMV_PLAIN ? (gemv_is_quant(type) ? 8 : 1) : type == MYTH_Q8_0 ? 16 : type == MYTH_Q4_0 ? 32 : 8;
}

/* How many chunks of both matrix rows a lane has in flight: as many as registers hold without spilling. */
static __host__ __device__ constexpr int gemv_unroll(int type, int mode, int rows)
{
    return mode == GEMV_I8 && rows == 1 ? (type == MYTH_Q8_0 ? 2 : 3) : 4;
}
/* The same for kernels that need more registers besides the sums. */
static __host__ __device__ constexpr int gemv_unroll_less(int type, int mode, int rows)
{
    const int most = gemv_unroll(type, mode, rows);
    return rows == 1 ? (most + 1) / 2 : rows == 8 && type == MYTH_Q4_0 ? most - 1 : most;
}

/* ---- weights ---- */

template <int T> static __device__ __forceinline__ gemv_row gemv_row_at(const gemv_matrix &m, uint32_t o, uint32_t n_in)
{
    const int type = T == GEMV_ANY || T == GEMV_HALF ? m.type : T;
    const uint64_t row_bytes =
        T == GEMV_ANY ? m.row_bytes : dequant_row_bytes(T == GEMV_HALF ? (int)MYTH_F16 : type, n_in);
    gemv_row row = {m.w + o * row_bytes, nullptr, type};
    if (T != GEMV_HALF && dequant_is_planar(type))
        row.d = (const uint16_t *)(const void *)(m.w + m.n_out * row_bytes) + (uint64_t)o * (n_in / 32);
    return row;
}

/* Weight k of a row of floats. */
static __device__ __forceinline__ float gemv_float(const gemv_row &row, uint32_t k)
{
    if (row.type == MYTH_F32)
        return ((const float *)(const void *)row.q)[k];
    const uint16_t h = ((const uint16_t *)(const void *)row.q)[k];
    return row.type == MYTH_F16 ? f16_to_f32(h) : bf16_to_f32(h);
}

/* Weights k..k+7 of a row of quants. */
static __device__ __forceinline__ dequant_eight gemv_eight(const gemv_row &row, uint32_t k)
{
    return dequant_at(row.type, row.q, row.d, k);
}

/* Weight k of a row of any type. */
static __device__ __forceinline__ float gemv_weight(const gemv_row &row, uint32_t k)
{
    return gemv_is_quant(row.type) ? dequant_value(gemv_eight(row, k & ~7u), k % 8) : gemv_float(row, k);
}

static __device__ __forceinline__ uint32_t gemv_word(const uint4 &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* Values 4p..4p+3 of a chunk of 2-byte floats. */
static __device__ __forceinline__ void gemv_quad(float (&f)[4], const uint4 &w, int p, bool is_f16)
{
    for (int i = 0; i < 4; i++) {
        const uint16_t h = (uint16_t)(gemv_word(w, 2 * p + i / 2) >> (16 * (i % 2)));
        f[i] = is_f16 ? f16_to_f32(h) : bf16_to_f32(h);
    }
}

/* ---- rows of x in shared memory ----
 *
 * GEMV_F32     float4 [R][values / 4][n_chunk]
 * GEMV_I8      16 int8 [R][values / 16][n_chunk], then (scale, 8 * sum) of every 32 values [R][n_in / 32]
 * GEMV_PLAIN   float [R][n_in]                                                                          */

template <int MODE> static __host__ __device__ __forceinline__ uint64_t gemv_stage_bytes(uint32_t n_in, uint64_t n_rows)
{
    return MODE == GEMV_I8 ? n_rows * (n_in + (uint64_t)n_in / 32 * sizeof(int2)) : n_rows * n_in * 4;
}

/* Values 4i..4i+3 of a row of n values, with zeros past its end. Only GEMV_PLAIN has rows whose length is not a
 * multiple of four (gemv_mode). */
template <int MODE> static __device__ __forceinline__ float4 gemv_load4(const float *row, uint32_t i, uint32_t n)
{
    if (MODE != GEMV_PLAIN)
        return ((const float4 *)(const void *)row)[i];
    float4 v;
    v.x = 4 * i < n ? row[4 * i] : 0.0f;
    v.y = 4 * i + 1 < n ? row[4 * i + 1] : 0.0f;
    v.z = 4 * i + 2 < n ? row[4 * i + 2] : 0.0f;
    v.w = 4 * i + 3 < n ? row[4 * i + 3] : 0.0f;
    return v;
}

template <int MODE>
static __device__ __forceinline__ void gemv_store4(float *row, uint32_t i, uint32_t n, const float4 &v)
{
    if (MODE != GEMV_PLAIN) {
        ((float4 *)(void *)row)[i] = v;
        return;
    }
    if (4 * i < n)
        row[4 * i] = v.x;
    if (4 * i + 1 < n)
        row[4 * i + 1] = v.y;
    if (4 * i + 2 < n)
        row[4 * i + 2] = v.z;
    if (4 * i + 3 < n)
        row[4 * i + 3] = v.w;
}

/* The place of values 4i..4i+3 of row r in a stage of f32. */
template <int T>
static __device__ __forceinline__ float4 *gemv_quad_at(unsigned char *stage, const gemv_shape &g, int r, uint32_t i)
{
    const uint32_t n_plane = gemv_values(T, GEMV_F32) / 4;
    return (float4 *)(void *)stage + (r * n_plane + i % n_plane) * g.n_chunk + i / n_plane;
}

/* Rounds values 4i..4i+3 of row r to int8 and stages them. Whole warps call it, with `is_in` false in lanes past the
 * row. 8 neighbouring lanes have a block of 32. A value that is not finite makes the scale of its block not finite. */
template <int T>
static __device__ __forceinline__ void gemv_put_i8(unsigned char *stage, const gemv_shape &g, int n_stage_rows, int r,
                                                   uint32_t i, bool is_in, const float4 &v)
{
    const uint32_t n_plane = gemv_values(T, GEMV_I8) / 16, block = i / 8, quad = i % 8;
    unsigned most = 0;
    const float f[4] = {v.x, v.y, v.z, v.w};
    for (int e = 0; e < 4; e++)
        most = max(most, __float_as_uint(f[e]) &
                             0x7fffffffu); /* the bits of magnitudes compare as the magnitudes do, NaN above all */
    for (int o = 1; o < 8; o <<= 1)
        most = max(most, __shfl_xor_sync(MYTH_WARP_ALL, most, o));
    const bool is_finite = most < 0x7f800000u;
    const float scale = __uint_as_float(most) / 127.0f, inverse = is_finite && scale > 0.0f ? 1.0f / scale : 0.0f;
    uint32_t word = 0;
    int sum = 0;
    for (int e = 0; e < 4; e++) {
        const int q = is_finite ? __float2int_rn(fminf(fmaxf(f[e] * inverse, -127.0f), 127.0f)) : 0;
        word |= ((uint32_t)q & 0xffu) << (8 * e);
        sum += q;
    }
    for (int o = 1; o < 8; o <<= 1)
        sum += __shfl_xor_sync(MYTH_WARP_ALL, sum, o);
    if (!is_in)
        return;
    const uint32_t plane = n_plane == 2 ? quad / 4 : 0, chunk = n_plane == 2 ? block : 2 * block + quad / 4;
    ((uint32_t *)(void *)stage)[((r * n_plane + plane) * g.n_chunk + chunk) * 4 + quad % 4] = word;
    if (quad == 0)
        ((int2 *)(void *)(stage + (uint64_t)n_stage_rows * g.n_in))[r * (g.n_in / 32) + block] =
            make_int2(__float_as_int(scale), 8 * sum);
}

template <int T, int MODE, int R>
static __device__ __forceinline__ void gemv_put(unsigned char *stage, const gemv_shape &g, int r, uint32_t i,
                                                bool is_in, const float4 &v)
{
    if constexpr (MODE == GEMV_I8)
        gemv_put_i8<T>(stage, g, R, r, i, is_in, v);
    else if constexpr (MODE == GEMV_F32) {
        if (is_in)
            *gemv_quad_at<T>(stage, g, r, i) = v;
    } else if (is_in) {
        float *row = (float *)(void *)stage + r * g.n_in;
        const float f[4] = {v.x, v.y, v.z, v.w};
        for (uint32_t e = 0; e < 4 && 4 * i + e < g.n_in; e++)
            row[4 * i + e] = f[e];
    }
}

/* Stages rows row0.. of x [n_rows, n_in]. The last row stands in for those past it. A barrier must follow. */
template <int T, int MODE, int R>
static __device__ __forceinline__ void gemv_stage_rows(unsigned char *stage, const gemv_shape &g, const float *x,
                                                       uint32_t row0)
{
    const uint32_t n4 = (g.n_in + 3) / 4;
#pragma unroll 1
    for (uint32_t i0 = 0; i0 < n4; i0 += GEMV_BLOCK) {
        const uint32_t i = i0 + threadIdx.x;
#pragma unroll
        for (int r = 0; r < R; r++) {
            const float *row = x + (uint64_t)min(row0 + r, g.n_rows - 1) * g.n_in;
            const float4 v = i < n4 ? gemv_load4<MODE>(row, i, g.n_in) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            gemv_put<T, MODE, R>(stage, g, r, i, i < n4, v);
        }
    }
}

/* ---- the prologue: t = (x + RMS(pend) * w_post) * x_scale, staged as t / sqrt(mean(t^2) + eps) * w ---- */

struct gemv_norm {
    float *x;
    const float *pend, *w_post, *w; /* pend, w_post: nullptr = not given */
    float eps, x_scale;             /* x_scale: 1 = none                 */
};

/* Asks the L2 cache for the norms' weights, which no earlier kernel writes, before the wait of a dependent launch: the
 * model's other weights have driven them out since the step before. */
static __device__ __forceinline__ void gemv_prefetch_norm(const gemv_shape &g, const gemv_norm &f)
{
    const uint32_t i = 32 * threadIdx.x; /* 128 bytes each: enough for a row of 16,384 */
    if (blockIdx.y || i >= g.n_in)
        return;
    prefetch_l2(f.w + i);
    if (f.w_post)
        prefetch_l2(f.w_post + i);
}

/* How many rows of t are made at once, in f32: in the stage itself, or beside a stage of int8. The code is there as
 * often; in GEMV_PLAIN, whose loads are long, once. */
template <int MODE, int R> static __host__ __device__ constexpr int gemv_fold_rows()
{
    constexpr int MOST = MODE == GEMV_PLAIN ? 1 : MODE == GEMV_I8 ? 2 : 4;
    return R < MOST ? R : MOST;
}

template <int MODE, int R> static __host__ __device__ __forceinline__ uint64_t gemv_norm_stage_bytes(uint32_t n_in)
{
    const uint64_t stage = (gemv_stage_bytes<MODE>(n_in, R) + 15) & ~(uint64_t)15;
    return stage + (MODE == GEMV_I8 ? (uint64_t)gemv_fold_rows<MODE, R>() * n_in * 4 : 0);
}

template <int MODE>
static __device__ __forceinline__ float4 gemv_folded(const gemv_norm &f, uint64_t at, uint32_t i, uint32_t n,
                                                     float post_scale)
{
    float4 t = gemv_load4<MODE>(f.x + at, i, n);
    if (!f.pend)
        return t;
    const float4 p = gemv_load4<MODE>(f.pend + at, i, n);
    const float4 one = make_float4(1.0f, 1.0f, 1.0f, 1.0f), w = f.w_post ? gemv_load4<MODE>(f.w_post, i, n) : one;
    t.x = fmaf(p.x * post_scale, w.x, t.x) * f.x_scale;
    t.y = fmaf(p.y * post_scale, w.y, t.y) * f.x_scale;
    t.z = fmaf(p.z * post_scale, w.z, t.z) * f.x_scale;
    t.w = fmaf(p.w * post_scale, w.w, t.w) * f.x_scale;
    return t;
}

static __device__ __forceinline__ float gemv_square(const float4 &v, float sum)
{
    return fmaf(v.w, v.w, fmaf(v.z, v.z, fmaf(v.y, v.y, fmaf(v.x, v.x, sum))));
}

/* scale[r] = 1 / sqrt(mean + eps) of N rows, from the sums of squares of the threads. `part` has N * GEMV_WARPS floats
 * and is free again after the next barrier. */
template <int N>
static __device__ __forceinline__ void gemv_scales(float (&scale)[N], const float (&ss)[N], float *part, uint32_t n,
                                                   float eps)
{
#pragma unroll
    for (int r = 0; r < N; r++) {
        const float sum = warp_sum(ss[r]);
        if (lane() == 0)
            part[r * GEMV_WARPS + warp()] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < N; r++) {
        float sum = 0.0f;
        for (int w = 0; w < GEMV_WARPS; w++)
            sum += part[r * GEMV_WARPS + w];
        scale[r] = 1.0f / sqrtf(sum / (float)n + eps);
    }
}

/* Does the prologue and the norm of R rows and stages them. post[r] gets the scale of pend, for gemv_write_back. A
 * barrier must follow. */
template <int T, int MODE, int R>
static __device__ __forceinline__ void gemv_stage_normed(unsigned char *stage, float *post, const gemv_shape &g,
                                                         const gemv_norm &f, uint32_t row0)
{
    enum { FOLD = gemv_fold_rows<MODE, R>() };
    MYTH_SHARED(float, part, 2 * FOLD * GEMV_WARPS);
    const uint32_t n4 = (g.n_in + 3) / 4;
    float4 *kept = (float4 *)(void *)(stage + ((gemv_stage_bytes<MODE>(g.n_in, R) + 15) & ~(uint64_t)15));
#pragma unroll 1
    for (int b = 0; b < R; b += FOLD) {
        float ss[FOLD], scale[FOLD];
        uint64_t at[FOLD];
#pragma unroll
        for (int r = 0; r < FOLD; r++) {
            at[r] = (uint64_t)min(row0 + b + r, g.n_rows - 1) * g.n_in;
            ss[r] = 0.0f;
            scale[r] = 1.0f;
        }
        if (f.pend && f.w_post) {
#pragma unroll 1
            for (uint32_t i = threadIdx.x; i < n4; i += GEMV_BLOCK)
#pragma unroll
                for (int r = 0; r < FOLD; r++)
                    ss[r] = gemv_square(gemv_load4<MODE>(f.pend + at[r], i, g.n_in), ss[r]);
            gemv_scales<FOLD>(scale, ss, part, g.n_in, f.eps);
        }
#pragma unroll
        for (int r = 0; r < FOLD; r++) {
            ss[r] = 0.0f;
            if (threadIdx.x == 0)
                post[b + r] = scale[r];
        }
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < n4; i += GEMV_BLOCK)
#pragma unroll
            for (int r = 0; r < FOLD; r++) {
                const float4 t = gemv_folded<MODE>(f, at[r], i, g.n_in, scale[r]);
                ss[r] = gemv_square(t, ss[r]);
                if constexpr (MODE == GEMV_I8)
                    kept[r * n4 + i] = t;
                else
                    gemv_put<T, MODE, R>(stage, g, b + r, i, true, t);
            }
        gemv_scales<FOLD>(scale, ss, part + FOLD * GEMV_WARPS, g.n_in, f.eps);
#pragma unroll 1
        for (uint32_t i0 = 0; i0 < n4; i0 += GEMV_BLOCK) { /* whole warps, because gemv_put may shuffle */
            const uint32_t i = i0 + threadIdx.x;
            const bool is_in = i < n4;
            const float4 w = is_in ? gemv_load4<MODE>(f.w, i, g.n_in) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
            for (int r = 0; r < FOLD; r++) {
                float4 t = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (is_in) {
                    if constexpr (MODE == GEMV_I8)
                        t = kept[r * n4 + i];
                    else if constexpr (MODE == GEMV_F32)
                        t = *gemv_quad_at<T>(stage, g, b + r, i);
                    else
                        t = gemv_load4<MODE>((const float *)(const void *)stage + (b + r) * g.n_in, i, g.n_in);
                }
                const float4 y =
                    make_float4(t.x * scale[r] * w.x, t.y * scale[r] * w.y, t.z * scale[r] * w.z, t.w * scale[r] * w.w);
                gemv_put<T, MODE, R>(stage, g, b + r, i, is_in, y);
            }
        }
        if (!(f.pend && f.w_post))
            __syncthreads(); /* the sums of the next rows overwrite these */
    }
}

/* Writes t to x. One block does it, when every block has read x. */
template <int MODE, int R>
static __device__ __forceinline__ void gemv_write_back(const float *post, const gemv_shape &g, const gemv_norm &f,
                                                       uint32_t row0)
{
    const uint32_t n4 = (g.n_in + 3) / 4;
#pragma unroll 1
    for (uint32_t r = 0; r < R && row0 + r < g.n_rows; r++) {
        const uint64_t at = (uint64_t)(row0 + r) * g.n_in;
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < n4; i += GEMV_BLOCK)
            gemv_store4<MODE>(f.x + at, i, g.n_in, gemv_folded<MODE>(f, at, i, g.n_in, post[r]));
    }
}

/* ---- sums ---- */

/* Adds chunk c of two matrix rows to the lane's sums. d has the scales of the rows; is_f16 is for GEMV_HALF. */
template <int T, int MODE, int R>
static __device__ __forceinline__ void gemv_chunk(float (&acc)[2][R], const uint4 (&w)[2], const float (&d)[2],
                                                  bool is_f16, const unsigned char *stage, const gemv_shape &g,
                                                  uint32_t c)
{
    if constexpr (MODE == GEMV_I8) {
        enum { PLANES = gemv_values(T, MODE) / 16 };
        const int4 *x = (const int4 *)(const void *)stage;
        const int2 *meta = (const int2 *)(const void *)(stage + (uint64_t)R * g.n_in);
#pragma unroll
        for (int r = 0; r < R; r++) {
            const int2 m = meta[r * (g.n_in / 32) + (T == MYTH_Q8_0 ? c / 2 : c)];
            const int4 lo = x[r * PLANES * g.n_chunk + c];
            int4 hi = lo;
            if constexpr (T == MYTH_Q4_0)
                hi = x[(r * PLANES + 1) * g.n_chunk + c];
#pragma unroll
            for (int n = 0; n < 2; n++) {
                int sum = 0;
                if constexpr (T == MYTH_Q8_0) {
                    sum = __dp4a((int)w[n].x, lo.x, sum);
                    sum = __dp4a((int)w[n].y, lo.y, sum);
                    sum = __dp4a((int)w[n].z, lo.z, sum);
                    sum = __dp4a((int)w[n].w, lo.w, sum);
                } else { /* nibbles are 0..15, which gives 8 * sum(x) too much */
                    sum = -m.y;
                    sum = __dp4a((int)(w[n].x & 0x0f0f0f0fu), lo.x, sum);
                    sum = __dp4a((int)(w[n].y & 0x0f0f0f0fu), lo.y, sum);
                    sum = __dp4a((int)(w[n].z & 0x0f0f0f0fu), lo.z, sum);
                    sum = __dp4a((int)(w[n].w & 0x0f0f0f0fu), lo.w, sum);
                    sum = __dp4a((int)(w[n].x >> 4 & 0x0f0f0f0fu), hi.x, sum);
                    sum = __dp4a((int)(w[n].y >> 4 & 0x0f0f0f0fu), hi.y, sum);
                    sum = __dp4a((int)(w[n].z >> 4 & 0x0f0f0f0fu), hi.z, sum);
                    sum = __dp4a((int)(w[n].w >> 4 & 0x0f0f0f0fu), hi.w, sum);
                }
                acc[n][r] = fmaf((float)sum, d[n] * __int_as_float(m.x), acc[n][r]);
            }
        }
    } else {
        enum { PLANES = gemv_values(T, GEMV_F32) / 4 };
        const float4 *x = (const float4 *)(const void *)stage;
#pragma unroll
        for (int p = 0; p < PLANES; p++) {
            float f[2][4];
            gemv_quad(f[0], w[0], p, is_f16);
            gemv_quad(f[1], w[1], p, is_f16);
#pragma unroll
            for (int r = 0; r < R; r++) {
                const float4 v = x[(r * PLANES + p) * g.n_chunk + c];
#pragma unroll
                for (int n = 0; n < 2; n++)
                    acc[n][r] =
                        fmaf(f[n][3], v.w, fmaf(f[n][2], v.z, fmaf(f[n][1], v.y, fmaf(f[n][0], v.x, acc[n][r]))));
            }
        }
    }
}

template <int R> static __device__ __forceinline__ void gemv_clear(float (&acc)[2][R])
{
#pragma unroll
    for (int r = 0; r < R; r++)
        acc[0][r] = acc[1][r] = 0.0f;
}

/* Adds chunks [c0, c1) of the group's two rows to each lane's own sums. The stage begins with chunk `base` of x. */
template <int T, int MODE, int R, int UNROLL>
static __device__ __forceinline__ void gemv_add(float (&acc)[2][R], const gemv_row (&row)[2],
                                                const unsigned char *stage, const gemv_shape &g, uint32_t c0,
                                                uint32_t c1, uint32_t base)
{
    const uint32_t j = threadIdx.x % GEMV_LANES;
    if constexpr (MODE == GEMV_PLAIN) {
        const float *x = (const float *)(const void *)stage;
        const bool is_quant = gemv_is_quant(row[0].type);
#pragma unroll 1
        for (uint32_t c = c0 + j; c < c1; c += GEMV_LANES) {
#pragma unroll
            for (int n = 0; n < 2; n++) {
                if (!is_quant) {
                    const float f = gemv_float(row[n], c);
#pragma unroll
                    for (int r = 0; r < R; r++)
                        acc[n][r] = fmaf(f, x[r * g.n_in + c - base], acc[n][r]);
                    continue;
                }
                const dequant_eight e = gemv_eight(row[n], 8 * c);
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    float f[4];
#pragma unroll
                    for (int v = 0; v < 4; v++)
                        f[v] = dequant_value(e, 4 * i + v);
#pragma unroll
                    for (int r = 0; r < R; r++) {
                        const float4 y = ((const float4 *)(const void *)(x + r * g.n_in))[2 * (c - base) + i];
                        acc[n][r] = fmaf(f[3], y.w, fmaf(f[2], y.z, fmaf(f[1], y.y, fmaf(f[0], y.x, acc[n][r]))));
                    }
                }
            }
        }
    } else {
        const uint64_t policy = weight_policy(g.leaves_first);
#if MYTH_CUDA_REAL && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#pragma unroll(UNROLL == 1 ? 2 : 1) /* without it, the compiler unrolls the shortest loop by four and spills */
#endif
        for (uint32_t c = c0 + j; c < c1; c += GEMV_LANES * UNROLL) {
            uint4 w[UNROLL][2];
            uint16_t d[UNROLL][2];
#pragma unroll
            for (uint32_t u = 0; u < UNROLL; u++) {
                const uint32_t at = c + u * GEMV_LANES;
                if (at >= c1)
                    continue;
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    w[u][n] = load_weights16(row[n].q + (uint64_t)at * 16, policy);
                    d[u][n] = dequant_is_planar(T) ? row[n].d[T == MYTH_Q8_0 ? at / 2 : at] : (uint16_t)0;
                }
            }
#pragma unroll
            for (uint32_t u = 0; u < UNROLL; u++) {
                const uint32_t at = c + u * GEMV_LANES;
                if (at >= c1)
                    continue;
                const float scale[2] = {f16_to_f32(d[u][0]), f16_to_f32(d[u][1])};
                gemv_chunk<T, MODE, R>(acc, w[u], scale, T == GEMV_HALF && row[0].type == MYTH_F16, stage, g,
                                       at - base);
            }
        }
    }
}

/* Adds the sums of the 8 lanes of a group; all 8 get the result. */
template <int R> static __device__ __forceinline__ void gemv_join_lanes(float (&acc)[2][R])
{
#pragma unroll
    for (int o = GEMV_LANES / 2; o; o >>= 1)
#pragma unroll
        for (int r = 0; r < R; r++) {
            acc[0][r] += __shfl_xor_sync(MYTH_WARP_ALL, acc[0][r], o);
            acc[1][r] += __shfl_xor_sync(MYTH_WARP_ALL, acc[1][r], o);
        }
}

/* The sums over chunks [c0, c1) of the group's two rows, the same in its 8 lanes. */
template <int T, int MODE, int R, int UNROLL = gemv_unroll(T, MODE, R)>
static __device__ __forceinline__ void gemv_sums(float (&acc)[2][R], const gemv_row (&row)[2],
                                                 const unsigned char *stage, const gemv_shape &g, uint32_t c0,
                                                 uint32_t c1)
{
    gemv_clear(acc);
    gemv_add<T, MODE, R, UNROLL>(acc, row, stage, g, c0, c1, 0);
    gemv_join_lanes(acc);
}

/* acc[j]. Lane j of a group continues with row j, so that the code after the sums is there once and not R times. */
template <int R> static __device__ __forceinline__ float gemv_row_sum(const float (&acc)[R], uint32_t j)
{
    float v = acc[0];
#pragma unroll
    for (uint32_t r = 1; r < R; r++)
        v = j == r ? acc[r] : v;
    return v;
}

/* The slots of a warp within the block's tile, and its part of K. */
struct gemv_place {
    uint32_t slot, c0, c1;
};
static __device__ __forceinline__ gemv_place gemv_place_of(const gemv_shape &g, uint32_t tile)
{
    const uint32_t split = (uint32_t)warp() % g.n_split, n_side = GEMV_WARPS / g.n_split;
    gemv_place p;
    p.slot = (tile * n_side + (uint32_t)warp() / g.n_split) * GEMV_GROUPS + (uint32_t)lane() / GEMV_LANES;
    p.c0 = split * g.split_chunk;
    p.c1 = min(p.c0 + g.split_chunk, g.n_chunk);
    return p;
}

/* Asks the L2 cache for the first lines that this block will read, while the results of the previous kernel are not
 * there yet. 8 lanes share the first g.n_line lines of each row of their slot. All blocks together ask for less than
 * the cache holds (gemv_grid), so that no line is evicted before it is read. */
template <typename OP> static __device__ __forceinline__ void gemv_prefetch(const gemv_shape &g, const OP &op)
{
    enum { CHUNKS = 128 / 16 };
    const gemv_place p = gemv_place_of(g, blockIdx.y);
    if (blockIdx.y >= g.n_tile || p.slot >= g.n_slot)
        return;
    gemv_row row[2];
    op.rows(row, p.slot);
#pragma unroll 1
    for (uint32_t line = threadIdx.x % GEMV_LANES; line < g.n_line; line += GEMV_LANES) {
        const uint32_t c = p.c0 + line * CHUNKS;
        if (c < p.c1)
            for (int n = 0; n < 2; n++)
                prefetch_l2(row[n].q + (uint64_t)c * 16);
    }
}

/* Gives the sums of a tile to op.store. Where n_split warps share the tile, their sums are first added in order. part
 * has GEMV_WARPS * GEMV_GROUPS * 2 * R floats that no thread of the block still reads. */
template <int R, typename OP>
static __device__ __forceinline__ void gemv_finish_tile(const gemv_shape &g, uint32_t tile, const gemv_place &p,
                                                        const float (&acc)[2][R], float *part, uint32_t n_valid,
                                                        const OP &op)
{
    const uint32_t j = threadIdx.x % GEMV_LANES, group = (uint32_t)lane() / GEMV_LANES, n_side = GEMV_WARPS / g.n_split;
    if (g.n_split == 1) {
        if (j < R && j < n_valid && p.slot < g.n_slot)
            op.store(p.slot, j, gemv_row_sum(acc[0], j), gemv_row_sum(acc[1], j));
        return;
    }
    float *own = part + ((uint32_t)warp() * GEMV_GROUPS + group) * 2 * R; /* [warp][group][row of the pair][r] */
    if (j < R) {
        own[j] = gemv_row_sum(acc[0], j);
        own[R + j] = gemv_row_sum(acc[1], j);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n_side * GEMV_GROUPS * R; i += GEMV_BLOCK) {
        const uint32_t r = i % R, at = i / R, slot = tile * n_side * GEMV_GROUPS + at;
        float v[2] = {0.0f, 0.0f};
        for (uint32_t s = 0; s < g.n_split; s++)
            for (uint32_t n = 0; n < 2; n++)
                v[n] += part[(((at / GEMV_GROUPS * g.n_split + s) * GEMV_GROUPS + at % GEMV_GROUPS) * 2 + n) * R + r];
        if (r < n_valid && slot < g.n_slot)
            op.store(slot, r, v[0], v[1]);
    }
}

/* Computes all tiles of this block. op has rows(row[2], slot), which gives the rows of a slot; store(slot, r, v0, v1),
 * which one thread calls for each result; and done(tile), which the whole block calls. */
template <int T, int MODE, int R, int UNROLL = gemv_unroll(T, MODE, R), typename OP>
static __device__ __forceinline__ void gemv_tiles(const gemv_shape &g, const unsigned char *stage, uint32_t n_valid,
                                                  const OP &op)
{
    enum { N_PART = GEMV_WARPS * GEMV_GROUPS * 2 * R };
    /* Two, used in turn: the sums of one tile are read while those of the next are written. */
    MYTH_SHARED(float, part, 2 * N_PART);
    uint32_t parity = 0;
    for (uint32_t tile = blockIdx.y; tile < g.n_tile; tile += gridDim.y, parity ^= 1) {
        const gemv_place p = gemv_place_of(g, tile);
        float acc[2][R];
        gemv_row row[2];
        op.rows(row, min(p.slot, g.n_slot - 1));
        gemv_sums<T, MODE, R, UNROLL>(acc, row, stage, g, p.c0, p.c1);
        gemv_finish_tile<R>(g, tile, p, acc, part + parity * N_PART, n_valid, op);
        op.done(tile);
    }
}

/* ---- host ---- */

/* The mode for a matrix of type t; view... are the matrices and rows that the kernel would read 16 bytes at a time. */
template <typename... VIEW>
static inline int gemv_mode(const myth_stream *s, myth_dtype t, uint32_t n_in, const VIEW &...view)
{
    const bool is_narrow = n_in % (uint32_t)gemv_values(t, GEMV_F32) != 0 || ((view.off % 16 != 0) || ...);
    const bool is_plain =
        is_narrow || t == MYTH_F32 || dequant_is_block(t) || (dequant_is_planar(t) && cuda_of(s)->is_exact);
    return is_plain ? GEMV_PLAIN : dequant_is_planar(t) ? GEMV_I8 : GEMV_F32;
}

/* The shape of a product with n_slot pairs of matrix rows. With can_split the warps of a block share tiles along K
 * where the matrix is small. */
static inline gemv_shape gemv_shape_of(const myth_stream *s, myth_dtype t, int mode, uint32_t n_rows, uint32_t n_in,
                                       uint32_t n_slot, bool can_split)
{
    const struct cuda_tune *tune = &cuda_of(s)->tune;
    gemv_shape g = {};
    g.n_in = n_in;
    g.n_chunk = n_in / (uint32_t)gemv_values(t, mode);
    g.n_slot = n_slot;
    g.n_split = 1;
    g.n_rows = n_rows;
    g.leaves_first = tune->evict_first;
    const uint64_t n_warp_tile = ((uint64_t)n_slot + GEMV_GROUPS - 1) / GEMV_GROUPS,
                   n_step = (g.n_chunk + GEMV_LANES - 1) / GEMV_LANES;
    while (can_split && g.n_split < GEMV_WARPS && n_warp_tile * g.n_split < tune->fill_warps && 2 * g.n_split <= n_step)
        g.n_split *= 2;
    g.split_chunk = (uint32_t)((n_step + g.n_split - 1) / g.n_split) * GEMV_LANES;
    const uint32_t n_side = GEMV_WARPS / g.n_split;
    g.n_tile = (uint32_t)((n_warp_tile + n_side - 1) / n_side);
    return g;
}

static inline uint64_t gemv_shared_room(const myth_stream *s)
{
    const uint64_t most = cuda_of(s)->shared_max;
    return most > GEMV_STATIC_BYTES ? most - GEMV_STATIC_BYTES : 0;
}

/* The grid for n_group groups of rows: as many blocks share the tiles as run on the device at once. It also divides the
 * prefetch budget of a multiprocessor among its blocks, and that of a block among its rows. */
static inline dim3 gemv_grid(const myth_stream *s, gemv_shape &g, uint32_t n_group, int rows, uint64_t shared_bytes)
{
    const struct cuda_device *d = cuda_of(s);
    const uint32_t per_sm = rows == 1 && 2 * (shared_bytes + GEMV_STATIC_BYTES) <= d->shared_max ? 2 : 1;
    uint32_t n_worker = (uint32_t)d->sm_count * per_sm / n_group;
    n_worker = n_worker < 1 ? 1 : n_worker < g.n_tile ? n_worker : g.n_tile;
    g.n_line = d->tune.prefetch_kb * 1024 / per_sm / (GEMV_WARPS * GEMV_GROUPS * 2 * 128);
    return dim3(n_group, n_worker);
}

#define GEMV_BOUNDS(R) __launch_bounds__(GEMV_BLOCK, (R) == 1 ? 2 : 1)

/* An instance of a kernel: a value from whose type a generic lambda reads the template arguments. */
template <int TYPE, int PATH, int ROWS> struct gemv_case {
    enum { T = TYPE, MODE = PATH, R = ROWS };
};

/* Calls run(gemv_case) with as many rows at once as bytes(gemv_case) fit the shared memory, but not many more than
 * there are. False when not even one row fits; then nothing ran. */
template <int T, int MODE, int MANY, typename BYTES, typename RUN>
static inline bool gemv_pick_rows(uint32_t n_rows, uint64_t room, const BYTES &bytes, const RUN &run)
{
    if constexpr (MANY > 4)
        if (n_rows > 4 && bytes(gemv_case<T, MODE, MANY>{}) <= room) {
            run(gemv_case<T, MODE, MANY>{});
            return true;
        }
    if (n_rows > 1 && bytes(gemv_case<T, MODE, 4>{}) <= room)
        run(gemv_case<T, MODE, 4>{});
    else if (bytes(gemv_case<T, MODE, 1>{}) <= room)
        run(gemv_case<T, MODE, 1>{});
    else
        return false;
    return true;
}
/* The same for a matrix's type in a mode. MANY is the most rows at once for quantised types and 2-byte floats. */
template <int MANY, typename BYTES, typename RUN>
static inline bool gemv_pick(int type, int mode, uint32_t n_rows, uint64_t room, const BYTES &bytes, const RUN &run)
{
    if (mode == GEMV_PLAIN)
        return gemv_pick_rows<GEMV_ANY, GEMV_PLAIN, 4>(n_rows, room, bytes, run);
    if (type == MYTH_Q8_0)
        return gemv_pick_rows<MYTH_Q8_0, GEMV_I8, MANY>(n_rows, room, bytes, run);
    if (type == MYTH_Q4_0)
        return gemv_pick_rows<MYTH_Q4_0, GEMV_I8, MANY>(n_rows, room, bytes, run);
    return gemv_pick_rows<GEMV_HALF, GEMV_F32, MANY>(n_rows, room, bytes, run);
}

#endif
