/* vk_ops_rows.c - dispatches the ops over rows that have no matrix: embedding, rope, norms, stores, merges, copies. The
 * formulas are in the .comp files. */
#include "vk_work.h"

#include <math.h>

enum { HEAD_MAX = 2 * VK_TURN_MAX }; /* the same number is in store.glsl */

void vk_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a)
{
    struct vk_embed_gather_args args = {
        .y = vk_addr(a->y),
        .table = vk_addr(a->table),
        .ids = vk_addr(a->ids),
        .n_rows = a->n_rows,
        .dim = a->dim,
        .n_vocab = a->n_vocab,
        .dtype = a->table.dtype,
        .scale = a->scale,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_embed_gather, .x = a->n_rows}, &args, sizeof(args));
}

void vk_rope_turns(uint64_t turn[VK_TURN_MAX], uint32_t n_pair, uint32_t head_dim, double base, double factor)
{
    for (uint32_t i = 0; i < n_pair; i++) {
        long double freq = powl(base, -2.0L * i / head_dim) / (long double)factor / (2.0L * acosl(-1.0L));
        turn[i] = (uint64_t)ldexpl(freq - floorl(freq), 64);
    }
}

void vk_rope_table(myth_stream *s, const struct myth_rope_table_args *a)
{
    uint64_t turn[VK_TURN_MAX];
    if (a->head_dim > HEAD_MAX) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: rope_table: head_dim %u; at most %d", s->dev->caps.name, a->head_dim,
                  HEAD_MAX);
        return;
    }
    vk_rope_turns(turn, a->n_pair, a->head_dim, a->base, a->factor);
    struct vk_rope_table_args args = {
        .table = vk_addr(a->table),
        .pos = vk_addr(a->pos),
        .turn = vk_push(s, turn, (a->n_pair ? a->n_pair : 1) * sizeof(turn[0])),
        .n_rows = a->n_rows,
        .head_dim = a->head_dim,
        .n_pair = a->n_pair,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_rope_table, .x = a->n_rows}, &args, sizeof(args));
}

void vk_rms_norm(myth_stream *s, const struct myth_rms_norm_args *a)
{
    struct vk_rms_norm_args args = {
        .y = vk_addr(a->y),
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .w = vk_addr(a->w),
        .n_rows = a->n_rows,
        .dim = a->dim,
        .eps = a->eps,
        .x_scale = vk_x_scale(a->x_scale),
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_rms_norm, .x = a->n_rows}, &args, sizeof(args));
}

void vk_qkv_rope_store(myth_stream *s, const struct myth_qkv_rope_store_args *a)
{
    if (a->head_dim > HEAD_MAX) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: qkv_rope_store: head_dim %u; at most %d", s->dev->caps.name, a->head_dim,
                  HEAD_MAX);
        return;
    }
    struct vk_qkv_rope_store_args args = {
        .qkv = vk_addr(a->qkv),
        .n_q = vk_addr(a->n_q),
        .n_k = vk_addr(a->n_k),
        .rope = vk_addr(a->rope),
        .q = vk_addr(a->q),
        .k_new = vk_addr(a->k_new),
        .v_new = vk_addr(a->v_new),
        .n_rows = a->n_rows,
        .cap_rows = a->cap_rows,
        .n_head = a->n_head,
        .n_head_kv = a->n_head_kv,
        .head_dim = a->head_dim,
        .type_k = a->k_new.dtype,
        .type_v = a->v_new.dtype,
        .v_is_k = a->v_is_k,
        .has_v_norm = a->has_v_norm,
        .eps = a->eps,
        .q_scale = a->q_scale,
    };
    uint32_t n_stored = (a->k_new.buf != NULL) + (a->v_new.buf != NULL);
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_qkv_rope_store,
                    .x = a->n_head + n_stored * a->n_head_kv,
                    .y = a->n_rows,
                },
                &args, sizeof(args));
}

void vk_add_low_rank(myth_stream *s, const struct myth_add_low_rank_args *a)
{
    enum { PER_GROUP = 256 };
    struct vk_add_low_rank_args args = {
        .y = vk_addr(a->y),
        .b = vk_addr(a->b),
        .t = vk_addr(a->t),
        .n_out = a->n_out,
        .rank = a->rank,
    };
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_add_low_rank,
                    .x = a->n_rows,
                    .y = (a->n_out + PER_GROUP - 1) / PER_GROUP,
                },
                &args, sizeof(args));
}

void vk_geglu(myth_stream *s, const struct myth_geglu_args *a)
{
    enum { PER_GROUP = 1024, GROUP_MAX = 16384 };
    struct vk_geglu_args args = {
        .h = vk_addr(a->h),
        .g = vk_addr(a->g),
        .up = vk_addr(a->up),
        .n = (uint64_t)a->n_rows * a->d_ff,
    };
    uint64_t n_group = (args.n + PER_GROUP - 1) / PER_GROUP;
    vk_dispatch(
        s, &(struct vk_launch){.shader = VK_SHADER_geglu, .x = n_group < GROUP_MAX ? (uint32_t)n_group : GROUP_MAX},
        &args, sizeof(args));
}

void vk_gather_norm(myth_stream *s, const struct myth_gather_norm_args *a)
{
    struct vk_gather_norm_args args = {
        .y = vk_addr(a->y),
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .w = vk_addr(a->w),
        .rows = vk_addr(a->rows),
        .n_gather = a->n_gather,
        .dim = a->dim,
        .eps = a->eps,
        .x_scale = vk_x_scale(a->x_scale),
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_gather_norm, .x = a->n_gather}, &args, sizeof(args));
}

void vk_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a)
{
    struct vk_capture_sum_args args = {
        .sum = vk_addr(a->sum),
        .bad = vk_addr(a->bad),
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .rows = vk_addr(a->rows),
        .label = vk_addr(a->label),
        .n_gather = a->n_gather,
        .dim = a->dim,
        .eps = a->eps,
        .x_scale = vk_x_scale(a->x_scale),
        .scale = vk_of(s)->activations.addr + vk_scale_off(&s->dev->shape),
    };
    if (args.pend && args.w_post)
        vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_capture_scale, .x = a->n_gather}, &args, sizeof(args));
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_capture_sum, .x = a->dim / 64 + (a->dim % 64 != 0)}, &args,
                sizeof(args));
}

void vk_decode_next(myth_stream *s, const struct myth_decode_next_args *a)
{
    const myth_sample_params *p = &a->sample;
    struct vk_decode_next_args args = {
        .top_id = vk_addr(a->top_id),
        .top_logit = vk_addr(a->top_logit),
        .ids = vk_addr(a->ids),
        .pos = vk_addr(a->pos),
        .runs = vk_addr(a->runs),
        .result = vk_addr(a->out),
        .step = vk_addr(a->step),
        .stop_id = vk_addr(a->stop_id),
        .seed = p->seed,
        .n_rows = a->n_rows,
        .k = a->k,
        .n_out = a->n_out,
        .n_stop = a->stop_id.buf ? a->n_stop : 0,
        .seq_number = a->seq_number,
        .k_sample = myth_sample_k(p),
        .top_p = p->top_p > 0.0f && p->top_p < 1.0f ? (uint32_t)ceilf(p->top_p * 0x1p24f) : 0,
        .has_min_p = p->min_p > 0.0f,
        .temp = p->temp,
        .log_min_p = p->min_p > 0.0f ? logf(p->min_p) : 0.0f,
    };
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_decode_next}, &args, sizeof(args));
}

struct vk_kv_place vk_place(const struct myth_kv_place *kv)
{
    return (struct vk_kv_place){
        .pool = vk_addr(kv->pool),
        .table = vk_addr(kv->table),
        .page_bytes = kv->page_bytes,
        .layer_off = kv->layer_off,
        .page_tok = kv->page_tok,
        .n_entry = kv->n_entry,
        .is_ring = kv->is_ring,
    };
}

void vk_kv_merge(myth_stream *s, const struct myth_kv_merge_args *a)
{
    enum { ROWS_PER_GROUP = 8, SPLIT_MAX = 64 };
    struct vk_kv_merge_args args = {
        .k_new = vk_addr(a->k_new),
        .v_new = vk_addr(a->v_new),
        .runs = vk_addr(a->runs),
        .kv = vk_place(&a->kv),
        .n_run = a->n_run,
        .cap_rows = a->cap_rows,
        .n_head_kv = a->n_head_kv,
        .head_dim = a->head_dim,
        .type_k = a->k_new.dtype,
        .type_v = a->v_new.dtype,
    };
    uint32_t split = (a->cap_rows / a->n_run + ROWS_PER_GROUP - 1) / ROWS_PER_GROUP;
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_kv_merge,
                    .x = (a->k_new.buf ? 2 : 1) * a->n_head_kv,
                    .y = a->n_run,
                    .z = split < SPLIT_MAX ? split : SPLIT_MAX,
                },
                &args, sizeof(args));
}

void vk_copy(myth_stream *s, const struct myth_copy_args *a)
{
    uint64_t dst = vk_addr(a->dst), src = vk_addr(a->src), gap = dst > src ? dst - src : src - dst;
    struct vk_copy_args args = {.dst = dst, .src = src, .n = a->bytes};
    if (gap >= a->bytes)
        vk_copy_bytes(s, a->dst, a->src, a->bytes);
    else if (gap)
        vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_copy}, &args, sizeof(args));
}
