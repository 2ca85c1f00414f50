/* device_cuda.cu - a CUDA device behind device.h: memory in the ledger, streams with pinned staging, captured graphs,
 * the op table.
 *
 * Memory     one cudaMalloc per buffer, booked on the device's ledger before it is asked for. The driver's own context
 *            is not booked: what the device reports as free is read after the context exists. A buffer in host memory
 *            is pinned and mapped: kernels have an address of it, and the host writes and reads it itself when the
 *            stream is done
 * Staging    each stream has a ring of four pinned slots. A write copies into a slot and from there; a read lands in a
 *            slot and is copied out at the sync, or goes straight to its place when that came from myth_host_alloc. A
 *            slot is used again when its event says so; a sync frees the whole ring
 * Graphs     a recorded stream is a captured one: what ops launch is kept by the driver, their arguments with it
 * Failures   cudaErrorMemoryAllocation is MYTH_ENOMEM; errors that end the context are MYTH_ELOST, and the device
 *            answers nothing else from then on; the rest is MYTH_EDEVICE with the driver's text
 * Threads    one per stream; the calling thread's current device is set where it differs
 * Source     CUDA runtime API reference (error codes; stream capture; cudaHostAlloc) */
#include "common.cuh"

#include "kernels/weight_form.h"

#include <stdio.h>
#include <stdlib.h>

enum { BIG_SLOT_BYTES = 1 << 20, SMALL_SLOT_BYTES = 64 << 10, RING_N = CUDA_RING_SLOT_N, PIECE_ALIGN = 64 };

static struct cuda_device *device_of(myth_device *dev) { return (struct cuda_device *)dev; }
static struct cuda_stream *stream_of(myth_stream *s) { return (struct cuda_stream *)s; }

/* ---- failures ---- */

/* After these the context answers nothing else: the process must end. */
static bool is_sticky(cudaError_t e)
{
    switch ((int)e) {
    case 214: /* uncorrectable ECC  */
    case 220: /* NVLink             */
    case 226: /* contained          */
    case 700: /* illegal address    */
    case 702: /* launch timeout     */
    case 710: /* device assert      */
    case 714: /* hardware stack     */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* address space      */
    case 718: /* program counter    */
    case 719: /* launch failure     */
    case 720: /* cooperative launch */
    case 721: /* tensor leak        */
    case 999: /* unknown            */ return true;
    default: return false;
    }
}

static myth_status fail_device(struct cuda_device *d, cudaError_t e, const char *what, myth_error *err)
{
    (void)cudaGetLastError(); /* so that it is not found again by the next call */
    if (is_sticky(e) && !d->is_lost) {
        d->is_lost = true;
        snprintf(d->lost, sizeof(d->lost), "%.40s: %.40s: %.60s", what, cudaGetErrorName(e), cudaGetErrorString(e));
    }
    if (d->is_lost)
        return myth_fail(err, MYTH_ELOST, "%s: device lost: %s", d->base.caps.name, d->lost);
    return myth_fail(err, e == cudaErrorMemoryAllocation ? MYTH_ENOMEM : MYTH_EDEVICE, "%s: %s: %s: %s",
                     d->base.caps.name, what, cudaGetErrorName(e), cudaGetErrorString(e));
}

/* Keeps the first failure of the stream; true when there is none. */
static bool keep(myth_stream *s, cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return s->err.code == MYTH_OK;
    myth_error late = {MYTH_OK, ""};
    fail_device(cuda_of(s), e, what, &late);
    if (s->err.code == MYTH_OK)
        s->err = late;
    return false;
}

void cuda_launched(myth_stream *s, cudaError_t e)
{
    if (keep(s, e, "launch"))
        (s->is_recording ? stream_of(s)->n_captured : s->dev->counts.n_launch)++;
}

bool cuda_allow_shared(myth_stream *s, const void *kernel, uint64_t bytes)
{
    struct cuda_device *d = cuda_of(s);
    if (bytes > d->shared_max) {
        if (s->err.code == MYTH_OK)
            myth_fail(&s->err, MYTH_EDEVICE, "%s: a launch wants %llu shared bytes of %llu", d->base.caps.name,
                      (unsigned long long)bytes, (unsigned long long)d->shared_max);
        return false;
    }
    return keep(s, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                "shared memory");
}

void cuda_check(myth_stream *s, const char *op)
{
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess)
        keep(s, e, op);
}

/* The calling thread's device. */
static thread_local int current = -1;

static bool enter(struct cuda_device *d, myth_error *err)
{
    if (d->is_lost) {
        myth_fail(err, MYTH_ELOST, "%s: device lost: %s", d->base.caps.name, d->lost);
        return false;
    }
    if (current == d->ordinal)
        return true;
    cudaError_t e = cudaSetDevice(d->ordinal);
    if (e != cudaSuccess) {
        fail_device(d, e, "cudaSetDevice", err);
        return false;
    }
    current = d->ordinal;
    return true;
}

bool cuda_enter(myth_stream *s)
{
    myth_error err = {MYTH_OK, ""};
    if (enter(cuda_of(s), &err))
        return true;
    if (s->err.code == MYTH_OK)
        s->err = err;
    return false;
}

/* ---- sizes ---- */

static uint64_t slot_bytes(int stream) { return stream == 0 ? BIG_SLOT_BYTES : SMALL_SLOT_BYTES; }

static uint64_t ring_bytes(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < CUDA_STREAM_MAX; i++)
        sum += slot_bytes(i) * RING_N;
    return sum;
}

static uint64_t table_bytes(void)
{
    return sizeof(struct cuda_device) + CUDA_BUF_MAX * sizeof(struct cuda_buf) +
           CUDA_STREAM_MAX * sizeof(struct cuda_stream);
}

static uint64_t graph_bytes(const myth_work_shape *w) { return (uint64_t)w->n_graph * sizeof(struct cuda_graph); }

static void plan(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                 const myth_work_shape *shape)
{
    (void)opts;
    host->bytes[MYTH_MEM_FIXED] = table_bytes();
    host->bytes[MYTH_MEM_STAGING] = ring_bytes();
    own->bytes[MYTH_MEM_FIXED] = CUDA_COUNTER_N * sizeof(unsigned);
    if (!shape)
        return;
    host->bytes[MYTH_MEM_GRAPH] = graph_bytes(shape);
    own->bytes[MYTH_MEM_ATTN_SCRATCH] = cuda_work_scratch(shape);
}

/* ---- memory ---- */

/* Booked, then taken from the device; NULL with the reason in err, nothing changed. */
static void *take_device(struct cuda_device *d, myth_mem_class cls, const char *owner, uint64_t bytes, myth_error *err)
{
    void *p = NULL;
    if (!enter(d, err))
        return NULL;
    if (bytes > SIZE_MAX || !myth_mem_book(d->base.mem, d->base.caps.ledger, cls, owner, bytes)) {
        myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes are past the limit of %llu", d->base.caps.name, owner,
                  (unsigned long long)bytes, (unsigned long long)myth_mem_limit(d->base.mem, d->base.caps.ledger));
        return NULL;
    }
    cudaError_t e = cudaMalloc(&p, (size_t)bytes);
    if (e == cudaSuccess)
        return p;
    myth_mem_unbook(d->base.mem, d->base.caps.ledger, cls, bytes);
    if (e == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes", d->base.caps.name, owner, (unsigned long long)bytes);
    } else {
        fail_device(d, e, "cudaMalloc", err);
    }
    return NULL;
}

/* A free whose failure changes nothing for us: sticky errors show at the next call that matters. */
static void give_device(struct cuda_device *d, myth_mem_class cls, void *p, uint64_t bytes)
{
    if (!p)
        return;
    if (cudaFree(p) != cudaSuccess)
        (void)cudaGetLastError();
    myth_mem_unbook(d->base.mem, d->base.caps.ledger, cls, bytes);
}

/* Pinned and mapped, booked on the host's ledger; its address on the device, or NULL with the reason in err, nothing
 * changed. */
static void *take_mapped(void **host, struct cuda_device *d, myth_mem_class cls, const char *owner, uint64_t bytes,
                         myth_error *err)
{
    void *p = NULL, *at = NULL;
    if (!enter(d, err))
        return NULL;
    if (bytes > SIZE_MAX || !myth_mem_book(d->base.mem, MYTH_MEM_HOST, cls, owner, bytes)) {
        myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes of host memory are past the limit of %llu", d->base.caps.name,
                  owner, (unsigned long long)bytes, (unsigned long long)myth_mem_limit(d->base.mem, MYTH_MEM_HOST));
        return NULL;
    }
    cudaError_t e = cudaHostAlloc(&p, (size_t)bytes, cudaHostAllocMapped);
    if (e == cudaSuccess && (e = cudaHostGetDevicePointer(&at, p, 0)) == cudaSuccess) {
        *host = p;
        return at;
    }
    if (p && cudaFreeHost(p) != cudaSuccess)
        (void)cudaGetLastError();
    myth_mem_unbook(d->base.mem, MYTH_MEM_HOST, cls, bytes);
    if (e == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        myth_fail(err, MYTH_ENOMEM, "%s: %s: the system pins no %llu bytes of host memory", d->base.caps.name, owner,
                  (unsigned long long)bytes);
    } else {
        fail_device(d, e, "mapped host memory", err);
    }
    return NULL;
}

/* What still reads it ends first. */
static void give_mapped(struct cuda_device *d, myth_mem_class cls, void *host, uint64_t bytes)
{
    if (enter(d, NULL) && cudaDeviceSynchronize() != cudaSuccess)
        (void)cudaGetLastError();
    if (cudaFreeHost(host) != cudaSuccess)
        (void)cudaGetLastError();
    myth_mem_unbook(d->base.mem, MYTH_MEM_HOST, cls, bytes);
}

static void *host_take(myth_device *dev, uint64_t bytes)
{
    void *p = NULL;
    if (!enter(device_of(dev), NULL) || bytes > SIZE_MAX)
        return NULL;
    cudaError_t e = cudaHostAlloc(&p, (size_t)bytes, cudaHostAllocDefault);
    if (e != cudaSuccess) {
        fail_device(device_of(dev), e, "cudaHostAlloc", NULL);
        return NULL;
    }
    struct cuda_device *d = device_of(dev);
    for (int i = 0; i < CUDA_PINNED_MAX; i++)
        if (!d->pinned[i].p) {
            d->pinned[i].p = (unsigned char *)p;
            d->pinned[i].bytes = bytes;
            break;
        }
    return memset(p, 0, (size_t)bytes);
}

static void host_give(myth_device *dev, void *p, uint64_t bytes)
{
    struct cuda_device *d = device_of(dev);
    (void)bytes;
    for (int i = 0; i < CUDA_PINNED_MAX; i++)
        if (d->pinned[i].p == p)
            d->pinned[i].p = NULL;
    if (cudaFreeHost(p) != cudaSuccess)
        (void)cudaGetLastError();
}

static bool is_pinned(const struct cuda_device *d, const void *p, uint64_t bytes)
{
    for (int i = 0; i < CUDA_PINNED_MAX; i++) {
        const unsigned char *base = d->pinned[i].p, *at = (const unsigned char *)p;
        if (base && at >= base && (uint64_t)(at - base) <= d->pinned[i].bytes &&
            bytes <= d->pinned[i].bytes - (uint64_t)(at - base))
            return true;
    }
    return false;
}

/* ---- buffers ---- */

static myth_status open_at(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                           bool is_mapped, myth_error *err)
{
    struct cuda_device *d = device_of(dev);
    struct cuda_buf *b = NULL;
    void *host = NULL;
    for (int i = 0; i < CUDA_BUF_MAX && !b; i++)
        if (!d->buf[i].buf.dev)
            b = &d->buf[i];
    if (!b)
        return myth_fail(err, MYTH_EFULL, "%s: all %d buffers are in use", dev->caps.name, CUDA_BUF_MAX);
    myth_error why = {MYTH_OK, ""};
    void *p = is_mapped ? take_mapped(&host, d, cls, owner, bytes, &why) : take_device(d, cls, owner, bytes, &why);
    if (!p) {
        if (err)
            *err = why;
        return why.code;
    }
    memset(b, 0, sizeof(*b));
    b->buf.dev = dev;
    b->buf.host = host;
    b->buf.bytes = bytes;
    b->buf.cls = cls;
    b->base = (unsigned char *)p;
    *out = &b->buf;
    return MYTH_OK;
}

static myth_status buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                            myth_error *err)
{
    return open_at(out, dev, cls, owner, bytes, false, err);
}

static myth_status buf_open_host(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner,
                                 uint64_t bytes, myth_error *err)
{
    return open_at(out, dev, cls, owner, bytes, true, err);
}

static myth_status buf_wrap(myth_buf **out, myth_device *dev, const void *base, uint64_t bytes, myth_error *err)
{
    (void)out, (void)base, (void)bytes;
    return myth_fail(err, MYTH_EDEVICE, "%s: host memory cannot be used in place", dev->caps.name);
}

static void buf_close(myth_buf *buf)
{
    struct cuda_buf *b = (struct cuda_buf *)buf;
    if (buf->host)
        give_mapped(device_of(buf->dev), buf->cls, buf->host, buf->bytes);
    else
        give_device(device_of(buf->dev), buf->cls, b->base, buf->bytes);
    memset(b, 0, sizeof(*b));
}

/* ---- staging ---- */

/* Reads whose copies are done go where the caller wants them: those before the mark, and those in `slot` (-1 = none).
 */
static void deliver(struct cuda_stream *s, uint64_t mark, int slot)
{
    int n_left = 0;
    for (int i = 0; i < s->n_pending; i++) {
        const struct cuda_pending p = s->pending[i];
        if (p.mark < mark || (uint64_t)(p.src - s->ring) / s->slot_bytes == (uint64_t)slot)
            memcpy(p.dst, p.src, (size_t)p.bytes);
        else
            s->pending[n_left++] = p;
    }
    s->n_pending = n_left;
}

static void free_ring(struct cuda_stream *s)
{
    for (int i = 0; i < RING_N; i++)
        s->is_slot_busy[i] = false;
    s->slot = 0;
    s->slot_used = 0;
}

/* Waits for everything issued; the ring is free again. */
static bool finish(struct cuda_stream *s)
{
    bool is_ok = keep(&s->base, cudaStreamSynchronize(s->stream), "synchronise");
    if (is_ok)
        deliver(s, UINT64_MAX, -1);
    s->n_pending = 0;
    free_ring(s);
    return is_ok;
}

/* Up to `want` bytes of the ring, at least one; NULL after a failure. */
static unsigned char *take_ring(struct cuda_stream *s, uint64_t want, uint64_t *got)
{
    if (s->slot_used == s->slot_bytes) {
        if (!keep(&s->base, cudaEventRecord(s->slot_done[s->slot], s->stream), "staging"))
            return NULL;
        s->is_slot_busy[s->slot] = true;
        s->slot = (s->slot + 1) % RING_N;
        s->slot_used = 0;
        if (s->is_slot_busy[s->slot]) {
            if (!keep(&s->base, cudaEventSynchronize(s->slot_done[s->slot]), "staging"))
                return NULL;
            deliver(s, 0, s->slot);
            s->is_slot_busy[s->slot] = false;
        }
    }
    unsigned char *p = s->ring + (uint64_t)s->slot * s->slot_bytes + s->slot_used;
    uint64_t room = s->slot_bytes - s->slot_used;
    *got = want < room ? want : room;
    s->slot_used += (*got + PIECE_ALIGN - 1) & ~(uint64_t)(PIECE_ALIGN - 1);
    return p;
}

/* Where the host itself may write or read the view, everything issued being done; NULL when it lies on the device, or
 * after a failure. */
static unsigned char *mapped(myth_stream *base, myth_view v)
{
    return v.buf->host && cuda_enter(base) && finish(stream_of(base)) ? (unsigned char *)v.buf->host + v.off : NULL;
}

static void write_view(myth_stream *base, myth_view dst, const void *src, uint64_t bytes)
{
    struct cuda_stream *s = stream_of(base);
    const unsigned char *from = (const unsigned char *)src;
    unsigned char *to = cuda_ptr<unsigned char>(dst);
    if (dst.buf->host) {
        if ((to = mapped(base, dst)) != NULL)
            memcpy(to, src, (size_t)bytes);
        return;
    }
    if (!cuda_enter(base))
        return;
    while (bytes) {
        uint64_t n;
        unsigned char *piece = take_ring(s, bytes, &n);
        if (!piece)
            return;
        memcpy(piece, from, (size_t)n);
        if (!keep(base, cudaMemcpyAsync(to, piece, (size_t)n, cudaMemcpyHostToDevice, s->stream), "write"))
            return;
        from += n;
        to += n;
        bytes -= n;
    }
}

static void read_view(myth_stream *base, void *dst, myth_view src, uint64_t bytes)
{
    struct cuda_stream *s = stream_of(base);
    unsigned char *to = (unsigned char *)dst;
    const unsigned char *from = cuda_ptr<unsigned char>(src);
    if (src.buf->host) {
        if ((from = mapped(base, src)) != NULL)
            memcpy(dst, from, (size_t)bytes);
        return;
    }
    if (!cuda_enter(base))
        return;
    if (is_pinned(cuda_of(base), dst, bytes)) {
        keep(base, cudaMemcpyAsync(dst, from, (size_t)bytes, cudaMemcpyDeviceToHost, s->stream), "read");
        return;
    }
    while (bytes) {
        uint64_t n;
        if (s->n_pending == CUDA_READ_MAX && !finish(s))
            return;
        unsigned char *piece = take_ring(s, bytes, &n);
        if (!piece || !keep(base, cudaMemcpyAsync(piece, from, (size_t)n, cudaMemcpyDeviceToHost, s->stream), "read"))
            return;
        struct cuda_pending *p = &s->pending[s->n_pending++];
        p->dst = to;
        p->src = piece;
        p->bytes = n;
        p->mark = s->n_mark;
        from += n;
        to += n;
        bytes -= n;
    }
}

/* Quantised rows are taken apart block by block on their way through the ring (weight_form.h). */
static void weight_write(myth_stream *base, myth_view dst, const void *src, uint32_t n_total, uint32_t row0,
                         uint32_t n_rows, uint32_t n_in)
{
    struct cuda_stream *s = stream_of(base);
    const myth_planar form = myth_planar_get(dst.dtype, n_total, n_in);
    if (dst.buf->host) {
        unsigned char *to = mapped(base, dst);
        if (to)
            myth_planar_write(to + row0 * form.quant_row, to + form.scale_off + row0 * form.scale_row, src, dst.dtype,
                              n_rows, n_in);
        return;
    }
    if (!form.scale_row) {
        dst.off += row0 * form.quant_row;
        write_view(base, dst, src, n_rows * form.quant_row);
        return;
    }
    if (!cuda_enter(base))
        return;
    const uint32_t whole = myth_dtype_block_bytes(dst.dtype), quant = whole - 2;
    uint64_t per_row = n_in / 32, at = row0 * per_row, left = n_rows * per_row;
    const unsigned char *from = (const unsigned char *)src;
    unsigned char *quants = cuda_ptr<unsigned char>(dst), *scales = quants + form.scale_off;
    while (left) {
        uint64_t got, n;
        if (s->slot_bytes - s->slot_used < 4096)
            s->slot_used = s->slot_bytes; /* a piece of a few blocks is not worth two copies */
        unsigned char *piece = take_ring(s, left * whole, &got);
        if (!piece)
            return;
        n = got / whole;
        myth_planar_write(piece, piece + n * quant, from, dst.dtype, n, 32);
        if (!keep(base,
                  cudaMemcpyAsync(quants + at * quant, piece, (size_t)(n * quant), cudaMemcpyHostToDevice, s->stream),
                  "weight write") ||
            !keep(
                base,
                cudaMemcpyAsync(scales + at * 2, piece + n * quant, (size_t)(n * 2), cudaMemcpyHostToDevice, s->stream),
                "weight write"))
            return;
        from += n * whole;
        at += n;
        left -= n;
    }
}

/* ---- streams ---- */

static void stream_close(myth_stream *base)
{
    struct cuda_stream *s = stream_of(base);
    if (s->stream && cudaStreamDestroy(s->stream) != cudaSuccess)
        (void)cudaGetLastError();
    for (int i = 0; i < RING_N; i++)
        if (s->slot_done[i] && cudaEventDestroy(s->slot_done[i]) != cudaSuccess)
            (void)cudaGetLastError();
    for (int i = 0; i < CUDA_MARK_N; i++)
        if (s->mark_done[i] && cudaEventDestroy(s->mark_done[i]) != cudaSuccess)
            (void)cudaGetLastError();
    memset(s, 0, sizeof(*s));
}

static myth_status stream_open(myth_stream **out, myth_device *dev, myth_error *err)
{
    struct cuda_device *d = device_of(dev);
    myth_error why = {MYTH_OK, ""};
    int i = 0;
    while (i < CUDA_STREAM_MAX && d->stream[i].base.dev)
        i++;
    if (i == CUDA_STREAM_MAX)
        return myth_fail(err, MYTH_EFULL, "%s: all %d streams are in use", dev->caps.name, CUDA_STREAM_MAX);
    struct cuda_stream *s = &d->stream[i];
    memset(s, 0, sizeof(*s));
    if (!enter(d, &why)) {
        if (err)
            *err = why;
        return why.code;
    }
    s->ring = d->ring;
    for (int j = 0; j < i; j++)
        s->ring += slot_bytes(j) * RING_N;
    s->slot_bytes = slot_bytes(i);
    s->base.dev = dev;
    cudaError_t e = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    for (int j = 0; j < RING_N && e == cudaSuccess; j++)
        e = cudaEventCreateWithFlags(&s->slot_done[j], cudaEventDisableTiming);
    for (int j = 0; j < CUDA_MARK_N && e == cudaSuccess; j++)
        e = cudaEventCreateWithFlags(&s->mark_done[j], cudaEventDisableTiming);
    if (e != cudaSuccess) {
        fail_device(d, e, "stream", &why);
        stream_close(&s->base);
        if (err)
            *err = why;
        return why.code;
    }
    *out = &s->base;
    return MYTH_OK;
}

static myth_status sync_stream(myth_stream *s, myth_error *err)
{
    myth_error kept = s->err; /* the caller reports that one; here only what comes now */
    memset(&s->err, 0, sizeof(s->err));
    if (cuda_enter(s))
        finish(stream_of(s));
    myth_error now = s->err;
    s->err = kept;
    if (now.code != MYTH_OK && err)
        *err = now;
    return now.code;
}

static uint64_t mark_stream(myth_stream *base)
{
    struct cuda_stream *s = stream_of(base);
    uint64_t mark = s->n_mark + 1;
    if (!cuda_enter(base) || !keep(base, cudaEventRecord(s->mark_done[mark % CUDA_MARK_N], s->stream), "mark"))
        return 0;
    return s->n_mark = mark;
}

static myth_status wait_stream(myth_stream *base, uint64_t mark, myth_error *err)
{
    struct cuda_stream *s = stream_of(base);
    if (mark == 0 || !cuda_enter(base))
        return sync_stream(base, err);
    cudaError_t e = cudaEventSynchronize(s->mark_done[mark % CUDA_MARK_N]);
    if (e != cudaSuccess)
        return fail_device(cuda_of(base), e, "wait", err);
    deliver(s, mark, -1);
    return MYTH_OK;
}

/* ---- recording ---- */

static void begin_record(myth_stream *base)
{
    struct cuda_device *d = cuda_of(base);
    struct cuda_stream *s = stream_of(base);
    base->graph = NULL;
    for (uint32_t i = 0; i < d->base.shape.n_graph && !base->graph; i++)
        if (!d->graph[i].graph.dev)
            base->graph = &d->graph[i].graph;
    if (!base->graph) {
        myth_fail(&base->err, MYTH_EFULL, "%s: all %u graphs are in use", d->base.caps.name, d->base.shape.n_graph);
        return;
    }
    if (!cuda_enter(base) || !keep(base, cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal), "record"))
        base->graph = NULL;
    else
        base->graph->dev = s->base.dev;
    s->n_captured = 0;
}

static void graph_close(myth_graph *graph)
{
    struct cuda_graph *g = (struct cuda_graph *)graph;
    if (g->exec && cudaGraphExecDestroy(g->exec) != cudaSuccess)
        (void)cudaGetLastError();
    memset(g, 0, sizeof(*g));
}

static myth_status end_record(myth_graph **out, myth_stream *base, myth_error *err)
{
    struct cuda_stream *s = stream_of(base);
    struct cuda_graph *g = (struct cuda_graph *)base->graph;
    cudaGraph_t captured = NULL;
    myth_error why = {MYTH_OK, ""};
    base->graph = NULL;
    cudaError_t e = cudaStreamEndCapture(s->stream, &captured);
    if (e == cudaSuccess && base->err.code == MYTH_OK)
        e = cudaGraphInstantiate(&g->exec, captured, 0);
    if (captured && cudaGraphDestroy(captured) != cudaSuccess)
        (void)cudaGetLastError();
    if (e != cudaSuccess) {
        fail_device(cuda_of(base), e, "record", &why);
        g->exec = NULL;
    }
    if (!g->exec) {
        graph_close(&g->graph);
        *err = why;
        return why.code;
    }
    g->n_launch = s->n_captured;
    *out = &g->graph;
    return MYTH_OK;
}

static void replay(myth_stream *base, const myth_graph *graph)
{
    const struct cuda_graph *g = (const struct cuda_graph *)graph;
    if (cuda_enter(base) && keep(base, cudaGraphLaunch(g->exec, stream_of(base)->stream), "replay"))
        base->dev->counts.n_launch += g->n_launch;
}

/* ---- device ---- */

static void close_device(myth_device *dev)
{
    struct cuda_device *d = device_of(dev);
    give_device(d, MYTH_MEM_ATTN_SCRATCH, d->scratch, d->scratch_bytes);
    give_device(d, MYTH_MEM_FIXED, d->counters, CUDA_COUNTER_N * sizeof(unsigned));
    if (d->ring) {
        if (cudaFreeHost(d->ring) != cudaSuccess)
            (void)cudaGetLastError();
        myth_mem_unbook(dev->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, ring_bytes());
    }
    myth_free(dev->mem, d->graph);
    myth_free(dev->mem, d->stream);
    myth_free(dev->mem, d->buf);
    myth_free(dev->mem, d);
}

static myth_status reserve(myth_device *dev, const myth_work_shape *shape, myth_error *err)
{
    struct cuda_device *d = device_of(dev);
    uint64_t bytes = cuda_work_scratch(shape);
    if (shape->n_graph) {
        d->graph = (struct cuda_graph *)myth_alloc(dev->mem, MYTH_MEM_GRAPH, "cuda graphs", (size_t)graph_bytes(shape));
        if (!d->graph)
            return myth_fail(err, MYTH_ENOMEM, "%s: %llu bytes for graphs", dev->caps.name,
                             (unsigned long long)graph_bytes(shape));
    }
    myth_error why = {MYTH_OK, ""};
    d->scratch = bytes ? take_device(d, MYTH_MEM_ATTN_SCRATCH, "cuda work", bytes, &why) : NULL;
    if (bytes && !d->scratch) {
        myth_free(dev->mem, d->graph);
        d->graph = NULL;
        if (err)
            *err = why;
        return why.code;
    }
    d->scratch_bytes = bytes;
    return MYTH_OK;
}

static void fill_vtable(struct myth_device_vtable *vt)
{
    vt->close = close_device;
    vt->reserve = reserve;
    vt->buf_open = buf_open;
    vt->buf_open_host = buf_open_host;
    vt->buf_wrap = buf_wrap;
    vt->buf_close = buf_close;
    vt->host_take = host_take;
    vt->host_give = host_give;
    vt->stream_open = stream_open;
    vt->stream_close = stream_close;
    vt->write = write_view;
    vt->read = read_view;
    vt->weight_write = weight_write;
    vt->sync = sync_stream;
    vt->mark = mark_stream;
    vt->wait = wait_stream;
    vt->begin_record = begin_record;
    vt->end_record = end_record;
    vt->replay = replay;
    vt->graph_close = graph_close;
}

/* The build says which ops have a file: CUDA_HAS_<op> is 0 or 1. */
#define PICK_0(name)     NULL
#define PICK_1(name)     cuda_##name
#define PICK_(has, name) PICK_##has(name)
#define PICK(has, name)  PICK_(has, name)

static void fill_ops(struct myth_ops *ops)
{
#define OP(name) ops->name = PICK(CUDA_HAS_##name, name);
#include "kernels/ops.def"
#undef OP
}

/* ---- what devices there are ---- */

static void describe(myth_device_caps *c, int ordinal, const cudaDeviceProp *p)
{
    memset(c, 0, sizeof(*c));
    snprintf(c->name, sizeof(c->name), "cuda:%d", ordinal);
    snprintf(c->description, sizeof(c->description), "%.64s, sm_%d%d, %d multiprocessors", p->name, p->major, p->minor,
             p->multiProcessorCount);
    snprintf(c->variants, sizeof(c->variants), "mma bf16 int8dot%s", p->major >= 9 ? " dependent-launch" : "");
    c->ledger = 1 + ordinal;
    c->total_bytes = p->totalGlobalMem;
    c->is_async = true;
    c->is_gpu = MYTH_CUDA_REAL; /* the emulation runs on the CPU */
}

static bool is_supported(const cudaDeviceProp *p) { return p->major >= 8; }

static uint32_t list(myth_device_caps *out, uint32_t cap)
{
    int n = 0;
    uint32_t n_out = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    for (int i = 0; i < n && i < CUDA_DEVICE_MAX && n_out < cap; i++) {
        cudaDeviceProp p;
        if (cudaGetDeviceProperties(&p, i) == cudaSuccess && is_supported(&p))
            describe(&out[n_out++], i, &p);
        else
            (void)cudaGetLastError();
    }
    return n_out;
}

/* Needs the device's context, which takes some of its memory: for devices that will be used, or were asked about. */
static void measure(myth_device_caps *c)
{
    size_t free_bytes = 0, total_bytes = 0;
    current = -1;
    if (cudaSetDevice(c->ledger - 1) == cudaSuccess && cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) {
        c->free_bytes = free_bytes;
        c->total_bytes = total_bytes;
    } else {
        (void)cudaGetLastError();
    }
}

/* ---- open ---- */

static myth_status open_device(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err)
{
    static struct myth_device_vtable vtable;
    int n = 0, ordinal = myth_device_number(opts->name, "cuda", CUDA_DEVICE_MAX);
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaSuccess && ordinal < n)
        e = cudaGetDeviceProperties(&p, ordinal);
    if (e != cudaSuccess) { /* no driver, or none that knows this runtime: its words say which */
        (void)cudaGetLastError();
        return myth_fail(err,
                         is_sticky(e)                     ? MYTH_ELOST
                         : e == cudaErrorMemoryAllocation ? MYTH_ENOMEM
                                                          : MYTH_EDEVICE,
                         "%s: no CUDA device: %s", opts->name, cudaGetErrorString(e));
    }
    if (ordinal >= n)
        return myth_fail(err, MYTH_EDEVICE, "%s: the driver lists %d device%s", opts->name, n, n == 1 ? "" : "s");
    if (!is_supported(&p))
        return myth_fail(err, MYTH_EDEVICE, "%s: %.64s has compute capability %d.%d; this build needs 8.0 or later",
                         opts->name, p.name, p.major, p.minor);

    struct cuda_device *d = (struct cuda_device *)myth_alloc(mem, MYTH_MEM_FIXED, "cuda device", sizeof(*d));
    if (!d)
        return myth_fail(err, MYTH_ENOMEM, "%s: %zu bytes for the device", opts->name, sizeof(*d));
    fill_vtable(&vtable);
    fill_ops(&d->base.ops);
    describe(&d->base.caps, ordinal, &p);
    d->base.mem = mem;
    d->base.vt = &vtable;
    d->base.has_decode_merge = true;
    d->ordinal = ordinal;
    d->cc = p.major * 10 + p.minor;
    d->sm_count = p.multiProcessorCount;
    d->shared_max = p.sharedMemPerBlockOptin;
    d->is_exact = opts->is_exact;

    myth_error why = {MYTH_OK, ""};
    void *ring = NULL;
    d->buf = (struct cuda_buf *)myth_alloc(mem, MYTH_MEM_FIXED, "cuda buffers", CUDA_BUF_MAX * sizeof(*d->buf));
    d->stream =
        (struct cuda_stream *)myth_alloc(mem, MYTH_MEM_FIXED, "cuda streams", CUDA_STREAM_MAX * sizeof(*d->stream));
    if (!d->buf || !d->stream) {
        myth_fail(&why, MYTH_ENOMEM, "%s: %llu bytes for tables", opts->name, (unsigned long long)table_bytes());
        goto fail;
    }
    current = -1; /* what this thread made current before may be gone */
    if (!enter(d, &why))
        goto fail;
    d->counters = (unsigned *)take_device(d, MYTH_MEM_FIXED, "cuda counters", CUDA_COUNTER_N * sizeof(unsigned), &why);
    if (!d->counters)
        goto fail;
    if (!myth_mem_book(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, "cuda staging", ring_bytes())) {
        myth_fail(&why, MYTH_ENOMEM, "%s: %llu bytes for staging", opts->name, (unsigned long long)ring_bytes());
        goto fail;
    }
    if ((e = cudaHostAlloc(&ring, (size_t)ring_bytes(), cudaHostAllocDefault)) != cudaSuccess) {
        myth_mem_unbook(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, ring_bytes());
        fail_device(d, e, "staging", &why);
        goto fail;
    }
    d->ring = (unsigned char *)ring;
    if ((e = cudaMemset(d->counters, 0, CUDA_COUNTER_N * sizeof(unsigned))) != cudaSuccess) {
        fail_device(d, e, "counters", &why);
        goto fail;
    }
    measure(&d->base.caps);
    *out = &d->base;
    return MYTH_OK;
fail:
    close_device(&d->base);
    if (err)
        *err = why;
    return why.code;
}

extern "C" {
extern const myth_device_kind myth_device_kind_cuda;
const myth_device_kind myth_device_kind_cuda = {"cuda", 1, CUDA_DEVICE_MAX, open_device, plan, list, measure};
}
