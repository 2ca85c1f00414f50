/* outfile.h - output files: written as path.tmp, synced, renamed when complete, so that a reader never sees half of
 * one.
 *
 * Special  a device or a pipe is written in place: a rename would put a file where it stands. It cannot be written
 *          twice from the front
 * Owner    the caller keeps the descriptor until finish or abandon, which close it; -1 means none is open
 * Errors   MYTH_ECREATE cannot create or rename, MYTH_EIO cannot write or sync */
#ifndef MYTH_OUTFILE_H
#define MYTH_OUTFILE_H

#include "status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins path (is_new) or opens what was begun; *fd is -1 on failure. */
myth_status myth_out_open(int *fd, const char *path, bool is_new, myth_error *err);
/* True when path is a device or a pipe, which has no size and no way back. */
bool myth_out_is_special(const char *path);
/* All n bytes at the end of what was written, or at off. False with errno. */
bool myth_out_write(int fd, const void *data, size_t n);
bool myth_out_write_at(int fd, const void *data, size_t n, uint64_t off);
/* Syncs, closes, renames. On failure the file is abandoned. */
myth_status myth_out_finish(const char *path, int fd, myth_error *err);
/* Closes and removes what was begun. */
void myth_out_abandon(const char *path, int fd);
/* The same for what is printed: path is begun anew and *f writes to it. Close ends both: with st MYTH_OK and all of it
 * written the file is finished, else it is abandoned and the first failure returned. */
myth_status myth_out_print_open(FILE **f, int *fd, const char *path, myth_error *err);
myth_status myth_out_print_close(FILE *f, int fd, const char *path, myth_status st, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
