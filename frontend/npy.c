/* npy.c - a .npy writer. Rows are float32, little endian. */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device is written in place: a rename would put a file where it stands. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static int open_tmp(const char *path, int flags, char tmp[PATH_MAX])
{
    bool in_place = is_special(path);
    int n = snprintf(tmp, PATH_MAX, "%s%s", path, in_place ? "" : ".tmp");
    flags = in_place ? 0 : flags;
    if (n < 0 || n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(tmp, O_WRONLY | O_CLOEXEC | flags, 0666);
}

static bool write_at(int fd, const void *data, size_t len, uint64_t off)
{
    const unsigned char *p = data;
    while (len > 0) {
        ssize_t k = pwrite(fd, p, len, (off_t)off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        off += (uint64_t)k;
        len -= (size_t)k;
    }
    return true;
}

static size_t make_header(char *dst, size_t cap, const uint64_t *shape, int n_dim)
{
    char dims[128] = "";
    int len = 0;
    for (int i = 0; i < n_dim; i++)
        len += snprintf(dims + len, sizeof(dims) - (size_t)len, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]);
    memcpy(dst, "\x93NUMPY\x01\x00", 8);
    len = 10 + snprintf(dst + 10, cap - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s%s), }", dims, n_dim == 1 ? "," : "");
    size_t whole = ((size_t)len + 1 + 63) / 64 * 64;
    memset(dst + len, ' ', whole - (size_t)len);
    dst[whole - 1] = '\n';
    dst[8] = (char)((whole - 10) & 0xff);
    dst[9] = (char)((whole - 10) >> 8);
    return whole;
}

myth_status myth_npy_create(myth_npy *out, const char *path, const uint64_t *shape, int n_dim, myth_error *err)
{
    char header[320], tmp[PATH_MAX];
    *out = (myth_npy){ .data_off = make_header(header, sizeof(header), shape, n_dim), .row_bytes = 4 * shape[n_dim - 1] };
    int fd = open_tmp(path, O_CREAT | O_TRUNC, tmp);
    if (fd < 0)
        return myth_fail(err, MYTH_ECREATE, "%s: cannot create: %s", path, strerror(errno));
    uint64_t rows = 1;
    for (int i = 0; i + 1 < n_dim; i++)
        rows *= shape[i];
    bool in_place = is_special(path);
    bool ok = in_place || ftruncate(fd, (off_t)(out->data_off + rows * out->row_bytes)) == 0;
    ok = ok && write_at(fd, header, (size_t)out->data_off, 0);
    int saved = errno;
    close(fd);
    if (!ok) {
        if (!in_place)
            unlink(tmp);
        return myth_fail(err, MYTH_EIO, "%s: cannot write: %s", path, strerror(saved));
    }
    out->path = path;
    return MYTH_OK;
}

myth_status myth_npy_write_row(const myth_npy *n, uint64_t row, const float *data, myth_error *err)
{
    char tmp[PATH_MAX];
    int fd = open_tmp(n->path, 0, tmp);
    bool ok = fd >= 0 && write_at(fd, data, (size_t)n->row_bytes, n->data_off + row * n->row_bytes);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    return ok ? MYTH_OK : myth_fail(err, MYTH_EIO, "%s: row %llu: %s", n->path, (unsigned long long)row, strerror(saved));
}

myth_status myth_npy_finish(myth_npy *n, myth_error *err)
{
    char tmp[PATH_MAX];
    int fd = open_tmp(n->path, 0, tmp);
    bool in_place = is_special(n->path), ok = fd >= 0 && (in_place || fsync(fd) == 0);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    if (!ok)
        return myth_fail(err, MYTH_EIO, "%s: cannot write: %s", n->path, strerror(saved));
    if (!in_place && rename(tmp, n->path) != 0)
        return myth_fail(err, MYTH_ECREATE, "%s: cannot rename onto it: %s", n->path, strerror(errno));
    n->path = NULL;
    return MYTH_OK;
}

void myth_npy_abandon(myth_npy *n)
{
    char tmp[PATH_MAX];
    if (n->path && !is_special(n->path) && snprintf(tmp, sizeof(tmp), "%s.tmp", n->path) < PATH_MAX)
        unlink(tmp);
    n->path = NULL;
}
