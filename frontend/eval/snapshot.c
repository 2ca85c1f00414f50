/* snapshot.c - see snapshot.h. Files are made relative to the open descriptor of their folder, and links are never
 * followed, so nothing is written outside of the folder that the caller gave. */
#define _GNU_SOURCE
#include "snapshot.h"
#include "retrieval/git/git.h"
#include "retrieval/git/git_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 128 }; /* folders inside each other: each one needs a descriptor and a frame of the stack */

typedef struct {
    git_repository *repo;
    const myth_snapshot_opts *opts;
    uint64_t n_file;
} snapshot;

static myth_status git_failed(myth_error *err, myth_status code, const char *what)
{
    return myth_fail(err, code, "%s: %.160s", what, myth_git_says());
}

static bool is_wanted(const char *name, const char *const *suffix)
{
    if (!suffix)
        return true;
    size_t n = strlen(name);
    for (; *suffix; suffix++) {
        size_t m = strlen(*suffix);
        if (n >= m && memcmp(name + n - m, *suffix, m) == 0)
            return true;
    }
    return false;
}

/* Makes a file that is not there yet. `where` is for the message. */
static myth_status write_file(int dir, const char *name, const char *p, size_t n, const char *where, myth_error *err)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0;
    while (ok && n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        ok = w > 0;
        p += ok ? w : 0;
        n -= ok ? (size_t)w : 0;
    }
    int saved = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    return ok ? MYTH_OK : myth_fail(err, MYTH_EIO, "%s in %s: %s", name, where, strerror(saved));
}

static myth_status write_blob(const snapshot *s, int dir, const char *name, const git_oid *oid, myth_error *err)
{
    git_blob *blob = NULL;
    if (git_blob_lookup(&blob, s->repo, oid) != 0)
        return git_failed(err, MYTH_EIO, name);
    myth_status st =
        write_file(dir, name, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob), s->opts->dir, err);
    git_blob_free(blob);
    return st;
}

static myth_status write_tree(snapshot *s, int dir, const git_oid *oid, int depth, myth_error *err)
{
    git_tree *tree = NULL;
    myth_status st = MYTH_OK;
    if (depth > DEPTH_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: folders more than %d deep", s->opts->commit, DEPTH_MAX);
    if (git_tree_lookup(&tree, s->repo, oid) != 0)
        return git_failed(err, MYTH_EIO, s->opts->commit);
    size_t n = git_tree_entrycount(tree);
    for (size_t i = 0; i < n && st == MYTH_OK; i++) {
        const git_tree_entry *e = git_tree_entry_byindex(tree, i);
        const char *name = git_tree_entry_name(e);
        git_filemode_t mode = git_tree_entry_filemode(e);
        if (myth_cancelled(s->opts->is_cancelled))
            st = myth_fail(err, MYTH_ECANCEL, "stopped");
        else if (!name[0] || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            st = myth_fail(err, MYTH_EFORMAT, "%s: a tree has an entry that is no file name", s->opts->commit);
        else if (mode == GIT_FILEMODE_TREE) {
            int sub =
                mkdirat(dir, name, 0700) == 0 ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
            st = sub >= 0 ? write_tree(s, sub, git_tree_entry_id(e), depth + 1, err)
                          : myth_fail(err, MYTH_EIO, "%s in %s: %s", name, s->opts->dir, strerror(errno));
            if (sub >= 0)
                close(sub);
        } else if ((mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE) &&
                   is_wanted(name, s->opts->suffix)) {
            st = write_blob(s, dir, name, git_tree_entry_id(e), err);
            s->n_file += st == MYTH_OK;
        }
    }
    git_tree_free(tree);
    return st;
}

myth_status myth_snapshot(uint64_t *n_file, const myth_snapshot_opts *opts, myth_error *err)
{
    snapshot s = {.opts = opts};
    git_commit *commit = NULL;
    git_oid oid;
    myth_status st = MYTH_OK;
    int dir = -1;
    *n_file = 0;
    if ((st = myth_git_check(opts->mem, opts->git_dir, err)) != MYTH_OK || (st = myth_git_start(err)) != MYTH_OK)
        return st;
    if (git_repository_open_ext(&s.repo, opts->git_dir, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) != 0)
        st = git_failed(err, MYTH_ENOTFOUND, opts->git_dir);
    else if (git_oid_fromstr(&oid, opts->commit) != 0)
        st = git_failed(err, MYTH_EARG, opts->commit);
    else if (git_commit_lookup(&commit, s.repo, &oid) != 0)
        st = myth_fail(err, MYTH_ENOTFOUND, "%s has no commit %.40s; fetch it there", opts->git_dir, opts->commit);
    else if ((dir = open(opts->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        st = myth_fail(err, MYTH_EIO, "%s: %s", opts->dir, strerror(errno));
    else
        st = write_tree(&s, dir, git_commit_tree_id(commit), 0, err);
    if (dir >= 0)
        close(dir);
    git_commit_free(commit);
    git_repository_free(s.repo);
    myth_git_stop();
    *n_file = s.n_file;
    return st;
}

/* ---- a copy of a folder, and a patch applied to it ---- */

static myth_status copy_file(int from, int to, const char *name, myth_error *err)
{
    char room[65536];
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out = in >= 0 ? openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    ssize_t n = out >= 0 ? 1 : -1;
    while (n > 0 && (n = read(in, room, sizeof(room))) > 0)
        for (ssize_t at = 0, w; at < n; at += w)
            if ((w = write(out, room + at, (size_t)(n - at))) <= 0) {
                n = -1;
                break;
            }
    int saved = errno;
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0)
        n = -1;
    return n == 0 ? MYTH_OK : myth_fail(err, MYTH_EIO, "%s: %s", name, strerror(saved));
}

/* Closes both descriptors, also after a failure. What is neither a regular file nor a folder is left out. */
static myth_status copy_folder(int from, int to, int depth, myth_error *err)
{
    struct stat info;
    myth_status st = MYTH_OK;
    DIR *d = depth < DEPTH_MAX ? fdopendir(from) : NULL;
    if (!d) {
        close(from);
        close(to);
        return myth_fail(err, MYTH_EIO, "a folder cannot be read: %s",
                         depth < DEPTH_MAX ? strerror(errno) : "too deep");
    }
    for (struct dirent *e; st == MYTH_OK && (e = readdir(d));) {
        const char *name = e->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(info.st_mode)) {
            st = copy_file(from, to, name, err);
        } else if (S_ISDIR(info.st_mode)) {
            int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            int out = in >= 0 && mkdirat(to, name, 0700) == 0
                        ? openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
            if (in >= 0 && out >= 0) {
                st = copy_folder(in, out, depth + 1, err);
            } else {
                st = myth_fail(err, MYTH_EIO, "%s: %s", name, strerror(errno));
                if (in >= 0)
                    close(in);
            }
        }
    }
    closedir(d);
    close(to);
    return st;
}

myth_status myth_snapshot_copy(const char *from, const char *to, myth_error *err)
{
    int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC), out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in >= 0 && out >= 0)
        return copy_folder(in, out, 0, err);
    myth_status st = myth_fail(err, in < 0 ? MYTH_ENOTFOUND : MYTH_EIO, "%s: %s", in < 0 ? from : to, strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return st;
}

/* libgit2 applies patches only to the work tree of a repository, so the folder is made one. */
myth_status myth_snapshot_patch(const char *dir, const char *patch, size_t n, myth_error *err)
{
    git_repository *repo = NULL;
    git_diff *diff = NULL;
    myth_status st = MYTH_OK;
    if ((st = myth_git_start(err)) != MYTH_OK)
        return st;
    if (git_repository_init(&repo, dir, 0) != 0)
        st = git_failed(err, MYTH_EIO, dir);
    else if (git_diff_from_buffer(&diff, patch, n) != 0 || git_apply(repo, diff, GIT_APPLY_LOCATION_WORKDIR, NULL) != 0)
        st = git_failed(err, MYTH_EFORMAT, "the patch");
    git_diff_free(diff);
    git_repository_free(repo);
    myth_git_stop();
    return st;
}
