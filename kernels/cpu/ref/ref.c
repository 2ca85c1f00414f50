/* ref.c - the level `ref`: its table of ops, the sizes of its workspaces, and the row functions that several ops share.
 */
#include "ref.h"

#include <math.h>
#include <string.h>

void ref_norm_row(float *y, const float *x, const float *w, uint32_t n, float eps)
{
    double ss = 0.0;
    for (uint32_t i = 0; i < n; i++)
        ss += (double)x[i] * (double)x[i];
    float scale = (float)(1.0 / sqrt(ss / n + (double)eps));
    for (uint32_t i = 0; i < n; i++)
        y[i] = x[i] * scale * (w ? w[i] : 1.0f);
}

void ref_fold_row(float *y, const float *x, const float *pend, const float *w_post, float x_scale, uint32_t n,
                  float eps)
{
    float scale = 1.0f;
    if (pend && w_post) {
        double ss = 0.0;
        for (uint32_t i = 0; i < n; i++)
            ss += (double)pend[i] * (double)pend[i];
        scale = (float)(1.0 / sqrt(ss / n + (double)eps));
    }
    for (uint32_t i = 0; i < n; i++)
        y[i] = !pend
                 ? x[i]
                 : (w_post ? x[i] + pend[i] * scale * w_post[i] : x[i] + pend[i]) * (x_scale == 0.0f ? 1.0f : x_scale);
}

void ref_dot_tile(float *y, const float *x, const float *w, uint32_t n_w, uint32_t n)
{
    float sum[REF_TILE] = {0.0f};
    if (n_w == REF_TILE) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t t = 0; t < REF_TILE; t++)
                sum[t] += x[i] * w[(uint64_t)t * n + i];
    } else {
        for (uint32_t t = 0; t < n_w; t++)
            for (uint32_t i = 0; i < n; i++)
                sum[t] += x[i] * w[(uint64_t)t * n + i];
    }
    memcpy(y, sum, n_w * sizeof(float));
}

uint64_t ref_width(const myth_work_shape *shape)
{
    uint64_t heads = (uint64_t)shape->n_head * shape->head_dim,
             width = shape->d_model > shape->d_ff ? shape->d_model : shape->d_ff;
    return heads > width ? heads : width;
}

float *ref_weight_rows(const myth_stream *s, int tid)
{
    return (float *)(void *)cpu_of(s)->activations + (uint64_t)tid * REF_TILE * ref_width(&s->dev->shape);
}

static void work(cpu_work_bytes *out, const myth_work_shape *shape, int n_threads)
{
    out->activations = (uint64_t)n_threads * REF_TILE * ref_width(shape) * sizeof(float);
    out->attn_scratch = (uint64_t)n_threads * (2ull * shape->head_dim + CPU_ATTN_BLOCK) * sizeof(float);
    out->logits = ref_head_bytes(shape, n_threads);
}

const struct cpu_level cpu_level_ref = {
    .name = "ref",
    .ops =
        {
            .embed_gather = cpu_ref_embed_gather,
            .rope_table = cpu_ref_rope_table,
            .rms_norm = cpu_ref_rms_norm,
            .proj = cpu_ref_proj,
            .add_low_rank = cpu_ref_add_low_rank,
            .qkv_rope_store = cpu_ref_qkv_rope_store,
            .attn_prefill = cpu_ref_attn_prefill,
            .attn_decode = cpu_ref_attn_decode,
            .attn_mass = cpu_ref_attn_mass,
            .kv_merge = cpu_ref_kv_merge,
            .geglu = cpu_ref_geglu,
            .gather_norm = cpu_ref_gather_norm,
            .head_topk = cpu_ref_head_topk,
            .head_logits = cpu_ref_head_logits,
            .decode_next = cpu_ref_decode_next,
            .copy = cpu_ref_copy,
            .capture_sum = cpu_ref_capture_sum,
            .ple_merge = cpu_ref_ple_merge,
            .ple_gate = cpu_ref_ple_gate,
            .moe_route = cpu_ref_moe_route,
            .moe_geglu = cpu_ref_moe_geglu,
            .moe_down = cpu_ref_moe_down,
            .altup_predict = cpu_ref_altup_predict,
            .altup_correct = cpu_ref_altup_correct,
            .altup_match = cpu_ref_altup_match,
            .laurel_merge = cpu_ref_laurel_merge,
            .geglu_sparse = cpu_ref_geglu_sparse,
        },
    .work = work,
};
