/* cpu.h - what the files of the CPU device share: features, levels, workspaces, access to views.
 *
 * Levels   ref < avx2 < avx512 < amx on x86-64, ref < neon on AArch64; one `struct cpu_level` each, listed in
 *          levels.def. An op that a level leaves NULL is the next lower level's, and where no level has it, op.c's
 *          composition (the reference of the fused ops); is_exact always runs ref. A level whose `needs` the processor
 *          lacks is refused by name. Files named *_avx2.c, *_avx512.c, *_amx.c, *_neon.c are compiled with the flags of
 *          that level and hold nothing that runs before the level was chosen.
 * Ops      a level's op gets arguments that op_check.c has checked: views inside their buffers, types and shapes that
 *          ops.h allows, sizes within the reserved work shape, at least one row. It returns when its result is complete
 *          (the CPU stream runs each op at once), uses cpu_pool_run for threads and allocates nothing.
 * Bits     depend on neither the number of threads nor the partition: a thread owns whole sums, or partial sums with
 *          fixed borders are combined in index order
 * Work     one block per class, taken at myth_device_reserve, as large as the largest of the levels from ref to the one
 *          in use; an op may use its class from the first byte and finds garbage there:
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

/* Features that processor and operating system (xgetbv, arch_prctl) both allow. The first call asks the system for the
 * AMX state. */
uint32_t cpu_features(void);
const char *cpu_feature_name(int bit); /* "avx512_vnni" for bit 7 */
/* "AMD EPYC 9B14", at most cap - 1 bytes; "CPU" when the processor does not say. */
void cpu_brand(char *dst, size_t cap);

/* ---- levels ---- */

typedef struct {
    uint64_t activations, attn_scratch, logits;
} cpu_work_bytes;

struct cpu_level {
    const char *name;
    uint32_t needs;      /* feature bits */
    struct myth_ops ops; /* NULL = the next lower level's */
    /* Bytes that this level's ops need for the shape: a pure function of its arguments. NULL = none. */
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
    unsigned char *activations, *attn_scratch, *logits; /* workspaces, 64-byte aligned; NULL when no level wants any */
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

/* Where the cached K (is_v 0) or V rows of one page or ring start: [kv_head][page_tok][head_dim]. K has k_new's type, V
 * v_new's. */
static inline unsigned char *cpu_kv_base(const struct myth_kv_place *kv, int32_t page, uint64_t k_bytes, bool is_v)
{
    return (unsigned char *)cpu_ptr(kv->pool) + (uint64_t)page * kv->page_bytes + kv->layer_off + (is_v ? k_bytes : 0);
}

/* The positions gap0..gap1-1 that a run must not see at this place: none in a ring. */
struct cpu_gap {
    uint32_t gap0, gap1;
};

static inline struct cpu_gap cpu_run_gap(const struct myth_kv_place *kv, const int32_t *run)
{
    struct cpu_gap g = {(uint32_t)run[MYTH_RUN_GAP0], (uint32_t)run[MYTH_RUN_GAP1]};
    return kv->is_ring || g.gap0 == g.gap1 ? (struct cpu_gap){0, 0} : g;
}

/* The last position that the run's row at `pos` sees. */
static inline uint32_t cpu_run_last(const int32_t *run, uint32_t pos, uint32_t n_after)
{
    const uint32_t left = (uint32_t)run[MYTH_RUN_POS0] + (uint32_t)run[MYTH_RUN_N_ROWS] - 1 - pos;
    return pos + (n_after < left ? n_after : left);
}

/* Of positions in aligned units: the first unit wholly in the gap, and how many there are. */
static inline uint32_t cpu_gap_units(struct cpu_gap g, uint32_t unit, uint32_t *first)
{
    *first = g.gap0 / unit + (g.gap0 % unit > 0);
    return g.gap1 / unit > *first ? g.gap1 / unit - *first : 0;
}

/* The page and the row in it that hold position pos of a run's slot. */
static inline int32_t cpu_kv_page(const struct myth_kv_place *kv, const int32_t *table, const int32_t *run,
                                  uint32_t pos, uint32_t *row)
{
    const struct cpu_gap gap = cpu_run_gap(kv, run);
    uint32_t entry = kv->is_ring ? 0 : pos / kv->page_tok, first;
    if (gap.gap1 && pos >= gap.gap1)
        entry -= cpu_gap_units(gap, kv->page_tok, &first);
    *row = pos % kv->page_tok;
    return table[((uint64_t)(uint32_t)run[MYTH_RUN_SLOT] * kv->n_entry + entry) * 2];
}

/* Bytes of a row of keys in scratch and cache: none where they are made from the values. */
static inline uint64_t cpu_key_bytes(myth_view k_new, uint32_t head_dim)
{
    return k_new.buf ? myth_row_bytes(k_new.dtype, head_dim) : 0;
}
/* The value of position pos, in row, becomes its key. */
void cpu_fold_key(float *row, const struct myth_key_fold *fold, uint32_t pos, uint32_t head_dim);

/* n elements of a row (n % block == 0) to f32, and f32 to a cache type (f32 f16 bf16 q8_0). Values as dtype.h defines
 * them; q8_0: scale s = amax / 127, stored as f16; each value times 1 / s (both f32) rounded to nearest, ties away. */
void cpu_row_to_f32(float *dst, const void *src, myth_dtype t, uint32_t n);
void cpu_row_from_f32(void *dst, myth_dtype t, const float *src, uint32_t n);

/* moe_down's second half, a task over struct myth_moe_down_args: the entries' parts, weighted, onto their rows. */
void cpu_moe_add(void *arg, int tid, int n_threads);
/* Books `bytes` for every expert that has entries. */
void cpu_count_experts(myth_stream *s, myth_view offset, uint32_t n_expert, uint64_t bytes);

/* How a level folds a row into the residual: as fast_kernels.norm_row. */
typedef void (*cpu_fold_row)(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                             uint32_t n, float eps, bool keep);
/* capture_sum for every level: bound by memory, so all that differs is the fold, whose bits must be gather_norm's. */
void cpu_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a, cpu_fold_row fold);

#ifdef __cplusplus
}
#endif
#endif
