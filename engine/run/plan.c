/* plan.c - counts the memory of an engine before any is taken (the layout's blocks and the model's own), and finds
 * changes with which a plan that is too large fits. */
#include "layout.h"

#include "lora.h"

#include <stdio.h>
#include <string.h>

static const uint32_t MIN_UBATCH = 16, MIN_CTX = 256, CTX_STEP = 64;

static uint64_t limited_total(const uint64_t bytes[MYTH_MEM_CLASS_N])
{
    uint64_t sum = 0;
    for (int i = 0; i < MYTH_MEM_CLASS_N; i++)
        if (i != MYTH_MEM_WEIGHTS_MAPPED)
            sum += bytes[i];
    return sum;
}

/* What the model itself books, engine or not. */
static void add_model(uint64_t bytes[MYTH_MEM_CLASS_N], const myth_model *m)
{
    bytes[MYTH_MEM_OTHER] += myth_weights_booked(m->weights);
    bytes[myth_weights_is_read(m->weights) ? MYTH_MEM_WEIGHTS : MYTH_MEM_WEIGHTS_MAPPED] +=
        myth_weights_mapped(m->weights);
    for (uint32_t i = 0; i < m->n_lora; i++) {
        const myth_weights *w = myth_lora_weights(m->lora[i]);
        bytes[MYTH_MEM_OTHER] += myth_lora_booked(m->lora[i]);
        bytes[myth_weights_is_read(w) ? MYTH_MEM_WEIGHTS : MYTH_MEM_WEIGHTS_MAPPED] += myth_weights_mapped(w);
    }
    if (m->tokenizer) {
        bytes[MYTH_MEM_TOKENIZER] += myth_tokenizer_bytes(m->tokenizer);
        bytes[MYTH_MEM_WEIGHTS_MAPPED] +=
            myth_tokenizer_file_bytes(m->tokenizer); /* mapped beside the tensors, for a while */
    }
}

static myth_plan_device *device_of(myth_plan *p, const char *name, int ledger)
{
    for (uint32_t i = 0; i < p->n_device; i++)
        if (p->device[i].ledger == ledger)
            return &p->device[i];
    myth_plan_device *d = &p->device[p->n_device++];
    d->ledger = ledger;
    snprintf(d->name, sizeof d->name, "%s", name);
    return d;
}

/* Holds the host, and the devices whose memory is the host's, to what they may have together. Each such device has what
 * the others leave. */
static void limit_together(myth_plan *p, const myth_mem_limits *limits)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < p->n_device; k++)
        if (k == 0 || limits->in_host >> p->device[k].ledger & 1)
            sum += p->device[k].total_bytes;
    if (!limits->host_and || sum <= limits->host_and)
        return;
    p->fits = false;
    for (uint32_t k = 0; k < p->n_device; k++) {
        myth_plan_device *d = &p->device[k];
        const uint64_t others = sum - d->total_bytes, left = limits->host_and > others ? limits->host_and - others : 1;
        if (limits->in_host >> d->ledger & 1 && (!d->limit_bytes || left < d->limit_bytes))
            d->limit_bytes = left;
    }
}

static myth_status plan_once(myth_plan *out, const myth_model *m, const myth_engine_opts *opts,
                             const myth_plan_extra *extra, const myth_mem_limits *limits, myth_error *err)
{
    myth_layout layout;
    myth_status st = myth_layout_make(&layout, m, opts, err);
    if (st != MYTH_OK)
        return st;
    *out = (myth_plan){
        .limit_bytes = limits ? limits->bytes[MYTH_MEM_HOST] : 0,
        .n_ctx = layout.opts.n_ctx,
        .n_seq = layout.opts.n_seq,
        .n_ubatch = layout.opts.n_ubatch,
        .page_tok = layout.page_tok,
        .n_page = layout.n_page,
        .type_k = layout.opts.type_k,
        .type_v = layout.opts.type_v,
        .expert_bytes = layout.expert_bytes,
        .fits = true,
    };
    myth_plan_device *host = device_of(out, "cpu", MYTH_MEM_HOST);
    for (int i = 0; i < MYTH_MEM_CLASS_N; i++)
        host->bytes[i] = layout.host_class[i] + (extra ? extra->bytes[i] : 0);
    if (extra && extra->of_context)
        host->bytes[MYTH_MEM_STAGING] += extra->of_context(extra->user, layout.opts.n_ctx);
    add_model(host->bytes, m);
    for (uint32_t k = 0; k < layout.n_part; k++) {
        myth_plan_device *d = device_of(out, layout.part[k].device, layout.part[k].ledger);
        for (int i = 0; i < MYTH_MEM_CLASS_N; i++)
            d->bytes[i] += layout.part[k].own_class[i];
    }
    for (uint32_t k = 0; k < out->n_device; k++) {
        myth_plan_device *d = &out->device[k];
        d->limit_bytes = limits ? limits->bytes[d->ledger] : 0;
        d->total_bytes = limited_total(d->bytes);
        out->fits = out->fits && (d->limit_bytes == 0 || d->total_bytes <= d->limit_bytes);
        out->total_bytes += d->total_bytes;
        for (int i = 0; i < MYTH_MEM_CLASS_N; i++)
            out->bytes[i] += d->bytes[i];
    }
    if (limits)
        limit_together(out, limits);
    return MYTH_OK;
}

typedef struct {
    const myth_model *m;
    const myth_plan_extra *extra;
    myth_mem_limits limits;
    myth_plan *plan;
} suggester;

/* Keeps the changes when planning with them fits, and the caller can make them. */
static void suggest(suggester *s, const myth_engine_opts *changed, uint32_t changes)
{
    myth_plan p;
    if (s->plan->n_suggestion == MYTH_SUGGESTION_MAX || changes & changed->fixed ||
        plan_once(&p, s->m, changed, s->extra, &s->limits, NULL) != MYTH_OK || !p.fits)
        return;
    s->plan->suggestion[s->plan->n_suggestion++] = (myth_suggestion){
        .changes = changes,
        .n_gpu_layers = changed->n_gpu_layers,
        .n_cpu_moe = changed->n_cpu_moe,
        .n_host_kv = changed->n_host_kv,
        .n_ubatch = changed->n_ubatch,
        .n_ctx = changed->n_ctx,
        .n_seq = changed->n_seq,
        .cache_type = changed->type_k,
        .limit_bytes = s->limits.bytes[MYTH_MEM_HOST],
        .total_bytes = p.total_bytes,
    };
    memcpy(s->plan->suggestion[s->plan->n_suggestion - 1].split, changed->split, sizeof changed->split);
}

void myth_suggestion_apply(const myth_suggestion *s, myth_engine_opts *opts, myth_mem_limits *limits)
{
    if (s->changes & MYTH_CHANGE_DEVICE) {
        opts->device = "cpu";
        opts->has_gpu_layers = false;
        opts->offload = MYTH_OFFLOAD_NONE;
    }
    if (s->changes & MYTH_CHANGE_LIMIT && limits)
        limits->bytes[MYTH_MEM_HOST] = s->limit_bytes;
    if (s->changes & MYTH_CHANGE_GPU_LAYERS) {
        opts->has_gpu_layers = true;
        opts->n_gpu_layers = s->n_gpu_layers;
    }
    if (s->changes & MYTH_CHANGE_CPU_MOE)
        opts->n_cpu_moe = s->n_cpu_moe;
    if (s->changes & MYTH_CHANGE_HEAD)
        opts->host_head = true;
    if (s->changes & MYTH_CHANGE_HOST_KV)
        opts->n_host_kv = s->n_host_kv;
    if (s->changes & MYTH_CHANGE_SPLIT)
        memcpy(opts->split, s->split, sizeof opts->split);
    if (s->changes & MYTH_CHANGE_OFFLOAD) {
        opts->offload = MYTH_OFFLOAD_WEIGHTS;
        opts->n_offload = 0;
    }
    if (s->changes & MYTH_CHANGE_CACHE_TYPE) {
        opts->has_cache_type = true;
        opts->type_k = opts->type_v = s->cache_type;
    }
    if (s->changes & MYTH_CHANGE_UBATCH)
        opts->n_ubatch = s->n_ubatch;
    if (s->changes & MYTH_CHANGE_CTX) {
        opts->n_ctx = s->n_ctx;
        opts->page_tok = 0;
    }
    if (s->changes & MYTH_CHANGE_SEQ)
        opts->n_seq = s->n_seq;
}

static bool fits_with(const suggester *s, const myth_engine_opts *o)
{
    myth_plan p;
    return plan_once(&p, s->m, o, s->extra, &s->limits, NULL) == MYTH_OK && p.fits;
}

/* The largest value below *field of low, low + step, ... with which o fits; 0 = none. */
static uint32_t largest_that_fits(const suggester *s, myth_engine_opts *o, uint32_t *field, uint32_t low, uint32_t step)
{
    const uint32_t was = *field;
    uint32_t best = 0, high = was; /* best fits, high does not */
    *field = low;
    if (low < was && fits_with(s, o))
        best = low;
    while (best && best + step < high) {
        *field = best + ((high - best - 1) / step + 1) / 2 * step;
        if (fits_with(s, o))
            best = *field;
        else
            high = *field;
    }
    *field = was;
    return best;
}

/* Tries to divide the layers by what the devices named may have; with two of them every division, the nearest to that
 * first. */
static void suggest_split(suggester *s, const myth_engine_opts *o)
{
    char name[MYTH_SPLIT_MAX][MYTH_DEVICE_NAME_MAX];
    myth_engine_opts t = *o;
    const uint32_t n_layer = s->m->config.n_layer;
    uint32_t n_name;
    double all = 0.0;
    if (o->has_gpu_layers || myth_layout_devices(name, MYTH_SPLIT_MAX, &n_name, o->device, NULL) != MYTH_OK ||
        n_name < 2)
        return;
    for (uint32_t i = 0; i < n_name; i++) {
        const uint64_t limit = s->limits.bytes[myth_device_ledger(name[i])];
        if (limit == 0)
            return; /* it may have all that it needs: there is nothing to weigh it by */
        all += (double)limit;
    }
    uint32_t left = n_layer;
    for (uint32_t i = 0; i < n_name; i++) {
        const uint32_t n = (uint32_t)(n_layer * ((double)s->limits.bytes[myth_device_ledger(name[i])] / all) + 0.5);
        t.split[i] = (float)(i + 1 == n_name || n > left ? left : n);
        left -= (uint32_t)t.split[i];
    }
    const uint32_t first = (uint32_t)t.split[0], n_suggestion = s->plan->n_suggestion;
    suggest(s, &t, MYTH_CHANGE_SPLIT);
    for (uint32_t away = 1; away < n_layer && n_name == 2 && s->plan->n_suggestion == n_suggestion; away++)
        for (int side = -1; side <= 1 && s->plan->n_suggestion == n_suggestion; side += 2) {
            const int64_t at = (int64_t)first + side * (int64_t)away;
            if (at <= 0 || at >= n_layer)
                continue;
            t.split[0] = (float)at;
            t.split[1] = (float)(n_layer - at);
            suggest(s, &t, MYTH_CHANGE_SPLIT);
        }
}

/* Global layers that keep keys and values of their own. */
static uint32_t n_global_layers(const myth_model *m)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < m->config.n_layer; l++)
        n += m->config.layer[l].is_global && m->config.layer[l].kv_source == l;
    return n;
}

/* Tries keys and values in host memory, of as few layers as fit. */
static void suggest_host_kv(suggester *s, const myth_engine_opts *o)
{
    myth_engine_opts t = *o;
    const uint32_t most = n_global_layers(s->m);
    for (t.n_host_kv = o->n_host_kv; t.n_host_kv < most;) {
        t.n_host_kv++;
        if (fits_with(s, &t)) {
            suggest(s, &t, MYTH_CHANGE_HOST_KV);
            return;
        }
    }
}

/* Tries other places: fewer layers on the devices, experts or all weights in host memory, everything on the CPU. */
static void suggest_other_places(suggester *s, const myth_engine_opts *o)
{
    myth_engine_opts t = *o;
    uint32_t n_layer = s->m->config.n_layer,
             most = o->has_gpu_layers && o->n_gpu_layers < n_layer ? o->n_gpu_layers : n_layer;
    t.has_gpu_layers = true;
    for (t.n_gpu_layers = most - 1; t.n_gpu_layers > 0 && most > 1; t.n_gpu_layers--)
        if (fits_with(s, &t)) {
            suggest(s, &t, MYTH_CHANGE_GPU_LAYERS);
            break;
        }
    t = *o;
    for (uint32_t n = o->n_cpu_moe; n < n_layer && s->m->config.n_expert; n++) {
        t.n_cpu_moe = n + 1;
        if (fits_with(s, &t)) {
            suggest(s, &t, MYTH_CHANGE_CPU_MOE);
            break;
        }
    }
    suggest_split(s, o);
    t = *o;
    t.host_head = true;
    if (!o->host_head)
        suggest(s, &t, MYTH_CHANGE_HEAD);
    t.host_head = o->host_head;
    if (!o->no_cache && o->offload != MYTH_OFFLOAD_KV)
        suggest_host_kv(s, o);
    if (o->offload == MYTH_OFFLOAD_NONE) {
        const uint32_t n = s->plan->n_suggestion;
        t.offload = MYTH_OFFLOAD_WEIGHTS;
        t.n_offload = 0;
        suggest(s, &t, MYTH_CHANGE_OFFLOAD);
        t.host_head = true;
        if (s->plan->n_suggestion == n && !o->host_head)
            suggest(s, &t, MYTH_CHANGE_OFFLOAD | MYTH_CHANGE_HEAD);
        t.n_ubatch = o->n_ubatch < 64 ? o->n_ubatch : 64;
        if (s->plan->n_suggestion == n && !o->host_head)
            suggest(s, &t, MYTH_CHANGE_OFFLOAD | MYTH_CHANGE_HEAD | MYTH_CHANGE_UBATCH);
        t.n_host_kv = n_global_layers(s->m);
        if (s->plan->n_suggestion == n && !o->host_head && !o->no_cache && !o->n_host_kv)
            suggest(s, &t, MYTH_CHANGE_OFFLOAD | MYTH_CHANGE_HEAD | MYTH_CHANGE_HOST_KV | MYTH_CHANGE_UBATCH);
    }
    t = *o;
    t.has_gpu_layers = false;
    t.offload = MYTH_OFFLOAD_NONE;
    t.device = "cpu";
    suggest(s, &t, MYTH_CHANGE_DEVICE);
    t.n_ubatch = o->n_ubatch < 64 ? o->n_ubatch : 64;
    suggest(s, &t, MYTH_CHANGE_DEVICE | MYTH_CHANGE_UBATCH);
}

/* The smallest context that is of any use. */
static uint32_t least_context(const myth_engine_opts *o) { return o->n_ctx_least > MIN_CTX ? o->n_ctx_least : MIN_CTX; }

/* Makes rows, context, number of sequences and, with is_least, also the type of keys and values as small as they can
 * be. Returns what is changed. */
static uint32_t shrink_all(myth_engine_opts *o, bool is_least)
{
    uint32_t changes = 0;
    if (o->n_ubatch > MIN_UBATCH && !(o->fixed & MYTH_CHANGE_UBATCH)) {
        o->n_ubatch = MIN_UBATCH;
        changes |= MYTH_CHANGE_UBATCH;
    }
    if (o->n_ctx > least_context(o) && !(o->fixed & MYTH_CHANGE_CTX)) {
        o->n_ctx = least_context(o);
        o->page_tok = 0;
        changes |= MYTH_CHANGE_CTX;
    }
    if (o->n_seq > 1 && !(o->fixed & MYTH_CHANGE_SEQ)) {
        o->n_seq = 1;
        changes |= MYTH_CHANGE_SEQ;
    }
    if (is_least && !o->no_cache && !(o->fixed & MYTH_CHANGE_CACHE_TYPE)) {
        o->has_cache_type = true;
        o->type_k = o->type_v = MYTH_Q8_0;
        changes |= MYTH_CHANGE_CACHE_TYPE;
    }
    return changes;
}

/* Tries the smallest rows, context and number of sequences together; where nothing else fits, with a smaller type of
 * keys and values, too. */
static void suggest_smallest(suggester *s, const myth_engine_opts *o)
{
    for (int is_least = 0; is_least < 2; is_least++) {
        myth_engine_opts t = *o;
        const uint32_t changes = shrink_all(&t, is_least);
        if (changes && !(is_least && s->plan->n_suggestion))
            suggest(s, &t, changes);
    }
}

/* Tries single changes, then pairs, then everything at its smallest, and last higher limits for the host, down to the
 * least that is enough. There are at least three suggestions where the caller fixed nothing. A device's limit is never
 * raised: it has no more memory. */
static void suggest_all(suggester *s, const myth_engine_opts *given)
{
    myth_engine_opts o = given ? *given : (myth_engine_opts){0}, t;
    myth_plan *p = s->plan;
    o.n_ctx = p->n_ctx;
    o.n_ubatch = p->n_ubatch;
    o.n_seq = p->n_seq;
    if (p->n_device > 1)
        suggest_other_places(s, &o);
    uint32_t v;
    if ((v = largest_that_fits(s, &o, &o.n_ubatch, MIN_UBATCH, MIN_UBATCH))) {
        t = o;
        t.n_ubatch = v;
        suggest(s, &t, MYTH_CHANGE_UBATCH);
    }
    if ((v = largest_that_fits(s, &o, &o.n_ctx, least_context(&o), CTX_STEP))) {
        t = o;
        t.n_ctx = v;
        t.page_tok = 0;
        suggest(s, &t, MYTH_CHANGE_CTX);
    }
    if (o.n_seq > 1 && (v = largest_that_fits(s, &o, &o.n_seq, 1, 1))) {
        t = o;
        t.n_seq = v;
        suggest(s, &t, MYTH_CHANGE_SEQ);
    }
    t = o;
    t.has_cache_type = true;
    t.type_k = t.type_v = MYTH_Q8_0;
    suggest(s, &t, MYTH_CHANGE_CACHE_TYPE);
    t.n_ubatch = o.n_ubatch;
    if (o.n_ubatch > 64) {
        t.n_ubatch = 64;
        suggest(s, &t, MYTH_CHANGE_CACHE_TYPE | MYTH_CHANGE_UBATCH);
    }
    t = o;
    t.n_ubatch = o.n_ubatch < 64 ? o.n_ubatch : 64;
    if ((v = largest_that_fits(s, &t, &t.n_ctx, least_context(&t), CTX_STEP))) {
        t.n_ctx = v;
        t.page_tok = 0;
        suggest(s, &t, MYTH_CHANGE_UBATCH | MYTH_CHANGE_CTX);
    }
    suggest_smallest(s, &o);

    if (p->n_device > 1) {
        o.device = "cpu";
        o.has_gpu_layers = false;
        o.offload = MYTH_OFFLOAD_NONE;
    }
    const uint32_t where = (p->n_device > 1 ? MYTH_CHANGE_DEVICE : 0) | MYTH_CHANGE_LIMIT;
    uint64_t need[2], *limit = &s->limits.bytes[MYTH_MEM_HOST], was = *limit;
    static const uint64_t MiB = 1 << 20;
    myth_plan small;
    *limit = 0;
    need[0] = plan_once(&small, s->m, &o, s->extra, NULL, NULL) == MYTH_OK ? small.total_bytes : p->total_bytes;
    const uint32_t fewer = MYTH_CHANGE_UBATCH & ~o.fixed; /* rows, where the caller can have fewer */
    t = o;
    t.n_ubatch = !fewer || o.n_ubatch < 128 ? o.n_ubatch : 128;
    need[1] = plan_once(&small, s->m, &t, s->extra, NULL, NULL) == MYTH_OK ? small.total_bytes : need[0];
    for (int i = 0; i < (fewer ? 2 : 1) && p->n_suggestion < MYTH_SUGGESTION_MAX; i++) {
        uint64_t mib = (need[i] + MiB - 1) / MiB;
        *limit = mib * MiB;
        if (i == 0)
            suggest(s, &o, where);
        else
            suggest(s, &t, where | fewer);
    }
    t.has_cache_type = true;
    t.type_k = t.type_v = MYTH_Q8_0;
    if (plan_once(&small, s->m, &t, s->extra, NULL, NULL) == MYTH_OK) {
        uint64_t mib = (small.total_bytes + MiB - 1) / MiB;
        *limit = mib * MiB;
        suggest(s, &t, where | fewer | MYTH_CHANGE_CACHE_TYPE);
    }
    t = o;
    const uint32_t all = shrink_all(&t, true);
    if (all && plan_once(&small, s->m, &t, s->extra, NULL, NULL) == MYTH_OK) {
        *limit = (small.total_bytes + MiB - 1) / MiB * MiB;
        if (*limit > was) /* else the same without a higher limit is there already */
            suggest(s, &t, where | all);
    }
    *limit = was;
}

/* Makes p, which fits, the plan with the largest context below `high`, which does not, in steps of CTX_STEP. */
static void widen_context(myth_plan *p, const myth_model *m, myth_engine_opts *o, uint32_t high,
                          const myth_plan_extra *extra, const myth_mem_limits *limits)
{
    myth_plan more;
    uint32_t low = p->n_ctx;
    while (high > low + CTX_STEP) {
        o->n_ctx = low + ((high - low) / 2 + CTX_STEP - 1) / CTX_STEP * CTX_STEP;
        if (o->n_ctx < high && plan_once(&more, m, o, extra, limits, NULL) == MYTH_OK && more.fits) {
            *p = more;
            low = o->n_ctx;
        } else {
            high = o->n_ctx < high ? o->n_ctx : high - CTX_STEP;
        }
    }
}

myth_status myth_plan_make(myth_plan *out, const myth_model *model, const myth_engine_opts *opts,
                           const myth_plan_extra *extra, const myth_mem_limits *limits, bool can_shrink,
                           myth_error *err)
{
    char device[MYTH_DEVICE_NAME_MAX];
    myth_engine_opts o = opts ? *opts : (myth_engine_opts){0};
    if (!o.device || strcmp(o.device, "auto") == 0) {
        myth_status found = myth_device_resolve(device, NULL, err);
        if (found != MYTH_OK)
            return found;
        o.device = device;
    }
    myth_status st = plan_once(out, model, &o, extra, limits, err);
    if (st != MYTH_OK || out->fits)
        return st;
    if (can_shrink) {
        /* first the rows of a step, which cost only time; then the context, which the caller sees */
        myth_engine_opts t = o;
        myth_plan smaller;
        for (uint32_t ub = out->n_ubatch / 2; o.n_ubatch == 0 && ub >= MIN_UBATCH; ub /= 2) {
            t.n_ubatch = ub;
            st = plan_once(&smaller, model, &t, extra, limits, err);
            if (st != MYTH_OK || smaller.fits) {
                *out = smaller;
                return st;
            }
        }
        const uint32_t least = least_context(&o);
        for (uint32_t high = out->n_ctx, n_ctx; o.n_ctx == 0 && high > least; high = n_ctx) {
            n_ctx = high / 2 > least ? high / 2 : least;
            t.n_ctx = n_ctx;
            st = plan_once(&smaller, model, &t, extra, limits, err);
            if (st == MYTH_OK && smaller.fits)
                widen_context(&smaller, model, &t, high, extra, limits);
            if (st != MYTH_OK || smaller.fits) {
                *out = smaller;
                return st;
            }
        }
    }
    suggester s = {.m = model, .extra = extra, .plan = out};
    if (limits)
        s.limits = *limits;
    suggest_all(&s, &o);
    return MYTH_OK;
}

myth_status myth_plan_layers(myth_layers *out, const myth_model *model, const myth_engine_opts *opts, myth_error *err)
{
    myth_layout layout;
    uint64_t own[MYTH_MEM_CLASS_N] = {0};
    const myth_status st = myth_layout_make(&layout, model, opts, err);
    if (st != MYTH_OK)
        return st;
    myth_layout_layers(out, &layout, model);
    add_model(own, model);
    out->layer[out->n_layer].weight_bytes += own[MYTH_MEM_WEIGHTS];
    return MYTH_OK;
}

static void print_bytes(char *dst, size_t cap, uint64_t n)
{
    if (n >= 1ull << 30)
        snprintf(dst, cap, "%.2f GiB", (double)n / (1ull << 30));
    else
        snprintf(dst, cap, "%.1f MiB", (double)n / (1 << 20));
}

void myth_plan_refusal(const myth_plan *plan, char *dst, size_t cap)
{
    char need[32], limit[32];
    const myth_plan_device *d = plan->device;
    for (uint32_t i = 0; i < plan->n_device; i++) /* the first device that needs more than its limit */
        if (plan->device[i].limit_bytes && plan->device[i].total_bytes > plan->device[i].limit_bytes) {
            d = &plan->device[i];
            break;
        }
    print_bytes(need, sizeof need, d->total_bytes);
    print_bytes(limit, sizeof limit, d->limit_bytes);
    int n = plan->n_device > 1 ? snprintf(dst, cap, "%s ", d->ledger == MYTH_MEM_HOST ? "host" : d->name) : 0;
    snprintf(dst + n, cap - (size_t)n, "needs %s, limit %s", need, limit);
}
