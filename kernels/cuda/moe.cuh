/* moe.cuh - the products of experts: decode's product (gemv.cuh) over the entries of one expert at a time.
 *
 * Work       grid.x: an expert each or, where there are fewer entries, an entry each, of which the first of every expert works for all;
 *            grid.y blocks share the expert's tiles. Entries are staged R at a time, as gemv_stage_rows does with rows side by side
 * Bits       those of a row in proj's decode: neither the other entries nor the grid matter
 * Traffic    an expert's matrices once per R of its entries
 * Lost       nothing measured yet; prefill would gain by tensor cores where experts have many entries                              */
#ifndef MYTH_CUDA_MOE_CUH
#define MYTH_CUDA_MOE_CUH

#include "gemv.cuh"

struct moe_entries {
    const float *x;                     /* row of entry i: i / share */
    const int *offset, *order;
    uint32_t n_expert, share;
    bool is_by_entry;
};

/* The expert of this block and its entries; empty where another block has them. */
struct moe_span {
    uint32_t expert, from, to;
};

static __device__ __forceinline__ moe_span moe_span_of(const moe_entries &m)
{
    moe_span s = { blockIdx.x, 0, 0 };
    if (m.is_by_entry) {                /* the last expert that starts at or before this place */
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

/* Entries order[from..from + R - 1], past the last the last again, as gemv_stage_rows lays rows. A barrier must follow. */
template <int T, int MODE, int R>
static __device__ __forceinline__ void moe_stage(unsigned char *stage, const gemv_shape &g, const moe_entries &m, uint32_t from, uint32_t to)
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

/* Of gemv_tiles': the entries at hand take registers of their own. */
static __host__ __device__ constexpr int moe_unroll(int type, int mode, int rows)
{
    return type == MYTH_Q4_0 && rows == 1 ? gemv_unroll(type, mode, rows) - 1 : gemv_unroll(type, mode, rows);
}

/* op: as gemv_tiles', with `expert` and `from` set for the entries at hand. */
template <int T, int MODE, int R, typename OP>
static __device__ __forceinline__ void moe_products(unsigned char *stage, const gemv_shape &g, const moe_entries &m, OP &op)
{
    const moe_span span = moe_span_of(m);
    op.expert = span.expert;
    for (op.from = span.from; op.from < span.to; op.from += R) {
        moe_stage<T, MODE, R>(stage, g, m, op.from, span.to);
        __syncthreads();
        gemv_tiles<T, MODE, R, moe_unroll(T, MODE, R)>(g, stage, span.to - op.from, op);
        __syncthreads();
    }
}

static inline moe_entries moe_entries_of(myth_view x, myth_view offset, myth_view order, uint32_t n_expert, uint32_t share, uint32_t n_entry)
{
    const moe_entries m = { cuda_ptr<const float>(x), cuda_ptr<const int>(offset), cuda_ptr<const int>(order), n_expert, share, n_entry < n_expert };
    return m;
}

static inline dim3 moe_grid(myth_stream *s, const gemv_shape &g, uint32_t n_expert, uint32_t n_entry, int rows, uint64_t shared_bytes)
{
    return gemv_grid(s, g, n_entry < n_expert ? n_entry : n_expert, rows, shared_bytes);
}

#endif
