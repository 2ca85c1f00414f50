/* vk_probe.h - what tests can do to the Vulkan device and ask about it, without including a Vulkan header.
 *
 * Faults   after vk_probe_fault, the nth call (from 1) of the process that can fail is not made and returns the given
 *          failure, once. nth 0 turns this off. After vk_probe_hog calls from the first-th on do, each by chance one
 *          in so many, as if somebody else took and gave memory
 * Memory   while vk_probe_memory is lying, it says in the driver's place how much memory this process may use and how
 *          much it does; is_silent: the driver does not know
 * Threads  one at a time
 * Builds   only with MYTH_HAS_VULKAN */
#ifndef MYTH_VK_PROBE_H
#define MYTH_VK_PROBE_H

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    VK_PROBE_HOST_MEMORY,
    VK_PROBE_DEVICE_MEMORY,
    VK_PROBE_INITIALIZATION,
    VK_PROBE_LOST,
    VK_PROBE_FAILURE_N
} vk_probe_failure;

void vk_probe_fault(uint64_t nth, vk_probe_failure failure);
void vk_probe_hog(uint64_t first, uint32_t one_in, uint64_t seed, vk_probe_failure failure);
void vk_probe_memory(bool is_lying, bool is_silent, uint64_t budget, uint64_t usage);
uint64_t vk_probe_n_failed(void);        /* calls that failed since                      */
uint64_t vk_probe_n_call(void);          /* calls that can fail since vk_probe_fault     */
const char *vk_probe_call(uint64_t nth); /* name of the n-th of these calls; NULL past the first 1,024 */
const char *vk_probe_failed(void);       /* name of the call that failed; NULL = none did */

/* How many warnings and errors the validation layer (settings.vk_validate) has given so far, for all devices. */
uint32_t vk_probe_n_message(void);
/* Issues a copy of a range onto itself, a mistake that the validation layer must report. */
void vk_probe_plant(myth_stream *s, myth_view v);
/* Bytes that the driver has allocated for this device. */
uint64_t vk_probe_driver_bytes(const myth_device *dev);
/* True when a buffer may be larger than one allocation; *alloc_max is the size of the largest allocation. */
bool vk_probe_large_block(const myth_device *dev, uint64_t *alloc_max);
uint64_t vk_probe_spirv_bytes(void); /* bytes of all modules of the build */
uint32_t vk_probe_n_dispatch(const myth_graph *g);

#ifdef __cplusplus
}
#endif
#endif
