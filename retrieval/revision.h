/* revision.h - two sides of a directory: their difference as git writes it, and files as the new side has them.
 *
 * Sides     default      HEAD and the working tree          "A..B"    commits A and B; "A...B" from where they parted
 *           "REV"        that commit and the working tree   staged    HEAD (or REV) and git's index
 *           is_patch     no repository: the difference comes from elsewhere, the new side is the working tree
 * Root      a directory in the work tree, the whole of it or below: only what is below it is compared, paths are relative to it
 * Safety    libgit2 reads objects, index and files; no hook, filter program or textconv is run, nothing is written. A repository of another
 *           owner is refused. Files of the working tree are opened without following a link
 * Untracked files are not part of a difference, as with git diff
 * Errors    MYTH_ENOTFOUND no repository, no such file on the new side; MYTH_EARG no such revision; MYTH_ELIMIT a file or a difference that is
 *           too large; MYTH_EUNSUPPORTED a link or a submodule; MYTH_EIO what libgit2 says                                        */
#ifndef MYTH_REVISION_H
#define MYTH_REVISION_H

#include "../engine/base/mem.h"

typedef struct myth_revision myth_revision;

typedef struct {
    const char *root;
    const char *spec;           /* NULL = HEAD */
    bool is_staged, is_patch;
} myth_revision_opts;

enum { MYTH_REVISION_DIFF_BYTES = 64 << 20 };

myth_status myth_revision_open(myth_revision **out, myth_mem *mem, const myth_revision_opts *opts, myth_error *err);
void myth_revision_close(myth_revision *r);                             /* takes NULL */

/* The difference with three lines of context and renames found; *text by myth_free, zero-terminated. Paths in it are those of the repository:
 * myth_revision_prefix stands in front of all of them. */
myth_status myth_revision_diff(myth_revision *r, char **text, size_t *n, myth_error *err);
const char *myth_revision_prefix(const myth_revision *r);               /* "" or "src/lib/" */
/* A file of the new side, relative to the root; *bytes by myth_free. At most max_bytes. */
myth_status myth_revision_read(myth_revision *r, unsigned char **bytes, size_t *n, const char *path, size_t max_bytes, myth_error *err);
/* Whether the new side is the working tree. */
bool myth_revision_is_worktree(const myth_revision *r);

#endif
