/* index_list.c - looks through the folders of a cache; notes which tree an index is of and when it was used. */
#include "index_list.h"

#include "index_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define ROOT_FILE "root"

void myth_index_name_of(char dst[MYTH_INDEX_NAME], const char *root)
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(root, strlen(root)));
    for (int i = 0; i < 16; i++)
        snprintf(dst + 2 * i, 3, "%02x", c.digest[i]);
}

/* ---- the use of an index ---- */

/* Failures do no harm: the index is then listed with an older time, or without its tree. */
void myth_index_note_use(const myth_index *x)
{
    char path[PATH_MAX];
    const char *slash = strrchr(x->path, '/');
    if (!x->has_default_path || !slash)
        return;
    snprintf(path, sizeof(path), "%.*s/" ROOT_FILE, (int)(slash - x->path), x->path);
    if (utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT || x->is_read_only)
        return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    const size_t n = strlen(x->root);
    if (write(fd, x->root, n) != (ssize_t)n)
        unlink(path);
    close(fd);
}

/* Reads the root of a folder, when it is the one that the folder is named after. */
static void read_root(int dir, myth_index_place *p)
{
    char root[PATH_MAX], name[MYTH_INDEX_NAME];
    struct stat info;
    const int fd = openat(dir, ROOT_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const ssize_t n = is_file ? read(fd, root, sizeof(root) - 1) : -1;
    close(fd);
    if (n <= 0)
        return;
    root[n] = '\0';
    myth_index_name_of(name, root);
    if (strcmp(name, p->name) != 0)
        return;
    strcpy(p->root, root);
    p->used_s = (int64_t)info.st_mtim.tv_sec;
    p->is_gone = stat(root, &info) != 0 ? errno == ENOENT || errno == ENOTDIR : !S_ISDIR(info.st_mode);
}

/* ---- folders ---- */

static bool is_name(const char *name)
{
    return strlen(name) == MYTH_INDEX_NAME - 1 && strspn(name, "0123456789abcdef") == MYTH_INDEX_NAME - 1;
}

/* "index-7.db", "index-7.db.lock", "root" */
static bool is_ours(const char *name) { return strncmp(name, "index-", 6) == 0 || strcmp(name, ROOT_FILE) == 0; }

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW); }

/* The folder's bytes, and as long as no root says better the time of its newest file. */
static bool read_folder(int at, myth_index_place *p)
{
    struct stat info;
    bool has_index = false;
    const int fd = openat(at, p->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (!is_ours(e->d_name) || fstatat(fd, e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        has_index = true;
        p->bytes += info.st_size > 0 ? (uint64_t)info.st_size : 0;
        p->used_s = p->used_s < (int64_t)info.st_mtim.tv_sec ? (int64_t)info.st_mtim.tv_sec : p->used_s;
    }
    if (has_index)
        read_root(fd, p);
    closedir(d);
    return has_index;
}

myth_status myth_index_list(const char *cache_dir, bool (*on_place)(void *arg, const myth_index_place *p), void *arg,
                            myth_error *err)
{
    char path[PATH_MAX];
    if (!cache_dir || snprintf(path, sizeof(path), "%s/mythos", cache_dir) >= (int)sizeof(path))
        return myth_fail(err, MYTH_ENOTFOUND, "no place for indexes");
    const int fd = open_folder(path);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        const int e = errno;
        if (fd >= 0)
            close(fd);
        return e == ENOENT ? MYTH_OK : myth_fail(err, MYTH_EIO, "%.160s: %s", path, strerror(e));
    }
    bool goes_on = true;
    for (const struct dirent *e; goes_on && (e = readdir(d)) != NULL;) {
        myth_index_place p = {.used_s = 0};
        if (!is_name(e->d_name))
            continue;
        strcpy(p.name, e->d_name);
        if (read_folder(fd, &p))
            goes_on = on_place(arg, &p);
    }
    closedir(d);
    return MYTH_OK;
}

/* Takes the lock of every database of the folder, so that no process updates one; at most as many as there are
 * versions of the format. */
static myth_status lock_all(int locks[], uint32_t cap, uint32_t *n, const char *folder, DIR *d, myth_error *err)
{
    *n = 0;
    rewinddir(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[PATH_MAX];
        const size_t len = strlen(e->d_name);
        if (!is_ours(e->d_name) || len < 3 || strcmp(e->d_name + len - 3, ".db") != 0)
            continue;
        if (*n == cap || snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
            return myth_fail(err, MYTH_ELIMIT, "%.160s: more than %u databases", folder, cap);
        const myth_status st = myth_index_lock(&locks[*n], path, "updating the index", 0, err);
        if (st != MYTH_OK)
            return st;
        ++*n;
    }
    return MYTH_OK;
}

myth_status myth_index_drop(const char *cache_dir, const char *name, myth_error *err)
{
    enum { LOCKS = 32 };
    char path[PATH_MAX];
    int locks[LOCKS];
    uint32_t n_lock = 0;
    if (!cache_dir || !is_name(name) ||
        snprintf(path, sizeof(path), "%s/mythos/%s", cache_dir, name) >= (int)sizeof(path))
        return myth_fail(err, MYTH_ENOTFOUND, "%.40s: no name of an index", name);
    const int fd = open_folder(path);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        const int e = errno;
        if (fd >= 0)
            close(fd);
        return myth_fail(err, e == ENOENT ? MYTH_ENOTFOUND : MYTH_EIO, "%.160s: %s", path, strerror(e));
    }
    myth_status st = lock_all(locks, LOCKS, &n_lock, path, d, err);
    rewinddir(d);
    for (const struct dirent *e; st == MYTH_OK && (e = readdir(d)) != NULL;)
        if (is_ours(e->d_name) && unlinkat(fd, e->d_name, 0) != 0 && errno != ENOENT)
            st = myth_fail(err, MYTH_EIO, "%.120s/%.60s: %s", path, e->d_name, strerror(errno));
    closedir(d);
    while (n_lock > 0)
        myth_index_unlock(&locks[--n_lock]);
    if (st == MYTH_OK && rmdir(path) != 0 && errno != ENOTEMPTY && errno != EEXIST)
        st = myth_fail(err, MYTH_EIO, "%.160s: %s", path, strerror(errno));
    return st;
}

void myth_index_forget(const char *path)
{
    char cache[PATH_MAX], name[MYTH_INDEX_NAME];
    const char *file = strrchr(path, '/'), *folder = file;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    const size_t n_name = folder ? (size_t)(file - folder) : 0, n_cache = folder ? (size_t)(folder - path) : 0;
    static const char own[] = "/mythos/";
    const size_t n_own = sizeof(own) - 1;
    if (n_name != MYTH_INDEX_NAME - 1 || n_cache < n_own || strncmp(folder - n_own, own, n_own) != 0)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)n_name, folder);
    snprintf(cache, sizeof(cache), "%.*s", (int)(n_cache - n_own), path);
    myth_index_drop(cache, name, NULL);
}
