/* vectors.h - the index's second half: a vector for each chunk, in one file beside the database, and what lies nearest
 * to a question's.
 *
 * Files     <database>.vectors  rows (chunk id, hash of the chunk's text, vector), made whole: written beside and
 *           renamed
 *           <database>.embeddings   what the model said of a text, by the text's hash (embeddings.h): a text is
 *                                   embedded once, whatever its path
 *           <database>.vectors.lock held by the one process that makes them
 * Trust     the file's checksum is compared before anything of it is read. A row counts for a chunk only while the
 *           chunk has the row's hash: an index that was updated since has chunks without a vector, never one with
 *           another text's
 * In step   the database says which generation of the file is its own, and of which of its own states. An update that
 *           was ended in between leaves a file that no database claims: the next one makes it anew from the embeddings
 *           that are there
 * Kinds     flat: floats; sq8: a byte a value between the least and the greatest of its dimension; ivf: sq8 in lists
 *           around centres, of which the nearest are looked through. Chosen by size (limits.h)
 * FAISS     computes: distances, quantiser, clustering. A build without it has no vectors: MYTH_EUNSUPPORTED, and
 *           everything else works
 * Threads   one at a time per object
 * Errors    MYTH_ENOTFOUND the index has no vectors; MYTH_EFORMAT the file is damaged; MYTH_ELOST it is not of this
 *           state of the index, or another process makes one. Messages are reasons: "semantic: off, because ..." */
#ifndef MYTH_VECTORS_H
#define MYTH_VECTORS_H

#include "engine/base/cancel.h"
#include "retrieval/index/index.h"

typedef struct {
    const char *text; /* not zero-terminated */
    size_t n_text;
} myth_embedder_text;

/* What makes vectors of texts. The engine is behind it; the retriever knows only this. */
typedef struct {
    uint32_t dim;
    unsigned char model[16]; /* hash of all that its vectors depend on                    */
    const char *name;        /* how to find it again: a model's path                      */
    const char *prompt;      /* name of what stands before a chunk's text                 */
    /* out [n_text][dim], each of length 1. is_query: the texts are questions, not chunks. */
    myth_status (*embed)(void *arg, float *out, const myth_embedder_text *text, uint32_t n_text, bool is_query,
                         myth_error *err);
    void *arg;
} myth_text_embedder;

typedef enum { MYTH_VECTORS_AUTO, MYTH_VECTORS_FLAT, MYTH_VECTORS_SQ8, MYTH_VECTORS_IVF } myth_vectors_kind;

enum { MYTH_VECTORS_DIM = 4096, MYTH_VECTORS_NAME = 256, MYTH_VECTORS_PROMPT = 16 };

/* Whether this build can make and read them. */
bool myth_vectors_is_built(void);
const char *myth_vectors_kind_name(myth_vectors_kind kind);

/* ---- making ---- */

typedef struct {
    const myth_text_embedder *embedder; /* NULL: what the embeddings have, nothing new               */
    myth_vectors_kind kind;
    uint32_t n_threads; /* of FAISS; 0 = all cores                                   */
    uint32_t wait_ms;   /* for another maker; 0 = 10 s                               */
    void (*progress)(void *arg, uint64_t done, uint64_t all, double seconds);
    void *progress_arg;
    const myth_cancel *is_cancelled;
} myth_vectors_update_opts;

typedef struct {
    uint64_t n_chunk, n_vector;     /* after the update: chunks of the index, those with a vector */
    uint64_t n_embedded, n_missing; /* texts given to the model now; chunks left without          */
    myth_vectors_kind kind;
    bool is_written; /* a new file was made                                        */
    double seconds;
} myth_vectors_stats;

/* What an update with this embedder would do: texts that the embedder would get, the longest of them in bytes, and the
 * bytes of class OTHER that the update takes at most. Takes no lock: another process may be at it. */
typedef struct {
    uint64_t n_chunk, n_missing, longest_bytes, peak_bytes;
} myth_vectors_work;
myth_status myth_vectors_measure(myth_vectors_work *out, myth_index *x, const myth_text_embedder *embedder,
                                 myth_error *err);
/* Whether the database says that every chunk has its vector; the file is not looked at. */
bool myth_vectors_is_in_step(const myth_index *x);
/* The model whose vectors the index has. MYTH_ENOTFOUND: it has none. */
myth_status myth_vectors_model(myth_index *x, unsigned char model[16], char name[MYTH_VECTORS_NAME], myth_error *err);
/* Makes every chunk's vector that is not there, a file of them, and records it in the database. MYTH_ECANCEL: stopped,
 * and what was done is kept and recorded. MYTH_ENOTFOUND: without an embedder, an index that never had vectors. */
myth_status myth_vectors_update(myth_index *x, const myth_vectors_update_opts *opts, myth_vectors_stats *stats,
                                myth_error *err);

/* ---- reading ---- */

typedef struct myth_vectors myth_vectors;

typedef struct {
    int64_t chunk_id;
    uint64_t content; /* the chunk's hash, its bytes as they lie in the database   */
    float score;      /* cosine                                                    */
} myth_vector_hit;

typedef struct {
    uint64_t n_row, generation;
    uint32_t dim;
    myth_vectors_kind kind;
    unsigned char model[16];
    char name[MYTH_VECTORS_NAME], prompt[MYTH_VECTORS_PROMPT]; /* of the model                      */
    bool is_behind; /* the index was updated since                               */
} myth_vectors_info;

/* The vectors of an index, compared with what its database says of them. */
myth_status myth_vectors_open(myth_vectors **out, myth_index *x, myth_error *err);
void myth_vectors_close(myth_vectors *v); /* takes NULL */
const myth_vectors_info *myth_vectors_about(const myth_vectors *v);
/* The k rows nearest to a query of length 1, best first, ties by chunk id. n_threads as above. */
myth_status myth_vectors_search(const myth_vectors *v, const float *query, uint32_t k, myth_vector_hit *hit,
                                uint32_t *n_hit, myth_error *err);
/* The cosine with a chunk's row. False: it has none, or one of another text. */
bool myth_vectors_score(const myth_vectors *v, const float *query, int64_t chunk_id, uint64_t content, float *score);
/* Lines for what is wrong, beside the chunks of the database: called by myth_index_check, which looks at the rest. Not
 * inside a read. */
myth_status myth_vectors_check(myth_index *x, void (*report)(void *arg, const char *line), void *arg,
                               uint64_t *n_problem, myth_error *err);

#endif
