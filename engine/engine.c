/* engine.c - opens an engine: takes every block that the layout lists, then binds the weights. */
#include "engine/run/bind.h"
#include "engine/run/devices.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Places the arrays in the engine block, in the order that myth_engine_block_bytes counts: parts, sequences,
 * checkpoints, cache rows, buffers of weights. All have the alignment of a pointer. */
static void place_in_engine_block(myth_engine *e)
{
    const myth_layout *layout = &e->layout;
    uint32_t n_seq = layout->opts.n_seq, n_cp = layout->opts.n_checkpoint;
    e->part = (myth_part *)(e + 1);
    e->seq = (myth_seq *)(e->part + layout->n_part);
    e->checkpoint = (myth_checkpoint *)(e->seq + n_seq);
    e->rows = (myth_kv_rows *)(e->checkpoint + n_cp);
    e->wrapped = (myth_buf **)(e->rows + n_seq + n_cp);
    e->matrix = e->wrapped + layout->n_wrapped;
    e->expert = layout->expert_bytes ? e->matrix + e->model->config.n_layer + 2 : NULL;
    e->n_part = layout->n_part;
    myth_buf **wrapped = e->wrapped;
    for (uint32_t i = 0; i < layout->n_part; i++) {
        e->part[i].layout = &layout->part[i];
        e->part[i].e = e;
        if (!layout->part[i].copies) {
            e->part[i].wrapped = wrapped;
            wrapped += layout->n_shard;
        }
    }
}

/* An array of the step's host block; NULL when this engine has no such array. */
static int32_t *index_array(const myth_engine *e, int array)
{
    const uint64_t *at = e->layout.index_at;
    return at[array] == at[array + 1] ? NULL : (int32_t *)e->host[MYTH_HOST_step] + at[array];
}

/* Places the arrays in the host blocks. */
static void place_in_host_blocks(myth_engine *e)
{
    const myth_layout *layout = &e->layout;
    uint32_t n_seq = layout->opts.n_seq, n_cp = layout->opts.n_checkpoint;
    e->w = e->host[MYTH_HOST_bound];
    e->low = e->host[MYTH_HOST_low];
    myth_kv_init(&e->kv, layout, e->host[MYTH_HOST_pages], e->rows, n_seq + n_cp);
    int32_t *tokens = e->host[MYTH_HOST_tokens], *places = e->host[MYTH_HOST_places];
    for (uint32_t i = 0; i < n_seq; i++) {
        const size_t at = (size_t)i * layout->opts.n_ctx;
        e->seq[i] = (myth_seq){
            .e = e, .slot = i, .token = tokens + at, .place = places ? places + at : NULL, .kv = &e->rows[i]};
    }
    for (uint32_t i = 0; i < n_cp; i++)
        e->checkpoint[i] = (myth_checkpoint){.slot = UINT32_MAX, .kv = &e->rows[n_seq + i]};

    e->idx = (myth_step_index){
#define INDEX(name) .name = index_array(e, MYTH_INDEX_##name),
        MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
    };
    if (e->layout.n_capture)
        e->n_captured = e->host[MYTH_HOST_captured];

    uint32_t n_out = layout->opts.n_logit_rows, k = layout->opts.top_k;
    e->result_id = e->host[MYTH_HOST_result];
    e->result_logit = (float *)(e->result_id + (size_t)n_out * k);
    e->result_lse = e->result_logit + (size_t)n_out * k;
    e->result_entropy = e->result_lse + n_out;
    e->result_ask = e->result_entropy + n_out;
    e->result_mass = e->result_ask + n_out * layout->opts.n_ask;
}

/* Blocks that are copied to or from a device are allocated by the last part's device, since results come from it; a GPU
 * gives memory that it can copy fast. */
static bool is_staging(int block) { return myth_host_class[block] == MYTH_MEM_STAGING; }

static myth_status alloc_host_blocks(myth_engine *e, myth_error *err)
{
    for (int i = 0; i < MYTH_HOST_N; i++) {
        uint64_t bytes = e->layout.host[i];
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

/* The rows of a page or ring that nobody holds go back to the system, where they are the host's. */
static void give_back(void *owner, bool is_ring, int32_t number)
{
    const myth_engine *e = owner;
    for (uint32_t i = 0; i < e->n_part; i++) {
        const myth_part *p = &e->part[i];
        const int buf = is_ring ? MYTH_BUF_kv_local : MYTH_BUF_kv_global;
        const uint64_t bytes = myth_layout_kv_bytes(p->layout, buf);
        if (p->layout->is_host && p->buf[buf])
            myth_mem_give_back(e->mem, myth_buf_host(p->buf[buf]), (uint64_t)number * bytes, bytes);
    }
}

/* Opens the engine with each ledger limited to limits beyond what is in use there now. got[ledger] is set to the bytes
 * that the device gave, on failure as well. */
static myth_status open_once(myth_engine **out, myth_model *model, const myth_engine_opts *o, const myth_plan *plan,
                             const myth_mem_limits *limits, myth_mem_limits *got, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_config *c = &model->config;
    myth_mem_limits before;
    myth_layout layout;
    MYTH_TRY(myth_layout_make(&layout, model, o, err));
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
        before.bytes[i] = myth_mem_total(model->mem, i).live;
    myth_engine *e = myth_alloc(model->mem, myth_host_class[MYTH_HOST_engine], myth_host_name[MYTH_HOST_engine],
                                layout.host[MYTH_HOST_engine]);
    if (!e)
        return myth_fail(err, MYTH_ENOMEM, "engine: %llu bytes", (unsigned long long)layout.host[MYTH_HOST_engine]);
    e->model = model;
    e->mem = model->mem;
    e->layout = layout;
    e->layout.opts.device = e->layout.device;
    e->plan = *plan;
    e->host[MYTH_HOST_engine] = e;
    place_in_engine_block(e);
    for (uint32_t i = 1; i < MYTH_MEM_DEVICE_MAX; i++)
        myth_mem_set_limit(e->mem, (int)i, limits->bytes[i] ? before.bytes[i] + limits->bytes[i] : 0);
    for (uint32_t i = 0; i < e->n_part && st == MYTH_OK; i++)
        st = myth_part_open(e, i, err);
    if (st == MYTH_OK)
        st = alloc_host_blocks(e, err);
    if (st == MYTH_OK)
        place_in_host_blocks(e);
    e->kv.gave = give_back;
    e->kv.owner = e;
    for (uint32_t i = 0; i < e->n_part && st == MYTH_OK; i++)
        st = myth_part_open_buffers(e, i, err);
    if (st == MYTH_OK)
        st = myth_bind(e, &o->watch, err);
    for (uint32_t i = 0; i < e->n_part && st == MYTH_OK; i++)
        myth_part_prepare_step(e, &e->part[i]);
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

/* The largest n_ubatch, halving from the plan's, with which every device but the host needs no more than its ledger has
 * left or, where the driver refused memory, than it gave in the first attempt. Half of the plan's when there is none.
 * The first attempt has been closed by now. */
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
    myth_mem_limits limits, was, got = {0};
    myth_plan plan;
    *out = NULL;
    if (myth_weights_get_level(model->weights) < MYTH_WEIGHTS_DATA)
        return myth_fail_option(err, MYTH_EARG, "level",
                                "level CONFIG or HEADER: an engine needs the tensors' bytes; open the model with level "
                                "DATA");
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
        was.bytes[i] = myth_mem_limit(model->mem, i);
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
        plan.n_ubatch > 1) { /* another process took memory that was free: try with fewer rows per step */
        o.n_ubatch = fewer_rows(model, &o, &plan, &limits, &got);
        myth_logf(o.log, MYTH_LOG_WARN, "engine", "out of memory at %u rows a step, trying %u", plan.n_ubatch,
                  o.n_ubatch);
        MYTH_TRY(myth_plan_make(&plan, model, &o, NULL, &limits, false, err));
        st = open_once(out, model, &o, &plan, &limits, &got, err);
    }
fail:
    for (int i = 1; i < MYTH_MEM_DEVICE_MAX; i++) /* the caller's limits again, for the next model in this ledger */
        myth_mem_set_limit(model->mem, i, was.bytes[i]);
    return st;
}

void myth_engine_close(myth_engine *e)
{
    if (!e)
        return;
    myth_mem *mem = e->mem;
    for (uint32_t i = 0; i < e->layout.n_wrapped; i++)
        myth_buf_close(e->wrapped[i]);
    for (uint32_t i = 0; i < e->model->config.n_layer + 2; i++)
        myth_buf_close(e->matrix[i]);
    for (uint32_t i = 0; e->expert && i < e->model->config.n_layer; i++)
        myth_buf_close(e->expert[i]);
    for (int i = MYTH_HOST_N - 1; i >= 0; i--) {
        if (i != MYTH_HOST_engine && is_staging(i))
            myth_host_free(myth_engine_last(e)->dev, myth_host_class[i], e->host[i], e->layout.host[i]);
        else if (i != MYTH_HOST_engine)
            myth_free(mem, e->host[i]);
    }
    for (uint32_t i = 0; i < e->n_part; i++)
        myth_part_close(e, &e->part[i]);
    myth_free(mem, e);
}

const myth_plan *myth_engine_plan(const myth_engine *e) { return &e->plan; }
myth_model *myth_engine_model(const myth_engine *e) { return e->model; }
const char *myth_engine_device(const myth_engine *e)
{
    return myth_device_get_caps(myth_engine_last(e)->dev)->description;
}
