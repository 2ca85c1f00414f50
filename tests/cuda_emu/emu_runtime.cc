/* emu_runtime.cc - the CUDA runtime on the host: memory against a budget, streams as queues, captured graphs, and the
 * table of failing calls.
 *
 * Order      a stream's work is done when something waits for it: a synchronisation, an event, a free
 * Host side  a copy from or to memory that is not pinned is done at once, as the real one is; from pinned memory when
 *            its turn comes
 * Faults     every call counts; a sticky error makes every later call answer it, though memory is still given back */
#include "emu_block.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

struct emu_stream {
    std::deque<std::function<void()>> work;
    uint64_t n_issued, n_done;
    emu_graph *capture;
};

struct emu_event {
    emu_stream *on;
    uint64_t at; /* n_issued of the stream when recorded; 0 = never */
};

struct emu_graph {
    std::vector<std::function<void()>> work;
    size_t n_kernel;
    bool is_broken; /* a call that a capture does not bear: it ends without a graph */
};

namespace
{

struct {
    std::map<unsigned char *, size_t> device, pinned, mapped; /* mapped: of the pinned ones */
    std::vector<emu_stream *> streams;
    std::map<const void *, size_t> shared_allowed;
    std::set<const void *> loaded;                    /* kernels */
    std::map<const void *, int> carveout;             /* of kernels that have one */
    std::set<unsigned char *> host_written;           /* blocks of `device` that the host wrote into */
    std::deque<std::function<void()>> plain;          /* work of the default stream */
    const unsigned char *constant_from, *constant_to; /* the block of the last constant load; of none after a free */
    std::vector<const char *> calls;                  /* names, since emu_reset */
    uint64_t used, hogged, n_launch, n_live;
    uint64_t n_dependent, n_without_carveout, n_replay, n_line, most_lines;
    unsigned refused;
    uint64_t fault_nth;
    cudaError_t fault, last, sticky;
    const char *fault_call;
} R;

bool is_sticky(cudaError_t e)
{
    return e == cudaErrorIllegalAddress || e == cudaErrorLaunchTimeout || e == cudaErrorLaunchFailure ||
           e == cudaErrorECCUncorrectable;
}

cudaError_t fail(cudaError_t e)
{
    R.last = e;
    if (is_sticky(e))
        R.sticky = e;
    return e;
}

/* Counts the call; what it must answer, cudaSuccess = go on. */
cudaError_t enter(const char *name)
{
    R.calls.push_back(name);
    if (R.sticky != cudaSuccess)
        return R.last = R.sticky;
    if (R.fault_nth && --R.fault_nth == 0) {
        R.fault_call = name;
        return fail(R.fault);
    }
    return cudaSuccess;
}
#define ENTER()                                \
    do {                                       \
        cudaError_t entered = enter(__func__); \
        if (entered != cudaSuccess)            \
            return entered;                    \
    } while (0)

void run_until(emu_stream *s, uint64_t n)
{
    while (s->n_done < n) {
        std::function<void()> job = std::move(s->work.front());
        s->work.pop_front();
        s->n_done++;
        if (R.sticky == cudaSuccess)
            job();
    }
}

void run_plain()
{
    for (; !R.plain.empty(); R.plain.pop_front())
        R.plain.front()();
}

void run_all()
{
    run_plain();
    for (emu_stream *s : R.streams)
        run_until(s, s->n_issued);
}

cudaError_t push(emu_stream *s, std::function<void()> job, bool is_kernel = false)
{
    if (!s)
        return fail(cudaErrorInvalidResourceHandle); /* the default stream is not ours to use */
    if (s->capture) {
        s->capture->work.push_back(std::move(job));
        s->capture->n_kernel += is_kernel;
        return cudaSuccess;
    }
    s->work.push_back(std::move(job));
    s->n_issued++;
    return cudaSuccess;
}

uint64_t memory_limit()
{
    const char *text = getenv("MYTHOS_EMU_MEMORY");
    return text ? strtoull(text, nullptr, 0) : 2ull << 30;
}

bool is_inside(const std::map<unsigned char *, size_t> &blocks, const void *p, size_t bytes)
{
    auto it = blocks.upper_bound((unsigned char *)(uintptr_t)p);
    if (it == blocks.begin())
        return false;
    --it;
    size_t off = (size_t)((const unsigned char *)p - it->first);
    return off <= it->second && bytes <= it->second - off;
}

/* Aligned as the driver aligns; the block ends where its bytes end. */
unsigned char *take(size_t bytes)
{
    void *p = nullptr;
    if (posix_memalign(&p, 256, bytes) != 0)
        return nullptr;
    memset(p, 0xff, bytes);
    return (unsigned char *)p;
}

} // namespace

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *n)
{
    ENTER();
    const char *none = getenv("MYTHOS_EMU_NONE");
    *n = none && *none ? 0 : 1;
    return *n ? cudaSuccess : fail(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int ordinal)
{
    ENTER();
    return ordinal == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice);
}

/* MYTHOS_EMU_CC=80: kernels may have a path of their own for each. */
static int emulated_cc()
{
    const char *text = getenv("MYTHOS_EMU_CC");
    return text ? atoi(text) : EMU_CC_MAJOR * 10 + EMU_CC_MINOR;
}

/* The code of the kernels: MYTHOS_EMU_CODE, else what a build for all architectures has for this device. */
static const char *code()
{
    const char *text = getenv("MYTHOS_EMU_CODE");
    return text && *text ? text : emulated_cc() == 90 ? "90a" : emulated_cc() < 90 ? "80" : "90";
}
bool emu_code_has_pdl() { return atoi(code()) >= 90; }
bool emu_code_has_wgmma() { return strcmp(code(), "90a") == 0; }

/* MYTHOS_EMU_SHARED: bytes that a block may have, when fewer than usual. */
static size_t shared_max()
{
    const char *text = getenv("MYTHOS_EMU_SHARED");
    const size_t n = text ? strtoul(text, nullptr, 0) : 0;
    return n && n < emu_shared_most() ? n : emu_shared_most();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int ordinal)
{
    ENTER();
    if (ordinal != 0)
        return fail(cudaErrorInvalidDevice);
    *p = cudaDeviceProp{};
    snprintf(p->name, sizeof(p->name), "emulated on the CPU");
    p->totalGlobalMem = memory_limit();
    p->sharedMemPerBlockOptin = shared_max();
    p->major = emulated_cc() / 10;
    p->minor = emulated_cc() % 10;
    p->multiProcessorCount = EMU_SM_COUNT;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int ordinal)
{
    ENTER();
    if (ordinal != 0)
        return fail(cudaErrorInvalidDevice);
    switch (attr) {
    case cudaDevAttrMultiProcessorCount: *value = EMU_SM_COUNT; break;
    case cudaDevAttrComputeCapabilityMajor: *value = emulated_cc() / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = emulated_cc() % 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)shared_max(); break;
    default: return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    ENTER();
    uint64_t limit = memory_limit(), taken = R.used + R.hogged;
    *total_bytes = limit;
    *free_bytes = taken < limit ? limit - taken : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    ENTER();
    run_all();
    return R.sticky;
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    ENTER();
    uint64_t limit = memory_limit();
    unsigned char *block = bytes <= limit && R.used + R.hogged <= limit - bytes ? take(bytes) : nullptr;
    if (!block)
        return fail(cudaErrorMemoryAllocation);
    R.device[block] = bytes;
    R.used += bytes;
    R.n_live++;
    *p = block;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    cudaError_t e = enter(__func__);
    if (!p)
        return e;
    run_all();
    auto it = R.device.find((unsigned char *)p);
    if (it == R.device.end())
        return fail(cudaErrorInvalidValue);
    R.used -= it->second;
    R.n_live--;
    R.host_written.erase(it->first);
    R.constant_from = R.constant_to = nullptr;
    free(it->first);
    R.device.erase(it);
    return e;
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    ENTER();
    unsigned char *block = take(bytes);
    if (!block)
        return fail(cudaErrorMemoryAllocation);
    R.pinned[block] = bytes;
    if (flags & cudaHostAllocMapped)
        R.mapped[block] = bytes;
    R.n_live++;
    *p = block;
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **p, void *host, unsigned flags)
{
    ENTER();
    if (flags || R.mapped.find((unsigned char *)host) == R.mapped.end())
        return fail(cudaErrorInvalidValue);
    *p = host;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
    cudaError_t e = enter(__func__);
    run_all();
    auto it = R.pinned.find((unsigned char *)p);
    if (it == R.pinned.end())
        return fail(cudaErrorInvalidValue);
    R.n_live--;
    R.mapped.erase(it->first);
    free(it->first);
    R.pinned.erase(it);
    return e;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind, cudaStream_t s)
{
    ENTER();
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    if ((from_device && !is_inside(R.device, src, bytes)) || (to_device && !is_inside(R.device, dst, bytes))) {
        emu_complain("cudaMemcpyAsync: %zu bytes from %p to %p leave the device's memory", bytes, src, dst);
        return fail(cudaErrorInvalidValue);
    }
    if (kind == cudaMemcpyHostToDevice)
        R.host_written.insert((--R.device.upper_bound((unsigned char *)dst))->first);
    if (!from_device && !is_inside(R.pinned, src, bytes)) {
        std::shared_ptr<std::vector<unsigned char>> kept = std::make_shared<std::vector<unsigned char>>(
            (const unsigned char *)src, (const unsigned char *)src + bytes);
        return push(s, [=]() { memcpy(dst, kept->data(), bytes); });
    }
    cudaError_t e = push(s, [=]() { memmove(dst, src, bytes); });
    if (!to_device && !is_inside(R.pinned, dst, bytes) && e == cudaSuccess && !s->capture)
        run_until(s, s->n_issued);
    return e;
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t s)
{
    ENTER();
    if (!is_inside(R.device, dst, bytes)) {
        emu_complain("cudaMemsetAsync: %zu bytes at %p leave the device's memory", bytes, dst);
        return fail(cudaErrorInvalidValue);
    }
    return push(s, [=]() { memset(dst, value, bytes); });
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
    ENTER();
    if (!is_inside(R.device, dst, bytes)) {
        emu_complain("cudaMemset: %zu bytes at %p leave the device's memory", bytes, dst);
        return fail(cudaErrorInvalidValue);
    }
    R.plain.push_back([=]() { memset(dst, value, bytes); }); /* other streams do not wait for the default one */
    return cudaSuccess;
}

/* The last block that was asked about, so that most loads cost two comparisons. */
void emu_constant_load(const void *p, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)p;
    if (at >= R.constant_from && at + bytes <= R.constant_to)
        return;
    auto it = R.device.upper_bound((unsigned char *)(uintptr_t)p);
    if (it == R.device.begin() || at >= (--it)->first + it->second)
        return; /* memory of the host, mapped */
    if (!R.host_written.count(it->first))
        emu_complain("a constant load reads %p, in memory that only kernels wrote", p);
    R.constant_from = it->first;
    R.constant_to = it->first + it->second;
}

void emu_prefetch() { R.n_line++; }

/* ---- streams and events ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    ENTER();
    (void)flags;
    *s = new emu_stream();
    R.streams.push_back(*s);
    R.n_live++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    cudaError_t e = enter(__func__);
    run_until(s, s->n_issued);
    for (size_t i = 0; i < R.streams.size(); i++)
        if (R.streams[i] == s)
            R.streams.erase(R.streams.begin() + (ptrdiff_t)i--);
    if (s->capture) {
        delete s->capture;
        R.n_live--;
    }
    delete s;
    R.n_live--;
    return e;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    ENTER();
    if (!s) {
        run_plain();
        return cudaSuccess;
    }
    if (s->capture)
        return fail(cudaErrorStreamCaptureInvalidated);
    run_until(s, s->n_issued);
    return R.sticky != cudaSuccess ? R.last = R.sticky : cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    ENTER();
    (void)flags;
    emu_stream *on = e->on;
    uint64_t at = e->at;
    return on && on != s ? push(s, [=]() { run_until(on, at); }) : cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    ENTER();
    (void)flags;
    *e = new emu_event();
    R.n_live++;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    ENTER();
    e->on = s;
    e->at = s->n_issued;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    ENTER();
    if (e->on)
        run_until(e->on, e->at);
    return R.sticky != cudaSuccess ? R.last = R.sticky : cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    ENTER();
    return !e->on || e->on->n_done >= e->at ? cudaSuccess : fail(cudaErrorNotReady);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    cudaError_t entered = enter(__func__);
    delete e;
    R.n_live--;
    return entered;
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode)
{
    ENTER();
    (void)mode;
    if (R.refused & EMU_REFUSE_BEGIN)
        return fail(cudaErrorStreamCaptureUnsupported);
    s->capture = new emu_graph();
    R.n_live++;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
    *g = nullptr;
    cudaError_t e = enter(__func__);
    if (e == cudaSuccess && s->capture && (s->capture->is_broken || (R.refused & EMU_REFUSE_END)))
        e = fail(cudaErrorStreamCaptureInvalidated);
    if (e != cudaSuccess && s->capture) { /* a capture that failed leaves no graph */
        delete s->capture;
        s->capture = nullptr;
        R.n_live--;
    }
    if (e != cudaSuccess)
        return e;
    if (!s->capture)
        return fail(cudaErrorInvalidValue);
    *g = s->capture;
    s->capture = nullptr;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t g, unsigned long long flags)
{
    ENTER();
    (void)flags;
    if (R.refused & EMU_REFUSE_INSTANTIATE)
        return fail(cudaErrorNotSupported);
    *exec = new emu_graph(*g);
    R.n_live++;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
    cudaError_t e = enter(__func__);
    delete g;
    R.n_live--;
    return e;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t e = enter(__func__);
    run_all();
    delete exec;
    R.n_live--;
    return e;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s)
{
    ENTER();
    R.n_replay++;
    return push(s, [=]() {
        for (const std::function<void()> &job : exec->work)
            if (R.sticky == cudaSuccess)
                job();
    });
}

/* ---- kernels ---- */

cudaError_t cudaFuncSetAttribute(const void *f, cudaFuncAttribute attr, int value)
{
    ENTER();
    R.loaded.insert(f);
    if (attr == cudaFuncAttributePreferredSharedMemoryCarveout && value >= -1 && value <= 100) {
        R.carveout[f] = value;
        return cudaSuccess;
    }
    if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || (size_t)value > shared_max())
        return fail(cudaErrorInvalidValue);
    R.shared_allowed[f] = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *f)
{
    ENTER();
    *attr = cudaFuncAttributes{};
    R.loaded.insert(f);
    return cudaSuccess;
}

cudaError_t emu_launch(const cudaLaunchConfig_t *config, const void *kernel, std::function<void()> body)
{
    cudaError_t entered = enter("cudaLaunchKernelEx");
    if (entered != cudaSuccess)
        return entered;
    const dim3 g = config->gridDim, b = config->blockDim;
    auto allowed = R.shared_allowed.find(kernel);
    size_t shared_max = allowed == R.shared_allowed.end() ? (size_t)EMU_SHARED_STATIC_MAX : allowed->second;
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535 || !b.x || b.x > 1024 || b.y != 1 ||
        b.z != 1 || b.x % 32 || config->dynamicSmemBytes > shared_max) {
        emu_complain("launch: grid %u x %u x %u, block %u x %u x %u, %zu dynamic shared bytes (at most %zu); a block "
                     "is one-dimensional, a multiple of "
                     "32 up to 1024",
                     g.x, g.y, g.z, b.x, b.y, b.z, config->dynamicSmemBytes, shared_max);
        return fail(cudaErrorInvalidConfiguration);
    }
    bool is_dependent = false;
    for (unsigned i = 0; i < config->numAttrs; i++)
        is_dependent |= config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                        config->attrs[i].val.programmaticStreamSerializationAllowed;
    emu_stream *const capture = config->stream && config->stream->capture ? config->stream : nullptr;
    if (capture && !R.loaded.count(kernel)) { /* its module would be loaded now */
        capture->capture->is_broken = true;
        return fail(cudaErrorStreamCaptureUnsupported);
    }
    R.loaded.insert(kernel);
    if (is_dependent && capture && (R.refused & EMU_REFUSE_EARLY)) {
        capture->capture->is_broken = true;
        return fail(cudaErrorInvalidResourceHandle);
    }
    if (is_dependent && !emu_code_has_pdl()) {
        emu_complain("a launch that may start early, of code for %s, which does not wait", code());
        return fail(cudaErrorInvalidValue);
    }
    R.n_dependent += is_dependent;
    R.n_without_carveout += is_dependent && !R.carveout.count(kernel);
    emu_kernel k = {g, b, config->dynamicSmemBytes, is_dependent, std::move(body)};
    return push(
        config->stream,
        [=]() {
            R.n_launch++;
            R.n_line = 0;
            if (!emu_run(&k))
                R.sticky = R.last = cudaErrorLaunchFailure;
            R.most_lines = R.n_line > R.most_lines ? R.n_line : R.most_lines;
        },
        true);
}

/* ---- errors ---- */

cudaError_t cudaGetLastError()
{
    cudaError_t e = R.last;
    R.last = R.sticky;
    return e;
}
cudaError_t cudaPeekAtLastError() { return R.last; }

const char *cudaGetErrorName(cudaError_t e)
{
    switch (e) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInitializationError: return "cudaErrorInitializationError";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorECCUncorrectable: return "cudaErrorECCUncorrectable";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorLaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
    case cudaErrorLaunchTimeout: return "cudaErrorLaunchTimeout";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorNotSupported: return "cudaErrorNotSupported";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    default: return "cudaErrorUnknown";
    }
}
const char *cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }

/* ---- for tests ---- */

void emu_set_fault(uint64_t nth, cudaError_t e)
{
    R.fault_nth = nth;
    R.fault = e;
    R.fault_call = nullptr;
}
uint64_t emu_n_call() { return R.calls.size(); }
const char *emu_call(uint64_t nth) { return nth && nth <= R.calls.size() ? R.calls[nth - 1] : nullptr; }
const char *emu_call_name() { return R.fault_call; }
uint64_t emu_memory_used() { return R.used; }
void emu_hog(uint64_t bytes) { R.hogged = bytes; }
uint64_t emu_n_launch() { return R.n_launch; }
uint64_t emu_n_live() { return R.n_live; }
void emu_refuse(unsigned what) { R.refused = what; }
uint64_t emu_n_dependent() { return R.n_dependent; }
uint64_t emu_n_without_carveout() { return R.n_without_carveout; }
uint64_t emu_n_replay() { return R.n_replay; }
uint64_t emu_most_lines() { return R.most_lines; }

void emu_reset()
{
    R.sticky = R.last = cudaSuccess;
    R.fault_nth = R.n_launch = R.n_dependent = R.n_without_carveout = R.n_replay = R.most_lines = 0;
    R.fault_call = nullptr;
    R.calls.clear();
    R.carveout.clear();
}
