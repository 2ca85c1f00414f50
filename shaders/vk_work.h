/* vk_work.h - what the ops keep in the device's workspaces: sizes from the reserved shape, so that plan, reserve and
 * ops agree.
 *
 * Counters  those of fused prologues (activations) and of decode attention (attn_scratch) are 0 between launches
 * Scales    of capture_sum's rows, behind the counters of the prologues
 * Batches   more rows than fit are worked on in turn; the work of a row does not depend on its batch */
#ifndef MYTH_VK_WORK_H
#define MYTH_VK_WORK_H

#include "vk.h"

enum {
    VK_ATTN_SPLIT = 256,          /* positions of a split of decode attention                             */
    VK_ATTN_PART_BYTES = 8 << 20, /* of the splits of all rows at once, unless one row needs more         */
    VK_HEAD_LIST = 4096,          /* entries of which head_topk keeps the k best                          */
    VK_HEAD_ROWS = 64,
    VK_HEAD_KEPT_BYTES = 4 << 20, /* of what the lists of all rows at once keep, unless one row needs more */
};

struct vk_attn_work {
    uint64_t part_bytes, count_off, bytes; /* parts of splits from 0 on, then counters */
};

struct vk_head_work {
    uint32_t n_rows;                        /* at once                                           */
    uint64_t n_logit;                       /* of all rows at once: a stripe of the vocabulary   */
    uint64_t kept_off[2], stats_off, bytes; /* logits from 0 on, rounds alternate between kept's */
};

uint64_t vk_scale_off(const myth_work_shape *shape); /* f32 per row, in activations */
uint32_t vk_attn_splits(uint32_t n_ctx);             /* that a row can meet: both ends may be partial, a gap adds one */
uint64_t vk_attn_row_bytes(uint32_t n_head, uint32_t n_split, uint32_t head_dim);
struct vk_attn_work vk_attn_work_of(const myth_work_shape *shape);
struct vk_head_work vk_head_work_of(const myth_work_shape *shape);
/* Angles of one position as fractions of a turn, in 2^-64: whole turns of any position drop out of an integer. */
enum { VK_TURN_MAX = 512 };
void vk_rope_turns(uint64_t turn[VK_TURN_MAX], uint32_t n_pair, uint32_t head_dim, double base, double factor);
static inline uint32_t vk_head_lists(uint32_t n) { return n / VK_HEAD_LIST + (n % VK_HEAD_LIST != 0); }

#endif
