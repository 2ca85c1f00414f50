/* git_files.h - whether all that libgit2 may open for a repository is a regular file.
 *
 * Why      libgit2 opens what it finds by its name and reads it to the end: at a pipe it waits for ever, at a device it
 *          may read for ever. So these functions look first, and a repository with a pipe or a device is refused
 * Looked at  everything in the folder .git and in the folder that a linked work tree shares, except what libgit2 never
 *          reads there (hooks, modules, lfs, other work trees); the stores of objects that info/alternates names; files
 *          of settings and those that they include; the files of patterns, attributes and submodules of a work tree
 * Links    are followed as libgit2 follows them
 * Races    whoever can change the repository while it is read can still make a run wait; SIGTERM ends it
 * Errors   MYTH_EIO a pipe or a device, by its path; MYTH_ELIMIT more settings, alternates or links than a person
 *          keeps; MYTH_ENOMEM. What is missing or unreadable is left for libgit2 to report
 * Threads  any
 * Source   gitrepository-layout(5), git-config(1) */
#ifndef MYTH_GIT_FILES_H
#define MYTH_GIT_FILES_H

#include "engine/base/mem.h"

#include <sys/stat.h>

/* Every .git at or above the folder `root`, and `root` itself where it is a bare repository. Before the repository is
 * opened. */
myth_status myth_git_check(myth_mem *mem, const char *root, myth_error *err);
/* A file of settings and all that it includes; one that is not there is fine. */
myth_status myth_git_check_settings(myth_mem *mem, const char *path, myth_error *err);
/* .gitattributes, .gitignore and .gitmodules in all folders of a work tree. Before files of it are compared. */
myth_status myth_git_check_worktree(myth_mem *mem, const char *top, myth_error *err);
/* A pipe or a device, except /dev/null, which settings name to turn a file off. A socket is none: it cannot be opened,
 * so nobody waits for it, and git itself keeps one in .git. */
bool myth_git_is_special(const struct stat *s);

#endif
