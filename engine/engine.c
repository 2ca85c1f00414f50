/* engine.c - opens a model on a device: walks the layout's list, binds the weights, and is then ready for forward. */
#include "engine/run/bind.h"
#include "engine/run/devices.h"
#include "engine/run/offload.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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

uint64_t myth_engine_block_bytes(const myth_layout *y, uint32_t n_layer)
{
    uint64_t holders = (uint64_t)y->opts.n_seq + y->opts.n_checkpoint;
    return sizeof(myth_engine) + y->n_part * sizeof(myth_part) + y->opts.n_seq * sizeof(myth_seq) +
           y->opts.n_checkpoint * sizeof(myth_checkpoint) + holders * sizeof(myth_kv_rows) +
           (y->n_wrapped + n_layer + 2ull + (y->expert_bytes ? n_layer : 0)) * sizeof(myth_buf *);
}

/* The engine block: struct, parts, sequences, checkpoints, cache rows, buffers of weights, all of pointer alignment. */
static void carve(myth_engine *e)
{
    const myth_layout *y = &e->y;
    uint32_t n_seq = y->opts.n_seq, n_cp = y->opts.n_checkpoint;
    e->part = (myth_part *)(e + 1);
    e->seq = (myth_seq *)(e->part + y->n_part);
    e->checkpoint = (myth_checkpoint *)(e->seq + n_seq);
    e->rows = (myth_kv_rows *)(e->checkpoint + n_cp);
    e->wrapped = (myth_buf **)(e->rows + n_seq + n_cp);
    e->matrix = e->wrapped + y->n_wrapped;
    e->expert = y->expert_bytes ? e->matrix + e->model->config.n_layer + 2 : NULL;
    e->n_part = y->n_part;
    myth_buf **wrapped = e->wrapped;
    for (uint32_t i = 0; i < y->n_part; i++) {
        e->part[i].y = &y->part[i];
        e->part[i].e = e;
        if (!y->part[i].copies) {
            e->part[i].wrapped = wrapped;
            wrapped += y->n_shard;
        }
    }
}

static void carve_host(myth_engine *e)
{
    const myth_layout *y = &e->y;
    uint32_t n_seq = y->opts.n_seq, n_cp = y->opts.n_checkpoint;
    e->w = e->host[MYTH_HOST_bound];
    myth_kv_init(&e->kv, y, e->host[MYTH_HOST_pages], e->rows, n_seq + n_cp);
    int32_t *tokens = e->host[MYTH_HOST_tokens];
    for (uint32_t i = 0; i < n_seq; i++)
        e->seq[i] = (myth_seq){.e = e, .slot = i, .token = tokens + (size_t)i * y->opts.n_ctx, .kv = &e->rows[i]};
    for (uint32_t i = 0; i < n_cp; i++)
        e->checkpoint[i] = (myth_checkpoint){.slot = UINT32_MAX, .kv = &e->rows[n_seq + i]};

    uint32_t n_rows = y->opts.n_ubatch;
    int32_t *p = e->host[MYTH_HOST_step];
    e->idx = (myth_step_index){
        .block = p,
        .id = p,
        .pos = p + n_rows,
        .row_run = p + 2 * (size_t)n_rows,
        .rows = p + 3 * (size_t)n_rows,
        .runs = p + 4 * (size_t)n_rows,
    };
    if (e->y.n_capture) {
        e->idx.capture_rows = e->idx.runs + (size_t)e->y.n_run * MYTH_RUN_WIDTH;
        e->idx.capture_label = e->idx.capture_rows + n_rows;
        e->n_captured = e->host[MYTH_HOST_captured];
    }

    if (e->model->config.first_shared < e->model->config.n_layer) {
        e->idx.keep = e->idx.runs + (size_t)e->y.n_run * MYTH_RUN_WIDTH + (e->y.n_capture ? 2 * (size_t)n_rows : 0);
        e->idx.keep_pos = e->idx.keep + n_rows;
        e->idx.keep_row_run = e->idx.keep + 2 * (size_t)n_rows;
    }

    uint32_t n_out = y->opts.n_logit_rows, k = y->opts.top_k;
    e->result_id = e->host[MYTH_HOST_result];
    e->result_logit = (float *)(e->result_id + (size_t)n_out * k);
    e->result_lse = e->result_logit + (size_t)n_out * k;
    e->result_entropy = e->result_lse + n_out;
    e->result_ask = e->result_entropy + n_out;
}

static struct myth_kv_place place_of(const myth_engine *e, const myth_part *p, uint32_t layer)
{
    const myth_layout *y = &e->y;
    bool is_ring = !e->model->config.layer[layer].is_global;
    if (y->opts.offload == MYTH_OFFLOAD_KV && layer < p->y->offload1)
        return myth_offload_place(e, p, layer);
    uint64_t rings = 8 * (uint64_t)y->opts.n_seq * y->n_entry; /* the ring table follows the page table */
    return (struct myth_kv_place){
        .pool = myth_part_view(p, is_ring ? MYTH_BUF_kv_local : MYTH_BUF_kv_global, 0, y->opts.type_k),
        .table = myth_part_view(p, MYTH_BUF_table, is_ring ? rings : 0, MYTH_I32),
        .page_bytes = is_ring ? p->y->ring_bytes : p->y->page_bytes,
        .layer_off = y->layer_off[layer],
        .page_tok = is_ring ? y->ring_tok : y->page_tok,
        .n_entry = is_ring ? 1 : y->n_entry,
        .is_ring = is_ring,
    };
}

myth_view myth_keep_view(const myth_engine *e, const myth_part *p, uint32_t i)
{
    const uint64_t rows = e->y.opts.n_ubatch,
                   at = 16 * rows + 4 * (uint64_t)e->y.n_run * MYTH_RUN_WIDTH + (e->y.n_capture ? 8 * rows : 0);
    return e->idx.keep ? myth_part_view(p, MYTH_BUF_index, at + 4 * rows * i, MYTH_I32) : (myth_view){0};
}

/* The rotations of every position that a context without gaps has, as rope_table makes them. */
static void write_key_table(const myth_engine *e, const myth_part *p)
{
    const myth_config *c = &e->model->config;
    enum { PAIR_MAX = 512, PIECE = 4096 }; /* pairs of one write */
    const uint32_t n_pair = c->rope_pairs_global, n = n_pair ? p->step.n_key_table : 0, most = n ? PIECE / n_pair : 1;
    float pair[2 * PIECE];
    double freq[PAIR_MAX] = {0};
    for (uint32_t i = 0; i < n_pair && n; i++)
        freq[i] = pow(c->rope_base_global, -2.0 * (double)i / c->head_dim_global) / c->rope_factor_global;
    for (uint32_t first = 0, k; first < n; first += k) {
        k = n - first < most ? n - first : most;
        for (uint32_t i = 0; i < k * n_pair; i++) {
            const double angle = (first + i / n_pair) * freq[i % n_pair];
            pair[2 * i] = (float)cos(angle);
            pair[2 * i + 1] = (float)sin(angle);
        }
        myth_stream_write(p->stream, myth_view_at(p->step.key_table.buf, 8 * (uint64_t)first * n_pair, MYTH_F32), pair,
                          8 * (uint64_t)k * n_pair);
    }
}

/* What stays the same in every step. */
static void prepare_step(myth_engine *e, myth_part *p)
{
    const myth_config *c = &e->model->config;
    uint64_t rows = e->y.opts.n_ubatch, half_k = p->y->buf[MYTH_BUF_k_new], half_v = p->y->buf[MYTH_BUF_v_new];
    const uint64_t n_used = rows * c->n_expert_used;
    p->step = (myth_step){
        .s = p->stream,
        .c = c,
        .w = e->w,
        .is_exact = e->y.opts.is_exact,
        .cap_rows = (uint32_t)rows,
        .layer0 = p->y->layer0,
        .layer1 = p->y->layer1,
        .x = myth_part_view(p, MYTH_BUF_x, 0, MYTH_F32),
        .branch = myth_part_view(p, MYTH_BUF_branch, 0, MYTH_F32),
        .xn = myth_part_view(p, MYTH_BUF_xn, 0, MYTH_F32),
        .qkv = myth_part_view(p, MYTH_BUF_qkv, 0, MYTH_F32),
        .q = myth_part_view(p, MYTH_BUF_q, 0, MYTH_F32),
        .o = myth_part_view(p, MYTH_BUF_o, 0, MYTH_F32),
        .up = myth_part_view(p, MYTH_BUF_up, 0, MYTH_F32),
        .h = myth_part_view(p, MYTH_BUF_h, 0, MYTH_F32),
        .k_new = myth_part_view(p, MYTH_BUF_k_new, 0, e->y.opts.type_k),
        .v_new = myth_part_view(p, MYTH_BUF_v_new, 0, e->y.opts.type_v),
        .k_shared = {myth_part_view(p, MYTH_BUF_k_shared, 0, e->y.opts.type_k),
                     myth_part_view(p, MYTH_BUF_k_shared, half_k, e->y.opts.type_k)},
        .v_shared = {myth_part_view(p, MYTH_BUF_v_shared, 0, e->y.opts.type_v),
                     myth_part_view(p, MYTH_BUF_v_shared, half_v, e->y.opts.type_v)},
        .ple = myth_part_view(p, MYTH_BUF_ple, 0, MYTH_F32),
        .ple_rows = myth_part_view(p, MYTH_BUF_ple_rows, 0, MYTH_F32),
        .altup = myth_part_view(p, MYTH_BUF_altup, 0, MYTH_F32),
        .moe_logits = myth_part_view(p, MYTH_BUF_moe_logits, 0, MYTH_F32),
        .moe_weight = myth_part_view(p, MYTH_BUF_moe_weight, 0, MYTH_F32),
        .moe_id = myth_part_view(p, MYTH_BUF_moe_index, 0, MYTH_I32),
        .moe_order = myth_part_view(p, MYTH_BUF_moe_index, 4 * n_used, MYTH_I32),
        .moe_offset = myth_part_view(p, MYTH_BUF_moe_index, 8 * n_used, MYTH_I32),
        .moe_h = myth_part_view(p, MYTH_BUF_moe_h, 0, MYTH_F32),
        .moe_part = myth_part_view(p, MYTH_BUF_moe_part, 0, MYTH_F32),
        .moe_y = myth_part_view(p, MYTH_BUF_moe_y, 0, MYTH_F32),
        .keep_rows = myth_keep_view(e, p, 0),
        .keep_pos = myth_keep_view(e, p, 1),
        .keep_row_run = myth_keep_view(e, p, 2),
        .keep = e->idx.keep,
        .ids = myth_part_view(p, MYTH_BUF_index, 0, MYTH_I32),
        .key_table = myth_part_view(p, MYTH_BUF_key_table, 0, MYTH_F32),
        .n_key_table = p->y->buf[MYTH_BUF_key_table] ? e->y.opts.n_ctx : 0,
        .rope_local = myth_part_view(p, MYTH_BUF_rope_local, 0, MYTH_F32),
        .rope_global = myth_part_view(p, MYTH_BUF_rope_global, 0, MYTH_F32),
        .pos = myth_part_view(p, MYTH_BUF_index, 4 * rows, MYTH_I32),
        .row_run = myth_part_view(p, MYTH_BUF_index, 8 * rows, MYTH_I32),
        .runs = myth_part_view(p, MYTH_BUF_index, 16 * rows, MYTH_I32),
    };
    for (uint32_t l = p->y->layer0; l < p->y->layer1; l++) {
        p->step.kv[l] = place_of(e, p, l);
        p->step.folds[l] = myth_layout_folds(&e->y, c, l);
    }
    write_key_table(e, p);
    if (p->y->n_slot) {
        p->step.before_layer = e->y.opts.offload == MYTH_OFFLOAD_KV ? myth_offload_rows : myth_offload_weights;
        p->step.owner = p;
    }
}

static myth_status open_part(myth_engine *e, uint32_t i, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_part *p = &e->part[i];
    myth_device_opts dev = myth_layout_device(&e->y, i);
    MYTH_TRY(myth_device_open(&p->dev, e->mem, &dev, err));
    MYTH_TRY(myth_device_reserve(p->dev, &p->y->work, err));
    MYTH_TRY(myth_stream_open(&p->stream, p->dev, err));
fail:
    return st;
}

/* A layer's matrices are one buffer: no device need hold all weights in one piece. */
static myth_status open_buffers(myth_engine *e, uint32_t i, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_part *p = &e->part[i];
    uint32_t n_layer = e->model->config.n_layer;
    for (int b = 0; b < MYTH_BUF_N; b++)
        if (p->y->buf[b])
            MYTH_TRY(myth_buf_open(&p->buf[b], p->dev, myth_buf_class[b], myth_buf_name[b], p->y->buf[b], err));
    for (uint32_t l = p->y->layer0; l < p->y->layer1; l++) {
        if (e->y.matrix[l])
            MYTH_TRY(myth_buf_open(&e->matrix[l], p->dev, MYTH_MEM_WEIGHTS, "layer", e->y.matrix[l], err));
        if (e->y.expert[l])
            MYTH_TRY(myth_buf_open_host(&e->expert[l], p->dev, MYTH_MEM_WEIGHTS, "experts", e->y.expert[l], err));
    }
    MYTH_TRY(myth_offload_open(e, p, err));
    if (e->y.first_bytes && i == 0)
        MYTH_TRY(myth_buf_open(&e->matrix[n_layer], p->dev, MYTH_MEM_WEIGHTS, "embedding", e->y.first_bytes, err));
    if (e->y.last_bytes && i + 1 == e->n_part)
        MYTH_TRY(myth_buf_open(&e->matrix[n_layer + 1], p->dev, MYTH_MEM_WEIGHTS, "head", e->y.last_bytes, err));
fail:
    return st;
}

/* What goes to and from a device is the last part's to place: results come from there. */
static bool is_staging(int block) { return myth_host_class[block] == MYTH_MEM_STAGING; }

static myth_status take_host_blocks(myth_engine *e, myth_error *err)
{
    for (int i = 0; i < MYTH_HOST_N; i++) {
        uint64_t bytes = e->y.host[i];
        if (i == MYTH_HOST_engine || bytes == 0)
            continue;
        e->host[i] = is_staging(i)
                       ? myth_host_alloc(myth_engine_last(e)->dev, myth_host_class[i], myth_host_name[i], bytes)
                       : myth_alloc(e->mem, myth_host_class[i], myth_host_name[i], bytes);
        if (!e->host[i])
            return myth_fail(err, MYTH_ENOMEM, "%s: %llu bytes", myth_host_name[i], (unsigned long long)bytes);
    }
    return MYTH_OK;
}

/* One attempt. On failure got[ledger] is what each device had given. */
static myth_status open_once(myth_engine **out, myth_model *model, const myth_engine_opts *o, const myth_plan *plan,
                             const myth_mem_limits *limits, myth_mem_limits *got, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_config *c = &model->config;
    myth_mem_limits before;
    myth_layout y;
    MYTH_TRY(myth_layout_make(&y, model, o, err));
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
        before.bytes[i] = myth_mem_total(model->mem, i).live;
    myth_engine *e = myth_alloc(model->mem, myth_host_class[MYTH_HOST_engine], myth_host_name[MYTH_HOST_engine],
                                y.host[MYTH_HOST_engine]);
    if (!e)
        return myth_fail(err, MYTH_ENOMEM, "engine: %llu bytes", (unsigned long long)y.host[MYTH_HOST_engine]);
    e->model = model;
    e->mem = model->mem;
    e->y = y;
    e->y.opts.device = e->y.device;
    e->plan = *plan;
    e->host[MYTH_HOST_engine] = e;
    carve(e);
    for (uint32_t i = 1; i < MYTH_MEM_DEVICE_MAX; i++)
        myth_mem_set_limit(e->mem, (int)i, limits->bytes[i]);
    for (uint32_t i = 0; i < e->n_part && st == MYTH_OK; i++)
        st = open_part(e, i, err);
    if (st == MYTH_OK)
        st = take_host_blocks(e, err);
    if (st == MYTH_OK)
        carve_host(e);
    for (uint32_t i = 0; i < e->n_part && st == MYTH_OK; i++)
        st = open_buffers(e, i, err);
    if (st == MYTH_OK)
        st = myth_bind(e, err);
    for (uint32_t i = 0; i < e->n_part && st == MYTH_OK; i++)
        prepare_step(e, &e->part[i]);
    e->embed_scale = o->is_exact ? sqrtf((float)c->d_model) : c->embed_scale;
    e->n_vocab_choice = c->n_vocab;
    if (model->tokenizer && myth_tokenizer_n_vocab(model->tokenizer) < c->n_vocab)
        e->n_vocab_choice = myth_tokenizer_n_vocab(model->tokenizer);
    if (st == MYTH_OK)
        st = myth_capture_reset(e, err);
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
        got->bytes[i] = myth_mem_total(e->mem, i).live - before.bytes[i];
    if (st == MYTH_OK)
        *out = e;
    else
        myth_engine_close(e);
fail:
    return st;
}

/* The most rows of a step, by halves, with which every device but the host takes no more than its ledger has left or,
 * where the driver refused, than it gave before; half when there are none. Nothing of the first attempt is held any
 * more. */
static uint32_t fewer_rows(const myth_model *model, const myth_engine_opts *o, const myth_plan *plan,
                           const myth_mem_limits *limits, const myth_mem_limits *got)
{
    myth_engine_opts t = *o;
    myth_mem_limits less = *limits;
    for (uint32_t i = 1; i < plan->n_device; i++) {
        int l = plan->device[i].ledger;
        uint64_t limit = myth_mem_limit(model->mem, l), live = myth_mem_total(model->mem, l).live,
                 left = limit > live ? limit - live : 0;
        if (limit && left < plan->device[i].total_bytes)
            less.bytes[l] = left + !left; /* 0 would be no limit */
        else if (got->bytes[l] < plan->device[i].total_bytes)
            less.bytes[l] = got->bytes[l] + 1;
    }
    for (t.n_ubatch = plan->n_ubatch / 2; t.n_ubatch > 0; t.n_ubatch /= 2) {
        myth_plan p;
        if (myth_plan_make(&p, model, &t, NULL, &less, false, NULL) == MYTH_OK && p.fits)
            return t.n_ubatch;
    }
    return plan->n_ubatch / 2;
}

myth_status myth_engine_open(myth_engine **out, myth_model *model, const myth_engine_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    char device[MYTH_DEVICE_NAME_MAX], line[256];
    myth_engine_opts o = opts ? *opts : (myth_engine_opts){0};
    myth_mem_limits limits, got = {{0}};
    myth_plan plan;
    *out = NULL;
    if (!o.device || !strchr(o.device, ',')) {
        MYTH_TRY(myth_device_resolve(device, o.device, err));
        o.device = device;
    }
    MYTH_TRY(myth_devices_limits(&limits, model->mem, o.device, err));
    MYTH_TRY(myth_plan_make(&plan, model, &o, NULL, &limits, false, err));
    if (!plan.fits) {
        myth_plan_refusal(&plan, line, sizeof line);
        return myth_fail(err, MYTH_ENOFIT, "%s", line);
    }
    st = open_once(out, model, &o, &plan, &limits, &got, err);
    if (st == MYTH_ENOMEM && plan.n_device > 1 &&
        plan.n_ubatch > 1) { /* somebody took what was free: once more, with fewer rows a step */
        o.n_ubatch = fewer_rows(model, &o, &plan, &limits, &got);
        myth_logf(o.log, MYTH_LOG_WARN, "engine", "out of memory at %u rows a step, trying %u", plan.n_ubatch,
                  o.n_ubatch);
        MYTH_TRY(myth_plan_make(&plan, model, &o, NULL, &limits, false, err));
        st = open_once(out, model, &o, &plan, &limits, &got, err);
    }
fail:
    return st;
}

void myth_engine_close(myth_engine *e)
{
    if (!e)
        return;
    myth_mem *mem = e->mem;
    for (uint32_t i = 0; i < e->y.n_wrapped; i++)
        myth_buf_close(e->wrapped[i]);
    for (uint32_t i = 0; i < e->model->config.n_layer + 2; i++)
        myth_buf_close(e->matrix[i]);
    for (uint32_t i = 0; e->expert && i < e->model->config.n_layer; i++)
        myth_buf_close(e->expert[i]);
    for (int i = MYTH_HOST_N - 1; i >= 0; i--) {
        if (i != MYTH_HOST_engine && is_staging(i))
            myth_host_free(myth_engine_last(e)->dev, myth_host_class[i], e->host[i], e->y.host[i]);
        else if (i != MYTH_HOST_engine)
            myth_free(mem, e->host[i]);
    }
    for (uint32_t i = 0; i < e->n_part; i++) {
        myth_part *p = &e->part[i];
        myth_graph_close(p->graph);
        myth_offload_close(e, p);
        for (int b = 0; b < MYTH_BUF_N; b++)
            myth_buf_close(p->buf[b]);
        myth_stream_close(p->stream);
        myth_device_close(p->dev);
    }
    myth_free(mem, e);
}

const myth_plan *myth_engine_plan(const myth_engine *e) { return &e->plan; }
myth_model *myth_engine_model(const myth_engine *e) { return e->model; }
const char *myth_engine_device(const myth_engine *e)
{
    return myth_device_get_caps(myth_engine_last(e)->dev)->description;
}

myth_status myth_engine_sync(myth_engine *e, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < e->n_part; i++) {
        myth_status late = myth_stream_sync(e->part[i].stream, st == MYTH_OK ? err : NULL);
        st = st == MYTH_OK ? late : st;
    }
    return st;
}

void myth_engine_write_table(myth_engine *e, const myth_seq *s)
{
    uint32_t n_entry = e->y.n_entry;
    uint64_t row = 8 * (uint64_t)s->slot * n_entry, ring = 8 * ((uint64_t)e->y.opts.n_seq * n_entry + s->slot);
    for (uint32_t k = 0; k < e->n_part; k++) {
        myth_part *p = &e->part[k];
        int32_t entry[64][2];
        for (uint32_t i = 0, n; i < n_entry && s->kv->page[i] >= 0;
             i += n) { /* many at a time: a transfer costs more than its bytes */
            for (n = 0; n < 64 && i + n < n_entry && s->kv->page[i + n] >= 0; n++) {
                entry[n][0] = s->kv->page[i + n];
                entry[n][1] = (int32_t)myth_kv_entry_pos(&e->kv, s->kv, i + n);
            }
            myth_stream_write(p->stream, myth_view_at(p->buf[MYTH_BUF_table], row + 8 * (uint64_t)i, MYTH_I32), entry,
                              8 * (uint64_t)n);
        }
        entry[0][0] = s->kv->ring;
        entry[0][1] = 0;
        myth_stream_write(p->stream, myth_view_at(p->buf[MYTH_BUF_table], ring, MYTH_I32), entry, 8);
    }
}
