/* resolve.h - which files of a tree an import means.
 *
 * Forms    depend on the language (module.c): what separates the parts of a module's name, which suffixes its file
 *          can have, which file represents a folder
 * Places   a name with "./" or "../" (Python: leading dots) is looked up beside the importing file. Any other is
 *          looked up from the root; else it means any file whose path ends with it, of several those that share
 *          most folders with the importing file. A Go package means all its files
 * Limits   not resolved: packages outside of the tree, namespaces that are not paths (C#), search paths known to a
 *          build only
 * Owner    the caller closes the resolver and keeps the files until then
 * Threads  any may resolve
 * Errors   MYTH_ENOMEM from open */
#ifndef MYTH_RESOLVE_H
#define MYTH_RESOLVE_H

#include "engine/base/mem.h"

enum { MYTH_RESOLVE_MAX = 32 }; /* most files that one import means; more are left out */

typedef struct {
    const char *path, *language;
} myth_resolve_file;

typedef struct myth_resolver myth_resolver;

/* The files are lent until close. */
myth_status myth_resolver_open(myth_resolver **out, myth_mem *mem, const myth_resolve_file *file, uint32_t n_file,
                               myth_error *err);
void myth_resolver_close(myth_resolver *r); /* takes NULL */
/* Writes the indexes of the files that `import`, as written in file `from`, means; never `from` itself. Returns
 * their number. */
uint32_t myth_resolve(const myth_resolver *r, uint32_t from, const char *import, uint32_t found[MYTH_RESOLVE_MAX]);

#endif
