/* engine.c - opens a model on a device: walks the layout's list, binds the weights, and is then ready for forward. */
#include "bind.h"

#include <assert.h>
#include <math.h>

uint32_t myth_model_n_shard(const myth_model *m)
{
    uint32_t n = 0;
    if (myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM)
        return 0;
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
        uint32_t shard = myth_weights_at(m->weights, i)->shard;
        if (shard >= n)
            n = shard + 1;
    }
    return n;
}

uint64_t myth_engine_block_bytes(const myth_layout *y, uint32_t n_shard)
{
    uint64_t holders = (uint64_t)y->opts.n_seq + y->opts.n_checkpoint;
    return sizeof(myth_engine) + y->opts.n_seq * sizeof(myth_seq) + y->opts.n_checkpoint * sizeof(myth_checkpoint) +
           holders * sizeof(myth_kv_rows) + n_shard * sizeof(myth_buf *);
}

/* The engine block: struct, sequences, checkpoints, cache rows, wrapped buffers, all of pointer alignment. */
static void carve(myth_engine *e, const myth_layout *y)
{
    uint32_t n_seq = y->opts.n_seq, n_cp = y->opts.n_checkpoint;
    e->seq = (myth_seq *)(e + 1);
    e->checkpoint = (myth_checkpoint *)(e->seq + n_seq);
    myth_kv_rows *rows = (myth_kv_rows *)(e->checkpoint + n_cp);
    e->wrapped = (myth_buf **)(rows + n_seq + n_cp);
    e->n_wrapped = y->n_shard;
    myth_kv_init(&e->kv, y, e->host[MYTH_HOST_pages], rows, n_seq + n_cp);
    int32_t *tokens = e->host[MYTH_HOST_tokens];
    for (uint32_t i = 0; i < n_seq; i++)
        e->seq[i] = (myth_seq){ .e = e, .slot = i, .token = tokens + (size_t)i * y->opts.n_ctx, .kv = &rows[i] };
    for (uint32_t i = 0; i < n_cp; i++)
        e->checkpoint[i] = (myth_checkpoint){ .slot = UINT32_MAX, .kv = &rows[n_seq + i] };

    uint32_t n_rows = y->opts.n_ubatch;
    int32_t *p = e->host[MYTH_HOST_step];
    e->idx = (myth_step_index){ .block = p, .id = p, .pos = p + n_rows, .row_run = p + 2 * (size_t)n_rows,
                                .rows = p + 3 * (size_t)n_rows, .runs = p + 4 * (size_t)n_rows };

    uint32_t n_out = y->opts.n_logit_rows, k = y->opts.top_k;
    e->result_id = e->host[MYTH_HOST_result];
    e->result_logit = (float *)(e->result_id + (size_t)n_out * k);
    e->result_lse = e->result_logit + (size_t)n_out * k;
    e->result_entropy = e->result_lse + n_out;
    e->result_ask = e->result_entropy + n_out;
}

static struct myth_kv_place place_of(const myth_engine *e, uint32_t layer)
{
    const myth_layout *y = &e->y;
    bool is_ring = !e->model->config.layer[layer].is_global;
    uint64_t rings = 8 * (uint64_t)y->opts.n_seq * y->n_entry;             /* the ring table follows the page table */
    return (struct myth_kv_place){
        .pool = myth_engine_view(e, is_ring ? MYTH_BUF_kv_local : MYTH_BUF_kv_global, 0, y->opts.type_k),
        .table = myth_engine_view(e, MYTH_BUF_table, is_ring ? rings : 0, MYTH_I32),
        .page_bytes = is_ring ? y->ring_bytes : y->page_bytes, .layer_off = y->layer_off[layer],
        .page_tok = is_ring ? y->ring_tok : y->page_tok, .n_entry = is_ring ? 1 : y->n_entry, .is_ring = is_ring };
}

/* What stays the same in every step. */
static void prepare_step(myth_engine *e)
{
    const myth_config *c = &e->model->config;
    uint64_t rows = e->y.opts.n_ubatch;
    e->step = (myth_step){
        .s = e->stream, .c = c, .w = e->w, .cap_rows = (uint32_t)rows,
        .x = myth_engine_view(e, MYTH_BUF_x, 0, MYTH_F32), .branch = myth_engine_view(e, MYTH_BUF_branch, 0, MYTH_F32),
        .xn = myth_engine_view(e, MYTH_BUF_xn, 0, MYTH_F32), .qkv = myth_engine_view(e, MYTH_BUF_qkv, 0, MYTH_F32),
        .q = myth_engine_view(e, MYTH_BUF_q, 0, MYTH_F32), .o = myth_engine_view(e, MYTH_BUF_o, 0, MYTH_F32),
        .up = myth_engine_view(e, MYTH_BUF_up, 0, MYTH_F32), .h = myth_engine_view(e, MYTH_BUF_h, 0, MYTH_F32),
        .k_new = myth_engine_view(e, MYTH_BUF_k_new, 0, e->y.opts.type_k), .v_new = myth_engine_view(e, MYTH_BUF_v_new, 0, e->y.opts.type_v),
        .rope_local = myth_engine_view(e, MYTH_BUF_rope_local, 0, MYTH_F32),
        .rope_global = myth_engine_view(e, MYTH_BUF_rope_global, 0, MYTH_F32),
        .pos = myth_engine_view(e, MYTH_BUF_index, 4 * rows, MYTH_I32), .row_run = myth_engine_view(e, MYTH_BUF_index, 8 * rows, MYTH_I32),
        .runs = myth_engine_view(e, MYTH_BUF_index, 16 * rows, MYTH_I32) };
    for (uint32_t l = 0; l < c->n_layer; l++)
        e->step.kv[l] = place_of(e, l);
    e->embed_scale = e->y.opts.is_exact ? sqrtf((float)c->d_model) : c->embed_scale;
    e->n_vocab_choice = c->n_vocab;
    if (e->model->tokenizer && myth_tokenizer_n_vocab(e->model->tokenizer) < c->n_vocab)
        e->n_vocab_choice = myth_tokenizer_n_vocab(e->model->tokenizer);
}

myth_status myth_engine_open(myth_engine **out, myth_model *model, const myth_engine_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_engine *e = NULL;
    myth_plan plan;
    myth_layout y;
    char line[256];
    *out = NULL;
    MYTH_TRY(myth_plan_make(&plan, model, opts, NULL, myth_mem_limit(model->mem, MYTH_MEM_HOST), false, err));
    if (!plan.fits) {
        myth_plan_refusal(&plan, line, sizeof line);
        return myth_fail(err, MYTH_ENOFIT, "%s", line);
    }
    MYTH_TRY(myth_layout_make(&y, model, opts, err));

    e = myth_alloc(model->mem, myth_host_class[MYTH_HOST_engine], myth_host_name[MYTH_HOST_engine], y.host[MYTH_HOST_engine]);
    if (!e)
        return myth_fail(err, MYTH_ENOMEM, "engine: %llu bytes", (unsigned long long)y.host[MYTH_HOST_engine]);
    e->model = model;
    e->mem = model->mem;
    e->y = y;
    e->plan = plan;
    e->host[MYTH_HOST_engine] = e;
    for (int i = 0; i < MYTH_HOST_N; i++) {
        if (i == MYTH_HOST_engine || y.host[i] == 0)
            continue;
        e->host[i] = myth_alloc(e->mem, myth_host_class[i], myth_host_name[i], y.host[i]);
        if (!e->host[i]) {
            st = myth_fail(err, MYTH_ENOMEM, "%s: %llu bytes", myth_host_name[i], (unsigned long long)y.host[i]);
            goto fail;
        }
    }
    e->w = e->host[MYTH_HOST_bound];
    carve(e, &y);
    MYTH_TRY(myth_device_open(&e->dev, e->mem, &y.dev, err));
    MYTH_TRY(myth_device_reserve(e->dev, &y.work, err));
    MYTH_TRY(myth_stream_open(&e->stream, e->dev, err));
    for (int i = 0; i < MYTH_BUF_N; i++)
        if (y.buf[i])
            MYTH_TRY(myth_buf_open(&e->buf[i], e->dev, myth_buf_class[i], myth_buf_name[i], y.buf[i], err));
    MYTH_TRY(myth_bind(e, err));
    prepare_step(e);
    *out = e;
    return MYTH_OK;
fail:
    myth_engine_close(e);
    return st;
}

void myth_engine_close(myth_engine *e)
{
    if (!e)
        return;
    myth_mem *mem = e->mem;
    if (e->graph)
        myth_graph_close(e->graph);
    for (uint32_t i = 0; i < e->n_wrapped; i++)
        myth_buf_close(e->wrapped[i]);
    for (int i = 0; i < MYTH_BUF_N; i++)
        myth_buf_close(e->buf[i]);
    myth_stream_close(e->stream);
    myth_device_close(e->dev);
    for (int i = MYTH_HOST_N - 1; i >= 0; i--)
        if (i != MYTH_HOST_engine)
            myth_free(mem, e->host[i]);
    myth_free(mem, e);
}

const myth_plan *myth_engine_plan(const myth_engine *e) { return &e->plan; }
const char *myth_engine_device(const myth_engine *e) { return myth_device_get_caps(e->dev)->description; }

void myth_engine_write_table(myth_engine *e, const myth_seq *s)
{
    uint32_t n_entry = e->y.n_entry;
    uint64_t row = 8 * (uint64_t)s->slot * n_entry, ring = 8 * ((uint64_t)e->y.opts.n_seq * n_entry + s->slot);
    for (uint32_t i = 0; i < n_entry && s->kv->page[i] >= 0; i++) {
        int32_t entry[2] = { s->kv->page[i], (int32_t)myth_kv_entry_pos(&e->kv, s->kv, i) };
        myth_stream_write(e->stream, myth_view_at(e->buf[MYTH_BUF_table], row + 8 * (uint64_t)i, MYTH_I32), entry, sizeof entry);
    }
    int32_t entry[2] = { s->kv->ring, 0 };
    myth_stream_write(e->stream, myth_view_at(e->buf[MYTH_BUF_table], ring, MYTH_I32), entry, sizeof entry);
}
