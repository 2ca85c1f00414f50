/* attn_prefill.cuh - the tiles of prefill attention, for its f32 kernel and its tensor-core kernel.
 *
 * Tile   pairs (token, q head of one kv head). The tokens are consecutive tokens of one run whose positions have the
 *        same pos / n_tok. The grid is (n_rows, kv heads * n_group): the block of a tile's first row computes the tile,
 *        the other blocks return. So no launch depends on where runs begin */
#ifndef MYTH_CUDA_ATTN_PREFILL_CUH
#define MYTH_CUDA_ATTN_PREFILL_CUH

#include "attn.cuh"

struct prefill_job {
    kv_map kv;
    float *o;
    const float *q;
    const int *runs, *row_run, *pos;
    uint32_t n_rows, n_head, n_share, window, n_after; /* n_share: q heads per kv head                               */
    uint32_t n_tok, n_group, group; /* tokens of a tile; groups of the q heads of a kv head, and heads of each group */
    float softcap;
};

static inline prefill_job prefill_job_of(myth_stream *s, const struct myth_attn_args *a, uint32_t n_pair)
{
    prefill_job j;
    j.kv = kv_map_of(a->k_new, a->v_new, &a->kv, a->cap_rows, a->n_head_kv, a->head_dim);
    j.kv.fold = kv_fold_of(s, a);
    j.o = cuda_ptr<float>(a->o);
    j.q = cuda_ptr<const float>(a->q);
    j.runs = cuda_ptr<const int>(a->runs);
    j.row_run = cuda_ptr<const int>(a->row_run);
    j.pos = cuda_ptr<const int>(a->pos);
    j.n_rows = a->n_rows;
    j.n_head = a->n_head;
    j.n_share = a->n_head / a->n_head_kv;
    j.window = a->window;
    j.n_after = a->n_after;
    j.softcap = a->softcap;
    j.group = j.n_share < n_pair ? j.n_share : n_pair;
    j.n_group = (j.n_share + j.group - 1) / j.group;
    j.n_tok = n_pair / j.group;
    return j;
}

struct prefill_tile {
    kv_run run;
    uint32_t pos, n_tok, first,
        last;                /* position of the first token; first..last: positions that any row of the tile sees */
    uint32_t end;            /* the run's last position                                              */
    uint32_t kv_head, heads; /* pair = token * heads + head                                          */
    uint64_t q_row;          /* row in q and o of token 0, head 0                                    */
};

/* Finds the tile that begins at the block's row; false when none does. */
static __device__ __forceinline__ bool prefill_tile_of(prefill_tile &t, const prefill_job &j)
{
    const uint32_t row = blockIdx.x;
    const int run = j.row_run[row];
    t.pos = (uint32_t)j.pos[row];
    if (row > 0 && j.row_run[row - 1] == run && (uint32_t)j.pos[row - 1] + 1 == t.pos && t.pos % j.n_tok)
        return false;
    t.run = kv_read_run(j.kv, j.runs + (uint64_t)(uint32_t)run * MYTH_RUN_WIDTH);
    t.n_tok = min(j.n_tok - t.pos % j.n_tok, j.n_rows - row);
    while (t.n_tok > 1 &&
           (j.row_run[row + t.n_tok - 1] != run || (uint32_t)j.pos[row + t.n_tok - 1] != t.pos + t.n_tok - 1))
        t.n_tok--; /* positions ascend, so if the last one fits its row, those before it do too */
    t.first = kv_first(t.pos, j.window);
    t.end = t.run.pos0 + t.run.n_rows - 1;
    t.last = kv_last(t.pos + t.n_tok - 1, t.end, j.n_after);
    const uint32_t head0 = blockIdx.y % j.n_group * j.group;
    t.kv_head = blockIdx.y / j.n_group;
    t.heads = min(j.group, j.n_share - head0);
    t.q_row = (uint64_t)row * j.n_head + t.kv_head * j.n_share + head0;
    return true;
}

/* Attention on tensor cores. False when they cannot be used for this cache and width; then nothing was launched. */
bool cuda_attn_prefill_mma(myth_stream *s, const struct myth_attn_args *a);

#endif
