/* device_cuda.h - the inside of a CUDA device, for device_cuda.cu (devices, memory), stream_cuda.cu (streams,
 * recording) and the launchers of the ops. For .cu files: C++ only.
 *
 * Workspaces  `scratch` and `counters` belong to the op that runs. An op finds garbage in scratch and zeros in
 *             counters, and leaves the counters zero
 * Sizes       work.h, a pure function of the reserved shape and of tune.h's knobs */
#ifndef MYTH_DEVICE_CUDA_H
#define MYTH_DEVICE_CUDA_H

#include "engine/base/half.h"
#include "kernels/device_impl.h"
#include "tune.h"
#include "work.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#else
#include "cuda_emu.h"
#endif

enum {
    CUDA_DEVICE_MAX = 8,
    CUDA_BUF_MAX = 1280,
    CUDA_STREAM_MAX = 8,
    CUDA_RING_SLOT_N = 4,          /* slots of a stream's staging ring, each with its event   */
    CUDA_BIG_SLOT_BYTES = 1 << 20, /* a slot of the first stream, which loads the weights */
    CUDA_SMALL_SLOT_BYTES = 64 << 10,
    CUDA_MARK_N = 8,
    CUDA_READ_MAX = 64,   /* reads that may wait for one sync before they are drained */
    CUDA_PINNED_MAX = 64, /* blocks of myth_host_alloc that reads go to directly      */
};

struct cuda_buf {
    struct myth_buf buf;
    unsigned char *base; /* address on the device, also for mapped host memory (whose host address is buf.host) */
};

struct cuda_graph {
    struct myth_graph graph; /* dev NULL = free slot */
    cudaGraphExec_t exec;
    uint64_t n_launch;
};

/* A read that is in flight: its bytes will be copied from the ring to where the caller wants them. */
struct cuda_pending {
    void *dst;
    const unsigned char *src;
    uint64_t bytes, mark; /* how many marks were made before the read */
};

struct cuda_stream {
    struct myth_stream base;
    cudaStream_t stream;
    unsigned char *ring;                     /* pinned, CUDA_RING_SLOT_N slots */
    cudaEvent_t slot_done[CUDA_RING_SLOT_N]; /* after the copies that use the slot */
    bool is_slot_busy[CUDA_RING_SLOT_N];
    uint64_t slot_bytes, slot_used;
    int slot; /* the slot that is being filled */
    struct cuda_pending pending[CUDA_READ_MAX];
    int n_pending;
    /* Mark m has event m % CUDA_MARK_N. A wait for an older mark waits for the one that replaced it. */
    cudaEvent_t mark_done[CUDA_MARK_N];
    uint64_t n_mark;
    uint64_t n_captured; /* launches of the recording */
    bool is_capturing;   /* the driver is recording; false when it refused to begin */
};

/* A kernel that the program can launch (common.cuh). */
struct cuda_kernel {
    const void *entry;
    bool is_dependent; /* a decode kernel, which may start before the kernel in front of it has ended */
    cuda_kernel *next;
    cuda_kernel(const void *entry_, bool is_dependent_);
};

struct cuda_device {
    struct myth_device base;
    int ordinal, sm_count;
    struct cuda_tune tune;
    bool has_pdl;   /* the code in use can wait for the kernel before it (compiled for sm_90 or later) */
    bool has_wgmma; /* the code in use has the products of sm_90a */
    /* recordings that the driver refused: after one they do without early starts, after two there are no more */
    int n_record_failed;
    bool is_exact;
    bool is_lost;        /* after an error that ends the context: the driver is not called any more */
    char lost[160];      /* its text */
    uint64_t shared_max; /* dynamic shared bytes a block may ask for */
    void *scratch;
    unsigned *counters; /* CUDA_COUNTER_N, zero between ops */
    uint64_t scratch_bytes;
    struct cuda_buf *buf;
    struct cuda_graph *graph; /* shape.n_graph */
    struct cuda_stream *stream;
    unsigned char *ring; /* the rings of all streams */
    struct {
        unsigned char *p;
        uint64_t bytes;
    } pinned[CUDA_PINNED_MAX];
};

static inline struct cuda_device *cuda_of(const myth_stream *s) { return (struct cuda_device *)s->dev; }

/* The CUDA stream and the CUDA device behind the generic handles. */
static inline struct cuda_stream *cuda_stream_of(myth_stream *s) { return (struct cuda_stream *)s; }
static inline struct cuda_device *cuda_device_of(myth_device *dev) { return (struct cuda_device *)dev; }

/* True when dependent launches may start early. They may not while recording, once the driver has refused a recording
 * that contained one. */
static inline bool cuda_overlaps(const myth_stream *s)
{
    const struct cuda_device *d = cuda_of(s);
    return d->has_pdl && d->tune.pdl && !(s->is_recording && d->n_record_failed);
}

/* Fills err with a runtime error and returns its status: MYTH_ENOMEM, MYTH_ELOST (from then on every call returns that)
 * or MYTH_EDEVICE. */
myth_status cuda_fail(struct cuda_device *d, cudaError_t e, const char *what, myth_error *err);
/* Keeps e in the stream if it is its first failure. True when the stream has none. */
bool cuda_keep(myth_stream *s, cudaError_t e, const char *what);
/* Makes the device the calling thread's current one; false, with the reason in err, when the device is lost. */
bool cuda_enter_device(struct cuda_device *d, myth_error *err);
/* The bytes of one slot in the ring of stream i. */
static inline uint64_t cuda_slot_bytes(int i) { return i == 0 ? CUDA_BIG_SLOT_BYTES : CUDA_SMALL_SLOT_BYTES; }
/* The part of the vtable that stream_cuda.cu implements. */
void cuda_fill_stream_vtable(struct myth_device_vtable *vt);

/* Counts a launch, and keeps its failure in the stream if it is the first. */
void cuda_launched(myth_stream *s, cudaError_t e);
/* Makes the stream's device the calling thread's current one; false, with the reason in the stream, when the device is
 * lost. */
bool cuda_enter(myth_stream *s);
/* True when a block may have this many dynamic shared bytes; false, with the reason in the stream, when it may not. */
bool cuda_has_shared(myth_stream *s, uint64_t bytes);
/* Adds the op's name to a failure that its launches have left in the stream. */
void cuda_check(myth_stream *s, const char *op);

#define OP(name) extern "C" void cuda_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "kernels/ops.def"
#undef OP

#endif
