/* vectors_faiss.h - the functions of FAISS that the retriever uses, as C functions. The stored layout is our own:
 * FAISS reads no file, it computes over arrays.
 *
 * Scores    inner products, best first; ties in any order
 * Module    FAISS, a BLAS and the C++ and OpenMP runtimes are in a separate library, mythos_faiss.so, loaded on
 *           first use: otherwise every command would spend milliseconds on starting them. Its only symbol is
 *           myth_faiss_module
 * Owner     the caller's arrays; nothing is kept
 * Errors    false: no memory, or no module (myth_faiss_load says why). No C++ exception leaves it
 * Threads   as many as myth_faiss_set_threads allows in the calling thread; clustering gives the same result for
 *           any number
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
/* Loads the module; call it first. MYTH_EUNSUPPORTED: this build has none, or it cannot be loaded. Any thread. */
myth_status myth_faiss_load(myth_error *err);
void myth_faiss_set_threads(int n); /* 0 = all cores */

/* Finds the k nearest of n rows of floats: score[k], and row[k], -1 where there are fewer. */
bool myth_faiss_flat_search(float *score, int64_t *row, const float *x, size_t n, size_t dim, const float *query,
                            size_t k);

/* Encodes values as bytes (QT_8bit). trained [2][dim]: the least value of each dimension, then its range. */
bool myth_faiss_sq8_encode(unsigned char *code, const float *trained, const float *x, size_t n, size_t dim);
/* Finds the k nearest rows in the n_part ranges [first[i], end[i]) of `code`; row[] counts from the beginning of
 * code. */
bool myth_faiss_sq8_search(float *score, int64_t *row, const unsigned char *code, const float *trained,
                           const uint64_t *first, const uint64_t *end, size_t n_part, size_t dim, const float *query,
                           size_t k);

/* cluster computes n_list centres of length 1 from n rows, with a fixed seed; assign finds the nearest centre of
 * each row. */
bool myth_faiss_cluster(float *centroid, size_t n_list, const float *x, size_t n, size_t dim);
bool myth_faiss_assign(int64_t *list, const float *centroid, size_t n_list, const float *x, size_t n, size_t dim);

/* The module's table of the functions above. */
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
