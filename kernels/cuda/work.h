/* work.h - the sizes of the workspaces that CUDA ops share, from the reserved shape and the knobs. plan and reserve
 * both use it.
 *
 * Scratch   one block, which one op at a time uses. It is as large as the op that needs most */
#ifndef MYTH_CUDA_WORK_H
#define MYTH_CUDA_WORK_H

#include "kernels/device.h"
#include "tune.h"

enum {
    CUDA_COUNTER_N = 4096,      /* u32 arrival counters for last_block */
    CUDA_ATTN_LEAF = 128,       /* a leaf of decode attention: positions that are reduced at once */
    CUDA_ATTN_NODE = 8,         /* leaves that are joined to a node                              */
    CUDA_ATTN_ROWS = 8,         /* most rows whose leaves may all be in scratch                  */
    CUDA_SLAB_BYTES = 64 << 20, /* most bytes of weights that prefill keeps unpacked to f16      */
    CUDA_HEAD_ROWS = 8,         /* rows that head_topk computes at once                          */
    CUDA_HEAD_WORKERS = 256,    /* blocks that share the vocabulary                              */
    CUDA_HEAD_KEYS = 128 << 10, /* most keys that these blocks keep for a row                    */
};

static inline uint64_t cuda_larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static inline uint64_t cuda_smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* attn_decode stores for each row, head and leaf (or node) the largest score, the sum and head_dim weighted values, in
 * at most attn_bytes. Where there are more or longer rows, blocks join more positions before they store. Too few bytes
 * are a cliff: if not even the nodes of a row fit, one block computes the whole row (attn_decode.cu). 8 rows of a 27B
 * model at 32,768 positions need 39 MB for their leaves, or 4.4 MB for their nodes. */
static inline uint64_t cuda_work_attn(const myth_work_shape *w, uint64_t attn_bytes)
{
    uint64_t n_part = (uint64_t)w->n_ctx / CUDA_ATTN_LEAF + (uint64_t)w->n_ctx / (CUDA_ATTN_LEAF * CUDA_ATTN_NODE) + 6;
    uint64_t width = cuda_larger(w->head_dim, 64) + 2;
    return cuda_smaller(cuda_smaller(w->n_rows, CUDA_ATTN_ROWS) * w->n_head * n_part * width * sizeof(float),
                        attn_bytes);
}

/* How many blocks share the tiles of the vocabulary; each keeps its own k best. */
static inline uint32_t cuda_head_workers(uint32_t n_tile, uint32_t k)
{
    uint32_t n = (uint32_t)CUDA_HEAD_KEYS / (k ? k : 1);
    n = n < (uint32_t)CUDA_HEAD_WORKERS ? n : (uint32_t)CUDA_HEAD_WORKERS;
    return n < n_tile ? n : n_tile;
}

/* head_topk, for CUDA_HEAD_ROWS rows: four floats for each vocabulary tile, and k keys of 8 bytes for each worker. With
 * a smaller k there may be more workers. */
static inline uint64_t cuda_work_topk(const myth_work_shape *w)
{
    uint64_t n_tile = ((uint64_t)w->n_vocab + 1023) / 1024;
    uint64_t n_key = cuda_smaller(CUDA_HEAD_KEYS, cuda_smaller(n_tile, CUDA_HEAD_WORKERS) * w->top_k);
    return w->n_logit_rows ? cuda_smaller(w->n_logit_rows, CUDA_HEAD_ROWS) * (n_tile * 16 + n_key * 8) : 0;
}

/* The slab for prefill products with types in blocks: some rows of the matrix as f16. */
static inline uint64_t cuda_work_slab(const myth_work_shape *w)
{
    return (cuda_smaller(w->block_values * 2, CUDA_SLAB_BYTES) + 255) & ~(uint64_t)255;
}

/* Prefill products: the rows of x as f16, padded to whole steps of 64 values, and a factor for each row; then the slab.
 */
static inline uint64_t cuda_work_gemm(const myth_work_shape *w)
{
    uint64_t width = cuda_larger(cuda_larger(w->d_model, w->d_ff), (uint64_t)w->n_head * w->head_dim);
    return w->n_rows * ((width + 63) / 64 * 64 * 2 + sizeof(float)) + 255 + cuda_work_slab(w);
}

/* The angles of one position for folded keys, 256 pairs. They come after the shared scratch. */
static inline uint64_t cuda_work_steps(const myth_work_shape *w) { return w->folds_keys ? 256 * sizeof(uint64_t) : 0; }

/* The scratch that one op at a time uses. */
static inline uint64_t cuda_work_shared(const myth_work_shape *w, uint64_t attn_bytes)
{
    const uint64_t most = cuda_larger(cuda_larger(cuda_work_attn(w, attn_bytes), cuda_work_topk(w)), cuda_work_gemm(w));
    return (most + 255) & ~(uint64_t)255;
}

static inline uint64_t cuda_work_scratch(const myth_work_shape *w, uint64_t attn_bytes)
{
    return cuda_work_shared(w, attn_bytes) + cuda_work_steps(w);
}

#endif
