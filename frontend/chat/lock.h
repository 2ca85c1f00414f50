/* lock.h - one chat at a time works on a file: the last of two to save would take out what the other one said.
 *
 * Lock     flock on FILE.lock, which holds the process id of the holder and is removed at the end. One that a killed
 *          process left is taken
 * Without  on a file system that has no locks it goes on without one, and so it does for what is no regular file, to
 *          which no chat is saved
 * Errors   MYTH_ELOST: another process has it; MYTH_ECREATE: FILE.lock cannot be made
 * Threads  any */
#ifndef MYTH_CHAT_LOCK_H
#define MYTH_CHAT_LOCK_H

#include "engine/base/status.h"

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int fd; /* -1 = nothing is locked */
    char path[PATH_MAX];
} myth_chat_lock;

/* What this process has locked itself is no error, and nothing is locked then. */
myth_status myth_chat_lock_take(myth_chat_lock *out, const char *file, myth_error *err);
void myth_chat_lock_end(myth_chat_lock *l);

#ifdef __cplusplus
}
#endif
#endif
