/* ops.h - the arguments of every operation, and the calls that check and issue them.
 *
 * Shapes   row-major, written [rows, width]. The rows of a step are its tokens
 * Types    activations are f32. Weights have any type of dtype.h and the shape [n_out, n_in], with blocks along n_in.
 *          Index arrays are i32
 * Prologue Ops that read the residual take (x, pend, w_post, x_scale) and first add the pending branch to it:
 *          x[r,:] += RMS(pend[r,:]) * w_post, or x[r,:] += pend[r,:] where w_post is not given; then x[r,:] *= x_scale
 *          unless x_scale is 0. Without pend, x stays as it is. x is updated in place, so that each branch is added
 *          once
 * Norms    RMS(x) is x * rsqrt(mean(x^2) + eps), with statistics in f32 or wider. A norm's weight is the effective
 *          one, in f32: the engine forms Gemma's 1 + w when it loads the model
 * Cache    K and V are f32, f16, bf16 or q8_0 (blocks along head_dim). The type of k_new is the type of K in both the
 *          scratch and the cache; v_new gives the type of V
 * Fused    norm_qkv_rope_store does rms_norm, three proj and qkv_rope_store; norm_ffn_geglu does rms_norm, two proj
 *          and geglu. Where a device lacks the fused op, op.c runs those small ops in its place, so the fused ops take
 *          the scratch that the small ones need
 * Adapters proj and both fused ops take low-rank matrices that are added to their weights. No device implements that:
 *          op.c follows each such product by a proj with A and an add_low_rank, and runs the small ops of a fused op
 * Checks   op_check.c refuses views that do not fit their buffer, types and shapes that this file does not allow, and
 *          steps larger than the reserved work shape: MYTH_EARG in the stream. An op over no rows does nothing
 * Bits     the result of a row depends on that row's inputs only: not on the other rows, their number, pages, rings or
 *          the contents of scratch
 * Source   the Gemma 1-3 reports; transformers modeling_gemma{,2,3,4}.py */
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

/* y[r,:] = scale * table[ids[r],:] */
struct myth_embed_gather_args {
    myth_view y, table, ids;       /* f32 [n_rows, dim]; any type [n_vocab, dim]; i32 [n_rows] */
    uint32_t n_rows, dim, n_vocab; /* the engine has refused ids outside 0..n_vocab-1          */
    float scale;
};

/* table[r, i] = (cos a, sin a) with a = pos[r] * base^(-2i/head_dim) / factor, for the pairs i < n_pair that are
 * rotated; (1, 0) for the others. Angles are reduced in double: for positions up to 2^31 the error is below 3e-7. */
struct myth_rope_table_args {
    myth_view table, pos; /* f32 [n_rows, head_dim / 2, 2]; i32 [n_rows] */
    uint32_t n_rows, head_dim, n_pair;
    double base, factor; /* factor: linear scaling of positions, 1 = none */
};

/* Prologue; then y[r,:] = x[r,:] * rsqrt(mean(x[r,:]^2) + eps) * w */
struct myth_rms_norm_args {
    myth_view y, x, pend, w_post, w;
    uint32_t n_rows, dim;
    float eps, x_scale;
};

/* What is added to a matrix W [n_out, n_in] where it multiplies: W x + B (A x). The rows of b are the columns of B, so
 * that neighbouring outputs read neighbouring values. */
struct myth_low_rank {
    myth_view a, b, t; /* f32 [rank, n_in]; f32 [rank, n_out]; scratch f32 [n_rows, rank] */
    uint32_t rank;
};

/* y[r,:] = W x[r,:], and what `low` adds to W; NULL = nothing. What it points to must live as long as a recording. */
struct myth_proj_args {
    myth_view y, x, w; /* f32 [n_rows, n_out]; f32 [n_rows, n_in]; any type [n_out, n_in] */
    const struct myth_low_rank *low;
    uint32_t n_rows, n_in, n_out;
    bool is_decode; /* chooses the path. The kind of step decides, never n_rows, so that bits do not depend on it */
};

/* y[r,o] += sum over k of b[k,o] * t[r,k], added up in the order of k */
struct myth_add_low_rank_args {
    myth_view y, b, t; /* f32 [n_rows, n_out]; f32 [rank, n_out]; f32 [n_rows, rank] */
    uint32_t n_rows, n_out, rank;
};

/* A run is consecutive tokens of one sequence inside a step. Its record in the buffer `runs` is i32[8]. */
enum {
    MYTH_RUN_ROW0,   /* the run's first row in the step           */
    MYTH_RUN_N_ROWS, /* its number of rows                        */
    MYTH_RUN_POS0,   /* tokens that the cache already holds: the position of the first row */
    MYTH_RUN_SLOT,   /* its sequence's row of the page table      */
    MYTH_RUN_FLAGS,
    MYTH_RUN_N_GAP,    /* its gaps, at most MYTH_GAP_MAX            */
    MYTH_RUN_GAPS = 8, /* the gaps, MYTH_GAP_WIDTH numbers each     */
    MYTH_RUN_WIDTH = 32
};
enum { MYTH_RUN_EPHEMERAL = 1 }; /* in FLAGS: the rows are not merged into the cache */
/* Gap i: the positions FROM..TO-1 were evicted. Gaps are in order of position, with at least one held position between
 * two of them, and end at POS0 or before. Layers with pages no longer hold keys of these positions, and attention skips
 * them. Layers with a ring ignore gaps: they keep the keys of their window. */
enum {
    MYTH_GAP_FROM,
    MYTH_GAP_TO,
    MYTH_GAP_GONE, /* pages that the table lacks before position TO: those wholly in this gap or in one before it */
    MYTH_GAP_WIDTH,
    MYTH_GAP_MAX = 8
};

/* Where the cached keys and values of one layer are. A page, or a ring, holds [layer][K|V][kv_head][token][head_dim];
 * layer_off is the offset of this layer's K in it. V starts n_head_kv * page_tok rows of K later. Position p of a
 * sequence is row p % page_tok of one page:
 *   ring    (page_tok is the ring's length) the page is table[slot * n_entry]
 *   pages   the page is table[slot * n_entry + e]. Pages that lie wholly in a gap are missing from the table: e = p /
 *           page_tok - GONE of the last of the run's gaps that ends at or before p, or p / page_tok before any
 * A table entry is i32[2]: the page's number, and the position of the page's first row (0 for a ring). The types of K
 * and V are those of k_new and v_new and may differ; pool.dtype is not read. page_bytes 0, for attn_prefill only: there
 * is no cache and no pool, and every run has POS0 = 0. page_tok of a ring is still the window. */
struct myth_kv_place {
    myth_view pool, table; /* bytes; i32 [n_slot, n_entry, 2] */
    uint64_t page_bytes, layer_off;
    uint32_t page_tok, n_entry;
    bool is_ring;
};

/* Prologue; xn = RMS(x) * w_in; q = Wq xn, k = Wk xn, v = Wv xn. Then, for each head: RMS(q) * n_q and RMS(k) * n_k
 * where these weights are given; RoPE on q and k; q times q_scale into `q`; k and v rounded to the cache type into the
 * scratch k_new and v_new, [kv_head][row][head_dim], where row is the row in the step.
 *   without w_v       v is k as it was before its norm
 *   has_v_norm        each head of v is normed, without a weight; needs head_dim <= MYTH_V_NORM_MAX
 *   without w_k       the layer reads the K and V of another layer: k_new, v_new and n_k are not given and n_head_kv
 *                     is not used
 *   w_k, but no k_new only v is stored and attention makes keys from it (myth_key_fold); n_k is not given */
struct myth_norm_qkv_rope_store_args {
    myth_view x, pend, w_post, w_in;
    myth_view w_q, w_k, w_v;   /* matrices [n_head * head_dim, dim], [n_head_kv * head_dim, dim] x 2    */
    myth_view n_q, n_k;        /* head norms [head_dim]; optional                                       */
    myth_view rope;            /* f32 [n_rows, head_dim / 2, 2], from rope_table                        */
    myth_view xn, qkv;         /* scratch f32 [n_rows, dim], [n_rows, (n_head + 2 n_head_kv) * head_dim] */
    myth_view q, k_new, v_new; /* f32 [n_rows, n_head, head_dim]; cache type [n_head_kv, cap_rows, head_dim] x 2 */
    const struct myth_low_rank *low_q, *low_k, *low_v; /* added to these matrices; NULL = nothing */
    uint32_t n_rows, cap_rows, dim, n_head, n_head_kv, head_dim;
    float eps, q_scale, x_scale;
    bool has_v_norm, is_decode;
};

/* The second half of the op above. qkv holds q [n_rows, n_head * head_dim], then k and v [n_rows, n_head_kv *
 * head_dim]. With v_is_k the values are taken from k, and qkv has room for v all the same. Without k_new no keys are
 * stored; without v_new neither keys nor values are. */
struct myth_qkv_rope_store_args {
    myth_view qkv, n_q, n_k, rope;
    myth_view q, k_new, v_new;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim;
    float eps, q_scale;
    bool v_is_k, has_v_norm;
};
enum { MYTH_V_NORM_MAX = 1024 };

/* Folded keys: keys that are not stored but made from the values. Where w is given, cache and scratch hold values only
 * (k_new is not given and a page has no K part), and the key of a position is RoPE(w * v) there. The table holds (cos,
 * sin) of positions 0..n_table-1 as rope_table makes them, but of the rotated pairs only. Attention computes the angles
 * of later positions, which is slow. */
struct myth_key_fold {
    myth_view w, table; /* f32 [head_dim]; f32 [n_table, n_pair, 2] */
    uint32_t n_table, n_pair;
    double base, factor;
};

/* o[r, h, :] = softmax(mask(cap(q k))) v. Row r at position p sees the keys 0 <= j <= p with p - j < window (window 0 =
 * all of them). With n_after it also sees rows of its own run up to position p + n_after. Keys before the run's POS0
 * come from the cache, later ones from the scratch. Keys are reduced in blocks that are aligned to absolute positions.
 * attn_prefill: the rows of a run ascend in position. They may be some of the run's tokens only, while the run's record
 * and the scratch describe all of them. */
struct myth_attn_args {
    myth_view o, q, k_new, v_new; /* f32 [n_rows, n_head, head_dim] x 2; scratch as above */
    myth_view runs, row_run, pos; /* i32 [n_run, 8]; i32 [n_rows], the row's run; i32 [n_rows] */
    struct myth_kv_place kv;
    struct myth_key_fold fold;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim, window;
    uint32_t n_after; /* attn_prefill only: 0 = causal, UINT32_MAX = to the run's end   */
    float softcap;    /* 0 = none, else cap(s) = softcap * tanh(s / softcap) before the mask */
    bool merges;      /* attn_decode only: also does the work of kv_merge for these runs (n_run = n_rows) */
};
#define myth_attn_prefill_args myth_attn_args
#define myth_attn_decode_args  myth_attn_args

/* The attention that either op gives single keys. part[r, h, i] is the weight of the key of position first + i in head
 * h of row r, 0 where the row does not see that key. Then mass[r, i] += scale / n_head * (part[r, 0, i] + part[r, 1, i]
 * + ...). Of attn, o and v_new are not read; keys are stored (no fold). */
struct myth_attn_mass_args {
    struct myth_attn_args attn;
    myth_view mass, part; /* in and out f32 [n_rows, n_key]; scratch f32 [n_rows, n_head, n_key] */
    uint32_t first, n_key;
    float scale;
};

/* Copies the scratch rows of every run that is not ephemeral into the run's pages or ring; into a ring only the last
 * page_tok rows of the run. Without k_new it copies values only. */
struct myth_kv_merge_args {
    myth_view k_new, v_new, runs;
    struct myth_kv_place kv;
    uint32_t n_run, cap_rows, n_head_kv, head_dim;
};

/* Prologue; xn = RMS(x) * w; h[r,:] = gelu_tanh(Wg xn) * (Wu xn) */
struct myth_norm_ffn_geglu_args {
    myth_view x, pend, w_post, w;
    myth_view w_gate, w_up; /* [d_ff, dim] x 2                                               */
    myth_view xn, up, h;    /* scratch f32 [n_rows, dim], [n_rows, d_ff]; out f32 [n_rows, d_ff] */
    const struct myth_low_rank *low_gate, *low_up; /* added to these matrices; NULL = nothing */
    uint32_t n_rows, dim, d_ff;
    float eps, x_scale;
    bool is_decode;
};

/* h[i] = gelu_tanh(g[i]) * up[i] over n_rows * d_ff elements; g may be h */
struct myth_geglu_args {
    myth_view h, g, up; /* f32 [n_rows, d_ff] x 3 */
    uint32_t n_rows, d_ff;
};

/* Let t be x[rows[i],:] after the prologue, which here leaves x itself unchanged. y[i,:] = RMS(t) * w, or t where w is
 * not given. */
struct myth_gather_norm_args {
    myth_view y, x, pend, w_post, w;
    myth_view rows; /* i32 [n_gather] */
    uint32_t n_gather, dim;
    float eps, x_scale;
};

/* sum[label[i],:] += t, where t is x[rows[i],:] after the prologue, which here leaves x itself unchanged. Rows with
 * label -1 are left out. A sum is a signed 64-bit fixed-point number in units of 2^-24, and each t is rounded to that
 * once, to nearest, ties to even. Integers can be added in any order, so the bits depend neither on the batch nor on
 * the order of rows. A t that is not finite, that is 2^38 or more, or that would carry its sum out of 64 bits adds
 * nothing and sets bad[0] = 1. This op never clears bad. */
enum { MYTH_CAPTURE_FRACTION_BITS = 24 };
struct myth_capture_sum_args {
    myth_view sum, bad; /* i64 [n_label, dim], as pairs of i32, low word first; i32 [1] */
    myth_view x, pend, w_post;
    myth_view rows, label; /* i32 [n_gather] x 2; labels -1..n_label-1 */
    uint32_t n_gather, dim, n_label;
    float eps, x_scale;
};

/* For each row that wants logits: the k best ids, log-sum-exp and entropy over all allowed ids, and the logits of the
 * ids that were asked for. The rows of x have already passed the final norm. cap(W x) are the logits; then biases are
 * added, then forbidden ids become -inf. A bias of -inf forbids its id too, and several biases of one id add up. Where
 * no id is allowed, lse is -inf and entropy 0; where an allowed one has NaN, which is never among the best, both are
 * NaN. A biased id outside 0..n_vocab-1 is ignored; an asked one gets NaN. */
enum { MYTH_TOPK_MAX = 1024, MYTH_HEAD_TILE = 1024 };
struct myth_head_topk_args {
    myth_view x, w;                /* f32 [n_rows, dim]; any type [n_total, dim] */
    uint32_t n_rows, dim, n_vocab; /* n_vocab: rows of w that may be chosen, the first ones */
    uint32_t n_total;              /* rows of w; a planar form keeps its scales after all of them. 0 = n_vocab */
    uint32_t k;                    /* 1..MYTH_TOPK_MAX */
    float softcap;
    bool is_decode;
    /* The mask of each row, i32 [n_rows], -1 = none; masks of bits, 1 = allowed, i32 words [n_masks,
     * ceil(n_vocab / 32)]. Optional. */
    myth_view mask_idx, masks;
    /* The biases of row r are numbers bias_off[r] .. bias_off[r + 1] - 1: i32 [n_rows + 1]; i32 and f32 [total].
     * Optional. */
    myth_view bias_off, bias_id, bias;
    myth_view ask_id; /* i32 [n_rows, n_ask]; optional */
    uint32_t n_ask;
    /* out i32 and f32 [n_rows, k], by descending logit, then ascending id; id -1 where fewer than k are allowed */
    myth_view top_id, top_logit;
    myth_view lse, entropy; /* out f32 [n_rows] x 2 */
    myth_view ask_logit;    /* out f32 [n_rows, n_ask], before biases and masks */
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

/* After a decode step, in which row r is the only row of run r: chooses the next token of every row and advances the
 * step's own index arrays, so that the recorded step can run again without the host. The choice is that of
 * base/sampler.h from row r of head_topk's result, for position pos[r] + 1. It is written to out[step % n_out, r] and
 * to ids[r]; pos[r] and the run's POS0 grow by one. A row that chose an id of stop_id, or had no allowed id, is done:
 * its index arrays no longer change, its run becomes ephemeral so that nothing more of it reaches the cache, and its
 * later places in out are -1. At the end step grows by one. */
struct myth_decode_next_args {
    myth_view top_id, top_logit; /* i32, f32 [n_rows, k], from head_topk           */
    myth_view ids, pos, runs;    /* in and out: i32 [n_rows] x 2; i32 [n_rows, 8]  */
    myth_view out, step;         /* out i32 [n_out, n_rows]; in and out i32 [1]    */
    myth_view stop_id;           /* i32 [n_stop]; optional                         */
    uint32_t n_rows, k, n_out, n_stop;
    uint32_t seq_number;       /* the sampler's number of row 0's sequence; row r has seq_number + r */
    myth_sample_params sample; /* without repeat penalty: the host applies that                      */
};

/* Copies bytes from src to dst. The two may overlap. */
struct myth_copy_args {
    myth_view dst, src;
    uint64_t bytes;
};

/* ---- per-layer inputs (Gemma 3n, Gemma 4 E) ---- */

/* The per-layer inputs of all layers, once a step. p comes in as the projection of the embedding and is changed in
 * place: p[r, l, :] = out_scale * (RMS(p_scale * p[r, l, :]) * w + table_scale * table[id, l, :]) with id = ids[r], or
 * id = 0 where ids[r] is outside the table. Without ids, id = r: the host has fetched these rows, as f32. */
struct myth_ple_merge_args {
    /* f32 [n_rows, n_layer, n_ple]; f32 [n_ple]; any type [n_table, n_layer * n_ple]; i32 [n_rows], optional */
    myth_view p, w, table, ids;
    uint32_t n_rows, n_layer, n_ple, n_table;
    float p_scale, table_scale, out_scale, eps;
};

/* Prologue; h[r,:] = gelu_tanh(W x[r,:]) * p[r,:]. p is one layer's part of ple_merge's result, so its rows are
 * p_stride values apart. */
struct myth_ple_gate_args {
    myth_view x, pend, w_post;
    myth_view w, p;  /* any type [n_ple, dim]; f32, n_rows rows of n_ple */
    myth_view xn, h; /* scratch f32 [n_rows, dim]; out f32 [n_rows, n_ple] */
    uint32_t n_rows, dim, n_ple, p_stride;
    float eps;
    bool is_decode;
};

/* ---- mixture of experts ----
 *
 * The entries of a step are its pairs (row, slot) with slot < k: entry r * k + slot is the slot-th expert of row r. */

enum { MYTH_EXPERT_MAX = 1024, MYTH_EXPERT_USED_MAX = 32 };

/* Each row chooses the experts of its k largest logits; equal logits go to the lower id, and NaN counts as smaller than
 * every number. weight = softmax over these k of (logit_scale * logit), times expert_scale of the id. (A softmax over
 * all experts, divided by the sum of the chosen k, is the same.) Then all entries are sorted by expert, and the entries
 * of one expert by number: those of expert e are order[offset[e]] .. order[offset[e + 1] - 1]. */
struct myth_moe_route_args {
    myth_view logits, expert_scale; /* f32 [n_rows, n_expert]; f32 [n_expert], optional */
    myth_view id, weight;           /* out i32, f32 [n_rows, k], largest logit first     */
    myth_view offset, order;        /* out i32 [n_expert + 1]; i32 [n_rows * k]          */
    uint32_t n_rows, n_expert, k;
    float logit_scale;
};

/* h[i,:] = gelu_tanh(Wg x[r,:]) * (Wu x[r,:]) for every entry i = r * k + slot, with the matrices Wg and Wu of its
 * expert e. The matrices of all experts are stacked: row o of Wg is row e * expert_rows + o of w_gate, and row o of Wu
 * is row e * expert_rows + up_row + o of w_up. Where one stack holds both, w_up is w_gate, expert_rows is 2 d_ff and
 * up_row is d_ff; where there are two stacks, expert_rows is d_ff and up_row is 0. The matrices of experts without
 * entries are not read. */
struct myth_moe_geglu_args {
    /* out f32 [n_rows * k, d_ff]; f32 [n_rows, dim]; any type [n_expert * expert_rows, dim] x 2 */
    myth_view h, x, w_gate, w_up;
    myth_view offset, order; /* from moe_route */
    uint32_t n_rows, k, n_expert, dim, d_ff, expert_rows, up_row;
    bool is_decode;
};

/* y[r,:] = sum over the slots, in their order, of weight[r, slot] * (Wd h[r * k + slot,:]), with the matrix Wd of the
 * slot's expert */
struct myth_moe_down_args {
    myth_view y, h, w; /* out f32 [n_rows, dim]; f32 [n_rows * k, d_ff]; any type [n_expert * dim, d_ff] */
    myth_view weight, offset, order; /* from moe_route */
    myth_view part;                  /* scratch f32 [n_rows * k, dim] */
    uint32_t n_rows, k, n_expert, dim, d_ff;
    bool is_decode;
};

/* ---- residual streams of Gemma 3n ----
 *
 * x holds n_stream residual streams, [n_stream, n_rows, dim]. A layer works on the stream `active`. */

enum { MYTH_STREAM_MAX = 8 };

/* Prologue: RMS(pend) * w_post, or pend where w_post is not given, is added to every stream except stream 0. Then,
 * where coef is given: m = tanh(router (RMS(x[active]) * w_route) / dim); c = coef m; x[i] += sum_j c[i * n_stream + j]
 * * x[j], with the x[j] from before this step; and xn = RMS(x[active]) * w_in of the new x[active]. */
struct myth_altup_predict_args {
    myth_view x, pend, w_post;
    myth_view w_route, router, coef; /* f32 [dim]; f32 [n_stream, dim]; f32 [n_stream * n_stream, n_stream] */
    myth_view xn, w_in;              /* out f32 [n_rows, dim]; f32 [dim] */
    uint32_t n_rows, dim, n_stream, active;
    float eps;
};

/* Prologue on u, which is what the layer made of the active stream. Then m = tanh(router (RMS(u) * w_route) / dim);
 * c = coef m; d = u - x[active]; x[i] += (1 + c[i]) * d; and gate = x[active] * w_gate of the new x[active] (w_gate not
 * given = 1). */
struct myth_altup_correct_args {
    myth_view x, u, pend, w_post;    /* u: f32 [n_rows, dim] */
    myth_view w_route, router, coef; /* f32 [dim]; f32 [n_stream, dim]; f32 [n_stream, n_stream] */
    myth_view gate, w_gate;          /* out f32 [n_rows, dim]; f32 [dim] */
    uint32_t n_rows, dim, n_stream, active;
    float eps;
};

/* Scales every u[i][r,:] to the magnitude of x[r,:]: times rms(x) / sqrt(max(mean(u^2), 1e-5)). Where y is given, u
 * itself is unchanged and y[r,:] is the mean of x[r,:] and the n_u scaled streams; y may be x. */
struct myth_altup_match_args {
    myth_view y, x, u; /* f32 [n_rows, dim], optional; f32 [n_rows, dim]; f32 [n_u, n_rows, dim] */
    uint32_t n_rows, dim, n_u;
};

/* u = (x + RMS(attn) * w_attn + xn + RMS(laurel) * w_laurel) / sqrt(2) */
struct myth_laurel_merge_args {
    myth_view u, x, xn, attn, laurel; /* f32 [n_rows, dim] each */
    myth_view w_attn, w_laurel;       /* f32 [dim] each         */
    uint32_t n_rows, dim;
    float eps;
};

/* h = gelu_tanh(max(g - t, 0)) * up with the threshold t[r] = mean(g[r,:]) + z * deviation(g[r,:]), both over all d_ff
 * values of the row; g may be h */
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
