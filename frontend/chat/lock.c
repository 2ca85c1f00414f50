/* lock.c - a lock whose file is removed by who has it, so that who waits for it looks whether it is still the file. */
#include "lock.h"

#include "engine/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_still_there(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Opens and locks the file: 0, or errno. The holder's process id, when there is one. */
static int take(int *fd, const char *path, long *holder)
{
    char pid[24] = "";
    for (;;) {
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
        if (*fd < 0)
            return errno;
        if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
            break;
        if (is_still_there(*fd, path))
            return 0;
        close(*fd); /* its holder has removed it */
    }
    const int why = errno;
    const ssize_t n = pread(*fd, pid, sizeof(pid) - 1, 0);
    pid[n > 0 ? n : 0] = '\0';
    *holder = strtol(pid, NULL, 10);
    close(*fd);
    *fd = -1;
    return why;
}

myth_status myth_chat_lock_take(myth_chat_lock *out, const char *file, myth_error *err)
{
    char pid[24];
    long holder = 0;
    *out = (myth_chat_lock){.fd = -1};
    if (myth_out_is_special(file))
        return MYTH_OK;
    if (snprintf(out->path, sizeof(out->path), "%s.lock", file) >= (int)sizeof(out->path))
        return myth_fail(err, MYTH_ECREATE, "%.100s...: a path of more than %d bytes", file, PATH_MAX);
    const int why = take(&out->fd, out->path, &holder);
    if (why == EWOULDBLOCK && holder != (long)getpid())
        return myth_fail(err, MYTH_ELOST,
                         "%s: process %ld is a chat that works on it; end that one, or give this one another file",
                         file, holder);
    if (why && out->fd < 0 && why != EWOULDBLOCK && why != ENOLCK && why != EOPNOTSUPP && why != ENOSYS)
        return myth_fail(err, MYTH_ECREATE, "%s: cannot create it: %s", out->path, strerror(why));
    if (out->fd < 0)
        return MYTH_OK;
    const int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(out->fd, 0) != 0 || pwrite(out->fd, pid, (size_t)n, 0) != n)
        errno = 0; /* the disk may be full: the lock holds without the process id */
    return MYTH_OK;
}

void myth_chat_lock_end(myth_chat_lock *l)
{
    if (l->fd < 0)
        return;
    unlink(l->path);
    close(l->fd);
    l->fd = -1;
}
