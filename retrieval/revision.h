/* revision.h - two sides of a directory: their difference as git writes it, and files as the new side has them.
 *
 * Sides     default      HEAD and the working tree          "A..B"    commits A and B; "A...B" from where they parted
 *           "REV"        that commit and the working tree   staged    HEAD (or REV) and git's index
 *           is_patch     no repository: the difference comes from elsewhere, the new side is the working tree
 * Root      a directory in the work tree, the whole of it or below: only what is below it is compared, paths are
 *           relative to it
 * Safety    libgit2 reads objects, index and files; no hook, filter program or textconv is run, nothing is written. A
 *           repository of another owner is refused, and so is one with a pipe or a device where git keeps a
 *           file (git_files.h). Files of the working tree are opened without following a link
 * Text      every file is compared as text, whatever .gitattributes calls it. Left out of the text, with the line
 *           "Binary
 *          files differ" in place of their hunks, are files whose new side holds zero bytes (myth_detect_binary) or
 *          which are larger than MYTH_REVISION_TEXT_BYTES on one side: nothing of the repository's own settings decides
 * Untracked files are not part of a difference, as with git diff; asked for one file by name (myth_revision_diff_file),
 * all of it is new
 * Errors    MYTH_ENOTFOUND no repository, no such file on the new side; MYTH_EARG no such revision; MYTH_ELIMIT a file
 *           or a difference that is too large; MYTH_EUNSUPPORTED a link or a submodule; MYTH_EIO a file that is there
 *          and cannot be read; what libgit2 says */
#ifndef MYTH_REVISION_H
#define MYTH_REVISION_H

#include "engine/base/mem.h"

typedef struct myth_revision myth_revision;

typedef struct {
    const char *root;
    const char *spec; /* NULL = HEAD */
    bool is_staged, is_patch;
} myth_revision_opts;

enum { MYTH_REVISION_DIFF_BYTES = 64 << 20, MYTH_REVISION_TEXT_BYTES = 4 << 20 };

myth_status myth_revision_open(myth_revision **out, myth_mem *mem, const myth_revision_opts *opts, myth_error *err);
void myth_revision_close(myth_revision *r); /* takes NULL */

/* The difference with three lines of context and renames found; *text by myth_free, zero-terminated. Paths in it are
 * those of the repository: myth_revision_prefix stands in front of all of them. */
myth_status myth_revision_diff(myth_revision *r, char **text, size_t *n, myth_error *err);
const char *myth_revision_prefix(const myth_revision *r); /* "" or "src/lib/" */
/* A file of the new side, relative to the root; *bytes by myth_free. At most max_bytes. */
myth_status myth_revision_read(myth_revision *r, unsigned char **bytes, size_t *n, const char *path, size_t max_bytes,
                               myth_error *err);
/* What the old side would have to change to have this file of the new side, as a diff without context; "" when it has
 * it as it is. bytes: the file as it was read. `path` is that of the repository, prefix and all. A file that the old
 * side has under another name is followed there, from wherever in the repository it came; one that it does not have is
 * new to the last line, whether git tracks it or not. *text by myth_free, zero-terminated. */
myth_status myth_revision_diff_file(myth_revision *r, char **text, size_t *n, const char *path, const void *bytes,
                                    size_t n_bytes, myth_error *err);
/* The path in the repository of a file as it is reached from the current folder, links followed. MYTH_EARG: it is
 * outside of the work tree. */
myth_status myth_revision_locate(const myth_revision *r, char *dst, size_t cap, const char *path, myth_error *err);
/* Hash of the old side's tree, 40 hex digits; "" when there is none yet. */
enum { MYTH_REVISION_ID = 41 };
void myth_revision_old_id(const myth_revision *r, char dst[MYTH_REVISION_ID]);
/* Whether the new side is the working tree. */
bool myth_revision_is_worktree(const myth_revision *r);

#endif
