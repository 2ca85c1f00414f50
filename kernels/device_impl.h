/* device_impl.h - what a device implements. Only device.c, op.c and the devices include it. */
#ifndef MYTH_DEVICE_IMPL_H
#define MYTH_DEVICE_IMPL_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_ops { /* NULL = the device lacks the op; op.c composes the fused ones of smaller ops */
#define OP(name) void (*name)(myth_stream *, const struct myth_##name##_args *);
#include "ops.def"
#undef OP
};

/* A kind of device. device.c lists the kinds in the order in which "auto" looks. A kind that this build or this machine
 * lacks lists no device, and its open returns MYTH_EDEVICE. opts->name is "prefix:N" for kinds with numbers, else the
 * prefix. */
typedef struct {
    const char *prefix; /* "cuda", "vulkan", "cpu" */
    int ledger;         /* of device 0 (device.h)  */
    uint32_t n_max;     /* most devices of this kind; 0 = there is one, without a number */
    myth_status (*open)(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err);
    /* Writes both (they start as zeros): `host` is what the device books on the host's ledger, `own` what it books on
     * its own. */
    void (*plan)(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                 const myth_work_shape *shape);
    /* Writes what each device present reports, at most cap of them in order, and returns how many. Books nothing and
     * keeps nothing open. NULL: this build has only a stub of the kind. */
    uint32_t (*list)(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts);
    /* Fills in free_bytes and budget_bytes where that takes an open context of the device, which list avoids; NULL =
     * list fills them in. */
    void (*measure)(myth_device_caps *caps);
} myth_device_kind;

struct myth_device {
    const struct myth_device_vtable *vt;
    struct myth_ops ops;
    myth_device_caps caps;
    myth_mem *mem;
    const myth_log *log;
    myth_device_counts counts; /* the device counts its launches and expert bytes, device.c the waits */
    bool is_exact, is_reserved, has_trace;
    bool is_eager;            /* the driver refused to record; ops run when they are issued */
    bool is_watched;          /* traced, or has an observer */
    bool is_in_op;            /* an op is running, so ops issued now are parts of it */
    myth_op_observer observe; /* NULL = none */
    void *observer;
    bool has_decode_merge; /* the device's attn_decode honours `merges`; otherwise op.c runs kv_merge after it */
    /* Without has_decode_merge: the device's own attn_decode, which op.c's composition calls. */
    void (*plain_attn_decode)(myth_stream *, const struct myth_attn_decode_args *);
    myth_work_shape shape; /* as reserved */
};

struct myth_buf {
    myth_device *dev;
    /* NULL when the host cannot see the buffer. On other devices than the CPU, buffers of buf_open_host have an
     * address: these are booked on the host's ledger. */
    void *host;
    uint64_t bytes;
    bool is_wrapped;
    myth_mem_class cls;
};

struct myth_stream {
    myth_device *dev;
    myth_error err; /* first failure; ops do nothing while it is set */
    bool is_recording;
    const myth_cancel *cancel; /* NULL = nobody asks */
    myth_graph *graph;         /* being recorded; NULL = none */
};

/* Whether ops still run: nothing has failed, and nobody asks for the end. */
static inline bool myth_stream_goes_on(myth_stream *s)
{
    if (myth_cancelled(s->cancel) && !s->is_recording && s->err.code == MYTH_OK)
        myth_fail(&s->err, MYTH_ECANCEL, "cancelled");
    return s->err.code == MYTH_OK;
}

/* Every device's graph starts with this. */
struct myth_graph {
    myth_device *dev;
};

struct myth_device_vtable {
    void (*close)(myth_device *);
    myth_status (*reserve)(myth_device *, const myth_work_shape *, myth_error *);
    myth_status (*buf_open)(myth_buf **, myth_device *, myth_mem_class, const char *owner, uint64_t bytes,
                            myth_error *);
    /* A buffer in host memory that ops read in place; NULL = buf_open's memory is host memory already. */
    myth_status (*buf_open_host)(myth_buf **, myth_device *, myth_mem_class, const char *owner, uint64_t bytes,
                                 myth_error *);
    /* NULL = the device cannot read host memory that it did not take itself. */
    myth_status (*buf_wrap)(myth_buf **, myth_device *, const void *, uint64_t, myth_error *);
    void (*buf_close)(myth_buf *);
    /* Zeroed host memory for fast transfers; the caller books it. NULL = this device gains nothing by special memory.
     */
    void *(*host_take)(myth_device *, uint64_t bytes);
    void (*host_give)(myth_device *, void *p, uint64_t bytes);
    myth_status (*stream_open)(myth_stream **, myth_device *, myth_error *);
    void (*stream_close)(myth_stream *);
    void (*write)(myth_stream *, myth_view, const void *, uint64_t);
    void (*read)(myth_stream *, void *, myth_view, uint64_t);
    /* NULL = weights stay as in files (a plain write). */
    void (*weight_write)(myth_stream *, myth_view, const void *, uint32_t n_total, uint32_t row0, uint32_t n_rows,
                         uint32_t n_in);
    myth_status (*sync)(myth_stream *, myth_error *);
    uint64_t (*mark)(myth_stream *); /* mark and wait both NULL = a wait is a sync */
    myth_status (*wait)(myth_stream *, uint64_t, myth_error *);
    /* Sets s->graph, or fails and leaves it NULL. If it sets s->graph and the stream fails as well, the ops that follow
     * do nothing, and end_record is called as usual. */
    void (*begin_record)(myth_stream *);
    /* Keeps one op while recording instead of running it; NULL = ops run, and the device records what they launch. */
    void (*record)(myth_stream *, myth_op, const void *args, size_t args_bytes);
    /* MYTH_OK with no graph and the stream's failure cleared means that the driver refused and no op ran. */
    myth_status (*end_record)(myth_graph **, myth_stream *, myth_error *);
    void (*replay)(myth_stream *, const myth_graph *);
    void (*graph_close)(myth_graph *);
};

/* Runs an op without a check, because its arguments were checked when it was recorded. Devices with `record` replay
 * with it. */
void myth_op_run(myth_stream *s, myth_op op, const void *args);
const char *myth_op_name(myth_op op);

/* The fused ops, composed of small ones. device.c puts them into a device's table where it has NULL. */
void myth_compose_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a);
void myth_compose_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a);
void myth_compose_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a);

extern const myth_device_kind myth_device_kind_cuda, myth_device_kind_vulkan, myth_device_kind_cpu;

/* N of "prefix:N" with N < n_max, 0 for "prefix" alone, -1 for any other name. */
int myth_device_number(const char *name, const char *prefix, uint32_t n_max);

#ifdef __cplusplus
}
#endif
#endif
