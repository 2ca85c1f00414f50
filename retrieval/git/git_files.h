/* git_files.h - checks that every file which libgit2 may open for a repository is a regular file.
 *
 * Why      libgit2 opens what it finds by name and reads it to its end: at a pipe it would wait for ever, and a
 *          device may never end. So a repository with a pipe or a device is refused before it is opened
 * Checked  everything in .git, and in the folder that linked work trees share, except what libgit2 never reads
 *          (hooks, modules, lfs, other work trees); object stores named by info/alternates; settings files and
 *          those that they include; the files of patterns, attributes and submodules in a work tree
 * Links    are followed as libgit2 follows them
 * Races    whoever can change the repository during a run can still make it wait; SIGTERM ends it
 * Errors   MYTH_EIO a pipe or a device, named by its path; MYTH_ELIMIT more settings, alternates or links than a
 *          person keeps; MYTH_ENOMEM. Missing and unreadable files are left for libgit2 to report
 * Threads  any
 * Source   gitrepository-layout(5), git-config(1) */
#ifndef MYTH_GIT_FILES_H
#define MYTH_GIT_FILES_H

#include "engine/base/mem.h"

#include <sys/stat.h>

/* Checks every .git at or above the folder `root`, `root` itself if it is a bare repository, and the settings of the
 * user. Call it before opening the repository. */
myth_status myth_git_check(myth_mem *mem, const char *root, myth_error *err);
/* Checks a settings file and all files that it includes; a missing file is fine. */
myth_status myth_git_check_settings(myth_mem *mem, const char *path, myth_error *err);
/* Checks the settings of the system and of the user, which libgit2 reads for every repository. */
myth_status myth_git_check_user(myth_mem *mem, myth_error *err);
/* Checks .gitattributes, .gitignore and .gitmodules in all folders of a work tree. Call it before its files are
 * compared. */
myth_status myth_git_check_worktree(myth_mem *mem, const char *top, myth_error *err);
/* Whether it is a pipe or a device. /dev/null is allowed, because settings name it to turn a file off. So is a
 * socket, because it cannot be opened and nobody waits for it; git itself keeps one in .git. */
bool myth_git_is_special(const struct stat *s);

#endif
