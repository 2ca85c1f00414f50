/* vectors_faiss.cc - see vectors_faiss.h.
 *
 * BLAS     is not called: what Debian's alternative offers ranges from a loop to a pool of threads, and a product's
 *          bits with it. FAISS's own loops take one query, or all of them when the threshold says so */
#include "vectors_faiss.h"

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVF.h>
#include <faiss/impl/ScalarQuantizer.h>
#include <faiss/utils/Heap.h>
#include <faiss/utils/distances.h>

#include <climits>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

extern "C" void omp_set_num_threads(int n);
extern "C" int omp_get_num_procs(void);

namespace
{

enum { ITERATIONS = 8, SEED = 1234, POINTS = 256 }; /* of clustering; POINTS: of a centre at most */

void without_blas() { faiss::distance_compute_blas_threshold = INT_MAX; }

/* Runs what may throw. */
template <typename F> bool guarded(F f)
{
    try {
        without_blas();
        f();
        return true;
    } catch (...) {
        return false;
    }
}

faiss::ScalarQuantizer quantizer(const float *trained, size_t dim)
{
    faiss::ScalarQuantizer sq(dim, faiss::ScalarQuantizer::QT_8bit);
    sq.trained.assign(trained, trained + 2 * dim);
    return sq;
}

void set_threads(int n) { omp_set_num_threads(n > 0 ? n : omp_get_num_procs()); }

bool flat_search(float *score, int64_t *row, const float *x, size_t n, size_t dim, const float *query, size_t k)
{
    return guarded([&] {
        faiss::float_minheap_array_t heap = {1, k, row, score};
        faiss::knn_inner_product(query, x, dim, 1, n, &heap);
    });
}

bool sq8_encode(unsigned char *code, const float *trained, const float *x, size_t n, size_t dim)
{
    return guarded([&] { quantizer(trained, dim).compute_codes(x, code, n); });
}

bool sq8_search(float *score, int64_t *row, const unsigned char *code, const float *trained, const uint64_t *first,
                const uint64_t *end, size_t n_part, size_t dim, const float *query, size_t k)
{
    return guarded([&] {
        faiss::ScalarQuantizer sq = quantizer(trained, dim);
        std::unique_ptr<faiss::InvertedListScanner> scan(
            sq.select_InvertedListScanner(faiss::METRIC_INNER_PRODUCT, nullptr, false, nullptr));
        std::vector<int64_t> ids;
        scan->set_query(query);
        faiss::minheap_heapify(k, score, row);
        for (size_t i = 0; i < n_part; i++) {
            const size_t n = end[i] - first[i];
            if (ids.size() < n)
                ids.resize(n);
            for (size_t r = 0; r < n; r++)
                ids[r] = static_cast<int64_t>(first[i] + r);
            scan->set_list(static_cast<int64_t>(i), 0.0f);
            scan->scan_codes(n, code + first[i] * dim, ids.data(), score, row, k);
        }
        faiss::minheap_reorder(k, score, row);
    });
}

bool cluster(float *centroid, size_t n_list, const float *x, size_t n, size_t dim)
{
    return guarded([&] {
        faiss::ClusteringParameters how;
        how.niter = ITERATIONS;
        how.seed = SEED;
        how.spherical = true;
        how.min_points_per_centroid = 1; /* fewer are few, not worth a line on stderr */
        how.max_points_per_centroid = POINTS;
        faiss::Clustering clusters(static_cast<int>(dim), static_cast<int>(n_list), how);
        faiss::IndexFlatIP index(static_cast<int64_t>(dim));
        clusters.train(static_cast<int64_t>(n), x, index);
        std::memcpy(centroid, clusters.centroids.data(), n_list * dim * sizeof(float));
    });
}

bool assign(int64_t *list, const float *centroid, size_t n_list, const float *x, size_t n, size_t dim)
{
    return guarded([&] {
        std::vector<float> score(n);
        faiss::float_minheap_array_t heap = {n, 1, list, score.data()};
        faiss::knn_inner_product(x, centroid, dim, n, n_list, &heap);
    });
}

} // namespace

extern "C" __attribute__((visibility("default"))) const myth_faiss_face myth_faiss_module = {
    MYTH_FAISS_VERSION, set_threads, flat_search, sq8_encode, sq8_search, cluster, assign,
};
