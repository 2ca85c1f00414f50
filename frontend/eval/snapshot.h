/* snapshot.h - the files of a commit as files of a folder, for evaluations at a given commit.
 *
 * Reads    objects of the repository, nothing else of it: no hook, no filter, no configured program; line ends stay as
 *          they are stored
 * Writes   regular files below a folder that is there and is the caller's own; links and submodules are left out. A
 *          name that would leave the folder (a damaged tree) is refused
 * Errors   MYTH_ENOTFOUND no repository there, or not that commit in it; MYTH_EIO, also for a repository with a pipe or
 *          a device (git_files.h says what else is refused there); MYTH_ECANCEL */
#ifndef MYTH_SNAPSHOT_H
#define MYTH_SNAPSHOT_H

#include "engine/base/cancel.h"
#include "engine/base/mem.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    myth_mem *mem;
    const char *git_dir; /* of the repository: bare, or its .git        */
    const char *commit;  /* hexadecimal, whole                          */
    const char *dir;
    const char *const *suffix;       /* only files whose names end so; NULL = all   */
    const myth_cancel *is_cancelled; /* may be NULL                                 */
} myth_snapshot_opts;

myth_status myth_snapshot(uint64_t *n_file, const myth_snapshot_opts *opts, myth_error *err);
/* Copies the regular files below a folder to another one that is there and empty. */
myth_status myth_snapshot_copy(const char *from, const char *to, myth_error *err);
/* Applies a unified diff to the files of a folder, which becomes a repository without a commit; all of it or nothing.
 * MYTH_EFORMAT it is no diff, or does not fit. */
myth_status myth_snapshot_patch(const char *dir, const char *patch, size_t n, myth_error *err);

#endif
