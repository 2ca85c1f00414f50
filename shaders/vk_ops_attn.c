/* vk_ops_attn.c - dispatches attention of decode and prefill steps, and how much of it single keys get. The formulas
 * are in the .comp files. */
#include "vk_work.h"

enum { WIDE_K = 1, WIDE_V = 2, FOLDS = 4, Q_TILE = 32, Q_HEADS_MAX = 8, LANE_QUERY_WORDS = 32 };

static uint32_t ceil_div(uint32_t a, uint32_t b) { return a / b + (a % b != 0); }

/* True when every row in the scratch and in the cache starts at a multiple of `unit` bytes, so that four elements can
 * be loaded at once. */
static bool is_wide(const struct myth_attn_args *a, myth_view rows, uint64_t k_bytes, uint32_t unit)
{
    uint64_t row = myth_row_bytes(rows.dtype, a->head_dim);
    return rows.dtype != MYTH_Q8_0 && a->head_dim % 4 == 0 && row % unit == 0 && k_bytes % unit == 0 &&
           vk_addr(rows) % unit == 0 && vk_addr(a->kv.pool) % unit == 0 && a->kv.page_bytes % unit == 0 &&
           a->kv.layer_off % unit == 0;
}

static uint32_t flags_of(const struct myth_attn_args *a)
{
    const bool folds = a->fold.w.buf != NULL;
    uint64_t k_bytes =
        folds ? 0 : (uint64_t)a->n_head_kv * a->kv.page_tok * myth_row_bytes(a->k_new.dtype, a->head_dim);
    return (!folds && is_wide(a, a->k_new, 0, a->k_new.dtype == MYTH_F32 ? 16 : 8) ? WIDE_K : 0) |
           (is_wide(a, a->v_new, k_bytes, a->v_new.dtype == MYTH_F32 ? 16 : 8) ? WIDE_V : 0) | (folds ? FOLDS : 0);
}

static uint32_t key_type(const struct myth_attn_args *a) { return a->fold.w.buf ? a->v_new.dtype : a->k_new.dtype; }

/* Passes to the next dispatch the angles from which it computes folded keys of positions past the table. */
static void push_turns(myth_stream *s, struct vk_attn_args *args, const struct myth_attn_args *a)
{
    uint64_t turn[VK_TURN_MAX];
    if (!a->fold.w.buf || !a->fold.n_pair)
        return;
    if (a->fold.n_pair > VK_TURN_MAX) {
        myth_fail(&s->err, MYTH_EDEVICE, "%s: keys of %u rotated pairs; at most %d", s->dev->caps.name, a->fold.n_pair,
                  VK_TURN_MAX);
        return;
    }
    vk_rope_turns(turn, a->fold.n_pair, a->head_dim, a->fold.base, a->fold.factor);
    args->fold_turn = vk_push(s, turn, a->fold.n_pair * sizeof(turn[0]));
}

static struct vk_attn_args args_of(const struct myth_attn_args *a)
{
    return (struct vk_attn_args){
        .o = vk_addr(a->o),
        .q = vk_addr(a->q),
        .k_new = vk_addr(a->k_new),
        .v_new = vk_addr(a->v_new),
        .runs = vk_addr(a->runs),
        .row_run = vk_addr(a->row_run),
        .pos = vk_addr(a->pos),
        .kv = vk_place(&a->kv),
        .n_rows = a->n_rows,
        .cap_rows = a->cap_rows,
        .n_head = a->n_head,
        .n_head_kv = a->n_head_kv,
        .window = a->window,
        .merges = a->merges,
        .softcap = a->softcap,
        .n_after = a->n_after,
        .fold_w = vk_addr(a->fold.w),
        .fold_table = vk_addr(a->fold.table),
        .n_table = a->fold.n_table,
        .n_pair = a->fold.n_pair,
    };
}

void vk_attn_prefill(myth_stream *s, const struct myth_attn_prefill_args *a)
{
    struct vk_attn_args args = args_of(a);
    push_turns(s, &args, a);
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_attn_prefill,
                    .x = ceil_div(a->n_rows * (a->n_head / a->n_head_kv), Q_TILE),
                    .y = a->n_head_kv,
                    .spec = {key_type(a), a->v_new.dtype, a->head_dim, flags_of(a)},
                },
                &args, sizeof(args));
}

void vk_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a)
{
    const struct vk_device *d = vk_of(s);
    struct vk_attn_work w = vk_attn_work_of(&s->dev->shape);
    struct vk_attn_args args = args_of(a);
    uint32_t group = a->n_head / a->n_head_kv, lane_words = ceil_div(ceil_div(a->head_dim, 4), d->traits.subgroup);
    uint32_t q_heads = LANE_QUERY_WORDS / lane_words, most = vk_attn_splits(s->dev->shape.n_ctx);
    q_heads = !q_heads ? 1 : q_heads > Q_HEADS_MAX ? Q_HEADS_MAX : q_heads;
    q_heads = q_heads > group ? group : q_heads;
    args.n_split = a->window ? ceil_div(a->window - 1, VK_ATTN_SPLIT) + 1 : most;
    args.n_split = args.n_split > most ? most : args.n_split;
    args.part = d->attn_scratch.addr;
    args.count = d->attn_scratch.addr + w.count_off;
    uint32_t at_once = (uint32_t)(w.part_bytes / vk_attn_row_bytes(a->n_head, args.n_split, a->head_dim));
    for (uint32_t r = 0; r < a->n_rows && s->err.code == MYTH_OK; r += at_once) {
        args.row0 = r;
        push_turns(s, &args, a);
        vk_dispatch(s,
                    &(struct vk_launch){
                        .shader = VK_SHADER_attn_decode,
                        .x = args.n_split,
                        .y = a->n_head_kv * ceil_div(group, q_heads),
                        .z = a->n_rows - r < at_once ? a->n_rows - r : at_once,
                        .spec = {key_type(a), a->v_new.dtype, a->head_dim, q_heads, flags_of(a)},
                    },
                    &args, sizeof(args));
    }
}

void vk_attn_mass(myth_stream *s, const struct myth_attn_mass_args *m)
{
    const struct myth_attn_args *a = &m->attn;
    const struct vk_attn_mass_args args = {
        .attn = args_of(a),
        .mass = vk_addr(m->mass),
        .part = vk_addr(m->part),
        .first = m->first,
        .n_key = m->n_key,
        .scale = m->scale,
    };
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_attn_mass,
                    .x = a->n_head,
                    .y = a->n_rows,
                    .spec = {key_type(a), a->v_new.dtype, a->head_dim, flags_of(a)},
                },
                &args, sizeof(args));
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_attn_mass_add, .x = a->n_rows}, &args, sizeof(args));
}
