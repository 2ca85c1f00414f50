/* place.c - resolves links first and then looks for the repository above the file, so that neither the spelling nor the
 * current folder can change the name. */
#include "place.h"

#include "ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Cuts a path into folder and last component. */
static void cut(myth_place *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(out->root, sizeof(out->root), "%.*s", slash ? (int)(slash - path) + (slash == path) : 1,
             slash ? path : ".");
    snprintf(out->path, sizeof(out->path), "%s", slash ? slash + 1 : path);
}

void myth_place_find(myth_place *out, const char *typed)
{
    char real[PATH_MAX], top[PATH_MAX];
    struct stat sb;
    out->in_repository = false;
    if (strcmp(typed, "-") == 0) {
        out->root[0] = 0;
        snprintf(out->path, sizeof(out->path), "-");
    } else if (!realpath(typed, real) || stat(real, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        cut(out, typed);
    } else {
        cut(out, real);
        if (!myth_ladder_top(top, out->root))
            return;
        size_t n = strlen(top);
        n -= n == 1; /* "/" */
        out->in_repository = true;
        snprintf(out->root, sizeof(out->root), "%s", top);
        snprintf(out->path, sizeof(out->path), "%s", real + n + 1);
    }
}

/* Whether git tracks a file below the folder; true when its index cannot be read, so that a damaged one does not change
 * names. */
static bool is_tracked(const char *top, const char *folder)
{
    myth_ladder l = {0};
    myth_mem *mem;
    bool is = true;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return true;
    if (myth_ladder_open(&l, mem, top, NULL, true, NULL) != MYTH_OK ||
        myth_ladder_tracks(&is, &l, folder, true, NULL) != MYTH_OK)
        is = true;
    myth_ladder_close(&l);
    myth_mem_close(mem);
    return is;
}

void myth_place_find_folder(myth_place *out, const char *typed, bool is_any)
{
    char real[PATH_MAX], top[PATH_MAX], below[PATH_MAX];
    out->in_repository = false;
    out->path[0] = '\0';
    if (!realpath(typed, real)) {
        snprintf(out->root, sizeof(out->root), "%s", typed);
        return;
    }
    snprintf(out->root, sizeof(out->root), "%s", real);
    if (!myth_ladder_top(top, real))
        return;
    size_t n = strlen(top);
    n -= n == 1; /* "/" */
    snprintf(below, sizeof(below), "%s", real[n] ? real + n + 1 : "");
    if (below[0] && !is_any && !is_tracked(top, below))
        return;
    out->in_repository = true;
    snprintf(out->root, sizeof(out->root), "%s", top);
    if (below[0] && strlen(below) + 1 < sizeof(out->path))
        snprintf(out->path, sizeof(out->path), "%.*s/", (int)sizeof(out->path) - 2, below);
}

bool myth_place_find_new(myth_place *out, const char *typed)
{
    myth_place to;
    char real[PATH_MAX];
    struct stat sb;
    if (stat(typed, &sb) == 0) {
        myth_place_find(out, typed);
        return S_ISREG(sb.st_mode);
    }
    cut(&to, typed);
    if (!to.path[0] || !realpath(to.root, real) || stat(real, &sb) != 0 || !S_ISDIR(sb.st_mode))
        return false;
    myth_place_find_folder(out, real, true);
    const size_t n = strlen(out->path);
    return (size_t)snprintf(out->path + n, sizeof(out->path) - n, "%s", to.path) < sizeof(out->path) - n;
}
