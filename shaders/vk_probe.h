/* vk_probe.h - what tests ask of the Vulkan device, without a Vulkan header.
 *
 * Faults   the n-th call of the process (from 1) that can fail is not made and answers the given failure, once; counted
 *          since vk_probe_fault, which nth 0 turns off. One thread at a time
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
uint64_t vk_probe_n_call(void);          /* since vk_probe_fault                         */
const char *vk_probe_call(uint64_t nth); /* name of the n-th of them, of the first 1,024; else NULL */
const char *vk_probe_failed(void);       /* name of the call that failed; NULL = none did */

/* Messages (warnings and errors) of the validation layer over all devices so far; settings.vk_validate turns it on. */
uint32_t vk_probe_n_message(void);
/* Issues a copy onto itself, which the validation layer must complain about. */
void vk_probe_plant(myth_stream *s, myth_view v);
/* Bytes the driver holds for this device. */
uint64_t vk_probe_driver_bytes(const myth_device *dev);
/* Whether a buffer may be larger than one allocation; *alloc_max is the largest of those. */
bool vk_probe_large_block(const myth_device *dev, uint64_t *alloc_max);
uint64_t vk_probe_spirv_bytes(void); /* all modules of the build */
uint32_t vk_probe_n_dispatch(const myth_graph *g);

#ifdef __cplusplus
}
#endif
#endif
