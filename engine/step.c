/* step.c - attention and feed-forward as ops: five launches a layer, plus the merge of new rows into the cache. */
#include "step.h"

void myth_step_attention(myth_step *st, uint32_t l, float attn_softcap)
{
    const myth_config *c = st->c;
    const myth_layer_config *lc = &c->layer[l];
    const myth_layer_weights *w = &st->w->layer[l];
    if (st->before_layer)
        st->before_layer(st->owner, l);

    myth_norm_qkv_rope_store(st->s, &(struct myth_norm_qkv_rope_store_args){
        .x = st->x, .pend = st->pend, .w_post = st->w_post, .w_in = w->attn_norm,
        .w_q = w->w_q, .w_k = w->w_k, .w_v = w->w_v, .n_q = w->q_norm, .n_k = w->k_norm,
        .rope = lc->is_global ? st->rope_global : st->rope_local,
        .xn = st->xn, .qkv = st->qkv, .q = st->q, .k_new = st->k_new, .v_new = st->v_new,
        .n_rows = st->n_rows, .cap_rows = st->cap_rows, .dim = c->d_model,
        .n_head = c->n_head, .n_head_kv = lc->n_head_kv, .head_dim = lc->head_dim,
        .eps = c->eps, .q_scale = c->attn_scale, .is_decode = st->is_decode });

    const struct myth_attn_args attn = {
        .o = st->o, .q = st->q, .k_new = st->k_new, .v_new = st->v_new,
        .runs = st->runs, .row_run = st->row_run, .pos = st->pos, .kv = st->kv[l],
        .n_rows = st->n_rows, .cap_rows = st->cap_rows,
        .n_head = c->n_head, .n_head_kv = lc->n_head_kv, .head_dim = lc->head_dim,
        .window = lc->is_global ? 0 : st->kv[l].page_tok, /* what a ring holds: the window, or a shorter context */
        .n_after = !c->is_bidirectional ? 0 : lc->is_global ? UINT32_MAX : c->window - 1,
        .softcap = attn_softcap, .merges = st->is_decode };
    if (st->is_decode) {
        myth_attn_decode(st->s, &attn);
    } else {
        myth_attn_prefill(st->s, &attn);
        myth_kv_merge(st->s, &(struct myth_kv_merge_args){         /* after the last reader: a ring holds no spare rows */
            .k_new = st->k_new, .v_new = st->v_new, .runs = st->runs, .kv = st->kv[l],
            .n_run = st->n_run, .cap_rows = st->cap_rows, .n_head_kv = lc->n_head_kv, .head_dim = lc->head_dim });
    }

    myth_proj(st->s, &(struct myth_proj_args){
        .y = st->branch, .x = st->o, .w = w->w_o, .n_rows = st->n_rows,
        .n_in = c->n_head * lc->head_dim, .n_out = c->d_model, .is_decode = st->is_decode });
}

void myth_step_ffn(myth_step *st, uint32_t l)
{
    const myth_config *c = st->c;
    const myth_layer_weights *w = &st->w->layer[l];
    uint32_t d_ff = c->layer[l].d_ff;

    myth_norm_ffn_geglu(st->s, &(struct myth_norm_ffn_geglu_args){
        .x = st->x, .pend = st->pend, .w_post = st->w_post, .w = w->ffn_norm,
        .w_gate = w->w_gate, .w_up = w->w_up, .xn = st->xn, .up = st->up, .h = st->h,
        .n_rows = st->n_rows, .dim = c->d_model, .d_ff = d_ff, .eps = c->eps, .is_decode = st->is_decode });

    myth_proj(st->s, &(struct myth_proj_args){
        .y = st->branch, .x = st->h, .w = w->w_down, .n_rows = st->n_rows,
        .n_in = d_ff, .n_out = c->d_model, .is_decode = st->is_decode });
}

void myth_step_captured(myth_step *st, uint32_t layer)
{
    if (st->capture)
        st->capture(st->user, layer, st->pend, st->w_post);
}
