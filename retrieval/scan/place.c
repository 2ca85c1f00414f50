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
