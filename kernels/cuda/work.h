/* work.h - bytes of the workspaces that CUDA ops share, from the reserved shape alone; read by plan and by reserve.
 *
 * Scratch   one block, used by one op at a time: the largest of what each asks for                                   */
#ifndef MYTH_CUDA_WORK_H
#define MYTH_CUDA_WORK_H

#include "../device.h"

enum {
    CUDA_COUNTER_N = 4096,              /* u32 arrival counters for last_block */
    CUDA_ATTN_LEAF = 128,               /* absolute positions that decode attention reduces in one go    */
    CUDA_ATTN_NODE = 8,                 /* of them joined at a time                                      */
    CUDA_ATTN_ROWS = 8,                 /* rows whose leaves may all lie in scratch                      */
    CUDA_ATTN_BYTES = 4 << 20,          /* and the most they take: longer or more rows join more before they store */
};

static inline uint64_t cuda_larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static inline uint64_t cuda_smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* attn_decode: per row, head and leaf or node the largest score, the sum and head_dim weighted values. */
static inline uint64_t cuda_work_attn(const myth_work_shape *w)
{
    uint64_t n_part = (uint64_t)w->n_ctx / CUDA_ATTN_LEAF + (uint64_t)w->n_ctx / (CUDA_ATTN_LEAF * CUDA_ATTN_NODE) + 6;
    uint64_t width = cuda_larger(w->head_dim, 64) + 2;
    return cuda_smaller(cuda_smaller(w->n_rows, CUDA_ATTN_ROWS) * w->n_head * n_part * width * sizeof(float), CUDA_ATTN_BYTES);
}

/* head_topk: per row and vocabulary tile the k best (id, logit) and three sums. */
static inline uint64_t cuda_work_topk(const myth_work_shape *w)
{
    uint64_t n_tile = ((uint64_t)w->n_vocab + 1023) / 1024, k = w->top_k < 1024 ? w->top_k : 1024;
    return (uint64_t)w->n_logit_rows * n_tile * (k * 8 + 16);
}

static inline uint64_t cuda_work_scratch(const myth_work_shape *w)
{
    return (cuda_larger(cuda_work_attn(w), cuda_work_topk(w)) + 255) & ~(uint64_t)255;
}

#endif
