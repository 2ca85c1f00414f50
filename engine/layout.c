/* layout.c - sizes of every block, from the headers and the options alone. */
#include "layout.h"

#include "engine_impl.h"

const myth_mem_class myth_buf_class[MYTH_BUF_N] = {
#define BUF(name, cls) cls,
    MYTH_BUFFERS(BUF)
#undef BUF
};
const char *const myth_buf_name[MYTH_BUF_N] = {
#define BUF(name, cls) #name,
    MYTH_BUFFERS(BUF)
#undef BUF
};
const myth_mem_class myth_host_class[MYTH_HOST_N] = {
#define HOST(name, cls) cls,
    MYTH_HOST_BLOCKS(HOST)
#undef HOST
};
const char *const myth_host_name[MYTH_HOST_N] = {
#define HOST(name, cls) #name,
    MYTH_HOST_BLOCKS(HOST)
#undef HOST
};

enum { DEFAULT_CTX = 4096, DEFAULT_UBATCH = 512, PAGE_TOK = 64 };

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t div_up(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b - 1) / b); }

/* Rows of a page: near 64, with as few rows as possible unused in the last page; a divisor of the context leaves none. */
static uint32_t choose_page_tok(uint32_t n_ctx)
{
    uint32_t best = PAGE_TOK, least = UINT32_MAX;
    if (n_ctx <= PAGE_TOK)
        return n_ctx;
    for (uint32_t away = 0; away < PAGE_TOK; away++)
        for (uint32_t side = 0; side < 2 && (side == 0 || away < PAGE_TOK / 2); side++) {
            uint32_t tok = side ? PAGE_TOK - away : PAGE_TOK + away, waste = div_up(n_ctx, tok) * tok - n_ctx;
            if (waste < least) {
                least = waste;
                best = tok;
            }
        }
    return best;
}

static myth_status fill_defaults(myth_engine_opts *o, const myth_model *m, myth_error *err)
{
    const myth_config *c = &m->config;
    if (o->n_ctx == 0)
        o->n_ctx = min_u32(DEFAULT_CTX, c->n_ctx_train);
    if (o->n_ctx > c->n_ctx_train)
        return myth_fail(err, MYTH_EARG, "-c %u: the model was made for %u tokens", o->n_ctx, c->n_ctx_train);
    o->n_seq = max_u32(o->n_seq, 1);
    if (o->n_seq > 4096 || o->n_checkpoint > 4096)
        return myth_fail(err, MYTH_EARG, "--parallel %u: at most 4096 sequences and checkpoints", o->n_seq);
    uint64_t all = (uint64_t)o->n_ctx * o->n_seq;
    if (o->n_ubatch == 0)
        o->n_ubatch = DEFAULT_UBATCH;
    if (o->n_ubatch > 65536)
        return myth_fail(err, MYTH_EARG, "-ub %u: at most 65536", o->n_ubatch);
    if (o->n_ubatch > all)
        o->n_ubatch = (uint32_t)all;
    if (o->n_logit_rows == 0)
        o->n_logit_rows = o->n_seq;
    if (o->top_k == 0)
        o->top_k = 1;
    if (o->top_k > MYTH_TOPK_MAX)
        return myth_fail(err, MYTH_EARG, "top-k %u: at most %d", o->top_k, MYTH_TOPK_MAX);
    o->top_k = min_u32(o->top_k, c->n_vocab);
    if (!o->has_cache_type)
        o->type_k = o->type_v = o->is_exact ? MYTH_F32 : MYTH_F16;
    o->has_cache_type = true;
    for (int i = 0; i < 2; i++) {
        myth_dtype t = i ? o->type_v : o->type_k;
        if (t != MYTH_F32 && t != MYTH_F16 && t != MYTH_BF16 && t != MYTH_Q8_0)
            return myth_fail(err, MYTH_EARG, "cache type %s: f32, f16, bf16 or q8_0", myth_dtype_get(t)->name);
        for (uint32_t l = 0; l < c->n_layer; l++)
            if (c->layer[l].head_dim % myth_dtype_block(t))
                return myth_fail(err, MYTH_EARG, "cache type %s: head_dim %u is not a multiple of %u", myth_dtype_get(t)->name,
                                 c->layer[l].head_dim, myth_dtype_block(t));
    }
    if (o->page_tok == 0)
        o->page_tok = choose_page_tok(o->n_ctx);
    o->page_tok = min_u32(o->page_tok, o->n_ctx);
    if (!o->device)
        o->device = "auto";
    return MYTH_OK;
}

static void size_cache(myth_layout *y, const myth_config *c)
{
    const myth_engine_opts *o = &y->opts;
    bool has_global = false, has_local = false;
    y->page_tok = o->page_tok;
    y->ring_tok = min_u32(o->n_ctx, c->window ? c->window : o->n_ctx);
    for (uint32_t l = 0; l < c->n_layer; l++) {
        const myth_layer_config *lc = &c->layer[l];
        if (lc->kv_source != l)
            continue;                                              /* reads another layer's rows, owns none */
        uint64_t row = myth_row_bytes(o->type_k, lc->head_dim) + myth_row_bytes(o->type_v, lc->head_dim);
        uint64_t *total = lc->is_global ? &y->page_bytes : &y->ring_bytes;
        y->layer_off[l] = *total;
        *total += (uint64_t)lc->n_head_kv * row * (lc->is_global ? y->page_tok : y->ring_tok);
        if (lc->is_global) has_global = true;
        else has_local = true;
    }
    for (uint32_t l = 0; l < c->n_layer; l++)
        y->layer_off[l] = y->layer_off[c->layer[l].kv_source];
    y->n_entry = div_up(o->n_ctx, y->page_tok);
    /* a checkpoint keeps the page it ends in, the sequence goes on in a copy: one page more each */
    y->n_page = has_global ? o->n_seq * y->n_entry + o->n_checkpoint : 0;
    y->n_ring = has_local ? o->n_seq + o->n_checkpoint : 0;
    y->buf[MYTH_BUF_kv_global] = y->n_page * y->page_bytes;
    y->buf[MYTH_BUF_kv_local] = y->n_ring * y->ring_bytes;
}

static void size_weights(myth_layout *y, const myth_model *m)
{
    const myth_config *c = &m->config;
    uint64_t norms = 0;
    const myth_family *f = myth_family_get(c->family);
    for (uint32_t i = 0; i < 2; i++)
        if (myth_slots_model[i].cols == MYTH_DIM_ONE)
            norms += myth_slot_size(c, 0, myth_slots_model[i].rows);
    for (uint32_t l = 0; l < c->n_layer; l++)
        for (const myth_slot *s = f->slots; s->hf; s++)
            if (s->cols == MYTH_DIM_ONE)
                norms += myth_slot_size(c, l, s->rows);
    y->buf[MYTH_BUF_norms] = 4 * norms;
    if (myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM)
        for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
            const myth_tensor *t = myth_weights_at(m->weights, i);
            if (t->n_dim == 2)
                y->buf[MYTH_BUF_matrices] += myth_arena_cost(t->bytes);
        }
}

static void size_step(myth_layout *y, const myth_config *c)
{
    const myth_engine_opts *o = &y->opts;
    uint64_t rows = o->n_ubatch, d = c->d_model, hd = c->max_head_dim, q = c->n_head * hd, kv = c->max_head_kv * hd;
    uint64_t *b = y->buf;
    b[MYTH_BUF_x] = b[MYTH_BUF_branch] = b[MYTH_BUF_xn] = rows * d * 4;
    b[MYTH_BUF_qkv] = rows * (q + 2 * kv) * 4;
    b[MYTH_BUF_q] = b[MYTH_BUF_o] = rows * q * 4;
    b[MYTH_BUF_up] = b[MYTH_BUF_h] = rows * c->max_ff * 4;
    b[MYTH_BUF_k_new] = rows * c->max_head_kv * myth_row_bytes(o->type_k, hd);
    b[MYTH_BUF_v_new] = rows * c->max_head_kv * myth_row_bytes(o->type_v, hd);
    b[MYTH_BUF_rope_global] = rows * hd * 4;
    b[MYTH_BUF_rope_local] = c->window ? rows * hd * 4 : 0;
    y->n_run = o->n_ubatch;
    b[MYTH_BUF_index] = 4 * (4 * rows + (uint64_t)y->n_run * MYTH_RUN_WIDTH);
    b[MYTH_BUF_table] = 8 * (uint64_t)o->n_seq * (y->n_entry + 1);
    b[MYTH_BUF_hidden] = o->want_hidden ? rows * d * 4 : 0;
}

static void size_logits(myth_layout *y, const myth_config *c)
{
    const myth_engine_opts *o = &y->opts;
    uint64_t rows = o->n_logit_rows;
    uint64_t *b = y->buf;
    y->mask_words = div_up(c->n_vocab, 32);
    b[MYTH_BUF_head_x] = rows * c->d_model * 4;
    b[MYTH_BUF_top_id] = b[MYTH_BUF_top_logit] = rows * o->top_k * 4;
    b[MYTH_BUF_row_stat] = 2 * rows * 4;
    b[MYTH_BUF_run] = 4 * (16 + MYTH_RUN_STOP_MAX + (uint64_t)MYTH_RUN_STEPS * o->n_seq);
    b[MYTH_BUF_ask] = 2 * rows * o->n_ask * 4;
    b[MYTH_BUF_mask] = o->n_mask ? ((uint64_t)o->n_mask * y->mask_words + rows) * 4 : 0;
    b[MYTH_BUF_bias] = o->n_bias ? (rows + 1 + 2 * (uint64_t)o->n_bias) * 4 : 0;
    b[MYTH_BUF_full] = o->want_full_logits ? (uint64_t)c->n_vocab * 4 : 0;
    y->host[MYTH_HOST_run] = 4 * (uint64_t)MYTH_RUN_STEPS * o->n_seq;
    y->host[MYTH_HOST_result] = rows * (2 * (uint64_t)o->top_k + 2 + o->n_ask) * 4;
    uint64_t full = b[MYTH_BUF_full], hidden = b[MYTH_BUF_hidden];
    y->host[MYTH_HOST_row] = full > hidden ? full : hidden;
}

myth_status myth_layout_make(myth_layout *out, const myth_model *m, const myth_engine_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_config *c = &m->config;
    *out = (myth_layout){ 0 };
    if (opts)
        out->opts = *opts;
    MYTH_TRY(fill_defaults(&out->opts, m, err));
    const myth_engine_opts *o = &out->opts;
    size_weights(out, m);
    size_cache(out, c);
    size_step(out, c);
    size_logits(out, c);
    out->n_shard = myth_model_n_shard(m);
    out->host[MYTH_HOST_engine] = myth_engine_block_bytes(out, out->n_shard);
    out->host[MYTH_HOST_bound] = sizeof(myth_bound_weights);
    out->host[MYTH_HOST_tokens] = 4 * (uint64_t)o->n_seq * o->n_ctx;
    out->host[MYTH_HOST_pages] = myth_kv_host_bytes(out);
    out->host[MYTH_HOST_step] = out->buf[MYTH_BUF_index];


    out->dev = (myth_device_opts){ .name = o->device, .n_threads = o->n_threads, .is_exact = o->is_exact, .cpu_level = o->cpu_level, .log = o->log };
    out->work = (myth_work_shape){
        .n_rows = o->n_ubatch, .n_logit_rows = o->n_logit_rows, .d_model = c->d_model, .d_ff = c->max_ff, .n_head = c->n_head,
        .n_head_kv = c->max_head_kv, .head_dim = c->max_head_dim, .n_vocab = c->n_vocab, .n_ctx = o->n_ctx,
        .top_k = o->top_k, .n_record_ops = 8 + 6 * c->n_layer, .n_graph = 1 };
    myth_class_bytes host, own;
    myth_device_plan(&host, &own, &out->dev, &out->work);
    for (int i = 0; i < MYTH_MEM_CLASS_N; i++)
        out->total_class[i] = host.bytes[i] + own.bytes[i];
    for (int i = 0; i < MYTH_BUF_N; i++)
        out->total_class[myth_buf_class[i]] += out->buf[i];
    for (int i = 0; i < MYTH_HOST_N; i++)
        out->total_class[myth_host_class[i]] += out->host[i];
fail:
    return st;
}
