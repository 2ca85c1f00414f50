/* tempdir.c - makes a temporary folder, and removes it with what is in it. */
#define _GNU_SOURCE /* mkostemp */
#include "tempdir.h"

#include "environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_DEPTH_MAX = 256 };

myth_status myth_tempdir_make(char dir[MYTH_TEMPDIR_BYTES], const char *name, myth_error *err)
{
    const char *tmp = myth_env_tmp_dir();
    snprintf(dir, MYTH_TEMPDIR_BYTES, "%s/mythos-%.16s-XXXXXX", strlen(tmp) <= MYTH_TEMPDIR_BYTES / 2 ? tmp : "/tmp",
             name);
    if (mkdtemp(dir))
        return MYTH_OK;
    const myth_status st = myth_fail(err, MYTH_ECREATE,
                                     "%s: no temporary folder can be made: %s; TMPDIR names another "
                                     "place",
                                     dir, strerror(errno));
    dir[0] = '\0';
    return st;
}

static void remove_below(int dir, int depth)
{
    DIR *d = fdopendir(dir);
    if (!d) {
        close(dir);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || unlinkat(dirfd(d), e->d_name, 0) == 0)
            continue;
        const int sub =
            depth < N_DEPTH_MAX ? openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (sub >= 0) {
            remove_below(sub, depth + 1);
            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
        }
    }
    closedir(d);
}

bool myth_tempdir_remove(const char *dir)
{
    const int open_dir = dir[0] ? open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (open_dir >= 0)
        remove_below(open_dir, 0);
    return !dir[0] || rmdir(dir) == 0 || errno == ENOENT;
}

myth_status myth_tempdir_file(int *fd, char name[PATH_MAX], const char *what, myth_error *err)
{
    if (snprintf(name, PATH_MAX, "%s/mythos.XXXXXX", myth_env_tmp_dir()) >= PATH_MAX)
        return myth_fail(err, MYTH_ELIMIT, "TMPDIR: a path of more than %d bytes", PATH_MAX);
    *fd = mkostemp(name, O_CLOEXEC);
    if (*fd < 0)
        return myth_fail(err, MYTH_ECREATE, "%s: cannot create a file to %s: %s; set TMPDIR", name, what,
                         strerror(errno));
    unlink(name);
    return MYTH_OK;
}
