/* place.h - what a file is called in its repository, whatever a person typed to name it.
 *
 * Name     the path from the top of the work tree that holds the file; a clone, a linked work tree and a submodule have
 *          tops of their own. Outside of a repository it is the file's own name
 * Links    are followed, so that one file has one name
 * Other    what has no place of its own in a tree (standard input, a pipe, a missing file) keeps its last component
 * Threads  any */
#ifndef MYTH_PLACE_H
#define MYTH_PLACE_H

#include <limits.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char root[PATH_MAX]; /* the folder that path is relative to, without links; "" for standard input */
    char path[PATH_MAX];
    bool in_repository; /* root is the top of a work tree */
} myth_place;

/* typed: from the current folder, or absolute; "-" is standard input. */
void myth_place_find(myth_place *out, const char *typed);
/* The same for a path where no file needs to be yet, as for one that an editor has not saved. False: its folder is not
 * there, or something else than a file is in its place. */
bool myth_place_find_new(myth_place *out, const char *typed);
/* Finds what files below a folder are called: root is the top of its work tree, and path what their names begin with,
 * "" or "src/lib/". A folder that git tracks nothing of (one that is ignored, or a project inside of somebody's home
 * that is a repository) is its own root, and so is one outside of a repository; unless is_any, for a caller that needs
 * the repository in any case. A folder that is missing keeps its spelling. */
void myth_place_find_folder(myth_place *out, const char *typed, bool is_any);

#ifdef __cplusplus
}
#endif
#endif
