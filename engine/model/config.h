/* config.h - the hyper-parameters of a Gemma, whatever file they came from.
 *
 * Units    lengths in tokens or elements; window counts the current token; 0 = not present
 * Errors   MYTH_EFORMAT a value is missing, out of range or contradicts a tensor's shape; MYTH_EUNSUPPORTED another
 *          family
 * Source   gemma reports; Hugging Face configuration_gemma{,2,3,3n,4}.py; GGUF keys of llama.cpp's converter */
#ifndef MYTH_CONFIG_H
#define MYTH_CONFIG_H

#include "weights.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_LAYER_MAX = 256, MYTH_ALTUP_MAX = 4 };

typedef enum {
    MYTH_FAMILY_GEMMA1,
    MYTH_FAMILY_GEMMA2,
    MYTH_FAMILY_GEMMA3,
    MYTH_FAMILY_GEMMA3N,
    MYTH_FAMILY_GEMMA4,
    MYTH_FAMILY_N
} myth_family_id;

typedef struct {
    bool is_global;
    bool k_is_v;       /* no value projection: the values are the norm of the raw keys      */
    uint8_t kv_source; /* layer whose K/V this one reads; its own index unless KV is shared */
    uint8_t kv_last;   /* of a source: the last layer that reads it, its own index when no other does */
    uint32_t n_head_kv, head_dim, d_ff;
    bool has_split_experts; /* gate and up of the experts are two tensors, as in older GGUF files */
    bool is_sparse;         /* 3n: gate values below mean + gate_z * deviation count nothing      */
    float gate_z;
} myth_layer_config;

typedef struct {
    myth_family_id family;
    uint32_t n_layer, d_model, n_head, n_vocab; /* n_vocab: rows of the embedding in the file          */
    uint32_t n_ctx_train, window;
    myth_layer_config layer[MYTH_LAYER_MAX];
    float eps, attn_scale, attn_softcap, final_softcap, embed_scale;
    double rope_base_global, rope_base_local;
    /* positions are divided by it; the local one is 1, or the global one where all layers turn alike */
    double rope_factor_global, rope_factor_local;
    bool is_rounded;    /* the reference computes in bf16: its constants are rounded, embed_scale among them */
    bool norm_plus_one; /* stored norm weights are w, effective 1 + w (safetensors of Gemma 1-3)      */
    bool has_qk_norm, has_post_norm, has_v_norm;
    bool has_head;                            /* logits are made with a matrix of their own; else with the embedding */
    bool has_system_turn;                     /* the chat template has a turn for the system's text */
    uint32_t head_dim_global, head_dim_local; /* of every layer of the kind; 0 where there is none    */
    uint32_t rope_pairs_global;  /* pairs (i, i + head_dim / 2) that global layers rotate, from i = 0          */
    uint32_t first_shared;       /* layers from here on read the K/V of others; n_layer where none does       */
    uint32_t n_ple, n_ple_vocab; /* per-layer embeddings: width, rows of the table; 0 = none                  */
    uint32_t n_expert, n_expert_used, d_ff_expert; /* experts beside the dense path; 0 = none                */
    uint32_t n_altup, altup_active, laurel_rank;   /* 3n; 0 = none                                           */
    float altup_clip; /* coefficients are cut to +-this when loaded; 0 = not                        */
    bool altup_correct_scale;
    bool
        /* an encoder of embeddings: rows of a text see all of it, locally window - 1 to either side */
        is_bidirectional;
    uint32_t max_head_dim, max_head_kv, max_ff; /* largest over the layers                              */
    uint32_t max_q, max_kv; /* widest n_head * head_dim, n_head_kv * head_dim                             */
} myth_config;

/* The dense layers behind the pooling of an encoder, when they are in the file of the model itself (GGUF): tensor `i`
 * of MYTH_DENSE_N, NULL = not there. In a folder they have folders of their own (embed.h). */
enum { MYTH_DENSE_N = 2 };
const myth_tensor *myth_config_dense(const myth_weights *w, uint32_t i);
/* Reads and checks the config of w. When w holds tensors (level >= HEADER), they must be exactly those of the family:
 * every one there, none besides, each shape as the config says. n_vocab is the rows of the embedding then, and before
 * that what the facts promise. */
myth_status myth_config_read(myth_config *out, const myth_weights *w, myth_error *err);
/* The second half of read. MYTH_EFORMAT names the tensor. */
myth_status myth_config_check_tensors(const myth_config *c, const myth_weights *w, myth_error *err);
/* rope_freqs.weight of a Gemma 4 in GGUF: what the frequencies of global layers are divided by, 1 for the pairs that
 * are rotated and more than any position for the rest. NULL = none. */
const myth_tensor *myth_config_rope_freqs(const myth_config *c, const myth_weights *w);
/* 1 / sqrt(head_dim), but by 144 and 168 for the two 27B models, and 1 for 3n and 4: what readers of GGUF assume
 * without `attention.scale`. */
float myth_config_gguf_scale(const myth_config *c);
const char *myth_family_name(myth_family_id id); /* "gemma3" */
const char *myth_config_gguf_name(
    const myth_config *c); /* general.architecture: the family's name, "gemma-embedding" for encoders */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
