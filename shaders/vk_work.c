/* vk_work.c - bytes of the workspaces that the ops find at the device's `activations`, `attn_scratch` and `logits`, zeroed at reserve. */
#include "vk.h"

void vk_work(struct vk_work_bytes *out, const myth_work_shape *shape)
{
    (void)shape;
    *out = (struct vk_work_bytes){ 0, 0, 0 };
}
