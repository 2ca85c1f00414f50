/* fast.h - the fast CPU path: drivers shared by all levels (fast_*.c) over a table of inner kernels that each level
 * fills.
 *
 * Forms    activations of a matrix product are converted once per op to the form that the weight type wants: f32, bf16,
 *          or i8 in blocks of 32 with a scale. The layout of a form is the level's own business; a row of it takes
 *          bytes(k) and is zero past k
 * Prefill  weights are unpacked panel by panel (FAST_PANEL outputs x up to FAST_KC inputs) into a per-thread buffer,
 *          then every row of the step passes over the panel: unpacking costs 1 / n_rows of the products. The weights
 *          themselves stay as in the file
 * Decode   weights stream once from memory for up to a few rows at a time, dot products against rows in registers and
 *          L1
 * Bits     one (row, output) is always the same chain of operations over k, blocks in order: not a function of n_rows,
 *          tiles, panels, threads. Prefill and decode chains differ (is_decode chooses, never the row count)
 * Threads  work items are handed out by cpu_pool_take; each output is written by one thread */
#ifndef MYTH_CPU_FAST_H
#define MYTH_CPU_FAST_H

#include "kernels/cpu/cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FAST_PANEL = 32,                             /* outputs of a panel                                               */
    FAST_KC = 2048,                              /* inputs of a panel at most: 256 KiB as f32, stays in L2            */
    FAST_PANEL_BYTES = FAST_PANEL * FAST_KC * 4, /* a thread's buffer for panels, behind the converted rows */
    FAST_UNIT_BYTES = 512,                       /* at most, of a row that is shorter than its form's unit */
    FAST_TYPES = MYTH_DTYPE_N,
    FAST_ATTN_ROWS = 64 /* (token, head) rows of a query tile                               */
};

/* The quantised types besides q8_0 and q4_0, whose kernels every level writes by hand. Of the others a level needs one
 * function, the values of up to 256 inputs of a row as whole numbers with scales and minima (blocks.h), and four
 * kernels for all: X(name, type, kernel), where the kernel is one scale a block of 32 (`one`), with a minimum (`min`),
 * a scale for each half (`half`), or both (`both`). */
#define FAST_BLOCK_TYPES(X) \
    X(q4_1, Q4_1, min)      \
    X(q5_0, Q5_0, one)      \
    X(q5_1, Q5_1, min)      \
    X(iq4_nl, IQ4_NL, one)  \
    X(mxfp4, MXFP4, one)    \
    X(q2_k, Q2_K, both)     \
    X(q3_k, Q3_K, half) X(q4_k, Q4_K, min) X(q5_k, Q5_K, min) X(q6_k, Q6_K, half) X(iq4_xs, IQ4_XS, one)

/* A converted row: convert reads n floats and writes bytes(n), what lies past n as zeros of the form. */
struct fast_form {
    size_t (*bytes)(uint32_t n); /* a multiple of 64 */
    void (*convert)(void *dst, const float *x, uint32_t n);
};

/* One weight type. n_in is a multiple of the type's block; k0 and n_k of a panel are multiples of 32, but for the last
 * panel of a row of a type without blocks, which pack fills up with zeros to one. */
struct fast_mat {
    const struct fast_form *gemm_form, *gemv_form;
    /* rows w, w + row_bytes, ... n_out of them (the rest of the panel is zero), inputs k0 .. k0 + n_k */
    void (*pack)(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k);
    /* c[r * ldc + o] (k0 == 0 ? = : +=) the product of rows 0..n_rows-1 with the panel; n_in: the whole row */
    void (*gemm)(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                 uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k);
    /* y[r * ldy + o] = product of row r with weight row o */
    void (*gemv)(float *y, size_t ldy, const unsigned char *w, size_t row_bytes, uint32_t n_out, const unsigned char *x,
                 size_t x_bytes, uint32_t n_rows, uint32_t n_in);
    uint32_t panel_bytes; /* of 32 inputs */
};

/* Asks memory for n bytes of each row of a panel, FAST_AHEAD of them before pack reads them: 32 rows are more streams
 * than a processor's own prefetcher follows. Where nothing is mapped nothing happens. */
enum { FAST_AHEAD = 192 };
static inline void fast_ask_rows(const unsigned char *w, size_t row_bytes, uint32_t n_out, size_t n)
{
    for (uint32_t o = 0; o < n_out; o++, w += row_bytes)
        for (size_t at = 0; at < n; at += 64)
            __builtin_prefetch(w + at);
}

/* The rows of a query tile while they pass over key blocks. All arrays belong to one thread. */
struct fast_attn_tile {
    uint32_t n_q, head_dim;         /* rows of the tile, <= FAST_ATTN_ROWS; head_dim % 16 == 0                 */
    const float *q[FAST_ATTN_ROWS]; /* query rows                                                             */
    int32_t first[FAST_ATTN_ROWS], last[FAST_ATTN_ROWS]; /* positions that they see                                */
    float *o; /* [FAST_ATTN_ROWS][head_dim] weighted sums of values, 0 before the first block */
    float m[FAST_ATTN_ROWS], l[FAST_ATTN_ROWS]; /* largest score so far (-inf), sum of weights (0)         */
    float *s;                   /* scratch [FAST_ATTN_ROWS][CPU_ATTN_BLOCK]                                */
    float *panel, *keys;        /* scratch [CPU_ATTN_BLOCK][head_dim] each; keys: the driver's              */
    float fade[FAST_ATTN_ROWS]; /* scratch                                                                */
    float softcap;
};
/* A block of CPU_ATTN_BLOCK keys from position j0; rows are NULL before the first key and past the last. Keys [gap0,
 * gap1) of the block count nothing: they are NULL at its ends, and between two keys the one before stands in their
 * place. */
struct fast_attn_block {
    int32_t j0, gap0, gap1;
    const unsigned char *k[CPU_ATTN_BLOCK], *v[CPU_ATTN_BLOCK];
    myth_dtype k_type, v_type;
};

struct fast_kernels {
    struct fast_mat mat[FAST_TYPES];
    /* x = (x + RMS(pend) * w_post) * x_scale (pend, w_post may be NULL, x_scale 0: none), stored back to x when keep; y
     * = RMS(x) * w, or x when w is NULL */
    void (*norm_row)(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                     uint32_t n, float eps, bool keep);
    /* h = gelu_tanh(g) * up; h may be g */
    void (*geglu)(float *h, const float *g, const float *up, size_t n);
    /* One head: dst = rope(RMS(src) * w) * scale; w NULL = no norm, rope NULL = none; dst may be src */
    void (*head_rope)(float *dst, const float *src, const float *w, const float *rope, uint32_t head_dim, float eps,
                      float scale);
    void (*row_to_f32)(float *dst, const void *src, myth_dtype t, uint32_t n, float scale);
    void (*row_from_f32)(void *dst, myth_dtype t, const float *src, uint32_t n);
    /* Folds one key block into the tile: scores, cap, mask, weights to the new maximum, values. A block that is all
     * masked for a row leaves the row as it was. block_few: few rows, keys used in place; its sums run in another order
     */
    void (*attn_block)(struct fast_attn_tile *t, const struct fast_attn_block *b);
    void (*attn_block_few)(struct fast_attn_tile *t, const struct fast_attn_block *b);
    /* o = o * a + part * b */
    void (*blend)(float *o, const float *part, float a, float b, uint32_t n);
    /* x = softcap * tanh(x / softcap) */
    void (*cap)(float *x, uint32_t n, float softcap);
    float (*largest)(const float *x, uint32_t n);
    /* sums over x[i] - m of e^x and of x e^x, in f32 lanes, -inf counts nothing */
    void (*exp_sums)(const float *x, uint32_t n, float m, float *sum, float *weighted);
};

/* ---- drivers: one per op, the level's table chooses the kernels ---- */

void fast_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a, const struct fast_kernels *f);
void fast_rms_norm(myth_stream *s, const struct myth_rms_norm_args *a, const struct fast_kernels *f);
void fast_gather_norm(myth_stream *s, const struct myth_gather_norm_args *a, const struct fast_kernels *f);
void fast_proj(myth_stream *s, const struct myth_proj_args *a, const struct fast_kernels *f);
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

/* Workspaces of the drivers, for a level's table and for each other. */
void fast_work(cpu_work_bytes *out, const myth_work_shape *shape, int n_threads);
size_t fast_rows_bytes(const myth_work_shape *shape); /* for converted rows, at `activations` */
size_t fast_product_bytes(const myth_work_shape *shape, int n_threads);
size_t fast_attn_bytes(const myth_work_shape *shape, int n_threads);
size_t fast_head_bytes(const myth_work_shape *shape, int n_threads);

/* Loops whose trip count is a constant after inlining and whose arrays must become registers. */
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
