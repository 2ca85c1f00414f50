/* revision_list.c - lists which files were changed: those of the commits that led here. */
#include "engine/base/array.h"
#include "engine/base/table.h"
#include "retrieval/git/git_files.h"
#include "revision_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- the commits that led here ---- */

/* The differences of a commit to its parent, below `path` if it is not "". NULL: it is a merge, or the parent is absent
 * as in a shallow clone. */
static myth_status commit_diff(git_diff **out, myth_revision *r, git_commit *c, char *path, myth_error *err)
{
    git_tree *tree = NULL, *before = NULL;
    git_commit *parent = NULL;
    git_diff_options opts;
    *out = NULL;
    git_diff_options_init(&opts, GIT_DIFF_OPTIONS_VERSION);
    opts.flags = GIT_DIFF_SKIP_BINARY_CHECK | GIT_DIFF_DISABLE_PATHSPEC_MATCH;
    if (path[0])
        opts.pathspec = (git_strarray){.strings = &path, .count = 1};
    int rc = git_commit_parentcount(c) > 1 ? GIT_ENOTFOUND : git_commit_tree(&tree, c);
    if (rc == 0 && git_commit_parentcount(c) == 1)
        rc = git_commit_parent(&parent, c, 0) == 0 ? git_commit_tree(&before, parent) : GIT_ENOTFOUND;
    if (rc == 0)
        rc = git_diff_tree_to_tree(out, r->repo, before, tree, &opts);
    git_tree_free(before);
    git_commit_free(parent);
    git_tree_free(tree);
    return rc == 0 || rc == GIT_ENOTFOUND ? MYTH_OK : myth_revision_failed("a commit", err);
}

/* Calls on_commit for one commit, if it has files here. */
static myth_status put_commit(myth_revision *r, git_commit *c, const git_oid *oid, char *path,
                              bool (*on_commit)(void *arg, const myth_commit *c), void *arg, bool *goes_on,
                              myth_error *err)
{
    git_diff *diff = NULL;
    const size_t n_prefix = strlen(r->prefix);
    myth_status st = commit_diff(&diff, r, c, path, err);
    const size_t n = diff ? git_diff_num_deltas(diff) : 0;
    myth_commit_file *file = n ? myth_alloc_n(r->mem, MYTH_MEM_OTHER, "commit", n, sizeof(*file)) : NULL;
    if (n && !file)
        st = myth_fail(err, MYTH_ENOMEM, "no memory for the %zu files of a commit", n);
    uint32_t n_file = 0;
    for (size_t i = 0; file && i < n; i++) {
        const git_diff_delta *d = git_diff_get_delta(diff, i);
        const bool is_gone = d->status == GIT_DELTA_DELETED;
        file[n_file++] = (myth_commit_file){
            .path = (is_gone ? d->old_file.path : d->new_file.path) + n_prefix,
            .change = is_gone                           ? 'D'
                    : d->status == GIT_DELTA_ADDED      ? 'A'
                    : d->status == GIT_DELTA_TYPECHANGE ? 'T'
                                                        : 'M',
        };
    }
    if (n_file) {
        const char *subject = git_commit_summary(c);
        myth_commit one = {
            .time_s = git_commit_time(c), .subject = subject ? subject : "", .file = file, .n_file = n_file};
        git_oid_tostr(one.id, sizeof(one.id), oid);
        *goes_on = on_commit(arg, &one);
    }
    myth_free(r->mem, file);
    git_diff_free(diff);
    return st;
}

/* A commit that is known to be in the history and was not looked at yet. */
typedef struct {
    git_oid id;
    int64_t time_s;
} waiting;

typedef struct {
    myth_revision *r;
    waiting *todo;
    git_oid *seen;  /* each once */
    uint32_t *slot; /* of seen */
    uint32_t n_todo, cap_todo, n_seen, cap_seen, n_slot;
    bool is_cut; /* a shallow clone lacks a parent */
} walk;

static bool is_seen(const void *of, uint32_t idx, const void *id)
{
    return git_oid_cmp(&((const git_oid *)of)[idx], id) == 0;
}

static uint32_t *slot_of(const walk *w, const git_oid *id)
{
    return myth_table_find(w->slot, w->n_slot, myth_hash_bytes(id, sizeof(*id)), is_seen, w->seen, id);
}

static bool make_room(walk *w)
{
    myth_mem *mem = w->r->mem;
    if (!MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "history", &w->todo, w->n_todo, &w->cap_todo) ||
        !MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "history", &w->seen, w->n_seen, &w->cap_seen))
        return false;
    if (w->n_slot >= 2 * (w->n_seen + 1))
        return true;
    myth_free(mem, w->slot);
    w->n_slot = myth_table_slots(2 * (w->n_seen + 1));
    w->slot = myth_alloc_n(mem, MYTH_MEM_OTHER, "history", w->n_slot, sizeof(*w->slot));
    for (uint32_t i = 0; w->slot && i < w->n_seen; i++)
        *slot_of(w, &w->seen[i]) = i + 1;
    return w->slot != NULL;
}

/* Puts a commit on the list of those to look at, once. libgit2's own walk ends with an error where a shallow clone
 * does. */
static myth_status put(walk *w, const git_oid *id, myth_error *err)
{
    git_commit *c = NULL;
    if (!make_room(w))
        return myth_fail(err, MYTH_ENOMEM, "git: no memory for a history");
    uint32_t *slot = slot_of(w, id);
    if (*slot)
        return MYTH_OK;
    w->seen[w->n_seen] = *id;
    *slot = ++w->n_seen;
    const int rc = git_commit_lookup(&c, w->r->repo, id);
    if (rc == GIT_ENOTFOUND && git_repository_is_shallow(w->r->repo) == 1) {
        w->is_cut = true;
        return MYTH_OK;
    }
    if (rc != 0)
        return myth_revision_failed("history", err);
    w->todo[w->n_todo++] = (waiting){*id, git_commit_time(c)};
    git_commit_free(c);
    return MYTH_OK;
}

/* Takes the newest from the list; of several the one that was put first. */
static git_oid take(walk *w)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < w->n_todo; i++)
        if (w->todo[i].time_s > w->todo[best].time_s)
            best = i;
    const git_oid id = w->todo[best].id;
    w->n_todo--;
    memmove(w->todo + best, w->todo + best + 1, (w->n_todo - best) * sizeof(*w->todo));
    return id;
}

/* The root's path in the repository, or that of `under` below it. */
static void whole_path(char dst[2 * PATH_MAX], const myth_revision *r, const char *under)
{
    const size_t n = (size_t)snprintf(dst, 2 * PATH_MAX, "%s%s", r->prefix, under);
    if (n && n < 2 * PATH_MAX && dst[n - 1] == '/')
        dst[n - 1] = '\0';
}

myth_status myth_revision_commits(myth_revision *r, const char *under,
                                  bool (*on_commit)(void *arg, const myth_commit *c), void *arg, myth_commits_end *end,
                                  myth_error *err)
{
    git_reference *head = NULL;
    walk w = {.r = r};
    char path[2 * PATH_MAX];
    myth_status st = MYTH_OK;
    bool goes_on = true;
    whole_path(path, r, under);
    *end = MYTH_COMMITS_WHOLE;
    const int rc = git_repository_head(&head, r->repo);
    if (rc == GIT_EUNBORNBRANCH || rc == GIT_ENOTFOUND)
        return MYTH_OK;
    st = rc == 0 ? put(&w, git_reference_target(head), err) : myth_revision_failed("history", err);
    git_reference_free(head);
    for (uint32_t n = 0; st == MYTH_OK && goes_on && w.n_todo; n++) {
        git_commit *c = NULL;
        if (n == MYTH_REVISION_WALK) {
            *end = MYTH_COMMITS_LIMIT;
            break;
        }
        const git_oid id = take(&w);
        if (git_commit_lookup(&c, r->repo, &id) != 0)
            st = myth_revision_failed("history", err);
        if (st == MYTH_OK)
            st = put_commit(r, c, &id, path, on_commit, arg, &goes_on, err);
        for (unsigned i = 0; st == MYTH_OK && goes_on && i < git_commit_parentcount(c); i++)
            st = put(&w, git_commit_parent_id(c, i), err);
        git_commit_free(c);
    }
    if (w.is_cut && goes_on && *end == MYTH_COMMITS_WHOLE)
        *end = MYTH_COMMITS_SHALLOW;
    myth_free(r->mem, w.todo);
    myth_free(r->mem, w.seen);
    myth_free(r->mem, w.slot);
    return st;
}
