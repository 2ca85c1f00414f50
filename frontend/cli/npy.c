/* npy.c - a .npy writer. Rows are float32, little endian. */
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes the header: at least `least` bytes, a multiple of 64. */
static size_t make_header(char *dst, size_t cap, const uint64_t *shape, int n_dim, size_t least)
{
    char dims[128] = "";
    int len = 0;
    for (int i = 0; i < n_dim; i++)
        len +=
            snprintf(dims + len, sizeof(dims) - (size_t)len, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]);
    memcpy(dst, "\x93NUMPY\x01\x00", 8);
    len = 10 + snprintf(dst + 10, cap - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s%s), }", dims,
                        n_dim == 1 ? "," : "");
    size_t whole = ((size_t)len + 1 + 63) / 64 * 64;
    whole = whole < least ? least : whole;
    memset(dst + len, ' ', whole - (size_t)len);
    dst[whole - 1] = '\n';
    dst[8] = (char)((whole - 10) & 0xff);
    dst[9] = (char)((whole - 10) >> 8);
    return whole;
}

void myth_npy_header(char dst[MYTH_NPY_HEADER], const uint64_t shape[2])
{
    char header[320];
    memcpy(dst, header, make_header(header, sizeof(header), shape, 2, MYTH_NPY_HEADER));
}

myth_status myth_npy_create(myth_npy *out, const char *path, const uint64_t *shape, int n_dim, myth_error *err)
{
    char header[320];
    *out =
        (myth_npy){.data_off = make_header(header, sizeof(header), shape, n_dim, 0), .row_bytes = 4 * shape[n_dim - 1]};
    uint64_t rows = 1;
    for (int i = 0; i + 1 < n_dim; i++)
        rows *= shape[i];
    myth_status st = myth_out_open(&out->file, path, MYTH_OUT_SHARED, err);
    if (st != MYTH_OK)
        return st;
    bool ok = out->file.is_special || ftruncate(out->file.fd, (off_t)(out->data_off + rows * out->row_bytes)) == 0;
    if (!ok || !myth_out_write_at(out->file.fd, header, (size_t)out->data_off, 0)) {
        int saved = errno;
        myth_out_abandon(&out->file);
        return myth_fail(err, MYTH_EIO, "%s: cannot write: %s", path, strerror(saved));
    }
    myth_out_pause(&out->file);
    return MYTH_OK;
}

myth_status myth_npy_create_rows(myth_npy *out, const char *path, uint64_t n_col, myth_error *err)
{
    *out = (myth_npy){.data_off = MYTH_NPY_HEADER, .row_bytes = 4 * n_col};
    if (myth_out_is_special(path))
        return myth_fail(err, MYTH_ECREATE, "%s: a .npy file of rows needs a regular file",
                         path); /* the header is written last, so the file must be seekable */
    myth_status st = myth_out_open(&out->file, path, MYTH_OUT_SHARED, err);
    myth_out_pause(&out->file);
    return st;
}

myth_status myth_npy_finish_rows(myth_npy *n, uint64_t n_row, myth_error *err)
{
    char header[320];
    const uint64_t shape[2] = {n_row, n->row_bytes / 4};
    const size_t len = make_header(header, sizeof(header), shape, 2, MYTH_NPY_HEADER);
    myth_status st = myth_out_resume(&n->file, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_out_write_at(n->file.fd, header, len, 0))
        st = myth_fail(err, MYTH_EIO, "%s: cannot write: %s", n->file.path, strerror(errno));
    return st == MYTH_OK ? myth_npy_finish(n, err) : st;
}

myth_status myth_npy_write_row(myth_npy *n, uint64_t row, const float *data, myth_error *err)
{
    myth_status st = myth_out_resume(&n->file, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_out_write_at(n->file.fd, data, (size_t)n->row_bytes, n->data_off + row * n->row_bytes))
        st = myth_fail(err, MYTH_EIO, "%s: row %llu: %s", n->file.path, (unsigned long long)row, strerror(errno));
    myth_out_pause(&n->file);
    return st;
}

myth_status myth_npy_finish(myth_npy *n, myth_error *err) { return myth_out_finish(&n->file, err); }

void myth_npy_abandon(myth_npy *n) { myth_out_abandon(&n->file); }
