/* page_vfs.h - SQLite's file layer with a checksum on every page of a database: a changed byte is an error, not an
 * answer.
 *
 * Page     its last MYTH_PAGE_SUM_BYTES bytes are XXH3-64 of the rest, seeded with its place in the file, so a page in
 *          another's place fails too. SQLite keeps them free: SQLITE_FCNTL_RESERVE_BYTES before the first write
 * Files    of the database alone: the log (WAL) has checksums of SQLite's own. A page of zeros was never written and is
 *          let through
 * Errors   SQLITE_IOERR_DATA from whatever reads the page
 * Source   SQLite's cksumvfs, whose idea this is */
#ifndef MYTH_PAGE_VFS_H
#define MYTH_PAGE_VFS_H

#include "engine/base/status.h"

#include <sqlite3.h>

enum { MYTH_PAGE_BYTES = 4096, MYTH_PAGE_SUM_BYTES = 8 };

#define MYTH_PAGE_VFS "mythos-pages"

/* Makes the layer known to SQLite; again does nothing. */
myth_status myth_page_vfs_register(myth_error *err);

#endif
