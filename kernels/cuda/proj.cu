/* proj.cu   y[r,:] = W x[r,:]
 *
 * Shapes     x [n_rows, n_in], y [n_rows, n_out] f32; W [n_out, n_in] of any type in planar form
 * Precision  exact mode: f32 products and sums. Fast mode: in decode int8 x for Q8_0 and Q4_0, f32 for other types; in
 *            prefill f16 tiles (gemm.cuh)
 * Traffic    W once per 8 rows in decode, once per tile of rows in prefill
 * Limit      decode: DRAM bandwidth; prefill: tensor cores. Decode is one launch in which blocks share tiles of outputs
 *            (gemv.cuh). A row that is too wide for the shared memory of a block is staged in slabs, once per tile */
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

/* The same for one row at a time, of which a slab of n_slab chunks is staged at a time: once when the slab is the whole
 * row, else once per tile. Slabs are whole rounds of the 8 lanes, so that every lane adds the same chunks in the same
 * order and bits do not depend on the slab. */
template <int T, int MODE>
static __global__ void GEMV_BOUNDS(1) proj_slabs_k(gemv_shape g, proj_op p, const float *x, uint32_t n_slab)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    MYTH_SHARED(float, part, 2 * GEMV_WARPS * GEMV_GROUPS * 2);
    p.row0 = blockIdx.x;
    const proj_tiles<T> op = {p};
    const uint32_t values = g.n_in / g.n_chunk;
    if constexpr (MODE != GEMV_PLAIN)
        gemv_prefetch(g, op);
    grid_dependency_wait();
    grid_dependency_launch();
    uint32_t parity = 0;
    for (uint32_t tile = blockIdx.y; tile < g.n_tile; tile += gridDim.y, parity ^= 1) {
        const gemv_place place = gemv_place_of(g, tile);
        float acc[2][1];
        gemv_row row[2];
        op.rows(row, min(place.slot, g.n_slot - 1));
        gemv_clear(acc);
#pragma unroll 1
        for (uint32_t base = 0; base < g.n_chunk; base += n_slab) {
            gemv_shape slab = g;
            slab.n_chunk = min(n_slab, g.n_chunk - base);
            slab.n_in = slab.n_chunk * values;
            slab.n_rows = 1;
            if (n_slab < g.n_chunk || tile == blockIdx.y) {
                __syncthreads(); /* all threads are done with the slab before this one */
                gemv_stage_rows<T, MODE, 1>(stage, slab, x + (uint64_t)p.row0 * g.n_in + (uint64_t)base * values, 0);
                __syncthreads();
            }
            gemv_add<T, MODE, 1, gemv_unroll_less(T, MODE, 1)>(acc, row, stage, slab, max(place.c0, base),
                                                               min(place.c1, base + slab.n_chunk), base);
        }
        gemv_join_lanes(acc);
        gemv_finish_tile<1>(g, tile, place, acc, part + parity * GEMV_WARPS * GEMV_GROUPS * 2, 1, op);
    }
}

template <int T, int MODE> static void launch_slabs(myth_stream *s, gemv_shape g, const proj_op &p, const float *x)
{
    enum { ROUND = GEMV_LANES }; /* a slab has a multiple of ROUND chunks */
    const uint32_t values = g.n_in / g.n_chunk;
    const uint64_t n_round = gemv_shared_room(s) / gemv_stage_bytes<MODE>(ROUND * values, 1);
    if (!n_round) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: proj: the shared memory of a block holds no part of a row",
                  s->dev->caps.name);
        return;
    }
    const uint32_t n_slab = n_round * ROUND < g.n_chunk ? (uint32_t)n_round * ROUND : g.n_chunk;
    const uint64_t shared_bytes = gemv_stage_bytes<MODE>(n_slab * values, 1);
    const dim3 grid = gemv_grid(s, g, g.n_rows, 1, shared_bytes);
    MYTH_LAUNCH_DEPENDENT((proj_slabs_k<T, MODE>), grid, GEMV_BLOCK, shared_bytes, s)(g, p, x, n_slab);
}

template <int T, int MODE, int R> static void launch(myth_stream *s, gemv_shape g, const proj_op &p, const float *x)
{
    if constexpr (MODE == GEMV_PLAIN && R == 1) {
        launch_slabs<T, MODE>(s, g, p, x);
    } else {
        const uint64_t shared_bytes = gemv_stage_bytes<MODE>(g.n_in, R);
        const dim3 grid = gemv_grid(s, g, (g.n_rows + R - 1) / R, R, shared_bytes);
        MYTH_LAUNCH_DEPENDENT((proj_k<T, MODE, R>), grid, GEMV_BLOCK, shared_bytes, s)(g, p, x);
    }
}

/* One launch for any number and width of rows, so that bits do not depend on how much shared memory there is. Rows in
 * int8 need no slabs: up to 70,000 values fit on every card. */
static void decode(myth_stream *s, const struct myth_proj_args *a)
{
    const int type = a->w.dtype, mode = gemv_mode(s, a->w.dtype, a->n_in, a->w, a->x);
    const gemv_shape g = gemv_shape_of(s, a->w.dtype, mode, a->n_rows, a->n_in, (a->n_out + 1) / 2, true);
    const float *x = cuda_ptr<const float>(a->x);
    proj_op p = {};
    p.y = cuda_ptr<float>(a->y);
    p.m = gemv_matrix_of(a->w, a->n_out, a->n_in);
    p.n_in = a->n_in;
    p.n_out = a->n_out;
    const auto bytes = [&](auto c) { return gemv_stage_bytes<decltype(c)::MODE>(a->n_in, decltype(c)::R); };
    const auto run = [&](auto c) { launch<decltype(c)::T, decltype(c)::MODE, decltype(c)::R>(s, g, p, x); };
    if (gemv_pick<8>(type, mode, a->n_rows, gemv_shared_room(s), bytes, run))
        return;
    if (mode == GEMV_PLAIN)
        launch_slabs<GEMV_ANY, GEMV_PLAIN>(s, g, p, x);
    else if (mode == GEMV_F32)
        launch_slabs<GEMV_HALF, GEMV_F32>(s, g, p, x);
    else
        myth_fail(&s->err, MYTH_EDEVICE, "%s: proj: a row of %u values does not fit a block's shared memory",
                  s->dev->caps.name, a->n_in);
}

extern "C" void cuda_proj(myth_stream *s, const struct myth_proj_args *a)
{
    if (a->is_decode)
        decode(s, a);
    else
        gemm(s, a->y, a->x, a->w, a->n_rows, a->n_in, a->n_out);
    cuda_check(s, "proj");
}
