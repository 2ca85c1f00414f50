/* vk.h - what the files of the Vulkan device share: context, memory, commands, programs.
 *
 * Context   a myth_device has one instance, one logical device and one compute queue. Functions are called through
 *           volk's table of that device
 * Memory    a block is one VkDeviceMemory with one VkBuffer over all of it, which shaders reach by address. Buffers are
 *           parts of blocks (vk_memory.c)
 * Commands  a stream fills one of its frames (command buffer, argument ring, staging ring) and submits the frame when
 *           it is full or at a sync. A timeline semaphore counts submissions. A full barrier follows every dispatch and
 *           copy (vk_command.c)
 * Programs  a program is a SPIR-V module with specialization constants. It is built when it is first dispatched and
 *           kept until close (vk_program.c)
 * Texels    with a driver that runs on the CPU, products read weights through texel buffers (traits.has_texels),
 *           because it runs other loads lane by lane
 * Ops       an op copies its argument struct (shared.h) into the ring and passes its address as a push constant; texel
 *           buffers are the only descriptors
 * Errors    VK_ERROR_DEVICE_LOST becomes MYTH_ELOST, for every later call too; out of memory becomes MYTH_ENOMEM; every
 *           other failure MYTH_EDEVICE
 * Faults    every call that can fail goes through VK_CALL; a test can make the n-th of them fail
 * Threads   one per stream; queue, upload ring and program table have mutexes */
#ifndef MYTH_VK_H
#define MYTH_VK_H

#include "kernels/device_impl.h"
#include "shared.h"

#include <pthread.h>
#include <stdatomic.h>
#include <volk.h>

enum {
    VK_DEVICE_MAX = 8,
    VK_BUF_MAX = 1280,
    VK_STREAM_MAX = 8,
    VK_ALIGN = 256,       /* alignment of every buffer in a block                                             */
    VK_SMALL = 128 << 10, /* buffers up to this size share the small block                                    */
    VK_SMALL_BLOCK = 2 << 20,
    VK_FRAME_N = 4,
    VK_FRAME_OPS = 128,
    VK_FRAME_READS = 32,
    VK_FRAME_ARGS = 32 << 10,    /* bytes of argument structs in a frame                                              */
    VK_FRAME_STAGING = 32 << 10, /* bytes of transfers in a frame; larger transfers use the upload ring              */
    VK_UPLOAD_HALF = 2 << 20,
    VK_ARG_ALIGN = 16,
    VK_GRAPH_OP_ARGS = 1024,  /* argument bytes of a recorded op on average; a fused op dispatches several times */
    VK_GRAPH_ARGS = 16 << 10, /* argument bytes that a graph has besides                                        */
    VK_PUSH_BYTES = 24,       /* the address of the arguments; in texel programs also those of the blocks of w and x */
    VK_TEXEL_BINDINGS = 3,    /* w as words, w as pairs, x as words                                             */
    VK_SPEC_MAX = 6,
    VK_PIPELINE_MAX = 512,
    VK_CHUNK_MAX = 256, /* allocations for blocks that are too large for one                                 */
};

/* ---- what a device reports ---- */

struct vk_traits {
    uint32_t subgroup; /* subgroup size of programs: 8, 16, 32 or 64                                        */
    bool has_subgroup_control, has_budget;
    uint32_t shared_bytes; /* shared memory of a workgroup                                                      */
    uint64_t alloc_max,
        heap_bytes;      /* largest allocation; the heap of device memory                                     */
    uint64_t sparse_max; /* largest block of several allocations, bound sparsely; 0 = cannot                  */
    uint32_t heap, type_device, type_args, type_staging,
        type_host;            /* memory types; type_host is what shaders read over the bus */
    uint64_t host_heap_bytes; /* the heap of type_host if it is not the device's heap; else 0                       */
    bool is_device_host;      /* device memory is mapped: transfers of an idle stream are plain copies             */
    bool is_device_cached;    /* and it is fast to read from the host                                              */
    bool has_texels;          /* blocks have views, which programs named *_texel read                              */
    uint32_t texel_max;       /* most elements of a view                                                           */
};

/* ---- memory ---- */

struct vk_block {
    VkDeviceMemory memory; /* or null, and n_chunk entries of the device's table from chunk0 on */
    uint32_t chunk0, n_chunk;
    VkBuffer buffer;
    VkBufferView words, pairs; /* the whole block as elements of 16 and of 8 bytes; null = too large, or no texels */
    VkDeviceAddress addr;
    unsigned char *host; /* NULL when not mapped */
    uint64_t bytes, driver_bytes;
    bool is_apart; /* in a heap of its own, so its bytes are not counted for the device's heap */
};

struct vk_buf {
    struct myth_buf base; /* dev NULL = free slot */
    struct vk_block own;  /* a large buffer's block */
    const struct vk_block *block;
    uint64_t off;
};

/* ---- streams ---- */

struct vk_read {
    void *dst;
    uint32_t off, bytes;
};

struct vk_frame {
    VkCommandBuffer cmd;
    uint64_t value; /* the timeline value that its submission signals; 0 = not in flight */
    uint32_t args_used, staging_used, n_op, n_read;
    bool is_open;
    struct vk_read read[VK_FRAME_READS];
};

struct vk_graph {
    struct myth_graph base; /* dev NULL = free slot */
    VkCommandPool pool;
    VkCommandBuffer cmd;
    uint64_t args_used;
    uint32_t n_dispatch;
};

struct vk_stream {
    struct myth_stream base; /* dev NULL = free slot */
    uint32_t slot;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t submitted, done; /* timeline values of the last submission, and of the last one known to be done */
    uint32_t cur;
    struct vk_frame frame[VK_FRAME_N];
};

/* For a half of the upload ring: the stream that copied out of it last, and the timeline value at which that is done.
 */
struct vk_upload {
    struct vk_stream *user;
    uint64_t value;
};

/* ---- programs ---- */

enum vk_shader {
#define SPIRV(name, ...) VK_SHADER_##name,
#include "spirv.def"
#undef SPIRV
    VK_SHADER_N
};

struct vk_spirv {
    const char *name;
    const uint32_t *code;
    size_t bytes;
};
extern const struct vk_spirv vk_spirv[VK_SHADER_N];

struct vk_pipeline {
    VkPipeline pipeline;
    uint32_t spec[VK_SPEC_MAX];
    uint16_t next; /* 1 + index of the shader's next pipeline; 0 = none */
};

/* ---- the device ---- */

/* Bytes of each workspace, a pure function of the shape. */
struct vk_work_bytes {
    uint64_t activations, attn_scratch, logits;
};

struct vk_device {
    struct myth_device base;
    uint32_t number; /* N of "vulkan:N"     */
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    struct VolkDeviceTable fn;
    struct vk_traits traits;
    atomic_bool is_lost;
    atomic_uint_fast64_t driver_bytes; /* bytes of all VkDeviceMemory that is allocated */
    pthread_mutex_t queue_lock, upload_lock, memory_lock, program_lock;

    struct vk_block small, args, staging; /* small buffers; argument rings of all streams; staging and upload rings */
    VkDeviceMemory chunk[VK_CHUNK_MAX];   /* for blocks of several allocations; null = free  */
    uint64_t small_used[VK_SMALL_BLOCK / VK_ALIGN / 64]; /* one bit per VK_ALIGN bytes */
    struct vk_block activations, attn_scratch, logits, graph_args;
    struct vk_graph *graph;     /* shape.n_graph slots */
    struct vk_upload upload[2]; /* the halves of the upload ring */
    uint32_t upload_next;

    VkDescriptorSetLayout texel_layout; /* null without traits.has_texels */
    VkPipelineLayout layout;
    VkShaderModule module[VK_SHADER_N];
    uint16_t first[VK_SHADER_N]; /* 1 + index of a shader's first pipeline; 0 = none */
    struct vk_pipeline pipeline[VK_PIPELINE_MAX];
    uint32_t n_pipeline;

    struct vk_buf *buf;                         /* VK_BUF_MAX slots */
    struct vk_stream stream[VK_STREAM_MAX + 1]; /* the last one is used by the device itself */
};

static inline struct vk_device *vk_of(const myth_stream *s) { return (struct vk_device *)(void *)s->dev; }

/* ---- calls and faults (vk_context.c) ---- */

/* While vk_fault is set, the nth call through VK_CALL (from 1) is not made and returns `result`, or with one_in some of
 * those from it on. For tests; NULL = off. */
enum { VK_FAULT_SEEN = 1024 };
struct vk_fault {
    uint64_t nth, n_call;
    uint32_t one_in; /* not 0: from the nth call on any call fails, by chance one in so many */
    uint64_t random; /* state of a 64-bit linear congruential generator */
    uint64_t n_failed;
    VkResult result;
    const char *name;                /* name of the call that failed */
    const char *seen[VK_FAULT_SEEN]; /* names of the first calls     */
};
extern struct vk_fault *vk_fault;

/* While vk_lie is set, this is what the driver says of its memory. For tests; see vk_probe.h. */
struct vk_lie {
    uint64_t budget, usage;
    bool is_silent; /* it does not have the extension */
};
extern const struct vk_lie *vk_lie;
VkResult vk_inject(const char *name);

#define VK_CALL(d, name, ...) \
    (vk_fault && vk_inject(#name) != VK_SUCCESS ? vk_fault->result : (d)->fn.name(__VA_ARGS__))

/* Fills err with the meaning of the result ("vulkan:0: WHAT: out of device memory") and returns its status. Remembers
 * it when the device is lost. */
myth_status vk_fail(struct vk_device *d, myth_error *err, VkResult r, const char *what);
const char *vk_result_name(VkResult r);

myth_status vk_context_open(struct vk_device *d, const myth_device_opts *opts, myth_error *err);
void vk_context_close(struct vk_device *d); /* takes a half-built context */
uint32_t vk_context_list(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts);
/* Free bytes of the device's heap as the driver reports them, at most the size of the heap; and the driver's budget, or
 * 0. */
void vk_context_memory(const struct vk_device *d, uint64_t *free_bytes, uint64_t *budget);
/* How many warnings and errors the validation layer (settings.vk_validate) has given for all devices. */
extern atomic_uint_fast32_t vk_n_message;

/* ---- memory (vk_memory.c) ---- */

/* Opens a block of `bytes`. The caller books it. MYTH_ENOMEM: past the heap or the driver's largest allocation. */
myth_status vk_block_open(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, bool is_mapped,
                          const char *owner, myth_error *err);
/* The same in memory of type_host: the block is mapped, and one allocation. */
myth_status vk_block_open_host(struct vk_block *b, struct vk_device *d, uint64_t bytes, const char *owner,
                               myth_error *err);
void vk_block_close(struct vk_block *b, struct vk_device *d); /* takes a zeroed block */
myth_status vk_buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                        myth_error *err);
myth_status vk_buf_open_host(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                             myth_error *err);
void vk_buf_close(myth_buf *buf);

static inline const struct vk_block *vk_block_of(myth_view v)
{
    return ((const struct vk_buf *)(const void *)v.buf)->block;
}

/* Address of a view on the device; 0 when it is not given. */
static inline uint64_t vk_addr(myth_view v)
{
    const struct vk_buf *b = (const struct vk_buf *)(const void *)v.buf;
    return b ? b->block->addr + b->off + v.off : 0;
}

/* x_scale of a prologue as a factor. */
static inline float vk_x_scale(float x_scale) { return x_scale == 0.0f ? 1.0f : x_scale; }

/* ---- commands (vk_command.c) ---- */

myth_status vk_stream_open(myth_stream **out, myth_device *dev, myth_error *err);
myth_status vk_stream_start(struct vk_device *d, struct vk_stream *s,
                            myth_error *err); /* makes the objects of one slot */
void vk_stream_close(myth_stream *base);
void vk_write(myth_stream *base, myth_view dst, const void *src, uint64_t bytes);
void vk_weight_write(myth_stream *base, myth_view dst, const void *src, uint32_t n_total, uint32_t row0,
                     uint32_t n_rows, uint32_t n_in);
void vk_read(myth_stream *base, void *dst, myth_view src, uint64_t bytes);
myth_status vk_sync(myth_stream *base, myth_error *err);
uint64_t vk_mark(myth_stream *base);
myth_status vk_wait(myth_stream *base, uint64_t mark, myth_error *err);
void vk_begin_record(myth_stream *base);
myth_status vk_end_record(myth_graph **out, myth_stream *base, myth_error *err);
void vk_replay(myth_stream *base, const myth_graph *graph);
void vk_graph_close(myth_graph *g);
/* Zeroes a block through the device's own stream. */
myth_status vk_block_clear(struct vk_device *d, const struct vk_block *b, myth_error *err);
/* Waits until nothing of this device runs, before something is closed that commands may still read. */
void vk_drain(struct vk_device *d);

/* One dispatch: which program, how many workgroups. spec[i] is specialization constant i + 1; constant 0 is the
 * subgroup size. */
struct vk_launch {
    enum vk_shader shader;
    uint32_t x, y, z; /* 0 = 1 */
    uint32_t spec[VK_SPEC_MAX];
    /* For a program that reads texels: the blocks of its matrices and of its rows; else NULL. */
    const struct vk_block *w_block, *x_block;
    bool is_free; /* no barrier after it, because the next dispatch or copy does not depend on it */
};

/* Records the dispatch into the stream (or into the graph it records) with a copy of the argument struct. A failure
 * stays in the stream. */
void vk_dispatch(myth_stream *s, const struct vk_launch *l, const void *args, size_t args_bytes);
/* Copies more data for the dispatch that follows, such as a table that the host computes. Returns its address, or 0
 * with the stream's error. */
uint64_t vk_push(myth_stream *s, const void *data, size_t bytes);
void vk_copy_bytes(myth_stream *s, myth_view dst, myth_view src, uint64_t bytes);

/* ---- programs (vk_program.c) ---- */

myth_status vk_programs_open(struct vk_device *d, myth_error *err);
void vk_programs_close(struct vk_device *d);
myth_status vk_program_get(VkPipeline *out, struct vk_device *d, enum vk_shader shader,
                           const uint32_t spec[VK_SPEC_MAX], myth_error *err);

/* ---- ops and their workspaces (vk_ops_*.c, vk_work.c) ---- */

void vk_work(struct vk_work_bytes *out, const myth_work_shape *shape);

struct vk_kv_place vk_place(const struct myth_kv_place *kv);

#define OP(name) void vk_##name(myth_stream *s, const struct myth_##name##_args *a);
#include "kernels/ops.def"
#undef OP

#endif
