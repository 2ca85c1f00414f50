/* head_tiles.h - the parts of head_topk that are the same on every level: its workspace, asked logits, biases and masks
 * in a tile of logits, and merging the k best of all threads.
 *
 * Order    the vocabulary is divided into tiles of MYTH_HEAD_TILE rows with fixed borders, which threads take from a
 *          counter. Each thread keeps a heap of the k best for every row. When no tile is left, the heaps are sorted
 *          and merged row by row, and the tiles' statistics are joined in index order. So no bit depends on which
 *          thread took which tile
 * Rows     a block of n_row rows passes over the vocabulary together
 * Work     in the workspace `logits`: partial [n_row][n_tile], part [n_threads], kept [n_threads][n_row][k], logits
 *          [n_threads][n_row][MYTH_HEAD_TILE] */
#ifndef MYTH_CPU_HEAD_TILES_H
#define MYTH_CPU_HEAD_TILES_H

#include "kernels/cpu/cpu.h"
#include "head_stats.h"
#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CPU_HEAD_ROWS = 16 }; /* most rows of a block */

struct cpu_head_part { /* one thread's counts, for each row of the block */
    uint32_t n_kept[CPU_HEAD_ROWS], n_merged[CPU_HEAD_ROWS];
};

struct cpu_head {
    const struct myth_head_topk_args *a;
    uint32_t n_row, n_tile; /* rows of a block, tiles of the vocabulary */
    struct cpu_head_stats *partial;
    struct cpu_head_part *part;
    cpu_candidate *kept;
    float *logits;
};

static inline uint32_t cpu_head_count_tiles(uint32_t n_vocab)
{
    return n_vocab / MYTH_HEAD_TILE + (n_vocab % MYTH_HEAD_TILE != 0);
}

/* Bytes of the workspace for blocks of n_row <= CPU_HEAD_ROWS rows; 0 for a shape without logits. */
uint64_t cpu_head_bytes(const myth_work_shape *shape, uint32_t n_row, int n_threads);

/* Divides the workspace at base for the op `a`, and sets every asked logit to NaN, the answer for ids outside the
 * vocabulary. */
void cpu_head_begin(struct cpu_head *h, const struct myth_head_topk_args *a, unsigned char *base, uint32_t n_row,
                    int n_threads);

/* x holds the n logits of a row for the ids first .. first + n - 1. Copies those that were asked for, then adds the
 * biases, then sets forbidden ids to -inf. */
void cpu_head_edit_tile(const struct myth_head_topk_args *a, uint32_t row, float *x, uint32_t first, uint32_t n);

/* Every thread calls it when no tile is left. It waits for the other threads, then writes top ids, top logits, lse and
 * entropy for its share of the rows. Row 0 .. n_rows - 1 of the block is row row0 .. row0 + n_rows - 1 of the op. */
void cpu_head_finish(struct cpu_head *h, struct cpu_pool *pool, uint32_t row0, uint32_t n_rows, int tid, int n_threads);

#ifdef __cplusplus
}
#endif
#endif
