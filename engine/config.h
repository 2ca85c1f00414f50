/* config.h - the hyper-parameters of a Gemma, whatever file they came from.
 *
 * Units    lengths in tokens or elements; window counts the current token; 0 = not present
 * Errors   MYTH_EFORMAT a value is missing, out of range or contradicts a tensor's shape; MYTH_EUNSUPPORTED another family
 * Source   gemma reports; Hugging Face configuration_gemma{,2,3}.py; GGUF keys of llama.cpp's converter                          */
#ifndef MYTH_CONFIG_H
#define MYTH_CONFIG_H

#include "weights.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_LAYER_MAX = 256 };

typedef enum { MYTH_FAMILY_GEMMA1, MYTH_FAMILY_GEMMA2, MYTH_FAMILY_GEMMA3, MYTH_FAMILY_N } myth_family_id;

typedef struct {
    bool is_global;
    uint8_t kv_source;            /* layer whose K/V this one reads; its own index unless KV is shared */
    uint32_t n_head_kv, head_dim, d_ff;
} myth_layer_config;

typedef struct {
    myth_family_id family;
    uint32_t n_layer, d_model, n_head, n_vocab;       /* n_vocab: rows of the embedding in the file          */
    uint32_t n_ctx_train, window;
    myth_layer_config layer[MYTH_LAYER_MAX];
    float eps, attn_scale, attn_softcap, final_softcap, embed_scale;
    double rope_base_global, rope_base_local, rope_factor_global;
    bool norm_plus_one;           /* stored norm weights are w, effective 1 + w (safetensors of Gemma 1-3)      */
    bool has_qk_norm, has_post_norm;
    bool is_bidirectional;        /* an encoder of embeddings: rows of a text see all of it, locally window - 1 to either side */
    uint32_t max_head_dim, max_head_kv, max_ff;       /* largest over the layers                              */
} myth_config;

/* The dense layers behind the pooling of an encoder, when they are in the file of the model itself (GGUF): tensor `i` of MYTH_DENSE_N, NULL =
 * not there. In a folder they have folders of their own (embed.h). */
enum { MYTH_DENSE_N = 2 };
const myth_tensor *myth_config_dense(const myth_weights *w, uint32_t i);
/* Reads and checks the config of w. When w holds tensors (level >= HEADER), they must be exactly those of the family: every one there,
 * none besides, each shape as the config says. n_vocab is the rows of the embedding then, and before that what the facts promise. */
myth_status myth_config_read(myth_config *out, const myth_weights *w, myth_error *err);
/* The second half of read. MYTH_EFORMAT names the tensor. */
myth_status myth_config_check_tensors(const myth_config *c, const myth_weights *w, myth_error *err);
/* 1 / sqrt(head_dim), but by 144 and 168 for the two 27B models: what readers of GGUF assume without `attention.scale`. */
float myth_config_gguf_scale(const myth_config *c);
const char *myth_family_name(myth_family_id id);      /* "gemma3" */
const char *myth_config_gguf_name(const myth_config *c);               /* general.architecture: the family's name, "gemma-embedding" for encoders */

#ifdef __cplusplus
}
#endif
#endif
