/* vectors.h - a vector for each chunk, in a file beside the database, and the search for the vectors nearest to a
 * question.
 *
 * Files     <database>.vectors-<generation>: rows (chunk id, hash of the chunk's text, vector). A new file is
 *           written and renamed, never changed. <database>.embeddings: the model's output by the hash of the text
 *           (embeddings.h), so that a text is embedded once, whatever its path. <database>.vectors.lock: held by
 *           the process that makes vectors
 * Trust     the file's checksum is compared before it is used. A row counts for a chunk only if it has the hash of
 *           the chunk's text: after an update of the index some chunks have no vector, but none has the vector of
 *           another text
 * In step   the database records the generation of its file, and the state of the index that the file was made for.
 *           If an update is killed in between, no database refers to its file; the next update makes one from the
 *           embeddings
 * Kinds     flat: floats. sq8: one byte a value, between the least and the greatest of its dimension. ivf: sq8 in
 *           lists around centres, of which the nearest lists are searched. Chosen by size (limits.h)
 * FAISS     computes distances, quantisation and clustering. A build without it has no vectors (MYTH_EUNSUPPORTED);
 *           all else works
 * Owner     the caller closes what it opened
 * Threads   one at a time per object
 * Errors    MYTH_ENOTFOUND the index has no vectors; MYTH_EFORMAT the file is damaged; MYTH_ELOST it belongs to
 *           another state of the index, or another process is making one. Messages complete "semantic: off, because
 *           ..." */
#ifndef MYTH_VECTORS_H
#define MYTH_VECTORS_H

#include "engine/base/cancel.h"
#include "retrieval/index/index.h"

typedef struct {
    const char *text; /* not zero-terminated */
    size_t n_text;
} myth_embedder_text;

/* The caller's embedder, which turns texts into vectors. */
typedef struct {
    uint32_t dim;
    unsigned char model[16]; /* hash of everything that its vectors depend on */
    const char *name;        /* the model's path, to find it again */
    const char *prompt;      /* name of the prompt that precedes a chunk's text */
    /* Writes out [n_text][dim], each vector of length 1. is_query: the texts are questions and not chunks. */
    myth_status (*embed)(void *arg, float *out, const myth_embedder_text *text, uint32_t n_text, bool is_query,
                         myth_error *err);
    void *arg;
} myth_text_embedder;

typedef enum { MYTH_VECTORS_AUTO, MYTH_VECTORS_FLAT, MYTH_VECTORS_SQ8, MYTH_VECTORS_IVF } myth_vectors_kind;

enum { MYTH_VECTORS_DIM = 4096, MYTH_VECTORS_NAME = 256, MYTH_VECTORS_PROMPT = 16 };

/* Whether this build can make and read vectors. */
bool myth_vectors_is_built(void);
const char *myth_vectors_kind_name(myth_vectors_kind kind);

/* ---- making ---- */

typedef struct {
    const myth_text_embedder *embedder; /* NULL: use stored embeddings only */
    myth_vectors_kind kind;
    uint32_t n_threads; /* threads of FAISS; 0 = all cores */
    uint32_t wait_ms;   /* how long to wait for another process that makes vectors; 0 = 10 s */
    void (*progress)(void *arg, uint64_t done, uint64_t all, double seconds);
    void *progress_arg;
    const myth_cancel *is_cancelled;
} myth_vectors_update_opts;

typedef struct {
    uint64_t n_chunk, n_vector;     /* after the update: chunks of the index, and those with a vector */
    uint64_t n_embedded, n_missing; /* texts embedded now; chunks left without a vector */
    myth_vectors_kind kind;
    bool is_written; /* a new file was written */
    double seconds;
} myth_vectors_stats;

/* What an update with this embedder would do: n_missing texts to embed, the longest of them in bytes, and
 * peak_bytes, the most memory of class OTHER that it would take. Takes no lock, so another process may be updating. */
typedef struct {
    uint64_t n_chunk, n_missing, longest_bytes, peak_bytes;
} myth_vectors_work;
myth_status myth_vectors_measure(myth_vectors_work *out, myth_index *x, const myth_text_embedder *embedder,
                                 myth_error *err);
/* Whether the database records a vector for every chunk; the file is not read. */
bool myth_vectors_is_in_step(const myth_index *x);
/* The model that made the index's vectors. MYTH_ENOTFOUND: it has none. */
myth_status myth_vectors_model(myth_index *x, unsigned char model[16], char name[MYTH_VECTORS_NAME], myth_error *err);
/* Embeds the texts that have no embedding, writes a file of all vectors, and records it in the database.
 * MYTH_ECANCEL: stopped; what was done is kept and recorded. MYTH_ENOTFOUND: no embedder, and the index never had
 * vectors. */
myth_status myth_vectors_update(myth_index *x, const myth_vectors_update_opts *opts, myth_vectors_stats *stats,
                                myth_error *err);

/* ---- reading ---- */

typedef struct myth_vectors myth_vectors;

typedef struct {
    int64_t chunk_id;
    uint64_t content; /* the chunk's hash, with its bytes as in the database */
    float score;      /* cosine                                                    */
} myth_vector_hit;

/* The order of hits: the nearest first, of equal ones that with the smaller chunk id. */
static inline bool myth_vector_hit_before(const myth_vector_hit *a, const myth_vector_hit *b)
{
    return a->score > b->score || (a->score == b->score && a->chunk_id < b->chunk_id);
}

typedef struct {
    uint64_t n_row, generation;
    uint32_t dim;
    myth_vectors_kind kind;
    unsigned char model[16];
    char name[MYTH_VECTORS_NAME], prompt[MYTH_VECTORS_PROMPT]; /* name and prompt of the model */
    bool is_behind;                                            /* the index was updated after the vectors were made */
} myth_vectors_info;

/* Opens the vectors of an index and compares them with what its database records. */
myth_status myth_vectors_open(myth_vectors **out, myth_index *x, myth_error *err);
void myth_vectors_close(myth_vectors *v); /* takes NULL */
const myth_vectors_info *myth_vectors_about(const myth_vectors *v);
/* Finds the k rows nearest to a query of length 1, best first, ties by chunk id. */
myth_status myth_vectors_search(const myth_vectors *v, const float *query, uint32_t k, myth_vector_hit *hit,
                                uint32_t *n_hit, myth_error *err);
/* The cosine of the query and a chunk's row. False: the chunk has no row, or that of another text. */
bool myth_vectors_score(const myth_vectors *v, const float *query, int64_t chunk_id, uint64_t content, float *score);
/* Compares the vectors with the chunks of the database, and calls report for each problem. Called by
 * myth_index_check; not allowed inside a read transaction. */
myth_status myth_vectors_check(myth_index *x, void (*report)(void *arg, const char *line), void *arg,
                               uint64_t *n_problem, myth_error *err);

#endif
