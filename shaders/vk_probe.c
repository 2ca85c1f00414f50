/* vk_probe.c - makes calls fail on demand and counts things, for tests. */
#include "vk_probe.h"

#include "vk.h"

static const VkResult failures[VK_PROBE_FAILURE_N] = {
    [VK_PROBE_HOST_MEMORY] = VK_ERROR_OUT_OF_HOST_MEMORY,
    [VK_PROBE_DEVICE_MEMORY] = VK_ERROR_OUT_OF_DEVICE_MEMORY,
    [VK_PROBE_INITIALIZATION] = VK_ERROR_INITIALIZATION_FAILED,
    [VK_PROBE_LOST] = VK_ERROR_DEVICE_LOST,
};

static struct vk_fault fault;

void vk_probe_fault(uint64_t nth, vk_probe_failure failure)
{
    fault = (struct vk_fault){.nth = nth, .result = failures[failure]};
    vk_fault = &fault;
}

void vk_probe_hog(uint64_t first, uint32_t one_in, uint64_t seed, vk_probe_failure failure)
{
    fault = (struct vk_fault){.nth = first, .one_in = one_in, .random = seed, .result = failures[failure]};
    vk_fault = &fault;
}

void vk_probe_memory(bool is_lying, bool is_silent, uint64_t budget, uint64_t usage)
{
    static struct vk_lie lie;
    lie = (struct vk_lie){.budget = budget, .usage = usage, .is_silent = is_silent};
    vk_lie = is_lying ? &lie : NULL;
}

uint64_t vk_probe_n_failed(void) { return fault.n_failed; }
uint64_t vk_probe_n_call(void) { return fault.n_call; }
const char *vk_probe_call(uint64_t nth)
{
    return nth && nth <= fault.n_call && nth <= VK_FAULT_SEEN ? fault.seen[nth - 1] : NULL;
}
const char *vk_probe_failed(void) { return fault.name; }
uint32_t vk_probe_n_message(void) { return (uint32_t)atomic_load(&vk_n_message); }

void vk_probe_plant(myth_stream *s, myth_view v) { vk_copy_bytes(s, v, v, 16); }

uint64_t vk_probe_driver_bytes(const myth_device *dev)
{
    const struct vk_device *d = (const struct vk_device *)(const void *)dev;
    return atomic_load(&d->driver_bytes);
}

bool vk_probe_large_block(const myth_device *dev, uint64_t *alloc_max)
{
    const struct vk_traits *t = &((const struct vk_device *)(const void *)dev)->traits;
    *alloc_max = t->alloc_max;
    return t->sparse_max > t->alloc_max;
}

uint64_t vk_probe_spirv_bytes(void)
{
    uint64_t n = 0;
    for (int i = 0; i < VK_SHADER_N; i++)
        n += vk_spirv[i].bytes;
    return n;
}

uint32_t vk_probe_n_dispatch(const myth_graph *g) { return ((const struct vk_graph *)(const void *)g)->n_dispatch; }
