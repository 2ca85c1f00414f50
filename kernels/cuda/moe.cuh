/* moe.cuh - the products of experts: the product of decode (gemv.cuh) with the entries of one expert at a time. moe.cu
 * has the kernel.
 *
 * Slots      a slot is two matrix rows, as in gemv.cuh: row step * i of the first matrix, and row first + step * i, at
 *            most row `last`, of the second
 * Modes      GEMV_I8 for Q8_0 and Q4_0, GEMV_F32 for BF16, and GEMV_PLAIN for all other types: no published file has
 *            experts in F16 or F32 */
#ifndef MYTH_CUDA_MOE_CUH
#define MYTH_CUDA_MOE_CUH

#include "gemv.cuh"

struct moe_job {
    const float *x; /* entry i has row i / share */
    const int *offset, *order;
    uint32_t n_expert, share;
    bool is_by_entry;
    gemv_matrix w[2]; /* the stacks of all experts */
    uint32_t expert_rows, step, first, last;
    float *out; /* [entries, n_out] */
    uint32_t n_out;
    bool is_gated; /* out[i] = gelu_tanh(row 0 of slot i) * row 1, else out[2i], out[2i + 1] */
};

/* Launches the products of n_rows rows of x that have chosen k experts each. False when a row of x does not fit the
 * shared memory of a block; then nothing ran. */
bool moe_products(myth_stream *s, int mode, moe_job job, uint32_t n_rows, uint32_t k, uint32_t n_in, uint32_t n_slot);

#endif
