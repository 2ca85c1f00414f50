/* git.c - see git.h. A build without MYTH_GIT_SONAME has linked the library, as where only a static one exists. */
#define MYTH_GIT_TABLE_ONLY
#include "git.h"

#include <dlfcn.h>
#include <git2/sys/alloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

myth_git_table myth_git;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char why[160];

/* ---- memory ---- */

static void (*end_without_memory)(size_t bytes);
static _Atomic uint64_t n_alloc, fails_from;

void myth_git_on_no_memory(void (*end)(size_t bytes)) { end_without_memory = end; }

uint64_t myth_git_fail_from(uint64_t nth)
{
    atomic_store(&fails_from, nth);
    return atomic_exchange(&n_alloc, 0);
}

static bool is_failing(void)
{
    const uint64_t n = atomic_fetch_add_explicit(&n_alloc, 1, memory_order_relaxed) + 1;
    const uint64_t from = atomic_load_explicit(&fails_from, memory_order_relaxed);
    return from && n >= from;
}

static void *checked(void *p, size_t n)
{
    if (!p && n < MYTH_GIT_SMALL_BYTES && end_without_memory)
        end_without_memory(n);
    return p;
}

static void *git_gmalloc(size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    return checked(is_failing() ? NULL : malloc(n ? n : 1), n);
}

static void *git_grealloc(void *p, size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    return checked(is_failing() ? NULL : realloc(p, n ? n : 1), n);
}

static void git_gfree(void *p) { free(p); }

#ifdef MYTH_GIT_ALLOCATOR_IS_WIDE /* older versions need the derived functions too */
static void *git_gcalloc(size_t n, size_t each, const char *file, int line)
{
    size_t all;
    if (__builtin_mul_overflow(n, each, &all))
        return NULL;
    void *p = git_gmalloc(all, file, line);
    return p ? memset(p, 0, all) : NULL;
}

static void *git_greallocarray(void *p, size_t n, size_t each, const char *file, int line)
{
    size_t all;
    return __builtin_mul_overflow(n, each, &all) ? NULL : git_grealloc(p, all, file, line);
}

static void *git_gmallocarray(size_t n, size_t each, const char *file, int line)
{
    return git_greallocarray(NULL, n, each, file, line);
}

static char *git_gsubstrdup(const char *s, size_t n, const char *file, int line)
{
    char *p = n < SIZE_MAX ? git_gmalloc(n + 1, file, line) : NULL;
    if (p) {
        memcpy(p, s, n);
        p[n] = '\0';
    }
    return p;
}

static char *git_gstrndup(const char *s, size_t n, const char *file, int line)
{
    return git_gsubstrdup(s, strnlen(s, n), file, line);
}

static char *git_gstrdup(const char *s, const char *file, int line) { return git_gsubstrdup(s, strlen(s), file, line); }
#endif

static git_allocator allocator = {
    .gmalloc = git_gmalloc,
    .grealloc = git_grealloc,
    .gfree = git_gfree,
#ifdef MYTH_GIT_ALLOCATOR_IS_WIDE
    .gcalloc = git_gcalloc,
    .gstrdup = git_gstrdup,
    .gstrndup = git_gstrndup,
    .gsubstrdup = git_gsubstrdup,
    .greallocarray = git_greallocarray,
    .gmallocarray = git_gmallocarray,
#endif
};

/* ---- the library ---- */

#ifdef MYTH_GIT_SONAME
/* Loads all functions or none. The library is never unloaded, because nothing tells when its last caller has left. */
static void load(void)
{
    static const char *const name[] = {
#define F(name) "git_" #name,
        MYTH_GIT_FUNCTIONS(F)
#undef F
    };
    void *at[sizeof(name) / sizeof(*name)];
    _Static_assert(sizeof(at) == sizeof(myth_git), "the table has functions alone");
    void *library = dlopen(MYTH_GIT_SONAME, RTLD_LAZY | RTLD_LOCAL);
    is_loaded = library != NULL;
    for (size_t i = 0; is_loaded && i < sizeof(name) / sizeof(*name); i++)
        is_loaded = (at[i] = dlsym(library, name[i])) != NULL;
    if (is_loaded)
        memcpy(&myth_git, at, sizeof(at));
    else
        snprintf(why, sizeof(why), "%s", dlerror());
}
#else
static void load(void)
{
    myth_git = (myth_git_table){
#define F(name) .name = git_##name,
        MYTH_GIT_FUNCTIONS(F)
#undef F
    };
    is_loaded = true;
}
#endif

static void load_and_set(void)
{
    load();
    if (is_loaded && myth_git.libgit2_opts(GIT_OPT_SET_ALLOCATOR, &allocator) != 0) {
        is_loaded = false;
        snprintf(why, sizeof(why), "it takes no allocator");
    }
}

/* Starts libgit2, or counts one more user of it. The first tells it which extensions a repository may need although it
 * does not know them (nothing of these changes how objects are read); it forgets them when the last one stops. */
static int start(void)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    static const char *extensions[] = {"partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig"};
    pthread_mutex_lock(&one);
    int n = myth_git.libgit2_init();
    if (n == 1 &&
        myth_git.libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, sizeof(extensions) / sizeof(*extensions)) != 0) {
        myth_git.libgit2_shutdown();
        n = -1;
    }
    pthread_mutex_unlock(&one);
    return n;
}

myth_status myth_git_start(myth_error *err)
{
    pthread_once(&once, load_and_set);
    if (!is_loaded)
        return myth_fail(err, MYTH_EUNSUPPORTED, "libgit2 cannot be used: %s", why);
    return start() < 0 ? myth_fail(err, MYTH_ENOMEM, "libgit2 could not be started") : MYTH_OK;
}

void myth_git_stop(void) { myth_git.libgit2_shutdown(); }

const char *myth_git_says(void)
{
    const git_error *e = myth_git.error_last();
    return e && e->message ? e->message : "libgit2 failed";
}

bool myth_git_is_foreign(int rc)
{
    return rc == GIT_EOWNER || (rc == GIT_ENOTFOUND && strstr(myth_git_says(), "safe.directory") != NULL);
}
