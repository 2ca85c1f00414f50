/* vk_program.c - shader modules and pipelines. All pipelines have one layout (addresses as push constants, and texel
 * buffers on devices that use them); each set of specialization constants is a pipeline.
 *
 * Pipelines  a pipeline is built when it is first dispatched, found again by its constants, and kept until close; there
 *            are at most VK_PIPELINE_MAX
 * Subgroups  where the device has a choice, every pipeline runs full subgroups of the size traits.subgroup;
 *            local_size_x is a multiple of 64 */
#include "vk.h"

#include <string.h>

myth_status vk_programs_open(struct vk_device *d, myth_error *err)
{
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = VK_PUSH_BYTES};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
        .setLayoutCount = d->traits.has_texels,
        .pSetLayouts = &d->texel_layout,
    };
    VkDescriptorSetLayoutBinding binding[VK_TEXEL_BINDINGS];
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
        .bindingCount = VK_TEXEL_BINDINGS,
        .pBindings = binding,
    };
    for (uint32_t i = 0; i < VK_TEXEL_BINDINGS; i++)
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    VkResult r = VK_SUCCESS;
    if (d->traits.has_texels)
        r = VK_CALL(d, vkCreateDescriptorSetLayout, d->device, &set, NULL, &d->texel_layout);
    if (r == VK_SUCCESS)
        r = VK_CALL(d, vkCreatePipelineLayout, d->device, &info, NULL, &d->layout);
    return r == VK_SUCCESS ? MYTH_OK : vk_fail(d, err, r, "pipeline layout");
}

void vk_programs_close(struct vk_device *d)
{
    for (uint32_t i = 0; i < d->n_pipeline; i++)
        d->fn.vkDestroyPipeline(d->device, d->pipeline[i].pipeline, NULL);
    for (int i = 0; i < VK_SHADER_N; i++)
        if (d->module[i])
            d->fn.vkDestroyShaderModule(d->device, d->module[i], NULL);
    if (d->layout)
        d->fn.vkDestroyPipelineLayout(d->device, d->layout, NULL);
    if (d->texel_layout)
        d->fn.vkDestroyDescriptorSetLayout(d->device, d->texel_layout, NULL);
    d->n_pipeline = 0;
}

static VkResult build(VkPipeline *out, struct vk_device *d, enum vk_shader shader, const uint32_t spec[VK_SPEC_MAX])
{
    VkSpecializationMapEntry entry[VK_SPEC_MAX + 1];
    uint32_t value[VK_SPEC_MAX + 1];
    VkResult r = VK_SUCCESS;
    if (!d->module[shader]) {
        VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = vk_spirv[shader].bytes,
            .pCode = vk_spirv[shader].code,
        };
        r = VK_CALL(d, vkCreateShaderModule, d->device, &info, NULL, &d->module[shader]);
    }
    if (r != VK_SUCCESS)
        return r;
    for (uint32_t i = 0; i <= VK_SPEC_MAX; i++) {
        entry[i] = (VkSpecializationMapEntry){.constantID = i, .offset = 4 * i, .size = 4};
        value[i] = i ? spec[i - 1] : d->traits.subgroup;
    }
    VkSpecializationInfo constants = {
        .mapEntryCount = VK_SPEC_MAX + 1,
        .pMapEntries = entry,
        .dataSize = sizeof(value),
        .pData = value,
    };
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = d->traits.subgroup,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .layout = d->layout,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .pNext = d->traits.has_subgroup_control ? &size : NULL,
                .flags =
                    d->traits.has_subgroup_control ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                .module = d->module[shader],
                .pName = "main",
                .pSpecializationInfo = &constants,
            },
    };
    return VK_CALL(d, vkCreateComputePipelines, d->device, VK_NULL_HANDLE, 1, &info, NULL, out);
}

myth_status vk_program_get(VkPipeline *out, struct vk_device *d, enum vk_shader shader,
                           const uint32_t spec[VK_SPEC_MAX], myth_error *err)
{
    myth_status st = MYTH_OK;
    pthread_mutex_lock(&d->program_lock);
    for (uint32_t i = d->first[shader]; i; i = d->pipeline[i - 1].next)
        if (memcmp(d->pipeline[i - 1].spec, spec, sizeof(d->pipeline[i - 1].spec)) == 0) {
            *out = d->pipeline[i - 1].pipeline;
            goto done;
        }
    if (d->n_pipeline == VK_PIPELINE_MAX) {
        st = myth_fail(err, MYTH_EFULL, "%s: all %d pipelines are in use", d->base.caps.name, VK_PIPELINE_MAX);
        goto done;
    }
    struct vk_pipeline *p = &d->pipeline[d->n_pipeline];
    VkResult r = build(&p->pipeline, d, shader, spec);
    if (r != VK_SUCCESS) {
        st = vk_fail(d, err, r, vk_spirv[shader].name);
        goto done;
    }
    memcpy(p->spec, spec, sizeof(p->spec));
    p->next = d->first[shader];
    d->first[shader] = (uint16_t)++d->n_pipeline;
    *out = p->pipeline;
done:
    pthread_mutex_unlock(&d->program_lock);
    return st;
}
