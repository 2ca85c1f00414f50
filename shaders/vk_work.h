/* vk_work.h - what the ops keep in the device's workspaces. All sizes come from the reserved shape, so that plan,
 * reserve and ops agree.
 *
 * Counters  the counters of fused prologues (activations) and of decode attention (attn_scratch) are 0 between launches
 * Scales    the factors of capture_sum's rows are in activations, after the counters
 * Batches   where there are more rows than fit, ops take them in batches; a row's result does not depend on its batch
 */
#ifndef MYTH_VK_WORK_H
#define MYTH_VK_WORK_H

#include "vk.h"

enum {
    VK_ATTN_SPLIT = 256,          /* positions of a split of decode attention                             */
    VK_ATTN_PART_BYTES = 8 << 20, /* most bytes for the splits of a batch of rows, unless one row needs more */
    VK_HEAD_LIST = 4096,          /* entries of a list, of which head_topk keeps the k best               */
    VK_HEAD_ROWS = 64,
    VK_HEAD_KEPT_BYTES = 4 << 20, /* most bytes for what a batch of rows keeps, unless one row needs more */
};

struct vk_attn_work {
    uint64_t part_bytes, count_off, bytes; /* results of splits from offset 0 on, then counters */
};

struct vk_head_work {
    uint32_t n_rows;                        /* rows of a batch                                   */
    uint64_t n_logit;                       /* logits of a stripe of the vocabulary, for all rows of a batch */
    uint64_t kept_off[2], stats_off, bytes; /* logits from offset 0 on; rounds alternate between the two `kept` */
};

uint64_t vk_scale_off(const myth_work_shape *shape); /* offset of the scales, f32 per row, in activations */
uint32_t vk_attn_splits(uint32_t n_ctx); /* most splits of a row: both ends may be partial, and a gap adds two */
uint64_t vk_attn_row_bytes(uint32_t n_head, uint32_t n_split, uint32_t head_dim);
struct vk_attn_work vk_attn_work_of(const myth_work_shape *shape);
struct vk_head_work vk_head_work_of(const myth_work_shape *shape);
/* Writes the angle of one position for each pair, in units of 2^-64 turns: in a 64-bit integer the whole turns of any
 * position overflow and drop out. */
enum { VK_TURN_MAX = 512 };
void vk_rope_turns(uint64_t turn[VK_TURN_MAX], uint32_t n_pair, uint32_t head_dim, double base, double factor);
static inline uint32_t vk_head_lists(uint32_t n) { return n / VK_HEAD_LIST + (n % VK_HEAD_LIST != 0); }

#endif
