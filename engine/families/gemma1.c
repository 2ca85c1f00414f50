/* gemma1.c - Gemma 1 and CodeGemma: every layer global, norms before the branches only.
 *
 *   a  = h + Attn(N_attn(h))
 *   h' = a + MLP(N_ffn(a))          the file calls N_ffn post_attention_layernorm; it is the norm before the FFN
 *
 * Source   Gemma report (2403.08295); transformers modeling_gemma.py                                              */
#include "engine/run/step.h"

#define AT(field) offsetof(myth_layer_weights, field)

const myth_slot myth_gemma1_slots[] = {
    {MYTH_SLOT("input_layernorm.weight", "attn_norm.weight", AT(attn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("self_attn.q_proj.weight", "attn_q.weight", AT(w_q), MYTH_DIM_Q, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.k_proj.weight", "attn_k.weight", AT(w_k), MYTH_DIM_KV, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.v_proj.weight", "attn_v.weight", AT(w_v), MYTH_DIM_KV, MYTH_DIM_D)},
    {MYTH_SLOT("self_attn.o_proj.weight", "attn_output.weight", AT(w_o), MYTH_DIM_D, MYTH_DIM_Q)},
    {MYTH_SLOT("post_attention_layernorm.weight", "ffn_norm.weight", AT(ffn_norm), MYTH_DIM_D, MYTH_DIM_ONE)},
    {MYTH_SLOT("mlp.gate_proj.weight", "ffn_gate.weight", AT(w_gate), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.up_proj.weight", "ffn_up.weight", AT(w_up), MYTH_DIM_FF, MYTH_DIM_D)},
    {MYTH_SLOT("mlp.down_proj.weight", "ffn_down.weight", AT(w_down), MYTH_DIM_D, MYTH_DIM_FF)},
    {0},
};

void myth_gemma1_layers(myth_step *st)
{
    for (uint32_t l = st->layer0; l < st->layer1; l++) {
        if (!myth_step_begin_layer(st, l))
            return;
        /* Neither residual add is an op here: the next op that reads x adds the branch in st->pend first (step.h).
         * There are no post norms. */
        myth_step_attention(st, l, 0.0f);
        st->pend = st->branch;
        myth_step_ffn(st, l);
        myth_step_captured(st, l + 1);
    }
}
