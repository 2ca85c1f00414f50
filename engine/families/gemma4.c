/* gemma4.c - Gemma 4 text: two head widths, values without a projection of their own (K = V), layer scalars; in the
 * small models per-layer embeddings and layers that read the keys of others, in 26B-A4B experts beside the dense path.
 *
 *   q, k = N_q(W_q x), N_k(W_k x) per head, then rope; v = RMS(W_v x) per head, or RMS(W_k x) where there is no W_v;
 *   score scale 1
 *   a    = h + N_post_attn(Attn(N_attn(h)))
 *   b    = a + N_post_ffn(MLP(N_ffn(a)))
 *          with experts: a + N_post_ffn(N_post_dense(MLP(N_ffn(a))) + N_post_expert(MoE(N_expert(a); router sees a)))
 *   c    = b, with per-layer embeddings b + N_post_ple(W_proj(gelu(W_gate b) * P_l))
 *   h'   = c * scale_l
 *
 * Source   transformers modeling_gemma4.py; google-deepmind/gemma gm/nn/gemma4                                      */
#include "engine/run/step.h"

#define AT(field)    offsetof(myth_layer_weights, field)
#define MODEL(field) offsetof(myth_bound_weights, field)

const myth_slot myth_gemma4_model_slots[] = {
    {MYTH_SLOT("embed_tokens_per_layer.weight", "per_layer_token_embd.weight", MODEL(ple_table), MYTH_DIM_PLE_VOCAB,
               MYTH_DIM_PLE_ALL),
     .when = MYTH_WHEN_PLE, .form = MYTH_FORM_ROWS, .place = MYTH_AT_FIRST},
    {MYTH_SLOT("per_layer_model_projection.weight", "per_layer_model_proj.weight", MODEL(ple_model_proj),
               MYTH_DIM_PLE_ALL, MYTH_DIM_D),
     .when = MYTH_WHEN_PLE, .place = MYTH_AT_FIRST},
    {MYTH_SLOT("per_layer_projection_norm.weight", "per_layer_proj_norm.weight", MODEL(ple_proj_norm), MYTH_DIM_PLE,
               MYTH_DIM_ONE),
     .when = MYTH_WHEN_PLE, .place = MYTH_AT_FIRST},
    {0},
};

const myth_slot myth_gemma4_slots[] = {
    {MYTH_SLOT("input_layernorm.weight", "attn_norm.weight", AT(attn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.q_proj.weight", "attn_q.weight", AT(w_q), MYTH_DIM_Q, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.k_proj.weight", "attn_k.weight", AT(w_k), MYTH_DIM_KV, MYTH_DIM_D), .when = MYTH_WHEN_KV},
    {MYTH_SLOT("self_attn.v_proj.weight", "attn_v.weight", AT(w_v), MYTH_DIM_KV, MYTH_DIM_D), .when = MYTH_WHEN_V},
    {MYTH_SLOT("self_attn.q_norm.weight", "attn_q_norm.weight", AT(q_norm), MYTH_DIM_HEAD, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.k_norm.weight", "attn_k_norm.weight", AT(k_norm), MYTH_DIM_HEAD, MYTH_DIM_ONE),
     .when = MYTH_WHEN_KV},
    {MYTH_SLOT("self_attn.o_proj.weight", "attn_output.weight", AT(w_o), MYTH_DIM_D, MYTH_DIM_Q)},
    {MYTH_SLOT("post_attention_layernorm.weight", "post_attention_norm.weight", AT(post_attn_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {MYTH_SLOT("pre_feedforward_layernorm.weight", "ffn_norm.weight", AT(ffn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("mlp.gate_proj.weight", "ffn_gate.weight", AT(w_gate), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.up_proj.weight", "ffn_up.weight", AT(w_up), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.down_proj.weight", "ffn_down.weight", AT(w_down), MYTH_DIM_D, MYTH_DIM_FF)},
    {MYTH_SLOT("post_feedforward_layernorm.weight", "post_ffw_norm.weight", AT(post_ffn_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {MYTH_SLOT("layer_scalar", "layer_output_scale.weight", AT(scale), MYTH_DIM_ONE, MYTH_DIM_ONE),
     .when = MYTH_WHEN_GIVEN, .form = MYTH_FORM_SCALAR},
    {MYTH_SLOT("per_layer_input_gate.weight", "inp_gate.weight", AT(ple_gate), MYTH_DIM_PLE, MYTH_DIM_D),
     .when = MYTH_WHEN_PLE},
    {MYTH_SLOT("per_layer_projection.weight", "proj.weight", AT(ple_proj), MYTH_DIM_D, MYTH_DIM_PLE),
     .when = MYTH_WHEN_PLE},
    {MYTH_SLOT("post_per_layer_input_norm.weight", "post_norm.weight", AT(post_ple_norm), MYTH_DIM_D, MYTH_DIM_ONE),
     .when = MYTH_WHEN_PLE},
    {MYTH_SLOT("router.proj.weight", "ffn_gate_inp.weight", AT(router), MYTH_DIM_EXPERT, MYTH_DIM_D),
     .when = MYTH_WHEN_EXPERTS, .form = MYTH_FORM_F32},
    {MYTH_SLOT("router.scale", "ffn_gate_inp.scale", AT(router_scale), MYTH_DIM_D, MYTH_DIM_ONE),
     .when = MYTH_WHEN_EXPERTS},
    {MYTH_SLOT("router.per_expert_scale", "ffn_down_exps.scale", AT(expert_scale), MYTH_DIM_EXPERT, MYTH_DIM_ONE),
     .when = MYTH_WHEN_EXPERTS},
    {MYTH_SLOT("experts.gate_up_proj", "ffn_gate_up_exps.weight", AT(expert_gate_up), MYTH_DIM_EXPERT_FF2, MYTH_DIM_D),
     .stack = MYTH_DIM_EXPERT, .when = MYTH_WHEN_FUSED},
    {MYTH_SLOT("experts.gate_proj", "ffn_gate_exps.weight", AT(expert_gate), MYTH_DIM_EXPERT_FF, MYTH_DIM_D),
     .stack = MYTH_DIM_EXPERT, .when = MYTH_WHEN_SPLIT},
    {MYTH_SLOT("experts.up_proj", "ffn_up_exps.weight", AT(expert_up), MYTH_DIM_EXPERT_FF, MYTH_DIM_D),
     .stack = MYTH_DIM_EXPERT, .when = MYTH_WHEN_SPLIT},
    {MYTH_SLOT("experts.down_proj", "ffn_down_exps.weight", AT(expert_down), MYTH_DIM_D, MYTH_DIM_EXPERT_FF),
     .stack = MYTH_DIM_EXPERT, .when = MYTH_WHEN_EXPERTS},
    {MYTH_SLOT("pre_feedforward_layernorm_2.weight", "pre_ffw_norm_2.weight", AT(expert_norm), MYTH_DIM_D,
               MYTH_DIM_ONE),
     .when = MYTH_WHEN_EXPERTS},
    {MYTH_SLOT("post_feedforward_layernorm_1.weight", "post_ffw_norm_1.weight", AT(post_dense_norm), MYTH_DIM_D,
               MYTH_DIM_ONE),
     .when = MYTH_WHEN_EXPERTS},
    {MYTH_SLOT("post_feedforward_layernorm_2.weight", "post_ffw_norm_2.weight", AT(post_expert_norm), MYTH_DIM_D,
               MYTH_DIM_ONE),
     .when = MYTH_WHEN_EXPERTS},
    {0},
};

void myth_gemma4_layers(myth_step *st)
{
    for (uint32_t l = st->layer0; l < st->layer1; l++) {
        const myth_layer_weights *w = &st->w->layer[l];
        if (!myth_step_begin_layer(st, l))
            return;
        /* No residual add, post norm or layer scalar is an op here: the next op that reads x first adds the branch in
         * st->pend, normed with st->w_post, and multiplies by st->x_scale (step.h). */
        myth_step_attention(st, l, 0.0f);
        st->pend = st->branch;
        st->w_post = w->post_attn_norm;
        myth_step_ffn(st, l);
        if (st->c->n_expert)
            myth_step_experts(st, l);
        st->w_post = w->post_ffn_norm;
        if (st->c->n_ple)
            myth_step_ple(st, l);
        st->x_scale = w->scale;
        myth_step_captured(st, l + 1);
    }
}
