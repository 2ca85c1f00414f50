/* mark.h - the two ranges that git writes as one revision with a mark behind it: what a commit changed.
 *
 * REV^!    the commit and its first parent. Of a merge git compares all parents in text and the first one in numbers;
 *          here it is the first one. The first commit of a history has no parent: all of it is new
 * REV^-N   the commit and its parent number N, 1 where no number stands: what a merge brought to that parent
 * Errors   MYTH_EARG the commit has no such parent, or a shallow clone lacks it; MYTH_EIO with libgit2's message
 * Threads  one
 * Source   gitrevisions(7) */
#ifndef MYTH_MARK_H
#define MYTH_MARK_H

#include "engine/base/status.h"
#include "git.h"

#include <stdbool.h>

/* *is_mark false: spec is no such range of a commit that is there. Else *to is the commit and *from its parent, NULL =
 * it has none; the caller frees both. Call between myth_git_start and myth_git_stop. */
myth_status myth_mark_read(git_object **from, git_object **to, bool *is_mark, git_repository *repo, const char *spec,
                           myth_error *err);

#endif
