/* device.h - the interface of every compute device: buffers whose bytes are booked in the ledger, streams that can be
 * recorded and replayed, a table of ops.
 *
 * Buffers  a buffer is one allocation or one mapped range, in the device's memory, or in the host's where ops read only
 *          parts of it. A view is (buffer, byte offset, element type). A buffer books exactly its bytes. Handles are
 *          part of the class `fixed`: a device has room for 1,280 buffers (more: MYTH_EFULL) and 8 streams
 * Streams  ops are issued in order and return nothing. The stream keeps the first failure and ignores every op after
 *          it; myth_stream_sync reports the failure and clears it. Between begin_record and end_record ops are kept
 *          instead of run. Replay runs them with the same argument structs, so whatever changes from step to step
 *          (token ids, positions, lengths, page tables) is in device buffers
 * Ops      one argument struct each (ops.h), checked once in op_check.c for all devices, listed in ops.def
 * Owner    the opener closes; buffers and streams before their device
 * Trace    settings.trace_ops logs every op, whatever the log's level: name, shape, microseconds, fingerprint of its
 *          output
 * Errors   MYTH_ENOMEM no memory for a buffer; MYTH_EDEVICE unknown name or missing feature; MYTH_ELOST the device is
 *          gone, and every later call says so
 * Threads  one thread per stream */
#ifndef MYTH_DEVICE_H
#define MYTH_DEVICE_H

#include "engine/base/cancel.h"
#include "engine/base/dtype.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/status.h"
#include "kernels/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_device myth_device;
typedef struct myth_stream myth_stream;
typedef struct myth_graph myth_graph;
typedef struct myth_buf myth_buf;

/* A typed place in a buffer. A zeroed view means "not given". */
typedef struct {
    myth_buf *buf;
    uint64_t off; /* bytes */
    myth_dtype dtype;
} myth_view;

typedef struct {
    const char *name;      /* "cpu", "cuda:0", "vulkan:1"; NULL and "auto" are for myth_device_resolve          */
    int n_threads;         /* CPU; 0 = one per core available to the process; at most 64                        */
    bool is_exact;         /* float32 activations and the reference's order of sums, to compare devices          */
    const char *cpu_level; /* NULL, "" and "auto" = the best present, else ref avx2 avx512 amx neon          */
    const myth_log *log;   /* lent until close; may be NULL                                                       */
    myth_device_settings settings;
} myth_device_opts;

typedef struct {
    char name[32];         /* "cpu"                                                       */
    char description[128]; /* "AMD EPYC, 2 threads, avx512 (vnni bf16)"                     */
    char level[16];        /* CPU level in use; "" for others                              */
    char variants[128];    /* what the device's kernels were chosen for: "subgroup 32 fp16 int8dot"; may be "" */
    int ledger;            /* index of its bytes in the ledger: 0 = host, 1 + N = cuda:N, 9 + N = vulkan:N (N < 8) */
    int n_threads;
    uint64_t total_bytes, free_bytes; /* what the system says; 0 = unknown, 1 = nothing is left */
    uint64_t
        budget_bytes; /* what the driver allows this process; 0 = unknown. May exceed free_bytes: use the smaller */
    bool is_gpu;      /* hardware of its own: neither the CPU nor a driver that runs on it. "auto" may choose it  */
    bool is_in_host;  /* its memory is the host's: an integrated GPU, or a driver that computes on the CPU */
    bool is_async;    /* streams compute while the host does other things */
    /* True: myth_buf_host and myth_buf_wrap work for every buffer. False: weights are copied with myth_weight_write. */
    bool is_host_visible;
} myth_device_caps;

/* The largest step that will be issued. The device derives its workspaces from it, so that ops never allocate. */
typedef struct {
    uint32_t n_rows;                      /* rows of a step (the micro-batch)               */
    uint32_t n_logit_rows;                /* rows that may want logits at once               */
    uint32_t d_model, d_ff;               /* largest widths                                 */
    uint32_t n_head, n_head_kv, head_dim; /* largest over the layers             */
    uint32_t n_vocab;
    uint32_t n_ctx; /* most rows of a sequence, whatever their positions: bounds the splits of decode attention */
    uint32_t top_k; /* largest k                                      */
    uint32_t n_record_ops; /* ops of the longest recorded stream             */
    uint32_t n_graph;      /* recorded streams alive at once                 */
    bool folds_keys;       /* attention makes keys from values (ops.h, myth_key_fold) */
    uint64_t block_values; /* values of the largest matrix of a quantised type other than Q8_0 and Q4_0; 0 = none */
} myth_work_shape;

typedef struct {
    uint64_t bytes[MYTH_MEM_CLASS_N];
} myth_class_bytes;

enum { MYTH_DEVICE_NAME_MAX = 32 };

/* Resolves a name: "auto" or NULL to the first cuda device, else the first vulkan device that is a GPU, else cpu;
 * "cuda" to "cuda:0". MYTH_EDEVICE: no such name. Only myth_device_open checks that the device exists. */
myth_status myth_device_resolve(char out[MYTH_DEVICE_NAME_MAX], const char *wanted, myth_error *err);
/* Index of the ledger of a resolved name; -1 for a name of no device. */
int myth_device_ledger(const char *name);
/* Writes what the devices of this machine report without being opened, at most cap of them, in the order that "auto"
 * tries them. Returns how many. Of the options only n_threads, cpu_level and settings are read. */
uint32_t myth_device_list(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts);
/* The i-th kind of device of this build, in the order "cuda", "vulkan", "cpu"; NULL past the last. */
const char *myth_device_kind_at(uint32_t i);
/* Writes what one device reports without being opened, by its resolved name; false when it is not there. */
bool myth_device_find(myth_device_caps *out, const char *name, const myth_device_opts *opts);

myth_status myth_device_open(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err);
void myth_device_close(myth_device *dev);
const myth_device_caps *myth_device_get_caps(const myth_device *dev);

/* Called after every op that a caller issued, once it has run (op: MYTH_OP_* of ops.h, args: its struct), but not for
 * the small ops that a fused op is made of. It may read the op's views with myth_buf_host, scratch such as xn too, and
 * must not write. */
typedef void (*myth_op_observer)(void *user, int op, const void *args);
/* Sets the observer; NULL = none, as after open. MYTH_EDEVICE: the host cannot read the device's memory. */
myth_status myth_device_observe(myth_device *dev, myth_op_observer observe, void *user, myth_error *err);

/* Bytes that the device itself books, a pure function of the options, the device's capabilities and the shape (NULL =
 * only what open books). It books the class `fixed` at open, the others at reserve. `host` is booked on the host's
 * ledger, `own` on the device's; a CPU books everything on the host's. */
void myth_device_plan(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                      const myth_work_shape *shape);
/* Takes the workspaces for the shape. Once per device; MYTH_ENOMEM leaves the device as it was. */
myth_status myth_device_reserve(myth_device *dev, const myth_work_shape *shape, myth_error *err);

myth_status myth_buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                          myth_error *err);
/* A buffer in host memory that the device's ops read and write in place, over its bus, and only the bytes that they
 * touch. It is booked on the host's ledger. Streams write and read it like any other. On the CPU this is the same as
 * myth_buf_open. MYTH_ENOMEM: the ledger's limit, or the system can pin no more pages. */
myth_status myth_buf_open_host(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                               myth_error *err);
/* A buffer over memory of the caller, which stays valid until close (a mapped file, an arena). The caller books it. */
myth_status myth_buf_wrap(myth_buf **out, myth_device *dev, const void *base, uint64_t bytes, myth_error *err);
void myth_buf_close(myth_buf *buf);
uint64_t myth_buf_bytes(const myth_buf *buf);
/* Host address of a buffer on a host-visible device or from myth_buf_open_host; else NULL. Weights in it have the
 * device's form. */
void *myth_buf_host(const myth_buf *buf);

/* Host memory for transfers, pinned where that makes them faster. It is zeroed and booked on the host's ledger. NULL
 * means MYTH_ENOMEM. */
void *myth_host_alloc(myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes);
void myth_host_free(myth_device *dev, myth_mem_class cls, void *p, uint64_t bytes); /* takes NULL */

myth_status myth_stream_open(myth_stream **out, myth_device *dev, myth_error *err);
void myth_stream_close(myth_stream *s);
/* Host to device and back, in stream order. write copies src before it returns; read completes at the next sync. */
void myth_stream_write(myth_stream *s, myth_view dst, const void *src, uint64_t bytes);
void myth_stream_read(myth_stream *s, void *dst, myth_view src, uint64_t bytes);
myth_status myth_stream_sync(myth_stream *s, myth_error *err);
/* Once cancel is set, ops are not run, until a sync reports MYTH_ECANCEL; it is read before each op and, on the CPU,
 * between those of a replay, never while ops are recorded. NULL, as after open: nobody asks. Lent until the next call.
 */
void myth_stream_watch(myth_stream *s, const myth_cancel *cancel);
/* Whether a flag has kept ops from running since the last sync. */
bool myth_stream_is_cut(const myth_stream *s);
/* mark names the present end of the stream. wait returns when everything issued before the mark is done, reads
 * included; it does not wait for what was issued later. */
uint64_t myth_stream_mark(myth_stream *s);
myth_status myth_stream_wait(myth_stream *s, uint64_t mark, myth_error *err);

typedef struct {
    uint64_t n_launch; /* kernels or dispatches sent, with those of replays; 0 on a device that launches nothing */
    uint64_t n_sync;   /* times the host waited until the stream was empty                                  */
    uint64_t n_wait;   /* times the host waited for a mark                                                  */
    /* Bytes of expert weights that moe_geglu and moe_down read. Counted on the CPU only: on other devices the host does
     * not know which experts were chosen. */
    uint64_t expert_bytes;
} myth_device_counts;
myth_device_counts myth_device_get_counts(const myth_device *dev);

/* Writes n_rows rows of n_in values, given in their form in files, as rows row0 .. row0 + n_rows - 1 of a matrix of
 * n_total rows in the form in which the device keeps it (a quantised matrix may become all quants, then all scales:
 * weight_form.h). dst is the start of the matrix, aligned to 64. Both forms have the same number of bytes. src is
 * copied before the call returns; the write itself happens in stream order. */
void myth_weight_write(myth_stream *s, myth_view dst, const void *src, uint32_t n_total, uint32_t row0, uint32_t n_rows,
                       uint32_t n_in);

/* Recording keeps ops only: no write and no read. The bytes of graphs were reserved with the device; MYTH_EFULL when
 * they do not suffice. When the driver refuses to record, end_record returns MYTH_OK with *out = NULL: none of the ops
 * ran, and the device either tries the next recording in a simpler way or no longer records (myth_device_records). */
void myth_stream_begin_record(myth_stream *s);
myth_status myth_stream_end_record(myth_graph **out, myth_stream *s, myth_error *err);
/* False: the caller issues the ops of each step instead. Either the driver has refused twice to record, or the device
 * is traced, and a trace needs ops that run one by one. */
bool myth_device_records(const myth_device *dev);
void myth_stream_replay(myth_stream *s, const myth_graph *g);
void myth_graph_close(myth_graph *g);

static inline myth_view myth_view_at(myth_buf *buf, uint64_t off, myth_dtype t)
{
    myth_view v = {buf, off, t};
    return v;
}

#ifdef __cplusplus
}
#endif
#endif
