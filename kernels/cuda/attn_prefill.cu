/* attn_prefill.cu   o[r,h,:] = sum_j softmax_j(cap(q[r,h,:] . k[j,:])) v[j,:]
 *
 * Keys       row r at position p sees the positions j <= p (with n_after, up to p + n_after inside its run) with
 *            p - j < window, except those in the run's gaps
 * Shapes     q, o f32 [n_rows, n_head, head_dim], head_dim <= 512; cache f32 f16 bf16 q8_0 in pages or rings, then the
 *            step's scratch
 * Paths      this file is f32: it runs with is_exact, for f32 caches, and where head_dim is not a multiple of 8;
 *            otherwise attn_prefill_mma.cu runs
 * Tile       PAIRS pairs (token, q head), so that K and V are read once for them (attn_prefill.cuh)
 * Order      keys are taken in blocks of KEYS, aligned to absolute positions, under a running maximum. A masked key has
 *            weight 0 and value 0, so a row's bits do not depend on the other rows of its tile
 * Precision  f32 throughout
 * Traffic    K and V once per tile, through shared memory in slices of SLICE dimensions
 * Limit      f32 arithmetic: 4 * head_dim flops per pair and key
 * Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018) */
#include "attn_prefill.cuh"

enum {
    THREADS = 128,
    WARPS = THREADS / 32,
    PAIRS = 16,
    OWN = PAIRS / WARPS,
    KEYS = 32,
    SLICE = 64,
    STRIDE = SLICE + 1
};

/* Makes dimensions d0.. of the folded keys of positions start.., from the rows of the values. */
static __device__ __forceinline__ void stage_folded(float *slice, const unsigned char *const *row, const kv_map &m,
                                                    uint32_t start, uint32_t d0)
{
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < KEYS * SLICE; i += THREADS) {
        const uint32_t key = i / SLICE, d = i % SLICE;
        slice[key * STRIDE + d] = row[key] && d0 + d < m.head_dim ? kv_folded(m, row[key], start + key, d0 + d) : 0.0f;
    }
}

/* Loads dimensions d0.. of the block's keys or values as f32 into [KEYS][STRIDE]; zeros where a row is missing. It is
 * not inlined: it would be there once for every slice. */
static __device__ __attribute__((noinline)) void stage(float *slice, const unsigned char *const *row, int type,
                                                       uint32_t d0, uint32_t hd)
{
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < KEYS * SLICE; i += THREADS) {
        const uint32_t key = i / SLICE, d = i % SLICE;
        slice[key * STRIDE + d] = row[key] && d0 + d < hd ? kv_value(row[key], type, d0 + d) : 0.0f;
    }
}

/* SLICES * SLICE >= head_dim. A warp has OWN pairs. A lane computes the scores of one key, and two dimensions of every
 * slice of the output. */
template <int SLICES> static __global__ void __launch_bounds__(THREADS, 3) attn_prefill_k(const prefill_job j)
{
    MYTH_SHARED(const unsigned char *, k_row, KEYS);
    MYTH_SHARED(const unsigned char *, v_row, KEYS);
    MYTH_SHARED(float, slice, KEYS *STRIDE);
    MYTH_SHARED(float, weight, PAIRS *KEYS);
    MYTH_SHARED_DYN(float, q); /* [PAIRS][head_dim] */

    prefill_tile t;
    if (!prefill_tile_of(t, j))
        return;
    const uint32_t hd = j.kv.head_dim;
    for (uint32_t i = threadIdx.x; i < PAIRS * hd; i += THREADS) {
        const uint32_t pair = i / hd, tok = pair / t.heads;
        q[i] = tok < t.n_tok ? j.q[(t.q_row + (uint64_t)tok * j.n_head + pair % t.heads) * hd + i % hd] : 0.0f;
    }

    uint32_t seen0[OWN], seen1[OWN]; /* positions that the pair sees: seen0 <= j < seen1 */
    float most[OWN], total[OWN] = {}, acc[SLICES][OWN][2] = {};
#pragma unroll
    for (int n = 0; n < OWN; n++) {
        const uint32_t tok = ((uint32_t)warp() * OWN + n) / t.heads;
        seen0[n] = kv_first(t.pos + tok, j.window);
        seen1[n] = tok < t.n_tok ? kv_last(t.pos + tok, t.end, j.n_after) + 1 : 0;
        most[n] = -INFINITY;
    }
    const kv_walk walk = kv_walk_of(t.run, t.first, t.last, KEYS);
    for (uint32_t b = 0; b < walk.n; b++) {
        const uint32_t start = kv_block_at(walk, b) * KEYS, key = start + (uint32_t)lane();
        const bool is_there = key >= t.first && key <= t.last && !kv_is_gone(t.run, key);
        if (warp() < 2) {
            const unsigned char *at = is_there ? kv_row(j.kv, t.run, t.kv_head, key, warp() == 1) : nullptr;
            const unsigned char **rows = warp() ? v_row : k_row;
            rows[lane()] = at;
        }
        float score[OWN] = {};
#pragma unroll 1
        for (uint32_t d0 = 0; d0 < hd; d0 += SLICE) {
            __syncthreads(); /* no thread still reads data of the last turn; on the first turn, rows and q are there */
            if (j.kv.fold.w)
                stage_folded(slice, k_row, j.kv, start, d0);
            else
                stage(slice, k_row, j.kv.k_type, d0, hd);
            __syncthreads();
            const uint32_t n = min(hd - d0, (uint32_t)SLICE);
            for (uint32_t d = 0; d < n; d++) {
                const float k = slice[lane() * STRIDE + (int)d];
#pragma unroll
                for (int i = 0; i < OWN; i++)
                    score[i] = fmaf(q[(uint32_t)(warp() * OWN + i) * hd + d0 + d], k, score[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const bool is_seen = is_there && key >= seen0[i] && key < seen1[i];
            const float s = is_seen ? attn_cap(score[i], j.softcap) : -INFINITY, now = fmaxf(most[i], warp_max(s));
            const float fade = attn_fade(most[i], now), w = is_seen ? expf(s - now) : 0.0f;
            total[i] = fmaf(total[i], fade, warp_sum(w));
            most[i] = now;
            weight[(warp() * OWN + i) * KEYS + lane()] = w;
#pragma unroll
            for (int n = 0; n < SLICES; n++) {
                acc[n][i][0] *= fade;
                acc[n][i][1] *= fade;
            }
        }
#pragma unroll
        for (int n = 0; n < SLICES; n++) {
            if (n > 0 && (uint32_t)n * SLICE >= hd)
                break; /* narrower heads end here */
            __syncthreads();
            stage(slice, v_row, j.kv.v_type, (uint32_t)n * SLICE, hd);
            __syncthreads();
#pragma unroll 4
            for (int k = 0; k < KEYS; k++) {
                const float lo = slice[k * STRIDE + lane()], hi = slice[k * STRIDE + 32 + lane()];
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    const float w = weight[(warp() * OWN + i) * KEYS + k];
                    acc[n][i][0] = fmaf(w, lo, acc[n][i][0]);
                    acc[n][i][1] = fmaf(w, hi, acc[n][i][1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const uint32_t pair = (uint32_t)(warp() * OWN + i), tok = pair / t.heads;
        if (tok >= t.n_tok)
            continue;
        float *o = j.o + (t.q_row + (uint64_t)tok * j.n_head + pair % t.heads) * hd;
#pragma unroll
        for (int n = 0; n < SLICES; n++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const uint32_t d = (uint32_t)(n * SLICE + half * 32 + lane());
                if (d < hd)
                    o[d] = acc[n][i][half] / total[i];
            }
    }
}

extern "C" void cuda_attn_prefill(myth_stream *s, const struct myth_attn_args *a)
{
    if (!cuda_of(s)->is_exact && cuda_attn_prefill_mma(s, a)) {
        cuda_check(s, "attn_prefill");
        return;
    }
    const prefill_job j = prefill_job_of(s, a, PAIRS);
    const dim3 grid(a->n_rows, a->n_head_kv * j.n_group);
    const uint64_t bytes = (uint64_t)PAIRS * a->head_dim * sizeof(float);
#define RUN(SLICES) MYTH_LAUNCH(attn_prefill_k<SLICES>, grid, THREADS, bytes, s)(j)
    if (a->head_dim <= 256)
        RUN(4);
    else if (a->head_dim <= 512)
        RUN(8);
    else
        myth_fail(&s->err, MYTH_EUNSUPPORTED, "attn_prefill: head_dim %u; at most 512", a->head_dim);
#undef RUN
    cuda_check(s, "attn_prefill");
}
