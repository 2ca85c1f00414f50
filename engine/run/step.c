/* step.c - issues the ops of attention, feed-forward, per-layer embeddings and experts. Attention and feed-forward take
 * five launches per layer, plus one that merges the new rows into the cache. */
#include "step.h"

#include "engine/base/half.h"

#include <math.h>

void myth_step_rope(myth_step *st)
{
    const myth_config *c = st->c;
    if (c->head_dim_global)
        myth_rope_table(st->s, &(struct myth_rope_table_args){
                                   .table = st->rope_global,
                                   .pos = st->place,
                                   .n_rows = st->n_rows,
                                   .head_dim = c->head_dim_global,
                                   .n_pair = c->rope_pairs_global,
                                   .base = c->rope_base_global,
                                   .factor = c->rope_factor_global,
                               });
    if (c->head_dim_local)
        myth_rope_table(st->s, &(struct myth_rope_table_args){
                                   .table = st->rope_local,
                                   .pos = st->place,
                                   .n_rows = st->n_rows,
                                   .head_dim = c->head_dim_local,
                                   .n_pair = c->head_dim_local / 2,
                                   .base = c->rope_base_local,
                                   .factor = c->rope_factor_local,
                               });
}

/* Copies the new keys and values of layer `source` from the scratch into the cache. */
static void merge_new_rows(myth_step *st, uint32_t source)
{
    const myth_layer_config *lc = &st->c->layer[source];
    const bool is_shared = lc->kv_last != source;
    if (!st->kv[lc->kv_last].page_bytes) /* without a cache all runs are ephemeral */
        return;
    myth_kv_merge(st->s, &(struct myth_kv_merge_args){
                             .k_new = st->folds[source] ? (myth_view){0}
                                    : is_shared         ? st->k_shared[lc->is_global]
                                                        : st->k_new,
                             .v_new = is_shared ? st->v_shared[lc->is_global] : st->v_new,
                             .runs = st->merged,
                             .kv = st->kv[lc->kv_last],
                             .n_run = st->n_merged,
                             .cap_rows = st->cap_rows,
                             .n_head_kv = lc->n_head_kv,
                             .head_dim = lc->head_dim,
                         });
}

void myth_step_hooked(myth_step *st, myth_hook hook, uint32_t l)
{
    const myth_view x = st->x, pend = st->pend, w_post = st->w_post;
    const float x_scale = st->x_scale;
    if (!st->capture || st->hook != hook)
        return;
    st->x = st->branch; /* where rows are read, with nothing pending */
    st->pend = st->w_post = (myth_view){0};
    st->x_scale = 0.0f;
    st->capture(st->user, l + 1);
    st->x = x;
    st->pend = pend;
    st->w_post = w_post;
    st->x_scale = x_scale;
}

void myth_step_hook_input(myth_step *st, myth_hook hook, myth_view w_norm, uint32_t l)
{
    if (!st->capture || st->hook != hook)
        return;
    myth_rms_norm(st->s, &(struct myth_rms_norm_args){
                             .y = st->branch,
                             .x = st->x,
                             .w = w_norm,
                             .n_rows = st->n_rows,
                             .dim = st->c->d_model,
                             .eps = st->c->eps,
                         });
    myth_step_hooked(st, hook, l);
}

/* Adds what the layer's attention gives the rows before the set, with the share that myth_result says. */
static void attention_mass(myth_step *st, const struct myth_attn_args *attn, uint32_t l)
{
    const uint32_t n = st->c->n_layer;
    const double share = n > 1 ? 0.2 + 0.8 * (double)l / (n - 1) : 1.0, all = n > 1 ? 0.6 * n : 1.0;
    struct myth_attn_mass_args a = {
        .attn = *attn,
        .mass = st->mass,
        .part = st->mass_part,
        .first = st->mass_first,
        .n_key = st->n_mass,
        .scale = (float)(share / all),
    };
    a.attn.merges = false;
    myth_attn_mass(st->s, &a);
}

void myth_step_attention(myth_step *st, uint32_t l, float attn_softcap)
{
    const myth_config *c = st->c;
    const myth_layer_config *lc = &c->layer[l];
    const myth_layer_weights *w = &st->w->layer[l];
    const uint32_t source = lc->kv_source;
    const bool owns = source == l, is_last = c->layer[source].kv_last == l,
               is_shared = c->layer[source].kv_last != source;
    const myth_view k_made = is_shared ? st->k_shared[lc->is_global] : st->k_new,
                    k_new = st->folds[l] ? (myth_view){0} : k_made;
    const myth_view v_new = is_shared ? st->v_shared[lc->is_global] : st->v_new;

    myth_norm_qkv_rope_store(st->s,
                             &(struct myth_norm_qkv_rope_store_args){
                                 .x = st->x,
                                 .pend = st->pend,
                                 .w_post = st->w_post,
                                 .x_scale = st->x_scale,
                                 .w_in = w->attn_norm,
                                 .w_q = w->w_q,
                                 .w_k = w->w_k,
                                 .w_v = w->w_v,
                                 .low_q = myth_step_low(st, l, MYTH_LOW_Q),
                                 .low_k = myth_step_low(st, l, MYTH_LOW_K),
                                 .low_v = myth_step_low(st, l, MYTH_LOW_V),
                                 .n_q = w->q_norm,
                                 .n_k = st->folds[l] ? (myth_view){0} : w->k_norm,
                                 /* w_k and w_v are empty where the layer reads another layer's keys and values */
                                 .rope = lc->is_global ? st->rope_global : st->rope_local,
                                 .xn = st->xn,
                                 .qkv = st->qkv,
                                 .q = st->q,
                                 .k_new = owns ? k_new : (myth_view){0},
                                 .v_new = owns ? v_new : (myth_view){0},
                                 .n_rows = st->n_rows,
                                 .cap_rows = st->cap_rows,
                                 .dim = c->d_model,
                                 .n_head = c->n_head,
                                 .n_head_kv = lc->n_head_kv,
                                 .head_dim = lc->head_dim,
                                 .eps = c->eps,
                                 .q_scale = c->attn_scale,
                                 .has_v_norm = c->has_v_norm,
                                 .is_decode = st->is_decode,
                             });
    st->x_scale = 0.0f;
    myth_step_hook_input(st, MYTH_HOOK_ATTN_IN, w->attn_norm, l);

    struct myth_attn_args attn = {
        .o = st->o,
        .q = st->q,
        .k_new = k_new,
        .v_new = v_new,
        .runs = st->runs,
        .row_run = st->row_run,
        .pos = st->pos,
        .kv = st->kv[l],
        .n_rows = st->n_rows,
        .cap_rows = st->cap_rows,
        .n_head = c->n_head,
        .n_head_kv = lc->n_head_kv,
        .head_dim = lc->head_dim,
        .window = lc->is_global ? 0 : st->window,
        .n_after = !c->is_bidirectional ? 0
                 : lc->is_global        ? UINT32_MAX
                                        : c->window - 1,
        .softcap = attn_softcap,
        .merges = st->is_decode && is_last && !st->is_set,
    };
    if (st->folds[l])
        attn.fold = (struct myth_key_fold){
            .w = st->w->layer[source].k_norm,
            .table = st->key_table,
            .n_table = st->n_key_table,
            .n_pair = c->rope_pairs_global,
            .base = c->rope_base_global,
            .factor = c->rope_factor_global,
        };
    if (st->is_decode)
        myth_attn_decode(st->s, &attn);
    else
        myth_attn_prefill(st->s, &attn);
    if (st->n_mass)
        attention_mass(st, &attn, l);
    if (is_last && !attn.merges) /* not before: the new rows overwrite rows of the ring that readers need */
        merge_new_rows(st, source);

    myth_proj(st->s, &(struct myth_proj_args){
                         .y = st->branch,
                         .x = st->o,
                         .w = w->w_o,
                         .low = myth_step_low(st, l, MYTH_LOW_O),
                         .n_rows = st->n_rows,
                         .n_in = c->n_head * lc->head_dim,
                         .n_out = c->d_model,
                         .is_decode = st->is_decode,
                     });
    myth_step_hooked(st, MYTH_HOOK_ATTN_OUT, l);
}

void myth_step_ffn(myth_step *st, uint32_t l)
{
    const myth_config *c = st->c;
    const myth_layer_weights *w = &st->w->layer[l];
    uint32_t d_ff = c->layer[l].d_ff;

    myth_norm_ffn_geglu(st->s, &(struct myth_norm_ffn_geglu_args){
                                   .x = st->x,
                                   .pend = st->pend,
                                   .w_post = st->w_post,
                                   .x_scale = st->x_scale,
                                   .w = w->ffn_norm,
                                   .w_gate = w->w_gate,
                                   .w_up = w->w_up,
                                   .low_gate = myth_step_low(st, l, MYTH_LOW_GATE),
                                   .low_up = myth_step_low(st, l, MYTH_LOW_UP),
                                   .xn = st->xn,
                                   .up = st->up,
                                   .h = st->h,
                                   .n_rows = st->n_rows,
                                   .dim = c->d_model,
                                   .d_ff = d_ff,
                                   .eps = c->eps,
                                   .is_decode = st->is_decode,
                               });
    st->x_scale = 0.0f;
    myth_step_hook_input(st, MYTH_HOOK_MLP_IN, w->ffn_norm, l);

    myth_proj(st->s, &(struct myth_proj_args){
                         .y = st->branch,
                         .x = st->h,
                         .w = w->w_down,
                         .low = myth_step_low(st, l, MYTH_LOW_DOWN),
                         .n_rows = st->n_rows,
                         .n_in = d_ff,
                         .n_out = c->d_model,
                         .is_decode = st->is_decode,
                     });
    myth_step_hooked(st, MYTH_HOOK_MLP_OUT, l);
}

/* Some families' constants are rounded like the scale of their embedding, because the reference keeps them in bf16. */
static float rounded(const myth_step *st, double v)
{
    const myth_config *c = st->c;
    const bool is_rounded = myth_family_get(c->family)->has_bf16_constants && c->is_rounded && !st->is_exact;
    return is_rounded ? myth_bf16_to_f32(myth_f32_to_bf16((float)v)) : (float)v;
}

void myth_step_ple_inputs(myth_step *st)
{
    const myth_config *c = st->c;
    const myth_bound_weights *w = st->w;
    const bool by_host = st->ple_rows.buf != NULL;
    myth_proj(st->s, &(struct myth_proj_args){
                         .y = st->ple,
                         .x = st->x,
                         .w = w->ple_model_proj,
                         .low = myth_step_low(st, c->n_layer, MYTH_LOW_MODEL),
                         .n_rows = st->n_rows,
                         .n_in = c->d_model,
                         .n_out = c->n_layer * c->n_ple,
                         .is_decode = st->is_decode,
                     });
    myth_ple_merge(st->s, &(struct myth_ple_merge_args){
                              .p = st->ple,
                              .w = w->ple_proj_norm,
                              .table = by_host ? st->ple_rows : w->ple_table,
                              .ids = by_host ? (myth_view){0} : st->ids,
                              .n_rows = st->n_rows,
                              .n_layer = c->n_layer,
                              .n_ple = c->n_ple,
                              .n_table = by_host ? st->n_rows : c->n_ple_vocab,
                              .p_scale = rounded(st, 1.0 / sqrt((double)c->d_model)),
                              .table_scale = sqrtf((float)c->n_ple),
                              .out_scale = rounded(st, sqrt(0.5)),
                              .eps = c->eps,
                          });
}

void myth_step_ple(myth_step *st, uint32_t l)
{
    const myth_config *c = st->c;
    const myth_layer_weights *w = &st->w->layer[l];
    const uint64_t row = (uint64_t)c->n_layer * c->n_ple;
    myth_ple_gate(st->s, &(struct myth_ple_gate_args){
                             .x = st->x,
                             .pend = st->pend,
                             .w_post = st->w_post,
                             .w = w->ple_gate,
                             .p = myth_view_at(st->ple.buf, st->ple.off + 4 * (uint64_t)l * c->n_ple, MYTH_F32),
                             .xn = st->xn,
                             .h = st->h,
                             .n_rows = st->n_rows,
                             .dim = c->d_model,
                             .n_ple = c->n_ple,
                             .p_stride = (uint32_t)row,
                             .eps = c->eps,
                             .is_decode = st->is_decode,
                         });
    myth_proj(st->s, &(struct myth_proj_args){
                         .y = st->branch,
                         .x = st->h,
                         .w = w->ple_proj,
                         .low = myth_step_low(st, l, MYTH_LOW_PLE_PROJ),
                         .n_rows = st->n_rows,
                         .n_in = c->n_ple,
                         .n_out = c->d_model,
                         .is_decode = st->is_decode,
                     });
    st->pend = st->branch;
    st->w_post = w->post_ple_norm;
}

void myth_step_experts(myth_step *st, uint32_t l)
{
    const myth_config *c = st->c;
    const myth_layer_weights *w = &st->w->layer[l];
    const uint32_t n = st->n_rows, d = c->d_model, k = c->n_expert_used, ff = c->d_ff_expert;
    const bool is_split = c->layer[l].has_split_experts;
    /* the experts and the router read x, with the attention's branch: the first op of ffn has added it */
    myth_rms_norm(st->s, &(struct myth_rms_norm_args){
                             .y = st->xn,
                             .x = st->x,
                             .w = w->router_scale,
                             .n_rows = n,
                             .dim = d,
                             .eps = c->eps,
                         });
    myth_proj(st->s, &(struct myth_proj_args){
                         .y = st->moe_logits,
                         .x = st->xn,
                         .w = w->router,
                         .n_rows = n,
                         .n_in = d,
                         .n_out = c->n_expert,
                         .is_decode = st->is_decode,
                     });
    myth_moe_route(st->s, &(struct myth_moe_route_args){
                              .logits = st->moe_logits,
                              .expert_scale = w->expert_scale,
                              .id = st->moe_id,
                              .weight = st->moe_weight,
                              .offset = st->moe_offset,
                              .order = st->moe_order,
                              .n_rows = n,
                              .n_expert = c->n_expert,
                              .k = k,
                              .logit_scale = (float)(1.0 / sqrt((double)d)),
                          });
    myth_rms_norm(st->s, &(struct myth_rms_norm_args){
                             .y = st->xn,
                             .x = st->x,
                             .w = w->expert_norm,
                             .n_rows = n,
                             .dim = d,
                             .eps = c->eps,
                         });
    myth_moe_geglu(st->s, &(struct myth_moe_geglu_args){
                              .h = st->moe_h,
                              .x = st->xn,
                              .w_gate = is_split ? w->expert_gate : w->expert_gate_up,
                              .w_up = is_split ? w->expert_up : w->expert_gate_up,
                              .offset = st->moe_offset,
                              .order = st->moe_order,
                              .n_rows = n,
                              .k = k,
                              .n_expert = c->n_expert,
                              .dim = d,
                              .d_ff = ff,
                              .expert_rows = is_split ? ff : 2 * ff,
                              .up_row = is_split ? 0 : ff,
                              .is_decode = st->is_decode,
                          });
    myth_moe_down(st->s, &(struct myth_moe_down_args){
                             .y = st->moe_y,
                             .h = st->moe_h,
                             .w = w->expert_down,
                             .weight = st->moe_weight,
                             .offset = st->moe_offset,
                             .order = st->moe_order,
                             .part = st->moe_part,
                             .n_rows = n,
                             .k = k,
                             .n_expert = c->n_expert,
                             .dim = d,
                             .d_ff = ff,
                             .is_decode = st->is_decode,
                         });
    /* moe_part is free again. It becomes the normed dense branch, and the prologue of the second rms_norm adds the
     * normed branch of the experts to it; the norm itself (xn) is not used. */
    myth_rms_norm(st->s, &(struct myth_rms_norm_args){
                             .y = st->moe_part,
                             .x = st->branch,
                             .w = w->post_dense_norm,
                             .n_rows = n,
                             .dim = d,
                             .eps = c->eps,
                         });
    myth_rms_norm(st->s, &(struct myth_rms_norm_args){
                             .y = st->xn,
                             .x = st->moe_part,
                             .pend = st->moe_y,
                             .w_post = w->post_expert_norm,
                             .w = w->post_ffn_norm,
                             .n_rows = n,
                             .dim = d,
                             .eps = c->eps,
                         });
    st->pend = st->moe_part;
}

void myth_step_captured(myth_step *st, uint32_t layer)
{
    if (st->capture && st->hook == MYTH_HOOK_RESID)
        st->capture(st->user, layer);
}

/* False when no rows are left. */
static bool narrow(myth_step *st, uint32_t l)
{
    const myth_config *c = st->c;
    const uint32_t n = st->n_keep;
    if (l != c->first_shared || n == st->n_rows)
        return true;
    if (n == 0) { /* no layer is left to merge the shared keys and values, so merge them here */
        for (uint32_t k = 0; k < l; k++)
            if (c->layer[k].kv_last >= l && k >= st->layer0)
                merge_new_rows(st, k);
        return false;
    }
    const uint32_t n_stream = c->n_altup ? c->n_altup : 1;
    for (uint32_t i = 0; i < n_stream; i++) { /* 3n has several residuals, and no branch is pending here */
        myth_view to = st->x, from = st->x;
        to.off += 4 * (uint64_t)i * n * c->d_model;
        from.off += 4 * (uint64_t)i * st->n_rows * c->d_model;
        myth_gather_norm(st->s, &(struct myth_gather_norm_args){
                                    .y = st->xn,
                                    .x = from,
                                    .pend = st->pend,
                                    .w_post = st->w_post,
                                    .x_scale = st->x_scale,
                                    .rows = st->keep_rows,
                                    .n_gather = n,
                                    .dim = c->d_model,
                                    .eps = c->eps,
                                });
        myth_copy(st->s, &(struct myth_copy_args){.dst = to, .src = st->xn, .bytes = 4 * (uint64_t)n * c->d_model});
    }
    for (uint32_t i = 0; i < n && c->n_ple; i++) { /* rows move towards the start, so none is overwritten too early */
        const uint64_t row = 4 * (uint64_t)c->n_layer * c->n_ple;
        myth_view to = st->ple, from = st->ple;
        to.off += i * row;
        from.off += (uint32_t)st->keep[i] * row;
        if (to.off != from.off)
            myth_copy(st->s, &(struct myth_copy_args){.dst = to, .src = from, .bytes = row});
    }
    st->n_rows = n;
    st->pos = st->place = st->keep_pos;
    st->row_run = st->keep_row_run;
    myth_step_rope(st);
    st->pend = st->w_post = (myth_view){0};
    st->x_scale = 0.0f;
    return true;
}

bool myth_step_begin_layer(myth_step *st, uint32_t l)
{
    if (st->before_layer)
        st->before_layer(st->owner, l);
    return narrow(st, l);
}
