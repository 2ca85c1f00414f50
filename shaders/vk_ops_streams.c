/* vk_ops_streams.c - dispatches the ops of per-layer inputs and of Gemma 3n's streams, and the choice of experts. The
 * formulas are in the .comp files. */
#include "vk_work.h"

void vk_ple_merge(myth_stream *s, const struct myth_ple_merge_args *a)
{
    struct vk_ple_merge_args args = {
        .p = vk_addr(a->p),
        .w = vk_addr(a->w),
        .table = vk_addr(a->table),
        .ids = vk_addr(a->ids),
        .n_rows = a->n_rows,
        .n_layer = a->n_layer,
        .n_ple = a->n_ple,
        .n_table = a->n_table,
        .dtype = a->table.dtype,
        .p_scale = a->p_scale,
        .table_scale = a->table_scale,
        .out_scale = a->out_scale,
        .eps = a->eps,
    };
    if (a->n_layer)
        vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_ple_merge, .x = a->n_layer, .y = a->n_rows}, &args,
                    sizeof(args));
}

void vk_ple_gate(myth_stream *s, const struct myth_ple_gate_args *a)
{
    struct vk_fold_args fold = {
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .dim = a->dim,
        .eps = a->eps,
    };
    struct vk_ple_gate_args gate = {.h = vk_addr(a->h), .p = vk_addr(a->p), .n_ple = a->n_ple, .p_stride = a->p_stride};
    if (fold.pend)
        vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_fold, .x = a->n_rows}, &fold, sizeof(fold));
    vk_proj(s, &(struct myth_proj_args){
                   .y = a->h,
                   .x = a->x,
                   .w = a->w,
                   .n_rows = a->n_rows,
                   .n_in = a->dim,
                   .n_out = a->n_ple,
                   .is_decode = a->is_decode,
               });
    if (s->err.code == MYTH_OK)
        vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_ple_gate, .x = a->n_rows}, &gate, sizeof(gate));
}

void vk_moe_route(myth_stream *s, const struct myth_moe_route_args *a)
{
    struct vk_moe_route_args args = {
        .logits = vk_addr(a->logits),
        .expert_scale = vk_addr(a->expert_scale),
        .id = vk_addr(a->id),
        .weight = vk_addr(a->weight),
        .offset = vk_addr(a->offset),
        .order = vk_addr(a->order),
        .n_rows = a->n_rows,
        .n_expert = a->n_expert,
        .k = a->k,
        .logit_scale = a->logit_scale,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_moe_route}, &args, sizeof(args));
}

void vk_altup_predict(myth_stream *s, const struct myth_altup_predict_args *a)
{
    struct vk_altup_predict_args args = {
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .w_route = vk_addr(a->w_route),
        .router = vk_addr(a->router),
        .coef = vk_addr(a->coef),
        .xn = vk_addr(a->xn),
        .w_in = vk_addr(a->w_in),
        .n_rows = a->n_rows,
        .dim = a->dim,
        .n_stream = a->n_stream,
        .active_stream = a->active,
        .eps = a->eps,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_altup_predict, .x = a->n_rows}, &args, sizeof(args));
}

void vk_altup_correct(myth_stream *s, const struct myth_altup_correct_args *a)
{
    struct vk_altup_correct_args args = {
        .x = vk_addr(a->x),
        .u = vk_addr(a->u),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .w_route = vk_addr(a->w_route),
        .router = vk_addr(a->router),
        .coef = vk_addr(a->coef),
        .gate = vk_addr(a->gate),
        .w_gate = vk_addr(a->w_gate),
        .n_rows = a->n_rows,
        .dim = a->dim,
        .n_stream = a->n_stream,
        .active_stream = a->active,
        .eps = a->eps,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_altup_correct, .x = a->n_rows}, &args, sizeof(args));
}

void vk_altup_match(myth_stream *s, const struct myth_altup_match_args *a)
{
    struct vk_altup_match_args args = {
        .y = vk_addr(a->y),
        .x = vk_addr(a->x),
        .u = vk_addr(a->u),
        .n_rows = a->n_rows,
        .dim = a->dim,
        .n_u = a->n_u,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_altup_match, .x = a->n_rows}, &args, sizeof(args));
}

void vk_laurel_merge(myth_stream *s, const struct myth_laurel_merge_args *a)
{
    struct vk_laurel_merge_args args = {
        .u = vk_addr(a->u),
        .x = vk_addr(a->x),
        .xn = vk_addr(a->xn),
        .attn = vk_addr(a->attn),
        .laurel = vk_addr(a->laurel),
        .w_attn = vk_addr(a->w_attn),
        .w_laurel = vk_addr(a->w_laurel),
        .dim = a->dim,
        .eps = a->eps,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_laurel_merge, .x = a->n_rows}, &args, sizeof(args));
}

void vk_geglu_sparse(myth_stream *s, const struct myth_geglu_sparse_args *a)
{
    struct vk_geglu_sparse_args args = {
        .h = vk_addr(a->h),
        .g = vk_addr(a->g),
        .up = vk_addr(a->up),
        .d_ff = a->d_ff,
        .z = a->z,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_geglu_sparse, .x = a->n_rows}, &args, sizeof(args));
}
