/* globs.h - the globs of a caller as lines of patterns (ignore.h): what stands in braces is written out, since git's
 * patterns have none.
 *
 * Braces   a{b,c}d is abd and acd; they nest, one of them may be empty, '\' makes the next byte literal, and in
 *          [classes] they are bytes like any other. A comma or a } outside of braces is itself, too
 * Order    that in the text, so that for each glob the last of its lines is that of its last parts
 * Owner    the caller frees *text from the ledger that it gave
 * Errors   MYTH_EARG a { without its } or a [ without its ]; MYTH_ELIMIT too many patterns; MYTH_ENOMEM
 * Source   globset of ripgrep, bash(1) for the empty part; ripgrep before 15 refuses nested ones */
#ifndef MYTH_GLOBS_H
#define MYTH_GLOBS_H

#include "engine/base/mem.h"

enum { MYTH_GLOB_PATTERNS = 1024, MYTH_GLOB_BRACES = 64 }; /* of one glob: patterns, and braces one after the other */

/* Writes every pattern with a line end behind it. globs: NULL-terminated. */
myth_status myth_globs_write(char **text, size_t *n_text, myth_mem *mem, const char *const *globs, myth_error *err);

#endif
