/* attn.cuh - what attention and kv_merge share: finding the row of a position, going through the blocks of positions
 * that a row sees, and converting eight values of a cached row to f32.
 *
 * Rows       are read in the layouts of ops.h; nothing is copied or converted before attention
 * Loads      16 bytes at a time where addresses and strides allow (KV_F16, KV_BF16); q8_0 by its 34-byte blocks, which
 *            are aligned to 2; everything else, float32 among it, element by element (KV_ANY)
 * Fold       folded keys (myth_key_fold): the row of a key is the row of its value, from which the key RoPE(w * v) is
 *            made when it is read
 * Gaps       in layers with pages, the positions of a run's gaps have no rows; blocks of positions wholly in a gap are
 *            skipped */
#ifndef MYTH_CUDA_ATTN_CUH
#define MYTH_CUDA_ATTN_CUH

#include "common.cuh"

enum kv_kind { KV_F16, KV_BF16, KV_Q8_0, KV_ANY };

/* How folded keys are made; w nullptr = keys are stored. */
struct kv_fold {
    const float *w, *table; /* [head_dim]; (cos, sin) [n_table][n_pair] */
    const uint64_t *step;   /* [n_pair], for positions past the table: the angle of one position, in 2^-64 turns */
    uint32_t n_table, n_pair;
};

struct kv_map {
    kv_fold fold;
    const unsigned char *k_new, *v_new; /* [n_head_kv][cap_rows] rows */
    unsigned char *pool;                /* the layer's K in page 0    */
    const int *table;
    uint64_t page_bytes, v_off;                                       /* v_off: bytes from a page's K to its V */
    uint32_t page_tok, n_entry, cap_rows, head_dim, k_bytes, v_bytes; /* bytes of a row */
    int k_type, v_type, k_kind, v_kind;
    bool is_ring;
};

/* The parts of a run's record that say where its keys are. */
struct kv_run {
    uint32_t slot, pos0, row0, n_rows, n_gap; /* n_gap: 0 in layers with a ring */
    const int *gap;                           /* [n_gap][MYTH_GAP_WIDTH]        */
};

static inline int kv_kind_of(myth_dtype t, uint64_t bits)
{
    if (t == MYTH_Q8_0)
        return KV_Q8_0;
    return bits % 16 || t == MYTH_F32 ? KV_ANY : t == MYTH_F16 ? KV_F16 : KV_BF16;
}

static inline kv_map kv_map_of(myth_view k_new, myth_view v_new, const struct myth_kv_place *kv, uint32_t cap_rows,
                               uint32_t n_head_kv, uint32_t head_dim)
{
    kv_map m;
    m.fold = kv_fold{};
    const bool has_k = k_new.buf != NULL;
    k_new = has_k ? k_new : v_new;
    m.k_new = cuda_ptr<const unsigned char>(k_new);
    m.v_new = cuda_ptr<const unsigned char>(v_new);
    m.pool = cuda_ptr<unsigned char>(kv->pool) + kv->layer_off;
    m.table = cuda_ptr<const int>(kv->table);
    m.page_bytes = kv->page_bytes;
    m.k_bytes = (uint32_t)myth_row_bytes(k_new.dtype, head_dim);
    m.v_bytes = (uint32_t)myth_row_bytes(v_new.dtype, head_dim);
    m.v_off = has_k ? (uint64_t)n_head_kv * kv->page_tok * m.k_bytes : 0;
    m.page_tok = kv->page_tok;
    m.n_entry = kv->n_entry;
    m.cap_rows = cap_rows;
    m.head_dim = head_dim;
    m.k_type = k_new.dtype;
    m.v_type = v_new.dtype;
    m.k_kind =
        kv_kind_of(k_new.dtype, (uint64_t)(uintptr_t)m.k_new | (uint64_t)(uintptr_t)m.pool | m.page_bytes | m.k_bytes);
    m.v_kind = kv_kind_of(v_new.dtype, (uint64_t)(uintptr_t)m.v_new | ((uint64_t)(uintptr_t)m.pool + m.v_off) |
                                           m.page_bytes | m.v_bytes);
    m.is_ring = kv->is_ring;
    return m;
}

/* ---- finding rows ---- */

static __device__ __forceinline__ kv_run kv_read_run(const kv_map &m, const int *rec)
{
    kv_run r;
    r.slot = (uint32_t)rec[MYTH_RUN_SLOT];
    r.pos0 = (uint32_t)rec[MYTH_RUN_POS0];
    r.row0 = (uint32_t)rec[MYTH_RUN_ROW0];
    r.n_rows = (uint32_t)rec[MYTH_RUN_N_ROWS];
    r.n_gap = m.is_ring ? 0u : (uint32_t)rec[MYTH_RUN_N_GAP];
    r.gap = rec + MYTH_RUN_GAPS;
    return r;
}

/* The loops over gaps are not unrolled: most runs have none, and the code of a walk is inlined in many places. */
static __device__ __forceinline__ uint32_t kv_gap(const kv_run &r, uint32_t i, int field)
{
    return (uint32_t)r.gap[i * MYTH_GAP_WIDTH + (uint32_t)field];
}

/* The place of position pos in the cache. */
static __device__ __forceinline__ unsigned char *kv_cached_row(const kv_map &m, const kv_run &r, uint32_t head,
                                                               uint32_t pos, bool is_v)
{
    uint32_t entry = m.is_ring ? 0 : pos / m.page_tok, row = pos % m.page_tok;
    uint32_t gone = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < r.n_gap && pos >= kv_gap(r, i, MYTH_GAP_TO); i++)
        gone = kv_gap(r, i, MYTH_GAP_GONE);
    entry -= gone;
    int page = m.table[((uint64_t)r.slot * m.n_entry + entry) * 2];
    const uint64_t at = ((uint64_t)head * m.page_tok + row) * (is_v ? m.v_bytes : m.k_bytes) + (is_v ? m.v_off : 0);
    return m.pool + (uint64_t)page * m.page_bytes + at;
}

/* The row of a position, in the step's scratch or in the cache. */
static __device__ __forceinline__ const unsigned char *kv_row(const kv_map &m, const kv_run &r, uint32_t head,
                                                              uint32_t pos, bool is_v)
{
    if (pos < r.pos0)
        return kv_cached_row(m, r, head, pos, is_v);
    return (is_v ? m.v_new : m.k_new) +
           ((uint64_t)head * m.cap_rows + r.row0 + (pos - r.pos0)) * (is_v ? m.v_bytes : m.k_bytes);
}

static __device__ __forceinline__ uint32_t kv_first(uint32_t pos, uint32_t window)
{
    return window && pos >= window ? pos - window + 1 : 0;
}
/* The last position that a row at pos sees, in a run whose last position is `end`. */
static __device__ __forceinline__ uint32_t kv_last(uint32_t pos, uint32_t end, uint32_t n_after)
{
    return pos + min(n_after, end - pos);
}
static __device__ __forceinline__ bool kv_is_gone(const kv_run &r, uint32_t pos)
{
#pragma unroll 1
    for (uint32_t i = 0; i < r.n_gap; i++)
        if (pos < kv_gap(r, i, MYTH_GAP_TO))
            return pos >= kv_gap(r, i, MYTH_GAP_FROM);
    return false;
}

/* ---- the walk over blocks ---- */

/* A walk over n blocks of `size` aligned positions, starting with block `first`. It skips the blocks that are wholly in
 * one of the run's gaps. */
struct kv_walk {
    kv_run run;
    uint32_t first, n, size;
};

/* The blocks from block `first` on that are wholly in gap i: hole .. past - 1, none if past <= hole. */
struct kv_hole {
    uint32_t hole, past;
};
static __device__ __forceinline__ kv_hole kv_hole_of(const kv_walk &w, uint32_t i)
{
    const uint32_t from = kv_gap(w.run, i, MYTH_GAP_FROM), to = kv_gap(w.run, i, MYTH_GAP_TO);
    return kv_hole{max(from / w.size + (from % w.size > 0), w.first), to / w.size};
}

/* The number of the walk's i-th block. */
static __device__ __forceinline__ uint32_t kv_block_at(const kv_walk &w, uint32_t i)
{
    uint32_t block = w.first + i;
#pragma unroll 1
    for (uint32_t k = 0; k < w.run.n_gap; k++) {
        const kv_hole h = kv_hole_of(w, k);
        block += h.past > h.hole && block >= h.hole ? h.past - h.hole : 0;
    }
    return block;
}
/* The number in the walk of the first block that is not before `block`. */
static __device__ __forceinline__ uint32_t kv_place_of(const kv_walk &w, uint32_t block)
{
    uint32_t i = block > w.first ? block - w.first : 0;
#pragma unroll 1
    for (uint32_t k = 0; k < w.run.n_gap; k++) {
        const kv_hole h = kv_hole_of(w, k);
        i -= h.past > h.hole && block > h.hole ? min(block, h.past) - h.hole : 0;
    }
    return i;
}
static __device__ __forceinline__ kv_walk kv_walk_of(const kv_run &r, uint32_t from, uint32_t to, uint32_t size)
{
    kv_walk w = {r, from / size, 0, size};
    w.n = kv_place_of(w, to / size) + 1;
    return w;
}

/* ---- eight values of a row ---- */

template <int KIND> struct kv_raw {
    uint4 v[KIND == KV_ANY ? 2 : 1];
};

static __device__ __forceinline__ float kv_value(const unsigned char *row, int type, uint32_t i)
{
    if (type == MYTH_F32)
        return ((const float *)(const void *)row)[i];
    if (type == MYTH_Q8_0) {
        row += i / 32 * 34;
        return f16_to_f32(*(const uint16_t *)(const void *)row) * (float)(int8_t)row[2 + i % 32];
    }
    const uint16_t h = ((const uint16_t *)(const void *)row)[i];
    return type == MYTH_F16 ? f16_to_f32(h) : bf16_to_f32(h);
}

/* Values i..i+7 (i % 8 == 0) of a row of n values; zeros past its end, and for a row that is NULL. */
template <int KIND>
static __device__ __forceinline__ kv_raw<KIND> kv_fetch(const unsigned char *row, int type, uint32_t i, uint32_t n)
{
    kv_raw<KIND> raw;
    for (uint4 &v : raw.v)
        v = make_uint4(0, 0, 0, 0);
    if (!row || i >= n)
        return raw;
    if (KIND == KV_F16 || KIND == KV_BF16) {
        raw.v[0] = load_kv16(row + 2 * i);
    } else if (KIND == KV_Q8_0) {
        const uint16_t *block = (const uint16_t *)(const void *)(row + i / 32 * 34), *q = block + 1 + i % 32 / 2;
        raw.v[0] = make_uint4(q[0] | (unsigned)q[1] << 16, q[2] | (unsigned)q[3] << 16, block[0], 0);
    } else {
        unsigned bits[8];
#pragma unroll
        for (uint32_t k = 0; k < 8; k++)
            bits[k] = i + k < n ? __float_as_uint(kv_value(row, type, i + k)) : 0u;
        raw.v[0] = make_uint4(bits[0], bits[1], bits[2], bits[3]);
        raw.v[KIND == KV_ANY] = make_uint4(bits[4], bits[5], bits[6], bits[7]);
    }
    return raw;
}

template <int KIND> static __device__ __forceinline__ void kv_spread(float (&out)[8], const kv_raw<KIND> &raw)
{
    const uint4 a = raw.v[0], b = raw.v[KIND == KV_ANY];
    const unsigned word[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    if (KIND == KV_ANY) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            out[k] = __uint_as_float(word[k]);
    } else if (KIND == KV_Q8_0) {
        float scale = f16_to_f32((uint16_t)a.z);
#pragma unroll
        for (int k = 0; k < 8; k++)
            out[k] = scale * (float)(int8_t)(uint8_t)(word[k / 4] >> (k % 4 * 8));
    } else {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint16_t lo = (uint16_t)word[k], hi = (uint16_t)(word[k] >> 16);
            out[2 * k] = KIND == KV_F16 ? f16_to_f32(lo) : bf16_to_f32(lo);
            out[2 * k + 1] = KIND == KV_F16 ? f16_to_f32(hi) : bf16_to_f32(hi);
        }
    }
}

/* ---- folded keys ---- */

/* Writes the angles of one position for each pair to the device and returns their address, valid until the next call
 * (rope_table.cu). */
const uint64_t *cuda_fold_steps(myth_stream *s, const struct myth_key_fold *fold, uint32_t head_dim);

static inline kv_fold kv_fold_of(myth_stream *s, const struct myth_attn_args *a)
{
    if (!a->fold.w.buf)
        return kv_fold{};
    return kv_fold{cuda_ptr<const float>(a->fold.w), cuda_ptr<const float>(a->fold.table),
                   cuda_fold_steps(s, &a->fold, a->head_dim), a->fold.n_table, a->fold.n_pair};
}

/* (cos, sin) of the angle by which pair i is rotated at position pos. Past the table, quarter turns are taken off an
 * integer phase, and the rest, at most an eighth of a turn, goes through a polynomial. */
static __device__ __forceinline__ float2 kv_turn(const kv_fold &f, uint32_t pos, uint32_t i)
{
    if (pos < f.n_table) {
        const float *pair = f.table + ((uint64_t)pos * f.n_pair + i) * 2;
        return make_float2(pair[0], pair[1]);
    }
    const uint64_t phase = pos * f.step[i], quarter = (phase + (1ull << 61)) >> 62;
    const float x = (float)(int64_t)(phase - (quarter << 62)) * 3.4061216e-19f, z = x * x; /* 2 pi / 2^64 */
    const float s = fmaf(fmaf(fmaf(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f) * z, x, x);
    const float c4 = fmaf(fmaf(2.443315711809948e-5f, z, -1.388731625493765e-3f), z, 4.166664568298827e-2f);
    const float c = fmaf(c4 * z, z, fmaf(-0.5f, z, 1.0f));
    const float2 pair = quarter & 1 ? make_float2(-s, c) : make_float2(c, s);
    return quarter & 2 ? make_float2(-pair.x, -pair.y) : pair;
}

/* Element d of the folded key of position pos; `row` is the row of its value. */
static __device__ __forceinline__ float kv_folded(const kv_map &m, const unsigned char *row, uint32_t pos, uint32_t d)
{
    const uint32_t n_half = m.head_dim / 2, i = d < n_half ? d : d - n_half, at = d < n_half ? d + n_half : i;
    const float own = kv_value(row, m.v_type, d) * m.fold.w[d];
    if (i >= m.fold.n_pair)
        return own;
    const float other = kv_value(row, m.v_type, at) * m.fold.w[at];
    const float2 turn = kv_turn(m.fold, pos, i);
    return d < n_half ? fmaf(own, turn.x, -(other * turn.y)) : fmaf(own, turn.x, other * turn.y);
}

/* ---- softmax ---- */

static __device__ __forceinline__ float attn_cap(float s, float cap) { return cap > 0.0f ? cap * tanhf(s / cap) : s; }
/* The factor for a sum when the maximum grows from `before` to `now`; 0 where nothing was summed before (-inf). */
static __device__ __forceinline__ float attn_fade(float before, float now)
{
    return before == -INFINITY ? 0.0f : expf(before - now);
}

#endif
