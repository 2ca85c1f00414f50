/* device_impl.h - what a device implements. Read by device.c and the devices only. */
#ifndef MYTH_DEVICE_IMPL_H
#define MYTH_DEVICE_IMPL_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_ops {                       /* NULL = this device lacks it: device.c composes it from smaller ones where it can */
#define OP(name) void (*name)(myth_stream *, const struct myth_##name##_args *);
#include "ops.def"
#undef OP
};

typedef enum {
#define OP(name) MYTH_OP_##name,
#include "ops.def"
#undef OP
    MYTH_OP_N
} myth_op;

/* One row per kind of device; device.c tries them in order. */
typedef struct {
    const char *prefix;                 /* "cpu", "cuda", "vulkan" */
    myth_status (*open)(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err);
    void (*plan)(myth_class_bytes *out, const myth_device_opts *opts, const myth_work_shape *shape);
} myth_device_kind;

struct myth_device {
    const struct myth_device_vtable *vt;
    struct myth_ops ops;
    myth_device_caps caps;
    myth_mem *mem;
    const myth_log *log;
    bool is_exact, is_reserved, has_trace;
    bool has_decode_merge;              /* the device's attn_decode honours `merges`; otherwise device.c puts kv_merge after it */
    void (*plain_attn_decode)(myth_stream *, const struct myth_attn_decode_args *);       /* then: the device's own */
    myth_work_shape shape;              /* as reserved */
};

struct myth_buf {
    myth_device *dev;
    void *host;                         /* NULL when not host visible */
    uint64_t bytes;
    bool is_wrapped;
    myth_mem_class cls;
};

struct myth_stream {
    myth_device *dev;
    myth_error err;                     /* first failure; ops do nothing while it is set */
    bool is_recording;
    myth_graph *graph;                  /* being recorded */
};

/* Every device's graph starts with this. */
struct myth_graph {
    myth_device *dev;
};

struct myth_device_vtable {
    void (*close)(myth_device *);
    myth_status (*reserve)(myth_device *, const myth_work_shape *, myth_error *);
    myth_status (*buf_open)(myth_buf **, myth_device *, myth_mem_class, const char *owner, uint64_t bytes, myth_error *);
    myth_status (*buf_wrap)(myth_buf **, myth_device *, const void *, uint64_t, myth_error *);
    void (*buf_close)(myth_buf *);
    myth_status (*stream_open)(myth_stream **, myth_device *, myth_error *);
    void (*stream_close)(myth_stream *);
    void (*write)(myth_stream *, myth_view, const void *, uint64_t);
    void (*read)(myth_stream *, void *, myth_view, uint64_t);
    /* NULL = weights stay as in files (a plain write). */
    void (*weight_write)(myth_stream *, myth_view, const void *, uint32_t n_total, uint32_t row0, uint32_t n_rows, uint32_t n_in);
    myth_status (*sync)(myth_stream *, myth_error *);
    void (*begin_record)(myth_stream *);
    /* Keeps one op while recording, instead of running it; NULL = the device records what its ops launch. */
    void (*record)(myth_stream *, myth_op, const void *args, size_t args_bytes);
    myth_status (*end_record)(myth_graph **, myth_stream *, myth_error *);
    void (*replay)(myth_stream *, const myth_graph *);
    void (*graph_close)(myth_graph *);
};

/* Runs an op whose arguments were checked when it was recorded (replay of `record`). */
void myth_op_run(myth_stream *s, myth_op op, const void *args);
const char *myth_op_name(myth_op op);

/* The fused ops out of small ones, for the tables of devices that have nothing better; device.c fills NULLs with them. */
void myth_compose_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a);
void myth_compose_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a);
void myth_compose_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a);

extern const myth_device_kind myth_device_kind_cpu;

#ifdef __cplusplus
}
#endif
#endif
