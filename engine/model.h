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

#ifdef __cplusplus
}
#endif
#endif
