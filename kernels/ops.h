/* ops.h - the argument struct of every operation, and the calls that check and issue them.
 *
 * Shapes   row-major, [rows, width]; "rows" of a step is the number of tokens in it
 * Types    activations f32; weights any type of dtype.h, [n_out, n_in], blocks along n_in; index arrays i32
 * Prologue ops that read the residual stream take (x, pend, w_post): first x[r,:] += RMS(pend[r,:]) * w_post, or x += pend when
 *          w_post is not given, or nothing when pend is not given. x is updated in place, so each pending branch is folded once.
 * Norms    w is the effective weight, f32 (Gemma's 1 + w is formed at load); statistics in f32 or wider
 * Cache    types f32 f16 bf16 q8_0 (blocks along head_dim); K has the type of k_new, V that of v_new, in the scratch and in the cache
 * Fused    norm_qkv_rope_store = rms_norm, three proj, qkv_rope_store; norm_ffn_geglu = rms_norm, two proj, geglu: what device.c runs
 *          where a device lacks the fused op, and why their argument structs carry scratch
 * Checks   device.c refuses (MYTH_EARG in the stream) views that do not fit their buffer, types and shapes not named here, and steps
 *          beyond the reserved work shape. An op over no rows does nothing
 * Bits     a row's result depends on its own inputs only: never on the other rows, on n_rows, on pages, rings or scratch
 * Source   architecture: Gemma 1-3 reports; transformers modeling_gemma{,2,3}.py                                                    */
#ifndef MYTH_OPS_H
#define MYTH_OPS_H

#include "device.h"
#include "../engine/base/sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
#define OP(name) MYTH_OP_##name,
#include "ops.def"
#undef OP
    MYTH_OP_N
} myth_op;

/* y[r,:] = scale * E[ids[r],:] */
struct myth_embed_gather_args {
    myth_view y, table, ids;             /* f32 [n_rows, dim]; any type [n_vocab, dim]; i32 [n_rows] */
    uint32_t n_rows, dim, n_vocab;       /* ids outside 0..n_vocab-1 were refused by the engine      */
    float scale;
};

/* table[r, i] = (cos, sin) of pos[r] * base^(-2i/head_dim) / factor for i < n_pair, (1, 0) above. Angles reduced in double, so
 * positions up to 2^31 keep an error below 3e-7. */
struct myth_rope_table_args {
    myth_view table, pos;                /* f32 [n_rows, head_dim / 2, 2]; i32 [n_rows] */
    uint32_t n_rows, head_dim, n_pair;
    double base, factor;                 /* factor: linear scaling, 1 = none            */
};

/* Prologue, then y[r,:] = x[r,:] * rsqrt(mean(x^2) + eps) * w */
struct myth_rms_norm_args {
    myth_view y, x, pend, w_post, w;
    uint32_t n_rows, dim;
    float eps;
};

/* y[r,:] = W x[r,:] */
struct myth_proj_args {
    myth_view y, x, w;                   /* f32 [n_rows, n_out]; f32 [n_rows, n_in]; any [n_out, n_in] */
    uint32_t n_rows, n_in, n_out;
    bool is_decode;                      /* which path; the caller's kind of step, not the row count */
};

/* A run: consecutive tokens of one sequence inside a step, in one i32[8] record of the `runs` buffer. */
enum { MYTH_RUN_ROW0, MYTH_RUN_N_ROWS, MYTH_RUN_POS0, MYTH_RUN_SLOT, MYTH_RUN_FLAGS, MYTH_RUN_GAP0, MYTH_RUN_GAP1, MYTH_RUN_WIDTH = 8 };
enum { MYTH_RUN_EPHEMERAL = 1 };         /* in FLAGS: not merged into the cache */
/* GAP0 <= GAP1 <= POS0: positions GAP0..GAP1-1 were evicted. Paged layers hold no keys of them and skip them; rings hold what they hold. */

/* Where the cached keys and values of one layer are. A page (or ring) holds [layer][K|V][kv_head][token][head_dim] of its kind's owner
 * layers; `layer_off` points at the layer's K inside a page. Position p of a sequence lies
 *   global  in page table[slot * n_entry + e], row p % page_tok, e = p / page_tok before the run's gap; past it whole pages that fell
 *           into the gap are gone from the table: e = p / page_tok - max(0, GAP1 / page_tok - ceil(GAP0 / page_tok))
 *   local   in ring table[slot * n_entry], row p % page_tok, page_tok being the ring's length
 * A table entry is i32[2]: page number, position of its first row (global) or 0. POS0 of a run = tokens already cached.
 * K rows have the type of k_new, V rows that of v_new (they may differ); V begins n_head_kv * page_tok K rows after layer_off;
 * pool.dtype is not read. */
struct myth_kv_place {
    myth_view pool, table;               /* bytes; i32 [n_slot, n_entry, 2] */
    uint64_t page_bytes, layer_off;
    uint32_t page_tok, n_entry;
    bool is_ring;
};

/* Prologue; xn = RMS(x) * w_in; q = Wq xn, k = Wk xn, v = Wv xn; per head RMS with w_q, w_k (when given); rope on q, k;
 * q times q_scale to `q`; k, v rounded to the cache type into the scratch, [kv_head][row][head_dim], row = the step's row. */
struct myth_norm_qkv_rope_store_args {
    myth_view x, pend, w_post, w_in;
    myth_view w_q, w_k, w_v;             /* matrices [n_head*head_dim, dim], [n_head_kv*head_dim, dim] x 2 */
    myth_view n_q, n_k;                  /* head norms [head_dim], not given = none                          */
    myth_view rope;                      /* f32 [n_rows, head_dim/2, 2]                                      */
    myth_view xn, qkv;                   /* scratch f32 [n_rows, dim], [n_rows, (n_head + 2 n_head_kv) * head_dim] */
    myth_view q, k_new, v_new;           /* f32 [n_rows, n_head, head_dim]; cache type [n_head_kv, cap_rows, head_dim] */
    uint32_t n_rows, cap_rows, dim, n_head, n_head_kv, head_dim;
    float eps, q_scale;
    bool is_decode;
};

/* The second half of the above, from scratch that holds q [n_rows, n_head*head_dim], then k and v [n_rows, n_head_kv*head_dim]. */
struct myth_qkv_rope_store_args {
    myth_view qkv, n_q, n_k, rope;
    myth_view q, k_new, v_new;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim;
    float eps, q_scale;
};

/* o[r, h, :] = softmax(mask(cap(q k))) v. Keys of row r at position p: 0 <= j <= p with p - j < window (window 0 = all), and with n_after
 * those of the run's own rows up to p + n_after; those before the run's POS0 come from the cache, the rest from the scratch. Keys are
 * reduced in blocks aligned to absolute positions. */
struct myth_attn_args {
    myth_view o, q, k_new, v_new;        /* f32 [n_rows, n_head, head_dim] x 2; scratch as above */
    myth_view runs, row_run, pos;        /* i32 [n_run, 8]; i32 [n_rows]; i32 [n_rows]           */
    struct myth_kv_place kv;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim, window;
    uint32_t n_after;                    /* attn_prefill only: 0 = causal, UINT32_MAX = to the run's end */
    float softcap;                       /* 0 = none; s = cap * tanh(s / cap), before the mask   */
    bool merges;                         /* attn_decode only: also does what kv_merge does for these runs (n_run = n_rows) */
};
#define myth_attn_prefill_args myth_attn_args
#define myth_attn_decode_args myth_attn_args

/* Scratch rows of every run that is not ephemeral into its pages or ring (of a ring only the last page_tok rows). */
struct myth_kv_merge_args {
    myth_view k_new, v_new, runs;
    struct myth_kv_place kv;
    uint32_t n_run, cap_rows, n_head_kv, head_dim;
};

/* Prologue; xn = RMS(x) * w; h[r,:] = gelu_tanh(Wg xn) * (Wu xn) */
struct myth_norm_ffn_geglu_args {
    myth_view x, pend, w_post, w;
    myth_view w_gate, w_up;              /* [d_ff, dim] x 2                                    */
    myth_view xn, up, h;                 /* scratch f32 [n_rows, dim], [n_rows, d_ff]; f32 [n_rows, d_ff] */
    uint32_t n_rows, dim, d_ff;
    float eps;
    bool is_decode;
};

/* h[i] = gelu_tanh(g[i]) * up[i] over n_rows * d_ff elements; g may be h */
struct myth_geglu_args {
    myth_view h, g, up;                  /* f32 [n_rows, d_ff] x 3 */
    uint32_t n_rows, d_ff;
};

/* y[i,:] = t = x[rows[i],:] with the prologue's addition but x unchanged; then, when w is given, RMS(t) * w */
struct myth_gather_norm_args {
    myth_view y, x, pend, w_post, w;
    myth_view rows;                      /* i32 [n_gather] */
    uint32_t n_gather, dim;
    float eps;
};

/* sum[label[i], :] += t, t = x[rows[i],:] with the prologue's addition, x unchanged; rows with label -1 are left out. A sum is a signed
 * 64-bit fixed-point number of 2^-24, each t rounded once, to nearest, ties to even: integers add in any order, so batch and order leave
 * the bits alone. A t that is not finite, of 2^38 and more, or that would carry its sum out of 64 bits adds nothing and sets bad[0] = 1,
 * which nothing here takes back. */
enum { MYTH_CAPTURE_FRACTION_BITS = 24 };
struct myth_capture_sum_args {
    myth_view sum, bad;                  /* i64 [n_label, dim], as pairs of i32, low word first; i32 [1]  */
    myth_view x, pend, w_post;
    myth_view rows, label;               /* i32 [n_gather] x 2; labels -1..n_label-1                      */
    uint32_t n_gather, dim, n_label;
    float eps;
};

/* One record per row that wants logits. Rows of x are already final-normed. All arrays are per row. A bias of -inf forbids its id;
 * biases of one id add up; where nothing is allowed lse is -inf and entropy 0; ids outside 0..n_vocab-1 are not biased and asked as NaN. */
enum { MYTH_TOPK_MAX = 1024, MYTH_HEAD_TILE = 1024 };
struct myth_head_topk_args {
    myth_view x, w;                      /* f32 [n_rows, dim]; any [n_total, dim] */
    uint32_t n_rows, dim, n_vocab;       /* n_vocab: rows that may be chosen       */
    uint32_t n_total;                    /* rows of w, where a device's own form keeps scales behind them; 0 = n_vocab */
    uint32_t k;                          /* 1..MYTH_TOPK_MAX                       */
    float softcap;
    bool is_decode;
    myth_view mask_idx, masks;           /* i32 [n_rows], -1 = none; bits [n_masks, ceil(n_vocab/32)] in i32 words, 1 = allowed; optional */
    myth_view bias_off, bias_id, bias;   /* i32 [n_rows + 1]; i32, f32 [total]: added before the reduction; optional                     */
    myth_view ask_id;                    /* i32 [n_rows, n_ask]; optional */
    uint32_t n_ask;
    myth_view top_id, top_logit;         /* out i32, f32 [n_rows, k], by (logit descending, id ascending); -1 where fewer are allowed */
    myth_view lse, entropy;              /* out f32 [n_rows] x 2 over the allowed ids after the biases                                */
    myth_view ask_logit;                 /* out f32 [n_rows, n_ask], before masks and biases                                           */
};

static inline uint32_t myth_head_rows(const struct myth_head_topk_args *a) { return a->n_total ? a->n_total : a->n_vocab; }

/* y[0..n_vocab) = cap(W x[0,:]) */
struct myth_head_logits_args {
    myth_view y, x, w;
    uint32_t dim, n_vocab;
    float softcap;
};

/* After a decode step (row r = run r): the next token of every row, and the step's own indices moved on by one, so that the recorded step can
 * run again without the host. id = the choice of base/sampler.h among row r of head_topk's record, position pos[r] + 1; out[step % n_out, r] = id; then
 * ids[r] = id, pos[r] += 1, POS0 of the run += 1. A row that chose one of stop_id stands still from then on: its indices stay, its run becomes
 * ephemeral, so that nothing more reaches the cache, and its later places in out are -1. step += 1, once. */
struct myth_decode_next_args {
    myth_view top_id, top_logit;         /* i32, f32 [n_rows, k] as head_topk left them            */
    myth_view ids, pos, runs;            /* in and out: i32 [n_rows] x 2; i32 [n_rows, 8]           */
    myth_view out, step;                 /* out i32 [n_out, n_rows]; in and out i32 [1]             */
    myth_view stop_id;                   /* i32 [n_stop]; optional                                  */
    uint32_t n_rows, k, n_out, n_stop;
    uint32_t seq_number;                 /* of row 0; row r counts as seq_number + r                */
    myth_sample_params sample;           /* penalties are not for the device                        */
};

struct myth_copy_args {
    myth_view dst, src;
    uint64_t bytes;
};

#define OP(name) void myth_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "ops.def"
#undef OP

#ifdef __cplusplus
}
#endif
#endif
