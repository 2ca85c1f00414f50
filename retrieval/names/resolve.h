/* resolve.h - which files of a tree an import means.
 *
 * Forms    by language (module.c): how a module's name is parted, which suffixes its file can have, which file stands
 *          for a folder
 * Places   a name with "./" or "../" (of Python: leading dots) beside the importing file; else from the root; else any
 *          file whose path ends with it, of several those that share the most folders with the importing file. Of a Go
 *          package every file
 * Not      packages that are not in the tree, namespaces that are no paths (C#), search paths that a build is told */
#ifndef MYTH_RESOLVE_H
#define MYTH_RESOLVE_H

#include "engine/base/mem.h"

enum { MYTH_RESOLVE_MAX = 32 }; /* files of one import; more are left out */

typedef struct {
    const char *path, *language;
} myth_resolve_file;

typedef struct myth_resolver myth_resolver;

/* The files are lent until close. */
myth_status myth_resolver_open(myth_resolver **out, myth_mem *mem, const myth_resolve_file *file, uint32_t n_file,
                               myth_error *err);
void myth_resolver_close(myth_resolver *r); /* takes NULL */
/* Indexes of the files that `import`, as written in file `from`, means; never `from` itself. Returns how many. */
uint32_t myth_resolve(const myth_resolver *r, uint32_t from, const char *import, uint32_t found[MYTH_RESOLVE_MAX]);

#endif
