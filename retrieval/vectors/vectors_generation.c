/* vectors_generation.c - which file of vectors is the database's: its number, whether it is of the index as it is now,
 * and the removal of every other. */
#include "vectors_impl.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t myth_vectors_new_generation(void)
{
    uint64_t g = 0;
    if (getrandom(&g, sizeof(g), GRND_NONBLOCK) != sizeof(g)) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        g = (uint64_t)t.tv_sec * 1000000007u ^ (uint64_t)t.tv_nsec << 20 ^ (uint64_t)getpid();
    }
    g &= INT64_MAX; /* numbers in meta are signed */
    return g ? g : 1;
}

bool myth_vectors_is_of_this_state(const myth_index *x)
{
    return myth_store_number(x->store, MYTH_VECTORS_GENERATION, 0) &&
           myth_store_number(x->store, MYTH_VECTORS_STATE, -1) == myth_store_number(x->store, "updates", 0);
}

bool myth_vectors_is_in_step(const myth_index *x)
{
    return myth_vectors_is_of_this_state(x) && !myth_store_number(x->store, MYTH_VECTORS_MISSING, 0);
}

void myth_vectors_remove_others(const myth_index *x, uint64_t generation)
{
    char path[PATH_MAX], keep[PATH_MAX], dir[PATH_MAX];
    myth_vectors_path(keep, x, generation);
    snprintf(dir, sizeof(dir), "%s", x->path);
    char *slash = strrchr(dir, '/');
    const char *base = slash ? slash + 1 : dir;
    char prefix[NAME_MAX + 16];
    snprintf(prefix, sizeof(prefix), "%.*s.vectors-", NAME_MAX, base);
    if (slash)
        *slash = '\0';
    DIR *d = opendir(slash ? (dir[0] ? dir : "/") : ".");
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
            continue;
        const int n = snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - NAME_MAX - 2, slash ? dir : ".", e->d_name);
        if (n > 0 && n < PATH_MAX &&
            strcmp(strrchr(path, '/') + 1, strrchr(keep, '/') ? strrchr(keep, '/') + 1 : keep) != 0)
            unlink(path);
    }
    if (d)
        closedir(d);
}
