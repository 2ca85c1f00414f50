/* proj.cu   y[r,:] = W x[r,:]
 *
 * Shapes     x [n_rows, n_in], y [n_rows, n_out] f32; W [n_out, n_in] of any type in planar form
 * Precision  exact, and types in blocks in either mode: f32 products and sums; fast: int8 x for Q8_0 and Q4_0 in
 *            decode, f16 tiles in prefill (gemm.cuh)
 * Traffic    W once per 8 rows in decode, once per tile of rows in prefill
 * Limit      decode: DRAM bandwidth; prefill: tensor cores. One launch in decode, tiles of outputs shared by blocks
 *            (gemv.cuh) */
#include "gemm.cuh"
#include "gemv.cuh"

struct proj_op {
    float *y;
    gemv_matrix m;
    uint32_t n_in, n_out, row0;
};

template <int T> struct proj_tiles {
    proj_op p;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(p.m, 2 * slot, p.n_in);
        row[1] = gemv_row_at<T>(p.m, min(2 * slot + 1, p.n_out - 1), p.n_in);
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t r, float v0, float v1) const
    {
        float *at = p.y + (uint64_t)(p.row0 + r) * p.n_out + 2 * slot;
        at[0] = v0;
        if (2 * slot + 1 < p.n_out)
            at[1] = v1;
    }
    __device__ __forceinline__ void done(uint32_t) const {}
};

template <int T, int MODE, int R> static __global__ void GEMV_BOUNDS(R) proj_k(gemv_shape g, proj_op p, const float *x)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    p.row0 = blockIdx.x * R;
    const proj_tiles<T> op = {p};
    if constexpr (MODE != GEMV_PLAIN)
        gemv_prefetch(g, op);
    grid_dependency_wait();
    gemv_stage_rows<T, MODE, R>(stage, g, x, p.row0);
    __syncthreads();
    grid_dependency_launch();
    gemv_tiles<T, MODE, R>(g, stage, g.n_rows - p.row0, op);
}

template <int T, int MODE, int R>
static void launch(myth_stream *s, const gemv_shape &g, const proj_op &p, const float *x)
{
    const uint64_t shared_bytes = gemv_stage_bytes<MODE>(g.n_in, R);
    const dim3 grid = gemv_grid(s, g, (g.n_rows + R - 1) / R, R, shared_bytes);
    MYTH_LAUNCH_DEPENDENT((proj_k<T, MODE, R>), grid, GEMV_BLOCK, shared_bytes, s)(g, p, x);
}

/* False when a row of x does not fit a block's shared memory. */
static bool decode(myth_stream *s, const struct myth_proj_args *a)
{
    const int mode = gemv_mode(s, a->w.dtype, a->n_in, a->w, a->x);
    const gemv_shape g = gemv_shape_of(a->w.dtype, mode, a->n_rows, a->n_in, (a->n_out + 1) / 2, true);
    const uint64_t room = gemv_shared_room(s);
    const proj_op p = {
        cuda_ptr<float>(a->y), {cuda_ptr<const unsigned char>(a->w), a->n_out, a->w.dtype}, a->n_in, a->n_out, 0};
#define BYTES(mode, rows)  gemv_stage_bytes<mode>(a->n_in, rows)
#define RUN(T, mode, rows) launch<T, mode, rows>(s, g, p, cuda_ptr<const float>(a->x))
    GEMV_PICK(a->w.dtype, mode, RUN, BYTES, a->n_rows, room, too_wide);
#undef RUN
#undef BYTES
    return true;
too_wide:
    return false;
}

extern "C" void cuda_proj(myth_stream *s, const struct myth_proj_args *a)
{
    if (!a->is_decode || !decode(s, a))
        gemm(s, a->y, a->x, a->w, a->n_rows, a->n_in, a->n_out);
    cuda_check(s, "proj");
}
