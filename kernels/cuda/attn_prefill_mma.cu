/* attn_prefill_mma.cu   attn_prefill on tensor cores: scores and weighted values by tiles of 16-bit elements, softmax
 * in f32
 *
 * Shapes     as attn_prefill, head_dim <= 512 and a multiple of 8; cache f16 bf16 q8_0. Rows that are not aligned to 16
 *            bytes, which occur beside rows of q8_0, are read element by element
 * Tile       16 pairs (token, q head) per row of warps, from one run and kv head; KEYS keys at a time, aligned to
 *            absolute positions. WARPS_D warps share the output dimensions of a row of warps, and each computes all of
 *            its scores: with head_dim 512, the registers of one warp hold half of the output
 * Precision  q, k, p and v are rounded to f16, or to bf16 where the cache is bf16 (f16 caches lose nothing, q8_0 caches
 *            2^-11); sums are f32
 * Shared     q, k and v tiles. 16-byte chunks are swizzled by row (chunk ^ row % 8), so that neither ldmatrix nor the
 *            fills have bank conflicts
 * Fold       for folded keys the values are loaded, and the keys are made from them in the tile and rounded once more
 * Overlap    cp.async: v of a block arrives while its scores are computed, k of the next while values are added
 * Traffic    K and V once per tile; q, o once
 * Limit      tensor cores at prompt lengths past the ridge: 4 * head_dim flops per pair and key, causal half
 * Source     Dao, FlashAttention-2 (2023); PTX ISA fragment layouts */
#include "attn_prefill.cuh"

enum { THREADS = 128 };

template <bool IS_BF16> static __device__ __forceinline__ uint32_t pack(float lo, float hi)
{
    return IS_BF16 ? f32x2_to_bf16x2(lo, hi) : f32x2_to_f16x2(lo, hi);
}

template <bool IS_BF16>
static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    if (IS_BF16)
        mma_m16n8k16_bf16(c, a, b);
    else
        mma_m16n8k16_f16(c, a, b);
}

/* The place of 16-byte chunk c of row r in a tile of HD columns. */
template <int HD> static __device__ __forceinline__ uint4 *chunk_at(unsigned char *tile, uint32_t r, uint32_t c)
{
    return (uint4 *)(void *)tile + (uint64_t)r * (HD / 8) + (c ^ (r & 7));
}

/* Fills a tile of n_key rows of n_chunk 16-byte chunks with rows that are not aligned to 16 bytes, or with f16 beside
 * bf16. It is not inlined, because it is rare and long. */
static __device__ __attribute__((noinline)) void fill_any(unsigned char *tile, const unsigned char *const *rows,
                                                          int type, uint32_t hd, uint32_t n_key, uint32_t n_chunk,
                                                          bool is_bf16)
{
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < n_key * n_chunk * 8; i += THREADS) {
        const uint32_t key = i / (n_chunk * 8), d = i % (n_chunk * 8), c = d / 8;
        const float v = rows[key] && d < hd ? kv_value(rows[key], type, d) : 0.0f;
        uint16_t *const to = (uint16_t *)(void *)tile + ((uint64_t)key * n_chunk + (c ^ (key & 7))) * 8 + d % 8;
        *to = is_bf16 ? f32_to_bf16(v) : f32_to_f16(v);
    }
}

/* Loads KEYS rows into a tile, with zeros for missing rows and past head_dim. Rows of the tile's own type are copied by
 * cp.async. */
template <int HD, int KEYS, bool IS_BF16>
static __device__ __forceinline__ void fill(unsigned char *tile, const unsigned char *const *rows, const kv_map &m,
                                            bool is_v)
{
    const int kind = is_v ? m.v_kind : m.k_kind;
    const uint32_t hd = m.head_dim;
    if (kind == (IS_BF16 ? KV_BF16 : KV_F16)) {
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < KEYS * (HD / 8); i += THREADS) {
            const uint32_t key = i / (HD / 8), c = i % (HD / 8);
            const bool is_there = rows[key] && c * 8 < hd;
            cp_async16_or_zero(chunk_at<HD>(tile, key, c), is_there ? rows[key] + 16 * c : m.k_new, is_there);
        }
        return;
    }
    if (kind != KV_Q8_0) {
        fill_any(tile, rows, is_v ? m.v_type : m.k_type, hd, KEYS, HD / 8, IS_BF16);
        return;
    }
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < KEYS * (HD / 8); i += THREADS) {
        const uint32_t key = i / (HD / 8), c = i % (HD / 8);
        float v[8];
        kv_spread<KV_Q8_0>(v, kv_fetch<KV_Q8_0>(rows[key], MYTH_Q8_0, c * 8, hd));
        *chunk_at<HD>(tile, key, c) = make_uint4(pack<IS_BF16>(v[0], v[1]), pack<IS_BF16>(v[2], v[3]),
                                                 pack<IS_BF16>(v[4], v[5]), pack<IS_BF16>(v[6], v[7]));
    }
}

/* Values 2w, 2w + 1 of row r of a tile, in one register. */
template <int HD> static __device__ __forceinline__ uint32_t *word_at(unsigned char *tile, uint32_t r, uint32_t w)
{
    return (uint32_t *)(void *)chunk_at<HD>(tile, r, w / 4) + w % 4;
}

template <bool IS_BF16> static __device__ __forceinline__ float element(uint32_t word, uint32_t i)
{
    const uint16_t h = (uint16_t)(word >> (16 * i));
    return IS_BF16 ? bf16_to_f32(h) : f16_to_f32(h);
}

/* Turns a tile of values into the folded keys of positions start.., in place. A thread has both elements of two pairs,
 * because head_dim is a multiple of 8. A barrier must follow. */
template <int HD, int KEYS, bool IS_BF16>
static __device__ __forceinline__ void fold_tile(unsigned char *tile, const kv_map &m, uint32_t start)
{
    const uint32_t n_half = m.head_dim / 2, n_word = n_half / 2;
    const float *w = m.fold.w;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < KEYS * n_word; i += THREADS) {
        const uint32_t key = i / n_word, at = i % n_word;
        uint32_t *const lo = word_at<HD>(tile, key, at), *const hi = word_at<HD>(tile, key, at + n_word);
        const uint32_t lo_word = *lo, hi_word = *hi;
        float low[2], high[2];
#pragma unroll
        for (uint32_t e = 0; e < 2; e++) {
            const uint32_t pair = 2 * at + e;
            const float a = element<IS_BF16>(lo_word, e) * w[pair], b = element<IS_BF16>(hi_word, e) * w[pair + n_half];
            const float2 turn = pair < m.fold.n_pair ? kv_turn(m.fold, start + key, pair) : make_float2(1.0f, 0.0f);
            low[e] = fmaf(a, turn.x, -(b * turn.y));
            high[e] = fmaf(b, turn.x, a * turn.y);
        }
        *lo = pack<IS_BF16>(low[0], low[1]);
        *hi = pack<IS_BF16>(high[0], high[1]);
    }
}

/* cap * tanh(s / cap) from one exponential; the error is 1e-7 of the cap. */
static __device__ __forceinline__ float cap_fast(float s, float cap)
{
    return cap - __fdividef(2.0f * cap, 1.0f + __expf(2.0f * s / cap));
}

/* Threads 0..2 KEYS - 1 write the addresses of the rows of block b of the walk, if there is one: [2][KEYS], k and v. */
template <int KEYS>
static __device__ __forceinline__ void find_rows(const unsigned char **k_row, const unsigned char **v_row,
                                                 const kv_map &m, const prefill_tile &t, const kv_walk &walk,
                                                 uint32_t b)
{
    if (threadIdx.x >= 2 * KEYS || b >= walk.n)
        return;
    const bool is_v = threadIdx.x >= KEYS;
    const uint32_t i = threadIdx.x % KEYS, p = kv_block_at(walk, b) * KEYS + i;
    const bool is_there = p >= t.first && p <= t.last && !kv_is_gone(t.run, p);
    const unsigned char **rows = is_v ? v_row : k_row;
    rows[b % 2 * KEYS + i] = is_there ? kv_row(m, t.run, t.kv_head, p, is_v) : nullptr;
}

template <int HD, int WARPS_D, int KEYS, bool IS_BF16>
static __global__ void __launch_bounds__(THREADS) attn_prefill_mma_k(const prefill_job j)
{
    constexpr int WARPS_M = THREADS / 32 / WARPS_D, PAIRS = 16 * WARPS_M, TILES_D = HD / WARPS_D / 8;
    MYTH_SHARED(const unsigned char *, k_row, 2 * KEYS);
    MYTH_SHARED(const unsigned char *, v_row, 2 * KEYS);
    MYTH_SHARED_DYN(unsigned char, q_tile);
    unsigned char *const k_tile = q_tile + PAIRS * HD * 2, *const v_tile = k_tile + KEYS * HD * 2;

    prefill_tile t;
    if (!prefill_tile_of(t, j))
        return;
    const uint32_t hd = j.kv.head_dim;
    for (uint32_t i = threadIdx.x; i < PAIRS * (HD / 8); i += THREADS) {
        const uint32_t pair = i / (HD / 8), c = i % (HD / 8), tok = pair / t.heads;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (tok < t.n_tok && c * 8 < hd) {
            const float *q = j.q + (t.q_row + (uint64_t)tok * j.n_head + pair % t.heads) * hd + c * 8;
            v = make_uint4(pack<IS_BF16>(q[0], q[1]), pack<IS_BF16>(q[2], q[3]), pack<IS_BF16>(q[4], q[5]),
                           pack<IS_BF16>(q[6], q[7]));
        }
        *chunk_at<HD>(q_tile, pair, c) = v;
    }

    const uint32_t row0 = (uint32_t)(warp() / WARPS_D * 16), dim0 = (uint32_t)(warp() % WARPS_D * (HD / WARPS_D));
    const uint32_t l = (uint32_t)lane(), quad = l % 4 * 2;
    uint32_t seen0[2], seen1[2]; /* for pairs row0 + l / 4 and 8 further: they see seen0 <= position < seen1 */
    float most[2] = {-INFINITY, -INFINITY}, total[2] = {}, acc[TILES_D][4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t tok = (row0 + l / 4 + 8 * i) / t.heads;
        seen0[i] = kv_first(t.pos + tok, j.window);
        seen1[i] = tok < t.n_tok ? kv_last(t.pos + tok, t.end, j.n_after) + 1 : 0;
    }
    const kv_walk walk = kv_walk_of(t.run, t.first, t.last, KEYS);
    find_rows<KEYS>(k_row, v_row, j.kv, t, walk, 0);
    __syncthreads();
    fill<HD, KEYS, IS_BF16>(k_tile, k_row, j.kv, false);
    cp_async_commit();

#pragma unroll 1
    for (uint32_t b = 0; b < walk.n; b++) {
        const uint32_t start = kv_block_at(walk, b) * KEYS;
        fill<HD, KEYS, IS_BF16>(v_tile, v_row + b % 2 * KEYS, j.kv, true);
        cp_async_commit();
        find_rows<KEYS>(k_row, v_row, j.kv, t, walk, b + 1);
        cp_async_wait<1>();
        __syncthreads(); /* k is there, and the next rows */
        if (j.kv.fold.w) {
            fold_tile<HD, KEYS, IS_BF16>(k_tile, j.kv, start);
            __syncthreads();
        }

        float s[KEYS / 8][4] = {};
#pragma unroll 4
        for (uint32_t d = 0; d < HD / 16; d++) {
            uint32_t a[4];
            ldmatrix_x4(a, chunk_at<HD>(q_tile, row0 + l % 16, 2 * d + l / 16));
#pragma unroll
            for (int n = 0; n < KEYS / 16; n++) {
                uint32_t k[4];
                ldmatrix_x4(k, chunk_at<HD>(k_tile, (uint32_t)n * 16 + l / 16 * 8 + l % 8, 2 * d + l / 8 % 2));
                const uint32_t k0[2] = {k[0], k[1]}, k1[2] = {k[2], k[3]};
                multiply<IS_BF16>(s[2 * n], a, k0);
                multiply<IS_BF16>(s[2 * n + 1], a, k1);
            }
        }
        __syncthreads(); /* k is free */
        if (b + 1 < walk.n)
            fill<HD, KEYS, IS_BF16>(k_tile, k_row + (b + 1) % 2 * KEYS, j.kv, false);
        cp_async_commit();

        float now[2] = {most[0], most[1]};
#pragma unroll
        for (uint32_t n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (uint32_t e = 0; e < 4; e++) {
                const uint32_t p = start + n * 8 + quad + e % 2, i = e / 2;
                const bool is_seen = p >= seen0[i] && p < seen1[i] && !kv_is_gone(t.run, p);
                s[n][e] = !is_seen ? -INFINITY : j.softcap > 0.0f ? cap_fast(s[n][e], j.softcap) : s[n][e];
                now[i] = fmaxf(now[i], s[n][e]);
            }
        float fade[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            now[i] = fmaxf(now[i], __shfl_xor_sync(MYTH_WARP_ALL, now[i], 1));
            now[i] = fmaxf(now[i], __shfl_xor_sync(MYTH_WARP_ALL, now[i], 2));
            fade[i] = attn_fade(most[i], now[i]);
            most[i] = now[i];
            total[i] *= fade[i];
        }
#pragma unroll
        for (uint32_t n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (uint32_t e = 0; e < 4; e++) {
                s[n][e] = s[n][e] == -INFINITY ? 0.0f : __expf(s[n][e] - now[e / 2]);
                total[e / 2] += s[n][e];
            }
#pragma unroll
        for (int n = 0; n < TILES_D; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                acc[n][e] *= fade[e / 2];

        cp_async_wait<1>();
        __syncthreads(); /* v is there */
#pragma unroll
        for (uint32_t k = 0; k < KEYS / 16; k++) {
            const uint32_t a[4] = {pack<IS_BF16>(s[2 * k][0], s[2 * k][1]), pack<IS_BF16>(s[2 * k][2], s[2 * k][3]),
                                   pack<IS_BF16>(s[2 * k + 1][0], s[2 * k + 1][1]),
                                   pack<IS_BF16>(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
            for (uint32_t n = 0; n < TILES_D / 2; n++) {
                uint32_t v[4];
                ldmatrix_x4_trans(v, chunk_at<HD>(v_tile, k * 16 + l % 16, dim0 / 8 + 2 * n + l / 16));
                const uint32_t v0[2] = {v[0], v[1]}, v1[2] = {v[2], v[3]};
                multiply<IS_BF16>(acc[2 * n], a, v0);
                multiply<IS_BF16>(acc[2 * n + 1], a, v1);
            }
        }
        __syncthreads(); /* v is free */
    }
    cp_async_wait<0>();

#pragma unroll
    for (uint32_t i = 0; i < 2; i++) {
        total[i] += __shfl_xor_sync(MYTH_WARP_ALL, total[i], 1);
        total[i] += __shfl_xor_sync(MYTH_WARP_ALL, total[i], 2);
        const uint32_t pair = row0 + l / 4 + 8 * i, tok = pair / t.heads;
        if (tok >= t.n_tok)
            continue;
        float *o = j.o + (t.q_row + (uint64_t)tok * j.n_head + pair % t.heads) * hd;
        const float inverse = 1.0f / total[i];
#pragma unroll
        for (uint32_t n = 0; n < TILES_D; n++)
#pragma unroll
            for (uint32_t e = 0; e < 2; e++) {
                const uint32_t d = dim0 + n * 8 + quad + e;
                if (d < hd)
                    o[d] = acc[n][2 * i + e] * inverse;
            }
    }
}

template <int HD, int WARPS_D, int KEYS> static void launch(myth_stream *s, const struct myth_attn_args *a)
{
    constexpr uint32_t PAIRS = 16 * (THREADS / 32 / WARPS_D);
    const prefill_job j = prefill_job_of(s, a, PAIRS);
    const dim3 grid(a->n_rows, a->n_head_kv * j.n_group);
    const uint64_t bytes = (PAIRS + 2 * KEYS) * HD * 2;
    if (a->k_new.dtype == MYTH_BF16 || a->v_new.dtype == MYTH_BF16)
        MYTH_LAUNCH((attn_prefill_mma_k<HD, WARPS_D, KEYS, true>), grid, THREADS, bytes, s)(j);
    else
        MYTH_LAUNCH((attn_prefill_mma_k<HD, WARPS_D, KEYS, false>), grid, THREADS, bytes, s)(j);
}

bool cuda_attn_prefill_mma(myth_stream *s, const struct myth_attn_args *a)
{
    /* Types and head_dim decide, but not where the rows lie: with other pages or rings the bits must be the same. */
    const myth_dtype type_k = a->k_new.buf ? a->k_new.dtype : a->v_new.dtype;
    if (type_k == MYTH_F32 || a->v_new.dtype == MYTH_F32 || a->head_dim % 8)
        return false;
    if (a->head_dim <= 64)
        launch<64, 1, 64>(s, a);
    else if (a->head_dim <= 128)
        launch<128, 1, 64>(s, a);
    else if (a->head_dim <= 256)
        launch<256, 1, 32>(s, a);
    else if (a->head_dim <= 512)
        launch<512, 2, 32>(s, a);
    else
        return false;
    return true;
}
