/* fast_level.h - makes the ops of a fast level from the drivers. The file of each level includes it once, after
 *
 *   static const struct fast_kernels *kernels_of(const myth_stream *s)      the table for this processor
 *
 * Some ops stay those of the reference level: the ops of Gemma 3n's streams and moe_route are only a few passes over
 * rows, which cost little beside the products, as rope_table and kv_merge do. Attention with another head_dim than a
 * multiple of 16 runs on the reference. */
#include "fast.h"
#include "kernels/cpu/ref/ref.h"

#define FAST_OP(name) \
    static void op_##name(myth_stream *s, const struct myth_##name##_args *a) { fast_##name(s, a, kernels_of(s)); }
FAST_OP(embed_gather)
FAST_OP(rms_norm)
FAST_OP(gather_norm)
FAST_OP(proj)
FAST_OP(add_low_rank)
FAST_OP(geglu)
FAST_OP(qkv_rope_store)
FAST_OP(norm_qkv_rope_store)
FAST_OP(norm_ffn_geglu)
FAST_OP(ple_gate)
FAST_OP(moe_geglu)
FAST_OP(moe_down)
FAST_OP(head_topk)
FAST_OP(head_logits)
#undef FAST_OP

static void op_attn_prefill(myth_stream *s, const struct myth_attn_prefill_args *a)
{
    if (a->head_dim % 16)
        cpu_ref_attn_prefill(s, a);
    else
        fast_attn_prefill(s, a, kernels_of(s));
}

static void op_attn_decode(myth_stream *s, const struct myth_attn_decode_args *a)
{
    if (a->head_dim % 16)
        cpu_ref_attn_decode(s, a);
    else
        fast_attn_decode(s, a, kernels_of(s));
}

static void op_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a)
{
    cpu_capture_sum(s, a, kernels_of(s)->norm_row);
}

#define FAST_OPS                                                                                                  \
    {                                                                                                             \
        .embed_gather = op_embed_gather, .rms_norm = op_rms_norm, .gather_norm = op_gather_norm, .proj = op_proj, \
        .norm_qkv_rope_store = op_norm_qkv_rope_store, .norm_ffn_geglu = op_norm_ffn_geglu,                       \
        .attn_prefill = op_attn_prefill, .attn_decode = op_attn_decode, .head_topk = op_head_topk,                \
        .head_logits = op_head_logits, .capture_sum = op_capture_sum, .ple_gate = op_ple_gate,                    \
        .moe_geglu = op_moe_geglu, .moe_down = op_moe_down, .add_low_rank = op_add_low_rank, .geglu = op_geglu,   \
        .qkv_rope_store = op_qkv_rope_store,                                                                      \
    }
