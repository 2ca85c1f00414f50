/* ladder.h - where the patterns of a scan come from: the repository around a directory, git's own settings, the files
 * of each directory.
 *
 * Repository  the nearest directory at or above the root with a .git: patterns of the directories between count too.
 *             Without one the root's own files count
 * Trust       of the repository's settings only core.excludesFile and core.ignorecase are read; no program is run, no
 *             file of patterns that is a link, a pipe or larger than MYTH_IGNORE_FILE_BYTES is read. A repository whose
 *             settings or info/exclude are a pipe or a device is refused (MYTH_EIO)
 * Owner       frames belong to the ladder, made by any thread */
#ifndef MYTH_LADDER_H
#define MYTH_LADDER_H

#include "ignore.h"

#include <limits.h>
#include <pthread.h>

typedef struct myth_ladder_part myth_ladder_part; /* a frame and what it owns */

typedef struct {
    myth_mem *mem;
    char top[PATH_MAX];    /* of the repository, else the root; without a link */
    char prefix[PATH_MAX]; /* from top to the root: "src/", or ""              */
    size_t n_prefix;
    bool no_ignore, is_repository;
    bool ignore_case;               /* git's core.ignorecase: of every file of patterns */
    bool has_include;               /* a glob says what is in                           */
    const myth_ignore_frame *frame; /* of what stands above the root                    */
    const myth_ignore_list *option;
    myth_ladder_part *part;
    uint64_t n_bytes; /* of all patterns; under the lock */
    pthread_mutex_t lock;
} myth_ladder;

/* Which files of patterns a directory has: bits for myth_ladder_enter. */
enum { MYTH_HAS_GITIGNORE = 1, MYTH_HAS_IGNORE = 2, MYTH_HAS_MYTHOSIGNORE = 4, MYTH_HAS_GITATTRIBUTES = 8 };
int myth_ladder_file(const char *name); /* its bit, 0 for any other name */

/* Zero *l before; closed by myth_ladder_close also after a failure. MYTH_ENOTFOUND the root is missing, MYTH_EARG it is
 * no directory, MYTH_EIO, MYTH_ENOMEM. */
myth_status myth_ladder_open(myth_ladder *l, myth_mem *mem, const char *root, const char *const *globs, bool no_ignore,
                             myth_error *err);
void myth_ladder_close(myth_ladder *l);
/* The frame inside the directory `fd`, whose path from top is `path` ("" or with a slash at its end), below `frame`;
 * the same frame when it has no patterns. *not_read: bits of files that are too large, pipes or devices. */
myth_status myth_ladder_enter(const myth_ignore_frame **out, myth_ladder *l, const myth_ignore_frame *frame, int fd,
                              const char *path, int has, int *not_read, myth_error *err);
/* Whether the directory open at fd is a repository: a .git with a HEAD, or a file .git that names one. */
bool myth_ladder_is_repository(int fd);
/* Whether a glob names something below the directory `path` (from top), letter by letter. */
bool myth_ladder_is_named(const myth_ladder *l, const char *path);

#endif
