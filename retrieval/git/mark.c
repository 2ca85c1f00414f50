/* mark.c - see mark.h. */
#include "mark.h"

#include <stdlib.h>
#include <string.h>

/* Finds the mark; returns the length of the revision in front of it, 0 = there is none. *n: the parent's number.
 * *may_lack: it need not have one. */
static size_t find_mark(const char *spec, unsigned long *n, bool *may_lack)
{
    size_t len = strlen(spec);
    *n = 1;
    *may_lack = len > 2 && strcmp(spec + len - 2, "^!") == 0;
    if (*may_lack)
        return len - 2;
    size_t at = len;
    while (at && spec[at - 1] >= '0' && spec[at - 1] <= '9')
        at--;
    if (at < 3 || memcmp(spec + at - 2, "^-", 2) != 0 || len - at > 6)
        return 0;
    if (spec[at])
        *n = strtoul(spec + at, NULL, 10);
    return *n ? at - 2 : 0;
}

static myth_status find_parent(git_object **from, git_repository *repo, const git_commit *c, unsigned long n,
                               bool may_lack, const char *spec, myth_error *err)
{
    const unsigned n_parent = git_commit_parentcount(c);
    const bool is_shallow = git_repository_is_shallow(repo) == 1;
    git_commit *parent = NULL;
    if (n_parent == 0 && may_lack && !is_shallow)
        return MYTH_OK;
    if (n <= n_parent && git_commit_parent(&parent, c, (unsigned)n - 1) == 0) {
        *from = (git_object *)parent;
        return MYTH_OK;
    }
    if (is_shallow && (n <= n_parent || n_parent == 0))
        return myth_fail(err, MYTH_EARG,
                         "%.100s: this shallow clone lacks the parent; git fetch --unshallow brings it (a flow of "
                         "GitHub: fetch-depth: 2, of GitLab: GIT_DEPTH: 2)",
                         spec);
    if (n <= n_parent)
        return myth_fail(err, MYTH_EIO, "git: %.60s: %.160s", spec, myth_git_says());
    return myth_fail(err, MYTH_EARG, "%.120s: the commit has %u parent%s", spec, n_parent, n_parent == 1 ? "" : "s");
}

myth_status myth_mark_read(git_object **from, git_object **to, bool *is_mark, git_repository *repo, const char *spec,
                           myth_error *err)
{
    char rev[1024];
    unsigned long n;
    bool may_lack;
    git_revspec s = {0};
    myth_status st = MYTH_OK;
    const size_t len = find_mark(spec, &n, &may_lack);
    *from = *to = NULL;
    *is_mark = false;
    if (!len || len >= sizeof(rev))
        return MYTH_OK;
    memcpy(rev, spec, len);
    rev[len] = '\0';
    if (git_revparse(&s, repo, rev) == 0 && (s.flags & GIT_REVSPEC_SINGLE) &&
        git_object_peel(to, s.from, GIT_OBJECT_COMMIT) == 0) {
        *is_mark = true;
        st = find_parent(from, repo, (git_commit *)*to, n, may_lack, spec, err);
    }
    git_object_free(s.from);
    git_object_free(s.to);
    return st;
}
