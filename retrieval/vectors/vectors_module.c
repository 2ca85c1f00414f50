/* vectors_module.c - see vectors_faiss.h. Finds the module relative to the program, and calls it.
 *
 * Place    MYTH_MODULE_PLACE, relative to the program's directory, when installed. In a build the module lies
 *          beside the program, and tests are one directory below it. No variable and no search path decides,
 *          because what is loaded is executed */
#include "vectors_faiss.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODULE "mythos_faiss.so"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const myth_faiss_face *face; /* NULL = it cannot be loaded */
static char why[160];

/* The library is never unloaded, because threads of OpenMP run in it. */
static void load(void)
{
    static const char *const place[] = {MYTH_MODULE_PLACE, ".", ".."};
    char self[PATH_MAX], path[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash = n > 0 ? (self[n] = '\0', strrchr(self, '/')) : NULL;
    void *library = NULL;
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !library && i < sizeof(place) / sizeof(*place); i++) {
        snprintf(path, sizeof(path), "%s/%s/" MODULE, self, place[i]);
        if (access(path, F_OK) != 0)
            continue;
        library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        if (!library)
            snprintf(why, sizeof(why), "%s", dlerror());
    }
    if (!slash)
        snprintf(why, sizeof(why), "/proc/self/exe, which says where the program is, cannot be read; mount /proc");
    const myth_faiss_face *found = library ? dlsym(library, "myth_faiss_module") : NULL;
    if (found && found->version == MYTH_FAISS_VERSION)
        face = found;
    else if (!why[0])
        snprintf(why, sizeof(why), "%s",
                 library ? MODULE " is of another version" : MODULE " is not where it was installed");
}

myth_status myth_faiss_load(myth_error *err)
{
    pthread_once(&once, load);
    return face ? MYTH_OK
                : myth_fail(err, MYTH_EUNSUPPORTED, "FAISS cannot be used: %s; install the program anew", why);
}

bool myth_faiss_is_built(void) { return true; }

void myth_faiss_set_threads(int n)
{
    if (myth_faiss_load(NULL) == MYTH_OK)
        face->set_threads(n);
}

bool myth_faiss_flat_search(float *score, int64_t *row, const float *x, size_t n, size_t dim, const float *query,
                            size_t k)
{
    return myth_faiss_load(NULL) == MYTH_OK && face->flat_search(score, row, x, n, dim, query, k);
}

bool myth_faiss_sq8_encode(unsigned char *code, const float *trained, const float *x, size_t n, size_t dim)
{
    return myth_faiss_load(NULL) == MYTH_OK && face->sq8_encode(code, trained, x, n, dim);
}

bool myth_faiss_sq8_search(float *score, int64_t *row, const unsigned char *code, const float *trained,
                           const uint64_t *first, const uint64_t *end, size_t n_part, size_t dim, const float *query,
                           size_t k)
{
    return myth_faiss_load(NULL) == MYTH_OK &&
           face->sq8_search(score, row, code, trained, first, end, n_part, dim, query, k);
}

bool myth_faiss_cluster(float *centroid, size_t n_list, const float *x, size_t n, size_t dim)
{
    return myth_faiss_load(NULL) == MYTH_OK && face->cluster(centroid, n_list, x, n, dim);
}

bool myth_faiss_assign(int64_t *list, const float *centroid, size_t n_list, const float *x, size_t n, size_t dim)
{
    return myth_faiss_load(NULL) == MYTH_OK && face->assign(list, centroid, n_list, x, n, dim);
}
