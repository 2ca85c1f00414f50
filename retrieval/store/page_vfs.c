/* page_vfs.c - see page_vfs.h. A shim over the system's file layer: it checks every whole page that is read, and
 * adds the checksum to a copy of every page that is written. */
#include "page_vfs.h"
#include "engine/base/bytes.h"

#include <pthread.h>
#include <xxhash.h>

typedef struct {
    sqlite3_file base;
    bool is_database;
    sqlite3_file *below; /* the system's file; its bytes follow this struct */
} page_file;

static sqlite3_vfs *below_vfs(void *vfs) { return ((sqlite3_vfs *)vfs)->pAppData; }
static sqlite3_file *below(sqlite3_file *f) { return ((page_file *)(void *)f)->below; }

static uint64_t sum_of(const unsigned char *page, sqlite3_int64 off)
{
    uint64_t sum = XXH3_64bits_withSeed(page, MYTH_PAGE_BYTES - MYTH_PAGE_SUM_BYTES, (uint64_t)off);
    return sum ? sum : 1; /* zero means "no checksum" */
}

static bool is_zero(const unsigned char *p, size_t n)
{
    unsigned char any = 0;
    for (size_t i = 0; i < n; i++)
        any |= p[i];
    return any == 0;
}

static int page_read(sqlite3_file *f, void *dst, int n, sqlite3_int64 off)
{
    int rc = below(f)->pMethods->xRead(below(f), dst, n, off);
    if (rc != SQLITE_OK || !((page_file *)(void *)f)->is_database ||
        n < 512) /* a shorter read is of the file's header, which is read again with its page */
        return rc;
    if (n != MYTH_PAGE_BYTES || off % MYTH_PAGE_BYTES)
        return SQLITE_IOERR_DATA;
    uint64_t sum;
    memcpy(&sum, (unsigned char *)dst + MYTH_PAGE_BYTES - MYTH_PAGE_SUM_BYTES, sizeof(sum));
    if (sum == sum_of(dst, off) || (sum == 0 && is_zero(dst, MYTH_PAGE_BYTES)))
        return SQLITE_OK;
    return SQLITE_IOERR_DATA;
}

static int page_write(sqlite3_file *f, const void *src, int n, sqlite3_int64 off)
{
    unsigned char page[MYTH_PAGE_BYTES];
    if (!((page_file *)(void *)f)->is_database)
        return below(f)->pMethods->xWrite(below(f), src, n, off);
    if (n != MYTH_PAGE_BYTES || off % MYTH_PAGE_BYTES)
        return SQLITE_IOERR_WRITE;
    memcpy(page, src, MYTH_PAGE_BYTES);
    uint64_t sum = sum_of(page, off);
    memcpy(page + MYTH_PAGE_BYTES - MYTH_PAGE_SUM_BYTES, &sum, sizeof(sum));
    return below(f)->pMethods->xWrite(below(f), page, n, off);
}

/* ---- everything else goes to the system's layer ---- */

static int page_close(sqlite3_file *f) { return below(f)->pMethods ? below(f)->pMethods->xClose(below(f)) : SQLITE_OK; }
static int page_truncate(sqlite3_file *f, sqlite3_int64 n) { return below(f)->pMethods->xTruncate(below(f), n); }
static int page_sync(sqlite3_file *f, int flags) { return below(f)->pMethods->xSync(below(f), flags); }
static int page_size(sqlite3_file *f, sqlite3_int64 *n) { return below(f)->pMethods->xFileSize(below(f), n); }
static int page_lock(sqlite3_file *f, int level) { return below(f)->pMethods->xLock(below(f), level); }
static int page_unlock(sqlite3_file *f, int level) { return below(f)->pMethods->xUnlock(below(f), level); }
static int page_check_lock(sqlite3_file *f, int *out) { return below(f)->pMethods->xCheckReservedLock(below(f), out); }
static int page_control(sqlite3_file *f, int op, void *arg)
{
    return below(f)->pMethods->xFileControl(below(f), op, arg);
}
static int page_sector(sqlite3_file *f) { return below(f)->pMethods->xSectorSize(below(f)); }
static int page_traits(sqlite3_file *f) { return below(f)->pMethods->xDeviceCharacteristics(below(f)); }
static int page_shm_map(sqlite3_file *f, int i, int n, int extend, void volatile **p)
{
    return below(f)->pMethods->xShmMap(below(f), i, n, extend, p);
}
static int page_shm_lock(sqlite3_file *f, int off, int n, int flags)
{
    return below(f)->pMethods->xShmLock(below(f), off, n, flags);
}
static void page_shm_barrier(sqlite3_file *f) { below(f)->pMethods->xShmBarrier(below(f)); }
static int page_shm_unmap(sqlite3_file *f, int is_delete) { return below(f)->pMethods->xShmUnmap(below(f), is_delete); }

/* Version 2 has no xFetch, so SQLite cannot map the file and read pages past the checksum. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = page_close,
    .xRead = page_read,
    .xWrite = page_write,
    .xTruncate = page_truncate,
    .xSync = page_sync,
    .xFileSize = page_size,
    .xLock = page_lock,
    .xUnlock = page_unlock,
    .xCheckReservedLock = page_check_lock,
    .xFileControl = page_control,
    .xSectorSize = page_sector,
    .xDeviceCharacteristics = page_traits,
    .xShmMap = page_shm_map,
    .xShmLock = page_shm_lock,
    .xShmBarrier = page_shm_barrier,
    .xShmUnmap = page_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *flags_out)
{
    page_file *p = (page_file *)(void *)f;
    p->below = (sqlite3_file *)(void *)(p + 1);
    p->below->pMethods = NULL;
    p->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    p->base.pMethods = NULL;
    int rc = below_vfs(vfs)->xOpen(below_vfs(vfs), name, p->below, flags, flags_out);
    if (p->below->pMethods)
        p->base.pMethods = &methods;
    return rc;
}

static int vfs_delete(sqlite3_vfs *v, const char *name, int sync)
{
    return below_vfs(v)->xDelete(below_vfs(v), name, sync);
}
static int vfs_access(sqlite3_vfs *v, const char *name, int flags, int *out)
{
    return below_vfs(v)->xAccess(below_vfs(v), name, flags, out);
}
static int vfs_full(sqlite3_vfs *v, const char *name, int n, char *out)
{
    return below_vfs(v)->xFullPathname(below_vfs(v), name, n, out);
}
static int vfs_random(sqlite3_vfs *v, int n, char *out) { return below_vfs(v)->xRandomness(below_vfs(v), n, out); }
static int vfs_sleep(sqlite3_vfs *v, int us) { return below_vfs(v)->xSleep(below_vfs(v), us); }
static int vfs_time(sqlite3_vfs *v, double *out) { return below_vfs(v)->xCurrentTime(below_vfs(v), out); }
static int vfs_error(sqlite3_vfs *v, int n, char *out) { return below_vfs(v)->xGetLastError(below_vfs(v), n, out); }
static int vfs_time64(sqlite3_vfs *v, sqlite3_int64 *out) { return below_vfs(v)->xCurrentTimeInt64(below_vfs(v), out); }

static sqlite3_vfs layer;

static void fill_layer(void)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (!system || system->iVersion < 2)
        return;
    layer = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(page_file) + system->szOsFile,
        .mxPathname = system->mxPathname,
        .zName = MYTH_PAGE_VFS,
        .pAppData = system,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_error,
        .xCurrentTimeInt64 = vfs_time64,
    };
    sqlite3_vfs_register(&layer, 0);
}

myth_status myth_page_vfs_register(myth_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_layer);
    return layer.pAppData
             ? MYTH_OK
             : myth_fail(err, MYTH_EUNSUPPORTED, "SQLite %s has no file layer of this system", sqlite3_libversion());
}
