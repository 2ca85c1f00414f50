/* vulkan.h - what the tests of the Vulkan device share: skipped where it cannot run, always under the validation layer.
 *
 * Checks   vulkan_run answers 77 with the reason when the build or the machine has no device, else what the tests say,
 *          and 1 when the validation layer had anything to say */
#ifndef MYTH_TESTS_VULKAN_H
#define MYTH_TESTS_VULKAN_H

#include "tests/support/check.h"

#include "kernels/device.h"

#ifdef MYTH_HAS_VULKAN
#include "shaders/vk_probe.h"

static inline void vulkan_print(void *user, myth_log_level level, const char *component, const char *line)
{
    (void)user, (void)level;
    printf("%s: %s\n", component, line);
}

static const myth_log vulkan_log = {vulkan_print, NULL, MYTH_LOG_WARN};
static const myth_device_opts vulkan_opts = {.name = "vulkan:0", .log = &vulkan_log, .settings.vk_validate = true};

/* NULL when vulkan:0 can be opened with validation, else why not. */
static inline const char *vulkan_missing(void)
{
    static myth_error err;
    myth_mem *mem;
    myth_device *dev;
    setenv("MYTHOS_VK_VALIDATE", "1", 1); /* for rig_open, which reads it */
    if (myth_mem_open(&mem, 0, &err) != MYTH_OK)
        return err.msg;
    if (myth_device_open(&dev, mem, &vulkan_opts, &err) != MYTH_OK)
        return err.msg;
    myth_device_close(dev);
    myth_mem_close(mem);
    return NULL;
}

static inline int vulkan_run(int (*tests)(void))
{
    const char *reason = vulkan_missing();
    if (reason) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    int n_failed = tests();
    printf("validation: %u messages\n", vk_probe_n_message());
    return n_failed || vk_probe_n_message();
}
#else
static inline int vulkan_run(int (*tests)(void))
{
    (void)tests;
    printf("skipped: built without Vulkan\n");
    return CHECK_SKIP;
}
#endif

#endif
