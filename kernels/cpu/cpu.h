/* cpu.h - what the files of the CPU device share: features, levels, workspaces, access to views.
 *
 * Levels   ref < avx2 < avx512 < amx on x86-64, ref < neon on AArch64. Each is one `struct cpu_level`, listed in
 *          levels.def. Where a level has NULL for an op, the next lower level's op runs; where no level has the op,
 *          op.c composes it of small ops (the reference of the fused ops). is_exact always runs ref. The device refuses
 *          a level by name when the processor lacks one of its features. Files named *_avx2.c, *_avx512.c, *_amx.c and
 *          *_neon.c are compiled with the flags of that level, so nothing in them may run before the level is chosen
 * Ops      op_check.c has checked the arguments of a level's op: views are inside their buffers, types and shapes are
 *          among those that ops.h allows, sizes are within the reserved work shape, and there is at least one row. The
 *          op returns when its result is complete, since the CPU stream runs each op at once. It uses cpu_pool_run for
 *          threads and allocates nothing
 * Bits     results depend neither on the number of threads nor on how work is divided: one thread computes a whole sum,
 *          or partial sums with fixed borders are combined in index order
 * Work     workspaces are one block per class, taken at myth_device_reserve. Each is large enough for every level from
 *          ref to the one in use. An op may use a block from its first byte; its contents are undefined:
 *            activations   quantised or converted activation rows, dequantised weight rows per thread
 *            attn_scratch  per-thread accumulators and score blocks
 *            logits        per-thread top-k heaps and per-tile partials */
#ifndef MYTH_CPU_H
#define MYTH_CPU_H

#include "kernels/device_impl.h"
#include "pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- features ---- */

enum {
    CPU_AVX2 = 1 << 0,
    CPU_FMA = 1 << 1,
    CPU_F16C = 1 << 2,
    CPU_AVX512F = 1 << 3,
    CPU_AVX512BW = 1 << 4,
    CPU_AVX512VL = 1 << 5,
    CPU_AVX512DQ = 1 << 6,
    CPU_AVX512_VNNI = 1 << 7,
    CPU_AVX512_BF16 = 1 << 8,
    CPU_AMX_TILE = 1 << 9,
    CPU_AMX_INT8 = 1 << 10,
    CPU_AMX_BF16 = 1 << 11, /* set only when the system granted the tile state */
    CPU_NEON = 1 << 12,
    CPU_DOTPROD = 1 << 13,
    CPU_FEATURE_N = 14
};

/* Features that both the processor and the operating system (xgetbv, arch_prctl) allow. The first call asks the system
 * to let this process use the AMX tiles. */
uint32_t cpu_features(void);
const char *cpu_feature_name(int bit); /* "avx512_vnni" for bit 7 */
/* Writes the processor's name, such as "AMD EPYC 9B14", at most cap - 1 bytes of it; "CPU" when it reports none. */
void cpu_brand(char *dst, size_t cap);

/* ---- levels ---- */

typedef struct {
    uint64_t activations, attn_scratch, logits;
} cpu_work_bytes;

struct cpu_level {
    const char *name;
    uint32_t needs;      /* feature bits */
    struct myth_ops ops; /* NULL = the op of the next lower level */
    /* Workspaces that this level's ops need for the shape: a pure function of its arguments. NULL = none. */
    void (*work)(cpu_work_bytes *out, const myth_work_shape *shape, int n_threads);
};

#define LEVEL(name) extern const struct cpu_level cpu_level_##name;
#include "levels.def"
#undef LEVEL

/* ---- the device ---- */

enum { CPU_BUF_MAX = 1280, CPU_STREAM_MAX = 8, CPU_ATTN_BLOCK = 64 };

struct cpu_device {
    struct myth_device base;
    struct cpu_pool *pool;
    uint32_t features;
    int level;                                          /* index in levels.def; exact = 0 */
    unsigned char *activations, *attn_scratch, *logits; /* workspaces, 64-byte aligned; NULL when no level needs any */
    cpu_work_bytes work_bytes;
    unsigned char *graphs; /* n_graph slots of recorded ops */
    struct myth_buf *buf;  /* CPU_BUF_MAX slots; dev NULL = free */
    struct myth_stream stream[CPU_STREAM_MAX];
};

static inline struct cpu_device *cpu_of(const myth_stream *s) { return (struct cpu_device *)(void *)s->dev; }
static inline int cpu_n_threads(const myth_stream *s) { return cpu_pool_n_threads(cpu_of(s)->pool); }

/* ---- views ---- */

/* NULL for a view that is not given. */
static inline void *cpu_ptr(myth_view v) { return v.buf ? (unsigned char *)v.buf->host + v.off : NULL; }
static inline float *cpu_f32(myth_view v) { return (float *)cpu_ptr(v); }
static inline int32_t *cpu_i32(myth_view v) { return (int32_t *)cpu_ptr(v); }
static inline const unsigned char *cpu_row(myth_view v, uint64_t row, uint64_t n) /* row `row` of a [.., n] array */
{
    return (const unsigned char *)cpu_ptr(v) + row * myth_row_bytes(v.dtype, n);
}

/* Start of the cached K (is_v false) or V rows of one page or ring, [kv_head][page_tok][head_dim]. k_bytes is the size
 * of the K part. */
static inline unsigned char *cpu_kv_base(const struct myth_kv_place *kv, int32_t page, uint64_t k_bytes, bool is_v)
{
    return (unsigned char *)cpu_ptr(kv->pool) + (uint64_t)page * kv->page_bytes + kv->layer_off + (is_v ? k_bytes : 0);
}

/* The gaps that attention skips for a run. Layers with a ring have none (ops.h, MYTH_RUN_N_GAP). */
struct cpu_gaps {
    const int32_t *gap;
    uint32_t n;
};

static inline struct cpu_gaps cpu_run_gaps(const struct myth_kv_place *kv, const int32_t *run)
{
    return (struct cpu_gaps){run + MYTH_RUN_GAPS, kv->is_ring ? 0 : (uint32_t)run[MYTH_RUN_N_GAP]};
}
static inline uint32_t cpu_gap_at(struct cpu_gaps g, uint32_t i, int field)
{
    return (uint32_t)g.gap[i * MYTH_GAP_WIDTH + (uint32_t)field];
}

static inline bool cpu_is_gone(struct cpu_gaps g, uint32_t pos)
{
    for (uint32_t i = 0; i < g.n; i++)
        if (pos < cpu_gap_at(g, i, MYTH_GAP_TO))
            return pos >= cpu_gap_at(g, i, MYTH_GAP_FROM);
    return false;
}

/* The last position that attention shows to the run's row at `pos`. */
static inline uint32_t cpu_run_last(const int32_t *run, uint32_t pos, uint32_t n_after)
{
    const uint32_t left = (uint32_t)run[MYTH_RUN_POS0] + (uint32_t)run[MYTH_RUN_N_ROWS] - 1 - pos;
    return pos + (n_after < left ? n_after : left);
}

/* Of the blocks of positions from block `first` on, those wholly in a gap do not count. Block_at: the number of the
 * i-th block that counts. N_blocks: how many of first .. last count; no gap may reach past block `last`. */
static inline uint32_t cpu_block_at(struct cpu_gaps g, uint32_t first, uint32_t i)
{
    uint32_t block = first + i;
    for (uint32_t k = 0; k < g.n; k++) {
        const uint32_t from = cpu_gap_at(g, k, MYTH_GAP_FROM), past = cpu_gap_at(g, k, MYTH_GAP_TO) / CPU_ATTN_BLOCK;
        uint32_t hole = from / CPU_ATTN_BLOCK + (from % CPU_ATTN_BLOCK > 0);
        hole = hole > first ? hole : first;
        if (past > hole && block >= hole)
            block += past - hole;
    }
    return block;
}
static inline uint32_t cpu_n_blocks(struct cpu_gaps g, uint32_t first, uint32_t last)
{
    const uint32_t n = last - first + 1, n_skipped = cpu_block_at(g, first, n) - (first + n);
    return n - n_skipped;
}

/* Pages that the table lacks before position pos, which is not in a gap. */
static inline uint32_t cpu_gone_pages(struct cpu_gaps g, uint32_t pos)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < g.n && pos >= cpu_gap_at(g, i, MYTH_GAP_TO); i++)
        gone = cpu_gap_at(g, i, MYTH_GAP_GONE);
    return gone;
}

/* Returns the page that holds position pos of a run's sequence; *row is the row in that page. */
static inline int32_t cpu_kv_page(const struct myth_kv_place *kv, const int32_t *table, const int32_t *run,
                                  uint32_t pos, uint32_t *row)
{
    const uint32_t entry = kv->is_ring ? 0 : pos / kv->page_tok - cpu_gone_pages(cpu_run_gaps(kv, run), pos);
    *row = pos % kv->page_tok;
    return table[((uint64_t)(uint32_t)run[MYTH_RUN_SLOT] * kv->n_entry + entry) * 2];
}

/* Bytes of one key in scratch and cache; 0 where attention makes keys from the values. */
static inline uint64_t cpu_key_bytes(myth_view k_new, uint32_t head_dim)
{
    return k_new.buf ? myth_row_bytes(k_new.dtype, head_dim) : 0;
}
/* Replaces the value of position pos, in row, by the key of that position (ops.h, myth_key_fold). */
void cpu_fold_key(float *row, const struct myth_key_fold *fold, uint32_t pos, uint32_t head_dim);

/* Convert n elements of a row (n % block == 0) from any type to f32, and from f32 to a cache type (f32 f16 bf16 q8_0),
 * with the values that dtype.h defines. Into q8_0: the scale is s = amax / 127, stored as f16; each value is multiplied
 * by 1 / s in f32 and rounded to nearest, ties away from zero. */
void cpu_row_to_f32(float *dst, const void *src, myth_dtype t, uint32_t n);
void cpu_row_from_f32(void *dst, myth_dtype t, const float *src, uint32_t n);

/* The second half of moe_down, as a task over struct myth_moe_down_args: adds the weighted parts of the entries to the
 * rows of y. */
void cpu_moe_add(void *arg, int tid, int n_threads);
/* Adds `bytes` to the device's count of expert bytes for every expert that has entries. */
void cpu_count_experts(myth_stream *s, myth_view offset, uint32_t n_expert, uint64_t bytes);

/* A level's function that adds a pending branch to a row of the residual, with the arguments of fast_kernels.norm_row.
 */
typedef void (*cpu_fold_row)(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                             uint32_t n, float eps, bool keep);
/* capture_sum for every level. It is bound by memory, so levels share it but for `fold`, which must give the bits of
 * the level's gather_norm. */
void cpu_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a, cpu_fold_row fold);

#ifdef __cplusplus
}
#endif
#endif
