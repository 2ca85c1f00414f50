/* revision.c - see revision.h. */
#include "revision_impl.h"
#include "engine/base/array.h"
#include "engine/base/table.h"
#include "retrieval/git/git_files.h"
#include "retrieval/git/mark.h"
#include "retrieval/git/parting.h"
#include "retrieval/git/similar.h"
#include "retrieval/scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the repository and what of it ---- */

static myth_status open_repository(myth_revision *r, const char *root, myth_error *err)
{
    char real[PATH_MAX], top[PATH_MAX], tree[PATH_MAX];
    myth_status st = myth_git_check(r->mem, root, err);
    if (st != MYTH_OK)
        return st;
    int rc = git_repository_open_ext(&r->repo, root, 0, NULL);
    if (myth_git_is_foreign(rc))
        return myth_fail(err, MYTH_EIO,
                         "%.80s: the repository belongs to another user; git config --global --add safe.directory "
                         "TOP_FOLDER (its path, not *) allows it, or git config --system where HOME cannot be written",
                         root);
    if (rc == GIT_ENOTFOUND)
        return myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_GIVE_PATCH, "%.160s: no git repository here", root);
    if (rc != 0)
        return myth_revision_failed(root, err);
    const char *work = git_repository_workdir(r->repo);
    if (!realpath(root, real) || !realpath(git_repository_path(r->repo), top) || (work && !realpath(work, tree)))
        return myth_fail(err, MYTH_EIO, "%.160s: %s", root, strerror(errno));
    size_t n = strlen(top);
    if (!work || (strncmp(real, top, n) == 0 && (!real[n] || real[n] == '/'))) /* only commits can be read from there */
        return MYTH_OK;
    r->work = work;
    if ((st = myth_git_check_worktree(r->mem, work, err)) != MYTH_OK)
        return st;
    n = strlen(tree);
    n -= n == 1;
    if (strncmp(real, tree, n) != 0 || (real[n] && real[n] != '/'))
        return myth_fail(err, MYTH_EARG, "%.120s: outside of the work tree %.100s", root, tree);
    if (real[n] && snprintf(r->prefix, sizeof(r->prefix), "%s/", real + n + 1) >= (int)sizeof(r->prefix))
        return myth_fail(err, MYTH_EARG, "%.160s: a path of %zu bytes", root, strlen(real));
    return MYTH_OK;
}

static myth_status tree_of(git_tree **out, git_object *from, const char *spec, myth_error *err)
{
    git_object *tree = NULL;
    if (git_object_peel(&tree, from, GIT_OBJECT_TREE) != 0)
        return myth_fail(err, MYTH_EARG, "%.160s: no commit and no tree", spec);
    *out = (git_tree *)tree;
    return MYTH_OK;
}

/* "A...B": the old side is the last common ancestor. */
static myth_status parting_tree(git_tree **out, myth_mem *mem, git_repository *repo, const git_revspec *s,
                                const char *spec, myth_error *err)
{
    git_object *a = NULL, *b = NULL, *base = NULL;
    git_oid oid;
    bool is_cut = false;
    myth_status st = MYTH_OK;
    if (git_object_peel(&a, s->from, GIT_OBJECT_COMMIT) != 0 || git_object_peel(&b, s->to, GIT_OBJECT_COMMIT) != 0)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "%.160s: A...B takes two commits", spec));
    st = myth_parting(&oid, &is_cut, mem, repo, git_object_id(a), git_object_id(b), err);
    if (st == MYTH_ENOTFOUND)
        st = myth_fail(err, MYTH_EARG, "%.120s: the two have no commit in common%s", spec,
                       is_cut ? " in this shallow clone; git fetch --unshallow brings the rest (a flow of GitHub: "
                                "fetch-depth: 0, of GitLab: GIT_DEPTH: 0)"
                              : "");
    if (st == MYTH_OK && git_object_lookup(&base, repo, &oid, GIT_OBJECT_COMMIT) != 0)
        st = myth_revision_failed(spec, err);
    if (st == MYTH_OK)
        st = tree_of(out, base, spec, err);
fail:
    git_object_free(base);
    git_object_free(a);
    git_object_free(b);
    return st;
}

/* Remembers the commit that the new side is, or is based on; a tree alone is none. */
static void note_commit(myth_revision *r, git_object *from)
{
    git_object *c = NULL;
    if (from && git_object_peel(&c, from, GIT_OBJECT_COMMIT) == 0) {
        r->has_commit = true;
        r->commit = *git_object_id(c);
        r->commit_s = git_commit_time((git_commit *)c);
    }
    git_object_free(c);
}

static void note_head(myth_revision *r)
{
    git_reference *head = NULL;
    git_commit *c = NULL;
    if (git_repository_head(&head, r->repo) == 0 && git_commit_lookup(&c, r->repo, git_reference_target(head)) == 0)
        note_commit(r, (git_object *)c);
    git_commit_free(c);
    git_reference_free(head);
}

static myth_status read_spec(myth_revision *r, const myth_revision_opts *o, myth_error *err)
{
    git_revspec s = {0};
    myth_status st = MYTH_OK;
    bool is_mark = false;
    if (o->spec)
        MYTH_TRY(myth_mark_read(&s.from, &s.to, &is_mark, r->repo, o->spec, err));
    int rc = is_mark ? 0 : git_revparse(&s, r->repo, o->spec ? o->spec : "HEAD");
    bool is_range = is_mark || (rc == 0 && !(s.flags & GIT_REVSPEC_SINGLE));
    if (rc != 0 && !o->spec && git_repository_head_unborn(r->repo) == 1)
        return MYTH_OK; /* there is no commit, so everything is new */
    if (rc != 0) {
        git_object_free(s.from); /* of a range whose other end is unknown */
        git_object_free(s.to);
        return myth_fail(
            err, MYTH_EARG,
            git_repository_is_shallow(r->repo) == 1
                ? "%.80s: no such revision in this shallow clone; git fetch --unshallow brings all commits (a flow of "
                  "GitHub: fetch-depth: 0, of GitLab: GIT_DEPTH: 0)"
                : "%.120s: no such revision here; expected a commit, A..B, REV^!, or nothing for the working tree",
            o->spec ? o->spec : "HEAD");
    }
    if (is_range && o->is_staged)
        st = myth_fail_option(err, MYTH_EARG, "is_staged",
                              "is_staged and %.100s: the index is the new side of one revision", o->spec);
    else if (s.flags & GIT_REVSPEC_MERGE_BASE)
        st = parting_tree(&r->old_tree, r->mem, r->repo, &s, o->spec, err);
    else if (s.from)
        st = tree_of(&r->old_tree, s.from, o->spec ? o->spec : "HEAD", err);
    if (st == MYTH_OK && is_range)
        st = tree_of(&r->new_tree, s.to, o->spec, err);
    if (is_range)
        note_commit(r, s.to);
    else
        note_head(r);
fail:
    git_object_free(s.from);
    git_object_free(s.to);
    return st;
}

myth_status myth_revision_open(myth_revision **out, myth_mem *mem, const myth_revision_opts *o, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char *root = o->root ? o->root : ".";
    myth_revision *r = *out = myth_alloc(mem, MYTH_MEM_OTHER, "revision", sizeof(*r));
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "no memory for a revision");
    r->mem = mem;
    r->root_fd = -1;
    r->is_untracked = o->is_untracked;
    if ((st = myth_git_start(err)) != MYTH_OK) {
        myth_free(mem, r);
        *out = NULL;
        return st;
    }
    r->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->root_fd < 0)
        MYTH_TRY(myth_fail(err, errno == ENOTDIR ? MYTH_EARG : MYTH_ENOTFOUND, "%.200s: %s", root, strerror(errno)));
    if (o->is_patch)
        return MYTH_OK;
    MYTH_TRY(open_repository(r, root, err));
    MYTH_TRY(read_spec(r, o, err));
    if (!r->new_tree && !r->work)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "%.160s: %s; say two commits: A..B", root,
                           git_repository_workdir(r->repo) ? "git's own folder, which has no files to compare"
                                                           : "a bare repository"));
    if (o->is_staged && git_repository_index(&r->index, r->repo) != 0)
        st = myth_revision_failed("index", err);
fail:
    if (st != MYTH_OK) {
        myth_revision_close(r);
        *out = NULL;
    }
    return st;
}

void myth_revision_close(myth_revision *r)
{
    if (!r)
        return;
    git_diff_free(r->whole);
    git_index_free(r->index);
    git_tree_free(r->new_tree);
    git_tree_free(r->old_tree);
    git_repository_free(r->repo);
    myth_git_stop();
    if (r->root_fd >= 0)
        close(r->root_fd);
    myth_free(r->mem, r);
}

const char *myth_revision_prefix(const myth_revision *r) { return r->prefix; }
bool myth_revision_is_worktree(const myth_revision *r) { return !r->new_tree && !r->index; }
bool myth_revision_is_patch(const myth_revision *r) { return !r->repo; }

/* ---- the difference ---- */

static myth_status read_worktree(myth_revision *r, unsigned char **bytes, size_t *n, const char *path, size_t max,
                                 myth_error *err);

/* The headers of files whose content is left out of a difference. */
typedef struct {
    myth_revision *r;
    char *text;
    size_t n, cap;
    size_t *line; /* where the first line of each header begins */
    uint32_t n_line, cap_line;
    uint32_t *slot; /* a table of these lines */
    uint32_t n_slot;
    bool has_failed; /* out of memory */
} left_out;

/* Quotes a path as git does, with octal for unusual bytes. Returns the length; writes unless dst is NULL. */
static size_t quote(char *dst, const char *side, const char *path)
{
    size_t n = strlen(side);
    if (dst)
        memcpy(dst, side, n);
    for (const char *p = path; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool is_plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
        char one[8];
        const int k = snprintf(one, sizeof(one), is_plain ? "%c" : "\\%03o", c);
        if (dst)
            memcpy(dst + n, one, (size_t)k);
        n += (size_t)k;
    }
    return n;
}

/* Whether text[line[idx] ..] begins with the line `key`, its end included. */
static bool is_line(const void *of, uint32_t idx, const void *key)
{
    const left_out *out = of;
    const char *at = out->text + out->line[idx], *line = key;
    while (*at == *line && *line != '\n') {
        at++;
        line++;
    }
    return *at == *line;
}

static uint64_t hash_line(const char *line) { return myth_hash_bytes(line, (size_t)(strchr(line, '\n') - line)); }

/* The slot of a line, in a table with room for it. NULL: out of memory. */
static uint32_t *find_line(left_out *out, const char *line)
{
    const uint32_t need = myth_table_slots((uint64_t)out->n_line + 1);
    if (need > out->n_slot) {
        uint32_t *slot = myth_alloc_n(out->r->mem, MYTH_MEM_STAGING, "diff", need, sizeof(*slot));
        if (!slot)
            return NULL;
        for (uint32_t i = 0; i < out->n_line; i++) {
            const char *at = out->text + out->line[i];
            *myth_table_find(slot, need, hash_line(at), is_line, out, at) = i + 1;
        }
        myth_free(out->r->mem, out->slot);
        out->slot = slot;
        out->n_slot = need;
    }
    return myth_table_find(out->slot, out->n_slot, hash_line(line), is_line, out, line);
}

static bool put_header(left_out *out, const git_diff_delta *d)
{
    enum { WORDS = 96 };
    const char *mode = d->status == GIT_DELTA_DELETED                                   ? "deleted file mode 100644\n"
                     : d->status == GIT_DELTA_ADDED || d->status == GIT_DELTA_UNTRACKED ? "new file mode 100644\n"
                                                                                        : "";
    const size_t bytes = quote(NULL, "a/", d->old_file.path) + quote(NULL, "b/", d->new_file.path) + WORDS;
    if (!MYTH_ARRAY_MORE(out->r->mem, MYTH_MEM_STAGING, "diff", &out->text, out->n, bytes, &out->cap) ||
        !MYTH_ARRAY_ROOM(out->r->mem, MYTH_MEM_STAGING, "diff", &out->line, out->n_line, &out->cap_line))
        return false;
    char *at = out->text + out->n;
    const char *line = at;
    at += sprintf(at, "diff --git \"");
    at += quote(at, "a/", d->old_file.path);
    at += sprintf(at, "\" \"");
    at += quote(at, "b/", d->new_file.path);
    at += sprintf(at, "\"\n");
    uint32_t *slot = find_line(out, line);
    if (!slot || *slot) /* the file may be in the differences of both the index and the working tree */
        return slot;
    out->line[out->n_line++] = out->n;
    *slot = out->n_line;
    at += sprintf(at, "%sBinary files differ\n", mode);
    out->n = (size_t)(at - out->text);
    return true;
}

static void forget_headers(left_out *out)
{
    myth_mem *mem = out->r->mem;
    myth_free(mem, out->text);
    myth_free(mem, out->line);
    myth_free(mem, out->slot);
    *out = (left_out){.r = out->r};
}

static bool is_large(const myth_revision *r, const git_diff_file *f)
{
    static const git_oid none;
    git_odb *odb = NULL;
    git_object_t type;
    size_t n = (size_t)f->size;
    if (memcmp(&f->id, &none, sizeof(none)) != 0 && git_repository_odb(&odb, r->repo) == 0 &&
        git_odb_read_header(&n, &type, odb, &f->id) != 0)
        n = (size_t)f->size;
    if (odb)
        git_odb_free(odb);
    return n > MYTH_REVISION_TEXT_BYTES;
}

bool myth_revision_is_sparse(git_repository *repo, const char *path)
{
    git_index *index;
    if (git_repository_index(&index, repo) != 0)
        return false;
    const git_index_entry *e = git_index_get_bypath(index, path, 0);
    const bool is_sparse = e && (e->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE);
    git_index_free(index);
    return is_sparse;
}

/* A git_diff_notify_cb: returns 1 to leave the file out. */
static int leave_out(const git_diff *so_far, const git_diff_delta *d, const char *matched, void *user)
{
    left_out *out = user;
    unsigned char *bytes = NULL;
    size_t n = 0;
    bool is_out;
    (void)so_far;
    (void)matched;
    if (d->status == GIT_DELTA_UNTRACKED && !out->r->is_untracked)
        return 0; /* only counted */
    if (d->status == GIT_DELTA_DELETED && myth_revision_is_worktree(out->r) &&
        myth_revision_is_sparse(out->r->repo, d->old_file.path))
        return 1;
    is_out = is_large(out->r, &d->old_file) || is_large(out->r, &d->new_file);
    if (!is_out && d->status != GIT_DELTA_DELETED) {
        const myth_status st = myth_revision_read(out->r, &bytes, &n, d->new_file.path + strlen(out->r->prefix),
                                                  MYTH_REVISION_TEXT_BYTES, NULL);
        is_out = st == MYTH_EIO || (st == MYTH_OK && myth_detect_binary(bytes, n));
    }
    myth_free(out->r->mem, bytes);
    if (is_out && !put_header(out, d))
        out->has_failed = true;
    return out->has_failed ? -1 : is_out;
}

/* Makes the difference of the folder `dir`, "" = the whole repository. out NULL: no file is left out. */
static int make_diff(git_diff **diff, const myth_revision *r, char *dir, left_out *out)
{
    git_diff_options o;
    git_diff_find_options find;
    myth_similar similar;
    char *path[] = {dir};
    git_diff_options_init(&o, GIT_DIFF_OPTIONS_VERSION);
    git_diff_find_options_init(&find, GIT_DIFF_FIND_OPTIONS_VERSION);
    myth_similar_init(&similar, r->mem, MYTH_REVISION_TEXT_BYTES);
    find.metric = &similar.metric;
    o.flags = GIT_DIFF_IGNORE_SUBMODULES | GIT_DIFF_DISABLE_PATHSPEC_MATCH | GIT_DIFF_FORCE_TEXT;
    o.notify_cb = out ? leave_out : NULL;
    o.payload = out;
    o.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
    o.max_size = MYTH_REVISION_DIFF_BYTES;
    find.flags = GIT_DIFF_FIND_RENAMES;
    if (out && myth_revision_is_worktree(r)) {
        o.flags |= GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS;
        o.flags |= r->is_untracked ? GIT_DIFF_SHOW_UNTRACKED_CONTENT : 0;
        find.flags |= r->is_untracked ? GIT_DIFF_FIND_FOR_UNTRACKED : 0;
    }
    if (dir[0])
        o.pathspec = (git_strarray){path, 1};
    int rc = r->new_tree ? git_diff_tree_to_tree(diff, r->repo, r->old_tree, r->new_tree, &o)
           : r->index    ? git_diff_tree_to_index(diff, r->repo, r->old_tree, r->index, &o)
                         : git_diff_tree_to_workdir_with_index(diff, r->repo, r->old_tree, &o);
    return rc == 0 ? git_diff_find_similar(*diff, &find) : rc;
}

/* Whether a file of the working tree, which the index has as e, cannot be read. Nobody can tell whether it changed. */
static bool is_unreadable(myth_revision *r, const git_index_entry *e)
{
    const size_t n_prefix = strlen(r->prefix);
    unsigned char *bytes = NULL;
    size_t n = 0;
    if (!S_ISREG(e->mode) || strncmp(e->path, r->prefix, n_prefix) != 0)
        return false;
    const myth_status st = read_worktree(r, &bytes, &n, e->path + n_prefix, MYTH_REVISION_TEXT_BYTES, NULL);
    myth_free(r->mem, bytes);
    return st == MYTH_EIO;
}

/* libgit2 reads a file to see whether it changed where its size has not, and makes no difference at all when it cannot.
 * Writes the header of each such file, and marks it as unchanged in libgit2's copy of the index, which is never
 * written. Returns how many there are. */
static size_t leave_out_unreadable(left_out *out)
{
    git_index *index;
    size_t n = 0;
    if (git_repository_index(&index, out->r->repo) != 0)
        return 0;
    for (size_t i = 0; i < git_index_entrycount(index); i++) {
        git_index_entry e = *git_index_get_byindex(index, i);
        if (!is_unreadable(out->r, &e))
            continue;
        git_diff_delta d = {.status = GIT_DELTA_MODIFIED};
        d.old_file.path = d.new_file.path = e.path;
        out->has_failed = out->has_failed || !put_header(out, &d);
        e.flags |= GIT_INDEX_ENTRY_VALID;
        if (git_index_add(index, &e) != 0)
            break;
        n++;
    }
    git_index_free(index);
    return n;
}

/* Counts the untracked files that a difference has no text of, and keeps the names of the first. */
static void note_untracked(myth_revision *r, git_diff *diff)
{
    enum { NAMED = 3 };
    size_t used = 0;
    r->n_untracked = 0;
    r->untracked[0] = '\0';
    for (size_t i = 0; i < git_diff_num_deltas(diff) && !r->is_untracked; i++) {
        const git_diff_delta *d = git_diff_get_delta(diff, i);
        const char *path = d->new_file.path + strlen(r->prefix);
        size_t n = strlen(path);
        if (d->status != GIT_DELTA_UNTRACKED || !n || path[n - 1] == '/') /* a repository inside of this one */
            continue;
        if (r->n_untracked++ < NAMED && used + n + 3 < sizeof(r->untracked))
            used += (size_t)snprintf(r->untracked + used, sizeof(r->untracked) - used, "%s%s", used ? ", " : "", path);
    }
}

uint32_t myth_revision_untracked(const myth_revision *r, const char **names)
{
    *names = r->untracked;
    return r->n_untracked;
}

/* Copies git's text, followed by the headers of files that were left out, into the caller's memory. */
static myth_status take_text(const myth_revision *r, char **text, size_t *n, const git_buf *buf, const left_out *out,
                             myth_error *err)
{
    const size_t n_out = out ? out->n : 0;
    *text = myth_alloc(r->mem, MYTH_MEM_STAGING, "diff", buf->size + n_out + 1);
    if (!*text)
        return myth_fail(err, MYTH_ENOMEM, "no memory for a difference of %zu bytes", buf->size + n_out);
    if (buf->size)
        memcpy(*text, buf->ptr, buf->size);
    if (n_out)
        memcpy(*text + buf->size, out->text, n_out);
    *n = buf->size + n_out;
    return MYTH_OK;
}

myth_status myth_revision_diff(myth_revision *r, char **text, size_t *n, myth_error *err)
{
    git_diff *diff = NULL;
    git_buf buf = {0};
    left_out out = {.r = r};
    char dir[PATH_MAX];
    myth_status st = MYTH_OK;
    snprintf(dir, sizeof(dir), "%s", r->prefix);
    if (dir[0])
        dir[strlen(dir) - 1] = '\0';
    int rc = make_diff(&diff, r, dir, &out);
    if (rc != 0 && !out.has_failed && myth_revision_is_worktree(r)) {
        forget_headers(&out);
        if (leave_out_unreadable(&out)) {
            git_diff_free(diff);
            diff = NULL;
            rc = make_diff(&diff, r, dir, &out);
        }
    }
    if (rc == 0) {
        note_untracked(r, diff);
        rc = git_diff_to_buf(&buf, diff, GIT_DIFF_FORMAT_PATCH);
    }
    if (out.has_failed)
        st = myth_fail(err, MYTH_ENOMEM, "no memory for a difference");
    else if (rc != 0)
        st = myth_revision_failed("diff", err);
    else if (buf.size > MYTH_REVISION_DIFF_BYTES)
        st =
            myth_fail_remedy(err, MYTH_ELIMIT, MYTH_REMEDY_NARROW_CHANGE,
                             "a difference of %zu bytes, at most %d are read", buf.size, (int)MYTH_REVISION_DIFF_BYTES);
    else
        st = take_text(r, text, n, &buf, &out, err);
    forget_headers(&out);
    git_buf_dispose(&buf);
    git_diff_free(diff);
    return st;
}

/* ---- the difference of one file ---- */

void myth_revision_old_id(const myth_revision *r, char dst[MYTH_REVISION_ID])
{
    dst[0] = '\0';
    if (r->old_tree)
        git_oid_tostr(dst, MYTH_REVISION_ID, git_tree_id(r->old_tree));
}

bool myth_revision_commit(const myth_revision *r, char dst[MYTH_REVISION_ID], int64_t *time_s)
{
    dst[0] = '\0';
    if (r->has_commit) {
        git_oid_tostr(dst, MYTH_REVISION_ID, &r->commit);
        *time_s = r->commit_s;
    }
    return r->has_commit;
}

bool myth_revision_origin(const myth_revision *r, char *dst, size_t cap)
{
    git_config *settings = NULL;
    const char *url = NULL;
    bool has = r->repo && git_repository_config_snapshot(&settings, r->repo) == 0 &&
               git_config_get_string(&url, settings, "remote.origin.url") == 0;
    has = has && (size_t)snprintf(dst, cap, "%s", url) < cap;
    git_config_free(settings);
    return has;
}

myth_status myth_revision_locate(const myth_revision *r, char *dst, size_t cap, const char *path, myth_error *err)
{
    char real[PATH_MAX], top[PATH_MAX];
    if (!r->work || !realpath(r->work, top) || !realpath(path, real))
        return myth_fail(err, MYTH_EARG, "%.200s: %s", path,
                         r->work ? strerror(errno)
                                 : "a bare repository has no files, and git's own folder none of code");
    size_t n = strlen(top);
    n -= n == 1;
    if (strncmp(real, top, n) != 0 || real[n] != '/')
        return myth_fail(err, MYTH_EARG, "%.120s: outside of the work tree %.100s", path, top);
    if (snprintf(dst, cap, "%s", real + n + 1) >= (int)cap)
        return myth_fail(err, MYTH_EARG, "%.160s: a path of %zu bytes", path, strlen(real));
    return MYTH_OK;
}

/* Finds the old side's version of a file, by its name or by the name that it was renamed from. *e NULL: there is
 * none. */
static myth_status find_old(myth_revision *r, git_tree_entry **e, const char *path, myth_error *err)
{
    char all[] = "";
    const char *old = NULL;
    *e = NULL;
    if (!r->old_tree || git_tree_entry_bypath(e, r->old_tree, path) == 0)
        return MYTH_OK;
    if (!r->whole && make_diff(&r->whole, r, all, NULL) != 0)
        return myth_revision_failed("diff", err);
    for (size_t i = 0; i < git_diff_num_deltas(r->whole) && !old; i++) {
        const git_diff_delta *d = git_diff_get_delta(r->whole, i);
        if ((d->status == GIT_DELTA_RENAMED || d->status == GIT_DELTA_COPIED) && strcmp(d->new_file.path, path) == 0)
            old = d->old_file.path;
    }
    if (old && git_tree_entry_bypath(e, r->old_tree, old) != 0)
        *e = NULL;
    return MYTH_OK;
}

/* Converts a file of the working tree as git would store it, with git's line ends. No filter program is run. */
static int to_git(myth_revision *r, git_buf *out, const char *path, const void *bytes, size_t n)
{
    git_filter_list *list = NULL;
    int rc = 0;
    if (myth_revision_is_worktree(r))
        rc = git_filter_list_load(&list, r->repo, NULL, path, GIT_FILTER_TO_ODB, GIT_FILTER_ALLOW_UNSAFE);
    if (rc == 0 && list)
        rc = git_filter_list_apply_to_buffer(out, list, bytes, n);
    git_filter_list_free(list);
    return rc;
}

myth_status myth_revision_diff_file(myth_revision *r, char **text, size_t *n, const char *path, const void *bytes,
                                    size_t n_bytes, myth_error *err)
{
    git_tree_entry *e = NULL;
    git_blob *blob = NULL;
    git_patch *patch = NULL;
    git_buf now = {0}, buf = {0};
    git_diff_options o;
    git_diff_options_init(&o, GIT_DIFF_OPTIONS_VERSION);
    o.context_lines = 0;
    o.flags = GIT_DIFF_FORCE_TEXT;
    *text = NULL;
    *n = 0;
    myth_status st = find_old(r, &e, path, err);
    if (st != MYTH_OK)
        return st;
    int rc = e && git_tree_entry_type(e) == GIT_OBJECT_BLOB ? git_blob_lookup(&blob, r->repo, git_tree_entry_id(e)) : 0;
    if (rc == 0)
        rc = to_git(r, &now, path, bytes, n_bytes);
    if (rc == 0)
        rc = git_patch_from_blob_and_buffer(&patch, blob, path, now.ptr ? now.ptr : bytes, now.ptr ? now.size : n_bytes,
                                            path, &o);
    if (rc == 0 && patch)
        rc = git_patch_to_buf(&buf, patch);
    if (rc != 0)
        st = myth_revision_failed(path, err);
    else
        st = take_text(r, text, n, &buf, NULL, err);
    git_buf_dispose(&buf);
    git_buf_dispose(&now);
    git_patch_free(patch);
    git_blob_free(blob);
    git_tree_entry_free(e);
    return st;
}

/* ---- files of the new side ---- */

static myth_status read_blob(myth_revision *r, unsigned char **bytes, size_t *n, const git_oid *oid, const char *path,
                             size_t max, myth_error *err)
{
    git_blob *blob = NULL;
    myth_status st = MYTH_OK;
    if (git_blob_lookup(&blob, r->repo, oid) != 0)
        return myth_revision_failed(path, err);
    uint64_t size = (uint64_t)git_blob_rawsize(blob);
    if (size > max)
        st = myth_fail(err, MYTH_ELIMIT, "%.160s: %llu bytes, at most %zu are read", path, (unsigned long long)size,
                       max);
    else if (!(*bytes = myth_alloc(r->mem, MYTH_MEM_STAGING, "file", size + 1)))
        st = myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for %llu bytes", path, (unsigned long long)size);
    if (st == MYTH_OK) {
        if (size)
            memcpy(*bytes, git_blob_rawcontent(blob), size);
        *n = size;
    }
    git_blob_free(blob);
    return st;
}

static myth_status check_mode(unsigned mode, const char *path, myth_error *err)
{
    if (mode == GIT_FILEMODE_LINK || mode == GIT_FILEMODE_COMMIT)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%.200s: %s", path,
                         mode == GIT_FILEMODE_LINK ? "a symbolic link" : "a submodule");
    if (mode == GIT_FILEMODE_TREE)
        return myth_fail(err, MYTH_ENOTFOUND, "%.200s: a directory", path);
    return MYTH_OK;
}

static myth_status read_worktree(myth_revision *r, unsigned char **bytes, size_t *n, const char *path, size_t max,
                                 myth_error *err)
{
    struct stat s;
    int fd = myth_scan_open(r->root_fd, path, false);
    if (fd < 0 && (errno == ELOOP || errno == EMLINK))
        return myth_fail(err, MYTH_EUNSUPPORTED, "%.200s: a symbolic link", path);
    if (fd < 0)
        return myth_fail(err, errno == ENOENT || errno == ENOTDIR ? MYTH_ENOTFOUND : MYTH_EIO, "%.200s: %s", path,
                         strerror(errno));
    myth_status st = MYTH_OK;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        st = myth_fail(err, MYTH_ENOTFOUND, "%.200s: no file", path);
    else if ((uint64_t)s.st_size > max)
        st = myth_fail(err, MYTH_ELIMIT, "%.160s: %lld bytes, at most %zu are read", path, (long long)s.st_size, max);
    else if (!(*bytes = myth_alloc(r->mem, MYTH_MEM_STAGING, "file", (size_t)s.st_size + 1)))
        st = myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for %lld bytes", path, (long long)s.st_size);
    size_t at = 0;
    while (st == MYTH_OK && at < (size_t)s.st_size) {
        ssize_t k = read(fd, *bytes + at, (size_t)s.st_size - at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            st = myth_fail(err, MYTH_EIO, "%.200s: %s", path, strerror(errno));
        if (k <= 0)
            break; /* the file became shorter while it was read; what was read counts */
        at += (size_t)k;
    }
    close(fd);
    *n = at;
    if (st != MYTH_OK && *bytes) {
        myth_free(r->mem, *bytes);
        *bytes = NULL;
    }
    return st;
}

myth_status myth_revision_read(myth_revision *r, unsigned char **bytes, size_t *n, const char *path, size_t max_bytes,
                               myth_error *err)
{
    char full[PATH_MAX];
    myth_status st;
    *bytes = NULL;
    *n = 0;
    if (myth_revision_is_worktree(r))
        return read_worktree(r, bytes, n, path, max_bytes, err);
    if (snprintf(full, sizeof(full), "%s%s", r->prefix, path) >= (int)sizeof(full))
        return myth_fail(err, MYTH_ENOTFOUND, "%.100s: a path of %zu bytes", path, strlen(path));
    if (r->index) {
        const git_index_entry *e = git_index_get_bypath(r->index, full, 0);
        if (!e)
            return myth_fail(err, MYTH_ENOTFOUND, "%.200s: not in git's index", path);
        st = check_mode(e->mode, path, err);
        return st == MYTH_OK ? read_blob(r, bytes, n, &e->id, path, max_bytes, err) : st;
    }
    git_tree_entry *e = NULL;
    if (git_tree_entry_bypath(&e, r->new_tree, full) != 0)
        return myth_fail(err, MYTH_ENOTFOUND, "%.200s: not in that revision", path);
    st = check_mode(git_tree_entry_filemode(e), path, err);
    if (st == MYTH_OK)
        st = read_blob(r, bytes, n, git_tree_entry_id(e), path, max_bytes, err);
    git_tree_entry_free(e);
    return st;
}
