/* moe_down.cu   y[r,:] = sum over the slots of weight[r, slot] * (Wd_e h[r * k + slot,:])
 *
 * Shapes     h f32 [n_rows * k, d_ff]; Wd of all experts stacked, [n_expert * dim, d_ff], planar form; part f32 [n_rows * k, dim]
 * Precision  as proj in decode; the slots are added in their order in f32, whichever expert was done first
 * Traffic    the matrices of experts with entries, once per 8 entries; part written and read
 * Limit      DRAM bandwidth in decode. Two launches: the products (moe.cuh), the sums                                             */
#include "moe.cuh"

enum { THREADS = 256 };

template <int T> struct moe_down_op {
    gemv_matrix down;
    float *part;
    const int *order;
    uint32_t n_in, n_out, expert, from;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(down, expert * n_out + 2 * slot, n_in);
        row[1] = gemv_row_at<T>(down, expert * n_out + min(2 * slot + 1, n_out - 1), n_in);
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t r, float v0, float v1) const
    {
        float *at = part + (uint64_t)(uint32_t)order[from + r] * n_out + 2 * slot;
        at[0] = v0;
        if (2 * slot + 1 < n_out)
            at[1] = v1;
    }
    __device__ __forceinline__ void done(uint32_t) const {}
};

template <int T, int MODE, int R> static __global__ void GEMV_BOUNDS(R) moe_down_k(gemv_shape g, moe_entries m, moe_down_op<T> op)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    moe_products<T, MODE, R>(stage, g, m, op);
}

static __global__ void add_k(float *y, const float *part, const float *weight, uint32_t k, uint32_t dim)
{
    const uint32_t i = blockIdx.y * THREADS + threadIdx.x;
    if (i >= dim)
        return;
    part += (uint64_t)blockIdx.x * k * dim + i;
    weight += (uint64_t)blockIdx.x * k;
    float sum = weight[0] * part[0];
    for (uint32_t slot = 1; slot < k; slot++)
        sum = fmaf(weight[slot], part[(uint64_t)slot * dim], sum);
    y[(uint64_t)blockIdx.x * dim + i] = sum;
}

template <int T, int MODE, int R>
static void launch(myth_stream *s, const gemv_shape &g, const moe_entries &m, const struct myth_moe_down_args *a)
{
    const uint64_t shared_bytes = gemv_stage_bytes<MODE>(g.n_in, R);
    const moe_down_op<T> op = { { cuda_ptr<const unsigned char>(a->w), a->n_expert * a->dim, a->w.dtype }, cuda_ptr<float>(a->part), m.order,
                                a->d_ff, a->dim, 0, 0 };
    MYTH_LAUNCH((moe_down_k<T, MODE, R>), moe_grid(s, g, a->n_expert, a->n_rows * a->k, R, shared_bytes), GEMV_BLOCK, shared_bytes, s)(g, m, op);
}

extern "C" void cuda_moe_down(myth_stream *s, const struct myth_moe_down_args *a)
{
    const int mode = gemv_mode(s, a->w.dtype, a->d_ff, a->w, a->h);
    const gemv_shape g = gemv_shape_of(a->w.dtype, mode, a->n_rows, a->d_ff, (a->dim + 1) / 2, true);
    const moe_entries m = moe_entries_of(a->h, a->offset, a->order, a->n_expert, 1, a->n_rows * a->k);
    const uint64_t room = gemv_shared_room(s);
#define BYTES(mode, rows) gemv_stage_bytes<mode>(a->d_ff, rows)
#define RUN(T, mode, rows) launch<T, mode, rows>(s, g, m, a)
    GEMV_PICK(a->w.dtype, mode, RUN, BYTES, a->n_rows, room, too_wide);
#undef RUN
#undef BYTES
    MYTH_LAUNCH(add_k, dim3(a->n_rows, (a->dim + THREADS - 1) / THREADS), THREADS, 0, s)(
        cuda_ptr<float>(a->y), cuda_ptr<const float>(a->part), cuda_ptr<const float>(a->weight), a->k, a->dim);
    cuda_check(s, "moe_down");
    return;
too_wide:
    myth_fail(&s->err, MYTH_EDEVICE, "%s: moe_down: a row of %u values does not fit a block's shared memory", s->dev->caps.name, a->d_ff);
}
