/* vk_ops_rows.c - ops over rows that hold no matrix: embedding, rope, norms, stores, merges, copies. The formulas are in the .comp files. */
#include "vk.h"

void vk_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a)
{
    struct vk_embed_gather_args args = {
        .y = vk_addr(a->y), .table = vk_addr(a->table), .ids = vk_addr(a->ids), .n_rows = a->n_rows, .dim = a->dim, .n_vocab = a->n_vocab,
        .dtype = a->table.dtype, .scale = a->scale };
    vk_dispatch(s, &(struct vk_launch){ .shader = VK_SHADER_embed_gather, .x = a->n_rows }, &args, sizeof(args));
}

void vk_copy(myth_stream *s, const struct myth_copy_args *a)
{
    uint64_t dst = vk_addr(a->dst), src = vk_addr(a->src), gap = dst > src ? dst - src : src - dst;
    struct vk_copy_args args = { .dst = dst, .src = src, .n = a->bytes };
    if (gap >= a->bytes)
        vk_copy_bytes(s, a->dst, a->src, a->bytes);
    else if (gap)
        vk_dispatch(s, &(struct vk_launch){ .shader = VK_SHADER_copy }, &args, sizeof(args));
}
