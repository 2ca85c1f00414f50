/* embedding.h - runs an embedding model for the retriever: texts in, vectors out.
 *
 * Model     open reads the model, which gives its hash and dimension; start opens the engine, and is called only when
 *           there is a text to embed
 * Vector    the first DIM_MOST values, normalised to length 1 again; EmbeddingGemma is trained so that a prefix of a
 *           vector is a usable vector
 * Prompts   the model's "code" prompt before a question and its "document" prompt before a chunk, unless the model's
 *           metadata key mythos.embed_prompts names others ("query,document")
 * Hash      covers what vectors depend on: tensors, configuration, dense layers, prompts and dimension. Vectors with
 *           different hashes must not be compared
 * Plan      myth_embedding_start makes the run's plan. A command that opens another model after closing this one makes
 *           a new plan
 * Threads   one */
#ifndef MYTH_EMBEDDING_H
#define MYTH_EMBEDDING_H

#include "retrieval/retrieval.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_embedding myth_embedding;

/* MYTH_EUNSUPPORTED: the model generates text and makes no vectors. */
myth_status myth_embedding_open(myth_embedding **out, myth_cli *cli, const char *spec, myth_error *err);
void myth_embedding_close(myth_embedding *x); /* takes NULL */
/* Makes the plan and opens the engine for texts of any length. other_bytes: the most that the command itself allocates
 * of class OTHER from now on. */
myth_status myth_embedding_start(myth_embedding *x, uint64_t other_bytes, myth_error *err);
/* The callbacks for the retriever, valid until close. Embedding with them needs start. */
const myth_text_embedder *myth_embedding_face(const myth_embedding *x);
bool myth_embedding_has_dense(
    const myth_embedding *x); /* without them, vectors cannot be compared with the full model's */
uint64_t myth_embedding_n_cut(const myth_embedding *x); /* number of texts that were cut to the model's context */

/* ---- of a search ---- */

/* The vectors of an index and of one query. */
typedef struct {
    myth_vectors *vectors;
    float *query;
    char off[256]; /* why the search runs without vectors; "" = it has them, or the query needs none */
} myth_semantic;

/* Embeds so->query and sets so->vectors and so->query_vector, if the query is a question, the index has vectors and
 * their model is found (embed_model NULL: at the place it was indexed with, else the shipped one). If not, s->off has
 * the reason, and the search can go on without vectors; for a name or a phrase, found by their words, it stays
 * empty. Only MYTH_ECANCEL and MYTH_ENOMEM are failures. The model is closed before this returns. */
myth_status myth_semantic_open(myth_semantic *s, myth_cli *cli, myth_index *x, const char *embed_model,
                               myth_search_opts *so, myth_error *err);
void myth_semantic_close(myth_semantic *s, myth_cli *cli);
/* Opens the model that made an index's vectors: the given one, else the one at the recorded place, else the shipped one
 * if it has the same hash. *out NULL: none was found, and *err has the reason. */
myth_status myth_semantic_model(myth_embedding **out, myth_cli *cli, const unsigned char model[16], const char *name,
                                const char *given, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
