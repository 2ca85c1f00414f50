/* op_check.c - checks the arguments of every op, once for all devices: shapes, types, alignment, room in the buffers.
 *
 * A check returns true when the op may run. A wrong argument leaves MYTH_EARG in the stream, with a message that names
 * the op and the argument, and the op does not run. For an op with no rows or bytes the check returns false without a
 * failure.
 */
#include "op_impl.h"

enum {
    F32 = 1 << MYTH_F32,
    I32 = 1 << MYTH_I32,
    CACHE = 1 << MYTH_F32 | 1 << MYTH_F16 | 1 << MYTH_BF16 | 1 << MYTH_Q8_0,
    WEIGHT = ((1 << MYTH_DTYPE_N) - 1) & ~I32,
};

struct check {
    myth_stream *s;
    const char *op;
};

static bool refuse(struct check c, const char *what)
{
    if (c.s->err.code == MYTH_OK)
        myth_fail(&c.s->err, MYTH_EARG, "%s: %s", c.op, what);
    return false;
}

/* Checks that the view is given, has one of the types, is aligned to its elements, and has room for [n_row, n]. */
static bool has(struct check c, const char *name, myth_view v, unsigned types, uint64_t n_row, uint64_t n)
{
    if (c.s->err.code != MYTH_OK)
        return false;
    if (!v.buf || v.buf->dev != c.s->dev) {
        myth_fail(&c.s->err, MYTH_EARG, "%s: %s is not given, or lives on another device", c.op, name);
        return false;
    }
    if ((unsigned)v.dtype >= MYTH_DTYPE_N || !(types & (1u << v.dtype))) {
        myth_fail(&c.s->err, MYTH_EARG, "%s: %s has type %d", c.op, name, (int)v.dtype);
        return false;
    }
    uint32_t block = myth_dtype_block(v.dtype), align = v.dtype == MYTH_F32 || v.dtype == MYTH_I32 ? 4 : 2;
    if (v.off % align || n % block) {
        myth_fail(&c.s->err, MYTH_EARG,
                  "%s: %s: offset %llu or width %llu breaks the type's alignment (%u bytes, %u elements)", c.op, name,
                  (unsigned long long)v.off, (unsigned long long)n, align, block);
        return false;
    }
    uint64_t row = myth_row_bytes(v.dtype, n), room = v.off <= v.buf->bytes ? v.buf->bytes - v.off : 0;
    if (v.off > v.buf->bytes || (row && n_row > room / row)) {
        myth_fail(&c.s->err, MYTH_EARG, "%s: %s: [%llu, %llu] at offset %llu does not fit the buffer of %llu bytes",
                  c.op, name, (unsigned long long)n_row, (unsigned long long)n, (unsigned long long)v.off,
                  (unsigned long long)v.buf->bytes);
        return false;
    }
    return true;
}

static bool has_or_none(struct check c, const char *name, myth_view v, unsigned types, uint64_t n_row, uint64_t n)
{
    return v.buf ? has(c, name, v, types, n_row, n) : c.s->err.code == MYTH_OK;
}

/* Checks that rows and width are within the shape that the device was reserved for. */
static bool in_shape(struct check c, uint32_t n_rows, uint64_t width)
{
    const myth_work_shape *w = &c.s->dev->shape;
    uint64_t most = (uint64_t)w->n_head * w->head_dim;
    most = most > w->d_model ? most : w->d_model;
    most = most > w->d_ff ? most : w->d_ff;
    uint32_t rows = w->n_rows > w->n_logit_rows ? w->n_rows : w->n_logit_rows;
    if (n_rows <= rows && width <= most)
        return true;
    if (c.s->err.code == MYTH_OK)
        myth_fail(&c.s->err, MYTH_EARG, "%s: %u rows of width %llu; the device was reserved for %u of %llu", c.op,
                  n_rows, (unsigned long long)width, rows, (unsigned long long)most);
    return false;
}

static bool has_prologue(struct check c, myth_view x, myth_view pend, myth_view w_post, uint32_t n_rows, uint32_t dim)
{
    return (dim > 0 || refuse(c, "dim is 0")) && has(c, "x", x, F32, n_rows, dim) &&
           has_or_none(c, "pend", pend, F32, n_rows, dim) && has_or_none(c, "w_post", w_post, F32, 1, dim);
}

static bool has_heads(struct check c, uint32_t n_head, uint32_t n_head_kv, uint32_t head_dim)
{
    const myth_work_shape *w = &c.s->dev->shape;
    if (!n_head_kv || n_head % n_head_kv)
        return refuse(c, "n_head is not a multiple of n_head_kv");
    if (!head_dim || head_dim % 2)
        return refuse(c, "head_dim is not even");
    if (n_head > w->n_head || n_head_kv > w->n_head_kv || head_dim > w->head_dim)
        return refuse(c, "more or wider heads than reserved");
    return c.s->err.code == MYTH_OK;
}

/* Checks where the cache of one layer is. k is the scratch of the keys; where it is not given, the layer caches values
 * only. may_lack: there may be no cache. */
static bool has_place(struct check c, const struct myth_kv_place *kv, myth_view k, myth_view v, uint32_t n_head_kv,
                      uint32_t head_dim, bool may_lack)
{
    if (!has(c, "table", kv->table, I32, kv->n_entry, 2))
        return false;
    if (!kv->page_tok || !kv->n_entry)
        return refuse(c, "a page of no tokens or a table of no entries");
    if (!kv->page_bytes && !kv->pool.buf)
        return may_lack || refuse(c, "the pool does not hold a page");
    uint64_t rows = (uint64_t)n_head_kv * kv->page_tok;
    uint64_t bytes = rows * ((k.buf ? myth_row_bytes(k.dtype, head_dim) : 0) + myth_row_bytes(v.dtype, head_dim));
    if (kv->layer_off > kv->page_bytes || bytes > kv->page_bytes - kv->layer_off)
        return refuse(c, "a layer's keys and values end past the page");
    if (!kv->pool.buf || kv->pool.buf->dev != c.s->dev || kv->pool.off > kv->pool.buf->bytes ||
        kv->page_bytes > kv->pool.buf->bytes - kv->pool.off)
        return refuse(c, "the pool does not hold a page");
    return true;
}

#define CHECK(name) bool myth_check_##name(myth_stream *s, const struct myth_##name##_args *a)

CHECK(embed_gather)
{
    struct check c = {s, "embed_gather"};
    return in_shape(c, a->n_rows, a->dim) && has(c, "y", a->y, F32, a->n_rows, a->dim) &&
           has(c, "table", a->table, WEIGHT, a->n_vocab, a->dim) && has(c, "ids", a->ids, I32, a->n_rows, 1) &&
           a->n_rows;
}

CHECK(rope_table)
{
    struct check c = {s, "rope_table"};
    if (a->head_dim % 2 || a->n_pair > a->head_dim / 2 || !(a->base > 0.0) || !(a->factor > 0.0))
        return refuse(c, "head_dim even, n_pair <= head_dim / 2, base and factor > 0 expected");
    return in_shape(c, a->n_rows, 0) && has(c, "table", a->table, F32, a->n_rows, a->head_dim) &&
           has(c, "pos", a->pos, I32, a->n_rows, 1) && a->n_rows;
}

CHECK(rms_norm)
{
    struct check c = {s, "rms_norm"};
    return in_shape(c, a->n_rows, a->dim) && has_prologue(c, a->x, a->pend, a->w_post, a->n_rows, a->dim) &&
           has(c, "y", a->y, F32, a->n_rows, a->dim) && has(c, "w", a->w, F32, 1, a->dim) && a->n_rows;
}

/* Checks what is added to a matrix; NULL is nothing. */
static bool has_low(struct check c, const struct myth_low_rank *l, uint32_t n_rows, uint64_t n_in, uint64_t n_out)
{
    return !l || ((l->rank || refuse(c, "low-rank matrices of rank 0")) && has(c, "low.a", l->a, F32, l->rank, n_in) &&
                  has(c, "low.b", l->b, F32, l->rank, n_out) && has(c, "low.t", l->t, F32, n_rows, l->rank));
}

CHECK(add_low_rank)
{
    struct check c = {s, "add_low_rank"};
    return in_shape(c, a->n_rows, 0) && has(c, "y", a->y, F32, a->n_rows, a->n_out) &&
           has(c, "b", a->b, F32, a->rank, a->n_out) && has(c, "t", a->t, F32, a->n_rows, a->rank) && a->n_rows &&
           a->n_out;
}

CHECK(proj)
{
    struct check c = {s, "proj"};
    return in_shape(c, a->n_rows, a->n_in) && has(c, "y", a->y, F32, a->n_rows, a->n_out) &&
           has(c, "x", a->x, F32, a->n_rows, a->n_in) && has(c, "w", a->w, WEIGHT, a->n_out, a->n_in) &&
           has_low(c, a->low, a->n_rows, a->n_in, a->n_out) && a->n_rows;
}

/* Checks what norm_qkv_rope_store and qkv_rope_store have in common: heads, rope, q and the scratch. */
static bool has_store(struct check c, const struct myth_qkv_rope_store_args *a)
{
    const bool has_k = a->k_new.buf != NULL, has_v = a->v_new.buf != NULL;
    const uint64_t n_kv = (uint64_t)a->n_head_kv * a->cap_rows;
    if (!has_k && (a->n_k.buf || (has_v && !(a->v_is_k && a->has_v_norm))))
        return refuse(c, "n_k without k_new, or keys to be folded that are not the norm of v");
    if (has_k && !has_v)
        return refuse(c, "k_new without v_new");
    if (a->has_v_norm && a->head_dim > MYTH_V_NORM_MAX)
        return refuse(c, "head_dim above 1024 with a norm of v");
    return has_heads(c, a->n_head, a->n_head_kv, a->head_dim) &&
           (a->n_rows <= a->cap_rows || refuse(c, "more rows than cap_rows")) &&
           has_or_none(c, "n_q", a->n_q, F32, 1, a->head_dim) && has_or_none(c, "n_k", a->n_k, F32, 1, a->head_dim) &&
           has(c, "rope", a->rope, F32, a->n_rows, a->head_dim) &&
           has(c, "qkv", a->qkv, F32, (uint64_t)a->n_rows * (a->n_head + (has_v ? 2ull * a->n_head_kv : 0)),
               a->head_dim) &&
           has(c, "q", a->q, F32, (uint64_t)a->n_rows * a->n_head, a->head_dim) &&
           has_or_none(c, "k_new", a->k_new, CACHE, n_kv, a->head_dim) &&
           has_or_none(c, "v_new", a->v_new, CACHE, n_kv, a->head_dim);
}

struct myth_qkv_rope_store_args myth_store_part_of(const struct myth_norm_qkv_rope_store_args *a)
{
    return (struct myth_qkv_rope_store_args){
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
        .v_is_k = a->w_k.buf && !a->w_v.buf,
        .has_v_norm = a->has_v_norm && a->w_k.buf,
    };
}

CHECK(norm_qkv_rope_store)
{
    struct check c = {s, "norm_qkv_rope_store"};
    const struct myth_qkv_rope_store_args store = myth_store_part_of(a);
    const uint64_t n_kv = (uint64_t)a->n_head_kv * a->head_dim;
    if (!a->w_k.buf != !a->v_new.buf || (a->w_v.buf && !a->w_k.buf))
        return refuse(c, "w_k and v_new both or neither expected, and w_v only with them");
    return in_shape(c, a->n_rows, a->dim) && has_prologue(c, a->x, a->pend, a->w_post, a->n_rows, a->dim) &&
           has_store(c, &store) && has(c, "w_in", a->w_in, F32, 1, a->dim) &&
           has(c, "xn", a->xn, F32, a->n_rows, a->dim) &&
           has(c, "w_q", a->w_q, WEIGHT, (uint64_t)a->n_head * a->head_dim, a->dim) &&
           has_or_none(c, "w_k", a->w_k, WEIGHT, n_kv, a->dim) && has_or_none(c, "w_v", a->w_v, WEIGHT, n_kv, a->dim) &&
           has_low(c, a->low_q, a->n_rows, a->dim, (uint64_t)a->n_head * a->head_dim) &&
           has_low(c, a->low_k, a->n_rows, a->dim, n_kv) && has_low(c, a->low_v, a->n_rows, a->dim, n_kv) && a->n_rows;
}

CHECK(qkv_rope_store)
{
    struct check c = {s, "qkv_rope_store"};
    return in_shape(c, a->n_rows, 0) && has_store(c, a) && a->n_rows;
}

/* Checks the keys: they are stored, or attention makes them from the values (myth_key_fold). */
static bool has_keys(struct check c, const struct myth_attn_args *a)
{
    if (!a->fold.w.buf)
        return has(c, "k_new", a->k_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim);
    if (!c.s->dev->shape.folds_keys)
        return refuse(c, "the device was not reserved for keys that are folded");
    return (!a->k_new.buf || refuse(c, "k_new beside keys that are folded")) &&
           (a->fold.n_pair <= a->head_dim / 2 || refuse(c, "more pairs than head_dim / 2")) &&
           ((a->fold.base > 0.0 && a->fold.factor > 0.0) || refuse(c, "base and factor > 0 expected")) &&
           has(c, "fold.w", a->fold.w, F32, 1, a->head_dim) &&
           (!a->fold.n_table || has(c, "fold.table", a->fold.table, F32, a->fold.n_table, 2ull * a->fold.n_pair));
}

static bool check_attn(struct check c, const struct myth_attn_args *a, bool may_lack)
{
    return in_shape(c, a->n_rows, 0) && has_heads(c, a->n_head, a->n_head_kv, a->head_dim) &&
           has(c, "o", a->o, F32, (uint64_t)a->n_rows * a->n_head, a->head_dim) &&
           has(c, "q", a->q, F32, (uint64_t)a->n_rows * a->n_head, a->head_dim) && has_keys(c, a) &&
           has(c, "v_new", a->v_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim) &&
           has(c, "runs", a->runs, I32, a->merges ? a->n_rows : 1, MYTH_RUN_WIDTH) &&
           has(c, "row_run", a->row_run, I32, a->n_rows, 1) && has(c, "pos", a->pos, I32, a->n_rows, 1) &&
           has_place(c, &a->kv, a->k_new, a->v_new, a->n_head_kv, a->head_dim, may_lack) &&
           (a->softcap >= 0.0f || refuse(c, "softcap is negative")) && a->n_rows;
}

CHECK(attn_prefill)
{
    struct check c = {s, "attn_prefill"};
    return (!a->merges || refuse(c, "merges is for attn_decode")) && check_attn(c, a, true);
}
CHECK(attn_decode)
{
    struct check c = {s, "attn_decode"};
    return (!a->n_after || refuse(c, "n_after is for attn_prefill")) && check_attn(c, a, false);
}

CHECK(attn_mass)
{
    struct check c = {s, "attn_mass"};
    const struct myth_attn_args *b = &a->attn;
    return (!b->merges || refuse(c, "merges is for attn_decode")) && (!b->fold.w.buf || refuse(c, "keys are folded")) &&
           check_attn(c, b, true) && (a->first <= UINT32_MAX - a->n_key || refuse(c, "keys past the last position")) &&
           has(c, "mass", a->mass, F32, b->n_rows, a->n_key) &&
           has(c, "part", a->part, F32, (uint64_t)b->n_rows * b->n_head, a->n_key) && a->n_key;
}

CHECK(kv_merge)
{
    struct check c = {s, "kv_merge"};
    return in_shape(c, a->n_run, 0) && has_heads(c, a->n_head_kv, a->n_head_kv, a->head_dim) &&
           has_or_none(c, "k_new", a->k_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim) &&
           has(c, "v_new", a->v_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim) &&
           has(c, "runs", a->runs, I32, a->n_run, MYTH_RUN_WIDTH) &&
           has_place(c, &a->kv, a->k_new, a->v_new, a->n_head_kv, a->head_dim, false) && a->n_run;
}

CHECK(norm_ffn_geglu)
{
    struct check c = {s, "norm_ffn_geglu"};
    return in_shape(c, a->n_rows, a->dim) && in_shape(c, a->n_rows, a->d_ff) &&
           has_prologue(c, a->x, a->pend, a->w_post, a->n_rows, a->dim) && has(c, "w", a->w, F32, 1, a->dim) &&
           has(c, "xn", a->xn, F32, a->n_rows, a->dim) && has(c, "up", a->up, F32, a->n_rows, a->d_ff) &&
           has(c, "h", a->h, F32, a->n_rows, a->d_ff) && has(c, "w_gate", a->w_gate, WEIGHT, a->d_ff, a->dim) &&
           has(c, "w_up", a->w_up, WEIGHT, a->d_ff, a->dim) && has_low(c, a->low_gate, a->n_rows, a->dim, a->d_ff) &&
           has_low(c, a->low_up, a->n_rows, a->dim, a->d_ff) && a->n_rows;
}

CHECK(geglu)
{
    struct check c = {s, "geglu"};
    return in_shape(c, a->n_rows, a->d_ff) && has(c, "h", a->h, F32, a->n_rows, a->d_ff) &&
           has(c, "g", a->g, F32, a->n_rows, a->d_ff) && has(c, "up", a->up, F32, a->n_rows, a->d_ff) && a->n_rows;
}

CHECK(gather_norm)
{
    struct check c = {s, "gather_norm"};
    return in_shape(c, a->n_gather, a->dim) && has_prologue(c, a->x, a->pend, a->w_post, 1, a->dim) &&
           has(c, "y", a->y, F32, a->n_gather, a->dim) && has_or_none(c, "w", a->w, F32, 1, a->dim) &&
           has(c, "rows", a->rows, I32, a->n_gather, 1) && a->n_gather;
}

CHECK(head_topk)
{
    struct check c = {s, "head_topk"};
    const myth_work_shape *w = &s->dev->shape;
    if (a->n_rows > w->n_logit_rows || a->k > w->top_k || a->n_vocab > w->n_vocab || a->dim > w->d_model)
        return refuse(c, "rows, k, vocabulary or width beyond the reserved shape");
    if (myth_head_rows(a) < a->n_vocab)
        return refuse(c, "more ids to choose from than rows of w");
    if (!a->k || a->k > MYTH_TOPK_MAX || !(a->softcap >= 0.0f))
        return refuse(c, "k in 1..1024 and softcap >= 0 expected");
    if (a->bias_off.buf && !(has(c, "bias_off", a->bias_off, I32, 1, a->n_rows + 1ull) &&
                             has(c, "bias_id", a->bias_id, I32, 0, 1) && has(c, "bias", a->bias, F32, 0, 1)))
        return false;
    if (a->mask_idx.buf &&
        !(has(c, "mask_idx", a->mask_idx, I32, a->n_rows, 1) && has(c, "masks", a->masks, I32, 0, 1)))
        return false;
    if (a->n_ask && !(has(c, "ask_id", a->ask_id, I32, a->n_rows, a->n_ask) &&
                      has(c, "ask_logit", a->ask_logit, F32, a->n_rows, a->n_ask)))
        return false;
    return has(c, "x", a->x, F32, a->n_rows, a->dim) && has(c, "w", a->w, WEIGHT, myth_head_rows(a), a->dim) &&
           has(c, "top_id", a->top_id, I32, a->n_rows, a->k) &&
           has(c, "top_logit", a->top_logit, F32, a->n_rows, a->k) && has(c, "lse", a->lse, F32, a->n_rows, 1) &&
           has(c, "entropy", a->entropy, F32, a->n_rows, 1) && a->n_rows;
}

CHECK(head_logits)
{
    struct check c = {s, "head_logits"};
    return in_shape(c, 1, a->dim) && has(c, "y", a->y, F32, 1, a->n_vocab) && has(c, "x", a->x, F32, 1, a->dim) &&
           has(c, "w", a->w, WEIGHT, a->n_vocab, a->dim) && (a->softcap >= 0.0f || refuse(c, "softcap is negative"));
}

CHECK(decode_next)
{
    struct check c = {s, "decode_next"};
    return in_shape(c, a->n_rows, 0) &&
           (a->k >= 1 && a->k <= MYTH_TOPK_MAX && a->n_out
                ? true
                : refuse(c, "k from 1 to 1,024 and n_out of 1 at least expected")) &&
           (a->sample.repeat_penalty == 0.0f || a->sample.repeat_penalty == 1.0f ||
            refuse(c, "penalties are not for the device")) &&
           has(c, "top_id", a->top_id, I32, a->n_rows, a->k) &&
           has(c, "top_logit", a->top_logit, F32, a->n_rows, a->k) && has(c, "ids", a->ids, I32, a->n_rows, 1) &&
           has(c, "pos", a->pos, I32, a->n_rows, 1) && has(c, "runs", a->runs, I32, a->n_rows, MYTH_RUN_WIDTH) &&
           has(c, "out", a->out, I32, a->n_out, a->n_rows) && has(c, "step", a->step, I32, 1, 1) &&
           (a->n_stop == 0 || has(c, "stop_id", a->stop_id, I32, 1, a->n_stop)) && a->n_rows;
}

CHECK(copy)
{
    struct check c = {s, "copy"};
    const myth_view *v[2] = {&a->dst, &a->src};
    for (int i = 0; i < 2; i++)
        if (!v[i]->buf || v[i]->buf->dev != s->dev || v[i]->off > v[i]->buf->bytes ||
            a->bytes > v[i]->buf->bytes - v[i]->off)
            return refuse(c, "the bytes do not fit both views");
    return a->bytes > 0;
}

CHECK(capture_sum)
{
    struct check c = {s, "capture_sum"};
    return in_shape(c, a->n_gather, a->dim) && has_prologue(c, a->x, a->pend, a->w_post, 1, a->dim) &&
           (a->n_label > 0 || refuse(c, "no labels")) && has(c, "sum", a->sum, I32, a->n_label, 2 * (uint64_t)a->dim) &&
           has(c, "bad", a->bad, I32, 1, 1) && has(c, "rows", a->rows, I32, a->n_gather, 1) &&
           has(c, "label", a->label, I32, a->n_gather, 1) && a->n_gather;
}

CHECK(ple_merge)
{
    struct check c = {s, "ple_merge"};
    uint64_t width = (uint64_t)a->n_layer * a->n_ple;
    return in_shape(c, a->n_rows, a->n_ple) &&
           (width <= UINT32_MAX && a->n_ple ? true : refuse(c, "layers times width out of range")) &&
           (a->n_table || refuse(c, "a table of no rows")) && has(c, "p", a->p, F32, a->n_rows, width) &&
           has(c, "w", a->w, F32, 1, a->n_ple) &&
           has(c, "table", a->table, a->ids.buf ? WEIGHT : F32, a->ids.buf ? a->n_table : a->n_rows, width) &&
           has_or_none(c, "ids", a->ids, I32, a->n_rows, 1) && a->n_rows;
}

CHECK(ple_gate)
{
    struct check c = {s, "ple_gate"};
    return in_shape(c, a->n_rows, a->dim) && in_shape(c, a->n_rows, a->n_ple) &&
           has_prologue(c, a->x, a->pend, a->w_post, a->n_rows, a->dim) &&
           has(c, "w", a->w, WEIGHT, a->n_ple, a->dim) && (a->p_stride >= a->n_ple || refuse(c, "rows of p overlap")) &&
           has(c, "p", a->p, F32, 1, a->n_rows ? (uint64_t)(a->n_rows - 1) * a->p_stride + a->n_ple : 0) &&
           has(c, "xn", a->xn, F32, a->n_rows, a->dim) && has(c, "h", a->h, F32, a->n_rows, a->n_ple) && a->n_rows;
}

static bool has_experts(struct check c, myth_view offset, myth_view order, uint32_t n_rows, uint32_t n_expert,
                        uint32_t k)
{
    if (!n_expert || n_expert > MYTH_EXPERT_MAX || !k || k > n_expert || k > MYTH_EXPERT_USED_MAX)
        return refuse(c, "1 to 1024 experts and 1 to 32 of them a row expected");
    return in_shape(c, n_rows, 0) && has(c, "offset", offset, I32, 1, n_expert + 1ull) &&
           has(c, "order", order, I32, n_rows, k);
}

CHECK(moe_route)
{
    struct check c = {s, "moe_route"};
    return has_experts(c, a->offset, a->order, a->n_rows, a->n_expert, a->k) &&
           has(c, "logits", a->logits, F32, a->n_rows, a->n_expert) &&
           has_or_none(c, "expert_scale", a->expert_scale, F32, 1, a->n_expert) &&
           has(c, "id", a->id, I32, a->n_rows, a->k) && has(c, "weight", a->weight, F32, a->n_rows, a->k) && a->n_rows;
}

CHECK(moe_geglu)
{
    struct check c = {s, "moe_geglu"};
    if (a->up_row > a->expert_rows || a->expert_rows - a->up_row < a->d_ff ||
        (uint64_t)a->n_expert * a->expert_rows > UINT32_MAX)
        return refuse(c, "up_row + d_ff within expert_rows, and less than 2^32 rows expected");
    return has_experts(c, a->offset, a->order, a->n_rows, a->n_expert, a->k) && in_shape(c, a->n_rows, a->dim) &&
           in_shape(c, a->n_rows, a->d_ff) && has(c, "h", a->h, F32, (uint64_t)a->n_rows * a->k, a->d_ff) &&
           has(c, "x", a->x, F32, a->n_rows, a->dim) &&
           has(c, "w_gate", a->w_gate, WEIGHT, (uint64_t)a->n_expert * a->expert_rows, a->dim) &&
           has(c, "w_up", a->w_up, WEIGHT, (uint64_t)a->n_expert * a->expert_rows, a->dim) &&
           (a->w_up.dtype == a->w_gate.dtype || refuse(c, "gate and up of two types")) && a->n_rows;
}

CHECK(moe_down)
{
    struct check c = {s, "moe_down"};
    if ((uint64_t)a->n_expert * a->dim > UINT32_MAX)
        return refuse(c, "less than 2^32 rows expected");
    return has_experts(c, a->offset, a->order, a->n_rows, a->n_expert, a->k) && in_shape(c, a->n_rows, a->dim) &&
           in_shape(c, a->n_rows, a->d_ff) && has(c, "y", a->y, F32, a->n_rows, a->dim) &&
           has(c, "h", a->h, F32, (uint64_t)a->n_rows * a->k, a->d_ff) &&
           has(c, "w", a->w, WEIGHT, (uint64_t)a->n_expert * a->dim, a->d_ff) &&
           has(c, "weight", a->weight, F32, a->n_rows, a->k) &&
           has(c, "part", a->part, F32, (uint64_t)a->n_rows * a->k, a->dim) && a->n_rows;
}

static bool has_streams(struct check c, myth_view x, uint32_t n_stream, uint32_t active, uint32_t n_rows, uint32_t dim)
{
    return (dim > 0 || refuse(c, "dim is 0")) &&
           ((n_stream > 1 && n_stream <= MYTH_STREAM_MAX && active < n_stream) ||
            refuse(c, "2 to 8 streams and one of them active expected")) &&
           in_shape(c, n_rows, dim) && has(c, "x", x, F32, (uint64_t)n_stream * n_rows, dim);
}

CHECK(altup_predict)
{
    struct check c = {s, "altup_predict"};
    return has_streams(c, a->x, a->n_stream, a->active, a->n_rows, a->dim) &&
           has_or_none(c, "pend", a->pend, F32, a->n_rows, a->dim) &&
           has_or_none(c, "w_post", a->w_post, F32, 1, a->dim) &&
           (!a->coef.buf ||
            (has(c, "w_route", a->w_route, F32, 1, a->dim) && has(c, "router", a->router, F32, a->n_stream, a->dim) &&
             has(c, "coef", a->coef, F32, (uint64_t)a->n_stream * a->n_stream, a->n_stream) &&
             has(c, "xn", a->xn, F32, a->n_rows, a->dim) && has(c, "w_in", a->w_in, F32, 1, a->dim))) &&
           a->n_rows;
}

CHECK(altup_correct)
{
    struct check c = {s, "altup_correct"};
    return has_streams(c, a->x, a->n_stream, a->active, a->n_rows, a->dim) &&
           has(c, "u", a->u, F32, a->n_rows, a->dim) && has_or_none(c, "pend", a->pend, F32, a->n_rows, a->dim) &&
           has_or_none(c, "w_post", a->w_post, F32, 1, a->dim) && has(c, "w_route", a->w_route, F32, 1, a->dim) &&
           has(c, "router", a->router, F32, a->n_stream, a->dim) &&
           has(c, "coef", a->coef, F32, a->n_stream, a->n_stream) && has(c, "gate", a->gate, F32, a->n_rows, a->dim) &&
           has_or_none(c, "w_gate", a->w_gate, F32, 1, a->dim) && a->n_rows;
}

CHECK(altup_match)
{
    struct check c = {s, "altup_match"};
    return (a->dim > 0 || refuse(c, "dim is 0")) &&
           ((a->n_u && a->n_u < MYTH_STREAM_MAX) || refuse(c, "1 to 7 further streams expected")) &&
           in_shape(c, a->n_rows, a->dim) && has_or_none(c, "y", a->y, F32, a->n_rows, a->dim) &&
           has(c, "x", a->x, F32, a->n_rows, a->dim) && has(c, "u", a->u, F32, (uint64_t)a->n_u * a->n_rows, a->dim) &&
           a->n_rows;
}

CHECK(laurel_merge)
{
    struct check c = {s, "laurel_merge"};
    return (a->dim > 0 || refuse(c, "dim is 0")) && in_shape(c, a->n_rows, a->dim) &&
           has(c, "u", a->u, F32, a->n_rows, a->dim) && has(c, "x", a->x, F32, a->n_rows, a->dim) &&
           has(c, "xn", a->xn, F32, a->n_rows, a->dim) && has(c, "attn", a->attn, F32, a->n_rows, a->dim) &&
           has(c, "laurel", a->laurel, F32, a->n_rows, a->dim) && has(c, "w_attn", a->w_attn, F32, 1, a->dim) &&
           has(c, "w_laurel", a->w_laurel, F32, 1, a->dim) && a->n_rows;
}

CHECK(geglu_sparse)
{
    struct check c = {s, "geglu_sparse"};
    return (a->d_ff > 0 || refuse(c, "d_ff is 0")) && in_shape(c, a->n_rows, a->d_ff) &&
           has(c, "h", a->h, F32, a->n_rows, a->d_ff) && has(c, "g", a->g, F32, a->n_rows, a->d_ff) &&
           has(c, "up", a->up, F32, a->n_rows, a->d_ff) && a->n_rows;
}
