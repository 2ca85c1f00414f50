/* tracked.h - which paths git tracks: the names in a repository's index.
 *
 * Why      libgit2 reads an index too, but starting it takes 10 ms and an index of 20,000 entries another 15, as long
 *          as many a search; the names alone are read in 1 ms
 * Read     versions 2, 3 and 4, object ids of SHA-1 and SHA-256, and the shared part of a split index. Of a split index
 *          the names of both parts count, also those that the second part takes back. A submodule counts as a file; the
 *          folders of a sparse index do not count. Checksums are not compared
 * Paths    bytes, from the top of the work tree, without a slash at either end
 * Owner    the caller closes it
 * Threads  any may ask
 * Errors   MYTH_EFORMAT git would not read it either, or it is of a later kind; MYTH_EIO it cannot be read, or is no
 *          regular file; MYTH_ELIMIT it is larger than MYTH_TRACKED_BYTES; MYTH_ENOMEM. A missing index tracks nothing
 * Source   gitformat-index(5) */
#ifndef MYTH_TRACKED_H
#define MYTH_TRACKED_H

#include "engine/base/mem.h"

#include <stdbool.h>
#include <stddef.h>

enum { MYTH_TRACKED_BYTES = 512 << 20 }; /* five million files: more than any repository has in one work tree */

typedef struct myth_tracked myth_tracked;

/* Reads the index of the folder that git uses for this work tree: .git, or what a file of that name says. */
myth_status myth_tracked_open(myth_tracked **out, myth_mem *mem, const char *git_dir, myth_error *err);
void myth_tracked_close(myth_tracked *t); /* takes NULL */

/* Whether the file is tracked. */
bool myth_tracked_has(const myth_tracked *t, const char *path);
/* Whether a file below the directory is tracked. */
bool myth_tracked_has_below(const myth_tracked *t, const char *dir);

#endif
