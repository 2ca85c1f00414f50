/* git.c - see git.h. Without MYTH_GIT_SONAME the library was linked, as where only a static one is. */
#define MYTH_GIT_TABLE_ONLY
#include "git.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

myth_git_table myth_git;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char why[160];

#ifdef MYTH_GIT_SONAME
/* All functions or none. The library stays: nobody says when the last one has left it. */
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

myth_status myth_git_start(myth_error *err)
{
    pthread_once(&once, load);
    if (!is_loaded)
        return myth_fail(err, MYTH_EUNSUPPORTED, "libgit2 cannot be used: %s", why);
    return myth_git.libgit2_init() < 0 ? myth_fail(err, MYTH_ENOMEM, "libgit2 could not be started") : MYTH_OK;
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
