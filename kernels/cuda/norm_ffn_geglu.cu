/* norm_ffn_geglu.cu   x += RMS(pend) * w_post;  xn = RMS(x) * w;  h[r,:] = gelu_tanh(Wg xn) * (Wu xn)
 *
 * Shapes     x, pend [n_rows, dim], h, up [n_rows, d_ff] f32; Wg, Wu [d_ff, dim] of one type in planar form
 * Decode     one launch. Every block does the prologue and the norm for itself. The same lanes sum gate and up of an
 *            output. The last block that has read x writes it back. `xn` and `up` are not used
 * Prefill    rms_norm, two products (gemm.cuh), geglu
 * Precision  as proj; the statistics in f32
 * Traffic    both matrices once per 8 rows; x, pend, w_post and w once per block
 * Limit      DRAM bandwidth in decode, tensor cores in prefill */
#include "gemv.cuh"

struct ffn_op {
    gemv_norm norm;
    gemv_matrix gate, up;
    float *h;
    unsigned *counter; /* one per group of rows */
    uint32_t d_ff, n_in, row0;
};

template <int T> struct ffn_tiles {
    const ffn_op &p;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(p.gate, slot, p.n_in);
        row[1] = gemv_row_at<T>(p.up, slot, p.n_in);
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t r, float gate, float up) const
    {
        p.h[(uint64_t)(p.row0 + r) * p.d_ff + slot] = gelu_tanh(gate) * up;
    }
    __device__ __forceinline__ void done(uint32_t) const {}
};

template <int T, int MODE, int R> static __global__ void GEMV_BOUNDS(R) norm_ffn_geglu_k(gemv_shape g, ffn_op p)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    MYTH_SHARED(float, post, R);
    p.row0 += blockIdx.x * R;
    const ffn_tiles<T> op = {p};
    if constexpr (MODE != GEMV_PLAIN)
        gemv_prefetch(g, op);
    gemv_prefetch_norm(g, p.norm);
    grid_dependency_wait();
    gemv_stage_normed<T, MODE, R>(stage, post, g, p.norm, p.row0);
    __syncthreads();
    grid_dependency_launch();
    if (p.norm.pend && last_block(p.counter + blockIdx.x, gridDim.y))
        gemv_write_back<MODE, R>(post, g, p.norm, p.row0);
    gemv_tiles<T, MODE, R>(g, stage, g.n_rows - p.row0, op);
}

/* Launches the kernel, several times where there are more groups of rows than counters. */
template <int T, int MODE, int R> static void launch(myth_stream *s, gemv_shape g, ffn_op p)
{
    const uint64_t shared_bytes = gemv_norm_stage_bytes<MODE, R>(g.n_in);
    const uint32_t n_group = (g.n_rows + R - 1) / R, most = CUDA_COUNTER_N;
    for (uint32_t first = 0; first < n_group; first += most) {
        p.row0 = first * R;
        const dim3 grid = gemv_grid(s, g, min(most, n_group - first), R, shared_bytes);
        MYTH_LAUNCH_DEPENDENT((norm_ffn_geglu_k<T, MODE, R>), grid, GEMV_BLOCK, shared_bytes, s)(g, p);
    }
}

/* False when the rows do not fit the shared memory of a block, or the matrices differ in type; then nothing ran. */
static bool decode(myth_stream *s, const struct myth_norm_ffn_geglu_args *a)
{
    const myth_dtype t = a->w_gate.dtype;
    const int mode = gemv_mode(s, t, a->dim, a->w_gate, a->w_up, a->x, a->pend, a->w_post, a->w);
    const gemv_shape g = gemv_shape_of(s, t, mode, a->n_rows, a->dim, a->d_ff, true);
    ffn_op p = {};
    p.norm.x = cuda_ptr<float>(a->x);
    p.norm.pend = cuda_ptr<const float>(a->pend);
    p.norm.w_post = cuda_ptr<const float>(a->w_post);
    p.norm.w = cuda_ptr<const float>(a->w);
    p.norm.eps = a->eps;
    p.norm.x_scale = cuda_x_scale(a->x_scale);
    p.gate = gemv_matrix_of(a->w_gate, a->d_ff, a->dim);
    p.up = gemv_matrix_of(a->w_up, a->d_ff, a->dim);
    p.h = cuda_ptr<float>(a->h);
    p.counter = cuda_of(s)->counters;
    p.d_ff = a->d_ff;
    p.n_in = a->dim;
    if (a->w_up.dtype != t)
        return false;
    const auto bytes = [&](auto c) { return gemv_norm_stage_bytes<decltype(c)::MODE, decltype(c)::R>(a->dim); };
    const auto run = [&](auto c) { launch<decltype(c)::T, decltype(c)::MODE, decltype(c)::R>(s, g, p); };
    return gemv_pick<8>(t, mode, a->n_rows, gemv_shared_room(s), bytes, run);
}

extern "C" void cuda_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a)
{
    if (!a->is_decode || !decode(s, a))
        myth_compose_norm_ffn_geglu(s, a);
    cuda_check(s, "norm_ffn_geglu");
}
