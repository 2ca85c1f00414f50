/* device_cuda.cu - the CUDA device of device.h: memory in the ledger, what the code in use was compiled for, the table
 * of ops. Its streams are in stream_cuda.cu.
 *
 * Memory     a buffer is one cudaMalloc, and is booked on the device's ledger before the call. The driver's own context
 *            is not booked; free memory is read after the context exists. A buffer in host memory is pinned and mapped:
 *            kernels have an address for it, and the host reads and writes it directly when the stream is done
 * Code       what the device runs may have been compiled for another architecture than its own, so open lets a kernel
 *            say what it was compiled for and chooses by that. It also loads every kernel that a launch names, so that
 *            none is loaded in the middle of a recording
 * Failures   cudaErrorMemoryAllocation becomes MYTH_ENOMEM. An error that ends the context becomes MYTH_ELOST, and so
 *            does every later call. Other errors become MYTH_EDEVICE with the driver's text
 * Threads    one per stream; every call makes the device the thread's current one
 * Source     CUDA runtime API reference (error codes; cudaHostAlloc; lazy loading) */
#include "common.cuh"

#include <stdio.h>
#include <stdlib.h>

/* ---- failures ---- */

/* True for errors after which every call of the context fails, so that the process must end. */
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

myth_status cuda_fail(struct cuda_device *d, cudaError_t e, const char *what, myth_error *err)
{
    (void)cudaGetLastError(); /* clears the error, so that the next call does not find it again */
    if (is_sticky(e) && !d->is_lost) {
        d->is_lost = true;
        snprintf(d->lost, sizeof(d->lost), "%.40s: %.40s: %.60s", what, cudaGetErrorName(e), cudaGetErrorString(e));
    }
    if (d->is_lost)
        return myth_fail(err, MYTH_ELOST, "%s: device lost: %s", d->base.caps.name, d->lost);
    return myth_fail(err, e == cudaErrorMemoryAllocation ? MYTH_ENOMEM : MYTH_EDEVICE, "%s: %s: %s: %s",
                     d->base.caps.name, what, cudaGetErrorName(e), cudaGetErrorString(e));
}

bool cuda_keep(myth_stream *s, cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return s->err.code == MYTH_OK;
    myth_error late = {};
    cuda_fail(cuda_of(s), e, what, &late);
    if (s->err.code == MYTH_OK)
        s->err = late;
    return false;
}

void cuda_launched(myth_stream *s, cudaError_t e)
{
    if (cuda_keep(s, e, "launch"))
        (s->is_recording ? cuda_stream_of(s)->n_captured : s->dev->counts.n_launch)++;
}

bool cuda_has_shared(myth_stream *s, uint64_t bytes)
{
    const struct cuda_device *d = cuda_of(s);
    if (bytes <= d->shared_max)
        return true;
    if (s->err.code == MYTH_OK)
        myth_fail(&s->err, MYTH_EDEVICE, "%s: a launch wants %llu shared bytes of %llu", d->base.caps.name,
                  (unsigned long long)bytes, (unsigned long long)d->shared_max);
    return false;
}

void cuda_check(myth_stream *s, const char *op)
{
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess)
        cuda_keep(s, e, op);
}

/* The calling thread's device. */
static thread_local int current = -1;

bool cuda_enter_device(struct cuda_device *d, myth_error *err)
{
    if (d->is_lost) {
        myth_fail(err, MYTH_ELOST, "%s: device lost: %s", d->base.caps.name, d->lost);
        return false;
    }
    if (current == d->ordinal)
        return true;
    cudaError_t e = cudaSetDevice(d->ordinal);
    if (e != cudaSuccess) {
        cuda_fail(d, e, "cudaSetDevice", err);
        return false;
    }
    current = d->ordinal;
    return true;
}

bool cuda_enter(myth_stream *s)
{
    myth_error err = {};
    if (cuda_enter_device(cuda_of(s), &err))
        return true;
    if (s->err.code == MYTH_OK)
        s->err = err;
    return false;
}

/* ---- sizes ---- */

static uint64_t ring_bytes(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < CUDA_STREAM_MAX; i++)
        sum += cuda_slot_bytes(i) * CUDA_RING_SLOT_N;
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
    struct cuda_tune tune;
    const char *bad = NULL;
    (void)cuda_tune_fill(&tune, &opts->settings.cuda, &bad); /* open reports a bad value */
    host->bytes[MYTH_MEM_FIXED] = table_bytes();
    host->bytes[MYTH_MEM_STAGING] = ring_bytes();
    own->bytes[MYTH_MEM_FIXED] = CUDA_COUNTER_N * sizeof(unsigned);
    if (!shape)
        return;
    host->bytes[MYTH_MEM_GRAPH] = graph_bytes(shape);
    own->bytes[MYTH_MEM_ATTN_SCRATCH] = cuda_work_scratch(shape, tune.attn_bytes);
}

/* ---- memory ---- */

/* Books bytes and allocates them on the device; NULL, with the reason in err and nothing booked, when that fails. */
static void *take_device(struct cuda_device *d, myth_mem_class cls, const char *owner, uint64_t bytes, myth_error *err)
{
    void *p = NULL;
    if (!cuda_enter_device(d, err))
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
        cuda_fail(d, e, "cudaMalloc", err);
    }
    return NULL;
}

/* Frees and unbooks. A failure of the free is ignored; an error that ends the context shows at the next call. */
static void give_device(struct cuda_device *d, myth_mem_class cls, void *p, uint64_t bytes)
{
    if (!p)
        return;
    if (cudaFree(p) != cudaSuccess)
        (void)cudaGetLastError();
    myth_mem_unbook(d->base.mem, d->base.caps.ledger, cls, bytes);
}

/* Books bytes on the host's ledger and allocates them pinned and mapped. Returns the address on the device; NULL, with
 * the reason in err and nothing booked, when that fails. */
static void *take_mapped(void **host, struct cuda_device *d, myth_mem_class cls, const char *owner, uint64_t bytes,
                         myth_error *err)
{
    void *p = NULL, *at = NULL;
    if (!cuda_enter_device(d, err))
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
        cuda_fail(d, e, "mapped host memory", err);
    }
    return NULL;
}

/* Frees and unbooks mapped memory, after everything that may still read it has ended. */
static void give_mapped(struct cuda_device *d, myth_mem_class cls, void *host, uint64_t bytes)
{
    if (cuda_enter_device(d, NULL) && cudaDeviceSynchronize() != cudaSuccess)
        (void)cudaGetLastError();
    if (cudaFreeHost(host) != cudaSuccess)
        (void)cudaGetLastError();
    myth_mem_unbook(d->base.mem, MYTH_MEM_HOST, cls, bytes);
}

static void *host_take(myth_device *dev, uint64_t bytes)
{
    void *p = NULL;
    if (!cuda_enter_device(cuda_device_of(dev), NULL) || bytes > SIZE_MAX)
        return NULL;
    cudaError_t e = cudaHostAlloc(&p, (size_t)bytes, cudaHostAllocDefault);
    if (e != cudaSuccess) {
        cuda_fail(cuda_device_of(dev), e, "cudaHostAlloc", NULL);
        return NULL;
    }
    struct cuda_device *d = cuda_device_of(dev);
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
    struct cuda_device *d = cuda_device_of(dev);
    (void)bytes;
    for (int i = 0; i < CUDA_PINNED_MAX; i++)
        if (d->pinned[i].p == p)
            d->pinned[i].p = NULL;
    if (cudaFreeHost(p) != cudaSuccess)
        (void)cudaGetLastError();
}

/* ---- buffers ---- */

static myth_status open_at(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                           bool is_mapped, myth_error *err)
{
    struct cuda_device *d = cuda_device_of(dev);
    struct cuda_buf *b = NULL;
    void *host = NULL;
    for (int i = 0; i < CUDA_BUF_MAX && !b; i++)
        if (!d->buf[i].buf.dev)
            b = &d->buf[i];
    if (!b)
        return myth_fail(err, MYTH_EFULL, "%s: all %d buffers are in use", dev->caps.name, CUDA_BUF_MAX);
    myth_error why = {};
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

static void buf_close(myth_buf *buf)
{
    struct cuda_buf *b = (struct cuda_buf *)buf;
    if (buf->host)
        give_mapped(cuda_device_of(buf->dev), buf->cls, buf->host, buf->bytes);
    else
        give_device(cuda_device_of(buf->dev), buf->cls, b->base, buf->bytes);
    memset(b, 0, sizeof(*b));
}

/* ---- device ---- */

static void close_device(myth_device *dev)
{
    struct cuda_device *d = cuda_device_of(dev);
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
    struct cuda_device *d = cuda_device_of(dev);
    uint64_t bytes = cuda_work_scratch(shape, d->tune.attn_bytes);
    if (shape->n_graph) {
        d->graph = (struct cuda_graph *)myth_alloc(dev->mem, MYTH_MEM_GRAPH, "cuda graphs", (size_t)graph_bytes(shape));
        if (!d->graph)
            return myth_fail(err, MYTH_ENOMEM, "%s: %llu bytes for graphs", dev->caps.name,
                             (unsigned long long)graph_bytes(shape));
    }
    myth_error why = {};
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
    vt->buf_close = buf_close;
    vt->host_take = host_take;
    vt->host_give = host_give;
    cuda_fill_stream_vtable(vt);
}

/* The build defines CUDA_HAS_<op> as 1 for ops that have a file, else as 0. */
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

/* ---- listing devices ---- */

static void describe(myth_device_caps *c, int ordinal, const cudaDeviceProp *p)
{
    memset(c, 0, sizeof(*c));
    snprintf(c->name, sizeof(c->name), "cuda:%d", ordinal);
    snprintf(c->description, sizeof(c->description), "%.64s, sm_%d%d, %d multiprocessors", p->name, p->major, p->minor,
             p->multiProcessorCount);
    snprintf(c->variants, sizeof(c->variants), "mma bf16 int8dot"); /* open finds out more */
    c->ledger = 1 + ordinal;
    c->total_bytes = p->totalGlobalMem;
    c->is_async = true;
    c->is_gpu = MYTH_CUDA_REAL; /* the emulation runs on the CPU */
    c->is_in_host = p->integrated != 0;
}

static bool is_supported(const cudaDeviceProp *p) { return p->major >= 8; }

static uint32_t list(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts)
{
    (void)opts;
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

/* Reads the free memory. That needs the device's context, which itself takes memory, so it is done only for devices
 * that will be used or that were asked about. */
static void measure(myth_device_caps *c)
{
    size_t free_bytes = 0, total_bytes = 0;
    current = -1;
    if (cudaSetDevice(c->ledger - 1) == cudaSuccess && cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) {
        c->free_bytes = free_bytes ? free_bytes : 1; /* 0 would be unknown */
        c->total_bytes = total_bytes;
    } else {
        (void)cudaGetLastError();
    }
}

/* ---- the code in use ---- */

static cuda_kernel *listed; /* filled before main */

cuda_kernel::cuda_kernel(const void *entry_, bool is_dependent_)
    : entry(entry_), is_dependent(is_dependent_), next(listed)
{
    listed = this;
}

enum { CODE_HAS_PDL = 1, CODE_HAS_WGMMA = 2 };

/* Writes which architecture this code was compiled for. The device's compute capability does not tell that: a device
 * can run code for an older architecture, which has neither the wait of dependent launches nor the instructions of
 * sm_90a.
 */
static __global__ void ask_code_k(unsigned *out)
{
#if !MYTH_CUDA_REAL
    const unsigned has =
        (emu_code_has_pdl() ? (unsigned)CODE_HAS_PDL : 0u) | (emu_code_has_wgmma() ? (unsigned)CODE_HAS_WGMMA : 0u);
#else
    unsigned has = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    has |= CODE_HAS_PDL;
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    has |= CODE_HAS_WGMMA;
#endif
#endif
    if (threadIdx.x == 0)
        out[0] = has;
}

/* Loads every kernel and lets it use all shared memory. Decode kernels all get the same split between L1 and shared
 * memory. */
static cudaError_t load_kernels(const struct cuda_device *d)
{
    for (const cuda_kernel *k = listed; k; k = k->next) {
        cudaFuncAttributes facts;
        cudaError_t e = cudaFuncGetAttributes(&facts, k->entry);
        if (e == cudaSuccess && facts.sharedSizeBytes < d->shared_max)
            e = cudaFuncSetAttribute(k->entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)(d->shared_max - facts.sharedSizeBytes));
        if (e == cudaSuccess && k->is_dependent && d->tune.carveout >= 0)
            e = cudaFuncSetAttribute(k->entry, cudaFuncAttributePreferredSharedMemoryCarveout, d->tune.carveout);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

/* Sets has_pdl and has_wgmma, and clears the counters. All of it runs in one stream, which is empty when this returns.
 * (A plain cudaMemset would run in the default stream, for which streams that are opened later do not wait.) */
static cudaError_t ask_code(struct cuda_device *d)
{
    cudaStream_t stream = NULL;
    cudaLaunchConfig_t config = {};
    unsigned has = 0;
    cudaError_t e = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (e != cudaSuccess)
        return e;
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.stream = stream;
    e = cudaLaunchKernelEx(&config, ask_code_k, d->counters);
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(d->ring, d->counters, sizeof(has), cudaMemcpyDeviceToHost, stream);
    if (e == cudaSuccess)
        e = cudaMemsetAsync(d->counters, 0, CUDA_COUNTER_N * sizeof(unsigned), stream);
    if (e == cudaSuccess)
        e = cudaStreamSynchronize(stream);
    if (cudaStreamDestroy(stream) != cudaSuccess)
        (void)cudaGetLastError();
    if (e != cudaSuccess)
        return e;
    memcpy(&has, d->ring, sizeof(has));
    d->has_pdl = has & CODE_HAS_PDL;
    d->has_wgmma = has & CODE_HAS_WGMMA;
    snprintf(d->base.caps.variants, sizeof(d->base.caps.variants), "mma bf16 int8dot%s%s",
             d->has_pdl && d->tune.pdl ? " dependent-launch" : "", d->has_wgmma ? " wgmma" : "");
    return cudaSuccess;
}

/* ---- open ---- */

static myth_status open_device(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err)
{
    static struct myth_device_vtable vtable;
    struct cuda_tune tune;
    const char *bad = NULL;
    if (!cuda_tune_fill(&tune, &opts->settings.cuda, &bad))
        return myth_fail(err, MYTH_EARG, "settings.cuda.%s: outside its range (kernels/settings.h)", bad);
    int n = 0, ordinal = myth_device_number(opts->name, "cuda", CUDA_DEVICE_MAX);
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaSuccess && ordinal < n)
        e = cudaGetDeviceProperties(&p, ordinal);
    if (e != cudaSuccess) { /* there is no driver, or it is too old for this runtime; the error's text says which */
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
    d->sm_count = p.multiProcessorCount;
    d->shared_max = p.sharedMemPerBlockOptin;
    d->is_exact = opts->is_exact;
    d->tune = tune;

    myth_error why = {};
    void *ring = NULL;
    d->buf = (struct cuda_buf *)myth_alloc(mem, MYTH_MEM_FIXED, "cuda buffers", CUDA_BUF_MAX * sizeof(*d->buf));
    d->stream =
        (struct cuda_stream *)myth_alloc(mem, MYTH_MEM_FIXED, "cuda streams", CUDA_STREAM_MAX * sizeof(*d->stream));
    if (!d->buf || !d->stream) {
        myth_fail(&why, MYTH_ENOMEM, "%s: %llu bytes for tables", opts->name, (unsigned long long)table_bytes());
        goto fail;
    }
    current = -1; /* the device that this thread made current before may be gone */
    if (!cuda_enter_device(d, &why))
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
        cuda_fail(d, e, "staging", &why);
        goto fail;
    }
    d->ring = (unsigned char *)ring;
    if ((e = load_kernels(d)) != cudaSuccess) {
        cuda_fail(d, e, "loading the kernels", &why);
        goto fail;
    }
    if ((e = ask_code(d)) != cudaSuccess) {
        cuda_fail(d, e, "the first kernel", &why);
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
