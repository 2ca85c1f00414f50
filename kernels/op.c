/* op.c - the calls of ops.h, which are the only way to an operation. Each checks the arguments, then runs the op on the
 * device or records it, and tells the trace or the observer if there is one. Where a device lacks a fused op, or an
 * adapter adds to the matrices of one, this file composes it of small ops. */
#include "op_impl.h"

#include "engine/base/clock.h"

#include <assert.h>

/* Marks an op as running. True: another op is running already, so this one is a part of it. */
static bool begin_op(myth_device *dev)
{
    const bool is_part = dev->is_in_op;
    dev->is_in_op = true;
    return is_part;
}

static void end_op(myth_stream *s, bool is_part, myth_op op, const void *args)
{
    s->dev->is_in_op = is_part;
    if (s->dev->observe && !is_part && s->err.code == MYTH_OK)
        s->dev->observe(s->dev->observer, op, args);
}

/* ---- adapters ---- */

/* These run an op with low-rank matrices as ops without; false when it has none. */
static bool split_none(const myth_stream *s, const void *a)
{
    (void)s;
    (void)a;
    return false;
}

static bool split_proj(myth_stream *s, const struct myth_proj_args *a)
{
    struct myth_proj_args plain = *a;
    const struct myth_low_rank *l = a->low;
    if (!l)
        return false;
    plain.low = NULL;
    myth_proj(s, &plain);
    plain.y = l->t;
    plain.w = l->a;
    plain.n_out = l->rank;
    myth_proj(s, &plain);
    myth_add_low_rank(s, &(struct myth_add_low_rank_args){
                             .y = a->y,
                             .b = l->b,
                             .t = l->t,
                             .n_rows = a->n_rows,
                             .n_out = a->n_out,
                             .rank = l->rank,
                         });
    return true;
}

static bool split_qkv(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a)
{
    const bool has_low = a->low_q || a->low_k || a->low_v;
    if (has_low)
        myth_compose_norm_qkv_rope_store(s, a);
    return has_low;
}

static bool split_ffn(myth_stream *s, const struct myth_norm_ffn_geglu_args *a)
{
    const bool has_low = a->low_gate || a->low_up;
    if (has_low)
        myth_compose_norm_ffn_geglu(s, a);
    return has_low;
}

#define SPLIT(s, a) \
    _Generic((a),                                                        \
        const struct myth_proj_args *: split_proj,                       \
        const struct myth_norm_qkv_rope_store_args *: split_qkv,         \
        const struct myth_norm_ffn_geglu_args *: split_ffn,              \
        default: split_none)((s), (a))

/* ---- calls ---- */

#define OP(op)                                                                                \
    static void run_##op(myth_stream *s, const struct myth_##op##_args *a)                    \
    {                                                                                         \
        if (!s->dev->ops.op) {                                                                \
            myth_fail(&s->err, MYTH_EDEVICE, "%s: the device lacks " #op, s->dev->caps.name); \
            return;                                                                           \
        }                                                                                     \
        if (!s->dev->is_watched || s->is_recording) {                                         \
            if (!SPLIT(s, a))                                                                 \
                s->dev->ops.op(s, a);                                                         \
            return;                                                                           \
        }                                                                                     \
        const bool is_part = begin_op(s->dev);                                                \
        double start = myth_seconds();                                                        \
        if (!SPLIT(s, a))                                                                     \
            s->dev->ops.op(s, a);                                                             \
        if (s->dev->has_trace) {                                                              \
            struct myth_op_trace t;                                                           \
            myth_trace_##op(&t, a);                                                           \
            myth_trace_log(s, #op, (myth_seconds() - start) * 1e6, &t);                       \
        }                                                                                     \
        end_op(s, is_part, MYTH_OP_##op, a);                                                  \
    }                                                                                         \
    void myth_##op(myth_stream *s, const struct myth_##op##_args *a)                          \
    {                                                                                         \
        if (!myth_stream_goes_on(s) || !myth_check_##op(s, a))                                \
            return;                                                                           \
        if (s->is_recording && s->dev->vt->record)                                            \
            s->dev->vt->record(s, MYTH_OP_##op, a, sizeof(*a));                               \
        else                                                                                  \
            run_##op(s, a);                                                                   \
    }
#include "ops.def"
#undef OP

void myth_op_run(myth_stream *s, myth_op op, const void *args)
{
    switch (op) {
#define OP(name)             \
    case MYTH_OP_##name:     \
        run_##name(s, args); \
        break;
#include "ops.def"
#undef OP
    default: assert(!"not an op");
    }
}

const char *myth_op_name(myth_op op)
{
    static const char *const names[] = {
#define OP(name) #name,
#include "ops.def"
#undef OP
    };
    return (unsigned)op < MYTH_OP_N ? names[op] : "?";
}

/* ---- composition ---- */

void myth_compose_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a)
{
    uint32_t n_q = a->n_head * a->head_dim, n_kv = a->n_head_kv * a->head_dim;
    const struct myth_qkv_rope_store_args store = myth_store_part_of(a);
    myth_view q = a->qkv, k = q, v = q;
    k.off = q.off + (uint64_t)a->n_rows * n_q * 4;
    v.off = k.off + (uint64_t)a->n_rows * n_kv * 4;
    myth_rms_norm(s, &(struct myth_rms_norm_args){
                         .y = a->xn,
                         .x = a->x,
                         .pend = a->pend,
                         .w_post = a->w_post,
                         .w = a->w_in,
                         .n_rows = a->n_rows,
                         .dim = a->dim,
                         .eps = a->eps,
                         .x_scale = a->x_scale,
                     });
    myth_proj(s, &(struct myth_proj_args){
                     .y = q,
                     .x = a->xn,
                     .w = a->w_q,
                     .low = a->low_q,
                     .n_rows = a->n_rows,
                     .n_in = a->dim,
                     .n_out = n_q,
                     .is_decode = a->is_decode,
                 });
    if (a->w_k.buf)
        myth_proj(s, &(struct myth_proj_args){
                         .y = k,
                         .x = a->xn,
                         .w = a->w_k,
                         .low = a->low_k,
                         .n_rows = a->n_rows,
                         .n_in = a->dim,
                         .n_out = n_kv,
                         .is_decode = a->is_decode,
                     });
    if (a->w_v.buf)
        myth_proj(s, &(struct myth_proj_args){
                         .y = v,
                         .x = a->xn,
                         .w = a->w_v,
                         .low = a->low_v,
                         .n_rows = a->n_rows,
                         .n_in = a->dim,
                         .n_out = n_kv,
                         .is_decode = a->is_decode,
                     });
    myth_qkv_rope_store(s, &store);
}

void myth_compose_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a)
{
    myth_rms_norm(s, &(struct myth_rms_norm_args){
                         .y = a->xn,
                         .x = a->x,
                         .pend = a->pend,
                         .w_post = a->w_post,
                         .w = a->w,
                         .n_rows = a->n_rows,
                         .dim = a->dim,
                         .eps = a->eps,
                         .x_scale = a->x_scale,
                     });
    myth_proj(s, &(struct myth_proj_args){
                     .y = a->h,
                     .x = a->xn,
                     .w = a->w_gate,
                     .low = a->low_gate,
                     .n_rows = a->n_rows,
                     .n_in = a->dim,
                     .n_out = a->d_ff,
                     .is_decode = a->is_decode,
                 });
    myth_proj(s, &(struct myth_proj_args){
                     .y = a->up,
                     .x = a->xn,
                     .w = a->w_up,
                     .low = a->low_up,
                     .n_rows = a->n_rows,
                     .n_in = a->dim,
                     .n_out = a->d_ff,
                     .is_decode = a->is_decode,
                 });
    myth_geglu(s, &(struct myth_geglu_args){.h = a->h, .g = a->h, .up = a->up, .n_rows = a->n_rows, .d_ff = a->d_ff});
}

void myth_compose_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a)
{
    s->dev->plain_attn_decode(s, a);
    if (a->merges && s->err.code == MYTH_OK)
        myth_op_run(s, MYTH_OP_kv_merge,
                    &(struct myth_kv_merge_args){
                        .k_new = a->k_new,
                        .v_new = a->v_new,
                        .runs = a->runs,
                        .kv = a->kv,
                        .n_run = a->n_rows,
                        .cap_rows = a->cap_rows,
                        .n_head_kv = a->n_head_kv,
                        .head_dim = a->head_dim,
                    });
}
