/* merge.h - merges two versions of a text, and makes the difference between two texts.
 *
 * Lines    an end of line is part of its line, so CR LF is kept
 * Format   differences have git's format with the "diff --git" line, so that git apply accepts them. Paths are as
 *          given, quoted where git quotes them
 * Owner    free results by myth_free
 * Threads  any
 * Errors   MYTH_ENOMEM; MYTH_EIO with libgit2's message */
#ifndef MYTH_MERGE_H
#define MYTH_MERGE_H

#include "engine/base/mem.h"

typedef struct {
    const void *bytes;
    size_t n;
} myth_side;

/* Merges the changes that ours and theirs made to base. *is_conflict: both changed the same place, and *out is NULL. */
myth_status myth_merge3(unsigned char **out, size_t *n, bool *is_conflict, myth_mem *mem, myth_side base,
                        myth_side ours, myth_side theirs, myth_error *err);

/* The difference with three lines of context, zero-terminated; "" when there is none. path: the path of both sides,
 * relative to the folder in which the patch will be applied. */
myth_status myth_unified(char **text, size_t *n, myth_mem *mem, const char *path, myth_side old, myth_side now,
                         myth_error *err);

/* Converts a path relative to the current folder into one relative to the top of its git repository. Outside of a
 * repository it is made relative to the current folder, or else to the root of the file system. */
myth_status myth_patch_path(char *dst, size_t cap, myth_mem *mem, const char *path, myth_error *err);

#endif
