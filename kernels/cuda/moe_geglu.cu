/* moe_geglu.cu   h[i,:] = gelu_tanh(Wg x[r,:]) * (Wu x[r,:])   for every entry i = r * k + slot, with the matrices Wg
 *                and Wu of its expert
 *
 * Shapes     x f32 [n_rows, dim], h f32 [n_rows * k, d_ff]; Wg, Wu in stacks of [n_expert * expert_rows, dim], one
 *            type, planar form
 * Precision  as proj in decode: f32, or int8 x for quantised weights in fast mode
 * Traffic    the matrices of experts that have entries, once per 4 entries
 * Limit      DRAM bandwidth in decode. One launch (moe.cu) */
#include "moe.cuh"

extern "C" void cuda_moe_geglu(myth_stream *s, const struct myth_moe_geglu_args *a)
{
    const uint32_t n_row = a->n_expert * a->expert_rows;
    moe_job job = {};
    job.x = cuda_ptr<const float>(a->x);
    job.offset = cuda_ptr<const int>(a->offset);
    job.order = cuda_ptr<const int>(a->order);
    job.n_expert = a->n_expert;
    job.share = a->k;
    job.w[0] = gemv_matrix_of(a->w_gate, n_row, a->dim);
    job.w[1] = gemv_matrix_of(a->w_up, n_row, a->dim);
    job.expert_rows = a->expert_rows;
    job.step = 1;
    job.first = a->up_row;
    job.last = a->up_row + a->d_ff - 1;
    job.out = cuda_ptr<float>(a->h);
    job.n_out = a->d_ff;
    job.is_gated = true;
    if (!moe_products(s, gemv_mode(s, a->w_gate.dtype, a->dim, a->w_gate, a->w_up, a->x), job, a->n_rows, a->k, a->dim,
                      a->d_ff)) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: moe_geglu: a row of %u values does not fit a block's shared memory",
                  s->dev->caps.name, a->dim);
        return;
    }
    cuda_check(s, "moe_geglu");
}
