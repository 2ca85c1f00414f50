/* revision_impl.h - what revision.c and revision_list.c share. */
#ifndef MYTH_REVISION_IMPL_H
#define MYTH_REVISION_IMPL_H

#include "retrieval/git/git.h"
#include "revision.h"

#include <limits.h>
#include <string.h>

struct myth_revision {
    myth_mem *mem;
    git_repository *repo;
    const char *work; /* the working tree's top; NULL: there is none (bare), or root is git's own folder of it */
    /* old NULL: there is no commit; new NULL: the new side is the working tree or the index */
    git_tree *old_tree, *new_tree;
    git_index *index; /* the index, if it is the new side, else NULL */
    git_diff *whole;  /* the difference of both sides with renames, made when first needed */
    char prefix[PATH_MAX];
    int root_fd;
    bool is_untracked; /* untracked files are part of the difference */
    bool has_commit;   /* below: the commit of the new side, or HEAD */
    git_oid commit;
    int64_t commit_s;
    uint32_t n_untracked; /* untracked files that the difference left out */
    char untracked[192];  /* the first of them */
};

/* MYTH_EIO with what libgit2 says. It fetches nothing: what a partial clone left out is not found. */
static inline myth_status myth_revision_failed(const char *what, myth_error *err)
{
    const char *says = myth_git_says();
    return myth_fail(err, MYTH_EIO, "git: %.60s: %.160s%s", what, says,
                     strncmp(says, "object not found", 16) == 0
                         ? "; a clone made with a filter lacks it until git diff of the same revisions fetches it"
                         : "");
}

/* Whether a sparse checkout leaves the file out of the working tree: it is not deleted where it is missing. path: as
 * the index has it. */
bool myth_revision_is_sparse(git_repository *repo, const char *path);

#endif
