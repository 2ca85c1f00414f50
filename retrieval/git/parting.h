/* parting.h - the commit at which two histories parted: the last one that both have.
 *
 * Shallow  a clone that lacks older commits (git clone --depth) has the commits down to some, whose parents are
 *          missing. What is reached over commits that are there counts. libgit2 1.5 finds nothing in such a clone,
 *          because its own walk goes on into the parents; git merge-base goes to no parent of the last commits, also
 *          where one is there
 * Several  of last common commits, as after merges in both directions, the newest
 * Threads  one
 * Errors   MYTH_ENOTFOUND the two have none, or, of a shallow clone, none that is there: is_cut says so; MYTH_EIO with
 *          libgit2's message; MYTH_ENOMEM */
#ifndef MYTH_PARTING_H
#define MYTH_PARTING_H

#include "engine/base/mem.h"
#include "git.h"

/* *is_cut = whether the clone is shallow. Call between myth_git_start and myth_git_stop. */
myth_status myth_parting(git_oid *out, bool *is_cut, myth_mem *mem, git_repository *repo, const git_oid *a,
                         const git_oid *b, myth_error *err);

#endif
