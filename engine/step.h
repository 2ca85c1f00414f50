/* step.h - one micro-batch on its way through the layers: the views a family's loop writes to, and what it does between layers.
 *
 * Shapes   n_rows tokens; x, branch [n_rows, d_model] f32; q, o [n_rows, n_head * head_dim] f32; h [n_rows, d_ff] f32
 * Stream   x is the residual before `branch` is folded in: every op with a prologue adds RMS(branch) * w_post (or branch) first */
#ifndef MYTH_STEP_H
#define MYTH_STEP_H

#include "family.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_step {
    myth_stream *s;
    const myth_config *c;
    const myth_bound_weights *w;
    uint32_t n_rows, n_run, cap_rows;
    uint32_t layer0, layer1;                              /* the layers to run: layer0 .. layer1 - 1 */
    bool is_decode;
    myth_view x, branch, xn, qkv, q, o, up, h, k_new, v_new;
    myth_view rope_local, rope_global;
    myth_view runs, row_run, pos;
    struct myth_kv_place kv[MYTH_LAYER_MAX];              /* of each layer */
    /* rows of the stream after layer l (0 = embedding): called with the pending branch that belongs to it; may be NULL */
    void (*capture)(void *user, uint32_t layer, myth_view pend, myth_view w_post);
    void *user;
    /* called before each layer's ops are issued, and with layer1 behind the last; may be NULL */
    void (*before_layer)(void *owner, uint32_t l);
    void *owner;
    /* set by the loop for what follows it: the last branch and its post norm */
    myth_view pend, w_post;
};

/* The parts that the families share, so that their loops show only what differs. `pend`, `w_post` of the step are the prologue. */
void myth_step_attention(myth_step *st, uint32_t l, float attn_softcap);    /* norm, q, k, v, rope, scores, merge, output projection -> branch */
void myth_step_ffn(myth_step *st, uint32_t l);                              /* norm, gelu(gate) * up, down projection -> branch                */
void myth_step_captured(myth_step *st, uint32_t layer);

#ifdef __cplusplus
}
#endif
#endif
