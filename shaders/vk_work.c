/* vk_work.c - the sizes of the workspaces of the ops: the device's blocks `activations`, `attn_scratch` and `logits`,
 * which are zeroed at reserve. */
#include "vk_work.h"

static uint64_t align_up(uint64_t n) { return (n + VK_ALIGN - 1) / VK_ALIGN * VK_ALIGN; }

static uint64_t most_rows(const myth_work_shape *s)
{
    return s->n_rows > s->n_logit_rows ? s->n_rows : s->n_logit_rows;
}

uint64_t vk_scale_off(const myth_work_shape *shape) { return align_up(most_rows(shape) * sizeof(uint32_t)); }

uint32_t vk_attn_splits(uint32_t n_ctx) { return n_ctx / VK_ATTN_SPLIT + 1 + 2 * MYTH_GAP_MAX; }

uint64_t vk_attn_row_bytes(uint32_t n_head, uint32_t n_split, uint32_t head_dim)
{
    return (uint64_t)n_head * n_split * (head_dim + 2ull) * sizeof(float);
}

struct vk_attn_work vk_attn_work_of(const myth_work_shape *shape)
{
    uint64_t row = vk_attn_row_bytes(shape->n_head, vk_attn_splits(shape->n_ctx), shape->head_dim),
             all = row * shape->n_rows;
    uint64_t most = row > VK_ATTN_PART_BYTES ? row : VK_ATTN_PART_BYTES;
    struct vk_attn_work w = {.part_bytes = align_up(all < most ? all : most)};
    w.count_off = w.part_bytes;
    w.bytes = w.count_off + align_up((uint64_t)shape->n_rows * shape->n_head * sizeof(uint32_t));
    return w;
}

struct vk_head_work vk_head_work_of(const myth_work_shape *shape)
{
    struct vk_head_work w = {0};
    if (!shape->n_logit_rows || !shape->n_vocab || !shape->top_k)
        return w;
    uint64_t n_list = vk_head_lists(shape->n_vocab), kept = n_list * shape->top_k;
    uint64_t again = vk_head_lists((uint32_t)kept) * (uint64_t)shape->top_k;
    uint64_t most = VK_HEAD_KEPT_BYTES / (kept * 8);
    most = most < 1 ? 1 : most > VK_HEAD_ROWS ? VK_HEAD_ROWS : most;
    w.n_rows = shape->n_logit_rows < most ? shape->n_logit_rows : (uint32_t)most;
    w.n_logit = (n_list > w.n_rows ? n_list : w.n_rows) * VK_HEAD_LIST;
    w.kept_off[0] = w.n_logit * sizeof(float);
    w.kept_off[1] = w.kept_off[0] + align_up(w.n_rows * kept * 8);
    w.stats_off = w.kept_off[1] + align_up(w.n_rows * again * 8);
    w.bytes = w.stats_off + align_up(w.n_rows * n_list * 16);
    return w;
}

void vk_work(struct vk_work_bytes *out, const myth_work_shape *shape)
{
    *out = (struct vk_work_bytes){
        .activations = 2 * vk_scale_off(shape),
        .attn_scratch = vk_attn_work_of(shape).bytes,
        .logits = vk_head_work_of(shape).bytes,
    };
}
