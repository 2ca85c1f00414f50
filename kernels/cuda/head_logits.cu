/* head_logits.cu   y[0..n_vocab) = cap(W x[0,:])
 *
 * Shapes     x [dim], y [n_vocab] f32; W [n_vocab, dim] of any type in planar form
 * Precision  as in head_topk, to the same bits
 * Traffic    W once
 * Limit      DRAM bandwidth; one launch, tiles of the vocabulary shared by blocks (gemv.cuh) */
#include "gemv.cuh"

struct logits_op {
    float *y;
    gemv_matrix m;
    uint32_t n_in, n_vocab;
    float softcap;
};

template <int T> struct logits_tiles {
    const logits_op &p;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(p.m, 2 * slot, p.n_in);
        row[1] = gemv_row_at<T>(p.m, min(2 * slot + 1, p.n_vocab - 1), p.n_in);
    }
    __device__ __forceinline__ float cap(float v) const
    {
        return p.softcap > 0.0f ? p.softcap * tanhf(v / p.softcap) : v;
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t, float v0, float v1) const
    {
        p.y[2 * slot] = cap(v0);
        if (2 * slot + 1 < p.n_vocab)
            p.y[2 * slot + 1] = cap(v1);
    }
    __device__ __forceinline__ void done(uint32_t) const {}
};

template <int T, int MODE>
static __global__ void GEMV_BOUNDS(1) head_logits_k(gemv_shape g, logits_op p, const float *x)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    const logits_tiles<T> op = {p};
    grid_dependency_wait();
    gemv_stage_rows<T, MODE, 1>(stage, g, x, 0);
    __syncthreads();
    grid_dependency_launch();
    gemv_tiles<T, MODE, 1>(g, stage, 1, op);
}

template <int T, int MODE> static void launch(myth_stream *s, gemv_shape g, const logits_op &p, const float *x)
{
    const uint64_t shared_bytes = gemv_stage_bytes<MODE>(g.n_in, 1);
    const dim3 grid = gemv_grid(s, g, 1, 1, shared_bytes);
    MYTH_LAUNCH_DEPENDENT((head_logits_k<T, MODE>), grid, GEMV_BLOCK, shared_bytes, s)(g, p, x);
}

extern "C" void cuda_head_logits(myth_stream *s, const struct myth_head_logits_args *a)
{
    const int mode = gemv_mode(s, a->w.dtype, a->dim, a->w, a->x);
    const gemv_shape g = gemv_shape_of(s, a->w.dtype, mode, 1, a->dim, (a->n_vocab + 1) / 2, false);
    const gemv_matrix m = gemv_matrix_of(a->w, a->n_vocab, a->dim);
    const logits_op p = {cuda_ptr<float>(a->y), m, a->dim, a->n_vocab, a->softcap};
    const auto bytes = [&](auto c) { return gemv_stage_bytes<decltype(c)::MODE>(a->dim, 1); };
    const auto run = [&](auto c) { launch<decltype(c)::T, decltype(c)::MODE>(s, g, p, cuda_ptr<const float>(a->x)); };
    if (!gemv_pick<1>(a->w.dtype, mode, 1, gemv_shared_room(s), bytes, run))
        myth_fail(&s->err, MYTH_EDEVICE, "head_logits: rows of %u values do not fit a block's shared memory", a->dim);
    cuda_check(s, "head_logits");
}
