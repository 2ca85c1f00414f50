/* given.h - what a file gives on: the names of other modules that it offers as its own.
 *
 * Forms     JavaScript, TypeScript: export { a, b as c } from "./x"; export * from "./x"; module.exports =
 *           require("./x"). Rust: pub use crate::x::{A, b::*}; Python, in __init__.py: from .x import a, b as c
 *           A Python file that has __all__ gives each name in it, of the module "" (itself)
 * Not       export * as ns from "./x", import x: the names behind ns or x are not names of the file
 * Limits    reads lines, not syntax: a statement begins its line. Parts deeper than MYTH_GIVEN_DEPTH braces are left
 *           out, and modules with longer names than MYTH_GIVEN_SPEC
 * Threads   any */
#ifndef MYTH_GIVEN_H
#define MYTH_GIVEN_H

#include <stdbool.h>
#include <stddef.h>

enum { MYTH_GIVEN_DEPTH = 8, MYTH_GIVEN_SPEC = 256 };

typedef struct {
    const char *module; /* as an import is written, zero-terminated */
    const char *name;   /* as the module calls it; "*" = all */
    size_t n_name;
} myth_given;

/* Calls on_given for each name until it returns false. The strings are valid during the call. language is a name of
 * languages.def. */
void myth_given_read(const char *path, const char *language, const char *text, size_t n,
                     bool (*on_given)(void *arg, const myth_given *g), void *arg);

#endif
