/* files.h - the files that paths on a command line name: files, directories, patterns.
 *
 * File       is in as it is, whatever it holds; twice named it is in once
 * Directory  the files in it that are code by their names, as a scan finds them (scan.h: patterns of ignore files,
 *            what git tracks), without generated ones and those in a directory below it that holds copies of other
 *            projects (vendor, third_party). These, documents and data are counted; `include` takes them in
 * Pattern    a path that does not exist and holds *, ?, [ or {} is a pattern of files below the current directory, as
 *            `include` is. What it matches is in, also documents and data; but without generated files, unless its last
 *            part is a plain name, and without copies below the folder that it names. These are counted, too
 * Input      "-" is standard input: it is called "-", or with stdin_name as that file is or would be in its repository
 * Filters    include and exclude are globs as --glob of a scan, relative to each directory. They do not leave out a
 *            file that is named itself
 * Names      relative to one root: the top of the repository, so that a file is called as it is when it is inspected
 *            alone (place.h); outside of a repository the folder that holds all paths of the command line, which is a
 *            directory itself where it is given alone, and the current one for patterns
 * Order      that of the paths; the files of a directory as the scan sorts them
 * Lost       what a directory should have held and could not be read is a row in `missed`
 * Owner      the list; books OTHER
 * Errors     MYTH_ENOTFOUND a path does not exist, a pattern matches nothing, or a directory has no file at all: it is
 *            empty, a bare repository, or every file in it is ignored; MYTH_EARG files of two repositories,
 *            or a stdin_name that no file can have, or without "-"; MYTH_ENOMEM; those of a scan
 * Threads    one */
#ifndef MYTH_INSPECT_FILES_H
#define MYTH_INSPECT_FILES_H

#include "frontend/inspect/report/missed.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char *open;    /* absolute, without links; "-" is standard input */
    char *name;    /* relative to the root */
    bool is_named; /* a path of its own, not found in a directory */
    bool is_test;  /* found in a directory, and a test by its path below it: nobody asked for tests */
} myth_file;

typedef struct {
    myth_mem *mem;
    char root[PATH_MAX]; /* "" = there is none, as for standard input alone */
    myth_file *file;     /* [n] */
    uint32_t n, cap;
    myth_left_out left_out; /* of directories and patterns */
    myth_missed_list missed;
} myth_files;

typedef struct {
    const char *const *path; /* [n_path], as typed */
    uint32_t n_path;
    const char *const *include; /* [n_include] */
    uint32_t n_include;
    const char *const *exclude; /* [n_exclude], without '!' */
    uint32_t n_exclude;
    const char *stdin_name;    /* NULL = none */
    bool allow_empty;          /* a directory without a file is no error */
    const myth_cancel *cancel; /* NULL = never */
} myth_files_opts;

/* Close *out by myth_files_close, also after a failure. */
myth_status myth_files_find(myth_files *out, myth_mem *mem, const myth_files_opts *opts, myth_error *err);
void myth_files_close(myth_files *f); /* takes a zeroed one */

/* What standard input is called by a name of --stdin-filename. MYTH_EARG: no file can have it. */
myth_status myth_files_stdin(myth_place *out, const char *name, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
