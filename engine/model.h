/* model.h - opens a model's files: weights, config, tokenizer. Enough to tokenize, to build prompts and to plan.
 *
 * Owner    the caller closes the model, after every engine that uses it and before mem
 * Errors   those of weights.h, config.h and tokenizer.h. A missing tokenizer is no error: the model then takes ids only
 * Threads  a model never changes after open; any number of threads may read it */
#ifndef MYTH_MODEL_H
#define MYTH_MODEL_H

#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/text/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_weights *weights;
    myth_tokenizer *tokenizer; /* NULL when the files hold none */
    myth_config config;
    myth_mem *mem;
} myth_model;

/* spec is a file, a directory or "random:...", see weights.h. On an error *out is zeroed, and close accepts it. */
myth_status myth_model_open(myth_model *out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                            myth_error *err);
void myth_model_close(myth_model *m); /* takes a zeroed model */
/* Whether every value of a tensor is finite; the tensor was opened with its data. */
bool myth_tensor_is_finite(const myth_tensor *t);
/* Checks every weight (--check-tensors). MYTH_EFORMAT names the first tensor with a value that is not finite. */
myth_status myth_model_check_tensors(const myth_model *m, myth_error *err);

/* A hash that tells models apart: FNV-1a over the config and over each tensor's name, type, shape and first bytes. The
 * same weights in another element type have another hash, since results differ too. The model must have been opened
 * with level HEADER or DATA; with HEADER no bytes of tensors are hashed, so the two levels give different numbers. */
uint64_t myth_model_hash(const myth_model *m);

#ifdef __cplusplus
}
#endif
#endif
