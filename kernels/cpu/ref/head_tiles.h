/* head_tiles.h - what head_topk does around its logits, the same on every level: the workspace, the edits of a tile,
 * the heaps of the threads joined.
 *
 * Order    tiles of MYTH_HEAD_TILE vocabulary rows with fixed borders, taken by threads from a counter. A thread keeps
 *          one heap of the k best per row; once all tiles are done the heaps are sorted and merged row by row, and the
 *          tiles' statistics are joined in index order, so no bit depends on who took which tile
 * Rows     a block of n_row rows passes over the vocabulary at once
 * Work     the class `logits`: partial [n_row][n_tile], part [n_threads], kept [n_threads][n_row][k], logits
 *          [n_threads][n_row][MYTH_HEAD_TILE] */
#ifndef MYTH_CPU_HEAD_TILES_H
#define MYTH_CPU_HEAD_TILES_H

#include "kernels/cpu/cpu.h"
#include "head_stats.h"
#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CPU_HEAD_ROWS = 16 }; /* of a block at most */

struct cpu_head_part { /* of a thread, for each row of the block */
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

/* Cuts the workspace at base for the op `a`, and marks every asked logit as one outside the vocabulary (NaN). */
void cpu_head_begin(struct cpu_head *h, const struct myth_head_topk_args *a, unsigned char *base, uint32_t n_row,
                    int n_threads);

/* Takes the asked logits of the row out of the tile as they are, then adds biases, then makes forbidden ids -inf. x:
 * the n logits of the ids first .. first + n. */
void cpu_head_edit_tile(const struct myth_head_topk_args *a, uint32_t row, float *x, uint32_t first, uint32_t n);

/* Every thread calls it when no tile is left: waits for the others, then writes top ids and logits, lse and entropy of
 * its share of the rows row0 .. row0 + n_rows, which were rows 0 .. n_rows of the block. */
void cpu_head_finish(struct cpu_head *h, struct cpu_pool *pool, uint32_t row0, uint32_t n_rows, int tid, int n_threads);

#ifdef __cplusplus
}
#endif
#endif
