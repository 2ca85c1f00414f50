/* embed.h - turns whole texts into vectors, with a model whose attention looks both ways: forward, mean over the rows,
 * two dense layers, scaling to length 1.
 *
 * Model    config.is_bidirectional; the engine was opened with want_hidden, n_ctx and n_ubatch at least the longest
 *          text
 * Dense    two matrices after the mean, in the folders 2_Dense and 3_Dense of a checkpoint or in its GGUF. Without them
 *          the vectors are other vectors: myth_embedder_has_dense tells, and the two kinds must not be compared
 * Limit    texts of config.n_ctx_train tokens, or of a micro-batch when that is less
 * Units    tokens: the whole text with its prompt, <bos> in front, <eos> behind; vectors f32 of length 1
 * Bits     a text's vector does not depend on what else is in the call
 * Owner    the embedder before its engine
 * Errors   MYTH_EUNSUPPORTED not such a model; MYTH_ELIMIT a text longer than a micro-batch; MYTH_EFORMAT dense layers
 *          that do not fit; those of dense.h
 * Source   EmbeddingGemma (2509.20354); sentence-transformers' modules Transformer, Pooling, Dense, Normalize */
#ifndef MYTH_EMBED_H
#define MYTH_EMBED_H

#include "engine/base/cancel.h"
#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct myth_embedder myth_embedder;

typedef struct {
    const int32_t *ids;
    uint32_t n;
} myth_embed_text;

/* Takes one of the engine's sequences. */
myth_status myth_embedder_open(myth_embedder **out, myth_engine *e, myth_error *err);
void myth_embedder_close(myth_embedder *x);         /* takes NULL */
uint32_t myth_embedder_dim(const myth_embedder *x); /* of a whole vector */
bool myth_embedder_has_dense(const myth_embedder *x);
/* What myth_embedder_dim will say of a model, from its headers. */
myth_status myth_embedder_dim_of(uint32_t *dim, const myth_model *m, myth_error *err);
/* Adds to *extra what open will book beside the engine's plan: its rows, and the files of dense layers. The headers are
 * enough. */
myth_status myth_embedder_needs(myth_plan_extra *extra, const myth_model *m, myth_error *err);
/* What embeddings of texts of up to n_tok tokens ask of an engine, where the caller left it open. */
void myth_embedder_opts(myth_engine_opts *o, const myth_model *m, uint32_t n_tok);

/* out [n_text, dim]: the first dim values of each vector, normed again (Matryoshka); dim 0 = all. cancel may be NULL;
 * it is looked at between micro-batches. */
myth_status myth_embed(myth_embedder *x, const myth_embed_text *text, uint32_t n_text, uint32_t dim, float *out,
                       const myth_cancel *cancel, myth_error *err);

/* ---- prompts ---- */

/* What stands before a text of this use ("query", "document", "code", ...; the model card's); NULL = no such use. */
const char *myth_embed_prompt(const char *use);
/* The uses behind commas, for a message. */
const char *myth_embed_prompt_names(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
