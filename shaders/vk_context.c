/* vk_context.c - the loader, an instance, the chosen device and its features; errors, faults and messages of the
 * validation layer.
 *
 * Numbers    vulkan:N is the N-th physical device in the loader's order
 * Needs      Vulkan 1.3; buffer addresses, scalar block layout, 8 and 16 bit storage, 8 and 64 bit integers, timeline
 *            semaphores, subgroup arithmetic and shuffle. A device that lacks one of them is refused, and the message
 *            names what it lacks
 * Validation settings.vk_validate turns on the Khronos layer with synchronisation checks; each warning or error is
 *            logged and counted */
#define _GNU_SOURCE
#include "vk.h"

#include <stdio.h>
#include <string.h>

struct vk_fault *vk_fault;
const struct vk_lie *vk_lie;
atomic_uint_fast32_t vk_n_message;

static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER;

VkResult vk_inject(const char *name)
{
    if (vk_fault->n_call < VK_FAULT_SEEN)
        vk_fault->seen[vk_fault->n_call] = name;
    const uint64_t n = ++vk_fault->n_call;
    if (vk_fault->one_in) {
        vk_fault->random = vk_fault->random * 6364136223846793005u + 1442695040888963407u;
        if (n < vk_fault->nth || (vk_fault->random >> 33) % vk_fault->one_in)
            return VK_SUCCESS;
    } else if (n != vk_fault->nth) {
        return VK_SUCCESS;
    }
    vk_fault->n_failed++;
    vk_fault->name = name;
    return vk_fault->result;
}

/* ---- errors ---- */

const char *vk_result_name(VkResult r)
{
    switch (r) {
    case VK_SUCCESS: return "success";
    case VK_TIMEOUT: return "no answer in time";
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_FRAGMENTED_POOL: return "memory is fragmented";
    case VK_ERROR_TOO_MANY_OBJECTS: return "too many objects";
    case VK_ERROR_INITIALIZATION_FAILED: return "initialization failed";
    case VK_ERROR_DEVICE_LOST: return "device lost";
    case VK_ERROR_MEMORY_MAP_FAILED: return "memory cannot be mapped";
    case VK_ERROR_LAYER_NOT_PRESENT: return "layer not present";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "extension not present";
    case VK_ERROR_FEATURE_NOT_PRESENT: return "feature not present";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "incompatible driver";
    default: return "unknown error";
    }
}

myth_status vk_fail(struct vk_device *d, myth_error *err, VkResult r, const char *what)
{
    myth_status st = MYTH_EDEVICE;
    switch (r) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED: st = MYTH_ENOMEM; break;
    case VK_ERROR_DEVICE_LOST:
    case VK_TIMEOUT:
        st = MYTH_ELOST;
        atomic_store(&d->is_lost, true);
        break;
    default: break;
    }
    return myth_fail(err, st, "vulkan:%u: %s: %s (%d)", d->number, what, vk_result_name(r), (int)r);
}

/* ---- validation ---- */

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT type,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    struct vk_device *d = user;
    (void)severity, (void)type;
    atomic_fetch_add(&vk_n_message, 1);
    myth_logf(d->base.log, MYTH_LOG_ERROR, "vulkan", "%s", data->pMessage);
    return VK_FALSE;
}

/* ---- instance ---- */

/* Opens an instance of Vulkan 1.3 and loads its functions. d is NULL when devices are only listed. With is_checked the
 * instance runs under the validation layer, whose messages go to d's log. */
static VkResult open_instance(VkInstance *out, struct vk_device *d, bool is_checked)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation", *const debug = "VK_EXT_debug_utils";
    static const VkValidationFeatureEnableEXT enable[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enable,
    };
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .pNext = &features,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = d,
    };
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "mythos",
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    if (is_checked) {
        info.pNext = &messenger;
        info.enabledLayerCount = info.enabledExtensionCount = 1;
        info.ppEnabledLayerNames = &layer;
        info.ppEnabledExtensionNames = &debug;
    }
    pthread_mutex_lock(&loader_lock);
    VkResult r = vkCreateInstance ? VK_SUCCESS : volkInitialize();
    if (r == VK_SUCCESS && vk_fault)
        r = vk_inject("vkCreateInstance");
    if (r == VK_SUCCESS && volkGetInstanceVersion() < VK_API_VERSION_1_3)
        r = VK_ERROR_INCOMPATIBLE_DRIVER;
    if (r == VK_SUCCESS)
        r = vkCreateInstance(&info, NULL, out);
    if (r == VK_SUCCESS)
        volkLoadInstanceOnly(*out); /* the loader's functions serve every instance */
    pthread_mutex_unlock(&loader_lock);
    if (r == VK_SUCCESS && is_checked) {
        messenger.pNext = NULL;
        if (vk_fault && vk_inject("vkCreateDebugUtilsMessengerEXT") != VK_SUCCESS)
            r = vk_fault->result;
        else
            r = vkCreateDebugUtilsMessengerEXT(*out, &messenger, NULL, &d->messenger);
        if (r != VK_SUCCESS) {
            vkDestroyInstance(*out, NULL);
            *out = VK_NULL_HANDLE;
        }
    }
    return r;
}

static uint32_t list_physical(VkPhysicalDevice out[VK_DEVICE_MAX], VkInstance instance)
{
    uint32_t n = VK_DEVICE_MAX;
    VkResult r = vkEnumeratePhysicalDevices(instance, &n, out);
    return r == VK_SUCCESS || r == VK_INCOMPLETE ? n : 0;
}

/* ---- what a device can do ---- */

struct facts {
    VkPhysicalDeviceProperties2 props;
    VkPhysicalDeviceVulkan11Properties props11;
    VkPhysicalDeviceVulkan12Properties props12;
    VkPhysicalDeviceVulkan13Properties props13;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features features11;
    VkPhysicalDeviceVulkan12Features features12;
    VkPhysicalDeviceVulkan13Features features13;
};

static void ask(struct facts *f, VkPhysicalDevice physical)
{
    memset(f, 0, sizeof(*f));
    f->props13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
    f->props12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    f->props12.pNext = &f->props13;
    f->props11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    f->props11.pNext = &f->props12;
    f->props.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    vkGetPhysicalDeviceProperties2(physical, &f->props);
    if (f->props.properties.apiVersion < VK_API_VERSION_1_3)
        return;
    f->props.pNext = &f->props11;
    vkGetPhysicalDeviceProperties2(physical, &f->props);
    f->features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    f->features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->features12.pNext = &f->features13;
    f->features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->features11.pNext = &f->features12;
    f->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->features.pNext = &f->features11;
    vkGetPhysicalDeviceFeatures2(physical, &f->features);
}

/* The first thing that the device lacks; NULL = it has all that is needed. */
static const char *missing(const struct facts *f)
{
    const VkSubgroupFeatureFlags ops =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    if (f->props.properties.apiVersion < VK_API_VERSION_1_3)
        return "Vulkan 1.3";
    if (!f->features12.bufferDeviceAddress)
        return "bufferDeviceAddress";
    if (!f->features12.scalarBlockLayout)
        return "scalarBlockLayout";
    if (!f->features12.timelineSemaphore)
        return "timelineSemaphore";
    if (!f->features12.storageBuffer8BitAccess)
        return "storageBuffer8BitAccess";
    if (!f->features11.storageBuffer16BitAccess)
        return "storageBuffer16BitAccess";
    if (!f->features12.shaderInt8)
        return "shaderInt8";
    if (!f->features.features.shaderInt64)
        return "shaderInt64";
    if (!f->features13.maintenance4)
        return "maintenance4";
    if ((f->props11.subgroupSupportedOperations & ops) != ops)
        return "subgroup arithmetic and shuffle";
    if (f->props11.subgroupSize < 4 || f->props11.subgroupSize > 128)
        return "a subgroup size from 4 to 128";
    if (f->props.properties.limits.maxComputeWorkGroupInvocations < 256)
        return "workgroups of 256";
    return NULL;
}

static bool has_extension(VkPhysicalDevice physical, const char *name)
{
    VkExtensionProperties ext[512];
    uint32_t n = sizeof(ext) / sizeof(ext[0]);
    VkResult r = vkEnumerateDeviceExtensionProperties(physical, NULL, &n, ext);
    for (uint32_t i = 0; (r == VK_SUCCESS || r == VK_INCOMPLETE) && i < n; i++)
        if (strcmp(ext[i].extensionName, name) == 0)
            return true;
    return false;
}

enum { FAMILY_MAX = 16 };

/* A queue family that computes, preferably one without graphics, whose queues run beside those of a desktop. */
static uint32_t find_family(VkPhysicalDevice physical)
{
    VkQueueFamilyProperties family[FAMILY_MAX];
    uint32_t n = FAMILY_MAX, best = UINT32_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, family);
    for (uint32_t i = 0; i < n; i++) {
        if (!(family[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || !family[i].queueCount)
            continue;
        if (!(family[i].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            return i;
        best = best == UINT32_MAX ? i : best;
    }
    return best;
}

/* The first memory type that has all flags of `want`, else UINT32_MAX. */
static uint32_t find_type(const VkPhysicalDeviceMemoryProperties *m, VkMemoryPropertyFlags want)
{
    for (uint32_t i = 0; i < m->memoryTypeCount; i++)
        if ((m->memoryTypes[i].propertyFlags & want) == want)
            return i;
    return UINT32_MAX;
}

/* The memory type that the host writes and shaders read over the bus. Types outside the device's own memory are
 * preferred, and among them cached ones, since caching makes the bus no slower. */
static uint32_t find_host_type(const VkPhysicalDeviceMemoryProperties *m, VkMemoryPropertyFlags coherent)
{
    for (int loose = 0; loose < 4; loose++) /* not the device's and cached, not the device's, cached, any */
        for (uint32_t i = 0; i < m->memoryTypeCount; i++) {
            const VkMemoryPropertyFlags flags = m->memoryTypes[i].propertyFlags;
            if ((flags & coherent) == coherent && (loose & 1 || flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) &&
                (loose & 2 || !(flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)))
                return i;
        }
    return UINT32_MAX;
}

static bool choose_memory(struct vk_traits *t, VkPhysicalDevice physical)
{
    const VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties m;
    vkGetPhysicalDeviceMemoryProperties(physical, &m);
    t->type_device = UINT32_MAX;
    t->heap_bytes = 0;
    /* Device memory is the first type in the largest device-local heap. */
    for (uint32_t i = 0; i < m.memoryTypeCount; i++) {
        const VkMemoryType *type = &m.memoryTypes[i];
        if ((type->propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
            m.memoryHeaps[type->heapIndex].size > t->heap_bytes) {
            t->type_device = i;
            t->heap = type->heapIndex;
            t->heap_bytes = m.memoryHeaps[type->heapIndex].size;
        }
    }
    t->type_args = find_type(&m, coherent | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (t->type_args == UINT32_MAX)
        t->type_args = find_type(&m, coherent);
    t->type_staging = find_type(&m, coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    if (t->type_staging == UINT32_MAX)
        t->type_staging = find_type(&m, coherent);
    t->type_host = find_host_type(&m, coherent);
    if (t->type_device == UINT32_MAX || t->type_args == UINT32_MAX || t->type_staging == UINT32_MAX ||
        t->type_host == UINT32_MAX)
        return false;
    const uint32_t host_heap = m.memoryTypes[t->type_host].heapIndex;
    t->host_heap_bytes = host_heap == t->heap ? 0 : m.memoryHeaps[host_heap].size;
    VkMemoryPropertyFlags flags = m.memoryTypes[t->type_device].propertyFlags;
    t->is_device_host = (flags & coherent) == coherent;
    t->is_device_cached = t->is_device_host && (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    return true;
}

static void fill_traits(struct vk_traits *t, const struct facts *f, VkPhysicalDevice physical, uint32_t family,
                        bool no_texels)
{
    const VkPhysicalDeviceVulkan13Properties *p = &f->props13;
    VkQueueFamilyProperties queue[FAMILY_MAX];
    uint32_t n_family = FAMILY_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &n_family, queue);
    t->subgroup = f->props11.subgroupSize;
    t->has_subgroup_control = f->features13.subgroupSizeControl && f->features13.computeFullSubgroups &&
                              (p->requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
    static const uint32_t wanted[] = {32, 64, 16, 8}; /* every local size is a multiple of them */
    bool is_chosen = false;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && t->has_subgroup_control && !is_chosen; i++)
        if ((is_chosen = p->minSubgroupSize <= wanted[i] && p->maxSubgroupSize >= wanted[i]))
            t->subgroup = wanted[i];
    t->has_subgroup_control = is_chosen;
    t->has_budget = has_extension(physical, "VK_EXT_memory_budget");
    t->has_texels = f->props.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU &&
                    has_extension(physical, "VK_KHR_push_descriptor") && !no_texels;
    t->texel_max = f->props.properties.limits.maxTexelBufferElements;
    t->shared_bytes = f->props.properties.limits.maxComputeSharedMemorySize;
    t->alloc_max =
        f->props11.maxMemoryAllocationSize < p->maxBufferSize ? f->props11.maxMemoryAllocationSize : p->maxBufferSize;
    if (f->features.features.sparseBinding && (queue[family].queueFlags & VK_QUEUE_SPARSE_BINDING_BIT))
        t->sparse_max = p->maxBufferSize;
}

void vk_context_memory(const struct vk_device *d, uint64_t *free_bytes, uint64_t *budget)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT b = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
    };
    VkPhysicalDeviceMemoryProperties2 m = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
        .pNext = d->traits.has_budget ? &b : NULL,
    };
    const uint64_t heap = d->traits.heap_bytes, own = atomic_load(&d->driver_bytes);
    *budget = 0;
    *free_bytes = heap > own ? heap - own : 1; /* 0 would be unknown */
    if (vk_lie ? vk_lie->is_silent : !d->traits.has_budget)
        return;
    vkGetPhysicalDeviceMemoryProperties2(d->physical, &m);
    const uint64_t allowed = vk_lie ? vk_lie->budget : b.heapBudget[d->traits.heap],
                   used = vk_lie ? vk_lie->usage : b.heapUsage[d->traits.heap];
    if (allowed == 0) /* some drivers leave both at 0 */
        return;
    *budget = allowed < heap ? allowed : heap;
    const uint64_t left = *budget > used ? *budget - used : 1;
    *free_bytes = left < *free_bytes ? left : *free_bytes;
}

static void fill_caps(struct vk_device *d, const struct facts *f)
{
    myth_device_caps *c = &d->base.caps;
    const struct vk_traits *t = &d->traits;
    const VkPhysicalDeviceProperties *p = &f->props.properties;
    snprintf(c->name, sizeof(c->name), "vulkan:%u", d->number);
    snprintf(c->description, sizeof(c->description), "%.96s, Vulkan %u.%u.%u", p->deviceName,
             VK_API_VERSION_MAJOR(p->apiVersion), VK_API_VERSION_MINOR(p->apiVersion),
             VK_API_VERSION_PATCH(p->apiVersion));
    snprintf(c->variants, sizeof(c->variants), "subgroup %u%s", t->subgroup, t->has_texels ? ", texel loads" : "");
    c->ledger = 9 + (int)d->number;
    c->total_bytes = t->heap_bytes;
    c->is_async = true;
    c->is_gpu = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                p->deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                p->deviceType == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
    c->is_in_host =
        p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU || p->deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    vk_context_memory(d, &c->free_bytes, &c->budget_bytes);
}

/* ---- list ---- */

uint32_t vk_context_list(myth_device_caps *out, uint32_t cap, const myth_device_opts *opts)
{
    VkInstance instance;
    VkPhysicalDevice physical[VK_DEVICE_MAX];
    uint32_t n_out = 0;
    if (open_instance(&instance, NULL, false) != VK_SUCCESS)
        return 0;
    uint32_t n = list_physical(physical, instance);
    for (uint32_t i = 0; i < n && n_out < cap; i++) {
        struct vk_device d = {.number = i, .physical = physical[i]}; /* a device for the facts only, never opened */
        struct facts f;
        ask(&f, physical[i]);
        d.family = find_family(physical[i]);
        if (missing(&f) || d.family == UINT32_MAX || !choose_memory(&d.traits, physical[i]))
            continue;
        fill_traits(&d.traits, &f, physical[i], d.family, opts->settings.vk_no_texels);
        fill_caps(&d, &f);
        out[n_out++] = d.base.caps;
    }
    vkDestroyInstance(instance, NULL);
    return n_out;
}

/* ---- open ---- */

static VkResult create_device(struct vk_device *d)
{
    VkPhysicalDeviceVulkan13Features f13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .maintenance4 = VK_TRUE,
        .subgroupSizeControl = d->traits.has_subgroup_control,
        .computeFullSubgroups = d->traits.has_subgroup_control,
    };
    VkPhysicalDeviceVulkan12Features f12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &f13,
        .bufferDeviceAddress = VK_TRUE,
        .scalarBlockLayout = VK_TRUE,
        .timelineSemaphore = VK_TRUE,
        .storageBuffer8BitAccess = VK_TRUE,
        .shaderInt8 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan11Features f11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .pNext = &f12,
        .storageBuffer16BitAccess = VK_TRUE,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &f11,
        .features = {.shaderInt64 = VK_TRUE, .sparseBinding = d->traits.sparse_max > 0},
    };
    static const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = d->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const char *extension[2];
    uint32_t n_extension = 0;
    if (d->traits.has_budget)
        extension[n_extension++] = "VK_EXT_memory_budget";
    if (d->traits.has_texels)
        extension[n_extension++] = "VK_KHR_push_descriptor";
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = n_extension,
        .ppEnabledExtensionNames = extension,
    };
    if (vk_fault && vk_inject("vkCreateDevice") != VK_SUCCESS)
        return vk_fault->result;
    return vkCreateDevice(d->physical, &info, NULL, &d->device);
}

myth_status vk_context_open(struct vk_device *d, const myth_device_opts *opts, myth_error *err)
{
    VkPhysicalDevice physical[VK_DEVICE_MAX];
    struct facts f;
    VkResult r = open_instance(&d->instance, d, opts->settings.vk_validate);
    if (r == VK_ERROR_INITIALIZATION_FAILED && !vkCreateInstance)
        return myth_fail(err, MYTH_EDEVICE, "%s: no Vulkan loader (libvulkan.so.1)", opts->name);
    if (r == VK_ERROR_LAYER_NOT_PRESENT)
        return myth_fail_option(err, MYTH_EDEVICE, "vk_validate",
                                "%s: vk_validate is set, but the validation layer is not installed", opts->name);
    if (r != VK_SUCCESS)
        return vk_fail(d, err, r, "instance");
    uint32_t n = list_physical(physical, d->instance);
    if (d->number >= n)
        return myth_fail(err, MYTH_EDEVICE, "%s: the system has %u Vulkan device%s", opts->name, n, n == 1 ? "" : "s");
    d->physical = physical[d->number];
    ask(&f, d->physical);
    const char *lack = missing(&f);
    d->family = find_family(d->physical);
    if (lack || d->family == UINT32_MAX || !choose_memory(&d->traits, d->physical))
        return myth_fail(err, MYTH_EDEVICE, "%s: %.64s lacks %s", opts->name, f.props.properties.deviceName,
                         lack                      ? lack
                         : d->family == UINT32_MAX ? "a compute queue"
                                                   : "memory that the host can write");
    fill_traits(&d->traits, &f, d->physical, d->family, opts->settings.vk_no_texels);
    if ((r = create_device(d)) != VK_SUCCESS)
        return vk_fail(d, err, r, "device");
    volkLoadDeviceTable(&d->fn, d->device);
    d->fn.vkGetDeviceQueue(d->device, d->family, 0, &d->queue);
    fill_caps(d, &f);
    return MYTH_OK;
}

void vk_context_close(struct vk_device *d)
{
    if (d->device)
        d->fn.vkDestroyDevice(d->device, NULL);
    if (d->messenger) { /* ask this instance: volk's own pointer belongs to the last instance, which may lack it */
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(d->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(d->instance, d->messenger, NULL);
    }
    if (d->instance)
        vkDestroyInstance(d->instance, NULL);
}
