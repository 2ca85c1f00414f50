/* npy.h - float32 arrays as .npy files, written row by row in any order, renamed into place when complete.
 *
 * Files    written beside their names (outfile.h) and opened for each row, so that thousands may be under way at once
 * Owner    the path is lent until finish or abandon, and the myth_npy is not moved until then
 * Source   NumPy format 1.0: magic, version, header length, a dict of descr, fortran_order and shape, padded to 64
 *          bytes */
#ifndef MYTH_NPY_H
#define MYTH_NPY_H

#include "engine/base/outfile.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_out file; /* closed when no array is under way */
    uint64_t data_off, row_bytes;
} myth_npy;

/* shape[n_dim], n_dim 1..4; a row is the innermost dimension. MYTH_ECREATE. */
myth_status myth_npy_create(myth_npy *out, const char *path, const uint64_t *shape, int n_dim, myth_error *err);
myth_status myth_npy_write_row(myth_npy *n, uint64_t row, const float *data, myth_error *err);
/* A matrix whose rows are counted as they come: [?, n_col]. Rows are written in order; count them at finish.
 * MYTH_ECREATE: not a regular file. */
myth_status myth_npy_create_rows(myth_npy *out, const char *path, uint64_t n_col, myth_error *err);
myth_status myth_npy_finish_rows(myth_npy *n, uint64_t n_row, myth_error *err);
/* Syncs and renames. */
myth_status myth_npy_finish(myth_npy *n, myth_error *err);
void myth_npy_abandon(myth_npy *n); /* takes a zeroed, a finished or an open one */

#ifdef __cplusplus
}
#endif
#endif
