/* moe_geglu.cu   h[i,:] = gelu_tanh(Wg_e x[r,:]) * (Wu_e x[r,:])   for the entries i = r * k + slot of every expert e
 *
 * Shapes     x f32 [n_rows, dim], h f32 [n_rows * k, d_ff]; Wg, Wu in stacks of [n_expert * expert_rows, dim], one type, planar form
 * Precision  as proj in decode: f32, or int8 x for quantised weights in fast mode
 * Traffic    the matrices of experts with entries, once per 8 entries
 * Limit      DRAM bandwidth in decode. One launch (moe.cuh)                                                                       */
#include "moe.cuh"

static __device__ __forceinline__ float gelu_tanh(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.79788456f * fmaf(0.044715f * x * x, x, x)));
}

template <int T> struct moe_geglu_op {
    gemv_matrix gate, up;
    float *h;
    const int *order;
    uint32_t n_in, d_ff, expert_rows, up_row, expert, from;
    __device__ __forceinline__ void rows(gemv_row (&row)[2], uint32_t slot) const
    {
        row[0] = gemv_row_at<T>(gate, expert * expert_rows + slot, n_in);
        row[1] = gemv_row_at<T>(up, expert * expert_rows + up_row + slot, n_in);
    }
    __device__ __forceinline__ void store(uint32_t slot, uint32_t r, float g, float u) const
    {
        h[(uint64_t)(uint32_t)order[from + r] * d_ff + slot] = gelu_tanh(g) * u;
    }
    __device__ __forceinline__ void done(uint32_t) const {}
};

template <int T, int MODE, int R> static __global__ void GEMV_BOUNDS(R) moe_geglu_k(gemv_shape g, moe_entries m, moe_geglu_op<T> op)
{
    MYTH_SHARED_DYN(unsigned char, stage);
    moe_products<T, MODE, R>(stage, g, m, op);
}

template <int T, int MODE, int R>
static void launch(myth_stream *s, const gemv_shape &g, const moe_entries &m, const struct myth_moe_geglu_args *a)
{
    const uint64_t shared_bytes = gemv_stage_bytes<MODE>(g.n_in, R);
    const uint32_t n_row = a->n_expert * a->expert_rows;
    const moe_geglu_op<T> op = { { cuda_ptr<const unsigned char>(a->w_gate), n_row, a->w_gate.dtype },
                                 { cuda_ptr<const unsigned char>(a->w_up), n_row, a->w_up.dtype },
                                 cuda_ptr<float>(a->h), m.order, a->dim, a->d_ff, a->expert_rows, a->up_row, 0, 0 };
    MYTH_LAUNCH((moe_geglu_k<T, MODE, R>), moe_grid(s, g, a->n_expert, a->n_rows * a->k, R, shared_bytes), GEMV_BLOCK, shared_bytes, s)(g, m, op);
}

extern "C" void cuda_moe_geglu(myth_stream *s, const struct myth_moe_geglu_args *a)
{
    const int mode = gemv_mode(s, a->w_gate.dtype, a->dim, a->w_gate, a->w_up, a->x);
    const gemv_shape g = gemv_shape_of(a->w_gate.dtype, mode, a->n_rows, a->dim, a->d_ff, true);
    const moe_entries m = moe_entries_of(a->x, a->offset, a->order, a->n_expert, a->k, a->n_rows * a->k);
    const uint64_t room = gemv_shared_room(s);
#define BYTES(mode, rows) gemv_stage_bytes<mode>(a->dim, rows)
#define RUN(T, mode, rows) launch<T, mode, rows>(s, g, m, a)
    GEMV_PICK(a->w_gate.dtype, mode, RUN, BYTES, a->n_rows, room, too_wide);
#undef RUN
#undef BYTES
    cuda_check(s, "moe_geglu");
    return;
too_wide:
    myth_fail(&s->err, MYTH_EDEVICE, "%s: moe_geglu: a row of %u values does not fit a block's shared memory", s->dev->caps.name, a->dim);
}
