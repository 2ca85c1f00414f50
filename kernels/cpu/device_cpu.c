/* device_cpu.c - the CPU as a device: it chooses the level, books memory in the ledger, and runs each op when it is
 * issued or keeps it in a recording.
 *
 * Graphs   one block (class GRAPH) of n_graph slots. A slot is a header and n_record_ops records of (op, copy of its
 *          arguments)
 * Handles  buffers and streams are slots inside the device, so that opening a buffer books exactly its bytes */
#define _GNU_SOURCE
#include "cpu.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cpu_record {
    myth_op op;
    union {
#define OP(name) struct myth_##name##_args name;
#include "kernels/ops.def"
#undef OP
    } args;
};

struct cpu_graph {
    struct myth_graph base; /* dev NULL = free slot */
    uint32_t n_op, cap;
    struct cpu_record record[];
};

/* ---- levels ---- */

static const struct cpu_level *const levels[] = {
#define LEVEL(name) &cpu_level_##name,
#include "levels.def"
#undef LEVEL
};
enum { LEVEL_N = sizeof(levels) / sizeof(levels[0]) };

static const char *const known_levels[] = {"ref", "avx2", "avx512", "amx", "neon"};

static const char *wanted_level(const myth_device_opts *opts)
{
    const char *name = opts->cpu_level;
    return name && *name && strcmp(name, "auto") != 0 ? name : NULL;
}

static myth_status refuse_level(myth_error *err, const char *name, uint32_t missing)
{
    char text[192] = "";
    for (int bit = 0; bit < CPU_FEATURE_N; bit++) {
        size_t len = strlen(text);
        if (missing & (1u << bit))
            snprintf(text + len, sizeof(text) - len, " %s", cpu_feature_name(bit));
    }
    if (*text)
        return myth_fail_option(err, MYTH_EDEVICE, "cpu_level",
                                "cpu_level %s is absent: the processor or the system lacks%s", name, text);
    for (size_t i = 0; i < sizeof(known_levels) / sizeof(known_levels[0]); i++)
        if (strcmp(name, known_levels[i]) == 0)
            return myth_fail_option(err, MYTH_EDEVICE, "cpu_level", "cpu_level %s is absent: not part of this build",
                                    name);
    return myth_fail_option(err, MYTH_EDEVICE, "cpu_level",
                            "cpu_level \"%.32s\": unknown; expected ref, avx2, avx512, amx, neon or auto", name);
}

/* Index of the level to use: the wanted one, else the highest that the features allow; -1 when the wanted level is
 * refused. */
static int choose_level(const myth_device_opts *opts, uint32_t features, myth_error *err)
{
    const char *name = wanted_level(opts);
    int best = 0;
    for (int i = 0; i < LEVEL_N; i++) {
        uint32_t missing = levels[i]->needs & ~features;
        if (name && strcmp(name, levels[i]->name) == 0) {
            if (!missing)
                return opts->is_exact ? 0 : i;
            refuse_level(err, name, missing);
            return -1;
        }
        if (!missing)
            best = i;
    }
    if (name) {
        refuse_level(err, name, 0);
        return -1;
    }
    return opts->is_exact ? 0 : best;
}

static void fill_ops(struct myth_ops *ops, int level)
{
    for (int i = level; i >= 0; i--) {
#define OP(name)    \
    if (!ops->name) \
        ops->name = levels[i]->ops.name;
#include "kernels/ops.def"
#undef OP
    }
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static cpu_work_bytes work_bytes(const myth_work_shape *shape, int level, int n_threads)
{
    cpu_work_bytes most = {0, 0, 0};
    for (int i = 0; i <= level; i++) {
        cpu_work_bytes w = {0, 0, 0};
        if (levels[i]->work)
            levels[i]->work(&w, shape, n_threads);
        most.activations = larger(most.activations, w.activations);
        most.attn_scratch = larger(most.attn_scratch, w.attn_scratch);
        most.logits = larger(most.logits, w.logits);
    }
    return most;
}

/* ---- sizes ---- */

static int count_threads(const myth_device_opts *opts)
{
    long n = opts->n_threads;
    if (n <= 0) {
#if defined(__linux__)
        cpu_set_t set;
        n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
#else
        n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    }
    return n < 1 ? 1 : n > CPU_THREADS_MAX ? CPU_THREADS_MAX : (int)n;
}

static uint64_t graph_slot_bytes(uint32_t n_record_ops)
{
    return myth_arena_cost(sizeof(struct cpu_graph) + (size_t)n_record_ops * sizeof(struct cpu_record));
}

static uint64_t graph_bytes(const myth_work_shape *shape)
{
    return shape->n_graph * graph_slot_bytes(shape->n_record_ops);
}

static void plan(myth_class_bytes *out, myth_class_bytes *own, const myth_device_opts *opts,
                 const myth_work_shape *shape)
{
    int n_threads = count_threads(opts), level = choose_level(opts, cpu_features(), NULL);
    (void)own; /* the CPU has no memory besides the host's */
    out->bytes[MYTH_MEM_FIXED] =
        sizeof(struct cpu_device) + CPU_BUF_MAX * sizeof(struct myth_buf) + cpu_pool_bytes(n_threads);
    if (!shape)
        return;
    cpu_work_bytes w = work_bytes(shape, level < 0 ? 0 : level, n_threads);
    out->bytes[MYTH_MEM_ACTIVATIONS] = w.activations;
    out->bytes[MYTH_MEM_ATTN_SCRATCH] = w.attn_scratch;
    out->bytes[MYTH_MEM_LOGITS] = w.logits;
    out->bytes[MYTH_MEM_GRAPH] = graph_bytes(shape);
}

/* ---- device ---- */

static void close_work(struct cpu_device *d)
{
    myth_free(d->base.mem, d->activations);
    myth_free(d->base.mem, d->attn_scratch);
    myth_free(d->base.mem, d->logits);
    myth_free(d->base.mem, d->graphs);
    d->activations = d->attn_scratch = d->logits = d->graphs = NULL;
}

static void close_device(myth_device *dev)
{
    struct cpu_device *d = (struct cpu_device *)(void *)dev;
    cpu_pool_close(d->pool);
    close_work(d);
    myth_free(dev->mem, d->buf);
    myth_free(dev->mem, d);
}

static bool take(unsigned char **out, myth_mem *mem, myth_mem_class cls, const char *owner, uint64_t bytes)
{
    *out = bytes && bytes <= SIZE_MAX ? myth_alloc(mem, cls, owner, (size_t)bytes) : NULL;
    return *out || !bytes;
}

static myth_status reserve(myth_device *dev, const myth_work_shape *shape, myth_error *err)
{
    struct cpu_device *d = (struct cpu_device *)(void *)dev;
    cpu_work_bytes w = d->work_bytes = work_bytes(shape, d->level, cpu_pool_n_threads(d->pool));
    if (take(&d->activations, dev->mem, MYTH_MEM_ACTIVATIONS, "cpu work", w.activations) &&
        take(&d->attn_scratch, dev->mem, MYTH_MEM_ATTN_SCRATCH, "cpu work", w.attn_scratch) &&
        take(&d->logits, dev->mem, MYTH_MEM_LOGITS, "cpu work", w.logits) &&
        take(&d->graphs, dev->mem, MYTH_MEM_GRAPH, "cpu graphs", graph_bytes(shape)))
        return MYTH_OK;
    close_work(d);
    return myth_fail(err, MYTH_ENOMEM, "cpu: workspaces of %llu bytes",
                     (unsigned long long)(w.activations + w.attn_scratch + w.logits + graph_bytes(shape)));
}

/* ---- buffers ---- */

static struct myth_buf *take_buf(struct cpu_device *d)
{
    for (uint32_t i = 0; i < CPU_BUF_MAX; i++)
        if (!d->buf[i].dev)
            return &d->buf[i];
    return NULL;
}

static myth_status buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                            myth_error *err)
{
    myth_buf *b = take_buf((struct cpu_device *)(void *)dev);
    if (!b)
        return myth_fail(err, MYTH_EFULL, "cpu: all %d buffers are in use", CPU_BUF_MAX);
    void *host = bytes <= SIZE_MAX ? myth_alloc(dev->mem, cls, owner, (size_t)bytes) : NULL;
    if (!host)
        return myth_fail(err, MYTH_ENOMEM, "cpu: %s: %llu bytes", owner, (unsigned long long)bytes);
    *b = (myth_buf){.dev = dev, .host = host, .bytes = bytes, .cls = cls};
    *out = b;
    return MYTH_OK;
}

static myth_status buf_wrap(myth_buf **out, myth_device *dev, const void *base, uint64_t bytes, myth_error *err)
{
    myth_buf *b = take_buf((struct cpu_device *)(void *)dev);
    if (!b)
        return myth_fail(err, MYTH_EFULL, "cpu: all %d buffers are in use", CPU_BUF_MAX);
    *b = (myth_buf){.dev = dev, .host = (void *)(uintptr_t)base, .bytes = bytes, .is_wrapped = true};
    *out = b;
    return MYTH_OK;
}

static void buf_close(myth_buf *b)
{
    if (!b->is_wrapped)
        myth_free(b->dev->mem, b->host);
    memset(b, 0, sizeof(*b));
}

/* ---- streams ---- */

static myth_status stream_open(myth_stream **out, myth_device *dev, myth_error *err)
{
    struct cpu_device *d = (struct cpu_device *)(void *)dev;
    for (uint32_t i = 0; i < CPU_STREAM_MAX; i++) {
        if (!d->stream[i].dev) {
            d->stream[i] = (myth_stream){.dev = dev};
            *out = &d->stream[i];
            return MYTH_OK;
        }
    }
    return myth_fail(err, MYTH_EFULL, "cpu: all %d streams are in use", CPU_STREAM_MAX);
}

static void graph_close(myth_graph *g) { g->dev = NULL; }

static void stream_close(myth_stream *s)
{
    if (s->graph)
        graph_close(s->graph);
    memset(s, 0, sizeof(*s));
}

static void write_view(myth_stream *s, myth_view dst, const void *src, uint64_t bytes)
{
    (void)s;
    memcpy(cpu_ptr(dst), src, (size_t)bytes);
}

static void read_view(myth_stream *s, void *dst, myth_view src, uint64_t bytes)
{
    (void)s;
    memcpy(dst, cpu_ptr(src), (size_t)bytes);
}

static myth_status sync_stream(myth_stream *s, myth_error *err)
{
    (void)s;
    (void)err;
    return MYTH_OK; /* every op was run when it was issued */
}

static void begin_record(myth_stream *s)
{
    struct cpu_device *d = cpu_of(s);
    const myth_work_shape *shape = &d->base.shape;
    s->graph = NULL;
    for (uint32_t i = 0; i < shape->n_graph && !s->graph; i++) {
        struct cpu_graph *g = (struct cpu_graph *)(void *)(d->graphs + i * graph_slot_bytes(shape->n_record_ops));
        if (!g->base.dev) {
            g->base.dev = s->dev;
            g->n_op = 0;
            g->cap = shape->n_record_ops;
            s->graph = &g->base;
        }
    }
    if (!s->graph)
        myth_fail(&s->err, MYTH_EFULL, "cpu: all %u graphs are in use", shape->n_graph);
}

static void record(myth_stream *s, myth_op op, const void *args, size_t args_bytes)
{
    struct cpu_graph *g = (struct cpu_graph *)(void *)s->graph;
    if (g->n_op == g->cap) {
        myth_fail(&s->err, MYTH_EFULL, "cpu: a recorded stream holds at most %u ops", g->cap);
        return;
    }
    struct cpu_record *r = &g->record[g->n_op++];
    r->op = op;
    memcpy(&r->args, args, args_bytes);
}

static myth_status end_record(myth_graph **out, myth_stream *s, myth_error *err)
{
    (void)err;
    *out = s->graph;
    s->graph = NULL;
    return MYTH_OK;
}

static void replay(myth_stream *s, const myth_graph *graph)
{
    const struct cpu_graph *g = (const struct cpu_graph *)(const void *)graph;
    for (uint32_t i = 0; i < g->n_op && myth_stream_goes_on(s); i++)
        myth_op_run(s, g->record[i].op, &g->record[i].args);
}

/* ---- open ---- */

static const struct myth_device_vtable vtable = {
    .close = close_device,
    .reserve = reserve,
    .buf_open = buf_open,
    .buf_wrap = buf_wrap,
    .buf_close = buf_close,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .write = write_view,
    .read = read_view,
    .sync = sync_stream,
    .begin_record = begin_record,
    .record = record,
    .end_record = end_record,
    .replay = replay,
    .graph_close = graph_close,
};

static void describe(myth_device_caps *c, uint32_t features, int level, int n_threads)
{
    char brand[64], detail[32] = "";
    cpu_brand(brand, sizeof(brand));
    const char *name = levels[level]->name;
    if (strcmp(name, "avx512") == 0 && (features & CPU_AVX512_BF16))
        snprintf(detail, sizeof(detail), " (vnni bf16)");
    snprintf(c->name, sizeof(c->name), "cpu");
    snprintf(c->level, sizeof(c->level), "%s", name);
    c->n_threads = n_threads;
    snprintf(c->description, sizeof(c->description), "%s, %d thread%s, %s%s", brand, c->n_threads,
             c->n_threads == 1 ? "" : "s", name, detail);
    c->ledger = MYTH_MEM_HOST;
    c->is_host_visible = true;
#if defined(_SC_PHYS_PAGES) && defined(_SC_AVPHYS_PAGES)
    long page = sysconf(_SC_PAGESIZE), n_page = sysconf(_SC_PHYS_PAGES), n_free = sysconf(_SC_AVPHYS_PAGES);
    if (page > 0 && n_page > 0 && n_free > 0) {
        c->total_bytes = (uint64_t)page * (uint64_t)n_page;
        c->free_bytes = (uint64_t)page * (uint64_t)n_free;
    }
#endif
}

static uint32_t list(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts)
{
    uint32_t features = cpu_features();
    int level = choose_level(opts, features, NULL);
    if (!cap)
        return 0;
    memset(out, 0, sizeof(*out));
    describe(out, features, level < 0 ? 0 : level, count_threads(opts));
    return 1;
}

static myth_status open_device(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t features = cpu_features();
    int level = choose_level(opts, features, err);
    if (level < 0)
        return MYTH_EDEVICE;
    struct cpu_device *d = myth_alloc(mem, MYTH_MEM_FIXED, "cpu device", sizeof(*d));
    if (!d)
        return myth_fail(err, MYTH_ENOMEM, "cpu: %zu bytes for the device", sizeof(*d));
    d->base.mem = mem;
    d->base.vt = &vtable;
    d->features = features;
    d->level = level;
    d->buf = myth_alloc(mem, MYTH_MEM_FIXED, "cpu buffers", CPU_BUF_MAX * sizeof(*d->buf));
    if (!d->buf) {
        st = myth_fail(err, MYTH_ENOMEM, "cpu: %zu bytes for the buffer table", CPU_BUF_MAX * sizeof(*d->buf));
        goto fail;
    }
    MYTH_TRY(cpu_pool_open(&d->pool, mem, count_threads(opts), err));
    fill_ops(&d->base.ops, level);
    describe(&d->base.caps, features, level, cpu_pool_n_threads(d->pool));
    *out = &d->base;
    return MYTH_OK;
fail:
    close_device(&d->base);
    return st;
}

const myth_device_kind myth_device_kind_cpu = {
    .prefix = "cpu",
    .ledger = MYTH_MEM_HOST,
    .open = open_device,
    .plan = plan,
    .list = list,
};
