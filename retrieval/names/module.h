/* module.h - what an import names: read once, by its language; then whether it means a file, and (resolve.h) which
 * files of a tree it means.
 *
 * Written   as the languages do: "./session", "../lib/session.js", ".session", "auth.session", "auth/session.h",
 *           "crate::auth::session", "com.acme.auth.Session", "example.com/app/auth", "App\Auth\Session"; what stands
 *           behind it (a list, an alias, a star) is left out
 * Relative  to the file that imports: then the answer is certain. Else by the end of the path, whole names only: where
 *           a tree keeps its sources ("src/main/java") and what its modules are called from outside ("example.com/app")
 *           no file has to say
 * Package   a path may name a directory: its __init__, index, mod or lib file, or any file in it (Go, Java)
 * Header    an include means the header, and the file of the same stem that has what it declares
 * Not       a build: search paths, aliases of bundlers and generated modules are not read */
#ifndef MYTH_MODULE_H
#define MYTH_MODULE_H

#include "retrieval/scan/languages.h"

#include <stddef.h>

enum { MYTH_MODULE_PATH = 1024 }; /* longer paths mean nothing */

/* An import as it was read: names parted by '/'. */
typedef struct {
    const myth_language *form; /* of the file that imports; never NULL */
    char text[MYTH_MODULE_PATH];
    size_t n;
    bool is_exact; /* from the root, not from anywhere */
    bool is_own;   /* says that it is of this tree: crate::, "@/" */
    bool is_bad;   /* too long, or leaves the root     */
    bool has_host; /* "example.com/shop/auth": the tree is one of its ends */
} myth_module;

/* `from` relative to the root, `language` that of `from`, a name of languages.def. */
void myth_module_read(myth_module *out, const char *language, const char *from, const char *spec);

typedef enum {
    MYTH_MODULE_OTHER,
    MYTH_MODULE_PACKAGE, /* the directory that the file is in     */
    MYTH_MODULE_FILE     /* the file                              */
} myth_module_match;

/* `from` and `to` relative to one root. */
myth_module_match myth_module_means(const char *language, const char *from, const char *spec, const char *to);
/* Whether files of one directory see one another's names without an import. */
bool myth_module_is_shared(const char *language);
/* Whether a file gives the names of its package on: __init__.py, index.ts, mod.rs, lib.rs. */
bool myth_module_is_package(const char *path);

#endif
