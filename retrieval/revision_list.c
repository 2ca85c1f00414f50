/* revision_list.c - lists which files were changed: those of the commits that led here, and those of the
 * working tree. */
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

/* ---- what is not committed ---- */

typedef struct {
    myth_revision *r;
    char path[2 * PATH_MAX]; /* only what is at or below it; "" = everything */
    myth_commit_file *file;  /* path: from the top of the repository, lent by git */
    uint32_t n, cap;
    bool has_failed; /* out of memory */
} changes;

static bool is_wanted(const changes *c, const char *path)
{
    const size_t n = strlen(c->path);
    return n == 0 || (strncmp(path, c->path, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

/* Adds a change, or corrects that of a file that is there. */
static void put_change(changes *c, const char *path, char change, bool may_be_there)
{
    for (uint32_t i = 0; may_be_there && i < c->n; i++)
        if (strcmp(c->file[i].path, path) == 0) {
            c->file[i].change = change;
            return;
        }
    if (c->has_failed || !MYTH_ARRAY_ROOM(c->r->mem, MYTH_MEM_OTHER, "changes", &c->file, c->n, &c->cap))
        c->has_failed = true;
    else
        c->file[c->n++] = (myth_commit_file){.path = path, .change = change};
}

static void put_delta(changes *c, const git_diff_delta *d)
{
    static const char letter[] = {
        [GIT_DELTA_ADDED] = 'A',      [GIT_DELTA_DELETED] = 'D',   [GIT_DELTA_MODIFIED] = 'M',
        [GIT_DELTA_TYPECHANGE] = 'T', [GIT_DELTA_UNTRACKED] = '?', [GIT_DELTA_CONFLICTED] = 'U',
    };
    const char change = (size_t)d->status < sizeof(letter) ? letter[d->status] : '\0';
    const char *path = change == 'D' ? d->old_file.path : d->new_file.path;
    if (change && !(change == 'D' && myth_revision_is_sparse(c->r->repo, path)))
        put_change(c, path, change, false);
}

/* The commit that a submodule's folder has checked out; false: none has. Its repository is opened only after the check
 * that every repository has to pass. */
static bool checked_out(git_oid *out, myth_revision *r, const char *path)
{
    char folder[2 * PATH_MAX];
    git_repository *repo = NULL;
    git_reference *head = NULL;
    myth_error ignored;
    const int n = snprintf(folder, sizeof(folder), "%s%s", r->work, path);
    if (n < 0 || (size_t)n >= sizeof(folder) || myth_git_check(r->mem, folder, &ignored) != MYTH_OK)
        return false;
    const bool is_there = git_repository_open_ext(&repo, folder, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0 &&
                          git_repository_head(&head, repo) == 0;
    if (is_there)
        *out = *git_reference_target(head);
    git_reference_free(head);
    git_repository_free(repo);
    return is_there;
}

/* A submodule is changed where the index or its folder has another commit than the old side. */
static void put_module(changes *c, const git_index_entry *e)
{
    git_tree_entry *old = NULL;
    git_oid id;
    const bool is_old = c->r->old_tree && git_tree_entry_bypath(&old, c->r->old_tree, e->path) == 0;
    if (!is_old || git_tree_entry_type(old) != GIT_OBJECT_COMMIT)
        put_change(c, e->path, is_old ? 'T' : 'A', true);
    else if (git_oid_cmp(git_tree_entry_id(old), &e->id) != 0 ||
             (checked_out(&id, c->r, e->path) && git_oid_cmp(git_tree_entry_id(old), &id) != 0))
        put_change(c, e->path, 'M', true);
    git_tree_entry_free(old);
}

/* What a difference does not say: submodules, and files in conflict. */
static void put_index(changes *c, git_index *index)
{
    for (size_t i = 0; i < git_index_entrycount(index); i++) {
        const git_index_entry *e = git_index_get_byindex(index, i);
        if (!is_wanted(c, e->path))
            continue;
        if (GIT_INDEX_ENTRY_STAGE(e) > 0)
            put_change(c, e->path, 'U', true);
        else if (e->mode == GIT_FILEMODE_COMMIT)
            put_module(c, e);
    }
}

/* Below one prefix git gives files sorted, so tracked ones stay in order. */
static void tell(const changes *c, bool is_untracked, void (*on_file)(void *arg, const myth_commit_file *f), void *arg)
{
    const size_t n_prefix = strlen(c->r->prefix);
    for (uint32_t i = 0; i < c->n; i++) {
        myth_commit_file one = c->file[i];
        if ((one.change == '?') != is_untracked || strncmp(one.path, c->r->prefix, n_prefix) != 0)
            continue;
        one.path += n_prefix;
        on_file(arg, &one);
    }
}

myth_status myth_revision_changes(myth_revision *r, const char *under,
                                  void (*on_file)(void *arg, const myth_commit_file *f), void *arg, myth_error *err)
{
    git_diff_options o;
    git_diff *diff = NULL;
    git_index *index = NULL;
    changes c = {.r = r};
    char *path = c.path;
    whole_path(c.path, r, under);
    git_diff_options_init(&o, GIT_DIFF_OPTIONS_VERSION);
    o.flags = GIT_DIFF_IGNORE_SUBMODULES | GIT_DIFF_DISABLE_PATHSPEC_MATCH | GIT_DIFF_SKIP_BINARY_CHECK |
              GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS;
    o.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
    if (path[0])
        o.pathspec = (git_strarray){&path, 1};
    int rc = git_diff_tree_to_workdir_with_index(&diff, r->repo, r->old_tree, &o);
    for (size_t i = 0; rc == 0 && i < git_diff_num_deltas(diff); i++)
        put_delta(&c, git_diff_get_delta(diff, i));
    if (rc == 0 && (rc = git_repository_index(&index, r->repo)) == 0)
        put_index(&c, index);
    if (rc == 0 && !c.has_failed) {
        tell(&c, false, on_file, arg);
        tell(&c, true, on_file, arg);
    }
    git_index_free(index);
    git_diff_free(diff);
    myth_free(r->mem, c.file);
    return rc != 0      ? myth_revision_failed("changes", err)
         : c.has_failed ? myth_fail(err, MYTH_ENOMEM, "git: no memory for the changed files")
                        : MYTH_OK;
}
