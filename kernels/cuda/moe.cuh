/* moe.cuh - the products of experts: decode's product (gemv.cuh) over the entries of one expert at a time; moe.cu has
 * the kernel.
 *
 * Slots      two matrix rows each, as in gemv.cuh: row step * i of the first matrix and row first + step * i, at most
 *            last, of the second
 * Modes      GEMV_I8 for Q8_0 and Q4_0, GEMV_F32 for BF16; everything else GEMV_PLAIN: no published file has experts in
 *            F16 or F32 */
#ifndef MYTH_CUDA_MOE_CUH
#define MYTH_CUDA_MOE_CUH

#include "gemv.cuh"

struct moe_job {
    const float *x; /* row of entry i: i / share */
    const int *offset, *order;
    uint32_t n_expert, share;
    bool is_by_entry;
    gemv_matrix w[2]; /* all experts' */
    uint32_t expert_rows, step, first, last;
    float *out; /* [entries, n_out] */
    uint32_t n_out;
    bool is_gated; /* out[i] = gelu_tanh(row 0 of slot i) * row 1, else out[2i], out[2i + 1] */
};

/* False when a row of x does not fit a block's shared memory. n_rows: of x, each of which chooses k experts. */
bool moe_products(myth_stream *s, int mode, moe_job job, uint32_t n_rows, uint32_t k, uint32_t n_in, uint32_t n_slot);

#endif
