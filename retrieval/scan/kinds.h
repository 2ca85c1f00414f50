/* kinds.h - what a file is for, by the words of its path: source, test, example, vendored copy, and so on. Search
 * ranks files by it; the map and the answers about names sort by it. A file can have several kinds. */
#ifndef MYTH_KINDS_H
#define MYTH_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    MYTH_KIND_SOURCE,
    MYTH_KIND_TEST,
    MYTH_KIND_EXAMPLE,
    MYTH_KIND_VENDORED,
    MYTH_KIND_GENERATED,
    MYTH_KIND_DOCUMENT,
    MYTH_KIND_DATA,
    MYTH_KIND_LEGACY,
    MYTH_KIND_KIND_N
} myth_file_kind;

/* The kinds of a file as bits 1 << kind: those that its path tells, and the two that the scanner found. A file
 * without any kind is source. */
uint32_t myth_file_kinds(const char *path, bool is_test, bool is_generated);
/* Whether a directory of a path says that what is in it was copied from other projects (vendor, third_party), or a
 * file's name, which many have of one project (sqlite3.c). Such a directory is of the kind MYTH_KIND_VENDORED, as are
 * others whose names say it less surely (deps, compat). */
bool myth_path_is_copied(const char *path);
/* The first directory of a path that names a version (v1, V12), and its length; NULL: there is none. */
const char *myth_path_version(const char *path, size_t *n);
/* Whether `other` is the same file in a newer version: in a directory with a higher one (lib/v3/a.py, lib/v4/a.py) or
 * beside the version's directory (lib/v1/a.py, lib/a.py). */
bool myth_path_is_older(const char *path, const char *other);
const char *myth_file_kind_name(myth_file_kind kind);

#endif
