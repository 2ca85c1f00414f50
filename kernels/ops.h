/* ops.h - the argument struct of every operation, and the calls that check and issue them.
 *
 * Shapes   row-major, [rows, width]; "rows" of a step is the number of tokens in it
 * Types    activations f32; weights any type of dtype.h, [n_out, n_in], blocks along n_in; index arrays i32
 * Prologue ops that read the residual take (x, pend, w_post, x_scale) and first add the pending branch to x:
 *          x[r,:] += RMS(pend[r,:]) * w_post, or x[r,:] += pend[r,:] when w_post is not given; then x[r,:] *= x_scale
 *          unless that is 0. Without a pend x stays as it is. x is updated in place, so each branch is added once
 * Norms    w is the effective weight, f32 (Gemma's 1 + w is formed at load); statistics in f32 or wider
 * Cache    types f32 f16 bf16 q8_0 (blocks along head_dim); K has the type of k_new, V that of v_new, in the scratch
 *          and in the cache
 * Fused    norm_qkv_rope_store = rms_norm, three proj, qkv_rope_store; norm_ffn_geglu = rms_norm, two proj, geglu: what
 *          op.c runs where a device lacks the fused op, and why their argument structs carry scratch
 * Checks   op_check.c refuses (MYTH_EARG in the stream) views that do not fit their buffer, types and shapes not named
 *          here, and steps beyond the reserved work shape. An op over no rows does nothing
 * Bits     a row's result depends on its own inputs only: never on the other rows, on n_rows, on pages, rings or
 *          scratch
 * Source   architecture: Gemma 1-3 reports; transformers modeling_gemma{,2,3,4}.py */
#ifndef MYTH_OPS_H
#define MYTH_OPS_H

#include "device.h"
#include "engine/base/sampler.h"

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
    myth_view y, table, ids;       /* f32 [n_rows, dim]; any type [n_vocab, dim]; i32 [n_rows] */
    uint32_t n_rows, dim, n_vocab; /* ids outside 0..n_vocab-1 were refused by the engine      */
    float scale;
};

/* table[r, i] = (cos, sin) of pos[r] * base^(-2i/head_dim) / factor for i < n_pair, (1, 0) above. Angles reduced in
 * double, so positions up to 2^31 keep an error below 3e-7. */
struct myth_rope_table_args {
    myth_view table, pos; /* f32 [n_rows, head_dim / 2, 2]; i32 [n_rows] */
    uint32_t n_rows, head_dim, n_pair;
    double base, factor; /* factor: linear scaling, 1 = none            */
};

/* Prologue, then y[r,:] = x[r,:] * rsqrt(mean(x^2) + eps) * w */
struct myth_rms_norm_args {
    myth_view y, x, pend, w_post, w;
    uint32_t n_rows, dim;
    float eps, x_scale;
};

/* y[r,:] = W x[r,:] */
struct myth_proj_args {
    myth_view y, x, w; /* f32 [n_rows, n_out]; f32 [n_rows, n_in]; any [n_out, n_in] */
    uint32_t n_rows, n_in, n_out;
    bool is_decode; /* which path; the caller's kind of step, not the row count */
};

/* A run: consecutive tokens of one sequence inside a step, in one i32[8] record of the `runs` buffer. */
enum {
    MYTH_RUN_ROW0,
    MYTH_RUN_N_ROWS,
    MYTH_RUN_POS0,
    MYTH_RUN_SLOT,
    MYTH_RUN_FLAGS,
    MYTH_RUN_GAP0,
    MYTH_RUN_GAP1,
    MYTH_RUN_WIDTH = 8
};
enum { MYTH_RUN_EPHEMERAL = 1 }; /* in FLAGS: not merged into the cache */
/* GAP0 <= GAP1 <= POS0: positions GAP0..GAP1-1 were evicted. Paged layers hold no keys of them and skip them; rings
 * hold what they hold. */

/* Where the cached keys and values of one layer are. A page (or ring) holds [layer][K|V][kv_head][token][head_dim] of
 * its kind's owner layers; `layer_off` points at the layer's K inside a page. Position p of a sequence lies
 *   global  in page table[slot * n_entry + e], row p % page_tok, e = p / page_tok before the run's gap; past it whole
 *           pages that fell into the gap are gone from the table: e = p / page_tok - max(0, GAP1 / page_tok - ceil(GAP0
 *           / page_tok))
 *   local   in ring table[slot * n_entry], row p % page_tok, page_tok being the ring's length
 * A table entry is i32[2]: page number, position of its first row (global) or 0. POS0 of a run = tokens already cached.
 * K rows have the type of k_new, V rows that of v_new (they may differ); V begins n_head_kv * page_tok K rows after
 * layer_off; pool.dtype is not read. */
struct myth_kv_place {
    myth_view pool, table; /* bytes; i32 [n_slot, n_entry, 2] */
    uint64_t page_bytes, layer_off;
    uint32_t page_tok, n_entry;
    bool is_ring;
};

/* Prologue; xn = RMS(x) * w_in; q = Wq xn, k = Wk xn, v = Wv xn; per head RMS with w_q, w_k (when given); rope on q, k;
 * q times q_scale to `q`; k, v rounded to the cache type into the scratch, [kv_head][row][head_dim], row = the step's
 * row. Without w_v, v is what k was before its norm; with has_v_norm each head of v is normed, without a weight.
 * Without w_k there is neither k nor v (the layer reads another's): k_new, v_new, n_k are not given, n_head_kv counts
 * for nothing. With w_k but without k_new (and n_k) only v is kept: attention makes the keys (myth_key_fold). head_dim
 * <= 1024 with has_v_norm. */
struct myth_norm_qkv_rope_store_args {
    myth_view x, pend, w_post, w_in;
    myth_view w_q, w_k, w_v;   /* matrices [n_head*head_dim, dim], [n_head_kv*head_dim, dim] x 2 */
    myth_view n_q, n_k;        /* head norms [head_dim], not given = none                          */
    myth_view rope;            /* f32 [n_rows, head_dim/2, 2]                                      */
    myth_view xn, qkv;         /* scratch f32 [n_rows, dim], [n_rows, (n_head + 2 n_head_kv) * head_dim] */
    myth_view q, k_new, v_new; /* f32 [n_rows, n_head, head_dim]; cache type [n_head_kv, cap_rows, head_dim] */
    uint32_t n_rows, cap_rows, dim, n_head, n_head_kv, head_dim;
    float eps, q_scale, x_scale;
    bool has_v_norm, is_decode;
};

/* The second half of the above, from scratch that holds q [n_rows, n_head*head_dim], then k and v [n_rows,
 * n_head_kv*head_dim]. The place of v is there with v_is_k too; without k_new there are no keys to store, without v_new
 * neither. */
struct myth_qkv_rope_store_args {
    myth_view qkv, n_q, n_k, rope;
    myth_view q, k_new, v_new;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim;
    float eps, q_scale;
    bool v_is_k, has_v_norm;
};
enum { MYTH_V_NORM_MAX = 1024 };

/* Keys that are not stored: with w given, cache and scratch hold values only (k_new is not given, a place has no K
 * part), and the key of a position is RoPE(w * v) there. The table holds (cos, sin) of positions 0..n_table-1 as
 * rope_table makes them, of the rotated pairs only; those of later positions are computed, slowly. */
struct myth_key_fold {
    myth_view w, table; /* f32 [head_dim]; f32 [n_table, n_pair, 2] */
    uint32_t n_table, n_pair;
    double base, factor;
};

/* o[r, h, :] = softmax(mask(cap(q k))) v. Keys of row r at position p: 0 <= j <= p with p - j < window (window 0 =
 * all), and with n_after those of the run's own rows up to p + n_after; those before the run's POS0 come from the
 * cache, the rest from the scratch. Keys are reduced in blocks aligned to absolute positions. attn_prefill: rows of a
 * run ascend in position, and may be some of its tokens only (the record, and the scratch, speak of all). */
struct myth_attn_args {
    myth_view o, q, k_new, v_new; /* f32 [n_rows, n_head, head_dim] x 2; scratch as above */
    myth_view runs, row_run, pos; /* i32 [n_run, 8]; i32 [n_rows]; i32 [n_rows]           */
    struct myth_kv_place kv;
    struct myth_key_fold fold;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim, window;
    uint32_t n_after; /* attn_prefill only: 0 = causal, UINT32_MAX = to the run's end */
    float softcap;    /* 0 = none; s = cap * tanh(s / cap), before the mask   */
    bool merges;      /* attn_decode only: also does what kv_merge does for these runs (n_run = n_rows) */
};
#define myth_attn_prefill_args myth_attn_args
#define myth_attn_decode_args  myth_attn_args

/* Scratch rows of every run that is not ephemeral into its pages or ring (of a ring only the last page_tok rows);
 * without k_new those of V alone. */
struct myth_kv_merge_args {
    myth_view k_new, v_new, runs;
    struct myth_kv_place kv;
    uint32_t n_run, cap_rows, n_head_kv, head_dim;
};

/* Prologue; xn = RMS(x) * w; h[r,:] = gelu_tanh(Wg xn) * (Wu xn) */
struct myth_norm_ffn_geglu_args {
    myth_view x, pend, w_post, w;
    myth_view w_gate, w_up; /* [d_ff, dim] x 2                                    */
    myth_view xn, up, h;    /* scratch f32 [n_rows, dim], [n_rows, d_ff]; f32 [n_rows, d_ff] */
    uint32_t n_rows, dim, d_ff;
    float eps, x_scale;
    bool is_decode;
};

/* h[i] = gelu_tanh(g[i]) * up[i] over n_rows * d_ff elements; g may be h */
struct myth_geglu_args {
    myth_view h, g, up; /* f32 [n_rows, d_ff] x 3 */
    uint32_t n_rows, d_ff;
};

/* y[i,:] = t = x[rows[i],:] with the prologue's addition but x unchanged; then, when w is given, RMS(t) * w */
struct myth_gather_norm_args {
    myth_view y, x, pend, w_post, w;
    myth_view rows; /* i32 [n_gather] */
    uint32_t n_gather, dim;
    float eps, x_scale;
};

/* sum[label[i], :] += t, t = x[rows[i],:] with the prologue's addition, x unchanged; rows with label -1 are left out. A
 * sum is a signed 64-bit fixed-point number of 2^-24, each t rounded once, to nearest, ties to even: integers add in
 * any order, so batch and order leave the bits alone. A t that is not finite, of 2^38 and more, or that would carry its
 * sum out of 64 bits adds nothing and sets bad[0] = 1, which nothing here takes back. */
enum { MYTH_CAPTURE_FRACTION_BITS = 24 };
struct myth_capture_sum_args {
    myth_view sum, bad; /* i64 [n_label, dim], as pairs of i32, low word first; i32 [1]  */
    myth_view x, pend, w_post;
    myth_view rows, label; /* i32 [n_gather] x 2; labels -1..n_label-1                      */
    uint32_t n_gather, dim, n_label;
    float eps, x_scale;
};

/* One record per row that wants logits. Rows of x are already final-normed. All arrays are per row. A bias of -inf
 * forbids its id; biases of one id add up; where nothing is allowed lse is -inf and entropy 0; ids outside 0..n_vocab-1
 * are not biased and asked as NaN. */
enum { MYTH_TOPK_MAX = 1024, MYTH_HEAD_TILE = 1024 };
struct myth_head_topk_args {
    myth_view x, w;                /* f32 [n_rows, dim]; any [n_total, dim] */
    uint32_t n_rows, dim, n_vocab; /* n_vocab: rows that may be chosen       */
    uint32_t n_total;              /* rows of w, where a device's own form keeps scales behind them; 0 = n_vocab */
    uint32_t k;                    /* 1..MYTH_TOPK_MAX                       */
    float softcap;
    bool is_decode;
    myth_view mask_idx,
        masks; /* i32 [n_rows], -1 = none; bits [n_masks, ceil(n_vocab/32)] in i32 words, 1 = allowed; optional */
    myth_view bias_off, bias_id,
        bias;         /* i32 [n_rows + 1]; i32, f32 [total]: added before the reduction; optional                     */
    myth_view ask_id; /* i32 [n_rows, n_ask]; optional */
    uint32_t n_ask;
    myth_view top_id,
        top_logit; /* out i32, f32 [n_rows, k], by (logit descending, id ascending); -1 where fewer are allowed */
    myth_view lse,
        entropy; /* out f32 [n_rows] x 2 over the allowed ids after the biases                                */
    myth_view
        ask_logit; /* out f32 [n_rows, n_ask], before masks and biases                                           */
};

static inline uint32_t myth_head_rows(const struct myth_head_topk_args *a)
{
    return a->n_total ? a->n_total : a->n_vocab;
}

/* y[0..n_vocab) = cap(W x[0,:]) */
struct myth_head_logits_args {
    myth_view y, x, w;
    uint32_t dim, n_vocab;
    float softcap;
};

/* After a decode step (row r = run r): the next token of every row, and the step's own indices moved on by one, so that
 * the recorded step can run again without the host. id = the choice of base/sampler.h among row r of head_topk's
 * record, position pos[r] + 1; out[step % n_out, r] = id; then ids[r] = id, pos[r] += 1, POS0 of the run += 1. A row
 * that chose one of stop_id stands still from then on: its indices stay, its run becomes ephemeral, so that nothing
 * more reaches the cache, and its later places in out are -1. step += 1, once. */
struct myth_decode_next_args {
    myth_view top_id, top_logit; /* i32, f32 [n_rows, k] as head_topk left them            */
    myth_view ids, pos, runs;    /* in and out: i32 [n_rows] x 2; i32 [n_rows, 8]           */
    myth_view out, step;         /* out i32 [n_out, n_rows]; in and out i32 [1]             */
    myth_view stop_id;           /* i32 [n_stop]; optional                                  */
    uint32_t n_rows, k, n_out, n_stop;
    uint32_t seq_number;       /* of row 0; row r counts as seq_number + r                */
    myth_sample_params sample; /* penalties are not for the device                        */
};

struct myth_copy_args {
    myth_view dst, src;
    uint64_t bytes;
};

/* ---- per-layer inputs (Gemma 3n, Gemma 4 E) ---- */

/* What the layers' gates are multiplied with, of all layers, once a step; in place on the projection of the embedding:
 * p[r, l, :] = out_scale * (RMS(p_scale * p[r, l, :]) * w + table_scale * T[id, l, :]), id = ids[r], and 0 where the
 * table has no such row. Without ids row r of T, in f32: rows that the host fetched. */
struct myth_ple_merge_args {
    myth_view p, w, table,
        ids; /* f32 [n_rows, n_layer, n_ple]; f32 [n_ple]; any [n_table, n_layer * n_ple]; i32 [n_rows], optional */
    uint32_t n_rows, n_layer, n_ple, n_table;
    float p_scale, table_scale, out_scale, eps;
};

/* Prologue; h[r,:] = gelu_tanh(W x[r,:]) * p[r,:]; rows of p are p_stride values apart: one layer's part of ple_merge's
 */
struct myth_ple_gate_args {
    myth_view x, pend, w_post;
    myth_view w, p;  /* any [n_ple, dim]; f32, n_rows rows of n_ple      */
    myth_view xn, h; /* scratch f32 [n_rows, dim]; f32 [n_rows, n_ple]   */
    uint32_t n_rows, dim, n_ple, p_stride;
    float eps;
    bool is_decode;
};

/* ---- mixture of experts ----
 *
 * A step's entries are its (row, slot) pairs, slot < k: entry r * k + slot is the slot-th expert of row r. */

enum { MYTH_EXPERT_MAX = 1024, MYTH_EXPERT_USED_MAX = 32 };

/* Per row the k largest logits (then the lower id; NaN below all): weight = softmax over these k of logit_scale *
 * logit, which is the softmax over all of them divided by the sum of the k, times expert_scale of the id. Then all
 * entries sorted by expert, those of one expert by entry: the ones of expert e are order[offset[e]] .. order[offset[e +
 * 1] - 1]. */
struct myth_moe_route_args {
    myth_view logits, expert_scale; /* f32 [n_rows, n_expert]; f32 [n_expert], optional */
    myth_view id, weight;           /* out i32, f32 [n_rows, k], largest logit first     */
    myth_view offset, order;        /* out i32 [n_expert + 1]; i32 [n_rows * k]          */
    uint32_t n_rows, n_expert, k;
    float logit_scale;
};

/* h[i,:] = gelu_tanh(Wg_e x[r,:]) * (Wu_e x[r,:]) for every entry i = r * k + slot of expert e. The experts' matrices
 * are stacked: row o of expert e's gate is row e * expert_rows + o of w_gate, of its up part row e * expert_rows +
 * up_row + o of w_up. Both in one stack: w_up is w_gate, expert_rows 2 d_ff, up_row d_ff; two stacks: expert_rows d_ff,
 * up_row 0. Experts without entries are not read. */
struct myth_moe_geglu_args {
    myth_view h, x, w_gate, w_up; /* f32 [n_rows * k, d_ff]; f32 [n_rows, dim]; any [n_expert * expert_rows, dim] x 2 */
    myth_view offset, order;      /* of moe_route */
    uint32_t n_rows, k, n_expert, dim, d_ff, expert_rows, up_row;
    bool is_decode;
};

/* y[r,:] = sum over the slots, in their order, of weight[r, slot] * (Wd_e h[r * k + slot,:]) */
struct myth_moe_down_args {
    myth_view y, h, w;               /* f32 [n_rows, dim]; f32 [n_rows * k, d_ff]; any [n_expert * dim, d_ff] */
    myth_view weight, offset, order; /* of moe_route */
    myth_view part;                  /* scratch f32 [n_rows * k, dim] */
    uint32_t n_rows, k, n_expert, dim, d_ff;
    bool is_decode;
};

/* ---- streams of Gemma 3n ----
 *
 * x holds n_stream residual streams, [n_stream, n_rows, dim]; the layer works on stream `active`. */

enum { MYTH_STREAM_MAX = 8 };

/* Prologue: every stream but 0 gains RMS(pend) * w_post, or pend. Then, when coef is given, m = tanh(R (RMS(x[active])
 * * w_route) / dim), c = coef m, x[i] += sum_j c[i * n_stream + j] * x[j] out of the streams before, and xn =
 * RMS(x[active]) * w_in of the new one. */
struct myth_altup_predict_args {
    myth_view x, pend, w_post;
    myth_view w_route, router, coef; /* f32 [dim]; f32 [n_stream, dim]; f32 [n_stream * n_stream, n_stream] */
    myth_view xn, w_in;              /* out f32 [n_rows, dim]; f32 [dim] */
    uint32_t n_rows, dim, n_stream, active;
    float eps;
};

/* Prologue on u; then m = tanh(R (RMS(u) * w_route) / dim), c = coef m, d = u - x[active], x[i] += (1 + c[i]) * d, and
 * gate = x[active] * w_gate of the new one (w_gate not given = 1). */
struct myth_altup_correct_args {
    myth_view x, u, pend, w_post;    /* u f32 [n_rows, dim] */
    myth_view w_route, router, coef; /* f32 [dim]; f32 [n_stream, dim]; f32 [n_stream, n_stream] */
    myth_view gate, w_gate;          /* out f32 [n_rows, dim]; f32 [dim] */
    uint32_t n_rows, dim, n_stream, active;
    float eps;
};

/* Every u[i][r,:] brought to the magnitude of x[r,:]: times rms(x) / sqrt(max(mean(u^2), 1e-5)). With y given u stays,
 * and y[r,:] = (x[r,:] + their sum) / (n_u + 1); y may be x. */
struct myth_altup_match_args {
    myth_view y, x, u; /* f32 [n_rows, dim], optional; f32 [n_rows, dim]; f32 [n_u, n_rows, dim] */
    uint32_t n_rows, dim, n_u;
};

/* u = (x + RMS(attn) * w_attn + xn + RMS(laurel) * w_laurel) / sqrt(2) */
struct myth_laurel_merge_args {
    myth_view u, x, xn, attn, laurel; /* f32 [n_rows, dim] each */
    myth_view w_attn, w_laurel;       /* f32 [dim]              */
    uint32_t n_rows, dim;
    float eps;
};

/* h = gelu_tanh(max(g - t, 0)) * up, t[r] = mean(g[r,:]) + z * deviation of g[r,:] (of all d_ff values); g may be h */
struct myth_geglu_sparse_args {
    myth_view h, g, up; /* f32 [n_rows, d_ff] x 3 */
    uint32_t n_rows, d_ff;
    float z;
};

#define OP(name) void myth_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "ops.def"
#undef OP

#ifdef __cplusplus
}
#endif
#endif
