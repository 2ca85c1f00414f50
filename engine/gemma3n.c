/* gemma3n.c - Gemma 3n text: four streams (AltUp), Laurel, per-layer embeddings, a sparse gate, layers that read the keys of others.
 *
 * Source   transformers modeling_gemma3n.py; google-deepmind/gemma gm/nn/gemma3n                                    */
#include "step.h"

#define AT(field) offsetof(myth_layer_weights, field)
#define MODEL(field) offsetof(myth_bound_weights, field)

const myth_slot myth_gemma3n_model_slots[] = {
    { MYTH_SLOT("embed_tokens_per_layer.weight",       "per_layer_token_embd.weight", MODEL(ple_table),      MYTH_DIM_PLE_VOCAB, MYTH_DIM_PLE_ALL),
      .form = MYTH_FORM_ROWS, .place = MYTH_AT_FIRST },
    { MYTH_SLOT("per_layer_model_projection.weight",   "per_layer_model_proj.weight", MODEL(ple_model_proj), MYTH_DIM_PLE_ALL,   MYTH_DIM_D),   .place = MYTH_AT_FIRST },
    { MYTH_SLOT("per_layer_projection_norm.weight",    "per_layer_proj_norm.weight",  MODEL(ple_proj_norm),  MYTH_DIM_PLE,       MYTH_DIM_ONE), .place = MYTH_AT_FIRST },
#define ALTUP(i)                                                                                                                               \
    { MYTH_SLOT("altup_projections." #i ".weight", "altup_proj.weight", MODEL(altup_proj[i]), MYTH_DIM_D, MYTH_DIM_D), .when = MYTH_WHEN_ALTUP, \
      .place = MYTH_AT_FIRST, .is_part = true, .part = i },                                                                       \
    { MYTH_SLOT("altup_unembed_projections." #i ".weight", "altup_unembd_proj.weight", MODEL(altup_unembed[i]), MYTH_DIM_D, MYTH_DIM_D),       \
      .when = MYTH_WHEN_ALTUP, .place = MYTH_AT_LAST, .is_part = true, .part = i },
    ALTUP(0)
    ALTUP(1)
    ALTUP(2)
#undef ALTUP
    { 0 },
};

const myth_slot myth_gemma3n_slots[] = {
    { MYTH_SLOT("input_layernorm.weight",             "attn_norm.weight",           AT(attn_norm),         MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("self_attn.q_proj.weight",            "attn_q.weight",              AT(w_q),               MYTH_DIM_Q,      MYTH_DIM_D) },
    { MYTH_SLOT("self_attn.k_proj.weight",            "attn_k.weight",              AT(w_k),               MYTH_DIM_KV,     MYTH_DIM_D),   .when = MYTH_WHEN_KV },
    { MYTH_SLOT("self_attn.v_proj.weight",            "attn_v.weight",              AT(w_v),               MYTH_DIM_KV,     MYTH_DIM_D),   .when = MYTH_WHEN_V },
    { MYTH_SLOT("self_attn.q_norm.weight",            "attn_q_norm.weight",         AT(q_norm),            MYTH_DIM_HEAD,   MYTH_DIM_ONE) },
    { MYTH_SLOT("self_attn.k_norm.weight",            "attn_k_norm.weight",         AT(k_norm),            MYTH_DIM_HEAD,   MYTH_DIM_ONE), .when = MYTH_WHEN_KV },
    { MYTH_SLOT("self_attn.o_proj.weight",            "attn_output.weight",         AT(w_o),               MYTH_DIM_D,      MYTH_DIM_Q) },
    { MYTH_SLOT("post_attention_layernorm.weight",    "post_attention_norm.weight", AT(post_attn_norm),    MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("pre_feedforward_layernorm.weight",   "ffn_norm.weight",            AT(ffn_norm),          MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("mlp.gate_proj.weight",               "ffn_gate.weight",            AT(w_gate),            MYTH_DIM_FF,     MYTH_DIM_D) },
    { MYTH_SLOT("mlp.up_proj.weight",                 "ffn_up.weight",              AT(w_up),              MYTH_DIM_FF,     MYTH_DIM_D) },
    { MYTH_SLOT("mlp.down_proj.weight",               "ffn_down.weight",            AT(w_down),            MYTH_DIM_D,      MYTH_DIM_FF) },
    { MYTH_SLOT("post_feedforward_layernorm.weight",  "post_ffw_norm.weight",       AT(post_ffn_norm),     MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("per_layer_input_gate.weight",        "inp_gate.weight",            AT(ple_gate),          MYTH_DIM_PLE,    MYTH_DIM_D) },
    { MYTH_SLOT("per_layer_projection.weight",        "proj.weight",                AT(ple_proj),          MYTH_DIM_D,      MYTH_DIM_PLE) },
    { MYTH_SLOT("post_per_layer_input_norm.weight",   "post_norm.weight",           AT(post_ple_norm),     MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("altup.router_norm.weight",           "altup_router_norm.weight",   AT(altup_router_norm), MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("altup.modality_router.weight",       "altup_router.weight",        AT(altup_router),      MYTH_DIM_ALTUP,  MYTH_DIM_D),     .form = MYTH_FORM_F32 },
    { MYTH_SLOT("altup.prediction_coefs.weight",      "altup_predict_coef.weight",  AT(altup_predict),     MYTH_DIM_ALTUP2, MYTH_DIM_ALTUP), .form = MYTH_FORM_CLIPPED },
    { MYTH_SLOT("altup.correction_coefs.weight",      "altup_correct_coef.weight",  AT(altup_correct),     MYTH_DIM_ALTUP,  MYTH_DIM_ALTUP), .form = MYTH_FORM_CLIPPED },
    { MYTH_SLOT("altup.correct_output_scale",         "altup_correct_scale.weight", AT(altup_scale),       MYTH_DIM_D,      MYTH_DIM_ONE) },
    { MYTH_SLOT("laurel.linear_left.weight",          "laurel_l.weight",            AT(laurel_left),       MYTH_DIM_LAUREL, MYTH_DIM_D) },
    { MYTH_SLOT("laurel.linear_right.weight",         "laurel_r.weight",            AT(laurel_right),      MYTH_DIM_D,      MYTH_DIM_LAUREL) },
    { MYTH_SLOT("laurel.post_laurel_norm.weight",     "laurel_post_norm.weight",    AT(laurel_norm),       MYTH_DIM_D,      MYTH_DIM_ONE) },
    { 0 },
};
