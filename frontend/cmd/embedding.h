/* embedding.h - an embedding model as the retriever wants it: texts in, vectors out.
 *
 * Model     opened first, which tells its hash and dimension; the engine only when there is something to embed
 * Vector    the first DIM_MOST values, normed again: such models are trained so that these are a vector of their own
 * Prompts   "code" before a question, "document" before a chunk, or what the model's fact mythos.embed_prompts says
 *           ("query,document")
 * Hash      of the tensors, the dense layers, the prompts and the dimension: what vectors depend on
 * Plan      myth_embedding_start plans, as every command that runs a model; what the command itself will take in class
 *           OTHER is given to it. Who opens another model behind this one's close plans anew
 * Threads   one */
#ifndef MYTH_EMBEDDING_H
#define MYTH_EMBEDDING_H

#include "retrieval/retrieval.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_embedding myth_embedding;

/* MYTH_EUNSUPPORTED: it generates text. */
myth_status myth_embedding_open(myth_embedding **out, myth_cli *cli, const char *spec, myth_error *err);
void myth_embedding_close(myth_embedding *x); /* takes NULL */
/* Plans and opens the engine, ready for texts of any length. other_bytes: class OTHER of the command from here on, at
 * most. */
myth_status myth_embedding_start(myth_embedding *x, uint64_t other_bytes, myth_error *err);
/* For the retriever; lent until close. Embedding needs start. */
const myth_text_embedder *myth_embedding_face(const myth_embedding *x);
bool myth_embedding_has_dense(const myth_embedding *x); /* without, its vectors are of a space of their own */
uint64_t myth_embedding_n_cut(const myth_embedding *x); /* texts that were longer than the model reads */

/* ---- of a search ---- */

/* An index's vectors and a query's. */
typedef struct {
    myth_vectors *vectors;
    float *query;
    char off[256]; /* why there are none, though there should be */
} myth_semantic;

/* Sets vectors and query_vector of *so, whose query is set, when the query is one for vectors, the index has them and
 * their model is found (embed_model: where; NULL = where it was, or the shipped one). Else says why not; of a name or a
 * phrase, which are found by their words, nothing is to be said. Only MYTH_ECANCEL and MYTH_ENOMEM are failures. The
 * model is closed again. */
myth_status myth_semantic_open(myth_semantic *s, myth_cli *cli, myth_index *x, const char *embed_model,
                               myth_search_opts *so, myth_error *err);
void myth_semantic_close(myth_semantic *s, myth_cli *cli);
/* The model of an index's vectors: given, else the one it was made with, else the shipped one when it is the same. *out
 * NULL: *err says why. */
myth_status myth_semantic_model(myth_embedding **out, myth_cli *cli, const unsigned char model[16], const char *name,
                                const char *given, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
