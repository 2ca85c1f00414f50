/* device_cuda.h - the inside of a CUDA device: what device_cuda.cu (devices, memory) and stream_cuda.cu (streams,
 * recording) share, and what the ops' launchers read. For .cu files: C++ only.
 *
 * Workspaces  `scratch` and `counters` belong to the op that runs; nothing in them outlives its launches, but counters
 *             are left zero
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
    CUDA_RING_SLOT_N = 4,          /* pieces of a stream's staging ring, each with its event  */
    CUDA_BIG_SLOT_BYTES = 1 << 20, /* of the first stream, which loads the weights */
    CUDA_SMALL_SLOT_BYTES = 64 << 10,
    CUDA_MARK_N = 8,
    CUDA_READ_MAX = 64,   /* reads that may wait for one sync before they are drained */
    CUDA_PINNED_MAX = 64, /* blocks of myth_host_alloc that reads go to directly      */
};

struct cuda_buf {
    struct myth_buf buf;
    unsigned char *base; /* device address; of mapped host memory, which buf.host is, its address there */
};

struct cuda_graph {
    struct myth_graph graph; /* dev NULL = free slot */
    cudaGraphExec_t exec;
    uint64_t n_launch;
};

/* A read on its way: from the ring to where the caller wants it. */
struct cuda_pending {
    void *dst;
    const unsigned char *src;
    uint64_t bytes, mark; /* marks made before it */
};

struct cuda_stream {
    struct myth_stream base;
    cudaStream_t stream;
    unsigned char *ring;                     /* pinned, CUDA_RING_SLOT_N slots */
    cudaEvent_t slot_done[CUDA_RING_SLOT_N]; /* the copies that used the slot */
    bool is_slot_busy[CUDA_RING_SLOT_N];
    uint64_t slot_bytes, slot_used;
    int slot; /* being filled */
    struct cuda_pending pending[CUDA_READ_MAX];
    int n_pending;
    cudaEvent_t
        mark_done[CUDA_MARK_N]; /* of mark m: m % CUDA_MARK_N; an older mark waits for the one that took its place */
    uint64_t n_mark;
    uint64_t n_captured; /* launches of the recording */
    bool is_capturing;   /* the driver keeps what is launched: false when it refused to begin */
};

/* A kernel that a launch of this program names (common.cuh). */
struct cuda_kernel {
    const void *entry;
    bool is_dependent; /* of decode: may start before the kernel in front of it has ended */
    cuda_kernel *next;
    cuda_kernel(const void *entry_, bool is_dependent_);
};

struct cuda_device {
    struct myth_device base;
    int ordinal, sm_count;
    struct cuda_tune tune;
    bool has_pdl;        /* the code in use waits for the kernel before it (compiled for sm_90 or later) */
    bool has_wgmma;      /* the code in use has sm_90a's products */
    int n_record_failed; /* recordings the driver refused: after one they do without PDL, after two there are none */
    bool is_exact;
    bool is_lost;        /* a sticky error: nothing more is asked of the driver */
    char lost[160];      /* its text */
    uint64_t shared_max; /* dynamic shared bytes a block may ask for */
    void *scratch;
    unsigned *counters; /* CUDA_COUNTER_N, zero between ops */
    uint64_t scratch_bytes;
    struct cuda_buf *buf;
    struct cuda_graph *graph; /* shape.n_graph */
    struct cuda_stream *stream;
    unsigned char *ring; /* of all streams */
    struct {
        unsigned char *p;
        uint64_t bytes;
    } pinned[CUDA_PINNED_MAX];
};

static inline struct cuda_device *cuda_of(const myth_stream *s) { return (struct cuda_device *)s->dev; }

/* The stream as we know it, and the device that a generic handle is. */
static inline struct cuda_stream *cuda_stream_of(myth_stream *s) { return (struct cuda_stream *)s; }
static inline struct cuda_device *cuda_device_of(myth_device *dev) { return (struct cuda_device *)dev; }

/* Whether a dependent launch may start early: not while recording once the driver has refused a recording with one. */
static inline bool cuda_overlaps(const myth_stream *s)
{
    const struct cuda_device *d = cuda_of(s);
    return d->has_pdl && d->tune.pdl && !(s->is_recording && d->n_record_failed);
}

/* The status of a runtime error as err says it: MYTH_ENOMEM, MYTH_ELOST (from then on the device answers nothing else)
 * or MYTH_EDEVICE. */
myth_status cuda_fail(struct cuda_device *d, cudaError_t e, const char *what, myth_error *err);
/* Keeps the first failure of the stream; true when there is none. */
bool cuda_keep(myth_stream *s, cudaError_t e, const char *what);
/* The calling thread works with the device from here on; false, with the reason in err, when that is lost. */
bool cuda_enter_device(struct cuda_device *d, myth_error *err);
/* Bytes of one slot of the ring of stream i. */
static inline uint64_t cuda_slot_bytes(int i) { return i == 0 ? CUDA_BIG_SLOT_BYTES : CUDA_SMALL_SLOT_BYTES; }
/* The part of the vtable that stream_cuda.cu implements. */
void cuda_fill_stream_vtable(struct myth_device_vtable *vt);

/* Counts a launch and keeps its failure, when it is the first, in the stream. */
void cuda_launched(myth_stream *s, cudaError_t e);
/* The calling thread works with the stream's device from here on; false, with the reason in the stream, when that is
 * lost. */
bool cuda_enter(myth_stream *s);
/* False, with the reason in the stream, when the device has fewer dynamic shared bytes for a block. */
bool cuda_has_shared(myth_stream *s, uint64_t bytes);
/* Names the op in a failure that its launches left in the stream. */
void cuda_check(myth_stream *s, const char *op);

#define OP(name) extern "C" void cuda_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "kernels/ops.def"
#undef OP

#endif
