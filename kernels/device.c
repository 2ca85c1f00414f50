/* device.c - the functions of device.h: finds and opens devices by name, then hands each call on buffers, streams and
 * recordings to the device's own table, after it has checked the arguments. */
#define _GNU_SOURCE
#include "device_impl.h"

#include <stdio.h>
#include <string.h>
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
    return myth_fail_option(err, MYTH_EDEVICE, "device",
                            "device \"%.32s\": unknown; expected auto, cpu, cuda:N or vulkan:N", name ? name : "");
}

/* True when the system has a device node of a GPU. Without one no driver of hardware can find anything, so "auto" need
 * not load the drivers and ask them. */
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
        uint32_t n = kinds[i]->list ? kinds[i]->list(caps, LIST_MAX, &(myth_device_opts){0}) : 0;
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

uint32_t myth_device_list(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts)
{
    uint32_t n = 0;
    for (int i = 0; i < KIND_N; i++) {
        uint32_t first = n;
        n += kinds[i]->list ? kinds[i]->list(out + n, cap - n, opts) : 0;
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

bool myth_device_find(myth_device_caps *out, const char *name, const myth_device_opts *opts)
{
    const myth_device_kind *kind = find_kind(name);
    myth_device_caps caps[LIST_MAX];
    uint32_t n = kind && kind->list ? kind->list(caps, LIST_MAX, opts) : 0;
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
    dev->is_watched = dev->has_trace = opts->settings.trace_ops && opts->log && opts->log->write;
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
bool myth_device_records(const myth_device *dev) { return !dev->has_trace && !dev->is_eager; }

myth_status myth_device_observe(myth_device *dev, myth_op_observer observe, void *user, myth_error *err)
{
    if (observe && (!dev->caps.is_host_visible || dev->caps.is_async))
        return myth_fail_option(err, MYTH_EDEVICE, "device",
                                "%s: what goes into its products cannot be looked at; use device cpu", dev->caps.name);
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
    return dev->vt->buf_wrap ? dev->vt->buf_wrap(out, dev, base, bytes, err)
                             : myth_fail(err, MYTH_EDEVICE, "%s: host memory cannot be used in place", dev->caps.name);
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
        myth_mem_unbook_refused(dev->mem, MYTH_MEM_HOST, cls, bytes);
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

/* True when the stream can transfer `bytes` at the view now; else the stream keeps the failure. */
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
    myth_error late = {0};
    s->dev->counts.n_sync++;
    if (s->dev->vt->sync(s, &late) != MYTH_OK && s->err.code == MYTH_OK)
        s->err = late;
    return report(s, err);
}

void myth_stream_watch(myth_stream *s, const myth_cancel *cancel) { s->cancel = cancel; }
bool myth_stream_is_cut(const myth_stream *s) { return s->err.code == MYTH_ECANCEL; }

uint64_t myth_stream_mark(myth_stream *s)
{
    return s->dev->vt->mark && s->err.code == MYTH_OK ? s->dev->vt->mark(s) : 0;
}

myth_status myth_stream_wait(myth_stream *s, uint64_t mark, myth_error *err)
{
    myth_error late = {0};
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
    s->is_recording = s->graph != NULL; /* also after a refusal by the driver, which end_record handles */
}

myth_status myth_stream_end_record(myth_graph **out, myth_stream *s, myth_error *err)
{
    myth_status st;
    *out = NULL;
    if (s->is_recording) {
        s->is_recording = false;
        myth_error late = {0};
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
