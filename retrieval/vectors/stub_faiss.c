/* stub_faiss.c - for a build without FAISS: there are no vectors, and callers may only ask whether there are. */
#include "vectors_faiss.h"

bool myth_faiss_is_built(void) { return false; }
myth_status myth_faiss_load(myth_error *err) { return myth_fail(err, MYTH_EUNSUPPORTED, "this build has no FAISS"); }
void myth_faiss_set_threads(int n) { (void)n; }

bool myth_faiss_flat_search(float *score, int64_t *row, const float *x, size_t n, size_t dim, const float *query,
                            size_t k)
{
    (void)score, (void)row, (void)x, (void)n, (void)dim, (void)query, (void)k;
    return false;
}

bool myth_faiss_sq8_encode(unsigned char *code, const float *trained, const float *x, size_t n, size_t dim)
{
    (void)code, (void)trained, (void)x, (void)n, (void)dim;
    return false;
}

bool myth_faiss_sq8_search(float *score, int64_t *row, const unsigned char *code, const float *trained,
                           const uint64_t *first, const uint64_t *end, size_t n_part, size_t dim, const float *query,
                           size_t k)
{
    (void)score, (void)row, (void)code, (void)trained, (void)first, (void)end, (void)n_part, (void)dim, (void)query,
        (void)k;
    return false;
}

bool myth_faiss_cluster(float *centroid, size_t n_list, const float *x, size_t n, size_t dim)
{
    (void)centroid, (void)n_list, (void)x, (void)n, (void)dim;
    return false;
}

bool myth_faiss_assign(int64_t *list, const float *centroid, size_t n_list, const float *x, size_t n, size_t dim)
{
    (void)list, (void)centroid, (void)n_list, (void)x, (void)n, (void)dim;
    return false;
}
