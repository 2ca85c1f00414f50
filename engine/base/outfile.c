/* outfile.c - path.tmp, sync, rename. */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool myth_out_is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* Where the bytes of path go until it is complete; false when that name is too long. */
static bool begun_as(char dst[PATH_MAX], const char *path)
{
    int n = snprintf(dst, PATH_MAX, "%s%s", path, myth_out_is_special(path) ? "" : ".tmp");
    return n >= 0 && n < PATH_MAX;
}

myth_status myth_out_open(int *fd, const char *path, bool is_new, myth_error *err)
{
    char tmp[PATH_MAX];
    *fd = -1;
    if (!begun_as(tmp, path))
        return myth_fail(err, MYTH_ECREATE, "%s: path too long", path);
    *fd = open(tmp, O_WRONLY | O_CLOEXEC | (is_new && !myth_out_is_special(path) ? O_CREAT | O_TRUNC : 0), 0666);
    return *fd >= 0 ? MYTH_OK : myth_fail(err, MYTH_ECREATE, "%s: cannot create: %s", tmp, strerror(errno));
}

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

myth_status myth_out_finish(const char *path, int fd, myth_error *err)
{
    char tmp[PATH_MAX];
    const bool special = myth_out_is_special(path), named = begun_as(tmp, path);
    bool ok = named && (special || fsync(fd) == 0);
    int saved = errno;
    ok = close(fd) == 0 && ok;
    if (!ok) {
        myth_out_abandon(path, -1);
        return myth_fail(err, MYTH_EIO, "%s: cannot write: %s", path, strerror(saved));
    }
    if (!special && rename(tmp, path) != 0) {
        saved = errno;
        myth_out_abandon(path, -1);
        return myth_fail(err, MYTH_ECREATE, "%s: cannot rename onto it: %s", path, strerror(saved));
    }
    return MYTH_OK;
}

void myth_out_abandon(const char *path, int fd)
{
    char tmp[PATH_MAX];
    if (fd >= 0)
        close(fd);
    if (!myth_out_is_special(path) && begun_as(tmp, path))
        unlink(tmp);
}

myth_status myth_out_print_open(FILE **f, int *fd, const char *path, myth_error *err)
{
    *f = NULL;
    myth_status st = myth_out_open(fd, path, true, err);
    if (st != MYTH_OK)
        return st;
    const int copy = dup(*fd);
    if (copy >= 0 && (*f = fdopen(copy, "w")))
        return MYTH_OK;
    st = myth_fail(err, MYTH_ECREATE, "%s: %s", path, strerror(errno));
    if (copy >= 0)
        close(copy);
    myth_out_abandon(path, *fd);
    *fd = -1;
    return st;
}

myth_status myth_out_print_close(FILE *f, int fd, const char *path, myth_status st, myth_error *err)
{
    const bool ok = !ferror(f);
    if ((fclose(f) != 0 || !ok) && st == MYTH_OK)
        st = myth_fail(err, MYTH_EIO, "%s: cannot write: %s", path, strerror(errno));
    if (st == MYTH_OK)
        return myth_out_finish(path, fd, err);
    myth_out_abandon(path, fd);
    return st;
}
