/* outfile.c - a new file beside the old one, sync, rename, sync of the folder. */
#define _GNU_SOURCE
#include "outfile.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL = 1 + 16 + 4, TRIES = 16 }; /* ".0123456789abcdef.tmp" */

/* ---- the unfinished files of the process ---- */

/* A signal handler walks the list too, so no thread may be interrupted by one while it holds the lock. */
static atomic_flag is_locked = ATOMIC_FLAG_INIT;
static myth_out *begun;

static void lock(sigset_t *was)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, was);
    while (atomic_flag_test_and_set_explicit(&is_locked, memory_order_acquire))
        sched_yield();
}

static void unlock(const sigset_t *was)
{
    atomic_flag_clear_explicit(&is_locked, memory_order_release);
    pthread_sigmask(SIG_SETMASK, was, NULL);
}

static void enlist(myth_out *o)
{
    sigset_t was;
    lock(&was);
    o->prev = NULL;
    o->next = begun;
    if (begun)
        begun->prev = o;
    begun = o;
    unlock(&was);
}

static void delist(myth_out *o)
{
    sigset_t was;
    lock(&was);
    if (o->next)
        o->next->prev = o->prev;
    if (o->prev)
        o->prev->next = o->next;
    else if (begun == o)
        begun = o->next;
    o->next = o->prev = NULL;
    unlock(&was);
}

/* ---- names: written by hand, since a signal handler makes them too ---- */

/* The unfinished file's name in its folder. Of a long name the beginning: the whole fits NAME_MAX. */
static void unfinished_name(char dst[NAME_MAX + 1], const myth_out *o)
{
    const char *base = myth_base_name(o->path);
    size_t n = strlen(base);
    n = n < NAME_MAX - TAIL ? n : NAME_MAX - TAIL;
    memcpy(dst, base, n);
    dst[n++] = '.';
    for (int shift = 60; shift >= 0; shift -= 4)
        dst[n++] = "0123456789abcdef"[o->chance >> shift & 15];
    memcpy(dst + n, ".tmp", 5);
}

/* Opens the folder that has the path; -1 with errno. A folder that may be written and not read is good enough. */
static int open_folder(const char *path)
{
    char folder[PATH_MAX];
    const size_t n = (size_t)(myth_base_name(path) - path);
    if (n >= sizeof(folder)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, path, n);
    memcpy(folder + n, ".", 2);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 || errno != EACCES ? fd : open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void myth_out_remove_begun(void)
{
    sigset_t was;
    lock(&was); /* never released: nothing is begun or finished any more */
    for (const myth_out *o = begun; o; o = o->next) {
        char name[NAME_MAX + 1];
        const int folder = o->is_paused ? open_folder(o->path) : o->folder;
        unfinished_name(name, o);
        if (folder >= 0)
            unlinkat(folder, name, 0);
    }
}

/* ---- begin ---- */

bool myth_out_is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* Opens a device or a pipe: O_NONBLOCK, so that a pipe without a reader is refused, and off again for the writes. */
static myth_status open_special(myth_out *o, myth_error *err)
{
    struct stat info;
    o->fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (o->fd < 0)
        return errno == ENXIO
                 ? myth_fail(err, MYTH_ECREATE, "%s: nobody reads this pipe; start its reader first", o->path)
                 : myth_fail(err, MYTH_ECREATE, "%s: cannot write to it: %s", o->path, strerror(errno));
    const int flags = fcntl(o->fd, F_GETFL);
    if (fstat(o->fd, &info) == 0 && !S_ISREG(info.st_mode) && flags >= 0 &&
        fcntl(o->fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return MYTH_OK;
    close(o->fd);
    return myth_fail(err, MYTH_ECREATE, "%s: it changed while it was opened", o->path);
}

/* Creates the unfinished file; -1 with errno. */
static int create_unfinished(myth_out *o, myth_out_mode mode)
{
    char name[NAME_MAX + 1];
    struct stat info;
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES; i++) {
        if (getrandom(&o->chance, sizeof(o->chance), 0) != (ssize_t)sizeof(o->chance))
            return -1;
        unfinished_name(name, o);
        fd = openat(o->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    if (fd >= 0 && fstat(fd, &info) == 0) {
        o->device = (uint64_t)info.st_dev;
        o->inode = (uint64_t)info.st_ino;
    }
    return fd;
}

myth_status myth_out_open(myth_out *o, const char *path, myth_out_mode mode, myth_error *err)
{
    *o = (myth_out){.path = path, .fd = -1, .folder = -1, .is_special = myth_out_is_special(path)};
    if (o->is_special) {
        const myth_status st = open_special(o, err);
        if (st != MYTH_OK)
            *o = (myth_out){0};
        return st;
    }
    if (myth_base_name(path)[0])
        o->folder = open_folder(path);
    else
        errno = ENOENT;
    if (o->folder >= 0) {
        enlist(o); /* before it is created: a signal then leaves nothing */
        if ((o->fd = create_unfinished(o, mode)) >= 0)
            return MYTH_OK;
    }
    const myth_status st = myth_fail(err, MYTH_ECREATE, "%s: cannot create: %s", path, strerror(errno));
    if (o->folder >= 0) {
        delist(o);
        close(o->folder);
    }
    *o = (myth_out){0};
    return st;
}

void myth_out_pause(myth_out *o)
{
    const int fd = o->fd, folder = o->folder;
    if (!o->path || o->is_paused)
        return;
    o->is_paused = true; /* from here a signal handler opens the folder itself */
    o->fd = o->folder = -1;
    close(fd);
    if (folder >= 0)
        close(folder);
}

myth_status myth_out_resume(myth_out *o, myth_error *err)
{
    char name[NAME_MAX + 1];
    struct stat info;
    if (!o->is_paused)
        return MYTH_OK;
    if (o->is_special) {
        const myth_status st = open_special(o, err);
        o->is_paused = st != MYTH_OK;
        return st;
    }
    unfinished_name(name, o);
    const int folder = open_folder(o->path);
    const int fd = folder >= 0 ? openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0 && fstat(fd, &info) == 0 && (uint64_t)info.st_dev == o->device && (uint64_t)info.st_ino == o->inode) {
        o->fd = fd;
        o->folder = folder;
        o->is_paused = false;
        return MYTH_OK;
    }
    const myth_status st = myth_fail(err, MYTH_ECREATE, "%s: the file under way cannot be opened again: %s", o->path,
                                     fd >= 0 ? "another file has its name; try again" : strerror(errno));
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    return st;
}

/* ---- write ---- */

bool myth_out_write(int fd, const void *data, size_t n)
{
    for (const unsigned char *p = data; n > 0;) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

bool myth_out_write_at(int fd, const void *data, size_t n, uint64_t off)
{
    for (const unsigned char *p = data; n > 0;) {
        ssize_t k = pwrite(fd, p, n, (off_t)off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        off += (uint64_t)k;
        n -= (size_t)k;
    }
    return true;
}

/* ---- end ---- */

/* A folder that was opened without the right to read it, or whose file system syncs no folders, is not synced. */
static bool sync_folder(int folder)
{
    return fsync(folder) == 0 || errno == EBADF || errno == EINVAL || errno == ENOTSUP;
}

myth_status myth_out_finish(myth_out *o, myth_error *err)
{
    char name[NAME_MAX + 1];
    myth_status st = MYTH_OK;
    if (o->is_paused)
        MYTH_TRY(myth_out_resume(o, err));
    bool ok = o->is_special || fsync(o->fd) == 0;
    const int saved = errno, closed = close(o->fd);
    o->fd = -1;
    if (!ok || closed != 0) {
        st = myth_fail(err, MYTH_EIO, "%s: cannot write: %s", o->path, strerror(ok ? errno : saved));
        goto fail;
    }
    if (o->is_special) {
        *o = (myth_out){0};
        return MYTH_OK;
    }
    unfinished_name(name, o);
    if (renameat(o->folder, name, o->folder, myth_base_name(o->path)) != 0) {
        st = myth_fail(err, MYTH_ECREATE, "%s: cannot rename onto it: %s", o->path, strerror(errno));
        goto fail;
    }
    delist(o);
    if (!sync_folder(o->folder))
        st = myth_fail(err, MYTH_EIO, "%s: its folder cannot be synced: %s", o->path, strerror(errno));
    close(o->folder);
    *o = (myth_out){0};
    return st;
fail:
    myth_out_abandon(o);
    return st;
}

void myth_out_abandon(myth_out *o)
{
    char name[NAME_MAX + 1];
    if (!o->path)
        return;
    if (o->fd >= 0)
        close(o->fd);
    if (!o->is_special) {
        if (o->is_paused)
            o->folder = open_folder(o->path);
        unfinished_name(name, o);
        if (o->folder >= 0)
            unlinkat(o->folder, name, 0);
        delist(o);
        if (o->folder >= 0)
            close(o->folder);
    }
    *o = (myth_out){0};
}

/* ---- printing ---- */

myth_status myth_out_print_open(myth_out *o, FILE **f, const char *path, myth_error *err)
{
    *f = NULL;
    myth_status st = myth_out_open(o, path, MYTH_OUT_SHARED, err);
    if (st != MYTH_OK)
        return st;
    const int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && (*f = fdopen(copy, "w")))
        return MYTH_OK;
    st = myth_fail(err, MYTH_ECREATE, "%s: %s", path, strerror(errno));
    if (copy >= 0)
        close(copy);
    myth_out_abandon(o);
    return st;
}

myth_status myth_out_print_close(myth_out *o, FILE *f, myth_status st, myth_error *err)
{
    const bool ok = !ferror(f);
    if ((fclose(f) != 0 || !ok) && st == MYTH_OK)
        st = myth_fail(err, MYTH_EIO, "%s: cannot write: %s", o->path, strerror(errno));
    if (st == MYTH_OK)
        return myth_out_finish(o, err);
    myth_out_abandon(o);
    return st;
}

/* ---- folders ---- */

int myth_out_folders(char failed[PATH_MAX], const char *path)
{
    snprintf(failed, PATH_MAX, "%s", path);
    for (char *p = failed; *p && (p = strchr(p + 1, '/')) != NULL; *p = '/') {
        *p = '\0';
        const int e = mkdir(failed, 0700) != 0 ? errno : 0; /* access would overwrite it */
        if (e && e != EEXIST && access(failed, F_OK) != 0)
            return e;
    }
    return 0;
}
