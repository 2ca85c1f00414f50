/* stream_cuda.cu - the streams of a CUDA device: pinned staging, marks, recorded steps.
 *
 * Staging    each stream has a ring of four pinned slots. A write is copied into a slot and from there to the device. A
 *            read goes to a slot and is copied out at the sync, or goes straight to its place when that memory came
 *            from myth_host_alloc. A slot is used again when its event is done; a sync frees the whole ring
 * Graphs     recording is CUDA's stream capture: the driver keeps what the ops launch, together with the arguments
 * Source     CUDA runtime API reference (stream capture, events) */
#include "common.cuh"

#include "kernels/weight_form.h"

enum { RING_N = CUDA_RING_SLOT_N, PIECE_ALIGN = 64 };

/* ---- staging ---- */

/* Copies reads that have arrived in the ring to where the caller wants them: those before the mark, and those in `slot`
 * (-1 = none). */
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

/* Waits for everything that was issued. After it the ring is free. */
static bool finish(struct cuda_stream *s)
{
    bool is_ok = cuda_keep(&s->base, cudaStreamSynchronize(s->stream), "synchronise");
    if (is_ok)
        deliver(s, UINT64_MAX, -1);
    s->n_pending = 0;
    free_ring(s);
    return is_ok;
}

/* Takes up to `want` bytes of the ring, at least one; NULL after a failure. */
static unsigned char *take_ring(struct cuda_stream *s, uint64_t want, uint64_t *got)
{
    if (s->slot_used == s->slot_bytes) {
        if (!cuda_keep(&s->base, cudaEventRecord(s->slot_done[s->slot], s->stream), "staging"))
            return NULL;
        s->is_slot_busy[s->slot] = true;
        s->slot = (s->slot + 1) % RING_N;
        s->slot_used = 0;
        if (s->is_slot_busy[s->slot]) {
            if (!cuda_keep(&s->base, cudaEventSynchronize(s->slot_done[s->slot]), "staging"))
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

/* Waits for everything that was issued and returns the host address of a view in mapped host memory; NULL when the view
 * is on the device, or after a failure. */
static unsigned char *mapped(myth_stream *base, myth_view v)
{
    return v.buf->host && cuda_enter(base) && finish(cuda_stream_of(base)) ? (unsigned char *)v.buf->host + v.off
                                                                           : NULL;
}

/* True when the bytes at p are in memory from myth_host_alloc. */
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

static void write_view(myth_stream *base, myth_view dst, const void *src, uint64_t bytes)
{
    struct cuda_stream *s = cuda_stream_of(base);
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
        if (!cuda_keep(base, cudaMemcpyAsync(to, piece, (size_t)n, cudaMemcpyHostToDevice, s->stream), "write"))
            return;
        from += n;
        to += n;
        bytes -= n;
    }
}

static void read_view(myth_stream *base, void *dst, myth_view src, uint64_t bytes)
{
    struct cuda_stream *s = cuda_stream_of(base);
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
        cuda_keep(base, cudaMemcpyAsync(dst, from, (size_t)bytes, cudaMemcpyDeviceToHost, s->stream), "read");
        return;
    }
    while (bytes) {
        uint64_t n;
        if (s->n_pending == CUDA_READ_MAX && !finish(s))
            return;
        unsigned char *piece = take_ring(s, bytes, &n);
        if (!piece ||
            !cuda_keep(base, cudaMemcpyAsync(piece, from, (size_t)n, cudaMemcpyDeviceToHost, s->stream), "read"))
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

/* Writes rows of weights through the ring; quantised rows become planar on the way (weight_form.h). */
static void weight_write(myth_stream *base, myth_view dst, const void *src, uint32_t n_total, uint32_t row0,
                         uint32_t n_rows, uint32_t n_in)
{
    struct cuda_stream *s = cuda_stream_of(base);
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
            s->slot_used = s->slot_bytes; /* the rest of the slot, a few blocks, is not worth two copies */
        unsigned char *piece = take_ring(s, left * whole, &got);
        if (!piece)
            return;
        n = got / whole;
        myth_planar_write(piece, piece + n * quant, from, dst.dtype, n, 32);
        if (!cuda_keep(
                base,
                cudaMemcpyAsync(quants + at * quant, piece, (size_t)(n * quant), cudaMemcpyHostToDevice, s->stream),
                "weight write") ||
            !cuda_keep(
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
    struct cuda_stream *s = cuda_stream_of(base);
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
    struct cuda_device *d = cuda_device_of(dev);
    myth_error why = {};
    int i = 0;
    while (i < CUDA_STREAM_MAX && d->stream[i].base.dev)
        i++;
    if (i == CUDA_STREAM_MAX)
        return myth_fail(err, MYTH_EFULL, "%s: all %d streams are in use", dev->caps.name, CUDA_STREAM_MAX);
    struct cuda_stream *s = &d->stream[i];
    memset(s, 0, sizeof(*s));
    if (!cuda_enter_device(d, &why)) {
        if (err)
            *err = why;
        return why.code;
    }
    s->ring = d->ring;
    for (int j = 0; j < i; j++)
        s->ring += cuda_slot_bytes(j) * RING_N;
    s->slot_bytes = cuda_slot_bytes(i);
    s->base.dev = dev;
    cudaError_t e = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    for (int j = 0; j < RING_N && e == cudaSuccess; j++)
        e = cudaEventCreateWithFlags(&s->slot_done[j], cudaEventDisableTiming);
    for (int j = 0; j < CUDA_MARK_N && e == cudaSuccess; j++)
        e = cudaEventCreateWithFlags(&s->mark_done[j], cudaEventDisableTiming);
    if (e != cudaSuccess) {
        cuda_fail(d, e, "stream", &why);
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
    myth_error kept = s->err; /* the caller reports this failure; here only later ones count */
    memset(&s->err, 0, sizeof(s->err));
    if (cuda_enter(s))
        finish(cuda_stream_of(s));
    myth_error now = s->err;
    s->err = kept;
    if (now.code != MYTH_OK && err)
        *err = now;
    return now.code;
}

static uint64_t mark_stream(myth_stream *base)
{
    struct cuda_stream *s = cuda_stream_of(base);
    uint64_t mark = s->n_mark + 1;
    if (!cuda_enter(base) || !cuda_keep(base, cudaEventRecord(s->mark_done[mark % CUDA_MARK_N], s->stream), "mark"))
        return 0;
    return s->n_mark = mark;
}

static myth_status wait_stream(myth_stream *base, uint64_t mark, myth_error *err)
{
    struct cuda_stream *s = cuda_stream_of(base);
    if (mark == 0 || !cuda_enter(base))
        return sync_stream(base, err);
    cudaError_t e = cudaEventSynchronize(s->mark_done[mark % CUDA_MARK_N]);
    if (e != cudaSuccess)
        return cuda_fail(cuda_of(base), e, "wait", err);
    deliver(s, mark, -1);
    return MYTH_OK;
}

/* ---- recording ----
 *
 * A driver may refuse to record what it would run, such as a launch that may start early, or a module that it loads
 * during the recording. Then the recording fails but not the step: after the first refusal later recordings do without
 * early starts, after the second there are no more recordings and the caller issues the ops of each step. */

static void begin_record(myth_stream *base)
{
    struct cuda_device *d = cuda_of(base);
    struct cuda_stream *s = cuda_stream_of(base);
    base->graph = NULL;
    s->is_capturing = false;
    s->n_captured = 0;
    for (uint32_t i = 0; i < d->base.shape.n_graph && !base->graph; i++)
        if (!d->graph[i].graph.dev)
            base->graph = &d->graph[i].graph;
    if (!base->graph) {
        myth_fail(&base->err, MYTH_EFULL, "%s: all %u graphs are in use", d->base.caps.name, d->base.shape.n_graph);
        return;
    }
    base->graph->dev = base->dev;
    /* Relaxed mode, so that loading a module or asking the driver a question does not end the capture. */
    s->is_capturing =
        cuda_enter(base) && cuda_keep(base, cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeRelaxed), "record");
}

static void graph_close(myth_graph *graph)
{
    struct cuda_graph *g = (struct cuda_graph *)graph;
    if (g->exec && cudaGraphExecDestroy(g->exec) != cudaSuccess)
        (void)cudaGetLastError();
    memset(g, 0, sizeof(*g));
}

/* True when the driver refused the recording and nothing of it ran. Other failures, such as a wrong argument or a lost
 * device, are reported to the caller. */
static bool is_refusal(const struct cuda_device *d, myth_status st)
{
    return !d->is_lost && (st == MYTH_EDEVICE || st == MYTH_ENOMEM);
}

static void note_refusal(struct cuda_device *d, const myth_error *why)
{
    const bool has_other_way = d->n_record_failed++ == 0;
    d->base.is_eager = !has_other_way;
    myth_logf(d->base.log, MYTH_LOG_WARN, "cuda", "%s: a decode step was not recorded (%s); %s", d->base.caps.name,
              why->msg,
              has_other_way ? "trying again without early starts of kernels"
                            : "from now on its kernels are launched one by one, which takes longer");
}

static myth_status end_record(myth_graph **out, myth_stream *base, myth_error *err)
{
    struct cuda_device *d = cuda_of(base);
    struct cuda_stream *s = cuda_stream_of(base);
    struct cuda_graph *g = (struct cuda_graph *)base->graph;
    cudaGraph_t captured = NULL;
    base->graph = NULL;
    if (s->is_capturing) {
        s->is_capturing = false;
        cuda_keep(base, cudaStreamEndCapture(s->stream, &captured), "record");
        if (base->err.code == MYTH_OK)
            cuda_keep(base, cudaGraphInstantiate(&g->exec, captured, 0), "record");
        if (captured && cudaGraphDestroy(captured) != cudaSuccess)
            (void)cudaGetLastError();
    }
    if (base->err.code == MYTH_OK) {
        g->n_launch = s->n_captured;
        *out = &g->graph;
        return MYTH_OK;
    }
    const myth_error why = base->err;
    if (g) {
        g->exec = NULL;
        graph_close(&g->graph);
    }
    if (is_refusal(d, why.code)) {
        note_refusal(d, &why);
        memset(&base->err, 0, sizeof(base->err));
        return MYTH_OK;
    }
    *err = why;
    return why.code;
}

static void replay(myth_stream *base, const myth_graph *graph)
{
    const struct cuda_graph *g = (const struct cuda_graph *)graph;
    if (cuda_enter(base) && cuda_keep(base, cudaGraphLaunch(g->exec, cuda_stream_of(base)->stream), "replay"))
        base->dev->counts.n_launch += g->n_launch;
}

void cuda_fill_stream_vtable(struct myth_device_vtable *vt)
{
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
