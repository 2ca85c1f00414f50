/* vk_memory.c - blocks from the driver, buffers in them, every byte of a buffer in the ledger.
 *
 * Blocks   one allocation, one VkBuffer over it, one address. A buffer above VK_SMALL has a block of its own; the smaller ones lie in
 *          `small`, a bit per VK_ALIGN bytes, and take a block of their own when it is full
 * Ledger   a buffer books exactly its bytes. The small block is part of `fixed` beside them, and so is the rounding of VK_BUF_MAX blocks
 *          to VK_ALIGN: the ledger is never below what the driver was asked for
 * Heap     blocks past the heap's size or the largest allocation are refused here: drivers that back memory with pages of the host
 *          would take them                                                                                                            */
#include "vk.h"

#include <string.h>

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static VkResult make_block(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, bool is_mapped)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = round_up(bytes, VK_ALIGN),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT };
    VkResult r = VK_CALL(d, vkCreateBuffer, d->device, &info, NULL, &b->buffer);
    if (r != VK_SUCCESS)
        return r;
    VkMemoryRequirements need;
    d->fn.vkGetBufferMemoryRequirements(d->device, b->buffer, &need);
    if (!(need.memoryTypeBits >> type & 1))
        return VK_ERROR_FEATURE_NOT_PRESENT;
    VkMemoryAllocateFlagsInfo flags = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT };
    VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = need.size,
                                   .memoryTypeIndex = type };
    if ((r = VK_CALL(d, vkAllocateMemory, d->device, &alloc, NULL, &b->memory)) != VK_SUCCESS)
        return r;
    b->driver_bytes = need.size;
    atomic_fetch_add(&d->driver_bytes, need.size);
    if ((r = VK_CALL(d, vkBindBufferMemory, d->device, b->buffer, b->memory, 0)) != VK_SUCCESS)
        return r;
    if (is_mapped) {
        void *host;
        if ((r = VK_CALL(d, vkMapMemory, d->device, b->memory, 0, VK_WHOLE_SIZE, 0, &host)) != VK_SUCCESS)
            return r;
        b->host = host;
    }
    b->addr = d->fn.vkGetBufferDeviceAddress(
        d->device, &(VkBufferDeviceAddressInfo){ .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b->buffer });
    b->bytes = bytes;
    return VK_SUCCESS;
}

myth_status vk_block_open(struct vk_block *b, struct vk_device *d, uint32_t type, uint64_t bytes, bool is_mapped, const char *owner,
                          myth_error *err)
{
    const struct vk_traits *t = &d->traits;
    uint64_t used = atomic_load(&d->driver_bytes), left = t->heap_bytes > used ? t->heap_bytes - used : 0;
    memset(b, 0, sizeof(*b));
    if (bytes > t->alloc_max)
        return myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes; one allocation of this driver holds at most %llu", d->base.caps.name, owner,
                         (unsigned long long)bytes, (unsigned long long)t->alloc_max);
    if (bytes > left)
        return myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes; the heap of %llu has %llu left", d->base.caps.name, owner,
                         (unsigned long long)bytes, (unsigned long long)t->heap_bytes, (unsigned long long)left);
    VkResult r = make_block(b, d, type, bytes, is_mapped);
    if (r == VK_SUCCESS)
        return MYTH_OK;
    vk_block_close(b, d);
    return vk_fail(d, err, r, owner);
}

void vk_block_close(struct vk_block *b, struct vk_device *d)
{
    if (b->buffer)
        d->fn.vkDestroyBuffer(d->device, b->buffer, NULL);
    if (b->memory)
        d->fn.vkFreeMemory(d->device, b->memory, NULL);
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

/* First place of n free units, or UINT32_MAX. */
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

myth_status vk_buf_open(myth_buf **out, myth_device *dev, myth_mem_class cls, const char *owner, uint64_t bytes, myth_error *err)
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
    if (!myth_mem_book(dev->mem, dev->caps.ledger, cls, owner, bytes)) {
        st = myth_fail(err, MYTH_ENOMEM, "%s: %s: %llu bytes do not fit the limit of %llu", dev->caps.name, owner, (unsigned long long)bytes,
                       (unsigned long long)myth_mem_limit(dev->mem, dev->caps.ledger));
        goto done;
    }
    if ((st = place(b, d, owner, bytes, err)) != MYTH_OK) {
        myth_mem_unbook(dev->mem, dev->caps.ledger, cls, bytes);
        goto done;
    }
    b->base = (struct myth_buf){ .dev = dev, .bytes = bytes, .cls = cls };
    *out = &b->base;
done:
    pthread_mutex_unlock(&d->memory_lock);
    return st;
}

myth_status vk_buf_wrap(myth_buf **out, myth_device *dev, const void *base, uint64_t bytes, myth_error *err)
{
    (void)out, (void)base, (void)bytes;
    return myth_fail(err, MYTH_EDEVICE, "%s: host memory cannot be used in place", dev->caps.name);
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
    myth_mem_unbook(b->base.dev->mem, b->base.dev->caps.ledger, b->base.cls, b->base.bytes);
    memset(b, 0, sizeof(*b));
    pthread_mutex_unlock(&d->memory_lock);
}
