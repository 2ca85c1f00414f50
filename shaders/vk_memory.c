/* vk_memory.c - blocks of memory from the driver, buffers inside them, and the ledger of all their bytes.
 *
 * Blocks   a block is one VkBuffer with one address, as a rule in one allocation. A buffer above VK_SMALL has its own
 *          block. Smaller ones share the block `small`, which has a bit per VK_ALIGN bytes, and get their own block
 *          when it is full
 * Ledger   a buffer books exactly its bytes. The class `fixed` contains the small block and the rounding of VK_BUF_MAX
 *          blocks to VK_ALIGN, so the ledger is never below what the driver was asked for
 * Large    a block larger than the largest allocation is one VkBuffer over several allocations, bound sparsely where
 *          the driver can do that. It is never mapped. The software driver cannot, so only tests on a GPU reach it
 * Host     a buffer in host memory has its own block, which is mapped and, where possible, not of the device's memory
 *          type. It is booked on the host's ledger. Where host memory is a heap of its own, the block does not count
 *          for the device's heap
 * Heap     blocks past the heap's size or the largest allocation are refused here, because drivers that back memory
 *          with pages of the host would accept them */
#include "vk.h"

#include <string.h>

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static VkResult allocate(VkDeviceMemory *out, struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes)
{
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = bytes,
        .memoryTypeIndex = type,
    };
    VkResult r = VK_CALL(d, vkAllocateMemory, d->device, &info, NULL, out);
    if (r == VK_SUCCESS && !b->is_apart) {
        b->driver_bytes += bytes;
        atomic_fetch_add(&d->driver_bytes, bytes);
    }
    return r;
}

static VkResult bind_one(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, bool is_mapped)
{
    void *host;
    VkResult r = allocate(&b->memory, b, d, type, bytes);
    if (r == VK_SUCCESS)
        r = VK_CALL(d, vkBindBufferMemory, d->device, b->buffer, b->memory, 0);
    if (r != VK_SUCCESS || !is_mapped)
        return r;
    if ((r = VK_CALL(d, vkMapMemory, d->device, b->memory, 0, VK_WHOLE_SIZE, 0, &host)) == VK_SUCCESS)
        b->host = host;
    return r;
}

/* The first of n free neighbours in the table of chunks, or VK_CHUNK_MAX. */
static uint32_t find_chunks(const struct vk_device *d, uint64_t n)
{
    uint64_t n_free = 0;
    for (uint32_t i = 0; i < VK_CHUNK_MAX; i++) {
        n_free = d->chunk[i] ? 0 : n_free + 1;
        if (n_free == n)
            return i + 1 - (uint32_t)n;
    }
    return VK_CHUNK_MAX;
}

static VkResult bind_several(struct vk_block *b, struct vk_device *d, uint32_t type, const VkMemoryRequirements *need)
{
    VkSparseMemoryBind bind[VK_CHUNK_MAX];
    const uint64_t chunk = d->traits.alloc_max / need->alignment * need->alignment,
                   n = (need->size + chunk - 1) / chunk;
    b->chunk0 = find_chunks(d, n);
    if (b->chunk0 == VK_CHUNK_MAX)
        return VK_ERROR_TOO_MANY_OBJECTS;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = i * chunk, bytes = need->size - at < chunk ? need->size - at : chunk;
        VkResult r = allocate(&d->chunk[b->chunk0 + i], b, d, type, bytes);
        if (r != VK_SUCCESS)
            return r;
        b->n_chunk++;
        bind[i] = (VkSparseMemoryBind){.resourceOffset = at, .size = bytes, .memory = d->chunk[b->chunk0 + i]};
    }
    VkSparseBufferMemoryBindInfo buffer = {.buffer = b->buffer, .bindCount = (uint32_t)n, .pBinds = bind};
    VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .bufferBindCount = 1,
        .pBufferBinds = &buffer,
    };
    VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    VkResult r = VK_CALL(d, vkCreateFence, d->device, &fence_info, NULL, &fence);
    if (r != VK_SUCCESS)
        return r;
    pthread_mutex_lock(&d->queue_lock);
    r = VK_CALL(d, vkQueueBindSparse, d->queue, 1, &info, fence);
    if (r == VK_SUCCESS)
        r = VK_CALL(d, vkWaitForFences, d->device, 1, &fence, VK_TRUE, UINT64_MAX);
    if (r != VK_SUCCESS)
        d->fn.vkDeviceWaitIdle(d->device);
    pthread_mutex_unlock(&d->queue_lock);
    d->fn.vkDestroyFence(d->device, fence, NULL);
    return r;
}

static VkResult make_views(struct vk_block *b, struct vk_device *d, uint64_t bytes)
{
    VkBufferViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = b->buffer,
        .format = VK_FORMAT_R32G32B32A32_UINT,
        .range = VK_WHOLE_SIZE,
    };
    if (!d->traits.has_texels || bytes > INT32_MAX - VK_ALIGN || bytes / 8 >= d->traits.texel_max)
        return VK_SUCCESS;
    VkResult r = VK_CALL(d, vkCreateBufferView, d->device, &info, NULL, &b->words);
    info.format = VK_FORMAT_R32G32_UINT;
    return r == VK_SUCCESS ? VK_CALL(d, vkCreateBufferView, d->device, &info, NULL, &b->pairs) : r;
}

static VkResult make_block(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, bool is_mapped)
{
    const bool is_sparse = bytes > d->traits.alloc_max;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = is_sparse ? VK_BUFFER_CREATE_SPARSE_BINDING_BIT : 0,
        .size = round_up(bytes, VK_ALIGN),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 (d->traits.has_texels ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0),
    };
    VkResult r = VK_CALL(d, vkCreateBuffer, d->device, &info, NULL, &b->buffer);
    if (r != VK_SUCCESS)
        return r;
    VkMemoryRequirements need;
    d->fn.vkGetBufferMemoryRequirements(d->device, b->buffer, &need);
    if (!(need.memoryTypeBits >> type & 1))
        return VK_ERROR_FEATURE_NOT_PRESENT;
    r = is_sparse ? bind_several(b, d, type, &need) : bind_one(b, d, type, need.size, is_mapped);
    if (r != VK_SUCCESS)
        return r;
    if (type == d->traits.type_device && (r = make_views(b, d, bytes)) != VK_SUCCESS)
        return r;
    b->addr = d->fn.vkGetBufferDeviceAddress(
        d->device,
        &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b->buffer});
    b->bytes = bytes;
    return VK_SUCCESS;
}

/* Opens a block of at most `most` bytes. b is zeroed except for is_apart. */
static myth_status open_block(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, uint64_t most,
                              bool is_mapped, const char *owner, myth_error *err)
{
    const struct vk_traits *t = &d->traits;
    const uint64_t heap = b->is_apart ? t->host_heap_bytes : t->heap_bytes,
                   used = b->is_apart ? 0 : atomic_load(&d->driver_bytes);
    const uint64_t left = heap > used ? heap - used : 0;
    if (bytes > most)
        return myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes; one buffer of this driver holds at most %llu",
                         d->base.caps.name, owner, (unsigned long long)bytes, (unsigned long long)most);
    if (bytes > left)
        return myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes; the heap of %llu has %llu left", d->base.caps.name,
                         owner, (unsigned long long)bytes, (unsigned long long)heap, (unsigned long long)left);
    VkResult r = make_block(b, d, type, bytes, is_mapped);
    if (r == VK_SUCCESS)
        return MYTH_OK;
    vk_block_close(b, d);
    return vk_fail(d, err, r, owner);
}

myth_status vk_block_open(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, bool is_mapped,
                          const char *owner, myth_error *err)
{
    const struct vk_traits *t = &d->traits;
    memset(b, 0, sizeof(*b));
    return open_block(b, d, type, bytes, t->sparse_max > t->alloc_max ? t->sparse_max : t->alloc_max, is_mapped, owner,
                      err);
}

myth_status vk_block_open_host(struct vk_block *b, struct vk_device *d, uint64_t bytes, const char *owner,
                               myth_error *err)
{
    memset(b, 0, sizeof(*b));
    b->is_apart = d->traits.host_heap_bytes > 0;
    return open_block(b, d, d->traits.type_host, bytes, d->traits.alloc_max, true, owner, err);
}

void vk_block_close(struct vk_block *b, struct vk_device *d)
{
    if (b->words)
        d->fn.vkDestroyBufferView(d->device, b->words, NULL);
    if (b->pairs)
        d->fn.vkDestroyBufferView(d->device, b->pairs, NULL);
    if (b->buffer)
        d->fn.vkDestroyBuffer(d->device, b->buffer, NULL);
    if (b->memory)
        d->fn.vkFreeMemory(d->device, b->memory, NULL);
    for (uint32_t i = 0; i < b->n_chunk; i++) {
        d->fn.vkFreeMemory(d->device, d->chunk[b->chunk0 + i], NULL);
        d->chunk[b->chunk0 + i] = VK_NULL_HANDLE;
    }
    atomic_fetch_sub(&d->driver_bytes, b->driver_bytes);
    memset(b, 0, sizeof(*b));
}

/* ---- the small block ---- */

enum { UNIT_N = VK_SMALL_BLOCK / VK_ALIGN };

static bool is_used(const struct vk_device *d, uint32_t unit) { return d->small_used[unit / 64] >> unit % 64 & 1; }

static void mark(struct vk_device *d, uint32_t unit, uint32_t n, bool is_now_used)
{
    for (uint32_t i = unit; i < unit + n; i++)
        if (is_now_used)
            d->small_used[i / 64] |= 1ull << i % 64;
        else
            d->small_used[i / 64] &= ~(1ull << i % 64);
}

/* The first of n free neighbouring units, or UINT32_MAX. */
static uint32_t find_place(const struct vk_device *d, uint32_t n)
{
    uint32_t n_free = 0;
    for (uint32_t i = 0; i < UNIT_N; i++) {
        n_free = is_used(d, i) ? 0 : n_free + 1;
        if (n_free == n)
            return i + 1 - n;
    }
    return UINT32_MAX;
}

static uint32_t n_unit(uint64_t bytes) { return (uint32_t)(round_up(bytes, VK_ALIGN) / VK_ALIGN); }

/* ---- buffers ---- */

static struct vk_buf *take_slot(struct vk_device *d)
{
    for (uint32_t i = 0; i < VK_BUF_MAX; i++)
        if (!d->buf[i].base.dev)
            return &d->buf[i];
    return NULL;
}

static myth_status place(struct vk_buf *b, struct vk_device *d, const char *owner, uint64_t bytes, myth_error *err)
{
    uint32_t unit = bytes <= VK_SMALL ? find_place(d, n_unit(bytes)) : UINT32_MAX;
    if (unit != UINT32_MAX) {
        mark(d, unit, n_unit(bytes), true);
        b->block = &d->small;
        b->off = (uint64_t)unit * VK_ALIGN;
        return MYTH_OK;
    }
    b->block = &b->own;
    return vk_block_open(&b->own, d, d->traits.type_device, bytes, d->traits.is_device_host, owner, err);
}

static myth_status open_at(myth_buf **out, myth_device *dev, int ledger, myth_mem_class cls, const char *owner,
                           uint64_t bytes, myth_error *err)
{
    struct vk_device *d = (struct vk_device *)(void *)dev;
    myth_status st;
    if (atomic_load(&d->is_lost))
        return vk_fail(d, err, VK_ERROR_DEVICE_LOST, owner);
    pthread_mutex_lock(&d->memory_lock);
    struct vk_buf *b = take_slot(d);
    if (!b) {
        st = myth_fail(err, MYTH_EFULL, "%s: all %d buffers are in use", dev->caps.name, VK_BUF_MAX);
        goto done;
    }
    memset(b, 0, sizeof(*b));
    if (!myth_mem_book(dev->mem, ledger, cls, owner, bytes)) {
        st = myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes%s do not fit the limit of %llu", dev->caps.name, owner,
                       (unsigned long long)bytes, ledger == MYTH_MEM_HOST ? " of host memory" : "",
                       (unsigned long long)myth_mem_limit(dev->mem, ledger));
        goto done;
    }
    b->block = &b->own;
    st = ledger == MYTH_MEM_HOST ? vk_block_open_host(&b->own, d, bytes, owner, err) : place(b, d, owner, bytes, err);
    if (st != MYTH_OK) {
        myth_mem_unbook(dev->mem, ledger, cls, bytes);
        goto done;
    }
    b->base =
        (struct myth_buf){.dev = dev, .bytes = bytes, .cls = cls, .host = ledger == MYTH_MEM_HOST ? b->own.host : NULL};
    *out = &b->base;
done:
    pthread_mutex_unlock(&d->memory_lock);
    return st;
}

myth_status vk_buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                        myth_error *err)
{
    return open_at(out, dev, dev->caps.ledger, cls, owner, bytes, err);
}

myth_status vk_buf_open_host(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes,
                             myth_error *err)
{
    return open_at(out, dev, MYTH_MEM_HOST, cls, owner, bytes, err);
}

void vk_buf_close(myth_buf *buf)
{
    struct vk_buf *b = (struct vk_buf *)(void *)buf;
    struct vk_device *d = (struct vk_device *)(void *)buf->dev;
    vk_drain(d);
    pthread_mutex_lock(&d->memory_lock);
    if (b->block == &d->small)
        mark(d, (uint32_t)(b->off / VK_ALIGN), n_unit(b->base.bytes), false);
    else
        vk_block_close(&b->own, d);
    myth_mem_unbook(b->base.dev->mem, b->base.host ? MYTH_MEM_HOST : b->base.dev->caps.ledger, b->base.cls,
                    b->base.bytes);
    memset(b, 0, sizeof(*b));
    pthread_mutex_unlock(&d->memory_lock);
}
