/* merge.h - two texts beside each other: merged over what they came from, or said as the difference that leads from one
 * to the other.
 *
 * Lines    ends are part of a line: what has CR LF keeps it
 * Format   of a difference: git's, "diff --git" and all, so that git apply takes it; paths as given, quoted where git
 *          quotes
 * Owner    results by myth_free
 * Errors   MYTH_ENOMEM, MYTH_EIO what libgit2 says */
#ifndef MYTH_MERGE_H
#define MYTH_MERGE_H

#include "engine/base/mem.h"

typedef struct {
    const void *bytes;
    size_t n;
} myth_side;

/* What ours and theirs made of base, together; *is_conflict: both changed the same place, *out is NULL then. */
myth_status myth_merge3(unsigned char **out, size_t *n, bool *is_conflict, myth_mem *mem, myth_side base,
                        myth_side ours, myth_side theirs, myth_error *err);

/* The difference with three lines of context, zero-terminated; "" when there is none. path: of both sides, below the
 * folder that it is applied in. */
myth_status myth_unified(char **text, size_t *n, myth_mem *mem, const char *path, myth_side old, myth_side now,
                         myth_error *err);

/* The path in its git repository of a file as it is reached from the current folder; of one in no repository the path
 * below the current folder, or below the root of the file system. */
myth_status myth_patch_path(char *dst, size_t cap, myth_mem *mem, const char *path, myth_error *err);

#endif
