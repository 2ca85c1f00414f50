/* fast.h - the fast CPU path: drivers that all levels share (fast_*.c), which call a table of inner kernels that each
 * level fills.
 *
 * Forms    a driver converts the activations of a matrix product once per op to the form that the weight type needs:
 *          f32, bf16, or i8 in blocks of 32 with a scale. Only the level knows the layout of its forms. A converted row
 *          of k inputs takes bytes(k) and is filled up with zeros
 * Prefill  weights are unpacked panel by panel (FAST_PANEL outputs x up to FAST_KC inputs) into a per-thread buffer,
 *          and every row of the step is multiplied with the panel. So unpacking costs 1 / n_rows of the products, and
 *          the weights themselves stay as in the file
 * Decode   each weight is read once from memory for all rows, a few rows at a time; the rows stay in registers and L1.
 *          Where the level has a product for many rows (fast_tiled), tiles of them are turned once per op and thread
 * Bits     an output of a row is always the same chain of operations over its inputs, in the order of blocks. It does
 *          not depend on n_rows, tiles, panels or threads. The chains of prefill and decode differ; is_decode chooses
 *          between them, never the number of rows
 * Threads  take work items with cpu_pool_take; one thread writes an output */
#ifndef MYTH_CPU_FAST_H
#define MYTH_CPU_FAST_H

#include "kernels/cpu/cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FAST_PANEL = 32,                             /* outputs of a panel                                             */
    FAST_KC = 2048,                              /* most inputs of a panel: 256 KiB as f32, which stay in L2       */
    FAST_PANEL_BYTES = FAST_PANEL * FAST_KC * 4, /* a thread's panel buffer, in the workspace after converted rows */
    FAST_UNIT_BYTES = 512, /* most bytes of a converted row that is shorter than its form's unit */
    FAST_TYPES = MYTH_DTYPE_N,
    FAST_ATTN_ROWS = 64 /* most (token, head) rows of a query tile */
};

/* The quantised types other than q8_0 and q4_0, for which every level has kernels of their own. For each type here a
 * level needs one function, which unpacks up to 256 inputs of a row to whole numbers with scales and minima (blocks.h).
 * Four kernels then serve all of them, by what a block of 32 has: one scale (`one`), a scale and a minimum (`min`), a
 * scale for each half (`half`), or a scale and a minimum for each half (`both`). X(name, type, kernel); the
 * kernel is the column `scales` of types.def. */
#define FAST_BLOCK_TYPES(X) MYTH_BLOCK_TYPES(FAST_BLOCK_TYPE, X)
#define FAST_BLOCK_TYPE(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, ...) \
    X(name, NAME, scales)

/* A form of activations. convert reads n floats and writes bytes(n); places of the form past n become zeros. */
struct fast_form {
    size_t (*bytes)(uint32_t n); /* a multiple of 64 */
    void (*convert)(void *dst, const float *x, uint32_t n);
};

/* The kernels of one weight type. n_in is a multiple of the type's block. k0 and n_k of a panel are multiples of 32.
 * The one exception is the last panel of a type without blocks: pack fills it up with zeros to a multiple of 32. */
struct fast_mat {
    const struct fast_form *gemm_form, *gemv_form;
    /* Unpacks inputs k0 .. k0 + n_k - 1 of the n_out weight rows at w, w + row_bytes, ... The results of the panel's
     * other outputs are never stored. */
    void (*pack)(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k);
    /* The product of rows 0..n_rows-1 of x with the panel: sets c[r * ldc + o] where k0 is 0, else adds to it. n_in is
     * the length of a whole row. */
    void (*gemm)(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                 uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k);
    /* y[r * ldy + o] = the product of row r of x with weight row o */
    void (*gemv)(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, const unsigned char *x,
                 size_t x_bytes, uint32_t n_rows, uint32_t n_in);
    uint32_t panel_bytes; /* bytes of a panel for 32 inputs */
};

/* Optional: a product of decode for many rows. A tile of up to FAST_TILE rows, in the type's gemv_form, is turned so
 * that each lane of a vector has a row, once for all outputs. y has the bits of gemv. */
enum { FAST_TILE = 16, FAST_TILE_FEW = 13 /* fewer rows go through gemv */ };
struct fast_tiled {
    size_t (*bytes)(uint32_t n_in); /* of a tile, a multiple of 64 */
    void (*turn)(void *tile, const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in);
    void (*gemv)(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, const void *tile,
                 uint32_t n_rows, uint32_t n_in);
};

/* Prefetches n bytes of each row of a panel. pack calls it FAST_AHEAD bytes before it reads them, because 32 rows are
 * more streams than a processor's own prefetcher follows. An address that is not mapped is ignored. */
enum { FAST_AHEAD = 192 };
static inline void fast_ask_rows(const unsigned char *w, size_t row_bytes, uint32_t n_out, size_t n)
{
    for (uint32_t o = 0; o < n_out; o++, w += row_bytes)
        for (size_t at = 0; at < n; at += 64)
            __builtin_prefetch(w + at);
}

/* The keys [from, to) of a block, a bit each; from <= to <= 64. */
static inline uint64_t fast_keys(uint32_t from, uint32_t to)
{
    return from < to ? ~0ull >> (CPU_ATTN_BLOCK - (to - from)) << from : 0;
}

/* The rows of a query tile, to which blocks of keys are added one after the other. All arrays belong to one thread. */
struct fast_attn_tile {
    uint32_t n_q, head_dim;         /* rows of the tile, <= FAST_ATTN_ROWS; head_dim % 16 == 0                 */
    const float *q[FAST_ATTN_ROWS]; /* query rows                                                             */
    int32_t first[FAST_ATTN_ROWS], last[FAST_ATTN_ROWS]; /* first and last position that each row sees         */
    float *o; /* [FAST_ATTN_ROWS][head_dim] weighted sums of values, 0 before the first block */
    float m[FAST_ATTN_ROWS], l[FAST_ATTN_ROWS]; /* largest score so far (starts as -inf), sum of weights (0) */
    float *s;                   /* scratch for scores [FAST_ATTN_ROWS][CPU_ATTN_BLOCK]                     */
    float *panel, *keys;        /* scratch [CPU_ATTN_BLOCK][head_dim] each; the driver makes folded keys in `keys` */
    float fade[FAST_ATTN_ROWS]; /* scratch: the factor for o and l when m grows                            */
    float softcap;
};
/* A block of CPU_ATTN_BLOCK keys from position j0. Pointers before the first key and past the last one are NULL. Keys
 * whose bit is set in `gone` were evicted and get weight 0. Their pointers are NULL at the start and end of the block;
 * between two keys they are those of the key before them, so that kernels can load something. */
struct fast_attn_block {
    int32_t j0;
    uint64_t gone;
    const unsigned char *k[CPU_ATTN_BLOCK], *v[CPU_ATTN_BLOCK];
    myth_dtype k_type, v_type;
};

struct fast_kernels {
    struct fast_mat mat[FAST_TYPES];
    const struct fast_tiled *tiled[FAST_TYPES]; /* NULL = gemv alone */
    /* The prologue, then a norm: x = (x + RMS(pend) * w_post) * x_scale, where pend and w_post may be NULL and x_scale
     * 0 scales by 1; stored back to x when keep. y = RMS(x) * w, or x when w is NULL. */
    void (*norm_row)(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                     uint32_t n, float eps, bool keep);
    /* h = gelu_tanh(g) * up; h may be g */
    void (*geglu)(float *h, const float *g, const float *up, size_t n);
    /* One head: dst = rope(RMS(src) * w) * scale; w NULL = no norm, rope NULL = no rotation; dst may be src */
    void (*head_rope)(float *dst, const float *src, const float *w, const float *rope, uint32_t head_dim, float eps,
                      float scale);
    void (*row_to_f32)(float *dst, const void *src, myth_dtype t, uint32_t n, float scale);
    void (*row_from_f32)(void *dst, myth_dtype t, const float *src, uint32_t n);
    /* Adds one block of keys to the tile: scores, cap, mask, new maximum, weights, values. A row that sees no key of
     * the block stays as it was. attn_block_few is for few rows: it uses the keys where they are, and its sums have
     * another order. */
    void (*attn_block)(struct fast_attn_tile *t, const struct fast_attn_block *b);
    void (*attn_block_few)(struct fast_attn_tile *t, const struct fast_attn_block *b);
    /* o = o * a + part * b */
    void (*blend)(float *o, const float *part, float a, float b, uint32_t n);
    /* x = softcap * tanh(x / softcap) */
    void (*cap)(float *x, uint32_t n, float softcap);
    float (*largest)(const float *x, uint32_t n); /* NaN is smaller than all; -inf of nothing else */
    /* With d = x[i] - m: *sum = the sum of e^d, *weighted = the sum of d e^d, in f32 lanes. x[i] = -inf adds nothing,
     * and NaN makes the sums NaN. */
    void (*exp_sums)(const float *x, uint32_t n, float m, float *sum, float *weighted);
};

/* The rows of a decode step: all of them in the type's gemv_form at x, and the first n_turned in tiles too. */
struct fast_rows {
    const unsigned char *x;
    size_t x_bytes, tile_bytes;
    uint32_t n_rows, n_in, n_turned;
    const unsigned char *tile;
};

/* Turns as many of the rows at x as are worth it and fit `room`, which one thread has for itself and which is aligned
 * to 64. by: NULL turns none. */
static inline struct fast_rows fast_turn_rows(const struct fast_tiled *by, void *room, size_t room_bytes,
                                              const unsigned char *x, size_t x_bytes, uint32_t n_rows, uint32_t n_in)
{
    struct fast_rows t = {.x = x, .x_bytes = x_bytes, .n_rows = n_rows, .n_in = n_in, .tile = room};
    t.tile_bytes = by ? by->bytes(n_in) : 0;
    for (unsigned char *to = room; by && n_rows - t.n_turned >= FAST_TILE_FEW && t.tile_bytes <= room_bytes;) {
        const uint32_t n = n_rows - t.n_turned < FAST_TILE ? n_rows - t.n_turned : FAST_TILE;
        by->turn(to, x + t.n_turned * x_bytes, x_bytes, n, n_in);
        t.n_turned += n;
        to += t.tile_bytes;
        room_bytes -= t.tile_bytes;
    }
    return t;
}

/* y[r * ldy + o] = the product of row r with weight row o. by: of this weight type; NULL = the tiles are not used. */
static inline void fast_gemv(const struct fast_rows *t, const struct fast_mat *mat, const struct fast_tiled *by,
                             float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out)
{
    const uint32_t n = by ? t->n_turned : 0;
    for (uint32_t r = 0; r < n; r += FAST_TILE)
        by->gemv(y + r * ldy, ldy, w, row_bytes, n_out, t->tile + r / FAST_TILE * t->tile_bytes,
                 n - r < FAST_TILE ? n - r : FAST_TILE, t->n_in);
    if (n < t->n_rows)
        mat->gemv(y + n * ldy, ldy, w, row_bytes, n_out, t->x + n * t->x_bytes, t->x_bytes, t->n_rows - n, t->n_in);
}

/* ---- drivers: one per op; they call the kernels of the level's table ---- */

/* A task that divides rows among the threads; for a single row no thread is woken. */
static inline void fast_over_rows(const myth_stream *s, uint32_t n_rows, cpu_task task, void *arg)
{
    if (n_rows == 1)
        task(arg, 0, 1);
    else
        cpu_pool_run(cpu_of(s)->pool, task, arg);
}

void fast_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a, const struct fast_kernels *f);
void fast_rms_norm(myth_stream *s, const struct myth_rms_norm_args *a, const struct fast_kernels *f);
void fast_gather_norm(myth_stream *s, const struct myth_gather_norm_args *a, const struct fast_kernels *f);
void fast_proj(myth_stream *s, const struct myth_proj_args *a, const struct fast_kernels *f);
void fast_add_low_rank(myth_stream *s, const struct myth_add_low_rank_args *a, const struct fast_kernels *f);
void fast_geglu(myth_stream *s, const struct myth_geglu_args *a, const struct fast_kernels *f);
void fast_qkv_rope_store(myth_stream *s, const struct myth_qkv_rope_store_args *a, const struct fast_kernels *f);
void fast_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a,
                              const struct fast_kernels *f);
void fast_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a, const struct fast_kernels *f);
void fast_ple_gate(myth_stream *s, const struct myth_ple_gate_args *a, const struct fast_kernels *f);
void fast_moe_geglu(myth_stream *s, const struct myth_moe_geglu_args *a, const struct fast_kernels *f);
void fast_moe_down(myth_stream *s, const struct myth_moe_down_args *a, const struct fast_kernels *f);
void fast_attn_prefill(myth_stream *s, const struct myth_attn_prefill_args *a, const struct fast_kernels *f);
void fast_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a, const struct fast_kernels *f);
void fast_head_topk(myth_stream *s, const struct myth_head_topk_args *a, const struct fast_kernels *f);
void fast_head_logits(myth_stream *s, const struct myth_head_logits_args *a, const struct fast_kernels *f);

/* Sizes of the drivers' workspaces. fast_work is for the table of a level, the others for the drivers. */
void fast_work(cpu_work_bytes *out, const myth_work_shape *shape, int n_threads);
size_t fast_rows_bytes(const myth_work_shape *shape); /* for converted rows, at `activations` */
size_t fast_product_bytes(const myth_work_shape *shape, int n_threads);
size_t fast_attn_bytes(const myth_work_shape *shape, int n_threads);
size_t fast_head_bytes(const myth_work_shape *shape, int n_threads);

/* Before loops whose trip count is a constant after inlining and whose arrays must become registers. */
#ifdef __clang__
#define FAST_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FAST_UNROLL _Pragma("GCC unroll 16")
#endif
#define FAST_INLINE static inline __attribute__((always_inline))

#ifdef __cplusplus
}
#endif
#endif
