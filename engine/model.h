/* model.h - opens a model's files: weights, config, tokenizer. Enough to tokenize, to build prompts and to plan.
 *
 * Owner    the caller closes the model, after every engine that uses it and before mem
 * Errors   those of weights.h, config.h and tokenizer.h. A missing tokenizer is no error: the model then takes ids only
 * Threads  a model never changes after open and adapt; any number of threads may read it */
#ifndef MYTH_MODEL_H
#define MYTH_MODEL_H

#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/text/tokenizer.h"
#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct myth_lora myth_lora;

enum { MYTH_MODEL_LORA_MAX = 16, MYTH_MODEL_NAME_MAX = 256 };

typedef struct {
    myth_weights *weights;
    myth_tokenizer *tokenizer; /* NULL when the files hold none */
    myth_config config;
    myth_mem *mem;
    myth_lora *lora[MYTH_MODEL_LORA_MAX]; /* adapters; what several add to one matrix adds up */
    uint32_t n_lora;
    char adapted[MYTH_MODEL_NAME_MAX]; /* the name with adapters */
} myth_model;

/* spec is a file, a directory or "random:...", see weights.h. On an error *out is zeroed, and close accepts it. */
myth_status myth_model_open(myth_model *out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                            myth_error *err);
void myth_model_close(myth_model *m); /* takes a zeroed model */
/* Adds a low-rank adapter, scaled by `scale`: a folder of peft or its .safetensors, or a .gguf of llama.cpp. Engines
 * that are opened, and plans that are made, after this compute W x + scale * B (A x), whatever the type of W; the model
 * keeps it open. The model was opened with level HEADER or DATA. MYTH_ELIMIT: more than MYTH_MODEL_LORA_MAX;
 * MYTH_EFORMAT: it does not fit the model, or is damaged; MYTH_EUNSUPPORTED: it is more than such a product;
 * MYTH_ENOTFOUND. */
myth_status myth_model_adapt(myth_model *m, const char *path, float scale, myth_error *err);
/* What to print as the model's name: that of its files, and of each adapter, "gemma3-1b + fixes.gguf:0.5". */
const char *myth_model_name(const myth_model *m);
/* Of adapter i < n_lora: its file; the caller's scale; a hash of all that it adds, the scale included; the matrices
 * that it adds to; its tensors of towers, which are left out. */
const char *myth_model_lora_path(const myth_model *m, uint32_t i);
float myth_model_lora_scale(const myth_model *m, uint32_t i);
uint64_t myth_model_lora_hash(const myth_model *m, uint32_t i);
uint32_t myth_model_lora_matrices(const myth_model *m, uint32_t i);
uint32_t myth_model_lora_left_out(const myth_model *m, uint32_t i);
/* Its tensors, opened with their data; lent until the model is closed. */
const myth_weights *myth_model_lora_weights(const myth_model *m, uint32_t i);
/* Checks every weight (--check-tensors). MYTH_EFORMAT names the first tensor with a value that is not finite. */
myth_status myth_model_check_tensors(const myth_model *m, myth_error *err);

/* A hash that tells models apart: FNV-1a over the config, over each tensor's name, type, shape and first bytes, over
 * the tokenizer (myth_tokenizer_hash), and over all that adapters add. The same weights in another element type have
 * another hash, since results differ too. The model must have been opened with level HEADER or DATA; with HEADER no
 * bytes of tensors are hashed, so the two levels give different numbers. */
uint64_t myth_model_hash(const myth_model *m);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
