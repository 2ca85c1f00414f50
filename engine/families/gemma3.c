/* gemma3.c - Gemma 3 text: five local layers to one global, norms of queries and keys per head, no caps.
 *
 *   q, k = N_q(W_q x), N_k(W_k x) per head, then rope: local base 1e4, global base 1e6 (positions / 8 from 4B up)
 *   a    = h + N_post_attn(Attn(N_attn(h)))
 *   h'   = a + N_post_ffn(MLP(N_ffn(a)))
 *
 * Source   Gemma 3 report (2503.19786); transformers modeling_gemma3.py                                          */
#include "engine/run/step.h"

#define AT(field) offsetof(myth_layer_weights, field)

const myth_slot myth_gemma3_slots[] = {
    {MYTH_SLOT("input_layernorm.weight", "attn_norm.weight", AT(attn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.q_proj.weight", "attn_q.weight", AT(w_q), MYTH_DIM_Q, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.k_proj.weight", "attn_k.weight", AT(w_k), MYTH_DIM_KV, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.v_proj.weight", "attn_v.weight", AT(w_v), MYTH_DIM_KV, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.q_norm.weight", "attn_q_norm.weight", AT(q_norm), MYTH_DIM_HEAD, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.k_norm.weight", "attn_k_norm.weight", AT(k_norm), MYTH_DIM_HEAD, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.o_proj.weight", "attn_output.weight", AT(w_o), MYTH_DIM_D, MYTH_DIM_Q)},
    {MYTH_SLOT("post_attention_layernorm.weight", "post_attention_norm.weight", AT(post_attn_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {MYTH_SLOT("pre_feedforward_layernorm.weight", "ffn_norm.weight", AT(ffn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("mlp.gate_proj.weight", "ffn_gate.weight", AT(w_gate), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.up_proj.weight", "ffn_up.weight", AT(w_up), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.down_proj.weight", "ffn_down.weight", AT(w_down), MYTH_DIM_D, MYTH_DIM_FF)},
    {MYTH_SLOT("post_feedforward_layernorm.weight", "post_ffw_norm.weight", AT(post_ffn_norm), MYTH_DIM_D,
               MYTH_DIM_ONE)},
    {0},
};

void myth_gemma3_layers(myth_step *st)
{
    for (uint32_t l = st->layer0; l < st->layer1; l++) {
        if (!myth_step_begin_layer(st, l))
            return;
        /* Neither residual add nor its post norm is an op here: the next op that reads x first adds the branch in
         * st->pend, normed with st->w_post (step.h). Both branches are written to st->branch. */
        myth_step_attention(st, l, 0.0f);
        st->pend = st->branch;
        st->w_post = st->w->layer[l].post_attn_norm;
        myth_step_ffn(st, l);
        st->w_post = st->w->layer[l].post_ffn_norm;
        myth_step_captured(st, l + 1);
    }
}
