/* history.c - which files the newest commits touched, how often, and when last.
 *
 * Counted  the first N_COMMIT commits of a walk from HEAD by time, as git log lists them. Merges count for nothing;
 *          a first commit counts for all its files
 * Kept     the table `commits` stores the paths of each counted commit, so an update compares trees of new commits
 *          only. Starting libgit2 takes longer than looking over an unchanged directory, so the files that say
 *          where HEAD is are compared first
 * Safety   only trees and commits are read; no hook, no configured program, no file of the work tree. libgit2
 *          refuses a repository of another user; the note says how to allow it
 * Paths    of one commit are stored as zero-terminated strings compressed by zstd, relative to the root; paths
 *          outside of the root are left out */
#include "engine/base/array.h"
#include "retrieval/git/git.h"
#include "retrieval/git/git_files.h"
#include "index_impl.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

enum { N_COMMIT = 1000, LEVEL = 3 };

typedef struct {
    git_oid oid;
    int64_t time;
    char *paths; /* NULL: the store has them already */
    size_t n_paths, cap_paths;
} commit;

struct myth_history {
    myth_mem *mem;
    git_repository *repo;
    git_oid head;
    int64_t mark;   /* identifies where HEAD is (read_mark) */
    char *prefix;   /* the root's path in the work tree: "" or "sub/dir/" */
    commit *commit; /* the commits of the walk, newest first */
    uint32_t n_commit;
    git_oid *stored; /* ids of the commits in the store, sorted */
    uint32_t n_stored;
    pthread_t thread;
    bool has_head, has_moved, is_running, has_libgit2;
    myth_status st;
    myth_error err;
};

static int compare_oids(const void *a, const void *b) { return git_oid_cmp(a, b); }
static bool is_stored(const myth_history *h, const git_oid *oid)
{
    return h->n_stored && bsearch(oid, h->stored, h->n_stored, sizeof(*oid), compare_oids) != NULL;
}

static myth_status git_failed(myth_error *err, const char *what)
{
    return myth_fail(err, MYTH_EIO, "%s: %.160s", what, myth_git_says());
}

/* ---- reading the repository: in a thread of its own ---- */

static bool put_path(myth_history *h, commit *c, const char *path)
{
    size_t n_prefix = strlen(h->prefix);
    if (strncmp(path, h->prefix, n_prefix) != 0)
        return true;
    path += n_prefix;
    size_t n = strlen(path) + 1;
    if (!MYTH_ARRAY_MORE(h->mem, MYTH_MEM_OTHER, "index", &c->paths, c->n_paths, n, &c->cap_paths))
        return false;
    memcpy(c->paths + c->n_paths, path, n);
    c->n_paths += n;
    return true;
}

static myth_status read_paths(myth_history *h, commit *c, git_commit *from, myth_error *err)
{
    git_tree *tree = NULL, *before = NULL;
    git_commit *parent = NULL;
    git_diff *diff = NULL;
    git_diff_options opts;
    git_diff_options_init(&opts, GIT_DIFF_OPTIONS_VERSION);
    opts.flags = GIT_DIFF_SKIP_BINARY_CHECK;
    bool ok = true;
    /* The last commit of a shallow clone names a parent that is absent. Treated as a first commit it would touch
     * every file. */
    int rc = git_commit_tree(&tree, from);
    if (rc == 0 && git_commit_parentcount(from) == 1)
        rc = git_commit_parent(&parent, from, 0) == 0 ? git_commit_tree(&before, parent) : GIT_ENOTFOUND;
    if (rc == 0)
        rc = git_diff_tree_to_tree(&diff, h->repo, before, tree, &opts);
    size_t n = rc == 0 ? git_diff_num_deltas(diff) : 0;
    for (size_t i = 0; i < n && ok; i++) {
        const git_diff_delta *d = git_diff_get_delta(diff, i);
        ok = d->status == GIT_DELTA_DELETED || put_path(h, c, d->new_file.path);
    }
    git_diff_free(diff);
    git_tree_free(before);
    git_commit_free(parent);
    git_tree_free(tree);
    if (rc == GIT_ENOTFOUND)
        return MYTH_OK;
    return rc != 0 ? git_failed(err, "git history")
         : ok      ? MYTH_OK
                   : myth_fail(err, MYTH_ENOMEM, "no memory for the paths of a commit");
}

static myth_status walk(myth_history *h, myth_error *err)
{
    git_revwalk *w = NULL;
    git_oid oid;
    int rc = git_revwalk_new(&w, h->repo);
    if (rc == 0)
        rc = git_revwalk_sorting(w, GIT_SORT_TIME);
    if (rc == 0)
        rc = git_revwalk_push(w, &h->head);
    myth_status st = MYTH_OK;
    while (rc == 0 && st == MYTH_OK && h->n_commit < N_COMMIT && (rc = git_revwalk_next(&oid, w)) == 0) {
        git_commit *from = NULL;
        commit *c = &h->commit[h->n_commit];
        if ((rc = git_commit_lookup(&from, h->repo, &oid)) != 0)
            break;
        c->oid = oid;
        c->time = git_commit_time(from);
        if (!is_stored(h, &oid)) {
            c->paths = myth_alloc(h->mem, MYTH_MEM_OTHER, "index", 1); /* NULL would say that the store has it */
            st = !c->paths                         ? myth_fail(err, MYTH_ENOMEM, "no memory for the paths of a commit")
               : git_commit_parentcount(from) <= 1 ? read_paths(h, c, from, err)
                                                   : MYTH_OK;
        }
        h->n_commit++;
        git_commit_free(from);
    }
    git_revwalk_free(w);
    return st != MYTH_OK || rc == 0 || rc == GIT_ITEROVER ? st : git_failed(err, "git history");
}

static void *history_thread(void *arg)
{
    myth_history *h = arg;
    h->st = walk(h, &h->err);
    return NULL;
}

/* ---- begin ---- */

/* The commits that the store has, sorted. */
static myth_status load_stored(myth_history *h, myth_store *store, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(store), "SELECT oid FROM commits", -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (sqlite3_column_bytes(q, 0) != GIT_OID_RAWSZ)
            rc = SQLITE_CORRUPT;
        else if (h->n_stored < N_COMMIT)
            memcpy(h->stored[h->n_stored++].id, sqlite3_column_blob(q, 0), GIT_OID_RAWSZ);
        rc = rc == SQLITE_ROW ? SQLITE_OK : rc;
    }
    myth_status st = myth_store_fail(store, rc, err);
    sqlite3_finalize(q);
    qsort(h->stored, h->n_stored, sizeof(*h->stored), compare_oids);
    return st;
}

/* Hashes the content of a small file, or the size and time of a larger one; nothing for a missing file. */
static void add_file(uint64_t *x, const char *dir, const char *name, char text[PATH_MAX])
{
    char path[2 * PATH_MAX];
    struct stat st;
    text[0] = '\0';
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0                                                              ? -1
              : fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < PATH_MAX ? read(fd, text, PATH_MAX - 1)
                                                                                    : 0;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return;
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    int64_t place[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    *x = XXH3_64bits_withSeed(path, strlen(path), *x);
    *x = n ? XXH3_64bits_withSeed(text, (size_t)n, *x) : XXH3_64bits_withSeed(place, sizeof(place), *x);
}

/* A number that changes when HEAD moves, from the nearest .git upwards; 0 without a repository. */
static int64_t read_mark(const char *root)
{
    char dir[PATH_MAX], git[PATH_MAX], text[PATH_MAX], ref[PATH_MAX], common[PATH_MAX];
    struct stat st;
    uint64_t x = 0;
    snprintf(dir, sizeof(dir), "%s", root);
    for (;; *strrchr(dir, '/') = '\0') {
        if (snprintf(git, sizeof(git), "%s/.git", dir) >= (int)sizeof(git))
            return 0;
        if (lstat(git, &st) == 0)
            break;
        if (!strchr(dir, '/'))
            return 0;
    }
    if (!S_ISDIR(st.st_mode)) { /* a linked work tree: the file says "gitdir: PATH" */
        add_file(&x, dir, ".git", text);
        const char *to = strncmp(text, "gitdir: ", 8) == 0 ? text + 8 : text;
        if (snprintf(git, sizeof(git), to[0] == '/' ? "%.0s%s" : "%s/%s", dir, to) >= (int)sizeof(git))
            return 0;
    }
    add_file(&x, git, "HEAD", ref);
    if (strncmp(ref, "ref: ", 5) == 0) {
        add_file(&x, git, "commondir", text);
        if (snprintf(common, sizeof(common),
                     text[0] == '/' ? "%.0s%s"
                     : text[0]      ? "%s/%s"
                                    : "%s",
                     git, text) >= (int)sizeof(common))
            return 0;
        add_file(&x, common, ref + 5, text);
        if (!text[0])
            add_file(&x, common, "packed-refs", text);
    }
    return (int64_t)(x | 1);
}

/* Opens the repository around the root, if there is one; a note says why libgit2 cannot read it. What libgit2 must not
 * open is an error, so that nobody takes an index without history for a whole one. */
static myth_status open_repository(myth_history *h, const char *root, char note[128], myth_error *err)
{
    git_reference *ref = NULL;
    myth_status st = myth_git_check(h->mem, root, err);
    if (st != MYTH_OK)
        return st;
    int rc = git_repository_open_ext(&h->repo, root, 0, NULL);
    if (myth_git_is_foreign(rc))
        snprintf(note, 128,
                 "no history: the repository belongs to another user; git config --global --add safe.directory "
                 "TOP_FOLDER allows it");
    else if (rc != 0 && rc != GIT_ENOTFOUND)
        snprintf(note, 128, "no history: %.100s", myth_git_says());
    if (rc != 0 || !git_repository_workdir(h->repo))
        return MYTH_OK;
    const char *dir = git_repository_workdir(h->repo);
    char *real = realpath(dir, NULL);
    size_t n = real ? strlen(real) : 0;
    bool is_inside = real && strncmp(root, real, n) == 0 && (root[n] == '\0' || root[n] == '/' || n == 1);
    if (is_inside && git_repository_head(&ref, h->repo) == 0 && git_reference_target(ref)) {
        const char *sub = root + n + (root[n] == '/');
        h->prefix = myth_alloc(h->mem, MYTH_MEM_OTHER, "index", strlen(sub) + 2);
        if (h->prefix) {
            sprintf(h->prefix, "%s%s", sub, *sub ? "/" : "");
            h->head = *git_reference_target(ref);
            h->has_head = true;
        }
    }
    git_reference_free(ref);
    free(real);
    return MYTH_OK;
}

myth_status myth_history_begin(myth_history **out, myth_mem *mem, myth_store *store, const char *root, char note[128],
                               myth_error *err)
{
    note[0] = '\0';
    myth_history *h = *out = myth_alloc(mem, MYTH_MEM_OTHER, "index", sizeof(*h));
    if (!h)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the history");
    h->mem = mem;
    h->mark = read_mark(root);
    h->has_moved = h->mark != myth_store_number(store, "history", 0);
    if (!h->has_moved)
        return MYTH_OK;
    myth_error why = {0};
    if (myth_git_start(&why) != MYTH_OK) {
        snprintf(note, 128, "no history: %.100s", why.msg);
        h->has_moved = false;
        return MYTH_OK;
    }
    h->has_libgit2 = true;
    h->commit = myth_alloc_n(mem, MYTH_MEM_OTHER, "index", N_COMMIT, sizeof(*h->commit));
    h->stored = myth_alloc_n(mem, MYTH_MEM_OTHER, "index", N_COMMIT, sizeof(*h->stored));
    if (!h->commit || !h->stored)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the history");
    myth_status st = load_stored(h, store, err);
    if (st == MYTH_OK)
        st = open_repository(h, root, note, err);
    if (st != MYTH_OK)
        return st;
    if (note[0])
        h->mark = 0; /* so that the next update tries again and repeats the note */
    if (h->has_head && pthread_create(&h->thread, NULL, history_thread, h) == 0)
        h->is_running = true;
    else if (h->has_head)
        history_thread(h);
    return MYTH_OK;
}

bool myth_history_has_moved(const myth_history *h) { return h && h->has_moved; }

static void wait_for(myth_history *h)
{
    if (h->is_running)
        pthread_join(h->thread, NULL);
    h->is_running = false;
}

void myth_history_end(myth_history *h)
{
    if (!h)
        return;
    wait_for(h);
    for (uint32_t i = 0; h->commit && i < N_COMMIT; i++)
        myth_free(h->mem, h->commit[i].paths);
    myth_free(h->mem, h->commit);
    myth_free(h->mem, h->stored);
    myth_free(h->mem, h->prefix);
    if (h->has_libgit2) {
        git_repository_free(h->repo);
        myth_git_stop();
    }
    myth_free(h->mem, h);
}

/* ---- writing ---- */

typedef struct {
    myth_store *store;
    sqlite3_stmt *q;
} statement;

static myth_status prepare(statement *s, myth_store *store, const char *sql, myth_error *err)
{
    s->store = store;
    return myth_store_fail(store, sqlite3_prepare_v2(myth_store_db(store), sql, -1, &s->q, NULL), err);
}

static myth_status run(statement *s, myth_error *err)
{
    myth_status st = myth_store_fail(s->store, sqlite3_step(s->q), err);
    sqlite3_reset(s->q);
    return st;
}

static myth_status put_commit(myth_history *h, statement *put, const commit *c, int64_t id, myth_error *err)
{
    size_t cap = ZSTD_compressBound(c->n_paths), n = 0;
    char *data = myth_alloc(h->mem, MYTH_MEM_OTHER, "index", cap);
    if (data && c->n_paths)
        n = ZSTD_compress(data, cap, c->paths, c->n_paths, LEVEL);
    if (!data || ZSTD_isError(n)) {
        myth_free(h->mem, data);
        return myth_fail(err, MYTH_ENOMEM, "no memory for the history");
    }
    sqlite3_bind_int64(put->q, 1, id);
    sqlite3_bind_blob(put->q, 2, c->oid.id, GIT_OID_RAWSZ, SQLITE_STATIC);
    sqlite3_bind_int64(put->q, 3, c->time);
    sqlite3_bind_blob(put->q, 4, data, (int)n, SQLITE_STATIC);
    myth_status st = run(put, err);
    myth_free(h->mem, data);
    return st;
}

/* Makes the table `commits` equal to the walk; rows that are in both stay. */
static myth_status write_commits(myth_history *h, myth_store *store, myth_error *err)
{
    statement get = {0}, put = {0}, drop = {0};
    myth_status st = MYTH_OK;
    int64_t last = 0;
    int rc;
    git_oid *walked = myth_alloc_n(h->mem, MYTH_MEM_OTHER, "index", h->n_commit, sizeof(*walked));
    if (!walked)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the history");
    for (uint32_t i = 0; i < h->n_commit; i++)
        walked[i] = h->commit[i].oid;
    qsort(walked, h->n_commit, sizeof(*walked), compare_oids);
    MYTH_TRY(prepare(&get, store, "SELECT id, oid FROM commits ORDER BY id", err));
    MYTH_TRY(prepare(&put, store, "INSERT OR REPLACE INTO commits(id, oid, time, paths) VALUES(?1, ?2, ?3, ?4)", err));
    MYTH_TRY(prepare(&drop, store, "DELETE FROM commits WHERE id=?1", err));
    while ((rc = sqlite3_step(get.q)) == SQLITE_ROW) {
        git_oid oid;
        int64_t id = sqlite3_column_int64(get.q, 0);
        last = id > last ? id : last;
        if (sqlite3_column_bytes(get.q, 1) != GIT_OID_RAWSZ) {
            st = myth_store_fail(store, SQLITE_CORRUPT, err);
            goto fail;
        }
        memcpy(oid.id, sqlite3_column_blob(get.q, 1), GIT_OID_RAWSZ);
        if (h->n_commit && bsearch(&oid, walked, h->n_commit, sizeof(oid), compare_oids))
            continue;
        sqlite3_bind_int64(drop.q, 1, id);
        MYTH_TRY(run(&drop, err));
    }
    MYTH_TRY(myth_store_fail(store, rc, err));
    for (uint32_t i = 0; i < h->n_commit; i++)
        if (h->commit[i].paths)
            MYTH_TRY(put_commit(h, &put, &h->commit[i], ++last, err));
    MYTH_TRY(myth_store_set_number(store, "history", h->mark, err));
fail:
    sqlite3_finalize(get.q);
    sqlite3_finalize(put.q);
    sqlite3_finalize(drop.q);
    myth_free(h->mem, walked);
    return st;
}

static myth_status count_paths(statement *count, const char *paths, size_t n, int64_t time, myth_error *err)
{
    for (size_t at = 0; at < n;) {
        const char *zero = memchr(paths + at, 0, n - at);
        size_t len = zero ? (size_t)(zero - (paths + at)) : n - at;
        sqlite3_bind_blob(count->q, 1, paths + at, (int)len, SQLITE_STATIC);
        sqlite3_bind_int64(count->q, 2, time);
        myth_status st = run(count, err);
        if (st != MYTH_OK)
            return st;
        at += len + 1;
    }
    return MYTH_OK;
}

static myth_status write_history(myth_history *h, myth_store *store, myth_error *err)
{
    statement clear = {0}, get = {0}, count = {0};
    myth_status st = MYTH_OK;
    int rc;
    MYTH_TRY(prepare(&clear, store, "DELETE FROM history", err));
    MYTH_TRY(run(&clear, err));
    MYTH_TRY(prepare(&get, store, "SELECT time, paths FROM commits", err));
    MYTH_TRY(prepare(&count, store,
                     "INSERT INTO history(file_id, n_commit, last_time) SELECT id, 1, ?2 FROM files WHERE path=?1 "
                     "ON CONFLICT(file_id) DO UPDATE SET n_commit=n_commit+1, last_time=max(last_time, ?2)",
                     err));
    while ((rc = sqlite3_step(get.q)) == SQLITE_ROW) {
        const void *data = sqlite3_column_blob(get.q, 1);
        size_t n_data = (size_t)sqlite3_column_bytes(get.q, 1);
        unsigned long long n = n_data ? ZSTD_getFrameContentSize(data, n_data) : 0;
        if (n == 0)
            continue;
        char *paths = n < 1u << 30 ? myth_alloc(h->mem, MYTH_MEM_OTHER, "index", n) : NULL;
        if (!paths)
            st = n < 1u << 30 ? myth_fail(err, MYTH_ENOMEM, "no memory for the history")
                              : myth_store_fail(store, SQLITE_CORRUPT, err);
        else if (ZSTD_decompress(paths, n, data, n_data) != n)
            st = myth_store_fail(store, SQLITE_CORRUPT, err);
        else
            st = count_paths(&count, paths, n, sqlite3_column_int64(get.q, 0), err);
        myth_free(h->mem, paths);
        if (st != MYTH_OK)
            goto fail;
    }
    MYTH_TRY(myth_store_fail(store, rc, err));
fail:
    sqlite3_finalize(clear.q);
    sqlite3_finalize(get.q);
    sqlite3_finalize(count.q);
    return st;
}

myth_status myth_history_write(myth_history *h, myth_store *store, char note[128], myth_error *err)
{
    wait_for(h);
    if (h->st == MYTH_ENOMEM)
        return myth_fail(err, h->st, "%s", h->err.msg);
    if (h->st != MYTH_OK) { /* a damaged repository is no reason to have no index */
        snprintf(note, 128, "no history: %.100s", h->err.msg);
        h->n_commit = 0;
        h->mark = 0;
    }
    myth_status st = h->has_moved ? write_commits(h, store, err) : MYTH_OK;
    return st == MYTH_OK ? write_history(h, store, err) : st;
}
