/* moe_down.cu   y[r,:] = sum over the slots of weight[r, slot] * (Wd h[r * k + slot,:]), Wd being the slot's expert's
 *
 * Shapes     h f32 [n_rows * k, d_ff]; Wd of all experts stacked, [n_expert * dim, d_ff], planar form; part f32 [n_rows
 *            * k, dim]
 * Precision  as proj in decode; the slots are added in their order, in f32
 * Traffic    the matrices of experts that have entries, once per 4 entries; part is written and read
 * Limit      DRAM bandwidth in decode. There are two launches: the products (moe.cu), then the sums */
#include "moe.cuh"

enum { THREADS = 256 };

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

extern "C" void cuda_moe_down(myth_stream *s, const struct myth_moe_down_args *a)
{
    const gemv_matrix down = gemv_matrix_of(a->w, a->n_expert * a->dim, a->d_ff);
    moe_job job = {};
    job.x = cuda_ptr<const float>(a->h);
    job.offset = cuda_ptr<const int>(a->offset);
    job.order = cuda_ptr<const int>(a->order);
    job.n_expert = a->n_expert;
    job.share = 1;
    job.w[0] = job.w[1] = down;
    job.expert_rows = a->dim;
    job.step = 2;
    job.first = 1;
    job.last = a->dim - 1;
    job.out = cuda_ptr<float>(a->part);
    job.n_out = a->dim;
    if (!moe_products(s, gemv_mode(s, a->w.dtype, a->d_ff, a->w, a->h), job, a->n_rows, a->k, a->d_ff,
                      (a->dim + 1) / 2)) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: moe_down: a row of %u values does not fit a block's shared memory",
                  s->dev->caps.name, a->d_ff);
        return;
    }
    MYTH_LAUNCH(add_k, dim3(a->n_rows, (a->dim + THREADS - 1) / THREADS), THREADS, 0, s)
    (cuda_ptr<float>(a->y), cuda_ptr<const float>(a->part), cuda_ptr<const float>(a->weight), a->k, a->dim);
    cuda_check(s, "moe_down");
}
