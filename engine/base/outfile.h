/* outfile.h - output files: a reader of the name sees the file that was there before or the whole new one, never a
 * part.
 *
 * Names    the bytes go into a new file of the same folder, NAME.<16 hex digits of chance>.tmp, and are renamed onto
 *          NAME when they are complete and synced. The new file is created with O_EXCL and O_NOFOLLOW below a
 *          descriptor of the folder, so a link or a file that somebody put there first is never written through, and
 *          any number of processes may write the same NAME: the last one to finish wins
 * Special  a device or a pipe is written in place, because a rename would replace it by a file. A pipe that nobody
 *          reads is refused, not waited for. What is special has no size and cannot be written twice from the front
 * Owner    a myth_out belongs to the caller and is not moved between open and finish or abandon; the path is lent for
 *          as long. A zeroed one is closed, finish and abandon close it
 * Ends     myth_out_remove_begun removes the unfinished files of the process when a signal handler ends it
 * Errors   MYTH_ECREATE cannot create or rename, MYTH_EIO cannot write or sync
 * Threads  one per myth_out */
#ifndef MYTH_OUTFILE_H
#define MYTH_OUTFILE_H

#include "status.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who may read a new file: everybody whom the umask lets, or its owner alone. */
typedef enum { MYTH_OUT_SHARED = 0666, MYTH_OUT_PRIVATE = 0600 } myth_out_mode;

typedef struct myth_out {
    const char *path; /* NULL = closed */
    int fd;           /* open for writing, also through a mapping, unless closed or paused */
    int folder;       /* descriptor of the folder that has the file, unless closed, paused or special */
    bool is_special, is_paused;
    uint64_t chance;              /* the number in the name of the unfinished file */
    uint64_t device, inode;       /* of the unfinished file */
    struct myth_out *next, *prev; /* in the list of unfinished files */
} myth_out;

/* Begins path. Closed after a failure. */
myth_status myth_out_open(myth_out *o, const char *path, myth_out_mode mode, myth_error *err);
/* Closes the descriptors of an unfinished file and opens them again, for who has thousands of files begun.
 * MYTH_ECREATE: the file under way is gone or is another one; it stays paused. */
void myth_out_pause(myth_out *o);
myth_status myth_out_resume(myth_out *o, myth_error *err);
/* True when path is there and is no regular file. */
bool myth_out_is_special(const char *path);
/* All n bytes at the end of what was written, or at off. False with errno. */
bool myth_out_write(int fd, const void *data, size_t n);
bool myth_out_write_at(int fd, const void *data, size_t n, uint64_t off);
/* Syncs the file, renames it, syncs the folder, closes. On failure the file is abandoned. */
myth_status myth_out_finish(myth_out *o, myth_error *err);
/* Closes and removes what was begun; takes a closed one. */
void myth_out_abandon(myth_out *o);
/* The same for what is printed: path is begun and *f writes to it. Close ends both: with st MYTH_OK and all of it
 * written the file is finished, else it is abandoned and the first failure returned. */
myth_status myth_out_print_open(myth_out *o, FILE **f, const char *path, myth_error *err);
myth_status myth_out_print_close(myth_out *o, FILE *f, myth_status st, myth_error *err);
/* Removes the unfinished files of all threads. For a signal handler (it calls async-signal-safe functions alone), which
 * ends the process next: no output can be begun or finished afterwards. */
void myth_out_remove_begun(void);
/* Makes the missing folders above path, for their owner alone (0700). Returns 0, or the errno of the first that could
 * not be made, with its path in failed. A path has fewer than PATH_MAX bytes. */
int myth_out_folders(char failed[PATH_MAX], const char *path);

#ifdef __cplusplus
}
#endif
#endif
