/* step.h - one micro-batch on its way through the layers of a part: the buffers that the layers read and write, and the
 * blocks that the families' loops are made of.
 *
 * Shapes   n_rows tokens; x, branch [n_rows, d_model] f32; q, o [n_rows, n_head * head_dim] f32; h [n_rows, d_ff] f32
 * Prologue a branch is not added to the residual where it is computed. It stays pending (`pend`, with its post norm
 *          `w_post`), and the next op that reads x first computes x += rms(pend) * w_post, or x += pend where w_post is
 *          empty, and then x *= x_scale where x_scale is not 0. So between two ops x may lack the pending branch
 * Sharing  when later layers read a layer's keys and values, its new rows stay in k_shared and v_shared (one of each
 *          for local and for global layers) until the last reader is done
 * Narrow   layers from first_shared on compute no keys and values, so rows that want nothing are dropped there. x, ple,
 *          pos and row_run then hold the kept rows; `runs` and the scratch of keys and values still hold all rows
 * 3n       x is n_altup residuals [n_rows, d_model], one after the other; its loop passes one of them to each op
 * Owner    the engine; views are valid while it is open
 * Errors   ops return nothing; the stream keeps the first failure (kernels/device.h) */
#ifndef MYTH_STEP_H
#define MYTH_STEP_H

#include "engine/engine.h"
#include "engine/model/family.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The matrices of a layer to which adapters add by a product of their own; and of the model itself. */
enum {
    MYTH_LOW_Q,
    MYTH_LOW_K,
    MYTH_LOW_V,
    MYTH_LOW_O,
    MYTH_LOW_GATE,
    MYTH_LOW_UP,
    MYTH_LOW_DOWN,
    MYTH_LOW_PLE_PROJ,
    MYTH_LOW_LAUREL_LEFT,
    MYTH_LOW_LAUREL_RIGHT,
    MYTH_LOW_N,
    MYTH_LOW_MODEL = 0 /* ple_model_proj, in the row behind the last layer's */
};
typedef struct {
    struct myth_low_rank m[MYTH_LOW_N]; /* rank 0 = nothing is added */
} myth_layer_low;

struct myth_step {
    myth_stream *s;
    const myth_config *c;
    const myth_bound_weights *w;
    const myth_layer_low *low; /* [n_layer + 1]; NULL = the model has no adapter */
    uint32_t n_rows, n_run, cap_rows;
    uint32_t layer0, layer1; /* the layers to run: layer0 .. layer1 - 1 */
    bool is_decode, is_exact;
    myth_view x, branch, xn, qkv, q, o, up, h, k_new, v_new;
    myth_view k_shared[2], v_shared[2]; /* [is_global] */
    myth_view altup;                    /* scratch of 3n: f32 [n_rows, 3 d + laurel_rank] */
    myth_view rope_local, rope_global;
    myth_view key_table; /* rotations of positions 0 .. n_key_table - 1, of the pairs that global layers rotate */
    uint32_t n_key_table;
    bool folds[MYTH_LAYER_MAX]; /* layers whose cache holds values only */
    /* f32 [n_rows, n_layer * n_ple]: the layers' inputs; rows of the table, empty unless the host gathers them */
    myth_view ple, ple_rows;
    myth_view moe_logits, moe_weight, moe_id, moe_order, moe_offset, moe_h, moe_part, moe_y;
    myth_view ids, runs, row_run, pos;
    /* Positions that RoPE turns by, and the runs that are merged into the cache: `pos` and `runs`, but for the rows of
     * a set (engine.h), which share a position and are one run of the cache. */
    myth_view place, merged;
    uint32_t n_merged;
    myth_view mass, mass_part; /* attn_mass's, for the n_mass rows of the cache before the set; n_mass 0 = not wanted */
    uint32_t n_mass, mass_first;
    bool is_set;     /* the rows are a set, and attention does not merge */
    uint32_t window; /* rows that a local layer sees, the row itself included */
    /* with n_keep < n_rows: the rows that go on past first_shared (`keep` is the same on the host), their positions and
     * their runs */
    uint32_t n_keep;
    const int32_t *keep;
    myth_view keep_rows, keep_pos, keep_row_run;
    struct myth_kv_place kv[MYTH_LAYER_MAX]; /* where each layer's cached rows are */
    /* Called after layer l (0 = after the embedding), while the layer's last branch is still pending; may be NULL. */
    void (*capture)(void *user, uint32_t layer);
    void *user;
    myth_hook hook; /* of what: capture is called where x, or for the others the branch, is it */
    /* Called before the ops of each layer are issued, and with layer1 after the last one; may be NULL. */
    void (*before_layer)(void *owner, uint32_t l);
    void *owner;
    /* The prologue of the next op, see above. The family's loop sets it. */
    myth_view pend, w_post;
    float x_scale;
};

/* What adapters add to a matrix of layer l; NULL = nothing. */
static inline const struct myth_low_rank *myth_step_low(const myth_step *st, uint32_t l, int matrix)
{
    const struct myth_low_rank *low = st->low ? &st->low[l].m[matrix] : NULL;
    return low && low->rank ? low : NULL;
}

/* The blocks that the families share. The first op of each adds the pending branch to x; what a block computes is left
 * in `branch`, and the loop makes it pending. */

/* branch = Wo(attention(rope(Wq, Wk, Wv of norm(x)))); merges the new keys and values into the cache. */
void myth_step_attention(myth_step *st, uint32_t l, float attn_softcap);
/* branch = Wdown(gelu(Wgate norm(x)) * Wup norm(x)) */
void myth_step_ffn(myth_step *st, uint32_t l);
/* ple = the inputs of all layers, from the token's row of the table and from x, which must be the embedding. */
void myth_step_ple_inputs(myth_step *st);
/* branch = Wproj(gelu(Wgate x) * ple of layer l), and makes it pending. */
void myth_step_ple(myth_step *st, uint32_t l);
/* Call after ffn: norms its branch and that of the chosen experts, adds them to moe_part, and makes that pending. */
void myth_step_experts(myth_step *st, uint32_t l);
void myth_step_captured(myth_step *st, uint32_t layer); /* calls `capture` for the residual */
/* Calls `capture` for the branch of layer l when that is what `hook` asks for. attention and ffn do it themselves. */
void myth_step_hooked(myth_step *st, myth_hook hook, uint32_t l);
/* Calls `capture` for x, normed with w_norm, when that is what `hook` asks for. Overwrites branch, which must not be
 * pending. attention and ffn do it themselves. */
void myth_step_hook_input(myth_step *st, myth_hook hook, myth_view w_norm, uint32_t l);
void myth_step_rope(myth_step *st); /* fills the rope tables for the step's positions */
/* Call before the first op that reads a matrix of layer l: it calls before_layer, which brings what is offloaded, and
 * at first_shared it drops the rows that are not kept. False when no rows are left: the loop ends. */
bool myth_step_begin_layer(myth_step *st, uint32_t l);

#ifdef __cplusplus
}
#endif
#endif
