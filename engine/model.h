/* model.h - a model's files together: weights, config, tokenizer. Enough to tokenize, to build prompts and to plan.
 *
 * Owner    the caller; an engine borrows its model, and the model borrows mem
 * Errors   those of weights.h, config.h and tokenizer.h; a missing tokenizer is not one: such a model runs on ids
 * Threads  immutable after open */
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

/* *out is zeroed or filled. */
myth_status myth_model_open(myth_model *out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                            myth_error *err);
void myth_model_close(myth_model *m); /* takes a zeroed model */
/* Whether every value of a tensor is finite; the tensor was opened with its data. */
bool myth_tensor_is_finite(const myth_tensor *t);
/* Checks every weight (--check-tensors). MYTH_EFORMAT names the first tensor with a value that is not finite. */
myth_status myth_model_check_tensors(const myth_model *m, myth_error *err);

/* A number that tells models apart: FNV-1a over the config, and over each tensor's name, type, shape and first bytes.
 * Two files of the same weights in another form have other numbers; what was computed with one does not fit the other
 * bit for bit either. The model was opened with level HEADER or DATA; with HEADER the bytes do not count. */
uint64_t myth_model_hash(const myth_model *m);

#ifdef __cplusplus
}
#endif
#endif
