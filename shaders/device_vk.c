/* device_vk.c - opens a Vulkan device by its number, tells its sizes in advance, and has the table of its ops.
 *
 * Host      books the device's own struct (with streams and the program table) and the buffer handles, class FIXED
 * Device    books FIXED: the small block and the rounding of every block. STAGING: the rings of arguments, staging and
 *           uploads. GRAPH: arguments of recorded streams. The workspaces have their own classes. What the driver keeps
 *           for itself (code, command buffers) is not in the ledger */
#define _GNU_SOURCE
#include "vk.h"

#include <string.h>

enum { N_RING = VK_STREAM_MAX + 1 };

static const uint64_t args_bytes = (uint64_t)N_RING * VK_FRAME_N * VK_FRAME_ARGS;
static const uint64_t staging_bytes = (uint64_t)N_RING * VK_FRAME_N * VK_FRAME_STAGING + 2 * VK_UPLOAD_HALF;
static const uint64_t fixed_bytes = VK_SMALL_BLOCK + (uint64_t)VK_BUF_MAX * VK_ALIGN;

static uint64_t graph_bytes(const myth_work_shape *shape)
{
    return shape->n_graph * ((uint64_t)shape->n_record_ops * VK_GRAPH_OP_ARGS + VK_GRAPH_ARGS);
}

static void plan(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                 const myth_work_shape *shape)
{
    (void)opts;
    host->bytes[MYTH_MEM_FIXED] = sizeof(struct vk_device) + VK_BUF_MAX * sizeof(struct vk_buf);
    own->bytes[MYTH_MEM_FIXED] = fixed_bytes;
    own->bytes[MYTH_MEM_STAGING] = args_bytes + staging_bytes;
    if (!shape)
        return;
    struct vk_work_bytes w;
    vk_work(&w, shape);
    host->bytes[MYTH_MEM_GRAPH] = shape->n_graph * sizeof(struct vk_graph);
    own->bytes[MYTH_MEM_GRAPH] = graph_bytes(shape);
    own->bytes[MYTH_MEM_ACTIVATIONS] = w.activations;
    own->bytes[MYTH_MEM_ATTN_SCRATCH] = w.attn_scratch;
    own->bytes[MYTH_MEM_LOGITS] = w.logits;
}

/* ---- blocks that are booked ---- */

static myth_status take(struct vk_block *b, struct vk_device *d, myth_mem_class cls, uint32_t type, uint64_t bytes,
                        uint64_t booked, bool is_mapped, const char *owner, myth_error *err)
{
    int ledger = d->base.caps.ledger;
    if (!bytes)
        return MYTH_OK;
    if (!myth_mem_book(d->base.mem, ledger, cls, owner, booked))
        return myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes do not fit the limit of %llu", d->base.caps.name, owner,
                         (unsigned long long)booked, (unsigned long long)myth_mem_limit(d->base.mem, ledger));
    myth_status st = vk_block_open(b, d, type, bytes, is_mapped, owner, err);
    if (st != MYTH_OK)
        myth_mem_unbook(d->base.mem, ledger, cls, booked);
    return st;
}

static void give(struct vk_block *b, struct vk_device *d, myth_mem_class cls, uint64_t booked)
{
    if (!b->bytes)
        return;
    vk_block_close(b, d);
    myth_mem_unbook(d->base.mem, d->base.caps.ledger, cls, booked);
}

/* ---- workspaces ---- */

static void close_work(struct vk_device *d, uint32_t n_graph)
{
    for (uint32_t i = 0; d->graph && i < n_graph; i++)
        if (d->graph[i].pool)
            d->fn.vkDestroyCommandPool(d->device, d->graph[i].pool, NULL);
    myth_free(d->base.mem, d->graph);
    d->graph = NULL;
    give(&d->activations, d, MYTH_MEM_ACTIVATIONS, d->activations.bytes);
    give(&d->attn_scratch, d, MYTH_MEM_ATTN_SCRATCH, d->attn_scratch.bytes);
    give(&d->logits, d, MYTH_MEM_LOGITS, d->logits.bytes);
    give(&d->graph_args, d, MYTH_MEM_GRAPH, d->graph_args.bytes);
}

static myth_status open_graphs(struct vk_device *d, uint32_t n_graph, myth_error *err)
{
    if (!n_graph)
        return MYTH_OK;
    d->graph = myth_alloc_n(d->base.mem, MYTH_MEM_GRAPH, "vulkan graphs", n_graph, sizeof(*d->graph));
    if (!d->graph)
        return myth_fail(err, MYTH_ENOMEM, "%s: %u graphs", d->base.caps.name, n_graph);
    for (uint32_t i = 0; i < n_graph; i++) {
        struct vk_graph *g = &d->graph[i];
        VkCommandPoolCreateInfo pool = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            .queueFamilyIndex = d->family,
        };
        VkResult r = VK_CALL(d, vkCreateCommandPool, d->device, &pool, NULL, &g->pool);
        VkCommandBufferAllocateInfo alloc = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = g->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        if (r == VK_SUCCESS)
            r = VK_CALL(d, vkAllocateCommandBuffers, d->device, &alloc, &g->cmd);
        if (r != VK_SUCCESS)
            return vk_fail(d, err, r, "graphs");
    }
    return MYTH_OK;
}

static myth_status take_work(struct vk_block *b, struct vk_device *d, myth_mem_class cls, uint64_t bytes,
                             const char *owner, myth_error *err)
{
    myth_status st = take(b, d, cls, d->traits.type_device, bytes, bytes, false, owner, err);
    return st == MYTH_OK && bytes ? vk_block_clear(d, b, err) : st;
}

static myth_status reserve(myth_device *dev, const myth_work_shape *shape, myth_error *err)
{
    struct vk_device *d = (struct vk_device *)(void *)dev;
    myth_status st = MYTH_OK;
    struct vk_work_bytes w;
    vk_work(&w, shape);
    MYTH_TRY(take_work(&d->activations, d, MYTH_MEM_ACTIVATIONS, w.activations, "vulkan work", err));
    MYTH_TRY(take_work(&d->attn_scratch, d, MYTH_MEM_ATTN_SCRATCH, w.attn_scratch, "vulkan attention", err));
    MYTH_TRY(take_work(&d->logits, d, MYTH_MEM_LOGITS, w.logits, "vulkan logits", err));
    MYTH_TRY(take(&d->graph_args, d, MYTH_MEM_GRAPH, d->traits.type_args, graph_bytes(shape), graph_bytes(shape), true,
                  "vulkan graphs", err));
    MYTH_TRY(open_graphs(d, shape->n_graph, err));
    return MYTH_OK;
fail:
    vk_drain(d);
    close_work(d, shape->n_graph);
    return st;
}

/* ---- open and close ---- */

static void close_device(myth_device *dev)
{
    struct vk_device *d = (struct vk_device *)(void *)dev;
    vk_drain(d);
    if (d->stream[VK_STREAM_MAX].base.dev)
        vk_stream_close(&d->stream[VK_STREAM_MAX].base);
    if (d->device) {
        vk_programs_close(d);
        close_work(d, d->base.shape.n_graph);
        give(&d->small, d, MYTH_MEM_FIXED, fixed_bytes);
        give(&d->args, d, MYTH_MEM_STAGING, args_bytes);
        give(&d->staging, d, MYTH_MEM_STAGING, staging_bytes);
    }
    vk_context_close(d);
    pthread_mutex_destroy(&d->queue_lock);
    pthread_mutex_destroy(&d->upload_lock);
    pthread_mutex_destroy(&d->memory_lock);
    pthread_mutex_destroy(&d->program_lock);
    myth_free(dev->mem, d->buf);
    myth_free(dev->mem, d);
}

static const struct myth_device_vtable vtable = {
    .close = close_device,
    .reserve = reserve,
    .buf_open = vk_buf_open,
    .buf_open_host = vk_buf_open_host,
    .buf_close = vk_buf_close,
    .stream_open = vk_stream_open,
    .stream_close = vk_stream_close,
    .write = vk_write,
    .read = vk_read,
    .weight_write = vk_weight_write,
    .sync = vk_sync,
    .mark = vk_mark,
    .wait = vk_wait,
    .begin_record = vk_begin_record,
    .end_record = vk_end_record,
    .replay = vk_replay,
    .graph_close = vk_graph_close,
};

static const struct myth_ops ops = {
    .embed_gather = vk_embed_gather,
    .rope_table = vk_rope_table,
    .rms_norm = vk_rms_norm,
    .add_low_rank = vk_add_low_rank,
    .qkv_rope_store = vk_qkv_rope_store,
    .kv_merge = vk_kv_merge,
    .geglu = vk_geglu,
    .gather_norm = vk_gather_norm,
    .decode_next = vk_decode_next,
    .copy = vk_copy,
    .capture_sum = vk_capture_sum,
    .proj = vk_proj,
    .norm_qkv_rope_store = vk_norm_qkv_rope_store,
    .attn_prefill = vk_attn_prefill,
    .attn_decode = vk_attn_decode,
    .attn_mass = vk_attn_mass,
    .norm_ffn_geglu = vk_norm_ffn_geglu,
    .head_topk = vk_head_topk,
    .head_logits = vk_head_logits,
    .ple_merge = vk_ple_merge,
    .ple_gate = vk_ple_gate,
    .moe_route = vk_moe_route,
    .moe_geglu = vk_moe_geglu,
    .moe_down = vk_moe_down,
    .altup_predict = vk_altup_predict,
    .altup_correct = vk_altup_correct,
    .altup_match = vk_altup_match,
    .laurel_merge = vk_laurel_merge,
    .geglu_sparse = vk_geglu_sparse,
};

static myth_status open_device(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    struct vk_device *d = myth_alloc(mem, MYTH_MEM_FIXED, "vulkan device", sizeof(*d));
    if (!d)
        return myth_fail(err, MYTH_ENOMEM, "%s: %zu bytes for the device", opts->name, sizeof(*d));
    d->base.mem = mem;
    d->base.vt = &vtable;
    d->base.ops = ops;
    d->base.has_decode_merge = true;
    d->base.log = opts->log;
    d->number = (uint32_t)myth_device_number(opts->name, "vulkan", VK_DEVICE_MAX);
    pthread_mutex_init(&d->queue_lock, NULL);
    pthread_mutex_init(&d->upload_lock, NULL);
    pthread_mutex_init(&d->memory_lock, NULL);
    pthread_mutex_init(&d->program_lock, NULL);
    d->buf = myth_alloc_n(mem, MYTH_MEM_FIXED, "vulkan buffers", VK_BUF_MAX, sizeof(*d->buf));
    if (!d->buf) {
        st =
            myth_fail(err, MYTH_ENOMEM, "%s: %zu bytes for the buffer table", opts->name, VK_BUF_MAX * sizeof(*d->buf));
        goto fail;
    }
    MYTH_TRY(vk_context_open(d, opts, err));
    const struct vk_traits *t = &d->traits;
    MYTH_TRY(take(&d->small, d, MYTH_MEM_FIXED, t->type_device, VK_SMALL_BLOCK, fixed_bytes, t->is_device_host,
                  "vulkan small buffers", err));
    MYTH_TRY(take(&d->args, d, MYTH_MEM_STAGING, t->type_args, args_bytes, args_bytes, true, "vulkan arguments", err));
    MYTH_TRY(take(&d->staging, d, MYTH_MEM_STAGING, t->type_staging, staging_bytes, staging_bytes, true,
                  "vulkan staging", err));
    MYTH_TRY(vk_programs_open(d, err));
    MYTH_TRY(vk_stream_start(d, &d->stream[VK_STREAM_MAX], err));
    *out = &d->base;
    return MYTH_OK;
fail:
    close_device(&d->base);
    return st;
}

const myth_device_kind myth_device_kind_vulkan = {
    .prefix = "vulkan",
    .ledger = 9,
    .n_max = VK_DEVICE_MAX,
    .open = open_device,
    .plan = plan,
    .list = vk_context_list,
};
