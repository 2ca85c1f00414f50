/* vk_ops_matrix.c - dispatches the ops that multiply by a weight matrix. The formulas are in the .comp files.
 *
 * Decode   a subgroup multiplies R rows of W with up to 8 rows of x. Narrow subgroups have a larger R, so that x is
 *          read no more often. Matrices are read by address or, with a driver that runs on the CPU, through texel
 *          buffers: each program has two forms
 * Prefill  tiles of 8, 16, 32 or 64 rows. With texel buffers prefill uses the program of decode, which is faster on a
 *          CPU than tiles in shared memory
 * Blocks   types that stay in blocks (dequant.glsl) are read by address on every device, because their bytes are not
 *          aligned to texels
 * Paths    is_decode chooses the path, never the number of rows. R, tiles and batches do not change bits */
#include "vk_work.h"

enum { WIDE_W = 1, WIDE_X = 2, WIDE_SCALE = 4, BATCH_MAX = 8, FUSED_GROUPS = 512 };

static uint32_t ceil_div(uint32_t a, uint32_t b) { return a / b + (a % b != 0); }
static bool is_planar(myth_dtype t) { return t == MYTH_Q8_0 || t == MYTH_Q4_0; }

static uint32_t chunk_of(myth_dtype t) { return t == MYTH_F32 ? 4 : t == MYTH_Q8_0 ? 16 : t == MYTH_Q4_0 ? 32 : 8; }

/* How the rows of W can be read (WIDE_*). Planar matrices must be where myth_weight_write puts them, aligned to 16.
 * Types in blocks have no flags. */
static uint32_t weight_flags(myth_stream *s, const char *op, myth_view w, uint32_t n_in)
{
    uint32_t flags = 0;
    if (myth_dtype_is_quant(w.dtype) && !is_planar(w.dtype))
        return 0;
    if (vk_addr(w) % 16 == 0 && n_in % chunk_of(w.dtype) == 0)
        flags |= WIDE_W;
    if (is_planar(w.dtype) && n_in % 128 == 0)
        flags |= WIDE_SCALE;
    if (is_planar(w.dtype) && !(flags & WIDE_W))
        myth_fail(&s->err, MYTH_EARG, "%s: quantised weights at an offset that is not a multiple of 16", op);
    return flags;
}

static uint32_t group_size(const struct vk_device *d) { return d->traits.subgroup > 16 ? 128 : 64; }

static uint32_t batch_of(uint32_t n_rows, uint32_t most)
{
    uint32_t n = 1;
    while (n < n_rows && 2 * n <= most)
        n *= 2;
    return n;
}

/* Rows of W per subgroup, so that a lane has at most 16 sums; on a CPU, which has no registers to run out of, 64. */
static uint32_t rows_of(const struct vk_device *d, uint32_t batch)
{
    if (d->traits.has_texels)
        return batch > 1 ? 8 : 16;
    return batch > 4 ? 2 : batch > 1 ? 4 : d->traits.subgroup > 16 ? 4 : 8;
}

static bool can_use_texels(const struct vk_block *w, const struct vk_block *x, uint32_t flags)
{
    return flags & WIDE_W && w->pairs && x->words;
}

/* Changes the launch to the program's form with texel buffers, where both blocks have views. */
static void use_texels(struct vk_launch *l, enum vk_shader texel, myth_view w, const struct vk_block *x, uint32_t flags)
{
    const struct vk_block *b = vk_block_of(w);
    if (!can_use_texels(b, x, flags))
        return;
    l->shader = texel;
    l->w_block = b;
    l->x_block = x;
}

/* ---- one matrix ---- */

static void run_lanes(myth_stream *s, const struct vk_proj_args *args, myth_view w, myth_view x, uint32_t flags)
{
    const struct vk_device *d = vk_of(s);
    uint32_t batch = batch_of(args->n_rows, BATCH_MAX), rows = rows_of(d, batch),
             n_sub = group_size(d) / d->traits.subgroup;
    struct vk_launch l = {
        .shader = VK_SHADER_proj,
        .x = ceil_div(args->n_out, n_sub * rows),
        .y = ceil_div(args->n_rows, batch),
        .spec = {group_size(d), w.dtype, rows, batch, flags},
    };
    use_texels(&l, VK_SHADER_proj_texel, w, vk_block_of(x), flags);
    vk_dispatch(s, &l, args, sizeof(*args));
}

static void run_tiles(myth_stream *s, const struct vk_proj_args *args, myth_dtype type, uint32_t flags)
{
    uint32_t t_rows = args->n_rows > 32 ? 8 : args->n_rows > 16 ? 4 : args->n_rows > 8 ? 2 : 1;
    bool is_packed = !s->dev->is_exact && type != MYTH_F32;
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_proj_prefill,
                    .x = ceil_div(args->n_out, 64),
                    .y = ceil_div(args->n_rows, 8 * t_rows),
                    .spec = {type, t_rows, flags & (WIDE_W | WIDE_X), is_packed},
                },
                args, sizeof(*args));
}

static void run(myth_stream *s, const struct vk_proj_args *args, myth_view w, myth_view x, uint32_t flags,
                bool is_decode)
{
    if (s->err.code != MYTH_OK)
        return;
    flags |= args->x % 16 == 0 && args->n_in % 4 == 0 ? WIDE_X : 0;
    if (is_decode || can_use_texels(vk_block_of(w), vk_block_of(x), flags))
        run_lanes(s, args, w, x, flags);
    else
        run_tiles(s, args, w.dtype, flags);
}

void vk_proj(myth_stream *s, const struct myth_proj_args *a)
{
    struct vk_proj_args args = {
        .y = vk_addr(a->y),
        .x = vk_addr(a->x),
        .w = vk_addr(a->w),
        .n_rows = a->n_rows,
        .n_in = a->n_in,
        .n_out = a->n_out,
        .y_stride = a->n_out,
        .n_total = a->n_out,
    };
    if (a->n_out)
        run(s, &args, a->w, a->x, weight_flags(s, "proj", a->w, a->n_in), a->is_decode);
}

void vk_head_logits(myth_stream *s, const struct myth_head_logits_args *a)
{
    struct vk_proj_args args = {
        .y = vk_addr(a->y),
        .x = vk_addr(a->x),
        .w = vk_addr(a->w),
        .n_rows = 1,
        .n_in = a->dim,
        .n_out = a->n_vocab,
        .y_stride = a->n_vocab,
        .n_total = a->n_vocab,
        .softcap = a->softcap,
    };
    if (a->n_vocab)
        run(s, &args, a->w, a->x, weight_flags(s, "head_logits", a->w, a->dim), true);
}

/* ---- fused with the norm before ---- */

/* How many rows of x a workgroup keeps in shared memory; 0 = not even one row fits. */
static uint32_t fused_batch(const struct vk_device *d, uint32_t n_rows, uint32_t dim)
{
    enum { BESIDE = 1024 }; /* bytes of other shared variables */
    uint64_t row = ceil_div(dim, 4) * 16ull, fit = (d->traits.shared_bytes - BESIDE) / row;
    return fit ? batch_of(n_rows, fit < BATCH_MAX ? (uint32_t)fit : BATCH_MAX) : 0;
}

/* Groups of outputs per subgroup. Every workgroup norms its rows of x again, so there should not be too many. */
static uint32_t groups_each(uint32_t n_group, uint32_t n_sub) { return ceil_div(n_group, n_sub * FUSED_GROUPS); }

void vk_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a)
{
    const struct vk_device *d = vk_of(s);
    const bool has_k = a->w_k.buf != NULL, has_v = a->w_v.buf != NULL;
    uint32_t batch = fused_batch(d, a->n_rows, a->dim), n_q = a->n_head * a->head_dim,
             n_kv = a->n_head_kv * a->head_dim;
    if (!a->is_decode || !batch || (has_k && a->w_q.dtype != a->w_k.dtype) || (has_v && a->w_q.dtype != a->w_v.dtype)) {
        myth_compose_norm_qkv_rope_store(s, a);
        return;
    }
    uint32_t flags = weight_flags(s, "norm_qkv_rope_store", a->w_q, a->dim);
    flags &= has_k ? weight_flags(s, "norm_qkv_rope_store", a->w_k, a->dim) : flags;
    flags &= has_v ? weight_flags(s, "norm_qkv_rope_store", a->w_v, a->dim) : flags;
    uint32_t rows = rows_of(d, batch), n_sub = group_size(d) / d->traits.subgroup, n_matrix = 1u + has_k + has_v;
    uint32_t n_group = ceil_div(n_q, rows) + (n_matrix - 1) * ceil_div(n_kv, rows);
    struct vk_norm_qkv_rope_store_args args = {
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .w_in = vk_addr(a->w_in),
        .w_q = vk_addr(a->w_q),
        .w_k = vk_addr(a->w_k),
        .w_v = vk_addr(a->w_v),
        .qkv = vk_addr(a->qkv),
        .count = d->activations.addr,
        .n_rows = a->n_rows,
        .dim = a->dim,
        .n_q = n_q,
        .n_kv = n_kv,
        .n_group = groups_each(n_group, n_sub),
        .n_matrix = n_matrix,
        .eps = a->eps,
        .x_scale = vk_x_scale(a->x_scale),
    };
    struct vk_launch l = {
        .shader = VK_SHADER_norm_qkv_rope_store,
        .x = ceil_div(n_group, n_sub * args.n_group),
        .y = ceil_div(a->n_rows, batch),
        .spec = {group_size(d), a->w_q.dtype, rows, batch, flags, batch * ceil_div(a->dim, 4)},
    };
    if ((!has_k || vk_block_of(a->w_k) == vk_block_of(a->w_q)) &&
        (!has_v || vk_block_of(a->w_v) == vk_block_of(a->w_q)))
        use_texels(&l, VK_SHADER_norm_qkv_rope_store_texel, a->w_q, vk_block_of(a->w_q), flags);
    if (s->err.code == MYTH_OK)
        vk_dispatch(s, &l, &args, sizeof(args));
    if (s->err.code == MYTH_OK)
        vk_qkv_rope_store(s, &(struct myth_qkv_rope_store_args){
                                 .qkv = a->qkv,
                                 .n_q = a->n_q,
                                 .n_k = a->n_k,
                                 .rope = a->rope,
                                 .q = a->q,
                                 .k_new = a->k_new,
                                 .v_new = a->v_new,
                                 .n_rows = a->n_rows,
                                 .cap_rows = a->cap_rows,
                                 .n_head = a->n_head,
                                 .n_head_kv = a->n_head_kv,
                                 .head_dim = a->head_dim,
                                 .eps = a->eps,
                                 .q_scale = a->q_scale,
                                 .v_is_k = has_k && !has_v,
                                 .has_v_norm = has_k && a->has_v_norm,
                             });
}

void vk_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a)
{
    const struct vk_device *d = vk_of(s);
    uint32_t batch = fused_batch(d, a->n_rows, a->dim);
    if (!a->is_decode || !batch || a->w_gate.dtype != a->w_up.dtype) {
        myth_compose_norm_ffn_geglu(s, a);
        return;
    }
    uint32_t flags =
        weight_flags(s, "norm_ffn_geglu", a->w_gate, a->dim) & weight_flags(s, "norm_ffn_geglu", a->w_up, a->dim);
    uint32_t rows = rows_of(d, batch), n_sub = group_size(d) / d->traits.subgroup, n_group = ceil_div(a->d_ff, rows);
    struct vk_norm_ffn_geglu_args args = {
        .x = vk_addr(a->x),
        .pend = vk_addr(a->pend),
        .w_post = vk_addr(a->w_post),
        .w = vk_addr(a->w),
        .w_gate = vk_addr(a->w_gate),
        .w_up = vk_addr(a->w_up),
        .h = vk_addr(a->h),
        .count = d->activations.addr,
        .n_rows = a->n_rows,
        .dim = a->dim,
        .d_ff = a->d_ff,
        .n_group = groups_each(n_group, n_sub),
        .eps = a->eps,
        .x_scale = vk_x_scale(a->x_scale),
    };
    struct vk_launch l = {
        .shader = VK_SHADER_norm_ffn_geglu,
        .x = ceil_div(n_group, n_sub * args.n_group),
        .y = ceil_div(a->n_rows, batch),
        .spec = {group_size(d), a->w_gate.dtype, rows, batch, flags, batch * ceil_div(a->dim, 4)},
    };
    if (vk_block_of(a->w_up) == vk_block_of(a->w_gate))
        use_texels(&l, VK_SHADER_norm_ffn_geglu_texel, a->w_gate, vk_block_of(a->w_gate), flags);
    if (s->err.code == MYTH_OK && a->d_ff)
        vk_dispatch(s, &l, &args, sizeof(args));
}

/* ---- experts: rows of one stack of matrices each ---- */

void vk_moe_geglu(myth_stream *s, const struct myth_moe_geglu_args *a)
{
    const struct vk_device *d = vk_of(s);
    uint32_t batch = batch_of(a->n_rows, BATCH_MAX), rows = rows_of(d, batch),
             n_sub = group_size(d) / d->traits.subgroup, n_entry = a->n_rows * a->k;
    uint32_t flags = weight_flags(s, "moe_geglu", a->w_gate, a->dim) & weight_flags(s, "moe_geglu", a->w_up, a->dim);
    struct vk_moe_geglu_args args = {
        .h = vk_addr(a->h),
        .x = vk_addr(a->x),
        .w_gate = vk_addr(a->w_gate),
        .w_up = vk_addr(a->w_up),
        .offset = vk_addr(a->offset),
        .order = vk_addr(a->order),
        .n_in = a->dim,
        .n_out = a->d_ff,
        .n_expert = a->n_expert,
        .share = a->k,
        .expert_rows = a->expert_rows,
        .up_row = a->up_row,
        .n_total = a->n_expert * a->expert_rows,
        .is_by_entry = n_entry < a->n_expert,
    };
    flags |= args.x % 16 == 0 && a->dim % 4 == 0 ? WIDE_X : 0;
    if (s->err.code == MYTH_OK && a->d_ff)
        vk_dispatch(s,
                    &(struct vk_launch){
                        .shader = VK_SHADER_moe_geglu,
                        .x = ceil_div(a->d_ff, n_sub * rows),
                        .y = n_entry < a->n_expert ? n_entry : a->n_expert,
                        .spec = {group_size(d), a->w_gate.dtype, rows, batch, flags},
                    },
                    &args, sizeof(args));
}

void vk_moe_down(myth_stream *s, const struct myth_moe_down_args *a)
{
    enum { COLUMNS = 256 };
    const struct vk_device *d = vk_of(s);
    uint32_t batch = batch_of(a->n_rows, BATCH_MAX), rows = rows_of(d, batch),
             n_sub = group_size(d) / d->traits.subgroup, n_entry = a->n_rows * a->k;
    uint32_t flags = weight_flags(s, "moe_down", a->w, a->d_ff);
    struct vk_moe_down_args args = {
        .part = vk_addr(a->part),
        .x = vk_addr(a->h),
        .w = vk_addr(a->w),
        .offset = vk_addr(a->offset),
        .order = vk_addr(a->order),
        .n_in = a->d_ff,
        .n_out = a->dim,
        .n_expert = a->n_expert,
        .share = 1,
        .n_total = a->n_expert * a->dim,
        .is_by_entry = n_entry < a->n_expert,
    };
    struct vk_moe_add_args add = {
        .y = vk_addr(a->y),
        .part = args.part,
        .weight = vk_addr(a->weight),
        .k = a->k,
        .dim = a->dim,
    };
    flags |= args.x % 16 == 0 && a->d_ff % 4 == 0 ? WIDE_X : 0;
    if (s->err.code != MYTH_OK || !a->dim)
        return;
    vk_dispatch(s,
                &(struct vk_launch){
                    .shader = VK_SHADER_moe_down,
                    .x = ceil_div(a->dim, n_sub * rows),
                    .y = n_entry < a->n_expert ? n_entry : a->n_expert,
                    .spec = {group_size(d), a->w.dtype, rows, batch, flags},
                },
                &args, sizeof(args));
    vk_dispatch(s, &(struct vk_launch){.shader = VK_SHADER_moe_add, .x = a->n_rows, .y = ceil_div(a->dim, COLUMNS)},
                &add, sizeof(add));
}

/* ---- the head ---- */

/* Rows row0 .. row0 + n_rows - 1: computes the logits stripe by stripe and reduces each stripe to the best of its
 * lists, then runs rounds until one list is left. */
static void head_rows(myth_stream *s, const struct myth_head_topk_args *a, const struct vk_head_work *w, uint32_t row0,
                      uint32_t n_rows)
{
    const struct vk_device *d = vk_of(s);
    uint64_t base = d->logits.addr, room = w->n_logit / VK_HEAD_LIST / n_rows;
    uint32_t n_list = vk_head_lists(a->n_vocab), stripe_lists = room < n_list ? (uint32_t)room : n_list;
    uint32_t stripe = stripe_lists * VK_HEAD_LIST, flags = weight_flags(s, "head_topk", a->w, a->dim);
    struct vk_proj_args proj = {
        .y = base,
        .x = vk_addr(a->x) + (uint64_t)row0 * a->dim * sizeof(float),
        .w = vk_addr(a->w),
        .n_rows = n_rows,
        .n_in = a->dim,
        .y_stride = stripe,
        .n_total = myth_head_rows(a),
        .softcap = a->softcap,
    };
    struct vk_head_topk_args args = {
        .given = base,
        .kept = base + w->kept_off[0],
        .stats = base + w->stats_off,
        .mask_idx = vk_addr(a->mask_idx),
        .masks = vk_addr(a->masks),
        .bias_off = vk_addr(a->bias_off),
        .bias_id = vk_addr(a->bias_id),
        .bias = vk_addr(a->bias),
        .ask_id = vk_addr(a->ask_id),
        .ask_logit = vk_addr(a->ask_logit),
        .top_id = vk_addr(a->top_id),
        .top_logit = vk_addr(a->top_logit),
        .lse = vk_addr(a->lse),
        .entropy = vk_addr(a->entropy),
        .row0 = row0,
        .given_stride = stripe,
        .kept_stride = n_list * a->k,
        .n_stat = n_list,
        .n_vocab = a->n_vocab,
        .k = a->k,
        .n_ask = a->n_ask,
    };
    for (uint32_t list = 0; list < n_list; list += stripe_lists) {
        uint32_t first = list * VK_HEAD_LIST, n = a->n_vocab - first < stripe ? a->n_vocab - first : stripe;
        proj.row0 = first;
        proj.n_out = args.n_in = n;
        args.list0 = list;
        run(s, &proj, a->w, a->x, flags, a->is_decode);
        vk_dispatch(s,
                    &(struct vk_launch){
                        .shader = VK_SHADER_head_topk,
                        .x = vk_head_lists(n),
                        .y = n_rows,
                        .spec = {true, n_list == 1},
                    },
                    &args, sizeof(args));
    }
    args.list0 = 0;
    for (uint32_t round = 1; n_list > 1; round++) {
        args.n_in = n_list * a->k;
        n_list = vk_head_lists(args.n_in);
        args.given = args.kept;
        args.given_stride = args.kept_stride;
        args.kept = base + w->kept_off[round % 2];
        args.kept_stride = n_list * a->k;
        vk_dispatch(
            s,
            &(struct vk_launch){.shader = VK_SHADER_head_topk, .x = n_list, .y = n_rows, .spec = {false, n_list == 1}},
            &args, sizeof(args));
    }
}

void vk_head_topk(myth_stream *s, const struct myth_head_topk_args *a)
{
    struct vk_head_work w = vk_head_work_of(&s->dev->shape);
    for (uint32_t row0 = 0; row0 < a->n_rows && s->err.code == MYTH_OK; row0 += w.n_rows)
        head_rows(s, a, &w, row0, a->n_rows - row0 < w.n_rows ? a->n_rows - row0 : w.n_rows);
}
