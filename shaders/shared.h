/* shared.h - the argument structs of the shaders, for C and for GLSL. With scalar block layout both lay them out in the
 * same way.
 *
 * Fields   vk_ptr is an address on the device, 0 = not given. 8-byte fields come first, so that there is no padding
 * Prologue x_scale is a factor here: 1 = none
 * Types    dtype fields hold the codes of engine/base/types.def, here DT_F32 and so on */
#ifndef MYTH_VK_SHARED_H
#define MYTH_VK_SHARED_H

#ifdef VULKAN /* glslc defines it */
#include "../engine/base/types.def"
#define DT_FLOAT(X, code, NAME, name, gguf, file, bytes, n_half) const uint DT_##NAME = code;
#define DT_QUANT(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, narrow, spread, lift) \
    const uint DT_##NAME = code;
MYTH_FLOAT_TYPES(DT_FLOAT, 0)
MYTH_QUANT_TYPES(DT_QUANT, 0)
#define vk_ptr        uint64_t
#define vk_u32        uint
#define vk_f32        float
#define VK_KV_PLACE   vk_kv_place /* GLSL names a struct type without the keyword */
#define VK_ATTN_ARGS  vk_attn_args
#define RUN_ROW0      0
#define RUN_N_ROWS    1
#define RUN_POS0      2
#define RUN_SLOT      3
#define RUN_FLAGS     4
#define RUN_N_GAP     5
#define RUN_GAPS      8
#define RUN_WIDTH     32
#define RUN_EPHEMERAL 1
#define GAP_FROM      0
#define GAP_TO        1
#define GAP_GONE      2
#define GAP_WIDTH     3
#else
#include <stdint.h>
typedef uint64_t vk_ptr;
typedef uint32_t vk_u32;
typedef float vk_f32;
#define VK_KV_PLACE  struct vk_kv_place
#define VK_ATTN_ARGS struct vk_attn_args
#endif

/* Where the cached rows of one layer are: struct myth_kv_place with addresses. */
struct vk_kv_place {
    vk_ptr pool, table;
    vk_ptr page_bytes, layer_off;
    vk_u32 page_tok, n_entry, is_ring, pad;
};

struct vk_embed_gather_args {
    vk_ptr y, table, ids;
    vk_u32 n_rows, dim, n_vocab, dtype;
    vk_f32 scale;
    vk_u32 pad;
};

/* turn[i] is base^(-2i / head_dim) / factor / (2 pi) in units of 2^-64: the angle of one position. */
struct vk_rope_table_args {
    vk_ptr table, pos, turn;
    vk_u32 n_rows, head_dim, n_pair, pad;
};

struct vk_rms_norm_args {
    vk_ptr y, x, pend, w_post, w;
    vk_u32 n_rows, dim;
    vk_f32 eps, x_scale;
};

/* Without k_new no keys are stored, without v_new no values. */
struct vk_qkv_rope_store_args {
    vk_ptr qkv, n_q, n_k, rope, q, k_new, v_new;
    vk_u32 n_rows, cap_rows, n_head, n_head_kv, head_dim, type_k, type_v, v_is_k, has_v_norm;
    vk_f32 eps, q_scale;
    vk_u32 pad;
};

struct vk_add_low_rank_args {
    vk_ptr y, b, t;
    vk_u32 n_out, rank;
};

struct vk_geglu_args {
    vk_ptr h, g, up;
    vk_ptr n;
};

struct vk_gather_norm_args {
    vk_ptr y, x, pend, w_post, w, rows;
    vk_u32 n_gather, dim;
    vk_f32 eps, x_scale;
};

/* Without k_new only values are copied. */
struct vk_kv_merge_args {
    vk_ptr k_new, v_new, runs;
    VK_KV_PLACE kv;
    vk_u32 n_run, cap_rows, n_head_kv, head_dim, type_k, type_v;
};

/* top_p is in units of 2^-24, 0 = off; the sampler considers at most k_sample candidates. */
struct vk_decode_next_args {
    vk_ptr top_id, top_logit, ids, pos, runs, result, step, stop_id;
    vk_ptr seed;
    vk_u32 n_rows, k, n_out, n_stop, seq_number, k_sample, top_p, has_min_p;
    vk_f32 temp, log_min_p;
};

struct vk_copy_args {
    vk_ptr dst, src, n;
};

struct vk_capture_sum_args {
    vk_ptr sum, bad, x, pend, w_post, rows, label, scale;
    vk_u32 n_gather, dim;
    vk_f32 eps, x_scale;
};

/* y[r, i] = cap(W[row0 + i] . x[r]) for i < n_out. W has n_total rows; a planar matrix has its scales after all of
 * them.
 */
struct vk_proj_args {
    vk_ptr y, x, w;
    vk_u32 n_rows, n_in, n_out, y_stride, n_total, row0;
    vk_f32 softcap;
    vk_u32 pad;
};

/* count has one counter per N_BATCH rows, which is 0 between launches. A subgroup computes n_group groups of R_ROWS
 * outputs one after the other. n_matrix is 1 for q alone, 2 with k, 3 with v. */
struct vk_norm_qkv_rope_store_args {
    vk_ptr x, pend, w_post, w_in, w_q, w_k, w_v, qkv, count;
    vk_u32 n_rows, dim, n_q, n_kv, n_group, n_matrix;
    vk_f32 eps, x_scale;
};

struct vk_norm_ffn_geglu_args {
    vk_ptr x, pend, w_post, w, w_gate, w_up, h, count;
    vk_u32 n_rows, dim, d_ff, n_group;
    vk_f32 eps, x_scale;
};

/* One round: reduces each list of 4,096 entries of `given` to its k best in `kept`. The entries are logits in the first
 * round, whose first list is number list0 of the vocabulary, and pairs of logit and id in later ones. stats is f32
 * [rows][n_stat][4]. Strides are in entries. The rows are a block of the op's rows that starts at row0. */
struct vk_head_topk_args {
    vk_ptr given, kept, stats;
    vk_ptr mask_idx, masks, bias_off, bias_id, bias, ask_id, ask_logit, top_id, top_logit, lse, entropy;
    vk_u32 row0, list0, n_in, given_stride, kept_stride, n_stat, n_vocab, k, n_ask, pad;
};

/* part is f32 [rows from row0 on][n_head][n_split][head_dim + 2]. count has a counter per row and group of query heads,
 * which is 0 between launches. attn_prefill uses neither. fold_*, n_table and n_pair are for folded keys
 * (myth_key_fold); fold_turn is like rope_table's turn. */
struct vk_attn_args {
    vk_ptr o, q, k_new, v_new, runs, row_run, pos, part, count, fold_w, fold_table, fold_turn;
    VK_KV_PLACE kv;
    vk_u32 n_rows, cap_rows, n_head, n_head_kv, window, merges, n_split, row0;
    vk_f32 softcap;
    vk_u32 n_after, n_table, n_pair;
};

struct vk_attn_mass_args {
    VK_ATTN_ARGS attn;
    vk_ptr mass, part;
    vk_u32 first, n_key;
    vk_f32 scale;
    vk_u32 pad;
};

/* Without ids, row r of p takes row r of a table of f32. */
struct vk_ple_merge_args {
    vk_ptr p, w, table, ids;
    vk_u32 n_rows, n_layer, n_ple, n_table, dtype;
    vk_f32 p_scale, table_scale, out_scale, eps;
    vk_u32 pad;
};

struct vk_fold_args {
    vk_ptr x, pend, w_post;
    vk_u32 dim;
    vk_f32 eps;
};

struct vk_ple_gate_args {
    vk_ptr h, p;
    vk_u32 n_ple, p_stride;
};

struct vk_moe_route_args {
    vk_ptr logits, expert_scale, id, weight, offset, order;
    vk_u32 n_rows, n_expert, k;
    vk_f32 logit_scale;
};

/* `share` entries have one row of x in common; n_total is the number of rows of each stack of matrices. */
struct vk_moe_geglu_args {
    vk_ptr h, x, w_gate, w_up, offset, order;
    vk_u32 n_in, n_out, n_expert, share, expert_rows, up_row, n_total, is_by_entry;
};

struct vk_moe_down_args {
    vk_ptr part, x, w, offset, order;
    vk_u32 n_in, n_out, n_expert, share, n_total, is_by_entry;
};

struct vk_moe_add_args {
    vk_ptr y, part, weight;
    vk_u32 k, dim;
};

struct vk_altup_predict_args {
    vk_ptr x, pend, w_post, w_route, router, coef, xn, w_in;
    vk_u32 n_rows, dim, n_stream, active_stream;
    vk_f32 eps;
    vk_u32 pad;
};

struct vk_altup_correct_args {
    vk_ptr x, u, pend, w_post, w_route, router, coef, gate, w_gate;
    vk_u32 n_rows, dim, n_stream, active_stream;
    vk_f32 eps;
    vk_u32 pad;
};

struct vk_altup_match_args {
    vk_ptr y, x, u;
    vk_u32 n_rows, dim, n_u, pad;
};

struct vk_laurel_merge_args {
    vk_ptr u, x, xn, attn, laurel, w_attn, w_laurel;
    vk_u32 dim;
    vk_f32 eps;
};

struct vk_geglu_sparse_args {
    vk_ptr h, g, up;
    vk_u32 d_ff;
    vk_f32 z;
};

#endif
