/* moe.cu   out[i,:] = W x[i / share,:]   for every entry i, with the matrix W of its expert, in slots of two rows
 *          (moe.cuh)
 *
 * Work       an index of grid.x is an expert. Where there are fewer entries than experts it is an entry, and the block
 *            of an expert's first entry computes all of that expert. grid.y blocks share the expert's tiles. Entries
 *            are staged R at a time, as gemv_stage_rows stages neighbouring rows
 * Bits       the bits of an entry depend neither on the other entries nor on the grid
 * Traffic    an expert's matrices, once for every R of its entries
 * Limit      DRAM bandwidth in decode. In prefill, tensor cores would be faster where experts have many entries */
#include "moe.cuh"

/* The expert of this block and its entries; no entries where another block computes them. */
struct moe_span {
    uint32_t expert, from, to;
};

static __device__ __forceinline__ moe_span moe_span_of(const moe_job &m)
{
    moe_span s = {blockIdx.x, 0, 0};
    if (m.is_by_entry) { /* find the last expert whose entries start at or before this one */
        uint32_t lo = 0, hi = m.n_expert;
        while (hi - lo > 1) {
            const uint32_t mid = (lo + hi) / 2;
            if ((uint32_t)m.offset[mid] <= blockIdx.x)
                lo = mid;
            else
                hi = mid;
        }
        s.expert = lo;
        if ((uint32_t)m.offset[lo] != blockIdx.x)
            return s;
    }
    s.from = (uint32_t)m.offset[s.expert];
    s.to = (uint32_t)m.offset[s.expert + 1];
    return s;
}

/* The answers that gemv_tiles needs, for the entries order[from...] of one expert. */
template <int T> struct moe_op {
    const moe_job &m;
    uint32_t n_in, expert, from;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(m.w[0], expert * m.expert_rows + m.step * slot, n_in);
        row[1] = gemv_row_at<T>(m.w[1], expert * m.expert_rows + min(m.first + m.step * slot, m.last), n_in);
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t r, float v0, float v1) const
    {
        float *at = m.out + (uint64_t)(uint32_t)m.order[from + r] * m.n_out + m.step * slot;
        if (m.is_gated) {
            *at = gelu_tanh(v0) * v1;
            return;
        }
        at[0] = v0;
        if (2 * slot + 1 < m.n_out)
            at[1] = v1;
    }
    __device__ __forceinline__ void done(uint32_t) const {}
};

/* Stages the rows of entries order[from..from + R - 1] in the layout of gemv_stage_rows. The last entry stands in for
 * those past it. A barrier must follow. */
template <int T, int MODE, int R>
static __device__ __forceinline__ void moe_stage(unsigned char *stage, const gemv_shape &g, const moe_job &m,
                                                 uint32_t from, uint32_t to)
{
    const uint32_t n4 = (g.n_in + 3) / 4;
    const float *row[R];
#pragma unroll
    for (int r = 0; r < R; r++)
        row[r] = m.x + (uint64_t)((uint32_t)m.order[min(from + r, to - 1)] / m.share) * g.n_in;
#pragma unroll 1
    for (uint32_t i0 = 0; i0 < n4; i0 += GEMV_BLOCK) {
        const uint32_t i = i0 + threadIdx.x;
#pragma unroll
        for (int r = 0; r < R; r++) {
            const float4 v = i < n4 ? gemv_load4<MODE>(row[r], i, g.n_in) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            gemv_put<T, MODE, R>(stage, g, r, i, i < n4, v);
        }
    }
}

/* The UNROLL of gemv_tiles, smaller than usual because the entries take registers too. */
static __host__ __device__ constexpr int moe_unroll(int type, int mode, int rows)
{
    return type == MYTH_Q4_0 && rows == 1 ? gemv_unroll(type, mode, rows) - 1 : gemv_unroll(type, mode, rows);
}

template <int T, int MODE, int R> static __global__ void GEMV_BOUNDS(R) moe_k(gemv_shape g, const moe_job m)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    const moe_span span = moe_span_of(m);
    for (uint32_t from = span.from; from < span.to; from += R) {
        const moe_op<T> op = {m, g.n_in, span.expert, from};
        moe_stage<T, MODE, R>(stage, g, m, from, span.to);
        __syncthreads();
        gemv_tiles<T, MODE, R, moe_unroll(T, MODE, R)>(g, stage, span.to - from, op);
        __syncthreads();
    }
}

template <int T, int MODE, int R> static void launch(myth_stream *s, gemv_shape g, const moe_job &m, uint32_t n_entry)
{
    const uint64_t shared_bytes = gemv_stage_bytes<MODE>(g.n_in, R);
    const dim3 grid = gemv_grid(s, g, n_entry < m.n_expert ? n_entry : m.n_expert, R, shared_bytes);
    MYTH_LAUNCH((moe_k<T, MODE, R>), grid, GEMV_BLOCK, shared_bytes, s)(g, m);
}

bool moe_products(myth_stream *s, int mode, moe_job job, uint32_t n_rows, uint32_t k, uint32_t n_in, uint32_t n_slot)
{
    const myth_dtype type = (myth_dtype)job.w[0].type;
    const gemv_shape g = gemv_shape_of(s, type, mode, n_rows, n_in, n_slot, true);
    job.is_by_entry = n_rows * k < job.n_expert;
    const auto bytes = [&](auto c) { return gemv_stage_bytes<decltype(c)::MODE>(n_in, decltype(c)::R); };
    const auto run = [&](auto c) { launch<decltype(c)::T, decltype(c)::MODE, decltype(c)::R>(s, g, job, n_rows * k); };
    return gemv_pick<4>(type, mode, n_rows, gemv_shared_room(s), bytes, run);
}
