/* tempdir.h - a temporary folder of a command's own: made in TMPDIR, removed with all that is in it.
 *
 * Owner    the caller removes what make has given, also after failures of its own
 * Errors   make: MYTH_ECREATE: there is no such place, or it may not be written
 * Threads  any */
#ifndef MYTH_TEMPDIR_H
#define MYTH_TEMPDIR_H

#include "engine/base/status.h"

#include <limits.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for the path of a folder; a TMPDIR that is longer than half of it gives way to /tmp, because paths inside, such
 * as that of a socket, must stay short. */
enum { MYTH_TEMPDIR_BYTES = 64 };

/* dir becomes the path of a new empty folder, mythos-NAME-*; "" on failure. */
myth_status myth_tempdir_make(char dir[MYTH_TEMPDIR_BYTES], const char *name, myth_error *err);
/* Removes a folder and all below it; no link is followed. "" and what is not there are passed over; false when
 * something stays. */
bool myth_tempdir_remove(const char *dir);

/* Opens a new file of the temporary folder, which has no name any more; name: the one that it had. what: for the
 * message, as in "copy standard input to". MYTH_ELIMIT: TMPDIR is too long; MYTH_ECREATE. */
myth_status myth_tempdir_file(int *fd, char name[PATH_MAX], const char *what, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
