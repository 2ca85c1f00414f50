/* residual_rows.h - every row of a job in one .npy file a layer, at constant memory: DIR/layer-007.npy, float32 [rows,
 * d_model], and DIR/rows.jsonl, which says what each row is.
 *
 * Place    a row is written where its number says, so rows done again after a break write the same bytes. A file has
 *          its whole length from the start; until all rows are there it is named layer-007.npy.part
 * Index    a line an item: {"index":3,"row":3,"n":1,"id":"a","label":"b"}; without rows {"index":3,"fault":"why"}.
 *          Lines are written in order, and *at is where the next one goes: the caller keeps it with what is done
 * Absent   a row that no item has (a fault where every item has one row) is NaN
 * Break    what was synced before a commit is there after it; a later run opens the .part files again, or the finished
 *          ones when it was stopped while they were named
 * Sums     each sync goes on with a sum of every file, of the rows and lines that are done; the caller keeps `sum` with
 *          what is done. A later run reads the .part files once and compares: a byte that the disk or a program changed
 *          in between is refused, and is in no finished file. So are the files of shares before they are put together
 * Shares   a share of a job (shares.h) has a folder of its own, DIR.K-of-N, with the rows of its items alone, numbered
 *          from 0, in files that keep .part in their names. Put together they are the bytes of one process
 * Owner    while a job is unfinished its folder has a file job.part: the job's number and the path of its journal. Only
 *          the job of that number goes on there, and no other begins while that journal exists. A folder with the file
 *          of a layer that is not of the job is refused too: what is complete is of one job, all of it
 * Lock     one command at a time writes into a folder, whatever else is its output: open takes the folder's lock, which
 *           ends with close or the process
 * State    zeroed before open; close leaves the files for the next run
 * Memory   none but the descriptors, one a layer; while shares are put together another one a share
 * Errors   MYTH_ECREATE, also of a folder that holds another job's files; MYTH_EIO, also of a folder that another
 *          command writes into; MYTH_EFORMAT: a file to go on with is gone, of another job, has another length or
 *          another sum
 * Threads  one */
#ifndef MYTH_JOB_RESIDUAL_ROWS_H
#define MYTH_JOB_RESIDUAL_ROWS_H

#include "engine/base/cancel.h"
#include "engine/base/status.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_ROW_FILE_MAX = 257 };

typedef struct {
    char dir[PATH_MAX - 32];
    uint32_t n_layer, dim, layer[MYTH_ROW_FILE_MAX];
    uint64_t n_row;
    uint64_t sum[MYTH_ROW_FILE_MAX + 1]; /* of each layer's file, then of the index, up to the two below */
    uint64_t sum_row, sum_at;
    int fd[MYTH_ROW_FILE_MAX], index_fd; /* -1 = closed, or named already */
    int lock;                            /* the folder, which no other command writes while it is open; -1 = closed */
    bool is_open;
} myth_residual_rows;

/* Whose rows they are. */
typedef struct {
    uint64_t number;     /* never 0; the caller keeps it in the journal */
    const char *journal; /* its path */
} myth_residual_rows_job;

/* What the files of an earlier run, or of a share, have. */
typedef struct {
    uint64_t n_row, at;  /* rows, and bytes of the index */
    const uint64_t *sum; /* [n_layer + 1] */
    bool is_whole;       /* all of it, so that some may have their names already */
} myth_residual_rows_done;

/* A number that no other job has. */
uint64_t myth_residual_rows_number(void);
/* Whether a job with these layers may use dir: MYTH_ECREATE where it holds rows of other layers, or an unfinished job's
 * whose journal is not `journal`. A missing folder is free. */
myth_status myth_residual_rows_check(const char *dir, const uint32_t *layer, uint32_t n_layer, const char *journal,
                                     myth_error *err);
/* done: of the earlier run of this job that goes on; NULL = the job begins, and files that an unfinished one left are
 * removed. dir is made if it is missing. */
myth_status myth_residual_rows_open(myth_residual_rows *out, const char *dir, const uint32_t *layer, uint32_t n_layer,
                                    uint64_t n_row, uint32_t dim, const myth_residual_rows_job *job,
                                    const myth_residual_rows_done *done, myth_error *err);
/* data NULL: a row that no item has. idx: the layer's place in the list. */
myth_status myth_residual_rows_put(myth_residual_rows *r, uint32_t idx, uint64_t row, const float *data,
                                   myth_error *err);
/* Appends a part of a line at *at and moves *at behind it; the last part of a line ends in its newline. */
myth_status myth_residual_rows_index(myth_residual_rows *r, uint64_t *at, const char *part, size_t n, myth_error *err);
/* Puts on the disk what was written, and goes on with the sums up to row n_row and byte `at` of the index. */
myth_status myth_residual_rows_sync(myth_residual_rows *r, uint64_t n_row, uint64_t at, myth_error *err);
/* Cuts the index to `at` bytes, syncs, and gives all files their names, the index last. */
myth_status myth_residual_rows_finish(myth_residual_rows *r, uint64_t at, myth_error *err);
void myth_residual_rows_close(myth_residual_rows *r); /* takes a zeroed one */

/* Writes the folder of share k (from 0) of n. */
const char *myth_residual_rows_folder(char dst[PATH_MAX], const char *dir, uint32_t k, uint32_t n);
/* MYTH_EFORMAT unless the files of share k are there and what it wrote. r: of the whole job. */
myth_status myth_residual_rows_check_share(const myth_residual_rows *r, uint32_t k, uint32_t n_share,
                                           const myth_residual_rows_done *done, myth_error *err);
/* Fills files that were begun by open with the rows and lines of n_share shares, where item i of n_item is of share i %
 * n_share. n_row: [n_share], the rows that each has. has_fault_rows: an item with a fault has one. *at is the length of
 * the index. MYTH_EFORMAT: a folder is missing, or is not of this job. */
myth_status myth_residual_rows_merge(myth_residual_rows *r, uint32_t n_share, const uint64_t *n_row, uint64_t n_item,
                                     bool has_fault_rows, const myth_cancel *cancel, uint64_t *at, myth_error *err);
/* Removes the folders of n_share shares of dir; one that has other files, too, keeps those. */
void myth_residual_rows_remove(const char *dir, uint32_t n_share);

#ifdef __cplusplus
}
#endif
#endif
