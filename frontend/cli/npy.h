/* npy.h - writes float32 arrays as .npy files, row by row in any order; the file gets its name when it is complete.
 *
 * Files    a temporary file in the same folder (outfile.h), opened anew for each row, so that thousands of arrays can
 *          be written at the same time
 * Owner    the caller keeps the path valid, and the myth_npy at its address, until finish or abandon
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
    myth_out file; /* zeroed while no array is being written */
    uint64_t data_off, row_bytes;
} myth_npy;

enum { MYTH_NPY_HEADER = 128 }; /* header bytes that have room for any number of rows */

/* The header of a matrix, for who writes the file himself. */
void myth_npy_header(char dst[MYTH_NPY_HEADER], const uint64_t shape[2]);

/* shape[n_dim], n_dim 1..4; a row is the innermost dimension. MYTH_ECREATE. */
myth_status myth_npy_create(myth_npy *out, const char *path, const uint64_t *shape, int n_dim, myth_error *err);
myth_status myth_npy_write_row(myth_npy *n, uint64_t row, const float *data, myth_error *err);
/* A matrix whose number of rows is not known yet: write the rows in order and give their number to finish_rows, which
 * writes the header. MYTH_ECREATE: path is not a regular file, which that needs. */
myth_status myth_npy_create_rows(myth_npy *out, const char *path, uint64_t n_col, myth_error *err);
myth_status myth_npy_finish_rows(myth_npy *n, uint64_t n_row, myth_error *err);
/* Writes everything to disk and gives the file its name. */
myth_status myth_npy_finish(myth_npy *n, myth_error *err);
void myth_npy_abandon(myth_npy *n); /* accepts a zeroed, a finished or an open one */

#ifdef __cplusplus
}
#endif
#endif
