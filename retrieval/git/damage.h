/* damage.h - whether a repository is damaged, as far as a glance tells: a checkout whose clone broke off, or whose disk
 * lost some of it.
 *
 * Read     the nearest .git upwards: HEAD and the branch that it names, the index, and of every pack whether it ends as
 *          its own index says. No object is unpacked, and libgit2 is not started: a few milliseconds
 * Not seen an object that is missing or changed inside of a pack, and loose objects
 * Gone     a pack that git takes away meanwhile is no damage
 * Threads  any */
#ifndef MYTH_DAMAGE_H
#define MYTH_DAMAGE_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_DAMAGE_BYTES = 192 };

/* Writes what is damaged, first found: "HEAD is no reference". False: nothing is, or there is no repository. */
bool myth_git_damage(char say[MYTH_DAMAGE_BYTES], myth_mem *mem, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
