/* norm_qkv_rope_store.cu   x = (x + RMS(pend) * w_post) * x_scale;  xn = RMS(x) * w_in;  q, k, v = Wq xn, Wk xn, Wv xn;
 *                          then for each head RMS and rope; q * q_scale goes to `q`, k and v in the cache's types go to
 *                          the scratch
 *
 * Shapes     x, pend [n_rows, dim] f32; Wq [n_head * head_dim, dim], Wk, Wv [n_head_kv * head_dim, dim] of one type in
 *            planar form; rope [n_rows, head_dim / 2, 2]; q [n_rows, n_head, head_dim]; k_new, v_new [n_head_kv,
 *            cap_rows, head_dim]
 * Forms      Wv, or Wk and Wv, may be missing. Without Wv alone, V is K as it was before its norm. V may be normed. K
 *            need not be stored (ops.h)
 * Decode     one launch. Every block does the prologue and the norm for itself. Blocks take tiles of the rows of [Wq;
 *            Wk; Wv] and write raw sums to `qkv`. The block that finishes the last tile of a head norms, rotates and
 *            stores the head, with all threads where there is one row, else one warp per row. The last block that has
 *            read x writes it back. `xn` is not used
 * Prefill    rms_norm, three products (gemm.cuh), qkv_rope_store
 * Precision  as proj; statistics in f32; k and v rounded once
 * Traffic    the matrices once per 8 rows; x, pend, w_post and w_in once per block
 * Limit      DRAM bandwidth in decode, tensor cores in prefill */
#include "gemv.cuh"
#include "kv_store.cuh"

struct qkv_op {
    gemv_norm norm;
    gemv_matrix m[3];
    float *raw; /* q [n_rows, n_head * head_dim], then k and v [n_rows, n_head_kv * head_dim] */
    const float *n_q, *n_k, *rope;
    float *q;
    unsigned char *k_new, *v_new; /* k_new nullptr = only V is stored */
    unsigned *counter;            /* for each group of rows: 1, and one for each head of q, k and v */
    uint64_t k_row_bytes, v_row_bytes;
    uint32_t n_in, n_q_out, n_kv_out, n_out, n_rows, row0, cap_rows, n_head, n_head_kv,
        head_dim; /* n_out: rows of all matrices that are given */
    float eps, q_scale;
    int type_k, type_v;
    bool v_is_k, has_v_norm;
    template <int R> __device__ __forceinline__ uint32_t first_row() const
    {
        return row0 + blockIdx.x * R;
    } /* of this block */
};

/* rsqrt(mean(x^2) + eps) of one row of a head. One warp. */
static __device__ __forceinline__ float head_scale(const volatile float *x, uint32_t head_dim, float eps)
{
    float ss = 0.0f;
#pragma unroll 1
    for (uint32_t i = (uint32_t)lane(); i < head_dim; i += 32)
        ss = fmaf(x[i], x[i], ss);
    return 1.0f / sqrtf(warp_sum(ss) / (float)head_dim + eps);
}

/* Head norm, rope and a factor for one row of a head, in place. One warp. */
static __device__ __forceinline__ void turn_row(volatile float *x, const float *norm, const float *rope,
                                                uint32_t head_dim, float eps, float factor)
{
    const uint32_t n_half = head_dim / 2, l = (uint32_t)lane();
    const float scale = norm ? head_scale(x, head_dim, eps) : 1.0f;
#pragma unroll 1
    for (uint32_t i = l; i < n_half; i += 32) {
        float lo = x[i], hi = x[i + n_half];
        if (norm) {
            lo = lo * scale * norm[i];
            hi = hi * scale * norm[i + n_half];
        }
        const float c = rope[2 * i], s = rope[2 * i + 1];
        x[i] = fmaf(lo, c, -(hi * s)) * factor;
        x[i + n_half] = fmaf(hi, c, lo * s) * factor;
    }
    __syncwarp();
}

/* Stores V of a head where V is K as it was before its norm. One warp. It is not inlined, so that it takes no registers
 * from the products: few models need it. */
static __device__ __attribute__((noinline)) void store_raw_key(const qkv_op &p, const volatile float *x, uint64_t row)
{
    kv_store_row<1>(p.v_new + row * p.v_row_bytes, p.type_v, x, p.head_dim,
                    p.has_v_norm ? head_scale(x, p.head_dim, p.eps) : 1.0f);
    __syncwarp();
}

/* One row of a head: where its raw sums are, and where they go. */
struct head_row {
    volatile float *x;
    unsigned char *dst;
    uint64_t row; /* of k_new and v_new */
    int type;
    bool is_q, is_k;
};

static __device__ __forceinline__ head_row head_row_of(const qkv_op &p, uint32_t head, uint32_t r)
{
    const uint32_t hd = p.head_dim;
    const bool is_q = head < p.n_head, is_v = !is_q && head - p.n_head >= p.n_head_kv;
    const uint32_t kv = is_q ? 0 : (head - p.n_head) % p.n_head_kv;
    head_row h;
    h.is_q = is_q;
    h.is_k = !is_q && !is_v;
    h.x = is_q
            ? p.raw + (uint64_t)r * p.n_q_out + head * hd
            : p.raw + (uint64_t)p.n_rows * (p.n_q_out + (is_v ? p.n_kv_out : 0u)) + (uint64_t)r * p.n_kv_out + kv * hd;
    h.row = (uint64_t)kv * p.cap_rows + r;
    h.type = is_q ? (int)MYTH_F32 : is_v ? p.type_v : p.type_k;
    h.dst = is_q ? (unsigned char *)(p.q + ((uint64_t)r * p.n_head + head) * hd)
          : is_v ? p.v_new + h.row * p.v_row_bytes
                 : p.k_new + h.row * p.k_row_bytes;
    return h;
}

/* Stores the block's row of n values times `factor`, one value per thread. */
static __device__ __forceinline__ void store_values(unsigned char *dst, int type, const float *row, uint32_t n,
                                                    float factor)
{
    const uint32_t i = threadIdx.x;
    if (i >= n)
        return;
    const float v = row[i] * factor;
    if (type == MYTH_Q8_0)
        kv_store_block(dst + (uint64_t)(i / 32) * 34, v);
    else if (type == MYTH_F32)
        ((float *)(void *)dst)[i] = v;
    else
        ((uint16_t *)(void *)dst)[i] = type == MYTH_F16 ? f32_to_f16(v) : f32_to_bf16(v);
}

enum { HEAD_MOST = GEMV_BLOCK }; /* largest head: a value for each thread */

/* Finishes the only row of a head with all threads, so that it takes the time of one load from the L2 cache and not of
 * one for each 32 values, and again for each time they are needed: a head takes longer than a small model's products.
 * Every warp sums the squares for itself, in the order of head_scale. */
static __device__ __forceinline__ void finish_alone(const qkv_op &p, uint32_t head)
{
    MYTH_SHARED(float, row, HEAD_MOST);
    const uint32_t r = p.first_row<1>(), hd = p.head_dim, n_half = hd / 2, i = threadIdx.x;
    const head_row h = head_row_of(p, head, r);
    const float *norm = h.is_q ? p.n_q : h.is_k ? p.n_k : nullptr;
    const bool turns = (h.is_q || h.is_k) && i < n_half;
    float2 turn = make_float2(0.0f, 0.0f);
    float lo = 0.0f, hi = 0.0f, w_lo = 1.0f, w_hi = 1.0f, scale = 1.0f;
    if (turns) {
        turn = ((const float2 *)(const void *)(p.rope + (uint64_t)r * hd))[i];
        if (norm) {
            w_lo = norm[i];
            w_hi = norm[i + n_half];
        }
    }
    if (i < hd)
        row[i] = h.x[i];
    __syncthreads();
    const bool is_other = h.is_k && p.v_is_k; /* V is this key as it is now */
    if (norm || ((!h.is_q && !h.is_k) || is_other ? p.has_v_norm : false))
        scale = head_scale(row, hd, p.eps);
    if (is_other)
        store_values(p.v_new + h.row * p.v_row_bytes, p.type_v, row, hd, p.has_v_norm ? scale : 1.0f);
    if (is_other && !p.k_new)
        return;
    if (h.is_q || h.is_k) {
        if (turns) {
            lo = row[i];
            hi = row[i + n_half];
            if (norm) {
                lo = lo * scale * w_lo;
                hi = hi * scale * w_hi;
            }
        }
        __syncthreads();
        if (turns) {
            const float factor = h.is_q ? p.q_scale : 1.0f;
            row[i] = fmaf(lo, turn.x, -(hi * turn.y)) * factor;
            row[i + n_half] = fmaf(hi, turn.x, lo * turn.y) * factor;
        }
        __syncthreads();
        scale = 1.0f;
    }
    store_values(h.dst, h.type, row, hd, scale);
}

/* Finishes a head of R rows, one warp per row. */
template <int R> static __device__ __forceinline__ void finish_head(const qkv_op &p, uint32_t head)
{
    if constexpr (R == 1) {
        finish_alone(p, head);
        return;
    }
    const uint32_t r = p.first_row<R>() + (uint32_t)warp(), hd = p.head_dim;
    if (warp() >= R || r >= p.n_rows)
        return;
    const head_row h = head_row_of(p, head, r);
    if (h.is_k && p.v_is_k) {
        store_raw_key(p, h.x, h.row); /* before the key is rotated in place */
        if (!p.k_new)
            return;
    }
    float factor = 1.0f;
    if (h.is_q || h.is_k)
        turn_row(h.x, h.is_q ? p.n_q : p.n_k, p.rope + (uint64_t)r * hd, hd, p.eps, h.is_q ? p.q_scale : 1.0f);
    else if (p.has_v_norm)
        factor = head_scale(h.x, hd, p.eps);
    kv_store_row<1>(h.dst, h.type, h.x, hd, factor);
}

template <int T, int R> struct qkv_tiles {
    const qkv_op &p;
    uint32_t tile_out; /* outputs of a block tile */
    __device__ __forceinline__ uint32_t n_out() const { return p.n_out; }
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        for (uint32_t n = 0; n < 2; n++) {
            const uint32_t o = min(2 * slot + n, n_out() - 1);
            row[n] = o < p.n_q_out              ? gemv_row_at<T>(p.m[0], o, p.n_in)
                   : o < p.n_q_out + p.n_kv_out ? gemv_row_at<T>(p.m[1], o - p.n_q_out, p.n_in)
                                                : gemv_row_at<T>(p.m[2], o - p.n_q_out - p.n_kv_out, p.n_in);
        }
    }
    __device__ __forceinline__ void put(uint32_t o, uint32_t r, float v) const
    {
        const uint64_t row = p.first_row<R>() + r, k_at = (uint64_t)p.n_rows * p.n_q_out,
                       v_at = k_at + (uint64_t)p.n_rows * p.n_kv_out;
        p.raw[o < p.n_q_out                ? row * p.n_q_out + o
              : o < p.n_q_out + p.n_kv_out ? k_at + row * p.n_kv_out + (o - p.n_q_out)
                                           : v_at + row * p.n_kv_out + (o - p.n_q_out - p.n_kv_out)] = v;
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t r, float v0, float v1) const
    {
        put(2 * slot, r, v0);
        if (2 * slot + 1 < n_out())
            put(2 * slot + 1, r, v1);
    }
    /* Called after a tile. Finishes each head of the tile whose other tiles are all done. */
    __device__ __forceinline__ void done(uint32_t tile) const
    {
        const uint32_t first = tile * tile_out, last = min(first + tile_out, n_out()) - 1,
                       n_heads = p.n_head + 2 * p.n_head_kv;
        unsigned *counter = p.counter + blockIdx.x * (1 + n_heads) + 1;
#pragma unroll 1
        for (uint32_t head = first / p.head_dim; head <= last / p.head_dim; head++) {
            const uint32_t n_part = ((head + 1) * p.head_dim - 1) / tile_out - head * p.head_dim / tile_out + 1;
            if (last_block(counter + head, n_part))
                finish_head<R>(p, head);
        }
    }
};

template <int T, int MODE, int R>
static __global__ void GEMV_BOUNDS(R)
    norm_qkv_rope_store_k(const __grid_constant__ gemv_shape g, const __grid_constant__ qkv_op p)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    MYTH_SHARED(float, post, R);
    const qkv_tiles<T, R> op = {p, GEMV_WARPS / g.n_split * GEMV_GROUPS * 2};
    if constexpr (MODE != GEMV_PLAIN)
        gemv_prefetch(g, op);
    gemv_prefetch_norm(g, p.norm);
    grid_dependency_wait();
    gemv_stage_normed<T, MODE, R>(stage, post, g, p.norm, p.first_row<R>());
    __syncthreads();
    grid_dependency_launch();
    if (p.norm.pend && last_block(p.counter + blockIdx.x * (1 + p.n_head + 2 * p.n_head_kv), gridDim.y))
        gemv_write_back<MODE, R>(post, g, p.norm, p.first_row<R>());
    gemv_tiles<T, MODE, R, gemv_unroll_less(T, MODE, R)>(g, stage, g.n_rows - p.first_row<R>(), op);
}

/* Launches the kernel, several times where there are more groups of rows than counters. */
template <int T, int MODE, int R> static void launch(myth_stream *s, gemv_shape g, qkv_op p)
{
    const uint64_t shared_bytes = gemv_norm_stage_bytes<MODE, R>(g.n_in);
    const uint32_t n_group = (g.n_rows + R - 1) / R, most = CUDA_COUNTER_N / (1u + p.n_head + 2u * p.n_head_kv);
    for (uint32_t first = 0; first < n_group; first += most) {
        p.row0 = first * R;
        const dim3 grid = gemv_grid(s, g, min(most, n_group - first), R, shared_bytes);
        MYTH_LAUNCH_DEPENDENT((norm_qkv_rope_store_k<T, MODE, R>), grid, GEMV_BLOCK, shared_bytes, s)(g, p);
    }
}

/* False when the rows do not fit the shared memory of a block, the matrices differ in type or a head is too large; then
 * nothing ran. */
static bool decode(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a)
{
    const myth_dtype t = a->w_q.dtype;
    const bool has_k = a->w_k.buf != NULL, has_v = a->w_v.buf != NULL;
    const myth_view w_k = has_k ? a->w_k : a->w_q, w_v = has_v ? a->w_v : a->w_q;
    const int mode = gemv_mode(s, t, a->dim, a->w_q, w_k, w_v, a->x, a->pend, a->w_post, a->w_in);
    qkv_op p = {};
    p.norm.x = cuda_ptr<float>(a->x);
    p.norm.pend = cuda_ptr<const float>(a->pend);
    p.norm.w_post = cuda_ptr<const float>(a->w_post);
    p.norm.w = cuda_ptr<const float>(a->w_in);
    p.norm.eps = a->eps;
    p.norm.x_scale = cuda_x_scale(a->x_scale);
    p.n_in = a->dim;
    p.n_q_out = a->n_head * a->head_dim;
    p.n_kv_out = a->n_head_kv * a->head_dim;
    p.n_out = p.n_q_out + ((has_k ? 1u : 0u) + (has_v ? 1u : 0u)) * p.n_kv_out;
    p.m[0] = gemv_matrix_of(a->w_q, p.n_q_out, a->dim);
    p.m[1] = gemv_matrix_of(w_k, p.n_kv_out, a->dim);
    p.m[2] = gemv_matrix_of(w_v, p.n_kv_out, a->dim);
    p.raw = cuda_ptr<float>(a->qkv);
    p.n_q = cuda_ptr<const float>(a->n_q);
    p.n_k = cuda_ptr<const float>(a->n_k);
    p.rope = cuda_ptr<const float>(a->rope);
    p.q = cuda_ptr<float>(a->q);
    p.k_new = cuda_ptr<unsigned char>(a->k_new);
    p.v_new = cuda_ptr<unsigned char>(a->v_new);
    p.counter = cuda_of(s)->counters;
    p.k_row_bytes = myth_row_bytes(a->k_new.dtype, a->head_dim);
    p.v_row_bytes = myth_row_bytes(a->v_new.dtype, a->head_dim);
    p.n_rows = a->n_rows;
    p.cap_rows = a->cap_rows;
    p.n_head = a->n_head;
    p.n_head_kv = a->n_head_kv;
    p.head_dim = a->head_dim;
    p.eps = a->eps;
    p.q_scale = a->q_scale;
    p.type_k = a->k_new.dtype;
    p.type_v = a->v_new.dtype;
    p.v_is_k = has_k && !has_v;
    p.has_v_norm = has_k && a->has_v_norm;
    if (w_k.dtype != t || w_v.dtype != t || a->n_head + 2 * a->n_head_kv >= CUDA_COUNTER_N || a->head_dim > HEAD_MOST)
        return false;
    const gemv_shape g = gemv_shape_of(s, t, mode, a->n_rows, a->dim, (p.n_out + 1) / 2, true);
    const auto bytes = [&](auto c) { return gemv_norm_stage_bytes<decltype(c)::MODE, decltype(c)::R>(a->dim); };
    const auto run = [&](auto c) { launch<decltype(c)::T, decltype(c)::MODE, decltype(c)::R>(s, g, p); };
    return gemv_pick<8>(t, mode, a->n_rows, gemv_shared_room(s), bytes, run);
}

extern "C" void cuda_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a)
{
    if (!a->is_decode || !decode(s, a))
        myth_compose_norm_qkv_rope_store(s, a);
    cuda_check(s, "norm_qkv_rope_store");
}
