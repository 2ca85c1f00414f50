/* map.h - maps a whole file read-only, or reads it into memory, until the object is closed.
 *
 * Safety   opened with O_CLOEXEC, must be a regular file, MAP_PRIVATE. A file that shrinks under a mapping would raise
 *          SIGBUS: myth_map_check compares size and mtime with those at open; MYTH_MAP_READ copies the file instead
 *          (network disks).
 * Ledger   booked as MYTH_MEM_WEIGHTS_MAPPED (mapped) or `cls` (read)
 * Errors   MYTH_ENOTFOUND no such file; MYTH_EIO not a regular file, read or map failed, file changed; MYTH_ENOMEM no
 *          room in the ledger, in memory or, for a mapping, in the address space */
#ifndef MYTH_MAP_H
#define MYTH_MAP_H

#include "cancel.h"
#include "mem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const unsigned char *base; /* NULL for an empty file */
    uint64_t size;
    int64_t mtime_ns;
    int fd; /* -1 when closed */
    bool is_mapped;
    myth_mem_class cls;
    myth_mem *mem;
    char *path;
} myth_map;

enum { MYTH_MAP_READ = 1, MYTH_MAP_NOFOLLOW = 2 };

myth_status myth_map_open(myth_map *out, myth_mem *mem, const char *path, unsigned flags, myth_mem_class cls,
                          myth_error *err);
/* The same; reading a file tells `watch` after each piece. MYTH_ECANCEL. */
myth_status myth_map_open_watched(myth_map *out, myth_mem *mem, const char *path, unsigned flags, myth_mem_class cls,
                                  const myth_watch *watch, myth_error *err);
myth_status myth_map_check(const myth_map *map, myth_error *err);
/* Whole pages inside [p, p + bytes) of a mapping (not of a file that was read) need not stay resident; read again, they
 * come back. */
void myth_map_let_go(const void *p, uint64_t bytes);
void myth_map_close(myth_map *map); /* takes a zeroed map */

/* Reads a small file whole into memory of the ledger (class STAGING); refuses more than max_bytes (MYTH_ELIMIT). */
myth_status myth_file_read(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                           myth_error *err);
/* Replaces the file whole (outfile.h). MYTH_ECREATE, MYTH_EIO. */
myth_status myth_file_write(const char *path, const void *data, size_t len, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
