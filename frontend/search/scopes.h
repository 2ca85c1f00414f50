/* scopes.h - the paths that a search is limited to, each with the directory that is opened for it and with what its
 * files are called in the output.
 *
 * One      directory, or none: its files are called relative to it
 * Several  directories and files, or one file: called as they were typed, without "./" in front, and so are the files
 *          in them: src/a.c. A file that is named is searched whatever ignore files, globs and languages say
 * Owner    the scopes; texts that were typed are lent
 * Errors   MYTH_ENOTFOUND a path does not exist; MYTH_EARG it lies outside; MYTH_ENOMEM
 * Threads  one */
#ifndef MYTH_SEARCH_SCOPES_H
#define MYTH_SEARCH_SCOPES_H

#include "engine/base/mem.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char *root;  /* the directory that is opened */
    char *shown; /* in front of the paths in it, or that of the file; "" = nothing */
    char *file;  /* in root; NULL = all files that a scan finds there */
} myth_scope;

typedef struct {
    myth_mem *mem;
    myth_scope *scope;
    uint32_t n;
    bool is_limited; /* to several paths, or to a file: the root of an index is the current directory */
} myth_scopes;

/* directory: that of -C, NULL = none. Close *out by myth_scopes_close, also after a failure. */
myth_status myth_scopes_open(myth_scopes *out, myth_mem *mem, const char *directory, char *const *path, int n,
                             myth_error *err);
void myth_scopes_close(myth_scopes *s); /* takes a zeroed one */
/* MYTH_EARG: a path is not below the current directory, whose index would be searched. */
myth_status myth_scopes_check_below(const myth_scopes *s, myth_error *err);
/* Whether a path relative to the current directory is in one of them. */
bool myth_scopes_has(const myth_scopes *s, const char *path);
/* Writes what a file of a scope is called. False: it does not fit. */
bool myth_scope_path(const myth_scope *s, const char *path, char *dst, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
