/* dense.h - the two dense layers behind an encoder's pooling, wherever its files keep them: tensors dense_2 and dense_3
 * of a GGUF, or the folders 2_Dense and 3_Dense beside the model. Both or none.
 *
 * Shapes   layer[0] [n_mid, d_model], layer[1] [n_out, n_mid]; no bias, no activation
 * Owner    myth_dense_close; the model stays open for as long
 * Errors   MYTH_EFORMAT a shape that does not fit, one layer without the other; MYTH_EUNSUPPORTED the config of a
 *          module beside the model asks for something else: a pooling other than the mean, an activation, a residual
 * Source   sentence-transformers' module Dense; tensor names of llama.cpp's converter */
#ifndef MYTH_DENSE_H
#define MYTH_DENSE_H

#include "engine/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const myth_tensor *layer[MYTH_DENSE_N]; /* NULL = none */
    myth_weights *own[MYTH_DENSE_N];        /* files of folders */
} myth_dense;

/* Whether there are any: from the directory of the files alone. */
bool myth_dense_has(const myth_model *m);
/* Level DATA needs a model opened with it. *out may be closed after a failure. */
myth_status myth_dense_open(myth_dense *out, const myth_model *m, myth_weights_level level, myth_error *err);
void myth_dense_close(myth_dense *d);

#ifdef __cplusplus
}
#endif
#endif
