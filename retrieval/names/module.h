/* module.h - reads an import by the rules of its language, and decides whether it means a given file. resolve.h
 * finds the files of a tree that it means.
 *
 * Written   as in each language: "./session", "../lib/session.js", ".session", "auth.session", "auth/session.h",
 *           "crate::auth::session", "com.acme.auth.Session", "example.com/app/auth", "App\Auth\Session". What
 *           follows the path (a list, an alias, a star) is ignored
 * Relative  a path relative to the importing file is certain. Any other is compared by whole names from the end,
 *           because no file says where a tree keeps its sources ("src/main/java") or what its modules are called
 *           from outside ("example.com/app")
 * Package   a path may name a directory: its __init__, index, mod or lib file, or any file in it (Go, Java)
 * Header    an include means the header and the source file of the same stem, which defines what the header
 *           declares
 * Limits    no build is read: search paths, bundlers' aliases and generated modules are unknown
 * Owner     no memory is allocated
 * Threads   any */
#ifndef MYTH_MODULE_H
#define MYTH_MODULE_H

#include "retrieval/scan/languages.h"

#include "engine/base/chars.h"

#include <stdbool.h>
#include <stddef.h>

enum { MYTH_MODULE_PATH = 1024 }; /* longest path; a longer one matches nothing */

/* A parsed import: names separated by '/'. */
typedef struct {
    const myth_language *form; /* language of the importing file; never NULL */
    char text[MYTH_MODULE_PATH];
    size_t n;
    bool is_exact; /* begins at the root */
    bool is_own;   /* names this tree: crate::, "@/" */
    bool is_bad;   /* too long, or leads out of the root */
    bool has_host; /* begins with a host ("example.com/shop/auth"), so only an end of it is in the tree */
} myth_module;

/* Parses an import. from: the importing file, relative to the root; language: its language, a name of languages.def. */
void myth_module_read(myth_module *out, const char *language, const char *from, const char *spec);

typedef enum {
    MYTH_MODULE_OTHER,
    MYTH_MODULE_PACKAGE, /* the import means the file's directory */
    MYTH_MODULE_FILE     /* the import means the file */
} myth_module_match;

/* Whether an import in `from` means the file `to`; both are relative to the same root. */
myth_module_match myth_module_means(const char *language, const char *from, const char *spec, const char *to);
/* Whether files in one directory see each other's names without an import. */
bool myth_module_is_shared(const char *language);
/* Whether a file re-exports the names of its package: __init__.py, index.ts, mod.rs, lib.rs. */
bool myth_module_is_package(const char *path);

#endif
