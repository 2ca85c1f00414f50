/* map.c - files in and out: mapped or read whole, written beside and renamed. */
#include "map.h"

#include "mtime.h"
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 16 << 20 }; /* between two looks at who watches */

/* Opens a regular file; O_NONBLOCK, so that a FIFO is refused and not waited for. */
static myth_status open_regular(int *out, struct stat *st, const char *path, unsigned flags, myth_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (flags & MYTH_MAP_NOFOLLOW ? O_NOFOLLOW : 0));
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return myth_fail(err, MYTH_ENOTFOUND, "%s: no such file", path);
    if (fd < 0)
        return myth_fail(err, MYTH_EIO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)) {
        const bool is_dir = S_ISDIR(st->st_mode);
        close(fd);
        if (is_dir)
            return myth_fail(err, MYTH_EIO, "%s: a directory where a file is expected", path);
        return myth_fail(err, MYTH_EIO, "%s: not a regular file", path);
    }
    *out = fd;
    return MYTH_OK;
}

/* Exactly n bytes; *got says how far it came. */
static bool read_all(int fd, unsigned char *dst, uint64_t n, uint64_t *got)
{
    *got = 0;
    while (*got < n) {
        uint64_t left = n - *got;
        ssize_t k = read(fd, dst + *got, left < (1u << 30) ? (size_t)left : 1u << 30);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        *got += (uint64_t)k;
    }
    return true;
}

static myth_status map_bytes(myth_map *map, myth_error *err)
{
    if (!myth_mem_book(map->mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS_MAPPED, "map", map->size))
        return myth_fail(err, MYTH_ENOMEM, "%s: no room to map %llu bytes", map->path, (unsigned long long)map->size);
    void *p = mmap(NULL, (size_t)map->size, PROT_READ, MAP_PRIVATE, map->fd, 0);
    if (p == MAP_FAILED) {
        const int cause = errno;
        const myth_status st = cause == ENOMEM ? MYTH_ENOMEM : MYTH_EIO; /* no room in the address space, or the disk */
        if (st == MYTH_ENOMEM)
            myth_mem_unbook_refused(map->mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS_MAPPED, map->size);
        else
            myth_mem_unbook(map->mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS_MAPPED, map->size);
        return myth_fail(err, st, "%s: cannot map %llu bytes: %s", map->path, (unsigned long long)map->size,
                         strerror(cause));
    }
    map->base = p;
    map->is_mapped = true;
    return MYTH_OK;
}

static myth_status read_bytes(myth_map *map, const myth_watch *watch, myth_error *err)
{
    unsigned char *p = myth_alloc(map->mem, map->cls, "map", (size_t)map->size);
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %llu bytes", map->path, (unsigned long long)map->size);
    map->base = p;
    for (uint64_t at = 0, n, got; at < map->size; at += n) {
        n = map->size - at < READ_BYTES ? map->size - at : READ_BYTES;
        if (!read_all(map->fd, p + at, n, &got))
            return myth_fail(err, MYTH_EIO, "%s: read stopped at byte %llu of %llu", map->path,
                             (unsigned long long)(at + got), (unsigned long long)map->size);
        if (!myth_watch_tell(watch, at + n, map->size))
            return myth_fail(err, MYTH_ECANCEL, "%s: cancelled at byte %llu of %llu", map->path,
                             (unsigned long long)(at + n), (unsigned long long)map->size);
    }
    return MYTH_OK;
}

myth_status myth_map_open(myth_map *out, myth_mem *mem, const char *path, unsigned flags, myth_mem_class cls,
                          myth_error *err)
{
    return myth_map_open_watched(out, mem, path, flags, cls, &(myth_watch){0}, err);
}

myth_status myth_map_open_watched(myth_map *out, myth_mem *mem, const char *path, unsigned flags, myth_mem_class cls,
                                  const myth_watch *watch, myth_error *err)
{
    myth_status st = MYTH_OK;
    struct stat info;
    myth_map map = {.fd = -1, .mem = mem, .cls = cls};
    size_t len = strlen(path) + 1;
    *out = (myth_map){0};
    map.path = myth_alloc(mem, MYTH_MEM_OTHER, "map path", len);
    if (!map.path)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for its path", path);
    memcpy(map.path, path, len);
    MYTH_TRY(open_regular(&map.fd, &info, path, flags, err));
    map.size = (uint64_t)info.st_size;
    map.mtime_ns = myth_mtime_ns(&info);
    if (map.size > PTRDIFF_MAX) {
        st =
            myth_fail(err, MYTH_EIO, "%s: %llu bytes do not fit the address space", path, (unsigned long long)map.size);
        goto fail;
    }
    if (map.size > 0)
        MYTH_TRY(flags & MYTH_MAP_READ ? read_bytes(&map, watch, err) : map_bytes(&map, err));
    MYTH_TRY(myth_map_check(&map, err));
    *out = map;
    return MYTH_OK;
fail:
    myth_map_close(&map);
    return st;
}

myth_status myth_map_check(const myth_map *map, myth_error *err)
{
    struct stat info;
    if (fstat(map->fd, &info) != 0)
        return myth_fail(err, MYTH_EIO, "%s: %s", map->path, strerror(errno));
    if ((uint64_t)info.st_size != map->size || myth_mtime_ns(&info) != map->mtime_ns)
        return myth_fail(err, MYTH_EIO, "%s: the file changed while it was in use: %llu bytes, expected %llu",
                         map->path, (unsigned long long)info.st_size, (unsigned long long)map->size);
    return MYTH_OK;
}

void myth_map_let_go(const void *p, uint64_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)p + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)p + (uintptr_t)bytes) & ~(page - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

void myth_map_close(myth_map *map)
{
    if (!map->mem)
        return;
    if (map->is_mapped) {
        munmap((void *)(uintptr_t)map->base, (size_t)map->size);
        myth_mem_unbook(map->mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS_MAPPED, map->size);
    } else {
        myth_free(map->mem, (void *)(uintptr_t)map->base);
    }
    if (map->fd >= 0)
        close(map->fd);
    myth_free(map->mem, map->path);
    *map = (myth_map){.fd = -1};
}

myth_status myth_file_read(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                           myth_error *err)
{
    int fd = -1;
    struct stat info;
    myth_status st = open_regular(&fd, &info, path, 0, err);
    if (st != MYTH_OK)
        return st;
    unsigned char *data = NULL;
    uint64_t size = (uint64_t)info.st_size, got;
    unsigned char extra;
    if (size > max_bytes || size > PTRDIFF_MAX)
        st = myth_fail(err, MYTH_ELIMIT, "%s: %llu bytes, at most %llu", path, (unsigned long long)size,
                       (unsigned long long)max_bytes);
    else if (!(data = myth_alloc(mem, MYTH_MEM_STAGING, "file", (size_t)size)))
        st = myth_fail(err, MYTH_ENOMEM, "%s: no room for %llu bytes", path, (unsigned long long)size);
    else if (!read_all(fd, data, size, &got))
        st = myth_fail(err, MYTH_EIO, "%s: read stopped at byte %llu of %llu", path, (unsigned long long)got,
                       (unsigned long long)size);
    else if (read_all(fd, &extra, 1, &got))
        st = myth_fail(err, MYTH_EIO, "%s: the file grew while it was read", path);
    close(fd);
    if (st != MYTH_OK) {
        myth_free(mem, data);
        return st;
    }
    *out = data;
    *len = (size_t)size;
    return MYTH_OK;
}

myth_status myth_file_write(const char *path, const void *data, size_t len, myth_error *err)
{
    myth_out o;
    myth_status st = myth_out_open(&o, path, MYTH_OUT_SHARED, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_out_write(o.fd, data, len)) {
        int saved = errno;
        myth_out_abandon(&o);
        return myth_fail(err, MYTH_EIO, "%s: cannot write %zu bytes: %s", path, len, strerror(saved));
    }
    return myth_out_finish(&o, err);
}
