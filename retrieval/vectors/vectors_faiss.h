/* vectors_faiss.h - what of FAISS the retriever uses, behind C. The layout of what is stored is ours: FAISS reads no
 * file, it computes over arrays.
 *
 * Scores    inner products, best first; ties as they come
 * Module    FAISS, a BLAS and the runtimes of C++ and OpenMP are in a library of their own, mythos_faiss.so, loaded by
 *           the first that needs them: every command would start with them else, for milliseconds. It has one symbol,
 *           myth_faiss_module
 * Errors    false: no memory, or no module (myth_faiss_load says why). No exception comes through
 * Threads   up to the number that was set in the calling thread; clustering has the same answer for every number
 * Source    faiss/impl/ScalarQuantizer.h (QT_8bit), faiss/Clustering.h, faiss/utils/distances.h; version 1.7.3 */
#ifndef MYTH_VECTORS_FAISS_H
#define MYTH_VECTORS_FAISS_H

#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

bool myth_faiss_is_built(void);
/* Before the rest, to say why not: MYTH_EUNSUPPORTED this build has none, or it cannot be loaded. Any thread. */
myth_status myth_faiss_load(myth_error *err);
void myth_faiss_set_threads(int n); /* 0 = all cores */

/* The k nearest of n rows of floats; score[k], row[k], -1 where there are fewer. */
bool myth_faiss_flat_search(float *score, int64_t *row, const float *x, size_t n, size_t dim, const float *query,
                            size_t k);

/* A byte a value (QT_8bit): `trained` has the least value of each dimension, then the distance to the greatest. */
bool myth_faiss_sq8_encode(unsigned char *code, const float *trained, const float *x, size_t n, size_t dim);
/* The k nearest of the rows in n_part pieces [first[i], end[i]) of `code`; row[] counts from the beginning of code. */
bool myth_faiss_sq8_search(float *score, int64_t *row, const unsigned char *code, const float *trained,
                           const uint64_t *first, const uint64_t *end, size_t n_part, size_t dim, const float *query,
                           size_t k);

/* n_list centres of length 1 of n rows, from a fixed seed; and for each row its nearest centre. */
bool myth_faiss_cluster(float *centroid, size_t n_list, const float *x, size_t n, size_t dim);
bool myth_faiss_assign(int64_t *list, const float *centroid, size_t n_list, const float *x, size_t n, size_t dim);

/* What the module gives: the functions above. */
enum { MYTH_FAISS_VERSION = 1 };
typedef struct {
    int version;
    void (*set_threads)(int n);
    bool (*flat_search)(float *score, int64_t *row, const float *x, size_t n, size_t dim, const float *query, size_t k);
    bool (*sq8_encode)(unsigned char *code, const float *trained, const float *x, size_t n, size_t dim);
    bool (*sq8_search)(float *score, int64_t *row, const unsigned char *code, const float *trained,
                       const uint64_t *first, const uint64_t *end, size_t n_part, size_t dim, const float *query,
                       size_t k);
    bool (*cluster)(float *centroid, size_t n_list, const float *x, size_t n, size_t dim);
    bool (*assign)(int64_t *list, const float *centroid, size_t n_list, const float *x, size_t n, size_t dim);
} myth_faiss_face;

#ifdef __cplusplus
}
#endif
#endif
