/* test_again.c - forwards that fail in the middle and are done again (tests/engine/run/again.h), on Vulkan.
 *
 * Messages  a driver that fails vkEndCommandBuffer leaves the buffer invalid, and it may be begun again. Here the call
 *           is not made, the buffer still records, and the validation layer says so when it is begun again */
#include "vulkan.h"

#ifndef MYTH_HAS_VULKAN
int main(void) { return vulkan_run(NULL); }
#else

#define AGAIN_DEVICE  "vulkan:0"
#define AGAIN_LOG     &vulkan_log
#define AGAIN_NEXT(n) ((n) + 1)
#include "tests/engine/run/again.h"

static uint32_t n_known; /* messages of the kind above */
static uint32_t messages_before;

static void begin_failing(uint64_t nth)
{
    messages_before = vk_probe_n_message();
    vk_probe_fault(nth, nth % 2 ? VK_PROBE_DEVICE_MEMORY : VK_PROBE_HOST_MEMORY);
}

static bool end_failing(void)
{
    const char *name = vk_probe_failed();
    if (name && strcmp(name, "vkEndCommandBuffer") == 0)
        n_known += vk_probe_n_message() > messages_before;
    vk_probe_fault(0, VK_PROBE_LOST);
    return name != NULL;
}

int main(void)
{
    const char *reason = vulkan_missing();
    if (reason) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    const int n_failed = again_run();
    printf("validation: %u messages, %u of them known\n", vk_probe_n_message(), n_known);
    return n_failed || vk_probe_n_message() != n_known;
}
#endif
