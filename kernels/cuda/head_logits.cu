/* head_logits.cu   y[0..n_vocab) = cap(W x[0,:])
 *
 * Shapes     x [dim], y [n_vocab] f32; W [n_vocab, dim] of any type in planar form
 * Precision  as head_topk, the same bits
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

extern "C" void cuda_head_logits(myth_stream *s, const struct myth_head_logits_args *a)
{
    const int mode = gemv_mode(s, a->w.dtype, a->dim, a->w, a->x);
    const gemv_shape g = gemv_shape_of(a->w.dtype, mode, 1, a->dim, (a->n_vocab + 1) / 2, false);
    const uint64_t room = gemv_shared_room(s);
    const gemv_matrix m = {cuda_ptr<const unsigned char>(a->w), a->n_vocab, a->w.dtype};
    const logits_op p = {cuda_ptr<float>(a->y), m, a->dim, a->n_vocab, a->softcap};
#define BYTES(mode, rows) gemv_stage_bytes<mode>(a->dim, rows)
#define RUN(T, mode, rows)                                                                                             \
    MYTH_LAUNCH_DEPENDENT((head_logits_k<T, mode>), gemv_grid(s, g, 1, 1, BYTES(mode, 1)), GEMV_BLOCK, BYTES(mode, 1), \
                          s)                                                                                           \
    (g, p, cuda_ptr<const float>(a->x))
    GEMV_PICK(a->w.dtype, mode, RUN, BYTES, 1, room, too_wide);
#undef RUN
#undef BYTES
    cuda_check(s, "head_logits");
    return;
too_wide:
    myth_fail(&s->err, MYTH_EDEVICE, "head_logits: rows of %u values do not fit a block's shared memory", a->dim);
}
