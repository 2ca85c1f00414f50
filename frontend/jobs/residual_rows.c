/* residual_rows.c - files of fixed length, written by pwrite. */
#include "residual_rows.h"

#include "engine/base/outfile.h"
#include "frontend/cli/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = PATH_MAX };

/* ---- names ---- */

static void name_of(const myth_residual_rows *r, char *dst, uint32_t idx, bool is_part)
{
    if (idx < r->n_layer)
        snprintf(dst, NAME_BYTES, "%s/layer-%03u.npy%s", r->dir, r->layer[idx], is_part ? ".part" : "");
    else
        snprintf(dst, NAME_BYTES, "%s/rows.jsonl%s", r->dir, is_part ? ".part" : "");
}

static uint64_t length_of(const myth_residual_rows *r) { return MYTH_NPY_HEADER + r->n_row * r->dim * 4; }

/* ---- open ---- */

static myth_status begin_file(myth_residual_rows *r, uint32_t idx, int *fd, myth_error *err)
{
    char name[NAME_BYTES], header[MYTH_NPY_HEADER];
    name_of(r, name, idx, true);
    unlink(name);
    *fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0)
        return myth_fail(err, MYTH_ECREATE, "%.200s: cannot create: %s", name, strerror(errno));
    if (idx == r->n_layer)
        return MYTH_OK;
    myth_npy_header(header, (uint64_t[]){r->n_row, r->dim});
    if (ftruncate(*fd, (off_t)length_of(r)) != 0 || !myth_out_write_at(*fd, header, sizeof(header), 0))
        return myth_fail(err, MYTH_EIO, "%.200s: cannot write: %s", name, strerror(errno));
    return MYTH_OK;
}

static myth_status open_again(myth_residual_rows *r, uint32_t idx, bool is_whole, int *fd, myth_error *err)
{
    char name[NAME_BYTES];
    struct stat info;
    name_of(r, name, idx, true);
    *fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const bool is_there = *fd >= 0;
    if (!is_there && is_whole) /* it may have its name already */
        name_of(r, name, idx, false);
    if (is_there ? fstat(*fd, &info) != 0 : !is_whole || stat(name, &info) != 0)
        return myth_fail(err, MYTH_EFORMAT, "%.200s is gone: begin anew with --resume off", name);
    if (idx < r->n_layer && (uint64_t)info.st_size != length_of(r))
        return myth_fail(err, MYTH_EFORMAT, "%.200s has %llu bytes, not %llu: begin anew with --resume off", name,
                         (unsigned long long)info.st_size, (unsigned long long)length_of(r));
    return MYTH_OK;
}

myth_status myth_residual_rows_open(myth_residual_rows *out, const char *dir, const uint32_t *layer, uint32_t n_layer,
                                    uint64_t n_row, uint32_t dim, bool goes_on, bool is_whole, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_residual_rows){.n_layer = n_layer, .dim = dim, .n_row = n_row, .index_fd = -1, .is_open = true};
    for (uint32_t i = 0; i < n_layer; i++) {
        out->layer[i] = layer[i];
        out->fd[i] = -1;
    }
    if (snprintf(out->dir, sizeof(out->dir), "%s", dir) >= (int)sizeof(out->dir))
        return myth_fail(err, MYTH_ELIMIT, "--rows %.80s...: a path of more than %d bytes", dir, PATH_MAX - 64);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return myth_fail(err, MYTH_ECREATE, "--rows %.200s: cannot create: %s", dir, strerror(errno));
    for (uint32_t i = 0; i <= n_layer && st == MYTH_OK; i++) {
        int *fd = i < n_layer ? &out->fd[i] : &out->index_fd;
        st = goes_on ? open_again(out, i, is_whole, fd, err) : begin_file(out, i, fd, err);
    }
    return st;
}

/* ---- rows ---- */

static myth_status cannot_write(const myth_residual_rows *r, uint32_t idx, myth_error *err)
{
    char name[NAME_BYTES];
    const int saved = errno;
    name_of(r, name, idx, true);
    return myth_fail(err, MYTH_EIO, "%.180s: cannot write: %s", name, strerror(saved));
}

myth_status myth_residual_rows_put(myth_residual_rows *r, uint32_t idx, uint64_t row, const float *data,
                                   myth_error *err)
{
    float none[256];
    const uint64_t at = MYTH_NPY_HEADER + row * r->dim * 4;
    if (data)
        return myth_out_write_at(r->fd[idx], data, (size_t)r->dim * 4, at) ? MYTH_OK : cannot_write(r, idx, err);
    for (size_t i = 0; i < 256; i++)
        none[i] = NAN;
    for (uint32_t i = 0, n; i < r->dim; i += n) {
        n = r->dim - i < 256 ? r->dim - i : 256;
        if (!myth_out_write_at(r->fd[idx], none, (size_t)n * 4, at + (uint64_t)i * 4))
            return cannot_write(r, idx, err);
    }
    return MYTH_OK;
}

myth_status myth_residual_rows_index(myth_residual_rows *r, uint64_t *at, const char *line, size_t n, myth_error *err)
{
    if (!myth_out_write_at(r->index_fd, line, n, *at) || !myth_out_write_at(r->index_fd, "\n", 1, *at + n))
        return cannot_write(r, r->n_layer, err);
    *at += n + 1;
    return MYTH_OK;
}

myth_status myth_residual_rows_sync(myth_residual_rows *r, myth_error *err)
{
    for (uint32_t i = 0; i <= r->n_layer; i++) {
        const int fd = i < r->n_layer ? r->fd[i] : r->index_fd;
        if (fd >= 0 && fdatasync(fd) != 0)
            return cannot_write(r, i, err);
    }
    return MYTH_OK;
}

myth_status myth_residual_rows_finish(myth_residual_rows *r, uint64_t at, myth_error *err)
{
    if (r->index_fd >= 0 && ftruncate(r->index_fd, (off_t)at) != 0)
        return cannot_write(r, r->n_layer, err);
    myth_status st = myth_residual_rows_sync(r, err);
    for (uint32_t i = 0; i <= r->n_layer && st == MYTH_OK; i++) {
        char part[NAME_BYTES], name[NAME_BYTES];
        int *fd = i < r->n_layer ? &r->fd[i] : &r->index_fd;
        if (*fd < 0)
            continue;
        name_of(r, part, i, true);
        name_of(r, name, i, false);
        if (rename(part, name) != 0)
            return myth_fail(err, MYTH_ECREATE, "%.200s: cannot rename: %s", part, strerror(errno));
        close(*fd);
        *fd = -1;
    }
    const int folder = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    return st;
}

void myth_residual_rows_close(myth_residual_rows *r)
{
    if (!r->is_open)
        return;
    for (uint32_t i = 0; i <= r->n_layer; i++) {
        const int fd = i < r->n_layer ? r->fd[i] : r->index_fd;
        if (fd >= 0)
            close(fd);
    }
    r->is_open = false;
}
