/* device.c - the public face of every device: finds it by name, checks each op's arguments once, traces, runs or
 * records it, and makes the fused ops out of small ones where a device has no better.
 *
 * Checks   a wrong argument leaves MYTH_EARG in the stream, with op, argument and what was expected; nothing was run
 * Trace    one line per op run: name, shape, microseconds, then mean, rms, largest magnitude and FNV-1a hash of its
 *          main output. Two devices' traces compared line by line name the first op that drifts */
#define _GNU_SOURCE
#include "device_impl.h"

#include "engine/base/half.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const myth_device_kind *const kinds[] = {&myth_device_kind_cuda, &myth_device_kind_vulkan,
                                                &myth_device_kind_cpu};
enum { KIND_N = sizeof(kinds) / sizeof(kinds[0]), LIST_MAX = 8 };

/* ---- names ---- */

int myth_device_number(const char *name, const char *prefix, uint32_t n_max)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0)
        return -1;
    if (name[len] == 0)
        return 0;
    if (name[len] != ':' || name[len + 1] < '0' || name[len + 1] > '9' || name[len + 2] != 0 ||
        (uint32_t)(name[len + 1] - '0') >= n_max)
        return -1;
    return name[len + 1] - '0';
}

static const myth_device_kind *find_kind(const char *name)
{
    for (int i = 0; name && i < KIND_N; i++)
        if (myth_device_number(name, kinds[i]->prefix, kinds[i]->n_max) >= 0)
            return kinds[i];
    return NULL;
}

static myth_status refuse_name(myth_error *err, const char *name)
{
    return myth_fail(err, MYTH_EDEVICE, "device \"%.32s\": unknown; expected auto, cpu, cuda:N or vulkan:N",
                     name ? name : "");
}

/* Drivers of hardware need its device node: without one, asking them all (and loading one that runs on the CPU) would
 * find nothing. */
static bool may_have_gpu(void)
{
#if defined(__linux__)
    static const char *const node[] = {"/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/kfd"};
    for (size_t i = 0; i < sizeof(node) / sizeof(node[0]); i++)
        if (access(node[i], F_OK) == 0)
            return true;
    return false;
#else
    return true;
#endif
}

myth_status myth_device_resolve(char out[MYTH_DEVICE_NAME_MAX], const char *wanted, myth_error *err)
{
    if (wanted && *wanted && strcmp(wanted, "auto") != 0) {
        const myth_device_kind *kind = find_kind(wanted);
        if (!kind)
            return refuse_name(err, wanted);
        if (kind->n_max)
            snprintf(out, MYTH_DEVICE_NAME_MAX, "%s:%d", kind->prefix,
                     myth_device_number(wanted, kind->prefix, kind->n_max));
        else
            snprintf(out, MYTH_DEVICE_NAME_MAX, "%s", kind->prefix);
        return MYTH_OK;
    }
    for (int i = 0; i < KIND_N - 1 && may_have_gpu(); i++) {
        myth_device_caps caps[LIST_MAX];
        uint32_t n = kinds[i]->list ? kinds[i]->list(caps, LIST_MAX) : 0;
        for (uint32_t k = 0; k < n; k++)
            if (caps[k].is_gpu) {
                snprintf(out, MYTH_DEVICE_NAME_MAX, "%s", caps[k].name);
                return MYTH_OK;
            }
    }
    snprintf(out, MYTH_DEVICE_NAME_MAX, "%s", kinds[KIND_N - 1]->prefix);
    return MYTH_OK;
}

int myth_device_ledger(const char *name)
{
    const myth_device_kind *kind = find_kind(name);
    return kind ? kind->ledger + myth_device_number(name, kind->prefix, kind->n_max) : -1;
}

uint32_t myth_device_list(myth_device_caps *out, uint32_t cap)
{
    uint32_t n = 0;
    for (int i = 0; i < KIND_N; i++) {
        uint32_t first = n;
        n += kinds[i]->list ? kinds[i]->list(out + n, cap - n) : 0;
        for (; kinds[i]->measure && first < n; first++)
            kinds[i]->measure(&out[first]);
    }
    return n;
}

const char *myth_device_kind_at(uint32_t i)
{
    for (int k = 0; k < KIND_N; k++)
        if (kinds[k]->list && i-- == 0)
            return kinds[k]->prefix;
    return NULL;
}

bool myth_device_find(myth_device_caps *out, const char *name)
{
    const myth_device_kind *kind = find_kind(name);
    myth_device_caps caps[LIST_MAX];
    uint32_t n = kind && kind->list ? kind->list(caps, LIST_MAX) : 0;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(caps[i].name, name) == 0) {
            *out = caps[i];
            if (kind->measure)
                kind->measure(out);
            return true;
        }
    return false;
}

/* ---- devices ---- */

static void fill_composed(myth_device *dev)
{
    struct myth_ops *ops = &dev->ops;
    if (!ops->norm_qkv_rope_store)
        ops->norm_qkv_rope_store = myth_compose_norm_qkv_rope_store;
    if (!ops->norm_ffn_geglu)
        ops->norm_ffn_geglu = myth_compose_norm_ffn_geglu;
    if (!dev->has_decode_merge && ops->attn_decode) {
        dev->plain_attn_decode = ops->attn_decode;
        ops->attn_decode = myth_compose_attn_decode;
    }
}

myth_status myth_device_open(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err)
{
    char name[MYTH_DEVICE_NAME_MAX];
    myth_device_opts named = *opts;
    myth_status st = myth_device_resolve(name, opts->name, err);
    if (st != MYTH_OK)
        return st;
    named.name = name;
    st = find_kind(name)->open(out, mem, &named, err);
    if (st != MYTH_OK)
        return st;
    myth_device *dev = *out;
    const char *trace = getenv("MYTHOS_TRACE");
    dev->is_watched = dev->has_trace = trace && strcmp(trace, "ops") == 0 && opts->log && opts->log->write;
    dev->log = opts->log;
    dev->is_exact = opts->is_exact;
    fill_composed(dev);
    myth_logf(dev->log, MYTH_LOG_DEBUG, "device", "%s: %s", dev->caps.name, dev->caps.description);
    return MYTH_OK;
}

void myth_device_close(myth_device *dev)
{
    if (dev)
        dev->vt->close(dev);
}

const myth_device_caps *myth_device_get_caps(const myth_device *dev) { return &dev->caps; }
bool myth_device_is_traced(const myth_device *dev) { return dev->has_trace; }

myth_status myth_device_observe(myth_device *dev, myth_op_observer observe, void *user, myth_error *err)
{
    if (observe && (!dev->caps.is_host_visible || dev->caps.is_async))
        return myth_fail(err, MYTH_EDEVICE, "%s: what goes into its products cannot be looked at: --device cpu",
                         dev->caps.name);
    dev->observe = observe;
    dev->observer = user;
    dev->is_watched = dev->has_trace || observe;
    return MYTH_OK;
}

void myth_device_plan(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                      const myth_work_shape *shape)
{
    char name[MYTH_DEVICE_NAME_MAX];
    myth_device_opts named = *opts;
    memset(host, 0, sizeof(*host));
    memset(own, 0, sizeof(*own));
    if (myth_device_resolve(name, opts->name, NULL) != MYTH_OK)
        return;
    named.name = name;
    find_kind(name)->plan(host, own, &named, shape);
}

myth_status myth_device_reserve(myth_device *dev, const myth_work_shape *shape, myth_error *err)
{
    if (dev->is_reserved)
        return myth_fail(err, MYTH_EARG, "%s: already reserved", dev->caps.name);
    myth_status st = dev->vt->reserve(dev, shape, err);
    if (st != MYTH_OK)
        return st;
    dev->shape = *shape;
    dev->is_reserved = true;
    return MYTH_OK;
}

/* ---- buffers ---- */

myth_status myth_buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                          myth_error *err)
{
    if (!bytes)
        return myth_fail(err, MYTH_EARG, "%s: a buffer of 0 bytes", owner);
    return dev->vt->buf_open(out, dev, cls, owner, bytes, err);
}

myth_status myth_buf_open_host(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                               myth_error *err)
{
    if (!bytes)
        return myth_fail(err, MYTH_EARG, "%s: a buffer of 0 bytes", owner);
    return (dev->vt->buf_open_host ? dev->vt->buf_open_host : dev->vt->buf_open)(out, dev, cls, owner, bytes, err);
}

myth_status myth_buf_wrap(myth_buf **out, myth_device *dev, const void *base, uint64_t bytes, myth_error *err)
{
    return dev->vt->buf_wrap(out, dev, base, bytes, err);
}

void myth_buf_close(myth_buf *buf)
{
    if (buf)
        buf->dev->vt->buf_close(buf);
}

uint64_t myth_buf_bytes(const myth_buf *buf) { return buf->bytes; }
void *myth_buf_host(const myth_buf *buf) { return buf->host; }

/* ---- host memory ---- */

void *myth_host_alloc(myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes)
{
    if (!dev->vt->host_take)
        return bytes <= SIZE_MAX ? myth_alloc(dev->mem, cls, owner, (size_t)bytes) : NULL;
    if (!myth_mem_book(dev->mem, MYTH_MEM_HOST, cls, owner, bytes))
        return NULL;
    void *p = dev->vt->host_take(dev, bytes);
    if (!p)
        myth_mem_unbook(dev->mem, MYTH_MEM_HOST, cls, bytes);
    return p;
}

void myth_host_free(myth_device *dev, myth_mem_class cls, void *p, uint64_t bytes)
{
    if (!p)
        return;
    if (!dev->vt->host_take) {
        myth_free(dev->mem, p);
        return;
    }
    dev->vt->host_give(dev, p, bytes);
    myth_mem_unbook(dev->mem, MYTH_MEM_HOST, cls, bytes);
}

/* ---- streams ---- */

myth_status myth_stream_open(myth_stream **out, myth_device *dev, myth_error *err)
{
    return dev->vt->stream_open(out, dev, err);
}

void myth_stream_close(myth_stream *s)
{
    if (s)
        s->dev->vt->stream_close(s);
}

/* True when the stream may run a transfer of `bytes` at the view now. */
static bool check_transfer(myth_stream *s, const char *what, myth_view v, uint64_t bytes)
{
    if (s->err.code != MYTH_OK)
        return false;
    if (s->is_recording)
        myth_fail(&s->err, MYTH_EARG, "%s: a recording holds ops only", what);
    else if (!v.buf || v.buf->dev != s->dev || v.off > v.buf->bytes || bytes > v.buf->bytes - v.off)
        myth_fail(&s->err, MYTH_EARG, "%s: %llu bytes at offset %llu do not fit the buffer of %llu", what,
                  (unsigned long long)bytes, (unsigned long long)v.off, (unsigned long long)(v.buf ? v.buf->bytes : 0));
    return s->err.code == MYTH_OK && bytes > 0;
}

void myth_stream_write(myth_stream *s, myth_view dst, const void *src, uint64_t bytes)
{
    if (check_transfer(s, "write", dst, bytes))
        s->dev->vt->write(s, dst, src, bytes);
}

void myth_stream_read(myth_stream *s, void *dst, myth_view src, uint64_t bytes)
{
    if (check_transfer(s, "read", src, bytes))
        s->dev->vt->read(s, dst, src, bytes);
}

void myth_weight_write(myth_stream *s, myth_view dst, const void *src, uint32_t n_total, uint32_t row0, uint32_t n_rows,
                       uint32_t n_in)
{
    uint64_t row_bytes = myth_row_bytes(dst.dtype, n_in);
    if (row0 > n_total || n_rows > n_total - row0) {
        if (s->err.code == MYTH_OK)
            myth_fail(&s->err, MYTH_EARG, "weight write: rows %u to %u of %u", row0, row0 + n_rows, n_total);
        return;
    }
    if (!check_transfer(s, "weight write", dst, n_total * row_bytes) || n_rows == 0)
        return;
    if (s->dev->vt->weight_write) {
        s->dev->vt->weight_write(s, dst, src, n_total, row0, n_rows, n_in);
    } else {
        dst.off += row0 * row_bytes;
        s->dev->vt->write(s, dst, src, n_rows * row_bytes);
    }
}

static myth_status report(myth_stream *s, myth_error *err)
{
    myth_status st = s->err.code;
    if (st != MYTH_OK && err)
        *err = s->err;
    memset(&s->err, 0, sizeof(s->err));
    return st;
}

myth_status myth_stream_sync(myth_stream *s, myth_error *err)
{
    myth_error late = {MYTH_OK, ""};
    s->dev->counts.n_sync++;
    if (s->dev->vt->sync(s, &late) != MYTH_OK && s->err.code == MYTH_OK)
        s->err = late;
    return report(s, err);
}

uint64_t myth_stream_mark(myth_stream *s)
{
    return s->dev->vt->mark && s->err.code == MYTH_OK ? s->dev->vt->mark(s) : 0;
}

myth_status myth_stream_wait(myth_stream *s, uint64_t mark, myth_error *err)
{
    myth_error late = {MYTH_OK, ""};
    if (!s->dev->vt->wait || s->err.code != MYTH_OK)
        return myth_stream_sync(s, err);
    s->dev->counts.n_wait++;
    if (s->dev->vt->wait(s, mark, &late) != MYTH_OK)
        s->err = late;
    return s->err.code == MYTH_OK ? MYTH_OK : report(s, err);
}

myth_device_counts myth_device_get_counts(const myth_device *dev) { return dev->counts; }

void myth_stream_begin_record(myth_stream *s)
{
    if (s->err.code != MYTH_OK)
        return;
    if (s->is_recording) {
        myth_fail(&s->err, MYTH_EARG, "begin_record: already recording");
        return;
    }
    s->dev->vt->begin_record(s);
    s->is_recording = s->err.code == MYTH_OK;
}

myth_status myth_stream_end_record(myth_graph **out, myth_stream *s, myth_error *err)
{
    myth_status st;
    *out = NULL;
    if (s->is_recording) {
        s->is_recording = false;
        myth_error late = {MYTH_OK, ""};
        if (s->dev->vt->end_record(out, s, &late) != MYTH_OK && s->err.code == MYTH_OK)
            s->err = late;
    } else if (s->err.code == MYTH_OK) {
        myth_fail(&s->err, MYTH_EARG, "end_record: not recording");
    }
    if ((st = report(s, err)) != MYTH_OK) {
        myth_graph_close(*out);
        *out = NULL;
    }
    return st;
}

void myth_stream_replay(myth_stream *s, const myth_graph *g)
{
    if (s->err.code != MYTH_OK)
        return;
    if (s->is_recording || !g || g->dev != s->dev)
        myth_fail(&s->err, MYTH_EARG, "replay: %s",
                  s->is_recording ? "the stream is recording" : "the graph belongs to another device");
    else
        s->dev->vt->replay(s, g);
}

void myth_graph_close(myth_graph *g)
{
    if (g)
        g->dev->vt->graph_close(g);
}

/* ---- argument checks ---- */

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

/* The view is given, of one of the types, aligned to its elements, and holds [n_row, n]. */
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

/* The step is within what was reserved. */
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

/* Cache and scratch of one layer; without k, of its values alone. */
static bool has_place(struct check c, const struct myth_kv_place *kv, myth_view k, myth_view v, uint32_t n_head_kv,
                      uint32_t head_dim)
{
    if (!has(c, "table", kv->table, I32, kv->n_entry, 2))
        return false;
    if (!kv->page_tok || !kv->n_entry)
        return refuse(c, "a page of no tokens or a table of no entries");
    uint64_t rows = (uint64_t)n_head_kv * kv->page_tok;
    uint64_t bytes = rows * ((k.buf ? myth_row_bytes(k.dtype, head_dim) : 0) + myth_row_bytes(v.dtype, head_dim));
    if (kv->layer_off > kv->page_bytes || bytes > kv->page_bytes - kv->layer_off)
        return refuse(c, "a layer's keys and values end past the page");
    if (!kv->pool.buf || kv->pool.buf->dev != c.s->dev || kv->pool.off > kv->pool.buf->bytes ||
        kv->page_bytes > kv->pool.buf->bytes - kv->pool.off)
        return refuse(c, "the pool does not hold a page");
    return true;
}

#define CHECK(name) static bool check_##name(myth_stream *s, const struct myth_##name##_args *a)

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

CHECK(proj)
{
    struct check c = {s, "proj"};
    return in_shape(c, a->n_rows, a->n_in) && has(c, "y", a->y, F32, a->n_rows, a->n_out) &&
           has(c, "x", a->x, F32, a->n_rows, a->n_in) && has(c, "w", a->w, WEIGHT, a->n_out, a->n_in) && a->n_rows;
}

/* What norm_qkv_rope_store and its second half share: heads, rope, q and the scratch. */
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

/* The second half of the fused op. */
static struct myth_qkv_rope_store_args store_of(const struct myth_norm_qkv_rope_store_args *a)
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
    const struct myth_qkv_rope_store_args store = store_of(a);
    const uint64_t n_kv = (uint64_t)a->n_head_kv * a->head_dim;
    if (!a->w_k.buf != !a->v_new.buf || (a->w_v.buf && !a->w_k.buf))
        return refuse(c, "w_k and v_new both or neither expected, and w_v only with them");
    return in_shape(c, a->n_rows, a->dim) && has_prologue(c, a->x, a->pend, a->w_post, a->n_rows, a->dim) &&
           has_store(c, &store) && has(c, "w_in", a->w_in, F32, 1, a->dim) &&
           has(c, "xn", a->xn, F32, a->n_rows, a->dim) &&
           has(c, "w_q", a->w_q, WEIGHT, (uint64_t)a->n_head * a->head_dim, a->dim) &&
           has_or_none(c, "w_k", a->w_k, WEIGHT, n_kv, a->dim) && has_or_none(c, "w_v", a->w_v, WEIGHT, n_kv, a->dim) &&
           a->n_rows;
}

CHECK(qkv_rope_store)
{
    struct check c = {s, "qkv_rope_store"};
    return in_shape(c, a->n_rows, 0) && has_store(c, a) && a->n_rows;
}

/* Keys are stored, or made from the values. */
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

static bool check_attn(struct check c, const struct myth_attn_args *a)
{
    return in_shape(c, a->n_rows, 0) && has_heads(c, a->n_head, a->n_head_kv, a->head_dim) &&
           has(c, "o", a->o, F32, (uint64_t)a->n_rows * a->n_head, a->head_dim) &&
           has(c, "q", a->q, F32, (uint64_t)a->n_rows * a->n_head, a->head_dim) && has_keys(c, a) &&
           has(c, "v_new", a->v_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim) &&
           has(c, "runs", a->runs, I32, a->merges ? a->n_rows : 1, MYTH_RUN_WIDTH) &&
           has(c, "row_run", a->row_run, I32, a->n_rows, 1) && has(c, "pos", a->pos, I32, a->n_rows, 1) &&
           has_place(c, &a->kv, a->k_new, a->v_new, a->n_head_kv, a->head_dim) &&
           (a->softcap >= 0.0f || refuse(c, "softcap is negative")) && a->n_rows;
}

CHECK(attn_prefill)
{
    struct check c = {s, "attn_prefill"};
    return (!a->merges || refuse(c, "merges is for attn_decode")) && check_attn(c, a);
}
CHECK(attn_decode)
{
    struct check c = {s, "attn_decode"};
    return (!a->n_after || refuse(c, "n_after is for attn_prefill")) && check_attn(c, a);
}

CHECK(kv_merge)
{
    struct check c = {s, "kv_merge"};
    return in_shape(c, a->n_run, 0) && has_heads(c, a->n_head_kv, a->n_head_kv, a->head_dim) &&
           has_or_none(c, "k_new", a->k_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim) &&
           has(c, "v_new", a->v_new, CACHE, (uint64_t)a->n_head_kv * a->cap_rows, a->head_dim) &&
           has(c, "runs", a->runs, I32, a->n_run, MYTH_RUN_WIDTH) &&
           has_place(c, &a->kv, a->k_new, a->v_new, a->n_head_kv, a->head_dim) && a->n_run;
}

CHECK(norm_ffn_geglu)
{
    struct check c = {s, "norm_ffn_geglu"};
    return in_shape(c, a->n_rows, a->dim) && in_shape(c, a->n_rows, a->d_ff) &&
           has_prologue(c, a->x, a->pend, a->w_post, a->n_rows, a->dim) && has(c, "w", a->w, F32, 1, a->dim) &&
           has(c, "xn", a->xn, F32, a->n_rows, a->dim) && has(c, "up", a->up, F32, a->n_rows, a->d_ff) &&
           has(c, "h", a->h, F32, a->n_rows, a->d_ff) && has(c, "w_gate", a->w_gate, WEIGHT, a->d_ff, a->dim) &&
           has(c, "w_up", a->w_up, WEIGHT, a->d_ff, a->dim) && a->n_rows;
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

/* ---- trace ---- */

/* What a trace line shows of an op: its shape in words and its main output. */
struct trace {
    char shape[80];
    myth_view out;
    uint64_t n;
};

#define TRACE(name, view, count, ...)                                             \
    static void trace_##name(struct trace *t, const struct myth_##name##_args *a) \
    {                                                                             \
        snprintf(t->shape, sizeof(t->shape), __VA_ARGS__);                        \
        t->out = (view);                                                          \
        t->n = (count);                                                           \
    }

TRACE(embed_gather, a->y, (uint64_t)a->n_rows * a->dim, "rows=%u dim=%u", a->n_rows, a->dim)
TRACE(rope_table, a->table, (uint64_t)a->n_rows * a->head_dim, "rows=%u head_dim=%u", a->n_rows, a->head_dim)
TRACE(rms_norm, a->y, (uint64_t)a->n_rows * a->dim, "rows=%u dim=%u", a->n_rows, a->dim)
TRACE(proj, a->y, (uint64_t)a->n_rows * a->n_out, "rows=%u in=%u out=%u", a->n_rows, a->n_in, a->n_out)
TRACE(norm_qkv_rope_store, a->q, (uint64_t)a->n_rows * a->n_head * a->head_dim,
      "rows=%u dim=%u heads=%u/%u head_dim=%u", a->n_rows, a->dim, a->n_head, a->n_head_kv, a->head_dim)
TRACE(qkv_rope_store, a->q, (uint64_t)a->n_rows * a->n_head * a->head_dim, "rows=%u heads=%u/%u head_dim=%u", a->n_rows,
      a->n_head, a->n_head_kv, a->head_dim)
TRACE(attn_prefill, a->o, (uint64_t)a->n_rows * a->n_head * a->head_dim, "rows=%u heads=%u/%u head_dim=%u window=%u",
      a->n_rows, a->n_head, a->n_head_kv, a->head_dim, a->window)
TRACE(attn_decode, a->o, (uint64_t)a->n_rows * a->n_head * a->head_dim, "rows=%u heads=%u/%u head_dim=%u window=%u",
      a->n_rows, a->n_head, a->n_head_kv, a->head_dim, a->window)
TRACE(kv_merge, a->k_new, 0, "runs=%u kv_heads=%u head_dim=%u", a->n_run, a->n_head_kv, a->head_dim)
TRACE(norm_ffn_geglu, a->h, (uint64_t)a->n_rows * a->d_ff, "rows=%u dim=%u d_ff=%u", a->n_rows, a->dim, a->d_ff)
TRACE(geglu, a->h, (uint64_t)a->n_rows * a->d_ff, "rows=%u d_ff=%u", a->n_rows, a->d_ff)
TRACE(gather_norm, a->y, (uint64_t)a->n_gather * a->dim, "rows=%u dim=%u", a->n_gather, a->dim)
TRACE(head_topk, a->top_logit, (uint64_t)a->n_rows * a->k, "rows=%u dim=%u vocab=%u k=%u", a->n_rows, a->dim,
      a->n_vocab, a->k)
TRACE(head_logits, a->y, a->n_vocab, "dim=%u vocab=%u", a->dim, a->n_vocab)
TRACE(decode_next, a->ids, 0, "rows=%u k=%u", a->n_rows, a->k)
TRACE(copy, a->dst, 0, "bytes=%llu", (unsigned long long)a->bytes)
TRACE(capture_sum, a->sum, 0, "rows=%u dim=%u labels=%u", a->n_gather, a->dim, a->n_label)
TRACE(ple_merge, a->p, (uint64_t)a->n_rows * a->n_layer * a->n_ple, "rows=%u layers=%u width=%u", a->n_rows, a->n_layer,
      a->n_ple)
TRACE(ple_gate, a->h, (uint64_t)a->n_rows * a->n_ple, "rows=%u dim=%u width=%u", a->n_rows, a->dim, a->n_ple)
TRACE(moe_route, a->weight, (uint64_t)a->n_rows * a->k, "rows=%u experts=%u k=%u", a->n_rows, a->n_expert, a->k)
TRACE(moe_geglu, a->h, (uint64_t)a->n_rows * a->k * a->d_ff, "rows=%u experts=%u k=%u dim=%u d_ff=%u", a->n_rows,
      a->n_expert, a->k, a->dim, a->d_ff)
TRACE(moe_down, a->y, (uint64_t)a->n_rows * a->dim, "rows=%u experts=%u k=%u dim=%u d_ff=%u", a->n_rows, a->n_expert,
      a->k, a->dim, a->d_ff)
TRACE(altup_predict, a->x, (uint64_t)a->n_stream * a->n_rows * a->dim, "rows=%u dim=%u streams=%u", a->n_rows, a->dim,
      a->n_stream)
TRACE(altup_correct, a->x, (uint64_t)a->n_stream * a->n_rows * a->dim, "rows=%u dim=%u streams=%u", a->n_rows, a->dim,
      a->n_stream)
TRACE(altup_match, a->y.buf ? a->y : a->u, (uint64_t)(a->y.buf ? 1 : a->n_u) * a->n_rows * a->dim,
      "rows=%u dim=%u streams=%u", a->n_rows, a->dim, a->n_u + 1)
TRACE(laurel_merge, a->u, (uint64_t)a->n_rows * a->dim, "rows=%u dim=%u", a->n_rows, a->dim)
TRACE(geglu_sparse, a->h, (uint64_t)a->n_rows * a->d_ff, "rows=%u d_ff=%u", a->n_rows, a->d_ff)

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Reads the f32 output back in pieces, so that a device without host-visible memory needs no buffer for it. */
static void log_op(myth_stream *s, const char *name, double us, const struct trace *t)
{
    enum { PIECE = 512 };
    float piece[PIECE];
    double sum = 0.0, sum_sq = 0.0, largest = 0.0;
    uint64_t hash = 14695981039346656037ull, n = t->out.dtype == MYTH_F32 ? t->n : 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        uint64_t count = n - at < PIECE ? n - at : PIECE;
        s->dev->vt->read(s, piece, myth_view_at(t->out.buf, t->out.off + at * 4, MYTH_F32), count * 4);
        myth_error late;
        if (s->dev->vt->sync(s, &late) != MYTH_OK)
            return;
        for (uint64_t i = 0; i < count; i++) {
            double v = (double)piece[i];
            sum += v;
            sum_sq += v * v;
            largest = fabs(v) > largest ? fabs(v) : largest;
            hash = (hash ^ myth_f32_bits(piece[i])) * 1099511628211ull;
        }
    }
    double count = n ? (double)n : 1.0;
    char line[256];
    snprintf(line, sizeof(line), "%-20s %-52s %9.1f us  mean %+.6e rms %.6e max %.6e hash %016llx", name, t->shape, us,
             sum / count, sqrt(sum_sq / count), largest, (unsigned long long)hash);
    s->dev->log->write(s->dev->log->user, MYTH_LOG_INFO, "ops",
                       line); /* asked for by name: the log's level does not drop it */
}

/* ---- the ops: check, then run or record ---- */

/* True when the op is part of another one. */
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

#define OP(op)                                                                                \
    static void run_##op(myth_stream *s, const struct myth_##op##_args *a)                    \
    {                                                                                         \
        if (!s->dev->ops.op) {                                                                \
            myth_fail(&s->err, MYTH_EDEVICE, "%s: the device lacks " #op, s->dev->caps.name); \
            return;                                                                           \
        }                                                                                     \
        if (!s->dev->is_watched || s->is_recording) {                                         \
            s->dev->ops.op(s, a);                                                             \
            return;                                                                           \
        }                                                                                     \
        const bool is_part = begin_op(s->dev);                                                \
        double start = now_us();                                                              \
        s->dev->ops.op(s, a);                                                                 \
        if (s->dev->has_trace) {                                                              \
            struct trace t;                                                                   \
            trace_##op(&t, a);                                                                \
            log_op(s, #op, now_us() - start, &t);                                             \
        }                                                                                     \
        end_op(s, is_part, MYTH_OP_##op, a);                                                  \
    }                                                                                         \
    void myth_##op(myth_stream *s, const struct myth_##op##_args *a)                          \
    {                                                                                         \
        if (s->err.code != MYTH_OK || !check_##op(s, a))                                      \
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
    const struct myth_qkv_rope_store_args store = store_of(a);
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
                     .n_rows = a->n_rows,
                     .n_in = a->dim,
                     .n_out = a->d_ff,
                     .is_decode = a->is_decode,
                 });
    myth_proj(s, &(struct myth_proj_args){
                     .y = a->up,
                     .x = a->xn,
                     .w = a->w_up,
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
