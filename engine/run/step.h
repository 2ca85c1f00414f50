/* step.h - one micro-batch on its way through the layers: the views a family's loop writes to, and what it does between
 * layers.
 *
 * Shapes   n_rows tokens; x, branch [n_rows, d_model] f32; q, o [n_rows, n_head * head_dim] f32; h [n_rows, d_ff] f32
 * Streams  of 3n: x is [n_altup][n_rows, d_model], one behind the other; its loop says which of them an op sees
 * Sharing  the new rows of a source that other layers read stay in k_shared, v_shared of its kind until the last of
 *          them is done
 * Narrow   layers from first_shared on make no K and V: rows of which nothing is asked leave the step there. x, ple,
 *          pos, row_run then hold the rows that are kept; the scratch of K and V, and `runs`, still speak of all
 * Stream   x is the residual before `branch` is folded in: every op with a prologue adds RMS(branch) * w_post (or
 *          branch) first */
#ifndef MYTH_STEP_H
#define MYTH_STEP_H

#include "engine/model/family.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_step {
    myth_stream *s;
    const myth_config *c;
    const myth_bound_weights *w;
    uint32_t n_rows, n_run, cap_rows;
    uint32_t layer0, layer1; /* the layers to run: layer0 .. layer1 - 1 */
    bool is_decode, is_exact;
    myth_view x, branch, xn, qkv, q, o, up, h, k_new, v_new;
    myth_view k_shared[2], v_shared[2]; /* [is_global] */
    myth_view altup;                    /* scratch of 3n: f32 [n_rows, 3 d + laurel_rank] */
    myth_view rope_local, rope_global;
    myth_view key_table; /* rotations of positions 0 .. n_key_table - 1, of the pairs that global layers rotate */
    uint32_t n_key_table;
    bool folds[MYTH_LAYER_MAX]; /* layers that keep values only */
    myth_view ple, ple_rows; /* f32 [n_rows, n_layer * n_ple]; rows of the table that the host brought, or not given */
    myth_view moe_logits, moe_weight, moe_id, moe_order, moe_offset, moe_h, moe_part, moe_y;
    myth_view ids, runs, row_run, pos;
    /* with n_keep < n_rows: which rows go on past first_shared (in `keep` on the host too), their positions and runs */
    uint32_t n_keep;
    const int32_t *keep;
    myth_view keep_rows, keep_pos, keep_row_run;
    struct myth_kv_place kv[MYTH_LAYER_MAX]; /* of each layer */
    /* rows of the stream after layer l (0 = embedding): called while pend, w_post, x_scale are the branch that belongs
     * to it; may be NULL */
    void (*capture)(void *user, uint32_t layer);
    void *user;
    /* called before each layer's ops are issued, and with layer1 behind the last; may be NULL */
    void (*before_layer)(void *owner, uint32_t l);
    void *owner;
    /* set by the loop for what follows: the last branch, its post norm, and what the sum is multiplied by (0 = nothing)
     */
    myth_view pend, w_post;
    float x_scale;
};

/* The parts that the families share, so that their loops show only what differs. `pend`, `w_post`, `x_scale` of the
 * step are the prologue. */
void myth_step_attention(myth_step *st, uint32_t l,
                         float attn_softcap);      /* norm, q, k, v, rope, scores, merge, output projection -> branch */
void myth_step_ffn(myth_step *st, uint32_t l);     /* norm, gelu(gate) * up, down projection -> branch                */
void myth_step_ple_inputs(myth_step *st);          /* x is the embedding: what every layer's gate is multiplied by  */
void myth_step_ple(myth_step *st, uint32_t l);     /* gelu(gate) * per-layer input, projection -> branch          */
void myth_step_experts(myth_step *st, uint32_t l); /* behind ffn: the experts' part joins the dense one -> moe_part */
void myth_step_captured(myth_step *st, uint32_t layer);
void myth_step_rope(myth_step *st); /* the tables of the step's positions */
/* In front of layer l: drops the rows that are not kept, once. False when none are left and the loop is done. */
bool myth_step_narrow(myth_step *st, uint32_t l);

#ifdef __cplusplus
}
#endif
#endif
