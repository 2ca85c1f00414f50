/* index_list.h - the indexes that a cache folder holds, whatever trees they are of: lists them, removes one.
 *
 * Folder    <cache_dir>/mythos/<hash of the root's real path>: the database, its vectors and locks, and the file `root`
 *           with the root's path. An update writes `root`; every use of the index sets its time. A `root` whose path
 *           has another hash than the folder's name is not believed
 * Unknown   an index that no update of this version has touched has no `root`: its tree is unknown until the next
 *           update, and it is never taken for one whose tree is gone
 * Units     bytes; seconds since 1970
 * Errors    MYTH_ENOTFOUND no such index, or no cache folder; MYTH_ELOST a process is updating the index; MYTH_EIO
 * Threads   any */
#ifndef MYTH_INDEX_LIST_H
#define MYTH_INDEX_LIST_H

#include "engine/base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { MYTH_INDEX_NAME = 33 };

typedef struct {
    char name[MYTH_INDEX_NAME]; /* of its folder: 32 hex digits */
    char root[PATH_MAX];        /* "" = unknown */
    bool is_gone;               /* the root is known and is no directory; also on a disk that is not mounted */
    uint64_t bytes;
    int64_t used_s;
} myth_index_place;

/* Calls on_place for every index, in no particular order, until it returns false. Without a folder there is none. */
myth_status myth_index_list(const char *cache_dir, bool (*on_place)(void *arg, const myth_index_place *p), void *arg,
                            myth_error *err);
/* Deletes an index by its name: its files, and the folder unless it holds files of others. */
myth_status myth_index_drop(const char *cache_dir, const char *name, myth_error *err);

#endif
