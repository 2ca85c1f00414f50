/* layout.c - sizes of every block, from the headers and the options alone. */
#include "layout.h"

#include "engine_impl.h"
#include "low_rank.h"

#include <stdio.h>
#include <string.h>

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

enum { DEFAULT_CTX = 4096, DEFAULT_UBATCH = 512, PAGE_TOK = 64, LOAD_BYTES = 1 << 20 };

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t div_up(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b - 1) / b); }

/* Rows of a page: near 64, with as few rows as possible unused in the last page; a divisor of the context leaves none.
 */
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
        return myth_fail_option(err, MYTH_EARG, "n_ctx", "n_ctx %u: the model was made for %u tokens", o->n_ctx,
                                c->n_ctx_train);
    o->n_seq = max_u32(o->n_seq, 1);
    if (o->n_seq > 4096)
        return myth_fail_option(err, MYTH_EARG, "n_seq", "n_seq %u: at most 4096 sequences", o->n_seq);
    if (o->n_checkpoint > 4096)
        return myth_fail_option(err, MYTH_EARG, "n_checkpoint", "n_checkpoint %u: at most 4096", o->n_checkpoint);
    if ((unsigned)o->offload > MYTH_OFFLOAD_KV)
        return myth_fail_option(err, MYTH_EARG, "offload", "offload %d: none of myth_offload", (int)o->offload);
    if ((unsigned)o->ple > MYTH_PLE_DEVICE)
        return myth_fail_option(err, MYTH_EARG, "ple", "ple %d: none of myth_ple_place", (int)o->ple);
    uint64_t all = (uint64_t)o->n_ctx * o->n_seq;
    if (o->n_ubatch == 0)
        o->n_ubatch = DEFAULT_UBATCH;
    if (o->n_ubatch > 65536)
        return myth_fail_option(err, MYTH_EARG, "n_ubatch", "n_ubatch %u: at most 65536", o->n_ubatch);
    o->no_cache = o->no_cache || c->is_bidirectional;
    if (o->no_cache && o->offload == MYTH_OFFLOAD_KV)
        return myth_fail_option(err, MYTH_EARG, "offload",
                                "offload kv: this engine keeps no keys and values; offload weights, or nothing");
    if (o->n_host_kv && (o->no_cache || o->offload == MYTH_OFFLOAD_KV))
        return myth_fail_option(err, MYTH_EARG, "n_host_kv", "n_host_kv: %s",
                                o->no_cache ? "this engine keeps no keys and values; leave it out"
                                            : "offload kv keeps them in host memory too; use one of the two");
    if (o->n_ubatch > all && !o->no_cache)
        o->n_ubatch = (uint32_t)all;
    if (o->n_logit_rows == 0)
        o->n_logit_rows = o->n_seq;
    if (o->top_k == 0)
        o->top_k = 1;
    if (o->top_k > MYTH_TOPK_MAX)
        return myth_fail_option(err, MYTH_EARG, "top_k", "top_k %u: at most %d", o->top_k, MYTH_TOPK_MAX);
    o->top_k = min_u32(o->top_k, c->n_vocab);
    if (!o->has_cache_type)
        o->type_k = o->type_v = o->is_exact ? MYTH_F32 : MYTH_F16;
    o->has_cache_type = true;
    if (o->n_set_rows && o->no_cache)
        return myth_fail_option(err, MYTH_EARG, "n_set_rows", "n_set_rows %u: sets of tokens need a cache",
                                o->n_set_rows);
    o->n_set_rows = min_u32(o->n_set_rows, o->n_ctx);
    o->n_mass = o->n_set_rows ? min_u32(o->n_mass, o->n_ctx) : 0;
    o->no_kv_fold = o->no_kv_fold || o->n_set_rows; /* a folded key is made for its row, not for its position */
    for (int i = 0; i < 2; i++) {
        myth_dtype t = i ? o->type_v : o->type_k;
        const char *option = i ? "type_v" : "type_k";
        if (t != MYTH_F32 && t != MYTH_F16 && t != MYTH_BF16 && t != MYTH_Q8_0)
            return myth_fail_option(err, MYTH_EARG, option, "%s %s: f32, f16, bf16 or q8_0", option,
                                    (unsigned)t < MYTH_DTYPE_N ? myth_dtype_get(t)->name : "of no known type");
        for (uint32_t l = 0; l < c->n_layer; l++)
            if (c->layer[l].head_dim % myth_dtype_block(t))
                return myth_fail_option(err, MYTH_EARG, option, "%s %s: head_dim %u is not a multiple of %u", option,
                                        myth_dtype_get(t)->name, c->layer[l].head_dim, myth_dtype_block(t));
    }
    if (o->page_tok == 0)
        o->page_tok = choose_page_tok(o->n_ctx);
    o->page_tok = min_u32(o->page_tok, o->n_ctx);
    return MYTH_OK;
}

/* ---- parts ---- */

myth_status myth_layout_devices(char out[][MYTH_DEVICE_NAME_MAX], uint32_t cap, uint32_t *n, const char *names,
                                myth_error *err)
{
    const char *at = names && *names ? names : "auto";
    *n = 0;
    for (;;) {
        char name[MYTH_DEVICE_NAME_MAX];
        size_t len = strcspn(at, ",");
        if (len == 0)
            return myth_fail_option(err, MYTH_EDEVICE, "device", "device %.64s: an empty name", names);
        if (*n == cap || len >= sizeof name)
            return myth_fail_option(err, MYTH_EARG, "device", "device %.64s: at most %u names of devices", names, cap);
        memcpy(name, at, len);
        name[len] = '\0';
        myth_status st = myth_device_resolve(out[*n], name, err);
        if (st != MYTH_OK)
            return st;
        ++*n;
        if (!at[len])
            return MYTH_OK;
        at += len + 1;
    }
}

static myth_status check_sources(const myth_layout *layout, const myth_config *c, myth_error *err)
{
    for (uint32_t i = 0; i < layout->n_part; i++)
        for (uint32_t l = layout->part[i].layer0; l < layout->part[i].layer1; l++)
            if (c->layer[l].kv_source < layout->part[i].layer0)
                return myth_fail(err, MYTH_EARG, "layer %u reads the cache of layer %u: both on one device expected", l,
                                 c->layer[l].kv_source);
    return MYTH_OK;
}

/* The last layer at or before `at` where a part may begin: a layer that reads another's keys and values must be on the
 * same device as that layer. */
static uint32_t whole_border(const myth_config *c, uint32_t at)
{
    uint32_t first = c->n_layer;
    for (uint32_t l = c->first_shared; l < c->n_layer; l++)
        first = min_u32(first, c->layer[l].kv_source);
    return at > first && at < c->n_layer ? first : at;
}

/* Divides the layers: with n_gpu_layers the CPU gets all layers before the last n_gpu_layers; the devices named get the
 * others in proportion to `split`. A device that gets no layer is left out. */
static myth_status make_parts(myth_layout *layout, const myth_config *c, myth_error *err)
{
    const myth_engine_opts *o = &layout->opts;
    char name[MYTH_PART_MAX - 1][MYTH_DEVICE_NAME_MAX];
    uint32_t n_name;
    myth_status st = myth_layout_devices(name, MYTH_PART_MAX - 1, &n_name, o->device, err);
    if (st != MYTH_OK)
        return st;
    double share[MYTH_PART_MAX] = {0}, all = 0.0, before = 0.0;
    for (uint32_t i = 0; i < n_name; i++) {
        if (!(o->split[i] >= 0.0f))
            return myth_fail_option(err, MYTH_EARG, "split", "split: shares of 0 or more expected");
        all += share[i] = (double)o->split[i];
    }
    for (uint32_t i = 0; i < n_name && all == 0.0; i++)
        share[i] = 1.0;
    all = all == 0.0 ? n_name : all;

    uint32_t n_gpu = o->has_gpu_layers ? min_u32(o->n_gpu_layers, c->n_layer) : c->n_layer,
             at = whole_border(c, c->n_layer - n_gpu);
    n_gpu = c->n_layer - at;
    size_t len = 0;
    if (at)
        layout->part[layout->n_part++] = (myth_layout_part){.device = "cpu", .layer1 = at};
    for (uint32_t i = 0; i < n_name && n_gpu; i++) {
        uint32_t end =
            i + 1 == n_name ? c->n_layer : c->n_layer - n_gpu + (uint32_t)(n_gpu * ((before += share[i]) / all) + 0.5);
        end = whole_border(c, end);
        if (end <= at)
            continue;
        myth_layout_part *p = &layout->part[layout->n_part++];
        *p = (myth_layout_part){.layer0 = at, .layer1 = end};
        memcpy(p->device, name[i], sizeof p->device);
        at = end;
    }
    for (uint32_t i = 0; i < layout->n_part; i++) {
        layout->part[i].ledger = myth_device_ledger(layout->part[i].device);
        layout->part[i].is_host = layout->part[i].ledger == MYTH_MEM_HOST;
    }
    for (uint32_t i = 0; i < n_name; i++)
        len += (size_t)snprintf(layout->device + len, sizeof layout->device - len, "%s%s", i ? "," : "", name[i]);
    layout->opts.device = layout->device;
    return check_sources(layout, c, err);
}

myth_device_opts myth_layout_device(const myth_layout *layout, uint32_t i)
{
    const myth_engine_opts *o = &layout->opts;
    return (myth_device_opts){
        .name = layout->part[i].device,
        .n_threads = o->n_threads,
        .is_exact = o->is_exact,
        .cpu_level = o->cpu_level,
        .log = o->log,
        .settings = o->settings,
    };
}

/* ---- sizes ---- */

/* Only global layers fold, since folded keys use the global RoPE table; local layers always have keys of their own. */
bool myth_layout_folds(const myth_layout *layout, const myth_config *c, uint32_t l)
{
    const myth_layer_config *source = &c->layer[c->layer[l].kv_source];
    return source->k_is_v && source->is_global && c->has_v_norm && c->has_qk_norm && !layout->opts.no_kv_fold;
}

uint64_t myth_layout_layer_bytes(const myth_layout *layout, const myth_config *c, uint32_t l)
{
    const myth_layer_config *lc = &c->layer[l];
    uint64_t row = (myth_layout_folds(layout, c, l) ? 0 : myth_row_bytes(layout->opts.type_k, lc->head_dim)) +
                   myth_row_bytes(layout->opts.type_v, lc->head_dim);
    return (uint64_t)lc->n_head_kv * row * (lc->is_global ? layout->page_tok : layout->ring_tok);
}

const int myth_layout_kv_bufs[2][MYTH_KV_BUFS] = {{MYTH_BUF_kv_host, MYTH_BUF_kv_global},
                                                  {MYTH_BUF_kv_local, MYTH_BUF_N}};

int myth_layout_kv_buf(const myth_layout_part *p, const myth_config *c, uint32_t l)
{
    const bool is_host = c->layer[l].kv_source < p->host_kv1;
    return !c->layer[l].is_global ? MYTH_BUF_kv_local : is_host ? MYTH_BUF_kv_host : MYTH_BUF_kv_global;
}

uint64_t myth_layout_kv_bytes(const myth_layout_part *p, int buf)
{
    return buf == MYTH_BUF_kv_local  ? p->ring_bytes
         : buf == MYTH_BUF_kv_host   ? p->host_page_bytes
         : buf == MYTH_BUF_kv_global ? p->page_bytes
                                     : 0;
}

myth_mem_class myth_layout_slot_class(const myth_layout *layout)
{
    return layout->opts.offload == MYTH_OFFLOAD_KV ? MYTH_MEM_KV_GLOBAL : MYTH_MEM_WEIGHTS;
}

myth_mem_class myth_layout_held_class(const myth_layout *layout, int i)
{
    return layout->opts.offload != MYTH_OFFLOAD_KV ? MYTH_MEM_WEIGHTS : i == 0 ? MYTH_MEM_KV_GLOBAL : MYTH_MEM_KV_LOCAL;
}

/* Decides which layers are offloaded. When keys and values are, all layers that read the same ones must be. */
static void choose_offload(myth_layout *layout, const myth_config *c)
{
    for (uint32_t i = 0; i < layout->n_part; i++) {
        myth_layout_part *p = &layout->part[i];
        uint32_t n = p->layer1 - p->layer0,
                 want = layout->opts.n_offload && layout->opts.n_offload < n ? layout->opts.n_offload : n;
        p->offload1 = p->layer0 + (layout->opts.offload == MYTH_OFFLOAD_NONE || p->is_host ? 0 : want);
        for (uint32_t l = p->layer0; l < p->offload1 && layout->opts.offload == MYTH_OFFLOAD_KV; l++)
            if (c->layer[l].kv_last >= p->offload1)
                p->offload1 = c->layer[l].kv_last + 1u;
    }
}

/* Decides which global layers have their keys and values in host memory. */
static void choose_host_kv(myth_layout *layout, const myth_config *c)
{
    uint32_t left = layout->opts.n_host_kv;
    for (uint32_t i = 0; i < layout->n_part; i++) {
        myth_layout_part *p = &layout->part[i];
        p->host_kv1 = p->layer0;
        for (uint32_t l = p->layer0; l < p->layer1 && left && !p->is_host; l++)
            if (c->layer[l].is_global && c->layer[l].kv_source == l) {
                p->host_kv1 = l + 1;
                left--;
            }
    }
}

/* Decides where the table of per-layer embeddings is: read in place when the first part is the CPU; else copied to the
 * device when the option says so; else the host gathers its rows. */
static myth_status choose_ple(myth_layout *layout, const myth_model *m, myth_error *err)
{
    const bool is_random = myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM,
               copies = is_random || !layout->part[0].is_host;
    if (layout->opts.ple == MYTH_PLE_AUTO)
        layout->opts.ple = MYTH_PLE_HOST;
    if (layout->opts.ple == MYTH_PLE_DISK && myth_weights_is_read(m->weights))
        return myth_fail_option(err, MYTH_EARG, "ple",
                                "ple disk: the file was read into memory, not mapped; use ple host or device");
    layout->ple_by_host = m->config.n_ple && copies && layout->opts.ple != MYTH_PLE_DEVICE;
    return MYTH_OK;
}

/* Each of the device's slots holds the largest of its layers, every second one. Keys and values of global layers, which
 * are the largest by far, are so in one slot where every sixth layer is global. */
static void size_offload(myth_layout *layout, const myth_config *c, bool is_random)
{
    for (uint32_t i = 0; i < layout->n_part; i++) {
        myth_layout_part *p = &layout->part[i];
        p->n_slot = min_u32(p->offload1 - p->layer0, 2);
        for (uint32_t l = p->layer0; l < p->offload1; l++) {
            uint64_t bytes = layout->offloaded[l];
            if (layout->opts.offload == MYTH_OFFLOAD_KV)
                bytes =
                    myth_layout_layer_bytes(layout, c, l) * (c->layer[l].is_global ? layout->n_page : layout->n_ring);
            else if (is_random)
                p->held[0] += bytes;
            uint64_t *slot = &p->slot_bytes[(l - p->layer0) % 2];
            *slot = *slot < bytes ? bytes : *slot;
        }
        if (layout->opts.offload == MYTH_OFFLOAD_KV) {
            p->held[0] = layout->n_page * p->held_page_bytes;
            p->held[1] = layout->n_ring * p->held_ring_bytes;
        }
        p->own_class[myth_layout_slot_class(layout)] += p->slot_bytes[0] + p->slot_bytes[1];
        for (int k = 0; k < 2; k++)
            layout->host_class[myth_layout_held_class(layout, k)] += p->held[k];
    }
}

static void size_cache(myth_layout *layout, const myth_config *c)
{
    const myth_engine_opts *o = &layout->opts;
    bool has_global = false, has_local = false;
    layout->page_tok = o->page_tok;
    layout->window = min_u32(o->n_ctx, c->window ? c->window : o->n_ctx);
    layout->ring_tok = min_u32(o->n_ctx, layout->window + o->n_set_rows);
    layout->n_entry = o->no_cache ? 1 : div_up(o->n_ctx, layout->page_tok);
    if (o->no_cache)
        return;
    for (uint32_t i = 0; i < layout->n_part; i++) {
        myth_layout_part *p = &layout->part[i];
        for (uint32_t l = p->layer0; l < p->layer1; l++) {
            const myth_layer_config *lc = &c->layer[l];
            bool is_held = o->offload == MYTH_OFFLOAD_KV && l < p->offload1;
            if (lc->kv_source != l)
                continue; /* reads another layer's rows, owns none */
            uint64_t *total = lc->is_global ? is_held         ? &p->held_page_bytes
                                            : l < p->host_kv1 ? &p->host_page_bytes
                                                              : &p->page_bytes
                            : is_held       ? &p->held_ring_bytes
                                            : &p->ring_bytes;
            layout->layer_off[l] = *total;
            *total += myth_layout_layer_bytes(layout, c, l);
            if (lc->is_global)
                has_global = true;
            else
                has_local = true;
        }
        layout->page_bytes += p->page_bytes + p->host_page_bytes + p->held_page_bytes;
        layout->ring_bytes += p->ring_bytes + p->held_ring_bytes;
    }
    for (uint32_t l = 0; l < c->n_layer; l++)
        layout->layer_off[l] = layout->layer_off[c->layer[l].kv_source];
    /* a checkpoint keeps the page that it ends in, and the sequence goes on in a copy: one more page per checkpoint */
    layout->n_page = has_global ? o->n_seq * layout->n_entry + o->n_checkpoint : 0;
    layout->n_ring = has_local ? o->n_seq + o->n_checkpoint : 0;
    for (uint32_t i = 0; i < layout->n_part; i++) {
        myth_layout_part *p = &layout->part[i];
        p->buf[MYTH_BUF_kv_global] = layout->n_page * p->page_bytes;
        p->buf[MYTH_BUF_kv_host] = layout->n_page * p->host_page_bytes;
        p->buf[MYTH_BUF_kv_local] = layout->n_ring * p->ring_bytes;
    }
}

static uint64_t matrix_bytes(const myth_model *m, const myth_slot *s, uint32_t layer)
{
    const myth_slot_src src = myth_slot_find(m->weights, &m->config, s, layer);
    return src.t ? myth_arena_cost(src.bytes) : 0;
}

/* Matrices (or what is kept in f32) of the model itself at one place. */
static uint64_t model_bytes(const myth_layout *layout, const myth_model *m, myth_slot_place place, bool is_f32)
{
    const myth_config *c = &m->config;
    const myth_slot *s = myth_family_get(c->family)->model_slots;
    uint64_t sum = 0;
    for (; s && s->hf; s++) {
        if (s->place != place || !myth_slot_is_there(c, s, 0) || myth_slot_is_f32(s) != is_f32 ||
            (s->form == MYTH_FORM_ROWS && layout->ple_by_host))
            continue;
        sum += is_f32 ? 4 * myth_slot_rows(c, s, 0) * myth_slot_size(c, 0, s->cols) : matrix_bytes(m, s, 0);
    }
    return sum;
}

/* The sum that a matrix of layer l counts in: experts read in host memory, offloaded weights, or the device's own. */
static uint64_t *matrix_sum(myth_layout *layout, const myth_layout_part *p, const myth_slot *s, uint32_t l)
{
    if (!p->is_host && l < layout->opts.n_cpu_moe && myth_slot_is_expert(s))
        return &layout->expert[l];
    return layout->opts.offload == MYTH_OFFLOAD_WEIGHTS && l < p->offload1 ? &layout->offloaded[l] : &layout->matrix[l];
}

/* Values of the largest quantised matrix, other than Q8_0 and Q4_0, which devices store as separate quants and scales.
 */
static uint64_t block_values(const myth_model *m)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
        const myth_tensor *t = myth_weights_at(m->weights, i);
        uint64_t n = t->n_dim > 1;
        for (uint32_t d = 0; d < t->n_dim; d++)
            n *= t->dim[d];
        if (myth_dtype_is_quant(t->dtype) && t->dtype != MYTH_Q8_0 && t->dtype != MYTH_Q4_0 && most < n)
            most = n;
    }
    return most;
}

/* Embedding and the model's own matrices that the first part has, and the head's that the last has. */
static uint64_t first_matrices(const myth_layout *layout, const myth_model *m)
{
    return matrix_bytes(m, &myth_slots_model[MYTH_SLOT_EMBED], 0) + model_bytes(layout, m, MYTH_AT_FIRST, false);
}
static uint64_t last_matrices(const myth_layout *layout, const myth_model *m)
{
    const bool is_first = layout->n_part == 1;
    return (m->config.has_head ? matrix_bytes(m, &myth_slots_model[MYTH_SLOT_HEAD], 0)
            : is_first         ? 0
                               : matrix_bytes(m, &myth_slots_model[MYTH_SLOT_EMBED], 0)) +
           model_bytes(layout, m, MYTH_AT_LAST, false);
}

/* Of the model: what is kept in f32 besides the layers' vectors. */
static uint64_t model_norms(const myth_layout *layout, const myth_model *m, bool is_first, bool is_last)
{
    return (is_last ? 4 * myth_slot_size(&m->config, 0, myth_slots_model[MYTH_SLOT_OUTPUT_NORM].rows) : 0) +
           (is_first ? model_bytes(layout, m, MYTH_AT_FIRST, true) : 0) +
           (is_last ? model_bytes(layout, m, MYTH_AT_LAST, true) : 0);
}

/* Matrices are used in place on the CPU unless they are made from a seed; every other device has copies. */
static void size_weights(myth_layout *layout, const myth_model *m)
{
    const myth_config *c = &m->config;
    const myth_family *f = myth_family_get(c->family);
    bool is_random = myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM;
    for (uint32_t i = 0; i < layout->n_part; i++) {
        myth_layout_part *p = &layout->part[i];
        bool is_first = i == 0, is_last = i + 1 == layout->n_part, copies = p->copies = is_random || !p->is_host;
        uint64_t norms = model_norms(layout, m, is_first, is_last), matrices = 0;
        for (uint32_t l = p->layer0; l < p->layer1; l++) {
            for (const myth_slot *s = f->slots; s->hf; s++) {
                if (!myth_slot_is_there(c, s, l))
                    continue;
                if (myth_slot_is_f32(s))
                    norms += 4 * myth_slot_rows(c, s, l) * myth_slot_size(c, l, s->cols);
                else if (copies && myth_slot_is_matrix(s))
                    *matrix_sum(layout, p, s, l) += matrix_bytes(m, s, l);
            }
            matrices += layout->matrix[l];
            layout->expert_bytes += layout->expert[l];
        }
        if (copies && is_first)
            layout->first_bytes = first_matrices(layout, m);
        if (copies && is_last)
            layout->last_bytes = last_matrices(layout, m);
        *(layout->opts.host_head && !p->is_host ? &layout->host_class[MYTH_MEM_WEIGHTS] : &matrices) +=
            (is_first ? layout->first_bytes : 0) + (is_last ? layout->last_bytes : 0);
        p->buf[MYTH_BUF_norms] = norms;
        p->buf[MYTH_BUF_adapter] = myth_low_rank_bytes(m, p->layer0, p->layer1);
        p->own_class[MYTH_MEM_WEIGHTS] += matrices;
        if (is_random && !p->is_host)
            layout->host[MYTH_HOST_load] = LOAD_BYTES;
    }
    layout->host_class[MYTH_MEM_WEIGHTS] += layout->expert_bytes;
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights) && layout->host[MYTH_HOST_load];
         i++) { /* a row at least */
        const myth_tensor *t = myth_weights_at(m->weights, i);
        uint64_t row = t->n_dim > 1 ? myth_row_bytes(t->dtype, t->dim[t->n_dim - 1]) : 0;
        if (layout->host[MYTH_HOST_load] < row)
            layout->host[MYTH_HOST_load] = row;
    }
}

/* Weights of layer l of part p: what is taken for it, and what is used in the file. */
static void layer_weights(myth_layer_bytes *out, const myth_layout *layout, const myth_layout_part *p,
                          const myth_model *m, uint32_t l)
{
    const bool is_random = myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM;
    out->weight_bytes = layout->matrix[l] + layout->expert[l] + (is_random ? layout->offloaded[l] : 0) +
                        myth_low_rank_bytes(m, l, l + 1);
    out->in_place_bytes = is_random ? 0 : layout->offloaded[l];
    for (const myth_slot *s = myth_family_get(m->config.family)->slots; s->hf; s++) {
        if (!myth_slot_is_there(&m->config, s, l))
            continue;
        if (myth_slot_is_f32(s))
            out->weight_bytes += 4 * myth_slot_rows(&m->config, s, l) * myth_slot_size(&m->config, l, s->cols);
        else if (!p->copies && myth_slot_is_matrix(s))
            out->in_place_bytes += matrix_bytes(m, s, l);
    }
}

void myth_layout_layers(myth_layers *out, const myth_layout *layout, const myth_model *m)
{
    const myth_config *c = &m->config;
    myth_layer_bytes *rest = &out->layer[c->n_layer];
    *out = (myth_layers){
        .n_layer = c->n_layer,
        .sequence_bytes = layout->n_entry * layout->page_bytes + layout->ring_bytes,
    };
    for (uint32_t i = 0; i < layout->n_part; i++) {
        const myth_layout_part *p = &layout->part[i];
        const uint64_t slots = p->slot_bytes[0] + p->slot_bytes[1];
        const bool is_first = i == 0, is_last = i + 1 == layout->n_part, holds_kv = !layout->opts.no_cache;
        for (uint32_t l = p->layer0; l < p->layer1; l++) {
            myth_layer_bytes *of = &out->layer[l];
            of->ledger = p->ledger;
            layer_weights(of, layout, p, m, l);
            if (holds_kv && c->layer[l].kv_source == l)
                of->kv_bytes =
                    myth_layout_layer_bytes(layout, c, l) * (c->layer[l].is_global ? layout->n_page : layout->n_ring);
        }
        rest->weight_bytes += model_norms(layout, m, is_first, is_last);
        if (!p->copies)
            rest->in_place_bytes +=
                (is_first ? first_matrices(layout, m) : 0) + (is_last ? last_matrices(layout, m) : 0);
        *(layout->opts.offload == MYTH_OFFLOAD_KV ? &rest->kv_bytes : &rest->weight_bytes) += slots;
    }
    rest->ledger = layout->part[0].ledger;
    rest->weight_bytes += layout->first_bytes + layout->last_bytes;
}

uint32_t myth_layout_part_of_residual(const myth_layout *layout, uint32_t l)
{
    uint32_t i = 0;
    while (i + 1 < layout->n_part && l > layout->part[i].layer1)
        i++;
    return i;
}

static myth_status size_capture(myth_layout *layout, const myth_config *c, myth_error *err)
{
    myth_engine_opts *o = &layout->opts;
    for (uint32_t l = 0; l <= MYTH_LAYER_MAX; l++)
        layout->capture_idx[l] = -1;
    if (o->n_capture_label > INT32_MAX)
        return myth_fail_option(err, MYTH_EARG, "n_capture_label", "n_capture_label %u: at most %d", o->n_capture_label,
                                INT32_MAX);
    if (o->n_capture_layer && !o->capture_layer)
        return myth_fail_option(err, MYTH_EARG, "capture_layer", "capture_layer is NULL, and n_capture_layer is %u",
                                o->n_capture_layer);
    for (uint32_t i = 0; i < o->n_capture_layer; i++) {
        uint32_t l = o->capture_layer[i];
        if (l > c->n_layer || layout->capture_idx[l] >= 0)
            return myth_fail_option(err, MYTH_EARG, "capture_layer", "capture_layer %u: each of 0 to %u at most once",
                                    l, c->n_layer);
        layout->capture_idx[l] = (int32_t)layout->part[myth_layout_part_of_residual(layout, l)].n_capture++;
    }
    layout->n_capture = o->n_capture_layer;
    o->n_capture_label = layout->n_capture ? max_u32(o->n_capture_label, 1) : 0;
    o->capture_layer = NULL; /* the caller's; capture_idx says it all */
    for (uint32_t i = 0; i < layout->n_part; i++)
        layout->part[i].buf[MYTH_BUF_capture] =
            layout->part[i].n_capture * (8 * (uint64_t)o->n_capture_label * c->d_model + 4);
    layout->host[MYTH_HOST_captured] = 8 * (uint64_t)o->n_capture_label;
    return MYTH_OK;
}

/* The order of MYTH_INDEX_ARRAYS, each array at its longest. */
static void place_index(myth_layout *layout, const myth_config *c)
{
    const uint64_t rows = layout->opts.n_ubatch, captured = layout->n_capture ? rows : 0,
                   kept = c->first_shared < c->n_layer ? rows : 0;
    const uint64_t n[MYTH_INDEX_N] = {
        [MYTH_INDEX_id] = rows,
        [MYTH_INDEX_pos] = rows,
        [MYTH_INDEX_place] = layout->opts.n_set_rows ? rows : 0,
        [MYTH_INDEX_row_run] = rows,
        [MYTH_INDEX_rows] = rows,
        [MYTH_INDEX_runs] = ((uint64_t)layout->n_run + (layout->opts.n_set_rows > 0)) * MYTH_RUN_WIDTH,
        [MYTH_INDEX_capture_rows] = captured,
        [MYTH_INDEX_capture_label] = captured,
        [MYTH_INDEX_keep] = kept,
        [MYTH_INDEX_keep_pos] = kept,
        [MYTH_INDEX_keep_row_run] = kept,
    };
    for (int i = 0; i < MYTH_INDEX_N; i++)
        layout->index_at[i + 1] = layout->index_at[i] + n[i];
}

static void size_step(const myth_layout *layout, myth_layout_part *p, const myth_config *c, uint32_t low_rank)
{
    const myth_engine_opts *o = &layout->opts;
    uint64_t rows = o->n_ubatch, d = c->d_model, q = c->max_q, kv = c->max_kv, ple = (uint64_t)c->n_layer * c->n_ple;
    bool is_shared = c->first_shared < p->layer1;
    uint64_t *b = p->buf;
    b[MYTH_BUF_branch] = b[MYTH_BUF_xn] = rows * d * 4;
    b[MYTH_BUF_x] = rows * d * 4 * max_u32(c->n_altup, 1);
    b[MYTH_BUF_altup] = c->n_altup ? rows * (3 * d + c->laurel_rank) * 4 : 0;
    b[MYTH_BUF_qkv] = rows * (q + 2 * kv) * 4;
    b[MYTH_BUF_q] = b[MYTH_BUF_o] = rows * q * 4;
    b[MYTH_BUF_up] = b[MYTH_BUF_h] = rows * c->max_ff * 4;
    b[MYTH_BUF_low] = rows * low_rank * 4;
    b[MYTH_BUF_k_new] = rows * myth_row_bytes(o->type_k, kv);
    b[MYTH_BUF_v_new] = rows * myth_row_bytes(o->type_v, kv);
    b[MYTH_BUF_k_shared] = is_shared ? 2 * b[MYTH_BUF_k_new] : 0;
    b[MYTH_BUF_v_shared] = is_shared ? 2 * b[MYTH_BUF_v_new] : 0;
    for (uint32_t l = p->layer0; l < p->layer1; l++)
        if (myth_layout_folds(layout, c, l))
            b[MYTH_BUF_key_table] = (uint64_t)o->n_ctx * c->rope_pairs_global * 8;
    b[MYTH_BUF_ple] = rows * ple * 4;
    b[MYTH_BUF_ple_rows] = layout->ple_by_host && p->layer0 == 0 ? rows * ple * 4 : 0;
    const uint64_t n_used = rows * c->n_expert_used;
    b[MYTH_BUF_moe_logits] = rows * c->n_expert * 4;
    b[MYTH_BUF_moe_weight] = n_used * 4;
    b[MYTH_BUF_moe_index] = c->n_expert ? 4 * (2 * n_used + c->n_expert + 1) : 0;
    b[MYTH_BUF_moe_h] = n_used * c->d_ff_expert * 4;
    b[MYTH_BUF_moe_part] = n_used * d * 4;
    b[MYTH_BUF_moe_y] = c->n_expert ? rows * d * 4 : 0;
    b[MYTH_BUF_rope_global] = rows * c->head_dim_global * 4;
    b[MYTH_BUF_rope_local] = rows * c->head_dim_local * 4;
    b[MYTH_BUF_index] = 4 * layout->index_at[MYTH_INDEX_N];
    b[MYTH_BUF_table] = 8 * (uint64_t)o->n_seq * (layout->n_entry + 1);
    b[MYTH_BUF_hidden] = o->want_hidden ? rows * d * 4 : 0;
    b[MYTH_BUF_mass] = (uint64_t)o->n_logit_rows * o->n_mass * (1ull + c->n_head) * 4;
}

static void size_logits(myth_layout *layout, myth_layout_part *last, const myth_config *c)
{
    const myth_engine_opts *o = &layout->opts;
    uint64_t rows = o->n_logit_rows;
    uint64_t *b = last->buf;
    layout->mask_words = div_up(c->n_vocab, 32);
    b[MYTH_BUF_head_x] = rows * c->d_model * 4;
    b[MYTH_BUF_top_id] = b[MYTH_BUF_top_logit] = rows * o->top_k * 4;
    b[MYTH_BUF_row_stat] = 2 * rows * 4;
    b[MYTH_BUF_run] = 4 * (16 + MYTH_RUN_STOP_MAX + (uint64_t)MYTH_RUN_STEPS * o->n_seq);
    b[MYTH_BUF_ask] = 2 * rows * o->n_ask * 4;
    b[MYTH_BUF_mask] = o->n_mask ? ((uint64_t)o->n_mask * layout->mask_words + rows) * 4 : 0;
    b[MYTH_BUF_bias] = o->n_bias ? (rows + 1 + 2 * (uint64_t)o->n_bias) * 4 : 0;
    b[MYTH_BUF_full] = o->want_full_logits ? (uint64_t)c->n_vocab * 4 : 0;
    layout->host[MYTH_HOST_run] = 4 * (uint64_t)MYTH_RUN_STEPS * o->n_seq;
    /* a part's sums of mass arrive behind those of all parts */
    layout->host[MYTH_HOST_result] = rows * (2 * (uint64_t)o->top_k + 2 + o->n_ask + 2ull * o->n_mass) * 4;
    uint64_t full = b[MYTH_BUF_full], hidden = b[MYTH_BUF_hidden];
    layout->host[MYTH_HOST_row] = full > hidden ? full : hidden;
}

/* Number of files whose tensors may be used where they are mapped. */
static uint32_t n_shard(const myth_model *m)
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

uint64_t myth_engine_block_bytes(const myth_layout *layout, uint32_t n_layer)
{
    uint64_t holders = (uint64_t)layout->opts.n_seq + layout->opts.n_checkpoint;
    return sizeof(myth_engine) + layout->n_part * sizeof(myth_part) + layout->opts.n_seq * sizeof(myth_seq) +
           layout->opts.n_checkpoint * sizeof(myth_checkpoint) + holders * sizeof(myth_kv_rows) +
           (layout->n_wrapped + n_layer + 2ull + (layout->expert_bytes ? n_layer : 0)) * sizeof(myth_buf *);
}

myth_status myth_layout_make(myth_layout *out, const myth_model *m, const myth_engine_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_config *c = &m->config;
    *out = (myth_layout){0};
    if (opts)
        out->opts = *opts;
    if (myth_weights_get_level(m->weights) < MYTH_WEIGHTS_HEADER)
        return myth_fail_option(err, MYTH_EARG, "level",
                                "level CONFIG: a plan needs the model's tensors; open the model with level HEADER, or "
                                "with DATA for an engine");
    MYTH_TRY(fill_defaults(&out->opts, m, err));
    const myth_engine_opts *o = &out->opts;
    MYTH_TRY(myth_low_rank_check(m, err));
    MYTH_TRY(make_parts(out, c, err));
    choose_offload(out, c);
    choose_host_kv(out, c);
    MYTH_TRY(choose_ple(out, m, err));
    size_weights(out, m);
    size_cache(out, c);
    size_offload(out, c, myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM);
    out->n_run = o->n_ubatch;
    MYTH_TRY(size_capture(out, c, err));
    place_index(out, c);
    for (uint32_t i = 0; i < out->n_part; i++)
        size_step(out, &out->part[i], c, myth_low_rank_most(m));
    size_logits(out, &out->part[out->n_part - 1], c);
    out->n_shard = n_shard(m);
    for (uint32_t i = 0; i < out->n_part; i++)
        out->n_wrapped += out->part[i].copies ? 0 : out->n_shard;
    out->host[MYTH_HOST_engine] = myth_engine_block_bytes(out, c->n_layer);
    out->host[MYTH_HOST_bound] = sizeof(myth_bound_weights);
    out->host[MYTH_HOST_low] = m->n_lora ? (c->n_layer + 1ull) * sizeof(myth_layer_low) : 0;
    out->host[MYTH_HOST_tokens] = o->no_cache ? 0 : 4 * (uint64_t)o->n_seq * o->n_ctx;
    out->host[MYTH_HOST_places] = o->n_set_rows ? out->host[MYTH_HOST_tokens] : 0;
    out->host[MYTH_HOST_pages] = myth_kv_host_bytes(out);
    out->host[MYTH_HOST_step] = out->part[0].buf[MYTH_BUF_index];
    const uint64_t ple = (uint64_t)c->n_layer * c->n_ple;
    out->host[MYTH_HOST_cross] =
        out->n_part > 1 ? (uint64_t)o->n_ubatch * ((uint64_t)c->d_model * max_u32(c->n_altup, 1) + ple) * 4 : 0;
    out->host[MYTH_HOST_ple] = out->ple_by_host ? o->n_ubatch * ple * 4 : 0;

    for (uint32_t i = 0; i < out->n_part; i++) {
        myth_layout_part *p = &out->part[i];
        p->work = (myth_work_shape){
            .n_rows = o->n_ubatch,
            .n_logit_rows = o->n_logit_rows,
            .d_model = c->d_model,
            .d_ff = max_u32(c->max_ff, c->d_ff_expert),
            .n_head = c->n_head,
            .n_head_kv = c->max_head_kv,
            .head_dim = c->max_head_dim,
            .n_vocab = c->n_vocab,
            .n_ctx = o->n_ctx,
            .top_k = o->top_k,
            .n_record_ops = 8 + (myth_family_get(c->family)->n_layer_ops + (m->n_lora ? MYTH_LOW_OPS : 0)) *
                                    (p->layer1 - p->layer0),
            .n_graph = 1,
            .folds_keys = p->buf[MYTH_BUF_key_table] > 0,
            .block_values = block_values(m),
        };
        myth_class_bytes host, own;
        myth_device_opts dev = myth_layout_device(out, i);
        myth_device_plan(&host, &own, &dev, &p->work);
        for (int k = 0; k < MYTH_BUF_N; k++)
            *(k == MYTH_BUF_kv_host ? &out->host_class[myth_buf_class[k]] : &p->own_class[myth_buf_class[k]]) +=
                p->buf[k];
        for (int k = 0; k < MYTH_MEM_CLASS_N; k++) {
            out->host_class[k] += host.bytes[k];
            p->own_class[k] += own.bytes[k];
            if (p->is_host) {
                out->host_class[k] += p->own_class[k];
                p->own_class[k] = 0;
            }
        }
    }
    for (int i = 0; i < MYTH_HOST_N; i++)
        out->host_class[myth_host_class[i]] += out->host[i];
fail:
    return st;
}
