/* family.h - what a family of models is: the slots its tensors go to, and its layer loop.
 *
 * Adding one   a file with the loop, a row in families.c
 * Slots        one table row per tensor of a layer: its name in safetensors and in GGUF, its shape as a function of the config
 * Loop         issues the ops of a step on the stream; reads like the paper                                                  */
#ifndef MYTH_FAMILY_H
#define MYTH_FAMILY_H

#include "../kernels/ops.h"
#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_view attn_norm, w_q, w_k, w_v, q_norm, k_norm, w_o, post_attn_norm;
    myth_view ffn_norm, w_gate, w_up, w_down, post_ffn_norm;
} myth_layer_weights;

typedef struct {
    myth_view embed, head, output_norm;    /* embed and head: the same table, on the first and on the last device */
    myth_layer_weights layer[MYTH_LAYER_MAX];
} myth_bound_weights;

typedef enum { MYTH_DIM_D, MYTH_DIM_Q, MYTH_DIM_KV, MYTH_DIM_FF, MYTH_DIM_HEAD, MYTH_DIM_VOCAB, MYTH_DIM_ONE } myth_slot_dim;

typedef struct {
    const char *hf, *gguf;         /* behind "layers.N." and "blk.N."; the two tensors of the model itself have full names */
    size_t off;                    /* of the myth_view in myth_layer_weights or myth_bound_weights                         */
    myth_slot_dim rows, cols;      /* cols MYTH_DIM_ONE: a vector, kept in f32 as the effective norm weight                */
} myth_slot;

typedef struct myth_step myth_step;

typedef struct {
    const char *name;              /* "gemma3": general.architecture of GGUF */
    const myth_slot *slots;        /* ends with a row of zeros               */
    void (*layers)(myth_step *st);
} myth_family;

const myth_family *myth_family_get(myth_family_id id);
enum { MYTH_SLOT_EMBED, MYTH_SLOT_OUTPUT_NORM };
extern const myth_slot myth_slots_model[2];
uint64_t myth_slot_size(const myth_config *c, uint32_t layer, myth_slot_dim dim);
/* The tensor of a slot, of layer `layer` where it is a layer's; NULL = not there. */
const myth_tensor *myth_slot_tensor(const myth_weights *w, const myth_slot *s, uint32_t layer);

void myth_gemma1_layers(myth_step *st);
void myth_gemma2_layers(myth_step *st);
void myth_gemma3_layers(myth_step *st);
extern const myth_slot myth_gemma1_slots[], myth_gemma2_slots[], myth_gemma3_slots[];

#ifdef __cplusplus
}
#endif
#endif
