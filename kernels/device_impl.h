/* device_impl.h - what a device implements. Read by device.c, op.c and the devices only. */
#ifndef MYTH_DEVICE_IMPL_H
#define MYTH_DEVICE_IMPL_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_ops { /* NULL = this device lacks it: op.c composes it from smaller ones where it can */
#define OP(name) void (*name)(myth_stream *, const struct myth_##name##_args *);
#include "ops.def"
#undef OP
};

/* One row per kind of device, in the order in which "auto" looks. A kind that this build or this machine lacks lists no
 * device and its open answers MYTH_EDEVICE. opts->name is "prefix:N" for kinds with numbers, else the prefix. */
typedef struct {
    const char *prefix; /* "cuda", "vulkan", "cpu" */
    int ledger;         /* of device 0 (device.h)  */
    uint32_t n_max;     /* devices of this kind; 0 = one, without a number */
    myth_status (*open)(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err);
    /* Adds nothing: fills both from zero. `host` is what the device books on the host's ledger, `own` on its own (cpu:
     * all is host). */
    void (*plan)(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                 const myth_work_shape *shape);
    /* Writes what each device present says of itself, at most cap, devices in order; returns how many. Books nothing,
     * keeps nothing open. NULL: a stub, not part of this build. */
    uint32_t (*list)(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts);
    /* Fills in free_bytes and budget_bytes where that costs a device's context, which list leaves alone; NULL = list
     * knows them. */
    void (*measure)(myth_device_caps *caps);
} myth_device_kind;

struct myth_device {
    const struct myth_device_vtable *vt;
    struct myth_ops ops;
    myth_device_caps caps;
    myth_mem *mem;
    const myth_log *log;
    myth_device_counts counts; /* the device counts its launches, device.c and op.c the rest */
    bool is_exact, is_reserved, has_trace;
    bool is_eager; /* the driver refused to record; ops run when they are issued */
    bool is_watched,
        is_in_op; /* watched: traced, or with an observer; in_op: an op that others are made of is under way */
    myth_op_observer observe; /* NULL = nobody */
    void *observer;
    bool has_decode_merge; /* the device's attn_decode honours `merges`; otherwise op.c puts kv_merge after it */
    void (*plain_attn_decode)(myth_stream *, const struct myth_attn_decode_args *); /* then: the device's own */
    myth_work_shape shape;                                                          /* as reserved */
};

struct myth_buf {
    myth_device *dev;
    void *host; /* NULL when not host visible; else, but for the CPU, of buf_open_host: booked on the host's ledger */
    uint64_t bytes;
    bool is_wrapped;
    myth_mem_class cls;
};

struct myth_stream {
    myth_device *dev;
    myth_error err; /* first failure; ops do nothing while it is set */
    bool is_recording;
    myth_graph *graph; /* being recorded; NULL = none */
};

/* Every device's graph starts with this. */
struct myth_graph {
    myth_device *dev;
};

struct myth_device_vtable {
    void (*close)(myth_device *);
    myth_status (*reserve)(myth_device *, const myth_work_shape *, myth_error *);
    myth_status (*buf_open)(myth_buf **, myth_device *, myth_mem_class, const char *owner, uint64_t bytes,
                            myth_error *);
    /* In host memory, for ops to read in place; NULL = buf_open's memory is the host's. */
    myth_status (*buf_open_host)(myth_buf **, myth_device *, myth_mem_class, const char *owner, uint64_t bytes,
                                 myth_error *);
    myth_status (*buf_wrap)(myth_buf **, myth_device *, const void *, uint64_t, myth_error *);
    void (*buf_close)(myth_buf *);
    /* Host memory that transfers of this device go to and from fastest, zeroed, not booked by the device; NULL = any
     * memory is. */
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
    uint64_t (*mark)(myth_stream *); /* both NULL = wait is a sync */
    myth_status (*wait)(myth_stream *, uint64_t, myth_error *);
    /* Sets s->graph, or fails and leaves it NULL. With s->graph and a failure the ops that follow do nothing, and
     * end_record is called all the same. */
    void (*begin_record)(myth_stream *);
    /* Keeps one op while recording, instead of running it; NULL = the device records what its ops launch. */
    void (*record)(myth_stream *, myth_op, const void *args, size_t args_bytes);
    /* MYTH_OK with no graph, the stream's failure cleared: the driver refused, nothing ran. */
    myth_status (*end_record)(myth_graph **, myth_stream *, myth_error *);
    void (*replay)(myth_stream *, const myth_graph *);
    void (*graph_close)(myth_graph *);
};

/* Runs an op whose arguments were checked when it was recorded (replay of `record`). */
void myth_op_run(myth_stream *s, myth_op op, const void *args);
const char *myth_op_name(myth_op op);

/* The fused ops out of small ones, for the tables of devices that have nothing better; device.c puts them where a table
 * has NULL. */
void myth_compose_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a);
void myth_compose_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a);
void myth_compose_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a);

extern const myth_device_kind myth_device_kind_cuda, myth_device_kind_vulkan, myth_device_kind_cpu;

/* N of "prefix:N", 0 for "prefix"; -1 when there is no such name among n_max. */
int myth_device_number(const char *name, const char *prefix, uint32_t n_max);

#ifdef __cplusplus
}
#endif
#endif
